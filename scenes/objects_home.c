// SPDX-License-Identifier: MIT
#include "look.h"

/** Rotation that stands a quad upright: its x stays, its y becomes z, it faces -y. */
static struct rows upright(struct vec3 p)
{
    return rows_mul(rows_move(p), rows_turn(v3(1, 0, 0), PI_F / 2));
}

void obj_table(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const float h = size * random_in(r, 0.45f, 0.55f), top = size * 0.025f;
    const float x = size * random_in(r, 0.5f, 0.75f), y = size * random_in(r, 0.35f, 0.5f);
    const uint32_t m = random_chance(r, 0.7f) ? mat_wood(s) : mat_any(s);
    if (random_chance(r, 0.25f)) { // round, on one foot
        scene_item(s, node, SCENE_SHAPE_CONE, m, rows_move(v3(0, 0, h - top)), v3(y, y, top))
            ->occludes = true;
        bar(s, node, m, v3(0, 0, 0), v3(0, 0, h - top), size * 0.04f, 1);
        bar(s, node, m, v3(0, 0, 0), v3(0, 0, size * 0.03f), size * 0.25f, 0.6f);
        return;
    }
    box(s, node, m, v3(0, 0, h - top), v3(x, y, top));
    const float leg = size * random_in(r, 0.02f, 0.04f);
    const bool round = random_chance(r, 0.4f);
    for (int i = 0; i < 4; i++) {
        const float sx = (i & 1 ? 1.f : -1.f) * (x - 2 * leg),
                    sy = (i & 2 ? 1.f : -1.f) * (y - 2 * leg);
        if (round)
            bar(s, node, m, v3(sx, sy, 0), v3(sx, sy, h - 2 * top), leg * 0.7f, 1.4f);
        else
            box(s, node, m, v3(sx, sy, h / 2 - top), v3(leg, leg, h / 2 - top))->occludes = false;
    }
}

void obj_chair(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t m = random_chance(r, 0.6f) ? mat_wood(s) : mat_any(s);
    const uint32_t seat = random_chance(r, 0.5f) ? m : mat_any(s);
    const float w = size * 0.22f, h = size * 0.45f, leg = size * 0.018f;
    box(s, node, seat, v3(0, 0, h), v3(w, w, size * 0.025f));
    for (int i = 0; i < 4; i++) {
        const float x = i & 1 ? w - leg : leg - w, y = i & 2 ? w - leg : leg - w;
        bar(s, node, m, v3(x, y, 0), v3(x, y, i & 1 ? h : size), leg, 1);
    }
    if (random_chance(r, 0.5f)) {
        box(s, node, seat, v3(leg - w, 0, size * 0.82f), v3(leg, w, size * 0.14f));
    } else {
        const int n = random_int(r, 3, 6);
        for (int i = 0; i < n; i++) {
            const float y = (2.f * (float)i / (float)(n - 1) - 1) * w * 0.8f;
            bar(s, node, m, v3(leg - w, y, h), v3(leg - w, y, size * 0.95f), leg * 0.6f, 1);
        }
        bar(s, node, m, v3(leg - w, -w, size * 0.97f), v3(leg - w, w, size * 0.97f), leg, 1);
    }
}

void obj_books(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const int n = random_int(r, 2, 6);
    float z = 0;
    for (int i = 0; i < n; i++) {
        const float h = size * random_in(r, 0.03f, 0.09f);
        const float roughness = random_in(r, 0.3f, 0.8f);
        const uint32_t m = mat_plain(s, palette_colour(s), roughness);
        const uint32_t pages = mat_texture(s, SCENE_TEX_STRIPES, v3(0.75f, 0.72f, 0.64f),
                                           v3(0.6f, 0.57f, 0.5f), repeat_of(s, s->fine), 0.9f);
        const int32_t book = scene_place(s, node, v3(0, 0, z), random_in(r, -0.4f, 0.4f));
        const float x = size * random_in(r, 0.22f, 0.32f), y = size * random_in(r, 0.3f, 0.42f);
        box(s, book, m, v3(0, 0, h * 0.06f), v3(x, y, h * 0.06f))->occludes = false;
        box(s, book, pages, v3(0.01f * size, 0, h * 0.5f), v3(x * 0.96f, y * 0.97f, h * 0.4f));
        box(s, book, m, v3(0, 0, h * 0.94f), v3(x, y, h * 0.06f))->occludes = false;
        box(s, book, m, v3(-x, 0, h * 0.5f), v3(h * 0.06f, y, h * 0.5f))->occludes = false;
        z += h;
    }
}

