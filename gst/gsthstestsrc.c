// SPDX-License-Identifier: MIT
/**
 * SECTION:element-hstestsrc
 * @title: hstestsrc
 *
 * Renders procedural scenes on the device: linear colour with depth, motion and guides as
 * #GstHsFrameMeta, without touching the CPU when what is behind takes Vulkan images.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 hstestsrc pattern=wires num-buffers=48 ! hsupscale tone-map=aces \
 *     ! vulkandownload ! videoconvert ! autovideosink
 * ]|
 */
#include "gsthstestsrc.h"

#include "gsthspool.h"

#define GST_CAT_DEFAULT gst_hs_debug

G_DEFINE_FINAL_TYPE(GstHsTestSrc, gst_hs_test_src, GST_TYPE_PUSH_SRC)

static const struct {
    enum hsio_plane kind;
    VkFormat format;
} outputs[] = {
    {HSIO_PLANE_COLOR, VK_FORMAT_R16G16B16A16_SFLOAT},
    {HSIO_PLANE_DEPTH, VK_FORMAT_R32_SFLOAT},
    {HSIO_PLANE_MOTION, VK_FORMAT_R16G16_SFLOAT},
    {HSIO_PLANE_NORMAL, VK_FORMAT_R16G16B16A16_SFLOAT},
    {HSIO_PLANE_DIFFUSE_ALBEDO, VK_FORMAT_R16G16B16A16_SFLOAT},
    {HSIO_PLANE_SPECULAR_ALBEDO, VK_FORMAT_R16G16B16A16_SFLOAT},
    {HSIO_PLANE_HIT_DISTANCE, VK_FORMAT_R16_SFLOAT},
};

static int open_clip(GstHsTestSrc *self)
{
    int err = hs_scenes_create(
        &(struct hs_scenes_params){
            .get_instance_proc_addr = vkGetInstanceProcAddr,
            .instance = self->share.instance->instance,
            .physical_device = gst_vulkan_device_get_physical_device(self->share.device),
            .device = self->share.device->device,
            .log = &self->log.log,
        },
        &self->scenes);

    if (err < 0)
        return err;
    return hs_clip_create(self->scenes,
                          &(struct hs_clip_params){
                              .pattern = self->now.pattern,
                              .seed = self->now.seed,
                              .frame_count = self->now.clip_frames,
                              .render_width = self->now.width,
                              .render_height = self->now.height,
                              // No reference is rendered; the size tells the jitter's period.
                              .width = MIN(2 * self->now.width, GST_HS_SIDE_MOST),
                              .height = MIN(2 * self->now.height, GST_HS_SIDE_MOST),
                              .mode = (enum hs_scenes_mode)self->now.mode,
                              .spp = self->now.spp,
                              .no_jitter = !self->now.jitter,
                              .still = self->now.still,
                              .speed = (float)self->now.speed,
                              .frames_in_flight = GST_HS_TEST_SRC_SLOTS,
                          },
                          &self->clip);
}

static void close_all(GstHsTestSrc *self)
{
    for (int i = 0; i < GST_HS_TEST_SRC_SLOTS; i++) {
        if (self->operations[i])
            gst_vulkan_operation_wait(self->operations[i]);
    }
    gst_hs_device_drain(&self->share);
    hs_clip_destroy(&self->clip);
    hs_scenes_destroy(&self->scenes);
    gst_hs_readback_clear(&self->readback);
    for (int i = 0; i < GST_HS_TEST_SRC_SLOTS; i++)
        gst_clear_object(&self->operations[i]);
    for (int i = 0; i < HSIO_PLANE_COUNT; i++)
        gst_hs_pool_clear(&self->pools[i]);
    g_clear_pointer(&self->convention, gst_hs_convention_unref);
    g_clear_pointer(&self->now.pattern, g_free);
}

static bool open_pools(GstHsTestSrc *self)
{
    for (guint i = 0; i < G_N_ELEMENTS(outputs); i++) {
        if (i && !self->now.planes)
            break;
        self->pools[outputs[i].kind] = gst_hs_pool_new(
            self->share.device, outputs[i].format, self->now.width, self->now.height,
            VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |
                VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
            NULL);
        if (!self->pools[outputs[i].kind])
            return false;
    }
    return true;
}

