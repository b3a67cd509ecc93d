// SPDX-License-Identifier: MIT
#include "look.h"

#include <string.h>

struct vec3 hsv(float hue, float saturation, float value)
{
    const float h = (hue - floorf(hue)) * 6.f;
    const struct vec3 c = v3(clampf(fabsf(h - 3.f) - 1.f, 0, 1), clampf(2.f - fabsf(h - 2.f), 0, 1),
                             clampf(2.f - fabsf(h - 4.f), 0, 1));
    return mul(mix3(v3(1, 1, 1), c, saturation), value);
}

void look_palette(struct scene *s)
{
    struct random *r = &s->rng;
    static const float schemes[5][5] = {{0, 0.03f, 0.08f, -0.05f, 0.5f},
                                        {0, 0.05f, 0.5f, 0.55f, 0.45f},
                                        {0, 0.33f, 0.66f, 0.03f, 0.36f},
                                        {0, 0.08f, 0.15f, 0.22f, 0.6f},
                                        {0, 0.02f, -0.02f, 0.04f, 0.12f}};
    const float *scheme = schemes[random_int(r, 0, 4)], hue = random_unit(r);
    s->saturation = random_in(r, 0.2f, 0.85f);
    for (int i = 0; i < 5; i++) {
        const float sat = clampf(s->saturation * random_in(r, 0.5f, 1.2f), 0, 0.92f);
        const float value = i == 4 ? random_in(r, 0.04f, 0.15f) : random_log(r, 0.12f, 0.8f);
        s->palette[i] = hsv(hue + scheme[i], sat, value);
    }
}

struct vec3 palette_colour(struct scene *s)
{
    const struct vec3 c = s->palette[random_int(&s->rng, 0, 4)];
    return mul(c, random_in(&s->rng, 0.75f, 1.2f));
}

struct vec3 pale_colour(struct scene *s)
{
    struct random *r = &s->rng;
    const float hue = random_chance(r, 0.6f) ? random_in(r, 0.06f, 0.14f) : random_unit(r);
    const float value = random_in(r, 0.45f, 0.8f);
    return hsv(hue, random_in(r, 0.02f, 0.25f), value);
}

struct vec3 dark_colour(struct scene *s)
{
    struct random *r = &s->rng;
    const float value = random_in(r, 0.02f, 0.09f);
    const float saturation = random_in(r, 0, 0.4f);
    return hsv(random_unit(r), saturation, value);
}

float repeat_of(const struct scene *s, float pixels)
{
    return 1.f / fmaxf(pixels * s->pixel, 1e-5f);
}

static void mottle(struct scene *s, uint32_t m, float amount, float repeat)
{
    material(s, m)->detail[0] = amount;
    material(s, m)->detail[1] = repeat;
}

static void bump(struct scene *s, uint32_t m, float amount, float repeat)
{
    material(s, m)->detail[2] = amount;
    material(s, m)->detail[3] = repeat;
}

static void second(struct scene *s, uint32_t m, struct vec3 b, float roughness)
{
    memcpy(material(s, m)->b, &b, sizeof(b));
    material(s, m)->pattern[3] = roughness;
}

uint32_t mat_plain(struct scene *s, struct vec3 colour, float roughness)
{
    const uint32_t m = scene_material(s, colour, roughness);
    if (random_chance(&s->rng, 0.3f)) {
        const float repeat = repeat_of(s, random_log(&s->rng, 6, 80));
        mottle(s, m, random_in(&s->rng, 0.05f, 0.3f), repeat);
    }
    return m;
}

uint32_t mat_paint(struct scene *s, float roughness)
{
    return mat_plain(s, palette_colour(s), roughness);
}

uint32_t mat_metal(struct scene *s, struct vec3 colour, float roughness)
{
    const uint32_t m = scene_material(s, colour, roughness);
    material(s, m)->b[3] = 1;
    if (random_chance(&s->rng, 0.3f)) {
        const float repeat = repeat_of(s, random_log(&s->rng, 6, 40));
        bump(s, m, random_in(&s->rng, 0.01f, 0.06f), repeat);
    }
    return m;
}

static struct vec3 metal_colour(struct random *r)
{
    static const float metals[6][3] = {{0.95f, 0.93f, 0.88f}, {0.56f, 0.57f, 0.58f},
                                       {0.91f, 0.75f, 0.42f}, {0.92f, 0.60f, 0.48f},
                                       {0.70f, 0.69f, 0.66f}, {0.55f, 0.52f, 0.49f}};
    const float *m = metals[random_int(r, 0, 5)];
    return v3(m[0], m[1], m[2]);
}

uint32_t mat_mirror(struct scene *s)
{
    return mat_metal(s, v3(0.93f, 0.94f, 0.94f), 0.02f);
}

