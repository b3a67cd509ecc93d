// SPDX-License-Identifier: MIT
/** Planes that are stored as a convention says are read back, by its formulas, as they were. */
#include "hsio_store.h"
#include "io_test.h"

#include <stddef.h>

#define W 24
#define H 16
#define COUNT (W * H)

static const double view[16] = {0, 1, 0, 3, 0, 0, 1, -2, 1, 0, 0, 5, 0, 0, 0, 1};

struct planes {
    float colour[4 * COUNT], depth[COUNT], motion[2 * COUNT], next[2 * COUNT], normal[4 * COUNT];
    float roughness[COUNT], hit[COUNT];
};

static void make(struct test_rng *rng, struct planes *p)
{
    for (int i = 0; i < COUNT; i++) {
        const bool sky = test_rng_below(rng, 5) == 0;
        float length = 0, n[3];

        p->depth[i] = sky ? INFINITY : expf(test_rng_float(rng, -1, 5));
        p->hit[i] = sky ? 0 : test_rng_below(rng, 3) ? test_rng_float(rng, 0.1f, 9) : INFINITY;
        p->roughness[i] = sky ? 0 : test_rng_float(rng, 0, 1);
        for (int k = 0; k < 3; k++) {
            n[k] = test_rng_float(rng, -1, 1);
            length += n[k] * n[k];
        }
        for (int k = 0; k < 3; k++)
            p->normal[4 * i + k] = sky ? 0 : n[k] / sqrtf(length + 1e-6f);
        p->normal[4 * i + 3] = p->roughness[i];
        for (int k = 0; k < 2; k++) {
            p->motion[2 * i + k] = test_rng_float(rng, -6, 6);
            p->next[2 * i + k] = test_rng_float(rng, -6, 6);
        }
        for (int k = 0; k < 4; k++)
            p->colour[4 * i + k] = test_rng_float(rng, 0, 4);
    }
}

static struct hsio_store_frame frame_of(const struct planes *p)
{
    return (struct hsio_store_frame){
        .width = W,
        .height = H,
        .near = 0.05f,
        .far = 1000,
        .depth = p->depth,
        .view = view,
        .jitter = {0.25f, -0.125f},
        .previous_jitter = {-0.25f, 0.375f},
        .next_jitter = {0.125f, 0.25f},
    };
}

/** docs/formats.md, "Motion, exactly", and what a pixel without vector looks like. */
static void check_motion(const struct hsio_convention *c, const struct hsio_motion_convention *m,
                         const struct hsio_store_frame *f, const float *stored, const float *moves)
{
    const float bias[2] = {m->bias_x, m->bias_y};
    const float *other = m->direction == HSIO_DIRECTION_NEXT ? f->next_jitter : f->previous_jitter;
    float scale[2];

    hsio_motion_scale(m, W, H, W, H, scale);
    for (int i = 0; i < COUNT; i++) {
        const float *s = stored + 2 * i;
        const bool far = !isfinite(f->depth[i]);

        if (far &&
            (m->unwritten == HSIO_UNWRITTEN_ZERO || m->unwritten == HSIO_UNWRITTEN_ZERO_AT_FAR)) {
            REQUIRE(s[0] == 0 && s[1] == 0);
            continue;
        }
        REQUIRE_MSG(m->unwritten != HSIO_UNWRITTEN_ZERO || s[0] != 0 || s[1] != 0, "%s", c->preset);
        for (int k = 0; k < 2; k++) {
            const float v = (s[m->swap ? 1 - k : k] - bias[k]) * scale[k];
            const float drawn = m->jittered ? other[k] - f->jitter[k] : 0;

            REQUIRE_NEAR(v + drawn, moves[2 * i + k], 2e-5);
        }
    }
}

static void check_depth(const struct hsio_convention *c, const struct hsio_store_frame *f,
                        const float *stored)
{
    for (int i = 0; i < COUNT; i++) {
        const double s = stored[i], n = f->near, far = f->far;
        const bool linear = c->depth.kind == HSIO_DEPTH_LINEAR;
        double d = c->depth.kind == HSIO_DEPTH_HARDWARE ? s : 1 - s;

        if (!isfinite(f->depth[i])) {
            // Reading knows background as what is at or behind this value.
            REQUIRE(linear ? s >= c->depth.background : s == c->depth.background);
            continue;
        }
        REQUIRE(linear ? s < c->depth.background : s != c->depth.background);
        d = isfinite(far) ? n * far / (far - d * (far - n)) : n / (1 - d);
        d = linear ? s * c->depth.unit_m : d;
        // A float below 1 is off by 3e-8, of a depth whose scale is 0.05 m; near 0 by far less.
        REQUIRE_NEAR(d, f->depth[i],
                     c->depth.kind == HSIO_DEPTH_HARDWARE ? 7e-7 * d * d + 2e-7 * d : 2e-6 * d);
    }
}

