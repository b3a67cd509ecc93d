// SPDX-License-Identifier: MIT
/**
 * SECTION:element-hsplanedemux
 * @title: hsplanedemux
 *
 * Takes one plane out of the frames that carry it. Where the next element takes planes it gets the
 * plane itself, untouched, or as 32-bit floats; otherwise a picture of it as RGBA video.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 hstestsrc num-buffers=48 ! hsplanedemux plane=motion \
 *     ! videoconvert ! autovideosink
 * ]|
 */
#include "gsthsplanedemux.h"

#include "gsthslog.h"

#define GST_CAT_DEFAULT gst_hs_debug

struct _GstHsPlaneDemux {
    GstElement parent;
    GstPad *sink, *src;
    struct gst_hs_device share;
    struct gst_hs_readback readback;
    int plane; ///< Under the object lock.
    // Streaming thread:
    bool has_format;
    struct gst_hs_format format; ///< Of the colour.
    GstCaps *caps;               ///< In use at the source pad,
    enum hsio_plane kind;        ///< chosen for this plane,
    GstHsPlane chosen;           ///< of this form (no buffer), in images or not.
    bool image;
    bool found;     ///< The plane has been there.
    bool refused;   ///< Caps, and an error was posted.
    GQueue waiting; ///< Events that must come behind the first caps.
};

G_DEFINE_FINAL_TYPE(GstHsPlaneDemux, gst_hs_plane_demux, GST_TYPE_ELEMENT)

enum {
    PROP_0,
    PROP_PLANE,
};

static GType plane_type(void)
{
    static gsize type;
    static GEnumValue values[HSIO_PLANE_COUNT + 1];

    if (g_once_init_enter(&type)) {
        for (int i = 0; i < HSIO_PLANE_COUNT; i++)
            values[i] = (GEnumValue){i, hsio_plane_name((enum hsio_plane)i),
                                     hsio_plane_name((enum hsio_plane)i)};
        g_once_init_leave(&type, g_enum_register_static("GstHsPlane", values));
    }
    return type;
}

/** The caps for a plane at the source pad: itself if that is taken, else floats, else video. */
static GstCaps *choose_caps(GstHsPlaneDemux *self, enum hsio_plane kind, const GstHsPlane *plane)
{
    GstCaps *allowed = gst_pad_peer_query_caps(self->src, NULL), *caps = NULL;

    for (int converted = !gst_hs_format_name(plane->format); converted < 2 && !caps; converted++) {
        caps = gst_hs_format_caps(
            kind, converted ? gst_hs_format_float(kind) : plane->format, self->format.linear,
            (int)plane->width, (int)plane->height, self->format.fps_n, self->format.fps_d,
            !converted && gst_hs_image_of(plane->buffer) ? GST_HS_VULKAN : NULL);
        if (!gst_caps_can_intersect(caps, allowed))
            gst_clear_caps(&caps);
    }
    gst_caps_unref(allowed);
    return caps ? caps
                : gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "RGBA", "width",
                                      G_TYPE_INT, plane->width, "height", G_TYPE_INT, plane->height,
                                      "framerate", GST_TYPE_FRACTION, self->format.fps_n,
                                      self->format.fps_d, "pixel-aspect-ratio", GST_TYPE_FRACTION,
                                      1, 1, "interlace-mode", G_TYPE_STRING, "progressive",
                                      "colorimetry", G_TYPE_STRING, "sRGB", NULL);
}

/** Whether caps must be chosen again; remembers what they are chosen for. */
static bool renegotiate(GstHsPlaneDemux *self, enum hsio_plane kind, const GstHsPlane *plane)
{
    const bool image = gst_hs_image_of(plane->buffer);
    const bool same = self->caps && self->kind == kind && self->image == image &&
                      self->chosen.format == plane->format && self->chosen.width == plane->width &&
                      self->chosen.height == plane->height;

    if (same && !gst_pad_check_reconfigure(self->src))
        return false;
    self->kind = kind;
    self->image = image;
    self->chosen = *plane;
    self->chosen.buffer = NULL;
    return true;
}

