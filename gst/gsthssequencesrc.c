// SPDX-License-Identifier: MIT
/**
 * SECTION:element-hssequencesrc
 * @title: hssequencesrc
 *
 * Reads recorded sequences: multilayer EXR, PNG, or raw planes with a JSON description. The buffer
 * holds the colour; the other planes, jitter, camera and the convention travel with it as
 * #GstHsFrameMeta.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 hssequencesrc location=shot.%04d.exr fps=24/1 ! hsupscale \
 *     ! hssequencesink location=out.%04d.exr
 * ]|
 */
#include "gsthssequencesrc.h"

#include <string.h>

#include "gsthsformat.h"
#include "hsframe.h"

#define GST_CAT_DEFAULT gst_hs_debug

G_DEFINE_FINAL_TYPE(GstHsSequenceSrc, gst_hs_sequence_src, GST_TYPE_PUSH_SRC)

struct opening {
    GstHsSequenceSrc *self;
    struct hsio_convention convention;
    struct hsio_options options;
};

static int take_plane(struct opening *opening, const char *pair)
{
    const char *equal = strchr(pair, '=');
    char *name = equal ? g_strndup(pair, (gsize)(equal - pair)) : g_strdup(pair);
    int plane = hsio_plane_from_name(name);

    g_free(name);
    if (!equal || plane < 0) {
        hs_log_message(&opening->self->log.log, HS_LOG_ERROR,
                       "plane-locations: %s is not PLANE=FILES with a plane such as depth", pair);
        return HS_ERR_INVALID;
    }
    opening->options.planes[plane] = g_intern_string(equal + 1);
    return 0;
}

static int take_planes(struct opening *opening, const char *text)
{
    char **pairs = g_strsplit(text ? text : "", ",", -1);
    int err = 0;

    for (int i = 0; !err && pairs[i]; i++) {
        if (*g_strstrip(pairs[i]))
            err = take_plane(opening, pairs[i]);
    }
    g_strfreev(pairs);
    return err;
}

static int open_range(struct opening *opening, const struct gst_hs_sequence_src_settings *settings,
                      struct hsio_sequence **sequence)
{
    const struct hs_log *log = &opening->self->log.log;
    struct hsio_options *options = &opening->options;
    struct hsio_sequence_info info;
    int err;

    options->missing = (enum hsio_missing)settings->missing;
    // The sequence itself tells the end that is not given.
    if (settings->start != GST_HS_NO_FRAME || settings->stop != GST_HS_NO_FRAME ||
        settings->step > 1) {
        struct hsio_options all = *options;

        all.missing = HSIO_MISSING_SKIP;
        err = hsio_sequence_open(settings->location, &opening->convention, &all, log, sequence);
        if (err < 0)
            return err;
        hsio_sequence_info(*sequence, &info);
        options->has_range = true;
        options->first = settings->start != GST_HS_NO_FRAME ? settings->start : info.first;
        options->last = settings->stop != GST_HS_NO_FRAME ? settings->stop : info.last;
        options->step = settings->step;
        hsio_sequence_close(sequence);
        if (options->last < options->first) {
            hs_log_message(log, HS_LOG_ERROR,
                           "%s: the files are frames %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                           ", and %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                           " are asked for: set start and stop to what there is",
                           settings->location, (gint64)info.first, (gint64)info.last,
                           (gint64)options->first, (gint64)options->last);
            return HS_ERR_INVALID;
        }
    }
    return hsio_sequence_open(settings->location, &opening->convention, options, log, sequence);
}

static gboolean start(GstBaseSrc *base)
{
    GstHsSequenceSrc *self = GST_HS_SEQUENCE_SRC(base);
    struct gst_hs_sequence_src_settings *settings = &self->settings;
    struct opening opening = {.self = self};
    struct hsio_sequence *sequence = NULL;
    int err;

    if (!settings->location || !*settings->location) {
        GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                          ("No files are named: set location, for example to shot.%%04d.exr."),
                          (NULL));
        return FALSE;
    }
    err = hsio_convention_preset(&opening.convention, settings->preset, &self->log.log);
    if (!err && settings->layer && *settings->layer)
        err = hsio_convention_set(&opening.convention, "layer", settings->layer, &self->log.log);
    if (!err)
        err = gst_hs_convention_change(&opening.convention, settings->changes, &self->log.log);
    if (!err)
        err = take_planes(&opening, settings->planes);
    if (!err)
        err = open_range(&opening, settings, &sequence);
    if (!err)
        err = gst_hs_sequence_src_take_aovs(self, settings->aovs, sequence);
    if (err < 0) {
        gst_hs_log_post(&self->log, GST_ELEMENT(self), err, "The sequence can not be opened");
        hsio_sequence_close(&sequence);
        return FALSE;
    }
    self->sequence = gst_hs_sequence_new(sequence);
    hsio_sequence_info(sequence, &self->info);
    self->step = settings->step > 1 ? settings->step : 1;
    self->rate = settings->rate;
    self->next = 0;
    self->round = 0;
    self->cut = false;
    GST_INFO_OBJECT(self, "%s: %d frames, convention %s", self->info.location,
                    self->info.frame_count, hsio_sequence_convention(sequence)->preset);
    return TRUE;
}

