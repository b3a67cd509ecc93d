// SPDX-License-Identifier: MIT
#include "look.h"

void obj_building(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const float w = size * random_in(r, 0.3f, 0.5f), d = size * random_in(r, 0.3f, 0.45f);
    const float h = size * random_log(r, 0.35f, 1.1f);
    const bool night = s->sky.zenith.z < 0.1f;
    const float repeat = 1.f / random_in(r, 2.2f, 3.6f);
    const uint32_t m = mat_texture(s, SCENE_TEX_FACADE,
                                   random_chance(r, 0.6f) ? pale_colour(s) : palette_colour(s),
                                   v3(0.06f, 0.07f, 0.08f), repeat, 0.8f);
    if (!s->failed) {
        struct scene_material *f = &s->materials[m];
        f->detail[0] = random_in(r, 0, 0.15f);
        f->detail[1] = random_log(r, 0.3f, 2);
        if (night) {
            const float gain = random_in(r, 0.5f, 1.6f);
            const struct vec3 glow = mul(hsv(random_in(r, 0.08f, 0.14f), 0.4f, 1), gain);
            f->emission[0] = glow.x;
            f->emission[1] = glow.y;
            f->emission[2] = glow.z;
            f->kind[2] |= SCENE_MATERIAL_EMIT_TEX;
        }
    }
    box(s, node, m, v3(0, 0, h), v3(w, d, h));
    const uint32_t trim = mat_plaster(s);
    box(s, node, trim, v3(0, 0, 2 * h), v3(w * 1.02f, d * 1.02f, size * 0.01f))->occludes = false;
    const uint32_t base = random_chance(r, 0.5f) ? mat_bricks(s) : mat_stone(s);
    box(s, node, base, v3(0, 0, 0.5f), v3(w * 1.005f, d * 1.005f, 0.6f))->occludes = false;
    if (random_chance(r, 0.5f)) { // things on the roof
        const int n = random_int(r, 1, 3);
        for (int i = 0; i < n; i++) {
            const float x = w * random_in(r, -0.7f, 0.7f), y = d * random_in(r, -0.7f, 0.7f);
            box(s, node, trim, v3(x, y, 2 * h + size * 0.03f),
                v3(size * 0.04f, size * 0.03f, size * 0.05f))
                ->occludes = false;
            bar(s, node, mat_plain(s, dark_colour(s), 0.5f), v3(x, y + 1, 2 * h),
                v3(x, y + 1, 2 * h + size * 0.2f), 0.03f, 1);
        }
    }
}

