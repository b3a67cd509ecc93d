// SPDX-License-Identifier: MIT
// Implicit matrix product. A subgroup computes ROWS rows of TILE_M pixels with all outputs: each
// operand row from shared memory serves all taps in y, each weight tile all rows. A workgroup's
// subgroups stand one below the other; several such tiles follow downwards, with weights kept in
// shared memory if they fit whole.
// Grid: TILE_M x (SUBGROUPS * ROWS * tiles) outputs of the kernel, z the pixel of the finer level.
layout(local_size_x_id = HS_SPEC_LOCAL_X) in;
layout(constant_id = HS_SPEC_ROWS) const int ROWS = 4;
layout(constant_id = HS_SPEC_CHUNK) const int CHUNK = 16;
layout(constant_id = HS_SPEC_SUBGROUPS) const int SUBGROUPS = 4;
layout(constant_id = HS_SPEC_RESULT_TILES) const int RESULT_TILES = 1;

const int TAPS = KERNEL_X * KERNEL_Y;
const int COLUMNS = TILE_M + KERNEL_X - 1;
const int TILE_ROWS = SUBGROUPS * ROWS;
const int OPERAND_ROWS = (ROWS - 1) * STRIDE + KERNEL_Y;
const int INPUT_ROWS = (TILE_ROWS - 1) * STRIDE + KERNEL_Y;
const int PARTS = CHUNK / UNIT_K;
const int CHUNKS = DEPTH / CHUNK;
// Odd pitches keep rows apart in the banks of shared memory.
const int PIXEL_PITCH = PARTS | 1;
const int OUT_TILES = OUTPUTS / TILE_N;
// Results of RESULT_TILES tiles of outputs for a row of a subgroup's pixels go through the memory
// of the operand, so that threads read and write whole units; of integers it is their sums.
#ifdef HS_INT8
#define PER_RESULT 4
// Rows from the biases of one z to those of the next.
const int SCALE_ROWS = TILE_M + 1;
const int WEIGHTS_PITCH = PIXEL_PITCH;
const int WEIGHTS_UNITS = TAPS * OUTPUTS * WEIGHTS_PITCH;
#else
#define PER_RESULT PER_UNIT
const int SCALE_ROWS = TILE_M;
const int WEIGHTS_UNITS = TAPS * CHUNK * WEIGHTS_PITCH;
#endif
const int OUT_UNITS = OUTPUTS / PER_UNIT;
const int RESULT_PITCH = (RESULT_TILES * TILE_N / PER_RESULT) | 1;
const int OPERAND_UNITS = INPUT_ROWS * COLUMNS * PIXEL_PITCH;
const int RESULT_UNITS = SUBGROUPS * TILE_M * RESULT_PITCH;
shared uvec4 operand[OPERAND_UNITS > RESULT_UNITS ? OPERAND_UNITS : RESULT_UNITS];
shared uvec4 chunk_weights[WEIGHTS_UNITS];

// Loads of a thread that are under way together.
#define STAGED 4

// Unit `part` of a chunk of the input's pixel p: of integers as many channels as a tile is deep,
// zeros where inputs are filled up.
uvec4 input_part(ivec2 p, int part)
{
    const int channel = part * UNIT_K;
    if (!in_picture(p) || channel >= INPUTS)
        return uvec4(0u);
    const uvec4 unit = inputs[(input_row(p.y) * push.size.z + p.x) * (INPUTS / PER_UNIT) +
                              channel / PER_UNIT];
    return channel % PER_UNIT == 0 ? unit : unit.zwxy;
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

void stage_operand(ivec2 first, int chunk)
{
    const int count = INPUT_ROWS * COLUMNS * PARTS, threads = int(gl_WorkGroupSize.x);
    for (int start = int(gl_LocalInvocationIndex); start < count; start += STAGED * threads) {
        uvec4 units[STAGED];
        [[unroll]] for (int i = 0; i < STAGED; i++) {
            const int n = start + i * threads, pixel = n / PARTS;
            const ivec2 p = first + ivec2(pixel % COLUMNS, pixel / COLUMNS);
            if (n < count)
                units[i] = input_part(p, chunk * PARTS + n % PARTS);
        }
        [[unroll]] for (int i = 0; i < STAGED; i++) {
            const int n = start + i * threads;
            if (n < count)
                operand[n / PARTS * PIXEL_PITCH + n % PARTS] = units[i];
        }
    }
}

void stage_weights(int chunk)
{
    const int at = push.weights.x + int(gl_WorkGroupID.z) * push.weights.z +
                   chunk * WEIGHTS_UNITS;
    const int threads = int(gl_WorkGroupSize.x);
    for (int start = int(gl_LocalInvocationIndex); start < WEIGHTS_UNITS;
         start += STAGED * threads) {
        uvec4 units[STAGED];
        [[unroll]] for (int i = 0; i < STAGED; i++)
            units[i] = weights[at + min(start + i * threads, WEIGHTS_UNITS - 1)];
        [[unroll]] for (int i = 0; i < STAGED; i++) {
            if (start + i * threads < WEIGHTS_UNITS)
                chunk_weights[start + i * threads] = units[i];
        }
    }
}

// Of the tiles of outputs from `tile` on: how many units a pixel has in the group; where the units
// n of the group's pixels are in the operand's memory; and in the output, whose pixels of the row
// are `step` apart from the first at `at`.
int group_units(int tile)
{
    return min(RESULT_TILES, OUT_TILES - tile) * TILE_N / PER_UNIT;
}

int result_place(int n, int units)
{
    return (int(gl_SubgroupID) * TILE_M + n / units) * RESULT_PITCH + n % units;
}

int output_place(int n, int units, int tile, int at, int step)
{
    return at + n / units * step * OUT_UNITS + tile * TILE_N / PER_UNIT + n % units;
}

// Matrices stay in main() and their loops unrolled, so that arrays of them stay in registers.
void main()
{
    const int pixel = int(gl_WorkGroupID.z), lane = int(gl_SubgroupInvocationID);
    const int lanes = int(gl_SubgroupSize), result_at = result_place(0, 1);
    const int step = PIXELS == 4 ? 2 : 1;
    const int bias_at = push.weights.y + pixel * SCALE_ROWS * OUTPUTS / 4;
    const int operand_at = int(gl_SubgroupID) * ROWS * STRIDE * COLUMNS * PIXEL_PITCH;
    for (int t = 0; t < push.weights.w; t++) {
        const ivec2 tile = ivec2(int(gl_WorkGroupID.x) * TILE_M,
                                 (int(gl_WorkGroupID.y) * push.weights.w + t) * TILE_ROWS +
                                     push.band.x);
        if (tile.y >= push.band.y)
            break;
        MATRIX_SUM sums[ROWS * OUT_TILES];
        [[unroll]] for (int n = 0; n < OUT_TILES; n++) {
            coopMatLoad(sums[n], weights, bias_at + n * TILE_N / 4, OUTPUTS / 4, ROW_MAJOR);
            [[unroll]] for (int m = 1; m < ROWS; m++)
                sums[m * OUT_TILES + n] = sums[n];
        }

        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            barrier();
            stage_operand(ivec2(first_column(tile.x), first_row(tile.y)), chunk);
            if (CHUNKS > 1 || t == 0)
                stage_weights(chunk);
            barrier();
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
                        [[unroll]] for (int n = 0; n < OUT_TILES; n++) {
                            coopMatLoad(b, chunk_weights, weights_place(tap, k, n * TILE_N),
                                        WEIGHTS_PITCH, WEIGHTS_MAJOR);
                            [[unroll]] for (int m = 0; m < ROWS; m++)
                                sums[m * OUT_TILES + n] = coopMatMulAdd(
                                    a[m * STRIDE + y], b, sums[m * OUT_TILES + n]);
                        }
                    }
                }
            }
        }

        barrier();
        const ivec2 first = step * ivec2(tile.x, tile.y + int(gl_SubgroupID) * ROWS) +
                            ivec2(pixel & 1, pixel >> 1);
