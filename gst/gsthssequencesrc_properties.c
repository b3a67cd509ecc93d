// SPDX-License-Identifier: MIT
// Properties of hssequencesrc.
#include "gsthssequencesrc.h"

#include "gsthssettings.h"

enum {
    PROP_0,
    PROP_LOCATION,
    PROP_CONVENTION,
    PROP_CONVENTION_CHANGES,
    PROP_LAYER,
    PROP_PLANE_LOCATIONS,
    PROP_AOVS,
    PROP_START,
    PROP_STOP,
    PROP_STEP,
    PROP_MISSING,
    PROP_FPS,
    PROP_LOOP,
};

static GType missing_type(void)
{
    static gsize type;
    static const GEnumValue values[] = {
        {HSIO_MISSING_ERROR, "Opening fails and names the frame", "error"},
        {HSIO_MISSING_SKIP, "The frame is left out; history begins anew", "skip"},
        {HSIO_MISSING_HOLD, "The frame before it is given again", "hold"},
        {0, NULL, NULL},
    };

    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("GstHsSequenceSrcMissing", values));
    return type;
}

/** Where the properties are in the settings. */
static const gsize fields[] = {
    [PROP_LOCATION] = offsetof(struct gst_hs_sequence_src_settings, location),
    [PROP_CONVENTION] = offsetof(struct gst_hs_sequence_src_settings, preset),
    [PROP_CONVENTION_CHANGES] = offsetof(struct gst_hs_sequence_src_settings, changes),
    [PROP_LAYER] = offsetof(struct gst_hs_sequence_src_settings, layer),
    [PROP_PLANE_LOCATIONS] = offsetof(struct gst_hs_sequence_src_settings, planes),
    [PROP_AOVS] = offsetof(struct gst_hs_sequence_src_settings, aovs),
    [PROP_START] = offsetof(struct gst_hs_sequence_src_settings, start),
    [PROP_STOP] = offsetof(struct gst_hs_sequence_src_settings, stop),
    [PROP_STEP] = offsetof(struct gst_hs_sequence_src_settings, step),
    [PROP_MISSING] = offsetof(struct gst_hs_sequence_src_settings, missing),
    [PROP_FPS] = offsetof(struct gst_hs_sequence_src_settings, rate),
    [PROP_LOOP] = offsetof(struct gst_hs_sequence_src_settings, loop),
};

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    GstHsSequenceSrc *self = GST_HS_SEQUENCE_SRC(object);

    (void)spec;
    GST_OBJECT_LOCK(self);
    gst_hs_settings_set(&self->settings, fields[id], value);
    GST_OBJECT_UNLOCK(self);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    GstHsSequenceSrc *self = GST_HS_SEQUENCE_SRC(object);

    (void)spec;
    GST_OBJECT_LOCK(self);
    gst_hs_settings_get(&self->settings, fields[id], value);
    GST_OBJECT_UNLOCK(self);
}

void gst_hs_sequence_src_class_init_properties(GObjectClass *class)
{
    const GParamFlags fixed = GST_HS_PROPERTY_FIXED;
    const GParamFlags live = GST_HS_PROPERTY_LIVE;

    class->set_property = set_property;
    class->get_property = get_property;
    GST_HS_INSTALL(
        class, PROP_LOCATION, string, "location", "Location",
        "File names with a place for the number (shot.%04d.exr, shot.####.exr), a folder, a "
        "frames.json, or a JSON description of raw planes",
        NULL, fixed);
    GST_HS_INSTALL(
        class, PROP_CONVENTION, string, "convention", "Convention",
        "What the numbers in the files mean: auto, raw, blender, unreal, unity, godot, fsr, "
        "xess, dlss, nss",
        "auto", fixed);
    GST_HS_INSTALL(
        class, PROP_CONVENTION_CHANGES, string, "convention-changes", "Convention changes",
        "Keys of the convention to change, such as \"motion.sign_y=-1,motion.unit=uv\"", "", fixed);
    GST_HS_INSTALL(class, PROP_LAYER, string, "layer", "Layer",
                   "Layer, view or part of the files to use", "", fixed);
    GST_HS_INSTALL(class, PROP_PLANE_LOCATIONS, string, "plane-locations", "Plane locations",
                   "Files of planes that are not in the main file, such as "
                   "\"depth=z.####.exr,motion=mv.####.exr\"",
                   "", fixed);
    GST_HS_INSTALL(class, PROP_AOVS, string, "aovs", "AOVs",
                   "Further layers of the EXR that hsupscale upscales beside the colour, such as "
                   "\"DiffDir,Normal=data\"; =light (a part of the colour), =data or =nearest "
                   "(ids, which hssequencesink carries over), else by name and type",
                   "", fixed);
    GST_HS_INSTALL(class, PROP_START, int64, "start", "Start",
                   "First frame; the least value: the first there is", G_MININT64, G_MAXINT32,
                   GST_HS_NO_FRAME, fixed);
    GST_HS_INSTALL(class, PROP_STOP, int64, "stop", "Stop",
                   "Last frame; the least value: the last there is", G_MININT64, G_MAXINT32,
                   GST_HS_NO_FRAME, fixed);
    GST_HS_INSTALL(class, PROP_STEP, int64, "step", "Step", "Takes every Nth frame", 1, G_MAXINT32,
                   1, fixed);
    GST_HS_INSTALL(class, PROP_MISSING, enum, "missing", "Missing frames",
                   "What to do where a number of the range has no file", missing_type(),
                   HSIO_MISSING_ERROR, fixed);
    g_object_class_install_property(class, PROP_FPS,
                                    gst_param_spec_fraction("fps", "Frames per second",
                                                            "Rate that the frames are played at", 1,
                                                            G_MAXINT, G_MAXINT, 1, 24, 1, fixed));
    GST_HS_INSTALL(class, PROP_LOOP, boolean, "loop", "Loop",
                   "Begins again after the last frame, with a cut; timestamps go on", FALSE, live);
    gst_type_mark_as_plugin_api(missing_type(), 0);
}
