// SPDX-License-Identifier: MIT
/** Scenes under the sky. */
#include "look.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static void ground(struct scene *s, uint32_t m, float size)
{
    const int32_t node = scene_place(s, -1, v3(0, 0, 0), 0);
    quad(s, node, m, rows_identity(), size, size);
}

/** Something large that passes close to the camera now and then. */
static void foreground(struct scene *s, float yaw, float probability)
{
    struct random *r = &s->rng;
    if (!random_chance(r, probability))
        return;
    static object_fn *const things[] = {obj_column,     obj_person,      obj_tree,
                                        obj_sign,       obj_street_lamp, obj_bush,
                                        obj_mesh_fence, obj_card_plant};
    const float d = s->distance * random_in(r, 0.35f, 0.7f),
                side = random_in(r, -0.6f, 0.6f) * s->distance * 0.3f;
    const struct vec3 p =
        v3(-d * cosf(yaw) - side * sinf(yaw), -d * sinf(yaw) + side * cosf(yaw), 0);
    const int32_t node = scene_place(s, -1, p, yaw - PI_F / 2);
    if (!s->failed && random_chance(r, 0.5f)) {
        float speed = natural_speed(s) * 2;
        speed *= random_sign(r);
        s->nodes[node].velocity = v3(-sinf(yaw) * speed, cosf(yaw) * speed, 0);
    }
    const int which = random_int(r, 0, COUNT(things) - 1);
    things[which](s, node, random_in(r, 1.4f, 2.2f));
}

static void street_parts(struct scene *s, int32_t world, float half)
{
    struct random *r = &s->rng;
    const uint32_t road = mat_texture(s, SCENE_TEX_ROAD, v3(0.07f, 0.07f, 0.075f),
                                      v3(0.6f, 0.59f, 0.54f), 1, random_in(r, 0.5f, 0.9f));
    material(s, road)->pattern[2] = half * 0.09f;
    quad(s, world, road, rows_identity(), 150, half);
    const uint32_t walk = mat_texture(s, SCENE_TEX_TILES, v3(0.34f, 0.33f, 0.31f),
                                      v3(0.16f, 0.16f, 0.15f), random_in(r, 0.8f, 2), 0.9f),
                   kerb = mat_stone(s);
    for (int side = -1; side <= 1; side += 2) {
        box(s, world, walk, v3(0, (float)side * (half + 2.2f), 0.02f), v3(150, 2, 0.1f))->occludes =
            false;
        box(s, world, kerb, v3(0, (float)side * (half + 0.12f), 0.02f), v3(150, 0.1f, 0.11f))
            ->occludes = false;
        float x = -45;
        while (x < 90) {
            const float size = random_in(r, 12, 26);
            const int32_t node = scene_place(
                s, world, v3(x + size * 0.5f, (float)side * (half + 4.4f + size * 0.36f), 0),
                side > 0 ? 0 : PI_F);
            if (random_chance(r, 0.88f))
                obj_building(s, node, size);
            else
                obj_tree(s, node, 7);
            x += size * random_in(r, 0.85f, 1.15f);
        }
        static object_fn *const furniture[] = {obj_street_lamp, obj_tree, obj_sign, obj_bench,
                                               obj_person,      obj_bush, obj_flag, obj_person,
                                               obj_mesh_fence,  obj_tree};
        static const float sizes[] = {5, 5.5f, 2.6f, 1.8f, 1.75f, 1.4f, 4, 1.7f, 2.5f, 6};
        for (int i = random_int(r, 5, 9); i > 0; i--) {
            const int k = random_int(r, 0, COUNT(furniture) - 1);
            const float turn = k == 4 || k == 7 ? (random_chance(r, 0.5f) ? 0 : PI_F)
                               : side > 0       ? 0
                                                : PI_F;
            const float y = (float)side * (half + random_in(r, 0.6f, 3.4f));
            const int32_t node = scene_place(s, world, v3(random_in(r, -8, 26), y, 0.12f),
                                             k == 0 ? -(float)side * PI_F / 2 : turn);
            furniture[k](s, node, sizes[k] * random_in(r, 0.85f, 1.15f));
        }
    }
    for (int i = random_int(r, 1, 4); i > 0; i--) {
        const float side = random_sign(r);
        const float y = side * half * random_in(r, 0.35f, 0.6f);
        const int32_t node =
            scene_place(s, world, v3(random_in(r, -4, 22), y, 0), side > 0 ? PI_F : 0);
        obj_car(s, node, random_in(r, 3.8f, 4.8f));
    }
    if (random_chance(r, 0.4f)) {
        const float width = random_in(r, 9, 14);
        const float yaw = random_chance(r, 0.5f) ? 0.2f : 1.4f;
        obj_wires(s, scene_place(s, world, v3(random_in(r, 0, 14), 0, 0), yaw), width);
    }
}

