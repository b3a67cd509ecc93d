// SPDX-License-Identifier: MIT
// The commands of one frame. Nothing here can fail.
#include "guides.h"
#include "stream.h"

#include <stddef.h>

#define TRANSFER VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT
#define COMPUTE VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT
#define MAX_BARRIERS \
    (HS_OWN_COUNT + HS_GUIDE_COUNT + HS_MAX_COPIES + HS_PLANE_COUNT + 3 * HS_AOV_MAX)

/** Barriers that are recorded together. */
struct barriers {
    VkMemoryBarrier2 memory;
    VkImageMemoryBarrier2 images[MAX_BARRIERS];
    uint32_t count;
};

static void start(struct barriers *b, VkPipelineStageFlags2 src, VkAccessFlags2 src_access,
                  VkPipelineStageFlags2 dst, VkAccessFlags2 dst_access)
{
    b->count = 0;
    b->memory = (VkMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = src,
        .srcAccessMask = src_access,
        .dstStageMask = dst,
        .dstAccessMask = dst_access,
    };
}

static void flush(struct hs_stream *s, VkCommandBuffer cmd, const struct barriers *b)
{
    s->device->vk.CmdPipelineBarrier2(cmd, &(VkDependencyInfo){
                                               .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                               .memoryBarrierCount = b->memory.srcStageMask != 0,
                                               .pMemoryBarriers = &b->memory,
                                               .imageMemoryBarrierCount = b->count,
                                               .pImageMemoryBarriers = b->images,
                                           });
}

static VkImageMemoryBarrier2 *add_image(struct barriers *b, VkImage image, VkFormat format,
                                        VkImageLayout from, VkImageLayout to)
{
    VkImageAspectFlags aspect =
        hs_is_depth_format(format) ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
    if (format == VK_FORMAT_D32_SFLOAT_S8_UINT)
        aspect |= VK_IMAGE_ASPECT_STENCIL_BIT;
    VkImageMemoryBarrier2 *barrier = &b->images[b->count++];
    *barrier = (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {aspect, 0, 1, 0, 1},
    };
    return barrier;
}

/** Layout change of a lent image, or of the level and layer that was lent. */
static void add_lent(struct barriers *b, const struct hs_image *image, VkImageLayout from,
                     VkImageLayout to, VkPipelineStageFlags2 src, VkAccessFlags2 src_access,
                     VkPipelineStageFlags2 dst, VkAccessFlags2 dst_access)
{
    if (from == to)
        return;
    VkImageMemoryBarrier2 *barrier = add_image(b, image->image, image->format, from, to);
    barrier->srcStageMask = src;
    barrier->srcAccessMask = src_access;
    barrier->dstStageMask = dst;
    barrier->dstAccessMask = dst_access;
    barrier->subresourceRange.baseMipLevel = image->level;
    barrier->subresourceRange.baseArrayLayer = image->layer;
}

