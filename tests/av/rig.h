// SPDX-License-Identifier: MIT
/**
 * A Vulkan device with validation as libavutil's, frames to put into a filter, and what the filter
 * says. The device is ours: FFmpeg's own way to make one cannot load the layer with our settings.
 */
#ifndef HS_TESTS_AV_RIG_H
#define HS_TESTS_AV_RIG_H

#include <libavutil/buffer.h>
#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>

#include <hindsight/avfilter.h>

#include "fixture.h"

#define RENDER_W 48
#define RENDER_H 32
#define RIG_PATH_BYTES 32

/** Opens the rig, or leaves the test case. */
#define OPEN(rig)                                          \
    do {                                                   \
        if (!rig_open(rig))                                \
            TEST_SKIP("no Vulkan device with validation"); \
    } while (0)

/** The last call failed with `code` and said one thing, which has `part` in it. */
#define REQUIRE_ERROR(call, code, part)                                                           \
    do {                                                                                          \
        const int test_err = (call);                                                              \
        const struct said test_said = rig_said();                                                 \
        REQUIRE_EQ(test_err, code);                                                               \
        REQUIRE_EQ(test_said.errors, 1);                                                          \
        REQUIRE_MSG(strstr(test_said.error, part), "\"%s\" lacks \"%s\"", test_said.error, part); \
    } while (0)

struct rig {
    struct fixture fx; ///< Its instance and messages are used; its device is another one.
    struct vkdev dev;  ///< With a device, queue and pool that libavutil has, too.
    AVBufferRef *ref;  ///< AVHWDeviceContext
};

/** False: there is no such device, or no validation layer. */
bool rig_open(struct rig *rig);
/** Validation messages fail the test. */
void rig_close(struct rig *rig);

/** What the filter has said at AV_LOG_ERROR and AV_LOG_WARNING since the last call. */
struct said {
    int errors, warnings;
    char error[512], warning[512];
};
struct said rig_said(void);

/** A frame in system memory: smooth shapes that move with `time`, linear or 0 to 1. */
AVFrame *rig_colour(enum AVPixelFormat format, int width, int height, int time);
AVFrame *rig_depth(enum AVPixelFormat format, int width, int height, int time);
AVFrame *rig_motion(enum AVPixelFormat format, int width, int height);

/**
 * A Vulkan frame of one image with the pixels of `frame`, from a pool of its own; and back. Not by
 * av_hwframe_transfer_data(): with FFmpeg 7.1 that leaves objects behind, which validation tells.
 */
AVFrame *rig_upload(struct rig *rig, const AVFrame *frame);
AVFrame *rig_download(struct rig *rig, const AVFrame *frame);
/** Both frames have the same pixels. */
void rig_require_same(const AVFrame *a, const AVFrame *b);

/** A file with this text in the scratch folder; `path` is where. Remove it. */
void rig_text_file(const char *text, char path[RIG_PATH_BYTES]);

/** A filter with options such as "scale=2:model=taau"; opened on the rig's device. */
struct hs_avfilter *rig_filter(struct rig *rig, const char *options);
/** Configures by a colour frame; time base 1/24. */
int rig_configure(struct hs_avfilter *filter, const AVFrame *colour, enum AVPixelFormat out,
                  struct hs_avfilter_format *format);

#endif
