// SPDX-License-Identifier: MIT
/** What the reference passes share. Every function has a twin of the same form in the shaders. */
#ifndef HS_REF_MATH_H
#define HS_REF_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ref.h"
#include "taau.h"

#define HS_REF_F(x) ((float)(x))

/**
 * A colour in the range in which passes average: [0..2] the curve of RGB, [3] alpha, [4] the
 * amount that the curve is scaled with (1 for opaque pixels).
 */
struct hs_ref_work {
    float c[5];
};

static inline int hs_ref_clampi(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

static inline float hs_ref_clamp(float x, float low, float high)
{
    return fminf(fmaxf(x, low), high);
}

static inline int hs_ref_has(const struct hs_frame_params *p, int flag)
{
    return (p->prev_size.z & flag) != 0;
}

/** Texel at clamped coordinates. */
static inline const float *hs_ref_texel(const struct hs_ref_plane *plane, int x, int y)
{
    const int cx = hs_ref_clampi(x, 0, plane->width - 1);
    const int cy = hs_ref_clampi(y, 0, plane->height - 1);
    return plane->texels +
           ((size_t)cy * (size_t)plane->width + (size_t)cx) * (size_t)plane->channels;
}

static inline float *hs_ref_pixel(struct hs_ref_plane *plane, int x, int y)
{
    return plane->texels + ((size_t)y * (size_t)plane->width + (size_t)x) * (size_t)plane->channels;
}

/** Rounds to the nearest half float, ties to even; overflow becomes infinite. */
static inline float hs_ref_half(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    const uint32_t sign = bits & 0x80000000u;
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u)
        return x;
    if (bits >= 0x477ff000u)
        bits = 0x7f800000u;
    else if (bits < 0x38800000u) { // below the normal range: multiples of 2^-24
        float a;
        memcpy(&a, &bits, 4);
        a = (a + 0.5f) - 0.5f;
        memcpy(&bits, &a, 4);
    } else
        bits = (bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu;
    bits |= sign;
    memcpy(&x, &bits, 4);
    return x;
}

/** Flag of prev_size.z that only the reference knows: planes are not rounded to half. */
#define HS_REF_FRAME_FLOAT (1 << 30)
/** The same: sizes and scales of the output are those of cells, of which a render pixel has 2x2. */
#define HS_REF_FRAME_CELLS (1 << 29)

/** A value as the stream's half float planes hold it. */
static inline float hs_ref_store(const struct hs_frame_params *p, float x)
{
    return hs_ref_has(p, HS_REF_FRAME_FLOAT) ? x : hs_ref_half(x);
}

/**
 * Working range: s * sqrt(c / (s + c)) with s = max(alpha, m / (1 + m)), m the largest channel.
 * Opaque pixels have s = 1: the square root of c / (1 + c). Scaling with s keeps the colour of
 * cut-outs apart from their coverage, so that averages have no dark fringe, and keeps light that
 * is added without coverage. LDR colour is left as it is.
 */
static inline struct hs_ref_work hs_ref_encode(const struct hs_frame_params *p, const float *rgba)
{
    struct hs_ref_work w = {{rgba[0], rgba[1], rgba[2], rgba[3], 1}};
    if (hs_ref_has(p, HS_FRAME_LDR))
        return w;
    const float m = fmaxf(rgba[0], fmaxf(rgba[1], rgba[2]));
    const float s = fmaxf(rgba[3], m / (1 + m));
    w.c[4] = s;
    for (int i = 0; i < 3; i++)
        w.c[i] = s > 0 ? s * sqrtf(rgba[i] / (s + rgba[i])) : 0;
    return w;
}

static inline void hs_ref_decode(const struct hs_frame_params *p, const struct hs_ref_work *w,
                                 float *rgba)
{
    const float s = fmaxf(w->c[4], 0);
    for (int i = 0; i < 3; i++) {
        if (hs_ref_has(p, HS_FRAME_LDR)) {
            rgba[i] = hs_ref_clamp(w->c[i], 0, 1);
        } else {
            const float t = s > 0 ? hs_ref_clamp(w->c[i] / s, 0, HS_REF_F(HS_TAAU_RANGE)) : 0;
            rgba[i] = fminf(s * (t * t) / (1 - t * t), HS_REF_F(HS_TAAU_MAX));
        }
    }
    rgba[3] = hs_ref_clamp(w->c[3], 0, 1);
}

/** Weights of the four taps around a position with fraction f, at -1, 0, 1, 2. Sum 1. */
static inline void hs_ref_cubic(float f, float a, float *w)
{
    const float g = 1 - f;
    w[0] = a * f * g * g;
    w[1] = ((a + 2) * f - (a + 3)) * f * f + 1;
    w[2] = ((a + 2) * g - (a + 3)) * g * g + 1;
    w[3] = a * g * f * f;
}

/** How much a resampling at fractions (fx, fy) between pixels blurs: 0 to 1. */
static inline float hs_ref_blur(float fx, float fy)
{
    return 2 * (fx * (1 - fx) + fy * (1 - fy));
}

/** The range of taps: [0..2] of c / s, [3] of alpha, [4] of s. Taps with s = 0 have no colour. */
struct hs_ref_range {
    float low[5], high[5];
};

static inline void hs_ref_range_start(struct hs_ref_range *r)
{
    for (int k = 0; k < 5; k++) {
        r->low[k] = HS_REF_F(HS_TAAU_MAX);
        r->high[k] = -HS_REF_F(HS_TAAU_MAX);
    }
}

static inline void hs_ref_range_add(struct hs_ref_range *r, const struct hs_ref_work *w)
{
    const float s = w->c[4];
    for (int k = 0; k < 5; k++) {
        if (k < 3 && !(s > 0))
            continue;
        const float t = k < 3 ? w->c[k] / s : w->c[k];
        r->low[k] = fminf(r->low[k], t);
        r->high[k] = fmaxf(r->high[k], t);
    }
}

/**
 * Keeps a filtered value within the range of its taps. The colour is bounded by c / s: kernels with
 * negative lobes may bring s near 0 where c is not, which would decode to a glaring pixel.
 */
static inline void hs_ref_range_clamp(const struct hs_ref_range *r, struct hs_ref_work *w)
{
    const float s = hs_ref_clamp(w->c[4], r->low[4], r->high[4]);
    w->c[4] = s;
    for (int k = 0; k < 3; k++)
        w->c[k] = s > 0 ? hs_ref_clamp(w->c[k], r->low[k] * s, r->high[k] * s) : 0;
    w->c[3] = hs_ref_clamp(w->c[3], r->low[3], r->high[3]);
}

static inline float hs_ref_luminance(const float *c)
{
    return 0.2126f * c[0] + 0.7152f * c[1] + 0.0722f * c[2];
}

#endif
