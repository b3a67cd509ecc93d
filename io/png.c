// SPDX-License-Identifier: MIT
#include "internal.h"

#include <errno.h>
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libpng's callbacks need. */
struct job {
    const struct hs_log *log;
    const char *path;
    FILE *file;
    struct hsio_output *out;
    char message[256];
};

static void on_error(png_structp png, png_const_charp message)
{
    struct job *job = png_get_error_ptr(png);

    snprintf(job->message, sizeof(job->message), "%.255s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    const struct job *job = png_get_error_ptr(png);

    hsio_log(job->log, HS_LOG_DEBUG, "%s: %s", job->path, message);
}

static void on_read(png_structp png, png_bytep data, size_t bytes)
{
    struct job *job = png_get_io_ptr(png);

    if (fread(data, 1, bytes, job->file) != bytes)
        png_error(png, "the file is cut off");
}

static void on_write(png_structp png, png_bytep data, size_t bytes)
{
    struct job *job = png_get_io_ptr(png);

    if (!hsio_output_write(job->out, data, bytes))
        png_error(png, "write error");
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* An open image with its header read, set up to give 1 to 4 channels of 8 or 16 bits. */
struct reader {
    struct job job;
    png_structp png;
    png_infop info;
    struct hsio_png_info facts;
    uint8_t *rows; ///< Whole image, for interlaced files.
    png_bytepp pointers;
};

static void reader_close(struct reader *r)
{
    if (r->png)
        png_destroy_read_struct(&r->png, r->info ? &r->info : NULL, NULL);
    if (r->job.file)
        fclose(r->job.file);
    free(r->rows);
    free(r->pointers);
}

static int reader_error(struct reader *r)
{
    return hsio_fail(r->job.log, HS_ERR_FORMAT, "%s: not a readable PNG: %s", r->job.path,
                     r->job.message);
}

static int reader_start(struct reader *r)
{
    const uint16_t probe = 1;

    if (setjmp(png_jmpbuf(r->png)))
        return reader_error(r);
    png_set_user_limits(r->png, HSIO_MAX_SIDE, HSIO_MAX_SIDE);
    png_set_chunk_cache_max(r->png, 128);
    png_set_chunk_malloc_max(r->png, 16 << 20);
    png_set_read_fn(r->png, &r->job, on_read);
    png_read_info(r->png, r->info);
    // Palettes become RGB, few-bit grey becomes 8 bits, a transparent colour becomes alpha.
    png_set_expand(r->png);
    if (png_get_bit_depth(r->png, r->info) == 16 && *(const uint8_t *)&probe)
        png_set_swap(r->png);
    png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
    r->facts.width = (int)png_get_image_width(r->png, r->info);
    r->facts.height = (int)png_get_image_height(r->png, r->info);
    r->facts.bits = png_get_bit_depth(r->png, r->info);
    r->facts.channels = png_get_channels(r->png, r->info);
    if ((int64_t)r->facts.width * r->facts.height > HSIO_MAX_PIXELS || r->facts.channels < 1 ||
        r->facts.channels > 4 || (r->facts.bits != 8 && r->facts.bits != 16))
        png_error(r->png, "too many pixels, or an unknown layout");
    // Deflate reaches about 1030:1 and a row has a byte more.
    if ((uint64_t)png_get_rowbytes(r->png, r->info) * (uint64_t)r->facts.height / 8192 >
        r->facts.bytes)
        png_error(r->png, "the file is too short for its size");
    return 0;
}

static int reader_open(struct reader *r, const char *path, const struct hs_log *log)
{
    int result;

    *r = (struct reader){.job = {.log = log, .path = path}};
    result = hsio_path_size(path, log, &r->facts.bytes);
    if (result)
        return result;
    r->job.file = fopen(path, "rbe");
    if (!r->job.file)
        return hsio_fail(log, HS_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    r->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r->job, on_error, on_warning);
    if (r->png)
        r->info = png_create_info_struct(r->png);
    if (!r->info)
        return hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", path);
    return reader_start(r);
}

int hsio_png_probe(const char *path, const struct hs_log *log, struct hsio_png_info *out)
{
    struct reader r;
    const int result = reader_open(&r, path, log);

    if (!result)
        *out = r.facts;
    reader_close(&r);
    return result;
}

static float srgb_to_linear(float v)
{
    return v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
}

static float linear_to_srgb(float v)
{
    return v <= 0.0031308f ? v * 12.92f : 1.055f * powf(v, 1 / 2.4f) - 0.055f;
}

static int reader_decode(struct reader *r)
{
    const size_t row = png_get_rowbytes(r->png, r->info);

    r->rows = malloc(row * (size_t)r->facts.height);
    r->pointers = malloc((size_t)r->facts.height * sizeof(*r->pointers));
    if (!r->rows || !r->pointers)
        return hsio_fail(r->job.log, HS_ERR_NOMEM, "%s: out of memory", r->job.path);
    for (int y = 0; y < r->facts.height; y++)
        r->pointers[y] = r->rows + row * (size_t)y;
    if (setjmp(png_jmpbuf(r->png)))
        return reader_error(r);
    png_read_image(r->png, r->pointers);
    png_read_end(r->png, NULL);
    return 0;
}

static float *make_table(int bits, enum hsio_transfer transfer)
{
    const int count = bits == 16 ? 65536 : 256;
    float *table = malloc((size_t)count * sizeof(*table));

    for (int i = 0; table && i < count; i++) {
        const float v = (float)i / (float)(count - 1);

        table[i] = transfer == HSIO_TRANSFER_SRGB ? srgb_to_linear(v) : v;
    }
    return table;
}

/* The file's channel behind a plane's: grey serves all colours, alpha is never a colour. */
static int source_channel(int channel, int channels, int stored)
{
    if (channels == 4 && channel == 3)
        return stored == 2 || stored == 4 ? stored - 1 : -1;
    return stored < 3 ? 0 : channel;
}

static void emit_rows(const struct reader *r, const float *table, enum hsio_type type, int channels,
                      float *line, uint8_t *dst, struct hsio_plane_stats *stats)
{
    const int stored = r->facts.channels, width = r->facts.width;
    const float scale = 1 / (float)((1 << r->facts.bits) - 1);
    const size_t out_row = (size_t)width * (size_t)channels * hsio_type_bytes(type);

    for (int y = 0; y < r->facts.height; y++) {
        const uint8_t *in8 = r->pointers[y];
        const uint16_t *in16 = (const uint16_t *)(const void *)r->pointers[y];
        struct hsio_lane lanes[4] = {0};

        for (int i = 0; i < width * stored; i++) {
            const int code = r->facts.bits == 16 ? in16[i] : in8[i];
            const bool alpha = (stored == 2 || stored == 4) && i % stored == stored - 1;

            line[i] = alpha ? (float)code * scale : table[code];
        }
        for (int c = 0; c < channels; c++) {
            const int from = source_channel(c, channels, stored);

            if (from >= 0)
                lanes[c] = (struct hsio_lane){(const uint8_t *)(line + from),
                                              (size_t)stored * sizeof(*line), HSIO_TYPE_FLOAT};
        }
        hsio_pixels_emit(dst + out_row * (size_t)y, type, channels, width, lanes, stats);
    }
}

int hsio_png_read(const char *path, enum hsio_transfer transfer, enum hsio_type type, int channels,
                  int width, int height, uint8_t *dst, struct hsio_plane_stats *stats,
                  const struct hs_log *log)
{
    float *table = NULL, *line = NULL;
    struct reader r;
    int result = reader_open(&r, path, log);

    if (!result && (r.facts.width != width || r.facts.height != height))
        result = hsio_fail(log, HS_ERR_FORMAT, "%s: is %dx%d now, was %dx%d", path, r.facts.width,
                           r.facts.height, width, height);
    if (!result)
        result = reader_decode(&r);
    if (!result) {
        table = make_table(r.facts.bits, transfer);
        line = malloc((size_t)width * (size_t)r.facts.channels * sizeof(*line));
        if (!table || !line)
            result = hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", path);
    }
    if (!result)
        emit_rows(&r, table, type, channels, line, dst, stats);
    free(table);
    free(line);
    reader_close(&r);
    return result;
}

static float curve_value(enum hsio_curve curve, float v)
{
    if (!(v > 0)) // NaN, too.
        return 0;
    switch (curve) {
    case HSIO_CURVE_SRGB:
        return v >= 1 ? 1 : linear_to_srgb(v);
    case HSIO_CURVE_METRIC:
        return isinf(v) ? 1 : powf(v / (1 + v), 1 / 2.2f);
    default:
        return v >= 1 ? 1 : v;
    }
}

static void encode_row(const uint8_t *in, enum hsio_format format, enum hsio_curve curve,
                       int channels, int bits, int width, uint8_t *out)
{
    const int stored = hsio_format_channels(format);
    const bool half = hsio_format_type(format) == HSIO_TYPE_HALF;
    const float top = (float)((1 << bits) - 1);

    for (int x = 0; x < width; x++) {
        for (int c = 0; c < channels; c++) {
            const int at = x * stored + (stored < 3 ? 0 : c), index = x * channels + c;
            uint16_t h = 0;
            float v;
            int code;

            if (half) {
                memcpy(&h, in + (size_t)at * 2, sizeof(h));
                v = hsio_half_to_float(h);
            } else {
                memcpy(&v, in + (size_t)at * 4, sizeof(v));
            }
            code = (int)(curve_value(c == 3 ? HSIO_CURVE_NONE : curve, v) * top + 0.5f);
            if (bits == 16) {
                out[index * 2] = (uint8_t)(code >> 8);
                out[index * 2 + 1] = (uint8_t)code;
            } else {
                out[index] = (uint8_t)code;
            }
        }
    }
}

static void set_header(png_structp png, png_infop info, int width, int height, int bits,
                       int channels, const struct hsio_write_options *options)
{
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, bits,
                 channels == 4 ? PNG_COLOR_TYPE_RGBA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (options->curve == HSIO_CURVE_SRGB)
        png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    for (int i = 0; i < options->attribute_count; i++) {
        png_text text = {
            .compression = PNG_TEXT_COMPRESSION_NONE,
            .key = (png_charp)(uintptr_t)options->attributes[i].name,
            .text = (png_charp)(uintptr_t)options->attributes[i].value,
        };

        png_set_text(png, info, &text, 1);
    }
    png_set_compression_level(png, 3);
    png_write_info(png, info);
}

static int write_image(struct job *job, png_structp png, png_infop info, int width, int height,
                       const struct hsio_write_plane *plane,
                       const struct hsio_write_options *options, uint8_t *line)
{
    const size_t pitch =
        plane->row_bytes ? plane->row_bytes : (size_t)width * hsio_format_bytes(plane->format);
    const int bits = options->png_bits == 16 ? 16 : 8, channels = options->png_alpha ? 4 : 3;

    if (setjmp(png_jmpbuf(png)))
        return job->out->saved_errno
                   ? HS_ERR_IO
                   : hsio_fail(job->log, HS_ERR_INTERNAL, "%s: %s", job->path, job->message);
    png_set_write_fn(png, job, on_write, on_flush);
    set_header(png, info, width, height, bits, channels, options);
    for (int y = 0; y < height; y++) {
        encode_row((const uint8_t *)plane->data + pitch * (size_t)y, plane->format, options->curve,
                   channels, bits, width, line);
        png_write_row(png, line);
    }
    png_write_end(png, NULL);
    return 0;
}

int hsio_png_write(const char *path, int width, int height, const struct hsio_write_plane *plane,
                   const struct hsio_write_options *options, const struct hs_log *log)
{
    struct hsio_output out;
    struct job job = {.log = log, .path = path, .out = &out};
    png_structp png = NULL;
    png_infop info = NULL;
    uint8_t *line = NULL;
    int result = hsio_output_open(&out, path, log);

    if (result)
        return result;
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning);
    info = png ? png_create_info_struct(png) : NULL;
    line = malloc((size_t)width * 8);
    if (!info || !line)
        result = hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", path);
    else
        result = write_image(&job, png, info, width, height, plane, options, line);
    png_destroy_write_struct(&png, &info);
    free(line);
    // An error of the file itself is told by commit, once.
    if (!result || out.saved_errno)
        return hsio_output_commit(&out, log);
    hsio_output_abort(&out);
    return result;
}
