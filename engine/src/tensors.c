// SPDX-License-Identifier: MIT
#include "tensors.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Ours have a few KiB. */
#define HEADER_MAX (UINT64_C(1) << 20)
#define DATA_ALIGNMENT 64

static const struct {
    const char *name;
    uint32_t size_bytes;
} dtypes[] = {
    [HS_DTYPE_F16] = {"F16", 2},   [HS_DTYPE_F32] = {"F32", 4},   [HS_DTYPE_I8] = {"I8", 1},
    [HS_DTYPE_I32] = {"I32", 4},   [HS_DTYPE_BF16] = {"BF16", 2}, [HS_DTYPE_F64] = {"F64", 8},
    [HS_DTYPE_I16] = {"I16", 2},   [HS_DTYPE_I64] = {"I64", 8},   [HS_DTYPE_U8] = {"U8", 1},
    [HS_DTYPE_BOOL] = {"BOOL", 1},
};

const char *hs_dtype_name(enum hs_dtype dtype)
{
    return dtypes[dtype].name;
}

const char *hs_shape_text(const uint32_t *shape, uint32_t rank, char text[HS_TENSORS_SHAPE_MAX])
{
    int length = snprintf(text, HS_TENSORS_SHAPE_MAX, "[");
    for (uint32_t i = 0; i < rank; i++)
        length += snprintf(text + length, HS_TENSORS_SHAPE_MAX - (size_t)length, "%s%" PRIu32,
                           i ? ", " : "", shape[i]);
    snprintf(text + length, HS_TENSORS_SHAPE_MAX - (size_t)length, "]");
    return text;
}

static bool is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

static bool has_control(const char *text)
{
    while (*text && !is_control(*text))
        text++;
    return *text;
}

int hs_file_error(const struct hs_log *log, const char *label, int code, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    // Words of a damaged file must neither break the line nor reach a terminal as commands.
    for (char *c = text; *c; c++)
        *c = is_control(*c) ? '?' : *c;
    hs_log_message(log, HS_LOG_ERROR, "%s: %s", label, text);
    return code;
}

#define format_error(...) hs_file_error(log, label, HS_ERR_FORMAT, __VA_ARGS__)

static int read_dtype(const struct hs_log *log, const char *label, const json_t *entry,
                      struct hs_tensor *tensor)
{
    const char *text = json_string_value(json_object_get(entry, "dtype"));
    for (size_t i = 0; text && i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
        if (!strcmp(text, dtypes[i].name)) {
            tensor->dtype = (enum hs_dtype)i;
            return 0;
        }
    }
    return format_error("tensor %.64s: dtype is %.16s, expected one of the format's", tensor->name,
                        text ? text : "not a text");
}

static int read_shape(const struct hs_log *log, const char *label, const json_t *entry,
                      struct hs_tensor *tensor, uint64_t *bytes)
{
    const json_t *shape = json_object_get(entry, "shape");
    const size_t rank = json_array_size(shape);
    if (!json_is_array(shape) || rank < 1 || rank > HS_TENSORS_RANK_MAX)
        return format_error("tensor %.64s: shape has %zu sizes, expected 1 to %d", tensor->name,
                            rank, HS_TENSORS_RANK_MAX);
    *bytes = dtypes[tensor->dtype].size_bytes;
    for (size_t i = 0; i < rank; i++) {
        const json_t *size = json_array_get(shape, i);
        const json_int_t value = json_integer_value(size);
        // Four sizes of 15 bits do not overflow together with eight bytes.
        if (!json_is_integer(size) || value < 1 || value > 0x7fff)
            return format_error("tensor %.64s: size %zu of its shape is %" JSON_INTEGER_FORMAT
                                ", expected 1 to %d",
                                tensor->name, i, value, 0x7fff);
        tensor->shape[i] = (uint32_t)value;
        *bytes *= (uint64_t)value;
    }
    tensor->rank = (uint32_t)rank;
    return 0;
}

static int read_span(const struct hs_log *log, const char *label, const json_t *entry,
                     uint64_t data_size, uint64_t bytes, struct hs_tensor *tensor)
{
    const json_t *span = json_object_get(entry, "data_offsets");
    const json_t *begin = json_array_get(span, 0), *end = json_array_get(span, 1);
    if (json_array_size(span) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return format_error("tensor %.64s: data_offsets are not two integers", tensor->name);
    const json_int_t b = json_integer_value(begin), e = json_integer_value(end);
    if (b < 0 || e < b || (uint64_t)e > data_size)
        return format_error("tensor %.64s: data_offsets are %" JSON_INTEGER_FORMAT
                            " and %" JSON_INTEGER_FORMAT ", but there are %" PRIu64
                            " bytes of data",
                            tensor->name, b, e, data_size);
    if ((uint64_t)(e - b) != bytes)
        return format_error("tensor %.64s: spans %" JSON_INTEGER_FORMAT
                            " bytes, its shape and dtype need %" PRIu64,
                            tensor->name, e - b, bytes);
    tensor->begin = (uint64_t)b;
    tensor->end = (uint64_t)e;
    return 0;
}

static int read_tensor(const struct hs_log *log, const char *label, const json_t *entry,
                       uint64_t data_size, struct hs_tensor *tensor)
{
    if (json_object_size(entry) != 3)
        return format_error("tensor %.64s: expected dtype, shape and data_offsets", tensor->name);
    uint64_t bytes = 0;
    int err = read_dtype(log, label, entry, tensor);
    if (!err)
        err = read_shape(log, label, entry, tensor, &bytes);
    return err ? err : read_span(log, label, entry, data_size, bytes, tensor);
}

static int read_metadata(const struct hs_log *log, const char *label, json_t *metadata)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return format_error("__metadata__ is missing, so this is no model of ours");
    json_object_foreach(metadata, key, value)
    {
        if (!json_is_string(value))
            return format_error("__metadata__: %.64s is not a text", key);
        if (has_control(key) || has_control(json_string_value(value)))
            return format_error("__metadata__: %.64s has a control character", key);
    }
    return 0;
}

