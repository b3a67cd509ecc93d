// SPDX-License-Identifier: MIT
// The engine on a Vulkan device. Everything is made at the start: a frame only records, submits
// and waits.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "hsframe.h"
#include "hsmodel.h"
#include "hsoidn.h"
#include "report.h"

/** Offsets of buffer to image copies: a multiple of every pixel size. */
#define COPY_ALIGNMENT 16

const enum hsio_plane tool_used_planes[TOOL_USED_PLANES] = {
    HSIO_PLANE_COLOR,    HSIO_PLANE_DEPTH,          HSIO_PLANE_MOTION,
    HSIO_PLANE_REACTIVE, HSIO_PLANE_DIFFUSE_ALBEDO, HSIO_PLANE_SPECULAR_ALBEDO,
    HSIO_PLANE_NORMAL,   HSIO_PLANE_ROUGHNESS,      HSIO_PLANE_HIT_DISTANCE};

bool tool_plane_used(bool guides, enum hsio_plane plane)
{
    switch (plane) {
    case HSIO_PLANE_COLOR:
    case HSIO_PLANE_DEPTH:
    case HSIO_PLANE_MOTION:
    case HSIO_PLANE_REACTIVE:
        return true;
    case HSIO_PLANE_DIFFUSE_ALBEDO:
    case HSIO_PLANE_SPECULAR_ALBEDO:
    case HSIO_PLANE_NORMAL:
    case HSIO_PLANE_ROUGHNESS:
    case HSIO_PLANE_HIT_DISTANCE:
        return guides;
    default:
        return false;
    }
}

static int open_engine(struct gpu *gpu, const struct tool_backend_setup *setup)
{
    struct hs_model_info model;
    struct hs_stream_info stream;
    struct hs_model_params params = hsmodel_params(setup->model);
    int err = vkdev_open(&gpu->dev, &(struct vkdev_params){.select = setup->device,
                                                           .validation = setup->validate,
                                                           .log = tool_log()});

    if (err < 0)
        return err;
    gpu->open = true;
    params.path = setup->path;
    params.batch = true;
    err = vkdev_import(&gpu->dev, NULL, &gpu->device);
    if (!err)
        err = hs_model_load(gpu->device, &params, &gpu->model);
    if (err < 0)
        return err;
    err =
        hs_stream_create(gpu->model,
                         &(struct hs_stream_params){
                             .out_width = (uint32_t)setup->out_width,
                             .out_height = (uint32_t)setup->out_height,
                             .max_render_width = (uint32_t)setup->planes[HSIO_PLANE_COLOR].width,
                             .max_render_height = (uint32_t)setup->planes[HSIO_PLANE_COLOR].height,
                             .flags = setup->ldr ? HS_STREAM_LDR : 0,
                         },
                         &gpu->stream);
    if (err < 0)
        return err;
    hs_model_describe(gpu->model, &model);
    hs_stream_describe(gpu->stream, &stream);
    snprintf(gpu->base.model, sizeof(gpu->base.model), "%s", stream.preset);
    snprintf(gpu->base.about, sizeof(gpu->base.about), "%s on %.150s, %s arithmetic", stream.preset,
             gpu->dev.report.name, model.path == HS_PATH_MATRIX ? "matrix" : "plain");
    return 0;
}

static VkDeviceSize aligned(VkDeviceSize bytes)
{
    return (bytes + COPY_ALIGNMENT - 1) / COPY_ALIGNMENT * COPY_ALIGNMENT;
}

