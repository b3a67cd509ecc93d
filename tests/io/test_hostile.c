// SPDX-License-Identifier: MIT
/** Cut and flipped files: an error or a picture, never a crash. Means most under sanitizers. */
#include "io_test.h"

#define H EXR_PIXEL_HALF
#define F EXR_PIXEL_FLOAT

static const struct io_channel channels[] = {{"R", H, 0, 0},        {"G", H, 0, 0},
                                             {"B", F, 0, 0},        {"Z", F, 0, 0},
                                             {"motion.X", H, 0, 0}, {"motion.Y", H, 0, 0}};
static const struct io_channel chroma[] = {{"Y", H, 1, 1}, {"RY", H, 2, 2}, {"BY", H, 2, 2}};

static void make(const char *path, exr_compression_t compression, int tile, bool two, bool sub)
{
    const struct io_part parts[2] = {
        {.name = two ? "one" : NULL,
         .data = {-2, 0, 9, 13},
         .display = {0, 0, 9, 13},
         .compression = compression,
         .tile = tile,
         .channels = sub ? chroma : channels,
         .channel_count = sub ? 3 : 6},
        {.name = "two",
         .data = {0, 0, 5, 5},
         .display = {0, 0, 9, 13},
         .channels = channels,
         .channel_count = 2},
    };

    io_make_exr(path, parts, two ? 2 : 1, NULL);
}

static void truncated_exr(struct test_rng *rng)
{
    static const exr_compression_t kinds[] = {EXR_COMPRESSION_NONE, EXR_COMPRESSION_ZIP,
                                              EXR_COMPRESSION_PIZ, EXR_COMPRESSION_DWAA};

    (void)rng;
    for (int kind = 0; kind < 8; kind++) {
        const char *whole = io_path("whole.exr"), *cut = io_path("cut.exr");
        size_t bytes;
        uint8_t *data;

        make(whole, kinds[kind / 2], kind % 2 ? 8 : 0, false, false);
        data = io_load(whole, &bytes);
        REQUIRE_EQ(io_consume(whole, "raw"), 0);
        // Every length in the header, then in steps.
        for (size_t n = 0; n < bytes; n += n < 64 || n + 64 > bytes ? 1 : 7) {
            int result;

            io_store(cut, data, n);
            io_log_clear();
            result = io_consume(cut, "raw");
            REQUIRE_MSG(result < 0, "kind %d: %zu of %zu bytes were accepted", kind, n, bytes);
            REQUIRE_MSG(io_errors == 1, "kind %d, %zu bytes: %d lines, last: %s", kind, n,
                        io_errors, io_last[HS_LOG_ERROR]);
            REQUIRE(strstr(io_last[HS_LOG_ERROR], "cut.exr"));
        }
        free(data);
    }
}

static void flip(struct test_rng *rng, const char *path, const char *location, int rounds)
{
    size_t bytes;
    uint8_t *data = io_load(path, &bytes), *copy = malloc(bytes);
    int good = 0;

    REQUIRE(copy);
    for (int i = 0; i < rounds; i++) {
        const int flips = 1 + (int)test_rng_below(rng, 3);
        int result;

        memcpy(copy, data, bytes);
        for (int k = 0; k < flips; k++) {
            // The front, where sizes live, gets half of the attention.
            const uint32_t range = test_rng_below(rng, 2) && bytes > 512 ? 512 : (uint32_t)bytes;

            copy[test_rng_below(rng, range)] ^= (uint8_t)(1u << test_rng_below(rng, 8));
        }
        io_store(path, copy, bytes);
        io_log_clear();
        result = io_consume(location, "raw");
        good += !result;
        REQUIRE_MSG(result <= 0 && (!result || io_errors == 1), "round %d: %d, %d lines: %s", i,
                    result, io_errors, io_last[HS_LOG_ERROR]);
    }
    printf("%s: %d of %d still readable\n", strrchr(path, '/') + 1, good, rounds);
    io_store(path, data, bytes);
    free(copy);
    free(data);
}

static void flipped_exr(struct test_rng *rng)
{
    for (int c = EXR_COMPRESSION_NONE; c < EXR_COMPRESSION_LAST_TYPE; c++) {
        for (int kind = 0; kind < 3; kind++) {
            const char *path = io_path("flip%d_%d.exr", c, kind);

            make(path, (exr_compression_t)c, kind == 1 ? 8 : 0, kind == 1, kind == 2);
            flip(rng, path, path, 150);
        }
    }
}

static void damaged_png(struct test_rng *rng)
{
    static const float pixels[8 * 6 * 4] = {0.5f, 2, 0.1f, 1};

    for (int bits = 8; bits <= 16; bits += 8) {
        const struct hsio_write_plane plane = {.format = HSIO_FORMAT_RGBA32F, .data = pixels};
        const struct hsio_write_options options = {.png_bits = bits, .png_alpha = bits == 16};
        const char *path = io_path("flip.png"), *cut = io_path("cut.png");
        size_t bytes;
        uint8_t *data;

        REQUIRE_EQ(hsio_write(path, 8, 6, &plane, 1, &options, &io_log), 0);
        data = io_load(path, &bytes);
        REQUIRE_EQ(io_consume(path, "raw"), 0);
        for (size_t n = 0; n < bytes; n++) {
            io_store(cut, data, n);
            io_log_clear();
            REQUIRE_EQ(io_consume(cut, "raw"), HS_ERR_FORMAT);
            REQUIRE_EQ(io_errors, 1);
        }
        free(data);
        flip(rng, path, path, 1500);
    }
}

