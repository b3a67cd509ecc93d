// SPDX-License-Identifier: MIT
#include "hsframe.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

/** Distance that relative depth tests do not depend on; used where files do not tell. */
#define UNKNOWN_NEAR 0.1f

VkFormat hsframe_vk_format(enum hsio_format format)
{
    switch (format) {
    case HSIO_FORMAT_R16F:
        return VK_FORMAT_R16_SFLOAT;
    case HSIO_FORMAT_RG16F:
        return VK_FORMAT_R16G16_SFLOAT;
    case HSIO_FORMAT_RGBA16F:
        return VK_FORMAT_R16G16B16A16_SFLOAT;
    case HSIO_FORMAT_R32F:
        return VK_FORMAT_R32_SFLOAT;
    case HSIO_FORMAT_RG32F:
        return VK_FORMAT_R32G32_SFLOAT;
    case HSIO_FORMAT_RGBA32F:
        return VK_FORMAT_R32G32B32A32_SFLOAT;
    default:
        return VK_FORMAT_UNDEFINED;
    }
}

float hsframe_value(const uint8_t *pixel, VkFormat format, int channel)
{
    float value;
    uint32_t bits;
    uint16_t word;

    switch (format) {
    case VK_FORMAT_R16_SFLOAT:
    case VK_FORMAT_R16G16_SFLOAT:
    case VK_FORMAT_R16G16B16A16_SFLOAT:
        memcpy(&word, pixel + 2 * channel, sizeof(word));
        return hsio_half_to_float(word);
    case VK_FORMAT_R32_SFLOAT:
    case VK_FORMAT_R32G32_SFLOAT:
    case VK_FORMAT_R32G32B32A32_SFLOAT:
        memcpy(&value, pixel + 4 * channel, sizeof(value));
        return value;
    case VK_FORMAT_R16_UNORM:
    case VK_FORMAT_R16G16_UNORM:
    case VK_FORMAT_R16G16B16A16_UNORM:
        memcpy(&word, pixel + 2 * channel, sizeof(word));
        return (float)word / 65535.0f;
    case VK_FORMAT_A2B10G10R10_UNORM_PACK32:
        memcpy(&bits, pixel, sizeof(bits));
        return channel == 3 ? (float)(bits >> 30) / 3.0f
                            : (float)(bits >> 10 * channel & 1023) / 1023.0f;
    case VK_FORMAT_B8G8R8A8_UNORM:
        return (float)pixel[channel < 3 ? 2 - channel : 3] / 255.0f;
    default:
        return (float)pixel[channel] / 255.0f;
    }
}

struct hs_image *hsframe_image(struct hs_frame *frame, enum hsio_plane plane)
{
    switch (plane) {
    case HSIO_PLANE_COLOR:
        return &frame->colour;
    case HSIO_PLANE_DEPTH:
        return &frame->depth;
    case HSIO_PLANE_MOTION:
        return &frame->motion;
    case HSIO_PLANE_REACTIVE:
        return &frame->reactive;
    case HSIO_PLANE_DIFFUSE_ALBEDO:
        return &frame->diffuse_albedo;
    case HSIO_PLANE_SPECULAR_ALBEDO:
        return &frame->specular_albedo;
    case HSIO_PLANE_NORMAL:
        return &frame->normal;
    case HSIO_PLANE_ROUGHNESS:
        return &frame->roughness;
    case HSIO_PLANE_HIT_DISTANCE:
        return &frame->hit_distance;
    default:
        return NULL;
    }
}

bool hsframe_same_file(const char *a, const char *b)
{
    struct stat sa, sb;

    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}

bool hsframe_reads(const struct hsio_frame_info *info, const char *path)
{
    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        if (info->planes[i].present && hsframe_same_file(path, info->planes[i].path))
            return true;
    }
    return hsframe_same_file(path, info->path);
}

static int check_size(const struct hsio_frame_info *info, enum hsio_plane plane, int width,
                      int height, const struct hs_log *log)
{
    const struct hsio_plane_info *p = &info->planes[plane];

    if (!p->present || (p->width == width && p->height == height))
        return 0;
    hs_log_message(log, HS_LOG_ERROR, "frame %lld, %s: expected %dx%d, found %dx%d in %s",
                   (long long)info->number, hsio_plane_name(plane), width, height, p->width,
                   p->height, p->path);
    return HS_ERR_INVALID;
}

