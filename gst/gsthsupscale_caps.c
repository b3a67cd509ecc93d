// SPDX-License-Identifier: MIT
// Sizes, formats and pools of hsupscale.
#include <math.h>

#include "gsthspool.h"
#include "gsthsupscale.h"

#define GST_CAT_DEFAULT gst_hs_debug

#define OUTPUT_USAGE                                                                             \
    (VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | \
     VK_IMAGE_USAGE_TRANSFER_DST_BIT)
#define SIZE "width=[ 16, 16384 ], height=[ 16, 16384 ], framerate=[ 0/1, 2147483647/1 ]"
#define PLANE "kind=color, format={ rgba16f, rgba32f }, " SIZE ", transfer={ linear, display }"
#define VIDEO_IMAGE "video/x-raw(" GST_HS_VULKAN "), format={ RGBA, BGRA }, " SIZE
#define VIDEO_MEMORY "video/x-raw, format={ RGBA, BGRA, RGBA64_LE, RGB10A2_LE, P010_10LE }, " SIZE

GstCaps *gst_hs_upscale_source_template(void)
{
    return gst_caps_from_string(VIDEO_IMAGE "; " GST_HS_PLANE_CAPS "(" GST_HS_VULKAN "), " PLANE
                                            "; " GST_HS_PLANE_CAPS ", " PLANE "; " VIDEO_MEMORY);
}

void gst_hs_upscale_output_size(GstHsUpscale *self, const struct gst_hs_format *colour, int *width,
                                int *height)
{
    double across, down;

    GST_OBJECT_LOCK(self);
    across = self->settings.width ? (double)self->settings.width / colour->width : 0;
    down = self->settings.height ? (double)self->settings.height / colour->height : 0;
    // A side that is not given follows the other one.
    if (!across)
        across = down ? down : self->settings.scale;
    if (!down)
        down = across;
    GST_OBJECT_UNLOCK(self);
    *width = (int)lround(colour->width * across);
    *height = (int)lround(colour->height * down);
}

/** Fields that all video of one output have in common, with the curves that a format may have. */
static void append_video(GstCaps *caps, const struct gst_hs_format *colour, int width, int height,
                         const char *format, const char *const *colorimetry, const char *features)
{
    GstCaps *one = gst_caps_new_simple(
        "video/x-raw", "format", G_TYPE_STRING, format, "width", G_TYPE_INT, width, "height",
        G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, colour->fps_n, colour->fps_d,
        "pixel-aspect-ratio", GST_TYPE_FRACTION, colour->par_n, colour->par_d, NULL);
    GValue list = G_VALUE_INIT, text = G_VALUE_INIT;

    g_value_init(&list, GST_TYPE_LIST);
    g_value_init(&text, G_TYPE_STRING);
    for (; *colorimetry; colorimetry++) {
        g_value_set_string(&text, *colorimetry);
        gst_value_list_append_value(&list, &text);
    }
    gst_caps_set_value(one, "colorimetry", &list);
    if (g_str_equal(format, "P010_10LE"))
        gst_caps_set_simple(one, "chroma-site", G_TYPE_STRING, "jpeg", NULL);
    if (features)
        gst_caps_set_features_simple(one, gst_caps_features_new_single(features));
    g_value_unset(&text);
    g_value_unset(&list);
    gst_caps_append(caps, one);
}

/**
 * The colorimetry of display-referred colour, as RGB or as the Y'CbCr of limited range that
 * encoders take. NULL: there is no way. g_free() it.
 */
static char *own_colorimetry(const struct gst_hs_format *colour, bool encoder)
{
    GstVideoColorimetry own = {GST_VIDEO_COLOR_RANGE_0_255, GST_VIDEO_COLOR_MATRIX_RGB,
                               GST_VIDEO_TRANSFER_SRGB, GST_VIDEO_COLOR_PRIMARIES_BT709};

    if (colour->video)
        own = colour->info.colorimetry;
    if (!encoder) {
        char *text = gst_video_colorimetry_to_string(&own);

        return text ? text : g_strdup("sRGB");
    }
    if (own.range == GST_VIDEO_COLOR_RANGE_16_235)
        return NULL;
    own.range = GST_VIDEO_COLOR_RANGE_16_235;
    switch (own.primaries) {
    case GST_VIDEO_COLOR_PRIMARIES_BT2020:
        own.matrix = GST_VIDEO_COLOR_MATRIX_BT2020;
        break;
    case GST_VIDEO_COLOR_PRIMARIES_BT470BG:
    case GST_VIDEO_COLOR_PRIMARIES_SMPTE170M:
        own.matrix = GST_VIDEO_COLOR_MATRIX_BT601;
        break;
    default:
        own.matrix = GST_VIDEO_COLOR_MATRIX_BT709;
        break;
    }
    return gst_video_colorimetry_to_string(&own);
}

