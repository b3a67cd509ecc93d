// SPDX-License-Identifier: MIT
// Noisy frames through Intel Open Image Denoise on the CPU, then through taau. The library is
// looked up when it is asked for: systems differ in whether they have it, and in which version.
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "report.h"

/** Of its C interface, versions 1 and 2: opaque objects, and values of its header. */
struct oidn_device;
struct oidn_filter;
#define OIDN_DEVICE_TYPE_CPU 1
#define OIDN_FORMAT_FLOAT3 3

struct library {
    void *handle;
    struct oidn_device *(*new_device)(int type);
    void (*commit_device)(struct oidn_device *);
    int (*device_error)(struct oidn_device *, const char **message);
    void (*release_device)(struct oidn_device *);
    struct oidn_filter *(*new_filter)(struct oidn_device *, const char *type);
    void (*set_image)(struct oidn_filter *, const char *name, void *data, int format, size_t width,
                      size_t height, size_t offset, size_t pixel_bytes, size_t row_bytes);
    void (*set_bool)(struct oidn_filter *, const char *name, bool value);
    void (*commit_filter)(struct oidn_filter *);
    void (*execute_filter)(struct oidn_filter *);
    void (*release_filter)(struct oidn_filter *);
};

struct oidn {
    struct tool_backend base; ///< Its memory is the GPU's, but for planes that are read here.
    struct tool_backend *gpu;
    struct library lib;
    struct oidn_device *device;
    int slots;
    bool ldr;
    float *albedo; ///< Three values a pixel.
};

static const enum hsio_plane planes[] = {HSIO_PLANE_COLOR, HSIO_PLANE_DIFFUSE_ALBEDO,
                                         HSIO_PLANE_SPECULAR_ALBEDO, HSIO_PLANE_NORMAL};
#define PLANES ((int)(sizeof(planes) / sizeof(planes[0])))

/** Without messages where it is missing: another name may do. */
static bool find(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);

    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

static int open_library(struct library *lib)
{
    static const char *const names[] = {"libOpenImageDenoise.so.2", "libOpenImageDenoise.so.1",
                                        "libOpenImageDenoise.so.0", "libOpenImageDenoise.so"};

    for (size_t i = 0; !lib->handle && i < sizeof(names) / sizeof(names[0]); i++)
        lib->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!lib->handle) {
        tool_error("oidn needs libOpenImageDenoise.so.2, which the system's loader does not find; "
                   "atrous and ray take noise out without it");
        return HS_ERR_UNSUPPORTED;
    }
    void *h = lib->handle;
    if (find(h, "oidnNewDevice", &lib->new_device) &&
        find(h, "oidnCommitDevice", &lib->commit_device) &&
        find(h, "oidnGetDeviceError", &lib->device_error) &&
        find(h, "oidnReleaseDevice", &lib->release_device) &&
        find(h, "oidnNewFilter", &lib->new_filter) &&
        find(h, "oidnSetSharedFilterImage", &lib->set_image) &&
        (find(h, "oidnSetFilterBool", &lib->set_bool) ||
         find(h, "oidnSetFilter1b", &lib->set_bool)) &&
        find(h, "oidnCommitFilter", &lib->commit_filter) &&
        find(h, "oidnExecuteFilter", &lib->execute_filter) &&
        find(h, "oidnReleaseFilter", &lib->release_filter))
        return 0;
    tool_error("oidn: this libOpenImageDenoise has another interface than versions 1 and 2");
    return HS_ERR_UNSUPPORTED;
}

/** What the device has to say, if anything. */
static int complain(const struct oidn *o)
{
    const char *message = NULL;

    if (!o->lib.device_error(o->device, &message))
        return 0;
    tool_error("Open Image Denoise: %s", message ? message : "it does not say what went wrong");
    return HS_ERR_INTERNAL;
}

static float finite_or_zero(float x)
{
    return isfinite(x) ? x : 0;
}

/** Reflectance of both lobes, 0 to 1. False: the frame has neither. */
static bool fill_albedo(const struct oidn *o, int slot, const struct hsio_frame_info *info)
{
    const struct tool_slot_memory *memory = &o->base.memory[slot];
    const int count = info->width * info->height;
    bool some = false;

    memset(o->albedo, 0, (size_t)count * 3 * sizeof(float));
    for (int p = 1; p <= 2; p++) {
        const float *rgba = memory->input[planes[p]];

        if (!rgba || !info->planes[planes[p]].present)
            continue;
        some = true;
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < 3; k++)
                o->albedo[3 * i + k] += fmaxf(finite_or_zero(rgba[4 * i + k]), 0);
        }
    }
    for (int i = 0; i < 3 * count; i++)
        o->albedo[i] = fminf(o->albedo[i], 1);
    return some;
}

