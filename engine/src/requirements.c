// SPDX-License-Identifier: MIT
// The requirement list and its check against a physical device.
#include "requirements.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct hs_requirement requirements[] = {
    {HS_REQUIREMENT_API, "Vulkan 1.3", VK_API_VERSION_1_3, true, "the whole engine"},
    {HS_REQUIREMENT_FEATURE, "synchronization2", 0, true, "barriers"},
    {HS_REQUIREMENT_FEATURE, "shaderStorageImageWriteWithoutFormat", 0, true,
     "one shader for every output format"},
    {HS_REQUIREMENT_FORMAT, "R16_SFLOAT", VK_FORMAT_R16_SFLOAT, true, "weights of history"},
    {HS_REQUIREMENT_FORMAT, "R16G16_SFLOAT", VK_FORMAT_R16G16_SFLOAT, true, "traits of surfaces"},
    {HS_REQUIREMENT_FORMAT, "R16G16B16A16_SFLOAT", VK_FORMAT_R16G16B16A16_SFLOAT, true,
     "colour and history"},
    {HS_REQUIREMENT_FORMAT, "R32_SFLOAT", VK_FORMAT_R32_SFLOAT, true, "depth"},
    {HS_REQUIREMENT_FORMAT, "R32G32_SFLOAT", VK_FORMAT_R32G32_SFLOAT, true, "motion"},
    {HS_REQUIREMENT_FORMAT, "R32G32B32A32_SFLOAT", VK_FORMAT_R32G32B32A32_SFLOAT, true,
     "colour of 32-bit inputs"},
    {HS_REQUIREMENT_LIMIT, "maxComputeWorkGroupInvocations", 256, true, "reductions"},
    {HS_REQUIREMENT_LIMIT, "maxPerStageDescriptorStorageImages", 10, true, "planes of a stage"},
    {HS_REQUIREMENT_LIMIT, "maxPerStageDescriptorSampledImages", 16, true, "planes of a stage"},
    {HS_REQUIREMENT_EXTENSION, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME, 0, false, "matrix path"},
    {HS_REQUIREMENT_FEATURE, "cooperativeMatrix", 0, false, "matrix path"},
    {HS_REQUIREMENT_FEATURE, "shaderFloat16", 0, false, "matrix path"},
    {HS_REQUIREMENT_FEATURE, "storageBuffer16BitAccess", 0, false, "matrix path"},
    {HS_REQUIREMENT_FEATURE, "shaderInt8", 0, false, "integer matrix path"},
    {HS_REQUIREMENT_FEATURE, "storageBuffer8BitAccess", 0, false, "integer matrix path"},
    {HS_REQUIREMENT_FEATURE, "vulkanMemoryModel", 0, false, "matrix path"},
    {HS_REQUIREMENT_FEATURE, "maintenance4", 0, false, "matrix path"},
    {HS_REQUIREMENT_FEATURE, "subgroupSizeControl", 0, false, "matrix path"},
    {HS_REQUIREMENT_FEATURE, "computeFullSubgroups", 0, false, "matrix path"},
};

// Where a feature stands: in the struct that a caller may have chained, and in ours. One feature
// has two rows when a core version's struct and the original extension's may both carry it.
struct feature {
    const char *name;
    VkStructureType type;
    size_t offset;
    size_t own_offset;
};
#define F(name, T, stype, member)                                         \
    {#name, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##stype, offsetof(T, name), \
     offsetof(struct hs_device_features, member.name)}
