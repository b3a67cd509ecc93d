// SPDX-License-Identifier: MIT
/**
 * Device bridge: one Vulkan device for all elements of a pipeline, found and shared by the usual
 * GstVulkan contexts. When one of our elements is asked first, the device has the features that
 * the engine can use; a stock device that came first is used as it is.
 */
#ifndef GST_HS_DEVICE_H
#define GST_HS_DEVICE_H

#include <stdbool.h>

#include "gsthslog.h"
#include "gsthsvulkan.h"

/** An element's share of the device. Embedded; thread safe. */
struct gst_hs_device {
    GRecMutex lock;
    bool asking; ///< A query of ours is under way: do not answer it ourselves.
    GstVulkanInstance *instance;
    GstVulkanDevice *device;
    GstVulkanQueue *queue;
};

void gst_hs_device_init(struct gst_hs_device *share);
/** Lets go of everything; the share can be used again. */
void gst_hs_device_clear(struct gst_hs_device *share);
void gst_hs_device_finish(struct gst_hs_device *share);

/** Finds or makes instance, device and queue. False: `error` says why. */
bool gst_hs_device_ensure(struct gst_hs_device *share, GstElement *element, GError **error);
/** The same; posts an element error. For READY to PAUSED and later. */
bool gst_hs_device_require(struct gst_hs_device *share, GstElement *element);

/** Answers a context query of a neighbour, also in state NULL. */
bool gst_hs_device_query(struct gst_hs_device *share, GstElement *element, GstQuery *query);
void gst_hs_device_set_context(struct gst_hs_device *share, GstElement *element,
                               GstContext *context);

/** Whether the device was made here, with the features that the engine can use. */
bool gst_hs_device_extended(const struct gst_hs_device *share);
/** hs_device_import() with what is known about the device. */
int gst_hs_device_import(const struct gst_hs_device *share, const struct hs_log *log,
                         struct hs_device **device);

/** Waits until the queue is idle. */
void gst_hs_device_drain(const struct gst_hs_device *share);

#endif
