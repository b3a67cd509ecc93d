// SPDX-License-Identifier: MIT
/** Reading and describing an open frame. */
#include "frame.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct hs_log *log_of(const struct hsio_frame *f)
{
    return &f->seq->log;
}

static int absent(const struct hsio_frame *f, enum hsio_plane plane)
{
    const struct hsio_source *s = &f->sources[f->main];
    char names[3072] = "";

    if (s->exr)
        hsio_exr_list(s->exr, names, sizeof(names));
    return hsio_fail(log_of(f), HS_ERR_INVALID,
                     "%s: frame %" PRId64 ": plane %s is absent; pattern \"%s\"%s%s, channels: %s",
                     s->path, f->slot->number, hsio_plane_name(plane),
                     f->convention.channels[plane], f->convention.layer[0] ? " in layer " : "",
                     f->convention.layer, names[0] ? names : f->info.planes[0].channels);
}

static int check_request(const struct hsio_frame *f, const struct hsio_plane_request *r)
{
    const struct hsio_plane_info *info;
    const enum hsio_format format = r->format;
    size_t needed;

    if ((unsigned)r->plane >= HSIO_PLANE_COUNT || (unsigned)format >= HSIO_FORMAT_COUNT ||
        !r->buffer)
        return hsio_fail(log_of(f), HS_ERR_INVALID, "%s: bad plane request", f->info.path);
    info = &f->info.planes[r->plane];
    if (!info->present)
        return absent(f, r->plane);
    if (format && hsio_format_channels(format) != hsio_plane_channels(r->plane))
        return hsio_fail(log_of(f), HS_ERR_INVALID, "%s: plane %s has %d channels, %s asked for",
                         info->path, hsio_plane_name(r->plane), hsio_plane_channels(r->plane),
                         hsio_format_name(format));
    needed = (size_t)info->width * (size_t)info->height *
             hsio_format_bytes(format ? format : info->format);
    if (r->buffer_bytes < needed)
        return hsio_fail(log_of(f), HS_ERR_INVALID,
                         "%s: plane %s: needs %zu bytes, the buffer has %zu", info->path,
                         hsio_plane_name(r->plane), needed, r->buffer_bytes);
    return 0;
}

static bool is_mended(const struct hsio_frame *f, enum hsio_plane plane)
{
    return plane == HSIO_PLANE_MOTION && f->mended;
}

/* Statistics stay those of the stored values. */
static int read_mended(const struct hsio_frame *f, const struct hsio_plane_request *r)
{
    const struct hsio_plane_info *info = &f->info.planes[HSIO_PLANE_MOTION];
    const enum hsio_format format = r->format ? r->format : info->format;

    for (int y = 0; y < info->height; y++) {
        const uint8_t *row = (const uint8_t *)(f->mended + 2 * (size_t)y * (size_t)info->width);
        const struct hsio_lane lanes[4] = {
            {.data = row, .stride_bytes = 2 * sizeof(float), .type = HSIO_TYPE_FLOAT},
            {.data = row + sizeof(float),
             .stride_bytes = 2 * sizeof(float),
             .type = HSIO_TYPE_FLOAT}};

        hsio_pixels_emit((uint8_t *)r->buffer +
                             (size_t)y * (size_t)info->width * hsio_format_bytes(format),
                         hsio_format_type(format), 2, info->width, lanes, NULL);
    }
    if (r->stats)
        *r->stats = f->mended_stats;
    return 0;
}

static int read_plain(const struct hsio_frame *f, const struct hsio_plane_request *r)
{
    const struct hsio_plane_info *info = &f->info.planes[r->plane];
    const struct hsio_source *s = &f->sources[f->planes[r->plane].source];
    const enum hsio_format format = r->format ? r->format : info->format;
    const enum hsio_transfer transfer =
        r->plane == HSIO_PLANE_COLOR ? f->convention.color.transfer : HSIO_TRANSFER_LINEAR;

    if (s->kind == HSIO_SOURCE_PNG)
        return hsio_png_read(s->path, transfer, hsio_format_type(format),
                             hsio_format_channels(format), info->width, info->height, r->buffer,
                             r->stats, log_of(f));
    if (s->kind == HSIO_SOURCE_FLO)
        return hsio_flo_read(s->path, hsio_format_type(format), info->width, info->height,
                             hsio_format_channels(format), r->buffer, r->stats, log_of(f));
    return hsio_raw_read(s->path, r->plane, (enum hsio_format)f->planes[r->plane].match.count,
                         format, info->width, info->height, r->buffer, r->stats, log_of(f));
}

