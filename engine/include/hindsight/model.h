// SPDX-License-Identifier: MIT
/**
 * Model: what does not change from frame to frame (pipelines, tables, weights). Immutable, shared
 * by any number of streams. Shader compilation happens here and nowhere else.
 */
#ifndef HINDSIGHT_MODEL_H
#define HINDSIGHT_MODEL_H

#include <stdbool.h>

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A loaded model. Opaque. */
struct hs_model;

/** How the arithmetic of a model is done. */
enum hs_path {
    /** The fastest that is known to be right: plain on processors and, until their results have
     * been checked (docs/benchmarks.md), where matrices have more than 8 rows. */
    HS_PATH_AUTO = 0,
    HS_PATH_PLAIN = 1,  ///< Plain shader arithmetic; runs on every device.
    HS_PATH_MATRIX = 2, ///< Cooperative matrices.
};

/** Arguments of hs_model_load(). */
struct hs_model_params {
    /**
     * `taau`, `fast`, `quality`, `best`, `atrous` or `ray`; what `file` must hold. NULL or "auto":
     * see hs_model_load().
     */
    const char *preset;
    /** Wanted path. One that the device or the model does not have falls back with a log line. */
    enum hs_path path;
    /** Path of a model file (docs/model-format.md). NULL: the preset's own, where it has one. */
    const char *file;
    /** "auto" may take a model that is too slow to watch. */
    bool batch;
};

/** What was loaded. */
struct hs_model_info {
    /** Preset name, "taau" where that took over; lives as long as the model. */
    const char *preset;
    /** The path in use, never HS_PATH_AUTO. */
    enum hs_path path;
    /** Device memory held by the model. */
    uint64_t memory_bytes;
    /** Greatest ratio of output to render size per axis; the least is 1. */
    float max_ratio;
    /** Number of dispatches of one frame without optional stages. */
    uint32_t stage_count;
    /** It reads guides: albedos, normal, roughness, hit distance. */
    bool guides;
};

/**
 * Loads a model.
 *
 * `taau` is weight-free temporal accumulation upscaling: jitter-aware reconstruction of the
 * current samples, reprojected history, rectification, blend by confidence. `quality` and `best`
 * add a network that steers all of these; "auto" is `best` for `batch` on a GPU, else `quality`.
 * `fast` adds a small one, of 8-bit integers on render pixels.
 * `atrous` is for noisy path-traced frames: it takes the noise out at render size, by means of the
 * guides that a frame has, and then does what `taau` does. `ray` adds a network that sees guides
 * and how noisy pixels are, and steers how much of the noise goes, and all that `quality` steers.
 *
 * Weights are in files hs-PRESET.safetensors. They are looked up where models are installed and
 * where this library was built, or, if the environment variable HINDSIGHT_MODELS is set, only in
 * its folders, a list with ':'. If a preset's file is missing, damaged or can not run on the
 * device, the next one takes over, `atrous` for `ray`, in the end `taau`, and one log line tells
 * why. For `file` nothing takes over.
 *
 * Thread: safe on one device.
 * Cost: reads a file, creates pipelines; submits nothing, waits for nothing.
 * Errors: HS_ERR_INVALID a required argument is missing, the preset name is unknown, or `file`
 * holds another preset; HS_ERR_IO `file` can not be read; HS_ERR_FORMAT it is no model or damaged;
 * HS_ERR_VERSION it is of another format version; HS_ERR_UNSUPPORTED it is of another architecture,
 * or no path of it runs on the device; HS_ERR_NOMEM; HS_ERR_DEVICE_LOST.
 * Source: docs/architecture.md, docs/model-format.md.
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

/** What lies around a model's network in a frame of a size: tokens row by row, their channels side
 * by side (docs/model-format.md). */
struct hs_split_info {
    uint32_t width, height;     ///< Tokens, filled up to multiples of four.
    uint32_t features, outputs; ///< Channels of a token before and after the network.
    /** Features are 8-bit integers and outputs 32-bit floats; otherwise both are half floats. */
    bool integers;
    uint64_t features_bytes, head_bytes;
};

/**
 * Tells what a network that is run outside (hs_stream_record_split()) reads and writes.
 *
 * Units: pixels.
 * Thread: safe.
 * Errors: HS_ERR_INVALID an argument is missing or a size is 0; HS_ERR_UNSUPPORTED the model has no
 * network.
 * Since: 2.
 */
int hs_model_split(const struct hs_model *model, uint32_t render_width, uint32_t render_height,
                   uint32_t out_width, uint32_t out_height, struct hs_split_info *info);

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
