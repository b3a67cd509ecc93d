// SPDX-License-Identifier: MIT
#include "planes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hsframe.h"
#include "interrupt.h"
#include "report.h"

/** Between two looks at whether there is still a reason to wait. */
#define WAIT_MS 20

const struct planes_kind planes_kinds[PLANES_KIND_COUNT] = {
    {HSIO_PLANE_COLOR, "colour", "colour.raw", "gbrapf32le", HSIO_FORMAT_RGBA32F, {1, 2, 0, 3}, 4},
    {HSIO_PLANE_DEPTH, "depth", "depth.raw", "grayf32le", HSIO_FORMAT_R32F, {0}, 1},
    {HSIO_PLANE_MOTION, "motion", "motion.raw", "gbrpf32le", HSIO_FORMAT_RG32F, {1, -1, 0}, 3},
    {HSIO_PLANE_REACTIVE, "reactive", "reactive.raw", "grayf32le", HSIO_FORMAT_R32F, {0}, 1},
    {HSIO_PLANE_DIFFUSE_ALBEDO,
     "diffuse_albedo",
     "diffuse_albedo.raw",
     "gbrpf32le",
     HSIO_FORMAT_RGBA32F,
     {1, 2, 0},
     3},
    {HSIO_PLANE_SPECULAR_ALBEDO,
     "specular_albedo",
     "specular_albedo.raw",
     "gbrpf32le",
     HSIO_FORMAT_RGBA32F,
     {1, 2, 0},
     3},
    // Roughness may be in the fourth channel.
    {HSIO_PLANE_NORMAL, "normal", "normal.raw", "gbrapf32le", HSIO_FORMAT_RGBA32F, {1, 2, 0, 3}, 4},
    {HSIO_PLANE_ROUGHNESS, "roughness", "roughness.raw", "grayf32le", HSIO_FORMAT_R32F, {0}, 1},
    {HSIO_PLANE_HIT_DISTANCE,
     "hit_distance",
     "hit_distance.raw",
     "grayf32le",
     HSIO_FORMAT_R32F,
     {0},
     1},
};

static const char *const texts[] = {"inputs.txt", "frames.txt"};
#define TEXT_COUNT ((int)(sizeof(texts) / sizeof(texts[0])))

int planes_io_error(const char *path)
{
    tool_error("%s: %s", path, strerror(errno));
    return HS_ERR_IO;
}

void planes_path(char path[PLANES_PATH_BYTES], const char *folder, const char *name)
{
    snprintf(path, PLANES_PATH_BYTES, "%s/%s", folder, name);
}

int planes_lock(const char *folder, int *lock)
{
    if (*lock < 0)
        *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0 || flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    tool_error("%s: another run is writing there: choose another folder", folder);
    return HS_ERR_INVALID;
}

/** Whoever still waits for the pipe's other end must not wait for ever: it gets an empty file. */
static int remove_pipe(const char *path)
{
    // For both directions: never waits, and counts as a writer.
    const int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    const int err = unlink(path) < 0 && errno != ENOENT ? planes_io_error(path) : 0;

    if (fd >= 0)
        close(fd);
    return err;
}

static bool is_pipe(const char *path)
{
    struct stat st;

    return !lstat(path, &st) && S_ISFIFO(st.st_mode);
}

static int remove_texts(const char *folder)
{
    char path[PLANES_PATH_BYTES];
    int err = 0;

    for (int i = 0; i < TEXT_COUNT; i++) {
        planes_path(path, folder, texts[i]);
        if (unlink(path) < 0 && errno != ENOENT && errno != ENOTDIR)
            err = planes_io_error(path);
    }
    return err;
}

int planes_clear(const char *folder, bool pipe, int kinds)
{
    char path[PLANES_PATH_BYTES];
    bool killed = false;
    struct stat st;
    int err = 0;

    for (int i = 0; pipe && i < kinds; i++) {
        planes_path(path, folder, planes_kinds[i].file);
        if (!lstat(path, &st) && !S_ISFIFO(st.st_mode)) {
            tool_error("%s is there already, and --pipe replaces no files: remove it, or choose "
                       "another folder",
                       path);
            return HS_ERR_INVALID;
        }
    }
    for (int i = 0; !err && i < PLANES_KIND_COUNT; i++) {
        planes_path(path, folder, planes_kinds[i].file);
        if (!is_pipe(path))
            continue;
        err = remove_pipe(path);
        killed = true;
    }
    // Readers must not start from what a killed run has told.
    return !err && killed ? remove_texts(folder) : err;
}