void obj_shelf(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t m = random_chance(r, 0.7f) ? mat_wood(s) : mat_plain(s, pale_colour(s), 0.5f);
    const float w = size * random_in(r, 0.35f, 0.6f), d = size * 0.14f, t = size * 0.012f;
    const int boards = random_int(r, 3, 6);
    box(s, node, m, v3(-w, 0, size / 2), v3(t, d, size / 2));
    box(s, node, m, v3(w, 0, size / 2), v3(t, d, size / 2));
    box(s, node, m, v3(0, d, size / 2), v3(w, t * 0.5f, size / 2));
    for (int i = 0; i <= boards; i++) {
        const float z = size * (float)i / (float)boards, gap = size / (float)boards;
        box(s, node, m, v3(0, 0, fmaxf(z, t)), v3(w, d, t))->occludes = false;
        if (i == boards)
            break;
        if (random_chance(r, 0.75f)) { // a row of books
            const float length = w * random_in(r, 0.4f, 0.95f), h = gap * random_in(r, 0.6f, 0.85f);
            const struct vec3 b = palette_colour(s);
            const uint32_t books =
                mat_texture(s, SCENE_TEX_SPINES, palette_colour(s), b, 1.f / (size * 0.022f), 0.6f);
            material(s, books)->pattern[0] = 1.f / (h * 0.16f);
            struct item *item = box(s, node, books, v3(length - w, -d * 0.15f, z + h / 2 + t),
                                    v3(length * 0.97f, d * 0.6f, h / 2));
            item->occludes = false;
        } else {
            const float yaw = random_in(r, 0, 6);
            const int32_t place =
                scene_place(s, node, v3(random_in(r, -0.6f, 0.6f) * w, -d * 0.2f, z + t), yaw);
            static object_fn *const things[] = {obj_vase, obj_ball, obj_knot, obj_cup};
            const int which = random_int(r, 0, 3);
            things[which](s, place, gap * random_in(r, 0.5f, 0.8f));
        }
    }
}

void obj_sofa(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const bool plaid = random_chance(r, 0.3f);
    const uint32_t m =
        plaid ? mat_motif(s, SCENE_TEX_PLAID, random_log(r, 5, 20), 0.95f) : mat_paint(s, 0.95f);
    const float w = size * 0.5f, d = size * 0.21f, h = size * 0.11f;
    box(s, node, m, v3(0, 0, h), v3(w, d, h));
    box(s, node, m, v3(0, d, h * 2), v3(w, d * 0.25f, h * 2));
    for (int i = -1; i <= 1; i += 2)
        box(s, node, m, v3((float)i * w, 0, h * 1.5f), v3(d * 0.25f, d, h * 1.5f));
    for (int i = -1; i <= 1; i += 2) {
        const struct rows turn = rows_turn(v3(1, 0, 0), random_in(r, -0.6f, -0.2f));
        const int32_t c = scene_node(
            s, node,
            rows_mul(rows_move(v3((float)i * w * random_in(r, 0.4f, 0.75f), d * 0.5f, h * 2.7f)),
                     turn));
        const struct vec3 half = v3(w * 0.22f, h * 0.4f, w * 0.2f);
        scene_item(s, c, SCENE_SHAPE_SPHERE, mat_any(s), rows_identity(), half)->occludes = true;
    }
}

