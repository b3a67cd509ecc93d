// SPDX-License-Identifier: MIT
#include "gsthsengine.h"

#include <string.h>

#include "hsmodel.h"

/** Planes that the engine has a use for, those first that every model has. */
static const enum hsio_plane used[] = {
    HSIO_PLANE_COLOR,    HSIO_PLANE_DEPTH,          HSIO_PLANE_MOTION,
    HSIO_PLANE_REACTIVE, HSIO_PLANE_DIFFUSE_ALBEDO, HSIO_PLANE_SPECULAR_ALBEDO,
    HSIO_PLANE_NORMAL,   HSIO_PLANE_ROUGHNESS,      HSIO_PLANE_HIT_DISTANCE};
#define USED_BY_ALL 4

int gst_hs_engine_fail(struct gst_hs_engine *engine, int error, const char *text)
{
    hs_log_message(&engine->log->log, HS_LOG_ERROR, "%s", text);
    return error;
}

int gst_hs_engine_open(struct gst_hs_engine *engine, struct gst_hs_device *share,
                       struct gst_hs_log *log, const struct hs_model_params *model)
{
    const bool oidn = hsoidn_is(model->preset);
    struct hs_model_params params = *model;
    GError *error = NULL;
    int err;

    *engine = (struct gst_hs_engine){.share = share, .log = log};
    err = gst_hs_device_import(share, &log->log, &engine->device);
    if (oidn)
        params.preset = HSOIDN_BEHIND;
    if (!err)
        err = hs_model_load(engine->device, &params, &engine->model);
    if (!err && oidn)
        err = hsoidn_open(&log->log, &engine->denoiser);
    for (int i = 0; !err && i < GST_HS_SLOTS; i++) {
        engine->slots[i].operation = gst_hs_operation_new(share, &error);
        if (!engine->slots[i].operation)
            err = gst_hs_engine_fail(engine, HS_ERR_INTERNAL, error->message);
        g_clear_error(&error);
    }
    if (err < 0) {
        gst_hs_engine_close(engine);
        return err;
    }
    engine->views = gst_hs_views_new();
    hs_model_describe(engine->model, &engine->info);
    // Statistics may be read when the model is gone.
    engine->info.preset = g_intern_string(oidn ? HSOIDN_NAME : engine->info.preset);
    return 0;
}

static void release_inputs(struct gst_hs_slot *slot)
{
    for (int i = 0; i < HSIO_PLANE_COUNT; i++)
        gst_clear_buffer(&slot->held[i]);
}

static void wait_slots(struct gst_hs_engine *engine)
{
    for (int i = 0; i < GST_HS_SLOTS; i++) {
        if (engine->slots[i].operation)
            gst_vulkan_operation_wait(engine->slots[i].operation);
        release_inputs(&engine->slots[i]);
    }
    // A software driver may still be busy with semaphores when its fences have signalled.
    gst_hs_device_drain(engine->share);
}

static void close_stream(struct gst_hs_engine *engine)
{
    if (engine->share)
        wait_slots(engine);
    hs_stream_destroy(&engine->stream);
    for (int i = 0; i < GST_HS_SLOTS; i++) {
        struct gst_hs_slot *slot = &engine->slots[i];

        for (int p = 0; p < HSIO_PLANE_COUNT; p++)
            gst_hs_picture_clear(&slot->inputs[p]);
        gst_hs_picture_clear(&slot->result);
        gst_hs_staging_clear(&slot->upload);
        gst_hs_staging_clear(&slot->download);
        gst_hs_aovs_clear(slot);
    }
}

void gst_hs_engine_close(struct gst_hs_engine *engine)
{
    close_stream(engine);
    gst_hs_encode_close(&engine->encode);
    for (int i = 0; i < GST_HS_SLOTS; i++)
        gst_clear_object(&engine->slots[i].operation);
    hsoidn_close(&engine->denoiser);
    gst_hs_readback_clear(&engine->readback);
    hs_model_destroy(&engine->model);
    hs_device_destroy(&engine->device);
    g_clear_pointer(&engine->views, gst_hs_views_unref);
    *engine = (struct gst_hs_engine){0};
}

bool gst_hs_target_plan(struct gst_hs_target *target, const struct gst_hs_format *colour,
                        const struct gst_hs_format *out)
{
    const bool deep = colour->format == VK_FORMAT_R32G32B32A32_SFLOAT ||
                      colour->format == VK_FORMAT_R16G16B16A16_UNORM;

    *target = (struct gst_hs_target){.format = *out, .picture = out->format};
    if (!out->video) {
        target->bytes = (gsize)out->width * (gsize)out->height * gst_hs_format_bytes(out->format);
        return true;
    }
    // Display-referred pixels are what an 8-bit image wants.
    if (out->vulkan && !colour->linear)
        return true;
    target->encode = true;
    target->picture = deep ? VK_FORMAT_R32G32B32A32_SFLOAT : VK_FORMAT_R16G16B16A16_SFLOAT;
    return gst_hs_encode_plan(&out->info, colour, &target->push, &target->bytes);
}

