// SPDX-License-Identifier: MIT
/**
 * What caps say about one plane, as pixels on the device.
 *
 * Two families: `video/x-raw` (display-referred unless its colorimetry is linear), and
 * `application/x-hindsight-plane`, for which GStreamer has no video format: packed rows of
 * half and 32-bit floats. Both with system memory or memory:VulkanImage.
 */
#ifndef GST_HS_FORMAT_H
#define GST_HS_FORMAT_H

#include "gsthsvulkan.h"
#include "hsio.h"

#define GST_HS_PLANE_CAPS "application/x-hindsight-plane"
#define GST_HS_VULKAN GST_CAPS_FEATURE_MEMORY_VULKAN_IMAGE

struct gst_hs_format {
    enum hsio_plane kind;
    bool vulkan; ///< Vulkan images, else system memory.
    bool video;  ///< video/x-raw, described by `info`; else packed rows.
    bool linear; ///< Scene-linear colour; else display-referred.
    GstVideoInfo info;
    VkFormat format; ///< Of the image that holds the plane.
    int width, height;
    int fps_n, fps_d, par_n, par_d;
};

/** False: not fixed, not of a kind that is known, interlaced, or of another plane than `kind`. */
bool gst_hs_format_parse(struct gst_hs_format *format, const GstCaps *caps, enum hsio_plane kind);

/** Caps of a packed float plane. `features`: NULL for system memory. */
GstCaps *gst_hs_format_caps(enum hsio_plane kind, VkFormat format, bool linear, int width,
                            int height, int fps_n, int fps_d, const char *features);

/** Sides that planes may have; where the engine is to take them they have at least its least. */
#define GST_HS_SIDE_LEAST 1
#define GST_HS_SIDE_LEAST_ENGINE 16
#define GST_HS_SIDE_MOST 16384

/** Caps for pad templates of a plane: both families and both kinds of memory. */
GstCaps *gst_hs_format_template(enum hsio_plane kind, int least_side);
/**
 * Why caps can not be taken as `kind`: what was expected, what was found, what to do. NULL: they
 * can. g_free() it.
 */
char *gst_hs_format_refusal(const GstCaps *caps, enum hsio_plane kind, int least_side);

/** What `filter` leaves of `caps`, in the filter's order; takes `caps` over. NULL: all. */
GstCaps *gst_hs_caps_filter(GstCaps *caps, GstCaps *filter);
/** Answers a query for caps; takes `caps` over. */
void gst_hs_caps_answer(GstQuery *query, GstCaps *caps);
/**
 * Answers a query whether caps are accepted, generously: what differs from the pad's template by
 * no more than sizes and interlacing is refused by the caps event, which can tell the reason.
 */
void gst_hs_caps_answer_accept(GstQuery *query, GstPad *pad);

/** "rgba16f" and so on for a plane format, else NULL. */
const char *gst_hs_format_name(VkFormat format);
/** The 32-bit float format of a plane. */
VkFormat gst_hs_format_float(enum hsio_plane kind);
/** The files' name for a plane format, or HSIO_FORMAT_NATIVE. */
enum hsio_format gst_hs_format_to_file(VkFormat format);
/** Bytes of a pixel of the formats in use here, 0 for others. */
guint gst_hs_format_bytes(VkFormat format);
/** Name of a plane as pads and caps have it. */
const char *gst_hs_plane_name(enum hsio_plane kind);

/**
 * Which fields keep caps that can be made from caps that are asked for, and what to do about it;
 * `size_advice` where it is the size. g_free() it.
 */
char *gst_hs_caps_mismatch(const GstCaps *made, const GstCaps *asked, const char *size_advice);

/**
 * Posts an error of `element` if what is behind its pad `source` does not take `caps`. False: it
 * does, and who refused them has told the reason.
 */
bool gst_hs_caps_post_mismatch(GstElement *element, GstPad *source, const GstCaps *caps,
                               const char *size_advice);

/** True when `a` and `b` describe the same pixels. */
bool gst_hs_format_equal(const struct gst_hs_format *a, const struct gst_hs_format *b);

#endif
