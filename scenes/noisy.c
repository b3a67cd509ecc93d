// SPDX-License-Identifier: MIT
/** What makes path tracing noisy, added to a scene that is built. */
#include "look.h"

#define MAX_SMALL_LAMPS 32

static bool shiny(const struct scene_material *m)
{
    return luma3(v3(m->emission[0], m->emission[1], m->emission[2])) <= 0 &&
           !(m->kind[2] & (SCENE_MATERIAL_TRANSPARENT | SCENE_MATERIAL_THIN));
}

static void polish(struct scene *s)
{
    struct random *r = &s->rng;
    for (uint32_t i = 0; i < s->material_count; i++) {
        struct scene_material *m = &s->materials[i];
        if (!shiny(m) || !random_chance(r, 0.5f))
            continue;
        m->a[3] = random_log(r, 0.05f, 0.4f);
        m->pattern[3] = clampf(m->a[3] * random_log(r, 0.5f, 2), 0.03f, 1);
    }
}

/** Albedo that changes from pixel to pixel, which a denoiser must not take for noise. */
static void paper(struct scene *s)
{
    static const uint32_t kinds[] = {SCENE_TEX_CHECKER, SCENE_TEX_STRIPES, SCENE_TEX_BRICKS,
                                     SCENE_TEX_NOISE,   SCENE_TEX_WOOD,    SCENE_TEX_MARBLE,
                                     SCENE_TEX_TEXT,    SCENE_TEX_TILES,   SCENE_TEX_DOTS,
                                     SCENE_TEX_PLAID,   SCENE_TEX_PICTURE, SCENE_TEX_GROUND};
    struct random *r = &s->rng;
    for (uint32_t i = 0; i < s->material_count; i++) {
        struct scene_material *m = &s->materials[i];
        if (!shiny(m) || m->kind[0] != SCENE_TEX_PLAIN || !random_chance(r, 0.6f))
            continue;
        const float shade = random_log(r, 0.15f, 4);
        const struct vec3 other =
            random_chance(r, 0.4f) ? palette_colour(s) : mul(v3(m->a[0], m->a[1], m->a[2]), shade);
        m->b[0] = clampf(other.x, 0, 0.85f);
        m->b[1] = clampf(other.y, 0, 0.85f);
        m->b[2] = clampf(other.z, 0, 0.85f);
        m->kind[0] = kinds[random_int(r, 0, (int)(sizeof(kinds) / sizeof(kinds[0])) - 1)];
        m->pattern[0] = repeat_of(s, random_log(r, 3, 60));
        m->pattern[1] = random_chance(r, 0.6f) ? 0 : random_in(r, 0, PI_F);
        m->pattern[2] = random_in(r, 0.25f, 0.8f);
    }
}

/** The same light from a smaller lamp: sharp shadows, and the brighter where a path meets it. */
static void shrink_lamps(struct scene *s)
{
    struct random *r = &s->rng;
    for (uint32_t i = 0; i < s->lamp_count; i++) {
        struct lamp *lamp = &s->lamps[i];
        if (!lamp->item || lamp->kind == SCENE_LIGHT_FILL)
            continue;
        const float k = random_log(r, 1.5f, 6);
        struct item *item = &s->items[lamp->item - 1];
        lamp->radius /= k;
        lamp->half_u /= k;
        lamp->half_v /= k;
        item->half = mul(item->half, 1 / k);
        lamp->radiance = mul(lamp->radiance, k * k);
        for (int c = 0; c < 3; c++)
            s->materials[item->material].emission[c] *= k * k;
    }
}

/** Lamps of few pixels around what is looked at, which together give `share` of `light`. */
static void small_lamps(struct scene *s, float light, float share)
{
    struct random *r = &s->rng;
    const struct vec3 target = s->shots[0].target;
    const int count = (int)random_log(r, 2, MAX_SMALL_LAMPS);
    const float d = s->distance;
    const float tint = random_chance(r, 0.5f) ? 0.3f : 0.9f;
    for (int i = 0; i < count; i++) {
        const float radius = d * random_log(r, 0.002f, 0.012f);
        const float x = random_in(r, -0.7f, 0.7f), y = random_in(r, -0.7f, 0.7f);
        const float z = random_in(r, 0.05f, 0.6f);
        const struct vec3 to = v3(d * x, d * y, d * z);
        // As look_light() counts it, at the distance that lamps have in the middle.
        const float area = PI_F * radius * radius;
        const float level = share * light * 2 * PI_F * (0.4f * d * d) / area / (float)count;
        const float saturation = random_in(r, 0, tint);
        const struct vec3 colour = hsv(random_unit(r), saturation, 1);
        const struct vec3 radiance = mul(colour, level / fmaxf(luma3(colour), 0.05f));
        glow_ball(s, scene_place(s, -1, add(target, to), 0), v3(0, 0, 0), radius, radiance);
    }
}

void look_noisy(struct scene *s)
{
    struct random *r = &s->rng;
    const float before = look_light(s);
    if (s->failed)
        return;
    if (random_chance(r, 0.3f))
        polish(s);
    if (random_chance(r, 0.35f))
        paper(s);
    if (random_chance(r, 0.3f))
        shrink_lamps(s);
    const bool dim = random_chance(r, 0.25f);
    if (dim)
        look_dim(s, random_log(r, 0.01f, 0.3f));
    if (random_chance(r, dim ? 0.8f : 0.3f))
        small_lamps(s, before, random_log(r, 0.1f, 1.5f));
    s->exposure = clampf(s->exposure * before / fmaxf(look_light(s), 1e-6f), s->exposure * 0.2f,
                         s->exposure * 60);
}
