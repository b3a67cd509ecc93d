// SPDX-License-Identifier: MIT
/** A scene on the CPU: what the grammar builds and the pose of a frame is computed from. */
#ifndef HS_SCENES_SCENE_H
#define HS_SCENES_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hsscenes.h"
#include "shaders/interface.h"
#include "vector.h"

/** A moving frame of reference. Everything in it is per frame of the clip. */
struct node {
    int32_t parent; // -1: the world; always before this node
    struct rows base;
    struct vec3 velocity;
    struct vec3 sway; // position += sway * sin(sway_rate * t + phase)
    float sway_rate;
    struct vec3 axis; // unit, of spin and rock
    float spin;       // radians a frame
    float rock;       // radians, amplitude
    float rock_rate;
    float phase;
    float hop; // height of bouncing
    float hop_rate;
    float wrap; // > 0: position falls by velocity modulo this distance (particles)
};

enum deform {
    DEFORM_NONE,
    DEFORM_CLOTH, // waves along x, held at x = 0
    DEFORM_SWAY,  // bends with the square of the height
    DEFORM_WATER, // waves in z
    DEFORM_BLOB,  // swells and dents along the normal
};

struct mesh {
    struct vec3 *position;
    struct vec3 *normal;
    struct vec3 *rest;
    float *tint;
    uint32_t vertex_count, vertex_capacity;
    uint32_t (*triangle)[3];
    uint32_t triangle_count, triangle_capacity;
    struct tree_node *nodes;
    uint32_t node_count;
    uint32_t root;
    enum deform deform;
    float deform_size, deform_rate, deform_phase, deform_reach;
    uint32_t place_vertices, place_triangles, place_nodes; // in the buffer, set by the clip
    uint32_t slot_vertices, slot_nodes;                    // in a slot, deforming meshes
};

struct item {
    int32_t node;
    struct rows local; // rigid, relative to the node
    struct vec3 half;  // half extents, metres; meshes: scale
    float taper;
    uint32_t shape, map, flags, material;
    int32_t mesh;
    uint32_t lamp; // index + 1
    bool occludes; // darkens its surroundings in direct mode
};

struct lamp {
    int32_t node;
    struct rows local;
    uint32_t kind;
    float radius, half_u, half_v;
    struct vec3 radiance;
    uint32_t item; // of the emitter that is seen, + 1
    float flicker; // 0..1
    uint32_t seed;
};

/** One camera. Rates are per frame of the clip. */
struct shot {
    uint32_t first; // frame at which it starts
    struct vec3 eye, target;
    struct vec3 eye_velocity, target_velocity;
    float orbit;      // around the vertical through the target
    struct vec3 sway; // of the eye
    float sway_rate, phase;
    float fov;  // vertical, radians
    float zoom; // the tangent is multiplied by exp(zoom)
    float roll, roll_rate;
    float shake, shake_rate; // radians
    uint32_t seed;
};

struct sky {
    struct vec3 zenith, horizon, below;
    float exponent, glow;
    struct vec3 sun, sun_radiance;
    float sun_radius; // radians
    float cloud, cloud_scale, cloud_light;
    uint32_t cloud_seed;
    struct vec3 ambient_up, ambient_down;
    struct vec3 fog;
    float fog_density;
};

struct scene {
    struct random rng;
    uint32_t seed;
    bool failed; // out of memory, sticky
    struct node *nodes;
    uint32_t node_count, node_capacity;
    struct item *items;
    uint32_t item_count, item_capacity;
    struct lamp *lamps;
    uint32_t lamp_count, lamp_capacity;
    struct scene_material *materials;
    uint32_t material_count, material_capacity;
    struct mesh *meshes;
    uint32_t mesh_count, mesh_capacity;
    struct shot shots[4];
    uint32_t shot_count;
    struct sky sky;
    uint32_t flags; // SCENE_FLAG_*
    float exposure;
    float reach; // of occlusion, metres

    // What the builder works with.
    float aspect; // render width over height
    float render_height;
    float pixel;    // metres a render pixel covers at the main object
    float distance; // from the camera to the main object
    float speed;
    float crop;  // >= 1: the picture is a part of one this much wider
    float fine;  // how fine textures are, render pixels a repeat, at the main object
    bool simple; // few faces and flat colours, as in stylised models
    struct vec3 palette[5];
    float saturation;
    uint32_t frame_count;
    bool path;         // path mode: no ambient light but what bounces
    int32_t crowns[8]; // meshes that trees share: round ones, then pointed ones
    uint32_t crown_count[2];
    const struct hs_scenes_mesh *user_mesh;
};

/** Frees what a scene holds. */
void scene_finish(struct scene *s);

/** The same name as a string that stays. */
const char *scene_pattern_name(const char *name);

/** Builds the pattern or the random scene of a seed. */
int scene_build(struct scene *s, const struct hs_clip_params *params, const struct hs_log *log);

/* ------------------------------------------------------------------------------ building --- */