static void check_guides(const struct hsio_convention *c, const float *normal,
                         const float *roughness, const float *hit, const struct planes *p)
{
    for (int i = 0; i < COUNT; i++) {
        float n[3], r[2] = {roughness[i], normal[4 * i + 3]};

        for (int k = 0; k < 3; k++)
            n[k] = normal[4 * i + k] * (c->normal.range == HSIO_RANGE_UNSIGNED ? 2 : 1) -
                   (c->normal.range == HSIO_RANGE_UNSIGNED ? 1 : 0);
        for (int k = 0; k < 3; k++) {
            float world = n[k];
            if (c->normal.space == HSIO_SPACE_VIEW)
                world = (float)(view[k] * n[0] + view[4 + k] * n[1] + view[8 + k] * n[2]);
            REQUIRE_NEAR(world, p->normal[4 * i + k], 2e-3);
        }
        for (int k = 0; k < (c->normal.packed ? 2 : 1); k++) {
            if (c->roughness.kind == HSIO_ROUGHNESS_SMOOTHNESS)
                r[k] = 1 - r[k];
            if (c->roughness.kind == HSIO_ROUGHNESS_ALPHA)
                r[k] = sqrtf(r[k]);
            REQUIRE_NEAR(r[k], p->roughness[i], 1e-3);
        }
        REQUIRE_NEAR(hit[i] * c->depth.unit_m, p->hit[i], 1e-5);
    }
}

static const struct {
    enum hsio_plane plane;
    size_t offset;
    int channels;
} stored[] = {
    {HSIO_PLANE_COLOR, offsetof(struct planes, colour), 4},
    {HSIO_PLANE_MOTION, offsetof(struct planes, motion), 2},
    {HSIO_PLANE_MOTION_NEXT, offsetof(struct planes, next), 2},
    {HSIO_PLANE_NORMAL, offsetof(struct planes, normal), 4},
    {HSIO_PLANE_ROUGHNESS, offsetof(struct planes, roughness), 1},
    {HSIO_PLANE_HIT_DISTANCE, offsetof(struct planes, hit), 1},
    {HSIO_PLANE_DEPTH, offsetof(struct planes, depth), 1},
};
#define STORED ((int)(sizeof(stored) / sizeof(stored[0])))

static void store_all(const struct hsio_convention *c, const struct planes *from, struct planes *to)
{
    static const enum hsio_format formats[] = {0, HSIO_FORMAT_R32F, HSIO_FORMAT_RG32F, 0,
                                               HSIO_FORMAT_RGBA32F};
    const struct hsio_store_frame f = frame_of(from);

    *to = *from;
    for (int i = 0; i < STORED; i++)
        REQUIRE_EQ(hsio_store_plane(c, stored[i].plane, &f, formats[stored[i].channels],
                                    (char *)to + stored[i].offset, &io_log),
                   0);
}

/** Written to EXR by the names of the preset and read with it. */
static void presets(struct test_rng *rng)
{
    static struct planes p, made;

    for (int k = 0; k < hsio_preset_count(); k++) {
        const char *preset = hsio_preset_name(k);
        const char *path = io_path("%s.0001.exr", preset);
        struct hsio_write_plane planes[STORED];
        char names[STORED][512];
        struct hsio_convention c;

        make(rng, &p);
        REQUIRE_EQ(hsio_convention_preset(&c, preset, &io_log), 0);
        store_all(&c, &p, &made);
        for (int i = 0; i < STORED; i++) {
            REQUIRE_EQ(hsio_store_names(&c, stored[i].plane, names[i], sizeof(names[i])), 0);
            planes[i] = (struct hsio_write_plane){
                .plane = stored[i].plane,
                .format = stored[i].channels == 1   ? HSIO_FORMAT_R32F
                          : stored[i].channels == 2 ? HSIO_FORMAT_RG32F
                                                    : HSIO_FORMAT_RGBA32F,
                .data = (char *)&made + stored[i].offset,
                .channels = names[i],
            };
        }
        REQUIRE_EQ(hsio_write(path, W, H, planes, STORED, NULL, &io_log), 0);
        struct hsio_sequence *seq = io_open(path, preset, NULL);
        float *back[STORED];
        for (int i = 0; i < STORED; i++)
            back[i] = io_read(seq, 0, stored[i].plane, NULL);
        for (int i = 0; i < 4 * COUNT; i++)
            REQUIRE_NEAR(back[0][i], p.colour[i], 2e-3);
        const struct hsio_store_frame f = frame_of(&p);
        check_motion(&c, &c.motion, &f, back[1], p.motion);
        check_motion(&c, &c.motion_next, &f, back[2], p.next);
        check_guides(&c, back[3], back[4], back[5], &p);
        check_depth(&c, &f, back[6]);
        for (int i = 0; i < STORED; i++)
            free(back[i]);
        hsio_sequence_close(&seq);
    }
}

