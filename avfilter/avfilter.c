// SPDX-License-Identifier: MIT
// Options, sizes and formats, and a frame from its inputs to its output.
#include "internal.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

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

int hs_avfilter_open(struct hs_avfilter *f, AVBufferRef *device)
{
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

static int describe(struct hs_avfilter *f, const AVFrame *const inputs[HS_AVFILTER_INPUTS],
                    struct hsio_frame_info *info)
{
    static const enum hsio_plane planes[HS_AVFILTER_INPUTS] = {
        HSIO_PLANE_COLOR,    HSIO_PLANE_DEPTH,          HSIO_PLANE_MOTION,
        HSIO_PLANE_REACTIVE, HSIO_PLANE_DIFFUSE_ALBEDO, HSIO_PLANE_SPECULAR_ALBEDO,
        HSIO_PLANE_NORMAL,   HSIO_PLANE_ROUGHNESS,      HSIO_PLANE_HIT_DISTANCE};
    const AVFrame *colour = inputs[HS_AVFILTER_COLOUR];
    int err = hs_av_values_get(f, colour, info);

    info->path = "the stream";
    info->width = colour->width;
    info->height = colour->height;
    info->convention = &f->conv;
    for (int i = 0; !err && i < HS_AVFILTER_INPUTS; i++) {
        if (!inputs[i])
            continue;
        err = hs_av_frame_check(f, i, inputs[i]);
        info->planes[planes[i]] = (struct hsio_plane_info){
            .present = true,
            .width = inputs[i]->width,
            .height = inputs[i]->height,
            .path = "its stream",
        };
    }
    return err;
}

/** Frames may say what the caller did not know when the formats were set; else that holds. */
static int follow_transfer(struct hs_avfilter *f, const AVFrame *colour)
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

/** What to do about planes that were to come. Errors: EINVAL, after a message. */
static int check_missing(struct hs_avfilter *f, const AVFrame *const inputs[HS_AVFILTER_INPUTS])
{
    for (int i = 1; i < HS_AVFILTER_INPUTS; i++) {
        const char *name = hs_avfilter_input_name((enum hs_avfilter_input)i);

        if (!f->queues[i].on || inputs[i])
            continue;
        if (f->missing_planes) {
            av_log(f, AV_LOG_ERROR,
                   "the frame at %.6f s has no %s: the streams' timestamps must agree, or "
                   "missing_planes be ignore\n",
                   (double)inputs[HS_AVFILTER_COLOUR]->pts * av_q2d(f->in.time_base), name);
            return AVERROR(EINVAL);
        }
        if (!(f->warned >> i & 1))
            av_log(f, AV_LOG_WARNING,
                   "a frame has no %s and is made without; further ones are not told\n", name);
        f->warned |= 1u << i;
    }
    return 0;
}

/** Properties go from colour to the output: one that is an input would lose its own. */
static int check_distinct(struct hs_avfilter *f, const AVFrame *const inputs[HS_AVFILTER_INPUTS],
                          const AVFrame *out)
{
    for (int i = 0; i < HS_AVFILTER_INPUTS; i++) {
        if (inputs[i] == out) {
            av_log(f, AV_LOG_ERROR, "output: the frame is that of %s, too\n",
                   hs_avfilter_input_name((enum hs_avfilter_input)i));
            return AVERROR(EINVAL);
        }
    }
    return 0;
}

/** A buffer for the output, unless the caller has brought one. */
static int make_output(struct hs_avfilter *f, AVFrame *out)
{
    if (out->buf[0])
        return 0;
    if (f->out.format == AV_PIX_FMT_VULKAN)
        return av_hwframe_get_buffer(f->out_frames, out, 0);
    out->format = f->out.format;
    out->width = f->out.width;
    out->height = f->out.height;
    return av_frame_get_buffer(out, 0);
}

/** Everything about colour but what holds only at its size, and nothing of an earlier frame. */
static int copy_properties(const struct hs_avfilter *f, const AVFrame *colour, AVFrame *out)
{
    static const enum AVFrameSideDataType by_size[] = {
        AV_FRAME_DATA_PANSCAN,           AV_FRAME_DATA_MOTION_VECTORS,
        AV_FRAME_DATA_SPHERICAL,         AV_FRAME_DATA_REGIONS_OF_INTEREST,
        AV_FRAME_DATA_VIDEO_ENC_PARAMS,  AV_FRAME_DATA_DETECTION_BBOXES,
        AV_FRAME_DATA_FILM_GRAIN_PARAMS, AV_FRAME_DATA_VIDEO_HINT,
    };
    int err;

    av_dict_free(&out->metadata);
    while (out->nb_side_data)
        av_frame_remove_side_data(out, out->side_data[0]->type);
    err = av_frame_copy_props(out, colour);
    for (size_t i = 0; i < FF_ARRAY_ELEMS(by_size); i++)
        av_frame_remove_side_data(out, by_size[i]);
    out->crop_left = out->crop_right = out->crop_top = out->crop_bottom = 0;
    out->sample_aspect_ratio = f->out.sample_aspect_ratio;
    return err;
}

int hs_avfilter_run(struct hs_avfilter *f, const AVFrame *const inputs[HS_AVFILTER_INPUTS],
                    AVFrame *out)
{
    const AVFrame *colour = inputs[HS_AVFILTER_COLOUR];
    const bool blank = !out->buf[0];
    struct hsio_frame_info info;
    struct hsframe_options frame_options;
    struct hs_camera camera;
    struct hs_frame frame;
    int err;

    if (!f->configured || !colour) {
        av_log(f, AV_LOG_ERROR, "%s\n",
               colour ? "a frame came before the formats were set" : "the frame has no colour");
        return AVERROR(EINVAL);
    }
    err = check_distinct(f, inputs, out);
    if (!err)
        err = check_missing(f, inputs);
    if (!err)
        err = describe(f, inputs, &info);
    if (!err)
        err = hs_av_output_check(f, out);
    if (err < 0)
        return err;
    frame_options = (struct hsframe_options){
        .auto_exposure = f->auto_exposure,
        .exposure = f->exposure,
        .sharpness = f->sharpness,
        .firefly_clamp = f->firefly_clamp,
        // Time that runs backwards is a seek.
        .reset = f->reset || f->broken || f->skipped ||
                 (colour->pts != AV_NOPTS_VALUE && f->last_pts != AV_NOPTS_VALUE &&
                  colour->pts < f->last_pts),
    };
    err = hs_av_error(hsframe_setup(&info, &frame_options, f->out.width, f->out.height, &f->log,
                                    &camera, &frame));
    if (!err && f->info.guides)
        err = hs_av_error(hsframe_check_guides(&info, &f->log));
    // A refused frame leaves history as it is.
    if (!err)
        err = follow_transfer(f, colour);
    if (err < 0)
        return err;
    err = make_output(f, out);
    if (!err)
        err = hs_av_submit(f, inputs, out, &frame);
    if (!err)
        err = copy_properties(f, colour, out);
    if (err < 0) {
        if (blank)
            av_frame_unref(out);
        return err;
    }
    f->reset = 0;
    f->skipped = false;
    f->frame_count++;
    f->last_pts = colour->pts;
    return 0;
}
