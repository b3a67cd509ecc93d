// SPDX-License-Identifier: MIT
/**
 * Stream: one sequence of frames with its history. Used by one thread at a time.
 *
 * All memory is made in hs_stream_create(), or at the first frame that needs a plane of its kind;
 * steady-state recording allocates nothing, submits nothing and waits for nothing.
 */
#ifndef HINDSIGHT_STREAM_H
#define HINDSIGHT_STREAM_H

#include "frame.h"
#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A stream. Opaque. */
struct hs_stream;

/** Bits of hs_stream_params::flags. */
enum hs_stream_flags {
    /** The colour is display-referred, 0..1: no exposure, no range compression, clamped output. */
    HS_STREAM_LDR = 1 << 0,
    /** Write GPU timestamps per stage; see hs_stream_timings(). */
    HS_STREAM_TIMINGS = 1 << 1,
};

/**
 * Buffers around a network that something else runs, on any device: hs_stream_record_split(). They
 * are the caller's, who may export and share their memory, and outlive the stream.
 */
struct hs_split {
    /** Storage buffers: what the network sees, and what it gives. */
    VkBuffer features, head;
    /** Their bytes, at least those that hs_model_split() tells for the greatest render size. */
    uint64_t features_bytes, head_bytes;
};

/** Arguments of hs_stream_create(). */
struct hs_stream_params {
    /** Output size in pixels, 16 to 16384 per axis. */
    uint32_t out_width, out_height;
    /** Greatest render size that will come. 0: the output size. */
    uint32_t max_render_width, max_render_height;
    /** hs_stream_flags. */
    uint32_t flags;
    /**
     * Horizontal bands in which a frame is made, one after the other, at most HS_STREAM_BANDS_MAX:
     * the more, the less memory moved history and activations take. The pixels do not depend on
     * it. Small pictures have fewer. 0: as few as keep those within 80 MiB, or as close as it gets.
     */
    uint32_t bands;
    /**
     * The network runs outside, on these; the stream is made for hs_stream_record_split() only, and
     * has one band. NULL: the model's own layers.
     */
    const struct hs_split *split;
};

/** Most bands of a frame. */
#define HS_STREAM_BANDS_MAX 64

/** What a stream holds. */
struct hs_stream_info {
    /**
     * The preset that runs; "taau" where that took over, for the whole stream or up to a cut. Lives
     * as long as the model.
     */
    const char *preset;
    /** Device memory of intermediate planes. */
    uint64_t activation_bytes;
    /** Device memory of both history sets. */
    uint64_t history_bytes;
    /** Device memory of input and output copies, made on first need. */
    uint64_t copy_bytes;
    /** Descriptor sets in the cache. */
    uint32_t descriptor_sets;
    /** Bands in which a frame is made. */
    uint32_t bands;
    /** Frames recorded so far. */
    uint64_t frames;
};

/** What a stream makes of one plane of a frame. */
struct hs_plane_report {
    /** Name of the plane, for example "diffuse albedo". Static. */
    const char *plane;
    /** It describes surfaces; frames of few renderers have it. */
    bool guide;
    /** The stream's preset can use such a plane. */
    bool wanted;
    /** The frame has one. */
    bool present;
    /** What is lost without it, for people; NULL unless it is wanted and absent. Static. */
    const char *without;
};

/** Planes that are reported on: colour's companions. */
#define HS_REPORT_PLANES 9

/** GPU time of one stage. */
struct hs_stage_time {
    /** Stage name, for example "prepare"; lives as long as the model. */
    const char *name;
    double ms;
};

/** No frame has more stages than this. */
#define HS_MAX_STAGES 32

/**
 * Creates a stream.
 *
 * Owns: the caller destroys it; the model must outlive it.
 * Thread: safe on one model.
 * Cost: allocates device memory and descriptors; submits nothing.
 * Errors: HS_ERR_INVALID sizes or bands out of range, or buffers of `split` that are missing or too
 * small; HS_ERR_UNSUPPORTED the output is larger than the device's images can be, or larger than
 * its buffers can be for the network of a model from a file of one's own (for other models `taau`
 * takes over, and a log line tells so), or `split` is given for a model without a network, or
 * timestamps were asked for and the queue family has none; HS_ERR_NOMEM; HS_ERR_DEVICE_LOST.
 * Since: 1.
 */
int hs_stream_create(struct hs_model *model, const struct hs_stream_params *params,
                     struct hs_stream **stream);

