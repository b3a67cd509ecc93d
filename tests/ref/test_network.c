// SPDX-License-Identifier: MIT
// The neural presets on the GPU: features, network and resolve of both paths against the C
// reference, fed with what the GPU fed them; whole sequences whose histories evolve apart, plain
// against the reference and matrix against plain; a head of zeros against taau. The same of
// taau-ray, whose passes over guides test_atrous holds to their references, against atrous.
#include <math.h>

#include "engine/src/stream.h"
#include "network.h"
#include "recipe.h"
#include "tests/test.h"

#define FRAMES 16

static const struct recipe recipes[] = {
    {"two times, opaque", 96, 80, 48, 40, 0, .opaque = true},
    {"odd sizes, sharpened", 97, 83, 49, 41, 0, .sharpness = 0.5f},
    {"unequal ratios, no depth", 90, 66, 90, 22, 0, .no_depth = true},
    {"three times, no motion, resized", 99, 66, 33, 22, 0, .no_motion = true, .half = true,
     .small_width = 33, .small_height = 22},
    {"one time, opaque", 64, 56, 64, 56, 0, .half = true, .opaque = true},
    {"display-referred, resized", 95, 80, 48, 40, HS_STREAM_LDR, .small_width = 33,
     .small_height = 28},
};

#define ALL_GUIDES ((1 << GUIDE_COUNT) - 1)

static const struct recipe ray_recipes[] = {
    {"two times, opaque, all guides", 96, 80, 48, 40, 0, .opaque = true, .ray = true,
     .guides = ALL_GUIDES},
    {"odd sizes, sharpened, resized, no guides", 97, 83, 49, 41, 0, .sharpness = 0.5f, .ray = true,
     .half = true, .small_width = 33, .small_height = 28},
    {"three times, no depth, no motion", 99, 66, 33, 22, 0, .no_depth = true, .no_motion = true,
     .ray = true, .guides = 1 << GUIDE_DIFFUSE | 1 << GUIDE_NORMAL},
    {"display-referred", 95, 80, 48, 40, HS_STREAM_LDR, .ray = true, .guides = ALL_GUIDES},
};

/** Last activations of level 0, relative to their size. */
static void add_activations(struct fixture *fx, struct error *e, const struct hs_stream *s,
                            const struct hs_ref_plane *want)
{
    const struct hs_level_size *level = &s->levels[0];
    void *values = gpu_tensor_read(fx, s, HS_TENSOR(0, 0));
    REQUIRE_EQ(level->width, want->width);
    REQUIRE_EQ(level->height, want->height);
    const bool half = s->model->layers.matrix.m;
    for (uint32_t y = 0; y < level->height; y++) {
        for (uint32_t x = 0; x < level->width; x++) {
            const size_t at = ((size_t)y * level->pitch + x) * (size_t)want->channels;
            const float *texel =
                want->texels + ((size_t)y * level->width + x) * (size_t)want->channels;
            for (int c = 0; c < want->channels; c++) {
                const size_t i = at + (size_t)c;
                const float got =
                    half ? hsio_half_to_float(((uint16_t *)values)[i]) : ((float *)values)[i];
                const double d = (double)got - (double)texel[c];
                e->sum += d * d;
                e->power += (double)texel[c] * (double)texel[c];
                e->count++;
            }
        }
    }
    free(values);
}

/** What one path must reach, dB. */
struct bounds {
    double activations; ///< Level 0 after the network, from the same planes.
    double resolved;    ///< Picture from the same planes.
    double sequence;    ///< Pictures of a whole sequence, against the reference or the plain path.
};

/** A path's errors over a sequence. */
struct errors {
    struct error activations, resolved, sequence;
};

/** Runs the reference on the planes that the GPU's last frame read. */
static void compare_stages(struct fixture *fx, struct hs_stream *stream, const struct file *file,
                           const struct source *s, const struct hs_ref_plane *got, struct errors *e)
{
    struct gpu_planes now;
    struct hs_ref_network network = {0};
    gpu_planes_read(fx, stream, s->in.wide, &now);
    struct hs_frame_params *p = &now.params;
    const int w = p->size.z, h = p->size.w;
    const bool ray = file->weights->architecture == HS_ARCHITECTURE_RAY;
    struct hs_ref_levels seen = {0}, *levels = ray ? &seen : NULL;
    struct hs_ref_plane features =
        hs_ref_plane_make((w + 1) / 2, (h + 1) / 2, (int)file->weights->features);
    struct hs_ref_plane image = hs_ref_plane_make(w, h, 4), sharp = hs_ref_plane_make(w, h, 4);
    struct hs_ref_history next = {hs_ref_plane_make(w, h, 4), hs_ref_plane_make(w, h, 2)};
    REQUIRE(features.texels && image.texels && sharp.texels && next.colour.texels &&
            next.aux.texels);
    if (ray)
        seen = gpu_levels_read(fx, stream, p->size.x, p->size.y);
    hs_ref_features(p, &s->in.motion, &now.prep, &now.reproj, levels, &features);
    REQUIRE_EQ(hs_ref_network_run(file->weights, &features, &network), 0);
    const uint32_t last = network.layer_count - 1;
    add_activations(fx, &e->activations, stream, &network.layers[last - 1].result);
    hs_ref_resolve_steered(p, &now.state, &now.prep, &now.reproj, levels,
                           &network.layers[last].result, &next, &image);
    gpu_levels_finish(&seen);
    if (s->frame.sharpness > 0)
        hs_ref_finish(p, &now.state, &image, &sharp);
    add_pictures(&e->resolved, got, s->frame.sharpness > 0 ? &sharp : &image);
    hs_ref_network_finish(&network);
    gpu_planes_finish(&now);
    hs_ref_plane_finish(&features);
    hs_ref_plane_finish(&image);
    hs_ref_plane_finish(&sharp);
    hs_ref_plane_finish(&next.colour);
    hs_ref_plane_finish(&next.aux);
}

