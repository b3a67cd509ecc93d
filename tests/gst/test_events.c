// SPDX-License-Identifier: MIT
// Gaps, steps, seeks and loose pads, at every element that they reach.
#include "rig.h"

#define SYSTEM "application/x-hindsight-plane, format=(string)rgba16f"

/** Rendered frames carry planes: a gap ahead of the first one waits for caps and segment. */
static void gaps_through_demux(struct test_rng *rng)
{
    GstClockTime time;
    GstEvent *event;
    struct rig mux;
    GstHarness *demux;
    GstElement *element;
    GstBuffer *frames[2];
    char *caps = rig_caps("color", "rgba16f", RIG_WIDTH, RIG_HEIGHT);

    (void)rng;
    rig_open(&mux, "hsplanemux", NULL);
    rig_side(&mux, "depth", "r16f");
    for (int i = 0; i < 2; i++) {
        gst_harness_push(mux.depth, rig_depth(i, RIG_WIDTH, RIG_HEIGHT));
        frames[i] = rig_step(&mux, i);
    }
    element = gst_parse_launch("hsplanedemux plane=depth", NULL);
    demux = gst_harness_new_with_element(element, "sink", "src");
    gst_harness_set_sink_caps_str(demux, "application/x-hindsight-plane");
    gst_harness_set_src_caps_str(demux, caps);
    REQUIRE(gst_harness_push_event(demux, gst_event_new_gap(0, rig_time(1))));
    REQUIRE_EQ(gst_harness_push(demux, frames[0]), GST_FLOW_OK);
    gst_event_unref(rig_event(demux, GST_EVENT_CAPS));
    gst_event_unref(rig_event(demux, GST_EVENT_SEGMENT));
    gst_event_unref(rig_event(demux, GST_EVENT_GAP));
    REQUIRE(gst_harness_push_event(demux, gst_event_new_gap(rig_time(1), rig_time(1))));
    event = rig_event(demux, GST_EVENT_GAP);
    gst_event_parse_gap(event, &time, NULL);
    REQUIRE_EQ(time, rig_time(1));
    gst_event_unref(event);
    REQUIRE_EQ(gst_harness_push(demux, frames[1]), GST_FLOW_OK);
    REQUIRE_EQ(gst_harness_buffers_received(demux), 2);
    gst_harness_teardown(demux);
    gst_object_unref(element);
    rig_close(&mux);
    g_free(caps);
}

/** A gap in the colour goes on behind the muxer, and the frame after it tells a cut. */
static void gaps_through_mux(struct test_rng *rng)
{
    struct rig rig, up;

    (void)rng;
    rig_open(&rig, "hsplanemux", NULL);
    rig_open(&up, "hsupscale", SYSTEM);
    for (int i = 0; i < 4; i++) {
        GstBuffer *frame;

        if (i == 2) {
            REQUIRE(
                gst_harness_push_event(rig.colour, gst_event_new_gap(rig_time(2), rig_time(1))));
            gst_event_unref(rig_event(rig.colour, GST_EVENT_GAP));
            continue;
        }
        frame = rig_step(&rig, i);
        // The event itself may get lost on the way; the frame knows.
        REQUIRE_EQ(gst_harness_push(up.colour, frame), GST_FLOW_OK);
        gst_buffer_unref(gst_harness_pull(up.colour));
        REQUIRE_EQ(rig_stat(&up, "resets"), i < 2 ? 1 : 2);
    }
    rig_close(&rig);
    rig_close(&up);
}

/** A gap without an end says nothing about later frames: they wait for their planes. */
static void gap_without_duration(struct test_rng *rng)
{
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    rig_side(&rig, "motion", "rg16f");
    REQUIRE(
        gst_harness_push_event(rig.motion, gst_event_new_gap(rig_time(0), GST_CLOCK_TIME_NONE)));
    gst_buffer_unref(rig_step(&rig, 0));
    REQUIRE_EQ(rig_stat(&rig, "missing"), 1);
    gst_harness_push(rig.colour, rig_colour(1, RIG_WIDTH, RIG_HEIGHT));
    g_usleep(20000);
    REQUIRE_EQ(gst_harness_buffers_received(rig.colour), 1);
    gst_harness_push(rig.motion, rig_motion(1, RIG_WIDTH, RIG_HEIGHT));
    gst_buffer_unref(gst_harness_pull(rig.colour));
    REQUIRE_EQ(rig_stat(&rig, "missing"), 1);
    rig_close(&rig);
}

