// SPDX-License-Identifier: MIT
/**
 * Sequences on disk: multilayer EXR, raw planes with a JSON description, PNG; and the conventions
 * that say what the stored numbers mean. docs/formats.md describes the files.
 *
 * Planes are handed out as stored: signs, scales and depth kinds are data in `struct
 * hsio_convention`, to be folded by whoever consumes the pixels. Only what is not a pixel is
 * converted here (jitter to pixels, camera matrices to one form).
 */
#ifndef HSIO_H
#define HSIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hindsight/error.h"
#include "hindsight/log.h"
#include "hsio_convention.h"
#include "hsio_plane.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------- file name patterns --- */

/** A file name with a place for a frame number. */
struct hsio_pattern {
    char prefix[1024]; ///< Everything before the number, folders included.
    char suffix[256];  ///< Everything behind it.
    bool numbered;     ///< False: `prefix` is the whole name.
    int digits;        ///< Padding: 1 = none. Longer numbers are written in full.
    bool has_range;    ///< The text carried a range.
    int64_t first, last, step;
};

/**
 * Reads `%d`, `%04d`, `####`, `@@@`, `[1-20]`, `[1-20x2]`, `[0001-0020]`; `%%` is a percent sign.
 *
 * Thread: safe.
 * Errors: HS_ERR_INVALID: two places for numbers, a bad conversion or range, or a name too long.
 * Since: 1.
 */
int hsio_pattern_parse(struct hsio_pattern *pattern, const char *text, const struct hs_log *log);

/**
 * Writes the file name of one frame: `-7` with four digits gives "-0007".
 *
 * Thread: safe.
 * Errors: HS_ERR_INVALID: `size` is too small.
 * Since: 1.
 */
int hsio_pattern_format(const struct hsio_pattern *pattern, int64_t number, char *text,
                        size_t size);

/** Reads "5", "1-20", "1-20x2", "-5--1" into first, last and step.
 * Thread: safe. Errors: HS_ERR_INVALID: not of that form, or a step of 0. Since: 1. */
int hsio_range_parse(const char *text, int64_t *first, int64_t *last, int64_t *step,
                     const struct hs_log *log);

/* -------------------------------------------------------------------------- description --- */

/** Inclusive pixel rectangle as EXR has it. */
struct hsio_box {
    int32_t min_x, min_y, max_x, max_y;
};

struct hsio_channel_desc {
    char *name;
    const char *type; ///< "half", "float", "uint", "u8", "u16".
    int x_sampling, y_sampling;
};

struct hsio_attribute_desc {
    char *name;
    char *type;  ///< EXR type name.
    char *value; ///< As text; long values are cut.
};

struct hsio_part_desc {
    char *name;              ///< Empty if the part has none.
    char *view;              ///< Empty if the part has none.
    const char *storage;     ///< "scanline", "tiled", "deep scanline", "deep tiled", "png", "raw".
    const char *compression; ///< "none", "zip", …
    struct hsio_box display, data;
    int tile_width, tile_height; ///< 0 if not tiled.
    int levels;                  ///< Mip levels, 1 if none.
    int channel_count;
    struct hsio_channel_desc *channels;
    int attribute_count;
    struct hsio_attribute_desc *attributes;
};

/** What one file holds. */
struct hsio_file_desc {
    char *path;
    const char *kind; ///< "exr", "png", "raw".
    uint64_t bytes;
    int part_count;
    struct hsio_part_desc *parts;
};

/**
 * Describes an EXR or PNG file.
 *
 * Owns: the caller frees `*out` with hsio_file_desc_free().
 * Thread: safe.
 * Cost: reads the headers only.
 * Errors: HS_ERR_IO, HS_ERR_FORMAT, HS_ERR_UNSUPPORTED (kind of file unknown), HS_ERR_NOMEM.
 * Since: 1.
 */
int hsio_file_describe(const char *path, const struct hs_log *log, struct hsio_file_desc **out);
/** Frees a description; NULL is fine. Since: 1. */
void hsio_file_desc_free(struct hsio_file_desc **desc);

/**
 * Looks whether an EXR or PNG file is whole: an EXR has each chunk of the full-size level of its
 * flat parts, a PNG its end.
 *
 * Thread: safe.
 * Cost: reads headers, and the head of each chunk; decodes nothing.
 * Errors: HS_ERR_FORMAT: it is cut short, or damaged where it was looked at; HS_ERR_IO;
 * HS_ERR_UNSUPPORTED: another kind of file; HS_ERR_NOMEM.
 * Since: 2.
 */
