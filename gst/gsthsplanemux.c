// SPDX-License-Identifier: MIT
/**
 * SECTION:element-hsplanemux
 * @title: hsplanemux
 *
 * Puts planes that come as streams of their own onto the colour buffers, as #GstHsFrameMeta:
 * behind it one pad carries the whole frame, through queues and tees.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 hsplanemux name=m ! queue ! hsupscale ! vulkandownload ! fakesink \
 *     filesrc location=c.mkv ! matroskademux ! avdec_ffv1 ! videoconvert ! m.sink \
 *     filesrc location=z.mkv ! matroskademux ! avdec_ffv1 ! m.depth
 * ]|
 */
#include "gsthsplanemux.h"

#include "gsthssettings.h"

#define GST_CAT_DEFAULT gst_hs_debug

struct _GstHsPlaneMux {
    GstHsAggregator parent;
    struct gst_hs_log log;
    char *preset, *changes; ///< Under the object lock.
    GstHsConvention *convention;
    gint64 count;
};

G_DEFINE_FINAL_TYPE(GstHsPlaneMux, gst_hs_plane_mux, GST_TYPE_HS_AGGREGATOR)

enum {
    PROP_0,
    PROP_CONVENTION,
    PROP_CONVENTION_CHANGES,
};

static const gsize fields[] = {
    [PROP_CONVENTION] = offsetof(GstHsPlaneMux, preset),
    [PROP_CONVENTION_CHANGES] = offsetof(GstHsPlaneMux, changes),
};

static GstFlowReturn process(GstHsAggregator *base, const struct gst_hs_pairing *pairing,
                             GstBuffer **out)
{
    GstHsPlaneMux *self = GST_HS_PLANE_MUX(base);
    GstHsFrameMeta *meta;

    *out = gst_buffer_copy(pairing->colour);
    meta = gst_hs_frame_meta_get(*out);
    if (!meta) {
        meta = gst_hs_frame_meta_add(*out);
        meta->number = self->count;
        meta->convention = g_atomic_rc_box_acquire(self->convention);
    }
    for (int i = HSIO_PLANE_COLOR + 1; i < HSIO_PLANE_COUNT; i++) {
        if (pairing->planes[i].buffer && pairing->planes[i].buffer != meta->planes[i].buffer)
            gst_hs_frame_meta_set_plane(meta, (enum hsio_plane)i, &pairing->planes[i]);
    }
    // A flush or a gap would be forgotten in the queues behind.
    meta->reset |= pairing->reset;
    self->count++;
    return GST_FLOW_OK;
}

static GstFlowReturn update_src_caps(GstAggregator *agg, GstCaps *allowed, GstCaps **caps)
{
    GstHsPad *pad = gst_hs_aggregator_colour_pad(GST_HS_AGGREGATOR(agg));

    if (!pad->has_format)
        return GST_AGGREGATOR_FLOW_NEED_DATA;
    *caps = gst_caps_intersect(pad->caps, allowed);
    if (!gst_caps_is_empty(*caps))
        return GST_FLOW_OK;
    gst_hs_caps_post_mismatch(GST_ELEMENT(agg), agg->srcpad, pad->caps,
                              "put videoscale in front, or render that size");
    return GST_FLOW_NOT_NEGOTIATED;
}

static gboolean start(GstAggregator *agg)
{
    GstHsPlaneMux *self = GST_HS_PLANE_MUX(agg);
    struct hsio_convention convention;
    int err;

    GST_OBJECT_LOCK(self);
    err = hsio_convention_preset(&convention, self->preset, &self->log.log);
    if (!err)
        err = gst_hs_convention_change(&convention, self->changes, &self->log.log);
    GST_OBJECT_UNLOCK(self);
    if (err < 0) {
        gst_hs_log_post(&self->log, GST_ELEMENT(self), err,
                        "The properties convention and convention-changes can not be used");
        return FALSE;
    }
    g_clear_pointer(&self->convention, gst_hs_convention_unref);
    self->convention = gst_hs_convention_new(&convention);
    self->count = 0;
    return GST_AGGREGATOR_CLASS(gst_hs_plane_mux_parent_class)->start(agg);
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    GstHsPlaneMux *self = GST_HS_PLANE_MUX(object);

    (void)spec;
    GST_OBJECT_LOCK(self);
    gst_hs_settings_set(self, fields[id], value);
    GST_OBJECT_UNLOCK(self);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    GstHsPlaneMux *self = GST_HS_PLANE_MUX(object);

    (void)spec;
    GST_OBJECT_LOCK(self);
    gst_hs_settings_get(self, fields[id], value);
    GST_OBJECT_UNLOCK(self);
}

static void finalize(GObject *object)
{
    GstHsPlaneMux *self = GST_HS_PLANE_MUX(object);

    g_free(self->preset);
    g_free(self->changes);
    g_clear_pointer(&self->convention, gst_hs_convention_unref);
    gst_hs_log_finish(&self->log);
    G_OBJECT_CLASS(gst_hs_plane_mux_parent_class)->finalize(object);
}

static void gst_hs_plane_mux_init(GstHsPlaneMux *self)
{
    gst_hs_log_init(&self->log, self);
    self->preset = g_strdup("raw");
    self->changes = g_strdup("");
}

static void gst_hs_plane_mux_class_init(GstHsPlaneMuxClass *class)
{
    GObjectClass *object = G_OBJECT_CLASS(class);
    GstAggregatorClass *agg = GST_AGGREGATOR_CLASS(class);

    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    GST_HS_INSTALL(object, PROP_CONVENTION, string, "convention", "Convention",
                   "What the numbers in depth and motion mean: raw (canonical), blender, unreal, "
                   "unity, godot, fsr, xess, dlss, nss",
                   "raw", GST_HS_PROPERTY_FIXED);
    GST_HS_INSTALL(object, PROP_CONVENTION_CHANGES, string, "convention-changes",
                   "Convention changes",
                   "Keys of the convention to change, such as "
                   "\"motion.scale_x=64,motion.bias_x=0.5\"",
                   "", GST_HS_PROPERTY_FIXED);
    gst_element_class_set_static_metadata(
        GST_ELEMENT_CLASS(class), "Hindsight plane muxer", "Muxer/Video",
        "Puts depth, motion and further planes onto colour buffers", "The Hindsight authors");
    gst_hs_aggregator_class_add_templates(
        GST_HS_AGGREGATOR_CLASS(class),
        gst_hs_format_template(HSIO_PLANE_COLOR, GST_HS_SIDE_LEAST));
    GST_HS_AGGREGATOR_CLASS(class)->needs_device = false;
    GST_HS_AGGREGATOR_CLASS(class)->process = process;
    agg->update_src_caps = update_src_caps;
    agg->start = start;
}
