// SPDX-License-Identifier: MIT
// Pairing by timestamps.
#include "rig.h"

#include <libavutil/opt.h>

#include "tests/test.h"

static const AVRational colour_base = {1, 24}, side_base = {1, 1000};

static void send_colour(struct hs_avfilter *filter, int time)
{
    AVFrame *frame = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, time);

    frame->duration = 1;
    REQUIRE_EQ(hs_avfilter_send(filter, HS_AVFILTER_COLOUR, frame, colour_base), 0);
    av_frame_free(&frame);
}

static void send_depth(struct hs_avfilter *filter, int ms)
{
    AVFrame *frame = rig_depth(AV_PIX_FMT_GRAYF32, RENDER_W, RENDER_H, ms);

    REQUIRE_EQ(hs_avfilter_send(filter, HS_AVFILTER_DEPTH, frame, side_base), 0);
    av_frame_free(&frame);
}

static void receive(struct hs_avfilter *filter, int pts)
{
    AVFrame *out = av_frame_alloc();

    REQUIRE_EQ(hs_avfilter_receive(filter, out), 0);
    REQUIRE_EQ(out->pts, pts);
    av_frame_free(&out);
}

static void pairing(struct test_rng *rng)
{
    struct hs_avfilter *filter;
    AVFrame *out = av_frame_alloc(), *frame;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    filter = rig_filter(&rig, "");
    hs_avfilter_set_inputs(filter, 1 << HS_AVFILTER_DEPTH);
    REQUIRE_EQ(hs_avfilter_wanted(filter), HS_AVFILTER_COLOUR);
    REQUIRE_EQ(hs_avfilter_receive(filter, out), AVERROR(EAGAIN));
    send_colour(filter, 0);
    REQUIRE_EQ(hs_avfilter_wanted(filter), HS_AVFILTER_DEPTH);
    REQUIRE_EQ(hs_avfilter_receive(filter, out), AVERROR(EAGAIN));
    send_depth(filter, 1);
    REQUIRE_EQ(hs_avfilter_wanted(filter), -1);
    receive(filter, 0);
    REQUIRE_EQ(rig_said().warnings, 0);
    // A depth frame that belongs to nothing is dropped; the right one is found behind it.
    send_colour(filter, 2);
    send_depth(filter, 42);
    REQUIRE_EQ(hs_avfilter_receive(filter, out), AVERROR(EAGAIN));
    send_depth(filter, 83);
    receive(filter, 2);
    REQUIRE_EQ(rig_said().warnings, 0);
    // One that is too early for this frame waits for its own.
    send_depth(filter, 167);
    send_colour(filter, 3);
    receive(filter, 3);
    REQUIRE_EQ(rig_said().warnings, 1);
    send_colour(filter, 4);
    receive(filter, 4);
    // Told once, and not at all where an error was asked for.
    REQUIRE_EQ(hs_avfilter_send(filter, HS_AVFILTER_DEPTH, NULL, side_base), 0);
    send_colour(filter, 5);
    receive(filter, 5);
    REQUIRE_EQ(rig_said().warnings, 0);
    REQUIRE_EQ(av_opt_set(filter, "missing_planes", "error", 0), 0);
    send_colour(filter, 6);
    REQUIRE_ERROR(hs_avfilter_receive(filter, out), AVERROR(EINVAL), "0.250000 s has no depth");
    REQUIRE_EQ(hs_avfilter_receive(filter, out), AVERROR(EAGAIN));
    REQUIRE_EQ(av_opt_set(filter, "missing_planes", "ignore", 0), 0);
    send_colour(filter, 7);
    receive(filter, 7);
    // Time that stands still, an input that is not there, or has ended.
    frame = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 7);
    REQUIRE_ERROR(hs_avfilter_send(filter, HS_AVFILTER_COLOUR, frame, colour_base), AVERROR(EINVAL),
                  "must be there, and grow");
    REQUIRE_ERROR(hs_avfilter_send(filter, HS_AVFILTER_DEPTH, frame, side_base), AVERROR(EINVAL),
                  "has ended");
    REQUIRE_ERROR(hs_avfilter_send(filter, HS_AVFILTER_MOTION, frame, side_base), AVERROR(EINVAL),
                  "motion: the input was not set");
    av_frame_free(&frame);
    REQUIRE_EQ(hs_avfilter_send(filter, HS_AVFILTER_COLOUR, NULL, colour_base), 0);
    REQUIRE_EQ(hs_avfilter_receive(filter, out), AVERROR_EOF);
    av_frame_free(&out);
    hs_avfilter_free(&filter);
    rig_close(&rig);
}

