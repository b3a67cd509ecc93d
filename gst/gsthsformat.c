// SPDX-License-Identifier: MIT
#include "gsthsformat.h"

#include <string.h>

#include "hsframe.h"

/** Formats of packed planes by the names that hsio has for them. */
static const enum hsio_format plane_formats[] = {HSIO_FORMAT_R16F,    HSIO_FORMAT_RG16F,
                                                 HSIO_FORMAT_RGBA16F, HSIO_FORMAT_R32F,
                                                 HSIO_FORMAT_RG32F,   HSIO_FORMAT_RGBA32F};

static const struct {
    GstVideoFormat video;
    VkFormat format;
    int channels;
} video_formats[] = {
    {GST_VIDEO_FORMAT_RGBA, VK_FORMAT_R8G8B8A8_UNORM, 4},
    {GST_VIDEO_FORMAT_BGRA, VK_FORMAT_B8G8R8A8_UNORM, 4},
    {GST_VIDEO_FORMAT_RGB10A2_LE, VK_FORMAT_A2B10G10R10_UNORM_PACK32, 4},
    {GST_VIDEO_FORMAT_RGBA64_LE, VK_FORMAT_R16G16B16A16_UNORM, 4},
    {GST_VIDEO_FORMAT_GRAY8, VK_FORMAT_R8_UNORM, 1},
    {GST_VIDEO_FORMAT_GRAY16_LE, VK_FORMAT_R16_UNORM, 1},
};

const char *gst_hs_plane_name(enum hsio_plane kind)
{
    return hsio_plane_name(kind);
}

enum hsio_format gst_hs_format_to_file(VkFormat format)
{
    for (guint i = 0; i < G_N_ELEMENTS(plane_formats); i++) {
        if (hsframe_vk_format(plane_formats[i]) == format)
            return plane_formats[i];
    }
    return HSIO_FORMAT_NATIVE;
}

const char *gst_hs_format_name(VkFormat format)
{
    enum hsio_format file = gst_hs_format_to_file(format);

    return file == HSIO_FORMAT_NATIVE ? NULL : hsio_format_name(file);
}

guint gst_hs_format_bytes(VkFormat format)
{
    switch (format) {
    case VK_FORMAT_R8_UNORM:
        return 1;
    case VK_FORMAT_R16_UNORM:
        return 2;
    case VK_FORMAT_R8G8B8A8_UNORM:
    case VK_FORMAT_B8G8R8A8_UNORM:
    case VK_FORMAT_A2B10G10R10_UNORM_PACK32:
    case VK_FORMAT_R16G16_UNORM:
        return 4;
    case VK_FORMAT_R16G16B16A16_UNORM:
        return 8;
    default:
        return (guint)hsio_format_bytes(gst_hs_format_to_file(format));
    }
}

static bool parse_video(struct gst_hs_format *format, const GstCaps *caps)
{
    int channels = hsio_plane_channels(format->kind);

    if (!gst_video_info_from_caps(&format->info, caps))
        return false;
    format->video = true;
    format->width = format->info.width;
    format->height = format->info.height;
    format->fps_n = format->info.fps_n;
    format->fps_d = format->info.fps_d;
    format->par_n = format->info.par_n;
    format->par_d = format->info.par_d;
    format->linear = format->info.colorimetry.transfer == GST_VIDEO_TRANSFER_GAMMA10;
    for (guint i = 0; i < G_N_ELEMENTS(video_formats); i++) {
        if (video_formats[i].video != format->info.finfo->format)
            continue;
        format->format = video_formats[i].format;
        // Motion comes in the first two of four 16-bit channels; the others are not uploaded.
        if (channels == 2 && format->format == VK_FORMAT_R16G16B16A16_UNORM && !format->vulkan) {
            format->format = VK_FORMAT_R16G16_UNORM;
            return true;
        }
        return video_formats[i].channels == channels;
    }
    return false;
}

