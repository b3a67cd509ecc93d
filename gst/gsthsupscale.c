// SPDX-License-Identifier: MIT
/**
 * SECTION:element-hsupscale
 * @title: hsupscale
 *
 * Temporal super-resolution of rendered sequences. The sink pad takes the colour; depth, motion
 * and further planes come on request pads and are paired by running time, or travel with the
 * colour buffer as #GstHsFrameMeta, which hssequencesrc, hstestsrc and hsplanemux attach.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 hssequencesrc location=shot.%04d.exr ! hsupscale \
 *     ! hssequencesink location=out.%04d.exr
 * ]|
 * |[
 * gst-launch-1.0 hstestsrc num-buffers=48 ! hsupscale tone-map=aces ! vulkandownload \
 *     ! videoconvert ! autovideosink
 * ]|
 */
#include "gsthsupscale.h"

#include <string.h>

#include "gsthspool.h"
#include "gsthssource.h"
#include "hslook.h"
#include "hsmodel.h"

#define GST_CAT_DEFAULT gst_hs_debug

G_DEFINE_FINAL_TYPE(GstHsUpscale, gst_hs_upscale, GST_TYPE_HS_AGGREGATOR)

static GstFlowReturn acquire(GstHsUpscale *self, GstBuffer **buffer)
{
    GstFlowReturn flow = self->pool ? gst_buffer_pool_acquire_buffer(self->pool, buffer, NULL)
                                    : GST_FLOW_NOT_NEGOTIATED;

    if (flow == GST_FLOW_ERROR)
        GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                          ("No memory for an output of %dx%d: use a smaller output size.",
                           self->out.width, self->out.height),
                          (NULL));
    return flow;
}

/** What files would tell about the frame. */
static void describe(GstHsUpscale *self, const struct gst_hs_pairing *pairing,
                     struct hsio_frame_info *info)
{
    const GstHsFrameMeta *meta = pairing->meta;

    *info = (struct hsio_frame_info){
        .path = "the buffer",
        .number = (int64_t)self->stats.frames,
        .width = (int)pairing->planes[HSIO_PLANE_COLOR].width,
        .height = (int)pairing->planes[HSIO_PLANE_COLOR].height,
        .convention = meta && meta->convention ? meta->convention : &self->convention,
        .sharpness = 0,
    };
    if (meta) {
        info->number = meta->number;
        info->held = meta->held;
        info->reset = meta->reset;
        memcpy(info->jitter_px, meta->jitter, sizeof(info->jitter_px));
        info->has_jitter = true;
        info->has_view = info->has_proj = meta->has_camera;
        memcpy(info->view, meta->view, sizeof(info->view));
        memcpy(info->proj, meta->proj, sizeof(info->proj));
        info->has_clip = meta->has_clip;
        info->near = meta->near;
        info->far = meta->far;
        info->has_exposure = meta->has_exposure;
        info->exposure = meta->exposure;
        info->sharpness = meta->sharpness;
    }
    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        if (!pairing->planes[i].buffer)
            continue;
        info->planes[i].present = true;
        info->planes[i].width = (int)pairing->planes[i].width;
        info->planes[i].height = (int)pairing->planes[i].height;
        info->planes[i].path = gst_hs_plane_name((enum hsio_plane)i);
    }
}

/** False: the user wants no frame without its planes. */
static bool check_missing(GstHsUpscale *self, const struct gst_hs_pairing *pairing, int policy)
{
    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        if (!(pairing->missing >> i & 1))
            continue;
        if (policy == GST_HS_MISSING_ERROR) {
            GST_ELEMENT_ERROR(self, STREAM, FAILED,
                              ("The frame at %" GST_TIME_FORMAT " has no %s: check that both "
                               "streams have the same timestamps, or set missing-planes=ignore.",
                               GST_TIME_ARGS(GST_BUFFER_PTS(pairing->colour)),
                               gst_hs_plane_name((enum hsio_plane)i)),
                              (NULL));
            return false;
        }
        if (!(self->warned >> i & 1))
            GST_WARNING_OBJECT(self,
                               "a frame has no %s and is made without; further ones are "
                               "counted only",
                               gst_hs_plane_name((enum hsio_plane)i));
        self->warned |= 1u << i;
    }
    return true;
}

static const GstSegment *colour_segment(GstHsUpscale *self)
{
    return &GST_AGGREGATOR_PAD(gst_hs_aggregator_colour_pad(GST_HS_AGGREGATOR(self)))->segment;
}

/** Whether the frame would come too late for the sink. */
static bool is_late(GstHsUpscale *self, const struct gst_hs_pairing *pairing)
{
    const GstSegment *segment = colour_segment(self);
    GstClockTime time =
        gst_segment_to_running_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(pairing->colour));
    GstClockTime earliest;

    GST_OBJECT_LOCK(self);
    earliest = self->settings.qos ? self->earliest : GST_CLOCK_TIME_NONE;
    GST_OBJECT_UNLOCK(self);
    return GST_CLOCK_TIME_IS_VALID(earliest) && GST_CLOCK_TIME_IS_VALID(time) && time <= earliest;
}

