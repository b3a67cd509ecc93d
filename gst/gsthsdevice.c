// SPDX-License-Identifier: MIT
#include "gsthsdevice.h"

#define GST_CAT_DEFAULT gst_hs_debug

/** What a device of ours was created with; hangs on the GstVulkanDevice. */
struct device_tag {
    struct hs_device_features features; ///< Points into itself.
    VkPhysicalDeviceVideoMaintenance1FeaturesKHR video;
    const char **extensions;
    guint extension_count;
};

static GQuark quark(const char *name)
{
    return g_quark_from_static_string(name);
}
#define TAG quark("hindsight-device-tag")
#define QUEUE quark("hindsight-queue")

static void free_tag(gpointer data)
{
    struct device_tag *tag = data;

    g_free(tag->extensions);
    g_free(tag);
}

/** Names of enabled extensions, which have no getter, in memory of the driver's list. */
static bool list_extensions(GstVulkanDevice *device, struct device_tag *tag,
                            VkExtensionProperties **list)
{
    VkPhysicalDevice gpu = gst_vulkan_device_get_physical_device(device);
    uint32_t count = 0;

    if (vkEnumerateDeviceExtensionProperties(gpu, NULL, &count, NULL) != VK_SUCCESS)
        return false;
    *list = g_new0(VkExtensionProperties, count);
    tag->extensions = g_new0(const char *, count);
    if (vkEnumerateDeviceExtensionProperties(gpu, NULL, &count, *list) < 0)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (gst_vulkan_device_is_extension_enabled(device, (*list)[i].extensionName))
            tag->extensions[tag->extension_count++] = g_intern_string((*list)[i].extensionName);
    }
    return true;
}

/** Everything that GstVulkan enables, plus what the engine has a use for. */
static bool fill_features(GstVulkanDevice *device, struct device_tag *tag)
{
    struct hs_device_report report;
    VkPhysicalDevice gpu = gst_vulkan_device_get_physical_device(device);
    VkBaseOutStructure *tail = (VkBaseOutStructure *)&tag->features.features2;

    if (hs_device_query(
            &(struct hs_device_query_params){
                .get_instance_proc_addr = vkGetInstanceProcAddr,
                .instance = device->instance->instance,
                .physical_device = gpu,
            },
            &tag->features, &report) < 0)
        return false;
    while (tail->pNext)
        tail = tail->pNext;
    if (gst_vulkan_device_is_extension_enabled(device, VK_KHR_VIDEO_MAINTENANCE_1_EXTENSION_NAME)) {
        tag->video.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VIDEO_MAINTENANCE_1_FEATURES_KHR;
        tail->pNext = (VkBaseOutStructure *)&tag->video;
    }
    vkGetPhysicalDeviceFeatures2(gpu, &tag->features.features2);
    // Bounds checks of every access would cost speed, and nobody here needs them.
    tag->features.features2.features.robustBufferAccess = VK_FALSE;
    return true;
}

static VkResult create_device(GstVulkanDevice *device, const struct device_tag *tag, VkDevice *made)
{
    static const float priority = 1;
    GArray *families = gst_vulkan_device_queue_family_indices(device);
    VkDeviceQueueCreateInfo *queues = g_new0(VkDeviceQueueCreateInfo, families->len);
    VkResult result;

    for (guint i = 0; i < families->len; i++) {
        queues[i] = (VkDeviceQueueCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .queueFamilyIndex = g_array_index(families, uint32_t, i),
            .queueCount = 1,
            .pQueuePriorities = &priority,
        };
    }
    result = vkCreateDevice(gst_vulkan_device_get_physical_device(device),
                            &(VkDeviceCreateInfo){
                                .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                .pNext = &tag->features.features2,
                                .queueCreateInfoCount = families->len,
                                .pQueueCreateInfos = queues,
                                .enabledExtensionCount = tag->extension_count,
                                .ppEnabledExtensionNames = tag->extensions,
                            },
                            NULL, made);
    g_free(queues);
    g_array_unref(families);
    return result;
}

/**
 * Lets GstVulkan open its device, which picks the queue families and sets private state, then puts
 * a VkDevice with more features in its place. Nothing has been made from the first one yet.
 */
