// SPDX-License-Identifier: MIT
// Reading one frame into a slot, and watching for input that can not be meant.
#include <math.h>
#include <string.h>

#include "report.h"
#include "upscale.h"

#define GRID 16
/** Pixels between two that are looked at. */
#define STRIDE 4
/** Pictures differ when the mean difference of their blocks is above this part of the mean. */
#define DIFFERENT 0.01f
/** So many frames in a row are enough to warn. */
#define STILL_FRAMES 2

static float luma(const void *pixels, enum hsio_format format, size_t at)
{
    float rgb[3];

    for (int c = 0; c < 3; c++) {
        rgb[c] = format == HSIO_FORMAT_RGBA16F
                     ? hsio_half_to_float(((const uint16_t *)pixels)[4 * at + c])
                     : ((const float *)pixels)[4 * at + c];
    }
    float y = 0.2126f * rgb[0] + 0.7152f * rgb[1] + 0.0722f * rgb[2];
    // Highlights must not decide alone.
    return isfinite(y) && y > 0 ? y / (1 + y) : 0;
}

static void make_grid(const void *pixels, enum hsio_format format, int width, int height,
                      float grid[GRID * GRID])
{
    int counts[GRID * GRID] = {0};

    memset(grid, 0, GRID * GRID * sizeof(float));
    for (int y = 0; y < height; y += STRIDE) {
        for (int x = 0; x < width; x += STRIDE) {
            int block = y * GRID / height * GRID + x * GRID / width;

            grid[block] += luma(pixels, format, (size_t)y * width + x);
            counts[block]++;
        }
    }
    for (int i = 0; i < GRID * GRID; i++)
        grid[i] = counts[i] ? grid[i] / (float)counts[i] : 0;
}

/** The value of a 1x1 exposure plane, if there is one. */
static int read_exposure(struct hsio_frame *frame, float *exposure)
{
    const struct hsio_plane_info *plane = &hsio_frame_info(frame)->planes[HSIO_PLANE_EXPOSURE];

    *exposure = 0;
    if (!plane->present || plane->width != 1 || plane->height != 1)
        return 0;
    return hsio_frame_read(frame,
                           &(struct hsio_plane_request){.plane = HSIO_PLANE_EXPOSURE,
                                                        .format = HSIO_FORMAT_R32F,
                                                        .buffer = exposure,
                                                        .buffer_bytes = sizeof(*exposure)},
                           1);
}

int upscale_read(const struct upscale_plan *plan, const struct upscale_item *item,
                 const struct tool_slot_memory *memory, struct upscale_input *input)
{
    struct hsio_plane_request requests[TOOL_USED_PLANES];
    const struct hsio_frame_info *info;
    int count = 0, err;

    *input = (struct upscale_input){0};
    tool_capture_begin();
    err = hsio_frame_open(plan->seq, item->index, &input->frame);
    if (err < 0)
        goto error;
    if (memory->input[HSIO_PLANE_MOTION])
        err = hsio_frame_mend(input->frame, &input->mended);
    if (err < 0)
        goto error;
    info = hsio_frame_info(input->frame);
    for (int i = 0; i < TOOL_USED_PLANES; i++) {
        enum hsio_plane p = tool_used_planes[i];

        if (!memory->input[p] || !info->planes[p].present)
            continue;
        requests[count++] = (struct hsio_plane_request){
            .plane = p,
            .format = memory->formats[p],
            .buffer = memory->input[p],
            .buffer_bytes = memory->input_bytes[p],
            .stats = p == HSIO_PLANE_COLOR    ? &input->color
                     : p == HSIO_PLANE_MOTION ? &input->motion
                                              : NULL,
        };
    }
    err = hsio_frame_read(input->frame, requests, count);
    if (!err)
        err = upscale_aov_read(plan, memory, input->frame);
    if (!err)
        err = read_exposure(input->frame, &input->exposure);
    if (err < 0)
        goto error;
    tool_capture_end();
    make_grid(memory->input[HSIO_PLANE_COLOR], memory->formats[HSIO_PLANE_COLOR], info->width,
              info->height, input->grid);
    return 0;
error:;
    const char *why = tool_capture_end();
    const char *path = input->frame ? hsio_frame_info(input->frame)->path : "";

    // What went wrong mostly names the file already.
    if (!*path || !strncmp(why, path, strlen(path)))
        tool_error("frame %lld: %s", (long long)item->number, *why ? why : hs_error_string(err));
    else
        tool_error("frame %lld, %s: %s", (long long)item->number, path,
                   *why ? why : hs_error_string(err));
    hsio_frame_close(&input->frame);
    return err;
}

