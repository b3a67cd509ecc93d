// SPDX-License-Identifier: MIT
/**
 * SECTION:element-hssequencesink
 * @title: hssequencesink
 *
 * Writes one file per frame: EXR with half or 32-bit float, PNG, or raw floats, by the end of
 * location. Frames that come from hssequencesrc keep their numbers, and in EXR their windows and
 * attributes.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 hssequencesrc location=shot.%04d.exr ! hsupscale \
 *     ! hssequencesink location=out.%04d.png
 * ]|
 */
#include "gsthssequencesink.h"

#include <string.h>

#define GST_CAT_DEFAULT gst_hs_debug

enum depth {
    DEPTH_AUTO,
    DEPTH_HALF,
    DEPTH_FLOAT,
};

#define CURVE_AUTO -1

struct settings {
    char *location;
    gint64 start_number;
    int depth, curve, png_bits;
    bool alpha, planes;
};

struct _GstHsSequenceSink {
    GstBaseSink parent;
    struct gst_hs_log log;
    struct gst_hs_device share;
    struct gst_hs_readback readback;
    struct settings settings; ///< Under the object lock.
    // While started:
    struct hsio_pattern pattern;
    bool png;
    struct gst_hs_format format;
    guint64 written;
};

G_DEFINE_FINAL_TYPE(GstHsSequenceSink, gst_hs_sequence_sink, GST_TYPE_BASE_SINK)

enum {
    PROP_0,
    PROP_LOCATION,
    PROP_START_NUMBER,
    PROP_DEPTH,
    PROP_CURVE,
    PROP_PNG_BITS,
    PROP_ALPHA,
    PROP_PLANES,
};

static GType depth_type(void)
{
    static gsize type;
    static const GEnumValue values[] = {
        {DEPTH_AUTO, "As the buffers are", "auto"},
        {DEPTH_HALF, "16-bit float", "half"},
        {DEPTH_FLOAT, "32-bit float", "float"},
        {0, NULL, NULL},
    };

    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("GstHsSequenceSinkDepth", values));
    return type;
}

static GType curve_type(void)
{
    static gsize type;
    static const GEnumValue values[] = {
        {CURVE_AUTO, "srgb for linear colour, none for display-referred", "auto"},
        {HSIO_CURVE_NONE, "Values as they are, cut to 0..1", "none"},
        {HSIO_CURVE_SRGB, "Linear to sRGB", "srgb"},
        {HSIO_CURVE_METRIC, "(x / (1 + x)) ^ (1 / 2.2)", "metric"},
        {0, NULL, NULL},
    };

    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("GstHsSequenceSinkCurve", values));
    return type;
}

static gboolean start(GstBaseSink *base)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(base);
    const char *location = self->settings.location;
    int err;

    if (!location || !*location) {
        GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                          ("No files are named: set location, for example to out.%%04d.exr."),
                          (NULL));
        return FALSE;
    }
    err = hsio_pattern_parse(&self->pattern, location, &self->log.log);
    if (err < 0) {
        gst_hs_log_post(&self->log, GST_ELEMENT(self), err, "location can not be used");
        return FALSE;
    }
    const gsize length = strlen(location);
    self->png = length >= 4 && !g_ascii_strcasecmp(location + length - 4, ".png");
    self->written = 0;
    return TRUE;
}

static gboolean stop(GstBaseSink *base)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(base);

    gst_hs_readback_clear(&self->readback);
    return TRUE;
}

static gboolean set_caps(GstBaseSink *base, GstCaps *caps)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(base);

    if (!gst_hs_format_parse(&self->format, caps, HSIO_PLANE_COLOR))
        return FALSE;
    if (self->format.video && !self->png) {
        GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE,
                          ("Display-referred video goes into PNG only: name location *.png, or "
                           "leave out what converts to video/x-raw."),
                          (NULL));
        return FALSE;
    }
    return TRUE;
}

static gboolean query(GstBaseSink *base, GstQuery *query)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(base);

    // Only passes on what it has: files by themselves need no device.
    if (self->share.device && gst_hs_device_query(&self->share, GST_ELEMENT(self), query))
        return TRUE;
    return GST_BASE_SINK_CLASS(gst_hs_sequence_sink_parent_class)->query(base, query);
}

