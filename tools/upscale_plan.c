// SPDX-License-Identifier: MIT
// What is to be done: sizes and planes over all frames, outputs, and which frames must run.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hsframe.h"
#include "hsmodel.h"
#include "hsoidn.h"
#include "interrupt.h"
#include "report.h"
#include "upscale.h"

/** What the first pass over the headers found. */
struct scan {
    bool reset; ///< The frame begins a new history.
    bool todo;  ///< Its output is not there.
    char *path;
};

int upscale_convention_make(const struct upscale_request *request, struct hsio_convention *conv)
{
    struct tool_convention wanted = {.preset = request->convention.preset,
                                     .layer = request->convention.layer};
    int err = 0;

    // Behind the preset, and ahead of what was set.
    if (request->ldr)
        err = tool_convention_add(&wanted, "color.transfer=display");
    for (int i = 0; !err && i < request->convention.setting_count; i++)
        err = tool_convention_add(&wanted, request->convention.settings[i]);
    return err ? err : tool_convention_make(&wanted, conv);
}

/** A range that misses the whole sequence, or runs backwards, is told in the options' words. */
static int check_range(const struct upscale_request *request, const struct hsio_sequence_info *info)
{
    const struct hsio_options *range = &request->sequence;
    const char *option = NULL;

    if (request->has_start && request->has_end && range->first > range->last) {
        tool_error("--start %lld comes after --end %lld", (long long)range->first,
                   (long long)range->last);
        return HS_ERR_INVALID;
    }
    if (request->has_start && range->first > info->last)
        option = "start";
    else if (request->has_end && range->last < info->first)
        option = "end";
    if (!option)
        return 0;
    tool_error("--%s %lld leaves no frame: %s has the frames %lld to %lld", option,
               (long long)(*option == 's' ? range->first : range->last), info->location,
               (long long)info->first, (long long)info->last);
    return HS_ERR_INVALID;
}

/** Ranges may be open at either end; the sequence itself tells the other one. */
static int open_sequence(const struct upscale_request *request, const struct hsio_convention *conv,
                         struct hsio_sequence **seq)
{
    struct hsio_options options = request->sequence;
    struct hsio_sequence_info info;
    int err;

    if (request->has_start || request->has_end || options.step > 1) {
        options.missing = HSIO_MISSING_SKIP;
        options.step = 0;
        err = hsio_sequence_open(request->input, conv, &options, tool_log(), seq);
        if (err < 0)
            return err;
        hsio_sequence_info(*seq, &info);
        options = request->sequence;
        options.has_range = true;
        options.first = request->has_start ? options.first : info.first;
        options.last = request->has_end ? options.last : info.last;
        err = check_range(request, &info);
        hsio_sequence_close(seq);
        if (err < 0)
            return err;
    }
    return hsio_sequence_open(request->input, conv, &options, tool_log(), seq);
}

static int choose_size(const struct upscale_request *request, struct upscale_plan *plan)
{
    const struct hsio_sequence_info *info = &plan->info;
    struct tool_backend_setup *setup = &plan->setup;
    double scale = request->scale > 0 ? request->scale : 2;

    if (request->size[0]) {
        setup->out_width = request->size[0];
        setup->out_height = request->size[1];
    } else if (info->output_width > 0 && request->scale <= 0) {
        setup->out_width = info->output_width;
        setup->out_height = info->output_height;
    } else {
        setup->out_width = (int)lround(info->width * scale);
        setup->out_height = (int)lround(info->height * scale);
    }
    if (setup->out_width < info->width || setup->out_height < info->height ||
        setup->out_width > 3 * info->width || setup->out_height > 3 * info->height) {
        tool_error("%dx%d to %dx%d is no upscaling between 1x and 3x", info->width, info->height,
                   setup->out_width, setup->out_height);
        return HS_ERR_INVALID;
    }
    return 0;
}

