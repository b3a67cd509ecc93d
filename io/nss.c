// SPDX-License-Identifier: MIT
/** Data sets of Arm's NSS: a JSON a sequence, planes in folders beside it. docs/formats.md. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define KEY_BYTES 64

/* What holds for all frames. */
struct layout {
    const struct hsio_json_place *place;
    char ratio[KEY_BYTES]; ///< Folder of the ratio: "x2", "x1_5".
    json_int_t index;      ///< Of its jitter.
    const char *name;      ///< Of the sequence: the JSON's name without folder and extension.
    int name_length;
    double near, far; ///< Of files that have them once; NAN: not told.
};

bool hsio_nss_is(const json_t *root)
{
    return json_is_object(root) && !json_object_get(root, "frames") &&
           json_is_array(json_object_get(root, "Frames")) &&
           json_is_object(json_object_get(root, "TargetResolution"));
}

static bool has_folder(const struct layout *l, const char *ratio)
{
    char *folder = hsio_path_folder(l->place->path);
    char *path =
        folder ? hsio_text_format("%s%s/color/%.*s", folder, ratio, l->name_length, l->name) : NULL;
    struct stat st;
    const bool there = path && !stat(path, &st) && S_ISDIR(st.st_mode);

    free(folder);
    free(path);
    return there;
}

/* The first ratio that has pictures, by its key: "x2_index": 0. */
static int find_ratio(struct layout *l, json_t *root)
{
    json_t *indices = json_object_get(root, "UpscalingRatiosIndices"), *value;
    const char *key;

    json_object_foreach(indices, key, value)
    {
        const size_t length = strlen(key);

        if (length <= 6 || length - 6 >= KEY_BYTES || strcmp(key + length - 6, "_index") != 0 ||
            !json_is_integer(value) || strchr(key, '/'))
            return hsio_json_wrong(l->place, "UpscalingRatiosIndices",
                                   "numbers with keys like x2_index", indices);
        snprintf(l->ratio, sizeof(l->ratio), "%.*s", (int)(length - 6), key);
        l->index = json_integer_value(value);
        if (has_folder(l, l->ratio))
            return 0;
    }
    if (!indices && has_folder(l, "x2")) {
        snprintf(l->ratio, sizeof(l->ratio), "x2");
        return 0;
    }
    return hsio_fail(l->place->log, HS_ERR_IO,
                     "%s: expected the pictures in %s/color/%.*s beside it, found no such folder",
                     l->place->path, l->ratio[0] ? l->ratio : "x2", l->name_length, l->name);
}

static int get_number(const struct hsio_json_place *p, json_t *frame, const char *key, double *out)
{
    const json_t *v = json_object_get(frame, key);

    if (!v)
        return 0;
    if (!json_is_number(v) || !isfinite(json_number_value(v)))
        return hsio_json_wrong(p, key, "a number", v);
    *out = json_number_value(v);
    return 0;
}

/* {"X": x, "Y": y} */
static int get_pair(const struct hsio_json_place *p, const char *key, const json_t *v,
                    double out[2])
{
    const json_t *x = json_object_get(v, "X"), *y = json_object_get(v, "Y");

    if (!json_is_number(x) || !json_is_number(y))
        return hsio_json_wrong(p, key, "{\"X\": x, \"Y\": y}", v);
    out[0] = json_number_value(x);
    out[1] = json_number_value(y);
    return 0;
}

/* As a part of the picture's size, whatever that is. */
static int take_jitter(const struct layout *l, json_t *frame, json_t *out)
{
    static const char *const keys[] = {"NormalizedPerRatioJitter", "QuantisedPerRatioJitter"};
    double jitter[2] = {0};

    for (int i = 0; i < 2; i++) {
        json_t *list = json_object_get(frame, keys[i]);
        int result;

        if (!list)
            continue;
        if (!json_is_array(list) || l->index < 0 || l->index >= (json_int_t)json_array_size(list))
            return hsio_json_wrong(l->place, keys[i], "a list with an entry for each ratio", list);
        result = get_pair(l->place, keys[i], json_array_get(list, (size_t)l->index), jitter);
        return result
                   ? result
                   : json_object_set_new(out, "jitter", json_pack("[f,f]", jitter[0], jitter[1]));
    }
    return 0;
}

static int take_clip(const struct layout *l, json_t *frame, json_t *out)
{
    double near = l->near, far = l->far;
    int result = get_number(l->place, frame, "CameraNearPlane", &near);

    if (!result)
        result = get_number(l->place, frame, "CameraFarPlane", &far);
    if (!result && !isnan(near))
        result = json_object_set_new(out, "near", json_real(near));
    if (!result && !isnan(far))
        result = json_object_set_new(out, "far", json_real(far));
    return result;
}

/*
 * View and projection apart. The matrix is stored column by column for row vectors, so its rows are
 * those for column vectors: x and y over the picture's half angles, and w, the distance along +z.
 */
