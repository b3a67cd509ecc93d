// SPDX-License-Identifier: MIT
// Jitter: what shift is left between frames once the vectors are followed, and what explains it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe_score.h"

/** Shifts, root mean square in pixels, from which on jitter can be seen. */
#define VISIBLE_PX 0.1
/** What may be left under a reading that is right. */
#define LEFT_PX 0.2
#define HALTON_LEFT_PX 0.08
#define READINGS 10

/** A reading of the declared jitter. */
static const struct reading {
    float x, y;
    bool swap;
} readings[READINGS] = {
    {1, 1, false}, {0, 0, false},  {-1, -1, false}, {-1, 1, false}, {1, -1, false},
    {1, 1, true},  {-1, -1, true}, {-1, 1, true},   {1, -1, true},  {0.5f, 0.5f, false},
};
#define READING_NONE 1

static void read_jitter(const struct reading *r, const float declared[2], float out[2])
{
    out[0] = r->x * declared[r->swap];
    out[1] = r->y * declared[!r->swap];
}

/**
 * Root mean square of what a prediction leaves of the shifts. A shift that all pairs share comes
 * from vectors that are a little off; jitter goes to and fro.
 */
static double left_over(const struct probe_jitter *j, double predicted[PROBE_PAIRS][2])
{
    double sum[2] = {0, 0}, squares = 0;
    int count = 0;

    for (int p = 0; p < j->pairs; p++) {
        if (j->error[p] < 0)
            continue;
        for (int k = 0; k < 2; k++) {
            const double d = j->shift[p][k] - predicted[p][k];

            sum[k] += d;
            squares += d * d;
        }
        count++;
    }
    if (count >= 3)
        squares -= (sum[0] * sum[0] + sum[1] * sum[1]) / count;
    return count ? sqrt(fmax(squares, 0) / count) : 0;
}

static double left_by_reading(const struct probe_clip *clip, const struct probe_jitter *j,
                              const struct reading *r)
{
    double predicted[PROBE_PAIRS][2] = {{0}};

    for (int p = 0; p < j->pairs; p++) {
        float here[2], there[2];

        read_jitter(r, clip->frames[p + 1].jitter, here);
        read_jitter(r, clip->frames[p].jitter, there);
        for (int k = 0; k < 2; k++)
            predicted[p][k] = (double)(here[k] - there[k]);
    }
    return left_over(j, predicted);
}

static double declared_size(const struct probe_clip *clip)
{
    double sum = 0;

    for (int t = 1; t < clip->count; t++) {
        for (int k = 0; k < 2; k++) {
            const double d = (double)(clip->frames[t].jitter[k] - clip->frames[t - 1].jitter[k]);

            sum += d * d;
        }
    }
    return clip->count > 1 ? sqrt(sum / (clip->count - 1)) : 0;
}

static void measure(const struct probe_search *s, const struct probe_candidate *c,
                    struct probe_jitter *j)
{
    int good = 0;

    j->pairs = s->pairs;
    for (int p = 0; p < s->pairs; p++) {
        if (probe_register(s, c, p, j->shift[p], &j->error[p]))
            good++;
        else
            j->error[p] = -1;
    }
    j->measured = good >= 2 || (good && s->pairs == 1);
}

/** Whether the vectors' mean goes up and down with the jitter. */
static bool follows_jitter(const struct probe_search *s, const struct probe_candidate *c)
{
    double xx = 0, xy = 0, yy = 0;
    double mean[PROBE_PAIRS][2] = {0};

    for (int p = 0; p < s->pairs; p++) {
        const struct probe_points *points = &s->points[p + 1];
        int count = 0;

        for (int i = 0; s->clip->frames[p + 1].motion && i < points->count; i++) {
            float v[2];

            if (!probe_vector(&c->motion, c->scale,
                              s->clip->frames[p + 1].motion + 2 * (size_t)points->at[i], v))
                continue;
            mean[p][0] += (double)v[0];
            mean[p][1] += (double)v[1];
            count++;
        }
        for (int k = 0; k < 2; k++)
            mean[p][k] /= count ? count : 1;
    }
    // Changes from pair to pair: steady motion falls out.
    for (int p = 1; p < s->pairs; p++) {
        for (int k = 0; k < 2; k++) {
            const struct probe_frame *f = &s->clip->frames[p - 1];
            const double d = (double)(f[0].jitter[k] - 2 * f[1].jitter[k] + f[2].jitter[k]);
            const double m = mean[p][k] - mean[p - 1][k];

            xx += d * d;
            xy += d * m;
            yy += m * m;
        }
    }
    return xx > 0 && xy / xx > 0.7 && xy / xx < 1.3 && xy > 0.8 * sqrt(xx * yy);
}

