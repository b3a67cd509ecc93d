// SPDX-License-Identifier: MIT
#include "io_test.h"

#include <sys/stat.h>

#define H EXR_PIXEL_HALF
#define F EXR_PIXEL_FLOAT
#define U EXR_PIXEL_UINT

static const struct io_channel rgba_half[] = {
    {"R", H, 0, 0}, {"G", H, 0, 0}, {"B", H, 0, 0}, {"A", H, 0, 0}};

/* What a part's channel reads as. */
static float expected(const struct io_part *p, int part, int channel, int x, int y)
{
    const float v = io_pixel(part, channel, x, y);

    return p->channels[channel].type == U ? (v > 0 ? (float)(uint32_t)(v * 100) : 0) : v;
}

/* Checks colour of a file whose first three or four channels are R, G, B(, A). */
static void check_color(const char *path, const struct io_part *p, double tolerance)
{
    const int *w = p->display[2] ? p->display : p->data;
    const int width = w[2] - w[0] + 1, height = w[3] - w[1] + 1;
    struct hsio_sequence *seq = io_open(path, "raw", NULL);
    struct hsio_sequence_info info;
    float *pixels = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);

    hsio_sequence_info(seq, &info);
    REQUIRE_EQ(info.width, width);
    REQUIRE_EQ(info.height, height);
    for (int i = 0; i < width * height * 4; i++) {
        const int c = i % 4, x = i / 4 % width + w[0], y = i / 4 / width + w[1];
        const bool inside =
            x >= p->data[0] && x <= p->data[2] && y >= p->data[1] && y <= p->data[3];
        const float want = !inside ? 0 : c < p->channel_count ? expected(p, 0, c, x, y) : 1;

        if (!(fabs((double)(pixels[i] - want)) <= tolerance))
            test_fail(__FILE__, __LINE__, "%s: compression %d tile %d: %d,%d channel %d: %g, %g",
                      path, p->compression, p->tile, x, y, c, (double)pixels[i], (double)want);
    }
    free(pixels);
    hsio_sequence_close(&seq);
}

static void every_compression(struct test_rng *rng)
{
    static const double tolerance[] = {0, 0, 0, 0, 0, 0.01, 0.2, 0.2, 0.2, 0.2};

    (void)rng;
    for (int c = EXR_COMPRESSION_NONE; c < EXR_COMPRESSION_LAST_TYPE; c++) {
        for (int tile = 0; tile <= 16; tile += 16) {
            const struct io_part p = {
                .data = {0, 0, 36, 40},
                .compression = (exr_compression_t)c,
                .tile = tile,
                .channels = rgba_half,
                .channel_count = 4,
            };
            const char *path = io_path("compression.exr");

            io_make_exr(path, &p, 1, NULL);
            check_color(path, &p, tolerance[c]);
        }
    }
}

static void every_type(struct test_rng *rng)
{
    static const exr_pixel_type_t types[] = {H, F, U};
    static const exr_compression_t lossless[] = {EXR_COMPRESSION_NONE, EXR_COMPRESSION_RLE,
                                                 EXR_COMPRESSION_ZIPS, EXR_COMPRESSION_ZIP,
                                                 EXR_COMPRESSION_PIZ};

    (void)rng;
    for (int i = 0; i < 27 * 5; i++) {
        const struct io_channel channels[] = {{"R", types[i % 3], 0, 0},
                                              {"G", types[i / 3 % 3], 0, 0},
                                              {"B", types[i / 9 % 3], 0, 0}};
        const struct io_part p = {
            .data = {0, 0, 20, 18},
            .compression = lossless[i / 27],
            .tile = i % 2 ? 8 : 0,
            .channels = channels,
            .channel_count = 3,
        };
        const char *path = io_path("type.exr");

        io_make_exr(path, &p, 1, NULL);
        check_color(path, &p, 0);
    }
}

static void every_window(struct test_rng *rng)
{
    static const int windows[][8] = {
        {0, 0, 19, 19, 0, 0, 19, 19},       // Equal.
        {5, 6, 12, 13, 0, 0, 19, 19},       // Inside.
        {-5, -4, 25, 24, 0, 0, 19, 19},     // Overscan, negative origin.
        {-8, 2, 6, 30, 0, 0, 19, 19},       // Crossing.
        {-30, -30, -10, -12, 0, 0, 19, 19}, // Beside.
        {-7, -9, 4, 5, -10, -10, 9, 9},     // All negative.
        {100, 50, 120, 66, 90, 40, 130, 70}, {0, 0, 0, 0, 0, 0, 3, 2},
    };

    (void)rng;
    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
        for (int kind = 0; kind < 4; kind++) {
            struct io_part p = {
                .compression = kind & 1 ? EXR_COMPRESSION_ZIP : EXR_COMPRESSION_NONE,
                .tile = kind & 2 ? 8 : 0,
                .channels = rgba_half,
                .channel_count = 4,
            };
            const char *path = io_path("window.exr");

            memcpy(p.data, windows[i], sizeof(p.data));
            memcpy(p.display, windows[i] + 4, sizeof(p.display));
            io_make_exr(path, &p, 1, NULL);
            check_color(path, &p, 0);
        }
    }
}

