// SPDX-License-Identifier: MIT
/** Weights of a network, read from a model file (docs/model-format.md) and checked whole. */
#ifndef HS_ENGINE_WEIGHTS_H
#define HS_ENGINE_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hindsight/error.h>
#include <hindsight/log.h>
#include <hindsight/model_file.h>

#define HS_WEIGHTS_FORMAT_VERSION "1"
#define HS_WEIGHTS_LEVELS 3
#define HS_WEIGHTS_STACKS 5
/** Limits of what is accepted: residual blocks of a stack, channels of a level. */
#define HS_WEIGHTS_BLOCKS_MAX 4
#define HS_WEIGHTS_CHANNELS_MAX 128
/** enter, to1, to2, from2, from1, head, and two convolutions of each block. */
#define HS_WEIGHTS_LAYERS_MAX (6 + 2 * HS_WEIGHTS_STACKS * HS_WEIGHTS_BLOCKS_MAX)
#define HS_WEIGHTS_NAME_MAX 16
/** Features of taau-int8. */
#define HS_WEIGHTS_FEATURES 64
/** 127 times the absolute weights of a channel, plus its absolute bias. */
#define HS_WEIGHTS_TOTAL_MAX 8250000

/** What is around the network; the layers are alike. */
enum hs_architecture {
    HS_ARCHITECTURE_UNET, ///< taau-unet: floats, tokens are 2x2 output pixels.
    HS_ARCHITECTURE_RAY,  ///< taau-ray: behind the passes that read guides.
    HS_ARCHITECTURE_INT8, ///< taau-int8: integers, tokens are render pixels.
    HS_ARCHITECTURE_COUNT,
};

enum hs_layer_kind {
    HS_LAYER_CONV, ///< 1x1, or 3x3 with zeros around the picture.
    HS_LAYER_DOWN, ///< 2x2, stride 2.
    HS_LAYER_UP,   ///< 1x1; channel 4 c + s is channel c of pixel s = x + 2 y one level finer.
};

/** What is added to a result before ReLU. */
enum hs_layer_add {
    HS_ADD_NONE,
    HS_ADD_BLOCK,  ///< What the layer before was given.
    HS_ADD_LEVEL0, ///< The last result of that level before the way down.
    HS_ADD_LEVEL1,
};

/** A layer of taau-int8, instead of half floats. All arrays are 16-byte aligned. */
struct hs_integers {
    const int8_t *weight;              ///< [outputs, inputs, rows, columns], -127..127.
    const int32_t *bias;               ///< [outputs]
    const int32_t *multiplier, *shift; ///< [outputs]; NULL: of the head.
    const float *scale;                ///< [outputs], of the head only.
};

struct hs_layer {
    char name[HS_WEIGHTS_NAME_MAX];
    enum hs_layer_kind kind;
    uint32_t size, stride;    ///< Of the kernel, which is square.
    uint32_t inputs, outputs; ///< Channels; outputs of HS_LAYER_UP are those of four pixels.
    uint32_t level;           ///< At whose resolution the convolution is: 1 / 2^(level + 1).
    bool relu;
    enum hs_layer_add add;
    const uint16_t *weight; ///< Half floats [outputs, inputs, rows, columns], 16-byte aligned.
    const float *bias;      ///< [outputs], 16-byte aligned.
    struct hs_integers integers;
};

/** Immutable. All values are finite and within their bounds, all layers form exactly the topology
 * of the architecture. */
struct hs_weights {
    char preset[HS_WEIGHTS_NAME_MAX];
    enum hs_architecture architecture;
    /** Channels of a token before and after the network; values of a pixel among the latter. */
    uint32_t features, outputs, head;
    uint32_t channels[HS_WEIGHTS_LEVELS];
    /** Residual blocks: down 0, down 1, bottom, up 1, up 0. */
    uint32_t blocks[HS_WEIGHTS_STACKS];
    uint32_t layer_count;
    struct hs_layer layers[HS_WEIGHTS_LAYERS_MAX]; ///< In the order in which they run.
    /** taau-int8: what features are multiplied with before they are rounded. */
    float feature_multipliers[HS_WEIGHTS_FEATURES];
    size_t size_bytes; ///< Of weights and biases.
    uint32_t note_count;
    struct hs_model_note *notes; ///< All metadata but `layers`, in the file's order.
    void *data;                  ///< What the pointers above point into.
};

/**
 * Reads and checks a model file. A failure is logged once, with the file, the tensor or the key,
 * what was expected and what is there.
 * Errors: HS_ERR_IO; HS_ERR_FORMAT no model, or damaged; HS_ERR_VERSION another format version;
 * HS_ERR_UNSUPPORTED an architecture that is not run; HS_ERR_NOMEM.
 */
int hs_weights_load(const struct hs_log *log, const char *path, struct hs_weights **weights);

/** The same from memory, which may be freed afterwards; `label` stands for the file in messages. */
int hs_weights_parse(const struct hs_log *log, const char *label, const void *bytes, size_t size,
                     struct hs_weights **weights);

/** NULL and pointers to NULL are legal. */
void hs_weights_destroy(struct hs_weights **weights);

#endif