/** The plane in system memory in another form: painted if there is a `gain`, else as floats. */
static GstBuffer *convert(GstHsPlaneDemux *self, enum hsio_plane kind, const GstHsPlane *plane,
                          const float *gain)
{
    GError *error = NULL;
    GstMapInfo in, out;
    GstHsPlane read = {0}, floats = {0};
    GstBuffer *made = NULL;

    if ((gst_hs_image_of(plane->buffer) &&
         !gst_hs_device_ensure(&self->share, GST_ELEMENT(self), &error)) ||
        !gst_hs_readback_plane(&self->readback, &self->share, plane, &read, &error))
        goto done;
    if (!gain) {
        if (gst_hs_plane_to_float(&read, kind, &floats, &error))
            made = floats.buffer;
        goto done;
    }
    if (!gst_hs_plane_map(&read, kind, &in, &error))
        goto done;
    made = gst_buffer_new_allocate(NULL, 4 * (gsize)plane->width * plane->height, NULL);
    gst_buffer_map(made, &out, GST_MAP_WRITE);
    gst_hs_plane_paint(&read, kind, *gain, in.data, out.data);
    gst_buffer_unmap(made, &out);
    gst_buffer_unmap(read.buffer, &in);
done:
    gst_clear_buffer(&read.buffer);
    if (error)
        GST_ELEMENT_ERROR(self, STREAM, FAILED, ("The plane can not be read: %s.", error->message),
                          (NULL));
    g_clear_error(&error);
    return made;
}

/** What is there, for the error's text. */
static char *list_planes(const GstHsFrameMeta *meta)
{
    GString *text = g_string_new("color");

    for (int i = HSIO_PLANE_COLOR + 1; meta && i < HSIO_PLANE_COUNT; i++) {
        if (meta->planes[i].buffer)
            g_string_append_printf(text, ", %s", gst_hs_plane_name((enum hsio_plane)i));
    }
    return g_string_free(text, FALSE);
}

static GstFlowReturn miss(GstHsPlaneDemux *self, enum hsio_plane kind, GstBuffer *buffer)
{
    char *there;

    // A plane that was there comes again; one that never was is a mistake.
    if (self->found) {
        if (GST_BUFFER_PTS_IS_VALID(buffer))
            gst_pad_push_event(
                self->src, gst_event_new_gap(GST_BUFFER_PTS(buffer), GST_BUFFER_DURATION(buffer)));
        return GST_FLOW_OK;
    }
    there = list_planes(gst_hs_frame_meta_get(buffer));
    GST_ELEMENT_ERROR(
        self, STREAM, FAILED,
        ("The frames carry no %s; set plane to one of: %s.", gst_hs_plane_name(kind), there),
        (NULL));
    g_free(there);
    return GST_FLOW_ERROR;
}

/** What brings colour to normal brightness; 0 where it has been already. */
static float gain_of(GstHsPlaneDemux *self, enum hsio_plane kind, const GstHsFrameMeta *meta)
{
    if (kind != HSIO_PLANE_COLOR)
        return 1;
    if (!self->format.linear)
        return 0;
    return meta && meta->has_exposure && meta->exposure > 0 ? meta->exposure : 1;
}

/** What goes out for the caps: the plane, floats or a picture. */
static GstBuffer *make(GstHsPlaneDemux *self, enum hsio_plane kind, const GstHsPlane *plane,
                       const GstHsFrameMeta *meta, const GstCaps *caps)
{
    const GstStructure *structure = gst_caps_get_structure(caps, 0);
    const char *own = gst_hs_format_name(plane->format);
    const float gain = gain_of(self, kind, meta);
    const bool vulkan = gst_caps_features_contains(gst_caps_get_features(caps, 0), GST_HS_VULKAN);

    if (gst_structure_has_name(structure, "video/x-raw"))
        return convert(self, kind, plane, &gain);
    if (own && vulkan == (bool)gst_hs_image_of(plane->buffer) &&
        !g_strcmp0(own, gst_structure_get_string(structure, "format")))
        return gst_buffer_copy_region(plane->buffer, GST_BUFFER_COPY_MEMORY, 0, (gsize)-1);
    return convert(self, kind, plane, NULL);
}

