// SPDX-License-Identifier: MIT
/** What the tests of the sequence library share: a scratch folder, a log, and an EXR maker. */
#ifndef HS_IO_TEST_H
#define HS_IO_TEST_H

#include "hsio.h"
#include "test.h"

#include <openexr.h>

/** The scratch folder, emptied at the end of the program. */
const char *io_folder(void);
/** A path in the scratch folder; valid for the next 15 calls. */
const char *io_path(const char *format, ...);
/** Writes a file; fails the test if it can't. */
void io_store(const char *path, const void *data, size_t bytes);
/** Reads a file; the caller frees it. */
uint8_t *io_load(const char *path, size_t *bytes);
/** Number of entries in a folder whose names contain `part`. */
int io_count(const char *folder, const char *part);

/** Log that keeps the last message of each level and counts errors. */
extern struct hs_log io_log;
extern char io_last[HS_LOG_TRACE + 1][4096];
extern int io_errors;
/** Forgets all messages. */
void io_log_clear(void);

struct io_channel {
    const char *name;
    exr_pixel_type_t type;
    int x_sampling, y_sampling; ///< 0: 1.
};

struct io_part {
    const char *name, *view; ///< NULL: none.
    int data[4], display[4]; ///< min x, min y, max x, max y; all 0 display: as data.
    exr_compression_t compression;
    int tile; ///< Tile side; 0: scanlines.
    bool mips;
    const struct io_channel *channels;
    int channel_count;
    /** Adds attributes; may be NULL. */
    void (*attributes)(exr_context_t context, int part);
};

/** The value at a pixel, for channel `channel` in the maker's order. NULL: io_pixel(). */
typedef float io_value(int part, int channel, int x, int y);
/** A smooth, channel-dependent value that half holds exactly. */
float io_pixel(int part, int channel, int x, int y);
/** Writes an EXR with the C core. */
void io_make_exr(const char *path, const struct io_part *parts, int count, io_value *value);
/** One RGBA half part of width x height. */
void io_make_rgba(const char *path, int width, int height, io_value *value);

/** Opens a location with a preset and options and requires success. */
struct hsio_sequence *io_open(const char *location, const char *preset,
                              const struct hsio_options *options);
/** Opens and returns the code. */
int io_try(const char *location, const char *preset, const struct hsio_options *options);
/** Reads a plane of frame `index` as float; the caller frees it. */
float *io_read(struct hsio_sequence *seq, int index, enum hsio_plane plane,
               struct hsio_plane_stats *stats);
/** Opens a location, tries to read everything, returns the first error. */
int io_consume(const char *location, const char *preset);

#endif
