// SPDX-License-Identifier: MIT
/** JSON descriptions: raw frames, or camera data beside pictures. docs/formats.md has the keys. */
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_NAME "hindsight-frames"
#define FORMAT_VERSION 1
/** In any unit; engines take one pixel, and a wrong unit or sign is for probe to find. */
#define MAX_JITTER 16
#define MAX_JSON_BYTES ((size_t)256 << 20)

static int set_convention_key(const struct hsio_json_place *p, struct hsio_convention *conv,
                              const char *key, const json_t *v)
{
    char text[HSIO_PATTERN_BYTES + 64], error[2048] = "";

    if (json_is_string(v))
        snprintf(text, sizeof(text), "%s", json_string_value(v));
    else if (json_is_integer(v))
        snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else if (json_is_real(v))
        hsio_text_from_float(text, sizeof(text), (float)json_real_value(v));
    else if (json_is_boolean(v))
        snprintf(text, sizeof(text), "%d", json_is_true(v));
    else
        return hsio_json_wrong(p, key, "a text, a number or true/false", v);
    if (hsio_convention_assign(conv, key, text, error, sizeof(error)))
        return hsio_fail(p->log, HS_ERR_FORMAT, "%s: key %sconvention.%s: %s", p->path, p->where,
                         key, error);
    return 0;
}

/* Keys may be dotted or nested. */
static int get_convention(const struct hsio_json_place *p, json_t *v, struct hsio_convention *conv)
{
    const char *key, *sub;
    json_t *value, *inner;
    char dotted[160];
    int result = 0;

    if (!json_is_object(v))
        return hsio_json_wrong(p, "convention", "an object", v);
    json_object_foreach(v, key, value)
    {
        if (!json_is_object(value)) {
            result = set_convention_key(p, conv, key, value);
        } else {
            json_object_foreach(value, sub, inner)
            {
                snprintf(dotted, sizeof(dotted), "%.70s.%.70s", key, sub);
                result = set_convention_key(p, conv, dotted, inner);
                if (result)
                    return result;
            }
        }
        if (result)
            return result;
    }
    return 0;
}

static int get_motion_scale(const struct hsio_json_place *p, const json_t *v,
                            struct hsio_convention *conv)
{
    static const char *const keys[] = {"motion.scale_x", "motion.scale_y"};
    float scale[2];
    int result = hsio_json_floats(p, "motion_scale", v, scale, 2, NULL);

    for (size_t i = 0; i < 2 && !result; i++)
        result = set_convention_key(p, conv, keys[i], json_array_get(v, i));
    return result;
}

static int get_plane(const struct hsio_json_place *p, const char *key, const json_t *v,
                     const char *folder, struct hsio_entry_plane *out)
{
    const json_t *file = json_is_object(v) ? json_object_get(v, "file") : v;
    const json_t *format = json_object_get(v, "format");
    int result = 0;

    if (!json_is_string(file) || !json_string_value(file)[0])
        return hsio_json_wrong(p, key, "a file name or {\"file\": name}", v);
    if (format && (!json_is_string(format) ||
                   (out->format = hsio_format_from_name(json_string_value(format))) < 1)) {
        out->format = 0;
        return hsio_json_wrong(p, key, "a format such as rgba16f, rg32f or r32f", format);
    }
    if (json_object_get(v, "width") || json_object_get(v, "height"))
        result = hsio_json_size(p, key, v, &out->width, &out->height);
    if (result)
        return result;
    free(out->path);
    out->path = hsio_path_join(folder, json_string_value(file));
    return out->path ? 0 : hsio_fail(p->log, HS_ERR_NOMEM, "%s: out of memory", p->path);
}

static struct hsio_convention *entry_convention(struct hsio_entry *e)
{
    if (!e->convention) {
        e->convention = calloc(1, sizeof(*e->convention));
        if (e->convention && hsio_convention_preset(e->convention, "raw", NULL)) {
            free(e->convention);
            e->convention = NULL;
        }
    }
    return e->convention;
}

