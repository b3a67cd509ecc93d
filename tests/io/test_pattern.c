// SPDX-License-Identifier: MIT
#include "io_test.h"

#include <sys/stat.h>

static void parse(struct test_rng *rng)
{
    static const struct {
        const char *text;
        int64_t number;
        const char *name; ///< NULL: refused.
    } table[] = {
        {"a.%04d.exr", 7, "a.0007.exr"},
        {"a.%d.exr", 7, "a.7.exr"},
        {"a.%i.exr", 12, "a.12.exr"},
        {"a.%010d.exr", 7, "a.0000000007.exr"},
        {"a.####.exr", 12345, "a.12345.exr"},
        {"a.####.exr", -7, "a.-0007.exr"},
        {"a.#.exr", 7, "a.7.exr"},
        {"a_@@@_b.png", 42, "a_042_b.png"},
        {"a%%_%02d.exr", 3, "a%_03.exr"},
        {"f#1/a%%[x].%03d.exr", 3, "f#1/a%[x].003.exr"},
        {"a.[1-20].exr", 3, "a.3.exr"},
        {"a.[0001-0020].exr", 3, "a.0003.exr"},
        {"a.[-5-5].exr", -3, "a.-3.exr"},
        {"a.[-10--5].exr", -7, "a.-7.exr"},
        {"a.[1-20x2].exr", 3, "a.3.exr"},
        {"a.[001-020:5].exr", 6, "a.006.exr"},
        {"plain.exr", 3, "plain.exr"},
        {"[notes].exr", 3, "[notes].exr"},
        {"a.%4d.exr", 0, NULL},
        {"a.%s.exr", 0, NULL},
        {"a.%x.exr", 0, NULL},
        {"a.%", 0, NULL},
        {"a.%04d.####.exr", 0, NULL},
        {"a.[20-1].exr", 0, NULL},
        {"a.[1-20x0].exr", 0, NULL},
        {"a.%099d.exr", 0, NULL},
    };

    (void)rng;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct hsio_pattern p;
        char name[2048];
        int result;

        io_log_clear();
        result = hsio_pattern_parse(&p, table[i].text, &io_log);
        REQUIRE_MSG(result == (table[i].name ? 0 : HS_ERR_INVALID), "%s gave %d", table[i].text,
                    result);
        REQUIRE_EQ(io_errors, table[i].name ? 0 : 1);
        if (result)
            continue;
        REQUIRE_EQ(hsio_pattern_format(&p, table[i].number, name, sizeof(name)), 0);
        REQUIRE_STR(name, table[i].name);
        REQUIRE_EQ(hsio_pattern_format(&p, table[i].number, name, strlen(name)), HS_ERR_INVALID);
    }
}

static void ranges(struct test_rng *rng)
{
    static const struct {
        const char *text;
        int64_t first, last, step; ///< step 0: refused.
    } table[] = {
        {"5", 5, 5, 1},       {"1-20", 1, 20, 1},
        {"1-20x3", 1, 20, 3}, {"-5--1", -5, -1, 1},
        {"-5-5x2", -5, 5, 2}, {"0010-0012", 10, 12, 1},
        {"", 0, 0, 0},        {"a", 0, 0, 0},
        {"1-", 0, 0, 0},      {"1-2x", 0, 0, 0},
        {"3-1", 0, 0, 0},     {"1-2x-1", 0, 0, 0},
        {"1 2", 0, 0, 0},     {"99999999999999999999", 0, 0, 0},
    };

    (void)rng;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        int64_t first = 0, last = 0, step = 0;
        const int result = hsio_range_parse(table[i].text, &first, &last, &step, &io_log);

        REQUIRE_MSG(result == (table[i].step ? 0 : HS_ERR_INVALID), "%s", table[i].text);
        REQUIRE(first == table[i].first && last == table[i].last && step == table[i].step);
    }
}

