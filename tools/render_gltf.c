// SPDX-License-Identifier: MIT
// The triangles of a glTF 2.0 file: positions, normals and indices of all meshes in the scene.
// Source: Khronos glTF 2.0 specification, sections 3.6, 3.7 and 4 (binary files).
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render.h"
#include "report.h"

#define MAX_FILE (1u << 30)
#define MAX_VERTICES (1u << 23)
#define MAX_DEPTH 64
#define MAX_NODES (1u << 20)

struct gltf {
    const char *path;
    json_t *root;
    uint8_t *bytes; // of buffer 0
    size_t size;
    float *positions, *normals;
    uint32_t *indices;
    uint32_t vertex_count, index_count, node_count;
    bool no_normals;
};

static int fail(const struct gltf *g, const char *what)
{
    tool_error("%s: %s", g->path, what);
    return HS_ERR_FORMAT;
}

static int load_file(const char *path, uint8_t **bytes, size_t *size)
{
    FILE *file = fopen(path, "rb");
    long length = -1;
    if (file && !fseek(file, 0, SEEK_END))
        length = ftell(file);
    *bytes = length >= 0 && length < (long)MAX_FILE ? malloc((size_t)length + 1) : NULL;
    if (!*bytes || fseek(file, 0, SEEK_SET) ||
        fread(*bytes, 1, (size_t)length, file) != (size_t)length) {
        tool_error("%s: %s", path,
                   file && length >= (long)MAX_FILE ? "too large" : strerror(errno));
        if (file)
            fclose(file);
        free(*bytes);
        *bytes = NULL;
        return HS_ERR_IO;
    }
    fclose(file);
    *size = (size_t)length;
    return 0;
}

static int64_t get_int(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *v = json_object_get(object, key);
    return json_is_integer(v) ? json_integer_value(v) : fallback;
}

/** Checked start of an accessor's data. */
static const uint8_t *accessor(const struct gltf *g, int64_t index, const char *type,
                               int64_t component, int64_t *count, size_t *stride)
{
    const json_t *a = json_array_get(json_object_get(g->root, "accessors"), (size_t)index);
    const json_t *view = json_array_get(json_object_get(g->root, "bufferViews"),
                                        (size_t)get_int(a, "bufferView", -1));
    const char *have = json_string_value(json_object_get(a, "type"));
    const int64_t kind = get_int(a, "componentType", 0);
    const size_t part = kind == 5121 ? 1 : kind == 5123 ? 2 : 4;
    const size_t element = !strcmp(type, "VEC3") ? 3 * part : part;
    const int64_t first = get_int(view, "byteOffset", 0), more = get_int(a, "byteOffset", 0);
    *count = get_int(a, "count", -1);
    *stride = (size_t)get_int(view, "byteStride", (int64_t)element);
    if (index < 0 || !a || !view || !have || strcmp(have, type) ||
        (component && kind != component) || json_object_get(a, "sparse") ||
        get_int(view, "buffer", -1) != 0)
        return NULL;
    if (*count < 1 || *count > MAX_VERTICES || first < 0 || first > MAX_FILE || more < 0 ||
        more > MAX_FILE || *stride < element || *stride > 65536 ||
        (uint64_t)(first + more) + *stride * ((uint64_t)*count - 1) + element > g->size)
        return NULL;
    return g->bytes + first + more;
}

/** +y up becomes +z up. */
static void put(const double p[3], float *out)
{
    out[0] = (float)p[0];
    out[1] = (float)-p[2];
    out[2] = (float)p[1];
}

static void put_point(const double m[16], const float *in, float *out)
{
    double p[3];
    for (int i = 0; i < 3; i++)
        p[i] = m[i] * in[0] + m[4 + i] * in[1] + m[8 + i] * in[2] + m[12 + i];
    put(p, out);
}

/** Normals go with the cofactors, so that they stay upright under scales that differ by axis. */
static void put_normal(const double m[16], const float *in, float *out)
{
    double p[3], length = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        p[i] = 0;
        for (int c = 0; c < 3; c++) {
            const double *u = m + 4 * ((c + 1) % 3), *v = m + 4 * ((c + 2) % 3);
            p[i] += (u[j] * v[k] - u[k] * v[j]) * in[c];
        }
        length += p[i] * p[i];
    }
    for (int i = 0; i < 3; i++)
        p[i] = length > 0 && isfinite(length) ? p[i] / sqrt(length) : 0;
    put(p, out);
}

