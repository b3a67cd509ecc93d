// SPDX-License-Identifier: MIT
// What users of the component may do wrong, and pairing by timestamps.
#include "rig.h"

#include <libavutil/hwcontext.h>
#include <libavutil/opt.h>

#include "tests/test.h"

#define OPEN(rig)                                          \
    do {                                                   \
        if (!rig_open(rig))                                \
            TEST_SKIP("no Vulkan device with validation"); \
    } while (0)

/** The last call failed with `code` and said one thing, which has `part` in it. */
#define REQUIRE_ERROR(call, code, part)                                                           \
    do {                                                                                          \
        const int test_err = (call);                                                              \
        const struct said test_said = rig_said();                                                 \
        REQUIRE_EQ(test_err, code);                                                               \
        REQUIRE_EQ(test_said.errors, 1);                                                          \
        REQUIRE_MSG(strstr(test_said.error, part), "\"%s\" lacks \"%s\"", test_said.error, part); \
    } while (0)

static int open_with(struct rig *rig, const char *key, const char *value)
{
    struct hs_avfilter *filter = hs_avfilter_alloc();
    int err;

    REQUIRE(filter);
    REQUIRE_EQ(av_opt_set(filter, key, value, 0), 0);
    err = hs_avfilter_open(filter, rig->ref);
    hs_avfilter_free(&filter);
    return err;
}

static int open_with_file(struct rig *rig, const char *text)
{
    char path[] = "/tmp/hs_av_XXXXXX";
    int file = mkstemp(path), err;
    FILE *stream = fdopen(file, "w");

    REQUIRE(file >= 0 && stream);
    fputs(text, stream);
    fclose(stream);
    err = open_with(rig, "frames", path);
    remove(path);
    return err;
}

static void wrong_options(struct test_rng *rng)
{
    struct hs_avfilter *filter = hs_avfilter_alloc();
    AVBufferRef *other = NULL;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    REQUIRE_EQ(av_opt_set_double(filter, "scale", 3.5, 0), AVERROR(ERANGE));
    REQUIRE_EQ(av_opt_set_double(filter, "sharpness", 1.5, 0), AVERROR(ERANGE));
    REQUIRE_EQ(av_opt_set(filter, "path", "fast", 0), AVERROR(EINVAL));
    REQUIRE_EQ(av_opt_set(filter, "nothing", "1", 0), AVERROR_OPTION_NOT_FOUND);
    hs_avfilter_free(&filter);
    rig_said();
    REQUIRE_ERROR(open_with(&rig, "model", "best-of-all"), AVERROR(EINVAL), "best-of-all");
    REQUIRE_ERROR(open_with(&rig, "convention", "maya"), AVERROR(EINVAL), "maya");
    REQUIRE_ERROR(open_with(&rig, "convention_changes", "motion.sign_x=7"), AVERROR(EINVAL),
                  "sign_x");
    REQUIRE_ERROR(open_with(&rig, "frames", "/no/such/file"), AVERROR(ENOENT), "/no/such/file");
    REQUIRE_ERROR(open_with_file(&rig, "# comment\n\ntime=0;jitter=1\n"), AVERROR(EINVAL),
                  "line 3: jitter takes 2 numbers");
    REQUIRE_ERROR(open_with_file(&rig, "jitter=0 0\n"), AVERROR(EINVAL), "time is missing");
    REQUIRE_ERROR(open_with_file(&rig, "time=0;size=3\n"), AVERROR(EINVAL), "size");
    REQUIRE_ERROR(open_with_file(&rig, "time=0;number=nan\n"), AVERROR(EINVAL), "number of a");
    REQUIRE_ERROR(open_with_file(&rig, "time=0;number=1e19\n"), AVERROR(EINVAL), "number of a");
    REQUIRE_ERROR(open_with_file(&rig, "time=0;number=-1e19\n"), AVERROR(EINVAL), "number of a");
    // Texts without a value are as if they had not been set.
    for (int i = 0; i < 4; i++) {
        static const char *const texts[] = {"model", "convention", "convention_changes", "frames"};

        REQUIRE_EQ(open_with(&rig, texts[i], NULL), 0);
    }
    REQUIRE_EQ(rig_said().errors, 0);
    // A device of another kind can be allocated without being there.
    other = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_DRM);
    filter = hs_avfilter_alloc();
    if (other)
        REQUIRE_ERROR(hs_avfilter_open(filter, other), AVERROR(EINVAL), "drm");
    av_buffer_unref(&other);
    hs_avfilter_free(&filter);
    hs_avfilter_free(&filter);
    rig_close(&rig);
}