int hsio_file_check(const char *path, const struct hs_log *log);

/* ----------------------------------------------------------------------------- sequence --- */

/** What to do where a frame of the range has no file. */
enum hsio_missing {
    HSIO_MISSING_ERROR = 0, ///< Opening the sequence fails and names the frame.
    HSIO_MISSING_SKIP,      ///< The frame is left out; the next one resets.
    HSIO_MISSING_HOLD,      ///< The frame before it is given again, marked `held`.
};

/** Which part of an EXR is the picture. */
enum hsio_window {
    HSIO_WINDOW_DISPLAY = 0, ///< The display window; pixels outside of the data window are filled.
    HSIO_WINDOW_DATA,        ///< The data window: keeps overscan; its size may change.
};

/** Zero is the default everywhere. */
struct hsio_options {
    bool has_range;            ///< `first`, `last` and `step` apply.
    int64_t first, last;       ///< Frame numbers, both included.
    int64_t step;              ///< 0: 1.
    enum hsio_missing missing; ///< Gaps in the range.
    enum hsio_window window;   ///< Canvas of EXR planes.
    bool expand_single;        ///< A plain file name with a number stands for its whole sequence.
    bool no_sidecar;           ///< Ignore a frames.json that lies beside the pictures.
    const char *sidecar;       ///< Use this JSON in place of a frames.json beside the pictures.
    /** Separate files for planes, as patterns of their own (Unreal, Arnold, V-Ray style), matched
     * by frame number; NULL: from the main file. */
    const char *planes[HSIO_PLANE_COUNT];
};

/** A plane as one frame has it. */
struct hsio_plane_info {
    bool present;
    int width, height;
    enum hsio_format format; ///< Smallest format that holds the stored values.
    char channels[1040];     ///< Names as in the file, comma-separated: "ViewLayer.Depth.Z".
    const char *path;        ///< File it is read from; lives as long as the frame.
};

/** What is known about one frame besides its pixels. */
struct hsio_frame_info {
    int64_t number;                ///< Frame number; for JSON without numbers, the index.
    const char *path;              ///< Main file; lives as long as the frame.
    int width, height;             ///< Colour's size (or the first present plane's).
    struct hsio_box display, data; ///< EXR windows; equal and at 0 for others.
    bool resized;                  ///< The size differs from the sequence's first frame.
    bool held;                     ///< Stands in for a missing frame.
    bool reset;         ///< First frame, a cut by description, or the number before it is missing.
    bool has_jitter;    ///< `jitter_px` is from the description; else it is 0.
    float jitter_px[2]; ///< Sample position minus pixel centre, render pixels, x right, y down.
    bool has_view, has_proj;
    float view[16]; ///< World to camera, looking down -Z, y up. Rows, for column vectors.
    float proj[16]; ///< Camera to clip, OpenGL form (z in -w..w), without jitter. Rows.
    bool has_clip;
    float near, far; ///< In scene units; far infinity = none.
    bool has_exposure;
    float exposure;  ///< Factor for colour.
    float sharpness; ///< 0..1; 0 if not given.
    struct hsio_plane_info planes[HSIO_PLANE_COUNT];
    /** The sequence's convention with this frame's overrides. */
    const struct hsio_convention *convention;
    /** What the file's vectors mean; hsio_frame_mend() changes those that are handed out. */
    struct hsio_motion_convention stored_motion;
};

/** Cheap facts about a plane that was read. */
struct hsio_plane_stats {
    uint64_t non_finite; ///< Pixels with a NaN or infinity in any stored channel.
    bool all_zero;       ///< Every stored value is 0.
    float min, max;      ///< Over finite stored values; 0 and 0 if there is none.
};

/**
 * Whether the stored vectors reach the value at which their renderer cuts them off.
 * Thread: safe.
 * Since: 1.
 */
bool hsio_motion_at_limit(const struct hsio_motion_convention *motion,
                          const struct hsio_plane_stats *stats);

/** One plane to be read. */
struct hsio_plane_request {
    enum hsio_plane plane;
    enum hsio_format format; ///< HSIO_FORMAT_NATIVE: as in hsio_plane_info. Channels must fit.
    void *buffer;            ///< Written once, row by row, never read: may be write-combined.
    size_t buffer_bytes;     ///< At least width * height * pixel bytes.
    struct hsio_plane_stats *stats; ///< NULL: not wanted.
};

