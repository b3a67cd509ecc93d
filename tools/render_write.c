// SPDX-License-Identifier: MIT
// Folders of EXR files or raw planes, and the JSON beside them.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "render.h"
#include "report.h"

int render_make_folder(const char *path)
{
    char part[1200];
    for (const char *slash = strchr(path + (path[0] != 0), '/');; slash = strchr(slash + 1, '/')) {
        const int length = slash ? (int)(slash - path) : (int)strlen(path);
        snprintf(part, sizeof(part), "%.*s", length, path);
        if (mkdir(part, 0777) && errno != EEXIST) {
            tool_error("%s: %s", part, strerror(errno));
            return HS_ERR_IO;
        }
        if (!slash)
            return 0;
    }
}

/** Readers take all numbered files for one sequence. */
static void remove_frames(const char *folder, uint32_t first)
{
    char path[1200];
    do
        snprintf(path, sizeof(path), "%s/frame.%04u.exr", folder, first++);
    while (!remove(path));
}

int render_folder(const struct render_request *r, const struct hs_clip_params *settings,
                  uint64_t seed, char *path, size_t size, bool *there)
{
    char reference[1100], json[1100];
    struct stat file;
    int err = render_make_folder(r->output);
    int length = snprintf(path, size, "%s", r->output);
    if (r->seed_count > 1)
        length = snprintf(path, size, "%s/%06llu", r->output, (unsigned long long)seed);
    if (length < 0 || (size_t)length >= size) {
        tool_error("the name of the output folder is too long");
        return HS_ERR_INVALID;
    }
    if (!err)
        err = render_make_folder(path);
    snprintf(reference, sizeof(reference), "%s/reference", path);
    snprintf(json, sizeof(json), "%s/frames.json", path);
    *there = !err && !r->overwrite && !stat(json, &file);
    if (err || *there)
        return err;
    remove(json); // it is written last: a clip with it is complete
    if (r->format == RENDER_EXR) {
        remove_frames(path, settings->frame_count);
        remove_frames(reference, r->mask[RENDER_REFERENCE] ? settings->frame_count : 0);
    }
    return r->mask[RENDER_REFERENCE] ? render_make_folder(reference) : 0;
}

static int write_failed(const char *path, int err)
{
    tool_error("%s: %s", path, hs_error_string(err));
    return err;
}

static const void *frame_of(const struct render_result *r, int plane, uint32_t index)
{
    const struct hs_clip_params *p = r->settings;
    const size_t pixels = plane == RENDER_REFERENCE ? (size_t)p->width * p->height
                                                    : (size_t)p->render_width * p->render_height;
    return (const char *)r->planes[plane] + index * pixels * render_planes[plane].bytes;
}

static int write_exr(const struct render_result *r, uint32_t index, const char *folder)
{
    const struct hs_clip_params *p = r->settings;
    struct hsio_write_plane planes[RENDER_PLANES];
    char path[1200], names[RENDER_PLANES][512];
    void *made[RENDER_PLANES] = {NULL};
    int count = 0, err = 0;
    for (int i = 0; !err && i < RENDER_REFERENCE; i++) {
        if (!r->request->mask[i])
            continue;
        if (r->request->converts)
            err = render_convert(r, i, index, &made[i]);
        planes[count++] = (struct hsio_write_plane){
            .plane = render_io_plane(r->request, i),
            .format = render_planes[i].pixels,
            .data = made[i] ? made[i] : frame_of(r, i, index),
            .store_float = render_planes[i].store_float,
            .channels = render_channels(r->request, i, names[i], sizeof(names[i])),
        };
    }
    snprintf(path, sizeof(path), "%s/frame.%04u.exr", folder, r->first + index);
    if (!err && count)
        err = hsio_write(path, (int)p->render_width, (int)p->render_height, planes, count, NULL,
                         tool_log());
    for (int i = 0; i < RENDER_PLANES; i++)
        free(made[i]);
    if (!err && r->request->mask[RENDER_REFERENCE]) {
        planes[0] = (struct hsio_write_plane){.plane = HSIO_PLANE_COLOR,
                                              .format = HSIO_FORMAT_RGBA16F,
                                              .data = frame_of(r, RENDER_REFERENCE, index)};
        snprintf(path, sizeof(path), "%s/reference/frame.%04u.exr", folder, r->first + index);
        err = hsio_write(path, (int)p->width, (int)p->height, planes, 1, NULL, tool_log());
    }
    return err ? write_failed(path, err) : 0;
}

static void raw_name(int plane, uint32_t frame, char *name, size_t size)
{
    snprintf(name, size, "%s%s.%04u.%s", plane == RENDER_REFERENCE ? "reference/" : "",
             plane == RENDER_COLOUR ? "color" : render_planes[plane].name, frame,
             hsio_format_name(render_planes[plane].pixels));
}

