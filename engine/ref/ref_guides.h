// SPDX-License-Identifier: MIT
/** Surfaces as the passes of `atrous` see them; twin of shaders/guides.glsl. */
#ifndef HS_REF_GUIDES_H
#define HS_REF_GUIDES_H

#include "guides.h"
#include "ref_math.h"

struct hs_ref_surface {
    float inverse;   ///< Of the depth.
    float slope[2];  ///< What it gains in a pixel.
    float normal[4]; ///< Unit or 0; roughness.
    float trait[2];  ///< Specular share, below 0: background; hit distance.
};

struct hs_ref_surface hs_ref_surface_read(const struct hs_ref_plane *depth,
                                          const struct hs_ref_guided *guided, int x, int y);

/** How much the pixel (x + dx, y + dy) lies on the surface of the pixel (x, y): 0 to 1. */
float hs_ref_edge_weight(const struct hs_ref_plane *depth, const struct hs_ref_guided *guided,
                         const struct hs_ref_surface *s, int x, int y, int dx, int dy);

/** Motion of a standing point at (sx, sy) and its depth in the previous frame; false: behind it. */
bool hs_ref_camera_motion(const struct hs_frame_params *p, float sx, float sy, float d, float *out,
                          float *expected);

static inline bool hs_ref_inside(const struct hs_frame_params *p, int x, int y)
{
    return x >= 0 && y >= 0 && x < p->size.x && y < p->size.y;
}

static inline float hs_ref_dot3(const float *a, const float *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

#endif
