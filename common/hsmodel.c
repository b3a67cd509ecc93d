// SPDX-License-Identifier: MIT
#include "hsmodel.h"

#include <string.h>

bool hsmodel_is_file(const char *name)
{
    static const char extension[] = ".safetensors";
    const size_t length = strlen(name), end = sizeof(extension) - 1;
    return length > end && !strcmp(name + length - end, extension);
}

bool hsmodel_reads_guides(const char *name)
{
    return name && (!strcmp(name, "atrous") || !strcmp(name, "ray"));
}

struct hs_model_params hsmodel_params(const char *name)
{
    const bool file = name && hsmodel_is_file(name);
    return (struct hs_model_params){
        .preset = file ? NULL : name,
        .file = file ? name : NULL,
    };
}
