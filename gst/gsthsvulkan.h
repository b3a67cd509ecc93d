// SPDX-License-Identifier: MIT
/**
 * GstVulkan as of 1.26 and 1.28, and all that is going to change in 1.30: barriers and semaphores
 * of images (merge request 12106 upstream). Nothing else in this folder touches them.
 */
#ifndef GST_HS_VULKAN_H
#define GST_HS_VULKAN_H

#include <stdbool.h>

#define GST_USE_UNSTABLE_API
#include <gst/gst.h>
#include <gst/video/video.h>
#include <gst/vulkan/vulkan.h>

/** How one submission uses the images of a buffer. */
struct gst_hs_use {
    GstBuffer *buffer;
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 access;
    VkImageLayout layout; ///< From the barrier on, and afterwards.
};

/**
 * Begins a command buffer that waits for earlier users of the images and brings them into their
 * layouts. A buffer may stand in the list only once. After success gst_hs_operation_end() must
 * follow, in the same thread: until then other elements of ours wait.
 */
bool gst_hs_operation_begin(GstVulkanOperation *operation, const struct gst_hs_use *uses,
                            guint count, GError **error);
/** Submits; later users of the images wait for it. */
bool gst_hs_operation_end(GstVulkanOperation *operation, GError **error);

/** The image of a buffer, or NULL if its memory is of another kind. */
GstVulkanImageMemory *gst_hs_image_of(GstBuffer *buffer);

#endif
