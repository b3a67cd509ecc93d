// SPDX-License-Identifier: MIT
// Which weights a model gets, whether files are there, missing or damaged. No device.
#include "engine/src/choose.h"

#include <sys/stat.h>
#include <unistd.h>

#include "model_file.h"
#include "tests/test.h"

static struct {
    int lines[HS_LOG_TRACE + 1];
    char text[1024];
} heard;

static void hear(void *priv, enum hs_log_level level, const char *msg)
{
    (void)priv;
    heard.lines[level]++;
    snprintf(heard.text, sizeof(heard.text), "%s", msg);
}

static const struct hs_log hearing = {hear, NULL, HS_LOG_TRACE};

static char folder[64], other[80];

static const char *in_folder(const char *where, const char *name)
{
    static char path[160];
    snprintf(path, sizeof(path), "%s/%s", where, name);
    return path;
}

/** A file of the preset's name that holds `preset`. */
static void put(struct test_rng *rng, const char *where, const char *name, const char *preset)
{
    struct fx_model_config config = fx_model_tiny;
    config.preset = preset;
    config.ray = !strcmp(preset, "ray");
    struct fx_model_file file = fx_model_file_make(rng, &config);
    fx_model_file_write(&file, in_folder(where, name));
    fx_model_file_finish(&file);
}

static void put_damaged(const char *where, const char *name)
{
    FILE *file = fopen(in_folder(where, name), "wb");
    REQUIRE(file && fputs("nothing", file) >= 0 && fclose(file) == 0);
}

static void open_folders(void)
{
    strcpy(folder, "/tmp/hs-choose-XXXXXX");
    REQUIRE(mkdtemp(folder));
    snprintf(other, sizeof(other), "%s/other", folder);
    REQUIRE(!mkdir(other, 0700));
    setenv("HINDSIGHT_MODELS", folder, 1);
}

static void close_folders(void)
{
    static const char *const names[] = {"hs-quality.safetensors", "hs-best.safetensors",
                                        "hs-ray.safetensors", "hs-fast.safetensors",
                                        "mine.safetensors"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        remove(in_folder(folder, names[i]));
        remove(in_folder(other, names[i]));
    }
    REQUIRE(!rmdir(other) && !rmdir(folder));
    unsetenv("HINDSIGHT_MODELS");
}

/** Chooses and requires the preset; at most one line, of `level` (0: none), with the words. */
static void expect(struct hs_model_params params, bool software, const char *preset, int level,
                   const char *words)
{
    struct hs_weights *weights = NULL;
    memset(&heard, 0, sizeof(heard));
    REQUIRE_EQ(hs_choose(&hearing, &params, software, &weights), 0);
    const char *got = weights ? weights->preset : hs_choose_plain(&params);
    REQUIRE_MSG(!strcmp(got, preset), "%s for %s: %s", got, preset, heard.text);
    for (int l = 1; l <= HS_LOG_TRACE; l++)
        REQUIRE_MSG(heard.lines[l] == (l == level), "level %d: %s", l, heard.text);
    REQUIRE_MSG(!words || strstr(heard.text, words), "%s", heard.text);
    hs_weights_destroy(&weights);
}

static void expect_error(struct hs_model_params params, int code, const char *words)
{
    struct hs_weights *weights = NULL;
    memset(&heard, 0, sizeof(heard));
    REQUIRE_EQ(hs_choose(&hearing, &params, false, &weights), code);
    REQUIRE(!weights);
    REQUIRE_EQ(heard.lines[HS_LOG_ERROR], 1);
    REQUIRE_MSG(strstr(heard.text, words), "%s", heard.text);
}

#define PARAMS(...) ((struct hs_model_params){__VA_ARGS__})

