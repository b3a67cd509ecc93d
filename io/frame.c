// SPDX-License-Identifier: MIT
/** One frame: which file each plane is in, what is known of the camera. */
#include "frame.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hs_log *log_of(const struct hsio_frame *f)
{
    return &f->seq->log;
}

static int open_source(struct hsio_frame *f, struct hsio_source *s)
{
    switch (s->kind) {
    case HSIO_SOURCE_EXR:
        return hsio_exr_open(s->path, log_of(f), &s->exr);
    case HSIO_SOURCE_PNG:
        return hsio_png_probe(s->path, log_of(f), &s->png);
    case HSIO_SOURCE_FLO:
        return hsio_flo_probe(s->path, log_of(f), &s->flo);
    default:
        return hsio_path_size(s->path, log_of(f), &s->bytes);
    }
}

/* Index of the source for a path, opened if it is new; negative code on failure. */
static int find_source(struct hsio_frame *f, const char *path, bool separate)
{
    struct hsio_source *s = &f->sources[f->source_count];
    int result;

    for (int i = 0; i < f->source_count; i++) {
        if (!strcmp(f->sources[i].path, path))
            return i;
    }
    *s = (struct hsio_source){
        .kind = hsio_path_has_extension(path, ".exr")   ? HSIO_SOURCE_EXR
                : hsio_path_has_extension(path, ".png") ? HSIO_SOURCE_PNG
                : hsio_flo_is(path)                     ? HSIO_SOURCE_FLO
                                                        : HSIO_SOURCE_RAW,
        .path = hsio_text_format("%s", path),
        .separate = separate,
    };
    if (!s->path)
        return hsio_fail(log_of(f), HS_ERR_NOMEM, "%s: out of memory", path);
    f->source_count++;
    result = open_source(f, s);
    return result ? result : f->source_count - 1;
}

/* Plain names that a file with a single plane may use. */
static const char *plain_patterns(int channels)
{
    switch (channels) {
    case 1:
        return "Z|Y|R|X|V|*.Z|*.Y|*.R|*.X|*.V|*";
    case 2:
        return "X,Y|R,G|U,V|*.X,*.Y|*.R,*.G|*.U,*.V";
    default:
        return "R,G,B,A?|X,Y,Z,W?|*.R,*.G,*.B,*.A?|*.X,*.Y,*.Z,*.W?|Y,Y,Y,A?";
    }
}

static bool ends_with_chroma(const struct hsio_exr *exr, const struct hsio_match *m)
{
    return m->count >= 3 && m->channels[1] >= 0 &&
           hsio_path_has_extension(hsio_exr_channel_name(exr, m->part, m->channels[1]), "RY");
}

static void name_channels(const struct hsio_exr *exr, const struct hsio_match *m,
                          struct hsio_plane_info *info)
{
    size_t length = 0;

    for (int i = 0; i < m->count; i++) {
        if (m->channels[i] >= 0)
            length = hsio_text_append(info->channels, sizeof(info->channels), length, "%s%s",
                                      length ? "," : "",
                                      hsio_exr_channel_name(exr, m->part, m->channels[i]));
    }
}

static struct hsio_box canvas_of(const struct hsio_frame *f, const struct hsio_exr *exr, int part)
{
    return f->seq->options.window == HSIO_WINDOW_DATA ? hsio_exr_part(exr, part)->data
                                                      : hsio_exr_part(exr, part)->display;
}

