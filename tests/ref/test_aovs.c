// SPDX-License-Identifier: MIT
// AOVs: each against the plain C reference, fed with what the GPU fed it; and what must hold of
// them by themselves: parts add up, values keep to their range, the colour does not change.
#include <math.h>
#include <unistd.h>

#include "engine/src/stream.h"
#include "model_file.h"
#include "stages.h"
#include "tests/test.h"

#define W 48
#define H 40
#define OW 96
#define OH 79
#define FRAMES 6
#define PARTS 3
#define AOVS (PARTS + 3)
/** Behind the parts: the colour itself, values, the same value everywhere. */
enum {
    WHOLE = PARTS,
    VALUES,
    CONSTANT
};

static const VkImageLayout read_layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;

/** One stream with what it needs; `weights` NULL: without a network. */
struct run {
    struct fixture *fx;
    struct hs_stream *stream, *without, *banded;
    const struct hs_weights *weights;
    bool half, ldr, matrix;
    struct vkdev_image in[AOVS], out[AOVS];
    struct hs_ref_plane planes[AOVS], pictures[AOVS], past[AOVS];
    struct hs_ref_plane past_colour;
};

static enum hs_aov_kind kind_of(int aov)
{
    return aov < VALUES ? HS_AOV_LIGHT : HS_AOV_DATA;
}

/** Shares that differ from pixel to pixel, with an edge that the colour does not have. */
static void paint_aovs(struct run *r, const float *rgba, int time, struct test_rng *rng)
{
    for (int i = 0; i < W * H; i++) {
        const float x = (float)(i % W) + 1.75f * (float)time, *c = &rgba[4 * i];
        const float a = fmodf(x, 18) < 9 ? 0.25f : 0.5f, b = test_rng_float(rng, 0.1f, 0.4f);
        for (int k = 0; k < 4; k++) {
            r->planes[0].texels[4 * i + k] = a * c[k];
            r->planes[1].texels[4 * i + k] = b * c[k];
            r->planes[2].texels[4 * i + k] = c[k] - a * c[k] - b * c[k];
            r->planes[WHOLE].texels[4 * i + k] = c[k];
            r->planes[VALUES].texels[4 * i + k] = test_rng_below(rng, 3) ? -0.75f : 1.5f;
            r->planes[CONSTANT].texels[4 * i + k] = 7;
        }
    }
}

static void upload_aovs(struct run *r)
{
    uint16_t *halves = malloc(W * H * 8);
    REQUIRE(halves);
    for (int a = 0; a < AOVS; a++) {
        float *texels = r->planes[a].texels;
        for (int i = 0; r->half && i < W * H * 4; i++) {
            halves[i] = hsio_float_to_half(texels[i]);
            texels[i] = hsio_half_to_float(halves[i]);
        }
        fx_upload(r->fx, &r->in[a], read_layout, r->half ? (void *)halves : (void *)texels);
    }
    free(halves);
}

static void make_aovs(struct run *r)
{
    const VkFormat format = r->half ? VK_FORMAT_R16G16B16A16_SFLOAT : VK_FORMAT_R32G32B32A32_SFLOAT;
    for (int a = 0; a < AOVS; a++) {
        r->in[a] = fx_image(r->fx, format, W, H, VK_IMAGE_USAGE_SAMPLED_BIT, read_layout, NULL);
        r->out[a] = fx_image(r->fx, VK_FORMAT_R32G32B32A32_SFLOAT, OW, OH,
                             VK_IMAGE_USAGE_STORAGE_BIT, VK_IMAGE_LAYOUT_GENERAL, NULL);
        r->planes[a] = hs_ref_plane_make(W, H, 4);
        REQUIRE(r->planes[a].texels);
    }
}

static void drop_aovs(struct run *r)
{
    for (int a = 0; a < AOVS; a++) {
        vkdev_image_destroy(&r->fx->dev, &r->in[a]);
        vkdev_image_destroy(&r->fx->dev, &r->out[a]);
        hs_ref_plane_finish(&r->planes[a]);
        hs_ref_plane_finish(&r->past[a]);
    }
    hs_ref_plane_finish(&r->past_colour);
}

