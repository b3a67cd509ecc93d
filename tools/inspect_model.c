// SPDX-License-Identifier: MIT
// hindsight inspect of a model file: metadata and layers.
#include <inttypes.h>
#include <stdio.h>

#include <hindsight/model_file.h>

#include "inspect.h"
#include "report.h"

static void print_layer(const struct hs_model_layer *layer)
{
    printf("  %-12s %-4s %" PRIu32 "x%" PRIu32 "  %3" PRIu32 " to %3" PRIu32 "  level %" PRIu32
           "%s%s%s\n",
           layer->name, layer->kind, layer->size, layer->size, layer->inputs, layer->outputs,
           layer->level, layer->add ? ", adds " : "", layer->add ? layer->add : "",
           layer->relu ? ", relu" : "");
}

int inspect_model(const char *path)
{
    struct hs_model_file *file = NULL;
    struct hs_model_file_info info;
    const int err = hs_model_file_open(path, tool_log(), &file);
    if (err < 0)
        return err;
    hs_model_file_describe(file, &info);
    printf("model %s: preset %s, %" PRIu32 " layers, %" PRIu64 " bytes of weights\n", path,
           info.preset, info.layer_count, info.weight_bytes);
    for (uint32_t i = 0; i < info.note_count; i++)
        printf("  %s: %s\n", info.notes[i].key, info.notes[i].value);
    printf("layers:\n");
    for (uint32_t i = 0; i < info.layer_count; i++)
        print_layer(&info.layers[i]);
    hs_model_file_close(&file);
    return 0;
}