/** Along the road, across it from the other side, or up at the houses. */
static void street_view(struct scene *s, float yaw, float half)
{
    struct random *r = &s->rng;
    const float side = random_sign(r), pick = random_unit(r);
    const struct vec3 along = v3(cosf(yaw), sinf(yaw), 0), across = v3(-sinf(yaw), cosf(yaw), 0);
    struct shot *shot = look_shot(s, v3(0, 0, 1.5f), yaw, 0);
    float x = random_in(r, -6, 2), y = side * half * random_in(r, 0, 1.3f);
    float to_x = x + s->distance, to_y = random_in(r, -1, 1) * half, to_z = random_in(r, 1, 3);
    if (pick > 0.45f) {
        y = side * (half + random_in(r, 0.5f, 3));
        to_y = -side * (half + random_in(r, 0, 4));
        to_x = x + (y - to_y) * side * random_in(r, -1.2f, 1.2f);
        to_z = pick > 0.85f ? random_in(r, 3, 8) : random_in(r, 0.8f, 2);
    }
    shot->eye = add(add(mul(along, x), mul(across, y)), v3(0, 0, random_in(r, 1.1f, 2.2f)));
    shot->target = add(add(mul(along, to_x), mul(across, to_y)), v3(0, 0, to_z));
}

void street(struct scene *s)
{
    struct random *r = &s->rng;
    const float yaw = random_in(r, 0, 2 * PI_F);
    const float sun_turn = random_in(r, 0, 2 * PI_F);
    look_weather(s, random_weather(s), sun_turn);
    const float fov = random_log(r, 0.35f, 0.95f);
    look_lens(s, random_log(r, 9, 20), fov);
    const float half = random_in(r, 3, 5);
    ground(s, mat_grass(s), 500);
    s->nodes[0].base.m[2][3] = -0.05f;
    const int32_t world = scene_place(s, -1, v3(0, 0, 0), yaw);
    street_parts(s, world, half);
    foreground(s, yaw, 0.2f);
    street_view(s, yaw, half);
    struct shot *shot = &s->shots[0];
    camera_move(s, shot);
    look_expose(s, random_in(r, 0.14f, 0.24f));
}