static const struct feature features[] = {
    {"shaderStorageImageWriteWithoutFormat", VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
     offsetof(VkPhysicalDeviceFeatures2, features.shaderStorageImageWriteWithoutFormat),
     offsetof(struct hs_device_features, features2.features.shaderStorageImageWriteWithoutFormat)},
    F(synchronization2, VkPhysicalDeviceVulkan13Features, VULKAN_1_3_FEATURES, vulkan13),
    F(synchronization2, VkPhysicalDeviceSynchronization2Features, SYNCHRONIZATION_2_FEATURES,
      vulkan13),
    F(cooperativeMatrix, VkPhysicalDeviceCooperativeMatrixFeaturesKHR,
      COOPERATIVE_MATRIX_FEATURES_KHR, cooperative_matrix),
    F(shaderFloat16, VkPhysicalDeviceVulkan12Features, VULKAN_1_2_FEATURES, vulkan12),
    F(shaderFloat16, VkPhysicalDeviceShaderFloat16Int8Features, SHADER_FLOAT16_INT8_FEATURES,
      vulkan12),
    F(shaderInt8, VkPhysicalDeviceVulkan12Features, VULKAN_1_2_FEATURES, vulkan12),
    F(shaderInt8, VkPhysicalDeviceShaderFloat16Int8Features, SHADER_FLOAT16_INT8_FEATURES,
      vulkan12),
    F(storageBuffer16BitAccess, VkPhysicalDeviceVulkan11Features, VULKAN_1_1_FEATURES, vulkan11),
    F(storageBuffer16BitAccess, VkPhysicalDevice16BitStorageFeatures, 16BIT_STORAGE_FEATURES,
      vulkan11),
    F(storageBuffer8BitAccess, VkPhysicalDeviceVulkan12Features, VULKAN_1_2_FEATURES, vulkan12),
    F(storageBuffer8BitAccess, VkPhysicalDevice8BitStorageFeatures, 8BIT_STORAGE_FEATURES,
      vulkan12),
    F(vulkanMemoryModel, VkPhysicalDeviceVulkan12Features, VULKAN_1_2_FEATURES, vulkan12),
    F(vulkanMemoryModel, VkPhysicalDeviceVulkanMemoryModelFeatures, VULKAN_MEMORY_MODEL_FEATURES,
      vulkan12),
    F(maintenance4, VkPhysicalDeviceVulkan13Features, VULKAN_1_3_FEATURES, vulkan13),
    F(maintenance4, VkPhysicalDeviceMaintenance4Features, MAINTENANCE_4_FEATURES, vulkan13),
    F(subgroupSizeControl, VkPhysicalDeviceVulkan13Features, VULKAN_1_3_FEATURES, vulkan13),
    F(subgroupSizeControl, VkPhysicalDeviceSubgroupSizeControlFeatures,
      SUBGROUP_SIZE_CONTROL_FEATURES, vulkan13),
    F(computeFullSubgroups, VkPhysicalDeviceVulkan13Features, VULKAN_1_3_FEATURES, vulkan13),
    F(computeFullSubgroups, VkPhysicalDeviceSubgroupSizeControlFeatures,
      SUBGROUP_SIZE_CONTROL_FEATURES, vulkan13),
};

static const struct {
    const char *name;
    size_t offset;
} limits[] = {
    {"maxComputeWorkGroupInvocations",
     offsetof(VkPhysicalDeviceLimits, maxComputeWorkGroupInvocations)},
    {"maxPerStageDescriptorStorageImages",
     offsetof(VkPhysicalDeviceLimits, maxPerStageDescriptorStorageImages)},
    {"maxPerStageDescriptorSampledImages",
     offsetof(VkPhysicalDeviceLimits, maxPerStageDescriptorSampledImages)},
};

const struct hs_requirement *hs_device_requirements(uint32_t *count)
{
    *count = COUNT(requirements);
    return requirements;
}

void hs_text_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    if (used)
        used += (size_t)snprintf(text + used, size - used, "; ");
    if (used >= size)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

uint64_t hs_requirements_feature_bit(const char *name)
{
    for (size_t i = 0; i < COUNT(requirements); i++) {
        if (requirements[i].kind == HS_REQUIREMENT_FEATURE && !strcmp(requirements[i].name, name))
            return UINT64_C(1) << i;
    }
    return 0;
}

uint64_t hs_requirements_features(const VkPhysicalDeviceFeatures2 *chain)
{
    uint64_t bits = 0;
    for (const VkBaseInStructure *s = (const void *)chain; s; s = s->pNext) {
        for (size_t i = 0; i < COUNT(features); i++) {
            VkBool32 on;
            if (s->sType != features[i].type)
                continue;
            memcpy(&on, (const char *)s + features[i].offset, sizeof(on));
            if (on)
                bits |= hs_requirements_feature_bit(features[i].name);
        }
    }
    return bits;
}

bool hs_requirements_missing(uint64_t bits, char *text, size_t size)
{
    bool missing = false;
    for (size_t i = 0; i < COUNT(requirements); i++) {
        if (requirements[i].kind != HS_REQUIREMENT_FEATURE || !requirements[i].required ||
            bits >> i & 1)
            continue;
        hs_text_append(text, size, "feature %s", requirements[i].name);
        missing = true;
    }
    return missing;
}

/** 1: the device has the extension, 0: it has not, or a negative code. */
static int has_extension(const struct hs_vk *vk, VkPhysicalDevice device, const char *name)
{
    uint32_t count = 0;
    if (vk->EnumerateDeviceExtensionProperties(device, NULL, &count, NULL) != VK_SUCCESS)
        return HS_ERR_NOMEM;
    VkExtensionProperties *list = calloc(count ? count : 1, sizeof(*list));
    if (!list)
        return HS_ERR_NOMEM;
    int found = 0;
    if (vk->EnumerateDeviceExtensionProperties(device, NULL, &count, list) < 0)
        found = HS_ERR_NOMEM;
    for (uint32_t i = 0; i < count && !found; i++)
        found = !strcmp(list[i].extensionName, name);
    free(list);
    return found;
}

