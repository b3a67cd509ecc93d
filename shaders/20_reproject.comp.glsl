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
#include "motion.glsl"
#include "band.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
HS_INPUT(prep_colour, HS_BINDING_PREP_COLOUR);
HS_INPUT(history_colour, HS_BINDING_HISTORY_COLOUR);
HS_INPUT(history_aux, HS_BINDING_HISTORY_AUX);
HS_OUTPUT(out_colour, HS_BINDING_OUT_REPROJ_COLOUR);
HS_OUTPUT(out_aux, HS_BINDING_OUT_REPROJ_AUX);

ivec2 output_clamp(ivec2 p)
{
    return clamp(p, ivec2(0), params.size.zw - 1);
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
            float s;
            const vec4 straight = encode_straight(vec4(t.rgb * ratio, t.a), s);
            const work tap = unite(straight, s);
            const float w = wx[i] * wy[j];
            range_add_straight(taps, straight, s);
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
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy) + ivec2(0, push.band.x);
    if (p.x >= params.size.z || p.y >= push.band.y)
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
    imageStore(out_colour, moved_place(p), rgba);
    imageStore(out_aux, moved_place(p), vec4(weight, 0.0, 0.0, 0.0));
}
