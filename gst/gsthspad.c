// SPDX-License-Identifier: MIT
// The sink pads of the aggregators, and their templates.
#include "gsthsaggregator.h"

G_DEFINE_FINAL_TYPE(GstHsPad, gst_hs_pad, GST_TYPE_AGGREGATOR_PAD)

static void finalize_pad(GObject *object)
{
    gst_clear_caps(&GST_HS_PAD(object)->caps);
    G_OBJECT_CLASS(gst_hs_pad_parent_class)->finalize(object);
}

static void gst_hs_pad_class_init(GstHsPadClass *class)
{
    G_OBJECT_CLASS(class)->finalize = finalize_pad;
}

static void gst_hs_pad_init(GstHsPad *pad)
{
    (void)pad;
}

void gst_hs_aggregator_class_add_templates(GstHsAggregatorClass *class, GstCaps *source)
{
    GstElementClass *element = GST_ELEMENT_CLASS(class);

    for (int kind = 0; kind < HSIO_PLANE_COUNT; kind++) {
        GstCaps *caps;

        // Exposure is a value of the frame; motion to the next frame has no use yet.
        if (kind == HSIO_PLANE_EXPOSURE || kind == HSIO_PLANE_MOTION_NEXT)
            continue;
        caps = gst_hs_format_template((enum hsio_plane)kind);
        gst_element_class_add_pad_template(
            element, gst_pad_template_new_with_gtype(
                         kind == HSIO_PLANE_COLOR ? "sink" : gst_hs_plane_name(kind), GST_PAD_SINK,
                         kind == HSIO_PLANE_COLOR ? GST_PAD_ALWAYS : GST_PAD_REQUEST, caps,
                         GST_TYPE_HS_PAD));
        gst_caps_unref(caps);
    }
    gst_element_class_add_pad_template(
        element, gst_pad_template_new_with_gtype("src", GST_PAD_SRC, GST_PAD_ALWAYS, source,
                                                 GST_TYPE_AGGREGATOR_PAD));
    gst_caps_unref(source);
}
