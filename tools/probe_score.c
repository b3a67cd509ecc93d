// SPDX-License-Identifier: MIT
// The error of a frame against its neighbour, moved by the vectors as a candidate reads them.
#include "probe_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 6000
/** Contrast of a pixel's neighbourhood, tone-mapped, from which on it tells something. */
#define CONTRAST 0.02f
#define STEEP 3.0f
#define Z_TOLD_APART 3.0
#define LOSS_TOLD_APART 0.02
/** A large loss needs less significance: it is not what chance among near ones brings about. */
#define Z_LARGE 2.0
#define LOSS_LARGE 0.08
/** Vectors that lie so far apart, in pixels, can be told apart as well as any. */
#define FULL_PX 1.0f
/** A share of pixels that leave the picture under one reading only, from which on they count. */
#define LOST_MORE 0.15

bool probe_sample(const float *plane, int channels, int w, int h, float x, float y, float *out)
{
    if (!(x >= 0 && y >= 0 && x <= (float)(w - 1) && y <= (float)(h - 1)))
        return false;

    const int x0 = x < (float)(w - 1) ? (int)x : w > 1 ? w - 2 : 0;
    const int y0 = y < (float)(h - 1) ? (int)y : h > 1 ? h - 2 : 0;
    const float fx = x - (float)x0, fy = y - (float)y0;
    const float *p = plane + ((size_t)y0 * w + x0) * channels;
    const float *q = p + (h > 1 ? (size_t)w * channels : 0);
    const int right = w > 1 ? channels : 0;

    for (int c = 0; c < channels; c++) {
        const float top = p[c] + fx * (p[c + right] - p[c]);
        const float bottom = q[c] + fx * (q[c + right] - q[c]);

        out[c] = top + fy * (bottom - top);
    }
    return true;
}

bool probe_vector(const struct hsio_motion_convention *conv, const float scale[2],
                  const float *stored, float out[2])
{
    out[0] = ((conv->swap ? stored[1] : stored[0]) - conv->bias_x) * scale[0];
    out[1] = ((conv->swap ? stored[0] : stored[1]) - conv->bias_y) * scale[1];
    return isfinite(out[0]) && isfinite(out[1]);
}

static float contrast(const float *features, int n, int w, int x, int y)
{
    const float *p = features + n * ((size_t)y * w + x);
    float best = 0;

    for (int c = 0; c < n; c++) {
        const float dx = fabsf(p[n + c] - p[c - n]);
        const float dy = fabsf(p[n * w + c] - p[c - n * w]);

        best = fmaxf(best, fmaxf(dx, dy));
    }
    return best;
}

static int make_points(const struct probe_clip *clip, int frame, struct probe_points *points)
{
    const float *features = clip->frames[frame].features;
    const int w = clip->w, h = clip->h;
    int found = 0, kept = 0;

    points->at = malloc((size_t)w * (size_t)h * sizeof(int));
    if (!points->at)
        return HS_ERR_NOMEM;
    for (int y = 1; y < h - 1; y++) {
        for (int x = 1; x < w - 1; x++) {
            if (contrast(features, clip->features, w, x, y) > CONTRAST)
                points->at[found++] = y * w + x;
        }
    }
    // Evenly thinned out.
    for (int i = 0; i < found; i++) {
        if (found <= POINTS || (long)i * POINTS / found != (long)(i - 1) * POINTS / found)
            points->at[kept++] = points->at[i];
    }
    points->count = kept;
    return 0;
}

/** Occlusions and highlights must not decide alone: differences grow ever more slowly. */
static float difference(const float *a, const float *b, int n)
{
    float sum = 0;

    for (int c = 0; c < n; c++)
        sum += fabsf(a[c] - b[c]);
    sum *= 3 / (float)n;
    return sum / (1 + sum * STEEP);
}

/** What an arbitrary other pixel differs by. */
static double unrelated(const struct probe_search *s)
{
    const int n = s->clip->features;
    uint32_t state = 1;
    double sum = 0;
    int count = 0;

    for (int t = 0; t < s->clip->count; t++) {
        const float *features = s->clip->frames[t].features;
        const struct probe_points *points = &s->points[t];

        for (int i = 0; i < points->count; i++) {
            state = state * 1664525u + 1013904223u;
            const int other = points->at[(int)((uint64_t)state * (uint64_t)points->count >> 32)];
            sum += (double)difference(features + n * (size_t)points->at[i],
                                      features + n * (size_t)other, n);
            count++;
        }
    }
    return count ? sum / count : 0;
}

