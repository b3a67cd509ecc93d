// SPDX-License-Identifier: MIT
/** Real frames: camera, motion and depth agree; several readers at once. */
#include "io_test.h"

#include <pthread.h>

static const char *sample(const char *name)
{
    static char path[1024];
    const char *root = getenv("HS_SOURCE_ROOT");
    FILE *file;

    snprintf(path, sizeof(path), "%s/samples/bridge/%s/frames.json", root ? root : ".", name);
    file = fopen(path, "rb");
    if (file)
        fclose(file);
    else if (!strcmp(name, "lr"))
        TEST_SKIP("the sample sequence is not there");
    *strrchr(path, '/') = 0;
    return path;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Camera space to the world of a rigid view matrix. */
static void to_world(const float view[16], const double p[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = 0;
        for (int k = 0; k < 3; k++)
            out[i] += (double)view[k * 4 + i] * (p[k] - (double)view[k * 4 + 3]);
    }
}

static void project(const struct hsio_frame_info *f, const double world[3], double pixel[2])
{
    double camera[4] = {0, 0, 0, 1}, clip[4];

    for (int i = 0; i < 3; i++) {
        camera[i] = (double)f->view[i * 4 + 3];
        for (int k = 0; k < 3; k++)
            camera[i] += (double)f->view[i * 4 + k] * world[k];
    }
    for (int i = 0; i < 4; i++) {
        clip[i] = 0;
        for (int k = 0; k < 4; k++)
            clip[i] += (double)f->proj[i * 4 + k] * camera[k];
    }
    pixel[0] = (clip[0] / clip[3] + 1) / 2 * f->width;
    pixel[1] = (1 - clip[1] / clip[3]) / 2 * f->height;
}

/* The static scene: depth and the two cameras must give the stored vectors. */
static void vectors_follow_from_cameras(struct test_rng *rng)
{
    struct hsio_sequence *seq = io_open(sample("lr"), "auto", NULL);
    struct hsio_frame *frames[2] = {NULL, NULL};
    const struct hsio_frame_info *now, *before;
    const struct hsio_convention *conv = hsio_sequence_convention(seq);
    float *depth = io_read(seq, 1, HSIO_PLANE_DEPTH, NULL), scale[2];
    float *motion = io_read(seq, 1, HSIO_PLANE_MOTION, NULL);
    double *errors;
    int count = 0;

    (void)rng;
    REQUIRE_STR(conv->preset, "blender");
    REQUIRE_EQ(hsio_frame_open(seq, 0, &frames[0]), 0);
    REQUIRE_EQ(hsio_frame_open(seq, 1, &frames[1]), 0);
    before = hsio_frame_info(frames[0]);
    now = hsio_frame_info(frames[1]);
    REQUIRE(now->has_view && now->has_proj && before->has_view && now->has_jitter);
    errors = malloc((size_t)(now->width * now->height) * sizeof(*errors));
    REQUIRE(errors);
    hsio_motion_scale(&conv->motion, now->width, now->height, 0, 0, scale);
    for (int i = 0; i < now->width * now->height; i++) {
        const double d = (double)depth[i] * (double)conv->depth.unit_m;
        const double at[2] = {i % now->width + 0.5 + (double)now->jitter_px[0],
                              i / now->width + 0.5 + (double)now->jitter_px[1]};
        const double ndc[2] = {at[0] / now->width * 2 - 1, 1 - at[1] / now->height * 2};
        const double camera[3] = {(ndc[0] + (double)now->proj[2]) * d / (double)now->proj[0],
                                  (ndc[1] + (double)now->proj[6]) * d / (double)now->proj[5], -d};
        double world[3], then[2];

        if (depth[i] >= conv->depth.background)
            continue;
        to_world(now->view, camera, world);
        project(before, world, then);
        errors[count++] = hypot(then[0] - at[0] - (double)(motion[2 * i] * scale[0]),
                                then[1] - at[1] - (double)(motion[2 * i + 1] * scale[1]));
    }
    REQUIRE_GT(count, now->width * now->height / 4);
    qsort(errors, (size_t)count, sizeof(*errors), by_value);
    printf("error of %d vectors: median %.4f, 90%% %.4f px\n", count, errors[count / 2],
           errors[count * 9 / 10]);
    // Silhouettes average the vectors of several samples; the rest is exact.
    REQUIRE_FLOAT_LE(errors[count / 2], 0.01);
    free(errors);
    free(depth);
    free(motion);
    hsio_frame_close(&frames[0]);
    hsio_frame_close(&frames[1]);
    hsio_sequence_close(&seq);
}

static void reference_only(struct test_rng *rng)
{
    struct hsio_sequence *seq;
    struct hsio_sequence_info info;

    (void)rng;
    sample("lr");
    seq = io_open(sample("ref"), "auto", NULL);
    hsio_sequence_info(seq, &info);
    REQUIRE(info.first == 11 && info.last == 16 && info.frame_count == 6 && info.width == 408);
    REQUIRE(info.planes[HSIO_PLANE_COLOR] && !info.planes[HSIO_PLANE_DEPTH]);
    hsio_sequence_close(&seq);
    seq = io_open(sample("ref"), "blender", NULL);
    hsio_sequence_close(&seq);
}

struct reader {
    struct hsio_sequence *seq;
    int first, step, count;
    uint64_t sums[64];
};

static uint64_t checksum(const float *pixels, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t bits;

        memcpy(&bits, &pixels[i], sizeof(bits));
        sum = sum * 31 + bits;
    }
    return sum;
}

