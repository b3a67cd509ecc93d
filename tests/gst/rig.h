// SPDX-License-Identifier: MIT
/** What the tests of the GStreamer elements share: frames, harnesses, errors. */
#ifndef HS_TESTS_GST_RIG_H
#define HS_TESTS_GST_RIG_H

#include <gst/check/gstharness.h>
#include <gst/gst.h>

#include "test.h"

#define RIG_FPS 30
#define RIG_WIDTH 48
#define RIG_HEIGHT 32

/** Loads GStreamer and the plugin. False: there is no Vulkan device. */
bool rig_ready(void);
/** Skips the case without a device; a macro, for the jump is the test program's own. */
#define rig_init()                         \
    do {                                   \
        if (!rig_ready())                  \
            TEST_SKIP("no Vulkan device"); \
    } while (0)

/** Loads one of the system's plugins, such as "coreelements". False: it is not there. */
bool rig_load(const char *plugin);

/** Caps of a packed plane in system memory, such as ("color", "rgba16f"). */
char *rig_caps(const char *kind, const char *format, int width, int height);

/** Linear colour that moves by a pixel a frame, packed halves; PTS by `number`. */
GstBuffer *rig_colour(int number, int width, int height);
/** Motion of it, or depth, packed halves. */
GstBuffer *rig_motion(int number, int width, int height);
GstBuffer *rig_depth(int number, int width, int height);
GstClockTime rig_time(int number);

/** hsupscale (or another element with `sink` and `src`) between float planes in system memory. */
struct rig {
    GstElement *element;
    GstHarness *colour, *depth, *motion; ///< Side pads: NULL until asked for.
    GstBus *bus;
};
void rig_open_ready(struct rig *rig, const char *element, const char *out_caps);
#define rig_open(rig, element, out_caps)          \
    do {                                          \
        rig_init();                               \
        rig_open_ready((rig), element, out_caps); \
    } while (0)
void rig_close(struct rig *rig);
GstHarness *rig_side(struct rig *rig, const char *kind, const char *format);
/** A frame in, a frame out. */
GstBuffer *rig_step(struct rig *rig, int number);
/** Packed pixels of a buffer; g_free() them. */
guint8 *rig_pixels(GstBuffer *buffer, gsize *bytes);
/** Two buffers hold the same bytes. */
bool rig_equal(GstBuffer *a, GstBuffer *b);
/** A number of the property `stats`. */
guint64 rig_stat(struct rig *rig, const char *name);
/** The text of the first element error, for which it waits a while, or NULL; g_free() it. */
char *rig_error(GstBus *bus);
/** Fails unless the first error has `part` in it. */
void rig_require_error(GstBus *bus, const char *part);
/** The next event of a type that comes out; the caller unrefs it. */
GstEvent *rig_event(GstHarness *harness, GstEventType type);

/** Waits for a message of a pipeline; an error fails the test. */
void rig_run_until(GstElement *pipeline, GstMessageType type);
/** Runs a pipeline to its end. */
void rig_run(const char *text);
/** Runs a pipeline that must end with an error that has `part` in it. */
void rig_require_failure(const char *text, const char *part);

#endif
