// SPDX-License-Identifier: MIT
// hindsight render: the command line.
#include "render.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "options.h"
#include "report.h"
#include "tool.h"

#define MAX_SEEDS 10000000

enum {
    OPT_OUTPUT,
    OPT_SEED,
    OPT_FRAMES,
    OPT_RENDER_SIZE,
    OPT_SIZE,
    OPT_MODE,
    OPT_SPP,
    OPT_FILTER,
    OPT_REFERENCE_SPP,
    OPT_NO_REFERENCE,
    OPT_FORMAT,
    OPT_PLANES,
    OPT_REFERENCE_FROM,
    OPT_FIXED_NOISE,
    OPT_NOISE,
    OPT_FIREFLIES,
    OPT_NO_JITTER,
    OPT_STILL,
    OPT_SPEED,
    OPT_CLEAR_FILM,
    OPT_SPECULAR,
    OPT_CONVENTION,
    OPT_SET,
    OPT_MESH,
    OPT_ENVIRONMENT,
    OPT_DEVICE,
    OPT_JOBS,
    OPT_OVERWRITE,
    OPT_VALIDATE,
    OPT_LIST,
    OPT_QUIET,
};

static const struct tool_option options[] = {
    {"output", 'o', "DIR", "Folder for the files. Required unless --format none."},
    {"seed", 's', "SEEDS", "Seeds, such as 1-64 or 3,7,12-20: one clip each. Default 1."},
    {"frames", 'n', "N", "Frames of a clip. Default 8."},
    {"render-size", 0, "WxH", "Size of the input planes. Default 320x180."},
    {"size", 0, "WxH", "Size of the reference. Default twice the render size."},
    {"mode", 'm', "MODE", "direct: like a game's frame; path: path tracing. Default direct."},
    {"spp", 0, "N", "Samples an input pixel, path mode or with a filter. Default 4; direct, 16."},
    {"filter", 0, "FILTER",
     "Where in its pixel a sample of the input lies: point, box, or blackman-harris over 1.5 "
     "pixels. Default point."},
    {"reference-spp", 0, "N", "Samples a reference pixel. Default 16, in path mode 256."},
    {"no-reference", 0, NULL, "Renders the input planes only."},
    {"format", 'f', "FORMAT",
     "exr: a folder of EXR files with frames.json; raw: planes with a description; pack: one "
     "safetensors file a clip; none: only renders, for timing. Default exr."},
    {"planes", 0, "LIST",
     "Input planes, comma-separated: colour, depth, motion, motion_next, normal, roughness, "
     "diffuse_albedo, specular_albedo, hit_distance, alpha. Default all but motion_next, alpha in "
     "packs only."},
    {"reference-from", 0, "DIR",
     "Packs: renders other inputs, of another size, filter or noise, for the references of the "
     "packs in DIR, which they refer to. Seeds (all, if none are given), frames, size, mode and "
     "motion are theirs."},
    {"fixed-noise", 0, NULL, "Path mode: the same noise in every frame."},
    {"noise", 0, "N", "Path mode: which random numbers the input draws. Default 0."},
    {"fireflies", 0, "P", "Path mode: probability of a sample that is 50 times too bright."},
    {"no-jitter", 0, NULL, "Samples pixel centres."},
    {"still", 0, NULL, "Nothing moves."},
    {"speed", 0, "N", "Multiplies the speed of everything. Default 1."},
    {"clear-film", 0, NULL, "No sky: alpha 0 where nothing is hit."},
    {"specular", 0, "KIND",
     "Of the specular albedo: directional, f0, or metal-white. Default directional."},
    {"convention", 'c', "NAME",
     "exr, raw: writes planes as this preset reads them. Default: plain planes, as raw reads "
     "them."},
    {"set", 0, "KEY=VALUE", "Changes one key of the convention."},
    {"mesh", 0, "FILE", "glTF file (.glb, .gltf) for the pattern mesh."},
    {"environment", 0, "FILE", "Equirectangular picture (EXR) around the scene."},
    {"device", 'd', "DEVICE",
     "Index or part of the name as in hindsight inspect --device, or cpu. Default: discrete, "
     "integrated, software."},
    {"jobs", 'j', "N", "Clips in work at the same time. Default 3."},
    {"overwrite", 0, NULL, "Makes clips that are there already again."},
    {"validate", 0, NULL, "Runs with the Vulkan validation layer; a message is a failure."},
    {"list", 0, NULL, "Lists the patterns."},
    {"quiet", 'q', NULL, "Prints warnings and errors only."},
    {0},
};

