// SPDX-License-Identifier: MIT
// Frames in two parts around a network that is run outside, here by the C reference on the host:
// of integers the pictures are those of the engine's own network to the last bit, of floats as near
// as half floats around the network let them be. The buffers may be another device's, too, shared
// by file descriptors, as another runtime would have them.
#include <math.h>

#include "recipe.h"
#include "shared.h"
#include "tests/test.h"

#define FRAMES 6

/** The two buffers, on the host. */
struct outside {
    struct hs_split_info info;
    struct vkdev_buffer features, head;
    /** Those of another device; or the same. */
    struct vkdev other;
    struct vkdev_buffer other_features, other_head;
};

/** False: the device shares no memory. */
static bool make_outside(struct fixture *fx, const struct hs_model *model, const struct recipe *r,
                         bool shared, struct outside *o)
{
    *o = (struct outside){.other = {0}};
    REQUIRE_EQ(hs_model_split(model, r->render_width, r->render_height, r->out_width, r->out_height,
                              &o->info),
               0);
    const VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    const VkDeviceSize features = o->info.features_bytes, head = o->info.head_bytes;
    if (!shared) {
        REQUIRE_EQ(vkdev_buffer_create(&fx->dev, features, usage, true, &o->features), 0);
        REQUIRE_EQ(vkdev_buffer_create(&fx->dev, head, usage, false, &o->head), 0);
        o->other_features = o->features;
        o->other_head = o->head;
        return true;
    }
    const char *select = getenv("HS_TEST_DEVICE");
    int features_fd, head_fd;
    if (!shared_export(&fx->dev, features, &o->features, &features_fd))
        return false;
    REQUIRE(shared_export(&fx->dev, head, &o->head, &head_fd));
    REQUIRE_EQ(vkdev_open(&o->other, &(struct vkdev_params){.select = select ? select : "cpu"}), 0);
    shared_import(&o->other, features, features_fd, &o->other_features);
    shared_import(&o->other, head, head_fd, &o->other_head);
    return true;
}

static void drop_outside(struct fixture *fx, struct outside *o)
{
    if (o->other.device) {
        vkdev_buffer_destroy(&o->other, &o->other_features);
        vkdev_buffer_destroy(&o->other, &o->other_head);
        vkdev_close(&o->other);
    }
    vkdev_buffer_destroy(&fx->dev, &o->features);
    vkdev_buffer_destroy(&fx->dev, &o->head);
}

static struct hs_stream *open_split(struct hs_model *model, const struct recipe *r,
                                    const struct outside *o)
{
    const struct hs_split split = {o->features.buffer, o->head.buffer, o->info.features_bytes,
                                   o->info.head_bytes};
    return open_stream_as(model, r, 0, &split);
}

/** Makes the head of the features, in the form that the buffers have. */
static void run_outside(const struct hs_weights *weights, const struct hs_split_info *info,
                        const void *features, void *head)
{
    struct hs_ref_network network;
    struct hs_ref_plane in =
        hs_ref_plane_make((int)info->width, (int)info->height, (int)info->features);
    REQUIRE(in.texels);
    const size_t tokens = (size_t)info->width * info->height;
    for (size_t i = 0; i < tokens * info->features; i++) {
        // The reference rounds features itself.
        if (info->integers)
            in.texels[i] = (float)((const int8_t *)features)[i] /
                           weights->feature_multipliers[i % info->features];
        else
            in.texels[i] = hsio_half_to_float(((const uint16_t *)features)[i]);
    }
    REQUIRE_EQ(hs_ref_network_run(weights, &in, &network), 0);
    const struct hs_ref_plane *out = &network.layers[network.layer_count - 1].result;
    REQUIRE_EQ(out->width, (int)info->width);
    REQUIRE_EQ(out->height, (int)info->height);
    REQUIRE_EQ(out->channels, (int)info->outputs);
    for (size_t i = 0; i < tokens * info->outputs; i++) {
        if (info->integers)
            ((float *)head)[i] = out->texels[i];
        else
            ((uint16_t *)head)[i] = hsio_float_to_half(out->texels[i]);
    }
    hs_ref_network_finish(&network);
    hs_ref_plane_finish(&in);
}

