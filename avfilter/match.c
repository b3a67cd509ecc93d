// SPDX-License-Identifier: MIT
// Pairing the frames of the inputs by their timestamps.
#include "internal.h"

#include <math.h>
#include <string.h>

#include <libavutil/mathematics.h>
#include <libavutil/mem.h>

static void drop(struct hs_av_queue *queue)
{
    queue->gone = queue->frames[0]->pts;
    av_frame_free(&queue->frames[0]);
    queue->count--;
    memmove(queue->frames, queue->frames + 1, (size_t)queue->count * sizeof(*queue->frames));
}

void hs_av_queues_clear(struct hs_avfilter *f)
{
    for (int i = 0; i < HS_AVFILTER_INPUTS; i++) {
        while (f->queues[i].count)
            drop(&f->queues[i]);
        av_freep(&f->queues[i].frames);
        f->queues[i] = (struct hs_av_queue){.gone = AV_NOPTS_VALUE};
    }
    f->queues[HS_AVFILTER_COLOUR].on = true;
}

void hs_avfilter_set_inputs(struct hs_avfilter *f, unsigned mask)
{
    hs_av_queues_clear(f);
    for (int i = 1; i < HS_AVFILTER_INPUTS; i++)
        f->queues[i].on = mask >> i & 1;
}

int hs_avfilter_send(struct hs_avfilter *f, enum hs_avfilter_input input, const AVFrame *frame,
                     AVRational time_base)
{
    struct hs_av_queue *queue;
    AVFrame *copy;

    if ((unsigned)input >= HS_AVFILTER_INPUTS || !f->queues[input].on || f->queues[input].ended) {
        av_log(f, AV_LOG_ERROR, "%s: the input was not set, or has ended\n",
               hs_avfilter_input_name(input));
        return AVERROR(EINVAL);
    }
    queue = &f->queues[input];
    if (!frame) {
        queue->ended = true;
        return 0;
    }
    if (!frame->buf[0] || !frame->data[0]) {
        av_log(f, AV_LOG_ERROR, "%s: the frame has no pixels\n", hs_avfilter_input_name(input));
        return AVERROR(EINVAL);
    }
    if (frame->pts == AV_NOPTS_VALUE || time_base.num <= 0 || time_base.den <= 0 ||
        (queue->time_base.den && !av_cmp_q(time_base, queue->time_base) &&
         frame->pts <= queue->last)) {
        av_log(f, AV_LOG_ERROR, "%s: timestamps must be there, and grow\n",
               hs_avfilter_input_name(input));
        return AVERROR(EINVAL);
    }
    if (queue->time_base.den && av_cmp_q(time_base, queue->time_base)) {
        av_log(f, AV_LOG_ERROR, "%s: the time base was %d/%d and can not become %d/%d\n",
               hs_avfilter_input_name(input), queue->time_base.num, queue->time_base.den,
               time_base.num, time_base.den);
        return AVERROR(EINVAL);
    }
    if (queue->count == queue->room) {
        AVFrame **grown = av_realloc_array(queue->frames, (size_t)queue->room + 8, sizeof(*grown));

        if (!grown)
            return AVERROR(ENOMEM);
        queue->frames = grown;
        queue->room += 8;
    }
    copy = av_frame_clone(frame);
    if (!copy)
        return AVERROR(ENOMEM);
    queue->frames[queue->count++] = copy;
    queue->time_base = time_base;
    queue->last = frame->pts;
    return 0;
}

/** Half a frame at the oldest colour frame, in its time base; 0: nobody has told yet. */
static double half_frame(const struct hs_avfilter *f)
{
    const struct hs_av_queue *colour = &f->queues[HS_AVFILTER_COLOUR];
    const double half = hs_av_half_frame(f, colour->frames[0]);
    const double pts = (double)colour->frames[0]->pts;

    if (half > 0)
        return half;
    // Colour itself tells how far its frames are apart, if nobody else does.
    if (colour->gone != AV_NOPTS_VALUE)
        return (pts - (double)colour->gone) / 2;
    return colour->count > 1 ? ((double)colour->frames[1]->pts - pts) / 2 : 0;
}

/** Whether the only colour frame so far can not be paired before the next one is there. */
static bool lacks_spacing(const struct hs_avfilter *f)
{
    if (f->queues[HS_AVFILTER_COLOUR].ended || half_frame(f) > 0)
        return false;
    for (int i = 1; i < HS_AVFILTER_INPUTS; i++) {
        if (f->queues[i].on && (f->queues[i].count || !f->queues[i].ended))
            return true;
    }
    return false;
}

