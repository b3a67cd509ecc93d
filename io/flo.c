// SPDX-License-Identifier: MIT
/** Middlebury files: .flo has flow (u, v), .dpt one channel; little-endian floats after a head. */
#include "internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG 202021.25f
#define HEAD_BYTES 12
/** Greater values stand for "unknown". */
#define UNKNOWN 1e9f

bool hsio_flo_is(const char *path)
{
    return hsio_path_has_extension(path, ".flo") || hsio_path_has_extension(path, ".dpt");
}

/* Tag, width, height. The file stays open behind them. */
static int read_head(const char *path, const struct hs_log *log, FILE **out,
                     struct hsio_flo_info *info)
{
    uint8_t head[HEAD_BYTES];
    int32_t size[2];
    uint64_t needed;
    float tag;
    FILE *file;
    int result = hsio_path_size(path, log, &info->bytes);

    if (result)
        return result;
    file = fopen(path, "rbe");
    if (!file)
        return hsio_fail(log, HS_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    if (fread(head, 1, sizeof(head), file) != sizeof(head)) {
        result = hsio_fail(log, HS_ERR_FORMAT, "%s: %llu bytes are no .flo file", path,
                           (unsigned long long)info->bytes);
        goto error;
    }
    memcpy(&tag, head, sizeof(tag));
    memcpy(size, head + 4, sizeof(size));
    info->channels = hsio_path_has_extension(path, ".dpt") ? 1 : 2;
    info->width = size[0];
    info->height = size[1];
    if (tag != TAG) {
        result = hsio_fail(log, HS_ERR_FORMAT, "%s: expected the tag %.2f, found %g", path,
                           (double)TAG, (double)tag);
    } else if (size[0] < 1 || size[1] < 1 || size[0] > HSIO_MAX_SIDE || size[1] > HSIO_MAX_SIDE ||
               (int64_t)size[0] * size[1] > HSIO_MAX_PIXELS) {
        result = hsio_fail(log, HS_ERR_FORMAT, "%s: %d x %d is no size", path, (int)size[0],
                           (int)size[1]);
    } else {
        needed = HEAD_BYTES +
                 4 * (uint64_t)info->channels * (uint64_t)info->width * (uint64_t)info->height;
        if (needed != info->bytes)
            result = hsio_fail(log, HS_ERR_FORMAT, "%s: %dx%d needs %llu bytes, the file has %llu",
                               path, info->width, info->height, (unsigned long long)needed,
                               (unsigned long long)info->bytes);
    }
error:
    if (result)
        fclose(file);
    else
        *out = file;
    return result;
}

int hsio_flo_probe(const char *path, const struct hs_log *log, struct hsio_flo_info *out)
{
    FILE *file;
    const int result = read_head(path, log, &file, out);

    if (!result)
        fclose(file);
    return result;
}

static void mark_unknown(float *row, int width)
{
    for (int x = 0; x < width; x++) {
        if (!(fabsf(row[2 * x]) <= UNKNOWN && fabsf(row[2 * x + 1]) <= UNKNOWN))
            row[2 * x] = row[2 * x + 1] = NAN;
    }
}

int hsio_flo_read(const char *path, enum hsio_type type, int width, int height, int channels,
                  uint8_t *dst, struct hsio_plane_stats *stats, const struct hs_log *log)
{
    const size_t count = (size_t)width * (size_t)channels;
    const size_t out_row = count * hsio_type_bytes(type);
    struct hsio_flo_info info;
    FILE *file = NULL;
    float *row = NULL;
    int result = read_head(path, log, &file, &info);

    if (result)
        return result;
    if (info.width != width || info.height != height || info.channels != channels) {
        result = hsio_fail(log, HS_ERR_FORMAT, "%s: has changed since it was opened", path);
        goto error;
    }
    row = malloc(count * sizeof(*row));
    if (!row)
        result = hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", path);
    for (int y = 0; !result && y < height; y++) {
        struct hsio_lane lanes[4] = {0};

        if (fread(row, sizeof(*row), count, file) != count) {
            result = hsio_fail(log, HS_ERR_IO, "%s: reading failed", path);
            break;
        }
        if (channels == 2)
            mark_unknown(row, width);
        for (int c = 0; c < channels; c++)
            lanes[c] = (struct hsio_lane){.data = (const uint8_t *)(row + c),
                                          .stride_bytes = (size_t)channels * sizeof(*row),
                                          .type = HSIO_TYPE_FLOAT};
        hsio_pixels_emit(dst + out_row * (size_t)y, type, channels, width, lanes, stats);
    }
error:
    free(row);
    fclose(file);
    return result;
}