static const struct tool_rule rules[] = {
    {OPT_STILL, TOOL_EXCLUDES, OPT_SPEED},
    {OPT_REFERENCE_FROM, TOOL_EXCLUDES, OPT_FRAMES},
    {OPT_REFERENCE_FROM, TOOL_EXCLUDES, OPT_SIZE},
    {OPT_REFERENCE_FROM, TOOL_EXCLUDES, OPT_MODE},
    {OPT_REFERENCE_FROM, TOOL_EXCLUDES, OPT_REFERENCE_SPP},
    {OPT_REFERENCE_FROM, TOOL_EXCLUDES, OPT_NO_REFERENCE},
    {OPT_REFERENCE_FROM, TOOL_EXCLUDES, OPT_STILL},
    {OPT_REFERENCE_FROM, TOOL_EXCLUDES, OPT_SPEED},
    {OPT_REFERENCE_FROM, TOOL_EXCLUDES, OPT_CLEAR_FILM},
    {0},
};

struct command {
    struct render_request request;
    const char *mesh, *environment;
    bool list, quiet, planes_given, specular_given;
};

static int by_value(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return (x > y) - (x < y);
}

/** One clip each: two jobs must not write the same one. */
static void sort_seeds(struct render_request *r)
{
    uint32_t kept = 0;
    qsort(r->seeds, r->seed_count, sizeof(*r->seeds), by_value);
    for (uint32_t i = 0; i < r->seed_count; i++) {
        if (!kept || r->seeds[i] != r->seeds[kept - 1])
            r->seeds[kept++] = r->seeds[i];
    }
    r->seed_count = kept;
}

static int take_seeds(struct command *command, const char *text)
{
    struct render_request *r = &command->request;
    struct tool_frame_list list = {0};
    int err = tool_parse_frames("seed", text, &list);
    int64_t count = 0;

    for (int i = 0; !err && i < list.count; i++) {
        list.ranges[i].step = list.ranges[i].step ? list.ranges[i].step : 1;
        const int64_t n = (list.ranges[i].last - list.ranges[i].first) / list.ranges[i].step + 1;
        count += n;
        if (list.ranges[i].first < 0 || list.ranges[i].step < 0 || n < 1 || count > MAX_SEEDS) {
            tool_error("--seed: seeds are 0 or more, and at most %d of them", MAX_SEEDS);
            return HS_ERR_INVALID;
        }
    }
    if (err)
        return err;
    if (!count) {
        tool_error("--seed takes seeds such as 1-64 or 3,7, not \"%s\"", text);
        return HS_ERR_INVALID;
    }
    free(r->seeds);
    r->seeds = malloc((size_t)count * sizeof(*r->seeds));
    r->seed_count = 0;
    if (!r->seeds) {
        tool_error("out of memory");
        return HS_ERR_NOMEM;
    }
    for (int i = 0; i < list.count; i++) {
        for (int64_t k = list.ranges[i].first; k <= list.ranges[i].last; k += list.ranges[i].step)
            r->seeds[r->seed_count++] = (uint64_t)k;
    }
    sort_seeds(r);
    return 0;
}

