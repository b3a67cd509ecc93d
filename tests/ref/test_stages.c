// SPDX-License-Identifier: MIT
// Every stage on the GPU against its plain C reference, fed with what the GPU fed it; then whole
// sequences whose histories evolve apart.
#include <math.h>

#include "stages.h"
#include "tests/test.h"

#define OW 97
#define OH 80
#define FRAMES 8

// A half float on either side of a rounding tie (the rounding of stores is the device's), after
// arithmetic of a few units of 2^-24 in another order.
#define HALF_STEP 0x1p-10f

/** What a case does to the frames. */
struct recipe {
    const char *name;
    uint32_t render_width, render_height;
    uint32_t stream_flags;
    enum hs_depth_kind depth_kind;
    enum hs_motion_unwritten unwritten;
    enum hs_exposure_mode exposure;
    bool no_depth, no_motion, display, jittered, swap, camera, reactive, half, resize, bad, alpha;
    float sharpness;
    struct hs_look look;
};

static const struct recipe recipes[] = {
    {.name = "two times", .render_width = 49, .render_height = 40},
    {.name = "half colour, reactive",
     .render_width = 49,
     .render_height = 40,
     .half = true,
     .reactive = true},
    {.name = "unequal ratios, sharpened",
     .render_width = 97,
     .render_height = 30,
     .sharpness = 0.7f},
    {.name = "look, alpha",
     .render_width = 49,
     .render_height = 40,
     .alpha = true,
     .look = {.curve = HS_LOOK_ACES}},
    {.name = "graded, sharpened",
     .render_width = 49,
     .render_height = 40,
     .sharpness = 0.4f,
     .exposure = HS_EXPOSURE_AUTO,
     .look = {.curve = HS_LOOK_ACES,
              .grade = 0.8f,
              .contrast = 0.3f,
              .pivot = 0.4f,
              .shadows = {0, 0.02f, 0.1f},
              .highlights = {0.1f, 0.05f, -0.05f},
              .saturation = -0.3f,
              .vignette = 0.5f,
              .grain = 0.1f,
              .aberration_px = 3}},
    {.name = "three times, camera",
     .render_width = 33,
     .render_height = 27,
     .camera = true,
     .unwritten = HS_MOTION_UNWRITTEN_ZERO_FAR},
    {.name = "one time, hardware depth",
     .render_width = 97,
     .render_height = 80,
     .depth_kind = HS_DEPTH_HARDWARE},
    {.name = "inverted depth, jittered vectors",
     .render_width = 49,
     .render_height = 40,
     .depth_kind = HS_DEPTH_HARDWARE_INVERTED,
     .jittered = true},
    {.name = "display vectors, swapped",
     .render_width = 49,
     .render_height = 40,
     .display = true,
     .swap = true,
     .unwritten = HS_MOTION_UNWRITTEN_ZERO},
    {.name = "no depth, display vectors",
     .render_width = 49,
     .render_height = 40,
     .display = true,
     .no_depth = true},
    {.name = "no motion, camera",
     .render_width = 49,
     .render_height = 40,
     .no_motion = true,
     .camera = true},
    {.name = "display-referred",
     .render_width = 49,
     .render_height = 40,
     .stream_flags = HS_STREAM_LDR},
    {.name = "automatic exposure",
     .render_width = 49,
     .render_height = 40,
     .exposure = HS_EXPOSURE_AUTO},
    {.name = "exposure texture, resized",
     .render_width = 49,
     .render_height = 40,
     .exposure = HS_EXPOSURE_TEXTURE,
     .resize = true},
    {.name = "bad pixels",
     .render_width = 49,
     .render_height = 40,
     .bad = true,
     .unwritten = HS_MOTION_UNWRITTEN_NAN},
    {.name = "cut-outs", .render_width = 49, .render_height = 40, .alpha = true, .half = true},
};

struct run {
    struct fixture fx;
    const struct recipe *recipe;
    struct hs_stream *stream;
    struct hs_ref_stream *ref;
    struct hs_ref_plane image;
    double squared_error;
    size_t values;
};