static struct hs_ref_plane split_picture(struct fixture *fx, struct hs_stream *stream,
                                         const struct hs_model *model, const struct file *file,
                                         const struct outside *o, const struct source *s)
{
    VkCommandBuffer front, back;
    const struct vkdev_image *out = &s->planes.output;
    struct hs_split_info now;
    REQUIRE_EQ(vkdev_begin(&fx->dev, &front), 0);
    REQUIRE_EQ(vkdev_begin(&fx->dev, &back), 0);
    REQUIRE_EQ(hs_stream_record_split(stream, &s->frame, front, back), 0);
    const VkMemoryBarrier2 to_host = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
        .srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
        .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT,
    };
    vkCmdPipelineBarrier2(front, &(VkDependencyInfo){
                                     .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                     .memoryBarrierCount = 1,
                                     .pMemoryBarriers = &to_host,
                                 });
    REQUIRE_EQ(vkdev_submit_wait(&fx->dev, front), 0);
    REQUIRE_EQ(hs_model_split(model, s->frame.render_width, s->frame.render_height, out->width,
                              out->height, &now),
               0);
    run_outside(file->weights, &now, o->other_features.map, o->other_head.map);
    REQUIRE_EQ(vkdev_submit_wait(&fx->dev, back), 0);
    struct hs_ref_plane p = gpu_image_read(fx, out->image, out->format, out->width, out->height,
                                           VK_IMAGE_LAYOUT_GENERAL);
    hs_stream_forget(stream, VK_NULL_HANDLE);
    return p;
}

static void compare(struct test_rng *rng, const struct fx_model_config *config, enum hs_path path,
                    const struct recipe *r, bool shared, double least)
{
    struct fixture fx;
    struct error error = {0};
    struct file file = write_model(rng, config);
    FX_OPEN(&fx, NULL, NULL);
    struct hs_model *model = load(&fx, &file, path);
    struct outside o;
    if (!make_outside(&fx, model, r, shared, &o)) {
        hs_model_destroy(&model);
        fx_close(&fx);
        drop_model(&file);
        TEST_SKIP("the device shares no memory");
    }
    struct hs_stream *own = open_stream(model, r), *split = open_split(model, r, &o);
    for (int time = 0; time < FRAMES; time++) {
        struct source s;
        make_source(&fx, r, time, &s);
        struct hs_ref_plane want = picture(&fx, own, &s);
        struct hs_ref_plane got = split_picture(&fx, split, model, &file, &o, &s);
        add_pictures(&error, &got, &want);
        hs_ref_plane_finish(&got);
        hs_ref_plane_finish(&want);
        drop_source(&fx, &s);
    }
    printf("  %s, %s: %.1f dB\n", r->name, path == HS_PATH_MATRIX ? "matrix" : "plain",
           decibels(&error));
    // Equal to the last bit, or nearly.
    if (isinf(least))
        REQUIRE(error.sum <= 0);
    else
        REQUIRE(decibels(&error) >= least);
    hs_stream_destroy(&own);
    hs_stream_destroy(&split);
    drop_outside(&fx, &o);
    hs_model_destroy(&model);
    fx_close(&fx);
    drop_model(&file);
}

static void integers(struct test_rng *rng)
{
    static const struct recipe recipes[] = {
        {"two times, sharpened", 48, 40, 24, 20, 0, .half = true, .sharpness = 0.5f},
        {"unequal ratios, resized", 57, 43, 31, 40, 0, .small_width = 22, .small_height = 17},
    };
    compare(rng, &fx_model_integers, HS_PATH_PLAIN, &recipes[0], false, INFINITY);
    compare(rng, &fx_model_integers, HS_PATH_PLAIN, &recipes[1], false, INFINITY);
    compare(rng, &fx_model_integers, HS_PATH_MATRIX, &recipes[0], false, INFINITY);
}

static void floats(struct test_rng *rng)
{
    static const struct recipe recipes[] = {
        {"odd sizes", 49, 43, 31, 22, 0, .half = true},
        {"behind guides, display-referred", 48, 40, 24, 20, HS_STREAM_LDR, .ray = true,
         .guides = 1 << GUIDE_DIFFUSE | 1 << GUIDE_NORMAL},
    };
    struct fx_model_config tiny = fx_model_tiny, ray = fx_model_ray;
    tiny.head = ray.head = 0.25f;
    compare(rng, &tiny, HS_PATH_PLAIN, &recipes[0], false, 50);
    compare(rng, &ray, HS_PATH_PLAIN, &recipes[1], false, 50);
    compare(rng, &tiny, HS_PATH_MATRIX, &recipes[0], false, 50);
}

