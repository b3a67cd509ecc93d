// SPDX-License-Identifier: MIT
// Direct use of a lent plane or the way through a copy, and what is made on first need.
#include "stream.h"

bool hs_layout_sampleable(VkImageLayout layout)
{
    switch (layout) {
    case VK_IMAGE_LAYOUT_GENERAL:
    case VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL:
        return true;
    default:
        return false;
    }
}

static bool usage_has(const struct hs_image *image, VkImageUsageFlags bit)
{
    return !image->usage || (image->usage & bit);
}

static int missing_usage(struct hs_stream *s, const char *what, const char *bits)
{
    hs_log_message(&s->device->log, HS_LOG_ERROR, "%s plane: the image has neither %s usage", what,
                   bits);
    return HS_ERR_UNSUPPORTED;
}

/** The copy of a plane in a format, made at the greatest size that the plane can have. */
static int find_copy(struct hs_stream *s, enum hs_plane plane, VkFormat format,
                     VkImageUsageFlags usage, struct hs_own_image **found)
{
    const bool output_size = plane == HS_PLANE_OUTPUT || plane == HS_PLANE_MOTION;
    const bool one = plane == HS_PLANE_EXPOSURE;
    for (uint32_t i = 0; i < s->copy_count; i++) {
        if (s->copies[i].plane == plane && s->copies[i].image.format == format) {
            *found = &s->copies[i].image;
            return 0;
        }
    }
    if (s->copy_count == HS_MAX_COPIES) {
        hs_log_message(&s->device->log, HS_LOG_ERROR, "more than %d copied planes in one stream",
                       HS_MAX_COPIES);
        return HS_ERR_UNSUPPORTED;
    }
    struct hs_copy *copy = &s->copies[s->copy_count];
    *copy = (struct hs_copy){.plane = plane};
    const struct hs_image_plan plan = {
        .image = &copy->image,
        .name = "plane copy",
        .format = format,
        .width = one           ? 1
                 : output_size ? s->params.out_width
                               : s->params.max_render_width,
        .height = one           ? 1
                  : output_size ? s->params.out_height
                                : s->params.max_render_height,
        .usage = usage,
    };
    int err = hs_arena_create(s->device, &(struct hs_arena_plan){.images = &plan, .image_count = 1},
                              &copy->arena);
    if (err)
        return err;
    s->copy_count++;
    *found = &copy->image;
    return 0;
}

static int choose_input(struct hs_stream *s, enum hs_plane plane, struct hs_plane_use *use)
{
    const struct hs_image *image = use->image;
    if (!image)
        return 0;
    if (!(image->flags & HS_IMAGE_COPY) && hs_layout_sampleable(image->layout) &&
        usage_has(image, VK_IMAGE_USAGE_SAMPLED_BIT))
        return 0;
    if (!usage_has(image, VK_IMAGE_USAGE_TRANSFER_SRC_BIT))
        return missing_usage(s, "input", "sampled (in a layout for it) nor transfer source");
    return find_copy(s, plane, image->format,
                     VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT, &use->copy);
}

static int choose_output(struct hs_stream *s, struct hs_plane_use *use)
{
    const struct hs_image *image = use->image;
    const VkFormatFeatureFlags features = hs_device_format_features(s->device, image->format);
    const bool storable = features & VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT;
    if (storable && !(image->flags & HS_IMAGE_COPY) && usage_has(image, VK_IMAGE_USAGE_STORAGE_BIT))
        return 0;
    if (!usage_has(image, VK_IMAGE_USAGE_TRANSFER_DST_BIT))
        return missing_usage(s, "output", "storage (in a format for it) nor transfer destination");
    use->blit = !storable;
    if (use->blit && !(features & VK_FORMAT_FEATURE_BLIT_DST_BIT)) {
        hs_log_message(&s->device->log, HS_LOG_ERROR,
                       "output plane: %s can not write format %d in any way", s->device->name,
                       (int)image->format);
        return HS_ERR_UNSUPPORTED;
    }
    return find_copy(s, HS_PLANE_OUTPUT, use->blit ? VK_FORMAT_R32G32B32A32_SFLOAT : image->format,
                     VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT, &use->copy);
}

static int make_lazy(struct hs_stream *s, enum hs_own which, const char *name, uint32_t width,
                     uint32_t height)
{
    struct hs_own_image *image = &s->own[which];
    if (image->image)
        return 0;
    const struct hs_image_plan plan = {
        .image = image,
        .name = name,
        .format = VK_FORMAT_R32G32B32A32_SFLOAT,
        .width = width,
        .height = height,
        .usage = HS_OWN_USAGE,
    };
    return hs_arena_create(s->device, &(struct hs_arena_plan){.images = &plan, .image_count = 1},
                           &s->lazy_arenas[which - HS_OWN_LAZY]);
}

int hs_planes_choose(struct hs_stream *s, struct hs_recording *rec)
{
    int err = 0;
    for (int i = 0; !err && i < HS_PLANE_OUTPUT; i++)
        err = choose_input(s, (enum hs_plane)i, &rec->planes[i]);
    if (!err)
        err = choose_output(s, &rec->planes[HS_PLANE_OUTPUT]);
    // More bits than half floats hold.
    const VkFormat colour = rec->frame->colour.format;
    rec->wide = colour == VK_FORMAT_R32G32B32A32_SFLOAT || colour == VK_FORMAT_R16G16B16A16_UNORM;
    rec->finish = rec->frame->sharpness > 0 || rec->frame->look.curve != HS_LOOK_NONE;
    if (!err)
        err = hs_guides_choose(s, rec);
    if (!err && rec->wide)
        err = make_lazy(s, HS_OWN_PREP_COLOUR_WIDE, "prepared colour, 32 bit",
                        s->params.max_render_width, s->params.max_render_height);
    if (!err && rec->finish)
        err = make_lazy(s, HS_OWN_RESOLVED, "resolved picture", s->params.out_width,
                        s->params.out_height);
    return err;
}
