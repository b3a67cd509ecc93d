// SPDX-License-Identifier: MIT
#include "gsthsgpu.h"

#include <string.h>

#include "hsframe.h"

GstHsPlane gst_hs_plane_of(GstBuffer *buffer, const struct gst_hs_format *format)
{
    GstHsPlane plane = {
        .buffer = buffer,
        .format = format->format,
        .width = (guint)format->width,
        .height = (guint)format->height,
        .pixel_bytes = gst_hs_format_bytes(format->format),
    };
    const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

    plane.row_bytes = plane.pixel_bytes * plane.width;
    if (format->video) {
        plane.pixel_bytes = (gsize)GST_VIDEO_INFO_COMP_PSTRIDE(&format->info, 0);
        plane.row_bytes =
            (gsize)(meta ? meta->stride[0] : GST_VIDEO_INFO_PLANE_STRIDE(&format->info, 0));
        plane.offset = meta ? meta->offset[0] : GST_VIDEO_INFO_PLANE_OFFSET(&format->info, 0);
    }
    return plane;
}

bool gst_hs_plane_map(const GstHsPlane *plane, enum hsio_plane kind, GstMapInfo *map,
                      GError **error)
{
    const gsize need = plane->offset + plane->row_bytes * (plane->height - 1) +
                       plane->pixel_bytes * (plane->width - 1) + gst_hs_format_bytes(plane->format);

    if (!gst_buffer_map(plane->buffer, map, GST_MAP_READ)) {
        g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                    "plane %s: the buffer can not be mapped", gst_hs_plane_name(kind));
        return false;
    }
    if (map->size >= need)
        return true;
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                "plane %s: expected %" G_GSIZE_FORMAT
                " bytes for %ux%u pixels, found %" G_GSIZE_FORMAT
                ": make format, width and height of the caps fit what the buffers hold",
                gst_hs_plane_name(kind), need, plane->width, plane->height, map->size);
    gst_buffer_unmap(plane->buffer, map);
    return false;
}

bool gst_hs_plane_to_float(const GstHsPlane *plane, enum hsio_plane kind, GstHsPlane *out,
                           GError **error)
{
    const int channels = hsio_plane_channels(kind);
    GstMapInfo from, to;
    float *next;

    if (!gst_hs_plane_map(plane, kind, &from, error))
        return false;
    *out = (GstHsPlane){
        .format = gst_hs_format_float(kind), .width = plane->width, .height = plane->height};
    out->pixel_bytes = sizeof(float) * (gsize)channels;
    out->row_bytes = out->pixel_bytes * plane->width;
    out->buffer = gst_buffer_new_allocate(NULL, out->row_bytes * plane->height, NULL);
    gst_buffer_map(out->buffer, &to, GST_MAP_WRITE);
    next = (float *)(void *)to.data;
    for (guint y = 0; y < plane->height; y++) {
        for (guint x = 0; x < plane->width; x++) {
            const guint8 *pixel = gst_hs_plane_pixel(plane, from.data, x, y);

            for (int c = 0; c < channels; c++)
                *next++ = hsframe_value(pixel, plane->format, c);
        }
    }
    gst_buffer_unmap(out->buffer, &to);
    gst_buffer_unmap(plane->buffer, &from);
    return true;
}

