// SPDX-License-Identifier: MIT
/** Every allocation of the library fails once: HS_ERR_NOMEM, nothing leaks, nothing half done.
 * The linker hands the library's calls to the functions below. */
#include "io_test.h"

#include <locale.h>
#include <sys/stat.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
locale_t __real_newlocale(int mask, const char *name, locale_t base);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
locale_t __wrap_newlocale(int mask, const char *name, locale_t base);

static int countdown = -1; ///< Allocations until the one that fails; negative: none does.

static bool no_locale; ///< newlocale() fails.

static bool fails(void)
{
    return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __real_realloc(old, bytes);
}

locale_t __wrap_newlocale(int mask, const char *name, locale_t base)
{
    return no_locale ? (locale_t)0 : __real_newlocale(mask, name, base);
}

static const char *location;

static int open_sequence(void)
{
    struct hsio_sequence *seq = NULL;
    const int result = hsio_sequence_open(location, NULL, NULL, &io_log, &seq);

    REQUIRE_EQ(!seq, result != 0);
    countdown = -1;
    hsio_sequence_close(&seq);
    return result;
}

static int describe_file(void)
{
    struct hsio_file_desc *desc = NULL;
    const int result = hsio_file_describe(location, &io_log, &desc);

    REQUIRE_EQ(!desc, result != 0);
    hsio_file_desc_free(&desc);
    return result;
}

static int check_file(void)
{
    return hsio_file_check(location, &io_log);
}

static struct hsio_sequence *open_now;

static int describe_frame(void)
{
    struct hsio_file_desc **descs = NULL;
    int count = 0;
    const int result = hsio_sequence_describe(open_now, 0, &descs, &count);

    hsio_sequence_descriptions_free(&descs, count);
    return result;
}

static int open_frame(void)
{
    struct hsio_frame *frame = NULL;
    const int result = hsio_frame_open(open_now, 0, &frame);

    REQUIRE_EQ(!frame, result != 0);
    hsio_frame_close(&frame);
    return result;
}

static struct hsio_frame *frame_now;

static int read_frame(void)
{
    static uint8_t buffer[16 * 16 * 16];
    static struct hsio_plane_stats stats;
    const struct hsio_plane_request request = {.plane = HSIO_PLANE_COLOR,
                                               .buffer = buffer,
                                               .buffer_bytes = sizeof(buffer),
                                               .stats = &stats};

    return hsio_frame_read(frame_now, &request, 1);
}

static int read_layers(void)
{
    static uint8_t buffer[16 * 16 * 16];
    const struct hsio_layer_request request = {"layer", HSIO_FORMAT_RGBA16F, buffer,
                                               sizeof(buffer)};

    return hsio_frame_read_layers(frame_now, &request, 1);
}

static bool canonical; ///< Of mend_frame().

/* The frame is opened first, undisturbed. */
static int mend_frame(void)
{
    const int wanted = countdown;
    struct hsio_mended mended;
    struct hsio_frame *frame = NULL;
    int result;

    countdown = -1;
    REQUIRE_EQ(hsio_frame_open(open_now, 1, &frame), 0);
    countdown = wanted;
    result = canonical ? hsio_frame_canonical(frame, &mended) : hsio_frame_mend(frame, &mended);
    countdown = -1;
    hsio_frame_close(&frame);
    return result;
}

static int write_file(void)
{
    static float pixels[8 * 8 * 4];
    const struct hsio_passthrough pass = {.pattern = "*"};
    const struct hsio_write_plane plane = {.format = HSIO_FORMAT_RGBA32F, .data = pixels};
    const struct hsio_write_options options = {
        .source = frame_now, .passthrough = &pass, .passthrough_count = 1};

    return hsio_write(location, 8, 8, &plane, 1, &options, &io_log);
}

static int write_text(void)
{
    return hsio_write_text(location, "text", 4, &io_log);
}

/* Fails the first allocation, then the second, and so on until all succeed. */
static void exhaust(const char *what, int (*call)(void))
{
    int n = 0, result = HS_ERR_NOMEM;

    for (; n < 1000 && result; n++) {
        countdown = n;
        result = call();
        countdown = -1;
        REQUIRE_MSG(result == 0 || result == HS_ERR_NOMEM, "%s: allocation %d gave %d: %s", what, n,
                    result, io_last[HS_LOG_ERROR]);
    }
    REQUIRE(n > 1 && !result);
    printf("%s: %d allocations\n", what, n - 1);
}

