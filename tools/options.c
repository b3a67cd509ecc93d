// SPDX-License-Identifier: MIT
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <hindsight/hindsight.h>

#include "hsio.h"
#include "report.h"

#define MAX_OPTIONS 48 // Less than the bits of tool_usage.given.
#define OPTION_BASE 1000
#define OPTION_HELP 900
#define OPTION_VERSION 901
#define HELP_COLUMN 26
#define HELP_WIDTH 98

/** Prints `text` from `column` on, broken at spaces. */
static void print_wrapped(const char *text, int column)
{
    int x = column;

    while (*text) {
        int length = (int)strcspn(text, " ");

        if (x > column && x + 1 + length > HELP_WIDTH) {
            printf("\n%*s", column, "");
            x = column;
        } else if (x > column) {
            putchar(' ');
            x++;
        }
        printf("%.*s", length, text);
        x += length;
        text += length;
        while (*text == ' ')
            text++;
    }
    putchar('\n');
}

static void print_option(const struct tool_option *option)
{
    char left[80];
    int length =
        snprintf(left, sizeof(left), "  %c%c%s --%s%s%s", option->letter ? '-' : ' ',
                 option->letter ? option->letter : ' ', option->letter ? "," : " ", option->name,
                 option->value ? " " : "", option->value ? option->value : "");

    if (length >= HELP_COLUMN)
        printf("%s\n%*s", left, HELP_COLUMN, "");
    else
        printf("%-*s", HELP_COLUMN, left);
    print_wrapped(option->help, HELP_COLUMN);
}

static void print_help(const struct tool_usage *usage)
{
    static const struct tool_option help = {"help", 'h', NULL, "Prints this text."};

    printf("usage: hindsight %s %s\n\n", usage->command, usage->form);
    print_wrapped(usage->about, 0);
    printf("\noptions:\n");
    for (const struct tool_option *option = usage->options; option->name; option++)
        print_option(option);
    print_option(&help);
    printf("\nexit codes: 0 done, 1 failed, 2 wrong usage, %s130 interrupted\n",
           usage->exits ? usage->exits : "");
}

static int usage_error(const struct tool_usage *usage)
{
    fprintf(stderr, "usage: hindsight %s %s\n       hindsight %s --help lists the options\n",
            usage->command, usage->form, usage->command);
    return HS_ERR_INVALID;
}

/** Fills getopt's tables from ours. */
static void make_tables(const struct tool_usage *usage, struct option *longs, char *shorts)
{
    int count = 0;

    *shorts++ = ':';
    *shorts++ = 'h';
    for (const struct tool_option *option = usage->options; option->name; option++) {
        if (count >= MAX_OPTIONS)
            abort();
        longs[count] =
            (struct option){option->name, option->value ? required_argument : no_argument, NULL,
                            OPTION_BASE + count};
        count++;
        if (option->letter) {
            *shorts++ = option->letter;
            if (option->value)
                *shorts++ = ':';
        }
    }
    *shorts = 0;
    longs[count++] = (struct option){"help", no_argument, NULL, OPTION_HELP};
    longs[count++] = (struct option){"version", no_argument, NULL, OPTION_VERSION};
    longs[count] = (struct option){NULL, 0, NULL, 0};
}

static int row_of(const struct tool_usage *usage, int found)
{
    if (found >= OPTION_BASE)
        return found - OPTION_BASE;
    for (int row = 0; usage->options[row].name; row++) {
        if (usage->options[row].letter == found)
            return row;
    }
    return -1;
}

bool tool_option_given(const struct tool_usage *usage, int row)
{
    return usage->given >> row & 1;
}

/** Options that contradict each other, or that would have no effect, are mistakes. */
static int check_rules(const struct tool_usage *usage)
{
    for (const struct tool_rule *rule = usage->rules; rule && rule->kind; rule++) {
        const char *name = usage->options[rule->row].name;
        const char *other = usage->options[rule->other].name;
        const bool there = tool_option_given(usage, rule->other);

        if (!tool_option_given(usage, rule->row) || there != (rule->kind == TOOL_EXCLUDES))
            continue;
        if (there)
            tool_error("--%s and --%s: one of them only", name, other);
        else
            tool_error("--%s has no effect without --%s", name, other);
        return usage_error(usage);
    }
    return 0;
}

