// SPDX-License-Identifier: MIT
/** From a location to an ordered list of frames. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool is_file(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISREG(st.st_mode);
}

int hsio_sequence_no_memory(const struct hsio_sequence *s)
{
    return hsio_fail(&s->log, HS_ERR_NOMEM, "out of memory for a sequence");
}

static int load_description(struct hsio_sequence *s, const char *path)
{
    const int result = hsio_description_load(path, &s->user, &s->log, &s->description);

    if (!result)
        s->convention = s->description->convention;
    return result;
}

/* Camera data from a file that the caller names. */
static int load_named_sidecar(struct hsio_sequence *s)
{
    const int result = load_description(s, s->options.sidecar);

    if (!result && s->description->lists_files)
        return hsio_fail(&s->log, HS_ERR_INVALID, "%s lists files of its own: open it instead",
                         s->options.sidecar);
    return result;
}

/* A frames.json beside the pictures, if there is one that describes pictures. */
static int load_sidecar(struct hsio_sequence *s, const char *any_file)
{
    if (s->options.sidecar)
        return load_named_sidecar(s);

    char *folder = hsio_path_folder(any_file);
    char *path = folder ? hsio_path_join(folder, "frames.json") : NULL;
    int result = path ? 0 : hsio_sequence_no_memory(s);

    if (!result && !s->options.no_sidecar && is_file(path)) {
        result = load_description(s, path);
        if (result) {
            hsio_log(&s->log, HS_LOG_INFO,
                     "%s lies beside the pictures; it can be ignored by "
                     "option",
                     path);
        } else if (s->description->lists_files) {
            hsio_description_free(&s->description);
            s->convention = s->user;
        } else {
            hsio_log(&s->log, HS_LOG_INFO, "%s: camera data of %d frames", path,
                     s->description->count);
        }
    }
    free(folder);
    free(path);
    return result;
}

/* Names a sequence that differs in its padding only, as a hint. */
static int nothing_found(const struct hsio_sequence *s, const struct hsio_pattern *pattern)
{
    struct hsio_file_list loose = {0};
    struct hsio_pattern p = *pattern;
    int result;

    for (p.digits = 1; p.digits < 9 && !loose.count; p.digits++) {
        if (hsio_scan_pattern(&p, NULL, &loose))
            break;
    }
    result = hsio_fail(&s->log, HS_ERR_IO, "%s: no such file%s%s", s->location,
                       loose.count ? "; there is " : "", loose.count ? loose.files[0].path : "");
    hsio_file_list_free(&loose);
    return result;
}

static int open_pattern(struct hsio_sequence *s, const struct hsio_pattern *pattern)
{
    struct hsio_file_list list = {0};
    struct hsio_pattern p = *pattern;
    int result;

    if (p.has_range && p.digits == 1)
        p.digits = 0; // [1-20] does not tell the padding.
    result = hsio_scan_pattern(&p, &s->log, &list);
    if (!result && !list.count)
        result = nothing_found(s, pattern);
    if (!result)
        result = hsio_slots_build(s, &list, &p);
    hsio_file_list_free(&list);
    return result;
}

static int open_single(struct hsio_sequence *s, const char *path)
{
    struct hsio_pattern pattern;
    int64_t number = 0;
    int result = load_sidecar(s, path);

    if (result)
        return result;
    if (hsio_scan_split(path, &pattern, &number) && s->options.expand_single)
        return open_pattern(s, &pattern);
    s->slots = calloc(1, sizeof(*s->slots));
    return s->slots ? hsio_slots_add(s, number, path, false, 1) : hsio_sequence_no_memory(s);
}

/* Frames in file order; numbers only serve to find jumps. */
static int open_listed(struct hsio_sequence *s)
{
    const struct hsio_description *d = s->description;
    int64_t step = d->count > 2 ? d->entries[1].number - d->entries[0].number : 1;

    for (int i = 2; i < d->count; i++) {
        if (d->entries[i].number - d->entries[i - 1].number != step)
            step = 1;
    }
    s->slots = calloc((size_t)d->count + 1, sizeof(*s->slots));
    if (!s->slots)
        return hsio_sequence_no_memory(s);
    for (int i = 0; i < d->count; i++) {
        const struct hsio_entry *e = &d->entries[i];
        const struct hsio_options *o = &s->options;
        struct hsio_slot *slot = &s->slots[s->count];

        if (o->has_range && (e->number < o->first || e->number > o->last ||
                             (e->number - o->first) % (o->step ? o->step : 1)))
            continue;
        *slot = (struct hsio_slot){
            .number = e->number,
            .entry = e,
            .reset = !s->count || e->reset || e->number - slot[-1].number != step,
        };
        s->count++;
    }
    return s->count ? 0 : hsio_fail(&s->log, HS_ERR_IO, "%s: no frames", s->location);
}

