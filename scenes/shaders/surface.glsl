// SPDX-License-Identifier: MIT
// From a hit to a surface point with its material.
#ifndef SCENE_SURFACE_GLSL
#define SCENE_SURFACE_GLSL
#include "geometry.glsl"

struct Surface {
    vec3 place;
    vec3 normal;    // shading normal, towards the viewer
    vec3 geometric; // of the shape, towards the viewer
    vec3 albedo;    // base colour
    vec3 emission;
    float roughness;
    float metallic;
    float f0;
    float opacity;
    uint flags;
    uint instance;
};

vec2 sign_not_zero(vec2 v)
{
    return vec2(v.x >= 0.0 ? 1.0 : -1.0, v.y >= 0.0 ? 1.0 : -1.0);
}

vec3 unpack_normal(float packed_normal)
{
    vec2 e = unpackSnorm2x16(floatBitsToUint(packed_normal));
    vec3 n = vec3(e, 1.0 - abs(e.x) - abs(e.y));
    if (n.z < 0.0)
        n.xy = (1.0 - abs(n.yx)) * sign_not_zero(n.xy);
    return normalize(n);
}

// Where the point of a hit was one frame earlier, world space.
vec3 previous_place(Hit hit, vec3 place)
{
    uint at = hit.instance;
    vec3 local;
    if ((INSTANCE_LINK(at).x & 255u) == SCENE_SHAPE_MESH) {
        uvec4 corners = udata[hit.triangle];
        uint first = INSTANCE_MESH(at).z;
        vec3 a = data[first + corners.x * 2u].xyz, b = data[first + corners.y * 2u].xyz;
        vec3 c = data[first + corners.z * 2u].xyz;
        local = a + (b - a) * hit.uv.x + (c - a) * hit.uv.y;
    } else {
        local = rows_point(data[at], data[at + 1u], data[at + 2u], place);
    }
    return rows_point(data[at + 6u], data[at + 7u], data[at + 8u], local);
}

// The local normal, the texture position in metres and the tint of a hit.
vec3 local_shape(Hit hit, vec3 local, out vec3 flat_normal, out vec3 metres, out float tint)
{
    uint at = hit.instance, shape = INSTANCE_LINK(at).x & 255u;
    vec4 scale = INSTANCE_SCALE(at);
    metres = local * scale.xyz;
    tint = 0.5;
    if (shape == SCENE_SHAPE_MESH) {
        uvec4 corners = udata[hit.triangle];
        uint first = INSTANCE_MESH(at).y;
        vec4 a = data[first + corners.x * 2u], b = data[first + corners.y * 2u];
        vec4 c = data[first + corners.z * 2u];
        vec3 w = vec3(1.0 - hit.uv.x - hit.uv.y, hit.uv);
        flat_normal = cross(b.xyz - a.xyz, c.xyz - a.xyz);
        metres = triangle_rest(corners, first, hit.uv) * scale.xyz;
        tint = data[first + corners.x * 2u + 1u].w;
        vec3 n = unpack_normal(a.w) * w.x + unpack_normal(b.w) * w.y + unpack_normal(c.w) * w.z;
        return dot(n, n) > 1e-8 ? n : flat_normal;
    }
    flat_normal = shape == SCENE_SHAPE_BOX      ? box_normal(local)
                  : shape == SCENE_SHAPE_SPHERE ? local
                  : shape == SCENE_SHAPE_CONE   ? cone_normal(local, scale.w)
                                                : vec3(0.0, 0.0, 1.0);
    return flat_normal;
}

