// SPDX-License-Identifier: MIT
#include "convention_presets.h"
#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum kind {
    KIND_TEXT,
    KIND_CHOICE,
    KIND_BOOL,
    KIND_FLOAT,
    KIND_FACTOR, ///< A float other than 0.
    KIND_SIGN,
};

struct key {
    const char *name;
    enum kind kind;
    size_t offset, size;
    const char *choices; ///< Names by value, space-separated; NULL unless KIND_CHOICE.
    const char *text;
};

#define FIELD(member) \
    offsetof(struct hsio_convention, member), sizeof(((struct hsio_convention *)0)->member)
#define CHANNELS(name, plane)                                   \
    {name ".channels", KIND_TEXT, FIELD(channels[plane]), NULL, \
     "channel pattern(s), see docs/formats.md"}
#define MOTION(name, m)                                                                   \
    {name ".direction", KIND_CHOICE, FIELD(m.direction), "prev next",                     \
     "which frame the vector leads to"},                                                  \
        {name ".unit", KIND_CHOICE, FIELD(m.unit), "px uv ndc",                           \
         "unit after bias, sign and scale: pixels, 1 or 2 for the whole side"},           \
        {name ".unwritten", KIND_CHOICE, FIELD(m.unwritten), "none zero zero_at_far nan", \
         "how a pixel without a vector looks"},                                           \
        {name ".resolution", KIND_CHOICE, FIELD(m.resolution), "render display",          \
         "raster of the plane"},                                                          \
        {name ".swap", KIND_BOOL, FIELD(m.swap), NULL, "the two channels are exchanged"}, \
        {name ".jittered", KIND_BOOL, FIELD(m.jittered), NULL,                            \
         "the change of the jitter is contained"},                                        \
        {name ".sign_x", KIND_SIGN, FIELD(m.sign_x), NULL, "-1 turns x round"},           \
        {name ".sign_y", KIND_SIGN, FIELD(m.sign_y), NULL, "-1 turns y round"},           \
        {name ".scale_x", KIND_FACTOR, FIELD(m.scale_x), NULL, "factor"},                 \
        {name ".scale_y", KIND_FACTOR, FIELD(m.scale_y), NULL, "factor"},                 \
        {name ".bias_x", KIND_FLOAT, FIELD(m.bias_x), NULL, "stored value of no motion"}, \
        {name ".bias_y", KIND_FLOAT, FIELD(m.bias_y), NULL, "stored value of no motion"}, \
        {name ".limit", KIND_FLOAT, FIELD(m.limit), NULL,                                 \
         "stored distance from the bias at which values are cut off; 0: none"}

static const struct key keys[] = {
    {"preset", KIND_TEXT, FIELD(preset), NULL, "name of a preset, or auto; replaces all fields"},
    {"layer", KIND_TEXT, FIELD(layer), NULL, "layer, view or part; empty: the first that fits"},
    CHANNELS("color", HSIO_PLANE_COLOR),
    CHANNELS("depth", HSIO_PLANE_DEPTH),
    CHANNELS("motion", HSIO_PLANE_MOTION),
    CHANNELS("motion_next", HSIO_PLANE_MOTION_NEXT),
    CHANNELS("diffuse_albedo", HSIO_PLANE_DIFFUSE_ALBEDO),
    CHANNELS("specular_albedo", HSIO_PLANE_SPECULAR_ALBEDO),
    CHANNELS("normal", HSIO_PLANE_NORMAL),
    CHANNELS("roughness", HSIO_PLANE_ROUGHNESS),
    CHANNELS("hit_distance", HSIO_PLANE_HIT_DISTANCE),
    CHANNELS("reactive", HSIO_PLANE_REACTIVE),
    CHANNELS("exposure", HSIO_PLANE_EXPOSURE),
    {"color.transfer", KIND_CHOICE, FIELD(color.transfer), "linear srgb display",
     "of integer colour: linear, decoded from sRGB, or display-referred and left so"},
    MOTION("motion", motion),
    MOTION("motion_next", motion_next),
    {"depth.kind", KIND_CHOICE, FIELD(depth.kind), "linear hardware hardware_inverted",
     "view distance, or depth buffer with near 0 or near 1"},
    {"depth.unit_m", KIND_FACTOR, FIELD(depth.unit_m), NULL,
     "metres per unit: a note, nothing is computed from it"},
    {"depth.near", KIND_FLOAT, FIELD(depth.near), NULL, "near clip distance; 0: unknown"},
    {"depth.far", KIND_FLOAT, FIELD(depth.far), NULL,
     "far clip distance; 0: unknown, inf: infinite"},
    {"depth.background", KIND_FLOAT, FIELD(depth.background), NULL,
     "stored value of nothing there"},
    {"normal.space", KIND_CHOICE, FIELD(normal.space), "world view", "space of the normals"},
    {"normal.range", KIND_CHOICE, FIELD(normal.range), "signed unsigned", "-1..1 or 0..1"},
    {"normal.packed", KIND_BOOL, FIELD(normal.packed), NULL, "the fourth channel is roughness"},
    {"roughness.kind", KIND_CHOICE, FIELD(roughness.kind), "perceptual alpha smoothness",
     "perceptual, its square, or 1 - perceptual"},
    {"specular_albedo.kind", KIND_CHOICE, FIELD(specular_albedo.kind), "directional f0 metal_white",
     "reflectance at the pixel's angle, at normal incidence, or that with metals white"},
    {"jitter.unit", KIND_CHOICE, FIELD(jitter.unit), "px uv ndc", "unit of jitter in JSON"},
    {"jitter.sign_x", KIND_SIGN, FIELD(jitter.sign_x), NULL,
     "1: sample position = pixel centre + jitter, x right"},
    {"jitter.sign_y", KIND_SIGN, FIELD(jitter.sign_y), NULL,
     "1: sample position = pixel centre + jitter, y down"},
};
#define KEY_COUNT ((int)(sizeof(keys) / sizeof(keys[0])))
_Static_assert(sizeof(keys) / sizeof(keys[0]) <= 128, "set_keys has one bit a key");
_Static_assert(sizeof(enum hsio_unit) == sizeof(int), "choices are stored as int");

