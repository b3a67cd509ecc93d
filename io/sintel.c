// SPDX-License-Identifier: MIT
/** The layout of MPI Sintel: pass/scene/frame_0001.png, flow/scene/frame_0001.flo, and depth. */
#include "internal.h"

#include <stdio.h>
#include <string.h>

/* The sibling of the pictures' folder that holds a plane, if it has a file of the first frame. */
static bool find_plane(const struct hsio_sequence *s, const struct hsio_pattern *picture,
                       const char *folder, const char *extension, struct hsio_pattern *out)
{
    const char *slash = strrchr(picture->prefix, '/'), *scene = slash;
    char path[1536];
    uint64_t bytes;
    int length;

    if (!slash)
        return false;
    while (scene > picture->prefix && scene[-1] != '/')
        scene--;
    *out = *picture;
    length = snprintf(out->prefix, sizeof(out->prefix), "%.*s/../../%s/%.*s/%s",
                      (int)(slash - picture->prefix), picture->prefix, folder, (int)(slash - scene),
                      scene, slash + 1);
    if (length < 0 || (size_t)length >= sizeof(out->prefix))
        return false;
    snprintf(out->suffix, sizeof(out->suffix), "%s", extension);
    return !hsio_pattern_format(out, s->slots[0].number, path, sizeof(path)) &&
           !hsio_path_size(path, NULL, &bytes);
}

void hsio_sintel_find(struct hsio_sequence *s)
{
    static const struct {
        enum hsio_plane plane;
        const char *folder, *extension;
    } planes[] = {{HSIO_PLANE_MOTION, "flow", ".flo"}, {HSIO_PLANE_DEPTH, "depth", ".dpt"}};
    struct hsio_pattern picture;
    int64_t number;

    if (!s->slots[0].path || !hsio_scan_split(s->slots[0].path, &picture, &number))
        return;
    for (size_t i = 0; i < sizeof(planes) / sizeof(planes[0]); i++) {
        const enum hsio_plane p = planes[i].plane;

        if (s->has_plane[p])
            continue;
        s->has_plane[p] =
            find_plane(s, &picture, planes[i].folder, planes[i].extension, &s->planes[p]);
        if (s->has_plane[p])
            hsio_log(&s->log, HS_LOG_INFO, "%s: %s from %s", s->location, hsio_plane_name(p),
                     s->planes[p].prefix);
    }
}
