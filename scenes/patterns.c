// SPDX-License-Identifier: MIT
/** The named patterns: one thing each that a temporal upscaler has to get right. */
#include "look.h"

#include <string.h>

static void plain_light(struct scene *s)
{
    look_weather(s, WEATHER_CLEAR, 0.9f);
    s->sky.sun = normalize3(v3(-0.5f, -0.6f, 0.7f));
    s->sky.cloud = 0;
    s->sky.fog_density = 0;
    s->flags &= ~(SCENE_FLAG_SOFT_LIGHTS | SCENE_FLAG_STARS);
}

static uint32_t checker(struct scene *s, float repeat)
{
    return mat_texture(s, SCENE_TEX_CHECKER, v3(0.7f, 0.7f, 0.68f), v3(0.12f, 0.13f, 0.16f), repeat,
                       0.8f);
}

static int32_t floor_node(struct scene *s, uint32_t m)
{
    const int32_t node = scene_place(s, -1, v3(0, 0, 0), 0);
    quad(s, node, m, rows_identity(), 40, 40);
    return node;
}

/** A few plain solids on a floor. */
static void solids(struct scene *s)
{
    const int32_t node = floor_node(s, checker(s, 1));
    box(s, node, mat_plain(s, v3(0.6f, 0.15f, 0.1f), 0.5f), v3(-0.9f, 0.2f, 0.4f),
        v3(0.4f, 0.4f, 0.4f));
    ball(s, node, mat_plain(s, v3(0.15f, 0.35f, 0.6f), 0.15f), v3(0.2f, -0.3f, 0.45f), 0.45f);
    bar(s, node, mat_bricks(s), v3(1.1f, 0.5f, 0), v3(1.1f, 0.5f, 1.2f), 0.35f, 0.6f);
    ball(s, node, mat_metal(s, v3(0.9f, 0.7f, 0.4f), 0.2f), v3(0.9f, -0.8f, 0.25f), 0.25f);
}

static struct shot *view(struct scene *s, float height)
{
    return look_shot(s, v3(0, 0, height), 1.2f, 0.22f);
}

static void build_still(struct scene *s)
{
    solids(s);
    view(s, 0.4f);
}

static void build_pan(struct scene *s)
{
    solids(s);
    struct shot *shot = view(s, 0.4f);
    shot->target_velocity = mul(v3(-sinf(1.2f), cosf(1.2f), 0), 2.3f * s->pixel);
}

static void build_orbit(struct scene *s)
{
    solids(s);
    view(s, 0.4f)->orbit = 1.7f * s->pixel / s->distance;
}

static void build_dolly(struct scene *s)
{
    solids(s);
    struct shot *shot = view(s, 0.4f);
    shot->eye_velocity = mul(sub(shot->target, shot->eye), 0.01f);
    shot->target_velocity = shot->eye_velocity;
}

/** A wall of rings: every direction and frequency. */
static void build_zoom(struct scene *s)
{
    const int32_t node = scene_place(s, -1, v3(0, 0, 0), 0);
    const uint32_t m = mat_texture(s, SCENE_TEX_ZONE, v3(0.05f, 0.05f, 0.05f), v3(0.8f, 0.8f, 0.8f),
                                   repeat_of(s, 12), 1);
    quad(s, node, m, rows_mul(rows_move(v3(0, 2, 0)), rows_turn(v3(1, 0, 0), PI_F / 2)), 9, 9);
    look_shot(s, v3(0, 2, 0), PI_F / 2, 0)->zoom = -0.006f;
}

