// SPDX-License-Identifier: MIT
/** What the files of the sequence library share; not installed. */
#ifndef HSIO_INTERNAL_H
#define HSIO_INTERNAL_H

#include "hsio.h"

/** Largest width or height that is accepted. */
#define HSIO_MAX_SIDE 65536
/** Most pixels that an image may have. */
#define HSIO_MAX_PIXELS ((int64_t)1 << 31)
/** Most frames of a sequence. */
#define HSIO_MAX_FRAMES 10000000

#if defined(__GNUC__)
#define HSIO_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define HSIO_PRINTF(format_index, first)
#endif

/* log.c */

/** Formats and hands on one line. Lines may be longer than the engine's: they list channels. */
HSIO_PRINTF(3, 4)
void hsio_log(const struct hs_log *log, enum hs_log_level level, const char *format, ...);

/** Logs at error level and returns `code`. */
HSIO_PRINTF(3, 4)
int hsio_fail(const struct hs_log *log, int code, const char *format, ...);

/* text.c */

/** printf into new memory; NULL if there is none. */
HSIO_PRINTF(1, 2)
char *hsio_text_format(const char *format, ...);
/** Appends to a fixed buffer, cutting; returns the new length. */
HSIO_PRINTF(4, 5)
size_t hsio_text_append(char *text, size_t size, size_t length, const char *format, ...);
/** True if ASCII texts are equal but for case, over `length` bytes. */
bool hsio_text_same(const char *a, const char *b, size_t length);
/** Number of single edits that turn a into b; at most 99. */
int hsio_text_distance(const char *a, const char *b);
/** Reads a number whatever the locale is; the whole text must be one. "inf" and "nan" are. */
bool hsio_text_to_double(const char *text, double *value);
/** Writes the shortest text that reads back as the same float, whatever the locale is. */
void hsio_text_from_float(char *text, size_t size, float value);
/** Folder part of a path with its slash, or "", in new memory. */
char *hsio_path_folder(const char *path);
/** `name` if absolute, else folder + name, in new memory. */
char *hsio_path_join(const char *folder, const char *name);
/** True if `path` ends in the extension (with dot), ASCII case ignored. */
bool hsio_path_has_extension(const char *path, const char *extension);

/** Size of a regular file, else HS_ERR_IO and a log line: to open a pipe could take forever. */
int hsio_path_size(const char *path, const struct hs_log *log, uint64_t *bytes);

/* convention.c */

/** Message-returning form of hsio_convention_set(); `error` receives text on failure. */
int hsio_convention_assign(struct hsio_convention *conv, const char *key, const char *value,
                           char *error, size_t error_size);
/** Copies the fields whose bits are in src->set_keys. */
void hsio_convention_overlay(struct hsio_convention *dst, const struct hsio_convention *src);

/* match.c */

/** One channel that a pattern may pick. */
struct hsio_candidate {
    int part, channel;
    const char *part_name; ///< "" if none.
    const char *view;      ///< "" if none.
    const char *name;
};

/** The channels of a plane, in the order of the pattern. */
struct hsio_match {
    int part;
    int channels[4]; ///< Index in the part's list; -1: absent.
    int count;       ///< Entries of the alternative, absent ones included.
    int rivals;      ///< Other layers or parts that would fit, too.
    char rival[128]; ///< Name of the first of them.
};

/** Finds the first alternative of `patterns` that the candidates satisfy. */
bool hsio_match_find(const char *patterns, const char *layer, const struct hsio_candidate *list,
                     int count, struct hsio_match *out);

/* pixels.c */

enum hsio_type {
    HSIO_TYPE_HALF,
    HSIO_TYPE_FLOAT,
    HSIO_TYPE_UINT,
};

/** One channel of a row in memory. */
struct hsio_lane {
    const uint8_t *data; ///< NULL: the channel is absent and reads as 1.
    size_t stride_bytes;
    enum hsio_type type;
};

/** Bytes of a sample. */
size_t hsio_type_bytes(enum hsio_type type);
/** Interleaves lanes into `dst` and updates `stats`; uint is only kept by uint output. */
void hsio_pixels_emit(uint8_t *dst, enum hsio_type type, int channels, int width,
                      const struct hsio_lane *lanes, struct hsio_plane_stats *stats);
