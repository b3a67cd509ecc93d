// SPDX-License-Identifier: MIT
// What planes beside the colour need: the variant of resolve, history, descriptor sets.
#include "guides.h"
#include "stream.h"

#include <stdlib.h>

static VkDescriptorType binding_type(uint32_t binding)
{
    return binding < HS_BINDING_AOV_OUT_HISTORY ? VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE
                                                : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
}

static int create_layouts(struct hs_stream *s)
{
    struct hs_aovs *a = &s->aovs;
    const struct hs_device *device = s->device;
    int err = 0;
    if (!a->set_layout)
        err = hs_model_set_layout(s->model, HS_BINDING_AOV_COUNT, binding_type, &a->set_layout);
    if (!err && !a->empty_layout)
        err = hs_model_set_layout(s->model, 0, binding_type, &a->empty_layout);
    if (err || a->pipeline_layout)
        return err;
    const VkDescriptorSetLayout sets[HS_SET_GUIDES + 1] = {
        s->model->set_layout,
        s->network ? s->model->network_layout : a->empty_layout,
        a->set_layout,
        s->model->guide_layout,
    };
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct hs_aov_push)};
    VkResult r = device->vk.CreatePipelineLayout(
        device->device,
        &(VkPipelineLayoutCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
            .setLayoutCount = s->model->guides ? HS_SET_GUIDES + 1 : 3,
            .pSetLayouts = sets,
            .pushConstantRangeCount = 1,
            .pPushConstantRanges = &push,
        },
        NULL, &a->pipeline_layout);
    return hs_device_error(s->device, r, "vkCreatePipelineLayout");
}

static int create_pipeline(struct hs_stream *s, bool network)
{
    struct hs_aovs *a = &s->aovs;
    const int err = create_layouts(s);
    if (err || a->pipelines[network])
        return err;
    const struct hs_layers *layers = &s->model->layers;
    char name[HS_SHADER_NAME_MAX];
    return hs_model_pipeline(
        s->model, a->pipeline_layout,
        network ? hs_network_shader(s->model, "40_resolve_aov", name) : "40_resolve_aov", "aovs",
        network ? &layers->list[layers->count - 1] : NULL, &a->pipelines[network]);
}

static int create_history(struct hs_stream *s, uint32_t index)
{
    struct hs_aov_own *own = &s->aovs.own[index];
    if (own->arena.memory)
        return 0;
    // Shares have to add up to 1 frame after frame: half floats would drift.
    const struct hs_image_plan plan[] = {
        {&own->history[0], "AOV history 0", VK_FORMAT_R32G32B32A32_SFLOAT, s->params.out_width,
         s->params.out_height, HS_OWN_USAGE},
        {&own->history[1], "AOV history 1", VK_FORMAT_R32G32B32A32_SFLOAT, s->params.out_width,
         s->params.out_height, HS_OWN_USAGE},
    };
    return hs_arena_create(s->device, &(struct hs_arena_plan){.images = plan, .image_count = 2},
                           &own->arena);
}

static int grow(struct hs_stream *s)
{
    struct hs_aovs *a = &s->aovs;
    struct hs_device *device = s->device;
    if (a->pool_count == HS_MAX_POOLS) {
        hs_log_message(&device->log, HS_LOG_ERROR,
                       "more than %d combinations of AOV views; call hs_stream_forget() for views "
                       "that are gone",
                       HS_MAX_POOLS * HS_SETS_PER_POOL);
        return HS_ERR_NOMEM;
    }
    struct hs_aov_set *sets = realloc(a->sets, (a->set_count + HS_SETS_PER_POOL) * sizeof(*sets));
    if (!sets) {
        hs_log_message(&device->log, HS_LOG_ERROR, "out of memory for descriptor sets");
        return HS_ERR_NOMEM;
    }
    a->sets = sets;
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, HS_SETS_PER_POOL * HS_BINDING_AOV_OUT_HISTORY},
        {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
         HS_SETS_PER_POOL * (HS_BINDING_AOV_COUNT - HS_BINDING_AOV_OUT_HISTORY)},
    };
    VkDescriptorPool pool;
    VkResult r =
        device->vk.CreateDescriptorPool(device->device,
                                        &(VkDescriptorPoolCreateInfo){
                                            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                            .maxSets = HS_SETS_PER_POOL,
                                            .poolSizeCount = 2,
                                            .pPoolSizes = sizes,
                                        },
                                        NULL, &pool);
    if (r != VK_SUCCESS)
        return hs_device_error(device, r, "vkCreateDescriptorPool");
    VkDescriptorSet made[HS_SETS_PER_POOL];
    r = hs_sets_allocate(device, pool, a->set_layout, made);
    if (r != VK_SUCCESS) {
        device->vk.DestroyDescriptorPool(device->device, pool, NULL);
        return hs_device_error(device, r, "vkAllocateDescriptorSets");
    }
    a->pools[a->pool_count++] = pool;
    for (int i = 0; i < HS_SETS_PER_POOL; i++)
        a->sets[a->set_count++] = (struct hs_aov_set){.set = made[i]};
    return 0;
}

