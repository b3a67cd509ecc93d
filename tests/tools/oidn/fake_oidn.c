// SPDX-License-Identifier: MIT
// Stands in for Open Image Denoise, of whose interface it has what hsoidn.c uses. FAKE_OIDN says
// what the filter does: copy, albedo or normal puts that plane into the colour; anything else is an
// error.
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
static bool failed;

static struct image *image_of(const char *name)
{
    static const char *const names[4] = {"color", "albedo", "normal", "output"};
    for (int i = 0; i < 4; i++) {
        if (!strcmp(name, names[i]))
            return &images[i];
    }
    abort();
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
    failed = false;
    *message = "the fake says no";
    return 2;
}

void oidnReleaseDevice(struct oidn_device *device)
{
    (void)device;
}

struct oidn_filter *oidnNewFilter(struct oidn_device *device, const char *type)
{
    memset(images, 0, sizeof(images));
    return device && !strcmp(type, "RT") ? (void *)images : NULL;
}

void oidnSetSharedFilterImage(struct oidn_filter *filter, const char *name, void *data, int format,
                              size_t width, size_t height, size_t offset, size_t pixel_bytes,
                              size_t row_bytes)
{
    if (!filter || format != 3)
        abort();
    *image_of(name) = (struct image){(char *)data + offset, width, height, pixel_bytes, row_bytes};
}

void oidnSetFilterBool(struct oidn_filter *filter, const char *name, bool value)
{
    if (!filter || strcmp(name, "hdr") || !value)
        abort();
}

void oidnCommitFilter(struct oidn_filter *filter)
{
    (void)filter;
}

void oidnExecuteFilter(struct oidn_filter *filter)
{
    const char *mode = getenv("FAKE_OIDN");
    const struct image *to = image_of("output");
    const struct image *from = image_of(mode && strcmp(mode, "copy") ? "albedo" : "color");
    (void)filter;
    failed = !mode || (strcmp(mode, "copy") && strcmp(mode, "albedo") && strcmp(mode, "normal"));
    if (mode && !strcmp(mode, "normal"))
        from = image_of("normal");
    for (size_t y = 0; !failed && from->data && y < to->height; y++) {
        for (size_t x = 0; x < to->width; x++) {
            float value[3];
            memcpy(value, from->data + y * from->row_bytes + x * from->pixel_bytes, 12);
            memcpy(to->data + y * to->row_bytes + x * to->pixel_bytes, value, 12);
        }
    }
}

void oidnReleaseFilter(struct oidn_filter *filter)
{
    (void)filter;
}