static void wrong_formats(struct test_rng *rng)
{
    struct hs_avfilter_format format = {.width = -7};
    struct hs_avfilter *filter;
    AVFrame *colour, *yuv = av_frame_alloc(), *lent;
    struct rig rig, second;

    (void)rng;
    OPEN(&rig);
    filter = hs_avfilter_alloc();
    colour = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 0);
    REQUIRE_ERROR(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), AVERROR(EINVAL),
                  "no device");
    hs_avfilter_free(&filter);
    filter = rig_filter(&rig, "scale=2");
    rig_said();
    yuv->format = AV_PIX_FMT_YUV420P;
    yuv->width = RENDER_W;
    yuv->height = RENDER_H;
    REQUIRE_ERROR(rig_configure(filter, yuv, AV_PIX_FMT_NONE, &format), AVERROR(EINVAL),
                  "colour: yuv420p is not accepted");
    REQUIRE_ERROR(rig_configure(filter, colour, AV_PIX_FMT_GRAY8, &format), AVERROR(EINVAL),
                  "gray can not be made");
    REQUIRE_EQ(av_opt_set(filter, "output_width", "500", 0), 0);
    REQUIRE_ERROR(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), AVERROR(EINVAL),
                  "48x32 to 500x333");
    REQUIRE_EQ(av_opt_set(filter, "output_width", "0", 0), 0);
    // Frames of another device.
    OPEN(&second);
    lent = rig_upload(&second, colour);
    REQUIRE_ERROR(rig_configure(filter, lent, AV_PIX_FMT_NONE, &format), AVERROR(EINVAL),
                  "not of the filter's device");
    av_frame_free(&lent);
    rig_close(&second);
    REQUIRE_EQ(format.width, -7);
    av_frame_free(&yuv);
    av_frame_free(&colour);
    hs_avfilter_free(&filter);
    rig_close(&rig);
}

static void wrong_frames(struct test_rng *rng)
{
    const AVFrame *inputs[HS_AVFILTER_INPUTS] = {0};
    struct hs_avfilter_format format;
    struct hs_avfilter *filter;
    AVFrame *colour, *small, *gray, *lent, *out = av_frame_alloc(), *empty = av_frame_alloc();
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    filter = rig_filter(&rig, "format=rgba");
    colour = rig_colour(AV_PIX_FMT_RGBA64, RENDER_W, RENDER_H, 0);
    small = rig_depth(AV_PIX_FMT_GRAYF32, RENDER_W - 2, RENDER_H, 0);
    gray = rig_depth(AV_PIX_FMT_GRAY8, RENDER_W, RENDER_H, 0);
    lent = rig_upload(&rig, colour);
    inputs[HS_AVFILTER_COLOUR] = colour;
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL), "before the formats");
    REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), 0);
    inputs[HS_AVFILTER_COLOUR] = NULL;
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL), "no colour");
    inputs[HS_AVFILTER_COLOUR] = colour;
    inputs[HS_AVFILTER_DEPTH] = small;
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL),
                  "expected 48x32, found 46x32");
    inputs[HS_AVFILTER_DEPTH] = gray;
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL),
                  "depth: gray is not accepted; one of grayf32le");
    inputs[HS_AVFILTER_DEPTH] = NULL;
    inputs[HS_AVFILTER_MOTION] = small;
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL), "motion: grayf32le");
    empty->format = AV_PIX_FMT_GRAYF32;
    empty->width = RENDER_W;
    empty->height = RENDER_H;
    empty->pts = 0;
    inputs[HS_AVFILTER_MOTION] = NULL;
    inputs[HS_AVFILTER_DEPTH] = empty;
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL), "depth: the frame has no");
    inputs[HS_AVFILTER_DEPTH] = NULL;
    REQUIRE_ERROR(hs_avfilter_send(filter, HS_AVFILTER_COLOUR, empty, (AVRational){1, 24}),
                  AVERROR(EINVAL), "colour: the frame has no pixels");
    av_dict_set(&colour->metadata, "hindsight.jitter", "0 2", 0);
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL), "jitter of (0, 2)");
    av_dict_set(&colour->metadata, "hindsight.jitter", "left", 0);
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL), "\"left\"");
    av_dict_set(&colour->metadata, "hindsight.jitter", NULL, 0);
    REQUIRE(!out->buf[0]);
    // A caller's own output has to fit.
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, small), AVERROR(EINVAL), "output: grayf32le");
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, lent), AVERROR(EINVAL), "output: a frame of");
    // After all of that it still works.
    REQUIRE_EQ(hs_avfilter_run(filter, inputs, out), 0);
    REQUIRE_EQ(out->format, AV_PIX_FMT_RGBA);
    av_frame_free(&colour);
    av_frame_free(&small);
    av_frame_free(&gray);
    av_frame_free(&empty);
    av_frame_free(&lent);
    av_frame_free(&out);
    hs_avfilter_free(&filter);
    rig_close(&rig);
}