int tool_options_parse(struct tool_usage *usage, int argc, char **argv)
{
    struct option longs[MAX_OPTIONS + 3];
    char shorts[2 * MAX_OPTIONS + 4];
    int found;

    make_tables(usage, longs, shorts);
    opterr = 0;
    optind = 1;
    usage->given = 0;
    while ((found = getopt_long(argc, argv, shorts, longs, NULL)) >= 0) {
        int err, row;

        if (found == 'h' || found == OPTION_HELP) {
            print_help(usage);
            return TOOL_OPTIONS_HELP;
        }
        if (found == OPTION_VERSION) {
            printf("hindsight %s\n", hs_version_string());
            return TOOL_OPTIONS_HELP;
        }
        if (found == '?' || found == ':') {
            tool_error("%s %s", argv[optind - 1],
                       found == ':' ? "needs a value" : "is not an option");
            return usage_error(usage);
        }
        row = row_of(usage, found);
        usage->given |= UINT64_C(1) << row;
        err = usage->take(usage->priv, row, optarg);
        if (err < 0)
            return err;
    }
    usage->arguments = argv + optind;
    usage->argument_count = argc - optind;
    if (usage->argument_count < usage->min_arguments ||
        usage->argument_count > usage->max_arguments) {
        tool_error("%s", usage->argument_count < usage->min_arguments ? "an argument is missing"
                                                                      : "too many arguments");
        return usage_error(usage);
    }
    return check_rules(usage);
}

int tool_parse_int(const char *option, const char *text, int64_t low, int64_t high, int64_t *out)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < low || value > high) {
        tool_error("--%s takes a whole number from %lld to %lld, not \"%s\"", option,
                   (long long)low, (long long)high, text);
        return HS_ERR_INVALID;
    }
    *out = value;
    return 0;
}

int tool_parse_float(const char *option, const char *text, double low, double high, double *out)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= low && value <= high)) {
        tool_error("--%s takes a number from %g to %g, not \"%s\"", option, low, high, text);
        return HS_ERR_INVALID;
    }
    *out = value;
    return 0;
}

int tool_parse_size(const char *option, const char *text, int size[2])
{
    char *end, *start;
    long width = strtol(text, &end, 10), height;

    if (end != text && (*end == 'x' || *end == 'X')) {
        start = end + 1;
        height = strtol(start, &end, 10);
        if (end != start && !*end && width > 0 && height > 0 && width <= 65536 && height <= 65536) {
            size[0] = (int)width;
            size[1] = (int)height;
            return 0;
        }
    }
    tool_error("--%s takes WIDTHxHEIGHT, for example 1920x1080, not \"%s\"", option, text);
    return HS_ERR_INVALID;
}

int tool_parse_name(const char *option, const char *text, const char *const *names, int *out)
{
    char list[256] = "";

    for (int i = 0; names[i]; i++) {
        size_t length = strlen(list);

        if (!strcmp(names[i], text)) {
            *out = i;
            return 0;
        }
        snprintf(list + length, sizeof(list) - length, "%s%s", i ? ", " : "", names[i]);
    }
    tool_error("--%s takes one of %s, not \"%s\"", option, list, text);
    return HS_ERR_INVALID;
}

int tool_parse_frames(const char *option, const char *text, struct tool_frame_list *list)
{
    while (*text) {
        size_t length = strcspn(text, ",");
        char item[64];

        if (list->count >= (int)(sizeof(list->ranges) / sizeof(list->ranges[0]))) {
            tool_error("--%s: too many frames; use ranges such as 10-20", option);
            return HS_ERR_INVALID;
        }
        snprintf(item, sizeof(item), "%.*s", (int)(length < 63 ? length : 63), text);
        if (hsio_range_parse(item, &list->ranges[list->count].first,
                             &list->ranges[list->count].last, &list->ranges[list->count].step,
                             NULL) < 0) {
            tool_error("--%s takes numbers and ranges such as 5,20-24, not \"%s\"", option, item);
            return HS_ERR_INVALID;
        }
        list->count++;
        text += length;
        if (*text == ',')
            text++;
    }
    return 0;
}

