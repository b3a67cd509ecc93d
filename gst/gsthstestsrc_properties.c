// SPDX-License-Identifier: MIT
// Properties of hstestsrc.
#include "gsthstestsrc.h"

enum {
    PROP_0,
    PROP_PATTERN,
    PROP_SEED,
    PROP_WIDTH,
    PROP_HEIGHT,
    PROP_FPS,
    PROP_CLIP_FRAMES,
    PROP_MODE,
    PROP_SPP,
    PROP_JITTER,
    PROP_STILL,
    PROP_SPEED,
    PROP_PLANES,
    PROP_IS_LIVE,
};

static GType mode_type(void)
{
    static gsize type;
    static const GEnumValue values[] = {
        {HS_SCENES_DIRECT, "One point sample a pixel, free of noise, like a game", "direct"},
        {HS_SCENES_PATH, "Path tracing", "path"},
        {0, NULL, NULL},
    };

    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("GstHsTestSrcMode", values));
    return type;
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    GstHsTestSrc *self = GST_HS_TEST_SRC(object);
    struct gst_hs_test_src_settings *s = &self->settings;

    GST_OBJECT_LOCK(self);
    switch (id) {
    case PROP_PATTERN:
        g_free(s->pattern);
        s->pattern = g_value_dup_string(value);
        break;
    case PROP_SEED:
        s->seed = g_value_get_uint64(value);
        break;
    case PROP_WIDTH:
        s->width = g_value_get_uint(value);
        break;
    case PROP_HEIGHT:
        s->height = g_value_get_uint(value);
        break;
    case PROP_FPS:
        s->fps_n = gst_value_get_fraction_numerator(value);
        s->fps_d = gst_value_get_fraction_denominator(value);
        break;
    case PROP_CLIP_FRAMES:
        s->clip_frames = g_value_get_uint(value);
        break;
    case PROP_MODE:
        s->mode = g_value_get_enum(value);
        break;
    case PROP_SPP:
        s->spp = g_value_get_uint(value);
        break;
    case PROP_JITTER:
        s->jitter = g_value_get_boolean(value);
        break;
    case PROP_STILL:
        s->still = g_value_get_boolean(value);
        break;
    case PROP_SPEED:
        s->speed = g_value_get_double(value);
        break;
    case PROP_PLANES:
        s->planes = g_value_get_boolean(value);
        break;
    case PROP_IS_LIVE:
        s->live = g_value_get_boolean(value);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
        break;
    }
    GST_OBJECT_UNLOCK(self);
    if (id == PROP_IS_LIVE)
        gst_base_src_set_live(GST_BASE_SRC(self), g_value_get_boolean(value));
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    GstHsTestSrc *self = GST_HS_TEST_SRC(object);
    struct gst_hs_test_src_settings *s = &self->settings;

    GST_OBJECT_LOCK(self);
    switch (id) {
    case PROP_PATTERN:
        g_value_set_string(value, s->pattern);
        break;
    case PROP_SEED:
        g_value_set_uint64(value, s->seed);
        break;
    case PROP_WIDTH:
        g_value_set_uint(value, s->width);
        break;
    case PROP_HEIGHT:
        g_value_set_uint(value, s->height);
        break;
    case PROP_FPS:
        gst_value_set_fraction(value, s->fps_n, s->fps_d);
        break;
    case PROP_CLIP_FRAMES:
        g_value_set_uint(value, s->clip_frames);
        break;
    case PROP_MODE:
        g_value_set_enum(value, s->mode);
        break;
    case PROP_SPP:
        g_value_set_uint(value, s->spp);
        break;
    case PROP_JITTER:
        g_value_set_boolean(value, s->jitter);
        break;
    case PROP_STILL:
        g_value_set_boolean(value, s->still);
        break;
    case PROP_SPEED:
        g_value_set_double(value, s->speed);
        break;
    case PROP_PLANES:
        g_value_set_boolean(value, s->planes);
        break;
    case PROP_IS_LIVE:
        g_value_set_boolean(value, s->live);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
        break;
    }
    GST_OBJECT_UNLOCK(self);
}

/** All patterns by name, for the property's text. */
static const char *pattern_text(void)
{
    GString *text = g_string_new("Scene to render: random (drawn from seed)");
    const char *interned;

    for (uint32_t i = 0; hs_scenes_pattern(i); i++)
        g_string_append_printf(text, ", %s", hs_scenes_pattern(i));
    interned = g_intern_string(text->str);
    g_string_free(text, TRUE);
    return interned;
}

void gst_hs_test_src_class_init_properties(GObjectClass *class)
{
    const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

    class->set_property = set_property;
    class->get_property = get_property;
#define INSTALL(id, kind, ...) \
    g_object_class_install_property(class, id, g_param_spec_##kind(__VA_ARGS__))
    INSTALL(PROP_PATTERN, string, "pattern", "Pattern", pattern_text(), "random", flags);
    INSTALL(PROP_SEED, uint64, "seed", "Seed", "Equal seeds give equal clips", 0, G_MAXUINT64, 1,
            flags);
    INSTALL(PROP_WIDTH, uint, "width", "Width", "Render width in pixels", 16, 16384, 320, flags);
    INSTALL(PROP_HEIGHT, uint, "height", "Height", "Render height in pixels", 16, 16384, 180,
            flags);
    g_object_class_install_property(class, PROP_FPS,
                                    gst_param_spec_fraction("fps", "Frames per second",
                                                            "Rate of the frames", 1, G_MAXINT,
                                                            G_MAXINT, 1, 24, 1, flags));
    INSTALL(
        PROP_CLIP_FRAMES, uint, "clip-frames", "Clip frames",
        "Length of the clip, in whose middle the pattern cut has its cut; more frames than that "
        "may be taken",
        1, G_MAXINT32, 48, flags);
    INSTALL(PROP_MODE, enum, "mode", "Mode", "How pixels are rendered", mode_type(),
            HS_SCENES_DIRECT, flags);
    INSTALL(PROP_SPP, uint, "spp", "Samples per pixel", "Paths of a pixel in path mode", 1, 65536,
            4, flags);
    INSTALL(PROP_JITTER, boolean, "jitter", "Jitter",
            "Move the sample within the pixel from frame to frame", TRUE, flags);
    INSTALL(PROP_STILL, boolean, "still", "Still", "Nothing moves but the jitter", FALSE, flags);
    INSTALL(PROP_SPEED, double, "speed", "Speed", "Multiplies the speed of everything that moves",
            0.001, 100, 1, flags);
    INSTALL(PROP_PLANES, boolean, "planes", "Planes",
            "Give depth, motion, normal, albedos and hit distance along", TRUE, flags);
    INSTALL(PROP_IS_LIVE, boolean, "is-live", "Is live", "Behave like a camera", FALSE, flags);
#undef INSTALL
    gst_type_mark_as_plugin_api(mode_type(), 0);
}
