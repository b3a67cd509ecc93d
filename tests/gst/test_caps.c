// SPDX-License-Identifier: MIT
// What hsupscale takes and makes: formats, colorimetry, sizes; what is said where they do not fit.
#include <gst/video/video.h>

#include "io/hsio.h"
#include "rig.h"

#define SYSTEM "application/x-hindsight-plane, format=(string)rgba16f"

/** Everything that an encoder or a display may want. */
static void output_formats(struct test_rng *rng)
{
    static const struct {
        const char *caps;
        gsize bytes; ///< Of 96x64; 0: an image.
    } cases[] = {
        {"video/x-raw, format=RGBA", 96 * 64 * 4},
        {"video/x-raw, format=BGRA", 96 * 64 * 4},
        {"video/x-raw, format=RGBA64_LE", 96 * 64 * 8},
        {"video/x-raw, format=RGB10A2_LE, colorimetry=bt2100-pq", 96 * 64 * 4},
        {"video/x-raw, format=P010_10LE, colorimetry=bt2100-pq", 96 * 64 * 3},
        {"video/x-raw, format=P010_10LE, colorimetry=bt709", 96 * 64 * 3},
        {"application/x-hindsight-plane, format=(string)rgba32f", 96 * 64 * 16},
        {"video/x-raw(memory:VulkanImage), format=RGBA, colorimetry=sRGB", 0},
        {"video/x-raw(memory:VulkanImage), format=BGRA", 0},
        {"application/x-hindsight-plane(memory:VulkanImage)", 0},
    };

    (void)rng;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct rig rig;
        GstBuffer *out;

        rig_open(&rig, "hsupscale tone-map=aces", cases[i].caps);
        gst_buffer_unref(rig_step(&rig, 0));
        out = rig_step(&rig, 1);
        if (cases[i].bytes)
            REQUIRE_EQ(gst_buffer_get_size(out), cases[i].bytes);
        else
            REQUIRE(gst_memory_is_type(gst_buffer_peek_memory(out, 0), "VulkanImage"));
        gst_buffer_unref(out);
        rig_close(&rig);
    }
}

/** A flat picture, so that every pixel of the output is known. */
static GstBuffer *flat(float value)
{
    GstBuffer *buffer = rig_colour(0, RIG_WIDTH, RIG_HEIGHT);
    guint16 *to, half;
    GstMapInfo map;
    half = hsio_float_to_half(value);
    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    to = (guint16 *)(void *)map.data;
    for (int i = 0; i < RIG_WIDTH * RIG_HEIGHT * 4; i++)
        to[i] = i % 4 == 3 ? 0x3c00 : half;
    gst_buffer_unmap(buffer, &map);
    return buffer;
}

/** Codes of known colours: sRGB, BT.709 limited range, and PQ at 203 nits (BT.2408: 58 %). */
static void output_codes(struct test_rng *rng)
{
    static const struct {
        const char *caps;
        float linear;
        int bytes; ///< Of a sample.
        double scale;
        double code; ///< Of the first sample, 0 to 1.
    } cases[] = {
        {"video/x-raw, format=RGBA", 0.2140f, 1, 255, 0.5},
        {"video/x-raw, format=RGBA64_LE, colorimetry=sRGB", 0.2140f, 2, 65535, 0.5},
        {"video/x-raw, format=P010_10LE, colorimetry=bt709", 1.0f, 2, 1023 * 64, 940.0 / 1023},
        {"video/x-raw, format=RGBA64_LE, colorimetry=bt2100-pq", 1.0f, 2, 65535, 0.5807},
        {"video/x-raw, format=P010_10LE, colorimetry=bt2100-pq", 1.0f, 2, 1023 * 64,
         (64 + 876 * 0.5807) / 1023},
    };

    (void)rng;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct rig rig;
        GstBuffer *out;
        guint8 *pixels;
        double code;
        gsize bytes;

        rig_open(&rig, "hsupscale", cases[i].caps);
        gst_harness_push(rig.colour, flat(cases[i].linear));
        out = gst_harness_pull(rig.colour);
        pixels = rig_pixels(out, &bytes);
        code = cases[i].bytes == 1 ? pixels[0] : GST_READ_UINT16_LE(pixels);
        // The code of 8 bits is within half a step, the half-float input within a thousandth.
        REQUIRE_NEAR(code / cases[i].scale, cases[i].code, 0.003);
        g_free(pixels);
        gst_buffer_unref(out);
        rig_close(&rig);
    }
}

/** One colour everywhere, as RGBA video. */
static GstBuffer *flat_video(guint8 red, guint8 green, guint8 blue)
{
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, 4 * RIG_WIDTH * RIG_HEIGHT, NULL);
    const guint8 pixel[] = {red, green, blue, 255};

    for (gsize i = 0; i < RIG_WIDTH * RIG_HEIGHT; i++)
        gst_buffer_fill(buffer, 4 * i, pixel, sizeof(pixel));
    GST_BUFFER_PTS(buffer) = 0;
    GST_BUFFER_DURATION(buffer) = rig_time(1);
    return buffer;
}

