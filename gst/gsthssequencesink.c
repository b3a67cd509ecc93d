// SPDX-License-Identifier: MIT
/**
 * SECTION:element-hssequencesink
 * @title: hssequencesink
 *
 * Writes one file per frame: EXR with half or 32-bit float, PNG, or raw floats, by the end of
 * location, of the colour or of one plane from hsplanedemux. Frames that come from hssequencesrc
 * keep their numbers, and in EXR their windows and attributes.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 hssequencesrc location=shot.%04d.exr ! hsupscale \
 *     ! hssequencesink location=out.%04d.png
 * ]|
 */
#include "gsthssequencesink.h"

#include <string.h>

#include "gsthsaovmeta.h"
#include "hsframe.h"

#define GST_CAT_DEFAULT gst_hs_debug

G_DEFINE_FINAL_TYPE(GstHsSequenceSink, gst_hs_sequence_sink, GST_TYPE_BASE_SINK)

enum gst_hs_sink_kind gst_hs_sink_kind_of(const char *location, enum hsio_format *raw)
{
    const char *dot = location ? strrchr(location, '.') : NULL;
    const int format = dot ? hsio_format_from_name(dot + 1) : HSIO_FORMAT_NATIVE;

    if (!dot)
        return GST_HS_SINK_UNKNOWN;
    if (!g_ascii_strcasecmp(dot, ".png"))
        return GST_HS_SINK_PNG;
    if (!g_ascii_strcasecmp(dot, ".exr"))
        return GST_HS_SINK_EXR;
    *raw = (enum hsio_format)format;
    return format > HSIO_FORMAT_NATIVE ? GST_HS_SINK_RAW : GST_HS_SINK_UNKNOWN;
}

#define SIDES "width=[ 1, 16384 ], height=[ 1, 16384 ]"

static void append_plane(GString *text, enum hsio_plane plane, const char *formats)
{
    for (int vulkan = 0; vulkan < 2; vulkan++)
        g_string_append_printf(text, "%s%s%s, kind=%s, format={ %s }, " SIDES,
                               text->len ? "; " : "", GST_HS_PLANE_CAPS,
                               vulkan ? "(" GST_HS_VULKAN ")" : "", gst_hs_plane_name(plane),
                               formats);
}

/** What goes into files of a kind. */
static GstCaps *caps_of(enum gst_hs_sink_kind kind, enum hsio_format raw)
{
    static const char *const floats[] = {
        [1] = "r16f, r32f", [2] = "rg16f, rg32f", [4] = "rgba16f, rgba32f"};
    GString *text = g_string_new(NULL);
    GstCaps *caps;

    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        const int channels = hsio_plane_channels((enum hsio_plane)i);

        if (kind == GST_HS_SINK_RAW && channels == hsio_format_channels(raw))
            append_plane(text, (enum hsio_plane)i, hsio_format_name(raw));
        else if (kind != GST_HS_SINK_RAW && (kind != GST_HS_SINK_PNG || i == HSIO_PLANE_COLOR))
            append_plane(text, (enum hsio_plane)i, floats[channels]);
    }
    if (kind == GST_HS_SINK_PNG || kind == GST_HS_SINK_UNKNOWN)
        g_string_append(text, "; video/x-raw, format={ RGBA, BGRA, RGBA64_LE }, " SIDES);
    caps = gst_caps_from_string(text->str);
    g_string_free(text, TRUE);
    return caps;
}

/** From READY on, where location may still be set; start() is called before. */
static bool begin(GstHsSequenceSink *self)
{
    const char *location = self->settings.location;
    enum hsio_format raw;
    int err;

    if (!location || !*location) {
        GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                          ("No files are named: set location, for example to out.%%04d.exr."),
                          (NULL));
        return false;
    }
    err = hsio_pattern_parse(&self->pattern, location, &self->log.log);
    if (err < 0) {
        gst_hs_log_post(&self->log, GST_ELEMENT(self), err, "location can not be used");
        return false;
    }
    self->kind = gst_hs_sink_kind_of(location, &raw);
    if (self->kind == GST_HS_SINK_UNKNOWN) {
        GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS,
                          ("Expected a location that ends in .exr, .png or a raw format such as "
                           ".rgba16f, found %s: change location.",
                           location),
                          (NULL));
        return false;
    }
    if (self->settings.planes && self->kind != GST_HS_SINK_EXR) {
        GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS,
                          ("planes=true needs EXR, and %s holds one plane only: end location in "
                           ".exr, or leave planes out.",
                           location),
                          (NULL));
        return false;
    }
    self->written = 0;
    self->refused = false;
    return true;
}

