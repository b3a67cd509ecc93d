// SPDX-License-Identifier: MIT
/** What the planes hold, against docs/conventions.md and against each other. */
#include "rig.h"

#include "test.h"

static struct hs_clip_params size(const char *pattern, uint32_t w, uint32_t h, uint32_t ratio)
{
    return (struct hs_clip_params){.pattern = pattern,
                                   .render_width = w,
                                   .render_height = h,
                                   .width = w * ratio,
                                   .height = h * ratio,
                                   .reference_spp = 4};
}

/** World point of a sample from depth and the frame's matrices alone. */
static void unproject(const struct hs_clip_camera *c, double ndc_x, double ndc_y, double depth,
                      double out[3])
{
    const double view[3] = {ndc_x / c->view_to_clip[0] * depth, ndc_y / c->view_to_clip[5] * depth,
                            -depth};
    for (int i = 0; i < 3; i++) {
        out[i] = 0;
        for (int k = 0; k < 3; k++)
            out[i] += c->world_to_view[4 * k + i] * (view[k] - c->world_to_view[4 * k + 3]);
    }
}

static void project(const struct hs_clip_camera *c, const double p[3], double w, double h,
                    double *x, double *y, double *depth)
{
    double view[3];
    for (int i = 0; i < 3; i++) {
        const double *m = c->world_to_view + 4 * i;
        view[i] = m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3];
    }
    const double clip_w = c->view_to_clip[14] * view[2];
    *x = (0.5 + 0.5 * c->view_to_clip[0] * view[0] / clip_w) * w;
    *y = (0.5 - 0.5 * c->view_to_clip[5] * view[1] / clip_w) * h;
    *depth = -view[2];
}

/** Depth and matrices give back the floor; motion is what the two cameras say, sky included. */
static void camera_motion(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    static const char *const patterns[] = {"pan", "orbit", "dolly", "zoom", "still"};
    for (size_t k = 0; k < sizeof(patterns) / sizeof(patterns[0]); k++) {
        const struct hs_clip_params params = size(patterns[k], 64, 40, 2);
        struct hs_clip *clip = rig_clip(&rig, &params);
        struct rig_frame f;
        double largest = 0;
        uint32_t floor_pixels = 0, sky_pixels = 0;
        rig_render(&rig, clip, 3, RIG_INPUT, &f);
        REQUIRE_EQ(f.info.jitter_phases, 32);
        for (uint32_t y = 0; y < 40; y++) {
            for (uint32_t x = 0; x < 64; x++) {
                const uint32_t i = y * 64 + x;
                const double sx = x + 0.5 + f.info.jitter[0], sy = y + 0.5 + f.info.jitter[1];
                const bool sky = isinf(f.planes[RIG_DEPTH][i]);
                const double depth = sky ? 1e7 : f.planes[RIG_DEPTH][i];
                double p[3], px, py, pz;
                unproject(&f.info.camera, sx / 32 - 1, 1 - sy / 20, depth, p);
                const float *n = f.planes[RIG_NORMAL] + 4 * i, *m = f.planes[RIG_MOTION] + 2 * i;
                if (n[2] > 0.9999f && fabs(p[2]) < 0.05) {
                    floor_pixels++;
                    REQUIRE_NEAR(p[2], 0, 1e-4 * depth);
                }
                project(&f.info.previous_camera, p, 64, 40, &px, &py, &pz);
                // f32 positions of tens of metres, and sky taken as 1e7 metres away
                REQUIRE_NEAR(m[0], px - sx, 0.01);
                REQUIRE_NEAR(m[1], py - sy, 0.01);
                largest = fmax(largest, hypot(m[0], m[1]));
                sky_pixels += sky;
            }
        }
        if (strcmp(patterns[k], "still"))
            REQUIRE(largest > 0.15);
        else
            REQUIRE_FLOAT_LE(largest, 1e-3);
        if (strcmp(patterns[k], "zoom")) {
            REQUIRE_GT(floor_pixels, 200);
            REQUIRE_GT(sky_pixels, 100);
        }
        rig_free(&f);
        hs_clip_destroy(&clip);
    }
    rig_close(&rig);
}