void night_street(struct scene *s)
{
    struct random *r = &s->rng;
    const float yaw = random_in(r, 0, 2 * PI_F);
    look_weather(s, WEATHER_NIGHT, random_in(r, 0, 6));
    const float fov = random_log(r, 0.45f, 0.9f);
    look_lens(s, random_log(r, 8, 14), fov);
    const float half = random_in(r, 3, 4.5f);
    ground(s, mat_plain(s, v3(0.03f, 0.03f, 0.03f), 0.8f), 500);
    s->nodes[0].base.m[2][3] = -0.05f;
    const int32_t world = scene_place(s, -1, v3(0, 0, 0), yaw);
    street_parts(s, world, half);
    for (uint32_t i = 0; !s->failed && i < s->material_count; i++) { // wet
        if (s->materials[i].kind[0] == SCENE_TEX_ROAD)
            s->materials[i].a[3] = random_log(r, 0.06f, 0.4f);
    }
    for (int i = 0; i < 6; i++) {
        const float side = i & 1 ? 1.f : -1.f;
        const int32_t lamp = scene_place(
            s, world, v3(-6 + 7.f * (float)(i / 2), side * (half + 0.5f), 0.1f), -side * PI_F / 2);
        obj_street_lamp(s, lamp, 5);
    }
    for (int i = random_int(r, 2, 6); i > 0; i--) { // neon
        const float side = random_sign(r), x = random_in(r, -2, 18), z = random_in(r, 2.4f, 5);
        const float gain = random_in(r, 4, 14);
        const float saturation = random_in(r, 0.7f, 1);
        const struct vec3 light = mul(hsv(random_unit(r), saturation, 1), gain);
        const struct rows local =
            rows_mul(rows_move(v3(x, side * (half + 3.9f), z)), rows_turn(v3(1, 0, 0), PI_F / 2));
        if (random_chance(r, 0.5f)) {
            const float half_y = random_in(r, 0.05f, 0.4f);
            glow_quad(s, world, local, random_in(r, 0.3f, 1.2f), half_y, light);
        } else {
            const float w = random_in(r, 0.6f, 1.8f), h = random_in(r, 0.25f, 0.7f);
            struct item *item =
                quad(s, world, mat_glow(s, light, SCENE_TEX_TEXT, 1.f / fmaxf(h / 1.5f, s->pixel)),
                     local, w, h);
            (void)item;
        }
    }
    s->sky.ambient_up = mul(v3(0.5f, 0.6f, 1), random_in(r, 0.015f, 0.05f));
    s->sky.ambient_down = mul(v3(1, 0.7f, 0.45f), random_in(r, 0.015f, 0.05f));
    street_view(s, yaw, half);
    struct shot *shot = &s->shots[0];
    camera_move(s, shot);
    look_expose(s, random_in(r, 0.1f, 0.18f));
}

static void scatter(struct scene *s, object_fn *const *things, const float *sizes, int thing_count,
                    int count, float near, float far, float spread_angle, float yaw,
                    uint32_t terrain, float height, float flat)
{
    struct random *r = &s->rng;
    // Plain things: more of them.
    for (int i = 0; i < (s->simple ? 5 * count / 2 : count); i++) {
        const float d = near + (far - near) * sqrtf(random_unit(r)),
                    a = yaw + random_in(r, -spread_angle, spread_angle);
        const struct vec3 p = v3(d * cosf(a) - s->distance * 0.6f * cosf(yaw),
                                 d * sinf(a) - s->distance * 0.6f * sinf(yaw), 0);
        const float z = height > 0 ? terrain_height(terrain, p.x, p.y, height, flat) : 0;
        const int k = random_int(r, 0, thing_count - 1);
        const float size = sizes[k] * random_in(r, 0.7f, 1.35f);
        things[k](s, scene_place(s, -1, v3(p.x, p.y, z - 0.03f), random_in(r, 0, 6)), size);
    }
}

