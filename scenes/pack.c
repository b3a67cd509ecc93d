// SPDX-License-Identifier: MIT
/** From the scene to the bytes that the shaders read. */
#include "clip.h"

#include <string.h>

#define UNIT_WORDS 4 // 32-bit words of one place
#define MAX_OCCLUDERS 48

_Static_assert(sizeof(struct scene_frame) == 16 * SCENE_UNITS_FRAME, "frame");
_Static_assert(sizeof(struct scene_instance) == 16 * SCENE_UNITS_INSTANCE, "instance");
_Static_assert(sizeof(struct scene_vertex) == 16 * SCENE_UNITS_VERTEX, "vertex");
_Static_assert(sizeof(struct scene_material) == 16 * SCENE_UNITS_MATERIAL, "material");
_Static_assert(sizeof(struct scene_light) == 16 * SCENE_UNITS_LIGHT, "light");
_Static_assert(sizeof(struct scene_occluder) == 16 * SCENE_UNITS_OCCLUDER, "occluder");
_Static_assert(sizeof(struct tree_node) == 32, "tree node");

/** Nodes are addressed in pairs of units. */
static uint32_t take(uint32_t *units, uint32_t count)
{
    const uint32_t place = *units;
    *units += (count + 1) & ~1u;
    return place;
}

void pack_layout(struct hs_clip *c)
{
    struct scene *s = &c->scene;
    uint32_t units = 0, slot = 0;
    c->materials = take(&units, s->material_count * SCENE_UNITS_MATERIAL);
    c->slot.frame = take(&slot, SCENE_UNITS_FRAME);
    c->slot.instances = take(&slot, s->item_count * SCENE_UNITS_INSTANCE);
    c->slot.nodes = take(&slot, s->item_count * 4);
    c->slot.lamps = take(&slot, s->lamp_count * SCENE_UNITS_LIGHT);
    c->slot.occluders = take(&slot, MAX_OCCLUDERS * SCENE_UNITS_OCCLUDER);
    for (uint32_t i = 0; i < s->mesh_count; i++) {
        struct mesh *m = &s->meshes[i];
        m->place_triangles = take(&units, m->triangle_count);
        if (m->deform == DEFORM_NONE) {
            m->place_vertices = take(&units, m->vertex_count * SCENE_UNITS_VERTEX);
            m->place_nodes = take(&units, m->node_count * 2);
        } else {
            m->slot_vertices = take(&slot, 2 * m->vertex_count * SCENE_UNITS_VERTEX);
            m->slot_nodes = take(&slot, m->node_count * 2);
        }
    }
    if (c->params.environment) {
        const uint32_t width = c->params.environment->width, rows = c->params.environment->height;
        c->environment = take(&units, width * rows);
        c->environment_table = take(&units, (width * rows + rows + 3) / 4);
    }
    c->fixed_units = units;
    c->slot.units = slot;
}

static uint32_t pack_normal(struct vec3 n)
{
    const float k = 1.f / (fabsf(n.x) + fabsf(n.y) + fabsf(n.z) + 1e-20f);
    float x = n.x * k, y = n.y * k;
    if (n.z < 0) {
        const float old = x;
        x = (1.f - fabsf(y)) * (x >= 0 ? 1.f : -1.f);
        y = (1.f - fabsf(old)) * (y >= 0 ? 1.f : -1.f);
    }
    const int32_t i = (int32_t)lrintf(x * 32767.f), j = (int32_t)lrintf(y * 32767.f);
    return ((uint32_t)i & 0xffffu) | (uint32_t)j << 16;
}

static void pack_vertices(const struct mesh *m, const struct vec3 *positions, uint32_t *words)
{
    struct scene_vertex *out = (struct scene_vertex *)words;
    for (uint32_t i = 0; i < m->vertex_count; i++) {
        const uint32_t n = pack_normal(m->normal[i]);
        out[i] = (struct scene_vertex){
            {positions[i].x, positions[i].y, positions[i].z, 0},
            {m->rest[i].x, m->rest[i].y, m->rest[i].z, m->tint[i]},
        };
        memcpy(&out[i].place[3], &n, sizeof(n));
    }
}

