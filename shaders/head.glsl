// SPDX-License-Identifier: MIT
// The network's head: 27 values of each pixel, 29 of taau-ray, and what they do to a resolve.
layout(std430, set = 1, binding = HS_BINDING_LAYER_IN) readonly buffer hs_layer_in_block
{
    UNIT activations[];
};

struct head {
    float gain, weight, size, trust;
};

void compute_head()
{
    const int parts = INPUTS / PER_UNIT;
    for (int n = int(gl_LocalInvocationIndex); n < TOKENS * parts; n += 64) {
        const int t = n / parts, part = n % parts;
        const UNIT unit = activations[token_place(t, push.size.z, push.ring.xy) * parts + part];
        const int at = t * OPERAND_PITCH + part * PER_UNIT;
#ifdef HS_MATRIX
        [[unroll]] for (int i = 0; i < 4; i++) {
            const f16vec2 pair = unpackFloat2x16(unit[i]);
            operand[at + 2 * i] = pair.x;
            operand[at + 2 * i + 1] = pair.y;
        }
#else
        [[unroll]] for (int i = 0; i < 4; i++)
            operand[at + i] = unit[i];
#endif
    }
    barrier();
    product();
    barrier();
}

// Head value c of this thread's pixel.
float head_value(int c)
{
    const int i = int(gl_LocalInvocationIndex), x = i & 7, y = i >> 3;
    const int token = 4 * (y >> 1) + (x >> 1);
    const int pixel = 2 * (y & 1) + (x & 1);
    return result[token * RESULT_PITCH + 4 * c + pixel] + biases(c)[pixel];
}

// By then tanh is 1; some drivers' overflows further out.
float bounded_tanh(float x)
{
    return tanh(clamp(x, -10.0, 10.0));
}

float soft(int c, float limit)
{
    return limit * bounded_tanh(head_value(c) / limit);
}

head read_head()
{
    return head(exp(soft(HS_HEAD_GAIN, HS_HEAD_LOG_SOFT)),
                exp(soft(HS_HEAD_WEIGHT, HS_HEAD_LOG_SOFT)),
                exp(soft(HS_HEAD_BOX, HS_HEAD_LOG_SOFT)),
                exp(soft(HS_HEAD_TRUST, HS_HEAD_LOG_SOFT)));
}

// Draws the weights of the samples towards the head's own kernel, whose sum is 1.
void bend_weights(inout float weights[16])
{
    const float mix = bounded_tanh(head_value(HS_HEAD_MIX));
    const float a = HS_HEAD_AXIS * exp(soft(HS_HEAD_AXIS_X, HS_HEAD_AXIS_SOFT));
    const float b = soft(HS_HEAD_SHEAR, HS_HEAD_SHEAR_SOFT);
    const float c = HS_HEAD_AXIS * exp(soft(HS_HEAD_AXIS_Y, HS_HEAD_AXIS_SOFT));
    float kernel[16], total = 0.0;
    [[unroll]] for (int n = 0; n < 16; n++) {
        const vec2 d = vec2(n & 3, n >> 2) - 1.0 - f;
        const float u = a * d.x + b * d.y, v = c * d.y;
        kernel[n] = exp(-0.5 * (u * u + v * v) + soft(HS_HEAD_LOGITS + n, HS_HEAD_LOGIT_SOFT));
        total += kernel[n];
    }
    [[unroll]] for (int n = 0; n < 16; n++)
        weights[n] += mix * (kernel[n] / max(total, 1e-30) - weights[n]);
}

#ifdef HS_LEVEL_TILES
void read_level_shares()
{
    level_shares = vec2(bounded_tanh(head_value(HS_HEAD_MIDDLE)),
                        bounded_tanh(head_value(HS_HEAD_ACCUMULATED)));
}
#endif

vec3 residual()
{
    return HS_HEAD_RESIDUAL_SCALE * vec3(bounded_tanh(head_value(HS_HEAD_RESIDUAL)),
                                         bounded_tanh(head_value(HS_HEAD_RESIDUAL + 1)),
                                         bounded_tanh(head_value(HS_HEAD_RESIDUAL + 2)));
}
