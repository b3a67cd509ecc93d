// SPDX-License-Identifier: MIT
// GPU timestamps per stage, in a ring of frames.
#include "stream.h"

#define QUERIES_PER_SLOT (HS_MAX_STAGES + 1)

int hs_timing_create(struct hs_stream *s)
{
    struct hs_device *device = s->device;
    if (!device->timestamp_bits) {
        hs_log_message(&device->log, HS_LOG_ERROR, "queue family %u of %s has no timestamps",
                       device->queue_family, device->name);
        return HS_ERR_UNSUPPORTED;
    }
    VkResult r = device->vk.CreateQueryPool(device->device,
                                            &(VkQueryPoolCreateInfo){
                                                .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                                .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                                .queryCount = HS_TIMING_SLOTS * QUERIES_PER_SLOT,
                                            },
                                            NULL, &s->queries);
    return hs_device_error(device, r, "vkCreateQueryPool");
}

static VkResult read_slot(struct hs_stream *s, uint32_t slot, uint32_t count, uint64_t *values)
{
    return s->device->vk.GetQueryPoolResults(s->device->device, s->queries, slot * QUERIES_PER_SLOT,
                                             count, count * sizeof(*values), values,
                                             sizeof(*values), VK_QUERY_RESULT_64_BIT);
}

void hs_timing_begin(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd)
{
    if (!s->queries)
        return;
    const uint32_t index = (uint32_t)(s->frames % HS_TIMING_SLOTS);
    struct hs_timing_slot *slot = &s->slots[index];
    // The reset below takes effect when the GPU gets there; until then the old values stand.
    if (slot->count)
        (void)read_slot(s, index, 1, &slot->stale);
    slot->frame = s->frames;
    slot->count = 0;
    rec->timing = slot;
    s->device->vk.CmdResetQueryPool(cmd, s->queries, index * QUERIES_PER_SLOT, QUERIES_PER_SLOT);
    s->device->vk.CmdWriteTimestamp2(cmd, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, s->queries,
                                     index * QUERIES_PER_SLOT);
}

void hs_timing_mark(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd,
                    const char *name)
{
    struct hs_timing_slot *slot = rec->timing;
    if (!slot || slot->count == HS_MAX_STAGES)
        return;
    slot->names[slot->count++] = name;
    s->device->vk.CmdWriteTimestamp2(cmd, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, s->queries,
                                     (uint32_t)(slot - s->slots) * QUERIES_PER_SLOT + slot->count);
}

int hs_stream_timings(struct hs_stream *s, struct hs_stage_time *times, uint64_t *frame)
{
    if (!s || !times || !frame)
        return HS_ERR_INVALID;
    if (!s->queries)
        return hs_invalid(&s->device->log, "the stream was created without HS_STREAM_TIMINGS");
    if (atomic_load(&s->device->lost))
        return HS_ERR_DEVICE_LOST;
    if (s->frames > HS_TIMING_SLOTS && s->timing_next < s->frames - HS_TIMING_SLOTS)
        s->timing_next = s->frames - HS_TIMING_SLOTS;
    if (s->timing_next >= s->frames)
        return 0;
    const uint32_t index = (uint32_t)(s->timing_next % HS_TIMING_SLOTS);
    struct hs_timing_slot *slot = &s->slots[index];
    uint64_t values[QUERIES_PER_SLOT];
    VkResult r = read_slot(s, index, slot->count + 1, values);
    if (r == VK_NOT_READY || (r == VK_SUCCESS && values[0] == slot->stale))
        return 0;
    if (r != VK_SUCCESS)
        return hs_device_error(s->device, r, "vkGetQueryPoolResults");
    const uint64_t mask = s->device->timestamp_bits >= 64
                              ? UINT64_MAX
                              : (UINT64_C(1) << s->device->timestamp_bits) - 1;
    for (uint32_t i = 0; i < slot->count; i++)
        times[i] = (struct hs_stage_time){
            .name = slot->names[i],
            .ms = (double)((values[i + 1] - values[i]) & mask) *
                  (double)s->device->limits.timestampPeriod * 1e-6,
        };
    *frame = slot->frame;
    s->timing_next++;
    return (int)slot->count;
}