void garden(struct scene *s)
{
    struct random *r = &s->rng;
    const float yaw = random_in(r, 0, 2 * PI_F);
    const float sun_turn = random_in(r, 0, 2 * PI_F);
    look_weather(s, random_weather(s), sun_turn);
    const float fov = random_log(r, 0.4f, 0.9f);
    look_lens(s, random_log(r, 3.5f, 9), fov);
    const uint32_t terrain = random_bits(r);
    const float height = random_in(r, 0.5f, 4), flat = 6;
    struct mesh mesh = {0};
    if (!mesh_terrain(&mesh, terrain, s->simple ? 28 : 56, 220, height, flat) ||
        (s->simple && !mesh_facet(&mesh)))
        s->failed = true;
    const int32_t land = scene_place(s, -1, v3(0, 0, 0), 0);
    const int32_t index = scene_mesh(s, &mesh);
    mesh_item(s, land, mat_grass(s), index, rows_identity(), 1);
    static object_fn *const back[] = {obj_tree, obj_conifer, obj_tree,
                                      obj_bush, obj_house,   obj_tree};
    static const float back_sizes[] = {6, 8, 5, 2.2f, 9, 7};
    static object_fn *const near[] = {obj_bush,       obj_rock,  obj_flowers, obj_grass,
                                      obj_card_plant, obj_fence, obj_bench,   obj_grass,
                                      obj_flowers,    obj_vase,  obj_person};
    static const float near_sizes[] = {1.3f, 0.8f, 0.9f, 0.7f, 1.1f, 2.2f,
                                       1.7f, 0.8f, 0.7f, 0.8f, 1.7f};
    scatter(s, back, back_sizes, COUNT(back), random_int(r, 6, 12), s->distance * 1.5f,
            s->distance * 7, 0.8f, yaw, terrain, height, flat);
    scatter(s, near, near_sizes, COUNT(near), random_int(r, 8, 15), s->distance * 0.35f,
            s->distance * 1.7f, 0.55f, yaw, terrain, height, flat);
    if (random_chance(r, 0.35f)) { // a pond
        const float y = random_in(r, -0.5f, 0.5f);
        const int32_t node = scene_place(s, -1, v3(random_in(r, -0.5f, 0.5f), y, 0.06f), 0);
        const float wide = random_in(r, 1, 2.5f);
        const struct vec3 half = v3(random_in(r, 1, 2.5f), wide, 1);
        scene_item(s, node, SCENE_SHAPE_DISC, mat_water(s), rows_identity(), half)->map =
            SCENE_MAP_XY;
    }
    if (random_chance(r, 0.3f)) { // a path of slabs
        const uint32_t slab = mat_stone(s);
        for (int i = -6; i < 10; i++) {
            const struct vec3 p =
                v3(0.75f * (float)i * cosf(yaw + 0.4f), 0.75f * (float)i * sinf(yaw + 0.4f), 0);
            const int32_t node = scene_place(
                s, -1, v3(p.x, p.y, terrain_height(terrain, p.x, p.y, height, flat) + 0.01f),
                random_in(r, 0, 6));
            const float wide = random_in(r, 0.18f, 0.28f);
            const struct vec3 half = v3(random_in(r, 0.2f, 0.32f), wide, 0.04f);
            box(s, node, slab, v3(0, 0, 0), half)->occludes = false;
        }
    }
    foreground(s, yaw, 0.3f);
    if (random_chance(r, 0.15f))
        particles(s, v3(0, 0, 1), s->distance * 0.6f, random_int(r, 30, 120));
    const float pitch = random_log(r, 0.05f, 0.4f);
    const float shot_yaw = yaw + random_in(r, -0.2f, 0.2f);
    struct shot *shot = look_shot(s, v3(0, 0, random_in(r, 0.4f, 1.1f)), shot_yaw, pitch);
    const float floor_z = terrain_height(terrain, shot->eye.x, shot->eye.y, height, flat);
    shot->eye.z = fmaxf(shot->eye.z, floor_z + random_in(r, 0.4f, 1.6f));
    camera_move(s, shot);
    look_expose(s, random_in(r, 0.13f, 0.22f));
}

