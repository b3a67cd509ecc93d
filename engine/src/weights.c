// SPDX-License-Identifier: MIT
#include "weights.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "choose.h"
#include "tensors.h"
#include "topology.h"

#define PRESET_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

/** `best` has a tenth of this. */
#define FILE_MAX (64 << 20)
#define ALIGNMENT 16
/** Of features, before they are rounded. */
#define MULTIPLIER_MAX 65504
/** Of activations and weights of integers. */
#define LIMIT 127

struct reader {
    const struct hs_log *log;
    const char *label;
    struct hs_tensors tensors;
    struct hs_weights *weights;
    size_t data_size, data_used;
};

static int no_memory(const struct hs_log *log, const char *label)
{
    return hs_file_error(log, label, HS_ERR_NOMEM, "out of memory for a model file");
}

static const char *text_of(const struct reader *r, const char *key)
{
    return json_string_value(json_object_get(r->tensors.metadata, key));
}

static int check_text(const struct reader *r, const char *key, const char *expected, int code)
{
    const char *text = text_of(r, key);
    if (!text)
        return hs_file_error(r->log, r->label, HS_ERR_FORMAT,
                             "__metadata__ has no \"%s\", expected \"%s\"", key, expected);
    if (strcmp(text, expected))
        return hs_file_error(r->log, r->label, code, "%s is \"%.64s\", expected \"%s\"", key, text,
                             expected);
    return 0;
}

/** A network must not pass for what has none. */
static bool is_taken(const char *preset)
{
    static const char *const taken[] = {HS_CHOICE_PLAIN, HS_CHOICE_GUIDED, "auto",
                                        "nearest",       "oidn",           "bicubic"};
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        if (!strcmp(preset, taken[i]))
            return true;
    }
    return false;
}

static int check_preset(const struct reader *r)
{
    const char *preset = text_of(r, "preset");
    const size_t length = preset ? strlen(preset) : 0;
    if (length < 1 || length >= sizeof(r->weights->preset) ||
        strspn(preset, PRESET_LETTERS) != length)
        return hs_file_error(r->log, r->label, HS_ERR_FORMAT,
                             "preset is \"%.64s\", expected 1 to %zu letters, digits, - or _",
                             preset ? preset : "", sizeof(r->weights->preset) - 1);
    if (is_taken(preset))
        return hs_file_error(r->log, r->label, HS_ERR_FORMAT,
                             "preset is \"%s\", the name of something without weights", preset);
    memcpy(r->weights->preset, preset, length + 1);
    return 0;
}

static const struct {
    const char *name;
    uint32_t features, outputs, head;
} architectures[HS_ARCHITECTURE_COUNT] = {
    [HS_ARCHITECTURE_UNET] = {"taau-unet", 64, 112, 27},
    [HS_ARCHITECTURE_RAY] = {"taau-ray", 80, 128, 29},
    [HS_ARCHITECTURE_INT8] = {"taau-int8", HS_WEIGHTS_FEATURES, 48, 11},
};

/** A number, which metadata hold as text. */
static int check_count(const struct reader *r, const char *key, uint32_t expected)
{
    char text[16];
    snprintf(text, sizeof(text), "%" PRIu32, expected);
    return check_text(r, key, text, HS_ERR_FORMAT);
}

static int read_architecture(const struct reader *r)
{
    const char *text = text_of(r, "architecture");
    struct hs_weights *w = r->weights;
    for (int i = 0; text && i < HS_ARCHITECTURE_COUNT; i++) {
        if (strcmp(text, architectures[i].name))
            continue;
        w->architecture = (enum hs_architecture)i;
        w->features = architectures[i].features;
        w->outputs = architectures[i].outputs;
        w->head = architectures[i].head;
        return 0;
    }
    if (!text)
        return hs_file_error(r->log, r->label, HS_ERR_FORMAT,
                             "__metadata__ has no \"architecture\", expected \"taau-unet\", "
                             "\"taau-ray\" or \"taau-int8\"");
    return hs_file_error(r->log, r->label, HS_ERR_UNSUPPORTED,
                         "architecture is \"%.64s\", expected \"taau-unet\", \"taau-ray\" or "
                         "\"taau-int8\"",
                         text);
}

