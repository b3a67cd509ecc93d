// SPDX-License-Identifier: MIT
// taau-int8 on the GPU. From the integers that features are rounded to, the network must give the
// very same on every path and device: a twin model whose last activations are its features tells
// those integers, the C reference makes of them what a model's tensors must hold, to the last bit.
// Both have heads of zeros, so that their histories are the same. Features themselves, floats that
// are rounded, may be one off; pictures of whole sequences are near those of the reference.
#include <math.h>

#include "engine/src/stream.h"
#include "network.h"
#include "recipe.h"
#include "tests/test.h"

#define FRAMES 7

static const struct recipe recipes[] = {
    {"two times, opaque", 96, 80, 48, 40, 0, .opaque = true},
    {"odd sizes, no depth", 97, 83, 57, 41, 0, .no_depth = true, .half = true},
    {"three times and unequal, resized", 99, 66, 37, 66, 0, .small_width = 33, .small_height = 22},
    {"one time, display-referred", 64, 56, 64, 56, HS_STREAM_LDR, .half = true},
};

static const enum hs_path paths[] = {HS_PATH_PLAIN, HS_PATH_MATRIX};

/** The integers that the last frame's features were rounded to, from the twin's activations. */
static struct hs_ref_plane read_features(struct fixture *fx, const struct hs_stream *s, int width,
                                         int height)
{
    struct hs_ref_plane plane = hs_ref_plane_make(width, height, HS_FEATURES);
    int8_t *bytes = gpu_tensor_read(fx, s, HS_TENSOR(0, 0));
    REQUIRE(plane.texels);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const size_t at = ((size_t)y * s->levels[0].pitch + (size_t)x) * 2 * HS_FEATURES;
            float *to = plane.texels + (size_t)(y * width + x) * HS_FEATURES;
            for (int c = 0; c < HS_FEATURES; c++)
                to[c] = (float)(bytes[at + (size_t)c] - bytes[at + HS_FEATURES + (size_t)c]);
        }
    }
    free(bytes);
    return plane;
}

/** How many activations were compared, at a limit, and not 0. */
static struct {
    size_t values, limits, set, features, features_off;
} seen;

/** A tensor that the last frame left must be the result of the last layer that wrote it. */
static void compare_tensor(struct fixture *fx, const struct hs_stream *s, int tensor,
                           const char *layer, const struct hs_ref_plane *want)
{
    int8_t *bytes = gpu_tensor_read(fx, s, tensor);
    for (int y = 0; y < want->height; y++) {
        for (int x = 0; x < want->width; x++) {
            const size_t at =
                ((size_t)y * s->levels[tensor / 2].pitch + (size_t)x) * (size_t)want->channels;
            const float *texel =
                want->texels + (size_t)(y * want->width + x) * (size_t)want->channels;
            for (int c = 0; c < want->channels; c++) {
                const int value = bytes[at + (size_t)c];
                REQUIRE_MSG((float)value == texel[c], "%s at (%d, %d) channel %d: %d for %g", layer,
                            x, y, c, value, (double)texel[c]);
                seen.values++;
                seen.limits += abs(value) == HS_INTEGER_LIMIT;
                seen.set += value != 0;
            }
        }
    }
    free(bytes);
}

static void compare_network(struct fixture *fx, const struct hs_stream *s, const struct file *file,
                            const struct hs_ref_plane *integers)
{
    const struct hs_layers *layers = &s->model->layers;
    struct hs_ref_network network = {0};
    struct hs_ref_plane features =
        hs_ref_plane_make(integers->width, integers->height, HS_FEATURES);
    REQUIRE(features.texels);
    // Floats that are rounded to the integers.
    for (int i = 0; i < features.width * features.height * HS_FEATURES; i++)
        features.texels[i] = integers->texels[i] / fx_model_multiplier(i % HS_FEATURES);
    REQUIRE_EQ(hs_ref_network_run(file->weights, &features, &network), 0);
    for (int i = 0; i < features.width * features.height * HS_FEATURES; i++) {
        const int pixel = i / HS_FEATURES, x = pixel % features.width, y = pixel / features.width;
        REQUIRE(network.features.texels[(y * network.features.width + x) * HS_FEATURES +
                                        i % HS_FEATURES] == integers->texels[i]);
    }
    for (int tensor = 0; tensor < HS_TENSORS; tensor++) {
        uint32_t last = layers->count - 2;
        while (last > 0 && layers->list[last].out != (uint32_t)tensor)
            last--;
        if (layers->list[last].out == (uint32_t)tensor)
            compare_tensor(fx, s, tensor, layers->list[last].name, &network.layers[last].result);
    }
    hs_ref_network_finish(&network);
    hs_ref_plane_finish(&features);
}