/** Whether BT.709 can be made of display-referred colour: other curve, same primaries. */
static bool is_srgb(const struct gst_hs_format *colour)
{
    return !colour->video || gst_video_colorimetry_matches(&colour->info.colorimetry, "sRGB");
}

static void append_videos(GstCaps *caps, const struct gst_hs_format *colour, int width, int height,
                          bool image)
{
    static const char *const srgb[] = {"sRGB", NULL};
    static const char *const deep[] = {"sRGB", "bt2100-pq", NULL};
    static const char *const encoder[] = {"bt709", "bt2100-pq", NULL};
    const bool linear = colour->linear;
    char *own = own_colorimetry(colour, false), *coded = own_colorimetry(colour, true);
    const char *const same[] = {own, NULL};
    const char *const same_coded[] = {coded, is_srgb(colour) ? "bt709" : NULL, NULL};

    if (image) {
        append_video(caps, colour, width, height, "RGBA", linear ? srgb : same, GST_HS_VULKAN);
        append_video(caps, colour, width, height, "BGRA", linear ? srgb : same, GST_HS_VULKAN);
    } else {
        append_video(caps, colour, width, height, "RGBA", linear ? srgb : same, NULL);
        append_video(caps, colour, width, height, "BGRA", linear ? srgb : same, NULL);
        append_video(caps, colour, width, height, "RGBA64_LE", linear ? deep : same, NULL);
        append_video(caps, colour, width, height, "RGB10A2_LE", linear ? deep : same, NULL);
        if (linear || coded)
            append_video(caps, colour, width, height, "P010_10LE", linear ? encoder : same_coded,
                         NULL);
    }
    g_free(own);
    g_free(coded);
}

/** All that can come out for this colour, what is best first. */
static GstCaps *possible(GstHsUpscale *self, const struct gst_hs_format *colour)
{
    GstCaps *caps = gst_caps_new_empty();
    const bool deep = colour->format == VK_FORMAT_R32G32B32A32_SFLOAT ||
                      colour->format == VK_FORMAT_R16G16B16A16_UNORM;
    const VkFormat own = deep ? VK_FORMAT_R32G32B32A32_SFLOAT : VK_FORMAT_R16G16B16A16_SFLOAT;
    const VkFormat other = deep ? VK_FORMAT_R16G16B16A16_SFLOAT : VK_FORMAT_R32G32B32A32_SFLOAT;
    int width, height;

    gst_hs_upscale_output_size(self, colour, &width, &height);
    if (colour->video)
        append_videos(caps, colour, width, height, true);
    for (int i = 0; i < 4; i++)
        gst_caps_append(caps, gst_hs_format_caps(HSIO_PLANE_COLOR, i & 1 ? other : own,
                                                 colour->linear, width, height, colour->fps_n,
                                                 colour->fps_d, i < 2 ? GST_HS_VULKAN : NULL));
    if (!colour->video)
        append_videos(caps, colour, width, height, true);
    append_videos(caps, colour, width, height, false);
    return caps;
}

static bool check_size(GstHsUpscale *self, const struct gst_hs_format *colour)
{
    const double ratio = (double)self->engine.info.max_ratio;
    int width, height;

    gst_hs_upscale_output_size(self, colour, &width, &height);
    if (width >= colour->width && height >= colour->height &&
        width <= ratio * (colour->width + 1) && height <= ratio * (colour->height + 1) &&
        width <= GST_HS_SIDE_MOST && height <= GST_HS_SIDE_MOST)
        return true;
    GST_ELEMENT_ERROR(
        self, STREAM, FORMAT,
        ("Expected an output of %dx%d to %dx%d for an input of %dx%d (a ratio of 1 to %g, at most "
         "%d a side), found %dx%d: set scale, or output-width and output-height.",
         colour->width, colour->height, MIN((int)(ratio * colour->width), GST_HS_SIDE_MOST),
         MIN((int)(ratio * colour->height), GST_HS_SIDE_MOST), colour->width, colour->height, ratio,
         GST_HS_SIDE_MOST, width, height),
        (NULL));
    return false;
}

