// SPDX-License-Identifier: MIT
/** State of one `hindsight compare`. */
#ifndef HINDSIGHT_TOOLS_COMPARE_H
#define HINDSIGHT_TOOLS_COMPARE_H

#include "sheet.h"

/** One frame of one candidate; NAN where there is no number. */
struct compare_row {
    bool present;
    double psnr, ssim, mse;
    double flicker, tmse;
};

struct compare_candidate {
    char name[32];
    const char *location;
    struct hsio_sequence *seq;
    struct tool_picture cur, prev;
    struct compare_row *rows;
};

struct compare {
    const char *json, *motion_location, *convention, *sheet_path, *ref_location;
    int64_t skip, sheet_frame;
    bool has_sheet_frame, ldr, quiet, sheet_written, warned_non_finite;
    struct tool_sheet sheet;
    struct hsio_sequence *ref_seq, *motion_seq;
    struct tool_picture ref, ref_prev;
    struct compare_candidate candidates[TOOL_MAX_COLUMNS - 1];
    int candidate_count;
    int64_t *numbers; ///< Frame of each row.
    int row_count;
    int64_t first_counted; ///< Frames from this on enter the means.
};

/** Prints the table, or JSON. Errors: HS_ERR_IO. */
int compare_report(const struct compare *cmp);

#endif
