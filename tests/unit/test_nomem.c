// SPDX-License-Identifier: MIT
// Host memory runs out in each allocation of the library. The library's objects are linked in, so
// that its calls, and no driver's, go through the wrappers.
#include <stddef.h>
#include <unistd.h>

#include "engine/src/weights.h"
#include "fixture.h"
#include "model_file.h"
#include "tests/test.h"

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static int calls, fail_at;

void *__wrap_calloc(size_t count, size_t size)
{
    return ++calls == fail_at ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return ++calls == fail_at ? NULL : __real_realloc(block, size);
}

// HS_ERR_NOMEM of hs_device_query(), hs_device_import(), hs_model_load(), hs_stream_create() and
// hs_stream_record().
static int whole_life(struct fixture *fx, const struct fx_planes *planes)
{
    struct hs_device *device = NULL;
    struct hs_model *model = NULL;
    struct hs_stream *stream = NULL;
    VkCommandBuffer cmd;
    struct hs_device_report report;
    const struct hs_device_query_params query = {
        .get_instance_proc_addr = vkGetInstanceProcAddr,
        .instance = fx->dev.instance,
        .physical_device = fx->dev.physical_device,
    };
    const struct hs_device_params import = {
        .get_instance_proc_addr = vkGetInstanceProcAddr,
        .instance = fx->dev.instance,
        .physical_device = fx->dev.physical_device,
        .device = fx->dev.device,
        .enabled_features = &fx->dev.features.features2,
        .queue_family = fx->dev.queue_family,
        .log = &fx->log,
    };
    calls = 0;
    int err = hs_device_query(&query, NULL, &report);
    if (!err)
        err = hs_device_import(&import, &device);
    if (!err)
        err = hs_model_load(device, &(struct hs_model_params){.preset = "taau"}, &model);
    const struct hs_stream_params params = {
        .out_width = 96, .out_height = 80, .max_render_width = 48, .max_render_height = 40};
    if (!err)
        err = hs_stream_create(model, &params, &stream);
    if (!err) {
        REQUIRE_EQ(vkdev_begin(&fx->dev, &cmd), 0);
        struct hs_frame frame = fx_planes_frame(planes, 0);
        err = hs_stream_record(stream, &frame, cmd);
        REQUIRE_EQ(vkdev_submit_wait(&fx->dev, cmd), 0);
    }
    hs_stream_destroy(&stream);
    hs_model_destroy(&model);
    hs_device_destroy(&device);
    return err;
}

static void each_allocation_fails(struct test_rng *rng)
{
    (void)rng;
    struct fixture fx;
    struct fx_planes planes;
    FX_OPEN(&fx, NULL, NULL);
    fx_planes_create(&fx, 48, 40, 96, 80, VK_FORMAT_R16G16B16A16_SFLOAT, 0, &planes);
    fail_at = 0;
    REQUIRE_EQ(whole_life(&fx, &planes), 0);
    const int total = calls;
    REQUIRE_GE(total, 4);
    fx.quiet = true;
    for (int i = 1; i <= total; i++) {
        fail_at = i;
        fx.last[0] = 0;
        REQUIRE_EQ(whole_life(&fx, &planes), HS_ERR_NOMEM);
        // The first allocation is hs_device_query()'s, which has no log.
        REQUIRE_MSG(i == 1 || strstr(fx.last, "memory"), "allocation %d: %s", i, fx.last);
    }
    fail_at = 0;
    fx_planes_destroy(&fx, &planes);
    fx_close(&fx);
}

static void each_allocation_of_weights_fails(struct test_rng *rng)
{
    struct fx_model_file file = fx_model_file_make(rng, &fx_model_tiny);
    struct hs_weights *weights = NULL;
    size_t size;
    unsigned char *bytes = fx_model_file_bytes(&file, &size);
    int i = 0, err;
    do {
        calls = 0;
        fail_at = ++i;
        err = hs_weights_parse(NULL, "m", bytes, size, &weights);
        REQUIRE_EQ(err, calls < i ? 0 : HS_ERR_NOMEM);
    } while (err);
    REQUIRE_GE(i, 3);
    fail_at = 0;
    hs_weights_destroy(&weights);
    free(bytes);

    char path[] = "/tmp/hs-nomem-XXXXXX";
    struct hs_model_file *opened = NULL;
    const int descriptor = mkstemp(path);
    REQUIRE(descriptor >= 0 && !close(descriptor));
    fx_model_file_write(&file, path);
    for (i = 1;; i++) {
        calls = 0;
        fail_at = i;
        err = hs_model_file_open(path, NULL, &opened);
        if (!err)
            break;
        REQUIRE_EQ(err, HS_ERR_NOMEM);
    }
    REQUIRE_GE(i, 5);
    fail_at = 0;
    hs_model_file_close(&opened);
    REQUIRE(!remove(path));
    fx_model_file_finish(&file);
}

static const struct test_case cases[] = {
    {"each allocation of weights fails", each_allocation_of_weights_fails},
    {"each allocation fails", each_allocation_fails},
};
TEST_MAIN(cases)