static void locate_exr(struct hsio_frame *f, enum hsio_plane plane, int source)
{
    struct hsio_source *s = &f->sources[source];
    struct hsio_located *p = &f->planes[plane];
    struct hsio_plane_info *info = &f->info.planes[plane];
    const char *layer = f->convention.layer;
    const int channels = hsio_plane_channels(plane);
    enum hsio_type type = HSIO_TYPE_HALF;
    int count;
    const struct hsio_candidate *list = hsio_exr_candidates(s->exr, &count);
    bool found = hsio_match_find(f->convention.channels[plane], layer, list, count, &p->match);

    if (!found && s->separate)
        found = hsio_match_find(plain_patterns(channels), "", list, count, &p->match);
    // Roughness rides in the fourth channel of the normals.
    if (!found && plane == HSIO_PLANE_ROUGHNESS && f->convention.normal.packed &&
        hsio_match_find(f->convention.channels[HSIO_PLANE_NORMAL], layer, list, count, &p->match) &&
        p->match.channels[3] >= 0) {
        p->match.channels[0] = p->match.channels[3];
        p->match.count = 1;
        found = true;
    }
    if (!found)
        return;
    if (p->match.count > channels)
        p->match.count = channels;
    p->source = source;
    p->chroma = channels == 4 && ends_with_chroma(s->exr, &p->match);
    for (int i = 0; i < p->match.count; i++) {
        if (p->match.channels[i] >= 0 &&
            hsio_exr_channel_type(s->exr, p->match.part, p->match.channels[i]) != HSIO_TYPE_HALF)
            type = HSIO_TYPE_FLOAT;
    }
    if (!s->has_canvas)
        s->canvas = canvas_of(f, s->exr, p->match.part);
    s->has_canvas = true;
    info->width = s->canvas.max_x - s->canvas.min_x + 1;
    info->height = s->canvas.max_y - s->canvas.min_y + 1;
    info->format = hsio_format_of(type, channels);
    name_channels(s->exr, &p->match, info);
    if (p->match.rivals && !f->seq->width)
        hsio_log(log_of(f), HS_LOG_INFO,
                 "%s: plane %s: %d other layers fit, e.g. \"%s\"; %s is used (choose with layer)",
                 s->path, hsio_plane_name(plane), p->match.rivals, p->match.rival, info->channels);
}

static void locate_png(struct hsio_frame *f, enum hsio_plane plane, int source)
{
    const struct hsio_source *s = &f->sources[source];
    struct hsio_plane_info *info = &f->info.planes[plane];

    if (plane != HSIO_PLANE_COLOR && !s->separate)
        return;
    if (hsio_plane_channels(plane) == 2 && s->png.channels < 3)
        return;
    f->planes[plane].source = source;
    info->width = s->png.width;
    info->height = s->png.height;
    info->format = hsio_format_of(s->png.bits == 16 ? HSIO_TYPE_FLOAT : HSIO_TYPE_HALF,
                                  hsio_plane_channels(plane));
    snprintf(info->channels, sizeof(info->channels), "%s",
             s->png.channels == 1   ? "Y"
             : s->png.channels == 2 ? "Y,A"
             : s->png.channels == 3 ? "R,G,B"
                                    : "R,G,B,A");
}

static int locate_flo(struct hsio_frame *f, enum hsio_plane plane, int source)
{
    const struct hsio_source *s = &f->sources[source];
    struct hsio_plane_info *info = &f->info.planes[plane];

    if (hsio_plane_channels(plane) != s->flo.channels)
        return hsio_fail(log_of(f), HS_ERR_FORMAT,
                         "%s: frame %" PRId64 ": plane %s: expected %d channels, found %d", s->path,
                         f->slot->number, hsio_plane_name(plane), hsio_plane_channels(plane),
                         s->flo.channels);
    f->planes[plane].source = source;
    info->width = s->flo.width;
    info->height = s->flo.height;
    info->format = hsio_format_of(HSIO_TYPE_FLOAT, s->flo.channels);
    snprintf(info->channels, sizeof(info->channels), "%s", s->flo.channels == 1 ? "Z" : "u,v");
    return 0;
}

/* Vectors to the next frame: the last one has none. */
static bool may_be_absent(const struct hsio_frame *f, enum hsio_plane plane)
{
    return plane == HSIO_PLANE_MOTION && f->convention.motion.direction == HSIO_DIRECTION_NEXT &&
           f->slot == &f->seq->slots[f->seq->count - 1];
}