bool gst_hs_picture_make(struct gst_hs_picture *picture, GstVulkanDevice *device, VkFormat format,
                         guint width, guint height, VkImageUsageFlags usage)
{
    struct gst_hs_picture made = {0};

    if (picture->memory && picture->image.format == format && picture->image.width == width &&
        picture->image.height == height)
        return true;
    made.memory =
        gst_vulkan_image_memory_alloc(device, format, width, height, VK_IMAGE_TILING_OPTIMAL, usage,
                                      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    if (!made.memory)
        return false;
    made.view = gst_vulkan_get_or_create_image_view((GstVulkanImageMemory *)made.memory);
    made.image = (struct hs_image){
        .image = ((GstVulkanImageMemory *)made.memory)->image,
        .view = made.view->view,
        .format = format,
        .usage = usage,
        .width = width,
        .height = height,
    };
    gst_hs_picture_clear(picture);
    *picture = made;
    return true;
}

void gst_hs_picture_clear(struct gst_hs_picture *picture)
{
    if (picture->view)
        gst_vulkan_image_view_unref(picture->view);
    if (picture->memory)
        gst_memory_unref(picture->memory);
    *picture = (struct gst_hs_picture){0};
}

bool gst_hs_staging_make(struct gst_hs_staging *staging, GstVulkanDevice *device, gsize bytes,
                         VkBufferUsageFlags usage)
{
    static const VkMemoryPropertyFlags wanted[] = {
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
            VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
    };
    struct gst_hs_staging made = {0};

    if (staging->memory && staging->map.size >= bytes)
        return true;
    for (guint i = 0; i < G_N_ELEMENTS(wanted) && !made.memory; i++)
        made.memory = gst_vulkan_buffer_memory_alloc(device, bytes, usage, wanted[i]);
    if (!made.memory)
        return false;
    if (!gst_memory_map(made.memory, &made.map, GST_MAP_READWRITE)) {
        gst_memory_unref(made.memory);
        return false;
    }
    made.buffer = ((GstVulkanBufferMemory *)made.memory)->buffer;
    gst_hs_staging_clear(staging);
    *staging = made;
    return true;
}

void gst_hs_staging_clear(struct gst_hs_staging *staging)
{
    if (staging->memory) {
        gst_memory_unmap(staging->memory, &staging->map);
        gst_memory_unref(staging->memory);
    }
    *staging = (struct gst_hs_staging){0};
}

void gst_hs_barrier(VkCommandBuffer cmd, VkImage image, VkImageLayout from, VkImageLayout to,
                    VkPipelineStageFlags2 after, VkAccessFlags2 written,
                    VkPipelineStageFlags2 before, VkAccessFlags2 access)
{
    const VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = after,
        .srcAccessMask = written,
        .dstStageMask = before,
        .dstAccessMask = access,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };

    vkCmdPipelineBarrier2(cmd, &(VkDependencyInfo){
                                   .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                   .imageMemoryBarrierCount = 1,
                                   .pImageMemoryBarriers = &barrier,
                               });
}

void gst_hs_barrier_host(VkCommandBuffer cmd, VkBuffer buffer, VkPipelineStageFlags2 after,
                         VkAccessFlags2 written)
{
    const VkBufferMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
        .srcStageMask = after,
        .srcAccessMask = written,
        .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
        .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .buffer = buffer,
        .size = VK_WHOLE_SIZE,
    };

    vkCmdPipelineBarrier2(cmd, &(VkDependencyInfo){
                                   .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                   .bufferMemoryBarrierCount = 1,
                                   .pBufferMemoryBarriers = &barrier,
                               });
}

struct gst_hs_views {
    GMutex lock;
    GHashTable *live; ///< Memory to view.
    GArray *dead;     ///< VkImageView
};

static void free_views(gpointer data)
{
    struct gst_hs_views *views = data;

    g_hash_table_unref(views->live);
    g_array_unref(views->dead);
    g_mutex_clear(&views->lock);
}

struct gst_hs_views *gst_hs_views_new(void)
{
    struct gst_hs_views *views = g_atomic_rc_box_new0(struct gst_hs_views);

    g_mutex_init(&views->lock);
    views->live = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    views->dead = g_array_new(FALSE, FALSE, sizeof(VkImageView));
    return views;
}

void gst_hs_views_unref(struct gst_hs_views *views)
{
    g_atomic_rc_box_release_full(views, free_views);
}

/** Runs before the memory's view is destroyed, so that its handle can not have come back yet. */
static void on_memory_gone(gpointer data, GstMiniObject *memory)
{
    struct gst_hs_views *views = data;
    const VkImageView *view;

    g_mutex_lock(&views->lock);
    view = g_hash_table_lookup(views->live, memory);
    if (view)
        g_array_append_val(views->dead, *view);
    g_hash_table_remove(views->live, memory);
    g_mutex_unlock(&views->lock);
    gst_hs_views_unref(views);
}

VkImageView gst_hs_views_get(struct gst_hs_views *views, GstVulkanImageMemory *memory)
{
    VkImageView *known, view;
    GstVulkanImageView *made;

    g_mutex_lock(&views->lock);
    known = g_hash_table_lookup(views->live, memory);
    view = known ? *known : VK_NULL_HANDLE;
    g_mutex_unlock(&views->lock);
    if (known)
        return view;
    made = gst_vulkan_get_or_create_image_view(memory);
    view = made->view;
    // The memory keeps the view for the next one who asks.
    gst_vulkan_image_view_unref(made);
    known = g_new(VkImageView, 1);
    *known = view;
    g_mutex_lock(&views->lock);
    g_hash_table_insert(views->live, memory, known);
    g_mutex_unlock(&views->lock);
    gst_mini_object_weak_ref(GST_MINI_OBJECT(memory), on_memory_gone,
                             g_atomic_rc_box_acquire(views));
    return view;
}

