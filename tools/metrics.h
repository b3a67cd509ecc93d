// SPDX-License-Identifier: MIT
/**
 * Quality of a picture against a reference. Pictures are compared after the curve
 * (x / (1 + x)) ^ (1 / 2.2) of RGB cut at 0, peak 1; docs/command.md has the definitions.
 */
#ifndef HINDSIGHT_TOOLS_METRICS_H
#define HINDSIGHT_TOOLS_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "hsio.h"

/** Shape: [height, width, 3], tone-mapped or display values. */
struct tool_picture {
    int width, height;
    float *rgb;
    uint64_t non_finite; ///< Values that were replaced: NaN and -infinity by 0, infinity by 60000.
};

/** Shape: [height, width, 2]. Units: own pixels, current to previous, x right, y down. */
struct tool_motion {
    int width, height;
    float *xy;
};

struct tool_flicker {
    double mean_abs; ///< Mean |(out - warped out before) - (ref - warped ref before)|.
    double mse;      ///< Mean square of the same.
};

/**
 * Reads one frame's colour. `display` leaves out the curve: values are cut to 0..1.
 *
 * Owns: the caller frees with tool_picture_free().
 * Errors: those of hsio, HS_ERR_NOMEM; the frame is named in a message.
 */
int tool_picture_load(const struct hsio_sequence *seq, int index, bool display,
                      struct tool_picture *picture);
void tool_picture_free(struct tool_picture *picture);

/** Reads one frame's motion in canonical form; same errors and owner. */
int tool_motion_load(const struct hsio_sequence *seq, int index, struct tool_motion *motion);
void tool_motion_free(struct tool_motion *motion);

/** Mean square error over all values. Sizes must be equal. */
double tool_metric_mse(const struct tool_picture *a, const struct tool_picture *b);
/** In dB for a peak of 1; at most 120. */
double tool_metric_psnr(double mse);

/**
 * Structural similarity: Gaussian window with sigma 1.5 over 11x11 pixels, no sample correction,
 * mean over channels and all pixels whose window lies inside.
 *
 * Shape: both at least 11x11, equal sizes.
 * Errors: HS_ERR_INVALID too small, HS_ERR_NOMEM.
 * Source: Wang et al. 2004, with the window of scikit-image's structural_similarity().
 */
int tool_metric_ssim(const struct tool_picture *a, const struct tool_picture *b, double *ssim);

/**
 * Change from frame to frame that the reference does not have.
 *
 * The motion's size divides the picture's by a whole number.
 * Errors: HS_ERR_INVALID it does not.
 */
int tool_metric_flicker(const struct tool_picture *out, const struct tool_picture *out_prev,
                        const struct tool_picture *ref, const struct tool_picture *ref_prev,
                        const struct tool_motion *motion, struct tool_flicker *flicker);

#endif