/** Fills pixels with one value per channel. */
void hsio_pixels_fill(uint8_t *dst, enum hsio_type type, int channels, int64_t count, float value);
/** Neutral start and end of stats. */
void hsio_stats_begin(struct hsio_plane_stats *stats);
void hsio_stats_end(struct hsio_plane_stats *stats);
/** Format of a type and a channel count of 1, 2 or 4. */
enum hsio_format hsio_format_of(enum hsio_type type, int channels);
/** HSIO_TYPE_HALF or HSIO_TYPE_FLOAT. */
enum hsio_type hsio_format_type(enum hsio_format format);

/* output.c */

/** A file being written beside its final place. */
struct hsio_output {
    int fd;
    char *path, *temp;
    uint64_t bytes;
    int saved_errno; ///< First failure of a write; 0: none.
};

int hsio_output_open(struct hsio_output *out, const char *path, const struct hs_log *log);
/** Writes at the end; false and saved_errno on failure. */
bool hsio_output_write(struct hsio_output *out, const void *data, size_t bytes);
/** Writes anywhere. */
bool hsio_output_write_at(struct hsio_output *out, const void *data, size_t bytes, uint64_t offset);
/** Flushes and renames. On failure the temporary file is gone, too. */
int hsio_output_commit(struct hsio_output *out, const struct hs_log *log);
/** Removes the temporary file; fine after commit. */
void hsio_output_abort(struct hsio_output *out);

/* exr.c */

struct hsio_exr;

/** What the reader needs of a part. */
struct hsio_exr_part {
    const char *name, *view; ///< "" if none.
    struct hsio_box display, data;
    bool tiled, deep;
    int channel_count;
};

/** One plane to decode. */
struct hsio_exr_target {
    int part;
    int channels[4]; ///< Indices in the part; -1: reads 1.
    bool chroma;     ///< Channels are Y, RY, BY(, A).
    int out_channels;
    enum hsio_type type;
    struct hsio_box canvas;
    float fill; ///< Pixels of the canvas outside of the data window.
    uint8_t *dst;
    struct hsio_plane_stats *stats; ///< May be NULL.
    const char *what;               ///< For messages, e.g. "depth".
};

int hsio_exr_open(const char *path, const struct hs_log *log, struct hsio_exr **out);
void hsio_exr_close(struct hsio_exr **exr);
int hsio_exr_part_count(const struct hsio_exr *exr);
const struct hsio_exr_part *hsio_exr_part(const struct hsio_exr *exr, int part);
const char *hsio_exr_channel_name(const struct hsio_exr *exr, int part, int channel);
enum hsio_type hsio_exr_channel_type(const struct hsio_exr *exr, int part, int channel);
void hsio_exr_channel_sampling(const struct hsio_exr *exr, int part, int channel, int *x, int *y);
/** All channels of all flat parts; lives as long as the file. */
const struct hsio_candidate *hsio_exr_candidates(const struct hsio_exr *exr, int *count);
/** Lists layers and channels for messages. */
void hsio_exr_list(const struct hsio_exr *exr, char *text, size_t size);
/** The handle of the C core, and the last message that it gave. */
void *hsio_exr_context(const struct hsio_exr *exr);
const char *hsio_exr_message(const struct hsio_exr *exr);
const char *hsio_exr_path(const struct hsio_exr *exr);
uint64_t hsio_exr_bytes(const struct hsio_exr *exr);
/** HS_ERR_* for a result of the C core. */
int hsio_exr_code(int result);

/* exr_read.c */

int hsio_exr_read(struct hsio_exr *exr, const struct hsio_exr_target *targets, int count,
                  const struct hs_log *log);

/* exr_layout.c */

/** Windows of an output file. */
struct hsio_exr_windows {
    struct hsio_box display, data;
    int offset_x, offset_y; ///< First pixel of the data window within the planes.
};

