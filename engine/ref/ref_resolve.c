// SPDX-License-Identifier: MIT
// Reference of shaders/40_resolve: this frame's samples and the reprojected history into one
// picture, which is the next history.
#include "ref_math.h"

/** The 4x4 samples around an output pixel. Tap [j][i] is sample (x + i - 1, y + j - 1). */
struct window {
    int x, y;     ///< Floor of the pixel's place between sample centres.
    float fx, fy; ///< Its fraction.
    struct hs_ref_work tap[4][4];
    struct hs_ref_range range;
};

static float gauss(float dx, float dy, float k)
{
    return expf(-(dx * dx + dy * dy) * k);
}

static void load_window(const struct hs_frame_params *p, const struct hs_ref_plane *colour, int x,
                        int y, struct window *w)
{
    const float u = ((float)x + 0.5f) * p->scale.x - p->jitter.x - 0.5f;
    const float v = ((float)y + 0.5f) * p->scale.y - p->jitter.y - 0.5f;
    w->x = (int)floorf(u);
    w->y = (int)floorf(v);
    w->fx = u - floorf(u);
    w->fy = v - floorf(v);
    hs_ref_range_start(&w->range);
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < 4; i++) {
            const int sx = hs_ref_clampi(w->x + i - 1, 0, p->size.x - 1);
            const int sy = hs_ref_clampi(w->y + j - 1, 0, p->size.y - 1);
            w->tap[j][i] = hs_ref_encode(p, hs_ref_texel(colour, sx, sy));
            hs_ref_range_add(&w->range, &w->tap[j][i]);
        }
    }
}

/** Cubic of the sixteen samples, kept within their range. */
static struct hs_ref_work filter_window(const struct window *w)
{
    struct hs_ref_work sum = {{0}};
    float wx[4], wy[4];
    hs_ref_cubic(w->fx, HS_REF_F(HS_TAAU_CUBIC_CURRENT), wx);
    hs_ref_cubic(w->fy, HS_REF_F(HS_TAAU_CUBIC_CURRENT), wy);
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < 4; i++) {
            for (int k = 0; k < 5; k++)
                sum.c[k] += wx[i] * wy[j] * w->tap[j][i].c[k];
        }
    }
    hs_ref_range_clamp(&w->range, &sum);
    return sum;
}

/** Luma, two colour differences, alpha. */
static void opponent(const float *c, float *out)
{
    out[0] = 0.25f * c[0] + 0.5f * c[1] + 0.25f * c[2];
    out[1] = c[0] - c[2];
    out[2] = c[1] - 0.5f * (c[0] + c[2]);
    out[3] = c[3];
}

/**
 * Draws history towards the local mean until it lies in the box of the local deviations. Returns
 * the factor that it took, 1 where history was inside.
 */
static float rectify(const struct hs_frame_params *p, const struct window *w, float weight,
                     struct hs_ref_work *history)
{
    // The 3x3 samples around the nearest one.
    const int nx = w->fx >= 0.5f ? 1 : 0, ny = w->fy >= 0.5f ? 1 : 0;
    struct hs_ref_work mean = {{0}};
    float m1[4] = {0}, m2[4] = {0}, total = 0;
    for (int j = ny; j < ny + 3; j++) {
        for (int i = nx; i < nx + 3; i++) {
            const float g =
                gauss((float)(i - 1) - w->fx, (float)(j - 1) - w->fy, HS_REF_F(HS_TAAU_BOX_KERNEL));
            float o[4];
            opponent(w->tap[j][i].c, o);
            total += g;
            for (int k = 0; k < 4; k++) {
                m1[k] += g * o[k];
                m2[k] += g * o[k] * o[k];
            }
            for (int k = 0; k < 5; k++)
                mean.c[k] += g * w->tap[j][i].c[k];
        }
    }
    const bool seen = hs_ref_has(p, HS_FRAME_DEPTH) && hs_ref_has(p, HS_FRAME_PREV_DEPTH);
    const float size = seen ? HS_REF_F(HS_TAAU_BOX) + HS_REF_F(HS_TAAU_BOX_GROW) * weight
                            : HS_REF_F(HS_TAAU_BOX_BLIND);
    float h[4], out_by = 1;
    opponent(history->c, h);
    for (int k = 0; k < 4; k++) {
        const float m = m1[k] / total;
        const float deviation = sqrtf(fmaxf(m2[k] / total - m * m, 0));
        out_by = fmaxf(out_by, fabsf(h[k] - m) / (deviation * size + HS_REF_F(HS_TAAU_BOX_MIN)));
    }
    const float keep = 1 / out_by;
    for (int k = 0; k < 5; k++)
        history->c[k] = mean.c[k] / total + (history->c[k] - mean.c[k] / total) * keep;
    return keep;
}

