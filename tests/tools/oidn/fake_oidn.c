// SPDX-License-Identifier: MIT
// Stands in for Open Image Denoise, of whose interface it has what hsoidn.c uses. FAKE_OIDN says
// what the filter does: copy, albedo or normal puts that plane into the colour, range makes it a
// quarter for hdr, half for srgb; anything else is an error. Misuse is one, as there.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

// Types as in common/hsoidn.c: sanitizers compare those of calls.
struct oidn_device;
struct oidn_filter;

struct image {
    char *data;
    size_t width, height, pixel_bytes, row_bytes;
};
static struct image images[4];
/** The filter's parameters of that type, and which of them matter here. */
enum {
    HDR,
    SRGB,
    CLEAN_AUX,
    BOOLS
};
static const char *const bool_names[BOOLS] = {"hdr", "srgb", "cleanAux"};
static bool bools[BOOLS];
static const char *failed; ///< The first error since it was asked for.

static void fail(const char *message)
{
    if (!failed)
        failed = message;
}

static int index_of(const char *name, const char *const *names, int count)
{
    int i = 0;
    while (i < count && strcmp(name, names[i]))
        i++;
    return i;
}

static struct image *image_of(const char *name)
{
    static const char *const names[4] = {"color", "albedo", "normal", "output"};
    const int i = index_of(name, names, 4);
    return i < 4 ? &images[i] : NULL;
}

EXPORT struct oidn_device *oidnNewDevice(int type);
EXPORT void oidnCommitDevice(struct oidn_device *device);
EXPORT int oidnGetDeviceError(struct oidn_device *device, const char **message);
EXPORT void oidnReleaseDevice(struct oidn_device *device);
EXPORT struct oidn_filter *oidnNewFilter(struct oidn_device *device, const char *type);
EXPORT void oidnSetSharedFilterImage(struct oidn_filter *filter, const char *name, void *data,
                                     int format, size_t width, size_t height, size_t offset,
                                     size_t pixel_bytes, size_t row_bytes);
EXPORT void oidnSetFilterBool(struct oidn_filter *filter, const char *name, bool value);
EXPORT void oidnCommitFilter(struct oidn_filter *filter);
EXPORT void oidnExecuteFilter(struct oidn_filter *filter);
EXPORT void oidnReleaseFilter(struct oidn_filter *filter);

struct oidn_device *oidnNewDevice(int type)
{
    return type == 1 ? (void *)images : NULL;
}

void oidnCommitDevice(struct oidn_device *device)
{
    (void)device;
}

int oidnGetDeviceError(struct oidn_device *device, const char **message)
{
    (void)device;
    if (!failed)
        return 0;
    *message = failed;
    failed = NULL;
    return 2;
}

void oidnReleaseDevice(struct oidn_device *device)
{
    (void)device;
}

struct oidn_filter *oidnNewFilter(struct oidn_device *device, const char *type)
{
    memset(images, 0, sizeof(images));
    memset(bools, 0, sizeof(bools));
    return device && !strcmp(type, "RT") ? (void *)images : NULL;
}

void oidnSetSharedFilterImage(struct oidn_filter *filter, const char *name, void *data, int format,
                              size_t width, size_t height, size_t offset, size_t pixel_bytes,
                              size_t row_bytes)
{
    struct image *image = image_of(name);
    if (!filter || format != 3 || !image)
        fail("the fake knows no such image");
    else
        *image = (struct image){(char *)data + offset, width, height, pixel_bytes, row_bytes};
}

void oidnSetFilterBool(struct oidn_filter *filter, const char *name, bool value)
{
    const int i = index_of(name, bool_names, BOOLS);
    if (!filter || i == BOOLS)
        fail("the fake knows no such parameter");
    else
        bools[i] = value;
}

void oidnCommitFilter(struct oidn_filter *filter)
{
    (void)filter;
    if (bools[HDR] && bools[SRGB])
        fail("hdr and srgb are one too many");
}

void oidnExecuteFilter(struct oidn_filter *filter)
{
    static const char *const modes[4] = {"copy", "albedo", "normal", "range"};
    const char *mode = getenv("FAKE_OIDN");
    const int which = mode ? index_of(mode, modes, 4) : 4;
    const struct image *to = image_of("output");
    const struct image *from = &images[which % 3];
    const float factor = which < 3 ? 1 : bools[HDR] ? 0.25f : bools[SRGB] ? 0.5f : 1;
    (void)filter;
    if (which == 4)
        fail("the fake says no");
    for (size_t y = 0; !failed && from->data && y < to->height; y++) {
        for (size_t x = 0; x < to->width; x++) {
            float value[3];
            memcpy(value, from->data + y * from->row_bytes + x * from->pixel_bytes, 12);
            for (int c = 0; c < 3; c++)
                value[c] *= factor;
            memcpy(to->data + y * to->row_bytes + x * to->pixel_bytes, value, 12);
        }
    }
}

void oidnReleaseFilter(struct oidn_filter *filter)
{
    (void)filter;
}