/* Makes a folder with tiny EXRs of these names. */
static const char *folder_with(const char *name, const char *const *files)
{
    static uint8_t *image;
    static size_t bytes;

    if (!image) {
        io_make_rgba(io_path("tiny.exr"), 2, 2, NULL);
        image = io_load(io_path("tiny.exr"), &bytes);
    }
    REQUIRE(!mkdir(io_path("%s", name), 0755));
    for (; *files; files++)
        io_store(io_path("%s/%s", name, *files), image, bytes);
    return io_path("%s", name);
}

static void expect(const char *location, const struct hsio_options *options, const char *numbers)
{
    struct hsio_sequence *seq = io_open(location, "raw", options);
    struct hsio_sequence_info info;
    char text[256] = "";

    hsio_sequence_info(seq, &info);
    for (int i = 0; i < info.frame_count; i++) {
        struct hsio_frame *frame = NULL;

        REQUIRE_EQ(hsio_frame_open(seq, i, &frame), 0);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%" PRId64 "%s%s",
                 i ? " " : "", hsio_sequence_number(seq, i),
                 hsio_frame_info(frame)->reset ? "r" : "", hsio_frame_info(frame)->held ? "h" : "");
        REQUIRE_EQ(hsio_frame_info(frame)->number, hsio_sequence_number(seq, i));
        hsio_frame_close(&frame);
    }
    hsio_sequence_close(&seq);
    REQUIRE_STR(text, numbers);
}

static void found_files(struct test_rng *rng)
{
    static const char *const padded[] = {"a.0998.exr",     "a.0999.exr", "a.1000.exr",
                                         "a.01001.exr",    "b.0001.exr", "a.exr",
                                         "a.0998.exr.bak", NULL};
    static const char *const grown[] = {"a.99.exr", "a.100.exr", "a.101.exr", NULL};
    static const char *const negative[] = {"s.-0002.exr", "s.-001.exr", "s.0000.exr", "s.0001.exr",
                                           NULL};
    static const char *const stepped[] = {"s_2.exr", "s_4.exr", "s_6.exr", "s_8.exr", NULL};
    char path[600];

    (void)rng;
    snprintf(path, sizeof(path), "%s/a.%%04d.exr", folder_with("padded", padded));
    expect(path, NULL, "998r 999 1000");
    snprintf(path, sizeof(path), "%s/a.##.exr", folder_with("grown", grown));
    expect(path, NULL, "99r 100 101");
    expect(io_path("grown/a.[99-101].exr"), NULL, "99r 100 101");
    expect(io_path("grown/a.[99-101x2].exr"), NULL, "99r 101");
    expect(io_path("padded/a.[998-999].exr"), NULL, "998r 999");
    snprintf(path, sizeof(path), "%s/s.####.exr", folder_with("negative", negative));
    expect(path, NULL, "-2r -1 0 1");
    expect(io_path("negative"), NULL, "-2r -1 0 1");
    expect(path, &(struct hsio_options){.has_range = true, .first = -1, .last = 1}, "-1r 0 1");
    snprintf(path, sizeof(path), "%s/s_%%d.exr", folder_with("stepped", stepped));
    expect(path, NULL, "2r 4 6 8");
    expect(path, &(struct hsio_options){.has_range = true, .first = 2, .last = 8, .step = 6},
           "2r 8");
    expect(io_path("stepped/s_6.exr"), NULL, "6r");
    expect(io_path("stepped/s_6.exr"), &(struct hsio_options){.expand_single = true}, "2r 4 6 8");
    // Other padding is no match, but a hint.
    REQUIRE_EQ(io_try(io_path("stepped/s_%%03d.exr"), "raw", NULL), HS_ERR_IO);
    REQUIRE(strstr(io_last[HS_LOG_ERROR], "there is") && strstr(io_last[HS_LOG_ERROR], "s_2.exr"));
    REQUIRE_EQ(
        io_try(path, "raw",
               &(struct hsio_options){.has_range = true, .first = 20, .last = 21, .missing = 1}),
        HS_ERR_IO);
    REQUIRE_EQ(
        io_try(path, "raw", &(struct hsio_options){.has_range = true, .first = 2, .last = 1}),
        HS_ERR_INVALID);
}

