// SPDX-License-Identifier: MIT
// Which meaning of the vectors explains the pictures best, and what it is told apart from.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe_score.h"

/** Vectors that differ by less, in pixels, mean the same. */
#define SAME_PX 0.05
/** A reading that is not usual has to be so much better than those that are. */
#define LOSS_UNUSUAL 0.15
/** Readings that are not told apart may differ by so much. */
#define DOUBT_PX 0.2
#define DOUBT_SHARE 0.4
/** Candidates that are better than the best by chance only are not preferred. */
#define Z_BETTER 2.0

static bool same_meaning(const struct probe_candidate *a, const struct probe_candidate *b)
{
    const struct hsio_motion_convention *p = &a->motion, *q = &b->motion;

    return a->still == b->still && p->direction == q->direction && p->swap == q->swap &&
           p->jittered == q->jittered && p->bias_x == q->bias_x && p->bias_y == q->bias_y &&
           fabsf(a->scale[0] - b->scale[0]) <= 1e-4f * fabsf(a->scale[0]) &&
           fabsf(a->scale[1] - b->scale[1]) <= 1e-4f * fabsf(a->scale[1]);
}

/** Index of the candidate, which may have been there already. Errors: negative. */
static int add(struct probe_search *s, const struct hsio_motion_convention *motion, bool still)
{
    const struct probe_clip *clip = s->clip;
    struct probe_candidate *c = &s->candidates[s->count];

    if (s->count == PROBE_CANDIDATES)
        return HS_ERR_INTERNAL;
    *c = (struct probe_candidate){.motion = *motion, .still = still};
    c->motion.resolution = clip->motion_width == clip->width && clip->motion_height == clip->height
                               ? motion->resolution
                               : HSIO_RESOLUTION_DISPLAY;
    hsio_motion_scale(&c->motion, clip->width, clip->height, clip->motion_width,
                      clip->motion_height, c->scale);
    for (int i = 0; i < s->count; i++) {
        if (same_meaning(&s->candidates[i], c))
            return i;
    }
    const int err = probe_score(s, s->count);

    return err < 0 ? err : s->count++;
}

/** Stored values that lie around the middle of 0 to 1 hint at a bias. */
static bool may_be_centred(const struct probe_clip *clip)
{
    size_t near[2] = {0, 0}, count = 0;

    for (int t = 0; t < clip->count; t++) {
        const float *m = clip->frames[t].motion;

        for (size_t i = 0; m && i < (size_t)clip->w * (size_t)clip->h; i++) {
            if ((m[2 * i] == 0 && m[2 * i + 1] == 0) || !isfinite(m[2 * i]) ||
                !isfinite(m[2 * i + 1]))
                continue;
            count++;
            near[0] += fabsf(m[2 * i] - 0.5f) < 0.3f;
            near[1] += fabsf(m[2 * i + 1] - 0.5f) < 0.3f;
        }
    }
    return count && (double)near[0] > 0.6 * (double)count && (double)near[1] > 0.6 * (double)count;
}

/** All directions, axes, signs and usual units with one bias. */
static int add_all(struct probe_search *s, float bias)
{
    static const struct {
        enum hsio_unit unit;
        float scale;
    } units[] = {{HSIO_UNIT_PX, 1}, {HSIO_UNIT_UV, 1}, {HSIO_UNIT_NDC, 1}, {HSIO_UNIT_UV, 2}};
    // Twice the whole side is what values around 0.5 hold that reach from -1 to 1 without a bias.
    const int count = bias != 0 ? 4 : 3;
    int err = 0;

    for (int i = 0; i < count; i++) {
        for (int k = 0; err >= 0 && k < 16; k++) {
            const struct hsio_motion_convention m = {
                .direction = k & 8 ? HSIO_DIRECTION_NEXT : HSIO_DIRECTION_PREV,
                .unit = units[i].unit,
                .swap = k & 4,
                .sign_x = k & 1 ? -1 : 1,
                .sign_y = k & 2 ? -1 : 1,
                .scale_x = units[i].scale,
                .scale_y = units[i].scale,
                .bias_x = bias,
                .bias_y = bias,
            };

            err = add(s, &m, false);
        }
    }
    return err < 0 ? err : 0;
}