static void post_qos(GstHsUpscale *self, const struct gst_hs_pairing *pairing)
{
    const GstSegment *segment = colour_segment(self);
    const GstClockTime pts = GST_BUFFER_PTS(pairing->colour);
    GstMessage *message = gst_message_new_qos(
        GST_OBJECT(self), FALSE, gst_segment_to_running_time(segment, GST_FORMAT_TIME, pts),
        gst_segment_to_stream_time(segment, GST_FORMAT_TIME, pts), pts,
        GST_BUFFER_DURATION(pairing->colour));

    GST_OBJECT_LOCK(self);
    self->stats.dropped++;
    gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, self->stats.frames, self->stats.dropped);
    GST_OBJECT_UNLOCK(self);
    gst_element_post_message(GST_ELEMENT(self), message);
}

static void tell_origin(GstHsUpscale *self, const struct gst_hs_pairing *pairing, GstBuffer *out)
{
    const GstHsOriginMeta *from = gst_hs_origin_meta_get(pairing->colour);
    GstHsOriginMeta *to = gst_hs_origin_meta_add(out);

    to->number = from ? from->number : (gint64)self->stats.frames;
    to->source = from && from->source ? g_atomic_rc_box_acquire(from->source) : NULL;
    to->model = self->engine.info.preset;
}

static GstFlowReturn process(GstHsAggregator *base, const struct gst_hs_pairing *pairing,
                             GstBuffer **out)
{
    GstHsUpscale *self = GST_HS_UPSCALE(base);
    struct hsframe_options options;
    struct hsio_frame_info info;
    struct gst_hs_look look;
    GstFlowReturn flow = GST_FLOW_OK;
    GstBuffer *buffer = NULL;
    char *grade;
    int policy, err;
    bool late, fresh;

    describe(self, pairing, &info);
    GST_OBJECT_LOCK(self);
    options = (struct hsframe_options){
        .auto_exposure = self->settings.auto_exposure,
        .exposure = self->settings.exposure,
        .sharpness = self->settings.sharpness,
        .firefly_clamp = self->settings.firefly_clamp,
        .reset = self->settings.reset || pairing->reset,
    };
    // Asked for from here on it is for the next frame.
    self->settings.reset = false;
    look = self->settings.look;
    policy = self->settings.missing;
    grade = g_strdup(self->settings.grade);
    GST_OBJECT_UNLOCK(self);
    err = hslook_parse(grade ? grade : "none", &self->log.log, &options.look);
    g_free(grade);
    if (err < 0) {
        gst_hs_log_post(&self->log, GST_ELEMENT(self), err, "The look can not be read");
        return GST_FLOW_ERROR;
    }
    fresh = self->engine.fresh;
    if (!check_missing(self, pairing, policy))
        return GST_FLOW_ERROR;
    late = is_late(self, pairing);
    if (!late)
        flow = acquire(self, &buffer);
    if (flow != GST_FLOW_OK)
        return flow;
    err = gst_hs_engine_run(&self->engine, &info, &options, &look, pairing->planes,
                            gst_hs_aov_meta_get(pairing->colour), buffer);
    if (err < 0) {
        gst_hs_log_post(&self->log, GST_ELEMENT(self), err, "A frame can not be upscaled");
        gst_clear_buffer(&buffer);
        return GST_FLOW_ERROR;
    }
    if (buffer)
        tell_origin(self, pairing, buffer);
    GST_OBJECT_LOCK(self);
    self->stats.frames++;
    self->stats.resets += info.reset || options.reset || fresh;
    self->stats.missing += pairing->missing != 0;
    GST_OBJECT_UNLOCK(self);
    // History went on; only what nobody would see is left out.
    if (late)
        post_qos(self, pairing);
    *out = buffer;
    return GST_FLOW_OK;
}

static bool make_convention(GstHsUpscale *self)
{
    char *preset, *text;
    int err;

    GST_OBJECT_LOCK(self);
    preset = g_strdup(self->settings.preset);
    text = g_strdup(self->settings.changes);
    GST_OBJECT_UNLOCK(self);
    err = hsio_convention_preset(&self->convention, preset, &self->log.log);
    if (!err)
        err = gst_hs_convention_change(&self->convention, text, &self->log.log);
    g_free(preset);
    g_free(text);
    if (err < 0) {
        text = gst_hs_log_take(&self->log, err);
        GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS,
                          ("The convention can not be used: %s. Change the properties convention "
                           "and convention-changes.",
                           text),
                          (NULL));
        g_free(text);
    }
    return err == 0;
}

