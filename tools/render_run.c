// SPDX-License-Identifier: MIT
// Rendering: every worker builds, submits, waits for and writes clips of its own, so that the GPU
// has the other workers' clips to do while one of them is at the disk.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"
#include "render.h"
#include "report.h"
#include "vkdev.h"

const struct render_plane_about render_planes[RENDER_PLANES] = {
    {"colour", VK_FORMAT_R16G16B16A16_SFLOAT, HSIO_FORMAT_RGBA16F, 4, 8, HSIO_PLANE_COLOR, false},
    {"depth", VK_FORMAT_R32_SFLOAT, HSIO_FORMAT_R32F, 1, 4, HSIO_PLANE_DEPTH, true},
    {"motion", VK_FORMAT_R32G32_SFLOAT, HSIO_FORMAT_RG32F, 2, 8, HSIO_PLANE_MOTION, true},
    {"motion_next", VK_FORMAT_R32G32_SFLOAT, HSIO_FORMAT_RG32F, 2, 8, HSIO_PLANE_MOTION_NEXT, true},
    {"normal", VK_FORMAT_R16G16B16A16_SFLOAT, HSIO_FORMAT_RGBA16F, 4, 8, HSIO_PLANE_NORMAL, false},
    {"roughness", VK_FORMAT_R16_SFLOAT, HSIO_FORMAT_R16F, 1, 2, HSIO_PLANE_ROUGHNESS, false},
    {"diffuse_albedo", VK_FORMAT_R16G16B16A16_SFLOAT, HSIO_FORMAT_RGBA16F, 4, 8,
     HSIO_PLANE_DIFFUSE_ALBEDO, false},
    {"specular_albedo", VK_FORMAT_R16G16B16A16_SFLOAT, HSIO_FORMAT_RGBA16F, 4, 8,
     HSIO_PLANE_SPECULAR_ALBEDO, false},
    {"hit_distance", VK_FORMAT_R32_SFLOAT, HSIO_FORMAT_R32F, 1, 4, HSIO_PLANE_HIT_DISTANCE, true},
    {"alpha", VK_FORMAT_R16_SFLOAT, HSIO_FORMAT_R16F, 1, 2, HSIO_PLANE_REACTIVE, false},
    {"reference", VK_FORMAT_R16G16B16A16_SFLOAT, HSIO_FORMAT_RGBA16F, 4, 8, HSIO_PLANE_COLOR,
     false},
};

struct run {
    const struct render_request *request;
    struct vkdev dev;
    struct hs_scenes *scenes;
    pthread_mutex_t lock;  // of what follows
    pthread_mutex_t queue; // of the Vulkan queue
    uint32_t next;
    uint32_t frames_done;
    uint32_t kept; // clips that were there already
    int err;
};

struct worker {
    struct run *run;
    pthread_t thread;
    bool started;
    VkCommandPool pool;
    VkCommandBuffer cmd;
    VkFence fence;
    struct vkdev_image images[RENDER_CHUNK][RENDER_PLANES];
    struct vkdev_buffer buffers[RENDER_PLANES];
    struct hs_clip_info *infos; // of a whole clip
};

static void plane_size(const struct hs_clip_params *p, int plane, uint32_t *width, uint32_t *height)
{
    *width = plane == RENDER_REFERENCE ? p->width : p->render_width;
    *height = plane == RENDER_REFERENCE ? p->height : p->render_height;
}

/** Images stay in GENERAL; a fence keeps each use apart from the one before. */
static int worker_prepare(struct worker *w)
{
    VkCommandBuffer cmd;
    const int err = vkdev_begin(&w->run->dev, &cmd);
    for (int k = 0; !err && k < RENDER_CHUNK; k++) {
        for (int i = 0; i < RENDER_PLANES; i++) {
            if (w->images[k][i].image)
                vkdev_image_barrier(cmd, &w->images[k][i], VK_IMAGE_LAYOUT_UNDEFINED,
                                    VK_IMAGE_LAYOUT_GENERAL);
        }
    }
    return err ? err : vkdev_submit_wait(&w->run->dev, cmd);
}