static void data_window_canvas(struct test_rng *rng)
{
    const struct io_part p = {
        .data = {-5, -4, 25, 24},
        .display = {0, 0, 19, 19},
        .compression = EXR_COMPRESSION_ZIP,
        .channels = rgba_half,
        .channel_count = 4,
    };
    const struct hsio_options options = {.window = HSIO_WINDOW_DATA};
    const char *path = io_path("overscan.exr");
    struct hsio_sequence *seq;
    struct hsio_sequence_info info;
    float *pixels;

    (void)rng;
    io_make_exr(path, &p, 1, NULL);
    seq = io_open(path, "raw", &options);
    hsio_sequence_info(seq, &info);
    REQUIRE_EQ(info.width, 31);
    REQUIRE_EQ(info.height, 29);
    pixels = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
    for (int i = 0; i < 31 * 29; i++)
        REQUIRE(pixels[i * 4] == io_pixel(0, 0, i % 31 - 5, i / 31 - 4));
    free(pixels);
    hsio_sequence_close(&seq);
}

static void depth_outside_is_far(struct test_rng *rng)
{
    static const struct io_channel channels[] = {
        {"V.Combined.R", H, 0, 0}, {"V.Combined.G", H, 0, 0}, {"V.Combined.B", H, 0, 0},
        {"V.Depth.Z", F, 0, 0},    {"V.Vector.X", F, 0, 0},   {"V.Vector.Y", F, 0, 0}};
    const struct io_part p = {
        .data = {4, 4, 7, 7},
        .display = {0, 0, 9, 9},
        .channels = channels,
        .channel_count = 6,
    };
    const char *path = io_path("far.exr");
    struct hsio_sequence *seq;
    float *depth, *motion;

    (void)rng;
    io_make_exr(path, &p, 1, NULL);
    seq = io_open(path, "auto", NULL);
    REQUIRE_STR(hsio_sequence_convention(seq)->preset, "blender");
    depth = io_read(seq, 0, HSIO_PLANE_DEPTH, NULL);
    motion = io_read(seq, 0, HSIO_PLANE_MOTION, NULL);
    REQUIRE_NEAR(depth[0], 1e10f, 0);
    REQUIRE_NEAR(depth[99], 1e10f, 0);
    REQUIRE_NEAR(depth[4 * 10 + 4], io_pixel(0, 3, 4, 4), 0);
    REQUIRE_NEAR(motion[0], 0, 0);
    REQUIRE_NEAR(motion[(4 * 10 + 4) * 2 + 1], io_pixel(0, 5, 4, 4), 0);
    free(depth);
    free(motion);
    hsio_sequence_close(&seq);
}

static void mip_level_0(struct test_rng *rng)
{
    const struct io_part p = {
        .data = {0, 0, 40, 36},
        .compression = EXR_COMPRESSION_ZIP,
        .tile = 16,
        .mips = true,
        .channels = rgba_half,
        .channel_count = 4,
    };
    const char *path = io_path("mip.exr");
    struct hsio_file_desc *desc = NULL;

    (void)rng;
    io_make_exr(path, &p, 1, NULL);
    check_color(path, &p, 0);
    REQUIRE_EQ(hsio_file_describe(path, &io_log, &desc), 0);
    REQUIRE_EQ(desc->parts[0].levels, 6);
    REQUIRE_EQ(desc->parts[0].tile_width, 16);
    REQUIRE_STR(desc->parts[0].storage, "tiled");
    hsio_file_desc_free(&desc);
    REQUIRE(!desc);
}