static void exr(struct test_rng *rng)
{
    static const struct io_channel channels[] = {{"Y", EXR_PIXEL_HALF, 1, 1},
                                                 {"RY", EXR_PIXEL_HALF, 2, 2},
                                                 {"BY", EXR_PIXEL_HALF, 2, 2},
                                                 {"Z", EXR_PIXEL_FLOAT, 1, 1},
                                                 {"layer.R", EXR_PIXEL_HALF, 1, 1}};
    const struct io_part p = {.data = {0, 0, 7, 7}, .channels = channels, .channel_count = 5};

    (void)rng;
    location = io_path("m_1.exr");
    io_make_exr(location, &p, 1, NULL);
    exhaust("describe", describe_file);
    exhaust("check", check_file);
    exhaust("open", open_sequence);
    open_now = io_open(location, "raw", NULL);
    exhaust("describe frame", describe_frame);
    exhaust("open frame", open_frame);
    REQUIRE_EQ(hsio_frame_open(open_now, 0, &frame_now), 0);
    exhaust("read", read_frame);
    exhaust("read layers", read_layers);
    location = io_path("out.exr");
    exhaust("write", write_file);
    REQUIRE_EQ(io_count(io_folder(), ".part"), 0);
    hsio_frame_close(&frame_now);
    hsio_sequence_close(&open_now);
}

static void png_and_raw(struct test_rng *rng)
{
    static const char json[] = "{\"render\": [8, 8], \"frames\": [{\"color\": \"c.rgba32f\", "
                               "\"convention\": {\"motion.sign_x\": -1}}]}";

    (void)rng;
    location = io_path("c.png");
    exhaust("write png", write_file);
    exhaust("open png", open_sequence);
    open_now = io_open(location, "raw", NULL);
    REQUIRE_EQ(hsio_frame_open(open_now, 0, &frame_now), 0);
    exhaust("read png", read_frame);
    hsio_frame_close(&frame_now);
    hsio_sequence_close(&open_now);

    location = io_path("c.rgba32f");
    exhaust("write raw", write_file);
    location = io_path("text.txt");
    exhaust("write text", write_text);
    location = io_path("nowhere/text.txt");
    REQUIRE_EQ(write_text(), HS_ERR_IO);
    location = io_path("c.json");
    io_store(location, json, sizeof(json) - 1);
    exhaust("open json", open_sequence);
    open_now = io_open(location, "raw", NULL);
    exhaust("describe raw", describe_frame);
    REQUIRE_EQ(hsio_frame_open(open_now, 0, &frame_now), 0);
    exhaust("read raw", read_frame);
    hsio_frame_close(&frame_now);
    hsio_sequence_close(&open_now);
}

static void store_flow(const char *name, int channels)
{
    float file[3 + 16 * 16 * 2] = {202021.25f};
    const int32_t size[2] = {16, 16};

    memcpy(file + 1, size, sizeof(size));
    for (int i = 0; i < 16 * 16 * channels; i++)
        file[3 + i] = i < 32 ? 2e9f : 1;
    io_store(io_path("%s", name), file, (3 + 16 * 16 * (size_t)channels) * sizeof(float));
}

static void mending(struct test_rng *rng)
{
    static const char *const directions[] = {"prev", "next"};

    (void)rng;
    for (int i = 1; i < 3; i++) {
        char name[16];

        io_make_rgba(io_path("s.%d.exr", i), 16, 16, NULL);
        snprintf(name, sizeof(name), "s.%d.flo", i);
        store_flow(name, 2);
        snprintf(name, sizeof(name), "s.%d.dpt", i);
        store_flow(name, 1);
    }
    for (int i = 0; i < 2; i++) {
        const struct hsio_options options = {.planes = {[HSIO_PLANE_MOTION] = io_path("s.%%d.flo"),
                                                        [HSIO_PLANE_DEPTH] = io_path("s.%%d.dpt")}};
        struct hsio_convention conv;

        REQUIRE_EQ(hsio_convention_preset(&conv, "sintel", &io_log), 0);
        REQUIRE_EQ(hsio_convention_set(&conv, "motion.direction", directions[i], &io_log), 0);
        REQUIRE_EQ(hsio_sequence_open(io_path("s.%%d.exr"), &conv, &options, &io_log, &open_now),
                   0);
        for (int k = 0; k < 2; k++) {
            canonical = k;
            exhaust("mend", mend_frame);
        }
        hsio_sequence_close(&open_now);
    }
}

static void folder(struct test_rng *rng)
{
    (void)rng;
    REQUIRE(!mkdir(io_path("f"), 0755));
    io_make_rgba(io_path("f/a_1.exr"), 2, 2, NULL);
    io_make_rgba(io_path("f/a_2.exr"), 2, 2, NULL);
    io_store(io_path("f/frames.json"), "{\"frames\": [{\"frame\": 1}]}", 26);
    location = io_path("f");
    exhaust("open folder", open_sequence);
    location = io_path("f/a_%%d.exr");
    exhaust("open pattern", open_sequence);
}

static void numbers(struct test_rng *rng)
{
    double value = 0;

    (void)rng;
    no_locale = true;
    REQUIRE_EQ(hsio_numbers_parse("1", &value, 1), HS_ERR_NOMEM);
    no_locale = false;
    REQUIRE_EQ(hsio_numbers_parse("1", &value, 1), 1);
}

static const struct test_case cases[] = {
    {"numbers", numbers}, {"exr", exr},       {"png_and_raw", png_and_raw},
    {"mending", mending}, {"folder", folder},
};
TEST_MAIN(cases)
