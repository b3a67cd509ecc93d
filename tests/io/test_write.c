// SPDX-License-Identifier: MIT
#include "io_test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define H EXR_PIXEL_HALF
#define F EXR_PIXEL_FLOAT
#define U EXR_PIXEL_UINT

static struct hsio_file_desc *describe(const char *path)
{
    struct hsio_file_desc *desc = NULL;
    const int result = hsio_file_describe(path, &io_log, &desc);

    REQUIRE_MSG(!result, "%s", io_last[HS_LOG_ERROR]);
    return desc;
}

static const char *channel_type(const struct hsio_file_desc *d, const char *name)
{
    for (int i = 0; i < d->parts[0].channel_count; i++) {
        if (!strcmp(d->parts[0].channels[i].name, name))
            return d->parts[0].channels[i].type;
    }
    return NULL;
}

static const char *attribute(const struct hsio_file_desc *d, const char *name)
{
    for (int i = 0; i < d->parts[0].attribute_count; i++) {
        if (!strcmp(d->parts[0].attributes[i].name, name))
            return d->parts[0].attributes[i].value;
    }
    return NULL;
}

static float *filled(int width, int height, int channels)
{
    float *data = malloc((size_t)(width * height * channels) * sizeof(*data));

    REQUIRE(data);
    for (int i = 0; i < width * height * channels; i++)
        data[i] = io_pixel(0, i % channels, i / channels % width, i / channels / width);
    return data;
}

static void plain(struct test_rng *rng)
{
    float *color = filled(21, 35, 4), *depth = filled(21, 35, 1), *motion = filled(21, 35, 2);
    const struct hsio_write_plane planes[] = {
        {.plane = HSIO_PLANE_COLOR, .format = HSIO_FORMAT_RGBA32F, .data = color},
        {.plane = HSIO_PLANE_DEPTH, .format = HSIO_FORMAT_R32F, .data = depth},
        {.plane = HSIO_PLANE_MOTION, .format = HSIO_FORMAT_RG32F, .data = motion},
    };
    const char *path = io_path("plain.exr");
    struct hsio_sequence *seq;
    struct hsio_file_desc *d;
    float *back;

    (void)rng;
    REQUIRE_EQ(hsio_write(path, 21, 35, planes, 3, NULL, &io_log), 0);
    REQUIRE_EQ(io_count(io_folder(), ".part"), 0);
    d = describe(path);
    REQUIRE_STR(d->parts[0].compression, "zip");
    REQUIRE_STR(channel_type(d, "R"), "half");
    REQUIRE_STR(channel_type(d, "depth.Z"), "float");
    REQUIRE_STR(channel_type(d, "motion.Y"), "float");
    hsio_file_desc_free(&d);
    seq = io_open(path, "raw", NULL);
    back = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
    REQUIRE_MEM(back, color, 21 * 35 * 16);
    free(back);
    back = io_read(seq, 0, HSIO_PLANE_DEPTH, NULL);
    REQUIRE_MEM(back, depth, 21 * 35 * 4);
    free(back);
    back = io_read(seq, 0, HSIO_PLANE_MOTION, NULL);
    REQUIRE_MEM(back, motion, 21 * 35 * 8);
    free(back);
    hsio_sequence_close(&seq);
    free(color);
    free(depth);
    free(motion);
}

static void every_plane_reads_back(struct test_rng *rng)
{
    const char *path = io_path("all.exr");
    struct hsio_write_plane planes[HSIO_PLANE_COUNT];
    struct hsio_sequence *seq;
    float *data = filled(5, 4, 4), *back;

    (void)rng;
    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        const int channels = hsio_plane_channels((enum hsio_plane)i);

        planes[i] = (struct hsio_write_plane){
            .plane = (enum hsio_plane)i,
            .format = channels == 4   ? HSIO_FORMAT_RGBA32F
                      : channels == 2 ? HSIO_FORMAT_RG32F
                                      : HSIO_FORMAT_R32F,
            .data = data,
        };
    }
    // EXPOSURE has no channels in the raw preset.
    REQUIRE_EQ(hsio_write(path, 5, 4, planes, HSIO_PLANE_COUNT, NULL, &io_log), 0);
    seq = io_open(path, "raw", NULL);
    for (int i = 0; i < HSIO_PLANE_EXPOSURE; i++) {
        const int channels = hsio_plane_channels((enum hsio_plane)i);

        back = io_read(seq, 0, (enum hsio_plane)i, NULL);
        for (int k = 0; k < 5 * 4 * channels; k++) {
            if (channels < 4 || k % 4 < 3)
                REQUIRE_NEAR(back[k], data[k], 0);
        }
        free(back);
    }
    hsio_sequence_close(&seq);
    free(data);
}

