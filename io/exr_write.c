// SPDX-License-Identifier: MIT
/** Writing an EXR: one scanline part, ZIP, windows and attributes of the source frame. */
#include "internal.h"

#include <math.h>
#include <openexr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHANNELS 1024
#define ZIP_LEVEL 4

/* One channel of the file and where its rows come from. */
struct channel {
    char *name;
    enum hsio_type type;
    struct hsio_lane first; ///< Row 0 of a plane; unused with a resampler.
    size_t pitch;
    struct hsio_resampler *resampler;
    uint8_t *carried; ///< What the resampler reads.
    uint8_t *rows;    ///< One chunk, planar.
};

struct writer {
    const struct hs_log *log;
    const char *path;
    struct hsio_output out;
    exr_context_t context;
    int width, height; ///< Of the planes.
    struct hsio_exr_windows windows;
    int count;
    struct channel channels[MAX_CHANNELS];
};

static int64_t write_at(exr_const_context_t context, void *userdata, const void *buffer,
                        uint64_t size, uint64_t offset, exr_stream_error_func_ptr_t error)
{
    struct writer *w = userdata;

    if (!hsio_output_write_at(&w->out, buffer, (size_t)size, offset)) {
        error(context, EXR_ERR_WRITE_IO, "write failed");
        return -1;
    }
    return (int64_t)size;
}

/* The core holds its lock while it calls this, so even the context cannot be asked who it is. */
static void drop_message(exr_const_context_t context, exr_result_t code, const char *msg)
{
    (void)context;
    (void)code;
    (void)msg;
}

static int core_error(struct writer *w, exr_result_t result, const char *what)
{
    if (w->out.saved_errno)
        return HS_ERR_IO; // Told by hsio_output_commit().
    return hsio_fail(w->log, hsio_exr_code(result), "%s: %s: %s", w->path, what,
                     exr_get_default_error_message(result));
}

static bool has_channel(const struct writer *w, const char *name)
{
    for (int i = 0; i < w->count; i++) {
        if (!strcmp(w->channels[i].name, name))
            return true;
    }
    return false;
}

static struct channel *add_channel(struct writer *w, const char *name, enum hsio_type type)
{
    struct channel *c = &w->channels[w->count];

    if (w->count >= MAX_CHANNELS)
        return NULL;
    *c = (struct channel){.name = hsio_text_format("%s", name), .type = type};
    if (!c->name)
        return NULL;
    w->count++;
    return c;
}

static int pick_names(const struct writer *w, const struct hsio_write_plane *p,
                      const struct hsio_write_options *o, char names[4][256])
{
    const struct hsio_plane_info *in =
        o->source ? &hsio_frame_info(o->source)->planes[p->plane] : NULL;
    const bool usable = in && in->present && hsio_path_has_extension(in->path, ".exr") &&
                        !hsio_path_has_extension(in->channels, "BY") &&
                        !strstr(in->channels, "BY,");
    int count = 0;

    if (p->channels)
        return hsio_exr_split_names(p->channels, names);
    if (usable)
        count = hsio_exr_split_names(in->channels, names);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < i; k++)
            count = strcmp(names[i], names[k]) ? count : 0;
        count = has_channel(w, names[i]) ? 0 : count;
    }
    return count ? count : hsio_exr_split_names(hsio_exr_default_names(p->plane), names);
}

static bool is_data(enum hsio_plane plane)
{
    return plane == HSIO_PLANE_DEPTH || plane == HSIO_PLANE_MOTION ||
           plane == HSIO_PLANE_MOTION_NEXT || plane == HSIO_PLANE_HIT_DISTANCE;
}

static int add_plane(struct writer *w, const struct hsio_write_plane *p,
                     const struct hsio_write_options *o)
{
    const int stored = hsio_format_channels(p->format);
    const enum hsio_type in = hsio_format_type(p->format);
    const bool wide = o->store_float || p->store_float || is_data(p->plane);
    char names[4][256];
    const int count = pick_names(w, p, o, names);

    if (!count || count > stored)
        return hsio_fail(w->log, HS_ERR_INVALID,
                         "%s: plane %s: %s has %d channels, names are \"%s\"", w->path,
                         hsio_plane_name(p->plane), hsio_format_name(p->format), stored,
                         p->channels ? p->channels : hsio_exr_default_names(p->plane));
    for (int i = 0; i < count; i++) {
        struct channel *c;

        if (has_channel(w, names[i]))
            return hsio_fail(w->log, HS_ERR_INVALID, "%s: plane %s: channel %s is written twice",
                             w->path, hsio_plane_name(p->plane), names[i]);
        c = add_channel(w, names[i], wide ? HSIO_TYPE_FLOAT : HSIO_TYPE_HALF);
        if (!c)
            return hsio_fail(w->log, HS_ERR_NOMEM, "%s: too many channels", w->path);
        c->first = (struct hsio_lane){
            .data = (const uint8_t *)p->data + (size_t)i * hsio_type_bytes(in),
            .stride_bytes = hsio_format_bytes(p->format),
            .type = in,
        };
        c->pitch = p->row_bytes ? p->row_bytes : (size_t)w->width * hsio_format_bytes(p->format);
    }
    return 0;
}