/** As 32-bit floats; bounds keep what becomes of any feature within integers. */
static int read_multipliers(const struct reader *r)
{
    const char *text = text_of(r, "feature_multipliers");
    json_t *list = text ? json_loads(text, 0, NULL) : NULL;
    const size_t count = json_array_size(list);
    size_t good = 0;
    for (; good < count && good < HS_WEIGHTS_FEATURES; good++) {
        const json_t *number = json_array_get(list, good);
        const double value = json_number_value(number);
        if (!json_is_number(number) || !(value > 0 && value <= MULTIPLIER_MAX))
            break;
        r->weights->feature_multipliers[good] = (float)value;
    }
    json_decref(list);
    if (count == HS_WEIGHTS_FEATURES && good == count)
        return 0;
    return hs_file_error(r->log, r->label, HS_ERR_FORMAT,
                         "feature_multipliers are not %d numbers above 0 up to %d",
                         HS_WEIGHTS_FEATURES, MULTIPLIER_MAX);
}

static int check_metadata(const struct reader *r)
{
    int err = check_text(r, "format", "hindsight-model", HS_ERR_FORMAT);
    if (!err)
        err = check_text(r, "format_version", HS_WEIGHTS_FORMAT_VERSION, HS_ERR_VERSION);
    if (!err)
        err = read_architecture(r);
    if (err)
        return err;
    err = check_count(r, "features", r->weights->features);
    if (!err)
        err = check_count(r, "outputs", r->weights->outputs);
    if (!err)
        err = check_count(r, "head", r->weights->head);
    if (!err && r->weights->architecture == HS_ARCHITECTURE_INT8)
        err = read_multipliers(r);
    return err ? err : check_preset(r);
}

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static int check_finite(const struct reader *r, const struct hs_tensor *t, const void *values)
{
    const uint16_t *halfs = values;
    const float *floats = values;
    const bool half = t->dtype == HS_DTYPE_F16;
    if (!half && t->dtype != HS_DTYPE_F32)
        return 0;
    const size_t count = (size_t)(t->end - t->begin) / (half ? 2 : 4);
    for (size_t i = 0; i < count; i++) {
        if (half ? (halfs[i] & 0x7c00) == 0x7c00 : !isfinite(floats[i]))
            return hs_file_error(r->log, r->label, HS_ERR_FORMAT,
                                 "tensor %s: value %zu is not finite", t->name, i);
    }
    return 0;
}

/** Checks one tensor of a layer and copies its values. */
static int take_tensor(struct reader *r, const char *layer, const char *part, enum hs_dtype dtype,
                       const uint32_t *shape, uint32_t rank, const void **values)
{
    char name[HS_WEIGHTS_NAME_MAX + 16], is[HS_TENSORS_SHAPE_MAX], should[HS_TENSORS_SHAPE_MAX];
    snprintf(name, sizeof(name), "%s.%s", layer, part);
    struct hs_tensor *t = hs_tensors_find(&r->tensors, name);
    if (!t)
        return hs_file_error(r->log, r->label, HS_ERR_FORMAT, "tensor %s is missing", name);
    if (t->dtype != dtype)
        return hs_file_error(r->log, r->label, HS_ERR_FORMAT, "tensor %s: dtype is %s, expected %s",
                             name, hs_dtype_name(t->dtype), hs_dtype_name(dtype));
    if (t->rank != rank || memcmp(t->shape, shape, rank * sizeof(*shape)))
        return hs_file_error(r->log, r->label, HS_ERR_FORMAT, "tensor %s: shape is %s, expected %s",
                             name, hs_shape_text(t->shape, t->rank, is),
                             hs_shape_text(shape, rank, should));
    const size_t bytes = (size_t)(t->end - t->begin);
    void *copy = (unsigned char *)r->weights->data + r->data_used;
    memcpy(copy, r->tensors.data + t->begin, bytes);
    r->data_used += aligned(bytes);
    r->weights->size_bytes += bytes;
    t->used = true;
    *values = copy;
    return check_finite(r, t, copy);
}

