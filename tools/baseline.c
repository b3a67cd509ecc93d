// SPDX-License-Identifier: MIT
// Single-frame filters on the CPU, to compare with: nearest and bicubic, both aware of jitter.
// Scene-linear colour is filtered as x / (1 + x): highlights would ring otherwise.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

struct baseline {
    struct tool_backend base;
    bool bicubic, ldr;
    int slots, out_width, out_height;
    struct {
        int width, height;
        float jitter[2];
    } *frames; ///< One per slot.
};

/** Keys' cubic with a = -0.5, at distance x. */
static float cubic(float x)
{
    x = fabsf(x);
    if (x < 1)
        return (1.5f * x - 2.5f) * x * x + 1;
    if (x < 2)
        return ((-0.5f * x + 2.5f) * x - 4) * x + 2;
    return 0;
}

struct taps {
    int index[4];
    float weight[4];
};

/** Where output pixel `at` falls between input samples, which lie at index + 0.5 + jitter. */
static struct taps make_taps(int at, int out_size, int size, float jitter, bool bicubic)
{
    float x = ((float)at + 0.5f) * (float)size / (float)out_size - 0.5f - jitter;
    int first = (int)floorf(bicubic ? x : x + 0.5f) - (bicubic ? 1 : 0);
    struct taps taps = {.weight = {1}};

    for (int i = 0; i < (bicubic ? 4 : 1); i++) {
        int index = first + i;

        taps.index[i] = index < 0 ? 0 : index >= size ? size - 1 : index;
        if (bicubic)
            taps.weight[i] = cubic(x - (float)index);
    }
    return taps;
}

#define MAX_COMPRESSED 0.9999f

static float compress(float x, bool linear)
{
    if (!isfinite(x))
        return 0;
    return linear ? x : x > 0 ? x / (1 + x) : 0;
}

static float expand(float x, bool linear)
{
    if (linear)
        return x;
    x = x > 0 ? x : 0;
    x = x < MAX_COMPRESSED ? x : MAX_COMPRESSED;
    return x / (1 - x);
}

static void resample(const struct baseline *b, int slot)
{
    const struct tool_slot_memory *memory = &b->base.memory[slot];
    const float *in = memory->input[HSIO_PLANE_COLOR];
    float *out = (float *)memory->output;
    int width = b->frames[slot].width, height = b->frames[slot].height;
    int count = b->bicubic ? 4 : 1;
    bool linear = b->ldr || !b->bicubic;

    for (int y = 0; y < b->out_height; y++) {
        struct taps rows =
            make_taps(y, b->out_height, height, b->frames[slot].jitter[1], b->bicubic);

        for (int x = 0; x < b->out_width; x++) {
            struct taps columns =
                make_taps(x, b->out_width, width, b->frames[slot].jitter[0], b->bicubic);
            float *pixel = out + 4 * ((size_t)y * b->out_width + x);

            memset(pixel, 0, 4 * sizeof(float));
            for (int v = 0; v < count; v++) {
                for (int u = 0; u < count; u++) {
                    const float *p = in + 4 * ((size_t)rows.index[v] * width + columns.index[u]);
                    float w = rows.weight[v] * columns.weight[u];

                    for (int c = 0; c < 4; c++)
                        pixel[c] += w * compress(p[c], linear || c == 3);
                }
            }
            for (int c = 0; c < 4; c++)
                pixel[c] = expand(pixel[c], linear || c == 3);
        }
    }
}

static int submit(struct tool_backend *backend, int slot, const struct hsio_frame_info *info,
                  const struct tool_frame_options *options)
{
    struct baseline *b = (struct baseline *)backend;

    (void)options;
    b->frames[slot].width = info->width;
    b->frames[slot].height = info->height;
    b->frames[slot].jitter[0] = info->jitter_px[0];
    b->frames[slot].jitter[1] = info->jitter_px[1];
    return 0;
}

/** Works here, where several threads may wait for different slots. */
static int wait_slot(struct tool_backend *backend, int slot)
{
    resample((struct baseline *)backend, slot);
    return 0;
}

static uint32_t messages(const struct tool_backend *backend)
{
    (void)backend;
    return 0;
}

static void destroy(struct tool_backend *backend)
{
    struct baseline *b = (struct baseline *)backend;

    for (int i = 0; b->base.memory && i < b->slots; i++) {
        free(b->base.memory[i].input[HSIO_PLANE_COLOR]);
        free((void *)b->base.memory[i].output);
    }
    free(b->base.memory);
    free(b->frames);
    free(b);
}

bool tool_is_baseline(const char *model)
{
    return !strcmp(model, "nearest") || !strcmp(model, "bicubic");
}

int tool_baseline_create(const struct tool_backend_setup *setup, struct tool_backend **backend)
{
    size_t in_bytes = (size_t)setup->planes[HSIO_PLANE_COLOR].width *
                      (size_t)setup->planes[HSIO_PLANE_COLOR].height * 4 * sizeof(float);
    size_t out_bytes = (size_t)setup->out_width * (size_t)setup->out_height * 4 * sizeof(float);
    struct baseline *b = calloc(1, sizeof(*b));

    if (!b)
        return HS_ERR_NOMEM;
    b->base.submit = submit;
    b->base.wait = wait_slot;
    b->base.messages = messages;
    b->base.destroy = destroy;
    b->bicubic = !strcmp(setup->model, "bicubic");
    b->ldr = setup->ldr;
    b->slots = setup->slots;
    b->out_width = setup->out_width;
    b->out_height = setup->out_height;
    snprintf(b->base.model, sizeof(b->base.model), "%s", setup->model);
    snprintf(b->base.about, sizeof(b->base.about), "%s on the CPU", setup->model);
    b->base.memory = calloc((size_t)setup->slots, sizeof(*b->base.memory));
    b->frames = calloc((size_t)setup->slots, sizeof(*b->frames));
    if (!b->base.memory || !b->frames)
        goto error;
    for (int i = 0; i < setup->slots; i++) {
        struct tool_slot_memory *memory = &b->base.memory[i];

        memory->input[HSIO_PLANE_COLOR] = malloc(in_bytes);
        memory->input_bytes[HSIO_PLANE_COLOR] = in_bytes;
        memory->formats[HSIO_PLANE_COLOR] = HSIO_FORMAT_RGBA32F;
        memory->output = malloc(out_bytes);
        memory->output_format = HSIO_FORMAT_RGBA32F;
        if (!memory->input[HSIO_PLANE_COLOR] || !memory->output)
            goto error;
    }
    *backend = &b->base;
    return 0;
error:
    destroy(&b->base);
    return HS_ERR_NOMEM;
}
