// SPDX-License-Identifier: MIT
#include "gsthslog.h"

#define GST_CAT_DEFAULT gst_hs_debug
GST_DEBUG_CATEGORY(gst_hs_debug);

void gst_hs_log_register(void)
{
    GST_DEBUG_CATEGORY_INIT(gst_hs_debug, "hindsight", 0, "Hindsight elements");
}

static GstDebugLevel level_of(enum hs_log_level level)
{
    static const GstDebugLevel levels[] = {GST_LEVEL_NONE, GST_LEVEL_ERROR, GST_LEVEL_WARNING,
                                           GST_LEVEL_INFO, GST_LEVEL_DEBUG, GST_LEVEL_LOG};

    return levels[CLAMP(level, HS_LOG_NONE, HS_LOG_TRACE)];
}

static void on_message(void *priv, enum hs_log_level level, const char *message)
{
    struct gst_hs_log *log = priv;

    if (level == HS_LOG_ERROR) {
        g_mutex_lock(&log->lock);
        g_strlcpy(log->last, message, sizeof(log->last));
        g_mutex_unlock(&log->lock);
    }
    GST_CAT_LEVEL_LOG(gst_hs_debug, level_of(level), log->object, "%s", message);
}

void gst_hs_log_init(struct gst_hs_log *log, gpointer object)
{
    *log = (struct gst_hs_log){
        .log = {.cb = on_message, .priv = log, .level = HS_LOG_DEBUG},
        .object = object,
    };
    g_mutex_init(&log->lock);
}

void gst_hs_log_finish(struct gst_hs_log *log)
{
    g_mutex_clear(&log->lock);
}

char *gst_hs_log_take(struct gst_hs_log *log, int error)
{
    char *text;

    g_mutex_lock(&log->lock);
    text = g_strdup(*log->last ? log->last : hs_error_string(error));
    *log->last = 0;
    g_mutex_unlock(&log->lock);
    return text;
}

int gst_hs_convention_change(struct hsio_convention *convention, const char *changes,
                             const struct hs_log *log)
{
    char **pairs = g_strsplit(changes ? changes : "", ",", -1);
    int err = 0;

    for (int i = 0; !err && pairs[i]; i++) {
        if (*g_strstrip(pairs[i]))
            err = hsio_convention_set_text(convention, pairs[i], log);
    }
    g_strfreev(pairs);
    return err;
}

void gst_hs_log_post(struct gst_hs_log *log, GstElement *element, int error, const char *what)
{
    char *why = gst_hs_log_take(log, error);

    switch (error) {
    case HS_ERR_DEVICE_LOST:
        GST_ELEMENT_ERROR(element, RESOURCE, FAILED,
                          ("%s: %s. The Vulkan device is lost: restart the pipeline.", what, why),
                          (NULL));
        break;
    case HS_ERR_NOMEM:
        GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT,
                          ("%s: %s. Use a smaller output size.", what, why), (NULL));
        break;
    case HS_ERR_IO:
        if (GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK))
            GST_ELEMENT_ERROR(
                element, RESOURCE, WRITE,
                ("%s: %s. Change location, or see that its folder can be written to.", what, why),
                (NULL));
        else
            GST_ELEMENT_ERROR(element, RESOURCE, READ, ("%s: %s. Change location.", what, why),
                              (NULL));
        break;
    case HS_ERR_UNSUPPORTED:
        GST_ELEMENT_ERROR(element, STREAM, NOT_IMPLEMENTED, ("%s: %s", what, why), (NULL));
        break;
    default:
        GST_ELEMENT_ERROR(element, STREAM, FAILED, ("%s: %s", what, why), (NULL));
        break;
    }
    g_free(why);
}
