// SPDX-License-Identifier: MIT
// What C and GLSL share about the network: buffers, parameters of a layer, the head's values.
#ifndef HINDSIGHT_NETWORK_H
#define HINDSIGHT_NETWORK_H

#include "interface.h"

// Set 1. Activations are [rows, pitch, channels]; the pitch is filled up to whole tiles.
#define HS_BINDING_WEIGHTS 0
#define HS_BINDING_LAYER_IN 1
#define HS_BINDING_LAYER_OUT 2
#define HS_BINDING_NETWORK_COUNT 3

// Specialization constants, all shaders of the network. A z of the grid takes HS_SPEC_OUTPUTS.
#define HS_SPEC_INPUTS 0   // channels
#define HS_SPEC_OUTPUTS 1  // channels of a workgroup
#define HS_SPEC_KERNEL_X 2 // taps
#define HS_SPEC_KERNEL_Y 3
#define HS_SPEC_STRIDE 4 // of rows
#define HS_SPEC_RELU 5
#define HS_SPEC_ADD 6    // what the output holds is added before ReLU
#define HS_SPEC_PIXELS 7 // 4: z chooses the pixel of the next finer level, else 1
// Matrix path.
#define HS_SPEC_TILE_M 8
#define HS_SPEC_TILE_N 9
#define HS_SPEC_TILE_K 10
#define HS_SPEC_ROWS 11         // rows of output pixels of a subgroup
#define HS_SPEC_CHUNK 12        // input channels in shared memory at a time
#define HS_SPEC_SUBGROUPS 13    // of a workgroup
#define HS_SPEC_RESULT_TILES 14 // of integers: tiles of outputs that are written at a time
// Plain path.
#define HS_SPEC_OUTPUTS_ALL 15 // channels of an output pixel
// Integers, matrix path.
#define HS_SPEC_DEPTH 16 // input channels, filled up to whole tiles
// Matrix path, too.
#define HS_SPEC_SPLIT 17  // subgroups that share pixels, and have a part of the outputs each
#define HS_SPEC_STREAM 18 // of floats: operands straight from the input
#define HS_SPEC_INSIDE 19 // pixels of the finer level of a workgroup
#define HS_SPEC_COUNT 20
#define HS_SPEC_LOCAL_X 253

// Features of a token of 2x2 pixels: channel 4 c + s of pixel s = x + 2 y, then those of the token.
#define HS_FEATURES 64
#define HS_PIXEL_FEATURES 12
// taau-ray: of levels and guides at the token's nearest sample.
#define HS_RAY_FEATURES 80
#define HS_FEATURE_LEVELS 64 // M - D, A - D
#define HS_FEATURE_NOISE 70
#define HS_FEATURE_FRAMES 71
#define HS_FEATURE_ALBEDO 72
#define HS_FEATURE_NORMAL 75
#define HS_FEATURE_ROUGHNESS 78
#define HS_FEATURE_SURFACE 79
#define HS_NOISE_MIN 1e-3 // added to the luminance that the noise is relative to
// Head values of a pixel, channel 4 c + s. A value h enters as soft(h, l) = l * tanh(h / l).
#define HS_HEAD_OUTPUTS 112
#define HS_HEAD_AXIS_X 0
#define HS_HEAD_SHEAR 1
#define HS_HEAD_AXIS_Y 2
#define HS_HEAD_LOGITS 3
#define HS_HEAD_MIX 19
#define HS_HEAD_GAIN 20
#define HS_HEAD_WEIGHT 21
#define HS_HEAD_BOX 22
#define HS_HEAD_TRUST 23
#define HS_HEAD_RESIDUAL 24
#define HS_HEAD_MIDDLE 27 // taau-ray: shares of M - D and of A - D in the samples
#define HS_HEAD_ACCUMULATED 28
// Limits l: logs of the kernel's axes, shear, logits, other logs and log-odds.
#define HS_HEAD_AXIS_SOFT 1.5
#define HS_HEAD_SHEAR_SOFT 3.0
#define HS_HEAD_LOGIT_SOFT 3.0
#define HS_HEAD_LOG_SOFT 4.0
#define HS_HEAD_RESIDUAL_SCALE 0.25
// The short head, of networks on render pixels: without logits.
#define HS_SHORT_HEAD 11
#define HS_SHORT_HEAD_OUTPUTS 48
// Integers of 8 bits are within this on either side.
#define HS_INTEGER_LIMIT 127
// Kernel axis at head 0, 1 / render px.
#define HS_HEAD_AXIS 2.0

#endif