int probe_search_open(const struct probe_clip *clip, struct probe_search *s)
{
    int err = 0;

    *s = (struct probe_search){.clip = clip, .pairs = clip->count - 1};
    s->tile = 6;
    while (((clip->w + s->tile - 1) / s->tile) * ((clip->h + s->tile - 1) / s->tile) > 400)
        s->tile++;
    s->columns = (clip->w + s->tile - 1) / s->tile;
    s->rows = (clip->h + s->tile - 1) / s->tile;
    for (int t = 0; !err && t < clip->count; t++) {
        memcpy(s->jitter[t], clip->frames[t].jitter, sizeof(s->jitter[t]));
        err = make_points(clip, t, &s->points[t]);
    }
    s->weights = malloc((size_t)(s->pairs > 0 ? s->pairs : 1) * (size_t)s->columns *
                        (size_t)s->rows * sizeof(float));
    if (!err && !s->weights)
        err = HS_ERR_NOMEM;
    if (!err)
        s->unrelated = unrelated(s);
    return err;
}

void probe_search_close(struct probe_search *s)
{
    free(s->weights);
    for (int t = 0; t < PROBE_MAX_FRAMES; t++)
        free(s->points[t].at);
    for (int i = 0; i < PROBE_CANDIDATES; i++)
        free(s->tiles[i].error);
}

static int make_tiles(const struct probe_search *s, struct probe_tiles *t)
{
    const int units = s->pairs * s->columns * s->rows;

    if (!t->error) {
        t->error = malloc((size_t)units * 3 * sizeof(float));
        if (!t->error)
            return HS_ERR_NOMEM;
    }
    t->units = units;
    t->count = t->error + units;
    t->lost = t->count + units;
    memset(t->error, 0, (size_t)units * 3 * sizeof(float));
    return 0;
}

/** Frames of a pair: where the vectors are, and where they lead to. */
static void frames_of(const struct probe_candidate *c, int pair, int *here, int *there)
{
    const bool next = !c->still && c->motion.direction == HSIO_DIRECTION_NEXT;

    *here = next ? pair : pair + 1;
    *there = next ? pair + 1 : pair;
}

static bool is_unwritten(const float *stored)
{
    return stored[0] == 0 && stored[1] == 0;
}

static void score_pair(const struct probe_search *s, const struct probe_candidate *c, int pair,
                       struct probe_tiles *tiles)
{
    const struct probe_clip *clip = s->clip;
    int here, there;

    frames_of(c, pair, &here, &there);
    const struct probe_frame *f = &clip->frames[here];
    const float *other = clip->frames[there].features;
    const int n = clip->features;
    const bool jittered = !c->still && c->motion.jittered;
    const float dx = jittered ? 0 : s->jitter[here][0] - s->jitter[there][0];
    const float dy = jittered ? 0 : s->jitter[here][1] - s->jitter[there][1];

    for (int i = 0; f->leading && i < s->points[here].count; i++) {
        const int at = s->points[here].at[i], x = at % clip->w, y = at / clip->w;
        const int tile = (pair * s->rows + y / s->tile) * s->columns + x / s->tile;
        float v[2] = {0, 0}, found[PROBE_FEATURES];

        if (is_unwritten(f->leading + 2 * (size_t)at) ||
            (!c->still && !probe_vector(&c->motion, c->scale, f->leading + 2 * (size_t)at, v)))
            continue;
        if (!probe_sample(other, n, clip->w, clip->h, (float)x + v[0] + dx, (float)y + v[1] + dy,
                          found)) {
            tiles->lost[tile]++;
            continue;
        }
        tiles->error[tile] += difference(found, f->features + n * (size_t)at, n);
        tiles->count[tile]++;
    }
}

