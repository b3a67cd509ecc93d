// SPDX-License-Identifier: MIT
#include "vkdev.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES 16

int vkdev_error(VkResult result)
{
    switch (result) {
    case VK_SUCCESS:
        return 0;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return HS_ERR_NOMEM;
    case VK_ERROR_DEVICE_LOST:
        return HS_ERR_DEVICE_LOST;
    case VK_ERROR_INCOMPATIBLE_DRIVER:
    case VK_ERROR_LAYER_NOT_PRESENT:
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_FEATURE_NOT_PRESENT:
    case VK_ERROR_FORMAT_NOT_SUPPORTED:
        return HS_ERR_UNSUPPORTED;
    default:
        return HS_ERR_INTERNAL;
    }
}

static int fail(const struct hs_log *log, VkResult result, const char *what)
{
    int err = vkdev_error(result);
    hs_log_message(log, HS_LOG_ERROR, "%s failed: %s (VkResult %d)", what, hs_error_string(err),
                   (int)result);
    return err;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                 void *priv)
{
    struct vkdev *dev = priv;
    // The loader reports about its own search for drivers as GENERAL; that is not about us.
    if (!(types & (VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                   VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT)))
        return VK_FALSE;
    dev->messages++;
    hs_log_message(dev->log,
                   severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT ? HS_LOG_ERROR
                                                                            : HS_LOG_WARN,
                   "validation: %s", data->pMessage);
    return VK_FALSE;
}

static bool layer_present(const char *name)
{
    uint32_t count = 0;
    if (vkEnumerateInstanceLayerProperties(&count, NULL) != VK_SUCCESS || !count)
        return false;
    VkLayerProperties *layers = calloc(count, sizeof(*layers));
    bool found = false;
    if (layers && vkEnumerateInstanceLayerProperties(&count, layers) >= 0) {
        for (uint32_t i = 0; i < count; i++)
            found |= !strcmp(layers[i].layerName, name);
    }
    free(layers);
    return found;
}

static int create_instance(struct vkdev *dev, bool validation)
{
    static const char *const layer = "VK_LAYER_KHRONOS_validation";
    static const char *const debug = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    const VkBool32 on = VK_TRUE;
    const VkLayerSettingEXT settings[] = {
        {layer, "validate_sync", VK_LAYER_SETTING_TYPE_BOOL32_EXT, 1, &on},
        {layer, "validate_core", VK_LAYER_SETTING_TYPE_BOOL32_EXT, 1, &on},
        // Without it, what shaders do with their descriptors is not looked at.
        {layer, "syncval_shader_accesses_heuristic", VK_LAYER_SETTING_TYPE_BOOL32_EXT, 1, &on},
        {layer, "syncval_submit_time_validation", VK_LAYER_SETTING_TYPE_BOOL32_EXT, 1, &on},
    };
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = dev,
    };
    const VkLayerSettingsCreateInfoEXT layer_settings = {
        .sType = VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT,
        .pNext = &messenger,
        .settingCount = sizeof(settings) / sizeof(settings[0]),
        .pSettings = settings,
    };
    if (validation && !layer_present(layer)) {
        hs_log_message(dev->log, HS_LOG_ERROR, "the layer %s is not installed", layer);
        return HS_ERR_UNSUPPORTED;
    }
    const VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "hindsight",
        .apiVersion = VK_API_VERSION_1_3,
    };
    VkResult r = vkCreateInstance(
        &(VkInstanceCreateInfo){
            .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
            .pNext = validation ? &layer_settings : NULL,
            .pApplicationInfo = &app,
            .enabledLayerCount = validation,
            .ppEnabledLayerNames = &layer,
            .enabledExtensionCount = validation,
            .ppEnabledExtensionNames = &debug,
        },
        NULL, &dev->instance);
    if (r != VK_SUCCESS)
        return fail(dev->log, r, "vkCreateInstance");
    if (validation) {
        PFN_vkCreateDebugUtilsMessengerEXT create =
            (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
                dev->instance, "vkCreateDebugUtilsMessengerEXT");
        r = create ? create(dev->instance, &messenger, NULL, &dev->messenger)
                   : VK_ERROR_EXTENSION_NOT_PRESENT;
        if (r != VK_SUCCESS)
            return fail(dev->log, r, "vkCreateDebugUtilsMessengerEXT");
    }
    return 0;
}

