// SPDX-License-Identifier: MIT
// From a frame's values to the parameter block of the shaders.
#include "stream.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static_assert(sizeof(struct hs_frame_params) == 25 * 16, "std140 layout of the parameter block");
static_assert(sizeof(struct hs_aov_push) == 5 * 16, "push constants");
static_assert(sizeof(struct hs_state) == (2 + HS_MEASURE_GROUPS) * 16, "std430 layout of state");

static float or_one(float value)
{
    return value == 0 ? 1.0f : value;
}

static void multiply(const double *a, const double *b, double *out)
{
    for (int r = 0; r < 4; r++) {
        for (int c = 0; c < 4; c++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += a[4 * r + k] * b[4 * k + c];
            out[4 * r + c] = sum;
        }
    }
}

/** Inverse of an affine matrix; false if its linear part is singular. */
static bool invert_affine(const double *m, double *out)
{
    double cof[9];
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            cof[3 * r + c] = m[4 * r1 + c1] * m[4 * r2 + c2] - m[4 * r1 + c2] * m[4 * r2 + c1];
        }
    }
    double det = m[0] * cof[0] + m[1] * cof[1] + m[2] * cof[2];
    if (!isfinite(det) || fabs(det) < 1e-30)
        return false;
    for (int r = 0; r < 3; r++) {
        out[4 * r + 3] = 0;
        for (int c = 0; c < 3; c++) {
            out[4 * r + c] = cof[3 * c + r] / det;
            out[4 * r + 3] -= out[4 * r + c] * m[4 * c + 3];
        }
    }
    out[12] = out[13] = out[14] = 0;
    out[15] = 1;
    return true;
}

/**
 * Rows x, y, w of the matrix from (ndc x, ndc y, 1 / depth, 1) of this frame to clip space of the
 * previous one. Divided by the depth, so that a point at infinity is an ordinary one; the w row
 * times the depth is the depth in the previous frame. Perspective cameras only.
 */
static bool reprojection(const struct hs_camera *now, const struct hs_camera *before,
                         struct hs_vec4 *rows)
{
    const double *p = now->view_to_clip;
    if (p[14] != -1 || p[15] != 0 || before->view_to_clip[14] != -1)
        return false;
    double to_world[16], to_view[16], to_clip[16], all[16];
    if (!invert_affine(now->world_to_view, to_world))
        return false;
    // view / depth from (ndc x, ndc y, 1 / depth, 1)
    const double unproject[16] = {
        1 / p[0], 0, 0, p[2] / p[0], 0, 1 / p[5], 0, p[6] / p[5], 0, 0, 0, -1, 0, 0, 1, 0,
    };
    multiply(before->world_to_view, to_world, to_view);
    multiply(before->view_to_clip, to_view, to_clip);
    multiply(to_clip, unproject, all);
    static const int picked[3] = {0, 1, 3};
    for (int i = 0; i < 3; i++) {
        const double *r = &all[4 * picked[i]];
        rows[i] = (struct hs_vec4){(float)r[0], (float)r[1], (float)r[2], (float)r[3]};
        if (!isfinite(rows[i].x) || !isfinite(rows[i].y) || !isfinite(rows[i].z) ||
            !isfinite(rows[i].w))
            return false;
    }
    return true;
}

static void fill_depth(const struct hs_depth_params *d, struct hs_frame_params *p)
{
    const double n = d->near_z, f = d->far_z;
    const bool infinite = !isfinite(f) || f == 0;
    if (d->kind == HS_DEPTH_LINEAR) {
        const float a = or_one(d->scale);
        // Stored depth at or above the far value is sky; a little slack for half floats.
        const float far_value = d->far_value > 0 ? d->far_value * a * 0.999f : 1e30f;
        p->depth = (struct hs_vec4){a, 0, far_value, 0};
        return;
    }
    double a, b;
    if (d->kind == HS_DEPTH_HARDWARE) {
        a = infinite ? -n : -f * n / (f - n);
        b = infinite ? -1 : -f / (f - n);
    } else {
        a = infinite ? n : f * n / (f - n);
        b = infinite ? 0 : n / (f - n);
    }
    const double far_z = infinite ? 1e30 : f * 0.999;
    p->depth = (struct hs_vec4){(float)a, (float)b, (float)fmin(far_z, 1e30), 0};
}