static void half_is_cut(struct test_rng *rng)
{
    const float in[8] = {1e10f, -1e10f, NAN, 1, INFINITY, -INFINITY, 65519, 1};
    const struct hsio_write_plane plane = {.format = HSIO_FORMAT_RGBA32F, .data = in};
    const struct hsio_write_options wide = {.store_float = true};
    const char *path = io_path("cut.exr");
    struct hsio_sequence *seq;
    float *out;

    (void)rng;
    REQUIRE_EQ(hsio_write(path, 2, 1, &plane, 1, NULL, &io_log), 0);
    seq = io_open(path, "raw", NULL);
    out = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
    REQUIRE(out[0] == 65504 && out[1] == -65504 && isnan(out[2]) && out[3] == 1);
    REQUIRE(out[4] == 65504 && out[5] == -65504 && out[6] == 65504);
    free(out);
    hsio_sequence_close(&seq);

    REQUIRE_EQ(hsio_write(path, 2, 1, &plane, 1, &wide, &io_log), 0);
    seq = io_open(path, "raw", NULL);
    out = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
    REQUIRE_MEM(out, in, sizeof(in));
    free(out);
    hsio_sequence_close(&seq);
}

static void add_attributes(exr_context_t context, int part)
{
    const exr_attr_m44f_t m = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 2, 3, 4, 1}};
    const exr_attr_chromaticities_t c = {0.64f, 0.33f, 0.3f, 0.6f, 0.15f, 0.06f, 0.3127f, 0.329f};
    const exr_attr_timecode_t t = {0x01020304u, 7};
    const exr_attr_rational_t r = {24000, 1001};
    const exr_attr_v2f_t v = {{{1.5f, -2}}};
    const char *views[] = {"left", "right"};
    const uint8_t opaque[3] = {1, 2, 3};

    REQUIRE_EQ(exr_attr_set_string(context, part, "owner", "somebody"), 0);
    REQUIRE_EQ(exr_attr_set_string(context, part, "BlenderMultiChannel", "Blender V2.55.1"), 0);
    REQUIRE_EQ(exr_attr_set_string(context, part, "cycles.ViewLayer.synchronization_time", "1"), 0);
    REQUIRE_EQ(exr_attr_set_m44f(context, part, "worldToCamera", &m), 0);
    REQUIRE_EQ(exr_attr_set_chromaticities(context, part, "chromaticities", &c), 0);
    REQUIRE_EQ(exr_attr_set_timecode(context, part, "timeCode", &t), 0);
    REQUIRE_EQ(exr_attr_set_rational(context, part, "framesPerSecond", &r), 0);
    REQUIRE_EQ(exr_attr_set_float(context, part, "exposureTime", 0.25f), 0);
    REQUIRE_EQ(exr_attr_set_int(context, part, "shot", -7), 0);
    REQUIRE_EQ(exr_attr_set_double(context, part, "exact", 0.5), 0);
    REQUIRE_EQ(exr_attr_set_v2f(context, part, "shift", &v), 0);
    REQUIRE_EQ(exr_attr_set_string_vector(context, part, "notes", 2, views), 0);
    REQUIRE_EQ(exr_attr_set_user(context, part, "studio", "studioType", 3, opaque), 0);
}

