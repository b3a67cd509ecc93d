// SPDX-License-Identifier: MIT
// The samples around an output pixel and what they say about it and its history.
#include "ref_window.h"

void hs_ref_window_load(const struct hs_frame_params *p, const struct hs_ref_plane *colour, int x,
                        int y, struct hs_ref_window *w)
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
    w->kernel = HS_REF_F(HS_TAAU_KERNEL) * p->scale.z * p->scale.w;
    const float dx = fminf(w->fx, 1 - w->fx), dy = fminf(w->fy, 1 - w->fy);
    w->gain = hs_ref_gauss(dx, dy, w->kernel) + HS_REF_F(HS_TAAU_WEIGHT_MIN);
}

void hs_ref_window_cubic(const struct hs_ref_window *w, float weights[4][4])
{
    float wx[4], wy[4];
    hs_ref_cubic(w->fx, HS_REF_F(HS_TAAU_CUBIC_CURRENT), wx);
    hs_ref_cubic(w->fy, HS_REF_F(HS_TAAU_CUBIC_CURRENT), wy);
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < 4; i++)
            weights[j][i] = wx[i] * wy[j];
    }
}

struct hs_ref_work hs_ref_window_filter(const struct hs_ref_window *w, float weights[4][4])
{
    struct hs_ref_work sum = {{0}};
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < 4; i++) {
            for (int k = 0; k < 5; k++)
                sum.c[k] += weights[j][i] * w->tap[j][i].c[k];
        }
    }
    hs_ref_range_clamp(&w->range, &sum);
    return sum;
}

void hs_ref_opponent(const float *c, float *out)
{
    out[0] = 0.25f * c[0] + 0.5f * c[1] + 0.25f * c[2];
    out[1] = c[0] - c[2];
    out[2] = c[1] - 0.5f * (c[0] + c[2]);
    out[3] = c[3];
}

void hs_ref_window_box(const struct hs_ref_window *w, struct hs_ref_box *box)
{
    const int nx = w->fx >= 0.5f ? 1 : 0, ny = w->fy >= 0.5f ? 1 : 0;
    // Squares of distances from one of the samples: of nearly equal ones, squares of the values
    // themselves would leave nothing but rounding.
    float middle[4], m1[4] = {0}, m2[4] = {0}, total = 0;
    hs_ref_opponent(w->tap[ny + 1][nx + 1].c, middle);
    box->mean = (struct hs_ref_work){{0}};
    for (int j = ny; j < ny + 3; j++) {
        for (int i = nx; i < nx + 3; i++) {
            const float g = hs_ref_gauss((float)(i - 1) - w->fx, (float)(j - 1) - w->fy,
                                         HS_REF_F(HS_TAAU_BOX_KERNEL));
            float o[4];
            hs_ref_opponent(w->tap[j][i].c, o);
            total += g;
            for (int k = 0; k < 4; k++) {
                const float d = o[k] - middle[k];
                m1[k] += g * d;
                m2[k] += g * d * d;
            }
            for (int k = 0; k < 5; k++)
                box->mean.c[k] += g * w->tap[j][i].c[k];
        }
    }
    for (int k = 0; k < 5; k++)
        box->mean.c[k] /= total;
    for (int k = 0; k < 4; k++) {
        const float mean = m1[k] / total;
        box->centre[k] = middle[k] + mean;
        box->deviation[k] = sqrtf(fmaxf(m2[k] / total - mean * mean, 0));
    }
}

float hs_ref_box_size(const struct hs_frame_params *p, float weight)
{
    const bool seen = hs_ref_has(p, HS_FRAME_DEPTH) && hs_ref_has(p, HS_FRAME_PREV_DEPTH);
    return seen ? HS_REF_F(HS_TAAU_BOX) + HS_REF_F(HS_TAAU_BOX_GROW) * weight
                : HS_REF_F(HS_TAAU_BOX_BLIND);
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

float hs_ref_window_errors(const struct hs_frame_params *p, const struct hs_ref_window *w,
                           const struct hs_ref_plane *reprojected, struct hs_ref_work *sum)
{
    float total = 0;
    *sum = (struct hs_ref_work){{0}};
    for (int j = 1; j < 3; j++) {
        for (int i = 1; i < 3; i++) {
            const int sx = hs_ref_clampi(w->x + i - 1, 0, p->size.x - 1);
            const int sy = hs_ref_clampi(w->y + j - 1, 0, p->size.y - 1);
            const struct hs_ref_work old =
                history_at(p, reprojected, ((float)sx + 0.5f + p->jitter.x) * p->scale.z,
                           ((float)sy + 0.5f + p->jitter.y) * p->scale.w);
            const float g = hs_ref_gauss((float)(i - 1) - w->fx, (float)(j - 1) - w->fy, w->kernel);
            total += g;
            for (int k = 0; k < 5; k++)
                sum->c[k] += g * (w->tap[j][i].c[k] - old.c[k]);
        }
    }
    return total;
}
