// SPDX-License-Identifier: MIT
// pipeline.resolve() and its gradient.
#pragma once
#include "ops_window.cuh"

// The head's own kernel over the window.
struct Kernel {
    float a, b, c, slope_a, slope_b, slope_c; // slopes: of a, b, c to the head
    float w[16];                              // sum 1
};

FN Kernel kernel_of(const Window &w, const float *head)
{
    Kernel k;
    float total = 0, slope;
    k.a = AXIS * expf(soft(head[HEAD_A], AXIS_SOFT, &k.slope_a));
    k.b = soft(head[HEAD_B], SHEAR_SOFT, &k.slope_b);
    k.c = AXIS * expf(soft(head[HEAD_C], AXIS_SOFT, &k.slope_c));
    k.slope_a *= k.a;
    k.slope_c *= k.c;
    for (int n = 0; n < 16; n++) {
        const float dx = n % 4 - 1 - w.fx, dy = n / 4 - 1 - w.fy;
        const float u = k.a * dx + k.b * dy, v = k.c * dy;
        k.w[n] = expf(-0.5f * (u * u + v * v) + soft(head[HEAD_LOGITS + n], LOGIT_SOFT, &slope));
        total += k.w[n];
    }
    for (int n = 0; n < 16; n++)
        k.w[n] /= fmaxf(total, 1e-30f);
    return k;
}

// How much of M - D and of A - D is added to D, and the slopes of that to the head.
struct Levels {
    float m, a, slope_m, slope_a;
};

// What resolve takes for a sample.
template <class Net>
FN void sample(const Frame &f, const Place &p, const Window &w, const Levels &by, int n, float *c)
{
    const float *d = tap(f, p, w, n);
    for (int k = 0; k < 3; k++)
        c[k] = d[k];
    if (!Net::LEVELS)
        return;
    const float *l = f.levels + 2 * (d - f.colour);
    for (int k = 0; k < 3; k++)
        c[k] = clampf(d[k] + by.m * (l[k] - d[k]) + by.a * (l[3 + k] - d[k]), 0, WORK_RANGE);
}

// Mixes the levels: the range of the window becomes that of the samples.
FN Levels mix_levels(const Frame &f, const Place &p, Window *w, const float *head)
{
    Levels by;
    by.m = soft(head[HEAD_LEVEL_M], 1, &by.slope_m);
    by.a = soft(head[HEAD_LEVEL_A], 1, &by.slope_a);
    for (int n = 0; n < 16; n++) {
        float c[3];
        sample<Ray>(f, p, *w, by, n, c);
        for (int k = 0; k < 3; k++) {
            w->low[k] = n ? fminf(w->low[k], c[k]) : c[k];
            w->high[k] = n ? fmaxf(w->high[k], c[k]) : c[k];
        }
    }
    return by;
}

// Everything that resolve computes on the way to a pixel.
struct Resolved {
    Window w; // its range is that of the samples
    Kernel kernel;
    Box box;
    Levels levels;
    float wx[4], wy[4], mix, mix_slope;
    float gain, gain_slope, grow_weight, weight_slope, grow_box, box_slope, grow_trust, trust_slope;
    float raw[3], now[3], total, corrected_raw[3], corrected[3];
    float size, by, keep, old[3]; // old: rectified
    int worst;                    // the channel that is furthest outside
    float weight1, trust0, trust, weight2, sum, c[3], mixed[3], residual[3], out[3];
};