static const char *const frame_keys[] = {
    "number",       "frame",     "render",       "width",          "height",
    "jitter",       "view",      "proj",         "near",           "far",
    "reset",        "exposure",  "sharpness",    "color",          "colour",
    "depth",        "motion",    "motion_next",  "diffuse_albedo", "specular_albedo",
    "normal",       "roughness", "hit_distance", "reactive",       "convention",
    "motion_scale", NULL};
static const char *const top_keys[] = {
    "format",     "version",  "output",    "render",       "width", "height", "pattern", "jitter",
    "convention", "exposure", "sharpness", "motion_scale", "near",  "far",    "frames",  NULL};

/* Other programs may add keys of their own; a slip of the pen shall not go unnoticed. */
static void warn_of_slips(const struct hsio_json_place *p, json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        const char *near = NULL;
        int best = 99;

        for (const char *const *k = known; *k; k++) {
            const int d = hsio_text_distance(key, *k);

            if (d < best && d <= (strlen(*k) < 8 ? 1 : 2)) {
                best = d;
                near = *k;
            }
        }
        if (near && best)
            hsio_log(p->log, HS_LOG_WARN, "%s: key %s%s is unknown; is %s meant?", p->path,
                     p->where, key, near);
    }
}

static int get_near(const struct hsio_json_place *p, const json_t *v, struct hsio_entry *e)
{
    const int result = hsio_json_float(p, "near", v, &e->near, &e->has_near);

    return !result && e->near < 0 ? hsio_json_wrong(p, "near", "a number, 0 or above", v) : result;
}

/* In a frame it may be the name of a plane, too. */
static int get_exposure(const struct hsio_json_place *p, const json_t *v, struct hsio_entry *e)
{
    int result = 0;

    if (json_is_number(v))
        result = hsio_json_float(p, "exposure", v, &e->exposure, &e->has_exposure);
    else if (p->where[0])
        return 0;
    return !result && !(e->exposure > 0) ? hsio_json_wrong(p, "exposure", "a number above 0", v)
                                         : result;
}

static int get_sharpness(const struct hsio_json_place *p, const json_t *v, struct hsio_entry *e)
{
    const int result = hsio_json_float(p, "sharpness", v, &e->sharpness, &e->has_sharpness);

    if (!result && !(e->sharpness >= 0 && e->sharpness <= 1))
        return hsio_json_wrong(p, "sharpness", "a number from 0 to 1", v);
    return result;
}

static int get_jitter(const struct hsio_json_place *p, const json_t *v, struct hsio_entry *e)
{
    const int result = hsio_json_floats(p, "jitter", v, e->jitter, 2, &e->has_jitter);

    if (!result && !(fabsf(e->jitter[0]) <= MAX_JITTER && fabsf(e->jitter[1]) <= MAX_JITTER))
        return hsio_json_wrong(p, "jitter", "offsets within a pixel", v);
    return result;
}

/* Keys that hold for all frames unless a frame has its own. */
static int get_common(const struct hsio_json_place *p, json_t *object, struct hsio_entry *e)
{
    json_t *v;
    int result = 0;

    if (!result && (v = json_object_get(object, "near")))
        result = get_near(p, v, e);
    if (!result && (v = json_object_get(object, "far")))
        result = hsio_json_far(p, "far", v, &e->far, &e->has_far);
    if (!result && (v = json_object_get(object, "exposure")))
        result = get_exposure(p, v, e);
    if (!result && (v = json_object_get(object, "sharpness")))
        result = get_sharpness(p, v, e);
    if (!result && json_object_get(object, "width") && json_object_get(object, "height"))
        result = hsio_json_size(p, "width", object, &e->width, &e->height);
    if (!result && (v = json_object_get(object, "render")))
        result = hsio_json_size(p, "render", v, &e->width, &e->height);
    return result;
}

