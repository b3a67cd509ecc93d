// SPDX-License-Identifier: MIT
// Formats, layouts, rectangles, and the two ways of every plane: direct and through a copy.
#include "fixture.h"
#include "tests/test.h"

#define RW 48
#define RH 40
#define OW 96
#define OH 80
#define FRAMES 3

static struct fixture fx;

/** Deliberate hazard: the layer must see it, or silence elsewhere would mean nothing. */
static void validation_is_on(struct test_rng *rng)
{
    (void)rng;
    FX_OPEN(&fx, NULL, NULL);
    struct vkdev_buffer buffer;
    VkCommandBuffer cmd;
    REQUIRE_EQ(vkdev_buffer_create(&fx.dev, 256, VK_BUFFER_USAGE_TRANSFER_DST_BIT, false, &buffer),
               0);
    fx.log.level = HS_LOG_NONE;
    fx.dev.log_copy.level = HS_LOG_NONE;
    REQUIRE_EQ(vkdev_begin(&fx.dev, &cmd), 0);
    vkCmdFillBuffer(cmd, buffer.buffer, 0, 256, 1);
    vkCmdFillBuffer(cmd, buffer.buffer, 0, 256, 2);
    REQUIRE_EQ(vkdev_submit_wait(&fx.dev, cmd), 0);
    REQUIRE(fx.dev.messages > 0);
    fx.dev.messages = 0;
    vkdev_buffer_destroy(&fx.dev, &buffer);
    fx_close(&fx);
}

/** Runs FRAMES frames with every plane changed by `change`; returns the last output's bytes. */
static void *run(struct fx_planes *planes, void (*change)(struct hs_frame *frame, void *priv),
                 void *priv)
{
    struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, 0);
    for (int i = 0; i < FRAMES; i++) {
        struct hs_frame frame = fx_planes_frame(&planes[i], i);
        if (change)
            change(&frame, priv);
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
    }
    fx_wait(&fx);
    void *bytes = fx_read(&fx, &planes[FRAMES - 1].output, VK_IMAGE_LAYOUT_GENERAL);
    hs_stream_destroy(&stream);
    return bytes;
}

static void create_all(struct fx_planes *planes, VkFormat output)
{
    for (int i = 0; i < FRAMES; i++)
        fx_planes_create(&fx, RW, RH, OW, OH, output, i, &planes[i]);
}

static void destroy_all(struct fx_planes *planes)
{
    for (int i = 0; i < FRAMES; i++)
        fx_planes_destroy(&fx, &planes[i]);
}

static void copy_planes(struct hs_frame *frame, void *priv)
{
    struct hs_image *all[] = {&frame->colour, &frame->depth, &frame->motion, &frame->output};
    int mask = *(int *)priv;
    for (int i = 0; i < 4; i++)
        all[i]->flags = mask >> i & 1 ? HS_IMAGE_COPY : 0;
}

static void direct_equals_copy(struct test_rng *rng)
{
    (void)rng;
    static const VkFormat outputs[] = {
        VK_FORMAT_R16G16B16A16_SFLOAT,      VK_FORMAT_R32G32B32A32_SFLOAT,
        VK_FORMAT_A2B10G10R10_UNORM_PACK32, VK_FORMAT_R8G8B8A8_UNORM,
        VK_FORMAT_B8G8R8A8_UNORM,           VK_FORMAT_R16G16B16A16_UNORM,
    };
    struct fx_planes planes[FRAMES];
    FX_OPEN(&fx, NULL, "taau");
    for (size_t f = 0; f < sizeof(outputs) / sizeof(outputs[0]); f++) {
        create_all(planes, outputs[f]);
        const size_t bytes = (size_t)OW * OH * vkdev_format_bytes(outputs[f]);
        void *direct = run(planes, NULL, NULL);
        // Every plane alone, then all of them.
        for (int mask = 1; mask <= 16; mask = mask == 8 ? 15 : mask * 2 > 15 ? 17 : mask * 2) {
            void *copied = run(planes, copy_planes, &mask);
            REQUIRE_MEM(direct, copied, bytes);
            free(copied);
        }
        free(direct);
        destroy_all(planes);
    }
    fx_close(&fx);
}

static float *as_float(const void *data, VkFormat format, size_t values)
{
    float *out = malloc(values * sizeof(float));
    REQUIRE(out);
    for (size_t i = 0; i < values; i++) {
        if (format == VK_FORMAT_R32G32B32A32_SFLOAT)
            out[i] = ((const float *)data)[i];
        else if (format == VK_FORMAT_R16G16B16A16_SFLOAT)
            out[i] = hsio_half_to_float(((const uint16_t *)data)[i]);
        else if (format == VK_FORMAT_R16G16B16A16_UNORM)
            out[i] = (float)((const uint16_t *)data)[i] / 65535.0f;
        else
            out[i] = (float)((const uint8_t *)data)[i] / 255.0f;
    }
    return out;
}

