// SPDX-License-Identifier: MIT
/** Motion made whole: what is estimated for pixels without vectors, and vectors turned round. */
#include "io_test.h"

#define WIDTH 96
#define HEIGHT 64
#define SKY 20 ///< Rows without anything, at the top.

static const char *sample(void)
{
    static char path[1024];
    const char *root = getenv("HS_SOURCE_ROOT");
    FILE *file;

    snprintf(path, sizeof(path), "%s/samples/bridge/lr/frames.json", root ? root : ".");
    file = fopen(path, "rb");
    if (!file)
        TEST_SKIP("the sample sequence is not there");
    fclose(file);
    *strrchr(path, '/') = 0;
    return path;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Where a direction of this frame was in the frame before, pixels. */
static void sky_motion(const struct hsio_frame_info *now, const struct hsio_frame_info *before,
                       double x, double y, double out[2])
{
    const double camera[3] = {
        (2 * x / now->width - 1 + (double)now->proj[2]) / (double)now->proj[0],
        (1 - 2 * y / now->height + (double)now->proj[6]) / (double)now->proj[5], -1};
    double world[3], then[3], clip[4];

    for (int i = 0; i < 3; i++) {
        world[i] = 0;
        for (int k = 0; k < 3; k++)
            world[i] += (double)now->view[k * 4 + i] * camera[k];
    }
    for (int i = 0; i < 3; i++) {
        then[i] = 0;
        for (int k = 0; k < 3; k++)
            then[i] += (double)before->view[i * 4 + k] * world[k];
    }
    for (int i = 0; i < 4; i++) {
        clip[i] = 0;
        for (int k = 0; k < 3; k++)
            clip[i] += (double)before->proj[i * 4 + k] * then[k];
    }
    out[0] = (clip[0] / clip[3] + 1) / 2 * before->width - x;
    out[1] = (1 - clip[1] / clip[3]) / 2 * before->height - y;
}

/* Blender's sky, without the cameras: they would have said nearly the same. */
static void real_sky(struct test_rng *rng)
{
    const struct hsio_options bare = {.no_sidecar = true};
    struct hsio_sequence *told = io_open(sample(), "auto", NULL);
    struct hsio_sequence *seq = io_open(sample(), "auto", &bare);
    struct hsio_sequence_info info;

    (void)rng;
    hsio_sequence_info(seq, &info);
    for (int t = 1; t < info.frame_count; t++) {
        struct hsio_frame *f = NULL, *now = NULL, *before = NULL;
        float *depth = io_read(seq, t, HSIO_PLANE_DEPTH, NULL);
        const int pixels = info.width * info.height;
        float *motion = malloc((size_t)pixels * 2 * sizeof(*motion));
        double *errors = malloc((size_t)pixels * sizeof(*errors)), length = 0;
        struct hsio_mended mended;
        int n = 0;

        REQUIRE(motion && errors);
        REQUIRE_EQ(hsio_frame_open(seq, t, &f), 0);
        REQUIRE_EQ(hsio_frame_open(told, t, &now), 0);
        REQUIRE_EQ(hsio_frame_open(told, t - 1, &before), 0);
        REQUIRE_EQ(hsio_frame_mend(f, &mended), 0);
        REQUIRE_EQ(hsio_frame_read(f,
                                   &(struct hsio_plane_request){.plane = HSIO_PLANE_MOTION,
                                                                .format = HSIO_FORMAT_RG32F,
                                                                .buffer = motion,
                                                                .buffer_bytes = (size_t)pixels * 2 *
                                                                                sizeof(*motion)},
                                   1),
                   0);
        REQUIRE(!mended.camera && !mended.turned && mended.filled == mended.unwritten);
        for (int i = 0; i < pixels; i++) {
            double truth[2];

            REQUIRE(isfinite(motion[2 * i]));
            if (depth[i] < 1e10f)
                continue;
            sky_motion(hsio_frame_info(now), hsio_frame_info(before), i % info.width + 0.5,
                       i / info.width + 0.5, truth);
            length += hypot(truth[0], truth[1]);
            errors[n++] =
                hypot((double)motion[2 * i] - truth[0], (double)motion[2 * i + 1] - truth[1]);
        }
        qsort(errors, (size_t)n, sizeof(*errors), by_value);
        printf("frame %d: %llu pixels, mean length %.2f px, error: median %.3f, 90%% %.3f px; %.0f "
               "%% agree, doubt %.2f px\n",
               t, (unsigned long long)mended.filled, length / n, errors[n / 2], errors[n * 9 / 10],
               100 * mended.share, mended.doubt_px);
        REQUIRE_FLOAT_LE(errors[n / 2], 0.15);
        REQUIRE_FLOAT_LE(errors[n * 9 / 10], 0.5);
        free(depth);
        free(motion);
        free(errors);
        hsio_frame_close(&f);
        hsio_frame_close(&now);
        hsio_frame_close(&before);
    }
    hsio_sequence_close(&seq);
    hsio_sequence_close(&told);
}

/* ---------------------------------------------------------------------------- made by hand --- */

struct scene {
    float motion[HEIGHT][WIDTH][2], depth[HEIGHT][WIDTH];
};

/* A camera of 60 degrees that turns by w and steps by s; a floor, and boxes at random depths. */
static void make_scene(struct test_rng *rng, struct scene *s, const double w[3],
                       const double step[3])
{
    const double f = 1.73;
    double blocks[8][12];

    for (int i = 0; i < 96; i++)
        blocks[i / 12][i % 12] = 3 + 20 * (double)test_rng_float(rng, 0, 1);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            const double u = (x + 0.5 - WIDTH / 2.0) / (WIDTH / 2.0) / f;
            const double v = (y + 0.5 - HEIGHT / 2.0) / (WIDTH / 2.0) / f;
            const double z = y < SKY ? INFINITY : blocks[y / 8][x / 8];
            // Turned by small angles, exactly: p + w x p, to first order twice.
            double q[3] = {u, v, 1}, r[3];

            for (int k = 0; k < 64; k++) {
                r[0] = q[0] + (w[1] * q[2] - w[2] * q[1]) / 64;
                r[1] = q[1] + (w[2] * q[0] - w[0] * q[2]) / 64;
                r[2] = q[2] + (w[0] * q[1] - w[1] * q[0]) / 64;
                memcpy(q, r, sizeof(q));
            }
            for (int k = 0; k < 3; k++)
                q[k] += step[k] / z;
            s->depth[y][x] = (float)z;
            s->motion[y][x][0] = (float)((q[0] / q[2] - u) * f * WIDTH / 2);
            s->motion[y][x][1] = (float)((q[1] / q[2] - v) * f * WIDTH / 2);
        }
    }
}

