// SPDX-License-Identifier: MIT
#include "hsmodel.h"

#include <string.h>

#include <hindsight/model_file.h>

bool hsmodel_is_file(const char *name)
{
    static const char extension[] = ".safetensors";
    const size_t length = strlen(name), end = sizeof(extension) - 1;
    return length > end && !strcmp(name + length - end, extension);
}

bool hsmodel_reads_guides(const char *name)
{
    struct hs_model_file *file = NULL;
    struct hs_model_file_info info = {0};
    if (!name || !hsmodel_is_file(name))
        return name && (!strcmp(name, "atrous") || !strcmp(name, "ray"));
    if (hs_model_file_open(name, NULL, &file) == 0)
        hs_model_file_describe(file, &info);
    hs_model_file_close(&file);
    return info.guides;
}

struct hs_model_params hsmodel_params(const char *name)
{
    const bool file = name && hsmodel_is_file(name);
    return (struct hs_model_params){
        .preset = file ? NULL : name,
        .file = file ? name : NULL,
    };
}
