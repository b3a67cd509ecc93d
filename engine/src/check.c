// SPDX-License-Identifier: MIT
// Everything that can be wrong with a frame, found before anything is recorded.
#include <math.h>
#include <stdio.h>

#include "stream.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MIN_RENDER 16

static const char *const plane_names[HS_PLANE_COUNT] = {
    "colour",          "depth",  "motion",    "reactive",     "exposure", "diffuse albedo",
    "specular albedo", "normal", "roughness", "hit distance", "output"};

static const VkFormat colour_formats[] = {
    VK_FORMAT_R16G16B16A16_SFLOAT,
    VK_FORMAT_R32G32B32A32_SFLOAT,
    VK_FORMAT_B10G11R11_UFLOAT_PACK32,
    VK_FORMAT_A2B10G10R10_UNORM_PACK32,
    VK_FORMAT_A2R10G10B10_UNORM_PACK32,
    VK_FORMAT_R8G8B8A8_UNORM,
    VK_FORMAT_R8G8B8A8_SRGB,
    VK_FORMAT_B8G8R8A8_UNORM,
    VK_FORMAT_B8G8R8A8_SRGB,
    VK_FORMAT_R16G16B16A16_UNORM,
};
static const VkFormat motion_formats[] = {
    VK_FORMAT_R16G16_SFLOAT,       VK_FORMAT_R32G32_SFLOAT, VK_FORMAT_R16G16B16A16_SFLOAT,
    VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R16G16_UNORM,  VK_FORMAT_R16G16_SNORM,
};
static const VkFormat depth_formats[] = {
    VK_FORMAT_D32_SFLOAT, VK_FORMAT_D32_SFLOAT_S8_UINT, VK_FORMAT_R32_SFLOAT, VK_FORMAT_R16_SFLOAT,
    VK_FORMAT_R16_UNORM,  VK_FORMAT_D16_UNORM,          VK_FORMAT_R8_UNORM,
};
static const VkFormat scalar_formats[] = {
    VK_FORMAT_R32_SFLOAT,          VK_FORMAT_R16_SFLOAT,
    VK_FORMAT_R16_UNORM,           VK_FORMAT_R8_UNORM,
    VK_FORMAT_R16G16_SFLOAT,       VK_FORMAT_R32G32_SFLOAT,
    VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT,
};

static const VkFormat normal_formats[] = {
    VK_FORMAT_R16G16B16A16_SFLOAT,      VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R8G8B8A8_UNORM,
    VK_FORMAT_A2B10G10R10_UNORM_PACK32, VK_FORMAT_R16G16B16A16_UNORM,  VK_FORMAT_R8G8B8A8_SNORM,
    VK_FORMAT_R16G16B16A16_SNORM,
};

static const struct {
    const VkFormat *list;
    size_t count;
} formats[HS_PLANE_COUNT] = {
    [HS_PLANE_COLOUR] = {colour_formats, COUNT(colour_formats)},
    [HS_PLANE_DEPTH] = {depth_formats, COUNT(depth_formats)},
    [HS_PLANE_MOTION] = {motion_formats, COUNT(motion_formats)},
    [HS_PLANE_REACTIVE] = {scalar_formats, COUNT(scalar_formats)},
    [HS_PLANE_EXPOSURE] = {scalar_formats, COUNT(scalar_formats)},
    [HS_PLANE_DIFFUSE] = {colour_formats, COUNT(colour_formats)},
    [HS_PLANE_SPECULAR] = {colour_formats, COUNT(colour_formats)},
    [HS_PLANE_NORMAL] = {normal_formats, COUNT(normal_formats)},
    [HS_PLANE_ROUGHNESS] = {scalar_formats, COUNT(scalar_formats)},
    [HS_PLANE_HIT] = {scalar_formats, COUNT(scalar_formats)},
    [HS_PLANE_OUTPUT] = {colour_formats, COUNT(colour_formats)},
};

static bool format_accepted(enum hs_plane plane, VkFormat format)
{
    for (size_t i = 0; i < formats[plane].count; i++) {
        if (formats[plane].list[i] == format)
            return true;
    }
    return false;
}

