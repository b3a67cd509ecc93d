// SPDX-License-Identifier: MIT
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose.h"
#include "guides.h"
#include "interface.h"
#include "spirv.h"

static const struct {
    const char *name;
    const char *shader;
} stages[HS_STAGE_COUNT] = {
    [HS_STAGE_MEASURE] = {"measure", "00_measure"},
    [HS_STAGE_EXPOSE] = {"expose", "05_expose"},
    [HS_STAGE_PREPARE] = {"prepare", "10_prepare"},
    [HS_STAGE_DEMODULATE] = {"demodulate", "12_demodulate"},
    [HS_STAGE_ACCUMULATE] = {"accumulate", "14_accumulate"},
    [HS_STAGE_FILTER] = {"filter", "16_filter"},
    [HS_STAGE_REPROJECT] = {"reproject", "20_reproject"},
    [HS_STAGE_RESOLVE] = {"resolve", "40_resolve"},
    [HS_STAGE_FINISH] = {"finish", "50_finish"},
};

const char *hs_stage_name(enum hs_stage stage)
{
    return stages[stage].name;
}

VkDescriptorType hs_binding_type(uint32_t binding)
{
    if (binding == HS_BINDING_PARAMS)
        return VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    if (binding == HS_BINDING_STATE)
        return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    return binding < HS_BINDING_OUT_PREP_COLOUR ? VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE
                                                : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
}

int hs_model_layout(struct hs_model *model)
{
    struct hs_device *device = model->device;
    const VkDescriptorSetLayout sets[HS_SET_GUIDES + 1] = {
        model->set_layout,
        model->layers.count ? model->network_layout : model->empty_layout,
        model->empty_layout,
        model->guide_layout,
    };
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct hs_push)};
    VkResult r =
        device->vk.CreatePipelineLayout(device->device,
                                        &(VkPipelineLayoutCreateInfo){
                                            .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                            .setLayoutCount = model->guides ? HS_SET_GUIDES + 1
                                                              : model->layers.count ? 2
                                                                                    : 1,
                                            .pSetLayouts = sets,
                                            .pushConstantRangeCount = 1,
                                            .pPushConstantRanges = &push,
                                        },
                                        NULL, &model->pipeline_layout);
    return hs_device_error(device, r, "vkCreatePipelineLayout");
}

int hs_model_set_layout(const struct hs_model *model, uint32_t count,
                        VkDescriptorType (*type)(uint32_t binding), VkDescriptorSetLayout *layout)
{
    struct hs_device *device = model->device;
    VkDescriptorSetLayoutBinding bindings[HS_BINDING_COUNT];
    for (uint32_t i = 0; i < count; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = type(i),
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    VkResult r = device->vk.CreateDescriptorSetLayout(
        device->device,
        &(VkDescriptorSetLayoutCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
            .bindingCount = count,
            .pBindings = bindings,
        },
        NULL, layout);
    return hs_device_error(device, r, "vkCreateDescriptorSetLayout");
}

static int create_layouts(struct hs_model *model)
{
    int err = hs_model_set_layout(model, HS_BINDING_COUNT, hs_binding_type, &model->set_layout);
    if (!err && model->layers.count)
        err = hs_network_layout(model);
    if (!err && model->guides)
        err = hs_guides_layout(model);
    return err ? err : hs_model_layout(model);
}

/** Specialization constants of a layer; what a shader does not have is ignored. */
struct constants {
    VkSpecializationInfo info;
    VkSpecializationMapEntry map[HS_SPEC_COUNT + 1];
    uint32_t values[HS_SPEC_COUNT + 1];
};

static void fill_constants(const struct hs_dispatch *d, struct constants *c)
{
    for (uint32_t i = 0; i <= HS_SPEC_COUNT; i++) {
        c->values[i] = i < HS_SPEC_COUNT ? d->constants[i] : d->threads;
        c->map[i] = (VkSpecializationMapEntry){
            i < HS_SPEC_COUNT ? i : HS_SPEC_LOCAL_X,
            i * (uint32_t)sizeof(uint32_t),
            sizeof(uint32_t),
        };
    }
    c->info = (VkSpecializationInfo){HS_SPEC_COUNT + 1, c->map, sizeof(c->values), c->values};
}

int hs_model_pipeline(const struct hs_model *model, VkPipelineLayout layout, const char *shader,
                      const char *name, const struct hs_dispatch *dispatch, VkPipeline *pipeline)
{
    struct hs_device *device = model->device;
    const struct hs_spirv *spirv = hs_spirv_find(hs_spirv_engine, shader);
    if (!spirv) {
        hs_log_message(&device->log, HS_LOG_ERROR, "this build has no shader %s", shader);
        return HS_ERR_INTERNAL;
    }
    VkShaderModule module;
    VkResult r =
        device->vk.CreateShaderModule(device->device,
                                      &(VkShaderModuleCreateInfo){
                                          .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                          .codeSize = spirv->size_bytes,
                                          .pCode = spirv->code,
                                      },
                                      NULL, &module);
    if (r != VK_SUCCESS)
        return hs_device_error(device, r, "vkCreateShaderModule");
    struct constants constants;
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = model->layers.matrix.subgroup,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage =
            {
                .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main",
            },
        .layout = layout,
    };
    if (dispatch) {
        fill_constants(dispatch, &constants);
        info.stage.pSpecializationInfo = &constants.info;
    }
    if (dispatch && model->layers.matrix.m) {
        info.stage.pNext = &subgroup;
        info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    }
    r = device->vk.CreateComputePipelines(device->device, VK_NULL_HANDLE, 1, &info, NULL, pipeline);
    device->vk.DestroyShaderModule(device->device, module, NULL);
    if (r != VK_SUCCESS)
        return hs_device_error(device, r, "vkCreateComputePipelines");
    hs_device_name(device, VK_OBJECT_TYPE_PIPELINE, (uint64_t)*pipeline, name);
    return 0;
}