/**
 * Records one frame into a command buffer.
 *
 * Everything is checked before the first command is recorded: a failed call leaves the command
 * buffer and the stream as they were. A recorded frame counts as executed: submit it exactly
 * once, in the order of recording; otherwise set `reset` on the next frame.
 *
 * Sync: outside a render pass; a primary buffer of the imported queue family. Inputs: in their
 * stated layouts, writes visible to HS_INPUT_STAGES / HS_INPUT_ACCESS; left in the same layouts.
 * Output: earlier accesses ordered before HS_OUTPUT_STAGES; written with HS_OUTPUT_STAGES /
 * HS_OUTPUT_ACCESS. Frames of one stream order themselves against each other on one queue, so
 * any number may be recorded or queued ahead.
 * Thread: one at a time per stream.
 * Cost: allocates only when a combination of views, layouts or a plane's fallback is first met,
 * and, for `atrous`, the planes of its passes at the first frame. If those can not be made, that
 * frame is refused and `taau` takes over for the ones after it, up to the next cut. The first frame
 * with AOVs makes their pipeline, and each further AOV its history.
 * Errors: HS_ERR_INVALID a required plane is missing, a size, rectangle, ratio, layout or value is
 * out of range; HS_ERR_UNSUPPORTED a format is not accepted for its plane, an AOV can not be used
 * directly, or planes went through copies in more than 24 combinations of plane and format;
 * HS_ERR_NOMEM;
 * HS_ERR_DEVICE_LOST.
 * Since: 1.
 */
int hs_stream_record(struct hs_stream *stream, const struct hs_frame *frame, VkCommandBuffer cmd);

/**
 * Records one frame of a stream with hs_split into two command buffers: `front`, which ends with
 * the features of the frame, and `back`, which begins with the head that a network made of them.
 *
 * All that hs_stream_record() says holds for the two together, `front` first. Between them stands
 * whatever runs the network (docs/model-format.md): it may start when `front` is done, reads
 * `features`, and writes all of `head` before `back` starts. Layout: hs_model_split() of the
 * frame's render size.
 *
 * Sync: `features` is written and `head` read with HS_INPUT_STAGES, as storage buffers; making one
 * visible to the network, and the network's writes to `back`, is the caller's, for example by
 * semaphores. The same of `features` and the next frame's `front`.
 * Thread, cost: as hs_stream_record().
 * Errors: HS_ERR_INVALID an argument is missing or the stream was made without hs_split;
 * HS_ERR_UNSUPPORTED the frame has AOVs; those of hs_stream_record().
 * Since: 2.
 */
int hs_stream_record_split(struct hs_stream *stream, const struct hs_frame *frame,
                           VkCommandBuffer front, VkCommandBuffer back);

/**
 * Tells which planes of a frame a stream would use, and what the lack of the others costs: depth,
 * motion, reactive, diffuse albedo, specular albedo, normal, roughness, hit distance, camera.
 *
 * `rows` has room for HS_REPORT_PLANES, all of which are filled. The frame is not checked.
 *
 * Thread: one at a time per stream.
 * Cost: records nothing.
 * Errors: HS_ERR_INVALID an argument is missing.
 * Since: 1.
 */
int hs_stream_report(const struct hs_stream *stream, const struct hs_frame *frame,
                     struct hs_plane_report *rows);

/**
 * Drops cached descriptors of a view, or of all views for VK_NULL_HANDLE. To be called before a
 * view that was used in a frame is destroyed and after the GPU has finished with it.
 *
 * Thread: one at a time per stream.
 * Since: 1.
 */
void hs_stream_forget(struct hs_stream *stream, VkImageView view);

/**
 * GPU times, stage by stage, of the oldest frame that has finished and was not reported yet; for
 * streams with HS_STREAM_TIMINGS. The last 16 recorded frames are kept.
 *
 * `times` has room for HS_MAX_STAGES. `frame` receives the index of the frame, counting from 0.
 * Returns the number of stages, 0 if no further frame has finished.
 *
 * Thread: one at a time per stream.
 * Cost: does not wait.
 * Errors: HS_ERR_INVALID an argument is missing or the stream has no timestamps;
 * HS_ERR_DEVICE_LOST.
 * Since: 1.
 */
int hs_stream_timings(struct hs_stream *stream, struct hs_stage_time *times, uint64_t *frame);

/**
 * Describes a stream.
 *
 * Thread: one at a time per stream.
 * Since: 1.
 */
void hs_stream_describe(const struct hs_stream *stream, struct hs_stream_info *info);

/**
 * Destroys a stream and sets the pointer to NULL. NULL and pointers to NULL are legal. The GPU
 * must have finished its frames.
 *
 * Thread: one at a time.
 * Since: 1.
 */
void hs_stream_destroy(struct hs_stream **stream);

#ifdef __cplusplus
}
#endif
#endif
