// SPDX-License-Identifier: MIT
/** Scenes under a roof, and still lifes. */
#include "look.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static object_fn *const table_things[] = {obj_vase,  obj_bottle,  obj_bowl, obj_cup,    obj_books,
                                          obj_ball,  obj_package, obj_knot, obj_toy,    obj_candle,
                                          obj_plant, obj_blob,    obj_vase, obj_bottle, obj_ball};

/** Things spread over a disc without touching much. */
static void spread(struct scene *s, int32_t parent, object_fn *const *things, int thing_count,
                   int count, float radius, float z, float size)
{
    struct random *r = &s->rng;
    struct vec3 taken[24];
    int placed = 0;
    for (int tries = 0; placed < count && tries < 200; tries++) {
        const float a = random_in(r, 0, 2 * PI_F), d = radius * sqrtf(random_unit(r));
        const float own = size * random_log(r, 0.55f, 1.4f);
        const struct vec3 p = v3(d * cosf(a), d * sinf(a), own * 0.42f);
        bool free_place = true;
        for (int i = 0; i < placed; i++) {
            const float x = p.x - taken[i].x, y = p.y - taken[i].y, reach = p.z + taken[i].z;
            free_place = free_place && x * x + y * y > reach * reach * 0.8f;
        }
        if (!free_place || placed >= 24)
            continue;
        taken[placed++] = p;
        const int32_t node = scene_place(s, parent, v3(p.x, p.y, z), random_in(r, 0, 2 * PI_F));
        if (!s->failed && random_chance(r, 0.22f)) { // a few move by themselves
            struct node *n = &s->nodes[node];
            const int kind = random_int(r, 0, 2);
            if (kind == 0) {
                const float sign = random_sign(r);
                n->spin = sign * random_log(r, 0.01f, 0.12f);
            } else if (kind == 1) {
                const float gain = natural_speed(s);
                n->velocity = mul(v3(cosf(a), sinf(a), 0), gain * random_sign(r));
            }
            n->hop = kind == 2 ? size * random_in(r, 0.1f, 0.6f) : 0;
            n->hop_rate = kind == 2 ? random_in(r, 0.08f, 0.35f) : 0;
        }
        things[random_int(r, 0, thing_count - 1)](s, node, own);
    }
}

static uint32_t table_cloth(struct scene *s)
{
    struct random *r = &s->rng;
    const float roughness = random_in(r, 0.15f, 0.9f);
    const float repeat = random_in(r, 4, 12);
    const struct vec3 b = palette_colour(s);
    const struct vec3 a = pale_colour(s);
    const uint32_t kind = random_chance(r, 0.5f) ? SCENE_TEX_PLAID : SCENE_TEX_TILES;
    return mat_texture(s, kind, a, b, repeat, roughness);
}

