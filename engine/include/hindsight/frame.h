// SPDX-License-Identifier: MIT
/**
 * Frame: plain values that describe one input frame and where its output goes.
 *
 * Everything here lives for the call of hs_stream_record(). A zeroed struct is a legal start:
 * zero means the default that each field states. Signs and units are those of docs/conventions.md.
 */
#ifndef HINDSIGHT_FRAME_H
#define HINDSIGHT_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "look.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Stages and accesses with which a frame reads its inputs. Make earlier writes visible to them. */
#define HS_INPUT_STAGES (VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT)
#define HS_INPUT_ACCESS (VK_ACCESS_2_SHADER_SAMPLED_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT)

/** Stages and accesses with which a frame writes its output. Wait for all of them. */
#define HS_OUTPUT_STAGES                                                     \
    (VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT | \
     VK_PIPELINE_STAGE_2_BLIT_BIT)
#define HS_OUTPUT_ACCESS (VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT)

/** Bits of hs_image::flags. */
enum hs_image_flags {
    /** Go through an internal copy even where the image could be used directly. */
    HS_IMAGE_COPY = 1 << 0,
};

/**
 * A borrowed image with one view.
 *
 * Shape: a 2D view of one mip level and one layer; its pixels (x, y) to (x, y) + plane size are
 * used.
 * Owns: the caller, until the GPU has finished the frame; hs_stream_forget() must be called
 * before the view is destroyed.
 * Since: 1.
 */
struct hs_image {
    /** Required when `view` is set. */
    VkImage image;
    /** VK_NULL_HANDLE: the plane is absent. */
    VkImageView view;
    /** Format of the view. */
    VkFormat format;
    /**
     * Layout on entry and on exit. Inputs: every layout but UNDEFINED. Output: UNDEFINED discards
     * the whole image and leaves it in GENERAL.
     */
    VkImageLayout layout;
    /** Usage flags of the image. 0: SAMPLED for inputs, STORAGE for the output. */
    VkImageUsageFlags usage;
    /** Size of the view's mip level in pixels. 0: exactly the plane's size. */
    uint32_t width, height;
    /** Origin of the plane inside the view, pixels. */
    uint32_t x, y;
    /** Mip level and layer that the view shows. */
    uint32_t level, layer;
    /** hs_image_flags. */
    uint32_t flags;
};

/** Which motion values mean "nobody wrote this pixel". */
enum hs_motion_unwritten {
    HS_MOTION_WRITTEN = 0,            ///< Every pixel is written.
    HS_MOTION_UNWRITTEN_ZERO = 1,     ///< Raw (0, 0) is unwritten.
    HS_MOTION_UNWRITTEN_ZERO_FAR = 2, ///< Raw (0, 0) is unwritten where depth is at infinity.
    HS_MOTION_UNWRITTEN_NAN = 3,      ///< NaN is unwritten (non-finite always counts as such).
};

/**
 * How to read the motion plane: motion = (raw - bias) * scale, after an optional swap of axes.
 *
 * Units: the result is the position in the previous frame minus the position in the current
 * frame, in pixels of the plane, +x right, +y down, without jitter. Direction, signs and UV or
 * NDC units are all folded into `scale`.
 * Since: 1.
 */
struct hs_motion_params {
    /** 0 means 1. */
    float scale[2];
    float bias[2];
    /** The first channel is y. */
    bool swap_axes;
    /** The vectors contain the change of jitter, which the engine takes out. */
    bool jittered;
    /** The plane has output size; its vectors are in output pixels, already dilated. */
    bool display_resolution;
    enum hs_motion_unwritten unwritten;
};

enum hs_depth_kind {
    HS_DEPTH_LINEAR = 0,            ///< Planar distance along the view axis.
    HS_DEPTH_HARDWARE = 1,          ///< Depth buffer, 0 near, 1 far.
    HS_DEPTH_HARDWARE_INVERTED = 2, ///< Depth buffer, 1 near, 0 far.
};

/** How to read the depth plane. */
struct hs_depth_params {
    enum hs_depth_kind kind;
    /** LINEAR: multiplies the values; 0 means 1. */
    float scale;
    /** LINEAR: raw values at or above it are at infinity; 0: only non-finite ones are. */
    float far_value;
    /** HARDWARE: near plane distance, > 0. */
    float near_z;
    /** HARDWARE: far plane distance; 0 or not finite: infinite. */
    float far_z;
};

enum hs_exposure_mode {
    HS_EXPOSURE_GIVEN = 0,   ///< `value`.
    HS_EXPOSURE_TEXTURE = 1, ///< First channel of the 1x1 `texture`; a zero texel reads as 1.
    HS_EXPOSURE_AUTO = 2,    ///< Measured: log-luma average of the frame.
};

/**
 * Exposure of HDR streams; LDR streams ignore it.
 *
 * Units: the working picture is colour * exposure * scale / pre_exposure; the output is in the
 * units of the input colour again.
 * Since: 1.
 */
struct hs_exposure_params {
    enum hs_exposure_mode mode;
    /** 0 means 1. */
    float value;
    /** Multiplies every mode's exposure; 0 means 1. */
    float scale;
    /** What the application already multiplied the colour by; 0 means 1. */
    float pre_exposure;
    struct hs_image texture;
};

