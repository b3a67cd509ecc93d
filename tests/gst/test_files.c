// SPDX-License-Identifier: MIT
// hssequencesink: single planes, what it takes by location, what it refuses, what it leaves alone.
#include <glib/gstdio.h>
#include <math.h>

#include "io/hsio.h"
#include "rig.h"

#define SOURCE "hstestsrc pattern=orbit width=32 height=24 num-buffers=2 "

static char *folder;

static void make_folder(void)
{
    folder = g_dir_make_tmp("hindsight-XXXXXX", NULL);
    REQUIRE(folder);
}

static void remove_folder(void)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;

    while ((name = g_dir_read_name(dir))) {
        char *path = g_build_filename(folder, name, NULL);

        g_unlink(path);
        g_free(path);
    }
    g_dir_close(dir);
    g_rmdir(folder);
    g_clear_pointer(&folder, g_free);
}

static guint8 *read_file(const char *name, gsize *bytes)
{
    char *path = g_build_filename(folder, name, NULL), *data;

    REQUIRE_MSG(g_file_get_contents(path, &data, bytes, NULL), "%s is not there", path);
    g_free(path);
    return (guint8 *)data;
}

static void run(const char *in, const char *sink, const char *name)
{
    char *text = g_strdup_printf("%s ! hssequencesink %s location=%s/%s", in, sink, folder, name);

    rig_run(text);
    g_free(text);
}

/** Reads one plane of an EXR as 32-bit floats. */
static void read_exr(const char *name, enum hsio_plane plane, float *values, gsize bytes)
{
    char *path = g_build_filename(folder, name, NULL);
    struct hsio_convention convention;
    struct hsio_sequence *sequence;
    struct hsio_frame *frame;
    struct hsio_plane_request request = {.plane = plane, .buffer = values, .buffer_bytes = bytes};
    static const enum hsio_format formats[] = {
        [1] = HSIO_FORMAT_R32F, [2] = HSIO_FORMAT_RG32F, [4] = HSIO_FORMAT_RGBA32F};

    request.format = formats[hsio_plane_channels(plane)];
    REQUIRE_EQ(hsio_convention_preset(&convention, "raw", NULL), 0);
    REQUIRE_EQ(hsio_sequence_open(path, &convention, NULL, NULL, &sequence), 0);
    REQUIRE_EQ(hsio_frame_open(sequence, 0, &frame), 0);
    REQUIRE(hsio_frame_info(frame)->planes[plane].present);
    REQUIRE_EQ(hsio_frame_read(frame, &request, 1), 0);
    hsio_frame_close(&frame);
    hsio_sequence_close(&sequence);
    g_free(path);
}

static const struct {
    enum hsio_plane plane;
    const char *raw; ///< As the source makes it.
} planes[] = {
    {HSIO_PLANE_DEPTH, "r32f"},        {HSIO_PLANE_MOTION, "rg16f"},
    {HSIO_PLANE_NORMAL, "rgba16f"},    {HSIO_PLANE_DIFFUSE_ALBEDO, "rgba16f"},
    {HSIO_PLANE_HIT_DISTANCE, "r16f"}, {HSIO_PLANE_COLOR, "rgba16f"},
};
static const char *const wide_formats[] = {[1] = "r32f", [2] = "rg32f", [4] = "rgba32f"};

/** All of them from one source: as they are, as 32-bit floats, and as EXR. */
static void write_planes(void)
{
    GString *text = g_string_new(SOURCE "! tee name=t");

    for (size_t i = 0; i < G_N_ELEMENTS(planes); i++) {
        const char *name = hsio_plane_name(planes[i].plane);
        const char *const ends[] = {planes[i].raw,
                                    wide_formats[hsio_plane_channels(planes[i].plane)], "exr"};

        for (int k = 0; k < 3; k++)
            g_string_append_printf(text,
                                   " t. ! queue ! hsplanedemux plane=%s ! hssequencesink "
                                   "location=%s/%s%d.%%04d.%s",
                                   name, folder, name, k, ends[k]);
    }
    rig_run(text->str);
    g_string_free(text, TRUE);
}

