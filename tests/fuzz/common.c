// SPDX-License-Identifier: MIT
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hsio.h"

/** Larger frames are described but not read: a small file may well claim a large picture. */
#define MAX_PIXELS (1 << 20)
#define MAX_FRAMES 4
#define PLACES 8

static char folder[64];
static char paths[PLACES][128];

static void clean_up(void)
{
    for (int i = 0; i < PLACES; i++)
        unlink(paths[i]);
    rmdir(folder);
}

const char *fuzz_path(int place, const char *name)
{
    if (!folder[0]) {
        snprintf(folder, sizeof(folder), "%s/hs-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
        if (!mkdtemp(folder))
            abort();
        atexit(clean_up);
    }
    snprintf(paths[place], sizeof(paths[place]), "%s/%s", folder, name);
    return paths[place];
}

void fuzz_store(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(data, 1, size, file) != size || fclose(file))
        abort();
}

static void read_planes(struct hsio_frame *frame)
{
    const struct hsio_frame_info *info = hsio_frame_info(frame);

    for (int p = 0; p < HSIO_PLANE_COUNT; p++) {
        const struct hsio_plane_info *plane = &info->planes[p];
        struct hsio_plane_stats stats;
        struct hsio_plane_request request = {.plane = (enum hsio_plane)p, .stats = &stats};

        if (!plane->present || (int64_t)plane->width * plane->height > MAX_PIXELS)
            continue;
        // Exactly as much as is needed, so that a sanitizer sees each byte too many.
        request.buffer_bytes =
            (size_t)plane->width * (size_t)plane->height * hsio_format_bytes(plane->format);
        request.buffer = malloc(request.buffer_bytes);
        if (!request.buffer)
            abort();
        (void)hsio_frame_read(frame, &request, 1);
        free(request.buffer);
    }
}

static void read_layers(struct hsio_frame *frame)
{
    static const char *const names[] = {"Combined", "beauty", "a"};
    const struct hsio_frame_info *info = hsio_frame_info(frame);

    if ((int64_t)info->width * info->height > MAX_PIXELS)
        return;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct hsio_layer_info layer;
        struct hsio_layer_request request = {.name = names[i]};

        if (hsio_frame_layer(frame, names[i], &layer))
            continue;
        request.format = layer.format;
        request.buffer_bytes =
            (size_t)info->width * (size_t)info->height * hsio_format_bytes(layer.format);
        request.buffer = malloc(request.buffer_bytes);
        if (!request.buffer)
            abort();
        (void)hsio_frame_read_layers(frame, &request, 1);
        free(request.buffer);
    }
}

void fuzz_consume(const char *location, const char *preset)
{
    struct hsio_convention convention;
    struct hsio_sequence *seq = NULL;
    struct hsio_sequence_info info;
    struct hsio_file_desc *desc = NULL;

    (void)hsio_file_check(location, NULL);
    (void)hsio_file_describe(location, NULL, &desc);
    hsio_file_desc_free(&desc);
    if (hsio_convention_preset(&convention, preset, NULL))
        abort();
    if (hsio_sequence_open(location, &convention, NULL, NULL, &seq)) {
        if (seq)
            abort();
        return;
    }
    hsio_sequence_info(seq, &info);
    for (int i = 0; i < info.frame_count && i < MAX_FRAMES; i++) {
        struct hsio_frame *frame = NULL;

        if (hsio_frame_open(seq, i, &frame))
            continue;
        read_planes(frame);
        read_layers(frame);
        hsio_frame_close(&frame);
    }
    hsio_sequence_close(&seq);
}
