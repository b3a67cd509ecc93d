// SPDX-License-Identifier: MIT
// The C reference against what PyTorch computed, every layer of every frame of a recurrent
// sequence: test_golden MODEL GOLDEN. make.py makes the files.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ref/ref.h"
#include "engine/src/tensors.h"

// Both compute in single precision, in other orders. What remains are single values where a
// comparison of nearly equal numbers decides.
#define LEAST_DB 90
/** Of moved history and history where a network of integers steers them: a feature that is rounded
 * to another integer changes its head. */
#define LEAST_DB_INTEGERS 80

struct golden {
    unsigned char *bytes;
    struct hs_tensors tensors;
};

static void complain(void *priv, enum hs_log_level level, const char *msg)
{
    (void)priv;
    (void)level;
    fprintf(stderr, "%s\n", msg);
}

static const struct hs_log log_errors = {complain, NULL, HS_LOG_ERROR};

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void golden_open(const char *path, struct golden *g)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END))
        fail("no golden file");
    const long size = ftell(file);
    rewind(file);
    g->bytes = malloc((size_t)size);
    if (!g->bytes || fread(g->bytes, 1, (size_t)size, file) != (size_t)size)
        fail("the golden file can not be read");
    fclose(file);
    if (hs_tensors_parse(&log_errors, path, g->bytes, (size_t)size, &g->tensors))
        exit(1);
}

/** Frame t of a tensor [T, rows, columns, channels] or, of the arrays by frame, "t.NAME". */
static struct hs_ref_plane golden_plane(struct golden *g, const char *name, int t)
{
    struct hs_ref_plane plane = {0};
    struct hs_tensor *tensor = hs_tensors_find(&g->tensors, name);
    if (!tensor || tensor->dtype != HS_DTYPE_F32)
        return plane;
    plane.height = (int)tensor->shape[1];
    plane.width = tensor->rank > 2 ? (int)tensor->shape[2] : 1;
    plane.channels = tensor->rank > 3 ? (int)tensor->shape[3] : 1;
    // Data starts at a multiple of 64 bytes, all values have four.
    plane.texels = (float *)(void *)(g->bytes + (g->tensors.data - g->bytes) + tensor->begin);
    plane.texels += (size_t)t * (size_t)(plane.height * plane.width * plane.channels);
    return plane;
}

/** Values of frame t of [T, ...], or NULL. */
static const float *clip_values(struct golden *g, const char *name, int t)
{
    struct hs_tensor *tensor = hs_tensors_find(&g->tensors, name);
    if (!tensor)
        return NULL;
    const size_t count = (size_t)(tensor->end - tensor->begin) / 4 / tensor->shape[0];
    return (const float *)(const void *)(g->tensors.data + tensor->begin) + (size_t)t * count;
}

static struct worst {
    double db;
    char what[64];
} worst[2] = {{.db = 1000}, {.db = 1000}};

/** Of networks of integers: values that are the same, features, and those of them that are off. */
static struct {
    size_t same, features, off;
} integers;

/** PSNR over the range of the expected values; planes may be larger than what is expected. */
static void compare(struct golden *g, int frame, const char *name, const struct hs_ref_plane *got)
{
    char full[64];
    double error = 0, peak = 0;
    snprintf(full, sizeof(full), "%d.%s", frame, name);
    const struct hs_ref_plane want = golden_plane(g, full, 0);
    if (!want.texels || want.channels != got->channels || want.width > got->width ||
        want.height > got->height)
        fail(full);
    for (int y = 0; y < want.height; y++) {
        for (int i = 0; i < want.width * want.channels; i++) {
            const double w = want.texels[y * want.width * want.channels + i];
            const double d = got->texels[y * got->width * got->channels + i] - w;
            error += d * d;
            peak = fmax(peak, fabs(w));
        }
    }
    const double mean = error / ((double)want.width * want.height * want.channels);
    const double db = mean > 0 ? 10 * log10(peak * peak / mean) : 999;
    const bool history = strcmp(name, "history") == 0;
    const double least_db = integers.same ? LEAST_DB_INTEGERS : LEAST_DB;
    struct worst *least = &worst[history];
    if (!(db >= least->db)) {
        least->db = db;
        snprintf(least->what, sizeof(least->what), "%s", full);
    }
    if (!(db >= least_db) || !(peak > 0)) {
        printf("%s: %.1f dB, values up to %g\n", full, db, peak);
        fail("less than expected");
    }
}

