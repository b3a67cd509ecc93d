// SPDX-License-Identifier: MIT
/**
 * Reference of the passes in plain C, one per shader, and a stream that runs them over a sequence.
 *
 * Planes hold floats, row by row. A plane that the GPU stores in half floats holds values that are
 * already rounded to half. The rectangle origins of the parameters play no part here: planes start
 * at their first texel.
 */
#ifndef HS_REF_H
#define HS_REF_H

#include <stdbool.h>

#include <hindsight/error.h>
#include <hindsight/frame.h>

#include "engine/src/weights.h"
#include "interface.h"

struct hs_ref_plane {
    int width, height, channels;
    float *texels; ///< NULL: the plane is absent.
};

/** The caller's planes of one frame. */
struct hs_ref_inputs {
    struct hs_ref_plane colour;   ///< 4 channels, render size.
    struct hs_ref_plane depth;    ///< 1 channel, render size.
    struct hs_ref_plane motion;   ///< 2 channels, render or output size.
    struct hs_ref_plane reactive; ///< 1 channel, render size.
    /** Guides, render size: albedos and normal of 4 channels, the others of 1. */
    struct hs_ref_plane diffuse, specular, normal, roughness, hit;
    float exposure_texel; ///< HS_FRAME_EXPOSURE_IMAGE: the texture's value.
    bool wide;            ///< Colour has more bits than half: it is prepared as float.
};

/** What prepare writes, at render size. */
struct hs_ref_prepared {
    struct hs_ref_plane colour; ///< 4 channels, half or, for wide colour, float.
    struct hs_ref_plane motion; ///< 2 channels, float.
    struct hs_ref_plane aux;    ///< 2 channels, half.
    struct hs_ref_plane depth;  ///< 1 channel, float.
};

/** What demodulate writes, at render size, half. */
struct hs_ref_guided {
    struct hs_ref_plane signal;  ///< 4 channels, the last one 0.
    struct hs_ref_plane albedo;  ///< 4 channels.
    struct hs_ref_plane traits;  ///< 2 channels.
    struct hs_ref_plane surface; ///< 4 channels.
};

/** What the next frame's accumulate reads: 4 channels each, half. */
struct hs_ref_signal {
    struct hs_ref_plane surface, signal, moments;
};

/** What taau-ray sees of the passes, at render size. Borrowed. */
struct hs_ref_levels {
    struct hs_ref_plane middle;      ///< Signal after HS_ATROUS_MIDDLE passes of the filter.
    struct hs_ref_plane accumulated; ///< Signal before them, and its deviation.
    struct hs_ref_plane moments;
    struct hs_ref_plane albedo, traits, surface; ///< As in hs_ref_guided.
};

/** History, and history that was brought to this frame: colour 4 channels, aux 2, both half. */
struct hs_ref_history {
    struct hs_ref_plane colour, aux;
};

/** Partial sums of log2 luma. */
void hs_ref_measure(const struct hs_frame_params *p, const struct hs_ref_plane *colour,
                    struct hs_state *state);

/** The frame's exposure; `texel` is the exposure texture's value. */
void hs_ref_expose(const struct hs_frame_params *p, float texel, struct hs_state *state);

/** `prev_depth` is prepared depth of the previous frame, of the previous render size. */
void hs_ref_prepare(const struct hs_frame_params *p, const struct hs_state *state,
                    const struct hs_ref_inputs *in, const struct hs_ref_plane *prev_depth,
                    struct hs_ref_prepared *out);

void hs_ref_demodulate(const struct hs_frame_params *p, const struct hs_ref_inputs *in,
                       const struct hs_ref_prepared *prep, struct hs_ref_guided *out);

/** `signal` and `moments`, which are the next history: 4 channels each, render size. */
void hs_ref_accumulate(const struct hs_frame_params *p, const struct hs_state *state,
                       const struct hs_ref_prepared *prep, const struct hs_ref_plane *prev_depth,
                       const struct hs_ref_guided *guided, const struct hs_ref_signal *prev,
                       struct hs_ref_plane *signal, struct hs_ref_plane *moments);

