// SPDX-License-Identifier: MIT
// What looks do, by themselves; test_stages holds them to their reference.
#include <math.h>

#include "stages.h"
#include "tests/test.h"

#define W 32
#define H 24
#define OW 64
#define OH 48
/** Last places that bright history may drift in three frames. */
#define PLACES 4

static const VkImageLayout read_layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;

struct rig {
    struct fixture fx;
    struct hs_stream *stream;
    struct fx_planes planes;
    float level;
};

/** Colour of one level, without motion, so that every frame shows the same. */
static void open_rig(struct rig *r, float level, uint32_t flags)
{
    float rgba[W * H * 4];
    FX_OPEN(&r->fx, NULL, "taau");
    r->stream = fx_stream(&r->fx, OW, OH, W, H, flags);
    r->level = level;
    fx_planes_create(&r->fx, W, H, OW, OH, VK_FORMAT_R32G32B32A32_SFLOAT, 0, &r->planes);
    for (int i = 0; i < W * H * 4; i++)
        rgba[i] = i % 4 == 3 ? 1 : level * (i % 4 == 0 ? 1 : 0.5f);
    fx_upload(&r->fx, &r->planes.colour, read_layout, rgba);
}

static void close_rig(struct rig *r)
{
    hs_stream_destroy(&r->stream);
    fx_planes_destroy(&r->fx, &r->planes);
    fx_close(&r->fx);
}

/** A frame's picture; the caller frees it. */
static float *frame(struct rig *r, const struct hs_look *look)
{
    struct hs_frame f = fx_planes_frame(&r->planes, 0);
    f.motion.view = VK_NULL_HANDLE;
    f.look = *look;
    REQUIRE_EQ(fx_frame(&r->fx, r->stream, &f), 0);
    fx_wait(&r->fx);
    return fx_read(&r->fx, &r->planes.output, VK_IMAGE_LAYOUT_GENERAL);
}

/** The fit, in double precision. */
static double aces(double exposed)
{
    const double c = 0.5 * exposed;
    const double v = c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14);
    return pow(fmin(v, 1), 1 / 2.2);
}

static float *at(float *picture, int x, int y)
{
    return picture + 4 * (y * OW + x);
}

static void curve_alone(struct test_rng *rng)
{
    static const float levels[] = {0, 0.02f, 0.5f, 4, 60000};
    (void)rng;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        struct rig r;
        open_rig(&r, levels[i], 0);
        const struct hs_look none = {0}, pure = {.curve = HS_LOOK_ACES};
        // A master of 0: nothing of the grade, whatever it is.
        const struct hs_look off = {.curve = HS_LOOK_ACES,
                                    .contrast = 1,
                                    .shadows = {1, 0, 0},
                                    .saturation = -1,
                                    .vignette = 1,
                                    .grain = 1,
                                    .aberration_px = 20};
        float *linear = frame(&r, &none), *got = frame(&r, &pure), *same = frame(&r, &off);
        float *after = frame(&r, &none);
        for (int k = 0; k < 4 * OW * OH; k++)
            REQUIRE_NEAR(got[k], k % 4 == 3 ? 1 : aces((double)linear[k]), 2e-3);
        // Frames differ by the rounding of history.
        for (int k = 0; k < 4 * OW * OH; k++)
            REQUIRE_NEAR(same[k], got[k], 2e-3);
        // The look is no part of history, which is half floats that are averaged as the square root
        // of c / (1 + c): a last place there, 2^-24 below 1, is 2^-23 (1 + c) of c.
        for (int k = 0; k < 4 * OW * OH; k++) {
            const double c = (double)linear[k];
            REQUIRE_NEAR(after[k], c, c * (0x1p-10 + PLACES * 0x1p-23 * (1 + c)) + 1e-6);
        }
        free(linear);
        free(got);
        free(same);
        free(after);
        close_rig(&r);
    }
}