int probe_score(struct probe_search *s, int index)
{
    struct probe_candidate *c = &s->candidates[index];
    struct probe_tiles *t = &s->tiles[index];
    double error = 0, count = 0, lost = 0;
    const int err = make_tiles(s, t);

    for (int p = 0; !err && p < s->pairs; p++)
        score_pair(s, c, p, t);
    for (int i = 0; !err && i < t->units; i++) {
        error += (double)t->error[i];
        count += (double)t->count[i];
        lost += (double)t->lost[i];
    }
    c->error = count + lost > 0 ? (error + lost * s->unrelated) / (count + lost) : 0;
    c->lost = count + lost > 0 ? lost / (count + lost) : 0;
    return err;
}

/** Pixels between two candidates' vectors; false: one has none. */
static bool differ(const struct probe_candidate *a, const struct probe_candidate *b,
                   const float *stored, float *out)
{
    float v[2] = {0}, w[2] = {0};

    if (is_unwritten(stored) || (!a->still && !probe_vector(&a->motion, a->scale, stored, v)) ||
        (!b->still && !probe_vector(&b->motion, b->scale, stored, w)))
        return false;
    // Vectors to the other frame point the other way.
    const float turn =
        !a->still && !b->still && a->motion.direction != b->motion.direction ? -1 : 1;
    *out = fminf(hypotf(v[0] - turn * w[0], v[1] - turn * w[1]), 100);
    return true;
}

double probe_distance(const struct probe_search *s, const struct probe_candidate *a,
                      const struct probe_candidate *b)
{
    double sum = 0, count = 0;

    for (int t = 1; t < s->clip->count; t++) {
        const float *motion = s->clip->frames[t].leading;

        for (int i = 0; motion && i < s->points[t].count; i++) {
            float d;

            if (!differ(a, b, motion + 2 * (size_t)s->points[t].at[i], &d))
                continue;
            sum += (double)d;
            count++;
        }
    }
    return count > 0 ? sum / count : 0;
}

/** Where two candidates' vectors are the same, only noise speaks: how much a block says, 0 to 1. */
static int weigh(const struct probe_search *s, const struct probe_candidate *a,
                 const struct probe_candidate *b, float *weights)
{
    const int units = s->pairs * s->columns * s->rows;
    float *counts = calloc((size_t)units, sizeof(float));

    if (!counts)
        return HS_ERR_NOMEM;
    memset(weights, 0, (size_t)units * sizeof(float));
    for (int p = 0; p < s->pairs; p++) {
        const struct probe_points *points = &s->points[p + 1];
        const float *motion = s->clip->frames[p + 1].leading;

        for (int i = 0; motion && i < points->count; i++) {
            const int at = points->at[i];
            const int unit =
                (p * s->rows + at / s->clip->w / s->tile) * s->columns + at % s->clip->w / s->tile;
            float d;

            if (!differ(a, b, motion + 2 * (size_t)at, &d))
                continue;
            weights[unit] += fminf(d, FULL_PX) / FULL_PX;
            counts[unit]++;
        }
    }
    for (int i = 0; i < units; i++)
        weights[i] = counts[i] > 0 ? weights[i] / counts[i] : 0;
    free(counts);
    return 0;
}

void probe_versus(const struct probe_search *s, int a, int b, double *z, double *loss)
{
    float *says = s->weights;
    const struct probe_tiles *p = &s->tiles[a], *q = &s->tiles[b];
    // Some pixels leave the picture under any vectors; a crowd of them is an error.
    const double more = s->candidates[b].lost - s->candidates[a].lost;
    const float lost_a = more < -LOST_MORE ? (float)s->unrelated : 0;
    const float lost_b = more > LOST_MORE ? (float)s->unrelated : 0;
    double sum = 0, squares = 0, mixed = 0, base = 0, weight = 0, weights = 0;

    *z = *loss = 0;
    if (weigh(s, &s->candidates[a], &s->candidates[b], says))
        return;
    for (int i = 0; i < p->units; i++) {
        const float na = p->count[i] + (lost_a > 0 ? p->lost[i] : 0);
        const float nb = q->count[i] + (lost_b > 0 ? q->lost[i] : 0);
        const float n = fminf(na, nb) * says[i];

        if (!(n > 0) || fminf(na, nb) < 3 || na < p->lost[i] || nb < q->lost[i])
            continue;
        const double ea = (double)((p->error[i] + lost_a * p->lost[i]) / na);
        const double d = (double)((q->error[i] + lost_b * q->lost[i]) / nb) - ea;

        sum += (double)n * d;
        squares += (double)(n * n) * d * d;
        mixed += (double)(n * n) * d;
        base += (double)n * ea;
        weight += (double)n;
        weights += (double)(n * n);
    }
    // A dozen blocks at least, of equal weight.
    if (!(weight * weight > 12 * weights))
        return;
    const double mean = sum / weight;
    const double variance = squares - 2 * mean * mixed + mean * mean * weights;

    *z = mean * weight / sqrt(fmax(variance, 1e-12 * weights));
    *loss = mean / fmax(base / weight, 1e-6);
}

