// SPDX-License-Identifier: MIT
/** Path mode: converges without bias; noise is new every frame, or fixed; fireflies. */
#include "rig.h"

#include "test.h"

#define W 40
#define H 40

static struct hs_clip_params box_scene(uint32_t spp)
{
    return (struct hs_clip_params){.pattern = "box",
                                   .mode = HS_SCENES_PATH,
                                   .spp = spp,
                                   .render_width = W,
                                   .render_height = H,
                                   .width = W,
                                   .height = H,
                                   .still = true,
                                   .no_jitter = true};
}

static void add_plane(struct rig *rig, const struct hs_clip_params *params, int plane,
                      uint32_t frame, double *sum)
{
    struct hs_clip *clip = rig_clip(rig, params);
    struct rig_frame f;
    rig_render(rig, clip, frame, 1u << plane, &f);
    for (uint32_t i = 0; i < W * H; i++) {
        for (int c = 0; c < 3; c++)
            sum[3 * i + c] += f.planes[plane][4 * i + c];
    }
    rig_free(&f);
    hs_clip_destroy(&clip);
}

static void add_frame(struct rig *rig, const struct hs_clip_params *params, uint32_t frame,
                      double *sum)
{
    add_plane(rig, params, RIG_COLOUR, frame, sum);
}

/**
 * The samples of a reference are spread evenly: the same mean as independent ones of the same
 * number, and less noise.
 */
static void even_samples(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    static double pictures[3][W * H * 3];
    double error[2] = {0}, mean[3] = {0};
    memset(pictures, 0, sizeof(pictures));
    for (int n = 0; n < 3; n++) {
        struct hs_clip_params params = box_scene(n == 2 ? 512 : 16);
        params.reference_spp = 16;
        params.filter = HS_SCENES_FILTER_BOX; // as the reference
        add_plane(&rig, &params, n == 1 ? RIG_REFERENCE : RIG_COLOUR, n == 2 ? 1000 : 3,
                  pictures[n]);
    }
    for (uint32_t i = 0; i < W * H * 3; i++) {
        const double truth = pictures[2][i];
        for (int n = 0; n < 3; n++) {
            mean[n] += pictures[n][i];
            if (n < 2 && truth < 3)
                error[n] += (pictures[n][i] - truth) * (pictures[n][i] - truth);
        }
    }
    printf("even samples: %.3f of the squared error; means %.4f %.4f %.4f\n", error[1] / error[0],
           mean[0] / (W * H * 3), mean[1] / (W * H * 3), mean[2] / (W * H * 3));
    REQUIRE_NEAR(mean[1] / mean[2], 1, 0.01);
    REQUIRE_FLOAT_LE(error[1] / error[0], 0.85);
    rig_close(&rig);
}

/**
 * The error against a picture of many samples falls with the square root of the samples, and the
 * mean over the picture agrees: no bias that more samples would show.
 */
static void converges(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    static double truth[W * H * 3], few[W * H * 3], more[W * H * 3];
    struct hs_clip_params params = box_scene(512);
    memset(truth, 0, sizeof(truth));
    add_frame(&rig, &params, 1000, truth);
    double error[2] = {0}, mean[3] = {0};
    for (int n = 0; n < 2; n++) {
        params = box_scene(n ? 64 : 4);
        double *sum = n ? more : few;
        memset(sum, 0, sizeof(few));
        add_frame(&rig, &params, 3, sum);
        for (uint32_t i = 0; i < W * H * 3; i++) {
            // The lamp itself is exact and bright.
            error[n] += truth[i] < 3 ? (sum[i] - truth[i]) * (sum[i] - truth[i]) : 0;
            mean[n] += sum[i];
            mean[2] += n ? 0 : truth[i];
        }
    }
    const double ratio = sqrt(error[1] / error[0]);
    printf("rms error: 64 spp is %.3f of 4 spp; means %.4f %.4f %.4f\n", ratio,
           mean[0] / (W * H * 3), mean[1] / (W * H * 3), mean[2] / (W * H * 3));
    // 16 times the samples: a quarter; the picture of 512 samples has noise of its own.
    REQUIRE_FLOAT_LE(ratio, 0.33);
    REQUIRE(ratio > 0.18);
    REQUIRE_NEAR(mean[0] / mean[2], 1, 0.02);
    REQUIRE_NEAR(mean[1] / mean[2], 1, 0.006);
    rig_close(&rig);
}