void still_life(struct scene *s)
{
    struct random *r = &s->rng;
    const float sun_turn = random_in(r, 0, 6);
    look_weather(s, random_chance(r, 0.6f) ? WEATHER_OVERCAST : WEATHER_CLEAR, sun_turn);
    const float fov = random_in(r, 0.35f, 0.7f);
    look_lens(s, random_in(r, 1.0f, 1.9f), fov);
    s->sky.fog_density = 0;
    s->reach = 0.45f;
    const float yaw = random_in(r, 0, 2 * PI_F);
    const int32_t world = scene_place(s, -1, v3(0, 0, 0), yaw);
    const int ground = random_int(r, 0, 4);
    const uint32_t top = ground == 0   ? mat_wood(s)
                         : ground == 1 ? mat_planks(s)
                         : ground == 2 ? mat_stone(s)
                         : ground == 3 ? mat_paint(s, random_log(r, 0.1f, 1))
                                       : table_cloth(s);
    if (random_chance(r, 0.5f)) { // a sweep: floor that turns up into the background
        struct mesh mesh = {0};
        for (int j = 0; j <= 24; j++) {
            const float u = (float)j / 24, a = clampf((u - 0.35f) / 0.3f, 0, 1) * PI_F / 2;
            const float x = u < 0.35f ? -3 + 4.2f * u / 0.35f : 1.2f + 0.8f * sinf(a);
            const float z = (1 - cosf(a)) * 0.8f + fmaxf(0, u - 0.65f) * 8;
            mesh_vertex(&mesh, v3(x, -6, z), v3(0, 0, 1), 0.5f);
            mesh_vertex(&mesh, v3(x, 6, z), v3(0, 0, 1), 0.5f);
            const uint32_t k = mesh.vertex_count;
            if (j && (!mesh_triangle(&mesh, k - 4, k - 2, k - 1) ||
                      !mesh_triangle(&mesh, k - 4, k - 1, k - 3)))
                s->failed = true;
        }
        mesh_smooth(&mesh);
        const int32_t index = scene_mesh(s, &mesh);
        mesh_item(s, world,
                  mat_plain(s, random_chance(r, 0.6f) ? pale_colour(s) : palette_colour(s), 0.8f),
                  index, rows_identity(), 1);
    } else {
        box(s, world, top, v3(0, 0, -0.02f), v3(1.1f, 1.5f, 0.02f));
        const uint32_t wall = random_chance(r, 0.3f) ? mat_bricks(s) : mat_plaster(s);
        box(s, world, wall, v3(2.2f, 0, 0.5f), v3(0.1f, 5, 3));
        if (random_chance(r, 0.5f)) {
            const int32_t hung =
                scene_place(s, world, v3(2.05f, random_in(r, -0.6f, 0.6f), 0.75f), -PI_F / 2);
            obj_picture(s, hung, random_in(r, 0.5f, 1));
        }
    }
    const float size = random_in(r, 0.2f, 0.34f);
    spread(s, world, table_things, COUNT(table_things), random_int(r, 3, 9), 0.42f, 0, size);
    if (random_chance(r, 0.6f)) {
        const int n = random_int(r, 1, 2);
        for (int i = 0; i < n; i++) {
            const float a = random_in(r, 2, 4.3f) + (i ? 2.f : 0.f);
            const struct vec3 p = v3(1.6f * cosf(a), 1.6f * sinf(a), random_in(r, 1, 2));
            const struct rows local = rows_mul(rows_move(p), rows_align(mul(p, -1)));
            const float q = random_in(r, 0.15f, 0.5f);
            const float gain = random_in(r, 3, 9) / (q * q * 4);
            const float saturation = random_in(r, 0, 0.35f);
            const struct vec3 light = mul(hsv(random_in(r, 0.02f, 0.7f), saturation, 1), gain);
            glow_quad(s, world, local, q, q, light);
        }
        if (random_chance(r, 0.5f)) {
            s->sky.ambient_up = mul(s->sky.ambient_up, 0.3f);
            s->sky.ambient_down = mul(s->sky.ambient_down, 0.3f);
            s->sky.horizon = mul(s->sky.horizon, 0.3f);
            s->sky.zenith = mul(s->sky.zenith, 0.3f);
            s->sky.sun_radiance = v3(0, 0, 0);
        }
    }
    const float pitch = random_log(r, 0.12f, 0.75f);
    const float shot_yaw = yaw + random_in(r, -0.5f, 0.5f);
    struct shot *shot = look_shot(s, v3(0, 0, random_in(r, 0.08f, 0.18f)), shot_yaw, pitch);
    camera_move(s, shot);
    look_expose(s, random_in(r, 0.14f, 0.26f));
}

static uint32_t floor_tiles(struct scene *s)
{
    struct random *r = &s->rng;
    const float roughness = random_log(r, 0.05f, 0.6f);
    const float repeat = random_in(r, 1.5f, 4);
    const struct vec3 b = palette_colour(s);
    const struct vec3 a = pale_colour(s);
    const uint32_t kind = random_chance(r, 0.4f) ? SCENE_TEX_CHECKER : SCENE_TEX_TILES;
    return mat_texture(s, kind, a, b, repeat, roughness);
}

