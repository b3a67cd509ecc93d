// SPDX-License-Identifier: MIT
/** The grammar: a seed picks a place, a look and a camera. */
#include "look.h"

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
    shot->target = add(shot->target, add(mul(side, reach * s->aspect * random_in(r, -1, 1)),
                                         v3(0, 0, reach * random_in(r, -0.7f, 0.7f))));
    shot->fov = 2 * atanf(tanf(0.5f * shot->fov) / k);
}

static void cut(struct scene *s)
{
    struct random *r = &s->rng;
    struct shot *shot = &s->shots[1];
    *shot = s->shots[0];
    shot->first = s->frame_count / 2;
    const struct rows turn = rows_turn(v3(0, 0, 1), random_sign(r) * random_in(r, 0.25f, 0.7f));
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
    // A crop shows fewer metres a pixel, which speeds and fine detail depend on.
    s->crop = random_chance(r, 0.4f) ? random_log(r, 1.2f, 2.6f) : 1;
    places[i].build(s);
    if (s->crop > 1)
        crop(s, &s->shots[0]);
    if (s->frame_count >= 4 && random_chance(r, 0.06f))
        cut(s);
}