int32_t scene_node(struct scene *s, int32_t parent, struct rows base);
/** A node that stands at `p`, turned by `yaw` around z. */
int32_t scene_place(struct scene *s, int32_t parent, struct vec3 p, float yaw);
struct item *scene_item(struct scene *s, int32_t node, uint32_t shape, uint32_t material,
                        struct rows local, struct vec3 half);
uint32_t scene_material(struct scene *s, struct vec3 colour, float roughness);
struct scene_material *material(struct scene *s, uint32_t index);
struct lamp *scene_lamp(struct scene *s, int32_t node, uint32_t kind, struct rows local,
                        struct vec3 radiance);
/** Returns the mesh's index; -1 when memory ran out. */
int32_t scene_mesh(struct scene *s, struct mesh *mesh);

struct item *box(struct scene *s, int32_t node, uint32_t material, struct vec3 p, struct vec3 half);
struct item *ball(struct scene *s, int32_t node, uint32_t material, struct vec3 p, float radius);
/** A bar from `a` to `b` with round section. */
struct item *bar(struct scene *s, int32_t node, uint32_t material, struct vec3 a, struct vec3 b,
                 float radius, float taper);
struct item *quad(struct scene *s, int32_t node, uint32_t material, struct rows local, float half_x,
                  float half_y);
struct item *mesh_item(struct scene *s, int32_t node, uint32_t material, int32_t mesh,
                       struct rows local, float scale);
/** A glowing ball or quad with its light. */
void glow_ball(struct scene *s, int32_t node, struct vec3 p, float radius, struct vec3 radiance);
void glow_quad(struct scene *s, int32_t node, struct rows local, float half_x, float half_y,
               struct vec3 radiance);

/* -------------------------------------------------------------------------------- meshes --- */

void mesh_finish(struct mesh *m);
/** Index of the new vertex; UINT32_MAX when memory ran out. */
uint32_t mesh_vertex(struct mesh *m, struct vec3 p, struct vec3 n, float tint);
bool mesh_triangle(struct mesh *m, uint32_t a, uint32_t b, uint32_t c);
/** Normals from the faces around each vertex. */
void mesh_smooth(struct mesh *m);
/** Gives every triangle corners and a normal of its own. */
bool mesh_facet(struct mesh *m);
/** Surface of revolution: `count` points of (radius, height). */
bool mesh_lathe(struct mesh *m, const float (*profile)[2], uint32_t count, uint32_t sides);
bool mesh_torus(struct mesh *m, float big, float small, uint32_t sides, uint32_t rings, int knot);
/** Sphere dented by noise. */
bool mesh_rock(struct mesh *m, uint32_t seed, float rough, uint32_t level);
/** Leaves on a ball-like or cone-like crown of unit size. */
bool mesh_crown(struct mesh *m, struct random *r, uint32_t leaves, float size, bool cone);
bool mesh_grass(struct mesh *m, struct random *r, uint32_t blades, float radius, float height,
                float width);
/** A grid from -1 to 1 with heights from noise. */
bool mesh_terrain(struct mesh *m, uint32_t seed, uint32_t cells, float size, float height,
                  float flat_radius);
bool mesh_cloth(struct mesh *m, uint32_t columns, uint32_t lines, float width, float height);
float terrain_height(uint32_t seed, float x, float y, float height, float flat_radius);
bool mesh_user(struct mesh *m, const struct hs_scenes_mesh *user);

/* ---------------------------------------------------------------------------------- tree --- */

struct bounds {
    float low[3], high[3];
};

/** Two of these, neighbours, are the children of one link: see geometry.glsl. */
struct tree_node {
    float low[3];
    uint32_t link; // leaf: count << 24 | first; inner: first child
    float high[3];
    uint32_t unused;
};

/**
 * Builds a tree over `count` boxes into `nodes` (2 * count at most) and sorts `order`.
 * Child links are relative to nodes[0]. Returns the root's link.
 */
uint32_t tree_build(const struct bounds *boxes, uint32_t *order, uint32_t count, uint32_t leaf,
                    struct tree_node *nodes, uint32_t *node_count);
/** Copies nodes to the buffer, moving inner links by `base`; returns the moved root. */
uint32_t tree_write(struct tree_node *out, const struct tree_node *nodes, uint32_t count,
                    uint32_t root, uint32_t base);

/* ---------------------------------------------------------------------------------- pose --- */

struct view {
    struct vec3 eye, right, up, forward;
    float tan_x, tan_y;
};

/** World placement of every node at time `t`. */
void pose_nodes(const struct scene *s, float t, struct rows *out);
void pose_view(const struct scene *s, const struct shot *shot, float t, struct view *out);
/** The shot that a frame belongs to; `reset` tells whether it is the shot's first frame. */
const struct shot *pose_shot(const struct scene *s, uint32_t frame, bool *reset);
void pose_mesh(const struct mesh *m, float t, struct vec3 *positions);
float pose_flicker(float amount, uint32_t seed, uint32_t frame);

#endif
