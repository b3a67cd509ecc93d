// SPDX-License-Identifier: MIT
// hindsight upscale: the command line, and what is told before and after the run.
#include "upscale.h"

#include <string.h>
#include <unistd.h>

#include "hslook.h"
#include "interrupt.h"
#include "report.h"
#include "tool.h"

enum {
    OPT_OUTPUT,
    OPT_SCALE,
    OPT_SIZE,
    OPT_MODEL,
    OPT_PATH,
    OPT_DEVICE,
    OPT_CONVENTION,
    OPT_AUTO,
    OPT_NO_CHECK,
    OPT_SET,
    OPT_LAYER,
    OPT_PLANE,
    OPT_START,
    OPT_END,
    OPT_STEP,
    OPT_MISSING,
    OPT_RESET_AT,
    OPT_FRAMES_JSON,
    OPT_NO_FRAMES_JSON,
    OPT_EXPOSURE,
    OPT_FIREFLY_CLAMP,
    OPT_LOOK,
    OPT_SHARPNESS,
    OPT_LDR,
    OPT_DEPTH,
    OPT_TONE,
    OPT_PNG_BITS,
    OPT_AUX,
    OPT_AOV,
    OPT_OVERWRITE,
    OPT_RESUME,
    OPT_WARM_UP,
    OPT_JOBS,
    OPT_VALIDATE,
    OPT_QUIET,
    OPT_VERBOSE,
};

static const struct tool_option options[] = {
    {"output", 'o', "OUT",
     "Folder, which keeps the input's names, or names such as out.####.exr or out.%04d.png. "
     "Required."},
    {"scale", 's', "N", "Output size over input size, 1 to 3. Default 2."},
    {"size", 0, "WxH", "Output size, in place of --scale."},
    {"model", 'm', "NAME",
     "auto, taau, fast, quality, best, atrous or ray (both for noisy path-traced frames with "
     "guides), or a model file (.safetensors); or oidn (Open Image Denoise on the CPU, if the "
     "system has it, "
     "then taau); or nearest or bicubic (single frame, on the CPU, to compare with). Default auto: "
     "best on a GPU, else quality, else taau."},
    {"path", 0, "PATH", "Arithmetic of the model: auto, plain or matrix. Default auto."},
    {"device", 'd', "DEVICE",
     "Index or part of the name as in hindsight inspect --device, or cpu. Default: discrete, "
     "integrated, software."},
    {"convention", 'c', "NAME",
     "What the numbers in the files mean: auto or a preset of docs/conventions.md. Default auto."},
    {"auto", 0, NULL,
     "Where the first frames show that the convention is another one, uses that one; see hindsight "
     "probe."},
    {"no-check", 0, NULL, "Does not look at the first frames whether the convention fits them."},
    {"set", 0, "KEY=VALUE", "Changes one key of the convention, for example motion.sign_y=-1."},
    {"layer", 'l', "NAME", "Layer, view or part of the files to use."},
    {"plane", 0, "NAME=PATTERN",
     "Takes a plane (depth, motion, reactive, exposure) from files of its own, for example "
     "depth=z.####.exr."},
    {"start", 0, "N", "First frame."},
    {"end", 0, "N", "Last frame."},
    {"step", 0, "N", "Takes every Nth frame."},
    {"missing", 0, "WHAT",
     "Frames without a file: error, skip (history starts anew), or hold (the one before is "
     "repeated). Default error."},
    {"reset-at", 0, "FRAMES", "Cuts: frames at which history starts anew, such as 25,101."},
    {"frames-json", 0, "FILE", "Takes jitter and cameras from this file."},
    {"no-frames-json", 0, NULL, "Leaves a frames.json beside the frames alone."},
    {"exposure", 'e', "VALUE",
     "Factor that brings the picture to normal brightness, or auto: measured on the GPU. Default: "
     "the frame's own, else auto."},
    {"firefly-clamp", 0, "N",
     "Greatest luminance of an input pixel, after exposure. Takes light away. Default: off."},
    {"look", 0, "LOOK",
     "From linear light to a display's values: none (default), or aces, a filmic curve; behind it "
     "a grade, such as aces,contrast=0.1,shadows=0/0/0.04,vignette=0.3. More keys: pivot, "
     "highlights, saturation, grain, aberration (px), grade (0 to 1: how much of it)."},
    {"sharpness", 0, "N", "0 (off) to 1. Default: the frame's own, else 0."},
    {"ldr", 0, NULL, "The colour is display-referred, 0 to 1."},
    {"depth", 0, "TYPE",
     "Of EXR output: auto, half or float. Default auto: as the input's colour."},
    {"tone", 0, "CURVE",
     "Of PNG output: none, srgb, or metric, that is (x / (1 + x)) ^ (1 / 2.2). Default srgb, "
     "with --ldr or --look none."},
    {"png-bits", 0, "N", "8 or 16. Default 8."},
    {"aux", 0, "PATTERN",
     "Carries other channels of the EXR over, enlarged: all, or a name with *; =nearest, =linear "
     "or =cubic behind it chooses the filter. May be given again."},
    {"aov", 0, "LAYER",
     "Upscales a further layer of the EXR with the colour's weights: =light (a part of the "
     "colour), =data or =nearest behind it, else by name and type. May be given again."},
    {"overwrite", 0, NULL, "Makes outputs that are there already again."},
    {"resume", 0, NULL, "Keeps outputs that are there already; this is the default."},
    {"warm-up", 0, "N",
     "Frames to run for history ahead of the first one that is not there yet; all (default) "
     "starts at the last cut and gives the same pixels as one run."},
    {"jobs", 'j', "N",
     "Threads for reading, and as many for writing. Default: half the cores, 1 to 4."},
    {"validate", 0, NULL, "Runs with the Vulkan validation layer; a message is a failure."},
    {"quiet", 'q', NULL, "Prints warnings and errors only."},
    {"verbose", 'v', NULL, "Prints what was chosen and why."},
    {0},
};

