// SPDX-License-Identifier: MIT
// Properties of hsupscale.
#include "gsthsupscale.h"

#include "gsthssettings.h"

enum {
    PROP_0,
    PROP_MODEL,
    PROP_PATH,
    PROP_SCALE,
    PROP_OUTPUT_WIDTH,
    PROP_OUTPUT_HEIGHT,
    PROP_CONVENTION,
    PROP_CONVENTION_CHANGES,
    PROP_TONE_MAP,
    PROP_LOOK,
    PROP_PAPER_WHITE,
    PROP_AUTO_EXPOSURE,
    PROP_EXPOSURE,
    PROP_SHARPNESS,
    PROP_FIREFLY_CLAMP,
    PROP_RESET,
    PROP_MISSING,
    PROP_QOS,
    PROP_STATS,
};

static GType path_type(void)
{
    static gsize type;
    static const GEnumValue values[] = {
        {HS_PATH_AUTO, "The fastest that the device can run", "auto"},
        {HS_PATH_PLAIN, "Plain shader arithmetic; runs everywhere", "plain"},
        {HS_PATH_MATRIX, "Cooperative matrices", "matrix"},
        {0, NULL, NULL},
    };

    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("GstHsUpscalePath", values));
    return type;
}

static GType tone_type(void)
{
    static gsize type;
    static const GEnumValue values[] = {
        {HS_ENCODE_TONE_NONE, "Values above 1 are cut", "none"},
        {HS_ENCODE_TONE_REINHARD, "x / (1 + luma)", "reinhard"},
        {HS_ENCODE_TONE_ACES, "A fit to the ACES filmic curve", "aces"},
        {0, NULL, NULL},
    };

    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("GstHsUpscaleToneMap", values));
    return type;
}

static GType missing_type(void)
{
    static gsize type;
    static const GEnumValue values[] = {
        {GST_HS_MISSING_IGNORE, "The frame is made without the plane", "ignore"},
        {GST_HS_MISSING_ERROR, "The pipeline ends with an error", "error"},
        {0, NULL, NULL},
    };

    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("GstHsUpscaleMissing", values));
    return type;
}

static GstStructure *make_stats(GstHsUpscale *self)
{
    return gst_structure_new(
        "hsupscale-stats", "frames", G_TYPE_UINT64, self->stats.frames, "resets", G_TYPE_UINT64,
        self->stats.resets, "dropped", G_TYPE_UINT64, self->stats.dropped, "missing", G_TYPE_UINT64,
        self->stats.missing, "model", G_TYPE_STRING,
        self->engine.info.preset ? self->engine.info.preset : "", "matrix", G_TYPE_BOOLEAN,
        self->engine.info.path == HS_PATH_MATRIX, "extended-device", G_TYPE_BOOLEAN,
        gst_hs_device_extended(gst_hs_aggregator_device(GST_HS_AGGREGATOR(self))), NULL);
}

/** Where the properties are in the settings. */
static const gsize fields[] = {
    [PROP_MODEL] = offsetof(struct gst_hs_upscale_settings, model),
    [PROP_PATH] = offsetof(struct gst_hs_upscale_settings, path),
    [PROP_SCALE] = offsetof(struct gst_hs_upscale_settings, scale),
    [PROP_OUTPUT_WIDTH] = offsetof(struct gst_hs_upscale_settings, width),
    [PROP_OUTPUT_HEIGHT] = offsetof(struct gst_hs_upscale_settings, height),
    [PROP_CONVENTION] = offsetof(struct gst_hs_upscale_settings, preset),
    [PROP_CONVENTION_CHANGES] = offsetof(struct gst_hs_upscale_settings, changes),
    [PROP_TONE_MAP] = offsetof(struct gst_hs_upscale_settings, look.tone),
    [PROP_LOOK] = offsetof(struct gst_hs_upscale_settings, grade),
    [PROP_PAPER_WHITE] = offsetof(struct gst_hs_upscale_settings, look.paper_white),
    [PROP_AUTO_EXPOSURE] = offsetof(struct gst_hs_upscale_settings, auto_exposure),
    [PROP_EXPOSURE] = offsetof(struct gst_hs_upscale_settings, exposure),
    [PROP_SHARPNESS] = offsetof(struct gst_hs_upscale_settings, sharpness),
    [PROP_FIREFLY_CLAMP] = offsetof(struct gst_hs_upscale_settings, firefly_clamp),
    [PROP_RESET] = offsetof(struct gst_hs_upscale_settings, reset),
    [PROP_MISSING] = offsetof(struct gst_hs_upscale_settings, missing),
    [PROP_QOS] = offsetof(struct gst_hs_upscale_settings, qos),
};

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    GstHsUpscale *self = GST_HS_UPSCALE(object);

    (void)spec;
    GST_OBJECT_LOCK(self);
    gst_hs_settings_set(&self->settings, fields[id], value);
    GST_OBJECT_UNLOCK(self);
    if (id == PROP_SCALE || id == PROP_OUTPUT_WIDTH || id == PROP_OUTPUT_HEIGHT)
        gst_pad_mark_reconfigure(GST_AGGREGATOR(self)->srcpad);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    GstHsUpscale *self = GST_HS_UPSCALE(object);

    (void)spec;
    GST_OBJECT_LOCK(self);
    if (id == PROP_STATS)
        g_value_take_boxed(value, make_stats(self));
    else
        gst_hs_settings_get(&self->settings, fields[id], value);
    GST_OBJECT_UNLOCK(self);
}

