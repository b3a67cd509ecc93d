// SPDX-License-Identifier: MIT
// Whether a frame has what its plane needs.
#include "internal.h"

#include <stdlib.h>

#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

/** Pixels of a frame or format; NONE: its frames context is missing or of another device. */
static enum AVPixelFormat pixels_of(const struct hs_avfilter *f, enum AVPixelFormat format,
                                    const AVBufferRef *hw_frames_ctx)
{
    const AVHWFramesContext *frames;

    if (format != AV_PIX_FMT_VULKAN)
        return format;
    frames = hw_frames_ctx ? (const AVHWFramesContext *)(const void *)hw_frames_ctx->data : NULL;
    if (!frames || frames->format != AV_PIX_FMT_VULKAN ||
        ((const AVVulkanDeviceContext *)frames->device_ctx->hwctx)->act_dev != f->hw->act_dev)
        return AV_PIX_FMT_NONE;
    return frames->sw_format;
}

static VkFormat image_format(const AVBufferRef *hw_frames_ctx)
{
    const AVHWFramesContext *frames = (const AVHWFramesContext *)(const void *)hw_frames_ctx->data;

    return ((const AVVulkanFramesContext *)frames->hwctx)->format[0];
}

int hs_av_format_check(struct hs_avfilter *f, int plane, enum AVPixelFormat format,
                       const AVBufferRef *hw_frames_ctx, const struct hs_av_format **found)
{
    const bool vulkan = format == AV_PIX_FMT_VULKAN;
    const enum AVPixelFormat pixels = pixels_of(f, format, hw_frames_ctx);
    const char *name = av_get_pix_fmt_name(pixels);
    char list[256];

    *found = pixels == AV_PIX_FMT_NONE ? NULL : hs_av_format_find(plane, pixels, vulkan);
    // A pool may be of another format than libavutil would choose.
    if (*found && (!vulkan || image_format(hw_frames_ctx) == (*found)->format))
        return 0;
    hs_av_format_list(plane, vulkan, list, sizeof(list));
    if (vulkan && pixels == AV_PIX_FMT_NONE)
        av_log(f, AV_LOG_ERROR, "%s: its Vulkan frames are not of the filter's device\n",
               hs_avfilter_input_name((enum hs_avfilter_input)plane));
    else
        av_log(f, AV_LOG_ERROR, "%s: %s%s is not accepted; one of %s is\n",
               hs_avfilter_input_name((enum hs_avfilter_input)plane), vulkan ? "Vulkan " : "",
               name ? name : "an unknown pixel format", list);
    return AVERROR(EINVAL);
}

/** Whether every plane of the format is there, with whole rows; or the image of a Vulkan frame. */
static bool has_pixels(const AVFrame *frame)
{
    const enum AVPixelFormat format = (enum AVPixelFormat)frame->format;

    if (frame->width <= 0 || frame->height <= 0 || !frame->data[0])
        return false;
    if (format == AV_PIX_FMT_VULKAN) {
        const AVVkFrame *vk = (const AVVkFrame *)(const void *)frame->data[0];

        // References keep it alive while the device works on it.
        return frame->buf[0] && vk->img[0] && vk->sem[0];
    }
    for (int p = 0; p < av_pix_fmt_count_planes(format); p++) {
        if (!frame->data[p] ||
            abs(frame->linesize[p]) < av_image_get_linesize(format, frame->width, p))
            return false;
    }
    return true;
}

int hs_av_frame_check(struct hs_avfilter *f, int plane, const AVFrame *frame)
{
    const struct hs_av_format *format;
    int err = hs_av_format_check(f, plane, (enum AVPixelFormat)frame->format, frame->hw_frames_ctx,
                                 &format);

    if (!err && !has_pixels(frame)) {
        av_log(f, AV_LOG_ERROR, "%s: the frame has no pixels, or not all of them\n",
               hs_avfilter_input_name((enum hs_avfilter_input)plane));
        err = AVERROR(EINVAL);
    }
    return err;
}

int hs_av_output_check(struct hs_avfilter *f, const AVFrame *out)
{
    const bool vulkan = f->out.format == AV_PIX_FMT_VULKAN;
    const enum AVPixelFormat wanted = vulkan ? f->out.sw_format : f->out.format;
    enum AVPixelFormat pixels;
    int err;

    if (!out->buf[0])
        return 0;
    err = hs_av_frame_check(f, HS_AV_OUTPUT, out);
    if (err < 0)
        return err;
    pixels = pixels_of(f, (enum AVPixelFormat)out->format, out->hw_frames_ctx);
    if (out->format == (int)f->out.format && pixels == wanted && out->width == f->out.width &&
        out->height == f->out.height)
        return 0;
    av_log(f, AV_LOG_ERROR, "output: expected %s%s of %dx%d, found %s%s of %dx%d\n",
           vulkan ? "Vulkan " : "", av_get_pix_fmt_name(wanted), f->out.width, f->out.height,
           out->format == AV_PIX_FMT_VULKAN ? "Vulkan " : "", av_get_pix_fmt_name(pixels),
           out->width, out->height);
    return AVERROR(EINVAL);
}
