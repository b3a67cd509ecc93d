// SPDX-License-Identifier: MIT
// Long runs, sources, seeks, and a device that was there before.
#include "rig.h"

#include <unistd.h>

#include "gst/gsthsvulkan.h"

#define SYSTEM "application/x-hindsight-plane, format=(string)rgba16f"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
/** The sanitizer's own bookkeeping grows; what is lost it finds by itself. */
#ifdef SANITIZED
#define SLACK_BYTES 60000000
#else
#define SLACK_BYTES 4000000
#endif

/** Freed memory is kept back up to this size; the default would hide every growth. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=8";
}

static guint64 resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long total, resident = 0;

    REQUIRE(file && fscanf(file, "%lu %lu", &total, &resident) == 2);
    fclose(file);
    return resident * (guint64)sysconf(_SC_PAGESIZE);
}

/** 300 frames of two sizes in turn, with planes: memory stays where it is after the first 100. */
static void soak(struct test_rng *rng)
{
    struct rig rig;
    guint64 before = 0;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    rig_side(&rig, "depth", "r16f");
    rig_side(&rig, "motion", "rg16f");
    for (int i = 0; i < 300; i++) {
        gst_harness_push(rig.depth, rig_depth(i, RIG_WIDTH, RIG_HEIGHT));
        gst_harness_push(rig.motion, rig_motion(i, RIG_WIDTH, RIG_HEIGHT));
        gst_buffer_unref(rig_step(&rig, i));
        if (i == 99)
            before = resident_bytes();
    }
    // A leak of one output a frame would be 200 x 49 kB.
    REQUIRE_LE(resident_bytes(), before + SLACK_BYTES);
    REQUIRE_EQ(rig_stat(&rig, "resets"), 1);
    rig_close(&rig);
}

/** Twenty times from NULL to frames and back. */
static void starts_again(struct test_rng *rng)
{
    guint64 before = 0;

    (void)rng;
    for (int i = 0; i < 20; i++) {
        struct rig rig;

        rig_open(&rig, "hsupscale", SYSTEM);
        gst_buffer_unref(rig_step(&rig, 0));
        rig_close(&rig);
        if (i == 9)
            before = resident_bytes();
    }
    REQUIRE_LE(resident_bytes(), before + 3 * SLACK_BYTES);
}

static GstHarness *open_source(const char *element, const char *caps)
{
    GstElement *source;
    GstHarness *harness;

    rig_init();
    source = gst_parse_launch(element, NULL);
    REQUIRE(source);
    harness = gst_harness_new_with_element(source, NULL, "src");
    gst_harness_set_sink_caps_str(harness, caps);
    gst_harness_play(harness);
    gst_object_unref(source);
    return harness;
}

/** The same frames from the same seed, others from another; images or memory. */
static void test_source(struct test_rng *rng)
{
    static const char *const elements[] = {
        "hstestsrc width=64 height=48 seed=7 num-buffers=3",
        "hstestsrc width=64 height=48 seed=7 num-buffers=3",
        "hstestsrc width=64 height=48 seed=8 num-buffers=3",
    };
    GstBuffer *last[3];

    (void)rng;
    for (int i = 0; i < 3; i++) {
        GstHarness *h = open_source(elements[i], "application/x-hindsight-plane");

        for (int k = 0; k < 3; k++) {
            last[i] = gst_harness_pull(h);
            REQUIRE(last[i]);
            REQUIRE_EQ(GST_BUFFER_PTS(last[i]), gst_util_uint64_scale((guint64)k, GST_SECOND, 24));
            if (k < 2)
                gst_buffer_unref(last[i]);
        }
        gst_harness_teardown(h);
    }
    REQUIRE(rig_equal(last[0], last[1]));
    REQUIRE(!rig_equal(last[0], last[2]));
    for (int i = 0; i < 3; i++)
        gst_buffer_unref(last[i]);
}

/** Live: frames come at their times, and the latency query says so. */
static void live_source(struct test_rng *rng)
{
    GstHarness *h;
    gboolean live = FALSE;
    GstQuery *query;
    gint64 begin;

    (void)rng;
    h = open_source("hstestsrc width=64 height=48 is-live=true num-buffers=4 fps=20/1",
                    "application/x-hindsight-plane");
    gst_harness_use_systemclock(h);
    begin = g_get_monotonic_time();
    for (int i = 0; i < 4; i++)
        gst_buffer_unref(gst_harness_pull(h));
    // Three frames of 50 ms after the first one.
    REQUIRE_GE(g_get_monotonic_time() - begin, 130000);
    query = gst_query_new_latency();
    REQUIRE(gst_pad_peer_query(h->sinkpad, query));
    gst_query_parse_latency(query, &live, NULL, NULL);
    REQUIRE(live);
    gst_query_unref(query);
    gst_harness_teardown(h);
}