void obj_house(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const float w = size * random_in(r, 0.35f, 0.5f), d = size * random_in(r, 0.28f, 0.4f),
                h = size * random_in(r, 0.2f, 0.3f);
    const uint32_t wall = random_chance(r, 0.5f) ? mat_bricks(s) : mat_plaster(s);
    const float repeat = random_in(r, 3, 6);
    const float value = random_in(r, 0.08f, 0.3f);
    const float saturation = random_in(r, 0.1f, 0.6f);
    const uint32_t roof =
        mat_texture(s, SCENE_TEX_BRICKS, hsv(random_in(r, 0, 0.08f), saturation, value),
                    v3(0.03f, 0.03f, 0.03f), repeat, 0.8f);
    box(s, node, wall, v3(0, 0, h), v3(w, d, h));
    // A prism as a mesh: two slopes and two gables.
    struct mesh mesh = {0};
    const float rise = h * random_in(r, 0.7f, 1.4f), over = 1.08f;
    const struct vec3 p[6] = {v3(-w * over, -d * over, 2 * h), v3(w * over, -d * over, 2 * h),
                              v3(w * over, d * over, 2 * h),   v3(-w * over, d * over, 2 * h),
                              v3(-w * over, 0, 2 * h + rise),  v3(w * over, 0, 2 * h + rise)};
    static const uint8_t faces[6][3] = {{0, 1, 5}, {0, 5, 4}, {2, 3, 4},
                                        {2, 4, 5}, {0, 4, 3}, {1, 2, 5}};
    bool ok = true;
    for (int i = 0; i < 6; i++)
        mesh_vertex(&mesh, p[i], v3(0, 0, 1), 0.5f);
    for (int i = 0; i < 6; i++)
        ok = ok && mesh_triangle(&mesh, faces[i][0], faces[i][1], faces[i][2]);
    if (!ok || !mesh_facet(&mesh))
        s->failed = true;
    mesh_item(s, node, roof, scene_mesh(s, &mesh), rows_identity(), 1);
    const uint32_t glass = mat_plain(s, v3(0.02f, 0.03f, 0.035f), 0.03f),
                   frame = mat_plain(s, v3(0.7f, 0.69f, 0.66f), 0.5f);
    const int n = random_int(r, 2, 4);
    for (int i = 0; i < n; i++) {
        const float x = w * (2.f * ((float)i + 0.5f) / (float)n - 1), q = size * 0.05f;
        if (i == n / 2) {
            box(s, node, mat_any(s), v3(x, -d, h * 0.7f), v3(q, size * 0.008f, h * 0.7f))
                ->occludes = false;
            continue;
        }
        box(s, node, frame, v3(x, -d, h * 1.1f), v3(q * 1.15f, size * 0.006f, q * 1.35f))
            ->occludes = false;
        box(s, node, glass, v3(x, -d, h * 1.1f), v3(q, size * 0.008f, q * 1.2f))->occludes = false;
        box(s, node, frame, v3(x, -d, h * 1.1f), v3(q * 0.06f, size * 0.009f, q * 1.2f))->occludes =
            false;
    }
    box(s, node, mat_bricks(s), v3(w * 0.5f, d * 0.3f, 2 * h + rise * 0.7f),
        v3(size * 0.04f, size * 0.04f, rise * 0.6f))
        ->occludes = false;
}

