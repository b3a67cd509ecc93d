// SPDX-License-Identifier: MIT
// Reference of shaders/40_resolve: this frame's samples and the reprojected history into one
// picture, which is the next history. A network's head may steer it; zeros leave it as it is.
#include "network.h"
#include "ref_levels.h"

/** Of taau-ray; others have fewer. */
#define HEAD_VALUES (HS_HEAD_ACCUMULATED + 1)

/** Values of the head at a pixel, by channel. */
struct steering {
    float h[HEAD_VALUES];
};

static float soft(float x, float limit)
{
    return limit * tanhf(x / limit);
}

static float grow(const struct steering *s, int channel)
{
    return expf(soft(s->h[channel], HS_REF_F(HS_HEAD_LOG_SOFT)));
}

static void load_steering(const struct hs_ref_plane *head, int x, int y, struct steering *s)
{
    const float *token = hs_ref_texel(head, x / 2, y / 2);
    for (int c = 0; c < HEAD_VALUES && 4 * c < head->channels; c++)
        s->h[c] = token[4 * c + x % 2 + 2 * (y % 2)];
}

/** Weights of the samples, drawn from the cubic ones towards the head's own kernel. */
static void steer_weights(const struct hs_ref_window *w, const struct steering *s,
                          float weights[4][4])
{
    const float limit = HS_REF_F(HS_HEAD_AXIS_SOFT), axis = HS_REF_F(HS_HEAD_AXIS);
    const float a = axis * expf(soft(s->h[HS_HEAD_AXIS_X], limit));
    const float b = soft(s->h[HS_HEAD_SHEAR], HS_REF_F(HS_HEAD_SHEAR_SOFT));
    const float c = axis * expf(soft(s->h[HS_HEAD_AXIS_Y], limit));
    const float mix = tanhf(s->h[HS_HEAD_MIX]);
    float power[16], most = -INFINITY, total = 0;
    for (int n = 0; n < 16; n++) {
        const float dx = (float)(n % 4 - 1) - w->fx, dy = (float)(n / 4 - 1) - w->fy;
        const float u = a * dx + b * dy, v = c * dy;
        power[n] =
            -0.5f * (u * u + v * v) + soft(s->h[HS_HEAD_LOGITS + n], HS_REF_F(HS_HEAD_LOGIT_SOFT));
        most = fmaxf(most, power[n]);
    }
    for (int n = 0; n < 16; n++) {
        power[n] = expf(power[n] - most);
        total += power[n];
    }
    for (int n = 0; n < 16; n++) {
        float *weight = &weights[n / 4][n % 4];
        *weight += mix * (power[n] / total - *weight);
    }
}

/**
 * Draws history towards the local mean until it lies in the box of the local deviations. Returns
 * the factor that it took, 1 where history was inside.
 */
static float rectify(const struct hs_ref_window *w, float size, struct hs_ref_work *history)
{
    struct hs_ref_box box;
    float h[4], out_by = 1;
    hs_ref_window_box(w, &box);
    hs_ref_opponent(history->c, h);
    for (int k = 0; k < 4; k++)
        out_by = fmaxf(out_by, fabsf(h[k] - box.centre[k]) /
                                   (box.deviation[k] * size + HS_REF_F(HS_TAAU_BOX_MIN)));
    const float keep = 1 / out_by;
    for (int k = 0; k < 5; k++)
        history->c[k] = box.mean.c[k] + (history->c[k] - box.mean.c[k]) * keep;
    return keep;
}

/**
 * History plus the kernel-weighted mean of what the four samples around the pixel say about it:
 * detail of history survives where this frame has no sample. `taps`: what it is kept within, with
 * history itself. Returns the sum of the kernel.
 */
static float correct(const struct hs_frame_params *p, const struct hs_ref_window *w,
                     const struct hs_ref_range *taps, const struct hs_ref_plane *reprojected,
                     struct hs_ref_work *history)
{
    struct hs_ref_work sum;
    const float total = hs_ref_window_errors(p, w, reprojected, &sum);
    struct hs_ref_range range = *taps;
    hs_ref_range_add(&range, history);
    const float share = HS_REF_F(HS_TAAU_CORRECT_GAIN) / fmaxf(total, 1e-9f);
    for (int k = 0; k < 5; k++)
        history->c[k] += sum.c[k] * share;
    hs_ref_range_clamp(&range, history);
    return total;
}