/* All requested planes of one EXR. */
static int read_exr(const struct hsio_frame *f, int source, const struct hsio_plane_request *list,
                    int count, struct hsio_exr_target *targets)
{
    int used = 0;

    for (int i = 0; i < count; i++) {
        const struct hsio_plane_request *r = &list[i];
        const struct hsio_located *p = &f->planes[r->plane];
        struct hsio_exr_target *t = &targets[used];

        if (p->source != source || is_mended(f, r->plane))
            continue;
        used++;
        *t = (struct hsio_exr_target){
            .part = p->match.part,
            .channels = {-1, -1, -1, -1},
            .chroma = p->chroma,
            .out_channels = hsio_plane_channels(r->plane),
            .type = hsio_format_type(r->format ? r->format : f->info.planes[r->plane].format),
            .canvas = f->sources[source].canvas,
            .fill = r->plane == HSIO_PLANE_DEPTH ? f->convention.depth.background : 0,
            .dst = r->buffer,
            .stats = r->stats,
            .what = hsio_plane_name(r->plane),
        };
        for (int c = 0; c < p->match.count; c++)
            t->channels[c] = p->match.channels[c];
    }
    return used ? hsio_exr_read(f->sources[source].exr, targets, used, log_of(f)) : 0;
}

int hsio_frame_read(struct hsio_frame *frame, const struct hsio_plane_request *requests, int count)
{
    struct hsio_exr_target *targets;
    int result = 0;

    for (int i = 0; i < count && !result; i++)
        result = check_request(frame, &requests[i]);
    if (result || count < 1)
        return result;
    targets = calloc((size_t)count, sizeof(*targets));
    if (!targets)
        return hsio_fail(log_of(frame), HS_ERR_NOMEM, "%s: out of memory", frame->info.path);
    for (int i = 0; i < count; i++) {
        if (requests[i].stats)
            hsio_stats_begin(requests[i].stats);
    }
    for (int s = 0; s < frame->source_count && !result; s++) {
        if (frame->sources[s].kind == HSIO_SOURCE_EXR)
            result = read_exr(frame, s, requests, count, targets);
    }
    for (int i = 0; i < count && !result; i++) {
        if (is_mended(frame, requests[i].plane))
            result = read_mended(frame, &requests[i]);
        else if (frame->sources[frame->planes[requests[i].plane].source].kind != HSIO_SOURCE_EXR)
            result = read_plain(frame, &requests[i]);
    }
    for (int i = 0; i < count && !result; i++) {
        if (requests[i].stats && !is_mended(frame, requests[i].plane))
            hsio_stats_end(requests[i].stats);
    }
    free(targets);
    return result;
}

static int describe_source(const struct hsio_frame *f, int source, struct hsio_file_desc **out)
{
    const struct hsio_source *s = &f->sources[source];

    if (s->kind != HSIO_SOURCE_RAW)
        return hsio_file_describe(s->path, log_of(f), out);
    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        if (f->planes[i].source == source)
            return hsio_raw_describe(s->path, s->bytes, (enum hsio_format)f->planes[i].match.count,
                                     f->info.planes[i].width, f->info.planes[i].height, out);
    }
    return HS_ERR_INTERNAL;
}

int hsio_sequence_describe(const struct hsio_sequence *seq, int index, struct hsio_file_desc ***out,
                           int *count)
{
    struct hsio_file_desc **list = NULL;
    struct hsio_frame *f = NULL;
    int result = hsio_frame_open(seq, index, &f), n = 0;

    if (result)
        return result;
    list = calloc((size_t)f->source_count, sizeof(*list));
    result = list ? 0 : HS_ERR_NOMEM;
    for (; n < f->source_count && !result; n++)
        result = describe_source(f, n, &list[n]);
    if (result) {
        hsio_sequence_descriptions_free(&list, n);
    } else {
        *out = list;
        *count = n;
    }
    hsio_frame_close(&f);
    return result;
}

void hsio_sequence_descriptions_free(struct hsio_file_desc ***descs, int count)
{
    struct hsio_file_desc **list = descs ? *descs : NULL;

    if (!list)
        return;
    for (int i = 0; i < count; i++)
        hsio_file_desc_free(&list[i]);
    free(list);
    *descs = NULL;
}