static void with_all_files(struct test_rng *rng)
{
    open_folders();
    put(rng, folder, "hs-quality.safetensors", "quality");
    put(rng, folder, "hs-best.safetensors", "best");
    put(rng, folder, "hs-ray.safetensors", "ray");
    expect(PARAMS(.preset = "ray"), false, "ray", 0, NULL);
    expect(PARAMS(.preset = "atrous"), false, "atrous", 0, NULL);
    expect(PARAMS(.preset = "taau"), false, "taau", 0, NULL);
    expect(PARAMS(.preset = "quality"), true, "quality", 0, NULL);
    expect(PARAMS(.preset = "fast"), true, "taau", HS_LOG_WARN, "no hs-fast.safetensors");
    put(rng, folder, "hs-fast.safetensors", "fast");
    expect(PARAMS(.preset = "fast"), true, "fast", 0, NULL);
    expect(PARAMS(.preset = "best"), true, "best", 0, NULL);
    expect(PARAMS(0), false, "quality", 0, NULL);
    expect(PARAMS(.preset = "auto"), false, "quality", 0, NULL);
    expect(PARAMS(.preset = "auto", .batch = true), false, "best", 0, NULL);
    expect(PARAMS(.preset = "auto", .batch = true), true, "quality", 0, NULL);
    expect(PARAMS(.preset = "quality", .batch = true), false, "quality", 0, NULL);
    close_folders();
}

static void taau_takes_over(struct test_rng *rng)
{
    open_folders();
    expect(PARAMS(0), false, "taau", HS_LOG_INFO, "no hs-quality.safetensors in ");
    expect(PARAMS(.preset = "best"), false, "taau", HS_LOG_WARN, "; taau takes over");
    expect(PARAMS(.preset = "ray"), false, "atrous", HS_LOG_WARN, "; atrous takes over");
    expect(PARAMS(.preset = "atrous"), false, "atrous", 0, NULL);
    expect(PARAMS(.batch = true), false, "taau", HS_LOG_INFO, "; quality: no hs-quality");
    put(rng, folder, "hs-quality.safetensors", "quality");
    expect(PARAMS(.batch = true), false, "quality", HS_LOG_INFO, "; quality takes over");
    expect(PARAMS(.preset = "best"), false, "taau", HS_LOG_WARN, "best: no hs-best");
    put_damaged(folder, "hs-best.safetensors");
    expect(PARAMS(.preset = "best"), false, "taau", HS_LOG_WARN, "has 7 bytes, too few");
    put(rng, folder, "hs-best.safetensors", "quality");
    expect(PARAMS(.preset = "best"), false, "taau", HS_LOG_WARN, "holds preset quality");
    close_folders();
}

static void folders_in_order(struct test_rng *rng)
{
    char list[256];
    open_folders();
    put(rng, other, "hs-quality.safetensors", "quality");
    snprintf(list, sizeof(list), ":/nowhere::%s:%s:", folder, other);
    setenv("HINDSIGHT_MODELS", list, 1);
    expect(PARAMS(0), false, "quality", 0, NULL);
    put_damaged(folder, "hs-quality.safetensors");
    expect(PARAMS(0), false, "taau", HS_LOG_INFO, folder);
    setenv("HINDSIGHT_MODELS", "", 1);
    expect(PARAMS(0), false, "taau", HS_LOG_INFO, "in \"\"");
    // Longer than any path.
    char *long_list = malloc(5000);
    memset(long_list, 'x', 4999);
    long_list[4999] = 0;
    setenv("HINDSIGHT_MODELS", long_list, 1);
    expect(PARAMS(.batch = true), false, "taau", HS_LOG_INFO, "takes over");
    free(long_list);
    close_folders();
}

static void named_files(struct test_rng *rng)
{
    char path[160];
    open_folders();
    put(rng, folder, "mine.safetensors", "mine");
    strcpy(path, in_folder(folder, "mine.safetensors"));
    expect(PARAMS(.file = path), false, "mine", 0, NULL);
    expect(PARAMS(.file = path, .preset = "auto"), false, "mine", 0, NULL);
    expect(PARAMS(.file = path, .preset = "mine"), true, "mine", 0, NULL);
    expect_error(PARAMS(.file = path, .preset = "best"), HS_ERR_INVALID, "holds preset mine, not");
    expect_error(PARAMS(.file = other), HS_ERR_IO, other);
    put_damaged(folder, "mine.safetensors");
    expect_error(PARAMS(.file = path), HS_ERR_FORMAT, "too few");
    expect_error(PARAMS(.preset = "nothing"), HS_ERR_INVALID,
                 "there are: auto, taau, fast, quality");
    close_folders();
}

static const struct test_case cases[] = {
    {"with all files", with_all_files},
    {"taau takes over", taau_takes_over},
    {"folders in order", folders_in_order},
    {"named files", named_files},
};
TEST_MAIN(cases)
