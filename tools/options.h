// SPDX-License-Identifier: MIT
/** Command line options: one table per sub-command feeds both the parser and the help text. */
#ifndef HINDSIGHT_TOOLS_OPTIONS_H
#define HINDSIGHT_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/** One row; a row without a name ends the table. */
struct tool_option {
    const char *name;  ///< Long name.
    char letter;       ///< Short name, or 0.
    const char *value; ///< Name of the value in the help, NULL: a switch.
    const char *help;  ///< One sentence.
};

enum tool_rule_kind {
    TOOL_EXCLUDES = 1, ///< Only one of the two.
    TOOL_NEEDS,        ///< Without the other one it would have no effect.
};

/** What two options, rows of the table, mean to each other; a rule without a kind ends the list. */
struct tool_rule {
    int row;
    enum tool_rule_kind kind;
    int other;
};

/** What a sub-command's command line looks like. */
struct tool_usage {
    const char *command; ///< Name of the sub-command.
    const char *form;    ///< Arguments, for example "IN -o OUT [options]".
    const char *about;   ///< A short paragraph.
    const char *exits;   ///< Exit codes of its own; NULL: none.
    const struct tool_option *options;
    const struct tool_rule *rules; ///< NULL: none.
    int min_arguments, max_arguments;
    /** Takes one option; `row` is the index in `options`. Returns 0 or an HS_ERR_* code. */
    int (*take)(void *priv, int row, const char *value);
    void *priv;
    char **arguments; ///< Out: what is left.
    int argument_count;
    uint64_t given; ///< Out: rows of the options that were there, one bit each.
};

#define TOOL_OPTIONS_HELP 1

/**
 * Reads a command line; argv[0] is the sub-command.
 *
 * --help and --version print and give TOOL_OPTIONS_HELP. Of an option that is given twice the last
 * one counts, unless `take` says otherwise.
 * Errors: HS_ERR_INVALID, after a message.
 */
int tool_options_parse(struct tool_usage *usage, int argc, char **argv);
bool tool_option_given(const struct tool_usage *usage, int row);

/** "1920x1080". Errors: HS_ERR_INVALID, after a message that names `option`. */
int tool_parse_size(const char *option, const char *text, int size[2]);
/** A whole number within [low, high]. Errors: as above. */
int tool_parse_int(const char *option, const char *text, int64_t low, int64_t high, int64_t *out);
/** A number within [low, high]. Errors: as above. */
int tool_parse_float(const char *option, const char *text, double low, double high, double *out);
/** One of `names`, which NULL ends; gives its index. Errors: as above. */
int tool_parse_name(const char *option, const char *text, const char *const *names, int *out);

struct hsio_convention;
struct hsio_options;
struct hsio_sequence;

#define TOOL_MAX_SETTINGS 64

/** --convention, --layer and --set. */
struct tool_convention {
    const char *preset, *layer;              ///< NULL: not given.
    const char *settings[TOOL_MAX_SETTINGS]; ///< key=value
    int setting_count;
};

/** --plane NAME=PATTERN: files of one plane. Errors: as above. */
int tool_parse_plane(const char *text, struct hsio_options *sequence);
/** --set KEY=VALUE. Errors: as above. */
int tool_convention_add(struct tool_convention *request, const char *setting);
/**
 * The preset (NULL: auto), changed by the layer and then by each setting.
 * Errors: those of hsio_convention_set(), after a message.
 */
int tool_convention_make(const struct tool_convention *request, struct hsio_convention *conv);
/** Whether --layer, if it is given, can mean anything. Errors: HS_ERR_INVALID, after a message. */
int tool_layer_check(const struct tool_convention *request, struct hsio_sequence *seq);

/** Numbers and ranges such as "5,20-24,-3". */
struct tool_frame_list {
    struct {
        int64_t first, last, step;
    } ranges[64];
    int count;
};

/** Adds the text to the list. Errors: as above. */
int tool_parse_frames(const char *option, const char *text, struct tool_frame_list *list);
bool tool_frame_listed(const struct tool_frame_list *list, int64_t frame);
/** Warns of numbers and ranges without a frame of the sequence. */
void tool_frames_warn(const char *option, const struct tool_frame_list *list,
                      const struct hsio_sequence *seq);

#endif
