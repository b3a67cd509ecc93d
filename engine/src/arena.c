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

static int create_buffer(struct hs_device *device, const struct hs_buffer_plan *plan)
{
    struct hs_own_buffer *buffer = plan->buffer;
    *buffer = (struct hs_own_buffer){.bytes = plan->bytes};
    VkResult r = device->vk.CreateBuffer(device->device,
                                         &(VkBufferCreateInfo){
                                             .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                             .size = plan->bytes,
                                             .usage = plan->usage,
                                         },
                                         NULL, &buffer->buffer);
    if (r != VK_SUCCESS)
        return hs_device_error(device, r, "vkCreateBuffer");
    hs_device_name(device, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer->buffer, plan->name);
    return 0;
}

static int allocate(struct hs_device *device, uint64_t bytes, uint32_t types, bool mapped,
                    struct hs_arena *arena)
{
    const VkMemoryPropertyFlags host =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryPropertyFlags wanted[] = {mapped ? host : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                            mapped ? host : 0};
    if (bytes > device->max_allocation_bytes) {
        hs_log_message(&device->log, HS_LOG_ERROR,
                       "out of memory: the planes need %.0f MiB, %s allocates at most %.0f at once",
                       (double)bytes / (1 << 20), device->name,
                       (double)device->max_allocation_bytes / (1 << 20));
        return HS_ERR_NOMEM;
    }
    // Device-local first; a driver may offer the images' types only elsewhere.
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++) {
            VkMemoryPropertyFlags flags = device->memory.memoryTypes[i].propertyFlags;
            if (!(types >> i & 1) || (flags & wanted[pass]) != wanted[pass])
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

/** Where things lie in an allocation. */
struct span {
    uint64_t bytes;
    uint32_t types;
};

static uint64_t place(struct span *span, const VkMemoryRequirements *need)
{
    const uint64_t offset = align_up(span->bytes, need->alignment);
    span->bytes = offset + need->size;
    span->types &= need->memoryTypeBits;
    return offset;
}

/** Goes through all places in order; binds if there is memory. */
static int walk(struct hs_device *device, const struct hs_arena_plan *plan, struct span *span,
                VkDeviceMemory memory)
{
    const struct hs_vk *vk = &device->vk;
    VkMemoryRequirements need;
    int err = 0;
    *span = (struct span){.types = UINT32_MAX};
    for (uint32_t i = 0; !err && i < plan->buffer_count; i++) {
        vk->GetBufferMemoryRequirements(device->device, plan->buffers[i].buffer->buffer, &need);
        const uint64_t offset = place(span, &need);
        if (memory)
            err = hs_device_error(device,
                                  vk->BindBufferMemory(device->device,
                                                       plan->buffers[i].buffer->buffer, memory,
                                                       offset),
                                  "vkBindBufferMemory");
    }
    // Images and buffers may share an allocation when this granularity keeps them apart.
    span->bytes = align_up(span->bytes, device->limits.bufferImageGranularity);
    for (uint32_t i = 0; !err && i < plan->image_count; i++) {
        struct hs_own_image *image = plan->images[i].image;
        vk->GetImageMemoryRequirements(device->device, image->image, &need);
        const uint64_t offset = place(span, &need);
        image->bytes = need.size;
        if (memory)
            err = hs_device_error(device,
                                  vk->BindImageMemory(device->device, image->image, memory, offset),
                                  "vkBindImageMemory");
        if (memory && !err)
            err = create_view(device, &plan->images[i]);
    }
    return err;
}

int hs_arena_create(struct hs_device *device, const struct hs_arena_plan *plan,
                    struct hs_arena *arena)
{
    uint32_t buffers = 0, images = 0;
    struct span span;
    int err = 0;
    for (; !err && buffers < plan->buffer_count; buffers++)
        err = create_buffer(device, &plan->buffers[buffers]);
    for (; !err && images < plan->image_count; images++)
        err = create_image(device, &plan->images[images]);
    if (err)
        goto error;
    walk(device, plan, &span, VK_NULL_HANDLE);
    err = allocate(device, span.bytes, span.types, plan->mapped, arena);
    if (!err)
        err = walk(device, plan, &span, arena->memory);
    if (!err)
        return 0;
error:
    for (uint32_t i = 0; i < images; i++)
        hs_own_image_destroy(device, plan->images[i].image);
    for (uint32_t i = 0; i < buffers; i++)
        hs_own_buffer_destroy(device, plan->buffers[i].buffer);
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