/** Each AOV by the reference, from the planes of the GPU's last frame. */
static void compare_to_reference(struct run *r, const struct hs_ref_inputs *in)
{
    struct gpu_planes now;
    gpu_planes_read(r->fx, r->stream, in->wide, &now);
    struct hs_ref_plane next = hs_ref_plane_make(OW, OH, 4), image = hs_ref_plane_make(OW, OH, 4);
    const bool ray = r->weights && r->weights->architecture == HS_ARCHITECTURE_RAY;
    const bool cells = r->weights && r->weights->architecture == HS_ARCHITECTURE_INT8;
    struct hs_ref_levels seen = {0}, *levels = ray ? &seen : NULL;
    struct hs_ref_plane features =
        hs_ref_plane_make((OW + 1) / 2, (OH + 1) / 2, r->weights ? (int)r->weights->features : 1);
    struct hs_ref_network network = {0};
    struct hs_ref_plane spread = {0};
    const struct hs_ref_plane *head = NULL;
    REQUIRE(next.texels && image.texels && features.texels);
    if (ray)
        seen = gpu_levels_read(r->fx, r->stream, W, H);
    if (cells) {
        // A feature that rounds to another integer would change it all.
        spread = gpu_head_read(r->fx, r->stream, r->weights, &now.params);
        head = &spread;
    } else if (r->weights) {
        hs_ref_features(&now.params, &in->motion, &now.prep, &now.reproj, levels, &features);
        REQUIRE_EQ(hs_ref_network_run(r->weights, &features, &network), 0);
        head = &network.layers[network.layer_count - 1].result;
    }
    const int parity = (int)((r->stream->frames - 1) & 1);
    for (int a = 0; a < AOVS; a++) {
        const struct hs_ref_aov aov = {kind_of(a), r->planes[a], r->past[a]};
        hs_ref_aov(&now.params, &now.state, in, &now.prep, &now.reproj, levels, head,
                   &r->past_colour, &aov, &next, &image);
        // A pixel whose history lies within rounding of a limit may fall on its other side; a
        // random head makes more of every difference, and of half floats still more.
        const float outliers = r->matrix ? 0.02f : r->weights ? 0.01f : 0.004f;
        require_planes_near("AOV", &r->pictures[a], &image, (struct bound){1e-3f, 3e-3f, outliers});
        hs_ref_plane_finish(&r->past[a]);
        r->past[a] = gpu_image_read(r->fx, r->stream->aovs.own[a].history[parity].image,
                                    VK_FORMAT_R32G32B32A32_SFLOAT, OW, OH, VK_IMAGE_LAYOUT_GENERAL);
    }
    hs_ref_plane_finish(&r->past_colour);
    r->past_colour = now.next.colour;
    now.next.colour = (struct hs_ref_plane){0};
    hs_ref_network_finish(&network);
    hs_ref_plane_finish(&spread);
    gpu_levels_finish(&seen);
    gpu_planes_finish(&now);
    hs_ref_plane_finish(&features);
    hs_ref_plane_finish(&next);
    hs_ref_plane_finish(&image);
}

/** What does not need a reference. */
static void require_sums_and_ranges(const struct run *r, const struct hs_ref_plane *picture)
{
    for (int i = 0; i < OW * OH * 4; i++) {
        const float want = picture->texels[i], whole = r->pictures[WHOLE].texels[i];
        const float value = r->pictures[VALUES].texels[i];
        float sum = 0;
        for (int a = 0; a < PARTS; a++)
            sum += r->pictures[a].texels[i];
        // Half floats of the parts are rounded one by one.
        const float bound = r->half ? 0x1p-10f : 0x1p-20f;
        REQUIRE_MSG(fabsf(sum - want) <= bound * fabsf(want) + 1e-7f, "value %d: %g of %g\n", i,
                    sum, want);
        REQUIRE_MSG(fabsf(whole - want) <= bound * fabsf(want) + 1e-7f, "value %d: %g, %g\n", i,
                    whole, want);
        REQUIRE_MSG(value >= -0.7501f && value <= 1.5001f, "value %d: %g\n", i, value);
        REQUIRE_NEAR(r->pictures[CONSTANT].texels[i], 7, 7e-6);
    }
}

