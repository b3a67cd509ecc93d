// SPDX-License-Identifier: MIT
// One frame through the device: locks, layouts and semaphores as AVVkFrame wants them.
#include "internal.h"

/** What a frame's use of one plane needs to know. */
struct plane {
    const struct hs_av_format *format;
    AVHWFramesContext *frames; ///< Of a lent frame, else NULL.
    AVVkFrame *lent;
    struct hs_av_image *own;
    VkImage image;
    VkImageLayout layout; ///< While the engine works.
    uint32_t width, height;
};

bool hs_av_is_output(int plane)
{
    return plane == HS_AV_OUTPUT || plane >= HS_AV_AOV_OUT;
}

const AVFrame *hs_av_job_frame(const struct hs_av_job *job, int plane)
{
    if (plane < HS_AV_OUTPUT)
        return job->inputs[plane];
    if (plane == HS_AV_OUTPUT)
        return job->out;
    if (plane < HS_AV_AOV_OUT)
        return plane - HS_AV_AOV_IN < job->aov_count ? job->aovs[plane - HS_AV_AOV_IN].in : NULL;
    return plane - HS_AV_AOV_OUT < job->aov_count ? job->aovs[plane - HS_AV_AOV_OUT].out : NULL;
}

static bool is_vulkan(const AVFrame *frame)
{
    return frame->format == AV_PIX_FMT_VULKAN;
}

static AVVulkanFramesContext *vulkan_frames(AVHWFramesContext *frames)
{
    return frames->hwctx;
}

int hs_av_slots_make(struct hs_avfilter *f)
{
    for (int i = 0; i < HS_AV_SLOTS; i++) {
        struct hs_av_slot *slot = &f->slots[i];
        VkResult result = f->vk.AllocateCommandBuffers(
            f->hw->act_dev,
            &(VkCommandBufferAllocateInfo){
                .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                .commandPool = f->pool,
                .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                .commandBufferCount = 1,
            },
            &slot->cmd);

        if (result == VK_SUCCESS)
            result = f->vk.CreateFence(
                f->hw->act_dev, &(VkFenceCreateInfo){.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO},
                f->hw->alloc, &slot->fence);
        if (result != VK_SUCCESS)
            return hs_av_vk_error(f, result, "making a command buffer");
    }
    return 0;
}

/** Lets go of what the last frame of the slot held. */
static void release(struct hs_avfilter *f, struct hs_av_slot *slot)
{
    for (int i = 0; i < HS_AV_PLANES; i++) {
        if (slot->views[i]) {
            if (f->stream)
                hs_stream_forget(f->stream, slot->views[i]);
            f->vk.DestroyImageView(f->hw->act_dev, slot->views[i], f->hw->alloc);
            slot->views[i] = VK_NULL_HANDLE;
        }
        av_frame_free(&slot->held[i]);
    }
}

int hs_av_slot_wait(struct hs_avfilter *f, struct hs_av_slot *slot)
{
    VkResult result = VK_SUCCESS;

    if (slot->busy) {
        result = f->vk.WaitForFences(f->hw->act_dev, 1, &slot->fence, VK_TRUE, UINT64_MAX);
        if (result == VK_SUCCESS)
            result = f->vk.ResetFences(f->hw->act_dev, 1, &slot->fence);
        slot->busy = false;
    }
    release(f, slot);
    return result == VK_SUCCESS ? 0 : hs_av_vk_error(f, result, "waiting for a frame");
}

void hs_av_slots_free(struct hs_avfilter *f)
{
    for (int i = 0; i < HS_AV_SLOTS; i++) {
        struct hs_av_slot *slot = &f->slots[i];

        if (!slot->cmd)
            continue;
        hs_av_slot_wait(f, slot);
        for (int p = 0; p < HS_AV_PLANES; p++) {
            hs_av_image_free(f, &slot->images[p]);
            hs_av_buffer_free(f, &slot->staging[p]);
        }
        if (slot->fence)
            f->vk.DestroyFence(f->hw->act_dev, slot->fence, f->hw->alloc);
        *slot = (struct hs_av_slot){0};
    }
}

/** A Vulkan frame: a view of its image, which must not be one that is in use already. */
static int lend(struct hs_avfilter *f, struct hs_av_slot *slot, int p, const AVFrame *frame,
                struct plane planes[HS_AV_PLANES])
{
    struct plane *plane = &planes[p];

    plane->lent = (AVVkFrame *)(void *)frame->data[0];
    plane->frames = (AVHWFramesContext *)(void *)frame->hw_frames_ctx->data;
    for (int i = 0; i < HS_AV_PLANES; i++) {
        if (i != p && planes[i].lent == plane->lent) {
            av_log(f, AV_LOG_ERROR, "%s and %s are the same Vulkan frame\n",
                   hs_avfilter_input_name((enum hs_avfilter_input)i),
                   hs_avfilter_input_name((enum hs_avfilter_input)p));
            return AVERROR(EINVAL);
        }
    }
    plane->image = plane->lent->img[0];
    slot->held[p] = av_frame_clone(frame);
    if (!slot->held[p])
        return AVERROR(ENOMEM);
    return hs_av_view_make(f, plane->image, plane->format->format, &slot->views[p]);
}

