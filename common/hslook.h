// SPDX-License-Identifier: MIT
/** A look as users write it. */
#ifndef HSLOOK_H
#define HSLOOK_H

#include <hindsight/log.h>
#include <hindsight/look.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Reads "none", or "aces" and, behind commas, KEY=VALUE of a grade. Without the key `grade` all of
 * it counts.
 * Thread: safe.
 * Errors: HS_ERR_INVALID, after a message to the log.
 */
int hslook_parse(const char *text, const struct hs_log *log, struct hs_look *look);

#ifdef __cplusplus
}
#endif
#endif
