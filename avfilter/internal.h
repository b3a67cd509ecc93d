// SPDX-License-Identifier: MIT
/** Shared by the parts of the filter component. */
#ifndef HS_AVFILTER_INTERNAL_H
#define HS_AVFILTER_INTERNAL_H

#include <stdint.h>

#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_vulkan.h>
#include <libavutil/version.h>

#include <hindsight/avfilter.h>
#include <hindsight/hindsight.h>

#include "hsframe.h"
#include "hsio.h"
#include "hsoidn.h"

/** Frames that may be on the device at once. */
#define HS_AV_SLOTS 3
/** Planes: inputs as in the enum, the output, AOVs as they come, AOVs as they go. */
#define HS_AV_OUTPUT HS_AVFILTER_INPUTS
#define HS_AV_AOV_IN HS_AVFILTER_AOV
#define HS_AV_AOV_OUT (HS_AVFILTER_AOV + HS_AVFILTER_AOV_MAX)
#define HS_AV_PLANES (HS_AVFILTER_AOV + 2 * HS_AVFILTER_AOV_MAX)

#define HS_AV_FUNCTIONS(X)         \
    X(AllocateCommandBuffers)      \
    X(AllocateMemory)              \
    X(BeginCommandBuffer)          \
    X(BindBufferMemory)            \
    X(BindImageMemory)             \
    X(CmdCopyBufferToImage)        \
    X(CmdCopyImageToBuffer)        \
    X(CmdPipelineBarrier2)         \
    X(CreateBuffer)                \
    X(CreateCommandPool)           \
    X(CreateFence)                 \
    X(CreateImage)                 \
    X(CreateImageView)             \
    X(DestroyBuffer)               \
    X(DestroyCommandPool)          \
    X(DestroyFence)                \
    X(DestroyImage)                \
    X(DestroyImageView)            \
    X(EndCommandBuffer)            \
    X(FreeMemory)                  \
    X(GetBufferMemoryRequirements) \
    X(GetDeviceQueue2)             \
    X(GetImageMemoryRequirements)  \
    X(MapMemory)                   \
    X(QueueSubmit2)                \
    X(ResetFences)                 \
    X(WaitForFences)

struct hs_av_vk {
#define X(name) PFN_vk##name name;
    HS_AV_FUNCTIONS(X)
#undef X
};

/** How pixels in system memory become those of an image. */
enum hs_av_pack {
    HS_AV_COPY = 0, ///< As they are.
    HS_AV_HALF,     ///< The first half of each pixel: two of four channels.
    HS_AV_PLANAR,   ///< Float planes G, B, R and perhaps A, interleaved as R, G, B, A.
};

/** A pixel format as one plane takes it. */
struct hs_av_format {
    enum AVPixelFormat pixels;
    VkFormat format; ///< Of the image.
    enum hs_av_pack pack;
    uint8_t bytes;    ///< Of a pixel in the image.
    uint8_t channels; ///< In system memory, if planar.
    bool vulkan;      ///< AV_PIX_FMT_VULKAN frames of it can be used as they are.
    bool linear;      ///< Taken for scene-linear where the frame does not tell.
};

struct hs_av_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint8_t *map;
    VkDeviceSize size;
};

struct hs_av_image {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
    VkFormat format;
    uint32_t width, height;
};

/** A frame on its way through the device. */
struct hs_av_slot {
    VkCommandBuffer cmd;
    VkFence fence;
    bool busy;
    AVFrame *held[HS_AV_PLANES];             ///< Vulkan frames in use.
    VkImageView views[HS_AV_PLANES];         ///< Of their images.
    struct hs_av_image images[HS_AV_PLANES]; ///< Of planes in system memory.
    struct hs_av_buffer staging[HS_AV_PLANES];
};

/** Values of one frame that are not pixels. */
struct hs_av_values {
    double time; ///< Seconds; NaN: not told.
    struct hsio_frame_info info;
};

/** The frames of one run. */
struct hs_av_job {
    const AVFrame *inputs[HS_AVFILTER_INPUTS];
    AVFrame *out;
    const struct hs_avfilter_aov *aovs;
    int aov_count;
};

/** A frame that waits to be paired. */
struct hs_av_queue {
    AVFrame **frames;
    int count, room;
    bool on, ended;
    AVRational time_base;
    int64_t last; ///< pts of the newest frame.
    int64_t gone; ///< pts of the newest frame that waits no longer, or AV_NOPTS_VALUE.
};

struct hs_avfilter {
    const AVClass *class;
    // Options.
    char *model, *convention, *convention_changes, *frames, *look;
    int path;
    double scale;
    int output_width, output_height;
    enum AVPixelFormat format;
    int auto_exposure, reset, missing_planes;
    float exposure, sharpness, firefly_clamp;
    // Exported.
    int64_t frame_count;
    int matrix;

    struct hsio_convention conv;
    struct hs_av_values *values;
    int value_count;
    struct hs_log log;

    AVBufferRef *device_ref;
    AVVulkanDeviceContext *hw;
    struct hs_av_vk vk;
    VkPhysicalDeviceMemoryProperties memory;
    uint32_t queue_family;
    VkQueue queue;
    VkCommandPool pool;
    struct hs_device *device;
    struct hs_model *engine;
    struct hs_model_info info;
    struct hsoidn *denoiser; ///< With the model oidn.

