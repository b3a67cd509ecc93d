// SPDX-License-Identifier: MIT
#include "gsthsencode.h"

#include <string.h>

#include "spirv.h"

static bool make_layouts(struct gst_hs_encode *e)
{
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, e->memory ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1,
         VK_SHADER_STAGE_COMPUTE_BIT, NULL},
    };
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                       sizeof(struct hs_encode_push)};

    if (vkCreateDescriptorSetLayout(
            e->device,
            &(VkDescriptorSetLayoutCreateInfo){
                .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                .bindingCount = 2,
                .pBindings = bindings,
            },
            NULL, &e->set_layout) != VK_SUCCESS)
        return false;
    return vkCreatePipelineLayout(e->device,
                                  &(VkPipelineLayoutCreateInfo){
                                      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                      .setLayoutCount = 1,
                                      .pSetLayouts = &e->set_layout,
                                      .pushConstantRangeCount = 1,
                                      .pPushConstantRanges = &range,
                                  },
                                  NULL, &e->layout) == VK_SUCCESS;
}

static bool make_pipeline(struct gst_hs_encode *e)
{
    const struct hs_spirv *code =
        hs_spirv_find(hs_spirv_gst, e->memory ? "60_encode_memory" : "60_encode");
    VkShaderModule module;
    VkResult result;

    if (!code || vkCreateShaderModule(e->device,
                                      &(VkShaderModuleCreateInfo){
                                          .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                          .codeSize = code->size_bytes,
                                          .pCode = code->code,
                                      },
                                      NULL, &module) != VK_SUCCESS)
        return false;
    result = vkCreateComputePipelines(
        e->device, VK_NULL_HANDLE, 1,
        &(VkComputePipelineCreateInfo){
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                      .module = module,
                      .pName = "main"},
            .layout = e->layout,
        },
        NULL, &e->pipeline);
    vkDestroyShaderModule(e->device, module, NULL);
    return result == VK_SUCCESS;
}

static bool make_sets(struct gst_hs_encode *e)
{
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, GST_HS_ENCODE_SETS},
        {e->memory ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
         GST_HS_ENCODE_SETS},
    };
    VkDescriptorSetLayout layouts[GST_HS_ENCODE_SETS];

    for (int i = 0; i < GST_HS_ENCODE_SETS; i++)
        layouts[i] = e->set_layout;
    if (vkCreateDescriptorPool(e->device,
                               &(VkDescriptorPoolCreateInfo){
                                   .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                   .maxSets = GST_HS_ENCODE_SETS,
                                   .poolSizeCount = 2,
                                   .pPoolSizes = sizes,
                               },
                               NULL, &e->pool) != VK_SUCCESS)
        return false;
    return vkAllocateDescriptorSets(e->device,
                                    &(VkDescriptorSetAllocateInfo){
                                        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = e->pool,
                                        .descriptorSetCount = GST_HS_ENCODE_SETS,
                                        .pSetLayouts = layouts,
                                    },
                                    e->sets) == VK_SUCCESS;
}

bool gst_hs_encode_open(struct gst_hs_encode *encode, VkDevice device, bool memory)
{
    if (encode->pipeline && encode->device == device && encode->memory == memory)
        return true;
    gst_hs_encode_close(encode);
    encode->device = device;
    encode->memory = memory;
    if (make_layouts(encode) && make_pipeline(encode) && make_sets(encode))
        return true;
    gst_hs_encode_close(encode);
    return false;
}

void gst_hs_encode_close(struct gst_hs_encode *encode)
{
    if (encode->device) {
        vkDestroyPipeline(encode->device, encode->pipeline, NULL);
        vkDestroyDescriptorPool(encode->device, encode->pool, NULL);
        vkDestroyPipelineLayout(encode->device, encode->layout, NULL);
        vkDestroyDescriptorSetLayout(encode->device, encode->set_layout, NULL);
    }
    *encode = (struct gst_hs_encode){0};
}

