// SPDX-License-Identifier: MIT
// Runs the reference passes over a sequence, with a history of its own.
#include <stdlib.h>

#include "ref_denoiser.h"
#include "ref_math.h"
#include "ref_params.h"

struct hs_ref_stream {
    int width, height;
    bool ldr;
    int parity;
    int count; ///< Of all frames.
    struct hs_ref_past past;
    struct hs_frame_params params;
    struct hs_state state;
    struct hs_ref_prepared prep;
    struct hs_ref_plane prev_depth;
    struct hs_ref_history reproj, history[2];
    struct hs_ref_plane resolved;
    const struct hs_weights *weights;
    bool keep_float;
    struct hs_ref_plane features;
    struct hs_ref_network network;
    struct hs_ref_plane spread;       ///< The head of cells at output pixels.
    struct hs_ref_denoiser *denoiser; ///< NULL: `taau`.
};

struct hs_ref_plane hs_ref_plane_make(int width, int height, int channels)
{
    struct hs_ref_plane p = {width, height, channels, NULL};
    p.texels = calloc((size_t)width * (size_t)height * (size_t)channels, sizeof(float));
    return p;
}

void hs_ref_plane_finish(struct hs_ref_plane *plane)
{
    free(plane->texels);
    *plane = (struct hs_ref_plane){0};
}

static void prepared_finish(struct hs_ref_prepared *p)
{
    hs_ref_plane_finish(&p->colour);
    hs_ref_plane_finish(&p->motion);
    hs_ref_plane_finish(&p->aux);
    hs_ref_plane_finish(&p->depth);
}

static int prepared_make(int w, int h, struct hs_ref_prepared *out)
{
    struct hs_ref_prepared p = {
        .colour = hs_ref_plane_make(w, h, 4),
        .motion = hs_ref_plane_make(w, h, 2),
        .aux = hs_ref_plane_make(w, h, 2),
        .depth = hs_ref_plane_make(w, h, 1),
    };
    if (!p.colour.texels || !p.motion.texels || !p.aux.texels || !p.depth.texels) {
        prepared_finish(&p);
        return HS_ERR_NOMEM;
    }
    *out = p;
    return 0;
}

static void history_finish(struct hs_ref_history *h)
{
    hs_ref_plane_finish(&h->colour);
    hs_ref_plane_finish(&h->aux);
}

static bool history_make(int w, int h, struct hs_ref_history *out)
{
    out->colour = hs_ref_plane_make(w, h, 4);
    out->aux = hs_ref_plane_make(w, h, 2);
    return out->colour.texels && out->aux.texels;
}

struct hs_ref_stream *hs_ref_stream_create(int out_width, int out_height, bool ldr)
{
    struct hs_ref_stream *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->width = out_width;
    s->height = out_height;
    s->ldr = ldr;
    s->resolved = hs_ref_plane_make(out_width, out_height, 4);
    if (!s->resolved.texels || !history_make(out_width, out_height, &s->reproj) ||
        !history_make(out_width, out_height, &s->history[0]) ||
        !history_make(out_width, out_height, &s->history[1]))
        hs_ref_stream_destroy(&s);
    return s;
}

void hs_ref_stream_destroy(struct hs_ref_stream **stream)
{
    struct hs_ref_stream *s = *stream;
    if (!s)
        return;
    prepared_finish(&s->prep);
    hs_ref_plane_finish(&s->prev_depth);
    hs_ref_plane_finish(&s->resolved);
    hs_ref_plane_finish(&s->features);
    hs_ref_plane_finish(&s->spread);
    hs_ref_network_finish(&s->network);
    hs_ref_denoiser_destroy(&s->denoiser);
    history_finish(&s->reproj);
    history_finish(&s->history[0]);
    history_finish(&s->history[1]);
    free(s);
    *stream = NULL;
}

static bool fits(const struct hs_ref_plane *p, int width, int height, int channels)
{
    return p->texels && p->width == width && p->height == height && p->channels == channels;
}