static bool contains_nocase(const char *text, const char *part)
{
    size_t n = strlen(part);
    for (; *text; text++) {
        size_t i = 0;
        while (i < n && text[i] &&
               tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (i == n)
            return true;
    }
    return false;
}

static int rank(const struct hs_device_report *report)
{
    switch (report->type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 4;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 3;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return 1;
    default:
        return 0;
    }
}

static bool matches(const char *select, uint32_t index, const struct hs_device_report *report)
{
    char *end;
    unsigned long number = strtoul(select, &end, 10);
    if (isdigit((unsigned char)select[0]) && !*end)
        return number == index;
    if (!strcmp(select, "cpu"))
        return report->type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    return contains_nocase(report->name, select);
}

static int query(VkInstance instance, VkPhysicalDevice physical_device,
                 struct hs_device_features *features, struct hs_device_report *report)
{
    return hs_device_query(
        &(struct hs_device_query_params){
            .get_instance_proc_addr = vkGetInstanceProcAddr,
            .instance = instance,
            .physical_device = physical_device,
        },
        features, report);
}

static int choose(struct vkdev *dev, const char *select)
{
    VkPhysicalDevice devices[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    VkResult r = vkEnumeratePhysicalDevices(dev->instance, &count, devices);
    if (r != VK_SUCCESS && r != VK_INCOMPLETE)
        return fail(dev->log, r, "vkEnumeratePhysicalDevices");
    bool any = !select || !strcmp(select, "auto");
    int best = -1;
    for (uint32_t i = 0; i < count; i++) {
        struct hs_device_report report;
        if (query(dev->instance, devices[i], NULL, &report) < 0)
            continue;
        if (any ? !report.usable : !matches(select, i, &report))
            continue;
        // An exact choice takes the first match; the automatic one the best kind.
        if (best >= 0 && (!any || rank(&report) <= rank(&dev->report)))
            continue;
        best = (int)i;
        dev->physical_device = devices[i];
        dev->report = report;
    }
    if (best < 0) {
        hs_log_message(dev->log, HS_LOG_ERROR,
                       "no %sVulkan device%s%s; there %s:", any ? "usable " : "",
                       any ? "" : " matches ", any ? "" : select, count == 1 ? "is" : "are");
        for (uint32_t i = 0; i < count; i++) {
            struct hs_device_report report;
            if (query(dev->instance, devices[i], NULL, &report) == 0)
                hs_log_message(dev->log, HS_LOG_ERROR, "  %u: %s%s%s", i, report.name,
                               report.usable ? "" : ", not usable: ", report.reason);
        }
        if (!count)
            hs_log_message(dev->log, HS_LOG_ERROR, "  none: is a Vulkan driver installed?");
        return any ? HS_ERR_UNSUPPORTED : HS_ERR_INVALID;
    }
    if (!dev->report.usable) {
        hs_log_message(dev->log, HS_LOG_ERROR, "%s can not be used: %s", dev->report.name,
                       dev->report.reason);
        return HS_ERR_UNSUPPORTED;
    }
    return query(dev->instance, dev->physical_device, &dev->features, &dev->report);
}

static bool has_extension(VkPhysicalDevice device, const char *name)
{
    uint32_t count = 0;
    bool found = false;
    if (vkEnumerateDeviceExtensionProperties(device, NULL, &count, NULL) != VK_SUCCESS || !count)
        return false;
    VkExtensionProperties *list = calloc(count, sizeof(*list));
    if (list && vkEnumerateDeviceExtensionProperties(device, NULL, &count, list) >= 0) {
        for (uint32_t i = 0; i < count; i++)
            found |= !strcmp(list[i].extensionName, name);
    }
    free(list);
    return found;
}

static int create_device(struct vkdev *dev)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(dev->physical_device, &count, families);
    dev->queue_family = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) {
            dev->queue_family = i;
            break;
        }
    }
    if (dev->queue_family == UINT32_MAX) {
        hs_log_message(dev->log, HS_LOG_ERROR, "%s has no compute queue", dev->report.name);
        return HS_ERR_UNSUPPORTED;
    }
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = dev->queue_family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const char
        *extensions[sizeof(dev->features.extensions) / sizeof(dev->features.extensions[0]) + 1];
    uint32_t extension_count = dev->features.extension_count;
    memcpy(extensions, dev->features.extensions, extension_count * sizeof(*extensions));
    dev->shares_memory =
        has_extension(dev->physical_device, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    if (dev->shares_memory)
        extensions[extension_count++] = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
    dev->features.vulkan12.timelineSemaphore = VK_TRUE;
    VkResult r = vkCreateDevice(dev->physical_device,
                                &(VkDeviceCreateInfo){
                                    .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                    .pNext = &dev->features.features2,
                                    .queueCreateInfoCount = 1,
                                    .pQueueCreateInfos = &queue,
                                    .enabledExtensionCount = extension_count,
                                    .ppEnabledExtensionNames = extensions,
                                },
                                NULL, &dev->device);
    if (r != VK_SUCCESS)
        return fail(dev->log, r, "vkCreateDevice");
    vkGetDeviceQueue(dev->device, dev->queue_family, 0, &dev->queue);
    vkGetPhysicalDeviceMemoryProperties(dev->physical_device, &dev->memory);
    r = vkCreateCommandPool(dev->device,
                            &(VkCommandPoolCreateInfo){
                                .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                .queueFamilyIndex = dev->queue_family,
                            },
                            NULL, &dev->pool);
    return r == VK_SUCCESS ? 0 : fail(dev->log, r, "vkCreateCommandPool");
}

