// SPDX-License-Identifier: MIT
// The caller's Vulkan device: entry points, a queue, memory; the engine on it.
#include "internal.h"

#include <libavutil/opt.h>

#include "hsmemory.h"
#include "hsmodel.h"

/** qf[] came with libavutil 59.34; queues that lock themselves, and their flags, with the macro. */
#define HAVE_QUEUE_LIST (LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(59, 34, 100))

void hs_av_on_log(void *priv, enum hs_log_level level, const char *msg)
{
    static const int levels[] = {AV_LOG_QUIET,   AV_LOG_ERROR, AV_LOG_WARNING,
                                 AV_LOG_VERBOSE, AV_LOG_DEBUG, AV_LOG_TRACE};

    av_log(priv, levels[level], "%s\n", msg);
}

static int load_functions(struct hs_avfilter *f)
{
    PFN_vkGetDeviceProcAddr get =
        (PFN_vkGetDeviceProcAddr)f->hw->get_proc_addr(f->hw->inst, "vkGetDeviceProcAddr");
    PFN_vkGetPhysicalDeviceMemoryProperties get_memory =
        (PFN_vkGetPhysicalDeviceMemoryProperties)f->hw->get_proc_addr(
            f->hw->inst, "vkGetPhysicalDeviceMemoryProperties");

#define X(name)                                                              \
    f->vk.name = get ? (PFN_vk##name)get(f->hw->act_dev, "vk" #name) : NULL; \
    if (!f->vk.name) {                                                       \
        av_log(f, AV_LOG_ERROR, "the Vulkan device has no vk" #name "\n");   \
        return AVERROR(ENOSYS);                                              \
    }
    HS_AV_FUNCTIONS(X)
#undef X
    if (!get_memory)
        return AVERROR(ENOSYS);
    get_memory(f->hw->phys_dev, &f->memory);
    return 0;
}

/** The first family that computes, in the order that the device's owner prefers. */
static int choose_queue(struct hs_avfilter *f)
{
    VkDeviceQueueInfo2 info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2};
    int family = -1;

#if HAVE_QUEUE_LIST
    for (int i = 0; family < 0 && i < f->hw->nb_qf; i++) {
        if (f->hw->qf[i].flags & VK_QUEUE_COMPUTE_BIT && f->hw->qf[i].num > 0)
            family = f->hw->qf[i].idx;
    }
#else
    family = f->hw->queue_family_comp_index;
#endif
    if (family < 0) {
        av_log(f, AV_LOG_ERROR, "the Vulkan device was made without a compute queue\n");
        return AVERROR(ENOSYS);
    }
#ifdef FF_API_VULKAN_SYNC_QUEUES
    info.flags = f->hw->queue_flags;
#endif
    info.queueFamilyIndex = (uint32_t)family;
    f->queue_family = (uint32_t)family;
    f->vk.GetDeviceQueue2(f->hw->act_dev, &info, &f->queue);
    if (!f->queue) {
        av_log(f, AV_LOG_ERROR, "the Vulkan device gives no queue of family %d\n", family);
        return AVERROR(ENOSYS);
    }
    return 0;
}

static int load_model(struct hs_avfilter *f)
{
    const VkPhysicalDeviceFeatures2 *features =
        f->hw->device_features.sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2
            ? &f->hw->device_features
            : NULL;
    const bool oidn = hsoidn_is(f->model);
    struct hs_model_params params = hsmodel_params(oidn ? HSOIDN_BEHIND : f->model);
    int err = hs_device_import(
        &(struct hs_device_params){
            .get_instance_proc_addr = f->hw->get_proc_addr,
            .instance = f->hw->inst,
            .physical_device = f->hw->phys_dev,
            .device = f->hw->act_dev,
            .enabled_features = features,
            .enabled_extensions = f->hw->enabled_dev_extensions,
            .enabled_extension_count = (uint32_t)f->hw->nb_enabled_dev_extensions,
            .queue_family = f->queue_family,
            .log = &f->log,
        },
        &f->device);

    params.path = (enum hs_path)f->path;
    if (!err)
        err = hs_model_load(f->device, &params, &f->engine);
    if (!err && oidn)
        err = hsoidn_open(&f->log, &f->denoiser);
    if (err < 0)
        return hs_av_error(err);
    hs_model_describe(f->engine, &f->info);
    f->matrix = f->info.path == HS_PATH_MATRIX;
    return 0;
}

/** Whether the device was made with the feature, so that a model could use it. */
static bool has_matrices(const struct hs_avfilter *f)
{
    for (const VkBaseOutStructure *s = f->hw->device_features.pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR)
            return ((const VkPhysicalDeviceCooperativeMatrixFeaturesKHR *)s)->cooperativeMatrix;
    }
    return false;
}

