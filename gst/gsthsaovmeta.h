// SPDX-License-Identifier: MIT
/**
 * GstHsAovMeta: AOVs that travel with a colour buffer, as rendered or as upscaled beside it. As
 * GstHsFrameMeta it goes along with copies only.
 */
#ifndef GST_HS_AOV_META_H
#define GST_HS_AOV_META_H

#include <hindsight/frame.h>

#include "gsthsframemeta.h"

G_BEGIN_DECLS

typedef struct {
    GstHsPlane plane; ///< R16G16B16A16_SFLOAT or R32G32B32A32_SFLOAT.
    enum hs_aov_kind kind;
    const char *channels; ///< Interned: names in files, comma-separated.
} GstHsAov;

/** Channels of the source's file that go with the picture, each pixel the nearest one. */
#define GST_HS_EXACT_MAX (4 * HS_AOV_MAX)
typedef struct {
    guint count;
    const char *patterns[GST_HS_EXACT_MAX]; ///< Interned, as in hsio_passthrough.
} GstHsExact;

typedef struct {
    GstMeta meta;
    guint count;
    GstHsAov list[HS_AOV_MAX];
    GstHsExact exact;
} GstHsAovMeta;

#define GST_HS_AOV_META_API_TYPE (gst_hs_aov_meta_api_get_type())
GType gst_hs_aov_meta_api_get_type(void);
const GstMetaInfo *gst_hs_aov_meta_get_info(void);
/** An empty one, in place of any that is there. */
GstHsAovMeta *gst_hs_aov_meta_add(GstBuffer *buffer);
GstHsAovMeta *gst_hs_aov_meta_get(GstBuffer *buffer);
/** Takes the plane's buffer over. The list must have room. */
void gst_hs_aov_meta_append(GstHsAovMeta *meta, const GstHsAov *aov);

G_END_DECLS

#endif
