// SPDX-License-Identifier: MIT
// Model files through the public interface.
#include <unistd.h>

#include "fixture.h"
#include "model_file.h"
#include "tests/test.h"

static char folder[64], path[96];

static void open_folder(void)
{
    strcpy(folder, "/tmp/hs-models-XXXXXX");
    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/m.safetensors", folder);
}

static void close_folder(void)
{
    REQUIRE(!remove(path) && !rmdir(folder));
}

/** The file of `tiny` with one text of its header changed to another of the same length. */
static void write_file(struct test_rng *rng, const char *from, const char *to)
{
    struct fx_model_file file = fx_model_file_make(rng, &fx_model_tiny);
    char *at = from ? strstr(file.header, from) : NULL;
    if (at)
        memcpy(at, to, strlen(to));
    fx_model_file_write(&file, path);
    fx_model_file_finish(&file);
}

static const struct {
    const char *from, *to;
    int code;
} wrong[] = {
    {"hindsight-model", "hindsight-clips", HS_ERR_FORMAT},
    {"\"format_version\":\"1\"", "\"format_version\":\"2\"", HS_ERR_VERSION},
    {"taau-unet", "taau-swin", HS_ERR_UNSUPPORTED},
};
#define WRONG_COUNT (sizeof(wrong) / sizeof(wrong[0]))

static void describe(struct test_rng *rng)
{
    struct hs_model_file *file = NULL;
    struct hs_model_file_info info;
    open_folder();
    write_file(rng, NULL, NULL);
    REQUIRE_EQ(hs_model_file_open(path, NULL, &file), 0);
    hs_model_file_describe(file, &info);
    REQUIRE_STR(info.preset, "tiny");
    REQUIRE_EQ(info.note_count, 8);
    REQUIRE_STR(info.notes[0].key, "format");
    REQUIRE_STR(info.notes[0].value, "hindsight-model");
    REQUIRE_EQ(info.layer_count, 14);
    const struct hs_model_layer *up = &info.layers[7];
    REQUIRE_STR(up->name, "from2.conv");
    REQUIRE_STR(up->kind, "up");
    REQUIRE_STR(up->add, "level1");
    REQUIRE(up->relu && up->outputs == 64 && up->inputs == 16 && up->level == 2);
    REQUIRE(!info.layers[0].add);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < info.layer_count; i++)
        bytes += info.layers[i].outputs *
                 (2 * info.layers[i].inputs * info.layers[i].size * info.layers[i].size + 4);
    REQUIRE_EQ(info.weight_bytes, bytes);
    REQUIRE(!info.guides);
    hs_model_file_close(&file);
    REQUIRE(!file);
    hs_model_file_close(&file);
    hs_model_file_close(NULL);
    close_folder();
}

static void open_refuses(struct test_rng *rng)
{
    struct hs_model_file *file = NULL;
    open_folder();
    REQUIRE_EQ(hs_model_file_open(NULL, NULL, &file), HS_ERR_INVALID);
    REQUIRE_EQ(hs_model_file_open(path, NULL, NULL), HS_ERR_INVALID);
    REQUIRE_EQ(hs_model_file_open(path, NULL, &file), HS_ERR_IO);
    for (size_t i = 0; i < WRONG_COUNT; i++) {
        write_file(rng, wrong[i].from, wrong[i].to);
        REQUIRE_EQ(hs_model_file_open(path, NULL, &file), wrong[i].code);
    }
    REQUIRE(!file);
    close_folder();
}

static void load_refuses(struct test_rng *rng)
{
    struct fixture fx;
    struct hs_model *model = NULL;
    FX_OPEN(&fx, NULL, NULL);
    fx.quiet = true;
    open_folder();
    const struct hs_model_params params = {.file = path};
    REQUIRE_EQ(hs_model_load(fx.device, &params, &model), HS_ERR_IO);
    for (size_t i = 0; i < WRONG_COUNT; i++) {
        write_file(rng, wrong[i].from, wrong[i].to);
        fx.last[0] = 0;
        REQUIRE_EQ(hs_model_load(fx.device, &params, &model), wrong[i].code);
        REQUIRE(strstr(fx.last, path));
    }
    write_file(rng, NULL, NULL);
    const struct hs_model_params other = {.file = path, .preset = "best"};
    REQUIRE_EQ(hs_model_load(fx.device, &other, &model), HS_ERR_INVALID);
    REQUIRE(!model);
    close_folder();
    fx_close(&fx);
}