static const struct tool_rule rules[] = {
    {OPT_SCALE, TOOL_EXCLUDES, OPT_SIZE},
    {OPT_AUTO, TOOL_EXCLUDES, OPT_NO_CHECK},
    {OPT_FRAMES_JSON, TOOL_EXCLUDES, OPT_NO_FRAMES_JSON},
    {OPT_LDR, TOOL_EXCLUDES, OPT_EXPOSURE},
    {OPT_OVERWRITE, TOOL_EXCLUDES, OPT_RESUME},
    {OPT_OVERWRITE, TOOL_EXCLUDES, OPT_WARM_UP},
    {OPT_QUIET, TOOL_EXCLUDES, OPT_VERBOSE},
    {0},
};

static int take_aux(struct upscale_request *request, const char *value)
{
    static const char *const filters[] = {"auto", "nearest", "linear", "cubic", NULL};
    const char *equal = strrchr(value, '=');
    int filter = 0, err = 0, i = request->aux_count;
    size_t length = equal ? (size_t)(equal - value) : strlen(value);

    if (i >= TOOL_MAX_AUX || length >= sizeof(request->aux_patterns[0])) {
        tool_error("--aux: too many patterns, or too long a one");
        return HS_ERR_INVALID;
    }
    if (equal)
        err = tool_parse_name("aux", equal + 1, filters, &filter);
    snprintf(request->aux_patterns[i], sizeof(request->aux_patterns[i]), "%.*s", (int)length,
             !strncmp(value, "all", length) && length == 3 ? "*" : value);
    request->aux[i].pattern = request->aux_patterns[i];
    request->aux[i].filter = (enum hsio_resample)filter;
    request->aux_count += !err;
    return err;
}

static int take_exposure(struct upscale_request *request, const char *value)
{
    request->auto_exposure = !strcmp(value, "auto");
    return request->auto_exposure
               ? 0
               : tool_parse_float("exposure", value, 1e-8, 1e8, &request->exposure);
}

/** Options about which frames. */
static int take_frames(struct upscale_request *request, int row, const char *value)
{
    static const char *const missing[] = {"error", "skip", "hold", NULL};
    int index = 0, err;

    switch (row) {
    case OPT_START:
        request->has_start = true;
        return tool_parse_int("start", value, INT32_MIN, INT32_MAX, &request->sequence.first);
    case OPT_END:
        request->has_end = true;
        return tool_parse_int("end", value, INT32_MIN, INT32_MAX, &request->sequence.last);
    case OPT_STEP:
        return tool_parse_int("step", value, 1, INT32_MAX, &request->sequence.step);
    case OPT_MISSING:
        err = tool_parse_name("missing", value, missing, &index);
        request->sequence.missing = (enum hsio_missing)index;
        return err;
    case OPT_RESET_AT:
        return tool_parse_frames("reset-at", value, &request->resets);
    case OPT_FRAMES_JSON:
        request->sequence.sidecar = value;
        return 0;
    case OPT_NO_FRAMES_JSON:
        request->sequence.no_sidecar = true;
        return 0;
    default:
        return HS_ERR_INTERNAL;
    }
}

