// SPDX-License-Identifier: MIT
// AOVs: the option, what each layer is taken for, and where its pixels go.
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "upscale.h"

int upscale_aov_take(struct upscale_request *request, const char *value)
{
    int err;

    if (request->aov_count == HS_AOV_MAX) {
        tool_error("--aov: at most %d layers", HS_AOV_MAX);
        return HS_ERR_INVALID;
    }
    err = hsaov_parse(value, tool_log(), &request->aovs[request->aov_count]);
    request->aov_count += !err;
    return err;
}

/** Each channel of the layer goes with those that are carried over. */
static int add_nearest(struct upscale_plan *plan, const struct hsio_layer_info *info)
{
    char name[HSAOV_EXACT_BYTES];

    for (int i = 0; hsaov_name_exact(info, i, name); i++) {
        if (plan->exact_count == UPSCALE_EXACT_MAX) {
            tool_error("--aov: too many channels");
            return HS_ERR_INVALID;
        }
        memcpy(plan->exact_names[plan->exact_count++], name, sizeof(name));
    }
    return 0;
}

/** Whether an AOV before has these channels, under whatever name it was asked for. */
static bool is_taken(const struct upscale_plan *plan, const struct hsio_layer_info *info)
{
    char exact[HSAOV_EXACT_BYTES], channels[sizeof(plan->setup.aovs[0].channels)];

    hsaov_name_exact(info, 0, exact);
    for (int i = 0; i < plan->exact_count; i++) {
        if (!strcmp(plan->exact_names[i], exact))
            return true;
    }
    hsaov_name_channels(info, channels, sizeof(channels));
    for (int i = 0; i < plan->setup.aov_count; i++) {
        if (!strcmp(plan->setup.aovs[i].channels, channels))
            return true;
    }
    return false;
}

static int add_aov(const struct upscale_request *request, struct upscale_plan *plan,
                   struct hsio_frame *frame, const struct hsaov_request *wanted)
{
    struct tool_aov *aov = &plan->setup.aovs[plan->setup.aov_count];
    struct hsio_layer_info info;
    int err = hsio_frame_layer(frame, wanted->name, &info);

    if (err < 0)
        return err;
    if (info.is_color) {
        tool_error("--aov %s: that layer is the colour", wanted->name);
        return HS_ERR_INVALID;
    }
    if (is_taken(plan, &info)) {
        tool_error("--aov %s: that layer, %s, was named before", wanted->name, info.channels);
        return HS_ERR_INVALID;
    }
    const enum hsaov_kind kind = hsaov_kind_of(wanted, &info);
    tool_info("AOV %s: %s", wanted->name, hsaov_kind_about(kind));
    if (kind == HSAOV_NEAREST)
        return add_nearest(plan, &info);
    *aov = (struct tool_aov){
        .kind = kind == HSAOV_DATA ? HS_AOV_DATA : HS_AOV_LIGHT,
        .name = wanted->name,
        .format = info.format,
        .output_format =
            request->depth == 2 || (request->depth == 0 && info.format == HSIO_FORMAT_RGBA32F)
                ? HSIO_FORMAT_RGBA32F
                : HSIO_FORMAT_RGBA16F,
    };
    hsaov_name_channels(&info, aov->channels, sizeof(aov->channels));
    plan->setup.aov_count++;
    return 0;
}

int upscale_aov_plan(const struct upscale_request *request, struct upscale_plan *plan)
{
    struct hsio_frame *frame = NULL;
    int err;

    if (!request->aov_count || !plan->item_count)
        return 0;
    if (tool_is_baseline(request->model)) {
        tool_error("--aov: %s makes no AOVs; --aux carries channels over", request->model);
        return HS_ERR_INVALID;
    }
    err = hsio_frame_open(plan->seq, plan->items[0].index, &frame);
    for (int i = 0; !err && i < request->aov_count; i++)
        err = add_aov(request, plan, frame, &request->aovs[i]);
    if (!err && plan->setup.aov_count && request->sharpness > 0)
        tool_warn("the colour is sharpened and AOVs are not: they do not add up to it");
    hsio_frame_close(&frame);
    return err;
}

int upscale_aov_read(const struct upscale_plan *plan, const struct tool_slot_memory *memory,
                     struct hsio_frame *frame)
{
    struct hsio_layer_request requests[HS_AOV_MAX];

    for (int i = 0; i < plan->setup.aov_count; i++)
        requests[i] = (struct hsio_layer_request){
            .name = plan->setup.aovs[i].name,
            .format = plan->setup.aovs[i].format,
            .buffer = memory->aov_input[i],
            .buffer_bytes = memory->aov_input_bytes[i],
        };
    return hsio_frame_read_layers(frame, requests, plan->setup.aov_count);
}

int upscale_aov_planes(const struct upscale_plan *plan, const struct tool_slot_memory *memory,
                       struct hsio_write_plane *planes)
{
    for (int i = 0; i < plan->setup.aov_count; i++)
        planes[i] = (struct hsio_write_plane){
            .plane = HSIO_PLANE_COLOR,
            .format = plan->setup.aovs[i].output_format,
            .data = memory->aov_output[i],
            .channels = plan->setup.aovs[i].channels,
            .store_float = plan->setup.aovs[i].output_format == HSIO_FORMAT_RGBA32F,
        };
    return plan->setup.aov_count;
}