static int open_folder(struct hsio_sequence *s, const char *folder)
{
    struct hsio_pattern pattern;
    int result;

    if (s->description && s->description->pattern)
        result = hsio_pattern_parse(&pattern, s->description->pattern, &s->log);
    else
        result = hsio_scan_folder(folder, s->description, &s->log, &pattern);
    return result ? result : open_pattern(s, &pattern);
}

static int open_json(struct hsio_sequence *s, const char *path)
{
    char *folder;
    int result = load_description(s, path);

    if (result)
        return result;
    if (s->description->lists_files)
        return open_listed(s);
    folder = hsio_path_folder(path);
    result = folder ? open_folder(s, folder) : hsio_sequence_no_memory(s);
    free(folder);
    return result;
}

static int open_location(struct hsio_sequence *s, const char *location)
{
    struct hsio_pattern pattern;
    int result;

    if (is_folder(location)) {
        char *folder = hsio_path_join(location, "");
        char *json = folder ? hsio_text_format("%s%sframes.json", folder,
                                               folder[strlen(folder) - 1] == '/' ? "" : "/")
                            : NULL;

        if (!json)
            result = hsio_sequence_no_memory(s);
        else if (is_file(json) && !s->options.no_sidecar && !s->options.sidecar)
            result = open_json(s, json);
        else if (!s->options.sidecar || !(result = load_named_sidecar(s)))
            result = open_folder(s, folder);
        free(folder);
        free(json);
        return result;
    }
    if (is_file(location) && hsio_path_has_extension(location, ".json") &&
        (s->options.sidecar || s->options.no_sidecar))
        return hsio_fail(&s->log, HS_ERR_INVALID,
                         "%s: describes frames itself: open the pictures to leave it alone, or to "
                         "take another file's jitter and cameras",
                         location);
    if (is_file(location))
        return hsio_path_has_extension(location, ".json") ? open_json(s, location)
                                                          : open_single(s, location);
    result = hsio_pattern_parse(&pattern, location, &s->log);
    if (result)
        return result;
    if (!pattern.numbered)
        return hsio_fail(&s->log, HS_ERR_IO, "%s: no such file", location);
    result = load_sidecar(s, location);
    return result ? result : open_pattern(s, &pattern);
}

static int keep_options(struct hsio_sequence *s, const struct hsio_options *options)
{
    int result = 0;

    if (!options)
        return 0;
    s->options = *options;
    for (int i = 0; i < HSIO_PLANE_COUNT && !result; i++) {
        s->has_plane[i] = options->planes[i] != NULL;
        if (s->has_plane[i])
            result = hsio_pattern_parse(&s->planes[i], options->planes[i], &s->log);
        s->options.planes[i] = NULL;
    }
    return result;
}

static bool find_dot(const struct hsio_candidate *list, int count, const struct hsio_match *match)
{
    for (int i = 0; i < count; i++) {
        if (list[i].part == match->part && list[i].channel == match->channels[0])
            return strchr(list[i].name, '.') != NULL || list[i].part_name[0];
    }
    return false;
}

/* Names presets that would find vectors where plain names find none. */
static void hint_preset(const struct hsio_sequence *s, const char *path,
                        const struct hsio_candidate *list, int count)
{
    struct hsio_convention conv, raw;
    struct hsio_match match, color;
    char names[256] = "";
    size_t length = 0;

    if (s->has_plane[HSIO_PLANE_MOTION] || hsio_convention_preset(&raw, "raw", NULL) ||
        hsio_match_find(raw.channels[HSIO_PLANE_MOTION], "", list, count, &match))
        return;
    for (int i = 0; i < hsio_preset_count(); i++) {
        const char *name = hsio_preset_name(i);

        // Two channels of the picture could be anything.
        if (hsio_convention_preset(&conv, name, NULL) ||
            !hsio_match_find(conv.channels[HSIO_PLANE_MOTION], "", list, count, &match) ||
            !find_dot(list, count, &match) ||
            (hsio_match_find(conv.channels[HSIO_PLANE_COLOR], "", list, count, &color) &&
             color.part == match.part && color.channels[0] == match.channels[0]))
            continue;
        length = hsio_text_append(names, sizeof(names), length, "%s%s", length ? " or " : "", name);
    }
    if (length)
        hsio_log(&s->log, HS_LOG_WARN,
                 "%s: no motion under plain names; convention %s would find some", path, names);
}