static void gaps(struct test_rng *rng)
{
    static const char *const files[] = {"g.1.exr", "g.2.exr", "g.5.exr",
                                        "g.6.exr", "g.8.exr", NULL};
    char path[600];

    (void)rng;
    snprintf(path, sizeof(path), "%s/g.%%d.exr", folder_with("gaps", files));
    io_log_clear();
    REQUIRE_EQ(io_try(path, "raw", NULL), HS_ERR_INVALID);
    REQUIRE_EQ(io_errors, 1);
    REQUIRE(strstr(io_last[HS_LOG_ERROR], "missing: 3 to 4, 7"));
    expect(path, &(struct hsio_options){.missing = HSIO_MISSING_SKIP}, "1r 2 5r 6 8r");
    expect(path, &(struct hsio_options){.missing = HSIO_MISSING_HOLD}, "1r 2 3h 4h 5r 6 7h 8r");
    REQUIRE(strstr(io_last[HS_LOG_WARN], "3 frames are missing"));
    expect(path, &(struct hsio_options){.has_range = true, .first = 5, .last = 6, .missing = 0},
           "5r 6");
    expect(path, &(struct hsio_options){.has_range = true, .first = 0, .last = 2, .missing = 2},
           "1r 2");
}

static void folders(struct test_rng *rng)
{
    static const char *const one[] = {"x_0001.exr", "x_0002.exr", "preview_01.png", "notes.exr",
                                      NULL};
    static const char *const two[] = {"x_0001.exr", "x_0002.exr", "y_0001.exr", NULL};
    static const char *const none[] = {"readme.txt", NULL};
    static const char json[] = "{\"frames\": [{\"frame\": 1, \"jitter\": [0.25, 0]},"
                               "{\"frame\": 2, \"reset\": true}]}";
    static const char pattern[] = "{\"pattern\": \"y_####.exr\", \"frames\": []}";
    struct hsio_sequence *seq;
    struct hsio_frame *frame = NULL;

    (void)rng;
    folder_with("one", one);
    folder_with("two", two);
    folder_with("none", none);
    expect(io_path("one"), NULL, "1r 2");
    expect(io_path("one/"), NULL, "1r 2");
    REQUIRE_EQ(io_try(io_path("two"), "raw", NULL), HS_ERR_INVALID);
    REQUIRE(strstr(io_last[HS_LOG_ERROR], "x_0") && strstr(io_last[HS_LOG_ERROR], "y_0"));
    REQUIRE_EQ(io_try(io_path("none"), "raw", NULL), HS_ERR_IO);
    // A description helps to choose, gives jitter and cuts, from the folder and beside a pattern.
    io_store(io_path("two/frames.json"), json, sizeof(json) - 1);
    expect(io_path("two"), NULL, "1r 2r");
    expect(io_path("two/x_####.exr"), NULL, "1r 2r");
    expect(io_path("two/x_####.exr"), &(struct hsio_options){.no_sidecar = true}, "1r 2");
    seq = io_open(io_path("two/frames.json"), "raw", NULL);
    REQUIRE_EQ(hsio_frame_open(seq, 0, &frame), 0);
    REQUIRE(hsio_frame_info(frame)->has_jitter);
    REQUIRE_NEAR(hsio_frame_info(frame)->jitter_px[0], 0.25, 0);
    hsio_frame_close(&frame);
    hsio_sequence_close(&seq);
    io_store(io_path("two/frames.json"), pattern, sizeof(pattern) - 1);
    expect(io_path("two"), NULL, "1r");
    // Another file takes its place.
    io_store(io_path("other.json"), json, sizeof(json) - 1);
    expect(io_path("two/x_####.exr"), &(struct hsio_options){.sidecar = io_path("other.json")},
           "1r 2r");
    expect(io_path("two"), &(struct hsio_options){.sidecar = io_path("other.json")}, "1r 2r");
    REQUIRE_EQ(
        io_try(io_path("two"), "raw", &(struct hsio_options){.sidecar = io_path("gone.json")}),
        HS_ERR_IO);
    io_store(io_path("two/frames.json"), "{", 1);
    REQUIRE_EQ(io_try(io_path("two/x_####.exr"), "raw", NULL), HS_ERR_FORMAT);
}

