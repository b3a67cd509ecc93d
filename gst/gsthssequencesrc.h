// SPDX-License-Identifier: MIT
#ifndef GST_HS_SEQUENCE_SRC_H
#define GST_HS_SEQUENCE_SRC_H

#include <gst/base/gstpushsrc.h>

#include "gsthsframemeta.h"
#include "gsthslog.h"

G_BEGIN_DECLS

#define GST_TYPE_HS_SEQUENCE_SRC (gst_hs_sequence_src_get_type())
G_DECLARE_FINAL_TYPE(GstHsSequenceSrc, gst_hs_sequence_src, GST, HS_SEQUENCE_SRC, GstPushSrc)

G_END_DECLS

#endif
