// SPDX-License-Identifier: MIT
/** The libraries' messages in GStreamer's log; the last error is kept for the element's error. */
#ifndef GST_HS_LOG_H
#define GST_HS_LOG_H

#include <gst/gst.h>
#include <hindsight/hindsight.h>

#include "hsio.h"

/** Category "hindsight" of everything in this plugin. */
GST_DEBUG_CATEGORY_EXTERN(gst_hs_debug);
void gst_hs_log_register(void);

/** Embedded. `log` is what the libraries get. */
struct gst_hs_log {
    struct hs_log log;
    GObject *object; ///< Whose messages they are.
    GMutex lock;
    char last[1024]; ///< The last error.
};

void gst_hs_log_init(struct gst_hs_log *log, gpointer object);
void gst_hs_log_finish(struct gst_hs_log *log);
/** Takes the last error out: the caller frees it. Without one, the phrase for `error`. */
char *gst_hs_log_take(struct gst_hs_log *log, int error);

/**
 * Posts an element error for a code of the library, with its last message: sizes and conventions
 * are stream errors, files and devices resource errors. `what` begins the sentence.
 */
void gst_hs_log_post(struct gst_hs_log *log, GstElement *element, int error, const char *what);

/** Applies KEY=VALUE, separated by commas. Errors: those of hsio_convention_set(). */
int gst_hs_convention_change(struct hsio_convention *convention, const char *changes,
                             const struct hs_log *log);

#endif