static bool fits_or_absent(const struct hs_ref_plane *p, int width, int height, int channels)
{
    return !p->texels || fits(p, width, height, channels);
}

static int check(const struct hs_ref_stream *s, const struct hs_frame *f,
                 const struct hs_ref_inputs *in, const struct hs_ref_plane *image)
{
    const int w = (int)f->render_width, h = (int)f->render_height;
    const bool display = f->motion_params.display_resolution;
    if (s->weights && s->weights->architecture == HS_ARCHITECTURE_RAY && !s->denoiser)
        return HS_ERR_INVALID;
    if (!fits_or_absent(&in->diffuse, w, h, 4) || !fits_or_absent(&in->specular, w, h, 4) ||
        !fits_or_absent(&in->normal, w, h, 4) || !fits_or_absent(&in->roughness, w, h, 1) ||
        !fits_or_absent(&in->hit, w, h, 1))
        return HS_ERR_INVALID;
    if (w < 1 || h < 1 || !fits(&in->colour, w, h, 4) || !fits_or_absent(&in->depth, w, h, 1) ||
        !fits_or_absent(&in->reactive, w, h, 1) ||
        !fits_or_absent(&in->motion, display ? s->width : w, display ? s->height : h, 2) ||
        !fits(image, s->width, s->height, 4))
        return HS_ERR_INVALID;
    return 0;
}

static void advance(struct hs_ref_stream *s, const struct hs_frame *f,
                    const struct hs_ref_inputs *in)
{
    s->past.valid = true;
    s->past.frames++;
    s->past.width = (int)f->render_width;
    s->past.height = (int)f->render_height;
    s->past.jitter[0] = f->jitter[0];
    s->past.jitter[1] = f->jitter[1];
    s->past.has_depth = in->depth.texels != NULL;
    s->past.has_camera = f->camera != NULL;
    if (f->camera)
        s->past.camera = *f->camera;
    s->parity ^= 1;
}

void hs_ref_stream_weights(struct hs_ref_stream *s, const struct hs_weights *weights)
{
    s->weights = weights;
}

int hs_ref_stream_guided(struct hs_ref_stream *s)
{
    s->denoiser = hs_ref_denoiser_create();
    return s->denoiser ? 0 : HS_ERR_NOMEM;
}

void hs_ref_stream_keep_float(struct hs_ref_stream *s)
{
    s->keep_float = true;
}

static bool has_cells(const struct hs_ref_stream *s)
{
    return s->weights->architecture == HS_ARCHITECTURE_INT8;
}

/** As many channels and tokens as the network wants. HS_ERR_NOMEM. */
static int make_features(struct hs_ref_stream *s)
{
    const int channels = (int)s->weights->features;
    const int width = has_cells(s) ? s->params.size.x : (s->width + 1) / 2;
    const int height = has_cells(s) ? s->params.size.y : (s->height + 1) / 2;
    if (fits(&s->features, width, height, channels))
        return 0;
    hs_ref_plane_finish(&s->features);
    s->features = hs_ref_plane_make(width, height, channels);
    return s->features.texels ? 0 : HS_ERR_NOMEM;
}

/** Resolves into `image`, steered by the network if there is one. */
static int run_network(struct hs_ref_stream *s, const struct hs_ref_inputs *in,
                       struct hs_ref_plane *image)
{
    const struct hs_frame_params *p = &s->params;
    struct hs_ref_history *next = &s->history[s->parity ^ 1];
    struct hs_ref_network network;
    if (!s->weights) {
        hs_ref_resolve(p, &s->state, &s->prep, &s->reproj, next, image);
        return 0;
    }
    int err = make_features(s);
    if (err)
        return err;
    struct hs_ref_levels seen, *levels = NULL;
    if (s->weights->architecture == HS_ARCHITECTURE_RAY) {
        seen = hs_ref_denoiser_levels(s->denoiser);
        levels = &seen;
    }
    if (has_cells(s))
        err = hs_ref_cell_features(p, &in->motion, &s->prep, &s->reproj, &s->features);
    else
        hs_ref_features(p, &in->motion, &s->prep, &s->reproj, levels, &s->features);
    if (!err)
        err = hs_ref_network_run(s->weights, &s->features, &network);
    if (err)
        return err;
    hs_ref_network_finish(&s->network);
    s->network = network;
    const struct hs_ref_plane *head = &network.layers[network.layer_count - 1].result;
    if (has_cells(s)) {
        err = hs_ref_spread_head(p, head, &s->spread);
        head = &s->spread;
    }
    if (!err)
        hs_ref_resolve_steered(p, &s->state, &s->prep, &s->reproj, levels, head, next, image);
    return err;
}