static void chain_features(struct hs_device_features *f, bool matrix)
{
    *f = (struct hs_device_features){
        .features2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .vulkan11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
        .vulkan12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .vulkan13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .cooperative_matrix.sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
    };
    f->features2.pNext = &f->vulkan11;
    f->vulkan11.pNext = &f->vulkan12;
    f->vulkan12.pNext = &f->vulkan13;
    if (matrix) {
        f->vulkan13.pNext = &f->cooperative_matrix;
        f->extensions[f->extension_count++] = VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME;
    }
}

static void fill_features(struct hs_device_features *out, const struct hs_device_features *have,
                          bool matrix)
{
    chain_features(out, matrix);
    for (size_t i = 0; i < COUNT(features); i++) {
        size_t offset = features[i].own_offset;
        memcpy((char *)out + offset, (const char *)have + offset, sizeof(VkBool32));
    }
}

#define MATRICES_MAX 64

/** Matrices of subgroups whose operands have one type. */
static uint32_t list_matrices(const struct hs_vk *vk, VkPhysicalDevice device,
                              VkCooperativeMatrixPropertiesKHR list[MATRICES_MAX])
{
    uint32_t count = MATRICES_MAX, kept = 0;
    if (!vk->GetPhysicalDeviceCooperativeMatrixPropertiesKHR)
        return 0;
    for (size_t i = 0; i < MATRICES_MAX; i++)
        list[i] = (VkCooperativeMatrixPropertiesKHR){
            .sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR};
    if (vk->GetPhysicalDeviceCooperativeMatrixPropertiesKHR(device, &count, list) < 0)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].scope == VK_SCOPE_SUBGROUP_KHR && list[i].AType == list[i].BType)
            list[kept++] = list[i];
    }
    return kept;
}

/** Whether sums of 16-bit floats of a size exist in a type. */
static bool has_sums(const VkCooperativeMatrixPropertiesKHR *list, uint32_t count, uint32_t size,
                     VkComponentTypeKHR type)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].MSize == size && list[i].NSize == size && list[i].KSize == size &&
            list[i].AType == VK_COMPONENT_TYPE_FLOAT16_KHR && list[i].CType == type &&
            list[i].ResultType == type)
            return true;
    }
    return false;
}

static struct hs_matrix_size choose_floats(const VkCooperativeMatrixPropertiesKHR *list,
                                           uint32_t count)
{
    static const uint32_t sizes[] = {16, 8};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        if (has_sums(list, count, sizes[i], VK_COMPONENT_TYPE_FLOAT32_KHR) &&
            has_sums(list, count, sizes[i], VK_COMPONENT_TYPE_FLOAT16_KHR))
            return (struct hs_matrix_size){sizes[i], sizes[i], sizes[i], 0};
    }
    return (struct hs_matrix_size){0};
}

/** The largest whose sizes divide sixteen tokens, sixteen outputs and what a chunk may have. Tiles
 * 32 deep are left out: on the one device seen that has them (NVIDIA H200, driver 580.159) networks
 * come out wrong with them, and right on the plain path. */
static struct hs_matrix_size choose_integers(const VkCooperativeMatrixPropertiesKHR *list,
                                             uint32_t count)
{
    struct hs_matrix_size best = {0};
    for (uint32_t i = 0; i < count; i++) {
        const VkCooperativeMatrixPropertiesKHR *m = &list[i];
        const bool fits = (m->MSize == 8 || m->MSize == 16) && (m->NSize == 8 || m->NSize == 16) &&
                          (m->KSize == 8 || m->KSize == 16);
        if (!fits || m->AType != VK_COMPONENT_TYPE_SINT8_KHR ||
            m->BType != VK_COMPONENT_TYPE_SINT8_KHR || m->CType != VK_COMPONENT_TYPE_SINT32_KHR ||
            m->ResultType != VK_COMPONENT_TYPE_SINT32_KHR || m->saturatingAccumulation)
            continue;
        if (m->MSize * m->NSize * m->KSize > best.m * best.n * best.k)
            best = (struct hs_matrix_size){m->MSize, m->NSize, m->KSize, 0};
    }
    return best;
}

