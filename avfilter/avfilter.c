// SPDX-License-Identifier: MIT
// A filter from its options to the form of its output.
#include "internal.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

#include "hslook.h"

int hs_av_error(int err)
{
    switch (err) {
    case 0:
        return 0;
    case HS_ERR_INVALID:
    case HS_ERR_VERSION:
        return AVERROR(EINVAL);
    case HS_ERR_UNSUPPORTED:
        return AVERROR(ENOSYS);
    case HS_ERR_NOMEM:
        return AVERROR(ENOMEM);
    case HS_ERR_DEVICE_LOST:
        return AVERROR_EXTERNAL;
    case HS_ERR_FORMAT:
        return AVERROR_INVALIDDATA;
    case HS_ERR_IO:
        return AVERROR(EIO);
    default:
        return AVERROR_BUG;
    }
}

int hs_av_vk_error(struct hs_avfilter *f, VkResult result, const char *what)
{
    int err = result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY
                  ? AVERROR(ENOMEM)
                  : AVERROR_EXTERNAL;

    av_log(f, AV_LOG_ERROR, "%s failed: VkResult %d\n", what, (int)result);
    return err;
}

struct hs_avfilter *hs_avfilter_alloc(void)
{
    struct hs_avfilter *f = av_mallocz(sizeof(*f));

    if (!f)
        return NULL;
    f->class = hs_avfilter_get_class();
    f->log = (struct hs_log){.cb = hs_av_on_log, .priv = f, .level = HS_LOG_TRACE};
    av_opt_set_defaults(f);
    hs_av_queues_clear(f);
    return f;
}

void hs_avfilter_free(struct hs_avfilter **filter)
{
    struct hs_avfilter *f = filter ? *filter : NULL;

    if (!f)
        return;
    hs_av_queues_clear(f);
    if (f->hw) {
        hs_av_slots_free(f);
        hs_stream_destroy(&f->stream);
    }
    av_buffer_unref(&f->out_frames);
    av_buffer_unref(&f->in.hw_frames_ctx);
    hs_av_device_close(f);
    av_freep(&f->values);
    av_opt_free(f);
    av_freep(filter);
}

static int parse_look(const struct hs_avfilter *f, const char *text, struct hs_look *look)
{
    return hs_av_error(hslook_parse(text ? text : "none", &f->log, look));
}

int hs_av_look_read(const struct hs_avfilter *f, struct hs_look *look)
{
    return parse_look(f, f->look, look);
}

int hs_avfilter_command(struct hs_avfilter *f, const char *name, const char *value)
{
    const AVOption *option = av_opt_find(f, name, NULL, AV_OPT_FLAG_RUNTIME_PARAM, 0);
    struct hs_look look;
    int err = 0;

    if (!option)
        return AVERROR(ENOSYS);
    if (option->offset == offsetof(struct hs_avfilter, look))
        err = parse_look(f, value, &look);
    return err < 0 ? err : av_opt_set(f, name, value, 0);
}

int hs_avfilter_open(struct hs_avfilter *f, AVBufferRef *device)
{
    struct hs_look look;
    int err;

    if (f->device_ref) {
        av_log(f, AV_LOG_ERROR, "the filter is open already\n");
        return AVERROR(EINVAL);
    }
    err = hs_av_device_open(f, device);
    if (!err)
        err = hs_av_convention_make(f);
    if (!err)
        err = hs_av_values_load(f);
    if (!err)
        err = hs_av_look_read(f, &look);
    if (err < 0) {
        if (f->hw)
            hs_av_slots_free(f);
        hs_av_device_close(f);
        f->value_count = 0;
    }
    return err;
}

double hs_av_half_frame(const struct hs_avfilter *f, const AVFrame *colour)
{
    if (f->in.frame_rate.num > 0 && f->in.frame_rate.den > 0 && f->in.time_base.num > 0 &&
        f->in.time_base.den > 0)
        return 0.5 / (av_q2d(f->in.frame_rate) * av_q2d(f->in.time_base));
    return colour->duration > 0 ? (double)colour->duration / 2 : 0;
}

/** Sizes beyond what an int holds are too large in any case. */
static int to_size(double size)
{
    return (int)lround(fmin(size, INT_MAX));
}