static void build_wires(struct scene *s)
{
    floor_node(s, mat_grass(s));
    obj_wires(s, scene_place(s, -1, v3(0, 0.5f, 0), 0.2f - PI_F / 2), 1.7f);
    obj_mesh_fence(s, scene_place(s, -1, v3(-0.5f, -0.4f, 0), -0.3f), 1.4f);
    obj_fence(s, scene_place(s, -1, v3(1.3f, -0.8f, 0), 0.5f), 0.9f);
    const int32_t sheet = scene_place(s, -1, v3(-1.7f, 0.2f, 0.45f), 0.6f);
    quad(s, sheet, mat_cut(s, SCENE_CUT_HOLES, v3(0.5f, 0.5f, 0.48f), 0.3f / s->pixel, 0.75f),
         rows_turn(v3(1, 0, 0), PI_F / 2), 0.45f, 0.45f);
    struct shot *shot = view(s, 0.8f);
    shot->eye_velocity = mul(v3(-sinf(1.2f), cosf(1.2f), 0), 1.3f * s->pixel);
}

static void build_foliage(struct scene *s)
{
    floor_node(s, mat_grass(s));
    obj_tree(s, scene_place(s, -1, v3(0.8f, 0.6f, 0), 0), 2.4f);
    obj_bush(s, scene_place(s, -1, v3(-0.7f, 0.2f, 0), 0), 1);
    obj_card_plant(s, scene_place(s, -1, v3(0.1f, -0.7f, 0), 0), 1);
    obj_grass(s, scene_place(s, -1, v3(-0.6f, -0.9f, 0), 0), 0.8f);
    view(s, 0.7f)->orbit = 0.8f * s->pixel / s->distance;
}

/** Letters of several sizes; one sheet scrolls without moving. */
static void build_text(struct scene *s)
{
    const int32_t node = floor_node(s, mat_plaster(s));
    for (int i = 0; i < 4; i++) {
        const float letter = s->pixel * 1.6f * (float)(1 << i);
        const uint32_t m = mat_text(s, letter);
        if (i == 1)
            material(s, m)->scroll[1] = -0.7f * s->pixel;
        const struct rows stand = rows_turn(v3(1, 0, 0), PI_F / 2);
        quad(s, node, m, rows_mul(rows_move(v3(-1.5f + (float)i, 0.3f * (float)i, 0.8f)), stand),
             0.46f, 0.75f);
    }
    // A decal: letters alone, a hair in front of what they are painted on.
    box(s, node, mat_bricks(s), v3(0, 2, 1.2f), v3(3.2f, 0.05f, 1.2f));
    quad(s, node, mat_cut(s, SCENE_CUT_TEXT, v3(0.5f, 0.04f, 0.03f), 0.12f / s->pixel, 0),
         rows_mul(rows_move(v3(0, 1.947f, 1.9f)), rows_turn(v3(1, 0, 0), PI_F / 2)), 3, 0.4f);
    struct shot *shot = look_shot(s, v3(0, 0, 0.7f), PI_F / 2, 0.05f);
    shot->eye_velocity = v3(0.6f * s->pixel, 0, 0);
    shot->target_velocity = shot->eye_velocity;
}

/** Reflections move against the surface they are seen in. */
static void build_mirror(struct scene *s)
{
    const int32_t node = floor_node(s, mat_metal(s, v3(0.8f, 0.82f, 0.85f), 0.03f));
    solids(s);
    s->items[1].material = s->items[0].material; // the floor of the solids
    box(s, node, mat_mirror(s), v3(0, 2.4f, 1), v3(2.4f, 0.05f, 1));
    const int32_t turning = scene_place(s, -1, v3(0, 0.8f, 1.1f), 0);
    s->nodes[turning].spin = 0.07f;
    box(s, turning, checker(s, 5), v3(0.3f, 0, 0), v3(0.3f, 0.15f, 0.15f));
    view(s, 0.6f)->orbit = 0.9f * s->pixel / s->distance;
}

static void build_lights(struct scene *s)
{
    look_weather(s, WEATHER_NIGHT, 1);
    s->sky.ambient_up = s->sky.ambient_down = v3(0.01f, 0.01f, 0.012f);
    solids(s);
    for (int i = 0; i < 9; i++) {
        const float a = 2 * PI_F * (float)i / 9;
        const int32_t node = scene_place(s, -1, v3(1.7f * cosf(a), 1.7f * sinf(a), 0.6f), 0);
        glow_ball(s, node, v3(0, 0, 0), 0.02f + 0.01f * (float)(i % 3),
                  mul(hsv((float)i / 9, 0.5f, 1), 90));
        if (s->failed)
            return;
        s->lamps[s->lamp_count - 1].flicker = i % 3 ? 0 : 0.6f;
        s->nodes[node].sway = v3(0, 0, 0.2f);
        s->nodes[node].sway_rate = 0.1f * (float)(i % 4);
    }
    view(s, 0.4f)->orbit = 0.6f * s->pixel / s->distance;
}

