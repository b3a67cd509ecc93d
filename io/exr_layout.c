// SPDX-License-Identifier: MIT
/** Where an output picture lies in its windows, and what its channels are called. */
#include "internal.h"

#include <string.h>

static int floor_div(int64_t a, int64_t b)
{
    return (int)(a / b - (a % b < 0));
}

static int ceil_div(int64_t a, int64_t b)
{
    return -floor_div(-a, b);
}

static int round_div(int64_t a, int64_t b)
{
    return floor_div(2 * a + b, 2 * b);
}

/* One axis: source display, data and canvas ranges (last excluded) to those of the file. */
static void scale_axis(const int64_t display[2], const int64_t data[2], const int64_t canvas[2],
                       bool canvas_is_data, int size, int out_display[2], int out_data[2])
{
    const int64_t in = canvas[1] - canvas[0];
    const int origin = round_div(canvas[0] * size, in);
    const int64_t *other = canvas_is_data ? display : data;
    int low = floor_div((other[0] - canvas[0]) * size, in);
    int high = ceil_div((other[1] - canvas[0]) * size, in);

    if (canvas_is_data) {
        out_data[0] = origin;
        out_data[1] = origin + size - 1;
        out_display[0] = origin + low;
        out_display[1] = origin + high - 1;
        return;
    }
    low = low < 0 ? 0 : low;
    high = high > size ? size : high;
    if (low >= high) { // Nothing of the data is in the picture: write it all.
        low = 0;
        high = size;
    }
    out_display[0] = origin;
    out_display[1] = origin + size - 1;
    out_data[0] = origin + low;
    out_data[1] = origin + high - 1;
}

void hsio_exr_place(struct hsio_frame *source, int width, int height, struct hsio_exr_windows *w)
{
    int part, display[2][2], data[2][2];

    *w = (struct hsio_exr_windows){.display = {0, 0, width - 1, height - 1}};
    w->data = w->display;
    if (!source || !hsio_frame_exr(source, &part))
        return;
    for (int axis = 0; axis < 2; axis++) {
        const struct hsio_frame_info *info = hsio_frame_info(source);
        const struct hsio_box c = hsio_frame_canvas(source);
        const struct hsio_box boxes[3] = {info->display, info->data, c};
        int64_t r[3][2];

        for (int i = 0; i < 3; i++) {
            r[i][0] = axis ? boxes[i].min_y : boxes[i].min_x;
            r[i][1] = (int64_t)(axis ? boxes[i].max_y : boxes[i].max_x) + 1;
        }
        scale_axis(r[0], r[1], r[2], hsio_frame_uses_data_window(source), axis ? height : width,
                   display[axis], data[axis]);
    }
    w->display = (struct hsio_box){display[0][0], display[1][0], display[0][1], display[1][1]};
    w->data = (struct hsio_box){data[0][0], data[1][0], data[0][1], data[1][1]};
    if (!hsio_frame_uses_data_window(source)) {
        w->offset_x = w->data.min_x - w->display.min_x;
        w->offset_y = w->data.min_y - w->display.min_y;
    }
}

const char *hsio_exr_default_names(enum hsio_plane plane)
{
    switch (plane) {
    case HSIO_PLANE_COLOR:
        return "R,G,B,A";
    case HSIO_PLANE_DEPTH:
        return "depth.Z";
    case HSIO_PLANE_MOTION:
        return "motion.X,motion.Y";
    case HSIO_PLANE_MOTION_NEXT:
        return "motion_next.X,motion_next.Y";
    case HSIO_PLANE_DIFFUSE_ALBEDO:
        return "diffuse_albedo.R,diffuse_albedo.G,diffuse_albedo.B";
    case HSIO_PLANE_SPECULAR_ALBEDO:
        return "specular_albedo.R,specular_albedo.G,specular_albedo.B";
    case HSIO_PLANE_NORMAL:
        return "normal.X,normal.Y,normal.Z";
    case HSIO_PLANE_ROUGHNESS:
        return "roughness.R";
    case HSIO_PLANE_HIT_DISTANCE:
        return "hit_distance.R";
    case HSIO_PLANE_REACTIVE:
        return "reactive.R";
    default:
        return "exposure.R";
    }
}

int hsio_exr_split_names(const char *list, char names[4][256])
{
    int count = 0;

    for (const char *p = list;; p++) {
        const size_t length = strcspn(p, ",");

        if (!length || length >= 256 || count == 4)
            return 0;
        memcpy(names[count], p, length);
        names[count++][length] = 0;
        p += length;
        if (!*p)
            return count;
    }
}