static gboolean start(GstAggregator *agg)
{
    GstHsUpscale *self = GST_HS_UPSCALE(agg);
    struct hs_model_params params;
    char *model, *why;
    int err;

    if (!make_convention(self))
        return FALSE;
    GST_OBJECT_LOCK(self);
    model = g_strdup(self->settings.model);
    params = hsmodel_params(model);
    params.path = (enum hs_path)self->settings.path;
    self->stats = (struct gst_hs_upscale_stats){0};
    self->earliest = GST_CLOCK_TIME_NONE;
    GST_OBJECT_UNLOCK(self);
    self->warned = 0;
    err = gst_hs_engine_open(&self->engine, gst_hs_aggregator_device(GST_HS_AGGREGATOR(agg)),
                             &self->log, &params);
    if (err < 0) {
        why = gst_hs_log_take(&self->log, err);
        GST_ELEMENT_ERROR(self, LIBRARY, INIT,
                          ("Model %s can not be loaded: %s. Set the property model to one that "
                           "there is, such as taau.",
                           model, why),
                          (NULL));
        g_free(why);
    }
    g_free(model);
    return err == 0 && GST_AGGREGATOR_CLASS(gst_hs_upscale_parent_class)->start(agg);
}

static gboolean stop(GstAggregator *agg)
{
    GstHsUpscale *self = GST_HS_UPSCALE(agg);

    gst_hs_engine_close(&self->engine);
    gst_hs_pool_clear(&self->pool);
    return GST_AGGREGATOR_CLASS(gst_hs_upscale_parent_class)->stop(agg);
}

static gboolean src_event(GstAggregator *agg, GstEvent *event)
{
    GstHsUpscale *self = GST_HS_UPSCALE(agg);
    GstClockTimeDiff jitter;
    GstClockTime time;

    if (gst_hs_seek_is_backward(event)) {
        gst_event_unref(event);
        return FALSE;
    }
    if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) {
        gst_event_parse_qos(event, NULL, NULL, &jitter, &time);
        GST_OBJECT_LOCK(self);
        if (GST_CLOCK_TIME_IS_VALID(time))
            self->earliest = jitter > 0 ? time + 2 * (GstClockTime)jitter
                                        : (GstClockTime)MAX(0, (gint64)time + jitter);
        GST_OBJECT_UNLOCK(self);
    }
    return GST_AGGREGATOR_CLASS(gst_hs_upscale_parent_class)->src_event(agg, event);
}

static GstFlowReturn flush(GstAggregator *agg)
{
    GstHsUpscale *self = GST_HS_UPSCALE(agg);

    GST_OBJECT_LOCK(self);
    self->earliest = GST_CLOCK_TIME_NONE;
    GST_OBJECT_UNLOCK(self);
    return GST_AGGREGATOR_CLASS(gst_hs_upscale_parent_class)->flush(agg);
}

static void finalize(GObject *object)
{
    GstHsUpscale *self = GST_HS_UPSCALE(object);

    g_free(self->settings.model);
    g_free(self->settings.preset);
    g_free(self->settings.changes);
    g_free(self->settings.grade);
    gst_hs_log_finish(&self->log);
    G_OBJECT_CLASS(gst_hs_upscale_parent_class)->finalize(object);
}

static void gst_hs_upscale_init(GstHsUpscale *self)
{
    gst_hs_log_init(&self->log, self);
    self->settings = (struct gst_hs_upscale_settings){
        .model = g_strdup("auto"),
        .scale = 2,
        .preset = g_strdup("raw"),
        .changes = g_strdup(""),
        .grade = g_strdup("none"),
        .look.paper_white = 203,
        .sharpness = -1,
        .qos = true,
    };
    self->earliest = GST_CLOCK_TIME_NONE;
}

static void gst_hs_upscale_class_init(GstHsUpscaleClass *class)
{
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstAggregatorClass *agg = GST_AGGREGATOR_CLASS(class);

    G_OBJECT_CLASS(class)->finalize = finalize;
    gst_hs_upscale_class_init_properties(G_OBJECT_CLASS(class));
    gst_element_class_set_static_metadata(
        element, "Hindsight upscaler", "Filter/Effect/Video/Scaler",
        "Temporal super-resolution of rendered sequences on Vulkan", "The Hindsight authors");
    GST_HS_AGGREGATOR_CLASS(class)->least_side = GST_HS_SIDE_LEAST_ENGINE;
    gst_hs_aggregator_class_add_templates(GST_HS_AGGREGATOR_CLASS(class),
                                          gst_hs_upscale_source_template());
    GST_HS_AGGREGATOR_CLASS(class)->process = process;
    gst_hs_upscale_class_init_caps(agg);
    agg->start = start;
    agg->stop = stop;
    agg->src_event = src_event;
    agg->flush = flush;
}
