// SPDX-License-Identifier: MIT
/** Planes as a convention has them in files: the way back from canonical ones. */
#ifndef HSIO_STORE_H
#define HSIO_STORE_H

#include "hsio_convention.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What storing a plane may need to know of its frame. */
struct hsio_store_frame {
    /** Render size. Required. */
    int width, height;
    /** Clip distances, metres; `far` may be infinite. Required for hardware depth. */
    float near, far;
    /** Canonical depth `[height,width]`; NULL: no pixel is background. */
    const float *depth;
    /** World to view, row-major for column vectors. Required for normals in view space. */
    const double *view;
    /** Jitter, render pixels, of this frame, of the one before and of the one after. */
    float jitter[2], previous_jitter[2], next_jitter[2];
};

/**
 * Turns a canonical plane, `[height,width]`, into the values that the convention's files hold.
 *
 * Canonical: motion in render pixels to the frame that the convention's direction names, without
 * jitter; depth and hit distance in metres, infinite where nothing is; normals in world space, 0
 * where nothing is, roughness in the fourth channel; roughness perceptual. Colour and albedos
 * stay as they are.
 *
 * In-place: `pixels` is read and written.
 * Thread: safe.
 * Errors: HS_ERR_INVALID: `format` has not the plane's channels, or something required is missing;
 * HS_ERR_UNSUPPORTED: motion at display resolution. Pixels are untouched then.
 * Since: 1.
 */
int hsio_store_plane(const struct hsio_convention *conv, enum hsio_plane plane,
                     const struct hsio_store_frame *frame, enum hsio_format format, void *pixels,
                     const struct hs_log *log);

/**
 * Names of the channels that the convention takes a plane from, with commas between them: the first
 * alternative of its pattern, `*` being the convention's layer or one like the renderer's.
 *
 * Thread: safe.
 * Errors: HS_ERR_INVALID: the pattern is empty, or `size` is too small.
 * Since: 1.
 */
int hsio_store_names(const struct hsio_convention *conv, enum hsio_plane plane, char *text,
                     size_t size);

/** Jitter in render pixels as JSON files of the convention have it. Thread: safe. Since: 1. */
void hsio_store_jitter(const struct hsio_convention *conv, int width, int height,
                       const float jitter[2], float out[2]);

#ifdef __cplusplus
}
#endif
#endif