/** One Vulkan frame cannot be read and written, nor read twice, in one go. */
static void one_frame_twice(struct test_rng *rng)
{
    const AVFrame *inputs[HS_AVFILTER_INPUTS] = {0};
    struct hs_avfilter_format format;
    struct hs_avfilter *filter;
    AVFrame *colour, *gray, *lent, *out = av_frame_alloc();
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    filter = rig_filter(&rig, "");
    colour = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 0);
    gray = rig_depth(AV_PIX_FMT_GRAYF32, RENDER_W, RENDER_H, 0);
    lent = rig_upload(&rig, gray);
    REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), 0);
    inputs[HS_AVFILTER_COLOUR] = colour;
    inputs[HS_AVFILTER_DEPTH] = inputs[HS_AVFILTER_REACTIVE] = lent;
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL), "same Vulkan frame");
    inputs[HS_AVFILTER_REACTIVE] = NULL;
    REQUIRE_EQ(hs_avfilter_run(filter, inputs, out), 0);
    av_frame_free(&colour);
    av_frame_free(&gray);
    av_frame_free(&lent);
    av_frame_free(&out);
    hs_avfilter_free(&filter);
    rig_close(&rig);
}

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
    REQUIRE_EQ(av_opt_set(filter, "missing_planes", "ignore", 0), 0);
    receive(filter, 6);
    // Time that stands still, an input that is not there, or has ended.
    frame = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 6);
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

/** Runs colour alone and gives the pixels. */
static AVFrame *once(struct hs_avfilter *filter, int time)
{
    AVFrame *colour = rig_colour(AV_PIX_FMT_RGBA64, RENDER_W, RENDER_H, time);
    AVFrame *out = av_frame_alloc();
    struct hs_avfilter_format format;
    int64_t count;

    REQUIRE_EQ(av_opt_get_int(filter, "frame_count", 0, &count), 0);
    if (count == 0)
        REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), 0);
    REQUIRE_EQ(hs_avfilter_run(filter, (const AVFrame *const[HS_AVFILTER_INPUTS]){colour}, out), 0);
    av_frame_free(&colour);
    return out;
}

/** A cut shows the picture that a fresh filter shows: by option, or by time that runs backwards. */
static void cuts(struct test_rng *rng)
{
    struct hs_avfilter *filter;
    AVFrame *fresh, *with_history, *cut;
    int64_t reset = 1;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    filter = rig_filter(&rig, "");
    fresh = once(filter, 5);
    hs_avfilter_free(&filter);
    filter = rig_filter(&rig, "");
    cut = once(filter, 4);
    av_frame_free(&cut);
    with_history = once(filter, 5);
    REQUIRE(memcmp(fresh->data[0], with_history->data[0], (size_t)fresh->linesize[0]) != 0);
    REQUIRE_EQ(av_opt_set(filter, "reset", "1", 0), 0);
    cut = once(filter, 5);
    rig_require_same(fresh, cut);
    REQUIRE_EQ(av_opt_get_int(filter, "reset", 0, &reset), 0);
    REQUIRE_EQ(reset, 0);
    av_frame_free(&cut);
    cut = once(filter, 9);
    av_frame_free(&cut);
    // Time runs backwards: a seek.
    cut = once(filter, 5);
    rig_require_same(fresh, cut);
    av_frame_free(&cut);
    av_frame_free(&fresh);
    av_frame_free(&with_history);
    hs_avfilter_free(&filter);
    rig_close(&rig);
}

