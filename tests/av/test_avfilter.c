// SPDX-License-Identifier: MIT
// Pixels and properties: the same as the engine's, whichever way the frames come and go.
#include "rig.h"

#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_vulkan.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

#include "tests/test.h"

#define FRAMES 4

/** Planes of a GBR format by channel R, G, B, A. */
static const int gbr[4] = {2, 0, 1, 3};

static float at(const AVFrame *frame, int plane, int x, int y)
{
    const uint8_t *row = frame->data[plane] + y * frame->linesize[plane];

    return ((const float *)(const void *)row)[x];
}

/** The engine itself, on the frames that `rig_*` make: what the filter is held against. */
static void *engine_frame(struct fixture *fx, struct hs_stream *stream, int time, VkFormat format,
                          const AVFrame *colour, const AVFrame *depth, const AVFrame *motion,
                          const float jitter[2])
{
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    float *xy = malloc(sizeof(float) * 2 * RENDER_W * RENDER_H);
    float *z = malloc(sizeof(float) * RENDER_W * RENDER_H);
    float *rgba = malloc(sizeof(float) * 4 * RENDER_W * RENDER_H);
    struct fx_planes planes = {0};
    struct hs_frame frame;
    void *pixels;

    REQUIRE(xy && z && rgba);
    for (int y = 0; y < RENDER_H; y++) {
        for (int x = 0; x < RENDER_W; x++) {
            const int i = y * RENDER_W + x;

            for (int c = 0; c < 4; c++)
                rgba[4 * i + c] = at(colour, gbr[c], x, y);
            z[i] = at(depth, 0, x, y);
            xy[2 * i] = at(motion, gbr[0], x, y);
            xy[2 * i + 1] = at(motion, gbr[1], x, y);
        }
    }
    planes.colour = fx_image(fx, VK_FORMAT_R32G32B32A32_SFLOAT, RENDER_W, RENDER_H,
                             VK_IMAGE_USAGE_SAMPLED_BIT, read, rgba);
    planes.depth =
        fx_image(fx, VK_FORMAT_R32_SFLOAT, RENDER_W, RENDER_H, VK_IMAGE_USAGE_SAMPLED_BIT, read, z);
    planes.motion = fx_image(fx, VK_FORMAT_R32G32_SFLOAT, RENDER_W, RENDER_H,
                             VK_IMAGE_USAGE_SAMPLED_BIT, read, xy);
    planes.output = fx_image(fx, format, 2 * RENDER_W, 2 * RENDER_H, VK_IMAGE_USAGE_STORAGE_BIT,
                             VK_IMAGE_LAYOUT_GENERAL, NULL);
    frame = fx_planes_frame(&planes, time);
    frame.depth_params = (struct hs_depth_params){0};
    frame.motion_params.scale[0] = frame.motion_params.scale[1] = 1;
    frame.jitter[0] = jitter[0];
    frame.jitter[1] = jitter[1];
    frame.exposure.value = 1.25f;
    REQUIRE_EQ(fx_frame(fx, stream, &frame), 0);
    fx_wait(fx);
    pixels = fx_read(fx, &planes.output, VK_IMAGE_LAYOUT_GENERAL);
    hs_stream_forget(stream, VK_NULL_HANDLE);
    fx_planes_destroy(fx, &planes);
    free(xy);
    free(z);
    free(rgba);
    return pixels;
}

