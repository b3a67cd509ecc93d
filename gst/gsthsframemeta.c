// SPDX-License-Identifier: MIT
#include "gsthsframemeta.h"

GstHsConvention *gst_hs_convention_new(const struct hsio_convention *convention)
{
    GstHsConvention *made = g_atomic_rc_box_new(GstHsConvention);

    *made = *convention;
    return made;
}

void gst_hs_convention_unref(GstHsConvention *convention)
{
    g_atomic_rc_box_release(convention);
}

static void clear_sequence(gpointer data)
{
    hsio_sequence_close(&((GstHsSequence *)data)->sequence);
}

GstHsSequence *gst_hs_sequence_new(struct hsio_sequence *sequence)
{
    GstHsSequence *made = g_atomic_rc_box_new0(GstHsSequence);

    made->sequence = sequence;
    return made;
}

void gst_hs_sequence_unref(GstHsSequence *sequence)
{
    g_atomic_rc_box_release_full(sequence, clear_sequence);
}

static void clear_source(gpointer data)
{
    GstHsSource *source = data;

    hsio_frame_close(&source->frame);
    gst_hs_sequence_unref(source->sequence);
    g_mutex_clear(&source->lock);
}

GstHsSource *gst_hs_source_new(GstHsSequence *sequence, struct hsio_frame *frame)
{
    GstHsSource *made = g_atomic_rc_box_new0(GstHsSource);

    made->sequence = g_atomic_rc_box_acquire(sequence);
    made->frame = frame;
    g_mutex_init(&made->lock);
    return made;
}

void gst_hs_source_unref(GstHsSource *source)
{
    g_atomic_rc_box_release_full(source, clear_source);
}

static gboolean frame_init(GstMeta *meta, gpointer params, GstBuffer *buffer)
{
    GstHsFrameMeta *frame = (GstHsFrameMeta *)meta;
    GstMeta head = *meta;

    (void)params;
    (void)buffer;
    *frame = (GstHsFrameMeta){.meta = head};
    return TRUE;
}

static void frame_free(GstMeta *meta, GstBuffer *buffer)
{
    GstHsFrameMeta *frame = (GstHsFrameMeta *)meta;

    (void)buffer;
    for (int i = 0; i < HSIO_PLANE_COUNT; i++)
        gst_clear_buffer(&frame->planes[i].buffer);
    g_clear_pointer(&frame->convention, gst_hs_convention_unref);
}

void gst_hs_frame_meta_set_plane(GstHsFrameMeta *meta, enum hsio_plane kind,
                                 const GstHsPlane *plane)
{
    GstBuffer *old = meta->planes[kind].buffer;

    meta->planes[kind] = *plane;
    if (plane->buffer)
        gst_buffer_ref(plane->buffer);
    gst_clear_buffer(&old);
}

void gst_hs_frame_meta_copy(GstHsFrameMeta *to, const GstHsFrameMeta *from)
{
    GstMeta head = to->meta;

    *to = *from;
    to->meta = head;
    if (to->convention)
        g_atomic_rc_box_acquire(to->convention);
    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        if (to->planes[i].buffer)
            gst_buffer_ref(to->planes[i].buffer);
    }
}

static gboolean frame_transform(GstBuffer *to, GstMeta *meta, GstBuffer *from, GQuark type,
                                gpointer data)
{
    const GstMetaTransformCopy *copy = data;

    (void)from;
    if (!GST_META_TRANSFORM_IS_COPY(type) || copy->region)
        return FALSE;
    gst_hs_frame_meta_copy(gst_hs_frame_meta_add(to), (GstHsFrameMeta *)meta);
    return TRUE;
}

GType gst_hs_frame_meta_api_get_type(void)
{
    static gsize type;
    // Elements that change size or pixels of video leave metas with these tags behind.
    static const gchar *tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                  GST_META_TAG_VIDEO_COLORSPACE_STR,
                                  GST_META_TAG_VIDEO_ORIENTATION_STR, NULL};

    if (g_once_init_enter(&type))
        g_once_init_leave(&type, gst_meta_api_type_register("GstHsFrameMetaAPI", tags));
    return type;
}

