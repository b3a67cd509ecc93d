// SPDX-License-Identifier: MIT
/** Finding the channels of a plane by patterns such as `*.Combined.R,*.Combined.G`. */
#include "internal.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 512

/* A pattern's channel, split. */
struct item {
    char part[128]; ///< Glob; "" for any part.
    char head[128], tail[128];
    bool star, optional;
};

/* What `*` stood for; the same for all channels of a plane. */
struct capture {
    char text[NAME_BYTES];
    int part;
    bool fixed;
};

bool hsio_match_glob(const char *glob, const char *name)
{
    const char *star = NULL, *retry = NULL;

    while (*name) {
        if (*glob == '*') {
            star = glob++;
            retry = name;
        } else if (*glob && hsio_text_same(glob, name, 1)) {
            glob++;
            name++;
        } else if (star) {
            glob = star + 1;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return !*glob;
}

bool hsio_passthrough_fits(const char *pattern, const struct hsio_candidate *c)
{
    const char *slash = strchr(pattern, '/'), *glob = slash ? slash + 1 : pattern;
    char part[128] = "*";

    if (slash)
        snprintf(part, sizeof(part), "%.*s", (int)(slash - pattern), pattern);
    return hsio_match_glob(part, c->part_name) && hsio_match_glob(glob, c->name);
}

static bool parse_item(const char *text, size_t length, struct item *item)
{
    char copy[256];
    char *name = copy, *slash, *star;

    while (length && *text == ' ') {
        text++;
        length--;
    }
    while (length && text[length - 1] == ' ')
        length--;
    *item = (struct item){0};
    if (!length || length >= sizeof(copy))
        return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    if (copy[length - 1] == '?') {
        item->optional = true;
        copy[length - 1] = 0;
    }
    slash = strchr(copy, '/');
    if (slash) {
        *slash = 0;
        snprintf(item->part, sizeof(item->part), "%.127s", copy);
        name = slash + 1;
    }
    star = strchr(name, '*');
    item->star = star;
    if (star) {
        *star = 0;
        snprintf(item->tail, sizeof(item->tail), "%.127s", star + 1);
    }
    snprintf(item->head, sizeof(item->head), "%.127s", name);
    return true;
}

static bool fit_name(const struct item *item, const char *name, char *capture)
{
    const size_t length = strlen(name), head = strlen(item->head), tail = strlen(item->tail);

    capture[0] = 0;
    if (!item->star)
        return length == head && hsio_text_same(name, item->head, length);
    if (length < head + tail || length - head - tail >= NAME_BYTES ||
        !hsio_text_same(name, item->head, head) ||
        !hsio_text_same(name + length - tail, item->tail, tail))
        return false;
    memcpy(capture, name + head, length - head - tail);
    capture[length - head - tail] = 0;
    return true;
}

static bool in_layer(const struct hsio_candidate *c, const char *layer)
{
    const size_t length = strlen(layer);
    const char *p = c->name;

    if (!length)
        return true;
    if (hsio_text_same(c->part_name, layer, SIZE_MAX) || hsio_text_same(c->view, layer, SIZE_MAX) ||
        (hsio_text_same(c->part_name, layer, length) && c->part_name[length] == '.'))
        return true;
    for (;;) {
        if (strlen(p) > length && hsio_text_same(p, layer, length) && p[length] == '.')
            return true;
        p = strchr(p, '.');
        if (!p)
            return false;
        p++;
    }
}

/* A channel goes by its name, by part.name, and, in the chosen layer, by what follows the layer. */
static bool fit(const struct item *item, const struct hsio_candidate *c, const char *layer,
                const struct capture *wanted, char *capture)
{
    const size_t length = strlen(layer);
    char qualified[NAME_BYTES];
    const char *names[3] = {c->name, NULL, NULL};

    if (!in_layer(c, layer) || (item->part[0] && !hsio_match_glob(item->part, c->part_name)))
        return false;
    if (wanted->fixed && c->part != wanted->part)
        return false;
    if (c->part_name[0] && (size_t)snprintf(qualified, sizeof(qualified), "%s.%s", c->part_name,
                                            c->name) < sizeof(qualified))
        names[1] = qualified;
    if (length && strlen(c->name) > length && hsio_text_same(c->name, layer, length) &&
        c->name[length] == '.')
        names[2] = c->name + length + 1;
    for (int i = 0; i < 3; i++) {
        if (names[i] && fit_name(item, names[i], capture) &&
            (!wanted->fixed || hsio_text_same(capture, wanted->text, SIZE_MAX)))
            return true;
    }
    return false;
}

static bool complete(const struct item *items, int count, const struct hsio_candidate *list,
                     int candidates, const char *layer, const struct capture *wanted,
                     struct hsio_match *out)
{
    char capture[NAME_BYTES];

    *out = (struct hsio_match){.part = wanted->part, .channels = {-1, -1, -1, -1}, .count = count};
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < candidates && out->channels[i] < 0; k++) {
            if (fit(&items[i], &list[k], layer, wanted, capture))
                out->channels[i] = list[k].channel;
        }
        if (out->channels[i] < 0 && !items[i].optional)
            return false;
    }
    return true;
}

static bool find_alternative(const struct item *items, int count, const char *layer,
                             const struct hsio_candidate *list, int candidates,
                             struct hsio_match *out)
{
    bool found = false;

    for (int k = 0; k < candidates; k++) {
        const struct capture any = {0};
        struct capture wanted = {.part = list[k].part, .fixed = true};
        struct hsio_match match;

        if (!fit(&items[0], &list[k], layer, &any, wanted.text) ||
            !complete(items, count, list, candidates, layer, &wanted, &match))
            continue;
        if (!found) {
            *out = match;
            found = true;
        } else if (!out->rivals++) {
            snprintf(out->rival, sizeof(out->rival), "%.127s",
                     wanted.text[0] ? wanted.text : list[k].part_name);
        }
    }
    return found;
}

bool hsio_match_find(const char *patterns, const char *layer, const struct hsio_candidate *list,
                     int count, struct hsio_match *out)
{
    const char *p = patterns;

    while (*p) {
        const char *end = p + strcspn(p, "|");
        struct item items[4];
        int n = 0;
        bool good = true;

        while (p <= end && good) {
            const size_t length = strcspn(p, ",|");

            good = n < 4 && parse_item(p, length, &items[n]);
            n++;
            p += length + 1;
            if (p[-1] != ',')
                break;
        }
        if (good && n && find_alternative(items, n, layer, list, count, out))
            return true;
        p = *end ? end + 1 : end;
    }
    return false;
}
