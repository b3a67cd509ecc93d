// SPDX-License-Identifier: MIT
/** Layers of an EXR by their names, beside the planes that a convention tells of. */
#include "frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a layer is. */
struct located {
    int part, count;
    int channels[4];
    char prefix[512]; ///< What precedes a channel's own name, the dot included.
};

static const struct hs_log *log_of(const struct hsio_frame *f)
{
    return &f->seq->log;
}

/* Length of what precedes a channel's own name if it belongs to the layer; negative: it doesn't.
 * `Diffuse` is found as `Diffuse.R`, as `View.Diffuse.R`, and as `R` of a part of that name. */
static int prefix_in_layer(const struct hsio_candidate *c, const char *layer)
{
    const char *dot = strrchr(c->name, '.');
    const size_t wanted = strlen(layer);

    if (!dot)
        return hsio_text_same(c->part_name, layer, SIZE_MAX) ? 0 : -1;
    const size_t length = (size_t)(dot - c->name);
    if (length < wanted || !hsio_text_same(dot - wanted, layer, wanted) ||
        (length > wanted && dot[-(ptrdiff_t)wanted - 1] != '.'))
        return -1;
    return (int)length + 1;
}

/* Order of a channel among the four of its layer. */
static int rank(const char *name)
{
    static const char order[] = "RXUYGVZBWA";
    const char *at = name[1] ? NULL : strchr(order, name[0]);

    return at ? (int)(at - order) : (int)sizeof(order);
}

static void insert(const struct hsio_candidate *list, int index, int prefix, struct located *to,
                   int order[4])
{
    const int own = rank(list[index].name + prefix);
    int at = to->count;

    for (; at > 0 && order[at - 1] > own; at--) {
        order[at] = order[at - 1];
        to->channels[at] = to->channels[at - 1];
    }
    order[at] = own;
    to->channels[at] = list[index].channel;
    to->count++;
}

static int no_layer(const struct hsio_frame *f, const struct hsio_exr *exr, const char *name)
{
    char names[3072] = "";

    hsio_exr_list(exr, names, sizeof(names));
    return hsio_fail(log_of(f), HS_ERR_INVALID, "%s: no layer %s; channels: %s", hsio_exr_path(exr),
                     name, names);
}

static int locate(struct hsio_frame *f, const char *name, struct located *out)
{
    int main_part, count, order[4], prefix;
    struct hsio_exr *exr = hsio_frame_exr(f, &main_part);

    *out = (struct located){.part = -1, .channels = {-1, -1, -1, -1}};
    if (!exr)
        return hsio_fail(log_of(f), HS_ERR_UNSUPPORTED, "%s: layer %s: only EXR files have layers",
                         f->info.path, name);
    const struct hsio_candidate *list = hsio_exr_candidates(exr, &count);
    for (int i = 0; i < count; i++) {
        const struct hsio_candidate *c = &list[i];

        prefix = *name ? prefix_in_layer(c, name) : -1;
        if (prefix < 0)
            continue;
        if (out->part < 0) {
            out->part = c->part;
            snprintf(out->prefix, sizeof(out->prefix), "%.*s", prefix, c->name);
        }
        // The first one that fits, where several parts or views have such a layer.
        if (c->part != out->part || strlen(out->prefix) != (size_t)prefix ||
            strncmp(c->name, out->prefix, (size_t)prefix) != 0)
            continue;
        if (out->count == 4)
            return hsio_fail(log_of(f), HS_ERR_UNSUPPORTED,
                             "%s: layer %s has more than four channels", hsio_exr_path(exr), name);
        insert(list, i, prefix, out, order);
    }
    for (int i = 0; i < out->count; i++) {
        int x, y;

        hsio_exr_channel_sampling(exr, out->part, out->channels[i], &x, &y);
        if (x != 1 || y != 1)
            return hsio_fail(log_of(f), HS_ERR_UNSUPPORTED, "%s: layer %s is subsampled",
                             hsio_exr_path(exr), name);
    }
    return out->count ? 0 : no_layer(f, exr, name);
}

