// SPDX-License-Identifier: MIT
// What goes beyond one picture out of one frame: looks, AOVs, held frames, Open Image Denoise.
#include "rig.h"

#include <math.h>
#include <stdlib.h>

#include <libavutil/opt.h>

#include "tests/test.h"

/** Planes of a GBR format by channel R, G, B, A. */
static const int gbr[4] = {2, 0, 1, 3};

static float *row_of(const AVFrame *frame, int channel, int y)
{
    const int plane = gbr[channel];

    return (float *)(void *)(frame->data[plane] + y * frame->linesize[plane]);
}

/** The picture of one frame, in floats. */
static AVFrame *one(struct hs_avfilter *filter, const AVFrame *const inputs[HS_AVFILTER_INPUTS],
                    const struct hs_avfilter_aov *aovs, int count)
{
    struct hs_avfilter_format format;
    AVFrame *out = av_frame_alloc();

    REQUIRE_EQ(rig_configure(filter, inputs[0], AV_PIX_FMT_GBRAPF32, &format), 0);
    REQUIRE_EQ(hs_avfilter_run_aovs(filter, inputs, aovs, count, out), 0);
    return out;
}

static AVFrame *with_look(struct rig *rig, const AVFrame *colour, const char *look)
{
    const AVFrame *inputs[HS_AVFILTER_INPUTS] = {colour};
    struct hs_avfilter *filter = rig_filter(rig, "model=taau:exposure=1.5");
    AVFrame *out;

    // As a command, after the filter has been opened.
    REQUIRE_EQ(av_opt_set(filter, "look", look, 0), 0);
    out = one(filter, inputs, NULL, 0);
    hs_avfilter_free(&filter);
    return out;
}

static double greatest(const AVFrame *a, const AVFrame *b)
{
    double worst = 0;

    for (int y = 0; y < a->height; y++) {
        for (int i = 0; i < 3 * a->width; i++)
            worst = fmax(worst, fabs(row_of(a, i % 3, y)[i / 3] - row_of(b, i % 3, y)[i / 3]));
    }
    return worst;
}

// What is refused changes nothing, and is told when it is asked for.
static void commands(struct rig *rig, const AVFrame *colour)
{
    struct hs_avfilter *filter = rig_filter(rig, "model=taau:exposure=1.5:look=aces");
    AVFrame *want = with_look(rig, colour, "aces"), *out;
    const AVFrame *inputs[HS_AVFILTER_INPUTS] = {colour};
    double value = 0;

    REQUIRE_ERROR(hs_avfilter_command(filter, "look", "aces,glow=1"), AVERROR(EINVAL),
                  "no key \"glow\"");
    REQUIRE_EQ(hs_avfilter_command(filter, "scale", "3"), AVERROR(ENOSYS));
    REQUIRE_EQ(hs_avfilter_command(filter, "nothing", "3"), AVERROR(ENOSYS));
    REQUIRE_ERROR(hs_avfilter_command(filter, "sharpness", "7"), AVERROR(ERANGE), "sharpness");
    out = one(filter, inputs, NULL, 0);
    rig_require_same(out, want);
    av_frame_free(&out);
    REQUIRE_EQ(hs_avfilter_command(filter, "look", "none"), 0);
    REQUIRE_EQ(hs_avfilter_command(filter, "exposure", "2.5"), 0);
    REQUIRE_EQ(av_opt_get_double(filter, "exposure", 0, &value), 0);
    REQUIRE_EQ(value, 2.5);
    out = one(filter, inputs, NULL, 0);
    REQUIRE_EQ(out->color_trc, AVCOL_TRC_LINEAR);
    av_frame_free(&out);
    av_frame_free(&want);
    hs_avfilter_free(&filter);
    // Before it has a device, too.
    filter = hs_avfilter_alloc();
    REQUIRE_ERROR(hs_avfilter_command(filter, "look", "filmic"), AVERROR(EINVAL), "filmic");
    hs_avfilter_free(&filter);
}

