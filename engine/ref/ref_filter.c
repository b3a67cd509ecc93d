// SPDX-License-Identifier: MIT
// Reference of shaders/16_filter and of guides.glsl: the edge-stopping wavelet filter.
#include <stdlib.h>

#include "ref_guides.h"

static float inverse_depth(const struct hs_ref_plane *depth, int x, int y)
{
    const float d = hs_ref_texel(depth, x, y)[0];
    return d < HS_REF_F(HS_DEPTH_FAR) ? 1 / d : 0;
}

static float smaller(float a, float b)
{
    return fabsf(a) < fabsf(b) ? a : b;
}

struct hs_ref_surface hs_ref_surface_read(const struct hs_ref_plane *depth,
                                          const struct hs_ref_guided *guided, int x, int y)
{
    struct hs_ref_surface s = {.inverse = inverse_depth(depth, x, y)};
    s.slope[0] = smaller(inverse_depth(depth, x + 1, y) - s.inverse,
                         s.inverse - inverse_depth(depth, x - 1, y));
    s.slope[1] = smaller(inverse_depth(depth, x, y + 1) - s.inverse,
                         s.inverse - inverse_depth(depth, x, y - 1));
    memcpy(s.normal, hs_ref_texel(&guided->surface, x, y), sizeof(s.normal));
    memcpy(s.trait, hs_ref_texel(&guided->traits, x, y), sizeof(s.trait));
    return s;
}

float hs_ref_edge_weight(const struct hs_ref_plane *depth, const struct hs_ref_guided *guided,
                         const struct hs_ref_surface *s, int x, int y, int dx, int dy)
{
    const float *trait = hs_ref_texel(&guided->traits, x + dx, y + dy);
    const float *normal = hs_ref_texel(&guided->surface, x + dx, y + dy);
    if (trait[0] < 0)
        return 0;
    const float on_plane = s->inverse + s->slope[0] * (float)dx + s->slope[1] * (float)dy;
    const float off = fabsf(inverse_depth(depth, x + dx, y + dy) - on_plane);
    const float change = fabsf(s->slope[0] * (float)dx) + fabsf(s->slope[1] * (float)dy);
    const float slack = HS_REF_F(HS_ATROUS_DEPTH) * s->inverse + HS_REF_F(HS_ATROUS_SLOPE) * change;
    float power = off / fmaxf(slack, 1e-12f), cosine = 1;
    const bool known = hs_ref_dot3(s->normal, s->normal) > 0.25f;
    if (known != (hs_ref_dot3(normal, normal) > 0.25f))
        return 0;
    if (known)
        cosine = hs_ref_clamp(hs_ref_dot3(s->normal, normal), 0, 1);
    power += HS_REF_F(HS_ATROUS_ROUGHNESS) * fabsf(s->normal[3] - normal[3]);
    const float mirror = fmaxf(s->trait[0], 0) * (1 - s->normal[3]);
    power += HS_REF_F(HS_ATROUS_HIT) * mirror * fabsf(s->trait[1] - trait[1]) /
             fmaxf(s->trait[1] + trait[1], 1e-3f);
    return expf(-power) * powf(cosine, HS_REF_F(HS_ATROUS_NORMAL_POWER));
}

/** The deviation is itself an estimate: that of the neighbours smooths it. */
static float deviation(const struct hs_ref_plane *in, int x, int y)
{
    float sum = 0;
    for (int j = -1; j <= 1; j++) {
        for (int i = -1; i <= 1; i++) {
            const float d = hs_ref_texel(in, x + i, y + j)[3];
            sum += (i ? 0.25f : 0.5f) * (j ? 0.25f : 0.5f) * d * d;
        }
    }
    return sqrtf(sum);
}

static void filtered(const struct hs_frame_params *p, const struct hs_ref_plane *depth,
                     const struct hs_ref_guided *guided, const struct hs_ref_surface *here,
                     const struct hs_ref_plane *in, int stride, int x, int y, float *out)
{
    static const float spline[3] = {0.375f, 0.25f, 0.0625f};
    const float *centre = hs_ref_texel(in, x, y);
    const float l = hs_ref_luminance(centre);
    const float reach =
        HS_REF_F(HS_ATROUS_LUMINANCE) * deviation(in, x, y) + HS_REF_F(HS_ATROUS_LUMINANCE_MIN);
    float total = 0, sum[3] = {0}, square = 0;
    for (int j = -2; j <= 2; j++) {
        for (int i = -2; i <= 2; i++) {
            const int dx = i * stride, dy = j * stride;
            if (!hs_ref_inside(p, x + dx, y + dy))
                continue;
            const float *c = hs_ref_texel(in, x + dx, y + dy);
            float w = spline[abs(i)] * spline[abs(j)];
            if (i || j)
                w *= hs_ref_edge_weight(depth, guided, here, x, y, dx, dy) *
                     expf(-fabsf(hs_ref_luminance(c) - l) / reach);
            total += w;
            square += w * w * c[3] * c[3];
            for (int k = 0; k < 3; k++)
                sum[k] += w * c[k];
        }
    }
    for (int k = 0; k < 3; k++)
        out[k] = sum[k] / total;
    out[3] = sqrtf(square) / total;
}

void hs_ref_filter(const struct hs_frame_params *p, const struct hs_ref_plane *depth,
                   const struct hs_ref_guided *guided, int pass, const struct hs_ref_plane *in,
                   struct hs_ref_plane *out, struct hs_ref_plane *colour)
{
    const float top = hs_ref_has(p, HS_FRAME_LDR) ? 1 : HS_REF_F(HS_TAAU_MAX);
    for (int y = 0; y < p->size.y; y++) {
        for (int x = 0; x < p->size.x; x++) {
            const struct hs_ref_surface here = hs_ref_surface_read(depth, guided, x, y);
            const bool background = here.trait[0] < 0;
            float c[4];
            memcpy(c, hs_ref_texel(in, x, y), sizeof(c));
            if (!background)
                filtered(p, depth, guided, &here, in, 1 << pass, x, y, c);
            float *o = hs_ref_pixel(out, x, y);
            for (int k = 0; k < 4; k++)
                o[k] = hs_ref_store(p, c[k]);
            if (pass < HS_ATROUS_PASSES - 1 || background)
                continue;
            const float *albedo = hs_ref_texel(&guided->albedo, x, y);
            float *rgba = hs_ref_pixel(colour, x, y);
            for (int k = 0; k < 3; k++)
                rgba[k] = fminf(c[k] * albedo[k], top);
            rgba[3] = albedo[3];
        }
    }
}