static void build_particles(struct scene *s)
{
    solids(s);
    particles(s, v3(0, 0, 0.4f), 1.4f, 240);
    view(s, 0.5f);
}

/** Large things pass in front of a detailed wall. */
static void build_disocclusion(struct scene *s)
{
    const int32_t node = floor_node(s, mat_planks(s));
    box(s, node, mat_bricks(s), v3(0, 1.4f, 1.5f), v3(6, 0.1f, 1.5f));
    for (int i = 0; i < 4; i++) {
        const int32_t mover =
            scene_place(s, -1, v3(-2.f + 1.2f * (float)i, -0.4f * (float)i, 0), 0);
        s->nodes[mover].velocity =
            v3((i & 1 ? -1.f : 1.f) * (2.f + 1.5f * (float)i) * s->pixel, 0, 0);
        box(s, mover, mat_any(s), v3(0, 0, 0.7f), v3(0.2f, 0.12f, 0.7f));
    }
    look_shot(s, v3(0, 0, 0.8f), PI_F / 2, 0.1f);
}

static void build_cut(struct scene *s)
{
    build_orbit(s);
    s->shots[1] = s->shots[0];
    s->shots[1].first = s->frame_count / 2;
    s->shots[1].eye = v3(1.5f, 2, 1.1f);
    s->shot_count = 2;
}

static void build_cloth(struct scene *s)
{
    floor_node(s, checker(s, 2));
    obj_flag(s, scene_place(s, -1, v3(-1, -0.6f, 0), 0), 1.9f);
    obj_blob(s, scene_place(s, -1, v3(0.9f, -0.2f, 0), 0), 1);
    for (uint32_t i = 0; i < s->mesh_count; i++)
        s->meshes[i].deform_rate = 0.25f;
    look_shot(s, v3(0, 0, 0.8f), PI_F / 2, 0.1f);
}

static void build_rotation(struct scene *s)
{
    floor_node(s, checker(s, 2));
    static const float rates[] = {0.01f, -0.03f, 0.09f};
    for (int i = 0; i < 3; i++) {
        const int32_t node = scene_place(s, -1, v3(-1.2f + 1.2f * (float)i, 0, 0.7f), 0);
        s->nodes[node].spin = rates[i];
        s->nodes[node].axis = normalize3(v3(0.2f, -1, 0.3f * (float)i));
        const uint32_t m = i == 1 ? mat_text(s, 5 * s->pixel) : checker(s, 7);
        box(s, node, m, v3(0, 0, 0), v3(0.42f, 0.42f, 0.42f));
    }
    look_shot(s, v3(0, 0, 0.7f), PI_F / 2, 0.12f);
}

