// SPDX-License-Identifier: MIT
#include "internal.h"

#include <math.h>
#include <string.h>

static const char *const plane_names[HSIO_PLANE_COUNT] = {
    [HSIO_PLANE_COLOR] = "color",
    [HSIO_PLANE_DEPTH] = "depth",
    [HSIO_PLANE_MOTION] = "motion",
    [HSIO_PLANE_MOTION_NEXT] = "motion_next",
    [HSIO_PLANE_DIFFUSE_ALBEDO] = "diffuse_albedo",
    [HSIO_PLANE_SPECULAR_ALBEDO] = "specular_albedo",
    [HSIO_PLANE_NORMAL] = "normal",
    [HSIO_PLANE_ROUGHNESS] = "roughness",
    [HSIO_PLANE_HIT_DISTANCE] = "hit_distance",
    [HSIO_PLANE_REACTIVE] = "reactive",
    [HSIO_PLANE_EXPOSURE] = "exposure",
};

static const struct {
    const char *name;
    int channels;
    enum hsio_type type;
} formats[HSIO_FORMAT_COUNT] = {
    [HSIO_FORMAT_NATIVE] = {"native", 0, HSIO_TYPE_HALF},
    [HSIO_FORMAT_R16F] = {"r16f", 1, HSIO_TYPE_HALF},
    [HSIO_FORMAT_RG16F] = {"rg16f", 2, HSIO_TYPE_HALF},
    [HSIO_FORMAT_RGBA16F] = {"rgba16f", 4, HSIO_TYPE_HALF},
    [HSIO_FORMAT_R32F] = {"r32f", 1, HSIO_TYPE_FLOAT},
    [HSIO_FORMAT_RG32F] = {"rg32f", 2, HSIO_TYPE_FLOAT},
    [HSIO_FORMAT_RGBA32F] = {"rgba32f", 4, HSIO_TYPE_FLOAT},
};

const char *hsio_plane_name(enum hsio_plane plane)
{
    return (unsigned)plane < HSIO_PLANE_COUNT ? plane_names[plane] : NULL;
}

int hsio_plane_from_name(const char *name)
{
    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        if (!strcmp(name, plane_names[i]))
            return i;
    }
    return strcmp(name, "colour") ? -1 : HSIO_PLANE_COLOR;
}

int hsio_plane_channels(enum hsio_plane plane)
{
    switch (plane) {
    case HSIO_PLANE_COLOR:
    case HSIO_PLANE_DIFFUSE_ALBEDO:
    case HSIO_PLANE_SPECULAR_ALBEDO:
    case HSIO_PLANE_NORMAL:
        return 4;
    case HSIO_PLANE_MOTION:
    case HSIO_PLANE_MOTION_NEXT:
        return 2;
    default:
        return 1;
    }
}

const char *hsio_format_name(enum hsio_format format)
{
    return (unsigned)format < HSIO_FORMAT_COUNT ? formats[format].name : NULL;
}

int hsio_format_from_name(const char *name)
{
    for (int i = 1; i < HSIO_FORMAT_COUNT; i++) {
        if (hsio_text_same(name, formats[i].name, SIZE_MAX))
            return i;
    }
    return -1;
}

int hsio_format_channels(enum hsio_format format)
{
    return (unsigned)format < HSIO_FORMAT_COUNT ? formats[format].channels : 0;
}

enum hsio_type hsio_format_type(enum hsio_format format)
{
    return (unsigned)format < HSIO_FORMAT_COUNT ? formats[format].type : HSIO_TYPE_HALF;
}

size_t hsio_format_bytes(enum hsio_format format)
{
    return (size_t)hsio_format_channels(format) * hsio_type_bytes(hsio_format_type(format));
}

enum hsio_format hsio_format_of(enum hsio_type type, int channels)
{
    for (int i = 1; i < HSIO_FORMAT_COUNT; i++) {
        if (formats[i].type == type && formats[i].channels == channels)
            return (enum hsio_format)i;
    }
    return HSIO_FORMAT_NATIVE;
}

size_t hsio_type_bytes(enum hsio_type type)
{
    return type == HSIO_TYPE_HALF ? 2 : 4;
}