static gboolean start(GstBaseSrc *base)
{
    GstHsTestSrc *self = GST_HS_TEST_SRC(base);
    struct hsio_convention convention;
    GError *error = NULL;
    int err;

    if (!gst_hs_device_require(&self->share, GST_ELEMENT(self)))
        return FALSE;
    GST_OBJECT_LOCK(self);
    self->now = self->settings;
    self->now.pattern = g_strdup(self->settings.pattern);
    GST_OBJECT_UNLOCK(self);
    err = open_clip(self);
    for (int i = 0; !err && i < GST_HS_TEST_SRC_SLOTS; i++) {
        self->operations[i] = gst_hs_operation_new(&self->share, &error);
        if (!self->operations[i]) {
            hs_log_message(&self->log.log, HS_LOG_ERROR, "%s", error->message);
            err = HS_ERR_INTERNAL;
        }
        g_clear_error(&error);
    }
    if (!err && !open_pools(self))
        err = HS_ERR_NOMEM;
    if (err < 0) {
        gst_hs_log_post(&self->log, GST_ELEMENT(self), err,
                        "The scene can not be set up (gst-inspect-1.0 hstestsrc lists patterns)");
        close_all(self);
        return FALSE;
    }
    hsio_convention_preset(&convention, "raw", NULL);
    self->convention = gst_hs_convention_new(&convention);
    self->next = 0;
    GST_OBJECT_LOCK(self);
    self->running = true;
    GST_OBJECT_UNLOCK(self);
    return TRUE;
}

static gboolean stop(GstBaseSrc *base)
{
    GstHsTestSrc *self = GST_HS_TEST_SRC(base);

    GST_OBJECT_LOCK(self);
    self->running = false;
    GST_OBJECT_UNLOCK(self);
    close_all(self);
    return TRUE;
}

/** One frame's images, on their way. */
struct frame {
    GstHsPlane planes[HSIO_PLANE_COUNT];
    GstVulkanImageView *views[HSIO_PLANE_COUNT];
};

static void clear_frame(struct frame *frame)
{
    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        if (frame->views[i])
            gst_vulkan_image_view_unref(frame->views[i]);
        gst_clear_buffer(&frame->planes[i].buffer);
    }
}

static GstFlowReturn acquire(GstHsTestSrc *self, struct frame *frame, struct gst_hs_use uses[],
                             guint *count)
{
    *count = 0;
    for (guint i = 0; i < G_N_ELEMENTS(outputs); i++) {
        GstHsPlane *plane = &frame->planes[outputs[i].kind];
        GstFlowReturn flow;

        if (!self->pools[outputs[i].kind])
            continue;
        flow = gst_buffer_pool_acquire_buffer(self->pools[outputs[i].kind], &plane->buffer, NULL);
        if (flow != GST_FLOW_OK)
            return flow;
        plane->format = outputs[i].format;
        plane->width = self->now.width;
        plane->height = self->now.height;
        frame->views[outputs[i].kind] =
            gst_vulkan_get_or_create_image_view(gst_hs_image_of(plane->buffer));
        uses[(*count)++] = (struct gst_hs_use){
            .buffer = plane->buffer,
            .stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
            .access = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
            .layout = VK_IMAGE_LAYOUT_GENERAL,
        };
    }
    return GST_FLOW_OK;
}

static VkImageView view_of(const struct frame *frame, enum hsio_plane kind)
{
    return frame->views[kind] ? frame->views[kind]->view : VK_NULL_HANDLE;
}

static int record(GstHsTestSrc *self, const struct frame *frame, const struct gst_hs_use uses[],
                  guint count)
{
    GstVulkanOperation *operation = self->operations[self->slot];
    const struct hs_clip_job job = {
        .frame = (uint32_t)self->next,
        .planes = {.colour = view_of(frame, HSIO_PLANE_COLOR),
                   .depth = view_of(frame, HSIO_PLANE_DEPTH),
                   .motion = view_of(frame, HSIO_PLANE_MOTION),
                   .normal = view_of(frame, HSIO_PLANE_NORMAL),
                   .diffuse_albedo = view_of(frame, HSIO_PLANE_DIFFUSE_ALBEDO),
                   .specular_albedo = view_of(frame, HSIO_PLANE_SPECULAR_ALBEDO),
                   .hit_distance = view_of(frame, HSIO_PLANE_HIT_DISTANCE)},
    };
    GError *error = NULL;
    int err;

    gst_vulkan_operation_wait(operation);
    if (!gst_hs_operation_begin(operation, uses, count, &error))
        goto error;
    gst_vulkan_command_buffer_lock(operation->cmd_buf);
    err = hs_clip_record(self->clip, &job, 1, operation->cmd_buf->cmd);
    gst_vulkan_command_buffer_unlock(operation->cmd_buf);
    if (!gst_hs_operation_end(operation, &error))
        goto error;
    self->slot = (self->slot + 1) % GST_HS_TEST_SRC_SLOTS;
    return err;
error:
    hs_log_message(&self->log.log, HS_LOG_ERROR, "%s", error->message);
    g_clear_error(&error);
    return HS_ERR_INTERNAL;
}