static int get_number(const struct hsio_json_place *p, json_t *object, struct hsio_entry *e)
{
    const char *key = json_object_get(object, "number") ? "number" : "frame";
    json_t *v = json_object_get(object, key);

    if (!v)
        return 0;
    if (!json_is_integer(v))
        return hsio_json_wrong(p, key, "a whole number", v);
    e->number = json_integer_value(v);
    return 0;
}

static int get_planes(const struct hsio_json_place *p, json_t *object, const char *folder,
                      struct hsio_entry *e, bool *lists)
{
    json_t *v;
    int result = 0;

    for (int i = 0; i < HSIO_PLANE_COUNT && !result; i++) {
        const char *key = hsio_plane_name((enum hsio_plane)i);

        v = json_object_get(object, key);
        if (!v && i == HSIO_PLANE_COLOR)
            v = json_object_get(object, key = "colour");
        if (!v || (i == HSIO_PLANE_EXPOSURE && json_is_number(v)))
            continue;
        result = get_plane(p, key, v, folder, &e->planes[i]);
        *lists |= i != HSIO_PLANE_EXPOSURE;
    }
    return result;
}

static int get_frame(const struct hsio_json_place *p, json_t *object, const char *folder,
                     struct hsio_entry *e, bool *lists)
{
    json_t *v;
    int result = get_number(p, object, e);

    if (!result)
        result = get_common(p, object, e);
    if (!result && (v = json_object_get(object, "jitter")))
        result = get_jitter(p, v, e);
    if (!result && (v = json_object_get(object, "view")))
        result = hsio_json_matrix(p, "view", v, e->view, &e->has_view);
    if (!result && (v = json_object_get(object, "proj")))
        result = hsio_json_matrix(p, "proj", v, e->proj, &e->has_proj);
    if (!result && (v = json_object_get(object, "reset"))) {
        if (!json_is_boolean(v))
            result = hsio_json_wrong(p, "reset", "true or false", v);
        e->reset = json_is_true(v);
    }
    if (!result && json_object_get(object, "convention") && !entry_convention(e))
        result = HS_ERR_NOMEM;
    if (!result && (v = json_object_get(object, "convention")))
        result = get_convention(p, v, e->convention);
    if (!result && (v = json_object_get(object, "motion_scale")))
        result = entry_convention(e) ? get_motion_scale(p, v, e->convention) : HS_ERR_NOMEM;
    return result ? result : get_planes(p, object, folder, e, lists);
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = ((const struct hsio_entry *)a)->number;
    const int64_t y = ((const struct hsio_entry *)b)->number;

    return (x > y) - (x < y);
}

struct place {
    int64_t number;
    int index;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->number == y->number ? (x->index > y->index) - (x->index < y->index)
                                  : (x->number > y->number) - (x->number < y->number);
}

static int check_numbers(const struct hsio_json_place *p, const struct hsio_description *d)
{
    struct place *places = calloc((size_t)d->count + 1, sizeof(*places));
    int result = 0;

    if (!places)
        return hsio_fail(p->log, HS_ERR_NOMEM, "%s: out of memory", p->path);
    for (int i = 0; i < d->count; i++)
        places[i] = (struct place){d->entries[i].number, i};
    qsort(places, (size_t)d->count, sizeof(*places), by_place);
    for (int i = 1; i < d->count && !result; i++) {
        if (places[i].number == places[i - 1].number)
            result = hsio_fail(p->log, HS_ERR_FORMAT,
                               "%s: key frames[%d].frame: frame %" PRId64
                               " is listed twice, first as frames[%d]",
                               p->path, places[i].index, places[i].number, places[i - 1].index);
    }
    free(places);
    return result;
}

static int get_frames(struct hsio_json_place *p, json_t *root, const char *folder,
                      struct hsio_description *d, const struct hsio_entry *common)
{
    json_t *frames = json_object_get(root, "frames");
    const size_t count = json_array_size(frames);
    int result = 0;

