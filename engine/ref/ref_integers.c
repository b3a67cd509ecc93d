// SPDX-License-Identifier: MIT
// Reference of taau-int8: the layers in integers, and the cells that its tokens consist of. Planes
// of floats hold the integers, all of which they hold exactly.
#include "ref_integers.h"

#include <stdlib.h>

#include "network.h"

void hs_ref_round_features(const float *multipliers, struct hs_ref_plane *features)
{
    const size_t pixels = (size_t)features->width * (size_t)features->height;
    const int channels = features->channels;
    for (size_t i = 0; i < pixels * (size_t)channels; i++) {
        // Each rounded by itself.
        const float product = features->texels[i] * multipliers[i % (size_t)channels];
        const float sum = product + 0.5f;
        features->texels[i] = hs_ref_clamp(floorf(sum), -HS_INTEGER_LIMIT, HS_INTEGER_LIMIT);
    }
}

/** Weights [rows, columns, inputs, outputs]: outputs of one input lie side by side. */
static int32_t *unpack(const struct hs_layer *l)
{
    const size_t taps = (size_t)l->size * l->size;
    int32_t *w = calloc(taps * l->inputs * l->outputs, sizeof(*w));
    for (size_t o = 0; w && o < l->outputs; o++) {
        for (size_t i = 0; i < l->inputs; i++) {
            for (size_t t = 0; t < taps; t++)
                w[(t * l->inputs + i) * l->outputs + o] =
                    l->integers.weight[(o * l->inputs + i) * taps + t];
        }
    }
    return w;
}

static void convolve(const struct hs_layer *l, const int32_t *weights,
                     const struct hs_ref_plane *in, int x, int y, int32_t *sums, float *to)
{
    const int size = (int)l->size, before = (size - 1) / 2, stride = (int)l->stride;
    memcpy(sums, l->integers.bias, l->outputs * sizeof(*sums));
    for (int t = 0; t < size * size; t++) {
        const int sx = x * stride + t % size - before, sy = y * stride + t / size - before;
        if (sx < 0 || sy < 0 || sx >= in->width || sy >= in->height)
            continue;
        const float *texel = hs_ref_texel(in, sx, sy);
        const int32_t *row = weights + (size_t)t * l->inputs * l->outputs;
        for (uint32_t i = 0; i < l->inputs; i++, row += l->outputs) {
            const int32_t value = (int32_t)texel[i];
            for (uint32_t o = 0; o < l->outputs; o++)
                sums[o] += row[o] * value;
        }
    }
    for (uint32_t o = 0; o < l->outputs; o++)
        to[o] = (float)sums[o];
}

/** Half of the last place is added before the shift, which rounds down. */
static int32_t scaled_down(const struct hs_integers *n, uint32_t output, float sum)
{
    const int32_t shift = n->shift[output], half = 1 << (shift - 1);
    const int32_t value = (int32_t)sum * n->multiplier[output] + half;
    return value < 0 ? -((-1 - value) >> shift) - 1 : value >> shift;
}

/** Scales, pixels of up, then add and limits. The head's sums become floats. */
static void finish(const struct hs_layer *l, const struct hs_ref_plane *sum,
                   const struct hs_ref_plane *add, struct hs_ref_plane *result)
{
    const bool up = l->kind == HS_LAYER_UP;
    const float low = l->relu ? 0 : -HS_INTEGER_LIMIT;
    for (int y = 0; y < result->height; y++) {
        for (int x = 0; x < result->width; x++) {
            const float *from = hs_ref_texel(sum, up ? x / 2 : x, up ? y / 2 : y);
            const float *plus = add ? hs_ref_texel(add, x, y) : NULL;
            float *to = hs_ref_pixel(result, x, y);
            for (int c = 0; c < result->channels; c++) {
                const int own = up ? 4 * c + x % 2 + 2 * (y % 2) : c;
                if (l->integers.scale) {
                    to[c] = from[own] * l->integers.scale[own];
                    continue;
                }
                const float value = (float)scaled_down(&l->integers, (uint32_t)own, from[own]) +
                                    (plus ? plus[c] : 0);
                to[c] = hs_ref_clamp(value, low, HS_INTEGER_LIMIT);
            }
        }
    }
}

