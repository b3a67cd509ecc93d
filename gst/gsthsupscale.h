// SPDX-License-Identifier: MIT
#ifndef GST_HS_UPSCALE_H
#define GST_HS_UPSCALE_H

#include "gsthsaggregator.h"
#include "gsthsengine.h"

G_BEGIN_DECLS

#define GST_TYPE_HS_UPSCALE (gst_hs_upscale_get_type())
G_DECLARE_FINAL_TYPE(GstHsUpscale, gst_hs_upscale, GST, HS_UPSCALE, GstHsAggregator)

enum gst_hs_missing {
    GST_HS_MISSING_IGNORE,
    GST_HS_MISSING_ERROR,
};

/** What the properties say. */
struct gst_hs_upscale_settings {
    char *model;
    int path; ///< enum hs_path
    double scale;
    guint width, height; ///< 0: by scale.
    char *preset, *changes;
    struct gst_hs_look look;
    char *grade; ///< As hslook_parse() takes it.
    bool auto_exposure;
    float exposure, sharpness, firefly_clamp;
    bool reset; ///< The next frame is a cut.
    int missing;
    bool qos;
};

struct gst_hs_upscale_stats {
    guint64 frames, resets, dropped, missing;
};

struct _GstHsUpscale {
    GstHsAggregator parent;
    struct gst_hs_log log;
    struct gst_hs_engine engine;
    struct hsio_convention convention; ///< Of frames without one of their own.
    struct gst_hs_format out;          ///< As negotiated.
    GstBufferPool *pool;
    guint warned; ///< Planes that were missing before, one bit each.
    // Under the object lock:
    struct gst_hs_upscale_settings settings;
    struct gst_hs_upscale_stats stats;
    GstClockTime earliest; ///< From QoS events: what is due before it would come too late.
};

/** gsthsupscale_caps.c: sizes, formats and pools. */
GstCaps *gst_hs_upscale_source_template(void);
void gst_hs_upscale_output_size(GstHsUpscale *self, const struct gst_hs_format *colour, int *width,
                                int *height);
void gst_hs_upscale_class_init_caps(GstAggregatorClass *class);
/** gsthsupscale_properties.c */
void gst_hs_upscale_class_init_properties(GObjectClass *class);

G_END_DECLS

#endif
