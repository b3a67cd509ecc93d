// SPDX-License-Identifier: MIT
/** From what a caller asks for to a model file, or to none. */
#ifndef HS_ENGINE_CHOOSE_H
#define HS_ENGINE_CHOOSE_H

#include <hindsight/model.h>

#include "weights.h"

/** The preset without weights, which every device runs. */
#define HS_CHOICE_PLAIN "taau"

/** The one that reads guides. */
#define HS_CHOICE_GUIDED "atrous"

/** The preset without weights that is asked for, or that takes over. */
const char *hs_choose_plain(const struct hs_model_params *params);

/**
 * Reads the weights that `params` ask for; NULL for hs_choose_plain(). Where a preset's file is
 * missing or can not be used, the next preset takes over and one line tells why. `software`: the
 * device is a processor.
 * Errors: those of hs_model_load(), logged.
 */
int hs_choose(const struct hs_log *log, const struct hs_model_params *params, bool software,
              struct hs_weights **weights);

#endif