static int worker_create(struct worker *w, const struct hs_clip_params *p)
{
    struct vkdev *dev = &w->run->dev;
    const struct render_request *r = w->run->request;
    VkResult result = vkCreateCommandPool(
        dev->device,
        &(VkCommandPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                   .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                   .queueFamilyIndex = dev->queue_family},
        NULL, &w->pool);
    if (!result)
        result = vkAllocateCommandBuffers(
            dev->device,
            &(VkCommandBufferAllocateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .commandPool = w->pool,
                                           .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                           .commandBufferCount = 1},
            &w->cmd);
    if (!result)
        result = vkCreateFence(dev->device,
                               &(VkFenceCreateInfo){.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO},
                               NULL, &w->fence);
    if (result) {
        tool_error("creating Vulkan objects failed (VkResult %d)", (int)result);
        return vkdev_error(result);
    }
    const uint32_t frames = p->frame_count < RENDER_CHUNK ? p->frame_count : RENDER_CHUNK;
    int err = 0;
    for (int i = 0; !err && i < RENDER_PLANES; i++) {
        uint32_t width, height;
        plane_size(p, i, &width, &height);
        if (!r->mask[i])
            continue;
        for (uint32_t k = 0; !err && k < frames; k++)
            err = vkdev_image_create(dev, render_planes[i].format, width, height,
                                     VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                                     &w->images[k][i]);
        if (!err && r->format != RENDER_NOTHING)
            err = vkdev_buffer_create(
                dev, (VkDeviceSize)frames * width * height * render_planes[i].bytes,
                VK_BUFFER_USAGE_TRANSFER_DST_BIT, true, &w->buffers[i]);
    }
    w->infos = calloc(p->frame_count, sizeof(*w->infos));
    if (!err)
        err = w->infos ? worker_prepare(w) : HS_ERR_NOMEM;
    return err;
}

static void worker_destroy(struct worker *w)
{
    struct vkdev *dev = &w->run->dev;
    for (int i = 0; i < RENDER_PLANES; i++) {
        for (int k = 0; k < RENDER_CHUNK; k++)
            vkdev_image_destroy(dev, &w->images[k][i]);
        vkdev_buffer_destroy(dev, &w->buffers[i]);
    }
    if (w->fence)
        vkDestroyFence(dev->device, w->fence, NULL);
    if (w->pool)
        vkDestroyCommandPool(dev->device, w->pool, NULL);
    free(w->infos);
}

static void record_readback(struct worker *w, const struct hs_clip_params *p, uint32_t count)
{
    const struct render_request *r = w->run->request;
    vkCmdPipelineBarrier2(
        w->cmd, &(VkDependencyInfo){.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                    .memoryBarrierCount = 1,
                                    .pMemoryBarriers = &(VkMemoryBarrier2){
                                        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                        .srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                        .srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                                        .dstStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                        .dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT}});
    for (int i = 0; i < RENDER_PLANES; i++) {
        uint32_t width, height;
        plane_size(p, i, &width, &height);
        for (uint32_t k = 0; r->mask[i] && k < count; k++)
            vkCmdCopyImageToBuffer(
                w->cmd, w->images[k][i].image, VK_IMAGE_LAYOUT_GENERAL, w->buffers[i].buffer, 1,
                &(VkBufferImageCopy){.bufferOffset =
                                         (VkDeviceSize)k * width * height * render_planes[i].bytes,
                                     .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                     .imageExtent = {width, height, 1}});
    }
    vkCmdPipelineBarrier2(w->cmd,
                          &(VkDependencyInfo){.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                              .memoryBarrierCount = 1,
                                              .pMemoryBarriers = &(VkMemoryBarrier2){
                                                  .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                                  .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                                  .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                                  .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
                                                  .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT}});
}