/** Every plane by itself: raw files hold its pixels, EXR files the same numbers. */
static void one_plane(struct test_rng *rng)
{
    (void)rng;
    rig_init();
    rig_load("coreelements");
    make_folder();
    write_planes();
    for (size_t i = 0; i < G_N_ELEMENTS(planes); i++) {
        const char *plane = hsio_plane_name(planes[i].plane);
        const int channels = hsio_plane_channels(planes[i].plane);
        const gsize count = 32 * 24 * (gsize)channels;
        char *raw = g_strdup_printf("%s0.0001.%s", plane, planes[i].raw);
        char *wide = g_strdup_printf("%s1.0001.%s", plane, wide_formats[channels]);
        char *exr = g_strdup_printf("%s2.0001.exr", plane);
        float *values = g_new(float, count), *floats;
        guint8 *pixels;
        gsize bytes;
        int different = 0;

        pixels = read_file(raw, &bytes);
        REQUIRE_EQ(bytes, count * (strstr(planes[i].raw, "16") ? 2 : 4));
        floats = (float *)(void *)read_file(wide, &bytes);
        REQUIRE_EQ(bytes, count * 4);
        read_exr(exr, planes[i].plane, values, count * 4);
        for (gsize k = 0; k < count; k++) {
            float value = floats[k];

            if (strstr(planes[i].raw, "16"))
                value = hsio_half_to_float(((guint16 *)(void *)pixels)[k]);
            // EXR files have three channels of guides, and of opaque colour.
            if (channels == 4 && k % 4 == 3)
                continue;
            REQUIRE_MSG(floats[k] == value, "%s: %g, %g", wide, (double)floats[k], (double)value);
            REQUIRE_MSG(values[k] == value, "%s: %g, %g", exr, (double)values[k], (double)value);
            different += value != floats[k % (gsize)channels];
        }
        REQUIRE_MSG(different > 0, "%s is flat", plane);
        g_free(raw);
        g_free(wide);
        g_free(exr);
        g_free(values);
        g_free(floats);
        g_free(pixels);
    }
    remove_folder();
}

/** Planes keep the frame's number, and an EXR the channel names of the file that they are from. */
static void plane_of_a_sequence(struct test_rng *rng)
{
    char *in = g_strdup_printf("hssequencesrc location=%s/samples/bridge/lr/bridge_####.exr "
                               "start=7 stop=8 ! hsplanedemux plane=depth",
                               getenv("HS_SOURCE_ROOT"));
    gsize bytes;

    (void)rng;
    rig_init();
    make_folder();
    run(in, "", "z.####.exr");
    g_free(read_file("z.0007.exr", &bytes));
    g_free(read_file("z.0008.exr", &bytes));
    remove_folder();
    g_free(in);
}

/** Vectors to the next frame are those of the frame before; the first one has none. */
static void vectors_made_whole(struct test_rng *rng)
{
    char *in = g_strdup_printf("hssequencesrc location=%s/samples/bridge/lr/bridge_####.exr "
                               "convention-changes=motion.direction=next start=7 stop=8 ! "
                               "hsplanedemux plane=motion",
                               getenv("HS_SOURCE_ROOT"));

    (void)rng;
    rig_init();
    make_folder();
    run(in, "", "m.####.rg32f");
    for (int number = 7; number < 9; number++) {
        char *name = g_strdup_printf("m.%04d.rg32f", number);
        gsize bytes, written = 0;
        float *values = (float *)(void *)read_file(name, &bytes);

        for (gsize i = 0; i < bytes / 8; i++)
            written += isfinite(values[2 * i]) != 0;
        printf("frame %d: %d of %d vectors\n", number, (int)written, (int)(bytes / 8));
        REQUIRE(number == 7 ? written == 0 : written > bytes / 8 / 2);
        g_free(values);
        g_free(name);
    }
    remove_folder();
    g_free(in);
}

