// SPDX-License-Identifier: MIT
// Vectors that lead out of any picture: their scale can not be meant.
#include <math.h>
#include <stdlib.h>

#include "probe.h"

#define SAMPLES 20000
/** A share of vectors that lead out of the picture, from which on they can not be meant. */
#define TOO_MANY 0.5
/** The same, up to which a reading may be meant. */
#define FEW 0.05
/** Fewer vectors tell nothing. */
#define LEAST 64

struct sample {
    float stored[2];
};

static int take_samples(const struct probe_clip *clip, struct sample *samples)
{
    const size_t pixels = (size_t)clip->w * (size_t)clip->h;
    const size_t step = pixels * (size_t)clip->count / SAMPLES + 1;
    int count = 0;

    for (int t = 0; t < clip->count; t++) {
        const float *motion = clip->frames[t].motion;

        for (size_t i = 0; motion && i < pixels && count < SAMPLES; i += step) {
            const float *m = motion + 2 * i;

            // Where nothing moves or nobody wrote, every scale is the same.
            if (isfinite(m[0]) && isfinite(m[1]) && (m[0] != 0 || m[1] != 0))
                samples[count++] = (struct sample){{m[0], m[1]}};
        }
    }
    return count;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/** Share of the vectors that lead out of the picture, and their median length in pixels. */
static double read_as(const struct probe_clip *clip, const struct hsio_motion_convention *motion,
                      const struct sample *samples, int count, double *lengths, double *median)
{
    float scale[2], v[2];
    int out = 0;

    hsio_motion_scale(motion, clip->width, clip->height, clip->motion_width, clip->motion_height,
                      scale);
    for (int i = 0; i < count; i++) {
        probe_vector(motion, scale, samples[i].stored, v);
        out += !(fabsf(v[0]) <= (float)clip->width && fabsf(v[1]) <= (float)clip->height);
        lengths[i] = hypot((double)v[0], (double)v[1]);
    }
    qsort(lengths, (size_t)count, sizeof(*lengths), compare_doubles);
    *median = lengths[count / 2];
    return (double)out / count;
}

int probe_scale_find(const struct probe_clip *clip, struct probe_scale *scale)
{
    const struct hsio_motion_convention *declared = &clip->convention->motion;
    struct sample *samples = malloc(SAMPLES * sizeof(*samples));
    double *lengths = malloc(SAMPLES * sizeof(*lengths));
    int count = 0;

    *scale = (struct probe_scale){0};
    if (samples && lengths)
        count = take_samples(clip, samples);
    if (count >= LEAST) {
        struct hsio_motion_convention px = *declared;

        scale->too_long =
            read_as(clip, declared, samples, count, lengths, &scale->length_px) > TOO_MANY;
        px.unit = HSIO_UNIT_PX;
        px.scale_x = declared->scale_x < 0 ? -1 : 1;
        px.scale_y = declared->scale_y < 0 ? -1 : 1;
        px.bias_x = px.bias_y = 0;
        scale->fits_as_pixels =
            read_as(clip, &px, samples, count, lengths, &scale->as_pixels_px) <= FEW;
        scale->pixels = px;
        scale->most = fmax(clip->width, clip->height) / scale->length_px;
    }
    free(samples);
    free(lengths);
    return samples && lengths ? 0 : HS_ERR_NOMEM;
}