void gst_hs_upscale_class_init_properties(GObjectClass *class)
{
    const GParamFlags fixed = GST_HS_PROPERTY_FIXED;
    const GParamFlags live = GST_HS_PROPERTY_LIVE;

    class->set_property = set_property;
    class->get_property = get_property;
    GST_HS_INSTALL(
        class, PROP_MODEL, string, "model", "Model",
        "Preset to run: taau (weight-free temporal accumulation), fast, quality or best (with "
        "a network), atrous or ray (for noisy path-traced frames with guides, ray "
        "with a network); oidn (Open Image Denoise on the CPU, then taau); a model file; or auto: "
        "quality where its file is found, else taau",
        "auto", fixed);
    GST_HS_INSTALL(class, PROP_PATH, enum, "path", "Path",
                   "Arithmetic of the model; one that the device lacks falls back with a log line",
                   path_type(), HS_PATH_AUTO, fixed);
    GST_HS_INSTALL(class, PROP_SCALE, double, "scale", "Scale",
                   "Output size over render size, unless output-width and output-height are set", 1,
                   3, 2, live);
    GST_HS_INSTALL(
        class, PROP_OUTPUT_WIDTH, uint, "output-width", "Output width",
        "Fixed output width in pixels, 16 to 16384. With output-height the render size may change "
        "at any time (dynamic resolution). 0: follows the height, else the scale",
        0, 16384, 0, live);
    GST_HS_INSTALL(
        class, PROP_OUTPUT_HEIGHT, uint, "output-height", "Output height",
        "Fixed output height in pixels, 16 to 16384. 0: follows the width, else the scale", 0,
        16384, 0, live);
    GST_HS_INSTALL(
        class, PROP_CONVENTION, string, "convention", "Convention",
        "What the numbers in depth and motion mean for frames that do not say it themselves: "
        "raw (canonical), blender, unreal, unity, godot, fsr, xess, dlss, nss",
        "raw", fixed);
    GST_HS_INSTALL(class, PROP_CONVENTION_CHANGES, string, "convention-changes",
                   "Convention changes",
                   "Keys of the convention to change, such as "
                   "\"motion.scale_x=64,motion.bias_x=0.5\"",
                   "", fixed);
    GST_HS_INSTALL(class, PROP_TONE_MAP, enum, "tone-map", "Tone map",
                   "From scene-linear colour to a display-referred output", tone_type(),
                   HS_ENCODE_TONE_NONE, live);
    GST_HS_INSTALL(
        class, PROP_LOOK, string, "look", "Look",
        "In place of tone-map: none, or aces, a filmic curve, and a grade behind it, such as "
        "\"aces,contrast=0.1,shadows=0/0/0.04,vignette=0.3\". Keys: contrast, pivot, shadows, "
        "highlights, saturation, vignette, grain, aberration, grade",
        "none", live);
    GST_HS_INSTALL(class, PROP_PAPER_WHITE, float, "paper-white", "Paper white",
                   "Brightness of linear 1.0 in BT.2100 PQ outputs, nits", 1, 10000, 203, live);
    GST_HS_INSTALL(class, PROP_AUTO_EXPOSURE, boolean, "auto-exposure", "Automatic exposure",
                   "Measure the exposure that the model works with, even where the frame tells one",
                   FALSE, live);
    GST_HS_INSTALL(
        class, PROP_EXPOSURE, float, "exposure", "Exposure",
        "Factor that brings linear colour to normal brightness, also in display-ready outputs. "
        "0: the frame's own; without one it is measured for the model only",
        0, 1e8f, 0, live);
    GST_HS_INSTALL(class, PROP_SHARPNESS, float, "sharpness", "Sharpness",
                   "Sharpening of the output, 0 (off) to 1. -1: the frame's own, else 0", -1, 1, -1,
                   live);
    GST_HS_INSTALL(class, PROP_FIREFLY_CLAMP, float, "firefly-clamp", "Firefly clamp",
                   "Greatest luminance of input pixels, after exposure. 0: none", 0, 65504, 0,
                   live);
    GST_HS_INSTALL(class, PROP_RESET, boolean, "reset", "Reset",
                   "Makes the next frame a cut: history begins anew. Returns to false by itself",
                   FALSE, live);
    GST_HS_INSTALL(class, PROP_MISSING, enum, "missing-planes", "Missing planes",
                   "What to do when a linked plane has no buffer for a frame", missing_type(),
                   GST_HS_MISSING_IGNORE, live);
    GST_HS_INSTALL(class, PROP_QOS, boolean, "qos", "QoS",
                   "Leave out what would come too late for the sink; history goes on", TRUE, live);
    GST_HS_INSTALL(
        class, PROP_STATS, boxed, "stats", "Statistics",
        "Frames, resets, dropped frames, frames with missing planes, model, matrix arithmetic, "
        "own device",
        GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
    gst_type_mark_as_plugin_api(path_type(), 0);
    gst_type_mark_as_plugin_api(tone_type(), 0);
    gst_type_mark_as_plugin_api(missing_type(), 0);
}