/** A frame in system memory: an image and a buffer of the slot. */
static int own(struct hs_avfilter *f, struct hs_av_slot *slot, int p, const AVFrame *frame,
               struct plane *plane)
{
    const VkImageUsageFlags usage =
        hs_av_is_output(p) ? VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT
                           : VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    const VkDeviceSize bytes = (VkDeviceSize)plane->width * plane->height * plane->format->bytes;
    int err;

    plane->own = &slot->images[p];
    err =
        hs_av_image_make(f, plane->format->format, plane->width, plane->height, usage, plane->own);
    if (!err)
        err = hs_av_buffer_make(f, bytes, hs_av_is_output(p), &slot->staging[p]);
    if (err < 0)
        return err;
    plane->image = plane->own->image;
    if (!hs_av_is_output(p))
        hs_av_pack(plane->format, frame, slot->staging[p].map);
    return 0;
}

static int prepare(struct hs_avfilter *f, struct hs_av_slot *slot, int p, const AVFrame *frame,
                   struct plane planes[HS_AV_PLANES], struct hs_image *image)
{
    struct plane *plane = &planes[p];
    const bool vulkan = is_vulkan(frame);
    const enum AVPixelFormat pixels =
        vulkan ? ((const AVHWFramesContext *)(const void *)frame->hw_frames_ctx->data)->sw_format
               : (enum AVPixelFormat)frame->format;
    int err;

    plane->format = hs_av_format_find(p, pixels, vulkan);
    plane->width = (uint32_t)frame->width;
    plane->height = (uint32_t)frame->height;
    err = vulkan ? lend(f, slot, p, frame, planes) : own(f, slot, p, frame, plane);
    if (err < 0)
        return err;
    *image = (struct hs_image){
        .image = plane->image,
        .view = vulkan ? slot->views[p] : plane->own->view,
        .format = plane->format->format,
        .usage = vulkan ? (VkImageUsageFlags)vulkan_frames(plane->frames)->usage : 0,
    };
    plane->layout = hs_av_is_output(p) ? VK_IMAGE_LAYOUT_GENERAL
                    : image->usage && !(image->usage & VK_IMAGE_USAGE_SAMPLED_BIT)
                        ? VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
                        : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    image->layout = plane->layout;
    if (vulkan) {
        image->width = (uint32_t)plane->frames->width;
        image->height = (uint32_t)plane->frames->height;
    }
    return 0;
}

