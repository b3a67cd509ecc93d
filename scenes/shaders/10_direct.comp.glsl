// SPDX-License-Identifier: MIT
// Direct mode: a game-like frame. One shadow ray per light, analytic ambient light, mirror rays for
// smooth surfaces; free of noise but for soft shadows.
// Reads the scene buffer; writes the planes in push.planes at [height, width]. One thread a pixel.
// Precision: f32. Source: docs/scenes.md.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "pixel.glsl"

const int MAX_STEPS = 12;
const int MAX_MIRRORS = 2;
const float SMOOTH_ENOUGH = 0.3; // roughness up to which reflections are traced

vec3 light_surface(Surface s, vec3 v, mat3 frame, LightSample l, float angle, float e, bool shadow)
{
    vec3 local = l.direction * frame;
    bool thin = (s.flags & SCENE_MATERIAL_THIN) != 0u;
    if (local.z <= 0.0 && !thin)
        return vec3(0.0);
    Surface wide = s; // the lobe takes the light's size in, or highlights would be points
    wide.roughness = sqrt(min(1.0, s.roughness * s.roughness + 0.5 * angle + 0.004));
    vec3 c = min(evaluate(wide, v, local), vec3(30.0)) * l.radiance;
    if (luma(c) < 1e-5)
        return vec3(0.0);
    if (shadow) {
        vec3 side = dot(l.direction, s.geometric) > 0.0 ? s.geometric : -s.geometric;
        if (trace(s.place + side * e * 4.0, l.direction, e, l.distance * 0.9995, true).instance !=
            0u)
            return vec3(0.0);
    }
    return c;
}

vec3 direct_light(Surface s, vec3 v, mat3 frame, float e)
{
    vec3 total = vec3(0.0);
    bool soft = (SKY_FLAGS & SCENE_FLAG_SOFT_LIGHTS) != 0u;
    if (luma(SUN_RADIANCE) > 0.0) {
        LightSample l = sample_sun(soft ? next_random2() : vec2(0.0));
        l.radiance *= sun_solid_angle();
        total += light_surface(s, v, frame, l, sqrt(max(0.0, 1.0 - SUN.w * SUN.w)), e, true);
    }
    for (uint i = 0u; i < light_count(); i++) {
        uint at = light_at(i);
        vec4 c = LIGHT_CENTRE(at);
        vec3 to = c.xyz - s.place;
        float area = light_area(at), d2 = dot(to, to);
        LightSample l = LightSample(to * inversesqrt(d2), sqrt(d2), LIGHT_RADIANCE(at), 0.0);
        if (LIGHT_KIND(at) != SCENE_LIGHT_FILL) {
            if (soft) {
                LightSample p = sample_light(at, s.place, next_random2());
                if (p.pdf > 0.0) {
                    l.direction = p.direction;
                    l.distance = p.distance;
                }
            } else if (LIGHT_KIND(at) == SCENE_LIGHT_SPHERE) {
                l.distance -= c.w;
            }
        }
        float facing = 1.0;
        if (LIGHT_KIND(at) == SCENE_LIGHT_QUAD)
            facing = abs(dot(normalize(cross(LIGHT_U(at), LIGHT_V(at))), l.direction));
        l.radiance *= area * facing / (d2 + 0.3 * area);
        if (luma(l.radiance) < 2e-4)
            continue;
        total += light_surface(s, v, frame, l, sqrt(area / (d2 + area)), e,
                               LIGHT_KIND(at) != SCENE_LIGHT_FILL);
    }
    return total;
}

vec3 radiance(vec3 origin, vec3 direction, out Primary primary)
{
    vec3 total = vec3(0.0), through = vec3(1.0);
    float tmin = 1e-4, travelled = 0.0;
    int mirrors = 0;
    primary.found = false;
    primary.alpha = 1.0;
    for (int step_index = 0; step_index < MAX_STEPS; step_index++) {
        Hit hit = trace(origin, direction, tmin, FAR, false);
        if (hit.instance == 0u) {
            bool clear = (SKY_FLAGS & SCENE_FLAG_CLEAR_FILM) != 0u && mirrors == 0;
            if (clear)
                primary.alpha = 1.0 - through.x;
            else
                total += through * (sky_radiance(direction) + sun_seen(direction));
            break;
        }
        Surface s = surface_at(hit, origin + direction * hit.t, direction);
        if ((s.flags & SCENE_MATERIAL_TRANSPARENT) != 0u) {
            total += through * s.opacity * layer_colour(s);
            through *= 1.0 - s.opacity;
            tmin = hit.t + 2.0 * ray_offset(hit.t);
            continue;
        }
        if (mirrors == 0) {
            primary.found = true;
            primary.hit = hit;
            primary.surface = s;
            primary.distance = hit.t;
        }
        travelled += hit.t;
        float e = ray_offset(travelled);
        mat3 frame = basis(s.normal);
        vec3 v = -direction * frame, f0 = surface_f0(s);
        vec3 mirrored = directional_albedo(f0, s.roughness, v.z);
        vec3 c = s.emission + direct_light(s, v, frame, e);
        float open = openness(s.place, s.normal);
        c += surface_diffuse(s) * (1.0 - mirrored) * ambient(s.normal) * open;
        vec3 l = reflect(direction, s.normal);
        if (dot(l, s.geometric) < 0.0)
            l = normalize(l - s.geometric * (1.02 * dot(l, s.geometric)));
        float traced = 1.0 - smoothstep(SMOOTH_ENOUGH - 0.12, SMOOTH_ENOUGH, s.roughness);
        bool go_on = traced > 0.0 && mirrors < MAX_MIRRORS && luma(through * mirrored) > 0.01;
        float rest = go_on ? 1.0 - traced : 1.0;
        c += mirrored * rest * open * mix(ambient(l), ambient(s.normal), s.roughness);
        if (mirrors == 0)
            c = with_fog(c, hit.t);
        total += through * c;
        if (!go_on)
            break;
        through *= mirrored * traced * exp(-FOG.w * hit.t);
        if (s.roughness > 0.1) // a rough mirror shows its surroundings dimmer where it is occluded
            through *= mix(1.0, open, s.roughness);
        origin = s.place + s.geometric * e * 4.0;
        direction = l;
        tmin = e;
        mirrors++;
    }
    return total;
}
