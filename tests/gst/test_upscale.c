// SPDX-License-Identifier: MIT
// hsupscale by itself: history, sizes, events, errors.
#include "rig.h"

#define SYSTEM "application/x-hindsight-plane, format=(string)rgba16f"

static void step(struct rig *rig, int number)
{
    gst_buffer_unref(rig_step(rig, number));
}

/** What a fresh element makes of one frame. */
static GstBuffer *fresh(int number)
{
    struct rig rig;
    GstBuffer *out;

    rig_open(&rig, "hsupscale", SYSTEM);
    out = rig_step(&rig, number);
    rig_close(&rig);
    return out;
}

/** The frame was made without history, and the counter knows. */
static void require_reset(struct rig *rig, int number, bool reset, guint64 resets)
{
    GstBuffer *alone = fresh(number), *out = rig_step(rig, number);

    REQUIRE_EQ(rig_equal(alone, out), reset);
    REQUIRE_EQ(rig_stat(rig, "resets"), resets);
    gst_buffer_unref(alone);
    gst_buffer_unref(out);
}

static void keeps_history(struct test_rng *rng)
{
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    require_reset(&rig, 0, true, 1);
    for (int i = 1; i < 4; i++)
        require_reset(&rig, i, false, 1);
    REQUIRE_EQ(rig_stat(&rig, "frames"), 4);
    rig_close(&rig);
}

static void resets_on_discont(struct test_rng *rng)
{
    struct rig rig;
    GstBuffer *alone, *in, *out;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    step(&rig, 0);
    step(&rig, 1);
    in = rig_colour(2, RIG_WIDTH, RIG_HEIGHT);
    GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_DISCONT);
    gst_harness_push(rig.colour, in);
    out = gst_harness_pull(rig.colour);
    alone = fresh(2);
    REQUIRE(rig_equal(alone, out));
    REQUIRE(GST_BUFFER_IS_DISCONT(out));
    REQUIRE_EQ(rig_stat(&rig, "resets"), 2);
    gst_buffer_unref(alone);
    gst_buffer_unref(out);
    require_reset(&rig, 3, false, 2);
    rig_close(&rig);
}

static void resets_on_property(struct test_rng *rng)
{
    struct rig rig;
    gboolean reset = TRUE;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    step(&rig, 0);
    step(&rig, 1);
    g_object_set(rig.element, "reset", TRUE, NULL);
    require_reset(&rig, 2, true, 2);
    g_object_get(rig.element, "reset", &reset, NULL);
    REQUIRE(!reset);
    require_reset(&rig, 3, false, 2);
    rig_close(&rig);
}

static void resets_on_segment(struct test_rng *rng)
{
    GstSegment segment;
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    step(&rig, 0);
    step(&rig, 1);
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.base = rig_time(2);
    REQUIRE(gst_harness_push_event(rig.colour, gst_event_new_segment(&segment)));
    require_reset(&rig, 2, true, 2);
    require_reset(&rig, 3, false, 2);
    rig_close(&rig);
}

static void resets_on_flush(struct test_rng *rng)
{
    GstSegment segment;
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    step(&rig, 0);
    step(&rig, 1);
    REQUIRE(gst_harness_push_event(rig.colour, gst_event_new_flush_start()));
    REQUIRE(gst_harness_push_event(rig.colour, gst_event_new_flush_stop(TRUE)));
    gst_segment_init(&segment, GST_FORMAT_TIME);
    REQUIRE(gst_harness_push_event(rig.colour, gst_event_new_segment(&segment)));
    require_reset(&rig, 5, true, 2);
    require_reset(&rig, 6, false, 2);
    rig_close(&rig);
}

