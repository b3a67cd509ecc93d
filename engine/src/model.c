// SPDX-License-Identifier: MIT
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "interface.h"
#include "spirv.h"

static const struct {
    const char *name;
    const char *shader;
} stages[HS_STAGE_COUNT] = {
    [HS_STAGE_MEASURE] = {"measure", "00_measure"},
    [HS_STAGE_EXPOSE] = {"expose", "05_expose"},
    [HS_STAGE_PREPARE] = {"prepare", "10_prepare"},
    [HS_STAGE_REPROJECT] = {"reproject", "20_reproject"},
    [HS_STAGE_RESOLVE] = {"resolve", "40_resolve"},
    [HS_STAGE_FINISH] = {"finish", "50_finish"},
};

static const struct hs_preset presets[] = {
    {"taau", 3.0f},
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

static int create_layouts(struct hs_model *model)
{
    struct hs_device *device = model->device;
    VkDescriptorSetLayoutBinding bindings[HS_BINDING_COUNT];
    for (uint32_t i = 0; i < HS_BINDING_COUNT; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = hs_binding_type(i),
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    VkResult r = device->vk.CreateDescriptorSetLayout(
        device->device,
        &(VkDescriptorSetLayoutCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
            .bindingCount = HS_BINDING_COUNT,
            .pBindings = bindings,
        },
        NULL, &model->set_layout);
    if (r != VK_SUCCESS)
        return hs_device_error(device, r, "vkCreateDescriptorSetLayout");
    r = device->vk.CreatePipelineLayout(device->device,
                                        &(VkPipelineLayoutCreateInfo){
                                            .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                            .setLayoutCount = 1,
                                            .pSetLayouts = &model->set_layout,
                                        },
                                        NULL, &model->pipeline_layout);
    return hs_device_error(device, r, "vkCreatePipelineLayout");
}

static int create_pipeline(struct hs_model *model, enum hs_stage stage)
{
    struct hs_device *device = model->device;
    const struct hs_spirv *spirv = hs_spirv_find(hs_spirv_engine, stages[stage].shader);
    if (!spirv) {
        hs_log_message(&device->log, HS_LOG_ERROR, "this build has no shader %s",
                       stages[stage].shader);
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
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage =
            {
                .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main",
            },
        .layout = model->pipeline_layout,
    };
    r = device->vk.CreateComputePipelines(device->device, VK_NULL_HANDLE, 1, &info, NULL,
                                          &model->pipelines[stage]);
    device->vk.DestroyShaderModule(device->device, module, NULL);
    if (r != VK_SUCCESS)
        return hs_device_error(device, r, "vkCreateComputePipelines");
    hs_device_name(device, VK_OBJECT_TYPE_PIPELINE, (uint64_t)model->pipelines[stage],
                   stages[stage].name);
    return 0;
}

static const struct hs_preset *find_preset(const char *name)
{
    if (!name || !strcmp(name, "auto"))
        return &presets[0];
    for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
        if (!strcmp(presets[i].name, name))
            return &presets[i];
    }
    return NULL;
}

int hs_model_load(struct hs_device *device, const struct hs_model_params *params,
                  struct hs_model **out)
{
    if (!device || !params || !out)
        return HS_ERR_INVALID;
    if (atomic_load(&device->lost))
        return HS_ERR_DEVICE_LOST;
    const struct hs_preset *preset = find_preset(params->preset);
    if (!preset)
        return hs_invalid(&device->log, "no model is called \"%s\"; there is: %s", params->preset,
                          presets[0].name);
    if (params->path > HS_PATH_MATRIX)
        return hs_invalid(&device->log, "path %d does not exist", (int)params->path);
    struct hs_model *model = calloc(1, sizeof(*model));
    if (!model) {
        hs_log_message(&device->log, HS_LOG_ERROR, "out of memory for a model");
        return HS_ERR_NOMEM;
    }
    model->device = device;
    model->preset = preset;
    model->path = HS_PATH_PLAIN;
    if (params->path == HS_PATH_MATRIX)
        hs_log_message(&device->log, HS_LOG_INFO,
                       "%s has no matrix stages: it runs on the plain path", preset->name);
    int err = create_layouts(model);
    for (int i = 0; !err && i < HS_STAGE_COUNT; i++)
        err = create_pipeline(model, (enum hs_stage)i);
    if (err) {
        hs_model_destroy(&model);
        return err;
    }
    hs_log_message(&device->log, HS_LOG_INFO, "model %s on %s, plain path", preset->name,
                   device->name);
    *out = model;
    return 0;
}

void hs_model_describe(const struct hs_model *model, struct hs_model_info *info)
{
    if (!model || !info)
        return;
    *info = (struct hs_model_info){
        .preset = model->preset->name,
        .path = model->path,
        .max_ratio = model->preset->max_ratio,
        // Exposure in its two steps and finish are optional.
        .stage_count = HS_STAGE_COUNT - 3,
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
    device->vk.DestroyPipelineLayout(device->device, model->pipeline_layout, NULL);
    device->vk.DestroyDescriptorSetLayout(device->device, model->set_layout, NULL);
    free(model);
    *pointer = NULL;
}