int gst_hs_engine_configure(struct gst_hs_engine *engine, const struct hs_stream_params *params,
                            const struct gst_hs_target *target)
{
    const bool same = engine->stream && engine->params.out_width == params->out_width &&
                      engine->params.out_height == params->out_height &&
                      engine->params.max_render_width >= params->max_render_width &&
                      engine->params.max_render_height >= params->max_render_height &&
                      engine->params.flags == params->flags;
    int err = 0;

    wait_slots(engine);
    if (!same) {
        close_stream(engine);
        err = hs_stream_create(engine->model, params, &engine->stream);
        if (err < 0)
            return err;
        engine->params = *params;
        engine->fresh = true;
    }
    if (target->encode &&
        !gst_hs_encode_open(&engine->encode, engine->share->device->device, !target->format.vulkan))
        return gst_hs_engine_fail(engine, HS_ERR_INTERNAL, "the output shader can not be built");
    engine->target = *target;
    return 0;
}

/** One plane from system memory into the staging buffer. */
static bool copy_rows(const GstHsPlane *plane, enum hsio_plane kind, guint8 *to, GError **error)
{
    const gsize pixel = gst_hs_format_bytes(plane->format), row = pixel * plane->width;
    GstMapInfo map;

    if (!gst_hs_plane_map(plane, kind, &map, error))
        return false;
    for (guint y = 0; y < plane->height; y++) {
        const guint8 *from = map.data + plane->offset + y * plane->row_bytes;

        if (plane->pixel_bytes == pixel) {
            memcpy(to + y * row, from, row);
            continue;
        }
        for (guint x = 0; x < plane->width; x++)
            memcpy(to + y * row + x * pixel, from + x * plane->pixel_bytes, pixel);
    }
    gst_buffer_unmap(plane->buffer, &map);
    return true;
}

/** Copies planes from system memory into the slot's staging buffer and makes images for them. */
static int stage_inputs(struct gst_hs_engine *engine, struct gst_hs_slot *slot,
                        const GstHsPlane planes[], gsize offsets[])
{
    GstVulkanDevice *device = engine->share->device;
    GError *error = NULL;
    gsize bytes = 0;

    for (guint i = 0; i < G_N_ELEMENTS(used); i++) {
        const GstHsPlane *plane = &planes[used[i]];

        if (!plane->buffer || gst_hs_image_of(plane->buffer))
            continue;
        if (!gst_hs_format_bytes(plane->format)) {
            hs_log_message(&engine->log->log, HS_LOG_ERROR,
                           "plane %s: the meta tells no format that there is",
                           gst_hs_plane_name(used[i]));
            return HS_ERR_INVALID;
        }
        offsets[used[i]] = bytes;
        bytes += ((gsize)plane->width * plane->height * gst_hs_format_bytes(plane->format) + 15) /
                 16 * 16;
    }
    if (bytes &&
        !gst_hs_staging_make(&slot->upload, device, bytes, VK_BUFFER_USAGE_TRANSFER_SRC_BIT))
        return gst_hs_engine_fail(engine, HS_ERR_NOMEM, "no host memory for uploads");
    for (guint i = 0; i < G_N_ELEMENTS(used); i++) {
        const GstHsPlane *plane = &planes[used[i]];
        struct gst_hs_picture *picture = &slot->inputs[used[i]];

        if (!plane->buffer || gst_hs_image_of(plane->buffer))
            continue;
        if (picture->memory &&
            (picture->image.format != plane->format || picture->image.width != plane->width ||
             picture->image.height != plane->height))
            hs_stream_forget(engine->stream, picture->image.view);
        if (!gst_hs_picture_make(picture, device, plane->format, plane->width, plane->height,
                                 VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                     VK_IMAGE_USAGE_TRANSFER_SRC_BIT))
            return gst_hs_engine_fail(engine, HS_ERR_NOMEM, "no device memory for a plane");
        if (!copy_rows(plane, used[i], slot->upload.map.data + offsets[used[i]], &error)) {
            gst_hs_engine_fail(engine, HS_ERR_INVALID, error->message);
            g_clear_error(&error);
            return HS_ERR_INVALID;
        }
    }
    return 0;
}