int hs_ref_stream_frame(struct hs_ref_stream *s, const struct hs_frame *f,
                        const struct hs_ref_inputs *in, struct hs_ref_plane *image)
{
    struct hs_ref_prepared prep;
    int err = check(s, f, in, image);
    if (!err)
        err = prepared_make((int)f->render_width, (int)f->render_height, &prep);
    if (err)
        return err;
    // This frame's depth becomes the previous one's when the next frame comes.
    hs_ref_plane_finish(&s->prev_depth);
    s->prev_depth = s->prep.depth;
    s->prep.depth = (struct hs_ref_plane){0};
    prepared_finish(&s->prep);
    s->prep = prep;

    if (f->reset) {
        s->past = (struct hs_ref_past){0};
        s->state = (struct hs_state){0};
    }
    struct hs_frame_params *p = &s->params;
    hs_ref_params_fill(f, in, &s->past, s->width, s->height, s->ldr, p);
    p->look[3].y = (float)(s->count++ & 0xffff);
    const bool finish = f->sharpness > 0 || f->look.curve != HS_LOOK_NONE;
    if (finish)
        p->prev_size.z |= HS_FRAME_FINISH;
    if (s->keep_float)
        p->prev_size.z |= HS_REF_FRAME_FLOAT;
    if (hs_ref_has(p, HS_FRAME_MEASURE))
        hs_ref_measure(p, &in->colour, &s->state);
    hs_ref_expose(p, in->exposure_texel, &s->state);
    bool world_normal = false;
    if (s->denoiser)
        world_normal = hs_ref_params_guides(f, in, &s->past, p);
    hs_ref_prepare(p, &s->state, in, &s->prev_depth, &s->prep);
    if (s->denoiser)
        err = hs_ref_denoiser_run(s->denoiser, p, &s->state, in, &s->prev_depth, &s->prep);
    if (err)
        return err;
    hs_ref_reproject(p, &s->state, &in->motion, &s->prep, &s->history[s->parity], &s->reproj);
    err = run_network(s, in, finish ? &s->resolved : image);
    if (err)
        return err;
    if (finish)
        hs_ref_finish(p, &s->state, &s->resolved, image);
    advance(s, f, in);
    s->past.has_normal = world_normal;
    return 0;
}

const struct hs_frame_params *hs_ref_stream_params(const struct hs_ref_stream *s)
{
    return &s->params;
}

const struct hs_ref_prepared *hs_ref_stream_prepared(const struct hs_ref_stream *s)
{
    return &s->prep;
}

const struct hs_ref_history *hs_ref_stream_reprojected(const struct hs_ref_stream *s)
{
    return &s->reproj;
}

const struct hs_ref_history *hs_ref_stream_history(const struct hs_ref_stream *s)
{
    return &s->history[s->parity];
}

const struct hs_ref_network *hs_ref_stream_network(const struct hs_ref_stream *s)
{
    return &s->network;
}

struct hs_ref_levels hs_ref_stream_levels(const struct hs_ref_stream *s)
{
    return hs_ref_denoiser_levels(s->denoiser);
}

const struct hs_state *hs_ref_stream_state(const struct hs_ref_stream *s)
{
    return &s->state;
}
