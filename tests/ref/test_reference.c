// SPDX-License-Identifier: MIT
// The reference passes by themselves: what must hold of the algorithm whatever computes it.
#include <ref_window.h>

#include "fixture/model_file.h"
#include "test.h"

static struct hs_weights *weights_make(struct test_rng *rng, float head)
{
    struct fx_model_config config = fx_model_tiny;
    struct hs_weights *weights = NULL;
    size_t size;
    config.head = head;
    struct fx_model_file file = fx_model_file_make(rng, &config);
    unsigned char *bytes = fx_model_file_bytes(&file, &size);
    REQUIRE_EQ(hs_weights_parse(NULL, "random", bytes, size, &weights), 0);
    free(bytes);
    fx_model_file_finish(&file);
    return weights;
}

static void half_rounding(struct test_rng *rng)
{
    (void)rng;
    static const float cases[][2] = {
        {0, 0},
        {1, 1},
        {2049, 2048},
        {2051, 2052},
        {65504, 65504},
        {65519, 65504},
        {65520, INFINITY},
        {-65536, -INFINITY},
        {0x1p-24f, 0x1p-24f},
        {0x1.8p-24f, 0x1p-23f},
        {0x1p-25f, 0},
        {-0x1.8p-25f, -0x1p-24f},
        {0.1f, 0x1.998p-4f},
        {0x1.ffep-15f, 0x1p-14f},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        REQUIRE_MSG(hs_ref_half(cases[i][0]) == cases[i][1], "%a gives %a\n", cases[i][0],
                    hs_ref_half(cases[i][0]));
    REQUIRE(isnan(hs_ref_half(NAN)));
}

static void working_range(struct test_rng *rng)
{
    struct hs_frame_params p = {0};
    for (int i = 0; i < 10000; i++) {
        // Premultiplied, and light without coverage.
        const float a = i % 3 == 0 ? 1 : i % 3 == 1 ? test_rng_float(rng, 0, 1) : 0;
        float in[4] = {0, 0, 0, a}, out[4];
        for (int k = 0; k < 3; k++)
            in[k] = exp2f(test_rng_float(rng, -14, 15));
        const struct hs_ref_work w = hs_ref_encode(&p, in);
        hs_ref_decode(&p, &w, out);
        for (int k = 0; k < 3; k++)
            REQUIRE_MSG(fabsf(out[k] - in[k]) <= in[k] * 0.02f, "%g became %g, alpha %g\n", in[k],
                        out[k], a);
        REQUIRE(out[3] == a);
    }
}

static float wild(struct test_rng *rng)
{
    static const float values[] = {0,     -1,    INFINITY, -INFINITY, NAN,
                                   1e30f, 65504, 1e-30f,   1e10f,     3e38f};
    const uint32_t n = test_rng_below(rng, 40);
    return n < sizeof(values) / sizeof(*values) ? values[n] : test_rng_float(rng, -0.5f, 4);
}

static struct hs_ref_plane wild_plane(struct test_rng *rng, int w, int h, int channels)
{
    struct hs_ref_plane p = {w, h, channels, NULL};
    if (channels != 4 && test_rng_below(rng, 4) == 0)
        return p;
    p = hs_ref_plane_make(w, h, channels);
    REQUIRE(p.texels);
    for (int i = 0; i < w * h * channels; i++)
        p.texels[i] = wild(rng);
    return p;
}

static void require_finite(const struct hs_ref_plane *p, float low, float high)
{
    for (int i = 0; i < p->width * p->height * p->channels; i++)
        REQUIRE_MSG(p->texels[i] >= low && p->texels[i] <= high, "value %d is %g\n", i,
                    p->texels[i]);
}

static void wild_frame(struct test_rng *rng, struct hs_ref_stream *s, int ow, int oh)
{
    const int w = ow / 3 + 1 + (int)test_rng_below(rng, (uint32_t)(ow - ow / 3));
    const int h = oh / 3 + 1 + (int)test_rng_below(rng, (uint32_t)(oh - oh / 3));
    const bool display = test_rng_below(rng, 3) == 0;
    struct hs_ref_plane image = hs_ref_plane_make(ow, oh, 4);
    struct hs_ref_inputs in = {
        .colour = wild_plane(rng, w, h, 4),
        .depth = wild_plane(rng, w, h, 1),
        .motion = wild_plane(rng, display ? ow : w, display ? oh : h, 2),
        .reactive = wild_plane(rng, w, h, 1),
        .exposure_texel = wild(rng),
    };
    const struct hs_camera camera = {
        .world_to_view = {1, 0, 0, test_rng_float(rng, -1, 1), 0, 1, 0, 0, 0, 0, 1,
                          test_rng_float(rng, -3, 3), 0, 0, 0, 1},
        .view_to_clip = {1.5, 0, 0.1, 0, 0, 2, 0, 0, 0, 0, -1, -0.1, 0, 0, -1, 0},
    };
    const struct hs_frame f = {
        .render_width = (uint32_t)w,
        .render_height = (uint32_t)h,
        .jitter = {test_rng_float(rng, -1, 1), test_rng_float(rng, -1, 1)},
        .motion_params = {.scale = {test_rng_float(rng, -20, 20), test_rng_float(rng, -20, 20)},
                          .swap_axes = test_rng_below(rng, 2),
                          .jittered = test_rng_below(rng, 2),
                          .display_resolution = display,
                          .unwritten = (enum hs_motion_unwritten)test_rng_below(rng, 4)},
        .depth_params = {.kind = (enum hs_depth_kind)test_rng_below(rng, 3),
                         .near_z = 0.1f,
                         .far_z = test_rng_below(rng, 2) ? 100 : 0},
        .exposure = {.mode = (enum hs_exposure_mode)test_rng_below(rng, 3),
                     .value = test_rng_float(rng, 0.01f, 100)},
        .camera = test_rng_below(rng, 2) ? &camera : NULL,
        .sharpness = test_rng_float(rng, 0, 1),
        .reset = test_rng_below(rng, 7) == 0,
    };
    REQUIRE_EQ(hs_ref_stream_frame(s, &f, &in, &image), 0);
    require_finite(&image, 0, 65504);
    require_finite(&hs_ref_stream_history(s)->colour, 0, 65504);
    require_finite(&hs_ref_stream_history(s)->aux, 0, 8);
    require_finite(&hs_ref_stream_prepared(s)->aux, 0, 1);
    require_finite(&hs_ref_stream_prepared(s)->motion, -1000, 1000);
    hs_ref_plane_finish(&in.colour);
    hs_ref_plane_finish(&in.depth);
    hs_ref_plane_finish(&in.motion);
    hs_ref_plane_finish(&in.reactive);
    hs_ref_plane_finish(&image);
}

static void wild_frames(struct test_rng *rng, const struct hs_weights *weights, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        const int w = 16 + (int)test_rng_below(rng, 40), h = 16 + (int)test_rng_below(rng, 40);
        struct hs_ref_stream *s = hs_ref_stream_create(w, h, round % 3 == 0);
        REQUIRE(s);
        hs_ref_stream_weights(s, weights);
        for (int f = 0; f < 8; f++)
            wild_frame(rng, s, w, h);
        hs_ref_stream_destroy(&s);
    }
}

