// SPDX-License-Identifier: MIT
/** Messages and progress of the command: results go to stdout, all of this to stderr. */
#ifndef HINDSIGHT_TOOLS_REPORT_H
#define HINDSIGHT_TOOLS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <hindsight/log.h>

enum tool_exit {
    TOOL_EXIT_DONE = 0,
    TOOL_EXIT_FAILED = 1,
    TOOL_EXIT_USAGE = 2,
    TOOL_EXIT_INTERRUPTED = 130,
};

#if defined(__GNUC__)
#define TOOL_PRINTF(n) __attribute__((format(printf, n, n + 1)))
#else
#define TOOL_PRINTF(n)
#endif

/** quiet: only warnings and errors. verbose: what the library says at HS_LOG_INFO, too. */
void tool_report_level(bool quiet, bool verbose);

/** One line each, from any thread. */
void tool_error(const char *format, ...) TOOL_PRINTF(1);
void tool_warn(const char *format, ...) TOOL_PRINTF(1);
void tool_info(const char *format, ...) TOOL_PRINTF(1);

/** A log that ends in these lines. Static storage. */
const struct hs_log *tool_log(void);

/**
 * From here on, errors that the libraries log in this thread are kept instead of printed, so
 * that they can be told with the frame that they belong to.
 */
void tool_capture_begin(void);
/** Ends keeping and gives what was kept, "" if nothing; valid until the next begin. */
const char *tool_capture_end(void);

/** A bar on a terminal, a line per frame elsewhere, nothing with quiet. */
void tool_progress_start(int total);
/** One more of `total` is done; `what` names it. */
void tool_progress_step(const char *what);
/** Ends the bar's line. */
void tool_progress_stop(void);

/** Writes a JSON string with its quotes. */
void tool_json_string(FILE *file, const char *text);
/** Writes a number, or null where it is not finite. */
void tool_json_number(FILE *file, double value);

/**
 * Opens a text for writing, "-" is stdout. Files appear complete or not at all when they are
 * closed. NULL after a message.
 */
FILE *tool_output_open(const char *path);
/** Closes it; gives HS_ERR_IO after a message if writing failed. */
int tool_output_close(FILE *file, const char *path);

/** Seconds of a monotonic clock. */
double tool_seconds(void);

#endif
