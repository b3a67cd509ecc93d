// SPDX-License-Identifier: MIT
// Whole sequences: queued frames, independence of streams, resets, sizes, exposure, bad pixels.
#include <math.h>
#include <unistd.h>

#include "fixture.h"
#include "model_file.h"
#include "tests/test.h"

#define RW 48
#define RH 40
#define OW 96
#define OH 80
#define FRAMES 6
#define HALF VK_FORMAT_R16G16B16A16_SFLOAT
#define FULL VK_FORMAT_R32G32B32A32_SFLOAT

static struct fixture fx;
static struct fx_planes planes[FRAMES];

static void open_all(VkFormat output)
{
    for (int i = 0; i < FRAMES; i++)
        fx_planes_create(&fx, RW, RH, OW, OH, output, i, &planes[i]);
}

static void close_all(void)
{
    for (int i = 0; i < FRAMES; i++)
        fx_planes_destroy(&fx, &planes[i]);
    fx_close(&fx);
}

static void *output(int i)
{
    return fx_read(&fx, &planes[i].output, VK_IMAGE_LAYOUT_GENERAL);
}

/** Plays all frames on a new stream with a change applied; returns the last picture. */
static float *play(uint32_t flags, void (*change)(struct hs_frame *f, int i, void *priv),
                   void *priv)
{
    struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, flags);
    for (int i = 0; i < FRAMES; i++) {
        struct hs_frame frame = fx_planes_frame(&planes[i], i);
        if (change)
            change(&frame, i, priv);
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
    }
    fx_wait(&fx);
    hs_stream_destroy(&stream);
    return output(FRAMES - 1);
}

static void queued_equals_waited(struct test_rng *rng)
{
    (void)rng;
    FX_OPEN(&fx, NULL, "taau");
    open_all(HALF);
    void *pictures[FRAMES];
    for (int waited = 0; waited < 2; waited++) {
        struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, 0);
        for (int i = 0; i < FRAMES; i++) {
            struct hs_frame frame = fx_planes_frame(&planes[i], i);
            REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
            if (waited)
                fx_wait(&fx);
        }
        fx_wait(&fx);
        for (int i = 0; i < FRAMES; i++) {
            void *got = output(i);
            if (waited) {
                REQUIRE_MEM(pictures[i], got, (size_t)OW * OH * 8);
                free(pictures[i]);
                free(got);
            } else {
                pictures[i] = got;
            }
        }
        hs_stream_destroy(&stream);
    }
    close_all();
}

static void require_preset(const char *preset)
{
    struct hs_model_info info;
    hs_model_describe(fx.model, &info);
    REQUIRE_MSG(!strcmp(info.preset, preset), "%s took over for %s", info.preset, preset);
}

/** Two streams of one model, interleaved, give what each gives alone. */
static void check_independent(const char *preset)
{
    FX_OPEN(&fx, NULL, preset);
    require_preset(preset);
    open_all(HALF);
    void *alone = play(0, NULL, NULL);
    struct hs_stream *a = fx_stream(&fx, OW, OH, RW, RH, 0);
    struct hs_stream *b = fx_stream(&fx, OW, OH, RW, RH, 0);
    struct vkdev_image other =
        fx_image(&fx, HALF, OW, OH, VK_IMAGE_USAGE_STORAGE_BIT, VK_IMAGE_LAYOUT_GENERAL, NULL);
    for (int i = 0; i < FRAMES; i++) {
        struct hs_frame second = fx_planes_frame(&planes[FRAMES - 1 - i], i);
        second.output = fx_plane(&other, VK_IMAGE_LAYOUT_GENERAL);
        REQUIRE_EQ(fx_frame(&fx, b, &second), 0);
        struct hs_frame first = fx_planes_frame(&planes[i], i);
        REQUIRE_EQ(fx_frame(&fx, a, &first), 0);
    }
    fx_wait(&fx);
    void *got = output(FRAMES - 1);
    REQUIRE_MEM(alone, got, (size_t)OW * OH * 8);
    free(got);
    free(alone);
    hs_stream_destroy(&a);
    hs_stream_destroy(&b);
    vkdev_image_destroy(&fx.dev, &other);
    close_all();
}

