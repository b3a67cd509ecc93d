// SPDX-License-Identifier: MIT
/** A clip: scene, buffers, and the layout of both the fixed part and the slots of frames. */
#ifndef HS_SCENES_CLIP_H
#define HS_SCENES_CLIP_H

#include "scene.h"
#include "vk.h"

#define SAMPLES_PER_PASS 64u // keeps a dispatch short

/** Places in units of 16 bytes. */
struct slot_layout {
    uint32_t frame, instances, nodes, lamps, occluders, vertices, mesh_nodes;
    uint32_t units;
};

struct hs_clip {
    struct hs_scenes *scenes;
    struct hs_clip_params params;
    struct scene scene;
    uint32_t fixed_units;
    uint32_t materials, environment; // places of the fixed part
    uint32_t environment_table;      // place of its cumulative weights
    uint32_t environment_width, environment_height;
    float environment_weight;
    struct slot_layout slot;
    uint32_t next_slot;
    bool uploaded; // the fixed part
    struct buffer staging, data, sum;
    VkDescriptorPool pool;
    VkDescriptorSet *sets; // [slot][input, reference]
    uint32_t reference_passes, input_passes;
    // Scratch of pack_frame().
    struct rows *now, *old;
    struct bounds *boxes;
    uint32_t *order;
    struct tree_node *nodes;
    struct vec3 *positions;
};

/** Decides places; needs only the scene and the parameters. */
void pack_layout(struct hs_clip *clip);
void pack_fixed(struct hs_clip *clip, uint32_t *out);
/** Writes the slot of a frame; `base` is the slot's place in the buffer. */
void pack_frame(struct hs_clip *clip, const struct hs_clip_job *job, uint32_t *out, uint32_t base);

#endif
