// SPDX-License-Identifier: MIT
#include "io_test.h"

#include <sys/stat.h>

/* Stores a description and the raw files it speaks of: 4x3 render, 8x6 output. */
static const char *describe(const char *json)
{
    static uint8_t data[8 * 6 * 16];
    const char *path = io_path("shot.json");

    for (size_t i = 0; i < sizeof(data); i += 2) {
        const uint16_t h = hsio_float_to_half((float)(i % 512) / 256);

        memcpy(data + i, &h, 2);
    }
    io_store(io_path("color.bin"), data, 4 * 3 * 8);
    io_store(io_path("depth.bin"), data, 4 * 3 * 2);
    io_store(io_path("motion.bin"), data, 4 * 3 * 4);
    io_store(io_path("wide.bin"), data, 8 * 6 * 4);
    io_store(io_path("normal.rgba16f"), data, 4 * 3 * 8);
    io_store(io_path("one.r32f"), &(float){2.5f}, 4);
    io_store(path, json, strlen(json));
    return path;
}

#define TWO                                                                                      \
    "{\"format\": \"hindsight-frames\", \"version\": 1,"                                         \
    "\"output\": {\"width\": 8, \"height\": 6}, \"render\": {\"width\": 4, \"height\": 3},"      \
    "\"sharpness\": 0.5, \"exposure\": 2, \"near\": 0.1, \"far\": -1,"                           \
    "\"motion_scale\": [4, -3],"                                                                 \
    "\"convention\": {\"depth\": {\"kind\": \"hardware_inverted\"}, \"jitter.sign_y\": -1},"     \
    "\"frames\": ["                                                                              \
    "{\"color\": \"color.bin\", \"depth\": \"depth.bin\", \"motion\": \"motion.bin\","           \
    " \"normal\": \"normal.rgba16f\", \"jitter\": [0.25, 0.5]},"                                 \
    "{\"colour\": {\"file\": \"color.bin\", \"format\": \"rgba16f\"}, \"motion\": \"wide.bin\"," \
    " \"exposure\": \"one.r32f\", \"reset\": true, \"convention\": {\"motion.resolution\": "     \
    "\"display\", \"motion.scale_x\": 1}},"                                                      \
    "{\"color\": \"color.bin\", \"exposure\": 3}]}"

static void two_frames(struct test_rng *rng)
{
    struct hsio_sequence *seq = io_open(describe(TWO), "auto", NULL);
    struct hsio_sequence_info info;
    struct hsio_frame *frame = NULL;
    const struct hsio_frame_info *f;
    float *pixels;

    (void)rng;
    hsio_sequence_info(seq, &info);
    REQUIRE_EQ(info.frame_count, 3);
    REQUIRE_EQ(info.output_width, 8);
    REQUIRE_EQ(info.output_height, 6);
    REQUIRE_EQ(info.width, 4);
    REQUIRE_STR(info.kind, "raw");
    REQUIRE(info.planes[HSIO_PLANE_NORMAL] && !info.planes[HSIO_PLANE_ROUGHNESS]);

    REQUIRE_EQ(hsio_frame_open(seq, 0, &frame), 0);
    f = hsio_frame_info(frame);
    REQUIRE(f->reset && f->has_jitter && f->has_clip && f->has_exposure);
    REQUIRE(f->jitter_px[0] == 0.25f && f->jitter_px[1] == -0.5f);
    REQUIRE(f->near == 0.1f && isinf(f->far) && f->exposure == 2 && f->sharpness == 0.5f);
    REQUIRE_EQ(f->convention->depth.kind, HSIO_DEPTH_HARDWARE_INVERTED);
    REQUIRE(f->convention->depth.background == 0);
    REQUIRE(f->convention->motion.scale_x == 4 && f->convention->motion.scale_y == -3);
    REQUIRE_EQ(f->planes[HSIO_PLANE_COLOR].format, HSIO_FORMAT_RGBA16F);
    REQUIRE_EQ(f->planes[HSIO_PLANE_DEPTH].format, HSIO_FORMAT_R16F);
    REQUIRE_EQ(f->planes[HSIO_PLANE_MOTION].format, HSIO_FORMAT_RG16F);
    hsio_frame_close(&frame);

    REQUIRE_EQ(hsio_frame_open(seq, 1, &frame), 0);
    f = hsio_frame_info(frame);
    REQUIRE(f->reset && !f->has_jitter);
    REQUIRE_EQ(f->planes[HSIO_PLANE_MOTION].width, 8);
    REQUIRE_EQ(f->planes[HSIO_PLANE_EXPOSURE].width, 1);
    REQUIRE(f->convention->motion.scale_x == 1 && f->convention->motion.scale_y == -3);
    REQUIRE_EQ(f->convention->motion.resolution, HSIO_RESOLUTION_DISPLAY);
    hsio_frame_close(&frame);

    REQUIRE_EQ(hsio_frame_open(seq, 2, &frame), 0);
    REQUIRE(!hsio_frame_info(frame)->reset && hsio_frame_info(frame)->exposure == 3);
    hsio_frame_close(&frame);

    pixels = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
    for (int i = 0; i < 4 * 3 * 4; i++)
        REQUIRE_NEAR(pixels[i], (float)(i * 2 % 512) / 256, 0);
    free(pixels);
    pixels = io_read(seq, 1, HSIO_PLANE_EXPOSURE, NULL);
    REQUIRE(pixels[0] == 2.5f);
    free(pixels);
    hsio_sequence_close(&seq);
}

