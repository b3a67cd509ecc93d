// SPDX-License-Identifier: MIT
// Noisy frames through Open Image Denoise on the CPU, then through taau.
#include "hsoidn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "report.h"

struct oidn {
    struct tool_backend base; ///< Its memory is the GPU's, but for planes that are read here.
    struct tool_backend *gpu;
    struct hsoidn *denoiser;
    int slots;
    bool ldr;
    bool reported; ///< The guides that are not there were told.
};

static const enum hsio_plane planes[] = {HSIO_PLANE_COLOR, HSIO_PLANE_DIFFUSE_ALBEDO,
                                         HSIO_PLANE_SPECULAR_ALBEDO, HSIO_PLANE_NORMAL};
#define PLANES ((int)(sizeof(planes) / sizeof(planes[0])))

static const float *input(const struct oidn *o, int slot, const struct hsio_frame_info *info,
                          enum hsio_plane plane)
{
    return info->planes[plane].present ? o->base.memory[slot].input[plane] : NULL;
}

/** Filters a slot's colour into the memory that the GPU reads. */
static int denoise(struct oidn *o, int slot, const struct hsio_frame_info *info)
{
    const struct hsoidn_picture picture = {
        .width = info->width,
        .height = info->height,
        .colour = o->base.memory[slot].input[HSIO_PLANE_COLOR],
        .display = o->ldr,
        .diffuse_albedo = input(o, slot, info, HSIO_PLANE_DIFFUSE_ALBEDO),
        .specular_albedo = input(o, slot, info, HSIO_PLANE_SPECULAR_ALBEDO),
        .normal = input(o, slot, info, HSIO_PLANE_NORMAL),
        .normal_unsigned = info->convention->normal.range == HSIO_RANGE_UNSIGNED,
    };
    int err;

    if (!o->reported)
        hsoidn_tell_guides(&picture, &tool_guide_log);
    o->reported = true;
    err = hsoidn_run(o->denoiser, &picture);
    if (!err)
        memcpy(o->gpu->memory[slot].input[HSIO_PLANE_COLOR], picture.colour,
               (size_t)info->width * (size_t)info->height * 16);
    return err;
}

static int submit(struct tool_backend *backend, int slot, const struct hsio_frame_info *info,
                  const struct tool_frame_options *options)
{
    struct oidn *o = (struct oidn *)backend;
    const int err = denoise(o, slot, info);

    return err ? err : o->gpu->submit(o->gpu, slot, info, options);
}

static int wait_slot(struct tool_backend *backend, int slot)
{
    struct oidn *o = (struct oidn *)backend;

    return o->gpu->wait(o->gpu, slot);
}

static uint32_t messages(const struct tool_backend *backend)
{
    const struct oidn *o = (const struct oidn *)backend;

    return o->gpu->messages(o->gpu);
}

static void destroy(struct tool_backend *backend)
{
    struct oidn *o = (struct oidn *)backend;

    for (int i = 0; o->base.memory && i < o->slots; i++) {
        for (int p = 0; p < PLANES; p++)
            free(o->base.memory[i].input[planes[p]]);
    }
    if (o->gpu)
        o->gpu->destroy(o->gpu);
    hsoidn_close(&o->denoiser);
    free(o->base.memory);
    free(o);
}

/** The GPU's memory, with planes of our own in floats. */
static int make_memory(struct oidn *o, const struct tool_backend_setup *setup)
{
    const size_t pixels = (size_t)setup->planes[HSIO_PLANE_COLOR].width *
                          (size_t)setup->planes[HSIO_PLANE_COLOR].height;

    o->base.memory = calloc((size_t)o->slots, sizeof(*o->base.memory));
    if (!o->base.memory)
        return HS_ERR_NOMEM;
    for (int i = 0; i < o->slots; i++) {
        struct tool_slot_memory *memory = &o->base.memory[i];

        *memory = o->gpu->memory[i];
        for (int p = 0; p < PLANES; p++)
            memory->input[planes[p]] = NULL;
        for (int p = 0; p < PLANES; p++) {
            if (!setup->planes[planes[p]].present)
                continue;
            memory->input[planes[p]] = malloc(pixels * 16);
            memory->input_bytes[planes[p]] = pixels * 16;
            memory->formats[planes[p]] = HSIO_FORMAT_RGBA32F;
            if (!memory->input[planes[p]])
                return HS_ERR_NOMEM;
        }
    }
    return 0;
}

int tool_oidn_create(const struct tool_backend_setup *setup, struct tool_backend **backend)
{
    struct tool_backend_setup rest = *setup;
    struct oidn *o = calloc(1, sizeof(*o));
    int err;

    if (!o)
        return HS_ERR_NOMEM;
    o->base.submit = submit;
    o->base.wait = wait_slot;
    o->base.messages = messages;
    o->base.destroy = destroy;
    o->slots = setup->slots;
    o->ldr = setup->ldr;
    rest.model = HSOIDN_BEHIND;
    rest.guides = false;
    for (int p = HSIO_PLANE_DIFFUSE_ALBEDO; p <= HSIO_PLANE_HIT_DISTANCE; p++)
        rest.planes[p].present = false;
    rest.planes[HSIO_PLANE_COLOR].format = HSIO_FORMAT_RGBA32F;
    err = hsoidn_open(tool_log(), &o->denoiser);
    if (!err)
        err = tool_gpu_create(&rest, &o->gpu);
    if (!err)
        err = make_memory(o, setup);
    if (err < 0) {
        destroy(&o->base);
        return err;
    }
    snprintf(o->base.model, sizeof(o->base.model), "%s", HSOIDN_NAME);
    snprintf(o->base.about, sizeof(o->base.about), "Open Image Denoise on the CPU, then %.200s",
             o->gpu->about);
    *backend = &o->base;
    return 0;
}
