#version 450
// SPDX-License-Identifier: MIT
// A frame's planes in canonical form, and how far each pixel's history is to be trusted.
// Reads: colour, depth, motion, reactive [render], previous depth [previous render].
// Writes at render size: colour RGBA16F or RGBA32F (working exposure, finite, >= 0), motion RG32F
// (current to previous, render px), validity R16F (0..1), linear depth R32F.
// Grid: one thread a render pixel, 8x8. Precision: f32.
// Reference: hs_ref_prepare() in engine/ref/ref_prepare.c.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "taau.glsl"
#include "camera.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
HS_INPUT(colour, HS_BINDING_COLOUR);
HS_INPUT(depth, HS_BINDING_DEPTH);
HS_INPUT(motion, HS_BINDING_MOTION);
HS_INPUT(reactive, HS_BINDING_REACTIVE);
HS_INPUT(prev_depth, HS_BINDING_PREV_DEPTH);
HS_OUTPUT(out_colour, HS_BINDING_OUT_PREP_COLOUR);
HS_OUTPUT(out_motion, HS_BINDING_OUT_PREP_MOTION);
HS_OUTPUT(out_aux, HS_BINDING_OUT_PREP_AUX);
HS_OUTPUT(out_depth, HS_BINDING_OUT_PREP_DEPTH);

bool finite3(vec3 c)
{
    return finite(c.r) && finite(c.g) && finite(c.b);
}

vec4 colour_at(ivec2 p)
{
    return texelFetch(colour, clamp(p, ivec2(0), params.size.xy - 1) + params.origin_in.xy, 0);
}

// Values that are not finite take their finite neighbours' mean, negative ones zero.
vec4 clean_colour(ivec2 p)
{
    const vec4 c = colour_at(p);
    vec3 rgb = max(c.rgb, 0.0);
    if (!finite3(c.rgb)) {
        float count = 0.0;
        rgb = vec3(0.0);
        for (int dy = -1; dy <= 1; dy++) {
            for (int dx = -1; dx <= 1; dx++) {
                const vec3 n = colour_at(p + ivec2(dx, dy)).rgb;
                if (finite3(n)) {
                    rgb += max(n, 0.0);
                    count += 1.0;
                }
            }
        }
        rgb = count > 0.0 ? rgb / count : vec3(0.0);
    }
    rgb *= exposure_factor();
    if (params.depth.w > 0.0)
        rgb *= min(1.0, params.depth.w / max(luminance(rgb), 1e-9));
    const float top = has(HS_FRAME_LDR) ? 1.0 : HS_TAAU_MAX;
    return vec4(min(rgb, top), finite(c.a) ? clamp(c.a, 0.0, 1.0) : 1.0);
}

float linear_depth(ivec2 p)
{
    if (!has(HS_FRAME_DEPTH))
        return HS_DEPTH_FAR;
    const float raw = texelFetch(depth, p + params.origin_in.zw, 0).r;
    const float d = has(HS_FRAME_DEPTH_HARDWARE) ? params.depth.x / (raw + params.depth.y)
                                                 : params.depth.x * raw;
    return d > 0.0 && d < params.depth.z ? d : HS_DEPTH_FAR;
}

// Motion of the sample at p, render px; false, and zero: there is no history for it.
bool sample_motion(ivec2 p, float d, out vec2 moved, out float expected)
{
    const vec2 s = vec2(p) + 0.5 + params.jitter.xy;
    const bool camera = has(HS_FRAME_CAMERA);
    vec2 by_camera = vec2(0.0);
    expected = d;
    moved = vec2(0.0);
    const bool seen = !camera || camera_motion(s, d, by_camera, expected);
    if (has(HS_FRAME_MOTION)) {
        const bool display = has(HS_FRAME_MOTION_DISPLAY);
        ivec2 m = p;
        if (display)
            m = clamp(ivec2(floor(s * params.scale.zw)), ivec2(0), params.size.zw - 1);
        const vec2 raw = texelFetch(motion, m + params.origin_in2.xy, 0).rg;
        const int kind = canonical_motion(raw, d >= HS_DEPTH_FAR, moved);
        if (kind == MOTION_OK) {
            if (display)
                moved *= params.scale.xy;
            return true;
        }
        if (kind == MOTION_INVALID || !camera)
            return false;
    }
    const float limit = float(params.size.x + params.size.y);
    if (!seen || !(abs(by_camera.x) <= limit) || !(abs(by_camera.y) <= limit))
        return false;
    moved = by_camera;
    return true;
}

// Depth that the surface gains within a pixel; of two neighbours the smaller step counts, which
// stays on the surface at its edges.
float depth_slope(ivec2 p, float d)
{
    if (d >= HS_DEPTH_FAR)
        return 0.0;
    const ivec2 low = max(p - 1, ivec2(0)), high = min(p + 1, params.size.xy - 1);
    const float dx = min(abs(linear_depth(ivec2(low.x, p.y)) - d),
                         abs(linear_depth(ivec2(high.x, p.y)) - d));
    const float dy = min(abs(linear_depth(ivec2(p.x, low.y)) - d),
                         abs(linear_depth(ivec2(p.x, high.y)) - d));
    return dx + dy;
}

// How much of the previous depth around the old place q, render px, allows the sample to be there.
float visibility(vec2 q, float limit)
{
    const vec2 ratio = vec2(params.prev_size.xy) / vec2(params.size.xy);
    const vec2 uv = q * ratio - params.jitter.zw - 0.5;
    const vec2 base = floor(uv), f = uv - base;
    float sum = 0.0;
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            const ivec2 t = clamp(ivec2(base) + ivec2(i, j), ivec2(0), params.prev_size.xy - 1);
            const float w = (i == 1 ? f.x : 1.0 - f.x) * (j == 1 ? f.y : 1.0 - f.y);
            sum += texelFetch(prev_depth, t, 0).r >= limit ? w : 0.0;
        }
    }
    return sum;
}

float validity(ivec2 p, vec2 moved, float d, float expected)
{
    const vec2 q = vec2(p) + 0.5 + params.jitter.xy + moved;
    if (!(q.x >= 0.0 && q.y >= 0.0 && q.x <= float(params.size.x) && q.y <= float(params.size.y)))
        return 0.0;
    if (!has(HS_FRAME_DEPTH) || !has(HS_FRAME_PREV_DEPTH))
        return 1.0;
    // What moves with the camera keeps its own depth, not that of a standing point.
    const float tolerance =
        has(HS_FRAME_CAMERA) ? HS_TAAU_DEPTH_TOLERANCE : HS_TAAU_DEPTH_TOLERANCE_FREE;
    return visibility(q, min(expected, d) * (1.0 - tolerance) - depth_slope(p, d));
}

void main()
{
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, params.size.xy)))
        return;
    const float d = linear_depth(p);
    vec2 moved;
    float expected, valid = 0.0;
    if (sample_motion(p, d, moved, expected) && !has(HS_FRAME_RESET))
        valid = validity(p, moved, d, expected);
    if (has(HS_FRAME_REACTIVE)) {
        const float r = texelFetch(reactive, p + params.origin_in2.zw, 0).r;
        valid *= 1.0 - (finite(r) ? clamp(r, 0.0, 1.0) : 0.0);
    }
    imageStore(out_colour, p, clean_colour(p));
    imageStore(out_motion, p, vec4(moved, 0.0, 0.0));
    imageStore(out_aux, p, vec4(valid, 0.0, 0.0, 0.0));
    imageStore(out_depth, p, vec4(d, 0.0, 0.0, 0.0));
}
