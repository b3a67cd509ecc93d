// SPDX-License-Identifier: MIT
#ifndef GST_HS_PLANE_MUX_H
#define GST_HS_PLANE_MUX_H

#include "gsthsaggregator.h"
#include "gsthslog.h"

G_BEGIN_DECLS

#define GST_TYPE_HS_PLANE_MUX (gst_hs_plane_mux_get_type())
G_DECLARE_FINAL_TYPE(GstHsPlaneMux, gst_hs_plane_mux, GST, HS_PLANE_MUX, GstHsAggregator)

G_END_DECLS

#endif
