// SPDX-License-Identifier: MIT
/** Vulkan entry points, looked up through the caller's vkGetInstanceProcAddr and nowhere else. */
#ifndef HS_ENGINE_VK_H
#define HS_ENGINE_VK_H

#include <vulkan/vulkan.h>

#define HS_VK_INSTANCE_FUNCTIONS(X)       \
    X(EnumerateDeviceExtensionProperties) \
    X(GetDeviceProcAddr)                  \
    X(GetPhysicalDeviceFeatures2)         \
    X(GetPhysicalDeviceFormatProperties2) \
    X(GetPhysicalDeviceMemoryProperties)  \
    X(GetPhysicalDeviceProperties2)       \
    X(GetPhysicalDeviceQueueFamilyProperties)

// May be missing: an extension that the device or the instance does not have.
#define HS_VK_OPTIONAL_INSTANCE_FUNCTIONS(X)           \
    X(GetPhysicalDeviceCooperativeMatrixPropertiesKHR) \
    X(CmdBeginDebugUtilsLabelEXT)                      \
    X(CmdEndDebugUtilsLabelEXT)                        \
    X(SetDebugUtilsObjectNameEXT)

#define HS_VK_DEVICE_FUNCTIONS(X)  \
    X(AllocateDescriptorSets)      \
    X(AllocateMemory)              \
    X(BindBufferMemory)            \
    X(BindImageMemory)             \
    X(CmdBindDescriptorSets)       \
    X(CmdBindPipeline)             \
    X(CmdBlitImage)                \
    X(CmdCopyBuffer)               \
    X(CmdCopyImage)                \
    X(CmdDispatch)                 \
    X(CmdFillBuffer)               \
    X(CmdPipelineBarrier2)         \
    X(CmdPushConstants)            \
    X(CmdResetQueryPool)           \
    X(CmdUpdateBuffer)             \
    X(CmdWriteTimestamp2)          \
    X(CreateBuffer)                \
    X(CreateComputePipelines)      \
    X(CreateDescriptorPool)        \
    X(CreateDescriptorSetLayout)   \
    X(CreateImage)                 \
    X(CreateImageView)             \
    X(CreatePipelineLayout)        \
    X(CreateQueryPool)             \
    X(CreateShaderModule)          \
    X(DestroyBuffer)               \
    X(DestroyDescriptorPool)       \
    X(DestroyDescriptorSetLayout)  \
    X(DestroyImage)                \
    X(DestroyImageView)            \
    X(DestroyPipeline)             \
    X(DestroyPipelineLayout)       \
    X(DestroyQueryPool)            \
    X(DestroyShaderModule)         \
    X(FreeMemory)                  \
    X(GetBufferMemoryRequirements) \
    X(GetImageMemoryRequirements)  \
    X(GetQueryPoolResults)         \
    X(MapMemory)                   \
    X(UnmapMemory)                 \
    X(UpdateDescriptorSets)

struct hs_vk {
#define X(name) PFN_vk##name name;
    HS_VK_INSTANCE_FUNCTIONS(X)
    HS_VK_OPTIONAL_INSTANCE_FUNCTIONS(X)
    HS_VK_DEVICE_FUNCTIONS(X)
#undef X
};

/** Loads instance functions. Returns the name of the first missing one, or NULL. */
const char *hs_vk_load_instance(struct hs_vk *vk, PFN_vkGetInstanceProcAddr get,
                                VkInstance instance);
/** Loads device functions. Returns the name of the first missing one, or NULL. */
const char *hs_vk_load_device(struct hs_vk *vk, VkDevice device);

#endif