/* Size of a raw plane: its own, or by kind. */
static void raw_size(const struct hsio_frame *f, enum hsio_plane plane, int *width, int *height)
{
    const struct hsio_entry *e = f->slot->entry;
    const struct hsio_description *d = f->seq->description;
    const enum hsio_resolution resolution = plane == HSIO_PLANE_MOTION_NEXT
                                                ? f->convention.motion_next.resolution
                                                : f->convention.motion.resolution;

    *width = e->width;
    *height = e->height;
    if ((plane == HSIO_PLANE_MOTION || plane == HSIO_PLANE_MOTION_NEXT) &&
        resolution == HSIO_RESOLUTION_DISPLAY) {
        *width = d->output_width;
        *height = d->output_height;
    }
    if (plane == HSIO_PLANE_EXPOSURE)
        *width = *height = 1;
    if (e->planes[plane].width) {
        *width = e->planes[plane].width;
        *height = e->planes[plane].height;
    }
}

static int locate_raw(struct hsio_frame *f, enum hsio_plane plane, int source)
{
    const struct hsio_source *s = &f->sources[source];
    const struct hsio_entry *e = f->slot->entry;
    struct hsio_plane_info *info = &f->info.planes[plane];
    int format, width = 0, height = 0;

    if (!e)
        return hsio_fail(log_of(f), HS_ERR_UNSUPPORTED,
                         "%s: neither .exr nor .png; raw planes need a JSON description", s->path);
    raw_size(f, plane, &width, &height);
    if (width < 1 || height < 1)
        return hsio_fail(log_of(f), HS_ERR_FORMAT,
                         "%s: frame %" PRId64 ": plane %s: no size: key %s is missing",
                         f->seq->description->path, f->slot->number, hsio_plane_name(plane),
                         f->info.width ? "output" : "render");
    format = e->planes[plane].format;
    if (format < 1)
        format = hsio_raw_format(s->path, s->bytes, plane, width, height);
    if (format < 1)
        return hsio_fail(log_of(f), HS_ERR_FORMAT,
                         "%s: frame %" PRId64 ": plane %s: %" PRIu64
                         " bytes are no %d-channel half or float image of %dx%d",
                         s->path, f->slot->number, hsio_plane_name(plane), s->bytes,
                         hsio_plane_channels(plane), width, height);
    if (hsio_format_channels((enum hsio_format)format) != hsio_plane_channels(plane) &&
        !(hsio_plane_channels(plane) == 2 && hsio_format_channels((enum hsio_format)format) == 4))
        return hsio_fail(log_of(f), HS_ERR_FORMAT,
                         "%s: frame %" PRId64 ": plane %s: expected %d channels, found %s", s->path,
                         f->slot->number, hsio_plane_name(plane), hsio_plane_channels(plane),
                         hsio_format_name((enum hsio_format)format));
    if ((uint64_t)width * (uint64_t)height * hsio_format_bytes((enum hsio_format)format) !=
        s->bytes)
        return hsio_fail(log_of(f), HS_ERR_FORMAT,
                         "%s: frame %" PRId64 ": plane %s: %dx%d %s needs %" PRIu64
                         " bytes, the file has %" PRIu64,
                         s->path, f->slot->number, hsio_plane_name(plane), width, height,
                         hsio_format_name((enum hsio_format)format),
                         (uint64_t)width * (uint64_t)height *
                             hsio_format_bytes((enum hsio_format)format),
                         s->bytes);
    f->planes[plane].source = source;
    f->planes[plane].match.count = format;
    info->width = width;
    info->height = height;
    info->format =
        hsio_format_of(hsio_format_type((enum hsio_format)format), hsio_plane_channels(plane));
    snprintf(info->channels, sizeof(info->channels), "%s",
             hsio_format_name((enum hsio_format)format));
    return 0;
}

/* A file that was named for a plane holds it, or is the wrong one. */
static int not_in_file(const struct hsio_frame *f, enum hsio_plane plane, int source)
{
    const struct hsio_source *s = &f->sources[source];
    char names[3072] = "";

    if (s->exr)
        hsio_exr_list(s->exr, names, sizeof(names));
    return hsio_fail(log_of(f), HS_ERR_FORMAT,
                     "%s: frame %" PRId64 ": plane %s: no channels fit; pattern \"%s\"%s%s",
                     s->path, f->slot->number, hsio_plane_name(plane),
                     f->convention.channels[plane], names[0] ? ", channels: " : "", names);
}

