// SPDX-License-Identifier: MIT
/** The passes of `atrous` ahead of upscaling, with their history. */
#ifndef HS_REF_DENOISER_H
#define HS_REF_DENOISER_H

#include "ref.h"

struct hs_ref_denoiser;

/** NULL if memory is short. */
struct hs_ref_denoiser *hs_ref_denoiser_create(void);

/** Replaces the prepared colour. HS_ERR_NOMEM. */
int hs_ref_denoiser_run(struct hs_ref_denoiser *d, const struct hs_frame_params *p,
                        const struct hs_state *state, const struct hs_ref_inputs *in,
                        const struct hs_ref_plane *prev_depth, struct hs_ref_prepared *prep);

/** Of the last frame. */
struct hs_ref_levels hs_ref_denoiser_levels(const struct hs_ref_denoiser *d);

void hs_ref_denoiser_destroy(struct hs_ref_denoiser **d);

#endif
