// SPDX-License-Identifier: MIT
// hindsight bench: GPU time stage by stage. Inputs are made or read once; nothing is read back.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "options.h"
#include "report.h"
#include "tool.h"

enum {
    OPT_MODEL,
    OPT_PATH,
    OPT_DEVICE,
    OPT_SIZE,
    OPT_RENDER_SIZE,
    OPT_FRAMES,
    OPT_WARM_UP,
    OPT_CONVENTION,
    OPT_LDR,
    OPT_EXPOSURE,
    OPT_BANDS,
    OPT_WHOLE,
    OPT_CSV,
    OPT_JSON,
    OPT_VALIDATE,
    OPT_VERBOSE,
};

static const struct tool_option options[] = {
    {"model", 'm', "NAME",
     "auto, taau, fast, quality, best, atrous, ray, or a model file. Default taau."},
    {"path", 0, "PATH", "Arithmetic of the model: auto, plain or matrix. Default auto."},
    {"device", 'd', "DEVICE", "Index, part of the name, or cpu."},
    {"size", 0, "WxH", "Output size. Default 1920x1080; with a sequence twice its size."},
    {"render-size", 0, "WxH", "Input size. Default half the output."},
    {"frames", 'n', "N", "Frames to measure. Default 100."},
    {"warmup", 'w', "N", "Frames to run before. Default 20."},
    {"convention", 'c', "NAME", "Of the sequence: auto or a preset. Default auto."},
    {"ldr", 0, NULL, "The colour is display-referred."},
    {"exposure", 'e', "VALUE", "Factor, or auto: measured on the GPU. Default 1."},
    {"bands", 0, "N", "Bands in which a frame is made. Default: as memory demands."},
    {"whole", 0, NULL, "Times whole frames only, without timestamps between stages."},
    {"csv", 0, "FILE", "Writes stage,median_ms,mean_ms,min_ms,max_ms,frames lines; - is stdout."},
    {"json", 0, "FILE", "Writes the same as JSON; - is stdout."},
    {"validate", 0, NULL, "Runs with the Vulkan validation layer; a message is a failure."},
    {"verbose", 'v', NULL, "Prints what was chosen and why."},
    {0},
};

static const struct tool_rule rules[] = {
    {OPT_LDR, TOOL_EXCLUDES, OPT_EXPOSURE},
    {0},
};

