// SPDX-License-Identifier: MIT
// Frames read as pictures to be compared.
#include <math.h>
#include <stdlib.h>

#include "metrics.h"
#include "report.h"

#define INFINITE_COLOR 60000.0f

static float tone(float x, bool display, uint64_t *non_finite)
{
    if (!isfinite(x)) {
        ++*non_finite;
        x = x > 0 ? INFINITE_COLOR : 0;
    }
    x = x > 0 ? x : 0;
    if (display)
        return x < 1 ? x : 1;
    return (float)pow((double)x / (1 + (double)x), 1 / 2.2);
}

/** Opens a frame and reads one plane of it as 32-bit floats. */
static int read_plane(const struct hsio_sequence *seq, int index, enum hsio_plane plane,
                      enum hsio_format format, struct hsio_frame **frame, float **pixels)
{
    const struct hsio_plane_info *info;
    int err;

    *frame = NULL;
    *pixels = NULL;
    tool_capture_begin();
    err = hsio_frame_open(seq, index, frame);
    if (err < 0)
        goto error;
    info = &hsio_frame_info(*frame)->planes[plane];
    size_t bytes = (size_t)info->width * (size_t)info->height * hsio_format_bytes(format);

    *pixels = malloc(bytes ? bytes : 1);
    if (!*pixels) {
        err = HS_ERR_NOMEM;
        goto error;
    }
    err = hsio_frame_read(
        *frame,
        &(struct hsio_plane_request){
            .plane = plane, .format = format, .buffer = *pixels, .buffer_bytes = bytes},
        1);
    if (err < 0)
        goto error;
    tool_capture_end();
    return 0;
error:;
    const char *why = tool_capture_end();

    tool_error("frame %lld, %s: %s", (long long)hsio_sequence_number(seq, index),
               hsio_plane_name(plane), *why ? why : hs_error_string(err));
    free(*pixels);
    hsio_frame_close(frame);
    return err;
}

int tool_picture_load(const struct hsio_sequence *seq, int index, bool display,
                      struct tool_picture *picture)
{
    struct hsio_frame *frame;
    float *rgba;
    int err = read_plane(seq, index, HSIO_PLANE_COLOR, HSIO_FORMAT_RGBA32F, &frame, &rgba);

    if (err < 0)
        return err;
    const struct hsio_plane_info *info = &hsio_frame_info(frame)->planes[HSIO_PLANE_COLOR];
    size_t count = (size_t)info->width * (size_t)info->height;

    *picture = (struct tool_picture){.width = info->width, .height = info->height, .rgb = rgba};
    // In place: the target never overtakes the source.
    for (size_t i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++)
            rgba[3 * i + c] = tone(rgba[4 * i + c], display, &picture->non_finite);
    }
    hsio_frame_close(&frame);
    return 0;
}

void tool_picture_free(struct tool_picture *picture)
{
    free(picture->rgb);
    *picture = (struct tool_picture){0};
}

int tool_motion_load(const struct hsio_sequence *seq, int index, struct tool_motion *motion)
{
    struct hsio_frame *frame;
    float *xy, scale[2];
    int err = read_plane(seq, index, HSIO_PLANE_MOTION, HSIO_FORMAT_RG32F, &frame, &xy);

    if (err < 0)
        return err;
    const struct hsio_frame_info *info = hsio_frame_info(frame);
    const struct hsio_plane_info *plane = &info->planes[HSIO_PLANE_MOTION];
    const struct hsio_motion_convention *conv = &info->convention->motion;
    size_t count = (size_t)plane->width * (size_t)plane->height;

    // The plane's own raster counts here, whichever it is.
    hsio_motion_scale(conv, plane->width, plane->height, plane->width, plane->height, scale);
    if (conv->direction == HSIO_DIRECTION_NEXT) {
        scale[0] = -scale[0];
        scale[1] = -scale[1];
    }
    for (size_t i = 0; i < count; i++) {
        float a = xy[2 * i + conv->swap], b = xy[2 * i + !conv->swap];

        xy[2 * i] = (a - conv->bias_x) * scale[0];
        xy[2 * i + 1] = (b - conv->bias_y) * scale[1];
    }
    *motion = (struct tool_motion){plane->width, plane->height, xy};
    hsio_frame_close(&frame);
    return 0;
}

void tool_motion_free(struct tool_motion *motion)
{
    free(motion->xy);
    *motion = (struct tool_motion){0};
}
