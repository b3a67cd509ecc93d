// SPDX-License-Identifier: MIT
#include "gsthsaovmeta.h"

static gboolean init(GstMeta *meta, gpointer params, GstBuffer *buffer)
{
    (void)params;
    (void)buffer;
    ((GstHsAovMeta *)meta)->count = 0;
    ((GstHsAovMeta *)meta)->exact.count = 0;
    return TRUE;
}

static void clear(GstMeta *meta, GstBuffer *buffer)
{
    GstHsAovMeta *aovs = (GstHsAovMeta *)meta;

    (void)buffer;
    for (guint i = 0; i < aovs->count; i++)
        gst_clear_buffer(&aovs->list[i].plane.buffer);
    aovs->count = 0;
}

static gboolean transform(GstBuffer *to, GstMeta *meta, GstBuffer *from, GQuark type, gpointer data)
{
    const GstHsAovMeta *aovs = (const GstHsAovMeta *)meta;
    const GstMetaTransformCopy *copy = data;
    GstHsAovMeta *made;

    (void)from;
    if (!GST_META_TRANSFORM_IS_COPY(type) || copy->region)
        return FALSE;
    made = gst_hs_aov_meta_add(to);
    made->exact = aovs->exact;
    for (guint i = 0; i < aovs->count; i++) {
        gst_buffer_ref(aovs->list[i].plane.buffer);
        gst_hs_aov_meta_append(made, &aovs->list[i]);
    }
    return TRUE;
}

GType gst_hs_aov_meta_api_get_type(void)
{
    static gsize type;
    static const gchar *tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                  GST_META_TAG_VIDEO_COLORSPACE_STR,
                                  GST_META_TAG_VIDEO_ORIENTATION_STR, NULL};

    if (g_once_init_enter(&type))
        g_once_init_leave(&type, gst_meta_api_type_register("GstHsAovMetaAPI", tags));
    return type;
}

const GstMetaInfo *gst_hs_aov_meta_get_info(void)
{
    static gsize info;

    if (g_once_init_enter(&info))
        g_once_init_leave(&info,
                          (gsize)gst_meta_register(GST_HS_AOV_META_API_TYPE, "GstHsAovMeta",
                                                   sizeof(GstHsAovMeta), init, clear, transform));
    return (const GstMetaInfo *)info;
}

GstHsAovMeta *gst_hs_aov_meta_add(GstBuffer *buffer)
{
    GstHsAovMeta *old = gst_hs_aov_meta_get(buffer);

    if (old)
        gst_buffer_remove_meta(buffer, &old->meta);
    return (GstHsAovMeta *)gst_buffer_add_meta(buffer, gst_hs_aov_meta_get_info(), NULL);
}

GstHsAovMeta *gst_hs_aov_meta_get(GstBuffer *buffer)
{
    return (GstHsAovMeta *)gst_buffer_get_meta(buffer, GST_HS_AOV_META_API_TYPE);
}

void gst_hs_aov_meta_append(GstHsAovMeta *meta, const GstHsAov *aov)
{
    g_return_if_fail(meta->count < HS_AOV_MAX);
    meta->list[meta->count++] = *aov;
}
