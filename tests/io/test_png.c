// SPDX-License-Identifier: MIT
#include "io_test.h"

#include <png.h>

static float *read_as(const char *path, const char *transfer)
{
    struct hsio_convention conv;
    struct hsio_sequence *seq = NULL;
    float *pixels;

    REQUIRE_EQ(hsio_convention_preset(&conv, "auto", &io_log), 0);
    REQUIRE_EQ(hsio_convention_set(&conv, "color.transfer", transfer, &io_log), 0);
    REQUIRE_EQ(hsio_sequence_open(path, &conv, NULL, &io_log, &seq), 0);
    pixels = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
    hsio_sequence_close(&seq);
    return pixels;
}

static double srgb(double v)
{
    return v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

static double curve(enum hsio_curve c, double v)
{
    v = v > 0 ? v : 0;
    if (c == HSIO_CURVE_METRIC)
        return isinf(v) ? 1 : pow(v / (1 + v), 1 / 2.2);
    v = v < 1 ? v : 1;
    return c == HSIO_CURVE_SRGB ? srgb(v) : v;
}

static void round_trips(struct test_rng *rng)
{
    float color[16 * 4 * 4];

    for (int i = 0; i < 16 * 4 * 4; i++)
        color[i] = i % 4 == 3 ? test_rng_float(rng, 0, 1) : test_rng_float(rng, -0.1f, 3);
    color[0] = NAN;
    color[1] = INFINITY;
    color[2] = -INFINITY;
    for (int i = 0; i < 12; i++) {
        const int bits = i & 1 ? 16 : 8;
        const enum hsio_curve c = (enum hsio_curve)(i / 2 % 3);
        const struct hsio_write_options options = {
            .png_bits = bits, .curve = c, .png_alpha = i >= 6};
        const struct hsio_write_plane plane = {.format = HSIO_FORMAT_RGBA32F, .data = color};
        const char *path = io_path("round.png");
        struct hsio_file_desc *d = NULL;
        float *back;

        REQUIRE_EQ(hsio_write(path, 16, 4, &plane, 1, &options, &io_log), 0);
        REQUIRE_EQ(hsio_file_describe(path, &io_log, &d), 0);
        REQUIRE_EQ(d->parts[0].channel_count, i >= 6 ? 4 : 3);
        REQUIRE_STR(d->parts[0].channels[0].type, bits == 16 ? "u16" : "u8");
        hsio_file_desc_free(&d);
        back = read_as(path, "display");
        for (int k = 0; k < 16 * 4 * 4; k++) {
            const double want =
                k % 4 == 3 ? i >= 6 ? (double)color[k] : 1 : curve(c, (double)color[k]);

            REQUIRE_NEAR(back[k], want, (bits == 16 ? 0.52 / 65535 : 0.52 / 255));
        }
        free(back);
    }
}

static void srgb_decoded(struct test_rng *rng)
{
    float color[256 * 4];
    const struct hsio_write_plane plane = {.format = HSIO_FORMAT_RGBA32F, .data = color};
    const struct hsio_write_options options = {.png_bits = 16, .curve = HSIO_CURVE_SRGB};
    float *linear, *same;

    (void)rng;
    for (int i = 0; i < 256 * 4; i++)
        color[i] = (float)(i / 4) / 255;
    REQUIRE_EQ(hsio_write(io_path("srgb.png"), 256, 1, &plane, 1, &options, &io_log), 0);
    linear = read_as(io_path("srgb.png"), "srgb");
    same = read_as(io_path("srgb.png"), "linear");
    for (int i = 0; i < 256; i++) {
        REQUIRE_NEAR(linear[i * 4], color[i * 4], 3e-5);
        REQUIRE_NEAR(same[i * 4], srgb((double)color[i * 4]), 1e-5);
    }
    free(linear);
    free(same);
}

/* Writes kinds of PNG that the library itself does not write. */
static void make(const char *path, int type, int bits, bool interlaced, int width, int height)
{
    FILE *file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_color palette[4] = {{0, 85, 170}, {255, 0, 0}, {0, 255, 0}, {10, 20, 30}};
    uint8_t row[64 * 8] = {0};
    int passes;

    REQUIRE(file && info);
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, bits, type,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 4);
    png_write_info(png, info);
    passes = png_set_interlace_handling(png);
    for (int p = 0; p < passes; p++) {
        for (int y = 0; y < height; y++)
            png_write_row(png, row);
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

static void every_kind(struct test_rng *rng)
{
    static const struct {
        int type, bits;
        float want[4]; ///< Of code 0 everywhere.
    } table[] = {
        {PNG_COLOR_TYPE_GRAY, 1, {0, 0, 0, 1}},
        {PNG_COLOR_TYPE_GRAY, 4, {0, 0, 0, 1}},
        {PNG_COLOR_TYPE_GRAY, 16, {0, 0, 0, 1}},
        {PNG_COLOR_TYPE_GRAY_ALPHA, 8, {0, 0, 0, 0}},
        {PNG_COLOR_TYPE_GRAY_ALPHA, 16, {0, 0, 0, 0}},
        {PNG_COLOR_TYPE_RGB, 8, {0, 0, 0, 1}},
        {PNG_COLOR_TYPE_RGBA, 16, {0, 0, 0, 0}},
        {PNG_COLOR_TYPE_PALETTE, 2, {0, 1 / 3.0f, 2 / 3.0f, 1}},
    };

    (void)rng;
    for (size_t i = 0; i < 2 * sizeof(table) / sizeof(table[0]); i++) {
        const char *path = io_path("kind.png");
        float *pixels;

        make(path, table[i / 2].type, table[i / 2].bits, i % 2, 19, 13);
        pixels = read_as(path, "display");
        for (int k = 0; k < 19 * 13 * 4; k++)
            REQUIRE_NEAR(pixels[k], table[i / 2].want[k % 4], 1e-6);
        free(pixels);
    }
}

static void other_planes(struct test_rng *rng)
{
    const float color[4] = {0.5f, 0.25f, 0.75f, 1};
    const struct hsio_write_plane plane = {.format = HSIO_FORMAT_RGBA32F, .data = color};
    const char *path = io_path("plane_1.png");
    struct hsio_options options = {0};
    struct hsio_sequence *seq;
    float *pixels;

    (void)rng;
    REQUIRE_EQ(hsio_write(path, 1, 1, &plane, 1, NULL, &io_log), 0);
    seq = io_open(path, "raw", NULL);
    {
        struct hsio_sequence_info info;

        hsio_sequence_info(seq, &info);
        REQUIRE_STR(info.kind, "png");
        REQUIRE(info.planes[HSIO_PLANE_COLOR] && !info.planes[HSIO_PLANE_NORMAL]);
    }
    hsio_sequence_close(&seq);
    // Planes other than colour are numbers and never decoded from sRGB.
    io_store(io_path("normal_1.png"), "", 0);
    REQUIRE_EQ(hsio_write(io_path("normal_1.png"), 1, 1, &plane, 1, NULL, &io_log), 0);
    options.planes[HSIO_PLANE_NORMAL] = io_path("normal_%%d.png");
    seq = io_open(path, "raw", &options);
    pixels = io_read(seq, 0, HSIO_PLANE_NORMAL, NULL);
    REQUIRE_NEAR(pixels[0], 128 / 255.0, 1e-6);
    free(pixels);
    hsio_sequence_close(&seq);
}

static const struct test_case cases[] = {
    {"round_trips", round_trips},
    {"srgb_decoded", srgb_decoded},
    {"every_kind", every_kind},
    {"other_planes", other_planes},
};
TEST_MAIN(cases)
