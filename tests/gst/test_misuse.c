// SPDX-License-Identifier: MIT
// What applications do that they should not: an error that tells, or nothing, and no crash.
#include "rig.h"

#include "gst/gsthsframemeta.h"

#define SYSTEM "application/x-hindsight-plane, format=(string)rgba16f"

/** Property strings may be NULL: the default holds, or an error tells what to set. */
static void null_strings(struct test_rng *rng)
{
    static const struct {
        const char *element, *property;
    } cases[] = {
        {"hsupscale", "model"},
        {"hsupscale", "convention"},
        {"hsupscale", "convention-changes"},
        {"hsplanemux", "convention"},
        {"hsplanemux", "convention-changes"},
        {"hstestsrc", "pattern"},
    };

    (void)rng;
    rig_init();
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GstElement *element = gst_element_factory_make(cases[i].element, NULL);

        g_object_set(element, cases[i].property, NULL, NULL);
        REQUIRE_MSG(gst_element_set_state(element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE,
                    "%s %s", cases[i].element, cases[i].property);
        gst_element_set_state(element, GST_STATE_NULL);
        gst_object_unref(element);
    }
}

/** Sets the property when the frame's warning passes by: the frame is being made just then. */
static void set_reset(GstDebugCategory *category, GstDebugLevel level, const gchar *file,
                      const gchar *function, gint line, GObject *object, GstDebugMessage *message,
                      gpointer data)
{
    (void)category;
    (void)level;
    (void)file;
    (void)function;
    (void)line;
    (void)object;
    if (strstr(gst_debug_message_get(message), "is made without"))
        g_object_set(data, "reset", TRUE, NULL);
}

/** A reset that is asked for while a frame is being made holds for the next one. */
static void reset_while_a_frame_is_made(struct test_rng *rng)
{
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    rig_side(&rig, "depth", "r16f");
    gst_harness_push(rig.depth, rig_depth(0, RIG_WIDTH, RIG_HEIGHT));
    gst_buffer_unref(rig_step(&rig, 0));
    gst_debug_set_threshold_for_name("hindsight", GST_LEVEL_WARNING);
    // In parentheses: the macro compares pointers to data and functions.
    (gst_debug_add_log_function)(set_reset, rig.element, NULL);
    gst_harness_push_event(rig.depth, gst_event_new_eos());
    gst_buffer_unref(rig_step(&rig, 1));
    (gst_debug_remove_log_function)(set_reset);
    gst_debug_unset_threshold_for_name("hindsight");
    REQUIRE_EQ(rig_stat(&rig, "resets"), 1);
    gst_buffer_unref(rig_step(&rig, 2));
    REQUIRE_EQ(rig_stat(&rig, "resets"), 2);
    gst_buffer_unref(rig_step(&rig, 3));
    REQUIRE_EQ(rig_stat(&rig, "resets"), 2);
    rig_close(&rig);
}

/** Colour that carries depth, or nothing but the meta. */
static GstBuffer *with_depth(int number, bool depth)
{
    GstBuffer *buffer = rig_colour(number, RIG_WIDTH, RIG_HEIGHT);
    GstHsFrameMeta *meta =
        (GstHsFrameMeta *)gst_buffer_add_meta(buffer, gst_meta_get_info("GstHsFrameMeta"), NULL);

    if (depth)
        meta->planes[HSIO_PLANE_DEPTH] = (GstHsPlane){
            .buffer = rig_depth(number, RIG_WIDTH, RIG_HEIGHT),
            .format = VK_FORMAT_R16_SFLOAT,
            .width = RIG_WIDTH,
            .height = RIG_HEIGHT,
            .row_bytes = 2 * RIG_WIDTH,
            .pixel_bytes = 2,
        };
    return buffer;
}

/** A missing plane of a frame without a time has no gap to tell, and comes again. */
static void no_times_in_demux(struct test_rng *rng)
{
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsplanedemux plane=depth", NULL);
    for (int i = 0; i < 3; i++) {
        GstBuffer *buffer = with_depth(i, i != 1);

        GST_BUFFER_PTS(buffer) = GST_CLOCK_TIME_NONE;
        REQUIRE_EQ(gst_harness_push(rig.colour, buffer), GST_FLOW_OK);
    }
    REQUIRE_EQ(gst_harness_buffers_received(rig.colour), 2);
    rig_close(&rig);
}