/** Colour without durations, in microseconds; depth in milliseconds, at 24 frames a second. */
static void pairing_without_durations(struct test_rng *rng)
{
    const AVRational us = {1, 1000000};
    struct hs_avfilter *filter;
    AVFrame *colour, *out = av_frame_alloc();
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    filter = rig_filter(&rig, "missing_planes=error");
    hs_avfilter_set_inputs(filter, 1 << HS_AVFILTER_DEPTH);
    for (int i = 1, next = 1; i <= 5; i++) {
        colour = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, i);
        REQUIRE_EQ(hs_avfilter_wanted(filter), HS_AVFILTER_COLOUR);
        colour->pts = (i * 1000000 + 12) / 24;
        REQUIRE_EQ(hs_avfilter_send(filter, HS_AVFILTER_COLOUR, colour, us), 0);
        av_frame_free(&colour);
        send_depth(filter, (i * 1000 + 12) / 24);
        if (i == 1) {
            REQUIRE_EQ(hs_avfilter_wanted(filter), HS_AVFILTER_COLOUR);
            REQUIRE_EQ(hs_avfilter_receive(filter, out), AVERROR(EAGAIN));
        }
        for (; i > 1 && next <= i; next++)
            receive(filter, (next * 1000000 + 12) / 24);
    }
    REQUIRE_EQ(rig_said().warnings, 0);
    // A single frame is paired when colour has ended.
    hs_avfilter_free(&filter);
    filter = rig_filter(&rig, "missing_planes=error");
    hs_avfilter_set_inputs(filter, 1 << HS_AVFILTER_DEPTH);
    colour = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 0);
    REQUIRE_EQ(hs_avfilter_send(filter, HS_AVFILTER_COLOUR, colour, us), 0);
    av_frame_free(&colour);
    REQUIRE_EQ(hs_avfilter_send(filter, HS_AVFILTER_COLOUR, NULL, us), 0);
    REQUIRE_EQ(hs_avfilter_wanted(filter), HS_AVFILTER_DEPTH);
    send_depth(filter, 0);
    receive(filter, 0);
    av_frame_free(&out);
    hs_avfilter_free(&filter);
    rig_close(&rig);
}

/** What a fresh filter makes of one frame with depth. */
static AVFrame *fresh(struct rig *rig, int time, int ms)
{
    struct hs_avfilter *filter = rig_filter(rig, "missing_planes=error");
    AVFrame *out = av_frame_alloc();

    hs_avfilter_set_inputs(filter, 1 << HS_AVFILTER_DEPTH);
    send_colour(filter, time);
    send_depth(filter, ms);
    REQUIRE_EQ(hs_avfilter_receive(filter, out), 0);
    hs_avfilter_free(&filter);
    return out;
}