/** Options about the output's form. */
static int take_output(struct upscale_request *request, int row, const char *value)
{
    static const char *const depths[] = {"auto", "half", "float", NULL};
    static const char *const tones[] = {"auto", "none", "srgb", "metric", NULL};
    int64_t number = 0;
    int err;

    switch (row) {
    case OPT_OUTPUT:
        request->output = value;
        return 0;
    case OPT_SCALE:
        return tool_parse_float("scale", value, 1, 3, &request->scale);
    case OPT_SIZE:
        return tool_parse_size("size", value, request->size);
    case OPT_DEPTH:
        return tool_parse_name("depth", value, depths, &request->depth);
    case OPT_TONE:
        return tool_parse_name("tone", value, tones, &request->tone);
    case OPT_PNG_BITS:
        err = tool_parse_int("png-bits", value, 8, 16, &number);
        if (!err && number != 8 && number != 16) {
            tool_error("--png-bits takes 8 or 16, not %s", value);
            err = HS_ERR_INVALID;
        }
        request->png_bits = (int)number;
        return err;
    case OPT_AUX:
        return take_aux(request, value);
    case OPT_AOV:
        return upscale_aov_take(request, value);
    default:
        return HS_ERR_INTERNAL;
    }
}

static int take(void *priv, int row, const char *value)
{
    static const char *const paths[] = {"auto", "plain", "matrix", NULL};
    struct upscale_request *request = priv;

    switch (row) {
    case OPT_MODEL:
        request->model = value;
        return 0;
    case OPT_PATH:
        return tool_parse_name("path", value, paths, &request->path);
    case OPT_DEVICE:
        request->device = value;
        return 0;
    case OPT_CONVENTION:
        request->convention.preset = value;
        return 0;
    case OPT_AUTO:
        request->automatic = true;
        return 0;
    case OPT_NO_CHECK:
        request->no_check = true;
        return 0;
    case OPT_SET:
        return tool_convention_add(&request->convention, value);
    case OPT_LAYER:
        request->convention.layer = value;
        return 0;
    case OPT_PLANE:
        return tool_parse_plane(value, &request->sequence);
    case OPT_EXPOSURE:
        return take_exposure(request, value);
    case OPT_LOOK:
        return hslook_parse(value, tool_log(), &request->look);
    case OPT_FIREFLY_CLAMP:
        return tool_parse_float("firefly-clamp", value, 1e-6, 65504, &request->firefly_clamp);
    case OPT_SHARPNESS:
        return tool_parse_float("sharpness", value, 0, 1, &request->sharpness);
    case OPT_LDR:
        request->ldr = true;
        return 0;
    case OPT_OVERWRITE:
    case OPT_RESUME:
        request->overwrite = row == OPT_OVERWRITE;
        return 0;
    case OPT_WARM_UP:
        request->warm_up = -1;
        return !strcmp(value, "all")
                   ? 0
                   : tool_parse_int("warm-up", value, 0, INT32_MAX, &request->warm_up);
    case OPT_JOBS:
        return tool_parse_int("jobs", value, 1, 64, &request->jobs);
    case OPT_VALIDATE:
        request->validate = true;
        return 0;
    case OPT_QUIET:
        request->quiet = true;
        return 0;
    case OPT_VERBOSE:
        request->verbose = true;
        return 0;
    default:
        return row < OPT_EXPOSURE && row >= OPT_START ? take_frames(request, row, value)
                                                      : take_output(request, row, value);
    }
}

static int default_jobs(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores >= 8 ? 4 : cores >= 4 ? (int)cores / 2 : 1;
}

