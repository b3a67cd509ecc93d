// SPDX-License-Identifier: MIT
/** The inside of a stream, shared by the files that build one frame. */
#ifndef HS_ENGINE_STREAM_H
#define HS_ENGINE_STREAM_H

#include <hindsight/stream.h>

#include "arena.h"
#include "bands.h"
#include "interface.h"
#include "model.h"

/** Planes that the caller lends; order of the bindings and of the descriptor key. */
enum hs_plane {
    HS_PLANE_COLOUR,
    HS_PLANE_DEPTH,
    HS_PLANE_MOTION,
    HS_PLANE_REACTIVE,
    HS_PLANE_EXPOSURE,
    HS_PLANE_DIFFUSE,
    HS_PLANE_SPECULAR,
    HS_PLANE_NORMAL,
    HS_PLANE_ROUGHNESS,
    HS_PLANE_HIT,
    HS_PLANE_OUTPUT,
    HS_PLANE_COUNT,
};

/** The stream's own images; pairs are history sets, chosen by parity. */
enum hs_own {
    HS_OWN_PREP_COLOUR,
    HS_OWN_PREP_MOTION,
    HS_OWN_PREP_AUX,
    HS_OWN_REPROJ_COLOUR,
    HS_OWN_REPROJ_AUX,
    HS_OWN_EMPTY,  ///< In place of planes that are absent,
    HS_OWN_UNUSED, ///< and of what a frame does not write.
    HS_OWN_DEPTH,
    HS_OWN_HISTORY_COLOUR = HS_OWN_DEPTH + 2,
    HS_OWN_HISTORY_AUX = HS_OWN_HISTORY_COLOUR + 2,
    /** Made at stream creation up to here; the rest on first need. */
    HS_OWN_LAZY = HS_OWN_HISTORY_AUX + 2,
    HS_OWN_PREP_COLOUR_WIDE = HS_OWN_LAZY,
    HS_OWN_RESOLVED,
    HS_OWN_COUNT,
};

/** Images of the passes that read guides, made at the first frame of a model that has them. */
enum hs_guide_own {
    HS_GUIDE_SIGNAL_A,
    HS_GUIDE_SIGNAL_B,
    HS_GUIDE_ALBEDO,
    HS_GUIDE_TRAITS,
    HS_GUIDE_SURFACE,
    HS_GUIDE_ACCUMULATED = HS_GUIDE_SURFACE + 2,
    HS_GUIDE_MOMENTS = HS_GUIDE_ACCUMULATED + 2,
    HS_GUIDE_MIDDLE = HS_GUIDE_MOMENTS + 2, ///< With a network; otherwise signal B.
    HS_GUIDE_COUNT,
};

/** TRANSFER_SRC: tests read the planes between stages. */
#define HS_OWN_USAGE \
    (VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT)

/** Bytes of a pixel of moved history. */
#define HS_MOVED_BYTES 10

#define HS_MAX_COPIES 24
#define HS_MAX_POOLS 64
#define HS_SETS_PER_POOL 16
#define HS_TIMING_SLOTS 16

/** Fallback copy of a plane in one format. */
struct hs_copy {
    enum hs_plane plane;
    struct hs_own_image image;
    struct hs_arena arena;
};

/** What decides the contents of a descriptor set. Zeroed before use: compared by bytes. */
struct hs_set_key {
    uint64_t views[HS_PLANE_COUNT];
    uint32_t layouts[HS_PLANE_COUNT];
    uint32_t parity;
    uint32_t wide;
    uint32_t resolved;
    uint32_t guides;
};

struct hs_set {
    struct hs_set_key key;
    VkDescriptorSet set;
    VkDescriptorSet guide_set; ///< Of models that read guides.
    bool used;
};

/** Dispatches of one stage in several bands are marks of one name. */
struct hs_timing_slot {
    uint64_t frame;
    /** First timestamp that the slot held before; as long as it reads the same, it is not ready. */
    uint64_t stale;
    uint32_t count, mark_count;
    const char *names[HS_MAX_STAGES];
    uint8_t *marks; ///< Which name each is of.
};

