// SPDX-License-Identifier: MIT
#include "hsmemory.h"

int hsmemory_type_find(const VkPhysicalDeviceMemoryProperties *memory, uint32_t bits,
                       VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags liked)
{
    int found = -1;

    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        const VkMemoryPropertyFlags flags = memory->memoryTypes[i].propertyFlags;

        if (!(bits >> i & 1) || (flags & wanted) != wanted)
            continue;
        if ((flags & liked) == liked)
            return (int)i;
        if (found < 0)
            found = (int)i;
    }
    return found;
}
