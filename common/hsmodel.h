// SPDX-License-Identifier: MIT
/** A model as users name it. */
#ifndef HSMODEL_H
#define HSMODEL_H

#include <hindsight/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Ends in .safetensors. Thread: safe. */
bool hsmodel_is_file(const char *name);

/**
 * Whether a model of this name takes guides (albedos, normal, ...). Reads a model file; one that
 * can not be read takes none.
 * Thread: safe.
 */
bool hsmodel_reads_guides(const char *name);

/**
 * What to load for a name: "auto", a preset, or the path of a model file. The result borrows the
 * name; its path and batch are the caller's to set.
 * Thread: safe.
 */
struct hs_model_params hsmodel_params(const char *name);

#ifdef __cplusplus
}
#endif
#endif