static float difference(const float *a, const float *b)
{
    float sum = 0, mean = 0;

    for (int i = 0; i < GRID * GRID; i++) {
        sum += fabsf(a[i] - b[i]);
        mean += a[i];
    }
    return mean > 0 ? sum / mean : 0;
}

static void watch_motion(struct upscale_watch *watch, const struct upscale_input *input,
                         const struct hsio_frame_info *info)
{
    bool still = info->planes[HSIO_PLANE_MOTION].present && input->motion.all_zero &&
                 watch->has_grid && !info->reset && !info->held &&
                 difference(input->grid, watch->grid) > DIFFERENT;

    watch->still_motion = still ? watch->still_motion + 1 : 0;
    if (watch->still_motion < STILL_FRAMES || watch->warned_zero)
        return;
    tool_warn("frame %lld: all motion vectors are zero although the picture changes; Blender "
              "writes such vectors when motion blur is on: render with motion blur off",
              (long long)info->number);
    watch->warned_zero = true;
}

static void tell_mended(struct upscale_watch *watch, const struct hsio_mended *m,
                        const struct hsio_frame_info *info)
{
    const struct hsio_plane_info *plane = &info->planes[HSIO_PLANE_MOTION];
    const double bare = 100 * (double)m->unwritten / ((double)plane->width * plane->height);

    if (watch->told_mended || !m->unwritten || m->turned || info->reset)
        return;
    if (m->filled)
        tool_info("frame %lld: %.0f %% of the pixels have no vector, and there is no camera: they "
                  "follow the one that the others tell of (%.0f %% of these agree)",
                  (long long)info->number, bare, 100 * m->share);
    else
        tool_info("frame %lld: %.0f %% of the pixels have no vector, there is no camera, and the "
                  "others tell of none: no history there",
                  (long long)info->number, bare);
    watch->told_mended = true;
}

void upscale_watch_frame(struct upscale_watch *watch, const struct upscale_input *input)
{
    const struct hsio_frame_info *info = hsio_frame_info(input->frame);
    uint64_t bad = input->color.non_finite;

    if (bad) {
        watch->bad_frames++;
        watch->bad_pixels += bad;
        if (!watch->warned_color)
            tool_warn("frame %lld, colour: %llu pixels are NaN or infinite and get replaced; "
                      "further frames are counted only",
                      (long long)info->number, (unsigned long long)bad);
        watch->warned_color = true;
    }
    if (input->motion.non_finite && info->convention->motion.unwritten != HSIO_UNWRITTEN_NAN) {
        watch->bad_motion_frames++;
        watch->bad_vectors += input->motion.non_finite;
        if (!watch->warned_motion)
            tool_warn("frame %lld, motion: %llu vectors are NaN or infinite and count as missing; "
                      "further frames are counted only",
                      (long long)info->number, (unsigned long long)input->motion.non_finite);
        watch->warned_motion = true;
    }
    if (!watch->warned_limit && hsio_motion_at_limit(&info->convention->motion, &input->motion)) {
        tool_warn("frame %lld, motion: vectors reach %g from no motion, where convention %s cuts "
                  "them off: faster ones are wrong",
                  (long long)info->number, (double)info->convention->motion.limit,
                  info->convention->preset);
        watch->warned_limit = true;
    }
    tell_mended(watch, &input->mended, info);
    watch_motion(watch, input, info);
    memcpy(watch->grid, input->grid, sizeof(watch->grid));
    watch->has_grid = true;
}
