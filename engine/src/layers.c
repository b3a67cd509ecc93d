// SPDX-License-Identifier: MIT
#include "layers.h"

#include <string.h>

#define UNIT_BYTES 16
/** Outputs of a workgroup of the plain path. */
#define PLAIN_SLICE 16
/** Accumulators of a subgroup, in tiles: more leave the registers. */
#define SUMS 12
/** Rows of pixels that share what is loaded of the weights, if registers allow. */
#define SHARED_ROWS 4
/** Inputs of a pixel whose operands a subgroup holds in registers. */
#define STREAM_INPUTS 128

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

/** How a layer is spread over a workgroup. */
struct spread {
    uint32_t subgroups, split; ///< Of these, side by side with a part of the outputs each.
    uint32_t rows;             ///< Of pixels, of a subgroup.
    uint32_t chunk;            ///< Inputs at a time; 0: none fits.
    uint32_t inside;           ///< Pixels of the finer level.
    bool stream;               ///< Operands straight from the input.
};

static uint32_t group_rows(const struct spread *s)
{
    return s->subgroups / s->split * s->rows;
}

/** Units of shared memory for the operand. */
static uint32_t operand_units(const struct hs_layers *layers, const struct hs_layer_form *f,
                              const struct spread *s)
{
    const uint32_t rows = (group_rows(s) - 1) * f->stride + f->kernel_y;
    const uint32_t columns = layers->matrix.m + f->kernel_x - 1;
    return s->stream ? 1 : rows * columns * ((s->chunk / hs_layers_unit_channels(layers)) | 1);
}

/** Units of shared memory for sums of tiles of outputs. */
static uint32_t result_units(const struct hs_layers *layers, const struct spread *s, uint32_t tiles)
{
    return s->subgroups * layers->matrix.m * ((tiles * layers->matrix.n / 4) | 1);
}

/** As many tiles of outputs as find room in the operand's memory, and at least as many as the
 * sixteens take by which they are written. */
static uint32_t result_tiles(const struct hs_layers *layers, const struct hs_layer_form *f,
                             const struct spread *s)
{
    const uint32_t step = layers->matrix.n < UNIT_BYTES ? UNIT_BYTES / layers->matrix.n : 1;
    uint32_t tiles = f->outputs / layers->matrix.n;
    while (tiles > step && result_units(layers, s, tiles) > operand_units(layers, f, s))
        tiles -= step;
    return tiles;
}

static uint32_t shared_need(const struct hs_layers *layers, const struct hs_layer_form *f,
                            const struct spread *s)
{
    const uint32_t operand = operand_units(layers, f, s);
    const uint32_t result =
        layers->integers ? result_units(layers, s, result_tiles(layers, f, s)) : 0;
    return UNIT_BYTES *
           ((operand > result ? operand : result) + s->inside * chunk_units(layers, f, s->chunk));
}

/** Small matrices are those of processors, whose compilers take long over much of them. */
static struct spread small_spread(const struct hs_layers *layers, const struct hs_layer_form *f)
{
    const bool even = !layers->integers && f->outputs / layers->matrix.n % 2 == 0;
    return (struct spread){
        .subgroups = 4, .split = even ? 2 : 1, .rows = f->outputs <= 32 ? 2 : 1, .inside = 1};
}

/** Operands straight from the input: little is computed with them, and most of the time goes with
 * loads. Weights stay in shared memory, of the four finer pixels if there is room. */
static struct spread choose_stream(const struct hs_layers *layers, const struct hs_layer_form *f,
                                   uint32_t shared_bytes)
{
    const bool small = layers->matrix.m < 16;
    const uint32_t tiles = f->outputs / layers->matrix.n;
    const uint32_t most = small ? STREAM_INPUTS / 4 : STREAM_INPUTS;
    struct spread s = {.subgroups = 8, .split = 1, .rows = 2 * tiles <= SUMS / 2 ? 2 : 1};
    if (small)
        s = small_spread(layers, f);
    s.stream = true;
    s.inside = f->pixels;
    s.chunk = f->depth;
    if (s.chunk <= most && shared_need(layers, f, &s) <= shared_bytes)
        return s;
    s.inside = 1;
    for (; s.chunk > 0; s.chunk -= layers->matrix.k) {
        if (s.chunk <= most && f->depth % s.chunk == 0 &&
            shared_need(layers, f, &s) <= shared_bytes)
            break;
    }
    return s;
}

/** Operands through shared memory, two units of a pixel's inputs at a time. Outputs are split until
 * their sums for rows that share weights are few; eight subgroups or so share memory. */