/** What the specular albedo plane holds. */
enum hs_specular_kind {
    /** Reflectance of the lobe at this angle and roughness: what specular radiance divides by. */
    HS_SPECULAR_DIRECTIONAL = 0,
    /** Reflectance at normal incidence; the rise towards grazing angles is added to it. */
    HS_SPECULAR_F0 = 1,
    /**
     * As F0 for dielectrics, 1 for metals: their tint counts as radiance and is filtered with it.
     */
    HS_SPECULAR_METAL_WHITE = 2,
};

enum hs_normal_space {
    HS_NORMAL_WORLD = 0,
    HS_NORMAL_VIEW = 1, ///< +x right, +y up, +z towards the camera.
};

enum hs_roughness_kind {
    HS_ROUGHNESS_PERCEPTUAL = 0, ///< What artists set; its square is alpha.
    HS_ROUGHNESS_ALPHA = 1,      ///< The microfacet parameter.
    HS_ROUGHNESS_SMOOTHNESS = 2, ///< 1 - perceptual roughness.
};

/**
 * How to read the guides.
 *
 * Normals of any length are taken; (0, 0, 0) means that there is none.
 * Since: 1.
 */
struct hs_guide_params {
    enum hs_specular_kind specular;
    enum hs_normal_space normal_space;
    /** Normals are stored as 0..1 for -1..1. */
    bool normal_unsigned;
    /** The normal's fourth channel is roughness; a roughness plane goes before it. */
    bool normal_packed;
    enum hs_roughness_kind roughness;
};

/**
 * Camera of one frame, without jitter.
 *
 * Shape: row-major 4x4 for column vectors; view space looks down -z with +y up (OpenGL); clip
 * space has +y up; only x, y, w rows and the z column of `view_to_clip` matter, so every depth
 * range will do.
 * Since: 1.
 */
struct hs_camera {
    double world_to_view[16];
    double view_to_clip[16];
};

/** What an AOV holds. */
enum hs_aov_kind {
    /**
     * A part of the colour, in its units: a light, a lobe. Each channel is resolved as its share of
     * the colour's, so that parts whose sum is the colour add up to the output. Where the colour is
     * 0, the part is taken as 0.
     */
    HS_AOV_LIGHT = 0,
    /** Values of their own, such as albedo or normals. Filtered as they are, within their range. */
    HS_AOV_DATA = 1,
};

/** Most AOVs of a frame. */
#define HS_AOV_MAX 32

/**
 * A plane that is upscaled beside the colour, with the weights of its samples and of its history.
 *
 * Its place in the list is its name: history goes on where the frame before had one of the same
 * kind at that place. Output is neither exposed nor sharpened; values are cut to +-65504.
 * Since: 2.
 */
struct hs_aov {
    /**
     * Render size and output size, R16G16B16A16_SFLOAT or R32G32B32A32_SFLOAT, both required. Used
     * directly: `in` sampled, `out` as a storage image, `x` and `y` 0, no HS_IMAGE_COPY.
     */
    struct hs_image in, out;
    enum hs_aov_kind kind;
};

/** One frame. */
struct hs_frame {
    /** Required. Linear scene colour, or display-referred for LDR streams; alpha premultiplied. */
    struct hs_image colour;
    /** Render size. Absent: no disocclusion test and no dilation. */
    struct hs_image depth;
    /** Render or output size. Absent: motion from `camera`, or none. */
    struct hs_image motion;
    /** Render size, optional, 0..1: how little history is to be trusted. */
    struct hs_image reactive;
    /**
     * Guides, render size, all optional: reflectance of the diffuse and of the specular lobe,
     * normal, roughness, and length of the reflected ray in units of depth (infinite: it left the
     * scene; 0: none). `atrous` and `ray` read them, other presets leave them alone; see
     * hs_stream_report().
     */
    struct hs_image diffuse_albedo;
    struct hs_image specular_albedo;
    struct hs_image normal;
    struct hs_image roughness;
    struct hs_image hit_distance;
    /** Required. Output size. */
    struct hs_image output;

    /** Render size in pixels, 16 up to the stream's maximum; may change every frame. */
    uint32_t render_width, render_height;
    /** Sample position minus pixel centre, render pixels, +x right, +y down, within [-1, 1]. */
    float jitter[2];
    struct hs_motion_params motion_params;
    struct hs_depth_params depth_params;
    struct hs_exposure_params exposure;
    struct hs_guide_params guide_params;
    /**
     * Greatest luminance of a pixel of the working picture (colour times exposure); what is above
     * is scaled down to it. Against fireflies; it takes light away. 0: off.
     */
    float firefly_clamp;
    /** NULL: no camera. Needed in two frames in a row to move unwritten pixels. */
    const struct hs_camera *camera;
    /** Sharpening of the output, 0 (off) to 1. History is not sharpened. */
    float sharpness;
    /** A cut: forget history. The first frame of a stream always does. */
    bool reset;
    /** AOVs, at most HS_AOV_MAX. NULL where the count is 0. Since: 2. */
    const struct hs_aov *aovs;
    uint32_t aov_count;
    /** Zeros: the output stays scene-linear. Not of LDR streams. Since: 2. */
    struct hs_look look;
};

#ifdef __cplusplus
}
#endif
#endif
