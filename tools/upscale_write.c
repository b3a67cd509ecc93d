// SPDX-License-Identifier: MIT
// Writing one frame: names, windows and attributes come from the input.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "report.h"
#include "upscale.h"

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), n = strlen(end);

    return length >= n && !strcasecmp(text + length - n, end);
}

static int channel_count(const char *channels)
{
    int count = *channels != 0;

    for (; *channels; channels++)
        count += *channels == ',';
    return count;
}

static bool wanted(const struct upscale_request *request, const char *channel)
{
    for (int i = 0; i < request->aux_count; i++) {
        const char *slash = strchr(request->aux[i].pattern, '/');

        if (hsio_match_glob(slash ? slash + 1 : request->aux[i].pattern, channel))
            return true;
    }
    return false;
}

/** The user's rules; ahead of them, motion in pixels is told to grow with the picture. */
static int make_aux(const struct upscale_request *request, const struct upscale_plan *plan,
                    const struct hsio_frame_info *info, struct hsio_passthrough *aux,
                    char names[2][256])
{
    const struct hsio_plane_info *motion = &info->planes[HSIO_PLANE_MOTION];
    const char *comma = strchr(motion->channels, ',');
    int count = 0;

    if (motion->present && comma && info->stored_motion.unit == HSIO_UNIT_PX) {
        snprintf(names[0], sizeof(names[0]), "%.*s", (int)(comma - motion->channels),
                 motion->channels);
        snprintf(names[1], sizeof(names[1]), "%.*s", (int)strcspn(comma + 1, ","), comma + 1);
        for (int i = 0; i < 2; i++) {
            if (!wanted(request, names[i]))
                continue;
            aux[count++] = (struct hsio_passthrough){
                .pattern = names[i],
                .multiply = i == info->stored_motion.swap
                                ? (float)plan->setup.out_width / (float)info->width
                                : (float)plan->setup.out_height / (float)info->height,
            };
        }
    }
    for (int i = 0; i < plan->exact_count; i++)
        aux[count++] = (struct hsio_passthrough){.pattern = plan->exact_names[i],
                                                 .filter = HSIO_RESAMPLE_NEAREST};
    for (int i = 0; i < request->aux_count; i++)
        aux[count++] = request->aux[i];
    return count;
}

int upscale_write(const struct upscale_request *request, const struct upscale_plan *plan,
                  const struct upscale_item *item, const struct tool_slot_memory *memory,
                  struct hsio_frame *source)
{
    const struct hsio_frame_info *info = hsio_frame_info(source);
    struct hsio_passthrough aux[TOOL_MAX_AUX + 2 + UPSCALE_EXACT_MAX];
    struct hsio_write_plane planes[1 + HS_AOV_MAX];
    char names[2][256];
    const struct hsio_attribute attributes[] = {
        {"hindsight:version", hs_version_string()},
        {"hindsight:model", plan->model},
    };
    bool png = ends_with(item->path, ".png");
    planes[0] = (struct hsio_write_plane){
        .plane = HSIO_PLANE_COLOR,
        .format = memory->output_format,
        .data = memory->output,
        .store_float = plan->setup.output_float,
    };
    const struct hsio_write_options options = {
        .png_bits = request->png_bits,
        .curve = request->tone ? (enum hsio_curve)(request->tone - 1)
                 : request->ldr || request->look.curve != HS_LOOK_NONE ? HSIO_CURVE_NONE
                                                                       : HSIO_CURVE_SRGB,
        .png_alpha = channel_count(info->planes[HSIO_PLANE_COLOR].channels) > 3,
        .source = source,
        .passthrough = aux,
        .passthrough_count = png ? 0 : make_aux(request, plan, info, aux, names),
        .attributes = attributes,
        .attribute_count = sizeof(attributes) / sizeof(attributes[0]),
    };
    const int count = 1 + upscale_aov_planes(plan, memory, planes + 1);
    int err;

    tool_capture_begin();
    err = hsio_write(item->path, plan->setup.out_width, plan->setup.out_height, planes, count,
                     &options, tool_log());
    const char *why = tool_capture_end();
    if (err < 0 && !strncmp(why, item->path, strlen(item->path)))
        tool_error("frame %lld, output %s", (long long)item->number, why);
    else if (err < 0)
        tool_error("frame %lld, output %s: %s", (long long)item->number, item->path,
                   *why ? why : hs_error_string(err));
    return err;
}