/** Keys that no preset turns. */
static void keys(struct test_rng *rng)
{
    static const char *const sets[][6] = {
        {"motion.swap=1", "motion.jittered=1", "motion.sign_x=-1", "motion.unit=uv"},
        {"motion.direction=next", "motion.jittered=1", "motion.bias_y=0.25", "motion.scale_y=-3"},
        {"normal.space=view", "normal.range=unsigned", "normal.packed=1", "roughness.kind=alpha"},
        {"depth.kind=hardware", "depth.unit_m=0.01", "motion.unwritten=zero", "motion.bias_x=9"},
        {"depth.unit_m=0.3048", "depth.background=1e6"},
    };
    static struct planes p, made;

    for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
        struct hsio_convention c;

        make(rng, &p);
        REQUIRE_EQ(hsio_convention_preset(&c, "raw", &io_log), 0);
        for (int i = 0; sets[k][i]; i++)
            REQUIRE_EQ(hsio_convention_set_text(&c, sets[k][i], &io_log), 0);
        store_all(&c, &p, &made);
        const struct hsio_store_frame f = frame_of(&p);
        check_motion(&c, &c.motion, &f, made.motion, p.motion);
        check_guides(&c, made.normal, made.roughness, made.hit, &p);
        check_depth(&c, &f, made.depth);
    }
}

/** Vectors are cut where the renderer cuts them; jitter; an infinite far plane; half floats. */
static void details(struct test_rng *rng)
{
    static struct planes p;
    struct hsio_convention c;
    float v[2] = {40, -1}, jitter[2] = {0.25f, -0.5f}, out[2], z[2] = {2, INFINITY};
    uint16_t half[1] = {hsio_float_to_half(0.25f)};
    struct hsio_store_frame f = {.width = 1, .height = 1, .near = 0.5f, .far = INFINITY};

    (void)rng;
    REQUIRE_EQ(hsio_convention_preset(&c, "unity", &io_log), 0);
    REQUIRE_EQ(hsio_store_plane(&c, HSIO_PLANE_MOTION, &f, HSIO_FORMAT_RG32F, v, &io_log), 0);
    REQUIRE_NEAR(v[0], -0.5, 0);
    REQUIRE_NEAR(v[1], 0.5, 0);
    REQUIRE_EQ(hsio_store_plane(&c, HSIO_PLANE_ROUGHNESS, &f, HSIO_FORMAT_R16F, half, NULL), 0);
    REQUIRE_NEAR(hsio_half_to_float(half[0]), 0.75, 0);
    f.width = 2;
    REQUIRE_EQ(hsio_store_plane(&c, HSIO_PLANE_DEPTH, &f, HSIO_FORMAT_R32F, z, &io_log), 0);
    REQUIRE_NEAR(z[0], 0.25, 1e-7);
    REQUIRE_NEAR(z[1], 0, 0);
    REQUIRE_EQ(hsio_convention_set(&c, "jitter.unit", "ndc", &io_log), 0);
    REQUIRE_EQ(hsio_convention_set(&c, "jitter.sign_y", "-1", &io_log), 0);
    hsio_store_jitter(&c, 100, 50, jitter, out);
    REQUIRE_NEAR(out[0], 0.005, 1e-9);
    REQUIRE_NEAR(out[1], 0.02, 1e-9);

    char names[64];
    REQUIRE_EQ(hsio_convention_preset(&c, "blender", &io_log), 0);
    REQUIRE_EQ(hsio_store_names(&c, HSIO_PLANE_MOTION, names, sizeof(names)), 0);
    REQUIRE_STR(names, "ViewLayer.Vector.X,ViewLayer.Vector.Y");
    REQUIRE_EQ(hsio_convention_set(&c, "layer", "shot", &io_log), 0);
    REQUIRE_EQ(hsio_store_names(&c, HSIO_PLANE_DEPTH, names, sizeof(names)), 0);
    REQUIRE_STR(names, "shot.Depth.Z");
    REQUIRE_EQ(hsio_store_names(&c, HSIO_PLANE_DEPTH, names, 12), HS_ERR_INVALID);
    REQUIRE_EQ(hsio_store_names(&c, HSIO_PLANE_EXPOSURE, names, 64), HS_ERR_INVALID);

    f = (struct hsio_store_frame){.width = W, .height = H};
    REQUIRE_EQ(hsio_convention_preset(&c, "fsr", &io_log), 0);
    REQUIRE_EQ(hsio_store_plane(&c, HSIO_PLANE_DEPTH, &f, HSIO_FORMAT_R32F, p.depth, NULL),
               HS_ERR_INVALID);
    REQUIRE_EQ(hsio_store_plane(&c, HSIO_PLANE_COLOR, &f, HSIO_FORMAT_R32F, p.colour, NULL),
               HS_ERR_INVALID);
    c.normal.space = HSIO_SPACE_VIEW;
    REQUIRE_EQ(hsio_store_plane(&c, HSIO_PLANE_NORMAL, &f, HSIO_FORMAT_RGBA32F, p.normal, NULL),
               HS_ERR_INVALID);
    c.motion.resolution = HSIO_RESOLUTION_DISPLAY;
    REQUIRE_EQ(hsio_store_plane(&c, HSIO_PLANE_MOTION, &f, HSIO_FORMAT_RG32F, p.motion, NULL),
               HS_ERR_UNSUPPORTED);
}

static const struct test_case cases[] = {
    {"presets", presets},
    {"keys", keys},
    {"details", details},
};

TEST_MAIN(cases)
