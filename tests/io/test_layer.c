// SPDX-License-Identifier: MIT
/** Layers by their names: which are found, in which order, and what is refused. */
#include "io_test.h"

#define H EXR_PIXEL_HALF
#define F EXR_PIXEL_FLOAT
#define U EXR_PIXEL_UINT
#define W 9
#define HEIGHT 6

static const struct io_channel main_channels[] = {
    {"A", H, 0, 0},           {"B", H, 0, 0},           {"G", H, 0, 0},
    {"R", H, 0, 0},           {"View.Emit.B", H, 0, 0}, {"View.Emit.G", H, 0, 0},
    {"View.Emit.R", H, 0, 0}, {"View.N.X", F, 0, 0},    {"View.N.Y", F, 0, 0},
    {"View.N.Z", F, 0, 0},    {"ids.V", U, 0, 0},       {"many.a", H, 0, 0},
    {"many.b", H, 0, 0},      {"many.c", H, 0, 0},      {"many.d", H, 0, 0},
    {"many.e", H, 0, 0},      {"rough.Y", H, 0, 0}};
static const struct io_channel other_channels[] = {{"B", H, 0, 0}, {"G", H, 0, 0}, {"R", H, 0, 0}};

static struct hsio_frame *frame;
static struct hsio_sequence *seq;

static void open_file(void)
{
    const struct io_part parts[] = {{.name = "beauty",
                                     .data = {0, 0, W - 1, HEIGHT - 1},
                                     .compression = EXR_COMPRESSION_ZIP,
                                     .channels = main_channels,
                                     .channel_count = 17},
                                    {.name = "Gloss",
                                     .data = {0, 0, W - 1, HEIGHT - 1},
                                     .compression = EXR_COMPRESSION_ZIP,
                                     .channels = other_channels,
                                     .channel_count = 3}};

    io_make_exr(io_path("layers.exr"), parts, 2, NULL);
    seq = io_open(io_path("layers.exr"), "raw", NULL);
    REQUIRE_EQ(hsio_frame_open(seq, 0, &frame), 0);
}

static void close_file(void)
{
    hsio_frame_close(&frame);
    hsio_sequence_close(&seq);
}

static void found(struct test_rng *rng)
{
    static const struct {
        const char *name, *channels, *part;
        enum hsio_format format;
        bool exact;
    } layers[] = {
        {"Emit", "View.Emit.R,View.Emit.G,View.Emit.B", "beauty", HSIO_FORMAT_RGBA16F, false},
        {"view.emit", "View.Emit.R,View.Emit.G,View.Emit.B", "beauty", HSIO_FORMAT_RGBA16F, false},
        {"N", "View.N.X,View.N.Y,View.N.Z", "beauty", HSIO_FORMAT_RGBA32F, false},
        {"ids", "ids.V", "beauty", HSIO_FORMAT_RGBA32F, true},
        {"rough", "rough.Y", "beauty", HSIO_FORMAT_RGBA16F, false},
        {"gloss", "R,G,B", "Gloss", HSIO_FORMAT_RGBA16F, false},
        {"beauty", "R,G,B,A", "beauty", HSIO_FORMAT_RGBA16F, false},
    };

    (void)rng;
    open_file();
    for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
        struct hsio_layer_info info;

        REQUIRE_EQ(hsio_frame_layer(frame, layers[i].name, &info), 0);
        REQUIRE_STR(info.channels, layers[i].channels);
        REQUIRE_STR(info.part, layers[i].part);
        REQUIRE_EQ(info.format, layers[i].format);
        REQUIRE_EQ(info.exact, layers[i].exact);
        // The part Gloss has channels of the same names.
        REQUIRE_EQ(info.is_color, !strcmp(layers[i].name, "beauty"));
    }
    close_file();
}

static void values(struct test_rng *rng)
{
    static float emit[W * HEIGHT * 4], gloss[W * HEIGHT * 4];
    const struct hsio_layer_request requests[] = {
        {"Emit", HSIO_FORMAT_RGBA32F, emit, sizeof(emit)},
        {"Gloss", HSIO_FORMAT_RGBA32F, gloss, sizeof(gloss)}};

    (void)rng;
    open_file();
    REQUIRE_EQ(hsio_frame_read_layers(frame, requests, 2), 0);
    for (int i = 0; i < W * HEIGHT; i++) {
        const int x = i % W, y = i / W;

        for (int c = 0; c < 3; c++) {
            REQUIRE_EQ(emit[4 * i + c] == io_pixel(0, 6 - c, x, y), 1);
            REQUIRE_EQ(gloss[4 * i + c] == io_pixel(1, 2 - c, x, y), 1);
        }
        REQUIRE_EQ(emit[4 * i + 3] == 1, 1);
    }
    close_file();
}

static void refused(struct test_rng *rng)
{
    static uint16_t pixels[W * HEIGHT * 4];
    struct hsio_layer_request request = {"Emit", HSIO_FORMAT_RGBA16F, pixels, sizeof(pixels)};
    struct hsio_layer_info info;

    (void)rng;
    open_file();
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"", "mit", "Vie", "View"};

        REQUIRE_EQ(hsio_frame_layer(frame, names[i], &info), HS_ERR_INVALID);
        REQUIRE(strstr(io_last[HS_LOG_ERROR], "View.Emit.R"));
    }
    REQUIRE_EQ(hsio_frame_layer(frame, "many", &info), HS_ERR_UNSUPPORTED);
    request.name = "many";
    REQUIRE_EQ(hsio_frame_read_layers(frame, &request, 1), HS_ERR_UNSUPPORTED);
    request = (struct hsio_layer_request){"Emit", HSIO_FORMAT_RGBA16F, pixels, sizeof(pixels) - 1};
    REQUIRE_EQ(hsio_frame_read_layers(frame, &request, 1), HS_ERR_INVALID);
    request = (struct hsio_layer_request){"Emit", HSIO_FORMAT_RG32F, pixels, sizeof(pixels)};
    REQUIRE_EQ(hsio_frame_read_layers(frame, &request, 1), HS_ERR_INVALID);
    REQUIRE_EQ(hsio_frame_read_layers(frame, &request, 0), 0);
    close_file();
}

// hsio_frame_read_layers(): HS_ERR_FORMAT, HS_ERR_IO.
static void damaged(struct test_rng *rng)
{
    static uint16_t pixels[W * HEIGHT * 4];
    const struct hsio_layer_request request = {"Gloss", HSIO_FORMAT_RGBA16F, pixels,
                                               sizeof(pixels)};
    size_t bytes;

    (void)rng;
    open_file();
    close_file();
    uint8_t *file = io_load(io_path("layers.exr"), &bytes);
    const char *path = io_path("layers.exr");
    memset(file + bytes - 60, 0xa5, 60);
    io_store(path, file, bytes);
    free(file);
    seq = io_open(path, "raw", NULL);
    REQUIRE_EQ(hsio_frame_open(seq, 0, &frame), 0);
    const int result = hsio_frame_read_layers(frame, &request, 1);
    REQUIRE_MSG(result == HS_ERR_FORMAT || result == HS_ERR_IO, "%d\n", result);
    close_file();
}

static const struct test_case cases[] = {
    {"found", found}, {"values", values}, {"refused", refused}, {"damaged", damaged}};
TEST_MAIN(cases)