static double radical_inverse(int i, int base)
{
    double f = 1, r = 0;

    for (; i > 0; i /= base) {
        f /= base;
        r += f * (i % base);
    }
    return r;
}

/** Halton (2, 3) minus one half, as most renderers have it. */
static void find_halton(struct probe_jitter *j)
{
    double best = HALTON_LEFT_PX;

    for (int length = 8; length <= 128; length *= 2) {
        for (int k = 0; k < 4 * length; k++) {
            const double sx = k & 1 ? -1 : 1, sy = k & 2 ? -1 : 1;
            double predicted[PROBE_PAIRS][2] = {{0}};

            for (int p = 0; p < j->pairs; p++) {
                const int a = (k / 4 + p) % length + 1, b = (k / 4 + p + 1) % length + 1;

                predicted[p][0] = sx * (radical_inverse(b, 2) - radical_inverse(a, 2));
                predicted[p][1] = sy * (radical_inverse(b, 3) - radical_inverse(a, 3));
            }
            const double rms = left_over(j, predicted);

            // Longer sequences begin like shorter ones.
            if (rms < 0.85 * best) {
                best = rms;
                j->phase = k / 4 + 1;
                j->halton_sign[0] = (float)sx;
                j->halton_sign[1] = (float)sy;
            }
        }
    }
}

/** `followed`: the shifts are what vectors leave; else a slow camera looks much like jitter. */
static void find_undeclared(const struct probe_search *s, bool followed, struct probe_jitter *j)
{
    double none[PROBE_PAIRS][2] = {{0}}, walk[2] = {0, 0}, farthest = 0, error = 0;
    int count = 0;

    for (int p = 0; p < s->pairs; p++) {
        if (j->error[p] < 0)
            continue;
        for (int k = 0; k < 2; k++) {
            walk[k] += j->shift[p][k];
            farthest = fmax(farthest, fabs(walk[k]));
        }
        error = fmax(error, j->error[p]);
        count++;
    }
    j->rms = left_over(j, none);
    // Jitter stays within a pixel; a motion that the vectors lack goes on and on.
    j->present = count >= 3 && j->rms > VISIBLE_PX && j->rms > 3 * error && farthest < 1.2;
    j->sure = count >= 3;
    j->fits = !j->present;
    if (j->present)
        find_halton(j);
    if (!followed && !j->phase) {
        j->present = j->sure = false;
        j->fits = true;
    }
}

static void find_declared(const struct probe_search *s, const struct probe_candidate *c,
                          struct probe_jitter *j)
{
    int best = 0, second = -1;
    double rms[READINGS];

    for (int i = 0; i < READINGS; i++) {
        rms[i] = left_by_reading(s->clip, j, &readings[i]);
        if (rms[i] < rms[best])
            best = i;
    }
    for (int i = 0; i < READINGS; i++) {
        if (i != best && (second < 0 || rms[i] < rms[second]))
            second = i;
    }
    j->rms = rms[best];
    j->second = rms[second];
    j->sure = j->measured && declared_size(s->clip) > VISIBLE_PX && j->rms < LEFT_PX &&
              j->rms < 0.5 * j->second;
    j->present = best != READING_NONE;
    j->sign[0] = readings[best].x;
    j->sign[1] = readings[best].y;
    j->swap = readings[best].swap;
    if (best == READING_NONE && s->pairs > 1)
        j->in_vectors = follows_jitter(s, c);
    j->fits = !j->sure || best == 0 || (j->in_vectors && s->clip->convention->motion.jittered);
}

static void find_jitter(const struct probe_search *s, const struct probe_motion *m,
                        struct probe_jitter *j)
{
    const struct probe_candidate still = {.still = true};
    const struct probe_candidate *c =
        m->verdict == PROBE_FITS || m->verdict == PROBE_WRONG ? &m->best : &still;

    *j = (struct probe_jitter){.sign = {1, 1}};
    for (int t = 0; t < s->clip->count; t++)
        j->declared = j->declared || s->clip->frames[t].has_jitter;
    j->declared = j->declared && declared_size(s->clip) > 0.01;
    measure(s, c, j);
    if (!j->measured)
        j->fits = true;
    else if (j->declared)
        find_declared(s, c, j);
    else
        find_undeclared(s, c != &still, j);
}

/** Puts a reading of the jitter into use. */
static void use_reading(struct probe_search *s, const struct reading *r)
{
    for (int t = 0; t < s->clip->count; t++)
        read_jitter(r, s->clip->frames[t].jitter, s->jitter[t]);
}

