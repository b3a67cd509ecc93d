// SPDX-License-Identifier: MIT
/** hindsight probe: what the numbers of a sequence mean, found out from its pictures. */
#ifndef HINDSIGHT_TOOLS_PROBE_H
#define HINDSIGHT_TOOLS_PROBE_H

#include <stdbool.h>
#include <stdio.h>

#include "hsio.h"

#define PROBE_MAX_FRAMES 16
#define PROBE_PAIRS (PROBE_MAX_FRAMES - 1)
#define PROBE_CANDIDATES 640
#define PROBE_TILES 1024 ///< At most, of a frame.
#define PROBE_FEATURES 10
#define PROBE_NOTES 24
#define PROBE_LEAST_SIDE 32 ///< Pixels; less does not prove a convention wrong.
#define PROBE_EXIT_WRONG 3
#define PROBE_EXIT_UNSURE 4

/** One frame, cut to the clip's window. Planes are NULL where the frame has none. */
struct probe_frame {
    int64_t number;
    bool reset, has_jitter, has_camera;
    float jitter[2]; ///< As declared, render pixels.
    float view[16], proj[16];
    float *features; ///< [h, w, features] what is compared: see probe_read.c.
    float *luma;     ///< [h, w] as stored.
    float *motion;   ///< [h, w, 2] as stored, at colour's pixels.
    float *leading;  ///< [h, w, 2] as `motion`, of the nearest pixel around.
    float *depth;    ///< [h, w] as stored.
    float *albedo;   ///< [h, w, 4]
    float *normal;   ///< [h, w, 4]
    struct hsio_plane_stats color_stats, motion_stats, depth_stats;
};

struct probe_clip {
    const struct hsio_convention *convention; ///< In use, `auto` resolved.
    struct probe_frame frames[PROBE_MAX_FRAMES];
    int count;
    int width, height;                     ///< Of the pictures.
    int motion_width, motion_height;       ///< Of the motion plane.
    int x, y, w, h;                        ///< The window that is looked at.
    int features;                          ///< Channels that are compared, at most PROBE_FEATURES.
    char channels[HSIO_PLANE_COUNT][1040]; ///< Names in the file; "" without the plane.
    bool planes[HSIO_PLANE_COUNT];
    struct hsio_mended mended; ///< Of the second frame, if guides were asked for.
};

/**
 * Reads frames from the beginning, until a cut.
 *
 * Owns: probe_clip_finish() frees, also after a failure.
 * Errors: those of hsio, after a message; HS_ERR_INVALID without colour.
 */
int probe_clip_read(const struct hsio_sequence *seq, int first, int count, bool guides,
                    struct probe_clip *clip);
void probe_clip_finish(struct probe_clip *clip);
/** Whether the pictures are too small for a verdict against the convention. */
bool probe_is_small(const struct probe_clip *clip);

/* --------------------------------------------------------------------------------- motion --- */

/** One meaning that the motion vectors may have. */
struct probe_candidate {
    struct hsio_motion_convention motion;
    float scale[2]; ///< To render pixels.
    bool still;     ///< Not a convention: nothing moves.
    double error;   ///< Mean colour difference; lost pixels count as unrelated ones.
    double lost;    ///< Share of pixels that lead out of the picture.
    double z, loss; ///< Against the best: significance, and how much worse (1 = twice the error).
    bool part;      ///< A part or a multiple of a unit.
    bool rival;     ///< Not told apart from the best.
};

enum probe_verdict {
    PROBE_NOTHING = 0, ///< There are no vectors, or a single frame.
    PROBE_UNSURE,      ///< Vectors explain the pictures no better than no motion.
    PROBE_FITS,        ///< The declared convention is the best, or as good.
    PROBE_WRONG,       ///< Another one is clearly better than the declared one.
    PROBE_ZERO,        ///< All vectors are zero although the picture moves.
};

struct probe_motion {
    enum probe_verdict verdict;
    int pairs;
    double points; ///< Pixels that were compared, a frame.
    struct probe_candidate best, declared, still, second;
    bool has_second; ///< `second`: the best that is told apart and means other vectors.
    /** Whether all that is not told apart from the best agrees on it. */
    bool knows_x, knows_y, knows_swap, knows_scale, knows_direction;
    double factor;    ///< Of the best unit: 0.5 is half a frame's motion; 1 as a rule.
    double doubt;     ///< Pixels between what is not told apart.
    double magnitude; ///< Mean length, pixels, of those that were compared.
    double moving;    ///< Share of textured blocks that move, by block matching.
};

/** How well the frames register, given vectors. */
struct probe_jitter {
    bool measured; ///< Two frames or more with enough texture.
    int pairs;
    double shift[PROBE_PAIRS][2]; ///< Of the later frame's samples against the earlier's, pixels.
    double error[PROBE_PAIRS];    ///< Standard error of a shift.
    bool declared;                ///< Frames have a jitter that changes.
    bool present;                 ///< Pictures do.
    bool sure;                    ///< The fields below are.
    bool fits;                    ///< As declared, or neither declared nor present.
    bool in_vectors;              ///< The vectors contain it.
    float sign[2];                ///< To be multiplied with what is declared.
    bool swap;
    double rms, second; ///< Of what is left under the best reading, and the next one.
    int phase;          ///< Of Halton (2, 3), first frame, if not declared but found; 0: none.
    float halton_sign[2];
};

