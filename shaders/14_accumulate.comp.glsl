#version 450
// SPDX-License-Identifier: MIT
// The signal averaged over time where history shows the same surface, and how far it may still be
// off. What stands out of its neighbourhood is cut before it enters.
// Reads: signal, surface, traits, motion, validity, depth [render]; depth, surface, signal and
// moments of the previous frame [previous render].
// Writes at render size: signal RGBA16F (rgb; standard deviation of its luminance), which is the
// next history, too: not filtered, or blur would add up; moments RGBA16F (mean luminance, standard
// deviation of a frame's, length of history in frames).
// Grid: one thread a render pixel, 8x8. Precision: f32.
// Reference: hs_ref_accumulate() in engine/ref/ref_accumulate.c.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "guides.glsl"
#include "camera.glsl"
#include "taau.h"

layout(local_size_x = 8, local_size_y = 8) in;
HS_INPUT(prep_motion, HS_BINDING_PREP_MOTION);
HS_INPUT(prep_aux, HS_BINDING_PREP_AUX);
HS_INPUT(prev_depth, HS_BINDING_PREV_DEPTH);
HS_GUIDE(signal, HS_BINDING_SIGNAL_A);
HS_GUIDE(prev_surface, HS_BINDING_PREV_SURFACE);
HS_GUIDE(prev_signal, HS_BINDING_PREV_ACCUMULATED);
HS_GUIDE(prev_moments, HS_BINDING_PREV_MOMENTS);
HS_GUIDE_OUT(out_signal, HS_BINDING_OUT_ACCUMULATED);
HS_GUIDE_OUT(out_moments, HS_BINDING_OUT_MOMENTS);

void store(ivec2 p, vec4 c, vec3 moments)
{
    imageStore(out_signal, p, c);
    imageStore(out_moments, p, vec4(moments, 0.0));
}

// Weighted sums over a neighbourhood: of the signal, its squares; the same of its luminance.
struct sums {
    vec3 c, c2;
    float l, l2, w;
};

void add(inout sums s, vec3 c, float w)
{
    const float l = luminance(c);
    s.c += w * c;
    s.c2 += w * c * c;
    s.l += w * l;
    s.l2 += w * l * l;
    s.w += w;
}

float variance(float sum, float sum2, float w)
{
    const float m = sum / w;
    return max(sum2 / w - m * m, 0.0);
}

// History around a place: signal; mean and deviation of luminance, length.
struct past {
    vec3 c;
    vec3 m;
    float w;
};

// `plane`: taps must have one of both depths, within the tolerance and the surface's slope.
past look_back(surface s, vec2 q, bool plane, vec2 depths, float slack)
{
    const vec2 ratio = vec2(params.prev_size.xy) / vec2(params.size.xy);
    const vec2 uv = q * ratio - params.jitter.zw - 0.5;
    const vec2 base = floor(uv), f = uv - base;
    past sum = past(vec3(0.0), vec3(0.0), 0.0);
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            const ivec2 t = ivec2(base) + ivec2(i, j);
            if (any(lessThan(t, ivec2(0))) || any(greaterThanEqual(t, params.prev_size.xy)))
                continue;
            const float d = texelFetch(prev_depth, t, 0).r;
            const vec2 off = abs(vec2(d) - depths);
            if (plane && !(min(off.x, off.y) <= HS_ATROUS_SAME_DEPTH * d + slack))
                continue;
            const vec4 n = texelFetch(prev_surface, t, 0);
            if (has(HS_FRAME_PREV_NORMAL) && dot(s.normal.xyz, s.normal.xyz) > 0.25 &&
                !(dot(s.normal.xyz, n.xyz) >= HS_ATROUS_SAME_NORMAL))
                continue;
            const float w = (i == 1 ? f.x : 1.0 - f.x) * (j == 1 ? f.y : 1.0 - f.y);
            sum.c += w * texelFetch(prev_signal, t, 0).rgb;
            sum.m += w * texelFetch(prev_moments, t, 0).rgb;
            sum.w += w;
        }
    }
    return sum;
}

