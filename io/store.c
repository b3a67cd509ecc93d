// SPDX-License-Identifier: MIT
#include "hsio_store.h"

#include "internal.h"

#include <math.h>
#include <string.h>

static float load(const void *pixels, enum hsio_type type, size_t index)
{
    float value;

    if (type == HSIO_TYPE_HALF) {
        uint16_t half;
        memcpy(&half, (const uint16_t *)pixels + index, sizeof(half));
        return hsio_half_to_float(half);
    }
    memcpy(&value, (const float *)pixels + index, sizeof(value));
    return value;
}

static void save(void *pixels, enum hsio_type type, size_t index, float value)
{
    if (type == HSIO_TYPE_HALF) {
        const uint16_t half = hsio_float_to_half(value);
        memcpy((uint16_t *)pixels + index, &half, sizeof(half));
    } else {
        memcpy((float *)pixels + index, &value, sizeof(value));
    }
}

static float clamp(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

static void store_vector(const struct hsio_motion_convention *m, const float scale[2],
                         const float moved[2], bool background, float v[2])
{
    const float bias[2] = {m->bias_x, m->bias_y};
    const bool unwritten = background && (m->unwritten == HSIO_UNWRITTEN_ZERO ||
                                          m->unwritten == HSIO_UNWRITTEN_ZERO_AT_FAR);

    for (int i = 0; i < 2; i++) {
        v[i] = (v[i] + moved[i]) / scale[i];
        if (m->limit > 0)
            v[i] = clamp(v[i], -m->limit, m->limit);
        v[i] = unwritten ? 0 : v[i] + bias[i];
    }
    if (m->swap) {
        const float first = v[0];
        v[0] = v[1];
        v[1] = first;
    }
}

static void store_motion(const struct hsio_motion_convention *m, const struct hsio_store_frame *f,
                         enum hsio_type type, int channels, void *pixels)
{
    const size_t count = (size_t)f->width * (size_t)f->height;
    const float *other = m->direction == HSIO_DIRECTION_NEXT ? f->next_jitter : f->previous_jitter;
    float scale[2], moved[2];

    hsio_motion_scale(m, f->width, f->height, f->width, f->height, scale);
    // A point is drawn at its place minus the jitter.
    for (int i = 0; i < 2; i++)
        moved[i] = m->jittered ? f->jitter[i] - other[i] : 0;
    for (size_t i = 0; i < count; i++) {
        const size_t at = i * (size_t)channels;
        float v[2] = {load(pixels, type, at), load(pixels, type, at + 1)};

        store_vector(m, scale, moved, f->depth && !isfinite(f->depth[i]), v);
        save(pixels, type, at, v[0]);
        save(pixels, type, at + 1, v[1]);
    }
}

/* 0 near to 1 far; what lies behind the far plane is not background, either. */
static double hardware_depth(double z, double near, double far)
{
    const double d = (isfinite(far) ? far / (far - near) : 1) * (1 - near / z);

    return d < 0 ? 0 : d > 1 - 0x1p-24 ? 1 - 0x1p-24 : d;
}

static float store_depth(const struct hsio_convention *c, const struct hsio_store_frame *f, float z)
{
    double d;

    if (!isfinite(z))
        return c->depth.background;
    if (c->depth.kind == HSIO_DEPTH_LINEAR)
        return z / c->depth.unit_m;
    d = hardware_depth(z, f->near, f->far);
    // Only the difference is rounded: inverted depth keeps its digits far away.
    return (float)(c->depth.kind == HSIO_DEPTH_HARDWARE ? d : 1 - d);
}

static float store_roughness(const struct hsio_convention *c, float r)
{
    return c->roughness.kind == HSIO_ROUGHNESS_ALPHA        ? r * r
           : c->roughness.kind == HSIO_ROUGHNESS_SMOOTHNESS ? 1 - r
                                                            : r;
}

static void store_normal(const struct hsio_convention *c, const struct hsio_store_frame *f,
                         float n[4])
{
    if (c->normal.space == HSIO_SPACE_VIEW) {
        const double world[3] = {n[0], n[1], n[2]};
        for (int i = 0; i < 3; i++)
            n[i] = (float)(f->view[4 * i] * world[0] + f->view[4 * i + 1] * world[1] +
                           f->view[4 * i + 2] * world[2]);
    }
    for (int i = 0; i < 3 && c->normal.range == HSIO_RANGE_UNSIGNED; i++)
        n[i] = 0.5f * n[i] + 0.5f;
    if (c->normal.packed)
        n[3] = store_roughness(c, n[3]);
}

static int check(const struct hsio_convention *c, enum hsio_plane plane,
                 const struct hsio_store_frame *f, enum hsio_format format,
                 const struct hs_log *log)
{
    const struct hsio_motion_convention *m =
        plane == HSIO_PLANE_MOTION_NEXT ? &c->motion_next : &c->motion;

    if ((unsigned)plane >= HSIO_PLANE_COUNT || f->width < 1 || f->height < 1 ||
        hsio_format_channels(format) != hsio_plane_channels(plane))
        return hsio_fail(log, HS_ERR_INVALID, "plane %d does not fit its format", (int)plane);
    if (plane == HSIO_PLANE_DEPTH && c->depth.kind != HSIO_DEPTH_LINEAR &&
        !(f->near > 0 && f->far > f->near))
        return hsio_fail(log, HS_ERR_INVALID, "hardware depth needs clip distances");
    if (plane == HSIO_PLANE_NORMAL && c->normal.space == HSIO_SPACE_VIEW && !f->view)
        return hsio_fail(log, HS_ERR_INVALID, "normals in view space need a camera");
    if ((plane == HSIO_PLANE_MOTION || plane == HSIO_PLANE_MOTION_NEXT) &&
        m->resolution == HSIO_RESOLUTION_DISPLAY)
        return hsio_fail(log, HS_ERR_UNSUPPORTED, "motion at display resolution is not written");
    return 0;
}

int hsio_store_plane(const struct hsio_convention *conv, enum hsio_plane plane,
                     const struct hsio_store_frame *frame, enum hsio_format format, void *pixels,
                     const struct hs_log *log)
{
    const int result = check(conv, plane, frame, format, log);
    const size_t count = (size_t)frame->width * (size_t)frame->height;
    const enum hsio_type type = hsio_format_type(format);

    if (result)
        return result;
    if (plane == HSIO_PLANE_MOTION)
        store_motion(&conv->motion, frame, type, 2, pixels);
    if (plane == HSIO_PLANE_MOTION_NEXT)
        store_motion(&conv->motion_next, frame, type, 2, pixels);
    for (size_t i = 0; plane == HSIO_PLANE_DEPTH && i < count; i++)
        save(pixels, type, i, store_depth(conv, frame, load(pixels, type, i)));
    for (size_t i = 0; plane == HSIO_PLANE_HIT_DISTANCE && i < count; i++)
        save(pixels, type, i, load(pixels, type, i) / conv->depth.unit_m);
    for (size_t i = 0; plane == HSIO_PLANE_ROUGHNESS && i < count; i++)
        save(pixels, type, i, store_roughness(conv, load(pixels, type, i)));
    for (size_t i = 0; plane == HSIO_PLANE_NORMAL && i < count; i++) {
        float n[4];

        for (size_t k = 0; k < 4; k++)
            n[k] = load(pixels, type, 4 * i + k);
        store_normal(conv, frame, n);
        for (size_t k = 0; k < 4; k++)
            save(pixels, type, 4 * i + k, n[k]);
    }
    return 0;
}

int hsio_store_names(const struct hsio_convention *conv, enum hsio_plane plane, char *text,
                     size_t size)
{
    const bool fourth = plane == HSIO_PLANE_COLOR || conv->normal.packed;
    const char *p = conv->channels[plane];
    const size_t end = strcspn(p, "|"), part = strcspn(p, "/");
    size_t used = 0, i = part < end ? part + 1 : 0;

    if (!end || !size)
        return HS_ERR_INVALID;
    while (i < end) {
        const size_t length = strcspn(p + i, ",|");
        const bool optional = p[i + length - 1] == '?';

        if (used && !(optional && !fourth) && used + 1 < size)
            text[used++] = ',';
        for (size_t k = 0; k < length - optional && !(optional && !fourth); k++) {
            const char *star = conv->layer[0]        ? conv->layer
                               : p[i + k + 1] == '.' ? "ViewLayer"
                                                     : "FinalImage";
            const char one[2] = {p[i + k], 0}, *add = p[i + k] == '*' ? star : one;
            const size_t n = strlen(add);

            if (used + n >= size)
                return HS_ERR_INVALID;
            memcpy(text + used, add, n);
            used += n;
        }
        i += length + 1;
    }
    text[used] = 0;
    return 0;
}

void hsio_store_jitter(const struct hsio_convention *conv, int width, int height,
                       const float jitter[2], float out[2])
{
    const float sign[2] = {conv->jitter.sign_x, conv->jitter.sign_y};
    const int size[2] = {width, height};

    for (int i = 0; i < 2; i++) {
        const float unit = conv->jitter.unit == HSIO_UNIT_UV    ? (float)size[i]
                           : conv->jitter.unit == HSIO_UNIT_NDC ? 0.5f * (float)size[i]
                                                                : 1;
        out[i] = jitter[i] * sign[i] / unit;
    }
}