static int add_presets(struct probe_search *s, bool centred)
{
    int err = 0;

    for (int i = 0; err >= 0 && i < hsio_preset_count(); i++) {
        struct hsio_convention conv;

        err = hsio_convention_preset(&conv, hsio_preset_name(i), NULL);
        if (!err && (conv.motion.bias_x != 0) == centred)
            err = add(s, &conv.motion, false);
    }
    return err < 0 ? err : 0;
}

static int lowest(const struct probe_search *s)
{
    int best = 0;

    for (int i = 1; i < s->count; i++) {
        if (s->candidates[i].error < s->candidates[best].error)
            best = i;
    }
    return best;
}

/** The one that no other beats in a fair comparison, on pixels that both keep in the picture. */
static int find_best(const struct probe_search *s)
{
    int best = lowest(s);

    for (int i = 0; i < s->count; i++) {
        double z, loss;

        probe_versus(s, i, best, &z, &loss);
        if (i != best && probe_told_apart(z, loss) && s->candidates[i].lost < 0.6)
            best = i;
    }
    return best;
}

static void compare_all(struct probe_search *s, int best)
{
    for (int i = 0; i < s->count; i++) {
        struct probe_candidate *c = &s->candidates[i];

        probe_versus(s, best, i, &c->z, &c->loss);
        c->rival = i == best || !probe_told_apart(c->z, c->loss);
        // Vectors that leave the picture can not be compared: they are no rivals.
        if (i != best && c->lost > 0.6 && s->candidates[best].lost < 0.4)
            c->rival = false;
    }
}

static float sign_of(float v, enum hsio_direction direction)
{
    return (v < 0) != (direction == HSIO_DIRECTION_NEXT) ? -1 : 1;
}

static bool same_sign(const struct probe_candidate *a, const struct probe_candidate *b, int axis)
{
    return sign_of(a->scale[axis], a->motion.direction) ==
           sign_of(b->scale[axis], b->motion.direction);
}

/** Whether it means the best one's vectors, as far as these frames tell. */
static bool is_as_good(const struct probe_search *s, int i, int best)
{
    const struct probe_candidate *c = &s->candidates[i];

    if (i == best || !c->rival || c->still || c->part)
        return i == best;
    return i == 0 || ((c->z < Z_BETTER || c->loss < 0.005) &&
                      probe_distance(s, c, &s->candidates[best]) < SAME_PX);
}

/** Of those that are as good, the declared one; else, where an axis does not tell, one with the
 * declared sign; and of these the one that was added first, which is the most usual one. */
static int prefer_usual(const struct probe_search *s, int best)
{
    const struct probe_candidate *declared = &s->candidates[0];
    int chosen = best, most = -1;

    for (int i = 0; i < s->count; i++) {
        const struct probe_candidate *c = &s->candidates[i];

        if (!is_as_good(s, i, best))
            continue;
        if (i == 0)
            return 0;
        const int agreed = same_sign(c, declared, 0) + same_sign(c, declared, 1);
        if (agreed > most) {
            most = agreed;
            chosen = i;
        }
    }
    return chosen;
}

static void find_knowledge(const struct probe_search *s, int best, struct probe_motion *m)
{
    const struct probe_candidate *b = &s->candidates[best];

    m->knows_x = m->knows_y = m->knows_swap = m->knows_scale = m->knows_direction = true;
    for (int i = 0; i < s->count; i++) {
        const struct probe_candidate *c = &s->candidates[i];
        const enum hsio_direction d = c->motion.direction, e = b->motion.direction;

        if (!c->rival || c->still || c->part)
            continue;
        if (sign_of(c->scale[0], d) != sign_of(b->scale[0], e))
            m->knows_x = false;
        if (sign_of(c->scale[1], d) != sign_of(b->scale[1], e))
            m->knows_y = false;
        if (c->motion.swap != b->motion.swap)
            m->knows_swap = false;
        if (fabsf(fabsf(c->scale[0] / b->scale[0]) - 1) > 0.01f ||
            fabsf(fabsf(c->scale[1] / b->scale[1]) - 1) > 0.01f)
            m->knows_scale = false;
        if (d != e)
            m->knows_direction = false;
    }
}

/** What else the vectors might mean: the best of those that are told apart. */
static void find_second(const struct probe_search *s, struct probe_motion *m)
{
    for (int i = 0; i < s->count; i++) {
        const struct probe_candidate *c = &s->candidates[i];

        if (c->rival || c->still || c->part || (m->has_second && c->loss >= m->second.loss))
            continue;
        m->has_second = true;
        m->second = *c;
    }
}

