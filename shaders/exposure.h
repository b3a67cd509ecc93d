// SPDX-License-Identifier: MIT
// Constants of automatic exposure, shared by C and GLSL.
#ifndef HINDSIGHT_EXPOSURE_H
#define HINDSIGHT_EXPOSURE_H

// Where the log average of a frame is put (photographic middle grey).
#define HS_EXPOSURE_KEY 0.18
// Share of a new measurement; a measurement comes every other frame.
#define HS_EXPOSURE_BLEND 0.25
#define HS_EXPOSURE_MIN 1e-6
#define HS_EXPOSURE_MAX 1e6

#endif
