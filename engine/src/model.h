// SPDX-License-Identifier: MIT
#ifndef HS_ENGINE_MODEL_H
#define HS_ENGINE_MODEL_H

#include <hindsight/model.h>

#include "arena.h"
#include "layers.h"

/** Stages in order of recording; each is one compute shader. A network's layers stand between
 * reproject and resolve. */
enum hs_stage {
    HS_STAGE_MEASURE,
    HS_STAGE_EXPOSE,
    HS_STAGE_PREPARE,
    HS_STAGE_DEMODULATE,
    HS_STAGE_ACCUMULATE,
    HS_STAGE_FILTER,
    HS_STAGE_REPROJECT,
    HS_STAGE_RESOLVE,
    HS_STAGE_FINISH,
    HS_STAGE_COUNT,
};

struct hs_model {
    struct hs_device *device;
    char name[HS_WEIGHTS_NAME_MAX]; ///< Of the preset.
    enum hs_path path;
    bool guides;      ///< `atrous` and taau-ray: reads guides, has the stages for it and their set.
    bool replaceable; ///< A preset, for which others take over; not a named file.
    VkDescriptorSetLayout set_layout;
    VkDescriptorSetLayout guide_layout;
    VkDescriptorSetLayout empty_layout; ///< For set numbers between those of a model with guides.
    VkPipelineLayout pipeline_layout;
    VkPipeline pipelines[HS_STAGE_COUNT];
    /** Network; a count of 0: there is none. The head's layer has no pipeline, resolve runs it. */
    struct hs_layers layers;
    VkDescriptorSetLayout network_layout;
    VkPipeline layer_pipelines[HS_WEIGHTS_LAYERS_MAX];
    /** `taau`'s, for streams that are too large for the network, and where the planes of guides can
     * not be made. */
    VkPipeline plain_resolve;
    /** Weights where the host wrote them; streams copy them. */
    struct hs_arena arena;
    struct hs_own_buffer weights;
};

/**
 * Creates a layout of bindings 0 to `count` - 1, at most HS_BINDING_COUNT: one descriptor each, for
 * compute shaders, of the type that `type` gives.
 * Errors: those of a failed Vulkan call, logged.
 */
int hs_model_set_layout(const struct hs_model *model, uint32_t count,
                        VkDescriptorType (*type)(uint32_t binding), VkDescriptorSetLayout *layout);

/** Stage name for logs, labels and timings. */
const char *hs_stage_name(enum hs_stage stage);

/** Descriptor type of a binding of set 0. */
VkDescriptorType hs_binding_type(uint32_t binding);

/** The layout of all pipelines, from those of the sets. */
int hs_model_layout(struct hs_model *model);

/** The layout of the guides' set. */
int hs_guides_layout(struct hs_model *model);

/**
 * `dispatch` gives specialization constants and, on the matrix path, whole subgroups; or NULL.
 * Changes nothing of the model.
 */
int hs_model_pipeline(const struct hs_model *model, VkPipelineLayout layout, const char *shader,
                      const char *name, const struct hs_dispatch *dispatch, VkPipeline *pipeline);

#define HS_SHADER_NAME_MAX 32
/** The variant of a stage that has a part of the network in it: writes and returns its name. */
const char *hs_network_shader(const struct hs_model *model, const char *stage,
                              char name[HS_SHADER_NAME_MAX]);

/** Plans the network and chooses its path, before there are layouts; then makes the rest. */
int hs_network_layout(struct hs_model *model);
int hs_network_plan(struct hs_model *model, const struct hs_weights *weights, enum hs_path path);
int hs_network_create(struct hs_model *model, const struct hs_weights *weights);
void hs_network_destroy(struct hs_model *model);

#endif