static void multi_part(struct test_rng *rng)
{
    static const struct io_channel z[] = {{"Z", F, 0, 0}};
    static const struct io_channel uv[] = {{"motion.X", H, 0, 0}, {"motion.Y", H, 0, 0}};
    const struct io_part parts[] = {
        {.name = "depth.left",
         .data = {2, 2, 9, 9},
         .display = {0, 0, 15, 15},
         .channels = z,
         .channel_count = 1,
         .view = "left"},
        {.name = "rgba.left",
         .data = {0, 0, 15, 15},
         .channels = rgba_half,
         .channel_count = 4,
         .compression = EXR_COMPRESSION_PIZ,
         .tile = 8,
         .view = "left"},
        {.name = "rgba.right",
         .data = {0, 0, 15, 15},
         .channels = rgba_half,
         .channel_count = 4,
         .view = "right"},
        {.name = "flow", .data = {0, 0, 15, 15}, .channels = uv, .channel_count = 2},
    };
    const char *path = io_path("parts.exr");
    struct hsio_convention conv;
    struct hsio_sequence *seq;
    float *pixels;

    (void)rng;
    io_make_exr(path, parts, 4, NULL);
    io_log_clear();
    seq = io_open(path, "raw", NULL);
    // The second view is told of.
    REQUIRE(strstr(io_last[HS_LOG_INFO], "rgba.right"));
    pixels = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
    REQUIRE_NEAR(pixels[4], io_pixel(1, 0, 1, 0), 0);
    free(pixels);
    pixels = io_read(seq, 0, HSIO_PLANE_DEPTH, NULL);
    REQUIRE(isinf(pixels[0]));
    REQUIRE_NEAR(pixels[2 * 16 + 2], io_pixel(0, 0, 2, 2), 0);
    free(pixels);
    pixels = io_read(seq, 0, HSIO_PLANE_MOTION, NULL);
    REQUIRE_NEAR(pixels[5], io_pixel(3, 1, 2, 0), 0);
    free(pixels);
    hsio_sequence_close(&seq);

    for (int i = 0; i < 2; i++) {
        REQUIRE_EQ(hsio_convention_preset(&conv, "raw", &io_log), 0);
        REQUIRE_EQ(i ? hsio_convention_set(&conv, "layer", "right", &io_log)
                     : hsio_convention_set(&conv, "color.channels", "*.right/R,G,B", &io_log),
                   0);
        REQUIRE_EQ(hsio_sequence_open(path, &conv, NULL, &io_log, &seq), 0);
        pixels = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
        REQUIRE_NEAR(pixels[4], io_pixel(2, 0, 1, 0), 0);
        free(pixels);
        hsio_sequence_close(&seq);
    }
}

static void blender_layers(struct test_rng *rng)
{
    static const struct io_channel channels[] = {
        {"A.Combined.A", H, 0, 0}, {"A.Combined.B", H, 0, 0}, {"A.Combined.G", H, 0, 0},
        {"A.Combined.R", H, 0, 0}, {"B.Combined.B", H, 0, 0}, {"B.Combined.G", H, 0, 0},
        {"B.Combined.R", H, 0, 0}, {"B.Depth.Z", F, 0, 0},    {"B.Denoising Normal.X", F, 0, 0}};
    const struct io_part p = {.data = {0, 0, 7, 7}, .channels = channels, .channel_count = 9};
    const char *path = io_path("layers.exr");
    struct hsio_convention conv;
    struct hsio_sequence *seq;
    struct hsio_frame *frame = NULL;
    float *pixels;

    (void)rng;
    io_make_exr(path, &p, 1, NULL);
    io_log_clear();
    seq = io_open(path, "auto", NULL);
    REQUIRE(strstr(io_last[HS_LOG_INFO], "\"B\""));
    pixels = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
    REQUIRE_NEAR(pixels[0], io_pixel(0, 3, 0, 0), 0);
    free(pixels);
    hsio_sequence_close(&seq);

    REQUIRE_EQ(hsio_convention_preset(&conv, "auto", &io_log), 0);
    REQUIRE_EQ(hsio_convention_set_text(&conv, "layer=B", &io_log), 0);
    REQUIRE_EQ(hsio_sequence_open(path, &conv, NULL, &io_log, &seq), 0);
    pixels = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
    REQUIRE_NEAR(pixels[0], io_pixel(0, 6, 0, 0), 0);
    REQUIRE_NEAR(pixels[3], 1, 0);
    free(pixels);
    REQUIRE_EQ(hsio_frame_open(seq, 0, &frame), 0);
    REQUIRE_STR(hsio_frame_info(frame)->planes[HSIO_PLANE_COLOR].channels,
                "B.Combined.R,B.Combined.G,B.Combined.B");
    hsio_frame_close(&frame);
    hsio_sequence_close(&seq);

    REQUIRE_EQ(hsio_convention_set_text(&conv, "layer=C", &io_log), 0);
    REQUIRE_EQ(hsio_sequence_open(path, &conv, NULL, &io_log, &seq), HS_ERR_FORMAT);
    REQUIRE(strstr(io_last[HS_LOG_ERROR], "layer C") &&
            strstr(io_last[HS_LOG_ERROR], "A.Combined.R"));
}