/** Mean luma over a texel of the picture as it is looked up, that is, bilinearly. */
static float texel_luma(const struct hs_scenes_environment *e, uint32_t x, uint32_t y)
{
    float sum = 0;
    for (int j = -1; j <= 1; j++) {
        const int64_t row = (int64_t)y + j;
        const uint32_t v = row < 0 ? 0 : row >= e->height ? e->height - 1 : (uint32_t)row;
        for (int i = -1; i <= 1; i++) {
            const uint32_t u = (uint32_t)((int64_t)x + i + e->width) % e->width;
            const float *p = e->pixels + 3 * ((size_t)v * e->width + u);
            sum += (i ? 0.125f : 0.75f) * (j ? 0.125f : 0.75f) * luma3(v3(p[0], p[1], p[2]));
        }
    }
    return fmaxf(sum, 0);
}

/** Texels, then their weights for sampling: luma times the solid angle of the row. */
static void pack_environment(struct hs_clip *c, uint32_t *out)
{
    const struct hs_scenes_environment *e = c->params.environment;
    const uint32_t count = e->width * e->height;
    float *table = (float *)(out + c->environment_table * UNIT_WORDS);
    double total = 0;
    for (uint32_t y = 0; y < e->height; y++) {
        double row = 0, below = 0;
        for (uint32_t x = 0; x < e->width; x++) {
            const uint32_t i = y * e->width + x;
            float *texel = (float *)(out + (c->environment + i) * UNIT_WORDS);
            memcpy(texel, e->pixels + 3 * (size_t)i, 3 * sizeof(float));
            texel[3] = 1;
            row += texel_luma(e, x, y);
        }
        for (uint32_t x = 0; x < e->width; x++) {
            below += texel_luma(e, x, y);
            table[y * e->width + x] =
                row > 0 ? (float)(below / row) : (float)(x + 1) / (float)e->width;
        }
        total += row * sin(3.14159265358979 * (y + 0.5) / e->height);
        table[count + y] = (float)total;
    }
    for (uint32_t y = 0; y < e->height; y++)
        table[count + y] =
            total > 0 ? (float)(table[count + y] / total) : (float)(y + 1) / (float)e->height;
    table[count + e->height - 1] = 1;
    // About its irradiance on a surface that sees half of it.
    c->environment_weight = (float)(total / count * 3.14159265 * 3.14159265 / 2);
}

void pack_fixed(struct hs_clip *c, uint32_t *out)
{
    const struct scene *s = &c->scene;
    memcpy(out + c->materials * UNIT_WORDS, s->materials,
           s->material_count * sizeof(*s->materials));
    for (uint32_t i = 0; i < s->mesh_count; i++) {
        const struct mesh *m = &s->meshes[i];
        uint32_t *triangles = out + m->place_triangles * UNIT_WORDS;
        for (uint32_t k = 0; k < m->triangle_count; k++) {
            memcpy(triangles + 4 * k, m->triangle[k], sizeof(m->triangle[k]));
            triangles[4 * k + 3] = 0;
        }
        if (m->deform != DEFORM_NONE)
            continue;
        pack_vertices(m, m->position, out + m->place_vertices * UNIT_WORDS);
        tree_write((struct tree_node *)(out + m->place_nodes * UNIT_WORDS), m->nodes, m->node_count,
                   m->root, m->place_nodes / 2);
    }
    if (c->params.environment)
        pack_environment(c, out);
}

static struct bounds node_bounds(const struct tree_node *n)
{
    struct bounds b;
    memcpy(b.low, n->low, sizeof(b.low));
    memcpy(b.high, n->high, sizeof(b.high));
    return b;
}

static struct bounds bounds_union(struct bounds a, struct bounds b)
{
    for (int k = 0; k < 3; k++) {
        a.low[k] = fminf(a.low[k], b.low[k]);
        a.high[k] = fmaxf(a.high[k], b.high[k]);
    }
    return a;
}