/**
 * One pass of the filter from `in` to `out`. The last one puts what it gives, modulated again, into
 * `colour`, the prepared one.
 */
void hs_ref_filter(const struct hs_frame_params *p, const struct hs_ref_plane *depth,
                   const struct hs_ref_guided *guided, int pass, const struct hs_ref_plane *in,
                   struct hs_ref_plane *out, struct hs_ref_plane *colour);

/** `motion` is the caller's plane, read for HS_FRAME_MOTION_DISPLAY only. */
void hs_ref_reproject(const struct hs_frame_params *p, const struct hs_state *state,
                      const struct hs_ref_plane *motion, const struct hs_ref_prepared *prep,
                      const struct hs_ref_history *prev, struct hs_ref_history *out);

/** `image`: 4 channels, output size, not rounded. */
void hs_ref_resolve(const struct hs_frame_params *p, const struct hs_state *state,
                    const struct hs_ref_prepared *prep, const struct hs_ref_history *reproj,
                    struct hs_ref_history *next, struct hs_ref_plane *image);

/**
 * What the network sees (docs/model-format.md): 64 channels, with levels 80; half the output size,
 * rounded up. `motion` as for reproject; `levels` NULL: not taau-ray.
 */
void hs_ref_features(const struct hs_frame_params *p, const struct hs_ref_plane *motion,
                     const struct hs_ref_prepared *prep, const struct hs_ref_history *reproj,
                     const struct hs_ref_levels *levels, struct hs_ref_plane *features);

/**
 * What a network on render pixels sees: 64 channels, render size. HS_ERR_NOMEM.
 */
int hs_ref_cell_features(const struct hs_frame_params *p, const struct hs_ref_plane *motion,
                         const struct hs_ref_prepared *prep, const struct hs_ref_history *reproj,
                         struct hs_ref_plane *features);

/** The head of such a network, 48 channels, as resolve wants it; `spread` is made anew.
 * HS_ERR_NOMEM. */
int hs_ref_spread_head(const struct hs_frame_params *p, const struct hs_ref_plane *head,
                       struct hs_ref_plane *spread);

/** What one layer gives. */
struct hs_ref_layer {
    struct hs_ref_plane sum;    ///< The convolution alone.
    struct hs_ref_plane result; ///< Pixels of HS_LAYER_UP spread, then add and ReLU.
};

/** The network on one picture. Planes are filled up to a multiple of four tokens. */
struct hs_ref_network {
    struct hs_ref_plane features;
    uint32_t layer_count;
    struct hs_ref_layer layers[HS_WEIGHTS_LAYERS_MAX]; ///< The last one's result is the head.
};

/** Any size of `features`. HS_ERR_NOMEM. */
int hs_ref_network_run(const struct hs_weights *weights, const struct hs_ref_plane *features,
                       struct hs_ref_network *network);
void hs_ref_network_finish(struct hs_ref_network *network);

/** One layer; `add` may be NULL. HS_ERR_NOMEM, with what was made of `out` left to be finished. */
int hs_ref_layer_run(const struct hs_layer *layer, const struct hs_ref_plane *in,
                     const struct hs_ref_plane *add, struct hs_ref_layer *out);
void hs_ref_layer_finish(struct hs_ref_layer *layer);

/** Resolve as a network's head wants it: 112 channels, with levels 128, at least half the output
 * size. */
void hs_ref_resolve_steered(const struct hs_frame_params *p, const struct hs_state *state,
                            const struct hs_ref_prepared *prep, const struct hs_ref_history *reproj,
                            const struct hs_ref_levels *levels, const struct hs_ref_plane *head,
                            struct hs_ref_history *next, struct hs_ref_plane *image);

/** A plane beside the colour. */
struct hs_ref_aov {
    enum hs_aov_kind kind;
    struct hs_ref_plane plane; ///< 4 channels, render size.
    struct hs_ref_plane past;  ///< Its history: 4 channels, output size; absent: there is none.
};

