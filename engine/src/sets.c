// SPDX-License-Identifier: MIT
// Descriptor sets, immutable per combination of lent views and history parity.
#include "guides.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>

static const enum hs_plane input_planes[] = {HS_PLANE_COLOUR, HS_PLANE_DEPTH, HS_PLANE_MOTION,
                                             HS_PLANE_REACTIVE, HS_PLANE_EXPOSURE};

VkDescriptorImageInfo hs_plane_info(const struct hs_plane_use *use, enum hs_plane plane)
{
    return (VkDescriptorImageInfo){
        .imageView = use->copy ? use->copy->view : use->image->view,
        .imageLayout =
            use->copy || plane == HS_PLANE_OUTPUT ? VK_IMAGE_LAYOUT_GENERAL : use->image->layout,
    };
}

static void make_key(const struct hs_stream *s, const struct hs_recording *rec,
                     struct hs_set_key *key)
{
    memset(key, 0, sizeof(*key));
    for (int i = 0; i < HS_PLANE_COUNT; i++) {
        if (!rec->planes[i].image)
            continue;
        const VkDescriptorImageInfo info = hs_plane_info(&rec->planes[i], (enum hs_plane)i);
        key->views[i] = (uint64_t)info.imageView;
        key->layouts[i] = info.imageLayout;
    }
    key->parity = s->frames & 1;
    key->wide = rec->wide;
    key->resolved = rec->finish;
    key->guides = rec->guides;
}

VkResult hs_sets_allocate(struct hs_device *device, VkDescriptorPool pool,
                          VkDescriptorSetLayout layout, VkDescriptorSet made[HS_SETS_PER_POOL])
{
    VkDescriptorSetLayout layouts[HS_SETS_PER_POOL];
    for (int i = 0; i < HS_SETS_PER_POOL; i++)
        layouts[i] = layout;
    return device->vk.AllocateDescriptorSets(
        device->device,
        &(VkDescriptorSetAllocateInfo){
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = pool,
            .descriptorSetCount = HS_SETS_PER_POOL,
            .pSetLayouts = layouts,
        },
        made);
}

static int grow(struct hs_stream *s)
{
    struct hs_device *device = s->device;
    if (s->pool_count == HS_MAX_POOLS) {
        hs_log_message(&device->log, HS_LOG_ERROR,
                       "more than %d combinations of views; call hs_stream_forget() for views "
                       "that are gone",
                       HS_MAX_POOLS * HS_SETS_PER_POOL);
        return HS_ERR_NOMEM;
    }
    struct hs_set *sets = realloc(s->sets, (s->set_count + HS_SETS_PER_POOL) * sizeof(*sets));
    if (!sets) {
        hs_log_message(&device->log, HS_LOG_ERROR, "out of memory for descriptor sets");
        return HS_ERR_NOMEM;
    }
    s->sets = sets;
    const bool guides = s->model->guides;
    const uint32_t images_in =
        HS_BINDING_OUT_PREP_COLOUR - HS_BINDING_COLOUR + (guides ? HS_BINDING_OUT_SIGNAL_A : 0);
    const uint32_t images_out = HS_BINDING_COUNT - HS_BINDING_OUT_PREP_COLOUR +
                                (guides ? HS_BINDING_GUIDE_COUNT - HS_BINDING_OUT_SIGNAL_A : 0);
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, HS_SETS_PER_POOL},
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, HS_SETS_PER_POOL},
        {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, HS_SETS_PER_POOL * images_in},
        {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, HS_SETS_PER_POOL * images_out},
    };
    VkDescriptorPool pool;
    VkResult r =
        device->vk.CreateDescriptorPool(device->device,
                                        &(VkDescriptorPoolCreateInfo){
                                            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                            .maxSets = HS_SETS_PER_POOL * (guides ? 2 : 1),
                                            .poolSizeCount = 4,
                                            .pPoolSizes = sizes,
                                        },
                                        NULL, &pool);
    if (r != VK_SUCCESS)
        return hs_device_error(device, r, "vkCreateDescriptorPool");
    VkDescriptorSet made[HS_SETS_PER_POOL], guide_sets[HS_SETS_PER_POOL] = {0};
    r = hs_sets_allocate(device, pool, s->model->set_layout, made);
    if (r == VK_SUCCESS && guides)
        r = hs_sets_allocate(device, pool, s->model->guide_layout, guide_sets);
    if (r != VK_SUCCESS) {
        device->vk.DestroyDescriptorPool(device->device, pool, NULL);
        return hs_device_error(device, r, "vkAllocateDescriptorSets");
    }
    s->pools[s->pool_count++] = pool;
    for (int i = 0; i < HS_SETS_PER_POOL; i++)
        s->sets[s->set_count++] = (struct hs_set){.set = made[i], .guide_set = guide_sets[i]};
    return 0;
}

static VkDescriptorImageInfo own_info(const struct hs_stream *s, int which)
{
    return (VkDescriptorImageInfo){
        .imageView = s->own[which].view,
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
    };
}

