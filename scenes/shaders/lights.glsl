// SPDX-License-Identifier: MIT
// The sun and the light list: importance, sampling, densities, and unshadowed ambient light.
#ifndef SCENE_LIGHTS_GLSL
#define SCENE_LIGHTS_GLSL
#include "brdf.glsl"
#include "sky.glsl"

#define LIGHT_CENTRE(l) data[l]
#define LIGHT_RADIANCE(l) data[l + 1u].rgb
#define LIGHT_U(l) data[l + 2u].xyz
#define LIGHT_V(l) data[l + 3u].xyz
#define LIGHT_KIND(l) udata[l + 4u].x

struct LightSample {
    vec3 direction;
    float distance;
    vec3 radiance;
    float pdf; // per solid angle; 0: nothing
};

uint light_count()
{
    return ROOT.z;
}

uint light_at(uint index)
{
    return TABLE.x + index * SCENE_UNITS_LIGHT;
}

float light_area(uint l)
{
    vec4 c = LIGHT_CENTRE(l);
    if (LIGHT_KIND(l) == SCENE_LIGHT_QUAD)
        return 4.0 * length(cross(LIGHT_U(l), LIGHT_V(l)));
    return PI * c.w * c.w;
}

// Rough irradiance at a place: the weight with which a light is picked.
float light_weight(uint l, vec3 place)
{
    if (LIGHT_KIND(l) == SCENE_LIGHT_FILL)
        return 0.0;
    vec3 to = LIGHT_CENTRE(l).xyz - place;
    float area = light_area(l);
    return luma(LIGHT_RADIANCE(l)) * area / (dot(to, to) + 0.3 * area);
}

float sun_solid_angle()
{
    return 2.0 * PI * (1.0 - SUN.w);
}

bool has_environment()
{
    return (SKY_FLAGS & SCENE_FLAG_ENVIRONMENT) != 0u;
}

// Of what shines from outside: the sun, or the environment picture in its place.
float sun_weight()
{
    return has_environment() ? FRAME(12).w : luma(SUN_RADIANCE) * sun_solid_angle();
}

// Cumulative weights of the environment: of the texels of each row, then of the rows.
float environment_table(uint index)
{
    return data[ENV.w + index / 4u][index % 4u];
}

// First entry of `count` from `first` on that is above u; `u` becomes the place inside it.
uint environment_search(uint first, uint count, inout float u, out float share)
{
    uint low = 0u, high = count - 1u;
    while (low < high) {
        uint middle = (low + high) / 2u;
        if (environment_table(first + middle) > u)
            high = middle;
        else
            low = middle + 1u;
    }
    float before = low > 0u ? environment_table(first + low - 1u) : 0.0;
    share = environment_table(first + low) - before;
    u = share > 0.0 ? clamp((u - before) / share, 0.0, 1.0) : 0.5;
    return low;
}

float environment_density(float share, vec2 size, float theta)
{
    return share * size.x * size.y / (2.0 * PI * PI * max(sin(theta), 1e-4));
}

// Density per solid angle with which `sample_environment` gives a direction.
float environment_pdf(vec3 d)
{
    vec2 size = vec2(ENV.yz);
    float theta = acos(clamp(d.z, -1.0, 1.0));
    vec2 p = vec2(0.5 - atan(d.y, d.x) / (2.0 * PI), theta / PI) * size;
    uvec2 i = uvec2(clamp(p, vec2(0.0), size - 1.0));
    uint row = i.y * ENV.y, rows = ENV.y * ENV.z;
    float x = environment_table(row + i.x) - (i.x > 0u ? environment_table(row + i.x - 1u) : 0.0);
    float y = environment_table(rows + i.y) - (i.y > 0u ? environment_table(rows + i.y - 1u) : 0.0);
    return environment_density(x * y, size, theta);
}

LightSample sample_environment(vec2 u)
{
    vec2 size = vec2(ENV.yz);
    float x_share, y_share;
    uint y = environment_search(ENV.y * ENV.z, ENV.z, u.y, y_share);
    uint x = environment_search(y * ENV.y, ENV.y, u.x, x_share);
    float theta = (float(y) + u.y) / size.y * PI;
    float phi = (0.5 - (float(x) + u.x) / size.x) * 2.0 * PI;
    vec3 d = vec3(sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta));
    return LightSample(d, FAR, environment(d), environment_density(x_share * y_share, size, theta));
}

float light_total(vec3 place)
{
    float total = sun_weight();
    for (uint i = 0u; i < light_count(); i++)
        total += light_weight(light_at(i), place);
    return total;
}