/** A frame that fails is told once and left behind; what comes after it begins anew. */
static void errors_are_told_once(struct test_rng *rng)
{
    AVFrame *out = av_frame_alloc(), *want, *bad;
    struct hs_avfilter *filter;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    want = fresh(&rig, 4, 167);
    filter = rig_filter(&rig, "missing_planes=error");
    hs_avfilter_set_inputs(filter, 1 << HS_AVFILTER_DEPTH);
    // The first frame, which is to configure the filter, is one that it can not take.
    bad = rig_colour(AV_PIX_FMT_GRAY8, RENDER_W, RENDER_H, -1);
    bad->duration = 1;
    REQUIRE_EQ(hs_avfilter_send(filter, HS_AVFILTER_COLOUR, bad, colour_base), 0);
    av_frame_free(&bad);
    send_depth(filter, -42);
    for (int time = 0; time < 2; time++)
        send_colour(filter, time);
    send_depth(filter, 0);
    // The third frame has no depth, the fourth one a bad value.
    send_colour(filter, 2);
    bad = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 3);
    bad->duration = 1;
    av_dict_set(&bad->metadata, "hindsight.exposure", "-1", 0);
    REQUIRE_EQ(hs_avfilter_send(filter, HS_AVFILTER_COLOUR, bad, colour_base), 0);
    av_frame_free(&bad);
    send_colour(filter, 4);
    for (int ms = 42; ms <= 167; ms += ms == 42 ? 83 : 42)
        send_depth(filter, ms);
    for (int i = 0; i < HS_AVFILTER_MOTION; i++)
        REQUIRE_EQ(hs_avfilter_send(filter, (enum hs_avfilter_input)i, NULL, colour_base), 0);

    REQUIRE_ERROR(hs_avfilter_receive(filter, out), AVERROR(EINVAL), "colour: gray is not acc");
    receive(filter, 0);
    receive(filter, 1);
    REQUIRE_ERROR(hs_avfilter_receive(filter, out), AVERROR(EINVAL), "0.083333 s has no depth");
    REQUIRE_ERROR(hs_avfilter_receive(filter, out), AVERROR(EINVAL), "hindsight.exposure: exp");
    REQUIRE(!out->buf[0]);
    // An output that does not fit is the caller's mistake and costs no frame.
    bad = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 0);
    for (int i = 0; i < 2; i++)
        REQUIRE_ERROR(hs_avfilter_receive(filter, bad), AVERROR(EINVAL), "output: expected rgba");
    av_frame_free(&bad);
    REQUIRE_EQ(hs_avfilter_receive(filter, out), 0);
    REQUIRE_EQ(out->pts, 4);
    rig_require_same(want, out);
    for (int i = 0; i < 2; i++)
        REQUIRE_EQ(hs_avfilter_receive(filter, out), AVERROR_EOF);
    REQUIRE_EQ(rig_said().errors, 0);
    av_frame_free(&want);
    av_frame_free(&out);
    hs_avfilter_free(&filter);
    rig_close(&rig);
}

/** A depth frame that the filter refuses if it takes it. */
static void send_decoy(struct hs_avfilter *filter, int64_t pts, AVRational time_base)
{
    AVFrame *frame = rig_depth(AV_PIX_FMT_GRAY8, RENDER_W, RENDER_H, 0);

    frame->pts = pts;
    REQUIRE_EQ(hs_avfilter_send(filter, HS_AVFILTER_DEPTH, frame, time_base), 0);
    av_frame_free(&frame);
}

/** Depth at twice colour's rate: of two frames that are near enough, the nearer one. */
static void nearest_of_two(struct test_rng *rng)
{
    for (int ahead = 0; ahead < 2; ahead++) {
        AVFrame *out = av_frame_alloc();
        struct hs_avfilter *filter;
        struct rig rig;

        (void)rng;
        OPEN(&rig);
        filter = rig_filter(&rig, "missing_planes=error");
        hs_avfilter_set_inputs(filter, 1 << HS_AVFILTER_DEPTH);
        for (int i = 0; i < 4 && ahead; i++) {
            send_depth(filter, (i * 1000 + 12) / 24);
            send_decoy(filter, (i * 2000 + 1000) / 48, side_base);
        }
        for (int i = 0; i < 4; i++) {
            send_colour(filter, i);
            if (!ahead) {
                if (i > 0) {
                    send_decoy(filter, (i * 2000 - 1000) / 48, side_base);
                    REQUIRE_EQ(hs_avfilter_wanted(filter), HS_AVFILTER_DEPTH);
                    REQUIRE_EQ(hs_avfilter_receive(filter, out), AVERROR(EAGAIN));
                }
                send_depth(filter, (i * 1000 + 12) / 24);
            }
            REQUIRE_EQ(hs_avfilter_wanted(filter), -1);
            receive(filter, i);
        }
        // The last one that can come is near enough.
        if (!ahead) {
            send_colour(filter, 4);
            send_depth(filter, 160);
            REQUIRE_EQ(hs_avfilter_wanted(filter), HS_AVFILTER_DEPTH);
            REQUIRE_EQ(hs_avfilter_send(filter, HS_AVFILTER_DEPTH, NULL, side_base), 0);
            receive(filter, 4);
        }
        REQUIRE_EQ(rig_said().errors, 0);
        av_frame_free(&out);
        hs_avfilter_free(&filter);
        rig_close(&rig);
    }
}

