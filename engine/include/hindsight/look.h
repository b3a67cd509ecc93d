// SPDX-License-Identifier: MIT
/**
 * Look: from the scene-linear picture to a display's, by a filmic curve and a grade on top of it.
 *
 * It is made in the frame's last pass. History, AOVs and what later frames see are not touched.
 */
#ifndef HINDSIGHT_LOOK_H
#define HINDSIGHT_LOOK_H

#ifdef __cplusplus
extern "C" {
#endif

/** Curve from scene-linear light to a display's values, 0 to 1. */
enum hs_look_curve {
    HS_LOOK_NONE = 0, ///< The output is scene-linear; the rest of hs_look is not looked at.
    HS_LOOK_ACES = 1, ///< A fit to the ACES filmic curve, of half the exposed colour; gamma 2.2.
};

/**
 * A frame's look. Values are a display's, after the curve, if not said otherwise.
 *
 * In this order: aberration, curve, contrast, split tone, saturation, vignette, grain.
 * Since: 2.
 */
struct hs_look {
    enum hs_look_curve curve;
    /** How much of all that follows, 0 (the curve alone) to 1. */
    float grade;
    /** Distance from `pivot` is multiplied by 1 plus this, -1 to 1. */
    float contrast;
    /** 0: 0.5. Up to 1. */
    float pivot;
    /** Added to dark and to bright pixels, red, green, blue, -1 to 1: split tone. */
    float shadows[3], highlights[3];
    /** Distance from the pixel's luma is multiplied by 1 plus this, -1 to 1. */
    float saturation;
    /** Darkening of the corners, 0 to 1. */
    float vignette;
    /** Noise that changes every frame, peak to peak, 0 to 1. */
    float grain;
    /** Red is taken from so far outside, blue from so far inside, at the corners; output pixels,
     * rounded to whole ones, -64 to 64. */
    float aberration_px;
};

#ifdef __cplusplus
}
#endif
#endif
