// SPDX-License-Identifier: MIT
// Reference of shaders/12_demodulate: guides in canonical form, colour divided by reflectance.
#include "ref_guides.h"

static float clean(float x, float top)
{
    return isfinite(x) ? hs_ref_clamp(x, 0, top) : 0;
}

static void to_world(const struct hs_frame_params *p, const float *v, float *out)
{
    for (int r = 0; r < 3; r++)
        out[r] = p->view[r].x * v[0] + p->view[r].y * v[1] + p->view[r].z * v[2];
}

/** Unit vector from the surface to the camera, view space. */
static void toward_eye(const struct hs_frame_params *p, int x, int y, float *out)
{
    const float u = ((float)x + 0.5f + p->jitter.x) / (float)p->size.x;
    const float v = ((float)y + 0.5f + p->jitter.y) / (float)p->size.y;
    const float ex = -(2 * u - 1 + p->view[3].z) * p->view[3].x;
    const float ey = -(1 - 2 * v + p->view[3].w) * p->view[3].y;
    const float l = sqrtf(ex * ex + ey * ey + 1);
    out[0] = ex / l;
    out[1] = ey / l;
    out[2] = 1 / l;
}

/** Normal as stored, in its own space; 0: none. `packed`: the fourth channel. */
static void read_normal(const struct hs_frame_params *p, const struct hs_ref_plane *normals, int x,
                        int y, float *n, float *packed)
{
    n[0] = n[1] = n[2] = 0;
    *packed = 1;
    if (!hs_ref_has(p, HS_FRAME_NORMAL))
        return;
    const float *raw = hs_ref_texel(normals, x, y);
    *packed = raw[3];
    if (!isfinite(raw[0]) || !isfinite(raw[1]) || !isfinite(raw[2]) ||
        (raw[0] == 0 && raw[1] == 0 && raw[2] == 0))
        return;
    float v[3];
    for (int k = 0; k < 3; k++)
        v[k] = hs_ref_has(p, HS_FRAME_NORMAL_UNSIGNED) ? 2 * raw[k] - 1 : raw[k];
    const float l = sqrtf(hs_ref_dot3(v, v));
    for (int k = 0; k < 3 && l > HS_REF_F(HS_ATROUS_NORMAL_MIN); k++)
        n[k] = v[k] / l;
}

static float read_roughness(const struct hs_frame_params *p, const struct hs_ref_plane *plane,
                            int x, int y, float packed)
{
    float r = packed;
    if (hs_ref_has(p, HS_FRAME_ROUGHNESS))
        r = hs_ref_texel(plane, x, y)[0];
    else if (!hs_ref_has(p, HS_FRAME_NORMAL_PACKED))
        return 1;
    r = clean(r, 1);
    if (hs_ref_has(p, HS_FRAME_ROUGHNESS_ALPHA))
        return sqrtf(r);
    return hs_ref_has(p, HS_FRAME_ROUGHNESS_SMOOTH) ? 1 - r : r;
}

static float read_hit(const struct hs_frame_params *p, const struct hs_ref_plane *hits, int x,
                      int y)
{
    if (!hs_ref_has(p, HS_FRAME_HIT))
        return 0;
    const float h = hs_ref_texel(hits, x, y)[0], top = HS_REF_F(HS_TAAU_MAX);
    return h >= top ? top : h > 0 ? h : 0;
}

/** Cosine of the angle to the camera, 1 where it is not known; turns `normal` to world space. */
static float face(const struct hs_frame_params *p, int x, int y, float *normal)
{
    float eye[3], v[3], facing = 1;
    const bool none = normal[0] == 0 && normal[1] == 0 && normal[2] == 0;
    toward_eye(p, x, y, eye);
    if (none || !hs_ref_has(p, HS_FRAME_VIEW))
        return 1;
    if (hs_ref_has(p, HS_FRAME_NORMAL_VIEW)) {
        facing = hs_ref_dot3(normal, eye);
        to_world(p, normal, v);
        memcpy(normal, v, sizeof(v));
    } else {
        to_world(p, eye, v);
        facing = hs_ref_dot3(normal, v);
    }
    return hs_ref_clamp(fabsf(facing), 0, 1);
}

/** Sum of both reflectances in `sum`; returns the luminance of the specular one. */
static float reflectance(const struct hs_frame_params *p, const struct hs_ref_inputs *in, int x,
                         int y, float facing, float roughness, float *sum)
{
    float d[3] = {0}, s[3] = {0};
    for (int k = 0; k < 3; k++) {
        if (hs_ref_has(p, HS_FRAME_DIFFUSE))
            d[k] = clean(hs_ref_texel(&in->diffuse, x, y)[k], HS_REF_F(HS_ATROUS_ALBEDO_MAX));
        if (hs_ref_has(p, HS_FRAME_SPECULAR))
            s[k] = clean(hs_ref_texel(&in->specular, x, y)[k], HS_REF_F(HS_ATROUS_ALBEDO_MAX));
        if (hs_ref_has(p, HS_FRAME_SPECULAR_F0)) {
            const float g = 1 - facing, g2 = g * g;
            s[k] += fmaxf(1 - roughness - s[k], 0) * (g2 * g2 * g);
        }
        sum[k] = d[k] + s[k];
    }
    return hs_ref_luminance(s);
}

void hs_ref_demodulate(const struct hs_frame_params *p, const struct hs_ref_inputs *in,
                       const struct hs_ref_prepared *prep, struct hs_ref_guided *out)
{
    for (int y = 0; y < p->size.y; y++) {
        for (int x = 0; x < p->size.x; x++) {
            const float *colour = hs_ref_texel(&prep->colour, x, y);
            const bool far = hs_ref_has(p, HS_FRAME_DEPTH) &&
                             hs_ref_texel(&prep->depth, x, y)[0] >= HS_REF_F(HS_DEPTH_FAR);
            float n[3], packed, sum[3];
            read_normal(p, &in->normal, x, y, n, &packed);
            const float rough = read_roughness(p, &in->roughness, x, y, packed);
            const float specular = reflectance(p, in, x, y, face(p, x, y, n), rough, sum);
            const bool reflects =
                fmaxf(fmaxf(sum[0], sum[1]), sum[2]) >= HS_REF_F(HS_ATROUS_BLACK) && !far;
            const float share = reflects ? specular / hs_ref_luminance(sum) : 0;
            float *signal = hs_ref_pixel(&out->signal, x, y);
            float *albedo = hs_ref_pixel(&out->albedo, x, y);
            float *trait = hs_ref_pixel(&out->traits, x, y);
            float *surface = hs_ref_pixel(&out->surface, x, y);
            const bool divides = reflects && !hs_ref_has(p, HS_FRAME_LDR);
            for (int k = 0; k < 3; k++) {
                const float a = divides ? fmaxf(sum[k], HS_REF_F(HS_ATROUS_FLOOR)) : 1;
                signal[k] = hs_ref_store(p, fminf(colour[k] / a, HS_REF_F(HS_TAAU_MAX)));
                albedo[k] = hs_ref_store(p, a);
                surface[k] = hs_ref_store(p, n[k]);
            }
            signal[3] = 0;
            albedo[3] = hs_ref_store(p, colour[3]);
            surface[3] = hs_ref_store(p, rough);
            trait[0] = far ? HS_REF_F(HS_ATROUS_BACKGROUND) : hs_ref_store(p, share);
            trait[1] = hs_ref_store(p, read_hit(p, &in->hit, x, y));
        }
    }
}
