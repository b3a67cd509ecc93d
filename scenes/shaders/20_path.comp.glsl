// SPDX-License-Identifier: MIT
// Path mode: global illumination by path tracing, light sampling and BRDF sampling combined by
// multiple importance sampling (balance heuristic), Russian roulette.
// Reads the scene buffer; writes the planes in push.planes at [height, width]. One thread a pixel.
// Precision: f32. Source: Veach 1997, chapters 8 to 10; docs/scenes.md.
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef SCENE_REFERENCE
#define SCENE_EVEN_SAMPLES // noise of the input stays that of independent samples
#endif
#include "pixel.glsl"

const int MAX_STEPS = 24;
const int MAX_BOUNCES = 6;

// Radiance that an emitter at the end of a BRDF sample adds; `pdf` 0 stands for a mirror.
float emitter_weight(uint light, vec3 from, vec3 direction, float t, float pdf, float total_weight)
{
    if (pdf <= 0.0 || light == 0u)
        return 1.0;
    uint l = light_at(light - 1u);
    float p = light_pdf(l, from, direction, t) * light_weight(l, from) / total_weight;
    return pdf / (pdf + p);
}

vec3 sampled_light(Surface s, vec3 v, mat3 frame, float e, float total_weight)
{
    if (total_weight <= 0.0)
        return vec3(0.0);
    float pick = next_random() * total_weight, weight = sun_weight();
    vec2 u = next_random2();
    LightSample l = LightSample(vec3(0.0), 0.0, vec3(0.0), 0.0);
    pick -= weight;
    if (pick < 0.0) {
        l = sample_sun(u);
    } else {
        for (uint i = 0u; i < light_count(); i++) {
            weight = light_weight(light_at(i), s.place);
            pick -= weight;
            if (pick < 0.0 && weight > 0.0) {
                l = sample_light(light_at(i), s.place, u);
                break;
            }
        }
    }
    if (l.pdf <= 0.0)
        return vec3(0.0);
    vec3 local = l.direction * frame;
    float p = l.pdf * weight / total_weight;
    vec3 c = evaluate(s, v, local) * l.radiance * (1.0 / (p + direction_pdf(s, v, local)));
    if (luma(c) <= 0.0)
        return vec3(0.0);
    vec3 side = dot(l.direction, s.geometric) > 0.0 ? s.geometric : -s.geometric;
    if (trace(s.place + side * e * 4.0, l.direction, e, l.distance * 0.9995, true).instance != 0u)
        return vec3(0.0);
    return c;
}

vec3 radiance(vec3 origin, vec3 direction, out Primary primary)
{
    vec3 total = vec3(0.0), through = vec3(1.0);
    float tmin = 1e-4, travelled = 0.0, pdf = 0.0, total_weight = 0.0, fog = 1.0;
    int bounces = 0;
    primary.found = false;
    primary.alpha = 1.0;
    for (int step_index = 0; step_index < MAX_STEPS; step_index++) {
        Hit hit = trace(origin, direction, tmin, FAR, false);
        if (hit.instance == 0u) {
            if ((SKY_FLAGS & SCENE_FLAG_CLEAR_FILM) != 0u && bounces == 0) {
                primary.alpha = 1.0 - through.x;
                break;
            }
            // What is sampled as a light shares its weight with that; the rest of the sky is not.
            float share = 1.0;
            if (pdf > 0.0 && total_weight > 0.0)
                share = pdf / (pdf + sun_pdf(direction) * sun_weight() / total_weight);
            vec3 sky = sky_radiance(direction);
            if (has_environment())
                total += through * sky * share;
            else if (pdf <= 0.0)
                total += through * (sky + sun_seen(direction));
            else
                total += through * (sky + (in_sun(direction) ? SUN_RADIANCE * share : vec3(0.0)));
            break;
        }
        Surface s = surface_at(hit, origin + direction * hit.t, direction);
        if ((s.flags & SCENE_MATERIAL_TRANSPARENT) != 0u) {
            total += through * s.opacity * layer_colour(s);
            through *= 1.0 - s.opacity;
            tmin = hit.t + 2.0 * ray_offset(hit.t);
            continue;
        }
        if (bounces == 0) {
            primary.found = true;
            primary.hit = hit;
            primary.surface = s;
            primary.distance = hit.t;
            fog = exp(-FOG.w * hit.t);
            total += through * FOG.rgb * (1.0 - fog);
            through *= fog;
        }
        travelled += hit.t;
        float e = ray_offset(travelled);
        if (luma(s.emission) > 0.0)
            total += through * s.emission *
                     emitter_weight(INSTANCE_LINK(hit.instance).w, origin, direction, hit.t, pdf,
                                    total_weight);
        if (bounces == MAX_BOUNCES)
            break;
        mat3 frame = basis(s.normal);
        vec3 v = -direction * frame, local;
        total_weight = light_total(s.place);
        total += through * sampled_light(s, v, frame, e, total_weight);
        through *= sample_direction(s, v, local, pdf);
        direction = frame * local;
        float side = dot(direction, s.geometric);
        if (luma(through) <= 0.0 || (side <= 0.0 && local.z > 0.0))
            break;
        if (bounces >= 1) {
            float keep = clamp(max(through.x, max(through.y, through.z)), 0.05, 0.95);
            if (next_random() >= keep)
                break;
            through /= keep;
        }
        origin = s.place + s.geometric * (side > 0.0 ? e * 4.0 : -e * 4.0);
        tmin = e;
        bounces++;
    }
#ifndef SCENE_REFERENCE
    if (FIREFLY.x > 0.0 && next_random() < FIREFLY.x)
        total *= FIREFLY.y;
#endif
    return total;
}