static void damaged_json(struct test_rng *rng)
{
    static const char text[] =
        "{\"format\": \"hindsight-frames\", \"version\": 1,\n"
        " \"output\": {\"width\": 8, \"height\": 8}, \"render\": {\"width\": 4, \"height\": 4},\n"
        " \"convention\": {\"motion.unit\": \"uv\", \"depth\": {\"kind\": \"hardware\"}},\n"
        " \"frames\": [{\"color\": \"c.bin\", \"depth\": {\"file\": \"d.bin\"}, \"motion\": "
        "\"m.bin\",\n"
        "  \"jitter\": [0.25, -0.25], \"near\": 0.1, \"far\": null, \"reset\": true,\n"
        "  \"view\": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]], \"exposure\": 1.5,\n"
        "  \"convention\": {\"motion.sign_x\": -1}}]}\n";
    static const uint8_t zero[4 * 4 * 8];
    const char *path = io_path("flip.json");

    io_store(io_path("c.bin"), zero, 4 * 4 * 8);
    io_store(io_path("d.bin"), zero, 4 * 4 * 4);
    io_store(io_path("m.bin"), zero, 4 * 4 * 4);
    io_store(path, text, sizeof(text) - 1);
    REQUIRE_EQ(io_consume(path, "raw"), 0);
    for (size_t n = 0; n + 2 < sizeof(text); n++) {
        io_store(path, text, n);
        io_log_clear();
        REQUIRE_EQ(io_consume(path, "raw"), HS_ERR_FORMAT);
        REQUIRE_EQ(io_errors, 1);
    }
    io_store(path, text, sizeof(text) - 1);
    flip(rng, path, path, 4000);
}

static void claims(struct test_rng *rng)
{
    // Little-endian box of a data window: 0, 0 to x, y.
    static const int32_t corners[][2] = {{65535, 65535}, {65536, 10},    {2147483647, 2147483647},
                                         {-5, 3},        {65535, 30000}, {-2147483647, 0}};
    const char *path = io_path("claim.exr");
    size_t bytes, at;
    uint8_t *data;

    (void)rng;
    io_make_rgba(path, 4, 4, NULL);
    data = io_load(path, &bytes);
    for (at = 0; memcmp(data + at, "dataWindow", 11); at++)
        REQUIRE(at + 64 < bytes);
    at += 11 + 6 + 4 + 8; // Name, "box2i", size, min.
    for (size_t i = 0; i < sizeof(corners) / sizeof(corners[0]); i++) {
        memcpy(data + at, corners[i], 8);
        io_store(path, data, bytes);
        REQUIRE_LT(io_consume(path, "raw"), 0);
    }
    free(data);
}

/* However much is missing at the end, or was never written: it is seen without decoding. */
static void cut_is_seen(const char *kind, bool several)
{
    const char *whole = io_path("whole.%s", kind), *cut = io_path("cut.%s", kind);
    size_t bytes;
    uint8_t *data = io_load(whole, &bytes);

    REQUIRE_EQ(hsio_file_check(whole, &io_log), 0);
    for (size_t n = 0; n < bytes; n++) {
        io_store(cut, data, n);
        REQUIRE_MSG(hsio_file_check(cut, &io_log) == HS_ERR_FORMAT, "%zu of %zu bytes", n, bytes);
        REQUIRE(io_last[HS_LOG_ERROR][0]);
    }
    // Zeros in place of pixels: by the heads of chunks, where there are several.
    memset(data + bytes / 2, 0, bytes - bytes / 2);
    io_store(cut, data, bytes);
    REQUIRE_EQ(hsio_file_check(cut, &io_log), several ? HS_ERR_FORMAT : 0);
    free(data);
}

static void cut_files(struct test_rng *rng)
{
    static const uint16_t pixels[40 * 40 * 4] = {0x3c00};
    const struct hsio_write_plane plane = {.format = HSIO_FORMAT_RGBA16F, .data = pixels};

    (void)rng;
    for (int kind = 0; kind < 4; kind++) {
        make(io_path("whole.exr"), kind & 1 ? EXR_COMPRESSION_ZIP : EXR_COMPRESSION_NONE,
             kind == 2 ? 4 : 0, kind == 3, false);
        cut_is_seen("exr", kind != 1);
    }
    for (int i = 0; i < 2; i++) {
        const char *path = io_path("whole.%s", i ? "png" : "exr");

        REQUIRE_EQ(hsio_write(path, 40, 40, &plane, 1, NULL, &io_log), 0);
        cut_is_seen(i ? "png" : "exr", true);
    }
    REQUIRE_EQ(hsio_file_check(io_path("none.exr"), &io_log), HS_ERR_IO);
    REQUIRE_EQ(hsio_file_check(io_path("none.png"), &io_log), HS_ERR_IO);
    REQUIRE_EQ(hsio_file_check(io_path("raw.rgba16f"), &io_log), HS_ERR_UNSUPPORTED);
}

static const struct test_case cases[] = {
    {"truncated_exr", truncated_exr}, {"flipped_exr", flipped_exr}, {"damaged_png", damaged_png},
    {"damaged_json", damaged_json},   {"claims", claims},           {"cut_files", cut_files},
};
TEST_MAIN(cases)
