// SPDX-License-Identifier: MIT
// The model oidn: colour is denoised on the CPU before the engine sees it.
#include "internal.h"

#include <libavutil/mem.h>

#define PIXEL_BYTES 16

int hs_av_oidn_check(struct hs_avfilter *f, int plane, enum AVPixelFormat format)
{
    if (!f->denoiser || format != AV_PIX_FMT_VULKAN)
        return 0;
    av_log(f, AV_LOG_ERROR,
           "%s: oidn works on the CPU and takes frames in system memory: put hwdownload in front\n",
           hs_avfilter_input_name((enum hs_avfilter_input)plane));
    return AVERROR(EINVAL);
}

/** A plane as packed rows of four floats. Errors: EINVAL, ENOMEM. */
static int to_float(struct hs_avfilter *f, int plane, const AVFrame *frame, uint8_t **pixels)
{
    const struct hs_av_format *format;
    const size_t count = (size_t)frame->width * (size_t)frame->height;
    uint8_t *made, *packed;
    int err = hs_av_oidn_check(f, plane, (enum AVPixelFormat)frame->format);

    if (err < 0)
        return err;
    format = hs_av_format_find(plane, (enum AVPixelFormat)frame->format, false);
    made = av_malloc(count * PIXEL_BYTES);
    if (!made)
        return AVERROR(ENOMEM);
    // Packed at the end: what is spread out from the beginning does not catch up with it.
    packed = made + count * (size_t)(PIXEL_BYTES - format->bytes);
    hs_av_pack(format, frame, packed);
    for (size_t i = 0; i < count; i++) {
        float values[4];

        for (int c = 0; c < 4; c++)
            values[c] = hsframe_value(packed + i * format->bytes, format->format, c);
        memcpy(made + i * PIXEL_BYTES, values, PIXEL_BYTES);
    }
    *pixels = made;
    return 0;
}

/** A frame around pixels, which it takes over. NULL: out of memory. */
static AVFrame *wrap(uint8_t *pixels, int width, int height)
{
    AVFrame *frame = av_frame_alloc();

    if (!frame)
        return NULL;
    frame->buf[0] = av_buffer_create(pixels, (size_t)width * (size_t)height * PIXEL_BYTES,
                                     av_buffer_default_free, NULL, 0);
    if (!frame->buf[0]) {
        av_frame_free(&frame);
        return NULL;
    }
    frame->format = AV_PIX_FMT_RGBAF32;
    frame->width = width;
    frame->height = height;
    frame->data[0] = pixels;
    frame->linesize[0] = width * PIXEL_BYTES;
    return frame;
}

int hs_av_oidn_run(struct hs_avfilter *f, const AVFrame *const inputs[HS_AVFILTER_INPUTS],
                   AVFrame **denoised)
{
    static const int used[] = {HS_AVFILTER_COLOUR, HS_AVFILTER_DIFFUSE_ALBEDO,
                               HS_AVFILTER_SPECULAR_ALBEDO, HS_AVFILTER_NORMAL};
    const AVFrame *colour = inputs[HS_AVFILTER_COLOUR];
    uint8_t *planes[HS_AVFILTER_INPUTS] = {0};
    struct hsoidn_picture picture;
    int err = 0;

    for (size_t i = 0; !err && i < FF_ARRAY_ELEMS(used); i++) {
        if (inputs[used[i]])
            err = to_float(f, used[i], inputs[used[i]], &planes[used[i]]);
    }
    picture = (struct hsoidn_picture){
        .width = colour->width,
        .height = colour->height,
        .colour = (float *)(void *)planes[HS_AVFILTER_COLOUR],
        .display = f->ldr,
        .diffuse_albedo = (const float *)(void *)planes[HS_AVFILTER_DIFFUSE_ALBEDO],
        .specular_albedo = (const float *)(void *)planes[HS_AVFILTER_SPECULAR_ALBEDO],
        .normal = (const float *)(void *)planes[HS_AVFILTER_NORMAL],
        .normal_unsigned = f->conv.normal.range == HSIO_RANGE_UNSIGNED,
    };
    if (!err && !f->reported)
        hsoidn_tell_guides(&picture, &(struct hs_log){hs_av_on_guide, f, HS_LOG_INFO});
    if (!err)
        err = hs_av_error(hsoidn_run(f->denoiser, &picture));
    if (!err) {
        *denoised = wrap(planes[HS_AVFILTER_COLOUR], colour->width, colour->height);
        if (*denoised)
            planes[HS_AVFILTER_COLOUR] = NULL;
        else
            err = AVERROR(ENOMEM);
    }
    for (int i = 0; i < HS_AVFILTER_INPUTS; i++)
        av_free(planes[i]);
    return err;
}
