// SPDX-License-Identifier: MIT
// One model file (safetensors): its header, topology and tensors.
#include "engine/src/weights.h"

#include <stdlib.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hs_weights *weights = NULL;
    const int err = hs_weights_parse(NULL, "fuzz", data, size, &weights);

    if (!err != !!weights)
        abort();
    hs_weights_destroy(&weights);
    return 0;
}
