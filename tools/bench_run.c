// SPDX-License-Identifier: MIT
// The run itself: a few sets of inputs on the device, frames recorded ahead of the GPU.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "bench.h"
#include "hsframe.h"
#include "hsmodel.h"
#include "report.h"
#include "vkdev.h"

/** Input sets in rotation, which is also how many frames are in flight at most. */
#define SETS 4
/** Motion of the made pattern, render pixels a frame. */
#define MOVE_X 1.5f
#define MOVE_Y -0.75f

struct set {
    struct vkdev_image planes[HSIO_PLANE_COUNT], output;
    struct hsio_frame *source;
    struct hs_camera camera;
    struct hs_frame frame;
    VkCommandBuffer cmd;
    uint64_t ticket;
    bool timed; ///< Its timestamps are those of a frame that counts.
};

struct run {
    struct bench *bench;
    struct vkdev dev;
    struct hs_device *device;
    struct hs_model *model;
    struct hs_stream *stream;
    struct hsio_sequence *seq;
    VkSemaphore timeline;
    VkQueryPool queries; ///< Two of each set, for whole frames.
    struct set sets[SETS];
    int set_count;
    uint64_t tickets;
    bool guides; ///< The model reads them.
};

/** Makes an image of a plane and fills it. */
static int upload(struct run *run, struct set *set, enum hsio_plane plane, enum hsio_format format,
                  int width, int height, const void *pixels)
{
    struct vkdev_image *image = &set->planes[plane];
    struct vkdev_buffer buffer = {0};
    VkCommandBuffer cmd;
    size_t bytes = (size_t)width * (size_t)height * hsio_format_bytes(format);
    int err =
        vkdev_image_create(&run->dev, hsframe_vk_format(format), (uint32_t)width, (uint32_t)height,
                           VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                               VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                           image);

    if (!err)
        err =
            vkdev_buffer_create(&run->dev, bytes, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, false, &buffer);
    if (!err) {
        memcpy(buffer.map, pixels, bytes);
        err = vkdev_begin(&run->dev, &cmd);
    }
    if (!err) {
        vkdev_image_barrier(cmd, image, VK_IMAGE_LAYOUT_UNDEFINED,
                            VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        vkCmdCopyBufferToImage(cmd, buffer.buffer, image->image,
                               VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1,
                               &(VkBufferImageCopy){
                                   .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                   .imageExtent = {(uint32_t)width, (uint32_t)height, 1},
                               });
        vkdev_image_barrier(cmd, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                            VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
        err = vkdev_submit_wait(&run->dev, cmd);
    }
    vkdev_buffer_destroy(&run->dev, &buffer);
    return err;
}

static float halton(int index, int base)
{
    float value = 0, part = 1;

    for (; index > 0; index /= base) {
        part /= (float)base;
        value += part * (float)(index % base);
    }
    return value;
}

/** Guides of the pattern: two materials, one of them smooth, on one plane. */
static int make_guides(struct run *run, struct set *set, const float *depth)
{
    static const enum hsio_plane planes[] = {HSIO_PLANE_DIFFUSE_ALBEDO, HSIO_PLANE_SPECULAR_ALBEDO,
                                             HSIO_PLANE_NORMAL, HSIO_PLANE_ROUGHNESS,
                                             HSIO_PLANE_HIT_DISTANCE};
    static const float values[][2][4] = {
        {{0.7f, 0.5f, 0.3f, 1}, {0.05f, 0.05f, 0.1f, 1}},
        {{0.04f, 0.04f, 0.04f, 1}, {0.6f, 0.6f, 0.5f, 1}},
        {{0, 0, 1, 1}, {0, 0, 1, 1}},
        {{0.8f}, {0.2f}},
        {{0}, {4}},
    };
    const int width = run->bench->render_size[0], height = run->bench->render_size[1];
    const size_t count = (size_t)width * (size_t)height;
    uint16_t *pixels = malloc(count * 4 * sizeof(*pixels));
    int err = pixels ? 0 : HS_ERR_NOMEM;

    for (int g = 0; !err && g < 5; g++) {
        const bool single = g > 2;
        const size_t channels = single ? 1 : 4;

        for (size_t i = 0; i < count * channels; i++)
            pixels[i] = hsio_float_to_half(values[g][depth[i / channels] < 6][i % channels]);
        err = upload(run, set, planes[g], single ? HSIO_FORMAT_R16F : HSIO_FORMAT_RGBA16F, width,
                     height, pixels);
    }
    free(pixels);
    return err;
}

/** A moving pattern with edges, in half floats; a plane in depth; motion to the frame before. */
static int make_set(struct run *run, struct set *set, int number)
{
    int width = run->bench->render_size[0], height = run->bench->render_size[1], err;
    size_t count = (size_t)width * (size_t)height;
    uint16_t *color = malloc(count * 4 * sizeof(*color));
    uint16_t *motion = malloc(count * 2 * sizeof(*motion));
    float *depth = malloc(count * sizeof(*depth));
    float jitter[2] = {halton(number + 1, 2) - 0.5f, halton(number + 1, 3) - 0.5f};

    if (!color || !motion || !depth) {
        err = HS_ERR_NOMEM;
        goto end;
    }
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            size_t i = (size_t)y * width + x;
            float u = (float)x + jitter[0] + MOVE_X * (float)number;
            float v = (float)y + jitter[1] + MOVE_Y * (float)number;
            bool tile = ((int)floorf(u / 13) + (int)floorf(v / 11)) & 1;

            color[4 * i] = hsio_float_to_half(0.5f + 0.5f * sinf(0.05f * u));
            color[4 * i + 1] = hsio_float_to_half(tile ? 0.8f : 0.1f);
            color[4 * i + 2] = hsio_float_to_half(0.5f + 0.5f * cosf(0.31f * v));
            color[4 * i + 3] = hsio_float_to_half(1);
            motion[2 * i] = hsio_float_to_half(MOVE_X);
            motion[2 * i + 1] = hsio_float_to_half(MOVE_Y);
            depth[i] = tile ? 5 : 8;
        }
    }
    set->frame = (struct hs_frame){.render_width = (uint32_t)width,
                                   .render_height = (uint32_t)height,
                                   .jitter = {jitter[0], jitter[1]}};
    err = upload(run, set, HSIO_PLANE_COLOR, HSIO_FORMAT_RGBA16F, width, height, color);
    if (!err)
        err = upload(run, set, HSIO_PLANE_DEPTH, HSIO_FORMAT_R32F, width, height, depth);
    if (!err)
        err = upload(run, set, HSIO_PLANE_MOTION, HSIO_FORMAT_RG16F, width, height, motion);
    if (!err && run->guides)
        err = make_guides(run, set, depth);
end:
    free(color);
    free(motion);
    free(depth);
    return err;
}

