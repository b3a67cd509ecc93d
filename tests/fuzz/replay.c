// SPDX-License-Identifier: MIT
// Runs a target once on each file of the folders that are given; at least one file has to be there.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;

    if (file && !fseek(file, 0, SEEK_END))
        size = ftell(file);
    if (size < 0) {
        fprintf(stderr, "%s: can not be read\n", path);
        return 1;
    }
    // An exact copy: see weights' test.
    uint8_t *data = malloc(size ? (size_t)size : 1);
    rewind(file);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "%s: can not be read\n", path);
        return 1;
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    // Half of it, and all of it with a byte changed: cheap, and the same each time.
    LLVMFuzzerTestOneInput(data, (size_t)size / 2);
    for (long at = 0; at < size; at += 1 + size / 64) {
        data[at] ^= 0x41;
        LLVMFuzzerTestOneInput(data, (size_t)size);
        data[at] ^= 0x41;
    }
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int count = 0, failed = 0;

    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        const struct dirent *entry;

        while (dir && (entry = readdir(dir))) {
            char path[1024];

            if (entry->d_name[0] == '.')
                continue;
            snprintf(path, sizeof(path), "%s/%s", argv[i], entry->d_name);
            failed += run_file(path);
            count++;
        }
        if (dir)
            closedir(dir);
    }
    printf("%d files\n", count);
    return !count || failed;
}