/* `auto`: Blender names its channels like nobody else. */
static int resolve_convention(struct hsio_sequence *s)
{
    struct hsio_convention found;
    struct hsio_exr *exr = NULL;
    const char *path = s->slots[0].path, *preset = "raw";
    const struct hsio_candidate *list;
    struct hsio_match match;
    int count, result;

    if (strcmp(s->convention.preset, "auto"))
        return 0;
    if (path && hsio_path_has_extension(path, ".exr")) {
        result = hsio_exr_open(path, &s->log, &exr);
        if (result)
            return result;
        list = hsio_exr_candidates(exr, &count);
        if (hsio_match_find("*.Combined.R|Combined.R|*.Vector.X,*.Vector.W", "", list, count,
                            &match))
            preset = "blender";
        else
            hint_preset(s, path, list, count);
        hsio_exr_close(&exr);
    }
    result = hsio_convention_preset(&found, preset, &s->log);
    if (result)
        return result;
    hsio_convention_overlay(&found, &s->convention);
    s->convention = found;
    hsio_log(&s->log, HS_LOG_INFO, "%s: preset %s", s->location, preset);
    return 0;
}

static const char *kind_of(const struct hsio_sequence *s)
{
    if (!s->slots[0].path)
        return "raw";
    return hsio_path_has_extension(s->slots[0].path, ".png") ? "png" : "exr";
}

/* Numbers that are off by one, or of another shot, would leave all frames without a camera. */
static void warn_of_strangers(const struct hsio_sequence *s)
{
    const struct hsio_description *d = s->description;

    if (!d || d->lists_files || !d->count || s->options.has_range)
        return;
    for (int i = 0; i < s->count; i++) {
        if (s->slots[i].entry)
            return;
    }
    hsio_log(&s->log, HS_LOG_WARN,
             "%s: tells of frames from %" PRId64 " on, and of none of %s, which are %" PRId64
             " to %" PRId64,
             d->path, d->entries[0].number, s->location, s->slots[0].number,
             s->slots[s->count - 1].number);
}

/* Size and planes of the first frame; several layers are told here, once. */
static int look_at_first(struct hsio_sequence *s)
{
    struct hsio_frame *frame = NULL;
    const int result = hsio_frame_open(s, 0, &frame);

    if (result)
        return result;
    s->width = hsio_frame_info(frame)->width;
    s->height = hsio_frame_info(frame)->height;
    for (int i = 0; i < HSIO_PLANE_COUNT; i++)
        s->present[i] = hsio_frame_info(frame)->planes[i].present;
    hsio_frame_close(&frame);
    return 0;
}

int hsio_sequence_open(const char *location, const struct hsio_convention *conv,
                       const struct hsio_options *options, const struct hs_log *log,
                       struct hsio_sequence **out)
{
    struct hsio_sequence *s = calloc(1, sizeof(*s));
    int result;

    if (!s)
        return hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", location);
    if (log)
        s->log = *log;
    s->location = hsio_text_format("%s", location);
    result = s->location ? keep_options(s, options) : hsio_sequence_no_memory(s);
    if (!result && conv)
        s->user = *conv;
    else if (!result)
        result = hsio_convention_preset(&s->user, "auto", log);
    s->convention = s->user;
    if (!result)
        result = open_location(s, location);
    if (!result)
        result = resolve_convention(s);
    if (result)
        goto error;
    if (!strcmp(s->convention.preset, "sintel"))
        hsio_sintel_find(s);
    s->options.sidecar = NULL;
    s->kind = kind_of(s);
    result = look_at_first(s);
    if (result)
        goto error;
    warn_of_strangers(s);
    *out = s;
    return 0;
error:
    hsio_sequence_close(&s);
    return result;
}

void hsio_sequence_close(struct hsio_sequence **seq)
{
    struct hsio_sequence *s = seq ? *seq : NULL;

    if (!s)
        return;
    for (int i = 0; i < s->count; i++)
        free(s->slots[i].path);
    free(s->slots);
    hsio_description_free(&s->description);
    free(s->location);
    free(s);
    *seq = NULL;
}

void hsio_sequence_info(const struct hsio_sequence *seq, struct hsio_sequence_info *out)
{
    *out = (struct hsio_sequence_info){
        .frame_count = seq->count,
        .missing_count = seq->missing,
        .first = seq->slots[0].number,
        .last = seq->slots[seq->count - 1].number,
        .output_width = seq->description ? seq->description->output_width : 0,
        .output_height = seq->description ? seq->description->output_height : 0,
        .kind = seq->kind,
        .location = seq->location,
        .width = seq->width,
        .height = seq->height,
    };
    memcpy(out->planes, seq->present, sizeof(out->planes));
}

const struct hsio_convention *hsio_sequence_convention(const struct hsio_sequence *seq)
{
    return &seq->convention;
}

int64_t hsio_sequence_number(const struct hsio_sequence *seq, int index)
{
    return index >= 0 && index < seq->count ? seq->slots[index].number : 0;
}
