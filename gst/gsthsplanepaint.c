// SPDX-License-Identifier: MIT
// Planes as pictures for people.
#include <math.h>

#include "gsthsplanedemux.h"
#include "hsframe.h"

static guint8 code(float value)
{
    return (guint8)(CLAMP(value, 0, 1) * 255.0f + 0.5f);
}

/** Least and greatest finite values of all channels in use. */
static void find_range(const GstHsPlane *plane, const guint8 *pixels, int channels, float *low,
                       float *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (guint y = 0; y < plane->height; y++) {
        for (guint x = 0; x < plane->width; x++) {
            for (int c = 0; c < channels; c++) {
                float v = hsframe_value(gst_hs_plane_pixel(plane, pixels, x, y), plane->format, c);

                // Renderers write large numbers where there is nothing.
                if (!isfinite(v) || fabsf(v) > 1e9f)
                    continue;
                *low = MIN(*low, v);
                *high = MAX(*high, v);
            }
        }
    }
    if (*low > *high)
        *low = *high = 0;
}

static float srgb(float linear)
{
    return linear <= 0.0031308f ? 12.92f * MAX(linear, 0)
                                : 1.055f * powf(linear, 1 / 2.4f) - 0.055f;
}

void gst_hs_plane_paint(const GstHsPlane *plane, enum hsio_plane kind, float gain,
                        const guint8 *pixels, guint8 *rgba)
{
    const int channels = hsio_plane_channels(kind);
    float low, high;

    find_range(plane, pixels, channels, &low, &high);
    const float largest = MAX(MAX(fabsf(low), fabsf(high)), 1e-6f);

    for (guint y = 0; y < plane->height; y++) {
        for (guint x = 0; x < plane->width; x++, rgba += 4) {
            const guint8 *pixel = gst_hs_plane_pixel(plane, pixels, x, y);
            float v[3] = {0, 0, 0};

            for (int c = 0; c < MIN(channels, 3); c++)
                v[c] = hsframe_value(pixel, plane->format, c);
            if (channels == 1) {
                // Near is bright; the logarithm keeps what is close apart.
                bool deep = kind == HSIO_PLANE_DEPTH && low > 0;
                float t = deep ? logf(high / v[0]) / MAX(logf(high / low), 1e-6f)
                               : (v[0] - low) / MAX(high - low, 1e-6f);

                v[0] = v[1] = v[2] = isfinite(t) ? t : 0;
            } else if (channels == 2) {
                v[0] = 0.5f + 0.5f * v[0] / largest;
                v[1] = 0.5f + 0.5f * v[1] / largest;
                v[2] = 0.5f;
            } else if (kind == HSIO_PLANE_NORMAL) {
                for (int c = 0; c < 3; c++)
                    v[c] = 0.5f + 0.5f * v[c];
            } else if (gain > 0) {
                for (int c = 0; c < 3; c++)
                    v[c] = srgb(gain * v[c]);
            }
            for (int c = 0; c < 3; c++)
                rgba[c] = code(isfinite(v[c]) ? v[c] : 0);
            rgba[3] = 255;
        }
    }
}