int hsframe_check_guides(const struct hsio_frame_info *info, const struct hs_log *log)
{
    static const enum hsio_plane guides[] = {HSIO_PLANE_DIFFUSE_ALBEDO, HSIO_PLANE_SPECULAR_ALBEDO,
                                             HSIO_PLANE_NORMAL, HSIO_PLANE_ROUGHNESS,
                                             HSIO_PLANE_HIT_DISTANCE};
    int err = 0;

    for (size_t i = 0; !err && i < sizeof(guides) / sizeof(guides[0]); i++)
        err = check_size(info, guides[i], info->width, info->height, log);
    return err;
}

void hsframe_tell_guides(const struct hs_stream *stream, const struct hs_frame *frame,
                         const struct hs_log *log)
{
    struct hs_plane_report rows[HS_REPORT_PLANES];

    if (hs_stream_report(stream, frame, rows) < 0)
        return;
    for (int i = 0; i < HS_REPORT_PLANES; i++) {
        if (rows[i].without && rows[i].guide)
            hs_log_message(log, HS_LOG_INFO, "no %s: %s", rows[i].plane, rows[i].without);
    }
}

int hsframe_check(const struct hsio_frame_info *info, int out_width, int out_height,
                  const struct hs_log *log)
{
    bool display = info->convention->motion.resolution == HSIO_RESOLUTION_DISPLAY;
    int err;

    if (!info->planes[HSIO_PLANE_COLOR].present) {
        hs_log_message(log, HS_LOG_ERROR,
                       "frame %lld: no colour in %s; see hindsight inspect, and set a convention "
                       "or a layer that fits",
                       (long long)info->number, info->path);
        return HS_ERR_INVALID;
    }
    if (!(fabsf(info->jitter_px[0]) <= 1 && fabsf(info->jitter_px[1]) <= 1)) {
        hs_log_message(log, HS_LOG_ERROR,
                       "frame %lld: a jitter of (%g, %g) pixels is out of range -1 to 1; see "
                       "the key jitter.unit of the convention",
                       (long long)info->number, (double)info->jitter_px[0],
                       (double)info->jitter_px[1]);
        return HS_ERR_INVALID;
    }
    err = check_size(info, HSIO_PLANE_DEPTH, info->width, info->height, log);
    if (!err)
        err = check_size(info, HSIO_PLANE_REACTIVE, info->width, info->height, log);
    if (!err)
        err = check_size(info, HSIO_PLANE_MOTION, display ? out_width : info->width,
                         display ? out_height : info->height, log);
    return err;
}

static struct hs_motion_params motion_params(const struct hsio_frame_info *info, int out_width,
                                             int out_height)
{
    const struct hsio_motion_convention *conv = &info->convention->motion;
    bool display = conv->resolution == HSIO_RESOLUTION_DISPLAY;
    struct hs_motion_params params = {
        .bias = {conv->bias_x, conv->bias_y},
        .swap_axes = conv->swap,
        .jittered = conv->jittered,
        .display_resolution = display,
    };

    hsio_motion_scale(conv, info->width, info->height, out_width, out_height, params.scale);
    // The engine counts in pixels of the plane.
    if (display) {
        params.scale[0] *= (float)out_width / (float)info->width;
        params.scale[1] *= (float)out_height / (float)info->height;
    }
    // Vectors to the next frame are the best guess of the way back that there is.
    if (conv->direction == HSIO_DIRECTION_NEXT) {
        params.scale[0] = -params.scale[0];
        params.scale[1] = -params.scale[1];
    }
    switch (conv->unwritten) {
    case HSIO_UNWRITTEN_NONE:
        params.unwritten = HS_MOTION_WRITTEN;
        break;
    case HSIO_UNWRITTEN_ZERO:
        params.unwritten = HS_MOTION_UNWRITTEN_ZERO;
        break;
    case HSIO_UNWRITTEN_ZERO_AT_FAR:
        // Without depth nothing is known to be far.
        params.unwritten = info->planes[HSIO_PLANE_DEPTH].present ? HS_MOTION_UNWRITTEN_ZERO_FAR
                                                                  : HS_MOTION_WRITTEN;
        break;
    case HSIO_UNWRITTEN_NAN:
        params.unwritten = HS_MOTION_UNWRITTEN_NAN;
        break;
    }
    return params;
}

