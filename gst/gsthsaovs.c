// SPDX-License-Identifier: MIT
// AOVs of a frame on the device: from the buffer's meta, and into that of the output.
#include "gsthsengine.h"

#include <string.h>

static gsize bytes_of(const struct hs_image *image)
{
    return (gsize)image->width * image->height * gst_hs_format_bytes(image->format);
}

/** An image of our own, which the stream knows no longer if it is another one than before. */
static int make(struct gst_hs_engine *engine, struct gst_hs_picture *picture, VkFormat format,
                guint width, guint height, VkImageUsageFlags usage)
{
    if (picture->memory && (picture->image.format != format || picture->image.width != width ||
                            picture->image.height != height))
        hs_stream_forget(engine->stream, picture->image.view);
    return gst_hs_picture_make(picture, engine->share->device, format, width, height, usage)
               ? 0
               : gst_hs_engine_fail(engine, HS_ERR_NOMEM, "no device memory for an AOV");
}

/** Packed rows from wherever the plane lies. */
static int stage(struct gst_hs_engine *engine, const GstHsPlane *plane, guint8 *to)
{
    const gsize row = gst_hs_format_bytes(plane->format) * (gsize)plane->width;
    GstHsPlane read = {0};
    GError *error = NULL;
    GstMapInfo map;
    int err = gst_hs_engine_read(engine, plane, HSIO_PLANE_COLOR, &read);

    if (!err && !gst_hs_plane_map(&read, HSIO_PLANE_COLOR, &map, &error))
        err = gst_hs_engine_fail(engine, HS_ERR_INVALID, error->message);
    for (guint y = 0; !err && y < plane->height; y++)
        memcpy(to + y * row, map.data + read.offset + y * read.row_bytes, row);
    if (!err)
        gst_buffer_unmap(read.buffer, &map);
    gst_clear_buffer(&read.buffer);
    g_clear_error(&error);
    return err;
}

static int check(struct gst_hs_engine *engine, const struct hs_frame *frame, guint index,
                 const GstHsPlane *plane)
{
    if (plane->width == frame->render_width && plane->height == frame->render_height)
        return 0;
    hs_log_message(&engine->log->log, HS_LOG_ERROR, "AOV %u: expected %ux%u, found %ux%u", index,
                   frame->render_width, frame->render_height, plane->width, plane->height);
    return HS_ERR_INVALID;
}

int gst_hs_aovs_set(struct gst_hs_engine *engine, struct gst_hs_slot *slot,
                    const GstHsAovMeta *meta, struct hs_frame *frame,
                    struct hs_aov aovs[HS_AOV_MAX])
{
    gsize up = 0, down = 0;
    int err = 0;

