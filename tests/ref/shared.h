// SPDX-License-Identifier: MIT
/** Buffers whose memory two devices share by a file descriptor. */
#ifndef HS_TESTS_SHARED_H
#define HS_TESTS_SHARED_H

#include <stdbool.h>

#include "tools/vkdev.h"

/** A storage buffer that can be shared, mapped, and the descriptor. False: the device can not. */
bool shared_export(struct vkdev *dev, VkDeviceSize size, struct vkdev_buffer *buffer, int *fd);

/** The same memory on another device of the same kind, which takes over the descriptor. */
void shared_import(struct vkdev *dev, VkDeviceSize size, int fd, struct vkdev_buffer *buffer);

#endif
