// SPDX-License-Identifier: MIT
/** One frame's planes read from the GPU, as the reference passes want them. */
#ifndef HS_TESTS_STAGES_H
#define HS_TESTS_STAGES_H

#include "engine/ref/ref.h"
#include "fixture.h"

struct gpu_planes {
    struct hs_frame_params params;
    struct hs_state state;
    struct hs_ref_prepared prep;
    struct hs_ref_history reproj;
    struct hs_ref_history next;
};

/** Everything that the last frame of a stream wrote; waits for the GPU. */
void gpu_planes_read(struct fixture *fx, struct hs_stream *stream, bool wide,
                     struct gpu_planes *planes);
void gpu_planes_finish(struct gpu_planes *planes);

/** What taau-ray's last frame saw of the passes over guides. */
struct hs_ref_levels gpu_levels_read(struct fixture *fx, const struct hs_stream *stream, int width,
                                     int height);
void gpu_levels_finish(struct hs_ref_levels *levels);

/** Any float or half image as a plane. */
struct hs_ref_plane gpu_image_read(struct fixture *fx, VkImage image, VkFormat format,
                                   uint32_t width, uint32_t height, VkImageLayout layout);

/** The rectangle of a stream's image that its last frame used; the image may be larger. */
struct hs_own_image;
struct hs_ref_plane gpu_own_read(struct fixture *fx, const struct hs_own_image *image,
                                 int32_t width, int32_t height);

/** The bytes of a network's tensor, HS_TENSOR(); free() them. */
void *gpu_tensor_read(struct fixture *fx, const struct hs_stream *stream, int tensor);

/** The head of a network of integers, from its last activations, as resolve wants it. */
struct hs_ref_plane gpu_head_read(struct fixture *fx, const struct hs_stream *stream,
                                  const struct hs_weights *weights,
                                  const struct hs_frame_params *params);

/** How far two planes are apart, with the share of values that count as outliers. */
struct bound {
    /** Allowed: absolute + relative * |want| for all but `outliers` of the values. */
    float absolute, relative;
    /** Share of values that may lie outside, where a decision falls the other way. */
    float outliers;
};
void require_planes_near(const char *what, const struct hs_ref_plane *got,
                         const struct hs_ref_plane *want, struct bound bound);

#endif