static void take_log(struct vkdev *dev, const struct hs_log *log)
{
    memset(dev, 0, sizeof(*dev));
    if (log) {
        dev->log_copy = *log;
        dev->log = &dev->log_copy;
    }
}

int vkdev_open(struct vkdev *dev, const struct vkdev_params *params)
{
    take_log(dev, params->log);
    int err = create_instance(dev, params->validation);
    if (!err)
        err = choose(dev, params->select);
    if (!err)
        err = create_device(dev);
    if (err)
        vkdev_close(dev);
    return err;
}

void vkdev_close(struct vkdev *dev)
{
    if (dev->device) {
        vkDeviceWaitIdle(dev->device);
        vkDestroyCommandPool(dev->device, dev->pool, NULL);
        vkDestroyDevice(dev->device, NULL);
    }
    if (dev->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
                dev->instance, "vkDestroyDebugUtilsMessengerEXT");
        destroy(dev->instance, dev->messenger, NULL);
    }
    if (dev->instance)
        vkDestroyInstance(dev->instance, NULL);
    dev->instance = VK_NULL_HANDLE;
    dev->device = VK_NULL_HANDLE;
    dev->messenger = VK_NULL_HANDLE;
}

int vkdev_list(const struct hs_log *log,
               void (*each)(void *priv, uint32_t index, const struct hs_device_report *report),
               void *priv)
{
    struct vkdev dev;
    take_log(&dev, log);
    int err = create_instance(&dev, false);
    if (err)
        return err;
    VkPhysicalDevice devices[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    VkResult r = vkEnumeratePhysicalDevices(dev.instance, &count, devices);
    if (r != VK_SUCCESS && r != VK_INCOMPLETE)
        err = fail(log, r, "vkEnumeratePhysicalDevices");
    for (uint32_t i = 0; !err && i < count; i++) {
        struct hs_device_report report;
        err = query(dev.instance, devices[i], NULL, &report);
        if (!err)
            each(priv, i, &report);
    }
    vkdev_close(&dev);
    return err;
}

int vkdev_import(struct vkdev *dev, PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                 struct hs_device **device)
{
    return hs_device_import(
        &(struct hs_device_params){
            .get_instance_proc_addr =
                get_instance_proc_addr ? get_instance_proc_addr : vkGetInstanceProcAddr,
            .instance = dev->instance,
            .physical_device = dev->physical_device,
            .device = dev->device,
            .enabled_features = &dev->features.features2,
            .enabled_extensions = dev->features.extensions,
            .enabled_extension_count = dev->features.extension_count,
            .queue_family = dev->queue_family,
            .log = dev->log,
        },
        device);
}
