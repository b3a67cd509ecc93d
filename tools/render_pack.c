// SPDX-License-Identifier: MIT
// A clip in one safetensors file: 8 bytes of header size, a JSON header, tensors.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "render.h"
#include "report.h"

#define VALUE_TENSORS 7

struct render_pack {
    const struct render_request *request;
    const struct hs_clip_params *settings;
    char path[1100], part[1120], shared[1024];
    FILE *file;
    struct hs_clip_info *infos;
    uint64_t offsets[RENDER_PLANES]; // of planes, behind the header
    uint64_t values;                 // of the tensors of numbers
};

static const struct {
    const char *name, *shape; // behind the frame count
    uint32_t floats;
} values[VALUE_TENSORS] = {
    {"jitter", ", 2", 2},
    {"exposure", "", 1},
    {"reset", "", 1},
    {"view", ", 4, 4", 16},
    {"proj", ", 4, 4", 16},
    {"previous_view", ", 4, 4", 16},
    {"previous_proj", ", 4, 4", 16},
};

static uint64_t plane_bytes(const struct hs_clip_params *p, int plane)
{
    const uint64_t pixels = plane == RENDER_REFERENCE
                                ? (uint64_t)p->width * p->height
                                : (uint64_t)p->render_width * p->render_height;
    return pixels * render_planes[plane].bytes;
}

/** Numbers of one frame for tensor `index`. */
static void frame_values(const struct hs_clip_info *f, int index, float *out)
{
    const double *m[4] = {f->camera.world_to_view, f->camera.view_to_clip,
                          f->previous_camera.world_to_view, f->previous_camera.view_to_clip};
    if (index == 0)
        memcpy(out, f->jitter, 8);
    else if (index < 3)
        out[0] = index == 1 ? f->exposure : f->reset;
    for (int i = 0; index >= 3 && i < 16; i++)
        out[i] = (float)m[index - 3][i];
}

static bool is_f32(int plane)
{
    return render_planes[plane].bytes == 4u * (unsigned)render_planes[plane].channels;
}

struct header {
    char *text;
    size_t size, length;
    uint64_t offset;
    uint32_t frames;
};

static void add_planes(struct render_pack *pack, bool f32, struct header *h)
{
    const struct hs_clip_params *p = pack->settings;
    for (int i = 0; i < RENDER_PLANES; i++) {
        if (!pack->request->mask[i] || is_f32(i) != f32)
            continue;
        const bool reference = i == RENDER_REFERENCE;
        const uint64_t end = h->offset + h->frames * plane_bytes(p, i);
        h->length += (size_t)snprintf(
            h->text + h->length, h->size - h->length,
            ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%u,%u,%u,%d],\"data_offsets\":[%llu,%llu]}",
            render_planes[i].name, f32 ? "F32" : "F16", h->frames,
            reference ? p->height : p->render_height, reference ? p->width : p->render_width,
            render_planes[i].channels, (unsigned long long)h->offset, (unsigned long long)end);
        pack->offsets[i] = h->offset;
        h->offset = end;
    }
}

/** Tensors of 32 bit first, so that all are aligned. */
static void make_header(struct render_pack *pack, uint64_t seed, char *text, size_t size)
{
    const struct hs_clip_params *p = pack->settings;
    struct header h = {text, size, 0, 0, p->frame_count};
    h.length = (size_t)snprintf(
        text, size,
        "{\"__metadata__\":{\"format\":\"hindsight-clip\","
        "\"version\":\"1\",\"pattern\":\"%s\",\"seed\":\"%llu\","
        "\"mode\":\"%s\",\"spp\":\"%u\",\"reference_spp\":\"%u\","
        "\"filter\":\"%s\",\"scene_size\":\"%ux%u\",\"size\":\"%ux%u\","
        "\"speed\":\"%.9g\",\"still\":\"%d\",\"clear_film\":\"%d\","
        "%s%s%s\"specular\":\"%s\"}",
        p->pattern, (unsigned long long)seed, p->mode == HS_SCENES_PATH ? "path" : "direct", p->spp,
        p->reference_spp, hs_scenes_filter_name(p->filter), p->scene_width, p->scene_height,
        p->width, p->height, p->speed, p->still, p->clear_film,
        pack->shared[0] ? "\"reference\":\"" : "", pack->shared, pack->shared[0] ? "\"," : "",
        p->specular == HS_SCENES_SPECULAR_F0            ? "f0"
        : p->specular == HS_SCENES_SPECULAR_METAL_WHITE ? "metal-white"
                                                        : "directional");
    add_planes(pack, true, &h);
    pack->values = h.offset;
    for (int i = 0; i < VALUE_TENSORS; i++) {
        const uint64_t end = h.offset + 4ull * h.frames * values[i].floats;
        h.length += (size_t)snprintf(
            text + h.length, size - h.length,
            ",\"%s\":{\"dtype\":\"F32\",\"shape\":[%u%s],\"data_offsets\":[%llu,%llu]}",
            values[i].name, h.frames, values[i].shape, (unsigned long long)h.offset,
            (unsigned long long)end);
        h.offset = end;
    }
    add_planes(pack, false, &h);
    h.length += (size_t)snprintf(text + h.length, size - h.length, "}");
    memset(text + h.length, ' ', size - h.length);
}

