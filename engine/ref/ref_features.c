// SPDX-License-Identifier: MIT
// Reference of what the network sees: docs/model-format.md, features.
#include "network.h"
#include "ref_levels.h"

/** Channels of a pixel; those of a token follow all four of them. */
enum pixel_channel {
    CUBIC = 0,
    MOVED = 3,
    MOVED_WEIGHT = 6,
    GAIN = 7,
    OUT_BY = 8,
    ERROR = 11,
};

enum token_channel {
    SAMPLE = 4 * HS_PIXEL_FEATURES,
    OFFSET = SAMPLE + 3,
    DEVIATION = OFFSET + 2,
    VALID = DEVIATION + 3,
    DEPTHS = VALID + 1,
    MOTION = DEPTHS + 2,
    BLUR = MOTION + 2,
    RATIO = BLUR + 1,
};

static void pixel_features(const struct hs_frame_params *p, const struct hs_ref_plane *colour,
                           const struct hs_ref_history *reproj, int x, int y, float *out)
{
    struct hs_ref_window w;
    struct hs_ref_box box;
    float weights[4][4], o[4];
    hs_ref_window_load(p, colour, x, y, &w);
    hs_ref_window_cubic(&w, weights);
    hs_ref_window_box(&w, &box);
    const struct hs_ref_work now = hs_ref_window_filter(&w, weights);
    const struct hs_ref_work old = hs_ref_encode(p, hs_ref_texel(&reproj->colour, x, y));
    const float weight = hs_ref_texel(&reproj->aux, x, y)[0];
    const float size = hs_ref_box_size(p, weight);
    for (int k = 0; k < 3; k++) {
        out[CUBIC + k] = now.c[k] - 0.5f;
        out[MOVED + k] = old.c[k] - 0.5f;
        out[OUT_BY + k] = 0;
    }
    out[MOVED_WEIGHT] = weight / (1 + weight);
    out[GAIN] = w.gain;
    out[ERROR] = 0;
    if (!(weight > 0))
        return;
    struct hs_ref_work error;
    const float total = hs_ref_window_errors(p, &w, &reproj->colour, &error);
    hs_ref_opponent(old.c, o);
    for (int k = 0; k < 3; k++)
        out[OUT_BY + k] = hs_ref_clamp((o[k] - box.centre[k]) / 4 /
                                           (box.deviation[k] * size + HS_REF_F(HS_TAAU_BOX_MIN)),
                                       -1, 1);
    hs_ref_opponent(error.c, o);
    out[ERROR] = 2 * o[0] / fmaxf(total, 1e-9f);
}

static float log_depth(const struct hs_ref_plane *depth, int x, int y)
{
    return log2f(hs_ref_clamp(hs_ref_texel(depth, x, y)[0], 1e-4f, 1e9f));
}

/** What the 3x3 samples around (x, y) tell. */
static void around_sample(const struct hs_frame_params *p, const struct hs_ref_prepared *prep,
                          int x, int y, float *out)
{
    // As in hs_ref_window_box().
    const struct hs_ref_work centre = hs_ref_encode(p, hs_ref_texel(&prep->colour, x, y));
    float middle[4], mean[3] = {0}, square[3] = {0};
    hs_ref_opponent(centre.c, middle);
    const float own = log_depth(&prep->depth, x, y);
    float near = own, far = own;
    for (int j = -1; j <= 1; j++) {
        for (int i = -1; i <= 1; i++) {
            const struct hs_ref_work tap =
                hs_ref_encode(p, hs_ref_texel(&prep->colour, x + i, y + j));
            const float d = log_depth(&prep->depth, x + i, y + j);
            float o[4];
            hs_ref_opponent(tap.c, o);
            for (int k = 0; k < 3; k++) {
                const float by = o[k] - middle[k];
                mean[k] += by / 9;
                square[k] += by * by / 9;
            }
            near = fminf(near, d);
            far = fmaxf(far, d);
        }
    }
    for (int k = 0; k < 3; k++)
        out[DEVIATION + k] = fminf(4 * sqrtf(fmaxf(square[k] - mean[k] * mean[k], 0)), 1);
    const bool known = hs_ref_has(p, HS_FRAME_DEPTH);
    out[DEPTHS] = known ? fminf((own - near) / 2, 1) : 0;
    out[DEPTHS + 1] = known ? fminf((far - own) / 2, 1) : 0;
}

/** Token (x, y), whose pixel 0 is output pixel (2 x, 2 y). */
static void token_features(const struct hs_frame_params *p, const struct hs_ref_plane *motion,
                           const struct hs_ref_prepared *prep, const struct hs_ref_levels *levels,
                           int x, int y, float *out)
{
    const float u = (2 * (float)x + 1) * p->scale.x, v = (2 * (float)y + 1) * p->scale.y;
    const float at_x = floorf(u - p->jitter.x), at_y = floorf(v - p->jitter.y);
    const int sx = hs_ref_clampi((int)at_x, 0, p->size.x - 1);
    const int sy = hs_ref_clampi((int)at_y, 0, p->size.y - 1);
    const struct hs_ref_work sample = hs_ref_encode(p, hs_ref_texel(&prep->colour, sx, sy));
    float m[2];
    hs_ref_pixel_motion(p, motion, prep, 2 * x, 2 * y, m);
    const float hx = 2 * (float)x + m[0], hy = 2 * (float)y + m[1];
    for (int k = 0; k < 3; k++)
        out[SAMPLE + k] = sample.c[k] - 0.5f;
    out[OFFSET] = at_x + 0.5f + p->jitter.x - u;
    out[OFFSET + 1] = at_y + 0.5f + p->jitter.y - v;
    around_sample(p, prep, sx, sy, out);
    out[VALID] = hs_ref_texel(&prep->aux, sx, sy)[0];
    out[MOTION] = m[0] / (8 + fabsf(m[0]));
    out[MOTION + 1] = m[1] / (8 + fabsf(m[1]));
    out[BLUR] = hs_ref_blur(hx - floorf(hx), hy - floorf(hy));
    out[RATIO] = p->scale.x;
    out[RATIO + 1] = p->scale.y;
    if (levels)
        hs_ref_level_features(p, levels, &sample, sx, sy, out);
}

void hs_ref_features(const struct hs_frame_params *p, const struct hs_ref_plane *motion,
                     const struct hs_ref_prepared *prep, const struct hs_ref_history *reproj,
                     const struct hs_ref_levels *levels, struct hs_ref_plane *features)
{
    for (int y = 0; y < features->height; y++) {
        for (int x = 0; x < features->width; x++) {
            float *out = hs_ref_pixel(features, x, y);
            for (int s = 0; s < 4; s++) {
                // Of an odd size the last token's pixels beyond the picture repeat the last one.
                const int px = hs_ref_clampi(2 * x + s % 2, 0, p->size.z - 1);
                const int py = hs_ref_clampi(2 * y + s / 2, 0, p->size.w - 1);
                float pixel[HS_PIXEL_FEATURES];
                pixel_features(p, &prep->colour, reproj, px, py, pixel);
                for (int c = 0; c < HS_PIXEL_FEATURES; c++)
                    out[4 * c + s] = pixel[c];
            }
            token_features(p, motion, prep, levels, x, y, out);
        }
    }
}