static void load(struct test_rng *rng)
{
    struct fixture fx;
    struct hs_model *model = NULL;
    struct hs_model_info info;
    FX_OPEN(&fx, NULL, NULL);
    fx.quiet = true;
    open_folder();
    write_file(rng, NULL, NULL);
    REQUIRE_EQ(hs_model_load(fx.device, &(struct hs_model_params){.file = path}, &model), 0);
    hs_model_describe(model, &info);
    REQUIRE_STR(info.preset, "tiny");
    REQUIRE_GT(info.memory_bytes, 0);
    REQUIRE(!info.guides);
    const uint32_t stages = info.stage_count;
    hs_model_destroy(&model);
    struct fx_model_file ray = fx_model_file_make(rng, &fx_model_ray);
    fx_model_file_write(&ray, path);
    fx_model_file_finish(&ray);
    REQUIRE_EQ(hs_model_load(fx.device, &(struct hs_model_params){.file = path}, &model), 0);
    hs_model_describe(model, &info);
    REQUIRE(info.guides && info.stage_count == stages + 7);
    hs_model_destroy(&model);
    struct hs_model_file *file = NULL;
    struct hs_model_file_info about;
    REQUIRE_EQ(hs_model_file_open(path, NULL, &file), 0);
    hs_model_file_describe(file, &about);
    REQUIRE(about.guides);
    hs_model_file_close(&file);
    // Shipped models are looked up; here, there are none.
    setenv("HINDSIGHT_MODELS", folder, 1);
    fx.last[0] = 0;
    REQUIRE_EQ(hs_model_load(fx.device, &(struct hs_model_params){.preset = "best"}, &model), 0);
    hs_model_describe(model, &info);
    REQUIRE_STR(info.preset, "taau");
    REQUIRE(strstr(fx.last, "no hs-best.safetensors"));
    hs_model_destroy(&model);
    close_folder();
    fx_close(&fx);
}

/** One frame of 6400x256 pixels from a model; the preset that ran. */
static void *one_frame(struct fixture *fx, const struct hs_model_params *params, char preset[16])
{
    struct hs_stream_info info;
    struct fx_planes planes;
    REQUIRE_EQ(hs_model_load(fx->device, params, &fx->model), 0);
    fx->last[0] = 0;
    struct hs_stream *stream = fx_stream(fx, 6400, 256, 3200, 128, 0);
    fx_planes_create(fx, 3200, 128, 6400, 256, VK_FORMAT_R16G16B16A16_SFLOAT, 0, &planes);
    const struct hs_frame frame = fx_planes_frame(&planes, 0);
    REQUIRE_EQ(fx_frame(fx, stream, &frame), 0);
    fx_wait(fx);
    hs_stream_describe(stream, &info);
    snprintf(preset, 16, "%s", info.preset);
    void *bytes = fx_read(fx, &planes.output, VK_IMAGE_LAYOUT_GENERAL);
    fx_planes_destroy(fx, &planes);
    hs_stream_destroy(&stream);
    hs_model_destroy(&fx->model);
    return bytes;
}

/** `name`, for which `instead` takes over. */
static void too_large(struct test_rng *rng, const char *name, const char *instead)
{
    // Its finest level takes 128 bytes for each output pixel, and blocks look 160 rows around.
    const struct fx_model_config wide = {
        name, {128, 16, 16}, {4, 4, 4, 4, 4}, .head = 1, .ray = !strcmp(name, "ray")};
    struct fixture fx;
    VkPhysicalDeviceProperties properties;
    char preset[16], words[32];
    FX_OPEN(&fx, NULL, NULL);
    fx.quiet = true;
    vkGetPhysicalDeviceProperties(fx.dev.physical_device, &properties);
    if (properties.limits.maxStorageBufferRange >= 128u * 6400 * 256) {
        fx_close(&fx);
        TEST_SKIP("buffers of this device are large enough");
    }
    open_folder();
    snprintf(path, sizeof(path), "%s/hs-%s.safetensors", folder, name);
    snprintf(words, sizeof(words), "%s takes over", instead);
    struct fx_model_file file = fx_model_file_make(rng, &wide);
    fx_model_file_write(&file, path);
    fx_model_file_finish(&file);
    setenv("HINDSIGHT_MODELS", folder, 1);
    void *want = one_frame(&fx, &(struct hs_model_params){.preset = instead}, preset);
    void *got =
        one_frame(&fx, &(struct hs_model_params){.preset = name, .path = HS_PATH_PLAIN}, preset);
    REQUIRE_STR(preset, instead);
    REQUIRE(strstr(fx.last, "activations of") && strstr(fx.last, words));
    REQUIRE_MEM(got, want, (size_t)6400 * 256 * 8);
    free(want);
    free(got);
    close_folder();
    fx_close(&fx);
}

static void too_large_for_the_device(struct test_rng *rng)
{
    too_large(rng, "quality", "taau");
    too_large(rng, "ray", "atrous");
}

static const struct test_case cases[] = {
    {"too large for the device", too_large_for_the_device},
    {"describe", describe},
    {"open refuses", open_refuses},
    {"load refuses", load_refuses},
    {"load", load},
};
TEST_MAIN(cases)
