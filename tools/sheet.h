// SPDX-License-Identifier: MIT
/** A sheet of crops: one column per picture, labelled, one row per crop. */
#ifndef HINDSIGHT_TOOLS_SHEET_H
#define HINDSIGHT_TOOLS_SHEET_H

#include "metrics.h"

struct tool_crop {
    int x, y, width, height;
};

#define TOOL_MAX_COLUMNS 8
#define TOOL_MAX_CROPS 8

struct tool_sheet {
    int columns;
    const char *labels[TOOL_MAX_COLUMNS];
    const struct tool_picture *pictures[TOOL_MAX_COLUMNS];
    int crop_count;
    struct tool_crop crops[TOOL_MAX_CROPS]; ///< Inside the pictures.
    int zoom;                               ///< Each pixel becomes zoom x zoom pixels.
};

/**
 * Writes the sheet as PNG.
 *
 * Errors: those of hsio_write(); HS_ERR_NOMEM.
 */
int tool_sheet_write(const struct tool_sheet *sheet, const char *path);

#endif
