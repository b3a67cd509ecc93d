// SPDX-License-Identifier: MIT
/**
 * A Vulkan device of our own, for commands and tests: instance, choice of device, one queue,
 * optional validation, and small helpers for images and buffers. Calls go through the loader.
 */
#ifndef HINDSIGHT_TOOLS_VKDEV_H
#define HINDSIGHT_TOOLS_VKDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hindsight/hindsight.h>

struct vkdev_params {
    /** Index, part of the name, "cpu", or NULL/"auto": discrete, integrated, virtual, software. */
    const char *select;
    /** Load the validation layer with synchronisation validation; fails if it is not there. */
    bool validation;
    /** May be NULL. */
    const struct hs_log *log;
};

struct vkdev {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue;
    uint32_t queue_family;
    struct hs_device_features features;
    struct hs_device_report report;
    VkPhysicalDeviceMemoryProperties memory;
    VkCommandPool pool;
    /** VK_KHR_external_memory_fd is enabled, where the device has it. */
    bool shares_memory;
    /** Warnings and errors of the validation layers so far. */
    uint32_t messages;
    const struct hs_log *log;
    struct hs_log log_copy;
};

/** An image with its own memory and a view. */
struct vkdev_image {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
    VkFormat format;
    VkImageUsageFlags usage;
    uint32_t width, height;
};

/** A buffer, mapped when it is host visible. */
struct vkdev_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *map;
    VkDeviceSize size;
};

/**
 * Opens a device. On success `dev` must stay where it is until vkdev_close().
 * Errors: HS_ERR_INVALID no device matches (the log lists them); HS_ERR_UNSUPPORTED no loader,
 * layer or usable device; HS_ERR_NOMEM; HS_ERR_DEVICE_LOST.
 */
int vkdev_open(struct vkdev *dev, const struct vkdev_params *params);
void vkdev_close(struct vkdev *dev);

/** Calls back for every physical device in order of index. Errors: as vkdev_open(). */
int vkdev_list(const struct hs_log *log,
               void (*each)(void *priv, uint32_t index, const struct hs_device_report *report),
               void *priv);

/** Imports the device into the library. Errors: as hs_device_import(). */
int vkdev_import(struct vkdev *dev, PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                 struct hs_device **device);

/** Device-local optimal image of one level and layer. */
int vkdev_image_create(struct vkdev *dev, VkFormat format, uint32_t width, uint32_t height,
                       VkImageUsageFlags usage, struct vkdev_image *image);
void vkdev_image_destroy(struct vkdev *dev, struct vkdev_image *image);

/** `cached`: for reading back; otherwise for writing. Coherent and persistently mapped. */
int vkdev_buffer_create(struct vkdev *dev, VkDeviceSize size, VkBufferUsageFlags usage, bool cached,
                        struct vkdev_buffer *buffer);
void vkdev_buffer_destroy(struct vkdev *dev, struct vkdev_buffer *buffer);

/** One-time command buffer; vkdev_submit_wait() ends, submits, waits and frees it. */
int vkdev_begin(struct vkdev *dev, VkCommandBuffer *cmd);
int vkdev_submit_wait(struct vkdev *dev, VkCommandBuffer cmd);

/** Full memory barrier with a layout change of one colour image (or depth by its format). */
void vkdev_image_barrier(VkCommandBuffer cmd, const struct vkdev_image *image, VkImageLayout from,
                         VkImageLayout to);

/** Bytes of one pixel; 0 for formats that the tools do not use. */
uint32_t vkdev_format_bytes(VkFormat format);

/** Maps a VkResult to an HS_ERR_* code. */
int vkdev_error(VkResult result);

#endif
