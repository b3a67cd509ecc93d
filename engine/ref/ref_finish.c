// SPDX-License-Identifier: MIT
// Reference of shaders/50_finish.
#include "ref_math.h"

void hs_ref_finish(const struct hs_frame_params *p, const struct hs_ref_plane *in,
                   struct hs_ref_plane *out)
{
    static const int cross[4][2] = {{0, -1}, {0, 1}, {-1, 0}, {1, 0}};
    for (int y = 0; y < p->size.w; y++) {
        for (int x = 0; x < p->size.z; x++) {
            const float *c = hs_ref_texel(in, x, y);
            float *o = hs_ref_pixel(out, x, y);
            for (int k = 0; k < 3; k++) {
                float low = c[k], high = c[k], sum = 0;
                for (int n = 0; n < 4; n++) {
                    const float t = hs_ref_texel(in, x + cross[n][0], y + cross[n][1])[k];
                    low = fminf(low, t);
                    high = fmaxf(high, t);
                    sum += t;
                }
                o[k] = hs_ref_clamp(c[k] + p->exposure.w * (c[k] - 0.25f * sum), low, high);
            }
            o[3] = c[3];
        }
    }
}
