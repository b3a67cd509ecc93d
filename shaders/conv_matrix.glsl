// SPDX-License-Identifier: MIT
// Implicit matrix product. A subgroup computes ROWS rows of TILE_M pixels with PART_TILES tiles of
// the outputs; SPLIT subgroups side by side share pixels, and such groups stand one below the
// other. Several of a workgroup's tiles follow downwards.
// STREAM, for kernels without taps in x: operands straight from the input, all inputs of a pixel
// at once where their weights fit, and INSIDE pixels of the finer level one after the other.
// Otherwise chunks of inputs go through shared memory with a halo: each operand row serves all taps
// in y, each weight tile all rows, and a chunk's loads are under way while the one before it is
// multiplied.
// Grid: TILE_M x (TILE_ROWS * tiles) outputs of the kernel, z the pixel of the finer level.
layout(local_size_x_id = HS_SPEC_LOCAL_X) in;
layout(constant_id = HS_SPEC_ROWS) const int ROWS = 4;
layout(constant_id = HS_SPEC_CHUNK) const int CHUNK = 16;
layout(constant_id = HS_SPEC_SUBGROUPS) const int SUBGROUPS = 4;
layout(constant_id = HS_SPEC_SPLIT) const int SPLIT = 1;
layout(constant_id = HS_SPEC_STREAM) const bool STREAM = false;
layout(constant_id = HS_SPEC_INSIDE) const int INSIDE = 1;
layout(constant_id = HS_SPEC_RESULT_TILES) const int RESULT_TILES = 1;

const int THREADS = int(gl_WorkGroupSize.x);
const int TAPS = KERNEL_X * KERNEL_Y;
const int TILE_ROWS = SUBGROUPS / SPLIT * ROWS;
const int PARTS = CHUNK / UNIT_K;
const int CHUNKS = DEPTH / CHUNK;
const int OUT_TILES = OUTPUTS / TILE_N;
const int PART_TILES = OUT_TILES / SPLIT;
const int OUT_UNITS = OUTPUTS / PER_UNIT;
const int IN_UNITS = INPUTS / PER_UNIT;
// Odd pitches keep rows apart in the banks of shared memory.
const int PIXEL_PITCH = PARTS | 1;
#ifdef HS_INT8
// Rows from the biases of one z to those of the next.
const int SCALE_ROWS = TILE_M + 1;
const int WEIGHTS_PITCH = PIXEL_PITCH;
const int CHUNK_WEIGHTS = TAPS * OUTPUTS * WEIGHTS_PITCH;
#else
const int SCALE_ROWS = TILE_M;
const int CHUNK_WEIGHTS = TAPS * CHUNK * WEIGHTS_PITCH;
#endif

const int COLUMNS = TILE_M + KERNEL_X - 1;
const int OPERAND_ROWS = (ROWS - 1) * STRIDE + KERNEL_Y;
const int INPUT_ROWS = (TILE_ROWS - 1) * STRIDE + KERNEL_Y;
const int OPERAND_UNITS = INPUT_ROWS * COLUMNS * PARTS;
const int OPERAND_PLACES = STREAM ? 1 : INPUT_ROWS * COLUMNS * PIXEL_PITCH;
const int OPERAND_LOADS = STREAM ? 1 : (OPERAND_UNITS + THREADS - 1) / THREADS;
const int WEIGHTS_UNITS = INSIDE * CHUNK_WEIGHTS;
const int WEIGHTS_LOADS = STREAM ? 1 : (WEIGHTS_UNITS + THREADS - 1) / THREADS;
#ifdef HS_INT8
// Sums of RESULT_TILES tiles of outputs for a row of a subgroup's pixels go through the memory of
// the operand, so that threads read and write whole units.
const int RESULT_PITCH = (RESULT_TILES * TILE_N / 4) | 1;
const int RESULT_PLACES = SUBGROUPS * TILE_M * RESULT_PITCH;
shared uvec4 operand[OPERAND_PLACES > RESULT_PLACES ? OPERAND_PLACES : RESULT_PLACES];
#else
shared uvec4 operand[OPERAND_PLACES];
#endif
shared uvec4 chunk_weights[WEIGHTS_UNITS];

int thread()
{
    return int(gl_LocalInvocationIndex);
}

// The first row and the first tile of outputs of a subgroup.
int subgroup_row()
{
    return int(gl_SubgroupID) / SPLIT * ROWS;
}

int subgroup_tile()
{
    return int(gl_SubgroupID) % SPLIT * PART_TILES;
}

ivec2 tile_at(int t)
{
    return ivec2(int(gl_WorkGroupID.x) * TILE_M,
                 (int(gl_WorkGroupID.y) * push.weights.w + t) * TILE_ROWS + push.band.x);
}

int weights_at(int chunk)
{
    return push.weights.x + int(gl_WorkGroupID.z) * push.weights.z + chunk * CHUNK_WEIGHTS;
}

// Where the weights of a tile are in a chunk.
int weights_place(int tap, int k, int n)
{
#ifdef HS_INT8
    return (tap * OUTPUTS + n) * WEIGHTS_PITCH + k / UNIT_K;
#else
    return (tap * CHUNK + k) * WEIGHTS_PITCH + n / PER_UNIT;
#endif
}

