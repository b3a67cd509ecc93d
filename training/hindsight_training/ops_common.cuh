// SPDX-License-Identifier: MIT
// What the fused operations share: constants, frames, places.
#pragma once
#include <math.h>
#include <stddef.h>
#ifdef __CUDACC__
#include <cuda_bf16.h>
#define FN __device__ __forceinline__
typedef __nv_bfloat16 IO; // features, head and their gradients
FN float load(IO x) { return __bfloat162float(x); }
FN IO store(float x) { return __float2bfloat16(x); }
FN void add(float *p, float x) { atomicAdd(p, x); }
#else
#define FN static inline
typedef float IO;
FN float load(float x) { return x; }
FN float store(float x) { return x; }
FN void add(float *p, float x) { *p += x; }
#endif

struct Frame {
    int batch, height, width, out_height, out_width;
    const float *colour, *motion, *valid, *depth, *jitter, *ratio, *seen;
    const float *levels, *guides; // NULL but for networks that see levels
};

enum { HEAD_A, HEAD_B, HEAD_C, HEAD_LOGITS, HEAD_MIX = 19, HEAD_GAIN, HEAD_WEIGHT, HEAD_BOX,
       HEAD_TRUST, HEAD_RESIDUAL, HEAD_LEVEL_M = 27, HEAD_LEVEL_A };
enum { PIXEL_FEATURES = 12, TOKEN_FEATURES = 16, GUIDES = 10 };
// What networks see and return: those on colour alone, those that see levels.
struct Plain {
    enum { LEVELS = 0, FEATURES = 64, OUTPUTS = 112, HEAD = 27 };
};
struct Ray {
    enum { LEVELS = 1, FEATURES = 80, OUTPUTS = 128, HEAD = 29 };
};
#define WORK_RANGE 0.9999924f
#define WEIGHT_MIN 0.05f
#define WEIGHT_MAX 8.f
#define CORRECT_GAIN 1.5f
#define CORRECT_KERNEL 0.05f
#define CORRECT_WEIGHT 0.1f
#define BOX 1.2f
#define BOX_GROW 0.25f
#define BOX_BLIND 0.75f
#define BOX_MIN 0.005f
#define AXIS 2.f
#define AXIS_SOFT 1.5f
#define SHEAR_SOFT 3.f
#define LOGIT_SOFT 3.f
#define LOG_SOFT 4.f
#define RESIDUAL_SCALE 0.25f

FN int clampi(int x, int n) { return x < 0 ? 0 : x >= n ? n - 1 : x; }
FN float clampf(float x, float low, float high) { return fminf(fmaxf(x, low), high); }

// s * tanh(h / s) and its derivative.
FN float soft(float h, float s, float *slope)
{
    const float t = tanhf(h / s);
    *slope = 1 - t * t;
    return s * t;
}

FN void cubic(float f, float a, float *w)
{
    const float g = 1 - f;
    w[0] = a * f * g * g;
    w[1] = ((a + 2) * f - (a + 3)) * f * f + 1;
    w[2] = ((a + 2) * g - (a + 3)) * g * g + 1;
    w[3] = a * g * f * f;
}

FN void opponent(const float *c, float *o)
{
    o[0] = 0.25f * c[0] + 0.5f * c[1] + 0.25f * c[2];
    o[1] = c[0] - c[2];
    o[2] = c[1] - 0.5f * (c[0] + c[2]);
}

struct Place {
    int b, token, s, x, y;
    float sx, sy, jx, jy; // render over output size; jitter
    size_t pixel;         // index of the output pixel
};

FN Place place_of(const Frame &f, int i)
{
    Place p;
    const int columns = f.out_width / 2, rows = f.out_height / 2;
    p.s = i & 3;
    p.token = i >> 2;
    p.b = p.token / (columns * rows);
    p.x = p.token % columns * 2 + (p.s & 1);
    p.y = p.token / columns % rows * 2 + (p.s >> 1);
    p.sx = (float)f.width / (float)f.out_width;
    p.sy = (float)f.height / (float)f.out_height;
    p.jx = f.jitter[2 * p.b];
    p.jy = f.jitter[2 * p.b + 1];
    p.pixel = ((size_t)p.b * f.out_height + p.y) * f.out_width + p.x;
    return p;
}

FN size_t sample_of(const Frame &f, int b, int y, int x)
{
    return ((size_t)b * f.height + clampi(y, f.height)) * f.width + clampi(x, f.width);
}

FN size_t pixel_of(const Frame &f, int b, int y, int x)
{
    return ((size_t)b * f.out_height + clampi(y, f.out_height)) * f.out_width +
           clampi(x, f.out_width);
}

FN size_t pick_sample(const Frame &f, const Place &p)
{
    const float u = (p.x + 0.5f) * p.sx, v = (p.y + 0.5f) * p.sy;
    size_t best = sample_of(f, p.b, (int)floorf(v - p.jy), (int)floorf(u - p.jx));
    const int bx = (int)floorf(u - p.jx - 0.5f), by = (int)floorf(v - p.jy - 0.5f);
    float nearest = f.depth[best];
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            const float dx = bx + i + 0.5f + p.jx - u, dy = by + j + 0.5f + p.jy - v;
            const size_t at = sample_of(f, p.b, by + j, bx + i);
            if (fmaxf(fabsf(dx), fabsf(dy)) < 0.6f && f.depth[at] < nearest * 0.98f) {
                nearest = f.depth[at];
                best = at;
            }
        }
    }
    return best;
}