static char *video_caps(const char *rest)
{
    return g_strdup_printf("video/x-raw, width=%d, height=%d, framerate=%d/1, %s", RIG_WIDTH,
                           RIG_HEIGHT, RIG_FPS, rest);
}

/** What goes through hsupscale, with the colorimetry that was negotiated. */
static GstBuffer *through(const char *in, GstBuffer *buffer, const char *out, char **colorimetry)
{
    char *caps = video_caps(in);
    GstBuffer *made;
    GstCaps *current;
    struct rig rig;

    rig_open(&rig, "hsupscale", out);
    gst_harness_set_src_caps_str(rig.colour, caps);
    gst_harness_push(rig.colour, buffer);
    made = gst_harness_pull(rig.colour);
    REQUIRE(made);
    current = gst_pad_get_current_caps(rig.colour->sinkpad);
    *colorimetry =
        g_strdup(gst_structure_get_string(gst_caps_get_structure(current, 0), "colorimetry"));
    gst_caps_unref(current);
    rig_close(&rig);
    g_free(caps);
    return made;
}

/**
 * Display-referred colour as P010: codes of the BT.709 and BT.2020 matrices in limited range. With
 * colorimetry=bt709 the curve is another one: 128 of 255 in sRGB is 0.4523 in BT.709.
 */
static void display_to_p010(struct test_rng *rng)
{
    static const struct {
        const char *in, *out, *colorimetry;
        guint8 red, green, blue;
        double y, cb, cr;
    } cases[] = {
        {"format=RGBA", "", "2:3:7:1", 255, 0, 0, 250.2, 409.3, 960},
        {"format=RGBA", "", "2:3:7:1", 128, 128, 128, 503.7, 512, 512},
        {"format=RGBA", ", colorimetry=bt709", "bt709", 128, 128, 128, 460.2, 512, 512},
        {"format=RGBA, colorimetry=1:1:5:1", "", "bt709", 128, 128, 128, 503.7, 512, 512},
        {"format=RGBA, colorimetry=1:1:14:7", "", "bt2100-pq", 0, 0, 255, 115.9, 960, 475.9},
        {"format=RGBA, colorimetry=1:1:7:4", "", "2:4:7:4", 0, 255, 0, 578.2, 215.2, 136.8},
    };

    (void)rng;
    rig_init();
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *out = g_strconcat("video/x-raw, format=P010_10LE", cases[i].out, NULL), *colorimetry;
        const gsize chroma = 4 * RIG_WIDTH * RIG_HEIGHT;
        GstBuffer *made =
            through(cases[i].in, flat_video(cases[i].red, cases[i].green, cases[i].blue), out,
                    &colorimetry);
        guint16 *words;
        gsize bytes;

        words = (guint16 *)(void *)rig_pixels(made, &bytes);
        REQUIRE_EQ(bytes, 3 * chroma);
        REQUIRE_MSG(g_str_equal(colorimetry, cases[i].colorimetry), "%s", colorimetry);
        // Half a code from rounding, and half-float pictures.
        REQUIRE_NEAR(GUINT16_FROM_LE(words[0]) / 64.0, cases[i].y, 1);
        REQUIRE_NEAR(GUINT16_FROM_LE(words[chroma]) / 64.0, cases[i].cb, 1);
        REQUIRE_NEAR(GUINT16_FROM_LE(words[chroma + 1]) / 64.0, cases[i].cr, 1);
        g_free(words);
        g_free(colorimetry);
        g_free(out);
        gst_buffer_unref(made);
    }
}

/** A side that is not given follows the aspect ratio of the render size. */
static void one_side(struct test_rng *rng)
{
    static const char *const elements[] = {"hsupscale output-width=120",
                                           "hsupscale output-height=80"};

    (void)rng;
    for (size_t i = 0; i < G_N_ELEMENTS(elements); i++) {
        struct rig rig;
        gsize bytes;

        rig_open(&rig, elements[i], SYSTEM ", width=120, height=80");
        GstBuffer *out = rig_step(&rig, 0);
        bytes = gst_buffer_get_size(out);
        REQUIRE_EQ(bytes, 120 * 80 * 8);
        gst_buffer_unref(out);
        rig_close(&rig);
    }
}

static void refuses_ratio(struct test_rng *rng)
{
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale output-width=960 output-height=640", SYSTEM);
    gst_harness_push(rig.colour, rig_colour(0, RIG_WIDTH, RIG_HEIGHT));
    rig_require_error(rig.bus,
                      "Expected an output of 48x32 to 144x96 for an input of 48x32 (a ratio of 1 "
                      "to 3, at most 16384 a "
                      "side), found 960x640: set scale, or output-width and output-height");
    rig_close(&rig);
}

