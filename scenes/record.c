// SPDX-License-Identifier: MIT
#include "clip.h"

static void barrier(const struct hs_scenes *s, VkCommandBuffer cmd, VkPipelineStageFlags2 from,
                    VkAccessFlags2 from_access, VkPipelineStageFlags2 to, VkAccessFlags2 to_access)
{
    const VkMemoryBarrier2 memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                     .srcStageMask = from,
                                     .srcAccessMask = from_access,
                                     .dstStageMask = to,
                                     .dstAccessMask = to_access};
    s->CmdPipelineBarrier2(cmd, &(VkDependencyInfo){.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                                    .memoryBarrierCount = 1,
                                                    .pMemoryBarriers = &memory});
}

static void list_views(const struct hs_clip_planes *planes, VkImageView views[SCENE_PLANE_COUNT])
{
    views[SCENE_PLANE_COLOUR] = planes->colour;
    views[SCENE_PLANE_DEPTH] = planes->depth;
    views[SCENE_PLANE_MOTION] = planes->motion;
    views[SCENE_PLANE_NORMAL] = planes->normal;
    views[SCENE_PLANE_ROUGHNESS] = planes->roughness;
    views[SCENE_PLANE_DIFFUSE] = planes->diffuse_albedo;
    views[SCENE_PLANE_SPECULAR] = planes->specular_albedo;
    views[SCENE_PLANE_HIT_DISTANCE] = planes->hit_distance;
    views[SCENE_PLANE_ALPHA] = planes->alpha;
    views[SCENE_PLANE_REFERENCE] = planes->reference;
}

static uint32_t wanted_planes(const VkImageView *views)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < SCENE_PLANE_COUNT; i++) {
        if (views[i])
            mask |= 1u << i;
    }
    return mask;
}

/** Absent planes borrow the view of a present one: the shader never writes through them. */
static void write_set(const struct hs_clip *c, uint32_t slot, bool reference,
                      const VkImageView *views, uint32_t planes)
{
    const struct hs_scenes *s = c->scenes;
    VkDescriptorImageInfo images[SCENE_PLANE_COUNT];
    VkWriteDescriptorSet writes[SCENE_BINDING_COUNT];
    uint32_t any = 0, count = 0;
    const VkDescriptorSet set = c->sets[2 * slot + reference];
    while (!(planes >> any & 1u))
        any++;
    for (uint32_t i = 0; i < SCENE_PLANE_COUNT; i++) {
        images[i] = (VkDescriptorImageInfo){
            .imageView = planes >> i & 1u ? views[i] : views[any],
            .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
        };
        if ((i == SCENE_PLANE_REFERENCE) != reference)
            continue;
        writes[count++] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set,
            .dstBinding = SCENE_BINDING_PLANES + i,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
            .pImageInfo = &images[i],
        };
    }
    const VkDeviceSize sum = c->sum.size / (2 * c->params.frames_in_flight);
    const VkDescriptorBufferInfo buffers[2] = {
        {c->data.buffer, 0, VK_WHOLE_SIZE},
        {c->sum.buffer, sum * (2 * slot + reference), sum},
    };
    for (uint32_t i = 0; i < 2; i++) {
        writes[count++] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set,
            .dstBinding = i ? SCENE_BINDING_SUM : SCENE_BINDING_DATA,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = &buffers[i],
        };
    }
    s->UpdateDescriptorSets(s->device, count, writes, 0, NULL);
}

static uint32_t slot_of(const struct hs_clip *c, uint32_t job)
{
    return (c->next_slot + job) % c->params.frames_in_flight;
}

static uint32_t slot_base(const struct hs_clip *c, uint32_t slot)
{
    return c->fixed_units + slot * c->slot.units;
}