static int record(struct worker *w, struct hs_clip *clip, uint32_t first, uint32_t count)
{
    const bool next = w->run->request->mask[RENDER_MOTION_NEXT];
    struct hs_clip_job jobs[2 * RENDER_CHUNK];
    bool any = false;
    for (int i = 0; i < RENDER_PLANES; i++)
        any = any || (i != RENDER_MOTION_NEXT && w->run->request->mask[i]);
    for (uint32_t k = 0; k < count; k++) {
        const struct vkdev_image *m = w->images[k];
        jobs[k] = (struct hs_clip_job){
            .frame = first + k,
            .planes = {m[RENDER_COLOUR].view, m[RENDER_DEPTH].view, m[RENDER_MOTION].view,
                       m[RENDER_NORMAL].view, m[RENDER_ROUGHNESS].view, m[RENDER_DIFFUSE].view,
                       m[RENDER_SPECULAR].view, m[RENDER_HIT_DISTANCE].view, m[RENDER_ALPHA].view,
                       m[RENDER_REFERENCE].view},
        };
    }
    for (uint32_t k = 0; next && k < count; k++)
        jobs[any * count + k] =
            (struct hs_clip_job){.frame = first + k,
                                 .next = true,
                                 .planes.motion = w->images[k][RENDER_MOTION_NEXT].view};
    return hs_clip_record(clip, jobs, (any + next) * count, w->cmd);
}

/** Renders some frames and waits for them. */
static int render_chunk(struct worker *w, struct hs_clip *clip, uint32_t first, uint32_t count)
{
    struct vkdev *dev = &w->run->dev;
    VkResult result = vkBeginCommandBuffer(
        w->cmd, &(VkCommandBufferBeginInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT});
    int err = result ? vkdev_error(result) : record(w, clip, first, count);
    if (!err && w->run->request->format != RENDER_NOTHING)
        record_readback(w, hs_clip_settings(clip), count);
    if (!result)
        result = vkEndCommandBuffer(w->cmd);
    if (err || result)
        return err ? err : vkdev_error(result);
    const VkSubmitInfo2 submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos =
            &(VkCommandBufferSubmitInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                         .commandBuffer = w->cmd},
    };
    pthread_mutex_lock(&w->run->queue);
    result = vkQueueSubmit2(dev->queue, 1, &submit, w->fence);
    pthread_mutex_unlock(&w->run->queue);
    if (!result)
        result = vkWaitForFences(dev->device, 1, &w->fence, VK_TRUE, UINT64_MAX);
    if (!result)
        result = vkResetFences(dev->device, 1, &w->fence);
    if (result)
        tool_error("rendering failed (VkResult %d)", (int)result);
    return result ? vkdev_error(result) : 0;
}

static int write_chunk(struct worker *w, const struct hs_clip_params *settings, uint64_t seed,
                       uint32_t first, uint32_t count, const char *folder, struct render_pack *pack)
{
    const struct render_request *r = w->run->request;
    struct render_result result = {.request = r,
                                   .settings = settings,
                                   .seed = seed,
                                   .first = first,
                                   .count = count,
                                   .clip_infos = w->infos};
    memcpy(result.infos, w->infos + first, count * sizeof(*w->infos));
    for (int i = 0; i < RENDER_PLANES; i++)
        result.planes[i] = w->buffers[i].map;
    if (pack)
        return render_pack_add(pack, &result);
    return r->format == RENDER_NOTHING ? 0 : render_write_frames(&result, folder);
}

static int render_clip(struct worker *w, uint64_t seed)
{
    struct run *run = w->run;
    const struct render_request *r = run->request;
    struct hs_clip_params params = r->params;
    struct hs_clip *clip = NULL;
    struct render_pack *pack = NULL;
    char folder[1024] = "";
    bool there = false;
    params.seed = seed;
    params.frames_in_flight = r->mask[RENDER_MOTION_NEXT] ? 2 * RENDER_CHUNK : RENDER_CHUNK;
    int err = hs_clip_create(run->scenes, &params, &clip);
    if (err)
        return err;
    const struct hs_clip_params *settings = hs_clip_settings(clip);
    if (r->format == RENDER_PACK) {
        err = render_pack_open(r, settings, seed, &pack);
        there = !err && !pack;
    } else if (r->format != RENDER_NOTHING) {
        err = render_folder(r, settings, seed, folder, sizeof(folder), &there);
    }
    if (there) {
        pthread_mutex_lock(&run->lock);
        run->kept++;
        pthread_mutex_unlock(&run->lock);
        goto done;
    }
    for (uint32_t i = 0; i < settings->frame_count; i++)
        hs_clip_frame(clip, i, &w->infos[i]);
    for (uint32_t first = 0; !err && first < settings->frame_count; first += RENDER_CHUNK) {
        const uint32_t left = settings->frame_count - first;
        const uint32_t count = left < RENDER_CHUNK ? left : RENDER_CHUNK;
        err = render_chunk(w, clip, first, count);
        if (!err)
            err = write_chunk(w, settings, seed, first, count, folder, pack);
        if (!err && tool_interrupted())
            err = HS_ERR_IO;
        pthread_mutex_lock(&run->lock);
        run->frames_done += err ? 0 : count;
        pthread_mutex_unlock(&run->lock);
    }
    if (pack)
        err = render_pack_close(&pack, err);
    else if (!err && r->format != RENDER_NOTHING)
        err = render_write_json(r, settings, seed, w->infos, settings->frame_count, folder);
done:
    hs_clip_destroy(&clip);
    return err;
}

