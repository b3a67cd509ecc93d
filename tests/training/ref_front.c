// SPDX-License-Identifier: MIT
// The C reference of noisy frames over a whole clip, for ctypes: arrays in; levels, guides,
// features and what a given head makes of every frame out. History is that of `atrous`.
#include <math.h>
#include <string.h>

#include "engine/ref/ref.h"
#include "engine/ref/ref_math.h"
#include "guides.h"

struct front_clip {
    int width, height, out_width, out_height, frames;
    const float *colour;                                        // [T, h, w, 4]
    const float *depth;                                         // NULL: none
    const float *motion, *jitter, *exposure;                    // [T, h, w, 2], [T, 2], [T]
    const double *view, *proj;                                  // NULL: no camera
    const int *reset;                                           // [T]
    const float *diffuse, *specular, *normal, *roughness, *hit; // 4 or 1 channels; NULL: none
    const float *head;                                          // [T, H / 2, W / 2, 128]
    float *levels;                                              // [3, T, h, w, 4]: D, M, A
    float *given;                                               // [T, h, w, 11]
    float *moved;                                               // [T, H, W, 5]: RGBA, weight
    float *features;                                            // [T, H / 2, W / 2, 80]
    float *resolved;                                            // [T, H, W, 5]: RGBA, weight
};

static struct hs_ref_plane plane(const float *values, int t, int width, int height, int channels)
{
    const size_t n = (size_t)width * (size_t)height * (size_t)channels;
    return (struct hs_ref_plane){width, height, channels,
                                 values ? (float *)values + n * (size_t)t : NULL};
}

static struct hs_ref_plane input(const struct front_clip *c, const float *values, int t,
                                 int channels)
{
    return plane(values, t, c->width, c->height, channels);
}

static void modulate(const struct hs_ref_plane *signal, const struct hs_ref_plane *albedo,
                     float *out)
{
    for (int i = 0; i < 4 * signal->width * signal->height; i++)
        out[i] = fminf(signal->texels[i] * albedo->texels[i], HS_REF_F(HS_TAAU_MAX));
}

static void give(const struct hs_ref_levels *l, float *out)
{
    for (int i = 0; i < l->albedo.width * l->albedo.height; i++, out += 11) {
        out[0] = l->accumulated.texels[4 * i + 3];
        out[1] = hs_ref_luminance(l->accumulated.texels + 4 * i);
        out[2] = l->moments.texels[4 * i + 2] / HS_REF_F(HS_ATROUS_LENGTH);
        for (int k = 0; k < 3; k++)
            out[3 + k] = sqrtf(fminf(l->albedo.texels[4 * i + k], 1));
        memcpy(out + 6, l->surface.texels + 4 * i, 4 * sizeof(*out));
        out[10] = l->traits.texels[2 * i] >= 0 ? 1 : 0;
    }
}

static void with_weight(const struct hs_ref_history *h, float *out)
{
    for (int i = 0; i < h->colour.width * h->colour.height; i++, out += 5) {
        memcpy(out, h->colour.texels + 4 * i, 4 * sizeof(*out));
        out[4] = h->aux.texels[2 * i];
    }
}

static void look(const struct front_clip *c, int t, const struct hs_ref_stream *stream,
                 const struct hs_ref_inputs *in, struct hs_ref_history *next,
                 struct hs_ref_plane *image)
{
    const size_t n = 4 * (size_t)c->width * (size_t)c->height, count = (size_t)c->frames;
    const size_t m = 5 * (size_t)c->out_width * (size_t)c->out_height, at = (size_t)t;
    const struct hs_ref_prepared *prep = hs_ref_stream_prepared(stream);
    const struct hs_frame_params *p = hs_ref_stream_params(stream);
    const struct hs_ref_history *moved = hs_ref_stream_reprojected(stream);
    const struct hs_ref_levels levels = hs_ref_stream_levels(stream);
    memcpy(c->levels + n * at, prep->colour.texels, n * sizeof(float));
    modulate(&levels.middle, &levels.albedo, c->levels + n * (count + at));
    modulate(&levels.accumulated, &levels.albedo, c->levels + n * (2 * count + at));
    give(&levels, c->given + 11 * (n / 4) * at);
    with_weight(moved, c->moved + m * at);
    struct hs_ref_plane features = plane(c->features, t, c->out_width / 2, c->out_height / 2, 80);
    hs_ref_features(p, &in->motion, prep, moved, &levels, &features);
    const struct hs_ref_plane head = plane(c->head, t, c->out_width / 2, c->out_height / 2, 128);
    hs_ref_resolve_steered(p, hs_ref_stream_state(stream), prep, moved, &levels, &head, next,
                           image);
    with_weight(next, c->resolved + m * at);
}

static int run(const struct front_clip *c, struct hs_ref_stream *stream,
               struct hs_ref_history *next, struct hs_ref_plane *image)
{
    int err = hs_ref_stream_guided(stream);
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
            .colour = input(c, c->colour, t, 4),
            .depth = input(c, c->depth, t, 1),
            .motion = input(c, c->motion, t, 2),
            .diffuse = input(c, c->diffuse, t, 4),
            .specular = input(c, c->specular, t, 4),
            .normal = input(c, c->normal, t, 4),
            .roughness = input(c, c->roughness, t, 1),
            .hit = input(c, c->hit, t, 1),
        };
        err = hs_ref_stream_frame(stream, &frame, &in, image);
        if (!err)
            look(c, t, stream, &in, next, image);
    }
    return err;
}

int front_run(const struct front_clip *c)
{
    const int w = c->out_width, h = c->out_height;
    struct hs_ref_history next = {hs_ref_plane_make(w, h, 4), hs_ref_plane_make(w, h, 2)};
    struct hs_ref_plane image = hs_ref_plane_make(w, h, 4);
    struct hs_ref_stream *stream = hs_ref_stream_create(w, h, false);
    const int err = stream ? run(c, stream, &next, &image) : HS_ERR_NOMEM;
    hs_ref_stream_destroy(&stream);
    hs_ref_plane_finish(&next.colour);
    hs_ref_plane_finish(&next.aux);
    hs_ref_plane_finish(&image);
    return err;
}
