// SPDX-License-Identifier: MIT
// From a frame's values to the parameter block, written apart from the engine's.
#include "ref_params.h"

#include <math.h>
#include <string.h>

#include "ref_math.h"

static float or_one(float x)
{
    return x == 0 ? 1 : x;
}

/** Solves a 4x4 system for four right sides: out = inverse(m). */
static bool invert(const double *m, double *out)
{
    double a[4][8];
    for (int r = 0; r < 4; r++) {
        for (int c = 0; c < 4; c++) {
            a[r][c] = m[4 * r + c];
            a[r][4 + c] = r == c;
        }
    }
    for (int c = 0; c < 4; c++) {
        int pivot = c;
        for (int r = c + 1; r < 4; r++) {
            if (fabs(a[r][c]) > fabs(a[pivot][c]))
                pivot = r;
        }
        if (!(fabs(a[pivot][c]) > 1e-30))
            return false;
        for (int k = 0; k < 8; k++) {
            const double swap = a[c][k];
            a[c][k] = a[pivot][k];
            a[pivot][k] = swap;
        }
        const double scale = 1 / a[c][c];
        for (int k = 0; k < 8; k++)
            a[c][k] *= scale;
        for (int r = 0; r < 4; r++) {
            const double f = r == c ? 0 : a[r][c];
            for (int k = 0; k < 8; k++)
                a[r][k] -= f * a[c][k];
        }
    }
    for (int r = 0; r < 4; r++)
        memcpy(out + 4 * r, &a[r][4], 4 * sizeof(*out));
    return true;
}

static void apply(const double *m, const double *v, double *out)
{
    for (int r = 0; r < 4; r++)
        out[r] = m[4 * r] * v[0] + m[4 * r + 1] * v[1] + m[4 * r + 2] * v[2] + m[4 * r + 3] * v[3];
}

/** Each column is where one axis of (ndc x, ndc y, 1 / depth, 1) goes. */
static bool camera_rows(const struct hs_camera *now, const struct hs_camera *before,
                        struct hs_vec4 *rows)
{
    const double *p = now->view_to_clip;
    if (p[14] != -1 || p[15] != 0 || before->view_to_clip[14] != -1)
        return false;
    double to_world[16];
    if (!invert(now->world_to_view, to_world))
        return false;
    const double axes[4][4] = {
        {1 / p[0], 0, 0, 0},
        {0, 1 / p[5], 0, 0},
        {0, 0, 0, 1},
        {p[2] / p[0], p[6] / p[5], -1, 0},
    };
    float m[3][4];
    for (int c = 0; c < 4; c++) {
        double world[4], view[4], clip[4];
        apply(to_world, axes[c], world);
        apply(before->world_to_view, world, view);
        apply(before->view_to_clip, view, clip);
        m[0][c] = (float)clip[0];
        m[1][c] = (float)clip[1];
        m[2][c] = (float)clip[3];
    }
    for (int r = 0; r < 3; r++) {
        rows[r] = (struct hs_vec4){m[r][0], m[r][1], m[r][2], m[r][3]};
        for (int c = 0; c < 4; c++) {
            if (!isfinite(m[r][c]))
                return false;
        }
    }
    return true;
}

static struct hs_vec4 depth_values(const struct hs_depth_params *d)
{
    const double n = d->near_z, f = d->far_z;
    const bool infinite = f == 0 || !isfinite(f);
    const float far = infinite ? 1e30f : (float)fmin(f * 0.999, 1e30);
    switch (d->kind) {
    case HS_DEPTH_HARDWARE:
        if (infinite)
            return (struct hs_vec4){(float)-n, -1, far, 0};
        return (struct hs_vec4){(float)(-f * n / (f - n)), (float)(-f / (f - n)), far, 0};
    case HS_DEPTH_HARDWARE_INVERTED:
        if (infinite)
            return (struct hs_vec4){(float)n, 0, far, 0};
        return (struct hs_vec4){(float)(f * n / (f - n)), (float)(n / (f - n)), far, 0};
    case HS_DEPTH_LINEAR:
        break;
    }
    const float unit = or_one(d->scale);
    return (struct hs_vec4){unit, 0, d->far_value > 0 ? d->far_value * unit * 0.999f : 1e30f, 0};
}

static int frame_flags(const struct hs_frame *f, const struct hs_ref_inputs *in,
                       const struct hs_ref_past *past, bool ldr)
{
    const struct hs_motion_params *m = &f->motion_params;
    const bool automatic = f->exposure.mode == HS_EXPOSURE_AUTO;
    return (past->valid ? 0 : HS_FRAME_RESET) | (ldr ? HS_FRAME_LDR : 0) |
           (in->depth.texels ? HS_FRAME_DEPTH : 0) | (in->motion.texels ? HS_FRAME_MOTION : 0) |
           (in->reactive.texels ? HS_FRAME_REACTIVE : 0) |
           (past->valid && past->has_depth ? HS_FRAME_PREV_DEPTH : 0) |
           (m->display_resolution ? HS_FRAME_MOTION_DISPLAY : 0) |
           (m->swap_axes ? HS_FRAME_MOTION_SWAP : 0) |
           (m->unwritten == HS_MOTION_UNWRITTEN_ZERO ? HS_FRAME_UNWRITTEN_ZERO : 0) |
           (m->unwritten == HS_MOTION_UNWRITTEN_ZERO_FAR ? HS_FRAME_UNWRITTEN_FAR : 0) |
           (f->depth_params.kind != HS_DEPTH_LINEAR ? HS_FRAME_DEPTH_HARDWARE : 0) |
           (automatic ? HS_FRAME_EXPOSURE_AUTO : 0) |
           (f->exposure.mode == HS_EXPOSURE_TEXTURE ? HS_FRAME_EXPOSURE_IMAGE : 0) |
           (automatic && !ldr && past->frames % 2 == 0 ? HS_FRAME_MEASURE : 0);
}