static const struct hsio_passthrough *find_passthrough(const struct hsio_write_options *o,
                                                       const struct hsio_candidate *c)
{
    for (int i = 0; i < o->passthrough_count; i++) {
        if (hsio_passthrough_fits(o->passthrough[i].pattern, c))
            return &o->passthrough[i];
    }
    return NULL;
}

/* Reads the wanted channels of the source file and sets up their scaling. */
static int carry_channels(struct writer *w, const struct hsio_write_options *o)
{
    struct hsio_exr_target *targets;
    struct hsio_exr *exr;
    int part, candidates, count = 0, result = 0;
    const struct hsio_candidate *list;
    const int first = w->count;
    struct hsio_box canvas;

    exr = o->source ? hsio_frame_exr(o->source, &part) : NULL;
    if (!exr || !o->passthrough_count)
        return 0;
    list = hsio_exr_candidates(exr, &candidates);
    canvas = hsio_frame_canvas(o->source);
    targets = calloc((size_t)candidates + 1, sizeof(*targets));
    for (int i = 0; targets && i < candidates && !result; i++) {
        const struct hsio_candidate *c = &list[i];
        const struct hsio_passthrough *pass = find_passthrough(o, c);
        const enum hsio_type type = hsio_exr_channel_type(exr, c->part, c->channel);
        const int width = canvas.max_x - canvas.min_x + 1, height = canvas.max_y - canvas.min_y + 1;
        struct channel *channel;
        char qualified[512];
        int sx, sy;

        if (!pass || (c->part == part && has_channel(w, c->name)))
            continue;
        hsio_exr_channel_sampling(exr, c->part, c->channel, &sx, &sy);
        if (sx != 1 || sy != 1) {
            hsio_log(w->log, HS_LOG_WARN, "%s: subsampled channel %s is not carried over", w->path,
                     c->name);
            continue;
        }
        snprintf(qualified, sizeof(qualified), "%s.%s", c->part_name, c->name);
        channel = add_channel(w, has_channel(w, c->name) ? qualified : c->name, type);
        if (!channel) {
            result = HS_ERR_NOMEM;
            break;
        }
        channel->carried = malloc((size_t)width * (size_t)height * hsio_type_bytes(type));
        if (!channel->carried ||
            hsio_resampler_create(&channel->resampler, channel->carried, type, width, height,
                                  w->width, w->height, hsio_frame_info(o->source)->jitter_px,
                                  pass->filter ? pass->filter : hsio_resample_choose(c->name, type),
                                  pass->multiply)) {
            result = HS_ERR_NOMEM;
            break;
        }
        targets[count++] = (struct hsio_exr_target){
            .part = c->part,
            .channels = {c->channel, -1, -1, -1},
            .out_channels = 1,
            .type = type,
            .canvas = canvas,
            .dst = channel->carried,
            .what = "carried over",
        };
    }
    if (!targets || result)
        result = hsio_fail(w->log, HS_ERR_NOMEM, "%s: out of memory for carried channels", w->path);
    else if (w->count > first)
        result = hsio_exr_read(exr, targets, count, w->log);
    free(targets);
    return result;
}

static bool needs_long_names(const struct writer *w, exr_const_context_t source, int part)
{
    int32_t count = 0;

    for (int i = 0; i < w->count; i++) {
        if (strlen(w->channels[i].name) > 31)
            return true;
    }
    if (source)
        exr_get_attribute_count(source, part, &count);
    for (int32_t i = 0; i < count; i++) {
        const exr_attribute_t *a;

        if (exr_get_attribute_by_index(source, part, EXR_ATTR_LIST_FILE_ORDER, i, &a) ==
                EXR_ERR_SUCCESS &&
            (a->name_length > 31 || a->type_name_length > 31))
            return true;
    }
    return false;
}

