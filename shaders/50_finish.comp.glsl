#version 450
// SPDX-License-Identifier: MIT
// Sharpens the resolved picture: unsharp mask of a 3x3 cross, limited to the range of its
// neighbourhood so that it neither rings nor amplifies lone bright pixels.
// Reads: resolved [output] RGBA32F. Writes: output rectangle. Grid: one thread a pixel, 8x8.
// Precision: f32. Reference: hs_ref_finish() in engine/ref/ref_finish.c.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
HS_INPUT(resolved, HS_BINDING_RESOLVED);
HS_OUTPUT(out_image, HS_BINDING_OUTPUT);

vec4 at(ivec2 p)
{
    return texelFetch(resolved, clamp(p, ivec2(0), params.size.zw - 1), 0);
}

void main()
{
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, params.size.zw)))
        return;
    const vec4 c = at(p);
    const vec3 n = at(p + ivec2(0, -1)).rgb, s = at(p + ivec2(0, 1)).rgb;
    const vec3 w = at(p + ivec2(-1, 0)).rgb, e = at(p + ivec2(1, 0)).rgb;
    const vec3 low = min(min(min(n, s), min(w, e)), c.rgb);
    const vec3 high = max(max(max(n, s), max(w, e)), c.rgb);
    const vec3 mean = 0.25 * (n + s + w + e);
    const vec3 sharp = clamp(c.rgb + params.exposure.w * (c.rgb - mean), low, high);
    imageStore(out_image, p + params.origin_out.xy, vec4(sharp, c.a));
}
