// SPDX-License-Identifier: MIT
// The part of tokens.glsl that is of integers. Results are made for BATCH tokens at a time: more
// shared memory than that some devices do not have. Matrices have to lie at multiples of 16 bytes.
// Pitches keep rows apart in the banks.
#define BATCH 16
#ifdef HS_NETWORK
#define OPERAND_TOKENS BATCH
#else
#define OPERAND_TOKENS TOKENS
#endif
const int RESULT_PITCH = OUTPUTS / 4 + 1;
shared ivec4 result[BATCH * RESULT_PITCH];

#ifdef HS_MATRIX
// Units of as many channels as a tile is deep.
const int OPERAND_PITCH = (DEPTH / UNIT_K) | 1;
const int WEIGHTS_PITCH = OPERAND_PITCH;
shared uvec4 operand[OPERAND_TOKENS * OPERAND_PITCH];

// Puts channels `channel` to `channel` + 3 of a token into its operand.
void put_operand(int token, int channel, ivec4 four)
{
    operand[token * OPERAND_PITCH + channel / UNIT_K][channel % UNIT_K / 4] = packed(four);
}

#ifndef HS_NETWORK
// Features come one by one.
#define FEATURE int8_t
const int FEATURES_PITCH = DEPTH + 4;
shared FEATURE features[TOKENS * FEATURES_PITCH];

void pack_features()
{
    const int parts = DEPTH / 4;
    for (int n = int(gl_LocalInvocationIndex); n < TOKENS * parts; n += HS_GROUP_THREADS) {
        const int from = n / parts * FEATURES_PITCH + n % parts * 4;
        put_operand(n / parts, n % parts * 4,
                    ivec4(features[from], features[from + 1], features[from + 2],
                          features[from + 3]));
    }
    barrier();
}
#endif

// Of the tokens from `first` on.
void product(int first)
{
    MATRIX_A a[DEPTH / TILE_K];
    MATRIX_B b;
    for (int m = 0; m < BATCH; m += TILE_M) {
        [[unroll]] for (int k = 0; k < DEPTH / TILE_K; k++)
            coopMatLoad(a[k], operand, (first + m) * OPERAND_PITCH + k * TILE_K / UNIT_K,
                        OPERAND_PITCH, ROW_MAJOR);
        for (int n = int(gl_SubgroupID) * TILE_N; n < OUTPUTS;
             n += int(gl_NumSubgroups) * TILE_N) {
            MATRIX_SUM sum = MATRIX_SUM(0);
            [[unroll]] for (int k = 0; k < DEPTH / TILE_K; k++) {
                coopMatLoad(b, weights, push.weights.x + n * WEIGHTS_PITCH + k * TILE_K / UNIT_K,
                            WEIGHTS_PITCH, WEIGHTS_MAJOR);
                sum = coopMatMulAdd(a[k], b, sum);
            }
            coopMatStore(sum, result, m * RESULT_PITCH + n / 4, RESULT_PITCH, ROW_MAJOR);
        }
    }
}
#else
#define FEATURE int
#define features operand
const int DEPTH = INPUTS;
const int OPERAND_PITCH = INPUTS + 1;
const int FEATURES_PITCH = OPERAND_PITCH;
shared int operand[OPERAND_TOKENS * OPERAND_PITCH];

void put_operand(int token, int channel, ivec4 four)
{
    [[unroll]] for (int i = 0; i < 4; i++)
        operand[token * OPERAND_PITCH + channel + i] = four[i];
}

void pack_features()
{
}

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
        result[token * RESULT_PITCH + n] = sum;
    }
}
#endif

// Of a token of the batch.
ivec4 result4(int token, int n)
{
    return result[token * RESULT_PITCH + n];
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
