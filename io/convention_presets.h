// SPDX-License-Identifier: MIT
#ifndef HSIO_CONVENTION_PRESETS_H
#define HSIO_CONVENTION_PRESETS_H

#include <stdbool.h>

/** Differences to `raw`, the first entry, which holds everything that isn't zero. */
struct hsio_preset {
    const char *name, *text;
    const char *const *settings; ///< "key=value", NULL at the end.
    bool measured;               ///< On files of the renderer; else it comes from documentation.
};

extern const struct hsio_preset hsio_presets[];
extern const int hsio_presets_count;

#endif
