// SPDX-License-Identifier: MIT
// Requirements, query, import and models.
#include "fixture.h"
#include "shim.h"
#include "tests/test.h"

static void requirement_list(struct test_rng *rng)
{
    (void)rng;
    uint32_t count = 0;
    const struct hs_requirement *list = hs_device_requirements(&count);
    bool optional = false;
    REQUIRE(count > 5);
    REQUIRE_EQ(list[0].kind, HS_REQUIREMENT_API);
    REQUIRE_EQ(list[0].value, VK_API_VERSION_1_3);
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE(list[i].name && list[i].name[0]);
        REQUIRE(list[i].reason && list[i].reason[0]);
        REQUIRE_MSG(!(optional && list[i].required), "%s comes after optional ones", list[i].name);
        optional |= !list[i].required;
    }
}

static void query_and_features(struct test_rng *rng)
{
    (void)rng;
    struct fixture fx;
    FX_OPEN(&fx, NULL, NULL);
    struct hs_device_query_params params = {
        .get_instance_proc_addr = vkGetInstanceProcAddr,
        .instance = fx.dev.instance,
        .physical_device = fx.dev.physical_device,
    };
    struct hs_device_report report;
    struct hs_device_features features;
    REQUIRE_EQ(hs_device_query(&params, &features, &report), 0);
    REQUIRE(report.usable);
    REQUIRE_STR(report.reason, "");
    REQUIRE(features.vulkan13.synchronization2);
    REQUIRE(features.features2.features.shaderStorageImageWriteWithoutFormat);
    // The chain can be handed to a device that has cooperative matrices.
    REQUIRE_EQ(features.extension_count > 0, features.cooperative_matrix.cooperativeMatrix);

    REQUIRE_EQ(hs_device_query(NULL, NULL, &report), HS_ERR_INVALID);
    REQUIRE_EQ(hs_device_query(&params, NULL, NULL), HS_ERR_INVALID);
    params.physical_device = VK_NULL_HANDLE;
    REQUIRE_EQ(hs_device_query(&params, NULL, &report), HS_ERR_INVALID);
    params.physical_device = fx.dev.physical_device;
    shim_reset();
    shim.hide = "vkGetPhysicalDeviceFeatures2";
    params.get_instance_proc_addr = shim_get_instance_proc_addr;
    REQUIRE_EQ(hs_device_query(&params, NULL, &report), HS_ERR_UNSUPPORTED);
    shim.hide = NULL;
    fx_close(&fx);
}

// hs_device_import(): HS_ERR_INVALID and HS_ERR_UNSUPPORTED.
static void import_refuses(struct test_rng *rng)
{
    (void)rng;
    struct fixture fx;
    FX_OPEN(&fx, NULL, NULL);
    fx.quiet = true;
    struct hs_device *device = NULL;
    const struct hs_device_params good = {
        .get_instance_proc_addr = vkGetInstanceProcAddr,
        .instance = fx.dev.instance,
        .physical_device = fx.dev.physical_device,
        .device = fx.dev.device,
        .enabled_features = &fx.dev.features.features2,
        .queue_family = fx.dev.queue_family,
        .log = &fx.log,
    };
    struct hs_device_params p = good;
    p.device = VK_NULL_HANDLE;
    REQUIRE_EQ(hs_device_import(&p, &device), HS_ERR_INVALID);
    p = good;
    p.get_instance_proc_addr = NULL;
    REQUIRE_EQ(hs_device_import(&p, &device), HS_ERR_INVALID);
    p = good;
    p.queue_family = 99;
    REQUIRE_EQ(hs_device_import(&p, &device), HS_ERR_INVALID);
    REQUIRE(strstr(fx.last, "queue family 99"));
    p = good;
    p.enabled_extension_count = 1;
    REQUIRE_EQ(hs_device_import(&p, &device), HS_ERR_INVALID);

    VkPhysicalDeviceVulkan13Features v13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkPhysicalDeviceFeatures2 f2 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                    .pNext = &v13};
    p = good;
    p.enabled_features = &f2;
    REQUIRE_EQ(hs_device_import(&p, &device), HS_ERR_UNSUPPORTED);
    REQUIRE(strstr(fx.last, "synchronization2"));
    REQUIRE(strstr(fx.last, "shaderStorageImageWriteWithoutFormat"));
    REQUIRE(!device);

    // The extension's own struct counts as much as the core version's.
    VkPhysicalDeviceSynchronization2Features sync2 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
        .synchronization2 = VK_TRUE,
    };
    f2.pNext = &sync2;
    f2.features.shaderStorageImageWriteWithoutFormat = VK_TRUE;
    REQUIRE_EQ(hs_device_import(&p, &device), 0);
    hs_device_destroy(&device);
    REQUIRE(!device);
    hs_device_destroy(&device);
    hs_device_destroy(NULL);

    shim_reset();
    shim.hide = "vkCmdDispatch";
    p = good;
    p.get_instance_proc_addr = shim_get_instance_proc_addr;
    REQUIRE_EQ(hs_device_import(&p, &device), HS_ERR_UNSUPPORTED);
    REQUIRE(strstr(fx.last, "vkCmdDispatch"));
    shim.hide = NULL;
    fx_close(&fx);
}

static void models(struct test_rng *rng)
{
    (void)rng;
    struct fixture fx;
    FX_OPEN(&fx, NULL, NULL);
    fx.quiet = true;
    struct hs_model *model = NULL;
    struct hs_model_info info;
    REQUIRE_EQ(hs_model_load(NULL, &(struct hs_model_params){0}, &model), HS_ERR_INVALID);
    REQUIRE_EQ(hs_model_load(fx.device, &(struct hs_model_params){.preset = "nothing"}, &model),
               HS_ERR_INVALID);
    REQUIRE(strstr(fx.last, "nothing") && strstr(fx.last, "taau"));
    REQUIRE_EQ(hs_model_load(fx.device, &(struct hs_model_params){.path = (enum hs_path)7}, &model),
               HS_ERR_INVALID);
    REQUIRE(!model);
    // A path that the model does not have falls back.
    REQUIRE_EQ(hs_model_load(fx.device,
                             &(struct hs_model_params){.preset = "taau", .path = HS_PATH_MATRIX},
                             &model),
               0);
    hs_model_describe(model, &info);
    REQUIRE_STR(info.preset, "taau");
    REQUIRE_EQ(info.path, HS_PATH_PLAIN);
    REQUIRE_NEAR(info.max_ratio, 3, 0);
    REQUIRE_EQ(info.stage_count, 3);
    hs_model_destroy(&model);
    REQUIRE(!model);
    hs_model_destroy(&model);
    hs_model_destroy(NULL);
    fx_close(&fx);
}

static void phrases(struct test_rng *rng)
{
    (void)rng;
    for (int e = HS_ERR_INTERNAL; e <= 0; e++) {
        REQUIRE(strcmp(hs_error_string(e), "unknown error"));
        for (int f = HS_ERR_INTERNAL; f < e; f++)
            REQUIRE(strcmp(hs_error_string(e), hs_error_string(f)));
    }
    REQUIRE_STR(hs_error_string(-1000), "unknown error");
    char version[32];
    snprintf(version, sizeof(version), "%d.%d.%d", HS_VERSION_MAJOR, HS_VERSION_MINOR,
             HS_VERSION_PATCH);
    REQUIRE_STR(hs_version_string(), version);
}

static const struct test_case cases[] = {
    {"requirement list", requirement_list},
    {"query and features", query_and_features},
    {"import refuses", import_refuses},
    {"models", models},
    {"phrases", phrases},
};
TEST_MAIN(cases)