/** Scales the windows of a source (may be NULL) to planes of width x height. */
void hsio_exr_place(struct hsio_frame *source, int width, int height, struct hsio_exr_windows *w);
/** Names that a plane gets without a source, comma-separated. */
const char *hsio_exr_default_names(enum hsio_plane plane);
/** Splits "a,b,c"; the count, or 0 if a name is empty, too long or there are more than 4. */
int hsio_exr_split_names(const char *list, char names[4][256]);

/* exr_write.c */

int hsio_exr_write(const char *path, int width, int height, const struct hsio_write_plane *planes,
                   int count, const struct hsio_write_options *options, const struct hs_log *log);

/* exr_attr.c */

/** Camera matrices of a part's attributes in the form of struct hsio_frame_info. */
void hsio_exr_camera(const struct hsio_exr *exr, int part, struct hsio_frame_info *info);

/** Luminance of R, G and B at full strength from primaries and white (x, y pairs). */
void hsio_luminance_weights(const float chromaticities[8], float out[3]);
/** Copies the attributes that don't describe the layout. Contexts are those of the C core. */
int hsio_exr_copy_attributes(void *dst, int dst_part, void *src, int src_part);
/** Value of an attribute (exr_attribute_t) as text. */
void hsio_exr_attribute_text(const void *attribute, char *text, size_t size);

/* describe.c */

int hsio_raw_describe(const char *path, uint64_t bytes, enum hsio_format format, int width,
                      int height, struct hsio_file_desc **out);

/* resample.c */

struct hsio_resampler;

/**
 * Scales one channel row by row; `src` is width * height values of `type` and must stay. `jitter`:
 * place of the samples minus the pixels' centres.
 */
int hsio_resampler_create(struct hsio_resampler **out, const void *src, enum hsio_type type,
                          int width, int height, int out_width, int out_height,
                          const float jitter[2], enum hsio_resample filter, float multiply);
/** Writes one output row in the channel's type. */
void hsio_resampler_row(struct hsio_resampler *r, int y, void *dst);
void hsio_resampler_destroy(struct hsio_resampler **r);
/** What AUTO means for a channel. */
enum hsio_resample hsio_resample_choose(const char *channel, enum hsio_type type);

/* png.c */

struct hsio_png_info {
    int width, height, bits, channels; ///< Channels after expansion: 1 to 4.
    uint64_t bytes;
};

int hsio_png_probe(const char *path, const struct hs_log *log, struct hsio_png_info *out);
int hsio_png_read(const char *path, enum hsio_transfer transfer, enum hsio_type type, int channels,
                  int width, int height, uint8_t *dst, struct hsio_plane_stats *stats,
                  const struct hs_log *log);
int hsio_png_write(const char *path, int width, int height, const struct hsio_write_plane *plane,
                   const struct hsio_write_options *options, const struct hs_log *log);

/* flo.c */

struct hsio_flo_info {
    int width, height, channels;
    uint64_t bytes;
};

/** Whether the name is one of a .flo or .dpt file. */
bool hsio_flo_is(const char *path);
int hsio_flo_probe(const char *path, const struct hs_log *log, struct hsio_flo_info *out);
/** Unknown vectors become NaN. */
int hsio_flo_read(const char *path, enum hsio_type type, int width, int height, int channels,
                  uint8_t *dst, struct hsio_plane_stats *stats, const struct hs_log *log);

/* raw.c */

/** Format of a raw file from its extension or else its size; -1 if neither says. */
int hsio_raw_format(const char *path, uint64_t bytes, enum hsio_plane plane, int width, int height);
int hsio_raw_read(const char *path, enum hsio_plane plane, enum hsio_format stored,
                  enum hsio_format wanted, int width, int height, uint8_t *dst,
                  struct hsio_plane_stats *stats, const struct hs_log *log);
int hsio_raw_write(const char *path, int width, int height, const struct hsio_write_plane *plane,
                   const struct hs_log *log);

/* description.c */