struct room_size {
    float x, y, z;
};

/** Floor, ceiling and four walls; the wall at +x has windows. */
static void shell(struct scene *s, int32_t world, struct room_size size, int windows)
{
    struct random *r = &s->rng;
    const uint32_t wall = random_chance(r, 0.2f) ? mat_bricks(s) : mat_plaster(s),
                   accent = random_chance(r, 0.3f) ? mat_plain(s, palette_colour(s), 0.9f) : wall;
    const int floors = random_int(r, 0, 3);
    const uint32_t floor_m = floors < 2    ? mat_planks(s)
                             : floors == 2 ? floor_tiles(s)
                                           : mat_paint(s, 0.95f);
    const uint32_t white = mat_plain(s, v3(0.72f, 0.71f, 0.68f), 0.9f),
                   skirting = mat_plain(
                       s, random_chance(r, 0.5f) ? v3(0.7f, 0.69f, 0.66f) : dark_colour(s), 0.5f);
    const float t = 0.1f;
    box(s, world, floor_m, v3(0, 0, -t), v3(size.x, size.y, t));
    box(s, world, white, v3(0, 0, size.z + t), v3(size.x + t, size.y + t, t));
    box(s, world, accent, v3(0, size.y + t, size.z / 2), v3(size.x + t, t, size.z / 2));
    box(s, world, wall, v3(0, -size.y - t, size.z / 2), v3(size.x + t, t, size.z / 2));
    box(s, world, wall, v3(-size.x - t, 0, size.z / 2), v3(t, size.y, size.z / 2));
    for (int i = -1; i <= 1; i += 2)
        box(s, world, skirting, v3(0, (float)i * (size.y - 0.01f), 0.05f),
            v3(size.x, 0.015f, 0.05f))
            ->occludes = false;
    box(s, world, skirting, v3(size.x - 0.01f, 0, 0.05f), v3(0.015f, size.y, 0.05f))->occludes =
        false;
    if (!windows) {
        box(s, world, wall, v3(size.x + t, 0, size.z / 2), v3(t, size.y, size.z / 2));
        return;
    }
    const float low = random_in(r, 0.2f, 0.9f),
                high = fminf(size.z - 0.25f, low + random_in(r, 1.2f, 1.9f));
    const float pitch = 2 * size.y / (float)windows, half = pitch * random_in(r, 0.25f, 0.38f);
    box(s, world, wall, v3(size.x + t, 0, low / 2), v3(t, size.y, low / 2));
    box(s, world, wall, v3(size.x + t, 0, (high + size.z) / 2), v3(t, size.y, (size.z - high) / 2));
    for (int i = 0; i <= windows; i++) {
        const float y = -size.y + pitch * (float)i,
                    w = i == 0 || i == windows ? (pitch / 2 - half) : pitch - 2 * half;
        const float c = i == 0 ? y + w / 2 : i == windows ? y - w / 2 : y;
        box(s, world, wall, v3(size.x + t, c, (low + high) / 2), v3(t, w / 2, (high - low) / 2));
        if (i == windows)
            break;
        const int32_t node =
            scene_place(s, world, v3(size.x + t, y + pitch / 2, (low + high) / 2), -PI_F / 2);
        window_in(s, node, half, (high - low) / 2);
    }
}

