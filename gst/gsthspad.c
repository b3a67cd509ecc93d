// SPDX-License-Identifier: MIT
// The sink pads of the aggregators, their templates, and which of their buffers belong together.
#include "gsthsaggregator.h"

#define GST_CAT_DEFAULT gst_hs_debug

/** Of a frame without a duration. */
#define DEFAULT_TOLERANCE (5 * GST_MSECOND)

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
        caps = gst_hs_format_template((enum hsio_plane)kind, class->least_side);
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

GstClockTime gst_hs_pad_running_time(GstHsPad *pad, GstClockTime time)
{
    return gst_segment_to_running_time(&GST_AGGREGATOR_PAD(pad)->segment, GST_FORMAT_TIME, time);
}

bool gst_hs_buffer_is_gap(GstBuffer *buffer)
{
    return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_n_memory(buffer) == 0;
}

bool gst_hs_pad_match(GstHsPad *pad, GstClockTime time, GstClockTime tolerance, bool timeout,
                      GstBuffer **matched)
{
    GstAggregatorPad *base = GST_AGGREGATOR_PAD(pad);
    GstClockTime start, end;
    GstBuffer *buffer;

    *matched = NULL;
    for (;;) {
        buffer = gst_aggregator_pad_peek_buffer(base);
        if (!buffer)
            return gst_aggregator_pad_is_eos(base) || timeout;
        start = gst_hs_pad_running_time(pad, GST_BUFFER_PTS(buffer));
        end = start;
        if (gst_hs_buffer_is_gap(buffer) && GST_BUFFER_DURATION_IS_VALID(buffer) &&
            GST_CLOCK_TIME_IS_VALID(start))
            end += GST_BUFFER_DURATION(buffer);
        if (GST_CLOCK_TIME_IS_VALID(start) &&
            (gst_hs_buffer_is_gap(buffer) && end > start ? end > time : end + tolerance >= time))
            break;
        GST_LOG_OBJECT(pad,
                       "drops a buffer at %" GST_TIME_FORMAT ", the frame is at %" GST_TIME_FORMAT,
                       GST_TIME_ARGS(start), GST_TIME_ARGS(time));
        gst_buffer_unref(buffer);
        gst_aggregator_pad_drop_buffer(base);
    }
    if (!gst_hs_buffer_is_gap(buffer) && start <= time + tolerance)
        *matched = buffer;
    else
        gst_buffer_unref(buffer);
    return true;
}

GstClockTime gst_hs_pad_tolerance(const struct gst_hs_format *format, GstBuffer *colour)
{
    if (GST_BUFFER_DURATION_IS_VALID(colour) && GST_BUFFER_DURATION(colour))
        return GST_BUFFER_DURATION(colour) / 2;
    if (format->fps_n > 0)
        return gst_util_uint64_scale(GST_SECOND, (guint64)format->fps_d,
                                     2 * (guint64)format->fps_n);
    return DEFAULT_TOLERANCE;
}