static void send_colour_in(struct hs_avfilter *filter, int64_t pts, int64_t duration,
                           AVRational time_base)
{
    AVFrame *frame = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 0);

    frame->pts = pts;
    frame->duration = duration;
    REQUIRE_EQ(hs_avfilter_send(filter, HS_AVFILTER_COLOUR, frame, time_base), 0);
    av_frame_free(&frame);
}

/** Half a frame is half of this frame, not of the first one; without durations, of what was. */
static void half_a_frame_varies(struct test_rng *rng)
{
    static const int lengths[] = {400, 40, 40};

    (void)rng;
    for (int told = 0; told < 2; told++) {
        AVFrame *out = av_frame_alloc();
        struct hs_avfilter *filter;
        struct rig rig;

        OPEN(&rig);
        filter = rig_filter(&rig, "missing_planes=error");
        hs_avfilter_set_inputs(filter, 1 << HS_AVFILTER_DEPTH);
        for (int i = 0, at = 0; i < 3; at += lengths[i++])
            send_colour_in(filter, at, told ? lengths[i] : 0, side_base);
        send_depth(filter, 150);
        send_decoy(filter, 470, side_base);
        REQUIRE_EQ(hs_avfilter_send(filter, HS_AVFILTER_DEPTH, NULL, side_base), 0);
        receive(filter, 0);
        // 40 after a frame of 400: its own half, 20, or half of the one before it, 200.
        REQUIRE_ERROR(hs_avfilter_receive(filter, out), AVERROR(EINVAL),
                      told ? "0.400000 s has no depth" : "depth: gray is not accepted");
        REQUIRE_ERROR(hs_avfilter_receive(filter, out), AVERROR(EINVAL), "0.440000 s has no depth");
        av_frame_free(&out);
        hs_avfilter_free(&filter);
        rig_close(&rig);
    }
}

/** Times at the ends of what 64 bits hold, and a time base that is another one than before. */
static void strange_times(struct test_rng *rng)
{
    AVFrame *frame = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 0);
    struct hs_avfilter_format format;
    char path[RIG_PATH_BYTES], options[64];
    struct hs_avfilter *filter;
    AVFrame *out = av_frame_alloc();
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    filter = rig_filter(&rig, "");
    hs_avfilter_set_inputs(filter, 1 << HS_AVFILTER_DEPTH);
    send_colour_in(filter, INT64_MIN + 1, 0, colour_base);
    send_colour_in(filter, INT64_MAX, 0, colour_base);
    for (int i = 0; i < HS_AVFILTER_MOTION; i++)
        REQUIRE_EQ(hs_avfilter_send(filter, (enum hs_avfilter_input)i, NULL, side_base), 0);
    for (int i = 0; i < 2; i++)
        REQUIRE_EQ(hs_avfilter_receive(filter, out), 0);
    REQUIRE_EQ(out->pts, INT64_MAX);
    hs_avfilter_free(&filter);
    // The frames' time base holds, whatever the format said; it can not change on the way.
    rig_text_file("time=0\ntime=1\n", path);
    snprintf(options, sizeof(options), "frames=%s", path);
    filter = rig_filter(&rig, options);
    remove(path);
    REQUIRE_EQ(rig_configure(filter, frame, AV_PIX_FMT_NONE, &format), 0);
    send_colour_in(filter, 0, 0, side_base);
    frame->pts = 24;
    REQUIRE_ERROR(hs_avfilter_send(filter, HS_AVFILTER_COLOUR, frame, colour_base), AVERROR(EINVAL),
                  "colour: the time base was 1/1000 and can not become 1/24");
    send_colour_in(filter, 2000, 0, (AVRational){2, 2000});
    receive(filter, 0);
    REQUIRE_ERROR(hs_avfilter_receive(filter, out), AVERROR(EINVAL), "frame at 2");
    send_colour_in(filter, 2001, 0, side_base);
    av_frame_free(&frame);
    av_frame_free(&out);
    hs_avfilter_free(&filter);
    rig_close(&rig);
}

static const struct test_case cases[] = {
    {"pairing", pairing},
    {"pairing_without_durations", pairing_without_durations},
    {"errors_are_told_once", errors_are_told_once},
    {"nearest_of_two", nearest_of_two},
    {"half_a_frame_varies", half_a_frame_varies},
    {"strange_times", strange_times},
};
TEST_MAIN(cases)
