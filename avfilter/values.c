// SPDX-License-Identifier: MIT
// What belongs to a frame and is no pixel: from the frame's metadata, or from a text file.
#include "internal.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/dict.h>
#include <libavutil/mem.h>

#define PREFIX "hindsight."
#define MAX_NUMBERS 16

enum {
    TIME,
    NUMBER,
    RESET,
    HELD,
    JITTER,
    EXPOSURE,
    SHARPNESS,
    CLIP,
    VIEW,
    PROJ,
    KEY_COUNT
};
static const struct {
    const char *name;
    int count;
    const char *expected;
} keys[KEY_COUNT] = {
    [TIME] = {"time", 1, "a number of seconds"},
    [NUMBER] = {"number", 1, "a whole number"},
    [RESET] = {"reset", 1, "a number, 0 or not"},
    [HELD] = {"held", 1, "a number, 0 or not"},
    [JITTER] = {"jitter", 2, "2 numbers from -1 to 1"},
    [EXPOSURE] = {"exposure", 1, "a finite number above 0"},
    [SHARPNESS] = {"sharpness", 1, "a number from 0 to 1"},
    [CLIP] = {"clip", 2, "2 numbers, the near distance above 0 and the far one beyond it or inf"},
    [VIEW] = {"view", 16, "16 finite numbers, the rows of a matrix that can be inverted"},
    [PROJ] = {"proj", 16, "16 finite numbers, the rows of a matrix that can be inverted"},
};

/** Whether the upper left 3x3 part can be inverted. */
static bool invertible(const double *m)
{
    const double det = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
                       m[2] * (m[4] * m[9] - m[5] * m[8]);

    return isfinite(det) && det != 0;
}

/** What the numbers become is float: they are held against the limits as such. */
static bool valid(int key, const double *n)
{
    for (int i = 0; i < keys[key].count; i++) {
        if (!isfinite((float)n[i]) && !(key == CLIP && i == 1 && n[i] > 0))
            return false;
    }
    switch (key) {
    case NUMBER:
        // Doubles hold no larger whole numbers one by one.
        return n[0] == trunc(n[0]) && fabs(n[0]) <= 0x1p53;
    case JITTER:
        return fabs(n[0]) <= 1 && fabs(n[1]) <= 1;
    case EXPOSURE:
        return (float)n[0] > 0;
    case SHARPNESS:
        return n[0] >= 0 && n[0] <= 1;
    case CLIP:
        return (float)n[0] > 0 && (float)n[1] > (float)n[0];
    case VIEW:
        return invertible(n);
    case PROJ:
        return (float)n[0] != 0 && (float)n[5] != 0;
    default:
        return true;
    }
}

static void store(struct hs_av_values *values, int key, const double *n)
{
    struct hsio_frame_info *info = &values->info;

    switch (key) {
    case TIME:
        values->time = n[0];
        break;
    case NUMBER:
        info->number = (int64_t)n[0];
        break;
    case RESET:
        info->reset = n[0] != 0;
        break;
    case HELD:
        info->held = n[0] != 0;
        break;
    case JITTER:
        info->has_jitter = true;
        info->jitter_px[0] = (float)n[0];
        info->jitter_px[1] = (float)n[1];
        break;
    case EXPOSURE:
        info->has_exposure = true;
        info->exposure = (float)n[0];
        break;
    case SHARPNESS:
        info->sharpness = (float)n[0];
        break;
    case CLIP:
        info->has_clip = true;
        info->near = (float)n[0];
        info->far = (float)n[1];
        break;
    default:
        for (int i = 0; i < 16; i++)
            (key == VIEW ? info->view : info->proj)[i] = (float)n[i];
        if (key == VIEW)
            info->has_view = true;
        else
            info->has_proj = true;
        break;
    }
}

/** Errors: EINVAL, after a message that begins with `where`. */
static int set(struct hs_avfilter *f, const char *where, const char *name, const char *text,
               struct hs_av_values *values)
{
    double numbers[MAX_NUMBERS];
    int key = 0, count;

    while (key < KEY_COUNT && strcmp(keys[key].name, name))
        key++;
    if (key == KEY_COUNT) {
        av_log(f, AV_LOG_ERROR, "%s%s: there is no such value; found \"%.80s\"\n", where, name,
               text);
        return AVERROR(EINVAL);
    }
    count = hsio_numbers_parse(text, numbers, MAX_NUMBERS);
    if (count == HS_ERR_NOMEM)
        return AVERROR(ENOMEM);
    if (count != keys[key].count || !valid(key, numbers)) {
        av_log(f, AV_LOG_ERROR, "%s%s: expected %s, found \"%.200s\"\n", where, name,
               keys[key].expected, text);
        return AVERROR(EINVAL);
    }
    store(values, key, numbers);
    return 0;
}