static int read_set(struct run *run, struct set *set, int index)
{
    const struct hsframe_options options = {.sharpness = -1};
    const struct hsio_frame_info *info;
    int err = hsio_frame_open(run->seq, index, &set->source);

    if (err < 0)
        return err;
    info = hsio_frame_info(set->source);
    err = hsframe_setup(info, &options, run->bench->size[0], run->bench->size[1], tool_log(),
                        &set->camera, &set->frame);
    for (int i = 0; !err && i < TOOL_USED_PLANES; i++) {
        enum hsio_plane p = tool_used_planes[i];
        const struct hsio_plane_info *plane = &info->planes[p];
        size_t bytes =
            (size_t)plane->width * (size_t)plane->height * hsio_format_bytes(plane->format);
        void *pixels;

        if (!plane->present || !tool_plane_used(run->guides, p))
            continue;
        pixels = malloc(bytes);
        if (!pixels)
            return HS_ERR_NOMEM;
        err = hsio_frame_read(
            set->source,
            &(struct hsio_plane_request){.plane = p, .buffer = pixels, .buffer_bytes = bytes}, 1);
        if (!err)
            err = upload(run, set, p, plane->format, plane->width, plane->height, pixels);
        free(pixels);
    }
    return err;
}

static struct hs_image borrow(const struct vkdev_image *image, VkImageLayout layout)
{
    return (struct hs_image){.image = image->image,
                             .view = image->view,
                             .format = image->format,
                             .layout = layout,
                             .usage = image->usage};
}

