// SPDX-License-Identifier: MIT
#include "layers.h"

#include <math.h>
#include <string.h>

#define UNIT_BYTES 16
/** Outputs of a workgroup of the plain path. */
#define PLAIN_SLICE 16
#define SUBGROUPS 4
/** Accumulators of more outputs leave registers for two rows of pixels only. */
#define FOUR_ROWS_OUTPUTS 64

/** A layer as the shaders see it: kernel taps over inputs, and outputs of one z of the grid. */
struct form {
    uint32_t inputs, outputs, kernel_x, kernel_y, stride, pixels, pair;
    uint32_t slices; ///< Of the outputs of a pixel.
    bool tokens;     ///< Part of a pass over pixels: the first and the last layer.
};

static struct form form_of(const struct hs_layers *layers, const struct hs_layer *l, bool tokens)
{
    struct form f = {l->inputs, l->outputs, l->size, l->size, 1, 1, 1, 1, tokens};
    if (l->kind == HS_LAYER_DOWN)
        f = (struct form){2 * l->inputs, l->outputs, 1, 2, 2, 1, 2, 1, false};
    if (l->kind == HS_LAYER_UP) {
        f.pixels = 4;
        f.outputs /= 4;
    }
    if (!layers->matrix.m && !tokens) {
        f.slices = f.outputs / PLAIN_SLICE;
        f.outputs = PLAIN_SLICE;
    }
    return f;
}

static uint32_t rows_of(const struct hs_layers *layers, const struct form *f)
{
    // Small matrices are those of processors, whose compilers take long over much of them.
    if (layers->matrix.m < 16)
        return f->outputs <= 32 ? 2 : 1;
    return f->stride == 1 && f->outputs <= FOUR_ROWS_OUTPUTS ? 4 : 2;
}

/** Units of a row of packed weights; odd numbers keep rows apart in banks of shared memory. */
static uint32_t weights_pitch(const struct hs_layers *layers, const struct form *f)
{
    return layers->matrix.m ? (f->outputs / 8) | 1 : f->outputs / 4;
}

/** Sums of convolutions start with a matrix of biases, all rows alike. */
static uint32_t bias_rows(const struct hs_layers *layers, const struct form *f)
{
    return layers->matrix.m && !f->tokens ? layers->matrix.m : 1;
}

/** Units of shared memory for the operand. */
static uint32_t operand_units(const struct hs_layers *layers, const struct form *f, uint32_t chunk)
{
    const uint32_t rows = (SUBGROUPS * rows_of(layers, f) - 1) * f->stride + f->kernel_y;
    const uint32_t columns = layers->matrix.m + f->kernel_x - 1;
    return rows * columns * ((chunk / 8) | 1);
}

static uint32_t shared_need(const struct hs_layers *layers, const struct form *f, uint32_t chunk)
{
    const uint32_t weights = f->kernel_x * f->kernel_y * chunk * weights_pitch(layers, f);
    return UNIT_BYTES * (operand_units(layers, f, chunk) + weights);
}

/** As many tiles of outputs as find room in the operand's memory, where one always does. */
static uint32_t result_tiles(const struct hs_layers *layers, const struct form *f, uint32_t chunk)
{
    const uint32_t pixels = SUBGROUPS * layers->matrix.m, each = layers->matrix.n / 8;
    uint32_t tiles = f->outputs / layers->matrix.n;
    while (tiles > 1 && pixels * ((tiles * each) | 1) > operand_units(layers, f, chunk))
        tiles--;
    return tiles;
}

/** Input channels that are staged at a time; 0: none fits. More than these leave too few
 * workgroups on a processor to hide each other's loads. */
static uint32_t choose_chunk(const struct hs_layers *layers, const struct form *f,
                             uint32_t shared_bytes)
{
    static const uint32_t chunks[] = {48, 32, 16, 8};
    for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
        const uint32_t chunk = chunks[i];
        if (f->inputs % chunk == 0 && chunk % layers->matrix.k == 0 &&
            shared_need(layers, f, chunk) <= shared_bytes)
            return chunk;
    }
    return 0;
}

static void choose_tensors(const struct hs_layer *l, struct hs_dispatch *d)
{
    const bool block_end = l->add == HS_ADD_BLOCK, block_start = l->size == 3 && !block_end;
    d->level = l->kind == HS_LAYER_DOWN ? l->level - 1 : l->level;
    d->in = HS_TENSOR(d->level, block_end);
    d->out = HS_TENSOR(l->kind == HS_LAYER_UP ? l->level - 1 : l->level, block_start);
}

static void fill_constants(const struct hs_layers *layers, const struct hs_layer *l,
                           const struct form *f, uint32_t chunk, struct hs_dispatch *d)
{
    uint32_t *c = d->constants;
    c[HS_SPEC_INPUTS] = f->inputs;
    c[HS_SPEC_OUTPUTS] = f->outputs;
    c[HS_SPEC_KERNEL_X] = f->kernel_x;
    c[HS_SPEC_KERNEL_Y] = f->kernel_y;
    c[HS_SPEC_STRIDE] = f->stride;
    c[HS_SPEC_RELU] = l->relu;
    c[HS_SPEC_ADD] = l->add != HS_ADD_NONE;
    c[HS_SPEC_PIXELS] = f->pixels;
    c[HS_SPEC_TILE_M] = layers->matrix.m;
    c[HS_SPEC_TILE_N] = layers->matrix.n;
    c[HS_SPEC_TILE_K] = layers->matrix.k;
    c[HS_SPEC_ROWS] = rows_of(layers, f);
    c[HS_SPEC_CHUNK] = chunk;
    c[HS_SPEC_SUBGROUPS] = SUBGROUPS;
    if (layers->matrix.m && chunk)
        c[HS_SPEC_RESULT_TILES] = result_tiles(layers, f, chunk);
    c[HS_SPEC_OUTPUTS_ALL] = f->outputs * f->slices;
}