static struct bounds refit(struct mesh *m, const struct vec3 *positions, uint32_t link)
{
    const uint32_t count = link >> 24, first = link & 0xffffffu;
    if (count) {
        struct bounds b = {{1e30f, 1e30f, 1e30f}, {-1e30f, -1e30f, -1e30f}};
        for (uint32_t i = first; i < first + count; i++) {
            for (int k = 0; k < 3; k++) {
                const struct vec3 *p = &positions[m->triangle[i][k]];
                const struct bounds q = {{p->x, p->y, p->z}, {p->x, p->y, p->z}};
                b = bounds_union(b, q);
            }
        }
        return b;
    }
    struct bounds both[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct tree_node *n = &m->nodes[first + i];
        both[i] = refit(m, positions, n->link);
        memcpy(n->low, both[i].low, sizeof(n->low));
        memcpy(n->high, both[i].high, sizeof(n->high));
    }
    return bounds_union(both[0], both[1]);
}

/** Smooth normals of a deformed mesh; leaves and blades keep the ones they were made with. */
static void deformed_normals(struct mesh *m, const struct vec3 *positions)
{
    if (m->deform == DEFORM_SWAY)
        return;
    struct vec3 *keep = m->position;
    memcpy(keep, positions, m->vertex_count * sizeof(*keep));
    mesh_smooth(m);
}

static void pack_deformed(struct hs_clip *c, struct mesh *m, float t, float t_old, uint32_t *out,
                          uint32_t base)
{
    uint32_t *vertices = out + m->slot_vertices * UNIT_WORDS;
    pose_mesh(m, t_old, c->positions);
    pack_vertices(m, c->positions, vertices + m->vertex_count * SCENE_UNITS_VERTEX * UNIT_WORDS);
    pose_mesh(m, t, c->positions);
    deformed_normals(m, c->positions);
    pack_vertices(m, c->positions, vertices);
    refit(m, c->positions, m->root);
    tree_write((struct tree_node *)(out + m->slot_nodes * UNIT_WORDS), m->nodes, m->node_count,
               m->root, (base + m->slot_nodes) / 2);
}

static struct bounds item_bounds(const struct hs_clip *c, const struct item *item,
                                 const struct rows *world)
{
    struct bounds b = {{-1, -1, -1}, {1, 1, 1}};
    if (item->shape == SCENE_SHAPE_QUAD || item->shape == SCENE_SHAPE_DISC) {
        b.low[2] = b.high[2] = 0;
    } else if (item->shape == SCENE_SHAPE_CONE && item->taper > 1) {
        b.low[0] = b.low[1] = -item->taper;
        b.high[0] = b.high[1] = item->taper;
    } else if (item->shape == SCENE_SHAPE_MESH) {
        const struct mesh *m = &c->scene.meshes[item->mesh];
        if (m->root >> 24 == 0) {
            b = bounds_union(node_bounds(&m->nodes[m->root]), node_bounds(&m->nodes[m->root + 1]));
        } else {
            b = (struct bounds){{1e30f, 1e30f, 1e30f}, {-1e30f, -1e30f, -1e30f}};
            for (uint32_t i = 0; i < m->vertex_count; i++) {
                const struct vec3 p = m->position[i];
                b = bounds_union(b, (struct bounds){{p.x, p.y, p.z}, {p.x, p.y, p.z}});
            }
        }
    }
    struct bounds out;
    for (int i = 0; i < 3; i++) {
        out.low[i] = out.high[i] = world->m[i][3];
        for (int j = 0; j < 3; j++) {
            const float x = world->m[i][j] * b.low[j], y = world->m[i][j] * b.high[j];
            out.low[i] += fminf(x, y);
            out.high[i] += fmaxf(x, y);
        }
        const float margin = 1e-5f * (fabsf(out.low[i]) + fabsf(out.high[i])) + 1e-6f;
        out.low[i] -= margin;
        out.high[i] += margin;
    }
    return out;
}

static struct rows item_world(const struct item *item, const struct rows *nodes)
{
    const struct rows place = rows_mul(nodes[item->node], item->local);
    return rows_mul(place, rows_scale(item->half));
}

