// SPDX-License-Identifier: MIT
/**
 * Properties that are nothing but fields of a struct: a table from the property's id to the offset
 * of its field replaces switches. Fields by type of the property: char * (owned), bool, int
 * (for enumerations), guint, gint64, guint64, float, double, struct gst_hs_rate (for fractions).
 */
#ifndef GST_HS_SETTINGS_H
#define GST_HS_SETTINGS_H

#include <gst/gst.h>

void gst_hs_settings_set(gpointer settings, gsize offset, const GValue *value);
void gst_hs_settings_get(gconstpointer settings, gsize offset, GValue *value);

/** `kind` is the end of a g_param_spec_ function; what follows are its arguments. */
#define GST_HS_INSTALL(class, id, kind, ...) \
    g_object_class_install_property(class, id, g_param_spec_##kind(__VA_ARGS__))
#define GST_HS_PROPERTY_FIXED (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)
#define GST_HS_PROPERTY_LIVE \
    (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

#endif