const GstMetaInfo *gst_hs_frame_meta_get_info(void)
{
    static gsize info;

    if (g_once_init_enter(&info))
        g_once_init_leave(&info, (gsize)gst_meta_register(GST_HS_FRAME_META_API_TYPE,
                                                          "GstHsFrameMeta", sizeof(GstHsFrameMeta),
                                                          frame_init, frame_free, frame_transform));
    return (const GstMetaInfo *)info;
}

GstHsFrameMeta *gst_hs_frame_meta_add(GstBuffer *buffer)
{
    GstHsFrameMeta *old = gst_hs_frame_meta_get(buffer);

    if (old)
        gst_buffer_remove_meta(buffer, &old->meta);
    return (GstHsFrameMeta *)gst_buffer_add_meta(buffer, gst_hs_frame_meta_get_info(), NULL);
}

GstHsFrameMeta *gst_hs_frame_meta_get(GstBuffer *buffer)
{
    return (GstHsFrameMeta *)gst_buffer_get_meta(buffer, GST_HS_FRAME_META_API_TYPE);
}

static gboolean origin_init(GstMeta *meta, gpointer params, GstBuffer *buffer)
{
    GstHsOriginMeta *origin = (GstHsOriginMeta *)meta;
    GstMeta head = *meta;

    (void)params;
    (void)buffer;
    *origin = (GstHsOriginMeta){.meta = head};
    return TRUE;
}

static void origin_free(GstMeta *meta, GstBuffer *buffer)
{
    (void)buffer;
    g_clear_pointer(&((GstHsOriginMeta *)meta)->source, gst_hs_source_unref);
}

static gboolean origin_transform(GstBuffer *to, GstMeta *meta, GstBuffer *from, GQuark type,
                                 gpointer data)
{
    (void)meta;
    (void)type;
    (void)data;
    gst_hs_origin_meta_copy(to, from);
    return TRUE;
}

GType gst_hs_origin_meta_api_get_type(void)
{
    static gsize type;
    static const gchar *tags[] = {NULL};

    if (g_once_init_enter(&type))
        g_once_init_leave(&type, gst_meta_api_type_register("GstHsOriginMetaAPI", tags));
    return type;
}

const GstMetaInfo *gst_hs_origin_meta_get_info(void)
{
    static gsize info;

    if (g_once_init_enter(&info))
        g_once_init_leave(&info,
                          (gsize)gst_meta_register(GST_HS_ORIGIN_META_API_TYPE, "GstHsOriginMeta",
                                                   sizeof(GstHsOriginMeta), origin_init,
                                                   origin_free, origin_transform));
    return (const GstMetaInfo *)info;
}

GstHsOriginMeta *gst_hs_origin_meta_add(GstBuffer *buffer)
{
    GstHsOriginMeta *old = gst_hs_origin_meta_get(buffer);

    if (old)
        gst_buffer_remove_meta(buffer, &old->meta);
    return (GstHsOriginMeta *)gst_buffer_add_meta(buffer, gst_hs_origin_meta_get_info(), NULL);
}

GstHsOriginMeta *gst_hs_origin_meta_get(GstBuffer *buffer)
{
    return (GstHsOriginMeta *)gst_buffer_get_meta(buffer, GST_HS_ORIGIN_META_API_TYPE);
}

void gst_hs_origin_meta_copy(GstBuffer *to, GstBuffer *from)
{
    const GstHsOriginMeta *origin = gst_hs_origin_meta_get(from);
    GstHsOriginMeta *made = origin ? gst_hs_origin_meta_add(to) : NULL;

    if (!made)
        return;
    made->number = origin->number;
    made->model = origin->model;
    made->source = origin->source ? g_atomic_rc_box_acquire(origin->source) : NULL;
}