/* The caller's keys win over those of the file and of a frame. */
static void caller_wins(struct test_rng *rng)
{
    struct hsio_convention conv;
    struct hsio_sequence *seq = NULL;
    struct hsio_frame *frame = NULL;

    (void)rng;
    REQUIRE_EQ(hsio_convention_preset(&conv, "auto", &io_log), 0);
    REQUIRE_EQ(hsio_convention_set(&conv, "motion.scale_x", "7", &io_log), 0);
    REQUIRE_EQ(hsio_convention_set(&conv, "depth.kind", "linear", &io_log), 0);
    REQUIRE_EQ(hsio_sequence_open(describe(TWO), &conv, NULL, &io_log, &seq), 0);
    REQUIRE_EQ(hsio_frame_open(seq, 1, &frame), 0);
    REQUIRE(hsio_frame_info(frame)->convention->motion.scale_x == 7);
    REQUIRE_EQ(hsio_frame_info(frame)->convention->depth.kind, HSIO_DEPTH_LINEAR);
    REQUIRE(isinf(hsio_frame_info(frame)->convention->depth.background));
    hsio_frame_close(&frame);
    hsio_sequence_close(&seq);
}

static void direct_read(struct test_rng *rng)
{
    struct hsio_sequence *seq = io_open(describe(TWO), "auto", NULL);
    struct hsio_frame *frame = NULL;
    uint8_t buffer[4 * 3 * 8 + 8], *file;
    struct hsio_plane_stats stats;
    struct hsio_plane_request request = {
        .plane = HSIO_PLANE_COLOR, .buffer = buffer, .buffer_bytes = 4 * 3 * 8};
    size_t bytes;

    (void)rng;
    file = io_load(io_path("color.bin"), &bytes);
    REQUIRE_EQ(hsio_frame_open(seq, 0, &frame), 0);
    for (int i = 0; i < 2; i++) {
        memset(buffer, 0xee, sizeof(buffer));
        request.stats = i ? &stats : NULL;
        REQUIRE_EQ(hsio_frame_read(frame, &request, 1), 0);
        REQUIRE_MEM(buffer, file, bytes);
        REQUIRE_EQ(buffer[bytes], 0xee);
    }
    REQUIRE_NEAR(stats.max, 94.0f / 256, 0);
    hsio_frame_close(&frame);
    hsio_sequence_close(&seq);
    free(file);
}

