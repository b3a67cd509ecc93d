// SPDX-License-Identifier: MIT
/** Skies, exposure, lenses and camera moves. */
#include "look.h"

static struct vec3 sun_direction(float turn, float height)
{
    return v3(cosf(turn) * cosf(height), sinf(turn) * cosf(height), sinf(height));
}

static void set_sun(struct sky *sky, struct vec3 irradiance)
{
    const float solid_angle = 2 * PI_F * (1.f - cosf(sky->sun_radius));
    sky->sun_radiance = mul(irradiance, 1.f / solid_angle);
}

enum weather random_weather(struct scene *s)
{
    static const float chances[] = {0.32f, 0.3f, 0.18f, 0.2f};
    float pick = random_unit(&s->rng);
    for (int i = 0; i < 4; i++) {
        pick -= chances[i];
        if (pick < 0)
            return (enum weather)i;
    }
    return WEATHER_CLEAR;
}

void look_weather(struct scene *s, enum weather weather, float sun_turn)
{
    struct random *r = &s->rng;
    struct sky *sky = &s->sky;
    float height = random_in(r, 0.35f, 1.1f);
    struct vec3 sun = mul(v3(1, 0.94f, 0.84f), random_in(r, 3.2f, 4.6f));
    sky->sun_radius = random_chance(r, 0.7f) ? 0.0047f : random_in(r, 0.005f, 0.03f);
    sky->zenith = mul(v3(0.16f, 0.33f, 0.72f), random_in(r, 0.6f, 1.1f));
    sky->horizon = mul(v3(0.5f, 0.68f, 0.92f), random_in(r, 0.7f, 1.05f));
    sky->below = v3(0.22f, 0.2f, 0.17f);
    sky->exponent = random_in(r, 0.4f, 0.65f);
    sky->glow = random_in(r, 0.1f, 0.5f);
    sky->cloud = 0;
    sky->cloud_scale = random_log(r, 0.25f, 0.9f);
    sky->cloud_light = random_in(r, 1.0f, 1.5f);
    sky->cloud_seed = random_bits(r);
    switch (weather) {
    case WEATHER_CLEAR:
        if (random_chance(r, 0.4f))
            sky->cloud = random_in(r, 0.3f, 0.5f);
        break;
    case WEATHER_CLOUDY:
        sky->cloud = random_in(r, 0.45f, 0.7f);
        break;
    case WEATHER_GOLDEN:
        height = random_in(r, 0.07f, 0.28f);
        sun = mul(v3(1, 0.58f, 0.28f), random_in(r, 2.2f, 3.6f));
        sky->zenith = mul(v3(0.15f, 0.24f, 0.45f), random_in(r, 0.6f, 1.f));
        sky->horizon = mul(v3(0.95f, 0.62f, 0.38f), random_in(r, 0.5f, 0.9f));
        sky->glow = random_in(r, 0.6f, 1.3f);
        sky->cloud = random_chance(r, 0.7f) ? random_in(r, 0.35f, 0.6f) : 0;
        break;
    case WEATHER_OVERCAST:
        sun = v3(0, 0, 0);
        sky->zenith = mul(v3(0.58f, 0.63f, 0.7f), random_in(r, 0.7f, 1.1f));
        sky->horizon = mul(v3(0.75f, 0.78f, 0.82f), random_in(r, 0.8f, 1.f));
        sky->glow = 0;
        sky->cloud = random_chance(r, 0.5f) ? random_in(r, 0.5f, 0.8f) : 0;
        sky->cloud_light = random_in(r, 0.8f, 1.f);
        break;
    case WEATHER_NIGHT:
        height = random_in(r, 0.4f, 1.f);
        sun = mul(v3(0.5f, 0.6f, 0.9f), random_in(r, 0.f, 0.06f));
        sky->zenith = mul(v3(0.008f, 0.012f, 0.03f), random_in(r, 0.5f, 2));
        sky->horizon = mul(v3(0.05f, 0.05f, 0.075f), random_in(r, 0.4f, 1.6f));
        sky->below = v3(0.01f, 0.01f, 0.012f);
        sky->glow = 0;
        sky->cloud = random_chance(r, 0.4f) ? random_in(r, 0.3f, 0.6f) : 0;
        if (random_chance(r, 0.5f))
            s->flags |= SCENE_FLAG_STARS;
        break;
    }
    sky->sun = sun_direction(sun_turn, height);
    set_sun(sky, sun);
    sky->ambient_up = mix3(sky->horizon, sky->zenith, 0.55f);
    if (sky->cloud > 0)
        sky->ambient_up =
            mix3(sky->ambient_up, mul(v3(1, 1, 1), luma3(sky->ambient_up)), sky->cloud * 0.6f);
    // What the ground sends back.
    const struct vec3 lit = add(mul(sky->ambient_up, 0.9f), mul(sun, sinf(height) / PI_F));
    sky->ambient_down = scale3(lit, v3(0.24f, 0.21f, 0.17f));
    sky->fog = mix3(sky->horizon, sky->zenith, 0.2f);
    sky->fog = mix3(sky->fog, mul(v3(1, 1, 1), luma3(sky->fog)), 0.5f);
    sky->fog_density = random_log(r, 0.0005f, 0.008f);
    if (random_chance(r, 0.08f))
        sky->fog_density *= 3;
    if (random_chance(r, 0.4f))
        s->flags |= SCENE_FLAG_SOFT_LIGHTS;
    s->reach = 2.5f;
}

void look_indoors(struct scene *s, float level)
{
    struct sky *sky = &s->sky;
    sky->fog_density = 0;
    sky->ambient_up = mul(v3(1.f, 0.96f, 0.9f), level);
    sky->ambient_down = mul(v3(0.9f, 0.82f, 0.72f), level * 0.8f);
    s->reach = 1.6f;
}