/** Tells the caps of the plane downstream, if they are new. */
static void negotiate(GstHsPlaneDemux *self, enum hsio_plane kind, const GstHsPlane *plane)
{
    GstCaps *caps =
        renegotiate(self, kind, plane) ? choose_caps(self, kind, plane) : gst_caps_ref(self->caps);

    if (!self->caps || !gst_caps_is_equal(caps, self->caps)) {
        gst_pad_push_event(self->src, gst_event_new_caps(caps));
        gst_caps_replace(&self->caps, caps);
        while (!g_queue_is_empty(&self->waiting))
            gst_pad_push_event(self->src, g_queue_pop_head(&self->waiting));
    }
    gst_caps_unref(caps);
}

static GstFlowReturn chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
    GstHsPlaneDemux *self = GST_HS_PLANE_DEMUX(parent);
    const GstHsFrameMeta *meta = gst_hs_frame_meta_get(buffer);
    GstFlowReturn flow = GST_FLOW_ERROR;
    GstHsPlane plane = {0};
    enum hsio_plane kind;
    GstBuffer *out;

    (void)pad;
    GST_OBJECT_LOCK(self);
    kind = (enum hsio_plane)self->plane;
    GST_OBJECT_UNLOCK(self);
    if (!self->has_format) {
        gst_buffer_unref(buffer);
        return GST_FLOW_NOT_NEGOTIATED;
    }
    if (kind == HSIO_PLANE_COLOR)
        plane = gst_hs_plane_of(buffer, &self->format);
    else if (meta)
        plane = meta->planes[kind];
    if (!plane.buffer) {
        flow = miss(self, kind, buffer);
        goto done;
    }
    self->found = true;
    negotiate(self, kind, &plane);
    out = make(self, kind, &plane, meta, self->caps);
    if (out) {
        gst_buffer_copy_into(out, buffer, GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_FLAGS, 0,
                             (gsize)-1);
        gst_hs_origin_meta_copy(out, buffer);
        flow = gst_pad_push(self->src, out);
        if (flow == GST_FLOW_NOT_NEGOTIATED)
            gst_hs_caps_post_mismatch(GST_ELEMENT(self), self->src, self->caps,
                                      "ask for that size, or put videoscale behind a picture");
    }
done:
    gst_buffer_unref(buffer);
    return flow;
}

static gboolean take_caps(GstHsPlaneDemux *self, GstEvent *event)
{
    GstCaps *caps;
    char *why;

    gst_event_parse_caps(event, &caps);
    self->has_format = gst_hs_format_parse(&self->format, caps, HSIO_PLANE_COLOR);
    // A new rate or transfer function, too, is told downstream.
    self->chosen = (GstHsPlane){0};
    why = gst_hs_format_refusal(caps, HSIO_PLANE_COLOR, GST_HS_SIDE_LEAST);
    // The event comes again with every buffer.
    if (why && !self->refused)
        GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE, ("The input can not be taken: %s.", why),
                          (NULL));
    self->refused = why;
    g_free(why);
    gst_event_unref(event);
    return self->has_format;
}

static gboolean sink_event(GstPad *pad, GstObject *parent, GstEvent *event)
{
    GstHsPlaneDemux *self = GST_HS_PLANE_DEMUX(parent);
    const GstEventType type = GST_EVENT_TYPE(event);

    if (type == GST_EVENT_FLUSH_STOP)
        g_queue_clear_full(&self->waiting, (GDestroyNotify)gst_event_unref);
    if (!self->caps && type > GST_EVENT_CAPS && type != GST_EVENT_EOS &&
        (GST_EVENT_IS_STICKY(event) || type == GST_EVENT_GAP)) {
        g_queue_push_tail(&self->waiting, event);
        return TRUE;
    }
    return type == GST_EVENT_CAPS ? take_caps(self, event)
                                  : gst_pad_event_default(pad, parent, event);
}