static float encode_srgb(float x)
{
    return x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
}

/** Formats that store the same picture agree to their own precision. */
static void output_formats_agree(struct test_rng *rng)
{
    (void)rng;
    static const struct {
        VkFormat format;
        float step;
    } outputs[] = {
        // One unit in the last place: Vulkan leaves the rounding of stores to the device.
        {VK_FORMAT_R16G16B16A16_SFLOAT, 0x1p-10f}, {VK_FORMAT_R16G16B16A16_UNORM, 0.6f / 65535},
        {VK_FORMAT_R8G8B8A8_UNORM, 0.6f / 255},    {VK_FORMAT_B8G8R8A8_UNORM, 0.6f / 255},
        {VK_FORMAT_R8G8B8A8_SRGB, 0.8f / 255},
    };
    const size_t values = (size_t)OW * OH * 4;
    struct fx_planes planes[FRAMES];
    FX_OPEN(&fx, NULL, "taau");
    create_all(planes, VK_FORMAT_R32G32B32A32_SFLOAT);
    float *exact = run(planes, NULL, NULL);
    destroy_all(planes);
    for (size_t f = 0; f < sizeof(outputs) / sizeof(outputs[0]); f++) {
        create_all(planes, outputs[f].format);
        void *bytes = run(planes, NULL, NULL);
        float *got = as_float(bytes, outputs[f].format, values);
        for (size_t i = 0; i < values; i++) {
            const bool swapped = outputs[f].format == VK_FORMAT_B8G8R8A8_UNORM;
            const size_t k = swapped && i % 4 < 3 ? i - i % 4 + (2 - i % 4) : i;
            const bool wide = outputs[f].format == VK_FORMAT_R16G16B16A16_SFLOAT;
            float want = wide ? exact[k] : fminf(fmaxf(exact[k], 0), 1);
            if (outputs[f].format == VK_FORMAT_R8G8B8A8_SRGB && i % 4 < 3)
                want = encode_srgb(want);
            const float bound =
                wide ? outputs[f].step * fmaxf(fabsf(want), 0x1p-10f) : outputs[f].step;
            REQUIRE_NEAR(got[i], want, bound);
        }
        free(got);
        free(bytes);
        destroy_all(planes);
    }
    free(exact);
    fx_close(&fx);
}

/** One input plane in another format with values that both formats hold exactly. */
static void input_formats_agree(struct test_rng *rng)
{
    static const VkFormat motions[] = {VK_FORMAT_R16G16_SFLOAT, VK_FORMAT_R16G16B16A16_SFLOAT,
                                       VK_FORMAT_R32G32B32A32_SFLOAT};
    static const VkFormat depths[] = {VK_FORMAT_R16_SFLOAT, VK_FORMAT_D32_SFLOAT,
                                      VK_FORMAT_D32_SFLOAT_S8_UINT};
    struct fx_planes planes[FRAMES];
    (void)rng;
    FX_OPEN(&fx, NULL, "taau");
    create_all(planes, VK_FORMAT_R16G16B16A16_SFLOAT);
    // Hardware depth in halves of powers of two, so that half floats hold it.
    float depth[RW * RH];
    uint16_t depth16[RW * RH];
    for (int i = 0; i < RW * RH; i++) {
        depth[i] = i % RW < RW / 2 ? 0.25f : 0.0625f;
        depth16[i] = hsio_float_to_half(depth[i]);
    }
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    const size_t bytes = (size_t)OW * OH * 8;
    void *want = NULL;
    for (int d = -1; d < 3; d++) {
        const VkFormat format = d < 0 ? VK_FORMAT_R32_SFLOAT : depths[d];
        const void *data = format == VK_FORMAT_R16_SFLOAT ? (const void *)depth16 : depth;
        const VkImageLayout layout = d > 0 ? VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL : read;
        const VkImageUsageFlags usage =
            VK_IMAGE_USAGE_SAMPLED_BIT | (d > 0 ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT : 0);
        struct vkdev_image image = fx_image(&fx, format, RW, RH, usage, layout, data);
        for (int copy = 0; copy < 2; copy++) {
            struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, 0);
            for (int i = 0; i < FRAMES; i++) {
                struct hs_frame frame = fx_planes_frame(&planes[i], i);
                frame.depth = fx_plane(&image, layout);
                frame.depth.flags = copy ? HS_IMAGE_COPY : 0;
                frame.depth_params =
                    (struct hs_depth_params){.kind = HS_DEPTH_HARDWARE_INVERTED, .near_z = 0.1f};
                REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
            }
            fx_wait(&fx);
            void *got = fx_read(&fx, &planes[FRAMES - 1].output, VK_IMAGE_LAYOUT_GENERAL);
            if (want)
                REQUIRE_MEM(want, got, bytes);
            hs_stream_destroy(&stream);
            if (!want)
                want = got;
            else
                free(got);
        }
        vkdev_image_destroy(&fx.dev, &image);
    }
    free(want);
    want = run(planes, NULL, NULL);
    for (size_t m = 0; m < sizeof(motions) / sizeof(motions[0]); m++) {
        const uint32_t channels = vkdev_format_bytes(motions[m]) == 4 ? 2 : 4;
        const bool half = motions[m] != VK_FORMAT_R32G32B32A32_SFLOAT;
        float full[RW * RH * 4];
        uint16_t halves[RW * RH * 4];
        for (uint32_t i = 0; i < RW * RH * channels; i++) {
            full[i] = i % channels == 0 ? 1.75f : i % channels == 1 ? -0.5f : 99;
            halves[i] = hsio_float_to_half(full[i]);
        }
        struct vkdev_image image = fx_image(&fx, motions[m], RW, RH, VK_IMAGE_USAGE_SAMPLED_BIT,
                                            read, half ? (const void *)halves : full);
        struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, 0);
        for (int i = 0; i < FRAMES; i++) {
            struct hs_frame frame = fx_planes_frame(&planes[i], i);
            frame.motion = fx_plane(&image, read);
            REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
        }
        fx_wait(&fx);
        void *got = fx_read(&fx, &planes[FRAMES - 1].output, VK_IMAGE_LAYOUT_GENERAL);
        REQUIRE_MEM(want, got, bytes);
        free(got);
        hs_stream_destroy(&stream);
        vkdev_image_destroy(&fx.dev, &image);
    }
    free(want);
    destroy_all(planes);
    fx_close(&fx);
}