/** Brings the planes into system memory. */
static int download(GstHsTestSrc *self, struct frame *frame)
{
    GError *error = NULL;

    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        GstHsPlane read;

        if (!frame->planes[i].buffer)
            continue;
        if (!gst_hs_readback_plane(&self->readback, &self->share, &frame->planes[i], &read,
                                   &error)) {
            hs_log_message(&self->log.log, HS_LOG_ERROR, "%s", error->message);
            g_clear_error(&error);
            return HS_ERR_INTERNAL;
        }
        gst_buffer_unref(frame->planes[i].buffer);
        frame->planes[i] = read;
    }
    return 0;
}

static void fill_meta(GstHsTestSrc *self, const struct frame *frame, GstBuffer *buffer)
{
    GstHsFrameMeta *meta = gst_hs_frame_meta_add(buffer);
    GstHsOriginMeta *origin = gst_hs_origin_meta_add(buffer);
    struct hs_clip_info info;

    hs_clip_frame(self->clip, (uint32_t)self->next, &info);
    meta->number = origin->number = (gint64)self->next;
    meta->reset = info.reset;
    meta->has_camera = meta->has_clip = meta->has_exposure = TRUE;
    for (int i = 0; i < 2; i++)
        meta->jitter[i] = info.jitter[i];
    for (int i = 0; i < 16; i++) {
        meta->view[i] = (gfloat)info.camera.world_to_view[i];
        meta->proj[i] = (gfloat)info.camera.view_to_clip[i];
    }
    meta->near = info.near_z;
    meta->far = info.far_z;
    meta->exposure = info.exposure;
    meta->convention = g_atomic_rc_box_acquire(self->convention);
    for (int i = HSIO_PLANE_COLOR + 1; i < HSIO_PLANE_COUNT; i++) {
        if (frame->planes[i].buffer)
            gst_hs_frame_meta_set_plane(meta, (enum hsio_plane)i, &frame->planes[i]);
    }
}

static GstFlowReturn create(GstPushSrc *base, GstBuffer **out)
{
    GstHsTestSrc *self = GST_HS_TEST_SRC(base);
    struct gst_hs_use uses[HSIO_PLANE_COUNT];
    struct frame frame = {0};
    guint count;
    GstFlowReturn flow = acquire(self, &frame, uses, &count);
    int err;

    if (flow != GST_FLOW_OK)
        goto done;
    err = record(self, &frame, uses, count);
    if (!err && !self->vulkan)
        err = download(self, &frame);
    if (err < 0) {
        gst_hs_log_post(&self->log, GST_ELEMENT(self), err, "A frame can not be rendered");
        flow = GST_FLOW_ERROR;
        goto done;
    }
    *out = gst_buffer_ref(frame.planes[HSIO_PLANE_COLOR].buffer);
    gst_clear_buffer(&frame.planes[HSIO_PLANE_COLOR].buffer);
    *out = gst_buffer_make_writable(*out);
    fill_meta(self, &frame, *out);
    if (!gst_hs_frame_stamp(GST_ELEMENT(self), *out, self->next, &self->now.rate)) {
        gst_clear_buffer(out);
        flow = GST_FLOW_ERROR;
        goto done;
    }
    self->next++;
done:
    clear_frame(&frame);
    return flow;
}

static GstCaps *make_caps(const struct gst_hs_test_src_settings *settings, bool vulkan)
{
    return gst_hs_format_caps(HSIO_PLANE_COLOR, outputs[0].format, true, (int)settings->width,
                              (int)settings->height, settings->rate.n, settings->rate.d,
                              vulkan ? GST_HS_VULKAN : NULL);
}

static GstCaps *get_caps(GstBaseSrc *base, GstCaps *filter)
{
    GstHsTestSrc *self = GST_HS_TEST_SRC(base);
    const struct gst_hs_test_src_settings *settings;
    GstCaps *caps;

    GST_OBJECT_LOCK(self);
    settings = self->running ? &self->now : &self->settings;
    caps = make_caps(settings, true);
    gst_caps_append(caps, make_caps(settings, false));
    GST_OBJECT_UNLOCK(self);
    return gst_hs_caps_filter(caps, filter);
}

static gboolean set_caps(GstBaseSrc *base, GstCaps *caps)
{
    GST_HS_TEST_SRC(base)->vulkan =
        gst_caps_features_contains(gst_caps_get_features(caps, 0), GST_HS_VULKAN);
    return TRUE;
}