/** Reprojected history at a place in output px, bilinear. */
static struct hs_ref_work history_at(const struct hs_frame_params *p,
                                     const struct hs_ref_plane *colour, float px, float py)
{
    const float bx = floorf(px - 0.5f), by = floorf(py - 0.5f);
    const float fx = px - 0.5f - bx, fy = py - 0.5f - by;
    struct hs_ref_work sum = {{0}};
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            const struct hs_ref_work t =
                hs_ref_encode(p, hs_ref_texel(colour, (int)bx + i, (int)by + j));
            const float g = (i ? fx : 1 - fx) * (j ? fy : 1 - fy);
            for (int k = 0; k < 5; k++)
                sum.c[k] += g * t.c[k];
        }
    }
    return sum;
}

/**
 * History plus the kernel-weighted mean of what the four samples around the pixel say about it:
 * sample minus history at the sample's place. Detail of history survives where this frame has no
 * sample. Returns the sum of the kernel.
 */
static float correct(const struct hs_frame_params *p, const struct window *w,
                     const struct hs_ref_plane *reprojected, float kernel,
                     struct hs_ref_work *history)
{
    struct hs_ref_work sum = {{0}};
    float total = 0;
    for (int j = 1; j < 3; j++) {
        for (int i = 1; i < 3; i++) {
            const int sx = hs_ref_clampi(w->x + i - 1, 0, p->size.x - 1);
            const int sy = hs_ref_clampi(w->y + j - 1, 0, p->size.y - 1);
            const struct hs_ref_work old =
                history_at(p, reprojected, ((float)sx + 0.5f + p->jitter.x) * p->scale.z,
                           ((float)sy + 0.5f + p->jitter.y) * p->scale.w);
            const float g = gauss((float)(i - 1) - w->fx, (float)(j - 1) - w->fy, kernel);
            total += g;
            for (int k = 0; k < 5; k++)
                sum.c[k] += g * (w->tap[j][i].c[k] - old.c[k]);
        }
    }
    struct hs_ref_range range = w->range;
    hs_ref_range_add(&range, history);
    const float share = HS_REF_F(HS_TAAU_CORRECT_GAIN) / fmaxf(total, 1e-9f);
    for (int k = 0; k < 5; k++)
        history->c[k] += sum.c[k] * share;
    hs_ref_range_clamp(&range, history);
    return total;
}

/** One output pixel; returns its new weight. */
static float resolve_pixel(const struct hs_frame_params *p, const struct hs_ref_plane *colour,
                           const struct hs_ref_history *reproj, int x, int y, float *rgba)
{
    const float kernel = HS_REF_F(HS_TAAU_KERNEL) * p->scale.z * p->scale.w;
    struct window w;
    load_window(p, colour, x, y, &w);
    struct hs_ref_work now = filter_window(&w);
    const float dx = fminf(w.fx, 1 - w.fx), dy = fminf(w.fy, 1 - w.fy);
    const float gain = gauss(dx, dy, kernel) + HS_REF_F(HS_TAAU_WEIGHT_MIN);
    float weight = hs_ref_texel(&reproj->aux, x, y)[0];
    if (weight > 0) {
        struct hs_ref_work old = hs_ref_encode(p, hs_ref_texel(&reproj->colour, x, y));
        struct hs_ref_work corrected = old;
        const float total = correct(p, &w, &reproj->colour, kernel, &corrected);
        const float keep = rectify(p, &w, weight, &old);
        weight *= keep * keep;
        const float trust = total / (total + HS_REF_F(HS_TAAU_CORRECT_KERNEL)) * keep * keep *
                            weight / (weight + HS_REF_F(HS_TAAU_CORRECT_WEIGHT));
        for (int k = 0; k < 5; k++) {
            now.c[k] += (corrected.c[k] - now.c[k]) * trust;
            now.c[k] = (weight * old.c[k] + gain * now.c[k]) / (weight + gain);
        }
    }
    hs_ref_decode(p, &now, rgba);
    return fminf(weight + gain, HS_REF_F(HS_TAAU_WEIGHT_MAX));
}

void hs_ref_resolve(const struct hs_frame_params *p, const struct hs_state *state,
                    const struct hs_ref_prepared *prep, const struct hs_ref_history *reproj,
                    struct hs_ref_history *next, struct hs_ref_plane *image)
{
    const float factor = hs_ref_has(p, HS_FRAME_LDR) ? 1 : state->exposure.x;
    for (int y = 0; y < p->size.w; y++) {
        for (int x = 0; x < p->size.z; x++) {
            float rgba[4];
            const float weight = resolve_pixel(p, &prep->colour, reproj, x, y, rgba);
            float *c = hs_ref_pixel(&next->colour, x, y), *aux = hs_ref_pixel(&next->aux, x, y);
            float *out = hs_ref_pixel(image, x, y);
            for (int i = 0; i < 4; i++)
                c[i] = hs_ref_half(rgba[i]);
            aux[0] = hs_ref_half(weight);
            aux[1] = 0;
            for (int i = 0; i < 3; i++)
                out[i] = fminf(rgba[i] / factor, HS_REF_F(HS_TAAU_MAX));
            out[3] = rgba[3];
        }
    }
}
