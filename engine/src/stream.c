// SPDX-License-Identifier: MIT
#include "stream.h"

#include <stdlib.h>
#include <string.h>

#include "choose.h"

#define MIN_SIZE 16
#define MAX_SIZE 16384

static int check_params(struct hs_device *device, const struct hs_stream_params *p)
{
    if (p->out_width < MIN_SIZE || p->out_height < MIN_SIZE || p->out_width > MAX_SIZE ||
        p->out_height > MAX_SIZE)
        return hs_invalid(&device->log, "output size %ux%u is not within %d to %d pixels",
                          p->out_width, p->out_height, MIN_SIZE, MAX_SIZE);
    const uint32_t most = device->limits.maxImageDimension2D;
    if (p->out_width > most || p->out_height > most) {
        hs_log_message(&device->log, HS_LOG_ERROR, "output size %ux%u: images of %s end at %u",
                       p->out_width, p->out_height, device->name, most);
        return HS_ERR_UNSUPPORTED;
    }
    if (!p->max_render_width != !p->max_render_height)
        return hs_invalid(&device->log, "maximum render size %ux%u has one axis only",
                          p->max_render_width, p->max_render_height);
    if (p->max_render_width > p->out_width || p->max_render_height > p->out_height)
        return hs_invalid(&device->log, "maximum render size %ux%u is above the output size %ux%u",
                          p->max_render_width, p->max_render_height, p->out_width, p->out_height);
    if (p->max_render_width && (p->max_render_width < MIN_SIZE || p->max_render_height < MIN_SIZE))
        return hs_invalid(&device->log, "maximum render size %ux%u is below %d pixels",
                          p->max_render_width, p->max_render_height, MIN_SIZE);
    if (p->bands > HS_STREAM_BANDS_MAX)
        return hs_invalid(&device->log, "%u bands, at most %d", p->bands, HS_STREAM_BANDS_MAX);
    if (p->flags & ~(uint32_t)(HS_STREAM_LDR | HS_STREAM_TIMINGS))
        return hs_invalid(&device->log, "unknown stream flags 0x%x", p->flags);
    return 0;
}

