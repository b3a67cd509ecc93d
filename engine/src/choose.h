// SPDX-License-Identifier: MIT
/** From what a caller asks for to a model file, or to none. */
#ifndef HS_ENGINE_CHOOSE_H
#define HS_ENGINE_CHOOSE_H

#include <hindsight/model.h>

#include "weights.h"

/** The preset without weights, which every device runs. */
#define HS_CHOICE_PLAIN "taau"

/**
 * Reads the weights that `params` ask for; NULL for `taau`. Where a preset's file is missing or
 * can not be used, the next preset takes over and one line tells why. `software`: the device is a
 * processor.
 * Errors: those of hs_model_load(), logged.
 */
int hs_choose(const struct hs_log *log, const struct hs_model_params *params, bool software,
              struct hs_weights **weights);

#endif
