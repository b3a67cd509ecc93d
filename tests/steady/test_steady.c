// SPDX-License-Identifier: MIT
// Steady-state recording creates nothing; a failure in each creating call is reported and leaves
// nothing behind; a lost device stays lost.
#include <unistd.h>

#include "fixture.h"
#include "model_file.h"
#include "shim.h"
#include "tests/test.h"

#define TEXTURE_SETS 3

/** A model file of random weights; removed again by its user. */
static void write_model(struct test_rng *rng, const struct fx_model_config *config, char path[64])
{
    struct fx_model_file file = fx_model_file_make(rng, config);
    snprintf(path, 64, "hs-steady-%ld.safetensors", (long)getpid());
    fx_model_file_write(&file, path);
    fx_model_file_finish(&file);
}

/** Two AOVs, which share an input; `out` has an image for each. */
static void add_aovs(struct hs_frame *frame, const struct fx_planes *planes,
                     const struct vkdev_image out[2], struct hs_aov aovs[2])
{
    for (int i = 0; i < 2; i++)
        aovs[i] = (struct hs_aov){
            fx_plane(&planes->colour, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL),
            fx_plane(&out[i], VK_IMAGE_LAYOUT_GENERAL), i ? HS_AOV_DATA : HS_AOV_LIGHT};
    frame->aovs = aovs;
    frame->aov_count = 2;
}

static void make_aov_images(struct fixture *fx, struct vkdev_image out[2])
{
    for (int i = 0; i < 2; i++)
        out[i] = fx_image(fx, VK_FORMAT_R16G16B16A16_SFLOAT, 96, 80, VK_IMAGE_USAGE_STORAGE_BIT,
                          VK_IMAGE_LAYOUT_GENERAL, NULL);
}

// Those of the first frames stay; a frame without them, or one with others, builds nothing.
static void steady_aovs(struct test_rng *rng)
{
    (void)rng;
    struct fixture fx;
    struct fx_planes planes;
    struct vkdev_image out[2];
    struct hs_aov aovs[2];
    struct hs_stream_info info;
    shim_reset();
    FX_OPEN(&fx, shim_get_instance_proc_addr, "taau");
    fx_planes_create(&fx, 48, 40, 96, 80, VK_FORMAT_R16G16B16A16_SFLOAT, 0, &planes);
    make_aov_images(&fx, out);
    struct hs_stream *stream = fx_stream(&fx, 96, 80, 48, 40, 0);
    for (int i = 0; i < 12; i++) {
        struct hs_frame frame = fx_planes_frame(&planes, i);
        add_aovs(&frame, &planes, out, aovs);
        frame.aov_count = i < 3 ? 2 : (uint32_t)i % 3;
        frame.reset = i == 7;
        if (i == 2)
            shim_reset();
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
    }
    REQUIRE_EQ(shim.creates, 0);
    fx_wait(&fx);
    hs_stream_describe(stream, &info);
    REQUIRE_EQ(info.descriptor_sets, 2 + 4);
    hs_stream_forget(stream, out[0].view);
    hs_stream_describe(stream, &info);
    REQUIRE_EQ(info.descriptor_sets, 2 + 2);
    hs_stream_destroy(&stream);
    for (int i = 0; i < 2; i++)
        vkdev_image_destroy(&fx.dev, &out[i]);
    fx_planes_destroy(&fx, &planes);
    fx_close(&fx);
    REQUIRE_EQ(shim.live, 0);
}

// A frame whose AOVs can not be made is refused; the same frame goes through once they can.
static void aov_calls_fail(struct test_rng *rng)
{
    (void)rng;
    struct fixture fx;
    struct fx_planes planes;
    struct vkdev_image out[2];
    struct hs_aov aovs[2];
    shim_reset();
    FX_OPEN(&fx, shim_get_instance_proc_addr, "taau");
    fx.quiet = true;
    fx_planes_create(&fx, 48, 40, 96, 80, VK_FORMAT_R16G16B16A16_SFLOAT, 0, &planes);
    make_aov_images(&fx, out);
    struct hs_frame frame = fx_planes_frame(&planes, 0);
    add_aovs(&frame, &planes, out, aovs);
    int failed = 0;
    for (int err = HS_ERR_NOMEM; err; failed++) {
        struct hs_stream *stream = fx_stream(&fx, 96, 80, 48, 40, 0);
        REQUIRE(failed < 100);
        shim_reset();
        shim.fail_at = failed + 1;
        shim.fail_with = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        err = fx_frame(&fx, stream, &frame);
        REQUIRE_MSG(!err || err == HS_ERR_NOMEM, "call %d (%s) gives %d", failed, shim.failed, err);
        shim.fail_at = 0;
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
        fx_wait(&fx);
        hs_stream_destroy(&stream);
    }
    printf("  %d calls\n", failed - 1);
    REQUIRE(failed > 10);
    for (int i = 0; i < 2; i++)
        vkdev_image_destroy(&fx.dev, &out[i]);
    fx_planes_destroy(&fx, &planes);
    fx_close(&fx);
    REQUIRE_EQ(shim.live, 0);
}

