// SPDX-License-Identifier: MIT
/** Images and buffers that elements own, and reading images back. */
#ifndef GST_HS_GPU_H
#define GST_HS_GPU_H

#include <hindsight/hindsight.h>

#include "gsthsdevice.h"
#include "gsthsformat.h"
#include "gsthsframemeta.h"

/** A plane in a buffer with caps; the reference stays the caller's. */
GstHsPlane gst_hs_plane_of(GstBuffer *buffer, const struct gst_hs_format *format);

/**
 * Maps a plane in system memory for reading. An error tells what was expected where the buffer
 * holds less than the plane.
 */
bool gst_hs_plane_map(const GstHsPlane *plane, enum hsio_plane kind, GstMapInfo *map,
                      GError **error);
static inline const guint8 *gst_hs_plane_pixel(const GstHsPlane *plane, const guint8 *pixels,
                                               guint x, guint y)
{
    return pixels + plane->offset + y * plane->row_bytes + x * plane->pixel_bytes;
}
/**
 * The plane in system memory as packed 32-bit floats, for integers have no place in files and in
 * caps of planes. The caller owns the buffer of `*out`.
 */
bool gst_hs_plane_to_float(const GstHsPlane *plane, enum hsio_plane kind, GstHsPlane *out,
                           GError **error);

/** An image of our own with its view. Zeroed: none. */
struct gst_hs_picture {
    GstMemory *memory;
    GstVulkanImageView *view;
    struct hs_image image; ///< Its layout is for the user to set.
};

/** Makes the picture, or keeps the one that fits. */
bool gst_hs_picture_make(struct gst_hs_picture *picture, GstVulkanDevice *device, VkFormat format,
                         guint width, guint height, VkImageUsageFlags usage);
void gst_hs_picture_clear(struct gst_hs_picture *picture);

/** A buffer in host memory, mapped for good. Zeroed: none. */
struct gst_hs_staging {
    GstMemory *memory;
    GstMapInfo map;
    VkBuffer buffer;
};

/** Makes a buffer of at least that size, or keeps the one that is large enough. */
bool gst_hs_staging_make(struct gst_hs_staging *staging, GstVulkanDevice *device, gsize bytes,
                         VkBufferUsageFlags usage);
void gst_hs_staging_clear(struct gst_hs_staging *staging);

/** A layout change of a whole image of our own, from what one use did to what the next one does. */
void gst_hs_barrier(VkCommandBuffer cmd, VkImage image, VkImageLayout from, VkImageLayout to,
                    VkPipelineStageFlags2 after, VkAccessFlags2 written,
                    VkPipelineStageFlags2 before, VkAccessFlags2 access);
/** Makes what the device wrote into a buffer visible to the host. */
void gst_hs_barrier_host(VkCommandBuffer cmd, VkBuffer buffer, VkPipelineStageFlags2 after,
                         VkAccessFlags2 written);

/**
 * Views of images that belong to others, for whom the engine keeps descriptors: tells which of
 * them have died since. Reference counted, for the images may die after the element.
 */
struct gst_hs_views;
struct gst_hs_views *gst_hs_views_new(void);
void gst_hs_views_unref(struct gst_hs_views *views);
/** The view of an image; it lives as long as the memory does. */
VkImageView gst_hs_views_get(struct gst_hs_views *views, GstVulkanImageMemory *memory);
/** Makes the stream forget those that have died. Before every frame. */
void gst_hs_views_forget(struct gst_hs_views *views, struct hs_stream *stream);

/** Reads planes from Vulkan images into system memory. Zeroed: not in use yet. */
struct gst_hs_readback {
    GstVulkanOperation *operation;
    struct gst_hs_staging staging;
};
/**
 * A plane in system memory: the same one if it is there already, else a packed copy, for which it
 * waits. The caller owns the buffer of `*out`.
 */
bool gst_hs_readback_plane(struct gst_hs_readback *readback, const struct gst_hs_device *share,
                           const GstHsPlane *plane, GstHsPlane *out, GError **error);
void gst_hs_readback_clear(struct gst_hs_readback *readback);

/** An operation with a command pool of its own, or NULL. */
GstVulkanOperation *gst_hs_operation_new(const struct gst_hs_device *share, GError **error);

#endif
