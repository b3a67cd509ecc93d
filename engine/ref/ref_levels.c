// SPDX-License-Identifier: MIT
// Reference of shaders/levels.glsl and of the features of taau-ray in shaders/30_enter.
#include "ref_levels.h"

#include "guides.h"
#include "network.h"

void hs_ref_level_encode(const struct hs_frame_params *p, const struct hs_ref_plane *signal,
                         const struct hs_ref_plane *albedo, int x, int y, float s, float *out)
{
    const float *c = hs_ref_texel(signal, x, y), *by = hs_ref_texel(albedo, x, y);
    const bool ldr = hs_ref_has(p, HS_FRAME_LDR);
    for (int k = 0; k < 3; k++) {
        const float rgb = fminf(c[k] * by[k], ldr ? 1 : HS_REF_F(HS_TAAU_MAX));
        out[k] = ldr ? rgb : s > 0 ? s * sqrtf(rgb / (s + rgb)) : 0;
    }
}

void hs_ref_level_features(const struct hs_frame_params *p, const struct hs_ref_levels *levels,
                           const struct hs_ref_work *d, int x, int y, float *out)
{
    const float *signal = hs_ref_texel(&levels->accumulated, x, y);
    const float *albedo = hs_ref_texel(&levels->albedo, x, y);
    const float *surface = hs_ref_texel(&levels->surface, x, y);
    float m[3], a[3];
    hs_ref_level_encode(p, &levels->middle, &levels->albedo, x, y, d->c[4], m);
    hs_ref_level_encode(p, &levels->accumulated, &levels->albedo, x, y, d->c[4], a);
    for (int k = 0; k < 3; k++) {
        out[HS_FEATURE_LEVELS + k] = hs_ref_clamp(m[k] - d->c[k], -1, 1);
        out[HS_FEATURE_LEVELS + 3 + k] = hs_ref_clamp(a[k] - d->c[k], -1, 1);
        out[HS_FEATURE_ALBEDO + k] = sqrtf(fminf(albedo[k], 1));
        out[HS_FEATURE_NORMAL + k] = surface[k];
    }
    out[HS_FEATURE_NOISE] =
        fminf(signal[3] / (hs_ref_luminance(signal) + HS_REF_F(HS_NOISE_MIN)), 1);
    out[HS_FEATURE_FRAMES] = hs_ref_texel(&levels->moments, x, y)[2] / HS_REF_F(HS_ATROUS_LENGTH);
    out[HS_FEATURE_ROUGHNESS] = surface[3];
    out[HS_FEATURE_SURFACE] = hs_ref_texel(&levels->traits, x, y)[0] < 0 ? 0 : 1;
}

void hs_ref_level_mix(const struct hs_frame_params *p, const struct hs_ref_levels *levels,
                      const float shares[2], struct hs_ref_window *w)
{
    const float top = hs_ref_has(p, HS_FRAME_LDR) ? 1 : HS_REF_F(HS_TAAU_RANGE);
    hs_ref_range_start(&w->range);
    for (int n = 0; n < 16; n++) {
        const int x = hs_ref_clampi(w->x + n % 4 - 1, 0, p->size.x - 1);
        const int y = hs_ref_clampi(w->y + n / 4 - 1, 0, p->size.y - 1);
        struct hs_ref_work *tap = &w->tap[n / 4][n % 4];
        const float s = tap->c[4];
        float m[3], a[3];
        hs_ref_level_encode(p, &levels->middle, &levels->albedo, x, y, s, m);
        hs_ref_level_encode(p, &levels->accumulated, &levels->albedo, x, y, s, a);
        for (int k = 0; k < 3; k++) {
            const float d = tap->c[k];
            tap->c[k] =
                hs_ref_clamp(d + shares[0] * (m[k] - d) + shares[1] * (a[k] - d), 0, top * s);
        }
        hs_ref_range_add(&w->range, tap);
    }
}
