#version 450
// SPDX-License-Identifier: MIT
// Automatic exposure, first step: partial sums of log2 luma.
// Reads: colour [render]. Writes: state.partial[HS_MEASURE_GROUPS] (sum, count).
// Grid: HS_MEASURE_GROUPS groups of 256; thread i of n takes pixels i, i + n, ... in row order,
// then a tree in shared memory: the order of additions is fixed.
// Precision: f32. Reference: hs_ref_measure() in engine/ref/ref_exposure.c.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = 256) in;
HS_INPUT(colour, HS_BINDING_COLOUR);

shared vec2 sums[256];

void main()
{
    const int total = params.size.x * params.size.y;
    vec2 sum = vec2(0.0);
    for (int i = int(gl_GlobalInvocationID.x); i < total; i += 256 * HS_MEASURE_GROUPS) {
        ivec2 p = ivec2(i % params.size.x, i / params.size.x);
        float y = luminance(texelFetch(colour, p + params.origin_in.xy, 0).rgb) * params.exposure.y;
        if (y > 1e-6 && finite(y))
            sum += vec2(log2(y), 1.0);
    }
    const uint t = gl_LocalInvocationID.x;
    sums[t] = sum;
    barrier();
    for (uint step = 128u; step > 0u; step >>= 1) {
        if (t < step)
            sums[t] += sums[t + step];
        barrier();
    }
    if (t == 0u)
        state.partial[gl_WorkGroupID.x] = vec4(sums[0], 0.0, 0.0);
}
