/*
 * This file is part of FFmpeg.
 *
 * SPDX-License-Identifier: MIT
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software and associated documentation files (the "Software"), to deal
 * in the Software without restriction, including without limitation the rights
 * to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is
 * furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in
 * all copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 */

/**
 * @file
 * Temporal super-resolution of rendered sequences with libhindsight-avfilter.
 */

#include <hindsight/avfilter.h>

#include <string.h>

#include "libavutil/hwcontext.h"
#include "libavutil/mem.h"
#include "libavutil/opt.h"

#include "avfilter.h"
#include "filters.h"
#include "formats.h"
#include "framesync.h"
#include "version_major.h"
#include "video.h"

/** Bits of the inputs that may be chosen. */
#define PLANES ((1 << HS_AVFILTER_INPUTS) - 1 - (1 << HS_AVFILTER_COLOUR))

typedef struct HindsightContext {
    const AVClass *class;

    struct hs_avfilter *hs;
    FFFrameSync fs;

    int planes;                   ///< bits of the optional inputs
    int pads[HS_AVFILTER_INPUTS]; ///< index of each input's pad, -1: none
    char *aovs;                   ///< kinds, one after the other
    enum hs_avfilter_aov_kind kinds[HS_AVFILTER_AOV_MAX];
    int nb_aovs;
    int aov_pad; ///< index of the first one's input; its output is the second one
    int opened;
    int64_t last_pts; ///< of colour, in the time base of fs
} HindsightContext;

static av_cold int preinit(AVFilterContext *ctx)
{
    HindsightContext *s = ctx->priv;

    s->hs = hs_avfilter_alloc();
    return s->hs ? 0 : AVERROR(ENOMEM);
}

static int config_aov(AVFilterLink *outlink);

static av_cold int parse_aovs(AVFilterContext *ctx)
{
    HindsightContext *s = ctx->priv;

    const char *kind = s->aovs && *s->aovs ? s->aovs : NULL;

    while (kind) {
        size_t length = strcspn(kind, "|");

        if (s->nb_aovs == HS_AVFILTER_AOV_MAX) {
            av_log(ctx, AV_LOG_ERROR, "aovs: at most %d\n", HS_AVFILTER_AOV_MAX);
            return AVERROR(EINVAL);
        }
        if (length == 5 && !strncmp(kind, "light", length)) {
            s->kinds[s->nb_aovs++] = HS_AVFILTER_AOV_LIGHT;
        } else if (length == 4 && !strncmp(kind, "data", length)) {
            s->kinds[s->nb_aovs++] = HS_AVFILTER_AOV_DATA;
        } else {
            av_log(ctx, AV_LOG_ERROR, "aovs: light and data are kinds, \"%.*s\" is not\n",
                   (int)length, kind);
            return AVERROR(EINVAL);
        }
        kind = kind[length] ? kind + length + 1 : NULL;
    }

    return 0;
}

/** An input and an output for each AOV, behind the others. */
static av_cold int append_aovs(AVFilterContext *ctx)
{
    HindsightContext *s = ctx->priv;
    int ret;

    if ((ret = parse_aovs(ctx)) < 0)
        return ret;
    s->aov_pad = ctx->nb_inputs;
    for (int i = 0; i < s->nb_aovs; i++) {
        AVFilterPad in = {
            .name = hs_avfilter_input_name(HS_AVFILTER_AOV + i),
            .type = AVMEDIA_TYPE_VIDEO,
        };
        AVFilterPad out = in;

        out.config_props = config_aov;
        if ((ret = ff_append_inpad(ctx, &in)) < 0 || (ret = ff_append_outpad(ctx, &out)) < 0)
            return ret;
    }

    return 0;
}

static av_cold int init(AVFilterContext *ctx)
{
    HindsightContext *s = ctx->priv;
    int ret;

    if (s->planes & ~PLANES) {
        av_log(ctx, AV_LOG_ERROR, "planes: 0x%x is none of the inputs\n", s->planes & ~PLANES);
        return AVERROR(EINVAL);
    }
    for (int i = 0; i < HS_AVFILTER_INPUTS; i++) {
        AVFilterPad pad = {
            .name = hs_avfilter_input_name(i),
            .type = AVMEDIA_TYPE_VIDEO,
        };

        s->pads[i] = -1;
        if (i != HS_AVFILTER_COLOUR && !(s->planes >> i & 1))
            continue;
        s->pads[i] = ctx->nb_inputs;
        if ((ret = ff_append_inpad(ctx, &pad)) < 0)
            return ret;
    }
    hs_avfilter_set_inputs(s->hs, s->planes);

    return append_aovs(ctx);
}