/** Models take no pictures that are smaller still; a filter takes any. */
static void choose_model(struct upscale_request *request, const struct hsio_sequence_info *info)
{
    if (tool_is_baseline(request->model) ||
        (info->width >= TOOL_LEAST_SIDE && info->height >= TOOL_LEAST_SIDE))
        return;
    tool_warn("%s: %dx%d is less than the %dx%d pixels that models take: bicubic is used instead",
              info->location, info->width, info->height, TOOL_LEAST_SIDE, TOOL_LEAST_SIDE);
    request->model = "bicubic";
}

/** Widens the setup so that the frame fits in. */
static void include_frame(struct tool_backend_setup *setup, const struct hsio_frame_info *info)
{
    for (int i = 0; i < TOOL_USED_PLANES; i++) {
        enum hsio_plane p = tool_used_planes[i];
        const struct hsio_plane_info *plane = &info->planes[p];

        if (!plane->present || !tool_plane_used(setup->guides, p))
            continue;
        if (plane->width > setup->planes[p].width)
            setup->planes[p].width = plane->width;
        if (plane->height > setup->planes[p].height)
            setup->planes[p].height = plane->height;
        // 32-bit formats come behind their 16-bit ones.
        if (!setup->planes[p].present || plane->format > setup->planes[p].format)
            setup->planes[p].format = plane->format;
        setup->planes[p].present = true;
    }
}

static int check_frame_size(const struct upscale_plan *plan, const struct hsio_frame_info *info,
                            bool *warned)
{
    const struct tool_backend_setup *setup = &plan->setup;

    if (info->width > setup->out_width || info->height > setup->out_height ||
        setup->out_width > 3 * info->width || setup->out_height > 3 * info->height) {
        tool_error("frame %lld: %dx%d found, which does not go with an output of %dx%d; expected "
                   "%dx%d, as in the first frame, or a size between a third of and the output's",
                   (long long)info->number, info->width, info->height, setup->out_width,
                   setup->out_height, plan->info.width, plan->info.height);
        return HS_ERR_INVALID;
    }
    if (info->resized && !*warned) {
        tool_warn("frame %lld is %dx%d, the first one is %dx%d: taken as dynamic resolution",
                  (long long)info->number, info->width, info->height, plan->info.width,
                  plan->info.height);
        *warned = true;
    }
    return 0;
}

/** Looks at one frame's headers. Damaged files are left to the run, which comes that far. */
static int scan_frame(const struct upscale_request *request, struct upscale_plan *plan, int index,
                      struct scan *scan, bool *warned)
{
    int64_t number = hsio_sequence_number(plan->seq, index);
    const struct hsio_frame_info *info = NULL;
    struct hsio_frame *frame = NULL;
    int err;

    tool_capture_begin();
    if (hsio_frame_open(plan->seq, index, &frame) == 0)
        info = hsio_frame_info(frame);
    tool_capture_end();
    err = upscale_output_name(request, &plan->info, number, info, &scan->path);
    if (!err && info) {
        err = check_frame_size(plan, info, warned);
        if (!err)
            err = hsframe_check(info, plan->setup.out_width, plan->setup.out_height, tool_log());
        if (!err && plan->setup.guides)
            err = hsframe_check_guides(info, tool_log());
        if (!err)
            include_frame(&plan->setup, info);
        upscale_lack_scan(request, plan, index, frame);
    }
    scan->reset =
        index == 0 || (info && info->reset) || tool_frame_listed(&request->resets, number);
    scan->todo = true;
    if (!err && !request->overwrite) {
        int finished =
            upscale_output_finished(scan->path, plan->setup.out_width, plan->setup.out_height);

        err = finished < 0 ? finished : 0;
        scan->todo = !finished;
    }
    hsio_frame_close(&frame);
    return err;
}

/**
 * Lists the frames to run: between two cuts, everything from the cut (or `warm_up` frames ahead)
 * to the last frame that is left to do, so that history is what it was.
 */
static int list_items(const struct upscale_request *request, struct upscale_plan *plan,
                      struct scan *scans)
{
    int count = plan->info.frame_count;

