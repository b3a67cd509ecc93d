// SPDX-License-Identifier: MIT
/**
 * Model: what does not change from frame to frame (pipelines, tables, weights). Immutable, shared
 * by any number of streams. Shader compilation happens here and nowhere else.
 */
#ifndef HINDSIGHT_MODEL_H
#define HINDSIGHT_MODEL_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A loaded model. Opaque. */
struct hs_model;

/** How the arithmetic of a model is done. */
enum hs_path {
    HS_PATH_AUTO = 0,   ///< The fastest that the device can run.
    HS_PATH_PLAIN = 1,  ///< Plain shader arithmetic; runs on every device.
    HS_PATH_MATRIX = 2, ///< Cooperative matrices.
};

/** Arguments of hs_model_load(). */
struct hs_model_params {
    /** Name of a built-in preset. NULL or "auto": the best one there is, now "taau". */
    const char *preset;
    /** Wanted path. One that the device or the model does not have falls back with a log line. */
    enum hs_path path;
};

/** What was loaded. */
struct hs_model_info {
    /** Preset name, static storage. */
    const char *preset;
    /** The path in use, never HS_PATH_AUTO. */
    enum hs_path path;
    /** Device memory held by the model. */
    uint64_t memory_bytes;
    /** Greatest ratio of output to render size per axis; the least is 1. */
    float max_ratio;
    /** Number of dispatches of one frame without optional stages. */
    uint32_t stage_count;
};

/**
 * Loads a model.
 *
 * `taau` is weight-free temporal accumulation upscaling: jitter-aware reconstruction of the
 * current samples, reprojected history, rectification, blend by confidence.
 *
 * Thread: safe on one device.
 * Cost: creates pipelines; submits nothing, waits for nothing.
 * Errors: HS_ERR_INVALID a required argument is missing or the preset name is unknown;
 * HS_ERR_UNSUPPORTED no path of the model runs on the device; HS_ERR_NOMEM; HS_ERR_DEVICE_LOST.
 * Source: docs/architecture.md.
 * Since: 1.
 */
int hs_model_load(struct hs_device *device, const struct hs_model_params *params,
                  struct hs_model **model);

/**
 * Describes a loaded model.
 *
 * Thread: safe.
 * Since: 1.
 */
void hs_model_describe(const struct hs_model *model, struct hs_model_info *info);

/**
 * Destroys a model and sets the pointer to NULL. NULL and pointers to NULL are legal. All of its
 * streams must have been destroyed.
 *
 * Thread: one at a time.
 * Since: 1.
 */
void hs_model_destroy(struct hs_model **model);

#ifdef __cplusplus
}
#endif
#endif
