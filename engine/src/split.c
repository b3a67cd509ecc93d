// SPDX-License-Identifier: MIT
// Frames in two parts, around a network that is run outside.
#include "stream.h"

#include <inttypes.h>
#include <stdio.h>

/** Bytes of a feature and of an output. */
static uint32_t feature_bytes(const struct hs_layers *layers)
{
    return layers->integers ? 1 : 2;
}

static uint32_t output_bytes(const struct hs_layers *layers)
{
    return layers->integers ? 4 : 2;
}

int hs_model_split(const struct hs_model *model, uint32_t render_width, uint32_t render_height,
                   uint32_t out_width, uint32_t out_height, struct hs_split_info *info)
{
    if (!model || !info)
        return HS_ERR_INVALID;
    const struct hs_layers *layers = &model->layers;
    if (!render_width || !render_height || !out_width || !out_height)
        return hs_invalid(&model->device->log, "a size of %ux%u to %ux%u has nothing around it",
                          render_width, render_height, out_width, out_height);
    if (!layers->count) {
        hs_log_message(&model->device->log, HS_LOG_ERROR, "%s has no network", model->name);
        return HS_ERR_UNSUPPORTED;
    }
    struct hs_level_size levels[HS_WEIGHTS_LEVELS];
    if (layers->integers)
        hs_level_sizes(render_width, render_height, levels);
    else
        hs_level_sizes((out_width + 1) / 2, (out_height + 1) / 2, levels);
    const uint64_t tokens = (uint64_t)levels[0].width * levels[0].height;
    *info = (struct hs_split_info){
        .width = levels[0].width,
        .height = levels[0].height,
        .features = layers->list[0].constants[HS_SPEC_INPUTS],
        .outputs = layers->list[layers->count - 1].constants[HS_SPEC_OUTPUTS],
        .integers = layers->integers,
    };
    info->features_bytes = tokens * info->features * feature_bytes(layers);
    info->head_bytes = tokens * info->outputs * output_bytes(layers);
    return 0;
}

int hs_split_take(struct hs_stream *s, const struct hs_split *split)
{
    struct hs_split_info need;
    if (!split)
        return 0;
    const int err =
        hs_model_split(s->model, s->params.max_render_width, s->params.max_render_height,
                       s->params.out_width, s->params.out_height, &need);
    if (err)
        return err;
    if (!split->features || !split->head)
        return hs_invalid(&s->device->log, "a network outside needs two buffers");
    if (split->features_bytes < need.features_bytes || split->head_bytes < need.head_bytes)
        return hs_invalid(&s->device->log,
                          "buffers of %" PRIu64 " and %" PRIu64
                          " bytes around a network, expected %" PRIu64 " and %" PRIu64,
                          split->features_bytes, split->head_bytes, need.features_bytes,
                          need.head_bytes);
    const uint64_t most = s->device->limits.maxStorageBufferRange;
    if (need.features_bytes > most || need.head_bytes > most) {
        hs_log_message(&s->device->log, HS_LOG_ERROR,
                       "buffers of %" PRIu64 " and %" PRIu64
                       " bytes around a network, those of %s end at %" PRIu64,
                       need.features_bytes, need.head_bytes, s->device->name, most);
        return HS_ERR_UNSUPPORTED;
    }
    s->split = true;
    s->split_features = split->features;
    s->split_head = split->head;
    s->params.bands = 1;
    return 0;
}

int hs_split_create(struct hs_stream *s)
{
    const struct hs_model *model = s->model;
    const struct hs_layers *layers = &model->layers;
    const char *suffix = layers->integers ? "i8" : model->guides ? "ray" : "f32";
    char shader[HS_SHADER_NAME_MAX];
    snprintf(shader, sizeof(shader), "30_enter_split_%s", suffix);
    int err = hs_model_pipeline(model, model->pipeline_layout, shader, "features", &layers->list[0],
                                &s->split_enter);
    snprintf(shader, sizeof(shader), "40_resolve_split_%s", suffix);
    if (!err)
        err = hs_model_pipeline(model, model->pipeline_layout, shader, "resolve",
                                &layers->list[layers->count - 1], &s->split_resolve);
    return err;
}

void hs_split_destroy(struct hs_stream *s)
{
    s->device->vk.DestroyPipeline(s->device->device, s->split_enter, NULL);
    s->device->vk.DestroyPipeline(s->device->device, s->split_resolve, NULL);
}