/* Against a plain count, over halves and floats with and without oddities. */
static void counted(struct test_rng *rng)
{
    for (int round = 0; round < 40; round++) {
        const bool half = round & 1, odd = round & 2;
        uint16_t h[12 * 4];
        float f[12 * 4], low = INFINITY, high = -INFINITY;
        uint64_t bad = 0;
        struct hsio_plane_stats stats;
        struct hsio_sequence *seq;
        bool zero = true;

        for (int i = 0; i < 12 * 4; i++) {
            f[i] = test_rng_float(rng, round < 20 ? -8 : -2, round < 10 ? -1 : 8);
            if (!test_rng_below(rng, 4))
                f[i] = test_rng_below(rng, 2) ? -0.0f : 0;
            if (odd && !test_rng_below(rng, 9))
                f[i] = test_rng_below(rng, 2) ? NAN : -INFINITY;
            h[i] = hsio_float_to_half(f[i]);
            if (half)
                f[i] = hsio_half_to_float(h[i]);
            zero = zero && f[i] == 0;
            if (isfinite(f[i])) {
                low = fminf(low, f[i]);
                high = fmaxf(high, f[i]);
            }
        }
        for (int i = 0; i < 12; i++) {
            bool any = false;

            for (int c = 0; c < 4; c++)
                any = any || !isfinite(f[i * 4 + c]);
            bad += any;
        }
        io_store(io_path("n.bin"), half ? (const void *)h : f, half ? sizeof(h) : sizeof(f));
        io_store(io_path("n.json"), "{\"render\": [4, 3], \"frames\": [{\"color\": \"n.bin\"}]}",
                 50);
        seq = io_open(io_path("n.json"), "raw", NULL);
        free(io_read(seq, 0, HSIO_PLANE_COLOR, &stats));
        hsio_sequence_close(&seq);
        REQUIRE_EQ(stats.non_finite, bad);
        REQUIRE_EQ(stats.all_zero, zero);
        REQUIRE(stats.min == low && stats.max == high);
    }
}

static void described(struct test_rng *rng)
{
    struct hsio_sequence *seq = io_open(describe(TWO), "auto", NULL);
    struct hsio_file_desc **descs = NULL;
    int count = 0;

    (void)rng;
    REQUIRE_EQ(hsio_sequence_describe(seq, 0, &descs, &count), 0);
    REQUIRE_EQ(count, 4);
    REQUIRE_STR(descs[0]->kind, "raw");
    REQUIRE_EQ(descs[0]->parts[0].channel_count, 4);
    REQUIRE_STR(descs[2]->parts[0].channels[0].type, "half");
    REQUIRE_EQ(descs[2]->parts[0].data.max_x, 3);
    hsio_sequence_descriptions_free(&descs, count);
    REQUIRE(!descs);
    REQUIRE_EQ(hsio_sequence_describe(seq, 99, &descs, &count), HS_ERR_INVALID);
    hsio_sequence_close(&seq);
}