static struct spread choose_staged(const struct hs_layers *layers, const struct hs_layer_form *f,
                                   uint32_t shared_bytes)
{
    const uint32_t tiles = f->outputs / layers->matrix.n;
    const uint32_t two = 2 * hs_layers_unit_channels(layers);
    struct spread s = {.split = 1, .inside = 1};
    uint32_t groups = 8;
    if (layers->matrix.m < 16) {
        s = small_spread(layers, f);
        groups = s.subgroups / s.split;
    } else if (layers->integers) {
        s.rows = SHARED_ROWS * tiles <= SUMS ? SHARED_ROWS : SHARED_ROWS / 2;
    } else {
        while (tiles % s.split || tiles / s.split * SHARED_ROWS > SUMS)
            s.split++;
        groups = (8 + s.split / 2) / s.split;
        // With one tile of outputs operands are what is loaded most: more rows share them.
        s.rows = tiles == s.split && s.split > 1 ? 2 * SHARED_ROWS : SHARED_ROWS;
    }
    for (s.chunk = two; s.chunk >= layers->matrix.k; s.chunk /= 2) {
        if (f->depth % s.chunk || s.chunk % layers->matrix.k)
            continue;
        for (uint32_t n = groups; n > 0; n--) {
            s.subgroups = n * s.split;
            if (shared_need(layers, f, &s) <= shared_bytes)
                return s;
        }
    }
    s.chunk = 0;
    return s;
}

static void choose_tensors(const struct hs_layer *l, struct hs_dispatch *d)
{
    const bool block_end = l->add == HS_ADD_BLOCK, block_start = l->size == 3 && !block_end;
    d->level = l->kind == HS_LAYER_DOWN ? l->level - 1 : l->level;
    d->in = HS_TENSOR(d->level, block_end);
    d->out = HS_TENSOR(l->kind == HS_LAYER_UP ? l->level - 1 : l->level, block_start);
}

static void fill_constants(const struct hs_layers *layers, const struct hs_layer *l,
                           const struct hs_layer_form *f, const struct spread *s,
                           struct hs_dispatch *d)
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
    c[HS_SPEC_ROWS] = s->rows;
    c[HS_SPEC_CHUNK] = s->chunk;
    c[HS_SPEC_SUBGROUPS] = s->subgroups;
    c[HS_SPEC_SPLIT] = s->split;
    c[HS_SPEC_STREAM] = s->stream;
    c[HS_SPEC_INSIDE] = s->inside;
    if (layers->integers && layers->matrix.m && !f->tokens)
        c[HS_SPEC_RESULT_TILES] = result_tiles(layers, f, s);
    c[HS_SPEC_OUTPUTS_ALL] = f->outputs * f->slices;
    c[HS_SPEC_DEPTH] = f->depth;
}

static bool plan_layer(struct hs_layers *layers, const struct hs_weights *weights, uint32_t index,
                       uint32_t shared_bytes, uint32_t *used, struct hs_dispatch *d)
{
    const struct hs_layer *l = &weights->layers[index];
    const struct hs_layer_form f = hs_layers_form(layers, weights, index);
    const bool matrix = layers->matrix.m, conv = matrix && !f.tokens;
    struct spread s = {.subgroups = 1, .split = 1, .rows = 1, .chunk = f.depth, .inside = 1};
    if (conv && !layers->integers && f.kernel_x == 1)
        s = choose_stream(layers, &f, shared_bytes);
    else if (conv)
        s = choose_staged(layers, &f, shared_bytes);
    if (!s.chunk)
        return false;
    const uint32_t packed = f.pixels * f.slices;
    *d = (struct hs_dispatch){
        .pair = f.pair,
        .stride = f.stride,
        .group_width = conv ? layers->matrix.m : 16,
        .group_height = conv ? group_rows(&s) : 8,
        .groups_z = packed / s.inside,
        .threads = conv ? s.subgroups * layers->matrix.subgroup : 64,
        .weights_step = matrix && f.tokens && !layers->integers
                            ? f.inputs * f.outputs / hs_layers_unit_channels(layers)
                            : f.depth / s.chunk * chunk_units(layers, &f, s.chunk),
    };
    memcpy(d->name, l->name, sizeof(d->name));
    choose_tensors(l, d);
    fill_constants(layers, l, &f, &s, d);
    d->weights_at = *used;
    d->bias_at = d->weights_at + packed * d->weights_step;
    *used = d->bias_at + packed * f.outputs / 4 * hs_layers_scale_rows(layers, &f);
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