static av_cold void uninit(AVFilterContext *ctx)
{
    HindsightContext *s = ctx->priv;

    ff_framesync_uninit(&s->fs);
    hs_avfilter_free(&s->hs);
}

static AVFilterFormats *make_formats(enum hs_avfilter_input input)
{
    const enum AVPixelFormat *fmts = hs_avfilter_formats(input, false);
    AVFilterFormats *list = NULL;

    /* AOVs come out as they come in, in system memory */
    if (input < HS_AVFILTER_AOV && ff_add_format(&list, AV_PIX_FMT_VULKAN) < 0)
        return NULL;
    for (; *fmts != AV_PIX_FMT_NONE; fmts++) {
        if (ff_add_format(&list, *fmts) < 0)
            return NULL;
    }

    return list;
}

static int has_format(const enum AVPixelFormat *list, enum AVPixelFormat format)
{
    while (*list != AV_PIX_FMT_NONE && *list != format)
        list++;

    return *list == format;
}

static int query_formats(const AVFilterContext *ctx, AVFilterFormatsConfig **cfg_in,
                         AVFilterFormatsConfig **cfg_out)
{
    const HindsightContext *s = ctx->priv;
    enum AVPixelFormat format = AV_PIX_FMT_NONE;
    AVFilterFormats *list = NULL;
    int ret;

    for (int i = 0; i < HS_AVFILTER_INPUTS; i++) {
        if (s->pads[i] < 0)
            continue;
        ret = ff_formats_ref(make_formats(i), &cfg_in[s->pads[i]]->formats);
        if (ret < 0)
            return ret;
    }

    for (int i = 0; i < s->nb_aovs; i++) {
        AVFilterFormats *both = make_formats(HS_AVFILTER_AOV + i);

        if ((ret = ff_formats_ref(both, &cfg_in[s->aov_pad + i]->formats)) < 0 ||
            (ret = ff_formats_ref(both, &cfg_out[1 + i]->formats)) < 0)
            return ret;
    }

    if ((ret = av_opt_get_pixel_fmt(s->hs, "format", 0, &format)) < 0)
        return ret;
    if (format == AV_PIX_FMT_NONE)
        return ff_formats_ref(make_formats(HS_AVFILTER_INPUTS), &cfg_out[0]->formats);
    if ((has_format(hs_avfilter_formats(HS_AVFILTER_INPUTS, true), format) &&
         (ret = ff_add_format(&list, AV_PIX_FMT_VULKAN)) < 0) ||
        (ret = ff_add_format(&list, format)) < 0)
        return ret;

    return ff_formats_ref(list, &cfg_out[0]->formats);
}

/** Half of a colour frame, in the time base of fs: as the link, the frame or the last one tells. */
static int64_t half_frame(const FFFrameSync *fs, const AVFrame *colour)
{
    AVFilterContext *ctx = fs->parent;
    const HindsightContext *s = ctx->priv;
    const FilterLink *il = ff_filter_link(ctx->inputs[0]);

    if (il->frame_rate.num > 0 && il->frame_rate.den > 0)
        return av_rescale_q(1, av_inv_q(il->frame_rate), fs->time_base) / 2;
    if (colour->duration > 0)
        return av_rescale_q(colour->duration, ctx->inputs[0]->time_base, fs->time_base) / 2;
    if (s->last_pts != AV_NOPTS_VALUE && fs->pts > s->last_pts)
        return (fs->pts - s->last_pts) / 2;
    return 0;
}

/** The frame of an input that belongs to colour; NULL: it has none of that time. */
static int get_plane(FFFrameSync *fs, int pad, int64_t half, const AVFrame **plane)
{
    AVFilterContext *ctx = fs->parent;
    AVFrame *frame = NULL;
    int64_t slack;
    int ret;

    if ((ret = ff_framesync_get_frame(fs, pad, &frame, 0)) < 0)
        return ret;
    /* half of a unit is lost when two time bases round differently */
    slack = FFMAX(av_rescale_q(1, ctx->inputs[0]->time_base, fs->time_base),
                  av_rescale_q(1, ctx->inputs[pad]->time_base, fs->time_base)) /
            2;
    /* framesync holds frames; one of another time is no plane of this frame */
    *plane = frame && FFABS(frame->pts - fs->pts) <= FFMAX(half, slack) ? frame : NULL;

    return 0;
}

