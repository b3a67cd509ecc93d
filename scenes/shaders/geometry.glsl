// SPDX-License-Identifier: MIT
// Rays against shapes, meshes and the two-level tree.
#ifndef SCENE_GEOMETRY_GLSL
#define SCENE_GEOMETRY_GLSL
#include "textures.glsl"

struct Hit {
    float t;
    uint instance; // place in the data buffer; 0: none
    uint triangle; // place in the data buffer
    vec2 uv;       // barycentric coordinates of the second and third corner
};

#define INSTANCE_SCALE(i) data[i + 9u]
#define INSTANCE_LINK(i) udata[i + 10u]
#define INSTANCE_MESH(i) udata[i + 11u]

vec2 map_uv(uint map, vec3 metres, vec3 normal, vec3 scale)
{
    if (map == SCENE_MAP_XY)
        return metres.xy;
    if (map == SCENE_MAP_CYLINDER)
        return vec2(atan(metres.y, metres.x) * max(scale.x, scale.y), metres.z);
    // u and v turn counter-clockwise as seen from outside, so letters are not mirrored.
    vec3 a = abs(normal), p = metres * vec3(-sign(normal.y), sign(normal.x), 1.0);
    if (a.x > a.y && a.x > a.z)
        return p.yz;
    return a.y > a.z ? p.xz : vec2(metres.x * sign(normal.z), metres.y);
}

vec3 reciprocal(vec3 d)
{
    return 1.0 / mix(d, vec3(1e-12), lessThan(abs(d), vec3(1e-12)));
}

vec3 box_normal(vec3 p)
{
    vec3 a = abs(p);
    if (a.x > a.y && a.x > a.z)
        return vec3(sign(p.x), 0.0, 0.0);
    return a.y > a.z ? vec3(0.0, sign(p.y), 0.0) : vec3(0.0, 0.0, sign(p.z));
}

vec3 cone_normal(vec3 p, float taper)
{
    float r = length(p.xy), side = 0.5 * (1.0 + taper) + 0.5 * (taper - 1.0) * p.z;
    if (abs(p.z) > 0.9999 && r < side * 0.9999)
        return vec3(0.0, 0.0, sign(p.z));
    return vec3(p.xy / max(r, 1e-8), 0.5 * (1.0 - taper));
}

float hit_box(vec3 o, vec3 inv, float tmin, float tmax)
{
    vec3 a = (-1.0 - o) * inv, b = (1.0 - o) * inv, lo = min(a, b), hi = max(a, b);
    float n = max(lo.x, max(lo.y, lo.z)), f = min(hi.x, min(hi.y, hi.z));
    if (n > f)
        return FAR;
    if (n > tmin)
        return n < tmax ? n : FAR;
    return f > tmin && f < tmax ? f : FAR;
}

float hit_sphere(vec3 o, vec3 d, float tmin, float tmax)
{
    float a = dot(d, d), b = dot(o, d);
    vec3 off = o - d * (b / a);
    float disc = a * (1.0 - dot(off, off));
    if (disc < 0.0)
        return FAR;
    float q = sqrt(disc), n = (-b - q) / a, f = (-b + q) / a;
    if (n > tmin)
        return n < tmax ? n : FAR;
    return f > tmin && f < tmax ? f : FAR;
}

