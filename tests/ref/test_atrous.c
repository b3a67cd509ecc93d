// SPDX-License-Identifier: MIT
// The passes of `atrous` against their references, stage by stage and over sequences.
#include <math.h>

#include "engine/src/stream.h"
#include "guided.h"
#include "guides.h"
#include "tests/test.h"

#define OW 97
#define OH 80
#define RW 49
#define RH 40
#define FRAMES 7
#define ALL ((1 << GUIDE_COUNT) - 1)
#define HALF_STEP 0x1p-10f

struct recipe {
    const char *name;
    int mask; ///< Guides that are there.
    struct guide_form form;
    uint32_t stream_flags;
    bool camera, no_depth, no_motion, half, resize;
    float firefly;
};

static const struct recipe recipes[] = {
    {.name = "all guides", .mask = ALL},
    {.name = "all guides, camera, F0",
     .mask = ALL,
     .camera = true,
     .form.params.specular = HS_SPECULAR_F0},
    {.name = "view space, unsigned, packed smoothness, half",
     .mask = ALL & ~(1 << GUIDE_ROUGHNESS),
     .camera = true,
     .half = true,
     .form.params = {.normal_space = HS_NORMAL_VIEW,
                     .normal_unsigned = true,
                     .normal_packed = true,
                     .roughness = HS_ROUGHNESS_SMOOTHNESS}},
    {.name = "view space without a camera, alpha, resized",
     .mask = ALL,
     .resize = true,
     .form.params = {.normal_space = HS_NORMAL_VIEW, .roughness = HS_ROUGHNESS_ALPHA}},
    {.name = "no guides, firefly clamp", .firefly = 1.5f},
    {.name = "nothing but colour", .no_depth = true, .no_motion = true},
    {.name = "albedo of the whole reflectance", .mask = 1 << GUIDE_DIFFUSE},
    {.name = "display-referred", .mask = ALL, .stream_flags = HS_STREAM_LDR},
};

/** What the passes wrote in a frame. */
struct passes {
    struct hs_ref_guided guided;
    struct hs_ref_plane third, fourth; ///< Results of passes of the filter.
    struct hs_ref_signal next;
};

struct run {
    struct fixture fx;
    const struct recipe *recipe;
    struct hs_stream *stream;
    struct hs_ref_stream *ref;
    double squared_error;
    size_t values;
};

static struct hs_ref_plane own(struct run *r, int which, const struct hs_ivec4 *size)
{
    return gpu_own_read(&r->fx, &r->stream->guides[which], size->x, size->y);
}

static void read_passes(struct run *r, const struct hs_ivec4 *size, struct passes *out)
{
    const int now = (int)((r->stream->frames - 1) & 1);
    *out = (struct passes){
        .guided = {.albedo = own(r, HS_GUIDE_ALBEDO, size),
                   .traits = own(r, HS_GUIDE_TRAITS, size),
                   .surface = own(r, HS_GUIDE_SURFACE + now, size)},
        .third = own(r, HS_GUIDE_SIGNAL_A, size),
        .fourth = own(r, HS_GUIDE_SIGNAL_B, size),
        .next = {own(r, HS_GUIDE_SURFACE + now, size), own(r, HS_GUIDE_ACCUMULATED + now, size),
                 own(r, HS_GUIDE_MOMENTS + now, size)},
    };
}

static void finish_passes(struct passes *p)
{
    struct hs_ref_plane *all[] = {&p->guided.signal,  &p->guided.albedo, &p->guided.traits,
                                  &p->guided.surface, &p->third,         &p->fourth,
                                  &p->next.surface,   &p->next.signal,   &p->next.moments};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        hs_ref_plane_finish(all[i]);
}

static struct hs_ref_plane make(const struct hs_ivec4 *size, int channels)
{
    struct hs_ref_plane plane = hs_ref_plane_make(size->x, size->y, channels);
    REQUIRE(plane.texels);
    return plane;
}

