#version 450
// SPDX-License-Identifier: MIT
// History brought to this frame's output pixels: a cubic of sixteen taps in the working range, kept
// within their range, and its weight, which resampling and doubtful pixels reduce.
// Reads: motion, validity, depth, colour [render], caller's motion if it has output size, history.
// Writes at output size: colour RGBA16F in this frame's exposure, weight R of RG16F (0: none).
// Grid: one thread an output pixel, 8x8. Precision: f32.
// Reference: hs_ref_reproject() in engine/ref/ref_reproject.c.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "taau.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
HS_INPUT(display_motion, HS_BINDING_MOTION);
HS_INPUT(prep_colour, HS_BINDING_PREP_COLOUR);
HS_INPUT(prep_motion, HS_BINDING_PREP_MOTION);
HS_INPUT(prep_aux, HS_BINDING_PREP_AUX);
HS_INPUT(prep_depth, HS_BINDING_PREP_DEPTH);
HS_INPUT(history_colour, HS_BINDING_HISTORY_COLOUR);
HS_INPUT(history_aux, HS_BINDING_HISTORY_AUX);
HS_OUTPUT(out_colour, HS_BINDING_OUT_REPROJ_COLOUR);
HS_OUTPUT(out_aux, HS_BINDING_OUT_REPROJ_AUX);

ivec2 render_clamp(ivec2 p)
{
    return clamp(p, ivec2(0), params.size.xy - 1);
}

ivec2 output_clamp(ivec2 p)
{
    return clamp(p, ivec2(0), params.size.zw - 1);
}

// The render sample whose motion the output pixel at uv (render px) follows: the nearest one, or
// the one nearest to the camera among the four around it, so that an edge moves with the surface
// in front.
ivec2 pick_sample(vec2 uv)
{
    ivec2 best = render_clamp(ivec2(floor(uv - params.jitter.xy)));
    if (!has(HS_FRAME_DEPTH))
        return best;
    const ivec2 base = ivec2(floor(uv - params.jitter.xy - 0.5));
    float nearest = texelFetch(prep_depth, best, 0).r;
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            const ivec2 at = base + ivec2(i, j);
            const vec2 away = abs(vec2(at) + 0.5 + params.jitter.xy - uv);
            const ivec2 p = render_clamp(at);
            const float d = texelFetch(prep_depth, p, 0).r;
            if (max(away.x, away.y) < HS_TAAU_DILATE &&
                d < nearest * (1.0 - HS_TAAU_DILATE_DEPTH)) {
                nearest = d;
                best = p;
            }
        }
    }
    return best;
}

// Motion of an output pixel in output px; returns the validity of its history.
float pixel_motion(ivec2 p, out vec2 moved)
{
    const ivec2 s = pick_sample((vec2(p) + 0.5) * params.scale.xy);
    const float valid = texelFetch(prep_aux, s, 0).r;
    moved = texelFetch(prep_motion, s, 0).rg * params.scale.zw;
    if (!has(HS_FRAME_MOTION) || !has(HS_FRAME_MOTION_DISPLAY))
        return valid;
    vec2 own;
    const bool far = texelFetch(prep_depth, s, 0).r >= HS_DEPTH_FAR;
    const vec2 raw = texelFetch(display_motion, p + params.origin_in2.xy, 0).rg;
    const int kind = canonical_motion(raw, far, own);
    if (kind == MOTION_OK)
        moved = own;
    return kind == MOTION_INVALID ? 0.0 : valid;
}

vec4 sample_colour(vec2 at)
{
    const float ratio = has(HS_FRAME_LDR) ? 1.0 : state.exposure.y;
    const vec2 base = floor(at - 0.5), f = at - 0.5 - base;
    const vec4 wx = cubic(f.x, HS_TAAU_CUBIC_HISTORY), wy = cubic(f.y, HS_TAAU_CUBIC_HISTORY);
    work sum = work(vec4(0.0), 0.0);
    range taps = range_start();
    [[unroll]] for (int j = 0; j < 4; j++) {
        [[unroll]] for (int i = 0; i < 4; i++) {
            const vec4 t =
                texelFetch(history_colour, output_clamp(ivec2(base) + ivec2(i, j) - 1), 0);
            const work tap = encode(vec4(t.rgb * ratio, t.a));
            const float w = wx[i] * wy[j];
            range_add(taps, tap);
            sum.c += w * tap.c;
            sum.s += w * tap.s;
        }
    }
    return decode(range_clamp(taps, sum));
}

float sample_weight(vec2 at)
{
    const vec2 base = floor(at - 0.5), f = at - 0.5 - base;
    float sum = 0.0;
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            const float w = (i == 1 ? f.x : 1.0 - f.x) * (j == 1 ? f.y : 1.0 - f.y);
            sum += w * texelFetch(history_aux, output_clamp(ivec2(base) + ivec2(i, j)), 0).r;
        }
    }
    // Every resampling between pixels blurs, so it costs weight.
    const float blur = 2.0 * (f.x * (1.0 - f.x) + f.y * (1.0 - f.y));
    return sum * (1.0 - HS_TAAU_DECAY * blur);
}

void main()
{
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, params.size.zw)))
        return;
    vec2 moved;
    float weight = 0.0;
    const float valid = pixel_motion(p, moved);
    const vec2 at = vec2(p) + 0.5 + moved;
    if (valid > 0.0 && all(greaterThan(at, vec2(0.0))) && all(lessThan(at, vec2(params.size.zw))))
        weight = sample_weight(at) * valid;
    vec4 rgba;
    if (weight > 0.0) {
        rgba = sample_colour(at);
    } else {
        // No history: the nearest sample, in which resolve then finds nothing to correct.
        const vec2 uv = (vec2(p) + 0.5) * params.scale.xy - params.jitter.xy;
        rgba = texelFetch(prep_colour, render_clamp(ivec2(floor(uv))), 0);
    }
    imageStore(out_colour, p, rgba);
    imageStore(out_aux, p, vec4(weight, 0.0, 0.0, 0.0));
}
