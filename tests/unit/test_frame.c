// SPDX-License-Identifier: MIT
// Everything that hs_stream_create() and hs_stream_record() refuse, and that a refusal leaves the
// command buffer and the stream as they were.
#include <math.h>

#include "fixture.h"
#include "shim.h"
#include "tests/test.h"

static struct hs_stream *stream;
static struct fixture fx;
static struct fx_planes planes;

// hs_stream_create(): HS_ERR_INVALID.
static void refused_streams(struct test_rng *rng)
{
    (void)rng;
    FX_OPEN(&fx, NULL, "taau");
    fx.quiet = true;
    static const struct hs_stream_params bad[] = {
        {0},
        {.out_width = 15, .out_height = 64},
        {.out_width = 64, .out_height = 16385},
        {.out_width = 64, .out_height = 64, .max_render_width = 32},
        {.out_width = 64, .out_height = 64, .max_render_width = 65, .max_render_height = 64},
        {.out_width = 64, .out_height = 64, .max_render_width = 8, .max_render_height = 32},
        {.out_width = 64, .out_height = 64, .flags = 1u << 30},
        {.out_width = 64, .out_height = 64, .bands = HS_STREAM_BANDS_MAX + 1},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        fx.last[0] = 0;
        REQUIRE_EQ(hs_stream_create(fx.model, &bad[i], &stream), HS_ERR_INVALID);
        REQUIRE(fx.last[0]);
        REQUIRE(!stream);
    }
    REQUIRE_EQ(hs_stream_create(NULL, &bad[0], &stream), HS_ERR_INVALID);
    // More than the software driver allocates at once; other devices may have it.
    const struct hs_stream_params huge = {.out_width = 16384, .out_height = 16384};
    const int code = hs_stream_create(fx.model, &huge, &stream);
    REQUIRE(code == 0 || code == HS_ERR_NOMEM || code == HS_ERR_UNSUPPORTED);
    hs_stream_destroy(&stream);
    hs_stream_destroy(NULL);
    fx_close(&fx);
}

/** One change to a good frame, the code that it must give and a word of its message. */
struct change {
    const char *what;
    void (*apply)(struct hs_frame *f);
    int code;
    const char *word;
};

static struct hs_camera camera;

#define CHANGE(name, statement)          \
    static void name(struct hs_frame *f) \
    {                                    \
        statement;                       \
    }
CHANGE(no_colour, f->colour.view = VK_NULL_HANDLE)
CHANGE(no_output, f->output.view = VK_NULL_HANDLE)
CHANGE(no_image, f->depth.image = VK_NULL_HANDLE)
CHANGE(colour_format, f->colour.format = VK_FORMAT_R8_UINT)
CHANGE(motion_format, f->motion.format = VK_FORMAT_R32_SFLOAT)
CHANGE(depth_format, f->depth.format = VK_FORMAT_R8G8B8A8_UNORM)
CHANGE(output_format, f->output.format = VK_FORMAT_R32_UINT)
CHANGE(undefined_layout, f->colour.layout = VK_IMAGE_LAYOUT_UNDEFINED)
CHANGE(unknown_flags, f->motion.flags = 8)
CHANGE(rectangle, f->colour.x = 1)
CHANGE(small_reactive, (f->reactive = f->depth, f->reactive.height--))
CHANGE(rectangle_wraps, f->colour.x = UINT32_MAX)
CHANGE(huge_origin, (f->depth.x = UINT32_MAX - 10, f->depth.width = 0))
CHANGE(small, f->render_width = 15)
CHANGE(large, f->render_width = 4000)
CHANGE(ratio, (f->render_width = 20, f->render_height = 20))
CHANGE(jitter_far, f->jitter[0] = 1.5f)
CHANGE(jitter_nan, f->jitter[1] = NAN)
CHANGE(sharp, f->sharpness = 2)
CHANGE(motion_scale, f->motion_params.scale[0] = INFINITY)
CHANGE(motion_code, f->motion_params.unwritten = (enum hs_motion_unwritten)9)
CHANGE(depth_kind, f->depth_params.kind = (enum hs_depth_kind)5)
CHANGE(depth_near, f->depth_params.kind = HS_DEPTH_HARDWARE)
CHANGE(depth_far, (f->depth_params.kind = HS_DEPTH_HARDWARE_INVERTED, f->depth_params.near_z = 2,
                   f->depth_params.far_z = 1))