static int push(FFFrameSync *fs, AVFilterLink *outlink, AVFrame *out)
{
    AVFilterContext *ctx = fs->parent;

    /* nobody takes it any more */
    if (ff_outlink_get_status(outlink)) {
        av_frame_free(&out);
        return 0;
    }
    out->pts = av_rescale_q(fs->pts, fs->time_base, outlink->time_base);
    out->duration = av_rescale_q(out->duration, ctx->inputs[0]->time_base, outlink->time_base);

    return ff_filter_frame(outlink, out);
}

static int process_frame(FFFrameSync *fs)
{
    AVFilterContext *ctx = fs->parent;
    HindsightContext *s = ctx->priv;
    const AVFrame *inputs[HS_AVFILTER_INPUTS] = {NULL};
    struct hs_avfilter_aov aovs[HS_AVFILTER_AOV_MAX] = {{NULL}};
    AVFrame *colour = NULL, *out = NULL;
    int64_t half;
    int ret;

    if ((ret = ff_framesync_get_frame(fs, s->pads[HS_AVFILTER_COLOUR], &colour, 0)) < 0)
        return ret;
    if (!colour)
        return 0;
    half = half_frame(fs, colour);
    s->last_pts = fs->pts;

    inputs[HS_AVFILTER_COLOUR] = colour;
    for (int i = HS_AVFILTER_COLOUR + 1; i < HS_AVFILTER_INPUTS; i++) {
        if (s->pads[i] >= 0 && (ret = get_plane(fs, s->pads[i], half, &inputs[i])) < 0)
            return ret;
    }
    for (int i = 0; i < s->nb_aovs; i++) {
        aovs[i].kind = s->kinds[i];
        if ((ret = get_plane(fs, s->aov_pad + i, half, &aovs[i].in)) < 0)
            goto fail;
        if (!(aovs[i].out = av_frame_alloc()))
            goto nomem;
    }

    if (!(out = av_frame_alloc()))
        goto nomem;
    if ((ret = hs_avfilter_run_aovs(s->hs, inputs, aovs, s->nb_aovs, out)) < 0) {
        /* told once: who goes on gets the next frame, without a history that misses this one */
        fs->frame_ready = 0;
        av_opt_set_int(s->hs, "reset", 1, 0);
        goto fail;
    }
    ret = push(fs, ctx->outputs[0], out);
    out = NULL;
    for (int i = 0; ret >= 0 && i < s->nb_aovs; i++) {
        ret = push(fs, ctx->outputs[1 + i], aovs[i].out);
        aovs[i].out = NULL;
    }
    goto fail;
nomem:
    ret = AVERROR(ENOMEM);
fail:
    av_frame_free(&out);
    for (int i = 0; i < s->nb_aovs; i++)
        av_frame_free(&aovs[i].out);

    return ret;
}

static int config_sync(AVFilterContext *ctx)
{
    HindsightContext *s = ctx->priv;
    const unsigned nb_outputs = ctx->nb_outputs;
    int ret;

    ff_framesync_uninit(&s->fs);
    /* it drives the first output and wants to see no other: activate() has the rest */
    ctx->nb_outputs = 1;
    ret = ff_framesync_init(&s->fs, ctx, ctx->nb_inputs);
    ctx->nb_outputs = nb_outputs;
    if (ret < 0)
        return ret;
    s->last_pts = AV_NOPTS_VALUE;
    s->fs.opaque = s;
    s->fs.on_event = process_frame;
    for (int i = 0; i < ctx->nb_inputs; i++) {
        s->fs.in[i].time_base = ctx->inputs[i]->time_base;
        s->fs.in[i].sync = i == 0;
        s->fs.in[i].before = i == 0 ? EXT_STOP : EXT_NULL;
        s->fs.in[i].after = i == 0 ? EXT_STOP : EXT_NULL;
    }
    if ((ret = ff_framesync_configure(&s->fs)) < 0)
        return ret;
    for (int i = 1; i < ctx->nb_inputs; i++)
        s->fs.in[i].ts_mode = TS_NEAREST;

    return 0;
}

