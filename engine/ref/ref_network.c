// SPDX-License-Identifier: MIT
// Reference of the network: convolutions in single precision, one after the other.
#include <stdlib.h>

#include "ref_integers.h"

static float half_value(uint16_t h)
{
    const float sign = h & 0x8000 ? -1.0f : 1.0f;
    const int exponent = h >> 10 & 31, fraction = h & 0x3ff;
    if (exponent == 0)
        return sign * ldexpf((float)fraction, -24);
    return sign * ldexpf((float)(fraction + 1024), exponent - 25);
}

/** Weights as floats, [rows, columns, inputs, outputs]: outputs of one input lie side by side. */
static float *unpack(const struct hs_layer *l)
{
    const size_t taps = (size_t)l->size * l->size;
    float *w = calloc(taps * l->inputs * l->outputs, sizeof(*w));
    for (size_t o = 0; w && o < l->outputs; o++) {
        for (size_t i = 0; i < l->inputs; i++) {
            for (size_t t = 0; t < taps; t++)
                w[(t * l->inputs + i) * l->outputs + o] =
                    half_value(l->weight[(o * l->inputs + i) * taps + t]);
        }
    }
    return w;
}

static void convolve_pixel(const struct hs_layer *l, const float *weights,
                           const struct hs_ref_plane *in, int x, int y, float *sum)
{
    const int size = (int)l->size, before = (size - 1) / 2, stride = (int)l->stride;
    memcpy(sum, l->bias, l->outputs * sizeof(*sum));
    for (int t = 0; t < size * size; t++) {
        const int sx = x * stride + t % size - before, sy = y * stride + t / size - before;
        if (sx < 0 || sy < 0 || sx >= in->width || sy >= in->height)
            continue;
        const float *texel = hs_ref_texel(in, sx, sy);
        const float *row = weights + (size_t)t * l->inputs * l->outputs;
        for (uint32_t i = 0; i < l->inputs; i++, row += l->outputs) {
            for (uint32_t o = 0; o < l->outputs; o++)
                sum[o] += row[o] * texel[i];
        }
    }
}

static void convolve(const struct hs_layer *l, const float *weights, const struct hs_ref_plane *in,
                     struct hs_ref_plane *sum)
{
    for (int y = 0; y < sum->height; y++) {
        for (int x = 0; x < sum->width; x++)
            convolve_pixel(l, weights, in, x, y, hs_ref_pixel(sum, x, y));
    }
}

/** Pixels of up, then add, then ReLU. `add` may be NULL. */
static void finish_layer(const struct hs_layer *l, const struct hs_ref_plane *sum,
                         const struct hs_ref_plane *add, struct hs_ref_plane *result)
{
    const bool up = l->kind == HS_LAYER_UP;
    for (int y = 0; y < result->height; y++) {
        for (int x = 0; x < result->width; x++) {
            const float *from = hs_ref_texel(sum, up ? x / 2 : x, up ? y / 2 : y);
            const float *plus = add ? hs_ref_texel(add, x, y) : NULL;
            float *to = hs_ref_pixel(result, x, y);
            for (int c = 0; c < result->channels; c++) {
                to[c] = up ? from[4 * c + x % 2 + 2 * (y % 2)] : from[c];
                if (plus)
                    to[c] += plus[c];
                if (l->relu)
                    to[c] = fmaxf(to[c], 0);
            }
        }
    }
}

int hs_ref_layer_run(const struct hs_layer *l, const struct hs_ref_plane *in,
                     const struct hs_ref_plane *add, struct hs_ref_layer *out)
{
    const int stride = (int)l->stride, w = in->width / stride, h = in->height / stride;
    const bool up = l->kind == HS_LAYER_UP;
    const bool integers = l->integers.weight;
    float *weights = integers ? NULL : unpack(l);
    out->sum = hs_ref_plane_make(w, h, (int)l->outputs);
    out->result = hs_ref_plane_make(up ? 2 * w : w, up ? 2 * h : h, (int)l->outputs / (up ? 4 : 1));
    const bool made = (integers || weights) && out->sum.texels && out->result.texels;
    int err = made ? 0 : HS_ERR_NOMEM;
    if (made && integers) {
        err = hs_ref_integers_run(l, in, add, out);
    } else if (made) {
        convolve(l, weights, in, &out->sum);
        finish_layer(l, &out->sum, add, &out->result);
    }
    free(weights);
    return err;
}

void hs_ref_layer_finish(struct hs_ref_layer *layer)
{
    hs_ref_plane_finish(&layer->sum);
    hs_ref_plane_finish(&layer->result);
}

static bool fill_up(const struct hs_ref_plane *features, struct hs_ref_plane *filled)
{
    const int w = (features->width + 3) / 4 * 4, h = (features->height + 3) / 4 * 4;
    *filled = hs_ref_plane_make(w, h, features->channels);
    for (int y = 0; filled->texels && y < h; y++) {
        for (int x = 0; x < w; x++)
            memcpy(hs_ref_pixel(filled, x, y), hs_ref_texel(features, x, y),
                   (size_t)features->channels * sizeof(float));
    }
    return filled->texels != NULL;
}

int hs_ref_network_run(const struct hs_weights *weights, const struct hs_ref_plane *features,
                       struct hs_ref_network *network)
{
    struct hs_ref_network n = {0};
    const struct hs_ref_plane *last[HS_WEIGHTS_LEVELS] = {NULL}, *before = NULL, *in;
    int err = fill_up(features, &n.features) ? 0 : HS_ERR_NOMEM;
    in = &n.features;
    if (!err && weights->architecture == HS_ARCHITECTURE_INT8)
        hs_ref_round_features(weights->feature_multipliers, &n.features);
    for (uint32_t i = 0; !err && i < weights->layer_count; i++) {
        const struct hs_layer *l = &weights->layers[i];
        const struct hs_ref_plane *add = NULL;
        if (l->add == HS_ADD_BLOCK)
            add = before;
        else if (l->add != HS_ADD_NONE)
            add = last[l->add - HS_ADD_LEVEL0];
        // What the way down leaves behind; up comes after it.
        if (l->kind == HS_LAYER_DOWN)
            last[l->level - 1] = in;
        err = hs_ref_layer_run(l, in, add, &n.layers[n.layer_count++]);
        before = in;
        in = &n.layers[i].result;
    }
    if (err)
        hs_ref_network_finish(&n);
    else
        *network = n;
    return err;
}

void hs_ref_network_finish(struct hs_ref_network *network)
{
    hs_ref_plane_finish(&network->features);
    for (uint32_t i = 0; i < network->layer_count; i++)
        hs_ref_layer_finish(&network->layers[i]);
    network->layer_count = 0;
}