static void looks(struct test_rng *rng)
{
    static const char *const grades[] = {
        "aces,contrast=0.3",    "aces,contrast=0.3,pivot=0.2", "aces,shadows=0.2/0/0",
        "aces,saturation=-0.5", "aces,highlights=0/0.2/0",     "aces,vignette=1",
        "aces,grain=0.3",       "aces,aberration=3",           "aces,contrast=0.3,grade=0.5",
    };
    AVFrame *colour = rig_colour(AV_PIX_FMT_GBRAPF32, RENDER_W, RENDER_H, 0);
    AVFrame *linear, *curve, *display, *last = NULL, *out = av_frame_alloc();
    const AVFrame *inputs[HS_AVFILTER_INPUTS] = {0};
    struct hs_avfilter_format format;
    struct hs_avfilter *filter;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    colour->color_trc = AVCOL_TRC_LINEAR;
    linear = with_look(&rig, colour, "none");
    curve = with_look(&rig, colour, "aces");
    REQUIRE_EQ(linear->color_trc, AVCOL_TRC_LINEAR);
    REQUIRE_EQ(curve->color_trc, AVCOL_TRC_GAMMA22);
    for (int y = 0; y < curve->height; y++) {
        for (int x = 0; x < curve->width; x++) {
            const double alpha = row_of(linear, 3, y)[x];
            const double h = fmax(0.5 * 1.5 * row_of(linear, 1, y)[x] / alpha, 0);
            const double fit = h * (2.51 * h + 0.03) / (h * (2.43 * h + 0.59) + 0.14);

            // The fit's gamma is the GPU's pow().
            REQUIRE_NEAR(row_of(curve, 1, y)[x], alpha * pow(fmin(fit, 1), 1 / 2.2), 1e-3);
        }
    }
    for (size_t i = 0; i < sizeof(grades) / sizeof(grades[0]); i++) {
        AVFrame *graded = with_look(&rig, colour, grades[i]);

        REQUIRE_MSG(greatest(graded, curve) > 1e-3, "%s does nothing", grades[i]);
        REQUIRE_MSG(!last || greatest(graded, last) > 1e-3, "%s is as the one before", grades[i]);
        av_frame_free(&last);
        last = graded;
    }
    REQUIRE_EQ(rig_said().errors, 0);
    filter = rig_filter(&rig, "model=taau");
    inputs[0] = colour;
    REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), 0);
    REQUIRE_EQ(av_opt_set(filter, "look", "aces,glow=1", 0), 0);
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL), "no key \"glow\"");
    hs_avfilter_free(&filter);
    commands(&rig, colour);
    // What has a display's curve already gets no other one.
    display = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 0);
    inputs[0] = display;
    filter = rig_filter(&rig, "model=taau:look=aces");
    REQUIRE_EQ(rig_configure(filter, display, AV_PIX_FMT_NONE, &format), 0);
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL), "display-referred");
    hs_avfilter_free(&filter);
    av_frame_free(&colour);
    av_frame_free(&linear);
    av_frame_free(&curve);
    av_frame_free(&display);
    av_frame_free(&last);
    av_frame_free(&out);
    rig_close(&rig);
}

/** What one part of the light has of it: moves by itself, and is nowhere all or nothing. */
static float share_of(int x, int y, int time)
{
    return 0.5f + 0.4f * sinf(0.9f * (float)(x + 5 * time)) * cosf(0.5f * (float)(y - 3 * time));
}

enum {
    ONE_PART,
    THE_OTHER_PART,
    VALUES,
    BESIDES
};

/** Two parts that add up to colour; or values, of which the second is 0.5 and the third moves. */
static AVFrame *beside(const AVFrame *colour, int which)
{
    AVFrame *made = rig_colour(which == THE_OTHER_PART ? AV_PIX_FMT_GBRAPF32 : AV_PIX_FMT_GBRPF32,
                               colour->width, colour->height, (int)colour->pts);

    for (int y = 0; y < made->height; y++) {
        for (int i = 0; i < 3 * made->width; i++) {
            const int x = i / 3, channel = i % 3;
            const float share = share_of(x, y, (int)colour->pts);
            const float values[3] = {0, 0.5f, share};

            row_of(made, channel, y)[x] =
                which == VALUES
                    ? values[channel]
                    : row_of(colour, channel, y)[x] * (which == ONE_PART ? share : 1 - share);
        }
    }
    made->color_trc = which == VALUES ? AVCOL_TRC_LINEAR : AVCOL_TRC_UNSPECIFIED;
    return made;
}

/** One frame with all that is beside it. */
static void run_beside(struct hs_avfilter *filter, int time, AVFrame *results[BESIDES],
                       AVFrame *out)
{
    static const enum hs_avfilter_aov_kind kinds[BESIDES] = {
        HS_AVFILTER_AOV_LIGHT, HS_AVFILTER_AOV_LIGHT, HS_AVFILTER_AOV_DATA};
    AVFrame *colour = rig_colour(AV_PIX_FMT_GBRAPF32, RENDER_W, RENDER_H, time);
    AVFrame *in[BESIDES];
    const AVFrame *inputs[HS_AVFILTER_INPUTS] = {colour};
    struct hs_avfilter_aov aovs[BESIDES];

    for (int i = 0; i < BESIDES; i++) {
        in[i] = beside(colour, i);
        results[i] = av_frame_alloc();
        aovs[i] = (struct hs_avfilter_aov){in[i], results[i], kinds[i]};
    }
    REQUIRE_EQ(hs_avfilter_run_aovs(filter, inputs, aovs, BESIDES, out), 0);
    for (int i = 0; i < BESIDES; i++)
        av_frame_free(&in[i]);
    av_frame_free(&colour);
}