static void require_params_equal(const struct hs_frame_params *got,
                                 const struct hs_frame_params *want)
{
    const float *g = (const float *)got, *w = (const float *)want;
    const size_t first_float = offsetof(struct hs_frame_params, scale) / 4;
    REQUIRE_MEM(&got->size, &want->size, sizeof(got->size));
    REQUIRE_HEX(got->prev_size.z, want->prev_size.z);
    REQUIRE_EQ(got->prev_size.x, want->prev_size.x);
    REQUIRE_EQ(got->prev_size.y, want->prev_size.y);
    REQUIRE_EQ(got->prev_size.w, want->prev_size.w);
    for (size_t i = first_float; i < sizeof(*got) / 4; i++)
        REQUIRE_NEAR(g[i], w[i], 1e-6 * fabs((double)w[i]) + 1e-6);
}

static void compare_stages(struct run *r, const struct hs_ref_inputs *in,
                           const struct gpu_planes *before, const struct gpu_planes *now,
                           const struct hs_ref_plane *picture)
{
    const struct hs_frame_params *p = &now->params;
    struct hs_ref_prepared prep = {
        .colour = hs_ref_plane_make(p->size.x, p->size.y, 4),
        .motion = hs_ref_plane_make(p->size.x, p->size.y, 2),
        .aux = hs_ref_plane_make(p->size.x, p->size.y, 2),
        .depth = hs_ref_plane_make(p->size.x, p->size.y, 1),
    };
    struct hs_ref_history moved = {hs_ref_plane_make(OW, OH, 4), hs_ref_plane_make(OW, OH, 2)};
    struct hs_ref_history next = {hs_ref_plane_make(OW, OH, 4), hs_ref_plane_make(OW, OH, 2)};
    struct hs_ref_plane image = hs_ref_plane_make(OW, OH, 4);
    REQUIRE(prep.colour.texels && prep.motion.texels && prep.aux.texels && prep.depth.texels);
    REQUIRE(moved.colour.texels && moved.aux.texels && next.colour.texels && next.aux.texels);
    REQUIRE(image.texels);

    // Exposure: a sum of thousands of logarithms.
    struct hs_state state = {0};
    if (!(p->prev_size.z & HS_FRAME_RESET))
        state = before->state;
    if (!(r->recipe->stream_flags & HS_STREAM_LDR)) {
        if (p->prev_size.z & HS_FRAME_MEASURE)
            hs_ref_measure(p, &in->colour, &state);
        hs_ref_expose(p, in->exposure_texel, &state);
        REQUIRE_NEAR(now->state.exposure.x, state.exposure.x, 1e-5 * (double)state.exposure.x);
        REQUIRE_NEAR(now->state.exposure.y, state.exposure.y, 1e-5 * (double)state.exposure.y);
    }
    // A sample whose depth, motion or place is within rounding of a limit may fall on the other
    // side of it, and so may a pixel halfway between two samples: hence the outliers.
    hs_ref_prepare(p, &now->state, in, &before->prep.depth, &prep);
    require_planes_near("prepared colour", &now->prep.colour, &prep.colour,
                        (struct bound){1e-6f, in->wide ? 1e-6f : HALF_STEP, 0});
    require_planes_near("prepared depth", &now->prep.depth, &prep.depth,
                        (struct bound){0, 1e-5f, 0});
    require_planes_near("prepared motion", &now->prep.motion, &prep.motion,
                        (struct bound){2e-4f, 1e-5f, 0});
    require_planes_near("validity", &now->prep.aux, &prep.aux,
                        (struct bound){2e-4f, HALF_STEP, 0.004f});
    hs_ref_reproject(p, &now->state, &in->motion, &now->prep, &before->next, &moved);
    require_planes_near("reprojected weight", &now->reproj.aux, &moved.aux,
                        (struct bound){2e-4f, HALF_STEP, 0.004f});
    require_planes_near("reprojected colour", &now->reproj.colour, &moved.colour,
                        (struct bound){3e-4f, 2 * HALF_STEP, 0.004f});
    hs_ref_resolve(p, &now->state, &now->prep, &now->reproj, &next,
                   p->prev_size.z & HS_FRAME_FINISH ? &r->image : &image);
    require_planes_near("history", &now->next.colour, &next.colour,
                        (struct bound){3e-4f, 2 * HALF_STEP, 0.004f});
    require_planes_near("history weight", &now->next.aux, &next.aux,
                        (struct bound){2e-4f, 2 * HALF_STEP, 0.004f});
    if (p->prev_size.z & HS_FRAME_FINISH)
        hs_ref_finish(p, &now->state, &r->image, &image);
    require_planes_near("picture", picture, &image, (struct bound){3e-4f, 1e-3f, 0.004f});

    hs_ref_plane_finish(&prep.colour);
    hs_ref_plane_finish(&prep.motion);
    hs_ref_plane_finish(&prep.aux);
    hs_ref_plane_finish(&prep.depth);
    hs_ref_plane_finish(&moved.colour);
    hs_ref_plane_finish(&moved.aux);
    hs_ref_plane_finish(&next.colour);
    hs_ref_plane_finish(&next.aux);
    hs_ref_plane_finish(&image);
}