/** Empty buffers, with the flag of a gap or not, with a time or not. */
static void empty_buffers(struct test_rng *rng)
{
    static const char *const elements[] = {"hsupscale", "hsplanemux", "hsplanedemux plane=color"};

    (void)rng;
    for (size_t i = 0; i < G_N_ELEMENTS(elements); i++) {
        for (int form = 0; form < 4; form++) {
            GstBuffer *empty;
            struct rig rig;

            rig_open(&rig, elements[i], NULL);
            empty = gst_buffer_new();
            gst_harness_push(rig.colour, rig_colour(0, RIG_WIDTH, RIG_HEIGHT));
            gst_buffer_unref(gst_harness_pull(rig.colour));
            if (form & 1)
                GST_BUFFER_PTS(empty) = rig_time(1);
            if (form & 2)
                GST_BUFFER_FLAG_SET(empty, GST_BUFFER_FLAG_GAP);
            gst_harness_push(rig.colour, empty);
            gst_harness_push(rig.colour, rig_colour(2, RIG_WIDTH, RIG_HEIGHT));
            rig_close(&rig);
        }
    }
}

/** Whether a buffer or an error comes out within a while. */
static bool ends(struct rig *rig)
{
    for (int i = 0; i < 1000; i++) {
        GstMessage *message = gst_bus_pop_filtered(rig->bus, GST_MESSAGE_ERROR);
        GstBuffer *buffer = gst_harness_try_pull(rig->colour);
        const bool done = message || buffer;

        gst_clear_message(&message);
        gst_clear_buffer(&buffer);
        if (done)
            return true;
        g_usleep(10000);
    }
    return false;
}

/** Numbers of a frame that make no sense: an error or a picture. */
static void senseless_meta(struct test_rng *rng)
{
    (void)rng;
    for (int form = 0; form < 8; form++) {
        GstHsFrameMeta *meta;
        GstBuffer *buffer;
        struct rig rig;

        rig_open(&rig, "hsupscale", SYSTEM);
        buffer = with_depth(0, true);
        meta = (GstHsFrameMeta *)gst_buffer_get_meta(buffer, g_type_from_name("GstHsFrameMetaAPI"));
        meta->has_camera = form == 1 || form == 2;
        meta->has_clip = meta->has_exposure = TRUE;
        if (form == 0)
            meta->jitter[0] = NAN;
        else if (form == 1)
            meta->view[0] = NAN;
        else if (form == 3)
            meta->near = meta->far = -INFINITY;
        else if (form == 4)
            meta->exposure = INFINITY;
        else if (form == 5)
            meta->sharpness = 1e30f;
        else if (form == 6)
            meta->planes[HSIO_PLANE_DEPTH].height = G_MAXUINT;
        else if (form == 7)
            meta->planes[HSIO_PLANE_DEPTH].format = VK_FORMAT_UNDEFINED;
        gst_harness_push(rig.colour, buffer);
        REQUIRE_MSG(ends(&rig), "form %d", form);
        rig_close(&rig);
    }
}

/** Times that stand still or run back are another matter of the application's. */
static void times_run_back(struct test_rng *rng)
{
    static const int numbers[] = {5, 5, 2, 6};
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        gst_buffer_unref(rig_step(&rig, numbers[i]));
    REQUIRE_EQ(rig_stat(&rig, "frames"), G_N_ELEMENTS(numbers));
    rig_close(&rig);
}

/** The colour changes its kind, and back, in the middle of the stream. */
static void kinds_in_turn(struct test_rng *rng)
{
    char *planes = rig_caps("color", "rgba16f", RIG_WIDTH, RIG_HEIGHT);
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale", NULL);
    for (int i = 0; i < 6; i++) {
        GstBuffer *buffer = rig_colour(i, RIG_WIDTH, RIG_HEIGHT);

        if (i & 1) {
            gst_buffer_resize(buffer, 0, 4 * RIG_WIDTH * RIG_HEIGHT);
            gst_harness_set_src_caps_str(rig.colour, "video/x-raw, format=RGBA, width=48, "
                                                     "height=32, framerate=30/1");
        } else {
            gst_harness_set_src_caps_str(rig.colour, planes);
        }
        REQUIRE_EQ(gst_harness_push(rig.colour, buffer), GST_FLOW_OK);
        gst_buffer_unref(gst_harness_pull(rig.colour));
    }
    rig_close(&rig);
    g_free(planes);
}

/** Properties that hold for a run are of no effect on the caps of the one that runs. */
static void source_size_while_playing(struct test_rng *rng)
{
    GstHarness *harness;
    GstElement *source;
    int width = 0;

    (void)rng;
    rig_init();
    for (int vulkan = 0; vulkan < 2; vulkan++) {
        source = gst_parse_launch("hstestsrc width=32 height=32", NULL);
        harness = gst_harness_new_with_element(source, NULL, "src");
        gst_harness_set_sink_caps_str(harness,
                                      vulkan ? "application/x-hindsight-plane(memory:VulkanImage)"
                                             : "application/x-hindsight-plane");
        gst_harness_play(harness);
        gst_buffer_unref(gst_harness_pull(harness));
        g_object_set(source, "width", 64, NULL);
        gst_harness_push_upstream_event(harness, gst_event_new_reconfigure());
        for (int i = 0; i < 3; i++) {
            GstCaps *caps;

            gst_buffer_unref(gst_harness_pull(harness));
            caps = gst_pad_get_current_caps(harness->sinkpad);
            gst_structure_get_int(gst_caps_get_structure(caps, 0), "width", &width);
            REQUIRE_EQ(width, 32);
            gst_caps_unref(caps);
        }
        gst_harness_teardown(harness);
        gst_object_unref(source);
    }
}