static int locate(struct hsio_frame *f, enum hsio_plane plane)
{
    const struct hsio_entry *e = f->slot->entry;
    const char *path = f->slot->path;
    char text[1536];
    bool separate = false;
    uint64_t bytes;
    int source, result = 0;

    f->planes[plane].source = -1;
    if (e && e->planes[plane].path) {
        path = e->planes[plane].path;
        separate = true;
    } else if (f->seq->has_plane[plane]) {
        if (hsio_pattern_format(&f->seq->planes[plane], f->slot->number, text, sizeof(text)))
            return hsio_fail(log_of(f), HS_ERR_INVALID, "plane %s: file name too long",
                             hsio_plane_name(plane));
        path = text;
        separate = true;
    }
    if (!path)
        return 0;
    if (hsio_path_size(path, NULL, &bytes) && may_be_absent(f, plane))
        return 0;
    if (hsio_path_size(path, NULL, &bytes))
        return hsio_fail(log_of(f), HS_ERR_IO,
                         "%s: frame %" PRId64 ": plane %s: no such file, or not a regular one",
                         path, f->slot->number, hsio_plane_name(plane));
    source = find_source(f, path, separate);
    if (source < 0)
        return source;
    if (f->sources[source].kind == HSIO_SOURCE_EXR)
        locate_exr(f, plane, source);
    else if (f->sources[source].kind == HSIO_SOURCE_PNG)
        locate_png(f, plane, source);
    else if (f->sources[source].kind == HSIO_SOURCE_FLO)
        result = locate_flo(f, plane, source);
    else
        result = locate_raw(f, plane, source);
    if (!result && f->planes[plane].source < 0 && separate)
        result = not_in_file(f, plane, source);
    if (result || f->planes[plane].source < 0)
        return result;
    f->info.planes[plane].present = true;
    f->info.planes[plane].path = f->sources[source].path;
    if (f->main < 0) {
        f->main = source;
        f->info.width = f->info.planes[plane].width;
        f->info.height = f->info.planes[plane].height;
    }
    return 0;
}

static float jitter_factor(enum hsio_unit unit, int size)
{
    return unit == HSIO_UNIT_UV ? (float)size : unit == HSIO_UNIT_NDC ? 0.5f * (float)size : 1;
}

static void take_entry(struct hsio_frame *f, const struct hsio_entry *e)
{
    const struct hsio_convention *c = &f->convention;
    struct hsio_frame_info *i = &f->info;

    i->has_jitter = e->has_jitter;
    i->jitter_px[0] = e->jitter[0] * c->jitter.sign_x * jitter_factor(c->jitter.unit, i->width);
    i->jitter_px[1] = e->jitter[1] * c->jitter.sign_y * jitter_factor(c->jitter.unit, i->height);
    if (e->has_view) {
        i->has_view = true;
        memcpy(i->view, e->view, sizeof(i->view));
    }
    if (e->has_proj) {
        i->has_proj = true;
        memcpy(i->proj, e->proj, sizeof(i->proj));
    }
    i->has_clip = e->has_near && e->has_far;
    i->near = e->near;
    i->far = e->far;
    i->has_exposure = e->has_exposure;
    i->exposure = e->exposure;
    i->sharpness = e->sharpness;
}

static void take_camera(struct hsio_frame *f)
{
    const struct hsio_convention *c = &f->convention;
    int part;
    const struct hsio_exr *exr = hsio_frame_exr(f, &part);

    if (exr) {
        f->info.display = hsio_exr_part(exr, part)->display;
        f->info.data = hsio_exr_part(exr, part)->data;
        hsio_exr_camera(exr, part, &f->info);
    } else {
        f->info.display = (struct hsio_box){0, 0, f->info.width - 1, f->info.height - 1};
        f->info.data = f->info.display;
    }
    if (f->slot->entry)
        take_entry(f, f->slot->entry);
    if (f->seq->description && f->seq->description->no_jitter)
        f->info.has_jitter = true;
    if (!f->info.has_clip && c->depth.near > 0 && c->depth.far != 0) {
        f->info.has_clip = true;
        f->info.near = c->depth.near;
        f->info.far = c->depth.far < 0 ? INFINITY : c->depth.far;
    }
    if (!f->info.has_exposure)
        f->info.exposure = 1;
}