static void tell(struct hs_avfilter *f)
{
    PFN_vkGetPhysicalDeviceProperties get = (PFN_vkGetPhysicalDeviceProperties)f->hw->get_proc_addr(
        f->hw->inst, "vkGetPhysicalDeviceProperties");
    VkPhysicalDeviceProperties properties = {0};

    if (get)
        get(f->hw->phys_dev, &properties);
    av_log(f, AV_LOG_INFO, "model %s%s, %s path, on %s (device made %s cooperative matrices)\n",
           f->denoiser ? HSOIDN_NAME " on the CPU, then " : "", f->info.preset,
           f->matrix ? "matrix" : "plain", properties.deviceName,
           has_matrices(f) ? "with" : "without");
}

int hs_av_device_open(struct hs_avfilter *f, AVBufferRef *device)
{
    const AVHWDeviceContext *context;
    VkResult result;
    int err;

    if (device)
        f->device_ref = av_buffer_ref(device);
    else if ((err = av_hwdevice_ctx_create(&f->device_ref, AV_HWDEVICE_TYPE_VULKAN, NULL, NULL,
                                           0)) < 0) {
        av_log(f, AV_LOG_ERROR, "no Vulkan device can be made: %s\n", av_err2str(err));
        return err;
    }
    if (!f->device_ref)
        return AVERROR(ENOMEM);
    context = (const AVHWDeviceContext *)f->device_ref->data;
    if (context->type != AV_HWDEVICE_TYPE_VULKAN) {
        av_log(f, AV_LOG_ERROR, "a Vulkan device is needed, not one of type %s\n",
               av_hwdevice_get_type_name(context->type));
        return AVERROR(EINVAL);
    }
    f->hw = context->hwctx;
    err = load_functions(f);
    if (!err)
        err = choose_queue(f);
    if (!err)
        err = load_model(f);
    if (err < 0)
        return err;
    result = f->vk.CreateCommandPool(f->hw->act_dev,
                                     &(VkCommandPoolCreateInfo){
                                         .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                         .queueFamilyIndex = f->queue_family,
                                     },
                                     f->hw->alloc, &f->pool);
    if (result != VK_SUCCESS)
        return hs_av_vk_error(f, result, "vkCreateCommandPool");
    tell(f);
    return hs_av_slots_make(f);
}

void hs_av_device_close(struct hs_avfilter *f)
{
    if (f->pool)
        f->vk.DestroyCommandPool(f->hw->act_dev, f->pool, f->hw->alloc);
    f->pool = VK_NULL_HANDLE;
    hsoidn_close(&f->denoiser);
    hs_model_destroy(&f->engine);
    hs_device_destroy(&f->device);
    f->hw = NULL;
    av_buffer_unref(&f->device_ref);
}

static int allocate(struct hs_avfilter *f, const VkMemoryRequirements *need,
                    VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags liked,
                    VkDeviceMemory *memory)
{
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    uint32_t bits = need->memoryTypeBits;
    int type;

    // The device is not ours alone: one heap may be full where another one is not.
    while ((type = hsmemory_type_find(&f->memory, bits, wanted, liked)) >= 0) {
        result = f->vk.AllocateMemory(f->hw->act_dev,
                                      &(VkMemoryAllocateInfo){
                                          .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                          .allocationSize = need->size,
                                          .memoryTypeIndex = (uint32_t)type,
                                      },
                                      f->hw->alloc, memory);
        if (result == VK_SUCCESS)
            return 0;
        bits &= ~(1u << type);
    }
    return hs_av_vk_error(f, result, "vkAllocateMemory");
}

int hs_av_buffer_make(struct hs_avfilter *f, VkDeviceSize size, bool readback,
                      struct hs_av_buffer *buffer)
{
    const VkMemoryPropertyFlags visible =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryRequirements need;
    VkResult result;
    void *map;
    int err;