/** Inputs and output inside larger images, with neighbours that must not be read or written. */
static void rectangles(struct test_rng *rng)
{
    (void)rng;
    const uint32_t px = 5, py = 3, ox = 7, oy = 2;
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    struct fx_planes planes[FRAMES];
    FX_OPEN(&fx, NULL, "taau");
    create_all(planes, VK_FORMAT_R16G16B16A16_SFLOAT);
    uint16_t *want = run(planes, NULL, NULL);
    const uint32_t big_w = OW + 20, big_h = OH + 9;
    uint16_t *poison = malloc((size_t)big_w * big_h * 8);
    REQUIRE(poison);
    for (size_t i = 0; i < (size_t)big_w * big_h * 4; i++)
        poison[i] = 0x7e00; // NaN
    for (int copy = 0; copy < 2; copy++) {
        struct vkdev_image output =
            fx_image(&fx, VK_FORMAT_R16G16B16A16_SFLOAT, big_w, big_h, VK_IMAGE_USAGE_STORAGE_BIT,
                     VK_IMAGE_LAYOUT_GENERAL, poison);
        struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, 0);
        struct vkdev_image inputs[FRAMES][3];
        for (int i = 0; i < FRAMES; i++) {
            struct hs_frame frame = fx_planes_frame(&planes[i], i);
            const struct vkdev_image *small[3] = {&planes[i].colour, &planes[i].depth,
                                                  &planes[i].motion};
            struct hs_image *slots[3] = {&frame.colour, &frame.depth, &frame.motion};
            for (int k = 0; k < 3; k++) {
                const uint32_t step = vkdev_format_bytes(small[k]->format);
                char *data = fx_read(&fx, small[k], read);
                char *big = malloc((size_t)(RW + 11) * (RH + 8) * step);
                REQUIRE(big);
                memset(big, 0xff, (size_t)(RW + 11) * (RH + 8) * step);
                for (uint32_t y = 0; y < RH; y++)
                    memcpy(big + ((size_t)(y + py) * (RW + 11) + px) * step,
                           data + (size_t)y * RW * step, RW * step);
                inputs[i][k] = fx_image(&fx, small[k]->format, RW + 11, RH + 8,
                                        VK_IMAGE_USAGE_SAMPLED_BIT, read, big);
                *slots[k] = fx_plane(&inputs[i][k], read);
                slots[k]->x = px;
                slots[k]->y = py;
                slots[k]->flags = copy ? HS_IMAGE_COPY : 0;
                free(data);
                free(big);
            }
            frame.output = fx_plane(&output, VK_IMAGE_LAYOUT_GENERAL);
            frame.output.x = ox;
            frame.output.y = oy;
            frame.output.flags = copy ? HS_IMAGE_COPY : 0;
            REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
        }
        fx_wait(&fx);
        uint16_t *got = fx_read(&fx, &output, VK_IMAGE_LAYOUT_GENERAL);
        for (uint32_t y = 0; y < big_h; y++) {
            for (uint32_t x = 0; x < big_w; x++) {
                const uint16_t *p = &got[4 * ((size_t)y * big_w + x)];
                if (x >= ox && x < ox + OW && y >= oy && y < oy + OH)
                    REQUIRE_MEM(p, &want[4 * ((size_t)(y - oy) * OW + x - ox)], 8);
                else
                    REQUIRE_MEM(p, poison, 8);
            }
        }
        free(got);
        hs_stream_destroy(&stream);
        vkdev_image_destroy(&fx.dev, &output);
        for (int i = 0; i < FRAMES * 3; i++)
            vkdev_image_destroy(&fx.dev, &inputs[i / 3][i % 3]);
    }
    free(poison);
    free(want);
    destroy_all(planes);
    fx_close(&fx);
}

