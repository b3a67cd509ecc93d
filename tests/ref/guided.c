// SPDX-License-Identifier: MIT
#include "guided.h"

#include <math.h>

#include "tests/test.h"

// The fixture's motion, so that surfaces stay the same ones.
#define SPEED_X 1.75f
#define SPEED_Y -0.5f

static const VkFormat formats[GUIDE_COUNT] = {
    VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT,
    VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32_SFLOAT};

/** Four tiles: matt, a gloss over colour, a rough metal, a mirror; black lines between them. */
static void paint(float x, float y, float values[GUIDE_COUNT][4])
{
    const int tile = ((int)floorf(x / 18 + 100) & 1) + 2 * ((int)floorf(y / 14 + 100) & 1);
    const float ripple = 0.3f * sinf(0.2f * x) * cosf(0.3f * y);
    const float l = sqrtf(ripple * ripple + 0.04f + 1);
    const float diffuse[4][3] = {{0.8f, 0.7f, 0.2f}, {0.1f, 0.4f, 0.5f}, {0, 0, 0}, {0, 0, 0.02f}};
    const float specular[4] = {0, 0.05f, 0.6f, 0.9f}, rough[4] = {1, 0.3f, 0.5f, 0.05f};
    const bool line = fmodf(x + 1800, 18) < 0.8f;
    for (int k = 0; k < 3; k++) {
        values[GUIDE_DIFFUSE][k] = line ? 0 : diffuse[tile][k];
        values[GUIDE_SPECULAR][k] = line ? 0 : specular[tile] * (tile == 2 && k == 2 ? 0.5f : 1);
    }
    values[GUIDE_NORMAL][0] = ripple / l;
    values[GUIDE_NORMAL][1] = 0.2f / l;
    values[GUIDE_NORMAL][2] = 1 / l;
    values[GUIDE_ROUGHNESS][0] = rough[tile];
    values[GUIDE_HIT][0] = tile == 3 ? 5 + 2 * sinf(0.1f * x) : tile == 1 ? INFINITY : 0;
}

static float stored_roughness(const struct guide_form *form, float r)
{
    switch (form->params.roughness) {
    case HS_ROUGHNESS_ALPHA:
        return r * r;
    case HS_ROUGHNESS_SMOOTHNESS:
        return 1 - r;
    default:
        return r;
    }
}

/** Turns canonical values into those of the form. */
static void store(const struct guide_form *form, const struct hs_camera *camera,
                  float values[GUIDE_COUNT][4])
{
    float n[3] = {values[GUIDE_NORMAL][0], values[GUIDE_NORMAL][1], values[GUIDE_NORMAL][2]};
    if (form->other_normal)
        n[0] *= 3;
    if (form->grazing)
        n[2] *= 0.1f;
    for (int r = 0; r < 3; r++) {
        float v = n[r];
        if (camera && form->params.normal_space == HS_NORMAL_VIEW)
            v = (float)(camera->world_to_view[4 * r] * (double)n[0] +
                        camera->world_to_view[4 * r + 1] * (double)n[1] +
                        camera->world_to_view[4 * r + 2] * (double)n[2]);
        values[GUIDE_NORMAL][r] = form->params.normal_unsigned ? 0.5f + 0.5f * v : v;
    }
    for (int k = 0; k < 3; k++) {
        values[GUIDE_DIFFUSE][k] *= form->other_diffuse && k ? 0.5f : 1;
        values[GUIDE_SPECULAR][k] *= form->other_specular && k ? 0.5f : 1;
    }
    if (form->other_roughness)
        values[GUIDE_ROUGHNESS][0] *= 0.5f;
    if (form->other_hit)
        values[GUIDE_HIT][0] = fminf(0.5f * values[GUIDE_HIT][0], 4);
    values[GUIDE_ROUGHNESS][0] = stored_roughness(form, values[GUIDE_ROUGHNESS][0]);
    values[GUIDE_NORMAL][3] = form->params.normal_packed ? values[GUIDE_ROUGHNESS][0] : 1;
}

