// SPDX-License-Identifier: MIT
/** Halls, yards and works. */
#include "look.h"

void obj_crate(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t m = mat_planks(s), edge = mat_wood(s);
    const float a = size * random_in(r, 0.3f, 0.5f), t = a * 0.09f;
    material(s, m)->pattern[0] = 3.f / a;
    box(s, node, m, v3(0, 0, a), v3(a * 0.95f, a * 0.95f, a * 0.97f));
    for (int i = 0; i < 4; i++) {
        const float x = i & 1 ? a : -a, y = i & 2 ? a : -a;
        box(s, node, edge, v3(x, y, a), v3(t, t, a))->occludes = false;
        for (int k = 0; k < 2; k++) {
            const float z = k ? 2 * a - t : t;
            if (i < 2)
                box(s, node, edge, v3(0, i ? a : -a, z), v3(a, t, t))->occludes = false;
            else
                box(s, node, edge, v3(i & 1 ? a : -a, 0, z), v3(t, a, t))->occludes = false;
        }
    }
}

void obj_barrel(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const float w = size * 0.28f, h = size * 0.8f;
    const bool bare = random_chance(r, 0.5f);
    const float roughness = random_in(r, bare ? 0.2f : 0.15f, 0.5f);
    const uint32_t m = bare ? mat_metal(s, palette_colour(s), roughness) : mat_paint(s, roughness);
    bar(s, node, m, v3(0, 0, 0), v3(0, 0, h), w, 1)->occludes = true;
    for (int i = 0; i < 4; i++) {
        const float z = h * (0.02f + 0.32f * (float)i);
        bar(s, node, m, v3(0, 0, z - size * 0.012f), v3(0, 0, z + size * 0.012f), w * 1.04f, 1);
    }
    if (random_chance(r, 0.4f))
        bar(s, node, mat_text(s, size * 0.06f), v3(0, 0, h * 0.42f), v3(0, 0, h * 0.58f), w * 1.01f,
            1);
}

void obj_pipes(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const int n = random_int(r, 2, 6);
    for (int i = 0; i < n; i++) {
        const uint32_t m = random_chance(r, 0.5f)
                               ? mat_metal(s, v3(0.6f, 0.58f, 0.55f), random_in(r, 0.15f, 0.5f))
                               : mat_any(s);
        const float q = fmaxf(size * random_log(r, 0.008f, 0.05f), s->pixel * 0.2f),
                    z = size * random_in(r, 0.2f, 1);
        const float y = size * random_in(r, -0.15f, 0.15f), turn = size * random_in(r, -0.6f, 0.6f);
        bar(s, node, m, v3(-size, y, z), v3(turn, y, z), q, 1);
        ball(s, node, m, v3(turn, y, z), q)->occludes = false;
        if (random_chance(r, 0.5f)) {
            bar(s, node, m, v3(turn, y, z), v3(turn, y, 0), q, 1);
        } else {
            bar(s, node, m, v3(turn, y, z), v3(turn, y, z * 0.6f), q, 1);
            ball(s, node, m, v3(turn, y, z * 0.6f), q)->occludes = false;
            bar(s, node, m, v3(turn, y, z * 0.6f), v3(size, y, z * 0.6f), q, 1);
        }
        for (int k = 0; k < 3; k++) {
            const float x = -size + (turn + size) * random_unit(r);
            bar(s, node, m, v3(x - q, y, z), v3(x + q, y, z), q * 1.35f, 1);
        }
    }
}

void obj_truss(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t m = random_chance(r, 0.5f) ? mat_metal(s, v3(0.6f, 0.6f, 0.6f), 0.4f)
                                              : mat_plain(s, palette_colour(s), 0.4f);
    const float w = size * random_in(r, 0.06f, 0.14f),
                q = fmaxf(size * 0.008f, s->pixel * random_log(r, 0.2f, 0.8f));
    const int n = (int)clampf(size / w * 0.8f, 5, 12);
    const bool standing = random_chance(r, 0.5f);
    const int32_t t = scene_node(
        s, node,
        standing ? rows_move(v3(0, 0, size))
                 : rows_mul(rows_move(v3(0, 0, size * 0.9f)), rows_turn(v3(0, 1, 0), PI_F / 2)));
    for (int i = 0; i < 4; i++) {
        const float x = i & 1 ? w : -w, y = i & 2 ? w : -w;
        bar(s, t, m, v3(x, y, -size), v3(x, y, size), q, 1);
        for (int k = 0; k < n; k++) {
            const float z0 = size * (2.f * (float)k / (float)n - 1),
                        z1 = size * (2.f * (float)(k + 1) / (float)n - 1);
            const float x1 = i == 0 || i == 3 ? -x : x, y1 = i == 0 || i == 3 ? y : -y;
            bar(s, t, m, v3(x, y, z0), v3(x1, y1, z1), q * 0.6f, 1);
        }
    }
}

