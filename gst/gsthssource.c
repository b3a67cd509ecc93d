// SPDX-License-Identifier: MIT
#include "gsthssource.h"

#include "gsthslog.h"

#define GST_CAT_DEFAULT gst_hs_debug

GstClockTime gst_hs_frame_time(guint64 frame, const struct gst_hs_rate *rate)
{
    guint64 time = gst_util_uint64_scale(frame, GST_SECOND * (guint64)rate->d, (guint64)rate->n);

    return time <= G_MAXINT64 ? time : GST_CLOCK_TIME_NONE;
}

guint64 gst_hs_frame_at(GstClockTime time, const struct gst_hs_rate *rate)
{
    guint64 frame = gst_util_uint64_scale(time, (guint64)rate->n, GST_SECOND * (guint64)rate->d);

    // Times are rounded down, so that of a frame itself may lie just ahead of it.
    return gst_hs_frame_time(frame + 1, rate) <= time ? frame + 1 : frame;
}

bool gst_hs_frame_stamp(GstElement *source, GstBuffer *buffer, guint64 frame,
                        const struct gst_hs_rate *rate)
{
    const GstClockTime begin = gst_hs_frame_time(frame, rate);
    const GstClockTime end = gst_hs_frame_time(frame + 1, rate);

    if (!GST_CLOCK_TIME_IS_VALID(end)) {
        GST_ELEMENT_ERROR(
            source, STREAM, FORMAT,
            ("With fps=%d/%d frame %" G_GUINT64_FORMAT
             " ends later than the 292 years that timestamps reach: set a higher fps.",
             rate->n, rate->d, frame),
            (NULL));
        return false;
    }
    GST_BUFFER_PTS(buffer) = begin;
    GST_BUFFER_DURATION(buffer) = end - begin;
    GST_BUFFER_OFFSET(buffer) = frame;
    GST_BUFFER_OFFSET_END(buffer) = frame + 1;
    return true;
}

bool gst_hs_seek_is_backward(GstEvent *event)
{
    gdouble rate;

    if (GST_EVENT_TYPE(event) != GST_EVENT_SEEK)
        return false;
    gst_event_parse_seek(event, &rate, NULL, NULL, NULL, NULL, NULL, NULL);
    return rate < 0;
}

static gboolean event(GstBaseSrc *base, GstEvent *event)
{
    return !gst_hs_seek_is_backward(event) &&
           GST_BASE_SRC_CLASS(g_type_class_peek(GST_TYPE_PUSH_SRC))->event(base, event);
}

/** By the application, which may go around event(). */
static gboolean send_event(GstElement *element, GstEvent *event)
{
    if (gst_hs_seek_is_backward(event)) {
        gst_event_unref(event);
        return FALSE;
    }
    return GST_ELEMENT_CLASS(g_type_class_peek(GST_TYPE_PUSH_SRC))->send_event(element, event);
}

void gst_hs_source_class_init_seeks(GstBaseSrcClass *class)
{
    class->event = event;
    GST_ELEMENT_CLASS(class)->send_event = send_event;
}
