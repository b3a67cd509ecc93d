// SPDX-License-Identifier: MIT
/** What a frame consists of: planes, and the formats of their pixels. */
#ifndef HSIO_PLANE_H
#define HSIO_PLANE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hsio_plane {
    HSIO_PLANE_COLOR = 0,       ///< RGBA.
    HSIO_PLANE_DEPTH,           ///< One channel.
    HSIO_PLANE_MOTION,          ///< Two channels, to the previous frame unless told otherwise.
    HSIO_PLANE_MOTION_NEXT,     ///< Two channels, to the next frame, where a renderer writes both.
    HSIO_PLANE_DIFFUSE_ALBEDO,  ///< RGBA.
    HSIO_PLANE_SPECULAR_ALBEDO, ///< RGBA.
    HSIO_PLANE_NORMAL,          ///< XYZ and, if packed, roughness in the fourth channel (else 1).
    HSIO_PLANE_ROUGHNESS,       ///< One channel.
    HSIO_PLANE_HIT_DISTANCE,    ///< One channel: length of the reflected ray.
    HSIO_PLANE_REACTIVE,        ///< One channel: 0 = trust history, 1 = distrust it.
    HSIO_PLANE_EXPOSURE,        ///< One channel, usually 1x1.
};
#define HSIO_PLANE_COUNT 11

/** Pixels are tightly packed, native endian, rows top to bottom. */
enum hsio_format {
    HSIO_FORMAT_NATIVE = 0, ///< As read: what the file stores; only in requests.
    HSIO_FORMAT_R16F,
    HSIO_FORMAT_RG16F,
    HSIO_FORMAT_RGBA16F,
    HSIO_FORMAT_R32F,
    HSIO_FORMAT_RG32F,
    HSIO_FORMAT_RGBA32F,
};
#define HSIO_FORMAT_COUNT 7

/** Name of a plane as used in keys and JSON, e.g. "diffuse_albedo"; NULL if out of range.
 * Thread: safe. Since: 1. */
const char *hsio_plane_name(enum hsio_plane plane);
/** The plane of a name, or -1. "colour" is accepted for "color". Thread: safe. Since: 1. */
int hsio_plane_from_name(const char *name);
/** Channels that a plane is handed out with: 1, 2 or 4. Thread: safe. Since: 1. */
int hsio_plane_channels(enum hsio_plane plane);

/** Name such as "rgba16f"; NULL if out of range. Thread: safe. Since: 1. */
const char *hsio_format_name(enum hsio_format format);
/** The format of a name, or -1. Thread: safe. Since: 1. */
int hsio_format_from_name(const char *name);
/** Channels of a format: 1, 2 or 4; 0 for HSIO_FORMAT_NATIVE. Thread: safe. Since: 1. */
int hsio_format_channels(enum hsio_format format);
/** Bytes of one pixel; 0 for HSIO_FORMAT_NATIVE. Thread: safe. Since: 1. */
size_t hsio_format_bytes(enum hsio_format format);

/** Rounds to nearest even; out of range becomes infinity. Thread: safe. Since: 1. */
uint16_t hsio_float_to_half(float value);
/** Exact. Thread: safe. Since: 1. */
float hsio_half_to_float(uint16_t value);

/**
 * Reads numbers with spaces or tabs between them, whatever the locale is. "inf" and "nan" are some.
 *
 * Returns how many the text has; the first `max` of them are stored.
 * Thread: safe.
 * Errors: HS_ERR_FORMAT: something else is in the text, or a number is out of a double's range;
 * HS_ERR_NOMEM. Nothing is logged.
 * Since: 1.
 */
int hsio_numbers_parse(const char *text, double *numbers, int max);

#ifdef __cplusplus
}
#endif
#endif