/** How view space lies in the world, and what points at pixels; false: not a perspective. */
static bool fill_view(const struct hs_camera *camera, struct hs_vec4 *view)
{
    const double *p = camera->view_to_clip;
    double to_world[16];
    if (p[14] != -1 || p[15] != 0 || !invert_affine(camera->world_to_view, to_world))
        return false;
    for (int r = 0; r < 3; r++)
        view[r] = (struct hs_vec4){(float)to_world[4 * r], (float)to_world[4 * r + 1],
                                   (float)to_world[4 * r + 2], 0};
    view[3] = (struct hs_vec4){(float)(1 / p[0]), (float)(1 / p[5]), (float)p[2], (float)p[6]};
    return true;
}

static int guide_flags(const struct hs_recording *rec)
{
    const struct hs_guide_params *g = &rec->frame->guide_params;
    const struct hs_plane_use *planes = rec->planes;
    int flags = 0;
    if (planes[HS_PLANE_DIFFUSE].image)
        flags |= HS_FRAME_DIFFUSE;
    if (planes[HS_PLANE_SPECULAR].image) {
        flags |= HS_FRAME_SPECULAR;
        if (g->specular != HS_SPECULAR_DIRECTIONAL)
            flags |= HS_FRAME_SPECULAR_F0;
    }
    if (planes[HS_PLANE_NORMAL].image) {
        flags |= HS_FRAME_NORMAL;
        flags |= g->normal_space == HS_NORMAL_VIEW ? HS_FRAME_NORMAL_VIEW : 0;
        flags |= g->normal_unsigned ? HS_FRAME_NORMAL_UNSIGNED : 0;
        flags |= g->normal_packed ? HS_FRAME_NORMAL_PACKED : 0;
    }
    if (planes[HS_PLANE_ROUGHNESS].image)
        flags |= HS_FRAME_ROUGHNESS;
    if (g->roughness == HS_ROUGHNESS_ALPHA)
        flags |= HS_FRAME_ROUGHNESS_ALPHA;
    if (g->roughness == HS_ROUGHNESS_SMOOTHNESS)
        flags |= HS_FRAME_ROUGHNESS_SMOOTH;
    if (planes[HS_PLANE_HIT].image)
        flags |= HS_FRAME_HIT;
    return flags;
}

static void fill_motion(const struct hs_stream *s, const struct hs_recording *rec,
                        struct hs_frame_params *p)
{
    const struct hs_frame *f = rec->frame;
    const struct hs_motion_params *m = &f->motion_params;
    const bool display = m->display_resolution;
    const float w = display ? (float)s->params.out_width : (float)f->render_width;
    const float h = display ? (float)s->params.out_height : (float)f->render_height;
    p->motion = (struct hs_vec4){or_one(m->scale[0]), or_one(m->scale[1]), m->bias[0], m->bias[1]};
    p->motion2 = (struct hs_vec4){0, 0, w + h, 0};
    if (m->jittered) {
        // A point is drawn at its place minus the jitter, so the vectors hold the jitter's
        // change, which is taken out here in units of the plane.
        p->motion2.x = (p->jitter.z / (float)p->prev_size.x - p->jitter.x / (float)p->size.x) * w;
        p->motion2.y = (p->jitter.w / (float)p->prev_size.y - p->jitter.y / (float)p->size.y) * h;
    }
}

static int fill_flags(const struct hs_stream *s, const struct hs_recording *rec)
{
    const struct hs_frame *f = rec->frame;
    const struct hs_plane_use *planes = rec->planes;
    int flags = 0;
    if (rec->reset)
        flags |= HS_FRAME_RESET;
    if (s->params.flags & HS_STREAM_LDR)
        flags |= HS_FRAME_LDR;
    if (planes[HS_PLANE_DEPTH].image)
        flags |= HS_FRAME_DEPTH;
    if (planes[HS_PLANE_MOTION].image)
        flags |= HS_FRAME_MOTION;
    if (planes[HS_PLANE_REACTIVE].image)
        flags |= HS_FRAME_REACTIVE;
    if (s->prev_has_depth && !rec->reset)
        flags |= HS_FRAME_PREV_DEPTH;
    if (f->motion_params.display_resolution)
        flags |= HS_FRAME_MOTION_DISPLAY;
    if (f->motion_params.swap_axes)
        flags |= HS_FRAME_MOTION_SWAP;
    if (f->motion_params.unwritten == HS_MOTION_UNWRITTEN_ZERO)
        flags |= HS_FRAME_UNWRITTEN_ZERO;
    if (f->motion_params.unwritten == HS_MOTION_UNWRITTEN_ZERO_FAR)
        flags |= HS_FRAME_UNWRITTEN_FAR;
    if (f->depth_params.kind != HS_DEPTH_LINEAR)
        flags |= HS_FRAME_DEPTH_HARDWARE;
    if (f->exposure.mode == HS_EXPOSURE_AUTO)
        flags |= HS_FRAME_EXPOSURE_AUTO;
    if (planes[HS_PLANE_EXPOSURE].image)
        flags |= HS_FRAME_EXPOSURE_IMAGE;
    if (rec->finish)
        flags |= HS_FRAME_FINISH;
    return flags;
}

