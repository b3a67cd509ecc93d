// SPDX-License-Identifier: MIT
// What each guide does for `atrous` and `taau-ray`; what happens without them.
#include <math.h>
#include <unistd.h>

#include "guided.h"
#include "guides.h"
#include "model_file.h"
#include "tests/test.h"

#define OW 97
#define OH 80
#define RW 49
#define RH 40
#define ALL ((1 << GUIDE_COUNT) - 1)

/** The last picture of a short sequence; the caller frees it. */
static float *picture_of(struct fixture *fx, const struct guide_form *form, int mask, bool move,
                         float firefly)
{
    struct hs_stream *stream = fx_stream(fx, OW, OH, RW, RH, 0);
    float *picture = NULL;
    for (int time = 0; time < 4; time++) {
        const struct hs_camera camera = guides_camera(time);
        struct test_rng rng = {77 + (uint64_t)time};
        struct fx_planes planes;
        struct guides guides, plain;
        fx_planes_create(fx, RW, RH, OW, OH, VK_FORMAT_R32G32B32A32_SFLOAT, time, &planes);
        guides_create(fx, form, &camera, RW, RH, time, &guides);
        // Light that the guides' form does not change.
        guides_create(fx, &(struct guide_form){0}, NULL, RW, RH, time, &plain);
        guides_make_noisy(fx, &planes.colour, &plain, false, &rng);
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
    {"each guide counts", each_guide_counts},
    {"each guide counts for ray", each_guide_counts_for_ray},
    {"forms agree", forms_agree},
    {"others ignore guides", others_ignore_guides},
    {"shadows move", shadows_move},
    {"wrong guides", wrong_guides},
    {"report", report},
};
TEST_MAIN(cases)