/* A Blender-like file with windows that differ and attributes. */
static const struct io_channel source_channels[] = {
    {"V.Combined.R", H, 0, 0}, {"V.Combined.G", H, 0, 0},      {"V.Combined.B", H, 0, 0},
    {"V.Combined.A", H, 0, 0}, {"V.Depth.Z", F, 0, 0},         {"V.Vector.X", F, 0, 0},
    {"V.Vector.Y", F, 0, 0},   {"V.IndexOB.X", U, 0, 0},       {"V.Mist.Z", H, 0, 0},
    {"V.DiffCol.R", H, 0, 0},  {"V.CryptoObject00.r", F, 0, 0}};

static void make_source(const char *path)
{
    const struct io_part p = {
        .data = {-3, 2, 8, 9},
        .display = {-1, 0, 10, 11},
        .compression = EXR_COMPRESSION_ZIP,
        .channels = source_channels,
        .channel_count = 11,
        .attributes = add_attributes,
    };

    io_make_exr(path, &p, 1, NULL);
}

static void carried_over(struct test_rng *rng)
{
    const char *in = io_path("source.exr"), *out = io_path("carried.exr");
    float *color = filled(24, 36, 4), *back;
    const struct hsio_write_plane plane = {.format = HSIO_FORMAT_RGBA32F, .data = color};
    const struct hsio_attribute extra[] = {{"hindsight.model", "test"}};
    const struct hsio_passthrough pass[] = {{"*.Vector.*", HSIO_RESAMPLE_LINEAR, 2}, {"*", 0, 0}};
    struct hsio_write_options options = {
        .attributes = extra,
        .attribute_count = 1,
        .passthrough = pass,
        .passthrough_count = 2,
    };
    struct hsio_sequence *seq;
    struct hsio_frame *frame = NULL;
    struct hsio_file_desc *d;

    (void)rng;
    make_source(in);
    seq = io_open(in, "auto", NULL);
    REQUIRE_EQ(hsio_frame_open(seq, 0, &frame), 0);
    options.source = frame;
    REQUIRE_EQ(hsio_write(out, 24, 36, &plane, 1, &options, &io_log), 0);
    hsio_frame_close(&frame);
    hsio_sequence_close(&seq);

    d = describe(out);
    // 12x12 to 24x36: display from -1,0 and data from display + (-2, 2) * scale, cut to it.
    REQUIRE_EQ(d->parts[0].display.min_x, -2);
    REQUIRE_EQ(d->parts[0].display.min_y, 0);
    REQUIRE_EQ(d->parts[0].display.max_x, 21);
    REQUIRE_EQ(d->parts[0].display.max_y, 35);
    REQUIRE_EQ(d->parts[0].data.min_x, -2);
    REQUIRE_EQ(d->parts[0].data.min_y, 6);
    REQUIRE_EQ(d->parts[0].data.max_x, 17);
    REQUIRE_EQ(d->parts[0].data.max_y, 29);
    REQUIRE_STR(channel_type(d, "V.Combined.A"), "half");
    REQUIRE_STR(channel_type(d, "V.Depth.Z"), "float");
    REQUIRE_STR(channel_type(d, "V.IndexOB.X"), "uint");
    REQUIRE_STR(channel_type(d, "V.Mist.Z"), "half");
    REQUIRE_EQ(d->parts[0].channel_count, 11);
    REQUIRE_STR(attribute(d, "owner"), "somebody");
    REQUIRE_STR(attribute(d, "BlenderMultiChannel"), "Blender V2.55.1");
    REQUIRE_STR(attribute(d, "cycles.ViewLayer.synchronization_time"), "1");
    REQUIRE_STR(attribute(d, "worldToCamera"), "1 0 0 0 0 1 0 0 0 0 1 0 2 3 4 1");
    REQUIRE_STR(attribute(d, "chromaticities"), "0.64 0.33 0.3 0.6 0.15 0.06 0.3127 0.329");
    REQUIRE_STR(attribute(d, "timeCode"), "01:02:03:04");
    REQUIRE_STR(attribute(d, "framesPerSecond"), "24000/1001");
    REQUIRE_STR(attribute(d, "exposureTime"), "0.25");
    REQUIRE_STR(attribute(d, "shot"), "-7");
    REQUIRE_STR(attribute(d, "exact"), "0.5");
    REQUIRE_STR(attribute(d, "shift"), "1.5 -2");
    REQUIRE_STR(attribute(d, "notes"), "left, right");
    REQUIRE(attribute(d, "studio"));
    REQUIRE_STR(attribute(d, "hindsight.model"), "test");
    REQUIRE_NEAR(atof(attribute(d, "pixelAspectRatio")), 1.5, 1e-6);
    hsio_file_desc_free(&d);

    seq = io_open(out, "auto", NULL);
    REQUIRE_STR(hsio_sequence_convention(seq)->preset, "blender");
    back = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
    for (int i = 0; i < 24 * 36; i++) {
        const int x = i % 24, y = i / 24;
        const bool inside = x <= 19 && y >= 6 && y <= 29;

        REQUIRE_NEAR(back[i * 4 + 1], inside ? color[i * 4 + 1] : 0, 0);
    }
    free(back);
    // Depth is picked, not blended: output pixel 5,7 lies in source pixel 2,2 of the display.
    back = io_read(seq, 0, HSIO_PLANE_DEPTH, NULL);
    REQUIRE_NEAR(back[7 * 24 + 5], io_pixel(0, 4, 1, 2), 0);
    free(back);
    back = io_read(seq, 0, HSIO_PLANE_MOTION, NULL);
    // Row 10 is centred on source row 3; column 5 is a quarter towards source column 3.
    REQUIRE_NEAR(back[(10 * 24 + 5) * 2],
                 2 * (0.75f * io_pixel(0, 5, 1, 3) + 0.25f * io_pixel(0, 5, 2, 3)), 1e-5);
    free(back);
    hsio_sequence_close(&seq);
    free(color);
}