static float sample(const float *plane, uint32_t w, uint32_t channels, uint32_t channel, double x,
                    double y)
{
    const int ix = (int)floor(x), iy = (int)floor(y);
    const float u = (float)(x - ix), v = (float)(y - iy);
    const float *p = plane + channels * ((uint32_t)iy * w + (uint32_t)ix) + channel;
    const float *q = p + (size_t)channels * w;
    return (p[0] * (1 - u) + p[channels] * u) * (1 - v) + (q[0] * (1 - u) + q[channels] * u) * v;
}

struct warp {
    double error; // mean absolute, colour
    uint32_t count, wrong;
};

/** Frame t from frame t-1; `sign` 1 is the documented direction of the motion vectors. */
static struct warp warp_error(const struct rig_frame *now, const struct rig_frame *old, int sign)
{
    const uint32_t w = now->width[0], h = now->height[0];
    struct warp r = {0};
    for (uint32_t y = 0; y < h; y++) {
        for (uint32_t x = 0; x < w; x++) {
            const uint32_t i = y * w + x;
            const float *m = now->planes[RIG_MOTION] + 2 * i, z = now->planes[RIG_DEPTH][i];
            const double px = x + now->info.jitter[0] + sign * m[0] - old->info.jitter[0];
            const double py = y + now->info.jitter[1] + sign * m[1] - old->info.jitter[1];
            // Far away the texture is finer than the pixels.
            if (z > 7 || px < 0 || py < 0 || px >= w - 1 || py >= h - 1)
                continue;
            float low = 1e30f, high = 0;
            for (int k = 0; k < 4; k++) {
                const float d = old->planes[RIG_DEPTH][((uint32_t)py + (uint32_t)(k / 2)) * w +
                                                       (uint32_t)px + (uint32_t)(k % 2)];
                low = fminf(low, d);
                high = fmaxf(high, d);
            }
            // Hidden one frame earlier, or at an edge.
            if (high > 1.04f * low || fabsf(low - z) > 0.06f * z)
                continue;
            double error = 0;
            for (uint32_t c = 0; c < 3; c++)
                error += fabs(sample(old->planes[RIG_COLOUR], w, 4, c, px, py) -
                              now->planes[RIG_COLOUR][4 * i + c]) /
                         3;
            r.error += error;
            r.wrong += error > 0.05;
            r.count++;
        }
    }
    r.error /= r.count ? r.count : 1;
    return r;
}

/** On unlit surfaces that move, turn and are passed by the camera, motion explains the picture. */
static void warp_explains(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    const struct hs_clip_params params = size("unlit", 160, 96, 1);
    struct hs_clip *clip = rig_clip(&rig, &params);
    struct rig_frame old, now;
    const uint32_t planes = 1u << RIG_COLOUR | 1u << RIG_DEPTH | 1u << RIG_MOTION;
    rig_render(&rig, clip, 6, planes, &old);
    rig_render(&rig, clip, 7, planes, &now);
    const struct warp right = warp_error(&now, &old, 1), wrong = warp_error(&now, &old, -1);
    printf("warp: %u pixels, mean error %.5f, %u above 0.05; reversed vectors %.5f\n", right.count,
           right.error, right.wrong, wrong.error);
    REQUIRE_GT(right.count, 160 * 96 / 2);
    // Bilinear interpolation of a texture of at least six pixels a wave, radiance about 0.5.
    REQUIRE_FLOAT_LE(right.error, 0.006);
    REQUIRE_FLOAT_LE(right.wrong, 0.01 * right.count);
    REQUIRE(wrong.error > 3 * right.error);
    rig_free(&old);
    rig_free(&now);
    hs_clip_destroy(&clip);
    rig_close(&rig);
}

