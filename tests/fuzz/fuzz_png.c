// SPDX-License-Identifier: MIT
// One PNG file.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_path(0, "frame_0001.png");

    fuzz_store(path, data, size);
    fuzz_consume(path, "auto");
    return 0;
}