static void add_new(struct barriers *b, struct hs_own_image *image)
{
    if (!image->image || image->ready)
        return;
    image->ready = true;
    VkImageMemoryBarrier2 *barrier = add_image(b, image->image, image->format,
                                               VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    barrier->srcStageMask = COMPUTE | TRANSFER;
    barrier->srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
    barrier->dstStageMask = COMPUTE | TRANSFER;
    barrier->dstAccessMask = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT |
                             VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT |
                             VK_ACCESS_2_TRANSFER_READ_BIT;
}

/** Whether an earlier plane of the frame lends the same image through a copy, too. */
static bool lent_before(const struct hs_recording *rec, int plane)
{
    const struct hs_image *image = rec->planes[plane].image;
    for (int i = 0; i < plane; i++) {
        const struct hs_plane_use *use = &rec->planes[i];
        if (use->copy && use->image->image == image->image && use->image->level == image->level &&
            use->image->layer == image->layer)
            return true;
    }
    return false;
}

static VkImageLayout copy_layout(VkImageLayout layout, VkImageLayout transfer)
{
    return layout == VK_IMAGE_LAYOUT_GENERAL ? layout : transfer;
}

static void copy_input(struct hs_stream *s, VkCommandBuffer cmd, const struct hs_plane_use *use)
{
    const struct hs_image *image = use->image;
    const VkImageAspectFlags aspect =
        hs_is_depth_format(image->format) ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
    const VkImageCopy region = {
        .srcSubresource = {aspect, image->level, image->layer, 1},
        .srcOffset = {(int32_t)image->x, (int32_t)image->y, 0},
        .dstSubresource = {aspect, 0, 0, 1},
        .extent = {use->width, use->height, 1},
    };
    s->device->vk.CmdCopyImage(cmd, image->image,
                               copy_layout(image->layout, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL),
                               use->copy->image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
}

static void record_setup(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd)
{
    struct barriers b;
    // Everything that earlier frames of the stream did, before everything that this one does.
    start(&b, COMPUTE | TRANSFER,
          VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT, COMPUTE | TRANSFER,
          VK_ACCESS_2_SHADER_SAMPLED_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT |
              VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_READ_BIT |
              VK_ACCESS_2_TRANSFER_WRITE_BIT);
    for (int i = 0; i < HS_OWN_COUNT; i++)
        add_new(&b, &s->own[i]);
    for (int i = 0; i < HS_GUIDE_COUNT; i++)
        add_new(&b, &s->guides[i]);
    for (uint32_t i = 0; i < s->copy_count; i++)
        add_new(&b, &s->copies[i].image);
    for (int i = 0; i < HS_AOV_MAX; i++) {
        add_new(&b, &s->aovs.own[i].history[0]);
        add_new(&b, &s->aovs.own[i].history[1]);
    }
    for (int i = 0; i < HS_PLANE_OUTPUT; i++) {
        const struct hs_plane_use *use = &rec->planes[i];
        if (use->copy && !lent_before(rec, i))
            add_lent(&b, use->image, use->image->layout,
                     copy_layout(use->image->layout, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL),
                     HS_INPUT_STAGES, 0, TRANSFER, VK_ACCESS_2_TRANSFER_READ_BIT);
    }
    const struct hs_plane_use *out = &rec->planes[HS_PLANE_OUTPUT];
    if (!out->copy)
        add_lent(&b, out->image, out->image->layout, VK_IMAGE_LAYOUT_GENERAL, HS_OUTPUT_STAGES, 0,
                 COMPUTE, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    for (uint32_t i = 0; i < rec->frame->aov_count; i++)
        add_lent(&b, &rec->frame->aovs[i].out, rec->frame->aovs[i].out.layout,
                 VK_IMAGE_LAYOUT_GENERAL, HS_OUTPUT_STAGES, 0, COMPUTE,
                 VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    flush(s, cmd, &b);

    s->device->vk.CmdUpdateBuffer(cmd, s->buffer.buffer, 0, sizeof(rec->params), &rec->params);
    if (!s->state_ready) {
        s->device->vk.CmdFillBuffer(cmd, s->buffer.buffer, s->state_offset, sizeof(struct hs_state),
                                    0);
        s->state_ready = true;
    }
    if (s->network && !s->weights_ready) {
        const VkBufferCopy all = {.size = s->model->layers.weights_bytes};
        s->device->vk.CmdCopyBuffer(cmd, s->model->weights.buffer, s->weights.buffer, 1, &all);
        s->weights_ready = true;
    }
    for (int i = 0; i < HS_PLANE_OUTPUT; i++) {
        if (rec->planes[i].copy)
            copy_input(s, cmd, &rec->planes[i]);
    }
    start(&b, TRANSFER, VK_ACCESS_2_TRANSFER_WRITE_BIT, COMPUTE,
          VK_ACCESS_2_UNIFORM_READ_BIT | VK_ACCESS_2_SHADER_SAMPLED_READ_BIT |
              VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    for (int i = 0; i < HS_PLANE_OUTPUT; i++) {
        const struct hs_plane_use *use = &rec->planes[i];
        if (use->copy && !lent_before(rec, i))
            add_lent(&b, use->image,
                     copy_layout(use->image->layout, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL),
                     use->image->layout, TRANSFER, 0, HS_INPUT_STAGES, 0);
    }
    flush(s, cmd, &b);
}

static void begin_label(struct hs_stream *s, VkCommandBuffer cmd, const char *name)
{
    if (s->device->vk.CmdBeginDebugUtilsLabelEXT)
        s->device->vk.CmdBeginDebugUtilsLabelEXT(
            cmd, &(VkDebugUtilsLabelEXT){
                     .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                     .pLabelName = name,
                 });
}

static void dispatch_pipeline(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd,
                              VkPipeline pipeline, const char *name, const uint32_t groups[3])
{
    const struct hs_vk *vk = &s->device->vk;
    begin_label(s, cmd, name);
    vk->CmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vk->CmdDispatch(cmd, groups[0], groups[1], groups[2]);
    if (vk->CmdEndDebugUtilsLabelEXT)
        vk->CmdEndDebugUtilsLabelEXT(cmd);
    hs_timing_mark(s, rec, cmd, name);
}

static void dispatch(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd,
                     enum hs_stage stage, uint32_t groups_x, uint32_t groups_y)
{
    dispatch_pipeline(s, rec, cmd, s->model->pipelines[stage], hs_stage_name(stage),
                      (uint32_t[]){groups_x, groups_y, 1});
}

static void between_stages(struct hs_stream *s, VkCommandBuffer cmd)
{
    struct barriers b;
    start(&b, COMPUTE, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, COMPUTE,
          VK_ACCESS_2_SHADER_SAMPLED_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT |
              VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    flush(s, cmd, &b);
}

/** Workgroups of the stages over render pixels, and of finish. */
static uint32_t groups_of(uint32_t pixels)
{
    return (pixels + 7) / 8;
}

/** Workgroups of the stages over output pixels. Rows of them are bands' rows. */
static uint32_t groups_across(uint32_t width)
{
    return (width + HS_GROUP_X - 1) / HS_GROUP_X;
}

static uint32_t groups_down(uint32_t rows)
{
    return (rows + HS_GROUP_Y - 1) / HS_GROUP_Y;
}

/** Tiles of a workgroup: several keep weights in shared memory, where there are enough. */
static uint32_t tiles_per_group(uint32_t tiles)
{
    return tiles >= 4096 ? 4 : tiles >= 2048 ? 2 : 1;
}

static struct hs_push push_rows(uint32_t first, uint32_t end)
{
    return (struct hs_push){.band = {(int32_t)first, (int32_t)end, 0, 0}};
}

/** Moved history's ring, for an item whose lowest row of output pixels is `low`. */
static void moved_ring(const struct hs_recording *rec, uint32_t low, struct hs_push *push)
{
    push->band.z = (int32_t)hs_ring_base(low, rec->bands.moved_rows);
    push->band.w = (int32_t)rec->bands.moved_rows;
}

static void push_constants(struct hs_stream *s, VkCommandBuffer cmd, const struct hs_push *push)
{
    s->device->vk.CmdPushConstants(cmd, s->model->pipeline_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                   sizeof(*push), push);
}

/** Binds a layer's buffers and tells where in them its rows are. */
static void bind_layer(struct hs_stream *s, const struct hs_recording *rec, VkCommandBuffer cmd,
                       uint32_t index, uint32_t first_in, uint32_t first_out, struct hs_push *push)
{
    const struct hs_dispatch *d = &s->model->layers.list[index];
    const struct hs_level_size *in = &rec->levels[d->level], *out = &rec->levels[d->out / 2];
    const uint32_t in_rows = rec->bands.tensor_rows[d->in];
    const uint32_t out_rows = rec->bands.tensor_rows[d->out];
    push->ring = (struct hs_ivec4){(int32_t)hs_ring_base(first_in, in_rows), (int32_t)in_rows,
                                   (int32_t)hs_ring_base(first_out, out_rows), (int32_t)out_rows};
    push->size = (struct hs_ivec4){(int32_t)(in->width / d->pair), (int32_t)in->height,
                                   (int32_t)(in->pitch / d->pair), (int32_t)out->pitch};
    push->weights =
        (struct hs_ivec4){(int32_t)d->weights_at, (int32_t)d->bias_at, (int32_t)d->weights_step, 1};
    s->device->vk.CmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE,
                                        s->model->pipeline_layout, 1, 1, &s->layer_sets[index], 0,
                                        NULL);
}

/** The first layer, a pass over output pixels or cells. */
static void record_enter(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd,
                         struct hs_rows rows)
{
    const uint32_t first = 2 * rows.first, end = 2 * rows.end;
    const bool cells = rec->bands_params.render_height;
    const uint32_t width = cells ? 2 * rec->frame->render_width : s->params.out_width;
    struct hs_push push = push_rows(first, end);
    moved_ring(rec, hs_bands_entered_row(&rec->bands_params, rows.first), &push);
    bind_layer(s, rec, cmd, 0, 0, rows.first, &push);
    push_constants(s, cmd, &push);
    dispatch_pipeline(s, rec, cmd, s->split ? s->split_enter : s->model->layer_pipelines[0],
                      s->model->layers.list[0].name,
                      (uint32_t[]){groups_across(width), groups_down(end - first), 1});
}

static void record_layer(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd,
                         uint32_t index, struct hs_rows rows)
{
    const struct hs_dispatch *d = &s->model->layers.list[index];
    // In rows of the kernel, which for a layer that goes up are those of its input.
    const uint32_t finer = d->constants[HS_SPEC_PIXELS] == 4 ? 2 : 1;
    const uint32_t first = rows.first / finer, end = rows.end / finer;
    const uint32_t halo = d->constants[HS_SPEC_KERNEL_X] == 3;
    const uint32_t needs = end * d->stride + halo;
    const uint32_t width = rec->levels[d->level].width / d->pair;
    uint32_t groups[3] = {(width + d->group_width - 1) / d->group_width,
                          (end - first + d->group_height - 1) / d->group_height, d->groups_z};
    struct hs_push push = push_rows(first, end);
    bind_layer(s, rec, cmd, index, hs_bands_input_row(d, rows.first), rows.first, &push);
    if (push.size.y > (int32_t)needs)
        push.size.y = (int32_t)needs;
    if (s->model->layers.matrix.m) {
        const uint32_t repeat = tiles_per_group(groups[0] * groups[1]);
        push.weights.w = (int32_t)repeat;
        groups[1] = (groups[1] + repeat - 1) / repeat;
    }
    push_constants(s, cmd, &push);
    dispatch_pipeline(s, rec, cmd, s->model->layer_pipelines[index], d->name, groups);
}

static void record_reproject(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd,
                             struct hs_rows rows)
{
    struct hs_push push = push_rows(rows.first, rows.end);
    moved_ring(rec, rows.first, &push);
    push_constants(s, cmd, &push);
    dispatch(s, rec, cmd, HS_STAGE_REPROJECT, groups_across(s->params.out_width),
             groups_down(rows.end - rows.first));
}

static void bind_guides(struct hs_stream *s, const struct hs_recording *rec, VkCommandBuffer cmd,
                        VkPipelineLayout layout)
{
    s->device->vk.CmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, layout, HS_SET_GUIDES,
                                        1, &rec->guide_set, 0, NULL);
}

/** The AOVs of a band that was resolved with these push constants: the same stage once each. */
static void record_aovs(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd,
                        const struct hs_push *push, struct hs_rows rows)
{
    const struct hs_vk *vk = &s->device->vk;
    const struct hs_aovs *a = &s->aovs;
    // Another layout: sets are bound anew, there and back.
    const VkDescriptorSet sets[] = {
        rec->set, rec->network ? s->layer_sets[s->model->layers.count - 1] : VK_NULL_HANDLE};
    begin_label(s, cmd, "aovs");
    vk->CmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, a->pipelines[rec->network]);
    vk->CmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, a->pipeline_layout, 0,
                              rec->network ? 2 : 1, sets, 0, NULL);
    if (rec->guides)
        bind_guides(s, rec, cmd, a->pipeline_layout);
    for (uint32_t i = 0; i < rec->frame->aov_count; i++) {
        const enum hs_aov_kind kind = rec->frame->aovs[i].kind;
        const bool past = a->own[i].valid && a->own[i].kind == kind && !rec->reset;
        const struct hs_aov_push all = {
            *push,
            {(kind == HS_AOV_DATA ? HS_AOV_PUSH_DATA : 0) | (past ? HS_AOV_PUSH_HISTORY : 0), 0, 0,
             0}};
        vk->CmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, a->pipeline_layout, 2, 1,
                                  &rec->aov_sets[i], 0, NULL);
        vk->CmdPushConstants(cmd, a->pipeline_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(all),
                             &all);
        vk->CmdDispatch(cmd, groups_across(s->params.out_width), groups_down(rows.end - rows.first),
                        1);
    }
    vk->CmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, s->model->pipeline_layout, 0, 1,
                              &rec->set, 0, NULL);
    if (rec->guides)
        bind_guides(s, rec, cmd, s->model->pipeline_layout);
    if (vk->CmdEndDebugUtilsLabelEXT)
        vk->CmdEndDebugUtilsLabelEXT(cmd);
    hs_timing_mark(s, rec, cmd, "aovs");
}

