// SPDX-License-Identifier: MIT
// Which layer of a network goes wrong, and where: each layer on the GPU against its C reference,
// fed with what the GPU's layers before it left, on both paths. Says which matrices the device has.
// Nothing ends at the first difference, so that one run on a rare device tells all.
#include <math.h>

#include "engine/src/stream.h"
#include "recipe.h"
#include "tests/test.h"

/** Differences that are printed of a layer. */
#define SHOWN 4

static const enum hs_path paths[] = {HS_PATH_PLAIN, HS_PATH_MATRIX};
static const char *const path_names[] = {"plain", "matrix"};

#define SIZES_MAX 64

static uint32_t list_sizes(const struct fixture *fx,
                           VkCooperativeMatrixPropertiesKHR list[SIZES_MAX])
{
    uint32_t count = SIZES_MAX;
    const PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR get =
        (PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)vkGetInstanceProcAddr(
            fx->dev.instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    for (int i = 0; i < SIZES_MAX; i++)
        list[i] = (VkCooperativeMatrixPropertiesKHR){
            .sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR};
    return get && get(fx->dev.physical_device, &count, list) >= 0 ? count : 0;
}

static void print_size(const char *name, const struct hs_matrix_size *m)
{
    printf("  %s: %ux%ux%u, subgroups of %u\n", name, m->m, m->n, m->k, m->subgroup);
}

static void sizes(struct test_rng *rng)
{
    static const char *const types[] = {"f16", "f32", "f64", "s8",  "s16", "s32",
                                        "s64", "u8",  "u16", "u32", "u64"};
    VkCooperativeMatrixPropertiesKHR list[SIZES_MAX];
    struct fixture fx;
    (void)rng;
    FX_OPEN(&fx, NULL, NULL);
    const uint32_t count = list_sizes(&fx, list);
    printf("  %s, %s\n", fx.dev.report.name, fx.dev.report.driver);
    for (uint32_t i = 0; i < count; i++) {
        const int t[] = {(int)list[i].AType, (int)list[i].BType, (int)list[i].CType,
                         (int)list[i].ResultType};
        printf("  %ux%ux%u", list[i].MSize, list[i].NSize, list[i].KSize);
        for (int k = 0; k < 4; k++)
            printf(" %s", (unsigned)t[k] < sizeof(types) / sizeof(types[0]) ? types[t[k]] : "?");
        printf("%s\n", list[i].saturatingAccumulation ? " saturating" : "");
    }
    print_size("floats take", &fx.device->matrix);
    print_size("integers take", &fx.device->matrix_integers);
    fx_close(&fx);
}

/** A stream of one frame that is shown again and again, and its network. */
struct rig {
    struct fixture fx;
    struct file file;
    struct hs_model *model;
    struct hs_stream *stream;
    struct source source;
    struct gpu_planes now;
    struct hs_ref_network network; ///< On the reference's features.
};

static bool open_rig(struct rig *r, const struct file *file, const struct recipe *recipe,
                     enum hs_path path)
{
    struct hs_model_info info;
    r->file = *file;
    r->model = load(&r->fx, file, path);
    hs_model_describe(r->model, &info);
    if (info.path != path) {
        hs_model_destroy(&r->model);
        return false;
    }
    r->stream = open_stream_as(r->model, recipe, 1, NULL);
    make_source(&r->fx, recipe, 0, &r->source);
    // Every frame is the first one.
    r->source.frame.reset = true;
    return true;
}

static void close_rig(struct rig *r)
{
    drop_source(&r->fx, &r->source);
    hs_stream_destroy(&r->stream);
    hs_model_destroy(&r->model);
}

/** Draws the frame with the layers up to `last` only. Their dispatches lose their depth. */
static struct hs_ref_plane draw(struct rig *r, uint32_t last)
{
    uint32_t depths[HS_WEIGHTS_LAYERS_MAX];
    struct hs_layers *layers = &r->model->layers;
    for (uint32_t i = 0; i < layers->count; i++) {
        depths[i] = layers->list[i].groups_z;
        if (i > last)
            layers->list[i].groups_z = 0;
    }
    struct hs_ref_plane drawn = picture(&r->fx, r->stream, &r->source);
    for (uint32_t i = 0; i < layers->count; i++)
        layers->list[i].groups_z = depths[i];
    return drawn;
}

static struct hs_ref_plane read_tensor(struct rig *r, uint32_t tensor)
{
    const struct hs_level_size *level = &r->stream->levels[tensor / 2];
    const struct hs_layers *layers = &r->model->layers;
    const size_t channels = layers->channels[tensor / 2], row = level->width * channels;
    struct hs_ref_plane plane =
        hs_ref_plane_make((int)level->width, (int)level->height, (int)channels);
    void *bytes = gpu_tensor_read(&r->fx, r->stream, (int)tensor);
    REQUIRE(plane.texels);
    for (uint32_t y = 0; y < level->height; y++) {
        for (size_t i = 0; i < row; i++) {
            const size_t from = (size_t)y * level->pitch * channels + i;
            plane.texels[y * row + i] = layers->integers ? (float)((int8_t *)bytes)[from]
                                        : layers->matrix.m
                                            ? hsio_half_to_float(((uint16_t *)bytes)[from])
                                            : ((float *)bytes)[from];
        }
    }
    free(bytes);
    return plane;
}

/** Prints how near a layer is and the first values that are not. False: `least` dB are not met. */
static bool judge(const char *path, const char *layer, const struct hs_ref_plane *got,
                  const struct hs_ref_plane *want, double least)
{
    struct error e = {0};
    size_t differ = 0, first[SHOWN];
    REQUIRE_EQ(got->width, want->width);
    REQUIRE_EQ(got->height, want->height);
    REQUIRE_EQ(got->channels, want->channels);
    e.count = (size_t)got->width * (size_t)got->height * (size_t)got->channels;
    for (size_t i = 0; i < e.count; i++)
        e.power += (double)want->texels[i] * (double)want->texels[i];
    const double some = sqrt(e.power / (double)e.count);
    for (size_t i = 0; i < e.count; i++) {
        const double d = (double)got->texels[i] - (double)want->texels[i];
        e.sum += d * d;
        // NaN differs, too.
        if (isinf(least) ? !(fabs(d) <= 0) : !(fabs(d) <= 0.02 * some)) {
            if (differ < SHOWN)
                first[differ] = i;
            differ++;
        }
    }
    const double have = decibels(&e);
    const bool good = isinf(least) ? !differ : have >= least;
    printf("    %s, %s: %.1f dB%s\n", path, layer, have, good ? "" : " WRONG");
    if (good)
        return true;
    printf("      %zu of %zu values differ; x, y, channel: got, want\n", differ, e.count);
    for (size_t k = 0; k < differ && k < SHOWN; k++) {
        const size_t c = first[k] % (size_t)got->channels, at = first[k] / (size_t)got->channels;
        printf("      %zu, %zu, %zu: %g, %g\n", at % (size_t)got->width, at / (size_t)got->width, c,
               (double)got->texels[first[k]], (double)want->texels[first[k]]);
    }
    return false;
}

static void run_reference(struct rig *r)
{
    const struct hs_weights *weights = r->file.weights;
    struct hs_ref_plane features = {0};
    gpu_planes_read(&r->fx, r->stream, r->source.in.wide, &r->now);
    const struct hs_ivec4 size = r->now.params.size;
    if (r->model->layers.integers) {
        features = hs_ref_plane_make(size.x, size.y, (int)weights->features);
        REQUIRE(features.texels);
        REQUIRE_EQ(hs_ref_cell_features(&r->now.params, &r->source.in.motion, &r->now.prep,
                                        &r->now.reproj, &features),
                   0);
    } else {
        features = hs_ref_plane_make((size.z + 1) / 2, (size.w + 1) / 2, (int)weights->features);
        REQUIRE(features.texels);
        hs_ref_features(&r->now.params, &r->source.in.motion, &r->now.prep, &r->now.reproj, NULL,
                        &features);
    }
    REQUIRE_EQ(hs_ref_network_run(weights, &features, &r->network), 0);
    hs_ref_plane_finish(&features);
}

/** The layer between others, from what it read and what its output held. */
static bool middle_layer(struct rig *r, const char *path, uint32_t index, double least)
{
    const struct hs_layer *layer = &r->file.weights->layers[index];
    const struct hs_dispatch *d = &r->model->layers.list[index];
    struct hs_ref_layer want = {0};
    struct hs_ref_plane drawn = draw(r, index - 1);
    struct hs_ref_plane in = read_tensor(r, d->in), add = read_tensor(r, d->out);
    hs_ref_plane_finish(&drawn);
    drawn = draw(r, index);
    struct hs_ref_plane got = read_tensor(r, d->out);
    REQUIRE_EQ(hs_ref_layer_run(layer, &in, layer->add != HS_ADD_NONE ? &add : NULL, &want), 0);
    const bool good = judge(path, d->name, &got, &want.result, least);
    hs_ref_layer_finish(&want);
    hs_ref_plane_finish(&in);
    hs_ref_plane_finish(&add);
    hs_ref_plane_finish(&got);
    hs_ref_plane_finish(&drawn);
    return good;
}

/** The head and what resolve makes of it, from the last activations. */
static bool head_layer(struct rig *r, const char *path, double least)
{
    const uint32_t last = r->model->layers.count - 1;
    const int w = r->now.params.size.z, h = r->now.params.size.w;
    struct hs_ref_plane drawn = draw(r, last), image = hs_ref_plane_make(w, h, 4);
    struct hs_ref_history next = {hs_ref_plane_make(w, h, 4), hs_ref_plane_make(w, h, 2)};
    struct hs_ref_layer head = {0};
    struct hs_ref_plane in = read_tensor(r, HS_TENSOR(0, 0)), spread = {0};
    REQUIRE(image.texels && next.colour.texels && next.aux.texels);
    REQUIRE_EQ(hs_ref_layer_run(&r->file.weights->layers[last], &in, NULL, &head), 0);
    if (r->model->layers.integers)
        REQUIRE_EQ(hs_ref_spread_head(&r->now.params, &head.result, &spread), 0);
    hs_ref_resolve_steered(&r->now.params, &r->now.state, &r->now.prep, &r->now.reproj, NULL,
                           spread.texels ? &spread : &head.result, &next, &image);
    const bool good = judge(path, "head and resolve", &drawn, &image, least);
    hs_ref_layer_finish(&head);
    hs_ref_plane_finish(&spread);
    hs_ref_plane_finish(&in);
    hs_ref_plane_finish(&image);
    hs_ref_plane_finish(&next.colour);
    hs_ref_plane_finish(&next.aux);
    hs_ref_plane_finish(&drawn);
    return good;
}

/** What the layers of a path must reach, dB. INFINITY: every bit. */
struct bounds {
    double first, middle, head;
};

static bool one_path(struct rig *r, const char *path, const struct bounds *bounds)
{
    printf("    %s, %ux%ux%u\n", path, r->model->layers.matrix.m, r->model->layers.matrix.n,
           r->model->layers.matrix.k);
    const struct hs_layers *layers = &r->model->layers;
    struct hs_ref_plane drawn = draw(r, 0), first = read_tensor(r, layers->list[0].out);
    run_reference(r);
    bool good =
        judge(path, layers->list[0].name, &first, &r->network.layers[0].result, bounds->first);
    for (uint32_t i = 1; i + 1 < layers->count; i++)
        good &= middle_layer(r, path, i, bounds->middle);
    good &= head_layer(r, path, bounds->head);
    hs_ref_network_finish(&r->network);
    gpu_planes_finish(&r->now);
    hs_ref_plane_finish(&first);
    hs_ref_plane_finish(&drawn);
    return good;
}

/** Closes what open_rig() opened. */
static bool run_path(struct rig *r, const struct file *file, const struct recipe *recipe, int path,
                     const struct bounds *bounds)
{
    if (!open_rig(r, file, recipe, paths[path])) {
        printf("    no matrices: %s\n", r->fx.last);
        return true;
    }
    const bool good = one_path(r, path_names[path], bounds);
    close_rig(r);
    return good;
}

static void run_layers(struct test_rng *rng, const struct fx_model_config *config,
                       const struct recipe *recipe, const struct bounds bounds[2])
{
    bool good = true;
    struct rig r = {0};
    struct file file = write_model(rng, config);
    FX_OPEN(&r.fx, NULL, NULL);
    for (int p = 0; p < 2; p++)
        good &= run_path(&r, &file, recipe, p, &bounds[p]);
    fx_close(&r.fx);
    drop_model(&file);
    REQUIRE(good);
}

static const struct recipe odd = {"odd sizes", 91, 70, 47, 37, 0, .half = true};

static void floats(struct test_rng *rng)
{
    // Half floats on the matrix path: weights are such anyway, results are rounded once a layer.
    static const struct bounds bounds[2] = {{72, 110, 78}, {55, 65, 60}};
    static const struct fx_model_config config = {
        "tiny", {16, 48, 32}, {1, 1, 1, 1, 1}, .head = 0.25f};
    run_layers(rng, &config, &odd, bounds);
}

static void integers(struct test_rng *rng)
{
    // Features between two integers may be rounded to either; all behind them is exact.
    static const struct bounds bounds[2] = {{40, INFINITY, 78}, {40, INFINITY, 78}};
    run_layers(rng, &fx_model_integers, &odd, bounds);
}

/** What the engine leaves out: tiles of integers that are deeper than a unit. */
static void deep_integers(struct test_rng *rng)
{
    static const struct bounds bounds = {40, INFINITY, 78};
    static const struct fx_model_config config = {
        "tiny", {16, 48, 32}, {0, 0, 1, 0, 0}, .head = 1, .integers = true};
    VkCooperativeMatrixPropertiesKHR list[SIZES_MAX];
    const VkCooperativeMatrixPropertiesKHR *deep = NULL;
    struct rig r = {0};
    FX_OPEN(&r.fx, NULL, NULL);
    const uint32_t count = list_sizes(&r.fx, list);
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].MSize == 16 && list[i].NSize == 16 && list[i].KSize == 32 &&
            list[i].AType == VK_COMPONENT_TYPE_SINT8_KHR && list[i].AType == list[i].BType &&
            list[i].CType == VK_COMPONENT_TYPE_SINT32_KHR && list[i].CType == list[i].ResultType &&
            list[i].scope == VK_SCOPE_SUBGROUP_KHR && !list[i].saturatingAccumulation)
            deep = &list[i];
    }
    if (!deep || !r.fx.device->matrix_int8) {
        fx_close(&r.fx);
        TEST_SKIP("no matrices of 16x16x32 integers");
    }
    r.fx.device->matrix_integers.m = deep->MSize;
    r.fx.device->matrix_integers.n = deep->NSize;
    r.fx.device->matrix_integers.k = deep->KSize;
    struct file file = write_model(rng, &config);
    const bool good = run_path(&r, &file, &odd, 1, &bounds);
    fx_close(&r.fx);
    drop_model(&file);
    REQUIRE(good);
}

static const struct test_case cases[] = {
    {"sizes", sizes},
    {"floats", floats},
    {"integers", integers},
    {"deep integers", deep_integers},
};
TEST_MAIN(cases)
