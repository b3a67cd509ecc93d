// SPDX-License-Identifier: MIT
/** Attributes of an EXR header: camera, carry-over, text. */
#include "internal.h"

#include <math.h>
#include <openexr.h>
#include <stdio.h>
#include <string.h>

void hsio_luminance_weights(const float chromaticities[8], float out[3])
{
    double m[3][3], white[3], w[3], det;
    const double wx = (double)chromaticities[6], wy = (double)chromaticities[7];

    // Columns: XYZ of each primary at luminance 1; their weighted sum is the white at luminance 1.
    for (int i = 0; i < 3; i++) {
        const double x = (double)chromaticities[2 * i], y = (double)chromaticities[2 * i + 1];

        m[0][i] = x / y;
        m[1][i] = 1;
        m[2][i] = (1 - x - y) / y;
    }
    white[0] = wx / wy;
    white[1] = 1;
    white[2] = (1 - wx - wy) / wy;
    det = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
          m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
          m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    for (int i = 0; i < 3; i++) {
        double a[3][3];

        memcpy(a, m, sizeof(a));
        for (int r = 0; r < 3; r++)
            a[r][i] = white[r];
        w[i] = (a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0])) /
               det;
    }
    if (!(isfinite(w[0]) && isfinite(w[1]) && isfinite(w[2]) && w[1] > 0))
        return; // Senseless primaries: the caller's weights stay.
    for (int i = 0; i < 3; i++)
        out[i] = (float)w[i];
}

static bool get_matrix(exr_const_context_t context, int part, const char *name, double out[16])
{
    const exr_attribute_t *attr;

    if (exr_get_attribute_by_name(context, part, name, &attr) != EXR_ERR_SUCCESS)
        return false;
    // The file is for row vectors: transpose.
    for (int i = 0; i < 16; i++) {
        const int from = i % 4 * 4 + i / 4;

        if (attr->type == EXR_ATTR_M44F)
            out[i] = (double)attr->m44f->m[from];
        else if (attr->type == EXR_ATTR_M44D)
            out[i] = attr->m44d->m[from];
        else
            return false;
        if (!isfinite(out[i]))
            return false;
    }
    return true;
}

static double determinant3(const double m[16])
{
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
           m[2] * (m[4] * m[9] - m[5] * m[8]);
}

/* Inverse of an affine matrix. */
static void invert_affine(const double m[16], double out[16])
{
    const double det = determinant3(m);

    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            const int a = (c + 1) % 3, b = (c + 2) % 3, d = (r + 1) % 3, e = (r + 2) % 3;

            out[r * 4 + c] = (m[a * 4 + d] * m[b * 4 + e] - m[a * 4 + e] * m[b * 4 + d]) / det;
        }
        out[r * 4 + 3] = 0;
        out[12 + r] = 0;
    }
    out[15] = 1;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            out[r * 4 + 3] -= out[r * 4 + c] * m[c * 4 + 3];
    }
}

static void multiply(const double a[16], const double b[16], double out[16])
{
    for (int r = 0; r < 4; r++) {
        for (int c = 0; c < 4; c++) {
            out[r * 4 + c] = 0;
            for (int k = 0; k < 4; k++)
                out[r * 4 + c] += a[r * 4 + k] * b[k * 4 + c];
        }
    }
}

void hsio_exr_camera(const struct hsio_exr *exr, int part, struct hsio_frame_info *info)
{
    const exr_const_context_t context = hsio_exr_context(exr);
    double view[16], ndc[16], inverse[16], proj[16], clip[16];
    bool has_ndc, forward_z;

    if (!get_matrix(context, part, "worldToCamera", view) || fabs(determinant3(view)) < 1e-20 ||
        view[12] != 0 || view[13] != 0 || view[14] != 0 || view[15] != 1)
        return;
    has_ndc = get_matrix(context, part, "worldToNDC", ndc);
    invert_affine(view, inverse);
    if (has_ndc)
        multiply(ndc, inverse, proj);
    // The standard's camera looks along +z and is left-handed; some writers keep -z. The sign of
    // w for a point in front tells, else the handedness does.
    forward_z = has_ndc && proj[14] != 0 ? proj[14] > 0 : determinant3(view) < 0;
    for (int i = 0; i < 16; i++)
        info->view[i] = (float)(forward_z && i / 4 == 2 ? -view[i] : view[i]);
    info->has_view = true;
    if (!has_ndc)
        return;
    for (int i = 0; i < 16; i++) {
        if (forward_z && i % 4 == 2)
            proj[i] = -proj[i];
    }
    // From 0..1 with y down to -1..1 with y up.
    for (int c = 0; c < 4; c++) {
        clip[c] = 2 * proj[c] - proj[12 + c];
        clip[4 + c] = proj[12 + c] - 2 * proj[4 + c];
        clip[8 + c] = 2 * proj[8 + c] - proj[12 + c];
        clip[12 + c] = proj[12 + c];
    }
    for (int i = 0; i < 16; i++)
        info->proj[i] = (float)clip[i];
    info->has_proj = true;
}