/** With a network, its head is part of this. */
static void record_resolve(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd,
                           struct hs_rows rows)
{
    const bool taken_over = s->model->layers.count && !rec->network;
    VkPipeline pipeline = s->model->pipelines[HS_STAGE_RESOLVE];
    if (taken_over)
        pipeline = s->model->plain_resolve;
    else if (s->split)
        pipeline = s->split_resolve;
    struct hs_push push = push_rows(rows.first, rows.end);
    moved_ring(rec, hs_bands_moved_row(rows.first), &push);
    if (rec->network)
        bind_layer(s, rec, cmd, s->model->layers.count - 1,
                   hs_bands_token_row(&rec->bands_params, rows.first), 0, &push);
    push_constants(s, cmd, &push);
    dispatch_pipeline(
        s, rec, cmd, pipeline, hs_stage_name(HS_STAGE_RESOLVE),
        (uint32_t[]){groups_across(s->params.out_width), groups_down(rows.end - rows.first), 1});
    if (rec->frame->aov_count)
        record_aovs(s, rec, cmd, &push, rows);
}

/** The planes' set, and the guides'. */
static void bind_planes(struct hs_stream *s, const struct hs_recording *rec, VkCommandBuffer cmd)
{
    s->device->vk.CmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE,
                                        s->model->pipeline_layout, 0, 1, &rec->set, 0, NULL);
    if (rec->guides)
        bind_guides(s, rec, cmd, s->model->pipeline_layout);
}