void obj_car(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const float roughness = random_log(r, 0.05f, 0.2f);
    const uint32_t paint =
        mat_plain(s, random_chance(r, 0.6f) ? palette_colour(s) : pale_colour(s), roughness);
    const uint32_t glass = mat_plain(s, v3(0.02f, 0.025f, 0.03f), 0.03f);
    const uint32_t rubber = mat_plain(s, v3(0.02f, 0.02f, 0.02f), 0.8f),
                   chrome = mat_metal(s, v3(0.8f, 0.8f, 0.8f), 0.15f);
    const float l = size * 0.5f, w = size * 0.2f, wheel = size * 0.078f, h = size * 0.075f;
    float drive = 0;
    if (random_chance(r, 0.75f)) {
        drive = natural_speed(s);
        drive *= random_log(r, 1, 4);
        drive *= random_sign(r);
    }
    if (!s->failed) {
        const struct rows *b = &s->nodes[node].base;
        s->nodes[node].velocity = mul(v3(b->m[0][0], b->m[1][0], b->m[2][0]), drive);
    }
    box(s, node, paint, v3(0, 0, wheel + h), v3(l, w, h));
    scene_item(s, node, SCENE_SHAPE_SPHERE, paint, rows_move(v3(l * 0.8f, 0, wheel + h)),
               v3(l * 0.28f, w * 0.98f, h));
    scene_item(s, node, SCENE_SHAPE_SPHERE, paint, rows_move(v3(-l * 0.85f, 0, wheel + h)),
               v3(l * 0.2f, w * 0.98f, h));
    struct mesh cabin = {0};
    const float profile[4][2] = {{-0.62f, 0}, {-0.42f, 1}, {0.18f, 1}, {0.46f, 0}};
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 4; i++) {
            const float y = w * (side ? 1.f : -1.f) * (profile[i][1] > 0 ? 0.78f : 0.95f);
            mesh_vertex(&cabin, v3(l * profile[i][0], y, wheel + 2 * h + profile[i][1] * h * 1.7f),
                        v3(0, 0, 1), 0.5f);
        }
    }
    static const uint8_t faces[10][3] = {{0, 1, 2}, {0, 2, 3}, {4, 6, 5}, {4, 7, 6}, {0, 4, 5},
                                         {0, 5, 1}, {1, 5, 6}, {1, 6, 2}, {2, 6, 7}, {2, 7, 3}};
    bool ok = true;
    for (int i = 0; i < 10; i++)
        ok = ok && mesh_triangle(&cabin, faces[i][0], faces[i][1], faces[i][2]);
    if (!ok || !mesh_facet(&cabin))
        s->failed = true;
    mesh_item(s, node, glass, scene_mesh(s, &cabin), rows_identity(), 1);
    box(s, node, paint, v3(-l * 0.12f, 0, wheel + 3.72f * h), v3(l * 0.31f, w * 0.79f, h * 0.06f))
        ->occludes = false;
    for (int i = 0; i < 4; i++) {
        const float x = l * (i & 1 ? 0.62f : -0.62f), y = w * (i & 2 ? 1.f : -1.f);
        const int32_t hub = scene_node(
            s, node, rows_mul(rows_move(v3(x, y, wheel)), rows_turn(v3(1, 0, 0), PI_F / 2)));
        if (!s->failed)
            s->nodes[hub].spin = -drive / wheel;
        bar(s, hub, rubber, v3(0, 0, -w * 0.16f), v3(0, 0, w * 0.16f), wheel, 1);
        bar(s, hub, chrome, v3(0, 0, -w * 0.17f), v3(0, 0, w * 0.17f), wheel * 0.5f, 1);
        for (int k = 0; k < 3; k++)
            scene_item(s, hub, SCENE_SHAPE_BOX, chrome, rows_turn(v3(0, 0, 1), PI_F * (float)k / 3),
                       v3(wheel * 0.85f, wheel * 0.09f, w * 0.168f));
    }
    const bool night = s->sky.zenith.z < 0.1f;
    for (int i = -1; i <= 1; i += 2) {
        const struct vec3 front = v3(l * 1.1f, (float)i * w * 0.65f, wheel + h),
                          back = v3(-l * 1.02f, (float)i * w * 0.7f, wheel + h);
        if (night) {
            glow_ball(s, node, front, size * 0.022f, v3(45, 41, 34));
            glow_ball(s, node, back, size * 0.018f, v3(14, 0.6f, 0.3f));
        } else {
            ball(s, node, chrome, front, size * 0.022f)->occludes = false;
            ball(s, node, mat_plain(s, v3(0.5f, 0.02f, 0.02f), 0.1f), back, size * 0.018f)
                ->occludes = false;
        }
    }
}

void obj_street_lamp(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t m = mat_plain(s, dark_colour(s), 0.35f);
    const float arm = size * random_in(r, 0.15f, 0.3f);
    bar(s, node, m, v3(0, 0, 0), v3(0, 0, size), size * 0.014f, 0.6f);
    bar(s, node, m, v3(0, 0, size), v3(arm, 0, size * 1.02f), size * 0.008f, 1);
    const bool night = s->sky.zenith.z < 0.1f;
    if (night) {
        const float gain = random_in(r, 60, 180);
        glow_ball(s, node, v3(arm, 0, size), size * 0.03f,
                  mul(hsv(random_in(r, 0.06f, 0.13f), 0.5f, 1), gain));
        if (!s->failed && random_chance(r, 0.2f))
            s->lamps[s->lamp_count - 1].flicker = random_in(r, 0.2f, 0.9f);
    } else {
        ball(s, node, mat_plain(s, v3(0.8f, 0.8f, 0.76f), 0.2f), v3(arm, 0, size), size * 0.03f)
            ->occludes = false;
    }
}

