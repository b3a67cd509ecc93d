// SPDX-License-Identifier: MIT
// Images, buffers and one-time commands of a vkdev.
#include "vkdev.h"

#include "hsmemory.h"

static bool is_depth(VkFormat format)
{
    return format == VK_FORMAT_D32_SFLOAT || format == VK_FORMAT_D32_SFLOAT_S8_UINT ||
           format == VK_FORMAT_D16_UNORM;
}

uint32_t vkdev_format_bytes(VkFormat format)
{
    switch (format) {
    case VK_FORMAT_R8_UNORM:
        return 1;
    case VK_FORMAT_R16_SFLOAT:
    case VK_FORMAT_R16_UNORM:
    case VK_FORMAT_D16_UNORM:
        return 2;
    case VK_FORMAT_R8G8B8A8_UNORM:
    case VK_FORMAT_R8G8B8A8_SRGB:
    case VK_FORMAT_B8G8R8A8_UNORM:
    case VK_FORMAT_B8G8R8A8_SRGB:
    case VK_FORMAT_A2B10G10R10_UNORM_PACK32:
    case VK_FORMAT_A2R10G10B10_UNORM_PACK32:
    case VK_FORMAT_B10G11R11_UFLOAT_PACK32:
    case VK_FORMAT_R16G16_SFLOAT:
    case VK_FORMAT_R16G16_UNORM:
    case VK_FORMAT_R16G16_SNORM:
    case VK_FORMAT_R32_SFLOAT:
    case VK_FORMAT_D32_SFLOAT:
    case VK_FORMAT_D32_SFLOAT_S8_UINT: // the depth aspect, which is what gets copied
        return 4;
    case VK_FORMAT_R16G16B16A16_SFLOAT:
    case VK_FORMAT_R16G16B16A16_UNORM:
    case VK_FORMAT_R32G32_SFLOAT:
        return 8;
    case VK_FORMAT_R32G32B32A32_SFLOAT:
        return 16;
    default:
        return 0;
    }
}

static int allocate(struct vkdev *dev, const VkMemoryRequirements *need, VkMemoryPropertyFlags want,
                    VkMemoryPropertyFlags prefer, VkDeviceMemory *memory)
{
    const int type = hsmemory_type_find(&dev->memory, need->memoryTypeBits, want, prefer);

    if (type < 0) {
        hs_log_message(dev->log, HS_LOG_ERROR, "no memory type with properties 0x%x", want);
        return HS_ERR_UNSUPPORTED;
    }
    VkResult r = vkAllocateMemory(dev->device,
                                  &(VkMemoryAllocateInfo){
                                      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                      .allocationSize = need->size,
                                      .memoryTypeIndex = (uint32_t)type,
                                  },
                                  NULL, memory);
    if (r != VK_SUCCESS)
        hs_log_message(dev->log, HS_LOG_ERROR, "no device memory for %llu bytes",
                       (unsigned long long)need->size);
    return vkdev_error(r);
}

int vkdev_image_create(struct vkdev *dev, VkFormat format, uint32_t width, uint32_t height,
                       VkImageUsageFlags usage, struct vkdev_image *image)
{
    struct vkdev_image made = {.format = format, .usage = usage, .width = width, .height = height};
    VkMemoryRequirements need;
    VkResult r = vkCreateImage(dev->device,
                               &(VkImageCreateInfo){
                                   .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                   .imageType = VK_IMAGE_TYPE_2D,
                                   .format = format,
                                   .extent = {width, height, 1},
                                   .mipLevels = 1,
                                   .arrayLayers = 1,
                                   .samples = VK_SAMPLE_COUNT_1_BIT,
                                   .tiling = VK_IMAGE_TILING_OPTIMAL,
                                   .usage = usage,
                               },
                               NULL, &made.image);
    int err = vkdev_error(r);
    if (err)
        goto error;
    vkGetImageMemoryRequirements(dev->device, made.image, &need);
    err = allocate(dev, &need, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &made.memory);
    if (err)
        goto error;
    r = vkBindImageMemory(dev->device, made.image, made.memory, 0);
    if (r == VK_SUCCESS && (usage & (VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT))) {
        r = vkCreateImageView(dev->device,
                              &(VkImageViewCreateInfo){
                                  .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .image = made.image,
                                  .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                  .format = format,
                                  .subresourceRange = {is_depth(format) ? VK_IMAGE_ASPECT_DEPTH_BIT
                                                                        : VK_IMAGE_ASPECT_COLOR_BIT,
                                                       0, 1, 0, 1},
                              },
                              NULL, &made.view);
    }
    err = vkdev_error(r);
    if (err)
        goto error;
    *image = made;
    return 0;
error:
    hs_log_message(dev->log, HS_LOG_ERROR, "can not make a %ux%u image of format %d: %s", width,
                   height, (int)format, hs_error_string(err));
    vkdev_image_destroy(dev, &made);
    return err;
}