static void dispatch(const struct hs_clip *c, VkCommandBuffer cmd, VkPipeline pipeline,
                     const struct hs_clip_job *job, uint32_t slot, bool reference, uint32_t planes,
                     uint32_t pass)
{
    const struct hs_scenes *s = c->scenes;
    const struct hs_clip_params *p = &c->params;
    const uint32_t total = reference ? p->reference_spp : p->spp;
    const uint32_t first = pass * SAMPLES_PER_PASS, left = total - first;
    const uint32_t frame_seed = p->fixed_noise && !reference ? 0 : job->frame;
    const uint32_t noise = reference ? 0 : p->noise * 0xc2b2ae35u;
    struct hs_clip_info info;
    hs_clip_frame(c, job->frame, &info);
    const struct scene_push push = {
        .frame = slot_base(c, slot) + c->slot.frame,
        .width = reference ? p->width : p->render_width,
        .height = reference ? p->height : p->render_height,
        .samples = left < SAMPLES_PER_PASS ? left : SAMPLES_PER_PASS,
        .first = first,
        .total = total,
        .planes = planes,
        .seed = (c->scene.seed * 2 + reference) * 0x9e3779b1u + frame_seed * 0x85ebca6bu + noise,
        .jitter_x = info.jitter[0],
        .jitter_y = info.jitter[1],
        .specular = (uint32_t)p->specular,
        .hit_limit = p->hit_limit,
        .filter_kind = (uint32_t)p->filter,
    };
    s->CmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    s->CmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, s->pipeline_layout, 0, 1,
                             &c->sets[2 * slot + reference], 0, NULL);
    s->CmdPushConstants(cmd, s->pipeline_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push),
                        &push);
    s->CmdDispatch(cmd, (push.width + SCENE_TILE - 1) / SCENE_TILE,
                   (push.height + SCENE_TILE - 1) / SCENE_TILE, 1);
}

static void upload(struct hs_clip *c, const struct hs_clip_job *jobs, uint32_t count,
                   VkCommandBuffer cmd)
{
    const struct hs_scenes *s = c->scenes;
    if (c->uploaded) // earlier frames read the buffer that is written here
        barrier(s, cmd, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, 0, VK_PIPELINE_STAGE_2_COPY_BIT,
                VK_ACCESS_2_TRANSFER_WRITE_BIT);
    VkBufferCopy regions[65];
    uint32_t region_count = 0;
    if (!c->uploaded)
        regions[region_count++] = (VkBufferCopy){0, 0, 16 * (VkDeviceSize)c->fixed_units};
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t base = slot_base(c, slot_of(c, i));
        pack_frame(c, &jobs[i], (uint32_t *)c->staging.map + 4 * (size_t)base, base);
        regions[region_count++] = (VkBufferCopy){16 * (VkDeviceSize)base, 16 * (VkDeviceSize)base,
                                                 16 * (VkDeviceSize)c->slot.units};
    }
    s->CmdCopyBuffer(cmd, c->staging.buffer, c->data.buffer, region_count, regions);
    barrier(s, cmd, VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_READ_BIT);
    c->uploaded = true;
}

int hs_clip_record(struct hs_clip *clip, const struct hs_clip_job *jobs, uint32_t job_count,
                   VkCommandBuffer cmd)
{
    if (!clip || !jobs || !cmd || !job_count || job_count > clip->params.frames_in_flight)
        return HS_ERR_INVALID;
    const uint32_t reference_bit = 1u << SCENE_PLANE_REFERENCE;
    VkImageView views[SCENE_PLANE_COUNT];
    VkPipeline pipelines[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    uint32_t all = 0;
    for (uint32_t i = 0; i < job_count; i++) {
        list_views(&jobs[i].planes, views);
        if (!wanted_planes(views))
            return HS_ERR_INVALID;
        all |= wanted_planes(views);
    }
    for (int reference = 0; reference < 2; reference++) {
        int err = 0;
        if (all & (reference ? reference_bit : ~reference_bit))
            err =
                scenes_pipeline(clip->scenes, clip->params.mode, reference, &pipelines[reference]);
        if (err)
            return err;
    }
    upload(clip, jobs, job_count, cmd);
    const uint32_t passes =
        clip->input_passes > clip->reference_passes ? clip->input_passes : clip->reference_passes;
    for (uint32_t pass = 0; pass < passes; pass++) {
        if (pass)
            barrier(clip->scenes, cmd, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                    VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                    VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
        for (uint32_t i = 0; i < job_count; i++) {
            list_views(&jobs[i].planes, views);
            const uint32_t slot = slot_of(clip, i), mask = wanted_planes(views);
            for (int reference = 0; reference < 2; reference++) {
                const uint32_t planes = mask & (reference ? reference_bit : ~reference_bit);
                if (!planes || pass >= (reference ? clip->reference_passes : clip->input_passes))
                    continue;
                if (!pass)
                    write_set(clip, slot, reference, views, planes);
                dispatch(clip, cmd, pipelines[reference], &jobs[i], slot, reference, planes, pass);
            }
        }
    }
    clip->next_slot = slot_of(clip, job_count);
    return 0;
}
