// SPDX-License-Identifier: MIT
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *hsio_json_type_name(const json_t *v)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_NULL:
        return "null";
    default:
        return "true or false";
    }
}

int hsio_json_wrong(const struct hsio_json_place *p, const char *key, const char *wanted,
                    const json_t *found)
{
    char *text = json_dumps(found, JSON_ENCODE_ANY | JSON_COMPACT);
    const int result =
        hsio_fail(p->log, HS_ERR_FORMAT, "%s: key %s%s: expected %s, found %s %.80s", p->path,
                  p->where, key, wanted, hsio_json_type_name(found), text ? text : "");

    free(text);
    return result;
}

int hsio_json_float(const struct hsio_json_place *p, const char *key, const json_t *v, float *out,
                    bool *has)
{
    const double d = json_number_value(v);

    if (!json_is_number(v) || !(fabs(d) <= 3.4e38))
        return hsio_json_wrong(p, key, "a number", v);
    *out = (float)d;
    if (has)
        *has = true;
    return 0;
}

int hsio_json_far(const struct hsio_json_place *p, const char *key, const json_t *v, float *out,
                  bool *has)
{
    int result = 0;

    if (json_is_null(v) || (json_is_string(v) && !strcmp(json_string_value(v), "inf")))
        *out = INFINITY;
    else
        result = hsio_json_float(p, key, v, out, has);
    if (!result && *out < 0)
        *out = INFINITY;
    *has = *has || !result;
    return result;
}

int hsio_json_floats(const struct hsio_json_place *p, const char *key, const json_t *v, float *out,
                     size_t count, bool *has)
{
    if (!json_is_array(v) || json_array_size(v) != count)
        return hsio_json_wrong(p, key, count == 2 ? "[x, y]" : "four numbers", v);
    for (size_t i = 0; i < count; i++) {
        const int result = hsio_json_float(p, key, json_array_get(v, i), &out[i], NULL);

        if (result)
            return result;
    }
    if (has)
        *has = true;
    return 0;
}

int hsio_json_matrix(const struct hsio_json_place *p, const char *key, const json_t *v, float *out,
                     bool *has)
{
    const size_t size = json_array_size(v);

    if (!json_is_array(v) || (size != 4 && size != 16))
        return hsio_json_wrong(p, key, "four rows of four numbers", v);
    if (size == 16)
        return hsio_json_floats(p, key, v, out, 16, has);
    for (size_t i = 0; i < 4; i++) {
        const int result = hsio_json_floats(p, key, json_array_get(v, i), out + 4 * i, 4, has);

        if (result)
            return result;
    }
    return 0;
}

static int get_side(const struct hsio_json_place *p, const char *key, const json_t *v, int *out)
{
    const json_int_t n = json_integer_value(v);

    if (!json_is_integer(v) || n < 1 || n > HSIO_MAX_SIDE)
        return hsio_json_wrong(p, key, "a size of 1 to 65536 pixels", v);
    *out = (int)n;
    return 0;
}

int hsio_json_size(const struct hsio_json_place *p, const char *key, const json_t *v, int *width,
                   int *height)
{
    const json_t *w = json_object_get(v, "width"), *h = json_object_get(v, "height");
    int result;

    if (json_is_array(v) && json_array_size(v) == 2) {
        w = json_array_get(v, 0);
        h = json_array_get(v, 1);
    }
    if (!w || !h)
        return hsio_json_wrong(p, key, "{\"width\": w, \"height\": h}", v);
    result = get_side(p, key, w, width);
    if (!result)
        result = get_side(p, key, h, height);
    if (!result && (int64_t)*width * *height > HSIO_MAX_PIXELS)
        result = hsio_json_wrong(p, key, "at most 2^31 pixels", v);
    return result;
}
