// SPDX-License-Identifier: MIT
/** Which kind of memory a Vulkan resource goes into: the one place for that outside the engine. */
#ifndef HSMEMORY_H
#define HSMEMORY_H

#include <vulkan/vulkan.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The best memory type of those in `bits`: with the properties `wanted` and `liked`, else `wanted`.
 *
 * Returns -1 if there is none. An allocation that fails may be tried again without that bit.
 * Thread: safe.
 */
int hsmemory_type_find(const VkPhysicalDeviceMemoryProperties *memory, uint32_t bits,
                       VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags liked);

#ifdef __cplusplus
}
#endif
#endif