static bool open_and_swap(GstVulkanDevice *device, GError **error)
{
    struct device_tag *tag = g_new0(struct device_tag, 1);
    VkExtensionProperties *list = NULL;
    VkDevice made = VK_NULL_HANDLE;
    bool extended = false;

    gst_vulkan_device_enable_extension(device, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    if (!gst_vulkan_device_open(device, error)) {
        free_tag(tag);
        return false;
    }
    if (list_extensions(device, tag, &list) && fill_features(device, tag) &&
        create_device(device, tag, &made) == VK_SUCCESS) {
        vkDestroyDevice(device->device, NULL);
        device->device = made;
        g_object_set_qdata_full(G_OBJECT(device), TAG, tag, free_tag);
        extended = true;
    }
    g_free(list);
    if (!extended) {
        GST_WARNING_OBJECT(device, "no device with further features: the stock one is used");
        free_tag(tag);
    }
    return true;
}

static void free_weak(gpointer data)
{
    g_weak_ref_clear(data);
    g_free(data);
}

/** The object behind a weak reference that hangs on `holder`, or NULL. */
static gpointer get_weak(gpointer holder, GQuark key)
{
    GWeakRef *weak = g_object_get_qdata(holder, key);

    return weak ? g_weak_ref_get(weak) : NULL;
}

static void set_weak(gpointer holder, GQuark key, gpointer object)
{
    GWeakRef *weak = g_new0(GWeakRef, 1);

    g_weak_ref_init(weak, object);
    g_object_set_qdata_full(holder, key, weak, free_weak);
}

static GMutex devices_lock;

/** Whichever element asks the instance for a device gets the one that is in use already. */
static GstVulkanDevice *on_create_device(GstVulkanInstance *instance, guint index, gpointer unused)
{
    char *name = g_strdup_printf("hindsight-device-%u", index);
    GQuark key = g_quark_from_string(name);
    GError *error = NULL;
    GstVulkanDevice *device;

    (void)unused;
    g_free(name);
    g_mutex_lock(&devices_lock);
    device = get_weak(instance, key);
    if (!device && index < instance->n_physical_devices) {
        device = gst_vulkan_device_new_with_index(instance, index);
        if (!open_and_swap(device, &error)) {
            GST_WARNING_OBJECT(instance, "device %u: %s", index, error->message);
            g_clear_error(&error);
            gst_clear_object(&device);
        } else {
            set_weak(instance, key, device);
        }
    }
    g_mutex_unlock(&devices_lock);
    return device;
}

static bool ensure_instance(struct gst_hs_device *share, GstElement *element, GError **error)
{
    GstContext *context;
    guint signal;

    if (!share->instance)
        gst_vulkan_global_context_query(element, GST_VULKAN_INSTANCE_CONTEXT_TYPE_STR);
    if (!share->instance) {
        share->instance = gst_vulkan_instance_new();
        context = gst_context_new(GST_VULKAN_INSTANCE_CONTEXT_TYPE_STR, TRUE);
        gst_context_set_vulkan_instance(context, share->instance);
        gst_element_set_context(element, context);
        gst_element_post_message(element,
                                 gst_message_new_have_context(GST_OBJECT(element), context));
    }
    if (!gst_vulkan_instance_open(share->instance, error))
        return false;
    // An application that makes the device itself is left to it: the last handler would win.
    signal = g_signal_lookup("create-device", GST_TYPE_VULKAN_INSTANCE);
    if (!g_signal_has_handler_pending(share->instance, signal, 0, FALSE))
        g_signal_connect(share->instance, "create-device", G_CALLBACK(on_create_device), NULL);
    return true;
}

/** One GstVulkanQueue for all: its lock is per object, and every get_queue() makes another. */
static bool ensure_queue(struct gst_hs_device *share, GstElement *element)
{
    if (share->queue || gst_vulkan_queue_run_context_query(element, &share->queue)) {
        if (share->queue->device == share->device)
            return true;
        gst_clear_object(&share->queue);
    }
    g_mutex_lock(&devices_lock);
    share->queue = get_weak(share->device, QUEUE);
    if (!share->queue) {
        share->queue = gst_vulkan_device_select_queue(share->device, VK_QUEUE_COMPUTE_BIT);
        if (share->queue)
            set_weak(share->device, QUEUE, share->queue);
    }
    g_mutex_unlock(&devices_lock);
    return share->queue;
}

bool gst_hs_device_ensure(struct gst_hs_device *share, GstElement *element, GError **error)
{
    bool done = false;

    g_rec_mutex_lock(&share->lock);
    if (share->asking) {
        g_set_error(error, GST_VULKAN_ERROR, GST_VULKAN_FAILED, "the device is being looked for");
    } else if (share->device && share->queue) {
        done = true;
    } else {
        share->asking = true;
        if (ensure_instance(share, element, error)) {
            done = gst_vulkan_ensure_element_device(element, share->instance, &share->device, 0) &&
                   ensure_queue(share, element);
            if (!done)
                g_set_error(error, GST_VULKAN_ERROR, GST_VULKAN_FAILED,
                            "no Vulkan device with a compute queue");
        }
        share->asking = false;
    }
    g_rec_mutex_unlock(&share->lock);
    return done;
}

bool gst_hs_device_require(struct gst_hs_device *share, GstElement *element)
{
    GError *error = NULL;

    if (gst_hs_device_ensure(share, element, &error))
        return true;
    GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND,
                      ("No usable Vulkan device: %s. Install a Vulkan 1.3 driver; a software one "
                       "will do.",
                       error ? error->message : "none found"),
                      (NULL));
    g_clear_error(&error);
    return false;
}