static void equals_the_engine(struct test_rng *rng)
{
    struct rig rig;
    struct hs_avfilter *filter;
    struct hs_avfilter_format format;
    struct hs_stream *stream;

    (void)rng;
    OPEN(&rig);
    REQUIRE_EQ(
        hs_model_load(rig.fx.device, &(struct hs_model_params){.preset = "taau"}, &rig.fx.model),
        0);
    filter = rig_filter(&rig, "model=taau:exposure=1.25");
    stream = fx_stream(&rig.fx, 2 * RENDER_W, 2 * RENDER_H, RENDER_W, RENDER_H, 0);
    for (int time = 0; time < FRAMES; time++) {
        const float jitter[2] = {0.25f * (float)(time & 1), -0.125f};
        AVFrame *inputs[HS_AVFILTER_INPUTS] = {
            rig_colour(AV_PIX_FMT_GBRAPF32, RENDER_W, RENDER_H, time),
            rig_depth(AV_PIX_FMT_GRAYF32, RENDER_W, RENDER_H, time),
            rig_motion(AV_PIX_FMT_GBRPF32, RENDER_W, RENDER_H)};
        AVFrame *out = av_frame_alloc();
        char text[64];
        float *want;

        snprintf(text, sizeof(text), "%g %g", (double)jitter[0], (double)jitter[1]);
        REQUIRE_GE(av_dict_set(&inputs[0]->metadata, "hindsight.jitter", text, 0), 0);
        if (time == 0)
            REQUIRE_EQ(rig_configure(filter, inputs[0], AV_PIX_FMT_RGBAF32, &format), 0);
        REQUIRE_EQ(hs_avfilter_run(filter, (const AVFrame *const *)inputs, out), 0);
        want = engine_frame(&rig.fx, stream, time, VK_FORMAT_R32G32B32A32_SFLOAT, inputs[0],
                            inputs[1], inputs[2], jitter);
        for (int y = 0; y < 2 * RENDER_H; y++)
            REQUIRE_MEM(out->data[0] + y * out->linesize[0], want + y * 2 * RENDER_W * 4,
                        2 * RENDER_W * 16);
        free(want);
        av_frame_free(&out);
        for (int i = 0; i < HS_AVFILTER_INPUTS; i++)
            av_frame_free(&inputs[i]);
    }
    REQUIRE_EQ(rig_said().errors, 0);
    hs_stream_destroy(&stream);
    hs_avfilter_free(&filter);
    rig_close(&rig);
}

/** One frame through a filter, with planes lent or in system memory, into either kind. */
static AVFrame *through(struct rig *rig, struct hs_avfilter *filter, int time,
                        enum AVPixelFormat format, bool lent, bool vulkan_out)
{
    AVFrame *inputs[HS_AVFILTER_INPUTS] = {rig_colour(format, RENDER_W, RENDER_H, time),
                                           rig_depth(AV_PIX_FMT_GRAYF32, RENDER_W, RENDER_H, time),
                                           rig_motion(AV_PIX_FMT_GBRPF32, RENDER_W, RENDER_H),
                                           rig_depth(AV_PIX_FMT_GRAY8, RENDER_W, RENDER_H, time)};
    struct hs_avfilter_format out_format;
    AVFrame *out = av_frame_alloc(), *back;
    AVVkFrame *lent_frame = NULL;
    uint64_t value = 0;