static void store(const char *name, int number, const void *pixels, size_t bytes)
{
    const int32_t size[2] = {WIDTH, HEIGHT};
    const float tag = 202021.25f;
    uint8_t *file = malloc(12 + bytes);

    REQUIRE(file);
    memcpy(file, &tag, 4);
    memcpy(file + 4, size, 8);
    memcpy(file + 12, pixels, bytes);
    io_store(io_path(name, number), file, 12 + bytes);
    free(file);
}

/* Frames 1 to `count`, each with this motion and depth; depth NULL: none. */
static struct hsio_sequence *open_scenes(const struct scene *scenes, int count, bool depth,
                                         const char *preset, const char *unwritten)
{
    struct hsio_convention conv;
    struct hsio_options options = {0};
    struct hsio_sequence *seq = NULL;

    for (int i = 0; i < count; i++) {
        io_make_rgba(io_path("c.%d.exr", i + 1), WIDTH, HEIGHT, NULL);
        store("m.%d.flo", i + 1, scenes[i].motion, sizeof(scenes[i].motion));
        store("z.%d.dpt", i + 1, scenes[i].depth, sizeof(scenes[i].depth));
    }
    options.planes[HSIO_PLANE_MOTION] = io_path("m.%%d.flo");
    options.planes[HSIO_PLANE_DEPTH] = depth ? io_path("z.%%d.dpt") : NULL;
    REQUIRE_EQ(hsio_convention_preset(&conv, preset, &io_log), 0);
    REQUIRE_EQ(hsio_convention_set(&conv, "motion.unwritten", unwritten, &io_log), 0);
    REQUIRE_EQ(hsio_sequence_open(io_path("c.[1-%d].exr", count), &conv, &options, &io_log, &seq),
               0);
    return seq;
}