static void passes_gaps(struct test_rng *rng)
{
    GstClockTime time, duration;
    struct rig rig;
    GstEvent *event;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    step(&rig, 0);
    step(&rig, 1);
    REQUIRE(gst_harness_push_event(rig.colour, gst_event_new_gap(rig_time(2), rig_time(1))));
    event = rig_event(rig.colour, GST_EVENT_GAP);
    gst_event_parse_gap(event, &time, &duration);
    REQUIRE_EQ(time, rig_time(2));
    REQUIRE_EQ(duration, rig_time(1));
    gst_event_unref(event);
    require_reset(&rig, 3, true, 2);
    rig_close(&rig);
}

static void ends(struct test_rng *rng)
{
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    step(&rig, 0);
    REQUIRE(gst_harness_push_event(rig.colour, gst_event_new_eos()));
    gst_event_unref(rig_event(rig.colour, GST_EVENT_EOS));
    REQUIRE_EQ(gst_harness_buffers_received(rig.colour), 1);
    rig_close(&rig);
}

static void output_size(GstHarness *harness, int *width, int *height)
{
    GstCaps *caps = gst_pad_get_current_caps(harness->sinkpad);
    const GstStructure *s = gst_caps_get_structure(caps, 0);

    REQUIRE(gst_structure_get_int(s, "width", width));
    REQUIRE(gst_structure_get_int(s, "height", height));
    gst_caps_unref(caps);
}

static void change_input(struct rig *rig, int width, int height)
{
    char *caps = rig_caps("color", "rgba16f", width, height);

    gst_harness_set_src_caps_str(rig->colour, caps);
    g_free(caps);
}

static void push_sized(struct rig *rig, int number, int width, int height)
{
    REQUIRE_EQ(gst_harness_push(rig->colour, rig_colour(number, width, height)), GST_FLOW_OK);
    gst_buffer_unref(gst_harness_pull(rig->colour));
}

/** The render size changes, the output's does not: one stream. */
static void dynamic_resolution(struct test_rng *rng)
{
    struct rig rig;
    int width, height;

    (void)rng;
    rig_open(&rig, "hsupscale output-width=96 output-height=64", SYSTEM);
    step(&rig, 0);
    // The harness sends a segment of its own with new caps: one reset, and not by the size.
    change_input(&rig, 40, 28);
    push_sized(&rig, 1, 40, 28);
    output_size(rig.colour, &width, &height);
    REQUIRE_EQ(width, 96);
    REQUIRE_EQ(height, 64);
    REQUIRE_LE(rig_stat(&rig, "resets"), 2);
    push_sized(&rig, 2, 40, 28);
    REQUIRE_LE(rig_stat(&rig, "resets"), 2);
    rig_close(&rig);
}

static void new_output_size(struct test_rng *rng)
{
    struct rig rig;
    int width, height;

    (void)rng;
    rig_open(&rig, "hsupscale scale=1.5", SYSTEM);
    step(&rig, 0);
    output_size(rig.colour, &width, &height);
    REQUIRE_EQ(width, 72);
    REQUIRE_EQ(height, 48);
    g_object_set(rig.element, "scale", 3.0, NULL);
    REQUIRE_EQ(rig_stat(&rig, "resets"), 1);
    step(&rig, 1);
    REQUIRE_EQ(rig_stat(&rig, "resets"), 2);
    step(&rig, 2);
    REQUIRE_EQ(rig_stat(&rig, "resets"), 2);
    output_size(rig.colour, &width, &height);
    REQUIRE_EQ(width, 144);
    REQUIRE_EQ(height, 96);
    rig_close(&rig);
}

static void drops_late_frames(struct test_rng *rng)
{
    struct rig rig;
    GstMessage *message;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    step(&rig, 0);
    gst_harness_push_upstream_event(
        rig.colour, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0,
                                      (GstClockTimeDiff)(rig_time(1) + GST_MSECOND), rig_time(1)));
    // Due until three frames in; history goes on all the same.
    for (int i = 1; i < 4; i++)
        gst_harness_push(rig.colour, rig_colour(i, RIG_WIDTH, RIG_HEIGHT));
    require_reset(&rig, 4, false, 1);
    REQUIRE_EQ(rig_stat(&rig, "dropped"), 3);
    REQUIRE_EQ(rig_stat(&rig, "frames"), 5);
    REQUIRE_EQ(gst_harness_buffers_received(rig.colour), 2);
    message = gst_bus_pop_filtered(rig.bus, GST_MESSAGE_QOS);
    REQUIRE(message);
    gst_message_unref(message);
    rig_close(&rig);
}