/* In a file of several parts, channels of other parts may have the same names. */
static bool is_color(const struct hsio_frame *f, const struct located *at)
{
    const struct hsio_located *color = &f->planes[HSIO_PLANE_COLOR];

    if (color->source != f->main || color->match.part != at->part)
        return false;
    for (int i = 0; i < at->count; i++) {
        for (int k = 0; k < 4; k++) {
            if (color->match.channels[k] == at->channels[i])
                return true;
        }
    }
    return false;
}

void hsio_frame_list(struct hsio_frame *frame, char *text, size_t size)
{
    int part;
    const struct hsio_exr *exr = hsio_frame_exr(frame, &part);

    if (size)
        text[0] = 0;
    if (exr && size)
        hsio_exr_list(exr, text, size);
}

bool hsio_frame_fits(struct hsio_frame *frame, const char *pattern)
{
    int part, count = 0;
    const struct hsio_exr *exr = hsio_frame_exr(frame, &part);
    const struct hsio_candidate *list = exr ? hsio_exr_candidates(exr, &count) : NULL;

    for (int i = 0; i < count; i++) {
        if (hsio_passthrough_fits(pattern, &list[i]))
            return true;
    }
    return false;
}

int hsio_frame_layer(struct hsio_frame *frame, const char *name, struct hsio_layer_info *info)
{
    struct hsio_layer_info found = {.format = HSIO_FORMAT_RGBA16F};
    struct located at;
    size_t length = 0;
    int main_part, result = locate(frame, name, &at);

    if (result)
        return result;
    struct hsio_exr *exr = hsio_frame_exr(frame, &main_part);
    snprintf(found.part, sizeof(found.part), "%s", hsio_exr_part(exr, at.part)->name);
    for (int i = 0; i < at.count; i++) {
        const char *channel = hsio_exr_channel_name(exr, at.part, at.channels[i]);
        const enum hsio_type type = hsio_exr_channel_type(exr, at.part, at.channels[i]);

        length = hsio_text_append(found.channels, sizeof(found.channels), length, "%s%s",
                                  i ? "," : "", channel);
        if (type != HSIO_TYPE_HALF)
            found.format = HSIO_FORMAT_RGBA32F;
        // A Z behind X and Y is no depth.
        if (type == HSIO_TYPE_UINT ||
            (!(at.count > 2 && hsio_path_has_extension(channel, ".Z")) &&
             hsio_resample_choose(channel, type) == HSIO_RESAMPLE_NEAREST))
            found.exact = true;
    }
    found.channel_count = at.count;
    found.is_color = is_color(frame, &at);
    *info = found;
    return 0;
}

int hsio_frame_read_layers(struct hsio_frame *frame, const struct hsio_layer_request *requests,
                           int count)
{
    const struct hsio_box canvas = hsio_frame_canvas(frame);
    const size_t pixels =
        (size_t)(canvas.max_x - canvas.min_x + 1) * (size_t)(canvas.max_y - canvas.min_y + 1);
    struct hsio_exr_target *targets;
    int main_part, result = 0;

    if (count < 1)
        return 0;
    targets = calloc((size_t)count, sizeof(*targets));
    if (!targets)
        return hsio_fail(log_of(frame), HS_ERR_NOMEM, "%s: out of memory", frame->info.path);
    for (int i = 0; i < count && !result; i++) {
        const struct hsio_layer_request *r = &requests[i];
        struct located at;

        if ((r->format != HSIO_FORMAT_RGBA16F && r->format != HSIO_FORMAT_RGBA32F) || !r->buffer ||
            r->buffer_bytes < pixels * hsio_format_bytes(r->format)) {
            result = hsio_fail(log_of(frame), HS_ERR_INVALID,
                               "%s: layer %s: bad format, or a buffer that is too small",
                               frame->info.path, r->name);
            break;
        }
        result = locate(frame, r->name, &at);
        if (result)
            break;
        targets[i] = (struct hsio_exr_target){
            .part = at.part,
            .out_channels = 4,
            .type = hsio_format_type(r->format),
            .canvas = canvas,
            .dst = r->buffer,
            .what = "a layer",
        };
        memcpy(targets[i].channels, at.channels, sizeof(at.channels));
    }
    if (!result)
        result = hsio_exr_read(hsio_frame_exr(frame, &main_part), targets, count, log_of(frame));
    free(targets);
    return result;
}