struct hs_matrix_size hs_requirements_matrix(const struct hs_vk *vk, VkPhysicalDevice device,
                                             bool integers)
{
    VkCooperativeMatrixPropertiesKHR list[MATRICES_MAX];
    const uint32_t count = list_matrices(vk, device, list);
    VkPhysicalDeviceVulkan13Properties p13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES};
    VkPhysicalDeviceVulkan11Properties p11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, .pNext = &p13};
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                     .pNext = &p11};
    vk->GetPhysicalDeviceProperties2(device, &p);
    // Workgroups of 64 threads must be made of whole subgroups.
    if (!(p13.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) || p11.subgroupSize > 64)
        return (struct hs_matrix_size){0};
    struct hs_matrix_size size =
        integers ? choose_integers(list, count) : choose_floats(list, count);
    size.subgroup = p11.subgroupSize;
    return size;
}

static void find_matrices(const struct hs_vk *vk, VkPhysicalDevice device,
                          struct hs_device_report *report)
{
    VkCooperativeMatrixPropertiesKHR list[MATRICES_MAX];
    const uint32_t count = list_matrices(vk, device, list);
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].AType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
            list[i].ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR)
            report->matrix_f16 = true;
        if (list[i].AType == VK_COMPONENT_TYPE_SINT8_KHR &&
            list[i].ResultType == VK_COMPONENT_TYPE_SINT32_KHR)
            report->matrix_int8 = true;
    }
}

static void check_entry(const struct hs_vk *vk, VkPhysicalDevice device,
                        const VkPhysicalDeviceLimits *have, const struct hs_requirement *need,
                        struct hs_device_report *report)
{
    if (need->kind == HS_REQUIREMENT_FORMAT) {
        VkFormatProperties2 p = {.sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2};
        vk->GetPhysicalDeviceFormatProperties2(device, (VkFormat)need->value, &p);
        if (!(p.formatProperties.optimalTilingFeatures & VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT))
            hs_text_append(report->reason, sizeof(report->reason), "storage image format %s",
                           need->name);
    } else if (need->kind == HS_REQUIREMENT_LIMIT) {
        for (size_t i = 0; i < COUNT(limits); i++) {
            uint32_t value;
            memcpy(&value, (const char *)have + limits[i].offset, sizeof(value));
            if (!strcmp(limits[i].name, need->name) && value < need->value)
                hs_text_append(report->reason, sizeof(report->reason), "%s of %u (has %u)",
                               need->name, (unsigned)need->value, (unsigned)value);
        }
    }
}

int hs_device_query(const struct hs_device_query_params *params, struct hs_device_features *out,
                    struct hs_device_report *report)
{
    if (!params || !report || !params->get_instance_proc_addr || !params->instance ||
        !params->physical_device)
        return HS_ERR_INVALID;
    struct hs_vk vk = {0};
    if (hs_vk_load_instance(&vk, params->get_instance_proc_addr, params->instance))
        return HS_ERR_UNSUPPORTED;

    VkPhysicalDevice device = params->physical_device;
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                     .pNext = &driver};
    vk.GetPhysicalDeviceProperties2(device, &p);
    struct hs_device_report made = {.type = p.properties.deviceType,
                                    .api_version = p.properties.apiVersion};
    snprintf(made.name, sizeof(made.name), "%s", p.properties.deviceName);
    snprintf(made.driver, sizeof(made.driver), "%s %s", driver.driverName, driver.driverInfo);

    // The 1.3 struct may not be chained to an older device.
    if (p.properties.apiVersion < VK_API_VERSION_1_3) {
        hs_text_append(made.reason, sizeof(made.reason), "Vulkan 1.3 (has %u.%u)",
                       VK_API_VERSION_MAJOR(p.properties.apiVersion),
                       VK_API_VERSION_MINOR(p.properties.apiVersion));
        if (out)
            chain_features(out, false);
        *report = made;
        return 0;
    }
    int matrix = has_extension(&vk, device, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    if (matrix < 0)
        return matrix;
    struct hs_device_features have;
    chain_features(&have, matrix);
    vk.GetPhysicalDeviceFeatures2(device, &have.features2);
    hs_requirements_missing(hs_requirements_features(&have.features2), made.reason,
                            sizeof(made.reason));
    for (size_t i = 0; i < COUNT(requirements); i++) {
        if (requirements[i].required)
            check_entry(&vk, device, &p.properties.limits, &requirements[i], &made);
    }
    made.usable = !made.reason[0];
    if (matrix && have.cooperative_matrix.cooperativeMatrix && have.vulkan12.vulkanMemoryModel)
        find_matrices(&vk, device, &made);
    if (out)
        fill_features(out, &have, matrix);
    *report = made;
    return 0;
}
