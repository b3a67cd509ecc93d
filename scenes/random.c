// SPDX-License-Identifier: MIT
/** The grammar: a seed picks a place, a look and a camera. */
#include "look.h"

#include <stdlib.h>

struct place {
    void (*build)(struct scene *s);
    float chance;
};

static const struct place places[] = {
    {street, 0.15f}, {garden, 0.15f},       {landscape, 0.1f}, {room, 0.17f}, {still_life, 0.15f},
    {hall, 0.08f},   {night_street, 0.06f}, {yard, 0.08f},     {desk, 0.04f}, {floating, 0.04f},
};

/** A tighter part of the same picture: what a crop of a larger frame shows. */
static void crop(struct scene *s, struct shot *shot)
{
    struct random *r = &s->rng;
    const float k = s->crop;
    const struct vec3 forward = sub(shot->target, shot->eye);
    const struct vec3 side = normalize3(cross3(forward, v3(0, 0, 1)));
    const float reach = s->distance * tanf(0.5f * shot->fov) * (1 - 1 / k) * 0.7f;
    const struct vec3 offset = v3(0, 0, reach * random_in(r, -0.4f, 0.7f));
    shot->target =
        add(shot->target, add(mul(side, reach * s->aspect * random_in(r, -1, 1)), offset));
    shot->fov = 2 * atanf(tanf(0.5f * shot->fov) / k);
}

/** Takes away things that the camera stands in or that hide everything else. */
static void clear_view(struct scene *s)
{
    const struct shot *shot = &s->shots[0];
    const struct vec3 forward = normalize3(sub(shot->target, shot->eye));
    struct rows *world = calloc(s->node_count, sizeof(*world));
    uint32_t *items = calloc(s->node_count, sizeof(*items));
    if (!world || !items || s->failed) {
        s->failed = true;
        goto done;
    }
    pose_nodes(s, 0, world);
    for (uint32_t i = 0; i < s->item_count; i++)
        items[s->items[i].node]++;
    for (uint32_t i = 0; i < s->item_count; i++) {
        const struct item *item = &s->items[i];
        const struct vec3 middle = rows_point(&item->local, v3(0, 0, 0));
        const struct vec3 d = sub(rows_point(&world[item->node], middle), shot->eye);
        const float radius =
            item->shape == SCENE_SHAPE_MESH ? 0.5f * item->half.z : length3(item->half);
        const float along = dot3(d, forward), aside = sqrtf(fmaxf(dot3(d, d) - along * along, 0));
        const bool close = length3(d) < radius * 0.8f + 0.08f * s->distance;
        const bool before = along > 0 && along < 0.3f * s->distance && aside < 0.5f * along &&
                            radius > 0.25f * along;
        if (radius > 0.35f * s->distance || !(close || before))
            continue;
        const bool alone = items[item->node] > 40;
        const int32_t node = item->node;
        for (uint32_t k = 0; k < s->item_count; k++) {
            if (alone ? k != i : s->items[k].node != node)
                continue;
            s->items[k].half = v3(1e-6f, 1e-6f, 1e-6f);
            s->items[k].occludes = false;
            if (s->items[k].lamp)
                s->lamps[s->items[k].lamp - 1].radiance = v3(0, 0, 0);
        }
    }
done:
    free(world);
    free(items);
}

static void cut(struct scene *s)
{
    struct random *r = &s->rng;
    struct shot *shot = &s->shots[1];
    *shot = s->shots[0];
    shot->first = s->frame_count / 2;
    const float sign = random_sign(r);
    const struct rows turn = rows_turn(v3(0, 0, 1), sign * random_in(r, 0.25f, 0.7f));
    shot->eye = add(shot->target, mul(rows_vector(&turn, sub(shot->eye, shot->target)),
                                      random_in(r, 0.7f, 1.1f)));
    s->shot_count = 2;
}

void random_scene(struct scene *s)
{
    struct random *r = &s->rng;
    float pick = random_unit(r);
    s->fine = random_chance(r, 0.2f) ? random_log(r, 0.25f, 2) : random_log(r, 2, 12);
    size_t i = 0;
    while (i + 1 < sizeof(places) / sizeof(places[0]) && (pick -= places[i].chance) >= 0)
        i++;
    s->simple = random_chance(r, 0.45f);
    // A crop shows fewer metres a pixel, which speeds and fine detail depend on.
    s->crop = random_chance(r, 0.5f) ? random_log(r, 1.2f, s->simple ? 3.5f : 2.6f) : 1;
    places[i].build(s);
    if (s->crop > 1)
        crop(s, &s->shots[0]);
    clear_view(s);
    if (s->frame_count >= 4 && random_chance(r, 0.06f))
        cut(s);
    if (s->path)
        look_noisy(s);
    look_path(s);
}