/** Everything from reproject to resolve, band by band. A network that runs outside leaves resolve
 * to the second command buffer. */
static void record_bands(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd,
                         VkCommandBuffer back)
{
    const uint32_t last = rec->bands.item_count - 1;
    struct hs_band_state state = {0};
    struct hs_rows rows[HS_ITEMS_MAX];
    while (hs_bands_next(&rec->bands_params, &rec->bands, &state, rows)) {
        for (uint32_t i = 0; i <= last; i++) {
            if (rows[i].first == rows[i].end || (i && i < last && !rec->network) ||
                (i > 1 && i < last && s->split))
                continue;
            if (i == last && cmd != back) {
                cmd = back;
                bind_planes(s, rec, cmd);
            }
            // Also keeps what a band reads from what the next one writes in its place.
            between_stages(s, cmd);
            if (i == 0)
                record_reproject(s, rec, cmd, rows[i]);
            else if (i == last)
                record_resolve(s, rec, cmd, rows[i]);
            else if (i == 1)
                record_enter(s, rec, cmd, rows[i]);
            else
                record_layer(s, rec, cmd, i - 1, rows[i]);
        }
    }
}

/** Takes the noise out of the prepared colour. */
static void record_guided(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd)
{
    const uint32_t x = groups_of(rec->frame->render_width);
    const uint32_t y = groups_of(rec->frame->render_height);
    between_stages(s, cmd);
    dispatch(s, rec, cmd, HS_STAGE_DEMODULATE, x, y);
    between_stages(s, cmd);
    dispatch(s, rec, cmd, HS_STAGE_ACCUMULATE, x, y);
    for (int i = 0; i < HS_ATROUS_PASSES; i++) {
        const struct hs_push push = {.band = {i, 0, 0, 0}};
        between_stages(s, cmd);
        push_constants(s, cmd, &push);
        dispatch(s, rec, cmd, HS_STAGE_FILTER, x, y);
    }
}

