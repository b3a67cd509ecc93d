// SPDX-License-Identifier: MIT
// A model's network: path, weights, a pipeline for each layer.
#include <stdio.h>
#include <string.h>

#include "model.h"

/** Rows of the matrices that HS_PATH_AUTO takes. */
#define CHECKED_TILE 8

/** Why a model that may have matrices has none, behind the device's name. */
static const char *why_plain(bool slow, bool unchecked, bool enabled, bool integers, bool fits)
{
    if (slow)
        return "is a processor";
    if (unchecked)
        return "has matrices whose results are not checked yet; ask for the matrix path to have "
               "them";
    if (!enabled)
        return integers ? "has no matrices of 8-bit integers, or they are not enabled"
                        : "has no matrices of 16-bit floats, or they are not enabled";
    return fits ? "has too little shared memory for its matrices"
                : "has no matrices of a size that fits";
}

int hs_network_plan(struct hs_model *model, const struct hs_weights *weights, enum hs_path path)
{
    const struct hs_device *device = model->device;
    const uint32_t shared = device->limits.maxComputeSharedMemorySize;
    static const struct hs_matrix_size plain = {0};
    const bool integers = weights->architecture == HS_ARCHITECTURE_INT8;
    const bool enabled = integers ? device->matrix_int8 : device->matrix_f16;
    const struct hs_matrix_size *matrix = integers ? &device->matrix_integers : &device->matrix;
    // Processors have no units for matrices, and take them apart again.
    const bool slow = device->software && path == HS_PATH_AUTO;
    // Results of other tiles have not been held to the reference yet: docs/benchmarks.md.
    const bool unchecked = path == HS_PATH_AUTO && !slow && matrix->m > CHECKED_TILE;
    model->path = HS_PATH_MATRIX;
    if (path != HS_PATH_PLAIN && !slow && !unchecked && matrix->m &&
        hs_layers_plan(weights, matrix, shared, &model->layers))
        return 0;
    if (path != HS_PATH_PLAIN)
        hs_log_message(&device->log, HS_LOG_INFO, "%s runs on the plain path: %s %s",
                       weights->preset, device->name,
                       why_plain(slow, unchecked, enabled, integers, matrix->m != 0));
    model->path = HS_PATH_PLAIN;
    hs_layers_plan(weights, &plain, shared, &model->layers);
    return 0;
}

static VkDescriptorType binding_type(uint32_t binding)
{
    (void)binding;
    return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

int hs_network_layout(struct hs_model *model)
{
    return hs_model_set_layout(model, HS_BINDING_NETWORK_COUNT, binding_type,
                               &model->network_layout);
}

static int create_weights(struct hs_model *model, const struct hs_weights *weights)
{
    struct hs_device *device = model->device;
    const struct hs_buffer_plan plan = {&model->weights, "weights of a model",
                                        model->layers.weights_bytes,
                                        VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    void *map = NULL;
    int err = hs_arena_create(
        device, &(struct hs_arena_plan){.buffers = &plan, .buffer_count = 1, .mapped = true},
        &model->arena);
    if (err)
        return err;
    VkResult r =
        device->vk.MapMemory(device->device, model->arena.memory, 0, VK_WHOLE_SIZE, 0, &map);
    if (r != VK_SUCCESS)
        return hs_device_error(device, r, "vkMapMemory");
    hs_layers_pack(&model->layers, weights, map);
    device->vk.UnmapMemory(device->device, model->arena.memory);
    return 0;
}

const char *hs_network_shader(const struct hs_model *model, const char *stage,
                              char name[HS_SHADER_NAME_MAX])
{
    const bool matrix = model->path == HS_PATH_MATRIX;
    const char *suffix = matrix ? "cm" : "f32";
    if (model->layers.integers)
        suffix = matrix ? "i8_cm" : "i8";
    // The layers between are those of taau-unet.
    snprintf(name, HS_SHADER_NAME_MAX, "%s%s_%s", stage,
             model->guides && strcmp(stage, "32_conv") ? "_ray" : "", suffix);
    return name;
}

int hs_network_create(struct hs_model *model, const struct hs_weights *weights)
{
    char shader[HS_SHADER_NAME_MAX];
    const struct hs_layers *layers = &model->layers;
    const uint32_t head = layers->count - 1;
    int err = create_weights(model, weights);
    for (uint32_t i = 0; !err && i < head; i++) {
        hs_network_shader(model, i ? "32_conv" : "30_enter", shader);
        err = hs_model_pipeline(model, model->pipeline_layout, shader, layers->list[i].name,
                                &layers->list[i], &model->layer_pipelines[i]);
    }
    if (!err)
        err = hs_model_pipeline(model, model->pipeline_layout,
                                hs_network_shader(model, "40_resolve", shader),
                                hs_stage_name(HS_STAGE_RESOLVE), &layers->list[head],
                                &model->pipelines[HS_STAGE_RESOLVE]);
    return err;
}

void hs_network_destroy(struct hs_model *model)
{
    struct hs_device *device = model->device;
    for (uint32_t i = 0; i < model->layers.count; i++)
        device->vk.DestroyPipeline(device->device, model->layer_pipelines[i], NULL);
    device->vk.DestroyDescriptorSetLayout(device->device, model->network_layout, NULL);
    hs_own_buffer_destroy(device, &model->weights);
    hs_arena_destroy(device, &model->arena);
}
