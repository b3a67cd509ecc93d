// SPDX-License-Identifier: MIT
#ifndef GST_HS_SEQUENCE_SINK_H
#define GST_HS_SEQUENCE_SINK_H

#include <gst/base/gstbasesink.h>

#include "gsthsformat.h"
#include "gsthsgpu.h"

G_BEGIN_DECLS

#define GST_TYPE_HS_SEQUENCE_SINK (gst_hs_sequence_sink_get_type())
G_DECLARE_FINAL_TYPE(GstHsSequenceSink, gst_hs_sequence_sink, GST, HS_SEQUENCE_SINK, GstBaseSink)

enum gst_hs_sink_depth {
    GST_HS_SINK_DEPTH_AUTO,
    GST_HS_SINK_DEPTH_HALF,
    GST_HS_SINK_DEPTH_FLOAT,
};

/** Or an enum hsio_curve. */
#define GST_HS_SINK_CURVE_AUTO -1

struct gst_hs_sequence_sink_settings {
    char *location;
    gint64 start_number;
    int depth, curve, png_bits;
    bool alpha, planes, overwrite;
};

/** What location makes of the frames. */
enum gst_hs_sink_kind {
    GST_HS_SINK_UNKNOWN, ///< No file that there is a writer for.
    GST_HS_SINK_EXR,
    GST_HS_SINK_PNG,
    GST_HS_SINK_RAW,
};

struct _GstHsSequenceSink {
    GstBaseSink parent;
    struct gst_hs_log log;
    struct gst_hs_device share;
    struct gst_hs_readback readback;
    struct gst_hs_sequence_sink_settings settings; ///< Under the object lock.
    // While started:
    struct hsio_pattern pattern;
    enum gst_hs_sink_kind kind;
    struct gst_hs_format format;
    guint64 written;
    bool refused; ///< Caps, and an error was posted.
};

/** The kind of files by the end of a name; the format of raw ones. */
enum gst_hs_sink_kind gst_hs_sink_kind_of(const char *location, enum hsio_format *raw);
/** gsthssequencesink_properties.c */
void gst_hs_sequence_sink_class_init_properties(GObjectClass *class);

G_END_DECLS

#endif