void hsframe_clip(const struct hsio_frame_info *info, float clip[2])
{
    const struct hsio_convention *conv = info->convention;
    const float near = info->has_clip && info->near > 0 ? info->near : conv->depth.near;
    const float far = info->has_clip ? info->far : conv->depth.far;

    clip[0] = near > 0 ? near : UNKNOWN_NEAR;
    clip[1] = far > clip[0] ? far : INFINITY;
}

/** Depth keeps its unit, which is the one of the camera. */
static struct hs_depth_params depth_params(const struct hsio_frame_info *info)
{
    const struct hsio_convention *conv = info->convention;
    struct hs_depth_params params = {0};
    float clip[2];

    switch (conv->depth.kind) {
    case HSIO_DEPTH_LINEAR:
        params.kind = HS_DEPTH_LINEAR;
        if (isfinite(conv->depth.background) && conv->depth.background > 0)
            params.far_value = conv->depth.background;
        return params;
    case HSIO_DEPTH_HARDWARE:
        params.kind = HS_DEPTH_HARDWARE;
        break;
    case HSIO_DEPTH_HARDWARE_INVERTED:
        params.kind = HS_DEPTH_HARDWARE_INVERTED;
        break;
    }
    hsframe_clip(info, clip);
    params.near_z = clip[0];
    params.far_z = isfinite(clip[1]) ? clip[1] : 0;
    return params;
}

static struct hs_exposure_params exposure_params(const struct hsio_frame_info *info,
                                                 const struct hsframe_options *options)
{
    struct hs_exposure_params params = {.mode = HS_EXPOSURE_GIVEN, .value = options->exposure};

    if (!options->auto_exposure && params.value <= 0 && info->has_exposure)
        params.value = info->exposure;
    if (options->auto_exposure || !(params.value > 0))
        params = (struct hs_exposure_params){.mode = HS_EXPOSURE_AUTO};
    return params;
}

static struct hs_guide_params guide_params(const struct hsio_convention *conv)
{
    static const enum hs_specular_kind specular[] = {
        [HSIO_SPECULAR_DIRECTIONAL] = HS_SPECULAR_DIRECTIONAL,
        [HSIO_SPECULAR_F0] = HS_SPECULAR_F0,
        [HSIO_SPECULAR_METAL_WHITE] = HS_SPECULAR_METAL_WHITE,
    };
    static const enum hs_roughness_kind roughness[] = {
        [HSIO_ROUGHNESS_PERCEPTUAL] = HS_ROUGHNESS_PERCEPTUAL,
        [HSIO_ROUGHNESS_ALPHA] = HS_ROUGHNESS_ALPHA,
        [HSIO_ROUGHNESS_SMOOTHNESS] = HS_ROUGHNESS_SMOOTHNESS,
    };
    return (struct hs_guide_params){
        .specular = specular[conv->specular_albedo.kind],
        .normal_space = conv->normal.space == HSIO_SPACE_VIEW ? HS_NORMAL_VIEW : HS_NORMAL_WORLD,
        .normal_unsigned = conv->normal.range == HSIO_RANGE_UNSIGNED,
        .normal_packed = conv->normal.packed,
        .roughness = roughness[conv->roughness.kind],
    };
}

int hsframe_setup(const struct hsio_frame_info *info, const struct hsframe_options *options,
                  int out_width, int out_height, const struct hs_log *log, struct hs_camera *camera,
                  struct hs_frame *frame)
{
    int err = hsframe_check(info, out_width, out_height, log);

    if (err < 0)
        return err;
    *frame = (struct hs_frame){
        .render_width = (uint32_t)info->width,
        .render_height = (uint32_t)info->height,
        .jitter = {info->jitter_px[0], info->jitter_px[1]},
        .depth_params = depth_params(info),
        .motion_params = motion_params(info, out_width, out_height),
        .exposure = exposure_params(info, options),
        .guide_params = guide_params(info->convention),
        .firefly_clamp = options->firefly_clamp,
        .look = options->look,
        .sharpness = options->sharpness >= 0 ? options->sharpness : info->sharpness,
        .reset = info->reset || options->reset,
    };
    // A frame that stands in for a missing one shows what the frame before shows: no motion.
    if (info->has_view && info->has_proj && !info->held) {
        for (int i = 0; i < 16; i++) {
            camera->world_to_view[i] = info->view[i];
            camera->view_to_clip[i] = info->proj[i];
        }
        frame->camera = camera;
    }
    return 0;
}