static bool grow(struct gltf *g, int64_t vertices, int64_t indices)
{
    const size_t v = g->vertex_count + (size_t)vertices, i = g->index_count + (size_t)indices;
    float *positions = realloc(g->positions, v * 12), *normals = realloc(g->normals, v * 12);
    uint32_t *all = realloc(g->indices, i * 4);
    g->positions = positions ? positions : g->positions;
    g->normals = normals ? normals : g->normals;
    g->indices = all ? all : g->indices;
    return positions && normals && all;
}

static int add_primitive(struct gltf *g, const json_t *primitive, const double m[16])
{
    const json_t *attributes = json_object_get(primitive, "attributes");
    int64_t count, normal_count = 0, index_count = 0;
    size_t stride, normal_stride = 0, index_stride = 0;
    if (get_int(primitive, "mode", 4) != 4)
        return 0;
    const uint8_t *place =
        accessor(g, get_int(attributes, "POSITION", -1), "VEC3", 5126, &count, &stride);
    const int64_t normal_index = get_int(attributes, "NORMAL", -1),
                  list = get_int(primitive, "indices", -1);
    const uint8_t *normals = accessor(g, normal_index, "VEC3", 5126, &normal_count, &normal_stride);
    const int64_t kind = get_int(
        json_array_get(json_object_get(g->root, "accessors"), (size_t)list), "componentType", 0);
    const size_t index_bytes = kind == 5121 ? 1 : kind == 5123 ? 2 : 4;
    const uint8_t *indices = accessor(g, list, "SCALAR", 0, &index_count, &index_stride);
    if (!place || (normal_index >= 0 && (!normals || normal_count != count)) ||
        (list >= 0 && (!indices || (index_bytes == 4 && kind != 5125))))
        return fail(g, "an accessor is damaged or of a kind that is not read");
    if (!indices)
        index_count = count;
    index_count -= index_count % 3;
    if (g->vertex_count + (uint64_t)count > MAX_VERTICES ||
        g->index_count + (uint64_t)index_count > 3 * (uint64_t)MAX_VERTICES)
        return fail(g, "has too many triangles");
    if (!grow(g, count, index_count)) {
        tool_error("out of memory");
        return HS_ERR_NOMEM;
    }
    g->no_normals = g->no_normals || !normals;
    for (int64_t i = 0; i < count; i++) {
        float p[3], n[3] = {0, 0, 1};
        memcpy(p, place + (size_t)i * stride, 12);
        if (normals)
            memcpy(n, normals + (size_t)i * normal_stride, 12);
        put_point(m, p, g->positions + 3 * (g->vertex_count + (size_t)i));
        put_normal(m, n, g->normals + 3 * (g->vertex_count + (size_t)i));
    }
    for (int64_t i = 0; i < index_count; i++) {
        uint32_t k = (uint32_t)i;
        if (indices) {
            k = 0;
            memcpy(&k, indices + (size_t)i * index_stride, index_bytes);
        }
        if (k >= (uint64_t)count)
            return fail(g, "an index is out of range");
        g->indices[g->index_count + (size_t)i] = g->vertex_count + k;
    }
    g->vertex_count += (uint32_t)count;
    g->index_count += (uint32_t)index_count;
    return 0;
}

static void multiply(const double a[16], const double b[16], double out[16])
{
    for (int c = 0; c < 4; c++) {
        for (int r = 0; r < 4; r++) {
            out[4 * c + r] = 0;
            for (int k = 0; k < 4; k++)
                out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
        }
    }
}

static void numbers(const json_t *array, double *out, size_t count)
{
    for (size_t i = 0; i < count && json_array_size(array) == count; i++)
        out[i] = json_number_value(json_array_get(array, i));
}