bool gst_hs_device_query(struct gst_hs_device *share, GstElement *element, GstQuery *query)
{
    const gchar *type;
    bool answered = false;

    if (GST_QUERY_TYPE(query) != GST_QUERY_CONTEXT)
        return false;
    gst_query_parse_context_type(query, &type);
    // Another thread that is asking here will pass the answer on by itself.
    if (!g_str_has_prefix(type, "gst.vulkan.") || !g_rec_mutex_trylock(&share->lock))
        return false;
    // States change from the sink on: those further down ask before this element has started.
    if (!share->asking && gst_hs_device_ensure(share, element, NULL))
        answered =
            gst_vulkan_handle_context_query(element, query, NULL, share->instance, share->device) ||
            gst_vulkan_queue_handle_context_query(element, query, share->queue);
    g_rec_mutex_unlock(&share->lock);
    return answered;
}

void gst_hs_device_set_context(struct gst_hs_device *share, GstElement *element,
                               GstContext *context)
{
    g_rec_mutex_lock(&share->lock);
    gst_vulkan_handle_set_context(element, context, NULL, &share->instance);
    g_rec_mutex_unlock(&share->lock);
}

bool gst_hs_device_extended(const struct gst_hs_device *share)
{
    return share->device && g_object_get_qdata(G_OBJECT(share->device), TAG);
}

int gst_hs_device_import(const struct gst_hs_device *share, const struct hs_log *log,
                         struct hs_device **device)
{
    const struct device_tag *tag = g_object_get_qdata(G_OBJECT(share->device), TAG);

    if (!tag)
        hs_log_message(log, HS_LOG_WARN,
                       "another element opened the Vulkan device first: plain arithmetic without "
                       "matrices is used");
    return hs_device_import(
        &(struct hs_device_params){
            .get_instance_proc_addr = vkGetInstanceProcAddr,
            .instance = share->instance->instance,
            .physical_device = gst_vulkan_device_get_physical_device(share->device),
            .device = share->device->device,
            .enabled_features = tag ? &tag->features.features2 : NULL,
            .enabled_extensions = tag ? tag->extensions : NULL,
            .enabled_extension_count = tag ? tag->extension_count : 0,
            .queue_family = share->queue->family,
            .log = log,
        },
        device);
}

void gst_hs_device_drain(const struct gst_hs_device *share)
{
    if (!share->queue)
        return;
    gst_vulkan_queue_submit_lock(share->queue);
    vkQueueWaitIdle(share->queue->queue);
    gst_vulkan_queue_submit_unlock(share->queue);
}

void gst_hs_device_init(struct gst_hs_device *share)
{
    *share = (struct gst_hs_device){0};
    g_rec_mutex_init(&share->lock);
}

void gst_hs_device_clear(struct gst_hs_device *share)
{
    g_rec_mutex_lock(&share->lock);
    gst_clear_object(&share->queue);
    gst_clear_object(&share->device);
    gst_clear_object(&share->instance);
    g_rec_mutex_unlock(&share->lock);
}

void gst_hs_device_finish(struct gst_hs_device *share)
{
    gst_hs_device_clear(share);
    g_rec_mutex_clear(&share->lock);
}
