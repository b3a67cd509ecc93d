// SPDX-License-Identifier: MIT
// Plain product: a thread computes two pixels side by side, sixteen outputs of each.
// Grid: 16x8 outputs of the kernel (64 threads), z a slice of sixteen outputs.
layout(local_size_x = 64) in;
layout(constant_id = HS_SPEC_OUTPUTS_ALL) const int OUTPUTS_ALL = 16;

void store(ivec2 p, vec4 sums[4])
{
    // Slices of a pixel of the finer level follow each other.
    const int slices = OUTPUTS_ALL / OUTPUTS, slice = int(gl_WorkGroupID.z);
    const int pixel = slice / slices;
    if (PIXELS == 4)
        p = 2 * p + ivec2(pixel & 1, pixel >> 1);
    const int row = ring_row(p.y, push.ring.z, push.ring.w);
    const int at =
        (row * push.size.w + p.x) * (OUTPUTS_ALL / 4) + slice % slices * (OUTPUTS / 4);
    [[unroll]] for (int i = 0; i < 4; i++) {
        vec4 value = sums[i];
        if (ADD)
            value += outputs[at + i];
        outputs[at + i] = RELU ? max(value, 0.0) : value;
    }
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
    const int bias_at = push.weights.y + int(gl_WorkGroupID.z) * columns;
    vec4 first[4], second[4];
    [[unroll]] for (int n = 0; n < 4; n++)
        first[n] = second[n] = weights[bias_at + n];
    for (int tap = 0; tap < KERNEL_X * KERNEL_Y; tap++) {
        const ivec2 a = ivec2(first_column(p.x) + tap % KERNEL_X,
                              first_row(p.y) + tap / KERNEL_X);
        const ivec2 b = a + ivec2(1, 0);
        const bool a_in = in_picture(a), b_in = in_picture(b);
        const int at = (input_row(a.y) * push.size.z + a.x) * units;
        for (int u = 0; u < units; u++) {
            const vec4 va = a_in ? inputs[at + u] : vec4(0.0);
            const vec4 vb = b_in ? inputs[at + units + u] : vec4(0.0);
            [[unroll]] for (int k = 0; k < 4; k++) {
                const int w = weights_at + (tap * INPUTS + 4 * u + k) * columns;
                [[unroll]] for (int n = 0; n < 4; n++) {
                    const vec4 weight = weights[w + n];
                    first[n] += va[k] * weight;
                    second[n] += vb[k] * weight;
                }
            }
        }
    }
    store(p, first);
    if (p.x + 1 < push.size.x)
        store(p + ivec2(1, 0), second);
}