static void missing_channel(struct test_rng *rng)
{
    const char *path = io_path("missing.exr");
    struct hsio_sequence *seq;
    struct hsio_frame *frame = NULL;
    float pixel[4];
    struct hsio_plane_request request = {
        .plane = HSIO_PLANE_DEPTH, .buffer = pixel, .buffer_bytes = sizeof(pixel)};

    (void)rng;
    io_make_rgba(path, 2, 2, NULL);
    seq = io_open(path, "raw", NULL);
    REQUIRE_EQ(hsio_frame_open(seq, 0, &frame), 0);
    io_log_clear();
    REQUIRE_EQ(hsio_frame_read(frame, &request, 1), HS_ERR_INVALID);
    REQUIRE_EQ(io_errors, 1);
    REQUIRE(strstr(io_last[HS_LOG_ERROR], "missing.exr") &&
            strstr(io_last[HS_LOG_ERROR], "depth") && strstr(io_last[HS_LOG_ERROR], "A, B, G, R"));
    request.plane = HSIO_PLANE_COLOR;
    REQUIRE_EQ(hsio_frame_read(frame, &request, 1), HS_ERR_INVALID);
    REQUIRE(strstr(io_last[HS_LOG_ERROR], "32 bytes") && strstr(io_last[HS_LOG_ERROR], "16"));
    request.format = HSIO_FORMAT_R32F;
    REQUIRE_EQ(hsio_frame_read(frame, &request, 1), HS_ERR_INVALID);
    REQUIRE_EQ(hsio_frame_open(seq, 1, &frame), HS_ERR_INVALID);
    hsio_frame_close(&frame);
    hsio_frame_close(&frame);
    hsio_sequence_close(&seq);
    hsio_sequence_close(&seq);
}

static float odd_values(int part, int channel, int x, int y)
{
    (void)part;
    if (channel == 1 && x == 3 && y == 2)
        return NAN;
    if (channel < 2 && x == 5 && y == 4)
        return INFINITY;
    return channel == 3 ? 1 : (float)x - 2;
}

static float only_zero(int part, int channel, int x, int y)
{
    return 0 * io_pixel(part, channel, x, y);
}

static void statistics(struct test_rng *rng)
{
    const char *path = io_path("stats.exr");
    struct hsio_plane_stats stats;
    struct hsio_sequence *seq;
    float *pixels;

    (void)rng;
    io_make_rgba(path, 8, 20, odd_values);
    seq = io_open(path, "raw", NULL);
    pixels = io_read(seq, 0, HSIO_PLANE_COLOR, &stats);
    REQUIRE_EQ(stats.non_finite, 2);
    REQUIRE_NEAR(stats.min, -2, 0);
    REQUIRE_NEAR(stats.max, 5, 0);
    REQUIRE(!stats.all_zero);
    REQUIRE(isnan(pixels[(2 * 8 + 3) * 4 + 1]) && isinf(pixels[(4 * 8 + 5) * 4]));
    free(pixels);
    hsio_sequence_close(&seq);

    io_make_rgba(path, 8, 20, only_zero);
    seq = io_open(path, "raw", NULL);
    pixels = io_read(seq, 0, HSIO_PLANE_COLOR, &stats);
    REQUIRE(stats.all_zero && stats.non_finite == 0 && stats.min == 0 && stats.max == 0);
    free(pixels);
    hsio_sequence_close(&seq);
}

static float chroma_values(int part, int channel, int x, int y)
{
    (void)part;
    (void)x;
    // Y, RY, BY: grey ramp downwards with constant colour.
    return channel == 0 ? 0.5f + (float)y / 64 : channel == 1 ? 0.5f : -0.25f;
}

