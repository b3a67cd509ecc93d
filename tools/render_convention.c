// SPDX-License-Identifier: MIT
// Planes as other renderers write them.
#include <stdlib.h>
#include <string.h>

#include "render.h"
#include "report.h"

/** Whether the preset has a pattern of its own for the plane. */
static bool is_named(const struct hsio_convention *conv, enum hsio_plane plane)
{
    struct hsio_convention plain;
    return !hsio_convention_preset(&plain, "raw", NULL) &&
           strcmp(plain.channels[plane], conv->channels[plane]) != 0;
}

void render_plan_convention(struct render_request *r, bool specular_given)
{
    const struct hsio_convention *c = &r->convention;
    if (r->mask[RENDER_MOTION] && c->motion.direction == HSIO_DIRECTION_NEXT) {
        r->motion_is_next = true;
        r->mask[RENDER_MOTION] = false;
        r->mask[RENDER_MOTION_NEXT] = true;
    } else if (r->mask[RENDER_MOTION] && is_named(c, HSIO_PLANE_MOTION_NEXT)) {
        r->mask[RENDER_MOTION_NEXT] = true;
    }
    if (!specular_given)
        r->params.specular = c->specular_albedo.kind == HSIO_SPECULAR_F0 ? HS_SCENES_SPECULAR_F0
                             : c->specular_albedo.kind == HSIO_SPECULAR_METAL_WHITE
                                 ? HS_SCENES_SPECULAR_METAL_WHITE
                                 : HS_SCENES_SPECULAR_DIRECTIONAL;
}

enum hsio_plane render_io_plane(const struct render_request *r, int plane)
{
    return plane == RENDER_MOTION_NEXT && r->motion_is_next ? HSIO_PLANE_MOTION
                                                            : render_planes[plane].io;
}

const char *render_channels(const struct render_request *r, int plane, char *text, size_t size)
{
    const enum hsio_plane io = render_io_plane(r, plane);
    if (plane == RENDER_ALPHA)
        return "alpha.A";
    if (!r->converts ||
        !(is_named(&r->convention, io) || (io == HSIO_PLANE_NORMAL && r->convention.normal.packed)))
        return NULL;
    return hsio_store_names(&r->convention, io, text, size) ? NULL : text;
}

int render_convert(const struct render_result *r, int plane, uint32_t index, void **pixels)
{
    const struct hs_clip_params *p = r->settings;
    const struct hs_clip_info *f = r->clip_infos + r->first + index;
    const size_t count = (size_t)p->render_width * p->render_height;
    const size_t bytes = count * render_planes[plane].bytes;
    const bool first = r->first + index == 0, last = r->first + index + 1 == p->frame_count;
    struct hsio_store_frame frame = {
        .width = (int)p->render_width,
        .height = (int)p->render_height,
        .near = f->near_z,
        .far = f->far_z,
        .view = f->camera.world_to_view,
    };
    if (plane == RENDER_ALPHA)
        return 0;
    if (r->planes[RENDER_DEPTH])
        frame.depth = (const float *)r->planes[RENDER_DEPTH] + index * count;
    memcpy(frame.jitter, f->jitter, sizeof(frame.jitter));
    memcpy(frame.previous_jitter, first ? f->jitter : f[-1].jitter, sizeof(frame.jitter));
    memcpy(frame.next_jitter, last ? f->jitter : f[1].jitter, sizeof(frame.jitter));
    *pixels = malloc(bytes);
    if (!*pixels)
        return HS_ERR_NOMEM;
    memcpy(*pixels, (const char *)r->planes[plane] + index * bytes, bytes);
    return hsio_store_plane(&r->request->convention, render_io_plane(r->request, plane), &frame,
                            render_planes[plane].pixels, *pixels, tool_log());
}

static void write_key(FILE *file, const struct hsio_convention *conv, const char *key)
{
    char value[1024];
    if (hsio_convention_get(conv, key, value, sizeof(value)))
        return;
    fprintf(file, ", ");
    tool_json_string(file, key);
    fprintf(file, ": ");
    tool_json_string(file, value);
}

void render_write_convention(FILE *file, const struct render_request *r,
                             enum hs_scenes_specular specular)
{
    static const char *const kinds[] = {"directional", "f0", "metal_white"};
    struct hsio_convention conv;
    if (r->converts)
        conv = r->convention;
    else
        hsio_convention_preset(&conv, "raw", NULL);
    fprintf(file, "{\"preset\": ");
    tool_json_string(file, conv.preset);
    for (int i = 0; i < r->asked.setting_count; i++) {
        const char *setting = r->asked.settings[i];
        char key[64];
        snprintf(key, sizeof(key), "%.*s", (int)strcspn(setting, "="), setting);
        write_key(file, &conv, key);
    }
    if ((int)specular != (int)conv.specular_albedo.kind) {
        hsio_convention_set(&conv, "specular_albedo.kind", kinds[specular], NULL);
        write_key(file, &conv, "specular_albedo.kind");
    }
    fprintf(file, "}");
}