/**
 * Resolves an AOV with the weights of the colour's resolve: `levels` and `head` as there, NULL
 * without a network. `past` is the colour's history as the frame before left it. `next` and
 * `image`: 4 channels, output size.
 */
void hs_ref_aov(const struct hs_frame_params *p, const struct hs_state *state,
                const struct hs_ref_inputs *in, const struct hs_ref_prepared *prep,
                const struct hs_ref_history *reproj, const struct hs_ref_levels *levels,
                const struct hs_ref_plane *head, const struct hs_ref_plane *past,
                const struct hs_ref_aov *aov, struct hs_ref_plane *next,
                struct hs_ref_plane *image);

/** Sharpening and look of `in` into `out`, 4 channels, output size each. */
void hs_ref_finish(const struct hs_frame_params *p, const struct hs_state *state,
                   const struct hs_ref_plane *in, struct hs_ref_plane *out);

/** Canonical motion at texel (x, y): unit and sign as hs_motion_params. */
enum hs_ref_motion_state {
    HS_REF_MOTION_OK,
    HS_REF_MOTION_UNWRITTEN,
    HS_REF_MOTION_INVALID, ///< Longer than the frame.
};
enum hs_ref_motion_state hs_ref_motion(const struct hs_frame_params *p,
                                       const struct hs_ref_plane *motion, int x, int y, bool far,
                                       float *out);

/** Motion of an output pixel in output px; returns the validity of its history. */
float hs_ref_pixel_motion(const struct hs_frame_params *p, const struct hs_ref_plane *motion,
                          const struct hs_ref_prepared *prep, int x, int y, float *out);

/** A sequence's history, without a GPU. */
struct hs_ref_stream;

/** NULL if memory is short. `ldr` as HS_STREAM_LDR. */
struct hs_ref_stream *hs_ref_stream_create(int out_width, int out_height, bool ldr);

/** From the next frame on the stream runs this network; it borrows the weights. NULL: `taau`. */
void hs_ref_stream_weights(struct hs_ref_stream *stream, const struct hs_weights *weights);

/**
 * From the next frame on, which must be a cut, the stream runs `atrous`; with weights of taau-ray,
 * that. HS_ERR_NOMEM.
 */
int hs_ref_stream_guided(struct hs_ref_stream *stream);

/** Planes but the prepared colour keep floats, as the training package's do. */
void hs_ref_stream_keep_float(struct hs_ref_stream *stream);

/**
 * One frame: the values of `frame` (its images are not looked at: planes come from `in`) into
 * `image`, 4 channels of output size.
 * Errors: HS_ERR_INVALID planes or sizes that do not fit; HS_ERR_NOMEM.
 */
int hs_ref_stream_frame(struct hs_ref_stream *stream, const struct hs_frame *frame,
                        const struct hs_ref_inputs *in, struct hs_ref_plane *image);

/** The parameters that the last frame ran with. */
const struct hs_frame_params *hs_ref_stream_params(const struct hs_ref_stream *stream);

/** The planes of the last frame, for comparing passes one by one. */
const struct hs_ref_prepared *hs_ref_stream_prepared(const struct hs_ref_stream *stream);
const struct hs_ref_history *hs_ref_stream_reprojected(const struct hs_ref_stream *stream);
const struct hs_ref_history *hs_ref_stream_history(const struct hs_ref_stream *stream);
/** Without layers before the first frame that ran a network. */
const struct hs_ref_network *hs_ref_stream_network(const struct hs_ref_stream *stream);
/** Of the last frame of a stream that runs `atrous` or taau-ray. */
struct hs_ref_levels hs_ref_stream_levels(const struct hs_ref_stream *stream);
const struct hs_state *hs_ref_stream_state(const struct hs_ref_stream *stream);

void hs_ref_stream_destroy(struct hs_ref_stream **stream);

/** A zeroed plane; texels NULL if memory is short. Free with hs_ref_plane_finish(). */
struct hs_ref_plane hs_ref_plane_make(int width, int height, int channels);
void hs_ref_plane_finish(struct hs_ref_plane *plane);

#endif