/** With a fixed output the render size may change; without, only the configured one is legal. */
static void dynamic_resolution(struct test_rng *rng)
{
    static const int sizes[][2] = {{48, 32}, {40, 24}, {96, 64}, {32, 22}};
    struct hs_avfilter_format format;
    struct hs_avfilter *filter;
    AVFrame *out = av_frame_alloc();
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    filter = rig_filter(&rig, "w=96:h=64");
    for (int i = 0; i < 4; i++) {
        const AVFrame *inputs[HS_AVFILTER_INPUTS] = {0};
        AVFrame *colour = rig_colour(AV_PIX_FMT_RGBA, sizes[i][0], sizes[i][1], i);
        AVFrame *depth = rig_depth(AV_PIX_FMT_GRAYF32, sizes[i][0], sizes[i][1], i);

        if (i == 0)
            REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), 0);
        inputs[HS_AVFILTER_COLOUR] = colour;
        inputs[HS_AVFILTER_DEPTH] = depth;
        av_frame_unref(out);
        REQUIRE_EQ(hs_avfilter_run(filter, inputs, out), 0);
        REQUIRE_EQ(out->width, 96);
        REQUIRE_EQ(out->height, 64);
        av_frame_free(&colour);
        av_frame_free(&depth);
    }
    hs_avfilter_free(&filter);
    filter = rig_filter(&rig, "scale=1.5");
    // Refused twice: the first must not spoil what comes after it.
    for (int i = 0; i < 4; i++) {
        const bool fits = i == 0 || i == 3;
        const int *size = sizes[fits ? 0 : 2];
        AVFrame *colour = rig_colour(AV_PIX_FMT_RGBA, size[0], size[1], i);
        const AVFrame *inputs[HS_AVFILTER_INPUTS] = {colour};

        if (i == 0)
            REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), 0);
        av_frame_unref(out);
        if (fits)
            REQUIRE_EQ(hs_avfilter_run(filter, inputs, out), 0);
        else
            REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL),
                          "above the stream's maximum");
        av_frame_free(&colour);
    }
    REQUIRE_EQ(format.width, 72);
    av_frame_free(&out);
    hs_avfilter_free(&filter);
    rig_close(&rig);
}

/** Values of frames from the file, found by time. */
static void values_from_a_file(struct test_rng *rng)
{
    char path[] = "/tmp/hs_av_XXXXXX", options[64];
    int file = mkstemp(path);
    FILE *stream = fdopen(file, "w");
    struct hs_avfilter_format format;
    struct hs_avfilter *filters[2];
    struct rig rig;

    (void)rng;
    REQUIRE(file >= 0 && stream);
    fputs("time=0;jitter=0.25 -0.5;exposure=2\ntime=0.0833;jitter=-0.5 0.125;exposure=2\n", stream);
    fclose(stream);
    if (!rig_open(&rig)) {
        remove(path);
        TEST_SKIP("no Vulkan device with validation");
    }
    snprintf(options, sizeof(options), "frames=%s", path);
    filters[0] = rig_filter(&rig, options);
    filters[1] = rig_filter(&rig, "");
    remove(path);
    for (int time = 0; time <= 4; time += 2) {
        AVFrame *colour = rig_colour(AV_PIX_FMT_GBRAPF32, RENDER_W, RENDER_H, time);
        const AVFrame *inputs[HS_AVFILTER_INPUTS] = {colour};
        AVFrame *outs[2] = {av_frame_alloc(), av_frame_alloc()};

        for (int i = 0; i < 2; i++) {
            if (time == 0)
                REQUIRE_EQ(rig_configure(filters[i], colour, AV_PIX_FMT_NONE, &format), 0);
            if (i == 1) {
                av_dict_set(&colour->metadata, "hindsight.jitter",
                            time == 0 ? "0.25 -0.5" : "-0.5 0.125", 0);
                av_dict_set(&colour->metadata, "hindsight.exposure", "2", 0);
            }
            if (time == 4 && i == 0)
                REQUIRE_ERROR(hs_avfilter_run(filters[i], inputs, outs[i]), AVERROR(EINVAL),
                              "no line for the frame at 0.166667 s");
            else
                REQUIRE_EQ(hs_avfilter_run(filters[i], inputs, outs[i]), 0);
        }
        if (time < 4)
            rig_require_same(outs[0], outs[1]);
        av_frame_free(&colour);
        av_frame_free(&outs[0]);
        av_frame_free(&outs[1]);
    }
    hs_avfilter_free(&filters[0]);
    hs_avfilter_free(&filters[1]);
    rig_close(&rig);
}

static const struct test_case cases[] = {
    {"wrong_options", wrong_options},
    {"wrong_formats", wrong_formats},
    {"wrong_frames", wrong_frames},
    {"one_frame_twice", one_frame_twice},
    {"pairing", pairing},
    {"pairing_without_durations", pairing_without_durations},
    {"cuts", cuts},
    {"dynamic_resolution", dynamic_resolution},
    {"values_from_a_file", values_from_a_file},
};
TEST_MAIN(cases)
