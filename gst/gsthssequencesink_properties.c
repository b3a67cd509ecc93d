// SPDX-License-Identifier: MIT
// Properties of hssequencesink.
#include "gsthssequencesink.h"

#include "gsthssettings.h"

enum {
    PROP_0,
    PROP_LOCATION,
    PROP_START_NUMBER,
    PROP_DEPTH,
    PROP_CURVE,
    PROP_PNG_BITS,
    PROP_ALPHA,
    PROP_PLANES,
    PROP_OVERWRITE,
};

static GType depth_type(void)
{
    static gsize type;
    static const GEnumValue values[] = {
        {GST_HS_SINK_DEPTH_AUTO, "As the buffers are", "auto"},
        {GST_HS_SINK_DEPTH_HALF, "16-bit float", "half"},
        {GST_HS_SINK_DEPTH_FLOAT, "32-bit float", "float"},
        {0, NULL, NULL},
    };

    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("GstHsSequenceSinkDepth", values));
    return type;
}

static GType curve_type(void)
{
    static gsize type;
    static const GEnumValue values[] = {
        {GST_HS_SINK_CURVE_AUTO, "srgb for linear colour, none for display-referred", "auto"},
        {HSIO_CURVE_NONE, "Values as they are, cut to 0..1", "none"},
        {HSIO_CURVE_SRGB, "Linear to sRGB", "srgb"},
        {HSIO_CURVE_METRIC, "(x / (1 + x)) ^ (1 / 2.2)", "metric"},
        {0, NULL, NULL},
    };

    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("GstHsSequenceSinkCurve", values));
    return type;
}

static GType png_bits_type(void)
{
    static gsize type;
    static const GEnumValue values[] = {
        {8, "8 bits a channel", "8"},
        {16, "16 bits a channel", "16"},
        {0, NULL, NULL},
    };

    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("GstHsSequenceSinkPngBits", values));
    return type;
}

/** Where the properties are in the settings. */
static const gsize fields[] = {
    [PROP_LOCATION] = offsetof(struct gst_hs_sequence_sink_settings, location),
    [PROP_START_NUMBER] = offsetof(struct gst_hs_sequence_sink_settings, start_number),
    [PROP_DEPTH] = offsetof(struct gst_hs_sequence_sink_settings, depth),
    [PROP_CURVE] = offsetof(struct gst_hs_sequence_sink_settings, curve),
    [PROP_PNG_BITS] = offsetof(struct gst_hs_sequence_sink_settings, png_bits),
    [PROP_ALPHA] = offsetof(struct gst_hs_sequence_sink_settings, alpha),
    [PROP_PLANES] = offsetof(struct gst_hs_sequence_sink_settings, planes),
    [PROP_OVERWRITE] = offsetof(struct gst_hs_sequence_sink_settings, overwrite),
};

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(object);

    (void)spec;
    GST_OBJECT_LOCK(self);
    gst_hs_settings_set(&self->settings, fields[id], value);
    GST_OBJECT_UNLOCK(self);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(object);

    (void)spec;
    GST_OBJECT_LOCK(self);
    gst_hs_settings_get(&self->settings, fields[id], value);
    GST_OBJECT_UNLOCK(self);
}

void gst_hs_sequence_sink_class_init_properties(GObjectClass *class)
{
    const GParamFlags fixed = GST_HS_PROPERTY_FIXED;

    class->set_property = set_property;
    class->get_property = get_property;
    GST_HS_INSTALL(
        class, PROP_LOCATION, string, "location", "Location",
        "File names with a place for the number, such as out.%04d.exr or out.####.png; the end "
        "tells the kind: .exr, .png, or the name of a raw format such as .rgba16f",
        NULL, fixed);
    GST_HS_INSTALL(class, PROP_START_NUMBER, int64, "start-number", "Start number",
                   "Number of the first frame if the frames have none of their own", G_MININT32,
                   G_MAXINT32, 0, fixed);
    GST_HS_INSTALL(class, PROP_DEPTH, enum, "depth", "Depth",
                   "Storage in EXR of what the buffers hold", depth_type(), GST_HS_SINK_DEPTH_AUTO,
                   fixed);
    GST_HS_INSTALL(class, PROP_CURVE, enum, "curve", "Curve", "From floats to PNG codes",
                   curve_type(), GST_HS_SINK_CURVE_AUTO, fixed);
    GST_HS_INSTALL(class, PROP_PNG_BITS, enum, "png-bits", "PNG bits", "Bits of a PNG channel",
                   png_bits_type(), 8, fixed);
    GST_HS_INSTALL(class, PROP_ALPHA, boolean, "alpha", "Alpha",
                   "Write the alpha channel into PNG even where the source files have none", FALSE,
                   fixed);
    GST_HS_INSTALL(class, PROP_PLANES, boolean, "planes", "Planes",
                   "Write the planes that travel with the colour into the same EXR, without "
                   "jitter, cameras, exposure and cuts",
                   FALSE, fixed);
    GST_HS_INSTALL(
        class, PROP_OVERWRITE, boolean, "overwrite", "Overwrite",
        "Replace files that are there already; otherwise they are an error. The files that a "
        "frame was read from are never replaced",
        TRUE, fixed);
    gst_type_mark_as_plugin_api(depth_type(), 0);
    gst_type_mark_as_plugin_api(curve_type(), 0);
    gst_type_mark_as_plugin_api(png_bits_type(), 0);
}