int hs_ref_integers_run(const struct hs_layer *layer, const struct hs_ref_plane *in,
                        const struct hs_ref_plane *add, struct hs_ref_layer *out)
{
    int32_t *weights = unpack(layer);
    int32_t *sums = calloc(layer->outputs, sizeof(*sums));
    const bool made = weights && sums;
    for (int y = 0; made && y < out->sum.height; y++) {
        for (int x = 0; x < out->sum.width; x++)
            convolve(layer, weights, in, x, y, sums, hs_ref_pixel(&out->sum, x, y));
    }
    if (made)
        finish(layer, &out->sum, add, &out->result);
    free(weights);
    free(sums);
    return made ? 0 : HS_ERR_NOMEM;
}

/** Moved history at cells: of the output pixel in which a cell's centre lies. */
static void to_cells(const struct hs_frame_params *p, const struct hs_ref_plane *from,
                     struct hs_ref_plane *cells)
{
    for (int y = 0; y < cells->height; y++) {
        for (int x = 0; x < cells->width; x++)
            memcpy(hs_ref_pixel(cells, x, y),
                   hs_ref_texel(from, (2 * x + 1) * p->size.z / (4 * p->size.x),
                                (2 * y + 1) * p->size.w / (4 * p->size.y)),
                   (size_t)cells->channels * sizeof(float));
    }
}

int hs_ref_cell_features(const struct hs_frame_params *p, const struct hs_ref_plane *motion,
                         const struct hs_ref_prepared *prep, const struct hs_ref_history *reproj,
                         struct hs_ref_plane *features)
{
    const int w = 2 * p->size.x, h = 2 * p->size.y;
    struct hs_ref_history moved = {hs_ref_plane_make(w, h, 4), hs_ref_plane_make(w, h, 2)};
    const bool made = moved.colour.texels && moved.aux.texels;
    struct hs_frame_params cells = *p;
    cells.size.z = w;
    cells.size.w = h;
    cells.scale = (struct hs_vec4){0.5f, 0.5f, 2, 2};
    cells.prev_size.z |= HS_REF_FRAME_CELLS;
    if (made) {
        to_cells(p, &reproj->colour, &moved.colour);
        to_cells(p, &reproj->aux, &moved.aux);
        hs_ref_features(&cells, motion, prep, &moved, NULL, features);
        for (int i = 0; i < features->width * features->height; i++) {
            float *ratio = features->texels + (size_t)(i + 1) * HS_FEATURES - 2;
            ratio[0] = p->scale.x;
            ratio[1] = p->scale.y;
        }
    }
    hs_ref_plane_finish(&moved.colour);
    hs_ref_plane_finish(&moved.aux);
    return made ? 0 : HS_ERR_NOMEM;
}

int hs_ref_spread_head(const struct hs_frame_params *p, const struct hs_ref_plane *head,
                       struct hs_ref_plane *spread)
{
    const int w = p->size.z, h = p->size.w;
    hs_ref_plane_finish(spread);
    *spread = hs_ref_plane_make((w + 1) / 2, (h + 1) / 2, HS_HEAD_OUTPUTS);
    if (!spread->texels)
        return HS_ERR_NOMEM;
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            const int cx = (2 * x + 1) * p->size.x / w, cy = (2 * y + 1) * p->size.y / h;
            const float *from = hs_ref_texel(head, cx / 2, cy / 2);
            float *to = hs_ref_pixel(spread, x / 2, y / 2);
            for (int c = 0; c < HS_SHORT_HEAD; c++) {
                const int full = c < HS_HEAD_LOGITS ? c : c + HS_HEAD_MIX - HS_HEAD_LOGITS;
                to[4 * full + x % 2 + 2 * (y % 2)] = from[4 * c + cx % 2 + 2 * (cy % 2)];
            }
        }
    }
    return 0;
}
