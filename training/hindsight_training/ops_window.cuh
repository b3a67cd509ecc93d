// SPDX-License-Identifier: MIT
// The samples around a pixel, and pipeline.features().
#pragma once
#include "ops_reproject.cuh"

// The 4x4 samples around a pixel.
struct Window {
    int x, y;
    float fx, fy, kernel, gain;
    float low[3], high[3];
};

FN const float *tap(const Frame &f, const Place &p, const Window &w, int n)
{
    return f.colour + 3 * sample_of(f, p.b, w.y + n / 4 - 1, w.x + n % 4 - 1);
}

FN float gauss(const Window &w, int n, float k)
{
    const float dx = n % 4 - 1 - w.fx, dy = n / 4 - 1 - w.fy;
    return expf(-(dx * dx + dy * dy) * k);
}

FN Window window_of(const Frame &f, const Place &p)
{
    Window w;
    const float u = (p.x + 0.5f) * p.sx - p.jx - 0.5f, v = (p.y + 0.5f) * p.sy - p.jy - 0.5f;
    w.x = (int)floorf(u);
    w.y = (int)floorf(v);
    w.fx = u - floorf(u);
    w.fy = v - floorf(v);
    w.kernel = 1 / (p.sx * p.sy);
    const float dx = fminf(w.fx, 1 - w.fx), dy = fminf(w.fy, 1 - w.fy);
    w.gain = expf(-(dx * dx + dy * dy) * w.kernel) + WEIGHT_MIN;
    for (int n = 0; n < 16; n++) {
        const float *c = tap(f, p, w, n);
        for (int k = 0; k < 3; k++) {
            w.low[k] = n ? fminf(w.low[k], c[k]) : c[k];
            w.high[k] = n ? fmaxf(w.high[k], c[k]) : c[k];
        }
    }
    return w;
}

struct Box {
    float colour[3], mean[3], deviation[3];
};

