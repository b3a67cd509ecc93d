// SPDX-License-Identifier: MIT
/** Images and buffers of a stream, many to one device allocation. */
#ifndef HS_ENGINE_ARENA_H
#define HS_ENGINE_ARENA_H

#include "device.h"

/** An image that belongs to a stream; always in GENERAL once `ready`. */
struct hs_own_image {
    VkImage image;
    VkImageView view;
    VkFormat format;
    uint32_t width, height;
    uint64_t bytes;
    /** The transition out of UNDEFINED was recorded. */
    bool ready;
};

struct hs_own_buffer {
    VkBuffer buffer;
    uint64_t bytes;
};

/** One line of an arena's plan. */
struct hs_image_plan {
    struct hs_own_image *image;
    const char *name;
    VkFormat format;
    uint32_t width, height;
    VkImageUsageFlags usage;
};

struct hs_buffer_plan {
    struct hs_own_buffer *buffer;
    const char *name;
    uint64_t bytes;
    VkBufferUsageFlags usage;
};

struct hs_arena_plan {
    const struct hs_image_plan *images;
    uint32_t image_count;
    const struct hs_buffer_plan *buffers;
    uint32_t buffer_count;
    /** Memory that the host can write; otherwise device-local memory. Excludes images. */
    bool mapped;
};

/** One device allocation. */
struct hs_arena {
    VkDeviceMemory memory;
    uint64_t bytes;
};

/** Makes everything in a plan in one allocation. On failure nothing is left behind. */
int hs_arena_create(struct hs_device *device, const struct hs_arena_plan *plan,
                    struct hs_arena *arena);

void hs_own_image_destroy(struct hs_device *device, struct hs_own_image *image);
void hs_own_buffer_destroy(struct hs_device *device, struct hs_own_buffer *buffer);
void hs_arena_destroy(struct hs_device *device, struct hs_arena *arena);

static inline bool hs_is_depth_format(VkFormat format)
{
    return format == VK_FORMAT_D32_SFLOAT || format == VK_FORMAT_D32_SFLOAT_S8_UINT ||
           format == VK_FORMAT_D16_UNORM;
}

#endif