vec3 bump_normal(uint m, vec3 n, vec3 metres)
{
    vec4 detail = MATERIAL_DETAIL(m);
    uint flags = MATERIAL_KIND(m).z, seed = MATERIAL_KIND(m).w;
    if (detail.z <= 0.0)
        return n;
    vec3 p = metres * detail.w;
    if ((flags & SCENE_MATERIAL_WAVES) != 0u) {
        float t = TIME * MATERIAL_MORE(m).w;
        vec3 g = noise_gradient(vec3(p.xy * 0.6, t), seed).yzw +
                 0.5 * noise_gradient(vec3(p.xy * 1.7 + 9.0, t * 1.6), seed + 1u).yzw;
        return normalize(n - detail.z * vec3(g.xy, 0.0));
    }
    vec3 g = noise_gradient(p, seed).yzw + 0.6 * noise_gradient(p * 2.3, seed + 1u).yzw;
    return normalize(n - detail.z * (g - n * dot(g, n)));
}

Surface surface_at(Hit hit, vec3 place, vec3 direction)
{
    uint at = hit.instance;
    uvec4 link = INSTANCE_LINK(at);
    uint m = material_at(link.y);
    vec4 r0 = data[at], r1 = data[at + 1u], r2 = data[at + 2u];
    vec3 local = rows_point(r0, r1, r2, place), flat_normal, metres;
    float tint;
    vec3 n = local_shape(hit, local, flat_normal, metres, tint);
    vec3 scale = INSTANCE_SCALE(at).xyz;

    vec4 a = MATERIAL_A(m), b = MATERIAL_B(m), detail = MATERIAL_DETAIL(m), more = MATERIAL_MORE(m);
    uvec4 kind = MATERIAL_KIND(m);
    vec2 uv = map_uv((link.x >> 8) & 255u, metres, flat_normal * scale, scale);
    Pattern pattern = pattern_at(m, uv, metres);

    Surface s;
    s.place = place;
    s.instance = at;
    s.flags = kind.z;
    s.albedo = mix(a.rgb, b.rgb, pattern.blend) * pattern.shade;
    if (detail.x > 0.0)
        s.albedo *= 1.0 + detail.x * 2.0 * (fbm(metres * detail.y, kind.w + 7u, 3) - 0.5);
    s.albedo *= 1.0 + MATERIAL_SCROLL(m).z * 2.0 * (tint - 0.5);
    s.albedo = clamp(s.albedo, vec3(0.0), vec3(0.97));
    s.roughness = mix(mix(a.w, MATERIAL_PATTERN(m).w, pattern.blend), 0.05, pattern.gloss);
    s.metallic = b.w;
    s.f0 = mix(more.x, 0.08, pattern.gloss);
    s.emission = MATERIAL_EMISSION(m).rgb;
    s.opacity = MATERIAL_EMISSION(m).w;
    if ((kind.z & SCENE_MATERIAL_EMIT_TEX) != 0u)
        s.emission *= kind.x == SCENE_TEX_FACADE ? vec3(pattern.light) : s.albedo;

    vec3 c0 = vec3(r0.x, r1.x, r2.x), c1 = vec3(r0.y, r1.y, r2.y), c2 = vec3(r0.z, r1.z, r2.z);
    mat3 to_world = mat3(vec3(c0.x, c1.x, c2.x), vec3(c0.y, c1.y, c2.y), vec3(c0.z, c1.z, c2.z));
    vec3 g = normalize(to_world * flat_normal);
    vec3 smooth_normal = normalize(to_world * n);
    s.geometric = dot(g, direction) > 0.0 ? -g : g;
    if (dot(smooth_normal, s.geometric) < 0.0)
        smooth_normal = -smooth_normal;
    // Bumps live in world axes turned with the object: texture gradients are in local metres.
    vec3 bumped = normalize(to_world * bump_normal(m, normalize(n), metres));
    if (dot(bumped, s.geometric) < 0.0)
        bumped = -bumped;
    s.normal = detail.z > 0.0 ? bumped : smooth_normal;
    float facing = dot(s.normal, direction);
    if (facing > -0.02) // never seen from behind
        s.normal = normalize(s.normal - direction * (facing + 0.02));
    if ((kind.z & SCENE_MATERIAL_SOFT) != 0u) {
        float k = abs(dot(smooth_normal, direction));
        s.opacity *= k * k;
    }
    return s;
}
#endif
