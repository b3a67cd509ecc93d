// SPDX-License-Identifier: MIT
#include "scene.h"

#include <stdlib.h>
#include <string.h>

void scene_finish(struct scene *s)
{
    for (uint32_t i = 0; i < s->mesh_count; i++)
        mesh_finish(&s->meshes[i]);
    free(s->nodes);
    free(s->items);
    free(s->lamps);
    free(s->materials);
    free(s->meshes);
    *s = (struct scene){0};
}

/**
 * Room for one more element. When memory runs out the scene is marked as failed and the first
 * element is given out again, so that builders need no checks; the scene is thrown away.
 */
static uint32_t append(struct scene *s, void **array, uint32_t *count, uint32_t *capacity,
                       size_t size)
{
    if (*count == *capacity) {
        const uint32_t more = *capacity ? *capacity * 2 : 64;
        void *grown = realloc(*array, more * size);
        if (!grown) {
            s->failed = true;
            return 0;
        }
        *array = grown;
        *capacity = more;
    }
    memset((char *)*array + *count * size, 0, size);
    return (*count)++;
}

static uint32_t reserve(struct scene *s, void *array, uint32_t *count, uint32_t *capacity,
                        size_t size)
{
    void *p;
    memcpy(&p, array, sizeof(p));
    const uint32_t index = append(s, &p, count, capacity, size);
    memcpy(array, &p, sizeof(p));
    return index;
}

#define RESERVE(s, name) \
    reserve(s, &(s)->name##s, &(s)->name##_count, &(s)->name##_capacity, sizeof(*(s)->name##s))

int32_t scene_node(struct scene *s, int32_t parent, struct rows base)
{
    const uint32_t i = RESERVE(s, node);
    if (s->failed)
        return 0;
    s->nodes[i].parent = parent;
    s->nodes[i].base = base;
    s->nodes[i].axis = v3(0, 0, 1);
    return (int32_t)i;
}

int32_t scene_place(struct scene *s, int32_t parent, struct vec3 p, float yaw)
{
    return scene_node(s, parent, rows_mul(rows_move(p), rows_turn(v3(0, 0, 1), yaw)));
}

static struct item spare_item;
static struct scene_material spare_material;
static struct lamp spare_lamp;

struct item *scene_item(struct scene *s, int32_t node, uint32_t shape, uint32_t material_index,
                        struct rows local, struct vec3 half)
{
    const uint32_t i = RESERVE(s, item);
    if (s->failed)
        return &spare_item;
    struct item *item = &s->items[i];
    item->node = node;
    item->shape = shape;
    item->material = material_index;
    item->local = local;
    item->half = half;
    item->taper = 1;
    item->mesh = -1;
    return item;
}

uint32_t scene_material(struct scene *s, struct vec3 colour, float roughness)
{
    const uint32_t i = RESERVE(s, material);
    if (s->failed)
        return 0;
    struct scene_material *m = &s->materials[i];
    memcpy(m->a, &colour, sizeof(colour));
    memcpy(m->b, &colour, sizeof(colour));
    m->a[3] = roughness;
    m->pattern[0] = 1;
    m->pattern[3] = roughness;
    m->detail[1] = 1;
    m->detail[3] = 1;
    m->more[0] = 0.04f;
    m->more[1] = 1;
    m->emission[3] = 1;
    m->kind[3] = random_bits(&s->rng);
    return i;
}

struct scene_material *material(struct scene *s, uint32_t index)
{
    return s->failed ? &spare_material : &s->materials[index];
}

struct lamp *scene_lamp(struct scene *s, int32_t node, uint32_t kind, struct rows local,
                        struct vec3 radiance)
{
    const uint32_t i = RESERVE(s, lamp);
    if (s->failed)
        return &spare_lamp;
    struct lamp *lamp = &s->lamps[i];
    lamp->node = node;
    lamp->kind = kind;
    lamp->local = local;
    lamp->radiance = radiance;
    lamp->radius = 0.05f;
    lamp->seed = random_bits(&s->rng);
    return lamp;
}

int32_t scene_mesh(struct scene *s, struct mesh *mesh)
{
    uint32_t *order = NULL;
    struct bounds *boxes = NULL;
    uint32_t(*sorted)[3] = NULL;
    const uint32_t count = mesh->triangle_count;
    int32_t index = -1;
    if (s->failed || !count)
        goto done;
    order = malloc(count * sizeof(*order));
    boxes = malloc(count * sizeof(*boxes));
    sorted = malloc(count * sizeof(*sorted));
    mesh->nodes = malloc(2 * (size_t)count * sizeof(*mesh->nodes));
    if (!order || !boxes || !sorted || !mesh->nodes)
        goto done;
    for (uint32_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            boxes[i].low[k] = 1e30f;
            boxes[i].high[k] = -1e30f;
            for (int c = 0; c < 3; c++) {
                const struct vec3 *p = &mesh->position[mesh->triangle[i][c]];
                const float x = k == 0 ? p->x : k == 1 ? p->y : p->z;
                boxes[i].low[k] = fminf(boxes[i].low[k], x);
                boxes[i].high[k] = fmaxf(boxes[i].high[k], x);
            }
        }
    }
    mesh->root = tree_build(boxes, order, count, 4, mesh->nodes, &mesh->node_count);
    for (uint32_t i = 0; i < count; i++)
        memcpy(sorted[i], mesh->triangle[order[i]], sizeof(sorted[i]));
    memcpy(mesh->triangle, sorted, count * sizeof(*sorted));
    const uint32_t i = reserve(s, &s->meshes, &s->mesh_count, &s->mesh_capacity, sizeof(*mesh));
    if (s->failed)
        goto done;
    s->meshes[i] = *mesh;
    *mesh = (struct mesh){0};
    index = (int32_t)i;
done:
    free(order);
    free(boxes);
    free(sorted);
    if (index < 0) {
        s->failed = true;
        mesh_finish(mesh);
    }
    return index;
}