void obj_floor_lamp(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t m = mat_any(s);
    const float shade = size * random_in(r, 0.1f, 0.17f);
    const float gain = random_in(r, 12, 40);
    const float saturation = random_in(r, 0.2f, 0.5f);
    const struct vec3 light = mul(hsv(random_in(r, 0.07f, 0.13f), saturation, 1), gain);
    bar(s, node, m, v3(0, 0, 0), v3(0, 0, size * 0.02f), size * 0.12f, 0.9f);
    bar(s, node, m, v3(0, 0, 0), v3(0, 0, size * 0.85f), size * 0.01f, 1);
    glow_ball(s, node, v3(0, 0, size * 0.87f), shade * 0.35f, light);
    struct mesh mesh = {0};
    const float profile[2][2] = {{shade, size * 0.76f}, {shade * random_in(r, 0.5f, 0.9f), size}};
    if (!mesh_lathe(&mesh, profile, 2, 24))
        s->failed = true;
    const uint32_t cloth = mat_plain(s, pale_colour(s), 0.9f);
    material(s, cloth)->kind[2] |= SCENE_MATERIAL_THIN;
    mesh_item(s, node, cloth, scene_mesh(s, &mesh), rows_identity(), 1);
}

void obj_plant(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const float pot = size * random_in(r, 0.12f, 0.2f);
    struct item *item =
        bar(s, node, mat_any(s), v3(0, 0, 0), v3(0, 0, pot * 1.6f), pot * 0.75f, 1.35f);
    item->occludes = true;
    struct mesh mesh = {0};
    if (random_chance(r, 0.5f)) {
        if (!mesh_grass(&mesh, r, (uint32_t)random_int(r, 20, 70), pot * 0.6f, size * 0.75f,
                        fmaxf(size * 0.03f, s->pixel)))
            s->failed = true;
        mesh.deform_reach = size * 0.75f;
    } else {
        if (!mesh_crown(&mesh, r, 260, random_in(r, 0.12f, 0.3f), false))
            s->failed = true;
        for (uint32_t i = 0; i < mesh.vertex_count; i++)
            mesh.position[i] = mesh.rest[i] =
                add(mul(mesh.position[i], size * 0.32f), v3(0, 0, size * 0.4f));
        mesh.deform_reach = size;
    }
    if (random_chance(r, 0.3f)) {
        mesh.deform = DEFORM_SWAY;
        mesh.deform_size = size * random_in(r, 0.02f, 0.08f);
        mesh.deform_rate = random_in(r, 0.05f, 0.4f);
    }
    const int32_t index = scene_mesh(s, &mesh);
    mesh_item(s, node, mat_leaf(s), index, rows_move(v3(0, 0, pot * 1.5f)), 1);
}

void obj_cabinet(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t m = random_chance(r, 0.6f) ? mat_wood(s) : mat_plain(s, pale_colour(s), 0.4f);
    const uint32_t knob = mat_metal(s, v3(0.7f, 0.68f, 0.6f), 0.3f);
    const float w = size * random_in(r, 0.4f, 0.7f), d = size * 0.2f,
                h = size * random_in(r, 0.3f, 0.5f);
    box(s, node, m, v3(0, 0, h), v3(w, d, h));
    const int doors = random_int(r, 2, 4), rows = random_int(r, 1, 3);
    for (int i = 0; i < doors * rows; i++) {
        const float x = w * (2.f * ((float)(i % doors) + 0.5f) / (float)doors - 1);
        const float z = 2 * h * ((float)(i / doors) + 0.5f) / (float)rows;
        box(s, node, m, v3(x, -d, z),
            v3(w / (float)doors * 0.93f, size * 0.008f, h / (float)rows * 0.92f))
            ->occludes = false;
        ball(s, node, knob, v3(x, -d - size * 0.02f, z), size * 0.012f)->occludes = false;
    }
    const int32_t top = scene_place(s, node, v3(random_in(r, -0.5f, 0.5f) * w, 0, 2 * h), 0);
    static object_fn *const things[] = {obj_vase, obj_plant, obj_books, obj_screen};
    const int which = random_int(r, 0, 3);
    things[which](s, top, size * random_in(r, 0.3f, 0.5f));
}

