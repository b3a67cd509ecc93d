// SPDX-License-Identifier: MIT
// Depth: which kind, and which end is far.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

#define Z_PROVEN 4.0

/** The stored value that stands for "nothing there", by how often it is at an end. */
static void find_range(const struct probe_clip *clip, struct probe_depth *d)
{
    const size_t pixels = (size_t)clip->w * (size_t)clip->h;
    size_t infinite = 0, huge = 0, zero = 0, one = 0, count = 0;
    float low = INFINITY, high = -INFINITY, top = 0;

    for (int t = 0; t < clip->count; t++) {
        const float *p = clip->frames[t].depth;

        for (size_t i = 0; p && i < pixels; i++) {
            count++;
            infinite += !isfinite(p[i]);
            huge += isfinite(p[i]) && p[i] >= 1e9f;
            zero += p[i] == 0;
            one += p[i] == 1;
            if (isfinite(p[i]) && p[i] >= 1e9f)
                top = fmaxf(top, p[i]);
            if (!isfinite(p[i]) || p[i] >= 1e9f || p[i] == 0 || p[i] == 1)
                continue;
            low = fminf(low, p[i]);
            high = fmaxf(high, p[i]);
        }
    }
    d->present = count > 0;
    if (!count)
        return;
    d->constant = !(low < high);
    d->min = (double)low;
    d->max = (double)high;
    const size_t ends[] = {infinite, huge, zero, one};
    const float values[] = {INFINITY, top, 0, 1};
    for (int i = 0; i < 4; i++) {
        if (ends[i] * 500 < count || (double)ends[i] <= d->background_share * (double)count)
            continue;
        d->has_background = true;
        d->background = values[i];
        d->background_share = (double)ends[i] / (double)count;
    }
    if (high > 1 && (d->background == 0 || d->background == 1) && infinite + huge)
        d->background = infinite >= huge ? INFINITY : top;
}

static bool is_background(const struct probe_depth *d, float value)
{
    return !isfinite(value) || value >= 1e9f || (d->has_background && value == d->background);
}