    bool configured;
    bool broken;  ///< A recorded frame was not submitted.
    bool skipped; ///< A frame was dropped since the last output: history misses it.
    struct hs_avfilter_format in, out;
    AVBufferRef *out_frames;
    bool ldr;
    struct hs_stream *stream;
    struct hs_av_slot slots[HS_AV_SLOTS];
    unsigned next;
    int64_t last_pts;
    unsigned warned; ///< Bits of inputs whose absence was told.
    bool reported;   ///< The guides that the model lacks were told.

    struct hs_av_queue queues[HS_AVFILTER_INPUTS];
};

// avfilter.c
int hs_av_error(int err);
int hs_av_vk_error(struct hs_avfilter *f, VkResult result, const char *what);
/** Half of the frame in its time base, as the format or the frame tells; 0: neither does. */
double hs_av_half_frame(const struct hs_avfilter *f, const AVFrame *colour);
/** The option look. Errors: EINVAL, after a message. */
int hs_av_look_read(const struct hs_avfilter *f, struct hs_look *look);
/** Frames may say what the caller did not know when the formats were set; else that holds. */
int hs_av_transfer_follow(struct hs_avfilter *f, const AVFrame *colour);

// options.c
/** Fills `conv` from the options. Errors: EINVAL, after a message. */
int hs_av_convention_make(struct hs_avfilter *f);

// formats.c
/** NULL: the input does not take it. */
const struct hs_av_format *hs_av_format_find(int plane, enum AVPixelFormat pixels, bool vulkan);
/** Formats as text for messages. */
void hs_av_format_list(int plane, bool vulkan, char *text, size_t size);

// check.c
/** Finds the row for a plane. Errors: EINVAL, after a message that lists what would do. */
int hs_av_format_check(struct hs_avfilter *f, int plane, enum AVPixelFormat format,
                       const AVBufferRef *hw_frames_ctx, const struct hs_av_format **found);
/** Whether a plane takes the frame. Errors: EINVAL, after a message. */
int hs_av_frame_check(struct hs_avfilter *f, int plane, const AVFrame *frame);
/** A caller's own output must be of the configured form. Errors: EINVAL, after a message. */
int hs_av_output_check(struct hs_avfilter *f, const AVFrame *out);

// pack.c
/** From a frame in system memory to packed rows, and back. */
void hs_av_pack(const struct hs_av_format *format, const AVFrame *frame, uint8_t *to);
void hs_av_unpack(const struct hs_av_format *format, const uint8_t *from, AVFrame *frame);

// oidn.c
/** Whether the model works on frames in system memory only, and `format` is another one. */
int hs_av_oidn_check(struct hs_avfilter *f, int plane, enum AVPixelFormat format);
/** A denoised copy of colour, in floats, by the guides among `inputs`. The caller frees it. */
int hs_av_oidn_run(struct hs_avfilter *f, const AVFrame *const inputs[HS_AVFILTER_INPUTS],
                   AVFrame **denoised);

// device.c
/** Callback of a log whose private data is the filter. */
void hs_av_on_log(void *priv, enum hs_log_level level, const char *msg);
int hs_av_device_open(struct hs_avfilter *f, AVBufferRef *device);
void hs_av_device_close(struct hs_avfilter *f);
int hs_av_buffer_make(struct hs_avfilter *f, VkDeviceSize size, bool readback,
                      struct hs_av_buffer *buffer);
void hs_av_buffer_free(struct hs_avfilter *f, struct hs_av_buffer *buffer);
int hs_av_image_make(struct hs_avfilter *f, VkFormat format, uint32_t width, uint32_t height,
                     VkImageUsageFlags usage, struct hs_av_image *image);
void hs_av_image_free(struct hs_avfilter *f, struct hs_av_image *image);
int hs_av_view_make(struct hs_avfilter *f, VkImage image, VkFormat format, VkImageView *view);

// submit.c
int hs_av_slots_make(struct hs_avfilter *f);
void hs_av_slots_free(struct hs_avfilter *f);
/** Waits for the slot's frame and lets go of what it held. */
int hs_av_slot_wait(struct hs_avfilter *f, struct hs_av_slot *slot);
/** Callback of a log for what is to be seen, with the filter as private data. */
void hs_av_on_guide(void *priv, enum hs_log_level level, const char *message);
bool hs_av_is_output(int plane);
/** The frame of a plane; NULL: there is none. */
const AVFrame *hs_av_job_frame(const struct hs_av_job *job, int plane);
/** Runs one frame; `frame` has everything but images. Fills the pixels of its outputs. */
int hs_av_submit(struct hs_avfilter *f, const struct hs_av_job *job, struct hs_frame *frame);

// values.c
/** Reads the file of the option `frames`. */
int hs_av_values_load(struct hs_avfilter *f);
/** Values of a colour frame: from the file, overridden by its metadata. */
int hs_av_values_get(struct hs_avfilter *f, const AVFrame *colour, struct hsio_frame_info *info);

// match.c
void hs_av_queues_clear(struct hs_avfilter *f);

#endif
