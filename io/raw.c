// SPDX-License-Identifier: MIT
/** Raw planes: tightly packed pixels, nothing else. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Rows that are converted at once. */
#define BAND 64

int hsio_raw_format(const char *path, uint64_t bytes, enum hsio_plane plane, int width, int height)
{
    const char *dot = strrchr(path, '.');
    const uint64_t pixels = (uint64_t)width * (uint64_t)height;
    const int channels = hsio_plane_channels(plane);
    int found = dot ? hsio_format_from_name(dot + 1) : -1;

    for (int i = 1; found < 0 && i < HSIO_FORMAT_COUNT; i++) {
        if (hsio_format_channels((enum hsio_format)i) == channels &&
            pixels * hsio_format_bytes((enum hsio_format)i) == bytes)
            found = i;
    }
    return found;
}

static bool read_exactly(int fd, void *buffer, size_t bytes)
{
    uint8_t *p = buffer;

    while (bytes) {
        const ssize_t n = read(fd, p, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Without conversion the pixels go from the file to the caller's memory. */
static bool read_bands(int fd, enum hsio_format stored, enum hsio_format wanted, int width,
                       int height, uint8_t *dst, struct hsio_plane_stats *stats, uint8_t *band)
{
    const int channels = hsio_format_channels(stored);
    const enum hsio_type type = hsio_format_type(stored);
    const size_t in_row = (size_t)width * hsio_format_bytes(stored);
    const size_t out_row = (size_t)width * hsio_format_bytes(wanted);

    for (int y = 0; y < height; y += BAND) {
        const int rows = height - y < BAND ? height - y : BAND;

        if (!read_exactly(fd, band, in_row * (size_t)rows))
            return false;
        for (int r = 0; r < rows; r++) {
            struct hsio_lane lanes[4] = {0};

            for (int c = 0; c < channels; c++)
                lanes[c] = (struct hsio_lane){
                    .data = band + in_row * (size_t)r + (size_t)c * hsio_type_bytes(type),
                    .stride_bytes = hsio_format_bytes(stored),
                    .type = type,
                };
            hsio_pixels_emit(dst + out_row * (size_t)(y + r), hsio_format_type(wanted), channels,
                             width, lanes, stats);
        }
    }
    return true;
}

int hsio_raw_read(const char *path, enum hsio_plane plane, enum hsio_format stored,
                  enum hsio_format wanted, int width, int height, uint8_t *dst,
                  struct hsio_plane_stats *stats, const struct hs_log *log)
{
    const size_t row = (size_t)width * hsio_format_bytes(stored);
    const bool direct = stored == wanted && !stats;
    uint8_t *band = NULL;
    struct stat st;
    int result = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st)) {
        result = hsio_fail(log, HS_ERR_IO, "%s: plane %s: cannot be opened: %s", path,
                           hsio_plane_name(plane), strerror(errno));
        goto error;
    }
    if ((uint64_t)st.st_size != (uint64_t)row * (uint64_t)height) {
        result = hsio_fail(
            log, HS_ERR_FORMAT, "%s: plane %s: %dx%d %s needs %llu bytes, the file has %llu", path,
            hsio_plane_name(plane), width, height, hsio_format_name(stored),
            (unsigned long long)row * (unsigned long long)height, (unsigned long long)st.st_size);
        goto error;
    }
    if (!direct)
        band = malloc(row * BAND);
    if (!direct && !band)
        result = hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", path);
    else if (!(direct ? read_exactly(fd, dst, row * (size_t)height)
                      : read_bands(fd, stored, wanted, width, height, dst, stats, band)))
        result =
            hsio_fail(log, HS_ERR_IO, "%s: plane %s: reading failed", path, hsio_plane_name(plane));
error:
    free(band);
    if (fd >= 0)
        close(fd);
    return result;
}

int hsio_raw_write(const char *path, int width, int height, const struct hsio_write_plane *plane,
                   const struct hs_log *log)
{
    const size_t row = (size_t)width * hsio_format_bytes(plane->format);
    const size_t pitch = plane->row_bytes ? plane->row_bytes : row;
    struct hsio_output out;
    int result = hsio_output_open(&out, path, log);
    bool good = !result;

    for (int y = 0; good && y < height; y++)
        good = hsio_output_write(&out, (const uint8_t *)plane->data + pitch * (size_t)y, row);
    return result ? result : hsio_output_commit(&out, log);
}