static void streams_are_independent(struct test_rng *rng)
{
    (void)rng;
    check_independent("taau");
}

/** Runs a check with a small network under the name of `quality`. */
static void with_network(struct test_rng *rng, void (*check)(const char *preset))
{
    struct fx_model_config config = fx_model_tiny;
    char folder[] = "/tmp/hs-sequence-XXXXXX", path[64];
    config.preset = "quality";
    struct fx_model_file file = fx_model_file_make(rng, &config);
    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/hs-quality.safetensors", folder);
    fx_model_file_write(&file, path);
    fx_model_file_finish(&file);
    setenv("HINDSIGHT_MODELS", folder, 1);
    check("quality");
    setenv("HINDSIGHT_MODELS", "", 1);
    REQUIRE(!remove(path) && !remove(folder));
}

static void streams_of_a_network(struct test_rng *rng)
{
    with_network(rng, check_independent);
}

static void reset_at(struct hs_frame *f, int i, void *priv)
{
    f->reset = i == *(int *)priv;
}

/** A cut forgets everything: what follows equals a new stream. Without it, history shows. */
static void check_reset(const char *preset)
{
    int last = FRAMES - 1;
    const size_t bytes = (size_t)OW * OH * 8;
    FX_OPEN(&fx, NULL, preset);
    require_preset(preset);
    open_all(HALF);
    void *history = play(0, NULL, NULL);
    void *cut = play(0, reset_at, &last);
    struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, 0);
    struct hs_frame frame = fx_planes_frame(&planes[last], last);
    REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
    fx_wait(&fx);
    void *fresh = output(last);
    REQUIRE_MEM(cut, fresh, bytes);
    REQUIRE(memcmp(history, fresh, bytes) != 0);
    hs_stream_destroy(&stream);
    free(history);
    free(cut);
    free(fresh);
    close_all();
}

static void reset_forgets(struct test_rng *rng)
{
    (void)rng;
    check_reset("taau");
}

static void reset_forgets_with_a_network(struct test_rng *rng)
{
    with_network(rng, check_reset);
}

/** A frame that is recorded and thrown away leaves nothing behind that a reset does not mend. */
static void lost_frame(struct test_rng *rng)
{
    (void)rng;
    const size_t bytes = (size_t)OW * OH * 8;
    FX_OPEN(&fx, NULL, "taau");
    open_all(HALF);
    void *want = play(0, NULL, NULL);
    for (int copied = 0; copied < 2; copied++) {
        struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, 0);
        for (int i = -1; i < FRAMES; i++) {
            struct hs_frame frame = fx_planes_frame(&planes[i < 0 ? 1 : i], i < 0 ? 1 : i);
            frame.colour.flags = frame.output.flags = copied ? HS_IMAGE_COPY : 0;
            frame.reset = i == 0;
            if (i >= 0) {
                REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
                continue;
            }
            VkCommandBuffer cmd;
            REQUIRE_EQ(vkdev_begin(&fx.dev, &cmd), 0);
            REQUIRE_EQ(hs_stream_record(stream, &frame, cmd), 0);
            REQUIRE_EQ(vkEndCommandBuffer(cmd), VK_SUCCESS);
            vkFreeCommandBuffers(fx.dev.device, fx.dev.pool, 1, &cmd);
        }
        fx_wait(&fx);
        void *got = output(FRAMES - 1);
        REQUIRE_MEM(want, got, bytes);
        free(got);
        hs_stream_destroy(&stream);
    }
    free(want);
    close_all();
}

/** Automatic exposure starts anew at a cut, even one to black, where nothing can be measured. */
static void cut_to_black(struct test_rng *rng)
{
    (void)rng;
    FX_OPEN(&fx, NULL, "taau");
    open_all(FULL);
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    fx_upload(&fx, &planes[2].colour, read, NULL);
    float *pictures[2];
    for (int first = 0; first < 2; first++) {
        struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, 0);
        for (int i = first ? 2 : 0; i < FRAMES; i++) {
            struct hs_frame frame = fx_planes_frame(&planes[i], i);
            frame.exposure = (struct hs_exposure_params){.mode = HS_EXPOSURE_AUTO, .scale = 30};
            frame.reset = i == 2;
            REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
        }
        fx_wait(&fx);
        pictures[first] = output(FRAMES - 1);
        hs_stream_destroy(&stream);
    }
    REQUIRE_MEM(pictures[0], pictures[1], (size_t)OW * OH * 16);
    free(pictures[0]);
    free(pictures[1]);
    close_all();
}