static struct hs_ref_plane picked_channels(struct hs_ref_plane *from, int channels)
{
    struct hs_ref_plane to = hs_ref_plane_make(from->width, from->height, channels);
    REQUIRE(to.texels);
    for (int i = 0; i < from->width * from->height; i++)
        memcpy(to.texels + i * channels, from->texels + i * from->channels,
               (size_t)channels * sizeof(float));
    return to;
}

/** Overwrites the planes' contents by what the recipe wants, in place. */
static void season(struct run *r, struct fx_planes *planes, struct vkdev_image *colour,
                   struct vkdev_image *motion, struct vkdev_image *reactive, struct test_rng *rng)
{
    const struct recipe *c = r->recipe;
    struct fixture *fx = &r->fx;
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    const uint32_t w = planes->colour.width, h = planes->colour.height;
    float *rgba = fx_read(fx, &planes->colour, read);
    float *depth = fx_read(fx, &planes->depth, read);
    for (uint32_t i = 0; i < w * h; i++) {
        if (c->depth_kind == HS_DEPTH_HARDWARE)
            depth[i] = depth[i] >= 1000 ? 1.0f : 1 - 0.5f / depth[i];
        if (c->depth_kind == HS_DEPTH_HARDWARE_INVERTED)
            depth[i] = depth[i] >= 1000 ? 0.0f : 0.5f / depth[i];
        if (c->alpha) {
            const float a = rgba[4 * i] > 2 ? 0 : test_rng_float(rng, 0, 1) > 0.5f ? 1 : 0.25f;
            for (int k = 0; k < 4; k++)
                rgba[4 * i + (uint32_t)k] *= a;
        }
        if (c->bad && test_rng_below(rng, 40) == 0)
            rgba[4 * i + test_rng_below(rng, 4)] = test_rng_below(rng, 2) ? NAN : -INFINITY;
        if (c->bad && test_rng_below(rng, 40) == 0)
            depth[i] = test_rng_below(rng, 2) ? NAN : -1;
    }
    fx_upload(fx, &planes->colour, read, rgba);
    fx_upload(fx, &planes->depth, read, depth);
    *colour = (struct vkdev_image){0};
    if (c->half) {
        uint16_t *halves = malloc((size_t)w * h * 8);
        REQUIRE(halves);
        for (uint32_t i = 0; i < w * h * 4; i++)
            halves[i] = hsio_float_to_half(rgba[i]);
        *colour = fx_image(fx, VK_FORMAT_R16G16B16A16_SFLOAT, w, h, VK_IMAGE_USAGE_SAMPLED_BIT,
                           read, halves);
        free(halves);
    }
    const uint32_t mw = c->display ? OW : w, mh = c->display ? OH : h;
    float *vectors = malloc((size_t)mw * mh * 2 * sizeof(float));
    float *mask = malloc((size_t)w * h * sizeof(float));
    REQUIRE(vectors && mask);
    for (uint32_t i = 0; i < mw * mh; i++) {
        const bool still = c->unwritten != HS_MOTION_WRITTEN && test_rng_below(rng, 4) == 0;
        vectors[2 * i] = still ? 0 : 1.75f + test_rng_float(rng, -0.3f, 0.3f);
        vectors[2 * i + 1] = still ? 0 : -0.5f + test_rng_float(rng, -0.3f, 0.3f);
        if (c->bad && test_rng_below(rng, 50) == 0)
            vectors[2 * i] = test_rng_below(rng, 2) ? NAN : 1e6f;
    }
    for (uint32_t i = 0; i < w * h; i++)
        mask[i] = test_rng_below(rng, 3) ? 0 : test_rng_float(rng, 0, 1);
    *motion =
        fx_image(fx, VK_FORMAT_R32G32_SFLOAT, mw, mh, VK_IMAGE_USAGE_SAMPLED_BIT, read, vectors);
    *reactive = fx_image(fx, VK_FORMAT_R32_SFLOAT, w, h, VK_IMAGE_USAGE_SAMPLED_BIT, read, mask);
    free(rgba);
    free(depth);
    free(vectors);
    free(mask);
}