static int take_floats(struct reader *r, struct hs_layer *layer, const uint32_t *shape)
{
    const void *weights = NULL, *biases = NULL;
    int err = take_tensor(r, layer->name, "weight", HS_DTYPE_F16, shape, 4, &weights);
    if (!err)
        err = take_tensor(r, layer->name, "bias", HS_DTYPE_F32, &layer->outputs, 1, &biases);
    layer->weight = weights;
    layer->bias = biases;
    return err;
}

/** Whether sums of a channel stay within 32 bits, whatever the activations are. */
static int check_sums(const struct reader *r, const struct hs_layer *l)
{
    const uint32_t taps = l->inputs * l->size * l->size;
    for (uint32_t o = 0; o < l->outputs; o++) {
        int64_t total = l->integers.bias[o];
        total = total < 0 ? -total : total;
        for (uint32_t i = 0; i < taps; i++) {
            const int weight = l->integers.weight[(size_t)o * taps + i];
            if (weight < -LIMIT)
                return hs_file_error(r->log, r->label, HS_ERR_FORMAT,
                                     "tensor %s.weight: value %zu is %d, expected %d to %d",
                                     l->name, (size_t)o * taps + i, weight, -LIMIT, LIMIT);
            total += LIMIT * (weight < 0 ? -weight : weight);
        }
        if (total > HS_WEIGHTS_TOTAL_MAX)
            return hs_file_error(r->log, r->label, HS_ERR_FORMAT,
                                 "layer %s: sums of output %" PRIu32 " reach %" PRId64
                                 ", expected at most %d",
                                 l->name, o, total, HS_WEIGHTS_TOTAL_MAX);
    }
    return 0;
}

static int take_bounded(struct reader *r, const struct hs_layer *l, const char *part, int32_t low,
                        int32_t high, const int32_t **values)
{
    const void *taken = NULL;
    const int err = take_tensor(r, l->name, part, HS_DTYPE_I32, &l->outputs, 1, &taken);
    if (err)
        return err;
    *values = taken;
    for (uint32_t o = 0; o < l->outputs; o++) {
        if ((*values)[o] < low || (*values)[o] > high)
            return hs_file_error(r->log, r->label, HS_ERR_FORMAT,
                                 "tensor %s.%s: value %" PRIu32 " is %" PRId32 ", expected %" PRId32
                                 " to %" PRId32,
                                 l->name, part, o, (*values)[o], low, high);
    }
    return 0;
}

static int take_integers(struct reader *r, struct hs_layer *layer, const uint32_t *shape)
{
    struct hs_integers *n = &layer->integers;
    const void *weights = NULL, *biases = NULL, *scale = NULL;
    const bool head = layer == &r->weights->layers[r->weights->layer_count - 1];
    int err = take_tensor(r, layer->name, "weight", HS_DTYPE_I8, shape, 4, &weights);
    if (!err)
        err = take_tensor(r, layer->name, "bias", HS_DTYPE_I32, &layer->outputs, 1, &biases);
    n->weight = weights;
    n->bias = biases;
    if (!err)
        err = check_sums(r, layer);
    if (!err && head) {
        err = take_tensor(r, layer->name, "scale", HS_DTYPE_F32, &layer->outputs, 1, &scale);
        n->scale = scale;
    } else if (!err) {
        err = take_bounded(r, layer, "multiplier", 128, 255, &n->multiplier);
        if (!err)
            err = take_bounded(r, layer, "shift", 1, 26, &n->shift);
    }
    return err;
}

static int take_layers(struct reader *r)
{
    for (uint32_t i = 0; i < r->weights->layer_count; i++) {
        struct hs_layer *layer = &r->weights->layers[i];
        const uint32_t shape[] = {layer->outputs, layer->inputs, layer->size, layer->size};
        const int err = r->weights->architecture == HS_ARCHITECTURE_INT8
                            ? take_integers(r, layer, shape)
                            : take_floats(r, layer, shape);
        if (err)
            return err;
    }
    for (uint32_t i = 0; i < r->tensors.count; i++) {
        if (!r->tensors.tensors[i].used)
            return hs_file_error(r->log, r->label, HS_ERR_FORMAT,
                                 "tensor %.64s belongs to no layer", r->tensors.tensors[i].name);
    }
    return 0;
}