void vkdev_image_destroy(struct vkdev *dev, struct vkdev_image *image)
{
    vkDestroyImageView(dev->device, image->view, NULL);
    vkDestroyImage(dev->device, image->image, NULL);
    vkFreeMemory(dev->device, image->memory, NULL);
    *image = (struct vkdev_image){0};
}

int vkdev_buffer_create(struct vkdev *dev, VkDeviceSize size, VkBufferUsageFlags usage, bool cached,
                        struct vkdev_buffer *buffer)
{
    struct vkdev_buffer made = {.size = size};
    const VkMemoryPropertyFlags visible =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryRequirements need;
    VkResult r = vkCreateBuffer(dev->device,
                                &(VkBufferCreateInfo){
                                    .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                    .size = size,
                                    .usage = usage,
                                },
                                NULL, &made.buffer);
    int err = vkdev_error(r);
    if (err)
        goto error;
    vkGetBufferMemoryRequirements(dev->device, made.buffer, &need);
    err = allocate(dev, &need, visible, cached ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT : 0,
                   &made.memory);
    if (err)
        goto error;
    r = vkBindBufferMemory(dev->device, made.buffer, made.memory, 0);
    if (r == VK_SUCCESS)
        r = vkMapMemory(dev->device, made.memory, 0, VK_WHOLE_SIZE, 0, &made.map);
    err = vkdev_error(r);
    if (err)
        goto error;
    *buffer = made;
    return 0;
error:
    hs_log_message(dev->log, HS_LOG_ERROR, "can not make a buffer of %llu bytes: %s",
                   (unsigned long long)size, hs_error_string(err));
    vkdev_buffer_destroy(dev, &made);
    return err;
}

void vkdev_buffer_destroy(struct vkdev *dev, struct vkdev_buffer *buffer)
{
    vkDestroyBuffer(dev->device, buffer->buffer, NULL);
    vkFreeMemory(dev->device, buffer->memory, NULL);
    *buffer = (struct vkdev_buffer){0};
}

int vkdev_begin(struct vkdev *dev, VkCommandBuffer *cmd)
{
    VkResult r =
        vkAllocateCommandBuffers(dev->device,
                                 &(VkCommandBufferAllocateInfo){
                                     .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                     .commandPool = dev->pool,
                                     .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                     .commandBufferCount = 1,
                                 },
                                 cmd);
    if (r == VK_SUCCESS)
        r = vkBeginCommandBuffer(*cmd, &(VkCommandBufferBeginInfo){
                                           .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                                       });
    return vkdev_error(r);
}

int vkdev_submit_wait(struct vkdev *dev, VkCommandBuffer cmd)
{
    VkResult r = vkEndCommandBuffer(cmd);
    const VkCommandBufferSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = cmd,
    };
    if (r == VK_SUCCESS)
        r = vkQueueSubmit2(dev->queue, 1,
                           &(VkSubmitInfo2){
                               .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                               .commandBufferInfoCount = 1,
                               .pCommandBufferInfos = &info,
                           },
                           VK_NULL_HANDLE);
    if (r == VK_SUCCESS)
        r = vkQueueWaitIdle(dev->queue);
    vkFreeCommandBuffers(dev->device, dev->pool, 1, &cmd);
    return vkdev_error(r);
}

void vkdev_image_barrier(VkCommandBuffer cmd, const struct vkdev_image *image, VkImageLayout from,
                         VkImageLayout to)
{
    VkImageAspectFlags aspect =
        is_depth(image->format) ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
    if (image->format == VK_FORMAT_D32_SFLOAT_S8_UINT)
        aspect |= VK_IMAGE_ASPECT_STENCIL_BIT;
    const VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image->image,
        .subresourceRange = {aspect, 0, 1, 0, 1},
    };
    vkCmdPipelineBarrier2(cmd, &(VkDependencyInfo){
                                   .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                   .imageMemoryBarrierCount = 1,
                                   .pImageMemoryBarriers = &barrier,
                               });
}