static int take_camera(const struct layout *l, json_t *frame, json_t *out)
{
    const json_t *list = json_object_get(frame, "ViewProjection");
    double fov[2] = {0, 0}, row[3][4];
    json_t *view, *proj;
    int result = get_number(l->place, frame, "FovX", &fov[0]);

    if (!result)
        result = get_number(l->place, frame, "FovY", &fov[1]);
    if (result || !list || !(fov[0] > 0 && fov[0] < 3.1) || !(fov[1] > 0 && fov[1] < 3.1))
        return result;
    if (json_array_size(list) != 16)
        return hsio_json_wrong(l->place, "ViewProjection", "sixteen numbers", list);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 4; c++) {
            const json_t *v = json_array_get(list, (size_t)((r < 2 ? r : 3) * 4 + c));

            if (!json_is_number(v))
                return hsio_json_wrong(l->place, "ViewProjection", "sixteen numbers", list);
            row[r][c] = json_number_value(v) * (r < 2 ? tan(0.5 * fov[r]) : -1);
        }
    }
    view = json_pack("[[f,f,f,f],[f,f,f,f],[f,f,f,f],[f,f,f,f]]", row[0][0], row[0][1], row[0][2],
                     row[0][3], row[1][0], row[1][1], row[1][2], row[1][3], row[2][0], row[2][1],
                     row[2][2], row[2][3], 0.0, 0.0, 0.0, 1.0);
    proj =
        json_pack("[[f,f,f,f],[f,f,f,f],[f,f,f,f],[f,f,f,f]]", 1 / tan(0.5 * fov[0]), 0.0, 0.0, 0.0,
                  0.0, 1 / tan(0.5 * fov[1]), 0.0, 0.0, 0.0, 0.0, -1.0, -0.2, 0.0, 0.0, -1.0, 0.0);
    result = json_object_set_new(out, "view", view);
    return json_object_set_new(out, "proj", proj) || result ? HS_ERR_NOMEM : 0;
}

static int take_planes(const struct layout *l, json_int_t number, json_t *out)
{
    static const char *const planes[] = {"color", "depth", "motion"};

    for (int i = 0; i < 3; i++) {
        json_t *file = json_sprintf("%s/%s/%.*s/%04" JSON_INTEGER_FORMAT ".exr", l->ratio,
                                    planes[i], l->name_length, l->name, number);

        if (json_object_set_new(out, planes[i], file))
            return HS_ERR_NOMEM;
    }
    return 0;
}

static int take_frame(const struct layout *l, json_t *frame, json_int_t number, json_t *out)
{
    const json_t *cut = json_object_get(frame, "CameraCut");
    const char *key = json_object_get(frame, "Frame") ? "Frame" : "FrameNumber";
    const json_t *v = json_object_get(frame, key);
    double exposure = 0;
    int result = 0;

    if (!json_is_object(frame))
        return hsio_json_wrong(l->place, "", "an object", frame);
    if (v && (!json_is_integer(v) || json_integer_value(v) < 0))
        return hsio_json_wrong(l->place, key, "a whole number", v);
    if (v)
        number = json_integer_value(v);
    if (cut && !json_is_boolean(cut))
        return hsio_json_wrong(l->place, "CameraCut", "true or false", cut);
    result = json_object_set_new(out, "number", json_integer(number));
    if (!result)
        result = take_planes(l, number, out);
    if (!result)
        result = take_jitter(l, frame, out);
    if (!result)
        result = take_clip(l, frame, out);
    if (!result)
        result = take_camera(l, frame, out);
    if (!result)
        result = get_number(l->place, frame, "Exposure", &exposure);
    if (!result && exposure > 0)
        result = json_object_set_new(out, "exposure", json_real(exposure));
    if (!result && json_is_true(cut))
        result = json_object_set_new(out, "reset", json_true());
    return result == -1 ? HS_ERR_NOMEM : result;
}

static int take_top(struct layout *l, json_t *root, json_t *out)
{
    const json_t *reverse = json_object_get(root, "ReverseZ");
    double size[2] = {0};
    int result =
        get_pair(l->place, "TargetResolution", json_object_get(root, "TargetResolution"), size);

    if (!result)
        result = find_ratio(l, root);
    if (!result)
        result = get_number(l->place, root, "NearPlane", &l->near);
    if (!result)
        result = get_number(l->place, root, "FarPlane", &l->far);
    if (result)
        return result;
    // Files that were cut short have 0 there.
    if (size[0] >= 1 && size[1] >= 1)
        result = json_object_set_new(
            out, "output",
            json_pack("[I,I]", (json_int_t)fmin(size[0], 1e9), (json_int_t)fmin(size[1], 1e9)));
    return json_object_set_new(
               out, "convention",
               json_pack("{s:s,s:s,s:s}", "preset", "nss", "jitter.unit", "uv", "depth.kind",
                         json_is_true(reverse) ? "hardware_inverted" : "hardware")) ||
                   result
               ? HS_ERR_NOMEM
               : 0;
}

int hsio_nss_translate(struct hsio_json_place *p, json_t *root, json_t **out)
{
    struct layout l = {.place = p, .near = NAN, .far = NAN};
    json_t *made = json_object(), *list = json_object_get(root, "Frames"), *frame;
    json_t *frames = json_array();
    const char *slash = strrchr(p->path, '/'), *dot;
    size_t i;
    int result = made && frames ? 0 : HS_ERR_NOMEM;

    l.name = slash ? slash + 1 : p->path;
    dot = strrchr(l.name, '.');
    l.name_length = (int)(dot ? (size_t)(dot - l.name) : strlen(l.name));
    if (!result)
        result = take_top(&l, root, made);
    json_array_foreach(list, i, frame)
    {
        json_t *one = result ? NULL : json_object();

        if (result)
            break;
        snprintf(p->where, sizeof(p->where), "Frames[%zu].", i);
        result = one ? take_frame(&l, frame, (json_int_t)i, one) : HS_ERR_NOMEM;
        if (!result && json_array_append(frames, one))
            result = HS_ERR_NOMEM;
        json_decref(one);
    }
    p->where[0] = 0;
    if (!result && json_object_set(made, "frames", frames))
        result = HS_ERR_NOMEM;
    json_decref(frames);
    if (result)
        json_decref(made);
    else
        *out = made;
    return result;
}
