// SPDX-License-Identifier: MIT
#include "hslook.h"

#include <stddef.h>
#include <string.h>

#include <hindsight/error.h>

#include "hsio.h"

#define VALUES_MAX 3
#define TEXT_MAX 96

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

static int refuse(const struct hs_log *log, const struct key *key, const char *text, int length)
{
    hs_log_message(log, HS_LOG_ERROR, "look: %s takes %s from %g to %g, not \"%.*s\"", key->name,
                   key->count == 1 ? "a number" : "three numbers, r/g/b,", key->low, key->high,
                   length, text);
    return HS_ERR_INVALID;
}

/** KEY=NUMBER or KEY=NUMBER/NUMBER/NUMBER of so many characters. */
static int parse_key(const char *text, size_t length, const struct hs_log *log,
                     struct hs_look *look)
{
    const struct key *key = NULL;
    const size_t named = strcspn(text, "=,");
    const char *value = text + named;
    double numbers[VALUES_MAX + 1];
    float values[VALUES_MAX];
    char copy[TEXT_MAX];

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strlen(keys[i].name) == named && !strncmp(text, keys[i].name, named))
            key = &keys[i];
    }
    if (!key) {
        hs_log_message(log, HS_LOG_ERROR,
                       "look: no key \"%.*s\"; there are grade, contrast, pivot, shadows, "
                       "highlights, saturation, vignette, grain and aberration",
                       (int)named, text);
        return HS_ERR_INVALID;
    }
    // Behind the sign of equality: numbers with blanks between them.
    if (named == length || length - named > sizeof(copy) || memchr(value, ' ', length - named))
        return refuse(log, key, text, (int)length);
    memcpy(copy, value + 1, length - named - 1);
    copy[length - named - 1] = 0;
    for (char *at = copy; *at; at++)
        *at = *at == '/' ? ' ' : *at;
    if (hsio_numbers_parse(copy, numbers, VALUES_MAX + 1) != key->count)
        return refuse(log, key, text, (int)length);
    for (int i = 0; i < key->count; i++) {
        if (!(numbers[i] >= key->low && numbers[i] <= key->high))
            return refuse(log, key, text, (int)length);
        values[i] = (float)numbers[i];
    }
    memcpy((char *)look + key->offset, values, (size_t)key->count * sizeof(*values));
    return 0;
}

int hslook_parse(const char *text, const struct hs_log *log, struct hs_look *look)
{
    const size_t length = strcspn(text, ",");
    struct hs_look parsed = {.curve = HS_LOOK_ACES, .grade = 1};

    if (!strcmp(text, "none")) {
        *look = (struct hs_look){0};
        return 0;
    }
    if (length != 4 || strncmp(text, "aces", length)) {
        hs_log_message(log, HS_LOG_ERROR,
                       "look: none, or aces and what follows it, is expected, not \"%s\"", text);
        return HS_ERR_INVALID;
    }
    for (text += length; *text; text += strcspn(text, ",")) {
        text++;
        const int err = parse_key(text, strcspn(text, ","), log, &parsed);
        if (err)
            return err;
    }
    *look = parsed;
    return 0;
}