uint32_t mat_texture(struct scene *s, uint32_t kind, struct vec3 a, struct vec3 b, float repeat,
                     float roughness)
{
    if (s->simple && random_chance(&s->rng, 0.85f))
        return mat_plain(s, random_chance(&s->rng, 0.7f) ? a : b, roughness);
    const uint32_t m = scene_material(s, a, roughness);
    second(s, m, b, clampf(roughness + random_in(&s->rng, -0.15f, 0.15f), 0.05f, 1));
    material(s, m)->kind[0] = kind;
    material(s, m)->pattern[0] = repeat;
    material(s, m)->pattern[2] = random_in(&s->rng, 0.25f, 0.8f);
    return m;
}

uint32_t mat_any(struct scene *s)
{
    struct random *r = &s->rng;
    const float pick = random_unit(r);
    if (pick < 0.40f)
        return mat_paint(s, random_in(r, 0.45f, 1.f));
    if (pick < 0.58f) // lacquer, porcelain, plastic
        return mat_paint(s, random_log(r, 0.04f, 0.3f));
    if (pick < 0.68f) {
        const float polish = random_log(r, 0.05f, 0.5f);
        return mat_metal(s, metal_colour(r), polish);
    }
    if (pick < 0.71f)
        return mat_mirror(s);
    if (pick < 0.78f)
        return mat_wood(s);
    if (pick < 0.84f)
        return mat_stone(s);
    static const uint32_t kinds[] = {SCENE_TEX_CHECKER, SCENE_TEX_STRIPES, SCENE_TEX_DOTS,
                                     SCENE_TEX_PLAID, SCENE_TEX_NOISE};
    const uint32_t kind = kinds[random_int(r, 0, 4)];
    const float roughness = random_in(r, 0.2f, 0.9f);
    const float repeat = repeat_of(s, s->fine * random_log(r, 0.8f, 12.f));
    const uint32_t m = mat_motif(s, kind, repeat, roughness);
    material(s, m)->pattern[1] = random_chance(r, 0.5f) ? 0 : random_in(r, 0, PI_F);
    return m;
}

uint32_t mat_motif(struct scene *s, uint32_t kind, float repeat, float roughness)
{
    const struct vec3 b = palette_colour(s);
    return mat_texture(s, kind, palette_colour(s), b, repeat, roughness);
}

uint32_t mat_wood(struct scene *s)
{
    struct random *r = &s->rng;
    const float value = random_log(r, 0.12f, 0.5f);
    const float saturation = random_in(r, 0.4f, 0.65f);
    const struct vec3 a = hsv(random_in(r, 0.05f, 0.1f), saturation, value);
    const float roughness = random_in(r, 0.2f, 0.7f);
    const float repeat = random_log(r, 1.5f, 6.f);
    return mat_texture(s, SCENE_TEX_WOOD, a, mul(a, random_in(r, 0.45f, 0.75f)), repeat, roughness);
}

uint32_t mat_planks(struct scene *s)
{
    struct random *r = &s->rng;
    const float value = random_log(r, 0.15f, 0.5f);
    const float saturation = random_in(r, 0.3f, 0.6f);
    const struct vec3 a = hsv(random_in(r, 0.05f, 0.1f), saturation, value);
    const float roughness = random_log(r, 0.12f, 0.7f);
    const float repeat = random_log(r, 5, 12);
    const uint32_t m =
        mat_texture(s, SCENE_TEX_PLANKS, a, mul(a, random_in(r, 0.4f, 0.7f)), repeat, roughness);
    material(s, m)->pattern[1] = random_chance(r, 0.7f) ? 0 : PI_F / 2;
    return m;
}

uint32_t mat_stone(struct scene *s)
{
    struct random *r = &s->rng;
    const float value = random_in(r, 0.3f, 0.75f);
    const float saturation = random_in(r, 0.02f, 0.2f);
    const struct vec3 a = hsv(random_in(r, 0.05f, 0.15f), saturation, value);
    const bool marble = random_chance(r, 0.5f);
    const float roughness = marble ? random_log(r, 0.06f, 0.4f) : random_in(r, 0.6f, 1);
    const float repeat = repeat_of(s, random_log(r, 8, 60));
    const uint32_t m = mat_texture(s, marble ? SCENE_TEX_MARBLE : SCENE_TEX_NOISE, a,
                                   mul(a, random_in(r, 0.35f, 0.8f)), repeat, roughness);
    if (!marble) {
        const float bumps = repeat_of(s, random_log(r, 4, 16));
        bump(s, m, random_in(r, 0.05f, 0.25f), bumps);
    }
    return m;
}