static int take_planes(struct command *command, const char *text)
{
    command->planes_given = true;
    for (int i = 0; i < RENDER_REFERENCE; i++)
        command->request.mask[i] = false;
    while (*text) {
        const size_t length = strcspn(text, ",");
        int found = -1;
        for (int i = 0; i < RENDER_REFERENCE; i++) {
            if (strlen(render_planes[i].name) == length &&
                !strncmp(render_planes[i].name, text, length))
                found = i;
        }
        if (found < 0) {
            tool_error("--planes: no plane \"%.*s\"", (int)length, text);
            return HS_ERR_INVALID;
        }
        command->request.mask[found] = true;
        text += length + (text[length] == ',');
    }
    return 0;
}

static int take_size(const char *name, const char *value, uint32_t *width, uint32_t *height)
{
    int size[2];
    const int err = tool_parse_size(name, value, size);
    if (!err) {
        *width = (uint32_t)size[0];
        *height = (uint32_t)size[1];
    }
    return err;
}

static int take_from(const char *name, const char *value, int64_t low, int64_t high, uint32_t *out)
{
    int64_t number = 0;
    const int err = tool_parse_int(name, value, low, high, &number);
    if (!err)
        *out = (uint32_t)number;
    return err;
}

static int take_count(const char *name, const char *value, int64_t high, uint32_t *out)
{
    return take_from(name, value, 1, high, out);
}

static int take_float(const char *name, const char *value, double low, double high, float *out)
{
    double number = 0;
    const int err = tool_parse_float(name, value, low, high, &number);
    if (!err)
        *out = (float)number;
    return err;
}

/** Options about what a clip shows. */
static int take_scene(struct command *command, int row, const char *value)
{
    static const char *const modes[] = {"direct", "path", NULL};
    static const char *const kinds[] = {"directional", "f0", "metal-white", NULL};
    const char *const filters[] = {hs_scenes_filter_name(HS_SCENES_FILTER_POINT),
                                   hs_scenes_filter_name(HS_SCENES_FILTER_BOX),
                                   hs_scenes_filter_name(HS_SCENES_FILTER_BLACKMAN_HARRIS), NULL};
    struct hs_clip_params *p = &command->request.params;
    int index = 0, err = 0;

    switch (row) {
    case OPT_FRAMES:
        return take_count("frames", value, 100000, &p->frame_count);
    case OPT_RENDER_SIZE:
        return take_size("render-size", value, &p->render_width, &p->render_height);
    case OPT_SIZE:
        return take_size("size", value, &p->width, &p->height);
    case OPT_MODE:
        err = tool_parse_name("mode", value, modes, &index);
        p->mode = (enum hs_scenes_mode)index;
        return err;
    case OPT_SPP:
        return take_count("spp", value, 65536, &p->spp);
    case OPT_FILTER:
        err = tool_parse_name("filter", value, filters, &index);
        p->filter = (enum hs_scenes_filter)index;
        return err;
    case OPT_REFERENCE_SPP:
        return take_count("reference-spp", value, 65536, &p->reference_spp);
    case OPT_FIREFLIES:
        return take_float("fireflies", value, 0, 1, &p->fireflies);
    case OPT_SPEED:
        return take_float("speed", value, 1e-6, 100, &p->speed);
    case OPT_SPECULAR:
        err = tool_parse_name("specular", value, kinds, &index);
        p->specular = (enum hs_scenes_specular)index;
        command->specular_given = true;
        return err;
    case OPT_NOISE:
        return take_from("noise", value, 0, UINT32_MAX, &p->noise);
    case OPT_FIXED_NOISE:
        p->fixed_noise = true;
        return 0;
    case OPT_NO_JITTER:
        p->no_jitter = true;
        return 0;
    case OPT_STILL:
        p->still = true;
        return 0;
    default:
        p->clear_film = true;
        return 0;
    }
}

