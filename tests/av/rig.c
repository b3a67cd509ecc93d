// SPDX-License-Identifier: MIT
#include "rig.h"

#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_vulkan.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

#include "hsio.h"
#include "tests/test.h"

static struct said said;

static void on_log(void *object, int level, const char *format, va_list args)
{
    const AVClass *class = object ? *(const AVClass **)object : NULL;

    if (class != hs_avfilter_get_class() || level > AV_LOG_WARNING)
        return;
    if (level <= AV_LOG_ERROR) {
        said.errors++;
        vsnprintf(said.error, sizeof(said.error), format, args);
    } else {
        said.warnings++;
        vsnprintf(said.warning, sizeof(said.warning), format, args);
    }
}

struct said rig_said(void)
{
    struct said was = said;

    said = (struct said){0};
    return was;
}

static VkDevice make_device(struct vkdev *dev, const char *const *extensions, uint32_t count)
{
    const float priority = 1;
    VkDevice device;

    REQUIRE_EQ(vkCreateDevice(dev->physical_device,
                              &(VkDeviceCreateInfo){
                                  .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                  .pNext = &dev->features.features2,
                                  .queueCreateInfoCount = 1,
                                  .pQueueCreateInfos =
                                      &(VkDeviceQueueCreateInfo){
                                          .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = dev->queue_family,
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority,
                                      },
                                  .enabledExtensionCount = count,
                                  .ppEnabledExtensionNames = extensions,
                              },
                              NULL, &device),
               VK_SUCCESS);
    return device;
}

bool rig_open(struct rig *rig)
{
    // FFmpeg 7.1 copies nothing back without the one, and wants the other for its images.
    static const char *extensions[8] = {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME,
                                        VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME};
    uint32_t count = 2;
    AVHWDeviceContext *context;
    AVVulkanDeviceContext *vulkan;

    *rig = (struct rig){0};
    if (!fx_open(&rig->fx, NULL, NULL))
        return false;
    for (uint32_t i = 0; i < rig->fx.dev.features.extension_count; i++)
        extensions[count++] = rig->fx.dev.features.extensions[i];
    rig->dev = rig->fx.dev;
    rig->dev.device = make_device(&rig->fx.dev, extensions, count);
    vkGetDeviceQueue(rig->dev.device, rig->dev.queue_family, 0, &rig->dev.queue);
    REQUIRE_EQ(vkCreateCommandPool(rig->dev.device,
                                   &(VkCommandPoolCreateInfo){
                                       .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                       .queueFamilyIndex = rig->dev.queue_family,
                                   },
                                   NULL, &rig->dev.pool),
               VK_SUCCESS);
    rig->ref = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_VULKAN);
    REQUIRE(rig->ref);
    context = (AVHWDeviceContext *)(void *)rig->ref->data;
    vulkan = context->hwctx;
    vulkan->get_proc_addr = vkGetInstanceProcAddr;
    vulkan->inst = rig->fx.dev.instance;
    vulkan->phys_dev = rig->fx.dev.physical_device;
    vulkan->act_dev = rig->dev.device;
    vulkan->device_features = rig->fx.dev.features.features2;
    vulkan->enabled_dev_extensions = extensions;
    vulkan->nb_enabled_dev_extensions = (int)count;
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(59, 34, 100)
    vulkan->qf[0] = (AVVulkanDeviceQueueFamily){
        .idx = (int)rig->fx.dev.queue_family,
        .num = 1,
        .flags = (VkQueueFlagBits)(VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT),
    };
    vulkan->nb_qf = 1;
#endif
#if LIBAVUTIL_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    vulkan->queue_family_index = -1;
    vulkan->queue_family_tx_index = vulkan->queue_family_comp_index = (int)rig->fx.dev.queue_family;
    vulkan->nb_tx_queues = vulkan->nb_comp_queues = 1;
    vulkan->queue_family_encode_index = vulkan->queue_family_decode_index = -1;
#pragma GCC diagnostic pop
#endif
    REQUIRE_EQ(av_hwdevice_ctx_init(rig->ref), 0);
    av_log_set_callback(on_log);
    rig_said();
    return true;
}

void rig_close(struct rig *rig)
{
    av_buffer_unref(&rig->ref);
    vkDestroyCommandPool(rig->dev.device, rig->dev.pool, NULL);
    vkDestroyDevice(rig->dev.device, NULL);
    fx_close(&rig->fx);
    av_log_set_callback(av_log_default_callback);
}