int planes_open_frame(const struct hsio_sequence *seq, int index, bool canonical,
                      struct hsio_frame **frame)
{
    struct hsio_mended mended;
    int err = hsio_frame_open(seq, index, frame);

    if (!err && canonical)
        err = hsio_frame_canonical(*frame, &mended);
    if (err < 0)
        hsio_frame_close(frame);
    return err;
}

int planes_check_frame(const struct planes_writer *w, const struct hsio_frame_info *info)
{
    const struct hsio_plane_info *plane = &info->planes[planes_kinds[w->kind].plane];
    const char *name = planes_kinds[w->kind].name;

    if (!w->wanted)
        return 0;
    if (plane->present != w->present) {
        const bool next = planes_kinds[w->kind].plane == HSIO_PLANE_MOTION &&
                          info->convention->motion.direction == HSIO_DIRECTION_NEXT;

        tool_error("frame %" PRId64 " has %s %s, and the first frame has %s; raw video needs the "
                   "same planes in all frames%s",
                   info->number, plane->present ? "a plane" : "no plane", name,
                   plane->present ? "none" : "one",
                   next ? "; --canonical takes vectors to the next frame from the frame before"
                        : "");
        return HS_ERR_INVALID;
    }
    if (plane->present && (plane->width != w->width || plane->height != w->height)) {
        tool_error("frame %" PRId64 ", %s: %dx%d where the first frame has %dx%d; raw video can "
                   "not change its size",
                   info->number, name, plane->width, plane->height, w->width, w->height);
        return HS_ERR_INVALID;
    }
    return 0;
}

static int check_overwrite(const char *folder, const char *name, const char *file,
                           const struct hsio_frame_info *info)
{
    char path[PLANES_PATH_BYTES];

    planes_path(path, folder, name);
    if (!(file && hsframe_same_file(path, file)) && !(info && hsframe_reads(info, path)))
        return 0;
    tool_error("%s is read and would be replaced: choose another folder", path);
    return HS_ERR_INVALID;
}

int planes_check_overwrite(const char *folder, int kinds, const char *file,
                           const struct hsio_frame_info *info)
{
    int err = 0;

    for (int i = 0; !err && i < kinds; i++)
        err = check_overwrite(folder, planes_kinds[i].file, file, info);
    for (int i = 0; !err && i < TEXT_COUNT; i++)
        err = check_overwrite(folder, texts[i], file, info);
    return err;
}

int planes_create(const char *folder, struct planes_writer writers[PLANES_KIND_COUNT])
{
    const int err = remove_texts(folder);

    if (err < 0)
        return err;
    for (int i = 0; i < PLANES_KIND_COUNT; i++) {
        struct planes_writer *w = &writers[i];
        struct stat st;

        if (w->wanted && !w->pipe && !lstat(w->path, &st) && S_ISREG(st.st_mode) &&
            unlink(w->path) < 0)
            return planes_io_error(w->path);
        if (!w->present)
            continue;
        if (w->pipe && mkfifo(w->path, 0600) < 0)
            return planes_io_error(w->path);
        w->made = true;
    }
    return 0;
}

void planes_finish(const char *folder, struct planes_writer writers[PLANES_KIND_COUNT], bool failed)
{
    for (int i = 0; i < PLANES_KIND_COUNT; i++) {
        if (writers[i].made && writers[i].pipe)
            remove_pipe(writers[i].path);
        else if (writers[i].made && failed)
            unlink(writers[i].path);
    }
    if (failed)
        remove_texts(folder);
}

/** Pixels in the order of `kinds`, one float plane after the other. */
static void split(const float *pixels, int kind, size_t count, float *to)
{
    const int stored = hsio_format_channels(planes_kinds[kind].read);

    for (int c = 0; c < planes_kinds[kind].count; c++, to += count) {
        const int from = planes_kinds[kind].channels[c];

        for (size_t i = 0; i < count; i++)
            to[i] = from < 0 ? 0 : pixels[i * (size_t)stored + (size_t)from];
    }
}