static int take(void *priv, int row, const char *value)
{
    static const char *const formats[] = {"exr", "raw", "pack", "none", NULL};
    struct command *command = priv;
    struct render_request *r = &command->request;
    int64_t number = 0;
    int index = 0, err = 0;

    switch (row) {
    case OPT_OUTPUT:
        r->output = value;
        return 0;
    case OPT_SEED:
        return take_seeds(command, value);
    case OPT_NO_REFERENCE:
        r->mask[RENDER_REFERENCE] = false;
        return 0;
    case OPT_REFERENCE_FROM:
        r->shared = value;
        r->mask[RENDER_REFERENCE] = false;
        return 0;
    case OPT_FORMAT:
        err = tool_parse_name("format", value, formats, &index);
        r->format = (enum render_format)index;
        return err;
    case OPT_PLANES:
        return take_planes(command, value);
    case OPT_CONVENTION:
        r->asked.preset = value;
        return 0;
    case OPT_SET:
        return tool_convention_add(&r->asked, value);
    case OPT_MESH:
        command->mesh = value;
        return 0;
    case OPT_ENVIRONMENT:
        command->environment = value;
        return 0;
    case OPT_DEVICE:
        r->device = value;
        return 0;
    case OPT_JOBS:
        err = tool_parse_int("jobs", value, 1, 64, &number);
        r->jobs = (int)number;
        return err;
    case OPT_OVERWRITE:
        r->overwrite = true;
        return 0;
    case OPT_VALIDATE:
        r->validate = true;
        return 0;
    case OPT_LIST:
        command->list = true;
        return 0;
    case OPT_QUIET:
        command->quiet = true;
        return 0;
    default:
        return take_scene(command, row, value);
    }
}

static int read_environment(const char *path, struct hs_scenes_environment *out)
{
    struct hsio_sequence *sequence = NULL;
    struct hsio_frame *frame = NULL;
    float *rgba = NULL, *rgb = NULL;
    int err = hsio_sequence_open(path, NULL, NULL, tool_log(), &sequence);

    if (!err)
        err = hsio_frame_open(sequence, 0, &frame);
    if (err)
        goto done;
    const struct hsio_frame_info *info = hsio_frame_info(frame);
    const size_t pixels = (size_t)info->width * (size_t)info->height;
    rgba = malloc(pixels * 16);
    rgb = malloc(pixels * 12);
    err = HS_ERR_NOMEM;
    if (!rgba || !rgb)
        goto done;
    const struct hsio_plane_request wanted = {
        .plane = HSIO_PLANE_COLOR,
        .format = HSIO_FORMAT_RGBA32F,
        .buffer = rgba,
        .buffer_bytes = pixels * 16,
    };
    err = hsio_frame_read(frame, &wanted, 1);
    for (size_t i = 0; !err && i < pixels; i++)
        memcpy(rgb + 3 * i, rgba + 4 * i, 12);
    if (!err)
        *out = (struct hs_scenes_environment){rgb, (uint32_t)info->width, (uint32_t)info->height};
done:
    if (err) {
        tool_error("%s: %s", path, hs_error_string(err));
        free(rgb);
    }
    free(rgba);
    hsio_frame_close(&frame);
    hsio_sequence_close(&sequence);
    return err;
}

static int take_convention(struct command *command)
{
    struct render_request *r = &command->request;
    int err = 0;

    if (!r->asked.preset && !r->asked.setting_count)
        return 0;
    if (r->format != RENDER_EXR && r->format != RENDER_RAW) {
        tool_error("--convention and --set need --format exr or raw");
        return HS_ERR_INVALID;
    }
    if (r->asked.preset && !strcmp(r->asked.preset, "auto")) {
        tool_error("--convention auto is for reading; hindsight inspect --presets lists others");
        return HS_ERR_INVALID;
    }
    r->asked.preset = r->asked.preset ? r->asked.preset : "raw";
    err = tool_convention_make(&r->asked, &r->convention);
    r->converts = true;
    if (!err)
        render_plan_convention(r, command->specular_given);
    return err;
}