static int check_image(const struct hs_log *log, const char *name, bool input,
                       const struct hs_image *image, uint32_t width, uint32_t height)
{
    if (!image->image)
        return hs_invalid(log, "%s plane: the view has no image", name);
    if (input && (image->layout == VK_IMAGE_LAYOUT_UNDEFINED ||
                  image->layout == VK_IMAGE_LAYOUT_PREINITIALIZED))
        return hs_invalid(log, "%s plane: an input can not be in layout %d", name,
                          (int)image->layout);
    if (image->flags & ~(uint32_t)HS_IMAGE_COPY)
        return hs_invalid(log, "%s plane: unknown flags 0x%x", name, image->flags);
    uint64_t have_w = image->width ? image->width : width + (uint64_t)image->x;
    uint64_t have_h = image->height ? image->height : height + (uint64_t)image->y;
    if ((uint64_t)image->x + width > have_w || (uint64_t)image->y + height > have_h)
        return hs_invalid(log, "%s plane: %ux%u pixels at (%u, %u) do not fit into %ux%u", name,
                          width, height, image->x, image->y, image->width, image->height);
    if (image->x > INT32_MAX - width || image->y > INT32_MAX - height)
        return hs_invalid(log, "%s plane: origin (%u, %u) is out of range", name, image->x,
                          image->y);
    return 0;
}

static int check_plane(const struct hs_log *log, enum hs_plane plane, const struct hs_image *image,
                       uint32_t width, uint32_t height, struct hs_plane_use *use)
{
    const char *name = plane_names[plane];
    if (!image->view)
        return 0;
    if (image->image && !format_accepted(plane, image->format)) {
        hs_log_message(log, HS_LOG_ERROR, "%s plane: format %d is not accepted", name,
                       (int)image->format);
        return HS_ERR_UNSUPPORTED;
    }
    const int err = check_image(log, name, plane != HS_PLANE_OUTPUT, image, width, height);
    if (err)
        return err;
    *use = (struct hs_plane_use){.image = image, .width = width, .height = height};
    return 0;
}

static int check_sizes(const struct hs_stream *s, const struct hs_frame *f)
{
    const struct hs_log *log = &s->device->log;
    const struct hs_stream_params *p = &s->params;
    if (f->render_width < MIN_RENDER || f->render_height < MIN_RENDER)
        return hs_invalid(log, "render size %ux%u is below %d pixels", f->render_width,
                          f->render_height, MIN_RENDER);
    if (f->render_width > p->max_render_width || f->render_height > p->max_render_height)
        return hs_invalid(log, "render size %ux%u is above the stream's maximum %ux%u",
                          f->render_width, f->render_height, p->max_render_width,
                          p->max_render_height);
    // A render size that was rounded down for an odd output is still ratio 3.
    float limit = HS_RATIO_MAX;
    if ((float)p->out_width > limit * (float)(f->render_width + 1) ||
        (float)p->out_height > limit * (float)(f->render_height + 1))
        return hs_invalid(log, "output %ux%u is more than %g times the render size %ux%u",
                          p->out_width, p->out_height, (double)limit, f->render_width,
                          f->render_height);
    return 0;
}

static bool all_finite(const float *v, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(v[i]))
            return false;
    }
    return true;
}

static int check_camera(const struct hs_log *log, const struct hs_camera *camera)
{
    if (!camera)
        return 0;
    for (int i = 0; i < 16; i++) {
        if (!isfinite(camera->world_to_view[i]) || !isfinite(camera->view_to_clip[i]))
            return hs_invalid(log, "camera: a matrix has a value that is not finite");
    }
    if (camera->view_to_clip[0] == 0 || camera->view_to_clip[5] == 0)
        return hs_invalid(log, "camera: the projection matrix is singular");
    return 0;
}

static int check_guides(const struct hs_log *log, const struct hs_frame *f)
{
    const struct hs_guide_params *g = &f->guide_params;
    if ((unsigned)g->specular > HS_SPECULAR_METAL_WHITE)
        return hs_invalid(log, "specular albedo: unknown kind %d", (int)g->specular);
    if ((unsigned)g->normal_space > HS_NORMAL_VIEW)
        return hs_invalid(log, "normal: unknown space %d", (int)g->normal_space);
    if ((unsigned)g->roughness > HS_ROUGHNESS_SMOOTHNESS)
        return hs_invalid(log, "roughness: unknown kind %d", (int)g->roughness);
    if (!(f->firefly_clamp >= 0 && isfinite(f->firefly_clamp)))
        return hs_invalid(log, "firefly clamp %g is out of range", (double)f->firefly_clamp);
    return 0;
}

