// SPDX-License-Identifier: MIT
#include "look.h"

/** Catmull-Rom through the points of a profile. */
static int32_t smooth_lathe(struct scene *s, const float (*points)[2], int count, float size)
{
    float profile[64][2];
    uint32_t n = 0;
    const int steps = s->simple ? 2 : 6;
    for (int i = 0; i + 1 < count; i++) {
        const float *p0 = points[i > 0 ? i - 1 : 0], *p1 = points[i], *p2 = points[i + 1];
        const float *p3 = points[i + 2 < count ? i + 2 : count - 1];
        for (int k = 0; k < steps + (i + 2 == count) && n < 64; k++, n++) {
            const float t = (float)k / (float)steps;
            for (int c = 0; c < 2; c++)
                profile[n][c] = size * 0.5f *
                                (2 * p1[c] + (p2[c] - p0[c]) * t +
                                 (2 * p0[c] - 5 * p1[c] + 4 * p2[c] - p3[c]) * t * t +
                                 (3 * p1[c] - p0[c] - 3 * p2[c] + p3[c]) * t * t * t);
        }
    }
    struct mesh mesh = {0};
    const uint32_t sides = s->simple ? (uint32_t)random_int(&s->rng, 5, 12) : 32;
    if (!mesh_lathe(&mesh, (const float(*)[2])profile, n, sides) ||
        (s->simple && !mesh_facet(&mesh)))
        s->failed = true;
    return scene_mesh(s, &mesh);
}

static struct item *turned(struct scene *s, int32_t node, const float (*points)[2], int count,
                           float size, uint32_t m)
{
    struct item *item =
        mesh_item(s, node, m, smooth_lathe(s, points, count, size), rows_identity(), 1);
    item->map = SCENE_MAP_CYLINDER;
    return item;
}

void obj_vase(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const float belly = random_in(r, 0.16f, 0.36f), neck = random_in(r, 0.05f, 0.2f);
    const float lip = neck * random_in(r, 1.f, 1.8f), high = random_in(r, 0.25f, 0.6f);
    const float points[8][2] = {
        {0, 0},          {random_in(r, 0.1f, 0.2f), 0}, {belly, high}, {neck, 0.82f}, {lip, 1},
        {lip * 0.9f, 1}, {neck * 0.85f, 0.8f},          {0, 0.5f}};
    turned(s, node, points, 8, size, mat_any(s));
}

void obj_bottle(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const float w = random_in(r, 0.12f, 0.18f), shoulder = random_in(r, 0.55f, 0.7f);
    const float points[9][2] = {{0, 0},
                                {w * 0.9f, 0},
                                {w, 0.04f},
                                {w, shoulder - 0.05f},
                                {w * 0.8f, shoulder + 0.04f},
                                {w * 0.3f, shoulder + 0.16f},
                                {w * 0.28f, 0.96f},
                                {w * 0.33f, 0.98f},
                                {0, 1}};
    const float roughness = random_in(r, 0.03f, 0.15f);
    const float value = random_in(r, 0.02f, 0.3f);
    const float saturation = random_in(r, 0.2f, 0.8f);
    const uint32_t m = mat_plain(s, hsv(random_unit(r), saturation, value), roughness);
    turned(s, node, points, 9, size, m);
    if (random_chance(r, 0.7f)) {
        struct item *label =
            bar(s, node, mat_text(s, size * random_in(r, 0.03f, 0.08f)), v3(0, 0, size * 0.15f),
                v3(0, 0, size * (shoulder - 0.15f)), size * w * 1.01f, 1);
        label->occludes = false;
    }
}

void obj_bowl(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const float h = random_in(r, 0.12f, 0.4f);
    const float points[7][2] = {{0, 0},     {0.18f, 0},         {0.4f, h * 0.6f}, {0.5f, h},
                                {0.48f, h}, {0.36f, h * 0.55f}, {0, h * 0.15f}};
    turned(s, node, points, 7, size, mat_any(s));
    if (random_chance(r, 0.6f)) { // fruit
        const int n = random_int(r, 3, 6);
        const float q = size * 0.13f;
        for (int i = 0; i < n; i++) {
            const float a = 2 * PI_F * (float)i / (float)n;
            const float value = random_in(r, 0.25f, 0.7f);
            const float saturation = random_in(r, 0.6f, 0.9f);
            const struct vec3 c = hsv(random_in(r, -0.03f, 0.28f), saturation, value);
            const float radius = q * random_in(r, 0.85f, 1.1f);
            ball(s, node, mat_plain(s, c, random_in(r, 0.2f, 0.6f)),
                 v3(size * 0.2f * cosf(a), size * 0.2f * sinf(a), size * h * 0.6f + q * 0.8f),
                 radius);
        }
    }
}

void obj_cup(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const float w = random_in(r, 0.3f, 0.42f);
    const float points[7][2] = {{0, 0},    {w * 0.7f, 0},     {w * 0.95f, 0.3f},
                                {w, 0.9f}, {w * 0.92f, 0.9f}, {w * 0.8f, 0.2f},
                                {0, 0.1f}};
    const uint32_t m = mat_any(s);
    turned(s, node, points, 7, size, m);
    struct mesh ring = {0};
    if (!mesh_torus(&ring, size * 0.2f, size * 0.045f, 10, 24, 0))
        s->failed = true;
    mesh_item(s, node, m, scene_mesh(s, &ring),
              rows_mul(rows_move(v3(size * w, 0, size * 0.5f)), rows_turn(v3(1, 0, 0), PI_F / 2)),
              1);
}