static AVFrame *blank(enum AVPixelFormat format, int width, int height)
{
    AVFrame *frame = av_frame_alloc();

    REQUIRE(frame);
    frame->format = format;
    frame->width = width;
    frame->height = height;
    REQUIRE_EQ(av_frame_get_buffer(frame, 0), 0);
    return frame;
}

/** Stores one channel of any of the formats in use. */
static void put(AVFrame *frame, int x, int y, int channel, float value)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get((enum AVPixelFormat)frame->format);
    const AVComponentDescriptor *comp = &desc->comp[channel];
    uint8_t *at =
        frame->data[comp->plane] + y * frame->linesize[comp->plane] + x * comp->step + comp->offset;

    if (desc->flags & AV_PIX_FMT_FLAG_FLOAT) {
        const uint16_t half = hsio_float_to_half(value);

        memcpy(at, comp->depth == 16 ? (const void *)&half : &value, comp->depth / 8);
    } else {
        const float top = (float)((1 << comp->depth) - 1);
        const float code = value <= 0 ? 0 : value >= 1 ? top : roundf(value * top);
        const uint16_t wide = (uint16_t)code;
        const uint8_t narrow = (uint8_t)wide;

        memcpy(at, comp->depth == 16 ? (const void *)&wide : &narrow, comp->depth / 8);
    }
}

AVFrame *rig_colour(enum AVPixelFormat format, int width, int height, int time)
{
    const int channels = av_pix_fmt_desc_get(format)->nb_components;
    AVFrame *frame = blank(format, width, height);

    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const float wave = 0.5f + 0.4f * sinf(0.4f * (float)(x + time)) * cosf(0.3f * (float)y);
            const bool disc = (x + time - 20) * (x + time - 20) + (y - 12) * (y - 12) < 60;

            for (int c = 0; c < channels; c++)
                put(frame, x, y, c,
                    c == 3 ? (disc ? 1 : 0.75f)
                    : disc ? 0.9f - 0.3f * (float)c
                           : wave);
        }
    }
    frame->pts = time;
    return frame;
}

AVFrame *rig_depth(enum AVPixelFormat format, int width, int height, int time)
{
    AVFrame *frame = blank(format, width, height);

    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const bool disc = (x + time - 20) * (x + time - 20) + (y - 12) * (y - 12) < 60;

            put(frame, x, y, 0, disc ? 0.25f : 0.875f);
        }
    }
    frame->pts = time;
    return frame;
}

AVFrame *rig_motion(enum AVPixelFormat format, int width, int height)
{
    AVFrame *frame = blank(format, width, height);

    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            put(frame, x, y, 0, 1);
            put(frame, x, y, 1, 0);
            put(frame, x, y, 2, 0.5f);
        }
    }
    return frame;
}

/** Copies between a Vulkan frame and packed pixels, and waits. */
static void transfer(struct rig *rig, const AVFrame *frame, struct vkdev_buffer *buffer, bool up)
{
    const VkImageLayout layout =
        up ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    AVVkFrame *vk = (AVVkFrame *)(void *)frame->data[0];
    const struct vkdev_image image = {.image = vk->img[0], .format = VK_FORMAT_R8_UNORM};
    const VkBufferImageCopy region = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {(uint32_t)frame->width, (uint32_t)frame->height, 1},
    };
    VkCommandBuffer cmd;

    REQUIRE_EQ(vkWaitSemaphores(rig->dev.device,
                                &(VkSemaphoreWaitInfo){
                                    .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                    .semaphoreCount = 1,
                                    .pSemaphores = &vk->sem[0],
                                    .pValues = &vk->sem_value[0],
                                },
                                UINT64_MAX),
               VK_SUCCESS);
    REQUIRE_EQ(vkdev_begin(&rig->dev, &cmd), 0);
    vkdev_image_barrier(cmd, &image, vk->layout[0], layout);
    if (up)
        vkCmdCopyBufferToImage(cmd, buffer->buffer, vk->img[0], layout, 1, &region);
    else
        vkCmdCopyImageToBuffer(cmd, vk->img[0], layout, buffer->buffer, 1, &region);
    REQUIRE_EQ(vkdev_submit_wait(&rig->dev, cmd), 0);
    vk->layout[0] = layout;
    vk->access[0] = up ? VK_ACCESS_TRANSFER_WRITE_BIT : VK_ACCESS_TRANSFER_READ_BIT;
}

