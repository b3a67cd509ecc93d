// SPDX-License-Identifier: MIT
// The option table: names and ranges as those of the GStreamer element.
#include "internal.h"

#include <limits.h>
#include <stddef.h>

#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>

#define OFFSET(member) offsetof(struct hs_avfilter, member)
#define FIXED (AV_OPT_FLAG_VIDEO_PARAM | AV_OPT_FLAG_FILTERING_PARAM)
#define LIVE (FIXED | AV_OPT_FLAG_RUNTIME_PARAM)
#define TOLD (FIXED | AV_OPT_FLAG_EXPORT | AV_OPT_FLAG_READONLY)

#define INTEGER(type, name, member, value, low, high, flags, names, help) \
    {name, help, OFFSET(member), AV_OPT_TYPE_##type, {.i64 = value}, low, high, flags, names}
#define REAL(type, name, member, value, low, high, flags, help) \
    {name, help, OFFSET(member), AV_OPT_TYPE_##type, {.dbl = value}, low, high, flags, NULL}
#define TEXT(name, member, value, flags, help) \
    {name, help, OFFSET(member), AV_OPT_TYPE_STRING, {.str = value}, 0, 0, flags, NULL}
#define VALUE(name, value, flags, names, help) \
    {name, help, 0, AV_OPT_TYPE_CONST, {.i64 = value}, 0, 0, flags, names}

static const AVOption options[] = {
    TEXT("model", model, "auto", FIXED,
         "preset to run (taau, fast, quality, best, atrous, ray), oidn, model file, or auto"),
    INTEGER(INT, "path", path, HS_PATH_AUTO, HS_PATH_AUTO, HS_PATH_MATRIX, FIXED, "path",
            "arithmetic of the model"),
    VALUE("auto", HS_PATH_AUTO, FIXED, "path", "the fastest that the device can run"),
    VALUE("plain", HS_PATH_PLAIN, FIXED, "path", "plain shader arithmetic; runs everywhere"),
    VALUE("matrix", HS_PATH_MATRIX, FIXED, "path", "cooperative matrices"),
    REAL(DOUBLE, "scale", scale, 2, 1, 3, FIXED, "output size over render size"),
    INTEGER(INT, "output_width", output_width, 0, 0, 16384, FIXED, NULL,
            "output width in pixels; 0: by output_height, or scale"),
    INTEGER(INT, "w", output_width, 0, 0, 16384, FIXED, NULL, "same as output_width"),
    INTEGER(INT, "output_height", output_height, 0, 0, 16384, FIXED, NULL,
            "output height in pixels; 0: by output_width, or scale"),
    INTEGER(INT, "h", output_height, 0, 0, 16384, FIXED, NULL, "same as output_height"),
    INTEGER(PIXEL_FMT, "format", format, AV_PIX_FMT_NONE, AV_PIX_FMT_NONE, INT_MAX, FIXED, NULL,
            "pixels of the output; none: as colour"),
    TEXT("convention", convention, "raw", FIXED, "what the numbers in depth and motion mean"),
    TEXT("convention_changes", convention_changes, "", FIXED,
         "keys of the convention to change: key=value,key=value"),
    TEXT("frames", frames, "", FIXED, "file with the values of each frame"),
    INTEGER(BOOL, "auto_exposure", auto_exposure, 0, 0, 1, LIVE, NULL, "measure the exposure"),
    REAL(FLOAT, "exposure", exposure, 0, 0, 1e8, LIVE,
         "factor to normal brightness; 0: the frame's own, else measured"),
    REAL(FLOAT, "sharpness", sharpness, -1, -1, 1, LIVE,
         "sharpening, 0 (off) to 1; -1: the frame's own, else 0"),
    REAL(FLOAT, "firefly_clamp", firefly_clamp, 0, 0, 65504, LIVE,
         "greatest luminance of input pixels, after exposure; 0: none"),
    TEXT("look", look, "none", LIVE,
         "from linear light to a display's values: none, or aces and a grade behind it, such as "
         "aces,contrast=0.1,vignette=0.3"),
    INTEGER(BOOL, "reset", reset, 0, 0, 1, LIVE, NULL,
            "make the next frame a cut; returns to false by itself"),
    INTEGER(INT, "missing_planes", missing_planes, 0, 0, 1, LIVE, "missing",
            "what to do with a frame that lacks a plane"),
    VALUE("ignore", 0, LIVE, "missing", "make it without the plane"),
    VALUE("error", 1, LIVE, "missing", "end with an error"),
    INTEGER(INT64, "frame_count", frame_count, 0, 0, (double)INT64_MAX, TOLD, NULL,
            "frames so far"),
    INTEGER(BOOL, "matrix_path", matrix, 0, 0, 1, TOLD, NULL,
            "the model runs on cooperative matrices"),
    {.name = NULL},
};

static const AVClass class = {
    .class_name = "hindsight",
    .item_name = av_default_item_name,
    .option = options,
    .version = LIBAVUTIL_VERSION_INT,
    .category = AV_CLASS_CATEGORY_FILTER,
};

const AVClass *hs_avfilter_get_class(void)
{
    return &class;
}

int hs_av_convention_make(struct hs_avfilter *f)
{
    int err = hsio_convention_preset(&f->conv, f->convention ? f->convention : "raw", &f->log);
    char *changes, *state = NULL, *change;

    if (err < 0)
        return hs_av_error(err);
    changes = av_strdup(f->convention_changes ? f->convention_changes : "");
    if (!changes)
        return AVERROR(ENOMEM);
    for (change = av_strtok(changes, ",", &state); change && !err;
         change = av_strtok(NULL, ",", &state))
        err = hsio_convention_set_text(&f->conv, change, &f->log);
    av_free(changes);
    return hs_av_error(err);
}