#ifdef HS_INT8
        [[unroll]] for (int g = 0; g < OUT_TILES; g += RESULT_TILES) {
            // A thread has the same sixteen outputs of pixels that are `apart`.
            const int units = group_units(g), unit = lane % units, apart = lanes / units;
            const int unit_at = g * TILE_N / PER_UNIT + unit;
            ivec4 scale[4];
            [[unroll]] for (int i = 0; i < 4; i++)
                scale[i] = ivec4(weights[bias_at + TILE_M * OUTPUTS / 4 + 4 * unit_at + i]);
            [[unroll]] for (int m = 0; m < ROWS; m++) {
                [[unroll]] for (int k = 0; k < RESULT_TILES; k++) {
                    if (g + k < OUT_TILES)
                        coopMatStore(sums[m * OUT_TILES + g + k], operand,
                                     result_at + k * TILE_N / PER_RESULT, RESULT_PITCH, ROW_MAJOR);
                }
                subgroupBarrier();
                const int row = ring_row(first.y + step * m, push.ring.z, push.ring.w);
                const bool in_band = tile.y + int(gl_SubgroupID) * ROWS + m < push.band.y;
                const int count = in_band && lane < units * apart ? TILE_M : 0;
                for (int n = lane / units; n < count; n += apart) {
                    const int from = result_at + n * RESULT_PITCH + 4 * unit;
                    const int at = (row * push.size.w + first.x + n * step) * OUT_UNITS + unit_at;
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
        [[unroll]] for (int m = 0; m < ROWS; m++) {
            const int row = ring_row(first.y + step * m, push.ring.z, push.ring.w);
            const int at = (row * push.size.w + first.x) * OUT_UNITS;
            // Rows beyond the band may hold what another layer still reads.
            const bool in_band = tile.y + int(gl_SubgroupID) * ROWS + m < push.band.y;
            [[unroll]] for (int g = 0; g < OUT_TILES; g += RESULT_TILES) {
                const int units = group_units(g), count = in_band ? TILE_M * units : 0;
                if (ADD) {
                    for (int n = lane; n < count; n += lanes)
                        operand[result_place(n, units)] =
                            outputs[output_place(n, units, g, at, step)];
                    subgroupBarrier();
                }
                [[unroll]] for (int k = 0; k < RESULT_TILES; k++) {
                    if (g + k < OUT_TILES) {
                        const int place = result_at + k * TILE_N / PER_UNIT;
                        MATRIX_OUT rounded;
                        if (ADD) {
                            coopMatLoad(rounded, operand, place, RESULT_PITCH, ROW_MAJOR);
                            sums[m * OUT_TILES + g + k] += MATRIX_SUM(rounded);
                        }
                        rounded = MATRIX_OUT(sums[m * OUT_TILES + g + k]);
                        if (RELU) {
                            [[unroll]] for (int e = 0; e < rounded.length(); e++)
                                rounded[e] = max(rounded[e], float16_t(0.0));
                        }
                        coopMatStore(rounded, operand, place, RESULT_PITCH, ROW_MAJOR);
                    }
                }
                subgroupBarrier();
                for (int n = lane; n < count; n += lanes)
                    outputs[output_place(n, units, g, at, step)] = operand[result_place(n, units)];
                subgroupBarrier();
            }
        }
#endif
    }
}