static int read_line(struct hs_avfilter *f, const char *where, const char *line,
                     struct hs_av_values *values)
{
    const AVDictionaryEntry *entry = NULL;
    AVDictionary *dict = NULL;
    int err = av_dict_parse_string(&dict, line, "=", ";", 0);

    if (err < 0)
        av_log(f, AV_LOG_ERROR, "%snot of the form key=value;key=value\n", where);
    values->time = NAN;
    while (err >= 0 && (entry = av_dict_iterate(dict, entry)))
        err = set(f, where, entry->key, entry->value, values);
    if (err >= 0 && !isfinite(values->time)) {
        av_log(f, AV_LOG_ERROR, "%sthe time is missing\n", where);
        err = AVERROR(EINVAL);
    }
    av_dict_free(&dict);
    return err;
}

int hs_av_values_load(struct hs_avfilter *f)
{
    char *line = NULL, where[512];
    size_t room = 0;
    FILE *file;
    int err = 0;

    if (!f->frames || !*f->frames)
        return 0;
    file = fopen(f->frames, "r");
    if (!file) {
        err = AVERROR(errno);
        av_log(f, AV_LOG_ERROR, "%s: %s\n", f->frames, av_err2str(err));
        return err;
    }
    for (int number = 1; err >= 0 && getline(&line, &room, file) >= 0; number++) {
        struct hs_av_values values = {0}, *grown;

        line[strcspn(line, "\r\n")] = 0;
        if (!*line || *line == '#')
            continue;
        snprintf(where, sizeof(where), "%s, line %d: ", f->frames, number);
        err = read_line(f, where, line, &values);
        if (err < 0)
            break;
        grown = av_realloc_array(f->values, (size_t)f->value_count + 1, sizeof(*grown));
        if (!grown) {
            err = AVERROR(ENOMEM);
            break;
        }
        f->values = grown;
        f->values[f->value_count++] = values;
    }
    if (err >= 0 && ferror(file)) {
        av_log(f, AV_LOG_ERROR, "%s: reading failed\n", f->frames);
        err = AVERROR(EIO);
    }
    if (err >= 0 && !f->value_count) {
        av_log(f, AV_LOG_ERROR, "%s has no line for any frame\n", f->frames);
        err = AVERROR(EINVAL);
    }
    free(line);
    fclose(file);
    return err;
}

/** The line of the file that is nearest in time, within half a frame. */
static int find(struct hs_avfilter *f, const AVFrame *colour, struct hs_av_values *values)
{
    const double time = (double)colour->pts * av_q2d(f->in.time_base);
    const double near = fmax(hs_av_half_frame(f, colour) * av_q2d(f->in.time_base), 1e-3);
    int best = -1;

    for (int i = 0; i < f->value_count; i++) {
        const double distance = fabs(f->values[i].time - time);

        if (distance <= near && (best < 0 || distance < fabs(f->values[best].time - time)))
            best = i;
    }
    if (best < 0) {
        av_log(f, AV_LOG_ERROR, "%s has no line for the frame at %.6f s\n", f->frames, time);
        return AVERROR(EINVAL);
    }
    *values = f->values[best];
    return 0;
}

/** Errors: EINVAL, after a message. */
static int set_metadata(struct hs_avfilter *f, const AVDictionary *metadata,
                        struct hs_av_values *values)
{
    static const char form[] = "frame %lld: metadata of colour: " PREFIX;
    const AVDictionaryEntry *entry = av_dict_get(metadata, PREFIX "number", NULL, 0);
    char where[96];
    int err = 0;

    // The number comes first: messages about the others name the frame by it.
    snprintf(where, sizeof(where), form, (long long)values->info.number);
    if (entry)
        err = set(f, where, keys[NUMBER].name, entry->value, values);
    snprintf(where, sizeof(where), form, (long long)values->info.number);
    entry = NULL;
    while (!err && (entry = av_dict_get(metadata, PREFIX, entry, AV_DICT_IGNORE_SUFFIX))) {
        const char *name = entry->key + strlen(PREFIX);

        if (!strcmp(name, keys[TIME].name)) {
            av_log(f, AV_LOG_ERROR, "%s%s: a time is for lines of the file only, found \"%.80s\"\n",
                   where, name, entry->value);
            err = AVERROR(EINVAL);
        } else {
            err = set(f, where, name, entry->value, values);
        }
    }
    return err;
}

int hs_av_values_get(struct hs_avfilter *f, const AVFrame *colour, struct hsio_frame_info *info)
{
    struct hs_av_values values = {.info.number = f->frame_count};
    int err = 0;

    if (f->value_count) {
        if (colour->pts == AV_NOPTS_VALUE || f->in.time_base.num <= 0 || f->in.time_base.den <= 0) {
            av_log(f, AV_LOG_ERROR, "frames without timestamps find no line in %s\n", f->frames);
            return AVERROR(EINVAL);
        }
        err = find(f, colour, &values);
    }
    if (!err)
        err = set_metadata(f, colour->metadata, &values);
    if (!err)
        *info = values.info;
    return err;
}