FN Box box_of(const Frame &f, const Place &p, const Window &w)
{
    Box b = {};
    float total = 0, square[3] = {0, 0, 0};
    const int first = (w.fx >= 0.5f ? 1 : 0) + (w.fy >= 0.5f ? 4 : 0);
    float middle[3];
    opponent(tap(f, p, w, first + 5), middle);
    for (int t = 0; t < 9; t++) {
        const int n = first + t % 3 + t / 3 * 4;
        const float g = gauss(w, n, 1.f), *c = tap(f, p, w, n);
        float o[3];
        opponent(c, o);
        total += g;
        for (int k = 0; k < 3; k++) {
            b.colour[k] += g * c[k];
            b.mean[k] += g * (o[k] - middle[k]);
            square[k] += g * (o[k] - middle[k]) * (o[k] - middle[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        b.colour[k] /= total;
        b.mean[k] /= total;
        b.deviation[k] = sqrtf(fmaxf(square[k] / total - b.mean[k] * b.mean[k], 1e-14f));
        b.mean[k] += middle[k];
    }
    return b;
}

// Half width of the box in deviations.
FN float box_size(const Frame &f, const Place &p, float weight)
{
    return f.seen[p.b] * (BOX + BOX_GROW * weight) + (1 - f.seen[p.b]) * BOX_BLIND;
}

// The four pixels of moved history around sample (x, y): bilinear.
struct Four {
    int x, y;
    float fx, fy;
};

FN Four four_of(const Frame &f, const Place &p, int x, int y)
{
    Four r;
    const float px = (clampi(x, f.width) + 0.5f + p.jx) / p.sx - 0.5f;
    const float py = (clampi(y, f.height) + 0.5f + p.jy) / p.sy - 0.5f;
    r.x = (int)floorf(px);
    r.y = (int)floorf(py);
    r.fx = px - floorf(px);
    r.fy = py - floorf(py);
    return r;
}

FN float four_weight(const Four &r, int n)
{
    return (n & 1 ? r.fx : 1 - r.fx) * (n >> 1 ? r.fy : 1 - r.fy);
}

// Kernel-weighted sum of sample minus history at the four samples around; returns the weight.
FN float sample_errors(const Frame &f, const Place &p, const Window &w, const float *moved,
                       float *error)
{
    float total = 0;
    error[0] = error[1] = error[2] = 0;
    for (int t = 0; t < 4; t++) {
        const int i = t & 1, j = t >> 1, n = 4 * (j + 1) + i + 1;
        const Four r = four_of(f, p, w.x + i, w.y + j);
        const float g = gauss(w, n, w.kernel), *c = tap(f, p, w, n);
        float old[3] = {0, 0, 0};
        for (int m = 0; m < 4; m++) {
            const float share = four_weight(r, m);
            const float *h = moved + 4 * pixel_of(f, p.b, r.y + (m >> 1), r.x + (m & 1));
            for (int k = 0; k < 3; k++)
                old[k] += share * h[k];
        }
        total += g;
        for (int k = 0; k < 3; k++)
            error[k] += g * (c[k] - old[k]);
    }
    return total;
}

FN float cubic_at(const float *wx, const float *wy, int n) { return wx[n % 4] * wy[n / 4]; }

// Of the token's nearest sample `s`.
FN void level_features(const Frame &f, size_t s, IO *out)
{
    for (int k = 0; k < 6; k++)
        out[k] = store(clampf(f.levels[6 * s + k] - f.colour[3 * s + k % 3], -1, 1));
    for (int k = 0; k < GUIDES; k++)
        out[6 + k] = store(f.guides[GUIDES * s + k]);
}

template <class Net>
FN void token_features(const Frame &f, const Place &p, IO *out)
{
    const float u = (p.x + 1) * p.sx, v = (p.y + 1) * p.sy;
    const int x = (int)floorf(u - p.jx), y = (int)floorf(v - p.jy);
    const size_t s = sample_of(f, p.b, y, x);
    const int cx = clampi(x, f.width), cy = clampi(y, f.height);
    const float own = log2f(clampf(f.depth[s], 1e-4f, 1e9f));
    float near = own, far = own, mean[3] = {0, 0, 0}, square[3] = {0, 0, 0};
    float middle[3];
    opponent(f.colour + 3 * s, middle);
    for (int t = 0; t < 9; t++) {
        const size_t at = sample_of(f, p.b, cy + t / 3 - 1, cx + t % 3 - 1);
        const float d = log2f(clampf(f.depth[at], 1e-4f, 1e9f));
        float o[3];
        near = fminf(near, d);
        far = fmaxf(far, d);
        opponent(f.colour + 3 * at, o);
        for (int k = 0; k < 3; k++) {
            o[k] -= middle[k];
            mean[k] += o[k] / 9;
            square[k] += o[k] * o[k] / 9;
        }
    }
    const Past q = past_of(f, p);
    for (int k = 0; k < 3; k++) {
        out[k] = store(f.colour[3 * s + k] - 0.5f);
        out[5 + k] = store(fminf(4 * sqrtf(fmaxf(square[k] - mean[k] * mean[k], 1e-14f)), 1));
    }
    out[3] = store(x + 0.5f + p.jx - u);
    out[4] = store(y + 0.5f + p.jy - v);
    out[8] = store(f.valid[s]);
    out[9] = store(fminf((own - near) / 2, 1));
    out[10] = store(fminf((far - own) / 2, 1));
    out[11] = store(q.mx / (8 + fabsf(q.mx)));
    out[12] = store(q.my / (8 + fabsf(q.my)));
    out[13] = store(blur_of(q));
    out[14] = store(p.sx);
    out[15] = store(p.sy);
    if (Net::LEVELS)
        level_features(f, s, out + TOKEN_FEATURES);
}

template <class Net>
FN void features(const Frame &f, const float *moved, IO *out, int n)
{
    const Place p = place_of(f, n);
    const Window w = window_of(f, p);
    const Box b = box_of(f, p, w);
    const float *h = moved + 4 * p.pixel;
    const float weight = h[3], size = box_size(f, p, weight);
    float wx[4], wy[4], error[3], o[3], now[3] = {0, 0, 0};
    cubic(w.fx, -0.5f, wx);
    cubic(w.fy, -0.5f, wy);
    for (int t = 0; t < 16; t++) {
        const float *c = tap(f, p, w, t);
        for (int k = 0; k < 3; k++)
            now[k] += cubic_at(wx, wy, t) * c[k];
    }
    const float total = sample_errors(f, p, w, moved, error);
    opponent(h, o);
    out += (size_t)p.token * Net::FEATURES;
    for (int k = 0; k < 3; k++) {
        const float by = (o[k] - b.mean[k]) / (b.deviation[k] * size + BOX_MIN) / 4;
        out[4 * k + p.s] = store(clampf(now[k], w.low[k], w.high[k]) - 0.5f);
        out[4 * (3 + k) + p.s] = store(h[k] - 0.5f);
        out[4 * (8 + k) + p.s] = store(weight > 0 ? clampf(by, -1, 1) : 0);
    }
    opponent(error, o);
    out[4 * 6 + p.s] = store(weight / (1 + weight));
    out[4 * 7 + p.s] = store(w.gain);
    out[4 * 11 + p.s] = store(weight > 0 ? 2 * o[0] / fmaxf(total, 1e-9f) : 0);
    if (p.s == 0)
        token_features<Net>(f, p, out + 4 * PIXEL_FEATURES);
}