void gst_hs_encode_record(const struct gst_hs_encode *encode, guint set, VkCommandBuffer cmd,
                          VkImageView picture, VkImageView image, VkBuffer buffer,
                          const struct hs_encode_push *push)
{
    const VkDescriptorImageInfo in = {VK_NULL_HANDLE, picture, VK_IMAGE_LAYOUT_GENERAL};
    const VkDescriptorImageInfo out = {VK_NULL_HANDLE, image, VK_IMAGE_LAYOUT_GENERAL};
    const VkDescriptorBufferInfo words = {buffer, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet writes[] = {
        {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = encode->sets[set],
            .dstBinding = 0,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
            .pImageInfo = &in,
        },
        {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = encode->sets[set],
            .dstBinding = 1,
            .descriptorCount = 1,
            .descriptorType = encode->memory ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
                                             : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
            .pImageInfo = &out,
            .pBufferInfo = &words,
        },
    };
    const int unit = push->mode[0] == HS_ENCODE_P010 ? 16 : 8;

    vkUpdateDescriptorSets(encode->device, 2, writes, 0, NULL);
    vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, encode->pipeline);
    vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, encode->layout, 0, 1,
                            &encode->sets[set], 0, NULL);
    vkCmdPushConstants(cmd, encode->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(*push), push);
    vkCmdDispatch(cmd, (uint32_t)((push->size[0] + unit - 1) / unit),
                  (uint32_t)((push->size[1] + unit - 1) / unit), 1);
}

/** The curve of the result, and what has to be undone for it. */
static void plan_curve(const GstVideoInfo *info, const struct gst_hs_format *colour,
                       struct hs_encode_push *push)
{
    const GstVideoTransferFunction to = info->colorimetry.transfer;
    const GstVideoTransferFunction from =
        colour->video ? colour->info.colorimetry.transfer : GST_VIDEO_TRANSFER_SRGB;

    if (!colour->linear) {
        push->mode[3] = HS_ENCODE_FROM_CODES;
        // Other curves stay as they are.
        if (from == GST_VIDEO_TRANSFER_SRGB && to == GST_VIDEO_TRANSFER_BT709) {
            push->mode[3] = HS_ENCODE_FROM_SRGB;
            push->mode[1] = HS_ENCODE_CURVE_BT709;
        }
        return;
    }
    switch (to) {
    case GST_VIDEO_TRANSFER_SMPTE2084:
        push->mode[1] = HS_ENCODE_CURVE_PQ;
        break;
    case GST_VIDEO_TRANSFER_BT709:
        push->mode[1] = HS_ENCODE_CURVE_BT709;
        break;
    case GST_VIDEO_TRANSFER_GAMMA10:
        break;
    default:
        push->mode[1] = HS_ENCODE_CURVE_SRGB;
        break;
    }
}

bool gst_hs_encode_plan(const GstVideoInfo *info, const struct gst_hs_format *colour,
                        struct hs_encode_push *push, gsize *bytes)
{
    gdouble red = 0, blue = 0;
    int layout, words = info->width, rows = info->height;

    switch (info->finfo->format) {
    case GST_VIDEO_FORMAT_RGBA:
        layout = HS_ENCODE_RGBA8;
        break;
    case GST_VIDEO_FORMAT_BGRA:
        layout = HS_ENCODE_BGRA8;
        break;
    case GST_VIDEO_FORMAT_RGB10A2_LE:
        layout = HS_ENCODE_RGB10A2;
        break;
    case GST_VIDEO_FORMAT_RGBA64_LE:
        layout = HS_ENCODE_RGBA16;
        words *= 2;
        break;
    case GST_VIDEO_FORMAT_P010_10LE:
        layout = HS_ENCODE_P010;
        words = (info->width + 1) / 2;
        rows += (info->height + 1) / 2;
        break;
    default:
        return false;
    }
    gst_video_color_matrix_get_Kr_Kb(info->colorimetry.matrix, &red, &blue);
    *push = (struct hs_encode_push){
        .size = {info->width, info->height, words, words * info->height},
        .mode = {layout, HS_ENCODE_CURVE_NONE, HS_ENCODE_TONE_NONE, HS_ENCODE_FROM_LINEAR},
        .values = {1, 0, (float)red, (float)blue},
    };
    plan_curve(info, colour, push);
    *bytes = (gsize)words * (gsize)rows * 4;
    return true;
}

bool gst_hs_encode_store(const GstVideoInfo *info, const struct hs_encode_push *push,
                         const guint8 *words, GstBuffer *buffer)
{
    const gsize row = (gsize)push->size[2] * 4;
    GstVideoFrame frame;

    if (!gst_video_frame_map(&frame, info, buffer, GST_MAP_WRITE))
        return false;
    for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(&frame); plane++) {
        const guint8 *from = words + (plane ? (gsize)push->size[3] * 4 : 0);
        guint8 *to = GST_VIDEO_FRAME_PLANE_DATA(&frame, plane);
        const gsize stride = (gsize)GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane);
        const int rows = plane ? (push->size[1] + 1) / 2 : push->size[1];

        for (int y = 0; y < rows; y++)
            memcpy(to + (gsize)y * stride, from + (gsize)y * row, MIN(row, stride));
    }
    gst_video_frame_unmap(&frame);
    return true;
}
