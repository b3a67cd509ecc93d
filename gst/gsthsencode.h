// SPDX-License-Identifier: MIT
/** The last step towards displays and encoders: 60_encode on the device. */
#ifndef GST_HS_ENCODE_H
#define GST_HS_ENCODE_H

#include "gsthsformat.h"
#include "shaders/encode.h"

/** Sets of descriptors, one per frame in flight. */
#define GST_HS_ENCODE_SETS 3

/** Zeroed: not open. */
struct gst_hs_encode {
    VkDevice device;
    bool memory; ///< Writes words to a buffer, else pixels to an image.
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkDescriptorSet sets[GST_HS_ENCODE_SETS];
};

/** False: the driver refuses; nothing is left open. An open one that fits is kept. */
bool gst_hs_encode_open(struct gst_hs_encode *encode, VkDevice device, bool memory);
/** The device must have finished all frames. */
void gst_hs_encode_close(struct gst_hs_encode *encode);

/**
 * Records the step. `set` must not be in flight. The picture is in GENERAL and visible to compute
 * shaders; exactly one of `image` (in GENERAL) and `buffer` is written.
 */
void gst_hs_encode_record(const struct gst_hs_encode *encode, guint set, VkCommandBuffer cmd,
                          VkImageView picture, VkImageView image, VkBuffer buffer,
                          const struct hs_encode_push *push);

/** Push values and bytes in memory for video of this colour; false: no such layout. */
bool gst_hs_encode_plan(const GstVideoInfo *info, const struct gst_hs_format *colour,
                        struct hs_encode_push *push, gsize *bytes);
/** From words in memory into the rows of a video buffer. */
bool gst_hs_encode_store(const GstVideoInfo *info, const struct hs_encode_push *push,
                         const guint8 *words, GstBuffer *buffer);

#endif