static GstElement *open_pipeline(GstElement **sink)
{
    GstElement *pipeline;

    rig_load("coreelements");
    pipeline =
        gst_parse_launch("hstestsrc width=32 height=32 num-buffers=40 ! hsupscale name=up ! "
                         "application/x-hindsight-plane, format=rgba16f ! fakesink name=sink",
                         NULL);
    REQUIRE(pipeline);
    *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    rig_run_until(pipeline, GST_MESSAGE_ASYNC_DONE);
    return pipeline;
}

/** The frame that a paused pipeline shows. */
static GstBuffer *shown(GstElement *sink)
{
    GstSample *sample = NULL;
    GstBuffer *buffer;

    g_object_get(sink, "last-sample", &sample, NULL);
    REQUIRE(sample);
    buffer = gst_buffer_ref(gst_sample_get_buffer(sample));
    gst_sample_unref(sample);
    return buffer;
}

static void close_pipeline(GstElement *pipeline, GstElement *sink, guint64 frames)
{
    GstElement *up = gst_bin_get_by_name(GST_BIN(pipeline), "up");

    REQUIRE_GE(rig_stat(&(struct rig){.element = up}, "frames"), frames);
    REQUIRE_EQ(rig_stat(&(struct rig){.element = up}, "resets"), 1);
    gst_object_unref(up);
    gst_object_unref(sink);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
}

/** Steps of one frame and of five: what is shown is what an unbroken run makes of these frames. */
static void steps(struct test_rng *rng)
{
    static const struct {
        GstFormat format;
        guint64 amount;
        int frame; ///< That is shown then.
    } steps[] = {{GST_FORMAT_BUFFERS, 1, 1}, {GST_FORMAT_BUFFERS, 5, 6}};
    GstElement *whole, *sink, *whole_sink;
    GstElement *pipeline;

    (void)rng;
    rig_init();
    pipeline = open_pipeline(&sink);
    whole = open_pipeline(&whole_sink);
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
        GstBuffer *a, *b;

        REQUIRE(gst_element_send_event(
            pipeline, gst_event_new_step(steps[i].format, steps[i].amount, 1.0, TRUE, FALSE)));
        rig_run_until(pipeline, GST_MESSAGE_STEP_DONE);
        rig_run_until(pipeline, GST_MESSAGE_ASYNC_DONE);
        a = shown(sink);
        REQUIRE_EQ(GST_BUFFER_OFFSET(a), steps[i].frame);
        // One by one, for comparison.
        for (b = shown(whole_sink); GST_BUFFER_OFFSET(b) < GST_BUFFER_OFFSET(a);
             b = shown(whole_sink)) {
            gst_buffer_unref(b);
            REQUIRE(gst_element_send_event(
                whole, gst_event_new_step(GST_FORMAT_BUFFERS, 1, 1.0, TRUE, FALSE)));
            rig_run_until(whole, GST_MESSAGE_ASYNC_DONE);
        }
        REQUIRE(rig_equal(a, b));
        gst_buffer_unref(a);
        gst_buffer_unref(b);
    }
    close_pipeline(pipeline, sink, 7);
    close_pipeline(whole, whole_sink, 7);
}

/** Refused before anything is flushed: the stream goes on with the segment that it has. */
static void backward_seeks(struct test_rng *rng)
{
    char *sequence = g_strdup_printf("hssequencesrc location=%s/samples/bridge/lr/bridge_####.exr",
                                     getenv("HS_SOURCE_ROOT"));
    const char *const elements[] = {"hstestsrc width=32 height=32", sequence};

    (void)rng;
    rig_init();
    for (size_t i = 0; i < G_N_ELEMENTS(elements); i++) {
        GstElement *source = gst_parse_launch(elements[i], NULL);
        GstHarness *h = gst_harness_new_with_element(source, NULL, "src");

        gst_harness_set_sink_caps_str(h, "application/x-hindsight-plane");
        gst_harness_play(h);
        gst_buffer_unref(gst_harness_pull(h));
        for (int direct = 0; direct < 2; direct++) {
            GstEvent *seek = gst_event_new_seek(-1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                                                GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_END, 0);

            REQUIRE(!(direct ? gst_element_send_event(source, seek)
                             : gst_harness_push_upstream_event(h, seek)));
            gst_buffer_unref(gst_harness_pull(h));
        }
        for (GstEvent *event; (event = gst_harness_try_pull_event(h)); gst_event_unref(event))
            REQUIRE(GST_EVENT_TYPE(event) != GST_EVENT_FLUSH_START);
        gst_harness_teardown(h);
        gst_object_unref(source);
    }
    g_free(sequence);
}

