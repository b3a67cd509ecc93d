// SPDX-License-Identifier: MIT
// Runs the reference passes of `atrous` over a sequence.
#include "ref_denoiser.h"

#include <stdlib.h>
#include <string.h>

#include "guides.h"
#include "ref_math.h"

struct hs_ref_denoiser {
    struct hs_ref_signal past; ///< Of the previous render size.
    struct hs_ref_plane middle, albedo, traits;
};

/** A frame's planes. */
struct work {
    struct hs_ref_guided guided;
    struct hs_ref_plane signal[2], middle, history, moments;
};

struct hs_ref_denoiser *hs_ref_denoiser_create(void)
{
    return calloc(1, sizeof(struct hs_ref_denoiser));
}

static void signal_finish(struct hs_ref_signal *s)
{
    hs_ref_plane_finish(&s->surface);
    hs_ref_plane_finish(&s->signal);
    hs_ref_plane_finish(&s->moments);
}

static void kept_finish(struct hs_ref_denoiser *d)
{
    hs_ref_plane_finish(&d->middle);
    hs_ref_plane_finish(&d->albedo);
    hs_ref_plane_finish(&d->traits);
}

void hs_ref_denoiser_destroy(struct hs_ref_denoiser **d)
{
    if (!*d)
        return;
    signal_finish(&(*d)->past);
    kept_finish(*d);
    free(*d);
    *d = NULL;
}

static int work_make(int w, int h, struct work *out)
{
    *out = (struct work){
        .guided = {hs_ref_plane_make(w, h, 4), hs_ref_plane_make(w, h, 4),
                   hs_ref_plane_make(w, h, 2), hs_ref_plane_make(w, h, 4)},
        .signal = {hs_ref_plane_make(w, h, 4), hs_ref_plane_make(w, h, 4)},
        .middle = hs_ref_plane_make(w, h, 4),
        .history = hs_ref_plane_make(w, h, 4),
        .moments = hs_ref_plane_make(w, h, 4),
    };
    const struct hs_ref_guided *g = &out->guided;
    return g->signal.texels && g->albedo.texels && g->traits.texels && g->surface.texels &&
                   out->signal[0].texels && out->signal[1].texels && out->middle.texels &&
                   out->history.texels && out->moments.texels
               ? 0
               : HS_ERR_NOMEM;
}

static void work_finish(struct work *w)
{
    hs_ref_plane_finish(&w->guided.signal);
    hs_ref_plane_finish(&w->guided.albedo);
    hs_ref_plane_finish(&w->guided.traits);
    hs_ref_plane_finish(&w->guided.surface);
    hs_ref_plane_finish(&w->signal[0]);
    hs_ref_plane_finish(&w->signal[1]);
    hs_ref_plane_finish(&w->middle);
    hs_ref_plane_finish(&w->history);
    hs_ref_plane_finish(&w->moments);
}

int hs_ref_denoiser_run(struct hs_ref_denoiser *d, const struct hs_frame_params *p,
                        const struct hs_state *state, const struct hs_ref_inputs *in,
                        const struct hs_ref_plane *prev_depth, struct hs_ref_prepared *prep)
{
    struct work w;
    const int err = work_make(p->size.x, p->size.y, &w);
    if (err) {
        work_finish(&w);
        return err;
    }
    hs_ref_demodulate(p, in, prep, &w.guided);
    hs_ref_accumulate(p, state, prep, prev_depth, &w.guided, &d->past, &w.history, &w.moments);
    for (int i = 0; i < HS_ATROUS_PASSES; i++) {
        const struct hs_ref_plane *from = i ? &w.signal[i & 1] : &w.history;
        hs_ref_filter(p, &prep->depth, &w.guided, i, from, &w.signal[~i & 1], &prep->colour);
        if (i == HS_ATROUS_MIDDLE - 1)
            memcpy(w.middle.texels, w.signal[~i & 1].texels,
                   (size_t)(4 * p->size.x * p->size.y) * sizeof(float));
    }
    // The prepared colour is as wide as before.
    for (int i = 0; i < 4 * p->size.x * p->size.y && !in->wide; i++)
        prep->colour.texels[i] = hs_ref_half(prep->colour.texels[i]);
    signal_finish(&d->past);
    kept_finish(d);
    d->past = (struct hs_ref_signal){w.guided.surface, w.history, w.moments};
    d->middle = w.middle;
    d->albedo = w.guided.albedo;
    d->traits = w.guided.traits;
    w.guided.surface = w.guided.albedo = w.guided.traits = (struct hs_ref_plane){0};
    w.history = w.moments = w.middle = (struct hs_ref_plane){0};
    work_finish(&w);
    return 0;
}

struct hs_ref_levels hs_ref_denoiser_levels(const struct hs_ref_denoiser *d)
{
    return (struct hs_ref_levels){
        .middle = d->middle,
        .accumulated = d->past.signal,
        .moments = d->past.moments,
        .albedo = d->albedo,
        .traits = d->traits,
        .surface = d->past.surface,
    };
}