/** A flush of one plane's pad only, then the pad given back while the colour waits for it. */
static void flush_of_a_plane(struct test_rng *rng)
{
    GstSegment segment;
    struct rig rig;
    GstBuffer *out;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    rig_side(&rig, "depth", "r16f");
    gst_harness_push(rig.depth, rig_depth(0, RIG_WIDTH, RIG_HEIGHT));
    gst_buffer_unref(rig_step(&rig, 0));
    gst_harness_push_event(rig.depth, gst_event_new_flush_start());
    gst_harness_push_event(rig.depth, gst_event_new_flush_stop(TRUE));
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(rig.depth, gst_event_new_segment(&segment));
    gst_harness_push(rig.depth, rig_depth(1, RIG_WIDTH, RIG_HEIGHT));
    gst_buffer_unref(rig_step(&rig, 1));
    gst_harness_push(rig.colour, rig_colour(2, RIG_WIDTH, RIG_HEIGHT));
    g_usleep(50000);
    REQUIRE(!gst_harness_try_pull(rig.colour));
    gst_harness_teardown(rig.depth);
    rig.depth = NULL;
    out = gst_harness_pull(rig.colour);
    REQUIRE(out);
    gst_buffer_unref(out);
    rig_close(&rig);
}

/** All sizes that the properties allow, not only those whose double is one, too. */
static void widest_source(struct test_rng *rng)
{
    (void)rng;
    rig_init();
    rig_load("coreelements");
    rig_run("hstestsrc pattern=box width=16384 height=16 planes=false num-buffers=1 ! fakesink");
}

/** Turns every knob that turns while frames run, as fast as it can. */
static gpointer turn_knobs(gpointer data)
{
    GstElement *element = GST_ELEMENT(data);

    for (int i = 0; i < 2000; i++) {
        GstStructure *stats;

        g_object_set(element, "scale", 1.0 + (i & 1), "reset", i % 3 == 0, "exposure",
                     (double)(i % 5), "sharpness", (double)(i & 1), "qos", i & 1, NULL);
        g_object_get(element, "stats", &stats, NULL);
        gst_structure_free(stats);
        g_usleep(200);
    }
    return NULL;
}

static void knobs_while_playing(struct test_rng *rng)
{
    GThread *thread;
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    thread = g_thread_new("knobs", turn_knobs, rig.element);
    for (int i = 0; i < 60; i++)
        gst_buffer_unref(rig_step(&rig, i));
    // Between runs, too.
    for (int i = 0; i < 5; i++) {
        gst_element_set_state(rig.element, GST_STATE_NULL);
        gst_element_set_state(rig.element, GST_STATE_PLAYING);
    }
    g_thread_join(thread);
    rig_close(&rig);
}

/** Caps that a filter asks for in vain: who makes the frames tells what it makes. */
static void refused_behind(struct test_rng *rng)
{
    char *text = g_strdup_printf("hssequencesrc location=%s/samples/bridge/lr/bridge_####.exr ! "
                                 "application/x-hindsight-plane, width=100 ! fakesink",
                                 getenv("HS_SOURCE_ROOT"));

    (void)rng;
    rig_init();
    rig_load("coreelements");
    rig_require_failure(text, "it makes width=204, height=114, and width=100 is asked for: ask");
    rig_require_failure("hstestsrc width=32 height=32 ! hsplanedemux plane=depth ! "
                        "application/x-hindsight-plane, width=100 ! fakesink",
                        "width=(int)100 is asked for, which it can not make");
    rig_require_failure("hstestsrc width=32 height=32 ! hsplanedemux plane=depth ! "
                        "video/x-raw, width=100 ! fakesink",
                        "it makes width=32, height=32, and width=100 is asked for: ask");
    g_free(text);
}

static const struct test_case cases[] = {
    {"refused behind", refused_behind},
    {"knobs while playing", knobs_while_playing},
    {"widest source", widest_source},
    {"null strings", null_strings},
    {"reset while a frame is made", reset_while_a_frame_is_made},
    {"no times in demux", no_times_in_demux},
    {"empty buffers", empty_buffers},
    {"senseless meta", senseless_meta},
    {"times run back", times_run_back},
    {"kinds in turn", kinds_in_turn},
    {"source size while playing", source_size_while_playing},
    {"flush of a plane", flush_of_a_plane},
};
TEST_MAIN(cases)