int render_pack_path(const char *folder, const char *pattern, uint64_t seed, char *path,
                     size_t size)
{
    const int length =
        snprintf(path, size, "%s/%s-%06llu.safetensors", folder, pattern, (unsigned long long)seed);
    if (length >= 0 && (size_t)length < size)
        return 0;
    tool_error("the name of the folder %s is too long", folder);
    return HS_ERR_INVALID;
}

int render_pack_open(const struct render_request *request, const struct hs_clip_params *settings,
                     uint64_t seed, struct render_pack **pack)
{
    char header[RENDER_HEADER_BYTES];
    struct stat there;
    struct render_pack *p = calloc(1, sizeof(*p));
    int err = HS_ERR_NOMEM;
    if (!p)
        return err;
    p->request = request;
    p->settings = settings;
    p->infos = calloc(settings->frame_count, sizeof(*p->infos));
    if (!p->infos)
        goto error;
    err = render_make_folder(request->output);
    if (err)
        goto error;
    err = render_pack_path(request->output, settings->pattern, seed, p->path, sizeof(p->path));
    if (!err && request->shared)
        err = render_shared_path(request, seed, p->shared, sizeof(p->shared));
    if (err)
        goto error;
    snprintf(p->part, sizeof(p->part), "%s.part", p->path);
    *pack = NULL;
    err = 0;
    if (!request->overwrite && !stat(p->path, &there))
        goto error;
    make_header(p, seed, header, sizeof(header));
    p->file = fopen(p->part, "wb");
    uint8_t size[8] = {0};
    size[0] = RENDER_HEADER_BYTES & 255;
    size[1] = RENDER_HEADER_BYTES >> 8;
    if (!p->file || fwrite(size, 1, 8, p->file) != 8 ||
        fwrite(header, 1, RENDER_HEADER_BYTES, p->file) != RENDER_HEADER_BYTES) {
        tool_error("%s: %s", p->part, strerror(errno));
        err = HS_ERR_IO;
        goto error;
    }
    *pack = p;
    return 0;
error:
    if (p->file) {
        fclose(p->file);
        remove(p->part);
    }
    free(p->infos);
    free(p);
    return err;
}

int render_pack_add(struct render_pack *pack, const struct render_result *r)
{
    memcpy(pack->infos + r->first, r->infos, r->count * sizeof(*r->infos));
    for (int i = 0; i < RENDER_PLANES; i++) {
        const uint64_t bytes = plane_bytes(pack->settings, i);
        if (!pack->request->mask[i])
            continue;
        if (fseeko(pack->file,
                   (off_t)(8 + RENDER_HEADER_BYTES + pack->offsets[i] + r->first * bytes),
                   SEEK_SET) ||
            fwrite(r->planes[i], bytes, r->count, pack->file) != r->count) {
            tool_error("%s: %s", pack->part, strerror(errno));
            return HS_ERR_IO;
        }
    }
    return 0;
}

int render_pack_close(struct render_pack **pack, int err)
{
    struct render_pack *p = *pack;
    bool ok = !fseeko(p->file, (off_t)(8 + RENDER_HEADER_BYTES + p->values), SEEK_SET);
    for (int i = 0; !err && ok && i < VALUE_TENSORS; i++) {
        for (uint32_t k = 0; ok && k < p->settings->frame_count; k++) {
            float numbers[16];
            frame_values(&p->infos[k], i, numbers);
            ok = fwrite(numbers, 4, values[i].floats, p->file) == values[i].floats;
        }
    }
    ok = !fclose(p->file) && ok;
    if (!err && (!ok || rename(p->part, p->path))) {
        tool_error("%s: %s", p->path, strerror(errno));
        err = HS_ERR_IO;
    }
    if (err)
        remove(p->part);
    free(p->infos);
    free(p);
    *pack = NULL;
    return err;
}