/**
 * Finds motion's and jitter's convention.
 *
 * Errors: HS_ERR_NOMEM.
 */
int probe_find(const struct probe_clip *clip, struct probe_motion *motion,
               struct probe_jitter *jitter);

/** Whether vectors as they are declared stay in the picture at all. */
struct probe_scale {
    bool too_long;    ///< Most lead out of it, and mean nothing.
    double length_px; ///< Median of those that are not 0, as declared.
    double most;      ///< Factor to the declared scale that makes half of them the picture's size.
    bool fits_as_pixels;
    double as_pixels_px;                  ///< Median, if what is stored were pixels.
    struct hsio_motion_convention pixels; ///< That reading.
};
/** Errors: HS_ERR_NOMEM. */
int probe_scale_find(const struct probe_clip *clip, struct probe_scale *scale);

/* ----------------------------------------------------------------------- the other planes --- */

enum probe_confidence {
    PROBE_UNKNOWN = 0,
    PROBE_LIKELY, ///< By the values' form.
    PROBE_PROVEN, ///< By what moves behind what.
};

struct probe_depth {
    bool present, constant;
    enum hsio_depth_kind kind;
    enum probe_confidence kind_known, direction_known;
    bool far_is_larger;
    double min, max; ///< Over finite values that are not background.
    bool has_background;
    float background; ///< Stored value.
    double background_share;
    double votes;                        ///< z of the occlusion test; positive: larger is farther.
    double curve_linear, curve_hardware; ///< Second differences of 1/d and of d.
};

struct probe_guides {
    bool has_normals, normals_unsigned, normals_view, knows_space, packed;
    double normal_length;
    bool has_albedo;
    double albedo_max, albedo_zero; ///< 99.9th percentile; share of zeros.
    bool albedo_out_of_range;
    double luma_low, luma_high, luma_mean; ///< 1st and 99th percentile, geometric mean.
    double luma_max, negative;             ///< Greatest value; share of pixels.
    bool display_referred;
    bool noisy_known;
    double noise_fixed, noise_z; ///< Correlation of what sticks to the screen.
    bool noise_sticks;
    bool silhouettes_known, silhouettes_averaged;
    double silhouettes;    ///< Share of edges with a vector between both sides' ones.
    double sky, sky_still; ///< Share of background pixels; of those, with a vector of exactly 0.
    bool sky_unwritten;
};

void probe_depth_find(const struct probe_clip *clip, const struct probe_motion *motion,
                      const struct probe_jitter *jitter, struct probe_depth *depth);
int probe_guides_find(const struct probe_clip *clip, const struct probe_motion *motion,
                      const struct probe_depth *depth, struct probe_guides *guides);

/* --------------------------------------------------------------------------------- report --- */

struct probe_report {
    const char *location;                  ///< Lives as long as the sequence.
    const struct hsio_options *options_in; ///< That it was opened with.
    struct probe_clip clip;
    struct probe_motion motion;
    struct probe_scale scale;
    struct probe_jitter jitter;
    struct probe_depth depth;
    struct probe_guides guides;
    struct hsio_convention found; ///< What is used, with what was found out.
    char preset[32];              ///< That `found` is, or is nearest to.
    bool exact;                   ///< It is that preset.
    char options[1024];           ///< For the command line.
    const char *verdict;          ///< One word.
    int code;                     ///< Exit code: 0 fits, 3 does not, 4 not told.
    char notes[PROBE_NOTES][320];
    bool grave[PROBE_NOTES]; ///< The note is a warning.
    int note_count;
};

/**
 * Looks at `count` frames of an open sequence, with or without `guides` (albedo,
 * normals). The sequence must live as long as the report, as must the options that it was opened
 * with.
 *
 * Owns: probe_report_finish() frees, also after a failure.
 * Errors: those of hsio, after a message.
 */
int probe_run(const struct hsio_sequence *seq, const struct hsio_options *options, int first,
              int count, bool guides, struct probe_report *report);
void probe_report_finish(struct probe_report *report);

/**
 * Sets in `conv` what was found to be other than declared, and gives how many keys that are.
 *
 * Errors: HS_ERR_INVALID.
 */
int probe_apply(const struct probe_report *report, struct hsio_convention *conv);

/** Fills `found`, `preset` and `options`, then the notes, that about `scale` first. */
void probe_conclude(struct probe_report *report);

void probe_print(const struct probe_report *report);
void probe_print_json(const struct probe_report *report, FILE *file);

/** Vector of a pixel under a convention; false: none. Positions are those of the window. */
bool probe_vector(const struct hsio_motion_convention *conv, const float scale[2],
                  const float *stored, float out[2]);
/** Bilinear; false: outside. */
bool probe_sample(const float *plane, int channels, int w, int h, float x, float y, float *out);

#endif