/** Closed room, one lamp: everything else is bounced light. */
static void build_box(struct scene *s)
{
    s->sky = (struct sky){.exponent = 0.5f, .sun = {0, 0, 1}, .sun_radius = 0.005f};
    look_indoors(s, 0.12f);
    const int32_t node = scene_place(s, -1, v3(0, 0, 0), 0);
    const uint32_t white = mat_plain(s, v3(0.73f, 0.72f, 0.7f), 1);
    const uint32_t red = mat_plain(s, v3(0.6f, 0.06f, 0.05f), 1);
    const uint32_t green = mat_plain(s, v3(0.12f, 0.45f, 0.1f), 1);
    box(s, node, white, v3(0, 0, -0.05f), v3(1, 1, 0.05f));
    box(s, node, white, v3(0, 0, 2.05f), v3(1, 1, 0.05f));
    box(s, node, white, v3(0, 1.05f, 1), v3(1.1f, 0.05f, 1));
    box(s, node, red, v3(-1.05f, 0, 1), v3(0.05f, 1, 1));
    box(s, node, green, v3(1.05f, 0, 1), v3(0.05f, 1, 1));
    const int32_t turned = scene_place(s, node, v3(-0.35f, 0.3f, 0), 0.3f);
    box(s, turned, white, v3(0, 0, 0.6f), v3(0.28f, 0.28f, 0.6f));
    ball(s, node, mat_metal(s, v3(0.9f, 0.9f, 0.9f), 0.1f), v3(0.4f, -0.3f, 0.32f), 0.32f);
    glow_quad(s, node, rows_move(v3(0, 0, 1.99f)), 0.3f, 0.3f, v3(11, 9.5f, 7.5f));
    look_lens(s, 3.6f, 0.6f);
    look_shot(s, v3(0, 0, 1), PI_F / 2, 0)->orbit = 0.5f * s->pixel / s->distance;
}

/** Only emission, no light: pixels that motion vectors explain exactly. */
static void build_unlit(struct scene *s)
{
    s->sky = (struct sky){.exponent = 0.5f,
                          .sun = {0, 0, 1},
                          .sun_radius = 0.005f,
                          .zenith = {0.3f, 0.4f, 0.6f},
                          .horizon = {0.3f, 0.4f, 0.6f},
                          .below = {0.3f, 0.4f, 0.6f}};
    s->reach = 1;
    const uint32_t m = mat_glow(s, v3(0.9f, 0.8f, 0.6f), SCENE_TEX_NOISE, repeat_of(s, 60));
    const int32_t node = scene_place(s, -1, v3(0, 0, 0), 0);
    quad(s, node, m, rows_identity(), 30, 30);
    const uint32_t other = mat_glow(s, v3(0.3f, 0.6f, 1), SCENE_TEX_NOISE, repeat_of(s, 50));
    for (int i = 0; i < 3; i++) {
        const int32_t mover = scene_place(s, -1, v3(-1.3f + 1.3f * (float)i, 0, 0.6f), 0);
        s->nodes[mover].spin = 0.01f * (float)i;
        s->nodes[mover].velocity = v3(s->pixel * (float)(i - 1), 0, 0);
        if (i == 0) {
            box(s, mover, other, v3(0, 0, 0), v3(0.4f, 0.3f, 0.5f));
        } else if (i == 1) {
            ball(s, mover, other, v3(0, 0, 0), 0.5f);
        } else {
            struct mesh mesh = {0};
            if (!mesh_rock(&mesh, 5, 0.1f, 2))
                s->failed = true;
            mesh.deform = DEFORM_BLOB;
            mesh.deform_size = 0.2f;
            mesh.deform_rate = 0.2f;
            mesh.deform_reach = 1;
            mesh_item(s, mover, other, scene_mesh(s, &mesh), rows_identity(), 0.5f);
        }
    }
    for (uint32_t i = 0; i < s->material_count; i++) {
        s->materials[i].a[3] = 1; // no mirror rays
        s->materials[i].pattern[3] = 1;
        s->materials[i].more[0] = 0;
    }
    view(s, 0.5f)->orbit = 1.4f * s->pixel / s->distance;
}

/** Plain edges and smooth shading, hardly any texture. */
static void build_smooth(struct scene *s)
{
    const int32_t node = floor_node(s, scene_material(s, v3(0.5f, 0.48f, 0.45f), 0.9f));
    for (int i = 0; i < 5; i++) {
        const float x = -1.6f + 0.8f * (float)i;
        const uint32_t m =
            scene_material(s, hsv(0.2f * (float)i, 0.4f, 0.5f), 0.2f + 0.2f * (float)i);
        if (i & 1)
            bar(s, node, m, v3(x, 0, 0), v3(x + 0.2f, 0.3f, 1.2f), 0.2f, 0.5f);
        else
            ball(s, node, m, v3(x, 0, 0.4f), 0.4f);
    }
    view(s, 0.4f)->orbit = 1.1f * s->pixel / s->distance;
}

