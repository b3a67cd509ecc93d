// SPDX-License-Identifier: MIT
// hindsight probe: the command line.
#include "probe.h"

#include <stdlib.h>
#include <string.h>

#include "lack.h"
#include "options.h"
#include "report.h"
#include "tool.h"

enum {
    OPT_FRAMES,
    OPT_START,
    OPT_CONVENTION,
    OPT_SET,
    OPT_LAYER,
    OPT_PLANE,
    OPT_FRAMES_JSON,
    OPT_NO_FRAMES_JSON,
    OPT_JSON,
    OPT_OPTIONS,
};

static const struct tool_option options[] = {
    {"frames", 'n', "N", "Frames to look at, 2 to 16. Default 8."},
    {"start", 0, "N", "First frame."},
    {"convention", 'c', "NAME", "What is to be checked: auto or a preset. Default auto."},
    {"set", 0, "KEY=VALUE", "Changes one key of the convention."},
    {"layer", 'l', "NAME", "Layer, view or part of the files to use."},
    {"plane", 0, "NAME=PATTERN", "Takes a plane from files of its own."},
    {"frames-json", 0, "FILE", "Takes jitter and cameras from this file."},
    {"no-frames-json", 0, NULL, "Leaves a frames.json beside the frames alone."},
    {"json", 0, "FILE", "Writes everything as JSON; - is stdout, in place of the text."},
    {"options", 0, NULL, "Prints the options to use and nothing else."},
    {0},
};

static const struct tool_rule rules[] = {
    {OPT_FRAMES_JSON, TOOL_EXCLUDES, OPT_NO_FRAMES_JSON},
    {0},
};

struct probe {
    const char *json;
    struct tool_convention convention;
    struct hsio_options sequence;
    int64_t frames, start;
    bool has_start, options_only;
};

static int take(void *priv, int row, const char *value)
{
    struct probe *p = priv;

    switch (row) {
    case OPT_FRAMES:
        return tool_parse_int("frames", value, 2, PROBE_MAX_FRAMES, &p->frames);
    case OPT_START:
        p->has_start = true;
        return tool_parse_int("start", value, INT32_MIN, INT32_MAX, &p->start);
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
    case OPT_JSON:
        p->json = value;
        return 0;
    default:
        p->options_only = true;
        return 0;
    }
}

static int find_start(const struct probe *p, const struct hsio_sequence *seq, int *first)
{
    struct hsio_sequence_info info;

    *first = 0;
    hsio_sequence_info(seq, &info);
    while (p->has_start && *first < info.frame_count &&
           hsio_sequence_number(seq, *first) < p->start)
        ++*first;
    if (*first < info.frame_count)
        return 0;
    tool_error("--start %lld leaves no frame: %s has the frames %lld to %lld", (long long)p->start,
               info.location, (long long)info.first, (long long)info.last);
    return HS_ERR_INVALID;
}

static int print(const struct probe *p, const struct probe_report *report)
{
    if (p->json) {
        FILE *file = tool_output_open(p->json);

        if (!file)
            return HS_ERR_IO;
        probe_print_json(report, file);
        const int err = tool_output_close(file, p->json);
        if (err < 0)
            return err;
    }
    // Options do not say that nothing fits.
    if (p->options_only && report->scale.too_long && !report->scale.fits_as_pixels)
        tool_warn("%s", report->notes[0]);
    if (p->options_only)
        printf("%s\n", report->options);
    else if (!p->json || strcmp(p->json, "-") != 0)
        probe_print(report);
    return 0;
}

/** Before the pictures are looked at: what they come without. */
static int check_planes(const struct probe *p, const struct hsio_sequence *seq, int first)
{
    struct hsio_frame *frame = NULL;
    int err = hsio_frame_open(seq, first, &frame);

    if (!err)
        err = tool_lack_check(&p->convention, frame);
    if (!err && !hsio_frame_info(frame)->planes[HSIO_PLANE_MOTION].present)
        tool_lack_tell(&p->convention, frame, HSIO_PLANE_MOTION, "no motion vectors",
                       "their convention can not be checked");
    hsio_frame_close(&frame);
    return err;
}

static int run(const struct probe *p, const struct hsio_convention *conv, const char *location)
{
    struct probe_report *report = calloc(1, sizeof(*report));
    struct hsio_sequence *seq = NULL;
    int err = report ? 0 : HS_ERR_NOMEM, first = 0, code = TOOL_EXIT_FAILED;

    if (!err)
        err = hsio_sequence_open(location, conv, &p->sequence, tool_log(), &seq);
    if (!err)
        err = tool_layer_check(&p->convention, seq);
    if (!err)
        err = find_start(p, seq, &first);
    if (!err)
        err = check_planes(p, seq, first);
    if (!err)
        err = probe_run(seq, &p->sequence, first, (int)p->frames, true, report);
    if (!err)
        err = print(p, report);
    if (!err)
        code = report->code;
    if (report)
        probe_report_finish(report);
    free(report);
    hsio_sequence_close(&seq);
    return code;
}

int tool_probe(int argc, char **argv)
{
    struct probe p = {.frames = 8, .sequence = {.missing = HSIO_MISSING_SKIP}};
    struct tool_usage usage = {
        .command = "probe",
        .form = "SEQUENCE [options]",
        .about = "Finds out from the pictures what a sequence's motion vectors, jitter, depth and "
                 "guides mean, and whether the convention fits. Exit code 0: it fits; 3: it does "
                 "not; 4: the frames do not tell. docs/probe.md tells more.",
        .exits = "3 it does not fit, 4 the frames do not tell, ",
        .options = options,
        .rules = rules,
        .min_arguments = 1,
        .max_arguments = 1,
        .take = take,
        .priv = &p,
    };
    struct hsio_convention conv;
    int err = tool_options_parse(&usage, argc, argv);

    if (!err && p.options_only && p.json && !strcmp(p.json, "-")) {
        tool_error("--options and --json -: stdout takes one of them");
        err = HS_ERR_INVALID;
    }
    if (!err)
        err = tool_convention_make(&p.convention, &conv);
    if (err)
        return err < 0 ? TOOL_EXIT_USAGE : TOOL_EXIT_DONE;
    return run(&p, &conv, usage.arguments[0]);
}
