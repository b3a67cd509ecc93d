// SPDX-License-Identifier: MIT
/** How the camera moved, from vectors and depth: a turn, a step and a zoom that most obey. */
#include "camera_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETERS HSIO_CAMERA_PARAMETERS
#define ITERATIONS 24
/** Errors below this count as none: rounding, and averages at edges. Pixels. */
#define LEAST_ERROR 0.1
/** A vector agrees within this and a part of its length. Pixels. */
#define AGREES_PX 0.35
#define AGREES_SHARE 0.05
/** Neighbouring vectors are no independent witnesses: their standard errors grow by this. */
#define DEPENDENCE 4.0

enum {
    TURN_X,
    TURN_Y,
    TURN_Z,
    STEP_X,
    STEP_Y,
    STEP_Z,
    LENS,
    ZOOM
};

/* What is known beforehand, as standard deviations: little of the lens, much of zooms. */
static const double spread[PARAMETERS] = {1, 1, 1, 1, 1, 1, 0.6, 0.02};
#define LENS_USUAL 0.55 ///< log of 1.73 half widths: 60 degrees.

/* exp of a cross product: Rodrigues. */
static void rotate(const double w[3], const double v[3], double out[3])
{
    const double angle2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], angle = sqrt(angle2);
    const double s = angle > 1e-9 ? sin(angle) / angle : 1;
    const double c = angle > 1e-9 ? (1 - cos(angle)) / angle2 : 0.5;
    const double dot = w[0] * v[0] + w[1] * v[1] + w[2] * v[2];
    const double cross[3] = {w[1] * v[2] - w[2] * v[1], w[2] * v[0] - w[0] * v[2],
                             w[0] * v[1] - w[1] * v[0]};

    for (int i = 0; i < 3; i++)
        out[i] = v[i] * (1 - c * angle2) + s * cross[i] + c * dot * w[i];
}

/* Motion in half widths of a point there, `near` being one over its depth. */
static bool move(const double p[PARAMETERS], double x, double y, double near, double out[2])
{
    const double f = exp(p[LENS]), view[3] = {x / f, y / f, 1};
    double q[3];

    rotate(p, view, q);
    for (int i = 0; i < 3; i++)
        q[i] += near * p[STEP_X + i];
    if (!(q[2] > 0.05))
        return false;
    out[0] = f * (1 + p[ZOOM]) * q[0] / q[2] - x;
    out[1] = f * (1 + p[ZOOM]) * q[1] / q[2] - y;
    return true;
}

static double error_of(const double p[PARAMETERS], const struct hsio_camera_sample *s, double e[2])
{
    double m[2];

    if (!move(p, s->x, s->y, s->near, m)) {
        e[0] = e[1] = 1;
        return 1;
    }
    e[0] = m[0] - s->motion[0];
    e[1] = m[1] - s->motion[1];
    return hypot(e[0], e[1]);
}

static void derive(const double p[PARAMETERS], double x, double y, double near,
                   double jacobian[2][PARAMETERS])
{
    for (int k = 0; k < PARAMETERS; k++) {
        double a[PARAMETERS], b[PARAMETERS], low[2] = {0, 0}, high[2] = {0, 0};
        const double step = 1e-5;

        memcpy(a, p, sizeof(a));
        memcpy(b, p, sizeof(b));
        a[k] -= step;
        b[k] += step;
        if (!move(a, x, y, near, low) || !move(b, x, y, near, high))
            memset(high, 0, sizeof(high)), memset(low, 0, sizeof(low));
        for (int i = 0; i < 2; i++)
            jacobian[i][k] = (high[i] - low[i]) / (2 * step);
    }
}