/** Integers from a pad become floats: files and caps of planes have no others. */
static void integer_plane(struct test_rng *rng)
{
    char *colour = rig_caps("color", "rgba16f", RIG_WIDTH, RIG_HEIGHT);
    GstBuffer *grey = gst_buffer_new_allocate(NULL, 2 * RIG_WIDTH * RIG_HEIGHT, NULL), *out;
    GstElement *element;
    GstHarness *demux;
    float *values;
    gsize bytes;
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsplanemux", NULL);
    rig.depth = gst_harness_new_with_element(rig.element, "depth", NULL);
    gst_harness_set_src_caps_str(rig.depth, "video/x-raw, format=GRAY16_LE, width=48, height=32, "
                                            "framerate=30/1");
    for (guint i = 0; i < RIG_WIDTH * RIG_HEIGHT; i++)
        gst_buffer_fill(grey, 2 * i, &(guint16){GUINT16_TO_LE((guint16)(40 * i))}, 2);
    GST_BUFFER_PTS(grey) = 0;
    GST_BUFFER_DURATION(grey) = rig_time(1);
    gst_harness_push(rig.depth, grey);
    out = rig_step(&rig, 0);
    element = gst_parse_launch("hsplanedemux plane=depth", NULL);
    demux = gst_harness_new_with_element(element, "sink", "src");
    gst_harness_set_sink_caps_str(demux, "application/x-hindsight-plane, kind=(string)depth, "
                                         "format=(string)r32f");
    gst_harness_set_src_caps_str(demux, colour);
    gst_harness_push(demux, out);
    out = gst_harness_pull(demux);
    values = (float *)(void *)rig_pixels(out, &bytes);
    REQUIRE_EQ(bytes, 4 * RIG_WIDTH * RIG_HEIGHT);
    for (guint i = 0; i < RIG_WIDTH * RIG_HEIGHT; i++)
        REQUIRE_NEAR(values[i], (float)(guint16)(40 * i) / 65535.0f, 1e-6);
    g_free(values);
    gst_buffer_unref(out);
    gst_harness_teardown(demux);
    gst_object_unref(element);
    rig_close(&rig);
    g_free(colour);
}

/** The sink alone, playing, with a bus of its own. */
struct lone {
    GstElement *element;
    GstHarness *harness;
    GstBus *bus;
};

static void open_lone(struct lone *lone, const char *location)
{
    char *text = g_strdup_printf("hssequencesink location=%s/%s", folder, location);

    lone->element = gst_parse_launch(text, NULL);
    lone->bus = gst_bus_new();
    gst_element_set_bus(lone->element, lone->bus);
    lone->harness = gst_harness_new_with_element(lone->element, "sink", NULL);
    gst_harness_play(lone->harness);
    g_free(text);
}

static void close_lone(struct lone *lone)
{
    gst_harness_teardown(lone->harness);
    gst_element_set_bus(lone->element, NULL);
    gst_element_set_state(lone->element, GST_STATE_NULL);
    gst_object_unref(lone->element);
    gst_object_unref(lone->bus);
}