/** Also where what is in front could run backwards. */
static void backward_seek_of_upscaler(struct test_rng *rng)
{
    struct rig rig;
    GstBuffer *out;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    gst_buffer_unref(rig_step(&rig, 0));
    REQUIRE(!gst_harness_push_upstream_event(
        rig.colour, gst_event_new_seek(-1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET,
                                       0, GST_SEEK_TYPE_END, 0)));
    out = rig_step(&rig, 1);
    gst_buffer_unref(out);
    REQUIRE_EQ(rig_stat(&rig, "resets"), 1);
    rig_close(&rig);
}

/** Pads that are asked for and not linked are told, once, instead of waited for. */
static void loose_pads(struct test_rng *rng)
{
    GstElement *element;
    GstHarness *depth;
    GstMessage *second;
    struct rig rig;
    GstBus *bus;
    GstPad *pad;
    char *caps;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    gst_buffer_unref(rig_step(&rig, 0));
    pad = gst_element_request_pad_simple(rig.element, "depth");
    REQUIRE(pad);
    caps = rig_caps("color", "rgba16f", RIG_WIDTH, RIG_HEIGHT);
    gst_harness_set_src_caps_str(rig.colour, caps);
    gst_harness_push(rig.colour, rig_colour(1, RIG_WIDTH, RIG_HEIGHT));
    gst_harness_push(rig.colour, rig_colour(2, RIG_WIDTH, RIG_HEIGHT));
    rig_require_error(rig.bus, "pad depth is not linked and would be waited for: link it before, "
                               "or release it");
    second = gst_bus_pop_filtered(rig.bus, GST_MESSAGE_ERROR);
    REQUIRE(!second);
    gst_element_release_request_pad(rig.element, pad);
    gst_object_unref(pad);
    rig_close(&rig);
    g_free(caps);

    element = gst_element_factory_make("hsplanemux", NULL);
    bus = gst_bus_new();
    gst_element_set_bus(element, bus);
    depth = gst_harness_new_with_element(element, "depth", NULL);
    caps = rig_caps("depth", "r16f", RIG_WIDTH, RIG_HEIGHT);
    gst_harness_set_src_caps_str(depth, caps);
    gst_harness_push(depth, rig_depth(0, RIG_WIDTH, RIG_HEIGHT));
    rig_require_error(bus, "pad sink is not linked and would be waited for: link it before.");
    gst_harness_teardown(depth);
    gst_element_set_bus(element, NULL);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_object_unref(element);
    gst_object_unref(bus);
    g_free(caps);
}

/** Timestamps end after 292 years: the source says so, and what to change. */
static void slowest_rate(struct test_rng *rng)
{
    char *sequence = g_strdup_printf("hssequencesrc location=%s/samples/bridge/lr/bridge_####.exr "
                                     "fps=1/2147483647 ! fakesink",
                                     getenv("HS_SOURCE_ROOT"));

    (void)rng;
    rig_init();
    rig_load("coreelements");
    rig_require_failure("hstestsrc width=32 height=32 fps=1/2147483647 ! fakesink",
                        "With fps=1/2147483647 frame 4 ends later than the 292 years that "
                        "timestamps reach: set a higher fps");
    rig_require_failure(sequence, "With fps=1/2147483647 frame 4 ends later");
    g_free(sequence);
}

static const struct test_case cases[] = {
    {"gaps through demux", gaps_through_demux},
    {"gaps through mux", gaps_through_mux},
    {"gap without duration", gap_without_duration},
    {"steps", steps},
    {"backward seeks", backward_seeks},
    {"backward seek of upscaler", backward_seek_of_upscaler},
    {"loose pads", loose_pads},
    {"slowest rate", slowest_rate},
};
TEST_MAIN(cases)
