// SPDX-License-Identifier: MIT
/** The compiled shaders, embedded. Each table ends with a row whose `name` is NULL. */
#ifndef HS_SHADERS_SPIRV_H
#define HS_SHADERS_SPIRV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hs_spirv {
    const char *name;     ///< File name without .comp.glsl, plus the suffix of the variant.
    const uint32_t *code; ///< SPIR-V words.
    size_t size_bytes;    ///< A multiple of 4.
};

extern const struct hs_spirv hs_spirv_engine[];
extern const struct hs_spirv hs_spirv_gst[];
extern const struct hs_spirv hs_spirv_scenes[];

/** The row called `name`, or NULL: a `_cm` variant is missing if glslang could not build it. */
static inline const struct hs_spirv *hs_spirv_find(const struct hs_spirv *table, const char *name)
{
    for (; table->name; table++) {
        if (!strcmp(table->name, name))
            return table;
    }
    return NULL;
}

#endif
