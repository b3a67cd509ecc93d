// SPDX-License-Identifier: MIT
#include "look.h"

static void sway(struct scene *s, struct mesh *mesh, float size, float reach)
{
    struct random *r = &s->rng;
    if (mesh->vertex_count > 4000 || random_chance(r, 0.4f))
        return;
    mesh->deform = DEFORM_SWAY;
    mesh->deform_size = size;
    mesh->deform_rate = random_in(r, 0.05f, 0.35f);
    mesh->deform_phase = random_in(r, 0, 6);
    mesh->deform_reach = reach;
}

/** A crown of unit size; trees of one scene share a few. */
static int32_t crown_mesh(struct scene *s, float leaf, bool cone)
{
    struct random *r = &s->rng;
    uint32_t *count = &s->crown_count[cone];
    int32_t *crowns = s->crowns + (cone ? 4 : 0);
    if (*count && random_chance(r, (float)*count / 4.f))
        return crowns[random_int(r, 0, (int)*count - 1)];
    struct mesh mesh = {0};
    const float leaves = clampf(random_in(r, 6.f, 11.f) / (leaf * leaf), 200, 2000);
    if (!mesh_crown(&mesh, r, (uint32_t)leaves, leaf, cone))
        s->failed = true;
    sway(s, &mesh, random_in(r, 0.01f, 0.04f), 1);
    crowns[*count] = scene_mesh(s, &mesh);
    return crowns[(*count)++];
}

/** Foliage as one body with few faces, or as cones upon each other. */
static void solid_crown(struct scene *s, int32_t node, uint32_t m, struct vec3 p, struct vec3 half,
                        bool cone)
{
    struct random *r = &s->rng;
    if (!cone) {
        struct mesh mesh = {0};
        const float rough = random_in(r, 0.2f, 0.6f);
        if (!mesh_rock(&mesh, random_bits(r), rough, 0) || !mesh_facet(&mesh))
            s->failed = true;
        const struct rows local =
            rows_mul(rows_move(p), rows_turn(v3(0, 0, 1), random_in(r, 0, 6)));
        mesh_item(s, node, m, scene_mesh(s, &mesh), local, 1)->half = half;
        return;
    }
    const uint32_t sides = (uint32_t)random_int(r, 5, 9), tiers = (uint32_t)random_int(r, 2, 5);
    for (uint32_t i = 0; i < tiers; i++) {
        const float low = (float)i / (float)tiers, wide = 1 - 0.8f * low;
        const float profile[3][2] = {{0, 0}, {wide, 0}, {0.12f * wide, 1.5f / (float)tiers}};
        struct mesh mesh = {0};
        if (!mesh_lathe(&mesh, profile, 3, sides) || !mesh_facet(&mesh))
            s->failed = true;
        const struct vec3 at = v3(p.x, p.y, p.z + half.z * (2 * low - 1));
        const struct rows local =
            rows_mul(rows_move(at), rows_turn(v3(0, 0, 1), random_in(r, 0, 6)));
        mesh_item(s, node, m, scene_mesh(s, &mesh), local, 1)->half =
            v3(half.x, half.y, 2 * half.z);
    }
}

static void crown(struct scene *s, int32_t node, uint32_t m, struct vec3 p, struct vec3 half,
                  bool cone)
{
    struct random *r = &s->rng;
    if (s->simple) {
        solid_crown(s, node, m, p, half, cone);
        return;
    }
    const float wide = fmaxf(half.x, half.z), fine = 0.07f * random_in(r, 0.7f, 1.6f);
    const float leaf = clampf(fmaxf(fine, 0.8f * s->pixel / wide), 0.05f, 0.3f);
    const struct rows local = rows_mul(rows_move(p), rows_turn(v3(0, 0, 1), random_in(r, 0, 6)));
    mesh_item(s, node, m, crown_mesh(s, leaf, cone), local, 1)->half = half;
}

void obj_tree(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const float value = random_in(r, 0.05f, 0.2f);
    const float saturation = random_in(r, 0.2f, 0.5f);
    const struct vec3 brown = hsv(random_in(r, 0.04f, 0.1f), saturation, value);
    const uint32_t bark = mat_texture(s, SCENE_TEX_NOISE, brown, mul(brown, 0.5f), 12, 0.95f);
    const float trunk = size * random_in(r, 0.3f, 0.5f), thick = size * random_in(r, 0.02f, 0.04f);
    const float y = size * random_in(r, -0.06f, 0.06f);
    const struct vec3 lean = v3(size * random_in(r, -0.06f, 0.06f), y, trunk);
    bar(s, node, bark, v3(0, 0, 0), lean, thick, 0.6f);
    const uint32_t leaf = mat_leaf(s);
    const int crowns = random_int(r, 2, 5);
    for (int i = 0; i < crowns; i++) {
        const float w = size * random_in(r, 0.17f, 0.33f);
        const float z = w * random_in(r, 0.4f, 0.9f);
        const float offset_y = size * random_in(r, -0.24f, 0.24f) * (float)(i > 0);
        const struct vec3 p =
            add(lean, v3(size * random_in(r, -0.24f, 0.24f) * (float)(i > 0), offset_y, z));
        bar(s, node, bark, mul(lean, 0.8f), p, thick * 0.4f, 0.3f);
        crown(s, node, leaf, p, v3(w, w, w * random_in(r, 0.7f, 1)), false);
    }
}