static int write_raw(const struct render_result *r, uint32_t index, const char *folder)
{
    const struct hs_clip_params *p = r->settings;
    char path[1200], name[100];
    int err = 0;
    for (int i = 0; !err && i < RENDER_PLANES; i++) {
        if (!r->request->mask[i])
            continue;
        const bool reference = i == RENDER_REFERENCE;
        void *made = NULL;
        if (r->request->converts && !reference)
            err = render_convert(r, i, index, &made);
        const struct hsio_write_plane plane = {.plane = render_planes[i].io,
                                               .format = render_planes[i].pixels,
                                               .data = made ? made : frame_of(r, i, index)};
        raw_name(i, r->first + index, name, sizeof(name));
        snprintf(path, sizeof(path), "%s/%s", folder, name);
        if (!err)
            err = hsio_write(path, (int)(reference ? p->width : p->render_width),
                             (int)(reference ? p->height : p->render_height), &plane, 1, NULL,
                             tool_log());
        free(made);
    }
    return err ? write_failed(path, err) : 0;
}

int render_write_frames(const struct render_result *result, const char *folder)
{
    int err = 0;
    for (uint32_t i = 0; !err && i < result->count; i++)
        err = result->request->format == RENDER_RAW ? write_raw(result, i, folder)
                                                    : write_exr(result, i, folder);
    return err;
}

static void write_matrix(FILE *file, const char *key, const double *m)
{
    fprintf(file, ",\n   \"%s\": [", key);
    for (int i = 0; i < 4; i++)
        fprintf(file, "%s[%.9g, %.9g, %.9g, %.9g]", i ? ", " : "", m[4 * i], m[4 * i + 1],
                m[4 * i + 2], m[4 * i + 3]);
    fprintf(file, "]");
}

static void write_planes(FILE *file, const struct render_request *r, uint32_t frame)
{
    for (int i = 0; i < RENDER_REFERENCE; i++) {
        char name[100];
        if (!r->mask[i] || i == RENDER_ALPHA)
            continue;
        raw_name(i, frame, name, sizeof(name));
        fprintf(file, ",\n   \"%s\": ", hsio_plane_name(render_io_plane(r, i)));
        tool_json_string(file, name);
    }
}

int render_write_json(const struct render_request *r, const struct hs_clip_params *p, uint64_t seed,
                      const struct hs_clip_info *infos, uint32_t count, const char *folder)
{
    char path[1200];
    snprintf(path, sizeof(path), "%s/frames.json", folder);
    FILE *file = tool_output_open(path);
    if (!file)
        return HS_ERR_IO;
    fprintf(file, "{\n \"format\": \"hindsight-frames\",\n \"version\": 1,\n \"scene\": ");
    tool_json_string(file, p->pattern);
    fprintf(file, ",\n \"seed\": %llu,\n \"mode\": \"%s\",\n \"spp\": %u,\n",
            (unsigned long long)seed, p->mode == HS_SCENES_PATH ? "path" : "direct", p->spp);
    fprintf(file, " \"filter\": \"%s\",\n \"reference_spp\": %u,\n",
            hs_scenes_filter_name(p->filter), p->reference_spp);
    fprintf(file, " \"width\": %u,\n \"height\": %u,\n", p->render_width, p->render_height);
    fprintf(file, " \"output\": {\"width\": %u, \"height\": %u},\n", p->width, p->height);
    fprintf(file, " \"convention\": ");
    render_write_convention(file, r, p->specular);
    fprintf(file, ",\n");
    if (r->format == RENDER_EXR)
        fprintf(file, " \"pattern\": \"frame.%%04d.exr\",\n");
    fprintf(file, " \"frames\": [");
    for (uint32_t i = 0; i < count; i++) {
        const struct hs_clip_info *f = &infos[i];
        fprintf(file, "%s\n  {\"frame\": %u, \"reset\": %s, \"exposure\": %.9g,\n", i ? "," : "", i,
                f->reset ? "true" : "false", f->exposure);
        const float unit = r->converts ? r->convention.depth.unit_m : 1;
        double view[16], proj[16];
        float jitter[2] = {f->jitter[0], f->jitter[1]};
        memcpy(view, f->camera.world_to_view, sizeof(view));
        memcpy(proj, f->camera.view_to_clip, sizeof(proj));
        for (int k = 3; k < 12; k += 4)
            view[k] /= unit;
        proj[11] /= unit;
        if (r->converts)
            hsio_store_jitter(&r->convention, (int)p->render_width, (int)p->render_height,
                              f->jitter, jitter);
        fprintf(file, "   \"jitter\": [%.9g, %.9g], \"near\": %.9g, \"far\": %.9g", jitter[0],
                jitter[1], f->near_z / unit, f->far_z / unit);
        write_matrix(file, "view", view);
        write_matrix(file, "proj", proj);
        if (r->format == RENDER_RAW)
            write_planes(file, r, i);
        fprintf(file, "}");
    }
    fprintf(file, "\n ]\n}\n");
    return tool_output_close(file, path);
}
