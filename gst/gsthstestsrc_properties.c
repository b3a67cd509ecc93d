// SPDX-License-Identifier: MIT
// Properties of hstestsrc.
#include "gsthstestsrc.h"

#include "gsthssettings.h"

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

/** Where the properties are in the settings. */
static const gsize fields[] = {
    [PROP_PATTERN] = offsetof(struct gst_hs_test_src_settings, pattern),
    [PROP_SEED] = offsetof(struct gst_hs_test_src_settings, seed),
    [PROP_WIDTH] = offsetof(struct gst_hs_test_src_settings, width),
    [PROP_HEIGHT] = offsetof(struct gst_hs_test_src_settings, height),
    [PROP_FPS] = offsetof(struct gst_hs_test_src_settings, rate),
    [PROP_CLIP_FRAMES] = offsetof(struct gst_hs_test_src_settings, clip_frames),
    [PROP_MODE] = offsetof(struct gst_hs_test_src_settings, mode),
    [PROP_SPP] = offsetof(struct gst_hs_test_src_settings, spp),
    [PROP_JITTER] = offsetof(struct gst_hs_test_src_settings, jitter),
    [PROP_STILL] = offsetof(struct gst_hs_test_src_settings, still),
    [PROP_SPEED] = offsetof(struct gst_hs_test_src_settings, speed),
    [PROP_PLANES] = offsetof(struct gst_hs_test_src_settings, planes),
    [PROP_IS_LIVE] = offsetof(struct gst_hs_test_src_settings, live),
};

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    GstHsTestSrc *self = GST_HS_TEST_SRC(object);

    (void)spec;
    GST_OBJECT_LOCK(self);
    gst_hs_settings_set(&self->settings, fields[id], value);
    GST_OBJECT_UNLOCK(self);
    if (id == PROP_IS_LIVE)
        gst_base_src_set_live(GST_BASE_SRC(self), g_value_get_boolean(value));
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    GstHsTestSrc *self = GST_HS_TEST_SRC(object);

    (void)spec;
    GST_OBJECT_LOCK(self);
    gst_hs_settings_get(&self->settings, fields[id], value);
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
    const GParamFlags flags = GST_HS_PROPERTY_FIXED;

    class->set_property = set_property;
    class->get_property = get_property;
    GST_HS_INSTALL(class, PROP_PATTERN, string, "pattern", "Pattern", pattern_text(), "random",
                   flags);
    GST_HS_INSTALL(class, PROP_SEED, uint64, "seed", "Seed", "Equal seeds give equal clips", 0,
                   G_MAXUINT64, 1, flags);
    GST_HS_INSTALL(class, PROP_WIDTH, uint, "width", "Width", "Render width in pixels", 16, 16384,
                   320, flags);
    GST_HS_INSTALL(class, PROP_HEIGHT, uint, "height", "Height", "Render height in pixels", 16,
                   16384, 180, flags);
    g_object_class_install_property(class, PROP_FPS,
                                    gst_param_spec_fraction("fps", "Frames per second",
                                                            "Rate of the frames", 1, G_MAXINT,
                                                            G_MAXINT, 1, 24, 1, flags));
    GST_HS_INSTALL(
        class, PROP_CLIP_FRAMES, uint, "clip-frames", "Clip frames",
        "Length of the clip, in whose middle the pattern cut has its cut; more frames than that "
        "may be taken",
        1, G_MAXINT32, 48, flags);
    GST_HS_INSTALL(class, PROP_MODE, enum, "mode", "Mode", "How pixels are rendered", mode_type(),
                   HS_SCENES_DIRECT, flags);
    GST_HS_INSTALL(class, PROP_SPP, uint, "spp", "Samples per pixel",
                   "Paths of a pixel in path mode", 1, 65536, 4, flags);
    GST_HS_INSTALL(class, PROP_JITTER, boolean, "jitter", "Jitter",
                   "Move the sample within the pixel from frame to frame", TRUE, flags);
    GST_HS_INSTALL(class, PROP_STILL, boolean, "still", "Still", "Nothing moves but the jitter",
                   FALSE, flags);
    GST_HS_INSTALL(class, PROP_SPEED, double, "speed", "Speed",
                   "Multiplies the speed of everything that moves", 0.001, 100, 1, flags);
    GST_HS_INSTALL(class, PROP_PLANES, boolean, "planes", "Planes",
                   "Give depth, motion, normal, albedos and hit distance along", TRUE, flags);
    GST_HS_INSTALL(class, PROP_IS_LIVE, boolean, "is-live", "Is live", "Behave like a camera",
                   FALSE, flags);
    gst_type_mark_as_plugin_api(mode_type(), 0);
}
