#version 450
// SPDX-License-Identifier: MIT
// Sharpens the resolved picture: unsharp mask of a 3x3 cross, limited to the range of its
// neighbourhood so that it neither rings nor amplifies lone bright pixels. Then, if the frame wants
// one, the look: from scene-linear light to a display's values (hindsight/look.h).
// Reads: resolved [output] RGBA32F. Writes: output rectangle. Grid: one thread a pixel, 8x8.
// Precision: f32. Reference: hs_ref_finish() in engine/ref/ref_finish.c.
// Source: the ACES curve is the fit by Narkowicz (2015).
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
HS_INPUT(resolved, HS_BINDING_RESOLVED);
HS_OUTPUT(out_image, HS_BINDING_OUTPUT);

vec4 at(ivec2 p)
{
    return texelFetch(resolved, clamp(p, ivec2(0), params.size.zw - 1), 0);
}

vec4 sharpened(ivec2 p)
{
    const vec4 c = at(p);
    if (params.exposure.w <= 0.0)
        return c;
    const vec3 n = at(p + ivec2(0, -1)).rgb, s = at(p + ivec2(0, 1)).rgb;
    const vec3 w = at(p + ivec2(-1, 0)).rgb, e = at(p + ivec2(1, 0)).rgb;
    const vec3 low = min(min(min(n, s), min(w, e)), c.rgb);
    const vec3 high = max(max(max(n, s), max(w, e)), c.rgb);
    const vec3 mean = 0.25 * (n + s + w + e);
    return vec4(clamp(c.rgb + params.exposure.w * (c.rgb - mean), low, high), c.a);
}

// From the centre to the corners, whose distance is 1.
vec2 from_centre(ivec2 p)
{
    const vec2 size = vec2(params.size.zw);
    return (2.0 * (vec2(p) + 0.5) - size) / length(size);
}

// -0.5 to 0.5, another one for every pixel and seed.
float noise(ivec2 p)
{
    uint h = uint(p.x) * 0x9e3779b1u ^ uint(p.y) * 0x85ebca77u ^
             uint(params.look[3].y) * 0xc2b2ae3du;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return float((h ^ h >> 15) >> 8) / 16777216.0 - 0.5;
}

vec3 curve(vec3 c)
{
    c = max(0.5 * exposure_factor() * c, 0.0);
    // Beyond that it is 1.
    c = min(c, 1e4);
    c = c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14);
    return pow(clamp(c, 0.0, 1.0), vec3(1.0 / 2.2));
}

vec3 graded(vec3 v, ivec2 p)
{
    const vec2 d = from_centre(p);
    const float r2 = dot(d, d);
    v = params.look[0].w + (v - params.look[0].w) * (1.0 + params.look[0].z);
    float l = clamp(luminance(v), 0.0, 1.0);
    v += params.look[1].rgb * (1.0 - l) * (1.0 - l) + params.look[2].rgb * l * l;
    l = luminance(v);
    v = l + (v - l) * (1.0 + params.look[1].w);
    v *= 1.0 - params.look[2].w * r2 * r2;
    return clamp(v + params.look[3].x * noise(p), 0.0, 1.0);
}

// The colour without its alpha.
vec4 straight(ivec2 p)
{
    const vec4 c = sharpened(p);
    return c.a > 0.0 && c.a < 1.0 ? vec4(c.rgb / c.a, c.a) : c;
}

vec4 looked(ivec2 p)
{
    vec4 c = straight(p);
    const ivec2 away = ivec2(round(params.look[0].y * params.look[3].z * from_centre(p)));
    if (away != ivec2(0)) {
        c.r = straight(p + away).r;
        c.b = straight(p - away).b;
    }
    const vec3 v = curve(c.rgb);
    return vec4((v + params.look[0].y * (graded(v, p) - v)) * c.a, c.a);
}

void main()
{
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, params.size.zw)))
        return;
    imageStore(out_image, p + params.origin_out.xy,
               params.look[0].x > 0.0 ? looked(p) : sharpened(p));
}
