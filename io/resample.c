// SPDX-License-Identifier: MIT
/** Separable scaling of single channels that are carried over to an output file. */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Taps of one output position: `count` samples from `first` on (indices are clamped). */
struct taps {
    int first, count, nearest;
    const float *weights;
};

struct axis {
    int in, out, width; ///< `width`: most taps of a position.
    struct taps *taps;
    float *weights;
};

struct hsio_resampler {
    const uint8_t *src;
    enum hsio_type type;
    enum hsio_resample filter;
    float multiply;
    struct axis x, y;
    float *row; ///< One row of the input's width, already blended vertically.
};

static float cubic(float t)
{
    t = fabsf(t);
    if (t < 1)
        return 1 + t * t * (1.5f * t - 2.5f);
    return t < 2 ? 2 + t * (-4 + t * (2.5f - 0.5f * t)) : 0;
}

static int clamp(int v, int high)
{
    return v < 0 ? 0 : v > high ? high : v;
}

/* Share of input pixel i in the output pixel that covers a..b. */
static float overlap(int i, double a, double b)
{
    const double low = a > i ? a : i, high = b < i + 1 ? b : i + 1;

    return high > low ? (float)(high - low) : 0;
}

static void fill_taps(struct axis *axis, int i, double jitter, enum hsio_resample filter)
{
    const double ratio = (double)axis->in / axis->out;
    const double centre = (i + 0.5) * ratio - jitter;
    struct taps *t = &axis->taps[i];
    float *w = axis->weights + (size_t)i * (size_t)axis->width, sum = 0;

    t->nearest = clamp((int)floor(centre), axis->in - 1);
    t->weights = w;
    if (filter == HSIO_RESAMPLE_NEAREST) {
        t->first = t->nearest;
        t->count = 1;
        w[0] = 1;
        return;
    }
    if (ratio > 1) {
        t->first = (int)floor(i * ratio);
        t->count = axis->width;
        for (int k = 0; k < t->count; k++)
            w[k] = overlap(t->first + k, i * ratio, (i + 1) * ratio);
    } else {
        const double at = centre - 0.5;
        const float f = (float)(at - floor(at));

        t->count = filter == HSIO_RESAMPLE_LINEAR ? 2 : 4;
        t->first = (int)floor(at) - (t->count == 4);
        for (int k = 0; k < t->count; k++)
            w[k] = t->count == 2 ? (k ? f : 1 - f) : cubic((float)(k - 1) - f);
    }
    for (int k = 0; k < t->count; k++)
        sum += w[k];
    for (int k = 0; k < t->count; k++)
        w[k] /= sum;
}

static bool axis_create(struct axis *axis, int in, int out, double jitter,
                        enum hsio_resample filter)
{
    axis->in = in;
    axis->out = out;
    axis->width = in > out ? (int)ceil((double)in / out) + 1 : 4;
    axis->taps = calloc((size_t)out, sizeof(*axis->taps));
    axis->weights = calloc((size_t)out * (size_t)axis->width, sizeof(*axis->weights));
    for (int i = 0; axis->taps && axis->weights && i < out; i++)
        fill_taps(axis, i, jitter, filter);
    return axis->taps && axis->weights;
}

int hsio_resampler_create(struct hsio_resampler **out, const void *src, enum hsio_type type,
                          int width, int height, int out_width, int out_height,
                          const float jitter[2], enum hsio_resample filter, float multiply)
{
    struct hsio_resampler *r = calloc(1, sizeof(*r));

    if (!r)
        return HS_ERR_NOMEM;
    r->src = src;
    r->type = type;
    r->filter = filter;
    r->multiply = multiply == 0 ? 1 : multiply;
    r->row = malloc((size_t)width * sizeof(*r->row));
    if (!axis_create(&r->x, width, out_width, (double)jitter[0], filter) ||
        !axis_create(&r->y, height, out_height, (double)jitter[1], filter) || !r->row) {
        hsio_resampler_destroy(&r);
        return HS_ERR_NOMEM;
    }
    *out = r;
    return 0;
}

