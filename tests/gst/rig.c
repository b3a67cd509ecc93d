// SPDX-License-Identifier: MIT
#include "rig.h"

#include "io/hsio.h"

bool rig_ready(void)
{
    static bool ready;
    GstElement *probe;

    if (ready)
        return true;
    gst_init(NULL, NULL);
    probe = gst_element_factory_make("hsupscale", NULL);
    REQUIRE_MSG(probe, "the plugin is not in GST_PLUGIN_PATH");
    ready = gst_element_set_state(probe, GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS;
    gst_element_set_state(probe, GST_STATE_NULL);
    gst_object_unref(probe);
    return ready;
}

bool rig_load(const char *plugin)
{
    char *path = g_strdup_printf("%s/libgst%s.so", HS_GST_PLUGINS, plugin);
    GstPlugin *loaded = gst_plugin_load_file(path, NULL);

    g_free(path);
    if (!loaded)
        return false;
    gst_registry_add_plugin(gst_registry_get(), loaded);
    gst_object_unref(loaded);
    return true;
}

char *rig_caps(const char *kind, const char *format, int width, int height)
{
    return g_strdup_printf("application/x-hindsight-plane, kind=(string)%s, format=(string)%s, "
                           "width=%d, height=%d, framerate=%d/1%s",
                           kind, format, width, height, RIG_FPS,
                           g_str_equal(kind, "color") ? ", transfer=(string)linear" : "");
}

GstClockTime rig_time(int number)
{
    return gst_util_uint64_scale((guint64)number, GST_SECOND, RIG_FPS);
}

/** A buffer of `channels` halves a pixel from a function of place and time. */
static GstBuffer *make(int number, int width, int height, int channels,
                       float (*value)(int x, int y, int c, int number))
{
    GstBuffer *buffer =
        gst_buffer_new_allocate(NULL, (gsize)(2 * channels * width) * (gsize)height, NULL);
    GstMapInfo map;
    guint16 *to;

    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    to = (guint16 *)(void *)map.data;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            for (int c = 0; c < channels; c++)
                *to++ = hsio_float_to_half(value(x, y, c, number));
        }
    }
    gst_buffer_unmap(buffer, &map);
    GST_BUFFER_PTS(buffer) = rig_time(number);
    GST_BUFFER_DURATION(buffer) = rig_time(number + 1) - rig_time(number);
    return buffer;
}

static float colour_value(int x, int y, int c, int number)
{
    const int u = x - number;

    return c == 3 ? 1 : 0.1f + (((u >> 2) + (y >> 2)) & 1 ? 0.6f : 0.1f) * (float)(c + 1);
}

static float motion_value(int x, int y, int c, int number)
{
    (void)x;
    (void)y;
    (void)number;
    return c ? 0 : -1;
}

static float depth_value(int x, int y, int c, int number)
{
    (void)y;
    (void)c;
    return 4 + (float)((x - number) & 7);
}

GstBuffer *rig_colour(int number, int width, int height)
{
    return make(number, width, height, 4, colour_value);
}

GstBuffer *rig_motion(int number, int width, int height)
{
    return make(number, width, height, 2, motion_value);
}

GstBuffer *rig_depth(int number, int width, int height)
{
    return make(number, width, height, 1, depth_value);
}

void rig_open_ready(struct rig *rig, const char *element, const char *out_caps)
{
    char *caps = rig_caps("color", "rgba16f", RIG_WIDTH, RIG_HEIGHT);

    *rig = (struct rig){.element = gst_parse_launch(element, NULL), .bus = gst_bus_new()};
    REQUIRE(rig->element);
    gst_element_set_bus(rig->element, rig->bus);
    rig->colour = gst_harness_new_with_element(rig->element, "sink", "src");
    if (out_caps)
        gst_harness_set_sink_caps_str(rig->colour, out_caps);
    gst_harness_set_src_caps_str(rig->colour, caps);
    g_free(caps);
}

void rig_close(struct rig *rig)
{
    if (rig->depth)
        gst_harness_teardown(rig->depth);
    if (rig->motion)
        gst_harness_teardown(rig->motion);
    gst_harness_teardown(rig->colour);
    gst_element_set_bus(rig->element, NULL);
    gst_object_unref(rig->element);
    gst_object_unref(rig->bus);
}

