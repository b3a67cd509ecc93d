// SPDX-License-Identifier: MIT
#include "scene.h"

#include <stdlib.h>
#include <string.h>

void mesh_finish(struct mesh *m)
{
    free(m->position);
    free(m->normal);
    free(m->rest);
    free(m->tint);
    free(m->triangle);
    free(m->nodes);
    *m = (struct mesh){0};
}

static bool grow_vertices(struct mesh *m)
{
    const uint32_t capacity = m->vertex_capacity ? m->vertex_capacity * 2 : 256;
    struct vec3 *position = realloc(m->position, capacity * sizeof(*position));
    if (position)
        m->position = position;
    struct vec3 *normal = realloc(m->normal, capacity * sizeof(*normal));
    if (normal)
        m->normal = normal;
    struct vec3 *rest = realloc(m->rest, capacity * sizeof(*rest));
    if (rest)
        m->rest = rest;
    float *tint = realloc(m->tint, capacity * sizeof(*tint));
    if (tint)
        m->tint = tint;
    if (!position || !normal || !rest || !tint)
        return false;
    m->vertex_capacity = capacity;
    return true;
}

uint32_t mesh_vertex(struct mesh *m, struct vec3 p, struct vec3 n, float tint)
{
    if (m->vertex_count == m->vertex_capacity && !grow_vertices(m))
        return UINT32_MAX;
    m->position[m->vertex_count] = p;
    m->rest[m->vertex_count] = p;
    m->normal[m->vertex_count] = n;
    m->tint[m->vertex_count] = tint;
    return m->vertex_count++;
}

bool mesh_triangle(struct mesh *m, uint32_t a, uint32_t b, uint32_t c)
{
    if (a == UINT32_MAX || b == UINT32_MAX || c == UINT32_MAX)
        return false;
    if (m->triangle_count == m->triangle_capacity) {
        const uint32_t capacity = m->triangle_capacity ? m->triangle_capacity * 2 : 256;
        void *triangle = realloc(m->triangle, capacity * sizeof(*m->triangle));
        if (!triangle)
            return false;
        m->triangle = triangle;
        m->triangle_capacity = capacity;
    }
    m->triangle[m->triangle_count][0] = a;
    m->triangle[m->triangle_count][1] = b;
    m->triangle[m->triangle_count][2] = c;
    m->triangle_count++;
    return true;
}

void mesh_smooth(struct mesh *m)
{
    for (uint32_t i = 0; i < m->vertex_count; i++)
        m->normal[i] = v3(0, 0, 0);
    for (uint32_t i = 0; i < m->triangle_count; i++) {
        const uint32_t *t = m->triangle[i];
        const struct vec3 n = cross3(sub(m->position[t[1]], m->position[t[0]]),
                                     sub(m->position[t[2]], m->position[t[0]]));
        for (int k = 0; k < 3; k++)
            m->normal[t[k]] = add(m->normal[t[k]], n);
    }
    for (uint32_t i = 0; i < m->vertex_count; i++)
        m->normal[i] = normalize3(m->normal[i]);
}

bool mesh_facet(struct mesh *m)
{
    struct mesh flat = {0};
    for (uint32_t i = 0; i < m->triangle_count; i++) {
        const uint32_t *t = m->triangle[i];
        const struct vec3 a = m->position[t[0]], b = m->position[t[1]], c = m->position[t[2]];
        const struct vec3 n = normalize3(cross3(sub(b, a), sub(c, a)));
        const uint32_t first = mesh_vertex(&flat, a, n, m->tint[t[0]]);
        const uint32_t next = mesh_vertex(&flat, b, n, m->tint[t[1]]);
        const uint32_t last = mesh_vertex(&flat, c, n, m->tint[t[2]]);
        if (!mesh_triangle(&flat, first, next, last)) {
            mesh_finish(&flat);
            return false;
        }
    }
    mesh_finish(m);
    *m = flat;
    return true;
}

/** Triangles over a grid of vertices [lines,columns], the first of which is `base`. */
static bool grid_triangles(struct mesh *m, uint32_t base, uint32_t columns, uint32_t lines,
                           bool wrap_columns, bool wrap_lines)
{
    bool ok = base != UINT32_MAX;
    for (uint32_t j = 0; ok && j + !wrap_lines < lines; j++) {
        for (uint32_t i = 0; ok && i + !wrap_columns < columns; i++) {
            const uint32_t i1 = (i + 1) % columns, j1 = (j + 1) % lines;
            const uint32_t a = base + j * columns + i, b = base + j * columns + i1;
            const uint32_t c = base + j1 * columns + i, d = base + j1 * columns + i1;
            ok = mesh_triangle(m, a, b, d) && mesh_triangle(m, a, d, c);
        }
    }
    return ok;
}

bool mesh_lathe(struct mesh *m, const float (*profile)[2], uint32_t count, uint32_t sides)
{
    for (uint32_t j = 0; j < count; j++) {
        for (uint32_t i = 0; i < sides; i++) {
            const float a = 2 * PI_F * (float)i / (float)sides;
            const float r = fmaxf(profile[j][0], 1e-4f);
            if (mesh_vertex(m, v3(r * cosf(a), r * sinf(a), profile[j][1]), v3(0, 0, 1), 0.5f) ==
                UINT32_MAX)
                return false;
        }
    }
    const bool ok = grid_triangles(m, 0, sides, count, true, false);
    mesh_smooth(m);
    return ok;
}

static struct vec3 knot_point(float a, float big, int knot)
{
    if (!knot)
        return v3(big * cosf(a), big * sinf(a), 0);
    const float p = 2, q = 3, r = big * (1.f + 0.4f * cosf(q * a));
    return v3(r * cosf(p * a), r * sinf(p * a), -0.5f * big * sinf(q * a));
}