static void mend(struct hsio_sequence *seq, int index, struct hsio_mended *mended,
                 float out[HEIGHT][WIDTH][2])
{
    struct hsio_frame *f = NULL;
    const struct hsio_motion_convention *m;

    REQUIRE_EQ(hsio_frame_open(seq, index, &f), 0);
    REQUIRE_EQ(hsio_frame_mend(f, mended), 0);
    REQUIRE_EQ(hsio_frame_read(
                   f,
                   &(struct hsio_plane_request){.plane = HSIO_PLANE_MOTION,
                                                .format = HSIO_FORMAT_RG32F,
                                                .buffer = out,
                                                .buffer_bytes = WIDTH * HEIGHT * 2 * sizeof(float)},
                   1),
               0);
    m = &hsio_frame_info(f)->convention->motion;
    REQUIRE(m->direction == HSIO_DIRECTION_PREV && m->scale_x == 1 && m->sign_y == 1);
    hsio_frame_close(&f);
}

static void estimated(struct test_rng *rng)
{
    static struct scene s, truth;
    static float got[HEIGHT][WIDTH][2];

    for (int trial = 0; trial < 24; trial++) {
        const bool still = trial % 4 == 0, nan = trial % 2, movers = trial % 3 == 1;
        double w[3], step[3], worst = 0;
        struct hsio_sequence *seq;
        struct hsio_mended mended;

        for (int k = 0; k < 3; k++) {
            w[k] = 0.04 * (double)test_rng_float(rng, -1, 1);
            step[k] = still ? 0 : 0.3 * (double)test_rng_float(rng, -1, 1);
        }
        make_scene(rng, &truth, w, step);
        s = truth;
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                if (y < SKY)
                    s.motion[y][x][0] = s.motion[y][x][1] = nan ? NAN : 0;
                else if (movers && x > 20 && x < 46)
                    s.motion[y][x][0] += 3;
            }
        }
        seq = open_scenes(&s, 1, true, "raw", nan ? "nan" : trial % 4 ? "zero" : "zero_at_far");
        mend(seq, 0, &mended, got);
        REQUIRE_EQ(mended.unwritten, SKY * WIDTH);
        REQUIRE_EQ(mended.filled, SKY * WIDTH);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                const float *want = y < SKY ? truth.motion[y][x] : s.motion[y][x];

                worst = fmax(worst, hypot((double)(got[y][x][0] - want[0]),
                                          (double)(got[y][x][1] - want[1])));
            }
        }
        printf("trial %d: worst error %.4f px, %.0f %% agree, doubt %.3f px\n", trial, worst,
               100 * mended.share, mended.doubt_px);
        REQUIRE_FLOAT_LE(worst, 0.25);
        hsio_sequence_close(&seq);
    }
}

/* Nothing is made up where the vectors do not tell. */
static void refused(struct test_rng *rng)
{
    static const double w[3] = {0.01, 0.02, 0.005}, step[3] = {0.2, 0.1, 0.1};
    static struct scene s, base;
    static float got[HEIGHT][WIDTH][2];

    make_scene(rng, &base, w, step);
    for (int k = 0; k < 4; k++) {
        struct hsio_sequence *seq;
        struct hsio_mended mended;

        s = base;
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                // 0: noise; 1: only what moves by itself; 2: parallax without depth; 3: too few.
                const bool bare = y < SKY || (k == 1 && x > 30) || (k == 3 && (x % 8 || y % 16));

                if (k == 0)
                    s.motion[y][x][0] = 20 * test_rng_float(rng, -1, 1);
                if (bare)
                    s.motion[y][x][0] = s.motion[y][x][1] = NAN;
            }
        }
        seq = open_scenes(&s, 1, k != 2, "raw", "nan");
        mend(seq, 0, &mended, got);
        printf("case %d: %.0f %% agree, doubt %.3f px\n", k, 100 * mended.share, mended.doubt_px);
        REQUIRE_GT(mended.unwritten, 0);
        REQUIRE_EQ(mended.filled, 0);
        REQUIRE(isnan(got[0][0][0]));
        hsio_sequence_close(&seq);
    }
}

