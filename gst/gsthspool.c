// SPDX-License-Identifier: MIT
#include "gsthspool.h"

#include "gsthsformat.h"

struct _GstHsPool {
    GstBufferPool parent;
    GstVulkanDevice *device;
    VkFormat format;
    guint width, height;
    VkImageUsageFlags usage;
};

G_DEFINE_FINAL_TYPE(GstHsPool, gst_hs_pool, GST_TYPE_BUFFER_POOL)

static GstFlowReturn alloc_buffer(GstBufferPool *base, GstBuffer **buffer,
                                  GstBufferPoolAcquireParams *params)
{
    GstHsPool *pool = GST_HS_POOL(base);
    GstMemory *memory = gst_vulkan_image_memory_alloc(
        pool->device, pool->format, pool->width, pool->height, VK_IMAGE_TILING_OPTIMAL, pool->usage,
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);

    (void)params;
    if (!memory)
        return GST_FLOW_ERROR;
    *buffer = gst_buffer_new();
    gst_buffer_append_memory(*buffer, memory);
    return GST_FLOW_OK;
}

static void finalize(GObject *object)
{
    gst_clear_object(&GST_HS_POOL(object)->device);
    G_OBJECT_CLASS(gst_hs_pool_parent_class)->finalize(object);
}

static void gst_hs_pool_class_init(GstHsPoolClass *class)
{
    G_OBJECT_CLASS(class)->finalize = finalize;
    GST_BUFFER_POOL_CLASS(class)->alloc_buffer = alloc_buffer;
}

static void gst_hs_pool_init(GstHsPool *pool)
{
    (void)pool;
}

GstBufferPool *gst_hs_pool_new(GstVulkanDevice *device, VkFormat format, guint width, guint height,
                               VkImageUsageFlags usage, GstCaps *caps)
{
    GstHsPool *pool = g_object_new(GST_TYPE_HS_POOL, NULL);
    GstBufferPool *base = GST_BUFFER_POOL(gst_object_ref_sink(pool));
    GstStructure *config = gst_buffer_pool_get_config(base);

    pool->device = gst_object_ref(device);
    pool->format = format;
    pool->width = width;
    pool->height = height;
    pool->usage = usage;
    gst_buffer_pool_config_set_params(config, caps, width * height * gst_hs_format_bytes(format), 0,
                                      0);
    if (!gst_buffer_pool_set_config(base, config) || !gst_buffer_pool_set_active(base, TRUE))
        gst_clear_object(&base);
    return base;
}

GstBufferPool *gst_hs_pool_new_video(GstVulkanDevice *device, GstCaps *caps,
                                     VkImageUsageFlags usage, bool active)
{
    GstBufferPool *pool = gst_vulkan_image_buffer_pool_new(device);
    GstStructure *config = gst_buffer_pool_get_config(pool);
    GstVideoInfo info;

    if (!gst_video_info_from_caps(&info, caps)) {
        gst_structure_free(config);
        gst_clear_object(&pool);
        return NULL;
    }
    gst_buffer_pool_config_set_params(config, caps, (guint)info.size, 0, 0);
    gst_vulkan_image_buffer_pool_config_set_allocation_params(
        config, usage, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, VK_IMAGE_LAYOUT_UNDEFINED, 0);
    if (!gst_buffer_pool_set_config(pool, config) ||
        (active && !gst_buffer_pool_set_active(pool, TRUE)))
        gst_clear_object(&pool);
    return pool;
}

void gst_hs_pool_clear(GstBufferPool **pool)
{
    if (*pool)
        gst_buffer_pool_set_active(*pool, FALSE);
    gst_clear_object(pool);
}