past blend(past a, past b, float share)
{
    const float wa = a.w > 0.01 ? (1.0 - share) / a.w : 0.0, wb = b.w > 0.01 ? share / b.w : 0.0;
    const float w = wa * a.w + wb * b.w;
    const float by = w > 0.0 ? 1.0 / w : 0.0;
    return past((wa * a.c + wb * b.c) * by, (wa * a.m + wb * b.m) * by, w > 0.0 ? 1.0 : 0.0);
}

past find_history(surface s, ivec2 p)
{
    const vec2 at = vec2(p) + 0.5 + params.jitter.xy;
    const float ratio = has(HS_FRAME_LDR) ? 1.0 : state.exposure.y;
    const float d = texelFetch(prep_depth, p, 0).r;
    vec2 moved;
    float expected = d;
    if (has(HS_FRAME_CAMERA))
        camera_motion(at, d, moved, expected);
    const bool plane = has(HS_FRAME_DEPTH) && has(HS_FRAME_PREV_DEPTH);
    // The change of depth over a pixel, from that of its inverse.
    const float slack = d < HS_DEPTH_FAR ? dot(abs(s.slope), vec2(1.0)) * d * d : 0.0;
    const past own = look_back(s, at + texelFetch(prep_motion, p, 0).rg, plane,
                               vec2(d, expected), slack);
    // What a smooth surface shows is as far behind it as the reflected ray goes.
    const float mirror = s.trait.x * clamp(1.0 - s.normal.w / HS_ATROUS_MIRROR, 0.0, 1.0);
    past seen = past(vec3(0.0), vec3(0.0), 0.0);
    if (mirror > 0.0 && s.trait.y > 0.0 && d < HS_DEPTH_FAR && has(HS_FRAME_CAMERA) &&
        camera_motion(at, d + s.trait.y, moved, expected))
        seen = look_back(s, at + moved, false, vec2(0.0), 0.0);
    past both = blend(own, seen, seen.w > 0.01 ? mirror : 0.0);
    both.c *= ratio;
    both.m.xy *= ratio;
    return both;
}

void main()
{
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, params.size.xy)))
        return;
    const surface here = read_surface(p);
    vec3 c = texelFetch(signal, p, 0).rgb;
    if (is_background(here.trait)) {
        store(p, vec4(c, 0.0), vec3(luminance(c), 0.0, 1.0));
        return;
    }
    sums around = sums(vec3(0.0), vec3(0.0), 0.0, 0.0, 0.0);
    for (int j = -2; j <= 2; j++) {
        for (int i = -2; i <= 2; i++) {
            const ivec2 q = p + ivec2(i, j);
            if ((i == 0 && j == 0) || any(lessThan(q, ivec2(0))) ||
                any(greaterThanEqual(q, params.size.xy)))
                continue;
            add(around, texelFetch(signal, q, 0).rgb, edge_weight(here, q, vec2(i, j)));
        }
    }
    if (around.w > 1.0) {
        const float top = around.l / around.w + HS_ATROUS_FIREFLY *
                                                    sqrt(variance(around.l, around.l2, around.w));
        c *= min(1.0, top / max(luminance(c), 1e-9));
    }
    add(around, c, 1.0);
    const float l = luminance(c);
    float square = variance(around.l, around.l2, around.w), frames = 1.0, spread = 0.0, mean = l;
    const float valid = has(HS_FRAME_RESET) ? 0.0 : texelFetch(prep_aux, p, 0).r;
    past old = past(vec3(0.0), vec3(0.0), 0.0);
    if (valid > 0.0)
        old = find_history(here, p);
    if (old.w > 0.0) {
        const vec3 centre = around.c / around.w;
        const vec3 reach = HS_ATROUS_CLAMP *
                           sqrt(max(around.c2 / around.w - centre * centre, 0.0));
        frames = min(old.m.z * valid + 1.0, HS_ATROUS_LENGTH);
        const float share = 1.0 / frames, off = l - old.m.x;
        c = mix(clamp(old.c, centre - reach, centre + reach), c, share);
        mean = mix(old.m.x, l, share);
        spread = (1.0 - share) * (old.m.y * old.m.y + share * off * off);
        square = frames < HS_ATROUS_TRUSTED ? max(spread, square) : spread;
    }
    store(p, min(vec4(c, sqrt(square / frames)), HS_TAAU_MAX),
          vec3(mean, min(sqrt(spread), HS_TAAU_MAX), frames));
}