/** `file` is a model file or NULL for the preset. */
static void steady_state(const char *preset, const char *file)
{
    struct fixture fx;
    struct fx_planes planes[TEXTURE_SETS];
    shim_reset();
    FX_OPEN(&fx, shim_get_instance_proc_addr, NULL);
    const struct hs_model_params params = {.preset = file ? NULL : preset, .file = file};
    REQUIRE_EQ(hs_model_load(fx.device, &params, &fx.model), 0);
    struct hs_stream *stream = fx_stream(&fx, 96, 80, 48, 40, 0);
    for (int i = 0; i < TEXTURE_SETS; i++)
        fx_planes_create(&fx, 48, 40, 96, 80, VK_FORMAT_R16G16B16A16_SFLOAT, i, &planes[i]);
    // First use: three sets of textures times two history sets.
    for (int i = 0; i < 2 * TEXTURE_SETS; i++) {
        struct hs_frame frame = fx_planes_frame(&planes[i % TEXTURE_SETS], i);
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
    }
    shim_reset();
    struct hs_stream_info before, after;
    hs_stream_describe(stream, &before);
    REQUIRE_EQ(before.descriptor_sets, 2 * TEXTURE_SETS);
    for (int i = 0; i < 24; i++) {
        struct hs_frame frame = fx_planes_frame(&planes[i % TEXTURE_SETS], i);
        frame.reset = i == 10;
        frame.render_width = i % 5 ? 48 : 40; // dynamic resolution builds nothing, either
        frame.colour.x = i % 5 ? 0 : 8;
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
    }
    REQUIRE_EQ(shim.creates, 0);
    REQUIRE(shim.commands > 24 * 5);
    hs_stream_describe(stream, &after);
    REQUIRE_EQ(after.descriptor_sets, before.descriptor_sets);
    REQUIRE_EQ(after.activation_bytes, before.activation_bytes);
    REQUIRE_EQ(after.frames, before.frames + 24);

    // A view that is gone frees its sets, and their places are used again.
    fx_wait(&fx);
    hs_stream_forget(stream, planes[0].colour.view);
    hs_stream_describe(stream, &after);
    REQUIRE_EQ(after.descriptor_sets, 2 * TEXTURE_SETS - 2);
    fx_planes_destroy(&fx, &planes[0]);
    fx_planes_create(&fx, 48, 40, 96, 80, VK_FORMAT_R16G16B16A16_SFLOAT, 0, &planes[0]);
    shim_reset();
    for (int i = 0; i < 4; i++) {
        struct hs_frame frame = fx_planes_frame(&planes[0], i);
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
    }
    REQUIRE_EQ(shim.creates, 0);
    fx_wait(&fx);
    hs_stream_forget(stream, VK_NULL_HANDLE);
    hs_stream_describe(stream, &after);
    REQUIRE_EQ(after.descriptor_sets, 0);
    hs_stream_destroy(&stream);
    for (int i = 0; i < TEXTURE_SETS; i++)
        fx_planes_destroy(&fx, &planes[i]);
    fx_close(&fx);
    REQUIRE_EQ(shim.live, 0);
}

static void steady_taau(struct test_rng *rng)
{
    (void)rng;
    steady_state("taau", NULL);
}

static void steady_atrous(struct test_rng *rng)
{
    (void)rng;
    steady_state("atrous", NULL);
}

static void steady_network(struct test_rng *rng)
{
    char path[64];
    write_model(rng, &fx_model_tiny, path);
    steady_state(NULL, path);
    remove(path);
}

static void steady_ray(struct test_rng *rng)
{
    char path[64];
    write_model(rng, &fx_model_ray, path);
    steady_state(NULL, path);
    remove(path);
}