    if (!json_is_array(frames))
        return hsio_fail(p->log, HS_ERR_FORMAT, "%s: key frames: expected a list of frames, %s%s",
                         p->path, frames ? "found " : "",
                         frames ? hsio_json_type_name(frames) : "there is none");
    if (count > HSIO_MAX_FRAMES)
        return hsio_fail(p->log, HS_ERR_FORMAT, "%s: key frames: more than %d frames", p->path,
                         HSIO_MAX_FRAMES);
    d->entries = calloc(count + 1, sizeof(*d->entries));
    if (!d->entries)
        return hsio_fail(p->log, HS_ERR_NOMEM, "%s: out of memory", p->path);
    for (size_t i = 0; i < count && !result; i++) {
        json_t *frame = json_array_get(frames, i);

        snprintf(p->where, sizeof(p->where), "frames[%zu].", i);
        if (!json_is_object(frame))
            return hsio_json_wrong(p, "", "an object", frame);
        d->entries[i] = *common;
        d->entries[i].number = (int64_t)i;
        d->count = (int)i + 1;
        result = get_frame(p, frame, folder, &d->entries[i], &d->lists_files);
        if (i < 1)
            warn_of_slips(p, frame, frame_keys);
    }
    for (int i = 0; i < d->count && !result && !d->lists_files; i++) {
        snprintf(p->where, sizeof(p->where), "frames[%d].", i);
        if (d->entries[i].planes[HSIO_PLANE_EXPOSURE].path)
            result =
                hsio_json_wrong(p, "exposure", "a number above 0, as no planes are listed",
                                json_object_get(json_array_get(frames, (size_t)i), "exposure"));
    }
    p->where[0] = 0;
    if (!result)
        result = check_numbers(p, d);
    if (!result && !d->lists_files)
        qsort(d->entries, (size_t)d->count, sizeof(*d->entries), by_number);
    return result;
}

static int check_format(const struct hsio_json_place *p, json_t *root)
{
    const json_t *format = json_object_get(root, "format");
    const json_t *version = json_object_get(root, "version");

    if (!json_is_object(root))
        return hsio_json_wrong(p, "(root)", "an object", root);
    if (format && (!json_is_string(format) || strcmp(json_string_value(format), FORMAT_NAME)))
        return hsio_json_wrong(p, "format", "\"" FORMAT_NAME "\"", format);
    if (version && (!json_is_integer(version) || json_integer_value(version) < 1))
        return hsio_json_wrong(p, "version", "1", version);
    if (version && json_integer_value(version) > FORMAT_VERSION)
        return hsio_fail(p->log, HS_ERR_VERSION,
                         "%s: is of version %" JSON_INTEGER_FORMAT ", this program knows %d",
                         p->path, json_integer_value(version), FORMAT_VERSION);
    return 0;
}

static int get_top(const struct hsio_json_place *p, json_t *root, const char *folder,
                   struct hsio_description *d, const struct hsio_convention *conv)
{
    const struct hsio_convention user = *conv;
    json_t *v;
    int result = 0;

    d->convention = *conv;
    if ((v = json_object_get(root, "output")))
        result = hsio_json_size(p, "output", v, &d->output_width, &d->output_height);
    if (!result && (v = json_object_get(root, "convention"))) {
        const json_t *preset = json_object_get(v, "preset");

        // A preset that the caller chose stays.
        if (preset && strcmp(user.preset, "auto"))
            json_object_del(v, "preset");
        else if (preset)
            result = set_convention_key(p, &d->convention, "preset", preset);
        if (preset)
            json_object_del(v, "preset");
        if (!result)
            result = get_convention(p, v, &d->convention);
    }
    if (!result && (v = json_object_get(root, "motion_scale")))
        result = get_motion_scale(p, v, &d->convention);
    hsio_convention_overlay(&d->convention, &user);
    v = json_object_get(root, "jitter");
    d->no_jitter = json_is_string(v) && !strcmp(json_string_value(v), "none");
    if (!result && (v = json_object_get(root, "pattern"))) {
        if (!json_is_string(v))
            return hsio_json_wrong(p, "pattern", "a file name with a place for a number", v);
        d->pattern = hsio_path_join(folder, json_string_value(v));
        result = d->pattern ? 0 : HS_ERR_NOMEM;
    }
    warn_of_slips(p, root, top_keys);
    return result;
}

