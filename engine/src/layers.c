// SPDX-License-Identifier: MIT
#include "layers.h"

#include <string.h>

#define UNIT_BYTES 16
/** Outputs of a workgroup of the plain path. */
#define PLAIN_SLICE 16
#define SUBGROUPS 4
/** Accumulators of more outputs leave registers for two rows of pixels only. */
#define FOUR_ROWS_OUTPUTS 64

static uint32_t filled_up(uint32_t channels, uint32_t to)
{
    return to ? (channels + to - 1) / to * to : channels;
}

struct hs_layer_form hs_layers_form(const struct hs_layers *layers,
                                    const struct hs_weights *weights, uint32_t index)
{
    const struct hs_layer *l = &weights->layers[index];
    struct hs_layer_form f = {
        .inputs = l->inputs,
        .outputs = l->outputs,
        .kernel_x = l->size,
        .kernel_y = l->size,
        .stride = 1,
        .pixels = 1,
        .pair = 1,
        .slices = 1,
        .tokens = index == 0 || index + 1 == weights->layer_count,
        .head = !layers->integers && index + 1 == weights->layer_count,
    };
    if (l->kind == HS_LAYER_DOWN) {
        f.inputs *= 2;
        f.kernel_x = 1;
        f.stride = f.pair = 2;
    }
    if (l->kind == HS_LAYER_UP) {
        f.pixels = 4;
        f.outputs /= 4;
    }
    if (!layers->matrix.m && !f.tokens) {
        f.slices = f.outputs / PLAIN_SLICE;
        f.outputs = PLAIN_SLICE;
    }
    f.depth = filled_up(f.inputs, layers->matrix.k);
    return f;
}

static uint32_t rows_of(const struct hs_layers *layers, const struct hs_layer_form *f)
{
    // Small matrices are those of processors, whose compilers take long over much of them.
    if (layers->matrix.m < 16)
        return f->outputs <= 32 ? 2 : 1;
    return (f->stride == 1 || layers->integers) && f->outputs <= FOUR_ROWS_OUTPUTS ? 4 : 2;
}

uint32_t hs_layers_unit_channels(const struct hs_layers *layers)
{
    if (!layers->integers)
        return 8;
    return layers->matrix.k < UNIT_BYTES ? layers->matrix.k : UNIT_BYTES;
}

uint32_t hs_layers_weights_pitch(const struct hs_layers *layers, const struct hs_layer_form *f,
                                 uint32_t chunk)
{
    if (!layers->matrix.m)
        return f->outputs / 4;
    return (layers->integers ? chunk / hs_layers_unit_channels(layers) : f->outputs / 8) | 1;
}

/** Units of a chunk's weights: rows of outputs for each input or, of integers on the matrix path,
 * rows of inputs for each output. */
static uint32_t chunk_units(const struct hs_layers *layers, const struct hs_layer_form *f,
                            uint32_t chunk)
{
    const uint32_t rows = layers->integers && layers->matrix.m ? f->outputs : chunk;
    return f->kernel_x * f->kernel_y * rows * hs_layers_weights_pitch(layers, f, chunk);
}

uint32_t hs_layers_bias_rows(const struct hs_layers *layers, const struct hs_layer_form *f)
{
    return layers->matrix.m && !(f->tokens && layers->integers) ? layers->matrix.m : 1;
}

uint32_t hs_layers_scale_rows(const struct hs_layers *layers, const struct hs_layer_form *f)
{
    return hs_layers_bias_rows(layers, f) + (layers->integers ? 1 : 0);
}

/** Units of shared memory for the operand. */
static uint32_t operand_units(const struct hs_layers *layers, const struct hs_layer_form *f,
                              uint32_t chunk)
{
    const uint32_t rows = (SUBGROUPS * rows_of(layers, f) - 1) * f->stride + f->kernel_y;
    const uint32_t columns = layers->matrix.m + f->kernel_x - 1;
    return rows * columns * ((chunk / hs_layers_unit_channels(layers)) | 1);
}

/** Units of shared memory for tiles of outputs, of integers as sums. */
static uint32_t result_units(const struct hs_layers *layers, uint32_t tiles)
{
    const uint32_t each = layers->matrix.n / (layers->integers ? 4 : 8);
    return SUBGROUPS * layers->matrix.m * ((tiles * each) | 1);
}

/** As many tiles of outputs as find room in the operand's memory; of integers, which are written by
 * sixteens, at least as many as those take. */