// Parts of the light add up to the picture; values stay what they are.
static void require_sums(AVFrame *const aovs[BESIDES], const AVFrame *out)
{
    for (int y = 0; y < out->height; y++) {
        for (int i = 0; i < 3 * out->width; i++) {
            const int x = i / 3, channel = i % 3;
            const float sum =
                row_of(aovs[ONE_PART], channel, y)[x] + row_of(aovs[THE_OTHER_PART], channel, y)[x];

            // Shares are added up in floats, about a hundred products each: 100 * 2^-24.
            REQUIRE_NEAR(sum, row_of(out, channel, y)[x], 1e-5);
        }
        for (int x = 0; x < out->width; x++) {
            REQUIRE_NEAR(row_of(aovs[VALUES], 1, y)[x], 0.5, 1e-5);
            REQUIRE_NEAR(row_of(aovs[VALUES], 0, y)[x], 0, 1e-6);
        }
    }
}

// The third frame has a history, of the picture and of each plane beside it; a first one has none.
static void aovs_beside_the_colour(struct test_rng *rng)
{
    AVFrame *aovs[2][BESIDES], *outs[2];
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    for (int fresh = 0; fresh < 2; fresh++) {
        struct hs_avfilter *filter = rig_filter(&rig, "model=taau:exposure=1");
        struct hs_avfilter_format format;

        for (int time = fresh ? 2 : 0; time < 3; time++) {
            AVFrame *colour = rig_colour(AV_PIX_FMT_GBRAPF32, RENDER_W, RENDER_H, time);

            if (time == (fresh ? 2 : 0))
                REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_GBRAPF32, &format), 0);
            av_frame_free(&colour);
            outs[fresh] = av_frame_alloc();
            run_beside(filter, time, aovs[fresh], outs[fresh]);
            REQUIRE_EQ(aovs[fresh][ONE_PART]->format, AV_PIX_FMT_GBRPF32);
            REQUIRE_EQ(aovs[fresh][THE_OTHER_PART]->format, AV_PIX_FMT_GBRAPF32);
            REQUIRE_EQ(aovs[fresh][VALUES]->color_trc, AVCOL_TRC_LINEAR);
            REQUIRE_EQ(aovs[fresh][THE_OTHER_PART]->pts, time);
            require_sums(aovs[fresh], outs[fresh]);
            for (int i = 0; time < 2 && i < BESIDES; i++)
                av_frame_free(&aovs[fresh][i]);
            if (time < 2)
                av_frame_free(&outs[fresh]);
        }
        hs_avfilter_free(&filter);
    }
    for (int i = 0; i < BESIDES; i++) {
        const double most = greatest(aovs[0][i], aovs[1][i]);

        REQUIRE_MSG(most > 0.05, "history changes plane %d by %g only", i, most);
        av_frame_free(&aovs[0][i]);
        av_frame_free(&aovs[1][i]);
    }
    av_frame_free(&outs[0]);
    av_frame_free(&outs[1]);
    REQUIRE_EQ(rig_said().errors, 0);
    rig_close(&rig);
}

