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

/** False: not fixed, not of a kind that is known, or of another plane than `kind`. */
bool gst_hs_format_parse(struct gst_hs_format *format, const GstCaps *caps, enum hsio_plane kind);

/** Caps of a packed float plane. `features`: NULL for system memory. */
GstCaps *gst_hs_format_caps(enum hsio_plane kind, VkFormat format, bool linear, int width,
                            int height, int fps_n, int fps_d, const char *features);

/** Text for pad templates of a plane: both families and both kinds of memory. */
GstCaps *gst_hs_format_template(enum hsio_plane kind);
/** "rgba16f" and so on for a plane format, else NULL. */
const char *gst_hs_format_name(VkFormat format);
/** The files' name for a plane format, or HSIO_FORMAT_NATIVE. */
enum hsio_format gst_hs_format_to_file(VkFormat format);
/** Bytes of a pixel of the formats in use here, 0 for others. */
guint gst_hs_format_bytes(VkFormat format);
/** Name of a plane as pads and caps have it. */
const char *gst_hs_plane_name(enum hsio_plane kind);

/** True when `a` and `b` describe the same pixels. */
bool gst_hs_format_equal(const struct gst_hs_format *a, const struct gst_hs_format *b);

#endif
