// SPDX-License-Identifier: MIT
// hindsight planes: the planes of a sequence as raw video, for programs that cannot read our files.
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hsio.h"
#include "options.h"
#include "report.h"
#include "tool.h"

#define MAX_SETTINGS 32
#define PATH_BYTES 2048

enum {
    OPT_OUTPUT,
    OPT_PIPE,
    OPT_RATE,
    OPT_CONVENTION,
    OPT_SET,
    OPT_LAYER,
    OPT_PLANE,
    OPT_FRAMES_JSON,
    OPT_QUIET,
};

static const struct tool_option options[] = {
    {"output", 'o', "DIR",
     "Folder for colour.raw, depth.raw, motion.raw and reactive.raw, as far as the sequence has "
     "them, frames.txt with the values of each frame, and inputs.txt with sizes and formats. "
     "Required."},
    {"pipe", 0, NULL,
     "Makes the planes named pipes, and ends when all of them have been read. inputs.txt appears "
     "when they are there."},
    {"rate", 'r', "N", "Frames per second, for the times in frames.txt. Default 24."},
    {"convention", 'c', "NAME", "auto or a preset. Default auto."},
    {"set", 0, "KEY=VALUE", "Changes one key of the convention."},
    {"layer", 'l', "NAME", "Layer, view or part of the files to use."},
    {"plane", 0, "NAME=PATTERN", "Takes a plane from files of its own."},
    {"frames-json", 0, "FILE", "Takes jitter and cameras from this file."},
    {"quiet", 'q', NULL, "Prints warnings and errors only."},
    {0},
};

struct planes {
    const char *output, *convention, *layer;
    const char *settings[MAX_SETTINGS];
    int setting_count;
    struct hsio_options sequence;
    double rate;
    bool pipe, quiet;
};

/** What a plane is called and how it is written: planes of floats, as FFmpeg has them. */
static const struct {
    enum hsio_plane plane;
    const char *name, *format;
    enum hsio_format read;
    int channels[4]; ///< Written in this order; -1: zeros.
    int count;
} kinds[] = {
    {HSIO_PLANE_COLOR, "colour", "gbrapf32le", HSIO_FORMAT_RGBA32F, {1, 2, 0, 3}, 4},
    {HSIO_PLANE_DEPTH, "depth", "grayf32le", HSIO_FORMAT_R32F, {0}, 1},
    {HSIO_PLANE_MOTION, "motion", "gbrpf32le", HSIO_FORMAT_RG32F, {1, -1, 0}, 3},
    {HSIO_PLANE_REACTIVE, "reactive", "grayf32le", HSIO_FORMAT_R32F, {0}, 1},
};
#define KIND_COUNT ((int)(sizeof(kinds) / sizeof(kinds[0])))

/** One plane on its way out, in a thread of its own: readers of pipes come in any order. */
struct writer {
    const struct hsio_sequence *seq;
    int kind, frames, width, height;
    bool present, started;
    bool half; ///< Colour of half floats goes as it is: interleaved.
    char path[PATH_BYTES];
    pthread_t thread;
    int err;
};

static int take_plane(struct planes *p, const char *value)
{
    const char *equal = strchr(value, '=');
    char name[32];
    int plane;

    snprintf(name, sizeof(name), "%.*s", equal ? (int)(equal - value) : 0, value);
    plane = hsio_plane_from_name(name);
    if (plane < 0) {
        tool_error("--plane takes NAME=PATTERN, for example depth=z.####.exr, not \"%s\"", value);
        return HS_ERR_INVALID;
    }
    p->sequence.planes[plane] = equal + 1;
    return 0;
}

static int take(void *priv, int row, const char *value)
{
    struct planes *p = priv;

    switch (row) {
    case OPT_OUTPUT:
        p->output = value;
        return 0;
    case OPT_PIPE:
        p->pipe = true;
        return 0;
    case OPT_RATE:
        return tool_parse_float("rate", value, 0.001, 1000, &p->rate);
    case OPT_CONVENTION:
        p->convention = value;
        return 0;
    case OPT_SET:
        if (p->setting_count >= MAX_SETTINGS) {
            tool_error("--set: too many");
            return HS_ERR_INVALID;
        }
        p->settings[p->setting_count++] = value;
        return 0;
    case OPT_LAYER:
        p->layer = value;
        return 0;
    case OPT_PLANE:
        return take_plane(p, value);
    case OPT_FRAMES_JSON:
        p->sequence.sidecar = value;
        return 0;
    case OPT_QUIET:
        p->quiet = true;
        return 0;
    default:
        return HS_ERR_INTERNAL;
    }
}