static void *read_some(void *argument)
{
    struct reader *r = argument;

    for (int i = r->first; i < r->count; i += r->step) {
        float *pixels = io_read(r->seq, i, HSIO_PLANE_COLOR, NULL);

        r->sums[i] = checksum(pixels, 16 * 16 * 4);
        free(pixels);
    }
    return NULL;
}

static void many_readers(struct test_rng *rng)
{
    struct reader readers[4], alone = {.step = 1, .count = 12};
    pthread_t threads[4];
    struct hsio_sequence *seq;

    (void)rng;
    for (int i = 0; i < 12; i++)
        io_make_rgba(io_path("t_%02d.exr", i), 16 + i, 16, NULL);
    seq = alone.seq = io_open(io_path("t_##.exr"), "auto", NULL);
    read_some(&alone);
    for (int i = 0; i < 4; i++) {
        readers[i] = (struct reader){.seq = seq, .first = i, .step = 4, .count = 12};
        REQUIRE(!pthread_create(&threads[i], NULL, read_some, &readers[i]));
    }
    for (int i = 0; i < 4; i++)
        REQUIRE(!pthread_join(threads[i], NULL));
    for (int i = 0; i < 12; i++)
        REQUIRE_HEX(readers[i % 4].sums[i], alone.sums[i]);
    hsio_sequence_close(&seq);
}

/* A camera as two matrices for column vectors; attributes are for row vectors. */
static const double view_rows[16] = {0.8, 0, -0.6, 1, 0, 1, 0, 2, 0.6, 0, 0.8, -7, 0, 0, 0, 1};
static const double proj_rows[16] = {2, 0, 0.1, 0, 0, 3, -0.2, 0, 0, 0, -1.002, -0.2, 0, 0, -1, 0};
static bool forward_z, with_ndc;

static void add_camera(exr_context_t context, int part)
{
    double view[16], proj[16], ndc[16];
    exr_attr_m44f_t m;

    // The standard's camera looks along +z.
    for (int i = 0; i < 16; i++) {
        view[i] = forward_z && i / 4 == 2 ? -view_rows[i] : view_rows[i];
        proj[i] = forward_z && i % 4 == 2 ? -proj_rows[i] : proj_rows[i];
    }
    for (int i = 0; i < 16; i++)
        m.m[i] = (float)view[i % 4 * 4 + i / 4];
    REQUIRE_EQ(exr_attr_set_m44f(context, part, "worldToCamera", &m), 0);
    // Clip to 0..1, y down.
    for (int c = 0; c < 4; c++) {
        const double x = proj[c], y = proj[4 + c], z = proj[8 + c], w = proj[12 + c];

        proj[c] = (x + w) / 2;
        proj[4 + c] = (w - y) / 2;
        proj[8 + c] = (z + w) / 2;
    }
    for (int i = 0; i < 16; i++) {
        ndc[i] = 0;
        for (int k = 0; k < 4; k++)
            ndc[i] += proj[i / 4 * 4 + k] * view[k * 4 + i % 4];
    }
    for (int i = 0; i < 16; i++)
        m.m[i] = (float)ndc[i % 4 * 4 + i / 4];
    if (with_ndc)
        REQUIRE_EQ(exr_attr_set_m44f(context, part, "worldToNDC", &m), 0);
}

static void camera_attributes(struct test_rng *rng)
{
    static const struct io_channel rgb[] = {
        {"R", EXR_PIXEL_HALF, 0, 0}, {"G", EXR_PIXEL_HALF, 0, 0}, {"B", EXR_PIXEL_HALF, 0, 0}};
    const struct io_part p = {
        .data = {0, 0, 3, 3}, .channels = rgb, .channel_count = 3, .attributes = add_camera};

    (void)rng;
    for (int i = 0; i < 4; i++) {
        struct hsio_sequence *seq;
        struct hsio_frame *frame = NULL;
        const struct hsio_frame_info *info;

        forward_z = i & 1;
        with_ndc = i & 2;
        io_make_exr(io_path("camera.exr"), &p, 1, NULL);
        seq = io_open(io_path("camera.exr"), "auto", NULL);
        REQUIRE_EQ(hsio_frame_open(seq, 0, &frame), 0);
        info = hsio_frame_info(frame);
        REQUIRE(info->has_view);
        REQUIRE_EQ(info->has_proj, with_ndc);
        for (int k = 0; k < 16; k++) {
            REQUIRE_NEAR(info->view[k], view_rows[k], 1e-6);
            if (with_ndc)
                REQUIRE_NEAR(info->proj[k], proj_rows[k], 1e-4);
        }
        hsio_frame_close(&frame);
        hsio_sequence_close(&seq);
    }
}

static const struct test_case cases[] = {
    {"vectors_follow_from_cameras", vectors_follow_from_cameras},
    {"reference_only", reference_only},
    {"many_readers", many_readers},
    {"camera_attributes", camera_attributes},
};
TEST_MAIN(cases)
