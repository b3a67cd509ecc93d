// SPDX-License-Identifier: MIT
// Properties of hssequencesrc.
#include "gsthssequencesrc.h"

enum {
    PROP_0,
    PROP_LOCATION,
    PROP_CONVENTION,
    PROP_CONVENTION_CHANGES,
    PROP_LAYER,
    PROP_PLANE_LOCATIONS,
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

static void set_text(char **to, const GValue *value)
{
    g_free(*to);
    *to = g_value_dup_string(value);
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    GstHsSequenceSrc *self = GST_HS_SEQUENCE_SRC(object);
    struct gst_hs_sequence_src_settings *s = &self->settings;

    GST_OBJECT_LOCK(self);
    switch (id) {
    case PROP_LOCATION:
        set_text(&s->location, value);
        break;
    case PROP_CONVENTION:
        set_text(&s->preset, value);
        break;
    case PROP_CONVENTION_CHANGES:
        set_text(&s->changes, value);
        break;
    case PROP_LAYER:
        set_text(&s->layer, value);
        break;
    case PROP_PLANE_LOCATIONS:
        set_text(&s->planes, value);
        break;
    case PROP_START:
        s->start = g_value_get_int64(value);
        break;
    case PROP_STOP:
        s->stop = g_value_get_int64(value);
        break;
    case PROP_STEP:
        s->step = g_value_get_int64(value);
        break;
    case PROP_MISSING:
        s->missing = g_value_get_enum(value);
        break;
    case PROP_FPS:
        s->fps_n = gst_value_get_fraction_numerator(value);
        s->fps_d = gst_value_get_fraction_denominator(value);
        break;
    case PROP_LOOP:
        s->loop = g_value_get_boolean(value);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
        break;
    }
    GST_OBJECT_UNLOCK(self);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    GstHsSequenceSrc *self = GST_HS_SEQUENCE_SRC(object);
    struct gst_hs_sequence_src_settings *s = &self->settings;

    GST_OBJECT_LOCK(self);
    switch (id) {
    case PROP_LOCATION:
        g_value_set_string(value, s->location);
        break;
    case PROP_CONVENTION:
        g_value_set_string(value, s->preset);
        break;
    case PROP_CONVENTION_CHANGES:
        g_value_set_string(value, s->changes);
        break;
    case PROP_LAYER:
        g_value_set_string(value, s->layer);
        break;
    case PROP_PLANE_LOCATIONS:
        g_value_set_string(value, s->planes);
        break;
    case PROP_START:
        g_value_set_int64(value, s->start);
        break;
    case PROP_STOP:
        g_value_set_int64(value, s->stop);
        break;
    case PROP_STEP:
        g_value_set_int64(value, s->step);
        break;
    case PROP_MISSING:
        g_value_set_enum(value, s->missing);
        break;
    case PROP_FPS:
        gst_value_set_fraction(value, s->fps_n, s->fps_d);
        break;
    case PROP_LOOP:
        g_value_set_boolean(value, s->loop);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
        break;
    }
    GST_OBJECT_UNLOCK(self);
}

void gst_hs_sequence_src_class_init_properties(GObjectClass *class)
{
    const GParamFlags fixed = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
    const GParamFlags live = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

    class->set_property = set_property;
    class->get_property = get_property;
#define INSTALL(id, kind, ...) \
    g_object_class_install_property(class, id, g_param_spec_##kind(__VA_ARGS__))
    INSTALL(PROP_LOCATION, string, "location", "Location",
            "File names with a place for the number (shot.%04d.exr, shot.####.exr), a folder, a "
            "frames.json, or a JSON description of raw planes",
            NULL, fixed);
    INSTALL(PROP_CONVENTION, string, "convention", "Convention",
            "What the numbers in the files mean: auto, raw, blender, unreal, unity, godot, fsr, "
            "xess, dlss, nss",
            "auto", fixed);
    INSTALL(PROP_CONVENTION_CHANGES, string, "convention-changes", "Convention changes",
            "Keys of the convention to change, such as \"motion.sign_y=-1,motion.unit=uv\"", "",
            fixed);
    INSTALL(PROP_LAYER, string, "layer", "Layer", "Layer, view or part of the files to use", "",
            fixed);
    INSTALL(PROP_PLANE_LOCATIONS, string, "plane-locations", "Plane locations",
            "Files of planes that are not in the main file, such as "
            "\"depth=z.####.exr,motion=mv.####.exr\"",
            "", fixed);
    INSTALL(PROP_START, int64, "start", "Start", "First frame; the least value: the first there is",
            G_MININT64, G_MAXINT32, GST_HS_NO_FRAME, fixed);
    INSTALL(PROP_STOP, int64, "stop", "Stop", "Last frame; the least value: the last there is",
            G_MININT64, G_MAXINT32, GST_HS_NO_FRAME, fixed);
    INSTALL(PROP_STEP, int64, "step", "Step", "Takes every Nth frame", 1, G_MAXINT32, 1, fixed);
    INSTALL(PROP_MISSING, enum, "missing", "Missing frames",
            "What to do where a number of the range has no file", missing_type(),
            HSIO_MISSING_ERROR, fixed);
    g_object_class_install_property(class, PROP_FPS,
                                    gst_param_spec_fraction("fps", "Frames per second",
                                                            "Rate that the frames are played at", 1,
                                                            G_MAXINT, G_MAXINT, 1, 24, 1, fixed));
    INSTALL(PROP_LOOP, boolean, "loop", "Loop",
            "Begins again after the last frame, with a cut; timestamps go on", FALSE, live);
#undef INSTALL
    gst_type_mark_as_plugin_api(missing_type(), 0);
}