struct hsio_sequence;
struct hsio_frame;

/** Facts about a whole sequence. */
struct hsio_sequence_info {
    int frame_count;
    int missing_count;               ///< Frames of the range without a file.
    int64_t first, last;             ///< Numbers of the first and last frame.
    int output_width, output_height; ///< From a JSON description; 0 if not told.
    const char *kind;                ///< "exr", "png", "raw".
    const char *location;            ///< Pattern, or file, in use.
    bool planes[HSIO_PLANE_COUNT];   ///< Planes of the first frame.
    int width, height;               ///< Of the first frame.
};

/**
 * Opens a file name pattern, a single file, a folder, a frames.json or a raw description.
 *
 * `conv` NULL means the preset `auto`. Options NULL means defaults.
 * Owns: the caller closes `*out`; the arguments are copied.
 * Thread: safe.
 * Cost: lists a folder, reads the JSON and the header of the first frame.
 * Errors: HS_ERR_IO: nothing there; HS_ERR_FORMAT: damaged file or JSON; HS_ERR_UNSUPPORTED: deep
 * or other unknown data; HS_ERR_INVALID: bad pattern or range, missing frames, a
 * JSON with options for a frames.json; HS_ERR_NOMEM.
 * Since: 1.
 */
int hsio_sequence_open(const char *location, const struct hsio_convention *conv,
                       const struct hsio_options *options, const struct hs_log *log,
                       struct hsio_sequence **out);
/** Closes; frames must be closed before. Takes NULL and pointers to NULL. Since: 1. */
void hsio_sequence_close(struct hsio_sequence **seq);

/** Facts; strings live as long as the sequence. Thread: safe. Since: 1. */
void hsio_sequence_info(const struct hsio_sequence *seq, struct hsio_sequence_info *out);
/** The convention in use, `auto` resolved. Lives as long as the sequence. Thread: safe. Since: 1.
 */
const struct hsio_convention *hsio_sequence_convention(const struct hsio_sequence *seq);
/** The frame number at `index`, without opening anything. Thread: safe. Since: 1. */
int64_t hsio_sequence_number(const struct hsio_sequence *seq, int index);

/**
 * Describes the files of one frame, one entry a file.
 *
 * Owns: the caller frees each of the `*count` entries and then the array with
 * hsio_sequence_descriptions_free().
 * Thread: safe.
 * Errors: as hsio_file_describe(); HS_ERR_INVALID: index out of range.
 * Since: 1.
 */
int hsio_sequence_describe(const struct hsio_sequence *seq, int index, struct hsio_file_desc ***out,
                           int *count);
/** Frees what hsio_sequence_describe() gave. Since: 1. */
void hsio_sequence_descriptions_free(struct hsio_file_desc ***descs, int count);

/**
 * Opens one frame: its headers are parsed and planes located.
 *
 * Owns: the caller closes `*out` before the sequence.
 * Thread: safe: several frames of a sequence may be open and read at once, each by one thread.
 * Errors: HS_ERR_INVALID: index out of range; HS_ERR_IO, HS_ERR_FORMAT, HS_ERR_UNSUPPORTED,
 * HS_ERR_NOMEM as for the sequence. A plane that is absent is no error here.
 * Since: 1.
 */
int hsio_frame_open(const struct hsio_sequence *seq, int index, struct hsio_frame **out);
/** Closes; takes NULL and pointers to NULL. Since: 1. */
void hsio_frame_close(struct hsio_frame **frame);
/** Facts; live as long as the frame. Thread: safe. Since: 1. */
const struct hsio_frame_info *hsio_frame_info(const struct hsio_frame *frame);

/**
 * Reads planes; those in one file are decoded in one pass.
 *
 * Values are as stored. Fourth channels that are not stored read 1. Pixels of the display window
 * outside of the data window read 0, depth there reads the convention's background.
 * Shape: width * height of the plane's info, packed.
 * Thread: one at a time per frame.
 * Errors: HS_ERR_INVALID: a plane is absent (the log lists the channels there are), the format has
 * another number of channels, or a buffer is too small; HS_ERR_FORMAT: damaged pixels;
 * HS_ERR_IO; HS_ERR_UNSUPPORTED: subsampled channels that are not luminance and chroma;
 * HS_ERR_NOMEM. Buffers may be partly written then.
 * Since: 1.
 */
