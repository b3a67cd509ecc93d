// SPDX-License-Identifier: MIT
// The product of a 1x1 layer for sixteen tokens, from shared memory to shared memory:
// result = operand x weights. Biases are left to the reader.
#include "layer.glsl"

layout(local_size_x = 64) in;
#define TOKENS 16
// Pitches keep rows apart in the banks of shared memory.
const int RESULT_PITCH = OUTPUTS + 4;
shared VALUE result[TOKENS * RESULT_PITCH];

#ifdef HS_MATRIX
#ifdef HS_INT8
const int OPERAND_PITCH = DEPTH + 16;
const int WEIGHTS_PITCH = (DEPTH / UNIT_K) | 1;
#else
const int OPERAND_PITCH = DEPTH + 8;
#endif
#define OPERAND ELEMENT
shared ELEMENT operand[TOKENS * OPERAND_PITCH];

// Where the weights of a tile are.
int weights_place(int k, int n)
{
#ifdef HS_INT8
    return push.weights.x + n * WEIGHTS_PITCH + k / UNIT_K;
#else
    return push.weights.x + k * WEIGHTS_PITCH + n / PER_UNIT;
#endif
}

void product()
{
    MATRIX_A a[DEPTH / TILE_K];
    MATRIX_B b;
    for (int m = 0; m < TOKENS; m += TILE_M) {
        [[unroll]] for (int k = 0; k < DEPTH / TILE_K; k++)
            coopMatLoad(a[k], operand, m * OPERAND_PITCH + k * TILE_K, OPERAND_PITCH, ROW_MAJOR);
        for (int n = int(gl_SubgroupID) * TILE_N; n < OUTPUTS;
             n += int(gl_NumSubgroups) * TILE_N) {
            MATRIX_SUM sum = MATRIX_SUM(0);
            [[unroll]] for (int k = 0; k < DEPTH / TILE_K; k++) {
                coopMatLoad(b, weights, weights_place(k * TILE_K, n), WEIGHTS_PITCH,
                            WEIGHTS_MAJOR);
                sum = coopMatMulAdd(a[k], b, sum);
            }
            coopMatStore(sum, result, m * RESULT_PITCH + n, RESULT_PITCH, ROW_MAJOR);
        }
    }
}
#else
#define OPERAND VALUE
const int DEPTH = INPUTS;
const int OPERAND_PITCH = INPUTS + 1;
shared VALUE operand[TOKENS * OPERAND_PITCH];

void product()
{
    const int token = int(gl_LocalInvocationIndex) & 15;
    for (int n = int(gl_LocalInvocationIndex) >> 4; n < OUTPUTS / 4; n += 4) {
        VALUE4 sum = VALUE4(0);
        for (int k = 0; k < INPUTS; k++)
            sum += operand[token * OPERAND_PITCH + k] *
                   weights[push.weights.x + k * (OUTPUTS / 4) + n];
        [[unroll]] for (int i = 0; i < 4; i++)
            result[token * RESULT_PITCH + 4 * n + i] = sum[i];
    }
}
#endif

// Biases 4 n to 4 n + 3.
VALUE4 biases(int n)
{
#if defined(HS_INT8)
    return ivec4(weights[push.weights.y + n]);
#elif defined(HS_MATRIX)
    return uintBitsToFloat(weights[push.weights.y + n]);
#else
    return weights[push.weights.y + n];
#endif
}

#ifdef HS_INT8
// Scales 4 n to 4 n + 3: of the first layer multiplier and shift, of the last floats.
ivec4 scales(int n)
{
    return ivec4(weights[push.weights.y + OUTPUTS / 4 + n]);
}
#endif

// The place of a token of a level-0 plane of activations of this layer's pitch; `ring`: base and
// rows of the plane.
int token_place(ivec2 at, int pitch, ivec2 ring)
{
    return ring_row(at.y, ring.x, ring.y) * pitch + at.x;
}

// Token t of the 4x4 of a workgroup.
ivec2 group_token(int t)
{
    return picture_group() * 4 + ivec2(t & 3, t >> 2);
}