int hsio_preset_count(void)
{
    return hsio_presets_count;
}

const char *hsio_preset_name(int index)
{
    return index >= 0 && index < hsio_presets_count ? hsio_presets[index].name : NULL;
}

const char *hsio_preset_text(int index)
{
    return index >= 0 && index < hsio_presets_count ? hsio_presets[index].text : NULL;
}

bool hsio_preset_measured(const char *name)
{
    for (int i = 0; i < hsio_presets_count; i++) {
        if (!strcmp(name, hsio_presets[i].name))
            return hsio_presets[i].measured;
    }
    return false;
}

int hsio_convention_key_count(void)
{
    return KEY_COUNT;
}

const char *hsio_convention_key(int index)
{
    return index >= 0 && index < KEY_COUNT ? keys[index].name : NULL;
}

const char *hsio_convention_key_text(int index)
{
    return index >= 0 && index < KEY_COUNT ? keys[index].text : NULL;
}

const char *hsio_convention_key_choices(int index)
{
    if (index < 0 || index >= KEY_COUNT)
        return NULL;
    switch (keys[index].kind) {
    case KIND_CHOICE:
        return keys[index].choices;
    case KIND_BOOL:
        return "0 1";
    case KIND_SIGN:
        return "1 -1";
    default:
        return "";
    }
}

static void mark(struct hsio_convention *conv, int index)
{
    conv->set_keys[index / 64] |= UINT64_C(1) << (index % 64);
}

static bool marked(const struct hsio_convention *conv, int index)
{
    return conv->set_keys[index / 64] >> (index % 64) & 1;
}

static int find_key(const char *name)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        if (!strcmp(name, keys[i].name))
            return i;
    }
    return !strcmp(name, "colour.channels")   ? 2 + HSIO_PLANE_COLOR
           : !strcmp(name, "colour.transfer") ? 2 + HSIO_PLANE_COUNT
                                              : -1;
}

static void near_keys(const char *name, char *text, size_t size)
{
    const char *dot = strrchr(name, '.');
    const char *tail = dot ? dot + 1 : name;
    size_t length = 0;
    int best = 99;

    text[0] = 0;
    for (int i = 0; i < KEY_COUNT; i++) {
        const int d = hsio_text_distance(name, keys[i].name);

        best = d < best ? d : best;
    }
    for (int i = 0; i < KEY_COUNT; i++) {
        const char *key_dot = strrchr(keys[i].name, '.');
        const char *key_tail = key_dot ? key_dot + 1 : keys[i].name;

        if (hsio_text_distance(name, keys[i].name) <= (best > 3 ? 0 : best) ||
            !strcmp(tail, key_tail) || (!dot && strstr(keys[i].name, name)))
            length = hsio_text_append(text, size, length, "%s%s", length ? ", " : "", keys[i].name);
    }
    for (int i = 0; !length && i < KEY_COUNT; i++) {
        const size_t family = strcspn(name, ".");

        if (hsio_text_same(name, keys[i].name, family) && keys[i].name[family] == '.')
            length = hsio_text_append(text, size, length, "%s%s", length ? ", " : "", keys[i].name);
    }
    if (length)
        return;
    for (int i = 0; i < KEY_COUNT; i++)
        length = hsio_text_append(text, size, length, "%s%s", i ? ", " : "", keys[i].name);
}