static uint32_t result_tiles(const struct hs_layers *layers, const struct hs_layer_form *f,
                             uint32_t chunk)
{
    const uint32_t step =
        layers->integers && layers->matrix.n < UNIT_BYTES ? UNIT_BYTES / layers->matrix.n : 1;
    uint32_t tiles = f->outputs / layers->matrix.n;
    while (tiles > step && result_units(layers, tiles) > operand_units(layers, f, chunk))
        tiles -= step;
    return tiles;
}

static uint32_t shared_need(const struct hs_layers *layers, const struct hs_layer_form *f,
                            uint32_t chunk)
{
    const uint32_t operand = operand_units(layers, f, chunk);
    const uint32_t result = result_units(layers, result_tiles(layers, f, chunk));
    return UNIT_BYTES * ((operand > result ? operand : result) + chunk_units(layers, f, chunk));
}

/** Input channels that are staged at a time; 0: none fits. More than these leave too few
 * workgroups on a processor to hide each other's loads. */
static uint32_t choose_chunk(const struct hs_layers *layers, const struct hs_layer_form *f,
                             uint32_t shared_bytes)
{
    static const uint32_t chunks[] = {96, 64, 48, 32, 16, 8};
    // Integers take half the memory.
    for (size_t i = layers->integers ? 0 : 2; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
        const uint32_t chunk = chunks[i];
        if (f->depth % chunk == 0 && chunk % layers->matrix.k == 0 &&
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
                           const struct hs_layer_form *f, uint32_t chunk, struct hs_dispatch *d)
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
    c[HS_SPEC_DEPTH] = f->depth;
}

static bool plan_layer(struct hs_layers *layers, const struct hs_weights *weights, uint32_t index,
                       uint32_t shared_bytes, uint32_t *used, struct hs_dispatch *d)
{
    const struct hs_layer *l = &weights->layers[index];
    const struct hs_layer_form f = hs_layers_form(layers, weights, index);
    const bool matrix = layers->matrix.m, conv = matrix && !f.tokens;
    const uint32_t chunk = conv ? choose_chunk(layers, &f, shared_bytes) : f.depth;
    if (!chunk)
        return false;
    *d = (struct hs_dispatch){
        .pair = f.pair,
        .stride = f.stride,
        .group_width = conv ? layers->matrix.m : 16,
        .group_height = conv ? SUBGROUPS * rows_of(layers, &f) : 8,
        .groups_z = f.pixels * f.slices,
        .threads = conv ? SUBGROUPS * layers->matrix.subgroup : 64,
        .weights_step = matrix && f.tokens && !layers->integers
                            ? f.inputs * f.outputs / hs_layers_unit_channels(layers)
                            : f.depth / chunk * chunk_units(layers, &f, chunk),
    };
    memcpy(d->name, l->name, sizeof(d->name));
    choose_tensors(l, d);
    fill_constants(layers, l, &f, chunk, d);
    d->weights_at = *used;
    d->bias_at = d->weights_at + d->groups_z * d->weights_step;
    *used = d->bias_at + d->groups_z * f.outputs / 4 * hs_layers_scale_rows(layers, &f);
    // What features are multiplied with follows the first layer.
    if (layers->integers && index == 0)
        *used += HS_WEIGHTS_FEATURES / 4;
    return true;
}

bool hs_layers_plan(const struct hs_weights *weights, const struct hs_matrix_size *matrix,
                    uint32_t shared_bytes, struct hs_layers *layers)
{
    uint32_t used = 0;
    bool fits = true;
    *layers = (struct hs_layers){
        .matrix = *matrix,
        .integers = weights->architecture == HS_ARCHITECTURE_INT8,
        .count = weights->layer_count,
    };
    memcpy(layers->channels, weights->channels, sizeof(layers->channels));
    for (uint32_t i = 0; i < layers->count; i++)
        fits &= plan_layer(layers, weights, i, shared_bytes, &used, &layers->list[i]);
    layers->weights_bytes = (uint64_t)used * UNIT_BYTES;
    return fits;
}

void hs_level_sizes(uint32_t token_width, uint32_t token_height,
                    struct hs_level_size sizes[HS_WEIGHTS_LEVELS])
{
    // Tiles of the coarsest level are whole, and so are what they become on finer ones.
    const uint32_t width = (token_width + 3) / 4, height = (token_height + 3) / 4;
    const uint32_t pitch = (width + 15) / 16 * 16;
    for (int i = 0; i < HS_WEIGHTS_LEVELS; i++) {
        const int finer = HS_WEIGHTS_LEVELS - 1 - i;
        sizes[i] = (struct hs_level_size){width << finer, height << finer, pitch << finer};
    }
}