/** Images of a slot's AOVs, and where they lie in its buffers, behind what is there. */
static int make_aovs(struct gpu *gpu, const struct tool_backend_setup *setup, int index,
                     VkDeviceSize *upload, VkDeviceSize *download)
{
    struct gpu_slot *slot = &gpu->slots[index];
    struct tool_slot_memory *memory = &gpu->base.memory[index];
    const uint32_t width = (uint32_t)setup->planes[HSIO_PLANE_COLOR].width;
    const uint32_t height = (uint32_t)setup->planes[HSIO_PLANE_COLOR].height;
    int err = 0;

    for (int i = 0; !err && i < setup->aov_count; i++) {
        const struct tool_aov *aov = &setup->aovs[i];

        memory->aov_input_bytes[i] = (size_t)width * height * hsio_format_bytes(aov->format);
        slot->aov_in_offsets[i] = aligned(*upload);
        *upload = slot->aov_in_offsets[i] + memory->aov_input_bytes[i];
        slot->aov_out_offsets[i] = aligned(*download);
        *download = slot->aov_out_offsets[i] + (VkDeviceSize)setup->out_width *
                                                   (VkDeviceSize)setup->out_height *
                                                   hsio_format_bytes(aov->output_format);
        err = vkdev_image_create(&gpu->dev, hsframe_vk_format(aov->format), width, height,
                                 VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                 &slot->aovs_in[i]);
        if (!err)
            err = vkdev_image_create(&gpu->dev, hsframe_vk_format(aov->output_format),
                                     (uint32_t)setup->out_width, (uint32_t)setup->out_height,
                                     VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                                     &slot->aovs_out[i]);
    }
    return err;
}

static int make_inputs(struct gpu *gpu, const struct tool_backend_setup *setup, int index,
                       VkDeviceSize *download)
{
    struct gpu_slot *slot = &gpu->slots[index];
    struct tool_slot_memory *memory = &gpu->base.memory[index];
    VkDeviceSize bytes = 0;
    int err = 0;

    for (int i = 0; !err && i < TOOL_USED_PLANES; i++) {
        enum hsio_plane p = tool_used_planes[i];

        if (!setup->planes[p].present)
            continue;
        memory->formats[p] = setup->planes[p].format;
        memory->input_bytes[p] = (size_t)setup->planes[p].width * (size_t)setup->planes[p].height *
                                 hsio_format_bytes(setup->planes[p].format);
        slot->offsets[p] = bytes;
        bytes += aligned(memory->input_bytes[p]);
        err =
            vkdev_image_create(&gpu->dev, hsframe_vk_format(setup->planes[p].format),
                               (uint32_t)setup->planes[p].width, (uint32_t)setup->planes[p].height,
                               VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                   VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                               &slot->inputs[p]);
    }
    if (!err)
        err = make_aovs(gpu, setup, index, &bytes, download);
    // Cached, for the reader looks at some of its pixels again.
    if (!err)
        err = vkdev_buffer_create(&gpu->dev, bytes, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, true,
                                  &slot->upload);
    for (int i = 0; !err && i < TOOL_USED_PLANES; i++) {
        enum hsio_plane p = tool_used_planes[i];

        if (setup->planes[p].present)
            memory->input[p] = (char *)slot->upload.map + slot->offsets[p];
    }
    for (int i = 0; !err && i < setup->aov_count; i++)
        memory->aov_input[i] = (char *)slot->upload.map + slot->aov_in_offsets[i];
    return err;
}

static int make_slot(struct gpu *gpu, const struct tool_backend_setup *setup, int index)
{
    struct gpu_slot *slot = &gpu->slots[index];
    struct tool_slot_memory *memory = &gpu->base.memory[index];
    enum hsio_format format = setup->output_float ? HSIO_FORMAT_RGBA32F : HSIO_FORMAT_RGBA16F;
    VkDeviceSize bytes = (VkDeviceSize)setup->out_width * (VkDeviceSize)setup->out_height *
                         hsio_format_bytes(format);
    VkResult r;
    int err = make_inputs(gpu, setup, index, &bytes);

    if (!err)
        err = vkdev_image_create(&gpu->dev, hsframe_vk_format(format), (uint32_t)setup->out_width,
                                 (uint32_t)setup->out_height,
                                 VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                     VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                 &slot->output);
    if (!err)
        err = vkdev_buffer_create(&gpu->dev, bytes, VK_BUFFER_USAGE_TRANSFER_DST_BIT, true,
                                  &slot->download);
    if (err < 0)
        return err;
    memory->output = slot->download.map;
    memory->output_format = format;
    for (int i = 0; i < setup->aov_count; i++)
        memory->aov_output[i] = (char *)slot->download.map + slot->aov_out_offsets[i];
    r = vkAllocateCommandBuffers(gpu->dev.device,
                                 &(VkCommandBufferAllocateInfo){
                                     .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                     .commandPool = gpu->dev.pool,
                                     .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                     .commandBufferCount = 1,
                                 },
                                 &slot->cmd);
    return vkdev_error(r);
}

