// SPDX-License-Identifier: MIT
/**
 * Base of the elements that take a colour pad and pads for further planes: pads, pairing by
 * running time, gaps, segments and flushes. A subclass turns one paired frame into one buffer.
 */
#ifndef GST_HS_AGGREGATOR_H
#define GST_HS_AGGREGATOR_H

#include <gst/base/gstaggregator.h>

#include "gsthsdevice.h"
#include "gsthsformat.h"
#include "gsthsframemeta.h"
#include "gsthsgpu.h"

G_BEGIN_DECLS

#define GST_TYPE_HS_PAD (gst_hs_pad_get_type())
G_DECLARE_FINAL_TYPE(GstHsPad, gst_hs_pad, GST, HS_PAD, GstAggregatorPad)

struct _GstHsPad {
    GstAggregatorPad parent;
    enum hsio_plane kind;
    bool has_format;
    struct gst_hs_format format;
    GstCaps *caps;
};

#define GST_TYPE_HS_AGGREGATOR (gst_hs_aggregator_get_type())
G_DECLARE_DERIVABLE_TYPE(GstHsAggregator, gst_hs_aggregator, GST, HS_AGGREGATOR, GstAggregator)

/** One frame as it was put together. Buffers belong to the base class. */
struct gst_hs_pairing {
    GstBuffer *colour;
    GstHsPlane planes[HSIO_PLANE_COUNT]; ///< Colour, too; from pads or from the colour's meta.
    const GstHsFrameMeta *meta;          ///< NULL: the colour buffer has none.
    bool reset;                          ///< History has ended: discont, flush, segment, gap.
    guint missing; ///< Planes that have a pad and no buffer for this frame, one bit each.
};

struct _GstHsAggregatorClass {
    GstAggregatorClass parent_class;
    bool needs_device; ///< Opened when the element starts; otherwise only if neighbours ask.
    int least_side;    ///< Of the planes, in pixels. Before the templates are added.
    /**
     * Makes the output of one frame; timestamps are set by the base class. GST_FLOW_OK without a
     * buffer: nothing is pushed.
     */
    GstFlowReturn (*process)(GstHsAggregator *self, const struct gst_hs_pairing *pairing,
                             GstBuffer **out);
    /** The colour's caps; before the source pad is negotiated again. */
    void (*colour_changed)(GstHsAggregator *self, const struct gst_hs_format *format);
};

/** Adds the pad templates; `source` is taken over. For the class_init of a subclass. */
void gst_hs_aggregator_class_add_templates(GstHsAggregatorClass *class, GstCaps *source);

GstClockTime gst_hs_pad_running_time(GstHsPad *pad, GstClockTime time);
/** What stands for a GAP event in the queue of a pad. */
bool gst_hs_buffer_is_gap(GstBuffer *buffer);
/** How far the times of a plane and of its colour may be apart. */
GstClockTime gst_hs_pad_tolerance(const struct gst_hs_format *format, GstBuffer *colour);
/**
 * The buffer of a pad for the frame at `time`, or NULL. Buffers too old for any frame to come are
 * dropped on the way. False: it has to be waited for.
 */
bool gst_hs_pad_match(GstHsPad *pad, GstClockTime time, GstClockTime tolerance, bool timeout,
                      GstBuffer **matched);

struct gst_hs_device *gst_hs_aggregator_device(GstHsAggregator *self);
GstHsPad *gst_hs_aggregator_colour_pad(GstHsAggregator *self);
/** The colour's format, or NULL before its caps. */
const struct gst_hs_format *gst_hs_aggregator_colour(GstHsAggregator *self);

G_END_DECLS

#endif