static void wild_input(struct test_rng *rng)
{
    wild_frames(rng, NULL, 40);
}

static void wild_network(struct test_rng *rng)
{
    struct hs_weights *weights = weights_make(rng, 10);
    wild_frames(rng, weights, 12);
    hs_weights_destroy(&weights);
}

/**
 * Frames of noise in premultiplied colour; all is transparent left of a quarter, opaque right of
 * three. Planes and sizes as they come: odd, with and without depth and motion.
 */
static void noise_frames(struct test_rng *rng, struct hs_ref_stream *s, bool ldr, int frames,
                         struct hs_ref_plane *image)
{
    const int w = (image->width + 1) / 2, h = (image->height + 2) / 3;
    struct hs_ref_inputs in = {.colour = hs_ref_plane_make(w, h, 4)};
    struct hs_ref_plane depth = hs_ref_plane_make(w, h, 1), motion = hs_ref_plane_make(w, h, 2);
    REQUIRE(in.colour.texels && depth.texels && motion.texels);
    for (int f = 0; f < frames; f++) {
        for (int i = 0; i < w * h; i++) {
            const int x = i % w;
            const float a = x < w / 4 ? 0 : x > w * 3 / 4 ? 1 : test_rng_float(rng, 0, 1);
            for (int k = 0; k < 3; k++)
                in.colour.texels[4 * i + k] = a * test_rng_float(rng, 0, ldr ? 1 : 5);
            in.colour.texels[4 * i + 3] = a;
            depth.texels[i] = test_rng_float(rng, 1, 9);
            motion.texels[2 * i] = 0;
            motion.texels[2 * i + 1] = test_rng_float(rng, -1, 1);
        }
        in.depth = f % 3 == 2 ? (struct hs_ref_plane){0} : depth;
        in.motion = f % 4 == 3 ? (struct hs_ref_plane){0} : motion;
        const struct hs_frame frame = {
            .render_width = (uint32_t)w,
            .render_height = (uint32_t)h,
            .jitter = {test_rng_float(rng, -0.5f, 0.5f), test_rng_float(rng, -0.5f, 0.5f)},
        };
        REQUIRE_EQ(hs_ref_stream_frame(s, &frame, &in, image), 0);
    }
    hs_ref_plane_finish(&in.colour);
    hs_ref_plane_finish(&depth);
    hs_ref_plane_finish(&motion);
}