static GstFlowReturn update_src_caps(GstAggregator *agg, GstCaps *allowed, GstCaps **caps)
{
    GstHsUpscale *self = GST_HS_UPSCALE(agg);
    const struct gst_hs_format *colour = gst_hs_aggregator_colour(GST_HS_AGGREGATOR(agg));
    GstCaps *own;

    if (!colour)
        return GST_AGGREGATOR_FLOW_NEED_DATA;
    if (!check_size(self, colour))
        return GST_FLOW_NOT_NEGOTIATED;
    own = possible(self, colour);
    *caps = gst_caps_intersect_full(own, allowed, GST_CAPS_INTERSECT_FIRST);
    if (!gst_caps_is_empty(*caps)) {
        gst_caps_unref(own);
        return GST_FLOW_OK;
    }
    gst_hs_caps_post_mismatch(GST_ELEMENT(self), agg->srcpad, own,
                              "set scale, or output-width and output-height");
    gst_caps_unref(own);
    return GST_FLOW_NOT_NEGOTIATED;
}

static GstCaps *fixate_src_caps(GstAggregator *agg, GstCaps *caps)
{
    (void)agg;
    return gst_caps_fixate(gst_caps_truncate(caps));
}

static gboolean negotiated_src_caps(GstAggregator *agg, GstCaps *caps)
{
    GstHsUpscale *self = GST_HS_UPSCALE(agg);
    const struct gst_hs_format *colour = gst_hs_aggregator_colour(GST_HS_AGGREGATOR(agg));
    struct hs_stream_params params = {0};
    struct gst_hs_target target;
    bool fixed_size;
    int err;

    // P010 and others that are not for planes are known to the encoder only.
    if (!gst_hs_format_parse(&self->out, caps, HSIO_PLANE_COLOR) && !self->out.video)
        return FALSE;
    if (!gst_hs_target_plan(&target, colour, &self->out))
        return FALSE;
    GST_OBJECT_LOCK(self);
    fixed_size = self->settings.width && self->settings.height;
    GST_OBJECT_UNLOCK(self);
    params.out_width = (uint32_t)self->out.width;
    params.out_height = (uint32_t)self->out.height;
    // With a fixed output the render size may change at any time, up to the output's.
    params.max_render_width = fixed_size ? params.out_width : (uint32_t)colour->width;
    params.max_render_height = fixed_size ? params.out_height : (uint32_t)colour->height;
    params.flags = colour->linear ? 0 : HS_STREAM_LDR;
    err = gst_hs_engine_configure(&self->engine, &params, &target);
    if (err < 0) {
        gst_hs_log_post(&self->log, GST_ELEMENT(self), err, "The stream can not be set up");
        return FALSE;
    }
    GST_INFO_OBJECT(self, "%dx%d to %" GST_PTR_FORMAT, colour->width, colour->height, (void *)caps);
    return TRUE;
}

/** Always a pool of our own for images: another one may lack the usage, or be another device's. */
static gboolean decide_allocation(GstAggregator *agg, GstQuery *query)
{
    GstHsUpscale *self = GST_HS_UPSCALE(agg);
    struct gst_hs_device *share = gst_hs_aggregator_device(GST_HS_AGGREGATOR(agg));
    GstStructure *config;
    GstCaps *caps;

    gst_query_parse_allocation(query, &caps, NULL);
    gst_hs_pool_clear(&self->pool);
    if (!self->out.vulkan) {
        self->pool = self->out.video ? gst_video_buffer_pool_new() : gst_buffer_pool_new();
        config = gst_buffer_pool_get_config(self->pool);
        gst_buffer_pool_config_set_params(
            config, caps,
            self->out.video ? (guint)self->out.info.size : (guint)self->engine.target.bytes, 0, 0);
        if (gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL))
            gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
        return gst_buffer_pool_set_config(self->pool, config) &&
               gst_buffer_pool_set_active(self->pool, TRUE);
    }
    self->pool = self->out.video
                     ? gst_hs_pool_new_video(share->device, caps, OUTPUT_USAGE, true)
                     : gst_hs_pool_new(share->device, self->out.format, (guint)self->out.width,
                                       (guint)self->out.height, OUTPUT_USAGE, caps);
    return self->pool != NULL;
}

void gst_hs_upscale_class_init_caps(GstAggregatorClass *class)
{
    class->update_src_caps = update_src_caps;
    class->fixate_src_caps = fixate_src_caps;
    class->negotiated_src_caps = negotiated_src_caps;
    class->decide_allocation = decide_allocation;
}