static gboolean stop(GstBaseSrc *base)
{
    GstHsSequenceSrc *self = GST_HS_SEQUENCE_SRC(base);

    g_clear_pointer(&self->sequence, gst_hs_sequence_unref);
    g_clear_pointer(&self->convention, gst_hs_convention_unref);
    gst_clear_caps(&self->caps);
    return TRUE;
}

/** Place of a frame in time, counted in frames: numbers that are left out keep their place. */
static guint64 place_of(GstHsSequenceSrc *self, int index)
{
    return (guint64)((hsio_sequence_number(self->sequence->sequence, index) - self->info.first) /
                     self->step);
}

static guint64 place_count(GstHsSequenceSrc *self)
{
    return (guint64)((self->info.last - self->info.first) / self->step) + 1;
}

static bool set_caps(GstHsSequenceSrc *self, const struct hsio_frame_info *info)
{
    const struct hsio_plane_info *colour = &info->planes[HSIO_PLANE_COLOR];
    GstCaps *caps =
        gst_hs_format_caps(HSIO_PLANE_COLOR, hsframe_vk_format(colour->format),
                           info->convention->color.transfer != HSIO_TRANSFER_DISPLAY, colour->width,
                           colour->height, self->rate.n, self->rate.d, NULL);
    GstPad *pad = GST_BASE_SRC_PAD(self);
    bool done = true;

    if (!self->caps || !gst_caps_is_equal(caps, self->caps)) {
        // An event that is refused says so with the next buffer only, to the base class.
        done = (gst_pad_peer_query_accept_caps(pad, caps) ||
                !gst_hs_caps_post_mismatch(GST_ELEMENT(self), pad, caps,
                                           "ask for that size, or put hsupscale behind it")) &&
               gst_base_src_set_caps(GST_BASE_SRC(self), caps);
        gst_caps_replace(&self->caps, caps);
    }
    gst_caps_unref(caps);
    return done;
}

/** Reads every plane that the frame has; the colour becomes the buffer itself. */
static int read_planes(struct hsio_frame *frame, GstBuffer **out, GstHsPlane planes[])
{
    const struct hsio_frame_info *info = hsio_frame_info(frame);
    struct hsio_plane_request requests[HSIO_PLANE_COUNT];
    GstMapInfo maps[HSIO_PLANE_COUNT];
    int count = 0, err;

    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        const struct hsio_plane_info *plane = &info->planes[i];
        const gsize pixel = plane->present ? hsio_format_bytes(plane->format) : 0;

        if (!plane->present || i == HSIO_PLANE_EXPOSURE)
            continue;
        planes[i] = (GstHsPlane){
            .buffer = gst_buffer_new_allocate(
                NULL, pixel * (gsize)plane->width * (gsize)plane->height, NULL),
            .format = hsframe_vk_format(plane->format),
            .width = (guint)plane->width,
            .height = (guint)plane->height,
            .row_bytes = pixel * (gsize)plane->width,
            .pixel_bytes = pixel,
        };
        gst_buffer_map(planes[i].buffer, &maps[i], GST_MAP_WRITE);
        requests[count++] = (struct hsio_plane_request){
            .plane = (enum hsio_plane)i,
            .format = plane->format,
            .buffer = maps[i].data,
            .buffer_bytes = maps[i].size,
        };
    }
    err = hsio_frame_read(frame, requests, count);
    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        if (planes[i].buffer)
            gst_buffer_unmap(planes[i].buffer, &maps[i]);
    }
    *out = planes[HSIO_PLANE_COLOR].buffer;
    return err;
}

static GstHsConvention *share_convention(GstHsSequenceSrc *self,
                                         const struct hsio_convention *convention)
{
    if (!self->convention || memcmp(self->convention, convention, sizeof(*convention)) != 0) {
        g_clear_pointer(&self->convention, gst_hs_convention_unref);
        self->convention = gst_hs_convention_new(convention);
    }
    return g_atomic_rc_box_acquire(self->convention);
}

