// SPDX-License-Identifier: MIT
// A description up to the first zero byte, and behind it what lies in all the files that it may
// name: raw planes, .flo, .dpt.
#include "fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"p.rgba16f", "p.r32f", "p.bin", "p.flo", "p.dpt"};
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    const size_t text = end ? (size_t)(end - data) : size;
    const char *path = fuzz_path(0, "frames.json");

    fuzz_store(path, data, text);
    for (int i = 0; i < 5; i++)
        fuzz_store(fuzz_path(1 + i, names[i]), end ? end + 1 : data, end ? size - text - 1 : 0);
    fuzz_consume(path, "raw");
    return 0;
}