static struct hs_image borrow(const struct vkdev_image *image, VkImageLayout layout)
{
    return (struct hs_image){
        .image = image->image,
        .view = image->view,
        .format = image->format,
        .layout = layout,
        .usage = image->usage,
        .width = image->width,
        .height = image->height,
    };
}

static void on_guide(void *priv, enum hs_log_level level, const char *message)
{
    (void)priv;
    (void)level;
    tool_info("%s", message);
}

const struct hs_log tool_guide_log = {on_guide, NULL, HS_LOG_INFO};

/** Guides that the model would like to have, once. */
static void report(struct gpu *gpu, const struct hs_frame *frame)
{
    if (!gpu->reported)
        hsframe_tell_guides(gpu->stream, frame, &tool_guide_log);
    gpu->reported = true;
}

static int submit(struct tool_backend *backend, int index, const struct hsio_frame_info *info,
                  const struct tool_frame_options *options)
{
    struct gpu *gpu = (struct gpu *)backend;
    struct gpu_slot *slot = &gpu->slots[index];
    struct hs_aov aovs[HS_AOV_MAX];
    struct hs_camera camera;
    struct hs_frame frame;
    int err = hsframe_setup(info, &options->frame, gpu->out_width, gpu->out_height, tool_log(),
                            &camera, &frame);

    if (err < 0)
        return err;
    for (int p = 0; p < HSIO_PLANE_COUNT; p++) {
        struct hs_image *image = hsframe_image(&frame, (enum hsio_plane)p);

        // A frame that stands in for a missing one does not move.
        if (image && slot->inputs[p].image && info->planes[p].present &&
            !(p == HSIO_PLANE_MOTION && info->held))
            *image = borrow(&slot->inputs[p], VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    }
    frame.output = borrow(&slot->output, VK_IMAGE_LAYOUT_UNDEFINED);
    for (int i = 0; i < gpu->aov_count; i++)
        aovs[i] = (struct hs_aov){
            borrow(&slot->aovs_in[i], VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL),
            borrow(&slot->aovs_out[i], VK_IMAGE_LAYOUT_UNDEFINED), gpu->aov_kinds[i]};
    frame.aovs = aovs;
    frame.aov_count = (uint32_t)gpu->aov_count;
    report(gpu, &frame);

    VkResult r =
        vkBeginCommandBuffer(slot->cmd, &(VkCommandBufferBeginInfo){
                                            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                                        });
    if (r != VK_SUCCESS)
        return vkdev_error(r);
    gpu_record_upload(gpu, slot, info);
    err = hs_stream_record(gpu->stream, &frame, slot->cmd);
    if (err < 0)
        return err;
    if (options->read_back)
        gpu_record_download(gpu, slot);
    r = vkEndCommandBuffer(slot->cmd);
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = slot->cmd};
    const VkSemaphoreSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = gpu->timeline,
        .value = gpu->tickets + 1,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    if (r == VK_SUCCESS)
        r = vkQueueSubmit2(gpu->dev.queue, 1,
                           &(VkSubmitInfo2){
                               .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                               .commandBufferInfoCount = 1,
                               .pCommandBufferInfos = &commands,
                               .signalSemaphoreInfoCount = 1,
                               .pSignalSemaphoreInfos = &signal,
                           },
                           VK_NULL_HANDLE);
    if (r == VK_SUCCESS)
        slot->ticket = ++gpu->tickets;
    return vkdev_error(r);
}