/** Integer video as floats of 0 to 1, which PNG rounds back to the same codes. */
static bool video_to_float(GstHsSequenceSink *self, GstBuffer *buffer, GBytes **floats)
{
    static const int rgba[] = {0, 1, 2, 3}, bgra[] = {2, 1, 0, 3};
    const GstVideoInfo *info = &self->format.info;
    const int *order = info->finfo->format == GST_VIDEO_FORMAT_BGRA ? bgra : rgba;
    const bool wide = info->finfo->format == GST_VIDEO_FORMAT_RGBA64_LE;
    float *out = g_new(float, 4 * (gsize)info->width * (gsize)info->height), *to = out;
    GstVideoFrame frame;

    if (!gst_video_frame_map(&frame, info, buffer, GST_MAP_READ)) {
        g_free(out);
        return false;
    }
    for (int y = 0; y < info->height; y++) {
        const guint8 *row = (const guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) +
                            (gsize)y * (gsize)GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);

        for (int i = 0; i < 4 * info->width; i++) {
            const int at = i / 4 * 4 + order[i % 4];

            *to++ =
                wide ? (float)GST_READ_UINT16_LE(row + 2 * at) / 65535.0f : (float)row[at] / 255.0f;
        }
    }
    gst_video_frame_unmap(&frame);
    *floats = g_bytes_new_take(out, 4 * sizeof(float) * (gsize)info->width * (gsize)info->height);
    return true;
}

static int channel_count(const char *channels)
{
    int count = *channels != 0;

    for (; *channels; channels++)
        count += *channels == ',';
    return count;
}

/** A plane in mapped system memory, for as long as the file is being written. */
struct mapped {
    GstBuffer *buffer;
    GstMapInfo map;
    GBytes *floats;
};

static void unmap(struct mapped *mapped)
{
    if (mapped->buffer)
        gst_buffer_unmap(mapped->buffer, &mapped->map);
    gst_clear_buffer(&mapped->buffer);
    g_clear_pointer(&mapped->floats, g_bytes_unref);
}

static int map_plane(GstHsSequenceSink *self, enum hsio_plane kind, const GstHsPlane *plane,
                     struct mapped *mapped, struct hsio_write_plane *write)
{
    GError *error = NULL;
    GstHsPlane read;

    if (gst_hs_image_of(plane->buffer) &&
        !gst_hs_device_ensure(&self->share, GST_ELEMENT(self), &error))
        goto error;
    if (!gst_hs_readback_plane(&self->readback, &self->share, plane, &read, &error))
        goto error;
    *write = (struct hsio_write_plane){.plane = kind, .row_bytes = read.row_bytes};
    if (kind == HSIO_PLANE_COLOR && self->format.video) {
        bool done = video_to_float(self, read.buffer, &mapped->floats);

        gst_buffer_unref(read.buffer);
        if (!done)
            return HS_ERR_INTERNAL;
        write->format = HSIO_FORMAT_RGBA32F;
        write->row_bytes = 0;
        write->data = g_bytes_get_data(mapped->floats, NULL);
        return 0;
    }
    write->format = gst_hs_format_to_file(read.format);
    if (write->format == HSIO_FORMAT_NATIVE ||
        !gst_buffer_map(read.buffer, &mapped->map, GST_MAP_READ)) {
        gst_buffer_unref(read.buffer);
        hs_log_message(&self->log.log, HS_LOG_ERROR, "plane %s has no format that files have",
                       gst_hs_plane_name(kind));
        return HS_ERR_UNSUPPORTED;
    }
    mapped->buffer = read.buffer;
    if (mapped->map.size < read.offset + read.row_bytes * read.height) {
        hs_log_message(&self->log.log, HS_LOG_ERROR,
                       "the buffer of plane %s is smaller than its caps say",
                       gst_hs_plane_name(kind));
        return HS_ERR_INVALID;
    }
    write->data = mapped->map.data + read.offset;
    write->store_float =
        hsio_format_bytes(write->format) / (gsize)hsio_format_channels(write->format) == 4;
    return 0;
error:
    hs_log_message(&self->log.log, HS_LOG_ERROR, "%s", error->message);
    g_clear_error(&error);
    return HS_ERR_INTERNAL;
}

