// SPDX-License-Identifier: MIT
// Reference of shaders/aov.glsl: a plane beside the colour, resolved with the colour's weights.
#include "ref_window.h"

/** One pixel on its way. */
struct pixel {
    const struct hs_frame_params *p;
    const struct hs_state *state;
    const struct hs_ref_inputs *in;
    const struct hs_ref_aov *aov;
    const struct hs_ref_window *w;
    float value[4], total[4]; ///< Of shares: colour times share, and colour.
    float low[4], high[4];    ///< Of the window's values.
};

static float finite_or(float x, float otherwise)
{
    return isfinite(x) ? x : otherwise;
}

/** So that single bright pixels do not decide alone. */
static float calm(const struct hs_frame_params *p, const float *c)
{
    return hs_ref_has(p, HS_FRAME_LDR) ? 1 : 1 / (1 + fmaxf(c[0], fmaxf(c[1], c[2])));
}

static const float *sample_of(const struct pixel *px, const struct hs_ref_plane *plane, int x,
                              int y)
{
    return hs_ref_texel(plane, hs_ref_clampi(x, 0, px->p->size.x - 1),
                        hs_ref_clampi(y, 0, px->p->size.y - 1));
}

static void add_sample(struct pixel *px, int x, int y, float weight)
{
    const float *v = sample_of(px, &px->aov->plane, x, y);
    const float *raw = sample_of(px, &px->in->colour, x, y);
    const float factor = hs_ref_has(px->p, HS_FRAME_LDR) ? 1 : px->state->exposure.x;
    float c[4];
    for (int k = 0; k < 3; k++)
        c[k] = fmaxf(finite_or(raw[k], 0), 0) * factor;
    c[3] = finite_or(raw[3], 1);
    const bool data = px->aov->kind == HS_AOV_DATA;
    const float w = data ? weight : weight * calm(px->p, c);
    for (int k = 0; k < 4; k++) {
        px->value[k] += w * finite_or(v[k], 0) * (data || k == 3 ? 1 : factor);
        px->total[k] += data ? w : w * c[k];
    }
}

static void add_window(struct pixel *px, float weights[4][4], float part)
{
    float positive = 0, value[4] = {0};
    for (int n = 0; n < 16; n++)
        positive += fmaxf(weights[n / 4][n % 4], 0);
    for (int k = 0; k < 4; k++) {
        px->low[k] = INFINITY;
        px->high[k] = -INFINITY;
    }
    for (int n = 0; n < 16; n++) {
        const int x = px->w->x + n % 4 - 1, y = px->w->y + n / 4 - 1;
        const float w = weights[n / 4][n % 4];
        if (px->aov->kind == HS_AOV_LIGHT) {
            add_sample(px, x, y, part * fmaxf(w, 0) / positive);
            continue;
        }
        for (int k = 0; k < 4; k++) {
            const float v = finite_or(sample_of(px, &px->aov->plane, x, y)[k], 0);
            value[k] += w * v;
            px->low[k] = fminf(px->low[k], v);
            px->high[k] = fmaxf(px->high[k], v);
        }
    }
    for (int k = 0; k < 4 && px->aov->kind == HS_AOV_DATA; k++) {
        px->value[k] += part * hs_ref_clamp(value[k], px->low[k], px->high[k]);
        px->total[k] += part;
    }
}

/** Gaussian mean of `count` x `count` samples from (x, y) on. */
static void add_gauss(struct pixel *px, int x, int y, int count, float kernel, float part)
{
    float total = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int n = 0; n < count * count; n++) {
            const int sx = x + n % count, sy = y + n / count;
            const float g = hs_ref_gauss((float)(sx - px->w->x) - px->w->fx,
                                         (float)(sy - px->w->y) - px->w->fy, kernel);
            if (pass == 0)
                total += g;
            else
                add_sample(px, sx, sy, part * g / total);
        }
    }
}