static int take(void *priv, int row, const char *value)
{
    static const char *const paths[] = {"auto", "plain", "matrix", NULL};
    struct bench *bench = priv;
    int64_t number = 0;
    int err = 0;

    switch (row) {
    case OPT_MODEL:
        bench->model = value;
        break;
    case OPT_PATH:
        err = tool_parse_name("path", value, paths, &bench->path);
        break;
    case OPT_DEVICE:
        bench->device = value;
        break;
    case OPT_SIZE:
        err = tool_parse_size("size", value, bench->size);
        break;
    case OPT_RENDER_SIZE:
        err = tool_parse_size("render-size", value, bench->render_size);
        break;
    case OPT_FRAMES:
        err = tool_parse_int("frames", value, 1, BENCH_MAX_FRAMES, &number);
        bench->frames = (int)number;
        break;
    case OPT_WARM_UP:
        err = tool_parse_int("warmup", value, 0, BENCH_MAX_FRAMES, &number);
        bench->warm_up = (int)number;
        break;
    case OPT_CONVENTION:
        bench->convention = value;
        break;
    case OPT_LDR:
        bench->ldr = true;
        break;
    case OPT_EXPOSURE:
        bench->auto_exposure = !strcmp(value, "auto");
        if (!bench->auto_exposure)
            err = tool_parse_float("exposure", value, 1e-8, 1e8, &bench->exposure);
        break;
    case OPT_BANDS:
        err = tool_parse_int("bands", value, 1, HS_STREAM_BANDS_MAX, &number);
        bench->bands = (int)number;
        break;
    case OPT_WHOLE:
        bench->whole = true;
        break;
    case OPT_CSV:
        bench->csv = value;
        break;
    case OPT_JSON:
        bench->json = value;
        break;
    case OPT_VALIDATE:
        bench->validate = true;
        break;
    case OPT_VERBOSE:
        tool_report_level(false, true);
        break;
    }
    return err;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct summary {
    double median, mean, min, max;
};

static struct summary summarise(double *values, int count)
{
    struct summary s = {0};

    if (!count)
        return s;
    qsort(values, (size_t)count, sizeof(*values), compare_doubles);
    for (int i = 0; i < count; i++)
        s.mean += values[i] / count;
    s.min = values[0];
    s.max = values[count - 1];
    s.median = count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
    return s;
}

static void print_table(struct bench *bench)
{
    printf("%s, %dx%d to %dx%d, %d frames after %d\n", bench->about, bench->render_size[0],
           bench->render_size[1], bench->size[0], bench->size[1], bench->frames, bench->warm_up);
    printf("%u band%s, %.1f MiB of activations, %.1f MiB of history\n", bench->info.bands,
           bench->info.bands == 1 ? "" : "s", (double)bench->info.activation_bytes / (1 << 20),
           (double)bench->info.history_bytes / (1 << 20));
    printf("%-20s %10s %10s %10s %10s\n", "stage", "median ms", "mean ms", "min ms", "max ms");
    for (int i = 0; i < bench->stage_count; i++) {
        struct summary s = summarise(bench->stages[i].values, bench->stages[i].count);

        printf("%-20s %10.4f %10.4f %10.4f %10.4f\n", bench->stages[i].name, s.median, s.mean,
               s.min, s.max);
    }
}

static int write_csv(struct bench *bench)
{
    FILE *file = tool_output_open(bench->csv);

    if (!file)
        return HS_ERR_IO;
    fprintf(file, "stage,median_ms,mean_ms,min_ms,max_ms,frames\n");
    for (int i = 0; i < bench->stage_count; i++) {
        struct summary s = summarise(bench->stages[i].values, bench->stages[i].count);

        fprintf(file, "%s,%.6f,%.6f,%.6f,%.6f,%d\n", bench->stages[i].name, s.median, s.mean, s.min,
                s.max, bench->stages[i].count);
    }
    return tool_output_close(file, bench->csv);
}

static int write_json(struct bench *bench)
{
    FILE *file = tool_output_open(bench->json);

    if (!file)
        return HS_ERR_IO;
    fputs("{\n  \"about\": ", file);
    tool_json_string(file, bench->about);
    fprintf(file,
            ",\n  \"render_size\": [%d, %d],\n  \"size\": [%d, %d],\n  \"frames\": %d,\n"
            "  \"warmup\": %d,\n  \"bands\": %u,\n  \"activation_bytes\": %" PRIu64
            ",\n  \"history_bytes\": %" PRIu64 ",\n  \"stages\": [\n",
            bench->render_size[0], bench->render_size[1], bench->size[0], bench->size[1],
            bench->frames, bench->warm_up, bench->info.bands, bench->info.activation_bytes,
            bench->info.history_bytes);
    for (int i = 0; i < bench->stage_count; i++) {
        struct summary s = summarise(bench->stages[i].values, bench->stages[i].count);

        fputs("    {\"name\": ", file);
        tool_json_string(file, bench->stages[i].name);
        fprintf(file,
                ", \"median_ms\": %.6f, \"mean_ms\": %.6f, \"min_ms\": %.6f, \"max_ms\": %.6f}%s\n",
                s.median, s.mean, s.min, s.max, i + 1 < bench->stage_count ? "," : "");
    }
    fputs("  ]\n}\n", file);
    return tool_output_close(file, bench->json);
}

static int report(struct bench *bench)
{
    bool to_stdout =
        (bench->csv && !strcmp(bench->csv, "-")) || (bench->json && !strcmp(bench->json, "-"));
    int err = 0;

    if (bench->csv)
        err = write_csv(bench);
    if (!err && bench->json)
        err = write_json(bench);
    if (!to_stdout)
        print_table(bench);
    return err;
}

/** What goes with a sequence, or without one only. */
static int check(const struct bench *bench, const struct tool_usage *usage)
{
    const bool sequence = usage->argument_count;

    if (sequence && tool_option_given(usage, OPT_RENDER_SIZE))
        tool_error("--render-size is for the made pattern: a sequence has its own");
    else if (!sequence && tool_option_given(usage, OPT_CONVENTION))
        tool_error("--convention has no effect without a sequence");
    else if (bench->csv && bench->json && !strcmp(bench->csv, "-") && !strcmp(bench->json, "-"))
        tool_error("--csv - and --json -: stdout takes one of them");
    else
        return 0;
    return HS_ERR_INVALID;
}

int tool_bench(int argc, char **argv)
{
    struct bench bench = {
        .model = "taau", .convention = "auto", .frames = 100, .warm_up = 20, .exposure = 1};
    struct tool_usage usage = {
        .command = "bench",
        .form = "[SEQUENCE] [options]",
        .about = "Measures GPU time stage by stage with timestamps; medians over frames after "
                 "warm-up. Without a sequence the input is a made moving pattern. Nothing is read "
                 "back or written.",
        .options = options,
        .rules = rules,
        .min_arguments = 0,
        .max_arguments = 1,
        .take = take,
        .priv = &bench,
    };
    int err = tool_options_parse(&usage, argc, argv);

    if (!err)
        err = check(&bench, &usage);
    if (err)
        return err < 0 ? TOOL_EXIT_USAGE : TOOL_EXIT_DONE;
    bench.input = usage.argument_count ? usage.arguments[0] : NULL;
    err = bench_run(&bench);
    if (!err)
        err = report(&bench);
    for (int i = 0; i < bench.stage_count; i++)
        free(bench.stages[i].values);
    return err < 0 ? TOOL_EXIT_FAILED : TOOL_EXIT_DONE;
}
