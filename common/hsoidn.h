// SPDX-License-Identifier: MIT
/**
 * Open Image Denoise on the CPU, frame by frame, ahead of a preset that upscales. The library is
 * looked up when it is asked for: systems differ in whether they have it, and in which version.
 */
#ifndef HSOIDN_H
#define HSOIDN_H

#include <stdbool.h>

#include <hindsight/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The name that users give it, and the preset that upscales what it has denoised. */
#define HSOIDN_NAME "oidn"
#define HSOIDN_BEHIND "taau"

struct hsoidn;

/** A frame in host memory: packed rows of four floats a pixel. */
struct hsoidn_picture {
    int width, height;
    float *colour; ///< Denoised in place; alpha stays.
    bool display;  ///< Display-referred, else scene-linear.
    /** NULL: not there. They are read only. */
    const float *diffuse_albedo, *specular_albedo, *normal;
    bool normal_unsigned; ///< Stored as 0..1 for -1..1.
};

/** Whether a model of this name is meant. Thread: safe. */
bool hsoidn_is(const char *model);

/**
 * Finds the library and makes a device of it.
 *
 * Owns: the caller closes it; `log` must live as long.
 * Thread: safe.
 * Errors: HS_ERR_UNSUPPORTED the system has no such library, or one of another interface;
 * HS_ERR_INTERNAL it fails; both after a message to the log; HS_ERR_NOMEM.
 */
int hsoidn_open(const struct hs_log *log, struct hsoidn **oidn);

/**
 * Denoises a frame, with the sum of both albedos and with the normal, where they are there.
 *
 * Values that are not finite count as 0.
 * Thread: one at a time.
 * Cost: waits; allocates when the frame is larger than those before.
 * Errors: HS_ERR_INTERNAL the library fails, after a message to the log; HS_ERR_NOMEM.
 */
int hsoidn_run(struct hsoidn *oidn, const struct hsoidn_picture *picture);

/**
 * Tells at HS_LOG_INFO which guides the library would like to have, and what is lost without them:
 * what front ends say of a first frame. Thread: safe.
 */
void hsoidn_tell_guides(const struct hsoidn_picture *picture, const struct hs_log *log);

/** NULL and pointers to NULL are legal. Thread: one at a time. */
void hsoidn_close(struct hsoidn **oidn);

#ifdef __cplusplus
}
#endif
#endif