uint32_t mat_bricks(struct scene *s)
{
    struct random *r = &s->rng;
    struct vec3 a;
    if (random_chance(r, 0.7f)) {
        const float value = random_in(r, 0.15f, 0.45f);
        const float saturation = random_in(r, 0.4f, 0.7f);
        a = hsv(random_in(r, 0, 0.06f), saturation, value);
    } else {
        a = pale_colour(s);
    }
    const float grey = random_in(r, 0.3f, 0.6f);
    return mat_texture(s, SCENE_TEX_BRICKS, a, v3(grey, grey * 0.97f, grey * 0.92f),
                       random_log(r, 5, 12), 0.9f);
}

uint32_t mat_plaster(struct scene *s)
{
    struct random *r = &s->rng;
    const float roughness = random_in(r, 0.7f, 1);
    const uint32_t m = scene_material(s, pale_colour(s), roughness);
    const float repeat = random_log(r, 0.5f, 4);
    mottle(s, m, random_in(r, 0, 0.18f), repeat);
    return m;
}

uint32_t mat_grass(struct scene *s)
{
    struct random *r = &s->rng;
    float value = random_in(r, 0.08f, 0.22f);
    float saturation = random_in(r, 0.45f, 0.75f);
    const struct vec3 a = hsv(random_in(r, 0.2f, 0.3f), saturation, value);
    struct vec3 b;
    if (random_chance(r, 0.5f)) {
        b = mul(a, random_in(r, 1.2f, 1.8f));
    } else {
        value = random_in(r, 0.12f, 0.3f);
        saturation = random_in(r, 0.3f, 0.5f);
        b = hsv(random_in(r, 0.08f, 0.15f), saturation, value);
    }
    return mat_texture(s, SCENE_TEX_GROUND, a, b, random_log(r, 0.6f, 2.5f), 0.95f);
}

uint32_t mat_leaf(struct scene *s)
{
    struct random *r = &s->rng;
    const float hue =
        random_chance(r, 0.8f) ? random_in(r, 0.19f, 0.33f) : random_in(r, 0.02f, 0.14f);
    const float roughness = random_in(r, 0.4f, 0.8f);
    const float value = random_in(r, 0.12f, 0.35f);
    const uint32_t m = scene_material(s, hsv(hue, random_in(r, 0.45f, 0.8f), value), roughness);
    material(s, m)->kind[2] = SCENE_MATERIAL_THIN;
    material(s, m)->scroll[2] = random_in(r, 0.2f, 0.6f);
    return m;
}

uint32_t mat_cut(struct scene *s, uint32_t cut, struct vec3 colour, float repeat, float threshold)
{
    const uint32_t m = scene_material(s, colour, 0.6f);
    material(s, m)->kind[1] = cut;
    material(s, m)->more[1] = repeat;
    material(s, m)->more[2] = threshold;
    return m;
}

uint32_t mat_water(struct scene *s)
{
    struct random *r = &s->rng;
    const float value = random_in(r, 0.02f, 0.08f);
    const float saturation = random_in(r, 0.3f, 0.7f);
    const uint32_t m = scene_material(s, hsv(random_in(r, 0.45f, 0.6f), saturation, value), 0.04f);
    const float repeat = repeat_of(s, random_log(r, 8, 40));
    bump(s, m, random_log(r, 0.01f, 0.12f), repeat);
    material(s, m)->more[0] = 0.02f;
    material(s, m)->more[3] = random_in(r, 0.03f, 0.15f);
    material(s, m)->kind[2] = SCENE_MATERIAL_WAVES;
    return m;
}

uint32_t mat_text(struct scene *s, float letter)
{
    struct random *r = &s->rng;
    const bool dark_on_pale = random_chance(r, 0.75f);
    const struct vec3 pale = pale_colour(s), dark = dark_colour(s);
    return mat_texture(s, SCENE_TEX_TEXT, dark_on_pale ? pale : dark, dark_on_pale ? dark : pale,
                       1.f / letter, random_in(r, 0.3f, 0.9f));
}

uint32_t mat_picture(struct scene *s)
{
    return mat_motif(s, SCENE_TEX_PICTURE, random_log(&s->rng, 1.2f, 4), 0.5f);
}

uint32_t mat_glow(struct scene *s, struct vec3 radiance, uint32_t texture, float repeat)
{
    const uint32_t m =
        mat_texture(s, texture, v3(0.05f, 0.05f, 0.05f), v3(0.9f, 0.9f, 0.9f), repeat, 0.5f);
    memcpy(material(s, m)->emission, &radiance, sizeof(radiance));
    if (texture != SCENE_TEX_PLAIN)
        material(s, m)->kind[2] |= SCENE_MATERIAL_EMIT_TEX;
    return m;
}
