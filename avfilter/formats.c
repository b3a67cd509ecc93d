// SPDX-License-Identifier: MIT
// Which pixel formats a plane takes, and what they are on the device.
#include "internal.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <libavutil/pixdesc.h>

#define MAX_FORMATS 12

static const struct hs_av_format colour_formats[] = {
    {AV_PIX_FMT_RGBAF16, VK_FORMAT_R16G16B16A16_SFLOAT, HS_AV_COPY, 8, 4, true, true},
    {AV_PIX_FMT_RGBAF32, VK_FORMAT_R32G32B32A32_SFLOAT, HS_AV_COPY, 16, 4, true, true},
    {AV_PIX_FMT_GBRAPF32, VK_FORMAT_R32G32B32A32_SFLOAT, HS_AV_PLANAR, 16, 4, false, true},
    {AV_PIX_FMT_GBRPF32, VK_FORMAT_R32G32B32A32_SFLOAT, HS_AV_PLANAR, 16, 3, false, true},
    {AV_PIX_FMT_RGBA64, VK_FORMAT_R16G16B16A16_UNORM, HS_AV_COPY, 8, 4, true, false},
    {AV_PIX_FMT_RGBA, VK_FORMAT_R8G8B8A8_UNORM, HS_AV_COPY, 4, 4, true, false},
    {AV_PIX_FMT_BGRA, VK_FORMAT_B8G8R8A8_UNORM, HS_AV_COPY, 4, 4, true, false},
    {.pixels = AV_PIX_FMT_NONE},
};
static const struct hs_av_format depth_formats[] = {
    {AV_PIX_FMT_GRAYF32, VK_FORMAT_R32_SFLOAT, HS_AV_COPY, 4, 1, true, true},
    {AV_PIX_FMT_GRAY16, VK_FORMAT_R16_UNORM, HS_AV_COPY, 2, 1, true, true},
    {.pixels = AV_PIX_FMT_NONE},
};
// Albedos and normals; a picture of 8 or 16 bits holds values from 0 to 1.
static const struct hs_av_format vector_formats[] = {
    {AV_PIX_FMT_RGBAF16, VK_FORMAT_R16G16B16A16_SFLOAT, HS_AV_COPY, 8, 4, true, true},
    {AV_PIX_FMT_RGBAF32, VK_FORMAT_R32G32B32A32_SFLOAT, HS_AV_COPY, 16, 4, true, true},
    {AV_PIX_FMT_GBRPF32, VK_FORMAT_R32G32B32A32_SFLOAT, HS_AV_PLANAR, 16, 3, false, true},
    {AV_PIX_FMT_GBRAPF32, VK_FORMAT_R32G32B32A32_SFLOAT, HS_AV_PLANAR, 16, 4, false, true},
    {AV_PIX_FMT_RGBA64, VK_FORMAT_R16G16B16A16_UNORM, HS_AV_COPY, 8, 4, true, true},
    {AV_PIX_FMT_RGBA, VK_FORMAT_R8G8B8A8_UNORM, HS_AV_COPY, 4, 4, true, true},
    {.pixels = AV_PIX_FMT_NONE},
};
// There is no format of two float channels: x and y are the R and G of four.
static const struct hs_av_format motion_formats[] = {
    {AV_PIX_FMT_RGBAF16, VK_FORMAT_R16G16B16A16_SFLOAT, HS_AV_COPY, 8, 4, true, true},
    {AV_PIX_FMT_RGBAF32, VK_FORMAT_R32G32B32A32_SFLOAT, HS_AV_COPY, 16, 4, true, true},
    {AV_PIX_FMT_GBRPF32, VK_FORMAT_R32G32_SFLOAT, HS_AV_PLANAR, 8, 2, false, true},
    {AV_PIX_FMT_GBRAPF32, VK_FORMAT_R32G32_SFLOAT, HS_AV_PLANAR, 8, 2, false, true},
    {AV_PIX_FMT_RGBA64, VK_FORMAT_R16G16_UNORM, HS_AV_HALF, 4, 4, false, true},
    {.pixels = AV_PIX_FMT_NONE},
};
static const struct hs_av_format reactive_formats[] = {
    {AV_PIX_FMT_GRAY8, VK_FORMAT_R8_UNORM, HS_AV_COPY, 1, 1, true, true},
    {AV_PIX_FMT_GRAY16, VK_FORMAT_R16_UNORM, HS_AV_COPY, 2, 1, true, true},
    {AV_PIX_FMT_GRAYF32, VK_FORMAT_R32_SFLOAT, HS_AV_COPY, 4, 1, true, true},
    {.pixels = AV_PIX_FMT_NONE},
};