/** Features of the reference, from the planes that the last frame read, rounded. */
static void compare_features(struct fixture *fx, struct hs_stream *stream, const struct file *file,
                             const struct source *s, const struct hs_ref_plane *got)
{
    struct gpu_planes now;
    struct hs_ref_network network = {0};
    struct hs_ref_plane features = hs_ref_plane_make(got->width, got->height, HS_FEATURES);
    REQUIRE(features.texels);
    gpu_planes_read(fx, stream, s->in.wide, &now);
    REQUIRE_EQ(hs_ref_cell_features(&now.params, &s->in.motion, &now.prep, &now.reproj, &features),
               0);
    REQUIRE_EQ(hs_ref_network_run(file->weights, &features, &network), 0);
    for (int i = 0; i < got->width * got->height * HS_FEATURES; i++) {
        const int pixel = i / HS_FEATURES, x = pixel % got->width, y = pixel / got->width;
        const float want =
            network.features
                .texels[(y * network.features.width + x) * HS_FEATURES + i % HS_FEATURES];
        seen.features++;
        seen.features_off += got->texels[i] != want;
    }
    hs_ref_network_finish(&network);
    hs_ref_plane_finish(&features);
    gpu_planes_finish(&now);
}

/** A model and its twin, on one path. */
struct pair {
    struct hs_model *models[2];
    struct hs_stream *streams[2];
};

static bool open_pair(struct fixture *fx, const struct file files[2], enum hs_path path,
                      const struct recipe *r, struct pair *pair)
{
    struct hs_model_info info;
    *pair = (struct pair){{0}, {0}};
    for (int i = 0; i < 2; i++) {
        pair->models[i] = load(fx, &files[i], path);
        hs_model_describe(pair->models[i], &info);
        pair->streams[i] = open_stream(pair->models[i], r);
    }
    return info.path == path;
}

static void close_pair(struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        hs_stream_destroy(&pair->streams[i]);
        hs_model_destroy(&pair->models[i]);
    }
}

static void run_pair(struct fixture *fx, const struct file files[2], struct pair *pair,
                     const struct recipe *r, int frames)
{
    struct hs_stream *taau = open_stream(fx->model, r);
    for (int time = 0; time < frames; time++) {
        struct source s;
        make_source(fx, r, time, &s);
        struct hs_ref_plane pictures[2];
        for (int i = 0; i < 2; i++)
            pictures[i] = picture(fx, pair->streams[i], &s);
        // The network comes first: it tells which layer is wrong, pictures only that one is.
        struct hs_ref_plane features = read_features(
            fx, pair->streams[1], (int)s.frame.render_width, (int)s.frame.render_height);
        compare_features(fx, pair->streams[1], &files[0], &s, &features);
        compare_network(fx, pair->streams[0], &files[0], &features);
        hs_ref_plane_finish(&features);
        // Without this, the twin would not know the other's next features. Heads of zeros are taau.
        struct hs_ref_plane plain = picture(fx, taau, &s);
        require_planes_near("picture", &pictures[0], &plain, (struct bound){1e-6f, 1e-6f, 1e-3f});
        hs_ref_plane_finish(&plain);
        REQUIRE_MEM(pictures[0].texels, pictures[1].texels,
                    (size_t)r->out_width * r->out_height * 4 * sizeof(float));
        hs_ref_plane_finish(&pictures[0]);
        hs_ref_plane_finish(&pictures[1]);
        drop_source(fx, &s);
    }
    hs_stream_destroy(&taau);
}

static void write_pair(struct test_rng *rng, const struct fx_model_config *config,
                       struct file files[2])
{
    static const struct fx_model_config twin = {
        "tiny", {128, 16, 16}, {0, 0, 0, 0, 0}, .integers = true, .shows_features = true};
    struct fx_model_config silent = *config;
    silent.head = 0;
    files[0] = write_model(rng, &silent);
    files[1] = write_model(rng, &twin);
}

static void run_networks(struct test_rng *rng, const struct fx_model_config *config, size_t count,
                         int frames)
{
    struct fixture fx;
    struct file files[2];
    write_pair(rng, config, files);
    memset(&seen, 0, sizeof(seen));
    for (size_t i = 0; i < count; i++) {
        FX_OPEN(&fx, NULL, "taau");
        for (int p = 0; p < 2; p++) {
            struct pair pair;
            printf("  %s, %s\n", recipes[i].name, p ? "matrix" : "plain");
            if (open_pair(&fx, files, paths[p], &recipes[i], &pair))
                run_pair(&fx, files, &pair, &recipes[i], frames);
            else
                printf("  no matrices: %s\n", fx.last);
            close_pair(&pair);
        }
        fx_close(&fx);
    }
    printf("  %zu activations equal, %zu at a limit, %zu not 0; of %zu features %zu one off\n",
           seen.values, seen.limits, seen.set, seen.features, seen.features_off);
    REQUIRE_GT(seen.set, seen.values / 8);
    REQUIRE_GT(seen.limits, seen.values / 200);
    // Rounding of what lies between two integers goes either way.
    REQUIRE(seen.features_off * 500 < seen.features);
    drop_model(&files[0]);
    drop_model(&files[1]);
}

