// SPDX-License-Identifier: MIT
// Reference of shaders/20_reproject: history brought to this frame's output pixels.
#include "ref_math.h"

/**
 * The render sample whose motion an output pixel follows: the nearest one, or the one nearest to
 * the camera among the four around the pixel, so that an edge moves with the surface in front.
 * (u, v) is the pixel's centre in render px.
 */
static void pick_sample(const struct hs_frame_params *p, const struct hs_ref_plane *depth, float u,
                        float v, int *out)
{
    const int w = p->size.x, h = p->size.y;
    const float jx = p->jitter.x, jy = p->jitter.y;
    out[0] = hs_ref_clampi((int)floorf(u - jx), 0, w - 1);
    out[1] = hs_ref_clampi((int)floorf(v - jy), 0, h - 1);
    if (!hs_ref_has(p, HS_FRAME_DEPTH))
        return;
    const int bx = (int)floorf(u - jx - 0.5f), by = (int)floorf(v - jy - 0.5f);
    const float reach = HS_REF_F(HS_TAAU_DILATE);
    float nearest = hs_ref_texel(depth, out[0], out[1])[0];
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            const float dx = (float)(bx + i) + 0.5f + jx - u;
            const float dy = (float)(by + j) + 0.5f + jy - v;
            const int x = hs_ref_clampi(bx + i, 0, w - 1), y = hs_ref_clampi(by + j, 0, h - 1);
            const float d = hs_ref_texel(depth, x, y)[0];
            if (fmaxf(fabsf(dx), fabsf(dy)) < reach &&
                d < nearest * HS_REF_F(1 - HS_TAAU_DILATE_DEPTH)) {
                nearest = d;
                out[0] = x;
                out[1] = y;
            }
        }
    }
}

float hs_ref_pixel_motion(const struct hs_frame_params *p, const struct hs_ref_plane *motion,
                          const struct hs_ref_prepared *prep, int x, int y, float *out)
{
    int s[2];
    pick_sample(p, &prep->depth, ((float)x + 0.5f) * p->scale.x, ((float)y + 0.5f) * p->scale.y, s);
    const float *m = hs_ref_texel(&prep->motion, s[0], s[1]);
    const float valid = hs_ref_texel(&prep->aux, s[0], s[1])[0];
    out[0] = m[0] * p->scale.z;
    out[1] = m[1] * p->scale.w;
    if (!hs_ref_has(p, HS_FRAME_MOTION) || !hs_ref_has(p, HS_FRAME_MOTION_DISPLAY))
        return valid;
    float own[2], scale[2] = {1, 1};
    if (hs_ref_has(p, HS_REF_FRAME_CELLS)) {
        // The output pixel in which the cell's centre lies.
        x = (2 * x + 1) * motion->width / (2 * p->size.z);
        y = (2 * y + 1) * motion->height / (2 * p->size.w);
        scale[0] = 2 * ((float)p->size.x / (float)motion->width);
        scale[1] = 2 * ((float)p->size.y / (float)motion->height);
    }
    const bool far = hs_ref_texel(&prep->depth, s[0], s[1])[0] >= HS_REF_F(HS_DEPTH_FAR);
    const enum hs_ref_motion_state state = hs_ref_motion(p, motion, x, y, far, own);
    if (state == HS_REF_MOTION_OK) {
        out[0] = own[0] * scale[0];
        out[1] = own[1] * scale[1];
    }
    return state == HS_REF_MOTION_INVALID ? 0 : valid;
}

/** Colour of the history at (hx, hy), output px: sixteen taps, kept within their range. */
static void sample_colour(const struct hs_frame_params *p, float ratio,
                          const struct hs_ref_plane *colour, float hx, float hy, float *out)
{
    const float bx = floorf(hx - 0.5f), by = floorf(hy - 0.5f);
    float wx[4], wy[4];
    hs_ref_cubic(hx - 0.5f - bx, HS_REF_F(HS_TAAU_CUBIC_HISTORY), wx);
    hs_ref_cubic(hy - 0.5f - by, HS_REF_F(HS_TAAU_CUBIC_HISTORY), wy);
    struct hs_ref_work sum = {{0}};
    struct hs_ref_range range;
    hs_ref_range_start(&range);
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < 4; i++) {
            const float *t = hs_ref_texel(colour, (int)bx + i - 1, (int)by + j - 1);
            const float scaled[4] = {t[0] * ratio, t[1] * ratio, t[2] * ratio, t[3]};
            const struct hs_ref_work tap = hs_ref_encode(p, scaled);
            hs_ref_range_add(&range, &tap);
            for (int k = 0; k < 5; k++)
                sum.c[k] += wx[i] * wy[j] * tap.c[k];
        }
    }
    hs_ref_range_clamp(&range, &sum);
    hs_ref_decode(p, &sum, out);
}

static float sample_weight(const struct hs_ref_plane *aux, float hx, float hy)
{
    const float bx = floorf(hx - 0.5f), by = floorf(hy - 0.5f);
    const float fx = hx - 0.5f - bx, fy = hy - 0.5f - by;
    float sum = 0;
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++)
            sum += (i ? fx : 1 - fx) * (j ? fy : 1 - fy) *
                   hs_ref_texel(aux, (int)bx + i, (int)by + j)[0];
    }
    // Every resampling between pixels blurs, so it costs weight.
    return sum * (1 - HS_REF_F(HS_TAAU_DECAY) * hs_ref_blur(fx, fy));
}

void hs_ref_reproject(const struct hs_frame_params *p, const struct hs_state *state,
                      const struct hs_ref_plane *motion, const struct hs_ref_prepared *prep,
                      const struct hs_ref_history *prev, struct hs_ref_history *out)
{
    const float ratio = hs_ref_has(p, HS_FRAME_LDR) ? 1 : state->exposure.y;
    const float width = (float)p->size.z, height = (float)p->size.w;
    for (int y = 0; y < p->size.w; y++) {
        for (int x = 0; x < p->size.z; x++) {
            float m[2], rgba[4], weight = 0;
            const float valid = hs_ref_pixel_motion(p, motion, prep, x, y, m);
            const float hx = (float)x + 0.5f + m[0], hy = (float)y + 0.5f + m[1];
            if (valid > 0 && hx > 0 && hy > 0 && hx < width && hy < height)
                weight = hs_ref_store(p, sample_weight(&prev->aux, hx, hy) * valid);
            if (weight > 0) {
                sample_colour(p, ratio, &prev->colour, hx, hy, rgba);
            } else {
                // No history: the nearest sample, which resolve then finds nothing to correct in.
                const int sx = (int)floorf(((float)x + 0.5f) * p->scale.x - p->jitter.x);
                const int sy = (int)floorf(((float)y + 0.5f) * p->scale.y - p->jitter.y);
                memcpy(rgba,
                       hs_ref_texel(&prep->colour, hs_ref_clampi(sx, 0, p->size.x - 1),
                                    hs_ref_clampi(sy, 0, p->size.y - 1)),
                       sizeof(rgba));
            }
            float *c = hs_ref_pixel(&out->colour, x, y), *aux = hs_ref_pixel(&out->aux, x, y);
            for (int i = 0; i < 4; i++)
                c[i] = hs_ref_store(p, rgba[i]);
            aux[0] = weight;
            aux[1] = 0;
        }
    }
}
