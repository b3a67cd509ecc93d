// SPDX-License-Identifier: MIT
/** What a file holds, for people. */
#include "internal.h"

#include <openexr.h>
#include <stdlib.h>
#include <string.h>

static const char *const compressions[] = {"none",  "rle", "zips", "zip",  "piz",
                                           "pxr24", "b44", "b44a", "dwaa", "dwab"};
static const char *const storages[] = {"scanline", "tiled", "deep scanline", "deep tiled"};
static const char *const types[] = {"half", "float", "uint"};

void hsio_file_desc_free(struct hsio_file_desc **desc)
{
    struct hsio_file_desc *d = desc ? *desc : NULL;

    if (!d)
        return;
    for (int i = 0; d->parts && i < d->part_count; i++) {
        struct hsio_part_desc *p = &d->parts[i];

        for (int c = 0; p->channels && c < p->channel_count; c++)
            free(p->channels[c].name);
        for (int a = 0; p->attributes && a < p->attribute_count; a++) {
            free(p->attributes[a].name);
            free(p->attributes[a].type);
            free(p->attributes[a].value);
        }
        free(p->channels);
        free(p->attributes);
        free(p->name);
        free(p->view);
    }
    free(d->parts);
    free(d->path);
    free(d);
    *desc = NULL;
}

static struct hsio_file_desc *desc_create(const char *path, const char *kind, uint64_t bytes,
                                          int parts)
{
    struct hsio_file_desc *d = calloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->kind = kind;
    d->bytes = bytes;
    d->path = hsio_text_format("%s", path);
    d->parts = calloc((size_t)parts, sizeof(*d->parts));
    d->part_count = parts;
    if (!d->path || !d->parts)
        hsio_file_desc_free(&d);
    return d;
}

static bool part_allocate(struct hsio_part_desc *p, const char *name, const char *view,
                          int channels, int attributes)
{
    p->name = hsio_text_format("%s", name);
    p->view = hsio_text_format("%s", view);
    p->channels = calloc((size_t)channels, sizeof(*p->channels));
    p->attributes = attributes ? calloc((size_t)attributes, sizeof(*p->attributes)) : NULL;
    p->channel_count = p->channels ? channels : 0;
    p->attribute_count = p->attributes ? attributes : 0;
    return p->name && p->view && p->channels && (p->attributes || !attributes);
}

static bool describe_attributes(const struct hsio_exr *exr, int part, struct hsio_part_desc *p)
{
    const exr_const_context_t context = hsio_exr_context(exr);

    for (int i = 0; i < p->attribute_count; i++) {
        const exr_attribute_t *a;
        char value[512];

        if (exr_get_attribute_by_index(context, part, EXR_ATTR_LIST_FILE_ORDER, i, &a) !=
            EXR_ERR_SUCCESS)
            return false;
        hsio_exr_attribute_text(a, value, sizeof(value));
        p->attributes[i].name = hsio_text_format("%s", a->name);
        p->attributes[i].type = hsio_text_format("%s", a->type_name);
        p->attributes[i].value = hsio_text_format("%s", value);
        if (!p->attributes[i].name || !p->attributes[i].type || !p->attributes[i].value)
            return false;
    }
    return true;
}

static bool describe_part(const struct hsio_exr *exr, int part, struct hsio_part_desc *p)
{
    const exr_const_context_t context = hsio_exr_context(exr);
    const struct hsio_exr_part *in = hsio_exr_part(exr, part);
    exr_compression_t compression = EXR_COMPRESSION_NONE;
    int32_t attributes = 0, levels = 1, levels_y = 1;

    exr_get_attribute_count(context, part, &attributes);
    exr_get_compression(context, part, &compression);
    if (!part_allocate(p, in->name, in->view, in->channel_count, attributes))
        return false;
    p->storage = storages[(in->deep ? 2 : 0) + (in->tiled ? 1 : 0)];
    p->compression = (size_t)compression < sizeof(compressions) / sizeof(compressions[0])
                         ? compressions[compression]
                         : "unknown";
    p->display = in->display;
    p->data = in->data;
    p->levels = 1;
    if (in->tiled) {
        exr_get_tile_sizes(context, part, 0, 0, &p->tile_width, &p->tile_height);
        exr_get_tile_levels(context, part, &levels, &levels_y);
        p->levels = levels > levels_y ? levels : levels_y;
    }
    for (int c = 0; c < p->channel_count; c++) {
        struct hsio_channel_desc *out = &p->channels[c];

        out->name = hsio_text_format("%s", hsio_exr_channel_name(exr, part, c));
        out->type = types[hsio_exr_channel_type(exr, part, c)];
        hsio_exr_channel_sampling(exr, part, c, &out->x_sampling, &out->y_sampling);
        if (!out->name)
            return false;
    }
    return describe_attributes(exr, part, p);
}

