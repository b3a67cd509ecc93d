// SPDX-License-Identifier: MIT
/** The parameter block of a frame, from the frame's values and what is kept of the last one. */
#ifndef HS_REF_PARAMS_H
#define HS_REF_PARAMS_H

#include "ref.h"

/** What a frame must know of the one before it. */
struct hs_ref_past {
    bool valid; ///< False: the next frame resets.
    bool has_depth, has_camera;
    bool has_normal;   ///< In world space.
    int width, height; ///< Render size.
    int frames;        ///< Since the reset.
    float jitter[2];
    struct hs_camera camera;
};

void hs_ref_params_fill(const struct hs_frame *f, const struct hs_ref_inputs *in,
                        const struct hs_ref_past *past, int out_width, int out_height, bool ldr,
                        struct hs_frame_params *p);

/** Adds what the guides' passes want to know. Returns whether normals end up in world space. */
bool hs_ref_params_guides(const struct hs_frame *f, const struct hs_ref_inputs *in,
                          const struct hs_ref_past *past, struct hs_frame_params *p);

#endif
