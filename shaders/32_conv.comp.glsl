#version 450
// SPDX-License-Identifier: MIT
// One convolution of the network after the first: 3x3 with zeros around the picture, 2x2 with
// stride 2, or 1x1 to the four pixels of the next finer level; what the output holds may be added,
// ReLU may follow.
// Reads: activations of a level. Writes (and adds): activations of the same or the next level.
// A 2x2 layer sees pairs of pixels as one pixel of twice the channels, so it has no taps in x.
// Grid: conv_plain.glsl, conv_matrix.glsl; z is the pixel of the finer level or, plain, a slice of
// the outputs. The band counts rows of the kernel. Precision: types.glsl. Reference:
// hs_ref_layer_run() in engine/ref.
#extension GL_GOOGLE_include_directive : require
#include "types.glsl"
#include "layer.glsl"

layout(constant_id = HS_SPEC_KERNEL_X) const int KERNEL_X = 1;
layout(constant_id = HS_SPEC_KERNEL_Y) const int KERNEL_Y = 1;
layout(constant_id = HS_SPEC_STRIDE) const int STRIDE = 1;
layout(constant_id = HS_SPEC_RELU) const bool RELU = true;
layout(constant_id = HS_SPEC_ADD) const bool ADD = true;
layout(constant_id = HS_SPEC_PIXELS) const int PIXELS = 1;
layout(std430, set = 1, binding = HS_BINDING_LAYER_IN) readonly buffer hs_layer_in_block
{
    UNIT inputs[];
};
layout(std430, set = 1, binding = HS_BINDING_LAYER_OUT) buffer hs_layer_out_block
{
    UNIT outputs[];
};

// First tap of the output row y and of column x.
int first_row(int y)
{
    return y * STRIDE - (KERNEL_Y == 3 ? 1 : 0);
}

int first_column(int x)
{
    return x - (KERNEL_X == 3 ? 1 : 0);
}

// Where a row of the input lies.
int input_row(int y)
{
    return ring_row(y, push.ring.x, push.ring.y);
}

// The height is that of the picture or, before its last band, of what the band needs.
bool in_picture(ivec2 p)
{
    return all(greaterThanEqual(p, ivec2(0))) && all(lessThan(p, push.size.xy));
}

#ifdef HS_MATRIX
#include "conv_matrix.glsl"
#else
#include "conv_plain.glsl"
#endif