static int io_error(const char *path)
{
    tool_error("%s: %s", path, strerror(errno));
    return HS_ERR_IO;
}

/** Pixels in the order of `kinds`, one float plane after the other. */
static void split(const float *pixels, int kind, size_t count, float *to)
{
    const int stored = hsio_format_channels(kinds[kind].read);

    for (int c = 0; c < kinds[kind].count; c++, to += count) {
        const int from = kinds[kind].channels[c];

        for (size_t i = 0; i < count; i++)
            to[i] = from < 0 ? 0 : pixels[i * (size_t)stored + (size_t)from];
    }
}

static int read_plane(const struct writer *w, int index, float *pixels, size_t bytes)
{
    const struct hsio_plane_info *plane;
    struct hsio_frame *frame = NULL;
    int err = hsio_frame_open(w->seq, index, &frame);

    if (err < 0)
        return err;
    plane = &hsio_frame_info(frame)->planes[kinds[w->kind].plane];
    if (plane->present && (plane->width != w->width || plane->height != w->height)) {
        tool_error("frame %" PRId64 ", %s: %dx%d where the first frame has %dx%d; raw video can "
                   "not change its size",
                   hsio_frame_info(frame)->number, kinds[w->kind].name, plane->width, plane->height,
                   w->width, w->height);
        err = HS_ERR_INVALID;
    }
    if (!err)
        err = hsio_frame_read(frame,
                              &(struct hsio_plane_request){.plane = kinds[w->kind].plane,
                                                           .format = w->half ? HSIO_FORMAT_RGBA16F
                                                                             : kinds[w->kind].read,
                                                           .buffer = pixels,
                                                           .buffer_bytes = bytes},
                              1);
    hsio_frame_close(&frame);
    return err;
}

static int write_plane(const struct writer *w, FILE *file)
{
    const size_t count = (size_t)w->width * (size_t)w->height;
    const size_t read_bytes =
        count * hsio_format_bytes(w->half ? HSIO_FORMAT_RGBA16F : kinds[w->kind].read);
    const size_t bytes =
        w->half ? read_bytes : count * (size_t)kinds[w->kind].count * sizeof(float);
    float *pixels = malloc(read_bytes);
    float *planar = malloc(bytes);
    int err = pixels && planar ? 0 : HS_ERR_NOMEM;

    for (int i = 0; !err && i < w->frames; i++) {
        err = read_plane(w, i, pixels, read_bytes);
        if (err < 0)
            break;
        if (!w->half)
            split(pixels, w->kind, count, planar);
        if (fwrite(w->half ? pixels : planar, 1, bytes, file) != bytes)
            err = io_error(w->path);
    }
    free(pixels);
    free(planar);
    return err;
}

static void *run_writer(void *priv)
{
    struct writer *w = priv;
    FILE *file = fopen(w->path, "wb");

    if (!file) {
        w->err = io_error(w->path);
        return NULL;
    }
    w->err = write_plane(w, file);
    if (fclose(file) != 0 && !w->err)
        w->err = io_error(w->path);
    return NULL;
}

static void print_numbers(FILE *file, const char *key, const float *numbers, int count)
{
    fprintf(file, ";%s=", key);
    for (int i = 0; i < count; i++)
        fprintf(file, "%s%.9g", i ? " " : "", (double)numbers[i]);
}

