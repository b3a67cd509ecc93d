// SPDX-License-Identifier: MIT
#include "scene.h"

/** A leaf: two triangles folded along its length. */
static bool leaf(struct mesh *m, struct vec3 p, struct vec3 along, struct vec3 side,
                 struct vec3 normal, float size, float tint)
{
    const struct vec3 tip = add(p, mul(along, size));
    const struct vec3 mid = add(p, mul(along, size * 0.45f));
    const struct vec3 lift = mul(normal, size * 0.12f);
    const uint32_t a = mesh_vertex(m, p, normal, tint);
    const uint32_t b = mesh_vertex(m, add(add(mid, mul(side, size * 0.3f)), lift), normal, tint);
    const uint32_t c = mesh_vertex(m, tip, normal, tint);
    const uint32_t d = mesh_vertex(m, sub(add(mid, lift), mul(side, size * 0.3f)), normal, tint);
    return mesh_triangle(m, a, b, c) && mesh_triangle(m, a, c, d);
}

bool mesh_crown(struct mesh *m, struct random *r, uint32_t leaves, float size, bool cone)
{
    // Leaves gather in tufts, as on twigs; light comes in between.
    struct vec3 tufts[48];
    float radii[48];
    const uint32_t count = (uint32_t)random_int(r, cone ? 28 : 14, cone ? 48 : 34);
    for (uint32_t i = 0; i < count; i++) {
        const struct vec3 d = random_direction(r);
        if (cone) {
            const float h = 1.f - sqrtf(random_unit(r)), w = (1.f - h) * random_in(r, 0.3f, 1.f);
            tufts[i] = v3(d.x * w, d.y * w, 2.f * h - 1.f);
            radii[i] = 0.10f + 0.18f * (1.f - h);
        } else {
            tufts[i] = mul(d, powf(random_unit(r), 0.4f) * 0.78f);
            radii[i] = random_in(r, 0.18f, 0.36f);
        }
    }
    for (uint32_t i = 0; i < leaves; i++) {
        const uint32_t k = i % count;
        const struct vec3 d = random_direction(r);
        const struct vec3 flat = cone ? scale3(d, v3(1.3f, 1.3f, 0.45f)) : d;
        const struct vec3 p = add(tufts[k], mul(flat, radii[k] * cbrtf(random_unit(r))));
        // Normals lean outwards, which shades the crown as one round thing.
        const struct vec3 out = normalize3(add(add(d, mul(p, 0.9f)), v3(0, 0, 0.5f)));
        const struct vec3 side = normalize3(cross3(out, random_direction(r)));
        const float tint = 0.6f * random_unit(r) + 0.4f * (float)(k % 7) / 6.f;
        if (!leaf(m, p, cross3(side, out), side, out, size * random_in(r, 0.6f, 1.4f), tint))
            return false;
    }
    return true;
}

bool mesh_grass(struct mesh *m, struct random *r, uint32_t blades, float radius, float height,
                float width)
{
    for (uint32_t i = 0; i < blades; i++) {
        const float a = random_in(r, 0, 2 * PI_F), d = radius * sqrtf(random_unit(r));
        const float turn = random_in(r, 0, 2 * PI_F), lean = random_in(r, 0.05f, 0.7f);
        const float h = height * random_in(r, 0.4f, 1.f), tint = random_unit(r);
        const struct vec3 p = v3(d * cosf(a), d * sinf(a), 0);
        const struct vec3 side = v3(-sinf(turn), cosf(turn), 0);
        const struct vec3 to = v3(cosf(turn), sinf(turn), 0);
        const struct vec3 n = normalize3(add(mul(to, -0.6f), v3(0, 0, 1)));
        const struct vec3 mid = add(add(p, mul(to, 0.3f * lean * h)), v3(0, 0, 0.6f * h));
        const struct vec3 tip = add(add(p, mul(to, lean * h)), v3(0, 0, h));
        const struct vec3 w = mul(side, width * 0.5f);
        const uint32_t v0 = mesh_vertex(m, sub(p, w), n, tint);
        const uint32_t v1 = mesh_vertex(m, add(p, w), n, tint);
        const uint32_t v2 = mesh_vertex(m, sub(mid, mul(w, 0.7f)), n, tint);
        const uint32_t v4 = mesh_vertex(m, add(mid, mul(w, 0.7f)), n, tint);
        const uint32_t v5 = mesh_vertex(m, tip, n, tint);
        if (!mesh_triangle(m, v0, v1, v4) || !mesh_triangle(m, v0, v4, v2) ||
            !mesh_triangle(m, v2, v4, v5))
            return false;
    }
    return true;
}

bool mesh_user(struct mesh *m, const struct hs_scenes_mesh *user)
{
    struct bounds b = {{1e30f, 1e30f, 1e30f}, {-1e30f, -1e30f, -1e30f}};
    for (uint32_t i = 0; i < user->vertex_count; i++) {
        for (int k = 0; k < 3; k++) {
            b.low[k] = fminf(b.low[k], user->positions[3 * i + (uint32_t)k]);
            b.high[k] = fmaxf(b.high[k], user->positions[3 * i + (uint32_t)k]);
        }
    }
    // Into the unit cube, standing on z = 0.
    const float extent =
        fmaxf(b.high[0] - b.low[0], fmaxf(b.high[1] - b.low[1], b.high[2] - b.low[2]));
    const float k = extent > 0 ? 1.f / extent : 1.f;
    const struct vec3 origin =
        v3(0.5f * (b.low[0] + b.high[0]), 0.5f * (b.low[1] + b.high[1]), b.low[2]);
    for (uint32_t i = 0; i < user->vertex_count; i++) {
        const float *p = user->positions + 3 * i, *n = user->normals ? user->normals + 3 * i : NULL;
        if (mesh_vertex(m, mul(sub(v3(p[0], p[1], p[2]), origin), k),
                        n ? v3(n[0], n[1], n[2]) : v3(0, 0, 1), 0.5f) == UINT32_MAX)
            return false;
    }
    for (uint32_t i = 0; i + 2 < user->index_count; i += 3) {
        if (!mesh_triangle(m, user->indices[i], user->indices[i + 1], user->indices[i + 2]))
            return false;
    }
    if (!user->normals)
        mesh_smooth(m);
    return true;
}
