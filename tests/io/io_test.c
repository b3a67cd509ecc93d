// SPDX-License-Identifier: MIT
#include "io_test.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

char io_last[HS_LOG_TRACE + 1][4096];
int io_errors;

static void keep(void *priv, enum hs_log_level level, const char *msg)
{
    (void)priv;
    snprintf(io_last[level], sizeof(io_last[level]), "%s", msg);
    io_errors += level == HS_LOG_ERROR;
}

struct hs_log io_log = {.cb = keep, .level = HS_LOG_TRACE};

void io_log_clear(void)
{
    memset(io_last, 0, sizeof(io_last));
    io_errors = 0;
}

static char scratch[256];

static void remove_tree(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *e;

    while (dir && (e = readdir(dir))) {
        char name[1024];

        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
        if (unlink(name))
            remove_tree(name);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

static void clean_up(void)
{
    remove_tree(scratch);
}

const char *io_folder(void)
{
    const char *base = getenv("TMPDIR");

    if (!scratch[0]) {
        snprintf(scratch, sizeof(scratch), "%.200s/hsio-test-XXXXXX", base ? base : "/tmp");
        REQUIRE(mkdtemp(scratch));
        atexit(clean_up);
    }
    return scratch;
}

const char *io_path(const char *format, ...)
{
    static char ring[16][512];
    static int at;
    char *out = ring[at++ % 16], name[256];
    va_list args;

    va_start(args, format);
    vsnprintf(name, sizeof(name), format, args);
    va_end(args);
    snprintf(out, 512, "%s/%s", io_folder(), name);
    return out;
}

void io_store(const char *path, const void *data, size_t bytes)
{
    FILE *file;

    // Some file systems flush a file that is truncated and written again.
    remove(path);
    file = fopen(path, "wb");
    REQUIRE(file);
    REQUIRE(!bytes || fwrite(data, 1, bytes, file) == bytes);
    REQUIRE(!fclose(file));
}

uint8_t *io_load(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data;
    long end;

    REQUIRE(file);
    REQUIRE(!fseek(file, 0, SEEK_END));
    end = ftell(file);
    REQUIRE(end >= 0 && !fseek(file, 0, SEEK_SET));
    data = malloc((size_t)end + 1);
    REQUIRE(data && fread(data, 1, (size_t)end, file) == (size_t)end);
    fclose(file);
    *bytes = (size_t)end;
    return data;
}

int io_count(const char *folder, const char *part)
{
    DIR *dir = opendir(folder);
    const struct dirent *e;
    int count = 0;

    REQUIRE(dir);
    while ((e = readdir(dir)))
        count += strstr(e->d_name, part) != NULL;
    closedir(dir);
    return count;
}

float io_pixel(int part, int channel, int x, int y)
{
    return (float)((x * 3 + y * 5 + channel * 17 + part * 31) % 64) / 32 + 0.25f;
}

struct maker {
    exr_context_t context;
    const struct io_part *parts;
    io_value *value;
    int part;
    exr_encode_pipeline_t encode;
    bool started;
};

#define EXR(call) REQUIRE_EQ((call), EXR_ERR_SUCCESS)

static void no_message(exr_const_context_t context, exr_result_t code, const char *msg)
{
    (void)context;
    (void)code;
    fprintf(stderr, "OpenEXR: %s\n", msg);
}

static int channel_index(const struct io_part *p, const char *name)
{
    for (int i = 0; i < p->channel_count; i++) {
        if (!strcmp(p->channels[i].name, name))
            return i;
    }
    test_fail(__FILE__, __LINE__, "no channel %s", name);
}

static void put(uint8_t *out, int type, float value)
{
    const uint16_t half = hsio_float_to_half(value);
    const uint32_t whole = value > 0 && value < 1e7f ? (uint32_t)(value * 100) : 0;

    if (type == EXR_PIXEL_HALF)
        memcpy(out, &half, 2);
    else
        memcpy(out, type == EXR_PIXEL_UINT ? (const void *)&whole : (const void *)&value, 4);
}

/* Encodes the chunk whose first pixel is x, y. */
static void encode_chunk(struct maker *m, const exr_chunk_info_t *info, int x, int y)
{
    const struct io_part *p = &m->parts[m->part];
    uint8_t *buffers[64] = {0};

    EXR(m->started ? exr_encoding_update(m->context, m->part, info, &m->encode)
                   : exr_encoding_initialize(m->context, m->part, info, &m->encode));
    for (int i = 0; i < m->encode.channel_count; i++) {
        exr_coding_channel_info_t *c = &m->encode.channels[i];
        const int index = channel_index(p, c->channel_name);
        const int bytes = c->bytes_per_element;
        const int sx = c->x_samples, sy = c->y_samples;
        const int first_row = (y - p->data[1] + sy - 1) / sy * sy + p->data[1];

        buffers[i] = calloc((size_t)(c->width * c->height + 1), (size_t)bytes);
        REQUIRE(buffers[i]);
        for (int k = 0; k < c->width * c->height; k++)
            put(buffers[i] + k * bytes, c->data_type,
                m->value(m->part, index, x + k % c->width * sx, first_row + k / c->width * sy));
        c->encode_from_ptr = buffers[i];
        c->user_data_type = c->data_type;
        c->user_bytes_per_element = c->bytes_per_element;
        c->user_pixel_stride = bytes;
        c->user_line_stride = bytes * c->width;
    }
    if (!m->started)
        EXR(exr_encoding_choose_default_routines(m->context, m->part, &m->encode));
    m->started = true;
    EXR(exr_encoding_run(m->context, m->part, &m->encode));
    for (int i = 0; i < 64; i++)
        free(buffers[i]);
}

static void encode_tiles(struct maker *m)
{
    const struct io_part *p = &m->parts[m->part];
    int32_t levels = 1;

    if (p->mips)
        EXR(exr_get_tile_levels(m->context, m->part, &levels, NULL));
    for (int level = 0; level < levels; level++) {
        int32_t width, height;

        EXR(exr_get_level_sizes(m->context, m->part, level, level, &width, &height));
        for (int ty = 0; ty * p->tile < height; ty++) {
            for (int tx = 0; tx * p->tile < width; tx++) {
                exr_chunk_info_t info = {0};

                EXR(exr_write_tile_chunk_info(m->context, m->part, tx, ty, level, level, &info));
                encode_chunk(m, &info, p->data[0] + tx * p->tile, p->data[1] + ty * p->tile);
            }
        }
    }
}

static void encode_part(struct maker *m, int part)
{
    const struct io_part *p = &m->parts[part];
    int32_t lines = 1;

    m->part = part;
    m->started = false;
    m->encode = (exr_encode_pipeline_t)EXR_ENCODE_PIPELINE_INITIALIZER;
    if (p->tile) {
        encode_tiles(m);
    } else {
        EXR(exr_get_scanlines_per_chunk(m->context, part, &lines));
        for (int y = p->data[1]; y <= p->data[3]; y += lines) {
            exr_chunk_info_t info = {0};

            EXR(exr_write_scanline_chunk_info(m->context, part, y, &info));
            encode_chunk(m, &info, p->data[0], y);
        }
    }
    EXR(exr_encoding_destroy(m->context, &m->encode));
}

static void declare_part(struct maker *m, int part)
{
    const struct io_part *p = &m->parts[part];
    const int *w =
        p->display[0] || p->display[1] || p->display[2] || p->display[3] ? p->display : p->data;
    const exr_attr_box2i_t data = {{{{p->data[0], p->data[1]}}}, {{{p->data[2], p->data[3]}}}};
    const exr_attr_box2i_t display = {{{{w[0], w[1]}}}, {{{w[2], w[3]}}}};
    const exr_attr_v2f_t centre = {{{0, 0}}};
    int index;

    EXR(exr_add_part(m->context, p->name, p->tile ? EXR_STORAGE_TILED : EXR_STORAGE_SCANLINE,
                     &index));
    REQUIRE_EQ(index, part);
    EXR(exr_initialize_required_attr(m->context, part, &display, &data, 1, &centre, 1,
                                     EXR_LINEORDER_INCREASING_Y, p->compression));
    if (p->tile)
        EXR(exr_set_tile_descriptor(m->context, part, (uint32_t)p->tile, (uint32_t)p->tile,
                                    p->mips ? EXR_TILE_MIPMAP_LEVELS : EXR_TILE_ONE_LEVEL,
                                    EXR_TILE_ROUND_DOWN));
    if (p->view)
        EXR(exr_attr_set_string(m->context, part, "view", p->view));
    for (int i = 0; i < p->channel_count; i++) {
        const struct io_channel *c = &p->channels[i];

        EXR(exr_add_channel(m->context, part, c->name, c->type, EXR_PERCEPTUALLY_LOGARITHMIC,
                            c->x_sampling ? c->x_sampling : 1, c->y_sampling ? c->y_sampling : 1));
    }
    if (p->attributes)
        p->attributes(m->context, part);
}

void io_make_exr(const char *path, const struct io_part *parts, int count, io_value *value)
{
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    struct maker m = {.parts = parts, .value = value ? value : io_pixel};

    init.error_handler_fn = no_message;
    EXR(exr_start_write(&m.context, path, EXR_WRITE_FILE_DIRECTLY, &init));
    EXR(exr_set_longname_support(m.context, 1));
    for (int i = 0; i < count; i++)
        declare_part(&m, i);
    EXR(exr_write_header(m.context));
    for (int i = 0; i < count; i++)
        encode_part(&m, i);
    EXR(exr_finish(&m.context));
}

void io_make_rgba(const char *path, int width, int height, io_value *value)
{
    static const struct io_channel rgba[] = {{"R", EXR_PIXEL_HALF, 0, 0},
                                             {"G", EXR_PIXEL_HALF, 0, 0},
                                             {"B", EXR_PIXEL_HALF, 0, 0},
                                             {"A", EXR_PIXEL_HALF, 0, 0}};
    const struct io_part part = {
        .data = {0, 0, width - 1, height - 1},
        .compression = EXR_COMPRESSION_ZIP,
        .channels = rgba,
        .channel_count = 4,
    };

    io_make_exr(path, &part, 1, value);
}

static int open_with(const char *location, const char *preset, const struct hsio_options *options,
                     struct hsio_sequence **out)
{
    struct hsio_convention conv;

    REQUIRE_EQ(hsio_convention_preset(&conv, preset, &io_log), 0);
    return hsio_sequence_open(location, &conv, options, &io_log, out);
}

struct hsio_sequence *io_open(const char *location, const char *preset,
                              const struct hsio_options *options)
{
    struct hsio_sequence *seq = NULL;
    const int result = open_with(location, preset, options, &seq);

    REQUIRE_MSG(!result, "%s: %d: %s", location, result, io_last[HS_LOG_ERROR]);
    return seq;
}

int io_try(const char *location, const char *preset, const struct hsio_options *options)
{
    struct hsio_sequence *seq = NULL;
    const int result = open_with(location, preset, options, &seq);

    hsio_sequence_close(&seq);
    return result;
}

float *io_read(struct hsio_sequence *seq, int index, enum hsio_plane plane,
               struct hsio_plane_stats *stats)
{
    static const enum hsio_format formats[] = {0, HSIO_FORMAT_R32F, HSIO_FORMAT_RG32F, 0,
                                               HSIO_FORMAT_RGBA32F};
    const int channels = hsio_plane_channels(plane);
    struct hsio_frame *frame = NULL;
    const struct hsio_plane_info *info;
    struct hsio_plane_request request = {.plane = plane, .format = formats[channels]};
    int result = hsio_frame_open(seq, index, &frame);

    REQUIRE_MSG(!result, "%s", io_last[HS_LOG_ERROR]);
    info = &hsio_frame_info(frame)->planes[plane];
    REQUIRE(info->present);
    request.stats = stats;
    request.buffer_bytes = (size_t)info->width * (size_t)info->height * (size_t)channels * 4;
    request.buffer = malloc(request.buffer_bytes);
    REQUIRE(request.buffer);
    result = hsio_frame_read(frame, &request, 1);
    REQUIRE_MSG(!result, "%s", io_last[HS_LOG_ERROR]);
    hsio_frame_close(&frame);
    return request.buffer;
}

int io_consume(const char *location, const char *preset)
{
    struct hsio_sequence *seq = NULL;
    struct hsio_frame *frame = NULL;
    struct hsio_plane_request requests[HSIO_PLANE_COUNT];
    struct hsio_plane_stats stats[HSIO_PLANE_COUNT];
    const struct hsio_frame_info *info;
    int count = 0, result = open_with(location, preset, NULL, &seq);

    if (!result)
        result = hsio_frame_open(seq, 0, &frame);
    info = result ? NULL : hsio_frame_info(frame);
    for (int i = 0; info && i < HSIO_PLANE_COUNT; i++) {
        const struct hsio_plane_info *p = &info->planes[i];
        const size_t bytes = (size_t)p->width * (size_t)p->height * hsio_format_bytes(p->format);

        // A damaged size may be legal and large; reading that is not what is tested.
        if (!p->present || bytes > (size_t)64 << 20)
            continue;
        requests[count] = (struct hsio_plane_request){
            .plane = (enum hsio_plane)i,
            .buffer = malloc(bytes),
            .buffer_bytes = bytes,
            .stats = &stats[count],
        };
        REQUIRE(requests[count].buffer);
        count++;
    }
    if (!result)
        result = hsio_frame_read(frame, requests, count);
    for (int i = 0; i < count; i++)
        free(requests[i].buffer);
    hsio_frame_close(&frame);
    hsio_sequence_close(&seq);
    return result;
}