/** Everything that makes objects: model, stream, copies, wide planes, sharpening, timestamps. */
static int whole_life(struct fixture *fx, const struct fx_planes *planes, const char *preset,
                      const char *file)
{
    struct hs_model *model = NULL;
    struct hs_stream *stream = NULL;
    const struct hs_model_params params = {.preset = file ? NULL : preset, .file = file};
    int err = hs_model_load(fx->device, &params, &model);
    if (!err)
        err = hs_stream_create(model,
                               &(struct hs_stream_params){
                                   .out_width = 96,
                                   .out_height = 80,
                                   .max_render_width = 48,
                                   .max_render_height = 40,
                                   .flags = HS_STREAM_TIMINGS,
                               },
                               &stream);
    for (int i = 0; !err && i < 2; i++) {
        struct hs_frame frame = fx_planes_frame(planes, i);
        frame.colour.flags = frame.motion.flags = frame.output.flags = HS_IMAGE_COPY;
        frame.sharpness = 0.5f;
        frame.diffuse_albedo = frame.colour;
        err = fx_frame(fx, stream, &frame);
    }
    fx_wait(fx);
    hs_stream_destroy(&stream);
    hs_model_destroy(&model);
    return err;
}

static void fail_everywhere(VkResult result, int code, const char *preset, const char *file)
{
    struct fixture fx;
    struct fx_planes planes;
    shim_reset();
    FX_OPEN(&fx, shim_get_instance_proc_addr, NULL);
    fx_planes_create(&fx, 48, 40, 96, 80, VK_FORMAT_R16G16B16A16_SFLOAT, 0, &planes);
    shim_reset();
    REQUIRE_EQ(whole_life(&fx, &planes, preset, file), 0);
    const int total = shim.creates;
    REQUIRE(total > 40);
    REQUIRE_EQ(shim.live, 0);
    fx.quiet = true;
    for (int i = 1; i <= total; i++) {
        shim_reset();
        shim.fail_at = i;
        shim.fail_with = result;
        shim.empty_shaders = true; // Their compilation would be all of the time.
        fx.last[0] = 0;
        int err = whole_life(&fx, &planes, preset, file);
        REQUIRE_MSG(err == code, "call %d (%s) gives %d", i, shim.failed, err);
        REQUIRE_MSG(strstr(fx.last, shim.failed), "%s failed, the log says: %s", shim.failed,
                    fx.last);
        REQUIRE_MSG(shim.live == 0, "%s failed and left %d objects", shim.failed, shim.live);
    }
    shim_reset();
    REQUIRE_EQ(whole_life(&fx, &planes, preset, file), 0);
    fx_planes_destroy(&fx, &planes);
    fx_close(&fx);
}

// hs_model_load(), hs_stream_create(), hs_stream_record(): HS_ERR_NOMEM.
static void each_call_fails(struct test_rng *rng)
{
    // Few layers: every call of theirs fails once.
    static const struct fx_model_config short_one = {
        "tiny", {16, 16, 16}, {0, 0, 1, 0, 0}, .head = 1};
    char path[64];
    write_model(rng, &short_one, path);
    fail_everywhere(VK_ERROR_OUT_OF_DEVICE_MEMORY, HS_ERR_NOMEM, "taau", NULL);
    fail_everywhere(VK_ERROR_OUT_OF_DEVICE_MEMORY, HS_ERR_NOMEM, "atrous", NULL);
    fail_everywhere(VK_ERROR_OUT_OF_DEVICE_MEMORY, HS_ERR_NOMEM, NULL, path);
    struct fx_model_config ray = short_one;
    ray.ray = true;
    write_model(rng, &ray, path);
    fail_everywhere(VK_ERROR_OUT_OF_DEVICE_MEMORY, HS_ERR_NOMEM, NULL, path);
    remove(path);
}

/** What a stream makes of the same frame, three times over. */
static void require_same(struct fixture *fx, struct hs_stream *a, struct hs_stream *b,
                         const struct fx_planes *planes, const struct hs_frame *frame)
{
    for (int i = 0; i < 3; i++) {
        REQUIRE_EQ(fx_frame(fx, a, frame), 0);
        fx_wait(fx);
        void *want = fx_read(fx, &planes->output, VK_IMAGE_LAYOUT_GENERAL);
        REQUIRE_EQ(fx_frame(fx, b, frame), 0);
        fx_wait(fx);
        void *got = fx_read(fx, &planes->output, VK_IMAGE_LAYOUT_GENERAL);
        REQUIRE_MEM(got, want, (size_t)96 * 80 * 8);
        free(want);
        free(got);
    }
}

