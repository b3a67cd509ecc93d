// SPDX-License-Identifier: MIT
/**
 * The engine as a filter over libavutil: AVFrames in, AVFrames out, on the Vulkan device of the
 * caller. docs/ffmpeg.md lists the options, the pixel formats and the per-frame values.
 *
 * A frame's planes are inputs of their own. Either the caller has them paired (hs_avfilter_run),
 * or the filter pairs them by timestamp (hs_avfilter_send, hs_avfilter_receive).
 *
 * Functions that can fail return 0 or a negative AVERROR code; the text for people goes to av_log()
 * once, where the failure happened. On failure outputs are untouched.
 */
#ifndef HINDSIGHT_AVFILTER_H
#define HINDSIGHT_AVFILTER_H

#include <stdbool.h>

#include <libavutil/buffer.h>
#include <libavutil/frame.h>
#include <libavutil/log.h>
#include <libavutil/pixfmt.h>
#include <libavutil/rational.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A filter. Opaque; its first member is an AVClass, so av_opt_set() and av_log() take it. */
struct hs_avfilter;

enum hs_avfilter_input {
    HS_AVFILTER_COLOUR = 0, ///< Required.
    HS_AVFILTER_DEPTH,
    HS_AVFILTER_MOTION,
    HS_AVFILTER_REACTIVE,
    /** Guides of noisy frames: models that do not read them leave them alone. */
    HS_AVFILTER_DIFFUSE_ALBEDO,
    HS_AVFILTER_SPECULAR_ALBEDO,
    HS_AVFILTER_NORMAL,
    HS_AVFILTER_ROUGHNESS,
    HS_AVFILTER_HIT_DISTANCE,
    HS_AVFILTER_INPUTS, ///< How many there are.
    /** The first AOV, others behind it: for hs_avfilter_formats() and hs_avfilter_input_name(). */
    HS_AVFILTER_AOV,
};

/** Most AOVs of a frame. */
#define HS_AVFILTER_AOV_MAX 32

/** What an AOV holds. */
enum hs_avfilter_aov_kind {
    HS_AVFILTER_AOV_LIGHT = 0, ///< A part of the colour: parts add up to the upscaled colour.
    HS_AVFILTER_AOV_DATA = 1,  ///< Values of their own, filtered as they are.
};

/** A plane that is upscaled beside the colour, with the weights of its samples and history. */
struct hs_avfilter_aov {
    /** Of the colour's size. */
    const AVFrame *in;
    /** As hs_avfilter_run() takes `out`; a blank one gets a buffer in system memory, of `in`'s
     * pixels. */
    AVFrame *out;
    enum hs_avfilter_aov_kind kind;
};

/** What all frames of a stream have in common. */
struct hs_avfilter_format {
    /** AV_PIX_FMT_VULKAN or a format in system memory. Requested output: NONE means as colour. */
    enum AVPixelFormat format;
    /** Output: the pixels of AV_PIX_FMT_VULKAN. Ignored for inputs. */
    enum AVPixelFormat sw_format;
    int width, height;
    /** With AV_PIX_FMT_VULKAN; borrowed. Output: the pool, owned by the filter. */
    AVBufferRef *hw_frames_ctx;
    enum AVColorTransferCharacteristic color_trc;
    AVRational sample_aspect_ratio;
    /** Unit of pts. 0/0: unknown, then per-frame values can not come from a file. */
    AVRational time_base;
    /** 0/0: unknown. */
    AVRational frame_rate;
};

/** The class of a filter, for lists of options. Thread: safe. Since: 1. */
const AVClass *hs_avfilter_get_class(void);

/**
 * The pixel formats that an input (or the output, for HS_AVFILTER_INPUTS) takes, in order of
 * preference, AV_PIX_FMT_NONE at the end; in system memory, or of AV_PIX_FMT_VULKAN frames.
 *
 * Owns: static storage. Thread: safe. Since: 1.
 */
const enum AVPixelFormat *hs_avfilter_formats(enum hs_avfilter_input input, bool vulkan);

/** A name for messages and pads, such as "depth". Owns: static storage. Thread: safe. Since: 1. */
const char *hs_avfilter_input_name(enum hs_avfilter_input input);

/**
 * Makes a filter with default options, which av_opt_set() changes.
 *
 * Owns: the caller frees it. NULL: out of memory.
 * Since: 1.
 */
struct hs_avfilter *hs_avfilter_alloc(void);

/**
 * Waits for the frames on the device, frees the filter and sets the pointer to NULL. NULL and
 * pointers to NULL are legal.
 *
 * Thread: one at a time. Since: 1.
 */
void hs_avfilter_free(struct hs_avfilter **filter);

/**
 * Attaches the filter to a Vulkan device and loads the model.
 *
 * `device` is an AVHWDeviceContext of type AV_HWDEVICE_TYPE_VULKAN, which gets a further
 * reference; NULL: the default device of libavutil is created.
 * Thread: one at a time.
 * Errors: EINVAL another kind of device, an unknown model, convention or look; ENOSYS the device
 * lacks what is required, or the system Open Image Denoise; ENOMEM; AVERROR_EXTERNAL the device is
 * lost.
 * Since: 1.
 */