static gboolean stop(GstBaseSink *base)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(base);

    gst_hs_readback_clear(&self->readback);
    return TRUE;
}

/** Only what the files can hold, so that neighbours choose it. */
static GstCaps *get_caps(GstBaseSink *base, GstCaps *filter)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(base);
    enum hsio_format raw = HSIO_FORMAT_NATIVE;
    enum gst_hs_sink_kind kind;

    GST_OBJECT_LOCK(self);
    kind = gst_hs_sink_kind_of(self->settings.location, &raw);
    GST_OBJECT_UNLOCK(self);
    return gst_hs_caps_filter(caps_of(kind, raw), filter);
}

/** What the files of this run hold, in words. */
static const char *expected(const GstHsSequenceSink *self)
{
    if (self->kind == GST_HS_SINK_EXR)
        return "a plane of floats (" GST_HS_PLANE_CAPS ")";
    if (self->kind == GST_HS_SINK_PNG)
        return "colour as floats, or video/x-raw in RGBA, BGRA or RGBA64_LE";
    return "a plane of floats (" GST_HS_PLANE_CAPS ") in the format that location ends in";
}

/** Why the frames can not be written; NULL: they can. g_free() it. */
static char *refusal(GstHsSequenceSink *self, GstCaps *caps)
{
    const char *name = gst_structure_get_string(gst_caps_get_structure(caps, 0), "kind");
    const int plane = name ? hsio_plane_from_name(name) : HSIO_PLANE_COLOR;
    GstCaps *taken;
    char *text = NULL;

    if (plane < 0)
        return g_strdup_printf("there is no plane %s", name);
    text = gst_hs_format_refusal(caps, (enum hsio_plane)plane, GST_HS_SIDE_LEAST);
    if (text)
        return text;
    gst_hs_format_parse(&self->format, caps, (enum hsio_plane)plane);
    taken = get_caps(GST_BASE_SINK(self), NULL);
    if (!gst_caps_can_intersect(caps, taken))
        text = gst_info_strdup_printf("expected %s, found %" GST_PTR_FORMAT
                                      ": change the end of location (video goes into .png, planes "
                                      "into .exr), or what is in front",
                                      expected(self), (void *)caps);
    gst_caps_unref(taken);
    return text;
}

static gboolean set_caps(GstBaseSink *base, GstCaps *caps)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(base);
    char *why;

    // The event comes again with every buffer; to tell it again may stall the application.
    if (self->refused)
        return FALSE;
    why = refusal(self, caps);
    if (!why)
        return TRUE;
    self->refused = true;
    GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE,
                      ("%s can not hold the frames: %s.", self->settings.location, why), (NULL));
    g_free(why);
    return FALSE;
}

static gboolean query(GstBaseSink *base, GstQuery *query)
{
    GstHsSequenceSink *self = GST_HS_SEQUENCE_SINK(base);

    // Only passes on what it has: files by themselves need no device.
    if (self->share.device && gst_hs_device_query(&self->share, GST_ELEMENT(self), query))
        return TRUE;
    if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS) {
        gst_hs_caps_answer_accept(query, base->sinkpad);
        return TRUE;
    }
    return GST_BASE_SINK_CLASS(gst_hs_sequence_sink_parent_class)->query(base, query);
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
};

static void unmap(struct mapped *mapped)
{
    if (mapped->buffer)
        gst_buffer_unmap(mapped->buffer, &mapped->map);
    gst_clear_buffer(&mapped->buffer);
}

static int map_plane(GstHsSequenceSink *self, enum hsio_plane kind, const GstHsPlane *plane,
                     struct mapped *mapped, struct hsio_write_plane *write)
{
    GstHsPlane read = {0}, floats = {0};
    GError *error = NULL;

    if (gst_hs_image_of(plane->buffer) &&
        !gst_hs_device_ensure(&self->share, GST_ELEMENT(self), &error))
        goto error;
    if (!gst_hs_readback_plane(&self->readback, &self->share, plane, &read, &error))
        goto error;
    // Integers: PNG rounds them back to the same codes.
    if (!gst_hs_format_name(read.format)) {
        if (!gst_hs_plane_to_float(&read, kind, &floats, &error))
            goto error;
        gst_buffer_unref(read.buffer);
        read = floats;
    }
    if (!gst_hs_plane_map(&read, kind, &mapped->map, &error))
        goto error;
    mapped->buffer = read.buffer;
    *write = (struct hsio_write_plane){
        .plane = kind,
        .format = gst_hs_format_to_file(read.format),
        .data = mapped->map.data + read.offset,
        .row_bytes = read.row_bytes,
    };
    write->store_float =
        hsio_format_bytes(write->format) / (gsize)hsio_format_channels(write->format) == 4;
    return 0;
error:
    gst_clear_buffer(&read.buffer);
    hs_log_message(&self->log.log, HS_LOG_ERROR, "%s", error->message);
    g_clear_error(&error);
    return HS_ERR_INVALID;
}

