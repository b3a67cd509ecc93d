// SPDX-License-Identifier: MIT
#ifndef HS_ENGINE_DEVICE_H
#define HS_ENGINE_DEVICE_H

#include <stdatomic.h>

#include <hindsight/device.h>

#include "layers.h"
#include "vk.h"

struct hs_device {
    struct hs_vk vk;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkPhysicalDeviceMemoryProperties memory;
    VkPhysicalDeviceLimits limits;
    VkDeviceSize max_allocation_bytes;
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    bool software; ///< Runs on the processor.
    uint32_t queue_family;
    uint32_t timestamp_bits;
    /** Enabled, not merely supported. */
    bool matrix_f16, matrix_int8;
    /** Of floats and of integers; zeros without `matrix_f16` and `matrix_int8`. */
    struct hs_matrix_size matrix, matrix_integers;
    struct hs_log log;
    /** Set by the first VK_ERROR_DEVICE_LOST and never cleared. */
    atomic_bool lost;
};

/** Logs a failed Vulkan call and maps its result; 0 for success. */
int hs_device_error(struct hs_device *device, VkResult result, const char *what);

/** Gives a Vulkan object its debug name when the instance has VK_EXT_debug_utils. */
void hs_device_name(struct hs_device *device, VkObjectType type, uint64_t handle, const char *name);

/** VkFormatFeatureFlags of optimally tiled images of a format. */
VkFormatFeatureFlags hs_device_format_features(const struct hs_device *device, VkFormat format);

/** Logs and returns HS_ERR_INVALID, for misuse found in release builds, too. */
#define hs_invalid(log, ...) (hs_log_message((log), HS_LOG_ERROR, __VA_ARGS__), HS_ERR_INVALID)

#endif
