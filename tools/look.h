// SPDX-License-Identifier: MIT
/** A look as users write it. */
#ifndef HINDSIGHT_TOOLS_LOOK_H
#define HINDSIGHT_TOOLS_LOOK_H

#include <hindsight/look.h>

/**
 * Reads "none", or "aces" and, behind commas, KEY=VALUE of a grade. Without the key `grade` all of
 * it counts.
 * Errors: HS_ERR_INVALID, after a message.
 */
int tool_look_parse(const char *text, struct hs_look *look);

#endif