static int finish_set(struct run *run, struct set *set)
{
    const struct bench *bench = run->bench;
    VkResult r =
        vkAllocateCommandBuffers(run->dev.device,
                                 &(VkCommandBufferAllocateInfo){
                                     .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                     .commandPool = run->dev.pool,
                                     .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                     .commandBufferCount = 1,
                                 },
                                 &set->cmd);
    int err = vkdev_error(r);

    if (!err)
        err = vkdev_image_create(&run->dev, VK_FORMAT_R16G16B16A16_SFLOAT, (uint32_t)bench->size[0],
                                 (uint32_t)bench->size[1],
                                 VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                                 &set->output);
    for (int p = 0; p < HSIO_PLANE_COUNT; p++) {
        struct hs_image *image = hsframe_image(&set->frame, (enum hsio_plane)p);

        if (image && set->planes[p].image)
            *image = borrow(&set->planes[p], VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    }
    set->frame.output = borrow(&set->output, VK_IMAGE_LAYOUT_UNDEFINED);
    set->frame.exposure.mode = bench->auto_exposure ? HS_EXPOSURE_AUTO : HS_EXPOSURE_GIVEN;
    set->frame.exposure.value = (float)bench->exposure;
    // In rotation every frame follows another than the one it was made for; times do not care.
    set->frame.reset = false;
    return err;
}

static int open_input(struct run *run)
{
    struct bench *bench = run->bench;
    struct hsio_convention conv;
    struct hsio_sequence_info info = {0};
    int err = 0;

    run->set_count = SETS;
    if (bench->input) {
        err = hsio_convention_preset(&conv, bench->convention, tool_log());
        if (!err)
            err = hsio_sequence_open(bench->input, &conv, NULL, tool_log(), &run->seq);
        if (err < 0)
            return err;
        hsio_sequence_info(run->seq, &info);
        bench->render_size[0] = info.width;
        bench->render_size[1] = info.height;
        run->set_count = info.frame_count < SETS ? info.frame_count : SETS;
    }
    if (!bench->size[0]) {
        bench->size[0] = info.width ? 2 * info.width : 1920;
        bench->size[1] = info.width ? 2 * info.height : 1080;
    }
    if (!bench->render_size[0]) {
        bench->render_size[0] = (bench->size[0] + 1) / 2;
        bench->render_size[1] = (bench->size[1] + 1) / 2;
    }
    return 0;
}

static int open_stream(struct run *run)
{
    struct bench *bench = run->bench;
    uint32_t flags = bench->ldr ? (uint32_t)HS_STREAM_LDR : 0;
    int err;

    if (!bench->whole)
        flags |= HS_STREAM_TIMINGS;
    err = hs_stream_create(run->model,
                           &(struct hs_stream_params){
                               .out_width = (uint32_t)bench->size[0],
                               .out_height = (uint32_t)bench->size[1],
                               .max_render_width = (uint32_t)bench->render_size[0],
                               .max_render_height = (uint32_t)bench->render_size[1],
                               .flags = flags,
                               .bands = (uint32_t)bench->bands,
                           },
                           &run->stream);
    hs_stream_describe(run->stream, &bench->info);
    if (!err && bench->whole)
        err = vkdev_error(vkCreateQueryPool(run->dev.device,
                                            &(VkQueryPoolCreateInfo){
                                                .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                                .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                                .queryCount = 2 * SETS,
                                            },
                                            NULL, &run->queries));
    return err;
}

static int open_engine(struct run *run)
{
    struct bench *bench = run->bench;
    struct hs_model_info info;
    struct hs_model_params params = hsmodel_params(bench->model);
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    int err = vkdev_import(&run->dev, NULL, &run->device);

    params.path = (enum hs_path)bench->path;
    if (!err)
        err = hs_model_load(run->device, &params, &run->model);
    if (err < 0)
        return err;
    hs_model_describe(run->model, &info);
    run->guides = info.guides;
    snprintf(bench->about, sizeof(bench->about), "%s on %.150s, %s arithmetic", info.preset,
             run->dev.report.name, info.path == HS_PATH_MATRIX ? "matrix" : "plain");
    err = vkdev_error(vkCreateSemaphore(
        run->dev.device,
        &(VkSemaphoreCreateInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type},
        NULL, &run->timeline));
    if (err < 0)
        return err;
    return open_stream(run);
}

static int add_value(struct bench *bench, const char *name, double ms)
{
    struct bench_row *row = NULL;

    for (int i = 0; i < bench->stage_count; i++) {
        if (!strcmp(bench->stages[i].name, name))
            row = &bench->stages[i];
    }
    if (!row) {
        if (bench->stage_count == BENCH_MAX_ROWS)
            return HS_ERR_INTERNAL;
        row = &bench->stages[bench->stage_count];
        row->values = calloc((size_t)bench->frames, sizeof(*row->values));
        if (!row->values)
            return HS_ERR_NOMEM;
        snprintf(row->name, sizeof(row->name), "%s", name);
        bench->stage_count++;
    }
    if (row->count < bench->frames)
        row->values[row->count++] = ms;
    return 0;
}

/** Takes the time of a set's last frame, which has finished. */
static int collect_whole(struct run *run, struct set *set)
{
    VkPhysicalDeviceProperties properties;
    uint64_t values[2];
    int err;

    if (!set->timed)
        return 0;
    set->timed = false;
    vkGetPhysicalDeviceProperties(run->dev.physical_device, &properties);
    err = vkdev_error(vkGetQueryPoolResults(run->dev.device, run->queries,
                                            2 * (uint32_t)(set - run->sets), 2, sizeof(values),
                                            values, sizeof(*values), VK_QUERY_RESULT_64_BIT));
    if (err < 0)
        return err;
    return add_value(run->bench, "frame",
                     1e-6 * (double)(values[1] - values[0]) * properties.limits.timestampPeriod);
}

/** Starts or ends the time of a set's frame. */
static void stamp(struct run *run, struct set *set, bool end)
{
    const uint32_t first = 2 * (uint32_t)(set - run->sets);

    if (!run->queries)
        return;
    if (!end)
        vkCmdResetQueryPool(set->cmd, run->queries, first, 2);
    vkCmdWriteTimestamp2(set->cmd, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, run->queries, first + end);
}

/** Takes the times of all frames that have finished since the last call. */
static int collect(struct run *run)
{
    struct hs_stage_time times[HS_MAX_STAGES];
    uint64_t frame;
    int count, err = 0;

    for (int i = 0; !err && run->queries && i < run->set_count; i++) {
        uint64_t reached = 0;

        err = vkdev_error(vkGetSemaphoreCounterValue(run->dev.device, run->timeline, &reached));
        if (!err && reached >= run->sets[i].ticket)
            err = collect_whole(run, &run->sets[i]);
    }
    while (!err && !run->queries && (count = hs_stream_timings(run->stream, times, &frame)) > 0) {
        double sum = 0;

        if (frame < (uint64_t)run->bench->warm_up)
            continue;
        for (int i = 0; !err && i < count; i++) {
            err = add_value(run->bench, times[i].name, times[i].ms);
            sum += times[i].ms;
        }
        if (!err)
            err = add_value(run->bench, "frame", sum);
    }
    return err;
}

static int wait_for(struct run *run, uint64_t ticket)
{
    return vkdev_error(vkWaitSemaphores(run->dev.device,
                                        &(VkSemaphoreWaitInfo){
                                            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                            .semaphoreCount = 1,
                                            .pSemaphores = &run->timeline,
                                            .pValues = &ticket,
                                        },
                                        UINT64_MAX));
}

static int submit(struct run *run, struct set *set)
{
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = set->cmd};
    const VkSemaphoreSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = run->timeline,
        .value = ++run->tickets,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };

    set->ticket = run->tickets;
    return vkdev_error(vkQueueSubmit2(run->dev.queue, 1,
                                      &(VkSubmitInfo2){
                                          .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                          .commandBufferInfoCount = 1,
                                          .pCommandBufferInfos = &commands,
                                          .signalSemaphoreInfoCount = 1,
                                          .pSignalSemaphoreInfos = &signal,
                                      },
                                      VK_NULL_HANDLE));
}

