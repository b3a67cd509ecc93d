// SPDX-License-Identifier: MIT
#ifndef GST_HS_SEQUENCE_SRC_H
#define GST_HS_SEQUENCE_SRC_H

#include "gsthsaovmeta.h"
#include "gsthsframemeta.h"
#include "gsthslog.h"
#include "gsthssource.h"
#include "hsaov.h"

G_BEGIN_DECLS

#define GST_TYPE_HS_SEQUENCE_SRC (gst_hs_sequence_src_get_type())
G_DECLARE_FINAL_TYPE(GstHsSequenceSrc, gst_hs_sequence_src, GST, HS_SEQUENCE_SRC, GstPushSrc)

/** No start or stop is given. */
#define GST_HS_NO_FRAME G_MININT64

struct gst_hs_sequence_src_settings {
    char *location, *preset, *changes, *layer, *planes, *aovs;
    gint64 start, stop, step;
    int missing;
    struct gst_hs_rate rate;
    bool loop;
};

struct _GstHsSequenceSrc {
    GstPushSrc parent;
    struct gst_hs_log log;
    struct gst_hs_sequence_src_settings settings; ///< Under the object lock.
    // While started:
    GstHsSequence *sequence;
    GstHsConvention *convention; ///< Of the frame before; most share one.
    struct hsio_sequence_info info;
    gint64 step;
    struct gst_hs_rate rate;
    int next;
    guint64 round; ///< How often the sequence has been through.
    bool cut;      ///< The next frame follows something else than its predecessor.
    GstCaps *caps;
    struct hsaov_request aovs[HS_AOV_MAX];
    int aov_count;
    // By the first frame; those without a format are carried over.
    GstHsAov aov_forms[HS_AOV_MAX];
    GstHsExact exact;
};

/** gsthssequencesrc_aovs.c: finds what the property names. Errors: those of hsio, in the log. */
int gst_hs_sequence_src_take_aovs(GstHsSequenceSrc *self, const char *text,
                                  struct hsio_sequence *sequence);
/** Reads the AOVs of a frame into a meta of its buffer. Errors: those of hsio, told in the log. */
int gst_hs_sequence_src_read_aovs(GstHsSequenceSrc *self, struct hsio_frame *frame,
                                  GstBuffer *buffer);
/** gsthssequencesrc_properties.c */
void gst_hs_sequence_src_class_init_properties(GObjectClass *class);

G_END_DECLS

#endif