void look_lens(struct scene *s, float distance, float fov)
{
    s->distance = distance;
    s->pixel = 2 * distance * tanf(0.5f * fov) / s->render_height / s->crop;
    s->shots[0].fov = fov;
    s->shot_count = 1;
}

struct shot *look_shot(struct scene *s, struct vec3 target, float yaw, float pitch)
{
    struct shot *shot = &s->shots[0];
    const float d = s->distance;
    shot->target = target;
    shot->eye = add(
        target, v3(-d * cosf(yaw) * cosf(pitch), -d * sinf(yaw) * cosf(pitch), d * sinf(pitch)));
    shot->seed = random_bits(&s->rng);
    shot->phase = random_in(&s->rng, 0, 2 * PI_F);
    return shot;
}

/** Render pixels a frame of the fastest large part: median 2.4, with a long tail. */
static float natural_pixels(struct random *r)
{
    return clampf(2.4f * expf(0.95f * random_normal(r)), 0.05f, 24.f);
}

float natural_speed(struct scene *s)
{
    return s->pixel * natural_pixels(&s->rng);
}

void camera_move(struct scene *s, struct shot *shot)
{
    struct random *r = &s->rng;
    const struct vec3 forward = normalize3(sub(shot->target, shot->eye));
    const struct vec3 side = normalize3(cross3(forward, v3(0, 0, 1)));
    float speed = natural_speed(s);
    speed *= random_sign(r);
    const float pick = random_unit(r);
    const float pixel_angle = s->pixel / s->distance;
    if (pick < 0.12f) {
        // stands still
    } else if (pick < 0.30f) {
        shot->orbit = speed / s->distance * random_in(r, 0.8f, 1.6f);
    } else if (pick < 0.48f) { // along with the target: parallax everywhere
        shot->eye_velocity = add(mul(side, speed), v3(0, 0, 0.2f * speed * random_in(r, -1, 1)));
        shot->target_velocity = mul(shot->eye_velocity, random_in(r, 0.3f, 1));
    } else if (pick < 0.64f) { // pan and tilt
        shot->target_velocity = add(mul(side, speed), v3(0, 0, speed * random_in(r, -0.4f, 0.4f)));
    } else if (pick < 0.82f) { // dolly: pixels at the rim of the picture move `speed`
        const float rate = fabsf(speed) / (s->pixel * 0.5f * s->render_height) * 1.5f;
        const float way = random_chance(r, 0.75f) ? 1.f : -1.f;
        shot->eye_velocity = mul(forward, way * clampf(rate, 0.f, 0.06f) * s->distance);
        shot->target_velocity = shot->eye_velocity;
    } else if (pick < 0.9f) {
        shot->zoom = clampf(speed / (s->pixel * 0.5f * s->render_height), -0.06f, 0.06f);
    } else {
        shot->sway = add(mul(side, speed * 6), v3(0, 0, speed * random_in(r, -2, 2)));
        shot->sway_rate = random_in(r, 0.1f, 0.3f);
    }
    if (random_chance(r, 0.3f)) {
        shot->shake = pixel_angle * random_log(r, 0.5f, 8);
        shot->shake_rate = random_in(r, 0.2f, 0.8f);
    }
    if (random_chance(r, 0.12f))
        shot->roll_rate = random_in(r, -0.01f, 0.01f);
    if (random_chance(r, 0.15f))
        shot->roll = random_in(r, -0.12f, 0.12f);
}

void look_dim(struct scene *s, float k)
{
    struct sky *sky = &s->sky;
    struct vec3 *colours[] = {&sky->zenith,     &sky->horizon,      &sky->below, &sky->sun_radiance,
                              &sky->ambient_up, &sky->ambient_down, &sky->fog};
    for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
        *colours[i] = mul(*colours[i], k);
}

static void scale_light(struct scene *s, float k)
{
    look_dim(s, k);
    for (uint32_t i = 0; i < s->lamp_count; i++)
        s->lamps[i].radiance = mul(s->lamps[i].radiance, k);
    for (uint32_t i = 0; i < s->material_count; i++) {
        for (int c = 0; c < 3; c++)
            s->materials[i].emission[c] *= k;
    }
}

float look_light(const struct scene *s)
{
    const struct sky *sky = &s->sky;
    const float solid_angle = 2 * PI_F * (1.f - cosf(sky->sun_radius));
    float light = 0.5f * (luma3(sky->ambient_up) + luma3(sky->ambient_down));
    light += luma3(sky->sun_radiance) * solid_angle * 0.5f * fmaxf(sky->sun.z, 0.3f) / PI_F;
    for (uint32_t i = 0; i < s->lamp_count; i++) {
        const struct lamp *lamp = &s->lamps[i];
        const struct rows *base = &s->nodes[lamp->node].base;
        const struct vec3 d =
            sub(rows_point(base, rows_point(&lamp->local, v3(0, 0, 0))), s->shots[0].target);
        const float area = lamp->kind == SCENE_LIGHT_QUAD ? 4 * lamp->half_u * lamp->half_v
                                                          : PI_F * lamp->radius * lamp->radius;
        light += 0.5f * luma3(lamp->radiance) * area / (dot3(d, d) + area) / PI_F;
    }
    return light;
}

void look_expose(struct scene *s, float key)
{
    const float light = look_light(s);
    // Renderers disagree about the unit of radiance by orders of magnitude.
    const float k = random_log(&s->rng, 0.25f, 4);
    s->exposure = clampf(key / fmaxf(0.22f * light, 1e-4f), 0.05f, 60.f) / k;
    scale_light(s, k);
}