void landscape(struct scene *s)
{
    struct random *r = &s->rng;
    const float yaw = random_in(r, 0, 2 * PI_F);
    const float sun_turn = yaw + random_in(r, -1.6f, 1.6f);
    look_weather(s, random_weather(s), sun_turn);
    const float fov = random_log(r, 0.4f, 0.9f);
    look_lens(s, random_log(r, 14, 32), fov);
    s->sky.fog_density = random_log(r, 0.0006f, 0.004f);
    const uint32_t terrain = random_bits(r);
    const float height = random_log(r, 10, 60), flat = random_in(r, 10, 22);
    struct mesh mesh = {0};
    if (!mesh_terrain(&mesh, terrain, s->simple ? 48 : 96, 420, height, flat) ||
        (s->simple && !mesh_facet(&mesh)))
        s->failed = true;
    const int32_t land = scene_place(s, -1, v3(0, 0, 0), 0);
    const uint32_t m = mat_grass(s);
    if (!s->failed) {
        s->materials[m].pattern[0] = random_log(r, 0.15f, 0.6f);
        if (random_chance(r, 0.3f)) { // desert or snow
            const struct vec3 c =
                random_chance(r, 0.5f) ? v3(0.5f, 0.36f, 0.22f) : v3(0.75f, 0.77f, 0.8f);
            for (int k = 0; k < 3; k++) {
                s->materials[m].a[k] = k == 0 ? c.x : k == 1 ? c.y : c.z;
                s->materials[m].b[k] = s->materials[m].a[k] * 0.8f;
            }
        }
        s->materials[m].detail[2] = random_in(r, 0, 0.25f);
        s->materials[m].detail[3] = random_log(r, 0.2f, 2);
    }
    mesh_item(s, land, m, scene_mesh(s, &mesh), rows_identity(), 1);
    const float level = random_in(r, -0.03f, 0.02f) * height;
    if (random_chance(r, 0.55f)) {
        const uint32_t material = mat_water(s);
        quad(s, scene_place(s, -1, v3(0, 0, level), 0), material, rows_identity(), 420, 420);
    }
    static object_fn *const things[] = {obj_conifer, obj_tree, obj_rock,
                                        obj_conifer, obj_bush, obj_house};
    static const float sizes[] = {8, 6, 2, 10, 2, 8};
    scatter(s, things, sizes, COUNT(things), random_int(r, 8, 20), s->distance * 0.4f,
            s->distance * 4, 0.6f, yaw, terrain, height, flat);
    foreground(s, yaw, 0.15f);
    const float pitch = random_in(r, 0.02f, 0.22f);
    struct shot *shot = look_shot(s, v3(0, 0, random_in(r, 1, 4)), yaw, pitch);
    const float floor_z =
        fmaxf(terrain_height(terrain, shot->eye.x, shot->eye.y, height, flat), level);
    shot->eye.z = fmaxf(shot->eye.z, floor_z + random_in(r, 1.2f, 5));
    camera_move(s, shot);
    look_expose(s, random_in(r, 0.14f, 0.22f));
}

