// SPDX-License-Identifier: MIT
// A layer's weights and parameters. Buffers are arrays of units of 16 bytes.
// _f32: weights [taps, inputs, outputs]; biases [outputs].
// _cm: weights [taps, inputs, outputs filled up to an odd number of units]; biases in floats, of
// convolutions [HS_SPEC_TILE_M, outputs], all rows alike, so that sums start with them.
#include "network.h"
#include "band.glsl"

layout(constant_id = HS_SPEC_INPUTS) const int INPUTS = 64;
layout(constant_id = HS_SPEC_OUTPUTS) const int OUTPUTS = 16;
layout(std430, set = 1, binding = HS_BINDING_WEIGHTS) readonly buffer hs_weights_block
{
    UNIT weights[];
};

#ifdef HS_MATRIX
layout(constant_id = HS_SPEC_TILE_M) const int TILE_M = 16;
layout(constant_id = HS_SPEC_TILE_N) const int TILE_N = 16;
layout(constant_id = HS_SPEC_TILE_K) const int TILE_K = 16;
const int WEIGHTS_PITCH = (OUTPUTS / PER_UNIT) | 1;
#define ROW_MAJOR gl_CooperativeMatrixLayoutRowMajor
#define MATRIX_A coopmat<float16_t, gl_ScopeSubgroup, TILE_M, TILE_K, gl_MatrixUseA>
#define MATRIX_B coopmat<float16_t, gl_ScopeSubgroup, TILE_K, TILE_N, gl_MatrixUseB>
#define MATRIX_SUM coopmat<float, gl_ScopeSubgroup, TILE_M, TILE_N, gl_MatrixUseAccumulator>
#define MATRIX_OUT coopmat<float16_t, gl_ScopeSubgroup, TILE_M, TILE_N, gl_MatrixUseAccumulator>
#endif
