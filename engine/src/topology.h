// SPDX-License-Identifier: MIT
/** The layer table of a model file: exactly what an architecture can be. */
#ifndef HS_ENGINE_TOPOLOGY_H
#define HS_ENGINE_TOPOLOGY_H

#include "tensors.h"
#include "weights.h"

/** Fills channels, blocks and layers (without tensors) of the architecture that `weights` names. */
int hs_topology_read(const struct hs_log *log, const char *label, const struct hs_tensors *tensors,
                     struct hs_weights *weights);

/** The word of a layer table. */
const char *hs_layer_kind_name(enum hs_layer_kind kind);
/** NULL for HS_ADD_NONE. */
const char *hs_layer_add_name(enum hs_layer_add add);

#endif
