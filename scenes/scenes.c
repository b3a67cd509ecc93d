// SPDX-License-Identifier: MIT
#include "vk.h"

#include <stdlib.h>
#include <string.h>

#include "spirv.h"

int scenes_error(const struct hs_scenes *scenes, VkResult result, const char *what)
{
    int err = HS_ERR_INTERNAL;
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
        result == VK_ERROR_OUT_OF_POOL_MEMORY)
        err = HS_ERR_NOMEM;
    else if (result == VK_ERROR_DEVICE_LOST)
        err = HS_ERR_DEVICE_LOST;
    hs_log_message(scenes->log, HS_LOG_ERROR, "scenes: %s failed: %s (VkResult %d)", what,
                   hs_error_string(err), (int)result);
    return err;
}

void buffer_destroy(const struct hs_scenes *scenes, struct buffer *buffer)
{
    scenes->DestroyBuffer(scenes->device, buffer->buffer, NULL);
    scenes->FreeMemory(scenes->device, buffer->memory, NULL);
    *buffer = (struct buffer){0};
}

int buffer_create(const struct hs_scenes *scenes, VkDeviceSize size, VkBufferUsageFlags usage,
                  bool host, struct buffer *out)
{
    const VkMemoryPropertyFlags wanted =
        host ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
             : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    struct buffer b = {.size = size};
    VkResult result = scenes->CreateBuffer(
        scenes->device,
        &(VkBufferCreateInfo){
            .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage},
        NULL, &b.buffer);
    if (result)
        goto error;
    VkMemoryRequirements needs;
    scenes->GetBufferMemoryRequirements(scenes->device, b.buffer, &needs);
    uint32_t type = 0;
    while (type < scenes->memory.memoryTypeCount &&
           (!(needs.memoryTypeBits >> type & 1u) ||
            (scenes->memory.memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (type == scenes->memory.memoryTypeCount)
        goto error;
    result = scenes->AllocateMemory(
        scenes->device,
        &(VkMemoryAllocateInfo){.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                .allocationSize = needs.size,
                                .memoryTypeIndex = type},
        NULL, &b.memory);
    if (result)
        goto error;
    result = scenes->BindBufferMemory(scenes->device, b.buffer, b.memory, 0);
    if (!result && host)
        result = scenes->MapMemory(scenes->device, b.memory, 0, VK_WHOLE_SIZE, 0, &b.map);
    if (result)
        goto error;
    *out = b;
    return 0;
error:
    buffer_destroy(scenes, &b);
    return scenes_error(scenes, result, "allocating a buffer");
}

static int load_functions(struct hs_scenes *s, const struct hs_scenes_params *p)
{
    PFN_vkVoidFunction f = p->get_instance_proc_addr(p->instance, "vkGetDeviceProcAddr");
    PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)f;
    f = p->get_instance_proc_addr(p->instance, "vkGetPhysicalDeviceMemoryProperties");
    const PFN_vkGetPhysicalDeviceMemoryProperties memory =
        (PFN_vkGetPhysicalDeviceMemoryProperties)f;
    f = p->get_instance_proc_addr(p->instance, "vkGetPhysicalDeviceProperties");
    const PFN_vkGetPhysicalDeviceProperties properties = (PFN_vkGetPhysicalDeviceProperties)f;
    const char *missing = get && memory && properties ? NULL : "vkGetDeviceProcAddr";
#define SCENES_LOAD(name)                                   \
    if (!missing) {                                         \
        s->name = (PFN_vk##name)get(p->device, "vk" #name); \
        missing = s->name ? NULL : "vk" #name;              \
    }
    SCENES_DEVICE_FUNCTIONS(SCENES_LOAD)
#undef SCENES_LOAD
    if (missing) {
        hs_log_message(s->log, HS_LOG_ERROR, "scenes: the device has no %s", missing);
        return HS_ERR_UNSUPPORTED;
    }
    VkPhysicalDeviceProperties all;
    properties(p->physical_device, &all);
    memory(p->physical_device, &s->memory);
    s->limits = all.limits;
    if (s->limits.maxPerStageDescriptorStorageImages < SCENE_PLANE_COUNT ||
        s->limits.maxPushConstantsSize < sizeof(struct scene_push)) {
        hs_log_message(s->log, HS_LOG_ERROR, "scenes: the device has %u storage images, not %d",
                       s->limits.maxPerStageDescriptorStorageImages, SCENE_PLANE_COUNT);
        return HS_ERR_UNSUPPORTED;
    }
    return 0;
}

static VkResult create_layouts(struct hs_scenes *s)
{
    VkDescriptorSetLayoutBinding bindings[SCENE_BINDING_COUNT];
    for (uint32_t i = 0; i < SCENE_BINDING_COUNT; i++) {
        const bool image = i >= SCENE_BINDING_PLANES && i < SCENE_BINDING_SUM;
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType =
                image ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    }
    const VkResult result = s->CreateDescriptorSetLayout(
        s->device,
        &(VkDescriptorSetLayoutCreateInfo){.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = SCENE_BINDING_COUNT,
                                           .pBindings = bindings},
        NULL, &s->set_layout);
    if (result)
        return result;
    return s->CreatePipelineLayout(
        s->device,
        &(VkPipelineLayoutCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
            .setLayoutCount = 1,
            .pSetLayouts = &s->set_layout,
            .pushConstantRangeCount = 1,
            .pPushConstantRanges =
                &(VkPushConstantRange){VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct scene_push)}},
        NULL, &s->pipeline_layout);
}

static VkResult create_pipeline(struct hs_scenes *s, const char *name, VkPipeline *pipeline)
{
    const struct hs_spirv *code = hs_spirv_find(hs_spirv_scenes, name);
    VkShaderModule module = VK_NULL_HANDLE;
    if (!code)
        return VK_ERROR_UNKNOWN;
    VkResult result = s->CreateShaderModule(
        s->device,
        &(VkShaderModuleCreateInfo){.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                    .codeSize = code->size_bytes,
                                    .pCode = code->code},
        NULL, &module);
    if (result)
        return result;
    result = s->CreateComputePipelines(
        s->device, VK_NULL_HANDLE, 1,
        &(VkComputePipelineCreateInfo){
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                      .module = module,
                      .pName = "main"},
            .layout = s->pipeline_layout},
        NULL, pipeline);
    s->DestroyShaderModule(s->device, module, NULL);
    return result;
}

int scenes_pipeline(struct hs_scenes *s, enum hs_scenes_mode mode, bool reference,
                    VkPipeline *pipeline)
{
    static const char *const names[PIPELINE_COUNT] = {"10_direct", "10_direct_reference", "20_path",
                                                      "20_path_reference"};
    const uint32_t at = 2 * (uint32_t)mode + reference;
    VkResult result = VK_SUCCESS;
    pthread_mutex_lock(&s->lock);
    if (!s->pipelines[at])
        result = create_pipeline(s, names[at], &s->pipelines[at]);
    *pipeline = s->pipelines[at];
    pthread_mutex_unlock(&s->lock);
    return result ? scenes_error(s, result, "creating the pipeline") : 0;
}

int hs_scenes_create(const struct hs_scenes_params *params, struct hs_scenes **scenes)
{
    if (!params || !scenes || !params->get_instance_proc_addr || !params->instance ||
        !params->physical_device || !params->device)
        return HS_ERR_INVALID;
    struct hs_scenes *s = calloc(1, sizeof(*s));
    if (!s)
        return HS_ERR_NOMEM;
    s->device = params->device;
    if (params->log) {
        s->log_copy = *params->log;
        s->log = &s->log_copy;
    }
    int err = load_functions(s, params);
    if (err) {
        free(s);
        return err;
    }
    pthread_mutex_init(&s->lock, NULL);
    const VkResult result = create_layouts(s);
    if (result) {
        err = scenes_error(s, result, "creating the layouts");
        hs_scenes_destroy(&s);
        return err;
    }
    *scenes = s;
    return 0;
}

void hs_scenes_destroy(struct hs_scenes **scenes)
{
    struct hs_scenes *s = scenes ? *scenes : NULL;
    if (!s)
        return;
    for (int i = 0; i < PIPELINE_COUNT; i++)
        s->DestroyPipeline(s->device, s->pipelines[i], NULL);
    s->DestroyPipelineLayout(s->device, s->pipeline_layout, NULL);
    s->DestroyDescriptorSetLayout(s->device, s->set_layout, NULL);
    pthread_mutex_destroy(&s->lock);
    free(s);
    *scenes = NULL;
}