bool gst_hs_format_parse(struct gst_hs_format *format, const GstCaps *caps, enum hsio_plane kind)
{
    const GstStructure *structure;
    const GstCapsFeatures *features;
    const char *name, *text;
    int file;

    *format = (struct gst_hs_format){.kind = kind, .par_n = 1, .par_d = 1, .fps_d = 1};
    if (!gst_caps_is_fixed(caps))
        return false;
    structure = gst_caps_get_structure(caps, 0);
    features = gst_caps_get_features(caps, 0);
    format->vulkan = features && gst_caps_features_contains(features, GST_HS_VULKAN);
    if (gst_structure_has_name(structure, "video/x-raw"))
        return parse_video(format, caps);
    name = gst_structure_get_string(structure, "format");
    text = gst_structure_get_string(structure, "kind");
    if (!name || !text || hsio_plane_from_name(text) != (int)kind ||
        !gst_structure_get_int(structure, "width", &format->width) ||
        !gst_structure_get_int(structure, "height", &format->height) || format->width < 1 ||
        format->height < 1)
        return false;
    file = hsio_format_from_name(name);
    if (file <= HSIO_FORMAT_NATIVE ||
        hsio_format_channels((enum hsio_format)file) != hsio_plane_channels(kind))
        return false;
    format->format = hsframe_vk_format((enum hsio_format)file);
    gst_structure_get_fraction(structure, "framerate", &format->fps_n, &format->fps_d);
    text = gst_structure_get_string(structure, "transfer");
    format->linear = !text || strcmp(text, "display") != 0;
    return true;
}

GstCaps *gst_hs_format_caps(enum hsio_plane kind, VkFormat format, bool linear, int width,
                            int height, int fps_n, int fps_d, const char *features)
{
    GstCaps *caps = gst_caps_new_simple(
        GST_HS_PLANE_CAPS, "kind", G_TYPE_STRING, gst_hs_plane_name(kind), "format", G_TYPE_STRING,
        gst_hs_format_name(format), "width", G_TYPE_INT, width, "height", G_TYPE_INT, height,
        "framerate", GST_TYPE_FRACTION, fps_n, fps_d, NULL);

    if (kind == HSIO_PLANE_COLOR)
        gst_caps_set_simple(caps, "transfer", G_TYPE_STRING, linear ? "linear" : "display", NULL);
    if (features)
        gst_caps_set_features_simple(caps, gst_caps_features_new_single(features));
    return caps;
}

GstCaps *gst_hs_format_template(enum hsio_plane kind)
{
    static const char *const plane_sets[] = {
        [1] = "r16f, r32f", [2] = "rg16f, rg32f", [4] = "rgba16f, rgba32f"};
    static const char *const video_sets[] = {
        [1] = "GRAY16_LE, GRAY8", [2] = "RGBA64_LE", [4] = "RGBA, BGRA, RGB10A2_LE, RGBA64_LE"};
    int channels = hsio_plane_channels(kind);
    char *plane =
        g_strdup_printf("kind=%s, format={ %s }, width=[ 1, 16384 ], height=[ 1, 16384 ], "
                        "framerate=[ 0/1, 2147483647/1 ]%s",
                        gst_hs_plane_name(kind), plane_sets[channels],
                        kind == HSIO_PLANE_COLOR ? ", transfer={ linear, display }" : "");
    const char *size = "width=[ 1, 16384 ], height=[ 1, 16384 ], framerate=[ 0/1, 2147483647/1 ]";
    GString *text = g_string_new(NULL);
    GstCaps *caps;

    g_string_append_printf(text, "%s(" GST_HS_VULKAN "), %s; %s, %s", GST_HS_PLANE_CAPS, plane,
                           GST_HS_PLANE_CAPS, plane);
    // What GstVulkan can put into one image: four channels of 8 bits.
    if (channels == 4)
        g_string_append_printf(text, "; video/x-raw(" GST_HS_VULKAN "), format={ RGBA, BGRA }, %s",
                               size);
    g_string_append_printf(text, "; video/x-raw, format={ %s }, %s", video_sets[channels], size);
    caps = gst_caps_from_string(text->str);
    g_string_free(text, TRUE);
    g_free(plane);
    return caps;
}

bool gst_hs_format_equal(const struct gst_hs_format *a, const struct gst_hs_format *b)
{
    return a->kind == b->kind && a->vulkan == b->vulkan && a->video == b->video &&
           a->linear == b->linear && a->format == b->format && a->width == b->width &&
           a->height == b->height && (!a->video || gst_video_info_is_equal(&a->info, &b->info));
}
