// SPDX-License-Identifier: MIT
/** A buffer pool of Vulkan images in formats for which GStreamer has no video format. */
#ifndef GST_HS_POOL_H
#define GST_HS_POOL_H

#include "gsthsvulkan.h"

G_BEGIN_DECLS

#define GST_TYPE_HS_POOL (gst_hs_pool_get_type())
G_DECLARE_FINAL_TYPE(GstHsPool, gst_hs_pool, GST, HS_POOL, GstBufferPool)

/** An active pool, or NULL. `caps` may be NULL. */
GstBufferPool *gst_hs_pool_new(GstVulkanDevice *device, VkFormat format, guint width, guint height,
                               VkImageUsageFlags usage, GstCaps *caps);

/** An active pool of GstVulkan's for video/x-raw(memory:VulkanImage), or NULL. */
GstBufferPool *gst_hs_pool_new_video(GstVulkanDevice *device, GstCaps *caps,
                                     VkImageUsageFlags usage, bool active);

/** Sets a pool inactive and lets go of it. */
void gst_hs_pool_clear(GstBufferPool **pool);

G_END_DECLS

#endif