/** Links are made by what the files can hold. */
static void caps_by_location(struct test_rng *rng)
{
    static const struct {
        const char *location, *caps;
        bool taken;
    } cases[] = {
        {"o.%04d.exr", "application/x-hindsight-plane, kind=(string)depth, format=(string)r32f",
         true},
        {"o.%04d.exr", "video/x-raw, format=RGBA", false},
        {"o.%04d.png", "video/x-raw, format=RGBA", true},
        {"o.%04d.PNG", "application/x-hindsight-plane, kind=(string)color, format=(string)rgba16f",
         true},
        {"o.%04d.png", "application/x-hindsight-plane, kind=(string)depth, format=(string)r32f",
         false},
        {"o.%04d.rg16f", "application/x-hindsight-plane, kind=(string)motion, format=(string)rg16f",
         true},
        {"o.%04d.rg16f", "application/x-hindsight-plane, kind=(string)motion, format=(string)rg32f",
         false},
        {"o.%04d.rg16f",
         "application/x-hindsight-plane, kind=(string)color, format=(string)rgba16f", false},
    };

    (void)rng;
    rig_init();
    make_folder();
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GstCaps *asked = gst_caps_from_string(cases[i].caps), *taken;
        GstPad *pad;
        struct lone lone;

        open_lone(&lone, cases[i].location);
        pad = gst_element_get_static_pad(lone.element, "sink");
        taken = gst_pad_query_caps(pad, NULL);
        REQUIRE_MSG(gst_caps_can_intersect(asked, taken) == cases[i].taken, "%s: %s",
                    cases[i].location, cases[i].caps);
        gst_caps_unref(taken);
        gst_caps_unref(asked);
        gst_object_unref(pad);
        close_lone(&lone);
    }
    remove_folder();
}

/** One error a run, however often the caps come: a further one may stall the application. */
static void tells_once(struct test_rng *rng)
{
    const gsize bytes = 4 * RIG_WIDTH * RIG_HEIGHT;
    struct lone lone;

    (void)rng;
    rig_init();
    make_folder();
    open_lone(&lone, "o.%04d.exr");
    for (int again = 0; again < 2; again++) {
        gst_harness_set_src_caps_str(lone.harness, "video/x-raw, format=RGBA, width=48, height=32, "
                                                   "framerate=30/1");
        for (int i = 0; i < 5; i++)
            gst_harness_push(lone.harness, gst_buffer_new_allocate(NULL, bytes, NULL));
        rig_require_error(lone.bus, "(video goes into .png, planes into .exr)");
        GstMessage *second = gst_bus_pop_filtered(lone.bus, GST_MESSAGE_ERROR);
        REQUIRE(!second);
        gst_element_set_state(lone.element, GST_STATE_READY);
        gst_element_set_state(lone.element, GST_STATE_PLAYING);
    }
    close_lone(&lone);
    remove_folder();
}

static void refuses_input(struct test_rng *rng)
{
    static const struct {
        const char *location, *caps, *part;
        gsize bytes;
    } cases[] = {
        {"o.%04d.exr",
         "application/x-hindsight-plane, kind=(string)color, format=(string)rgba16f, width=48, "
         "height=32, framerate=30/1",
         "plane color: expected 12288 bytes for 48x32 pixels, found 1000: make format, width and "
         "height of the caps fit",
         1000},
        {"o.%04d.png", "video/x-raw, format=RGBA, width=48, height=32, framerate=30/1",
         "plane color: expected 6144 bytes for 48x32 pixels, found 1000", 1000},
        {"o.%04d.png",
         "video/x-raw, format=RGBA, width=48, height=32, framerate=30/1, "
         "interlace-mode=interleaved",
         "found interlace-mode=interleaved: put deinterlace in front", 6144},
        {"none/o.%04d.png", "video/x-raw, format=RGBA, width=48, height=32, framerate=30/1",
         "No such file or directory. Change location, or see that its folder", 6144},
    };

    (void)rng;
    rig_init();
    make_folder();
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct lone lone;

        open_lone(&lone, cases[i].location);
        gst_harness_set_src_caps_str(lone.harness, cases[i].caps);
        gst_harness_push(lone.harness, gst_buffer_new_allocate(NULL, cases[i].bytes, NULL));
        rig_require_error(lone.bus, cases[i].part);
        close_lone(&lone);
    }
    rig_load("coreelements");
    rig_require_failure("hstestsrc width=32 height=32 planes=false num-buffers=2 ! "
                        "hsplanedemux plane=depth ! fakesink",
                        "set plane to one of: color");
    remove_folder();
}

