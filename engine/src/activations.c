// SPDX-License-Identifier: MIT
// What a stream holds for its network: activations of every level, weights, a set for each layer.
#include "stream.h"

#include <string.h>

#include "choose.h"

#define BUFFERS (HS_TENSORS + 1)

static uint64_t tensor_bytes(const struct hs_stream *s, int tensor)
{
    return hs_bands_tensor_bytes(&s->bands_params, &s->bands, tensor);
}

int hs_activations_plan(struct hs_stream *s)
{
    static const struct hs_layers none = {0};
    const uint64_t most = s->device->limits.maxStorageBufferRange;
    const bool cells = s->network && s->model->layers.integers;
    if (cells)
        hs_level_sizes(s->params.max_render_width, s->params.max_render_height, s->levels);
    else
        hs_level_sizes((s->params.out_width + 1) / 2, (s->params.out_height + 1) / 2, s->levels);
    s->bands_params = (struct hs_bands_params){
        .layers = s->network ? &s->model->layers : &none,
        .levels = s->levels,
        .out_width = s->params.out_width,
        .out_height = s->params.out_height,
        .render_height = cells ? s->params.max_render_height : 0,
        .count = s->params.bands,
        .buffer_bytes = most,
        .moved_px_bytes = HS_MOVED_BYTES,
    };
    if (hs_bands_plan(&s->bands_params, &s->bands))
        return 0;
    uint64_t largest = 0;
    for (int i = 0; i < HS_TENSORS; i++)
        largest = tensor_bytes(s, i) > largest ? tensor_bytes(s, i) : largest;
    const bool plain = s->model->replaceable;
    hs_log_message(&s->device->log, plain ? HS_LOG_WARN : HS_LOG_ERROR,
                   "output size %ux%u: activations of %.0f MiB, buffers of %s end at %.0f%s",
                   s->params.out_width, s->params.out_height, (double)largest / (1 << 20),
                   s->device->name, (double)most / (1 << 20),
                   !plain             ? ""
                   : s->model->guides ? "; " HS_CHOICE_GUIDED " takes over"
                                      : "; " HS_CHOICE_PLAIN " takes over");
    return HS_ERR_UNSUPPORTED;
}

int hs_activations_choose(const struct hs_stream *s, struct hs_recording *rec)
{
    const uint32_t width = rec->frame->render_width, height = rec->frame->render_height;
    rec->bands = s->bands;
    rec->bands_params = s->bands_params;
    rec->bands_params.levels = rec->levels;
    memcpy(rec->levels, s->levels, sizeof(rec->levels));
    if (s->bands_params.render_height)
        hs_level_sizes(width, height, rec->levels);
    // Outside, rows follow one another.
    for (int i = 0; i < HS_WEIGHTS_LEVELS; i++)
        rec->levels[i].pitch = s->split ? rec->levels[i].width : s->levels[i].pitch;
    if (!s->bands_params.render_height)
        return 0;
    rec->bands_params.render_height = height;
    if (height == s->bands_params.render_height || hs_bands_lower(&rec->bands_params, &rec->bands))
        return 0;
    hs_log_message(&s->device->log, HS_LOG_ERROR,
                   "render size %ux%u finds no room in what was made for up to %ux%u", width,
                   height, s->params.max_render_width, s->params.max_render_height);
    return HS_ERR_INTERNAL;
}

static int create_buffers(struct hs_stream *s)
{
    static const char *const names[HS_TENSORS] = {"activations 0", "block 0",       "activations 1",
                                                  "block 1",       "activations 2", "block 2"};
    struct hs_buffer_plan plan[BUFFERS];
    for (int i = 0; i < HS_TENSORS; i++)
        plan[i] = (struct hs_buffer_plan){&s->tensors[i], names[i], tensor_bytes(s, i),
                                          VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    plan[HS_TENSORS] = (struct hs_buffer_plan){
        &s->weights, "weights", s->model->layers.weights_bytes,
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    return hs_arena_create(s->device,
                           &(struct hs_arena_plan){
                               .buffers = s->split ? &plan[HS_TENSORS] : plan,
                               .buffer_count = s->split ? 1 : BUFFERS,
                           },
                           &s->network_arena);
}

static int create_sets(struct hs_stream *s)
{
    struct hs_device *device = s->device;
    const uint32_t count = s->model->layers.count;
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       count * HS_BINDING_NETWORK_COUNT};
    VkResult r =
        device->vk.CreateDescriptorPool(device->device,
                                        &(VkDescriptorPoolCreateInfo){
                                            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                            .maxSets = count,
                                            .poolSizeCount = 1,
                                            .pPoolSizes = &size,
                                        },
                                        NULL, &s->network_pool);
    if (r != VK_SUCCESS)
        return hs_device_error(device, r, "vkCreateDescriptorPool");
    VkDescriptorSetLayout layouts[HS_WEIGHTS_LAYERS_MAX];
    for (uint32_t i = 0; i < count; i++)
        layouts[i] = s->model->network_layout;
    r = device->vk.AllocateDescriptorSets(
        device->device,
        &(VkDescriptorSetAllocateInfo){
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = s->network_pool,
            .descriptorSetCount = count,
            .pSetLayouts = layouts,
        },
        s->layer_sets);
    return hs_device_error(device, r, "vkAllocateDescriptorSets");
}

static void write_sets(struct hs_stream *s)
{
    for (uint32_t i = 0; i < s->model->layers.count; i++) {
        const struct hs_dispatch *d = &s->model->layers.list[i];
        const VkBuffer in = s->split ? s->split_head : s->tensors[d->in].buffer;
        const VkBuffer out = s->split ? s->split_features : s->tensors[d->out].buffer;
        const VkDescriptorBufferInfo buffers[HS_BINDING_NETWORK_COUNT] = {
            [HS_BINDING_WEIGHTS] = {s->weights.buffer, 0, VK_WHOLE_SIZE},
            [HS_BINDING_LAYER_IN] = {in, 0, VK_WHOLE_SIZE},
            [HS_BINDING_LAYER_OUT] = {out, 0, VK_WHOLE_SIZE},
        };
        s->device->vk.UpdateDescriptorSets(s->device->device, 1,
                                           &(VkWriteDescriptorSet){
                                               .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                               .dstSet = s->layer_sets[i],
                                               .descriptorCount = HS_BINDING_NETWORK_COUNT,
                                               .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                               .pBufferInfo = buffers,
                                           },
                                           0, NULL);
    }
}

int hs_activations_create(struct hs_stream *s)
{
    int err = create_buffers(s);
    if (!err)
        err = create_sets(s);
    if (!err)
        write_sets(s);
    return err;
}

void hs_activations_destroy(struct hs_stream *s)
{
    s->device->vk.DestroyDescriptorPool(s->device->device, s->network_pool, NULL);
    for (int i = 0; i < HS_TENSORS; i++)
        hs_own_buffer_destroy(s->device, &s->tensors[i]);
    hs_own_buffer_destroy(s->device, &s->weights);
    hs_arena_destroy(s->device, &s->network_arena);
}
