// SPDX-License-Identifier: MIT
// Devices, and what each has of the engine's requirement list.
#include <stdio.h>
#include <string.h>

#include "inspect.h"
#include "report.h"
#include "vkdev.h"

static const char *type_name(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return "discrete";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return "integrated";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return "virtual";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return "software";
    default:
        return "other";
    }
}

/** The report names missing entries between "; ". */
static bool named(const char *list, const char *name)
{
    const char *found = strstr(list, name);

    return found != NULL;
}

static void print_requirements(const struct hs_device_report *report)
{
    uint32_t count;
    const struct hs_requirement *list = hs_device_requirements(&count);

    for (uint32_t i = 0; i < count; i++) {
        if (!list[i].required)
            continue;
        printf("     %-4s %-38s", named(report->reason, list[i].name) ? "no" : "yes", list[i].name);
        if (list[i].kind == HS_REQUIREMENT_LIMIT)
            printf(" at least %llu", (unsigned long long)list[i].value);
        printf(" (%s)\n", list[i].reason);
    }
}

/** Entries that only make things faster come in two groups, which the report sums up. */
static void print_faster(const char *what, bool has, const char *reason)
{
    uint32_t count;
    const struct hs_requirement *list = hs_device_requirements(&count);
    const char *separator = "";

    printf("     %-4s %s: ", has ? "yes" : "no", what);
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].required || strcmp(list[i].reason, reason) != 0)
            continue;
        printf("%s%s", separator, list[i].name);
        separator = ", ";
    }
    putchar('\n');
}

static void print_device(void *priv, uint32_t index, const struct hs_device_report *report)
{
    int *total = priv;

    ++*total;
    printf("%u: %s (%s, Vulkan %u.%u.%u, %s)\n", index, report->name, type_name(report->type),
           VK_API_VERSION_MAJOR(report->api_version), VK_API_VERSION_MINOR(report->api_version),
           VK_API_VERSION_PATCH(report->api_version), report->driver);
    printf("   %s%s\n", report->usable ? "usable" : "not usable: ", report->reason);
    print_requirements(report);
    print_faster("16-bit float matrices", report->matrix_f16, "matrix path");
    print_faster("8-bit integer matrices", report->matrix_int8, "integer matrix path");
}

int inspect_devices(void)
{
    int count = 0;
    int err = vkdev_list(tool_log(), print_device, &count);

    if (err < 0)
        tool_error("Vulkan devices can not be listed: %s", hs_error_string(err));
    else if (!count)
        printf("no Vulkan device: is a driver installed?\n");
    return err;
}