void obj_sign(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t pole = mat_metal(s, v3(0.5f, 0.5f, 0.5f), 0.5f);
    const float w = size * random_in(r, 0.2f, 0.5f), h = size * random_in(r, 0.12f, 0.3f),
                z = size * random_in(r, 0.6f, 1);
    const float letter = fmaxf(2 * h / (float)random_int(r, 2, 8), 0.8f * s->pixel);
    const bool night = s->sky.zenith.z < 0.1f;
    uint32_t face;
    if (night) {
        const float gain = random_in(r, 2, 9);
        const float saturation = random_in(r, 0.5f, 0.95f);
        const struct vec3 light = mul(hsv(random_unit(r), saturation, 1), gain);
        face = mat_glow(s, light, SCENE_TEX_TEXT, 1.f / letter);
    } else {
        face = mat_text(s, letter);
    }
    bar(s, node, pole, v3(0, 0, 0), v3(0, 0, z), size * 0.02f, 1);
    box(s, node, pole, v3(0, 0.002f * size, z), v3(w * 1.03f, size * 0.01f, h * 1.05f))->occludes =
        false;
    quad(s, node, face,
         rows_mul(rows_move(v3(0, -size * 0.0125f, z)), rows_turn(v3(1, 0, 0), PI_F / 2)), w, h);
}

void obj_person(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t skin =
        mat_plain(s, mul(v3(0.62f, 0.42f, 0.32f), random_in(r, 0.35f, 1.15f)), 0.6f);
    const uint32_t shirt = random_chance(r, 0.3f)
                               ? mat_motif(s, SCENE_TEX_STRIPES, random_in(r, 8, 20), 0.9f)
                               : mat_paint(s, 0.9f);
    const uint32_t legs = mat_plain(s, dark_colour(s), 0.9f),
                   hair = mat_plain(s, dark_colour(s), 0.6f);
    const float step = random_chance(r, 0.7f) ? random_in(r, 0.12f, 0.4f) : 0, h = size;
    if (!s->failed && step > 0) {
        const struct rows *b = &s->nodes[node].base;
        s->nodes[node].velocity = mul(v3(b->m[0][0], b->m[1][0], 0), natural_speed(s));
        s->nodes[node].hop = 0.015f * h;
        s->nodes[node].hop_rate = step;
    }
    ball(s, node, skin, v3(0, 0, h * 0.92f), h * 0.07f);
    ball(s, node, hair, v3(-h * 0.012f, 0, h * 0.945f), h * 0.068f)->occludes = false;
    bar(s, node, skin, v3(0, 0, h * 0.8f), v3(0, 0, h * 0.88f), h * 0.03f, 1);
    struct item *torso =
        scene_item(s, node, SCENE_SHAPE_CONE, shirt, rows_move(v3(0, 0, h * 0.66f)),
                   v3(h * 0.065f, h * 0.1f, h * 0.165f));
    torso->taper = 1.25f;
    torso->map = SCENE_MAP_CYLINDER;
    torso->occludes = true;
    scene_item(s, node, SCENE_SHAPE_SPHERE, shirt, rows_move(v3(0, 0, h * 0.815f)),
               v3(h * 0.08f, h * 0.125f, h * 0.05f));
    for (int i = 0; i < 4; i++) {
        const bool leg = i < 2;
        const float side = i & 1 ? 1.f : -1.f;
        const int32_t joint = scene_node(s, node,
                                         rows_move(leg ? v3(0, side * h * 0.055f, h * 0.5f)
                                                       : v3(0, side * h * 0.135f, h * 0.8f)));
        if (!s->failed) {
            s->nodes[joint].axis = v3(0, 1, 0);
            s->nodes[joint].rock = step > 0 ? 0.5f : random_in(r, 0, 0.1f);
            s->nodes[joint].rock_rate = step;
            s->nodes[joint].phase = (i == 1 || i == 2) ? PI_F : 0;
        }
        const float length = leg ? h * 0.48f : h * 0.34f, thick = leg ? h * 0.042f : h * 0.03f;
        bar(s, joint, leg ? legs : shirt, v3(0, 0, 0), v3(0, 0, -length), thick, 0.7f);
        if (leg)
            box(s, joint, hair, v3(h * 0.03f, 0, -length), v3(h * 0.065f, h * 0.03f, h * 0.02f))
                ->occludes = false;
        else
            ball(s, joint, skin, v3(0, 0, -length), thick)->occludes = false;
    }
}