void gst_hs_views_forget(struct gst_hs_views *views, struct hs_stream *stream)
{
    g_mutex_lock(&views->lock);
    for (guint i = 0; i < views->dead->len; i++)
        hs_stream_forget(stream, g_array_index(views->dead, VkImageView, i));
    g_array_set_size(views->dead, 0);
    g_mutex_unlock(&views->lock);
}

GstVulkanOperation *gst_hs_operation_new(const struct gst_hs_device *share, GError **error)
{
    GstVulkanCommandPool *pool = gst_vulkan_queue_create_command_pool(share->queue, error);
    GstVulkanOperation *operation;

    if (!pool)
        return NULL;
    operation = gst_vulkan_operation_new(pool);
    gst_object_unref(pool);
    return operation;
}

bool gst_hs_readback_plane(struct gst_hs_readback *readback, const struct gst_hs_device *share,
                           const GstHsPlane *plane, GstHsPlane *out, GError **error)
{
    GstVulkanImageMemory *image = gst_hs_image_of(plane->buffer);
    const gsize row = (gsize)plane->width * gst_hs_format_bytes(plane->format);
    const gsize bytes = row * plane->height;
    VkCommandBuffer cmd;

    *out = *plane;
    if (!image) {
        gst_buffer_ref(plane->buffer);
        return true;
    }
    if (image->create_info.extent.width < plane->width ||
        image->create_info.extent.height < plane->height ||
        gst_hs_format_bytes(image->create_info.format) != gst_hs_format_bytes(plane->format)) {
        g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                    "expected an image of %ux%u with %u bytes a pixel, found %ux%u with %u: make "
                    "format, width and height of the caps fit what the buffers hold",
                    plane->width, plane->height, gst_hs_format_bytes(plane->format),
                    image->create_info.extent.width, image->create_info.extent.height,
                    gst_hs_format_bytes(image->create_info.format));
        return false;
    }
    if (!readback->operation)
        readback->operation = gst_hs_operation_new(share, error);
    if (!readback->operation)
        return false;
    if (!gst_hs_staging_make(&readback->staging, share->device, bytes,
                             VK_BUFFER_USAGE_TRANSFER_DST_BIT)) {
        g_set_error(error, GST_VULKAN_ERROR, GST_VULKAN_FAILED, "no memory to read a plane back");
        return false;
    }
    if (!gst_hs_operation_begin(readback->operation,
                                &(struct gst_hs_use){
                                    .buffer = plane->buffer,
                                    .stages = VK_PIPELINE_STAGE_2_COPY_BIT,
                                    .access = VK_ACCESS_2_TRANSFER_READ_BIT,
                                    .layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                },
                                1, error))
        return false;
    gst_vulkan_command_buffer_lock(readback->operation->cmd_buf);
    cmd = readback->operation->cmd_buf->cmd;
    vkCmdCopyImageToBuffer(cmd, image->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           readback->staging.buffer, 1,
                           &(VkBufferImageCopy){
                               .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                               .imageExtent = {plane->width, plane->height, 1},
                           });
    gst_hs_barrier_host(cmd, readback->staging.buffer, VK_PIPELINE_STAGE_2_COPY_BIT,
                        VK_ACCESS_2_TRANSFER_WRITE_BIT);
    gst_vulkan_command_buffer_unlock(readback->operation->cmd_buf);
    if (!gst_hs_operation_end(readback->operation, error))
        return false;
    gst_vulkan_operation_wait(readback->operation);
    out->buffer = gst_buffer_new_allocate(NULL, bytes, NULL);
    out->offset = 0;
    out->row_bytes = row;
    out->pixel_bytes = gst_hs_format_bytes(plane->format);
    gst_buffer_fill(out->buffer, 0, readback->staging.map.data, bytes);
    return true;
}

void gst_hs_readback_clear(struct gst_hs_readback *readback)
{
    if (readback->operation)
        gst_vulkan_operation_wait(readback->operation);
    gst_clear_object(&readback->operation);
    gst_hs_staging_clear(&readback->staging);
}
