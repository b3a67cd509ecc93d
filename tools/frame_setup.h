// SPDX-License-Identifier: MIT
/** From a frame as files describe it to a frame as the engine wants it: the one place for that. */
#ifndef HINDSIGHT_TOOLS_FRAME_SETUP_H
#define HINDSIGHT_TOOLS_FRAME_SETUP_H

#include "backend.h"

/**
 * Fills everything of `frame` but its images.
 *
 * `camera` is storage for the frame's camera and must live as long as the frame.
 * Errors: HS_ERR_INVALID a plane's size or the jitter does not fit, after a message.
 */
int tool_frame_setup(const struct hsio_frame_info *info, const struct tool_frame_options *options,
                     int out_width, int out_height, struct hs_camera *camera,
                     struct hs_frame *frame);

/** Checks that the planes of a frame fit to each other. Errors: as above. */
int tool_frame_check(const struct hsio_frame_info *info, int out_width, int out_height);

/** The Vulkan format of the pixels. */
VkFormat tool_vk_format(enum hsio_format format);

#endif