static void wrong_aovs(struct test_rng *rng)
{
    AVFrame *colour = rig_colour(AV_PIX_FMT_GBRAPF32, RENDER_W, RENDER_H, 0);
    AVFrame *small = rig_colour(AV_PIX_FMT_GBRAPF32, RENDER_W - 8, RENDER_H, 0);
    AVFrame *bytes = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 0);
    AVFrame *out = av_frame_alloc(), *blank = av_frame_alloc();
    const AVFrame *inputs[HS_AVFILTER_INPUTS] = {colour};
    struct hs_avfilter_aov aovs[HS_AVFILTER_AOV_MAX + 1] = {{colour, blank, 0}};
    struct hs_avfilter_format format;
    struct hs_avfilter *filter;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    filter = rig_filter(&rig, "model=taau");
    REQUIRE_ERROR(hs_avfilter_run_aovs(filter, inputs, aovs, 1, out), AVERROR(EINVAL), "formats");
    REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), 0);
    REQUIRE_ERROR(hs_avfilter_run_aovs(filter, inputs, aovs, HS_AVFILTER_AOV_MAX + 1, out),
                  AVERROR(EINVAL), "at most 32");
    REQUIRE_ERROR(hs_avfilter_run_aovs(filter, inputs, aovs, -1, out), AVERROR(EINVAL),
                  "at most 32");
    // The second of them has nothing.
    REQUIRE_ERROR(hs_avfilter_run_aovs(filter, inputs, aovs, 2, out), AVERROR(EINVAL), "aov1");
    aovs[0].in = small;
    REQUIRE_ERROR(hs_avfilter_run_aovs(filter, inputs, aovs, 1, out), AVERROR(EINVAL),
                  "aov0: expected 48x32, found 40x32");
    aovs[0].in = bytes;
    REQUIRE_ERROR(hs_avfilter_run_aovs(filter, inputs, aovs, 1, out), AVERROR(EINVAL),
                  "aov0: rgba is not accepted");
    aovs[0] = (struct hs_avfilter_aov){colour, out, HS_AVFILTER_AOV_LIGHT};
    REQUIRE_ERROR(hs_avfilter_run_aovs(filter, inputs, aovs, 1, out), AVERROR(EINVAL),
                  "the frame is that of");
    aovs[0].out = small;
    REQUIRE_ERROR(hs_avfilter_run_aovs(filter, inputs, aovs, 1, out), AVERROR(EINVAL),
                  "output of aov0: expected 96x64");
    aovs[0] = (struct hs_avfilter_aov){colour, blank, (enum hs_avfilter_aov_kind)7};
    REQUIRE_ERROR(hs_avfilter_run_aovs(filter, inputs, aovs, 1, out), AVERROR(EINVAL), "kind");
    REQUIRE(!out->buf[0] && !blank->buf[0]);
    REQUIRE_STR(hs_avfilter_input_name((enum hs_avfilter_input)(HS_AVFILTER_AOV + 31)), "aov31");
    REQUIRE_EQ(hs_avfilter_formats(HS_AVFILTER_AOV, false)[0], AV_PIX_FMT_RGBAF16);
    hs_avfilter_free(&filter);
    av_frame_free(&colour);
    av_frame_free(&small);
    av_frame_free(&bytes);
    av_frame_free(&out);
    av_frame_free(&blank);
    rig_close(&rig);
}

/** The second of two frames: with motion or without, held or not. */
static AVFrame *second(struct rig *rig, bool motion, bool held)
{
    struct hs_avfilter *filter = rig_filter(rig, "model=taau:exposure=1");
    AVFrame *out = NULL;

    for (int time = 0; time < 2; time++) {
        AVFrame *colour = rig_colour(AV_PIX_FMT_GBRAPF32, RENDER_W, RENDER_H, time);
        AVFrame *vectors = rig_motion(AV_PIX_FMT_GBRPF32, RENDER_W, RENDER_H);
        const AVFrame *inputs[HS_AVFILTER_INPUTS] = {
            [HS_AVFILTER_COLOUR] = colour, [HS_AVFILTER_MOTION] = motion ? vectors : NULL};
        struct hs_avfilter_format format;

        REQUIRE_GE(av_dict_set(&colour->metadata, "hindsight.held", held && time ? "1" : "0", 0),
                   0);
        if (time == 0)
            REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_GBRAPF32, &format), 0);
        av_frame_free(&out);
        out = av_frame_alloc();
        REQUIRE_EQ(hs_avfilter_run(filter, inputs, out), 0);
        av_frame_free(&colour);
        av_frame_free(&vectors);
    }
    hs_avfilter_free(&filter);
    return out;
}

static void held_frames_do_not_move(struct test_rng *rng)
{
    AVFrame *moved, *held, *still;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    moved = second(&rig, true, false);
    held = second(&rig, true, true);
    still = second(&rig, false, true);
    rig_require_same(held, still);
    REQUIRE(greatest(moved, held) > 1e-3);
    av_frame_free(&moved);
    av_frame_free(&held);
    av_frame_free(&still);
    rig_close(&rig);
}