/** The pools are our own. */
static gboolean decide_allocation(GstBaseSrc *base, GstQuery *query)
{
    (void)base;
    (void)query;
    return TRUE;
}

static gboolean is_seekable(GstBaseSrc *base)
{
    return !gst_base_src_is_live(base);
}

static gboolean do_seek(GstBaseSrc *base, GstSegment *segment)
{
    GstHsTestSrc *self = GST_HS_TEST_SRC(base);

    self->next = gst_hs_frame_at(segment->position, &self->now.rate);
    return TRUE;
}

/** Live: a frame is due at its time. */
static void get_times(GstBaseSrc *base, GstBuffer *buffer, GstClockTime *from, GstClockTime *to)
{
    *from = *to = GST_CLOCK_TIME_NONE;
    if (!gst_base_src_is_live(base))
        return;
    *from = GST_BUFFER_PTS(buffer);
    *to = *from + GST_BUFFER_DURATION(buffer);
}

static gboolean query(GstBaseSrc *base, GstQuery *query)
{
    return gst_hs_device_query(&GST_HS_TEST_SRC(base)->share, GST_ELEMENT(base), query) ||
           GST_BASE_SRC_CLASS(gst_hs_test_src_parent_class)->query(base, query);
}

static void set_context(GstElement *element, GstContext *context)
{
    gst_hs_device_set_context(&GST_HS_TEST_SRC(element)->share, element, context);
    GST_ELEMENT_CLASS(gst_hs_test_src_parent_class)->set_context(element, context);
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
    struct gst_hs_device *share = &GST_HS_TEST_SRC(element)->share;
    GstStateChangeReturn result;

    if (transition == GST_STATE_CHANGE_NULL_TO_READY && !gst_hs_device_require(share, element))
        return GST_STATE_CHANGE_FAILURE;
    result = GST_ELEMENT_CLASS(gst_hs_test_src_parent_class)->change_state(element, transition);
    if (transition == GST_STATE_CHANGE_READY_TO_NULL)
        gst_hs_device_clear(share);
    return result;
}

static void finalize(GObject *object)
{
    GstHsTestSrc *self = GST_HS_TEST_SRC(object);

    g_free(self->settings.pattern);
    gst_hs_device_finish(&self->share);
    gst_hs_log_finish(&self->log);
    G_OBJECT_CLASS(gst_hs_test_src_parent_class)->finalize(object);
}

static void gst_hs_test_src_init(GstHsTestSrc *self)
{
    gst_hs_log_init(&self->log, self);
    gst_hs_device_init(&self->share);
    self->settings = (struct gst_hs_test_src_settings){
        .pattern = g_strdup("random"),
        .seed = 1,
        .width = 320,
        .height = 180,
        .rate = {24, 1},
        .clip_frames = 48,
        .spp = 4,
        .jitter = true,
        .speed = 1,
        .planes = true,
    };
    gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

static void gst_hs_test_src_class_init(GstHsTestSrcClass *class)
{
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstBaseSrcClass *src = GST_BASE_SRC_CLASS(class);
    GstCaps *caps = gst_caps_from_string(
        GST_HS_PLANE_CAPS "(" GST_HS_VULKAN "), kind=color, format=rgba16f, width=[ 16, 16384 ], "
                          "height=[ 16, 16384 ], framerate=[ 1/2147483647, 2147483647/1 ], "
                          "transfer=linear; " GST_HS_PLANE_CAPS ", kind=color, format=rgba16f, "
                          "width=[ 16, 16384 ], height=[ 16, 16384 ], "
                          "framerate=[ 1/2147483647, 2147483647/1 ], transfer=linear");

    G_OBJECT_CLASS(class)->finalize = finalize;
    gst_hs_test_src_class_init_properties(G_OBJECT_CLASS(class));
    gst_element_class_set_static_metadata(element, "Hindsight test source", "Source/Video",
                                          "Renders procedural scenes with depth, motion and guides",
                                          "The Hindsight authors");
    gst_element_class_add_pad_template(
        element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
    element->set_context = set_context;
    element->change_state = change_state;
    gst_hs_source_class_init_seeks(src);
    src->start = start;
    src->stop = stop;
    src->get_caps = get_caps;
    src->set_caps = set_caps;
    src->decide_allocation = decide_allocation;
    src->is_seekable = is_seekable;
    src->do_seek = do_seek;
    src->get_times = get_times;
    src->query = query;
    GST_PUSH_SRC_CLASS(class)->create = create;
}
