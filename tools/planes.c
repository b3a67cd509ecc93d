// SPDX-License-Identifier: MIT
// hindsight planes: the planes of a sequence as raw video, for programs that cannot read our files.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hsframe.h"
#include "hsio.h"
#include "interrupt.h"
#include "lack.h"
#include "options.h"
#include "planes.h"
#include "report.h"
#include "tool.h"

enum {
    OPT_OUTPUT,
    OPT_GUIDES,
    OPT_CANONICAL,
    OPT_PIPE,
    OPT_RATE,
    OPT_CONVENTION,
    OPT_SET,
    OPT_LAYER,
    OPT_PLANE,
    OPT_FRAMES_JSON,
    OPT_NO_FRAMES_JSON,
    OPT_QUIET,
};

static const struct tool_option options[] = {
    {"output", 'o', "DIR",
     "Folder for colour.raw, depth.raw, motion.raw and reactive.raw, as far as the sequence has "
     "them, frames.txt with the values of each frame, and inputs.txt with sizes and formats. "
     "All frames must have the same planes, sizes and convention. Required."},
    {"guides", 0, NULL,
     "Also diffuse_albedo.raw, specular_albedo.raw, normal.raw, roughness.raw and "
     "hit_distance.raw, for models that read guides."},
    {"canonical", 0, NULL,
     "Motion as upscale uses it, whatever the files' convention is: in pixels to the previous "
     "frame, x right, y down, vectors to the next frame turned round, pixels without a vector "
     "following the camera that the others tell of, NaN where there is none."},
    {"pipe", 0, NULL,
     "Makes the planes named pipes, and ends when all of them have been read, or when a reader "
     "goes "
     "away. inputs.txt appears when they are there; they go at the end. Files of their names are "
     "never replaced."},
    {"rate", 'r', "N", "Frames per second, for the times in frames.txt. Default 24."},
    {"convention", 'c', "NAME", "auto or a preset. Default auto."},
    {"set", 0, "KEY=VALUE", "Changes one key of the convention."},
    {"layer", 'l', "NAME", "Layer, view or part of the files to use."},
    {"plane", 0, "NAME=PATTERN", "Takes a plane from files of its own."},
    {"frames-json", 0, "FILE", "Takes jitter and cameras from this file."},
    {"no-frames-json", 0, NULL, "Leaves a frames.json beside the frames alone."},
    {"quiet", 'q', NULL, "Prints warnings and errors only."},
    {0},
};

static const struct tool_rule rules[] = {
    {OPT_FRAMES_JSON, TOOL_EXCLUDES, OPT_NO_FRAMES_JSON},
    {0},
};

struct planes {
    const char *input, *output;
    struct tool_convention convention;
    struct hsio_options sequence;
    double rate;
    bool guides, canonical, pipe, quiet;
};

static int take(void *priv, int row, const char *value)
{
    struct planes *p = priv;

    switch (row) {
    case OPT_OUTPUT:
        p->output = value;
        return 0;
    case OPT_GUIDES:
        p->guides = true;
        return 0;
    case OPT_CANONICAL:
        p->canonical = true;
        return 0;
    case OPT_PIPE:
        p->pipe = true;
        return 0;
    case OPT_RATE:
        return tool_parse_float("rate", value, 0.001, 1000, &p->rate);
    case OPT_CONVENTION:
        p->convention.preset = value;
        return 0;
    case OPT_SET:
        return tool_convention_add(&p->convention, value);
    case OPT_LAYER:
        p->convention.layer = value;
        return 0;
    case OPT_PLANE:
        return tool_parse_plane(value, &p->sequence);
    case OPT_FRAMES_JSON:
        p->sequence.sidecar = value;
        return 0;
    case OPT_NO_FRAMES_JSON:
        p->sequence.no_sidecar = true;
        return 0;
    case OPT_QUIET:
        p->quiet = true;
        return 0;
    default:
        return HS_ERR_INTERNAL;
    }
}

static void print_numbers(FILE *file, const char *key, const float *numbers, int count)
{
    fprintf(file, ";%s=", key);
    for (int i = 0; i < count; i++)
        fprintf(file, "%s%.9g", i ? " " : "", (double)numbers[i]);
}