static VkImageMemoryBarrier2 barrier(const struct plane *plane)
{
    return (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = plane->image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
}

static void record_barriers(struct hs_avfilter *f, VkCommandBuffer cmd,
                            const VkImageMemoryBarrier2 *barriers, uint32_t count)
{
    if (count)
        f->vk.CmdPipelineBarrier2(cmd, &(VkDependencyInfo){
                                           .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                           .imageMemoryBarrierCount = count,
                                           .pImageMemoryBarriers = barriers,
                                       });
}

/** Brings lent images into the engine's layouts, and fills our own ones. */
static void record_inputs(struct hs_avfilter *f, struct hs_av_slot *slot,
                          const struct plane planes[HS_AV_PLANES])
{
    VkImageMemoryBarrier2 first[HS_AV_PLANES], second[HS_AV_PLANES];
    uint32_t count = 0, uploads = 0;

    for (int p = 0; p < HS_AV_PLANES; p++) {
        const struct plane *plane = &planes[p];
        VkImageMemoryBarrier2 b = barrier(plane);

        if (!plane->format)
            continue;
        b.srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
        b.dstStageMask = hs_av_is_output(p) ? HS_OUTPUT_STAGES : HS_INPUT_STAGES;
        b.dstAccessMask = hs_av_is_output(p) ? HS_OUTPUT_ACCESS : HS_INPUT_ACCESS;
        b.newLayout = plane->layout;
        if (plane->lent) {
            b.srcAccessMask = (VkAccessFlags2)plane->lent->access[0];
            // The output's old pixels are of no use, but ownership must move with its layout.
            b.oldLayout = plane->lent->layout[0];
            if (plane->lent->queue_family[0] != VK_QUEUE_FAMILY_IGNORED) {
                b.srcQueueFamilyIndex = plane->lent->queue_family[0];
                b.dstQueueFamilyIndex = f->queue_family;
            }
        } else if (!hs_av_is_output(p)) {
            second[uploads] = b;
            second[uploads].srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
            second[uploads].srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
            second[uploads++].oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
            b.dstStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
            b.dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
            b.newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
        }
        first[count++] = b;
    }
    record_barriers(f, slot->cmd, first, count);
    for (int p = 0; p < HS_AV_PLANES; p++) {
        const struct plane *plane = &planes[p];

        if (plane->own && !hs_av_is_output(p))
            f->vk.CmdCopyBufferToImage(slot->cmd, slot->staging[p].buffer, plane->image,
                                       VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1,
                                       &(VkBufferImageCopy){
                                           .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                           .imageExtent = {plane->width, plane->height, 1},
                                       });
    }
    record_barriers(f, slot->cmd, second, uploads);
}

static void record_download(struct hs_avfilter *f, struct hs_av_slot *slot, int p,
                            const struct plane *plane)
{
    VkImageMemoryBarrier2 b = barrier(plane);

    b.srcStageMask = HS_OUTPUT_STAGES;
    b.srcAccessMask = HS_OUTPUT_ACCESS;
    b.dstStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
    b.dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT;
    b.oldLayout = plane->layout;
    b.newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    record_barriers(f, slot->cmd, &b, 1);
    f->vk.CmdCopyImageToBuffer(slot->cmd, plane->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                               slot->staging[p].buffer, 1,
                               &(VkBufferImageCopy){
                                   .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                   .imageExtent = {plane->width, plane->height, 1},
                               });
    f->vk.CmdPipelineBarrier2(slot->cmd,
                              &(VkDependencyInfo){
                                  .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                  .memoryBarrierCount = 1,
                                  .pMemoryBarriers =
                                      &(VkMemoryBarrier2){
                                          .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                          .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                          .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                          .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
                                          .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT,
                                      },
                              });
}

static int record(struct hs_avfilter *f, struct hs_av_slot *slot,
                  const struct plane planes[HS_AV_PLANES], const struct hs_frame *frame)
{
    VkResult result = f->vk.BeginCommandBuffer(
        slot->cmd, &(VkCommandBufferBeginInfo){
                       .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                       .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                   });
    int err;

    if (result != VK_SUCCESS)
        return hs_av_vk_error(f, result, "vkBeginCommandBuffer");
    record_inputs(f, slot, planes);
    err = hs_stream_record(f->stream, frame, slot->cmd);
    if (err < 0) {
        // One that is still recording could not be begun again.
        f->vk.EndCommandBuffer(slot->cmd);
        return hs_av_error(err);
    }
    f->broken = true;
    for (int p = 0; p < HS_AV_PLANES; p++) {
        if (planes[p].own && hs_av_is_output(p))
            record_download(f, slot, p, &planes[p]);
    }
    result = f->vk.EndCommandBuffer(slot->cmd);
    return result == VK_SUCCESS ? 0 : hs_av_vk_error(f, result, "vkEndCommandBuffer");
}

/** Queues that lock themselves take the place of these callbacks, where libavutil has such. */
#if !defined(FF_API_VULKAN_SYNC_QUEUES) || FF_API_VULKAN_SYNC_QUEUES
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void lock_queue(struct hs_avfilter *f, bool lock)
{
    AVHWDeviceContext *context = (AVHWDeviceContext *)(void *)f->device_ref->data;

    if (lock && f->hw->lock_queue)
        f->hw->lock_queue(context, f->queue_family, 0);
    else if (!lock && f->hw->unlock_queue)
        f->hw->unlock_queue(context, f->queue_family, 0);
}
#pragma GCC diagnostic pop
#else
static void lock_queue(struct hs_avfilter *f, bool lock)
{
    (void)f;
    (void)lock;
}
#endif

static int submit(struct hs_avfilter *f, struct hs_av_slot *slot,
                  const struct plane planes[HS_AV_PLANES])
{
    VkSemaphoreSubmitInfo waits[HS_AV_PLANES], signals[HS_AV_PLANES];
    uint32_t count = 0;
    VkResult result;

    for (int p = 0; p < HS_AV_PLANES; p++) {
        const AVVkFrame *lent = planes[p].lent;

        if (!lent)
            continue;
        waits[count] = (VkSemaphoreSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
            .semaphore = lent->sem[0],
            .value = lent->sem_value[0],
            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        };
        signals[count] = waits[count];
        signals[count++].value++;
    }
    lock_queue(f, true);
    result = f->vk.QueueSubmit2(f->queue, 1,
                                &(VkSubmitInfo2){
                                    .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                    .waitSemaphoreInfoCount = count,
                                    .pWaitSemaphoreInfos = waits,
                                    .commandBufferInfoCount = 1,
                                    .pCommandBufferInfos =
                                        &(VkCommandBufferSubmitInfo){
                                            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                            .commandBuffer = slot->cmd,
                                        },
                                    .signalSemaphoreInfoCount = count,
                                    .pSignalSemaphoreInfos = signals,
                                },
                                slot->fence);
    lock_queue(f, false);
    if (result != VK_SUCCESS)
        return hs_av_vk_error(f, result, "vkQueueSubmit2");
    slot->busy = true;
    f->broken = false;
    for (int p = 0; p < HS_AV_PLANES; p++) {
        AVVkFrame *lent = planes[p].lent;

        if (!lent)
            continue;
        lent->sem_value[0]++;
        lent->layout[0] = planes[p].layout;
        // The 32-bit flags, which all versions of the struct can hold.
        lent->access[0] = hs_av_is_output(p)
                              ? VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT
                              : VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
        if (lent->queue_family[0] != VK_QUEUE_FAMILY_IGNORED)
            lent->queue_family[0] = f->queue_family;
    }
    return 0;
}

static void lock_frames(const struct plane planes[HS_AV_PLANES], bool lock)
{
    for (int p = 0; p < HS_AV_PLANES; p++) {
        const struct plane *plane = &planes[p];

        if (!plane->lent)
            continue;
        if (lock)
            vulkan_frames(plane->frames)->lock_frame(plane->frames, plane->lent);
        else
            vulkan_frames(plane->frames)->unlock_frame(plane->frames, plane->lent);
    }
}

void hs_av_on_guide(void *priv, enum hs_log_level level, const char *message)
{
    (void)level;
    av_log(priv, AV_LOG_INFO, "%s\n", message);
}

/** Guides that the model would like to have, once. */
static void report(struct hs_avfilter *f, const struct hs_frame *frame)
{
    const struct hs_log log = {hs_av_on_guide, f, HS_LOG_INFO};

    if (!f->reported)
        hsframe_tell_guides(f->stream, frame, &log);
    f->reported = true;
}

/** Where the frame takes the plane. */
static struct hs_image *image_of(struct hs_frame *frame, struct hs_aov *aovs, int p)
{
    struct hs_image *const images[HS_AV_AOV_IN] = {
        &frame->colour,         &frame->depth,           &frame->motion, &frame->reactive,
        &frame->diffuse_albedo, &frame->specular_albedo, &frame->normal, &frame->roughness,
        &frame->hit_distance,   &frame->output};

    return p < HS_AV_AOV_IN    ? images[p]
           : p < HS_AV_AOV_OUT ? &aovs[p - HS_AV_AOV_IN].in
                               : &aovs[p - HS_AV_AOV_OUT].out;
}

/** Waits for outputs in system memory, if there are such, and stores their pixels. */
static int store(struct hs_avfilter *f, struct hs_av_slot *slot, const struct hs_av_job *job,
                 const struct plane planes[HS_AV_PLANES])
{
    for (int p = 0; p < HS_AV_PLANES; p++) {
        const int err = planes[p].own && hs_av_is_output(p) ? hs_av_slot_wait(f, slot) : 0;

        if (err < 0)
            return err;
        if (planes[p].own && hs_av_is_output(p))
            hs_av_unpack(planes[p].format, slot->staging[p].map,
                         p == HS_AV_OUTPUT ? job->out : job->aovs[p - HS_AV_AOV_OUT].out);
    }
    return 0;
}

int hs_av_submit(struct hs_avfilter *f, const struct hs_av_job *job, struct hs_frame *frame)
{
    struct hs_av_slot *slot = &f->slots[f->next];
    struct plane planes[HS_AV_PLANES] = {0};
    struct hs_aov aovs[HS_AVFILTER_AOV_MAX] = {0};
    int err = hs_av_slot_wait(f, slot);

    for (int i = 0; i < job->aov_count; i++)
        aovs[i].kind = job->aovs[i].kind == HS_AVFILTER_AOV_DATA ? HS_AOV_DATA : HS_AOV_LIGHT;
    for (int p = 0; !err && p < HS_AV_PLANES; p++) {
        const AVFrame *of = hs_av_job_frame(job, p);
        const bool guide = p >= HS_AVFILTER_DIFFUSE_ALBEDO && p <= HS_AVFILTER_HIT_DISTANCE;

        // What the model does not look at is not uploaded, either.
        if (of && (f->info.guides || !guide))
            err = prepare(f, slot, p, of, planes, image_of(frame, aovs, p));
    }
    frame->aovs = aovs;
    frame->aov_count = (uint32_t)job->aov_count;
    if (!err) {
        report(f, frame);
        lock_frames(planes, true);
        err = record(f, slot, planes, frame);
        if (!err)
            err = submit(f, slot, planes);
        lock_frames(planes, false);
    }
    if (err < 0) {
        release(f, slot);
        return err;
    }
    f->next = (f->next + 1) % HS_AV_SLOTS;
    return store(f, slot, job, planes);
}
