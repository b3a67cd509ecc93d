// SPDX-License-Identifier: MIT
// The C reference of the passes between prepare and reproject of noisy frames, over a whole clip,
// for ctypes: arrays in, every frame's levels and guides out.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ref/ref.h"
#include "engine/ref/ref_math.h"
#include "engine/ref/ref_params.h"
#include "guides.h"

struct front_clip {
    int width, height, frames;
    const float *colour;                                        // [T, h, w, 4]
    const float *depth;                                         // NULL: none
    const float *motion, *jitter, *exposure;                    // [T, h, w, 2], [T, 2], [T]
    const double *view, *proj;                                  // NULL: no camera
    const int *reset;                                           // [T]
    const float *diffuse, *specular, *normal, *roughness, *hit; // 4 or 1 channels; NULL: none
    float *levels;                                              // [3, T, h, w, 4]: D, M, A
    float *given;                                               // [T, h, w, 11]
};

static struct hs_ref_plane plane(const struct front_clip *c, const float *values, int t,
                                 int channels)
{
    const size_t n = (size_t)c->width * (size_t)c->height * (size_t)channels;
    return (struct hs_ref_plane){c->width, c->height, channels,
                                 values ? (float *)values + n * (size_t)t : NULL};
}

static void modulate(const struct hs_ref_plane *signal, const struct hs_ref_guided *g, float *out)
{
    for (int i = 0; i < signal->width * signal->height; i++) {
        for (int k = 0; k < 3; k++)
            out[4 * i + k] =
                fminf(signal->texels[4 * i + k] * g->albedo.texels[4 * i + k], 65504.0f);
        out[4 * i + 3] = 1;
    }
}

static void give(const struct hs_ref_plane *signal, const struct hs_ref_plane *moments,
                 const struct hs_ref_guided *g, float *out)
{
    for (int i = 0; i < signal->width * signal->height; i++, out += 11) {
        out[0] = signal->texels[4 * i + 3];
        out[1] = hs_ref_luminance(signal->texels + 4 * i);
        out[2] = moments->texels[4 * i + 2] / (float)HS_ATROUS_LENGTH;
        for (int k = 0; k < 3; k++)
            out[3 + k] = sqrtf(fminf(g->albedo.texels[4 * i + k], 1));
        memcpy(out + 6, g->surface.texels + 4 * i, 4 * sizeof(*out));
        out[10] = g->traits.texels[2 * i] >= 0 ? 1 : 0;
    }
}

struct state {
    struct hs_ref_guided guided;
    struct hs_ref_plane signal[2], depth;
    struct hs_ref_signal past, next;
    bool has_normal;
};

static void swap(struct hs_ref_plane *a, struct hs_ref_plane *b)
{
    const struct hs_ref_plane c = *a;
    *a = *b;
    *b = c;
}

static void run_frame(const struct front_clip *c, int t, struct state *s,
                      struct hs_ref_stream *stream, const struct hs_frame *frame,
                      const struct hs_ref_inputs *in)
{
    const size_t n = (size_t)c->width * (size_t)c->height, at = (size_t)t;
    const struct hs_ref_prepared *prep = hs_ref_stream_prepared(stream);
    const struct hs_state *state = hs_ref_stream_state(stream);
    struct hs_frame_params p = *hs_ref_stream_params(stream);
    const struct hs_ref_past past = {.valid = !hs_ref_has(&p, HS_FRAME_RESET),
                                     .has_normal = s->has_normal};
    s->has_normal = hs_ref_params_guides(frame, in, &past, &p);
    hs_ref_demodulate(&p, in, prep, &s->guided);
    hs_ref_accumulate(&p, state, prep, &s->depth, &s->guided, &s->past, &s->next.signal,
                      &s->next.moments);
    modulate(&s->next.signal, &s->guided, c->levels + 4 * n * (2 * (size_t)c->frames + at));
    give(&s->next.signal, &s->next.moments, &s->guided, c->given + 11 * n * at);
    struct hs_ref_plane full = plane(c, c->levels, t, 4);
    memcpy(full.texels, prep->colour.texels, 4 * n * sizeof(float));
    for (int i = 0; i < HS_ATROUS_PASSES; i++) {
        const struct hs_ref_plane *from = i ? &s->signal[i & 1] : &s->next.signal;
        hs_ref_filter(&p, &prep->depth, &s->guided, i, from, &s->signal[~i & 1], &full);
        if (i == 1)
            modulate(&s->signal[0], &s->guided, c->levels + 4 * n * ((size_t)c->frames + at));
    }
    memcpy(s->depth.texels, prep->depth.texels, n * sizeof(float));
    swap(&s->past.signal, &s->next.signal);
    swap(&s->past.moments, &s->next.moments);
    swap(&s->past.surface, &s->guided.surface);
}