static double mean_length(const struct probe_search *s, const struct probe_candidate *c)
{
    const struct probe_candidate still = {.still = true};

    return probe_distance(s, c, &still);
}

/** How far the vectors of those that are not told apart lie from the chosen one's, pixels. */
static double find_doubt(const struct probe_search *s, int chosen)
{
    double most = 0;

    for (int i = 0; i < s->count; i++) {
        if (s->candidates[i].rival && !s->candidates[i].part && i != chosen)
            most = fmax(most, probe_distance(s, &s->candidates[i], &s->candidates[chosen]));
    }
    return most;
}

/** Adds an unusual reading near the best one. Gives its index. */
static int add_unusual(struct probe_search *s, const struct hsio_motion_convention *m, int best)
{
    const int index = add(s, m, false);

    if (index >= 0 && index != best)
        s->candidates[index].part = true;
    return index;
}

/** Whether it is so much better that it takes the best one's place. */
static bool is_far_better(const struct probe_search *s, int index, int best)
{
    double z, loss;

    probe_versus(s, index, best, &z, &loss);
    return index != best && probe_told_apart(z, loss) && loss > LOSS_UNUSUAL &&
           s->candidates[index].error < s->candidates[best].error;
}

/**
 * Vectors may be a fixed part of a frame's motion: shutters, other frame rates. And the unit may be
 * the width, or half of it, on both axes.
 */
static int find_unusual(struct probe_search *s, int *best, double *factor)
{
    static const float factors[] = {0.25f, 1 / 3.f, 0.5f, 2 / 3.f, 0.8f, 1.25f, 1.5f, 2, 3, 4};
    struct hsio_motion_convention m = s->candidates[*best].motion;
    int chosen = *best, index = *best;

    if (m.unit != HSIO_UNIT_PX) {
        m.scale_y *= (float)s->clip->width / (float)s->clip->height;
        index = add_unusual(s, &m, *best);
        if (index >= 0 && is_far_better(s, index, *best))
            *best = chosen = index;
    }
    *factor = 1;
    for (int i = 0; index >= 0 && i < (int)(sizeof(factors) / sizeof(factors[0])); i++) {
        m = s->candidates[*best].motion;
        m.scale_x *= factors[i];
        m.scale_y *= factors[i];
        index = add_unusual(s, &m, *best);
        if (index >= 0 && s->candidates[index].error < s->candidates[chosen].error) {
            chosen = index;
            *factor = (double)factors[i];
        }
    }
    if (index < 0)
        return index;
    if (is_far_better(s, chosen, *best))
        *best = chosen;
    else
        *factor = 1;
    return 0;
}

int probe_motion_search(struct probe_search *s, struct probe_motion *m)
{
    const struct hsio_motion_convention none = {0};
    const bool centred = may_be_centred(s->clip);
    int err = add(s, &s->clip->convention->motion, false), still, best, chosen;

    // As declared goes first, then those that are there by name: ties are theirs.
    if (err >= 0)
        err = still = add(s, &none, true);
    if (err >= 0)
        err = add_presets(s, centred);
    if (err >= 0)
        err = add_all(s, centred ? 0.5f : 0);
    if (err < 0)
        return err;
    best = find_best(s);
    if (s->candidates[best].still) {
        m->best = m->declared = s->candidates[0];
        m->still = s->candidates[still];
        compare_all(s, best);
        m->declared = s->candidates[0];
        m->verdict = PROBE_UNSURE;
        return 0;
    }
    err = find_unusual(s, &best, &m->factor);
    if (err < 0)
        return err;
    compare_all(s, best);
    chosen = prefer_usual(s, best);
    find_knowledge(s, best, m);
    find_second(s, m);
    m->best = s->candidates[chosen];
    m->declared = s->candidates[0];
    m->still = s->candidates[still];
    m->magnitude = mean_length(s, &m->best);
    m->doubt = find_doubt(s, chosen);
    m->verdict = m->doubt > fmax(DOUBT_PX, DOUBT_SHARE * m->magnitude) ? PROBE_UNSURE
                 : m->still.rival                                      ? PROBE_UNSURE
                 : m->declared.rival                                   ? PROBE_FITS
                 : probe_is_small(s->clip)                             ? PROBE_UNSURE
                                                                       : PROBE_WRONG;
    return 0;
}