static int by_begin(const void *a, const void *b)
{
    const struct hs_tensor *ta = a, *tb = b;
    return ta->begin < tb->begin ? -1 : ta->begin > tb->begin;
}

/** Each tensor starts where the one before it ends, and the last one ends the file. */
static int check_cover(const struct hs_log *log, const char *label, struct hs_tensors *out,
                       uint64_t data_size)
{
    qsort(out->tensors, out->count, sizeof(out->tensors[0]), by_begin);
    uint64_t at = 0;
    for (uint32_t i = 0; i < out->count; i++) {
        const struct hs_tensor *t = &out->tensors[i];
        if (t->begin != at)
            return format_error("tensor %.64s: begins at byte %" PRIu64 ", %s, expected %" PRIu64,
                                t->name, t->begin,
                                t->begin < at ? "within another one" : "after a gap", at);
        at = t->end;
    }
    if (at != data_size)
        return format_error("there are %" PRIu64 " bytes of data, the tensors end at %" PRIu64,
                            data_size, at);
    return 0;
}

static int read_entries(const struct hs_log *log, const char *label, uint64_t data_size,
                        struct hs_tensors *out)
{
    const char *key;
    json_t *value;
    const size_t entries = json_object_size(out->header);
    if (entries > HS_TENSORS_MAX)
        return format_error("%zu tensors, expected at most %d", entries, HS_TENSORS_MAX);
    out->tensors = calloc(entries ? entries : 1, sizeof(*out->tensors));
    if (!out->tensors)
        return hs_file_error(log, label, HS_ERR_NOMEM, "out of memory for its tensors");
    json_object_foreach(out->header, key, value)
    {
        if (!strcmp(key, "__metadata__"))
            continue;
        struct hs_tensor *tensor = &out->tensors[out->count++];
        tensor->name = key;
        const int err = read_tensor(log, label, value, data_size, tensor);
        if (err)
            return err;
    }
    json_t *metadata = json_object_get(out->header, "__metadata__");
    out->metadata = metadata;
    const int err = read_metadata(log, label, metadata);
    return err ? err : check_cover(log, label, out, data_size);
}

int hs_tensors_parse(const struct hs_log *log, const char *label, const unsigned char *bytes,
                     size_t size, struct hs_tensors *out)
{
    static const char pointer[] = "version https://git-lfs";
    uint64_t header_size = 0;
    json_error_t error;
    if (size >= sizeof(pointer) && !memcmp(bytes, pointer, sizeof(pointer) - 1))
        return format_error("is a Git LFS pointer, not the model itself");
    if (size < 8)
        return format_error("has %zu bytes, too few for a safetensors file", size);
    for (int i = 7; i >= 0; i--)
        header_size = header_size << 8 | bytes[i];
    if (header_size < 2 || header_size > HEADER_MAX || header_size > size - 8)
        return format_error("header of %" PRIu64 " bytes, expected 2 to %" PRIu64
                            ": no safetensors file, or cut off",
                            header_size, size - 8 < HEADER_MAX ? (uint64_t)size - 8 : HEADER_MAX);
    if ((8 + header_size) % DATA_ALIGNMENT)
        return format_error("data starts at byte %" PRIu64 ", expected a multiple of %d",
                            8 + header_size, DATA_ALIGNMENT);
    memset(out, 0, sizeof(*out));
    out->header =
        json_loadb((const char *)bytes + 8, (size_t)header_size, JSON_REJECT_DUPLICATES, &error);
    if (!out->header) {
        if (json_error_code(&error) == json_error_out_of_memory)
            return hs_file_error(log, label, HS_ERR_NOMEM, "out of memory for the header");
        return format_error("header: %.160s at byte %d", error.text, error.position);
    }
    int err = json_is_object(out->header)
                  ? 0
                  : format_error("header is not an object, so this is no safetensors file");
    out->data = bytes + 8 + header_size;
    if (!err)
        err = read_entries(log, label, (uint64_t)size - 8 - header_size, out);
    if (err)
        hs_tensors_finish(out);
    return err;
}

void hs_tensors_finish(struct hs_tensors *tensors)
{
    json_decref(tensors->header);
    free(tensors->tensors);
    memset(tensors, 0, sizeof(*tensors));
}

struct hs_tensor *hs_tensors_find(struct hs_tensors *tensors, const char *name)
{
    for (uint32_t i = 0; i < tensors->count; i++) {
        if (!strcmp(tensors->tensors[i].name, name))
            return &tensors->tensors[i];
    }
    return NULL;
}