static void add_history(struct pixel *px, const struct hs_ref_plane *past, float hx, float hy,
                        float part)
{
    const float ratio = hs_ref_has(px->p, HS_FRAME_LDR) ? 1 : px->state->exposure.y;
    const bool data = px->aov->kind == HS_AOV_DATA;
    const float bx = floorf(hx - 0.5f), by = floorf(hy - 0.5f);
    float wx[4], wy[4], positive = 0, value[4] = {0}, total[4] = {0};
    hs_ref_cubic(hx - 0.5f - bx, HS_REF_F(HS_TAAU_CUBIC_HISTORY), wx);
    hs_ref_cubic(hy - 0.5f - by, HS_REF_F(HS_TAAU_CUBIC_HISTORY), wy);
    for (int n = 0; n < 16; n++) {
        const int x = (int)bx + n % 4 - 1, y = (int)by + n / 4 - 1;
        const float *v = hs_ref_texel(&px->aov->past, x, y), *t = hs_ref_texel(past, x, y);
        const float c[4] = {t[0] * ratio, t[1] * ratio, t[2] * ratio, t[3]};
        const float w = wx[n % 4] * wy[n / 4];
        const float share = fmaxf(w, 0) * calm(px->p, c);
        positive += fmaxf(w, 0);
        for (int k = 0; k < 4; k++) {
            value[k] += data ? w * v[k] : share * c[k] * v[k];
            total[k] += share * c[k];
        }
    }
    for (int k = 0; k < 4; k++) {
        px->value[k] +=
            part * (data ? hs_ref_clamp(value[k], px->low[k], px->high[k]) : value[k] / positive);
        px->total[k] += part * (data ? 1 : total[k] / positive);
    }
}

void hs_ref_aov(const struct hs_frame_params *p, const struct hs_state *state,
                const struct hs_ref_inputs *in, const struct hs_ref_prepared *prep,
                const struct hs_ref_history *reproj, const struct hs_ref_levels *levels,
                const struct hs_ref_plane *head, const struct hs_ref_plane *past,
                const struct hs_ref_aov *aov, struct hs_ref_plane *next, struct hs_ref_plane *image)
{
    const float factor = hs_ref_has(p, HS_FRAME_LDR) ? 1 : state->exposure.x;
    const float top = HS_REF_F(HS_TAAU_MAX);
    for (int y = 0; y < p->size.w; y++) {
        for (int x = 0; x < p->size.z; x++) {
            struct hs_ref_resolved r;
            float m[2];
            hs_ref_resolve_pixel(p, &prep->colour, reproj, levels, head, x, y, &r);
            const struct hs_ref_window *w = &r.window;
            struct pixel px = {.p = p, .state = state, .in = in, .aov = aov, .w = w};
            const float old = 1 - r.fresh;
            add_window(&px, r.weights, r.fresh * (1 - r.trust));
            add_gauss(&px, w->x, w->y, 2, w->kernel, r.fresh * r.trust);
            add_gauss(&px, w->x + (w->fx >= 0.5f) - 1, w->y + (w->fy >= 0.5f) - 1, 3,
                      HS_REF_F(HS_TAAU_BOX_KERNEL), old * (1 - r.keep));
            if (old * r.keep > 0 && aov->past.texels) {
                hs_ref_pixel_motion(p, &in->motion, prep, x, y, m);
                add_history(&px, past, (float)x + 0.5f + m[0], (float)y + 0.5f + m[1],
                            old * r.keep);
            }
            // What a network's residual adds to a channel that nothing has goes by all channels.
            const float all = px.total[0] + px.total[1] + px.total[2];
            const float gray = all > 1e-20f ? (px.value[0] + px.value[1] + px.value[2]) / all : 0;
            for (int k = 0; k < 4; k++) {
                const float v = px.total[k] > 1e-20f ? px.value[k] / px.total[k] : k < 3 ? gray : 0;
                const float c = k == 3 ? r.rgba[k] : fminf(r.rgba[k] / factor, top);
                hs_ref_pixel(next, x, y)[k] = v;
                hs_ref_pixel(image, x, y)[k] =
                    hs_ref_clamp(aov->kind == HS_AOV_DATA ? v : v * c, -top, top);
            }
        }
    }
}
