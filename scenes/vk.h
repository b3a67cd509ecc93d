// SPDX-License-Identifier: MIT
/** Vulkan entry points, looked up through the caller's vkGetInstanceProcAddr. */
#ifndef HS_SCENES_VK_H
#define HS_SCENES_VK_H

#include <pthread.h>

#include "hsscenes.h"
#include "shaders/interface.h"

#define SCENES_DEVICE_FUNCTIONS(X) \
    X(AllocateDescriptorSets)      \
    X(AllocateMemory)              \
    X(BindBufferMemory)            \
    X(CmdBindDescriptorSets)       \
    X(CmdBindPipeline)             \
    X(CmdCopyBuffer)               \
    X(CmdDispatch)                 \
    X(CmdPipelineBarrier2)         \
    X(CmdPushConstants)            \
    X(CreateBuffer)                \
    X(CreateComputePipelines)      \
    X(CreateDescriptorPool)        \
    X(CreateDescriptorSetLayout)   \
    X(CreatePipelineLayout)        \
    X(CreateShaderModule)          \
    X(DestroyBuffer)               \
    X(DestroyDescriptorPool)       \
    X(DestroyDescriptorSetLayout)  \
    X(DestroyPipeline)             \
    X(DestroyPipelineLayout)       \
    X(DestroyShaderModule)         \
    X(FreeMemory)                  \
    X(GetBufferMemoryRequirements) \
    X(MapMemory)                   \
    X(UpdateDescriptorSets)

/** Modes times {input, reference}. */
#define PIPELINE_COUNT 4

struct hs_scenes {
    VkDevice device;
    struct hs_log log_copy;
    const struct hs_log *log;
    VkPhysicalDeviceMemoryProperties memory;
    VkPhysicalDeviceLimits limits;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout pipeline_layout;
    pthread_mutex_t lock;                 // of what follows
    VkPipeline pipelines[PIPELINE_COUNT]; // mode * 2 + reference; made when first wanted
#define SCENES_DECLARE(name) PFN_vk##name name;
    SCENES_DEVICE_FUNCTIONS(SCENES_DECLARE)
#undef SCENES_DECLARE
};

struct buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *map; // host visible ones
    VkDeviceSize size;
};

int scenes_error(const struct hs_scenes *scenes, VkResult result, const char *what);
/** Thread: safe. */
int scenes_pipeline(struct hs_scenes *scenes, enum hs_scenes_mode mode, bool reference,
                    VkPipeline *pipeline);
int buffer_create(const struct hs_scenes *scenes, VkDeviceSize size, VkBufferUsageFlags usage,
                  bool host, struct buffer *out);
void buffer_destroy(const struct hs_scenes *scenes, struct buffer *buffer);

#endif
