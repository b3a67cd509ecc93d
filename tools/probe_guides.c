// SPDX-License-Identifier: MIT
// Colour, noise, normals, albedo, silhouettes and sky.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <hindsight/error.h>

#include "probe.h"

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static int find_range(const struct probe_clip *clip, struct probe_guides *g)
{
    const size_t pixels = (size_t)clip->w * (size_t)clip->h;
    float *sorted = malloc(pixels * sizeof(float));
    size_t count = 0, negative = 0, full = 0, above = 0;
    double sum = 0, lit = 0;

    if (!sorted)
        return HS_ERR_NOMEM;
    for (size_t i = 0; i < pixels; i++) {
        const float y = clip->frames[0].luma[i];

        if (!isfinite(y))
            continue;
        sorted[count++] = y;
        negative += y < 0;
        above += y > 1.0001f;
        full += y >= 0.999f && y <= 1.0001f;
        sum += y > 1e-6f ? log((double)y) : 0;
        lit += y > 1e-6f;
    }
    qsort(sorted, count, sizeof(float), by_value);
    if (count) {
        g->luma_low = (double)sorted[count / 100];
        g->luma_high = (double)sorted[count - 1 - count / 100];
        g->luma_max = (double)sorted[count - 1];
        g->luma_mean = lit > 0 ? exp(sum / lit) : 0;
        g->negative = (double)negative / (double)count;
        // Nothing above 1 and a crowd at 1: something has cut it.
        g->display_referred = !above && full * 200 > count;
    }
    free(sorted);
    return 0;
}

static void find_normals(const struct probe_clip *clip, struct probe_guides *g)
{
    const float *n = clip->frames[0].normal;
    const size_t pixels = (size_t)clip->w * (size_t)clip->h;
    double as_is = 0, as_unsigned = 0, facing[2] = {0, 0}, seen = 0;
    float fourth[2] = {INFINITY, -INFINITY};
    size_t count = 0, negative = 0;

    g->has_normals = n != NULL;
    for (size_t i = 0; n && i < pixels; i++) {
        const float *p = n + 4 * i;
        const double a = (double)p[0], b = (double)p[1], c = (double)p[2];
        const double length = sqrt(a * a + b * b + c * c);

        if (!(length > 0.05 && length < 4))
            continue;
        count++;
        negative += a < -0.01 || b < -0.01 || c < -0.01;
        as_is += fabs(length - 1) < 0.05;
        as_unsigned += fabs(sqrt((2 * a - 1) * (2 * a - 1) + (2 * b - 1) * (2 * b - 1) +
                                 (2 * c - 1) * (2 * c - 1)) -
                            1) < 0.05;
        g->normal_length += length;
        fourth[0] = fminf(fourth[0], p[3]);
        fourth[1] = fmaxf(fourth[1], p[3]);
    }
    if (!count)
        return;
    g->normal_length /= (double)count;
    g->normals_unsigned = !negative && as_unsigned > 2 * as_is;
    g->packed = fourth[0] < fourth[1] && fourth[0] >= 0 && fourth[1] <= 1;
    const struct probe_frame *f = &clip->frames[0];
    for (size_t i = 0; f->has_camera && i < pixels; i++) {
        const float *p = n + 4 * i;
        const double k = g->normals_unsigned ? 2 : 1, o = g->normals_unsigned ? 1 : 0;
        const double a = k * (double)p[0] - o, b = k * (double)p[1] - o, c = k * (double)p[2] - o;
        const double x =
            (2.0 * (double)(clip->x + (int)(i % (size_t)clip->w)) + 1) / clip->width - 1;
        const double y =
            1 - (2.0 * (double)(clip->y + (int)(i / (size_t)clip->w)) + 1) / clip->height;
        // From the surface to the eye, in view space.
        const double ex = -x / (double)f->proj[0], ey = -y / (double)f->proj[5];
        const double vx = (double)f->view[0] * a + (double)f->view[1] * b + (double)f->view[2] * c;
        const double vy = (double)f->view[4] * a + (double)f->view[5] * b + (double)f->view[6] * c;
        const double vz = (double)f->view[8] * a + (double)f->view[9] * b + (double)f->view[10] * c;

        if (!(fabs(a) + fabs(b) + fabs(c) > 0.5))
            continue;
        seen++;
        facing[0] += vx * ex + vy * ey + vz > 0;
        facing[1] += a * ex + b * ey + c > 0;
    }
    // Visible surfaces face the eye in the space that is right.
    g->knows_space = seen > 200 && fabs(facing[0] - facing[1]) > 0.1 * seen &&
                     fmax(facing[0], facing[1]) > 0.9 * seen;
    g->normals_view = facing[1] > facing[0];
}