static void choose_size(const struct hs_avfilter *f, const struct hs_avfilter_format *colour,
                        struct hs_avfilter_format *out)
{
    out->width = f->output_width;
    out->height = f->output_height;
    // One of the two keeps the shape of the picture.
    if (out->width && !out->height)
        out->height = to_size((double)out->width * colour->height / colour->width);
    else if (out->height && !out->width)
        out->width = to_size((double)out->height * colour->width / colour->height);
    if (!out->width) {
        out->width = to_size(colour->width * f->scale);
        out->height = to_size(colour->height * f->scale);
    }
}

static int check_size(struct hs_avfilter *f, const struct hs_avfilter_format *colour,
                      const struct hs_avfilter_format *out)
{
    if (out->width >= colour->width && out->height >= colour->height &&
        out->width / 3 <= colour->width && out->height / 3 <= colour->height)
        return 0;
    av_log(f, AV_LOG_ERROR, "%dx%d to %dx%d is no upscaling between 1x and 3x\n", colour->width,
           colour->height, out->width, out->height);
    return AVERROR(EINVAL);
}

static int make_pool(struct hs_avfilter *f, const struct hs_avfilter_format *out,
                     AVBufferRef **pool)
{
    AVBufferRef *ref = av_hwframe_ctx_alloc(f->device_ref);
    AVHWFramesContext *frames;
    int err;

    if (!ref)
        return AVERROR(ENOMEM);
    frames = (AVHWFramesContext *)(void *)ref->data;
    frames->format = AV_PIX_FMT_VULKAN;
    frames->sw_format = out->sw_format;
    frames->width = out->width;
    frames->height = out->height;
    err = av_hwframe_ctx_init(ref);
    if (err < 0) {
        av_log(f, AV_LOG_ERROR, "no Vulkan frames of %s: %s\n", av_get_pix_fmt_name(out->sw_format),
               av_err2str(err));
        av_buffer_unref(&ref);
        return err;
    }
    *pool = ref;
    return 0;
}

/** From the wishes of caller and options to a format of the output. */
static int choose_format(struct hs_avfilter *f, const struct hs_avfilter_format *request,
                         enum AVPixelFormat colour_pixels, struct hs_avfilter_format *out,
                         const struct hs_av_format **found)
{
    enum AVPixelFormat pixels = f->format;
    const char *name;
    char list[256];
    bool vulkan;

    out->format = request && request->format != AV_PIX_FMT_NONE ? request->format : out->format;
    vulkan = out->format == AV_PIX_FMT_VULKAN;
    if (vulkan && pixels == AV_PIX_FMT_NONE && request)
        pixels = request->sw_format;
    if (!vulkan && request && request->format != AV_PIX_FMT_NONE)
        pixels = request->format;
    if (pixels == AV_PIX_FMT_NONE)
        pixels = colour_pixels;
    *found = hs_av_format_find(HS_AV_OUTPUT, pixels, vulkan);
    if (!*found) {
        name = av_get_pix_fmt_name(pixels);
        hs_av_format_list(HS_AV_OUTPUT, vulkan, list, sizeof(list));
        av_log(f, AV_LOG_ERROR, "output: %s%s can not be made; the option format takes one of %s\n",
               vulkan ? "Vulkan " : "", name ? name : "an unknown pixel format", list);
        return AVERROR(EINVAL);
    }
    out->format = vulkan ? AV_PIX_FMT_VULKAN : pixels;
    out->sw_format = vulkan ? pixels : AV_PIX_FMT_NONE;
    return 0;
}

/** Display-referred unless the frame or its format says linear. */
static bool is_display(const struct hs_avfilter *f, enum AVColorTransferCharacteristic trc,
                       const struct hs_av_format *format)
{
    if (f->conv.color.transfer == HSIO_TRANSFER_DISPLAY)
        return true;
    if (trc == AVCOL_TRC_UNSPECIFIED || trc == AVCOL_TRC_RESERVED0)
        return !format->linear;
    return trc != AVCOL_TRC_LINEAR;
}

/** Lets frames on the device finish and puts another stream in place of theirs. */
static void replace_stream(struct hs_avfilter *f, struct hs_stream *stream, bool ldr)
{
    for (int i = 0; i < HS_AV_SLOTS; i++)
        hs_av_slot_wait(f, &f->slots[i]);
    hs_stream_destroy(&f->stream);
    f->stream = stream;
    f->ldr = ldr;
    f->skipped = false;
    f->last_pts = AV_NOPTS_VALUE;
}