AVFrame *rig_upload(struct rig *rig, const AVFrame *frame)
{
    const enum AVPixelFormat format = (enum AVPixelFormat)frame->format;
    const int bytes = av_image_get_buffer_size(format, frame->width, frame->height, 1);
    AVBufferRef *pool = av_hwframe_ctx_alloc(rig->ref);
    AVHWFramesContext *frames;
    AVFrame *out = av_frame_alloc();
    struct vkdev_buffer buffer;

    REQUIRE(pool && out);
    frames = (AVHWFramesContext *)(void *)pool->data;
    frames->format = AV_PIX_FMT_VULKAN;
    frames->sw_format = format;
    frames->width = frame->width;
    frames->height = frame->height;
    REQUIRE_EQ(av_hwframe_ctx_init(pool), 0);
    REQUIRE_EQ(av_hwframe_get_buffer(pool, out, 0), 0);
    av_buffer_unref(&pool);
    REQUIRE_EQ(vkdev_buffer_create(&rig->dev, (VkDeviceSize)bytes, VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                                   false, &buffer),
               0);
    REQUIRE_EQ(av_image_copy_to_buffer(buffer.map, bytes, (const uint8_t *const *)frame->data,
                                       frame->linesize, format, frame->width, frame->height, 1),
               bytes);
    transfer(rig, out, &buffer, true);
    vkdev_buffer_destroy(&rig->dev, &buffer);
    REQUIRE_EQ(av_frame_copy_props(out, frame), 0);
    return out;
}

AVFrame *rig_download(struct rig *rig, const AVFrame *frame)
{
    const AVHWFramesContext *frames =
        (const AVHWFramesContext *)(const void *)frame->hw_frames_ctx->data;
    const int bytes = av_image_get_buffer_size(frames->sw_format, frame->width, frame->height, 1);
    AVFrame *out = blank(frames->sw_format, frame->width, frame->height);
    struct vkdev_buffer buffer;
    uint8_t *planes[4];
    int lines[4];

    REQUIRE_EQ(vkdev_buffer_create(&rig->dev, (VkDeviceSize)bytes, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                   true, &buffer),
               0);
    transfer(rig, frame, &buffer, false);
    REQUIRE_EQ(av_image_fill_arrays(planes, lines, buffer.map, frames->sw_format, frame->width,
                                    frame->height, 1),
               bytes);
    av_image_copy(out->data, out->linesize, (const uint8_t **)planes, lines, frames->sw_format,
                  frame->width, frame->height);
    vkdev_buffer_destroy(&rig->dev, &buffer);
    return out;
}

void rig_require_same(const AVFrame *a, const AVFrame *b)
{
    REQUIRE_EQ(a->format, b->format);
    REQUIRE_EQ(a->width, b->width);
    REQUIRE_EQ(a->height, b->height);
    for (int p = 0; p < av_pix_fmt_count_planes((enum AVPixelFormat)a->format); p++) {
        const int bytes = av_image_get_linesize((enum AVPixelFormat)a->format, a->width, p);

        for (int y = 0; y < a->height; y++)
            REQUIRE_MEM(a->data[p] + y * a->linesize[p], b->data[p] + y * b->linesize[p], bytes);
    }
}

void rig_text_file(const char *text, char path[RIG_PATH_BYTES])
{
    FILE *stream;
    int file;

    snprintf(path, RIG_PATH_BYTES, "/tmp/hs_av_XXXXXX");
    file = mkstemp(path);
    stream = file < 0 ? NULL : fdopen(file, "w");
    REQUIRE(stream);
    REQUIRE_GE(fputs(text, stream), 0);
    REQUIRE_EQ(fclose(stream), 0);
}

struct hs_avfilter *rig_filter(struct rig *rig, const char *options)
{
    struct hs_avfilter *filter = hs_avfilter_alloc();

    REQUIRE(filter);
    REQUIRE_GE(av_set_options_string(filter, options, "=", ":"), 0);
    REQUIRE_EQ(hs_avfilter_open(filter, rig->ref), 0);
    return filter;
}

int rig_configure(struct hs_avfilter *filter, const AVFrame *colour, enum AVPixelFormat out,
                  struct hs_avfilter_format *format)
{
    const struct hs_avfilter_format in = {
        .format = (enum AVPixelFormat)colour->format,
        .width = colour->width,
        .height = colour->height,
        .hw_frames_ctx = colour->hw_frames_ctx,
        .color_trc = colour->color_trc,
        .sample_aspect_ratio = colour->sample_aspect_ratio,
        .time_base = {1, 24},
        .frame_rate = {24, 1},
    };
    const struct hs_avfilter_format request = {.format = out, .sw_format = AV_PIX_FMT_NONE};

    return hs_avfilter_configure(filter, &in, &request, format);
}
