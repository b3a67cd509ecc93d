// SPDX-License-Identifier: MIT
/** Sequences on which networks run: models in files, streams, frames with what the reference needs,
 * and how far pictures are apart. */
#ifndef HS_TESTS_RECIPE_H
#define HS_TESTS_RECIPE_H

#include "guided.h"
#include "model_file.h"
#include "stages.h"

struct recipe {
    const char *name;
    uint32_t out_width, out_height, render_width, render_height;
    uint32_t stream_flags;
    bool no_depth, no_motion, half, opaque;
    bool ray;
    int guides; ///< Those that taau-ray gets.
    float sharpness;
    /** Dynamic resolution: every third frame renders smaller. */
    uint32_t small_width, small_height;
};

/** A model in a file of its own. */
struct file {
    char path[64];
    struct hs_weights *weights;
};

struct file write_model(struct test_rng *rng, const struct fx_model_config *config);
void drop_model(struct file *file);
struct hs_model *load(struct fixture *fx, const struct file *file, enum hs_path path);
struct hs_stream *open_stream(struct hs_model *model, const struct recipe *recipe);
/** In so many bands (0: chosen), in two parts if `split` is there. */
struct hs_stream *open_stream_as(struct hs_model *model, const struct recipe *recipe,
                                 uint32_t bands, const struct hs_split *split);

/** A frame's planes, and the same as the reference takes them. */
struct source {
    struct fx_planes planes;
    struct guides guides; ///< For taau-ray.
    struct vkdev_image colour;
    struct hs_frame frame;
    struct hs_ref_inputs in;
};

void make_source(struct fixture *fx, const struct recipe *recipe, int time, struct source *source);
void drop_source(struct fixture *fx, struct source *source);

/** The frame's picture by a stream. */
struct hs_ref_plane picture(struct fixture *fx, struct hs_stream *stream,
                            const struct source *source);

/** Sums of squares; dB of them. */
struct error {
    double sum, power;
    size_t count;
};

double decibels(const struct error *error);
void add_pictures(struct error *error, const struct hs_ref_plane *a, const struct hs_ref_plane *b);

#endif