/** Frames that were dropped on the way out leave the same history as those that were not. */
static void history_of_dropped_frames(struct test_rng *rng)
{
    GstBuffer *out[2];

    (void)rng;
    for (int late = 0; late < 2; late++) {
        struct rig rig;

        rig_open(&rig, "hsupscale", SYSTEM);
        step(&rig, 0);
        if (late)
            gst_harness_push_upstream_event(
                rig.colour, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 0, rig_time(2)));
        for (int i = 1; i < 3; i++) {
            gst_harness_push(rig.colour, rig_colour(i, RIG_WIDTH, RIG_HEIGHT));
            if (!late)
                gst_buffer_unref(gst_harness_pull(rig.colour));
        }
        out[late] = rig_step(&rig, 3);
        REQUIRE_EQ(rig_stat(&rig, "dropped"), 2 * late);
        rig_close(&rig);
    }
    REQUIRE(rig_equal(out[0], out[1]));
    gst_buffer_unref(out[0]);
    gst_buffer_unref(out[1]);
}

static void adds_no_latency(struct test_rng *rng)
{
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    gst_harness_set_upstream_latency(rig.colour, 20 * GST_MSECOND);
    step(&rig, 0);
    REQUIRE_EQ(gst_harness_query_latency(rig.colour), 20 * GST_MSECOND);
    rig_close(&rig);
}

static void refuses_settings(struct test_rng *rng)
{
    static const struct {
        const char *element, *part;
    } cases[] = {
        {"hsupscale model=nothing", "Set the property model"},
        {"hsupscale convention=nothing", "Change the properties convention"},
        {"hsupscale convention-changes=motion.scale_q=2", "motion.scale_q"},
        {"hsplanemux convention=nothing", "properties convention"},
        {"hssequencesrc", "set location"},
        {"hssequencesrc location=none.%04d.exr", "no such file. Change location"},
        {"hssequencesink", "set location"},
        {"hssequencesink location=out.%04d.tga", "ends in .exr, .png or a raw format"},
        {"hssequencesink planes=true location=out.%04d.png", "planes=true needs EXR"},
        {"hssequencesink planes=true location=out.%04d.rgba16f", "planes=true needs EXR"},
        {"hstestsrc pattern=nothing", "gst-inspect-1.0 hstestsrc lists patterns"},
    };

    (void)rng;
    rig_init();
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct rig rig = {.element = gst_parse_launch(cases[i].element, NULL),
                          .bus = gst_bus_new()};

        gst_element_set_bus(rig.element, rig.bus);
        REQUIRE_EQ(gst_element_set_state(rig.element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
        rig_require_error(rig.bus, cases[i].part);
        gst_element_set_state(rig.element, GST_STATE_NULL);
        gst_element_set_bus(rig.element, NULL);
        gst_object_unref(rig.element);
        gst_object_unref(rig.bus);
    }
}

static const struct test_case cases[] = {
    {"keeps history", keeps_history},
    {"resets on discont", resets_on_discont},
    {"resets on property", resets_on_property},
    {"resets on segment", resets_on_segment},
    {"resets on flush", resets_on_flush},
    {"passes gaps", passes_gaps},
    {"ends", ends},
    {"dynamic resolution", dynamic_resolution},
    {"new output size", new_output_size},
    {"drops late frames", drops_late_frames},
    {"history of dropped frames", history_of_dropped_frames},
    {"adds no latency", adds_no_latency},
    {"refuses settings", refuses_settings},
};
TEST_MAIN(cases)