void obj_conifer(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t bark = mat_plain(s, v3(0.12f, 0.08f, 0.05f), 0.95f);
    const uint32_t leaf = mat_leaf(s);
    if (!s->failed) {
        const float value = random_in(r, 0.06f, 0.16f);
        const float saturation = random_in(r, 0.35f, 0.6f);
        const struct vec3 c = hsv(random_in(r, 0.25f, 0.38f), saturation, value);
        s->materials[leaf].a[0] = c.x;
        s->materials[leaf].a[1] = c.y;
        s->materials[leaf].a[2] = c.z;
    }
    const float w = size * random_in(r, 0.18f, 0.28f), low = size * random_in(r, 0.05f, 0.2f);
    bar(s, node, bark, v3(0, 0, 0), v3(0, 0, size * 0.9f), size * 0.02f, 0.2f);
    crown(s, node, leaf, v3(0, 0, low + (size - low) / 2), v3(w, w, (size - low) / 2), true);
    struct item *core = bar(s, node, mat_plain(s, v3(0.02f, 0.035f, 0.02f), 1), v3(0, 0, low),
                            v3(0, 0, size * 0.9f), w * 0.55f, 0.05f);
    core->occludes = true;
}

void obj_bush(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const float w = size * random_in(r, 0.35f, 0.5f), h = size * random_in(r, 0.25f, 0.45f);
    const struct vec3 half = v3(w, w * random_in(r, 0.7f, 1), h);
    crown(s, node, mat_leaf(s), v3(0, 0, h * 0.9f), half, false);
}

void obj_rock(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    struct mesh mesh = {0};
    const float rough = random_in(r, 0.35f, 0.8f);
    if (!mesh_rock(&mesh, random_bits(r), rough, s->simple ? 0 : 2))
        s->failed = true;
    for (uint32_t i = 0; i < mesh.vertex_count; i++)
        mesh.position[i] = mesh.rest[i] =
            scale3(mesh.position[i], v3(size * 0.5f, size * 0.4f, size * 0.32f));
    mesh_smooth(&mesh);
    if (s->simple && !mesh_facet(&mesh))
        s->failed = true;
    const int32_t index = scene_mesh(s, &mesh);
    mesh_item(s, node, mat_stone(s), index, rows_move(v3(0, 0, size * 0.12f)), 1);
}

/** Foliage as in games: cards with cut-out leaves. */
void obj_card_plant(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t leaf = mat_leaf(s);
    if (!s->failed) {
        s->materials[leaf].kind[1] = SCENE_CUT_LEAVES;
        s->materials[leaf].more[1] =
            1.f / fmaxf(size * random_in(r, 0.05f, 0.14f), 1.5f * s->pixel);
        s->materials[leaf].more[2] = random_in(r, 0.55f, 0.9f);
    }
    const int n = random_int(r, 5, 12);
    for (int i = 0; i < n; i++) {
        const struct rows tilt = rows_turn(v3(1, 0, 0), PI_F / 2 + random_in(r, -0.5f, 0.5f));
        const struct rows turn = rows_mul(rows_turn(v3(0, 0, 1), random_in(r, 0, PI_F)), tilt);
        const float w = size * random_in(r, 0.25f, 0.45f), h = size * random_in(r, 0.25f, 0.5f);
        const float y = size * random_in(r, -0.2f, 0.2f);
        const struct vec3 p = v3(size * random_in(r, -0.2f, 0.2f), y, h);
        quad(s, node, leaf, rows_mul(rows_move(p), turn), w, h);
    }
}

