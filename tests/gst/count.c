// SPDX-License-Identifier: MIT
/**
 * Preloaded into a pipeline: counts what brings pixels between host and device, and how often a
 * device is made, and tells at the end. Vulkan is linked by name in GstVulkan and looked up by the
 * engine, so both ways go through here.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

static atomic_int instances, devices, maps, uploads, downloads, submits;

static void *next(const char *name)
{
    // The program may have no Vulkan of its own, only plugins.
    void *found = dlsym(RTLD_NEXT, name);

    return found ? found : dlsym(dlopen("libvulkan.so.1", RTLD_NOW), name);
}

#define FORWARD(counter, name, types, names)                   \
    VKAPI_ATTR VkResult VKAPI_CALL name types                  \
    {                                                          \
        PFN_##name function = (PFN_##name)(size_t)next(#name); \
        atomic_fetch_add(&counter, 1);                         \
        return function names;                                 \
    }

FORWARD(instances, vkCreateInstance,
        (const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator,
         VkInstance *made),
        (info, allocator, made))
FORWARD(devices, vkCreateDevice,
        (VkPhysicalDevice gpu, const VkDeviceCreateInfo *info,
         const VkAllocationCallbacks *allocator, VkDevice *made),
        (gpu, info, allocator, made))
FORWARD(maps, vkMapMemory,
        (VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
         VkMemoryMapFlags flags, void **data),
        (device, memory, offset, size, flags, data))
FORWARD(submits, vkQueueSubmit2,
        (VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence),
        (queue, count, infos, fence))

#define RECORD(counter, name, types, names)                    \
    VKAPI_ATTR void VKAPI_CALL name types                      \
    {                                                          \
        PFN_##name function = (PFN_##name)(size_t)next(#name); \
        atomic_fetch_add(&counter, 1);                         \
        function names;                                        \
    }

RECORD(uploads, vkCmdCopyBufferToImage,
       (VkCommandBuffer cmd, VkBuffer from, VkImage to, VkImageLayout layout, uint32_t count,
        const VkBufferImageCopy *regions),
       (cmd, from, to, layout, count, regions))
RECORD(downloads, vkCmdCopyImageToBuffer,
       (VkCommandBuffer cmd, VkImage from, VkImageLayout layout, VkBuffer to, uint32_t count,
        const VkBufferImageCopy *regions),
       (cmd, from, layout, to, count, regions))

static PFN_vkVoidFunction ours(const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } table[] = {
        {"vkCreateDevice", (PFN_vkVoidFunction)vkCreateDevice},
        {"vkMapMemory", (PFN_vkVoidFunction)vkMapMemory},
        {"vkQueueSubmit2", (PFN_vkVoidFunction)vkQueueSubmit2},
        {"vkCmdCopyBufferToImage", (PFN_vkVoidFunction)vkCmdCopyBufferToImage},
        {"vkCmdCopyImageToBuffer", (PFN_vkVoidFunction)vkCmdCopyImageToBuffer},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (!strcmp(name, table[i].name))
            return table[i].function;
    }
    return NULL;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice device, const char *name)
{
    PFN_vkGetDeviceProcAddr function = (PFN_vkGetDeviceProcAddr)(size_t)next("vkGetDeviceProcAddr");

    return ours(name) ? ours(name) : function(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                               const char *name)
{
    PFN_vkGetInstanceProcAddr function =
        (PFN_vkGetInstanceProcAddr)(size_t)next("vkGetInstanceProcAddr");

    if (!strcmp(name, "vkGetDeviceProcAddr"))
        return (PFN_vkVoidFunction)vkGetDeviceProcAddr;
    return ours(name) ? ours(name) : function(instance, name);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("HS_COUNT_FILE");
    FILE *file = path ? fopen(path, "w") : NULL;

    if (!file)
        return;
    fprintf(file, "instances %d\ndevices %d\nmaps %d\nuploads %d\ndownloads %d\nsubmits %d\n",
            instances, devices, maps, uploads, downloads, submits);
    fclose(file);
}