static int choice_index(const char *choices, const char *value)
{
    const size_t length = strlen(value);
    int index = 0;

    for (const char *p = choices; *p; index++) {
        const size_t n = strcspn(p, " ");

        if (n == length && !strncmp(p, value, n))
            return index;
        p += n + (p[n] == ' ');
    }
    return -1;
}

static bool parse_bool(const char *value, bool *out)
{
    static const char *const words[] = {"0", "1", "false", "true", "no", "yes", "off", "on"};

    for (int i = 0; i < 8; i++) {
        if (!strcmp(value, words[i])) {
            *out = i & 1;
            return true;
        }
    }
    return false;
}

static bool set_number(void *field, enum kind kind, const char *value)
{
    double v;
    float f;

    if (!hsio_text_to_double(value, &v) || isnan(v))
        return false;
    f = (float)v;
    if ((kind == KIND_SIGN && f != 1 && f != -1) || (kind == KIND_FACTOR && (f == 0 || isinf(f))))
        return false;
    memcpy(field, &f, sizeof(f));
    return true;
}

/* The stored value of "nothing there" follows from the kind unless it is given. */
static void follow_depth_kind(struct hsio_convention *conv)
{
    const int background = find_key("depth.background");

    if (!marked(conv, background))
        conv->depth.background = conv->depth.kind == HSIO_DEPTH_LINEAR     ? INFINITY
                                 : conv->depth.kind == HSIO_DEPTH_HARDWARE ? 1
                                                                           : 0;
}

static int set_value(struct hsio_convention *conv, const struct key *key, const char *value,
                     char *error, size_t error_size)
{
    char *field = (char *)conv + key->offset;
    const char *wanted = "a number";
    int choice;
    bool b;

    switch (key->kind) {
    case KIND_TEXT:
        if (strlen(value) < key->size) {
            memcpy(field, value, strlen(value) + 1);
            return 0;
        }
        snprintf(error, error_size, "%s: text of %zu bytes is too long, at most %zu", key->name,
                 strlen(value), key->size - 1);
        return HS_ERR_INVALID;
    case KIND_CHOICE:
        choice = choice_index(key->choices, value);
        if (choice >= 0) {
            memcpy(field, &choice, sizeof(choice));
            return 0;
        }
        snprintf(error, error_size, "%s: \"%s\" is not one of: %s", key->name, value, key->choices);
        return HS_ERR_INVALID;
    case KIND_BOOL:
        if (parse_bool(value, &b)) {
            memcpy(field, &b, sizeof(b));
            return 0;
        }
        wanted = "0 or 1";
        break;
    default:
        if (set_number(field, key->kind, value))
            return 0;
        wanted = key->kind == KIND_SIGN     ? "1 or -1"
                 : key->kind == KIND_FACTOR ? "a number other than 0"
                                            : wanted;
        break;
    }
    snprintf(error, error_size, "%s: \"%s\" is not %s", key->name, value, wanted);
    return HS_ERR_INVALID;
}

static int fill_preset(struct hsio_convention *conv, const char *name, char *error,
                       size_t error_size)
{
    const bool automatic = !strcmp(name, "auto");
    struct hsio_convention c = {0};
    size_t length;

    for (int i = 0; i < hsio_presets_count; i++) {
        if (strcmp(name, automatic ? "auto" : hsio_presets[i].name))
            continue;
        for (int pass = 0; pass < 2; pass++) {
            const char *const *s = hsio_presets[pass && !automatic ? i : 0].settings;

            for (; *s; s++) {
                char key[64];
                const char *value = strchr(*s, '=') + 1;

                snprintf(key, sizeof(key), "%.*s", (int)(value - *s - 1), *s);
                if (hsio_convention_assign(&c, key, value, error, error_size))
                    return HS_ERR_INTERNAL;
            }
            c.set_keys[0] = c.set_keys[1] = 0;
        }
        snprintf(c.preset, sizeof(c.preset), "%s", name);
        *conv = c;
        return 0;
    }
    length = hsio_text_append(error, error_size, 0, "preset: \"%s\" is not one of: auto", name);
    for (int i = 0; i < hsio_presets_count; i++)
        length = hsio_text_append(error, error_size, length, " %s", hsio_presets[i].name);
    return HS_ERR_INVALID;
}

