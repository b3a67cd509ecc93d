// SPDX-License-Identifier: MIT
#include "vk.h"

#include <stddef.h>

const char *hs_vk_load_instance(struct hs_vk *vk, PFN_vkGetInstanceProcAddr get,
                                VkInstance instance)
{
#define X(name) vk->name = (PFN_vk##name)get(instance, "vk" #name);
    HS_VK_INSTANCE_FUNCTIONS(X)
    HS_VK_OPTIONAL_INSTANCE_FUNCTIONS(X)
#undef X
#define X(name)    \
    if (!vk->name) \
        return "vk" #name;
    HS_VK_INSTANCE_FUNCTIONS(X)
#undef X
    return NULL;
}

const char *hs_vk_load_device(struct hs_vk *vk, VkDevice device)
{
#define X(name)                                                         \
    vk->name = (PFN_vk##name)vk->GetDeviceProcAddr(device, "vk" #name); \
    if (!vk->name)                                                      \
        return "vk" #name;
    HS_VK_DEVICE_FUNCTIONS(X)
#undef X
    return NULL;
}