static int find_albedo(const struct probe_clip *clip, struct probe_guides *g)
{
    const float *p = clip->frames[0].albedo;
    const size_t pixels = (size_t)clip->w * (size_t)clip->h;
    float *sorted = p ? malloc(pixels * sizeof(float)) : NULL;
    size_t zero = 0;

    g->has_albedo = p != NULL;
    if (!p)
        return 0;
    if (!sorted)
        return HS_ERR_NOMEM;
    for (size_t i = 0; i < pixels; i++) {
        sorted[i] = fmaxf(p[4 * i], fmaxf(p[4 * i + 1], p[4 * i + 2]));
        zero += sorted[i] == 0;
    }
    qsort(sorted, pixels, sizeof(float), by_value);
    g->albedo_max = (double)sorted[pixels - 1 - pixels / 1000];
    g->albedo_zero = (double)zero / (double)pixels;
    g->albedo_out_of_range = g->albedo_max > 1.02 || sorted[0] < 0;
    free(sorted);
    return 0;
}

/** Fine structure: log-like luma without what a 3x3 neighbourhood has in common. */
static float fine(const struct probe_frame *f, int w, int x, int y)
{
    float sum = 0, own = 0;

    for (int k = 0; k < 9; k++) {
        const float v = f->luma[(size_t)(y + k / 3 - 1) * w + x + k % 3 - 1];
        const float toned = v > 0 ? sqrtf(v / (1 + v)) : 0;

        sum += toned;
        own = k == 4 ? toned : own;
    }
    return own - sum / 9;
}

struct correlation {
    double xy, xx, yy;
};

static double value_of(const struct correlation *c)
{
    return c->xx > 0 && c->yy > 0 ? c->xy / sqrt(c->xx * c->yy) : 0;
}

/**
 * Noise that sticks to the screen is alike at the same pixel although the picture moved on. What
 * runs along the motion is alike there, too, and as much at twice the vector: that is taken off.
 */
static void find_noise(const struct probe_clip *clip, const struct probe_motion *m,
                       struct probe_guides *g)
{
    struct correlation c[2] = {{0}};
    double count = 0;

    if (m->verdict != PROBE_FITS && m->verdict != PROBE_WRONG)
        return;
    for (int t = 1; t < clip->count; t++) {
        const struct probe_frame *f = &clip->frames[t];

        for (int y = 1; f->motion && y < clip->h - 1; y++) {
            for (int x = 1; x < clip->w - 1; x++) {
                float v[2];

                if (!probe_vector(&m->best.motion, m->best.scale,
                                  f->motion + 2 * ((size_t)y * clip->w + x), v) ||
                    !(hypotf(v[0], v[1]) > 2) || !(hypotf(v[0], v[1]) < 1000))
                    continue;
                const int qx = x + (int)lroundf(2 * v[0]), qy = y + (int)lroundf(2 * v[1]);
                if (qx < 1 || qy < 1 || qx >= clip->w - 1 || qy >= clip->h - 1)
                    continue;
                const double a = (double)fine(f, clip->w, x, y);
                count++;
                for (int k = 0; k < 2; k++) {
                    const double b = (double)fine(f - 1, clip->w, k ? qx : x, k ? qy : y);

                    c[k].xy += a * b;
                    c[k].xx += a * a;
                    c[k].yy += b * b;
                }
            }
        }
    }
    if (count < 1000)
        return;
    g->noisy_known = true;
    g->noise_fixed = value_of(&c[0]) - value_of(&c[1]);
    g->noise_z = g->noise_fixed * sqrt(count);
    g->noise_sticks = g->noise_fixed > 0.15 && g->noise_z > 6;
}

