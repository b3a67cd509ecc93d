// SPDX-License-Identifier: MIT
#ifndef HS_ENGINE_MODEL_H
#define HS_ENGINE_MODEL_H

#include <hindsight/model.h>

#include "device.h"

/** Stages in order of recording; each is one compute shader. */
enum hs_stage {
    HS_STAGE_MEASURE,
    HS_STAGE_EXPOSE,
    HS_STAGE_PREPARE,
    HS_STAGE_REPROJECT,
    HS_STAGE_RESOLVE,
    HS_STAGE_FINISH,
    HS_STAGE_COUNT,
};

/** What to do between frames and what a frame is made of, by preset. */
struct hs_preset {
    const char *name;
    float max_ratio;
};

struct hs_model {
    struct hs_device *device;
    const struct hs_preset *preset;
    enum hs_path path;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout pipeline_layout;
    VkPipeline pipelines[HS_STAGE_COUNT];
};

/** Stage name for logs, labels and timings. */
const char *hs_stage_name(enum hs_stage stage);

/** Descriptor type of a binding of set 0. */
VkDescriptorType hs_binding_type(uint32_t binding);

#endif