/** The stand-in of the library in this mode, or taau without one. */
static AVFrame *denoised(struct rig *rig, const char *mode, enum AVPixelFormat format, bool guides)
{
    struct hs_avfilter *filter =
        rig_filter(rig, mode ? "model=oidn:exposure=1" : "model=taau:exposure=1");
    AVFrame *colour = rig_colour(format, RENDER_W, RENDER_H, 0);
    AVFrame *albedo = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 9);
    AVFrame *normal = rig_colour(AV_PIX_FMT_GBRPF32, RENDER_W, RENDER_H, 5);
    const AVFrame *inputs[HS_AVFILTER_INPUTS] = {colour};
    AVFrame *out;

    if (guides) {
        inputs[HS_AVFILTER_DIFFUSE_ALBEDO] = albedo;
        inputs[HS_AVFILTER_NORMAL] = normal;
    }
    REQUIRE_EQ(setenv("FAKE_OIDN", mode ? mode : "", 1), 0);
    out = one(filter, inputs, NULL, 0);
    av_frame_free(&colour);
    av_frame_free(&albedo);
    av_frame_free(&normal);
    hs_avfilter_free(&filter);
    return out;
}

// The library is told which kind of colour it gets: the stand-in makes half of it then.
static void denoise_display(struct test_rng *rng)
{
    AVFrame *half, *whole;
    double sums[2] = {0};
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    half = denoised(&rig, "range", AV_PIX_FMT_RGBA, false);
    whole = denoised(&rig, "copy", AV_PIX_FMT_RGBA, false);
    for (int y = 0; y < half->height; y++) {
        for (int i = 0; i < 3 * half->width; i++) {
            sums[0] += row_of(half, i % 3, y)[i / 3];
            sums[1] += row_of(whole, i % 3, y)[i / 3];
        }
    }
    // Resolving goes by differences of colours, which are half as large, too.
    REQUIRE_NEAR(sums[0] / sums[1], 0.5, 0.01);
    REQUIRE_EQ(rig_said().errors, 0);
    av_frame_free(&half);
    av_frame_free(&whole);
    rig_close(&rig);
}

static void open_image_denoise(struct test_rng *rng)
{
    static const enum AVPixelFormat formats[] = {AV_PIX_FMT_GBRAPF32, AV_PIX_FMT_RGBAF16,
                                                 AV_PIX_FMT_RGBAF32};
    AVFrame *colour = rig_colour(AV_PIX_FMT_GBRAPF32, RENDER_W, RENDER_H, 0);
    AVFrame *small = rig_colour(AV_PIX_FMT_GBRPF32, RENDER_W, RENDER_H - 8, 0);
    AVFrame *bytes = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 0);
    AVFrame *lent, *taau, *albedo, *normal, *bare, *out = av_frame_alloc();
    const AVFrame *inputs[HS_AVFILTER_INPUTS] = {colour};
    struct hs_avfilter_format format;
    struct hs_avfilter *filter;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        AVFrame *copy = denoised(&rig, "copy", formats[i], true);

        // Uploaded as 32-bit floats, whatever they were.
        taau = denoised(&rig, NULL, formats[i], false);
        REQUIRE(greatest(copy, taau) < 2e-3);
        av_frame_free(&taau);
        av_frame_free(&copy);
    }
    albedo = denoised(&rig, "albedo", AV_PIX_FMT_GBRAPF32, true);
    normal = denoised(&rig, "normal", AV_PIX_FMT_GBRAPF32, true);
    bare = denoised(&rig, "copy", AV_PIX_FMT_GBRAPF32, false);
    REQUIRE(greatest(albedo, bare) > 0.1 && greatest(normal, albedo) > 0.1);
    REQUIRE_EQ(rig_said().errors, 0);
    filter = rig_filter(&rig, "model=oidn");
    REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), 0);
    REQUIRE_EQ(setenv("FAKE_OIDN", "fail", 1), 0);
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR_BUG, "the fake says no");
    inputs[HS_AVFILTER_NORMAL] = small;
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL), "normal: expected 48x32");
    lent = rig_upload(&rig, bytes);
    REQUIRE_ERROR(rig_configure(filter, lent, AV_PIX_FMT_NONE, &format), AVERROR(EINVAL),
                  "system memory");
    inputs[HS_AVFILTER_NORMAL] = lent;
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL),
                  "normal: oidn works on the CPU");
    hs_avfilter_free(&filter);
    av_frame_free(&colour);
    av_frame_free(&small);
    av_frame_free(&bytes);
    av_frame_free(&lent);
    av_frame_free(&albedo);
    av_frame_free(&normal);
    av_frame_free(&bare);
    av_frame_free(&out);
    rig_close(&rig);
}

static const struct test_case cases[] = {
    {"looks", looks},
    {"aovs_beside_the_colour", aovs_beside_the_colour},
    {"wrong_aovs", wrong_aovs},
    {"held_frames_do_not_move", held_frames_do_not_move},
    {"denoise_display", denoise_display},
    {"open_image_denoise", open_image_denoise},
};
TEST_MAIN(cases)