static void carried_ids(struct test_rng *rng)
{
    const char *in = io_path("source.exr"), *out = io_path("ids.exr");
    float *color = filled(24, 24, 4), *back;
    const struct hsio_write_plane plane = {.format = HSIO_FORMAT_RGBA32F, .data = color};
    const struct hsio_passthrough pass[] = {{"*.IndexOB.*", 0, 0}, {"*Crypto*", 0, 0}};
    struct hsio_write_options options = {.passthrough = pass, .passthrough_count = 2};
    struct hsio_convention conv;
    struct hsio_sequence *seq;
    struct hsio_frame *frame = NULL;

    (void)rng;
    make_source(in);
    seq = io_open(in, "auto", NULL);
    REQUIRE_EQ(hsio_frame_open(seq, 0, &frame), 0);
    options.source = frame;
    REQUIRE_EQ(hsio_write(out, 24, 24, &plane, 1, &options, &io_log), 0);
    hsio_frame_close(&frame);
    hsio_sequence_close(&seq);
    REQUIRE_EQ(hsio_convention_preset(&conv, "auto", &io_log), 0);
    REQUIRE_EQ(hsio_convention_set(&conv, "depth.channels", "*.IndexOB.X", &io_log), 0);
    REQUIRE_EQ(hsio_convention_set(&conv, "reactive.channels", "*.CryptoObject00.r", &io_log), 0);
    REQUIRE_EQ(hsio_sequence_open(out, &conv, NULL, &io_log, &seq), 0);
    back = io_read(seq, 0, HSIO_PLANE_DEPTH, NULL);
    for (int y = 4; y < 20; y++) {
        for (int x = 0; x < 20; x++)
            REQUIRE_NEAR(back[y * 24 + x],
                         (float)(uint32_t)(io_pixel(0, 7, x / 2 - 1, y / 2) * 100), 0);
    }
    free(back);
    back = io_read(seq, 0, HSIO_PLANE_REACTIVE, NULL);
    REQUIRE_NEAR(back[9 * 24 + 9], io_pixel(0, 10, 3, 4), 0);
    free(back);
    hsio_sequence_close(&seq);
    free(color);
}

