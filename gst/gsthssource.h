// SPDX-License-Identifier: MIT
/** What the sources share: the times of frames that are counted, and seeks. */
#ifndef GST_HS_SOURCE_H
#define GST_HS_SOURCE_H

#include <gst/base/gstpushsrc.h>
#include <stdbool.h>

/** Frames per second. */
struct gst_hs_rate {
    int n, d;
};

/** When a frame begins; GST_CLOCK_TIME_NONE: later than timestamps reach. */
GstClockTime gst_hs_frame_time(guint64 frame, const struct gst_hs_rate *rate);
/** The frame that is shown at a time. */
guint64 gst_hs_frame_at(GstClockTime time, const struct gst_hs_rate *rate);
/** Sets times and offsets of a buffer. False: out of reach; the element has posted an error. */
bool gst_hs_frame_stamp(GstElement *source, GstBuffer *buffer, guint64 frame,
                        const struct gst_hs_rate *rate);

/**
 * Refuses seeks that run backwards, for history knows one direction. That is before anything is
 * flushed: a source that refuses in do_seek leaves the stream without a segment.
 */
void gst_hs_source_class_init_seeks(GstBaseSrcClass *class);
/** Whether an event is such a seek. */
bool gst_hs_seek_is_backward(GstEvent *event);

#endif