// Place in the output of the first unit of a tile of outputs, for a row of the kernel's pixels.
#define OUTPUT_STEP (PIXELS == 4 ? 2 : 1)
#define OUTPUT_PITCH (OUTPUT_STEP * OUT_UNITS)
int output_at(ivec2 first, int pixel, int tile)
{
    const ivec2 p = OUTPUT_STEP * first + ivec2(pixel & 1, pixel >> 1);
    return (ring_row(p.y, push.ring.z, push.ring.w) * push.size.w + p.x) * OUT_UNITS +
           tile * TILE_N / PER_UNIT;
}

// Matrices stay in the functions that multiply, and loops over them unrolled and without
// conditions within, so that arrays of them stay in registers: hence macros. They see `first`, the
// subgroup's first pixel, and sums[ROWS * PART_TILES].
#define START_SUMS(pixel)                                                                          \
    [[unroll]] for (int n = 0; n < PART_TILES; n++) {                                              \
        coopMatLoad(sums[n], weights,                                                              \
                    push.weights.y + (pixel) * SCALE_ROWS * OUTPUTS / 4 +                          \
                        (subgroup_tile() + n) * TILE_N / 4,                                        \
                    OUTPUTS / 4, ROW_MAJOR);                                                       \
        [[unroll]] for (int m = 1; m < ROWS; m++)                                                  \
            sums[m * PART_TILES + n] = sums[n];                                                    \
    }

#ifndef HS_INT8
// What the output holds comes as matrices, in time for the sums.
#define LOAD_ADDED(pixel)                                                                          \
    if (ADD) {                                                                                     \
        [[unroll]] for (int m = 0; m < ROWS; m++) {                                                \
            if (first.y + m < push.band.y) {                                                       \
                [[unroll]] for (int n = 0; n < PART_TILES; n++)                                    \
                    coopMatLoad(added[m * PART_TILES + n], outputs,                                \
                                output_at(first + ivec2(0, m), pixel, subgroup_tile() + n),        \
                                OUTPUT_PITCH, ROW_MAJOR);                                          \
            }                                                                                      \
        }                                                                                          \
    }

// Rows beyond the band may hold what another layer still reads.
#define WRITE_SUMS(pixel)                                                                          \
    [[unroll]] for (int m = 0; m < ROWS; m++) {                                                    \
        if (first.y + m < push.band.y) {                                                           \
            [[unroll]] for (int n = 0; n < PART_TILES; n++)                                        \
                coopMatStore(                                                                      \
                    rounded_sum(sums[m * PART_TILES + n], added[m * PART_TILES + n]), outputs,     \
                    output_at(first + ivec2(0, m), pixel, subgroup_tile() + n), OUTPUT_PITCH,      \
                    ROW_MAJOR);                                                                    \
        }                                                                                          \
    }

MATRIX_OUT rounded_sum(MATRIX_SUM sum, MATRIX_OUT added)
{
    if (ADD)
        sum += MATRIX_SUM(added);
    MATRIX_OUT rounded = MATRIX_OUT(sum);
    if (RELU) {
        [[unroll]] for (int e = 0; e < rounded.length(); e++)
            rounded[e] = max(rounded[e], float16_t(0.0));
    }
    return rounded;
}

#include "conv_stream.glsl"
#endif

// What a thread has loaded for the next chunk.
uvec4 next_operand[OPERAND_LOADS];
uvec4 next_weights[WEIGHTS_LOADS];

// Unit `part` of a chunk of the input's pixel p: of integers as many channels as a tile is deep,
// zeros where inputs are filled up.
uvec4 input_part(ivec2 p, int part)
{
    const int channel = part * UNIT_K;
    if (!in_picture(p) || channel >= INPUTS)
        return uvec4(0u);
    const uvec4 unit = inputs[(input_row(p.y) * push.size.z + p.x) * IN_UNITS + channel / PER_UNIT];
    return channel % PER_UNIT == 0 ? unit : unit.zwxy;
}

void load_next(ivec2 tile, int chunk)
{
    const ivec2 first = ivec2(first_column(tile.x), first_row(tile.y));
    [[unroll]] for (int i = 0; i < OPERAND_LOADS; i++) {
        const int n = thread() + i * THREADS, pixel = n / PARTS;
        const ivec2 p = first + ivec2(pixel % COLUMNS, pixel / COLUMNS);
        next_operand[i] = uvec4(0u);
        if (n < OPERAND_UNITS)
            next_operand[i] = input_part(p, chunk * PARTS + n % PARTS);
    }
    const int at = weights_at(chunk);
    [[unroll]] for (int i = 0; i < WEIGHTS_LOADS; i++)
        next_weights[i] = weights[at + min(thread() + i * THREADS, WEIGHTS_UNITS - 1)];
}

