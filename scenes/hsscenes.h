// SPDX-License-Identifier: MIT
/**
 * Scenes: procedural clips rendered on the caller's Vulkan device, for tests and for training.
 *
 *     hs_scenes_create(&scenes_params, &scenes);
 *     hs_clip_create(scenes, &(struct hs_clip_params){.pattern = "random", .seed = 7}, &clip);
 *     hs_clip_frame(clip, 0, &info);
 *     hs_clip_record(clip, &(struct hs_clip_job){.frame = 0, .planes = planes}, 1, cmd);
 *
 * Everything that a clip shows follows from its parameters; a frame does not depend on which
 * frames were recorded before it. docs/scenes.md tells what the planes hold.
 */
#ifndef HSSCENES_H
#define HSSCENES_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "hindsight/error.h"
#include "hindsight/log.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Pipelines on one device. Opaque. */
struct hs_scenes;
/** One scene in motion. Opaque. */
struct hs_clip;

/** Arguments of hs_scenes_create(). */
struct hs_scenes_params {
    /** Required. Everything that is called is looked up through it. */
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    /** Required. Vulkan 1.3. */
    VkInstance instance;
    /** Required. */
    VkPhysicalDevice physical_device;
    /**
     * Required. Created with synchronization2 and shaderStorageImageWriteWithoutFormat. Must
     * outlive the result.
     */
    VkDevice device;
    /** May be NULL. The struct is copied, `priv` is kept. */
    const struct hs_log *log;
};

/**
 * Prepares a device for clips.
 *
 * Owns: the caller keeps instance and device and destroys them after hs_scenes_destroy().
 * Thread: the result may be shared by threads.
 * Cost: submits nothing.
 * Errors: HS_ERR_INVALID a required argument is missing; HS_ERR_UNSUPPORTED entry points or
 * storage images are too few; HS_ERR_NOMEM; HS_ERR_DEVICE_LOST.
 * Since: 1.
 */
int hs_scenes_create(const struct hs_scenes_params *params, struct hs_scenes **scenes);

/** Destroys the pipelines; all clips must be gone. NULL is legal. Thread: one at a time. */
void hs_scenes_destroy(struct hs_scenes **scenes);

/** Name of a pattern, in a fixed order, or NULL past the end. Thread: safe. Since: 1. */
const char *hs_scenes_pattern(uint32_t index);
/** One line about a pattern, or NULL past the end. Thread: safe. Since: 1. */
const char *hs_scenes_pattern_about(uint32_t index);

enum hs_scenes_mode {
    HS_SCENES_DIRECT = 0, ///< One point sample a pixel, shadow rays, no noise: like a game.
    HS_SCENES_PATH = 1,   ///< Path tracing with global illumination.
};

/** What the specular albedo plane holds. */
enum hs_scenes_specular {
    /** Hemispherical reflectance of the lobe at this roughness and angle: demodulates radiance. */
    HS_SCENES_SPECULAR_DIRECTIONAL = 0,
    /** Reflectance at normal incidence: dielectrics about 0.04, metals their colour. */
    HS_SCENES_SPECULAR_F0 = 1,
    /** As F0, but white for metals, whose colour a path tracer carries in the throughput. */
    HS_SCENES_SPECULAR_METAL_WHITE = 2,
};

/** Over which part of a pixel the samples of the input are spread. */
enum hs_scenes_filter {
    /** All at one point: a game's frame. */
    HS_SCENES_FILTER_POINT = 0,
    /** Over a box of one pixel. */
    HS_SCENES_FILTER_BOX = 1,
    /** Blackman-Harris over 1.5 pixels, as Blender does by default. */
    HS_SCENES_FILTER_BLACKMAN_HARRIS = 2,
};

/** "point", "box" or "blackman-harris"; static storage. Thread: safe. Since: 1. */
const char *hs_scenes_filter_name(enum hs_scenes_filter filter);

/** Triangles from the caller: shown as the main object of the pattern "mesh". */
struct hs_scenes_mesh {
    /** `[vertex_count,3]`, metres, +z up. Required unless vertex_count is 0. */
    const float *positions;
    /** `[vertex_count,3]`, or NULL: computed. */
    const float *normals;
    uint32_t vertex_count;
    /** `[index_count]`, three a triangle, each below vertex_count. */
    const uint32_t *indices;
    uint32_t index_count;
};

/** An equirectangular picture around the scene, +z up, the middle column in direction +x. */
struct hs_scenes_environment {
    /** `[height,width,3]`, linear Rec.709 radiance, top row first; NULL: the scene's own sky. */
    const float *pixels;
    uint32_t width, height;
};