void obj_screen(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t body = mat_plain(s, dark_colour(s), 0.3f);
    const float w = size * 0.5f, h = size * 0.3f;
    bar(s, node, body, v3(0, 0, 0), v3(0, 0, h * 0.5f), size * 0.04f, 1);
    bar(s, node, body, v3(0, 0, 0), v3(0, 0, size * 0.02f), size * 0.18f, 1);
    box(s, node, body, v3(0, 0, h * 1.35f), v3(w, size * 0.02f, h));
    static const uint32_t shows[] = {SCENE_TEX_TEXT, SCENE_TEX_PICTURE, SCENE_TEX_STRIPES};
    const uint32_t kind = shows[random_int(r, 0, 2)];
    const float repeat = kind == SCENE_TEX_TEXT ? 1.f / (size * random_in(r, 0.02f, 0.06f))
                                                : random_in(r, 2, 6) / size;
    const float gain = random_in(r, 0.6f, 2.5f);
    const uint32_t m = mat_glow(s, mul(hsv(random_unit(r), 0.3f, 1), gain), kind, repeat);
    if (random_chance(r, 0.5f)) { // what it shows moves; the glass does not
        const int along = random_int(r, 0, 1);
        material(s, m)->scroll[along] = natural_speed(s);
    }
    quad(s, node, m, upright(v3(0, -size * 0.0215f, h * 1.35f)), w * 0.95f, h * 0.93f);
}

void obj_picture(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const float w = size * random_in(r, 0.3f, 0.6f), h = size * random_in(r, 0.3f, 0.5f);
    const uint32_t frame = mat_any(s);
    const uint32_t picture =
        random_chance(r, 0.7f) ? mat_picture(s) : mat_text(s, h * random_in(r, 0.05f, 0.2f));
    const float t = size * random_in(r, 0.015f, 0.04f);
    box(s, node, frame, v3(0, 0, 0), v3(w + t, t, h + t))->occludes = false;
    quad(s, node, picture, upright(v3(0, -t * 1.05f, 0)), w, h);
}

void window_in(struct scene *s, int32_t node, float half_x, float half_z)
{
    struct random *r = &s->rng;
    const uint32_t frame =
        mat_plain(s, random_chance(r, 0.7f) ? v3(0.75f, 0.74f, 0.7f) : dark_colour(s), 0.4f);
    const float t = 0.03f;
    for (int i = -1; i <= 1; i++) {
        box(s, node, frame, v3((float)i * half_x, 0, 0), v3(t, t, half_z))->occludes = false;
        box(s, node, frame, v3(0, 0, (float)i * half_z), v3(half_x, t, t))->occludes = false;
    }
    if (random_chance(r, 0.5f)) { // blinds
        const float pitch = fmaxf(random_log(r, 0.02f, 0.07f), 1.1f * s->pixel);
        const int n = (int)fminf(2 * half_z / pitch, 60.f);
        const uint32_t m = mat_plain(s, pale_colour(s), 0.5f);
        const float tilt = random_in(r, 0.1f, 1.1f);
        for (int i = 0; i < n; i++) {
            const float z = half_z - 2 * half_z * ((float)i + 0.5f) / (float)n;
            quad(s, node, m, rows_mul(rows_move(v3(0, -0.06f, z)), rows_turn(v3(1, 0, 0), tilt)),
                 half_x * 0.98f, pitch * 0.45f);
        }
    }
    if (random_chance(r, 0.5f)) { // curtains
        for (int side = -1; side <= 1; side += 2) {
            struct mesh mesh = {0};
            const float w = half_x * random_in(r, 0.35f, 0.7f), h = half_z * 2.4f;
            if (!mesh_cloth(&mesh, 28, 10, w, h))
                s->failed = true;
            const float folds = random_in(r, 18, 30);
            for (uint32_t i = 0; i < mesh.vertex_count; i++)
                mesh.position[i].z += 0.045f * sinf(mesh.position[i].x / w * folds);
            for (uint32_t i = 0; i < mesh.vertex_count; i++)
                mesh.rest[i] = mesh.position[i];
            mesh_smooth(&mesh);
            if (random_chance(r, 0.5f)) {
                mesh.deform = DEFORM_CLOTH;
                mesh.deform_size = 0.04f;
                mesh.deform_rate = random_in(r, 0.05f, 0.25f);
                mesh.deform_reach = w;
            }
            const struct rows local =
                rows_mul(upright(v3((float)side * half_x * 1.15f, -0.12f, -0.05f)),
                         rows_scale(v3(-(float)side, 1, 1)));
            const uint32_t m = mat_plain(s, palette_colour(s), 0.95f);
            material(s, m)->kind[2] |= SCENE_MATERIAL_THIN;
            mesh_item(s, node, m, scene_mesh(s, &mesh), local, 1);
        }
    }
}