static void ceiling_lights(struct scene *s, int32_t world, struct room_size size, float strength)
{
    struct random *r = &s->rng;
    const int n = random_int(r, 1, 3);
    const float saturation = random_in(r, 0.05f, 0.4f);
    const struct vec3 tint = hsv(random_in(r, 0.06f, 0.14f), saturation, 1);
    for (int i = 0; i < n; i++) {
        const float y = size.y * (2.f * ((float)i + 0.5f) / (float)n - 1);
        if (random_chance(r, 0.5f)) {
            glow_quad(s, world,
                      rows_move(v3(random_in(r, -0.3f, 0.3f) * size.x, y, size.z - 0.02f)), 0.3f,
                      0.3f, mul(tint, strength * 8));
        } else {
            const float drop = random_in(r, 0.3f, 0.9f), q = random_in(r, 0.07f, 0.16f),
                        x = random_in(r, -0.4f, 0.4f) * size.x;
            bar(s, world, mat_plain(s, v3(0.03f, 0.03f, 0.03f), 0.5f), v3(x, y, size.z - drop),
                v3(x, y, size.z), 0.006f, 1);
            glow_ball(s, world, v3(x, y, size.z - drop), q,
                      mul(tint, strength * 0.9f / (q * q * PI_F)));
        }
    }
}

void room(struct scene *s)
{
    struct random *r = &s->rng;
    const float yaw = random_in(r, 0, 2 * PI_F);
    const float size_x = random_in(r, 2.2f, 3.6f);
    const float size_y = random_in(r, 1.9f, 3.2f);
    const struct room_size size = {size_x, size_y, random_in(r, 2.4f, 3.2f)};
    const bool evening = random_chance(r, 0.3f);
    const float sun_turn = yaw + random_in(r, -0.9f, 0.9f);
    look_weather(s, evening ? WEATHER_NIGHT : random_weather(s), sun_turn);
    const float fov = random_in(r, 0.6f, 1.1f);
    look_lens(s, random_in(r, 2.6f, 4.2f), fov);
    const int32_t world = scene_place(s, -1, v3(0, 0, 0), yaw);
    shell(s, world, size, random_int(r, 1, 3));
    if (evening || random_chance(r, 0.35f))
        ceiling_lights(s, world, size, random_in(r, 0.6f, 1.6f));
    look_indoors(s, evening ? random_in(r, 0.05f, 0.14f) : random_in(r, 0.16f, 0.34f));
    if (s->path && !evening) { // a bright sky to be sampled, as it is too rarely hit by chance
        const struct rows out = rows_mul(rows_move(v3(size.x + 1.2f, 0, size.z * 0.8f)),
                                         rows_turn(v3(0, 1, 0), PI_F / 2));
        glow_quad(s, world, out, size.z, size.y * 1.3f, mul(s->sky.horizon, random_in(r, 1.5f, 4)));
    }
    // Daylight from the windows.
    struct lamp *fill =
        scene_lamp(s, world, SCENE_LIGHT_FILL, rows_move(v3(size.x * 0.9f, 0, size.z * 0.6f)),
                   mul(s->sky.horizon, 2.2f));
    fill->radius = 0.7f;

    static object_fn *const along_walls[] = {obj_shelf, obj_cabinet,    obj_sofa,
                                             obj_plant, obj_floor_lamp, obj_shelf};
    const int n = random_int(r, 3, 6);
    for (int i = 0; i < n; i++) {
        const int side = random_int(r, 0, 2);
        const float x = side == 0 ? size.x - 0.35f : random_in(r, -0.3f, 0.8f) * size.x;
        const float y = side == 0 ? random_in(r, -0.8f, 0.8f) * size.y
                                  : (side == 1 ? 1.f : -1.f) * (size.y - 0.35f);
        const float turn = side == 0 ? -PI_F / 2 : side == 1 ? 0 : PI_F;
        const int32_t node = scene_place(s, world, v3(x, y, 0), turn);
        const int which = random_int(r, 0, COUNT(along_walls) - 1);
        along_walls[which](s, node, random_in(r, 1.1f, 1.9f));
    }
    for (int i = random_int(r, 1, 3); i > 0; i--) {
        const float side = random_sign(r);
        const float z = random_in(r, 1.3f, 1.8f);
        const int32_t node = scene_place(
            s, world, v3(random_in(r, -0.2f, 0.9f) * size.x, side * (size.y - 0.03f), z),
            side > 0 ? 0 : PI_F);
        obj_picture(s, node, random_in(r, 0.5f, 1));
    }
    const float middle_yaw = random_in(r, -0.3f, 0.3f);
    const float aside = random_in(r, -0.4f, 0.4f);
    const int32_t middle = scene_place(s, world, v3(random_in(r, 0, 0.8f), aside, 0), middle_yaw);
    if (random_chance(r, 0.6f)) {
        const float repeat = random_in(r, 2, 12);
        const struct vec3 b = palette_colour(s);
        const struct vec3 c = palette_colour(s);
        const uint32_t kind = random_chance(r, 0.5f) ? SCENE_TEX_PLAID : SCENE_TEX_STRIPES;
        const uint32_t rug = mat_texture(s, kind, c, b, repeat, 0.95f);
        const float wide = random_in(r, 0.6f, 1.1f);
        const struct vec3 half = v3(random_in(r, 0.8f, 1.5f), wide, 0.006f);
        box(s, middle, rug, v3(0, 0, 0.006f), half)->occludes = false;
    }
    obj_table(s, middle, 1.45f);
    spread(s, middle, table_things, COUNT(table_things), random_int(r, 2, 5), 0.4f, 0.76f, 0.26f);
    for (int i = random_int(r, 1, 4); i > 0; i--) {
        const float a = random_in(r, 0, 2 * PI_F);
        const int32_t node = scene_place(s, middle, v3(1.05f * cosf(a), 0.9f * sinf(a), 0),
                                         a + PI_F + random_in(r, -0.4f, 0.4f));
        obj_chair(s, node, 0.95f);
    }
    if (random_chance(r, 0.3f)) {
        const float height = random_in(r, 1.5f, 1.85f);
        const float node_yaw = random_in(r, 0, 6);
        const float y = random_sign(r) * 1.3f;
        obj_person(s, scene_place(s, world, v3(random_in(r, 1.3f, 2), y, 0), node_yaw), height);
    }
    const struct vec3 target = rows_point(&s->nodes[middle].base, v3(0, 0, 0));
    const struct rows turn = rows_turn(v3(0, 0, 1), yaw);
    const struct vec3 at = add(rows_vector(&turn, target), v3(0, 0, random_in(r, 0.6f, 1.1f)));
    s->distance = fminf(s->distance, size.x + target.x - 0.4f);
    const float pitch = random_in(r, 0.02f, 0.32f);
    struct shot *shot = look_shot(s, at, yaw + random_in(r, -0.35f, 0.35f), pitch);
    camera_move(s, shot);
    look_expose(s, random_in(r, 0.2f, 0.34f) * (s->path ? 1.5f : 1.f));
}