/** The mean of the jittered frames of a scene that stands still is its box-filtered reference. */
static void reference_is_mean(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    struct hs_clip_params params = size("still", 48, 32, 2);
    params.reference_spp = 64;
    params.still = true;
    struct hs_clip *clip = rig_clip(&rig, &params);
    static double mean[48 * 32 * 3];
    memset(mean, 0, sizeof(mean));
    struct rig_frame f;
    for (uint32_t frame = 0; frame < 32; frame++) {
        rig_render(&rig, clip, frame, 1u << RIG_COLOUR, &f);
        for (uint32_t i = 0; i < 48 * 32; i++) {
            for (int c = 0; c < 3; c++)
                mean[3 * i + c] += f.planes[RIG_COLOUR][4 * i + c] / 32;
        }
        rig_free(&f);
    }
    rig_render(&rig, clip, 0, 1u << RIG_REFERENCE, &f);
    double error = 0, bias = 0, level = 0;
    for (uint32_t i = 0; i < 48 * 32 * 3; i++) {
        const uint32_t c = i % 3, x = i / 3 % 48, y = i / 3 / 48;
        const float *p = f.planes[RIG_REFERENCE] + 4 * (2 * y * 96 + 2 * x) + c;
        const double box = 0.25 * ((double)p[0] + p[4] + p[4 * 96] + p[4 * 97]);
        error += fabs(mean[i] - box);
        bias += mean[i] - box;
        level += box;
    }
    printf("reference: mean error %.5f of %.4f, bias %.6f\n", error / level, level / (48 * 96),
           bias / level);
    // 32 against 256 samples; edges of the checker floor dominate.
    REQUIRE_FLOAT_LE(error / level, 0.02);
    REQUIRE_FLOAT_LE(fabs(bias / level), 0.002);
    rig_free(&f);
    hs_clip_destroy(&clip);
    rig_close(&rig);
}

/** Mirrored rays end on the scene; rough surfaces have no hit distance; albedo kinds differ. */
static void guides(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    struct hs_clip_params params = size("mirror", 64, 40, 1);
    uint32_t white = 0, metals = 0;
    for (int kind = 0; kind < 3; kind++) {
        params.specular = (enum hs_scenes_specular)kind;
        struct hs_clip *clip = rig_clip(&rig, &params);
        struct rig_frame f;
        uint32_t finite = 0, into_sky = 0;
        rig_render(&rig, clip, 0, RIG_INPUT, &f);
        for (uint32_t y = 0; y < 40; y++) {
            for (uint32_t x = 0; x < 64; x++) {
                const uint32_t i = y * 64 + x;
                const float d = f.planes[RIG_HIT_DISTANCE][i], *n = f.planes[RIG_NORMAL] + 4 * i;
                const float *s = f.planes[RIG_SPECULAR] + 4 * i;
                if (isinf(f.planes[RIG_DEPTH][i]) || f.planes[RIG_ROUGHNESS][i] > 0.5f) {
                    REQUIRE_NEAR(d, 0, 0);
                    continue;
                }
                into_sky += isinf(d);
                const float *diffuse = f.planes[RIG_DIFFUSE] + 4 * i;
                if (diffuse[0] + diffuse[1] + diffuse[2] == 0) {
                    metals++;
                    white += s[0] == 1 && s[1] == 1 && s[2] == 1;
                }
                if (!isfinite(d) || d <= 0)
                    continue;
                finite++;
                double p[3], eye[3], v[3], length = 0, along = 0;
                const double sx = x + 0.5 + f.info.jitter[0], sy = y + 0.5 + f.info.jitter[1];
                unproject(&f.info.camera, sx / 32 - 1, 1 - sy / 20, f.planes[RIG_DEPTH][i], p);
                unproject(&f.info.camera, 0, 0, 0, eye);
                for (int k = 0; k < 3; k++) {
                    v[k] = p[k] - eye[k];
                    length += v[k] * v[k];
                    along += v[k] * n[k];
                }
                // Nothing of this scene is below the floor or above 3 metres.
                const double z = p[2] + (v[2] - 2 * along * n[2]) / sqrt(length) * d;
                REQUIRE_MSG(z > -0.01 && z < 3, "pixel %u,%u: reflection ends at %g", x, y, z);
            }
        }
        REQUIRE_GT(finite, 100);
        REQUIRE_GT(into_sky, 100);
        REQUIRE_EQ(white != 0, kind == HS_SCENES_SPECULAR_METAL_WHITE);
        rig_free(&f);
        hs_clip_destroy(&clip);
    }
    REQUIRE_GT(metals, 0);
    rig_close(&rig);
}

