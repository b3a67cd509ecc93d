// SPDX-License-Identifier: MIT
#include "lack.h"

#include <string.h>

#include "report.h"

/** Channel names in a message; whole files of passes have hundreds. */
#define LIST_BYTES 1024

const char *tool_lack_named(const struct tool_convention *request, enum hsio_plane plane)
{
    static const char key[] = ".channels=";
    const char *found = NULL;

    for (int i = 0; i < request->setting_count; i++) {
        const char *at = strstr(request->settings[i], key);
        char name[32];

        if (!at || at - request->settings[i] >= (int)sizeof(name))
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(at - request->settings[i]),
                 request->settings[i]);
        if (hsio_plane_from_name(name) == (int)plane)
            found = at + sizeof(key) - 1;
    }
    return found && *found ? found : NULL;
}

static void list(struct hsio_frame *frame, char text[LIST_BYTES])
{
    hsio_frame_list(frame, text, LIST_BYTES);
    if (strlen(text) >= LIST_BYTES - 1)
        memcpy(text + LIST_BYTES - 4, "...", 4);
}

int tool_lack_refuse(const struct tool_convention *request, struct hsio_frame *frame,
                     enum hsio_plane plane)
{
    const struct hsio_frame_info *info = hsio_frame_info(frame);
    const char *layer = info->convention->layer;
    char channels[LIST_BYTES];

    list(frame, channels);
    tool_error("%s: --set %s.channels=%s fits no channels%s%s; %s%s", info->path,
               hsio_plane_name(plane), tool_lack_named(request, plane), *layer ? " in layer " : "",
               layer, *channels ? "there are: " : "it is no EXR file", channels);
    return HS_ERR_INVALID;
}

int tool_lack_check(const struct tool_convention *request, struct hsio_frame *frame)
{
    const struct hsio_frame_info *info = hsio_frame_info(frame);

    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        const enum hsio_plane plane = (enum hsio_plane)i;

        if (tool_lack_named(request, plane) && !info->planes[plane].present)
            return tool_lack_refuse(request, frame, plane);
    }
    return 0;
}

static int count_names(const char *text)
{
    int count = *text != 0;

    for (; *text; text++)
        count += *text == ',';
    return count;
}

void tool_lack_tell(const struct tool_convention *request, struct hsio_frame *frame,
                    enum hsio_plane plane, const char *what, const char *then)
{
    const struct hsio_frame_info *info = hsio_frame_info(frame);
    const struct hsio_convention *conv = info->convention;
    const bool chosen = request->preset && strcmp(request->preset, "auto") != 0;
    char channels[LIST_BYTES];

    list(frame, channels);
    if (!conv->channels[plane][0] ||
        (!chosen &&
         count_names(channels) <= count_names(info->planes[HSIO_PLANE_COLOR].channels))) {
        tool_info("%s: %s", what, then);
        return;
    }
    tool_warn("%s: %s", what, then);
    tool_warn("convention %s takes %s from \"%s\"%s%s; %s %s%s; --set %s.channels=NAMES or --plane "
              "%s=FILES name others",
              conv->preset, hsio_plane_name(plane), conv->channels[plane],
              conv->layer[0] ? " in layer " : "", conv->layer, info->path,
              *channels ? "has " : "is no EXR file", channels, hsio_plane_name(plane),
              hsio_plane_name(plane));
}