static void exact(struct test_rng *rng)
{
    run_networks(rng, &fx_model_integers, sizeof(recipes) / sizeof(recipes[0]), FRAMES);
}

static void exact_fast(struct test_rng *rng)
{
    run_networks(rng, &fx_model_fast, 1, 2);
}

/** Runs the reference's resolve on the planes that the GPU's last frame read. */
static void compare_resolve(struct fixture *fx, struct hs_stream *stream, const struct file *file,
                            const struct source *s, const struct hs_ref_plane *got,
                            struct error *error)
{
    struct gpu_planes now;
    gpu_planes_read(fx, stream, s->in.wide, &now);
    const int w = now.params.size.z, h = now.params.size.w;
    struct hs_ref_plane image = hs_ref_plane_make(w, h, 4);
    struct hs_ref_plane spread = gpu_head_read(fx, stream, file->weights, &now.params);
    struct hs_ref_history next = {hs_ref_plane_make(w, h, 4), hs_ref_plane_make(w, h, 2)};
    REQUIRE(image.texels && next.colour.texels && next.aux.texels);
    hs_ref_resolve_steered(&now.params, &now.state, &now.prep, &now.reproj, NULL, &spread, &next,
                           &image);
    add_pictures(error, got, &image);
    gpu_planes_finish(&now);
    hs_ref_plane_finish(&spread);
    hs_ref_plane_finish(&image);
    hs_ref_plane_finish(&next.colour);
    hs_ref_plane_finish(&next.aux);
}

static void run_sequence(const struct file *file, const struct recipe *r)
{
    struct fixture fx;
    struct hs_model_info info;
    struct error resolved[2] = {0}, sequence = {0}, between = {0};
    FX_OPEN(&fx, NULL, NULL);
    struct hs_model *models[2];
    struct hs_stream *streams[2];
    for (int p = 0; p < 2; p++) {
        models[p] = load(&fx, file, paths[p]);
        streams[p] = open_stream(models[p], r);
    }
    hs_model_describe(models[1], &info);
    struct hs_ref_stream *ref = hs_ref_stream_create((int)r->out_width, (int)r->out_height,
                                                     r->stream_flags & HS_STREAM_LDR);
    REQUIRE(ref);
    hs_ref_stream_weights(ref, file->weights);
    for (int time = 0; time < FRAMES; time++) {
        struct source s;
        struct hs_ref_plane want = hs_ref_plane_make((int)r->out_width, (int)r->out_height, 4);
        REQUIRE(want.texels);
        make_source(&fx, r, time, &s);
        struct hs_ref_plane got = picture(&fx, streams[0], &s);
        compare_resolve(&fx, streams[0], file, &s, &got, &resolved[0]);
        REQUIRE_EQ(hs_ref_stream_frame(ref, &s.frame, &s.in, &want), 0);
        add_pictures(&sequence, &got, &want);
        if (info.path == HS_PATH_MATRIX) {
            struct hs_ref_plane other = picture(&fx, streams[1], &s);
            compare_resolve(&fx, streams[1], file, &s, &other, &resolved[1]);
            add_pictures(&between, &other, &got);
            hs_ref_plane_finish(&other);
        }
        hs_ref_plane_finish(&got);
        hs_ref_plane_finish(&want);
        drop_source(&fx, &s);
    }
    printf("  %s: resolved %.1f dB, sequence %.1f dB", r->name, decibels(&resolved[0]),
           decibels(&sequence));
    REQUIRE(decibels(&resolved[0]) >= 78);
    REQUIRE(decibels(&sequence) >= 50);
    if (info.path == HS_PATH_MATRIX) {
        printf("; matrix: resolved %.1f dB, to plain %.1f dB%s", decibels(&resolved[1]),
               decibels(&between), between.sum > 0 ? "" : ", the same to the last bit");
        REQUIRE(decibels(&resolved[1]) >= 78);
        REQUIRE(decibels(&between) >= 50);
    }
    printf("\n");
    hs_ref_stream_destroy(&ref);
    for (int p = 0; p < 2; p++) {
        hs_stream_destroy(&streams[p]);
        hs_model_destroy(&models[p]);
    }
    fx_close(&fx);
}

static void sequences(struct test_rng *rng)
{
    struct fx_model_config config = fx_model_integers;
    // A feature that is rounded to another integer changes everything a random network makes there,
    // and history carries it on: little of it keeps sequences together.
    config.head = 0.03f;
    struct file file = write_model(rng, &config);
    for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++)
        run_sequence(&file, &recipes[i]);
    drop_model(&file);
}

static const struct test_case cases[] = {
    {"exact", exact},
    {"exact fast", exact_fast},
    {"sequences", sequences},
};
TEST_MAIN(cases)
