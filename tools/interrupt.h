// SPDX-License-Identifier: MIT
/** SIGINT, SIGTERM and SIGHUP as a flag. A second signal ends the process at once. */
#ifndef HINDSIGHT_TOOLS_INTERRUPT_H
#define HINDSIGHT_TOOLS_INTERRUPT_H

#include <stdbool.h>

/** To be called before any thread is started: threads must inherit the signal mask. */
void tool_interrupt_begin(void);
void tool_interrupt_end(void);
bool tool_interrupted(void);
/** Calls back, from a thread of its own, when a signal comes. NULL: not any more. */
void tool_interrupt_notify(void (*cb)(void *priv), void *priv);

#endif