static void errors(struct test_rng *rng)
{
#define HEAD "{\"render\": {\"width\": 4, \"height\": 3}, "
#define COLOR "\"color\": \"color.bin\""
    static const struct {
        const char *json;
        int code;
        const char *says[2];
    } table[] = {
        {"{\"frames\": [\n{\"color\" \"x\"}]}", HS_ERR_FORMAT, {":2:", "JSON"}},
        {"[1]", HS_ERR_FORMAT, {"an object", "an array"}},
        {"{}", HS_ERR_FORMAT, {"frames", "none"}},
        {"{\"frames\": 3}", HS_ERR_FORMAT, {"frames", "a number"}},
        {"{\"a\": 1, \"a\": 2}", HS_ERR_FORMAT, {"duplicate", ":1:"}},
        {"{\"format\": \"other\", \"frames\": []}", HS_ERR_FORMAT, {"format", "other"}},
        {"{\"version\": 2, \"frames\": []}", HS_ERR_VERSION, {"version 2", "1"}},
        {HEAD "\"frames\": [5]}", HS_ERR_FORMAT, {"frames[0]", "an object"}},
        {HEAD "\"frames\": [{}, {\"jitter\": [1]}]}", HS_ERR_FORMAT, {"frames[1].jitter", "[1]"}},
        {HEAD "\"frames\": [{\"jitter\": [1, \"x\"]}]}",
         HS_ERR_FORMAT,
         {"frames[0].jitter", "\"x\""}},
        {HEAD "\"frames\": [{" COLOR ", \"view\": [[1]]}]}", HS_ERR_FORMAT, {"view", "rows"}},
        {HEAD "\"frames\": [{" COLOR ", \"reset\": 1}]}", HS_ERR_FORMAT, {"reset", "true"}},
        {HEAD "\"frames\": [{" COLOR ", \"number\": 1.5}]}", HS_ERR_FORMAT, {"number", "whole"}},
        {HEAD "\"frames\": [{\"color\": 5}]}", HS_ERR_FORMAT, {"color", "file"}},
        {HEAD "\"frames\": [{\"color\": {\"file\": \"color.bin\", \"format\": \"rgb9\"}}]}",
         HS_ERR_FORMAT,
         {"color", "rgb9"}},
        {HEAD "\"frames\": [{\"color\": {\"file\": \"color.bin\", \"format\": \"rg16f\"}}]}",
         HS_ERR_FORMAT,
         {"4 channels", "rg16f"}},
        {HEAD "\"frames\": [{\"color\": \"gone.bin\"}]}",
         HS_ERR_IO,
         {"gone.bin: frame 0", "plane color"}},
        {HEAD "\"frames\": [{\"color\": \"depth.bin\"}]}", HS_ERR_FORMAT, {"24 bytes", "4x3"}},
        {HEAD "\"frames\": [{\"color\": {\"file\": \"color.bin\", \"format\": \"rgba32f\"}}]}",
         HS_ERR_FORMAT,
         {"192 bytes", "has 96"}},
        {"{\"frames\": [{" COLOR "}]}", HS_ERR_FORMAT, {"render", "color"}},
        {"{\"render\": {\"width\": 0, \"height\": 3}, \"frames\": []}",
         HS_ERR_FORMAT,
         {"render", "65536"}},
        {"{\"render\": {\"width\": 99999, \"height\": 3}, \"frames\": []}",
         HS_ERR_FORMAT,
         {"render", "65536"}},
        {"{\"render\": [65536, 65536], \"frames\": []}", HS_ERR_FORMAT, {"render", "pixels"}},
        {HEAD "\"convention\": {\"motion.scalex\": 1}, \"frames\": []}",
         HS_ERR_FORMAT,
         {"motion.scalex", "motion.scale_x"}},
        {HEAD "\"convention\": {\"motion\": {\"unit\": \"inch\"}}, \"frames\": []}",
         HS_ERR_FORMAT,
         {"motion.unit", "px uv ndc"}},
        {HEAD "\"convention\": 1, \"frames\": []}", HS_ERR_FORMAT, {"convention", "an object"}},
        {HEAD "\"motion_scale\": [1, 0], \"frames\": []}",
         HS_ERR_FORMAT,
         {"motion.scale_y", "other than 0"}},
        {HEAD "\"near\": \"x\", \"frames\": []}", HS_ERR_FORMAT, {"near", "a number"}},
        {HEAD "\"near\": -0.1, \"frames\": []}", HS_ERR_FORMAT, {"key near", "0 or above"}},
        {HEAD "\"frames\": [{}, {\"near\": -1}]}", HS_ERR_FORMAT, {"frames[1].near", "-1"}},
        {HEAD "\"exposure\": \"auto\", \"frames\": []}",
         HS_ERR_FORMAT,
         {"key exposure", "\"auto\""}},
        {HEAD "\"exposure\": 0, \"frames\": []}", HS_ERR_FORMAT, {"key exposure", "above 0"}},
        {HEAD "\"frames\": [{" COLOR ", \"exposure\": -2}]}",
         HS_ERR_FORMAT,
         {"frames[0].exposure", "-2"}},
        {HEAD "\"frames\": [{\"exposure\": 1}, {\"exposure\": \"x\"}]}",
         HS_ERR_FORMAT,
         {"frames[1].exposure", "\"x\""}},
        {HEAD "\"near\": 1e999, \"frames\": []}", HS_ERR_FORMAT, {"JSON", ":1:"}},
        {HEAD "\"frames\": [{\"frame\": 1}, {\"frame\": 1}]}",
         HS_ERR_FORMAT,
         {"frames[1].frame: frame 1", "twice, first as frames[0]"}},
        {HEAD "\"frames\": [{" COLOR ", \"frame\": 2}, {" COLOR "}, {" COLOR ", \"frame\": 2}]}",
         HS_ERR_FORMAT,
         {"frames[2].frame: frame 2", "twice, first as frames[0]"}},
        {HEAD "\"sharpness\": 1.5, \"frames\": []}", HS_ERR_FORMAT, {"key sharpness", "1.5"}},
        {HEAD "\"frames\": [{}, {\"sharpness\": -0.5}]}",
         HS_ERR_FORMAT,
         {"frames[1].sharpness", "from 0 to 1"}},
        {HEAD "\"frames\": [{}, {\"jitter\": [0, -300]}]}",
         HS_ERR_FORMAT,
         {"frames[1].jitter", "within a pixel"}},
        {"{\"pattern\": 1, \"frames\": []}", HS_ERR_FORMAT, {"pattern", "a number"}},
    };

    (void)rng;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const char *path = describe(table[i].json);
        int result;

        io_log_clear();
        result = io_try(path, "auto", NULL);
        REQUIRE_MSG(result == table[i].code, "%s gave %d: %s", table[i].json, result,
                    io_last[HS_LOG_ERROR]);
        REQUIRE_EQ(io_errors, 1);
        for (int k = 0; k < 2; k++)
            REQUIRE_MSG(strstr(io_last[HS_LOG_ERROR], table[i].says[k]), "\"%s\" lacks \"%s\"",
                        io_last[HS_LOG_ERROR], table[i].says[k]);
        REQUIRE(strstr(io_last[HS_LOG_ERROR], ".json") || strstr(io_last[HS_LOG_ERROR], ".bin"));
    }
}