static bool within(const float *v, int count, float low, float high)
{
    for (int i = 0; i < count; i++) {
        if (!(v[i] >= low && v[i] <= high))
            return false;
    }
    return true;
}

static int check_look(const struct hs_stream *s, const struct hs_look *l)
{
    const struct hs_log *log = &s->device->log;
    if ((unsigned)l->curve > HS_LOOK_ACES)
        return hs_invalid(log, "look: unknown curve %d", (int)l->curve);
    if (l->curve == HS_LOOK_NONE)
        return 0;
    if (s->params.flags & HS_STREAM_LDR)
        return hs_invalid(log, "look: display-referred streams have theirs already");
    const float positive[] = {l->grade, l->pivot, l->vignette, l->grain};
    if (!within(positive, 4, 0, 1))
        return hs_invalid(log, "look: grade, pivot, vignette or grain is not within 0 and 1");
    const float both[] = {l->contrast, l->saturation};
    if (!within(both, 2, -1, 1) || !within(l->shadows, 3, -1, 1) ||
        !within(l->highlights, 3, -1, 1) || !within(&l->aberration_px, 1, -64, 64))
        return hs_invalid(log,
                          "look: contrast, saturation, shadows, highlights or aberration is out "
                          "of range");
    return 0;
}

static int check_values(const struct hs_log *log, const struct hs_frame *f)
{
    const struct hs_motion_params *m = &f->motion_params;
    const struct hs_depth_params *d = &f->depth_params;
    const struct hs_exposure_params *e = &f->exposure;
    // Written so that NaN fails, too.
    if (!(fabsf(f->jitter[0]) <= 1) || !(fabsf(f->jitter[1]) <= 1))
        return hs_invalid(log, "jitter (%g, %g) is not within one pixel", (double)f->jitter[0],
                          (double)f->jitter[1]);
    if (!(f->sharpness >= 0 && f->sharpness <= 1))
        return hs_invalid(log, "sharpness %g is not within 0 and 1", (double)f->sharpness);
    if (!all_finite(m->scale, 2) || !all_finite(m->bias, 2))
        return hs_invalid(log, "motion scale or bias is not finite");
    if ((unsigned)m->unwritten > HS_MOTION_UNWRITTEN_NAN)
        return hs_invalid(log, "motion: unknown code %d for unwritten pixels", (int)m->unwritten);
    if ((unsigned)d->kind > HS_DEPTH_HARDWARE_INVERTED)
        return hs_invalid(log, "depth: unknown kind %d", (int)d->kind);
    if (f->depth.view && d->kind != HS_DEPTH_LINEAR && !(d->near_z > 0 && isfinite(d->near_z)))
        return hs_invalid(log, "depth: hardware depth needs a near distance above 0, not %g",
                          (double)d->near_z);
    if (f->depth.view && d->kind != HS_DEPTH_LINEAR && isfinite(d->far_z) && d->far_z != 0 &&
        !(d->far_z > d->near_z))
        return hs_invalid(log, "depth: far distance %g is not beyond near distance %g",
                          (double)d->far_z, (double)d->near_z);
    if (!(d->scale >= 0 && isfinite(d->scale)) || !(d->far_value >= 0))
        return hs_invalid(log, "depth: scale %g or far value %g is out of range", (double)d->scale,
                          (double)d->far_value);
    if ((unsigned)e->mode > HS_EXPOSURE_AUTO)
        return hs_invalid(log, "exposure: unknown mode %d", (int)e->mode);
    if (!(e->value >= 0 && isfinite(e->value)) || !(e->scale >= 0 && isfinite(e->scale)) ||
        !(e->pre_exposure >= 0 && isfinite(e->pre_exposure)))
        return hs_invalid(log, "exposure: value %g, scale %g or pre-exposure %g is out of range",
                          (double)e->value, (double)e->scale, (double)e->pre_exposure);
    const int err = check_guides(log, f);
    return err ? err : check_camera(log, f->camera);
}

