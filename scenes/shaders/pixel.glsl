// SPDX-License-Identifier: MIT
// The frame around a mode: sample places, planes, sums. The mode defines `radiance`.
#ifndef SCENE_PIXEL_GLSL
#define SCENE_PIXEL_GLSL
#include "camera.glsl"
#include "lights.glsl"

// What the planes show: the first opaque hit of the sample.
struct Primary {
    bool found;
    Hit hit;
    Surface surface;
    float distance;
    float alpha;
};

vec3 radiance(vec3 origin, vec3 direction, out Primary primary);

bool wants(uint plane)
{
    return (push.planes >> plane & 1u) != 0u;
}

float ray_offset(float distance)
{
    return 2e-5 + 3e-6 * distance;
}

// Colour of a transparent layer, lit without shadows.
vec3 layer_colour(Surface s)
{
    vec3 sun = SUN_RADIANCE * sun_solid_angle() * (0.25 / PI);
    return s.emission + s.albedo * (ambient(s.normal) + sun);
}

vec3 with_fog(vec3 colour, float distance)
{
    vec4 fog = FOG;
    return mix(fog.rgb, colour, exp(-fog.w * distance));
}

vec3 sun_seen(vec3 direction)
{
    vec3 c = SUN_RADIANCE;
    return in_sun(direction) ? c * min(1.0, 60.0 / luma(c)) : vec3(0.0);
}

#ifndef SCENE_REFERENCE
float hit_distance(Primary p, vec3 direction)
{
    if (!p.found || p.surface.roughness > push.hit_limit)
        return 0.0;
    vec3 l = reflect(direction, p.surface.normal);
    if (dot(l, p.surface.geometric) <= 0.0)
        return 0.0;
    float e = ray_offset(p.distance);
    Hit hit = trace(p.surface.place + p.surface.geometric * e * 4.0, l, e, FAR, false);
    return hit.instance != 0u ? hit.t : uintBitsToFloat(0x7f800000u);
}

vec2 sample_motion(vec2 place, vec2 size, vec3 direction, Primary p)
{
    vec3 was = direction;
    if (p.found)
        was = previous_place(p.hit, p.surface.place) - OLD_EYE;
    return motion_of(was, place, size);
}

// What a filter averages over the pixel, as Cycles does; one sample shows it without a filter.
struct Guides {
    vec4 normal; // roughness in w
    vec3 diffuse, specular;
    vec2 motion, sky_motion;
    float hits;
};

void add_guides(inout Guides g, vec2 place, vec2 size, vec3 direction, Primary p)
{
    vec2 motion = sample_motion(place, size, direction, p);
    if (!p.found) {
        g.sky_motion += motion;
        return;
    }
    vec3 f0 = surface_f0(p.surface), specular = f0;
    if (push.specular == SCENE_SPECULAR_DIRECTIONAL)
        specular = directional_albedo(f0, p.surface.roughness, dot(p.surface.normal, -direction));
    else if (push.specular == SCENE_SPECULAR_METAL_WHITE)
        specular = mix(vec3(p.surface.f0), vec3(1.0), p.surface.metallic);
    g.motion += motion;
    g.normal += vec4(p.surface.normal, p.surface.roughness);
    g.diffuse += surface_diffuse(p.surface);
    g.specular += specular;
    g.hits += 1.0;
}

void write_guides(ivec2 at, Guides g, float count)
{
    vec4 normal = g.normal / count;
    if (wants(SCENE_PLANE_NORMAL))
        imageStore(plane_normal, at, normal);
    if (wants(SCENE_PLANE_ROUGHNESS))
        imageStore(plane_roughness, at, vec4(normal.w, 0.0, 0.0, 1.0));
    if (wants(SCENE_PLANE_DIFFUSE))
        imageStore(plane_diffuse, at, vec4(g.diffuse / count, 1.0));
    if (wants(SCENE_PLANE_SPECULAR))
        imageStore(plane_specular, at, vec4(g.specular / count, 1.0));
    // Of the samples that hit something, if any do: only other planes lose by the sky.
    vec2 motion = g.hits > 0.0 ? g.motion / g.hits : g.sky_motion / count;
    if (wants(SCENE_PLANE_MOTION))
        imageStore(plane_motion, at, vec4(motion, 0.0, 1.0));
}

