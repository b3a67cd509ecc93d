// SPDX-License-Identifier: MIT
// What the passes that read guides need, and what a frame's planes are good for.
#include "guides.h"

#include "choose.h"
#include "stream.h"

#define IMAGES_IN (HS_BINDING_OUT_PREP_COLOUR - HS_BINDING_COLOUR + HS_BINDING_OUT_SIGNAL_A)
#define IMAGES_OUT                                                            \
    (HS_BINDING_COUNT - HS_BINDING_OUT_PREP_COLOUR + HS_BINDING_GUIDE_COUNT - \
     HS_BINDING_OUT_SIGNAL_A)

static VkDescriptorType binding_type(uint32_t binding)
{
    return binding < HS_BINDING_OUT_SIGNAL_A ? VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE
                                             : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
}

int hs_guides_layout(struct hs_model *model)
{
    struct hs_device *device = model->device;
    if (device->limits.maxPerStageDescriptorSampledImages < IMAGES_IN ||
        device->limits.maxPerStageDescriptorStorageImages < IMAGES_OUT) {
        hs_log_message(&device->log, HS_LOG_WARN,
                       "%s needs %d sampled and %d storage images a stage, %s has %u and %u%s",
                       model->name, IMAGES_IN, IMAGES_OUT, device->name,
                       device->limits.maxPerStageDescriptorSampledImages,
                       device->limits.maxPerStageDescriptorStorageImages,
                       model->replaceable ? "; " HS_CHOICE_PLAIN " takes over" : "");
        return HS_ERR_UNSUPPORTED;
    }
    const int err = hs_model_set_layout(model, 0, binding_type, &model->empty_layout);
    return err ? err
               : hs_model_set_layout(model, HS_BINDING_GUIDE_COUNT, binding_type,
                                     &model->guide_layout);
}

static int create_images(struct hs_stream *s)
{
    const uint32_t w = s->params.max_render_width, h = s->params.max_render_height;
    const VkFormat rgba = VK_FORMAT_R16G16B16A16_SFLOAT;
    static const char *const names[HS_GUIDE_COUNT] = {
        "signal A",      "signal B",      "albedo",    "traits",    "surface 0",    "surface 1",
        "accumulated 0", "accumulated 1", "moments 0", "moments 1", "middle signal"};
    struct hs_image_plan plan[HS_GUIDE_COUNT];
    // Only a network sees more of the filter's passes than the last.
    const int count = s->network ? HS_GUIDE_COUNT : HS_GUIDE_MIDDLE;
    for (int i = 0; i < count; i++)
        plan[i] = (struct hs_image_plan){
            .image = &s->guides[i],
            .name = names[i],
            .format = i == HS_GUIDE_TRAITS ? VK_FORMAT_R16G16_SFLOAT : rgba,
            .width = w,
            .height = h,
            .usage = HS_OWN_USAGE,
        };
    return hs_arena_create(s->device,
                           &(struct hs_arena_plan){.images = plan, .image_count = (uint32_t)count},
                           &s->guide_arena);
}

bool hs_guides_run(const struct hs_stream *s)
{
    return s->model->guides && !s->guides_failed;
}

int hs_guides_choose(struct hs_stream *s, struct hs_recording *rec)
{
    rec->network = s->network;
    if (!s->model->guides)
        return 0;
    // A cut tries again: it makes everything anew.
    if (!s->guide_arena.memory && (!s->guides_failed || rec->frame->reset)) {
        const int err = create_images(s);
        s->guides_failed = err;
        if (err) {
            hs_log_message(&s->device->log, HS_LOG_INFO,
                           "the planes of %s can not be made: frames go through taau up to the "
                           "next cut",
                           s->model->name);
            return err;
        }
    }
    rec->guides = !s->guides_failed;
    rec->network = s->network && rec->guides;
    for (int i = HS_PLANE_DIFFUSE; !rec->guides && i <= HS_PLANE_HIT; i++)
        rec->planes[i] = (struct hs_plane_use){0};
    return 0;
}

