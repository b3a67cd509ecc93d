// SPDX-License-Identifier: MIT
/**
 * Device: a Vulkan device that belongs to the caller.
 *
 * The library never creates an instance, a device or a queue. It says what it needs as data
 * (hs_device_requirements), checks a physical device (hs_device_query), fills the feature structs
 * for vkCreateDevice, and borrows the finished device (hs_device_import).
 */
#ifndef HINDSIGHT_DEVICE_H
#define HINDSIGHT_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "error.h"
#include "log.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An imported device. Opaque. */
struct hs_device;

enum hs_requirement_kind {
    HS_REQUIREMENT_API = 0,       ///< Vulkan version of the instance and the device.
    HS_REQUIREMENT_FEATURE = 1,   ///< A member of a VkPhysicalDevice*Features struct.
    HS_REQUIREMENT_EXTENSION = 2, ///< A device extension.
    HS_REQUIREMENT_FORMAT = 3,    ///< A format that must be usable as storage image.
    HS_REQUIREMENT_LIMIT = 4,     ///< A minimum of a device limit.
};

/** One line of the requirement list. */
struct hs_requirement {
    enum hs_requirement_kind kind;
    /** Name as in the Vulkan specification, for example "synchronization2". */
    const char *name;
    /** API: VK_MAKE_API_VERSION. LIMIT: the minimum. FORMAT: the VkFormat. Else 0. */
    uint64_t value;
    /** true: without it there is no device. false: something gets faster with it. */
    bool required;
    /** What it is used for. */
    const char *reason;
};

/**
 * The requirement list, required entries first.
 *
 * Owns: static storage.
 * Thread: safe.
 * Since: 1.
 */
const struct hs_requirement *hs_device_requirements(uint32_t *count);

/**
 * Features and extensions to create a device with.
 *
 * Chain `&features2` into VkDeviceCreateInfo::pNext and pass the extensions. The struct points
 * into itself: do not copy it. Add further features to it or further structs behind the chain
 * as the application needs them.
 * Since: 1.
 */
struct hs_device_features {
    VkPhysicalDeviceFeatures2 features2;
    VkPhysicalDeviceVulkan11Features vulkan11;
    VkPhysicalDeviceVulkan12Features vulkan12;
    VkPhysicalDeviceVulkan13Features vulkan13;
    /** Only in the chain when the device has the extension. */
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR cooperative_matrix;
    const char *extensions[4];
    uint32_t extension_count;
};

/** What a physical device can do for the library. */
struct hs_device_report {
    /** Device name from the driver. */
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    /** Driver name and version text. */
    char driver[VK_MAX_DRIVER_NAME_SIZE + VK_MAX_DRIVER_INFO_SIZE];
    VkPhysicalDeviceType type;
    /** Vulkan version of the device. */
    uint32_t api_version;
    /** All required entries are met. */
    bool usable;
    /** 16-bit float matrices (VK_KHR_cooperative_matrix, subgroup scope) can be used. */
    bool matrix_f16;
    /** 8-bit integer matrices can be used. */
    bool matrix_int8;
    /** Empty, or every missing required entry by name, separated by "; ". */
    char reason[512];
};

/** Arguments of hs_device_query(). */
struct hs_device_query_params {
    /** Required. The loader's, or a caller's own, entry point. */
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    /** Required. Created for Vulkan 1.3 or later. */
    VkInstance instance;
    /** Required. */
    VkPhysicalDevice physical_device;
};

/**
 * Checks a physical device against the requirement list.
 *
 * An unusable device is no error: `report->usable` is false and `report->reason` says why.
 * `features` may be NULL; otherwise it is filled with all required and all supported recommended
 * features, ready for vkCreateDevice.
 *
 * Thread: safe.
 * Cost: a few vkGetPhysicalDevice* calls.
 * Errors: HS_ERR_INVALID a required argument is missing; HS_ERR_UNSUPPORTED the instance does not
 * offer Vulkan 1.3 entry points; HS_ERR_NOMEM.
 * Since: 1.
 */
int hs_device_query(const struct hs_device_query_params *params,
                    struct hs_device_features *features, struct hs_device_report *report);

/** Arguments of hs_device_import(). */
struct hs_device_params {
    /** Required. Everything the library calls is looked up through it. */
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    /** Required. */
    VkInstance instance;
    /** Required. */
    VkPhysicalDevice physical_device;
    /** Required. Must outlive the hs_device. */
    VkDevice device;
    /**
     * The chain that the device was created with (VkPhysicalDeviceFeatures2 first). NULL: the
     * required features are taken to be enabled and no others.
     */
    const VkPhysicalDeviceFeatures2 *enabled_features;
    /** Device extensions that were enabled. May be NULL when the count is 0. */
    const char *const *enabled_extensions;
    uint32_t enabled_extension_count;
    /** Family of the queues that frames will be submitted to; it must support compute. */
    uint32_t queue_family;
    /** May be NULL. The struct is copied, `priv` is kept. */
    const struct hs_log *log;
};

/**
 * Borrows a Vulkan device.
 *
 * Owns: the caller keeps instance and device and destroys them after hs_device_destroy().
 * Thread: the result may be shared by threads.
 * Cost: looks up entry points; creates nothing on the device.
 * Errors: HS_ERR_INVALID a required argument is missing, the queue family does not exist or has
 * no compute; HS_ERR_UNSUPPORTED a required entry is missing or was not enabled (the log names
 * it); HS_ERR_NOMEM.
 * Since: 1.
 */
int hs_device_import(const struct hs_device_params *params, struct hs_device **device);

/**
 * Forgets a borrowed device and sets the pointer to NULL. NULL and pointers to NULL are legal.
 * All models of the device must have been destroyed.
 *
 * Thread: one at a time.
 * Since: 1.
 */
void hs_device_destroy(struct hs_device **device);

#ifdef __cplusplus
}
#endif
#endif