    plan->items = calloc((size_t)count, sizeof(*plan->items));
    if (!plan->items)
        return HS_ERR_NOMEM;
    for (int cut = 0, end; cut < count; cut = end) {
        int first = -1, last = -1, begin = cut;

        for (end = cut + 1; end < count && !scans[end].reset;)
            end++;
        for (int i = cut; i < end; i++) {
            if (scans[i].todo) {
                first = first < 0 ? i : first;
                last = i;
            }
        }
        if (first < 0)
            continue;
        if (request->warm_up >= 0 && first - request->warm_up > cut)
            begin = first - (int)request->warm_up;
        for (int i = begin; i <= last; i++) {
            plan->items[plan->item_count++] = (struct upscale_item){
                .index = i,
                .number = hsio_sequence_number(plan->seq, i),
                .path = scans[i].path,
                .write = scans[i].todo,
                .reset = i == begin,
            };
            scans[i].path = NULL;
        }
    }
    for (int i = 0; i < count; i++)
        plan->finished += !scans[i].todo;
    return 0;
}

static int scan_all(const struct upscale_request *request, struct upscale_plan *plan)
{
    int count = plan->info.frame_count, err = 0;
    struct scan *scans = calloc((size_t)count, sizeof(*scans));
    bool warned = false;

    if (!scans)
        return HS_ERR_NOMEM;
    plan->lack.total = count;
    for (int i = 0; !err && i < count && !tool_interrupted(); i++)
        err = scan_frame(request, plan, i, &scans[i], &warned);
    if (!err && scans[0].path)
        err = upscale_rules_check_output(request, scans[0].path);
    for (int i = 1; !err && i < count && scans[i].path && scans[i - 1].path; i++) {
        if (!strcmp(scans[i].path, scans[i - 1].path)) {
            tool_error("two frames would be written to %s", scans[i].path);
            err = HS_ERR_INVALID;
        }
    }
    if (!err && !tool_interrupted())
        err = list_items(request, plan, scans);
    for (int i = 0; i < count; i++)
        free(scans[i].path);
    free(scans);
    return err;
}

int upscale_plan_make(struct upscale_request *request, struct upscale_plan *plan)
{
    struct hsio_convention conv;
    int err = upscale_convention_make(request, &conv);

    if (!err)
        err = open_sequence(request, &conv, &plan->seq);
    if (!err)
        err = tool_layer_check(&request->convention, plan->seq);
    if (!err) {
        hsio_sequence_info(plan->seq, &plan->info);
        choose_model(request, &plan->info);
        err = upscale_check(request, plan->seq, &conv);
    }
    plan->found = err > 0;
    if (err > 0) {
        hsio_sequence_close(&plan->seq);
        err = open_sequence(request, &conv, &plan->seq);
    }
    if (err < 0)
        return err;
    hsio_sequence_info(plan->seq, &plan->info);
    tool_frames_warn("reset-at", &request->resets, plan->seq);
    plan->setup.model = request->model;
    plan->setup.guides = hsmodel_reads_guides(request->model) || hsoidn_is(request->model);
    plan->setup.device = request->device;
    plan->setup.path = (enum hs_path)request->path;
    plan->setup.validate = request->validate;
    plan->setup.ldr = request->ldr;
    err = choose_size(request, plan);
    if (!err)
        err = upscale_output_prepare(request, &plan->info);
    if (!err)
        err = scan_all(request, plan);
    if (!err)
        err = upscale_lack_check(request, plan);
    if (!err)
        upscale_output_clear(request, plan);
    if (!err && plan->item_count && !plan->setup.planes[HSIO_PLANE_COLOR].present) {
        tool_error("no frame of %s can be read", plan->info.location);
        err = HS_ERR_FORMAT;
    }
    if (!err)
        err = upscale_aov_plan(request, plan);
    const enum hsio_format raw = upscale_output_raw(request->output);
    plan->setup.output_float =
        raw ? raw == HSIO_FORMAT_RGBA32F
            : request->depth == 2 ||
                  (request->depth == 0 &&
                   plan->setup.planes[HSIO_PLANE_COLOR].format == HSIO_FORMAT_RGBA32F);
    return err;
}

void upscale_plan_finish(struct upscale_plan *plan)
{
    for (int i = 0; i < plan->item_count; i++)
        free(plan->items[i].path);
    free(plan->items);
    plan->items = NULL;
    hsio_sequence_close(&plan->seq);
}
