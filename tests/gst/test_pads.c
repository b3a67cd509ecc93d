// SPDX-License-Identifier: MIT
// Pairing: planes on pads of their own, late, missing, in gaps, ended; planes as a meta.
#include "rig.h"

#include "gst/gsthsframemeta.h"

#define SYSTEM "application/x-hindsight-plane, format=(string)rgba16f"

static GstBuffer *push_all(struct rig *rig, int number)
{
    if (rig->depth)
        gst_harness_push(rig->depth, rig_depth(number, RIG_WIDTH, RIG_HEIGHT));
    if (rig->motion)
        gst_harness_push(rig->motion, rig_motion(number, RIG_WIDTH, RIG_HEIGHT));
    return rig_step(rig, number);
}

/** Frame `last` after all before it, with planes on pads or without. */
static GstBuffer *expected(int last, bool planes)
{
    struct rig rig;
    GstBuffer *out = NULL;

    rig_open(&rig, "hsupscale", SYSTEM);
    if (planes) {
        rig_side(&rig, "depth", "r16f");
        rig_side(&rig, "motion", "rg16f");
    }
    for (int i = 0; i <= last; i++) {
        gst_clear_buffer(&out);
        out = push_all(&rig, i);
    }
    REQUIRE_EQ(rig_stat(&rig, "missing"), 0);
    rig_close(&rig);
    return out;
}

static void planes_matter(struct test_rng *rng)
{
    GstBuffer *with = expected(3, true), *without = expected(3, false);

    (void)rng;
    REQUIRE(!rig_equal(with, without));
    gst_buffer_unref(with);
    gst_buffer_unref(without);
}

/** The muxer's meta gives the same pixels as pads, and the planes do not go on downstream. */
static void meta_equals_pads(struct test_rng *rng)
{
    GstBuffer *pads = expected(3, true), *out = NULL;
    GstElement *upscale;
    GstHarness *behind;
    struct rig rig;
    char *caps;

    (void)rng;
    rig_open(&rig, "hsplanemux", NULL);
    rig_side(&rig, "depth", "r16f");
    rig_side(&rig, "motion", "rg16f");
    upscale = gst_element_factory_make("hsupscale", NULL);
    behind = gst_harness_new_with_element(upscale, "sink", "src");
    gst_harness_set_sink_caps_str(behind, SYSTEM);
    caps = rig_caps("color", "rgba16f", RIG_WIDTH, RIG_HEIGHT);
    gst_harness_set_src_caps_str(behind, caps);
    g_free(caps);
    for (int i = 0; i < 4; i++) {
        GstBuffer *whole = push_all(&rig, i);
        GstHsFrameMeta *meta =
            (GstHsFrameMeta *)gst_buffer_get_meta(whole, g_type_from_name("GstHsFrameMetaAPI"));

        REQUIRE(meta);
        REQUIRE_EQ(meta->reset, i == 0);
        REQUIRE(meta->planes[HSIO_PLANE_DEPTH].buffer);
        REQUIRE(meta->planes[HSIO_PLANE_MOTION].buffer);
        gst_clear_buffer(&out);
        gst_harness_push(behind, whole);
        out = gst_harness_pull(behind);
        REQUIRE(!gst_buffer_get_meta(out, g_type_from_name("GstHsFrameMetaAPI")));
        REQUIRE(gst_buffer_get_meta(out, g_type_from_name("GstHsOriginMetaAPI")));
    }
    REQUIRE(rig_equal(pads, out));
    gst_buffer_unref(pads);
    gst_buffer_unref(out);
    gst_harness_teardown(behind);
    gst_object_unref(upscale);
    rig_close(&rig);
}

static bool has_meta(GstBuffer *buffer, const char *api)
{
    return gst_buffer_get_meta(buffer, g_type_from_name(api));
}

/** Planes go along with whole copies only, the origin with everything. */
static void meta_rules(struct test_rng *rng)
{
    GstBuffer *whole, *copy, *part;
    GType api;
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsplanemux", NULL);
    rig_side(&rig, "motion", "rg16f");
    whole = push_all(&rig, 0);
    api = g_type_from_name("GstHsFrameMetaAPI");
    REQUIRE(gst_meta_api_type_has_tag(api, g_quark_from_string("video")));
    REQUIRE(gst_meta_api_type_has_tag(api, g_quark_from_string("size")));
    copy = gst_buffer_copy_deep(whole);
    REQUIRE(has_meta(copy, "GstHsFrameMetaAPI"));
    part = gst_buffer_copy_region(whole, GST_BUFFER_COPY_ALL, 8, 16);
    REQUIRE(!has_meta(part, "GstHsFrameMetaAPI"));
    // The copy holds the planes by itself.
    gst_buffer_unref(whole);
    REQUIRE(GST_IS_BUFFER(
        ((GstHsFrameMeta *)gst_buffer_get_meta(copy, api))->planes[HSIO_PLANE_MOTION].buffer));
    gst_buffer_unref(copy);
    gst_buffer_unref(part);
    rig_close(&rig);
}

