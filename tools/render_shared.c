// SPDX-License-Identifier: MIT
// Packs that share a reference: one clip's reference is the target of several inputs.
#define _XOPEN_SOURCE 700 // realpath
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "render.h"
#include "report.h"

/** What a pack with a reference says in its header, which render_pack.c wrote. */
struct about {
    uint32_t frames, width, height, scene_width, scene_height;
    float speed;
    bool path, still, clear_film;
};

static int read_about(const char *path, struct about *out)
{
    char header[8 + RENDER_HEADER_BYTES];
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(header, 1, sizeof(header), file) : 0;
    json_t *root = NULL;
    const char *mode, *still, *clear_film, *scene_size, *speed;
    int shape[3];
    if (file)
        fclose(file);
    *out = (struct about){0};
    if (size == sizeof(header))
        root = json_loadb(header + 8, RENDER_HEADER_BYTES, 0, NULL);
    const bool good =
        root &&
        !json_unpack(root, "{s:{s:s, s:s, s:s, s:s, s:s}, s:{s:[i, i, i]}}", "__metadata__", "mode",
                     &mode, "still", &still, "clear_film", &clear_film, "scene_size", &scene_size,
                     "speed", &speed, "reference", "shape", &shape[0], &shape[1], &shape[2]) &&
        sscanf(scene_size, "%ux%u", &out->scene_width, &out->scene_height) == 2 &&
        sscanf(speed, "%f", &out->speed) == 1;
    if (good) {
        out->frames = (uint32_t)shape[0];
        out->height = (uint32_t)shape[1];
        out->width = (uint32_t)shape[2];
        out->path = !strcmp(mode, "path");
        out->still = !strcmp(still, "1");
        out->clear_film = !strcmp(clear_film, "1");
    }
    json_decref(root);
    if (!good)
        tool_error("%s: no pack of hindsight render that holds a reference", path);
    return good ? 0 : HS_ERR_FORMAT;
}

/** The seed of a pack by its name. */
static bool seed_of(const char *name, const char *pattern, uint64_t *seed)
{
    const size_t length = strlen(pattern);
    char *end = NULL;
    if (strncmp(name, pattern, length) || name[length] != '-')
        return false;
    const char *digits = name + length + 1;
    if (*digits < '0' || *digits > '9')
        return false;
    errno = 0;
    *seed = strtoull(digits, &end, 10);
    return !errno && !strcmp(end, ".safetensors");
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int list_seeds(struct render_request *r)
{
    DIR *folder = opendir(r->shared);
    uint32_t room = 0;
    uint64_t seed;
    int err = 0;
    if (!folder) {
        tool_error("%s: %s", r->shared, strerror(errno));
        return HS_ERR_IO;
    }
    for (struct dirent *entry; !err && (entry = readdir(folder));) {
        if (!seed_of(entry->d_name, r->params.pattern, &seed))
            continue;
        if (r->seed_count == room) {
            room = room ? 2 * room : 64;
            uint64_t *more = realloc(r->seeds, room * sizeof(*more));
            err = more ? 0 : HS_ERR_NOMEM;
            r->seeds = more ? more : r->seeds;
        }
        if (!err)
            r->seeds[r->seed_count++] = seed;
    }
    closedir(folder);
    if (!err && !r->seed_count) {
        tool_error("%s: no packs of \"%s\"", r->shared, r->params.pattern);
        return HS_ERR_IO;
    }
    if (!err)
        qsort(r->seeds, r->seed_count, sizeof(*r->seeds), by_value);
    return err;
}

int render_shared_plan(struct render_request *r)
{
    struct about first = {0}, about;
    struct hs_clip_params *p = &r->params;
    char path[1100];
    int err = 0;
    if (r->format != RENDER_PACK) {
        tool_error("--reference-from needs --format pack");
        return HS_ERR_INVALID;
    }
    if (!r->seed_count)
        err = list_seeds(r);
    for (uint32_t i = 0; !err && i < r->seed_count; i++) {
        err = render_pack_path(r->shared, p->pattern, r->seeds[i], path, sizeof(path));
        if (!err)
            err = read_about(path, &about);
        if (err)
            break;
        if (i == 0)
            first = about;
        if (about.frames != first.frames || about.width != first.width ||
            about.height != first.height || about.scene_width != first.scene_width ||
            about.scene_height != first.scene_height || about.speed != first.speed ||
            about.path != first.path || about.still != first.still ||
            about.clear_film != first.clear_film) {
            tool_error("%s: other frames, sizes, mode or motion than the first pack", path);
            err = HS_ERR_INVALID;
        }
    }
    p->frame_count = first.frames;
    p->width = first.width;
    p->height = first.height;
    p->scene_width = first.scene_width;
    p->scene_height = first.scene_height;
    p->speed = first.speed;
    p->mode = first.path ? HS_SCENES_PATH : HS_SCENES_DIRECT;
    p->still = first.still;
    p->clear_film = first.clear_film;
    return err;
}

int render_shared_path(const struct render_request *request, uint64_t seed, char *path, size_t size)
{
    char *from = realpath(request->output, NULL), *to = realpath(request->shared, NULL);
    char folder[1024] = "";
    size_t same = 0, length = 0;
    int err = from && to ? 0 : HS_ERR_IO;
    if (err) {
        tool_error("%s: %s", from ? request->shared : request->output, strerror(errno));
        goto done;
    }
    // Up to where both part, then down; only whole names are the same.
    for (size_t i = 0; from[i] == to[i] || !from[i] || !to[i]; i++) {
        if ((from[i] == '/' || !from[i]) && (to[i] == '/' || !to[i]))
            same = i;
        if (!from[i] || !to[i])
            break;
    }
    for (const char *c = from + same; *c && length + 4 < sizeof(folder); c++) {
        if (*c == '/' && c[1])
            length += (size_t)snprintf(folder + length, sizeof(folder) - length, "../");
    }
    const char *rest = to + same + (to[same] == '/');
    const bool plain = !strpbrk(rest, "\"\\") && strlen(rest) + length + 2 < sizeof(folder);
    if (plain)
        snprintf(folder + length, sizeof(folder) - length, "%s", *rest ? rest : ".");
    err = HS_ERR_INVALID;
    if (!plain)
        tool_error("--reference-from: the name of the folder is too long, or has quotes");
    else
        err = render_pack_path(folder, request->params.pattern, seed, path, size);
done:
    free(from);
    free(to);
    return err;
}