// As colour in floats; the engine uses them as they are.
static const struct hs_av_format aov_formats[] = {
    {AV_PIX_FMT_RGBAF16, VK_FORMAT_R16G16B16A16_SFLOAT, HS_AV_COPY, 8, 4, true, true},
    {AV_PIX_FMT_RGBAF32, VK_FORMAT_R32G32B32A32_SFLOAT, HS_AV_COPY, 16, 4, true, true},
    {AV_PIX_FMT_GBRAPF32, VK_FORMAT_R32G32B32A32_SFLOAT, HS_AV_PLANAR, 16, 4, false, true},
    {AV_PIX_FMT_GBRPF32, VK_FORMAT_R32G32B32A32_SFLOAT, HS_AV_PLANAR, 16, 3, false, true},
    {.pixels = AV_PIX_FMT_NONE},
};

static const struct hs_av_format *table(int plane)
{
    if (plane >= HS_AVFILTER_AOV)
        return aov_formats;
    switch (plane) {
    case HS_AVFILTER_COLOUR:
    case HS_AV_OUTPUT:
        return colour_formats;
    case HS_AVFILTER_DEPTH:
    case HS_AVFILTER_HIT_DISTANCE:
        return depth_formats;
    case HS_AVFILTER_MOTION:
        return motion_formats;
    case HS_AVFILTER_REACTIVE:
    case HS_AVFILTER_ROUGHNESS:
        return reactive_formats;
    case HS_AVFILTER_DIFFUSE_ALBEDO:
    case HS_AVFILTER_SPECULAR_ALBEDO:
    case HS_AVFILTER_NORMAL:
        return vector_formats;
    default:
        return NULL;
    }
}

/** This libavutil makes Vulkan frames of it, with one image. */
static bool mapped(const struct hs_av_format *format)
{
    const VkFormat *images = format->vulkan ? av_vkfmt_from_pixfmt(format->pixels) : NULL;

    return images && images[0] == format->format;
}

const struct hs_av_format *hs_av_format_find(int plane, enum AVPixelFormat pixels, bool vulkan)
{
    for (const struct hs_av_format *row = table(plane); row->pixels != AV_PIX_FMT_NONE; row++) {
        if (row->pixels == pixels)
            return !vulkan || mapped(row) ? row : NULL;
    }
    return NULL;
}

/** Of AOVs there is one. */
#define LISTS (HS_AVFILTER_AOV + 1)
static enum AVPixelFormat lists[LISTS][2][MAX_FORMATS];
static pthread_once_t lists_once = PTHREAD_ONCE_INIT;

static void make_lists(void)
{
    for (int plane = 0; plane < LISTS; plane++) {
        for (int vulkan = 0; vulkan < 2; vulkan++) {
            enum AVPixelFormat *list = lists[plane][vulkan];

            for (const struct hs_av_format *row = table(plane); row->pixels != AV_PIX_FMT_NONE;
                 row++) {
                if (!vulkan || mapped(row))
                    *list++ = row->pixels;
            }
            *list = AV_PIX_FMT_NONE;
        }
    }
}

const enum AVPixelFormat *hs_avfilter_formats(enum hs_avfilter_input input, bool vulkan)
{
    pthread_once(&lists_once, make_lists);
    if ((unsigned)input >= HS_AV_PLANES)
        return NULL;
    return lists[(int)input < LISTS ? (int)input : HS_AVFILTER_AOV][vulkan];
}

#define NAMES_4(before, tens, a, b, c, d) \
    before tens #a, before tens #b, before tens #c, before tens #d
#define NAMES_32(before)                                                                      \
    NAMES_4(before, "", 0, 1, 2, 3), NAMES_4(before, "", 4, 5, 6, 7), before "8", before "9", \
        NAMES_4(before, "1", 0, 1, 2, 3), NAMES_4(before, "1", 4, 5, 6, 7), before "18",      \
        before "19", NAMES_4(before, "2", 0, 1, 2, 3), NAMES_4(before, "2", 4, 5, 6, 7),      \
        before "28", before "29", before "30", before "31"

const char *hs_avfilter_input_name(enum hs_avfilter_input input)
{
    static const char *const names[HS_AV_PLANES] = {
        "colour",         "depth",           "motion",        "reactive",
        "diffuse_albedo", "specular_albedo", "normal",        "roughness",
        "hit_distance",   "output",          NAMES_32("aov"), NAMES_32("output of aov")};

    return (unsigned)input < HS_AV_PLANES ? names[input] : "unknown";
}

void hs_av_format_list(int plane, bool vulkan, char *text, size_t size)
{
    size_t length = 0;

    text[0] = 0;
    for (const struct hs_av_format *row = table(plane); row->pixels != AV_PIX_FMT_NONE; row++) {
        if ((vulkan && !mapped(row)) || length >= size)
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "",
                                   av_get_pix_fmt_name(row->pixels));
    }
}