static int run(const struct front_clip *c, struct state *s, struct hs_ref_stream *stream,
               struct hs_ref_plane *image)
{
    int err = 0;
    hs_ref_stream_keep_float(stream);
    for (int t = 0; t < c->frames && !err; t++) {
        struct hs_camera camera;
        struct hs_frame frame = {
            .render_width = (uint32_t)c->width,
            .render_height = (uint32_t)c->height,
            .jitter = {c->jitter[2 * t], c->jitter[2 * t + 1]},
            .exposure = {.mode = HS_EXPOSURE_GIVEN, .value = c->exposure[t]},
            .reset = c->reset[t] != 0,
        };
        if (c->view) {
            memcpy(camera.world_to_view, c->view + 16 * t, sizeof(camera.world_to_view));
            memcpy(camera.view_to_clip, c->proj + 16 * t, sizeof(camera.view_to_clip));
            frame.camera = &camera;
        }
        const struct hs_ref_inputs in = {
            .colour = plane(c, c->colour, t, 4),
            .depth = plane(c, c->depth, t, 1),
            .motion = plane(c, c->motion, t, 2),
            .diffuse = plane(c, c->diffuse, t, 4),
            .specular = plane(c, c->specular, t, 4),
            .normal = plane(c, c->normal, t, 4),
            .roughness = plane(c, c->roughness, t, 1),
            .hit = plane(c, c->hit, t, 1),
        };
        err = hs_ref_stream_frame(stream, &frame, &in, image);
        if (!err)
            run_frame(c, t, s, stream, &frame, &in);
    }
    return err;
}

int front_run(const struct front_clip *c)
{
    const int w = c->width, h = c->height;
    struct state s = {
        .guided = {hs_ref_plane_make(w, h, 4), hs_ref_plane_make(w, h, 4),
                   hs_ref_plane_make(w, h, 2), hs_ref_plane_make(w, h, 4)},
        .signal = {hs_ref_plane_make(w, h, 4), hs_ref_plane_make(w, h, 4)},
        .depth = hs_ref_plane_make(w, h, 1),
        .past = {hs_ref_plane_make(w, h, 4), hs_ref_plane_make(w, h, 4),
                 hs_ref_plane_make(w, h, 4)},
        .next = {.signal = hs_ref_plane_make(w, h, 4), .moments = hs_ref_plane_make(w, h, 4)},
    };
    struct hs_ref_plane image = hs_ref_plane_make(w, h, 4);
    struct hs_ref_stream *stream = hs_ref_stream_create(w, h, false);
    const int err = stream ? run(c, &s, stream, &image) : HS_ERR_NOMEM;
    hs_ref_stream_destroy(&stream);
    struct hs_ref_plane *planes[] = {
        &s.guided.signal, &s.guided.albedo, &s.guided.traits, &s.guided.surface, &s.signal[0],
        &s.signal[1],     &s.depth,         &s.past.surface,  &s.past.signal,    &s.past.moments,
        &s.next.signal,   &s.next.moments,  &image,
    };
    for (size_t i = 0; i < sizeof(planes) / sizeof(planes[0]); i++)
        hs_ref_plane_finish(planes[i]);
    return err;
}
