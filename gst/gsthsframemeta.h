// SPDX-License-Identifier: MIT
/**
 * What travels with a colour buffer.
 *
 * GstHsFrameMeta: the planes of the frame and its values (jitter, camera, cut, ...). It is about
 * the pixels as they are, so it goes along with copies only: anything that makes other pixels of
 * the buffer, such as upscaling, drops it.
 *
 * GstHsOriginMeta: which frame of which sequence this is. It goes along with every change, so that
 * a sink can name its file and carry windows and attributes over.
 */
#ifndef GST_HS_FRAME_META_H
#define GST_HS_FRAME_META_H

#include "gsthsvulkan.h"
#include "hsio.h"

G_BEGIN_DECLS

/** A plane: a buffer with one Vulkan image, or with pixels in system memory. */
typedef struct {
    GstBuffer *buffer; ///< NULL: the frame has no such plane.
    VkFormat format;
    guint width, height;
    // In system memory:
    gsize offset;      ///< Of the first pixel.
    gsize row_bytes;   ///< From one row to the next.
    gsize pixel_bytes; ///< From one pixel to the next; it may be more than the format has.
} GstHsPlane;

/** A convention that many frames share. Reference counted by g_atomic_rc_box. */
typedef struct hsio_convention GstHsConvention;

/** A sequence that frames keep open. Reference counted by g_atomic_rc_box. */
typedef struct {
    struct hsio_sequence *sequence;
} GstHsSequence;

/** A frame that is open in a sequence. Reference counted by g_atomic_rc_box. */
typedef struct {
    GstHsSequence *sequence;
    struct hsio_frame *frame;
    GMutex lock; ///< Frames are read by one thread at a time.
} GstHsSource;

typedef struct {
    GstMeta meta;
    gint64 number;
    gboolean reset; ///< A cut: history is of no use from here on.
    gboolean held;  ///< Stands in for a missing frame.
    gboolean has_camera, has_clip, has_exposure;
    gfloat jitter[2]; ///< As in hsio_frame_info; so are all of the following.
    gfloat view[16], proj[16];
    gfloat near, far;
    gfloat exposure, sharpness;
    GstHsConvention *convention; ///< NULL: canonical.
    GstHsPlane planes[HSIO_PLANE_COUNT];
} GstHsFrameMeta;

typedef struct {
    GstMeta meta;
    gint64 number;
    GstHsSource *source; ///< NULL: not from a file.
    const char *model;   ///< Interned name of the model that made the pixels; NULL: as rendered.
} GstHsOriginMeta;

#define GST_HS_FRAME_META_API_TYPE (gst_hs_frame_meta_api_get_type())
GType gst_hs_frame_meta_api_get_type(void);
const GstMetaInfo *gst_hs_frame_meta_get_info(void);
GstHsFrameMeta *gst_hs_frame_meta_add(GstBuffer *buffer);
GstHsFrameMeta *gst_hs_frame_meta_get(GstBuffer *buffer);

#define GST_HS_ORIGIN_META_API_TYPE (gst_hs_origin_meta_api_get_type())
GType gst_hs_origin_meta_api_get_type(void);
const GstMetaInfo *gst_hs_origin_meta_get_info(void);
GstHsOriginMeta *gst_hs_origin_meta_add(GstBuffer *buffer);
GstHsOriginMeta *gst_hs_origin_meta_get(GstBuffer *buffer);
/** Gives another buffer the same origin, if there is one. */
void gst_hs_origin_meta_copy(GstBuffer *to, GstBuffer *from);

/** Sets a plane; takes a reference of its own. */
void gst_hs_frame_meta_set_plane(GstHsFrameMeta *meta, enum hsio_plane kind,
                                 const GstHsPlane *plane);
/** Copies the values and shares the planes. */
void gst_hs_frame_meta_copy(GstHsFrameMeta *to, const GstHsFrameMeta *from);

GstHsConvention *gst_hs_convention_new(const struct hsio_convention *convention);
void gst_hs_convention_unref(GstHsConvention *convention);
GstHsSequence *gst_hs_sequence_new(struct hsio_sequence *sequence);
void gst_hs_sequence_unref(GstHsSequence *sequence);
/** Takes the frame over. */
GstHsSource *gst_hs_source_new(GstHsSequence *sequence, struct hsio_frame *frame);
void gst_hs_source_unref(GstHsSource *source);

G_END_DECLS

#endif