    if (buffer->size >= size)
        return 0;
    hs_av_buffer_free(f, buffer);
    result = f->vk.CreateBuffer(
        f->hw->act_dev,
        &(VkBufferCreateInfo){
            .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
            .size = size,
            .usage = readback ? VK_BUFFER_USAGE_TRANSFER_DST_BIT : VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
        },
        f->hw->alloc, &buffer->buffer);
    if (result != VK_SUCCESS)
        return hs_av_vk_error(f, result, "vkCreateBuffer");
    f->vk.GetBufferMemoryRequirements(f->hw->act_dev, buffer->buffer, &need);
    err = allocate(f, &need, visible, readback ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT : 0,
                   &buffer->memory);
    if (err < 0)
        goto error;
    result = f->vk.BindBufferMemory(f->hw->act_dev, buffer->buffer, buffer->memory, 0);
    if (result == VK_SUCCESS)
        result = f->vk.MapMemory(f->hw->act_dev, buffer->memory, 0, VK_WHOLE_SIZE, 0, &map);
    if (result != VK_SUCCESS) {
        err = hs_av_vk_error(f, result, "vkMapMemory");
        goto error;
    }
    buffer->map = map;
    buffer->size = size;
    return 0;
error:
    hs_av_buffer_free(f, buffer);
    return err;
}

void hs_av_buffer_free(struct hs_avfilter *f, struct hs_av_buffer *buffer)
{
    if (buffer->buffer)
        f->vk.DestroyBuffer(f->hw->act_dev, buffer->buffer, f->hw->alloc);
    if (buffer->memory)
        f->vk.FreeMemory(f->hw->act_dev, buffer->memory, f->hw->alloc);
    *buffer = (struct hs_av_buffer){0};
}

int hs_av_view_make(struct hs_avfilter *f, VkImage image, VkFormat format, VkImageView *view)
{
    VkResult result =
        f->vk.CreateImageView(f->hw->act_dev,
                              &(VkImageViewCreateInfo){
                                  .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .image = image,
                                  .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                  .format = format,
                                  .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
                              },
                              f->hw->alloc, view);

    return result == VK_SUCCESS ? 0 : hs_av_vk_error(f, result, "vkCreateImageView");
}

int hs_av_image_make(struct hs_avfilter *f, VkFormat format, uint32_t width, uint32_t height,
                     VkImageUsageFlags usage, struct hs_av_image *image)
{
    VkMemoryRequirements need;
    VkResult result;
    int err;

    if (image->format == format && image->width == width && image->height == height)
        return 0;
    hs_av_image_free(f, image);
    result = f->vk.CreateImage(f->hw->act_dev,
                               &(VkImageCreateInfo){
                                   .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                   .imageType = VK_IMAGE_TYPE_2D,
                                   .format = format,
                                   .extent = {width, height, 1},
                                   .mipLevels = 1,
                                   .arrayLayers = 1,
                                   .samples = VK_SAMPLE_COUNT_1_BIT,
                                   .usage = usage,
                               },
                               f->hw->alloc, &image->image);
    if (result != VK_SUCCESS)
        return hs_av_vk_error(f, result, "vkCreateImage");
    f->vk.GetImageMemoryRequirements(f->hw->act_dev, image->image, &need);
    err = allocate(f, &need, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &image->memory);
    if (err < 0)
        goto error;
    result = f->vk.BindImageMemory(f->hw->act_dev, image->image, image->memory, 0);
    if (result != VK_SUCCESS) {
        err = hs_av_vk_error(f, result, "vkBindImageMemory");
        goto error;
    }
    err = hs_av_view_make(f, image->image, format, &image->view);
    if (err < 0)
        goto error;
    image->format = format;
    image->width = width;
    image->height = height;
    return 0;
error:
    hs_av_image_free(f, image);
    return err;
}

void hs_av_image_free(struct hs_avfilter *f, struct hs_av_image *image)
{
    if (image->view) {
        if (f->stream)
            hs_stream_forget(f->stream, image->view);
        f->vk.DestroyImageView(f->hw->act_dev, image->view, f->hw->alloc);
    }
    if (image->image)
        f->vk.DestroyImage(f->hw->act_dev, image->image, f->hw->alloc);
    if (image->memory)
        f->vk.FreeMemory(f->hw->act_dev, image->memory, f->hw->alloc);
    *image = (struct hs_av_image){0};
}