uint16_t hsio_float_to_half(float value)
{
    uint32_t bits, sign, mantissa, shift, half;
    int exponent;

    memcpy(&bits, &value, sizeof(bits));
    sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits >= 0x7f800000) // Infinity, or NaN with its upper bits, quiet.
        return (uint16_t)(sign | 0x7c00 | (bits > 0x7f800000 ? 0x200 | (bits >> 13 & 0x3ff) : 0));
    if (bits >= 0x477ff000) // 65520 and more round to infinity.
        return (uint16_t)(sign | 0x7c00);
    exponent = (int)(bits >> 23) - 112;
    if (exponent > 0) {
        half = (bits - (112u << 23)) >> 13;
        mantissa = bits & 0x1fff;
        half += mantissa > 0x1000 || (mantissa == 0x1000 && (half & 1));
        return (uint16_t)(sign | half);
    }
    if (exponent < -10)
        return (uint16_t)sign;
    mantissa = (bits & 0x7fffff) | 0x800000;
    shift = (uint32_t)(14 - exponent);
    half = mantissa >> shift;
    mantissa &= (1u << shift) - 1;
    half += mantissa > 1u << (shift - 1) || (mantissa == 1u << (shift - 1) && (half & 1));
    return (uint16_t)(sign | half);
}

float hsio_half_to_float(uint16_t value)
{
    const uint32_t sign = (uint32_t)(value & 0x8000) << 16;
    uint32_t exponent = value >> 10 & 31, mantissa = value & 0x3ff, bits;
    float f;

    if (exponent == 31) {
        bits = sign | 0x7f800000 | mantissa << 13;
    } else if (exponent) {
        bits = sign | (exponent + 112) << 23 | mantissa << 13;
    } else {
        f = (float)mantissa * 0x1p-24f;
        return sign ? -f : f;
    }
    memcpy(&f, &bits, sizeof(f));
    return f;
}

void hsio_stats_begin(struct hsio_plane_stats *stats)
{
    *stats = (struct hsio_plane_stats){.all_zero = true, .min = INFINITY, .max = -INFINITY};
}

void hsio_stats_end(struct hsio_plane_stats *stats)
{
    if (stats->min > stats->max)
        stats->min = stats->max = 0;
}

static float lane_float(const struct hsio_lane *lane, const uint8_t *p)
{
    uint16_t h;
    uint32_t u;
    float f;

    switch (lane->type) {
    case HSIO_TYPE_HALF:
        memcpy(&h, p, sizeof(h));
        return hsio_half_to_float(h);
    case HSIO_TYPE_UINT:
        memcpy(&u, p, sizeof(u));
        return (float)u;
    default:
        memcpy(&f, p, sizeof(f));
        return f;
    }
}

/* Counts pixel by pixel; for rows that hold something that isn't finite. */
static void stats_careful(struct hsio_plane_stats *stats, const struct hsio_lane *lanes,
                          int channels, int width)
{
    for (int x = 0; x < width; x++) {
        bool bad = false;

        for (int c = 0; c < channels; c++) {
            float v;

            if (!lanes[c].data)
                continue;
            v = lane_float(&lanes[c], lanes[c].data + (size_t)x * lanes[c].stride_bytes);
            if (!isfinite(v)) {
                bad = true;
                stats->all_zero = false;
                continue;
            }
            stats->all_zero = stats->all_zero && v == 0;
            stats->min = v < stats->min ? v : stats->min;
            stats->max = v > stats->max ? v : stats->max;
        }
        stats->non_finite += bad;
    }
}

/* Least and greatest of a lane; false if any value isn't finite. */
static bool lane_range(const struct hsio_lane *lane, int width, float *low, float *high)
{
    const uint8_t *p = lane->data;
    bool finite = true;

    if (lane->type == HSIO_TYPE_HALF) {
        int least = INT32_MAX, most = INT32_MIN;

        for (int x = 0; x < width; x++, p += lane->stride_bytes) {
            uint16_t h;
            int order;

            memcpy(&h, p, sizeof(h));
            finite &= (h & 0x7c00) != 0x7c00;
            order = h & 0x8000 ? 0x8000 - (int)h : (int)h; // -0 and 0 are alike.
            least = order < least ? order : least;
            most = order > most ? order : most;
        }
        *low = hsio_half_to_float((uint16_t)(least < 0 ? 0x8000 - least : least));
        *high = hsio_half_to_float((uint16_t)(most < 0 ? 0x8000 - most : most));
        return finite;
    }
    *low = INFINITY;
    *high = -INFINITY;
    for (int x = 0; x < width; x++, p += lane->stride_bytes) {
        const float v = lane_float(lane, p);

        finite &= v - v == 0;
        *low = v < *low ? v : *low;
        *high = v > *high ? v : *high;
    }
    return finite;
}