/** Render sizes that change every frame, odd sizes, unequal ratios from 1 to 3. */
static void sizes(struct test_rng *rng)
{
    static const uint32_t outs[][2] = {{97, 81}, {96, 48}, {64, 95}};
    (void)rng;
    FX_OPEN(&fx, NULL, "taau");
    for (int o = 0; o < 3; o++) {
        const uint32_t ow = outs[o][0], oh = outs[o][1];
        struct hs_stream *stream = fx_stream(&fx, ow, oh, 0, 0, 0);
        for (int i = 0; i < 8; i++) {
            const uint32_t rw = ow / 3 + 1 + (uint32_t)i * (ow - ow / 3 - 1) / 7;
            const uint32_t rh = oh - (uint32_t)i * (oh - oh / 3 - 1) / 7;
            struct fx_planes p;
            fx_planes_create(&fx, rw, rh, ow, oh, FULL, i, &p);
            struct hs_frame frame = fx_planes_frame(&p, i);
            REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
            fx_wait(&fx);
            float *got = fx_read(&fx, &p.output, VK_IMAGE_LAYOUT_GENERAL);
            for (size_t k = 0; k < (size_t)ow * oh * 4; k++)
                REQUIRE_MSG(got[k] >= 0 && got[k] < 4, "value %g at %zu of frame %d",
                            (double)got[k], k, i);
            free(got);
            hs_stream_forget(stream, VK_NULL_HANDLE);
            fx_planes_destroy(&fx, &p);
        }
        hs_stream_destroy(&stream);
    }
    fx_close(&fx);
}

static void set_exposure(struct hs_frame *f, int i, void *priv)
{
    (void)i;
    f->exposure = *(struct hs_exposure_params *)priv;
}

static void exposure_sources(struct test_rng *rng)
{
    (void)rng;
    const size_t bytes = (size_t)OW * OH * 16;
    FX_OPEN(&fx, NULL, "taau");
    open_all(FULL);
    struct hs_exposure_params e = {.value = 2.5f};
    float *plain = play(0, NULL, NULL);
    float *given = play(0, set_exposure, &e);
    REQUIRE(memcmp(plain, given, bytes) != 0);

    const float texel = 2.5f, zero = 0;
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    struct vkdev_image image =
        fx_image(&fx, VK_FORMAT_R32_SFLOAT, 1, 1, VK_IMAGE_USAGE_SAMPLED_BIT, read, &texel);
    e = (struct hs_exposure_params){.mode = HS_EXPOSURE_TEXTURE, .texture = fx_plane(&image, read)};
    float *textured = play(0, set_exposure, &e);
    REQUIRE_MEM(given, textured, bytes);
    free(textured);
    e.texture.flags = HS_IMAGE_COPY;
    textured = play(0, set_exposure, &e);
    REQUIRE_MEM(given, textured, bytes);
    free(textured);

    const float texels[6] = {9, 9, 9, 9, 9, 2.5f};
    struct vkdev_image atlas =
        fx_image(&fx, VK_FORMAT_R32_SFLOAT, 3, 2, VK_IMAGE_USAGE_SAMPLED_BIT, read, texels);
    for (uint32_t copied = 0; copied < 2; copied++) {
        struct hs_exposure_params at = {.mode = HS_EXPOSURE_TEXTURE,
                                        .texture = fx_plane(&atlas, read)};
        at.texture.x = 2;
        at.texture.y = 1;
        at.texture.flags = copied ? HS_IMAGE_COPY : 0;
        textured = play(0, set_exposure, &at);
        REQUIRE_MEM(given, textured, bytes);
        free(textured);
    }
    vkdev_image_destroy(&fx.dev, &atlas);

    fx_upload(&fx, &image, read, &zero);
    textured = play(0, set_exposure, &e);
    REQUIRE_MEM(plain, textured, bytes);
    free(textured);

    // value * scale / pre_exposure
    e = (struct hs_exposure_params){.value = 10, .scale = 0.5f, .pre_exposure = 2};
    float *factors = play(0, set_exposure, &e);
    REQUIRE_MEM(given, factors, bytes);

    // Display-referred streams ignore exposure.
    float *ldr = play(HS_STREAM_LDR, NULL, NULL);
    float *ldr_exposed = play(HS_STREAM_LDR, set_exposure, &e);
    REQUIRE_MEM(ldr, ldr_exposed, bytes);
    for (size_t i = 0; i < (size_t)OW * OH * 4; i++)
        REQUIRE(ldr[i] >= 0 && ldr[i] <= 1);
    REQUIRE(memcmp(ldr, plain, bytes) != 0);
    vkdev_image_destroy(&fx.dev, &image);
    free(plain);
    free(given);
    free(factors);
    free(ldr);
    free(ldr_exposed);
    close_all();
}