static void build_hill(struct scene *s)
{
    landscape(s);
}

static void build_mesh(struct scene *s)
{
    floor_node(s, checker(s, 1));
    if (s->user_mesh)
        obj_user_mesh(s, scene_place(s, -1, v3(0, 0, 0), 0), 1.6f);
    else
        obj_knot(s, scene_place(s, -1, v3(0, 0, 0), 0), 1.6f);
    view(s, 0.6f)->orbit = 1.2f * s->pixel / s->distance;
}

struct pattern {
    const char *name, *about;
    void (*build)(struct scene *s);
};

static const struct pattern patterns[] = {
    {"box", "closed room with one lamp: global illumination", build_box},
    {"cloth", "a flag and a blob that deform", build_cloth},
    {"cut", "orbit with a camera cut in the middle of the clip", build_cut},
    {"disocclusion", "large boxes pass in front of a brick wall", build_disocclusion},
    {"dolly", "the camera moves forward", build_dolly},
    {"foliage", "leaves, grass and cut-out cards that sway", build_foliage},
    {"hill", "height field with plants and water", build_hill},
    {"lights", "many small flickering HDR lights at night", build_lights},
    {"mesh", "triangle mesh: the caller's, or a knot", build_mesh},
    {"mirror", "mirrors whose reflections move against their surface", build_mirror},
    {"orbit", "solids on a checker floor, the camera circles", build_orbit},
    {"pan", "the camera turns", build_pan},
    {"particles", "transparent particles without motion vectors", build_particles},
    {"rotation", "textured boxes that turn at three speeds", build_rotation},
    {"smooth", "plain edges and smooth shading", build_smooth},
    {"still", "nothing moves but the jitter", build_still},
    {"text", "letters of four sizes, one sheet scrolling; painted letters", build_text},
    {"unlit", "emission only: exactly explained by its motion vectors", build_unlit},
    {"wires", "wires, wire mesh, holes and fences near the pixel pitch", build_wires},
    {"zoom", "concentric rings under a changing focal length", build_zoom},
};

#define PATTERN_COUNT (sizeof(patterns) / sizeof(patterns[0]))

const char *hs_scenes_pattern(uint32_t index)
{
    return index < PATTERN_COUNT ? patterns[index].name : NULL;
}

const char *hs_scenes_pattern_about(uint32_t index)
{
    return index < PATTERN_COUNT ? patterns[index].about : NULL;
}

const char *scene_pattern_name(const char *name)
{
    for (size_t i = 0; i < PATTERN_COUNT; i++) {
        if (!strcmp(patterns[i].name, name))
            return patterns[i].name;
    }
    return "random";
}

int scene_build(struct scene *s, const struct hs_clip_params *params, const struct hs_log *log)
{
    const struct pattern *pattern = NULL;
    for (size_t i = 0; i < PATTERN_COUNT; i++) {
        if (!strcmp(patterns[i].name, params->pattern))
            pattern = &patterns[i];
    }
    if (!pattern && strcmp(params->pattern, "random")) {
        hs_log_message(log, HS_LOG_ERROR,
                       "scenes: no pattern \"%s\"; hindsight render --list tells which there are",
                       params->pattern);
        return HS_ERR_INVALID;
    }
    *s = (struct scene){
        .rng = {params->seed * UINT64_C(0xd1342543de82ef95) + 0x2545f491u},
        .aspect = (float)params->scene_width / (float)params->scene_height,
        .render_height = (float)params->scene_height,
        .frame_count = params->frame_count,
        .path = params->mode == HS_SCENES_PATH,
        .exposure = 1,
        .crop = 1,
        .fine = 4,
        .user_mesh = params->mesh,
    };
    s->seed = random_bits(&s->rng);
    look_palette(s);
    if (pattern) {
        look_lens(s, 4, 0.75f);
        plain_light(s);
        pattern->build(s);
    } else {
        random_scene(s);
    }
    return s->failed || !s->item_count ? HS_ERR_NOMEM : 0;
}