void yard(struct scene *s)
{
    struct random *r = &s->rng;
    const float yaw = random_in(r, 0, 2 * PI_F);
    const float sun_turn = random_in(r, 0, 2 * PI_F);
    look_weather(s, random_weather(s), sun_turn);
    const float fov = random_log(r, 0.4f, 0.9f);
    look_lens(s, random_log(r, 5, 11), fov);
    uint32_t floor_m;
    if (random_chance(r, 0.5f)) {
        floor_m = mat_stone(s);
    } else {
        const float roughness = random_in(r, 0.3f, 0.9f);
        floor_m = mat_texture(s, SCENE_TEX_TILES, v3(0.3f, 0.29f, 0.27f), v3(0.1f, 0.1f, 0.1f),
                              random_in(r, 0.3f, 1), roughness);
    }
    ground(s, floor_m, 300);
    const int32_t world = scene_place(s, -1, v3(0, 0, 0), yaw);
    const uint32_t wall = random_chance(r, 0.5f)
                              ? mat_bricks(s)
                              : mat_motif(s, SCENE_TEX_STRIPES, random_in(r, 2, 8), 0.5f);
    const float far = s->distance * random_in(r, 0.5f, 0.9f), high = random_in(r, 2.5f, 6);
    box(s, world, wall, v3(far + 0.3f, 0, high), v3(0.3f, random_in(r, 5, 20), high));
    if (random_chance(r, 0.5f))
        box(s, world, mat_plaster(s), v3(0, far + 3, high * 0.8f), v3(far, 0.3f, high * 0.8f));
    static object_fn *const things[] = {
        obj_crate,  obj_barrel, obj_pipes, obj_truss,  obj_fan,  obj_stairs,     obj_mesh_fence,
        obj_barrel, obj_crate,  obj_car,   obj_person, obj_sign, obj_street_lamp};
    static const float sizes[] = {1.1f, 1.1f, 2, 2.2f, 1.8f, 2, 2.6f, 1.2f, 1.5f, 4, 1.75f, 2, 4};
    for (int i = random_int(r, 6, 11); i > 0; i--) {
        const int k = random_int(r, 0, COUNT(things) - 1);
        const float node_yaw =
            random_chance(r, 0.6f) ? (float)random_int(r, 0, 3) * PI_F / 2 : random_in(r, 0, 6);
        const float y = random_in(r, -0.5f, 0.5f) * s->distance;
        const int32_t node =
            scene_place(s, world, v3(random_in(r, -0.35f, 0.85f) * far, y, 0), node_yaw);
        things[k](s, node, sizes[k] * random_in(r, 0.8f, 1.2f));
    }
    foreground(s, yaw, 0.25f);
    if (random_chance(r, 0.25f))
        particles(s, v3(0, 0, 1), s->distance * 0.5f, random_int(r, 20, 120));
    const float pitch = random_log(r, 0.04f, 0.4f);
    const float shot_yaw = yaw + random_in(r, -0.4f, 0.4f);
    struct shot *shot = look_shot(s, v3(0, 0, random_in(r, 0.6f, 1.6f)), shot_yaw, pitch);
    shot->eye.z = fmaxf(shot->eye.z, 0.6f);
    camera_move(s, shot);
    look_expose(s, random_in(r, 0.14f, 0.24f));
}

void floating(struct scene *s)
{
    struct random *r = &s->rng;
    const float sun_turn = random_in(r, 0, 2 * PI_F);
    look_weather(s, random_weather(s), sun_turn);
    const float fov = random_in(r, 0.5f, 0.9f);
    look_lens(s, random_in(r, 3, 6), fov);
    const float yaw = random_in(r, 0, 2 * PI_F);
    if (random_chance(r, 0.6f))
        ground(s, random_chance(r, 0.4f) ? mat_water(s) : mat_any(s), 60);
    s->reach = 1;
    static object_fn *const things[] = {obj_ball, obj_knot, obj_blob,  obj_toy,     obj_vase,
                                        obj_rock, obj_fan,  obj_crate, obj_package, obj_ball};
    for (int i = random_int(r, 5, 14); i > 0; i--) {
        const float z = random_in(r, 0.1f, 1.9f);
        const float y = random_in(r, -1.8f, 1.8f);
        const struct vec3 p = v3(random_in(r, -1.8f, 1.8f), y, z);
        const int32_t mover = scene_node(s, -1, rows_move(p));
        if (!s->failed) {
            struct node *n = &s->nodes[mover];
            const float gain = random_in(r, 0, 0.5f);
            n->sway = mul(random_direction(r), gain);
            n->sway_rate = clampf(natural_speed(s) / 0.3f, 0.01f, 0.4f);
            n->phase = random_in(r, 0, 6);
            n->axis = random_direction(r);
            if (random_chance(r, 0.7f)) {
                const float sign = random_sign(r);
                n->spin = sign * random_log(r, 0.005f, 0.12f);
            }
        }
        const float angle = random_in(r, 0, 6);
        const int32_t node = scene_node(s, mover, rows_turn(random_direction(r), angle));
        const int which = random_int(r, 0, COUNT(things) - 1);
        things[which](s, node, random_in(r, 0.5f, 1.3f));
    }
    struct shot *shot = look_shot(s, v3(0, 0, 0.9f), yaw, random_in(r, -0.05f, 0.4f));
    shot->eye.z = fmaxf(shot->eye.z, 0.3f);
    camera_move(s, shot);
    look_expose(s, random_in(r, 0.14f, 0.24f));
}
