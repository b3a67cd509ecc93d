// SPDX-License-Identifier: MIT
// What C and GLSL share about guides: bindings, constants of the passes of `atrous`, which taau-ray
// has, too.
// "Signal" is the colour in working exposure divided by the surface's reflectance.
#ifndef HINDSIGHT_GUIDES_H
#define HINDSIGHT_GUIDES_H

#include "interface.h"

#define HS_SET_GUIDES 3
#ifdef VULKAN
#define HS_GUIDE(name, id) layout(set = HS_SET_GUIDES, binding = id) uniform texture2D name
#define HS_GUIDE_OUT(name, id) \
    layout(set = HS_SET_GUIDES, binding = id) uniform writeonly image2D name
#endif

// The set of models that read guides. Planes of the caller, then the stream's own, then what is
// written.
#define HS_BINDING_DIFFUSE 0
#define HS_BINDING_SPECULAR 1
#define HS_BINDING_NORMAL 2
#define HS_BINDING_ROUGHNESS 3
#define HS_BINDING_HIT 4
#define HS_BINDING_SIGNAL_A 5
#define HS_BINDING_SIGNAL_B 6
#define HS_BINDING_MIDDLE 7 // what the filter's first HS_ATROUS_MIDDLE passes give
#define HS_BINDING_ACCUMULATED 8
#define HS_BINDING_MOMENTS 9
#define HS_BINDING_ALBEDO 10
#define HS_BINDING_TRAITS 11
#define HS_BINDING_SURFACE 12
#define HS_BINDING_PREV_SURFACE 13
#define HS_BINDING_PREV_ACCUMULATED 14
#define HS_BINDING_PREV_MOMENTS 15
#define HS_BINDING_OUT_SIGNAL_A 16
#define HS_BINDING_OUT_SIGNAL_B 17
#define HS_BINDING_OUT_MIDDLE 18
#define HS_BINDING_OUT_ALBEDO 19
#define HS_BINDING_OUT_TRAITS 20
#define HS_BINDING_OUT_SURFACE 21
#define HS_BINDING_OUT_ACCUMULATED 22
#define HS_BINDING_OUT_MOMENTS 23
#define HS_BINDING_GUIDE_COUNT 24

// Passes of the filter; taps of pass i lie 2^i render px apart. Which one it is stands in
// hs_push::band.x. The first one reads the accumulated signal; then each reads what the one before
// it wrote: A after even passes, `middle` or B after odd ones. The last one writes the colour.
#define HS_ATROUS_PASSES 5
#define HS_ATROUS_MIDDLE 2

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