static void require_bounds(const char *path, const struct errors *e, const struct bounds *bounds)
{
    const double activations = decibels(&e->activations), resolved = decibels(&e->resolved);
    const double sequence = decibels(&e->sequence);
    printf("    %s: activations %.1f dB, resolved %.1f dB, sequence %.1f dB\n", path, activations,
           resolved, sequence);
    REQUIRE(activations >= bounds->activations);
    REQUIRE(resolved >= bounds->resolved);
    REQUIRE(sequence >= bounds->sequence);
}

static void one_frame(struct fixture *fx, const struct file *file, const struct recipe *r, int time,
                      struct hs_stream *plain, struct hs_stream *matrix, struct hs_ref_stream *ref,
                      struct errors *e)
{
    struct source s;
    struct hs_ref_plane want = hs_ref_plane_make((int)r->out_width, (int)r->out_height, 4);
    REQUIRE(want.texels);
    make_source(fx, r, time, &s);
    struct hs_ref_plane got = picture(fx, plain, &s);
    REQUIRE_EQ(hs_ref_stream_frame(ref, &s.frame, &s.in, &want), 0);
    compare_stages(fx, plain, file, &s, &got, &e[0]);
    add_pictures(&e[0].sequence, &got, &want);
    if (matrix) {
        struct hs_ref_plane other = picture(fx, matrix, &s);
        compare_stages(fx, matrix, file, &s, &other, &e[1]);
        add_pictures(&e[1].sequence, &other, &got);
        hs_ref_plane_finish(&other);
    }
    hs_ref_plane_finish(&got);
    hs_ref_plane_finish(&want);
    drop_source(fx, &s);
}

static void run_recipe(const struct file *file, const struct recipe *r, int frames)
{
    // Plain: sums in another order, and at ratios like 3 some pixels between two samples choose the
    // other one. Its sequence keeps history in half floats, whose rounding is the device's. Matrix:
    // weights and activations have eleven bits.
    // Behind taau-ray's passes, sequences are as far apart as those of atrous, and flat places have
    // no grain left: deviations of nearly equal samples are rounding, which features divide by.
    const struct bounds plain_bounds = {r->ray ? 58 : 72, 78, r->ray ? 55 : 65};
    static const struct bounds matrix_bounds = {50, 55, 55};
    struct fixture fx;
    struct hs_model_info info;
    struct errors e[2] = {0};
    printf("  %s\n", r->name);
    FX_OPEN(&fx, NULL, NULL);
    struct hs_model *plain = load(&fx, file, HS_PATH_PLAIN);
    struct hs_model *matrix = load(&fx, file, HS_PATH_MATRIX);
    hs_model_describe(plain, &info);
    REQUIRE_EQ(info.path, HS_PATH_PLAIN);
    hs_model_describe(matrix, &info);
    struct hs_stream *a = open_stream(plain, r), *b = NULL;
    if (info.path == HS_PATH_MATRIX)
        b = open_stream(matrix, r);
    struct hs_ref_stream *ref = hs_ref_stream_create((int)r->out_width, (int)r->out_height,
                                                     r->stream_flags & HS_STREAM_LDR);
    REQUIRE(ref);
    hs_ref_stream_weights(ref, file->weights);
    if (r->ray)
        REQUIRE_EQ(hs_ref_stream_guided(ref), 0);
    for (int time = 0; time < frames; time++)
        one_frame(&fx, file, r, time, a, b, ref, e);
    require_bounds("plain", &e[0], &plain_bounds);
    if (b)
        require_bounds("matrix", &e[1], &matrix_bounds);
    else
        printf("    no matrices\n");
    hs_ref_stream_destroy(&ref);
    hs_stream_destroy(&a);
    hs_stream_destroy(&b);
    hs_model_destroy(&plain);
    hs_model_destroy(&matrix);
    fx_close(&fx);
}