static void fill_look(const struct hs_look *l, struct hs_frame_params *p)
{
    const float pivot = l->pivot == 0 ? 0.5f : l->pivot;
    p->look[0] = (struct hs_vec4){(float)l->curve, l->grade, l->contrast, pivot};
    p->look[1] = (struct hs_vec4){l->shadows[0], l->shadows[1], l->shadows[2], l->saturation};
    p->look[2] =
        (struct hs_vec4){l->highlights[0], l->highlights[1], l->highlights[2], l->vignette};
    p->look[3] = (struct hs_vec4){l->grain, 0, l->aberration_px, 0};
}

void hs_ref_params_fill(const struct hs_frame *f, const struct hs_ref_inputs *in,
                        const struct hs_ref_past *past, int out_width, int out_height, bool ldr,
                        struct hs_frame_params *p)
{
    const int w = (int)f->render_width, h = (int)f->render_height;
    const struct hs_motion_params *m = &f->motion_params;
    memset(p, 0, sizeof(*p));
    p->size = (struct hs_ivec4){w, h, out_width, out_height};
    p->prev_size = (struct hs_ivec4){past->valid ? past->width : w, past->valid ? past->height : h,
                                     frame_flags(f, in, past, ldr), past->frames};
    p->scale = (struct hs_vec4){(float)w / (float)out_width, (float)h / (float)out_height,
                                (float)out_width / (float)w, (float)out_height / (float)h};
    p->jitter =
        (struct hs_vec4){f->jitter[0], f->jitter[1], past->valid ? past->jitter[0] : f->jitter[0],
                         past->valid ? past->jitter[1] : f->jitter[1]};
    const float mw = m->display_resolution ? (float)out_width : (float)w;
    const float mh = m->display_resolution ? (float)out_height : (float)h;
    p->motion = (struct hs_vec4){or_one(m->scale[0]), or_one(m->scale[1]), m->bias[0], m->bias[1]};
    p->motion2.z = mw + mh;
    if (m->jittered) {
        p->motion2.x = (p->jitter.z / (float)p->prev_size.x - p->jitter.x / (float)w) * mw;
        p->motion2.y = (p->jitter.w / (float)p->prev_size.y - p->jitter.y / (float)h) * mh;
    }
    p->depth = depth_values(&f->depth_params);
    p->depth.w = f->firefly_clamp;
    fill_look(&f->look, p);
    p->exposure = (struct hs_vec4){or_one(f->exposure.scale), 1 / or_one(f->exposure.pre_exposure),
                                   or_one(f->exposure.value), f->sharpness};
    if (past->valid && past->has_camera && f->camera &&
        camera_rows(f->camera, &past->camera, p->reproject))
        p->prev_size.z |= HS_FRAME_CAMERA;
}

static int guide_flags(const struct hs_guide_params *g, const struct hs_ref_inputs *in)
{
    const bool normal = in->normal.texels, specular = in->specular.texels;
    return (in->diffuse.texels ? HS_FRAME_DIFFUSE : 0) | (specular ? HS_FRAME_SPECULAR : 0) |
           (specular && g->specular != HS_SPECULAR_DIRECTIONAL ? HS_FRAME_SPECULAR_F0 : 0) |
           (normal ? HS_FRAME_NORMAL : 0) | (in->roughness.texels ? HS_FRAME_ROUGHNESS : 0) |
           (in->hit.texels ? HS_FRAME_HIT : 0) |
           (normal && g->normal_space == HS_NORMAL_VIEW ? HS_FRAME_NORMAL_VIEW : 0) |
           (normal && g->normal_unsigned ? HS_FRAME_NORMAL_UNSIGNED : 0) |
           (normal && g->normal_packed ? HS_FRAME_NORMAL_PACKED : 0) |
           (g->roughness == HS_ROUGHNESS_ALPHA ? HS_FRAME_ROUGHNESS_ALPHA : 0) |
           (g->roughness == HS_ROUGHNESS_SMOOTHNESS ? HS_FRAME_ROUGHNESS_SMOOTH : 0);
}

bool hs_ref_params_guides(const struct hs_frame *f, const struct hs_ref_inputs *in,
                          const struct hs_ref_past *past, struct hs_frame_params *p)
{
    double to_world[16];
    p->prev_size.z |= guide_flags(&f->guide_params, in);
    if (f->camera && f->camera->view_to_clip[14] == -1 && f->camera->view_to_clip[15] == 0 &&
        invert(f->camera->world_to_view, to_world)) {
        const double *c = f->camera->view_to_clip;
        p->prev_size.z |= HS_FRAME_VIEW;
        for (int r = 0; r < 3; r++)
            p->view[r] = (struct hs_vec4){(float)to_world[4 * r], (float)to_world[4 * r + 1],
                                          (float)to_world[4 * r + 2], 0};
        p->view[3] =
            (struct hs_vec4){(float)(1 / c[0]), (float)(1 / c[5]), (float)c[2], (float)c[6]};
    }
    const bool world =
        in->normal.texels && (!hs_ref_has(p, HS_FRAME_NORMAL_VIEW) || hs_ref_has(p, HS_FRAME_VIEW));
    if (world && past->valid && past->has_normal)
        p->prev_size.z |= HS_FRAME_PREV_NORMAL;
    return world;
}