void obj_grass(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    struct mesh mesh = {0};
    const float height = size * random_in(r, 0.15f, 0.4f);
    const float wide = fmaxf(height * 0.05f, s->pixel * random_log(r, 0.3f, 1.5f));
    const uint32_t blades = (uint32_t)random_int(r, 120, 400);
    if (!mesh_grass(&mesh, r, blades, size * 0.5f, height, wide))
        s->failed = true;
    sway(s, &mesh, height * random_in(r, 0.05f, 0.3f), height);
    const uint32_t m = mat_leaf(s);
    const int32_t index = scene_mesh(s, &mesh);
    mesh_item(s, node, m, index, rows_identity(), 1);
    for (int i = random_int(r, 0, 5); i > 0; i--) { // the same tuft again near by
        const struct rows turn = rows_turn(v3(0, 0, 1), random_in(r, 0, 6));
        const float y = size * random_in(r, -1.2f, 1.2f);
        const struct rows place =
            rows_mul(rows_move(v3(size * random_in(r, -1.2f, 1.2f), y, 0)), turn);
        mesh_item(s, node, m, index, place, 1);
    }
}

void obj_flowers(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t stem = mat_leaf(s);
    const float value = random_in(r, 0.4f, 0.85f);
    const float saturation = random_in(r, 0.5f, 0.9f);
    const uint32_t bloom = mat_plain(s, hsv(random_unit(r), saturation, value), 0.7f);
    const uint32_t heart = mat_plain(s, v3(0.7f, 0.5f, 0.08f), 0.8f);
    const int n = random_int(r, 4, 12), petals = random_int(r, 5, 8);
    for (int i = 0; i < n; i++) {
        const float x = size * random_in(r, -0.5f, 0.5f), y = size * random_in(r, -0.5f, 0.5f);
        const float h = size * random_in(r, 0.3f, 0.7f), q = size * random_in(r, 0.04f, 0.08f);
        const struct vec3 top = v3(x + size * random_in(r, -0.06f, 0.06f), y, h);
        bar(s, node, stem, v3(x, y, 0), top, size * 0.008f, 1);
        ball(s, node, heart, top, q * 0.45f)->occludes = false;
        for (int k = 0; k < petals; k++) {
            const float a = 2 * PI_F * (float)k / (float)petals;
            const struct vec3 d = v3(cosf(a), sinf(a), 0.25f);
            struct item *petal =
                scene_item(s, node, SCENE_SHAPE_SPHERE, bloom,
                           rows_mul(rows_move(add(top, mul(d, q * 0.9f))), rows_align(d)),
                           v3(q * 0.35f, q * 0.12f, q * 0.55f));
            petal->occludes = false;
        }
    }
}

void obj_fence(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t m = random_chance(r, 0.5f) ? mat_wood(s) : mat_plain(s, pale_colour(s), 0.7f);
    const float h = size * random_in(r, 0.25f, 0.45f), pitch = size * random_log(r, 0.03f, 0.12f);
    const float w = pitch * random_in(r, 0.15f, 0.42f);
    const int n = (int)clampf(2 * size / pitch, 4, 70);
    const bool picket = random_chance(r, 0.6f);
    for (int i = 0; i < n; i++) {
        const float x = -size + 2 * size * ((float)i + 0.5f) / (float)n;
        if (picket)
            box(s, node, m, v3(x, 0, h / 2), v3(w, size * 0.008f, h / 2))->occludes = false;
        else
            bar(s, node, m, v3(x, 0, 0), v3(x, 0, h), w * 0.6f, 1);
    }
    for (int i = 0; i < 2; i++)
        box(s, node, m, v3(0, size * 0.012f, h * (i ? 0.8f : 0.25f)),
            v3(size, size * 0.01f, h * 0.04f))
            ->occludes = i;
}

void obj_bench(struct scene *s, int32_t node, float size)
{
    const uint32_t m = mat_wood(s), iron = mat_plain(s, dark_colour(s), 0.4f);
    const float w = size * 0.5f, h = size * 0.26f;
    for (int i = 0; i < 4; i++)
        box(s, node, m, v3(0, size * (-0.12f + 0.075f * (float)i), h),
            v3(w, size * 0.03f, size * 0.012f))
            ->occludes = i == 1;
    for (int i = 0; i < 3; i++)
        box(s, node, m, v3(0, size * 0.16f, h + size * (0.1f + 0.075f * (float)i)),
            v3(w, size * 0.01f, size * 0.03f))
            ->occludes = false;
    for (int i = -1; i <= 1; i += 2) {
        const float x = (float)i * w * 0.85f;
        bar(s, node, iron, v3(x, -size * 0.14f, 0), v3(x, -size * 0.14f, h), size * 0.015f, 1);
        bar(s, node, iron, v3(x, size * 0.15f, 0), v3(x, size * 0.18f, h + size * 0.28f),
            size * 0.015f, 1);
        bar(s, node, iron, v3(x, -size * 0.14f, h - size * 0.03f),
            v3(x, size * 0.15f, h - size * 0.03f), size * 0.015f, 1);
    }
}
