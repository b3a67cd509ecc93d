// SPDX-License-Identifier: MIT
// Reference of shaders/50_finish.
#include "ref_math.h"

static void sharpened(const struct hs_frame_params *p, const struct hs_ref_plane *in, int x, int y,
                      float *out)
{
    static const int cross[4][2] = {{0, -1}, {0, 1}, {-1, 0}, {1, 0}};
    const float *c = hs_ref_texel(in, x, y);
    for (int k = 0; k < 3; k++) {
        float low = c[k], high = c[k], sum = 0;
        for (int n = 0; n < 4; n++) {
            const float t = hs_ref_texel(in, x + cross[n][0], y + cross[n][1])[k];
            low = fminf(low, t);
            high = fmaxf(high, t);
            sum += t;
        }
        out[k] = hs_ref_clamp(c[k] + p->exposure.w * (c[k] - 0.25f * sum), low, high);
    }
    out[3] = c[3];
}

/** From the centre to the corners, whose distance is 1. */
static void from_centre(const struct hs_frame_params *p, int x, int y, float *d)
{
    const float w = (float)p->size.z, h = (float)p->size.w, l = sqrtf(w * w + h * h);
    d[0] = (2 * ((float)x + 0.5f) - w) / l;
    d[1] = (2 * ((float)y + 0.5f) - h) / l;
}

/** -0.5 to 0.5, another one for every pixel and seed. */
static float noise(const struct hs_frame_params *p, int x, int y)
{
    uint32_t h = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)y * 0x85ebca77u ^
                 (uint32_t)p->look[3].y * 0xc2b2ae3du;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (float)((h ^ h >> 15) >> 8) / 16777216.0f - 0.5f;
}

static float curve(float exposed)
{
    const float c = fminf(fmaxf(0.5f * exposed, 0), 1e4f);
    const float v = c * (2.51f * c + 0.03f) / (c * (2.43f * c + 0.59f) + 0.14f);
    return powf(hs_ref_clamp(v, 0, 1), 1 / 2.2f);
}

static void graded(const struct hs_frame_params *p, int x, int y, const float *v, float *out)
{
    const float *low = &p->look[1].x, *high = &p->look[2].x;
    float d[2];
    from_centre(p, x, y, d);
    const float r2 = d[0] * d[0] + d[1] * d[1];
    for (int k = 0; k < 3; k++)
        out[k] = p->look[0].w + (v[k] - p->look[0].w) * (1 + p->look[0].z);
    float l = hs_ref_clamp(hs_ref_luminance(out), 0, 1);
    for (int k = 0; k < 3; k++)
        out[k] += low[k] * (1 - l) * (1 - l) + high[k] * l * l;
    l = hs_ref_luminance(out);
    for (int k = 0; k < 3; k++) {
        out[k] = l + (out[k] - l) * (1 + p->look[1].w);
        out[k] *= 1 - p->look[2].w * r2 * r2;
        out[k] = hs_ref_clamp(out[k] + p->look[3].x * noise(p, x, y), 0, 1);
    }
}

/** The colour without its alpha. */
static void straight(const struct hs_frame_params *p, const struct hs_ref_plane *in, int x, int y,
                     float *out)
{
    sharpened(p, in, x, y, out);
    for (int k = 0; k < 3 && out[3] > 0 && out[3] < 1; k++)
        out[k] /= out[3];
}

static void looked(const struct hs_frame_params *p, float exposure, const struct hs_ref_plane *in,
                   int x, int y, float *out)
{
    float c[4], other[4], d[2], v[3], g[3];
    const float grade = p->look[0].y;
    straight(p, in, x, y, c);
    from_centre(p, x, y, d);
    const int ax = (int)roundf(grade * p->look[3].z * d[0]);
    const int ay = (int)roundf(grade * p->look[3].z * d[1]);
    if (ax || ay) {
        straight(p, in, x + ax, y + ay, other);
        c[0] = other[0];
        straight(p, in, x - ax, y - ay, other);
        c[2] = other[2];
    }
    for (int k = 0; k < 3; k++)
        v[k] = curve(exposure * c[k]);
    graded(p, x, y, v, g);
    for (int k = 0; k < 3; k++)
        out[k] = (v[k] + grade * (g[k] - v[k])) * c[3];
    out[3] = c[3];
}

void hs_ref_finish(const struct hs_frame_params *p, const struct hs_state *state,
                   const struct hs_ref_plane *in, struct hs_ref_plane *out)
{
    const float exposure = hs_ref_has(p, HS_FRAME_LDR) ? 1 : state->exposure.x;
    for (int y = 0; y < p->size.w; y++) {
        for (int x = 0; x < p->size.z; x++) {
            float *o = hs_ref_pixel(out, x, y);
            if (p->look[0].x > 0)
                looked(p, exposure, in, x, y, o);
            else
                sharpened(p, in, x, y, o);
        }
    }
}
