// SPDX-License-Identifier: MIT
/** Parts of `hindsight inspect`. */
#ifndef HINDSIGHT_TOOLS_INSPECT_H
#define HINDSIGHT_TOOLS_INSPECT_H

/** Prints all Vulkan devices and the requirement list. Errors: those of vkdev_list(). */
int inspect_devices(void);

/** Prints what a model file holds. Errors: those of hs_model_file_open(). */
int inspect_model(const char *path);

#endif