/** Options that would have no effect are mistakes. */
static int check(const struct command *command, const char *pattern)
{
    const struct render_request *r = &command->request;
    const struct hs_clip_params *p = &r->params;
    bool any = false;
    for (int i = 0; i < RENDER_PLANES; i++)
        any = any || r->mask[i];
    if (!r->output && r->format != RENDER_NOTHING)
        tool_error("--output is missing");
    else if (r->format == RENDER_NOTHING && (r->output || r->overwrite))
        tool_error("--format none writes nothing: --%s has no effect",
                   r->output ? "output" : "overwrite");
    else if (!any)
        tool_error("--planes and --no-reference leave nothing to render");
    else if (command->mesh && strcmp(pattern, "mesh") != 0)
        tool_error("--mesh is for the pattern mesh, not \"%s\"", pattern);
    else if (p->mode == HS_SCENES_DIRECT && (p->fixed_noise || p->noise || p->fireflies > 0))
        tool_error("--fixed-noise, --noise and --fireflies need --mode path");
    else if (p->mode == HS_SCENES_DIRECT && p->spp && !p->filter)
        tool_error("--spp needs --mode path or a --filter");
    else
        return 0;
    return HS_ERR_INVALID;
}

static void list_patterns(void)
{
    for (uint32_t i = 0; hs_scenes_pattern(i); i++)
        printf("%-14s%s\n", hs_scenes_pattern(i), hs_scenes_pattern_about(i));
    printf("%-14s%s\n", "random", "a place, a look and a camera by seed");
}

static int run(struct command *command)
{
    struct render_request *r = &command->request;
    struct hs_scenes_mesh mesh = {0};
    struct hs_scenes_environment environment = {0};
    int err = 0;

    if (command->mesh)
        err = render_read_gltf(command->mesh, &mesh);
    if (!err && command->environment)
        err = read_environment(command->environment, &environment);
    r->params.mesh = mesh.vertex_count ? &mesh : NULL;
    r->params.environment = environment.pixels ? &environment : NULL;
    tool_interrupt_begin();
    if (!err)
        err = render_run(r);
    const bool interrupted = tool_interrupted();
    tool_interrupt_end();
    free((void *)(uintptr_t)mesh.positions);
    free((void *)(uintptr_t)mesh.normals);
    free((void *)(uintptr_t)mesh.indices);
    free((void *)(uintptr_t)environment.pixels);
    return interrupted ? TOOL_EXIT_INTERRUPTED : err ? TOOL_EXIT_FAILED : TOOL_EXIT_DONE;
}

int tool_render(int argc, char **argv)
{
    struct command command = {.request = {.jobs = 3}};
    struct tool_usage usage = {
        .command = "render",
        .form = "PATTERN -o DIR [options]",
        .about = "Renders procedural clips with their motion, depth, guides and references: a "
                 "named pattern, or random scenes by seed. docs/scenes.md describes the files.",
        .options = options,
        .rules = rules,
        .max_arguments = 1,
        .take = take,
        .priv = &command,
    };
    int code = TOOL_EXIT_USAGE;

    for (int i = 0; i < RENDER_PLANES; i++)
        command.request.mask[i] = i != RENDER_MOTION_NEXT;
    int err = tool_options_parse(&usage, argc, argv);
    if (err == TOOL_OPTIONS_HELP || (!err && command.list)) {
        if (command.list)
            list_patterns();
        free(command.request.seeds);
        return TOOL_EXIT_DONE;
    }
    tool_report_level(command.quiet, false);
    if (!err && !usage.argument_count) {
        tool_error("which pattern? --list names them");
        err = HS_ERR_INVALID;
    }
    command.request.params.pattern = err ? NULL : usage.arguments[0];
    if (!err && command.request.shared)
        err = render_shared_plan(&command.request);
    else if (!err && !command.request.seed_count)
        err = take_seeds(&command, "1");
    if (!err)
        err = check(&command, usage.arguments[0]);
    if (!err)
        err = take_convention(&command);
    if (!err) {
        if (command.request.format < RENDER_PACK && !command.planes_given)
            command.request.mask[RENDER_ALPHA] = false; // it is in the colour
        code = run(&command);
    }
    free(command.request.seeds);
    return code;
}