static int run_frame(struct run *run, int number)
{
    struct set *set = &run->sets[number % run->set_count];
    double start;
    int err = wait_for(run, set->ticket);

    if (!err)
        err = collect(run);
    if (!err)
        err = vkdev_error(
            vkBeginCommandBuffer(set->cmd, &(VkCommandBufferBeginInfo){
                                               .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                               .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                                           }));
    if (err < 0)
        return err;
    stamp(run, set, false);
    start = tool_seconds();
    err = hs_stream_record(run->stream, &set->frame, set->cmd);
    if (!err && number >= run->bench->warm_up)
        err = add_value(run->bench, "cpu record", 1e3 * (tool_seconds() - start));
    stamp(run, set, true);
    set->timed = run->queries && number >= run->bench->warm_up;
    if (!err)
        err = vkdev_error(vkEndCommandBuffer(set->cmd));
    return err < 0 ? err : submit(run, set);
}

static void finish(struct run *run)
{
    vkDeviceWaitIdle(run->dev.device);
    hs_stream_destroy(&run->stream);
    hs_model_destroy(&run->model);
    hs_device_destroy(&run->device);
    for (int i = 0; i < run->set_count; i++) {
        for (int p = 0; p < HSIO_PLANE_COUNT; p++)
            vkdev_image_destroy(&run->dev, &run->sets[i].planes[p]);
        vkdev_image_destroy(&run->dev, &run->sets[i].output);
        hsio_frame_close(&run->sets[i].source);
    }
    vkDestroyQueryPool(run->dev.device, run->queries, NULL);
    vkDestroySemaphore(run->dev.device, run->timeline, NULL);
    vkdev_close(&run->dev);
    hsio_sequence_close(&run->seq);
}

int bench_run(struct bench *bench)
{
    struct run run = {.bench = bench};
    int err = open_input(&run);

    if (!err)
        err = vkdev_open(&run.dev, &(struct vkdev_params){.select = bench->device,
                                                          .validation = bench->validate,
                                                          .log = tool_log()});
    if (err < 0) {
        hsio_sequence_close(&run.seq);
        return err;
    }
    err = open_engine(&run);
    for (int i = 0; !err && i < run.set_count; i++) {
        err = run.seq ? read_set(&run, &run.sets[i], i) : make_set(&run, &run.sets[i], i);
        if (!err)
            err = finish_set(&run, &run.sets[i]);
    }
    for (int i = 0; !err && i < bench->warm_up + bench->frames; i++)
        err = run_frame(&run, i);
    if (!err)
        err = wait_for(&run, run.tickets);
    if (!err)
        err = collect(&run);
    if (!err && run.dev.messages) {
        tool_error("%u validation messages", run.dev.messages);
        err = HS_ERR_INTERNAL;
    }
    if (err < 0)
        tool_error("the benchmark failed: %s", hs_error_string(err));
    finish(&run);
    return err;
}