static void overscan(struct test_rng *rng)
{
    const struct hsio_options data_window = {.window = HSIO_WINDOW_DATA};
    const char *in = io_path("source.exr"), *out = io_path("overscan.exr");
    float *color = filled(36, 24, 4), *back;
    const struct hsio_write_plane plane = {.format = HSIO_FORMAT_RGBA32F, .data = color};
    struct hsio_write_options options = {0};
    struct hsio_sequence *seq;
    struct hsio_frame *frame = NULL;
    struct hsio_file_desc *d;

    (void)rng;
    make_source(in);
    seq = io_open(in, "auto", &data_window);
    REQUIRE_EQ(hsio_frame_open(seq, 0, &frame), 0);
    options.source = frame;
    REQUIRE_EQ(hsio_write(out, 36, 24, &plane, 1, &options, &io_log), 0); // 12x8 by 3.
    hsio_frame_close(&frame);
    hsio_sequence_close(&seq);
    d = describe(out);
    REQUIRE_EQ(d->parts[0].data.min_x, -9);
    REQUIRE_EQ(d->parts[0].data.max_x, 26);
    REQUIRE_EQ(d->parts[0].data.min_y, 6);
    REQUIRE_EQ(d->parts[0].data.max_y, 29);
    REQUIRE_EQ(d->parts[0].display.min_x, -3);
    REQUIRE_EQ(d->parts[0].display.max_x, 32);
    REQUIRE_EQ(d->parts[0].display.min_y, 0);
    REQUIRE_EQ(d->parts[0].display.max_y, 35);
    hsio_file_desc_free(&d);
    seq = io_open(out, "auto", &data_window);
    back = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
    REQUIRE_MEM(back, color, 36 * 24 * 16);
    free(back);
    hsio_sequence_close(&seq);
    free(color);
}

static void row_pitch(struct test_rng *rng)
{
    float *color = filled(10, 6, 4), *back;
    const struct hsio_write_plane plane = {
        .format = HSIO_FORMAT_RGBA32F,
        .data = color,
        .row_bytes = 160,
        .channels = "beauty.R,beauty.G,beauty.B",
        .store_float = true,
    };
    struct hsio_sequence *seq;

    (void)rng;
    REQUIRE_EQ(hsio_write(io_path("pitch.exr"), 7, 6, &plane, 1, NULL, &io_log), 0);
    seq = io_open(io_path("pitch.exr"), "raw", NULL);
    back = io_read(seq, 0, HSIO_PLANE_COLOR, NULL);
    for (int i = 0; i < 42; i++)
        REQUIRE_NEAR(back[i * 4 + 2], color[(i / 7 * 10 + i % 7) * 4 + 2], 0);
    free(back);
    hsio_sequence_close(&seq);
    free(color);
}

static void raw_files(struct test_rng *rng)
{
    float *color = filled(4, 3, 4);
    const struct hsio_write_plane plane = {.format = HSIO_FORMAT_RGBA32F, .data = color};
    size_t bytes;
    uint8_t *back;

    (void)rng;
    REQUIRE_EQ(hsio_write(io_path("c.rgba32f"), 4, 3, &plane, 1, NULL, &io_log), 0);
    back = io_load(io_path("c.rgba32f"), &bytes);
    REQUIRE_EQ(bytes, 4 * 3 * 16);
    REQUIRE_MEM(back, color, bytes);
    free(back);
    REQUIRE_EQ(hsio_write(io_path("c.rgba16f"), 4, 3, &plane, 1, NULL, &io_log), HS_ERR_INVALID);
    REQUIRE_EQ(hsio_write(io_path("c.tiff"), 4, 3, &plane, 1, NULL, &io_log), HS_ERR_INVALID);
    free(color);
}