/** One line, in the form that the filter's option `frames` reads. */
static int print_frame(FILE *file, struct hsio_frame *frame, double time)
{
    const struct hsio_frame_info *info = hsio_frame_info(frame);
    const struct hsio_plane_info *plane = &info->planes[HSIO_PLANE_EXPOSURE];
    float exposure = info->has_exposure ? info->exposure : 0;
    int err = 0;

    if (plane->present && plane->width == 1 && plane->height == 1)
        err = hsio_frame_read(frame,
                              &(struct hsio_plane_request){.plane = HSIO_PLANE_EXPOSURE,
                                                           .format = HSIO_FORMAT_R32F,
                                                           .buffer = &exposure,
                                                           .buffer_bytes = sizeof(exposure)},
                              1);
    fprintf(file, "time=%.9f;number=%" PRId64, time, info->number);
    if (info->reset)
        fprintf(file, ";reset=1");
    if (info->held)
        fprintf(file, ";held=1");
    if (info->has_jitter)
        print_numbers(file, "jitter", info->jitter_px, 2);
    if (exposure > 0)
        print_numbers(file, "exposure", &exposure, 1);
    if (info->sharpness > 0)
        print_numbers(file, "sharpness", &info->sharpness, 1);
    if (info->has_clip)
        print_numbers(file, "clip", (const float[]){info->near, info->far}, 2);
    if (info->has_view)
        print_numbers(file, "view", info->view, 16);
    if (info->has_proj)
        print_numbers(file, "proj", info->proj, 16);
    fputc('\n', file);
    return err;
}

static int write_values(const struct planes *p, const struct hsio_sequence *seq, int count)
{
    char path[PATH_BYTES];
    FILE *file;
    int err = 0;

    snprintf(path, sizeof(path), "%s/frames.txt", p->output);
    file = fopen(path, "w");
    if (!file)
        return io_error(path);
    for (int i = 0; !err && i < count; i++) {
        struct hsio_frame *frame = NULL;

        err = hsio_frame_open(seq, i, &frame);
        if (!err)
            err = print_frame(file, frame, i / p->rate);
        hsio_frame_close(&frame);
    }
    if (fclose(file) != 0 && !err)
        err = io_error(path);
    return err;
}

/** The convention as a preset and what differs from it, for the filter's options. */
static int print_convention(FILE *file, const struct hsio_convention *conv)
{
    const char *preset = strcmp(conv->preset, "auto") ? conv->preset : "raw";
    struct hsio_convention plain;
    const char *comma = "";
    int err = hsio_convention_preset(&plain, preset, tool_log());

    if (err < 0)
        return err;
    fprintf(file, "convention %s\nconvention_changes ", preset);
    for (int i = 0; i < hsio_convention_key_count(); i++) {
        const char *key = hsio_convention_key(i);
        char is[HSIO_PATTERN_BYTES], was[HSIO_PATTERN_BYTES];

        if (strncmp(key, "motion.", 7) != 0 && strncmp(key, "depth.", 6) != 0 &&
            strncmp(key, "color.", 6) != 0)
            continue;
        if (hsio_convention_get(conv, key, is, sizeof(is)) < 0 ||
            hsio_convention_get(&plain, key, was, sizeof(was)) < 0 || !strcmp(is, was))
            continue;
        fprintf(file, "%s%s=%s", comma, key, is);
        comma = ",";
    }
    fputc('\n', file);
    return 0;
}

/** Written last, and all at once: who waits for it finds everything else there. */
static int write_inputs(const struct planes *p, const struct hsio_convention *conv,
                        const struct writer writers[KIND_COUNT])
{
    char path[PATH_BYTES], partial[PATH_BYTES];
    FILE *file;
    int err;

    snprintf(path, sizeof(path), "%s/inputs.txt", p->output);
    snprintf(partial, sizeof(partial), "%s/inputs.partial", p->output);
    file = fopen(partial, "w");
    if (!file)
        return io_error(partial);
    for (int i = 0; i < KIND_COUNT; i++) {
        if (writers[i].present)
            fprintf(file, "%s %s %dx%d %.9g\n", kinds[i].name,
                    writers[i].half ? "rgbaf16le" : kinds[i].format, writers[i].width,
                    writers[i].height, p->rate);
    }
    err = print_convention(file, conv);
    if (fclose(file) != 0 || (!err && rename(partial, path) != 0))
        err = io_error(path);
    return err;
}

static int prepare(const struct planes *p, struct hsio_sequence *seq, int frames,
                   struct writer writers[KIND_COUNT])
{
    const struct hsio_frame_info *info;
    struct hsio_frame *frame = NULL;
    int err = hsio_frame_open(seq, 0, &frame);