static void slips_are_told(struct test_rng *rng)
{
    (void)rng;
    io_log_clear();
    REQUIRE_EQ(io_try(describe(HEAD "\"frames\": [{" COLOR ", \"jiter\": [0, 0]}]}"), "auto", NULL),
               0);
    REQUIRE(strstr(io_last[HS_LOG_WARN], "jiter") && strstr(io_last[HS_LOG_WARN], "jitter"));
    io_log_clear();
    REQUIRE_EQ(io_try(describe(HEAD "\"scene\": 1, \"frames\": [{" COLOR ", \"seconds\": 2}]}"),
                      "auto", NULL),
               0);
    REQUIRE_STR(io_last[HS_LOG_WARN], "");
}

static void dynamic_size(struct test_rng *rng)
{
    struct hsio_sequence *seq =
        io_open(describe("{\"output\": [8, 6], \"frames\": ["
                         "{" COLOR ", \"render\": [4, 3], \"number\": 10},"
                         "{" COLOR ", \"render\": [6, 2], \"number\": 11},"
                         "{" COLOR ", \"render\": [4, 3], \"number\": 20}]}"),
                "auto", NULL);
    struct hsio_frame *frame = NULL;

    (void)rng;
    for (int i = 0; i < 3; i++) {
        REQUIRE_EQ(hsio_frame_open(seq, i, &frame), 0);
        REQUIRE_EQ(hsio_frame_info(frame)->resized, i == 1);
        REQUIRE_EQ(hsio_frame_info(frame)->reset, i != 1);
        REQUIRE_EQ(hsio_frame_info(frame)->number, i == 2 ? 20 : 10 + i);
        hsio_frame_close(&frame);
    }
    hsio_sequence_close(&seq);
    seq = NULL;
    REQUIRE_EQ(
        hsio_sequence_open(io_path("shot.json"), NULL,
                           &(struct hsio_options){.has_range = true, .first = 11, .last = 20},
                           &io_log, &seq),
        0);
    REQUIRE_EQ(hsio_sequence_number(seq, 0), 11);
    REQUIRE_EQ(hsio_sequence_number(seq, 1), 20);
    hsio_sequence_close(&seq);
}

static const struct test_case cases[] = {
    {"two_frames", two_frames},         {"caller_wins", caller_wins},
    {"direct_read", direct_read},       {"counted", counted},
    {"described", described},           {"errors", errors},
    {"slips_are_told", slips_are_told}, {"dynamic_size", dynamic_size},
};
TEST_MAIN(cases)