/** History as PyTorch keeps it: colour in the working range, weight. */
static void compare_history(struct golden *g, int frame, const char *name,
                            const struct hs_ref_history *history)
{
    const int pixels = history->colour.width * history->colour.height;
    struct hs_ref_plane work = hs_ref_plane_make(history->colour.width, history->colour.height, 4);
    if (!work.texels)
        fail("out of memory");
    for (int i = 0; i < pixels; i++) {
        for (int k = 0; k < 3; k++) {
            const float c = history->colour.texels[4 * i + k];
            work.texels[4 * i + k] = sqrtf(c / (1 + c));
        }
        work.texels[4 * i + 3] = history->aux.texels[2 * i];
        if (history->colour.texels[4 * i + 3] != 1)
            fail("an opaque picture did not stay opaque");
    }
    compare(g, frame, name, &work);
    hs_ref_plane_finish(&work);
}

static const char *const guides[] = {"clip.diffuse_albedo", "clip.specular_albedo", "clip.normal",
                                     "clip.roughness", "clip.hit_distance"};
#define GUIDES (sizeof(guides) / sizeof(guides[0]))

/** Planes of the reference have one channel or four. */
static struct hs_ref_plane guide_plane(struct golden *g, const char *name, int t)
{
    const struct hs_ref_plane from = golden_plane(g, name, t);
    if (!from.texels)
        return from;
    struct hs_ref_plane to = hs_ref_plane_make(from.width, from.height, from.channels == 1 ? 1 : 4);
    if (!to.texels)
        fail("out of memory");
    for (int i = 0; i < from.width * from.height; i++)
        memcpy(to.texels + i * to.channels, from.texels + i * from.channels,
               (size_t)from.channels * sizeof(float));
    return to;
}

/** Frame t of the clip. */
static int run_frame(struct golden *g, struct hs_ref_stream *stream, int t,
                     struct hs_ref_plane *image)
{
    const struct hs_ref_plane colour = golden_plane(g, "clip.colour", t);
    const float *jitter = clip_values(g, "clip.jitter", t);
    const float *exposure = clip_values(g, "clip.exposure", t);
    const float *view = clip_values(g, "clip.view", t), *proj = clip_values(g, "clip.proj", t);
    struct hs_ref_inputs in = {
        .colour = hs_ref_plane_make(colour.width, colour.height, 4),
        .depth = golden_plane(g, "clip.depth", t),
        .motion = golden_plane(g, "clip.motion", t),
    };
    struct hs_camera camera;
    struct hs_frame frame = {
        .render_width = (uint32_t)colour.width,
        .render_height = (uint32_t)colour.height,
        .jitter = {jitter[0], jitter[1]},
        .exposure = {.mode = exposure ? HS_EXPOSURE_GIVEN : HS_EXPOSURE_AUTO,
                     .value = exposure ? *exposure : 0},
        .reset = *clip_values(g, "clip.reset", t) != 0,
    };
    if (!in.colour.texels)
        fail("out of memory");
    for (int i = 0; i < colour.width * colour.height; i++) {
        memcpy(in.colour.texels + 4 * i, colour.texels + 3 * i, 3 * sizeof(float));
        in.colour.texels[4 * i + 3] = 1;
    }
    if (view) {
        for (int i = 0; i < 16; i++) {
            camera.world_to_view[i] = view[i];
            camera.view_to_clip[i] = proj[i];
        }
        frame.camera = &camera;
    }
    struct hs_ref_plane *const to[GUIDES] = {&in.diffuse, &in.specular, &in.normal, &in.roughness,
                                             &in.hit};
    for (size_t i = 0; i < GUIDES; i++)
        *to[i] = guide_plane(g, guides[i], t);
    const int err = hs_ref_stream_frame(stream, &frame, &in, image);
    for (size_t i = 0; i < GUIDES; i++)
        hs_ref_plane_finish(to[i]);
    hs_ref_plane_finish(&in.colour);
    return err;
}