/** Times of what arrives at the sink. */
struct arrivals {
    GstClockTime times[64];
    int count;
};

static void on_arrival(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
    struct arrivals *arrivals = data;

    (void)sink;
    (void)pad;
    if (arrivals->count < 64)
        arrivals->times[arrivals->count++] = GST_BUFFER_PTS(buffer);
}

/** A flushing seek: the frame at the target is the first one, and history began anew. */
static void seek(GstElement *pipeline, struct arrivals *arrivals, int frame)
{
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    rig_run_until(pipeline, GST_MESSAGE_ASYNC_DONE);
    arrivals->count = 0;
    REQUIRE(gst_element_seek_simple(pipeline, GST_FORMAT_TIME,
                                    GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
                                    (gint64)gst_util_uint64_scale((guint64)frame, GST_SECOND, 24)));
    rig_run_until(pipeline, GST_MESSAGE_ASYNC_DONE);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    rig_run_until(pipeline, GST_MESSAGE_EOS);
    REQUIRE_EQ(arrivals->times[0], gst_util_uint64_scale((guint64)frame, GST_SECOND, 24));
}

static void seeks_in_sequences(struct test_rng *rng)
{
    char *text = g_strdup_printf("hssequencesrc location=%s/samples/bridge/lr/bridge_####.exr ! "
                                 "hsupscale name=up ! fakesink name=sink signal-handoffs=true",
                                 getenv("HS_SOURCE_ROOT"));
    struct arrivals arrivals = {0};
    GstElement *pipeline, *sink;
    gint64 duration;

    (void)rng;
    rig_init();
    rig_load("coreelements");
    pipeline = gst_parse_launch(text, NULL);
    sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    g_signal_connect(sink, "handoff", G_CALLBACK(on_arrival), &arrivals);
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    rig_run_until(pipeline, GST_MESSAGE_ASYNC_DONE);
    REQUIRE(gst_element_query_duration(pipeline, GST_FORMAT_TIME, &duration));
    REQUIRE_EQ(duration, GST_SECOND / 2);
    gst_element_set_state(pipeline, GST_STATE_READY);
    seek(pipeline, &arrivals, 7);
    REQUIRE_EQ(arrivals.count, 5);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(sink);
    gst_object_unref(pipeline);
    g_free(text);
}

/** After the last frame the first one comes again, with a cut; times go on. */
static void loops(struct test_rng *rng)
{
    char *text = g_strdup_printf("hssequencesrc location=%s/samples/bridge/lr/bridge_####.exr "
                                 "start=5 stop=6 loop=true num-buffers=5",
                                 getenv("HS_SOURCE_ROOT"));
    GstHarness *h = open_source(text, "application/x-hindsight-plane");
    GstBuffer *buffers[5];

    (void)rng;
    for (int i = 0; i < 5; i++) {
        buffers[i] = gst_harness_pull(h);
        REQUIRE(buffers[i]);
        REQUIRE_EQ(GST_BUFFER_PTS(buffers[i]), gst_util_uint64_scale((guint64)i, GST_SECOND, 24));
        REQUIRE_EQ(GST_BUFFER_IS_DISCONT(buffers[i]), i % 2 == 0);
        if (i >= 2)
            REQUIRE(rig_equal(buffers[i], buffers[i - 2]));
    }
    for (int i = 0; i < 5; i++)
        gst_buffer_unref(buffers[i]);
    gst_harness_teardown(h);
    g_free(text);
}

static gboolean extended(GstElement *pipeline)
{
    GstElement *up = gst_bin_get_by_name(GST_BIN(pipeline), "up");
    GstStructure *stats;
    gboolean value = FALSE;

    g_object_get(up, "stats", &stats, NULL);
    gst_structure_get_boolean(stats, "extended-device", &value);
    gst_structure_free(stats);
    gst_object_unref(up);
    return value;
}

/** The sample ends at 16. */
static void missing_frames(struct test_rng *rng)
{
    static const struct {
        const char *policy;
        int frames;
    } policies[] = {{"skip", 1}, {"hold", 3}};
    const char *root = getenv("HS_SOURCE_ROOT");
    char *text;

    (void)rng;
    rig_init();
    for (int i = 0; i < 2; i++) {
        GstBuffer *first, *buffer;
        GstHarness *h;

        text = g_strdup_printf("hssequencesrc location=%s/samples/bridge/lr/bridge_####.exr "
                               "start=16 stop=18 missing=%s",
                               root, policies[i].policy);
        h = open_source(text, "application/x-hindsight-plane");
        first = gst_harness_pull(h);
        for (int k = 1; k < policies[i].frames; k++) {
            buffer = gst_harness_pull(h);
            REQUIRE(rig_equal(first, buffer));
            gst_buffer_unref(buffer);
        }
        for (bool ended = false; !ended;) {
            GstEvent *event = gst_harness_pull_event(h);

            REQUIRE(event);
            ended = GST_EVENT_TYPE(event) == GST_EVENT_EOS;
            gst_event_unref(event);
        }
        REQUIRE_EQ(gst_harness_buffers_received(h), policies[i].frames);
        gst_buffer_unref(first);
        gst_harness_teardown(h);
        g_free(text);
    }
    text = g_strdup_printf("hssequencesrc location=%s/samples/bridge/lr/bridge_####.exr start=16 "
                           "stop=18 ! fakesink",
                           root);
    rig_load("coreelements");
    rig_require_failure(text, "17");
    g_free(text);
    text = g_strdup_printf("hssequencesrc location=%s/samples/bridge/lr/bridge_####.exr start=1000 "
                           "! fakesink",
                           root);
    rig_require_failure(text, "the files are frames 5 to 16, and 1000 to 16 are asked for");
    g_free(text);
}