static void local_matrix(const json_t *node, double m[16])
{
    double t[3] = {0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    static const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    memcpy(m, identity, sizeof(identity));
    if (json_object_get(node, "matrix")) {
        numbers(json_object_get(node, "matrix"), m, 16);
        return;
    }
    numbers(json_object_get(node, "translation"), t, 3);
    numbers(json_object_get(node, "rotation"), q, 4);
    numbers(json_object_get(node, "scale"), s, 3);
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y + z * w),     2 * (x * z - y * w),
                         2 * (x * y - z * w),     1 - 2 * (x * x + z * z), 2 * (y * z + x * w),
                         2 * (x * z + y * w),     2 * (y * z - x * w),     1 - 2 * (x * x + y * y)};
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++)
            m[4 * c + k] = r[3 * c + k] * s[c];
        m[12 + c] = t[c];
    }
}

static int add_node(struct gltf *g, int64_t index, const double parent[16], int depth)
{
    const json_t *node = json_array_get(json_object_get(g->root, "nodes"), (size_t)index);
    double local[16], m[16];
    int err = 0;
    if (!node || depth > MAX_DEPTH || ++g->node_count > MAX_NODES)
        return fail(g, "the tree of nodes is damaged");
    local_matrix(node, local);
    multiply(parent, local, m);
    const int64_t mesh = get_int(node, "mesh", -1);
    const json_t *primitives = json_object_get(
        mesh < 0 ? NULL : json_array_get(json_object_get(g->root, "meshes"), (size_t)mesh),
        "primitives");
    for (size_t i = 0; !err && i < json_array_size(primitives); i++)
        err = add_primitive(g, json_array_get(primitives, i), m);
    const json_t *children = json_object_get(node, "children");
    for (size_t i = 0; !err && i < json_array_size(children); i++)
        err = add_node(g, json_integer_value(json_array_get(children, i)), m, depth + 1);
    return err;
}

static uint32_t word(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/** Binary files carry buffer 0; text files name a file for it. */
static int load_parts(struct gltf *g, uint8_t *file, size_t size)
{
    json_error_t error;
    if (size >= 20 && word(file) == 0x46546c67u) {
        const size_t json = word(file + 12);
        if (word(file + 4) != 2 || json > size - 20 || word(file + 16) != 0x4e4f534au)
            return fail(g, "not a glTF 2.0 binary");
        g->root = json_loadb((char *)file + 20, json, 0, &error);
        const size_t next = 20 + (json + 3) / 4 * 4;
        if (g->root && next + 8 <= size && word(file + next) <= size - next - 8) {
            g->size = word(file + next);
            g->bytes = malloc(g->size + 1);
            if (!g->bytes)
                return HS_ERR_NOMEM;
            memcpy(g->bytes, file + next + 8, g->size);
        }
        return g->root && g->bytes ? 0 : fail(g, "damaged chunks");
    }
    g->root = json_loadb((char *)file, size, 0, &error);
    if (!g->root)
        return fail(g, "neither a glTF binary nor JSON");
    const json_t *buffer = json_array_get(json_object_get(g->root, "buffers"), 0);
    const char *uri = json_string_value(json_object_get(buffer, "uri"));
    char path[2048];
    if (!uri || !strncmp(uri, "data:", 5))
        return fail(g, "needs a .bin file beside it; pack it as .glb");
    const char *slash = strrchr(g->path, '/');
    snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash - g->path + 1) : 0, g->path, uri);
    return load_file(path, &g->bytes, &g->size);
}

int render_read_gltf(const char *path, struct hs_scenes_mesh *mesh)
{
    static const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    struct gltf g = {.path = path};
    uint8_t *file = NULL;
    size_t size = 0;
    int err = load_file(path, &file, &size);
    if (!err)
        err = load_parts(&g, file, size);
    if (!err) {
        const json_t *scene =
            json_array_get(json_object_get(g.root, "scenes"), (size_t)get_int(g.root, "scene", 0));
        const json_t *nodes = json_object_get(scene, "nodes");
        for (size_t i = 0; !err && i < json_array_size(nodes); i++)
            err = add_node(&g, json_integer_value(json_array_get(nodes, i)), identity, 0);
        if (!err && !g.index_count)
            err = fail(&g, "holds no triangles");
    }
    if (!err) {
        if (g.no_normals) {
            free(g.normals);
            g.normals = NULL;
        }
        *mesh = (struct hs_scenes_mesh){g.positions, g.normals, g.vertex_count, g.indices,
                                        g.index_count};
    } else {
        free(g.positions);
        free(g.normals);
        free(g.indices);
    }
    json_decref(g.root);
    free(g.bytes);
    free(file);
    return err;
}