/** The frame's exposure as `hindsight upscale` takes it: a plane of one pixel before a number. */
static int find_exposure(struct hsio_frame *frame, float *exposure)
{
    const struct hsio_frame_info *info = hsio_frame_info(frame);
    const struct hsio_plane_info *plane = &info->planes[HSIO_PLANE_EXPOSURE];
    float value = 0;
    int err = 0;

    if (plane->present && plane->width == 1 && plane->height == 1)
        err = hsio_frame_read(frame,
                              &(struct hsio_plane_request){.plane = HSIO_PLANE_EXPOSURE,
                                                           .format = HSIO_FORMAT_R32F,
                                                           .buffer = &value,
                                                           .buffer_bytes = sizeof(value)},
                              1);
    if (err < 0)
        return err;
    if (value <= 0 && info->has_exposure)
        value = info->exposure;
    if (isinf(value)) {
        tool_error("frame %" PRId64 ": exposure: expected a finite number, found %g", info->number,
                   (double)value);
        return HS_ERR_FORMAT;
    }
    *exposure = value;
    return 0;
}

/** One line, in the form that the filter's option `frames` reads. */
static int print_frame(FILE *file, struct hsio_frame *frame, double time)
{
    const struct hsio_frame_info *info = hsio_frame_info(frame);
    float exposure = 0, clip[2];
    int err = find_exposure(frame, &exposure);

    if (err < 0)
        return err;
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
    if (info->has_clip) {
        hsframe_clip(info, clip);
        print_numbers(file, "clip", clip, 2);
    }
    if (info->has_view)
        print_numbers(file, "view", info->view, 16);
    if (info->has_proj)
        print_numbers(file, "proj", info->proj, 16);
    fputc('\n', file);
    return 0;
}

static int write_values(const struct planes *p, const struct hsio_sequence *seq, int count)
{
    char path[PLANES_PATH_BYTES];
    FILE *file;
    int err = 0;

    planes_path(path, p->output, "frames.txt");
    file = tool_output_open(path);
    if (!file)
        return HS_ERR_IO;
    for (int i = 0; !err && i < count; i++) {
        struct hsio_frame *frame = NULL;

        err = hsio_frame_open(seq, i, &frame);
        if (!err)
            err = print_frame(file, frame, i / p->rate);
        hsio_frame_close(&frame);
    }
    const int closed = tool_output_close(file, path);
    return err ? err : closed;
}

static void print_convention(FILE *file, const struct hsio_convention *conv, const char *preset,
                             const struct hsio_convention *plain)
{
    const char *comma = "";

    fprintf(file, "convention %s\nconvention_changes ", preset);
    for (int i = 0; i < hsio_convention_key_count(); i++) {
        const char *key = hsio_convention_key(i);
        char is[HSIO_PATTERN_BYTES], was[HSIO_PATTERN_BYTES];

        if (strncmp(key, "motion.", 7) != 0 && strncmp(key, "depth.", 6) != 0 &&
            strncmp(key, "color.", 6) != 0)
            continue;
        if (hsio_convention_get(conv, key, is, sizeof(is)) < 0 ||
            hsio_convention_get(plain, key, was, sizeof(was)) < 0 || !strcmp(is, was))
            continue;
        fprintf(file, "%s%s=%s", comma, key, is);
        comma = ",";
    }
    fputc('\n', file);
}

/** The convention as a preset and what differs from it, for the filter's options. */
static int make_convention_text(const struct hsio_convention *conv, char **text)
{
    const char *preset = strcmp(conv->preset, "auto") ? conv->preset : "raw";
    struct hsio_convention plain;
    size_t size;
    FILE *file;
    int err = hsio_convention_preset(&plain, preset, tool_log());

    if (err < 0)
        return err;
    *text = NULL;
    file = open_memstream(text, &size);
    if (!file)
        return HS_ERR_NOMEM;
    print_convention(file, conv, preset, &plain);
    if (fclose(file) == 0)
        return 0;
    free(*text);
    *text = NULL;
    return HS_ERR_NOMEM;
}