static int search_anew(struct probe_search *s, struct probe_motion *m)
{
    const double points = m->points;

    s->count = 0;
    *m = (struct probe_motion){.pairs = s->pairs, .factor = 1, .points = points};
    return probe_motion_search(s, m);
}

/** The reading under which vectors explain the pictures best. */
static int try_readings(struct probe_search *s, struct probe_motion *m)
{
    int best = 0, err = 0;
    double least = m->best.error;

    for (int i = 1; !err && i < READINGS; i++) {
        struct probe_motion other = *m;

        use_reading(s, &readings[i]);
        err = search_anew(s, &other);
        if (!err && other.best.error < 0.97 * least) {
            least = other.best.error;
            best = i;
        }
    }
    use_reading(s, &readings[best]);
    return err ? err : search_anew(s, m);
}

/** Shifts that were measured take the place of a jitter that nobody declared. */
static void use_shifts(struct probe_search *s, const struct probe_jitter *j)
{
    float at[2] = {0, 0};

    for (int p = 0; p < j->pairs; p++) {
        for (int k = 0; k < 2; k++) {
            at[k] += j->error[p] < 0 ? 0 : (float)j->shift[p][k];
            s->jitter[p + 1][k] = at[k];
        }
    }
}

/** Share of textured blocks that match another place clearly better than their own. */
static double moving_share(const struct probe_search *s)
{
    const struct probe_clip *clip = s->clip;
    const int side = 12, reach = 5, n = clip->features;
    int moving = 0, count = 0;

    for (int p = 0; p < s->pairs; p++) {
        const float *a = clip->frames[p + 1].features, *b = clip->frames[p].features;

        for (int y = reach; y + side + reach <= clip->h; y += side + clip->h / 128 * 4) {
            for (int x = reach; x + side + reach <= clip->w; x += side + clip->w / 128 * 4) {
                double own = 0, best = 1e9, spread = 0;

                for (int k = 0; k < (2 * reach + 1) * (2 * reach + 1); k++) {
                    const int dx = k % (2 * reach + 1) - reach, dy = k / (2 * reach + 1) - reach;
                    double sum = 0;

                    for (int i = 0; i < side * side; i++) {
                        const size_t at = (size_t)(y + i / side) * clip->w + x + i % side;
                        const size_t to = at + (size_t)((long)dy * clip->w + dx);

                        sum += (double)fabsf(a[n * at + 1] - b[n * to + 1]);
                    }
                    best = fmin(best, abs(dx) + abs(dy) > 1 ? sum : 1e9);
                    spread = fmax(spread, sum);
                    own = abs(dx) + abs(dy) > 1 ? own : own > 0 ? fmin(own, sum) : sum;
                }
                if (spread < 0.02 * side * side)
                    continue;
                count++;
                moving += best < 0.6 * own;
            }
        }
    }
    return count >= 8 ? (double)moving / count : 0;
}

static bool all_zero(const struct probe_clip *clip)
{
    for (int t = 0; t < clip->count; t++) {
        if (clip->frames[t].motion && !clip->frames[t].motion_stats.all_zero)
            return false;
    }
    return true;
}

static int find_both(struct probe_search *s, struct probe_motion *m, struct probe_jitter *j)
{
    int err = probe_motion_search(s, m);

    if (err < 0)
        return err;
    find_jitter(s, m, j);
    if (j->declared && (!j->fits || !j->sure || m->verdict == PROBE_UNSURE))
        err = try_readings(s, m);
    else if (!j->declared && j->present && m->verdict != PROBE_UNSURE) {
        use_shifts(s, j);
        err = search_anew(s, m);
    }
    if (!err)
        find_jitter(s, m, j);
    return err;
}

int probe_find(const struct probe_clip *clip, struct probe_motion *m, struct probe_jitter *j)
{
    struct probe_search *s = malloc(sizeof(*s));
    int err = s ? probe_search_open(clip, s) : HS_ERR_NOMEM;

    *m = (struct probe_motion){.pairs = clip->count - 1, .factor = 1};
    *j = (struct probe_jitter){.fits = true, .sign = {1, 1}};
    if (err < 0)
        goto done;
    for (int t = 1; t < clip->count; t++)
        m->points += (double)s->points[t].count / (clip->count - 1);
    if (clip->count < 2)
        goto done;
    if (clip->planes[HSIO_PLANE_MOTION] && !all_zero(clip)) {
        err = find_both(s, m, j);
        goto done;
    }
    find_jitter(s, m, j);
    m->moving = moving_share(s);
    if (clip->planes[HSIO_PLANE_MOTION])
        m->verdict = m->moving > 0.1 ? PROBE_ZERO : PROBE_UNSURE;
done:
    if (s)
        probe_search_close(s);
    free(s);
    return err;
}