static void record_uploads(struct gst_hs_slot *slot, VkCommandBuffer cmd, const GstHsPlane planes[],
                           const gsize offsets[])
{
    for (guint i = 0; i < G_N_ELEMENTS(used); i++) {
        const GstHsPlane *plane = &planes[used[i]];
        VkImage image = slot->inputs[used[i]].image.image;

        if (!plane->buffer || gst_hs_image_of(plane->buffer))
            continue;
        gst_hs_barrier(cmd, image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                       VK_PIPELINE_STAGE_2_NONE, 0, VK_PIPELINE_STAGE_2_COPY_BIT,
                       VK_ACCESS_2_TRANSFER_WRITE_BIT);
        vkCmdCopyBufferToImage(cmd, slot->upload.buffer, image,
                               VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1,
                               &(VkBufferImageCopy){
                                   .bufferOffset = offsets[used[i]],
                                   .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                   .imageExtent = {plane->width, plane->height, 1},
                               });
        gst_hs_barrier(cmd, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                       VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_PIPELINE_STAGE_2_COPY_BIT,
                       VK_ACCESS_2_TRANSFER_WRITE_BIT, HS_INPUT_STAGES, HS_INPUT_ACCESS);
    }
}

/** A view of somebody else's image, in the layout that the operation brings it to. */
static struct hs_image borrow(struct gst_hs_engine *engine, GstVulkanImageMemory *memory,
                              VkImageLayout layout)
{
    return (struct hs_image){
        .image = memory->image,
        .view = gst_hs_views_get(engine->views, memory),
        .format = memory->create_info.format,
        .layout = layout,
        .usage = memory->usage,
        .width = memory->create_info.extent.width,
        .height = memory->create_info.extent.height,
    };
}

/** Whether the plane is on the engine's device. */
static int check_device(struct gst_hs_engine *engine, const GstHsPlane *plane, enum hsio_plane kind)
{
    const GstVulkanImageMemory *memory = plane->buffer ? gst_hs_image_of(plane->buffer) : NULL;

    if (!memory || memory->device == engine->share->device)
        return 0;
    hs_log_message(&engine->log->log, HS_LOG_ERROR,
                   "plane %s is on another Vulkan device: put vulkandownload behind the element "
                   "that made it",
                   gst_hs_plane_name(kind));
    return HS_ERR_INVALID;
}

int gst_hs_engine_read(struct gst_hs_engine *engine, const GstHsPlane *plane, enum hsio_plane kind,
                       GstHsPlane *read)
{
    GError *error = NULL;
    int err = check_device(engine, plane, kind);

    if (!err && !gst_hs_readback_plane(&engine->readback, engine->share, plane, read, &error))
        err = gst_hs_engine_fail(engine, HS_ERR_INVALID, error->message);
    g_clear_error(&error);
    return err;
}

static int set_images(struct gst_hs_engine *engine, struct gst_hs_slot *slot,
                      const struct hsio_frame_info *info, const GstHsPlane planes[],
                      struct hs_frame *frame)
{
    for (guint i = 0; i < G_N_ELEMENTS(used); i++) {
        const GstHsPlane *plane = &planes[used[i]];
        GstVulkanImageMemory *memory = plane->buffer ? gst_hs_image_of(plane->buffer) : NULL;

        struct hs_image *image = hsframe_image(frame, used[i]);

        // A frame that stands in for a missing one does not move.
        if (!plane->buffer || (info->held && used[i] == HSIO_PLANE_MOTION))
            continue;
        if (check_device(engine, plane, used[i]) < 0)
            return HS_ERR_INVALID;
        *image = memory ? borrow(engine, memory, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL)
                        : slot->inputs[used[i]].image;
        image->layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    }
    return 0;
}

/** Where the engine writes to: the buffer's image, or a picture of our own. */
static int set_output(struct gst_hs_engine *engine, struct gst_hs_slot *slot, GstBuffer *out,
                      struct hs_frame *frame)
{
    const struct gst_hs_target *target = &engine->target;

    if (out && target->format.vulkan && !target->encode) {
        frame->output = borrow(engine, gst_hs_image_of(out), VK_IMAGE_LAYOUT_GENERAL);
        return 0;
    }
    if (!gst_hs_picture_make(&slot->result, engine->share->device, target->picture,
                             engine->params.out_width, engine->params.out_height,
                             VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |
                                 VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT))
        return gst_hs_engine_fail(engine, HS_ERR_NOMEM, "no device memory for the output");
    if (out && !target->format.vulkan &&
        !gst_hs_staging_make(&slot->download, engine->share->device, target->bytes,
                             VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT))
        return gst_hs_engine_fail(engine, HS_ERR_NOMEM, "no host memory for the output");
    frame->output = slot->result.image;
    frame->output.layout = VK_IMAGE_LAYOUT_UNDEFINED;
    return 0;
}

