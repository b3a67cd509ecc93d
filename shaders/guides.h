// SPDX-License-Identifier: MIT
// What C and GLSL share about guides and the preset `atrous`: bindings, constants of its passes.
// "Signal" is the colour in working exposure divided by the surface's reflectance.
#ifndef HINDSIGHT_GUIDES_H
#define HINDSIGHT_GUIDES_H

#include "interface.h"

// Set 1 of models that read guides. Planes of the caller, then the stream's own, then what is
// written.
#define HS_BINDING_DIFFUSE 0
#define HS_BINDING_SPECULAR 1
#define HS_BINDING_NORMAL 2
#define HS_BINDING_ROUGHNESS 3
#define HS_BINDING_HIT 4
#define HS_BINDING_SIGNAL_A 5
#define HS_BINDING_SIGNAL_B 6
#define HS_BINDING_ALBEDO 7
#define HS_BINDING_TRAITS 8
#define HS_BINDING_SURFACE 9
#define HS_BINDING_PREV_SURFACE 10
#define HS_BINDING_PREV_SIGNAL 11
#define HS_BINDING_PREV_MOMENTS 12
#define HS_BINDING_OUT_SIGNAL_A 13
#define HS_BINDING_OUT_SIGNAL_B 14
#define HS_BINDING_OUT_ALBEDO 15
#define HS_BINDING_OUT_TRAITS 16
#define HS_BINDING_OUT_SURFACE 17
#define HS_BINDING_OUT_HISTORY_SIGNAL 18
#define HS_BINDING_OUT_MOMENTS 19
#define HS_BINDING_GUIDE_COUNT 20

// Passes of the filter; taps of pass i lie 2^i render px apart. The last one reads signal B, so
// their number is odd. Which one it is stands in hs_push::band.x.
#define HS_ATROUS_PASSES 5

// demodulate: reflectance below FLOOR divides as FLOOR; where no channel reaches BLACK the surface
// emits or absorbs, and its colour is the signal. MAX is the greatest reflectance believed.
#define HS_ATROUS_FLOOR 0.02
#define HS_ATROUS_BLACK 0.004
#define HS_ATROUS_ALBEDO_MAX 4.0
// Least length of a normal, as stored, that has a direction.
#define HS_ATROUS_NORMAL_MIN 0.01
// Stored in traits.x where nothing was hit: such pixels stay as they are.
#define HS_ATROUS_BACKGROUND (-1.0)

// Edges: how much a tap off the surface's plane counts less (share of the inverse depth, and of
// what the plane itself changes), power of the normals' cosine, slopes of differences of roughness
// and of relative hit distance (the latter of a mirror; it vanishes with roughness).
#define HS_ATROUS_DEPTH 0.01
#define HS_ATROUS_SLOPE 0.25
#define HS_ATROUS_NORMAL_POWER 32.0
#define HS_ATROUS_ROUGHNESS 6.0
#define HS_ATROUS_HIT 3.0
// Luminance: deviations of a tap at which it counts 1/e, and what is added to their product.
#define HS_ATROUS_LUMINANCE 2.0
#define HS_ATROUS_LUMINANCE_MIN 1e-4

// accumulate: a sample is cut to the mean of its neighbours and so many of their deviations;
// history is kept within so many; longest history, frames; frames until its own deviation is
// believed. The mean of the 25 pixels around is off by a fifth of their deviation: a shadow that
// moves over a surface must not outlast its light.
#define HS_ATROUS_FIREFLY 8.0
#define HS_ATROUS_CLAMP 0.8
#define HS_ATROUS_LENGTH 16.0
#define HS_ATROUS_TRUSTED 4.0
// Relative difference of depth, and least cosine, with which a tap of history is the same surface.
#define HS_ATROUS_SAME_DEPTH 0.03
#define HS_ATROUS_SAME_NORMAL 0.8
// Roughness above which reflections move with their surface.
#define HS_ATROUS_MIRROR 0.4

#endif