/** A frame waits for its planes, whatever order they come in. */
static void waits_for_planes(struct test_rng *rng)
{
    struct rig rig;
    GstBuffer *out, *last = expected(2, true);

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    rig_side(&rig, "depth", "r16f");
    rig_side(&rig, "motion", "rg16f");
    for (int i = 0; i < 3; i++) {
        gst_harness_push(rig.colour, rig_colour(i, RIG_WIDTH, RIG_HEIGHT));
        gst_harness_push(rig.motion, rig_motion(i, RIG_WIDTH, RIG_HEIGHT));
        g_usleep(20000);
        REQUIRE_EQ(gst_harness_buffers_received(rig.colour), i);
        gst_harness_push(rig.depth, rig_depth(i, RIG_WIDTH, RIG_HEIGHT));
        out = gst_harness_pull(rig.colour);
        REQUIRE_EQ(GST_BUFFER_PTS(out), rig_time(i));
        if (i == 2)
            REQUIRE(rig_equal(out, last));
        gst_buffer_unref(out);
    }
    gst_buffer_unref(last);
    rig_close(&rig);
}

/** Frame 1 has no motion; frame 2's waits for frame 2. */
static void missing_plane(struct test_rng *rng)
{
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    rig_side(&rig, "motion", "rg16f");
    gst_buffer_unref(push_all(&rig, 0));
    gst_harness_push(rig.motion, rig_motion(2, RIG_WIDTH, RIG_HEIGHT));
    gst_buffer_unref(rig_step(&rig, 1));
    REQUIRE_EQ(rig_stat(&rig, "missing"), 1);
    gst_buffer_unref(rig_step(&rig, 2));
    REQUIRE_EQ(rig_stat(&rig, "missing"), 1);
    REQUIRE_EQ(rig_stat(&rig, "resets"), 1);
    rig_close(&rig);
}

static void missing_plane_is_an_error(struct test_rng *rng)
{
    struct rig rig;
    char *text;

    (void)rng;
    rig_open(&rig, "hsupscale missing-planes=error", SYSTEM);
    rig_side(&rig, "motion", "rg16f");
    gst_harness_push(rig.motion, rig_motion(1, RIG_WIDTH, RIG_HEIGHT));
    gst_harness_push(rig.colour, rig_colour(0, RIG_WIDTH, RIG_HEIGHT));
    text = rig_error(rig.bus);
    REQUIRE(text && strstr(text, "has no motion"));
    REQUIRE(strstr(text, "missing-planes=ignore"));
    g_free(text);
    rig_close(&rig);
}

/** Timestamps within half a frame belong together; older planes are dropped. */
static void tolerance(struct test_rng *rng)
{
    struct rig rig;
    GstBuffer *motion;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    rig_side(&rig, "motion", "rg16f");
    // Two that are too old for frame 2, then one that is a third of a frame late.
    gst_harness_push(rig.colour, rig_colour(2, RIG_WIDTH, RIG_HEIGHT));
    gst_harness_push(rig.motion, rig_motion(0, RIG_WIDTH, RIG_HEIGHT));
    gst_harness_push(rig.motion, rig_motion(1, RIG_WIDTH, RIG_HEIGHT));
    motion = rig_motion(2, RIG_WIDTH, RIG_HEIGHT);
    GST_BUFFER_PTS(motion) += rig_time(1) / 3;
    gst_harness_push(rig.motion, motion);
    gst_buffer_unref(gst_harness_pull(rig.colour));
    REQUIRE_EQ(rig_stat(&rig, "missing"), 0);
    // Two thirds early is another frame's.
    motion = rig_motion(3, RIG_WIDTH, RIG_HEIGHT);
    GST_BUFFER_PTS(motion) += 2 * rig_time(1) / 3;
    gst_harness_push(rig.motion, motion);
    gst_buffer_unref(rig_step(&rig, 3));
    REQUIRE_EQ(rig_stat(&rig, "missing"), 1);
    rig_close(&rig);
}

/** A gap stands for the planes of all frames in it. */
static void plane_gap(struct test_rng *rng)
{
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    rig_side(&rig, "motion", "rg16f");
    gst_buffer_unref(push_all(&rig, 0));
    gst_harness_push_event(rig.motion, gst_event_new_gap(rig_time(1), rig_time(2)));
    gst_buffer_unref(rig_step(&rig, 1));
    gst_buffer_unref(rig_step(&rig, 2));
    REQUIRE_EQ(rig_stat(&rig, "missing"), 2);
    gst_buffer_unref(push_all(&rig, 3));
    REQUIRE_EQ(rig_stat(&rig, "missing"), 2);
    REQUIRE_EQ(rig_stat(&rig, "resets"), 1);
    rig_close(&rig);
}

