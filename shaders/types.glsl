// SPDX-License-Identifier: MIT
// Extensions and element types of the network's two paths; comes before every other include.
// _f32: activations, weights and sums are floats. _cm: activations and weights are half floats,
// multiplied as cooperative matrices of the device's size; sums are floats.
#extension GL_EXT_control_flow_attributes : require
#ifdef HS_MATRIX
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#pragma use_vulkan_memory_model
#define UNIT uvec4
#define PER_UNIT 8
#else
#define UNIT vec4
#define PER_UNIT 4
#endif
