// SPDX-License-Identifier: MIT
/**
 * Stands in for the Vulkan loader in FFmpeg's own program, and hides device extensions from it.
 *
 * FFmpeg 7.1 makes its semaphores exportable whenever VK_KHR_external_semaphore_fd is there, which
 * a newer software driver refuses; and with VK_EXT_external_memory_host its uploads read frames
 * that may be gone. HS_HIDE: their names; HS_VULKAN: the real loader.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

static PFN_vkGetInstanceProcAddr real_get;
static PFN_vkEnumerateDeviceExtensionProperties real_enumerate;

PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name);

static VkResult enumerate(VkPhysicalDevice device, const char *layer, uint32_t *count,
                          VkExtensionProperties *list)
{
    const char *hidden = getenv("HS_HIDE");
    uint32_t all = 0, kept = 0, room = *count;
    VkExtensionProperties *found;
    VkResult result = real_enumerate(device, layer, &all, NULL);

    if (result != VK_SUCCESS)
        return result;
    found = calloc(all ? all : 1, sizeof(*found));
    if (!found)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    result = real_enumerate(device, layer, &all, found);
    for (uint32_t i = 0; result == VK_SUCCESS && i < all; i++) {
        if (hidden && strstr(hidden, found[i].extensionName))
            continue;
        if (list && kept < room)
            list[kept] = found[i];
        kept++;
    }
    free(found);
    *count = list && kept > room ? room : kept;
    return result == VK_SUCCESS && list && kept > room ? VK_INCOMPLETE : result;
}

PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name)
{
    if (!real_get) {
        void *loader = dlopen(getenv("HS_VULKAN"), RTLD_NOW | RTLD_LOCAL);

        if (!loader)
            return NULL;
        *(void **)&real_get = dlsym(loader, "vkGetInstanceProcAddr");
    }
    if (!strcmp(name, "vkGetInstanceProcAddr"))
        return (PFN_vkVoidFunction)vkGetInstanceProcAddr;
    if (!strcmp(name, "vkEnumerateDeviceExtensionProperties")) {
        real_enumerate = (PFN_vkEnumerateDeviceExtensionProperties)real_get(instance, name);
        return (PFN_vkVoidFunction)enumerate;
    }
    return real_get(instance, name);
}