static int describe_exr(const char *path, const struct hs_log *log, struct hsio_file_desc **out)
{
    struct hsio_exr *exr = NULL;
    struct hsio_file_desc *d;
    bool good;
    int result = hsio_exr_open(path, log, &exr);

    if (result)
        return result;
    d = desc_create(path, "exr", hsio_exr_bytes(exr), hsio_exr_part_count(exr));
    good = d != NULL;
    for (int i = 0; good && i < d->part_count; i++)
        good = describe_part(exr, i, &d->parts[i]);
    hsio_exr_close(&exr);
    if (!good) {
        hsio_file_desc_free(&d);
        return hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", path);
    }
    *out = d;
    return 0;
}

/* A file that is one image: all there is to say about PNG and raw. */
static int describe_plain(const char *path, const char *kind, uint64_t bytes, int width, int height,
                          int channels, const char *type, const char *compression,
                          struct hsio_file_desc **out)
{
    static const char *const names[4][4] = {{"Y", NULL, NULL, NULL},
                                            {"Y", "A", NULL, NULL},
                                            {"R", "G", "B", NULL},
                                            {"R", "G", "B", "A"}};
    static const char *const flow[] = {"u", "v"};
    const bool is_flow = !strcmp(kind, "flo");
    struct hsio_file_desc *d = desc_create(path, kind, bytes, 1);
    bool good = d && part_allocate(&d->parts[0], "", "", channels, 0);

    for (int c = 0; good && c < channels; c++) {
        d->parts[0].channels[c] = (struct hsio_channel_desc){
            .name = hsio_text_format("%s", is_flow                ? flow[c]
                                           : !strcmp(kind, "dpt") ? "Z"
                                                                  : names[channels - 1][c]),
            .type = type,
            .x_sampling = 1,
            .y_sampling = 1,
        };
        good = d->parts[0].channels[c].name;
    }
    if (!good) {
        hsio_file_desc_free(&d);
        return HS_ERR_NOMEM;
    }
    d->parts[0].storage = kind;
    d->parts[0].compression = compression;
    d->parts[0].levels = 1;
    d->parts[0].display = d->parts[0].data = (struct hsio_box){0, 0, width - 1, height - 1};
    *out = d;
    return 0;
}

int hsio_raw_describe(const char *path, uint64_t bytes, enum hsio_format format, int width,
                      int height, struct hsio_file_desc **out)
{
    return describe_plain(path, "raw", bytes, width, height, hsio_format_channels(format),
                          types[hsio_format_type(format)], "none", out);
}

int hsio_file_describe(const char *path, const struct hs_log *log, struct hsio_file_desc **out)
{
    struct hsio_png_info png;
    struct hsio_flo_info flo;
    int result;

    if (hsio_path_has_extension(path, ".exr"))
        return describe_exr(path, log, out);
    if (hsio_flo_is(path)) {
        result = hsio_flo_probe(path, log, &flo);
        return result ? result
                      : describe_plain(path, flo.channels == 1 ? "dpt" : "flo", flo.bytes,
                                       flo.width, flo.height, flo.channels, "float", "none", out);
    }
    if (!hsio_path_has_extension(path, ".png"))
        return hsio_fail(log, HS_ERR_UNSUPPORTED, "%s: none of .exr, .png, .flo and .dpt", path);
    result = hsio_png_probe(path, log, &png);
    if (result)
        return result;
    result = describe_plain(path, "png", png.bytes, png.width, png.height, png.channels,
                            png.bits == 16 ? "u16" : "u8", "deflate", out);
    return result ? hsio_fail(log, result, "%s: out of memory", path) : 0;
}