static void copy_texels(struct hs_ref_plane *to, const struct hs_ref_plane *from)
{
    REQUIRE(to->width == from->width && to->height == from->height &&
            to->channels == from->channels);
    memcpy(to->texels, from->texels,
           (size_t)to->width * (size_t)to->height * (size_t)to->channels * sizeof(float));
}

/** Every pass fed with what the GPU fed it; within the filter, with the reference's own result. */
static void compare_passes(const struct hs_ref_inputs *in, const struct gpu_planes *before,
                           const struct gpu_planes *now, const struct passes *past,
                           const struct passes *got)
{
    const struct hs_frame_params *p = &now->params;
    const struct hs_ivec4 *size = &p->size;
    struct hs_ref_prepared prep = {make(size, 4), make(size, 2), make(size, 2), make(size, 1)};
    struct hs_ref_guided guided = {make(size, 4), make(size, 4), make(size, 2), make(size, 4)};
    struct hs_ref_plane signal = make(size, 4), moments = make(size, 4), next = make(size, 4);
    hs_ref_prepare(p, &now->state, in, &before->prep.depth, &prep);
    hs_ref_demodulate(p, in, &prep, &guided);
    // Stores on either side of a tie; unit vectors and powers of a few units of 2^-24.
    require_planes_near("albedo", &got->guided.albedo, &guided.albedo,
                        (struct bound){1e-4f, HALF_STEP, 0});
    require_planes_near("traits", &got->guided.traits, &guided.traits,
                        (struct bound){1e-4f, HALF_STEP, 0});
    require_planes_near("surface", &got->guided.surface, &guided.surface,
                        (struct bound){1e-4f, HALF_STEP, 0});
    for (int i = 0; (p->prev_size.z & HS_FRAME_LDR) && i < 4 * size->x * size->y; i++)
        REQUIRE(got->guided.albedo.texels[i] == 1);
    struct hs_ref_guided fed = got->guided;
    fed.signal = guided.signal;
    hs_ref_accumulate(p, &now->state, &now->prep, &before->prep.depth, &fed, &past->next, &signal,
                      &moments);
    // Taps of history that are just the same surface, or just not.
    require_planes_near("moments", &got->next.moments, &moments,
                        (struct bound){1e-3f, 4 * HALF_STEP, 0.01f});
    require_planes_near("history", &got->next.signal, &signal,
                        (struct bound){1e-3f, 4 * HALF_STEP, 0.01f});
    // From here on with what the GPU made: a tap that was just the same surface, or just not,
    // reaches more pixels with every pass.
    copy_texels(&signal, &got->next.signal);
    for (int i = 0; i < HS_ATROUS_PASSES; i++) {
        hs_ref_filter(p, &now->prep.depth, &fed, i, &signal, &next, &prep.colour);
        // Small differences of the deviation move the weights: they grow from pass to pass.
        const struct bound bound = {3e-3f, 4 * HALF_STEP * (float)(i + 1), 0.02f};
        const struct hs_ref_plane *other = i == 2 ? &got->third : i == 3 ? &got->fourth : NULL;
        if (other) {
            require_planes_near("filter", other, &next, bound);
            copy_texels(&next, other);
        }
        const struct hs_ref_plane swap = signal;
        signal = next;
        next = swap;
    }
    require_planes_near("denoised colour", &now->prep.colour, &prep.colour,
                        (struct bound){3e-3f, 20 * HALF_STEP, 0.02f});
    struct hs_ref_plane *all[] = {&prep.colour,   &prep.motion,   &prep.aux,      &prep.depth,
                                  &guided.signal, &guided.albedo, &guided.traits, &guided.surface,
                                  &signal,        &moments,       &next};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        hs_ref_plane_finish(all[i]);
}

static struct hs_ref_plane two_channels(struct hs_ref_plane all)
{
    struct hs_ref_plane to = hs_ref_plane_make(all.width, all.height, 2);
    REQUIRE(to.texels);
    for (int i = 0; i < all.width * all.height; i++)
        memcpy(to.texels + 2 * i, all.texels + i * all.channels, 2 * sizeof(float));
    hs_ref_plane_finish(&all);
    return to;
}

