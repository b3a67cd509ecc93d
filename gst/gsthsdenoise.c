// SPDX-License-Identifier: MIT
// The model oidn: colour is denoised on the CPU before the engine sees it.
#include "gsthsengine.h"

/** A plane as floats in system memory; wherever it lies, for denoising is slow in any case. */
static int read_floats(struct gst_hs_engine *engine, enum hsio_plane kind, const GstHsPlane *plane,
                       GstHsPlane *floats)
{
    GstHsPlane read = {0};
    GError *error = NULL;
    int err = gst_hs_engine_read(engine, plane, kind, &read);

    if (!err && !gst_hs_plane_to_float(&read, kind, floats, &error))
        err = gst_hs_engine_fail(engine, HS_ERR_INVALID, error->message);
    gst_clear_buffer(&read.buffer);
    g_clear_error(&error);
    return err;
}

int gst_hs_engine_denoise(struct gst_hs_engine *engine, const struct hsio_frame_info *info,
                          const GstHsPlane planes[HSIO_PLANE_COUNT], GstHsPlane *colour)
{
    static const enum hsio_plane kinds[] = {HSIO_PLANE_COLOR, HSIO_PLANE_DIFFUSE_ALBEDO,
                                            HSIO_PLANE_SPECULAR_ALBEDO, HSIO_PLANE_NORMAL};
    GstHsPlane floats[G_N_ELEMENTS(kinds)] = {0};
    GstMapInfo maps[G_N_ELEMENTS(kinds)] = {0};
    struct hsoidn_picture picture;
    int err = 0;

    for (guint i = 0; !err && i < G_N_ELEMENTS(kinds); i++) {
        if (!planes[kinds[i]].buffer)
            continue;
        err = read_floats(engine, kinds[i], &planes[kinds[i]], &floats[i]);
        if (!err && !gst_buffer_map(floats[i].buffer, &maps[i], GST_MAP_READWRITE))
            err = gst_hs_engine_fail(engine, HS_ERR_NOMEM, "no host memory for a plane");
    }
    picture = (struct hsoidn_picture){
        .width = info->width,
        .height = info->height,
        .colour = (float *)(void *)maps[0].data,
        .display = engine->params.flags & HS_STREAM_LDR,
        .diffuse_albedo = (const float *)(void *)maps[1].data,
        .specular_albedo = (const float *)(void *)maps[2].data,
        .normal = (const float *)(void *)maps[3].data,
        .normal_unsigned = info->convention->normal.range == HSIO_RANGE_UNSIGNED,
    };
    if (!err && !engine->reported)
        hsoidn_tell_guides(&picture, &engine->log->log);
    if (!err)
        err = hsoidn_run(engine->denoiser, &picture);
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (maps[i].data)
            gst_buffer_unmap(floats[i].buffer, &maps[i]);
        if (i || err < 0)
            gst_clear_buffer(&floats[i].buffer);
    }
    if (!err)
        *colour = floats[0];
    return err;
}