/** `preset` of a model, or of the file. */
static void fail_guides(const char *preset, const char *file)
{
    struct fixture fx;
    struct fx_planes planes;
    struct hs_stream_info info;
    struct hs_model *plain = NULL;
    shim_reset();
    FX_OPEN(&fx, shim_get_instance_proc_addr, NULL);
    const struct hs_model_params params = {.preset = preset, .file = file};
    REQUIRE_EQ(hs_model_load(fx.device, &params, &fx.model), 0);
    REQUIRE_EQ(hs_model_load(fx.device, &(struct hs_model_params){.preset = "taau"}, &plain), 0);
    fx.quiet = true;
    fx_planes_create(&fx, 48, 40, 96, 80, VK_FORMAT_R16G16B16A16_SFLOAT, 0, &planes);
    struct hs_stream *stream = fx_stream(&fx, 96, 80, 48, 40, 0);
    struct hs_frame frame = fx_planes_frame(&planes, 0);
    shim_reset();
    REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
    const int creates = shim.creates;
    fx_wait(&fx);
    hs_stream_destroy(&stream);
    stream = fx_stream(&fx, 96, 80, 48, 40, 0);
    shim_reset();
    shim.fail_at = 5; // The guides' planes come first.
    shim.fail_with = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    REQUIRE_EQ(fx_frame(&fx, stream, &frame), HS_ERR_NOMEM);
    hs_stream_describe(stream, &info);
    REQUIRE_STR(info.preset, "taau");
    for (int i = 0; i < 3; i++) {
        shim_reset();
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
        REQUIRE(shim.creates < creates / 2 && (i < 2 || shim.creates == 0));
    }
    // Until then it is what taau is.
    struct hs_stream *other = NULL;
    const struct hs_stream_params size = {
        .out_width = 96, .out_height = 80, .max_render_width = 48, .max_render_height = 40};
    REQUIRE_EQ(hs_stream_create(plain, &size, &other), 0);
    for (int i = 0; i < 3; i++)
        REQUIRE_EQ(fx_frame(&fx, other, &frame), 0);
    require_same(&fx, other, stream, &planes, &frame);
    hs_stream_destroy(&other);
    frame.reset = true;
    REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
    REQUIRE(shim.creates > creates / 2);
    hs_stream_describe(stream, &info);
    REQUIRE_STR(info.preset, preset);
    fx_wait(&fx);
    hs_stream_destroy(&stream);
    hs_model_destroy(&plain);
    fx_planes_destroy(&fx, &planes);
    fx_close(&fx);
    REQUIRE_EQ(shim.live, 0);
}

// Planes that can not be made cost one frame, not one attempt a frame; a cut tries again.
static void guides_fail_once(struct test_rng *rng)
{
    char path[64];
    fail_guides("atrous", NULL);
    write_model(rng, &fx_model_ray, path);
    fail_guides("tiny", path);
    remove(path);
}

// hs_model_load(), hs_stream_create(), hs_stream_record(), hs_stream_timings(): HS_ERR_DEVICE_LOST.
static void lost_stays_lost(struct test_rng *rng)
{
    (void)rng;
    struct fixture fx;
    struct fx_planes planes;
    shim_reset();
    FX_OPEN(&fx, shim_get_instance_proc_addr, "taau");
    fx.quiet = true;
    fx_planes_create(&fx, 48, 40, 96, 80, VK_FORMAT_R16G16B16A16_SFLOAT, 0, &planes);
    struct hs_stream *stream = fx_stream(&fx, 96, 80, 48, 40, HS_STREAM_TIMINGS);
    struct hs_stream *other = NULL;
    struct hs_model *model = NULL;
    shim_reset();
    shim.fail_at = 1;
    shim.fail_with = VK_ERROR_DEVICE_LOST;
    struct hs_frame frame = fx_planes_frame(&planes, 0);
    REQUIRE_EQ(fx_frame(&fx, stream, &frame), HS_ERR_DEVICE_LOST);
    shim_reset();
    REQUIRE_EQ(hs_stream_record(stream, &frame, fx.commands[0]), HS_ERR_DEVICE_LOST);
    REQUIRE_EQ(shim.commands, 0);
    struct hs_stage_time times[HS_MAX_STAGES];
    uint64_t index;
    REQUIRE_EQ(hs_stream_timings(stream, times, &index), HS_ERR_DEVICE_LOST);
    REQUIRE_EQ(hs_stream_create(
                   fx.model, &(struct hs_stream_params){.out_width = 64, .out_height = 64}, &other),
               HS_ERR_DEVICE_LOST);
    REQUIRE_EQ(hs_model_load(fx.device, &(struct hs_model_params){0}, &model), HS_ERR_DEVICE_LOST);
    hs_stream_destroy(&stream);
    fx_planes_destroy(&fx, &planes);
    fx_close(&fx);
    REQUIRE_EQ(shim.live, 0);
}

static const struct test_case cases[] = {
    {"steady taau", steady_taau},           {"steady network", steady_network},
    {"steady atrous", steady_atrous},       {"steady ray", steady_ray},
    {"steady AOVs", steady_aovs},           {"AOV calls fail", aov_calls_fail},
    {"guides fail once", guides_fail_once}, {"each call fails", each_call_fails},
    {"lost stays lost", lost_stays_lost},
};
TEST_MAIN(cases)