static void each_value(struct test_rng *rng)
{
    struct rig r;
    (void)rng;
    open_rig(&r, 0.4f, 0);
    const struct hs_look plain = {.curve = HS_LOOK_ACES, .grade = 1};
    struct hs_look look;
    float *base = frame(&r, &plain), *got;
    const float red = at(base, 30, 20)[0], green = at(base, 30, 20)[1];

    look = plain, look.saturation = -1;
    got = frame(&r, &look);
    REQUIRE_NEAR(at(got, 30, 20)[0], 0.2126f * red + 0.7874f * green, 1e-3);
    REQUIRE_NEAR(at(got, 30, 20)[1], at(got, 30, 20)[0], 1e-4);
    free(got);

    look = plain, look.contrast = 0.5f, look.pivot = green;
    got = frame(&r, &look);
    REQUIRE_NEAR(at(got, 30, 20)[1], green, 1e-3);
    REQUIRE_NEAR(at(got, 30, 20)[0], green + 1.5f * (red - green), 2e-3);
    free(got);

    look = plain, look.shadows[2] = 0.2f;
    got = frame(&r, &look);
    REQUIRE(at(got, 30, 20)[2] > at(base, 30, 20)[2] + 0.02f);
    REQUIRE_NEAR(at(got, 30, 20)[0], red, 1e-3);
    free(got);

    look = plain, look.highlights[1] = -0.2f;
    got = frame(&r, &look);
    REQUIRE(at(got, 30, 20)[1] < green - 0.02f);
    free(got);

    look = plain, look.vignette = 1;
    got = frame(&r, &look);
    REQUIRE_NEAR(at(got, OW / 2, OH / 2)[0], red, 1e-2);
    REQUIRE(at(got, 0, 0)[0] < 0.15f * red && at(got, OW - 1, OH - 1)[0] < 0.15f * red);
    free(got);

    look = plain, look.grain = 0.2f;
    got = frame(&r, &look);
    float *next = frame(&r, &look);
    double mean = 0, most = 0;
    int moved = 0;
    for (int i = 0; i < OW * OH; i++) {
        const double d = (double)(got[4 * i] - base[4 * i]);
        mean += d / (OW * OH);
        most = fmax(most, fabs(d));
        moved += next[4 * i] != got[4 * i];
    }
    REQUIRE(fabs(mean) < 0.01 && most > 0.08 && most < 0.102 && moved > OW * OH * 9 / 10);
    free(next);
    free(got);

    look = plain, look.grade = 0.5f, look.saturation = -1;
    got = frame(&r, &look);
    REQUIRE_NEAR(at(got, 30, 20)[0], red + 0.5f * 0.7874f * (green - red), 1e-3);
    free(got);
    free(base);
    close_rig(&r);
}

// Whole texels: red comes from outside, blue from inside.
static void aberration(struct test_rng *rng)
{
    struct rig r;
    (void)rng;
    open_rig(&r, 1, 0);
    float rgba[W * H * 4];
    for (int i = 0; i < W * H * 4; i++)
        rgba[i] = i % 4 == 3 || i / 4 % W >= 24 ? 1 : 0;
    fx_upload(&r.fx, &r.planes.colour, read_layout, rgba);
    const struct hs_look pure = {.curve = HS_LOOK_ACES};
    const struct hs_look shifted = {.curve = HS_LOOK_ACES, .grade = 1, .aberration_px = 8};
    float *base = frame(&r, &pure), *got = frame(&r, &shifted);
    int edges[3] = {0};
    for (int k = 0; k < 3; k++) {
        while (at(got, edges[k], OH / 2)[k] < 0.5f * at(base, OW - 1, OH / 2)[k])
            edges[k]++;
    }
    printf("  edges of red %d, green %d, blue %d\n", edges[0], edges[1], edges[2]);
    REQUIRE(edges[0] < edges[1] && edges[1] < edges[2]);
    free(base);
    free(got);
    close_rig(&r);
}

// hs_stream_record(): HS_ERR_INVALID for a display's colour, which has its look already.
static void not_for_display(struct test_rng *rng)
{
    struct rig r;
    (void)rng;
    open_rig(&r, 0.5f, HS_STREAM_LDR);
    r.fx.quiet = true;
    struct hs_frame f = fx_planes_frame(&r.planes, 0);
    f.look.curve = HS_LOOK_ACES;
    REQUIRE_EQ(fx_frame(&r.fx, r.stream, &f), HS_ERR_INVALID);
    REQUIRE(strstr(r.fx.last, "display-referred"));
    close_rig(&r);
}

static const struct test_case cases[] = {
    {"curve alone", curve_alone},
    {"each value", each_value},
    {"aberration", aberration},
    {"not for display", not_for_display},
};
TEST_MAIN(cases)