static int make_stream(struct hs_avfilter *f, const struct hs_avfilter_format *colour,
                       const struct hs_avfilter_format *out, bool ldr, struct hs_stream **stream)
{
    const bool fixed = f->output_width && f->output_height;

    return hs_av_error(
        hs_stream_create(f->engine,
                         &(struct hs_stream_params){
                             .out_width = (uint32_t)out->width,
                             .out_height = (uint32_t)out->height,
                             .max_render_width = fixed ? 0 : (uint32_t)colour->width,
                             .max_render_height = fixed ? 0 : (uint32_t)colour->height,
                             .flags = ldr ? HS_STREAM_LDR : 0,
                         },
                         stream));
}

int hs_avfilter_configure(struct hs_avfilter *f, const struct hs_avfilter_format *colour,
                          const struct hs_avfilter_format *request, struct hs_avfilter_format *out)
{
    struct hs_avfilter_format result = *colour;
    const struct hs_av_format *in_format, *out_format = NULL;
    AVBufferRef *pool = NULL, *in_frames = NULL;
    struct hs_stream *stream = NULL;
    bool ldr;
    int err;

    if (!f->engine) {
        av_log(f, AV_LOG_ERROR, "the filter has no device yet\n");
        return AVERROR(EINVAL);
    }
    if (colour->width <= 0 || colour->height <= 0) {
        av_log(f, AV_LOG_ERROR, "colour: %dx%d is no size\n", colour->width, colour->height);
        return AVERROR(EINVAL);
    }
    choose_size(f, colour, &result);
    err = hs_av_format_check(f, HS_AVFILTER_COLOUR, colour->format, colour->hw_frames_ctx,
                             &in_format);
    if (!err)
        err = hs_av_oidn_check(f, HS_AVFILTER_COLOUR, colour->format);
    if (!err)
        err = check_size(f, colour, &result);
    if (!err)
        err = choose_format(f, request, in_format->pixels, &result, &out_format);
    if (err < 0)
        return err;
    result.sample_aspect_ratio = colour->sample_aspect_ratio;
    if (colour->sample_aspect_ratio.num > 0)
        result.sample_aspect_ratio = av_mul_q(colour->sample_aspect_ratio,
                                              av_mul_q((AVRational){colour->width, colour->height},
                                                       (AVRational){result.height, result.width}));
    if (colour->hw_frames_ctx && !(in_frames = av_buffer_ref(colour->hw_frames_ctx)))
        return AVERROR(ENOMEM);
    if (result.format == AV_PIX_FMT_VULKAN)
        err = make_pool(f, &result, &pool);
    ldr = is_display(f, colour->color_trc, in_format);
    if (!err)
        err = make_stream(f, colour, &result, ldr, &stream);
    if (err < 0)
        goto error;
    replace_stream(f, stream, ldr);
    av_buffer_unref(&f->out_frames);
    av_buffer_unref(&f->in.hw_frames_ctx);
    result.hw_frames_ctx = pool;
    f->out_frames = pool;
    f->in = *colour;
    f->in.hw_frames_ctx = in_frames;
    f->out = *out = result;
    f->configured = true;
    return 0;
error:
    av_buffer_unref(&pool);
    av_buffer_unref(&in_frames);
    return err;
}

int hs_av_transfer_follow(struct hs_avfilter *f, const AVFrame *colour)
{
    struct hs_stream *stream = NULL;
    const struct hs_av_format *format;
    int err = hs_av_format_check(f, HS_AVFILTER_COLOUR, (enum AVPixelFormat)colour->format,
                                 colour->hw_frames_ctx, &format);
    enum AVColorTransferCharacteristic trc = colour->color_trc;
    bool ldr;

    if (err < 0)
        return err;
    if (trc == AVCOL_TRC_UNSPECIFIED || trc == AVCOL_TRC_RESERVED0)
        trc = f->in.color_trc;
    ldr = is_display(f, trc, format);
    if (ldr == f->ldr)
        return 0;
    err = make_stream(f, &f->in, &f->out, ldr, &stream);
    if (!err)
        replace_stream(f, stream, ldr);
    return err;
}