static struct hs_camera camera_at(int time)
{
    const double turn = 0.02 * time, c = cos(turn), s = sin(turn);
    return (struct hs_camera){
        .world_to_view = {c, 0, -s, 0.05 * time, 0, 1, 0, -0.02 * time, s, 0, c, 0.1 * time, 0, 0,
                          0, 1},
        .view_to_clip = {1.5, 0, 0.03, 0, 0, 1.8, -0.02, 0, 0, 0, -1, -0.1, 0, 0, -1, 0},
    };
}

static void one_frame(struct run *r, int time, struct gpu_planes *before, struct test_rng *rng)
{
    const struct recipe *c = r->recipe;
    struct fixture *fx = &r->fx;
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    const uint32_t w = c->render_width - (c->resize ? (uint32_t)(time % 3) * 4 : 0);
    const uint32_t h = c->render_height - (c->resize ? (uint32_t)(time % 2) * 5 : 0);
    struct fx_planes planes;
    struct vkdev_image half, motion, reactive, exposure;
    fx_planes_create(fx, w, h, OW, OH, VK_FORMAT_R32G32B32A32_SFLOAT, time, &planes);
    season(r, &planes, &half, &motion, &reactive, rng);
    const float texel = 0.5f + 0.25f * (float)time;
    exposure = fx_image(fx, VK_FORMAT_R32_SFLOAT, 1, 1, VK_IMAGE_USAGE_SAMPLED_BIT, read, &texel);

    struct hs_frame frame = fx_planes_frame(&planes, time);
    const struct hs_camera camera = camera_at(time);
    frame.motion = fx_plane(&motion, read);
    if (c->half)
        frame.colour = fx_plane(&half, read);
    if (c->reactive)
        frame.reactive = fx_plane(&reactive, read);
    if (c->no_depth)
        frame.depth.view = VK_NULL_HANDLE;
    if (c->no_motion)
        frame.motion.view = VK_NULL_HANDLE;
    if (c->camera)
        frame.camera = &camera;
    frame.motion_params = (struct hs_motion_params){
        .scale = {1.1f, 0.9f},
        .bias = {0.125f, 0},
        .swap_axes = c->swap,
        .jittered = c->jittered,
        .display_resolution = c->display,
        .unwritten = c->unwritten,
    };
    if (c->depth_kind != HS_DEPTH_LINEAR)
        frame.depth_params = (struct hs_depth_params){
            .kind = c->depth_kind, .near_z = 0.5f, .far_z = time % 2 ? 0 : 5000.0f};
    frame.exposure = (struct hs_exposure_params){
        .mode = c->exposure,
        .value = time < 4 ? 1.5f : 0.75f,
        .scale = 1.25f,
        .pre_exposure = 0.5f,
        .texture = fx_plane(&exposure, read),
    };
    frame.sharpness = c->sharpness;
    frame.look = c->look;
    frame.reset = time == 5;
    REQUIRE_EQ(fx_frame(fx, r->stream, &frame), 0);

    struct gpu_planes now;
    gpu_planes_read(fx, r->stream, !c->half, &now);
    struct hs_ref_plane picture = gpu_image_read(fx, planes.output.image, planes.output.format, OW,
                                                 OH, VK_IMAGE_LAYOUT_GENERAL);
    const struct vkdev_image *rgba = c->half ? &half : &planes.colour;
    struct hs_ref_inputs in = {
        .colour = gpu_image_read(fx, rgba->image, rgba->format, w, h, read),
        .exposure_texel = texel,
        .wide = !c->half,
    };
    if (!c->no_depth)
        in.depth = gpu_image_read(fx, planes.depth.image, planes.depth.format, w, h, read);
    if (!c->no_motion) {
        struct hs_ref_plane all =
            gpu_image_read(fx, motion.image, motion.format, motion.width, motion.height, read);
        in.motion = picked_channels(&all, 2);
        hs_ref_plane_finish(&all);
    }
    if (c->reactive)
        in.reactive = gpu_image_read(fx, reactive.image, reactive.format, w, h, read);

    // Independent history: the reference stream sees only the inputs.
    struct hs_ref_plane alone = hs_ref_plane_make(OW, OH, 4);
    REQUIRE_EQ(hs_ref_stream_frame(r->ref, &frame, &in, &alone), 0);
    require_params_equal(&now.params, hs_ref_stream_params(r->ref));
    for (int i = 0; i < OW * OH * 4; i++) {
        const double g = (double)picture.texels[i], a = (double)alone.texels[i];
        const double d = g / (1 + fabs(g)) - a / (1 + fabs(a));
        // The brightest paint is 2.5, with noise: filters of cut-outs must not invent more.
        REQUIRE(!c->alpha || g < 2.6);
        r->squared_error += d * d;
        r->values++;
    }
    compare_stages(r, &in, before, &now, &picture);

    gpu_planes_finish(before);
    *before = now;
    hs_ref_plane_finish(&alone);
    hs_ref_plane_finish(&picture);
    hs_ref_plane_finish(&in.colour);
    hs_ref_plane_finish(&in.depth);
    hs_ref_plane_finish(&in.motion);
    hs_ref_plane_finish(&in.reactive);
    hs_stream_forget(r->stream, VK_NULL_HANDLE);
    vkdev_image_destroy(&fx->dev, &motion);
    vkdev_image_destroy(&fx->dev, &reactive);
    vkdev_image_destroy(&fx->dev, &exposure);
    if (c->half)
        vkdev_image_destroy(&fx->dev, &half);
    fx_planes_destroy(fx, &planes);
}