static int create_planes(struct hs_stream *s)
{
    const uint32_t rw = s->params.max_render_width, rh = s->params.max_render_height;
    const uint32_t ow = s->params.out_width, oh = s->params.out_height;
    const uint32_t moved = s->bands.moved_rows;
    const VkFormat rgba = VK_FORMAT_R16G16B16A16_SFLOAT, aux = VK_FORMAT_R16_SFLOAT;
    const VkImageUsageFlags usage = HS_OWN_USAGE;
    struct hs_own_image *own = s->own;
    const struct hs_image_plan plan[HS_OWN_LAZY] = {
        {&own[HS_OWN_PREP_COLOUR], "prepared colour", rgba, rw, rh, usage},
        {&own[HS_OWN_PREP_MOTION], "prepared motion", VK_FORMAT_R32G32_SFLOAT, rw, rh, usage},
        {&own[HS_OWN_PREP_AUX], "prepared validity", aux, rw, rh, usage},
        {&own[HS_OWN_REPROJ_COLOUR], "reprojected colour", rgba, ow, moved, usage},
        {&own[HS_OWN_REPROJ_AUX], "reprojected weight", aux, ow, moved, usage},
        {&own[HS_OWN_EMPTY], "empty plane", VK_FORMAT_R32_SFLOAT, 1, 1, usage},
        {&own[HS_OWN_UNUSED], "unused plane", VK_FORMAT_R32_SFLOAT, 1, 1, usage},
        {&own[HS_OWN_DEPTH], "depth 0", VK_FORMAT_R32_SFLOAT, rw, rh, usage},
        {&own[HS_OWN_DEPTH + 1], "depth 1", VK_FORMAT_R32_SFLOAT, rw, rh, usage},
        {&own[HS_OWN_HISTORY_COLOUR], "history colour 0", rgba, ow, oh, usage},
        {&own[HS_OWN_HISTORY_COLOUR + 1], "history colour 1", rgba, ow, oh, usage},
        {&own[HS_OWN_HISTORY_AUX], "history weight 0", aux, ow, oh, usage},
        {&own[HS_OWN_HISTORY_AUX + 1], "history weight 1", aux, ow, oh, usage},
    };
    const VkPhysicalDeviceLimits *limits = &s->device->limits;
    uint64_t align = limits->minStorageBufferOffsetAlignment;
    s->state_offset = (sizeof(struct hs_frame_params) + align - 1) / align * align;
    const struct hs_buffer_plan buffer = {
        &s->buffer, "parameters and state", s->state_offset + sizeof(struct hs_state),
        VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
            VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    return hs_arena_create(s->device,
                           &(struct hs_arena_plan){
                               .images = plan,
                               .image_count = HS_OWN_LAZY,
                               .buffers = &buffer,
                               .buffer_count = 1,
                           },
                           &s->arena);
}

int hs_stream_create(struct hs_model *model, const struct hs_stream_params *params,
                     struct hs_stream **out)
{
    if (!model || !params || !out)
        return HS_ERR_INVALID;
    struct hs_device *device = model->device;
    if (atomic_load(&device->lost))
        return HS_ERR_DEVICE_LOST;
    int err = check_params(device, params);
    if (err)
        return err;
    struct hs_stream *s = calloc(1, sizeof(*s));
    if (!s) {
        hs_log_message(&device->log, HS_LOG_ERROR, "out of memory for a stream");
        return HS_ERR_NOMEM;
    }
    s->model = model;
    s->device = device;
    s->params = *params;
    if (!s->params.max_render_width) {
        s->params.max_render_width = params->out_width;
        s->params.max_render_height = params->out_height;
    }
    s->network = model->layers.count > 0;
    err = hs_split_take(s, params->split);
    const bool taken = !err;
    if (taken)
        err = hs_activations_plan(s);
    if (taken && err == HS_ERR_UNSUPPORTED && model->replaceable && !s->split) {
        s->network = false;
        err = hs_activations_plan(s);
    }
    if (!err)
        err = create_planes(s);
    if (!err && s->network)
        err = hs_activations_create(s);
    if (!err && s->split)
        err = hs_split_create(s);
    if (!err && (params->flags & HS_STREAM_TIMINGS))
        err = hs_timing_create(s);
    if (err) {
        hs_stream_destroy(&s);
        return err;
    }
    hs_log_message(&device->log, HS_LOG_DEBUG, "stream %ux%u from up to %ux%u, %u bands: %.1f MiB",
                   s->params.out_width, s->params.out_height, s->params.max_render_width,
                   s->params.max_render_height, s->bands.count,
                   (double)(s->arena.bytes + s->network_arena.bytes) / (1 << 20));
    *out = s;
    return 0;
}

/** Carries what the next frame needs. */
static void advance(struct hs_stream *s, const struct hs_recording *rec)
{
    const struct hs_frame *f = rec->frame;
    s->frames++;
    s->frames_since_reset = rec->reset ? 1 : s->frames_since_reset + 1;
    s->prev_render[0] = f->render_width;
    s->prev_render[1] = f->render_height;
    memcpy(s->prev_jitter, f->jitter, sizeof(s->prev_jitter));
    s->prev_has_normal = rec->world_normal;
    s->prev_has_depth = rec->planes[HS_PLANE_DEPTH].image;
    s->prev_has_camera = f->camera;
    hs_aovs_advance(s, f);
    if (f->camera)
        s->prev_camera = *f->camera;
}

static int record(struct hs_stream *s, const struct hs_frame *frame, VkCommandBuffer cmd,
                  VkCommandBuffer back)
{
    if (atomic_load(&s->device->lost))
        return HS_ERR_DEVICE_LOST;
    struct hs_recording rec = {
        .frame = frame,
        .reset = frame->reset || !s->frames,
    };
    int err = hs_frame_check(s, frame, &rec);
    if (!err)
        err = hs_activations_choose(s, &rec);
    if (!err)
        err = hs_planes_choose(s, &rec);
    if (!err)
        err = hs_sets_find(s, &rec);
    if (!err)
        err = hs_aovs_choose(s, &rec);
    if (err)
        return err;
    hs_params_fill(s, &rec);
    hs_commands_record(s, &rec, cmd, back);
    advance(s, &rec);
    return 0;
}

int hs_stream_record(struct hs_stream *s, const struct hs_frame *frame, VkCommandBuffer cmd)
{
    if (!s || !frame || !cmd)
        return HS_ERR_INVALID;
    if (s->split)
        return hs_invalid(&s->device->log, "the stream's network runs outside: its frames have two "
                                           "parts");
    return record(s, frame, cmd, cmd);
}

int hs_stream_record_split(struct hs_stream *s, const struct hs_frame *frame, VkCommandBuffer front,
                           VkCommandBuffer back)
{
    if (!s || !frame || !front || !back)
        return HS_ERR_INVALID;
    if (!s->split)
        return hs_invalid(&s->device->log, "the stream runs its network itself");
    if (frame->aov_count) {
        hs_log_message(&s->device->log, HS_LOG_ERROR, "frames in two parts have no AOVs");
        return HS_ERR_UNSUPPORTED;
    }
    return record(s, frame, front, back);
}

void hs_stream_forget(struct hs_stream *s, VkImageView view)
{
    if (!s)
        return;
    hs_sets_forget(s, view);
    hs_aovs_forget(s, view);
}

/** The preset that runs, or the one that took over. */
static const char *running(const struct hs_stream *s)
{
    if (s->model->guides && !hs_guides_run(s))
        return HS_CHOICE_PLAIN;
    if (!s->model->layers.count || s->network)
        return s->model->name;
    return s->model->guides ? HS_CHOICE_GUIDED : HS_CHOICE_PLAIN;
}

void hs_stream_describe(const struct hs_stream *s, struct hs_stream_info *info)
{
    if (!s || !info)
        return;
    *info = (struct hs_stream_info){
        .preset = running(s),
        .bands = s->bands.count,
        .frames = s->frames,
    };
    for (int i = 0; i < HS_OWN_COUNT; i++) {
        bool history = i >= HS_OWN_DEPTH && i < HS_OWN_LAZY;
        *(history ? &info->history_bytes : &info->activation_bytes) += s->own[i].bytes;
    }
    info->activation_bytes += s->network_arena.bytes;
    for (int i = 0; i < HS_GUIDE_COUNT; i++) {
        const bool history = i >= HS_GUIDE_SURFACE && i < HS_GUIDE_MIDDLE;
        *(history ? &info->history_bytes : &info->activation_bytes) += s->guides[i].bytes;
    }
    for (int i = 0; i < HS_AOV_MAX; i++)
        info->history_bytes += s->aovs.own[i].arena.bytes;
    for (uint32_t i = 0; i < s->copy_count; i++)
        info->copy_bytes += s->copies[i].arena.bytes;
    for (uint32_t i = 0; i < s->set_count; i++)
        info->descriptor_sets += s->sets[i].used;
    for (uint32_t i = 0; i < s->aovs.set_count; i++)
        info->descriptor_sets += s->aovs.sets[i].used;
}

void hs_stream_destroy(struct hs_stream **pointer)
{
    if (!pointer || !*pointer)
        return;
    struct hs_stream *s = *pointer;
    struct hs_device *device = s->device;
    hs_sets_destroy(s);
    hs_aovs_destroy(s);
    hs_split_destroy(s);
    hs_activations_destroy(s);
    hs_guides_destroy(s);
    hs_timing_destroy(s);
    for (uint32_t i = 0; i < s->copy_count; i++) {
        hs_own_image_destroy(device, &s->copies[i].image);
        hs_arena_destroy(device, &s->copies[i].arena);
    }
    for (int i = 0; i < HS_OWN_COUNT; i++)
        hs_own_image_destroy(device, &s->own[i]);
    for (int i = 0; i < HS_OWN_COUNT - HS_OWN_LAZY; i++)
        hs_arena_destroy(device, &s->lazy_arenas[i]);
    hs_own_buffer_destroy(device, &s->buffer);
    hs_arena_destroy(device, &s->arena);
    free(s);
    *pointer = NULL;
}