void hsio_resampler_destroy(struct hsio_resampler **r)
{
    if (!*r)
        return;
    free((*r)->x.taps);
    free((*r)->x.weights);
    free((*r)->y.taps);
    free((*r)->y.weights);
    free((*r)->row);
    free(*r);
    *r = NULL;
}

static float sample(const struct hsio_resampler *r, int x, int y)
{
    const size_t at = (size_t)y * (size_t)r->x.in + (size_t)x;
    uint16_t h;
    uint32_t u;
    float f;

    switch (r->type) {
    case HSIO_TYPE_HALF:
        memcpy(&h, r->src + at * 2, sizeof(h));
        return hsio_half_to_float(h);
    case HSIO_TYPE_UINT:
        memcpy(&u, r->src + at * 4, sizeof(u));
        return (float)u;
    default:
        memcpy(&f, r->src + at * 4, sizeof(f));
        return f;
    }
}

static void store(const struct hsio_resampler *r, void *dst, int x, float value)
{
    const struct hsio_lane lane = {.data = (const uint8_t *)&value, .type = HSIO_TYPE_FLOAT};

    hsio_pixels_emit((uint8_t *)dst + (size_t)x * hsio_type_bytes(r->type), r->type, 1, 1, &lane,
                     NULL);
}

/* Identifiers are bit patterns: copied, never computed with. */
static void copy_row(const struct hsio_resampler *r, int y, uint8_t *dst)
{
    const size_t bytes = hsio_type_bytes(r->type);
    const uint8_t *in = r->src + (size_t)r->y.taps[y].nearest * (size_t)r->x.in * bytes;

    for (int x = 0; x < r->x.out; x++)
        memcpy(dst + (size_t)x * bytes, in + (size_t)r->x.taps[x].nearest * bytes, bytes);
}

void hsio_resampler_row(struct hsio_resampler *r, int y, void *dst)
{
    const struct taps *v = &r->y.taps[y];

    if (r->filter == HSIO_RESAMPLE_NEAREST && r->multiply == 1) {
        copy_row(r, y, dst);
        return;
    }
    for (int x = 0; x < r->x.in; x++) {
        float sum = 0;

        for (int k = 0; k < v->count; k++) {
            if (v->weights[k] != 0)
                sum += v->weights[k] * sample(r, x, clamp(v->first + k, r->y.in - 1));
        }
        r->row[x] = sum;
    }
    for (int x = 0; x < r->x.out; x++) {
        const struct taps *h = &r->x.taps[x];
        float sum = 0;

        for (int k = 0; k < h->count; k++) {
            if (h->weights[k] != 0)
                sum += h->weights[k] * r->row[clamp(h->first + k, r->x.in - 1)];
        }
        // One bad sample must not spread over its neighbours.
        store(r, dst, x, r->multiply * (isfinite(sum) ? sum : sample(r, h->nearest, v->nearest)));
    }
}

enum hsio_resample hsio_resample_choose(const char *channel, enum hsio_type type)
{
    static const char *const exact[] = {"*depth*", "*vector*",   "*motion*", "*velocity*",
                                        "*speed*", "*crypto*",   "*index*",  "*position*",
                                        "*.z",     "z",          "*.id",     "id",
                                        "*.uv.*",  "*objectid*", "*.p.*",    "*.mask*"};

    if (type == HSIO_TYPE_UINT)
        return HSIO_RESAMPLE_NEAREST;
    // The Z of a normal is not a depth.
    if (hsio_match_glob("*normal*", channel))
        return HSIO_RESAMPLE_CUBIC;
    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
        if (hsio_match_glob(exact[i], channel))
            return HSIO_RESAMPLE_NEAREST;
    }
    return HSIO_RESAMPLE_CUBIC;
}
