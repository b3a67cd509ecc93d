// SPDX-License-Identifier: MIT
/** Levels of a noisy frame as taau-ray sees them; twin of shaders/levels.glsl. */
#ifndef HS_REF_LEVELS_H
#define HS_REF_LEVELS_H

#include "ref_window.h"

/** The colour of a signal at (x, y) in the working range, with the scale s of level D there. */
void hs_ref_level_encode(const struct hs_frame_params *p, const struct hs_ref_plane *signal,
                         const struct hs_ref_plane *albedo, int x, int y, float s, float *out);

/** Features HS_FEATURE_LEVELS to the last of sample (x, y), whose level D is `d`; by channel. */
void hs_ref_level_features(const struct hs_frame_params *p, const struct hs_ref_levels *levels,
                           const struct hs_ref_work *d, int x, int y, float *out);

/** Adds shares of M - D and of A - D to the samples, and takes their range anew. */
void hs_ref_level_mix(const struct hs_frame_params *p, const struct hs_ref_levels *levels,
                      const float shares[2], struct hs_ref_window *w);

#endif
