// SPDX-License-Identifier: MIT
#include "recipe.h"

#include <math.h>
#include <unistd.h>

#include "tests/test.h"

struct file write_model(struct test_rng *rng, const struct fx_model_config *config)
{
    struct file f;
    struct fx_model_file file = fx_model_file_make(rng, config);
    static int count;
    snprintf(f.path, sizeof(f.path), "hs-network-%ld-%d.safetensors", (long)getpid(), count++);
    fx_model_file_write(&file, f.path);
    fx_model_file_finish(&file);
    f.weights = NULL;
    REQUIRE_EQ(hs_weights_load(NULL, f.path, &f.weights), 0);
    return f;
}

void drop_model(struct file *f)
{
    hs_weights_destroy(&f->weights);
    remove(f->path);
}

struct hs_model *load(struct fixture *fx, const struct file *file, enum hs_path path)
{
    struct hs_model *model = NULL;
    REQUIRE_EQ(hs_model_load(fx->device,
                             &(struct hs_model_params){.file = file->path, .path = path}, &model),
               0);
    return model;
}

struct hs_stream *open_stream_as(struct hs_model *model, const struct recipe *r, uint32_t bands,
                                 const struct hs_split *split)
{
    struct hs_stream *stream = NULL;
    REQUIRE_EQ(hs_stream_create(model,
                                &(struct hs_stream_params){
                                    .out_width = r->out_width,
                                    .out_height = r->out_height,
                                    .max_render_width = r->render_width,
                                    .max_render_height = r->render_height,
                                    .flags = r->stream_flags,
                                    .bands = bands,
                                    .split = split,
                                },
                                &stream),
               0);
    return stream;
}

struct hs_stream *open_stream(struct hs_model *model, const struct recipe *r)
{
    return open_stream_as(model, r, 0, NULL);
}

/**
 * The colour with strong noise, as float or half. Deviations of nearly equal samples are rounding
 * only, and what is measured by them is noise on every side.
 */
static void grain(struct fixture *fx, const struct recipe *r, int time, struct source *s)
{
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    const struct vkdev_image *smooth = &s->planes.colour;
    const uint32_t w = smooth->width, h = smooth->height;
    const size_t values = (size_t)w * h * 4;
    struct test_rng rng = {0x4321 + (uint64_t)time};
    uint16_t *halves = malloc(values * sizeof(*halves));
    REQUIRE(halves);
    s->in.colour = gpu_image_read(fx, smooth->image, smooth->format, w, h, read);
    for (size_t i = 0; i < values; i++) {
        float *value = &s->in.colour.texels[i];
        if (i % 4 != 3)
            *value *= test_rng_float(&rng, 0.2f, 1.8f);
        else if (r->opaque)
            *value = 1;
        halves[i] = hsio_float_to_half(*value);
        if (r->half)
            *value = hsio_half_to_float(halves[i]);
    }
    s->colour = fx_image(fx, r->half ? VK_FORMAT_R16G16B16A16_SFLOAT : smooth->format, w, h,
                         VK_IMAGE_USAGE_SAMPLED_BIT, read,
                         r->half ? (const void *)halves : s->in.colour.texels);
    s->frame.colour = fx_plane(&s->colour, read);
    free(halves);
}

void make_source(struct fixture *fx, const struct recipe *r, int time, struct source *s)
{
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    const bool small = r->small_width && time % 3 == 2;
    const uint32_t w = small ? r->small_width : r->render_width;
    const uint32_t h = small ? r->small_height : r->render_height;
    *s = (struct source){0};
    fx_planes_create(fx, w, h, r->out_width, r->out_height, VK_FORMAT_R32G32B32A32_SFLOAT, time,
                     &s->planes);
    s->frame = fx_planes_frame(&s->planes, time);
    grain(fx, r, time, s);
    s->in.wide = !r->half;
    s->frame.sharpness = r->sharpness;
    s->frame.reset = time == 5;
    if (r->ray) {
        const struct guide_form plain = {0};
        guides_create(fx, &plain, NULL, w, h, time, &s->guides);
        guides_lend(&s->guides, &plain, r->guides, &s->frame);
        guides_read(fx, &s->guides, r->guides, &s->in);
    }
    if (r->no_depth)
        s->frame.depth.view = VK_NULL_HANDLE;
    else
        s->in.depth = gpu_image_read(fx, s->planes.depth.image, s->planes.depth.format, w, h, read);
    if (r->no_motion)
        s->frame.motion.view = VK_NULL_HANDLE;
    else
        s->in.motion =
            gpu_image_read(fx, s->planes.motion.image, s->planes.motion.format, w, h, read);
}

void drop_source(struct fixture *fx, struct source *s)
{
    guides_finish(&s->in);
    guides_destroy(fx, &s->guides);
    hs_ref_plane_finish(&s->in.colour);
    hs_ref_plane_finish(&s->in.depth);
    hs_ref_plane_finish(&s->in.motion);
    vkdev_image_destroy(&fx->dev, &s->colour);
    fx_planes_destroy(fx, &s->planes);
}

struct hs_ref_plane picture(struct fixture *fx, struct hs_stream *stream, const struct source *s)
{
    const struct vkdev_image *out = &s->planes.output;
    REQUIRE_EQ(fx_frame(fx, stream, &s->frame), 0);
    fx_wait(fx);
    struct hs_ref_plane p = gpu_image_read(fx, out->image, out->format, out->width, out->height,
                                           VK_IMAGE_LAYOUT_GENERAL);
    hs_stream_forget(stream, VK_NULL_HANDLE);
    return p;
}

double decibels(const struct error *e)
{
    return -10 *
           log10(e->sum / (double)e->count / (e->power ? e->power / (double)e->count : 1) + 1e-15);
}

void add_pictures(struct error *e, const struct hs_ref_plane *a, const struct hs_ref_plane *b)
{
    for (int i = 0; i < a->width * a->height * 4; i++) {
        const double x = (double)a->texels[i], y = (double)b->texels[i];
        const double d = x / (1 + fabs(x)) - y / (1 + fabs(y));
        REQUIRE(isfinite(d));
        e->sum += d * d;
        e->count++;
    }
}