    for (int i = 0; lent && i < 2; i++) {
        AVFrame *up = rig_upload(rig, inputs[i]);

        av_frame_free(&inputs[i]);
        inputs[i] = up;
    }
    if (lent) {
        lent_frame = (AVVkFrame *)(void *)inputs[0]->data[0];
        value = lent_frame->sem_value[0];
    }
    if (time == 0)
        REQUIRE_EQ(rig_configure(filter, inputs[0],
                                 vulkan_out ? AV_PIX_FMT_VULKAN : AV_PIX_FMT_RGBA64, &out_format),
                   0);
    REQUIRE_EQ(hs_avfilter_run(filter, (const AVFrame *const *)inputs, out), 0);
    if (lent) {
        REQUIRE_EQ(lent_frame->sem_value[0], value + 1);
        REQUIRE_EQ(lent_frame->layout[0], VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    }
    for (int i = 0; i < HS_AVFILTER_INPUTS; i++)
        av_frame_free(&inputs[i]);
    REQUIRE_EQ(out->pts, time);
    if (!vulkan_out)
        return out;
    REQUIRE_EQ(out->format, AV_PIX_FMT_VULKAN);
    back = rig_download(rig, out);
    av_frame_free(&out);
    return back;
}

static void lent_and_copied_agree(struct test_rng *rng)
{
    static const enum AVPixelFormat formats[] = {AV_PIX_FMT_RGBA64, AV_PIX_FMT_RGBA,
                                                 AV_PIX_FMT_BGRA};
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    for (size_t k = 0; k < sizeof(formats) / sizeof(formats[0]); k++) {
        struct hs_avfilter *filters[4];

        for (int i = 0; i < 4; i++)
            filters[i] = rig_filter(&rig, "format=rgba64");
        for (int time = 0; time < FRAMES; time++) {
            AVFrame *first = through(&rig, filters[0], time, formats[k], false, false);

            for (int i = 1; i < 4; i++) {
                AVFrame *other = through(&rig, filters[i], time, formats[k], i & 1, i & 2);

                rig_require_same(first, other);
                av_frame_free(&other);
            }
            av_frame_free(&first);
        }
        for (int i = 0; i < 4; i++)
            hs_avfilter_free(&filters[i]);
    }
    REQUIRE_EQ(rig_said().errors, 0);
    rig_close(&rig);
}

static void formats_of_motion_agree(struct test_rng *rng)
{
    static const enum AVPixelFormat formats[] = {AV_PIX_FMT_GBRPF32, AV_PIX_FMT_GBRAPF32,
                                                 AV_PIX_FMT_RGBAF32, AV_PIX_FMT_RGBAF16,
                                                 AV_PIX_FMT_RGBA64};
    AVFrame *first = NULL;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    for (size_t k = 0; k < sizeof(formats) / sizeof(formats[0]); k++) {
        struct hs_avfilter *filter = rig_filter(&rig, "format=gbrpf32");
        struct hs_avfilter_format format;
        AVFrame *out = av_frame_alloc();

        for (int time = 0; time < 2; time++) {
            AVFrame *inputs[HS_AVFILTER_INPUTS] = {
                rig_colour(AV_PIX_FMT_RGBAF16, RENDER_W, RENDER_H, time), NULL,
                rig_motion(formats[k], RENDER_W, RENDER_H)};

            if (time == 0)
                REQUIRE_EQ(rig_configure(filter, inputs[0], AV_PIX_FMT_NONE, &format), 0);
            av_frame_unref(out);
            REQUIRE_EQ(hs_avfilter_run(filter, (const AVFrame *const *)inputs, out), 0);
            av_frame_free(&inputs[0]);
            av_frame_free(&inputs[2]);
        }
        hs_avfilter_free(&filter);
        if (first) {
            rig_require_same(first, out);
            av_frame_free(&out);
        } else {
            first = out;
        }
    }
    av_frame_free(&first);
    rig_close(&rig);
}

static void properties_are_carried(struct test_rng *rng)
{
    AVFrame *colour, *out = av_frame_alloc();
    struct hs_avfilter_format format;
    struct hs_avfilter *filter;
    int64_t count = 0;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    filter = rig_filter(&rig, "w=96:h=64:sharpness=0.5");
    colour = rig_colour(AV_PIX_FMT_RGBA, 48, 24, 7);
    colour->color_primaries = AVCOL_PRI_BT2020;
    colour->color_trc = AVCOL_TRC_IEC61966_2_1;
    colour->color_range = AVCOL_RANGE_JPEG;
    colour->sample_aspect_ratio = (AVRational){1, 1};
    colour->duration = 3;
    av_dict_set(&colour->metadata, "scene", "bridge", 0);
    REQUIRE(av_frame_new_side_data(colour, AV_FRAME_DATA_REGIONS_OF_INTEREST, 64));
    REQUIRE(av_frame_new_side_data(colour, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, 8));
    REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), 0);
    REQUIRE_EQ(format.width, 96);
    REQUIRE_EQ(format.height, 64);
    REQUIRE_EQ(hs_avfilter_run(filter, (const AVFrame *const[HS_AVFILTER_INPUTS]){colour}, out), 0);
    REQUIRE_EQ(out->pts, 7);
    REQUIRE_EQ(out->duration, 3);
    REQUIRE_EQ(out->format, AV_PIX_FMT_RGBA);
    REQUIRE_EQ(out->color_primaries, AVCOL_PRI_BT2020);
    REQUIRE_EQ(out->color_trc, AVCOL_TRC_IEC61966_2_1);
    REQUIRE_EQ(out->color_range, AVCOL_RANGE_JPEG);
    // 48x24 became 96x64: pixels are 4/3 as wide as they were, in relation to their height.
    REQUIRE_EQ(av_cmp_q(out->sample_aspect_ratio, (AVRational){4, 3}), 0);
    REQUIRE_STR(av_dict_get(out->metadata, "scene", NULL, 0)->value, "bridge");
    REQUIRE(!av_frame_get_side_data(out, AV_FRAME_DATA_REGIONS_OF_INTEREST));
    REQUIRE(av_frame_get_side_data(out, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL));
    // A second frame into the same output leaves nothing of the first.
    av_dict_set(&colour->metadata, "scene", NULL, 0);
    av_dict_set(&colour->metadata, "shot", "2", 0);
    REQUIRE_EQ(hs_avfilter_run(filter, (const AVFrame *const[HS_AVFILTER_INPUTS]){colour}, out), 0);
    REQUIRE_EQ(out->nb_side_data, 1);
    REQUIRE(!av_dict_get(out->metadata, "scene", NULL, 0));
    REQUIRE_STR(av_dict_get(out->metadata, "shot", NULL, 0)->value, "2");
    REQUIRE_EQ(av_opt_get_int(filter, "frame_count", 0, &count), 0);
    REQUIRE_EQ(count, 2);
    av_frame_free(&colour);
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