static struct hsio_write_options make_options(GstHsSequenceSink *self,
                                              const GstHsOriginMeta *origin,
                                              const struct hsio_attribute attributes[2],
                                              const struct hsio_passthrough *exact, int exact_count)
{
    const struct gst_hs_sequence_sink_settings *s = &self->settings;
    GstHsSource *source = origin ? origin->source : NULL;
    struct hsio_write_options options = {
        .png_bits = s->png_bits,
        .curve = s->curve != GST_HS_SINK_CURVE_AUTO ? (enum hsio_curve)s->curve
                 : self->format.linear              ? HSIO_CURVE_SRGB
                                                    : HSIO_CURVE_NONE,
        .png_alpha = s->alpha,
        .attributes = attributes,
        .attribute_count = origin && origin->model ? 2 : 0,
    };

    if (source) {
        options.source = source->frame;
        options.passthrough = exact;
        options.passthrough_count = self->kind == GST_HS_SINK_EXR ? exact_count : 0;
        options.png_alpha |=
            channel_count(hsio_frame_info(source->frame)->planes[HSIO_PLANE_COLOR].channels) > 3;
    }
    return options;
}

/** Channels that are carried over, which those of the source's file are looked up by. */
static int list_exact(GstBuffer *buffer, struct hsio_passthrough exact[GST_HS_EXACT_MAX])
{
    const GstHsAovMeta *meta = gst_hs_aov_meta_get(buffer);
    const guint count = meta ? meta->exact.count : 0;

    for (guint i = 0; i < count; i++)
        exact[i] = (struct hsio_passthrough){.pattern = meta->exact.patterns[i],
                                             .filter = HSIO_RESAMPLE_NEAREST};
    return (int)count;
}

/** AOVs, which EXR files hold beside the colour. Gives `*count` what there is with them. */
static int map_aovs(GstHsSequenceSink *self, GstBuffer *buffer, struct mapped *mapped,
                    struct hsio_write_plane *writes, int *count)
{
    const GstHsAovMeta *meta = gst_hs_aov_meta_get(buffer);
    int err = 0;

    if (!meta)
        return 0;
    if (self->kind != GST_HS_SINK_EXR) {
        if (!self->written)
            GST_WARNING_OBJECT(self, "AOVs are left out: end location in .exr to have them");
        return 0;
    }
    for (guint i = 0; !err && i < meta->count; i++) {
        struct hsio_write_plane *write = &writes[*count];

        err = map_plane(self, HSIO_PLANE_COLOR, &meta->list[i].plane, &mapped[*count], write);
        if (err < 0)
            break;
        write->channels = meta->list[i].channels;
        if (self->settings.depth != GST_HS_SINK_DEPTH_AUTO)
            write->store_float = self->settings.depth == GST_HS_SINK_DEPTH_FLOAT;
        ++*count;
    }
    return err;
}

/** Whether an AOV of the buffer has the plane's place in the file. */
static bool taken_by_aov(GstHsSequenceSink *self, GstBuffer *buffer, enum hsio_plane plane)
{
    const GstHsAovMeta *meta = gst_hs_aov_meta_get(buffer);
    const GstHsOriginMeta *origin = gst_hs_origin_meta_get(buffer);
    bool taken = false;
    char **names;

    if (!meta || !origin || !origin->source)
        return false;
    names = g_strsplit(hsio_frame_info(origin->source->frame)->planes[plane].channels, ",", -1);
    for (guint i = 0; !taken && i < meta->count; i++) {
        char **own = g_strsplit(meta->list[i].channels, ",", -1);

        for (int n = 0; names[n]; n++)
            taken |= g_strv_contains((const char *const *)own, names[n]);
        g_strfreev(own);
    }
    g_strfreev(names);
    if (taken && !self->written)
        GST_INFO_OBJECT(self, "plane %s is an AOV, too: written once, as that",
                        hsio_plane_name(plane));
    return taken;
}

