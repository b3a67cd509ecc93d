// SPDX-License-Identifier: MIT
/** What the passes around taau-int8 need of each other. */
#ifndef HS_REF_INTEGERS_H
#define HS_REF_INTEGERS_H

#include "ref_math.h"

/** Features to the integers that the network takes, in place. */
void hs_ref_round_features(const float *multipliers, struct hs_ref_plane *features);

/** hs_ref_layer_run() into planes that are there. HS_ERR_NOMEM. */
int hs_ref_integers_run(const struct hs_layer *layer, const struct hs_ref_plane *in,
                        const struct hs_ref_plane *add, struct hs_ref_layer *out);

#endif
