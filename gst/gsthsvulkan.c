// SPDX-License-Identifier: MIT
#include "gsthsvulkan.h"

/**
 * Stages and accesses are left behind at the image for the next user, which in stock elements may
 * be a barrier of Vulkan 1.0: only bits that it has, too.
 */
static VkPipelineStageFlags2 narrow_stages(VkPipelineStageFlags2 stages)
{
    const VkPipelineStageFlags2 copies =
        VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_BLIT_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT;

    return stages & copies ? (stages & ~copies) | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT : stages;
}

static VkAccessFlags2 narrow_access(VkAccessFlags2 access)
{
    const VkAccessFlags2 reads =
        VK_ACCESS_2_SHADER_SAMPLED_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
    VkAccessFlags2 narrow = access & ~(reads | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);

    if (access & reads)
        narrow |= VK_ACCESS_2_SHADER_READ_BIT;
    if (access & VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT)
        narrow |= VK_ACCESS_2_SHADER_WRITE_BIT;
    return narrow;
}

/**
 * Held from begin to end. GstVulkan reads an image's state and semaphore value at the beginning of
 * a command buffer and writes them at its end, without a lock: behind a tee two elements would
 * signal the same value, and wait forever.
 */
static GMutex images;

bool gst_hs_operation_begin(GstVulkanOperation *operation, const struct gst_hs_use *uses,
                            guint count, GError **error)
{
    GArray *barriers;

    g_mutex_lock(&images);
    if (!gst_vulkan_operation_begin(operation, error)) {
        g_mutex_unlock(&images);
        return false;
    }
    for (guint i = 0; i < count; i++) {
        const struct gst_hs_use *use = &uses[i];
        const VkPipelineStageFlags2 stages = narrow_stages(use->stages);

        // In this order: 1.26 leaves a field unset otherwise. Images are shared by the queue
        // families, so that there is no ownership to transfer.
        if (!gst_vulkan_operation_add_dependency_frame(operation, use->buffer, stages, stages) ||
            !gst_vulkan_operation_add_frame_barrier(
                operation, use->buffer, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, stages,
                narrow_access(use->access), use->layout, NULL)) {
            g_set_error(error, GST_VULKAN_ERROR, GST_VULKAN_FAILED,
                        "an image can not be added to the commands");
            gst_vulkan_operation_reset(operation);
            g_mutex_unlock(&images);
            return false;
        }
    }
    barriers = gst_vulkan_operation_retrieve_image_barriers(operation);
    for (guint i = 0; i < barriers->len; i++) {
        VkImageMemoryBarrier2 *barrier = &g_array_index(barriers, VkImageMemoryBarrier2, i);

        // GstVulkan knows no aspects of formats that are not video.
        if (!barrier->subresourceRange.aspectMask)
            barrier->subresourceRange.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT;
    }
    if (barriers->len) {
        VkDependencyInfo dependency = {
            .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
            .imageMemoryBarrierCount = barriers->len,
            .pImageMemoryBarriers = (const VkImageMemoryBarrier2 *)(void *)barriers->data,
        };

        gst_vulkan_operation_pipeline_barrier2(operation, &dependency);
    }
    g_array_unref(barriers);
    return true;
}

bool gst_hs_operation_end(GstVulkanOperation *operation, GError **error)
{
    bool done = gst_vulkan_operation_end(operation, error);

    g_mutex_unlock(&images);
    return done;
}

GstVulkanImageMemory *gst_hs_image_of(GstBuffer *buffer)
{
    GstMemory *memory = gst_buffer_n_memory(buffer) == 1 ? gst_buffer_peek_memory(buffer, 0) : NULL;

    return memory && gst_is_vulkan_image_memory(memory) ? (GstVulkanImageMemory *)memory : NULL;
}