int hs_avfilter_open(struct hs_avfilter *filter, AVBufferRef *device);

/**
 * Changes an option that may change between frames: as av_opt_set() does, and with a look read at
 * once. A refused value leaves the one before.
 *
 * Thread: one at a time.
 * Errors: ENOSYS no such option, or one that is fixed; EINVAL no value of it; ERANGE one out of its
 * range; ENOMEM.
 * Since: 2.
 */
int hs_avfilter_command(struct hs_avfilter *filter, const char *name, const char *value);

/**
 * Sets the form of colour frames and finds that of the output. History starts anew.
 *
 * `request` may be NULL; its format and sw_format are wishes (NONE: as colour), the rest is
 * ignored. `out` is filled.
 * Thread: one at a time.
 * Cost: allocates device memory; waits for frames on the device.
 * Errors: EINVAL not open, a format that is not accepted, frames of another device, sizes that
 * give no ratio from 1 to 3; ENOSYS no pool of the output format; ENOMEM.
 * Since: 1.
 */
int hs_avfilter_configure(struct hs_avfilter *filter, const struct hs_avfilter_format *colour,
                          const struct hs_avfilter_format *request, struct hs_avfilter_format *out);

/**
 * Filters one frame whose planes are paired already; absent ones are NULL.
 *
 * Vulkan frames are used where they are, others are uploaded. `out` is a blank frame, which gets a
 * buffer, or has one of exactly the configured form and size already. Properties (pts, colour,
 * metadata, side data that does not depend on the size) are those of colour, but that a look makes
 * the transfer characteristic gamma 2.2; per-frame values are taken from colour's metadata and the
 * option `frames`.
 * Sync: as libavutil has it: waits for and signals the frames' semaphores, under their locks and
 * the queue's. A Vulkan output is not waited for; one in system memory is.
 * Thread: one at a time.
 * Errors: EINVAL not configured, colour is missing, a plane's format or size does not fit, pixels
 * are missing, `out` is an input, too, a value is out of range; ENOSYS; ENOMEM; AVERROR_EXTERNAL
 * the device is lost; AVERROR_BUG Open Image Denoise fails. The call may be repeated with what was
 * wrong put right.
 * Since: 1.
 */
int hs_avfilter_run(struct hs_avfilter *filter, const AVFrame *const inputs[HS_AVFILTER_INPUTS],
                    AVFrame *out);

/**
 * The same with AOVs. An AOV's place in the list is its name: history goes on where the frame
 * before had one of the same kind there. Their properties are those of their inputs.
 *
 * `aovs` may be NULL if `aov_count` is 0. Thread: one at a time.
 * Errors: those of hs_avfilter_run(), also for AOVs and their outputs; EINVAL too many of them.
 * Since: 2.
 */
int hs_avfilter_run_aovs(struct hs_avfilter *filter,
                         const AVFrame *const inputs[HS_AVFILTER_INPUTS],
                         const struct hs_avfilter_aov *aovs, int aov_count, AVFrame *out);

/**
 * Sets which inputs there are, colour being one always; the default is colour alone. The option
 * missing_planes says what happens to a frame without one of them. Frames that are waiting are
 * dropped.
 *
 * `mask` has bit (1 << input) for each; other bits are ignored. Thread: one at a time. Since: 1.
 */
void hs_avfilter_set_inputs(struct hs_avfilter *filter, unsigned mask);

/**
 * Queues a frame of an input; NULL: the input has ended.
 *
 * Owns: takes a reference of its own.
 * Thread: one at a time.
 * Errors: EINVAL an input that was not set, or that has ended, a frame without buffers, pts is not
 * there or does not grow, or the time base is another one than before; ENOMEM.
 * Since: 1.
 */
int hs_avfilter_send(struct hs_avfilter *filter, enum hs_avfilter_input input, const AVFrame *frame,
                     AVRational time_base);

/**
 * Gives the next output, in colour's time base.
 *
 * The nearest of a plane's frames within half a frame of colour's pts belongs to it; older ones are
 * dropped. Where neither the format nor the frames tell how long one lasts, the first waits for the
 * second colour frame. The first frame configures the filter unless the caller did. A frame that
 * fails is dropped with its planes, so an error is told once: the next call goes on with the next
 * frame, as after a cut. Only where `out` does not fit nothing is dropped.
 * Thread: one at a time.
 * Errors: EAGAIN an input has to be sent first; AVERROR_EOF; those of hs_avfilter_configure() and
 * hs_avfilter_run().
 * Since: 1.
 */
int hs_avfilter_receive(struct hs_avfilter *filter, AVFrame *out);

/** The input that hs_avfilter_receive() waits for, or -1. Thread: one at a time. Since: 1. */
int hs_avfilter_wanted(const struct hs_avfilter *filter);

#ifdef __cplusplus
}
#endif
#endif