/** History of one AOV: shares of the colour, or values. Two sets, chosen by parity. */
struct hs_aov_own {
    struct hs_own_image history[2];
    struct hs_arena arena;
    bool valid; ///< The last frame had it.
    enum hs_aov_kind kind;
};

/** A descriptor set of an AOV, and what decides its contents. */
struct hs_aov_set {
    VkImageView in, out;
    VkImageLayout layout;
    uint32_t index, parity;
    VkDescriptorSet set;
    bool used;
};

/** What resolves AOVs, made at the first frame that has some. */
struct hs_aovs {
    VkDescriptorSetLayout empty_layout, set_layout;
    VkPipelineLayout pipeline_layout;
    VkPipeline pipelines[2]; ///< Without and with the network.
    VkDescriptorPool pools[HS_MAX_POOLS];
    uint32_t pool_count;
    struct hs_aov_set *sets;
    uint32_t set_count;
    struct hs_aov_own own[HS_AOV_MAX];
};

struct hs_stream {
    struct hs_model *model;
    struct hs_device *device;
    struct hs_stream_params params;

    struct hs_arena arena;
    struct hs_own_buffer buffer;
    uint64_t state_offset;
    struct hs_own_image own[HS_OWN_COUNT];
    struct hs_arena lazy_arenas[HS_OWN_COUNT - HS_OWN_LAZY];
    struct hs_copy copies[HS_MAX_COPIES];
    uint32_t copy_count;

    /** Network: activations, and its weights in device-local memory, copied by the first frame. */
    struct hs_arena network_arena;
    struct hs_own_buffer tensors[HS_TENSORS];
    struct hs_own_buffer weights;
    bool weights_ready;
    bool network; ///< The model has one, and it is not too large for the device.
    struct hs_level_size levels[HS_WEIGHTS_LEVELS];
    VkDescriptorPool network_pool;
    /** The network runs outside: stages around it in place of the model's, copies of hs_split. */
    bool split;
    VkPipeline split_enter, split_resolve;
    VkBuffer split_features, split_head;
    VkDescriptorSet layer_sets[HS_WEIGHTS_LAYERS_MAX];

    struct hs_bands_params bands_params;
    struct hs_bands bands;

    /** Guides: the passes' images; that making them failed holds up to the next cut. */
    struct hs_arena guide_arena;
    struct hs_own_image guides[HS_GUIDE_COUNT];
    bool guides_failed;

    struct hs_aovs aovs;

    VkDescriptorPool pools[HS_MAX_POOLS];
    uint32_t pool_count;
    struct hs_set *sets;
    uint32_t set_count;

    VkQueryPool queries;
    uint32_t marks_max; ///< Of a slot, which has one timestamp more.
    uint8_t *marks;     ///< Of all slots.
    uint64_t *values;   ///< Of one.
    struct hs_timing_slot slots[HS_TIMING_SLOTS];
    /** The next frame whose times are to be reported. */
    uint64_t timing_next;

    /** What the next frame must know of the last one. */
    uint64_t frames;
    uint32_t frames_since_reset;
    uint32_t prev_render[2];
    float prev_jitter[2];
    struct hs_camera prev_camera;
    bool prev_has_camera;
    bool prev_has_depth;
    bool prev_has_normal; ///< In world space.
    bool state_ready;
};

/** How one plane takes part in a frame. */
struct hs_plane_use {
    /** NULL: absent. */
    const struct hs_image *image;
    uint32_t width, height;
    /** Fallback through this own image, or NULL for direct use. */
    struct hs_own_image *copy;
    /** Output only: `copy` is wider than the caller's format and is converted by a blit. */
    bool blit;
};