static void sequences(struct test_rng *rng)
{
    // Random heads of full size make the recurrence chaotic: a last place of history grows.
    struct fx_model_config config = fx_model_tiny;
    config.head = 0.25f;
    struct file file = write_model(rng, &config);
    for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++)
        run_recipe(&file, &recipes[i], FRAMES);
    drop_model(&file);
}

static void ray_sequences(struct test_rng *rng)
{
    struct fx_model_config config = fx_model_ray;
    config.head = 0.25f;
    struct file file = write_model(rng, &config);
    for (size_t i = 0; i < sizeof(ray_recipes) / sizeof(ray_recipes[0]); i++)
        run_recipe(&file, &ray_recipes[i], 8);
    drop_model(&file);
}

static void large_networks(struct test_rng *rng)
{
    static const struct recipe small = {"small", 66, 50, 33, 25, 0, .half = true};
    static const struct fx_model_config ray = {
        "ray", {48, 64, 96}, {0, 1, 2, 1, 1}, .head = 0.25f, .ray = true};
    static const struct recipe small_ray = {
        "small, guides", 66, 50, 33, 25, 0, .half = true, .ray = true, .guides = ALL_GUIDES};
    static const struct fx_model_config best = {
        "best", {48, 80, 112}, {1, 1, 2, 1, 2}, .head = 0.25f};
    struct fx_model_config quality = fx_model_quality;
    quality.head = 0.25f;
    struct file file = write_model(rng, &quality);
    run_recipe(&file, &small, 3);
    drop_model(&file);
    file = write_model(rng, &ray);
    run_recipe(&file, &small_ray, 3);
    drop_model(&file);
    file = write_model(rng, &best);
    run_recipe(&file, &small, 3);
    drop_model(&file);
}

static void zero_head_of(struct test_rng *rng, struct fx_model_config config, const char *preset,
                         const struct recipe *some)
{
    struct fixture fx;
    config.head = 0;
    struct file file = write_model(rng, &config);
    static const enum hs_path paths[] = {HS_PATH_PLAIN, HS_PATH_MATRIX};
    for (int i = 0; i < 4; i++) {
        const struct recipe *r = &some[i / 2];
        FX_OPEN(&fx, NULL, preset);
        struct hs_model *model = load(&fx, &file, paths[i % 2]);
        struct hs_stream *a = open_stream(fx.model, r), *b = open_stream(model, r);
        struct error error = {0};
        for (int time = 0; time < 6; time++) {
            struct source s;
            make_source(&fx, r, time, &s);
            struct hs_ref_plane want = picture(&fx, a, &s), got = picture(&fx, b, &s);
            if (paths[i % 2] == HS_PATH_PLAIN)
                REQUIRE_MEM(got.texels, want.texels,
                            (size_t)want.width * (size_t)want.height * 4 * sizeof(float));
            add_pictures(&error, &got, &want);
            hs_ref_plane_finish(&want);
            hs_ref_plane_finish(&got);
            drop_source(&fx, &s);
        }
        printf("  %s, %s: %.1f dB\n", r->name, i % 2 ? "matrix" : "plain", decibels(&error));
        // Samples have 16 bits on the matrix path.
        REQUIRE(decibels(&error) >= 65);
        hs_stream_destroy(&a);
        hs_stream_destroy(&b);
        hs_model_destroy(&model);
        fx_close(&fx);
    }
    drop_model(&file);
}

static void zero_head(struct test_rng *rng)
{
    zero_head_of(rng, fx_model_tiny, "taau", recipes);
}

static void ray_zero_head(struct test_rng *rng)
{
    zero_head_of(rng, fx_model_ray, "atrous", ray_recipes);
    zero_head_of(rng, fx_model_ray, "atrous", ray_recipes + 2);
}

/** The pictures of streams that differ in their bands must be the same to the last bit. */
static void compare_bands(struct hs_model *model, struct fixture *fx, const struct recipe *r)
{
    static const uint32_t counts[] = {1, 2, 3, 64};
    enum {
        COUNTS = sizeof(counts) / sizeof(counts[0])
    };
    struct hs_stream *streams[COUNTS];
    struct hs_stream_info infos[COUNTS];
    for (int i = 0; i < COUNTS; i++) {
        streams[i] = open_stream_as(model, r, counts[i], NULL);
        hs_stream_describe(streams[i], &infos[i]);
        REQUIRE(i < 3 ? infos[i].bands == counts[i] : infos[i].bands > 3);
        // Integers keep room for frames that are rendered lower.
        REQUIRE(!i || model->layers.integers ||
                infos[i].activation_bytes <= infos[i - 1].activation_bytes);
    }
    for (int time = 0; time < 4; time++) {
        struct source s;
        make_source(fx, r, time, &s);
        struct hs_ref_plane want = picture(fx, streams[0], &s);
        for (int i = 1; i < COUNTS; i++) {
            struct hs_ref_plane got = picture(fx, streams[i], &s);
            REQUIRE_MEM(got.texels, want.texels,
                        (size_t)want.width * (size_t)want.height * 4 * sizeof(float));
            hs_ref_plane_finish(&got);
        }
        hs_ref_plane_finish(&want);
        drop_source(fx, &s);
    }
    for (int i = 0; i < COUNTS; i++)
        hs_stream_destroy(&streams[i]);
}