/** Arguments of hs_clip_create(). Zero means the default that each field states. */
struct hs_clip_params {
    /** A name from hs_scenes_pattern(), or "random". NULL: "random". */
    const char *pattern;
    uint64_t seed;
    /**
     * Frames of the clip: a cut comes in its middle, and cameras of "random" keep clear of things
     * for as long, up to 64 frames. More may be recorded. 0: 8.
     */
    uint32_t frame_count;
    /** Render size, 8..16384. 0: 320x180. */
    uint32_t render_width, render_height;
    /** Output size, at least the render size. 0: twice the render size. */
    uint32_t width, height;
    /**
     * The render size that the scene is made for: speeds, sizes of fine detail and the shape of the
     * view. Clips of one scene size show the same whatever their render size. 0: the render size.
     */
    uint32_t scene_width, scene_height;
    enum hs_scenes_mode mode;
    /**
     * Samples a render pixel, 1..65536. 0: 4 in path mode, 16 in direct mode with a filter. Direct
     * mode without a filter always takes one.
     */
    uint32_t spp;
    /**
     * With a filter all planes but depth and hit distance are means over the pixel's samples, of
     * guides and motion over at most the first 64; motion over those that hit something, as
     * Cycles writes it. Depth and hit distance show the first sample.
     */
    enum hs_scenes_filter filter;
    /** Samples an output pixel of the reference, 1..65536. 0: 16, in path mode 256. */
    uint32_t reference_spp;
    /** Path mode: every frame draws the same random numbers, so noise sticks to the screen. */
    bool fixed_noise;
    /** Path mode: which random numbers the input draws, apart from the seed. */
    uint32_t noise;
    /** Path mode: probability, 0..1, that a sample of the input is `firefly_gain` times too bright.
     */
    float fireflies;
    /** 0: 50. */
    float firefly_gain;
    /** Sample pixel centres. */
    bool no_jitter;
    /** Nothing moves: every frame shows the scene at frame 0 from the same place. */
    bool still;
    /** No sky behind the scene: colour 0 and alpha 0 where nothing is hit. */
    bool clear_film;
    enum hs_scenes_specular specular;
    /** Roughness above which the hit distance is 0. 0: 0.5. */
    float hit_limit;
    /** Multiplies the speed of everything that moves, the camera too. 0: 1. */
    float speed;
    /** May be NULL. Copied. */
    const struct hs_scenes_mesh *mesh;
    /** May be NULL. Copied. */
    const struct hs_scenes_environment *environment;
    /** How many frames may be recorded and not yet finished, 1..64. 0: 3. */
    uint32_t frames_in_flight;
};

/** Camera of one frame: row-major 4x4 for column vectors, OpenGL view and clip space. */
struct hs_clip_camera {
    double world_to_view[16];
    double view_to_clip[16];
};

/** What goes with the pixels of one frame. */
struct hs_clip_info {
    /** Sample position minus pixel centre, render pixels, +x right, +y down. */
    float jitter[2];
    uint32_t jitter_phases;
    /** Multiply colour by it for a well exposed picture. */
    float exposure;
    /** First frame of a shot. */
    bool reset;
    struct hs_clip_camera camera;
    struct hs_clip_camera previous_camera;
    /** Distances that `view_to_clip` maps to -1 and 1, metres. */
    float near_z, far_z;
};

/**
 * Builds the scene and its buffers.
 *
 * Owns: the clip belongs to the caller; `scenes` must outlive it.
 * Thread: safe; clips are independent.
 * Cost: some milliseconds of CPU time; allocates all memory that recording needs.
 * Errors: HS_ERR_INVALID an unknown pattern or a value out of range (the log names it);
 * HS_ERR_NOMEM; HS_ERR_DEVICE_LOST.
 * Since: 1.
 */
int hs_clip_create(struct hs_scenes *scenes, const struct hs_clip_params *params,
                   struct hs_clip **clip);

/** The GPU must have finished the clip's frames. NULL is legal. Thread: one at a time. */
void hs_clip_destroy(struct hs_clip **clip);

/**
 * Fills in what goes with the pixels of a frame.
 *
 * Thread: safe.
 * Errors: HS_ERR_INVALID an argument is missing.
 * Since: 1.
 */
int hs_clip_frame(const struct hs_clip *clip, uint32_t frame, struct hs_clip_info *info);

/** The parameters with every default filled in; mesh and environment are NULL. Thread: safe. */
const struct hs_clip_params *hs_clip_settings(const struct hs_clip *clip);

/**
 * Where one frame goes: views of one level and one layer with STORAGE usage, in layout GENERAL, of
 * any float or UNORM colour format. VK_NULL_HANDLE: not wanted.
 *
 * Shape: render size; `reference` has output size.
 * Units: colour and reference linear Rec.709 radiance, alpha premultiplied; depth metres along
 * the view axis, +Inf where nothing is hit; motion previous minus current position in render
 * pixels, +x right, +y down, without jitter; normal world space in xyz and roughness in w;
 * hit distance metres along the mirror direction, 0 where there is none, +Inf into the sky.
 */
struct hs_clip_planes {
    VkImageView colour;
    VkImageView depth;
    VkImageView motion;
    VkImageView normal;
    VkImageView roughness;
    VkImageView diffuse_albedo;
    VkImageView specular_albedo;
    VkImageView hit_distance;
    VkImageView alpha;
    /** Output size. */
    VkImageView reference;
};

struct hs_clip_job {
    uint32_t frame;
    /** The motion plane leads to the next frame of the shot instead: next minus current. */
    bool next;
    struct hs_clip_planes planes;
};

/**
 * Records frames. Frames of one call run side by side on the device.
 *
 * Sync: images in GENERAL, earlier accesses ordered before compute shader writes by the caller;
 * afterwards the planes have been written by COMPUTE_SHADER with SHADER_STORAGE_WRITE and the
 * caller makes that visible. The queue must support compute.
 * Thread: one at a time for a clip.
 * Cost: CPU time for the scene's pose; allocates nothing, submits nothing. The first frame, and the
 * first reference, of a mode on a device compile its shader, which can take seconds.
 * Errors: HS_ERR_INVALID no planes, or more jobs than frames_in_flight; HS_ERR_NOMEM and
 * HS_ERR_INTERNAL the driver refuses a shader; HS_ERR_DEVICE_LOST. Nothing is recorded then.
 * Since: 1.
 */
int hs_clip_record(struct hs_clip *clip, const struct hs_clip_job *jobs, uint32_t job_count,
                   VkCommandBuffer cmd);

#ifdef __cplusplus
}
#endif
#endif
