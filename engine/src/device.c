// SPDX-License-Identifier: MIT
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "requirements.h"

int hs_device_error(struct hs_device *device, VkResult result, const char *what)
{
    int err;
    switch (result) {
    case VK_SUCCESS:
    case VK_INCOMPLETE:
        return 0;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_FRAGMENTATION:
        err = HS_ERR_NOMEM;
        break;
    case VK_ERROR_DEVICE_LOST:
        atomic_store(&device->lost, true);
        err = HS_ERR_DEVICE_LOST;
        break;
    case VK_ERROR_FORMAT_NOT_SUPPORTED:
    case VK_ERROR_FEATURE_NOT_PRESENT:
    case VK_ERROR_INVALID_SHADER_NV:
        err = HS_ERR_UNSUPPORTED;
        break;
    default:
        err = HS_ERR_INTERNAL;
    }
    hs_log_message(&device->log, HS_LOG_ERROR, "%s failed: %s (VkResult %d)", what,
                   hs_error_string(err), (int)result);
    return err;
}

void hs_device_name(struct hs_device *device, VkObjectType type, uint64_t handle, const char *name)
{
    if (!device->vk.SetDebugUtilsObjectNameEXT)
        return;
    char text[64];
    snprintf(text, sizeof(text), "hindsight %s", name);
    device->vk.SetDebugUtilsObjectNameEXT(
        device->device, &(VkDebugUtilsObjectNameInfoEXT){
                            .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                            .objectType = type,
                            .objectHandle = handle,
                            .pObjectName = text,
                        });
}

VkFormatFeatureFlags hs_device_format_features(const struct hs_device *device, VkFormat format)
{
    VkFormatProperties2 p = {.sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2};
    device->vk.GetPhysicalDeviceFormatProperties2(device->physical_device, format, &p);
    return p.formatProperties.optimalTilingFeatures;
}

static bool extension_enabled(const struct hs_device_params *params, const char *name)
{
    for (uint32_t i = 0; i < params->enabled_extension_count; i++) {
        if (!strcmp(params->enabled_extensions[i], name))
            return true;
    }
    return false;
}

static int check_family(struct hs_device *d, uint32_t family)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    d->vk.GetPhysicalDeviceQueueFamilyProperties(d->physical_device, &count, families);
    if (family >= count || !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        return hs_invalid(&d->log, "queue family %u of %s %s", family, d->name,
                          family >= count ? "does not exist" : "has no compute queues");
    d->queue_family = family;
    d->timestamp_bits = families[family].timestampValidBits;
    return 0;
}

static int check_enabled(struct hs_device *d, const struct hs_device_params *params,
                         const struct hs_device_report *report)
{
    if (!params->enabled_features)
        return 0;
    char missing[512] = "";
    uint64_t on = hs_requirements_features(params->enabled_features);
    if (hs_requirements_missing(on, missing, sizeof(missing))) {
        hs_log_message(&d->log, HS_LOG_ERROR, "the device %s was created without: %s", d->name,
                       missing);
        return HS_ERR_UNSUPPORTED;
    }
    static const char *const common[] = {"cooperativeMatrix", "vulkanMemoryModel", "maintenance4",
                                         "subgroupSizeControl", "computeFullSubgroups"};
    static const char *const f16[] = {"shaderFloat16", "storageBuffer16BitAccess"};
    static const char *const int8[] = {"shaderInt8", "storageBuffer8BitAccess"};
    bool matrix = extension_enabled(params, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
        matrix &= (on & hs_requirements_feature_bit(common[i])) != 0;
    d->matrix_f16 = matrix && report->matrix_f16;
    d->matrix_int8 = matrix && report->matrix_int8;
    for (int i = 0; i < 2; i++) {
        d->matrix_f16 &= (on & hs_requirements_feature_bit(f16[i])) != 0;
        d->matrix_int8 &= (on & hs_requirements_feature_bit(int8[i])) != 0;
    }
    return 0;
}

int hs_device_import(const struct hs_device_params *params, struct hs_device **device)
{
    if (!params || !device)
        return HS_ERR_INVALID;
    const struct hs_log *log = params->log;
    if (!params->get_instance_proc_addr || !params->instance || !params->physical_device ||
        !params->device)
        return hs_invalid(log, "instance, physical device, device and vkGetInstanceProcAddr are "
                               "required to import a device");
    if (params->enabled_extension_count && !params->enabled_extensions)
        return hs_invalid(log, "%u enabled extensions are announced but not listed",
                          params->enabled_extension_count);
    struct hs_device_report report;
    int err = hs_device_query(
        &(struct hs_device_query_params){
            .get_instance_proc_addr = params->get_instance_proc_addr,
            .instance = params->instance,
            .physical_device = params->physical_device,
        },
        NULL, &report);
    if (err) {
        hs_log_message(log, HS_LOG_ERROR, "the device can not be queried: %s%s",
                       hs_error_string(err),
                       err == HS_ERR_UNSUPPORTED ? ", the instance lacks Vulkan 1.3 calls" : "");
        return err;
    }
    if (!report.usable) {
        hs_log_message(log, HS_LOG_ERROR, "%s can not be used, it lacks: %s", report.name,
                       report.reason);
        return HS_ERR_UNSUPPORTED;
    }
    struct hs_device *d = calloc(1, sizeof(*d));
    if (!d) {
        hs_log_message(log, HS_LOG_ERROR, "out of memory for a device");
        return HS_ERR_NOMEM;
    }
    if (log)
        d->log = *log;
    d->physical_device = params->physical_device;
    d->device = params->device;
    snprintf(d->name, sizeof(d->name), "%s", report.name);
    hs_vk_load_instance(&d->vk, params->get_instance_proc_addr, params->instance);
    const char *missing = hs_vk_load_device(&d->vk, params->device);
    if (missing) {
        hs_log_message(log, HS_LOG_ERROR, "%s has no %s", report.name, missing);
        err = HS_ERR_UNSUPPORTED;
        goto error;
    }
    err = check_family(d, params->queue_family);
    if (!err)
        err = check_enabled(d, params, &report);
    if (err)
        goto error;
    VkPhysicalDeviceMaintenance3Properties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                     .pNext = &sizes};
    d->vk.GetPhysicalDeviceProperties2(d->physical_device, &p);
    d->limits = p.properties.limits;
    d->software = p.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    d->max_allocation_bytes = sizes.maxMemoryAllocationSize;
    if (d->matrix_f16)
        d->matrix = hs_requirements_matrix(&d->vk, d->physical_device, false);
    if (d->matrix_int8)
        d->matrix_integers = hs_requirements_matrix(&d->vk, d->physical_device, true);
    d->vk.GetPhysicalDeviceMemoryProperties(d->physical_device, &d->memory);
    hs_log_message(&d->log, HS_LOG_DEBUG, "imported %s (%s), matrices: f16 %s, int8 %s",
                   report.name, report.driver, d->matrix_f16 ? "yes" : "no",
                   d->matrix_int8 ? "yes" : "no");
    *device = d;
    return 0;
error:
    free(d);
    return err;
}

void hs_device_destroy(struct hs_device **device)
{
    if (!device)
        return;
    free(*device);
    *device = NULL;
}