/** Weights of the tensors, then the texts of the metadata, in one block. */
static int allocate(struct reader *r)
{
    size_t texts = 0;
    uint32_t notes = 0;
    const char *key;
    json_t *value;
    for (uint32_t i = 0; i < r->tensors.count; i++)
        r->data_size += aligned((size_t)(r->tensors.tensors[i].end - r->tensors.tensors[i].begin));
    json_object_foreach((json_t *)r->tensors.metadata, key, value)
    {
        texts += strlen(key) + json_string_length(value) + 2;
        notes++;
    }
    r->weights->data = calloc(1, r->data_size + texts);
    r->weights->notes = calloc(notes, sizeof(*r->weights->notes));
    return r->weights->data && r->weights->notes ? 0 : no_memory(r->log, r->label);
}

static const char *keep_text(char **to, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = memcpy(*to, text, size);
    *to += size;
    return copy;
}

static void take_notes(struct reader *r)
{
    char *to = (char *)r->weights->data + r->data_size;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)r->tensors.metadata, key, value)
    {
        if (!strcmp(key, "layers"))
            continue;
        r->weights->notes[r->weights->note_count++] = (struct hs_model_note){
            .key = keep_text(&to, key),
            .value = keep_text(&to, json_string_value(value)),
        };
    }
}

int hs_weights_parse(const struct hs_log *log, const char *label, const void *bytes, size_t size,
                     struct hs_weights **weights)
{
    struct reader r = {.log = log, .label = label};
    int err = hs_tensors_parse(log, label, bytes, size, &r.tensors);
    if (err)
        return err;
    r.weights = calloc(1, sizeof(*r.weights));
    err = r.weights ? check_metadata(&r) : no_memory(log, label);
    if (!err)
        err = hs_topology_read(log, label, &r.tensors, r.weights);
    if (!err)
        err = allocate(&r);
    if (!err)
        err = take_layers(&r);
    if (!err)
        take_notes(&r);
    hs_tensors_finish(&r.tensors);
    if (err)
        hs_weights_destroy(&r.weights);
    else
        *weights = r.weights;
    return err;
}

int hs_weights_load(const struct hs_log *log, const char *path, struct hs_weights **weights)
{
    struct stat about;
    unsigned char *bytes = NULL;
    int err = 0;
    // A pipe could block for ever, a folder can be opened.
    if (stat(path, &about))
        return hs_file_error(log, path, HS_ERR_IO, "%s",
                             errno == ENOENT || errno == ENOTDIR ? "no such file"
                                                                 : "can not be opened");
    if (!S_ISREG(about.st_mode))
        return hs_file_error(log, path, HS_ERR_IO, "is no regular file");
    if (about.st_size > FILE_MAX)
        return hs_file_error(log, path, HS_ERR_FORMAT, "has %" PRId64 " bytes, expected at most %d",
                             (int64_t)about.st_size, FILE_MAX);
    const size_t size = (size_t)about.st_size;
    FILE *file = fopen(path, "rb");
    if (!file)
        return hs_file_error(log, path, HS_ERR_IO, "can not be opened");
    bytes = calloc(1, size ? size : 1);
    if (!bytes)
        err = no_memory(log, path);
    else if (fread(bytes, 1, size, file) != size)
        err = hs_file_error(log, path, HS_ERR_IO, "can not be read");
    if (!err)
        err = hs_weights_parse(log, path, bytes, size, weights);
    free(bytes);
    fclose(file);
    return err;
}

void hs_weights_destroy(struct hs_weights **pointer)
{
    if (!pointer || !*pointer)
        return;
    free((*pointer)->data);
    free((*pointer)->notes);
    free(*pointer);
    *pointer = NULL;
}
