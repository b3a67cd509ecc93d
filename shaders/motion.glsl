// SPDX-License-Identifier: MIT
// Motion of output pixels. Reference: pixel_motion() in engine/ref/ref_reproject.c.
#include "grid.glsl"
HS_INPUT(display_motion, HS_BINDING_MOTION);
HS_INPUT(prep_motion, HS_BINDING_PREP_MOTION);
HS_INPUT(prep_aux, HS_BINDING_PREP_AUX);
HS_INPUT(prep_depth, HS_BINDING_PREP_DEPTH);

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
    [[unroll]] for (int j = 0; j < 2; j++) {
        [[unroll]] for (int i = 0; i < 2; i++) {
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

// Motion of a grid pixel in grid px; returns the validity of its history.
float pixel_motion(ivec2 p, out vec2 moved)
{
    const ivec2 s = pick_sample((vec2(p) + 0.5) * grid_scale());
    const float valid = texelFetch(prep_aux, s, 0).r;
    moved = texelFetch(prep_motion, s, 0).rg * render_to_grid();
    if (!has(HS_FRAME_MOTION) || !has(HS_FRAME_MOTION_DISPLAY))
        return valid;
    vec2 own;
    const bool far = texelFetch(prep_depth, s, 0).r >= HS_DEPTH_FAR;
    const vec2 raw = texelFetch(display_motion, output_pixel(p) + params.origin_in2.xy, 0).rg;
    const int kind = canonical_motion(raw, far, own);
    if (kind == MOTION_OK)
        moved = own * output_to_grid();
    return kind == MOTION_INVALID ? 0.0 : valid;
}