static char *load_text(const char *path, size_t *size, const struct hs_log *log, int *result)
{
    FILE *file = fopen(path, "rbe");
    char *text = NULL;
    long end = -1;

    *result = HS_ERR_IO;
    if (!file || fseek(file, 0, SEEK_END) || (end = ftell(file)) < 0 || fseek(file, 0, SEEK_SET)) {
        hsio_fail(log, HS_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    } else if ((size_t)end > MAX_JSON_BYTES) {
        *result = hsio_fail(log, HS_ERR_FORMAT, "%s: more than %zu bytes", path, MAX_JSON_BYTES);
    } else if (!(text = malloc((size_t)end + 1))) {
        *result = hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", path);
    } else if (fread(text, 1, (size_t)end, file) != (size_t)end) {
        hsio_fail(log, HS_ERR_IO, "%s: reading failed", path);
        free(text);
        text = NULL;
    } else {
        *size = (size_t)end;
        *result = 0;
    }
    if (file)
        fclose(file);
    return text;
}

int hsio_description_load(const char *path, const struct hsio_convention *conv,
                          const struct hs_log *log, struct hsio_description **out)
{
    struct hsio_json_place place = {.log = log, .path = path};
    struct hsio_description *d = NULL;
    struct hsio_entry common = {0};
    json_error_t error;
    json_t *root = NULL;
    char *folder = NULL;
    size_t size = 0;
    int result;
    char *text = load_text(path, &size, log, &result);

    if (result)
        goto error;
    // Some editors and engines on Windows put a byte order mark ahead.
    const size_t mark = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    root = json_loadb(text + mark, size - mark, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        result = hsio_fail(log, HS_ERR_FORMAT, "%s:%d:%d: not valid JSON (byte %d): %s", path,
                           error.line, error.column, error.position, error.text);
        goto error;
    }
    if (hsio_nss_is(root)) {
        json_t *made = NULL;

        result = hsio_nss_translate(&place, root, &made);
        if (result)
            goto error;
        json_decref(root);
        root = made;
    }
    d = calloc(1, sizeof(*d));
    folder = hsio_path_folder(path);
    if (d)
        d->path = hsio_text_format("%s", path);
    result = d && folder && d->path ? check_format(&place, root) : HS_ERR_NOMEM;
    if (!result)
        result = get_top(&place, root, folder, d, conv);
    if (!result)
        result = get_common(&place, root, &common);
    if (!result)
        result = get_frames(&place, root, folder, d, &common);
    if (result)
        goto error;
    *out = d;
    d = NULL;
error:
    hsio_description_free(&d);
    json_decref(root);
    free(folder);
    free(text);
    return result;
}

void hsio_description_free(struct hsio_description **desc)
{
    struct hsio_description *d = *desc;

    if (!d)
        return;
    for (int i = 0; i < d->count; i++) {
        for (int k = 0; k < HSIO_PLANE_COUNT; k++)
            free(d->entries[i].planes[k].path);
        free(d->entries[i].convention);
    }
    free(d->entries);
    free(d->pattern);
    free(d->path);
    free(d);
    *desc = NULL;
}

const struct hsio_entry *hsio_description_find(const struct hsio_description *desc, int64_t number)
{
    const struct hsio_entry key = {.number = number};

    if (!desc || desc->lists_files || !desc->count)
        return NULL;
    return bsearch(&key, desc->entries, (size_t)desc->count, sizeof(key), by_number);
}
