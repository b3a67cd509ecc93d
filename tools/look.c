// SPDX-License-Identifier: MIT
#include "look.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <hindsight/error.h>

#include "report.h"

#define VALUES_MAX 3

static const struct key {
    const char *name;
    size_t offset; ///< Of the first float in a look.
    int count;
    double low, high;
} keys[] = {
    {"grade", offsetof(struct hs_look, grade), 1, 0, 1},
    {"contrast", offsetof(struct hs_look, contrast), 1, -1, 1},
    {"pivot", offsetof(struct hs_look, pivot), 1, 0, 1},
    {"shadows", offsetof(struct hs_look, shadows), 3, -1, 1},
    {"highlights", offsetof(struct hs_look, highlights), 3, -1, 1},
    {"saturation", offsetof(struct hs_look, saturation), 1, -1, 1},
    {"vignette", offsetof(struct hs_look, vignette), 1, 0, 1},
    {"grain", offsetof(struct hs_look, grain), 1, 0, 1},
    {"aberration", offsetof(struct hs_look, aberration_px), 1, -64, 64},
};

/** `text` to `end` is KEY=NUMBER or KEY=NUMBER/NUMBER/NUMBER. */
static int parse_key(const char *text, const char *end, struct hs_look *look)
{
    const struct key *key = NULL;
    const size_t length = strcspn(text, "=,");
    float values[VALUES_MAX];
    const char *at = text + length;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strlen(keys[i].name) == length && !strncmp(text, keys[i].name, length))
            key = &keys[i];
    }
    if (!key) {
        tool_error("--look has no key \"%.*s\"; there are grade, contrast, pivot, shadows, "
                   "highlights, saturation, vignette, grain and aberration",
                   (int)length, text);
        return HS_ERR_INVALID;
    }
    for (int i = 0; i < key->count; i++) {
        char *behind = NULL;
        const double value = at < end && *at == (i ? '/' : '=') ? strtod(at + 1, &behind) : 0;

        if (!behind || behind == at + 1 || behind > end ||
            !(value >= key->low && value <= key->high)) {
            tool_error("--look: %s takes %s from %g to %g, not \"%.*s\"", key->name,
                       key->count == 1 ? "a number" : "three numbers, r/g/b,", key->low, key->high,
                       (int)(end - text), text);
            return HS_ERR_INVALID;
        }
        values[i] = (float)value;
        at = behind;
    }
    if (at != end) {
        tool_error("--look: \"%.*s\" is more than %s takes", (int)(end - text), text, key->name);
        return HS_ERR_INVALID;
    }
    memcpy((char *)look + key->offset, values, (size_t)key->count * sizeof(*values));
    return 0;
}

int tool_look_parse(const char *text, struct hs_look *look)
{
    const size_t length = strcspn(text, ",");
    struct hs_look parsed = {.curve = HS_LOOK_ACES, .grade = 1};

    if (!strcmp(text, "none")) {
        *look = (struct hs_look){0};
        return 0;
    }
    if (length != 4 || strncmp(text, "aces", length)) {
        tool_error("--look takes none, or aces and what follows it, not \"%s\"", text);
        return HS_ERR_INVALID;
    }
    for (text += length; *text; text += strcspn(text, ",")) {
        text++;
        const int err = parse_key(text, text + strcspn(text, ","), &parsed);
        if (err)
            return err;
    }
    *look = parsed;
    return 0;
}