static int wait_slot(struct tool_backend *backend, int index)
{
    struct gpu *gpu = (struct gpu *)backend;
    VkResult r = vkWaitSemaphores(gpu->dev.device,
                                  &(VkSemaphoreWaitInfo){
                                      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &gpu->timeline,
                                      .pValues = &gpu->slots[index].ticket,
                                  },
                                  UINT64_MAX);

    if (r != VK_SUCCESS)
        tool_error("waiting for the device failed: %s", hs_error_string(vkdev_error(r)));
    return vkdev_error(r);
}

static uint32_t messages(const struct tool_backend *backend)
{
    return ((const struct gpu *)backend)->dev.messages;
}

static void destroy(struct tool_backend *backend)
{
    struct gpu *gpu = (struct gpu *)backend;

    if (gpu->open) {
        vkDeviceWaitIdle(gpu->dev.device);
        hs_stream_destroy(&gpu->stream);
        hs_model_destroy(&gpu->model);
        hs_device_destroy(&gpu->device);
        for (int i = 0; gpu->slots && i < gpu->slot_count; i++) {
            struct gpu_slot *slot = &gpu->slots[i];

            for (int p = 0; p < HSIO_PLANE_COUNT; p++)
                vkdev_image_destroy(&gpu->dev, &slot->inputs[p]);
            vkdev_image_destroy(&gpu->dev, &slot->output);
            for (int a = 0; a < gpu->aov_count; a++) {
                vkdev_image_destroy(&gpu->dev, &slot->aovs_in[a]);
                vkdev_image_destroy(&gpu->dev, &slot->aovs_out[a]);
            }
            vkdev_buffer_destroy(&gpu->dev, &slot->upload);
            vkdev_buffer_destroy(&gpu->dev, &slot->download);
        }
        vkDestroySemaphore(gpu->dev.device, gpu->timeline, NULL);
        vkdev_close(&gpu->dev);
    }
    free(gpu->slots);
    free(gpu->base.memory);
    free(gpu);
}

int tool_gpu_create(const struct tool_backend_setup *setup, struct tool_backend **backend)
{
    struct gpu *gpu = calloc(1, sizeof(*gpu));
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    int err;

    if (!gpu)
        return HS_ERR_NOMEM;
    gpu->base.submit = submit;
    gpu->base.wait = wait_slot;
    gpu->base.messages = messages;
    gpu->base.destroy = destroy;
    gpu->out_width = setup->out_width;
    gpu->out_height = setup->out_height;
    gpu->slot_count = setup->slots;
    gpu->aov_count = setup->aov_count;
    for (int i = 0; i < setup->aov_count; i++)
        gpu->aov_kinds[i] = setup->aovs[i].kind;
    gpu->slots = calloc((size_t)setup->slots, sizeof(*gpu->slots));
    gpu->base.memory = calloc((size_t)setup->slots, sizeof(*gpu->base.memory));
    err = gpu->slots && gpu->base.memory ? open_engine(gpu, setup) : HS_ERR_NOMEM;
    if (!err)
        err = vkdev_error(
            vkCreateSemaphore(gpu->dev.device,
                              &(VkSemaphoreCreateInfo){
                                  .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type},
                              NULL, &gpu->timeline));
    for (int i = 0; !err && i < setup->slots; i++)
        err = make_slot(gpu, setup, i);
    if (err < 0)
        destroy(&gpu->base);
    else
        *backend = &gpu->base;
    return err;
}

int tool_backend_create(const struct tool_backend_setup *setup, struct tool_backend **backend)
{
    return tool_is_baseline(setup->model) ? tool_baseline_create(setup, backend)
           : hsoidn_is(setup->model)      ? tool_oidn_create(setup, backend)
                                          : tool_gpu_create(setup, backend);
}
