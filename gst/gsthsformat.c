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

VkFormat gst_hs_format_float(enum hsio_plane kind)
{
    static const VkFormat formats[] = {[1] = VK_FORMAT_R32_SFLOAT,
                                       [2] = VK_FORMAT_R32G32_SFLOAT,
                                       [4] = VK_FORMAT_R32G32B32A32_SFLOAT};

    return formats[hsio_plane_channels(kind)];
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

    if (!gst_video_info_from_caps(&format->info, caps) ||
        GST_VIDEO_INFO_IS_INTERLACED(&format->info))
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

static const char *const plane_sets[] = {
    [1] = "r16f, r32f", [2] = "rg16f, rg32f", [4] = "rgba16f, rgba32f"};
static const char *const video_sets[] = {
    [1] = "GRAY16_LE, GRAY8", [2] = "RGBA64_LE", [4] = "RGBA, BGRA, RGB10A2_LE, RGBA64_LE"};

GstCaps *gst_hs_format_template(enum hsio_plane kind, int least_side)
{
    const int channels = hsio_plane_channels(kind);
    char *size =
        g_strdup_printf("width=[ %d, %d ], height=[ %d, %d ], framerate=[ 0/1, 2147483647/1 ]",
                        least_side, GST_HS_SIDE_MOST, least_side, GST_HS_SIDE_MOST);
    char *plane = g_strdup_printf("kind=%s, format={ %s }, %s%s", gst_hs_plane_name(kind),
                                  plane_sets[channels], size,
                                  kind == HSIO_PLANE_COLOR ? ", transfer={ linear, display }" : "");
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
    g_free(size);
    return caps;
}

char *gst_hs_format_refusal(const GstCaps *caps, enum hsio_plane kind, int least_side)
{
    const int channels = hsio_plane_channels(kind);
    const GstStructure *structure = gst_caps_get_structure(caps, 0);
    const char *mode = gst_structure_get_string(structure, "interlace-mode");
    struct gst_hs_format format;
    int width = 0, height = 0;

    gst_structure_get_int(structure, "width", &width);
    gst_structure_get_int(structure, "height", &height);
    if (mode && strcmp(mode, "progressive") != 0)
        return g_strdup_printf("expected progressive frames, found interlace-mode=%s: put "
                               "deinterlace in front",
                               mode);
    if (width < least_side || height < least_side || width > GST_HS_SIDE_MOST ||
        height > GST_HS_SIDE_MOST)
        return g_strdup_printf("expected sizes of %dx%d to %dx%d, found %dx%d: render larger, or "
                               "put videoscale or videocrop in front",
                               least_side, least_side, GST_HS_SIDE_MOST, GST_HS_SIDE_MOST, width,
                               height);
    if (gst_hs_format_parse(&format, caps, kind))
        return NULL;
    return gst_info_strdup_printf(
        "expected %s, kind=%s, format={ %s } or video/x-raw, format={ %s }, "
        "found %" GST_PTR_FORMAT ": link the pad of that plane, or put videoconvert in front",
        GST_HS_PLANE_CAPS, gst_hs_plane_name(kind), plane_sets[channels], video_sets[channels],
        (const void *)caps);
}

GstCaps *gst_hs_caps_filter(GstCaps *caps, GstCaps *filter)
{
    GstCaps *narrowed;

    if (!filter)
        return caps;
    narrowed = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(caps);
    return narrowed;
}

void gst_hs_caps_answer(GstQuery *query, GstCaps *caps)
{
    GstCaps *filter;

    gst_query_parse_caps(query, &filter);
    caps = gst_hs_caps_filter(caps, filter);
    gst_query_set_caps_result(query, caps);
    gst_caps_unref(caps);
}

void gst_hs_caps_answer_accept(GstQuery *query, GstPad *pad)
{
    GstCaps *template = gst_pad_get_pad_template_caps(pad), *caps;

    gst_query_parse_accept_caps(query, &caps);
    caps = gst_caps_copy(caps);
    for (guint i = 0; i < gst_caps_get_size(caps); i++)
        gst_structure_remove_fields(gst_caps_get_structure(caps, i), "width", "height",
                                    "interlace-mode", NULL);
    gst_query_set_accept_caps_result(query, gst_caps_can_intersect(caps, template));
    gst_caps_unref(caps);
    gst_caps_unref(template);
}

/** Adds "width=96, height=64" once. */
static void list_fields(GString *list, const GstCaps *caps, const char *const fields[2])
{
    const GstStructure *structure = gst_caps_get_structure(caps, 0);
    GString *text = g_string_new(NULL);

    for (int i = 0; i < 2; i++) {
        const GValue *value = fields[i] ? gst_structure_get_value(structure, fields[i]) : NULL;
        char *word = value ? gst_value_serialize(value) : NULL;

        if (word)
            g_string_append_printf(text, "%s%s=%s", text->len ? ", " : "", fields[i], word);
        g_free(word);
    }
    if (!strstr(list->str, text->str))
        g_string_append_printf(list, "%s%s", list->len ? " or " : "", text->str);
    g_string_free(text, TRUE);
}

/** Lists what both sides say where nothing else than `fields` keeps them apart. */
static bool list_misses(const GstCaps *made, const GstCaps *asked, const char *const fields[2],
                        GString *has, GString *wants)
{
    for (guint i = 0; i < gst_caps_get_size(made); i++) {
        GstCaps *whole = gst_caps_copy_nth(made, i), *bare = gst_caps_copy(whole);

        gst_structure_remove_fields(gst_caps_get_structure(bare, 0), fields[0], fields[1], NULL);
        for (guint k = 0; k < gst_caps_get_size(asked); k++) {
            GstCaps *one = gst_caps_copy_nth(asked, k);

            if (gst_caps_can_intersect(bare, one)) {
                list_fields(has, whole, fields);
                list_fields(wants, one, fields);
            }
            gst_caps_unref(one);
        }
        gst_caps_unref(bare);
        gst_caps_unref(whole);
    }
    return has->len;
}

char *gst_hs_caps_mismatch(const GstCaps *made, const GstCaps *asked, const char *size_advice)
{
    const struct {
        const char *fields[2], *advice;
    } misses[] = {
        {{"width", "height"}, size_advice},
        {{"framerate", NULL}, "set the rate at the source, or put videorate in front"},
        {{"pixel-aspect-ratio", NULL}, "put videoscale behind it"},
        {{"colorimetry", "chroma-site"}, "ask for one that it makes, and put videoconvert behind"},
        {{"transfer", NULL}, "ask for the transfer of the input"},
        {{"format", NULL}, "ask for one that it makes, and put videoconvert behind"},
    };
    char *text = NULL;

    for (guint i = 0; i < G_N_ELEMENTS(misses) && !text; i++) {
        GString *has = g_string_new(NULL), *wants = g_string_new(NULL);

        if (list_misses(made, asked, misses[i].fields, has, wants))
            text = g_strdup_printf("it makes %s, and %s is asked for: %s", has->str, wants->str,
                                   misses[i].advice);
        g_string_free(has, TRUE);
        g_string_free(wants, TRUE);
    }
    return text ? text
                : gst_info_strdup_printf("%" GST_PTR_FORMAT
                                         " is asked for, which it can not make; see "
                                         "its src pad in gst-inspect-1.0, and put videoconvert "
                                         "behind it",
                                         (const void *)asked);
}

bool gst_hs_caps_post_mismatch(GstElement *element, GstPad *source, const GstCaps *caps,
                               const char *size_advice)
{
    GstCaps *peer = gst_pad_peer_query_caps(source, NULL);
    const bool taken = gst_caps_can_intersect(caps, peer);
    char *why;

    if (!taken) {
        why = gst_hs_caps_mismatch(caps, peer, size_advice);
        GST_ELEMENT_ERROR(
            element, STREAM, FORMAT,
            ("What is behind %s does not take what it makes: %s.", GST_ELEMENT_NAME(element), why),
            (NULL));
        g_free(why);
    }
    gst_caps_unref(peer);
    return !taken;
}

bool gst_hs_format_equal(const struct gst_hs_format *a, const struct gst_hs_format *b)
{
    return a->kind == b->kind && a->vulkan == b->vulkan && a->video == b->video &&
           a->linear == b->linear && a->format == b->format && a->width == b->width &&
           a->height == b->height && (!a->video || gst_video_info_is_equal(&a->info, &b->info));
}