int hsio_convention_assign(struct hsio_convention *conv, const char *key, const char *value,
                           char *error, size_t error_size)
{
    const int index = find_key(key);
    const enum hsio_depth_kind depth_kind = conv->depth.kind;
    char near[1536];
    int result;

    if (index < 0) {
        near_keys(key, near, sizeof(near));
        snprintf(error, error_size, "unknown convention key \"%s\"; near ones: %s", key, near);
        return HS_ERR_INVALID;
    }
    if (!value) {
        snprintf(error, error_size, "%s: there is no value", key);
        return HS_ERR_INVALID;
    }
    if (!strcmp(keys[index].name, "preset"))
        return fill_preset(conv, value, error, error_size);
    result = set_value(conv, &keys[index], value, error, error_size);
    if (result)
        return result;
    mark(conv, index);
    if (conv->depth.kind != depth_kind)
        follow_depth_kind(conv);
    return 0;
}

int hsio_convention_preset(struct hsio_convention *conv, const char *name, const struct hs_log *log)
{
    return hsio_convention_set(conv, "preset", name ? name : "auto", log);
}

int hsio_convention_set(struct hsio_convention *conv, const char *key, const char *value,
                        const struct hs_log *log)
{
    char error[2048] = "";
    const int result = hsio_convention_assign(conv, key, value, error, sizeof(error));

    return result ? hsio_fail(log, result, "%s", error) : 0;
}

int hsio_convention_set_text(struct hsio_convention *conv, const char *key_value,
                             const struct hs_log *log)
{
    const char *equal = strchr(key_value, '=');
    char key[64];

    if (!equal || (size_t)(equal - key_value) >= sizeof(key))
        return hsio_fail(log, HS_ERR_INVALID, "\"%s\" is not of the form key=value", key_value);
    snprintf(key, sizeof(key), "%.*s", (int)(equal - key_value), key_value);
    return hsio_convention_set(conv, key, equal + 1, log);
}

int hsio_convention_get(const struct hsio_convention *conv, const char *key, char *text,
                        size_t size)
{
    const int index = find_key(key);
    char number[64];
    const char *field, *value;
    size_t length;
    int choice;
    bool b;
    float f;

    if (index < 0)
        return HS_ERR_INVALID;
    field = (const char *)conv + keys[index].offset;
    value = number;
    switch (keys[index].kind) {
    case KIND_TEXT:
        value = field;
        break;
    case KIND_CHOICE:
        memcpy(&choice, field, sizeof(choice));
        value = keys[index].choices;
        for (; choice > 0 && *value; choice--)
            value += strcspn(value, " ") + 1;
        break;
    case KIND_BOOL:
        memcpy(&b, field, sizeof(b));
        value = b ? "1" : "0";
        break;
    default:
        memcpy(&f, field, sizeof(f));
        hsio_text_from_float(number, sizeof(number), f);
        break;
    }
    length = keys[index].kind == KIND_CHOICE ? strcspn(value, " ") : strlen(value);
    if (length >= size)
        return HS_ERR_INVALID;
    memcpy(text, value, length);
    text[length] = 0;
    return 0;
}

void hsio_convention_overlay(struct hsio_convention *dst, const struct hsio_convention *src)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        const enum hsio_depth_kind depth_kind = dst->depth.kind;

        if (!marked(src, i))
            continue;
        memcpy((char *)dst + keys[i].offset, (const char *)src + keys[i].offset, keys[i].size);
        mark(dst, i);
        if (dst->depth.kind != depth_kind)
            follow_depth_kind(dst);
    }
}

void hsio_motion_scale(const struct hsio_motion_convention *motion, int render_width,
                       int render_height, int display_width, int display_height, float out[2])
{
    const bool display = motion->resolution == HSIO_RESOLUTION_DISPLAY;
    const int render[2] = {render_width, render_height};
    const int shown[2] = {display_width, display_height};
    const float factor[2] = {motion->sign_x * motion->scale_x, motion->sign_y * motion->scale_y};

    for (int i = 0; i < 2; i++) {
        float unit = motion->unit == HSIO_UNIT_UV    ? (float)render[i]
                     : motion->unit == HSIO_UNIT_NDC ? 0.5f * (float)render[i]
                                                     : 1;

        if (display && motion->unit == HSIO_UNIT_PX && shown[i] > 0)
            unit = (float)render[i] / (float)shown[i];
        out[i] = factor[i] * unit;
    }
}

bool hsio_motion_at_limit(const struct hsio_motion_convention *motion,
                          const struct hsio_plane_stats *stats)
{
    const float low = fminf(motion->bias_x, motion->bias_y) - motion->limit;
    const float high = fmaxf(motion->bias_x, motion->bias_y) + motion->limit;

    return motion->limit > 0 && (stats->max >= high || stats->min <= low);
}