/** What will happen, and what the input lacks, one line each. */
static void describe(const struct upscale_request *request, const struct upscale_plan *plan,
                     const struct tool_backend *backend)
{
    const struct tool_backend_setup *setup = &plan->setup;
    const struct hsio_sequence_info *info = &plan->info;
    bool baseline = tool_is_baseline(request->model);

    tool_info("%s: %d frames, %lld to %lld, %dx%d to %dx%d, convention %s%s", info->location,
              info->frame_count, (long long)info->first, (long long)info->last, info->width,
              info->height, setup->out_width, setup->out_height,
              hsio_sequence_convention(plan->seq)->preset,
              plan->found ? " with what --auto found" : "");
    tool_info("%s", backend->about);
    if (plan->finished)
        tool_info(
            "%d frames are there already and stay; %d frames run, %d of them for history only",
            plan->finished, plan->item_count,
            plan->item_count - (info->frame_count - plan->finished));
    upscale_lack_tell(request, plan);
    if (!baseline && hsio_sequence_convention(plan->seq)->motion.direction == HSIO_DIRECTION_NEXT &&
        setup->planes[HSIO_PLANE_MOTION].present)
        tool_info("the motion vectors lead to the next frame: each frame takes those of the one "
                  "before it, turned round where they end");
}

static int run_plan(const struct upscale_request *request, struct upscale_plan *plan,
                    struct upscale_result *result)
{
    struct tool_backend *backend = NULL;
    int jobs = request->jobs ? (int)request->jobs : default_jobs(), err;
    double start;

    plan->setup.slots = 2 * jobs + 2;
    err = tool_backend_create(&plan->setup, &backend);
    if (err < 0) {
        tool_error("%s can not be started: %s", request->model, hs_error_string(err));
        return err;
    }
    plan->model = backend->model;
    describe(request, plan, backend);
    start = tool_seconds();
    err = upscale_pipeline_run(request, plan, backend, jobs, result);
    if (result->bad_frames > 1)
        tool_warn("%llu pixels in %llu frames were NaN or infinite and were replaced",
                  (unsigned long long)result->bad_pixels, (unsigned long long)result->bad_frames);
    if (result->bad_motion_frames > 1)
        tool_warn("%llu vectors in %llu frames were NaN or infinite and counted as missing",
                  (unsigned long long)result->bad_vectors,
                  (unsigned long long)result->bad_motion_frames);
    if (!err && backend->messages(backend)) {
        tool_error("%u validation messages", backend->messages(backend));
        err = HS_ERR_INTERNAL;
    }
    backend->destroy(backend);
    if (!err && !result->interrupted)
        tool_info("%d frames written to %s in %.1f s", result->written, request->output,
                  tool_seconds() - start);
    return err;
}

static int run(struct upscale_request *request)
{
    struct upscale_plan plan = {0};
    struct upscale_result result = {0};
    int err = upscale_plan_make(request, &plan);

    result.interrupted = tool_interrupted();
    if (!err && !result.interrupted && !plan.item_count)
        tool_info("all %d frames are in %s already; --overwrite makes them again", plan.finished,
                  request->output);
    else if (!err && !result.interrupted)
        err = run_plan(request, &plan, &result);
    if (err < 0 && result.written)
        tool_info("%d frames were written before; the same command goes on from there",
                  result.written);
    if (!err && result.interrupted)
        tool_warn("interrupted with %d of %d frames there; the same command goes on from there",
                  plan.finished + result.written, plan.info.frame_count);
    upscale_plan_finish(&plan);
    return err < 0 ? TOOL_EXIT_FAILED : result.interrupted ? TOOL_EXIT_INTERRUPTED : TOOL_EXIT_DONE;
}

int tool_upscale(int argc, char **argv)
{
    struct upscale_request request = {.model = "auto", .sharpness = -1, .warm_up = -1};
    struct tool_usage usage = {
        .command = "upscale",
        .form = "IN -o OUT [options]",
        .about = "Upscales a recorded sequence. IN is a pattern such as shot.####.exr or "
                 "shot.%04d.exr, a folder, a frames.json, or a JSON description of raw planes.",
        .options = options,
        .rules = rules,
        .min_arguments = 1,
        .max_arguments = 1,
        .take = take,
        .priv = &request,
    };
    struct hsio_convention conv;
    int err = tool_options_parse(&usage, argc, argv), code;

    if (!err && !request.output) {
        tool_error("-o OUT is missing");
        err = HS_ERR_INVALID;
    }
    if (!err)
        err = upscale_rules_check(&request);
    // A wrong name or key is wrong usage, whatever the input is.
    if (!err)
        err = upscale_convention_make(&request, &conv);
    if (err)
        return err < 0 ? TOOL_EXIT_USAGE : TOOL_EXIT_DONE;
    request.input = usage.arguments[0];
    tool_report_level(request.quiet, request.verbose);
    tool_interrupt_begin();
    code = run(&request);
    tool_interrupt_end();
    return code;
}