static void one_frame(struct run *r, int time, struct test_rng *rng)
{
    struct fixture *fx = r->fx;
    struct fx_planes planes;
    struct hs_aov aovs[AOVS];
    fx_planes_create(fx, W, H, OW, OH, VK_FORMAT_R32G32B32A32_SFLOAT, time, &planes);
    struct hs_ref_inputs in = {
        .colour = gpu_image_read(fx, planes.colour.image, planes.colour.format, W, H, read_layout),
        .depth = gpu_image_read(fx, planes.depth.image, planes.depth.format, W, H, read_layout),
        .motion = gpu_image_read(fx, planes.motion.image, planes.motion.format, W, H, read_layout),
        .wide = true,
    };
    // Parts of a negative colour have no shares.
    for (int i = 0; i < W * H * 4; i++)
        in.colour.texels[i] = fmaxf(in.colour.texels[i], 0) * (r->ldr ? 0.4f : 1);
    fx_upload(fx, &planes.colour, read_layout, in.colour.texels);
    paint_aovs(r, in.colour.texels, time, rng);
    upload_aovs(r);
    struct hs_frame frame = fx_planes_frame(&planes, time);
    frame.exposure.value = time < 3 ? 1.5f : 0.75f;
    frame.reset = time == 4;
    REQUIRE_EQ(fx_frame(fx, r->without, &frame), 0);
    fx_wait(fx);
    struct hs_ref_plane alone = gpu_image_read(fx, planes.output.image, planes.output.format, OW,
                                               OH, VK_IMAGE_LAYOUT_GENERAL);
    for (int a = 0; a < AOVS; a++)
        aovs[a] = (struct hs_aov){fx_plane(&r->in[a], read_layout),
                                  fx_plane(&r->out[a], VK_IMAGE_LAYOUT_GENERAL), kind_of(a)};
    frame.aovs = aovs;
    frame.aov_count = AOVS;
    REQUIRE_EQ(fx_frame(fx, r->stream, &frame), 0);
    fx_wait(fx);
    struct hs_ref_plane picture = gpu_image_read(fx, planes.output.image, planes.output.format, OW,
                                                 OH, VK_IMAGE_LAYOUT_GENERAL);
    REQUIRE_MEM(picture.texels, alone.texels, sizeof(float) * OW * OH * 4);
    for (int a = 0; a < AOVS; a++)
        r->pictures[a] =
            gpu_image_read(fx, r->out[a].image, r->out[a].format, OW, OH, VK_IMAGE_LAYOUT_GENERAL);
    // Rows do not depend on bands.
    REQUIRE_EQ(fx_frame(fx, r->banded, &frame), 0);
    fx_wait(fx);
    for (int a = 0; a < AOVS; a++) {
        float *banded = fx_read(fx, &r->out[a], VK_IMAGE_LAYOUT_GENERAL);
        REQUIRE_MEM(banded, r->pictures[a].texels, sizeof(float) * OW * OH * 4);
        free(banded);
    }
    for (int a = 0; frame.reset && a < AOVS; a++)
        hs_ref_plane_finish(&r->past[a]);
    compare_to_reference(r, &in);
    require_sums_and_ranges(r, &picture);
    for (int a = 0; a < AOVS; a++)
        hs_ref_plane_finish(&r->pictures[a]);
    hs_ref_plane_finish(&alone);
    hs_ref_plane_finish(&picture);
    hs_ref_plane_finish(&in.colour);
    hs_ref_plane_finish(&in.depth);
    hs_ref_plane_finish(&in.motion);
    hs_stream_forget(r->stream, VK_NULL_HANDLE);
    hs_stream_forget(r->banded, VK_NULL_HANDLE);
    hs_stream_forget(r->without, VK_NULL_HANDLE);
    fx_planes_destroy(fx, &planes);
}