/** The picture of noisy colour with those guides whose bit is set. */
static AVFrame *guided(struct rig *rig, const char *options, unsigned mask)
{
    static const enum AVPixelFormat formats[HS_AVFILTER_INPUTS] = {
        [HS_AVFILTER_COLOUR] = AV_PIX_FMT_GBRPF32,
        [HS_AVFILTER_DIFFUSE_ALBEDO] = AV_PIX_FMT_RGBA,
        [HS_AVFILTER_SPECULAR_ALBEDO] = AV_PIX_FMT_RGBAF32,
        [HS_AVFILTER_NORMAL] = AV_PIX_FMT_GBRPF32,
        [HS_AVFILTER_ROUGHNESS] = AV_PIX_FMT_GRAY8,
        [HS_AVFILTER_HIT_DISTANCE] = AV_PIX_FMT_GRAYF32,
    };
    struct hs_avfilter *filter = rig_filter(rig, options);
    AVFrame *inputs[HS_AVFILTER_INPUTS] = {0}, *out = av_frame_alloc();
    struct hs_avfilter_format format;

    for (int i = 0; i < HS_AVFILTER_INPUTS; i++) {
        const bool scalar = i >= HS_AVFILTER_ROUGHNESS;

        if (i && !(mask >> i & 1))
            continue;
        inputs[i] = (scalar ? rig_depth : rig_colour)(formats[i], RENDER_W, RENDER_H, i);
    }
    // Grain of a hundred levels, the same every time.
    for (int y = 0; y < RENDER_H; y++) {
        for (int x = 0; x < 3 * RENDER_W; x++) {
            float *value = (float *)(void *)(inputs[0]->data[x / RENDER_W] +
                                             y * inputs[0]->linesize[x / RENDER_W]);
            value[x % RENDER_W] *= 0.02f * (float)(((x % RENDER_W) * 37 + y * 61) % 100);
        }
    }
    REQUIRE_EQ(rig_configure(filter, inputs[0], AV_PIX_FMT_RGBAF32, &format), 0);
    REQUIRE_EQ(hs_avfilter_run(filter, (const AVFrame *const *)inputs, out), 0);
    for (int i = 0; i < HS_AVFILTER_INPUTS; i++)
        av_frame_free(&inputs[i]);
    hs_avfilter_free(&filter);
    return out;
}

static bool differ(const AVFrame *a, const AVFrame *b)
{
    bool other = false;

    for (int y = 0; y < a->height; y++)
        other |= memcmp(a->data[0] + y * a->linesize[0], b->data[0] + y * b->linesize[0],
                        (size_t)a->width * 16) != 0;
    return other;
}

