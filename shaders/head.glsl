// SPDX-License-Identifier: MIT
// The network's head: 27 values of each pixel, 29 of taau-ray, 11 of taau-int8, and what they do
// to a resolve.
#ifdef HS_SPLIT
#include "network.h"
layout(local_size_x = HS_GROUP_THREADS) in;
layout(constant_id = HS_SPEC_OUTPUTS) const int OUTPUTS = 112;
// Of tokens, row by row: half floats, of integers floats.
layout(std430, set = 1, binding = HS_BINDING_LAYER_IN) readonly buffer hs_layer_in_block
{
    uint outside[];
};
#else
layout(std430, set = 1, binding = HS_BINDING_LAYER_IN) readonly buffer hs_layer_in_block
{
    UNIT activations[];
};
#endif

struct head {
    float gain, weight, size, trust;
};

#ifdef HS_INT8
// The cell in which the centre of an output pixel lies.
ivec2 cell_of(ivec2 p)
{
    return ((2 * p + 1) * params.size.xy) / params.size.zw;
}
#endif

#if defined(HS_SPLIT)
// Place of channel 0 of this thread's pixel.
int head_at;

void compute_head()
{
    ivec2 p = min(group_first() + group_place(), params.size.zw - 1);
#ifdef HS_INT8
    p = cell_of(p);
#endif
    head_at = (p.y / 2 * push.size.z + p.x / 2) * OUTPUTS + 2 * (p.y & 1) + (p.x & 1);
}

float head_value(int c)
{
#ifdef HS_INT8
    return uintBitsToFloat(
        outside[head_at + 4 * (c < HS_HEAD_LOGITS ? c : c - (HS_HEAD_MIX - HS_HEAD_LOGITS))]);
#else
    const int at = head_at + 4 * c;
    return unpackHalf2x16(outside[at >> 1])[at & 1];
#endif
}
#elif defined(HS_INT8)
// Of this thread's pixel.
float short_head[HS_SHORT_HEAD];

// BATCH tokens from `start` on, of those of a workgroup row by row.
void stage_tokens(ivec2 first, ivec2 size, int start)
{
    const int parts = DEPTH / 4;
    for (int n = int(gl_LocalInvocationIndex); n < BATCH * parts; n += HS_GROUP_THREADS) {
        const int t = start + n / parts, channel = n % parts * 4;
        const ivec2 at = first + ivec2(t % size.x, t / size.x);
        ivec4 four = ivec4(0);
        if (t < size.x * size.y && channel < INPUTS) {
            const int place = token_place(at, push.size.z, push.ring.xy) * (INPUTS / PER_UNIT);
            four = unpacked(activations[place + channel / PER_UNIT][channel / 4 % 4]);
        }
        put_operand(n / parts, channel, four);
    }
}

void compute_head()
{
    const ivec2 group = group_first();
    const ivec2 last = min(group + ivec2(HS_GROUP_X, HS_GROUP_Y),
                           ivec2(params.size.z, push.band.y)) - 1;
    const ivec2 first = cell_of(group) / 2, size = cell_of(last) / 2 - first + 1;
    const ivec2 cell = cell_of(min(group + group_place(), last)), own = cell / 2 - first;
    const int token = own.y * size.x + own.x, pixel = 2 * (cell.y & 1) + (cell.x & 1);
    for (int start = 0; start < size.x * size.y; start += BATCH) {
        stage_tokens(first, size, start);
        barrier();
        product(0);
        barrier();
        if (token >= start && token < start + BATCH) {
            [[unroll]] for (int c = 0; c < HS_SHORT_HEAD; c++) {
                const int sum = result4(token - start, c)[pixel];
                short_head[c] =
                    float(sum + biases(c)[pixel]) * intBitsToFloat(scales(c)[pixel]);
            }
        }
    }
}

// Head value c of this thread's pixel, of those without logits.
float head_value(int c)
{
    return short_head[c < HS_HEAD_LOGITS ? c : c - (HS_HEAD_MIX - HS_HEAD_LOGITS)];
}
#else
void load_head()
{
    const int parts = INPUTS / PER_UNIT;
    for (int n = int(gl_LocalInvocationIndex); n < TOKENS * parts; n += HS_GROUP_THREADS) {
        const int t = n / parts, part = n % parts;
        const UNIT unit =
            activations[token_place(group_token(t), push.size.z, push.ring.xy) * parts + part];
#ifdef HS_MATRIX
        operand[t * OPERAND_PITCH + part] = unit;
#else
        [[unroll]] for (int i = 0; i < 4; i++)
            operand[t * OPERAND_PITCH + part * PER_UNIT + i] = unit[i];
#endif
    }
}

// Head values 4 n to 4 n + 3 of this thread's pixel.
vec4 head_values(int n)
{
#ifdef HS_MATRIX
    const ivec2 at = group_place();
    return result4(token_of(at), pixel_of(at) * (OUTPUTS / 16) + n);
#else
    return own_result[n];
#endif
}

float head_value(int c)
{
    return head_values(c / 4)[c % 4];
}
#endif

// Right at both ends, where exp() is 0 or infinite.
float fast_tanh(float x)
{
    return 1.0 - 2.0 / (exp(2.0 * x) + 1.0);
}

float soft(int c, float limit)
{
    return limit * fast_tanh(head_value(c) / limit);
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
    const float mix = fast_tanh(head_value(HS_HEAD_MIX));
    const float a = HS_HEAD_AXIS * exp(soft(HS_HEAD_AXIS_X, HS_HEAD_AXIS_SOFT));
    const float b = soft(HS_HEAD_SHEAR, HS_HEAD_SHEAR_SOFT);
    const float c = HS_HEAD_AXIS * exp(soft(HS_HEAD_AXIS_Y, HS_HEAD_AXIS_SOFT));
    float kernel[16], total = 0.0;
    [[unroll]] for (int n = 0; n < 16; n++) {
        const vec2 d = vec2(n & 3, n >> 2) - 1.0 - f;
        const float u = a * d.x + b * d.y, v = c * d.y;
#ifdef HS_INT8
        const float logit = 0.0;
#else
        const float logit = soft(HS_HEAD_LOGITS + n, HS_HEAD_LOGIT_SOFT);
#endif
        kernel[n] = exp(-0.5 * (u * u + v * v) + logit);
        total += kernel[n];
    }
    [[unroll]] for (int n = 0; n < 16; n++)
        weights[n] += mix * (kernel[n] / max(total, 1e-30) - weights[n]);
}

#ifdef HS_LEVEL_TILES
void read_level_shares()
{
    level_shares = vec2(fast_tanh(head_value(HS_HEAD_MIDDLE)),
                        fast_tanh(head_value(HS_HEAD_ACCUMULATED)));
}
#endif

vec3 residual()
{
    return HS_HEAD_RESIDUAL_SCALE * vec3(fast_tanh(head_value(HS_HEAD_RESIDUAL)),
                                         fast_tanh(head_value(HS_HEAD_RESIDUAL + 1)),
                                         fast_tanh(head_value(HS_HEAD_RESIDUAL + 2)));
}