/** Scales the colour of a frame in place. */
static void scale_colour(float factor)
{
    for (int i = 0; i < FRAMES; i++) {
        const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
        float *c = fx_read(&fx, &planes[i].colour, read);
        for (size_t k = 0; k < (size_t)RW * RH * 4; k++)
            c[k] *= k % 4 < 3 ? factor : 1;
        fx_upload(&fx, &planes[i].colour, read, c);
        free(c);
    }
}

/** Automatic exposure makes the result follow the light: a hundred times of both. */
static void automatic_exposure(struct test_rng *rng)
{
    (void)rng;
    FX_OPEN(&fx, NULL, "taau");
    open_all(FULL);
    struct hs_exposure_params e = {.mode = HS_EXPOSURE_AUTO};
    float *dim = play(0, set_exposure, &e);
    scale_colour(100);
    float *bright = play(0, set_exposure, &e);
    float *fixed = play(0, NULL, NULL);
    double worst_auto = 0, worst_fixed = 0;
    for (size_t i = 0; i < (size_t)OW * OH * 4; i++) {
        if (i % 4 == 3)
            continue;
        const double want = 100.0 * (double)dim[i], scale = fabs(want) + 1;
        worst_auto = fmax(worst_auto, fabs((double)bright[i] - want) / scale);
        worst_fixed = fmax(worst_fixed, fabs((double)fixed[i] - want) / scale);
    }
    // Half-float history rounds at other places when the exposure is no power of two times.
    REQUIRE_FLOAT_LE(worst_auto, 0.01);
    REQUIRE(worst_fixed > 0.01);
    free(dim);
    free(bright);
    free(fixed);
    close_all();
}

/** NaN, infinities and negatives in every plane leave a finite picture, near the clean one. */
static void bad_pixels(struct test_rng *rng)
{
    FX_OPEN(&fx, NULL, "taau");
    open_all(FULL);
    float *clean = play(0, NULL, NULL);
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    const float bad[] = {NAN, INFINITY, -INFINITY, -3, 3e38f};
    for (int i = 0; i < FRAMES; i++) {
        struct vkdev_image *images[] = {&planes[i].colour, &planes[i].depth, &planes[i].motion};
        const uint32_t channels[] = {4, 1, 2};
        for (int k = 0; k < 3; k++) {
            float *data = fx_read(&fx, images[k], read);
            for (int n = 0; n < 12; n++) {
                const uint32_t at = test_rng_below(rng, RW * RH * channels[k]);
                data[at] = bad[test_rng_below(rng, 5)];
            }
            fx_upload(&fx, images[k], read, data);
            free(data);
        }
    }
    float *got = play(0, NULL, NULL);
    size_t changed = 0;
    for (size_t i = 0; i < (size_t)OW * OH * 4; i++) {
        REQUIRE_MSG(isfinite(got[i]), "value %zu is %g", i, (double)got[i]);
        changed += fabsf(got[i] - clean[i]) > 0.05f;
    }
    // Sixty bad colour values reach a few pixels each, not the picture.
    REQUIRE_LT(changed, (size_t)OW * OH * 4 / 10);
    free(clean);
    free(got);
    close_all();
}

