// SPDX-License-Identifier: MIT
// Constants of the weight-free preset, shared by C and GLSL. "Render px" and "output px" name the
// unit; colours are meant in the working range of hs_encode(): 0 to 1.
#ifndef HINDSIGHT_TAAU_H
#define HINDSIGHT_TAAU_H

// Largest finite half float.
#define HS_TAAU_MAX 65504.0
// Limit of the working range, just above what HS_TAAU_MAX encodes to.
#define HS_TAAU_RANGE 0.9999924

// prepare: a point was hidden if the stored previous depth is nearer than expected by more than
// this share and the surface's own slope. The second value holds when no camera tells what to
// expect.
#define HS_TAAU_DEPTH_TOLERANCE 0.01
#define HS_TAAU_DEPTH_TOLERANCE_FREE 0.03

// reproject: an output pixel follows the nearest surface among the samples within this distance
// per axis (render px), if it is nearer by this share. A round reach would leave a comb of single
// pixels along moving silhouettes.
#define HS_TAAU_DILATE 0.6
#define HS_TAAU_DILATE_DEPTH 0.02
// Cubic kernels of the history and of the current frame.
#define HS_TAAU_CUBIC_HISTORY (-0.75)
#define HS_TAAU_CUBIC_CURRENT (-0.5)
// Share of its weight that history loses when it is resampled half a pixel off on both axes.
#define HS_TAAU_DECAY 0.4

// resolve: Gaussian exp(-d * d * HS_TAAU_KERNEL) of the distance from a sample, output px (the
// geometric mean of the axes).
#define HS_TAAU_KERNEL 1.0
// Weight of a frame whose samples are all far away, and the limit of a pixel's weight.
#define HS_TAAU_WEIGHT_MIN 0.05
#define HS_TAAU_WEIGHT_MAX 8.0
// How far history is moved by what samples say about it: above 1, because history between its
// pixels is smoother than a sample. Kernel sum and history weight at which that is half trusted.
#define HS_TAAU_CORRECT_GAIN 1.5
#define HS_TAAU_CORRECT_KERNEL 0.05
#define HS_TAAU_CORRECT_WEIGHT 0.1
// Box around the local mean in standard deviations: at weight 0, and what each unit adds. BLIND is
// the box at any weight where no depth told hidden points, so that wrong history has to be told by
// colour. MIN is the least half width. Statistics weigh samples with exp(-d * d * BOX_KERNEL),
// render px.
#define HS_TAAU_BOX 1.2
#define HS_TAAU_BOX_GROW 0.25
#define HS_TAAU_BOX_BLIND 0.75
#define HS_TAAU_BOX_MIN 0.005
#define HS_TAAU_BOX_KERNEL 1.0

#endif
