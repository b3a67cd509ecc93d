// SPDX-License-Identifier: MIT
// Weights in the order in which shaders read them.
#include "layers.h"

#include <math.h>
#include <string.h>

#define UNIT_BYTES 16

static float half_value(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 0x3ff;
    const float value =
        exponent ? ldexpf((float)(fraction + 1024), exponent - 25) : ldexpf((float)fraction, -24);
    return h & 0x8000 ? -value : value;
}

/** One layer's weights on their way. */
struct packing {
    const struct hs_layers *layers;
    const struct hs_layer *layer;
    const struct hs_dispatch *dispatch;
    struct hs_layer_form form;
    unsigned char *out;
};

/** The layer's own output channel n of a z. */
static uint32_t own_output(const struct hs_layer_form *f, uint32_t z, uint32_t n)
{
    const uint32_t channel = z % f->slices * f->outputs + n;
    if (f->head)
        return n % (f->outputs / 4) * 4 + n / (f->outputs / 4);
    return f->pixels == 4 ? 4 * channel + z / f->slices : channel;
}

/** Where the weight of an output of z from input i at a tap of the form is in the layer's. */
static size_t own_weight(const struct packing *p, uint32_t z, uint32_t n, uint32_t i, uint32_t tap)
{
    const struct hs_layer *l = p->layer;
    const uint32_t x = tap % p->form.kernel_x, y = tap / p->form.kernel_x;
    const uint32_t input = i % l->inputs, column = x + i / l->inputs;
    return ((own_output(&p->form, z, n) * l->inputs + input) * l->size + y) * l->size + column;
}

static uint32_t chunk_of(const struct packing *p)
{
    return p->dispatch->constants[HS_SPEC_CHUNK];
}

static void *weights_row(const struct packing *p, uint32_t z, uint32_t row)
{
    const uint32_t pitch = hs_layers_weights_pitch(p->layers, &p->form, chunk_of(p));
    const uint32_t at = p->dispatch->weights_at + z * p->dispatch->weights_step + row * pitch;
    return p->out + (size_t)at * UNIT_BYTES;
}

/** Row `row` of outputs, for an input at a tap: chunks of inputs come first, then taps. */
static void pack_row(const struct packing *p, uint32_t z, uint32_t row)
{
    const uint32_t taps = p->form.kernel_x * p->form.kernel_y, chunk = chunk_of(p);
    const uint32_t tap = row / chunk % taps;
    const uint32_t i = row / (chunk * taps) * chunk + row % chunk;
    void *values = weights_row(p, z, row);
    for (uint32_t n = 0; n < p->form.outputs; n++) {
        const size_t at = own_weight(p, z, n, i, tap);
        if (p->layers->integers)
            ((int32_t *)values)[n] = p->layer->integers.weight[at];
        else if (p->layers->matrix.m)
            ((uint16_t *)values)[n] = p->layer->weight[at];
        else
            ((float *)values)[n] = half_value(p->layer->weight[at]);
    }
}

/** Of the first and the last layer on the matrix path: inputs for each output. */
static void pack_tokens(const struct packing *p)
{
    uint16_t *values = (uint16_t *)(void *)(p->out + (size_t)p->dispatch->weights_at * UNIT_BYTES);
    for (uint32_t n = 0; n < p->form.outputs; n++) {
        for (uint32_t i = 0; i < p->form.inputs; i++)
            values[n * p->form.inputs + i] = p->layer->weight[own_weight(p, 0, n, i, 0)];
    }
}

/** Rows of a chunk of inputs, for each output at each tap. Inputs that fill up are zeros. */
static void pack_columns(const struct packing *p, uint32_t z)
{
    const struct hs_layer_form *f = &p->form;
    const uint32_t taps = f->kernel_x * f->kernel_y, chunk = chunk_of(p);
    const uint32_t unit = hs_layers_unit_channels(p->layers);
    for (uint32_t row = 0; row < f->depth / chunk * taps * f->outputs; row++) {
        const uint32_t n = row % f->outputs, tap = row / f->outputs % taps;
        const uint32_t first = row / (f->outputs * taps) * chunk;
        int8_t *values = weights_row(p, z, row);
        for (uint32_t k = 0; k < chunk && first + k < f->inputs; k++)
            values[k / unit * UNIT_BYTES + k % unit] =
                p->layer->integers.weight[own_weight(p, z, n, first + k, tap)];
    }
}

/** Biases in rows that are all alike; of integers multiplier + 256 shift, or the head's scales. */
static void pack_biases(const struct packing *p, uint32_t z)
{
    const struct hs_layer *l = p->layer;
    const struct hs_integers *n = &l->integers;
    const uint32_t outputs = p->form.outputs, copies = hs_layers_bias_rows(p->layers, &p->form);
    const uint32_t rows = hs_layers_scale_rows(p->layers, &p->form);
    unsigned char *at = p->out + (size_t)p->dispatch->bias_at * UNIT_BYTES +
                        (size_t)z * rows * outputs * sizeof(int32_t);
    for (uint32_t i = 0; i < rows * outputs; i++, at += sizeof(int32_t)) {
        const uint32_t own = own_output(&p->form, z, i % outputs);
        if (i / outputs == copies && n->scale)
            memcpy(at, &n->scale[own], sizeof(float));
        else if (i / outputs == copies)
            *(int32_t *)(void *)at = n->multiplier[own] + 256 * n->shift[own];
        else if (p->layers->integers)
            *(int32_t *)(void *)at = n->bias[own];
        else
            *(float *)(void *)at = l->bias[own];
    }
}

/** What features are multiplied with, behind the first layer's rows. */
static void pack_multipliers(const struct packing *p, const struct hs_weights *weights)
{
    const uint32_t rows = hs_layers_scale_rows(p->layers, &p->form);
    memcpy(p->out + (size_t)p->dispatch->bias_at * UNIT_BYTES +
               (size_t)rows * p->form.outputs * sizeof(float),
           weights->feature_multipliers, sizeof(weights->feature_multipliers));
}

void hs_layers_pack(const struct hs_layers *layers, const struct hs_weights *weights, void *out)
{
    memset(out, 0, layers->weights_bytes);
    for (uint32_t i = 0; i < layers->count; i++) {
        const struct packing p = {layers, &weights->layers[i], &layers->list[i],
                                  hs_layers_form(layers, weights, i), out};
        const uint32_t rows = p.form.kernel_x * p.form.kernel_y * p.form.inputs;
        for (uint32_t z = 0; z < p.form.pixels * p.form.slices; z++) {
            if (layers->integers && layers->matrix.m)
                pack_columns(&p, z);
            else if (p.form.tokens && layers->matrix.m)
                pack_tokens(&p);
            else
                for (uint32_t row = 0; row < rows; row++)
                    pack_row(&p, z, row);
            pack_biases(&p, z);
        }
        if (layers->integers && i == 0)
            pack_multipliers(&p, weights);
    }
}
