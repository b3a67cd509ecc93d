// SPDX-License-Identifier: MIT
/** The engine's backend: slots of images and staging buffers on a Vulkan device. */
#ifndef HINDSIGHT_TOOLS_GPU_H
#define HINDSIGHT_TOOLS_GPU_H

#include "backend.h"
#include "vkdev.h"

struct gpu_slot {
    struct vkdev_buffer upload, download;
    VkDeviceSize offsets[HSIO_PLANE_COUNT];
    VkDeviceSize aov_in_offsets[HS_AOV_MAX], aov_out_offsets[HS_AOV_MAX];
    struct vkdev_image aovs_in[HS_AOV_MAX], aovs_out[HS_AOV_MAX];
    struct vkdev_image inputs[HSIO_PLANE_COUNT];
    struct vkdev_image output;
    VkCommandBuffer cmd;
    uint64_t ticket; ///< Value of the timeline when the slot's frame has finished.
};

struct gpu {
    struct tool_backend base;
    struct vkdev dev;
    bool open;
    struct hs_device *device;
    struct hs_model *model;
    struct hs_stream *stream;
    int out_width, out_height, slot_count;
    int aov_count;
    enum hs_aov_kind aov_kinds[HS_AOV_MAX];
    struct gpu_slot *slots;
    VkSemaphore timeline;
    uint64_t tickets;
    bool reported;
};

/** Staging memory to images. The slot's last frame has finished: nothing to wait for. */
void gpu_record_upload(const struct gpu *gpu, const struct gpu_slot *slot,
                       const struct hsio_frame_info *info);

/** Output and AOVs to staging memory. */
void gpu_record_download(const struct gpu *gpu, const struct gpu_slot *slot);

#endif