    slot->aov_count = 0;
    for (guint i = 0; meta && !err && i < meta->count; i++) {
        const GstHsPlane *plane = &meta->list[i].plane;
        struct gst_hs_aov_slot *own = &slot->aovs[i];

        err = check(engine, frame, i, plane);
        if (!err)
            err = make(engine, &own->in, plane->format, plane->width, plane->height,
                       VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
        if (!err)
            err = make(engine, &own->out, plane->format, engine->params.out_width,
                       engine->params.out_height,
                       VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
        if (err < 0)
            return err;
        own->up = up;
        own->down = down;
        up += bytes_of(&own->in.image);
        down += bytes_of(&own->out.image);
        aovs[i] = (struct hs_aov){own->in.image, own->out.image, meta->list[i].kind};
        aovs[i].in.layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
        aovs[i].out.layout = VK_IMAGE_LAYOUT_UNDEFINED;
    }
    if (!up)
        return 0;
    if (!gst_hs_staging_make(&slot->aov_upload, engine->share->device, up,
                             VK_BUFFER_USAGE_TRANSFER_SRC_BIT) ||
        !gst_hs_staging_make(&slot->aov_download, engine->share->device, down,
                             VK_BUFFER_USAGE_TRANSFER_DST_BIT))
        return gst_hs_engine_fail(engine, HS_ERR_NOMEM, "no host memory for AOVs");
    for (guint i = 0; !err && i < meta->count; i++)
        err = stage(engine, &meta->list[i].plane, slot->aov_upload.map.data + slot->aovs[i].up);
    slot->aov_count = err < 0 ? 0 : meta->count;
    frame->aovs = aovs;
    frame->aov_count = slot->aov_count;
    return err;
}

void gst_hs_aovs_upload(const struct gst_hs_slot *slot, VkCommandBuffer cmd)
{
    for (guint i = 0; i < slot->aov_count; i++) {
        const struct hs_image *image = &slot->aovs[i].in.image;

        gst_hs_barrier(cmd, image->image, VK_IMAGE_LAYOUT_UNDEFINED,
                       VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_PIPELINE_STAGE_2_NONE, 0,
                       VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT);
        vkCmdCopyBufferToImage(cmd, slot->aov_upload.buffer, image->image,
                               VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1,
                               &(VkBufferImageCopy){
                                   .bufferOffset = slot->aovs[i].up,
                                   .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                   .imageExtent = {image->width, image->height, 1},
                               });
        gst_hs_barrier(cmd, image->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                       VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_PIPELINE_STAGE_2_COPY_BIT,
                       VK_ACCESS_2_TRANSFER_WRITE_BIT, HS_INPUT_STAGES, HS_INPUT_ACCESS);
    }
}

void gst_hs_aovs_download(const struct gst_hs_slot *slot, VkCommandBuffer cmd)
{
    for (guint i = 0; i < slot->aov_count; i++) {
        const struct hs_image *image = &slot->aovs[i].out.image;

        gst_hs_barrier(cmd, image->image, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL,
                       HS_OUTPUT_STAGES, HS_OUTPUT_ACCESS, VK_PIPELINE_STAGE_2_COPY_BIT,
                       VK_ACCESS_2_TRANSFER_READ_BIT);
        vkCmdCopyImageToBuffer(cmd, image->image, VK_IMAGE_LAYOUT_GENERAL,
                               slot->aov_download.buffer, 1,
                               &(VkBufferImageCopy){
                                   .bufferOffset = slot->aovs[i].down,
                                   .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                   .imageExtent = {image->width, image->height, 1},
                               });
    }
    if (slot->aov_count)
        gst_hs_barrier_host(cmd, slot->aov_download.buffer, VK_PIPELINE_STAGE_2_COPY_BIT,
                            VK_ACCESS_2_TRANSFER_WRITE_BIT);
}

void gst_hs_aovs_store(const struct gst_hs_slot *slot, const GstHsAovMeta *meta, GstBuffer *out)
{
    GstHsAovMeta *made = gst_hs_aov_meta_add(out);

    made->exact = meta->exact;
    for (guint i = 0; i < slot->aov_count; i++) {
        const struct hs_image *image = &slot->aovs[i].out.image;
        const gsize pixel = gst_hs_format_bytes(image->format), bytes = bytes_of(image);
        GstHsAov aov = meta->list[i];

        aov.plane = (GstHsPlane){
            .buffer =
                gst_buffer_new_memdup(slot->aov_download.map.data + slot->aovs[i].down, bytes),
            .format = image->format,
            .width = image->width,
            .height = image->height,
            .row_bytes = pixel * image->width,
            .pixel_bytes = pixel,
        };
        gst_hs_aov_meta_append(made, &aov);
    }
}

void gst_hs_aovs_clear(struct gst_hs_slot *slot)
{
    for (guint i = 0; i < HS_AOV_MAX; i++) {
        gst_hs_picture_clear(&slot->aovs[i].in);
        gst_hs_picture_clear(&slot->aovs[i].out);
    }
    gst_hs_staging_clear(&slot->aov_upload);
    gst_hs_staging_clear(&slot->aov_download);
    slot->aov_count = 0;
}
