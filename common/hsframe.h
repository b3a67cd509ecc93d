// SPDX-License-Identifier: MIT
/** From a frame as files describe it to a frame as the engine wants it: the one place for that. */
#ifndef HSFRAME_H
#define HSFRAME_H

#include <stdbool.h>

#include <hindsight/frame.h>
#include <hindsight/stream.h>

#include "hsio.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a user may add to a frame's description. */
struct hsframe_options {
    bool auto_exposure;
    float exposure;      ///< 0: as the frame says, else measured.
    float sharpness;     ///< Negative: as the frame says.
    float firefly_clamp; ///< As in hs_frame; 0: off.
    struct hs_look look; ///< As in hs_frame.
    bool reset;          ///< A cut, whatever the frame says.
};

/**
 * Fills everything of `frame` but its images.
 *
 * `camera` is storage for the frame's camera and must live as long as the frame.
 * Thread: safe.
 * Errors: HS_ERR_INVALID a plane's size or the jitter does not fit; the log says which.
 */
int hsframe_setup(const struct hsio_frame_info *info, const struct hsframe_options *options,
                  int out_width, int out_height, const struct hs_log *log, struct hs_camera *camera,
                  struct hs_frame *frame);

/** Checks that the planes of a frame fit to each other. Thread: safe. Errors: as above. */
int hsframe_check(const struct hsio_frame_info *info, int out_width, int out_height,
                  const struct hs_log *log);

/**
 * Checks the sizes of guides, for models that read them. Thread: safe.
 * Errors: HS_ERR_INVALID one is not of the frame's size; the log says which.
 */
int hsframe_check_guides(const struct hsio_frame_info *info, const struct hs_log *log);

/**
 * Tells at HS_LOG_INFO which guides the stream's model would like to have, and what is lost without
 * them: what every front end says of its first frame. Thread: safe.
 */
void hsframe_tell_guides(const struct hs_stream *stream, const struct hs_frame *frame,
                         const struct hs_log *log);

/** Where a frame takes this plane; NULL: nowhere. Thread: safe. */
struct hs_image *hsframe_image(struct hs_frame *frame, enum hsio_plane plane);

/** Whether both names are those of one file that is there. Thread: safe. */
bool hsframe_same_file(const char *a, const char *b);

/** Whether `path` is one of the files that the frame is read from. Thread: safe. */
bool hsframe_reads(const struct hsio_frame_info *info, const char *path);

/**
 * Near and far distance as the engine is told them, where the frame or its convention has such.
 *
 * Units: scene units; far is infinity where it is unknown, infinite or not beyond near.
 * Thread: safe.
 */
void hsframe_clip(const struct hsio_frame_info *info, float clip[2]);

/** The Vulkan format of the pixels. Thread: safe. */
VkFormat hsframe_vk_format(enum hsio_format format);

/**
 * One channel of a pixel as it lies in memory, integers as 0 to 1. Of the formats that colour and
 * planes may come in; what is none of them is taken for bytes.
 * Thread: safe.
 */
float hsframe_value(const uint8_t *pixel, VkFormat format, int channel);

#ifdef __cplusplus
}
#endif
#endif