static void record_stages(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd,
                          VkCommandBuffer back)
{
    const bool exposed = !(s->params.flags & HS_STREAM_LDR);

    bind_planes(s, rec, cmd);
    if (rec->measure) {
        dispatch(s, rec, cmd, HS_STAGE_MEASURE, HS_MEASURE_GROUPS, 1);
        between_stages(s, cmd);
    }
    if (exposed) {
        dispatch(s, rec, cmd, HS_STAGE_EXPOSE, 1, 1);
        between_stages(s, cmd);
    }
    dispatch(s, rec, cmd, HS_STAGE_PREPARE, groups_of(rec->frame->render_width),
             groups_of(rec->frame->render_height));
    if (rec->guides)
        record_guided(s, rec, cmd);
    record_bands(s, rec, cmd, back);
    if (rec->finish) {
        between_stages(s, back);
        dispatch(s, rec, back, HS_STAGE_FINISH, groups_of(s->params.out_width),
                 groups_of(s->params.out_height));
    }
}

static void copy_output(struct hs_stream *s, VkCommandBuffer cmd, const struct hs_plane_use *out,
                        VkImageLayout layout)
{
    const struct hs_image *image = out->image;
    const int32_t x = (int32_t)image->x, y = (int32_t)image->y;
    const int32_t w = (int32_t)out->width, h = (int32_t)out->height;
    const VkImageSubresourceLayers from = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const VkImageSubresourceLayers to = {VK_IMAGE_ASPECT_COLOR_BIT, image->level, image->layer, 1};
    if (out->blit) {
        const VkImageBlit region = {
            from, {{0, 0, 0}, {w, h, 1}}, to, {{x, y, 0}, {x + w, y + h, 1}}};
        s->device->vk.CmdBlitImage(cmd, out->copy->image, VK_IMAGE_LAYOUT_GENERAL, image->image,
                                   layout, 1, &region, VK_FILTER_NEAREST);
    } else {
        const VkImageCopy region = {from, {0, 0, 0}, to, {x, y, 0}, {out->width, out->height, 1}};
        s->device->vk.CmdCopyImage(cmd, out->copy->image, VK_IMAGE_LAYOUT_GENERAL, image->image,
                                   layout, 1, &region);
    }
}