static int no_planes(const struct hsio_frame *f)
{
    const struct hsio_exr *exr = f->source_count ? f->sources[0].exr : NULL;
    char names[3072] = "nothing";
    bool deep = exr != NULL;

    if (exr)
        hsio_exr_list(exr, names, sizeof(names));
    for (int i = 0; exr && i < hsio_exr_part_count(exr); i++)
        deep = deep && hsio_exr_part(exr, i)->deep;
    if (deep)
        return hsio_fail(log_of(f), HS_ERR_UNSUPPORTED,
                         "%s: frame %" PRId64 ": holds deep data only, which cannot be read: %s",
                         f->sources[0].path, f->slot->number, names);
    return hsio_fail(log_of(f), HS_ERR_FORMAT,
                     "%s: frame %" PRId64 ": no plane found with preset %s%s%s; there is: %s",
                     f->source_count ? f->sources[0].path : f->seq->location, f->slot->number,
                     f->convention.preset, f->convention.layer[0] ? " in layer " : "",
                     f->convention.layer, names);
}

int hsio_frame_open(const struct hsio_sequence *seq, int index, struct hsio_frame **out)
{
    struct hsio_frame *f;
    int result = 0;

    if (index < 0 || index >= seq->count)
        return hsio_fail(&seq->log, HS_ERR_INVALID, "%s: frame index %d is not in 0 to %d",
                         seq->location, index, seq->count - 1);
    f = calloc(1, sizeof(*f));
    if (!f)
        return hsio_fail(&seq->log, HS_ERR_NOMEM, "%s: out of memory", seq->location);
    f->seq = seq;
    f->slot = &seq->slots[index];
    f->main = -1;
    f->convention = seq->convention;
    if (f->slot->entry && f->slot->entry->convention) {
        hsio_convention_overlay(&f->convention, f->slot->entry->convention);
        hsio_convention_overlay(&f->convention, &seq->user);
    }
    for (int i = 0; i < HSIO_PLANE_COUNT && !result; i++)
        result = locate(f, (enum hsio_plane)i);
    if (!result && f->main < 0)
        result = no_planes(f);
    if (result) {
        hsio_frame_close(&f);
        return result;
    }
    f->info.number = f->slot->number;
    f->info.path = f->sources[f->main].path;
    f->info.held = f->slot->held;
    f->info.reset = f->slot->reset;
    f->info.resized = seq->width && (f->info.width != seq->width || f->info.height != seq->height);
    f->info.convention = &f->convention;
    f->info.stored_motion = f->convention.motion;
    take_camera(f);
    *out = f;
    return 0;
}

void hsio_frame_close(struct hsio_frame **frame)
{
    struct hsio_frame *f = frame ? *frame : NULL;

    if (!f)
        return;
    free(f->mended);
    for (int i = 0; i < f->source_count; i++) {
        hsio_exr_close(&f->sources[i].exr);
        free(f->sources[i].path);
    }
    free(f);
    *frame = NULL;
}

const struct hsio_frame_info *hsio_frame_info(const struct hsio_frame *frame)
{
    return &frame->info;
}

struct hsio_exr *hsio_frame_exr(struct hsio_frame *frame, int *part)
{
    struct hsio_exr *exr = frame->sources[frame->main].exr;

    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        if (frame->planes[i].source == frame->main) {
            *part = frame->planes[i].match.part;
            break;
        }
    }
    return exr;
}

struct hsio_box hsio_frame_canvas(const struct hsio_frame *frame)
{
    return frame->sources[frame->main].canvas;
}

bool hsio_frame_uses_data_window(const struct hsio_frame *frame)
{
    return frame->seq->options.window == HSIO_WINDOW_DATA;
}