/** With a filter, guides are what the jittered frames of a scene at rest average to. */
static void filtered_guides(struct test_rng *rng)
{
    static const enum rig_plane averaged[] = {RIG_NORMAL, RIG_ROUGHNESS, RIG_DIFFUSE, RIG_SPECULAR,
                                              RIG_ALPHA};
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    struct hs_clip_params params = size("still", 48, 32, 2);
    params.still = params.clear_film = true;
    struct hs_clip *points = rig_clip(&rig, &params);
    params.filter = HS_SCENES_FILTER_BOX;
    params.spp = 70; // more than a pass holds
    params.no_jitter = true;
    struct hs_clip *box = rig_clip(&rig, &params);
    static double mean[RIG_PLANES][48 * 32 * 4];
    memset(mean, 0, sizeof(mean));
    struct rig_frame f, first;
    rig_render(&rig, box, 0, RIG_INPUT, &f);
    for (uint32_t frame = 0; frame < 32; frame++) {
        rig_render(&rig, points, frame, RIG_INPUT, &first);
        for (int k = 0; k < 5; k++) {
            const uint32_t count = 48 * 32 * rig_channels(averaged[k]);
            for (uint32_t i = 0; i < count; i++)
                mean[averaged[k]][i] += first.planes[averaged[k]][i] / 32;
        }
        rig_free(&first);
    }
    for (int k = 0; k < 5; k++) {
        const uint32_t count = 48 * 32 * rig_channels(averaged[k]);
        double error = 0, single = 0;
        rig_render(&rig, points, 0, 1u << averaged[k], &first);
        for (uint32_t i = 0; i < count; i++) {
            error += fabs(mean[averaged[k]][i] - f.planes[averaged[k]][i]) / count;
            single += fabs(mean[averaged[k]][i] - first.planes[averaged[k]][i]) / count;
        }
        rig_free(&first);
        printf("plane %d: mean error %.5f, of one sample %.5f\n", averaged[k], error, single);
        // 32 against 64 samples.
        REQUIRE(error < 0.25 * single);
    }
    uint32_t whole = 0;
    for (uint32_t i = 0; i < 48 * 32; i++) {
        const float depth = f.planes[RIG_DEPTH][i];
        REQUIRE(depth > 0);
        whole += isinf(depth) != 0;
    }
    REQUIRE_GT(whole, 0);
    rig_free(&f);
    hs_clip_destroy(&points);
    hs_clip_destroy(&box);
    rig_close(&rig);
}

/** Samples that see the sky do not slow a silhouette down. */
static void filtered_motion(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    struct hs_clip_params params = size("rotation", 96, 64, 1);
    params.clear_film = params.no_jitter = true;
    params.filter = HS_SCENES_FILTER_BOX;
    params.speed = 3;
    struct hs_clip *clip = rig_clip(&rig, &params);
    struct rig_frame f;
    rig_render(&rig, clip, 1, RIG_INPUT, &f);
    double edge = 0, inside = 0;
    uint32_t count = 0;
    for (uint32_t y = 1; y < 63; y++) {
        for (uint32_t x = 1; x < 95; x++) {
            const uint32_t i = y * 96 + x, beside[4] = {i - 1, i + 1, i - 96, i + 96};
            const float alpha = f.planes[RIG_ALPHA][i];
            for (int k = 0; alpha > 0.1f && alpha < 0.6f && k < 4; k++) {
                const float *m = f.planes[RIG_MOTION] + 2 * i;
                const float *n = f.planes[RIG_MOTION] + 2 * beside[k];
                const float speed = hypotf(n[0], n[1]);
                if (f.planes[RIG_ALPHA][beside[k]] < 1 || speed < 0.5f)
                    continue;
                edge += (m[0] * n[0] + m[1] * n[1]) / speed;
                inside += speed;
                count++;
            }
        }
    }
    printf("%u silhouette pixels move %.3f of those beside them\n", count, edge / inside);
    REQUIRE_GT(count, 20);
    // What turns is fastest at its edges; with the sky's share they would move 0.4 of it.
    REQUIRE_NEAR(edge / inside, 1.1, 0.2);
    rig_free(&f);
    hs_clip_destroy(&clip);
    rig_close(&rig);
}

static const struct test_case cases[] = {
    {"camera_motion", camera_motion},         {"warp_explains", warp_explains},
    {"reference_is_mean", reference_is_mean}, {"guides", guides},
    {"filtered_guides", filtered_guides},     {"filtered_motion", filtered_motion},
};

TEST_MAIN(cases)