void obj_wires(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t pole = mat_wood(s), wire = mat_plain(s, v3(0.02f, 0.02f, 0.02f), 0.5f);
    const float h = size * random_in(r, 0.5f, 0.7f), thin = s->pixel * random_log(r, 0.12f, 0.8f);
    const int n = random_int(r, 2, 5);
    for (int i = -1; i <= 1; i += 2) {
        bar(s, node, pole, v3((float)i * size, 0, 0), v3((float)i * size, 0, h * 1.05f),
            size * 0.012f, 0.8f);
        box(s, node, pole, v3((float)i * size, 0, h), v3(size * 0.01f, size * 0.1f, size * 0.01f))
            ->occludes = false;
    }
    for (int k = 0; k < n; k++) {
        const float y = size * 0.09f * (2.f * (float)k / (float)(n - 1) - 1),
                    sag = size * random_in(r, 0.03f, 0.08f);
        struct vec3 last = v3(-size, y, h);
        for (int i = 1; i <= 10; i++) {
            const float u = 2.f * (float)i / 10 - 1;
            const struct vec3 p = v3(size * u, y, h - sag * (1 - u * u));
            bar(s, node, wire, last, p, thin * 0.5f, 1);
            last = p;
        }
    }
}

void obj_mesh_fence(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    const uint32_t post = mat_metal(s, v3(0.5f, 0.52f, 0.52f), 0.5f);
    const float h = size * random_in(r, 0.3f, 0.5f),
                pitch = fmaxf(size * 0.02f, s->pixel * random_log(r, 1.2f, 8));
    const float threshold = random_in(r, 0.08f, 0.25f);
    const uint32_t m = mat_cut(s, random_chance(r, 0.7f) ? SCENE_CUT_MESH : SCENE_CUT_SLATS,
                               v3(0.35f, 0.36f, 0.36f), 1.f / pitch, threshold);
    quad(s, node, m, rows_mul(rows_move(v3(0, 0, h / 2)), rows_turn(v3(1, 0, 0), PI_F / 2)), size,
         h / 2);
    for (int i = -2; i <= 2; i++)
        bar(s, node, post, v3(size * 0.5f * (float)i, 0, 0),
            v3(size * 0.5f * (float)i, 0, h * 1.03f), size * 0.01f, 1);
    bar(s, node, post, v3(-size, 0, h), v3(size, 0, h), size * 0.007f, 1);
}

void obj_flag(struct scene *s, int32_t node, float size)
{
    struct random *r = &s->rng;
    struct mesh mesh = {0};
    const float w = size * random_in(r, 0.45f, 0.7f), h = size * random_in(r, 0.25f, 0.4f);
    if (!mesh_cloth(&mesh, 30, 12, w, h))
        s->failed = true;
    mesh.deform = DEFORM_CLOTH;
    mesh.deform_size = size * random_in(r, 0.04f, 0.1f);
    mesh.deform_rate = random_log(r, 0.08f, 0.7f);
    mesh.deform_reach = w;
    static const uint32_t kinds[] = {SCENE_TEX_STRIPES, SCENE_TEX_CHECKER, SCENE_TEX_PLAID,
                                     SCENE_TEX_TEXT, SCENE_TEX_DOTS};
    const float repeat = random_in(r, 3, 9) / h;
    const struct vec3 b = palette_colour(s);
    const struct vec3 a = palette_colour(s);
    const uint32_t m = mat_texture(s, kinds[random_int(r, 0, 4)], a, b, repeat, 0.9f);
    material(s, m)->kind[2] |= SCENE_MATERIAL_THIN;
    struct item *cloth = mesh_item(
        s, node, m, scene_mesh(s, &mesh),
        rows_mul(rows_move(v3(0, 0, size - h * 0.5f)), rows_turn(v3(1, 0, 0), PI_F / 2)), 1);
    cloth->map = SCENE_MAP_XY;
    bar(s, node, mat_metal(s, v3(0.7f, 0.7f, 0.7f), 0.3f), v3(0, 0, 0), v3(0, 0, size * 1.05f),
        size * 0.012f, 0.7f);
}