static int write_file(GstHsSequenceSink *self, const char *path, GstBuffer *buffer)
{
    const GstHsFrameMeta *meta = gst_hs_frame_meta_get(buffer);
    const GstHsOriginMeta *origin = gst_hs_origin_meta_get(buffer);
    GstHsSource *source = origin ? origin->source : NULL;
    const bool linear = self->format.linear;
    const struct hsio_attribute attributes[] = {
        {"hindsight:version", hs_version_string()},
        {"hindsight:model", origin ? origin->model : NULL},
    };
    struct hsio_write_options options = {
        .png_bits = self->settings.png_bits,
        .curve = self->settings.curve != CURVE_AUTO ? (enum hsio_curve)self->settings.curve
                 : linear                           ? HSIO_CURVE_SRGB
                                                    : HSIO_CURVE_NONE,
        .png_alpha = self->settings.alpha,
        .attributes = attributes,
        .attribute_count = origin && origin->model ? 2 : 0,
    };
    struct hsio_write_plane writes[HSIO_PLANE_COUNT];
    struct mapped mapped[HSIO_PLANE_COUNT] = {0};
    GstHsPlane colour = {
        .buffer = buffer,
        .format = self->format.format,
        .width = (guint)self->format.width,
        .height = (guint)self->format.height,
        .row_bytes = (gsize)self->format.width * gst_hs_format_bytes(self->format.format),
    };
    int count = 0, err;

    if (source) {
        options.source = source->frame;
        options.png_alpha |=
            channel_count(hsio_frame_info(source->frame)->planes[HSIO_PLANE_COLOR].channels) > 3;
    }
    err = map_plane(self, HSIO_PLANE_COLOR, &colour, &mapped[0], &writes[0]);
    if (!err && self->settings.depth != DEPTH_AUTO)
        writes[0].store_float = self->settings.depth == DEPTH_FLOAT;
    count++;
    for (int i = HSIO_PLANE_COLOR + 1; !err && i < HSIO_PLANE_COUNT; i++) {
        if (!self->settings.planes || self->png || !meta || !meta->planes[i].buffer)
            continue;
        err = map_plane(self, (enum hsio_plane)i, &meta->planes[i], &mapped[count], &writes[count]);
        count++;
    }
    if (source)
        g_mutex_lock(&source->lock);
    if (!err)
        err = hsio_write(path, self->format.width, self->format.height, writes, count, &options,
                         &self->log.log);
    if (source)
        g_mutex_unlock(&source->lock);
    for (int i = 0; i < count; i++)
        unmap(&mapped[i]);
    return err;
}

static GstFlowReturn render(GstBaseSink *base, GstBuffer *buffer)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(base);
    const GstHsOriginMeta *origin = gst_hs_origin_meta_get(buffer);
    gint64 number = origin ? origin->number : self->settings.start_number + (gint64)self->written;
    char path[2048], *what;
    int err = hsio_pattern_format(&self->pattern, number, path, sizeof(path));

    if (!err && !self->pattern.numbered && self->written) {
        GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS,
                          ("%s has no place for a frame number, such as %%04d, but there is more "
                           "than one frame.",
                           self->settings.location),
                          (NULL));
        return GST_FLOW_ERROR;
    }
    if (!err)
        err = write_file(self, path, buffer);
    if (err < 0) {
        what = g_strdup_printf("%s can not be written", path);
        gst_hs_log_post(&self->log, GST_ELEMENT(self), err, what);
        g_free(what);
        return GST_FLOW_ERROR;
    }
    self->written++;
    GST_DEBUG_OBJECT(self, "wrote %s", path);
    return GST_FLOW_OK;
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(object);
    struct settings *s = &self->settings;

    GST_OBJECT_LOCK(self);
    switch (id) {
    case PROP_LOCATION:
        g_free(s->location);
        s->location = g_value_dup_string(value);
        break;
    case PROP_START_NUMBER:
        s->start_number = g_value_get_int64(value);
        break;
    case PROP_DEPTH:
        s->depth = g_value_get_enum(value);
        break;
    case PROP_CURVE:
        s->curve = g_value_get_enum(value);
        break;
    case PROP_PNG_BITS:
        s->png_bits = g_value_get_int(value) > 8 ? 16 : 8;
        break;
    case PROP_ALPHA:
        s->alpha = g_value_get_boolean(value);
        break;
    case PROP_PLANES:
        s->planes = g_value_get_boolean(value);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
        break;
    }
    GST_OBJECT_UNLOCK(self);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(object);
    struct settings *s = &self->settings;

    GST_OBJECT_LOCK(self);
    switch (id) {
    case PROP_LOCATION:
        g_value_set_string(value, s->location);
        break;
    case PROP_START_NUMBER:
        g_value_set_int64(value, s->start_number);
        break;
    case PROP_DEPTH:
        g_value_set_enum(value, s->depth);
        break;
    case PROP_CURVE:
        g_value_set_enum(value, s->curve);
        break;
    case PROP_PNG_BITS:
        g_value_set_int(value, s->png_bits);
        break;
    case PROP_ALPHA:
        g_value_set_boolean(value, s->alpha);
        break;
    case PROP_PLANES:
        g_value_set_boolean(value, s->planes);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
        break;
    }
    GST_OBJECT_UNLOCK(self);
}

