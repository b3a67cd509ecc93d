// SPDX-License-Identifier: MIT
#include "arena.h"

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

static int create_image(struct hs_device *device, const struct hs_image_plan *plan)
{
    struct hs_own_image *image = plan->image;
    *image =
        (struct hs_own_image){.format = plan->format, .width = plan->width, .height = plan->height};
    VkResult r = device->vk.CreateImage(device->device,
                                        &(VkImageCreateInfo){
                                            .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                            .imageType = VK_IMAGE_TYPE_2D,
                                            .format = plan->format,
                                            .extent = {plan->width, plan->height, 1},
                                            .mipLevels = 1,
                                            .arrayLayers = 1,
                                            .samples = VK_SAMPLE_COUNT_1_BIT,
                                            .tiling = VK_IMAGE_TILING_OPTIMAL,
                                            .usage = plan->usage,
                                        },
                                        NULL, &image->image);
    if (r != VK_SUCCESS)
        return hs_device_error(device, r, "vkCreateImage");
    hs_device_name(device, VK_OBJECT_TYPE_IMAGE, (uint64_t)image->image, plan->name);
    return 0;
}

static int create_view(struct hs_device *device, const struct hs_image_plan *plan)
{
    struct hs_own_image *image = plan->image;
    VkResult r = device->vk.CreateImageView(
        device->device,
        &(VkImageViewCreateInfo){
            .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
            .image = image->image,
            .viewType = VK_IMAGE_VIEW_TYPE_2D,
            .format = image->format,
            .subresourceRange = {hs_is_depth_format(image->format) ? VK_IMAGE_ASPECT_DEPTH_BIT
                                                                   : VK_IMAGE_ASPECT_COLOR_BIT,
                                 0, 1, 0, 1},
        },
        NULL, &image->view);
    return hs_device_error(device, r, "vkCreateImageView");
}

static int allocate(struct hs_device *device, uint64_t bytes, uint32_t types,
                    struct hs_arena *arena)
{
    if (bytes > device->max_allocation_bytes) {
        hs_log_message(&device->log, HS_LOG_ERROR,
                       "out of memory: the planes need %.0f MiB, %s allocates at most %.0f at once",
                       (double)bytes / (1 << 20), device->name,
                       (double)device->max_allocation_bytes / (1 << 20));
        return HS_ERR_NOMEM;
    }
    // Device-local first; a driver may offer the images' types only elsewhere.
    for (int local = 1; local >= 0; local--) {
        for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++) {
            VkMemoryPropertyFlags flags = device->memory.memoryTypes[i].propertyFlags;
            if (!(types >> i & 1) || (local && !(flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)))
                continue;
            VkResult r =
                device->vk.AllocateMemory(device->device,
                                          &(VkMemoryAllocateInfo){
                                              .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                              .allocationSize = bytes,
                                              .memoryTypeIndex = i,
                                          },
                                          NULL, &arena->memory);
            if (r == VK_SUCCESS)
                arena->bytes = bytes;
            return hs_device_error(device, r, "vkAllocateMemory");
        }
    }
    hs_log_message(&device->log, HS_LOG_ERROR, "no memory type fits all planes of a stream");
    return HS_ERR_UNSUPPORTED;
}

int hs_arena_create(struct hs_device *device, const struct hs_image_plan *plan, uint32_t count,
                    struct hs_own_buffer *buffer, uint64_t buffer_bytes, const char *buffer_name,
                    VkBufferUsageFlags buffer_usage, struct hs_arena *arena)
{
    const struct hs_vk *vk = &device->vk;
    VkMemoryRequirements need;
    uint64_t bytes = 0, offset = 0;
    uint32_t types = UINT32_MAX, made = 0;
    int err = 0;
    if (buffer) {
        *buffer = (struct hs_own_buffer){.bytes = buffer_bytes};
        VkResult r = vk->CreateBuffer(device->device,
                                      &(VkBufferCreateInfo){
                                          .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                          .size = buffer_bytes,
                                          .usage = buffer_usage,
                                      },
                                      NULL, &buffer->buffer);
        err = hs_device_error(device, r, "vkCreateBuffer");
        if (err)
            goto error;
        hs_device_name(device, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer->buffer, buffer_name);
        vk->GetBufferMemoryRequirements(device->device, buffer->buffer, &need);
        bytes = need.size;
        types &= need.memoryTypeBits;
    }
    // Images and buffers may share an allocation when this granularity keeps them apart.
    bytes = align_up(bytes, device->limits.bufferImageGranularity);
    const uint64_t images_at = bytes;
    for (; made < count; made++) {
        err = create_image(device, &plan[made]);
        if (err)
            goto error;
        vk->GetImageMemoryRequirements(device->device, plan[made].image->image, &need);
        plan[made].image->bytes = need.size;
        bytes = align_up(bytes, need.alignment) + need.size;
        types &= need.memoryTypeBits;
    }
    err = allocate(device, bytes, types, arena);
    if (err)
        goto error;
    if (buffer) {
        VkResult r = vk->BindBufferMemory(device->device, buffer->buffer, arena->memory, 0);
        err = hs_device_error(device, r, "vkBindBufferMemory");
    }
    offset = images_at;
    for (uint32_t i = 0; !err && i < count; i++) {
        vk->GetImageMemoryRequirements(device->device, plan[i].image->image, &need);
        offset = align_up(offset, need.alignment);
        VkResult r =
            vk->BindImageMemory(device->device, plan[i].image->image, arena->memory, offset);
        offset += need.size;
        err = hs_device_error(device, r, "vkBindImageMemory");
        if (!err)
            err = create_view(device, &plan[i]);
    }
    if (!err)
        return 0;
error:
    for (uint32_t i = 0; i < count && i <= made; i++)
        hs_own_image_destroy(device, plan[i].image);
    if (buffer)
        hs_own_buffer_destroy(device, buffer);
    hs_arena_destroy(device, arena);
    return err;
}

void hs_own_image_destroy(struct hs_device *device, struct hs_own_image *image)
{
    device->vk.DestroyImageView(device->device, image->view, NULL);
    device->vk.DestroyImage(device->device, image->image, NULL);
    *image = (struct hs_own_image){0};
}

void hs_own_buffer_destroy(struct hs_device *device, struct hs_own_buffer *buffer)
{
    device->vk.DestroyBuffer(device->device, buffer->buffer, NULL);
    *buffer = (struct hs_own_buffer){0};
}

void hs_arena_destroy(struct hs_device *device, struct hs_arena *arena)
{
    device->vk.FreeMemory(device->device, arena->memory, NULL);
    *arena = (struct hs_arena){0};
}