static void bands_of(struct test_rng *rng, bool ray, bool integers, size_t count)
{
    static const struct recipe banded[] = {
        {"two times", 48, 200, 24, 100, 0, .half = true},
        {"three times, resized", 51, 261, 26, 131, 0, .small_width = 17, .small_height = 87},
        {"odd sizes, sharpened", 51, 243, 31, 139, 0, .sharpness = 0.5f},
        {"one time, display-referred", 40, 152, 40, 152, HS_STREAM_LDR, .half = true},
    };
    const struct fx_model_config deep = {"best",        {16, 16, 16}, {1, 1, 2, 1, 2},
                                         .head = 0.25f, .ray = ray,   .integers = integers};
    static const enum hs_path paths[] = {HS_PATH_PLAIN, HS_PATH_MATRIX};
    struct fixture fx;
    struct file file = write_model(rng, &deep);
    for (size_t i = 0; i < count; i++) {
        struct recipe r = banded[i];
        r.ray = ray;
        r.guides = ALL_GUIDES;
        printf("  %s\n", r.name);
        FX_OPEN(&fx, NULL, ray ? "atrous" : "taau");
        compare_bands(fx.model, &fx, &r);
        for (int p = 0; p < 2; p++) {
            struct hs_model *model = load(&fx, &file, paths[p]);
            compare_bands(model, &fx, &r);
            hs_model_destroy(&model);
        }
        fx_close(&fx);
    }
    drop_model(&file);
}

static void bands(struct test_rng *rng)
{
    bands_of(rng, false, false, 4);
}

static void integer_bands(struct test_rng *rng)
{
    bands_of(rng, false, true, 2);
}

static void ray_bands(struct test_rng *rng)
{
    bands_of(rng, true, false, 2);
}

// hs_stream_create(): HS_ERR_UNSUPPORTED for activations that no buffer can hold.
static void too_large(struct test_rng *rng)
{
    struct fixture fx;
    struct hs_stream *stream = NULL;
    VkPhysicalDeviceProperties properties;
    // A row of the finest level has 4 MiB, and blocks look a hundred rows around.
    static const struct fx_model_config wide = {"best", {128, 16, 16}, {4, 4, 4, 4, 4}, .head = 1};
    struct file file = write_model(rng, &wide);
    FX_OPEN(&fx, NULL, NULL);
    fx.quiet = true;
    // Some devices take even that, as far as their memory reaches.
    vkGetPhysicalDeviceProperties(fx.dev.physical_device, &properties);
    if (properties.limits.maxStorageBufferRange > 1u << 30) {
        fx_close(&fx);
        drop_model(&file);
        TEST_SKIP("buffers of more than 1 GiB");
    }
    struct hs_model *model = load(&fx, &file, HS_PATH_PLAIN);
    REQUIRE_EQ(hs_stream_create(model,
                                &(struct hs_stream_params){.out_width = 16384, .out_height = 16384},
                                &stream),
               HS_ERR_UNSUPPORTED);
    REQUIRE(strstr(fx.last, "activations") && strstr(fx.last, "16384x16384"));
    hs_model_destroy(&model);
    fx_close(&fx);
    drop_model(&file);
}

/** Processors take the plain path, and so does, for now, everything else. */
static void automatic_path(struct test_rng *rng)
{
    struct fixture fx;
    struct hs_model_info chosen;
    struct file file = write_model(rng, &fx_model_tiny);
    FX_OPEN(&fx, NULL, NULL);
    struct hs_model *any = load(&fx, &file, HS_PATH_AUTO);
    hs_model_describe(any, &chosen);
    REQUIRE_EQ(chosen.path, HS_PATH_PLAIN);
    hs_model_destroy(&any);
    fx_close(&fx);
    drop_model(&file);
}

static const struct test_case cases[] = {
    {"automatic path", automatic_path}, {"too large", too_large},         {"bands", bands},
    {"integer bands", integer_bands},   {"zero head", zero_head},         {"sequences", sequences},
    {"ray sequences", ray_sequences},   {"ray zero head", ray_zero_head}, {"ray bands", ray_bands},
    {"large networks", large_networks},
};
TEST_MAIN(cases)
