// SPDX-License-Identifier: MIT
/** The container of model files: safetensors, read from memory. */
#ifndef HS_ENGINE_TENSORS_H
#define HS_ENGINE_TENSORS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hindsight/error.h>
#include <hindsight/log.h>

#define HS_TENSORS_MAX 4096
#define HS_TENSORS_RANK_MAX 4
/** "[N, N, N, N]" */
#define HS_TENSORS_SHAPE_MAX 96

/** What the format knows; models use the first four. */
enum hs_dtype {
    HS_DTYPE_F16,
    HS_DTYPE_F32,
    HS_DTYPE_I8,
    HS_DTYPE_I32,
    HS_DTYPE_BF16,
    HS_DTYPE_F64,
    HS_DTYPE_I16,
    HS_DTYPE_I64,
    HS_DTYPE_U8,
    HS_DTYPE_BOOL,
};

struct hs_tensor {
    const char *name;
    enum hs_dtype dtype;
    uint32_t rank;
    uint32_t shape[HS_TENSORS_RANK_MAX];
    uint64_t begin, end; ///< Of the data.
    bool used;           ///< For the reader.
};

/** Tensors that lie one after the other without gap or overlap and fill the data. */
struct hs_tensors {
    json_t *header;         ///< Holds all names.
    const json_t *metadata; ///< An object of texts.
    const unsigned char *data;
    uint32_t count;
    struct hs_tensor *tensors; ///< In the order of the data.
};

const char *hs_dtype_name(enum hs_dtype dtype);

/** "[64, 32]" into `text`. */
const char *hs_shape_text(const uint32_t *shape, uint32_t rank, char text[HS_TENSORS_SHAPE_MAX]);

/** Borrows `bytes`; hs_tensors_finish() after success only. */
int hs_tensors_parse(const struct hs_log *log, const char *label, const unsigned char *bytes,
                     size_t size, struct hs_tensors *out);
void hs_tensors_finish(struct hs_tensors *tensors);

/** NULL if there is none of the name. */
struct hs_tensor *hs_tensors_find(struct hs_tensors *tensors, const char *name);

/** Logs "LABEL: ..." as an error and returns `code`. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
int hs_file_error(const struct hs_log *log, const char *label, int code, const char *format, ...);

#endif
