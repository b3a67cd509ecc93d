// SPDX-License-Identifier: MIT
// The plugin. Loading it opens no device: elements do when they start.
#include "gsthsframemeta.h"
#include "gsthslog.h"
#include "gsthsplanedemux.h"
#include "gsthsplanemux.h"
#include "gsthssequencesink.h"
#include "gsthssequencesrc.h"
#include "gsthstestsrc.h"
#include "gsthsupscale.h"

static gboolean plugin_init(GstPlugin *plugin)
{
    gst_hs_log_register();
    gst_hs_frame_meta_get_info();
    gst_hs_origin_meta_get_info();
    return gst_element_register(plugin, "hsupscale", GST_RANK_NONE, GST_TYPE_HS_UPSCALE) &&
           gst_element_register(plugin, "hstestsrc", GST_RANK_NONE, GST_TYPE_HS_TEST_SRC) &&
           gst_element_register(plugin, "hsplanemux", GST_RANK_NONE, GST_TYPE_HS_PLANE_MUX) &&
           gst_element_register(plugin, "hsplanedemux", GST_RANK_NONE, GST_TYPE_HS_PLANE_DEMUX) &&
           gst_element_register(plugin, "hssequencesrc", GST_RANK_NONE, GST_TYPE_HS_SEQUENCE_SRC) &&
           gst_element_register(plugin, "hssequencesink", GST_RANK_NONE, GST_TYPE_HS_SEQUENCE_SINK);
}

#define PACKAGE "hindsight"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, hindsight,
                  "Temporal super-resolution of rendered sequences", plugin_init,
                  HS_PACKAGE_VERSION, "MIT/X11", "hindsight", "Hindsight")