bool mesh_torus(struct mesh *m, float big, float small, uint32_t sides, uint32_t rings, int knot)
{
    for (uint32_t j = 0; j < rings; j++) {
        const float a = 2 * PI_F * (float)j / (float)rings, step = 0.01f;
        const struct vec3 p = knot_point(a, big, knot), q = knot_point(a + step, big, knot);
        const struct vec3 along = normalize3(sub(q, p));
        const struct vec3 x = normalize3(cross3(along, add(p, v3(0, 0, 1e-3f))));
        const struct vec3 y = cross3(x, along);
        for (uint32_t i = 0; i < sides; i++) {
            const float b = 2 * PI_F * (float)i / (float)sides;
            const struct vec3 n = add(mul(x, cosf(b)), mul(y, sinf(b)));
            if (mesh_vertex(m, add(p, mul(n, small)), n, 0.5f) == UINT32_MAX)
                return false;
        }
    }
    return grid_triangles(m, 0, sides, rings, true, true);
}

static float lattice(uint32_t seed, int x, int y, int z)
{
    uint32_t h =
        seed + (uint32_t)x * 0x8da6b343u + (uint32_t)y * 0xd8163841u + (uint32_t)z * 0xcb1ab31fu;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return (float)((h ^ (h >> 15)) >> 8) * 0x1p-24f;
}

static float noise(uint32_t seed, struct vec3 p)
{
    const float fx = floorf(p.x), fy = floorf(p.y), fz = floorf(p.z);
    const int x = (int)fx, y = (int)fy, z = (int)fz;
    const float u = p.x - fx, v = p.y - fy, w = p.z - fz;
    const float a = u * u * (3 - 2 * u), b = v * v * (3 - 2 * v), c = w * w * (3 - 2 * w);
    float plane[2];
    for (int k = 0; k < 2; k++) {
        const float p0 = lattice(seed, x, y, z + k), p1 = lattice(seed, x + 1, y, z + k);
        const float p2 = lattice(seed, x, y + 1, z + k), p3 = lattice(seed, x + 1, y + 1, z + k);
        const float q0 = p0 + (p1 - p0) * a, q1 = p2 + (p3 - p2) * a;
        plane[k] = q0 + (q1 - q0) * b;
    }
    return plane[0] + (plane[1] - plane[0]) * c;
}

static float noise_octaves(uint32_t seed, struct vec3 p, int octaves)
{
    float sum = 0, weight = 0.5f;
    for (int i = 0; i < octaves; i++) {
        sum += weight * (noise(seed + (uint32_t)i, p) - 0.5f);
        weight *= 0.5f;
        p = add(mul(p, 2.03f), v3(17.3f, 5.1f, 9.7f));
    }
    return sum * 2;
}

bool mesh_rock(struct mesh *m, uint32_t seed, float rough, uint32_t level)
{
    const uint32_t columns = 8u << level, lines = 5u << level;
    for (uint32_t j = 0; j < lines; j++) {
        const float b = PI_F * ((float)j / (float)(lines - 1) - 0.5f);
        for (uint32_t i = 0; i < columns; i++) {
            const float a = 2 * PI_F * (float)i / (float)columns;
            const struct vec3 d = v3(cosf(a) * cosf(b), sinf(a) * cosf(b), sinf(b));
            const float r = 1.f + rough * noise_octaves(seed, mul(d, 1.4f), 4);
            if (mesh_vertex(m, mul(d, r), d, 0.5f) == UINT32_MAX)
                return false;
        }
    }
    const bool ok = grid_triangles(m, 0, columns, lines, true, false);
    mesh_smooth(m);
    return ok;
}

float terrain_height(uint32_t seed, float x, float y, float height, float flat_radius)
{
    const float d = sqrtf(x * x + y * y);
    const float rise = clampf((d - flat_radius) / (flat_radius + 1e-3f), 0, 1);
    const float small = noise_octaves(seed, v3(x * 0.12f, y * 0.12f, 0.5f), 3);
    const float big = noise_octaves(seed + 50, v3(x * 0.022f, y * 0.022f, 3.5f), 4) + 0.25f;
    return height * (0.12f * small * (0.25f + 0.75f * rise) + fmaxf(big, -0.1f) * rise * rise);
}

bool mesh_terrain(struct mesh *m, uint32_t seed, uint32_t cells, float size, float height,
                  float flat_radius)
{
    for (uint32_t j = 0; j <= cells; j++) {
        for (uint32_t i = 0; i <= cells; i++) {
            // Denser in the middle, where the camera is.
            const float u = 2.f * (float)i / (float)cells - 1.f;
            const float v = 2.f * (float)j / (float)cells - 1.f;
            const float x = size * u * (0.15f + 0.85f * u * u);
            const float y = size * v * (0.15f + 0.85f * v * v);
            const float z = terrain_height(seed, x, y, height, flat_radius);
            if (mesh_vertex(m, v3(x, y, z), v3(0, 0, 1), 0.5f) == UINT32_MAX)
                return false;
        }
    }
    const bool ok = grid_triangles(m, 0, cells + 1, cells + 1, false, false);
    mesh_smooth(m);
    return ok;
}

bool mesh_cloth(struct mesh *m, uint32_t columns, uint32_t lines, float width, float height)
{
    for (uint32_t j = 0; j < lines; j++) {
        for (uint32_t i = 0; i < columns; i++) {
            const float x = width * (float)i / (float)(columns - 1);
            const float y = height * ((float)j / (float)(lines - 1) - 0.5f);
            if (mesh_vertex(m, v3(x, y, 0), v3(0, 0, 1), 0.5f) == UINT32_MAX)
                return false;
        }
    }
    return grid_triangles(m, 0, columns, lines, false, false);
}