static void pack_items(struct hs_clip *c, uint32_t *out, uint32_t base, uint32_t *root)
{
    const struct scene *s = &c->scene;
    uint32_t node_count = 0;
    for (uint32_t i = 0; i < s->item_count; i++) {
        const struct rows world = item_world(&s->items[i], c->now);
        c->boxes[i] = item_bounds(c, &s->items[i], &world);
    }
    const uint32_t link = tree_build(c->boxes, c->order, s->item_count, 2, c->nodes, &node_count);
    *root = tree_write((struct tree_node *)(out + c->slot.nodes * UNIT_WORDS), c->nodes, node_count,
                       link, (base + c->slot.nodes) / 2);
    struct scene_instance *to = (struct scene_instance *)(out + c->slot.instances * UNIT_WORDS);
    for (uint32_t i = 0; i < s->item_count; i++) {
        const struct item *item = &s->items[c->order[i]];
        const struct rows now = item_world(item, c->now), old = item_world(item, c->old);
        const struct rows inverse = rows_inverse(&now);
        struct scene_instance in = {0};
        memcpy(in.inverse, inverse.m, sizeof(in.inverse));
        memcpy(in.now, now.m, sizeof(in.now));
        memcpy(in.old, old.m, sizeof(in.old));
        memcpy(in.scale, &item->half, sizeof(item->half));
        in.scale[3] = item->taper;
        in.link[0] = item->shape | item->map << 8 | item->flags << 16;
        in.link[1] = item->material;
        in.link[3] = item->lamp;
        if (item->shape == SCENE_SHAPE_MESH) {
            const struct mesh *m = &s->meshes[item->mesh];
            const bool rigid = m->deform == DEFORM_NONE;
            const uint32_t nodes = rigid ? m->place_nodes : base + m->slot_nodes;
            in.link[2] = m->root >> 24 ? m->root : m->root + nodes / 2;
            in.mesh[0] = m->place_triangles;
            in.mesh[1] = rigid ? m->place_vertices : base + m->slot_vertices;
            in.mesh[2] = rigid ? in.mesh[1] : in.mesh[1] + m->vertex_count * SCENE_UNITS_VERTEX;
        }
        to[i] = in;
    }
}

static void pack_lamps(struct hs_clip *c, uint32_t frame, uint32_t *out)
{
    const struct scene *s = &c->scene;
    struct scene_light *to = (struct scene_light *)(out + c->slot.lamps * UNIT_WORDS);
    for (uint32_t i = 0; i < s->lamp_count; i++) {
        const struct lamp *lamp = &s->lamps[i];
        const struct rows world = rows_mul(c->now[lamp->node], lamp->local);
        const struct vec3 u = rows_vector(&world, v3(lamp->half_u, 0, 0));
        const struct vec3 v = rows_vector(&world, v3(0, lamp->half_v, 0));
        const struct vec3 l = mul(lamp->radiance, pose_flicker(lamp->flicker, lamp->seed, frame));
        to[i] = (struct scene_light){
            {world.m[0][3], world.m[1][3], world.m[2][3], lamp->radius},
            {l.x, l.y, l.z, 0},
            {u.x, u.y, u.z, 0},
            {v.x, v.y, v.z, 0},
            {lamp->kind, 0, 0, 0},
        };
    }
}

/** Boxes around the things that darken their surroundings, the largest first come. */
static uint32_t pack_occluders(struct hs_clip *c, uint32_t *out)
{
    const struct scene *s = &c->scene;
    struct scene_occluder *to = (struct scene_occluder *)(out + c->slot.occluders * UNIT_WORDS);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->item_count && count < MAX_OCCLUDERS; i++) {
        const struct item *item = &s->items[i];
        if (!item->occludes)
            continue;
        const float k = item->shape == SCENE_SHAPE_BOX ? 1.f : 0.85f;
        const struct vec3 half = mul(item->half, k);
        const struct rows place = rows_mul(c->now[item->node], item->local);
        const struct rows world = rows_mul(place, rows_scale(half));
        const struct rows inverse = rows_inverse(&world);
        memcpy(to[count].inverse, inverse.m, sizeof(inverse.m));
        memcpy(to[count].half_size, &half, sizeof(half));
        // Of the two larger extents: how wide it is seen from its side.
        const float small = fminf(half.x, fminf(half.y, half.z));
        const float large = fmaxf(half.x, fmaxf(half.y, half.z));
        const float middle = half.x + half.y + half.z - small - large;
        to[count].half_size[3] = middle * fminf(large, 3 * middle);
        count++;
    }
    return count;
}