int hsio_frame_read(struct hsio_frame *frame, const struct hsio_plane_request *requests, int count);

/** Names of all channels of the EXR that the picture comes from, by parts, for messages; "" where
 * it is no EXR. Cut if `size` is too small. Thread: one at a time per frame. Since: 2. */
void hsio_frame_list(struct hsio_frame *frame, char *text, size_t size);

/** A layer of the EXR that colour comes from: the channels whose names differ behind the last dot,
 * or those of a part of that name. */
struct hsio_layer_info {
    enum hsio_format format; ///< HSIO_FORMAT_RGBA16F or _RGBA32F: what holds the stored values.
    bool exact;              ///< Ids, positions, vectors: values that no filter may mix.
    bool is_color;           ///< Colour is read from it.
    int channel_count;       ///< 1 to 4.
    char channels[1040]; ///< Names as in the file, comma-separated, in the order of RGBA or XYZW.
    char part[256];      ///< Name of the part; empty if it has none.
};

/** One layer to be read: its channels in that order; those that it lacks read 1. */
struct hsio_layer_request {
    const char *name;
    enum hsio_format format; ///< HSIO_FORMAT_RGBA16F or _RGBA32F.
    void *buffer;            ///< width * height of the frame, packed.
    size_t buffer_bytes;
};

/**
 * Finds a layer by its name: `DiffDir` is `DiffDir.R` as well as `ViewLayer.DiffDir.R`; case is
 * ignored. Where several fit, the first is taken.
 *
 * Thread: one at a time per frame.
 * Errors: HS_ERR_INVALID: there is none (the log lists the channels there are);
 * HS_ERR_UNSUPPORTED: the picture is no EXR, or the layer is subsampled or has more than four
 * channels.
 * Since: 2.
 */
int hsio_frame_layer(struct hsio_frame *frame, const char *name, struct hsio_layer_info *info);

/**
 * Reads layers in one pass over the file. Values are as stored; outside of the data window 0.
 *
 * Thread: one at a time per frame.
 * Errors: as above; HS_ERR_INVALID: a format or buffer does not fit; HS_ERR_FORMAT: damaged pixels;
 * HS_ERR_IO; HS_ERR_NOMEM. Buffers may be partly written then.
 * Since: 2.
 */
int hsio_frame_read_layers(struct hsio_frame *frame, const struct hsio_layer_request *requests,
                           int count);

/** How a frame's motion was made whole. */
struct hsio_mended {
    bool turned;        ///< Vectors to the next frame were turned round.
    bool camera;        ///< The frame has a camera, which moves pixels without vectors.
    uint64_t unwritten; ///< Pixels without a vector; 0 where nobody looked, as there is a camera.
    uint64_t filled;    ///< Of those, pixels that follow the camera that the others tell of.
    double share;       ///< Of the vectors, those that agree on that camera; 0: not looked.
    double doubt_px;    ///< Standard error of what is filled in.
};

/**
 * Makes the motion of a frame whole, ahead of hsio_frame_read().
 *
 * Vectors to the next frame: the frame before has those that lead here; each is turned round where
 * it ends, the nearest surface first. Where none ends, or at a reset, there is no vector.
 * Pixels without a vector, in frames without a camera: one that turns, steps and zooms is fitted
 * to the vectors there are, with depth if there is any; if most agree on it, and on what it means
 * for those pixels, they follow it. Where most surfaces have no vector, none is fitted.
 * Changed frames have motion in pixels to the previous frame, as their info's convention then says.
 * Thread: one at a time per frame.
 * Cost: reads motion and depth, of two frames for vectors to the next one.
 * Errors: those of hsio_frame_open() and hsio_frame_read(): HS_ERR_IO, HS_ERR_FORMAT,
 * HS_ERR_UNSUPPORTED, HS_ERR_NOMEM; the frame is as it was then.
 * Since: 1.
 */
int hsio_frame_mend(struct hsio_frame *frame, struct hsio_mended *out);

/**
 * The same, and motion is in one form in all frames that have any, whatever its convention was: in
 * pixels of its plane to the previous frame, x right, y down; NaN where there is no vector. The
 * frame's info says so. Where hsio_frame_mend() came before, its form stays.
 *
 * Thread, Cost, Errors: as hsio_frame_mend(), and each frame's motion is read.
 * Since: 2.
 */
