// SPDX-License-Identifier: MIT
#ifndef GST_HS_PLANE_DEMUX_H
#define GST_HS_PLANE_DEMUX_H

#include "gsthsformat.h"
#include "gsthsgpu.h"

G_BEGIN_DECLS

#define GST_TYPE_HS_PLANE_DEMUX (gst_hs_plane_demux_get_type())
G_DECLARE_FINAL_TYPE(GstHsPlaneDemux, gst_hs_plane_demux, GST, HS_PLANE_DEMUX, GstElement)

/**
 * A plane in system memory, painted as RGBA for people to look at. `gain` brings linear colour to
 * normal brightness; 0: it is display-referred.
 */
void gst_hs_plane_paint(const GstHsPlane *plane, enum hsio_plane kind, float gain,
                        const guint8 *pixels, guint8 *rgba);

G_END_DECLS

#endif