static int config_output(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;
    HindsightContext *s = ctx->priv;
    AVFilterLink *inlink = ctx->inputs[0];
    FilterLink *il = ff_filter_link(inlink);
    FilterLink *ol = ff_filter_link(outlink);
    struct hs_avfilter_format in, out,
        request = {
            .format = outlink->format,
            .sw_format = AV_PIX_FMT_NONE,
        };
    AVBufferRef *device = ctx->hw_device_ctx;
    int ret;

    if (il->hw_frames_ctx)
        device = ((AVHWFramesContext *)il->hw_frames_ctx->data)->device_ref;
    if (!s->opened && (ret = hs_avfilter_open(s->hs, device)) < 0)
        return ret;
    s->opened = 1;

    if ((ret = config_sync(ctx)) < 0)
        return ret;

    in = (struct hs_avfilter_format){
        .format = inlink->format,
        .width = inlink->w,
        .height = inlink->h,
        .hw_frames_ctx = il->hw_frames_ctx,
        .color_trc = AVCOL_TRC_UNSPECIFIED,
        .sample_aspect_ratio = inlink->sample_aspect_ratio,
        .time_base = s->fs.time_base,
        .frame_rate = il->frame_rate,
    };
    if ((ret = hs_avfilter_configure(s->hs, &in, &request, &out)) < 0)
        return ret;

    outlink->w = out.width;
    outlink->h = out.height;
    outlink->sample_aspect_ratio = out.sample_aspect_ratio;
    outlink->time_base = s->fs.time_base;
    ol->frame_rate = il->frame_rate;
    av_buffer_unref(&ol->hw_frames_ctx);
    if (out.hw_frames_ctx && !(ol->hw_frames_ctx = av_buffer_ref(out.hw_frames_ctx)))
        return AVERROR(ENOMEM);

    return 0;
}

/** As the picture's link, which comes later if the AOV's sink is the first one of the graph. */
static int config_aov(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;
    AVFilterLink *main = ctx->outputs[0];
    int ret;

    if (!main->w && (ret = config_output(main)) < 0)
        return ret;
    outlink->w = main->w;
    outlink->h = main->h;
    outlink->sample_aspect_ratio = main->sample_aspect_ratio;
    outlink->time_base = main->time_base;
    ff_filter_link(outlink)->frame_rate = ff_filter_link(ctx->outputs[0])->frame_rate;

    return 0;
}

/** framesync knows of the first output only. */
static int activate(AVFilterContext *ctx)
{
    HindsightContext *s = ctx->priv;
    int ret = ff_framesync_activate(&s->fs), wanted = 0;

    for (int i = 0; i < s->nb_aovs; i++) {
        AVFilterLink *outlink = ctx->outputs[1 + i];

        if (s->fs.eof || ff_outlink_get_status(ctx->outputs[0]))
            ff_outlink_set_status(outlink, AVERROR_EOF, s->fs.pts);
        else
            wanted |= ff_outlink_frame_wanted(outlink);
    }
    if (ret != FFERROR_NOT_READY || !wanted)
        return ret;
    for (int i = 0; i < ctx->nb_inputs; i++) {
        if (!ff_inlink_queued_frames(ctx->inputs[i]) && !ff_outlink_get_status(ctx->inputs[i]))
            ff_inlink_request_frame(ctx->inputs[i]);
    }

    return 0;
}

static int process_command(AVFilterContext *ctx, const char *cmd, const char *arg, char *res,
                           int res_len, int flags)
{
    HindsightContext *s = ctx->priv;

    return hs_avfilter_command(s->hs, cmd, arg);
}

static void *child_next(void *obj, void *prev)
{
    HindsightContext *s = obj;

    return prev ? NULL : s->hs;
}

static const AVClass *child_class_iterate(void **iter)
{
    const AVClass *c = *iter ? NULL : hs_avfilter_get_class();

    *iter = (void *)c;
    return c;
}