/** What a change of depth is compared to: a depth buffer is finest towards 1, or towards 0. */
static float scale_of(const struct probe_depth *d, float value)
{
    return d->max <= 1 ? fminf(value, 1 - value) : value;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/** On planes a depth buffer's value is straight on the screen, and one over a distance is. */
static void find_curve(const struct probe_clip *clip, struct probe_depth *d)
{
    const float *p = clip->frames[0].depth;
    const int limit = 40000;
    double *linear = malloc((size_t)limit * 2 * sizeof(double));
    double *hardware = linear ? linear + limit : NULL;
    int count = 0;

    for (int y = 1; linear && p && y < clip->h - 1; y++) {
        for (int x = 1; x < clip->w - 1 && count < limit; x++) {
            for (int axis = 0; axis < 2 && count < limit; axis++) {
                const size_t step = axis ? (size_t)clip->w : 1;
                const float *q = p + (size_t)y * clip->w + x;
                const float a = *(q - step), b = *q, c = q[step];

                if (is_background(d, a) || is_background(d, b) || is_background(d, c) || a <= 0 ||
                    b <= 0 || c <= 0)
                    continue;
                const double da = (double)a, db = (double)b, dc = (double)c;
                const double slope = fabs(dc - da) / (2 * (double)scale_of(d, b));

                // Slopes that are steep enough to tell, and no edges.
                if (!(slope > 2e-3 && slope < 0.2) || (db - da) * (dc - db) <= 0)
                    continue;
                hardware[count] = fabs(da - 2 * db + dc) / fabs(dc - da);
                linear[count] = fabs(1 / da - 2 / db + 1 / dc) / fabs(1 / dc - 1 / da);
                count++;
            }
        }
    }
    if (count >= 200) {
        qsort(linear, (size_t)count, sizeof(double), by_value);
        qsort(hardware, (size_t)count, sizeof(double), by_value);
        d->curve_linear = linear[count / 3];
        d->curve_hardware = hardware[count / 3];
    }
    free(linear);
}

/** What is seen now and was hidden before was hidden by something nearer. */
static void add_votes(const struct probe_clip *clip, const struct probe_motion *m, int t,
                      const float jitter[2], const struct probe_depth *d, double votes[2])
{
    const struct probe_frame *f = &clip->frames[t];
    const float *before = clip->frames[t - 1].depth;
    const int w = clip->w, h = clip->h;

    for (int y = 2; y < h - 2; y++) {
        for (int x = 2; x < w - 2; x++) {
            const size_t at = (size_t)y * w + x;
            float v[2];

            if (!f->motion || is_background(d, f->depth[at]) ||
                !probe_vector(&m->best.motion, m->best.scale, f->motion + 2 * at, v))
                continue;
            const int qx = (int)lroundf((float)x + v[0] + jitter[0]);
            const int qy = (int)lroundf((float)y + v[1] + jitter[1]);
            if (qx < 2 || qy < 2 || qx >= w - 2 || qy >= h - 2)
                continue;
            // Hidden if all around the place differ, to the same side.
            int above = 0, below = 0;
            for (int k = 0; k < 9; k++) {
                const float b = before[(size_t)(qy + k / 3 - 1) * w + qx + k % 3 - 1];
                const float near = 0.15f * scale_of(d, f->depth[at]);

                above +=
                    is_background(d, b) ? d->background > f->depth[at] : b - f->depth[at] > near;
                below +=
                    is_background(d, b) ? d->background < f->depth[at] : f->depth[at] - b > near;
            }
            votes[0] += above == 9;
            votes[1] += below == 9;
        }
    }
}

static void find_direction(const struct probe_clip *clip, const struct probe_motion *m,
                           const struct probe_jitter *j, struct probe_depth *d)
{
    double votes[2] = {0, 0};

    for (int t = 1; t < clip->count; t++) {
        const struct probe_frame *f = &clip->frames[t];
        float jitter[2];

        for (int k = 0; k < 2; k++)
            jitter[k] = j->present ? f->jitter[k] - f[-1].jitter[k] : 0;
        if (f->depth && f[-1].depth)
            add_votes(clip, m, t, jitter, d, votes);
    }
    // Below now means that what was there before was smaller, so nearer: larger is farther. A
    // hidden strip is a run of pixels: a third of them count.
    d->votes =
        votes[0] + votes[1] > 0 ? (votes[1] - votes[0]) / sqrt(3 * (votes[0] + votes[1])) : 0;
}

void probe_depth_find(const struct probe_clip *clip, const struct probe_motion *m,
                      const struct probe_jitter *j, struct probe_depth *d)
{
    *d = (struct probe_depth){0};
    find_range(clip, d);
    if (!d->present || d->constant)
        return;
    find_curve(clip, d);
    if (m->verdict == PROBE_FITS || m->verdict == PROBE_WRONG)
        find_direction(clip, m, j, d);
    const bool unit = d->min >= 0 && d->max <= 1;

    if (!unit || isinf(d->background) || d->background >= 1e9f) {
        // A depth buffer holds nothing outside of 0 to 1.
        d->kind = HSIO_DEPTH_LINEAR;
        d->kind_known = d->direction_known = PROBE_PROVEN;
        d->far_is_larger = d->votes > -Z_PROVEN;
        return;
    }
    d->far_is_larger = d->votes >= 0;
    if (fabs(d->votes) > Z_PROVEN)
        d->direction_known = PROBE_PROVEN;
    else if (d->has_background && d->background_share > 0.01) {
        d->far_is_larger = d->background == 1;
        d->direction_known = PROBE_LIKELY;
    }
    const bool curved = d->curve_hardware > 0 || d->curve_linear > 0;
    const bool straight = d->curve_hardware < 0.5 * d->curve_linear;

    d->kind = !d->far_is_larger ? HSIO_DEPTH_HARDWARE_INVERTED : HSIO_DEPTH_HARDWARE;
    if (curved && d->far_is_larger && d->curve_linear < 0.5 * d->curve_hardware)
        d->kind = HSIO_DEPTH_LINEAR;
    d->kind_known = d->direction_known == PROBE_UNKNOWN                    ? PROBE_UNKNOWN
                    : curved && (straight || d->kind == HSIO_DEPTH_LINEAR) ? PROBE_PROVEN
                                                                           : PROBE_LIKELY;
}
