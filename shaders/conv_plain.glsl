// SPDX-License-Identifier: MIT
// Plain product: a thread computes two pixels side by side, sixteen outputs of each.
// Grid: 16x8 outputs of the kernel (64 threads), z a slice of sixteen outputs.
layout(local_size_x = 64) in;
layout(constant_id = HS_SPEC_OUTPUTS_ALL) const int OUTPUTS_ALL = 16;

// Units from the biases of one z to those of the next.
#ifdef HS_INT8
#define SCALE_ROWS 2
#else
#define SCALE_ROWS 1
#endif

// Four channels of the input, at a place in fours.
VALUE4 input4(int at)
{
#ifdef HS_INT8
    return unpacked(inputs[at >> 2][at & 3]);
#else
    return inputs[at];
#endif
}

// Sums of sixteen outputs to units of a pixel from `at` on.
void write(int at, int bias_at, VALUE4 sums[4])
{
#ifdef HS_INT8
    uvec4 unit = ADD ? outputs[at / 4] : uvec4(0u);
    [[unroll]] for (int i = 0; i < 4; i++) {
        ivec4 value = scaled_down(sums[i], weights[bias_at + OUTPUTS / 4 + i]);
        if (ADD)
            value += unpacked(unit[i]);
        unit[i] = packed(limited(value, RELU));
    }
    outputs[at / 4] = unit;
#else
    [[unroll]] for (int i = 0; i < 4; i++) {
        vec4 value = sums[i];
        if (ADD)
            value += outputs[at + i];
        outputs[at + i] = RELU ? max(value, 0.0) : value;
    }
#endif
}

void store(ivec2 p, int bias_at, VALUE4 sums[4])
{
    // Slices of a pixel of the finer level follow each other.
    const int slices = OUTPUTS_ALL / OUTPUTS, slice = int(gl_WorkGroupID.z);
    const int pixel = slice / slices;
    if (PIXELS == 4)
        p = 2 * p + ivec2(pixel & 1, pixel >> 1);
    const int row = ring_row(p.y, push.ring.z, push.ring.w);
    const int at =
        (row * push.size.w + p.x) * (OUTPUTS_ALL / 4) + slice % slices * (OUTPUTS / 4);
    write(at, bias_at, sums);
}

void main()
{
    const int i = int(gl_LocalInvocationIndex);
    const ivec2 p = ivec2(gl_WorkGroupID.xy) * ivec2(16, 8) + ivec2(2 * (i & 7), i >> 3) +
                    ivec2(0, push.band.x);
    if (p.x >= push.size.x || p.y >= push.band.y)
        return;
    const int units = INPUTS / 4, columns = OUTPUTS / 4;
    const int weights_at = push.weights.x + int(gl_WorkGroupID.z) * push.weights.z;
    const int bias_at = push.weights.y + int(gl_WorkGroupID.z) * columns * SCALE_ROWS;
    VALUE4 first[4], second[4];
    [[unroll]] for (int n = 0; n < 4; n++)
        first[n] = second[n] = weights[bias_at + n];
    for (int tap = 0; tap < KERNEL_X * KERNEL_Y; tap++) {
        const ivec2 a = ivec2(first_column(p.x) + tap % KERNEL_X,
                              first_row(p.y) + tap / KERNEL_X);
        const ivec2 b = a + ivec2(1, 0);
        const bool a_in = in_picture(a), b_in = in_picture(b);
        const int at = (input_row(a.y) * push.size.z + a.x) * units;
        for (int u = 0; u < units; u++) {
            const VALUE4 va = a_in ? input4(at + u) : VALUE4(0);
            const VALUE4 vb = b_in ? input4(at + units + u) : VALUE4(0);
            [[unroll]] for (int k = 0; k < 4; k++) {
                const int w = weights_at + (tap * INPUTS + 4 * u + k) * columns;
                [[unroll]] for (int n = 0; n < 4; n++) {
                    const VALUE4 weight = weights[w + n];
                    first[n] += va[k] * weight;
                    second[n] += vb[k] * weight;
                }
            }
        }
    }
    store(p, bias_at, first);
    if (p.x + 1 < push.size.x)
        store(p + ivec2(1, 0), bias_at, second);
}
