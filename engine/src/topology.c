// SPDX-License-Identifier: MIT
// The table is read row by row; what each row must be follows from the rows before it.
#include "topology.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CHANNEL_STEP 16

/** Parts in the order in which they run: single layers, or stacks of residual blocks. */
enum part_kind {
    PART_LAYER,
    PART_STACK,
};

/** Where numbers of channels come from: of a level, or fixed. */
enum part_channels {
    OF_LEVEL0,
    OF_LEVEL1,
    OF_LEVEL2,
    OF_FEATURES,
    OF_OUTPUTS,
};

static const struct part {
    const char *name;
    enum part_kind part;
    enum hs_layer_kind kind;
    uint32_t size, stride, level;
    enum part_channels inputs, outputs;
    bool relu;
    enum hs_layer_add add;
} parts[] = {
    {"enter", PART_LAYER, HS_LAYER_CONV, 1, 1, 0, OF_FEATURES, OF_LEVEL0, true, HS_ADD_NONE},
    {"down0", PART_STACK, HS_LAYER_CONV, 3, 1, 0, OF_LEVEL0, OF_LEVEL0, false, HS_ADD_NONE},
    {"to1", PART_LAYER, HS_LAYER_DOWN, 2, 2, 1, OF_LEVEL0, OF_LEVEL1, true, HS_ADD_NONE},
    {"down1", PART_STACK, HS_LAYER_CONV, 3, 1, 1, OF_LEVEL1, OF_LEVEL1, false, HS_ADD_NONE},
    {"to2", PART_LAYER, HS_LAYER_DOWN, 2, 2, 2, OF_LEVEL1, OF_LEVEL2, true, HS_ADD_NONE},
    {"bottom", PART_STACK, HS_LAYER_CONV, 3, 1, 2, OF_LEVEL2, OF_LEVEL2, false, HS_ADD_NONE},
    {"from2.conv", PART_LAYER, HS_LAYER_UP, 1, 1, 2, OF_LEVEL2, OF_LEVEL1, true, HS_ADD_LEVEL1},
    {"up1", PART_STACK, HS_LAYER_CONV, 3, 1, 1, OF_LEVEL1, OF_LEVEL1, false, HS_ADD_NONE},
    {"from1.conv", PART_LAYER, HS_LAYER_UP, 1, 1, 1, OF_LEVEL1, OF_LEVEL0, true, HS_ADD_LEVEL0},
    {"up0", PART_STACK, HS_LAYER_CONV, 3, 1, 0, OF_LEVEL0, OF_LEVEL0, false, HS_ADD_NONE},
    {"head", PART_LAYER, HS_LAYER_CONV, 1, 1, 0, OF_LEVEL0, OF_OUTPUTS, false, HS_ADD_NONE},
};

static const char *const kind_names[] = {
    [HS_LAYER_CONV] = "conv",
    [HS_LAYER_DOWN] = "down",
    [HS_LAYER_UP] = "up",
};

static const char *const add_names[] = {
    [HS_ADD_NONE] = NULL,
    [HS_ADD_BLOCK] = "block",
    [HS_ADD_LEVEL0] = "level0",
    [HS_ADD_LEVEL1] = "level1",
};

const char *hs_layer_kind_name(enum hs_layer_kind kind)
{
    return kind_names[kind];
}

const char *hs_layer_add_name(enum hs_layer_add add)
{
    return add_names[add];
}

struct table {
    const struct hs_log *log;
    const char *label;
    json_t *rows;
    size_t row;
    struct hs_weights *weights;
};

#define table_error(...) hs_file_error(t->log, t->label, HS_ERR_FORMAT, __VA_ARGS__)

static int check_number(const struct table *t, const struct hs_layer *layer, const json_t *row,
                        const char *key, uint32_t expected)
{
    const json_t *number = json_object_get(row, key);
    if (!json_is_integer(number))
        return table_error("layer %s: %s is not an integer", layer->name, key);
    if (json_integer_value(number) != (json_int_t)expected)
        return table_error("layer %s: %s is %" JSON_INTEGER_FORMAT ", expected %" PRIu32,
                           layer->name, key, json_integer_value(number), expected);
    return 0;
}

/** `expected` may be NULL, which is null in the table. */
static int check_word(const struct table *t, const struct hs_layer *layer, const json_t *row,
                      const char *key, const char *expected)
{
    const json_t *word = json_object_get(row, key);
    const char *text = json_string_value(word);
    if (expected ? text && !strcmp(text, expected) : json_is_null(word))
        return 0;
    return table_error("layer %s: %s is %.32s, expected %s", layer->name, key,
                       text ? text : (json_is_null(word) ? "null" : "not a text"),
                       expected ? expected : "null");
}

/** The name of what 1 is worth in a result; null in the head, whose results are floats. */
static int check_scale(const struct table *t, const struct hs_layer *layer, const json_t *row)
{
    const bool head = !strcmp(layer->name, "head");
    const json_t *scale = json_object_get(row, "scale");
    if (head ? json_is_null(scale) : json_is_string(scale))
        return 0;
    return table_error("layer %s: scale is not %s", layer->name, head ? "null" : "a text");
}