/** Gaps have no file, and take no number. */
static void gaps(struct test_rng *rng)
{
    char *caps = rig_caps("color", "rgba16f", RIG_WIDTH, RIG_HEIGHT);
    struct lone lone;
    gsize bytes;

    (void)rng;
    rig_init();
    make_folder();
    open_lone(&lone, "g.%04d.exr");
    gst_harness_set_src_caps_str(lone.harness, caps);
    REQUIRE_EQ(gst_harness_push(lone.harness, rig_colour(0, RIG_WIDTH, RIG_HEIGHT)), GST_FLOW_OK);
    REQUIRE(gst_harness_push_event(lone.harness, gst_event_new_gap(rig_time(1), rig_time(1))));
    REQUIRE_EQ(gst_harness_push(lone.harness, rig_colour(2, RIG_WIDTH, RIG_HEIGHT)), GST_FLOW_OK);
    g_free(read_file("g.0000.exr", &bytes));
    g_free(read_file("g.0001.exr", &bytes));
    char *path = g_build_filename(folder, "g.0002.exr", NULL);
    REQUIRE(!g_file_test(path, G_FILE_TEST_EXISTS));
    g_free(path);
    close_lone(&lone);
    remove_folder();
    g_free(caps);
}

/** 8 and 16, and nothing between. */
static void png_bits(struct test_rng *rng)
{
    GstElement *element;
    GError *error = NULL;
    guint8 *data;
    gsize bytes;

    (void)rng;
    rig_init();
    make_folder();
    for (int bits = 8; bits <= 16; bits += 8) {
        char *text = g_strdup_printf("png-bits=%d", bits);

        run(SOURCE, text, "b.%04d.png");
        data = read_file("b.0000.png", &bytes);
        // IHDR: signature, length, name, width, height, then the depth.
        REQUIRE_EQ(data[24], bits);
        g_free(data);
        g_free(text);
    }
    element = gst_parse_launch("hssequencesink png-bits=12", &error);
    REQUIRE(error && strstr(error->message, "png-bits"));
    gst_clear_object(&element);
    g_clear_error(&error);
    remove_folder();
}

/** Replaces by default, as file sinks do; refuses when told to; spares the input always. */
static void overwrite(struct test_rng *rng)
{
    guint8 *before, *after;
    gsize before_bytes, after_bytes;
    char *text;

    (void)rng;
    rig_init();
    make_folder();
    run(SOURCE, "", "a.%04d.exr");
    before = read_file("a.0000.exr", &before_bytes);
    run(SOURCE "still=true seed=5", "overwrite=true", "a.%04d.exr");
    after = read_file("a.0000.exr", &after_bytes);
    REQUIRE(before_bytes != after_bytes || memcmp(before, after, before_bytes) != 0);
    g_free(before);
    text =
        g_strdup_printf(SOURCE "! hssequencesink overwrite=false location=%s/a.%%04d.exr", folder);
    rig_require_failure(text, "it is there already; set overwrite=true, or choose another");
    g_free(text);
    text = g_strdup_printf("hssequencesrc location=%s/a.%%04d.exr ! hsupscale ! "
                           "hssequencesink location=%s/a.%%04d.exr",
                           folder, folder);
    rig_require_failure(text, "it would replace its own input; choose another location");
    g_free(text);
    before = read_file("a.0000.exr", &before_bytes);
    REQUIRE_EQ(before_bytes, after_bytes);
    REQUIRE(!memcmp(before, after, before_bytes));
    g_free(before);
    g_free(after);
    remove_folder();
}

static const struct test_case cases[] = {
    {"one plane", one_plane},
    {"plane of a sequence", plane_of_a_sequence},
    {"vectors made whole", vectors_made_whole},
    {"integer plane", integer_plane},
    {"caps by location", caps_by_location},
    {"tells once", tells_once},
    {"refuses input", refuses_input},
    {"gaps", gaps},
    {"png bits", png_bits},
    {"overwrite", overwrite},
};
TEST_MAIN(cases)
