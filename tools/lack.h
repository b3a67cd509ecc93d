// SPDX-License-Identifier: MIT
/** What a sequence lacks of what its convention reads, in words that help to find it. */
#ifndef HINDSIGHT_TOOLS_LACK_H
#define HINDSIGHT_TOOLS_LACK_H

#include "hsio.h"
#include "options.h"

/** The pattern that --set PLANE.channels= names for a plane; NULL: none, or an empty one. */
const char *tool_lack_named(const struct tool_convention *request, enum hsio_plane plane);
/** A plane for which channels were named is not in this frame: says what there is.
 * Returns HS_ERR_INVALID. */
int tool_lack_refuse(const struct tool_convention *request, struct hsio_frame *frame,
                     enum hsio_plane plane);
/** The same for all planes of a frame. Errors: HS_ERR_INVALID, after a message. */
int tool_lack_check(const struct tool_convention *request, struct hsio_frame *frame);

/**
 * Tells that no frame has a plane: `what`, and `then` what becomes of that. A warning that names
 * what was looked for, and what there is, where the user chose the preset or files hold more than
 * colour; else a line for those who know.
 */
void tool_lack_tell(const struct tool_convention *request, struct hsio_frame *frame,
                    enum hsio_plane plane, const char *what, const char *then);

#endif