float hit_cone(vec3 o, vec3 d, float taper, float tmin, float tmax)
{
    float k = 0.5 * (taper - 1.0), r0 = 0.5 * (1.0 + taper), best = FAR;
    float ro = r0 + k * o.z, rd = k * d.z;
    float a = dot(d.xy, d.xy) - rd * rd, b = dot(o.xy, d.xy) - ro * rd;
    float c = dot(o.xy, o.xy) - ro * ro, disc = b * b - a * c;
    if (disc >= 0.0 && abs(a) > 1e-12) {
        float q = -(b + (b < 0.0 ? -sqrt(disc) : sqrt(disc)));
        for (int i = 0; i < 2; i++) {
            float t = i == 0 ? q / a : (q != 0.0 ? c / q : FAR), z = o.z + t * d.z;
            if (t > tmin && t < tmax && t < best && abs(z) <= 1.0 && r0 + k * z >= 0.0)
                best = t;
        }
    }
    if (abs(d.z) > 1e-12) {
        for (int i = 0; i < 2; i++) {
            float z = i == 0 ? -1.0 : 1.0, r = i == 0 ? 1.0 : taper, t = (z - o.z) / d.z;
            vec2 p = o.xy + t * d.xy;
            if (t > tmin && t < tmax && t < best && dot(p, p) <= r * r)
                best = t;
        }
    }
    return best;
}

bool cut_at(uint instance, vec3 metres, vec3 normal)
{
    uint m = material_at(INSTANCE_LINK(instance).y);
    if (MATERIAL_KIND(m).y == SCENE_CUT_NONE)
        return true;
    return cut_solid(m, map_uv((INSTANCE_LINK(instance).x >> 8) & 255u, metres, normal,
                               INSTANCE_SCALE(instance).xyz));
}

vec3 triangle_rest(uvec4 corners, uint first_vertex, vec2 uv)
{
    vec3 a = data[first_vertex + corners.x * 2u + 1u].xyz;
    vec3 b = data[first_vertex + corners.y * 2u + 1u].xyz;
    vec3 c = data[first_vertex + corners.z * 2u + 1u].xyz;
    return a + (b - a) * uv.x + (c - a) * uv.y;
}

void hit_triangle(uint at, uint instance, uvec4 mesh, vec3 o, vec3 d, float tmin, inout Hit hit)
{
    uvec4 corners = udata[at];
    vec3 a = data[mesh.y + corners.x * 2u].xyz, e = data[mesh.y + corners.y * 2u].xyz - a;
    vec3 f = data[mesh.y + corners.z * 2u].xyz - a, p = cross(d, f);
    float det = dot(e, p);
    if (det == 0.0)
        return;
    vec3 s = o - a, q = cross(s, e);
    float inv = 1.0 / det, u = dot(s, p) * inv, v = dot(d, q) * inv, t = dot(f, q) * inv;
    if (!(u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > tmin && t < hit.t))
        return;
    if (!cut_at(instance, triangle_rest(corners, mesh.y, vec2(u, v)), cross(e, f)))
        return;
    hit.t = t;
    hit.instance = instance;
    hit.triangle = at;
    hit.uv = vec2(u, v);
}

// Entry and exit of the two children of a node; entry is FAR when it is missed.
vec2 hit_children(uint child, vec3 o, vec3 inv, float tmin, float tmax, out uvec2 link)
{
    uint at = child * 2u;
    vec4 a0 = data[at], a1 = data[at + 1u], b0 = data[at + 2u], b1 = data[at + 3u];
    link = uvec2(floatBitsToUint(a0.w), floatBitsToUint(b0.w));
    vec3 x = (a0.xyz - o) * inv, y = (a1.xyz - o) * inv, lo = min(x, y), hi = max(x, y);
    float an = max(max(lo.x, lo.y), max(lo.z, tmin)), af = min(min(hi.x, hi.y), min(hi.z, tmax));
    x = (b0.xyz - o) * inv;
    y = (b1.xyz - o) * inv;
    lo = min(x, y);
    hi = max(x, y);
    float bn = max(max(lo.x, lo.y), max(lo.z, tmin)), bf = min(min(hi.x, hi.y), min(hi.z, tmax));
    return vec2(an <= af * 1.00001 ? an : FAR, bn <= bf * 1.00001 ? bn : FAR);
}

