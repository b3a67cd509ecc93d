// SPDX-License-Identifier: MIT
// What belongs to a frame and is no pixel: from the frame's metadata, or from a text file.
#include "internal.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/dict.h>
#include <libavutil/eval.h>
#include <libavutil/mem.h>

#define PREFIX "hindsight."
#define MAX_NUMBERS 16

/** Reads `count` numbers and nothing else. */
static bool read_numbers(const char *text, int count, double *numbers)
{
    char *end;

    for (int i = 0; i < count; i++, text = end) {
        numbers[i] = av_strtod(text, &end);
        if (end == text)
            return false;
    }
    return !text[strspn(text, " ")];
}

static const struct {
    const char *name;
    int count;
} keys[] = {{"time", 1},     {"number", 1},    {"reset", 1}, {"held", 1},  {"jitter", 2},
            {"exposure", 1}, {"sharpness", 1}, {"clip", 2},  {"view", 16}, {"proj", 16}};
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

    for (int key = 0; key < KEY_COUNT; key++) {
        if (strcmp(keys[key].name, name))
            continue;
        if (read_numbers(text, keys[key].count, numbers)) {
            // The bounds of int64_t as doubles; a NaN is within none.
            if (key == NUMBER && !(numbers[0] >= -0x1p63 && numbers[0] < 0x1p63)) {
                av_log(f, AV_LOG_ERROR, "%s: \"%s\" can not be the number of a frame\n", where,
                       text);
                return AVERROR(EINVAL);
            }
            store(values, key, numbers);
            return 0;
        }
        av_log(f, AV_LOG_ERROR, "%s: %s takes %d number%s, not \"%s\"\n", where, name,
               keys[key].count, keys[key].count > 1 ? "s" : "", text);
        return AVERROR(EINVAL);
    }
    av_log(f, AV_LOG_ERROR, "%s: there is no value \"%s\"\n", where, name);
    return AVERROR(EINVAL);
}

static int read_line(struct hs_avfilter *f, const char *where, const char *line,
                     struct hs_av_values *values)
{
    const AVDictionaryEntry *entry = NULL;
    AVDictionary *dict = NULL;
    int err = av_dict_parse_string(&dict, line, "=", ";", 0);

    if (err < 0)
        av_log(f, AV_LOG_ERROR, "%s: not of the form key=value;key=value\n", where);
    values->time = NAN;
    while (err >= 0 && (entry = av_dict_iterate(dict, entry)))
        err = set(f, where, entry->key, entry->value, values);
    if (err >= 0 && !isfinite(values->time)) {
        av_log(f, AV_LOG_ERROR, "%s: the time is missing\n", where);
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
        snprintf(where, sizeof(where), "%s, line %d", f->frames, number);
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
    free(line);
    fclose(file);
    return err;
}

/** The line of the file that is nearest in time, within half a frame. */
static int find(struct hs_avfilter *f, int64_t pts, struct hs_av_values *values)
{
    const double time = (double)pts * av_q2d(f->in.time_base);
    const double near = fmax(hs_av_half_frame(f) * av_q2d(f->in.time_base), 1e-3);
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

int hs_av_values_get(struct hs_avfilter *f, const AVFrame *colour, struct hsio_frame_info *info)
{
    struct hs_av_values values = {.info.number = f->frame_count};
    const AVDictionaryEntry *entry = NULL;
    int err = 0;

    if (f->value_count) {
        if (colour->pts == AV_NOPTS_VALUE || f->in.time_base.num <= 0 || f->in.time_base.den <= 0) {
            av_log(f, AV_LOG_ERROR, "frames without timestamps find no line in %s\n", f->frames);
            return AVERROR(EINVAL);
        }
        err = find(f, colour->pts, &values);
    }
    while (!err && (entry = av_dict_get(colour->metadata, PREFIX, entry, AV_DICT_IGNORE_SUFFIX)))
        err = set(f, "metadata of colour", entry->key + strlen(PREFIX), entry->value, &values);
    if (!err)
        *info = values.info;
    return err;
}