static void write_set(struct hs_stream *s, const struct hs_aov_set *set)
{
    const struct hs_aov_own *own = &s->aovs.own[set->index];
    const VkDescriptorImageInfo images[HS_BINDING_AOV_COUNT] = {
        [HS_BINDING_AOV_IN] = {.imageView = set->in, .imageLayout = set->layout},
        [HS_BINDING_AOV_HISTORY] = {.imageView = own->history[!set->parity].view,
                                    .imageLayout = VK_IMAGE_LAYOUT_GENERAL},
        [HS_BINDING_AOV_OUT_HISTORY] = {.imageView = own->history[set->parity].view,
                                        .imageLayout = VK_IMAGE_LAYOUT_GENERAL},
        [HS_BINDING_AOV_OUT] = {.imageView = set->out, .imageLayout = VK_IMAGE_LAYOUT_GENERAL},
    };
    VkWriteDescriptorSet writes[HS_BINDING_AOV_COUNT];
    for (uint32_t i = 0; i < HS_BINDING_AOV_COUNT; i++)
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set->set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = binding_type(i),
            .pImageInfo = &images[i],
        };
    s->device->vk.UpdateDescriptorSets(s->device->device, HS_BINDING_AOV_COUNT, writes, 0, NULL);
}

static int find_set(struct hs_stream *s, const struct hs_aov *aov, uint32_t index,
                    VkDescriptorSet *found)
{
    struct hs_aovs *a = &s->aovs;
    const uint32_t parity = s->frames & 1;
    struct hs_aov_set *spare = NULL;
    for (uint32_t i = 0; i < a->set_count; i++) {
        struct hs_aov_set *set = &a->sets[i];
        if (!set->used) {
            spare = spare ? spare : set;
        } else if (set->in == aov->in.view && set->out == aov->out.view &&
                   set->layout == aov->in.layout && set->index == index && set->parity == parity) {
            *found = set->set;
            return 0;
        }
    }
    if (!spare) {
        const uint32_t first = a->set_count;
        const int err = grow(s);
        if (err)
            return err;
        spare = &a->sets[first];
    }
    *spare = (struct hs_aov_set){aov->in.view, aov->out.view, aov->in.layout, index, parity,
                                 spare->set,   true};
    write_set(s, spare);
    *found = spare->set;
    return 0;
}

int hs_aovs_choose(struct hs_stream *s, struct hs_recording *rec)
{
    const struct hs_frame *f = rec->frame;
    int err = f->aov_count ? create_pipeline(s, rec->network) : 0;
    for (uint32_t i = 0; !err && i < f->aov_count; i++) {
        err = create_history(s, i);
        if (!err)
            err = find_set(s, &f->aovs[i], i, &rec->aov_sets[i]);
    }
    return err;
}

void hs_aovs_advance(struct hs_stream *s, const struct hs_frame *f)
{
    for (uint32_t i = 0; i < HS_AOV_MAX; i++) {
        s->aovs.own[i].valid = i < f->aov_count;
        if (i < f->aov_count)
            s->aovs.own[i].kind = f->aovs[i].kind;
    }
}

void hs_aovs_forget(struct hs_stream *s, VkImageView view)
{
    for (uint32_t i = 0; i < s->aovs.set_count; i++) {
        struct hs_aov_set *set = &s->aovs.sets[i];
        if (!view || set->in == view || set->out == view)
            set->used = false;
    }
}

void hs_aovs_destroy(struct hs_stream *s)
{
    struct hs_aovs *a = &s->aovs;
    struct hs_device *device = s->device;
    for (uint32_t i = 0; i < a->pool_count; i++)
        device->vk.DestroyDescriptorPool(device->device, a->pools[i], NULL);
    free(a->sets);
    device->vk.DestroyPipeline(device->device, a->pipelines[0], NULL);
    device->vk.DestroyPipeline(device->device, a->pipelines[1], NULL);
    device->vk.DestroyPipelineLayout(device->device, a->pipeline_layout, NULL);
    device->vk.DestroyDescriptorSetLayout(device->device, a->set_layout, NULL);
    device->vk.DestroyDescriptorSetLayout(device->device, a->empty_layout, NULL);
    for (int i = 0; i < HS_AOV_MAX; i++) {
        hs_own_image_destroy(device, &a->own[i].history[0]);
        hs_own_image_destroy(device, &a->own[i].history[1]);
        hs_arena_destroy(device, &a->own[i].arena);
    }
}