static void separate_files(struct test_rng *rng)
{
    static const char *const color[] = {"c.0001.exr", "c.0002.exr", NULL};
    static const struct io_channel rgb[] = {
        {"R", EXR_PIXEL_HALF, 0, 0}, {"G", EXR_PIXEL_HALF, 0, 0}, {"B", EXR_PIXEL_HALF, 0, 0}};
    const struct io_part p = {.data = {0, 0, 1, 1}, .channels = rgb, .channel_count = 3};
    struct hsio_options options = {0};
    struct hsio_sequence *seq;
    float *pixels;
    char pattern[600];

    (void)rng;
    folder_with("separate", color);
    io_make_exr(io_path("separate/mv_1.exr"), &p, 1, NULL);
    snprintf(pattern, sizeof(pattern), "%s/mv_%%d.exr", io_path("separate"));
    options.planes[HSIO_PLANE_MOTION] = options.planes[HSIO_PLANE_DEPTH] = pattern;
    options.has_range = true;
    options.first = options.last = 1;
    seq = io_open(io_path("separate/c.####.exr"), "raw", &options);
    pixels = io_read(seq, 0, HSIO_PLANE_MOTION, NULL);
    REQUIRE_NEAR(pixels[3], io_pixel(0, 1, 1, 0), 0);
    free(pixels);
    pixels = io_read(seq, 0, HSIO_PLANE_DEPTH, NULL);
    REQUIRE_NEAR(pixels[1], io_pixel(0, 0, 1, 0), 0);
    free(pixels);
    hsio_sequence_close(&seq);
    options.has_range = false;
    seq = io_open(io_path("separate/c.####.exr"), "raw", &options);
    {
        struct hsio_frame *frame = NULL;

        REQUIRE_EQ(hsio_frame_open(seq, 1, &frame), HS_ERR_IO);
        REQUIRE(strstr(io_last[HS_LOG_ERROR], "mv_2.exr"));
    }
    hsio_sequence_close(&seq);
}

static void resized(struct test_rng *rng)
{
    struct hsio_sequence *seq;
    struct hsio_frame *frame = NULL;

    (void)rng;
    REQUIRE(!mkdir(io_path("resized"), 0755));
    io_make_rgba(io_path("resized/r1.exr"), 4, 4, NULL);
    io_make_rgba(io_path("resized/r2.exr"), 5, 4, NULL);
    seq = io_open(io_path("resized"), "raw", NULL);
    REQUIRE_EQ(hsio_frame_open(seq, 0, &frame), 0);
    REQUIRE(!hsio_frame_info(frame)->resized);
    hsio_frame_close(&frame);
    REQUIRE_EQ(hsio_frame_open(seq, 1, &frame), 0);
    REQUIRE(hsio_frame_info(frame)->resized);
    REQUIRE_EQ(hsio_frame_info(frame)->width, 5);
    hsio_frame_close(&frame);
    hsio_sequence_close(&seq);
}

static const struct test_case cases[] = {
    {"parse", parse},     {"ranges", ranges},   {"found_files", found_files},
    {"gaps", gaps},       {"folders", folders}, {"separate_files", separate_files},
    {"resized", resized},
};
TEST_MAIN(cases)
