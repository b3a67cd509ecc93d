// SPDX-License-Identifier: MIT
// hindsight inspect: what a file, a sequence or the machine's devices hold.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hsio.h"
#include "hsmodel.h"
#include "inspect.h"
#include "options.h"
#include "report.h"
#include "tool.h"

enum {
    OPT_DEVICE,
    OPT_CONVENTION,
    OPT_SET,
    OPT_LAYER,
    OPT_FRAMES,
    OPT_PRESETS,
    OPT_KEYS,
};

static const struct tool_option options[] = {
    {"device", 0, NULL, "Lists the Vulkan devices and what each has of what is needed."},
    {"convention", 'c', "NAME", "auto or a preset. Default auto."},
    {"set", 0, "KEY=VALUE", "Changes one key of the convention."},
    {"layer", 'l', "NAME", "Layer, view or part of the files to use."},
    {"frames", 0, NULL, "One line for each frame."},
    {"presets", 0, NULL, "Lists the conventions there are."},
    {"keys", 0, NULL, "Lists the keys of a convention, with their values."},
    {0},
};

static const struct tool_rule rules[] = {
    {OPT_PRESETS, TOOL_EXCLUDES, OPT_DEVICE},
    {OPT_PRESETS, TOOL_EXCLUDES, OPT_CONVENTION},
    {OPT_PRESETS, TOOL_EXCLUDES, OPT_SET},
    {OPT_PRESETS, TOOL_EXCLUDES, OPT_LAYER},
    {OPT_PRESETS, TOOL_EXCLUDES, OPT_FRAMES},
    {OPT_PRESETS, TOOL_EXCLUDES, OPT_KEYS},
    {0},
};

struct inspect {
    struct tool_convention convention;
    bool devices, frames, presets, keys;
};

static int take(void *priv, int row, const char *value)
{
    struct inspect *ins = priv;

    switch (row) {
    case OPT_DEVICE:
        ins->devices = true;
        break;
    case OPT_CONVENTION:
        ins->convention.preset = value;
        break;
    case OPT_SET:
        return tool_convention_add(&ins->convention, value);
    case OPT_LAYER:
        ins->convention.layer = value;
        break;
    case OPT_FRAMES:
        ins->frames = true;
        break;
    case OPT_PRESETS:
        ins->presets = true;
        break;
    case OPT_KEYS:
        ins->keys = true;
        break;
    }
    return 0;
}

static void print_box(const char *name, const struct hsio_box *box)
{
    printf("  %s %dx%d at (%d, %d)", name, box->max_x - box->min_x + 1, box->max_y - box->min_y + 1,
           box->min_x, box->min_y);
}

/** Channels of one layer in one line: everything up to the last dot is the layer. */
static void print_channels(const struct hsio_part_desc *part)
{
    for (int i = 0; i < part->channel_count;) {
        const char *name = part->channels[i].name, *dot = strrchr(name, '.');
        int layer = dot ? (int)(dot - name) : 0;

        printf("    %-28.*s ", layer ? layer : 1, layer ? name : "-");
        for (int first = i; i < part->channel_count; i++) {
            const struct hsio_channel_desc *c = &part->channels[i];
            const char *end = strrchr(c->name, '.');

            if ((end ? (int)(end - c->name) : 0) != layer || strncmp(c->name, name, layer) != 0)
                break;
            printf("%s%s:%s", i > first ? " " : "", end ? end + 1 : c->name, c->type);
            if (c->x_sampling != 1 || c->y_sampling != 1)
                printf("/%dx%d", c->x_sampling, c->y_sampling);
        }
        putchar('\n');
    }
}

static void print_file(const struct hsio_file_desc *desc)
{
    printf("%s: %s, %llu bytes, %d part%s\n", desc->path, desc->kind,
           (unsigned long long)desc->bytes, desc->part_count, desc->part_count == 1 ? "" : "s");
    for (int i = 0; i < desc->part_count; i++) {
        const struct hsio_part_desc *part = &desc->parts[i];

        printf("  part %d%s%s%s%s: %s, compression %s", i, *part->name ? " " : "", part->name,
               *part->view ? ", view " : "", part->view, part->storage, part->compression);
        if (part->tile_width)
            printf(", tiles %dx%d, %d level%s", part->tile_width, part->tile_height, part->levels,
                   part->levels == 1 ? "" : "s");
        putchar('\n');
        print_box("  display window", &part->display);
        putchar('\n');
        if (memcmp(&part->display, &part->data, sizeof(part->data))) {
            print_box("  data window", &part->data);
            putchar('\n');
        }
        print_channels(part);
        for (int k = 0; k < part->attribute_count; k++)
            printf("    %s = %s\n", part->attributes[k].name, part->attributes[k].value);
    }
}

