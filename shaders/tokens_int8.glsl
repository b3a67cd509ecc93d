// SPDX-License-Identifier: MIT
// The part of tokens.glsl that is of integers. Results are made for BATCH tokens at a time: more
// shared memory than that some devices do not have. Pitches keep rows apart in its banks.
#define BATCH 16
#ifdef HS_NETWORK
#define OPERAND_TOKENS BATCH
#else
#define OPERAND_TOKENS TOKENS
#endif
const int RESULT_PITCH = OUTPUTS + 4;
shared int result[BATCH * RESULT_PITCH];

#ifdef HS_MATRIX
const int OPERAND_PITCH = DEPTH + 16;
const int WEIGHTS_PITCH = (DEPTH / UNIT_K) | 1;
#define OPERAND ELEMENT
shared ELEMENT operand[OPERAND_TOKENS * OPERAND_PITCH];

// Of the tokens from `first` on.
void product(int first)
{
    MATRIX_A a[DEPTH / TILE_K];
    MATRIX_B b;
    for (int m = 0; m < BATCH; m += TILE_M) {
        [[unroll]] for (int k = 0; k < DEPTH / TILE_K; k++)
            coopMatLoad(a[k], operand, (first + m) * OPERAND_PITCH + k * TILE_K, OPERAND_PITCH,
                        ROW_MAJOR);
        for (int n = int(gl_SubgroupID) * TILE_N; n < OUTPUTS;
             n += int(gl_NumSubgroups) * TILE_N) {
            MATRIX_SUM sum = MATRIX_SUM(0);
            [[unroll]] for (int k = 0; k < DEPTH / TILE_K; k++) {
                coopMatLoad(b, weights, push.weights.x + n * WEIGHTS_PITCH + k * TILE_K / UNIT_K,
                            WEIGHTS_PITCH, WEIGHTS_MAJOR);
                sum = coopMatMulAdd(a[k], b, sum);
            }
            coopMatStore(sum, result, m * RESULT_PITCH + n, RESULT_PITCH, ROW_MAJOR);
        }
    }
}
#else
#define OPERAND int
const int DEPTH = INPUTS;
const int OPERAND_PITCH = INPUTS + 1;
shared int operand[OPERAND_TOKENS * OPERAND_PITCH];

// Of the tokens from `first` on.
void product(int first)
{
    const int token = int(gl_LocalInvocationIndex) % BATCH;
    for (int n = int(gl_LocalInvocationIndex) / BATCH; n < OUTPUTS / 4;
         n += HS_GROUP_THREADS / BATCH) {
        ivec4 sum = ivec4(0);
        for (int k = 0; k < INPUTS; k++)
            sum += operand[(first + token) * OPERAND_PITCH + k] *
                   weights[push.weights.x + k * (OUTPUTS / 4) + n];
        [[unroll]] for (int i = 0; i < 4; i++)
            result[token * RESULT_PITCH + 4 * n + i] = sum[i];
    }
}
#endif

// Of a token of the batch.
ivec4 result4(int token, int n)
{
    const int at = token * RESULT_PITCH + 4 * n;
    return ivec4(result[at], result[at + 1], result[at + 2], result[at + 3]);
}

// Biases 4 n to 4 n + 3.
ivec4 biases(int n)
{
    return ivec4(weights[push.weights.y + n]);
}

// Scales 4 n to 4 n + 3: of the first layer multiplier and shift, of the last floats.
ivec4 scales(int n)
{
    return ivec4(weights[push.weights.y + OUTPUTS / 4 + n]);
}
