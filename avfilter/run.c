// SPDX-License-Identifier: MIT
// A frame from its inputs to its output.
#include "internal.h"

#include <string.h>

#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>

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
static int check_distinct(struct hs_avfilter *f, const struct hs_av_job *job)
{
    for (int p = 0; p < HS_AV_PLANES; p++) {
        const AVFrame *out = hs_av_is_output(p) ? hs_av_job_frame(job, p) : NULL;

        for (int q = 0; out && q < HS_AV_PLANES; q++) {
            if (q == p || hs_av_job_frame(job, q) != out)
                continue;
            av_log(f, AV_LOG_ERROR, "%s: the frame is that of %s, too\n",
                   hs_avfilter_input_name((enum hs_avfilter_input)p),
                   hs_avfilter_input_name((enum hs_avfilter_input)q));
            return AVERROR(EINVAL);
        }
    }
    return 0;
}

/** Both frames of each AOV, and their sizes. Errors: EINVAL, after a message. */
static int check_aovs(struct hs_avfilter *f, const struct hs_av_job *job)
{
    const AVFrame *colour = job->inputs[HS_AVFILTER_COLOUR];
    int err = 0;

    if (job->aov_count < 0 || job->aov_count > HS_AVFILTER_AOV_MAX) {
        av_log(f, AV_LOG_ERROR, "%d AOVs; a frame has at most %d\n", job->aov_count,
               HS_AVFILTER_AOV_MAX);
        return AVERROR(EINVAL);
    }
    for (int i = 0; !err && i < job->aov_count; i++) {
        const struct hs_avfilter_aov *aov = &job->aovs[i];

        if (!aov->in || !aov->out ||
            (aov->kind != HS_AVFILTER_AOV_LIGHT && aov->kind != HS_AVFILTER_AOV_DATA)) {
            av_log(f, AV_LOG_ERROR,
                   "aov%d: the frame at %.6f s has none of it, or it is of no "
                   "known kind\n",
                   i, (double)colour->pts * av_q2d(f->in.time_base));
            return AVERROR(EINVAL);
        }
        err = hs_av_frame_check(f, HS_AV_AOV_IN + i, aov->in);
        if (!err && (aov->in->width != colour->width || aov->in->height != colour->height)) {
            av_log(f, AV_LOG_ERROR, "aov%d: expected %dx%d, found %dx%d\n", i, colour->width,
                   colour->height, aov->in->width, aov->in->height);
            err = AVERROR(EINVAL);
        }
        if (!err && aov->out->buf[0])
            err = hs_av_frame_check(f, HS_AV_AOV_OUT + i, aov->out);
        if (!err && aov->out->buf[0] &&
            (aov->out->width != f->out.width || aov->out->height != f->out.height)) {
            av_log(f, AV_LOG_ERROR, "output of aov%d: expected %dx%d, found %dx%d\n", i,
                   f->out.width, f->out.height, aov->out->width, aov->out->height);
            err = AVERROR(EINVAL);
        }
    }
    return err;
}

/** A buffer in system memory for an AOV, in its pixels, unless the caller has brought one. */
static int make_aov(const struct hs_avfilter *f, const struct hs_avfilter_aov *aov)
{
    const AVHWFramesContext *frames;

    if (aov->out->buf[0])
        return 0;
    aov->out->format = aov->in->format;
    if (aov->in->format == AV_PIX_FMT_VULKAN) {
        frames = (const AVHWFramesContext *)(const void *)aov->in->hw_frames_ctx->data;
        aov->out->format = frames->sw_format;
    }
    aov->out->width = f->out.width;
    aov->out->height = f->out.height;
    return av_frame_get_buffer(aov->out, 0);
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
static int copy_properties(const struct hs_avfilter *f, const AVFrame *colour,
                           const struct hs_look *look, AVFrame *out)
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
    if (look->curve == HS_LOOK_ACES)
        out->color_trc = AVCOL_TRC_GAMMA22;
    return err;
}

/** Whether the frame can be run; reads what belongs to it and is no plane. */
static int check(struct hs_avfilter *f, const struct hs_av_job *job, struct hsio_frame_info *info,
                 struct hs_look *look)
{
    const AVFrame *colour = job->inputs[HS_AVFILTER_COLOUR];
    int err;