static exr_attr_box2i_t box_to(struct hsio_box b)
{
    return (exr_attr_box2i_t){.min = {{{b.min_x, b.min_y}}}, .max = {{{b.max_x, b.max_y}}}};
}

static exr_result_t write_header(struct writer *w, const struct hsio_write_options *o)
{
    static const exr_pixel_type_t types[] = {EXR_PIXEL_HALF, EXR_PIXEL_FLOAT, EXR_PIXEL_UINT};
    const exr_attr_box2i_t display = box_to(w->windows.display), data = box_to(w->windows.data);
    exr_attr_v2f_t centre = {{{0, 0}}};
    float aspect = 1, window_width = 1;
    int source_part = 0, part = 0;
    struct hsio_exr *exr = o->source ? hsio_frame_exr(o->source, &source_part) : NULL;
    exr_context_t source = exr ? hsio_exr_context(exr) : NULL;
    exr_result_t result;

    if (source) {
        const struct hsio_box c = hsio_frame_canvas(o->source);
        const float sx = (float)w->width / (float)(c.max_x - c.min_x + 1);
        const float sy = (float)w->height / (float)(c.max_y - c.min_y + 1);

        exr_get_screen_window_center(source, source_part, &centre);
        exr_get_screen_window_width(source, source_part, &window_width);
        exr_get_pixel_aspect_ratio(source, source_part, &aspect);
        if (fabsf(sx - sy) > 0.01f * sy)
            aspect *= sy / sx;
    }
    if (needs_long_names(w, source, source_part))
        exr_set_longname_support(w->context, 1);
    result = exr_add_part(w->context, NULL, EXR_STORAGE_SCANLINE, &part);
    if (result == EXR_ERR_SUCCESS)
        result = exr_initialize_required_attr(w->context, part, &display, &data, aspect, &centre,
                                              window_width, EXR_LINEORDER_INCREASING_Y,
                                              EXR_COMPRESSION_ZIP);
    for (int i = 0; i < w->count && result == EXR_ERR_SUCCESS; i++)
        result = exr_add_channel(w->context, part, w->channels[i].name, types[w->channels[i].type],
                                 EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1);
    if (source && result == EXR_ERR_SUCCESS)
        result = hsio_exr_copy_attributes(w->context, part, source, source_part);
    for (int i = 0; i < o->attribute_count && result == EXR_ERR_SUCCESS; i++)
        result =
            exr_attr_set_string(w->context, part, o->attributes[i].name, o->attributes[i].value);
    return result == EXR_ERR_SUCCESS ? exr_write_header(w->context) : result;
}

static void cut_halves(uint8_t *data, int count)
{
    for (int i = 0; i < count; i++, data += 2) {
        uint16_t h;

        memcpy(&h, data, sizeof(h));
        if ((h & 0x7fff) == 0x7c00) {
            h = (uint16_t)(h - 1);
            memcpy(data, &h, sizeof(h));
        }
    }
}

/* One row of a channel at (y) of the data window into its chunk. */
static void fetch_row(const struct writer *w, struct channel *c, int y, int row, uint8_t *line)
{
    const size_t bytes = hsio_type_bytes(c->type);
    const int width = w->windows.data.max_x - w->windows.data.min_x + 1;
    uint8_t *dst = c->rows + (size_t)row * (size_t)width * bytes;

    if (c->resampler) {
        hsio_resampler_row(c->resampler, y + w->windows.offset_y, line);
        memcpy(dst, line + (size_t)w->windows.offset_x * bytes, (size_t)width * bytes);
    } else {
        struct hsio_lane lane = c->first;

        lane.data += (size_t)(y + w->windows.offset_y) * c->pitch +
                     (size_t)w->windows.offset_x * lane.stride_bytes;
        hsio_pixels_emit(dst, c->type, 1, width, &lane, NULL);
    }
    if (c->type == HSIO_TYPE_HALF)
        cut_halves(dst, width);
}

static struct channel *channel_named(struct writer *w, const char *name)
{
    for (int i = 0; i < w->count; i++) {
        if (!strcmp(w->channels[i].name, name))
            return &w->channels[i];
    }
    return NULL;
}