static void *work(void *priv)
{
    struct worker *w = priv;
    struct run *run = w->run;
    for (;;) {
        pthread_mutex_lock(&run->lock);
        const bool stop = run->err || tool_interrupted() || run->next == run->request->seed_count;
        const uint32_t index = stop ? 0 : run->next++;
        pthread_mutex_unlock(&run->lock);
        if (stop)
            return NULL;
        const uint64_t seed = run->request->seeds[index];
        const int err = render_clip(w, seed);
        pthread_mutex_lock(&run->lock);
        if (err && !tool_interrupted()) {
            if (!run->err)
                tool_error("seed %llu: %s", (unsigned long long)seed, hs_error_string(err));
            run->err = err;
        }
        pthread_mutex_unlock(&run->lock);
    }
}

static int run_workers(struct run *run, const struct hs_clip_params *settings)
{
    const struct render_request *r = run->request;
    const int jobs = (uint32_t)r->jobs < r->seed_count ? r->jobs : (int)r->seed_count;
    struct worker *workers = calloc((size_t)jobs, sizeof(*workers));
    int err = workers ? 0 : HS_ERR_NOMEM;
    for (int i = 0; !err && i < jobs; i++) {
        workers[i].run = run;
        err = worker_create(&workers[i], settings);
    }
    const double start = tool_seconds();
    for (int i = 0; !err && i < jobs; i++) {
        workers[i].started = !pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        if (!workers[i].started && i == 0)
            err = HS_ERR_NOMEM;
    }
    for (int i = 0; workers && i < jobs; i++) {
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
    }
    const double seconds = tool_seconds() - start;
    if (!err && !run->err && !tool_interrupted())
        tool_info("%u clips, %u frames in %.2f s: %.0f frames a minute", r->seed_count - run->kept,
                  run->frames_done, seconds, 60 * run->frames_done / seconds);
    if (!err && !run->err && run->kept)
        tool_warn("%u of %u clips were there already and stay; --overwrite makes them again",
                  run->kept, r->seed_count);
    for (int i = 0; workers && i < jobs && workers[i].run; i++)
        worker_destroy(&workers[i]);
    free(workers);
    return err ? err : run->err;
}

int render_run(const struct render_request *request)
{
    struct run run = {
        .request = request, .lock = PTHREAD_MUTEX_INITIALIZER, .queue = PTHREAD_MUTEX_INITIALIZER};
    struct hs_clip *probe = NULL;
    struct hs_clip_params first = request->params;
    int err = vkdev_open(&run.dev, &(struct vkdev_params){.select = request->device,
                                                          .validation = request->validate,
                                                          .log = tool_log()});
    if (err)
        return err;
    err =
        hs_scenes_create(&(struct hs_scenes_params){.get_instance_proc_addr = vkGetInstanceProcAddr,
                                                    .instance = run.dev.instance,
                                                    .physical_device = run.dev.physical_device,
                                                    .device = run.dev.device,
                                                    .log = tool_log()},
                         &run.scenes);
    first.seed = request->seeds[0];
    if (!err)
        err = hs_clip_create(run.scenes, &first, &probe);
    if (!err)
        err = run_workers(&run, hs_clip_settings(probe));
    hs_clip_destroy(&probe);
    hs_scenes_destroy(&run.scenes);
    const uint32_t messages = run.dev.messages;
    vkdev_close(&run.dev);
    if (!err && messages) {
        tool_error("%u validation messages", messages);
        err = HS_ERR_INTERNAL;
    }
    return err;
}