vec3 in_cone(vec3 axis, float cosine, vec2 u)
{
    float c = 1.0 - u.x * (1.0 - cosine), s = sqrt(max(0.0, 1.0 - c * c)), a = 2.0 * PI * u.y;
    return normalize(basis(axis) * vec3(s * cos(a), s * sin(a), c));
}

LightSample sample_sun(vec2 u)
{
    if (has_environment())
        return sample_environment(u);
    return LightSample(in_cone(SUN.xyz, SUN.w, u), FAR, SUN_RADIANCE, 1.0 / sun_solid_angle());
}

// Density with which `sample_sun` gives a direction.
float sun_pdf(vec3 d)
{
    if (has_environment())
        return environment_pdf(d);
    return in_sun(d) ? 1.0 / sun_solid_angle() : 0.0;
}

LightSample sample_light(uint l, vec3 place, vec2 u)
{
    LightSample s = LightSample(vec3(0.0, 0.0, 1.0), 0.0, LIGHT_RADIANCE(l), 0.0);
    vec4 c = LIGHT_CENTRE(l);
    vec3 to = c.xyz - place;
    if (LIGHT_KIND(l) == SCENE_LIGHT_QUAD) {
        to += LIGHT_U(l) * (2.0 * u.x - 1.0) + LIGHT_V(l) * (2.0 * u.y - 1.0);
        float d2 = dot(to, to);
        vec3 n = normalize(cross(LIGHT_U(l), LIGHT_V(l)));
        s.distance = sqrt(d2);
        s.direction = to / s.distance;
        float facing = abs(dot(n, s.direction));
        s.pdf = facing > 1e-5 ? d2 / (facing * light_area(l)) : 0.0;
        return s;
    }
    float d2 = dot(to, to), sin2 = c.w * c.w / d2;
    if (sin2 >= 0.999)
        return s;
    float cosine = sqrt(1.0 - sin2), cap = sin2 / (1.0 + cosine);
    float a = 1.0 - u.x * cap, b = sqrt(max(0.0, 1.0 - a * a)), angle = 2.0 * PI * u.y;
    s.direction = basis(to * inversesqrt(d2)) * vec3(b * cos(angle), b * sin(angle), a);
    float along = dot(to, s.direction);
    s.distance = along - sqrt(max(0.0, c.w * c.w - (d2 - along * along)));
    s.pdf = 1.0 / (2.0 * PI * cap);
    return s;
}

// Density with which `sample_light` gives a direction that hits the light at `distance`.
float light_pdf(uint l, vec3 place, vec3 direction, float distance)
{
    vec4 c = LIGHT_CENTRE(l);
    if (LIGHT_KIND(l) == SCENE_LIGHT_QUAD) {
        float facing = abs(dot(normalize(cross(LIGHT_U(l), LIGHT_V(l))), direction));
        return facing > 1e-5 ? distance * distance / (facing * light_area(l)) : 0.0;
    }
    vec3 to = c.xyz - place;
    float sin2 = c.w * c.w / dot(to, to);
    return sin2 >= 0.999 ? 0.0 : (1.0 + sqrt(1.0 - sin2)) / (2.0 * PI * sin2);
}

// How open the surroundings are, from the boxes around the larger things: 1 is open.
float openness(vec3 place, vec3 normal)
{
    float open = 1.0, reach = REACH;
    uint first = TABLE.y, count = ROOT.w;
    for (uint i = 0u; i < count; i++) {
        uint o = first + i * SCENE_UNITS_OCCLUDER;
        vec4 r0 = data[o], r1 = data[o + 1u], r2 = data[o + 2u];
        vec3 size = data[o + 3u].xyz, p = rows_point(r0, r1, r2, place);
        vec3 v = (clamp(p, vec3(-1.0), vec3(1.0)) - p) * size;
        float d2 = dot(v, v);
        if (d2 < 1e-8 || d2 > reach * reach)
            continue;
        float d = sqrt(d2), window = 1.0 - d / reach;
        vec3 n = rows_vector(r0, r1, r2, normal) * size;
        float facing = clamp(0.5 + 0.5 * dot(n, v) / d, 0.0, 1.0), s = data[o + 3u].w;
        open *= 1.0 - 0.8 * facing * facing * window * window * s / (s + d2);
    }
    return open;
}

vec3 ambient(vec3 normal)
{
    return mix(AMBIENT_DOWN, AMBIENT_UP, 0.5 + 0.5 * normal.z);
}
#endif