static int fill_meta(GstHsSequenceSrc *self, struct hsio_frame *frame, GstBuffer *buffer,
                     const GstHsPlane planes[])
{
    const struct hsio_frame_info *info = hsio_frame_info(frame);
    const struct hsio_plane_info *exposure = &info->planes[HSIO_PLANE_EXPOSURE];
    GstHsFrameMeta *meta = gst_hs_frame_meta_add(buffer);
    float value = 0;
    int err = 0;

    meta->number = info->number;
    meta->reset = info->reset || self->cut;
    meta->held = info->held;
    meta->has_camera = info->has_view && info->has_proj;
    meta->has_clip = info->has_clip;
    meta->has_exposure = info->has_exposure;
    memcpy(meta->jitter, info->jitter_px, sizeof(meta->jitter));
    memcpy(meta->view, info->view, sizeof(meta->view));
    memcpy(meta->proj, info->proj, sizeof(meta->proj));
    meta->near = info->near;
    meta->far = info->far;
    meta->exposure = info->exposure;
    meta->sharpness = info->sharpness;
    meta->convention = share_convention(self, info->convention);
    for (int i = HSIO_PLANE_COLOR + 1; i < HSIO_PLANE_COUNT; i++) {
        if (planes[i].buffer)
            gst_hs_frame_meta_set_plane(meta, (enum hsio_plane)i, &planes[i]);
    }
    if (exposure->present && exposure->width == 1 && exposure->height == 1)
        err = hsio_frame_read(frame,
                              &(struct hsio_plane_request){.plane = HSIO_PLANE_EXPOSURE,
                                                           .format = HSIO_FORMAT_R32F,
                                                           .buffer = &value,
                                                           .buffer_bytes = sizeof(value)},
                              1);
    if (value > 0) {
        meta->has_exposure = TRUE;
        meta->exposure = value;
    }
    return err;
}

/** Reads the frame at `index` into a buffer of its own. */
static GstFlowReturn read_frame(GstHsSequenceSrc *self, int index, GstBuffer **out)
{
    GstHsPlane planes[HSIO_PLANE_COUNT] = {0};
    struct hsio_frame *frame = NULL;
    GstHsOriginMeta *origin;
    GstBuffer *buffer = NULL;
    GstFlowReturn flow = GST_FLOW_OK;
    struct hsio_mended mended;
    char *what;
    int err = hsio_frame_open(self->sequence->sequence, index, &frame);

    if (!err && !hsio_frame_info(frame)->planes[HSIO_PLANE_COLOR].present) {
        hs_log_message(&self->log.log, HS_LOG_ERROR,
                       "no colour in %s: set convention or layer to what fits",
                       hsio_frame_info(frame)->path);
        err = HS_ERR_FORMAT;
    }
    if (!err && !set_caps(self, hsio_frame_info(frame))) {
        hsio_frame_close(&frame);
        return GST_FLOW_NOT_NEGOTIATED;
    }
    if (!err)
        err = hsio_frame_mend(frame, &mended);
    if (!err)
        err = read_planes(frame, &buffer, planes);
    if (!err)
        err = fill_meta(self, frame, buffer, planes);
    if (!err)
        err = gst_hs_sequence_src_read_aovs(self, frame, buffer);
    for (int i = HSIO_PLANE_COLOR + 1; i < HSIO_PLANE_COUNT; i++)
        gst_clear_buffer(&planes[i].buffer);
    if (err < 0) {
        what = g_strdup_printf("Frame %" G_GINT64_FORMAT " can not be read",
                               (gint64)hsio_sequence_number(self->sequence->sequence, index));
        gst_hs_log_post(&self->log, GST_ELEMENT(self), err, what);
        g_free(what);
        gst_clear_buffer(&buffer);
        hsio_frame_close(&frame);
        flow = GST_FLOW_ERROR;
    } else {
        origin = gst_hs_origin_meta_add(buffer);
        origin->number = hsio_frame_info(frame)->number;
        origin->source = gst_hs_source_new(self->sequence, frame);
    }
    *out = buffer;
    return flow;
}

