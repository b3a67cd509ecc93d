// SPDX-License-Identifier: MIT
// The product of a 1x1 layer for tokens of a workgroup. Of floats: result = biases + operand x
// weights, from shared memory to shared memory or, on the plain path, to registers. Of integers:
// result = operand x weights, and biases are left to the reader.
#include "layer.glsl"

layout(local_size_x = HS_GROUP_THREADS) in;
// Token t of a workgroup is (t % TOKENS_X, t / TOKENS_X).
#define TOKENS_X (HS_GROUP_X / 2)
#define TOKENS (TOKENS_X * HS_GROUP_Y / 2)

// Of a pixel of the workgroup.
int token_of(ivec2 at)
{
    return at.y / 2 * TOKENS_X + at.x / 2;
}

int pixel_of(ivec2 at)
{
    return 2 * (at.y & 1) + (at.x & 1);
}

ivec2 group_token(int t)
{
    return group_first() / 2 + ivec2(t % TOKENS_X, t / TOKENS_X);
}

// The place of a token of a level-0 plane of activations of this layer's pitch; `ring`: base and
// rows of the plane.
int token_place(ivec2 at, int pitch, ivec2 ring)
{
    return ring_row(at.y, ring.x, ring.y) * pitch + at.x;
}

#if defined(HS_INT8)
#include "tokens_int8.glsl"
#elif defined(HS_MATRIX)
// Matrices have to lie at multiples of 16 bytes, so they are arrays of units. Pitches keep rows
// apart in the banks of shared memory.
const int OPERAND_PITCH = (INPUTS / PER_UNIT) | 1;
shared uvec4 operand[TOKENS * OPERAND_PITCH];
const int RESULT_PITCH = (OUTPUTS / PER_UNIT) | 1;
shared uvec4 result[TOKENS * RESULT_PITCH];

#ifndef HS_NETWORK
// Features come one by one.
#define FEATURE float16_t
const int FEATURES_PITCH = INPUTS + 2;
shared FEATURE features[TOKENS * FEATURES_PITCH];

void pack_features()
{
    const int parts = INPUTS / PER_UNIT;
    for (int n = int(gl_LocalInvocationIndex); n < TOKENS * parts; n += HS_GROUP_THREADS) {
        const int from = n / parts * FEATURES_PITCH + n % parts * PER_UNIT;
        uvec4 unit;
        [[unroll]] for (int i = 0; i < 4; i++)
            unit[i] = packFloat2x16(f16vec2(features[from + 2 * i], features[from + 2 * i + 1]));
        operand[n / parts * OPERAND_PITCH + n % parts] = unit;
    }
    barrier();
}
#endif

void product()
{
    // Never true. The synchronisation layer takes a buffer that no plain load reads for one that is
    // written.
    if (push.weights.x < 0)
        operand[0] = weights[0];
    const int rows = TOKENS / TILE_M;
    for (int n = int(gl_SubgroupID); n < rows * (OUTPUTS / TILE_N); n += int(gl_NumSubgroups)) {
        const int row = n % rows * TILE_M, column = n / rows * TILE_N;
        MATRIX_A a;
        MATRIX_B b;
        MATRIX_SUM sum;
        coopMatLoad(sum, weights, push.weights.y + column / 4, OUTPUTS / 4, ROW_MAJOR);
        [[unroll]] for (int k = 0; k < INPUTS; k += TILE_K) {
            coopMatLoad(a, operand, row * OPERAND_PITCH + k / PER_UNIT, OPERAND_PITCH, ROW_MAJOR);
            coopMatLoad(b, weights, push.weights.x + (column * INPUTS + k) / PER_UNIT,
                        INPUTS / PER_UNIT, COLUMN_MAJOR);
            sum = coopMatMulAdd(a, b, sum);
        }
        coopMatStore(MATRIX_OUT(sum), result, row * RESULT_PITCH + column / PER_UNIT, RESULT_PITCH,
                     ROW_MAJOR);
    }
}

// Values 4 n to 4 n + 3.
vec4 result4(int token, int n)
{
    const uvec4 unit = result[token * RESULT_PITCH + n / 2];
    const uvec2 halves = (n & 1) == 0 ? unit.xy : unit.zw;
    return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
}
#else
#define FEATURE float
#define features operand
const int OPERAND_PITCH = INPUTS + 1;
const int FEATURES_PITCH = OPERAND_PITCH;
shared float operand[TOKENS * OPERAND_PITCH];

void pack_features()
{
}

// What a thread computes: the head of its own pixel, else some outputs of a token.
vec4 own_result[OUTPUTS / 16];

#ifdef HS_NETWORK
int own_token()
{
    return token_of(group_place());
}

int own_place(int n)
{
    return pixel_of(group_place()) * (OUTPUTS / 16) + n;
}
#else
int own_token()
{
    return int(gl_LocalInvocationIndex) % TOKENS;
}

int own_place(int n)
{
    return int(gl_LocalInvocationIndex) / TOKENS + n * (HS_GROUP_THREADS / TOKENS);
}
#endif

void product()
{
    const int token = own_token();
    for (int n = 0; n < OUTPUTS / 16; n++) {
        const int at = own_place(n);
        vec4 sum = weights[push.weights.y + at];
        for (int k = 0; k < INPUTS; k++)
            sum += operand[token * OPERAND_PITCH + k] *
                   weights[push.weights.x + k * (OUTPUTS / 4) + at];
        own_result[n] = sum;
    }
}
#endif