/** Layouts that can not be sampled go through a copy and come back as they were. */
static void layouts(struct test_rng *rng)
{
    (void)rng;
    static const VkImageLayout layouts_in[] = {VK_IMAGE_LAYOUT_GENERAL,
                                               VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                               VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL};
    static const VkImageLayout layouts_out[] = {VK_IMAGE_LAYOUT_UNDEFINED,
                                                VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                                                VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
    struct fx_planes planes[FRAMES];
    FX_OPEN(&fx, NULL, "taau");
    create_all(planes, VK_FORMAT_R16G16B16A16_SFLOAT);
    void *want = run(planes, NULL, NULL);
    for (int l = 0; l < 3; l++) {
        for (int copy = 0; copy < 2; copy++) {
            const VkImageLayout in = layouts_in[l], out = layouts_out[l];
            const VkImageLayout after =
                out == VK_IMAGE_LAYOUT_UNDEFINED ? VK_IMAGE_LAYOUT_GENERAL : out;
            struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, 0);
            struct vkdev_image colour[FRAMES], output[FRAMES];
            for (int i = 0; i < FRAMES; i++) {
                struct hs_frame frame = fx_planes_frame(&planes[i], i);
                void *data = fx_read(&fx, &planes[i].colour, frame.colour.layout);
                colour[i] = fx_image(&fx, planes[i].colour.format, RW, RH,
                                     VK_IMAGE_USAGE_SAMPLED_BIT, in, data);
                output[i] =
                    fx_image(&fx, planes[i].output.format, OW, OH,
                             VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT, after, NULL);
                free(data);
                frame.colour = fx_plane(&colour[i], in);
                frame.output = fx_plane(&output[i], out);
                frame.output.flags = copy ? HS_IMAGE_COPY : 0;
                REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
            }
            fx_wait(&fx);
            void *got = fx_read(&fx, &output[FRAMES - 1], after);
            REQUIRE_MEM(want, got, (size_t)OW * OH * 8);
            free(got);
            hs_stream_destroy(&stream);
            for (int i = 0; i < FRAMES; i++) {
                vkdev_image_destroy(&fx.dev, &colour[i]);
                vkdev_image_destroy(&fx.dev, &output[i]);
            }
        }
    }
    free(want);
    destroy_all(planes);
    fx_close(&fx);
}

/** One image lent as two planes, through copies, from a layout that has to change and come back. */
static void one_image_twice(struct test_rng *rng)
{
    (void)rng;
    struct fx_planes planes;
    FX_OPEN(&fx, NULL, "taau");
    fx_planes_create(&fx, RW, RH, OW, OH, VK_FORMAT_R16G16B16A16_SFLOAT, 0, &planes);
    const VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    // Eight bits are little for depth, but what video sources have.
    struct vkdev_image both =
        fx_image(&fx, VK_FORMAT_R8_UNORM, RW, RH, VK_IMAGE_USAGE_SAMPLED_BIT, layout, NULL);
    struct hs_stream *stream = fx_stream(&fx, OW, OH, RW, RH, 0);
    for (int i = 0; i < FRAMES; i++) {
        struct hs_frame frame = fx_planes_frame(&planes, i);
        frame.depth = fx_plane(&both, layout);
        frame.reactive = fx_plane(&both, layout);
        REQUIRE_EQ(fx_frame(&fx, stream, &frame), 0);
    }
    fx_wait(&fx);
    free(fx_read(&fx, &both, layout));
    hs_stream_destroy(&stream);
    vkdev_image_destroy(&fx.dev, &both);
    fx_planes_destroy(&fx, &planes);
    fx_close(&fx);
}

static const struct test_case cases[] = {
    {"one image twice", one_image_twice},
    {"validation is on", validation_is_on},
    {"direct equals copy", direct_equals_copy},
    {"output formats agree", output_formats_agree},
    {"input formats agree", input_formats_agree},
    {"rectangles", rectangles},
    {"layouts", layouts},
};
TEST_MAIN(cases)
