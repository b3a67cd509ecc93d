// SPDX-License-Identifier: MIT
/** Shared by the parts of `hindsight upscale`: what was asked for, the plan, the pipeline. */
#ifndef HINDSIGHT_TOOLS_UPSCALE_H
#define HINDSIGHT_TOOLS_UPSCALE_H

#include "backend.h"
#include "hsaov.h"
#include "options.h"

#define TOOL_MAX_AUX 16

#define UPSCALE_EXACT_MAX (4 * HS_AOV_MAX)

/** The command line. */
struct upscale_request {
    const char *input, *output;
    const char *model, *device;
    struct tool_convention convention;
    double scale; ///< 0: not given.
    int size[2];  ///< 0: not given.
    struct hsio_options sequence;
    bool has_start, has_end;
    struct tool_frame_list resets;
    bool auto_exposure;
    double exposure;  ///< 0: not given.
    double sharpness; ///< Negative: not given.
    double firefly_clamp;
    struct hs_look look;
    int depth; ///< 0: as the input, 1: half, 2: float.
    int tone;  ///< 0: by kind of sequence, else hsio_curve + 1.
    int png_bits;
    int path;        ///< enum hs_path
    int64_t warm_up; ///< Frames before an unfinished one; negative: all since the last cut.
    int64_t jobs;    ///< 0: by the number of cores.
    bool automatic, no_check; ///< Of the convention.
    bool ldr, overwrite, validate, quiet, verbose;
    char aux_patterns[TOOL_MAX_AUX][256];
    struct hsio_passthrough aux[TOOL_MAX_AUX];
    int aux_count;
    struct hsaov_request aovs[HS_AOV_MAX];
    int aov_count;
};

/** One frame to be run. */
struct upscale_item {
    int index; ///< In the sequence.
    int64_t number;
    char *path; ///< Of the output.
    bool write; ///< False: only for history.
    bool reset;
};

/** How many of the readable frames lack what. */
struct upscale_lack {
    int total, readable;
    int index; ///< In the sequence, of the first readable one.
    int jitter;
    int planes[HSIO_PLANE_COUNT];
    int not_needed;        ///< Of those without motion, frames that take another one's.
    int aux[TOOL_MAX_AUX]; ///< Have no channel for a pattern of --aux.
};

struct upscale_plan {
    struct hsio_sequence *seq;
    struct hsio_sequence_info info;
    struct tool_backend_setup setup; ///< Sizes and planes of all frames; slots not yet known.
    const char *model;               ///< The preset that runs, once it does.
    bool found;                      ///< --auto changed the convention.
    struct upscale_item *items;
    int item_count;
    int finished; ///< Frames whose output was there already.
    char exact_names[UPSCALE_EXACT_MAX][HSAOV_EXACT_BYTES]; ///< Channels that AOVs carry over.
    int exact_count;
    struct upscale_lack lack;
};

/** The convention that was asked for. Errors: HS_ERR_INVALID, after a message. */
int upscale_convention_make(const struct upscale_request *request, struct hsio_convention *conv);

/**
 * Looks whether the first frames are as the sequence's convention says; warns if they are not, and
 * refuses a preset that was never measured. With the option auto it puts what it found into `conv`
 * and gives 1: the sequence is to be opened anew.
 *
 * Errors: HS_ERR_INVALID: refused; HS_ERR_NOMEM, those of hsio, after a message.
 */
int upscale_check(const struct upscale_request *request, const struct hsio_sequence *seq,
                  struct hsio_convention *conv);

/**
 * Opens the sequence, looks at all headers, finds what is left to do. The request's model
 * becomes bicubic where pictures are too small for it.
 *
 * Owns: upscale_plan_finish() frees, also after a failure.
 * Errors: those of hsio; HS_ERR_INVALID sizes that do not fit; after a message.
 */
int upscale_plan_make(struct upscale_request *request, struct upscale_plan *plan);
void upscale_plan_finish(struct upscale_plan *plan);

/**
 * Makes the folder of the outputs, checks that it can be written, and names the output of a
 * frame, whose description may be NULL. The caller frees `*path`.
 * Errors: HS_ERR_IO, HS_ERR_INVALID, after a message.
 */