static int check_row(const struct table *t, const struct hs_layer *layer, const json_t *row)
{
    const struct {
        const char *key;
        uint32_t expected;
    } numbers[] = {
        {"size", layer->size},     {"stride", layer->stride},   {"level", layer->level},
        {"inputs", layer->inputs}, {"outputs", layer->outputs},
    };
    int err = check_word(t, layer, row, "kind", kind_names[layer->kind]);
    for (size_t i = 0; !err && i < sizeof(numbers) / sizeof(numbers[0]); i++)
        err = check_number(t, layer, row, numbers[i].key, numbers[i].expected);
    if (!err)
        err = check_word(t, layer, row, "add", add_names[layer->add]);
    if (err)
        return err;
    const json_t *relu = json_object_get(row, "relu");
    if (!json_is_boolean(relu) || json_is_true(relu) != layer->relu)
        return table_error("layer %s: relu is not %s", layer->name, layer->relu ? "true" : "false");
    return t->weights->architecture == HS_ARCHITECTURE_INT8 ? check_scale(t, layer, row) : 0;
}

static const char *row_name(const struct table *t)
{
    return json_string_value(json_object_get(json_array_get(t->rows, t->row), "name"));
}

/** A level's channels are told by the first layer that has them as outputs. */
static int learn_channels(const struct table *t, const char *name, uint32_t *channels)
{
    const json_t *number = json_object_get(json_array_get(t->rows, t->row), "outputs");
    const json_int_t value = json_integer_value(number);
    if (!json_is_integer(number) || value < CHANNEL_STEP || value > HS_WEIGHTS_CHANNELS_MAX ||
        value % CHANNEL_STEP)
        return table_error("layer %s: outputs is %" JSON_INTEGER_FORMAT
                           ", expected a multiple of %d up to %d",
                           name, value, CHANNEL_STEP, HS_WEIGHTS_CHANNELS_MAX);
    *channels = (uint32_t)value;
    return 0;
}

static uint32_t channels_of(const struct hs_weights *w, enum part_channels of)
{
    if (of == OF_FEATURES)
        return w->features;
    return of == OF_OUTPUTS ? w->outputs : w->channels[of];
}

static int add_layer(struct table *t, const struct part *part, const char *name, bool relu,
                     enum hs_layer_add add)
{
    struct hs_weights *w = t->weights;
    const char *found = row_name(t);
    if (!found || strcmp(found, name))
        return table_error("row %zu of layers is %.32s, expected %s", t->row,
                           found ? found : "missing", name);
    if (part->outputs <= OF_LEVEL2 && !w->channels[part->outputs]) {
        const int err = learn_channels(t, name, &w->channels[part->outputs]);
        if (err)
            return err;
    }
    struct hs_layer *layer = &w->layers[w->layer_count++];
    *layer = (struct hs_layer){
        .kind = part->kind,
        .size = part->size,
        .stride = part->stride,
        .inputs = channels_of(w, part->inputs),
        .outputs = channels_of(w, part->outputs) * (part->kind == HS_LAYER_UP ? 4 : 1),
        .level = part->level,
        .relu = relu,
        .add = add,
    };
    snprintf(layer->name, sizeof(layer->name), "%s", name);
    return check_row(t, layer, json_array_get(t->rows, t->row++));
}

/** As many blocks as there are rows of that name. */
static int add_stack(struct table *t, const struct part *part, uint32_t *blocks)
{
    const size_t length = strlen(part->name);
    char name[HS_WEIGHTS_NAME_MAX];
    while (row_name(t) && !strncmp(row_name(t), part->name, length) && row_name(t)[length] == '.') {
        if (*blocks == HS_WEIGHTS_BLOCKS_MAX)
            return table_error("%s has more than %d blocks", part->name, HS_WEIGHTS_BLOCKS_MAX);
        snprintf(name, sizeof(name), "%s.%" PRIu32 ".a", part->name, *blocks);
        int err = add_layer(t, part, name, true, HS_ADD_NONE);
        name[strlen(name) - 1] = 'b';
        if (!err)
            err = add_layer(t, part, name, false, HS_ADD_BLOCK);
        if (err)
            return err;
        ++*blocks;
    }
    return 0;
}

static int read_table(struct table *t)
{
    uint32_t *blocks = t->weights->blocks;
    if (!json_is_array(t->rows))
        return table_error("layers is not an array");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const struct part *part = &parts[i];
        const int err = part->part == PART_STACK
                            ? add_stack(t, part, blocks++)
                            : add_layer(t, part, part->name, part->relu, part->add);
        if (err)
            return err;
    }
    if (t->row != json_array_size(t->rows))
        return table_error("layers has %zu rows, expected %zu", json_array_size(t->rows), t->row);
    return 0;
}

int hs_topology_read(const struct hs_log *log, const char *label, const struct hs_tensors *tensors,
                     struct hs_weights *weights)
{
    struct table table = {.log = log, .label = label, .weights = weights}, *t = &table;
    const char *text = json_string_value(json_object_get(tensors->metadata, "layers"));
    json_error_t error;
    if (!text)
        return table_error("__metadata__ has no \"layers\"");
    t->rows = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!t->rows) {
        if (json_error_code(&error) == json_error_out_of_memory)
            return hs_file_error(log, label, HS_ERR_NOMEM, "out of memory for the layer table");
        return table_error("layers: %.160s at byte %d", error.text, error.position);
    }
    const int err = read_table(t);
    json_decref(t->rows);
    return err;
}