static struct vkdev_image as_half(struct fixture *fx, const struct vkdev_image *colour)
{
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    float *c = fx_read(fx, colour, read);
    const size_t count = (size_t)colour->width * colour->height * 4;
    uint16_t *halves = malloc(count * 2);
    REQUIRE(halves);
    for (size_t i = 0; i < count; i++)
        halves[i] = hsio_float_to_half(c[i]);
    struct vkdev_image image = fx_image(fx, VK_FORMAT_R16G16B16A16_SFLOAT, colour->width,
                                        colour->height, VK_IMAGE_USAGE_SAMPLED_BIT, read, halves);
    free(c);
    free(halves);
    return image;
}

static void one_frame(struct run *r, int time, struct gpu_planes *before, struct passes *past,
                      struct test_rng *rng)
{
    const struct recipe *c = r->recipe;
    struct fixture *fx = &r->fx;
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    const uint32_t w = RW - (c->resize ? (uint32_t)(time % 3) * 4 : 0), h = RH;
    const struct hs_camera camera = guides_camera(time);
    struct fx_planes planes;
    struct guides guides;
    fx_planes_create(fx, w, h, OW, OH, VK_FORMAT_R32G32B32A32_SFLOAT, time, &planes);
    guides_create(fx, &c->form, c->camera ? &camera : NULL, w, h, time, &guides);
    guides_make_noisy(fx, &planes.colour, &guides, c->stream_flags & HS_STREAM_LDR, rng);
    struct vkdev_image half = {0};
    struct hs_frame frame = fx_planes_frame(&planes, time);
    if (c->half) {
        half = as_half(fx, &planes.colour);
        frame.colour = fx_plane(&half, read);
    }
    guides_lend(&guides, &c->form, c->mask, &frame);
    frame.depth.view = c->no_depth ? VK_NULL_HANDLE : frame.depth.view;
    frame.motion.view = c->no_motion ? VK_NULL_HANDLE : frame.motion.view;
    frame.camera = c->camera ? &camera : NULL;
    frame.firefly_clamp = c->firefly;
    frame.exposure.value = time < 3 ? 1.5f : 0.75f;
    frame.reset = time == 5;
    REQUIRE_EQ(fx_frame(fx, r->stream, &frame), 0);

    struct gpu_planes now;
    struct passes got;
    gpu_planes_read(fx, r->stream, !c->half, &now);
    read_passes(r, &now.params.size, &got);
    const struct vkdev_image *rgba = c->half ? &half : &planes.colour;
    struct hs_ref_inputs in = {
        .colour = gpu_image_read(fx, rgba->image, rgba->format, w, h, read),
        .wide = !c->half,
    };
    if (!c->no_depth)
        in.depth = gpu_image_read(fx, planes.depth.image, planes.depth.format, w, h, read);
    if (!c->no_motion)
        in.motion =
            two_channels(gpu_image_read(fx, planes.motion.image, planes.motion.format, w, h, read));
    guides_read(fx, &guides, c->mask, &in);
    struct hs_ref_plane alone = hs_ref_plane_make(OW, OH, 4);
    struct hs_ref_plane picture = gpu_image_read(fx, planes.output.image, planes.output.format, OW,
                                                 OH, VK_IMAGE_LAYOUT_GENERAL);
    REQUIRE_EQ(hs_ref_stream_frame(r->ref, &frame, &in, &alone), 0);
    const struct hs_frame_params *want = hs_ref_stream_params(r->ref);
    REQUIRE_HEX(now.params.prev_size.z, want->prev_size.z);
    for (int k = 0; k < 16; k++)
        REQUIRE_NEAR((&now.params.view[0].x)[k], (&want->view[0].x)[k], 1e-6);
    compare_passes(&in, before, &now, past, &got);
    for (int i = 0; i < OW * OH * 4; i++) {
        const double g = (double)picture.texels[i], a = (double)alone.texels[i];
        const double d = g / (1 + fabs(g)) - a / (1 + fabs(a));
        r->squared_error += d * d;
        r->values++;
    }
    gpu_planes_finish(before);
    finish_passes(past);
    *before = now;
    *past = got;
    hs_ref_plane_finish(&alone);
    hs_ref_plane_finish(&picture);
    hs_ref_plane_finish(&in.colour);
    hs_ref_plane_finish(&in.depth);
    hs_ref_plane_finish(&in.motion);
    guides_finish(&in);
    hs_stream_forget(r->stream, VK_NULL_HANDLE);
    guides_destroy(fx, &guides);
    if (c->half)
        vkdev_image_destroy(&fx->dev, &half);
    fx_planes_destroy(fx, &planes);
}