/** How much later than the colour frame a plane's frame is, in colour's time base. */
static double lateness(const struct hs_avfilter *f, const struct hs_av_queue *queue, int index)
{
    const struct hs_av_queue *colour = &f->queues[HS_AVFILTER_COLOUR];

    return (double)queue->frames[index]->pts * av_q2d(queue->time_base) /
               av_q2d(colour->time_base) -
           (double)colour->frames[0]->pts;
}

/** How far from the colour frame's time a plane's frame may be. */
static double tolerance(const struct hs_avfilter *f)
{
    // Half of a unit is lost when two time bases round differently.
    return fmax(half_frame(f), 0.5);
}

/** Whether the next frame of a plane may be the nearest one to the colour frame. */
static bool needs_next(const struct hs_avfilter *f, const struct hs_av_queue *queue)
{
    const double unit = av_q2d(queue->time_base) / av_q2d(f->queues[HS_AVFILTER_COLOUR].time_base);

    if (!queue->on || queue->ended || queue->count > 1)
        return false;
    return !queue->count || lateness(f, queue, 0) < -unit / 2;
}

int hs_avfilter_wanted(const struct hs_avfilter *f)
{
    const struct hs_av_queue *colour = &f->queues[HS_AVFILTER_COLOUR];

    if (!colour->count)
        return colour->ended ? -1 : HS_AVFILTER_COLOUR;
    if (lacks_spacing(f))
        return HS_AVFILTER_COLOUR;
    for (int i = 1; i < HS_AVFILTER_INPUTS; i++) {
        if (needs_next(f, &f->queues[i]))
            return i;
    }
    return -1;
}

static int configure_by(struct hs_avfilter *f, const AVFrame *frame, AVRational time_base)
{
    struct hs_avfilter_format out;
    struct hs_avfilter_format in = {
        .format = (enum AVPixelFormat)frame->format,
        .width = frame->width,
        .height = frame->height,
        .hw_frames_ctx = frame->hw_frames_ctx,
        .color_trc = frame->color_trc,
        .sample_aspect_ratio = frame->sample_aspect_ratio,
        .time_base = time_base,
    };

    return hs_avfilter_configure(f, &in, NULL, &out);
}

/** Fills `inputs` with the frames that belong together. Errors: EAGAIN. */
static int pair(struct hs_avfilter *f, const AVFrame *inputs[HS_AVFILTER_INPUTS])
{
    const double most = tolerance(f);

    inputs[HS_AVFILTER_COLOUR] = f->queues[HS_AVFILTER_COLOUR].frames[0];
    for (int i = 1; i < HS_AVFILTER_INPUTS; i++) {
        struct hs_av_queue *queue = &f->queues[i];

        if (!queue->on)
            continue;
        while (queue->count &&
               (lateness(f, queue, 0) < -most ||
                (queue->count > 1 && fabs(lateness(f, queue, 1)) < fabs(lateness(f, queue, 0)))))
            drop(queue);
        if (needs_next(f, queue))
            return AVERROR(EAGAIN);
        if (queue->count && lateness(f, queue, 0) <= most)
            inputs[i] = queue->frames[0];
    }
    return 0;
}

int hs_avfilter_receive(struct hs_avfilter *f, AVFrame *out)
{
    struct hs_av_queue *colour = &f->queues[HS_AVFILTER_COLOUR];
    const AVFrame *inputs[HS_AVFILTER_INPUTS] = {0};
    int err;

    if (!colour->count)
        return colour->ended ? AVERROR_EOF : AVERROR(EAGAIN);
    f->in.time_base = colour->time_base;
    if (lacks_spacing(f))
        return AVERROR(EAGAIN);
    err = pair(f, inputs);
    // What is wrong with the caller's output is no fault of the frame.
    if (!err && f->configured)
        err = hs_av_output_check(f, out);
    if (err < 0)
        return err;
    if (!f->configured)
        err = configure_by(f, colour->frames[0], colour->time_base);
    if (!err)
        err = hs_avfilter_run(f, inputs, out);
    // One that fails would fail again: it is told once, and the next call goes on behind it.
    for (int i = 0; i < HS_AVFILTER_INPUTS; i++) {
        if (inputs[i])
            drop(&f->queues[i]);
    }
    if (err < 0)
        f->skipped = true;
    return err;
}
