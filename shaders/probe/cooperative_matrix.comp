// SPDX-License-Identifier: MIT
// Compiles where glslang knows GL_KHR_cooperative_matrix. Never run.
#version 460
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer data_block { float data[]; };
void main()
{
    coopmat<float, gl_ScopeSubgroup, 8, 8, gl_MatrixUseAccumulator> m;
    coopMatLoad(m, data, 0, 8, gl_CooperativeMatrixLayoutRowMajor);
    coopMatStore(m, data, 64, 8, gl_CooperativeMatrixLayoutRowMajor);
}
