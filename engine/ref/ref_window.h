// SPDX-License-Identifier: MIT
/** What resolve and the network's features see around an output pixel. */
#ifndef HS_REF_WINDOW_H
#define HS_REF_WINDOW_H

#include "ref_math.h"

/** The 4x4 samples around an output pixel. Tap [j][i] is sample (x + i - 1, y + j - 1). */
struct hs_ref_window {
    int x, y;     ///< Floor of the pixel's place between sample centres.
    float fx, fy; ///< Its fraction.
    struct hs_ref_work tap[4][4];
    struct hs_ref_range range;
    float kernel; ///< Of the distance from a sample, render px.
    float gain;   ///< Weight of this frame.
};

/** Of the 3x3 samples around the nearest one; opponent: luma, two colour differences, alpha. */
struct hs_ref_box {
    struct hs_ref_work mean;
    float centre[4], deviation[4]; ///< Opponent.
};

/** One output pixel, and what its colour was made with. */
struct hs_ref_resolved {
    struct hs_ref_window window;
    float weights[4][4];      ///< Of the window's samples.
    float fresh, keep, trust; ///< Share of this frame; of rectified history; of the correction.
    float rgba[4];
    float weight; ///< The pixel's new one.
};

/** `levels` and `head` as for hs_ref_resolve_steered(); NULL: none. */
void hs_ref_resolve_pixel(const struct hs_frame_params *p, const struct hs_ref_plane *colour,
                          const struct hs_ref_history *reproj, const struct hs_ref_levels *levels,
                          const struct hs_ref_plane *head, int x, int y,
                          struct hs_ref_resolved *out);

void hs_ref_window_load(const struct hs_frame_params *p, const struct hs_ref_plane *colour, int x,
                        int y, struct hs_ref_window *w);

/** Weights [j][i] of the samples: cubic. */
void hs_ref_window_cubic(const struct hs_ref_window *w, float weights[4][4]);

/** Sum of the weighted samples, kept within their range. */
struct hs_ref_work hs_ref_window_filter(const struct hs_ref_window *w, float weights[4][4]);

void hs_ref_window_box(const struct hs_ref_window *w, struct hs_ref_box *box);

/** Half width of the box in deviations. */
float hs_ref_box_size(const struct hs_frame_params *p, float weight);

/**
 * Kernel-weighted sum, over the four samples around the pixel, of sample minus reprojected history
 * at the sample's place. Returns the sum of the kernel.
 */
float hs_ref_window_errors(const struct hs_frame_params *p, const struct hs_ref_window *w,
                           const struct hs_ref_plane *reprojected, struct hs_ref_work *sum);

void hs_ref_opponent(const float *c, float *out);

static inline float hs_ref_gauss(float dx, float dy, float k)
{
    return expf(-(dx * dx + dy * dy) * k);
}

#endif