template <class Net>
FN Resolved resolve_pixel(const Frame &f, const Place &p, const float *moved, const float *head)
{
    Resolved r;
    const float *h = moved + 4 * p.pixel;
    r.w = window_of(f, p);
    r.box = box_of(f, p, r.w);
    if (Net::LEVELS)
        r.levels = mix_levels(f, p, &r.w, head);
    const Window w = r.w;
    r.kernel = kernel_of(w, head);
    r.mix = soft(head[HEAD_MIX], 1, &r.mix_slope);
    r.grow_trust = expf(soft(head[HEAD_TRUST], LOG_SOFT, &r.trust_slope));
    r.grow_weight = expf(soft(head[HEAD_WEIGHT], LOG_SOFT, &r.weight_slope));
    r.grow_box = expf(soft(head[HEAD_BOX], LOG_SOFT, &r.box_slope));
    r.gain = w.gain * expf(soft(head[HEAD_GAIN], LOG_SOFT, &r.gain_slope));
    cubic(w.fx, -0.5f, r.wx);
    cubic(w.fy, -0.5f, r.wy);
    float error[3], o[3];
    r.raw[0] = r.raw[1] = r.raw[2] = 0;
    for (int n = 0; n < 16; n++) {
        const float q = cubic_at(r.wx, r.wy, n), k = q + r.mix * (r.kernel.w[n] - q);
        float c[3];
        sample<Net>(f, p, w, r.levels, n, c);
        for (int t = 0; t < 3; t++)
            r.raw[t] += k * c[t];
    }
    r.total = sample_errors(f, p, w, moved, error);
    opponent(h, o);
    r.size = box_size(f, p, h[3]) * r.grow_box;
    r.by = 1;
    r.worst = -1;
    for (int k = 0; k < 3; k++) {
        const float by =
            fabsf(o[k] - r.box.mean[k]) / (r.box.deviation[k] * r.size + BOX_MIN);
        if (by > r.by) {
            r.by = by;
            r.worst = k;
        }
    }
    r.keep = 1 / r.by;
    r.weight1 = h[3] * r.keep * r.keep;
    r.trust0 = r.total / (r.total + CORRECT_KERNEL) * r.keep * r.keep * r.weight1 /
               (r.weight1 + CORRECT_WEIGHT);
    r.trust = r.trust0 * r.grow_trust / (1 - r.trust0 + r.trust0 * r.grow_trust);
    r.weight2 = r.weight1 * r.grow_weight;
    r.sum = r.weight2 + r.gain;
    for (int k = 0; k < 3; k++) {
        float slope;
        r.now[k] = clampf(r.raw[k], w.low[k], w.high[k]);
        r.corrected_raw[k] = h[k] + error[k] * CORRECT_GAIN / fmaxf(r.total, 1e-9f);
        r.corrected[k] =
            clampf(r.corrected_raw[k], fminf(w.low[k], h[k]), fmaxf(w.high[k], h[k]));
        r.old[k] = r.box.colour[k] + (h[k] - r.box.colour[k]) * r.keep;
        r.c[k] = r.now[k] + (r.corrected[k] - r.now[k]) * r.trust;
        r.mixed[k] = (r.weight2 * r.old[k] + r.gain * r.c[k]) / r.sum;
        r.residual[k] = soft(head[HEAD_RESIDUAL + k], 1, &slope);
        r.out[k] = r.mixed[k] + RESIDUAL_SCALE * r.residual[k];
    }
    return r;
}

template <class Net>
FN void load_head(const IO *head, const Place &p, float *out)
{
    for (int c = 0; c < Net::HEAD; c++)
        out[c] = load(head[(size_t)p.token * Net::OUTPUTS + 4 * c + p.s]);
}

template <class Net>
FN void resolve(const Frame &f, const float *moved, const IO *head, float *history, int n)
{
    const Place p = place_of(f, n);
    float values[Net::HEAD];
    load_head<Net>(head, p, values);
    const Resolved r = resolve_pixel<Net>(f, p, moved, values);
    for (int k = 0; k < 3; k++)
        history[4 * p.pixel + k] = clampf(r.out[k], 0, WORK_RANGE);
    history[4 * p.pixel + 3] = fminf(r.sum, WEIGHT_MAX);
}

