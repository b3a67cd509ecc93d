// SPDX-License-Identifier: MIT
#include "clip.h"

#include <stdlib.h>
#include <string.h>

#define NEAR_Z 0.05
#define FAR_Z 1000.0
#define MAX_MESH_INDICES (1u << 22)

static int invalid(const struct hs_scenes *scenes, const char *what)
{
    hs_log_message(scenes->log, HS_LOG_ERROR, "scenes: %s", what);
    return HS_ERR_INVALID;
}

static void set_defaults(struct hs_clip_params *p)
{
    p->pattern = p->pattern ? p->pattern : "random";
    p->frame_count = p->frame_count ? p->frame_count : 8;
    if (!p->render_width && !p->render_height) {
        p->render_width = 320;
        p->render_height = 180;
    }
    if (!p->width && !p->height) {
        p->width = 2 * p->render_width;
        p->height = 2 * p->render_height;
    }
    if (!p->scene_width && !p->scene_height) {
        p->scene_width = p->render_width;
        p->scene_height = p->render_height;
    }
    const bool direct = p->mode == HS_SCENES_DIRECT;
    if (direct && p->filter == HS_SCENES_FILTER_POINT)
        p->spp = 1;
    p->spp = p->spp ? p->spp : direct ? 16 : 4;
    p->reference_spp = p->reference_spp ? p->reference_spp : direct ? 16 : 256;
    p->firefly_gain = p->firefly_gain != 0 ? p->firefly_gain : 50;
    p->hit_limit = p->hit_limit != 0 ? p->hit_limit : 0.5f;
    p->speed = p->speed != 0 ? p->speed : 1;
    p->frames_in_flight = p->frames_in_flight ? p->frames_in_flight : 3;
}

static int check_mesh(const struct hs_scenes *scenes, const struct hs_scenes_mesh *m)
{
    if (!m)
        return 0;
    if (!m->positions || !m->indices || !m->vertex_count || m->index_count < 3 ||
        m->index_count % 3 || m->index_count > MAX_MESH_INDICES)
        return invalid(scenes, "the mesh has no triangles, or too many");
    for (uint32_t i = 0; i < m->index_count; i++) {
        if (m->indices[i] >= m->vertex_count)
            return invalid(scenes, "an index of the mesh is out of range");
    }
    for (size_t i = 0; i < 3 * (size_t)m->vertex_count; i++) {
        if (!isfinite(m->positions[i]))
            return invalid(scenes, "a position of the mesh is not finite");
        if (m->normals && !isfinite(m->normals[i]))
            return invalid(scenes, "a normal of the mesh is not finite");
    }
    return 0;
}

const char *hs_scenes_filter_name(enum hs_scenes_filter filter)
{
    return filter == HS_SCENES_FILTER_BOX               ? "box"
           : filter == HS_SCENES_FILTER_BLACKMAN_HARRIS ? "blackman-harris"
                                                        : "point";
}

static int check(const struct hs_scenes *scenes, const struct hs_clip_params *p)
{
    if (p->render_width < 8 || p->render_height < 8 || p->render_width > 16384 ||
        p->render_height > 16384)
        return invalid(scenes, "render size must be 8 to 16384");
    if (p->width < p->render_width || p->height < p->render_height || p->width > 16384 ||
        p->height > 16384)
        return invalid(scenes, "output size must be render size to 16384");
    if (p->scene_width < 8 || p->scene_height < 8 || p->scene_width > 16384 ||
        p->scene_height > 16384)
        return invalid(scenes, "scene size must be 8 to 16384");
    if (p->mode != HS_SCENES_DIRECT && p->mode != HS_SCENES_PATH)
        return invalid(scenes, "mode must be direct or path");
    if (p->spp > 65536 || p->reference_spp > 65536)
        return invalid(scenes, "samples a pixel must be 1 to 65536");
    if (!(p->fireflies >= 0 && p->fireflies <= 1) || !(p->firefly_gain > 0) ||
        !isfinite(p->firefly_gain))
        return invalid(scenes, "fireflies must be 0 to 1 and their gain positive");
    if ((unsigned)p->filter > HS_SCENES_FILTER_BLACKMAN_HARRIS)
        return invalid(scenes, "filter must be point, box or Blackman-Harris");
    if ((unsigned)p->specular > HS_SCENES_SPECULAR_METAL_WHITE)
        return invalid(scenes, "unknown kind of specular albedo");
    if (!(p->hit_limit > 0 && p->hit_limit <= 1))
        return invalid(scenes, "hit_limit must be above 0, 1 at most");
    if (!isfinite(p->speed) || p->speed < 0 || p->speed > 100)
        return invalid(scenes, "speed must be above 0, 100 at most");
    if (p->frames_in_flight > 64)
        return invalid(scenes, "frames_in_flight must be 1 to 64");
    const struct hs_scenes_environment *e = p->environment;
    if (e && (!e->pixels || !e->width || !e->height || e->width > 16384 || e->height > 8192))
        return invalid(scenes, "the environment has no pixels, or too many");
    for (size_t i = 0; e && i < 3 * (size_t)e->width * e->height; i++) {
        if (!(e->pixels[i] >= 0) || !isfinite(e->pixels[i]))
            return invalid(scenes, "the environment has values that are negative or not finite");
    }
    return check_mesh(scenes, p->mesh);
}

