// SPDX-License-Identifier: MIT
// pipeline.reproject() and its gradient.
#pragma once
#include "ops_common.cuh"

// Where a pixel was: taps start at (x - 1, y - 1).
struct Past {
    int x, y;
    float fx, fy, valid, mx, my;
};

FN Past past_of(const Frame &f, const Place &p)
{
    Past q;
    const size_t s = pick_sample(f, p);
    q.mx = f.motion[2 * s] / p.sx;
    q.my = f.motion[2 * s + 1] / p.sy;
    const float hx = p.x + 0.5f + q.mx, hy = p.y + 0.5f + q.my;
    const bool inside = hx > 0 && hy > 0 && hx < f.out_width && hy < f.out_height;
    q.valid = inside ? f.valid[s] : 0;
    q.fx = hx - 0.5f - floorf(hx - 0.5f);
    q.fy = hy - 0.5f - floorf(hy - 0.5f);
    q.x = (int)floorf(clampf(hx, -8.f, f.out_width + 8.f) - 0.5f);
    q.y = (int)floorf(clampf(hy, -8.f, f.out_height + 8.f) - 0.5f);
    return q;
}

FN float blur_of(const Past &q) { return 2 * (q.fx * (1 - q.fx) + q.fy * (1 - q.fy)); }

// Cubic of the history, for the backward pass with the taps that bound it.
struct Moved {
    float c[3], raw[3], low[3], high[3], weight, share; // share: of the bilinear weight that stays
    size_t low_at[3], high_at[3];
};

FN float rescale(float c, float r) { return c * sqrtf(r / (1 + (r - 1) * c * c)); }

FN float rescale_slope(float c, float r)
{
    const float k = 1 + (r - 1) * c * c;
    return sqrtf(r / k) / k;
}

FN Moved move(const Frame &f, const Place &p, const Past &q, const float *history)
{
    Moved m = {};
    float wx[4], wy[4];
    const float ratio = f.ratio[p.b];
    cubic(q.fx, -0.75f, wx);
    cubic(q.fy, -0.75f, wy);
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < 4; i++) {
            const size_t at = pixel_of(f, p.b, q.y + j - 1, q.x + i - 1);
            for (int k = 0; k < 3; k++) {
                const float c = rescale(history[4 * at + k], ratio);
                m.raw[k] += wx[i] * wy[j] * c;
                if (i + j == 0 || c < m.low[k]) {
                    m.low[k] = c;
                    m.low_at[k] = at;
                }
                if (i + j == 0 || c > m.high[k]) {
                    m.high[k] = c;
                    m.high_at[k] = at;
                }
            }
            if ((i == 1 || i == 2) && (j == 1 || j == 2))
                m.weight += (i == 2 ? q.fx : 1 - q.fx) * (j == 2 ? q.fy : 1 - q.fy) *
                            history[4 * at + 3];
        }
    }
    m.share = (1 - 0.4f * blur_of(q)) * q.valid;
    m.weight *= m.share;
    for (int k = 0; k < 3; k++)
        m.c[k] = clampf(m.raw[k], m.low[k], m.high[k]);
    return m;
}

FN void reproject(const Frame &f, const float *history, float *moved, int n)
{
    const Place p = place_of(f, n);
    const Past q = past_of(f, p);
    const Moved m = move(f, p, q, history);
    const float u = (p.x + 0.5f) * p.sx, v = (p.y + 0.5f) * p.sy;
    const size_t s = sample_of(f, p.b, (int)floorf(v - p.jy), (int)floorf(u - p.jx));
    for (int k = 0; k < 3; k++)
        moved[4 * p.pixel + k] = m.weight > 0 ? m.c[k] : f.colour[3 * s + k];
    moved[4 * p.pixel + 3] = m.weight;
}

// g_features: gradient of the features, g_moved: of everything else that reads moved history.
template <class Net>
FN void reproject_back(const Frame &f, const float *history, const IO *g_features,
                       const float *g_moved, float *g_history, int n)
{
    const Place p = place_of(f, n);
    const Past q = past_of(f, p);
    const Moved m = move(f, p, q, history);
    if (!(q.valid > 0))
        return;
    const IO *gf = g_features + (size_t)p.token * Net::FEATURES;
    const float gw = (g_moved[4 * p.pixel + 3] +
                      load(gf[4 * 6 + p.s]) / ((1 + m.weight) * (1 + m.weight))) * m.share;
    const float ratio = f.ratio[p.b];
    float gc[3], wx[4], wy[4];
    cubic(q.fx, -0.75f, wx);
    cubic(q.fy, -0.75f, wy);
    for (int k = 0; k < 3; k++) {
        gc[k] = m.weight > 0 ? g_moved[4 * p.pixel + k] + load(gf[4 * (3 + k) + p.s]) : 0;
        const bool below = m.raw[k] < m.low[k], above = m.raw[k] > m.high[k];
        if (below || above) {
            const size_t at = 4 * (below ? m.low_at[k] : m.high_at[k]) + k;
            add(g_history + at, gc[k] * rescale_slope(history[at], ratio));
            gc[k] = 0;
        }
    }
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < 4; i++) {
            const size_t at = 4 * pixel_of(f, p.b, q.y + j - 1, q.x + i - 1);
            for (int k = 0; k < 3; k++) {
                if (gc[k] != 0)
                    add(g_history + at + k,
                        wx[i] * wy[j] * gc[k] * rescale_slope(history[at + k], ratio));
            }
            if ((i == 1 || i == 2) && (j == 1 || j == 2))
                add(g_history + at + 3, gw * (i == 2 ? q.fx : 1 - q.fx) *
                                            (j == 2 ? q.fy : 1 - q.fy));
        }
    }
}