// What has no mean over a silhouette.
void write_first(ivec2 at, vec3 direction, Primary p)
{
    float depth = p.found ? p.distance * dot(direction, NOW_FORWARD)
                          : uintBitsToFloat(0x7f800000u);
    if (wants(SCENE_PLANE_DEPTH))
        imageStore(plane_depth, at, vec4(depth, 0.0, 0.0, 1.0));
    if (wants(SCENE_PLANE_HIT_DISTANCE))
        imageStore(plane_hit_distance, at, vec4(hit_distance(p, direction), 0.0, 0.0, 1.0));
}

#endif

// Place of a sample inside its pixel: a rank-2 lattice, shifted per pixel.
vec2 box_sample(uint index, uint h)
{
    vec2 shift = vec2(unit(h), unit(pcg(h)));
    return fract(shift + vec2(0.7548776662, 0.5698402910) * float(index + 1u));
}

#ifndef SCENE_REFERENCE
// Place of an input sample relative to the jittered centre.
vec2 filter_sample(uint index, uint h)
{
    if (push.filter_kind == SCENE_FILTER_POINT)
        return vec2(0.0);
    vec2 u = box_sample(index, h);
    if (push.filter_kind == SCENE_FILTER_BOX)
        return u - 0.5;
    // Four boxes in a row are Blackman-Harris but for 4 % of its deviation.
    vec2 more = next_random2() + next_random2() + next_random2();
    return 1.5 * (0.25 * (u + more) - 0.5);
}
#endif

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    uvec2 extent = uvec2(push.width, push.height);
    if (any(greaterThanEqual(gl_GlobalInvocationID.xy, extent)))
        return;
    uint pixel = uint(at.y) * extent.x + uint(at.x), base = hash2(push.seed, pixel);
    vec2 size = vec2(extent);
    vec4 total = vec4(0.0);
#ifndef SCENE_REFERENCE
    Guides guides = Guides(vec4(0.0), vec3(0.0), vec3(0.0), vec2(0.0), vec2(0.0), 0.0);
    bool filtered = push.filter_kind != SCENE_FILTER_POINT;
#endif
    for (uint i = push.first; i < push.first + push.samples; i++) {
        rng_state = hash2(base, i);
#ifdef SCENE_EVEN_SAMPLES
        even_begin(base, i);
#endif
#ifdef SCENE_REFERENCE
        vec2 place = vec2(at) + box_sample(i, base);
#else
        vec2 place = vec2(at) + 0.5 + vec2(push.jitter_x, push.jitter_y) + filter_sample(i, base);
#endif
        vec3 direction = camera_ray(place, size);
        Primary primary;
        vec3 c = radiance(NOW_EYE, direction, primary);
        if (!(all(greaterThanEqual(c, vec3(0.0))) && all(lessThan(c, vec3(1e9)))))
            c = vec3(0.0);
        total += vec4(c, primary.alpha);
#ifndef SCENE_REFERENCE
        if (i == 0u)
            write_first(at, direction, primary);
        if (i == 0u || (push.first == 0u && filtered))
            add_guides(guides, place, size, direction, primary);
#endif
    }
#ifndef SCENE_REFERENCE
    if (push.first == 0u)
        write_guides(at, guides, filtered ? float(push.samples) : 1.0);
#endif
    if (push.first > 0u)
        total += sum[pixel];
    if (push.first + push.samples < push.total) {
        sum[pixel] = total;
        return;
    }
    total /= float(push.total);
    total.rgb = min(total.rgb, vec3(65000.0));
#ifdef SCENE_REFERENCE
    imageStore(plane_reference, at, total);
#else
    if (wants(SCENE_PLANE_COLOUR))
        imageStore(plane_colour, at, total);
    if (wants(SCENE_PLANE_ALPHA))
        imageStore(plane_alpha, at, vec4(total.a, 0.0, 0.0, 1.0));
#endif
}
#endif
