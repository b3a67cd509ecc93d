// SPDX-License-Identifier: MIT
// The bundled Blender sequence through the GPU and through the reference, apart from each other.
#include <math.h>

#include "stages.h"
#include "tests/test.h"

#define FRAMES 12

struct planes {
    float *colour, *depth, *motion;
};

static struct planes read_planes(struct hsio_frame *file, size_t pixels)
{
    struct planes p = {
        .colour = malloc(pixels * 16),
        .depth = malloc(pixels * 4),
        .motion = malloc(pixels * 8),
    };
    REQUIRE(p.colour && p.depth && p.motion);
    const struct hsio_plane_request requests[] = {
        {.plane = HSIO_PLANE_COLOR,
         .format = HSIO_FORMAT_RGBA32F,
         .buffer = p.colour,
         .buffer_bytes = pixels * 16},
        {.plane = HSIO_PLANE_DEPTH,
         .format = HSIO_FORMAT_R32F,
         .buffer = p.depth,
         .buffer_bytes = pixels * 4},
        {.plane = HSIO_PLANE_MOTION,
         .format = HSIO_FORMAT_RG32F,
         .buffer = p.motion,
         .buffer_bytes = pixels * 8},
    };
    REQUIRE_EQ(hsio_frame_read(file, requests, 3), 0);
    return p;
}

static void real_sequence(struct test_rng *rng)
{
    (void)rng;
    char path[4096];
    const char *root = getenv("HS_SOURCE_ROOT");
    REQUIRE(root);
    snprintf(path, sizeof(path), "%s/samples/bridge/lr", root);
    struct fixture fx;
    FX_OPEN(&fx, NULL, "taau");
    struct hsio_convention convention;
    struct hsio_sequence *sequence;
    REQUIRE_EQ(hsio_convention_preset(&convention, "blender", &fx.log), 0);
    REQUIRE_EQ(hsio_sequence_open(path, &convention, NULL, &fx.log, &sequence), 0);
    struct hsio_sequence_info info;
    hsio_sequence_info(sequence, &info);
    REQUIRE_EQ(info.frame_count, FRAMES);
    const uint32_t w = (uint32_t)info.width, h = (uint32_t)info.height;
    struct hs_stream *stream = fx_stream(&fx, 2 * w, 2 * h, w, h, 0);
    struct hs_ref_stream *ref = hs_ref_stream_create((int)(2 * w), (int)(2 * h), false);
    struct hs_ref_plane want = hs_ref_plane_make((int)(2 * w), (int)(2 * h), 4);
    REQUIRE(ref && want.texels);
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    double least = INFINITY;
    for (int i = 0; i < FRAMES; i++) {
        struct hsio_frame *file;
        REQUIRE_EQ(hsio_frame_open(sequence, i, &file), 0);
        const struct hsio_frame_info *about = hsio_frame_info(file);
        struct planes p = read_planes(file, (size_t)w * h);
        const VkImageUsageFlags sampled = VK_IMAGE_USAGE_SAMPLED_BIT;
        struct vkdev_image colour =
            fx_image(&fx, VK_FORMAT_R32G32B32A32_SFLOAT, w, h, sampled, read, p.colour);
        struct vkdev_image depth =
            fx_image(&fx, VK_FORMAT_R32_SFLOAT, w, h, sampled, read, p.depth);
        struct vkdev_image motion =
            fx_image(&fx, VK_FORMAT_R32G32_SFLOAT, w, h, sampled, read, p.motion);
        struct vkdev_image output =
            fx_image(&fx, VK_FORMAT_R32G32B32A32_SFLOAT, 2 * w, 2 * h, VK_IMAGE_USAGE_STORAGE_BIT,
                     VK_IMAGE_LAYOUT_GENERAL, NULL);
        struct hs_camera camera;
        REQUIRE(about->has_view && about->has_proj && about->has_jitter);
        for (int k = 0; k < 16; k++) {
            camera.world_to_view[k] = (double)about->view[k];
            camera.view_to_clip[k] = (double)about->proj[k];
        }
        struct hs_frame frame = {
            .colour = fx_plane(&colour, read),
            .depth = fx_plane(&depth, read),
            .motion = fx_plane(&motion, read),
            .output = fx_plane(&output, VK_IMAGE_LAYOUT_GENERAL),
            .render_width = w,
            .render_height = h,
            .jitter = {about->jitter_px[0], about->jitter_px[1]},
            .motion_params = {.scale = {1, -1}, .unwritten = HS_MOTION_UNWRITTEN_ZERO_FAR},
            .depth_params.far_value = 1e10f,
            .camera = &camera,
        };
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
        fx_wait(&fx);
        const struct hs_ref_inputs in = {
            .colour = {(int)w, (int)h, 4, p.colour},
            .depth = {(int)w, (int)h, 1, p.depth},
            .motion = {(int)w, (int)h, 2, p.motion},
            .wide = true,
        };
        REQUIRE_EQ(hs_ref_stream_frame(ref, &frame, &in, &want), 0);
        struct hs_ref_plane got =
            gpu_image_read(&fx, output.image, output.format, 2 * w, 2 * h, VK_IMAGE_LAYOUT_GENERAL);
        double error = 0;
        for (size_t k = 0; k < (size_t)w * h * 16; k++) {
            const double g = (double)got.texels[k], r = (double)want.texels[k];
            const double d = pow(g / (1 + g), 1 / 2.2) - pow(r / (1 + r), 1 / 2.2);
            error += d * d;
        }
        const double psnr = -10 * log10(error / ((double)w * h * 16) + 1e-12);
        printf("  frame %lld: %.1f dB\n", (long long)about->number, psnr);
        least = fmin(least, psnr);
        hs_ref_plane_finish(&got);
        hs_stream_forget(stream, VK_NULL_HANDLE);
        vkdev_image_destroy(&fx.dev, &colour);
        vkdev_image_destroy(&fx.dev, &depth);
        vkdev_image_destroy(&fx.dev, &motion);
        vkdev_image_destroy(&fx.dev, &output);
        free(p.colour);
        free(p.depth);
        free(p.motion);
        hsio_frame_close(&file);
    }
    // Decisions that fall the other way at ties cost most; see test_stages for what they are.
    REQUIRE(least >= 60);
    hs_ref_plane_finish(&want);
    hs_ref_stream_destroy(&ref);
    hs_stream_destroy(&stream);
    hsio_sequence_close(&sequence);
    fx_close(&fx);
}

static const struct test_case cases[] = {
    {"real sequence", real_sequence},
};
TEST_MAIN(cases)
