// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include <hindsight/model_file.h>

#include "topology.h"
#include "weights.h"

struct hs_model_file {
    struct hs_weights *weights;
    struct hs_model_layer layers[HS_WEIGHTS_LAYERS_MAX];
};

static struct hs_model_layer describe_layer(const struct hs_layer *layer)
{
    return (struct hs_model_layer){
        .name = layer->name,
        .kind = hs_layer_kind_name(layer->kind),
        .size = layer->size,
        .stride = layer->stride,
        .inputs = layer->inputs,
        .outputs = layer->outputs,
        .level = layer->level,
        .relu = layer->relu,
        .add = hs_layer_add_name(layer->add),
    };
}

int hs_model_file_open(const char *path, const struct hs_log *log, struct hs_model_file **file)
{
    if (!path || !file)
        return HS_ERR_INVALID;
    struct hs_weights *weights;
    const int err = hs_weights_load(log, path, &weights);
    if (err)
        return err;
    struct hs_model_file *opened = calloc(1, sizeof(*opened));
    if (!opened) {
        hs_log_message(log, HS_LOG_ERROR, "%s: out of memory for a model file", path);
        hs_weights_destroy(&weights);
        return HS_ERR_NOMEM;
    }
    opened->weights = weights;
    for (uint32_t i = 0; i < weights->layer_count; i++)
        opened->layers[i] = describe_layer(&weights->layers[i]);
    *file = opened;
    return 0;
}

void hs_model_file_describe(const struct hs_model_file *file, struct hs_model_file_info *info)
{
    if (!file || !info)
        return;
    *info = (struct hs_model_file_info){
        .preset = file->weights->preset,
        .weight_bytes = file->weights->size_bytes,
        .note_count = file->weights->note_count,
        .notes = file->weights->notes,
        .layer_count = file->weights->layer_count,
        .layers = file->layers,
        .guides = file->weights->architecture == HS_ARCHITECTURE_RAY,
    };
}

void hs_model_file_close(struct hs_model_file **pointer)
{
    if (!pointer || !*pointer)
        return;
    hs_weights_destroy(&(*pointer)->weights);
    free(*pointer);
    *pointer = NULL;
}