struct item *box(struct scene *s, int32_t node, uint32_t m, struct vec3 p, struct vec3 half)
{
    struct item *item = scene_item(s, node, SCENE_SHAPE_BOX, m, rows_move(p), half);
    item->occludes = true;
    return item;
}

struct item *ball(struct scene *s, int32_t node, uint32_t m, struct vec3 p, float radius)
{
    struct item *item =
        scene_item(s, node, SCENE_SHAPE_SPHERE, m, rows_move(p), v3(radius, radius, radius));
    item->occludes = true;
    item->map = SCENE_MAP_CYLINDER;
    return item;
}

struct item *bar(struct scene *s, int32_t node, uint32_t m, struct vec3 a, struct vec3 b,
                 float radius, float taper)
{
    const struct vec3 along = sub(b, a);
    const struct rows local = rows_mul(rows_move(mul(add(a, b), 0.5f)), rows_align(along));
    struct item *item = scene_item(s, node, SCENE_SHAPE_CONE, m, local,
                                   v3(radius, radius, fmaxf(0.5f * length3(along), 1e-6f)));
    item->taper = taper;
    item->map = SCENE_MAP_CYLINDER;
    return item;
}

struct item *quad(struct scene *s, int32_t node, uint32_t m, struct rows local, float half_x,
                  float half_y)
{
    struct item *item = scene_item(s, node, SCENE_SHAPE_QUAD, m, local, v3(half_x, half_y, 1));
    item->map = SCENE_MAP_XY;
    return item;
}

struct item *mesh_item(struct scene *s, int32_t node, uint32_t m, int32_t mesh, struct rows local,
                       float scale)
{
    struct item *item = scene_item(s, node, SCENE_SHAPE_MESH, m, local, v3(scale, scale, scale));
    item->mesh = mesh;
    return item;
}

static uint32_t glow_material(struct scene *s, struct vec3 radiance)
{
    const uint32_t m = scene_material(s, v3(0, 0, 0), 0.5f);
    memcpy(material(s, m)->emission, &radiance, sizeof(radiance));
    return m;
}

void glow_ball(struct scene *s, int32_t node, struct vec3 p, float radius, struct vec3 radiance)
{
    struct item *item = ball(s, node, glow_material(s, radiance), p, radius);
    item->occludes = false;
    struct lamp *lamp = scene_lamp(s, node, SCENE_LIGHT_SPHERE, rows_move(p), radiance);
    lamp->radius = radius;
    lamp->item = s->item_count;
    item->lamp = s->lamp_count;
}

void glow_quad(struct scene *s, int32_t node, struct rows local, float half_x, float half_y,
               struct vec3 radiance)
{
    struct item *item = quad(s, node, glow_material(s, radiance), local, half_x, half_y);
    struct lamp *lamp = scene_lamp(s, node, SCENE_LIGHT_QUAD, local, radiance);
    lamp->half_u = half_x;
    lamp->half_v = half_y;
    lamp->item = s->item_count;
    item->lamp = s->lamp_count;
}
