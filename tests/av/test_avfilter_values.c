// SPDX-License-Identifier: MIT
// Values of single frames, from metadata and from the file.
#include "rig.h"

#include <locale.h>

#include <libavutil/opt.h>

#include "tests/test.h"

/** Values of frames from the file, found by time. */
static void values_from_a_file(struct test_rng *rng)
{
    char path[RIG_PATH_BYTES], options[64], no_line[64];
    struct hs_avfilter_format format;
    struct hs_avfilter *filters[2];
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    rig_text_file("time=0;jitter=0.25 -0.5;exposure=2\n"
                  "time=0.0833;jitter=-0.5 0.125;exposure=2\n",
                  path);
    // Messages are for people, and follow the locale.
    snprintf(no_line, sizeof(no_line), "no line for the frame at %.6f s", 1. / 6);
    snprintf(options, sizeof(options), "frames=%s", path);
    filters[0] = rig_filter(&rig, options);
    filters[1] = rig_filter(&rig, "");
    remove(path);
    for (int time = 0; time <= 4; time += 2) {
        AVFrame *colour = rig_colour(AV_PIX_FMT_GBRAPF32, RENDER_W, RENDER_H, time);
        const AVFrame *inputs[HS_AVFILTER_INPUTS] = {colour};
        AVFrame *outs[2] = {av_frame_alloc(), av_frame_alloc()};

        for (int i = 0; i < 2; i++) {
            if (time == 0)
                REQUIRE_EQ(rig_configure(filters[i], colour, AV_PIX_FMT_NONE, &format), 0);
            if (i == 1) {
                av_dict_set(&colour->metadata, "hindsight.jitter",
                            time == 0 ? "0.25 -0.5" : "-0.5 0.125", 0);
                av_dict_set(&colour->metadata, "hindsight.exposure", "2", 0);
            }
            if (time == 4 && i == 0)
                REQUIRE_ERROR(hs_avfilter_run(filters[i], inputs, outs[i]), AVERROR(EINVAL),
                              no_line);
            else
                REQUIRE_EQ(hs_avfilter_run(filters[i], inputs, outs[i]), 0);
        }
        if (time < 4)
            rig_require_same(outs[0], outs[1]);
        av_frame_free(&colour);
        av_frame_free(&outs[0]);
        av_frame_free(&outs[1]);
    }
    hs_avfilter_free(&filters[0]);
    hs_avfilter_free(&filters[1]);
    rig_close(&rig);
}

#define ROWS "1 0 0 0 0 1 0 0 0 0 1 0 "
#define UNIT ROWS "0 0 0 1"

static const struct {
    const char *key, *value;
    bool good;
} values[] = {
    {"number", "-3", true},
    {"number", "1.5", false},
    {"number", "nan", false},
    {"number", "1e19", false},
    {"reset", "0", true},
    {"reset", "nan", false},
    {"reset", "yes", false},
    {"held", "1", true},
    {"held", "inf", false},
    {"jitter", "0.25 -1", true},
    {"jitter", "0.25\t.5 ", true},
    {"jitter", "0.25", false},
    {"jitter", "0 0 0", false},
    {"jitter", "nan 0", false},
    {"jitter", "left", false},
    {"jitter", "0 1.1", false},
    {"jitter", "-1.1 0", false},
    {"jitter", "0,25 0", false},
    {"jitter", "1-1", false},
    {"exposure", "1e-3", true},
    {"exposure", "0", false},
    {"exposure", "-1", false},
    {"exposure", "inf", false},
    {"exposure", "1e39", false},
    {"exposure", "1e-60", false},
    {"exposure", "1k", false},
    {"sharpness", "1", true},
    {"sharpness", "1.1", false},
    {"sharpness", "-0.1", false},
    {"sharpness", "nan", false},
    {"clip", "0.1 100", true},
    {"clip", "0.1 inf", true},
    {"clip", "0 100", false},
    {"clip", "-0.1 100", false},
    {"clip", "1 1", false},
    {"clip", "2 1", false},
    {"clip", "inf inf", false},
    {"clip", "0.1 -inf", false},
    {"clip", "0.1 nan", false},
    {"clip", "0.1", false},
    {"view", UNIT, true},
    {"view", ROWS "0 0 0", false},
    {"view", UNIT " 0", false},
    {"view", ROWS "0 0 0 nan", false},
    {"view", "1 0 0 0 0 1 0 0 1 1 0 0 0 0 0 1", false},
    {"proj", UNIT, true},
    {"proj", "0 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1", false},
    {"proj", "1 0 0 0 0 inf 0 0 0 0 1 0 0 0 0 1", false},
    {"size", "3", false},
};