/** What is behind asks for something else: the text tells both sides, and what to do. */
static void refuses_what_is_asked(struct test_rng *rng)
{
    static const struct {
        const char *caps, *part;
    } cases[] = {
        {"video/x-raw, format=RGBA, width=100",
         "it makes width=96, height=64, and width=100 is asked for: set scale, or output-width"},
        {"video/x-raw, format=P010_10LE, colorimetry=bt601", "colorimetry=bt601 is asked for"},
        {"video/x-raw, format=RGBA, framerate=25/1",
         "it makes framerate=30/1, and framerate=25/1 is asked for: set the rate at the source"},
        {"application/x-hindsight-plane, transfer=(string)display",
         "it makes transfer=linear, and transfer=display is asked for"},
    };

    (void)rng;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct rig rig;

        rig_open(&rig, "hsupscale", cases[i].caps);
        gst_harness_push(rig.colour, rig_colour(0, RIG_WIDTH, RIG_HEIGHT));
        rig_require_error(rig.bus, cases[i].part);
        rig_close(&rig);
    }
}

/** Caps that come in are refused with what was expected, what was found and what to do. */
static void refuses_input(struct test_rng *rng)
{
    static const struct {
        const char *element, *caps, *part;
    } cases[] = {
        {"hsupscale", "video/x-raw, format=RGBA, width=8, height=8, framerate=30/1",
         "Pad sink can not take its input: expected sizes of 16x16 to 16384x16384, found 8x8: "
         "render larger"},
        {"hsupscale",
         "video/x-raw, format=RGBA, width=48, height=32, framerate=30/1, "
         "interlace-mode=interleaved",
         "found interlace-mode=interleaved: put deinterlace in front"},
        {"hsplanemux",
         "video/x-raw, format=RGBA, width=48, height=32, framerate=30/1, interlace-mode=mixed",
         "found interlace-mode=mixed"},
        {"hsplanedemux",
         "video/x-raw, format=RGBA, width=48, height=32, framerate=30/1, interlace-mode=mixed",
         "found interlace-mode=mixed"},
    };

    (void)rng;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GstMessage *second;
        struct rig rig;

        rig_open(&rig, cases[i].element, NULL);
        gst_harness_set_src_caps_str(rig.colour, cases[i].caps);
        for (int k = 0; k < 3; k++)
            gst_harness_push(rig.colour, flat_video(0, 0, 0));
        rig_require_error(rig.bus, cases[i].part);
        second = gst_bus_pop_filtered(rig.bus, GST_MESSAGE_ERROR);
        REQUIRE_MSG(!second, "%s tells it twice", cases[i].element);
        rig_close(&rig);
    }
}

/** The template names the least size that the engine takes, and no other. */
static void least_size(struct test_rng *rng)
{
    char *caps = rig_caps("color", "rgba16f", 16, 16);
    GstCaps *template, *smaller, *least = gst_caps_from_string(caps);
    struct rig rig;

    (void)rng;
    rig_open(&rig, "hsupscale scale=1", SYSTEM);
    gst_harness_set_src_caps_str(rig.colour, caps);
    REQUIRE_EQ(gst_harness_push(rig.colour, rig_colour(0, 16, 16)), GST_FLOW_OK);
    gst_buffer_unref(gst_harness_pull(rig.colour));
    smaller = gst_caps_copy(least);
    gst_caps_set_simple(smaller, "height", G_TYPE_INT, 15, NULL);
    template = gst_pad_template_get_caps(
        gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(rig.element), "sink"));
    REQUIRE(gst_caps_is_subset(least, template));
    REQUIRE(!gst_caps_can_intersect(smaller, template));
    gst_caps_unref(template);
    gst_caps_unref(smaller);
    gst_caps_unref(least);
    g_free(caps);
    rig_close(&rig);
}

/** A buffer that is shorter than its caps say, and a plane of another size than the colour. */
static void refuses_sizes(struct test_rng *rng)
{
    struct rig rig;
    char *caps;

    (void)rng;
    rig_open(&rig, "hsupscale", SYSTEM);
    gst_harness_push(rig.colour, rig_colour(0, RIG_WIDTH, RIG_HEIGHT / 2));
    rig_require_error(rig.bus, "plane color: expected 12288 bytes for 48x32 pixels, found 6144");
    rig_close(&rig);

    rig_open(&rig, "hsupscale", SYSTEM);
    rig_side(&rig, "depth", "r16f");
    caps = rig_caps("depth", "r16f", 20, 20);
    gst_harness_set_src_caps_str(rig.depth, caps);
    g_free(caps);
    gst_harness_push(rig.depth, rig_depth(0, 20, 20));
    gst_harness_push(rig.colour, rig_colour(0, RIG_WIDTH, RIG_HEIGHT));
    rig_require_error(rig.bus, "depth: expected 48x32, found 20x20");
    rig_close(&rig);
}

static const struct test_case cases[] = {
    {"output formats", output_formats},
    {"output codes", output_codes},
    {"display to P010", display_to_p010},
    {"one side", one_side},
    {"least size", least_size},
    {"refuses ratio", refuses_ratio},
    {"refuses what is asked", refuses_what_is_asked},
    {"refuses input", refuses_input},
    {"refuses sizes", refuses_sizes},
};
TEST_MAIN(cases)