static void stats_row(struct hsio_plane_stats *stats, const struct hsio_lane *lanes, int channels,
                      int width)
{
    float low[4], high[4];

    for (int c = 0; c < channels && width > 0; c++) {
        if (lanes[c].data && !lane_range(&lanes[c], width, &low[c], &high[c])) {
            stats_careful(stats, lanes, channels, width);
            return;
        }
    }
    for (int c = 0; c < channels && width > 0; c++) {
        if (!lanes[c].data)
            continue;
        stats->all_zero = stats->all_zero && low[c] == 0 && high[c] == 0;
        stats->min = low[c] < stats->min ? low[c] : stats->min;
        stats->max = high[c] > stats->max ? high[c] : stats->max;
    }
}

static bool needs_conversion(enum hsio_type type, int channels, const struct hsio_lane *lanes)
{
    for (int c = 0; c < channels; c++) {
        if (lanes[c].data && lanes[c].type != type)
            return true;
    }
    return false;
}

static void emit_same(uint8_t *dst, size_t bytes, int channels, int width,
                      const struct hsio_lane *lanes, const uint8_t *one)
{
    struct hsio_lane in[4];

    for (int c = 0; c < channels; c++) {
        in[c] = lanes[c];
        if (!in[c].data)
            in[c] = (struct hsio_lane){.data = one};
    }
    for (int x = 0; x < width; x++) {
        for (int c = 0; c < channels; c++) {
            memcpy(dst, in[c].data, bytes == 2 ? 2 : 4);
            in[c].data += in[c].stride_bytes;
            dst += bytes;
        }
    }
}

void hsio_pixels_emit(uint8_t *dst, enum hsio_type type, int channels, int width,
                      const struct hsio_lane *lanes, struct hsio_plane_stats *stats)
{
    const size_t bytes = hsio_type_bytes(type);
    const uint16_t one_half = 0x3c00;
    const float one_float = 1;
    const uint32_t one_uint = 1;
    const void *one = type == HSIO_TYPE_HALF    ? (const void *)&one_half
                      : type == HSIO_TYPE_FLOAT ? (const void *)&one_float
                                                : (const void *)&one_uint;

    if (stats)
        stats_row(stats, lanes, channels, width);
    if (!needs_conversion(type, channels, lanes)) {
        emit_same(dst, bytes, channels, width, lanes, one);
        return;
    }
    for (int x = 0; x < width; x++) {
        for (int c = 0; c < channels; c++, dst += bytes) {
            float v;

            if (!lanes[c].data) {
                memcpy(dst, one, bytes);
                continue;
            }
            v = lane_float(&lanes[c], lanes[c].data + (size_t)x * lanes[c].stride_bytes);
            if (type == HSIO_TYPE_HALF) {
                const uint16_t h = hsio_float_to_half(v);

                memcpy(dst, &h, sizeof(h));
            } else if (type == HSIO_TYPE_FLOAT) {
                memcpy(dst, &v, sizeof(v));
            } else {
                const uint32_t u = v >= 4294967296.0f ? UINT32_MAX : v > 0 ? (uint32_t)v : 0;

                memcpy(dst, &u, sizeof(u));
            }
        }
    }
}

void hsio_pixels_fill(uint8_t *dst, enum hsio_type type, int channels, int64_t count, float value)
{
    const struct hsio_lane lane = {.data = (const uint8_t *)&value, .type = HSIO_TYPE_FLOAT};
    const int64_t total = count * channels;
    const size_t bytes = hsio_type_bytes(type);

    for (int64_t done = 0; done < total;) {
        const int step = total - done < 1 << 20 ? (int)(total - done) : 1 << 20;

        hsio_pixels_emit(dst + (size_t)done * bytes, type, 1, step, &lane, NULL);
        done += step;
    }
}