static bool is_layout(const char *name)
{
    static const char *const names[] = {
        "channels",          "compression",         "dataWindow",     "displayWindow",
        "lineOrder",         "pixelAspectRatio",    "tiles",          "screenWindowCenter",
        "screenWindowWidth", "dwaCompressionLevel", "type",           "name",
        "version",           "chunkCount",          "view",           "multiView",
        "preview",           "maxSamplesPerPixel",  "deepImageState",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!strcmp(name, names[i]))
            return true;
    }
    return false;
}

static exr_result_t copy_strings(exr_context_t context, int part, const exr_attribute_t *a)
{
    const exr_attr_string_vector_t *v = a->stringvector;
    const char *strings[256];
    const int count = v->n_strings < 256 ? v->n_strings : 256;

    for (int i = 0; i < count; i++)
        strings[i] = v->strings[i].str ? v->strings[i].str : "";
    return count ? exr_attr_set_string_vector(context, part, a->name, count, strings)
                 : EXR_ERR_SUCCESS;
}

static exr_result_t copy_attribute(exr_context_t to, int part, const exr_attribute_t *a)
{
    switch (a->type) {
    case EXR_ATTR_BOX2I:
        return exr_attr_set_box2i(to, part, a->name, a->box2i);
    case EXR_ATTR_BOX2F:
        return exr_attr_set_box2f(to, part, a->name, a->box2f);
    case EXR_ATTR_CHROMATICITIES:
        return exr_attr_set_chromaticities(to, part, a->name, a->chromaticities);
    case EXR_ATTR_DOUBLE:
        return exr_attr_set_double(to, part, a->name, a->d);
    case EXR_ATTR_ENVMAP:
        return exr_attr_set_envmap(to, part, a->name, (exr_envmap_t)a->uc);
    case EXR_ATTR_FLOAT:
        return exr_attr_set_float(to, part, a->name, a->f);
    case EXR_ATTR_FLOAT_VECTOR:
        return exr_attr_set_float_vector(to, part, a->name, a->floatvector->length,
                                         a->floatvector->arr);
    case EXR_ATTR_INT:
        return exr_attr_set_int(to, part, a->name, a->i);
    case EXR_ATTR_KEYCODE:
        return exr_attr_set_keycode(to, part, a->name, a->keycode);
    case EXR_ATTR_M33F:
        return exr_attr_set_m33f(to, part, a->name, a->m33f);
    case EXR_ATTR_M33D:
        return exr_attr_set_m33d(to, part, a->name, a->m33d);
    case EXR_ATTR_M44F:
        return exr_attr_set_m44f(to, part, a->name, a->m44f);
    case EXR_ATTR_M44D:
        return exr_attr_set_m44d(to, part, a->name, a->m44d);
    case EXR_ATTR_RATIONAL:
        return exr_attr_set_rational(to, part, a->name, a->rational);
    case EXR_ATTR_STRING:
        return exr_attr_set_string(to, part, a->name, a->string->str ? a->string->str : "");
    case EXR_ATTR_STRING_VECTOR:
        return copy_strings(to, part, a);
    case EXR_ATTR_TIMECODE:
        return exr_attr_set_timecode(to, part, a->name, a->timecode);
    case EXR_ATTR_V2I:
        return exr_attr_set_v2i(to, part, a->name, a->v2i);
    case EXR_ATTR_V2F:
        return exr_attr_set_v2f(to, part, a->name, a->v2f);
    case EXR_ATTR_V2D:
        return exr_attr_set_v2d(to, part, a->name, a->v2d);
    case EXR_ATTR_V3I:
        return exr_attr_set_v3i(to, part, a->name, a->v3i);
    case EXR_ATTR_V3F:
        return exr_attr_set_v3f(to, part, a->name, a->v3f);
    case EXR_ATTR_V3D:
        return exr_attr_set_v3d(to, part, a->name, a->v3d);
    case EXR_ATTR_OPAQUE:
        return exr_attr_set_user(to, part, a->name, a->type_name, a->opaque->size,
                                 a->opaque->packed_data);
    default:
        return EXR_ERR_SUCCESS;
    }
}