static void all_or_nothing(struct test_rng *rng)
{
    static const char *const names[] = {"file.exr", "file.png", "file.rgba32f"};
    float color[4] = {1, 1, 1, 1};
    const struct hsio_write_plane plane = {.format = HSIO_FORMAT_RGBA32F, .data = color};
    const struct hsio_write_plane bad = {
        .format = HSIO_FORMAT_RGBA32F, .data = color, .channels = "a,,b"};
    char path[600];

    (void)rng;
    REQUIRE(!mkdir(io_path("folder"), 0755));
    REQUIRE(!mkdir(io_path("folder/file.exr"), 0755));
    REQUIRE(!mkdir(io_path("folder/file.png"), 0755));
    REQUIRE(!mkdir(io_path("folder/file.rgba32f"), 0755));
    for (int i = 0; i < 3; i++) {
        // A folder in the way, no folder at all, a folder that takes no files.
        snprintf(path, sizeof(path), "%s/%s", io_path("folder"), names[i]);
        io_log_clear();
        REQUIRE_EQ(hsio_write(path, 1, 1, &plane, 1, NULL, &io_log), HS_ERR_IO);
        REQUIRE_EQ(io_errors, 1);
        snprintf(path, sizeof(path), "%s/%s", io_path("absent"), names[i]);
        REQUIRE_EQ(hsio_write(path, 1, 1, &plane, 1, NULL, &io_log), HS_ERR_IO);
        REQUIRE_EQ(io_errors, 2);
        if (access("/proc/self", F_OK) == 0) {
            snprintf(path, sizeof(path), "/proc/self/%s", names[i]);
            REQUIRE_EQ(hsio_write(path, 1, 1, &plane, 1, NULL, &io_log), HS_ERR_IO);
        }
    }
    REQUIRE_EQ(io_count(io_path("folder"), ".part"), 0);
    // A failed write leaves the old file.
    io_store(io_path("old.exr"), "old", 3);
    REQUIRE_EQ(hsio_write(io_path("old.exr"), 1, 1, &bad, 1, NULL, &io_log), HS_ERR_INVALID);
    {
        size_t bytes;
        uint8_t *data = io_load(io_path("old.exr"), &bytes);

        REQUIRE(bytes == 3 && !memcmp(data, "old", 3));
        free(data);
    }
    REQUIRE_EQ(hsio_write(io_path("old.exr"), 1, 1, &plane, 1, NULL, &io_log), 0);
    REQUIRE_EQ(io_try(io_path("old.exr"), "raw", NULL), 0);
    REQUIRE_EQ(hsio_write(io_path("no.exr"), 70000, 1, &plane, 1, NULL, &io_log), HS_ERR_INVALID);
    REQUIRE_EQ(hsio_write(io_path("no.exr"), 1, 1, &plane, 0, NULL, &io_log), HS_ERR_INVALID);
}

/* A limit on the file size fails like a full disk. */
static void full_disk(struct test_rng *rng)
{
    static const char *const names[] = {"full.exr", "full.png", "full.rgba32f"};
    struct rlimit old, small;
    float *color = malloc(64 * 64 * 16);
    const struct hsio_write_plane plane = {.format = HSIO_FORMAT_RGBA32F, .data = color};

    REQUIRE(color);
    for (int i = 0; i < 64 * 64 * 4; i++)
        color[i] = test_rng_float(rng, 0, 1);
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(!getrlimit(RLIMIT_FSIZE, &old));
    for (int i = 0; i < 3; i++) {
        for (rlim_t limit = 0; limit < 8000; limit += 1111) {
            int result;

            small = (struct rlimit){limit, old.rlim_max};
            REQUIRE(!setrlimit(RLIMIT_FSIZE, &small));
            io_log_clear();
            result = hsio_write(io_path("%s", names[i]), 64, 64, &plane, 1, NULL, &io_log);
            REQUIRE(!setrlimit(RLIMIT_FSIZE, &old));
            REQUIRE_EQ(result, HS_ERR_IO);
            REQUIRE_MSG(io_errors == 1 && strstr(io_last[HS_LOG_ERROR], names[i]), "%d: %s",
                        io_errors, io_last[HS_LOG_ERROR]);
            REQUIRE_EQ(io_count(io_folder(), "full"), 0);
        }
    }
    free(color);
}

static const struct test_case cases[] = {
    {"plain", plain},
    {"every_plane_reads_back", every_plane_reads_back},
    {"half_is_cut", half_is_cut},
    {"carried_over", carried_over},
    {"carried_ids", carried_ids},
    {"overscan", overscan},
    {"row_pitch", row_pitch},
    {"raw_files", raw_files},
    {"all_or_nothing", all_or_nothing},
    {"full_disk", full_disk},
};
TEST_MAIN(cases)