static void fill_images(const struct hs_stream *s, const struct hs_recording *rec,
                        const struct hs_set_key *key, VkDescriptorImageInfo *info)
{
    const uint32_t now = key->parity, before = !key->parity;
    const int colour = rec->wide ? HS_OWN_PREP_COLOUR_WIDE : HS_OWN_PREP_COLOUR;
    const int resolved = rec->finish ? HS_OWN_RESOLVED : HS_OWN_UNUSED;
    for (size_t i = 0; i < sizeof(input_planes) / sizeof(input_planes[0]); i++) {
        const struct hs_plane_use *use = &rec->planes[input_planes[i]];
        info[HS_BINDING_COLOUR + i] = own_info(s, HS_OWN_EMPTY);
        if (use->image)
            info[HS_BINDING_COLOUR + i] = hs_plane_info(use, input_planes[i]);
    }
    info[HS_BINDING_PREP_COLOUR] = own_info(s, colour);
    info[HS_BINDING_PREP_MOTION] = own_info(s, HS_OWN_PREP_MOTION);
    info[HS_BINDING_PREP_AUX] = own_info(s, HS_OWN_PREP_AUX);
    info[HS_BINDING_PREP_DEPTH] = own_info(s, HS_OWN_DEPTH + (int)now);
    info[HS_BINDING_PREV_DEPTH] = own_info(s, HS_OWN_DEPTH + (int)before);
    info[HS_BINDING_HISTORY_COLOUR] = own_info(s, HS_OWN_HISTORY_COLOUR + (int)before);
    info[HS_BINDING_HISTORY_AUX] = own_info(s, HS_OWN_HISTORY_AUX + (int)before);
    info[HS_BINDING_REPROJ_COLOUR] = own_info(s, HS_OWN_REPROJ_COLOUR);
    info[HS_BINDING_REPROJ_AUX] = own_info(s, HS_OWN_REPROJ_AUX);
    info[HS_BINDING_RESOLVED] = own_info(s, resolved);
    info[HS_BINDING_OUT_PREP_COLOUR] = own_info(s, colour);
    info[HS_BINDING_OUT_PREP_MOTION] = own_info(s, HS_OWN_PREP_MOTION);
    info[HS_BINDING_OUT_PREP_AUX] = own_info(s, HS_OWN_PREP_AUX);
    info[HS_BINDING_OUT_PREP_DEPTH] = own_info(s, HS_OWN_DEPTH + (int)now);
    info[HS_BINDING_OUT_HISTORY_COLOUR] = own_info(s, HS_OWN_HISTORY_COLOUR + (int)now);
    info[HS_BINDING_OUT_HISTORY_AUX] = own_info(s, HS_OWN_HISTORY_AUX + (int)now);
    info[HS_BINDING_OUT_REPROJ_COLOUR] = own_info(s, HS_OWN_REPROJ_COLOUR);
    info[HS_BINDING_OUT_REPROJ_AUX] = own_info(s, HS_OWN_REPROJ_AUX);
    info[HS_BINDING_OUT_RESOLVED] = own_info(s, resolved);
    info[HS_BINDING_OUTPUT] = hs_plane_info(&rec->planes[HS_PLANE_OUTPUT], HS_PLANE_OUTPUT);
}

static void write_set(struct hs_stream *s, const struct hs_recording *rec, struct hs_set *set)
{
    VkDescriptorImageInfo images[HS_BINDING_COUNT];
    VkWriteDescriptorSet writes[HS_BINDING_COUNT];
    fill_images(s, rec, &set->key, images);
    const VkDescriptorBufferInfo buffers[] = {
        {s->buffer.buffer, 0, sizeof(struct hs_frame_params)},
        {s->buffer.buffer, s->state_offset, sizeof(struct hs_state)},
    };
    for (uint32_t i = 0; i < HS_BINDING_COUNT; i++) {
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set->set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = hs_binding_type(i),
            .pImageInfo = &images[i],
            .pBufferInfo = &buffers[i <= HS_BINDING_STATE ? i : 0],
        };
    }
    s->device->vk.UpdateDescriptorSets(s->device->device, HS_BINDING_COUNT, writes, 0, NULL);
}

int hs_sets_find(struct hs_stream *s, struct hs_recording *rec)
{
    struct hs_set_key key;
    struct hs_set *spare = NULL;
    make_key(s, rec, &key);
    for (uint32_t i = 0; i < s->set_count; i++) {
        struct hs_set *set = &s->sets[i];
        if (!set->used) {
            spare = spare ? spare : set;
        } else if (!memcmp(&set->key, &key, sizeof(key))) {
            rec->set = set->set;
            rec->guide_set = set->guide_set;
            return 0;
        }
    }
    if (!spare) {
        uint32_t first = s->set_count;
        int err = grow(s);
        if (err)
            return err;
        spare = &s->sets[first];
    }
    spare->key = key;
    spare->used = true;
    write_set(s, rec, spare);
    if (rec->guides)
        hs_guides_write(s, rec, spare);
    rec->set = spare->set;
    rec->guide_set = spare->guide_set;
    return 0;
}

void hs_sets_forget(struct hs_stream *s, VkImageView view)
{
    for (uint32_t i = 0; i < s->set_count; i++) {
        struct hs_set *set = &s->sets[i];
        for (int p = 0; p < HS_PLANE_COUNT; p++) {
            if (!view || set->key.views[p] == (uint64_t)view)
                set->used = false;
        }
    }
}

void hs_sets_destroy(struct hs_stream *s)
{
    for (uint32_t i = 0; i < s->pool_count; i++)
        s->device->vk.DestroyDescriptorPool(s->device->device, s->pools[i], NULL);
    free(s->sets);
}