void hs_guides_write(const struct hs_stream *s, const struct hs_recording *rec,
                     const struct hs_set *set)
{
    const int now = (int)set->key.parity, before = !set->key.parity;
    const int middle = s->network ? HS_GUIDE_MIDDLE : HS_GUIDE_SIGNAL_B;
    const int own[HS_BINDING_GUIDE_COUNT] = {
        [HS_BINDING_SIGNAL_A] = HS_GUIDE_SIGNAL_A,
        [HS_BINDING_SIGNAL_B] = HS_GUIDE_SIGNAL_B,
        [HS_BINDING_MIDDLE] = middle,
        [HS_BINDING_ACCUMULATED] = HS_GUIDE_ACCUMULATED + now,
        [HS_BINDING_MOMENTS] = HS_GUIDE_MOMENTS + now,
        [HS_BINDING_ALBEDO] = HS_GUIDE_ALBEDO,
        [HS_BINDING_TRAITS] = HS_GUIDE_TRAITS,
        [HS_BINDING_SURFACE] = HS_GUIDE_SURFACE + now,
        [HS_BINDING_PREV_SURFACE] = HS_GUIDE_SURFACE + before,
        [HS_BINDING_PREV_ACCUMULATED] = HS_GUIDE_ACCUMULATED + before,
        [HS_BINDING_PREV_MOMENTS] = HS_GUIDE_MOMENTS + before,
        [HS_BINDING_OUT_SIGNAL_A] = HS_GUIDE_SIGNAL_A,
        [HS_BINDING_OUT_SIGNAL_B] = HS_GUIDE_SIGNAL_B,
        [HS_BINDING_OUT_MIDDLE] = middle,
        [HS_BINDING_OUT_ALBEDO] = HS_GUIDE_ALBEDO,
        [HS_BINDING_OUT_TRAITS] = HS_GUIDE_TRAITS,
        [HS_BINDING_OUT_SURFACE] = HS_GUIDE_SURFACE + now,
        [HS_BINDING_OUT_ACCUMULATED] = HS_GUIDE_ACCUMULATED + now,
        [HS_BINDING_OUT_MOMENTS] = HS_GUIDE_MOMENTS + now,
    };
    VkDescriptorImageInfo images[HS_BINDING_GUIDE_COUNT];
    VkWriteDescriptorSet writes[HS_BINDING_GUIDE_COUNT];
    for (uint32_t i = 0; i < HS_BINDING_GUIDE_COUNT; i++) {
        const struct hs_plane_use *use =
            i <= HS_BINDING_HIT ? &rec->planes[HS_PLANE_DIFFUSE + i] : NULL;
        if (use && use->image)
            images[i] = hs_plane_info(use, (enum hs_plane)(HS_PLANE_DIFFUSE + i));
        else
            images[i] = (VkDescriptorImageInfo){
                .imageView = use ? s->own[HS_OWN_EMPTY].view : s->guides[own[i]].view,
                .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
            };
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set->guide_set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = binding_type(i),
            .pImageInfo = &images[i],
        };
    }
    s->device->vk.UpdateDescriptorSets(s->device->device, HS_BINDING_GUIDE_COUNT, writes, 0, NULL);
}

void hs_guides_destroy(struct hs_stream *s)
{
    for (int i = 0; i < HS_GUIDE_COUNT; i++)
        hs_own_image_destroy(s->device, &s->guides[i]);
    hs_arena_destroy(s->device, &s->guide_arena);
}

int hs_stream_report(const struct hs_stream *s, const struct hs_frame *f,
                     struct hs_plane_report *rows)
{
    if (!s || !f || !rows)
        return HS_ERR_INVALID;
    const bool guided = hs_guides_run(s), packed = f->normal.view && f->guide_params.normal_packed;
    const struct hs_plane_report all[HS_REPORT_PLANES] = {
        {"depth", false, true, f->depth.view,
         guided ? "hidden points are told by colour only, noise is filtered across edges"
                : "no disocclusion test, no dilation of motion"},
        {"motion", false, true, f->motion.view,
         "motion comes from the camera where there is one, else nothing is taken to move"},
        {"reactive", false, true, f->reactive.view, "what moves without vectors may leave trails"},
        {"diffuse albedo", true, guided, f->diffuse_albedo.view,
         "textures are filtered with the noise and lose detail"},
        {"specular albedo", true, guided, f->specular_albedo.view,
         "metals and gloss keep noise in their textures, reflections move with surfaces"},
        {"normal", true, guided, f->normal.view, "light is filtered across creases and bumps"},
        {"roughness", true, guided, f->roughness.view || packed,
         "all surfaces count as rough: reflections are filtered across materials"},
        {"hit distance", true, guided, f->hit_distance.view,
         "reflections are followed as if they lay on their surface"},
        {"camera", false, true, f->camera,
         "unwritten motion has no history; reflections as without hit "
         "distance"},
    };
    for (int i = 0; i < HS_REPORT_PLANES; i++) {
        rows[i] = all[i];
        if (!rows[i].wanted || rows[i].present)
            rows[i].without = NULL;
    }
    return 0;
}