void desk(struct scene *s)
{
    struct random *r = &s->rng;
    look_weather(s, random_chance(r, 0.4f) ? WEATHER_NIGHT : WEATHER_OVERCAST, 0);
    const float fov = random_in(r, 0.5f, 0.8f);
    look_lens(s, random_in(r, 0.9f, 1.6f), fov);
    look_indoors(s, random_in(r, 0.1f, 0.35f));
    s->reach = 0.5f;
    const float yaw = random_in(r, 0, 2 * PI_F);
    const int32_t world = scene_place(s, -1, v3(0, 0, 0), yaw - PI_F / 2);
    uint32_t top;
    if (random_chance(r, 0.6f)) {
        top = mat_wood(s);
    } else {
        const float roughness = random_log(r, 0.1f, 0.8f);
        top = mat_plain(s, pale_colour(s), roughness);
    }
    box(s, world, top, v3(0, 0, -0.03f), v3(1.1f, 0.5f, 0.03f));
    box(s, world, mat_plaster(s), v3(0, 0.75f, 0.3f), v3(4, 0.1f, 2));
    box(s, world, mat_planks(s), v3(0, 0, -0.85f), v3(4, 4, 0.1f));
    const int screens = random_int(r, 1, 2);
    for (int i = 0; i < screens; i++)
        obj_screen(s,
                   scene_place(s, world,
                               v3(((float)i - 0.5f * (float)(screens - 1)) * 0.75f, 0.2f, 0),
                               ((float)i - 0.5f * (float)(screens - 1)) * -0.4f),
                   0.68f);
    const uint32_t key = mat_plain(s, dark_colour(s), 0.5f),
                   cap = mat_plain(s, pale_colour(s), 0.5f);
    const float board_yaw = random_in(r, -0.1f, 0.1f);
    const int32_t board = scene_place(s, world, v3(random_in(r, -0.1f, 0.1f), -0.2f, 0), board_yaw);
    box(s, board, key, v3(0, 0, 0.008f), v3(0.23f, 0.08f, 0.008f));
    for (int i = 0; i < 4 * 12; i++)
        box(s, board, i % 13 ? cap : key,
            v3(-0.205f + 0.0372f * (float)(i % 12), -0.055f + 0.037f * (float)(i / 12), 0.02f),
            v3(0.0155f, 0.0155f, 0.006f))
            ->occludes = false;
    for (int i = random_int(r, 1, 4); i > 0; i--) { // papers
        const float sheet_yaw = random_in(r, -0.6f, 0.6f);
        const float y = random_in(r, -0.35f, 0.1f);
        const float sign = random_sign(r);
        const int32_t sheet = scene_place(
            s, world, v3(sign * random_in(r, 0.4f, 0.8f), y, 0.001f * (float)i), sheet_yaw);
        const uint32_t m =
            mat_texture(s, SCENE_TEX_TEXT, v3(0.75f, 0.74f, 0.7f), v3(0.05f, 0.05f, 0.06f),
                        1.f / fmaxf(random_in(r, 0.005f, 0.012f), s->pixel * 0.7f), 0.9f);
        quad(s, sheet, m, rows_identity(), 0.105f, 0.148f);
    }
    static object_fn *const things[] = {obj_cup, obj_books,   obj_plant, obj_bottle,
                                        obj_toy, obj_package, obj_ball};
    for (int i = random_int(r, 2, 4); i > 0; i--) {
        const float node_yaw = random_in(r, 0, 6);
        const float y = random_in(r, -0.3f, 0.3f);
        const float side = random_sign(r);
        const int32_t node =
            scene_place(s, world, v3(side * random_in(r, 0.45f, 0.9f), y, 0), node_yaw);
        const int which = random_int(r, 0, COUNT(things) - 1);
        things[which](s, node, random_in(r, 0.14f, 0.3f));
    }
    const float q = 0.12f;
    const float side = random_sign(r);
    const float a = side * random_in(r, 0.5f, 0.9f);
    const struct vec3 radiance = mul(hsv(0.1f, 0.3f, 1), random_in(r, 8, 30));
    glow_quad(s, world,
              rows_mul(rows_move(v3(a, 0, random_in(r, 0.5f, 0.9f))),
                       rows_turn(v3(0, 1, 0), a > 0 ? -0.5f : 0.5f)),
              q, q, radiance);
    glow_quad(s, world, rows_move(v3(0, -1.5f, 2.2f)), 0.6f, 0.6f,
              mul(v3(1, 0.97f, 0.92f), random_in(r, 0.5f, 3)));
    const float pitch = random_in(r, 0.15f, 0.7f);
    struct shot *shot = look_shot(s, v3(0, 0, 0.14f), yaw + random_in(r, -0.5f, 0.5f), pitch);
    camera_move(s, shot);
    look_expose(s, random_in(r, 0.14f, 0.26f));
}

