// SPDX-License-Identifier: MIT
#ifndef GST_HS_SEQUENCE_SINK_H
#define GST_HS_SEQUENCE_SINK_H

#include <gst/base/gstbasesink.h>

#include "gsthsformat.h"
#include "gsthsgpu.h"

G_BEGIN_DECLS

#define GST_TYPE_HS_SEQUENCE_SINK (gst_hs_sequence_sink_get_type())
G_DECLARE_FINAL_TYPE(GstHsSequenceSink, gst_hs_sequence_sink, GST, HS_SEQUENCE_SINK, GstBaseSink)

G_END_DECLS

#endif