static void plane_ends(struct test_rng *rng)
{
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    rig_side(&rig, "depth", "r16f");
    gst_buffer_unref(push_all(&rig, 0));
    gst_harness_push_event(rig.depth, gst_event_new_eos());
    for (int i = 1; i < 4; i++)
        gst_buffer_unref(rig_step(&rig, i));
    REQUIRE_EQ(rig_stat(&rig, "missing"), 3);
    rig_close(&rig);
}

/** Segments may differ: what counts is running time. */
static void running_time(struct test_rng *rng)
{
    GstSegment segment;
    struct rig rig;
    GstBuffer *motion;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    rig_side(&rig, "motion", "rg16f");
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.start = segment.time = GST_SECOND;
    gst_harness_push_event(rig.motion, gst_event_new_segment(&segment));
    for (int i = 0; i < 3; i++) {
        motion = rig_motion(i, RIG_WIDTH, RIG_HEIGHT);
        GST_BUFFER_PTS(motion) += GST_SECOND;
        gst_harness_push(rig.motion, motion);
        gst_buffer_unref(rig_step(&rig, i));
    }
    REQUIRE_EQ(rig_stat(&rig, "missing"), 0);
    rig_close(&rig);
}

/** Live: a plane that stays silent holds nothing up for longer than the latency. */
static void live_timeout(struct test_rng *rng)
{
    struct rig rig;
    GstBuffer *out;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    rig_side(&rig, "motion", "rg16f");
    gst_harness_set_live(rig.colour, TRUE);
    gst_harness_set_live(rig.motion, TRUE);
    gst_harness_use_systemclock(rig.colour);
    g_object_set(rig.element, "latency", (guint64)(20 * GST_MSECOND), NULL);
    gst_harness_query_latency(rig.colour);
    for (int i = 0; i < 3; i++) {
        gst_harness_push(rig.colour, rig_colour(i, RIG_WIDTH, RIG_HEIGHT));
        out = gst_harness_pull(rig.colour);
        REQUIRE(out);
        gst_buffer_unref(out);
    }
    REQUIRE_EQ(rig_stat(&rig, "missing"), 3);
    rig_close(&rig);
}

/** Pads come and go while frames run. */
static void pads_come_and_go(struct test_rng *rng)
{
    struct rig rig;
    GstPad *pad;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    gst_buffer_unref(rig_step(&rig, 0));
    rig_side(&rig, "motion", "rg16f");
    gst_buffer_unref(push_all(&rig, 1));
    // The harness gives the pad back.
    gst_harness_teardown(rig.motion);
    rig.motion = NULL;
    pad = gst_element_get_static_pad(rig.element, "motion");
    REQUIRE(!pad);
    gst_buffer_unref(rig_step(&rig, 2));
    rig_side(&rig, "motion", "rg16f");
    gst_buffer_unref(push_all(&rig, 3));
    REQUIRE_EQ(rig_stat(&rig, "missing"), 0);
    rig_close(&rig);
}

/** Frames of two elements that run in turn are those of each alone. */
static void separate_histories(struct test_rng *rng)
{
    GstBuffer *alone = expected(3, true), *out[2] = {NULL, NULL};
    struct rig rigs[2];

    (void)rng;
    for (int k = 0; k < 2; k++) {
        rig_open(&rigs[k], "hsupscale", SYSTEM);
        rig_side(&rigs[k], "depth", "r16f");
        rig_side(&rigs[k], "motion", "rg16f");
    }
    // The second one lags behind and sees other frames in between.
    for (int i = 0; i < 6; i++) {
        if (i < 4) {
            gst_clear_buffer(&out[0]);
            out[0] = push_all(&rigs[0], i);
        }
        if (i >= 2) {
            gst_clear_buffer(&out[1]);
            out[1] = push_all(&rigs[1], i - 2);
        }
    }
    for (int k = 0; k < 2; k++) {
        REQUIRE(rig_equal(out[k], alone));
        gst_buffer_unref(out[k]);
        rig_close(&rigs[k]);
    }
    gst_buffer_unref(alone);
}

static const struct test_case cases[] = {
    {"planes matter", planes_matter},
    {"meta equals pads", meta_equals_pads},
    {"meta rules", meta_rules},
    {"waits for planes", waits_for_planes},
    {"missing plane", missing_plane},
    {"missing plane is an error", missing_plane_is_an_error},
    {"tolerance", tolerance},
    {"plane gap", plane_gap},
    {"plane ends", plane_ends},
    {"running time", running_time},
    {"live timeout", live_timeout},
    {"pads come and go", pads_come_and_go},
    {"separate histories", separate_histories},
};
TEST_MAIN(cases)
