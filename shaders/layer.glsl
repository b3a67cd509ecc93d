// SPDX-License-Identifier: MIT
// A layer's weights and parameters. Buffers are arrays of units of 16 bytes.
// _f32, _i8: weights [taps, inputs, outputs]; biases [outputs].
// _cm: weights [taps, inputs, outputs filled up to an odd number of units], of the first and the
// last layer [outputs, inputs]; biases in floats [HS_SPEC_TILE_M, outputs], all rows alike, so
// that sums start with them.
// _i8_cm: weights [taps, outputs, inputs filled up], UNIT_K to a unit; biases as _cm, but one row
// of them for the first and the last layer.
// Outputs of the head, but of integers, are in the order of pixels: value c of pixel s is
// s * (OUTPUTS / 4) + c.
// Behind the biases of integers are their scales (integers.glsl).
#include "network.h"
#include "band.glsl"
#ifdef HS_INT8
#include "integers.glsl"
#endif

layout(constant_id = HS_SPEC_INPUTS) const int INPUTS = 64;
layout(constant_id = HS_SPEC_OUTPUTS) const int OUTPUTS = 16;
layout(std430, set = 1, binding = HS_BINDING_WEIGHTS) readonly buffer hs_weights_block
{
    WEIGHTS weights[];
};

#ifdef HS_MATRIX
layout(constant_id = HS_SPEC_TILE_M) const int TILE_M = 16;
layout(constant_id = HS_SPEC_TILE_N) const int TILE_N = 16;
layout(constant_id = HS_SPEC_TILE_K) const int TILE_K = 16;
#define ROW_MAJOR gl_CooperativeMatrixLayoutRowMajor
#define COLUMN_MAJOR gl_CooperativeMatrixLayoutColumnMajor
#ifdef HS_INT8
layout(constant_id = HS_SPEC_DEPTH) const int DEPTH = 64;
// Inputs of a unit of operands: tiles begin at whole units.
const int UNIT_K = TILE_K < PER_UNIT ? TILE_K : PER_UNIT;
#define ELEMENT int8_t
// Weights of an output lie side by side, as matrix units take them.
#define WEIGHTS_MAJOR COLUMN_MAJOR
#else
const int DEPTH = INPUTS;
const int UNIT_K = PER_UNIT;
const int WEIGHTS_PITCH = (OUTPUTS / PER_UNIT) | 1;
#define ELEMENT float16_t
#define WEIGHTS_MAJOR ROW_MAJOR
#define MATRIX_OUT coopmat<float16_t, gl_ScopeSubgroup, TILE_M, TILE_N, gl_MatrixUseAccumulator>
#endif
#define MATRIX_A coopmat<ELEMENT, gl_ScopeSubgroup, TILE_M, TILE_K, gl_MatrixUseA>
#define MATRIX_B coopmat<ELEMENT, gl_ScopeSubgroup, TILE_K, TILE_N, gl_MatrixUseB>
#define MATRIX_SUM coopmat<VALUE, gl_ScopeSubgroup, TILE_M, TILE_N, gl_MatrixUseAccumulator>
#endif