void obj_package(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t m =
        random_chance(r, 0.5f) ? mat_text(s, size * random_log(r, 0.04f, 0.16f)) : mat_any(s);
    const float z = size * random_in(r, 0.12f, 0.5f);
    const float y = size * random_in(r, 0.12f, 0.3f);
    const struct vec3 half = v3(size * random_in(r, 0.15f, 0.4f), y, z);
    box(s, node, m, v3(0, 0, half.z), half);
    if (random_chance(r, 0.35f)) { // a ribbon
        const uint32_t band = mat_plain(s, palette_colour(s), 0.3f);
        box(s, node, band, v3(0, 0, half.z), v3(half.x * 1.01f, size * 0.03f, half.z * 1.01f))
            ->occludes = false;
        box(s, node, band, v3(0, 0, half.z), v3(size * 0.03f, half.y * 1.01f, half.z * 1.01f))
            ->occludes = false;
    }
}

void obj_ball(struct scene *s, int32_t node, float size)
{
    const float radius = size * random_in(&s->rng, 0.2f, 0.45f);
    ball(s, node, mat_any(s), v3(0, 0, radius), radius);
}

void obj_knot(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    struct mesh mesh = {0};
    const bool knot = random_chance(r, 0.5f);
    const float thick = random_in(r, 0.06f, 0.14f) * size;
    if (!mesh_torus(&mesh, size * (knot ? 0.25f : 0.32f), thick, 14, knot ? 120 : 48, knot))
        s->failed = true;
    const int32_t turning = scene_node(s, node, rows_move(v3(0, 0, size * 0.3f + thick)));
    if (random_chance(r, 0.4f) && !s->failed) {
        const float sign = random_sign(r);
        s->nodes[turning].spin = sign * random_log(r, 0.01f, 0.15f);
        s->nodes[turning].axis = random_chance(r, 0.5f) ? v3(0, 0, 1) : random_direction(r);
    }
    const struct rows stand = rows_turn(v3(1, 0, 0), random_chance(r, 0.6f) ? PI_F / 2 : 0);
    const int32_t index = scene_mesh(s, &mesh);
    mesh_item(s, turning, mat_any(s), index, stand, 1);
}

void obj_blob(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    struct mesh mesh = {0};
    const float rough = random_in(r, 0.f, 0.25f);
    if (!mesh_rock(&mesh, random_bits(r), rough, 2))
        s->failed = true;
    mesh.deform = DEFORM_BLOB;
    mesh.deform_size = random_in(r, 0.08f, 0.25f);
    mesh.deform_rate = random_log(r, 0.04f, 0.4f);
    mesh.deform_reach = 1;
    const int32_t index = scene_mesh(s, &mesh);
    mesh_item(s, node, mat_any(s), index, rows_move(v3(0, 0, size * 0.42f)), size * 0.4f);
}

void obj_candle(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t wax = mat_plain(s, pale_colour(s), 0.4f);
    material(s, wax)->kind[2] |= SCENE_MATERIAL_THIN;
    bar(s, node, wax, v3(0, 0, 0), v3(0, 0, size * 0.7f), size * 0.12f, 1)->occludes = true;
    const float flame = size * 0.045f;
    glow_ball(s, node, v3(0, 0, size * 0.8f), flame,
              mul(v3(1, 0.6f, 0.22f), random_log(r, 60, 200)));
    if (!s->failed) {
        s->lamps[s->lamp_count - 1].flicker = random_in(r, 0.1f, 0.5f);
        s->items[s->item_count - 1].half.z = flame * 2;
    }
}

void obj_toy(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    float z = 0, w = size * random_in(r, 0.18f, 0.3f);
    const int n = random_int(r, 2, 4);
    for (int i = 0; i < n; i++) {
        const uint32_t m = mat_any(s);
        const float h = size * random_in(r, 0.06f, 0.16f);
        const int kind = i + 1 == n ? random_int(r, 1, 2) : random_int(r, 0, 2);
        if (kind == 0) {
            const int32_t cube = scene_place(s, node, v3(0, 0, z), random_in(r, 0, 1.5f));
            box(s, cube, m, v3(0, 0, h), v3(w, w, h));
            z += 2 * h;
        } else if (kind == 1) {
            bar(s, node, m, v3(0, 0, z), v3(0, 0, z + 2 * h), w, random_in(r, 0, 1))->occludes =
                true;
            z += 2 * h;
        } else {
            ball(s, node, m, v3(0, 0, z + h), h);
            z += 2 * h;
        }
        w *= random_in(r, 0.6f, 0.95f);
    }
}

void obj_user_mesh(struct scene *s, int32_t node, float size)
{
    struct mesh mesh = {0};
    if (!s->user_mesh || !mesh_user(&mesh, s->user_mesh)) {
        mesh_finish(&mesh);
        s->failed = true;
        return;
    }
    const int32_t index = scene_mesh(s, &mesh);
    mesh_item(s, node, mat_any(s), index, rows_identity(), size);
}