int hsio_frame_canonical(struct hsio_frame *frame, struct hsio_mended *out);

/* ------------------------------------------------------------------------------- output --- */

enum hsio_curve {
    HSIO_CURVE_NONE = 0, ///< Values as they are, cut to 0..1.
    HSIO_CURVE_SRGB,     ///< Linear to sRGB, cut to 0..1.
    HSIO_CURVE_METRIC,   ///< (x / (1 + x)) ^ (1 / 2.2), x cut at 0 as in quality metrics.
};

enum hsio_resample {
    HSIO_RESAMPLE_AUTO = 0, ///< Nearest for unsigned integers, ids, depth and motion; else cubic.
    HSIO_RESAMPLE_NEAREST,
    HSIO_RESAMPLE_LINEAR,
    HSIO_RESAMPLE_CUBIC, ///< Catmull-Rom up, box down.
};

/** True if `name` fits a glob with any number of `*`, ASCII case ignored. */
bool hsio_match_glob(const char *glob, const char *name);

/** Channels of the source file that are carried over. */
struct hsio_passthrough {
    const char *pattern; ///< `part/name` with `*`, e.g. "*.CryptoObject*", "*".
    enum hsio_resample filter;
    float multiply; ///< Factor for the values (pixel motion grows with the picture); 0: 1.
};

/** Whether the pattern of such a rule fits a channel of the frame's picture; only EXR has any.
 * Thread: one at a time per frame. Since: 2. */
bool hsio_frame_fits(struct hsio_frame *frame, const char *pattern);

/** One plane of an output file. */
struct hsio_write_plane {
    enum hsio_plane plane;
    enum hsio_format format; ///< Of `data`; not NATIVE.
    const void *data;
    size_t row_bytes;     ///< 0: packed.
    const char *channels; ///< EXR names, comma-separated; NULL: as in the source, else plain ones.
    bool store_float;     ///< 32-bit in an EXR; false: `store_float` of the options decides.
};

struct hsio_attribute {
    const char *name, *value;
};

/** Zero is the default everywhere. */
struct hsio_write_options {
    bool store_float;      ///< EXR: 32-bit instead of half for all planes.
    int png_bits;          ///< 8 (also 0) or 16.
    enum hsio_curve curve; ///< PNG only.
    bool png_alpha;        ///< PNG: write the alpha channel.
    /** Frame that the output stands for: gives windows, attributes and names. May be NULL. */
    struct hsio_frame *source;
    const struct hsio_passthrough *passthrough; ///< First entry that matches a channel decides.
    int passthrough_count;
    const struct hsio_attribute *attributes; ///< Strings to add to an EXR or PNG.
    int attribute_count;
};

/**
 * Writes `path` as EXR (.exr), PNG (.png; colour only) or raw (any of the format names, e.g.
 * .rgba16f; one plane).
 *
 * The file appears complete or not at all: it is written beside its place, flushed to disk, and
 * renamed. Halves are cut to +-65504; NaN stays.
 * With a source, display and data window are the source's, scaled: pixels outside of the data
 * window are dropped.
 * Shape: every plane is width * height.
 * Thread: safe for different paths and sources.
 * Errors: HS_ERR_INVALID: no plane, unknown extension, sizes or formats that do not fit;
 * HS_ERR_IO: writing failed; HS_ERR_NOMEM; those of reading for carried-over channels.
 * Since: 1.
 */
int hsio_write(const char *path, int width, int height, const struct hsio_write_plane *planes,
               int count, const struct hsio_write_options *options, const struct hs_log *log);

/**
 * Writes `path` with these bytes, which appear complete or not at all, as hsio_write()'s do.
 *
 * Thread: safe for different paths.
 * Errors: HS_ERR_IO: writing failed; HS_ERR_NOMEM.
 * Since: 1.
 */
int hsio_write_text(const char *path, const char *text, size_t bytes, const struct hs_log *log);

/**
 * Tells whether `name` is a file that hsio_write() of a killed process left: gives the length of
 * the name that it was to get, which `name` begins with; 0: it is no such file, or the process
 * that writes it lives on this machine. Files of this process count as left: ask before writing.
 *
 * Thread: safe.
 * Since: 1.
 */
size_t hsio_leftover_length(const char *name);

#ifdef __cplusplus
}
#endif
#endif