static int create_all(struct hs_model *model, const struct hs_weights *weights,
                      const struct hs_model_params *params)
{
    int err = 0;
    if (weights)
        err = hs_network_plan(model, weights, params->path);
    if (!err)
        err = create_layouts(model);
    if (!err && weights)
        err = hs_network_create(model, weights);
    for (int i = 0; !err && i < HS_STAGE_COUNT; i++) {
        const bool guided = i >= HS_STAGE_DEMODULATE && i <= HS_STAGE_FILTER;
        if (!model->pipelines[i] && (model->guides || !guided))
            err = hs_model_pipeline(model, model->pipeline_layout, stages[i].shader, stages[i].name,
                                    NULL, &model->pipelines[i]);
    }
    if (!err && weights && (model->replaceable || model->guides))
        err = hs_model_pipeline(model, model->pipeline_layout, stages[HS_STAGE_RESOLVE].shader,
                                "plain resolve", NULL, &model->plain_resolve);
    return err;
}

/** Without weights: the preset `plain`. */
static int create_model(struct hs_device *device, const struct hs_weights *weights,
                        const char *plain, const struct hs_model_params *params,
                        struct hs_model **out)
{
    struct hs_model *model = calloc(1, sizeof(*model));
    if (!model) {
        hs_log_message(&device->log, HS_LOG_ERROR, "out of memory for a model");
        return HS_ERR_NOMEM;
    }
    model->device = device;
    model->path = HS_PATH_PLAIN;
    model->guides =
        weights ? weights->architecture == HS_ARCHITECTURE_RAY : !strcmp(plain, HS_CHOICE_GUIDED);
    model->replaceable = !params->file;
    snprintf(model->name, sizeof(model->name), "%s", weights ? weights->preset : plain);
    if (params->path == HS_PATH_MATRIX && !weights)
        hs_log_message(&device->log, HS_LOG_INFO,
                       "%s has no matrix stages: it runs on the plain path", model->name);
    const int err = create_all(model, weights, params);
    if (err)
        hs_model_destroy(&model);
    else
        *out = model;
    return err;
}

int hs_model_load(struct hs_device *device, const struct hs_model_params *params,
                  struct hs_model **out)
{
    if (!device || !params || !out)
        return HS_ERR_INVALID;
    if (atomic_load(&device->lost))
        return HS_ERR_DEVICE_LOST;
    if (params->path > HS_PATH_MATRIX)
        return hs_invalid(&device->log, "path %d does not exist", (int)params->path);
    struct hs_weights *weights = NULL;
    int err = hs_choose(&device->log, params, device->software, &weights);
    if (err)
        return err;
    struct hs_model *model = NULL;
    const char *plain = hs_choose_plain(params);
    err = create_model(device, weights, plain, params, &model);
    if (err == HS_ERR_UNSUPPORTED && !params->file) {
        // The line above says why.
        hs_weights_destroy(&weights);
        err = create_model(device, NULL, HS_CHOICE_PLAIN, params, &model);
    }
    hs_weights_destroy(&weights);
    if (err)
        return err;
    hs_log_message(&device->log, HS_LOG_INFO, "model %s on %s, %s path", model->name, device->name,
                   model->path == HS_PATH_MATRIX ? "matrix" : "plain");
    *out = model;
    return 0;
}

void hs_model_describe(const struct hs_model *model, struct hs_model_info *info)
{
    if (!model || !info)
        return;
    *info = (struct hs_model_info){
        .preset = model->name,
        .path = model->path,
        .memory_bytes = model->arena.bytes,
        .max_ratio = HS_RATIO_MAX,
        // Exposure in its two steps and finish are optional; the head is part of resolve.
        .stage_count = 3 + (model->layers.count ? model->layers.count - 1 : 0) +
                       (model->guides ? 2 + HS_ATROUS_PASSES : 0),
        .guides = model->guides,
    };
}

void hs_model_destroy(struct hs_model **pointer)
{
    if (!pointer || !*pointer)
        return;
    struct hs_model *model = *pointer;
    struct hs_device *device = model->device;
    for (int i = 0; i < HS_STAGE_COUNT; i++)
        device->vk.DestroyPipeline(device->device, model->pipelines[i], NULL);
    device->vk.DestroyPipeline(device->device, model->plain_resolve, NULL);
    hs_network_destroy(model);
    device->vk.DestroyPipelineLayout(device->device, model->pipeline_layout, NULL);
    device->vk.DestroyDescriptorSetLayout(device->device, model->guide_layout, NULL);
    device->vk.DestroyDescriptorSetLayout(device->device, model->empty_layout, NULL);
    device->vk.DestroyDescriptorSetLayout(device->device, model->set_layout, NULL);
    free(model);
    *pointer = NULL;
}
