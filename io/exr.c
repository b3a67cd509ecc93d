// SPDX-License-Identifier: MIT
/** Opening an EXR through the C core: checks, parts, channels, camera. Pixels: exr_read.c. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <openexr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** No compression of the format reaches this ratio on real pixels. */
#define MAX_RATIO 65536

struct hsio_exr {
    exr_context_t context;
    int fd;
    uint64_t bytes;
    char *path;
    char message[256];
    int part_count, candidate_count;
    struct hsio_exr_part *parts;
    struct hsio_candidate *candidates;
};

static int64_t read_at(exr_const_context_t context, void *userdata, void *buffer, uint64_t size,
                       uint64_t offset, exr_stream_error_func_ptr_t error)
{
    const struct hsio_exr *exr = userdata;
    uint64_t done = 0;

    (void)context;
    (void)error;
    if (offset > INT64_MAX - size)
        return -1;
    while (done < size) {
        const ssize_t n =
            pread(exr->fd, (uint8_t *)buffer + done, size - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (!n)
            break;
        done += (uint64_t)n;
    }
    return (int64_t)done;
}

static int64_t file_size(exr_const_context_t context, void *userdata)
{
    (void)context;
    return (int64_t)((const struct hsio_exr *)userdata)->bytes;
}

static void keep_message(exr_const_context_t context, exr_result_t code, const char *msg)
{
    void *userdata = NULL;

    (void)code;
    if (context && exr_get_user_data(context, &userdata) == EXR_ERR_SUCCESS && userdata) {
        struct hsio_exr *exr = userdata;

        snprintf(exr->message, sizeof(exr->message), "%.255s", msg);
    }
}

int hsio_exr_code(int result)
{
    switch (result) {
    case EXR_ERR_SUCCESS:
        return 0;
    case EXR_ERR_OUT_OF_MEMORY:
        return HS_ERR_NOMEM;
    case EXR_ERR_FILE_ACCESS:
    case EXR_ERR_WRITE_IO:
        return HS_ERR_IO;
    case EXR_ERR_FEATURE_NOT_IMPLEMENTED:
        return HS_ERR_UNSUPPORTED;
    default:
        return HS_ERR_FORMAT;
    }
}

const char *hsio_exr_message(const struct hsio_exr *exr)
{
    return exr->message[0] ? exr->message : "no details";
}

static const char *text_attribute(const struct hsio_exr *exr, int part, const char *name)
{
    const exr_attribute_t *attr;

    if (exr_get_attribute_by_name(exr->context, part, name, &attr) != EXR_ERR_SUCCESS ||
        attr->type != EXR_ATTR_STRING || !attr->string->str)
        return "";
    return attr->string->str;
}

static struct hsio_box box_from(exr_attr_box2i_t b)
{
    return (struct hsio_box){b.min.x, b.min.y, b.max.x, b.max.y};
}

static int check_box(const struct hsio_exr *exr, int part, const char *what, struct hsio_box b,
                     const struct hs_log *log)
{
    const int64_t w = (int64_t)b.max_x - b.min_x + 1, h = (int64_t)b.max_y - b.min_y + 1;

    if (w < 1 || h < 1 || w > HSIO_MAX_SIDE || h > HSIO_MAX_SIDE || w * h > HSIO_MAX_PIXELS)
        return hsio_fail(log, HS_ERR_FORMAT,
                         "%s: part %d: %s window %d,%d to %d,%d is not an image of at most %d "
                         "pixels a side",
                         exr->path, part, what, b.min_x, b.min_y, b.max_x, b.max_y, HSIO_MAX_SIDE);
    return 0;
}

/* A few bytes must not claim gigabytes: each chunk needs its entry, its head and its share. */
static int check_size(const struct hsio_exr *exr, int part, const struct hs_log *log)
{
    uint64_t chunk_bytes = 0;
    int32_t chunks = 0;

    if (exr_get_chunk_count(exr->context, part, &chunks) != EXR_ERR_SUCCESS || chunks < 1 ||
        exr_get_chunk_unpacked_size(exr->context, part, &chunk_bytes) != EXR_ERR_SUCCESS)
        return hsio_fail(log, HS_ERR_FORMAT, "%s: part %d: bad chunk table: %s", exr->path, part,
                         hsio_exr_message(exr));
    if ((uint64_t)chunks * 16 > exr->bytes)
        return hsio_fail(log, HS_ERR_FORMAT,
                         "%s: part %d: truncated: %d chunks do not fit in %llu bytes", exr->path,
                         part, chunks, (unsigned long long)exr->bytes);
    if (chunk_bytes > (uint64_t)INT32_MAX ||
        (uint64_t)chunks * chunk_bytes / MAX_RATIO > exr->bytes)
        return hsio_fail(log, HS_ERR_FORMAT,
                         "%s: part %d: a file of %llu bytes cannot hold %d chunks of %llu bytes",
                         exr->path, part, (unsigned long long)exr->bytes, chunks,
                         (unsigned long long)chunk_bytes);
    return 0;
}

static const exr_attr_chlist_t *channel_list(const struct hsio_exr *exr, int part)
{
    const exr_attr_chlist_t *list = NULL;

    if (exr_get_channels(exr->context, part, &list) != EXR_ERR_SUCCESS)
        return NULL;
    return list;
}

static int load_part(struct hsio_exr *exr, int part, const struct hs_log *log)
{
    struct hsio_exr_part *p = &exr->parts[part];
    const exr_attr_chlist_t *list = channel_list(exr, part);
    exr_attr_box2i_t data, display;
    exr_storage_t storage;
    const char *name = NULL;
    int result;

    if (exr_get_storage(exr->context, part, &storage) != EXR_ERR_SUCCESS ||
        exr_get_data_window(exr->context, part, &data) != EXR_ERR_SUCCESS ||
        exr_get_display_window(exr->context, part, &display) != EXR_ERR_SUCCESS || !list ||
        list->num_channels < 1)
        return hsio_fail(log, HS_ERR_FORMAT, "%s: part %d: header is incomplete: %s", exr->path,
                         part, hsio_exr_message(exr));
    if (exr_get_name(exr->context, part, &name) != EXR_ERR_SUCCESS || !name)
        name = "";
    *p = (struct hsio_exr_part){
        .name = name,
        .view = text_attribute(exr, part, "view"),
        .display = box_from(display),
        .data = box_from(data),
        .tiled = storage == EXR_STORAGE_TILED || storage == EXR_STORAGE_DEEP_TILED,
        .deep = storage == EXR_STORAGE_DEEP_SCANLINE || storage == EXR_STORAGE_DEEP_TILED,
        .channel_count = list->num_channels,
    };
    result = check_box(exr, part, "data", p->data, log);
    if (!result)
        result = check_box(exr, part, "display", p->display, log);
    if (!result && !p->deep)
        result = check_size(exr, part, log);
    return result;
}

static int load_candidates(struct hsio_exr *exr, const struct hs_log *log)
{
    size_t total = 0;

    for (int i = 0; i < exr->part_count; i++)
        total += (size_t)exr->parts[i].channel_count;
    exr->candidates = calloc(total, sizeof(*exr->candidates));
    if (!exr->candidates)
        return hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", exr->path);
    for (int i = 0; i < exr->part_count; i++) {
        if (exr->parts[i].deep)
            continue;
        for (int c = 0; c < exr->parts[i].channel_count; c++)
            exr->candidates[exr->candidate_count++] = (struct hsio_candidate){
                .part = i,
                .channel = c,
                .part_name = exr->parts[i].name,
                .view = exr->parts[i].view,
                .name = hsio_exr_channel_name(exr, i, c),
            };
    }
    return 0;
}

static int open_file(struct hsio_exr *exr, const struct hs_log *log)
{
    const int result = hsio_path_size(exr->path, log, &exr->bytes);

    if (result)
        return result;
    exr->fd = open(exr->path, O_RDONLY | O_CLOEXEC);
    if (exr->fd < 0)
        return hsio_fail(log, HS_ERR_IO, "%s: cannot be opened: %s", exr->path, strerror(errno));
    return 0;
}

static int start(struct hsio_exr *exr, const struct hs_log *log)
{
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_result_t result;

    init.error_handler_fn = keep_message;
    init.user_data = exr;
    init.read_fn = read_at;
    init.size_fn = file_size;
    init.max_image_width = HSIO_MAX_SIDE;
    init.max_image_height = HSIO_MAX_SIDE;
    init.max_tile_width = HSIO_MAX_SIDE;
    init.max_tile_height = HSIO_MAX_SIDE;
    init.flags = EXR_CONTEXT_FLAG_DISABLE_CHUNK_RECONSTRUCTION;
    result = exr_start_read(&exr->context, exr->path, &init);
    if (result != EXR_ERR_SUCCESS) {
        exr->context = NULL;
        return hsio_fail(log, hsio_exr_code(result), "%s: not a readable EXR: %s (%s)", exr->path,
                         exr_get_default_error_message(result), hsio_exr_message(exr));
    }
    result = exr_get_count(exr->context, &exr->part_count);
    if (result != EXR_ERR_SUCCESS || exr->part_count < 1)
        return hsio_fail(log, HS_ERR_FORMAT, "%s: has no parts", exr->path);
    return 0;
}

int hsio_exr_open(const char *path, const struct hs_log *log, struct hsio_exr **out)
{
    struct hsio_exr *exr = calloc(1, sizeof(*exr));
    int result = HS_ERR_NOMEM, deep = 0;

    if (!exr)
        return hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", path);
    exr->fd = -1;
    exr->path = hsio_text_format("%s", path);
    if (!exr->path)
        goto error;
    result = open_file(exr, log);
    if (!result)
        result = start(exr, log);
    if (result)
        goto error;
    exr->parts = calloc((size_t)exr->part_count, sizeof(*exr->parts));
    result = exr->parts ? 0 : HS_ERR_NOMEM;
    for (int i = 0; i < exr->part_count && !result; i++) {
        result = load_part(exr, i, log);
        deep += exr->parts[i].deep;
    }
    if (!result)
        result = load_candidates(exr, log);
    if (result)
        goto error;
    if (deep)
        hsio_log(log, HS_LOG_DEBUG, "%s: %d of %d parts are deep and are left out", path, deep,
                 exr->part_count);
    *out = exr;
    return 0;
error:
    hsio_exr_close(&exr);
    return result;
}

void hsio_exr_close(struct hsio_exr **exr)
{
    struct hsio_exr *e = exr ? *exr : NULL;

    if (!e)
        return;
    if (e->context)
        exr_finish(&e->context);
    if (e->fd >= 0)
        close(e->fd);
    free(e->candidates);
    free(e->parts);
    free(e->path);
    free(e);
    *exr = NULL;
}

int hsio_exr_part_count(const struct hsio_exr *exr)
{
    return exr->part_count;
}

const struct hsio_exr_part *hsio_exr_part(const struct hsio_exr *exr, int part)
{
    return &exr->parts[part];
}

const char *hsio_exr_channel_name(const struct hsio_exr *exr, int part, int channel)
{
    return channel_list(exr, part)->entries[channel].name.str;
}

enum hsio_type hsio_exr_channel_type(const struct hsio_exr *exr, int part, int channel)
{
    switch (channel_list(exr, part)->entries[channel].pixel_type) {
    case EXR_PIXEL_HALF:
        return HSIO_TYPE_HALF;
    case EXR_PIXEL_UINT:
        return HSIO_TYPE_UINT;
    default:
        return HSIO_TYPE_FLOAT;
    }
}

void hsio_exr_channel_sampling(const struct hsio_exr *exr, int part, int channel, int *x, int *y)
{
    *x = channel_list(exr, part)->entries[channel].x_sampling;
    *y = channel_list(exr, part)->entries[channel].y_sampling;
}

const struct hsio_candidate *hsio_exr_candidates(const struct hsio_exr *exr, int *count)
{
    *count = exr->candidate_count;
    return exr->candidates;
}

void hsio_exr_list(const struct hsio_exr *exr, char *text, size_t size)
{
    size_t length = 0;

    text[0] = 0;
    for (int i = 0; i < exr->part_count; i++) {
        const struct hsio_exr_part *p = &exr->parts[i];

        if (exr->part_count > 1)
            length = hsio_text_append(text, size, length, "%spart %d \"%s\"%s%s%s: ", i ? "; " : "",
                                      i, p->name, p->view[0] ? " view " : "", p->view,
                                      p->deep ? " (deep)" : "");
        for (int c = 0; c < p->channel_count; c++)
            length = hsio_text_append(text, size, length, "%s%s", c ? ", " : "",
                                      hsio_exr_channel_name(exr, i, c));
    }
}

void *hsio_exr_context(const struct hsio_exr *exr)
{
    return exr->context;
}

const char *hsio_exr_path(const struct hsio_exr *exr)
{
    return exr->path;
}

uint64_t hsio_exr_bytes(const struct hsio_exr *exr)
{
    return exr->bytes;
}