void hit_mesh(uint instance, uint root, vec3 o, vec3 d, float tmin, bool any_hit, inout Hit hit)
{
    uint stack[SCENE_STACK];
    int top = 0;
    uint link = root;
    vec3 inv = reciprocal(d);
    uvec4 mesh = INSTANCE_MESH(instance);
    for (;;) {
        uint count = link >> 24, first = link & 0xffffffu;
        if (count > 0u) {
            for (uint k = 0u; k < count; k++)
                hit_triangle(mesh.x + first + k, instance, mesh, o, d, tmin, hit);
            if (any_hit && hit.instance != 0u)
                return;
        } else {
            uvec2 child;
            vec2 near = hit_children(first, o, inv, tmin, hit.t, child);
            bool swap = near.y < near.x;
            if (swap) {
                near = near.yx;
                child = child.yx;
            }
            if (near.x < FAR) {
                if (near.y < FAR && top < SCENE_STACK)
                    stack[top++] = child.y;
                link = child.x;
                continue;
            }
        }
        if (top == 0)
            return;
        link = stack[--top];
    }
}

void hit_instance(uint at, vec3 o, vec3 d, float tmin, bool any_hit, inout Hit hit)
{
    uvec4 link = INSTANCE_LINK(at);
    if (any_hit && (link.x >> 16 & SCENE_INSTANCE_NO_SHADOW) != 0u)
        return;
    vec4 r0 = data[at], r1 = data[at + 1u], r2 = data[at + 2u], scale = INSTANCE_SCALE(at);
    vec3 lo = rows_point(r0, r1, r2, o), ld = rows_vector(r0, r1, r2, d);
    uint shape = link.x & 255u;
    if (shape == SCENE_SHAPE_MESH) {
        hit_mesh(at, link.z, lo, ld, tmin, any_hit, hit);
        return;
    }
    float t = FAR;
    if (shape == SCENE_SHAPE_BOX) {
        t = hit_box(lo, reciprocal(ld), tmin, hit.t);
    } else if (shape == SCENE_SHAPE_SPHERE) {
        t = hit_sphere(lo, ld, tmin, hit.t);
    } else if (shape == SCENE_SHAPE_CONE) {
        t = hit_cone(lo, ld, scale.w, tmin, hit.t);
    } else {
        t = -lo.z / ld.z;
        vec2 p = abs(lo.xy + t * ld.xy);
        bool inside = shape == SCENE_SHAPE_QUAD ? max(p.x, p.y) <= 1.0 : dot(p, p) <= 1.0;
        if (!(inside && t > tmin && t < hit.t))
            return;
    }
    if (!(t < hit.t))
        return;
    vec3 p = lo + t * ld;
    if (!cut_at(at, p * scale.xyz, shape == SCENE_SHAPE_BOX ? box_normal(p) : vec3(0.0, 0.0, 1.0)))
        return;
    hit.t = t;
    hit.instance = at;
}

// The nearest hit, or with any_hit whether there is one. `d` need not be a unit vector.
Hit trace(vec3 o, vec3 d, float tmin, float tmax, bool any_hit)
{
    uint stack[SCENE_STACK];
    int top = 0;
    Hit hit = Hit(tmax, 0u, 0u, vec2(0.0));
    uvec4 root = ROOT;
    uint link = root.x;
    vec3 inv = reciprocal(d);
    for (;;) {
        uint count = link >> 24, first = link & 0xffffffu;
        if (count > 0u) {
            for (uint k = 0u; k < count; k++)
                hit_instance(root.y + (first + k) * SCENE_UNITS_INSTANCE, o, d, tmin, any_hit, hit);
            if (any_hit && hit.instance != 0u)
                return hit;
        } else {
            uvec2 child;
            vec2 near = hit_children(first, o, inv, tmin, hit.t, child);
            bool swap = near.y < near.x;
            if (swap) {
                near = near.yx;
                child = child.yx;
            }
            if (near.x < FAR) {
                if (near.y < FAR && top < SCENE_STACK)
                    stack[top++] = child.y;
                link = child.x;
                continue;
            }
        }
        if (top == 0)
            return hit;
        link = stack[--top];
    }
}
#endif
