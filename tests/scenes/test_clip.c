// SPDX-License-Identifier: MIT
/** The interface: bad parameters, same pixels on reruns, every pattern, frames side by side. */
#include "rig.h"

#include "test.h"

static const struct hs_clip_params small = {
    .pattern = "orbit",
    .render_width = 48,
    .render_height = 32,
    .width = 72,
    .height = 48,
    .reference_spp = 4,
    .frames_in_flight = 4,
};

static void refuses(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    rig.quiet = true;
    static const float far_point[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const uint32_t bad_indices[3] = {0, 1, 3};
    const struct hs_scenes_mesh mesh = {far_point, NULL, 3, bad_indices, 3};
    static const uint32_t triangle[3] = {0, 1, 2};
    static const float dark[9] = {0, 0, 1, NAN, 0, 1, 0, 0, 1};
    const struct hs_scenes_mesh skew = {far_point, dark, 3, triangle, 3};
    const struct hs_scenes_environment empty = {NULL, 4, 4};
    static const float holes[6] = {1, 1, 1, 1, NAN, 1};
    const struct hs_scenes_environment broken = {holes, 2, 1};
    const struct {
        struct hs_clip_params params;
        const char *says;
    } cases[] = {
        {{.pattern = "no such thing"}, "no such thing"},
        {{.render_width = 4, .render_height = 64}, "render size"},
        {{.render_width = 64, .render_height = 64, .width = 32, .height = 64}, "output size"},
        {{.render_width = 20000, .render_height = 64}, "render size"},
        {{.scene_width = 64}, "scene size"},
        {{.mode = (enum hs_scenes_mode)7}, "mode"},
        {{.mode = HS_SCENES_PATH, .spp = 100000}, "samples"},
        {{.fireflies = 1.5f}, "fireflies"},
        {{.fireflies = NAN}, "fireflies"},
        {{.specular = (enum hs_scenes_specular)9}, "specular"},
        {{.hit_limit = -1}, "hit_limit"},
        {{.speed = INFINITY}, "speed"},
        {{.frames_in_flight = 65}, "frames_in_flight"},
        {{.mesh = &mesh}, "index"},
        {{.mesh = &skew}, "normal"},
        {{.environment = &empty}, "no pixels"},
        {{.environment = &broken}, "not finite"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hs_clip *clip = NULL;
        rig.last[0] = 0;
        REQUIRE_EQ(hs_clip_create(rig.scenes, &cases[i].params, &clip), HS_ERR_INVALID);
        REQUIRE(!clip);
        REQUIRE_MSG(strstr(rig.last, cases[i].says), "case %zu says \"%s\"", i, rig.last);
    }
    char name[] = "orbit";
    struct hs_clip_params named = small;
    named.pattern = name;
    struct hs_clip *clip = rig_clip(&rig, &named);
    memset(name, 'x', sizeof(name) - 1);
    REQUIRE(!strcmp(hs_clip_settings(clip)->pattern, "orbit"));
    const struct hs_clip_job nothing = {.frame = 0};
    VkCommandBuffer cmd;
    REQUIRE_EQ(vkdev_begin(&rig.dev, &cmd), 0);
    REQUIRE_EQ(hs_clip_record(clip, &nothing, 1, cmd), HS_ERR_INVALID);
    REQUIRE_EQ(hs_clip_record(clip, &nothing, 0, cmd), HS_ERR_INVALID);
    REQUIRE_EQ(hs_clip_record(clip, &nothing, 5, cmd), HS_ERR_INVALID);
    REQUIRE_EQ(vkdev_submit_wait(&rig.dev, cmd), 0);
    REQUIRE_EQ(hs_clip_create(rig.scenes, NULL, &clip), HS_ERR_INVALID);
    REQUIRE_EQ(hs_clip_frame(clip, 0, NULL), HS_ERR_INVALID);
    struct hs_scenes *none = NULL;
    REQUIRE_EQ(hs_scenes_create(&(struct hs_scenes_params){0}, &none), HS_ERR_INVALID);
    hs_clip_destroy(&clip);
    hs_clip_destroy(&clip);
    rig_close(&rig);
}

static void require_same(const struct rig_frame *a, const struct rig_frame *b)
{
    for (uint32_t i = 0; i < RIG_PLANES; i++)
        REQUIRE_MEM(a->planes[i], b->planes[i],
                    4ull * rig_channels(i) * a->width[i] * a->height[i]);
}

static void repeats(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    for (int mode = 0; mode < 2; mode++) {
        struct hs_clip_params params = small;
        params.pattern = "random";
        params.seed = 19;
        params.mode = (enum hs_scenes_mode)mode;
        struct hs_clip *first = rig_clip(&rig, &params), *second = rig_clip(&rig, &params);
        struct rig_frame a, b, c, other;
        rig_render(&rig, first, 3, RIG_ALL, &a);
        // Another order, another slot.
        rig_render(&rig, second, 0, RIG_ALL, &c);
        rig_render(&rig, second, 3, RIG_ALL, &b);
        require_same(&a, &b);
        params.seed = 20;
        struct hs_clip *third = rig_clip(&rig, &params);
        rig_render(&rig, third, 3, RIG_ALL, &other);
        REQUIRE(memcmp(a.planes[RIG_COLOUR], other.planes[RIG_COLOUR], 48 * 32 * 16));
        rig_free(&a);
        rig_free(&b);
        rig_free(&c);
        rig_free(&other);
        hs_clip_destroy(&first);
        hs_clip_destroy(&second);
        hs_clip_destroy(&third);
    }
    rig_close(&rig);
}

/** Several frames in one call, with more passes than one, give what one by one they give. */
static void side_by_side(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    struct hs_clip_params params = small;
    params.mode = HS_SCENES_PATH;
    params.spp = 70;
    params.reference_spp = 130;
    params.render_width = params.width = 24;
    params.render_height = params.height = 16;
    struct hs_clip *clip = rig_clip(&rig, &params);
    struct vkdev_image images[2][2];
    struct vkdev_buffer buffers[2][2];
    struct hs_clip_job jobs[2] = {{.frame = 2}, {.frame = 5}};
    VkCommandBuffer cmd;
    REQUIRE_EQ(vkdev_begin(&rig.dev, &cmd), 0);
    for (int i = 0; i < 4; i++) {
        struct vkdev_image *image = &images[i / 2][i % 2];
        REQUIRE_EQ(vkdev_image_create(&rig.dev, VK_FORMAT_R32G32B32A32_SFLOAT, 24, 16,
                                      VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                                      image),
                   0);
        vkdev_image_barrier(cmd, image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    }
    for (int i = 0; i < 2; i++) {
        jobs[i].planes.colour = images[i][0].view;
        jobs[i].planes.reference = images[i][1].view;
    }
    REQUIRE_EQ(hs_clip_record(clip, jobs, 2, cmd), 0);
    for (int i = 0; i < 4; i++) {
        struct vkdev_image *image = &images[i / 2][i % 2];
        struct vkdev_buffer *buffer = &buffers[i / 2][i % 2];
        REQUIRE_EQ(vkdev_buffer_create(&rig.dev, 24 * 16 * 16, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                       true, buffer),
                   0);
        vkdev_image_barrier(cmd, image, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL);
        vkCmdCopyImageToBuffer(
            cmd, image->image, VK_IMAGE_LAYOUT_GENERAL, buffer->buffer, 1,
            &(VkBufferImageCopy){.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                 .imageExtent = {24, 16, 1}});
    }
    REQUIRE_EQ(vkdev_submit_wait(&rig.dev, cmd), 0);
    for (int i = 0; i < 2; i++) {
        struct rig_frame alone;
        rig_render(&rig, clip, jobs[i].frame, 1u << RIG_COLOUR | 1u << RIG_REFERENCE, &alone);
        REQUIRE_MEM(alone.planes[RIG_COLOUR], buffers[i][0].map, 24 * 16 * 16);
        REQUIRE_MEM(alone.planes[RIG_REFERENCE], buffers[i][1].map, 24 * 16 * 16);
        rig_free(&alone);
    }
    for (int i = 0; i < 4; i++) {
        vkdev_buffer_destroy(&rig.dev, &buffers[i / 2][i % 2]);
        vkdev_image_destroy(&rig.dev, &images[i / 2][i % 2]);
    }
    hs_clip_destroy(&clip);
    rig_close(&rig);
}

static void require_sane(const struct rig_frame *f, const char *name)
{
    const uint32_t count = f->width[0] * f->height[0];
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const float *c = f->planes[RIG_COLOUR] + 4 * i, *m = f->planes[RIG_MOTION] + 2 * i;
        const float *n = f->planes[RIG_NORMAL] + 4 * i, depth = f->planes[RIG_DEPTH][i];
        const float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        REQUIRE_MSG(isfinite(c[0]) && isfinite(c[1]) && isfinite(c[2]) && c[0] >= 0, "%s", name);
        REQUIRE_MSG(isfinite(m[0]) && isfinite(m[1]), "%s", name);
        REQUIRE_MSG(depth > 0, "%s: depth %g", name, depth);
        REQUIRE_NEAR(length, isinf(depth) ? 0 : 1, 1e-3);
        for (int k = 0; k < 3; k++) {
            REQUIRE(f->planes[RIG_DIFFUSE][4 * i + k] >= 0);
            REQUIRE_FLOAT_LE(f->planes[RIG_DIFFUSE][4 * i + k], 1);
            REQUIRE(f->planes[RIG_SPECULAR][4 * i + k] >= 0);
            REQUIRE_FLOAT_LE(f->planes[RIG_SPECULAR][4 * i + k], 1);
        }
        REQUIRE_NEAR(n[3], f->planes[RIG_ROUGHNESS][i], 0);
        REQUIRE_NEAR(f->planes[RIG_ALPHA][i], 1, 0);
        sum += c[0] + c[1] + c[2];
    }
    const double mean = sum / (3.0 * count) * f->info.exposure;
    REQUIRE_MSG(mean > 0.004 && mean < 6, "%s: exposed mean %g", name, mean);
}

static void every_pattern(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    uint32_t count = 0;
    while (hs_scenes_pattern(count)) {
        REQUIRE(hs_scenes_pattern_about(count)[0]);
        count++;
    }
    REQUIRE_GE(count, 10);
    REQUIRE(!hs_scenes_pattern_about(count));
    for (uint32_t i = 0; i < count + 24; i++) {
        struct hs_clip_params params = small;
        char name[64];
        params.pattern = i < count ? hs_scenes_pattern(i) : "random";
        params.seed = i;
        snprintf(name, sizeof(name), "%s, seed %u", params.pattern, i);
        struct hs_clip *clip = rig_clip(&rig, &params);
        struct rig_frame frame;
        rig_render(&rig, clip, 5, RIG_ALL, &frame);
        require_sane(&frame, name);
        rig_free(&frame);
        hs_clip_destroy(&clip);
    }
    rig_close(&rig);
}

/** The caller's triangles and surroundings are what is seen. */
static void given_mesh(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    static const float positions[12] = {-1, 0, 0, 1, 0, 0, 1, 0, 2, -1, 0, 2};
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    static float sky[3 * 8 * 4];
    for (int i = 0; i < 8 * 4; i++) {
        sky[3 * i] = 0.25f;
        sky[3 * i + 1] = 0.5f;
        sky[3 * i + 2] = 2;
    }
    struct hs_clip_params params = small;
    params.pattern = "mesh";
    params.mesh = &(struct hs_scenes_mesh){positions, NULL, 4, indices, 6};
    params.environment = &(struct hs_scenes_environment){sky, 8, 4};
    struct hs_clip *clip = rig_clip(&rig, &params);
    struct rig_frame frame;
    rig_render(&rig, clip, 0, RIG_ALL, &frame);
    uint32_t wall = 0, far = 0;
    for (uint32_t i = 0; i < 48 * 32; i++) {
        const float *n = frame.planes[RIG_NORMAL] + 4 * i, *c = frame.planes[RIG_COLOUR] + 4 * i;
        wall += fabsf(n[1]) > 0.99f;
        if (isinf(frame.planes[RIG_DEPTH][i])) {
            far++;
            REQUIRE_NEAR(c[0] / c[1], 0.5, 1e-4);
            REQUIRE_NEAR(c[2] / c[1], 4, 1e-3);
        }
    }
    REQUIRE_GT(wall, 48 * 32 / 20);
    REQUIRE_GT(far, 20);
    rig_free(&frame);
    hs_clip_destroy(&clip);
    params.clear_film = true;
    clip = rig_clip(&rig, &params);
    rig_render(&rig, clip, 0, RIG_ALL, &frame);
    for (uint32_t i = 0; i < 48 * 32; i++) {
        const float alpha = frame.planes[RIG_ALPHA][i];
        REQUIRE_NEAR(alpha, isinf(frame.planes[RIG_DEPTH][i]) ? 0 : 1, 0);
        REQUIRE_NEAR(frame.planes[RIG_COLOUR][4 * i + 3], alpha, 0);
        if (alpha == 0)
            REQUIRE_NEAR(frame.planes[RIG_COLOUR][4 * i + 2], 0, 0);
    }
    rig_free(&frame);
    hs_clip_destroy(&clip);
    rig_close(&rig);
}

/** Cameras of these seeds would end up inside of something if nothing slowed them down. */
static void clear_ways(struct test_rng *rng)
{
    (void)rng;
    struct rig rig;
    if (!rig_open(&rig))
        TEST_SKIP("no Vulkan device with validation");
    static const uint64_t seeds[] = {3, 30, 40, 83, 85, 94};
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        const struct hs_clip_params params = {
            .pattern = "random", .seed = seeds[i], .render_width = 32, .render_height = 24};
        struct hs_clip *clip = rig_clip(&rig, &params);
        for (uint32_t frame = 3; frame < 8; frame++) {
            struct rig_frame f;
            uint32_t close = 0;
            rig_render(&rig, clip, frame, 1u << RIG_DEPTH, &f);
            for (uint32_t k = 0; k < 32 * 24; k++)
                close += f.planes[RIG_DEPTH][k] < 0.3f;
            REQUIRE_MSG(close < 32 * 24 / 2, "seed %u, frame %u: %u pixels", (unsigned)seeds[i],
                        frame, close);
            rig_free(&f);
        }
        hs_clip_destroy(&clip);
    }
    rig_close(&rig);
}

static const struct test_case cases[] = {
    {"refuses", refuses},           {"repeats", repeats},
    {"side_by_side", side_by_side}, {"every_pattern", every_pattern},
    {"given_mesh", given_mesh},     {"clear_ways", clear_ways},
};

TEST_MAIN(cases)