static void passes_and_sequences(struct test_rng *rng)
{
    for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++) {
        struct run r = {.recipe = &recipes[i]};
        printf("  %s\n", r.recipe->name);
        FX_OPEN(&r.fx, NULL, "atrous");
        r.stream = fx_stream(&r.fx, OW, OH, RW, RH, r.recipe->stream_flags);
        r.ref = hs_ref_stream_create(OW, OH, r.recipe->stream_flags & HS_STREAM_LDR);
        REQUIRE(r.ref && hs_ref_stream_guided(r.ref) == 0);
        struct gpu_planes before = {.prep.depth = hs_ref_plane_make(OW, OH, 1)};
        struct passes past = {0};
        for (int time = 0; time < FRAMES; time++)
            one_frame(&r, time, &before, &past, rng);
        const double psnr = -10 * log10(r.squared_error / (double)r.values + 1e-12);
        printf("    sequence against an independent reference: %.1f dB\n", psnr);
        REQUIRE(psnr >= 55);
        gpu_planes_finish(&before);
        finish_passes(&past);
        hs_ref_stream_destroy(&r.ref);
        hs_stream_destroy(&r.stream);
        fx_close(&r.fx);
    }
}

// Motion keeps history; a cut alone drops it.
static void history_grows(struct test_rng *rng)
{
    const struct guide_form plain = {0};
    struct run r = {.recipe = &recipes[0]};
    FX_OPEN(&r.fx, NULL, "atrous");
    r.stream = fx_stream(&r.fx, OW, OH, RW, RH, 0);
    for (int time = 0; time < 8; time++) {
        struct fx_planes planes;
        struct guides guides;
        fx_planes_create(&r.fx, RW, RH, OW, OH, VK_FORMAT_R32G32B32A32_SFLOAT, time, &planes);
        guides_create(&r.fx, &plain, NULL, RW, RH, time, &guides);
        guides_make_noisy(&r.fx, &planes.colour, &guides, false, rng);
        struct hs_frame frame = fx_planes_frame(&planes, time);
        guides_lend(&guides, &plain, ALL, &frame);
        frame.reset = time == 7;
        REQUIRE_EQ(fx_frame(&r.fx, r.stream, &frame), 0);
        fx_wait(&r.fx);
        struct hs_ref_plane moments =
            own(&r, HS_GUIDE_MOMENTS + time % 2, &(struct hs_ivec4){RW, RH, 0, 0});
        double mean = 0;
        for (int i = 0; i < RW * RH; i++)
            mean += (double)moments.texels[4 * i + 2] / (RW * RH);
        // New surfaces come in at one side; all others have been there all the time.
        printf("  frame %d: %.2f frames of history\n", time, mean);
        REQUIRE(time == 0 || time == 7 ? fabs(mean - 1) < 1e-6 : mean > 0.6 * (time + 1));
        hs_ref_plane_finish(&moments);
        hs_stream_forget(r.stream, VK_NULL_HANDLE);
        guides_destroy(&r.fx, &guides);
        fx_planes_destroy(&r.fx, &planes);
    }
    hs_stream_destroy(&r.stream);
    fx_close(&r.fx);
}

static const struct test_case cases[] = {
    {"passes and sequences", passes_and_sequences},
    {"history grows", history_grows},
};
TEST_MAIN(cases)