static bool plan_layer(struct hs_layers *layers, const struct hs_layer *l, bool tokens,
                       uint32_t shared_bytes, uint32_t *used, struct hs_dispatch *d)
{
    const struct form f = form_of(layers, l, tokens);
    const bool matrix = layers->matrix.m, conv = matrix && !tokens;
    const uint32_t chunk = conv ? choose_chunk(layers, &f, shared_bytes) : f.inputs;
    *d = (struct hs_dispatch){
        .pair = f.pair,
        .stride = f.stride,
        .group_width = conv ? layers->matrix.m : 16,
        .group_height = conv ? SUBGROUPS * rows_of(layers, &f) : 8,
        .groups_z = f.pixels * f.slices,
        .threads = conv ? SUBGROUPS * layers->matrix.subgroup : 64,
        .weights_step = f.kernel_x * f.kernel_y * f.inputs * weights_pitch(layers, &f),
    };
    memcpy(d->name, l->name, sizeof(d->name));
    choose_tensors(l, d);
    fill_constants(layers, l, &f, chunk, d);
    d->weights_at = *used;
    d->bias_at = d->weights_at + d->groups_z * d->weights_step;
    *used = d->bias_at + d->groups_z * f.outputs / 4 * bias_rows(layers, &f);
    return chunk != 0;
}

bool hs_layers_plan(const struct hs_weights *weights, const struct hs_matrix_size *matrix,
                    uint32_t shared_bytes, struct hs_layers *layers)
{
    uint32_t used = 0;
    bool fits = true;
    *layers = (struct hs_layers){.matrix = *matrix, .count = weights->layer_count};
    memcpy(layers->channels, weights->channels, sizeof(layers->channels));
    for (uint32_t i = 0; i < layers->count; i++) {
        const bool tokens = i == 0 || i + 1 == layers->count;
        fits &=
            plan_layer(layers, &weights->layers[i], tokens, shared_bytes, &used, &layers->list[i]);
    }
    layers->weights_bytes = (uint64_t)used * UNIT_BYTES;
    return fits;
}

static float half_value(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 0x3ff;
    const float value =
        exponent ? ldexpf((float)(fraction + 1024), exponent - 25) : ldexpf((float)fraction, -24);
    return h & 0x8000 ? -value : value;
}

/** The layer's own output channel n of a z. */
static uint32_t own_output(const struct form *f, uint32_t z, uint32_t n)
{
    const uint32_t channel = z % f->slices * f->outputs + n;
    return f->pixels == 4 ? 4 * channel + z / f->slices : channel;
}

/** Weight from input i at a tap of the form. */
static uint16_t own_weight(const struct hs_layer *l, uint32_t output, uint32_t i, uint32_t x,
                           uint32_t y)
{
    const uint32_t input = i % l->inputs, column = x + i / l->inputs;
    return l->weight[((output * l->inputs + input) * l->size + y) * l->size + column];
}

static void pack_layer(const struct hs_layers *layers, const struct hs_layer *l,
                       const struct hs_dispatch *d, const struct form *f, unsigned char *out)
{
    const uint32_t taps = f->kernel_x * f->kernel_y, chunk = d->constants[HS_SPEC_CHUNK];
    const bool matrix = layers->matrix.m;
    const uint32_t copies = bias_rows(layers, f), pitch = weights_pitch(layers, f);
    for (uint32_t z = 0; z < d->groups_z; z++) {
        unsigned char *weights = out + (size_t)(d->weights_at + z * d->weights_step) * UNIT_BYTES;
        float *biases = (float *)(void *)(out + (size_t)d->bias_at * UNIT_BYTES) +
                        (size_t)z * copies * f->outputs;
        for (uint32_t row = 0; row < taps * f->inputs; row++) {
            // Chunks of inputs come first, then taps.
            const uint32_t tap = row / chunk % taps;
            const uint32_t i = row / (chunk * taps) * chunk + row % chunk;
            uint16_t *halves = (uint16_t *)(void *)(weights + (size_t)row * pitch * UNIT_BYTES);
            float *floats = (float *)(void *)halves;
            for (uint32_t n = 0; n < f->outputs; n++) {
                const uint16_t h =
                    own_weight(l, own_output(f, z, n), i, tap % f->kernel_x, tap / f->kernel_x);
                if (matrix)
                    halves[n] = h;
                else
                    floats[n] = half_value(h);
            }
        }
        for (uint32_t n = 0; n < copies * f->outputs; n++)
            biases[n] = l->bias[own_output(f, z, n % f->outputs)];
    }
}

void hs_layers_pack(const struct hs_layers *layers, const struct hs_weights *weights, void *out)
{
    memset(out, 0, layers->weights_bytes);
    for (uint32_t i = 0; i < layers->count; i++) {
        const bool tokens = i == 0 || i + 1 == layers->count;
        const struct form f = form_of(layers, &weights->layers[i], tokens);
        pack_layer(layers, &weights->layers[i], &layers->list[i], &f, out);
    }
}

void hs_level_sizes(uint32_t out_width, uint32_t out_height,
                    struct hs_level_size sizes[HS_WEIGHTS_LEVELS])
{
    // Tiles of the coarsest level are whole, and so are what they become on finer ones.
    const uint32_t width = (out_width + 7) / 8, height = (out_height + 7) / 8;
    const uint32_t pitch = (width + 15) / 16 * 16;
    for (int i = 0; i < HS_WEIGHTS_LEVELS; i++) {
        const int finer = HS_WEIGHTS_LEVELS - 1 - i;
        sizes[i] = (struct hs_level_size){width << finer, height << finer, pitch << finer};
    }
}