void guides_create(struct fixture *fx, const struct guide_form *form,
                   const struct hs_camera *camera, uint32_t width, uint32_t height, int time,
                   struct guides *guides)
{
    float *planes[GUIDE_COUNT];
    for (int g = 0; g < GUIDE_COUNT; g++) {
        planes[g] = malloc((size_t)width * height * 4 * sizeof(float));
        REQUIRE(planes[g]);
    }
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            float values[GUIDE_COUNT][4] = {{0}};
            const size_t at = (size_t)y * width + x;
            paint((float)x + 0.5f + SPEED_X * (float)time, (float)y + 0.5f + SPEED_Y * (float)time,
                  values);
            store(form, camera, values);
            for (int g = 0; g < GUIDE_COUNT; g++) {
                const size_t channels = formats[g] == VK_FORMAT_R32_SFLOAT ? 1 : 4;
                memcpy(planes[g] + at * channels, values[g], channels * sizeof(float));
            }
        }
    }
    for (int g = 0; g < GUIDE_COUNT; g++) {
        guides->images[g] = fx_image(fx, formats[g], width, height, VK_IMAGE_USAGE_SAMPLED_BIT,
                                     VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, planes[g]);
        free(planes[g]);
    }
}

void guides_destroy(struct fixture *fx, struct guides *guides)
{
    for (int g = 0; g < GUIDE_COUNT; g++)
        vkdev_image_destroy(&fx->dev, &guides->images[g]);
}

void guides_lend(const struct guides *guides, const struct guide_form *form, int mask,
                 struct hs_frame *frame)
{
    struct hs_image *const to[GUIDE_COUNT] = {&frame->diffuse_albedo, &frame->specular_albedo,
                                              &frame->normal, &frame->roughness,
                                              &frame->hit_distance};
    frame->guide_params = form->params;
    for (int g = 0; g < GUIDE_COUNT; g++) {
        if (mask >> g & 1)
            *to[g] = fx_plane(&guides->images[g], VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    }
}

static struct hs_ref_plane *plane_of(struct hs_ref_inputs *in, int g)
{
    struct hs_ref_plane *const to[GUIDE_COUNT] = {&in->diffuse, &in->specular, &in->normal,
                                                  &in->roughness, &in->hit};
    return to[g];
}

void guides_read(struct fixture *fx, const struct guides *guides, int mask,
                 struct hs_ref_inputs *in)
{
    for (int g = 0; g < GUIDE_COUNT; g++) {
        const struct vkdev_image *image = &guides->images[g];
        if (mask >> g & 1)
            *plane_of(in, g) =
                gpu_image_read(fx, image->image, image->format, image->width, image->height,
                               VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    }
}

void guides_finish(struct hs_ref_inputs *in)
{
    for (int g = 0; g < GUIDE_COUNT; g++)
        hs_ref_plane_finish(plane_of(in, g));
}

struct hs_camera guides_camera(int time)
{
    const double turn = 0.02 * time, c = cos(turn), s = sin(turn);
    return (struct hs_camera){
        .world_to_view = {c, 0, -s, 0.05 * time, 0, 1, 0, -0.02 * time, s, 0, c, 0.1 * time, 0, 0,
                          0, 1},
        .view_to_clip = {1.5, 0, 0.03, 0, 0, 1.8, -0.02, 0, 0, 0, -1, -0.1, 0, 0, -1, 0},
    };
}

void guides_make_noisy(struct fixture *fx, const struct vkdev_image *colour,
                       const struct guides *guides, bool ldr, struct test_rng *rng)
{
    const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    float *c = fx_read(fx, colour, read), *d = fx_read(fx, &guides->images[0], read);
    float *s = fx_read(fx, &guides->images[1], read);
    for (uint32_t i = 0; i < colour->width * colour->height; i++) {
        const float light = test_rng_float(rng, 0.2f, 1.8f) * (test_rng_below(rng, 60) ? 1 : 20);
        for (uint32_t k = 0; k < 3; k++) {
            c[4 * i + k] *= light * (0.05f + d[4 * i + k] + s[4 * i + k]);
            if (ldr)
                c[4 * i + k] = fminf(c[4 * i + k], 1);
        }
        c[4 * i + 3] = 1;
    }
    fx_upload(fx, colour, read, c);
    free(c);
    free(d);
    free(s);
}