#define SIDE 4 ///< Pixels to both sides of an edge that are looked at.

/** Vectors along a row, if there is an edge between two calm sides. */
static bool find_edge(const struct probe_motion *m, const float *row, float v[2 * SIDE + 1][2],
                      float *jump)
{
    const int last = 2 * SIDE;

    for (int k = 0; k <= last; k++) {
        if (!probe_vector(&m->best.motion, m->best.scale, row + 2 * (k - SIDE), v[k]))
            return false;
    }
    *jump = hypotf(v[last - 1][0] - v[1][0], v[last - 1][1] - v[1][1]);
    return *jump > 0.5f && *jump < 1000 &&
           hypotf(v[1][0] - v[0][0], v[1][1] - v[0][1]) < 0.03f * *jump &&
           hypotf(v[last][0] - v[last - 1][0], v[last][1] - v[last - 1][1]) < 0.03f * *jump;
}

/** Where vectors jump from one side to the other: are there any between? */
static void find_silhouettes(const struct probe_clip *clip, const struct probe_motion *m,
                             struct probe_guides *g)
{
    double edges = 0, between = 0;

    for (int t = 0; t < clip->count; t++) {
        const float *p = clip->frames[t].motion;

        for (int y = 0; p && y < clip->h; y++) {
            for (int x = SIDE; x < clip->w - SIDE; x++) {
                float v[2 * SIDE + 1][2], jump;
                bool mixed = false;

                if (!find_edge(m, p + 2 * ((size_t)y * clip->w + x), v, &jump))
                    continue;
                for (int k = 2; k < 2 * SIDE - 1; k++) {
                    const float part = ((v[k][0] - v[1][0]) * (v[2 * SIDE - 1][0] - v[1][0]) +
                                        (v[k][1] - v[1][1]) * (v[2 * SIDE - 1][1] - v[1][1])) /
                                       (jump * jump);

                    mixed = mixed || (part > 0.2f && part < 0.8f);
                }
                edges++;
                between += mixed;
            }
        }
    }
    g->silhouettes_known = edges >= 40;
    g->silhouettes = edges > 0 ? between / edges : 0;
    g->silhouettes_averaged = g->silhouettes_known && g->silhouettes > 0.4;
}

static void find_sky(const struct probe_clip *clip, const struct probe_depth *d,
                     struct probe_guides *g)
{
    const size_t pixels = (size_t)clip->w * (size_t)clip->h;
    double sky = 0, still = 0, other = 0, other_still = 0;

    for (int t = 1; t < clip->count; t++) {
        const struct probe_frame *f = &clip->frames[t];

        for (size_t i = 0; f->motion && f->depth && i < pixels; i++) {
            const bool far = !isfinite(f->depth[i]) || f->depth[i] >= 1e9f ||
                             (d->has_background && f->depth[i] == d->background);
            const bool zero = f->motion[2 * i] == 0 && f->motion[2 * i + 1] == 0;

            sky += far;
            still += far && zero;
            other += !far;
            other_still += !far && zero;
        }
    }
    if (sky + other <= 0)
        return;
    g->sky = sky / (sky + other);
    g->sky_still = sky > 0 ? still / sky : 0;
    // Nothing else stands still: the camera moves, and the sky would have to.
    g->sky_unwritten =
        g->sky > 0.005 && g->sky_still > 0.9 && other > 0 && other_still < 0.1 * other;
}

int probe_guides_find(const struct probe_clip *clip, const struct probe_motion *m,
                      const struct probe_depth *d, struct probe_guides *g)
{
    *g = (struct probe_guides){0};
    int err = find_range(clip, g);

    if (!err)
        err = find_albedo(clip, g);
    if (err < 0)
        return err;
    find_normals(clip, g);
    find_noise(clip, m, g);
    if (clip->planes[HSIO_PLANE_MOTION] && m->verdict != PROBE_ZERO &&
        m->verdict != PROBE_NOTHING) {
        find_silhouettes(clip, m, g);
        find_sky(clip, d, g);
    }
    return 0;
}