static void luminance_chroma(struct test_rng *rng)
{
    static const struct io_channel channels[] = {{"Y", H, 1, 1}, {"RY", H, 2, 2}, {"BY", H, 2, 2}};
    static const int origins[][2] = {{0, 0}, {-4, -6}, {2, 8}};

    (void)rng;
    for (int i = 0; i < 9; i++) {
        const int *o = origins[i % 3];
        const struct io_part p = {
            .data = {o[0], o[1], o[0] + 19, o[1] + 21},
            .compression = i < 3   ? EXR_COMPRESSION_NONE
                           : i < 6 ? EXR_COMPRESSION_ZIP
                                   : EXR_COMPRESSION_PIZ,
            .channels = channels,
            .channel_count = 3,
        };
        const char *path = io_path("chroma.exr");
        struct hsio_sequence *seq;
        float *pixels;

        io_make_exr(path, &p, 1, chroma_values);
        seq = io_open(path, "raw", NULL);
        pixels = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
        for (int k = 0; k < 20 * 22; k++) {
            const float y = 0.5f + (float)(k / 20 + o[1]) / 64, r = 1.5f * y, b = 0.75f * y;

            REQUIRE_NEAR(pixels[k * 4], r, 2e-3);
            REQUIRE_NEAR(pixels[k * 4 + 2], b, 2e-3);
            REQUIRE_NEAR(pixels[k * 4 + 1], (y - 0.2126f * r - 0.0722f * b) / 0.7152f, 4e-3);
            REQUIRE_NEAR(pixels[k * 4 + 3], 1, 0);
        }
        free(pixels);
        hsio_sequence_close(&seq);
    }
}

static void refused(struct test_rng *rng)
{
    static const struct io_channel sub[] = {{"R", H, 1, 1}, {"G", H, 2, 2}, {"B", H, 2, 2}};
    const struct io_part p = {.data = {0, 0, 7, 7}, .channels = sub, .channel_count = 3};
    const char *path = io_path("sub.exr");

    (void)rng;
    io_make_exr(path, &p, 1, NULL);
    REQUIRE_EQ(io_consume(path, "raw"), HS_ERR_UNSUPPORTED);
    REQUIRE(strstr(io_last[HS_LOG_ERROR], "channel G is subsampled 2x2"));
    REQUIRE_EQ(io_try(io_path("nothing.exr"), "raw", NULL), HS_ERR_IO);
    io_store(io_path("text.exr"), "hello", 5);
    REQUIRE_EQ(io_try(io_path("text.exr"), "raw", NULL), HS_ERR_FORMAT);
    io_store(io_path("empty.exr"), "", 0);
    REQUIRE_EQ(io_try(io_path("empty.exr"), "raw", NULL), HS_ERR_FORMAT);
    // A pipe would never end.
    REQUIRE(!mkfifo(io_path("pipe_1.exr"), 0600) && !mkfifo(io_path("pipe_1.png"), 0600));
    REQUIRE_EQ(io_try(io_path("pipe_%%d.exr"), "raw", NULL), HS_ERR_IO);
    REQUIRE_EQ(io_try(io_path("pipe_%%d.png"), "raw", NULL), HS_ERR_IO);
    io_store(io_path("picture.bmp"), "BM", 2);
    REQUIRE_EQ(io_try(io_path("picture.bmp"), "raw", NULL), HS_ERR_UNSUPPORTED);
}

static void deep_refused(struct test_rng *rng)
{
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    const char *path = io_path("deep.exr");
    const int32_t counts[4] = {1, 2, 3, 4};
    const float samples[4] = {1, 2, 3, 4};
    exr_context_t context;
    int part;

    (void)rng;
    REQUIRE_EQ(exr_start_write(&context, path, EXR_WRITE_FILE_DIRECTLY, &init), 0);
    REQUIRE_EQ(exr_add_part(context, "deep", EXR_STORAGE_DEEP_SCANLINE, &part), 0);
    REQUIRE_EQ(exr_initialize_required_attr_simple(context, part, 4, 1, EXR_COMPRESSION_NONE), 0);
    REQUIRE_EQ(exr_add_channel(context, part, "Z", F, EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1), 0);
    REQUIRE_EQ(exr_set_version(context, part, 1), 0);
    REQUIRE_EQ(exr_write_header(context), 0);
    REQUIRE_EQ(exr_write_deep_scanline_chunk(context, part, 0, samples, sizeof(samples),
                                             sizeof(samples), counts, sizeof(counts)),
               0);
    REQUIRE_EQ(exr_finish(&context), 0);
    REQUIRE_EQ(io_try(path, "raw", NULL), HS_ERR_UNSUPPORTED);
    REQUIRE(strstr(io_last[HS_LOG_ERROR], "deep"));
}

static const struct test_case cases[] = {
    {"every_compression", every_compression},
    {"every_type", every_type},
    {"every_window", every_window},
    {"data_window_canvas", data_window_canvas},
    {"depth_outside_is_far", depth_outside_is_far},
    {"mip_level_0", mip_level_0},
    {"multi_part", multi_part},
    {"blender_layers", blender_layers},
    {"missing_channel", missing_channel},
    {"statistics", statistics},
    {"luminance_chroma", luminance_chroma},
    {"refused", refused},
    {"deep_refused", deep_refused},
};
TEST_MAIN(cases)