/** Written last, and all at once: who waits for it finds everything else there. */
static int write_inputs(const struct planes *p, const char *convention,
                        const struct planes_writer writers[PLANES_KIND_COUNT])
{
    char path[PLANES_PATH_BYTES];
    FILE *file;

    planes_path(path, p->output, "inputs.txt");
    file = tool_output_open(path);
    if (!file)
        return HS_ERR_IO;
    for (int i = 0; i < PLANES_KIND_COUNT; i++) {
        if (writers[i].present)
            fprintf(file, "%s %s %dx%d %.9g\n", planes_kinds[i].name,
                    writers[i].half ? "rgbaf16le" : planes_kinds[i].format, writers[i].width,
                    writers[i].height, p->rate);
    }
    fputs(convention, file);
    return tool_output_close(file, path);
}

static int kinds_of(const struct planes *p)
{
    return p->guides ? PLANES_KIND_COUNT : PLANES_KIND_GUIDES;
}

static void prepare(const struct planes *p, const struct hsio_frame_info *info, int frames,
                    struct planes_writer writers[PLANES_KIND_COUNT])
{
    for (int i = 0; i < PLANES_KIND_COUNT; i++) {
        const struct hsio_plane_info *plane = &info->planes[planes_kinds[i].plane];
        struct planes_writer *w = &writers[i];
        const bool wanted = i < kinds_of(p);

        *w = (struct planes_writer){.kind = i,
                                    .wanted = wanted,
                                    .frames = frames,
                                    .width = plane->width,
                                    .height = plane->height,
                                    .pipe = p->pipe,
                                    .canonical = p->canonical,
                                    .present = wanted && plane->present,
                                    .half = planes_kinds[i].plane == HSIO_PLANE_COLOR &&
                                            plane->format == HSIO_FORMAT_RGBA16F};
        planes_path(w->path, p->output, planes_kinds[i].file);
    }
}

/** One convention goes with all frames of a raw video. */
static int check_convention(const struct hsio_frame_info *info, const char *first)
{
    char *text;
    int err = make_convention_text(info->convention, &text);

    if (err < 0)
        return err;
    if (strcmp(text, first) != 0) {
        tool_error("frame %" PRId64 ": its convention is another one than the first frame's, and "
                   "raw video has one for all:\n%sfirst frame:\n%s",
                   info->number, text, first);
        err = HS_ERR_INVALID;
    }
    free(text);
    return err;
}

static int scan_frame(const struct planes *p, const struct hsio_frame_info *info,
                      const char *convention, struct planes_writer writers[PLANES_KIND_COUNT])
{
    int err = planes_check_overwrite(p->output, kinds_of(p), NULL, info);

    for (int i = 0; !err && i < PLANES_KIND_COUNT; i++) {
        err = planes_check_frame(&writers[i], info);
        writers[i].half =
            writers[i].half && info->planes[planes_kinds[i].plane].format == HSIO_FORMAT_RGBA16F;
    }
    return err ? err : check_convention(info, convention);
}

/** Frames are all alike: the first one tells what is missing. */
static int check_lack(const struct planes *p, struct hsio_frame *frame)
{
    const struct hsio_frame_info *info = hsio_frame_info(frame);
    const int err = tool_lack_check(&p->convention, frame);

    if (err < 0)
        return err;
    if (!info->planes[HSIO_PLANE_MOTION].present)
        tool_lack_tell(&p->convention, frame, HSIO_PLANE_MOTION, "no motion vectors",
                       "there will be no motion.raw");
    if (!info->planes[HSIO_PLANE_DEPTH].present)
        tool_lack_tell(&p->convention, frame, HSIO_PLANE_DEPTH, "no depth",
                       "there will be no depth.raw");
    return 0;
}

/** Looks at all frames before anything is made or removed: raw video can not change on the way. */
static int scan(const struct planes *p, const struct hsio_sequence *seq, int count,
                struct planes_writer writers[PLANES_KIND_COUNT], char **convention)
{
    int err = 0;