static int read_plane(const struct planes_writer *w, int index, float *pixels, size_t bytes)
{
    struct hsio_frame *frame = NULL;
    const bool motion = planes_kinds[w->kind].plane == HSIO_PLANE_MOTION;
    int err;

    tool_capture_begin();
    err = planes_open_frame(w->seq, index, w->canonical && motion, &frame);
    if (!err)
        err = planes_check_frame(w, hsio_frame_info(frame));
    if (!err)
        err = hsio_frame_read(
            frame,
            &(struct hsio_plane_request){.plane = planes_kinds[w->kind].plane,
                                         .format = w->half ? HSIO_FORMAT_RGBA16F
                                                           : planes_kinds[w->kind].read,
                                         .buffer = pixels,
                                         .buffer_bytes = bytes},
            1);
    const char *why = tool_capture_end();

    // Planes of one file fail alike: the first one tells.
    if (err < 0 && *why && !atomic_exchange(w->stop, true))
        tool_error("frame %lld: %s", (long long)hsio_sequence_number(w->seq, index), why);
    hsio_frame_close(&frame);
    return err;
}

static bool stopped(const struct planes_writer *w)
{
    return atomic_load(w->stop) || tool_interrupted();
}

/** A descriptor that never blocks, or an error. A pipe can be opened when its reader is there. */
static int open_output(const struct planes_writer *w)
{
    const int flags = O_WRONLY | O_NONBLOCK | O_CLOEXEC | (w->pipe ? 0 : O_CREAT | O_TRUNC);

    while (!stopped(w)) {
        const int fd = open(w->path, flags, 0666);

        if (fd >= 0)
            return fd;
        if (errno != ENXIO && errno != EINTR)
            return planes_io_error(w->path);
        poll(NULL, 0, WAIT_MS);
    }
    return HS_ERR_IO;
}

static int write_bytes(const struct planes_writer *w, int fd, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes && !stopped(w)) {
        const ssize_t done = write(fd, at, bytes);

        if (done >= 0) {
            at += done;
            bytes -= (size_t)done;
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, WAIT_MS);
        } else if (errno != EINTR) {
            return planes_io_error(w->path);
        }
    }
    return bytes ? HS_ERR_IO : 0;
}

static int write_plane(const struct planes_writer *w, int fd)
{
    const struct planes_kind *kind = &planes_kinds[w->kind];
    const size_t count = (size_t)w->width * (size_t)w->height;
    const size_t read_bytes = count * hsio_format_bytes(w->half ? HSIO_FORMAT_RGBA16F : kind->read);
    const size_t bytes = w->half ? read_bytes : count * (size_t)kind->count * sizeof(float);
    float *pixels = malloc(read_bytes);
    float *planar = malloc(bytes);
    int err = pixels && planar ? 0 : HS_ERR_NOMEM;

    for (int i = 0; !err && i < w->frames; i++) {
        err = read_plane(w, i, pixels, read_bytes);
        if (err < 0)
            break;
        if (!w->half)
            split(pixels, w->kind, count, planar);
        err = write_bytes(w, fd, w->half ? pixels : planar, bytes);
    }
    free(pixels);
    free(planar);
    return err;
}

static void *run_writer(void *priv)
{
    struct planes_writer *w = priv;
    const int fd = open_output(w);

    w->err = fd < 0 ? fd : write_plane(w, fd);
    if (fd >= 0 && close(fd) != 0 && !w->err)
        w->err = planes_io_error(w->path);
    if (w->err < 0)
        atomic_store(w->stop, true);
    return NULL;
}

int planes_write(const struct hsio_sequence *seq, struct planes_writer writers[PLANES_KIND_COUNT])
{
    atomic_bool stop = false;
    int err = 0;

    for (int i = 0; i < PLANES_KIND_COUNT; i++) {
        struct planes_writer *w = &writers[i];

        if (!w->present)
            continue;
        w->seq = seq;
        w->stop = &stop;
        w->started = !pthread_create(&w->thread, NULL, run_writer, w);
        if (!w->started) {
            w->err = HS_ERR_NOMEM;
            atomic_store(&stop, true);
        }
    }
    for (int i = 0; i < PLANES_KIND_COUNT; i++) {
        if (writers[i].started)
            pthread_join(writers[i].thread, NULL);
        if (writers[i].err < 0 && !err)
            err = writers[i].err;
    }
    return err;
}