static void run_recipe(const struct recipe *recipe, struct test_rng *rng)
{
    struct run r = {.recipe = recipe};
    printf("  %s\n", recipe->name);
    FX_OPEN(&r.fx, NULL, "taau");
    r.stream = fx_stream(&r.fx, OW, OH, 0, 0, recipe->stream_flags);
    r.ref = hs_ref_stream_create(OW, OH, recipe->stream_flags & HS_STREAM_LDR);
    r.image = hs_ref_plane_make(OW, OH, 4);
    REQUIRE(r.ref && r.image.texels);
    // What the first frame would read, were it not a reset.
    struct gpu_planes before = {
        .prep.depth = hs_ref_plane_make(OW, OH, 1),
        .next = {hs_ref_plane_make(OW, OH, 4), hs_ref_plane_make(OW, OH, 2)},
    };
    for (int time = 0; time < FRAMES; time++)
        one_frame(&r, time, &before, rng);
    const double psnr = -10 * log10(r.squared_error / (double)r.values + 1e-12);
    printf("    sequence against an independent reference: %.1f dB\n", psnr);
    REQUIRE(psnr >= 60);
    gpu_planes_finish(&before);
    hs_ref_plane_finish(&r.image);
    hs_ref_stream_destroy(&r.ref);
    hs_stream_destroy(&r.stream);
    fx_close(&r.fx);
}

static void stages_and_sequences(struct test_rng *rng)
{
    for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++)
        run_recipe(&recipes[i], rng);
}

static const struct test_case cases[] = {
    {"stages and sequences", stages_and_sequences},
};
TEST_MAIN(cases)