static gboolean query(GstPad *pad, GstObject *parent, GstQuery *query)
{
    GstHsPlaneDemux *self = GST_HS_PLANE_DEMUX(parent);
    const GstQueryType type = GST_QUERY_TYPE(query);

    if (self->share.device && gst_hs_device_query(&self->share, GST_ELEMENT(self), query))
        return TRUE;
    if (type == GST_QUERY_ALLOCATION && pad == self->sink)
        return FALSE;
    // What comes out says nothing about what may come in.
    if (type == GST_QUERY_CAPS)
        gst_hs_caps_answer(query, gst_pad_get_pad_template_caps(pad));
    else if (type == GST_QUERY_ACCEPT_CAPS && pad == self->sink)
        gst_hs_caps_answer_accept(query, pad);
    else
        return gst_pad_query_default(pad, parent, query);
    return TRUE;
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
    GstHsPlaneDemux *self = GST_HS_PLANE_DEMUX(element);
    GstStateChangeReturn result =
        GST_ELEMENT_CLASS(gst_hs_plane_demux_parent_class)->change_state(element, transition);

    if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
        gst_hs_readback_clear(&self->readback);
        gst_clear_caps(&self->caps);
        g_queue_clear_full(&self->waiting, (GDestroyNotify)gst_event_unref);
        self->has_format = self->found = self->refused = false;
    } else if (transition == GST_STATE_CHANGE_READY_TO_NULL) {
        gst_hs_device_clear(&self->share);
    }
    return result;
}

static void set_context(GstElement *element, GstContext *context)
{
    gst_hs_device_set_context(&GST_HS_PLANE_DEMUX(element)->share, element, context);
    GST_ELEMENT_CLASS(gst_hs_plane_demux_parent_class)->set_context(element, context);
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    if (id != PROP_PLANE) {
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
        return;
    }
    GST_OBJECT_LOCK(object);
    GST_HS_PLANE_DEMUX(object)->plane = g_value_get_enum(value);
    GST_OBJECT_UNLOCK(object);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    if (id == PROP_PLANE)
        g_value_set_enum(value, GST_HS_PLANE_DEMUX(object)->plane);
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void finalize(GObject *object)
{
    gst_hs_device_finish(&GST_HS_PLANE_DEMUX(object)->share);
    G_OBJECT_CLASS(gst_hs_plane_demux_parent_class)->finalize(object);
}

static void gst_hs_plane_demux_init(GstHsPlaneDemux *self)
{
    GstElementClass *class = GST_ELEMENT_GET_CLASS(self);

    gst_hs_device_init(&self->share);
    g_queue_init(&self->waiting);
    self->plane = HSIO_PLANE_DEPTH;
    self->sink =
        gst_pad_new_from_template(gst_element_class_get_pad_template(class, "sink"), "sink");
    self->src = gst_pad_new_from_template(gst_element_class_get_pad_template(class, "src"), "src");
    gst_pad_set_chain_function(self->sink, chain);
    gst_pad_set_event_function(self->sink, sink_event);
    gst_pad_set_query_function(self->sink, query);
    gst_pad_set_query_function(self->src, query);
    gst_element_add_pad(GST_ELEMENT(self), self->sink);
    gst_element_add_pad(GST_ELEMENT(self), self->src);
}

static void gst_hs_plane_demux_class_init(GstHsPlaneDemuxClass *class)
{
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstCaps *in = gst_hs_format_template(HSIO_PLANE_COLOR, GST_HS_SIDE_LEAST);
    GstCaps *out = gst_caps_from_string(
        GST_HS_PLANE_CAPS "(" GST_HS_VULKAN "); " GST_HS_PLANE_CAPS "; video/x-raw, format=RGBA, "
                          "width=[ 1, 16384 ], height=[ 1, 16384 ], "
                          "framerate=[ 0/1, 2147483647/1 ]");

    G_OBJECT_CLASS(class)->set_property = set_property;
    G_OBJECT_CLASS(class)->get_property = get_property;
    G_OBJECT_CLASS(class)->finalize = finalize;
    g_object_class_install_property(
        G_OBJECT_CLASS(class), PROP_PLANE,
        g_param_spec_enum("plane", "Plane", "Plane to take out", plane_type(), HSIO_PLANE_DEPTH,
                          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));
    gst_type_mark_as_plugin_api(plane_type(), 0);
    gst_element_class_set_static_metadata(element, "Hindsight plane demuxer", "Demuxer/Video",
                                          "Takes one plane out of frames, as it is or as a picture",
                                          "The Hindsight authors");
    gst_element_class_add_pad_template(
        element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, in));
    gst_element_class_add_pad_template(
        element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, out));
    gst_caps_unref(in);
    gst_caps_unref(out);
    element->change_state = change_state;
    element->set_context = set_context;
}