CHANGE(depth_scale, f->depth_params.scale = -1)
CHANGE(specular_kind, f->guide_params.specular = (enum hs_specular_kind)3)
CHANGE(normal_space, f->guide_params.normal_space = (enum hs_normal_space)2)
CHANGE(roughness_kind, f->guide_params.roughness = (enum hs_roughness_kind)3)
CHANGE(firefly, f->firefly_clamp = NAN)
CHANGE(look_curve, f->look.curve = (enum hs_look_curve)2)
CHANGE(look_grade, f->look = ((struct hs_look){.curve = HS_LOOK_ACES, .grade = 1.5f}))
CHANGE(look_contrast, f->look = ((struct hs_look){.curve = HS_LOOK_ACES, .contrast = NAN}))
CHANGE(look_shadows, f->look = ((struct hs_look){.curve = HS_LOOK_ACES, .shadows = {0, 2, 0}}))
CHANGE(look_aberration, f->look = ((struct hs_look){.curve = HS_LOOK_ACES, .aberration_px = 65}))
CHANGE(exposure_mode, f->exposure.mode = (enum hs_exposure_mode)4)
CHANGE(exposure_value, f->exposure.value = -1)
CHANGE(exposure_texture, f->exposure.mode = HS_EXPOSURE_TEXTURE)
CHANGE(camera_nan, (camera.world_to_view[3] = NAN, f->camera = &camera))
CHANGE(camera_zero, (camera.world_to_view[3] = 0, f->camera = &camera))
CHANGE(no_usage, f->colour.usage = VK_IMAGE_USAGE_STORAGE_BIT)
CHANGE(no_output_usage, f->output.usage = VK_IMAGE_USAGE_SAMPLED_BIT)

// AOVs; the output stands for both of their images.
static struct hs_aov aov;
static struct hs_frame *with_aov(struct hs_frame *f)
{
    aov = (struct hs_aov){.in = f->colour, .out = f->output};
    f->aovs = &aov;
    f->aov_count = 1;
    return f;
}
CHANGE(aovs_missing, f->aov_count = 1)
CHANGE(aovs_many, with_aov(f)->aov_count = HS_AOV_MAX + 1)
CHANGE(aov_kind, (with_aov(f), aov.kind = (enum hs_aov_kind)2))
CHANGE(aov_no_input, (with_aov(f), aov.in.view = VK_NULL_HANDLE))
CHANGE(aov_small, (with_aov(f), aov.in.width--))
CHANGE(aov_format, (with_aov(f), aov.out.format = VK_FORMAT_R8G8B8A8_UNORM))
CHANGE(aov_copy, (with_aov(f), aov.in.flags = HS_IMAGE_COPY))
CHANGE(aov_usage, (with_aov(f), aov.out.usage = VK_IMAGE_USAGE_SAMPLED_BIT))
CHANGE(aov_layout, (with_aov(f), aov.in.layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL))