/** Every value must be the same: the network in integers has one result. */
static void require_same(struct golden *g, int frame, const char *name,
                         const struct hs_ref_plane *got)
{
    char full[64];
    snprintf(full, sizeof(full), "%d.%s", frame, name);
    const struct hs_ref_plane want = golden_plane(g, full, 0);
    if (!want.texels || want.channels != got->channels || want.width > got->width ||
        want.height > got->height)
        fail(full);
    const size_t row = (size_t)(want.width * want.channels);
    for (int y = 0; y < want.height; y++) {
        if (memcmp(want.texels + (size_t)y * row,
                   got->texels + (size_t)(y * got->width * got->channels), row * sizeof(float))) {
            printf("%s, row %d\n", full, y);
            fail("values of integers differ");
        }
    }
    integers.same += row * (size_t)want.height;
}

/** Layers from PyTorch's own features; then how many of the reference's round elsewhere. */
static void compare_integers(struct golden *g, const struct hs_weights *weights,
                             const struct hs_ref_network *own, int t)
{
    char name[64];
    struct hs_ref_network network = {0};
    snprintf(name, sizeof(name), "%d.features", t);
    const struct hs_ref_plane features = golden_plane(g, name, 0);
    if (!features.texels || hs_ref_network_run(weights, &features, &network))
        fail(name);
    for (uint32_t i = 0; i < network.layer_count; i++)
        require_same(g, t, weights->layers[i].name, &network.layers[i].result);
    const int values = network.features.width * network.features.height * features.channels;
    for (int i = 0; i < values; i++)
        integers.off += network.features.texels[i] != own->features.texels[i];
    integers.features += (size_t)values;
    hs_ref_network_finish(&network);
}

static void compare_frame(struct golden *g, const struct hs_weights *weights,
                          const struct hs_ref_stream *stream, int t)
{
    const struct hs_ref_network *network = hs_ref_stream_network(stream);
    if (weights->architecture == HS_ARCHITECTURE_INT8)
        compare_integers(g, weights, network, t);
    compare_history(g, t, "moved", hs_ref_stream_reprojected(stream));
    for (uint32_t i = 0; !integers.same && i < network->layer_count; i++)
        compare(g, t, weights->layers[i].name, &network->layers[i].sum);
    if (!integers.same)
        compare(g, t, "features", &network->features);
    compare_history(g, t, "history", hs_ref_stream_history(stream));
}

int main(int argc, char **argv)
{
    struct golden g = {0};
    struct hs_weights *weights = NULL;
    if (argc != 3)
        fail("test_golden MODEL GOLDEN; make.py calls it");
    golden_open(argv[2], &g);
    if (hs_weights_load(&log_errors, argv[1], &weights))
        return 1;
    const struct hs_ref_plane out = golden_plane(&g, "0.history", 0);
    const int frames = (int)hs_tensors_find(&g.tensors, "clip.jitter")->shape[0];
    struct hs_ref_stream *stream = hs_ref_stream_create(out.width, out.height, false);
    struct hs_ref_plane image = hs_ref_plane_make(out.width, out.height, 4);
    if (!stream || !image.texels)
        fail("out of memory");
    hs_ref_stream_weights(stream, weights);
    hs_ref_stream_keep_float(stream);
    if (weights->architecture == HS_ARCHITECTURE_RAY && hs_ref_stream_guided(stream))
        fail("out of memory");
    for (int t = 0; t < frames; t++) {
        if (run_frame(&g, stream, t, &image))
            fail("a frame failed");
        compare_frame(&g, weights, stream, t);
    }
    printf("%d frames, %u layers: worst %.1f dB in %s, histories %.1f dB in %s\n", frames,
           weights->layer_count, worst[0].db, worst[0].what, worst[1].db, worst[1].what);
    if (integers.same) {
        printf("%zu values of integers the same; of %zu features %zu rounded elsewhere\n",
               integers.same, integers.features, integers.off);
        if (integers.off * 1000 > integers.features)
            fail("too many features are rounded elsewhere");
    }
    hs_ref_plane_finish(&image);
    hs_ref_stream_destroy(&stream);
    hs_weights_destroy(&weights);
    hs_tensors_finish(&g.tensors);
    free(g.bytes);
    return 0;
}
