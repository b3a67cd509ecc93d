// SPDX-License-Identifier: MIT
/** The planes of a sequence on their way into raw files and named pipes. */
#ifndef HINDSIGHT_TOOLS_PLANES_H
#define HINDSIGHT_TOOLS_PLANES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "hsio.h"

#define PLANES_PATH_BYTES 2048
#define PLANES_KIND_COUNT 9
/** From here on guides, which have to be asked for. */
#define PLANES_KIND_GUIDES 4

/** What a plane is called and how it is written: planes of floats, as FFmpeg has them. */
extern const struct planes_kind {
    enum hsio_plane plane;
    const char *name, *file, *format;
    enum hsio_format read;
    int channels[4]; ///< Written in this order; -1: zeros.
    int count;
} planes_kinds[PLANES_KIND_COUNT];

/** One plane on its way out, in a thread of its own: readers of pipes come in any order. */
struct planes_writer {
    const struct hsio_sequence *seq;
    atomic_bool *stop; ///< Another plane has failed.
    int kind, frames, width, height;
    bool pipe, wanted, present, made, started;
    bool canonical; ///< Motion is made whole, in one form.
    bool half;      ///< Colour of half floats goes as it is: interleaved.
    char path[PLANES_PATH_BYTES];
    pthread_t thread;
    int err;
};

/**
 * Keeps other runs out of the folder until `*lock`, negative so far, is closed; it stays negative
 * where there is no folder yet. Errors: HS_ERR_INVALID, after a message.
 */
int planes_lock(const char *folder, int *lock);
/** Says what errno means for this file. Returns HS_ERR_IO. */
int planes_io_error(const char *path);
void planes_path(char path[PLANES_PATH_BYTES], const char *folder, const char *name);
/** Removes what a killed run left; fails if `pipe` and a file has the name of one of the first
 * `kinds`. */
int planes_clear(const char *folder, bool pipe, int kinds);
/** Opens a frame, its motion as the writers hand it out. Errors: those of hsio. */
int planes_open_frame(const struct hsio_sequence *seq, int index, bool canonical,
                      struct hsio_frame **frame);
/** Whether the frame's plane is as the first frame's. Errors: HS_ERR_INVALID, after a message. */
int planes_check_frame(const struct planes_writer *w, const struct hsio_frame_info *info);
/** Refuses to write what is read: a file, a frame's files, either may be NULL. Errors: as above. */
int planes_check_overwrite(const char *folder, int kinds, const char *file,
                           const struct hsio_frame_info *info);
/** Removes an earlier run's files; makes the pipes. */
int planes_create(const char *folder, struct planes_writer writers[PLANES_KIND_COUNT]);
/** Returns when all planes are written, one of them has failed, or a signal has come. */
int planes_write(const struct hsio_sequence *seq, struct planes_writer writers[PLANES_KIND_COUNT]);
/** Removes our pipes; when something failed, also what is not whole and the texts. */
void planes_finish(const char *folder, struct planes_writer writers[PLANES_KIND_COUNT],
                   bool failed);

#endif