/** Unit vectors in place, 0 where there is none. False: the frame has none. */
static bool prepare_normal(const struct oidn *o, int slot, const struct hsio_frame_info *info)
{
    float *n = o->base.memory[slot].input[HSIO_PLANE_NORMAL];

    if (!n || !info->planes[HSIO_PLANE_NORMAL].present)
        return false;
    for (int i = 0; i < info->width * info->height; i++, n += 4) {
        for (int k = 0; k < 3 && info->convention->normal.range == HSIO_RANGE_UNSIGNED; k++)
            n[k] = 2 * n[k] - 1;
        const float l = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; k++)
            n[k] = l > 0.01f && isfinite(l) ? n[k] / l : 0;
    }
    return true;
}

/** Filters a slot's colour into the memory that the GPU reads. */
static int denoise(struct oidn *o, int slot, const struct hsio_frame_info *info)
{
    const struct tool_slot_memory *memory = &o->base.memory[slot];
    const size_t w = (size_t)info->width, h = (size_t)info->height, count = w * h;
    float *colour = memory->input[HSIO_PLANE_COLOR];
    struct oidn_filter *const filter = o->lib.new_filter(o->device, "RT");
    int err;

    if (!filter)
        return complain(o) ? HS_ERR_INTERNAL : HS_ERR_NOMEM;
    for (size_t i = 0; i < 4 * count; i++)
        colour[i] = finite_or_zero(colour[i]);
    o->lib.set_image(filter, "color", colour, OIDN_FORMAT_FLOAT3, w, h, 0, 16, 16 * w);
    // Normals are no help without albedo.
    if (fill_albedo(o, slot, info)) {
        o->lib.set_image(filter, "albedo", o->albedo, OIDN_FORMAT_FLOAT3, w, h, 0, 12, 12 * w);
        if (prepare_normal(o, slot, info))
            o->lib.set_image(filter, "normal", memory->input[HSIO_PLANE_NORMAL], OIDN_FORMAT_FLOAT3,
                             w, h, 0, 16, 16 * w);
    }
    o->lib.set_image(filter, "output", colour, OIDN_FORMAT_FLOAT3, w, h, 0, 16, 16 * w);
    o->lib.set_bool(filter, o->ldr ? "srgb" : "hdr", true);
    o->lib.commit_filter(filter);
    o->lib.execute_filter(filter);
    err = complain(o);
    o->lib.release_filter(filter);
    if (!err)
        memcpy(o->gpu->memory[slot].input[HSIO_PLANE_COLOR], colour, count * 16);
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
    if (o->device)
        o->lib.release_device(o->device);
    // The library's threads do not survive its unloading.
    free(o->base.memory);
    free(o->albedo);
    free(o);
}

/** The GPU's memory, with planes of our own in floats. */
static int make_memory(struct oidn *o, const struct tool_backend_setup *setup)
{
    const size_t pixels = (size_t)setup->planes[HSIO_PLANE_COLOR].width *
                          (size_t)setup->planes[HSIO_PLANE_COLOR].height;

    o->albedo = malloc(pixels * 3 * sizeof(float));
    o->base.memory = calloc((size_t)o->slots, sizeof(*o->base.memory));
    if (!o->albedo || !o->base.memory)
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

bool tool_is_oidn(const char *model)
{
    return !strcmp(model, "oidn");
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
    rest.model = "taau";
    rest.guides = false;
    for (int p = HSIO_PLANE_DIFFUSE_ALBEDO; p <= HSIO_PLANE_HIT_DISTANCE; p++)
        rest.planes[p].present = false;
    rest.planes[HSIO_PLANE_COLOR].format = HSIO_FORMAT_RGBA32F;
    err = open_library(&o->lib);
    if (!err)
        err = tool_gpu_create(&rest, &o->gpu);
    if (!err)
        err = make_memory(o, setup);
    if (!err) {
        o->device = o->lib.new_device(OIDN_DEVICE_TYPE_CPU);
        if (o->device)
            o->lib.commit_device(o->device);
        err = complain(o);
        if (!err && !o->device)
            err = HS_ERR_NOMEM;
    }
    if (err < 0) {
        destroy(&o->base);
        return err;
    }
    snprintf(o->base.model, sizeof(o->base.model), "oidn");
    snprintf(o->base.about, sizeof(o->base.about), "Open Image Denoise on the CPU, then %.200s",
             o->gpu->about);
    *backend = &o->base;
    return 0;
}
