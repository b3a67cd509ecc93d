// SPDX-License-Identifier: MIT
#include "stages.h"

#include <math.h>

#include "engine/src/stream.h"
#include "tests/test.h"

struct hs_ref_plane gpu_image_read(struct fixture *fx, VkImage image, VkFormat format,
                                   uint32_t width, uint32_t height, VkImageLayout layout)
{
    const struct vkdev_image view = {
        .image = image, .format = format, .width = width, .height = height};
    void *bytes = fx_read(fx, &view, layout);
    int channels = 0;
    bool half = false;
    switch (format) {
    case VK_FORMAT_R16_SFLOAT:
        half = true;
        channels = 1;
        break;
    case VK_FORMAT_R16G16_SFLOAT:
        half = true;
        // fall through
    case VK_FORMAT_R32G32_SFLOAT:
        channels = 2;
        break;
    case VK_FORMAT_R16G16B16A16_SFLOAT:
        half = true;
        // fall through
    case VK_FORMAT_R32G32B32A32_SFLOAT:
        channels = 4;
        break;
    case VK_FORMAT_R32_SFLOAT:
        channels = 1;
        break;
    default:
        test_fail(__FILE__, __LINE__, "format %d", (int)format);
    }
    struct hs_ref_plane plane = hs_ref_plane_make((int)width, (int)height, channels);
    REQUIRE(plane.texels);
    const size_t values = (size_t)width * height * (size_t)channels;
    for (size_t i = 0; i < values; i++)
        plane.texels[i] = half ? hsio_half_to_float(((uint16_t *)bytes)[i]) : ((float *)bytes)[i];
    free(bytes);
    return plane;
}

/** Weights as the reference keeps them, with a second channel of zeros. */
static struct hs_ref_plane weights(struct hs_ref_plane one)
{
    struct hs_ref_plane two = hs_ref_plane_make(one.width, one.height, 2);
    REQUIRE(two.texels && one.channels == 1);
    for (int i = 0; i < one.width * one.height; i++)
        two.texels[2 * i] = one.texels[i];
    hs_ref_plane_finish(&one);
    return two;
}

struct hs_ref_plane gpu_own_read(struct fixture *fx, const struct hs_own_image *image,
                                 int32_t width, int32_t height)
{
    struct hs_ref_plane all = gpu_image_read(fx, image->image, image->format, image->width,
                                             image->height, VK_IMAGE_LAYOUT_GENERAL);
    if (all.width == width && all.height == height)
        return all;
    struct hs_ref_plane part = hs_ref_plane_make(width, height, all.channels);
    REQUIRE(part.texels);
    const size_t row = (size_t)(width * all.channels);
    for (int y = 0; y < height; y++)
        memcpy(part.texels + (size_t)y * row, all.texels + (size_t)(y * all.width * all.channels),
               row * sizeof(float));
    hs_ref_plane_finish(&all);
    return part;
}

static void read_buffer(struct fixture *fx, const struct hs_stream *s, struct gpu_planes *planes)
{
    struct vkdev_buffer staging;
    VkCommandBuffer cmd;
    REQUIRE_EQ(vkdev_buffer_create(&fx->dev, s->buffer.bytes, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                   true, &staging),
               0);
    REQUIRE_EQ(vkdev_begin(&fx->dev, &cmd), 0);
    const VkBufferCopy region = {.size = s->buffer.bytes};
    vkCmdCopyBuffer(cmd, s->buffer.buffer, staging.buffer, 1, &region);
    REQUIRE_EQ(vkdev_submit_wait(&fx->dev, cmd), 0);
    memcpy(&planes->params, staging.map, sizeof(planes->params));
    memcpy(&planes->state, (char *)staging.map + s->state_offset, sizeof(planes->state));
    vkdev_buffer_destroy(&fx->dev, &staging);
}

void gpu_planes_read(struct fixture *fx, struct hs_stream *s, bool wide, struct gpu_planes *planes)
{
    fx_wait(fx);
    read_buffer(fx, s, planes);
    const struct hs_ivec4 size = planes->params.size;
    const int now = (int)((s->frames - 1) & 1);
    planes->prep = (struct hs_ref_prepared){
        .colour = gpu_own_read(fx, &s->own[wide ? HS_OWN_PREP_COLOUR_WIDE : HS_OWN_PREP_COLOUR],
                               size.x, size.y),
        .motion = gpu_own_read(fx, &s->own[HS_OWN_PREP_MOTION], size.x, size.y),
        .aux = weights(gpu_own_read(fx, &s->own[HS_OWN_PREP_AUX], size.x, size.y)),
        .depth = gpu_own_read(fx, &s->own[HS_OWN_DEPTH + now], size.x, size.y),
    };
    planes->reproj = (struct hs_ref_history){
        .colour = gpu_own_read(fx, &s->own[HS_OWN_REPROJ_COLOUR], size.z, size.w),
        .aux = weights(gpu_own_read(fx, &s->own[HS_OWN_REPROJ_AUX], size.z, size.w)),
    };
    planes->next = (struct hs_ref_history){
        .colour = gpu_own_read(fx, &s->own[HS_OWN_HISTORY_COLOUR + now], size.z, size.w),
        .aux = weights(gpu_own_read(fx, &s->own[HS_OWN_HISTORY_AUX + now], size.z, size.w)),
    };
}