static void another_device(struct test_rng *rng)
{
    static const struct recipe recipe = {"shared memory", 48, 40, 24, 20, 0, .half = true};
    compare(rng, &fx_model_integers, HS_PATH_PLAIN, &recipe, true, INFINITY);
}

// hs_model_split(), hs_stream_create(), hs_stream_record(), hs_stream_record_split():
// HS_ERR_INVALID and HS_ERR_UNSUPPORTED.
static void refused(struct test_rng *rng)
{
    static const struct recipe r = {"small", 48, 40, 24, 20, 0, .half = true};
    struct fixture fx;
    struct hs_split_info info;
    struct hs_stream *stream = NULL;
    struct file file = write_model(rng, &fx_model_integers);
    FX_OPEN(&fx, NULL, "taau");
    fx.quiet = true;
    struct hs_model *model = load(&fx, &file, HS_PATH_PLAIN);
    REQUIRE_EQ(hs_model_split(NULL, 24, 20, 48, 40, &info), HS_ERR_INVALID);
    REQUIRE_EQ(hs_model_split(model, 24, 20, 48, 40, NULL), HS_ERR_INVALID);
    REQUIRE_EQ(hs_model_split(model, 24, 20, 0, 40, &info), HS_ERR_INVALID);
    REQUIRE_EQ(hs_model_split(fx.model, 24, 20, 48, 40, &info), HS_ERR_UNSUPPORTED);
    REQUIRE_EQ(hs_model_split(model, 23, 21, 48, 40, &info), 0);
    REQUIRE(info.width == 24 && info.height == 24 && info.integers);
    REQUIRE_EQ(info.features_bytes, 24 * 24 * 64);
    REQUIRE_EQ(info.head_bytes, 24 * 24 * 48 * 4);
    struct outside o;
    REQUIRE(make_outside(&fx, model, &r, false, &o));
    struct hs_split split = {o.features.buffer, o.head.buffer, o.info.features_bytes,
                             o.info.head_bytes - 1};
    struct hs_stream_params params = {
        .out_width = 48, .out_height = 40, .max_render_width = 24, .max_render_height = 20};
    params.split = &split;
    REQUIRE_EQ(hs_stream_create(model, &params, &stream), HS_ERR_INVALID);
    split.head_bytes++;
    split.features = VK_NULL_HANDLE;
    REQUIRE_EQ(hs_stream_create(model, &params, &stream), HS_ERR_INVALID);
    split.features = o.features.buffer;
    REQUIRE_EQ(hs_stream_create(fx.model, &params, &stream), HS_ERR_UNSUPPORTED);
    struct hs_stream *own = open_stream(model, &r);
    stream = open_split(model, &r, &o);
    struct source s;
    make_source(&fx, &r, 0, &s);
    REQUIRE_EQ(fx_frame(&fx, stream, &s.frame), HS_ERR_INVALID);
    VkCommandBuffer front, back;
    REQUIRE_EQ(vkdev_begin(&fx.dev, &front), 0);
    REQUIRE_EQ(vkdev_begin(&fx.dev, &back), 0);
    REQUIRE_EQ(hs_stream_record_split(own, &s.frame, front, back), HS_ERR_INVALID);
    REQUIRE_EQ(hs_stream_record_split(stream, &s.frame, front, VK_NULL_HANDLE), HS_ERR_INVALID);
    REQUIRE_EQ(hs_stream_record_split(stream, NULL, front, back), HS_ERR_INVALID);
    struct hs_aov aov = {0};
    s.frame.aovs = &aov;
    s.frame.aov_count = 1;
    REQUIRE_EQ(hs_stream_record_split(stream, &s.frame, front, back), HS_ERR_UNSUPPORTED);
    REQUIRE(strstr(fx.last, "AOVs"));
    REQUIRE_EQ(vkdev_submit_wait(&fx.dev, front), 0);
    REQUIRE_EQ(vkdev_submit_wait(&fx.dev, back), 0);
    drop_source(&fx, &s);
    hs_stream_destroy(&own);
    hs_stream_destroy(&stream);
    drop_outside(&fx, &o);
    hs_model_destroy(&model);
    fx_close(&fx);
    drop_model(&file);
}

static const struct test_case cases[] = {
    {"integers", integers},
    {"floats", floats},
    {"another device", another_device},
    {"refused", refused},
};
TEST_MAIN(cases)
