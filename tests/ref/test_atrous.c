// SPDX-License-Identifier: MIT
// The passes of `atrous` against their references, stage by stage and over sequences; what each
// guide does; what happens without them.
#include <math.h>
#include <unistd.h>

#include "engine/src/stream.h"
#include "guided.h"
#include "guides.h"
#include "model_file.h"
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

static struct hs_camera camera_at(int time)
{
    const double turn = 0.02 * time, c = cos(turn), s = sin(turn);
    return (struct hs_camera){
        .world_to_view = {c, 0, -s, 0.05 * time, 0, 1, 0, -0.02 * time, s, 0, c, 0.1 * time, 0, 0,
                          0, 1},
        .view_to_clip = {1.5, 0, 0.03, 0, 0, 1.8, -0.02, 0, 0, 0, -1, -0.1, 0, 0, -1, 0},
    };
}

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
    for (int i = 0; i < HS_ATROUS_PASSES; i++) {
        hs_ref_filter(p, &now->prep.depth, &fed, i, &signal, &next, &prep.colour);
        // Small differences of the deviation move the weights: they grow from pass to pass.
        const struct bound bound = {3e-3f, 4 * HALF_STEP * (float)(i + 1), 0.02f};
        const struct hs_ref_plane *other = i == 2 ? &got->third : i == 3 ? &got->fourth : NULL;
        if (other)
            require_planes_near("filter", other, &next, bound);
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

/** The fixture's colour times the albedo, with noise and a few fireflies. */
static void make_noisy(struct fixture *fx, const struct vkdev_image *colour,
                       const struct guides *guides, bool ldr, struct test_rng *rng)
{
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    float *c = fx_read(fx, colour, read), *d = fx_read(fx, &guides->images[0], read);
    float *s = fx_read(fx, &guides->images[1], read);
    for (uint32_t i = 0; i < colour->width * colour->height; i++) {
        const float light = test_rng_float(rng, 0.2f, 1.8f) * (test_rng_below(rng, 60) ? 1 : 20);
        for (uint32_t k = 0; k < 3; k++) {
            c[4 * i + k] *= light * (0.05f + d[4 * i + k] + s[4 * i + k]);
            if (ldr)
                c[4 * i + k] = fminf(c[4 * i + k], 1);
        }
        c[4 * i + 3] = 1;
    }
    fx_upload(fx, colour, read, c);
    free(c);
    free(d);
    free(s);
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
    const struct hs_camera camera = camera_at(time);
    struct fx_planes planes;
    struct guides guides;
    fx_planes_create(fx, w, h, OW, OH, VK_FORMAT_R32G32B32A32_SFLOAT, time, &planes);
    guides_create(fx, &c->form, c->camera ? &camera : NULL, w, h, time, &guides);
    make_noisy(fx, &planes.colour, &guides, c->stream_flags & HS_STREAM_LDR, rng);
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

/** The last picture of a short sequence; the caller frees it. */
static float *picture_of(struct fixture *fx, const struct guide_form *form, int mask, bool move,
                         float firefly)
{
    struct hs_stream *stream = fx_stream(fx, OW, OH, RW, RH, 0);
    float *picture = NULL;
    for (int time = 0; time < 4; time++) {
        const struct hs_camera camera = camera_at(time);
        struct test_rng rng = {77 + (uint64_t)time};
        struct fx_planes planes;
        struct guides guides, plain;
        fx_planes_create(fx, RW, RH, OW, OH, VK_FORMAT_R32G32B32A32_SFLOAT, time, &planes);
        guides_create(fx, form, &camera, RW, RH, time, &guides);
        // Light that the guides' form does not change.
        guides_create(fx, &(struct guide_form){0}, NULL, RW, RH, time, &plain);
        make_noisy(fx, &planes.colour, &plain, false, &rng);
        struct hs_frame frame = fx_planes_frame(&planes, time);
        guides_lend(&guides, form, mask, &frame);
        frame.camera = move ? &camera : NULL;
        frame.firefly_clamp = firefly;
        REQUIRE_EQ(fx_frame(fx, stream, &frame), 0);
        fx_wait(fx);
        free(picture);
        picture = fx_read(fx, &planes.output, VK_IMAGE_LAYOUT_GENERAL);
        hs_stream_forget(stream, VK_NULL_HANDLE);
        guides_destroy(fx, &guides);
        guides_destroy(fx, &plain);
        fx_planes_destroy(fx, &planes);
    }
    hs_stream_destroy(&stream);
    return picture;
}

/** Root mean square of the difference, in x / (1 + x). */
static double difference(const float *a, const float *b)
{
    double sum = 0;
    for (int i = 0; i < OW * OH * 4; i++) {
        REQUIRE(isfinite(a[i]) && isfinite(b[i]));
        const double d = (double)(a[i] / (1 + a[i])) - (double)(b[i] / (1 + b[i]));
        sum += d * d;
    }
    return sqrt(sum / (OW * OH * 4));
}

/** Each guide does something, and so does its absence, which breaks nothing. */
static void require_guides_count(struct fixture *fx)
{
    static const struct guide_form others[GUIDE_COUNT] = {
        {.other_diffuse = true},   {.other_specular = true}, {.other_normal = true},
        {.other_roughness = true}, {.other_hit = true},
    };
    static const char *const names[GUIDE_COUNT] = {"diffuse", "specular", "normal", "roughness",
                                                   "hit distance"};
    const struct guide_form plain = {0};
    float *all = picture_of(fx, &plain, ALL, true, 0);
    for (int g = 0; g < GUIDE_COUNT; g++) {
        float *other = picture_of(fx, &others[g], ALL, true, 0);
        float *without = picture_of(fx, &plain, ALL & ~(1 << g), true, 0);
        const double by = difference(all, other), lack = difference(all, without);
        printf("  %s: perturbed %.5f, absent %.5f\n", names[g], by, lack);
        REQUIRE(by > 2e-4 && lack > 2e-4);
        free(other);
        free(without);
    }
    free(all);
}

static void each_guide_counts(struct test_rng *rng)
{
    (void)rng;
    const struct guide_form plain = {0}, other_hit = {.other_hit = true};
    struct fixture fx;
    FX_OPEN(&fx, NULL, "atrous");
    require_guides_count(&fx);
    float *all = picture_of(&fx, &plain, ALL, true, 0);
    // Without a camera the hit distance still tells surfaces apart.
    float *still = picture_of(&fx, &plain, ALL, false, 0);
    float *other = picture_of(&fx, &other_hit, ALL, false, 0);
    float *none = picture_of(&fx, &plain, 0, true, 0);
    float *clamped = picture_of(&fx, &plain, ALL, true, 0.5f);
    REQUIRE(difference(still, other) < difference(all, none));
    REQUIRE(difference(all, none) > 2e-4);
    REQUIRE(difference(all, clamped) > 2e-4);
    for (int i = 0; i < OW * OH; i++)
        REQUIRE(0.2126f * clamped[4 * i] + 0.7152f * clamped[4 * i + 1] +
                    0.0722f * clamped[4 * i + 2] <
                1);
    free(still);
    free(other);
    free(none);
    free(clamped);
    free(all);
    fx_close(&fx);
}

// taau-ray sees guides itself, beyond what the passes make of them.
static void each_guide_counts_for_ray(struct test_rng *rng)
{
    struct fixture fx;
    struct fx_model_config config = fx_model_ray;
    char path[64];
    config.head = 0.25f;
    struct fx_model_file file = fx_model_file_make(rng, &config);
    snprintf(path, sizeof(path), "hs-atrous-%ld.safetensors", (long)getpid());
    fx_model_file_write(&file, path);
    fx_model_file_finish(&file);
    FX_OPEN(&fx, NULL, NULL);
    REQUIRE_EQ(hs_model_load(fx.device, &(struct hs_model_params){.file = path}, &fx.model), 0);
    remove(path);
    require_guides_count(&fx);
    fx_close(&fx);
}

// The same surfaces in other conventions give the same picture.
static void forms_agree(struct test_rng *rng)
{
    (void)rng;
    static const struct guide_form forms[] = {
        {.params.normal_space = HS_NORMAL_VIEW},
        {.params.normal_unsigned = true},
        {.params.roughness = HS_ROUGHNESS_ALPHA},
        {.params.roughness = HS_ROUGHNESS_SMOOTHNESS},
    };
    const struct guide_form plain = {0}, packed = {.params.normal_packed = true};
    const struct guide_form across = {.grazing = true};
    const struct guide_form f0 = {.params.specular = HS_SPECULAR_F0, .grazing = true};
    const struct guide_form white = {.params.specular = HS_SPECULAR_METAL_WHITE, .grazing = true};
    struct fixture fx;
    FX_OPEN(&fx, NULL, "atrous");
    float *want = picture_of(&fx, &plain, ALL, true, 0);
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        float *got = picture_of(&fx, &forms[i], ALL, true, 0);
        printf("  form %zu: %.6f\n", i, difference(want, got));
        REQUIRE(difference(want, got) < 1e-3);
        free(got);
    }
    float *got = picture_of(&fx, &packed, ALL & ~(1 << GUIDE_ROUGHNESS), true, 0);
    REQUIRE(difference(want, got) < 1e-6);
    free(got);
    free(want);
    want = picture_of(&fx, &across, ALL, true, 0);
    // Reflectance at normal incidence is another number; white metals change no rule.
    float *one = picture_of(&fx, &f0, ALL, true, 0), *two = picture_of(&fx, &white, ALL, true, 0);
    REQUIRE(difference(want, one) > 1e-4);
    REQUIRE(difference(one, two) == 0);
    free(one);
    free(two);
    free(want);
    fx_close(&fx);
}

// Presets without those passes leave guides alone, whatever is in them.
static void others_ignore_guides(struct test_rng *rng)
{
    (void)rng;
    const struct guide_form plain = {0};
    struct fixture fx;
    FX_OPEN(&fx, NULL, "taau");
    float *with = picture_of(&fx, &plain, ALL, true, 0);
    float *without = picture_of(&fx, &plain, 0, true, 0);
    REQUIRE(difference(with, without) == 0);
    free(with);
    free(without);
    fx_close(&fx);
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
        make_noisy(&r.fx, &planes.colour, &guides, false, rng);
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

/** Light of a still wall at render pixel x: a shadow whose edge moves. */
static float wall_light(float x, int time)
{
    return x < 8 + 3 * (float)time ? 0.5f : 1;
}

// A shadow moves over a surface that stands: neither its trail nor the light before it stays.
static void shadows_move(struct test_rng *rng)
{
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    struct fixture fx;
    FX_OPEN(&fx, NULL, "atrous");
    struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, 0);
    struct fx_planes planes;
    fx_planes_create(&fx, RW, RH, OW, OH, VK_FORMAT_R32G32B32A32_SFLOAT, 0, &planes);
    float *rgba = malloc(RW * RH * 4 * sizeof(float)), *depth = malloc(RW * RH * sizeof(float));
    REQUIRE(rgba && depth);
    for (int i = 0; i < RW * RH; i++)
        depth[i] = 5;
    fx_upload(&fx, &planes.depth, read, depth);
    for (int time = 0; time < 8; time++) {
        for (int i = 0; i < RW * RH; i++) {
            const float light = wall_light((float)(i % RW) + 0.5f, time);
            for (int k = 0; k < 4; k++)
                rgba[4 * i + k] = k == 3 ? 1 : light * test_rng_float(rng, 0, 2);
        }
        fx_upload(&fx, &planes.colour, read, rgba);
        struct hs_frame frame = fx_planes_frame(&planes, time);
        frame.jitter[0] = frame.jitter[1] = 0;
        frame.motion.view = VK_NULL_HANDLE;
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
        fx_wait(&fx);
    }
    float *picture = fx_read(&fx, &planes.output, VK_IMAGE_LAYOUT_GENERAL);
    double shadow = 0, lit = 0;
    for (int y = 0; y < OH; y++) {
        // Passed by the edge two frames ago, and not reached yet.
        for (int x = 44; x < 48; x++)
            shadow += (double)picture[4 * (y * OW + x)] / (4 * OH);
        for (int x = 76; x < 80; x++)
            lit += (double)picture[4 * (y * OW + x)] / (4 * OH);
    }
    printf("  shadow %.3f, light %.3f\n", shadow, lit);
    REQUIRE(shadow < 0.7 && lit > 0.9);
    free(picture);
    free(rgba);
    free(depth);
    hs_stream_destroy(&stream);
    fx_planes_destroy(&fx, &planes);
    fx_close(&fx);
}

// hs_stream_record(): HS_ERR_INVALID and HS_ERR_UNSUPPORTED.
static void wrong_guides(struct test_rng *rng)
{
    (void)rng;
    const struct guide_form plain = {0};
    struct fixture fx;
    struct fx_planes planes;
    struct guides guides;
    FX_OPEN(&fx, NULL, "atrous");
    fx.quiet = true;
    fx_planes_create(&fx, RW, RH, OW, OH, VK_FORMAT_R32G32B32A32_SFLOAT, 0, &planes);
    guides_create(&fx, &plain, NULL, RW, RH, 0, &guides);
    struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, 0);
    struct hs_frame good = fx_planes_frame(&planes, 0);
    guides_lend(&guides, &plain, ALL, &good);
    static const char *const names[GUIDE_COUNT] = {"diffuse albedo", "specular albedo", "normal",
                                                   "roughness", "hit distance"};
    for (int g = 0; g < 2 * GUIDE_COUNT; g++) {
        struct hs_frame frame = good;
        struct hs_image *const all[GUIDE_COUNT] = {&frame.diffuse_albedo, &frame.specular_albedo,
                                                   &frame.normal, &frame.roughness,
                                                   &frame.hit_distance};
        struct hs_image *image = all[g / 2];
        if (g % 2)
            image->format = VK_FORMAT_R8G8_UINT;
        else
            image->width = RW - 1;
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), g % 2 ? HS_ERR_UNSUPPORTED : HS_ERR_INVALID);
        REQUIRE_MSG(strstr(fx.last, names[g / 2]), "%s", fx.last);
    }
    REQUIRE_EQ(fx_frame(&fx, stream, &good), 0);
    fx_wait(&fx);
    hs_stream_destroy(&stream);
    guides_destroy(&fx, &guides);
    fx_planes_destroy(&fx, &planes);
    fx_close(&fx);
}

