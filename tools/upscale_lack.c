// SPDX-License-Identifier: MIT
// What frames lack: patterns that fit no channel, and planes that are not there.
#include "lack.h"
#include "report.h"
#include "upscale.h"

#include <string.h>

void upscale_lack_scan(const struct upscale_request *request, struct upscale_plan *plan, int index,
                       struct hsio_frame *frame)
{
    const struct hsio_frame_info *info = hsio_frame_info(frame);
    struct upscale_lack *lack = &plan->lack;

    if (!lack->readable++)
        lack->index = index;
    lack->jitter += !info->has_jitter;
    for (int i = 0; i < HSIO_PLANE_COUNT; i++)
        lack->planes[i] += !info->planes[i].present;
    // Of vectors to the next frame it takes those of the frame before.
    lack->not_needed += !info->planes[HSIO_PLANE_MOTION].present && index &&
                        info->convention->motion.direction == HSIO_DIRECTION_NEXT;
    for (int i = 0; i < request->aux_count; i++)
        lack->aux[i] += !hsio_frame_fits(frame, request->aux[i].pattern);
}

static int refuse_aux(const char *pattern, struct hsio_frame *frame)
{
    char channels[1024];

    hsio_frame_list(frame, channels, sizeof(channels));
    tool_error("%s: --aux %s fits no channel; %s%s", hsio_frame_info(frame)->path, pattern,
               *channels ? "there are: " : "it is no EXR file", channels);
    return HS_ERR_INVALID;
}

/** Of what was named, some frame has to have something. */
static int check_named(const struct upscale_request *request, const struct upscale_lack *lack,
                       struct hsio_frame *frame)
{
    int err = 0;

    for (int i = 0; !err && i < request->aux_count; i++) {
        if (lack->aux[i] == lack->readable)
            err = refuse_aux(request->aux[i].pattern, frame);
        else if (lack->aux[i])
            tool_warn("--aux %s fits no channel in %d of %d frames", request->aux[i].pattern,
                      lack->aux[i], lack->readable);
    }
    for (int i = 0; !err && i < HSIO_PLANE_COUNT; i++) {
        const enum hsio_plane plane = (enum hsio_plane)i;
        const char *pattern = tool_lack_named(&request->convention, plane);

        if (!pattern || !lack->planes[i])
            continue;
        if (lack->planes[i] == lack->readable)
            err = tool_lack_refuse(&request->convention, frame, plane);
        else
            tool_warn("--set %s.channels=%s fits no channels in %d of %d frames",
                      hsio_plane_name(plane), pattern, lack->planes[i], lack->readable);
    }
    return err;
}

int upscale_lack_check(const struct upscale_request *request, const struct upscale_plan *plan)
{
    struct hsio_frame *frame = NULL;
    int err;

    if (!plan->lack.readable || (!request->aux_count && !request->convention.setting_count))
        return 0;
    err = hsio_frame_open(plan->seq, plan->lack.index, &frame);
    if (!err)
        err = check_named(request, &plan->lack, frame);
    hsio_frame_close(&frame);
    return err;
}

/** What all frames lack may be a way to work; what some lack is hardly meant. */
static void tell_plane(const struct upscale_request *request, const struct upscale_lack *lack,
                       struct hsio_frame *frame, enum hsio_plane plane, const char *what,
                       const char *then)
{
    const int count = lack->planes[plane] - (plane == HSIO_PLANE_MOTION ? lack->not_needed : 0);

    if (lack->planes[plane] == lack->readable)
        tool_lack_tell(&request->convention, frame, plane, what, then);
    else if (count)
        tool_warn("%s in %d of %d frames: %s", what, count, lack->total, then);
}

void upscale_lack_tell(const struct upscale_request *request, const struct upscale_plan *plan)
{
    const struct upscale_lack *lack = &plan->lack;
    struct hsio_frame *frame = NULL;

    if (lack->jitter && lack->jitter < lack->readable)
        tool_warn("no jitter in %d of %d frames: it is taken as 0", lack->jitter, lack->total);
    else if (lack->jitter)
        tool_info("no jitter: it is taken as 0");
    if (tool_is_baseline(request->model) ||
        (!lack->planes[HSIO_PLANE_MOTION] && !lack->planes[HSIO_PLANE_DEPTH]))
        return;
    tool_capture_begin();
    const int err = hsio_frame_open(plan->seq, lack->index, &frame);
    tool_capture_end();
    if (err < 0)
        return;
    tell_plane(request, lack, frame, HSIO_PLANE_MOTION, "no motion vectors",
               "motion comes from the camera where there is one, else nothing is taken to move");
    tell_plane(request, lack, frame, HSIO_PLANE_DEPTH, "no depth",
               "no disocclusion test, no dilation of motion");
    hsio_frame_close(&frame);
}