static exr_result_t write_chunks(struct writer *w, int lines, uint8_t *line)
{
    exr_encode_pipeline_t encode = EXR_ENCODE_PIPELINE_INITIALIZER;
    const int height = w->windows.data.max_y - w->windows.data.min_y + 1;
    exr_result_t result = EXR_ERR_SUCCESS;

    for (int y = 0; y < height && result == EXR_ERR_SUCCESS; y += lines) {
        const int rows = height - y < lines ? height - y : lines;
        exr_chunk_info_t info = {0};

        for (int i = 0; i < w->count; i++) {
            for (int r = 0; r < rows; r++)
                fetch_row(w, &w->channels[i], y + r, r, line);
        }
        result = exr_write_scanline_chunk_info(w->context, 0, w->windows.data.min_y + y, &info);
        if (result == EXR_ERR_SUCCESS)
            result = y ? exr_encoding_update(w->context, 0, &info, &encode)
                       : exr_encoding_initialize(w->context, 0, &info, &encode);
        for (int i = 0; result == EXR_ERR_SUCCESS && i < encode.channel_count; i++) {
            exr_coding_channel_info_t *out = &encode.channels[i];
            const struct channel *c = channel_named(w, out->channel_name);

            out->encode_from_ptr = c->rows;
            out->user_data_type = out->data_type;
            out->user_bytes_per_element = out->bytes_per_element;
            out->user_pixel_stride = out->bytes_per_element;
            out->user_line_stride = out->width * out->bytes_per_element;
        }
        if (result == EXR_ERR_SUCCESS && !y)
            result = exr_encoding_choose_default_routines(w->context, 0, &encode);
        if (result == EXR_ERR_SUCCESS)
            result = exr_encoding_run(w->context, 0, &encode);
    }
    exr_encoding_destroy(w->context, &encode);
    return result;
}

static int write_pixels(struct writer *w)
{
    const int width = w->windows.data.max_x - w->windows.data.min_x + 1;
    uint8_t *line = malloc((size_t)w->width * 4);
    int32_t lines = 16;
    exr_result_t result;
    bool good = line != NULL;

    exr_get_scanlines_per_chunk(w->context, 0, &lines);
    for (int i = 0; i < w->count && good; i++) {
        w->channels[i].rows =
            malloc((size_t)width * (size_t)lines * hsio_type_bytes(w->channels[i].type));
        good = w->channels[i].rows;
    }
    result = good ? write_chunks(w, lines, line) : EXR_ERR_OUT_OF_MEMORY;
    free(line);
    return result == EXR_ERR_SUCCESS ? 0 : core_error(w, result, "pixels cannot be written");
}

static int write_file(struct writer *w, const struct hsio_write_options *o)
{
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_result_t result;
    int status;

    init.error_handler_fn = drop_message;
    init.user_data = w;
    init.write_fn = write_at;
    init.zip_level = ZIP_LEVEL;
    result = exr_start_write(&w->context, w->path, EXR_WRITE_FILE_DIRECTLY, &init);
    if (result != EXR_ERR_SUCCESS) {
        w->context = NULL;
        return core_error(w, result, "cannot be written");
    }
    result = write_header(w, o);
    if (result != EXR_ERR_SUCCESS) {
        status = core_error(w, result, "header cannot be written");
        exr_finish(&w->context);
        return status;
    }
    status = write_pixels(w);
    result = exr_finish(&w->context);
    if (!status && result != EXR_ERR_SUCCESS)
        status = core_error(w, result, "cannot be finished");
    return status;
}

int hsio_exr_write(const char *path, int width, int height, const struct hsio_write_plane *planes,
                   int count, const struct hsio_write_options *options, const struct hs_log *log)
{
    struct writer *w = calloc(1, sizeof(*w));
    int result = 0;

    if (!w)
        return hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", path);
    w->log = log;
    w->path = path;
    w->width = width;
    w->height = height;
    w->out.fd = -1;
    hsio_exr_place(options->source, width, height, &w->windows);
    for (int i = 0; i < count && !result; i++)
        result = add_plane(w, &planes[i], options);
    if (!result)
        result = carry_channels(w, options);
    if (!result)
        result = hsio_output_open(&w->out, path, log);
    if (!result) {
        result = write_file(w, options);
        if (!result || w->out.saved_errno)
            result = hsio_output_commit(&w->out, log);
        else
            hsio_output_abort(&w->out);
    }
    for (int i = 0; i < w->count; i++) {
        hsio_resampler_destroy(&w->channels[i].resampler);
        free(w->channels[i].carried);
        free(w->channels[i].rows);
        free(w->channels[i].name);
    }
    free(w);
    return result;
}