/** Adds the head's residual, which must not light up what is transparent. */
static void add_residual(const struct hs_frame_params *p, const struct steering *s,
                         struct hs_ref_work *now)
{
    const bool ldr = hs_ref_has(p, HS_FRAME_LDR);
    const float scale = HS_REF_F(HS_HEAD_RESIDUAL_SCALE) * fmaxf(now->c[ldr ? 3 : 4], 0);
    for (int k = 0; k < 3; k++)
        now->c[k] += scale * tanhf(s->h[HS_HEAD_RESIDUAL + k]);
}

void hs_ref_resolve_pixel(const struct hs_frame_params *p, const struct hs_ref_plane *colour,
                          const struct hs_ref_history *reproj, const struct hs_ref_levels *levels,
                          const struct hs_ref_plane *head, int x, int y,
                          struct hs_ref_resolved *out)
{
    struct hs_ref_window *w = &out->window, mixed;
    struct steering values, *s = head ? &values : NULL;
    if (head)
        load_steering(head, x, y, s);
    hs_ref_window_load(p, colour, x, y, w);
    hs_ref_window_cubic(w, out->weights);
    if (s)
        steer_weights(w, s, out->weights);
    mixed = *w;
    if (levels)
        hs_ref_level_mix(p, levels,
                         (float[]){tanhf(s->h[HS_HEAD_MIDDLE]), tanhf(s->h[HS_HEAD_ACCUMULATED])},
                         &mixed);
    struct hs_ref_work now = hs_ref_window_filter(&mixed, out->weights);
    const float gain = s ? w->gain * grow(s, HS_HEAD_GAIN) : w->gain;
    float weight = hs_ref_texel(&reproj->aux, x, y)[0];
    out->fresh = out->keep = 1;
    out->trust = 0;
    if (weight > 0) {
        struct hs_ref_work old = hs_ref_encode(p, hs_ref_texel(&reproj->colour, x, y));
        struct hs_ref_work corrected = old;
        const float total = correct(p, w, &mixed.range, &reproj->colour, &corrected);
        const float size = hs_ref_box_size(p, weight) * (s ? grow(s, HS_HEAD_BOX) : 1);
        const float keep = rectify(w, size, &old);
        weight *= keep * keep;
        float trust = total / (total + HS_REF_F(HS_TAAU_CORRECT_KERNEL)) * keep * keep * weight /
                      (weight + HS_REF_F(HS_TAAU_CORRECT_WEIGHT));
        if (s) {
            const float odds = grow(s, HS_HEAD_TRUST);
            trust += trust * (1 - trust) * (odds - 1) / (1 - trust + trust * odds);
            weight *= grow(s, HS_HEAD_WEIGHT);
        }
        out->fresh = gain / (weight + gain);
        out->keep = keep;
        out->trust = trust;
        for (int k = 0; k < 5; k++) {
            now.c[k] += (corrected.c[k] - now.c[k]) * trust;
            now.c[k] += (old.c[k] - now.c[k]) * (weight / (weight + gain));
        }
    }
    if (s)
        add_residual(p, s, &now);
    hs_ref_decode(p, &now, out->rgba);
    out->weight = fminf(weight + gain, HS_REF_F(HS_TAAU_WEIGHT_MAX));
}

void hs_ref_resolve_steered(const struct hs_frame_params *p, const struct hs_state *state,
                            const struct hs_ref_prepared *prep, const struct hs_ref_history *reproj,
                            const struct hs_ref_levels *levels, const struct hs_ref_plane *head,
                            struct hs_ref_history *next, struct hs_ref_plane *image)
{
    const float factor = hs_ref_has(p, HS_FRAME_LDR) ? 1 : state->exposure.x;
    for (int y = 0; y < p->size.w; y++) {
        for (int x = 0; x < p->size.z; x++) {
            struct hs_ref_resolved r;
            hs_ref_resolve_pixel(p, &prep->colour, reproj, levels, head, x, y, &r);
            const float *rgba = r.rgba;
            float *c = hs_ref_pixel(&next->colour, x, y), *aux = hs_ref_pixel(&next->aux, x, y);
            float *out = hs_ref_pixel(image, x, y);
            for (int i = 0; i < 4; i++)
                c[i] = hs_ref_store(p, rgba[i]);
            aux[0] = hs_ref_store(p, r.weight);
            aux[1] = 0;
            for (int i = 0; i < 3; i++)
                out[i] = fminf(rgba[i] / factor, HS_REF_F(HS_TAAU_MAX));
            out[3] = rgba[3];
        }
    }
}

void hs_ref_resolve(const struct hs_frame_params *p, const struct hs_state *state,
                    const struct hs_ref_prepared *prep, const struct hs_ref_history *reproj,
                    struct hs_ref_history *next, struct hs_ref_plane *image)
{
    hs_ref_resolve_steered(p, state, prep, reproj, NULL, NULL, next, image);
}