// Gradient of the window's filtered colour to the kernel's part of the head.
template <class Net>
FN void kernel_back(const Frame &f, const Place &p, const Resolved &r, const float *head,
                    const float *g_raw, float *g)
{
    float g_weight[16], dot = 0, g_mix = 0, slope;
    for (int n = 0; n < 16; n++) {
        float c[3];
        sample<Net>(f, p, r.w, r.levels, n, c);
        g_weight[n] = g_raw[0] * c[0] + g_raw[1] * c[1] + g_raw[2] * c[2];
        g_mix += g_weight[n] * (r.kernel.w[n] - cubic_at(r.wx, r.wy, n));
        dot += g_weight[n] * r.kernel.w[n];
    }
    g[HEAD_MIX] = g_mix * r.mix_slope;
    float ga = 0, gb = 0, gc = 0;
    for (int n = 0; n < 16; n++) {
        const float dx = n % 4 - 1 - r.w.fx, dy = n / 4 - 1 - r.w.fy;
        const float u = r.kernel.a * dx + r.kernel.b * dy, v = r.kernel.c * dy;
        const float g_power = r.mix * r.kernel.w[n] * (g_weight[n] - dot);
        soft(head[HEAD_LOGITS + n], LOGIT_SOFT, &slope);
        g[HEAD_LOGITS + n] = g_power * slope;
        ga -= g_power * u * dx;
        gb -= g_power * u * dy;
        gc -= g_power * v * dy;
    }
    g[HEAD_A] = ga * r.kernel.slope_a;
    g[HEAD_B] = gb * r.kernel.slope_b;
    g[HEAD_C] = gc * r.kernel.slope_c;
}

// Gradient of the samples to the levels' part of the head: of the window's filtered colour, and of
// the ends of the samples' range.
FN void levels_back(const Frame &f, const Place &p, const Resolved &r, const float *g_raw,
                    const float *g_low, const float *g_high, float *g)
{
    bool low[3] = {true, true, true}, high[3] = {true, true, true}; // not met yet
    float g_m = 0, g_a = 0;
    for (int n = 0; n < 16; n++) {
        const float q = cubic_at(r.wx, r.wy, n), weight = q + r.mix * (r.kernel.w[n] - q);
        const float *d = tap(f, p, r.w, n), *l = f.levels + 2 * (d - f.colour);
        float c[3];
        sample<Ray>(f, p, r.w, r.levels, n, c);
        for (int k = 0; k < 3; k++) {
            float g_sample = weight * g_raw[k];
            if (low[k] && c[k] == r.w.low[k]) {
                low[k] = false;
                g_sample += g_low[k];
            }
            if (high[k] && c[k] == r.w.high[k]) {
                high[k] = false;
                g_sample += g_high[k];
            }
            if (c[k] > 0 && c[k] < WORK_RANGE) {
                g_m += g_sample * (l[k] - d[k]);
                g_a += g_sample * (l[3 + k] - d[k]);
            }
        }
    }
    g[HEAD_LEVEL_M] = g_m * r.levels.slope_m;
    g[HEAD_LEVEL_A] = g_a * r.levels.slope_a;
}

// Spreads the gradient of the corrected history over the pixels that samples were compared with.
FN void errors_back(const Frame &f, const Place &p, const Window &w, const float *g_error,
                    float *g_moved)
{
    for (int t = 0; t < 4; t++) {
        const int i = t & 1, j = t >> 1;
        const Four r = four_of(f, p, w.x + i, w.y + j);
        const float g = gauss(w, 4 * (j + 1) + i + 1, w.kernel);
        for (int m = 0; m < 4; m++) {
            float *out = g_moved + 4 * pixel_of(f, p.b, r.y + (m >> 1), r.x + (m & 1));
            for (int k = 0; k < 3; k++) {
                if (g_error[k] != 0)
                    add(out + k, -g * four_weight(r, m) * g_error[k]);
            }
        }
    }
}