/** Half of an AOV. They are used directly or not at all. */
static int check_aov_image(const struct hs_log *log, uint32_t index, bool input,
                           const struct hs_image *image, uint32_t width, uint32_t height)
{
    const VkImageUsageFlags bit = input ? VK_IMAGE_USAGE_SAMPLED_BIT : VK_IMAGE_USAGE_STORAGE_BIT;
    char name[40];
    snprintf(name, sizeof(name), "AOV %u, %s", index, input ? "input" : "output");
    if (!image->view)
        return hs_invalid(log, "%s: the plane is missing", name);
    const int err = check_image(log, name, input, image, width, height);
    if (err)
        return err;
    if ((image->format == VK_FORMAT_R16G16B16A16_SFLOAT ||
         image->format == VK_FORMAT_R32G32B32A32_SFLOAT) &&
        !image->x && !image->y && !(image->flags & HS_IMAGE_COPY) &&
        (!image->usage || (image->usage & bit)) && (!input || hs_layout_sampleable(image->layout)))
        return 0;
    hs_log_message(log, HS_LOG_ERROR,
                   "%s plane: can not be used directly: format %d, layout %d, origin (%u, %u), "
                   "usage 0x%x",
                   name, (int)image->format, (int)image->layout, image->x, image->y, image->usage);
    return HS_ERR_UNSUPPORTED;
}

static int check_aovs(const struct hs_stream *s, const struct hs_frame *f)
{
    const struct hs_log *log = &s->device->log;
    if (f->aov_count > HS_AOV_MAX || (f->aov_count && !f->aovs))
        return hs_invalid(log, "%u AOVs, %s", f->aov_count,
                          f->aovs ? "which are too many" : "but no list of them");
    int err = 0;
    for (uint32_t i = 0; !err && i < f->aov_count; i++) {
        const struct hs_aov *a = &f->aovs[i];
        if ((unsigned)a->kind > HS_AOV_DATA)
            return hs_invalid(log, "AOV %u: unknown kind %d", i, (int)a->kind);
        err = check_aov_image(log, i, true, &a->in, f->render_width, f->render_height);
        if (!err)
            err =
                check_aov_image(log, i, false, &a->out, s->params.out_width, s->params.out_height);
    }
    return err;
}

int hs_frame_check(const struct hs_stream *s, const struct hs_frame *f, struct hs_recording *rec)
{
    const struct hs_log *log = &s->device->log;
    int err = check_sizes(s, f);
    if (!err)
        err = check_values(log, f);
    if (!err)
        err = check_look(s, &f->look);
    if (err)
        return err;
    if (!f->colour.view || !f->output.view)
        return hs_invalid(log, "the %s plane is required", f->colour.view ? "output" : "colour");
    bool texture = f->exposure.mode == HS_EXPOSURE_TEXTURE && !(s->params.flags & HS_STREAM_LDR);
    if (texture && !f->exposure.texture.view)
        return hs_invalid(log, "exposure: the texture is missing");
    static const struct hs_image none = {0};
    const uint32_t rw = f->render_width, rh = f->render_height;
    const uint32_t ow = s->params.out_width, oh = s->params.out_height;
    const bool display = f->motion_params.display_resolution;
    // Planes that nothing reads are not looked at.
    const bool guides = s->model->guides;
    const struct {
        const struct hs_image *image;
        uint32_t width, height;
    } planes[HS_PLANE_COUNT] = {
        [HS_PLANE_COLOUR] = {&f->colour, rw, rh},
        [HS_PLANE_DEPTH] = {&f->depth, rw, rh},
        [HS_PLANE_MOTION] = {&f->motion, display ? ow : rw, display ? oh : rh},
        [HS_PLANE_REACTIVE] = {&f->reactive, rw, rh},
        [HS_PLANE_EXPOSURE] = {texture ? &f->exposure.texture : &none, 1, 1},
        [HS_PLANE_DIFFUSE] = {guides ? &f->diffuse_albedo : &none, rw, rh},
        [HS_PLANE_SPECULAR] = {guides ? &f->specular_albedo : &none, rw, rh},
        [HS_PLANE_NORMAL] = {guides ? &f->normal : &none, rw, rh},
        [HS_PLANE_ROUGHNESS] = {guides ? &f->roughness : &none, rw, rh},
        [HS_PLANE_HIT] = {guides ? &f->hit_distance : &none, rw, rh},
        [HS_PLANE_OUTPUT] = {&f->output, ow, oh},
    };
    for (int i = 0; !err && i < HS_PLANE_COUNT; i++)
        err = check_plane(log, (enum hs_plane)i, planes[i].image, planes[i].width, planes[i].height,
                          &rec->planes[i]);
    return err ? err : check_aovs(s, f);
}
