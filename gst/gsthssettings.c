// SPDX-License-Identifier: MIT
#include "gsthssettings.h"

#include <stdbool.h>

#include "gsthssource.h"

void gst_hs_settings_set(gpointer settings, gsize offset, const GValue *value)
{
    gpointer field = (guint8 *)settings + offset;

    if (GST_VALUE_HOLDS_FRACTION(value)) {
        *(struct gst_hs_rate *)field = (struct gst_hs_rate){
            gst_value_get_fraction_numerator(value), gst_value_get_fraction_denominator(value)};
        return;
    }
    switch (G_TYPE_FUNDAMENTAL(G_VALUE_TYPE(value))) {
    case G_TYPE_STRING:
        g_free(*(char **)field);
        *(char **)field = g_value_dup_string(value);
        break;
    case G_TYPE_BOOLEAN:
        *(bool *)field = g_value_get_boolean(value);
        break;
    case G_TYPE_ENUM:
        *(int *)field = g_value_get_enum(value);
        break;
    case G_TYPE_UINT:
        *(guint *)field = g_value_get_uint(value);
        break;
    case G_TYPE_INT64:
        *(gint64 *)field = g_value_get_int64(value);
        break;
    case G_TYPE_UINT64:
        *(guint64 *)field = g_value_get_uint64(value);
        break;
    case G_TYPE_FLOAT:
        *(float *)field = g_value_get_float(value);
        break;
    case G_TYPE_DOUBLE:
        *(double *)field = g_value_get_double(value);
        break;
    default:
        g_assert_not_reached();
    }
}

void gst_hs_settings_get(gconstpointer settings, gsize offset, GValue *value)
{
    gconstpointer field = (const guint8 *)settings + offset;

    if (GST_VALUE_HOLDS_FRACTION(value)) {
        const struct gst_hs_rate *rate = field;

        gst_value_set_fraction(value, rate->n, rate->d);
        return;
    }
    switch (G_TYPE_FUNDAMENTAL(G_VALUE_TYPE(value))) {
    case G_TYPE_STRING:
        g_value_set_string(value, *(char *const *)field);
        break;
    case G_TYPE_BOOLEAN:
        g_value_set_boolean(value, *(const bool *)field);
        break;
    case G_TYPE_ENUM:
        g_value_set_enum(value, *(const int *)field);
        break;
    case G_TYPE_UINT:
        g_value_set_uint(value, *(const guint *)field);
        break;
    case G_TYPE_INT64:
        g_value_set_int64(value, *(const gint64 *)field);
        break;
    case G_TYPE_UINT64:
        g_value_set_uint64(value, *(const guint64 *)field);
        break;
    case G_TYPE_FLOAT:
        g_value_set_float(value, *(const float *)field);
        break;
    case G_TYPE_DOUBLE:
        g_value_set_double(value, *(const double *)field);
        break;
    default:
        g_assert_not_reached();
    }
}
