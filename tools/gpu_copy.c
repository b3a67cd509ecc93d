// SPDX-License-Identifier: MIT
// A slot's pixels between its staging buffers and its images.
#include "gpu.h"

static VkImageMemoryBarrier2 image_barrier(VkImage image, VkImageLayout from, VkImageLayout to)
{
    return (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
}

static void barriers(VkCommandBuffer cmd, const VkImageMemoryBarrier2 *list, uint32_t count)
{
    vkCmdPipelineBarrier2(cmd, &(VkDependencyInfo){
                                   .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                   .imageMemoryBarrierCount = count,
                                   .pImageMemoryBarriers = list,
                               });
}

/** Planes of a frame on their way from a slot's buffer to its images. */
struct upload {
    VkImageMemoryBarrier2 before[TOOL_USED_PLANES + HS_AOV_MAX];
    VkImageMemoryBarrier2 after[TOOL_USED_PLANES + HS_AOV_MAX];
    VkBufferImageCopy copies[TOOL_USED_PLANES + HS_AOV_MAX];
    uint32_t count;
};

static void add_upload(struct upload *u, VkImage image, VkDeviceSize offset, int width, int height)
{
    VkImageMemoryBarrier2 *before = &u->before[u->count], *after = &u->after[u->count];

    *before = image_barrier(image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    before->dstStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
    before->dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    *after = image_barrier(image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                           VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    after->srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
    after->srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    after->dstStageMask = HS_INPUT_STAGES;
    after->dstAccessMask = HS_INPUT_ACCESS;
    u->copies[u->count++] = (VkBufferImageCopy){
        .bufferOffset = offset,
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {(uint32_t)width, (uint32_t)height, 1},
    };
}

void gpu_record_upload(const struct gpu *gpu, const struct gpu_slot *slot,
                       const struct hsio_frame_info *info)
{
    struct upload u = {.count = 0};

    for (int i = 0; i < TOOL_USED_PLANES; i++) {
        enum hsio_plane p = tool_used_planes[i];

        if (slot->inputs[p].image && info->planes[p].present)
            add_upload(&u, slot->inputs[p].image, slot->offsets[p], info->planes[p].width,
                       info->planes[p].height);
    }
    for (int i = 0; i < gpu->aov_count; i++)
        add_upload(&u, slot->aovs_in[i].image, slot->aov_in_offsets[i], info->width, info->height);
    barriers(slot->cmd, u.before, u.count);
    for (uint32_t i = 0; i < u.count; i++)
        vkCmdCopyBufferToImage(slot->cmd, slot->upload.buffer, u.before[i].image,
                               VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &u.copies[i]);
    barriers(slot->cmd, u.after, u.count);
}

static void record_download_of(const struct gpu_slot *slot, const struct vkdev_image *image,
                               VkDeviceSize offset)
{
    VkImageMemoryBarrier2 written =
        image_barrier(image->image, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL);

    written.srcStageMask = HS_OUTPUT_STAGES;
    written.srcAccessMask = HS_OUTPUT_ACCESS;
    written.dstStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
    written.dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT;
    barriers(slot->cmd, &written, 1);
    vkCmdCopyImageToBuffer(slot->cmd, image->image, VK_IMAGE_LAYOUT_GENERAL, slot->download.buffer,
                           1,
                           &(VkBufferImageCopy){
                               .bufferOffset = offset,
                               .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                               .imageExtent = {image->width, image->height, 1},
                           });
}

void gpu_record_download(const struct gpu *gpu, const struct gpu_slot *slot)
{
    const VkBufferMemoryBarrier2 host = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
        .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
        .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .buffer = slot->download.buffer,
        .size = VK_WHOLE_SIZE,
    };

    record_download_of(slot, &slot->output, 0);
    for (int i = 0; i < gpu->aov_count; i++)
        record_download_of(slot, &slot->aovs_out[i], slot->aov_out_offsets[i]);
    vkCmdPipelineBarrier2(slot->cmd, &(VkDependencyInfo){
                                         .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .bufferMemoryBarrierCount = 1,
                                         .pBufferMemoryBarriers = &host,
                                     });
}