bool probe_told_apart(double z, double loss)
{
    return (z > Z_TOLD_APART && loss > LOSS_TOLD_APART) || (z > Z_LARGE && loss > LOSS_LARGE);
}

/** Sums of Gauss-Newton's equations for the shift at (dx, dy). */
struct normal {
    double xx, xy, yy, xr, yr, squares, weight;
};

static void add_point(const struct probe_search *s, int there, const float *wanted, float x,
                      float y, struct normal *n)
{
    const float *other = s->clip->frames[there].features;
    const int w = s->clip->w, h = s->clip->h, count = s->clip->features;
    float at[PROBE_FEATURES], left[PROBE_FEATURES], right[PROBE_FEATURES], up[PROBE_FEATURES],
        down[PROBE_FEATURES];

    if (!probe_sample(other, count, w, h, x, y, at) ||
        !probe_sample(other, count, w, h, x - 0.5f, y, left) ||
        !probe_sample(other, count, w, h, x + 0.5f, y, right) ||
        !probe_sample(other, count, w, h, x, y - 0.5f, up) ||
        !probe_sample(other, count, w, h, x, y + 0.5f, down))
        return;
    for (int c = 0; c < count; c++) {
        const double r = (double)(at[c] - wanted[c]);
        const double gx = (double)(right[c] - left[c]), gy = (double)(down[c] - up[c]);
        const double weight = 0.02 / fmax(fabs(r), 0.02);

        n->xx += weight * gx * gx;
        n->xy += weight * gx * gy;
        n->yy += weight * gy * gy;
        n->xr += weight * gx * r;
        n->yr += weight * gy * r;
        n->squares += weight * r * r;
        n->weight += weight;
    }
}

bool probe_register(const struct probe_search *s, const struct probe_candidate *c, int pair,
                    double shift[2], double *error)
{
    const struct probe_clip *clip = s->clip;
    int here, there;

    frames_of(c, pair, &here, &there);
    const struct probe_frame *f = &clip->frames[here];

    shift[0] = shift[1] = 0;
    for (int round = 0; round < 8; round++) {
        struct normal n = {0};

        for (int i = 0; i < s->points[here].count; i++) {
            const int at = s->points[here].at[i];
            float v[2] = {0, 0};

            if (!c->still && f->leading &&
                !probe_vector(&c->motion, c->scale, f->leading + 2 * (size_t)at, v))
                continue;
            add_point(s, there, f->features + clip->features * (size_t)at,
                      (float)(at % clip->w) + v[0] + (float)shift[0],
                      (float)(at / clip->w) + v[1] + (float)shift[1], &n);
        }
        const double det = n.xx * n.yy - n.xy * n.xy;

        if (n.weight < 150 || !(det > 1e-4 * (n.xx + n.yy) * (n.xx + n.yy)))
            return false;
        shift[0] -= (n.yy * n.xr - n.xy * n.yr) / det;
        shift[1] -= (n.xx * n.yr - n.xy * n.xr) / det;
        if (!(fabs(shift[0]) < 3 && fabs(shift[1]) < 3))
            return false;
        // Neighbours share their errors: a third of the samples count.
        *error = sqrt(9 * n.squares / n.weight * (n.xx + n.yy) / det);
    }
    // Vectors to the next frame lead from the earlier frame on.
    if (here < there) {
        shift[0] = -shift[0];
        shift[1] = -shift[1];
    }
    return true;
}
