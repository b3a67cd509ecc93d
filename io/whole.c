// SPDX-License-Identifier: MIT
/** Whether files that something else may have cut short are whole, without decoding them. */
#include "internal.h"

#include <openexr.h>
#include <stdio.h>
#include <string.h>

/* The chunk lies in the file, and says itself that it is the wanted one. */
static bool is_there(const struct hsio_exr *exr, exr_result_t result, const exr_chunk_info_t *info)
{
    const uint64_t bytes = hsio_exr_bytes(exr);

    return result == EXR_ERR_SUCCESS && info->data_offset <= bytes &&
           info->packed_size <= bytes - info->data_offset;
}

static bool has_lines(const struct hsio_exr *exr, int part)
{
    const exr_context_t context = hsio_exr_context(exr);
    const struct hsio_box *data = &hsio_exr_part(exr, part)->data;
    int32_t lines = 0;

    if (exr_get_scanlines_per_chunk(context, part, &lines) != EXR_ERR_SUCCESS || lines < 1)
        return false;
    for (int64_t y = data->min_y; y <= data->max_y; y += lines) {
        exr_chunk_info_t info = {0};

        if (!is_there(exr, exr_read_scanline_chunk_info(context, part, (int)y, &info), &info))
            return false;
    }
    return true;
}

static bool has_tiles(const struct hsio_exr *exr, int part)
{
    const exr_context_t context = hsio_exr_context(exr);
    const struct hsio_box *data = &hsio_exr_part(exr, part)->data;
    const int64_t width = (int64_t)data->max_x - data->min_x + 1;
    const int64_t height = (int64_t)data->max_y - data->min_y + 1;
    int32_t tile_width = 0, tile_height = 0;

    if (exr_get_tile_sizes(context, part, 0, 0, &tile_width, &tile_height) != EXR_ERR_SUCCESS ||
        tile_width < 1 || tile_height < 1)
        return false;
    for (int64_t y = 0; y < height; y += tile_height) {
        for (int64_t x = 0; x < width; x += tile_width) {
            exr_chunk_info_t info = {0};
            const exr_result_t result = exr_read_tile_chunk_info(
                context, part, (int)(x / tile_width), (int)(y / tile_height), 0, 0, &info);

            if (!is_there(exr, result, &info))
                return false;
        }
    }
    return true;
}

static int check_exr(const char *path, const struct hs_log *log)
{
    struct hsio_exr *exr = NULL;
    int result = hsio_exr_open(path, log, &exr);

    for (int i = 0; !result && i < hsio_exr_part_count(exr); i++) {
        const struct hsio_exr_part *part = hsio_exr_part(exr, i);

        if (!part->deep && !(part->tiled ? has_tiles(exr, i) : has_lines(exr, i)))
            result = hsio_fail(log, HS_ERR_FORMAT, "%s: pixels are missing or damaged", path);
    }
    hsio_exr_close(&exr);
    return result;
}

static int check_png(const char *path, const struct hs_log *log)
{
    static const uint8_t last[12] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
    uint8_t end[sizeof(last)];
    struct hsio_png_info info;
    FILE *file;
    bool same;
    int result = hsio_png_probe(path, log, &info);

    if (result)
        return result;
    file = fopen(path, "rbe");
    same = file && !fseek(file, -(long)sizeof(end), SEEK_END) &&
           fread(end, 1, sizeof(end), file) == sizeof(end) && !memcmp(end, last, sizeof(end));
    if (file)
        fclose(file);
    return same ? 0 : hsio_fail(log, HS_ERR_FORMAT, "%s: is cut short: its end is missing", path);
}

int hsio_file_check(const char *path, const struct hs_log *log)
{
    if (hsio_path_has_extension(path, ".exr"))
        return check_exr(path, log);
    if (hsio_path_has_extension(path, ".png"))
        return check_png(path, log);
    return hsio_fail(log, HS_ERR_UNSUPPORTED, "%s: neither .exr nor .png", path);
}
