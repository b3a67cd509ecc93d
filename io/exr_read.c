// SPDX-License-Identifier: MIT
/** Decoding planes of an EXR: all targets of a part in one pass over its chunks. */
#include "internal.h"

#include <openexr.h>
#include <stdlib.h>
#include <string.h>

/* One channel of the part, decoded chunk by chunk in its own type. */
struct lane {
    int channel;
    enum hsio_type type;
    int x_sampling, y_sampling;
    uint8_t *data; ///< A chunk; a whole plane for chroma.
    size_t bytes;
};

/* Luminance and chroma are kept whole: chroma of a chunk's last lines lies in the next chunk. */
struct whole {
    float *planes[4];
    int width[4], height[4];
};

struct pass {
    struct hsio_exr *exr;
    const struct hs_log *log;
    int part;
    const struct hsio_exr_target *targets;
    struct whole *wholes; ///< One a target, used by chroma targets.
    int target_count;
    struct lane *lanes; ///< Indexed by channel; `data` NULL: not wanted.
    int lane_count;
    struct hsio_box data;
};

static int box_width(struct hsio_box b)
{
    return b.max_x - b.min_x + 1;
}

static int box_height(struct hsio_box b)
{
    return b.max_y - b.min_y + 1;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Samples among the first `count` pixels of the data window; the format starts at a sample. */
static int sample_count(int count, int sampling)
{
    return (count + sampling - 1) / sampling;
}

/* Samples among `count` pixels from the `first` of the data window on. */
static int lane_samples(int first, int count, int sampling)
{
    return sample_count(first + count, sampling) - sample_count(first, sampling);
}

static uint8_t *target_pixel(const struct hsio_exr_target *t, int x, int y)
{
    const size_t pixel = hsio_type_bytes(t->type) * (size_t)t->out_channels;
    const size_t offset = (size_t)(y - t->canvas.min_y) * (size_t)box_width(t->canvas) +
                          (size_t)(x - t->canvas.min_x);

    return t->dst + offset * pixel;
}

/* Pixels of the canvas that the data window doesn't cover. */
static void fill_outside(const struct hsio_exr_target *t, struct hsio_box data)
{
    const struct hsio_box c = t->canvas;
    const int64_t width = box_width(c);
    const int y0 = larger(c.min_y, data.min_y), y1 = smaller(c.max_y, data.max_y);
    const int x0 = larger(c.min_x, data.min_x), x1 = smaller(c.max_x, data.max_x);

    if (x0 > x1 || y0 > y1) {
        hsio_pixels_fill(t->dst, t->type, t->out_channels, width * box_height(c), t->fill);
        return;
    }
    hsio_pixels_fill(t->dst, t->type, t->out_channels, width * (y0 - c.min_y), t->fill);
    for (int y = y0; y <= y1 && (x0 > c.min_x || x1 < c.max_x); y++) {
        hsio_pixels_fill(target_pixel(t, c.min_x, y), t->type, t->out_channels, x0 - c.min_x,
                         t->fill);
        if (x1 < c.max_x)
            hsio_pixels_fill(target_pixel(t, x1 + 1, y), t->type, t->out_channels, c.max_x - x1,
                             t->fill);
    }
    if (y1 < c.max_y)
        hsio_pixels_fill(target_pixel(t, c.min_x, y1 + 1), t->type, t->out_channels,
                         width * (c.max_y - y1), t->fill);
}

static void emit_chunk(const struct pass *pass, const struct hsio_exr_target *t, int x, int y,
                       int width, int height)
{
    const int x0 = larger(x, t->canvas.min_x), x1 = smaller(x + width - 1, t->canvas.max_x);
    const int y0 = larger(y, t->canvas.min_y), y1 = smaller(y + height - 1, t->canvas.max_y);

    for (int row = y0; row <= y1 && x0 <= x1; row++) {
        struct hsio_lane lanes[4] = {0};

        for (int c = 0; c < t->out_channels; c++) {
            const struct lane *lane = t->channels[c] < 0 ? NULL : &pass->lanes[t->channels[c]];
            const size_t bytes = lane ? hsio_type_bytes(lane->type) : 0;

            if (lane)
                lanes[c] = (struct hsio_lane){
                    .data =
                        lane->data + ((size_t)(row - y) * (size_t)width + (size_t)(x0 - x)) * bytes,
                    .stride_bytes = bytes,
                    .type = lane->type,
                };
        }
        hsio_pixels_emit(target_pixel(t, x0, row), t->type, t->out_channels, x1 - x0 + 1, lanes,
                         t->stats);
    }
}

static void keep_chunk(const struct pass *pass, const struct hsio_exr_target *t,
                       struct whole *whole, int x, int y, int width, int height)
{
    for (int c = 0; c < 4; c++) {
        const struct lane *lane = t->channels[c] < 0 ? NULL : &pass->lanes[t->channels[c]];
        int w, h, column, row;

        if (!lane)
            continue;
        column = sample_count(x - pass->data.min_x, lane->x_sampling);
        row = sample_count(y - pass->data.min_y, lane->y_sampling);
        w = lane_samples(x - pass->data.min_x, width, lane->x_sampling);
        h = lane_samples(y - pass->data.min_y, height, lane->y_sampling);
        for (int i = 0; i < h; i++) {
            const size_t bytes = hsio_type_bytes(lane->type);
            const struct hsio_lane in = {
                .data = lane->data + (size_t)i * (size_t)w * bytes,
                .stride_bytes = bytes,
                .type = lane->type,
            };
            float *out = whole->planes[c] + (size_t)(row + i) * (size_t)whole->width[c] + column;

            hsio_pixels_emit((uint8_t *)out, HSIO_TYPE_FLOAT, 1, w, &in, NULL);
        }
    }
}

static int decode_error(const struct pass *pass, exr_result_t result, int x, int y)
{
    const struct hsio_exr_target *t = pass->targets;

    while (t->part != pass->part)
        t++;
    return hsio_fail(pass->log, hsio_exr_code(result),
                     "%s: part %d: plane %s: pixels of the chunk at %d,%d are damaged or cut off: "
                     "%s (%s)",
                     hsio_exr_path(pass->exr), pass->part, t->what, x, y,
                     exr_get_default_error_message(result), hsio_exr_message(pass->exr));
}

/* Decodes one chunk whose first pixel is x, y. */
static int decode_chunk(const struct pass *pass, const exr_chunk_info_t *info, int x, int y,
                        exr_decode_pipeline_t *decode, bool *first)
{
    const exr_context_t context = hsio_exr_context(pass->exr);
    exr_result_t result;

    result = *first ? exr_decoding_initialize(context, pass->part, info, decode)
                    : exr_decoding_update(context, pass->part, info, decode);
    if (result != EXR_ERR_SUCCESS)
        return decode_error(pass, result, x, y);
    *first = false;
    for (int c = 0; c < decode->channel_count; c++) {
        const struct lane *lane = &pass->lanes[c];
        exr_coding_channel_info_t *out = &decode->channels[c];
        const size_t bytes = hsio_type_bytes(lane->type);

        out->decode_to_ptr = NULL;
        if (!lane->data)
            continue;
        if (out->width != lane_samples(x - pass->data.min_x, info->width, lane->x_sampling) ||
            out->height != lane_samples(y - pass->data.min_y, info->height, lane->y_sampling) ||
            out->bytes_per_element != (int8_t)bytes ||
            (size_t)out->width * (size_t)out->height * bytes > lane->bytes)
            return hsio_fail(pass->log, HS_ERR_FORMAT, "%s: part %d: channel %s: bad chunk size",
                             hsio_exr_path(pass->exr), pass->part, out->channel_name);
        out->decode_to_ptr = lane->data;
        out->user_data_type = out->data_type;
        out->user_bytes_per_element = out->bytes_per_element;
        out->user_pixel_stride = out->bytes_per_element;
        out->user_line_stride = out->width * out->bytes_per_element;
    }
    result = exr_decoding_choose_default_routines(context, pass->part, decode);
    if (result == EXR_ERR_SUCCESS)
        result = exr_decoding_run(context, pass->part, decode);
    if (result != EXR_ERR_SUCCESS)
        return decode_error(pass, result, x, y);
    for (int i = 0; i < pass->target_count; i++) {
        const struct hsio_exr_target *t = &pass->targets[i];

        if (t->part == pass->part && t->chroma)
            keep_chunk(pass, t, &pass->wholes[i], x, y, info->width, info->height);
        else if (t->part == pass->part)
            emit_chunk(pass, t, x, y, info->width, info->height);
    }
    return 0;
}

/* True if any target shows these rows and columns. */
static bool visible(const struct pass *pass, int x, int y, int width, int height)
{
    for (int i = 0; i < pass->target_count; i++) {
        const struct hsio_exr_target *t = &pass->targets[i];

        if (t->part == pass->part &&
            (t->chroma || (x <= t->canvas.max_x && x + width > t->canvas.min_x &&
                           y <= t->canvas.max_y && y + height > t->canvas.min_y)))
            return true;
    }
    return false;
}

static int decode_scanlines(const struct pass *pass, int lines, exr_decode_pipeline_t *decode)
{
    const exr_context_t context = hsio_exr_context(pass->exr);
    const int width = box_width(pass->data);
    bool first = true;
    int status = 0;

    for (int64_t y = pass->data.min_y; y <= pass->data.max_y && !status; y += lines) {
        exr_chunk_info_t info = {0};
        exr_result_t result;

        if (!visible(pass, pass->data.min_x, (int)y, width, lines))
            continue;
        result = exr_read_scanline_chunk_info(context, pass->part, (int)y, &info);
        if (result != EXR_ERR_SUCCESS)
            return decode_error(pass, result, pass->data.min_x, (int)y);
        if (info.width != width || info.height > lines || info.height < 1)
            return decode_error(pass, EXR_ERR_CORRUPT_CHUNK, pass->data.min_x, (int)y);
        status = decode_chunk(pass, &info, pass->data.min_x, (int)y, decode, &first);
    }
    return status;
}

static int decode_tiles(const struct pass *pass, int tile_width, int tile_height,
                        exr_decode_pipeline_t *decode)
{
    const exr_context_t context = hsio_exr_context(pass->exr);
    const int columns = (box_width(pass->data) + tile_width - 1) / tile_width;
    const int rows = (box_height(pass->data) + tile_height - 1) / tile_height;
    bool first = true;
    int status = 0;

    for (int ty = 0; ty < rows; ty++) {
        for (int tx = 0; tx < columns && !status; tx++) {
            const int x = pass->data.min_x + tx * tile_width;
            const int y = pass->data.min_y + ty * tile_height;
            exr_chunk_info_t info = {0};
            exr_result_t result;

            if (!visible(pass, x, y, tile_width, tile_height))
                continue;
            result = exr_read_tile_chunk_info(context, pass->part, tx, ty, 0, 0, &info);
            if (result != EXR_ERR_SUCCESS)
                return decode_error(pass, result, x, y);
            if (info.width > tile_width || info.height > tile_height || info.width < 1 ||
                info.height < 1)
                return decode_error(pass, EXR_ERR_CORRUPT_CHUNK, x, y);
            status = decode_chunk(pass, &info, x, y, decode, &first);
        }
    }
    return status;
}

static int prepare_lane(struct pass *pass, const struct hsio_exr_target *t, int channel,
                        int64_t chunk_pixels)
{
    struct lane *lane = &pass->lanes[channel];

    hsio_exr_channel_sampling(pass->exr, pass->part, channel, &lane->x_sampling, &lane->y_sampling);
    if (lane->x_sampling < 1 || lane->y_sampling < 1 || pass->data.min_x % lane->x_sampling ||
        pass->data.min_y % lane->y_sampling)
        return hsio_fail(pass->log, HS_ERR_FORMAT, "%s: part %d: channel %s: bad sampling %dx%d",
                         hsio_exr_path(pass->exr), pass->part,
                         hsio_exr_channel_name(pass->exr, pass->part, channel), lane->x_sampling,
                         lane->y_sampling);
    if ((lane->x_sampling != 1 || lane->y_sampling != 1) && !t->chroma)
        return hsio_fail(pass->log, HS_ERR_UNSUPPORTED,
                         "%s: part %d: plane %s: channel %s is subsampled %dx%d; only luminance "
                         "and chroma (Y, RY, BY) may be",
                         hsio_exr_path(pass->exr), pass->part, t->what,
                         hsio_exr_channel_name(pass->exr, pass->part, channel), lane->x_sampling,
                         lane->y_sampling);
    if (lane->data)
        return 0;
    lane->channel = channel;
    lane->type = hsio_exr_channel_type(pass->exr, pass->part, channel);
    lane->bytes = (size_t)chunk_pixels * hsio_type_bytes(lane->type);
    lane->data = calloc(lane->bytes, 1);
    return lane->data ? 0
                      : hsio_fail(pass->log, HS_ERR_NOMEM, "%s: out of memory for %zu bytes",
                                  hsio_exr_path(pass->exr), lane->bytes);
}

static int prepare_whole(const struct pass *pass, const struct hsio_exr_target *t,
                         struct whole *whole)
{
    for (int c = 0; c < 4; c++) {
        const struct lane *lane = t->channels[c] < 0 ? NULL : &pass->lanes[t->channels[c]];

        if (!lane)
            continue;
        whole->width[c] = sample_count(box_width(pass->data), lane->x_sampling);
        whole->height[c] = sample_count(box_height(pass->data), lane->y_sampling);
        whole->planes[c] =
            calloc((size_t)whole->width[c] * (size_t)whole->height[c], sizeof(float));
        if (!whole->planes[c])
            return hsio_fail(pass->log, HS_ERR_NOMEM, "%s: out of memory",
                             hsio_exr_path(pass->exr));
    }
    return 0;
}

/* Linear between samples; sample i sits at pixel i * sampling of the data window. */
static float sample_chroma(const struct whole *w, int c, float x, float y)
{
    const int x0 = smaller((int)x, w->width[c] - 1), x1 = smaller(x0 + 1, w->width[c] - 1);
    const int y0 = smaller((int)y, w->height[c] - 1), y1 = smaller(y0 + 1, w->height[c] - 1);
    const float ax = x1 > x0 ? x - (float)x0 : 0, ay = y1 > y0 ? y - (float)y0 : 0;
    const float *r0 = w->planes[c] + (size_t)y0 * (size_t)w->width[c];
    const float *r1 = w->planes[c] + (size_t)y1 * (size_t)w->width[c];

    return (r0[x0] * (1 - ax) + r0[x1] * ax) * (1 - ay) + (r1[x0] * (1 - ax) + r1[x1] * ax) * ay;
}

static void luminance_weights(const struct pass *pass, float out[3])
{
    const exr_context_t context = hsio_exr_context(pass->exr);
    const exr_attribute_t *attr;

    out[0] = 0.2126f;
    out[1] = 0.7152f;
    out[2] = 0.0722f;
    if (exr_get_attribute_by_name(context, pass->part, "chromaticities", &attr) ==
            EXR_ERR_SUCCESS &&
        attr->type == EXR_ATTR_CHROMATICITIES)
        hsio_luminance_weights((const float *)attr->chromaticities, out);
}

static void emit_chroma(const struct pass *pass, const struct hsio_exr_target *t,
                        const struct whole *w, float *row)
{
    const int x0 = larger(pass->data.min_x, t->canvas.min_x);
    const int x1 = smaller(pass->data.max_x, t->canvas.max_x);
    const int y0 = larger(pass->data.min_y, t->canvas.min_y);
    const int y1 = smaller(pass->data.max_y, t->canvas.max_y);
    float weight[3];

    luminance_weights(pass, weight);
    for (int y = y0; y <= y1 && x0 <= x1; y++) {
        struct hsio_lane lanes[4];

        for (int x = x0; x <= x1; x++) {
            float v[4], *out = row + (size_t)(x - x0) * 4;

            for (int c = 0; c < 4; c++) {
                const struct lane *lane = t->channels[c] < 0 ? NULL : &pass->lanes[t->channels[c]];

                v[c] = lane ? sample_chroma(w, c,
                                            (float)(x - pass->data.min_x) / (float)lane->x_sampling,
                                            (float)(y - pass->data.min_y) / (float)lane->y_sampling)
                            : 1;
            }
            out[0] = (v[1] + 1) * v[0];
            out[2] = (v[2] + 1) * v[0];
            out[1] = (v[0] - out[0] * weight[0] - out[2] * weight[2]) / weight[1];
            out[3] = v[3];
        }
        for (int c = 0; c < 4; c++)
            lanes[c] = (struct hsio_lane){(const uint8_t *)(row + c), 16, HSIO_TYPE_FLOAT};
        hsio_pixels_emit(target_pixel(t, x0, y), t->type, 4, x1 - x0 + 1, lanes, t->stats);
    }
}

static int run_pass(struct pass *pass, int64_t chunk_pixels, int lines, int tile_width,
                    int tile_height)
{
    exr_decode_pipeline_t decode = EXR_DECODE_PIPELINE_INITIALIZER;
    float *row = NULL;
    int result = 0;

    for (int i = 0; i < pass->target_count && !result; i++) {
        const struct hsio_exr_target *t = &pass->targets[i];

        if (t->part != pass->part)
            continue;
        for (int c = 0; c < 4 && !result; c++) {
            if (t->channels[c] >= 0)
                result = prepare_lane(pass, t, t->channels[c], chunk_pixels);
        }
        if (!result && t->chroma)
            result = prepare_whole(pass, t, &pass->wholes[i]);
        if (!result)
            fill_outside(t, pass->data);
    }
    if (!result)
        result = tile_width ? decode_tiles(pass, tile_width, tile_height, &decode)
                            : decode_scanlines(pass, lines, &decode);
    exr_decoding_destroy(hsio_exr_context(pass->exr), &decode);
    for (int i = 0; i < pass->target_count && !result; i++) {
        if (pass->targets[i].part != pass->part || !pass->targets[i].chroma)
            continue;
        if (!row)
            row = malloc((size_t)box_width(pass->data) * 4 * sizeof(*row));
        if (!row)
            result =
                hsio_fail(pass->log, HS_ERR_NOMEM, "%s: out of memory", hsio_exr_path(pass->exr));
        else
            emit_chroma(pass, &pass->targets[i], &pass->wholes[i], row);
    }
    free(row);
    return result;
}

static int read_part(struct hsio_exr *exr, int part, const struct hsio_exr_target *targets,
                     int count, const struct hs_log *log)
{
    const struct hsio_exr_part *p = hsio_exr_part(exr, part);
    const exr_context_t context = hsio_exr_context(exr);
    struct pass pass = {
        .exr = exr,
        .log = log,
        .part = part,
        .targets = targets,
        .target_count = count,
        .lane_count = p->channel_count,
        .data = p->data,
    };
    int32_t tile_width = 0, tile_height = 0, lines = 1;
    int64_t chunk_pixels;
    int result = HS_ERR_FORMAT;

    if (p->tiled &&
        (exr_get_tile_sizes(context, part, 0, 0, &tile_width, &tile_height) != EXR_ERR_SUCCESS ||
         tile_width < 1 || tile_height < 1))
        return hsio_fail(log, HS_ERR_FORMAT, "%s: part %d: bad tile size", hsio_exr_path(exr),
                         part);
    if (!p->tiled &&
        (exr_get_scanlines_per_chunk(context, part, &lines) != EXR_ERR_SUCCESS || lines < 1))
        return hsio_fail(log, HS_ERR_FORMAT, "%s: part %d: bad compression", hsio_exr_path(exr),
                         part);
    chunk_pixels = p->tiled ? (int64_t)smaller(tile_width, box_width(p->data)) *
                                  smaller(tile_height, box_height(p->data))
                            : (int64_t)box_width(p->data) * smaller(lines, box_height(p->data));
    pass.lanes = calloc((size_t)p->channel_count, sizeof(*pass.lanes));
    pass.wholes = calloc((size_t)count, sizeof(*pass.wholes));
    if (!pass.lanes || !pass.wholes)
        result = hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", hsio_exr_path(exr));
    else
        result = run_pass(&pass, chunk_pixels, lines, tile_width, tile_height);
    for (int i = 0; pass.lanes && i < pass.lane_count; i++)
        free(pass.lanes[i].data);
    for (int i = 0; pass.wholes && i < count * 4; i++)
        free(pass.wholes[i / 4].planes[i % 4]);
    free(pass.lanes);
    free(pass.wholes);
    return result;
}

int hsio_exr_read(struct hsio_exr *exr, const struct hsio_exr_target *targets, int count,
                  const struct hs_log *log)
{
    int result = 0;

    for (int part = 0; part < hsio_exr_part_count(exr) && !result; part++) {
        for (int i = 0; i < count; i++) {
            if (targets[i].part == part) {
                result = read_part(exr, part, targets, count, log);
                break;
            }
        }
    }
    return result;
}
