// SPDX-License-Identifier: MIT
#ifndef HSIO_CONVENTION_PRESETS_H
#define HSIO_CONVENTION_PRESETS_H

/** Differences to `raw`, the first entry, which holds everything that isn't zero. */
struct hsio_preset {
    const char *name, *text;
    const char *const *settings; ///< "key=value", NULL at the end.
};

extern const struct hsio_preset hsio_presets[];
extern const int hsio_presets_count;

#endif
