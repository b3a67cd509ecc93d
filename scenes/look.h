// SPDX-License-Identifier: MIT
/** Materials, light and camera moves that scenes share, and the objects they are made of. */
#ifndef HS_SCENES_LOOK_H
#define HS_SCENES_LOOK_H

#include "scene.h"

/* ----------------------------------------------------------------------------- materials --- */

struct vec3 hsv(float hue, float saturation, float value);
/** Draws the scene's five colours. */
void look_palette(struct scene *s);
struct vec3 palette_colour(struct scene *s);
/** Wall paint and the like: pale, hardly saturated. */
struct vec3 pale_colour(struct scene *s);
struct vec3 dark_colour(struct scene *s);

uint32_t mat_plain(struct scene *s, struct vec3 colour, float roughness);
/** As mat_plain(), in a colour of the palette. */
uint32_t mat_paint(struct scene *s, float roughness);
/** Any of matt, satin, glossy, metal, by chance. */
uint32_t mat_any(struct scene *s);
uint32_t mat_metal(struct scene *s, struct vec3 colour, float roughness);
uint32_t mat_mirror(struct scene *s);
/** Texture `kind` with `repeat` repeats a metre. */
uint32_t mat_texture(struct scene *s, uint32_t kind, struct vec3 a, struct vec3 b, float repeat,
                     float roughness);
/** As mat_texture(), in two colours of the palette. */
uint32_t mat_motif(struct scene *s, uint32_t kind, float repeat, float roughness);
uint32_t mat_wood(struct scene *s);
uint32_t mat_planks(struct scene *s);
uint32_t mat_stone(struct scene *s);
uint32_t mat_bricks(struct scene *s);
uint32_t mat_plaster(struct scene *s);
uint32_t mat_grass(struct scene *s);
uint32_t mat_leaf(struct scene *s);
uint32_t mat_cut(struct scene *s, uint32_t cut, struct vec3 colour, float repeat, float threshold);
uint32_t mat_water(struct scene *s);
uint32_t mat_text(struct scene *s, float letter);
uint32_t mat_picture(struct scene *s);
uint32_t mat_glow(struct scene *s, struct vec3 radiance, uint32_t texture, float repeat);
/** Repeats a metre so that one repeat covers `pixels` render pixels at the main object. */
float repeat_of(const struct scene *s, float pixels);

/* ------------------------------------------------------------------- light, camera, speed --- */

enum weather {
    WEATHER_CLEAR,
    WEATHER_CLOUDY,
    WEATHER_GOLDEN,
    WEATHER_OVERCAST,
    WEATHER_NIGHT
};
void look_weather(struct scene *s, enum weather weather, float sun_turn);
enum weather random_weather(struct scene *s);
/** Indoors: little light but from lamps and windows. */
void look_indoors(struct scene *s, float level);
void look_lens(struct scene *s, float distance, float fov);
/** A shot that looks at `target` from `distance`, turned by `yaw`, down by `pitch`. */
struct shot *look_shot(struct scene *s, struct vec3 target, float yaw, float pitch);
void camera_move(struct scene *s, struct shot *shot);
/** Metres a frame that move the main object a natural number of pixels. */
float natural_speed(struct scene *s);
/** Light as measured at the target on mid grey. */
float look_light(const struct scene *s);
void look_expose(struct scene *s, float key);
/** Multiplies sky and sun. */
void look_dim(struct scene *s, float k);
/** By chance, more of what makes path tracing noisy: small lamps, dark skies, gloss, textures. */
void look_noisy(struct scene *s);
/** Slows shots down that would pass through things; leaves out a cut into the inside of one. */
void look_path(struct scene *s);

/* ------------------------------------------------------------------------------- objects --- */

/** Something to look at, about `size` metres large, standing at p. */
typedef void object_fn(struct scene *s, int32_t node, float size);

void obj_table(struct scene *s, int32_t node, float size);
void obj_chair(struct scene *s, int32_t node, float size);
void obj_shelf(struct scene *s, int32_t node, float size);
void obj_sofa(struct scene *s, int32_t node, float size);
void obj_floor_lamp(struct scene *s, int32_t node, float size);
void obj_plant(struct scene *s, int32_t node, float size);
void obj_cabinet(struct scene *s, int32_t node, float size);
void obj_screen(struct scene *s, int32_t node, float size);
void obj_picture(struct scene *s, int32_t node, float size);

void obj_vase(struct scene *s, int32_t node, float size);
void obj_bottle(struct scene *s, int32_t node, float size);
void obj_bowl(struct scene *s, int32_t node, float size);
void obj_cup(struct scene *s, int32_t node, float size);
void obj_books(struct scene *s, int32_t node, float size);
void obj_package(struct scene *s, int32_t node, float size);
void obj_ball(struct scene *s, int32_t node, float size);
void obj_knot(struct scene *s, int32_t node, float size);
void obj_blob(struct scene *s, int32_t node, float size);
void obj_candle(struct scene *s, int32_t node, float size);
void obj_toy(struct scene *s, int32_t node, float size);
void obj_user_mesh(struct scene *s, int32_t node, float size);

void obj_tree(struct scene *s, int32_t node, float size);
void obj_conifer(struct scene *s, int32_t node, float size);
void obj_bush(struct scene *s, int32_t node, float size);
void obj_rock(struct scene *s, int32_t node, float size);
void obj_card_plant(struct scene *s, int32_t node, float size);
void obj_grass(struct scene *s, int32_t node, float size);
void obj_flowers(struct scene *s, int32_t node, float size);
void obj_fence(struct scene *s, int32_t node, float size);
void obj_bench(struct scene *s, int32_t node, float size);

void obj_building(struct scene *s, int32_t node, float size);
void obj_house(struct scene *s, int32_t node, float size);
void obj_car(struct scene *s, int32_t node, float size);
void obj_street_lamp(struct scene *s, int32_t node, float size);
void obj_sign(struct scene *s, int32_t node, float size);
void obj_person(struct scene *s, int32_t node, float size);
void obj_wires(struct scene *s, int32_t node, float size);
void obj_mesh_fence(struct scene *s, int32_t node, float size);
void obj_flag(struct scene *s, int32_t node, float size);

void obj_crate(struct scene *s, int32_t node, float size);
void obj_barrel(struct scene *s, int32_t node, float size);
void obj_pipes(struct scene *s, int32_t node, float size);
void obj_truss(struct scene *s, int32_t node, float size);
void obj_fan(struct scene *s, int32_t node, float size);
void obj_column(struct scene *s, int32_t node, float size);
void obj_stairs(struct scene *s, int32_t node, float size);

/** Falling or drifting particles in a box of `extent` around `centre`; no motion vectors. */
void particles(struct scene *s, struct vec3 centre, float extent, int count);
/** A window in a wall that lies in the xz plane of `node`, with blinds by chance. */
void window_in(struct scene *s, int32_t node, float half_x, float half_z);

/* ------------------------------------------------------------------------------- grammar --- */

void random_scene(struct scene *s);
void still_life(struct scene *s);
void room(struct scene *s);
void street(struct scene *s);
void garden(struct scene *s);
void landscape(struct scene *s);
void hall(struct scene *s);
void night_street(struct scene *s);
void yard(struct scene *s);
void floating(struct scene *s);
void desk(struct scene *s);

#endif
