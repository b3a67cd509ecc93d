// SPDX-License-Identifier: MIT
/** What the fuzz targets share. Each target is a file with LLVMFuzzerTestOneInput(). */
#ifndef HS_FUZZ_H
#define HS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Path of a file in the program's own folder, valid up to the next call for the same place. */
const char *fuzz_path(int place, const char *name);
void fuzz_store(const char *path, const void *data, size_t size);

/** Describes a sequence, opens its frames, and reads all planes and some layers of them. */
void fuzz_consume(const char *location, const char *preset);

#endif
