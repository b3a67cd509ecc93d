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
// Features come one by one, the head's activations as they are in memory. Pitches keep rows apart
// in the banks of shared memory.
#ifdef HS_NETWORK
#define OPERAND uvec4
#define OPERAND_EACH PER_UNIT
const int OPERAND_PITCH = (INPUTS / PER_UNIT) | 1;
#else
#define OPERAND float16_t
#define OPERAND_EACH 1
const int OPERAND_PITCH = INPUTS + 8;
#endif
shared OPERAND operand[TOKENS * OPERAND_PITCH];
// Four values each.
const int RESULT_PITCH = OUTPUTS / 4 + 2;
shared uvec2 result[TOKENS * RESULT_PITCH];

void product()
{
    // Never true. The synchronisation layer takes a buffer that no plain load reads for one that is
    // written.
    if (push.weights.x < 0)
        operand[0] = OPERAND(weights[0].x);
    const int rows = TOKENS / TILE_M;
    for (int n = int(gl_SubgroupID); n < rows * (OUTPUTS / TILE_N); n += int(gl_NumSubgroups)) {
        const int row = n % rows * TILE_M, column = n / rows * TILE_N;
        MATRIX_A a;
        MATRIX_B b;
        MATRIX_SUM sum;
        coopMatLoad(sum, weights, push.weights.y + column / 4, OUTPUTS / 4, ROW_MAJOR);
        [[unroll]] for (int k = 0; k < INPUTS; k += TILE_K) {
            coopMatLoad(a, operand, row * OPERAND_PITCH + k / OPERAND_EACH, OPERAND_PITCH,
                        ROW_MAJOR);
            coopMatLoad(b, weights, push.weights.x + (column * INPUTS + k) / PER_UNIT,
                        INPUTS / PER_UNIT, COLUMN_MAJOR);
            sum = coopMatMulAdd(a, b, sum);
        }
        coopMatStore(MATRIX_OUT(sum), result, row * RESULT_PITCH + column / 4, RESULT_PITCH,
                     ROW_MAJOR);
    }
}

vec4 result4(int token, int n)
{
    const uvec2 halves = result[token * RESULT_PITCH + n];
    return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
}
#else
#define OPERAND float
const int OPERAND_PITCH = INPUTS + 1;
shared float operand[TOKENS * OPERAND_PITCH];
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
