// SPDX-License-Identifier: MIT
// The C reference over a whole clip, for ctypes: arrays in, every frame's planes out.
#include <string.h>

#include "engine/ref/ref.h"

struct clip {
    int width, height, out_width, out_height, frames;
    const float *colour; // [T, h, w, 4]
    const float *depth, *motion, *jitter, *exposure;
    const double *view, *proj; // NULL: no camera
    const int *reset;
    float *image;                  // [T, H, W, 4]
    float *motion_out, *valid_out; // [T, h, w, 2], [T, h, w]
    float *moved, *moved_weight;   // [T, H, W, 4], [T, H, W]
    float *weight;
    float *exposure_out; // [T]; exposure NULL: measured
};

static void channel(const struct hs_ref_plane *from, int index, float *to)
{
    for (int i = 0; i < from->width * from->height; i++)
        to[i] = from->texels[i * from->channels + index];
}

int clip_run(const struct clip *c)
{
    const size_t n = (size_t)c->width * (size_t)c->height;
    const size_t m = (size_t)c->out_width * (size_t)c->out_height;
    struct hs_ref_stream *stream = hs_ref_stream_create(c->out_width, c->out_height, false);
    int err = stream ? 0 : HS_ERR_NOMEM;
    for (int t = 0; t < c->frames && !err; t++) {
        const size_t at = (size_t)t;
        struct hs_camera camera;
        struct hs_frame frame = {
            .render_width = (uint32_t)c->width,
            .render_height = (uint32_t)c->height,
            .jitter = {c->jitter[2 * t], c->jitter[2 * t + 1]},
            .exposure = {.mode = c->exposure ? HS_EXPOSURE_GIVEN : HS_EXPOSURE_AUTO},
            .reset = c->reset[t] != 0,
        };
        if (c->exposure)
            frame.exposure.value = c->exposure[t];
        if (c->view) {
            memcpy(camera.world_to_view, c->view + 16 * t, sizeof(camera.world_to_view));
            memcpy(camera.view_to_clip, c->proj + 16 * t, sizeof(camera.view_to_clip));
            frame.camera = &camera;
        }
        const struct hs_ref_inputs in = {
            .colour = {c->width, c->height, 4, (float *)c->colour + 4 * n * at},
            .depth = {c->width, c->height, 1, (float *)c->depth + n * at},
            .motion = {c->width, c->height, 2, (float *)c->motion + 2 * n * at},
        };
        struct hs_ref_plane image = {c->out_width, c->out_height, 4, c->image + 4 * m * at};
        err = hs_ref_stream_frame(stream, &frame, &in, &image);
        if (err)
            break;
        const struct hs_ref_prepared *prep = hs_ref_stream_prepared(stream);
        const struct hs_ref_history *moved = hs_ref_stream_reprojected(stream);
        memcpy(c->motion_out + 2 * n * at, prep->motion.texels, 2 * n * sizeof(float));
        channel(&prep->aux, 0, c->valid_out + n * at);
        memcpy(c->moved + 4 * m * at, moved->colour.texels, 4 * m * sizeof(float));
        channel(&moved->aux, 0, c->moved_weight + m * at);
        channel(&hs_ref_stream_history(stream)->aux, 0, c->weight + m * at);
        c->exposure_out[t] = hs_ref_stream_state(stream)->exposure.x;
    }
    hs_ref_stream_destroy(&stream);
    return err;
}