// hs_stream_report(): HS_ERR_INVALID.
static void report(struct test_rng *rng)
{
    (void)rng;
    for (int guided = 0; guided < 2; guided++) {
        struct fixture fx;
        FX_OPEN(&fx, NULL, guided ? "atrous" : "taau");
        struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, 0);
        struct hs_plane_report rows[HS_REPORT_PLANES];
        struct hs_frame frame = {.normal.view = (VkImageView)8,
                                 .depth.view = (VkImageView)8,
                                 .guide_params.normal_packed = true};
        REQUIRE_EQ(hs_stream_report(NULL, &frame, rows), HS_ERR_INVALID);
        REQUIRE_EQ(hs_stream_report(stream, NULL, rows), HS_ERR_INVALID);
        REQUIRE_EQ(hs_stream_report(stream, &frame, NULL), HS_ERR_INVALID);
        REQUIRE_EQ(hs_stream_report(stream, &frame, rows), 0);
        int wanted = 0, present = 0, missed = 0;
        for (int i = 0; i < HS_REPORT_PLANES; i++) {
            wanted += rows[i].wanted;
            present += rows[i].present;
            missed += rows[i].without != NULL;
            REQUIRE_EQ(rows[i].without != NULL, rows[i].wanted && !rows[i].present);
            REQUIRE(rows[i].plane && (!rows[i].guide || rows[i].wanted == guided));
        }
        // Packed in the normals, roughness is there, too.
        REQUIRE_EQ(present, 3);
        REQUIRE_EQ(wanted, guided ? 9 : 4);
        REQUIRE_EQ(missed, guided ? 6 : 3);
        hs_stream_destroy(&stream);
        fx_close(&fx);
    }
}

static const struct test_case cases[] = {
    {"passes and sequences", passes_and_sequences},
    {"each guide counts", each_guide_counts},
    {"each guide counts for ray", each_guide_counts_for_ray},
    {"forms agree", forms_agree},
    {"others ignore guides", others_ignore_guides},
    {"history grows", history_grows},
    {"shadows move", shadows_move},
    {"wrong guides", wrong_guides},
    {"report", report},
};
TEST_MAIN(cases)