static GstFlowReturn create(GstPushSrc *base, GstBuffer **out)
{
    GstHsSequenceSrc *self = GST_HS_SEQUENCE_SRC(base);
    GstFlowReturn flow;
    guint64 place;
    bool loop;

    GST_OBJECT_LOCK(self);
    loop = self->settings.loop;
    GST_OBJECT_UNLOCK(self);
    if (self->next >= self->info.frame_count) {
        if (!loop)
            return GST_FLOW_EOS;
        self->next = 0;
        self->round++;
        self->cut = true;
    }
    flow = read_frame(self, self->next, out);
    if (flow != GST_FLOW_OK)
        return flow;
    place = place_of(self, self->next) + self->round * place_count(self);
    if (!gst_hs_frame_stamp(GST_ELEMENT(self), *out, place, &self->rate)) {
        gst_clear_buffer(out);
        return GST_FLOW_ERROR;
    }
    if (self->cut)
        GST_BUFFER_FLAG_SET(*out, GST_BUFFER_FLAG_DISCONT);
    self->cut = false;
    self->next++;
    return GST_FLOW_OK;
}

static gboolean is_seekable(GstBaseSrc *base)
{
    (void)base;
    return TRUE;
}

static gboolean do_seek(GstBaseSrc *base, GstSegment *segment)
{
    GstHsSequenceSrc *self = GST_HS_SEQUENCE_SRC(base);
    guint64 place = gst_hs_frame_at(segment->position, &self->rate);

    self->round = place / place_count(self);
    if (self->round && !self->settings.loop)
        self->round = 0;
    else
        place -= self->round * place_count(self);
    for (self->next = 0; self->next < self->info.frame_count; self->next++) {
        if (place_of(self, self->next) >= place)
            break;
    }
    self->cut = true;
    return TRUE;
}

static gboolean query(GstBaseSrc *base, GstQuery *query)
{
    GstHsSequenceSrc *self = GST_HS_SEQUENCE_SRC(base);
    GstClockTime duration;
    GstFormat format;

    if (GST_QUERY_TYPE(query) == GST_QUERY_DURATION && self->sequence) {
        gst_query_parse_duration(query, &format, NULL);
        duration = gst_hs_frame_time(place_count(self), &self->rate);
        if (format != GST_FORMAT_TIME || self->settings.loop || !GST_CLOCK_TIME_IS_VALID(duration))
            return FALSE;
        gst_query_set_duration(query, format, (gint64)duration);
        return TRUE;
    }
    return GST_BASE_SRC_CLASS(gst_hs_sequence_src_parent_class)->query(base, query);
}

/** Caps come with the first frame. */
static gboolean negotiate(GstBaseSrc *base)
{
    (void)base;
    return TRUE;
}

static void finalize(GObject *object)
{
    GstHsSequenceSrc *self = GST_HS_SEQUENCE_SRC(object);

    g_free(self->settings.location);
    g_free(self->settings.preset);
    g_free(self->settings.changes);
    g_free(self->settings.layer);
    g_free(self->settings.planes);
    g_free(self->settings.aovs);
    gst_hs_log_finish(&self->log);
    G_OBJECT_CLASS(gst_hs_sequence_src_parent_class)->finalize(object);
}

static void gst_hs_sequence_src_init(GstHsSequenceSrc *self)
{
    gst_hs_log_init(&self->log, self);
    self->settings = (struct gst_hs_sequence_src_settings){
        .preset = g_strdup("auto"),
        .changes = g_strdup(""),
        .layer = g_strdup(""),
        .planes = g_strdup(""),
        .aovs = g_strdup(""),
        .start = GST_HS_NO_FRAME,
        .stop = GST_HS_NO_FRAME,
        .step = 1,
        .rate = {24, 1},
    };
    gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

static void gst_hs_sequence_src_class_init(GstHsSequenceSrcClass *class)
{
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstBaseSrcClass *src = GST_BASE_SRC_CLASS(class);
    GstCaps *caps = gst_caps_from_string(
        GST_HS_PLANE_CAPS ", kind=color, format={ rgba16f, rgba32f }, width=[ 1, 16384 ], "
                          "height=[ 1, 16384 ], framerate=[ 1/2147483647, 2147483647/1 ], "
                          "transfer={ linear, display }");

    G_OBJECT_CLASS(class)->finalize = finalize;
    gst_hs_sequence_src_class_init_properties(G_OBJECT_CLASS(class));
    gst_element_class_set_static_metadata(element, "Hindsight sequence source", "Source/File/Video",
                                          "Reads EXR, PNG and raw sequences with their planes",
                                          "The Hindsight authors");
    gst_element_class_add_pad_template(
        element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
    gst_hs_source_class_init_seeks(src);
    src->start = start;
    src->stop = stop;
    src->is_seekable = is_seekable;
    src->do_seek = do_seek;
    src->query = query;
    src->negotiate = negotiate;
    GST_PUSH_SRC_CLASS(class)->create = create;
}