/** From light to a display's values: what the engine's look and the tone map are for. PQ shows what
 * is there. */
static bool makes_display(const struct gst_hs_target *target)
{
    return target->encode && target->push.mode[1] != HS_ENCODE_CURVE_NONE &&
           target->push.mode[1] != HS_ENCODE_CURVE_PQ &&
           target->push.mode[3] == HS_ENCODE_FROM_LINEAR;
}

static void record_encode(struct gst_hs_engine *engine, const struct gst_hs_slot *slot,
                          VkCommandBuffer cmd, const struct gst_hs_look *look,
                          const struct hs_frame *frame, GstBuffer *out)
{
    struct hs_encode_push push = engine->target.push;
    const bool memory = !engine->target.format.vulkan;
    const bool light =
        push.mode[1] != HS_ENCODE_CURVE_NONE && push.mode[3] == HS_ENCODE_FROM_LINEAR;

    if (light && frame->exposure.mode == HS_EXPOSURE_GIVEN && frame->exposure.value > 0)
        push.values[0] = frame->exposure.value;
    push.values[1] = look->paper_white / 10000;
    push.mode[2] = makes_display(&engine->target) ? look->tone : HS_ENCODE_TONE_NONE;
    if (frame->look.curve != HS_LOOK_NONE) {
        push.values[0] = 1;
        push.mode[1] = HS_ENCODE_CURVE_NONE;
        push.mode[2] = HS_ENCODE_TONE_NONE;
    }
    gst_hs_barrier(cmd, slot->result.image.image, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL,
                   HS_OUTPUT_STAGES, HS_OUTPUT_ACCESS, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                   VK_ACCESS_2_SHADER_SAMPLED_READ_BIT);
    gst_hs_encode_record(
        &engine->encode, (guint)(slot - engine->slots), cmd, slot->result.image.view,
        memory ? VK_NULL_HANDLE : gst_hs_views_get(engine->views, gst_hs_image_of(out)),
        memory ? slot->download.buffer : VK_NULL_HANDLE, &push);
    if (memory)
        gst_hs_barrier_host(cmd, slot->download.buffer, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                            VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
}

static void record_copy(const struct gst_hs_slot *slot, VkCommandBuffer cmd)
{
    const struct hs_image *image = &slot->result.image;

    gst_hs_barrier(cmd, image->image, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL,
                   HS_OUTPUT_STAGES, HS_OUTPUT_ACCESS, VK_PIPELINE_STAGE_2_COPY_BIT,
                   VK_ACCESS_2_TRANSFER_READ_BIT);
    vkCmdCopyImageToBuffer(cmd, image->image, VK_IMAGE_LAYOUT_GENERAL, slot->download.buffer, 1,
                           &(VkBufferImageCopy){
                               .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                               .imageExtent = {image->width, image->height, 1},
                           });
    gst_hs_barrier_host(cmd, slot->download.buffer, VK_PIPELINE_STAGE_2_COPY_BIT,
                        VK_ACCESS_2_TRANSFER_WRITE_BIT);
}

static bool begin(struct gst_hs_engine *engine, struct gst_hs_slot *slot, const GstHsPlane planes[],
                  GstBuffer *out, GError **error)
{
    struct gst_hs_use uses[HSIO_PLANE_COUNT + 1];
    guint count = 0;

    for (guint i = 0; i < G_N_ELEMENTS(used); i++) {
        GstBuffer *buffer = planes[used[i]].buffer;

        if (buffer && gst_hs_image_of(buffer))
            uses[count++] = (struct gst_hs_use){
                .buffer = buffer,
                .stages = HS_INPUT_STAGES,
                .access = HS_INPUT_ACCESS,
                .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
            };
    }
    if (out && engine->target.format.vulkan)
        uses[count++] = (struct gst_hs_use){
            .buffer = out,
            .stages = HS_OUTPUT_STAGES,
            .access = HS_OUTPUT_ACCESS,
            .layout = VK_IMAGE_LAYOUT_GENERAL,
        };
    return gst_hs_operation_begin(slot->operation, uses, count, error);
}

static bool store(const struct gst_hs_target *target, const struct gst_hs_slot *slot,
                  GstBuffer *out)
{
    if (target->encode)
        return gst_hs_encode_store(&target->format.info, &target->push, slot->download.map.data,
                                   out);
    return gst_buffer_fill(out, 0, slot->download.map.data, target->bytes) == target->bytes;
}

/** Runs one frame of the planes that the model looks at. */
static int run(struct gst_hs_engine *engine, const struct hsio_frame_info *info,
               const struct hsframe_options *options, const struct gst_hs_look *look,
               const GstHsPlane planes[HSIO_PLANE_COUNT], const GstHsAovMeta *meta, GstBuffer *out)
{
    struct hs_aov aovs[HS_AOV_MAX];
    struct gst_hs_slot *slot = &engine->slots[engine->next];
    gsize offsets[HSIO_PLANE_COUNT] = {0};
    const bool to_memory = out && !engine->target.format.vulkan;
    GError *error = NULL;
    struct hs_camera camera;
    struct hs_frame frame;
    VkCommandBuffer cmd;
    int err = hsframe_setup(info, options, (int)engine->params.out_width,
                            (int)engine->params.out_height, &engine->log->log, &camera, &frame);

    if (err < 0)
        return err;
    if (!makes_display(&engine->target))
        frame.look = (struct hs_look){0};
    gst_vulkan_operation_wait(slot->operation);
    release_inputs(slot);
    gst_hs_views_forget(engine->views, engine->stream);
    err = stage_inputs(engine, slot, planes, offsets);
    if (!err)
        err = set_images(engine, slot, info, planes, &frame);
    if (!err)
        err = set_output(engine, slot, out, &frame);
    if (!err)
        err = gst_hs_aovs_set(engine, slot, meta, &frame, aovs);
    if (err < 0)
        return err;
    if (!engine->reported)
        hsframe_tell_guides(engine->stream, &frame, &engine->log->log);
    engine->reported = true;
    if (!begin(engine, slot, planes, out, &error))
        goto error;
    gst_vulkan_command_buffer_lock(slot->operation->cmd_buf);
    cmd = slot->operation->cmd_buf->cmd;
    record_uploads(slot, cmd, planes, offsets);
    gst_hs_aovs_upload(slot, cmd);
    err = hs_stream_record(engine->stream, &frame, cmd);
    if (!err && out && engine->target.encode)
        record_encode(engine, slot, cmd, look, &frame, out);
    else if (!err && to_memory)
        record_copy(slot, cmd);
    if (!err && out)
        gst_hs_aovs_download(slot, cmd);
    gst_vulkan_command_buffer_unlock(slot->operation->cmd_buf);
    // A refused frame is submitted, too: it holds uploads and layout changes, and no frame.
    if (!gst_hs_operation_end(slot->operation, &error))
        goto error;
    for (guint i = 0; i < G_N_ELEMENTS(used); i++)
        slot->held[used[i]] =
            planes[used[i]].buffer ? gst_buffer_ref(planes[used[i]].buffer) : NULL;
    engine->next = (engine->next + 1) % GST_HS_SLOTS;
    engine->fresh &= err < 0;
    if (err < 0 || !out)
        return err;
    if (to_memory || slot->aov_count)
        gst_vulkan_operation_wait(slot->operation);
    if (meta)
        gst_hs_aovs_store(slot, meta, out);
    return !to_memory || store(&engine->target, slot, out)
               ? 0
               : gst_hs_engine_fail(engine, HS_ERR_INTERNAL,
                                    "the output buffer can not be written");
error:
    gst_hs_engine_fail(engine, HS_ERR_INTERNAL, error->message);
    err = error->code == VK_ERROR_DEVICE_LOST ? HS_ERR_DEVICE_LOST : HS_ERR_INTERNAL;
    g_clear_error(&error);
    return err;
}

int gst_hs_engine_run(struct gst_hs_engine *engine, const struct hsio_frame_info *info,
                      const struct hsframe_options *options, const struct gst_hs_look *look,
                      const GstHsPlane given[HSIO_PLANE_COUNT], const GstHsAovMeta *aovs,
                      GstBuffer *out)
{
    const bool guides = engine->info.guides;
    GstHsPlane planes[HSIO_PLANE_COUNT], clean = {0};
    int err = guides || engine->denoiser ? hsframe_check_guides(info, &engine->log->log) : 0;

    memcpy(planes, given, sizeof(planes));
    if (!err && engine->denoiser) {
        err = gst_hs_engine_denoise(engine, info, given, &clean);
        planes[HSIO_PLANE_COLOR] = clean;
    }
    // What no model of ours looks at is not uploaded, either.
    for (guint i = USED_BY_ALL; !guides && i < G_N_ELEMENTS(used); i++)
        planes[used[i]].buffer = NULL;
    if (!err)
        err = run(engine, info, options, look, planes, aovs, out);
    gst_clear_buffer(&clean.buffer);
    return err;
}