#define OFFSET(x) offsetof(HindsightContext, x)
#define FLAGS AV_OPT_FLAG_VIDEO_PARAM | AV_OPT_FLAG_FILTERING_PARAM
static const AVOption hindsight_vulkan_options[] = {
    {"planes",
     "set the inputs besides colour",
     OFFSET(planes),
     AV_OPT_TYPE_FLAGS,
     {.i64 = 1 << HS_AVFILTER_DEPTH | 1 << HS_AVFILTER_MOTION},
     0,
     INT_MAX,
     FLAGS,
     .unit = "planes"},
    {"depth",
     "depth",
     0,
     AV_OPT_TYPE_CONST,
     {.i64 = 1 << HS_AVFILTER_DEPTH},
     0,
     0,
     FLAGS,
     .unit = "planes"},
    {"motion",
     "motion vectors",
     0,
     AV_OPT_TYPE_CONST,
     {.i64 = 1 << HS_AVFILTER_MOTION},
     0,
     0,
     FLAGS,
     .unit = "planes"},
    {"reactive",
     "reactive mask",
     0,
     AV_OPT_TYPE_CONST,
     {.i64 = 1 << HS_AVFILTER_REACTIVE},
     0,
     0,
     FLAGS,
     .unit = "planes"},
    {"diffuse_albedo",
     "diffuse reflectance",
     0,
     AV_OPT_TYPE_CONST,
     {.i64 = 1 << HS_AVFILTER_DIFFUSE_ALBEDO},
     0,
     0,
     FLAGS,
     .unit = "planes"},
    {"specular_albedo",
     "specular reflectance",
     0,
     AV_OPT_TYPE_CONST,
     {.i64 = 1 << HS_AVFILTER_SPECULAR_ALBEDO},
     0,
     0,
     FLAGS,
     .unit = "planes"},
    {"normal",
     "normals",
     0,
     AV_OPT_TYPE_CONST,
     {.i64 = 1 << HS_AVFILTER_NORMAL},
     0,
     0,
     FLAGS,
     .unit = "planes"},
    {"roughness",
     "roughness",
     0,
     AV_OPT_TYPE_CONST,
     {.i64 = 1 << HS_AVFILTER_ROUGHNESS},
     0,
     0,
     FLAGS,
     .unit = "planes"},
    {"hit_distance",
     "length of reflected rays",
     0,
     AV_OPT_TYPE_CONST,
     {.i64 = 1 << HS_AVFILTER_HIT_DISTANCE},
     0,
     0,
     FLAGS,
     .unit = "planes"},
    {"aovs",
     "set the kinds of the AOVs, light or data, with | between them",
     OFFSET(aovs),
     AV_OPT_TYPE_STRING,
     {.str = ""},
     0,
     0,
     FLAGS},
    {NULL}};

static const AVClass hindsight_vulkan_class = {
    .class_name = "hindsight_vulkan",
    .item_name = av_default_item_name,
    .option = hindsight_vulkan_options,
    .version = LIBAVUTIL_VERSION_INT,
    .category = AV_CLASS_CATEGORY_FILTER,
    .child_next = child_next,
    .child_class_iterate = child_class_iterate,
};

static const AVFilterPad hindsight_vulkan_outputs[] = {
    {
        .name = "default",
        .type = AVMEDIA_TYPE_VIDEO,
        .config_props = config_output,
    },
};

#define DESCRIPTION \
    NULL_IF_CONFIG_SMALL("Upscale rendered sequences with depth and motion vectors.")
#define FILTER_FLAGS \
    AVFILTER_FLAG_HWDEVICE | AVFILTER_FLAG_DYNAMIC_INPUTS | AVFILTER_FLAG_DYNAMIC_OUTPUTS

#if LIBAVFILTER_VERSION_MAJOR >= 11
const FFFilter ff_vf_hindsight_vulkan = {
    .p.name = "hindsight_vulkan",
    .p.description = DESCRIPTION,
    .p.priv_class = &hindsight_vulkan_class,
    .p.flags = FILTER_FLAGS,
#else
const AVFilter ff_vf_hindsight_vulkan = {
    .name = "hindsight_vulkan",
    .description = DESCRIPTION,
    .priv_class = &hindsight_vulkan_class,
    .flags = FILTER_FLAGS,
#endif
    .priv_size = sizeof(HindsightContext),
    .preinit = preinit,
    .init = init,
    .uninit = uninit,
    .activate = activate,
    .process_command = process_command,
    .flags_internal = FF_FILTER_FLAG_HWFRAME_AWARE,
    FILTER_OUTPUTS(hindsight_vulkan_outputs),
    FILTER_QUERY_FUNC2(query_formats),
};