static void timings(struct test_rng *rng)
{
    (void)rng;
    FX_OPEN(&fx, NULL, "taau");
    open_all(HALF);
    struct hs_stream *stream = NULL;
    // A stage that runs once a band is reported once.
    REQUIRE_EQ(hs_stream_create(fx.model,
                                &(struct hs_stream_params){.out_width = OW,
                                                           .out_height = OH,
                                                           .max_render_width = RW,
                                                           .max_render_height = RH,
                                                           .flags = HS_STREAM_TIMINGS,
                                                           .bands = 3},
                                &stream),
               0);
    struct hs_stage_time times[HS_MAX_STAGES];
    uint64_t index = 99;
    REQUIRE_EQ(hs_stream_timings(stream, times, &index), 0);
    REQUIRE_EQ(hs_stream_timings(NULL, times, &index), HS_ERR_INVALID);
    for (int i = 0; i < 40; i++) {
        struct hs_frame frame = fx_planes_frame(&planes[i % FRAMES], i);
        frame.sharpness = 0.5f;
        frame.exposure.mode = HS_EXPOSURE_AUTO;
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
        fx_wait(&fx);
        // setup, measure on even frames, expose, prepare, reproject, resolve, finish
        REQUIRE_EQ(hs_stream_timings(stream, times, &index), i % 2 ? 6 : 7);
        REQUIRE_EQ(index, i);
        REQUIRE_STR(times[0].name, "setup");
        REQUIRE_STR(times[i % 2 ? 5 : 6].name, "finish");
        for (int k = 0; k < 6; k++)
            REQUIRE(times[k].ms >= 0 && times[k].ms < 10000);
        REQUIRE_EQ(hs_stream_timings(stream, times, &index), 0);
    }
    // Unread frames: the last ones are kept, in order.
    for (int i = 0; i < 40; i++) {
        struct hs_frame frame = fx_planes_frame(&planes[i % FRAMES], i);
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
    }
    fx_wait(&fx);
    for (uint64_t want = 80 - 16; want < 80; want++) {
        REQUIRE(hs_stream_timings(stream, times, &index) > 0);
        REQUIRE_EQ(index, want);
    }
    REQUIRE_EQ(hs_stream_timings(stream, times, &index), 0);
    hs_stream_destroy(&stream);
    close_all();
}

static void set_sharpness(struct hs_frame *f, int i, void *priv)
{
    (void)i;
    f->sharpness = *(float *)priv;
}

/** Sharpening changes the picture, never beyond the range of its neighbourhood, and no history. */
static void sharpening(struct test_rng *rng)
{
    (void)rng;
    FX_OPEN(&fx, NULL, "taau");
    open_all(FULL);
    float amount = 1;
    float *plain = play(0, NULL, NULL);
    float *sharp = play(0, set_sharpness, &amount);
    double gain = 0;
    for (int y = 1; y < OH - 1; y++) {
        for (int x = 1; x < OW - 1; x++) {
            for (int c = 0; c < 3; c++) {
                const int cross[5][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}};
                float low = INFINITY, high = -INFINITY;
                for (int k = 0; k < 5; k++) {
                    float v = plain[4 * ((y + cross[k][1]) * OW + x + cross[k][0]) + c];
                    low = fminf(low, v);
                    high = fmaxf(high, v);
                }
                const float got = sharp[4 * (y * OW + x) + c];
                REQUIRE(got >= low - 1e-5f && got <= high + 1e-5f);
                gain = fmax(gain, fabs((double)(got - plain[4 * (y * OW + x) + c])));
            }
        }
    }
    REQUIRE(gain > 0.01);
    free(plain);
    free(sharp);
    close_all();
}

static const struct test_case cases[] = {
    {"queued equals waited", queued_equals_waited},
    {"streams are independent", streams_are_independent},
    {"streams of a network", streams_of_a_network},
    {"reset forgets", reset_forgets},
    {"reset forgets with a network", reset_forgets_with_a_network},
    {"lost frame", lost_frame},
    {"cut to black", cut_to_black},
    {"sizes", sizes},
    {"exposure sources", exposure_sources},
    {"automatic exposure", automatic_exposure},
    {"bad pixels", bad_pixels},
    {"timings", timings},
    {"sharpening", sharpening},
};
TEST_MAIN(cases)
