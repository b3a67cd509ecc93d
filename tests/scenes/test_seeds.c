// SPDX-License-Identifier: MIT
/** A seed gives the scene that it gave before, whatever the compiler; needs no device. */
#include "scenes/scene.h"

#include "test.h"

enum {
    ITEMS,
    MATERIALS,
    PLACES,
    SIZES,
    COLOURS,
    LIGHTS,
    CAMERA,
    SUMS,
};

struct pin {
    uint64_t seed;
    enum hs_scenes_mode mode;
    double sums[SUMS];
};

/** Weights make two values that change places a difference. */
static double weighted(struct vec3 v, uint32_t index)
{
    return (1 + index % 7) * (v.x + 1.3 * v.y + 1.7 * v.z);
}

static void add_up(const struct scene *s, double sums[SUMS])
{
    memset(sums, 0, SUMS * sizeof(*sums));
    sums[ITEMS] = s->item_count;
    sums[MATERIALS] = s->material_count;
    for (uint32_t i = 0; i < s->node_count; i++) {
        sums[PLACES] += weighted(rows_point(&s->nodes[i].base, v3(1, 1, 1)), i);
        sums[PLACES] += weighted(s->nodes[i].velocity, i);
    }
    for (uint32_t i = 0; i < s->item_count; i++) {
        sums[PLACES] += weighted(rows_point(&s->items[i].local, v3(1, 1, 1)), i);
        sums[SIZES] += weighted(s->items[i].half, i);
    }
    for (uint32_t i = 0; i < s->material_count; i++) {
        const struct scene_material *m = &s->materials[i];
        sums[COLOURS] += weighted(v3(m->a[0], m->a[1], m->a[2]), i) + m->a[3];
        sums[COLOURS] += weighted(v3(m->b[0], m->b[1], m->b[2]), i) + m->pattern[0];
    }
    for (uint32_t i = 0; i < s->lamp_count; i++)
        sums[LIGHTS] += weighted(s->lamps[i].radiance, i);
    sums[LIGHTS] += weighted(s->sky.sun_radiance, 0) + weighted(s->sky.zenith, 1) + s->exposure;
    for (uint32_t i = 0; i < s->shot_count; i++) {
        const struct shot *shot = &s->shots[i];
        sums[CAMERA] += weighted(shot->eye, i) + weighted(shot->target, i + 1) + shot->fov;
        sums[CAMERA] += weighted(shot->eye_velocity, i) + shot->orbit + shot->zoom;
    }
}

static const struct pin pins[] = {
    {1, 0, {7, 8, 131.4961, 42.78339, 285.0799, 6.931039, 4.28523}},
    {2, 0, {45, 12, 880.9846, 923.6025, 105.0039, 578485.2, 2.67576}},
    {3, HS_SCENES_PATH, {236, 102, 13051.31, 8224.857, 1290.595, 207951.4, -2.37367}},
    {4, 0, {216, 52, 2646.571, 1685.483, 505.7172, 6.945533, 17.60591}},
    {5, 0, {11, 12, 113.4491, 57.30274, 82.97139, 422.7887, 5.124027}},
    {6, HS_SCENES_PATH, {144, 85, 12712.2, 8915.376, 978.6844, 308968.8, -17.10701}},
    {7, 0, {181, 31, 3470.775, 1350.669, 430.5591, 6.986511, -5.296309}},
    {9, HS_SCENES_PATH, {267, 108, 10014.42, 8441.265, 1395.402, 18332.16, -26.63876}},
    {11, 0, {89, 54, -1988.877, 3234.217, 592.6331, 5445.846, 48.68589}},
    {14, 0, {224, 27, 3064.642, 1444.374, 358.5971, 103036.7, 10.30164}},
    {17, 0, {242, 108, 11571.67, 9674.45, 1209.963, 186153.5, -5.719058}},
    {20, 0, {391, 52, 8604.04, 1686.084, 582.0323, 281914, -1.106219}},
    {24, HS_SCENES_PATH, {26, 14, 840.5027, 110.7586, 98.82029, 559763.2, 2.500417}},
    {31, 0, {228, 94, 15239.28, 9116.786, 883.1044, 74561.62, 11.72751}},
    {40, 0, {121, 39, 3489.051, 849.756, 414.1029, 23252.31, 8.932168}},
    {64, 0, {358, 132, 18258.56, 9003.17, 1552.953, 439732.8, 40.08409}},
};

static void pinned(struct test_rng *rng)
{
    (void)rng;
    for (size_t i = 0; i < sizeof(pins) / sizeof(pins[0]); i++) {
        struct scene s = {0};
        double sums[SUMS];
        REQUIRE_EQ(scene_build(&s,
                               &(struct hs_clip_params){.pattern = "random",
                                                        .seed = pins[i].seed,
                                                        .frame_count = 8,
                                                        .render_width = 320,
                                                        .render_height = 180,
                                                        .scene_width = 320,
                                                        .scene_height = 180,
                                                        .width = 640,
                                                        .height = 360,
                                                        .mode = pins[i].mode,
                                                        .speed = 1},
                               NULL),
                   0);
        add_up(&s, sums);
        printf("    {%d, %s, {", (int)pins[i].seed, pins[i].mode ? "HS_SCENES_PATH" : "0");
        for (int k = 0; k < SUMS; k++)
            printf("%s%.7g", k ? ", " : "", sums[k]);
        printf("}},\n");
        // Mathematics libraries differ in the last digit; the sums are of terms up to some 1000.
        for (int k = 0; k < SUMS; k++)
            REQUIRE_NEAR(sums[k], pins[i].sums[k], 1e-4 * fabs(pins[i].sums[k]) + 2e-3);
        scene_finish(&s);
    }
}

static const struct test_case cases[] = {
    {"pinned", pinned},
};

TEST_MAIN(cases)