int upscale_output_prepare(const struct upscale_request *request,
                           const struct hsio_sequence_info *info);
int upscale_output_name(const struct upscale_request *request,
                        const struct hsio_sequence_info *info, int64_t number,
                        const struct hsio_frame_info *frame, char **path);
/** OUT names files, not a folder. */
bool upscale_output_names_files(const char *output);
/** The raw format that a file's name ends with; HSIO_FORMAT_NATIVE: it is another kind of file. */
enum hsio_format upscale_output_raw(const char *path);
/** 1: there and of that size; 0: not there or damaged; negative: of another size. */
int upscale_output_finished(const char *path, int width, int height);
/** Removes what a killed run left of the frames that are to be written. */
void upscale_output_clear(const struct upscale_request *request, const struct upscale_plan *plan);

/** A frame that has been read. */
struct upscale_input {
    struct hsio_frame *frame;
    struct hsio_plane_stats color, motion;
    struct hsio_mended mended;
    float exposure;      ///< From an exposure plane; 0 without one.
    float grid[16 * 16]; ///< Mean luma of blocks, to see whether pictures differ.
};

/** Options that contradict each other by their values. Errors: HS_ERR_INVALID, after a message. */
int upscale_rules_check(const struct upscale_request *request);
/** Options that an output of this name has no use for. Errors: as above. */
int upscale_rules_check_output(const struct upscale_request *request, const char *path);

/** Counts what a frame lacks. */
void upscale_lack_scan(const struct upscale_request *request, struct upscale_plan *plan, int index,
                       struct hsio_frame *frame);
/** Looks whether channels that options name are anywhere. Errors: HS_ERR_INVALID; those of hsio. */
int upscale_lack_check(const struct upscale_request *request, const struct upscale_plan *plan);
/** Says what is missing, and what then happens. */
void upscale_lack_tell(const struct upscale_request *request, const struct upscale_plan *plan);

/** Opens and reads one frame into a slot. Errors: those of hsio, after a message. */
int upscale_read(const struct upscale_plan *plan, const struct upscale_item *item,
                 const struct tool_slot_memory *memory, struct upscale_input *input);

/** One value of --aov. Errors: HS_ERR_INVALID, after a message. */
int upscale_aov_take(struct upscale_request *request, const char *value);
/** Finds the layers in the first frame that runs. Errors: those of hsio; after a message. */
int upscale_aov_plan(const struct upscale_request *request, struct upscale_plan *plan);
/** Reads the layers of a frame into a slot. Errors: those of hsio. */
int upscale_aov_read(const struct upscale_plan *plan, const struct tool_slot_memory *memory,
                     struct hsio_frame *frame);
/** The planes to be written beside the colour: gives their number, at most HS_AOV_MAX. */
int upscale_aov_planes(const struct upscale_plan *plan, const struct tool_slot_memory *memory,
                       struct hsio_write_plane *planes);

/** Looks for bad pixels and missing motion, frame after frame; warns once each. */
struct upscale_watch {
    bool warned_color, warned_motion, warned_zero, warned_limit, told_mended;
    bool has_grid;
    float grid[16 * 16];
    uint64_t bad_frames, bad_pixels;
    uint64_t bad_motion_frames, bad_vectors;
    int still_motion; ///< Frames in a row with motion all zero and another picture.
};
void upscale_watch_frame(struct upscale_watch *watch, const struct upscale_input *input);

/** Writes one frame. Errors: those of hsio_write(), after a message. */
int upscale_write(const struct upscale_request *request, const struct upscale_plan *plan,
                  const struct upscale_item *item, const struct tool_slot_memory *memory,
                  struct hsio_frame *source);

/** What came of a run. */
struct upscale_result {
    int written;
    bool interrupted;
    uint64_t bad_frames, bad_pixels;
    uint64_t bad_motion_frames, bad_vectors;
};

/**
 * Reads, runs and writes all items of the plan, overlapped, with `jobs` reading and as many
 * writing threads. Frames before the one that failed are written.
 */
int upscale_pipeline_run(const struct upscale_request *request, const struct upscale_plan *plan,
                         struct tool_backend *backend, int jobs, struct upscale_result *result);

#endif
