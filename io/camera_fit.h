// SPDX-License-Identifier: MIT
/**
 * How the camera moved, from the motion of what stands still. Positions and motion are in half
 * widths of the picture from its middle, x right, y down.
 */
#ifndef HSIO_CAMERA_FIT_H
#define HSIO_CAMERA_FIT_H

#include <stdbool.h>

#define HSIO_CAMERA_PARAMETERS 8

/** A point with a known vector. */
struct hsio_camera_sample {
    double x, y;
    double near; ///< One over depth, in any unit, about 0 to 1; 0: infinitely far.
    double motion[2];
};

struct hsio_camera_fit {
    double parameters[HSIO_CAMERA_PARAMETERS];
    double covariance[HSIO_CAMERA_PARAMETERS][HSIO_CAMERA_PARAMETERS];
    double pixel; ///< Half widths.
    double share; ///< Of the samples that agree.
};

/** Fits, `pixel` being a pixel's side; `room` is for `count` numbers. False: there is no camera. */
bool hsio_camera_fit(const struct hsio_camera_sample *list, int count, double pixel, double *room,
                     struct hsio_camera_fit *out);
/** Motion of a standing point. False: it was behind the camera. */
bool hsio_camera_move(const struct hsio_camera_fit *fit, double x, double y, double near,
                      double out[2]);
/** Standard error of that motion, pixels. */
double hsio_camera_doubt(const struct hsio_camera_fit *fit, double x, double y, double near);

#endif