/** The picture is all the light from outside; direct mode knows the means of its halves. */
static void surround(struct sky *sky, const struct hs_scenes_environment *e)
{
    double sum[2][4] = {{0}};
    for (uint32_t y = 0; y < e->height; y++) {
        const double weight = sin(3.14159265 * (y + 0.5) / e->height);
        double *half = sum[2 * y >= e->height];
        for (uint32_t x = 0; x < e->width; x++) {
            for (uint32_t k = 0; k < 3; k++)
                half[k] += weight * e->pixels[3 * ((size_t)y * e->width + x) + k];
            half[3] += weight;
        }
    }
    struct vec3 means[2];
    for (int i = 0; i < 2; i++) {
        const double k = sum[i][3] > 0 ? 1 / sum[i][3] : 0;
        means[i] = v3((float)(sum[i][0] * k), (float)(sum[i][1] * k), (float)(sum[i][2] * k));
    }
    sky->ambient_up = means[0];
    sky->ambient_down = means[1];
    sky->sun_radiance = v3(0, 0, 0);
    sky->fog_density = 0;
}

static int create_scratch(struct hs_clip *c)
{
    const struct scene *s = &c->scene;
    uint32_t vertices = 1;
    for (uint32_t i = 0; i < s->mesh_count; i++) {
        if (s->meshes[i].deform != DEFORM_NONE && s->meshes[i].vertex_count > vertices)
            vertices = s->meshes[i].vertex_count;
    }
    c->now = calloc(s->node_count, sizeof(*c->now));
    c->old = calloc(s->node_count, sizeof(*c->old));
    c->boxes = calloc(s->item_count, sizeof(*c->boxes));
    c->order = calloc(s->item_count, sizeof(*c->order));
    c->nodes = calloc(2 * (size_t)s->item_count, sizeof(*c->nodes));
    c->positions = calloc(vertices, sizeof(*c->positions));
    c->sets = calloc(2 * (size_t)c->params.frames_in_flight, sizeof(VkDescriptorSet));
    return c->now && c->old && c->boxes && c->order && c->nodes && c->positions && c->sets
               ? 0
               : HS_ERR_NOMEM;
}

static int create_sets(struct hs_clip *c)
{
    const struct hs_scenes *s = c->scenes;
    const uint32_t count = 2 * c->params.frames_in_flight;
    const VkDescriptorPoolSize sizes[2] = {
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 * count},
        {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, SCENE_PLANE_COUNT * count},
    };
    VkResult result = s->CreateDescriptorPool(
        s->device,
        &(VkDescriptorPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                      .maxSets = count,
                                      .poolSizeCount = 2,
                                      .pPoolSizes = sizes},
        NULL, &c->pool);
    for (uint32_t i = 0; !result && i < count; i++) {
        result = s->AllocateDescriptorSets(
            s->device,
            &(VkDescriptorSetAllocateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                           .descriptorPool = c->pool,
                                           .descriptorSetCount = 1,
                                           .pSetLayouts = &s->set_layout},
            &c->sets[i]);
    }
    return result ? scenes_error(s, result, "creating descriptor sets") : 0;
}

static VkDeviceSize sum_size(const struct hs_clip *c)
{
    const struct hs_clip_params *p = &c->params;
    VkDeviceSize pixels = 0;
    if (c->reference_passes > 1)
        pixels = (VkDeviceSize)p->width * p->height;
    else if (c->input_passes > 1)
        pixels = (VkDeviceSize)p->render_width * p->render_height;
    const VkDeviceSize align = c->scenes->limits.minStorageBufferOffsetAlignment;
    return (16 * (pixels ? pixels : 1) + align - 1) / align * align;
}

static int create_buffers(struct hs_clip *c)
{
    const uint64_t units = c->fixed_units + (uint64_t)c->slot.units * c->params.frames_in_flight;
    const VkDeviceSize size = 16 * units;
    if (units / 2 > 0xffffff || size > c->scenes->limits.maxStorageBufferRange) {
        hs_log_message(c->scenes->log, HS_LOG_ERROR, "scenes: the scene is too large");
        return HS_ERR_NOMEM;
    }
    int err = buffer_create(c->scenes, size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, true, &c->staging);
    if (err)
        return err;
    err = buffer_create(c->scenes, size,
                        VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                        false, &c->data);
    if (err)
        return err;
    // Input and reference of a slot run at the same time, so each has its own sums.
    return buffer_create(c->scenes, sum_size(c) * 2 * c->params.frames_in_flight,
                         VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, false, &c->sum);
}

