// SPDX-License-Identifier: MIT
/**
 * What turns a slot's input planes into its output picture: the engine on a Vulkan device, or a
 * plain resampling filter on the CPU. A slot is the memory of one frame on its way through.
 */
#ifndef HINDSIGHT_TOOLS_BACKEND_H
#define HINDSIGHT_TOOLS_BACKEND_H

#include <stdbool.h>

#include <hindsight/hindsight.h>

#include "hsframe.h"
#include "hsio.h"

/** The least side of a picture that a model takes. */
#define TOOL_LEAST_SIDE 16

/** A layer that is upscaled beside the colour. */
struct tool_aov {
    enum hs_aov_kind kind;
    const char *name;
    enum hsio_format format, output_format; ///< HSIO_FORMAT_RGBA16F or _RGBA32F.
    char channels[1040];                    ///< Names in the output.
};

/** What all frames have in common. */
struct tool_backend_setup {
    const char *model;  ///< "nearest" and "bicubic" run on the CPU, others as hsmodel_params().
    const char *device; ///< As in vkdev_params.
    enum hs_path path;
    bool validate, ldr, output_float;
    bool guides; ///< The model reads them.
    int slots;
    int out_width, out_height;
    struct {
        bool present;
        enum hsio_format format; ///< As stored.
        int width, height;       ///< The greatest that will come.
    } planes[HSIO_PLANE_COUNT];
    struct tool_aov aovs[HS_AOV_MAX];
    int aov_count;
};

/** Where a slot's pixels lie in host memory: packed rows. */
struct tool_slot_memory {
    void *input[HSIO_PLANE_COUNT]; ///< NULL: the plane is not used.
    size_t input_bytes[HSIO_PLANE_COUNT];
    enum hsio_format formats[HSIO_PLANE_COUNT];
    const void *output;
    enum hsio_format output_format;
    void *aov_input[HS_AOV_MAX];
    size_t aov_input_bytes[HS_AOV_MAX];
    const void *aov_output[HS_AOV_MAX];
};

/** What one frame adds to its description. */
struct tool_frame_options {
    struct hsframe_options frame;
    bool read_back; ///< The output will be read.
};

struct tool_backend {
    struct tool_slot_memory *memory; ///< One per slot.
    char about[256];                 ///< For people: device and path.
    char model[32];                  ///< The preset that runs.
    /** Starts a frame. One thread, in order. Errors: those of hs_stream_record(). */
    int (*submit)(struct tool_backend *backend, int slot, const struct hsio_frame_info *info,
                  const struct tool_frame_options *options);
    /** Waits until the slot's output is there. Any thread. Errors: HS_ERR_DEVICE_LOST. */
    int (*wait)(struct tool_backend *backend, int slot);
    /** Validation messages so far. */
    uint32_t (*messages)(const struct tool_backend *backend);
    /** Waits for everything and frees it. */
    void (*destroy)(struct tool_backend *backend);
};

/** Planes that the engine takes from files. */
extern const enum hsio_plane tool_used_planes[];
#define TOOL_USED_PLANES 9
/** Whether a model takes such a plane. `guides`: it is one of the few that read them. */
bool tool_plane_used(bool guides, enum hsio_plane plane);

/** Errors: HS_ERR_* of the device or model; HS_ERR_NOMEM. */
int tool_backend_create(const struct tool_backend_setup *setup, struct tool_backend **backend);
int tool_gpu_create(const struct tool_backend_setup *setup, struct tool_backend **backend);
/** Prints what is told of guides. */
extern const struct hs_log tool_guide_log;
int tool_baseline_create(const struct tool_backend_setup *setup, struct tool_backend **backend);
bool tool_is_baseline(const char *model);

/** Open Image Denoise ahead of taau. Errors: as above; HS_ERR_UNSUPPORTED there is no library. */
int tool_oidn_create(const struct tool_backend_setup *setup, struct tool_backend **backend);

#endif
