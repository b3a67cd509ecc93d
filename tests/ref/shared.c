// SPDX-License-Identifier: MIT
#include "shared.h"

#include "tests/test.h"

#define FD VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define MAPPED (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define REQUIRE_VK(call) REQUIRE_EQ((call), VK_SUCCESS)

/** `next`: how the memory is exported or imported. */
static void make(struct vkdev *dev, VkDeviceSize size, const void *next,
                 struct vkdev_buffer *buffer)
{
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = FD,
    };
    VkMemoryRequirements need;
    *buffer = (struct vkdev_buffer){.size = size};
    REQUIRE_VK(vkCreateBuffer(dev->device,
                              &(VkBufferCreateInfo){
                                  .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                  .pNext = &external,
                                  .size = size,
                                  .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                              },
                              NULL, &buffer->buffer));
    vkGetBufferMemoryRequirements(dev->device, buffer->buffer, &need);
    uint32_t type = 0;
    while (type < dev->memory.memoryTypeCount &&
           (!(need.memoryTypeBits >> type & 1) ||
            (dev->memory.memoryTypes[type].propertyFlags & MAPPED) != MAPPED))
        type++;
    REQUIRE(type < dev->memory.memoryTypeCount);
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .pNext = next,
        .buffer = buffer->buffer,
    };
    REQUIRE_VK(vkAllocateMemory(dev->device,
                                &(VkMemoryAllocateInfo){
                                    .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                    .pNext = &dedicated,
                                    .allocationSize = need.size,
                                    .memoryTypeIndex = type,
                                },
                                NULL, &buffer->memory));
    REQUIRE_VK(vkBindBufferMemory(dev->device, buffer->buffer, buffer->memory, 0));
    REQUIRE_VK(vkMapMemory(dev->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &buffer->map));
}

bool shared_export(struct vkdev *dev, VkDeviceSize size, struct vkdev_buffer *buffer, int *fd)
{
    VkExternalBufferProperties able = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    const VkExternalMemoryFeatureFlags both =
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
    vkGetPhysicalDeviceExternalBufferProperties(
        dev->physical_device,
        &(VkPhysicalDeviceExternalBufferInfo){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
            .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
            .handleType = FD,
        },
        &able);
    if (!dev->shares_memory ||
        (able.externalMemoryProperties.externalMemoryFeatures & both) != both)
        return false;
    const VkExportMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .handleTypes = FD,
    };
    make(dev, size, &info, buffer);
    const PFN_vkGetMemoryFdKHR get =
        (PFN_vkGetMemoryFdKHR)vkGetDeviceProcAddr(dev->device, "vkGetMemoryFdKHR");
    REQUIRE(get);
    REQUIRE_VK(get(dev->device,
                   &(VkMemoryGetFdInfoKHR){
                       .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                       .memory = buffer->memory,
                       .handleType = FD,
                   },
                   fd));
    return true;
}

void shared_import(struct vkdev *dev, VkDeviceSize size, int fd, struct vkdev_buffer *buffer)
{
    const VkImportMemoryFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
        .handleType = FD,
        .fd = fd,
    };
    make(dev, size, &info, buffer);
}