void *gpu_tensor_read(struct fixture *fx, const struct hs_stream *s, int tensor)
{
    const struct hs_own_buffer *buffer = &s->tensors[tensor];
    struct vkdev_buffer staging;
    VkCommandBuffer cmd;
    void *bytes = malloc(buffer->bytes);
    REQUIRE(bytes);
    REQUIRE_EQ(vkdev_buffer_create(&fx->dev, buffer->bytes, VK_BUFFER_USAGE_TRANSFER_DST_BIT, true,
                                   &staging),
               0);
    REQUIRE_EQ(vkdev_begin(&fx->dev, &cmd), 0);
    vkCmdCopyBuffer(cmd, buffer->buffer, staging.buffer, 1, &(VkBufferCopy){.size = buffer->bytes});
    REQUIRE_EQ(vkdev_submit_wait(&fx->dev, cmd), 0);
    memcpy(bytes, staging.map, buffer->bytes);
    vkdev_buffer_destroy(&fx->dev, &staging);
    return bytes;
}

struct hs_ref_plane gpu_head_read(struct fixture *fx, const struct hs_stream *s,
                                  const struct hs_weights *weights,
                                  const struct hs_frame_params *params)
{
    struct hs_ref_plane spread = {0};
    struct hs_ref_plane last =
        hs_ref_plane_make(params->size.x, params->size.y, (int)weights->channels[0]);
    struct hs_ref_layer layer = {0};
    int8_t *bytes = gpu_tensor_read(fx, s, HS_TENSOR(0, 0));
    REQUIRE(last.texels);
    const size_t row = (size_t)(last.width * last.channels);
    for (int y = 0; y < last.height; y++) {
        const size_t at = (size_t)y * s->levels[0].pitch * (size_t)last.channels;
        for (size_t i = 0; i < row; i++)
            last.texels[(size_t)y * row + i] = bytes[at + i];
    }
    REQUIRE_EQ(hs_ref_layer_run(&weights->layers[weights->layer_count - 1], &last, NULL, &layer),
               0);
    REQUIRE_EQ(hs_ref_spread_head(params, &layer.result, &spread), 0);
    free(bytes);
    hs_ref_layer_finish(&layer);
    hs_ref_plane_finish(&last);
    return spread;
}

void gpu_planes_finish(struct gpu_planes *p)
{
    hs_ref_plane_finish(&p->prep.colour);
    hs_ref_plane_finish(&p->prep.motion);
    hs_ref_plane_finish(&p->prep.aux);
    hs_ref_plane_finish(&p->prep.depth);
    hs_ref_plane_finish(&p->reproj.colour);
    hs_ref_plane_finish(&p->reproj.aux);
    hs_ref_plane_finish(&p->next.colour);
    hs_ref_plane_finish(&p->next.aux);
}

struct hs_ref_levels gpu_levels_read(struct fixture *fx, const struct hs_stream *s, int w, int h)
{
    const int now = (int)((s->frames - 1) & 1);
    const struct hs_own_image *all = s->guides;
    return (struct hs_ref_levels){
        .middle = gpu_own_read(fx, &all[HS_GUIDE_MIDDLE], w, h),
        .accumulated = gpu_own_read(fx, &all[HS_GUIDE_ACCUMULATED + now], w, h),
        .moments = gpu_own_read(fx, &all[HS_GUIDE_MOMENTS + now], w, h),
        .albedo = gpu_own_read(fx, &all[HS_GUIDE_ALBEDO], w, h),
        .traits = gpu_own_read(fx, &all[HS_GUIDE_TRAITS], w, h),
        .surface = gpu_own_read(fx, &all[HS_GUIDE_SURFACE + now], w, h),
    };
}

void gpu_levels_finish(struct hs_ref_levels *l)
{
    struct hs_ref_plane *all[] = {&l->middle, &l->accumulated, &l->moments,
                                  &l->albedo, &l->traits,      &l->surface};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        hs_ref_plane_finish(all[i]);
}

void require_planes_near(const char *what, const struct hs_ref_plane *got,
                         const struct hs_ref_plane *want, struct bound bound)
{
    REQUIRE_EQ(got->width, want->width);
    REQUIRE_EQ(got->height, want->height);
    REQUIRE_EQ(got->channels, want->channels);
    const size_t values = (size_t)got->width * (size_t)got->height * (size_t)got->channels;
    size_t outliers = 0, worst = 0;
    float worst_by = 0;
    for (size_t i = 0; i < values; i++) {
        const float g = got->texels[i], w = want->texels[i];
        const float by = fabsf(g - w) / (bound.absolute + bound.relative * fabsf(w));
        if (g == w || by <= 1)
            continue;
        outliers++;
        if (!(by <= worst_by)) {
            worst_by = by;
            worst = i;
        }
    }
    const size_t texel = worst / (size_t)got->channels;
    REQUIRE_MSG((float)outliers <= bound.outliers * (float)values,
                "%s: %zu of %zu values differ, worst at (%zu, %zu) channel %zu: %.9g for %.9g",
                what, outliers, values, texel % (size_t)got->width, texel / (size_t)got->width,
                worst % (size_t)got->channels, (double)got->texels[worst],
                (double)want->texels[worst]);
}
