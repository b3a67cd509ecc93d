// SPDX-License-Identifier: MIT
/** What a model file (docs/model-format.md) holds, without a device. */
#ifndef HINDSIGHT_MODEL_FILE_H
#define HINDSIGHT_MODEL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "log.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A model file that was read and checked. Opaque. */
struct hs_model_file;

/** A text of the metadata. */
struct hs_model_note {
    const char *key, *value;
};

/** A convolution. */
struct hs_model_layer {
    const char *name;
    const char *kind;         ///< "conv", "down" or "up".
    uint32_t size, stride;    ///< Of the kernel.
    uint32_t inputs, outputs; ///< Channels.
    /** It has 1 / 2^(level + 1) of the output size, of taau-int8 1 / 2^level of the render size. */
    uint32_t level;
    bool relu;
    const char *add; ///< What is added: "block", "level0", "level1", or NULL.
};

/** Contents of a model file; all pointers live as long as the file is open. */
struct hs_model_file_info {
    const char *preset;
    uint64_t weight_bytes; ///< Of weights and biases.
    uint32_t note_count;
    const struct hs_model_note *notes; ///< Metadata but the layers, in the file's order.
    uint32_t layer_count;
    const struct hs_model_layer *layers; ///< In the order in which they run.
    bool guides;                         ///< As in hs_model_info.
};

/**
 * Reads a model file and checks all of it.
 *
 * Owns: the caller closes the file.
 * Thread: safe.
 * Errors: HS_ERR_INVALID an argument is missing; HS_ERR_IO the file can not be read; HS_ERR_FORMAT
 * it is no model or damaged; HS_ERR_VERSION it is of another format version; HS_ERR_UNSUPPORTED of
 * another architecture; HS_ERR_NOMEM.
 * Source: docs/model-format.md.
 * Since: 1.
 */
int hs_model_file_open(const char *path, const struct hs_log *log, struct hs_model_file **file);

/**
 * Tells what an open file holds.
 *
 * Thread: safe.
 * Since: 1.
 */
void hs_model_file_describe(const struct hs_model_file *file, struct hs_model_file_info *info);

/**
 * Closes a file and sets the pointer to NULL. NULL and pointers to NULL are legal.
 *
 * Thread: one at a time.
 * Since: 1.
 */
void hs_model_file_close(struct hs_model_file **file);

#ifdef __cplusplus
}
#endif
#endif