/** One frame of a JSON description. */
struct hsio_entry {
    int64_t number;
    bool has_jitter, has_view, has_proj, has_near, has_far, has_exposure, has_sharpness, reset;
    float jitter[2]; ///< As stored.
    float view[16], proj[16];
    float near, far, exposure, sharpness;
    int width, height; ///< Render size; 0: not told.
    struct hsio_entry_plane {
        char *path; ///< NULL: not listed.
        int format; ///< enum hsio_format, 0: not told.
        int width, height;
    } planes[HSIO_PLANE_COUNT];
    struct hsio_convention *convention; ///< NULL: the sequence's.
};

/** A JSON description: camera data, and maybe files. */
struct hsio_description {
    char *path;
    int output_width, output_height;
    char *pattern; ///< "pattern" key, joined to the folder; NULL: not told.
    bool lists_files;
    bool no_jitter; ///< `"jitter": "none"`.
    struct hsio_convention convention;
    int count;
    struct hsio_entry *entries; ///< In file order if it lists files, else sorted by number.
};

int hsio_description_load(const char *path, const struct hsio_convention *conv,
                          const struct hs_log *log, struct hsio_description **out);
void hsio_description_free(struct hsio_description **desc);
/** Entry of a frame number, or NULL. */
const struct hsio_entry *hsio_description_find(const struct hsio_description *desc, int64_t number);

/* scan.c */

/** A file of a sequence. */
struct hsio_file {
    int64_t number;
    char *path; ///< NULL: missing.
};

struct hsio_file_list {
    int count;
    struct hsio_file *files; ///< Sorted by number.
};

/** Lists the files that fit a pattern. No file is no error. */
int hsio_scan_pattern(const struct hsio_pattern *pattern, const struct hs_log *log,
                      struct hsio_file_list *out);
/** Finds the sequence in a folder; `desc` (may be NULL) helps to choose among several. */
int hsio_scan_folder(const char *folder, const struct hsio_description *desc,
                     const struct hs_log *log, struct hsio_pattern *out);
/** Splits a name at its last number; false if it has none. */
bool hsio_scan_split(const char *path, struct hsio_pattern *out, int64_t *number);
void hsio_file_list_free(struct hsio_file_list *list);

/* sequence.c */

/** One frame in order. */
struct hsio_slot {
    int64_t number;
    char *path;                     ///< Main file; NULL if a description lists the planes.
    const struct hsio_entry *entry; ///< NULL: nothing known.
    bool held, reset;
};

struct hsio_sequence {
    struct hs_log log;
    struct hsio_convention convention;            ///< Resolved.
    struct hsio_convention user;                  ///< As given; its set keys win over a frame's.
    struct hsio_options options;                  ///< `planes` are not kept.
    struct hsio_pattern planes[HSIO_PLANE_COUNT]; ///< Separate files, if `has_plane`.
    bool has_plane[HSIO_PLANE_COUNT];
    struct hsio_description *description; ///< NULL: none.
    char *location;
    const char *kind;
    int count, missing;
    struct hsio_slot *slots;
    int width, height; ///< First frame.
    bool present[HSIO_PLANE_COUNT];
};

/** Says that memory is out. Returns HS_ERR_NOMEM. */
int hsio_sequence_no_memory(const struct hsio_sequence *s);

/* sintel.c */

/** Looks for motion and depth where Sintel has them, unless they are given. */
void hsio_sintel_find(struct hsio_sequence *s);

/* slots.c */

/** Adds a frame behind the last one; there is room for it. */
int hsio_slots_add(struct hsio_sequence *s, int64_t number, const char *path, bool held,
                   int64_t step);
/** Lists the frames of the wanted range, from the files that are there. */
int hsio_slots_build(struct hsio_sequence *s, const struct hsio_file_list *list,
                     const struct hsio_pattern *pattern);

/** Whether a pattern `part/name` fits a channel. */
bool hsio_passthrough_fits(const char *pattern, const struct hsio_candidate *c);

/* frame.c */

/** The open file that colour (or the first plane) comes from, if it is an EXR; else NULL. */
struct hsio_exr *hsio_frame_exr(struct hsio_frame *frame, int *part);
/** Canvas of the main file's planes in its pixel coordinates. */
struct hsio_box hsio_frame_canvas(const struct hsio_frame *frame);
bool hsio_frame_uses_data_window(const struct hsio_frame *frame);

#endif
