// SPDX-License-Identifier: MIT
#ifndef GST_HS_TEST_SRC_H
#define GST_HS_TEST_SRC_H

#include "gsthsgpu.h"
#include "gsthssource.h"
#include "hsscenes.h"

G_BEGIN_DECLS

#define GST_TYPE_HS_TEST_SRC (gst_hs_test_src_get_type())
G_DECLARE_FINAL_TYPE(GstHsTestSrc, gst_hs_test_src, GST, HS_TEST_SRC, GstPushSrc)

/** Frames that may be queued on the device. */
#define GST_HS_TEST_SRC_SLOTS 3

struct gst_hs_test_src_settings {
    char *pattern;
    guint64 seed;
    guint width, height, clip_frames, spp;
    struct gst_hs_rate rate;
    int mode; ///< enum hs_scenes_mode
    bool jitter, still, planes, live;
    double speed;
};

struct _GstHsTestSrc {
    GstPushSrc parent;
    struct gst_hs_log log;
    struct gst_hs_device share;
    struct gst_hs_test_src_settings settings; ///< Under the object lock.
    bool running;                             ///< Started; under the object lock.
    // While started:
    struct gst_hs_test_src_settings now;
    struct hs_scenes *scenes;
    struct hs_clip *clip;
    struct gst_hs_readback readback;
    GstVulkanOperation *operations[GST_HS_TEST_SRC_SLOTS];
    GstBufferPool *pools[HSIO_PLANE_COUNT];
    GstHsConvention *convention;
    bool vulkan; ///< As negotiated.
    guint64 next;
    guint slot;
};

/** gsthstestsrc_properties.c */
void gst_hs_test_src_class_init_properties(GObjectClass *class);

G_END_DECLS

#endif