int hs_clip_create(struct hs_scenes *scenes, const struct hs_clip_params *params,
                   struct hs_clip **clip)
{
    if (!scenes || !params || !clip)
        return HS_ERR_INVALID;
    struct hs_clip *c = calloc(1, sizeof(*c));
    if (!c)
        return HS_ERR_NOMEM;
    c->scenes = scenes;
    c->params = *params;
    set_defaults(&c->params);
    int err = check(scenes, &c->params);
    if (err)
        goto error;
    err = scene_build(&c->scene, &c->params, scenes->log);
    if (err)
        goto error;
    if (c->params.environment)
        surround(&c->scene.sky, c->params.environment);
    c->input_passes = (c->params.spp + SAMPLES_PER_PASS - 1) / SAMPLES_PER_PASS;
    c->reference_passes = (c->params.reference_spp + SAMPLES_PER_PASS - 1) / SAMPLES_PER_PASS;
    pack_layout(c);
    err = create_scratch(c);
    if (!err)
        err = create_buffers(c);
    if (!err)
        err = create_sets(c);
    if (err)
        goto error;
    pack_fixed(c, c->staging.map);
    c->environment_width = c->params.environment ? c->params.environment->width : 0;
    c->environment_height = c->params.environment ? c->params.environment->height : 0;
    c->params.pattern = scene_pattern_name(c->params.pattern);
    c->params.mesh = NULL;
    c->params.environment = NULL;
    *clip = c;
    return 0;
error:
    hs_clip_destroy(&c);
    return err;
}

void hs_clip_destroy(struct hs_clip **clip)
{
    struct hs_clip *c = clip ? *clip : NULL;
    if (!c)
        return;
    c->scenes->DestroyDescriptorPool(c->scenes->device, c->pool, NULL);
    buffer_destroy(c->scenes, &c->staging);
    buffer_destroy(c->scenes, &c->data);
    buffer_destroy(c->scenes, &c->sum);
    scene_finish(&c->scene);
    free(c->now);
    free(c->old);
    free(c->boxes);
    free(c->order);
    free(c->nodes);
    free(c->positions);
    free(c->sets);
    free(c);
    *clip = NULL;
}

const struct hs_clip_params *hs_clip_settings(const struct hs_clip *clip)
{
    return &clip->params;
}

static float halton(uint32_t index, uint32_t base)
{
    float f = 1, r = 0;
    for (; index; index /= base) {
        f /= (float)base;
        r += f * (float)(index % base);
    }
    return r;
}

/** Enough phases for eight samples in every output pixel. */
static uint32_t jitter_phases(const struct hs_clip_params *p)
{
    const double x = (double)p->width / p->render_width, y = (double)p->height / p->render_height;
    return (uint32_t)ceil(8.0 * x * y - 1e-6);
}

static void jitter_of(const struct hs_clip_params *p, uint32_t frame, float jitter[2])
{
    const uint32_t phase = frame % jitter_phases(p) + 1;
    jitter[0] = p->no_jitter ? 0 : halton(phase, 2) - 0.5f;
    jitter[1] = p->no_jitter ? 0 : halton(phase, 3) - 0.5f;
}

static void camera_of(const struct view *v, struct hs_clip_camera *out)
{
    const struct vec3 rows[3] = {v->right, v->up, mul(v->forward, -1)};
    *out = (struct hs_clip_camera){.world_to_view = {[15] = 1}};
    for (int i = 0; i < 3; i++) {
        out->world_to_view[4 * i] = rows[i].x;
        out->world_to_view[4 * i + 1] = rows[i].y;
        out->world_to_view[4 * i + 2] = rows[i].z;
        out->world_to_view[4 * i + 3] =
            -((double)rows[i].x * v->eye.x + (double)rows[i].y * v->eye.y +
              (double)rows[i].z * v->eye.z);
    }
    out->view_to_clip[0] = 1.0 / v->tan_x;
    out->view_to_clip[5] = 1.0 / v->tan_y;
    out->view_to_clip[10] = -(FAR_Z + NEAR_Z) / (FAR_Z - NEAR_Z);
    out->view_to_clip[11] = -2.0 * FAR_Z * NEAR_Z / (FAR_Z - NEAR_Z);
    out->view_to_clip[14] = -1;
}

int hs_clip_frame(const struct hs_clip *clip, uint32_t frame, struct hs_clip_info *info)
{
    if (!clip || !info)
        return HS_ERR_INVALID;
    const struct hs_clip_params *p = &clip->params;
    const float t = p->still ? 0 : (float)frame * p->speed;
    struct view now, old;
    *info = (struct hs_clip_info){
        .jitter_phases = jitter_phases(p),
        .exposure = clip->scene.exposure,
        .near_z = (float)NEAR_Z,
        .far_z = (float)FAR_Z,
    };
    const struct shot *shot = pose_shot(&clip->scene, p->still ? 0 : frame, &info->reset);
    info->reset = info->reset && (frame == 0 || !p->still);
    jitter_of(p, frame, info->jitter);
    pose_view(&clip->scene, shot, t, &now);
    pose_view(&clip->scene, shot, p->still ? 0 : t - p->speed, &old);
    camera_of(&now, &info->camera);
    camera_of(&old, &info->previous_camera);
    return 0;
}