static void print_matrix(const char *name, const float m[16])
{
    printf("  %s\n", name);
    for (int i = 0; i < 4; i++)
        printf("    %12.6g %12.6g %12.6g %12.6g\n", (double)m[4 * i], (double)m[4 * i + 1],
               (double)m[4 * i + 2], (double)m[4 * i + 3]);
}

static void print_planes(const struct hsio_frame_info *info)
{
    for (int p = 0; p < HSIO_PLANE_COUNT; p++) {
        const struct hsio_plane_info *plane = &info->planes[p];

        if (plane->present)
            printf("  %-16s %dx%d %s from %s\n", hsio_plane_name((enum hsio_plane)p), plane->width,
                   plane->height, hsio_format_name(plane->format), plane->channels);
    }
    for (int p = 0; p < HSIO_PLANE_COUNT; p++) {
        if (!info->planes[p].present &&
            (p == HSIO_PLANE_COLOR || p == HSIO_PLANE_DEPTH || p == HSIO_PLANE_MOTION))
            printf("  %-16s not found\n", hsio_plane_name((enum hsio_plane)p));
    }
}

static void print_frame_line(const struct hsio_frame_info *info)
{
    printf("  frame %lld: %dx%d", (long long)info->number, info->width, info->height);
    if (info->has_jitter)
        printf(", jitter (%.6g, %.6g)", (double)info->jitter_px[0], (double)info->jitter_px[1]);
    if (info->reset)
        printf(", history starts anew");
    if (info->held)
        printf(", missing: repeats the one before");
    if (info->has_exposure)
        printf(", exposure %g", (double)info->exposure);
    putchar('\n');
}

static void print_gaps(const struct hsio_sequence *seq, const struct hsio_sequence_info *info)
{
    int64_t before = info->first;

    for (int i = 1; i < info->frame_count; i++) {
        int64_t number = hsio_sequence_number(seq, i);

        if (number - before > 1)
            printf("  gap: %lld to %lld missing\n", (long long)before + 1, (long long)number - 1);
        before = number;
    }
}

static void print_convention(const struct hsio_convention *conv, bool all)
{
    static const char *const shown[] = {"motion.direction", "motion.unit",      "motion.sign_x",
                                        "motion.sign_y",    "motion.unwritten", "depth.kind",
                                        "depth.background", "jitter.unit"};
    char text[HSIO_PATTERN_BYTES];

    printf("convention %s\n", conv->preset);
    for (size_t i = 0; !all && i < sizeof(shown) / sizeof(shown[0]); i++) {
        if (!hsio_convention_get(conv, shown[i], text, sizeof(text)))
            printf("  %-20s %s\n", shown[i], text);
    }
    for (int i = 0; all && i < hsio_convention_key_count(); i++) {
        const char *key = hsio_convention_key(i);

        if (!hsio_convention_get(conv, key, text, sizeof(text)))
            printf("  %-24s %-14s %s\n", key, text, hsio_convention_key_text(i));
    }
}

static int print_first_frame(const struct hsio_sequence *seq)
{
    struct hsio_frame *frame;
    int err = hsio_frame_open(seq, 0, &frame);

    if (err < 0)
        return err;
    const struct hsio_frame_info *info = hsio_frame_info(frame);

    printf("planes of frame %lld\n", (long long)info->number);
    print_planes(info);
    if (info->has_jitter)
        printf("  jitter           (%.6g, %.6g) render pixels\n", (double)info->jitter_px[0],
               (double)info->jitter_px[1]);
    else
        printf("  jitter           not told: taken as 0\n");
    if (info->has_view)
        print_matrix("view (world to camera)", info->view);
    if (info->has_proj)
        print_matrix("projection", info->proj);
    hsio_frame_close(&frame);
    return 0;
}