void obj_fan(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t m = mat_any(s), hub = mat_any(s);
    const int blades = random_int(r, 3, 6);
    const float z = size * 0.7f, length = size * random_in(r, 0.25f, 0.42f);
    bar(s, node, hub, v3(0, size * 0.05f, 0), v3(0, size * 0.05f, z), size * 0.03f, 0.7f);
    const int32_t turning = scene_node(s, node, rows_move(v3(0, 0, z)));
    if (!s->failed) {
        s->nodes[turning].axis = v3(0, 1, 0);
        const float sign = random_sign(r);
        s->nodes[turning].spin = sign * clampf(natural_speed(s) / length * 2, 0.01f, 0.6f);
    }
    ball(s, turning, hub, v3(0, 0, 0), size * 0.05f);
    for (int i = 0; i < blades; i++) {
        const struct rows turn = rows_turn(v3(0, 1, 0), 2 * PI_F * (float)i / (float)blades);
        const struct rows local = rows_mul(
            turn, rows_mul(rows_move(v3(length * 0.55f, 0, 0)), rows_turn(v3(1, 0, 0), 0.5f)));
        scene_item(s, turning, SCENE_SHAPE_BOX, m, local,
                   v3(length * 0.5f, size * 0.006f, size * 0.06f));
    }
}

void obj_column(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t m = s->material_count && random_chance(r, 0.5f) ? mat_stone(s) : mat_plaster(s);
    const float w = size * random_in(r, 0.05f, 0.08f);
    box(s, node, m, v3(0, 0, size * 0.02f), v3(w * 1.5f, w * 1.5f, size * 0.02f));
    bar(s, node, m, v3(0, 0, size * 0.04f), v3(0, 0, size * 0.07f), w * 1.3f, 0.85f);
    bar(s, node, m, v3(0, 0, size * 0.07f), v3(0, 0, size * 0.93f), w, 0.85f)->occludes = true;
    bar(s, node, m, v3(0, 0, size * 0.93f), v3(0, 0, size * 0.96f), w, 1.35f);
    box(s, node, m, v3(0, 0, size * 0.98f), v3(w * 1.5f, w * 1.5f, size * 0.02f));
}

void obj_stairs(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t m = random_chance(r, 0.5f) ? mat_stone(s) : mat_wood(s), rail = mat_any(s);
    const int n = random_int(r, 5, 10);
    const float rise = size * 0.07f, run = size * 0.11f, w = size * random_in(r, 0.3f, 0.5f);
    for (int i = 0; i < n; i++)
        box(s, node, m, v3(run * (float)i, 0, rise * (float)(i + 1) / 2),
            v3(run * 0.55f, w, rise * (float)(i + 1) / 2))
            ->occludes = i % 2;
    for (int side = -1; side <= 1; side += 2) {
        const float y = (float)side * w, top = rise * (float)n, far = run * (float)(n - 1);
        for (int i = 0; i < n; i += 2)
            bar(s, node, rail, v3(run * (float)i, y, rise * (float)(i + 1)),
                v3(run * (float)i, y, rise * (float)(i + 1) + size * 0.25f), size * 0.007f, 1);
        bar(s, node, rail, v3(0, y, rise + size * 0.25f), v3(far, y, top + size * 0.25f),
            size * 0.012f, 1);
    }
}

void particles(struct scene *s, struct vec3 centre, float extent, int count)
{
    struct random *r = &s->rng;
    const int kind = random_int(r, 0, 3); // rain, snow, dust, sparks
    const float bright = kind == 3 ? 1.f : 0.f;
    const uint32_t m = mat_plain(s, kind == 2 ? v3(0.5f, 0.45f, 0.38f) : v3(0.8f, 0.82f, 0.85f), 1);
    if (!s->failed) {
        struct scene_material *p = &s->materials[m];
        p->kind[2] = SCENE_MATERIAL_TRANSPARENT | SCENE_MATERIAL_SOFT;
        p->emission[0] = 9 * bright;
        p->emission[1] = 3.5f * bright;
        p->emission[2] = 0.8f * bright;
        p->emission[3] = kind == 2 ? random_in(r, 0.1f, 0.35f) : random_in(r, 0.4f, 0.95f);
    }
    const float size =
        kind == 2 ? extent * random_in(r, 0.04f, 0.15f) : s->pixel * random_log(r, 0.4f, 2.5f);
    const float speed = natural_speed(s) * (kind == 0 ? 5.f : 1.2f);
    const float across = random_in(r, -1, 1);
    const struct vec3 wind = mul(v3(random_in(r, -1, 1), across, 0), 0.4f);
    for (int i = 0; i < count; i++) {
        const float z = random_in(r, -0.2f, 1);
        const float y = random_in(r, -1, 1);
        const struct vec3 p = add(centre, mul(v3(random_in(r, -1, 1), y, z), extent));
        const int32_t node =
            scene_node(s, -1, rows_move(add(p, v3(0, 0, kind == 3 ? 0 : extent * 0.5f))));
        const struct vec3 d = add(v3(0, 0,
                                     kind == 3   ? 1.f
                                     : kind == 2 ? 0.2f
                                                 : -1.f),
                                  add(wind, mul(random_direction(r), kind == 0 ? 0.03f : 0.35f)));
        if (!s->failed) {
            s->nodes[node].velocity = mul(d, speed * random_in(r, 0.6f, 1.4f));
            s->nodes[node].wrap = extent;
            s->nodes[node].phase = random_unit(r);
        }
        const struct vec3 half = kind == 0 ? v3(size * 0.3f, size * 0.3f, size * 6)
                                           : mul(v3(size, size, size), random_in(r, 0.6f, 1.4f));
        struct item *item = scene_item(s, node, SCENE_SHAPE_SPHERE, m,
                                       kind == 0 ? rows_align(d) : rows_identity(), half);
        item->flags = SCENE_INSTANCE_NO_SHADOW;
    }
}