static void put_view(struct scene_camera *out, const struct view *v)
{
    *out = (struct scene_camera){
        {v->eye.x, v->eye.y, v->eye.z, 0},
        {v->right.x, v->right.y, v->right.z, v->tan_x},
        {v->up.x, v->up.y, v->up.z, v->tan_y},
        {v->forward.x, v->forward.y, v->forward.z, 0},
    };
}

static void put3(float *out, struct vec3 v, float w)
{
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
    out[3] = w;
}

static void pack_sky(const struct scene *s, struct scene_frame *f)
{
    const struct sky *sky = &s->sky;
    put3(f->zenith, sky->zenith, sky->exponent);
    put3(f->horizon, sky->horizon, sky->glow);
    put3(f->below, sky->below, 0);
    put3(f->sun, sky->sun, cosf(sky->sun_radius));
    put3(f->sun_radiance, sky->sun_radiance, 0);
    put3(f->ambient_up, sky->ambient_up, 0);
    put3(f->ambient_down, sky->ambient_down, 0);
    put3(f->fog, sky->fog, sky->fog_density);
    f->cloud[0] = sky->cloud;
    f->cloud[1] = sky->cloud_scale;
    f->cloud[2] = sky->cloud_light;
    f->cloud[3] = (float)(sky->cloud_seed & 0xffffu);
}

void pack_frame(struct hs_clip *c, const struct hs_clip_job *job, uint32_t *out, uint32_t base)
{
    const uint32_t frame = job->frame;
    struct scene *s = &c->scene;
    const struct hs_clip_params *p = &c->params;
    const float t = p->still ? 0 : (float)frame * p->speed;
    const float t_old = p->still ? 0 : job->next ? t + p->speed : t - p->speed;
    bool reset;
    const struct shot *shot = pose_shot(s, frame, &reset);
    struct view now, old;
    pose_view(s, shot, t, &now);
    pose_view(s, shot, t_old, &old);
    pose_nodes(s, t, c->now);
    pose_nodes(s, t_old, c->old);
    for (uint32_t i = 0; i < s->mesh_count; i++) {
        if (s->meshes[i].deform != DEFORM_NONE)
            pack_deformed(c, &s->meshes[i], t, t_old, out, base);
    }
    struct scene_frame f = {0};
    put_view(&f.now, &now);
    put_view(&f.old, &old);
    pack_sky(s, &f);
    pack_items(c, out, base, &f.root[0]);
    pack_lamps(c, p->still ? 0 : frame, out);
    f.root[1] = base + c->slot.instances;
    f.root[2] = s->lamp_count;
    f.root[3] = pack_occluders(c, out);
    f.table[0] = base + c->slot.lamps;
    f.table[1] = base + c->slot.occluders;
    f.table[2] = c->materials;
    f.table[3] = s->flags | (p->clear_film ? SCENE_FLAG_CLEAR_FILM : 0) |
                 (c->environment_width ? SCENE_FLAG_ENVIRONMENT : 0);
    f.time[0] = t;
    f.time[1] = p->fireflies;
    f.time[2] = p->firefly_gain;
    f.time[3] = s->reach;
    if (c->environment_width)
        f.sun_radiance[3] = c->environment_weight;
    f.env[0] = c->environment;
    f.env[1] = c->environment_width;
    f.env[2] = c->environment_height;
    f.env[3] = c->environment_table;
    memcpy(out + c->slot.frame * UNIT_WORDS, &f, sizeof(f));
}