void hall(struct scene *s)
{
    struct random *r = &s->rng;
    const float yaw = random_in(r, 0, 2 * PI_F);
    const float sun_turn = yaw + random_in(r, 0.4f, 1.2f);
    look_weather(s, random_chance(r, 0.5f) ? WEATHER_CLEAR : WEATHER_GOLDEN, sun_turn);
    const float fov = random_in(r, 0.6f, 1.05f);
    look_lens(s, random_in(r, 6, 10), fov);
    const int32_t world = scene_place(s, -1, v3(0, 0, 0), yaw);
    const bool open = random_chance(r, 0.5f); // a colonnade open to one side, or a lit hall
    const float height = random_in(r, 3.5f, 6), half = random_in(r, 3, 5),
                pitch = random_in(r, 2.2f, 3.6f);
    const int n = 7;
    const float end = pitch * (float)n / 2;
    const float roughness = random_log(r, 0.03f, 0.35f);
    const float repeat = random_in(r, 0.5f, 1.6f);
    const struct vec3 b = palette_colour(s);
    const struct vec3 a = pale_colour(s);
    const uint32_t floor_m = mat_texture(
        s, random_chance(r, 0.5f) ? SCENE_TEX_CHECKER : SCENE_TEX_TILES, a, b, repeat, roughness);
    const uint32_t wall = random_chance(r, 0.4f) ? mat_bricks(s) : mat_plaster(s),
                   roof = mat_plaster(s);
    box(s, world, floor_m, v3(0, 0, -0.2f), v3(open ? 60 : end, open ? 60 : half, 0.2f));
    box(s, world, roof, v3(0, 0, height + 0.2f), v3(end, half + 0.3f, 0.2f));
    box(s, world, wall, v3(0, half + 0.2f, height / 2), v3(end, 0.2f, height / 2));
    if (!open) {
        box(s, world, wall, v3(0, -half - 0.2f, height / 2), v3(end, 0.2f, height / 2));
        box(s, world, wall, v3(end + 0.2f, 0, height / 2), v3(0.2f, half, height / 2));
        box(s, world, wall, v3(-end - 0.2f, 0, height / 2), v3(0.2f, half, height / 2));
    }
    look_indoors(s, open ? random_in(r, 0.2f, 0.4f) : random_in(r, 0.06f, 0.2f));
    s->reach = 2.5f;
    for (int i = 0; i < n; i++) {
        const float x = -end + pitch * ((float)i + 0.5f);
        for (int side = -1; side <= 1; side += 2) {
            if (random_chance(r, 0.9f))
                obj_column(s, scene_place(s, world, v3(x, (float)side * (half - 0.6f), 0), 0),
                           height);
        }
        if (!open || random_chance(r, 0.3f)) {
            const float gain = random_in(r, 12, 40);
            const float saturation = random_in(r, 0.1f, 0.6f);
            const struct vec3 light = mul(hsv(random_in(r, 0.05f, 0.15f), saturation, 1), gain);
            glow_ball(s, world, v3(x, 0, height - 0.7f), 0.14f, light);
        }
        if (random_chance(r, 0.35f)) {
            const float size = random_in(r, 1, 2);
            obj_picture(
                s, scene_place(s, world, v3(x + pitch / 2, half - 0.05f, height * 0.45f), 0), size);
        }
    }
    static object_fn *const things[] = {obj_person, obj_plant, obj_vase, obj_bench, obj_fan,
                                        obj_stairs, obj_crate, obj_knot, obj_flag,  obj_person};
    for (int i = random_int(r, 3, 7); i > 0; i--) {
        const float node_yaw = random_in(r, 0, 6);
        const float y = random_in(r, -0.6f, 0.6f) * half;
        const int32_t node =
            scene_place(s, world, v3(random_in(r, -0.5f, 1) * end * 0.8f, y, 0), node_yaw);
        const int which = random_int(r, 0, COUNT(things) - 1);
        things[which](s, node, random_in(r, 1.2f, 1.9f));
    }
    const float shot_pitch = random_in(r, -0.02f, 0.12f);
    const float shot_yaw = yaw + random_in(r, -0.35f, 0.35f);
    struct shot *shot = look_shot(s, v3(0, 0, random_in(r, 1, 1.8f)), shot_yaw, shot_pitch);
    s->shots[0].eye.z = fmaxf(s->shots[0].eye.z, 0.5f);
    camera_move(s, shot);
    look_expose(s, random_in(r, 0.18f, 0.3f));
}
