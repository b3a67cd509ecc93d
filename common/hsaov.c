// SPDX-License-Identifier: MIT
#include "hsaov.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include <hindsight/error.h>

int hsaov_parse(const char *text, const struct hs_log *log, struct hsaov_request *request)
{
    static const char *const kinds[] = {"auto", "light", "data", "nearest"};
    const char *equal = strrchr(text, '=');
    const size_t length = equal ? (size_t)(equal - text) : strlen(text);
    int kind = 0;

    if (!length || length >= sizeof(request->name)) {
        hs_log_message(log, HS_LOG_ERROR, "AOV %s: the name of a layer is missing or too long",
                       text);
        return HS_ERR_INVALID;
    }
    while (equal && kind < 4 && strcmp(kinds[kind], equal + 1))
        kind++;
    if (kind == 4) {
        hs_log_message(log, HS_LOG_ERROR,
                       "AOV %s: expected light, data, nearest or auto behind the =", text);
        return HS_ERR_INVALID;
    }
    snprintf(request->name, sizeof(request->name), "%.*s", (int)length, text);
    request->kind = (enum hsaov_kind)kind;
    return 0;
}

/** By name: what describes surfaces is no part of the light. */
static bool is_data(const char *name)
{
    static const char *const words[] = {"*normal*",     "*albedo*",    "*col",    "*color",
                                        "*basecolor*",  "*roughness*", "*metal*", "*specular",
                                        "*smoothness*", "*mist*",      "*ao",     "n"};

    char lower[256];
    size_t length = 0;

    for (; name[length] && length < sizeof(lower) - 1; length++)
        lower[length] = (char)tolower((unsigned char)name[length]);
    lower[length] = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!fnmatch(words[i], lower, 0))
            return true;
    }
    return false;
}

enum hsaov_kind hsaov_kind_of(const struct hsaov_request *request,
                              const struct hsio_layer_info *info)
{
    if (request->kind != HSAOV_AUTO)
        return request->kind;
    if (info->exact)
        return HSAOV_NEAREST;
    return is_data(request->name) || info->channel_count < 3 ? HSAOV_DATA : HSAOV_LIGHT;
}

const char *hsaov_kind_about(enum hsaov_kind kind)
{
    static const char *const about[] = {"by name and type", "part of the light", "values",
                                        "nearest sample"};

    return about[kind];
}

void hsaov_name_channels(const struct hsio_layer_info *info, char *names, size_t size)
{
    const char *name = info->channels;
    size_t used = 0;

    while (*name && used < size) {
        const int length = (int)strcspn(name, ",");
        const bool plain = !memchr(name, '.', (size_t)length) && *info->part;

        used += (size_t)snprintf(names + used, size - used, "%s%s%s%.*s", used ? "," : "",
                                 plain ? info->part : "", plain ? "." : "", length, name);
        name += length + (name[length] == ',');
    }
}

bool hsaov_name_exact(const struct hsio_layer_info *info, int index, char name[HSAOV_EXACT_BYTES])
{
    const size_t part = strlen(info->part);
    const char *channel = info->channels;

    for (; index > 0 && *channel; index--) {
        channel += strcspn(channel, ",");
        channel += *channel == ',';
    }
    if (!*channel)
        return false;
    snprintf(name, HSAOV_EXACT_BYTES, "%s%s%.*s", info->part, part ? "/" : "",
             (int)strcspn(channel, ","), channel);
    for (size_t i = 0; name[i]; i++) {
        if (name[i] == '/' && (i != part || !part))
            name[i] = '*';
    }
    return true;
}