static struct hs_ivec4 origins(const struct hs_plane_use *a, const struct hs_plane_use *b)
{
    // A copied plane starts at the origin of its copy.
    struct hs_ivec4 o = {0};
    if (a->image && !a->copy)
        o.x = (int32_t)a->image->x, o.y = (int32_t)a->image->y;
    if (b->image && !b->copy)
        o.z = (int32_t)b->image->x, o.w = (int32_t)b->image->y;
    return o;
}

static void fill_look(const struct hs_stream *s, const struct hs_look *l, struct hs_frame_params *p)
{
    const float *low = l->shadows, *high = l->highlights;
    p->look[0] = (struct hs_vec4){(float)l->curve, l->grade, l->contrast, l->pivot};
    p->look[1] = (struct hs_vec4){low[0], low[1], low[2], l->saturation};
    p->look[2] = (struct hs_vec4){high[0], high[1], high[2], l->vignette};
    p->look[3] = (struct hs_vec4){l->grain, (float)(s->frames & 0xffff), l->aberration_px, 0};
    if (l->pivot == 0)
        p->look[0].w = 0.5f;
}

void hs_params_fill(const struct hs_stream *s, struct hs_recording *rec)
{
    const struct hs_frame *f = rec->frame;
    const struct hs_plane_use *planes = rec->planes;
    struct hs_frame_params *p = &rec->params;
    const int rw = (int)f->render_width, rh = (int)f->render_height;
    const int ow = (int)s->params.out_width, oh = (int)s->params.out_height;
    int flags = fill_flags(s, rec);
    *p = (struct hs_frame_params){
        .size = {rw, rh, ow, oh},
        .prev_size = {rec->reset ? rw : (int)s->prev_render[0],
                      rec->reset ? rh : (int)s->prev_render[1], flags,
                      rec->reset ? 0 : (int)s->frames_since_reset},
        .origin_in = origins(&planes[HS_PLANE_COLOUR], &planes[HS_PLANE_DEPTH]),
        .origin_in2 = origins(&planes[HS_PLANE_MOTION], &planes[HS_PLANE_REACTIVE]),
        .origin_out = origins(&planes[HS_PLANE_OUTPUT], &planes[HS_PLANE_EXPOSURE]),
        .scale = {(float)rw / (float)ow, (float)rh / (float)oh, (float)ow / (float)rw,
                  (float)oh / (float)rh},
        .jitter = {f->jitter[0], f->jitter[1], rec->reset ? f->jitter[0] : s->prev_jitter[0],
                   rec->reset ? f->jitter[1] : s->prev_jitter[1]},
        .exposure = {or_one(f->exposure.scale), 1 / or_one(f->exposure.pre_exposure),
                     or_one(f->exposure.value), f->sharpness},
    };
    fill_depth(&f->depth_params, p);
    fill_motion(s, rec, p);
    if (!rec->reset && f->camera && s->prev_has_camera &&
        reprojection(f->camera, &s->prev_camera, p->reproject))
        p->prev_size.z |= HS_FRAME_CAMERA;
    p->depth.w = f->firefly_clamp;
    fill_look(s, &f->look, p);
    if (rec->guides) {
        p->prev_size.z |= guide_flags(rec);
        if (f->camera && fill_view(f->camera, p->view))
            p->prev_size.z |= HS_FRAME_VIEW;
        rec->world_normal =
            planes[HS_PLANE_NORMAL].image &&
            (f->guide_params.normal_space == HS_NORMAL_WORLD || (p->prev_size.z & HS_FRAME_VIEW));
        if (!rec->reset && rec->world_normal && s->prev_has_normal)
            p->prev_size.z |= HS_FRAME_PREV_NORMAL;
        p->origin_guide = origins(&planes[HS_PLANE_DIFFUSE], &planes[HS_PLANE_SPECULAR]);
        p->origin_guide2 = origins(&planes[HS_PLANE_NORMAL], &planes[HS_PLANE_ROUGHNESS]);
        p->origin_guide3 = origins(&planes[HS_PLANE_HIT], &(struct hs_plane_use){0});
    }
    // Automatic exposure measures every other frame, and the first after a reset.
    rec->measure =
        (flags & HS_FRAME_EXPOSURE_AUTO) && !(flags & HS_FRAME_LDR) && p->prev_size.w % 2 == 0;
    if (rec->measure)
        p->prev_size.z |= HS_FRAME_MEASURE;
}