static int write_file(GstHsSequenceSink *self, const char *path, GstBuffer *buffer)
{
    const GstHsFrameMeta *meta = gst_hs_frame_meta_get(buffer);
    const GstHsOriginMeta *origin = gst_hs_origin_meta_get(buffer);
    GstHsSource *source = origin ? origin->source : NULL;
    const struct hsio_attribute attributes[] = {
        {"hindsight:version", hs_version_string()},
        {"hindsight:model", origin ? origin->model : NULL},
    };
    struct hsio_passthrough exact[GST_HS_EXACT_MAX];
    const int exact_count = list_exact(buffer, exact);
    const struct hsio_write_options options =
        make_options(self, origin, attributes, exact, exact_count);
    const GstHsPlane whole = gst_hs_plane_of(buffer, &self->format);
    struct hsio_write_plane writes[HSIO_PLANE_COUNT + HS_AOV_MAX];
    struct mapped mapped[HSIO_PLANE_COUNT + HS_AOV_MAX] = {0};
    int count = 1, err = map_plane(self, self->format.kind, &whole, &mapped[0], &writes[0]);

    if (self->settings.planes && !self->written && meta)
        GST_WARNING_OBJECT(self, "files hold planes only: describe jitter, cameras, exposure and "
                                 "cuts in a frames.json");
    if (!err && self->settings.depth != GST_HS_SINK_DEPTH_AUTO)
        writes[0].store_float = self->settings.depth == GST_HS_SINK_DEPTH_FLOAT;
    for (int i = HSIO_PLANE_COLOR + 1; !err && i < HSIO_PLANE_COUNT; i++) {
        if (!self->settings.planes || self->kind != GST_HS_SINK_EXR || !meta ||
            !meta->planes[i].buffer || taken_by_aov(self, buffer, (enum hsio_plane)i))
            continue;
        err = map_plane(self, (enum hsio_plane)i, &meta->planes[i], &mapped[count], &writes[count]);
        count++;
    }
    if (!err)
        err = map_aovs(self, buffer, mapped, writes, &count);
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

/** Errors: a file is there that is to stay. */
static int check_place(GstHsSequenceSink *self, const char *path, GstBuffer *buffer)
{
    const GstHsOriginMeta *origin = gst_hs_origin_meta_get(buffer);

    if (origin && origin->source && hsframe_reads(hsio_frame_info(origin->source->frame), path)) {
        hs_log_message(&self->log.log, HS_LOG_ERROR,
                       "it would replace its own input; choose another location");
        return HS_ERR_INVALID;
    }
    if (!self->settings.overwrite && g_file_test(path, G_FILE_TEST_EXISTS)) {
        hs_log_message(&self->log.log, HS_LOG_ERROR,
                       "it is there already; set overwrite=true, or choose another location");
        return HS_ERR_INVALID;
    }
    return 0;
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
        err = check_place(self, path, buffer);
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

static void set_context(GstElement *element, GstContext *context)
{
    gst_hs_device_set_context(&GST_HS_SEQUENCE_SINK(element)->share, element, context);
    GST_ELEMENT_CLASS(gst_hs_sequence_sink_parent_class)->set_context(element, context);
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
    GstStateChangeReturn result;

    if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !begin(GST_HS_SEQUENCE_SINK(element)))
        return GST_STATE_CHANGE_FAILURE;
    result =
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
    self->settings = (struct gst_hs_sequence_sink_settings){
        .curve = GST_HS_SINK_CURVE_AUTO, .png_bits = 8, .overwrite = true};
    // Files are written as fast as frames come.
    gst_base_sink_set_sync(GST_BASE_SINK(self), FALSE);
}

static void gst_hs_sequence_sink_class_init(GstHsSequenceSinkClass *class)
{
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstBaseSinkClass *sink = GST_BASE_SINK_CLASS(class);
    GstCaps *caps = caps_of(GST_HS_SINK_UNKNOWN, HSIO_FORMAT_NATIVE);

    G_OBJECT_CLASS(class)->finalize = finalize;
    gst_hs_sequence_sink_class_init_properties(G_OBJECT_CLASS(class));
    gst_element_class_set_static_metadata(element, "Hindsight sequence sink", "Sink/File/Video",
                                          "Writes EXR, PNG and raw sequences",
                                          "The Hindsight authors");
    gst_element_class_add_pad_template(
        element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
    element->set_context = set_context;
    element->change_state = change_state;
    sink->stop = stop;
    sink->get_caps = get_caps;
    sink->set_caps = set_caps;
    sink->query = query;
    sink->render = render;
}