static bool in_range(const struct tool_frame_list *list, int range, int64_t frame)
{
    const int64_t first = list->ranges[range].first, last = list->ranges[range].last;
    const int64_t step = list->ranges[range].step ? list->ranges[range].step : 1;

    return frame >= first && frame <= last && (frame - first) % step == 0;
}

bool tool_frame_listed(const struct tool_frame_list *list, int64_t frame)
{
    for (int i = 0; i < list->count; i++) {
        if (in_range(list, i, frame))
            return true;
    }
    return false;
}

void tool_frames_warn(const char *option, const struct tool_frame_list *list,
                      const struct hsio_sequence *seq)
{
    struct hsio_sequence_info info;

    hsio_sequence_info(seq, &info);
    for (int i = 0; i < list->count; i++) {
        const int64_t first = list->ranges[i].first, last = list->ranges[i].last;
        char end[32] = "";
        bool found = false;

        for (int f = 0; !found && f < info.frame_count; f++)
            found = in_range(list, i, hsio_sequence_number(seq, f));
        if (last != first)
            snprintf(end, sizeof(end), "-%lld", (long long)last);
        if (!found)
            tool_warn("--%s %lld%s: no such frame among %lld to %lld", option, (long long)first,
                      end, (long long)info.first, (long long)info.last);
    }
}

int tool_parse_plane(const char *text, struct hsio_options *sequence)
{
    const char *equal = strchr(text, '=');
    char name[32];
    int plane = -1;

    if (equal && equal > text && equal - text < (int)sizeof(name)) {
        snprintf(name, sizeof(name), "%.*s", (int)(equal - text), text);
        plane = hsio_plane_from_name(name);
    }
    if (plane < 0 || !equal[1]) {
        tool_error("--plane takes NAME=PATTERN, for example depth=z.####.exr, not \"%s\"", text);
        return HS_ERR_INVALID;
    }
    if (sequence->planes[plane]) {
        tool_error("--plane %s is given twice: %s, %s", name, sequence->planes[plane], equal + 1);
        return HS_ERR_INVALID;
    }
    sequence->planes[plane] = equal + 1;
    return 0;
}

int tool_convention_add(struct tool_convention *request, const char *setting)
{
    if (request->setting_count >= TOOL_MAX_SETTINGS) {
        tool_error("--set: more than %d", TOOL_MAX_SETTINGS);
        return HS_ERR_INVALID;
    }
    request->settings[request->setting_count++] = setting;
    return 0;
}

int tool_convention_make(const struct tool_convention *request, struct hsio_convention *conv)
{
    int err = hsio_convention_preset(conv, request->preset, tool_log());

    if (!err && request->layer)
        err = hsio_convention_set(conv, "layer", request->layer, tool_log());
    for (int i = 0; !err && i < request->setting_count; i++)
        err = hsio_convention_set_text(conv, request->settings[i], tool_log());
    return err;
}

int tool_layer_check(const struct tool_convention *request, struct hsio_sequence *seq)
{
    struct hsio_frame *frame = NULL;
    const struct hsio_frame_info *info;
    bool layers = false;

    if (!request->layer)
        return 0;
    // What is wrong with the frame itself is told by who reads it.
    tool_capture_begin();
    layers = hsio_frame_open(seq, 0, &frame) < 0;
    tool_capture_end();
    info = layers ? NULL : hsio_frame_info(frame);
    for (int p = 0; !layers && p < HSIO_PLANE_COUNT; p++) {
        const char *dot = info->planes[p].present ? strrchr(info->planes[p].path, '.') : NULL;

        layers = dot && !strcasecmp(dot, ".exr");
    }
    // Nothing was found in it: that is another error.
    layers |= info && !info->planes[HSIO_PLANE_COLOR].present;
    if (!layers)
        tool_error("--layer %s: %s is no EXR, and has no layers", request->layer,
                   info->planes[HSIO_PLANE_COLOR].path);
    hsio_frame_close(&frame);
    return layers ? 0 : HS_ERR_INVALID;
}