static VkImageLayout layout_after(VkImageLayout before)
{
    return before == VK_IMAGE_LAYOUT_UNDEFINED ? VK_IMAGE_LAYOUT_GENERAL : before;
}

static void record_aov_outputs(struct hs_stream *s, const struct hs_recording *rec,
                               VkCommandBuffer cmd)
{
    struct barriers b;
    start(&b, 0, 0, 0, 0);
    for (uint32_t i = 0; i < rec->frame->aov_count; i++)
        add_lent(&b, &rec->frame->aovs[i].out, VK_IMAGE_LAYOUT_GENERAL,
                 layout_after(rec->frame->aovs[i].out.layout), COMPUTE,
                 VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, HS_OUTPUT_STAGES, 0);
    if (b.count)
        flush(s, cmd, &b);
}

/** Brings the output where and into the layout that the caller wants. */
static void record_output(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd)
{
    const struct hs_plane_use *out = &rec->planes[HS_PLANE_OUTPUT];
    const VkImageLayout before = out->image->layout;
    const VkImageLayout after = layout_after(before);
    struct barriers b;
    if (!out->copy) {
        start(&b, 0, 0, 0, 0);
        add_lent(&b, out->image, VK_IMAGE_LAYOUT_GENERAL, after, COMPUTE,
                 VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, HS_OUTPUT_STAGES, 0);
        if (b.count)
            flush(s, cmd, &b);
        return;
    }
    const VkImageLayout during = copy_layout(before, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    start(&b, COMPUTE, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, TRANSFER,
          VK_ACCESS_2_TRANSFER_READ_BIT);
    add_lent(&b, out->image, before, during, HS_OUTPUT_STAGES, 0, TRANSFER,
             VK_ACCESS_2_TRANSFER_WRITE_BIT);
    flush(s, cmd, &b);
    copy_output(s, cmd, out, during);
    start(&b, 0, 0, 0, 0);
    add_lent(&b, out->image, during, after, TRANSFER, VK_ACCESS_2_TRANSFER_WRITE_BIT,
             HS_OUTPUT_STAGES, 0);
    if (b.count)
        flush(s, cmd, &b);
    hs_timing_mark(s, rec, cmd, "output");
}

/** A cut makes everything anew, since frames before it may never have been submitted. */
static void forget_contents(struct hs_stream *s)
{
    for (int i = 0; i < HS_OWN_COUNT; i++)
        s->own[i].ready = false;
    for (int i = 0; i < HS_GUIDE_COUNT; i++)
        s->guides[i].ready = false;
    for (uint32_t i = 0; i < s->copy_count; i++)
        s->copies[i].image.ready = false;
    for (int i = 0; i < HS_AOV_MAX; i++) {
        s->aovs.own[i].history[0].ready = false;
        s->aovs.own[i].history[1].ready = false;
    }
    s->state_ready = false;
    s->weights_ready = false;
}

void hs_commands_record(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd,
                        VkCommandBuffer back)
{
    if (rec->reset)
        forget_contents(s);
    hs_timing_begin(s, rec, cmd);
    record_setup(s, rec, cmd);
    hs_timing_mark(s, rec, cmd, "setup");
    record_stages(s, rec, cmd, back);
    record_output(s, rec, back);
    record_aov_outputs(s, rec, back);
}