/** A message names the frame, the key, what was expected and what was found. */
static void check_said(int err, bool good, const char *where, const char *value)
{
    const struct said said = rig_said();
    char found[128];

    snprintf(found, sizeof(found), "found \"%s\"", value);
    REQUIRE_MSG(err == (good ? 0 : AVERROR(EINVAL)), "%s%s gave %d: %s", where, value, err,
                said.error);
    REQUIRE_EQ(said.errors, good ? 0 : 1);
    if (!good)
        REQUIRE_MSG(strstr(said.error, where) && strstr(said.error, found), "%s", said.error);
}

static void in_metadata(struct hs_avfilter *filter, AVFrame *colour, const char *key,
                        const char *value, bool good)
{
    const AVFrame *inputs[HS_AVFILTER_INPUTS] = {colour};
    const bool is_number = !strcmp(key, "number");
    AVFrame *out = av_frame_alloc();
    char name[64], where[96];
    int64_t count;

    REQUIRE_EQ(av_opt_get_int(filter, "frame_count", 0, &count), 0);
    snprintf(name, sizeof(name), "hindsight.%s", key);
    snprintf(where, sizeof(where),
             "frame %d: metadata of colour: %s: ", is_number ? (int)count : 77, name);
    av_dict_set(&colour->metadata, "hindsight.number", "77", 0);
    av_dict_set(&colour->metadata, name, value, 0);
    check_said(hs_avfilter_run(filter, inputs, out), good, where, value);
    av_dict_free(&colour->metadata);
    av_frame_free(&out);
}

static void in_a_line(struct rig *rig, const char *key, const char *value, bool good)
{
    struct hs_avfilter *filter = hs_avfilter_alloc();
    char where[96], text[256], path[RIG_PATH_BYTES];

    snprintf(text, sizeof(text), "# a comment\n\ntime=0;%s=%s\n", key, value);
    rig_text_file(text, path);
    snprintf(where, sizeof(where), "%s, line 3: %s: ", path, key);
    REQUIRE_EQ(av_opt_set(filter, "frames", path, 0), 0);
    check_said(hs_avfilter_open(filter, rig->ref), good, where, value);
    remove(path);
    hs_avfilter_free(&filter);
}

static void wrong_values(struct test_rng *rng)
{
    AVFrame *colour = rig_colour(AV_PIX_FMT_RGBA, RENDER_W, RENDER_H, 0);
    const AVFrame *inputs[HS_AVFILTER_INPUTS] = {colour};
    AVFrame *out = av_frame_alloc();
    struct hs_avfilter_format format;
    struct hs_avfilter *filter;
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    filter = rig_filter(&rig, "");
    REQUIRE_EQ(rig_configure(filter, colour, AV_PIX_FMT_NONE, &format), 0);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        in_metadata(filter, colour, values[i].key, values[i].value, values[i].good);
        in_a_line(&rig, values[i].key, values[i].value, values[i].good);
    }
    // The time is what finds a line, and no value of a frame that has a time of its own.
    av_dict_set(&colour->metadata, "hindsight.time", "0", 0);
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL),
                  "hindsight.time: a time is for lines of the file only");
    av_dict_free(&colour->metadata);
    av_dict_set(&colour->metadata, "hindsight.jitter", "", 0);
    REQUIRE_ERROR(hs_avfilter_run(filter, inputs, out), AVERROR(EINVAL),
                  "hindsight.jitter: expected 2 numbers from -1 to 1, found \"\"");
    av_frame_free(&colour);
    av_frame_free(&out);
    hs_avfilter_free(&filter);
    rig_close(&rig);
}

/** Lines as a whole. */
static void wrong_lines(struct test_rng *rng)
{
    static const char *const lines[][2] = {
        {"jitter=0 0\n", "line 1: the time is missing"},
        {"time=nan\n", "line 1: time: expected a number of seconds"},
        {"time=0;jitter=\n", "line 1: not of the form key=value"},
        {"time=0\njitter\n", "line 2: not of the form key=value"},
        {"", "has no line for any frame"},
        {"# nothing else\n\n", "has no line for any frame"},
    };
    struct rig rig;

    (void)rng;
    OPEN(&rig);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct hs_avfilter *filter = hs_avfilter_alloc();
        char path[RIG_PATH_BYTES];

        rig_text_file(lines[i][0], path);
        REQUIRE_EQ(av_opt_set(filter, "frames", path, 0), 0);
        REQUIRE_ERROR(hs_avfilter_open(filter, rig.ref), AVERROR(EINVAL), lines[i][1]);
        remove(path);
        hs_avfilter_free(&filter);
    }
    rig_close(&rig);
}

/** A program with a decimal comma reads the same numbers. */
static void decimal_comma(struct test_rng *rng)
{
    if (!setlocale(LC_NUMERIC, "comma"))
        TEST_SKIP("no locale with a decimal comma");
    wrong_values(rng);
    values_from_a_file(rng);
    setlocale(LC_NUMERIC, "C");
}

static const struct test_case cases[] = {
    {"values_from_a_file", values_from_a_file},
    {"wrong_values", wrong_values},
    {"wrong_lines", wrong_lines},
    {"decimal_comma", decimal_comma},
};
TEST_MAIN(cases)
