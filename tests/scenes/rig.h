// SPDX-License-Identifier: MIT
/** Renders frames of clips into host memory, with validation. */
#ifndef HS_TESTS_SCENES_RIG_H
#define HS_TESTS_SCENES_RIG_H

#include "scenes/hsscenes.h"
#include "tools/vkdev.h"

enum rig_plane {
    RIG_COLOUR,
    RIG_DEPTH,
    RIG_MOTION,
    RIG_NORMAL,
    RIG_ROUGHNESS,
    RIG_DIFFUSE,
    RIG_SPECULAR,
    RIG_HIT_DISTANCE,
    RIG_ALPHA,
    RIG_REFERENCE,
    RIG_PLANES,
};
#define RIG_ALL ((1u << RIG_PLANES) - 1)
#define RIG_INPUT (RIG_ALL & ~(1u << RIG_REFERENCE))

struct rig {
    struct vkdev dev;
    struct hs_log log;
    struct hs_scenes *scenes;
    char last[512]; // the last ERROR line
    bool quiet;
};

/** Pixels of one frame, tightly packed floats; planes that were not asked for are NULL. */
struct rig_frame {
    float *planes[RIG_PLANES];
    uint32_t width[RIG_PLANES], height[RIG_PLANES];
    struct hs_clip_info info;
};

/** False: no software device (or HS_TEST_DEVICE), or no validation layer. */
bool rig_open(struct rig *rig);
/** Fails the test if validation said anything. */
void rig_close(struct rig *rig);
uint32_t rig_channels(enum rig_plane plane);
struct hs_clip *rig_clip(struct rig *rig, const struct hs_clip_params *params);
void rig_render(struct rig *rig, struct hs_clip *clip, uint32_t frame, uint32_t planes,
                struct rig_frame *out);
void rig_free(struct rig_frame *frame);

#endif