/** One frame on its way into a command buffer. */
struct hs_recording {
    const struct hs_frame *frame;
    struct hs_plane_use planes[HS_PLANE_COUNT];
    bool reset;
    bool wide;
    bool finish;
    bool measure;
    bool guides;       ///< The passes that read guides run.
    bool network;      ///< So do the network and its variant of resolve.
    bool world_normal; ///< The frame's normals are in world space, or are brought there.
    VkDescriptorSet set;
    VkDescriptorSet guide_set;
    VkDescriptorSet aov_sets[HS_AOV_MAX];
    struct hs_frame_params params;
    struct hs_timing_slot *timing;
    /** The stream's, or those of a lower render size, in the same rings and pitches. */
    struct hs_level_size levels[HS_WEIGHTS_LEVELS];
    struct hs_bands_params bands_params;
    struct hs_bands bands;
};

/** Checks a frame and fills `planes` except for copies. */
int hs_frame_check(const struct hs_stream *stream, const struct hs_frame *frame,
                   struct hs_recording *rec);

/** Chooses direct or copy for every plane and makes what is needed for the first time. */
int hs_planes_choose(struct hs_stream *stream, struct hs_recording *rec);

/** Whether shaders can read an image in this layout. */
bool hs_layout_sampleable(VkImageLayout layout);

/** Makes what a frame's AOVs need for the first time, and finds their descriptor sets. */
int hs_aovs_choose(struct hs_stream *stream, struct hs_recording *rec);
/** Notes which AOVs the frame had. */
void hs_aovs_advance(struct hs_stream *stream, const struct hs_frame *frame);
void hs_aovs_forget(struct hs_stream *stream, VkImageView view);
void hs_aovs_destroy(struct hs_stream *stream);

/** Makes what the passes that read guides need, once; decides whether they run. */
int hs_guides_choose(struct hs_stream *stream, struct hs_recording *rec);
void hs_guides_write(const struct hs_stream *stream, const struct hs_recording *rec,
                     const struct hs_set *set);
void hs_guides_destroy(struct hs_stream *stream);

/** Whether the passes that read guides run in frames of this stream. */
bool hs_guides_run(const struct hs_stream *stream);

/** View and layout with which shaders see a plane of the caller. */
VkDescriptorImageInfo hs_plane_info(const struct hs_plane_use *use, enum hs_plane plane);

/** Finds or makes the descriptor set of a recording. */
int hs_sets_find(struct hs_stream *stream, struct hs_recording *rec);
/** As many sets of one layout as a pool gives to. */
VkResult hs_sets_allocate(struct hs_device *device, VkDescriptorPool pool,
                          VkDescriptorSetLayout layout, VkDescriptorSet made[HS_SETS_PER_POOL]);
void hs_sets_forget(struct hs_stream *stream, VkImageView view);
void hs_sets_destroy(struct hs_stream *stream);

/** Bands and the network's buffers and descriptor sets; all is planned before anything is made. */
int hs_activations_plan(struct hs_stream *stream);
int hs_activations_create(struct hs_stream *stream);

/** Checks hs_stream_params::split and keeps it, before all is planned; then makes the stages. */
int hs_split_take(struct hs_stream *stream, const struct hs_split *split);
int hs_split_create(struct hs_stream *stream);
void hs_split_destroy(struct hs_stream *stream);

/** A frame's levels and bands. HS_ERR_INTERNAL: they do not fit into the stream's rings. */
int hs_activations_choose(const struct hs_stream *stream, struct hs_recording *rec);
void hs_activations_destroy(struct hs_stream *stream);

/** Fills the parameter block. */
void hs_params_fill(const struct hs_stream *stream, struct hs_recording *rec);

/** GPU timestamps. hs_timing_mark() ends a stage; it does nothing without timestamps. */
int hs_timing_create(struct hs_stream *stream);
void hs_timing_destroy(struct hs_stream *stream);
void hs_timing_begin(struct hs_stream *stream, struct hs_recording *rec, VkCommandBuffer cmd);
void hs_timing_mark(struct hs_stream *stream, struct hs_recording *rec, VkCommandBuffer cmd,
                    const char *name);

/** Records a frame that has passed all checks. `back`: from where a network was run outside, or
 * `cmd`. */
void hs_commands_record(struct hs_stream *stream, struct hs_recording *rec, VkCommandBuffer cmd,
                        VkCommandBuffer back);

#endif