/* A box moves over a background that moves the other way; the second frame takes the first's. */
static void turned(struct test_rng *rng)
{
    static struct scene s[3];
    static float got[HEIGHT][WIDTH][2];
    struct hsio_sequence *seq;
    struct hsio_mended mended;
    uint64_t holes = 0;

    (void)rng;
    for (int t = 0; t < 3; t++) {
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                const bool box = x >= 30 + 4 * t && x < 50 + 4 * t && y >= 20 && y < 40;

                s[t].motion[y][x][0] = box ? 4 : -2;
                s[t].motion[y][x][1] = box ? 0 : 1;
                s[t].depth[y][x] = box ? 2 : 8;
            }
        }
    }
    seq = open_scenes(s, 3, true, "sintel", "nan");
    mend(seq, 0, &mended, got);
    REQUIRE(mended.turned && isnan(got[30][30][0])); // A reset: nothing leads here.
    // The last frame's own vectors are of no use, and need not be there.
    remove(io_path("m.3.flo"));
    for (int t = 1; t < 3; t++) {
        mend(seq, t, &mended, got);
        holes = 0;
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                const bool box = x >= 30 + 4 * t && x < 50 + 4 * t && y >= 20 && y < 40;
                // Where this was before: hidden by the box, or outside.
                const int u = x + 2, v = y - 1;
                const bool hole =
                    u >= WIDTH || v < 0 || (u >= 26 + 4 * t && u < 46 + 4 * t && v >= 20 && v < 40);

                holes += isnan(got[y][x][0]) != 0;
                if (box)
                    REQUIRE(got[y][x][0] == -4 && got[y][x][1] == 0);
                else if (hole)
                    REQUIRE(isnan(got[y][x][0]));
                else
                    REQUIRE(got[y][x][0] == 2 && got[y][x][1] == -1);
            }
        }
        REQUIRE_EQ(mended.unwritten, holes);
    }
    hsio_sequence_close(&seq);
}

/* Files that go away, or are damaged, between the two looks. */
static void errors(struct test_rng *rng)
{
    static const double none[3] = {0};
    static struct scene s[2];
    struct hsio_sequence *seq;
    struct hsio_frame *f = NULL;
    struct hsio_mended mended = {.share = 7};

    make_scene(rng, &s[0], none, none);
    s[1] = s[0];
    seq = open_scenes(s, 2, true, "sintel", "nan");
    REQUIRE_EQ(hsio_frame_open(seq, 1, &f), 0);
    remove(io_path("m.1.flo"));
    REQUIRE_EQ(hsio_frame_mend(f, &mended), HS_ERR_IO);
    io_store(io_path("m.1.flo"), "short", 5);
    REQUIRE_EQ(hsio_frame_mend(f, &mended), HS_ERR_FORMAT);
    io_store(io_path("c.1.exr"), "short", 5);
    REQUIRE(hsio_frame_mend(f, &mended) < 0);
    {
        static const struct io_channel sub[] = {{"u", EXR_PIXEL_HALF, 2, 2},
                                                {"v", EXR_PIXEL_HALF, 2, 2}};
        const struct io_part part = {
            .data = {0, 0, WIDTH - 1, HEIGHT - 1}, .channels = sub, .channel_count = 2};
        struct hsio_options options = {.planes = {[HSIO_PLANE_MOTION] = io_path("v.%%d.exr")}};
        struct hsio_frame *second = NULL;
        struct hsio_sequence *other = NULL;
        struct hsio_convention conv;

        for (int i = 1; i < 3; i++) {
            io_make_rgba(io_path("c.%d.exr", i), WIDTH, HEIGHT, NULL);
            io_make_exr(io_path("v.%d.exr", i), &part, 1, NULL);
        }
        REQUIRE_EQ(hsio_convention_preset(&conv, "nuke_forward", &io_log), 0);
        REQUIRE_EQ(hsio_sequence_open(io_path("c.%%d.exr"), &conv, &options, &io_log, &other), 0);
        REQUIRE_EQ(hsio_frame_open(other, 1, &second), 0);
        REQUIRE_EQ(hsio_frame_mend(second, &mended), HS_ERR_UNSUPPORTED);
        hsio_frame_close(&second);
        hsio_sequence_close(&other);
    }
    REQUIRE(mended.share == 7);
    hsio_frame_close(&f);
    hsio_sequence_close(&seq);
}

static const struct test_case cases[] = {
    {"real_sky", real_sky}, {"estimated", estimated}, {"refused", refused},
    {"turned", turned},     {"errors", errors},
};
TEST_MAIN(cases)
