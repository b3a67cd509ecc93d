// SPDX-License-Identifier: MIT
#include "hsoidn.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <hindsight/error.h>

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

struct hsoidn {
    const struct hs_log *log;
    struct library lib;
    struct oidn_device *device;
    float *guides; ///< Albedo and normal, three values a pixel each.
    size_t room;   ///< Pixels that they have room for.
};

bool hsoidn_is(const char *model)
{
    return model && !strcmp(model, HSOIDN_NAME);
}

/** Without messages where it is missing: another name may do. */
static bool find(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);

    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

static int open_library(struct library *lib, const struct hs_log *log)
{
    static const char *const names[] = {"libOpenImageDenoise.so.2", "libOpenImageDenoise.so.1",
                                        "libOpenImageDenoise.so.0", "libOpenImageDenoise.so"};

    for (size_t i = 0; !lib->handle && i < sizeof(names) / sizeof(names[0]); i++)
        lib->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!lib->handle) {
        hs_log_message(log, HS_LOG_ERROR,
                       "oidn needs libOpenImageDenoise.so.2, which the system's loader does not "
                       "find; atrous and ray take noise out without it");
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
    hs_log_message(log, HS_LOG_ERROR,
                   "oidn: this libOpenImageDenoise has another interface than versions 1 and 2");
    return HS_ERR_UNSUPPORTED;
}

/** What the device has to say, if anything. */
static int complain(const struct hsoidn *o)
{
    const char *message = NULL;

    if (!o->lib.device_error(o->device, &message))
        return 0;
    hs_log_message(o->log, HS_LOG_ERROR, "Open Image Denoise: %s",
                   message ? message : "it does not say what went wrong");
    return HS_ERR_INTERNAL;
}

int hsoidn_open(const struct hs_log *log, struct hsoidn **oidn)
{
    struct hsoidn *o = calloc(1, sizeof(*o));
    int err;

    if (!o)
        return HS_ERR_NOMEM;
    o->log = log;
    err = open_library(&o->lib, log);
    if (err < 0)
        goto error;
    o->device = o->lib.new_device(OIDN_DEVICE_TYPE_CPU);
    if (o->device)
        o->lib.commit_device(o->device);
    err = complain(o);
    if (!err && !o->device)
        err = HS_ERR_NOMEM;
    if (err < 0)
        goto error;
    *oidn = o;
    return 0;
error:
    hsoidn_close(&o);
    return err;
}

void hsoidn_close(struct hsoidn **oidn)
{
    struct hsoidn *o = oidn ? *oidn : NULL;

    if (!o)
        return;
    // Its threads would not survive unloading the library.
    if (o->device)
        o->lib.release_device(o->device);
    free(o->guides);
    free(o);
    *oidn = NULL;
}

static float finite_or_zero(float x)
{
    return isfinite(x) ? x : 0;
}

/** Reflectance of both lobes, 0 to 1. False: the frame has neither. */
static bool fill_albedo(const struct hsoidn_picture *picture, size_t count, float *albedo)
{
    const float *const lobes[] = {picture->diffuse_albedo, picture->specular_albedo};

    memset(albedo, 0, 3 * count * sizeof(*albedo));
    for (int p = 0; p < 2; p++) {
        for (size_t i = 0; lobes[p] && i < count; i++) {
            for (size_t k = 0; k < 3; k++)
                albedo[3 * i + k] += fmaxf(finite_or_zero(lobes[p][4 * i + k]), 0);
        }
    }
    for (size_t i = 0; i < 3 * count; i++)
        albedo[i] = fminf(albedo[i], 1);
    return lobes[0] || lobes[1];
}

/** Unit vectors, 0 where there is none. False: the frame has none. */
static bool fill_normal(const struct hsoidn_picture *picture, size_t count, float *normal)
{
    for (size_t i = 0; picture->normal && i < count; i++) {
        const float *from = picture->normal + 4 * i;
        float n[3];

        for (int k = 0; k < 3; k++)
            n[k] = picture->normal_unsigned ? 2 * from[k] - 1 : from[k];
        const float l = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (size_t k = 0; k < 3; k++)
            normal[3 * i + k] = l > 0.01f && isfinite(l) ? n[k] / l : 0;
    }
    return picture->normal != NULL;
}

static int make_room(struct hsoidn *o, size_t count)
{
    float *grown;

    if (o->room >= count)
        return 0;
    grown = realloc(o->guides, 6 * count * sizeof(*grown));
    if (!grown)
        return HS_ERR_NOMEM;
    o->guides = grown;
    o->room = count;
    return 0;
}

void hsoidn_tell_guides(const struct hsoidn_picture *picture, const struct hs_log *log)
{
    const bool diffuse = picture->diffuse_albedo, specular = picture->specular_albedo;

    if (!diffuse && !specular)
        hs_log_message(log, HS_LOG_INFO, "no albedo: fine textures are taken for noise%s",
                       picture->normal ? "; the normal is no help without it" : "");
    else if (!diffuse || !specular)
        hs_log_message(log, HS_LOG_INFO,
                       "no %s albedo: textures of such surfaces are taken for noise",
                       diffuse ? "specular" : "diffuse");
    if (!picture->normal)
        hs_log_message(log, HS_LOG_INFO, "no normal: light is filtered across edges of surfaces");
}

int hsoidn_run(struct hsoidn *o, const struct hsoidn_picture *picture)
{
    const size_t w = (size_t)picture->width, h = (size_t)picture->height, count = w * h;
    float *colour = picture->colour, *albedo, *normal;
    struct oidn_filter *filter;
    int err = make_room(o, count);

    if (err < 0)
        return err;
    filter = o->lib.new_filter(o->device, "RT");
    if (!filter)
        return complain(o) ? HS_ERR_INTERNAL : HS_ERR_NOMEM;
    albedo = o->guides;
    normal = o->guides + 3 * count;
    for (size_t i = 0; i < 4 * count; i++)
        colour[i] = finite_or_zero(colour[i]);
    o->lib.set_image(filter, "color", colour, OIDN_FORMAT_FLOAT3, w, h, 0, 16, 16 * w);
    // Normals are no help without albedo.
    if (fill_albedo(picture, count, albedo)) {
        o->lib.set_image(filter, "albedo", albedo, OIDN_FORMAT_FLOAT3, w, h, 0, 12, 12 * w);
        if (fill_normal(picture, count, normal))
            o->lib.set_image(filter, "normal", normal, OIDN_FORMAT_FLOAT3, w, h, 0, 12, 12 * w);
    }
    o->lib.set_image(filter, "output", colour, OIDN_FORMAT_FLOAT3, w, h, 0, 16, 16 * w);
    o->lib.set_bool(filter, picture->display ? "srgb" : "hdr", true);
    o->lib.commit_filter(filter);
    o->lib.execute_filter(filter);
    err = complain(o);
    o->lib.release_filter(filter);
    return err;
}