static void run_frames(struct fixture *fx, struct hs_model *model, const struct hs_weights *weights,
                       bool half, bool ldr, struct test_rng *rng)
{
    struct hs_model_info chosen;
    hs_model_describe(model, &chosen);
    struct run r = {.fx = fx,
                    .weights = weights,
                    .half = half,
                    .ldr = ldr,
                    .matrix = weights && chosen.path == HS_PATH_MATRIX};
    struct hs_stream_params params = {.out_width = OW,
                                      .out_height = OH,
                                      .max_render_width = W,
                                      .max_render_height = H,
                                      .flags = ldr ? HS_STREAM_LDR : 0,
                                      .bands = 1};
    struct hs_stream_info info;
    REQUIRE_EQ(hs_stream_create(model, &params, &r.stream), 0);
    REQUIRE_EQ(hs_stream_create(model, &params, &r.without), 0);
    params.bands = 3;
    REQUIRE_EQ(hs_stream_create(model, &params, &r.banded), 0);
    make_aovs(&r);
    r.past_colour = hs_ref_plane_make(OW, OH, 4);
    for (int time = 0; time < FRAMES; time++)
        one_frame(&r, time, rng);
    hs_stream_describe(r.stream, &info);
    REQUIRE(info.history_bytes >= (uint64_t)AOVS * 2 * OW * OH * 16);
    drop_aovs(&r);
    hs_stream_destroy(&r.stream);
    hs_stream_destroy(&r.without);
    hs_stream_destroy(&r.banded);
}

static void without_network(struct test_rng *rng)
{
    struct fixture fx;
    FX_OPEN(&fx, NULL, "taau");
    run_frames(&fx, fx.model, NULL, false, false, rng);
    run_frames(&fx, fx.model, NULL, true, false, rng);
    run_frames(&fx, fx.model, NULL, false, true, rng);
    fx_close(&fx);
}

// The colour that they add up to is the one that is free of noise.
static void behind_guides(struct test_rng *rng)
{
    struct fixture fx;
    FX_OPEN(&fx, NULL, "atrous");
    run_frames(&fx, fx.model, NULL, false, false, rng);
    fx_close(&fx);
}

static void run_network(struct test_rng *rng, struct fx_model_config config,
                        enum hs_path network_path)
{
    struct fixture fx;
    struct hs_weights *weights = NULL;
    char path[64];
    config.head = 0.5f;
    FX_OPEN(&fx, NULL, NULL);
    struct fx_model_file file = fx_model_file_make(rng, &config);
    snprintf(path, sizeof(path), "hs-aovs-%ld.safetensors", (long)getpid());
    fx_model_file_write(&file, path);
    fx_model_file_finish(&file);
    REQUIRE_EQ(hs_weights_load(NULL, path, &weights), 0);
    REQUIRE_EQ(hs_model_load(fx.device,
                             &(struct hs_model_params){.file = path, .path = network_path},
                             &fx.model),
               0);
    run_frames(&fx, fx.model, weights, false, false, rng);
    remove(path);
    hs_weights_destroy(&weights);
    fx_close(&fx);
}

static void with_levels(struct test_rng *rng)
{
    run_network(rng, fx_model_ray, HS_PATH_PLAIN);
}

static void with_network(struct test_rng *rng)
{
    run_network(rng, fx_model_tiny, HS_PATH_PLAIN);
}

// Where there are no matrices the plain path runs again.
static void with_matrices(struct test_rng *rng)
{
    run_network(rng, fx_model_tiny, HS_PATH_MATRIX);
}

static void with_integers(struct test_rng *rng)
{
    run_network(rng, fx_model_integers, HS_PATH_PLAIN);
    run_network(rng, fx_model_integers, HS_PATH_MATRIX);
}

static const struct test_case cases[] = {
    {"without a network", without_network}, {"with a network", with_network},
    {"with matrices", with_matrices},       {"behind guides", behind_guides},
    {"with levels", with_levels},           {"with integers", with_integers},
};
TEST_MAIN(cases)