static float difference(const struct hs_ref_plane *a, const struct hs_ref_plane *b)
{
    float most = 0;
    for (int i = 0; i < a->width * a->height * a->channels; i++)
        most = fmaxf(most, fabsf(a->texels[i] - b->texels[i]) / (1 + fabsf(b->texels[i])));
    return most;
}

static void network_and_alpha(struct test_rng *rng)
{
    static const int sizes[][2] = {{40, 32}, {41, 31}, {50, 37}, {43, 46}};
    struct hs_weights *weights = weights_make(rng, 2);
    for (int n = 0; n < 8; n++) {
        const int w = sizes[n / 2][0], h = sizes[n / 2][1];
        const bool ldr = n % 2;
        struct hs_ref_plane image = hs_ref_plane_make(w, h, 4), plain = hs_ref_plane_make(w, h, 4);
        struct hs_ref_stream *s = hs_ref_stream_create(w, h, ldr);
        struct hs_ref_stream *taau = hs_ref_stream_create(w, h, ldr);
        REQUIRE(image.texels && plain.texels && s && taau);
        hs_ref_stream_weights(s, weights);
        struct test_rng again = *rng;
        noise_frames(rng, s, ldr, 6, &image);
        noise_frames(&again, taau, ldr, 6, &plain);
        REQUIRE(difference(&image, &plain) > 0.05f);
        for (int i = 0; i < w * h; i++) {
            const float *c = image.texels + 4 * i;
            // Two samples, four output pixels, are within reach of a kernel.
            const bool clear = i % w<w / 4 - 6, full = i % w> w * 3 / 4 + 6;
            REQUIRE(!clear || (c[0] == 0 && c[1] == 0 && c[2] == 0 && c[3] == 0));
            REQUIRE(!full || c[3] == 1);
            REQUIRE(c[3] >= 0 && c[3] <= 1);
        }
        hs_ref_stream_destroy(&s);
        hs_ref_stream_destroy(&taau);
        hs_ref_plane_finish(&image);
        hs_ref_plane_finish(&plain);
    }
    hs_weights_destroy(&weights);
}

static void head_of_zeros(struct test_rng *rng)
{
    struct hs_weights *weights = weights_make(rng, 0);
    for (int n = 0; n < 2; n++) {
        struct hs_ref_plane image = hs_ref_plane_make(41, 31, 4);
        struct hs_ref_plane plain = hs_ref_plane_make(41, 31, 4);
        struct hs_ref_stream *s = hs_ref_stream_create(41, 31, n);
        struct hs_ref_stream *taau = hs_ref_stream_create(41, 31, n);
        REQUIRE(image.texels && plain.texels && s && taau);
        hs_ref_stream_weights(s, weights);
        struct test_rng again = *rng;
        noise_frames(rng, s, n, 6, &image);
        noise_frames(&again, taau, n, 6, &plain);
        // Rounding of the odds, and of history to half.
        REQUIRE(difference(&image, &plain) < 3e-3f);
        hs_ref_stream_destroy(&s);
        hs_ref_stream_destroy(&taau);
        hs_ref_plane_finish(&image);
        hs_ref_plane_finish(&plain);
    }
    hs_weights_destroy(&weights);
}

