// SPDX-License-Identifier: MIT
// The product of a 1x1 layer for the 4x4 tokens of a workgroup, from shared memory to shared
// memory: result = operand x weights. Biases are left to the reader.
#include "layer.glsl"

layout(local_size_x = 64) in;
#define TOKENS 16
// Token t is (t & 3, t >> 2). Pitches keep rows apart in the banks of shared memory.
const int RESULT_PITCH = OUTPUTS + 4;
shared float result[TOKENS * RESULT_PITCH];

#ifdef HS_MATRIX
#define OPERAND float16_t
const int OPERAND_PITCH = INPUTS + 8;
shared float16_t operand[TOKENS * OPERAND_PITCH];

void product()
{
    MATRIX_A a[INPUTS / TILE_K];
    MATRIX_B b;
    for (int m = 0; m < TOKENS; m += TILE_M) {
        [[unroll]] for (int k = 0; k < INPUTS / TILE_K; k++)
            coopMatLoad(a[k], operand, m * OPERAND_PITCH + k * TILE_K, OPERAND_PITCH, ROW_MAJOR);
        for (int n = int(gl_SubgroupID) * TILE_N; n < OUTPUTS;
             n += int(gl_NumSubgroups) * TILE_N) {
            MATRIX_SUM sum = MATRIX_SUM(0.0);
            [[unroll]] for (int k = 0; k < INPUTS / TILE_K; k++) {
                coopMatLoad(b, weights,
                            push.weights.x + k * TILE_K * WEIGHTS_PITCH + n / PER_UNIT,
                            WEIGHTS_PITCH, ROW_MAJOR);
                sum = coopMatMulAdd(a[k], b, sum);
            }
            coopMatStore(sum, result, m * RESULT_PITCH + n, RESULT_PITCH, ROW_MAJOR);
        }
    }
}
#else
#define OPERAND float
const int OPERAND_PITCH = INPUTS + 1;
shared float operand[TOKENS * OPERAND_PITCH];

void product()
{
    const int token = int(gl_LocalInvocationIndex) & 15;
    for (int n = int(gl_LocalInvocationIndex) >> 4; n < OUTPUTS / 4; n += 4) {
        vec4 sum = vec4(0.0);
        for (int k = 0; k < INPUTS; k++)
            sum += operand[token * OPERAND_PITCH + k] *
                   weights[push.weights.x + k * (OUTPUTS / 4) + n];
        [[unroll]] for (int i = 0; i < 4; i++)
            result[token * RESULT_PITCH + 4 * n + i] = sum[i];
    }
}
#endif

// Biases 4 n to 4 n + 3.
vec4 biases(int n)
{
#ifdef HS_MATRIX
    return uintBitsToFloat(weights[push.weights.y + n]);
#else
    return weights[push.weights.y + n];
#endif
}

// The place in a level-0 plane of activations of token t, of this layer's pitch; `ring`: base and
// rows of the plane.
int token_place(int t, int pitch, ivec2 ring)
{
    const ivec2 at = picture_group() * 4 + ivec2(t & 3, t >> 2);
    return ring_row(at.y, ring.x, ring.y) * pitch + at.x;
}