/** An application's device, made the stock way. */
static GstVulkanDevice *on_create_device(GstVulkanInstance *instance, guint index, gpointer unused)
{
    GstVulkanDevice *device = gst_vulkan_device_new_with_index(instance, index);

    (void)unused;
    REQUIRE(gst_vulkan_device_open(device, NULL));
    return device;
}

/** Ours where our element is asked first; a stock one, on the plain path, where there is one. */
static void devices(struct test_rng *rng)
{
    (void)rng;
    rig_init();
    rig_load("coreelements");
    rig_load("videotestsrc");
    if (!rig_load("vulkan"))
        TEST_SKIP("no vulkan plugin");
    for (int stock = 0; stock < 2; stock++) {
        GstElement *pipeline = gst_parse_launch(
            "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=48 ! vulkanupload ! "
            "hsupscale name=up ! vulkandownload ! fakesink",
            NULL);
        GstVulkanInstance *instance = gst_vulkan_instance_new();
        GstContext *context = gst_context_new(GST_VULKAN_INSTANCE_CONTEXT_TYPE_STR, TRUE);

        REQUIRE(gst_vulkan_instance_open(instance, NULL));
        if (stock)
            g_signal_connect(instance, "create-device", G_CALLBACK(on_create_device), NULL);
        gst_context_set_vulkan_instance(context, instance);
        gst_element_set_context(pipeline, context);
        gst_element_set_state(pipeline, GST_STATE_PLAYING);
        rig_run_until(pipeline, GST_MESSAGE_EOS);
        REQUIRE_EQ(extended(pipeline), !stock);
        gst_element_set_state(pipeline, GST_STATE_NULL);
        gst_object_unref(pipeline);
        gst_context_unref(context);
        gst_object_unref(instance);
    }
}

/** Three users of the same images take turns: nothing hangs, and both streams are whole. */
static void tee(struct test_rng *rng)
{
    GstElement *pipeline, *up;
    guint64 frames;

    (void)rng;
    rig_init();
    rig_load("coreelements");
    pipeline = gst_parse_launch("hstestsrc width=64 height=48 num-buffers=30 ! tee name=t "
                                "t. ! queue ! hsupscale name=up ! fakesink "
                                "t. ! queue ! hsupscale scale=1.5 ! fakesink "
                                "t. ! queue ! hsplanedemux plane=color ! video/x-raw ! fakesink",
                                NULL);
    REQUIRE(pipeline);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    rig_run_until(pipeline, GST_MESSAGE_EOS);
    up = gst_bin_get_by_name(GST_BIN(pipeline), "up");
    frames = rig_stat(&(struct rig){.element = up}, "frames");
    REQUIRE_EQ(frames, 30);
    gst_object_unref(up);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
}

/** Flushing seeks one after another while frames run: no hang, no frame from before. */
static void seeks_while_playing(struct test_rng *rng)
{
    GstElement *pipeline;

    rig_init();
    rig_load("coreelements");
    pipeline = gst_parse_launch("hstestsrc width=64 height=48 num-buffers=600 ! "
                                "hsupscale name=up ! fakesink sync=false",
                                NULL);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    for (int i = 0; i < 10; i++) {
        gint64 target = (gint64)test_rng_below(rng, 10) * GST_SECOND;

        gst_element_get_state(pipeline, NULL, NULL, 10 * GST_SECOND);
        REQUIRE(gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, target));
        g_usleep(1000 * test_rng_below(rng, 30));
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
}

static const struct test_case cases[] = {
    {"soak", soak},
    {"starts again", starts_again},
    {"test source", test_source},
    {"live source", live_source},
    {"seeks in sequences", seeks_in_sequences},
    {"seeks while playing", seeks_while_playing},
    {"tee", tee},
    {"loops", loops},
    {"missing frames", missing_frames},
    {"devices", devices},
};
TEST_MAIN(cases)