static void set_context(GstElement *element, GstContext *context)
{
    gst_hs_device_set_context(&GST_HS_SEQUENCE_SINK(element)->share, element, context);
    GST_ELEMENT_CLASS(gst_hs_sequence_sink_parent_class)->set_context(element, context);
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
    GstStateChangeReturn result =
        GST_ELEMENT_CLASS(gst_hs_sequence_sink_parent_class)->change_state(element, transition);

    if (transition == GST_STATE_CHANGE_READY_TO_NULL)
        gst_hs_device_clear(&GST_HS_SEQUENCE_SINK(element)->share);
    return result;
}

static void finalize(GObject *object)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(object);

    g_free(self->settings.location);
    gst_hs_device_finish(&self->share);
    gst_hs_log_finish(&self->log);
    G_OBJECT_CLASS(gst_hs_sequence_sink_parent_class)->finalize(object);
}

static void gst_hs_sequence_sink_init(GstHsSequenceSink *self)
{
    gst_hs_log_init(&self->log, self);
    gst_hs_device_init(&self->share);
    self->settings = (struct settings){.curve = CURVE_AUTO, .png_bits = 8};
    // Files are written as fast as frames come.
    gst_base_sink_set_sync(GST_BASE_SINK(self), FALSE);
}

static void install_properties(GObjectClass *class)
{
    const GParamFlags fixed = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

#define INSTALL(id, kind, ...) \
    g_object_class_install_property(class, id, g_param_spec_##kind(__VA_ARGS__))
    INSTALL(PROP_LOCATION, string, "location", "Location",
            "File names with a place for the number, such as out.%04d.exr or out.####.png; the end "
            "tells the kind: .exr, .png, or the name of a raw format such as .rgba16f",
            NULL, fixed);
    INSTALL(PROP_START_NUMBER, int64, "start-number", "Start number",
            "Number of the first frame if the frames have none of their own", G_MININT32,
            G_MAXINT32, 0, fixed);
    INSTALL(PROP_DEPTH, enum, "depth", "Depth", "Storage of EXR colour", depth_type(), DEPTH_AUTO,
            fixed);
    INSTALL(PROP_CURVE, enum, "curve", "Curve", "From floats to PNG codes", curve_type(),
            CURVE_AUTO, fixed);
    INSTALL(PROP_PNG_BITS, int, "png-bits", "PNG bits", "Bits of a PNG channel, 8 or 16", 8, 16, 8,
            fixed);
    INSTALL(PROP_ALPHA, boolean, "alpha", "Alpha",
            "Write the alpha channel into PNG even where the source files have none", FALSE, fixed);
    INSTALL(PROP_PLANES, boolean, "planes", "Planes",
            "Write the planes that travel with the colour into the same EXR", FALSE, fixed);
#undef INSTALL
    gst_type_mark_as_plugin_api(depth_type(), 0);
    gst_type_mark_as_plugin_api(curve_type(), 0);
}

static void gst_hs_sequence_sink_class_init(GstHsSequenceSinkClass *class)
{
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstBaseSinkClass *sink = GST_BASE_SINK_CLASS(class);
    GstCaps *caps = gst_caps_from_string(
        GST_HS_PLANE_CAPS ", kind=color, format={ rgba16f, rgba32f }, width=[ 1, 16384 ], "
                          "height=[ 1, 16384 ]; " GST_HS_PLANE_CAPS "(" GST_HS_VULKAN "), "
                          "kind=color, format={ rgba16f, rgba32f }, width=[ 1, 16384 ], "
                          "height=[ 1, 16384 ]; video/x-raw, format={ RGBA, BGRA, RGBA64_LE }, "
                          "width=[ 1, 16384 ], height=[ 1, 16384 ]");

    G_OBJECT_CLASS(class)->set_property = set_property;
    G_OBJECT_CLASS(class)->get_property = get_property;
    G_OBJECT_CLASS(class)->finalize = finalize;
    install_properties(G_OBJECT_CLASS(class));
    gst_element_class_set_static_metadata(element, "Hindsight sequence sink", "Sink/File/Video",
                                          "Writes EXR, PNG and raw sequences",
                                          "The Hindsight authors");
    gst_element_class_add_pad_template(
        element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
    element->set_context = set_context;
    element->change_state = change_state;
    sink->start = start;
    sink->stop = stop;
    sink->set_caps = set_caps;
    sink->query = query;
    sink->render = render;
}