/* Turns a symmetric positive matrix into its inverse. */
static bool invert(double m[PARAMETERS][PARAMETERS])
{
    double out[PARAMETERS][PARAMETERS] = {0};

    for (int i = 0; i < PARAMETERS; i++)
        out[i][i] = 1;
    for (int i = 0; i < PARAMETERS; i++) {
        const double pivot = m[i][i];

        if (!(fabs(pivot) > 1e-30))
            return false;
        for (int k = 0; k < PARAMETERS; k++) {
            m[i][k] /= pivot;
            out[i][k] /= pivot;
        }
        for (int r = 0; r < PARAMETERS; r++) {
            const double factor = m[r][i];

            for (int k = 0; k < PARAMETERS && r != i; k++) {
                m[r][k] -= factor * m[i][k];
                out[r][k] -= factor * out[i][k];
            }
        }
    }
    memcpy(m, out, sizeof(out));
    return true;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_error(const double p[PARAMETERS], const struct hsio_camera_sample *list,
                           int count, double *room)
{
    double e[2];

    for (int i = 0; i < count; i++)
        room[i] = error_of(p, &list[i], e);
    qsort(room, (size_t)count, sizeof(*room), by_size);
    return room[count / 2];
}

/* One weighted step; `covariance` is that of the parameters if errors are `unit`. */
static bool improve(double p[PARAMETERS], const struct hsio_camera_sample *list, int count,
                    double unit, double covariance[PARAMETERS][PARAMETERS])
{
    double right[PARAMETERS] = {0};

    memset(covariance, 0, sizeof(double[PARAMETERS][PARAMETERS]));
    for (int i = 0; i < count; i++) {
        double jacobian[2][PARAMETERS], e[2];
        const double size = error_of(p, &list[i], e) / unit;
        const double spoilt = DEPENDENCE * unit * (1 + size * size), weight = 1 / (spoilt * spoilt);

        derive(p, list[i].x, list[i].y, list[i].near, jacobian);
        for (int a = 0; a < 2; a++) {
            for (int k = 0; k < PARAMETERS; k++) {
                right[k] -= weight * jacobian[a][k] * e[a];
                for (int l = 0; l < PARAMETERS; l++)
                    covariance[k][l] += weight * jacobian[a][k] * jacobian[a][l];
            }
        }
    }
    for (int k = 0; k < PARAMETERS; k++) {
        const double wanted = k == LENS ? LENS_USUAL : 0, w = 1 / (spread[k] * spread[k]);

        covariance[k][k] += w;
        right[k] += w * (wanted - p[k]);
    }
    if (!invert(covariance))
        return false;
    for (int k = 0; k < PARAMETERS; k++) {
        double step = 0;

        for (int l = 0; l < PARAMETERS; l++)
            step += covariance[k][l] * right[l];
        p[k] += k == LENS ? fmax(-0.3, fmin(0.3, step)) : fmax(-0.2, fmin(0.2, step));
    }
    return true;
}

bool hsio_camera_fit(const struct hsio_camera_sample *list, int count, double pixel, double *room,
                     struct hsio_camera_fit *out)
{
    static const double lenses[] = {0.55, -0.2, 1.4};
    double best = INFINITY, e[2];
    int agree = 0;

    *out = (struct hsio_camera_fit){.pixel = pixel};
    // Another lens is tried where the usual one leads nowhere.
    for (size_t i = 0; i < sizeof(lenses) / sizeof(lenses[0]) && best > LEAST_ERROR * pixel; i++) {
        double p[PARAMETERS] = {0}, covariance[PARAMETERS][PARAMETERS], median;
        bool good = true;

        p[LENS] = lenses[i];
        for (int k = 0; good && k < ITERATIONS; k++) {
            const double unit = fmax(2 * median_error(p, list, count, room), LEAST_ERROR * pixel);

            good = improve(p, list, count, unit, covariance);
        }
        median = good ? median_error(p, list, count, room) : INFINITY;
        if (!(median < best - 1e-3 * pixel))
            continue;
        best = median;
        memcpy(out->parameters, p, sizeof(p));
        memcpy(out->covariance, covariance, sizeof(covariance));
    }
    for (int i = 0; isfinite(best) && i < count; i++) {
        const double length = hypot(list[i].motion[0], list[i].motion[1]);

        agree += error_of(out->parameters, &list[i], e) < AGREES_PX * pixel + AGREES_SHARE * length;
    }
    out->share = count ? (double)agree / count : 0;
    return isfinite(best);
}

bool hsio_camera_move(const struct hsio_camera_fit *fit, double x, double y, double near,
                      double out[2])
{
    return move(fit->parameters, x, y, near, out);
}

double hsio_camera_doubt(const struct hsio_camera_fit *fit, double x, double y, double near)
{
    double jacobian[2][PARAMETERS], sum = 0;

    derive(fit->parameters, x, y, near, jacobian);
    for (int a = 0; a < 2; a++) {
        for (int k = 0; k < PARAMETERS; k++) {
            for (int l = 0; l < PARAMETERS; l++)
                sum += jacobian[a][k] * fit->covariance[k][l] * jacobian[a][l];
        }
    }
    return sqrt(fmax(sum, 0)) / fit->pixel;
}