    if (!f->configured || !colour) {
        av_log(f, AV_LOG_ERROR, "%s\n",
               colour ? "a frame came before the formats were set" : "the frame has no colour");
        return AVERROR(EINVAL);
    }
    err = check_aovs(f, job);
    if (!err)
        err = check_distinct(f, job);
    if (!err)
        err = check_missing(f, job->inputs);
    if (!err)
        err = describe(f, job->inputs, info);
    if (!err)
        err = hs_av_output_check(f, job->out);
    if (!err)
        err = hs_av_look_read(f, look);
    return err;
}

/** Everything of the frame but its images. A refused one leaves history as it is. */
static int set_up(struct hs_avfilter *f, const AVFrame *colour, const struct hsio_frame_info *info,
                  const struct hs_look *look, struct hs_camera *camera, struct hs_frame *frame)
{
    const struct hsframe_options options = {
        .auto_exposure = f->auto_exposure,
        .exposure = f->exposure,
        .sharpness = f->sharpness,
        .firefly_clamp = f->firefly_clamp,
        .look = *look,
        // Time that runs backwards is a seek.
        .reset = f->reset || f->broken || f->skipped ||
                 (colour->pts != AV_NOPTS_VALUE && f->last_pts != AV_NOPTS_VALUE &&
                  colour->pts < f->last_pts),
    };
    int err = hs_av_error(
        hsframe_setup(info, &options, f->out.width, f->out.height, &f->log, camera, frame));

    if (!err && (f->info.guides || f->denoiser))
        err = hs_av_error(hsframe_check_guides(info, &f->log));
    return err ? err : hs_av_transfer_follow(f, colour);
}

/** Buffers, pixels and properties of everything that comes out. */
static int fill(struct hs_avfilter *f, struct hs_av_job *job, struct hs_frame *frame)
{
    const AVFrame *colour = job->inputs[HS_AVFILTER_COLOUR];
    const struct hs_look none = {0};
    AVFrame *denoised = NULL;
    int err = make_output(f, job->out);

    for (int i = 0; !err && i < job->aov_count; i++)
        err = make_aov(f, &job->aovs[i]);
    if (!err && f->denoiser)
        err = hs_av_oidn_run(f, job->inputs, &denoised);
    if (denoised)
        job->inputs[HS_AVFILTER_COLOUR] = denoised;
    if (!err)
        err = hs_av_submit(f, job, frame);
    av_frame_free(&denoised);
    if (!err)
        err = copy_properties(f, colour, &frame->look, job->out);
    for (int i = 0; !err && i < job->aov_count; i++)
        err = copy_properties(f, job->aovs[i].in, &none, job->aovs[i].out);
    return err;
}

int hs_avfilter_run_aovs(struct hs_avfilter *f, const AVFrame *const inputs[HS_AVFILTER_INPUTS],
                         const struct hs_avfilter_aov *aovs, int aov_count, AVFrame *out)
{
    const AVFrame *colour = inputs[HS_AVFILTER_COLOUR];
    struct hs_av_job job = {.out = out, .aovs = aovs, .aov_count = aov_count};
    bool blank[1 + HS_AVFILTER_AOV_MAX];
    struct hsio_frame_info info;
    struct hs_camera camera;
    struct hs_frame frame;
    struct hs_look look;
    int err;

    memcpy(job.inputs, inputs, sizeof(job.inputs));
    err = check(f, &job, &info, &look);
    if (!err)
        err = set_up(f, colour, &info, &look, &camera, &frame);
    if (err < 0)
        return err;
    // A frame that stands in for a missing one does not move.
    if (info.held)
        job.inputs[HS_AVFILTER_MOTION] = NULL;
    blank[0] = !out->buf[0];
    for (int i = 0; i < aov_count; i++)
        blank[1 + i] = !aovs[i].out->buf[0];
    err = fill(f, &job, &frame);
    if (err < 0) {
        if (blank[0])
            av_frame_unref(out);
        for (int i = 0; i < aov_count; i++) {
            if (blank[1 + i])
                av_frame_unref(aovs[i].out);
        }
        return err;
    }
    f->reset = 0;
    f->skipped = false;
    f->frame_count++;
    f->last_pts = colour->pts;
    return 0;
}

int hs_avfilter_run(struct hs_avfilter *f, const AVFrame *const inputs[HS_AVFILTER_INPUTS],
                    AVFrame *out)
{
    return hs_avfilter_run_aovs(f, inputs, NULL, 0, out);
}