int hsio_exr_copy_attributes(void *dst, int dst_part, void *src, int src_part)
{
    int32_t count = 0;
    exr_result_t result = exr_get_attribute_count(src, src_part, &count);

    for (int32_t i = 0; i < count && result == EXR_ERR_SUCCESS; i++) {
        const exr_attribute_t *a;

        result = exr_get_attribute_by_index(src, src_part, EXR_ATTR_LIST_FILE_ORDER, i, &a);
        if (result == EXR_ERR_SUCCESS && !is_layout(a->name))
            result = copy_attribute(dst, dst_part, a);
    }
    return result;
}

static size_t append_doubles(char *text, size_t size, const double *v, int count)
{
    size_t length = 0;

    text[0] = 0;
    for (int i = 0; i < count; i++) {
        char number[64];

        hsio_text_from_float(number, sizeof(number), (float)v[i]);
        length = hsio_text_append(text, size, length, "%s%s", i ? " " : "", number);
    }
    return length;
}

static void floats_text(const float *v, int count, char *text, size_t size)
{
    double d[32];
    const int n = count < 32 ? count : 32;

    for (int i = 0; i < n; i++)
        d[i] = (double)v[i];
    append_doubles(text, size, d, n);
}

static void strings_text(const exr_attr_string_vector_t *v, char *text, size_t size)
{
    size_t length = 0;

    text[0] = 0;
    for (int i = 0; i < v->n_strings; i++)
        length = hsio_text_append(text, size, length, "%s%s", i ? ", " : "",
                                  v->strings[i].str ? v->strings[i].str : "");
}

static void timecode_text(const exr_attr_timecode_t *t, char *text, size_t size)
{
    const unsigned v = (unsigned)t->time_and_flags;

    // Binary-coded decimals; each field has its tens above its units.
    snprintf(text, size, "%u%u:%u%u:%u%u:%u%u", v >> 28 & 3, v >> 24 & 15, v >> 20 & 7,
             v >> 16 & 15, v >> 12 & 7, v >> 8 & 15, v >> 4 & 3, v & 15);
}

void hsio_exr_attribute_text(const void *attribute, char *text, size_t size)
{
    const exr_attribute_t *a = attribute;

    text[0] = 0;
    switch (a->type) {
    case EXR_ATTR_BOX2I:
        snprintf(text, size, "%d,%d to %d,%d", a->box2i->min.x, a->box2i->min.y, a->box2i->max.x,
                 a->box2i->max.y);
        break;
    case EXR_ATTR_BOX2F:
        floats_text(&a->box2f->min.x, 4, text, size);
        break;
    case EXR_ATTR_CHROMATICITIES:
        floats_text(&a->chromaticities->red_x, 8, text, size);
        break;
    case EXR_ATTR_DOUBLE:
        append_doubles(text, size, &a->d, 1);
        break;
    case EXR_ATTR_FLOAT:
        floats_text(&a->f, 1, text, size);
        break;
    case EXR_ATTR_FLOAT_VECTOR:
        floats_text(a->floatvector->arr, a->floatvector->length, text, size);
        break;
    case EXR_ATTR_INT:
        snprintf(text, size, "%d", a->i);
        break;
    case EXR_ATTR_M33F:
        floats_text(a->m33f->m, 9, text, size);
        break;
    case EXR_ATTR_M33D:
        append_doubles(text, size, a->m33d->m, 9);
        break;
    case EXR_ATTR_M44F:
        floats_text(a->m44f->m, 16, text, size);
        break;
    case EXR_ATTR_M44D:
        append_doubles(text, size, a->m44d->m, 16);
        break;
    case EXR_ATTR_RATIONAL:
        snprintf(text, size, "%d/%u", a->rational->num, a->rational->denom);
        break;
    case EXR_ATTR_STRING:
        snprintf(text, size, "%s", a->string->str ? a->string->str : "");
        break;
    case EXR_ATTR_STRING_VECTOR:
        strings_text(a->stringvector, text, size);
        break;
    case EXR_ATTR_TIMECODE:
        timecode_text(a->timecode, text, size);
        break;
    case EXR_ATTR_V2I:
        snprintf(text, size, "%d %d", a->v2i->x, a->v2i->y);
        break;
    case EXR_ATTR_V2F:
        floats_text(a->v2f->arr, 2, text, size);
        break;
    case EXR_ATTR_V2D:
        append_doubles(text, size, a->v2d->arr, 2);
        break;
    case EXR_ATTR_V3I:
        snprintf(text, size, "%d %d %d", a->v3i->x, a->v3i->y, a->v3i->z);
        break;
    case EXR_ATTR_V3F:
        floats_text(a->v3f->arr, 3, text, size);
        break;
    case EXR_ATTR_V3D:
        append_doubles(text, size, a->v3d->arr, 3);
        break;
    default:
        break;
    }
}
