// SPDX-License-Identifier: MIT
#include "metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RADIUS 5
#define TAPS (2 * RADIUS + 1)
#define SIGMA 1.5

double tool_metric_mse(const struct tool_picture *a, const struct tool_picture *b)
{
    size_t row = (size_t)a->width * 3;
    double sum = 0;

    for (int y = 0; y < a->height; y++) {
        const float *p = a->rgb + y * row, *q = b->rgb + y * row;
        double part = 0;

        for (size_t i = 0; i < row; i++)
            part += ((double)p[i] - q[i]) * ((double)p[i] - q[i]);
        sum += part;
    }
    return sum / ((double)row * a->height);
}

double tool_metric_psnr(double mse)
{
    return -10 * log10(fmax(mse, 1e-12));
}

/** Means of a, b, a*a, b*b, a*b under the window. */
struct moments {
    double a, b, aa, bb, ab;
};

static void make_window(double window[TAPS])
{
    double sum = 0;

    for (int i = 0; i < TAPS; i++) {
        window[i] = exp(-0.5 * (i - RADIUS) * (i - RADIUS) / (SIGMA * SIGMA));
        sum += window[i];
    }
    for (int i = 0; i < TAPS; i++)
        window[i] /= sum;
}

/** Vertical half of the window for one row of one channel. */
static void filter_columns(const struct tool_picture *a, const struct tool_picture *b, int y,
                           int channel, const double window[TAPS], struct moments *columns)
{
    size_t row = (size_t)a->width * 3;

    memset(columns, 0, (size_t)a->width * sizeof(*columns));
    for (int k = 0; k < TAPS; k++) {
        const float *p = a->rgb + (y - RADIUS + k) * row + channel;
        const float *q = b->rgb + (y - RADIUS + k) * row + channel;

        for (int x = 0; x < a->width; x++) {
            double u = p[3 * x], v = q[3 * x], w = window[k];

            columns[x].a += w * u;
            columns[x].b += w * v;
            columns[x].aa += w * u * u;
            columns[x].bb += w * v * v;
            columns[x].ab += w * u * v;
        }
    }
}

static double ssim_at(const struct moments *columns, int x, const double window[TAPS])
{
    const double c1 = 0.01 * 0.01, c2 = 0.03 * 0.03;
    struct moments m = {0};

    for (int k = 0; k < TAPS; k++) {
        const struct moments *c = &columns[x - RADIUS + k];

        m.a += window[k] * c->a;
        m.b += window[k] * c->b;
        m.aa += window[k] * c->aa;
        m.bb += window[k] * c->bb;
        m.ab += window[k] * c->ab;
    }
    double var_a = m.aa - m.a * m.a, var_b = m.bb - m.b * m.b, cov = m.ab - m.a * m.b;
    return (2 * m.a * m.b + c1) * (2 * cov + c2) /
           ((m.a * m.a + m.b * m.b + c1) * (var_a + var_b + c2));
}

int tool_metric_ssim(const struct tool_picture *a, const struct tool_picture *b, double *ssim)
{
    double window[TAPS], sum = 0;
    struct moments *columns;

    if (a->width < TAPS || a->height < TAPS)
        return HS_ERR_INVALID;
    columns = malloc((size_t)a->width * sizeof(*columns));
    if (!columns)
        return HS_ERR_NOMEM;
    make_window(window);
    for (int channel = 0; channel < 3; channel++) {
        for (int y = RADIUS; y < a->height - RADIUS; y++) {
            filter_columns(a, b, y, channel, window, columns);
            for (int x = RADIUS; x < a->width - RADIUS; x++)
                sum += ssim_at(columns, x, window);
        }
    }
    free(columns);
    *ssim = sum / (3.0 * (a->width - 2 * RADIUS) * (a->height - 2 * RADIUS));
    return 0;
}

/** Bilinear sample at pixel coordinates, which lie inside or are cut to the edge. */
static void sample(const struct tool_picture *p, double x, double y, double out[3])
{
    x = fmin(fmax(x, 0), p->width - 1);
    y = fmin(fmax(y, 0), p->height - 1);
    int x0 = (int)x, y0 = (int)y;
    int x1 = x0 + 1 < p->width ? x0 + 1 : x0, y1 = y0 + 1 < p->height ? y0 + 1 : y0;
    double fx = x - x0, fy = y - y0;
    const float *rows[2] = {p->rgb + (size_t)y0 * p->width * 3, p->rgb + (size_t)y1 * p->width * 3};

    for (int c = 0; c < 3; c++) {
        double top = rows[0][3 * x0 + c] * (1 - fx) + rows[0][3 * x1 + c] * fx;
        double bottom = rows[1][3 * x0 + c] * (1 - fx) + rows[1][3 * x1 + c] * fx;

        out[c] = top * (1 - fy) + bottom * fy;
    }
}

int tool_metric_flicker(const struct tool_picture *out, const struct tool_picture *out_prev,
                        const struct tool_picture *ref, const struct tool_picture *ref_prev,
                        const struct tool_motion *motion, struct tool_flicker *flicker)
{
    int k = motion->height ? ref->height / motion->height : 0;
    double sum = 0, squares = 0;
    uint64_t count = 0;

    if (k < 1 || motion->width * k != ref->width || motion->height * k != ref->height)
        return HS_ERR_INVALID;
    for (int y = 0; y < ref->height; y++) {
        for (int x = 0; x < ref->width; x++) {
            const float *v = motion->xy + 2 * ((size_t)(y / k) * motion->width + x / k);
            double px = x + (double)v[0] * k, py = y + (double)v[1] * k;
            size_t at = 3 * ((size_t)y * ref->width + x);
            double before[3], ref_before[3];

            if (!(px >= 0 && px <= ref->width - 1 && py >= 0 && py <= ref->height - 1))
                continue;
            sample(out_prev, px, py, before);
            sample(ref_prev, px, py, ref_before);
            for (int c = 0; c < 3; c++) {
                double d = (out->rgb[at + c] - before[c]) - (ref->rgb[at + c] - ref_before[c]);

                sum += fabs(d);
                squares += d * d;
            }
            count += 3;
        }
    }
    flicker->mean_abs = count ? sum / (double)count : 0;
    flicker->mse = count ? squares / (double)count : 0;
    return 0;
}