    if (err < 0)
        return err;
    info = hsio_frame_info(frame);
    for (int i = 0; !err && i < KIND_COUNT; i++) {
        const struct hsio_plane_info *plane = &info->planes[kinds[i].plane];
        struct writer *w = &writers[i];

        *w = (struct writer){.seq = seq,
                             .kind = i,
                             .frames = frames,
                             .width = plane->width,
                             .height = plane->height,
                             .present = plane->present,
                             .half = kinds[i].plane == HSIO_PLANE_COLOR &&
                                     plane->format == HSIO_FORMAT_RGBA16F};
        snprintf(w->path, sizeof(w->path), "%s/%s.raw", p->output, kinds[i].name);
        if (p->pipe && w->present) {
            unlink(w->path);
            if (mkfifo(w->path, 0600) < 0)
                err = io_error(w->path);
        }
    }
    if (!err)
        err = write_values(p, seq, frames);
    if (!err)
        err = write_inputs(p, info->convention, writers);
    hsio_frame_close(&frame);
    return err;
}

static int run_writers(struct writer writers[KIND_COUNT])
{
    int err = 0;

    for (int i = 0; i < KIND_COUNT; i++) {
        struct writer *w = &writers[i];

        if (w->present)
            w->started = !pthread_create(&w->thread, NULL, run_writer, w);
        if (w->present && !w->started)
            w->err = HS_ERR_NOMEM;
    }
    for (int i = 0; i < KIND_COUNT; i++) {
        if (writers[i].started)
            pthread_join(writers[i].thread, NULL);
        if (writers[i].err < 0 && !err)
            err = writers[i].err;
    }
    return err;
}

static int run(const struct planes *p, const char *input, const struct hsio_convention *conv)
{
    struct writer writers[KIND_COUNT] = {0};
    struct hsio_sequence *seq = NULL;
    struct hsio_sequence_info info;
    int err;

    if (strlen(p->output) > PATH_BYTES - 32) {
        tool_error("-o: the name is too long");
        return HS_ERR_INVALID;
    }
    err = hsio_sequence_open(input, conv, &p->sequence, tool_log(), &seq);
    if (err < 0)
        return err;
    hsio_sequence_info(seq, &info);
    if (mkdir(p->output, 0777) < 0 && errno != EEXIST)
        err = io_error(p->output);
    if (!err)
        err = prepare(p, seq, info.frame_count, writers);
    if (!err)
        err = run_writers(writers);
    if (!err)
        tool_info("%d frames of %s in %s", info.frame_count, info.location, p->output);
    hsio_sequence_close(&seq);
    return err;
}

int tool_planes(int argc, char **argv)
{
    struct planes planes = {.convention = "auto", .rate = 24};
    struct tool_usage usage = {
        .command = "planes",
        .form = "IN -o DIR [options]",
        .about = "Writes the planes of a sequence as raw video, one file or named pipe each, for "
                 "FFmpeg and others. Numbers are as stored: colour as half floats where the files "
                 "have such, everything else as planes of 32-bit floats.",
        .options = options,
        .min_arguments = 1,
        .max_arguments = 1,
        .take = take,
        .priv = &planes,
    };
    struct hsio_convention conv;
    int err = tool_options_parse(&usage, argc, argv);

    if (!err && !planes.output) {
        tool_error("-o DIR is missing");
        err = HS_ERR_INVALID;
    }
    if (!err)
        err = hsio_convention_preset(&conv, planes.convention, tool_log());
    if (!err && planes.layer)
        err = hsio_convention_set(&conv, "layer", planes.layer, tool_log());
    for (int i = 0; !err && i < planes.setting_count; i++)
        err = hsio_convention_set_text(&conv, planes.settings[i], tool_log());
    if (err)
        return err < 0 ? TOOL_EXIT_USAGE : TOOL_EXIT_DONE;
    tool_report_level(planes.quiet, false);
    // A reader that goes away is an error like any other.
    signal(SIGPIPE, SIG_IGN);
    return run(&planes, usage.arguments[0], &conv) < 0 ? TOOL_EXIT_FAILED : TOOL_EXIT_DONE;
}