// g_moved must be zero on entry.
template <class Net>
FN void resolve_back(const Frame &f, const float *moved, const IO *head, const float *g_history,
                     IO *g_head, float *g_moved, int n)
{
    const Place p = place_of(f, n);
    float values[Net::HEAD], g[Net::HEAD], g_raw[3], g_old[3], g_error[3], g_low[3], g_high[3];
    load_head<Net>(head, p, values);
    const Resolved r = resolve_pixel<Net>(f, p, moved, values);
    const float *h = moved + 4 * p.pixel, *go = g_history + 4 * p.pixel;
    const float g_sum = r.sum < WEIGHT_MAX ? go[3] : 0;
    float g_weight2 = g_sum, g_gain = g_sum, g_trust = 0, g_keep = 0;
    for (int k = 0; k < 3; k++) {
        const float gm = r.out[k] > 0 && r.out[k] < WORK_RANGE ? go[k] : 0;
        const float gc = gm * r.gain / r.sum, g_rectified = gm * r.weight2 / r.sum;
        g[HEAD_RESIDUAL + k] = gm * RESIDUAL_SCALE * (1 - r.residual[k] * r.residual[k]);
        g_weight2 += gm * (r.old[k] - r.mixed[k]) / r.sum;
        g_gain += gm * (r.c[k] - r.mixed[k]) / r.sum;
        g_keep += g_rectified * (h[k] - r.box.colour[k]);
        g_old[k] = g_rectified * r.keep;
        g_trust += gc * (r.corrected[k] - r.now[k]);
        const float g_now = gc * (1 - r.trust), g_corrected = gc * r.trust;
        const bool below = r.raw[k] < r.w.low[k], above = r.raw[k] > r.w.high[k];
        g_raw[k] = below || above ? 0 : g_now;
        g_low[k] = below ? g_now : 0;
        g_high[k] = above ? g_now : 0;
        g_error[k] = 0;
        if (r.corrected_raw[k] < fminf(r.w.low[k], h[k])) {
            g_old[k] += h[k] < r.w.low[k] ? g_corrected : 0;
            g_low[k] += h[k] < r.w.low[k] ? 0 : g_corrected;
        } else if (r.corrected_raw[k] > fmaxf(r.w.high[k], h[k])) {
            g_old[k] += h[k] > r.w.high[k] ? g_corrected : 0;
            g_high[k] += h[k] > r.w.high[k] ? 0 : g_corrected;
        } else {
            g_old[k] += g_corrected;
            g_error[k] = g_corrected * CORRECT_GAIN / fmaxf(r.total, 1e-9f);
        }
    }
    g[HEAD_GAIN] = g_gain * r.gain * r.gain_slope;
    g[HEAD_WEIGHT] = g_weight2 * r.weight2 * r.weight_slope;
    const float den = 1 - r.trust0 + r.trust0 * r.grow_trust;
    g[HEAD_TRUST] = g_trust * r.trust0 * (1 - r.trust0) / (den * den) * r.grow_trust *
                    r.trust_slope;
    const float g_trust0 = g_trust * r.grow_trust / (den * den);
    const float kernel = r.total / (r.total + CORRECT_KERNEL), k2 = r.keep * r.keep;
    const float w1 = r.weight1, wc = w1 + CORRECT_WEIGHT;
    const float g_weight1 = g_weight2 * r.grow_weight +
                            g_trust0 * kernel * k2 * CORRECT_WEIGHT / (wc * wc);
    float g_weight = g_weight1 * k2;
    g_keep += 2 * r.keep * (g_weight1 * h[3] + g_trust0 * kernel * w1 / wc);
    g[HEAD_BOX] = 0;
    if (r.worst >= 0) {
        const int k = r.worst;
        const float width = r.box.deviation[k] * r.size + BOX_MIN;
        const float g_by = -g_keep * k2;
        float o[3];
        opponent(h, o);
        const float go_k = g_by * (o[k] > r.box.mean[k] ? 1 : -1) / width;
        const float g_size = -g_by * r.by * r.box.deviation[k] / width;
        g[HEAD_BOX] = g_size * r.size * r.box_slope;
        g_weight += g_size * BOX_GROW * f.seen[p.b] * r.grow_box;
        g_old[0] += go_k * (k == 0 ? 0.25f : k == 1 ? 1.f : -0.5f);
        g_old[1] += go_k * (k == 0 ? 0.5f : k == 1 ? 0.f : 1.f);
        g_old[2] += go_k * (k == 0 ? 0.25f : k == 1 ? -1.f : -0.5f);
    }
    kernel_back<Net>(f, p, r, values, g_raw, g);
    if (Net::LEVELS)
        levels_back(f, p, r, g_raw, g_low, g_high, g);
    for (int k = 0; k < 3; k++)
        add(g_moved + 4 * p.pixel + k, g_old[k]);
    g_moved[4 * p.pixel + 3] = g_weight;
    errors_back(f, p, r.w, g_error, g_moved);
    IO *out = g_head + (size_t)p.token * Net::OUTPUTS;
    for (int c = 0; c < Net::OUTPUTS / 4; c++)
        out[4 * c + p.s] = store(c < Net::HEAD ? g[c] : 0);
}
