// SPDX-License-Identifier: MIT
// Extensions and element types of the network's paths; comes before every other include.
// _f32: activations, weights and sums are floats. _cm: activations and weights are half floats,
// multiplied as cooperative matrices of the device's size; sums are floats.
// _i8: activations are integers of 8 bits, weights and sums of 32. _i8_cm: weights have 8 bits,
// too, multiplied as cooperative matrices. All of it is exact, and the same on every device.
#extension GL_EXT_control_flow_attributes : require
#ifdef HS_MATRIX
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#ifdef HS_INT8
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#else
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#pragma use_vulkan_memory_model
#endif

#ifdef HS_INT8
// Tokens are render pixels, whose quarters are cells.
#define HS_CELLS
#define UNIT uvec4
#define PER_UNIT 16
#define VALUE int
#define VALUE4 ivec4
#elif defined(HS_MATRIX)
#define UNIT uvec4
#define PER_UNIT 8
#define VALUE float
#define VALUE4 vec4
#else
#define UNIT vec4
#define PER_UNIT 4
#define VALUE float
#define VALUE4 vec4
#endif

#ifdef HS_MATRIX
#define WEIGHTS uvec4
#else
#define WEIGHTS VALUE4
#endif
