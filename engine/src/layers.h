// SPDX-License-Identifier: MIT
/** From the layers of a model file to dispatches: what runs where, and weights as shaders read
 * them. Knows nothing of Vulkan objects. */
#ifndef HS_ENGINE_LAYERS_H
#define HS_ENGINE_LAYERS_H

#include "network.h"
#include "weights.h"

/** Sizes that the matrix path works with; zero: plain path. */
struct hs_matrix_size {
    uint32_t m, n, k;
    uint32_t subgroup; ///< Threads.
};

/** Greatest ratio of output to render size, of all presets. */
#define HS_RATIO_MAX 3.0f

/** Activations: of each level its state and the inside of its blocks. */
#define HS_TENSORS (2 * HS_WEIGHTS_LEVELS)
#define HS_TENSOR(level, inside) (2 * (level) + (inside))

/** How a layer is dispatched. */
struct hs_dispatch {
    char name[HS_WEIGHTS_NAME_MAX];
    uint32_t in, out; ///< Tensors; the first layer has no input, the last no output.
    uint32_t level;   ///< Of the input.
    uint32_t pair;    ///< Pixels of the input that count as one, 1 or 2.
    uint32_t stride;  ///< Rows of the input for one of the grid.
    uint32_t group_width, group_height, groups_z;
    uint32_t weights_at, bias_at, weights_step; ///< Units of 16 bytes.
    uint32_t constants[HS_SPEC_COUNT];
    uint32_t threads;
};

struct hs_layers {
    struct hs_matrix_size matrix;
    bool integers; ///< Of 8 bits, on tokens that are render pixels (taau-int8).
    uint32_t channels[HS_WEIGHTS_LEVELS];
    uint32_t count;
    struct hs_dispatch list[HS_WEIGHTS_LAYERS_MAX];
    uint64_t weights_bytes;
};

/** Bytes of an activation. */
static inline uint32_t hs_layers_element_bytes(const struct hs_layers *layers)
{
    return layers->integers ? 1 : layers->matrix.m ? 2 : 4;
}

/** A level's size in pixels, and its pitch in memory. */
struct hs_level_size {
    uint32_t width, height;
    uint32_t pitch;
};

/** Of a picture of so many tokens. */
void hs_level_sizes(uint32_t token_width, uint32_t token_height,
                    struct hs_level_size sizes[HS_WEIGHTS_LEVELS]);

/** A layer as the shaders see it: kernel taps over inputs, and outputs of one z of the grid. */
struct hs_layer_form {
    uint32_t inputs, depth; ///< Channels; and filled up to whole tiles.
    uint32_t outputs, kernel_x, kernel_y, stride, pixels, pair;
    uint32_t slices; ///< Of the outputs of a pixel.
    bool tokens;     ///< Part of a pass over pixels: the first and the last layer.
    bool head;       ///< Of floats: its outputs are packed pixel by pixel.
};
struct hs_layer_form hs_layers_form(const struct hs_layers *layers,
                                    const struct hs_weights *weights, uint32_t index);

/** Units of a row of packed weights; odd numbers keep rows apart in banks of shared memory. */
uint32_t hs_layers_weights_pitch(const struct hs_layers *layers, const struct hs_layer_form *form,
                                 uint32_t chunk);

/** Sums start with a matrix of biases, all rows alike, but for integers in passes over pixels. */
uint32_t hs_layers_bias_rows(const struct hs_layers *layers, const struct hs_layer_form *form);

/** Rows of a z's biases with what follows them: of integers multiplier + 256 shift, or scales. */
uint32_t hs_layers_scale_rows(const struct hs_layers *layers, const struct hs_layer_form *form);

/** Channels of integers in a unit of matrix operands: matrices begin at whole units. */
uint32_t hs_layers_unit_channels(const struct hs_layers *layers);

/** `shared_bytes`: of a workgroup. False: no tile of a layer fits. */
bool hs_layers_plan(const struct hs_weights *weights, const struct hs_matrix_size *matrix,
                    uint32_t shared_bytes, struct hs_layers *layers);

/** Writes all weights and biases, `weights_bytes` of them. */
void hs_layers_pack(const struct hs_layers *layers, const struct hs_weights *weights, void *out);

#endif
