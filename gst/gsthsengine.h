// SPDX-License-Identifier: MIT
/** The engine on the shared device: frames in, buffers out. Used by one thread at a time. */
#ifndef GST_HS_ENGINE_H
#define GST_HS_ENGINE_H

#include "gsthsaovmeta.h"
#include "gsthsencode.h"
#include "gsthsgpu.h"
#include "hsframe.h"
#include "hsoidn.h"

/** Frames that may be queued on the device. */
#define GST_HS_SLOTS GST_HS_ENCODE_SETS

/** Images of an AOV, and where it lies in the slot's buffers. */
struct gst_hs_aov_slot {
    struct gst_hs_picture in, out;
    gsize up, down;
};

struct gst_hs_slot {
    GstVulkanOperation *operation;
    GstBuffer *held[HSIO_PLANE_COUNT]; ///< Inputs of the frame that was recorded last.
    struct gst_hs_picture inputs[HSIO_PLANE_COUNT];
    struct gst_hs_picture result;
    struct gst_hs_staging upload, download;
    struct gst_hs_aov_slot aovs[HS_AOV_MAX];
    struct gst_hs_staging aov_upload, aov_download;
    guint aov_count; ///< Of the frame that was recorded last.
};

/** What comes out. */
struct gst_hs_target {
    struct gst_hs_format format;
    bool encode;      ///< Through 60_encode; else the engine's own pixels.
    VkFormat picture; ///< Of what the engine writes.
    struct hs_encode_push push;
    gsize bytes; ///< In system memory.
};

struct gst_hs_engine {
    struct gst_hs_device *share;
    struct gst_hs_log *log;
    struct hs_device *device;
    struct hs_model *model;
    struct hs_model_info info;
    struct hsoidn *denoiser; ///< With the model oidn.
    struct gst_hs_readback readback;
    struct hs_stream *stream;
    struct hs_stream_params params;
    bool fresh;    ///< The stream has run no frame yet: the next one has no history.
    bool reported; ///< The guides that the model lacks were told.
    struct gst_hs_target target;
    struct gst_hs_encode encode;
    struct gst_hs_views *views;
    struct gst_hs_slot slots[GST_HS_SLOTS];
    guint next;
};

/** What may change from frame to frame. */
struct gst_hs_look {
    int tone;          ///< HS_ENCODE_TONE_*
    float paper_white; ///< Nits of 1.0 in PQ.
};

/** Loads the model on the device. Errors: HS_ERR_*, told in the log. */
int gst_hs_engine_open(struct gst_hs_engine *engine, struct gst_hs_device *share,
                       struct gst_hs_log *log, const struct hs_model_params *model);
/** Waits for the device and frees everything. */
void gst_hs_engine_close(struct gst_hs_engine *engine);

/**
 * Sets sizes and the form of the output. History is kept if the stream can go on as it is.
 * Errors: HS_ERR_*, told in the log.
 */
int gst_hs_engine_configure(struct gst_hs_engine *engine, const struct hs_stream_params *params,
                            const struct gst_hs_target *target);

/** Fills in what follows from the formats. False: there is no way from one to the other. */
bool gst_hs_target_plan(struct gst_hs_target *target, const struct gst_hs_format *colour,
                        const struct gst_hs_format *out);

/**
 * Runs one frame. `out` NULL: only history is brought forward.
 *
 * Inputs may be of either kind of memory; those in system memory are uploaded. An output in system
 * memory is waited for, one in an image is not. `aovs`, NULL for none, are upscaled beside it into
 * a meta of `out`, and waited for.
 * Errors: HS_ERR_*, told in the log.
 */
int gst_hs_engine_run(struct gst_hs_engine *engine, const struct hsio_frame_info *info,
                      const struct hsframe_options *options, const struct gst_hs_look *look,
                      const GstHsPlane planes[HSIO_PLANE_COUNT], const GstHsAovMeta *aovs,
                      GstBuffer *out);

/** Tells what went wrong. Returns `error`. */
int gst_hs_engine_fail(struct gst_hs_engine *engine, int error, const char *text);

/**
 * The plane in system memory, wherever it lies: the caller owns its buffer.
 * Errors: HS_ERR_INVALID, told in the log.
 */
int gst_hs_engine_read(struct gst_hs_engine *engine, const GstHsPlane *plane, enum hsio_plane kind,
                       GstHsPlane *read);

/**
 * gsthsdenoise.c: the colour, denoised on the CPU by the guides that there are, whose sizes have
 * been checked. The caller owns its buffer.
 * Errors: HS_ERR_*, told in the log.
 */
int gst_hs_engine_denoise(struct gst_hs_engine *engine, const struct hsio_frame_info *info,
                          const GstHsPlane planes[HSIO_PLANE_COUNT], GstHsPlane *colour);

/**
 * gsthsaovs.c: images and staged pixels of a frame's AOVs in the slot, which is not in use; then
 * what is recorded around the frame, and what comes out of a slot that has finished.
 * Errors: HS_ERR_*, told in the log.
 */
int gst_hs_aovs_set(struct gst_hs_engine *engine, struct gst_hs_slot *slot,
                    const GstHsAovMeta *meta, struct hs_frame *frame,
                    struct hs_aov aovs[HS_AOV_MAX]);
void gst_hs_aovs_upload(const struct gst_hs_slot *slot, VkCommandBuffer cmd);
void gst_hs_aovs_download(const struct gst_hs_slot *slot, VkCommandBuffer cmd);
void gst_hs_aovs_store(const struct gst_hs_slot *slot, const GstHsAovMeta *meta, GstBuffer *out);
void gst_hs_aovs_clear(struct gst_hs_slot *slot);

#endif