/** Under uniform light of radiance 1 nothing sends out more than 1, nor far less than albedo. */
static void furnace(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    static const float sky[3 * 2 * 2] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct hs_clip_params params = box_scene(128);
    params.pattern = "smooth";
    params.environment = &(struct hs_scenes_environment){sky, 2, 2};
    struct hs_clip *clip = rig_clip(&rig, &params);
    struct rig_frame f;
    rig_render(&rig, clip, 0, RIG_INPUT, &f);
    double sum = 0, least = 0, count = 0;
    for (uint32_t i = 0; i < W * H; i++) {
        const float c = f.planes[RIG_COLOUR][4 * i + 1];
        if (isinf(f.planes[RIG_DEPTH][i])) {
            REQUIRE_NEAR(c, 1, 1e-4);
            continue;
        }
        // Noise of 128 samples: one pixel may pass 1 by a little.
        REQUIRE_FLOAT_LE(c, 1.25);
        sum += c;
        least += f.planes[RIG_DIFFUSE][4 * i + 1];
        count++;
    }
    printf("furnace: mean %.4f, diffuse albedo %.4f\n", sum / count, least / count);
    REQUIRE_GT(count, W * H / 2);
    REQUIRE_FLOAT_LE(sum / count, 1);
    // Albedos below 1 near by and the single-scattering lobe take some; most must be there.
    REQUIRE(sum > 0.85 * least);
    rig_free(&f);
    hs_clip_destroy(&clip);
    rig_close(&rig);
}

/** A small bright spot in the surroundings is found by light sampling: little noise, same mean. */
static void environment_light(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    static float sky[3 * 64 * 32];
    double irradiance = 0;
    for (int y = 0; y < 32; y++) {
        for (int x = 0; x < 64; x++) {
            const bool spot = x >= 20 && x < 22 && y >= 6 && y < 8;
            const double theta = 3.14159265 * (y + 0.5) / 32;
            for (int c = 0; c < 3; c++)
                sky[3 * (64 * y + x) + c] = spot ? 300 : 0.05f;
            if (y < 16)
                irradiance += (spot ? 300 : 0.05) * cos(theta) * sin(theta) * 2 * 3.14159265 *
                              3.14159265 / (64 * 32);
        }
    }
    struct hs_clip_params params = box_scene(16);
    params.pattern = "smooth";
    params.environment = &(struct hs_scenes_environment){sky, 64, 32};
    struct hs_clip *clip = rig_clip(&rig, &params);
    struct rig_frame f;
    rig_render(&rig, clip, 0, RIG_INPUT, &f);
    double sum = 0, square = 0, count = 0;
    for (uint32_t i = 0; i < W * H; i++) {
        // Open floor in front of the solids.
        const float *n = f.planes[RIG_NORMAL] + 4 * i;
        if (n[2] < 0.999f || i / W < H - 8)
            continue;
        const double ratio = f.planes[RIG_COLOUR][4 * i + 1] /
                             (f.planes[RIG_DIFFUSE][4 * i + 1] * irradiance / 3.14159265);
        sum += ratio;
        square += ratio * ratio;
        count++;
    }
    const double mean = sum / count, deviation = sqrt(square / count - mean * mean);
    printf("environment: floor is %.3f of Lambert's, deviation %.3f\n", mean, deviation);
    REQUIRE_GT(count, 100);
    // Fresnel takes a few parts of a hundred from the diffuse part, the lobe adds as few.
    REQUIRE_NEAR(mean, 1, 0.08);
    // By chance alone one path in two thousand would hit the spot.
    REQUIRE_FLOAT_LE(deviation, 0.25);
    rig_free(&f);
    hs_clip_destroy(&clip);
    rig_close(&rig);
}

static void noise_seeds(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    struct hs_clip_params params = box_scene(1);
    for (int fixed = 0; fixed < 2; fixed++) {
        params.fixed_noise = fixed;
        struct hs_clip *clip = rig_clip(&rig, &params);
        struct rig_frame a, b;
        rig_render(&rig, clip, 1, 1u << RIG_COLOUR, &a);
        rig_render(&rig, clip, 2, 1u << RIG_COLOUR, &b);
        REQUIRE_EQ(!memcmp(a.planes[0], b.planes[0], W * H * 16), fixed);
        rig_free(&a);
        rig_free(&b);
        hs_clip_destroy(&clip);
    }
    uint32_t bright[2] = {0};
    for (int k = 0; k < 2; k++) {
        params.fireflies = k ? 0.05f : 0;
        params.firefly_gain = 1000;
        struct hs_clip *clip = rig_clip(&rig, &params);
        struct rig_frame f;
        rig_render(&rig, clip, 1, 1u << RIG_COLOUR, &f);
        for (uint32_t i = 0; i < W * H; i++)
            bright[k] += f.planes[0][4 * i + 1] > 100;
        rig_free(&f);
        hs_clip_destroy(&clip);
    }
    REQUIRE_EQ(bright[0], 0);
    REQUIRE_GT(bright[1], W * H / 60);
    REQUIRE_LT(bright[1], W * H / 12);
    rig_close(&rig);
}

static const struct test_case cases[] = {
    {"converges", converges},     {"even_samples", even_samples},
    {"furnace", furnace},         {"environment_light", environment_light},
    {"noise_seeds", noise_seeds},
};

TEST_MAIN(cases)