    for (int i = 0; !err && i < count; i++) {
        const struct hsio_frame_info *info;
        struct hsio_frame *frame = NULL;

        err = tool_interrupted() ? HS_ERR_IO : planes_open_frame(seq, i, p->canonical, &frame);
        if (err < 0)
            break;
        info = hsio_frame_info(frame);
        if (i == 0) {
            prepare(p, info, count, writers);
            err = check_lack(p, frame);
            if (!err)
                err = make_convention_text(info->convention, convention);
        }
        if (!err)
            err = scan_frame(p, info, *convention, writers);
        hsio_frame_close(&frame);
    }
    return err;
}

/** Planes, then the texts about them; for pipes the texts come first: readers start from them. */
static int write_everything(const struct planes *p, const struct hsio_sequence *seq, int frames,
                            const char *convention, struct planes_writer writers[PLANES_KIND_COUNT])
{
    int err = planes_create(p->output, writers);

    if (!err && !p->pipe)
        err = planes_write(seq, writers);
    if (!err)
        err = write_values(p, seq, frames);
    if (!err)
        err = write_inputs(p, convention, writers);
    if (!err && p->pipe)
        err = planes_write(seq, writers);
    return err;
}

static int run(const struct planes *p, const struct hsio_convention *conv)
{
    struct planes_writer writers[PLANES_KIND_COUNT] = {0};
    struct hsio_sequence *seq = NULL;
    struct hsio_sequence_info info;
    char *convention = NULL;
    int err, lock = -1;

    if (strlen(p->output) > PLANES_PATH_BYTES - 32) {
        tool_error("-o: the name is too long");
        return HS_ERR_INVALID;
    }
    err = planes_lock(p->output, &lock);
    if (!err)
        err = planes_clear(p->output, p->pipe, kinds_of(p));
    if (!err)
        err = hsio_sequence_open(p->input, conv, &p->sequence, tool_log(), &seq);
    if (!err)
        err = tool_layer_check(&p->convention, seq);
    if (err < 0)
        goto done;
    hsio_sequence_info(seq, &info);
    err = planes_check_overwrite(p->output, kinds_of(p), p->input, NULL);
    if (!err && p->sequence.sidecar)
        err = planes_check_overwrite(p->output, kinds_of(p), p->sequence.sidecar, NULL);
    if (!err)
        err = scan(p, seq, info.frame_count, writers, &convention);
    if (!err && mkdir(p->output, 0777) < 0 && errno != EEXIST)
        err = planes_io_error(p->output);
    if (!err && lock < 0)
        err = planes_lock(p->output, &lock);
    if (!err) {
        err = write_everything(p, seq, info.frame_count, convention, writers);
        planes_finish(p->output, writers, err < 0);
    }
    if (!err)
        tool_info("%d frames of %s in %s", info.frame_count, info.location, p->output);
done:
    free(convention);
    hsio_sequence_close(&seq);
    if (lock >= 0)
        close(lock);
    return err;
}

int tool_planes(int argc, char **argv)
{
    struct planes planes = {.rate = 24};
    struct tool_usage usage = {
        .command = "planes",
        .form = "IN -o DIR [options]",
        .about = "Writes the planes of a sequence as raw video, one file or named pipe each, for "
                 "FFmpeg and others. Numbers are as stored, and inputs.txt says what they mean: "
                 "colour as half floats where the files "
                 "have such, everything else as planes of 32-bit floats.",
        .options = options,
        .rules = rules,
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
        err = tool_convention_make(&planes.convention, &conv);
    if (err)
        return err < 0 ? TOOL_EXIT_USAGE : TOOL_EXIT_DONE;
    tool_report_level(planes.quiet, false);
    // A reader that goes away is an error like any other.
    signal(SIGPIPE, SIG_IGN);
    tool_interrupt_begin();
    planes.input = usage.arguments[0];
    err = run(&planes, &conv);
    tool_interrupt_end();
    if (err < 0)
        return tool_interrupted() ? TOOL_EXIT_INTERRUPTED : TOOL_EXIT_FAILED;
    return TOOL_EXIT_DONE;
}