static int print_frames(const struct hsio_sequence *seq, int count)
{
    int err = 0;

    for (int i = 0; i < count; i++) {
        struct hsio_frame *frame;
        int failed = hsio_frame_open(seq, i, &frame);

        if (failed < 0) {
            err = failed;
            continue;
        }
        print_frame_line(hsio_frame_info(frame));
        hsio_frame_close(&frame);
    }
    return err;
}

static int open_sequence(const struct inspect *ins, const char *location,
                         struct hsio_sequence **seq)
{
    struct hsio_convention conv;
    int err = tool_convention_make(&ins->convention, &conv);

    if (!err)
        err = hsio_sequence_open(
            location, &conv, &(struct hsio_options){.missing = HSIO_MISSING_SKIP}, tool_log(), seq);
    if (err < 0)
        return err;
    err = tool_layer_check(&ins->convention, *seq);
    if (err < 0)
        hsio_sequence_close(seq);
    return err;
}

static int inspect_sequence(const struct inspect *ins, const char *location)
{
    struct hsio_sequence_info info;
    struct hsio_file_desc **files;
    struct hsio_sequence *seq;
    int count, err = open_sequence(ins, location, &seq);

    if (err < 0)
        return err;
    hsio_sequence_info(seq, &info);
    printf("sequence %s: %s, %d frame%s, %lld to %lld, %d missing, %dx%d\n", info.location,
           info.kind, info.frame_count, info.frame_count == 1 ? "" : "s", (long long)info.first,
           (long long)info.last, info.missing_count, info.width, info.height);
    print_gaps(seq, &info);
    if (info.output_width)
        printf("  output %dx%d asked for\n", info.output_width, info.output_height);
    print_convention(hsio_sequence_convention(seq), ins->keys);
    err = print_first_frame(seq);
    if (!err && ins->frames)
        err = print_frames(seq, info.frame_count);
    if (!err)
        err = hsio_sequence_describe(seq, 0, &files, &count);
    if (!err) {
        for (int i = 0; i < count; i++)
            print_file(files[i]);
        hsio_sequence_descriptions_free(&files, count);
    }
    hsio_sequence_close(&seq);
    return err;
}

static void print_presets(void)
{
    for (int i = 0; i < hsio_preset_count(); i++)
        printf("%-14s %s\n", hsio_preset_name(i), hsio_preset_text(i));
}

/** What needs a sequence, or leaves one out. */
static int check(const struct tool_usage *usage)
{
    static const int rows[] = {OPT_CONVENTION, OPT_SET, OPT_LAYER, OPT_FRAMES, OPT_KEYS};
    const bool model = usage->argument_count && hsmodel_is_file(usage->arguments[0]);

    if (usage->argument_count && tool_option_given(usage, OPT_PRESETS)) {
        tool_error("--presets and %s: one of them only", usage->arguments[0]);
        return HS_ERR_INVALID;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!tool_option_given(usage, rows[i]) || (usage->argument_count && !model))
            continue;
        tool_error("--%s has no effect without a sequence", options[rows[i]].name);
        return HS_ERR_INVALID;
    }
    return 0;
}

int tool_inspect(int argc, char **argv)
{
    struct inspect ins = {0};
    struct tool_usage usage = {
        .command = "inspect",
        .form = "[FILE|SEQUENCE] [options]",
        .about = "Tells what a file, a sequence or a model file (.safetensors) holds and how it "
                 "would be understood. Without an argument it lists the Vulkan devices.",
        .options = options,
        .rules = rules,
        .min_arguments = 0,
        .max_arguments = 1,
        .take = take,
        .priv = &ins,
    };
    int err = tool_options_parse(&usage, argc, argv);

    if (!err)
        err = check(&usage);
    if (err)
        return err < 0 ? TOOL_EXIT_USAGE : TOOL_EXIT_DONE;
    if (ins.presets) {
        print_presets();
        return TOOL_EXIT_DONE;
    }
    if (usage.argument_count)
        err = hsmodel_is_file(usage.arguments[0]) ? inspect_model(usage.arguments[0])
                                                  : inspect_sequence(&ins, usage.arguments[0]);
    if (!err && (ins.devices || !usage.argument_count))
        err = inspect_devices();
    return err < 0 ? TOOL_EXIT_FAILED : TOOL_EXIT_DONE;
}