void store_next()
{
    [[unroll]] for (int i = 0; i < OPERAND_LOADS; i++) {
        const int n = thread() + i * THREADS;
        if (n < OPERAND_UNITS)
            operand[n / PARTS * PIXEL_PITCH + n % PARTS] = next_operand[i];
    }
    [[unroll]] for (int i = 0; i < WEIGHTS_LOADS; i++) {
        const int n = thread() + i * THREADS;
        if (n < WEIGHTS_UNITS)
            chunk_weights[n] = next_weights[i];
    }
}

#ifdef HS_INT8
// Of the tiles of outputs from `tile` on: how many units a pixel has in the group.
int group_units(int tile)
{
    return min(RESULT_TILES, OUT_TILES - tile) * TILE_N / PER_UNIT;
}
#endif

void staged()
{
    const int operand_at = subgroup_row() * STRIDE * COLUMNS * PIXEL_PITCH;
    const int pixel = int(gl_WorkGroupID.z);
    const int tiles = min(push.weights.w,
                          (push.band.y - tile_at(0).y + TILE_ROWS - 1) / TILE_ROWS);
    load_next(tile_at(0), 0);
    for (int t = 0; t < tiles; t++) {
        const ivec2 first = tile_at(t) + ivec2(0, subgroup_row());
        MATRIX_SUM sums[ROWS * PART_TILES];
        START_SUMS(pixel)
#ifndef HS_INT8
        MATRIX_OUT added[ROWS * PART_TILES];
#endif
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            barrier();
            store_next();
            barrier();
            const bool last = chunk + 1 == CHUNKS;
            if (!last || t + 1 < tiles)
                load_next(tile_at(last ? t + 1 : t), last ? 0 : chunk + 1);
#ifndef HS_INT8
            if (last) {
                LOAD_ADDED(pixel)
            }
#endif
            for (int x = 0; x < KERNEL_X; x++) {
                for (int k = 0; k < CHUNK; k += TILE_K) {
                    MATRIX_A a[OPERAND_ROWS];
                    MATRIX_B b;
                    [[unroll]] for (int r = 0; r < OPERAND_ROWS; r++)
                        coopMatLoad(a[r], operand,
                                    operand_at + (r * COLUMNS + x) * PIXEL_PITCH + k / UNIT_K,
                                    PIXEL_PITCH, ROW_MAJOR);
                    [[unroll]] for (int y = 0; y < KERNEL_Y; y++) {
                        const int tap = y * KERNEL_X + x;
                        [[unroll]] for (int n = 0; n < PART_TILES; n++) {
                            coopMatLoad(b, chunk_weights,
                                        weights_place(tap, k, (subgroup_tile() + n) * TILE_N),
                                        WEIGHTS_PITCH, WEIGHTS_MAJOR);
                            [[unroll]] for (int m = 0; m < ROWS; m++)
                                sums[m * PART_TILES + n] = coopMatMulAdd(
                                    a[m * STRIDE + y], b, sums[m * PART_TILES + n]);
                        }
                    }
                }
            }
        }

#ifdef HS_INT8
        // Integers are not split.
        barrier();
        const int lane = int(gl_SubgroupInvocationID), lanes = int(gl_SubgroupSize);
        const int result_at = int(gl_SubgroupID) * TILE_M * RESULT_PITCH;
        const int scale_at =
            push.weights.y + (pixel * SCALE_ROWS + TILE_M) * OUTPUTS / 4;
        [[unroll]] for (int g = 0; g < OUT_TILES; g += RESULT_TILES) {
            // A thread has the same sixteen outputs of pixels that are `apart`.
            const int units = group_units(g), unit = lane % units, apart = lanes / units;
            ivec4 scale[4];
            [[unroll]] for (int i = 0; i < 4; i++)
                scale[i] = ivec4(weights[scale_at + 4 * (g * TILE_N / PER_UNIT + unit) + i]);
            [[unroll]] for (int m = 0; m < ROWS; m++) {
                [[unroll]] for (int k = 0; k < RESULT_TILES; k++) {
                    if (g + k < OUT_TILES)
                        coopMatStore(sums[m * OUT_TILES + g + k], operand,
                                     result_at + k * TILE_N / 4, RESULT_PITCH, ROW_MAJOR);
                }
                // Barriers are for all subgroups, rows beyond the band or not.
                subgroupBarrier();
                const bool in_band = first.y + m < push.band.y;
                const int count = in_band && lane < units * apart ? TILE_M : 0;
                const int row_at = output_at(first + ivec2(0, m), pixel, g) + unit;
                for (int n = lane / units; n < count; n += apart) {
                    const int from = result_at + n * RESULT_PITCH + 4 * unit;
                    const int at = row_at + n * OUTPUT_PITCH;
                    uvec4 result = ADD ? outputs[at] : uvec4(0u);
                    [[unroll]] for (int i = 0; i < 4; i++) {
                        ivec4 value = scaled_down(ivec4(operand[from + i]), scale[i]);
                        if (ADD)
                            value += unpacked(result[i]);
                        result[i] = packed(limited(value, RELU));
                    }
                    outputs[at] = result;
                }
                subgroupBarrier();
            }
        }
#else
        WRITE_SUMS(pixel)
#endif
    }
}

void main()
{
#ifndef HS_INT8
    if (STREAM) {
        stream();
        return;
    }
#endif
    staged();
}