// Models that read guides get them; others neither look at them nor at their sizes.
static void guides_and_fireflies(struct test_rng *rng)
{
    const unsigned all = (1u << HS_AVFILTER_INPUTS) - (1u << HS_AVFILTER_DIFFUSE_ALBEDO);
    const AVFrame *wrong[HS_AVFILTER_INPUTS] = {0};
    AVFrame *whole, *plain, *other, *colour, *small;
    struct hs_avfilter_format format;
    struct hs_avfilter *filter;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    whole = guided(&rig, "model=atrous:exposure=1", all);
    for (int i = HS_AVFILTER_DIFFUSE_ALBEDO; i < HS_AVFILTER_INPUTS; i++) {
        other = guided(&rig, "model=atrous:exposure=1", all & ~(1u << i));
        REQUIRE_MSG(differ(whole, other), "%s does nothing",
                    hs_avfilter_input_name((enum hs_avfilter_input)i));
        av_frame_free(&other);
    }
    plain = guided(&rig, "model=taau:exposure=1", 0);
    other = guided(&rig, "model=taau:exposure=1", all);
    REQUIRE(!differ(plain, other));
    av_frame_free(&other);
    other = guided(&rig, "model=taau:exposure=1:firefly_clamp=0.3", 0);
    REQUIRE(differ(plain, other));
    for (int y = 0; y < other->height; y++) {
        const float *row = (const float *)(const void *)(other->data[0] + y * other->linesize[0]);

        for (int x = 0; x < other->width; x++)
            REQUIRE(0.2126f * row[4 * x] + 0.7152f * row[4 * x + 1] + 0.0722f * row[4 * x + 2] <
                    0.6f);
    }
    colour = rig_colour(AV_PIX_FMT_GBRPF32, RENDER_W, RENDER_H, 0);
    small = rig_colour(AV_PIX_FMT_GBRPF32, RENDER_W - 8, RENDER_H, 0);
    wrong[HS_AVFILTER_COLOUR] = colour;
    wrong[HS_AVFILTER_NORMAL] = small;
    filter = rig_filter(&rig, "model=atrous");
    REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), 0);
    av_frame_unref(other);
    REQUIRE_ERROR(hs_avfilter_run(filter, wrong, other), AVERROR(EINVAL), "normal");
    hs_avfilter_free(&filter);
    av_frame_free(&whole);
    av_frame_free(&plain);
    av_frame_free(&other);
    av_frame_free(&colour);
    av_frame_free(&small);
    rig_close(&rig);
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

/** What libavutil makes by itself: no validation, but its own features. */
static void works_on_the_own_device_of_libavutil(struct test_rng *rng)
{
    struct hs_avfilter *filter = hs_avfilter_alloc();
    AVFrame *colour = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 0);
    AVFrame *out = av_frame_alloc();
    struct hs_avfilter_format format;
    AVBufferRef *device = NULL;
    int64_t matrix = -1;

    (void)rng;
    if (av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_VULKAN, getenv("HS_TEST_DEVICE"), NULL,
                               0) < 0) {
        av_frame_free(&colour);
        av_frame_free(&out);
        hs_avfilter_free(&filter);
        TEST_SKIP("libavutil makes no Vulkan device");
    }
    REQUIRE_EQ(hs_avfilter_open(filter, device), 0);
    REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), 0);
    REQUIRE_EQ(hs_avfilter_run(filter, (const AVFrame *const[HS_AVFILTER_INPUTS]){colour}, out), 0);
    REQUIRE_EQ(av_opt_get_int(filter, "matrix_path", 0, &matrix), 0);
    REQUIRE(matrix == 0 || matrix == 1);
    av_buffer_unref(&device);
    av_frame_free(&colour);
    av_frame_free(&out);
    hs_avfilter_free(&filter);
}

static const struct test_case cases[] = {
    {"equals_the_engine", equals_the_engine},
    {"lent_and_copied_agree", lent_and_copied_agree},
    {"formats_of_motion_agree", formats_of_motion_agree},
    {"properties_are_carried", properties_are_carried},
    {"guides_and_fireflies", guides_and_fireflies},
    {"cuts", cuts},
    {"dynamic_resolution", dynamic_resolution},
    {"works_on_the_own_device_of_libavutil", works_on_the_own_device_of_libavutil},
};
TEST_MAIN(cases)
