// SPDX-License-Identifier: MIT
// What users of the component may do wrong: options, formats, frames.
#include "rig.h"

#include <dlfcn.h>
#include <limits.h>

#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_vulkan.h>
#include <libavutil/opt.h>

#include "tests/test.h"

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
    REQUIRE_ERROR(open_with(&rig, "look", "aces,grain=2"), AVERROR(EINVAL), "grain takes");
    // Where the system has it, there is nothing to be told.
    if (!dlopen("libOpenImageDenoise.so.2", RTLD_NOW))
        REQUIRE_ERROR(open_with(&rig, "model", "oidn"), AVERROR(ENOSYS),
                      "needs libOpenImageDenoise");
    // Texts without a value are as if they had not been set.
    for (int i = 0; i < 5; i++) {
        static const char *const texts[] = {"model", "convention", "convention_changes", "frames",
                                            "look"};

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
    hs_avfilter_free(NULL);
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
    yuv->width = 0;
    REQUIRE_ERROR(rig_configure(filter, yuv, AV_PIX_FMT_NONE, &format), AVERROR(EINVAL),
                  "colour: 0x32 is no size");
    REQUIRE_ERROR(rig_configure(filter, colour, AV_PIX_FMT_GRAY8, &format), AVERROR(EINVAL),
                  "gray can not be made");
    REQUIRE_ERROR(rig_configure(filter, colour, (enum AVPixelFormat)9999, &format), AVERROR(EINVAL),
                  "an unknown pixel format can not be made");
    // What is too large for an int stays positive.
    format = (struct hs_avfilter_format){
        .format = AV_PIX_FMT_RGBA, .width = INT_MAX, .height = INT_MAX - 1};
    REQUIRE_ERROR(hs_avfilter_configure(filter, &format, NULL, &format), AVERROR(EINVAL),
                  "2147483647x2147483647 is not within");
    format.width = -7;
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
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL),
                  "hindsight.jitter: expected 2 numbers from -1 to 1");
    av_dict_set(&colour->metadata, "hindsight.jitter", NULL, 0);
    REQUIRE(!out->buf[0]);
    // A caller's own output has to fit.
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, small), AVERROR(EINVAL), "output: grayf32le");
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, lent), AVERROR(EINVAL),
                  "expected rgba of 96x64, found Vulkan rgba64le of 48x32");
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, colour), AVERROR(EINVAL),
                  "output: the frame is that of colour, too");
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

/** References to nothing, planes that are not there, rows that are too short. */
static void frames_without_pixels(struct test_rng *rng)
{
    static const enum AVPixelFormat formats[] = {AV_PIX_FMT_RGBA, AV_PIX_FMT_GBRPF32,
                                                 AV_PIX_FMT_GBRAPF32};
    AVFrame *out = av_frame_alloc();
    struct hs_avfilter_format format;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    for (size_t k = 0; k < sizeof(formats) / sizeof(formats[0]); k++) {
        struct hs_avfilter *filter = rig_filter(&rig, "");
        AVFrame *colour = rig_colour(formats[k], RENDER_W, RENDER_H, 0);
        const AVFrame *inputs[HS_AVFILTER_INPUTS] = {colour};
        AVFrame *own = rig_colour(formats[k], 2 * RENDER_W, 2 * RENDER_H, 0);

        REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), 0);
        for (int p = 0; p < 4 && own->data[p]; p++) {
            AVFrame *const frames[] = {colour, own};

            for (int i = 0; i < 2; i++) {
                AVFrame *frame = frames[i];
                uint8_t *const data = frame->data[p];
                const int line = frame->linesize[p];

                frame->data[p] = NULL;
                REQUIRE_ERROR(hs_avfilter_run(filter, inputs, i ? own : out), AVERROR(EINVAL),
                              i ? "output: the frame has no" : "colour: the frame has no");
                frame->data[p] = data;
                frame->linesize[p] = line / 2;
                REQUIRE_ERROR(hs_avfilter_run(filter, inputs, i ? own : out), AVERROR(EINVAL),
                              "no pixels, or not all of them");
                frame->linesize[p] = line;
            }
        }
        colour->data[0] = NULL;
        REQUIRE_ERROR(hs_avfilter_send(filter, HS_AVFILTER_COLOUR, colour, (AVRational){1, 24}),
                      AVERROR(EINVAL), "colour: the frame has no pixels");
        REQUIRE(!out->buf[0]);
        av_frame_free(&colour);
        av_frame_free(&own);
        hs_avfilter_free(&filter);
    }
    av_frame_free(&out);
    rig_close(&rig);
}

/** Vulkan frames without an image or a semaphore; an output that is not of the configured form. */
static void vulkan_frames_that_do_not_fit(struct test_rng *rng)
{
    struct hs_avfilter_format format;
    struct hs_avfilter *filter;
    AVFrame *colour, *lent, *outs[3];
    AVBufferRef *buffer;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    filter = rig_filter(&rig, "format=rgba");
    colour = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 0);
    lent = rig_upload(&rig, colour);
    REQUIRE_EQ(rig_configure(filter, lent, AV_PIX_FMT_VULKAN, &format), 0);
    for (int i = 0; i < 3; i++)
        outs[i] =
            rig_colour(i ? AV_PIX_FMT_RGBA64 : AV_PIX_FMT_RGBA, 2 * RENDER_W, 2 * RENDER_H, 0);
    buffer = lent->buf[0];
    for (int i = 0; i < 3; i++) {
        const AVFrame *inputs[HS_AVFILTER_INPUTS] = {lent};
        AVVkFrame *vk = (AVVkFrame *)(void *)lent->data[0];
        const AVVkFrame was = *vk;

        if (i == 0)
            vk->img[0] = VK_NULL_HANDLE;
        else if (i == 1)
            vk->sem[0] = VK_NULL_HANDLE;
        else
            lent->buf[0] = NULL;
        REQUIRE_ERROR(hs_avfilter_run(filter, inputs, outs[0]), AVERROR(EINVAL),
                      "colour: the frame has no pixels");
        *vk = was;
        lent->buf[0] = buffer;
    }
    for (int i = 0; i < 3; i++) {
        const AVFrame *inputs[HS_AVFILTER_INPUTS] = {lent};
        AVFrame *up = i < 2 ? rig_upload(&rig, outs[i]) : NULL;

        if (i == 0)
            REQUIRE_EQ(hs_avfilter_run(filter, inputs, up), 0);
        else
            REQUIRE_ERROR(hs_avfilter_run(filter, inputs, up ? up : outs[2]), AVERROR(EINVAL),
                          up ? "expected Vulkan rgba of 96x64, found Vulkan rgba64le of 96x64"
                             : "expected Vulkan rgba of 96x64, found rgba64le of 96x64");
        av_frame_free(&up);
    }
    for (int i = 0; i < 3; i++)
        av_frame_free(&outs[i]);
    av_frame_free(&colour);
    av_frame_free(&lent);
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

static const struct test_case cases[] = {
    {"wrong_options", wrong_options},
    {"wrong_formats", wrong_formats},
    {"wrong_frames", wrong_frames},
    {"frames_without_pixels", frames_without_pixels},
    {"vulkan_frames_that_do_not_fit", vulkan_frames_that_do_not_fit},
    {"one_frame_twice", one_frame_twice},
};
TEST_MAIN(cases)
