// SPDX-License-Identifier: MIT
// AOVs: the option, what each layer is taken for, and where its pixels go.
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "upscale.h"

int upscale_aov_take(struct upscale_request *request, const char *value)
{
    static const char *const kinds[] = {"auto", "light", "data", "nearest", NULL};
    const char *equal = strrchr(value, '=');
    const size_t length = equal ? (size_t)(equal - value) : strlen(value);
    struct upscale_aov_request *aov = &request->aovs[request->aov_count];
    int kind = 0;

    if (request->aov_count == HS_AOV_MAX) {
        tool_error("--aov: at most %d layers", HS_AOV_MAX);
        return HS_ERR_INVALID;
    }
    if (!length || length >= sizeof(aov->name)) {
        tool_error("--aov %s: the name of a layer is missing or too long", value);
        return HS_ERR_INVALID;
    }
    if (equal && tool_parse_name("aov", equal + 1, kinds, &kind) < 0)
        return HS_ERR_INVALID;
    snprintf(aov->name, sizeof(aov->name), "%.*s", (int)length, value);
    aov->kind = (enum upscale_aov_kind)kind;
    request->aov_count++;
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

static enum upscale_aov_kind kind_of(const struct upscale_aov_request *aov,
                                     const struct hsio_layer_info *info)
{
    if (aov->kind != UPSCALE_AOV_AUTO)
        return aov->kind;
    if (info->exact)
        return UPSCALE_AOV_NEAREST;
    return is_data(aov->name) || info->channel_count < 3 ? UPSCALE_AOV_DATA : UPSCALE_AOV_LIGHT;
}

/** A channel's name as a carried one's pattern, where a slash ends the part's name. */
static void name_exact(const struct hsio_layer_info *info, const char *name, int length,
                       char out[UPSCALE_EXACT_BYTES])
{
    const size_t part = strlen(info->part);

    snprintf(out, UPSCALE_EXACT_BYTES, "%s%s%.*s", info->part, part ? "/" : "", length, name);
    for (size_t i = 0; out[i]; i++) {
        if (out[i] == '/' && (i != part || !part))
            out[i] = '*';
    }
}

/** Each channel of the layer goes with those that are carried over. */
static int add_nearest(struct upscale_plan *plan, const struct hsio_layer_info *info)
{
    const char *name = info->channels;

    while (*name) {
        const int length = (int)strcspn(name, ",");

        if (plan->exact_count == UPSCALE_EXACT_MAX) {
            tool_error("--aov: too many channels");
            return HS_ERR_INVALID;
        }
        name_exact(info, name, length, plan->exact_names[plan->exact_count++]);
        name += length + (name[length] == ',');
    }
    return 0;
}

/** Names in the output, where there is one part only. */
static void name_channels(const struct hsio_layer_info *info, char *names, size_t size)
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

/** Whether an AOV before has these channels, under whatever name it was asked for. */
static bool is_taken(const struct upscale_plan *plan, const struct hsio_layer_info *info)
{
    char exact[UPSCALE_EXACT_BYTES], channels[sizeof(plan->setup.aovs[0].channels)];

    name_exact(info, info->channels, (int)strcspn(info->channels, ","), exact);
    for (int i = 0; i < plan->exact_count; i++) {
        if (!strcmp(plan->exact_names[i], exact))
            return true;
    }
    name_channels(info, channels, sizeof(channels));
    for (int i = 0; i < plan->setup.aov_count; i++) {
        if (!strcmp(plan->setup.aovs[i].channels, channels))
            return true;
    }
    return false;
}

static int add_aov(const struct upscale_request *request, struct upscale_plan *plan,
                   struct hsio_frame *frame, const struct upscale_aov_request *wanted)
{
    static const char *const about[] = {"", "part of the light", "values", "nearest sample"};
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
    const enum upscale_aov_kind kind = kind_of(wanted, &info);
    tool_info("AOV %s: %s", wanted->name, about[kind]);
    if (kind == UPSCALE_AOV_NEAREST)
        return add_nearest(plan, &info);
    *aov = (struct tool_aov){
        .kind = kind == UPSCALE_AOV_DATA ? HS_AOV_DATA : HS_AOV_LIGHT,
        .name = wanted->name,
        .format = info.format,
        .output_format =
            request->depth == 2 || (request->depth == 0 && info.format == HSIO_FORMAT_RGBA32F)
                ? HSIO_FORMAT_RGBA32F
                : HSIO_FORMAT_RGBA16F,
    };
    name_channels(&info, aov->channels, sizeof(aov->channels));
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