/** A still disc, straight colour (2, 0.5, 0.1), drawn with jitter; the last of 12 frames. */
static void disc(struct test_rng *rng, float radius, struct hs_ref_plane *image)
{
    struct hs_ref_stream *s = hs_ref_stream_create(image->width, image->height, false);
    struct hs_ref_inputs in = {.colour = hs_ref_plane_make(32, 32, 4)};
    REQUIRE(s && in.colour.texels);
    for (int f = 0; f < 12; f++) {
        const float jx = test_rng_float(rng, -0.5f, 0.5f), jy = test_rng_float(rng, -0.5f, 0.5f);
        for (int y = 0; y < 32; y++) {
            for (int x = 0; x < 32; x++) {
                const float dx = (float)x - 15.5f + jx, dy = (float)y - 15.5f + jy;
                const float a = dx * dx + dy * dy < radius * radius ? 1 : 0;
                const float c[4] = {2 * a, 0.5f * a, 0.1f * a, a};
                memcpy(hs_ref_pixel(&in.colour, x, y), c, sizeof(c));
            }
        }
        const struct hs_frame frame = {.render_width = 32, .render_height = 32, .jitter = {jx, jy}};
        REQUIRE_EQ(hs_ref_stream_frame(s, &frame, &in, image), 0);
    }
    hs_ref_plane_finish(&in.colour);
    hs_ref_stream_destroy(&s);
}

static void cutout(struct test_rng *rng)
{
    struct hs_ref_plane image = hs_ref_plane_make(64, 64, 4);
    float area = 0;
    disc(rng, 9, &image);
    for (int i = 0; i < 64 * 64; i++) {
        const float *c = image.texels + 4 * i;
        area += c[3];
        if (c[3] < 0.25f)
            continue;
        // Straight colour stays what it was: no dark or bright fringe.
        REQUIRE_NEAR(c[0] / c[3], 2, 0.3);
        REQUIRE_NEAR(c[2] / c[3], 0.1, 0.015);
    }
    REQUIRE_NEAR(area, 9 * 9 * 3.14159 * 4, 20);
    hs_ref_plane_finish(&image);
}

/** Deviations of nearly equal samples are those of the samples, not of rounding. */
static void flat_places(struct test_rng *rng)
{
    for (int n = 0; n < 1000; n++) {
        struct hs_ref_window w = {.fx = test_rng_float(rng, 0, 1), .fy = test_rng_float(rng, 0, 1)};
        struct hs_ref_box box;
        double total = 0, mean = 0, square = 0;
        const float level = test_rng_float(rng, 0.5f, 0.99f);
        for (int i = 0; i < 16; i++) {
            const float value = level + test_rng_float(rng, -2e-4f, 2e-4f);
            w.tap[i / 4][i % 4] = (struct hs_ref_work){{value, value, value, 1, 1}};
        }
        hs_ref_window_box(&w, &box);
        for (int i = 0; i < 9; i++) {
            const int x = i % 3 + (w.fx >= 0.5f), y = i / 3 + (w.fy >= 0.5f);
            const double dx = x - 1 - (double)w.fx, dy = y - 1 - (double)w.fy;
            const double g = exp(-(dx * dx + dy * dy) * HS_TAAU_BOX_KERNEL);
            const double value = (double)w.tap[y][x].c[0];
            total += g;
            mean += g * value;
            square += g * value * value;
        }
        mean /= total;
        const double deviation = sqrt(square / total - mean * mean);
        REQUIRE_NEAR(box.centre[0], mean, 1e-6);
        REQUIRE_NEAR(box.deviation[0], deviation, 0.01 * deviation);
        REQUIRE_NEAR(box.deviation[1], 0, 1e-6);
    }
}

static const struct test_case cases[] = {
    {"half_rounding", half_rounding}, {"working_range", working_range},
    {"wild_input", wild_input},       {"cutout", cutout},
    {"wild_network", wild_network},   {"network_and_alpha", network_and_alpha},
    {"head_of_zeros", head_of_zeros}, {"flat_places", flat_places},
};
TEST_MAIN(cases)
