// SPDX-License-Identifier: MIT
// Reference of shaders/00_measure and shaders/05_expose.
#include "exposure.h"
#include "ref_math.h"

#define THREADS 256

void hs_ref_measure(const struct hs_frame_params *p, const struct hs_ref_plane *colour,
                    struct hs_state *state)
{
    const int total = p->size.x * p->size.y;
    for (int group = 0; group < HS_MEASURE_GROUPS; group++) {
        float sum[THREADS] = {0}, count[THREADS] = {0};
        for (int t = 0; t < THREADS; t++) {
            for (int i = group * THREADS + t; i < total; i += THREADS * HS_MEASURE_GROUPS) {
                const float *c = hs_ref_texel(colour, i % p->size.x, i / p->size.x);
                const float y = hs_ref_luminance(c) * p->exposure.y;
                if (y > 1e-6f && isfinite(y)) {
                    sum[t] += log2f(y);
                    count[t] += 1;
                }
            }
        }
        for (int step = THREADS / 2; step > 0; step /= 2) {
            for (int t = 0; t < step; t++) {
                sum[t] += sum[t + step];
                count[t] += count[t + step];
            }
        }
        state->partial[group] = (struct hs_vec4){sum[0], count[0], 0, 0};
    }
}

static float given_exposure(const struct hs_frame_params *p, float texel)
{
    if (!hs_ref_has(p, HS_FRAME_EXPOSURE_IMAGE))
        return p->exposure.z;
    return texel > 0 && isfinite(texel) ? texel : 1;
}

static float measured_exposure(const struct hs_frame_params *p, struct hs_state *state)
{
    if (hs_ref_has(p, HS_FRAME_MEASURE)) {
        float sum = 0, count = 0;
        for (int i = 0; i < HS_MEASURE_GROUPS; i++) {
            sum += state->partial[i].x;
            count += state->partial[i].y;
        }
        if (count > 0) {
            const float mean = sum / count;
            const bool first = hs_ref_has(p, HS_FRAME_RESET) || state->measured.y == 0;
            const float blend = first ? 1 : HS_REF_F(HS_EXPOSURE_BLEND);
            state->measured.x = state->measured.x * (1 - blend) + mean * blend;
            state->measured.y = 1;
        }
    }
    return HS_REF_F(HS_EXPOSURE_KEY) * exp2f(-state->measured.x);
}

void hs_ref_expose(const struct hs_frame_params *p, float texel, struct hs_state *state)
{
    float exposure = hs_ref_has(p, HS_FRAME_EXPOSURE_AUTO) ? measured_exposure(p, state)
                                                           : given_exposure(p, texel);
    exposure = hs_ref_clamp(exposure * p->exposure.x, HS_REF_F(HS_EXPOSURE_MIN),
                            HS_REF_F(HS_EXPOSURE_MAX));
    const float ratio = state->exposure.w > 0 ? exposure / state->exposure.z : 1;
    state->exposure = (struct hs_vec4){exposure * p->exposure.y, ratio, exposure, 1};
}