GstHarness *rig_side(struct rig *rig, const char *kind, const char *format)
{
    GstHarness *side = gst_harness_new_with_element(rig->element, kind, NULL);
    char *caps = rig_caps(kind, format, RIG_WIDTH, RIG_HEIGHT);

    gst_harness_set_src_caps_str(side, caps);
    g_free(caps);
    *(g_str_equal(kind, "depth") ? &rig->depth : &rig->motion) = side;
    return side;
}

GstBuffer *rig_step(struct rig *rig, int number)
{
    GstBuffer *out;

    REQUIRE_EQ(gst_harness_push(rig->colour, rig_colour(number, RIG_WIDTH, RIG_HEIGHT)),
               GST_FLOW_OK);
    out = gst_harness_pull(rig->colour);
    REQUIRE(out);
    REQUIRE_EQ(GST_BUFFER_PTS(out), rig_time(number));
    return out;
}

guint8 *rig_pixels(GstBuffer *buffer, gsize *bytes)
{
    gpointer copy;

    gst_buffer_extract_dup(buffer, 0, (gsize)-1, &copy, bytes);
    return copy;
}

bool rig_equal(GstBuffer *a, GstBuffer *b)
{
    gsize a_bytes, b_bytes;
    guint8 *a_pixels = rig_pixels(a, &a_bytes), *b_pixels = rig_pixels(b, &b_bytes);
    bool equal = a_bytes == b_bytes && !memcmp(a_pixels, b_pixels, a_bytes);

    g_free(a_pixels);
    g_free(b_pixels);
    return equal;
}

guint64 rig_stat(struct rig *rig, const char *name)
{
    GstStructure *stats;
    guint64 value = 0;

    g_object_get(rig->element, "stats", &stats, NULL);
    REQUIRE(gst_structure_get_uint64(stats, name, &value));
    gst_structure_free(stats);
    return value;
}

char *rig_error(GstBus *bus)
{
    GstMessage *message = gst_bus_timed_pop_filtered(bus, 10 * GST_SECOND, GST_MESSAGE_ERROR);
    GError *error = NULL;
    char *text = NULL;

    if (message) {
        gst_message_parse_error(message, &error, NULL);
        text = g_strdup(error->message);
        g_clear_error(&error);
        gst_message_unref(message);
    }
    return text;
}

void rig_require_error(GstBus *bus, const char *part)
{
    char *text = rig_error(bus);

    REQUIRE_MSG(text, "no error was posted; expected one with: %s", part);
    REQUIRE_MSG(strstr(text, part), "expected: %s; found: %s", part, text);
    g_free(text);
}

GstEvent *rig_event(GstHarness *harness, GstEventType type)
{
    for (;;) {
        GstEvent *event = gst_harness_pull_event(harness);

        REQUIRE_MSG(event, "no event %s came", gst_event_type_get_name(type));
        if (GST_EVENT_TYPE(event) == type)
            return event;
        gst_event_unref(event);
    }
}

void rig_run_until(GstElement *pipeline, GstMessageType type)
{
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, 30 * GST_SECOND, type | GST_MESSAGE_ERROR);

    REQUIRE(message);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        GError *error;

        gst_message_parse_error(message, &error, NULL);
        REQUIRE_MSG(false, "%s", error->message);
    }
    gst_message_unref(message);
    gst_object_unref(bus);
}

void rig_run(const char *text)
{
    GstElement *pipeline = gst_parse_launch(text, NULL);

    REQUIRE_MSG(pipeline, "%s", text);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    rig_run_until(pipeline, GST_MESSAGE_EOS);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
}

void rig_require_failure(const char *text, const char *part)
{
    GstElement *pipeline = gst_parse_launch(text, NULL);
    GstBus *bus;
    char *error;

    REQUIRE(pipeline);
    bus = gst_element_get_bus(pipeline);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    error = rig_error(bus);
    REQUIRE_MSG(error && strstr(error, part), "%s: %s", text, error ? error : "no error");
    g_free(error);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(pipeline);
}
