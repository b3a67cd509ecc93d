// SPDX-License-Identifier: MIT
// GPU timestamps per stage, in a ring of frames.
#include "stream.h"

#include <stdlib.h>

#include "guides.h"

/** Marks outside the bands: setup, exposure's, prepare, those of guides, finish, output. */
#define MARKS_OTHER (8 + HS_ATROUS_PASSES)

int hs_timing_create(struct hs_stream *s)
{
    struct hs_device *device = s->device;
    if (!device->timestamp_bits) {
        hs_log_message(&device->log, HS_LOG_ERROR, "queue family %u of %s has no timestamps",
                       device->queue_family, device->name);
        return HS_ERR_UNSUPPORTED;
    }
    // An item more in each band: AOVs.
    s->marks_max =
        MARKS_OTHER + hs_bands_most(&s->bands_params, &s->bands) * (s->bands.item_count + 1);
    s->marks = calloc((size_t)HS_TIMING_SLOTS * s->marks_max, sizeof(*s->marks));
    s->values = calloc((size_t)s->marks_max + 1, sizeof(*s->values));
    if (!s->marks || !s->values) {
        hs_log_message(&device->log, HS_LOG_ERROR, "out of memory for timestamps");
        return HS_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < HS_TIMING_SLOTS; i++)
        s->slots[i].marks = s->marks + (size_t)i * s->marks_max;
    VkResult r = device->vk.CreateQueryPool(device->device,
                                            &(VkQueryPoolCreateInfo){
                                                .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                                .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                                .queryCount = HS_TIMING_SLOTS * (s->marks_max + 1),
                                            },
                                            NULL, &s->queries);
    return hs_device_error(device, r, "vkCreateQueryPool");
}

void hs_timing_destroy(struct hs_stream *s)
{
    s->device->vk.DestroyQueryPool(s->device->device, s->queries, NULL);
    free(s->marks);
    free(s->values);
}

static VkResult read_slot(struct hs_stream *s, uint32_t slot, uint32_t count, uint64_t *values)
{
    return s->device->vk.GetQueryPoolResults(
        s->device->device, s->queries, slot * (s->marks_max + 1), count, count * sizeof(*values),
        values, sizeof(*values), VK_QUERY_RESULT_64_BIT);
}

void hs_timing_begin(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd)
{
    if (!s->queries)
        return;
    const uint32_t index = (uint32_t)(s->frames % HS_TIMING_SLOTS);
    const uint32_t first = index * (s->marks_max + 1);
    struct hs_timing_slot *slot = &s->slots[index];
    // The reset below takes effect when the GPU gets there; until then the old values stand.
    if (slot->mark_count)
        (void)read_slot(s, index, 1, &slot->stale);
    slot->frame = s->frames;
    slot->count = 0;
    slot->mark_count = 0;
    rec->timing = slot;
    s->device->vk.CmdResetQueryPool(cmd, s->queries, first, s->marks_max + 1);
    s->device->vk.CmdWriteTimestamp2(cmd, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, s->queries, first);
}

/** The place of a name; the last one stands for all that find no room. */
static uint32_t find_name(struct hs_timing_slot *slot, const char *name)
{
    for (uint32_t i = 0; i < slot->count; i++) {
        if (slot->names[i] == name)
            return i;
    }
    if (slot->count < HS_MAX_STAGES)
        slot->names[slot->count++] = name;
    return slot->count - 1;
}

void hs_timing_mark(struct hs_stream *s, struct hs_recording *rec, VkCommandBuffer cmd,
                    const char *name)
{
    struct hs_timing_slot *slot = rec->timing;
    if (!slot || slot->mark_count == s->marks_max)
        return;
    slot->marks[slot->mark_count++] = (uint8_t)find_name(slot, name);
    s->device->vk.CmdWriteTimestamp2(cmd, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, s->queries,
                                     (uint32_t)(slot - s->slots) * (s->marks_max + 1) +
                                         slot->mark_count);
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
    VkResult r = read_slot(s, index, slot->mark_count + 1, s->values);
    if (r == VK_NOT_READY || (r == VK_SUCCESS && s->values[0] == slot->stale))
        return 0;
    if (r != VK_SUCCESS)
        return hs_device_error(s->device, r, "vkGetQueryPoolResults");
    const uint64_t mask = s->device->timestamp_bits >= 64
                              ? UINT64_MAX
                              : (UINT64_C(1) << s->device->timestamp_bits) - 1;
    for (uint32_t i = 0; i < slot->count; i++)
        times[i] = (struct hs_stage_time){.name = slot->names[i]};
    for (uint32_t i = 0; i < slot->mark_count; i++)
        times[slot->marks[i]].ms += (double)((s->values[i + 1] - s->values[i]) & mask) *
                                    (double)s->device->limits.timestampPeriod * 1e-6;
    *frame = slot->frame;
    s->timing_next++;
    return (int)slot->count;
}