static const struct change changes[] = {
    {"no colour", no_colour, HS_ERR_INVALID, "colour"},
    {"no output", no_output, HS_ERR_INVALID, "output"},
    {"no image", no_image, HS_ERR_INVALID, "depth"},
    {"colour format", colour_format, HS_ERR_UNSUPPORTED, "colour"},
    {"motion format", motion_format, HS_ERR_UNSUPPORTED, "motion"},
    {"depth format", depth_format, HS_ERR_UNSUPPORTED, "depth"},
    {"output format", output_format, HS_ERR_UNSUPPORTED, "output"},
    {"undefined layout", undefined_layout, HS_ERR_INVALID, "layout"},
    {"unknown flags", unknown_flags, HS_ERR_INVALID, "flags"},
    {"rectangle", rectangle, HS_ERR_INVALID, "fit"},
    {"small reactive", small_reactive, HS_ERR_INVALID, "reactive"},
    {"rectangle wraps", rectangle_wraps, HS_ERR_INVALID, "fit"},
    {"huge origin", huge_origin, HS_ERR_INVALID, "origin"},
    {"small", small, HS_ERR_INVALID, "render size"},
    {"large", large, HS_ERR_INVALID, "maximum"},
    {"ratio", ratio, HS_ERR_INVALID, "times"},
    {"jitter far", jitter_far, HS_ERR_INVALID, "jitter"},
    {"jitter NaN", jitter_nan, HS_ERR_INVALID, "jitter"},
    {"sharpness", sharp, HS_ERR_INVALID, "sharpness"},
    {"motion scale", motion_scale, HS_ERR_INVALID, "motion"},
    {"motion code", motion_code, HS_ERR_INVALID, "unwritten"},
    {"depth kind", depth_kind, HS_ERR_INVALID, "depth"},
    {"depth near", depth_near, HS_ERR_INVALID, "near"},
    {"depth far", depth_far, HS_ERR_INVALID, "far"},
    {"depth scale", depth_scale, HS_ERR_INVALID, "scale"},
    {"specular kind", specular_kind, HS_ERR_INVALID, "specular"},
    {"normal space", normal_space, HS_ERR_INVALID, "normal"},
    {"roughness kind", roughness_kind, HS_ERR_INVALID, "roughness"},
    {"firefly clamp", firefly, HS_ERR_INVALID, "firefly"},
    {"look's curve", look_curve, HS_ERR_INVALID, "unknown curve"},
    {"look's grade", look_grade, HS_ERR_INVALID, "look: grade"},
    {"look's contrast", look_contrast, HS_ERR_INVALID, "look: contrast"},
    {"look's shadows", look_shadows, HS_ERR_INVALID, "shadows"},
    {"look's aberration", look_aberration, HS_ERR_INVALID, "aberration"},
    {"exposure mode", exposure_mode, HS_ERR_INVALID, "exposure"},
    {"exposure value", exposure_value, HS_ERR_INVALID, "exposure"},
    {"exposure texture", exposure_texture, HS_ERR_INVALID, "texture"},
    {"camera NaN", camera_nan, HS_ERR_INVALID, "camera"},
    {"camera zero", camera_zero, HS_ERR_INVALID, "singular"},
    {"AOVs missing", aovs_missing, HS_ERR_INVALID, "AOVs"},
    {"AOVs many", aovs_many, HS_ERR_INVALID, "many"},
    {"AOV kind", aov_kind, HS_ERR_INVALID, "AOV 0"},
    {"AOV no input", aov_no_input, HS_ERR_INVALID, "input"},
    {"AOV small", aov_small, HS_ERR_INVALID, "fit"},
    {"AOV format", aov_format, HS_ERR_UNSUPPORTED, "AOV 0, output"},
    {"AOV copy", aov_copy, HS_ERR_UNSUPPORTED, "directly"},
    {"AOV usage", aov_usage, HS_ERR_UNSUPPORTED, "usage"},
    {"AOV layout", aov_layout, HS_ERR_UNSUPPORTED, "layout"},
    {"no usage", no_usage, HS_ERR_UNSUPPORTED, "usage"},
    {"no output usage", no_output_usage, HS_ERR_UNSUPPORTED, "usage"},
};

// hs_stream_record(): HS_ERR_INVALID and HS_ERR_UNSUPPORTED.
static void refused_frames(struct test_rng *rng)
{
    (void)rng;
    shim_reset();
    FX_OPEN(&fx, shim_get_instance_proc_addr, "taau");
    fx.quiet = true;
    fx_planes_create(&fx, 48, 40, 96, 80, VK_FORMAT_R16G16B16A16_SFLOAT, 0, &planes);
    stream = fx_stream(&fx, 96, 80, 48, 40, 0);
    struct hs_stream_info before, after;
    hs_stream_describe(stream, &before);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        struct hs_frame frame = fx_planes_frame(&planes, 0);
        changes[i].apply(&frame);
        shim_reset();
        fx.last[0] = 0;
        int code = fx_frame(&fx, stream, &frame);
        REQUIRE_MSG(code == changes[i].code, "%s gives %d: %s", changes[i].what, code, fx.last);
        REQUIRE_MSG(strstr(fx.last, changes[i].word), "%s says: %s", changes[i].what, fx.last);
        REQUIRE_EQ(shim.commands, 0);
        REQUIRE_EQ(shim.creates, 0);
    }
    hs_stream_describe(stream, &after);
    REQUIRE_MEM(&before, &after, sizeof(before));
    struct hs_frame frame = fx_planes_frame(&planes, 0);
    REQUIRE_EQ(hs_stream_record(NULL, &frame, VK_NULL_HANDLE), HS_ERR_INVALID);
    REQUIRE_EQ(hs_stream_record(stream, &frame, VK_NULL_HANDLE), HS_ERR_INVALID);
    REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
    REQUIRE(shim.commands > 0);
    fx_wait(&fx);

    struct hs_stage_time times[HS_MAX_STAGES];
    uint64_t index;
    REQUIRE_EQ(hs_stream_timings(stream, times, &index), HS_ERR_INVALID);
    hs_stream_destroy(&stream);
    fx_planes_destroy(&fx, &planes);
    fx_close(&fx);
}

static const struct test_case cases[] = {
    {"refused streams", refused_streams},
    {"refused frames", refused_frames},
};
TEST_MAIN(cases)
