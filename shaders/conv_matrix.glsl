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

const int TAPS = KERNEL_X * KERNEL_Y;
const int COLUMNS = TILE_M + KERNEL_X - 1;
const int TILE_ROWS = SUBGROUPS * ROWS;
const int OPERAND_ROWS = (ROWS - 1) * STRIDE + KERNEL_Y;
const int INPUT_ROWS = (TILE_ROWS - 1) * STRIDE + KERNEL_Y;
const int PARTS = CHUNK / PER_UNIT;
const int CHUNKS = INPUTS / CHUNK;
// Odd pitches keep rows apart in the banks of shared memory.
const int PIXEL_PITCH = PARTS | 1;
const int OUT_TILES = OUTPUTS / TILE_N;
const int WEIGHTS_UNITS = TAPS * CHUNK * WEIGHTS_PITCH;
shared uvec4 operand[INPUT_ROWS * COLUMNS * PIXEL_PITCH];
shared uvec4 chunk_weights[WEIGHTS_UNITS];

// Loads of a thread that are under way together.
#define STAGED 4

void stage_operand(ivec2 first, int chunk)
{
    const int count = INPUT_ROWS * COLUMNS * PARTS, threads = int(gl_WorkGroupSize.x);
    for (int start = int(gl_LocalInvocationIndex); start < count; start += STAGED * threads) {
        uvec4 units[STAGED];
        [[unroll]] for (int i = 0; i < STAGED; i++) {
            const int n = start + i * threads, pixel = n / PARTS;
            const ivec2 p = first + ivec2(pixel % COLUMNS, pixel / COLUMNS);
            units[i] = uvec4(0u);
            if (n < count && in_picture(p))
                units[i] = inputs[(input_row(p.y) * push.size.z + p.x) * (INPUTS / PER_UNIT) +
                                  chunk * PARTS + n % PARTS];
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

// Matrices stay in main() and their loops unrolled, so that arrays of them stay in registers.
void main()
{
    const int units = OUTPUTS / PER_UNIT, pixel = int(gl_WorkGroupID.z);
    const int step = PIXELS == 4 ? 2 : 1;
    const int bias_at = push.weights.y + pixel * TILE_M * OUTPUTS / 4;
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
                                    operand_at + (r * COLUMNS + x) * PIXEL_PITCH + k / PER_UNIT,
                                    PIXEL_PITCH, ROW_MAJOR);
                    [[unroll]] for (int y = 0; y < KERNEL_Y; y++) {
                        const int row_at = ((y * KERNEL_X + x) * CHUNK + k) * WEIGHTS_PITCH;
                        [[unroll]] for (int n = 0; n < OUT_TILES; n++) {
                            coopMatLoad(b, chunk_weights, row_at + n * TILE_N / PER_UNIT,
                                        WEIGHTS_PITCH, ROW_MAJOR);
                            [[unroll]] for (int m = 0; m < ROWS; m++)
                                sums[m * OUT_TILES + n] = coopMatMulAdd(
                                    a[m * STRIDE + y], b, sums[m * OUT_TILES + n]);
                        }
                    }
                }
            }
        }

        const ivec2 first = step * ivec2(tile.x, tile.y + int(gl_SubgroupID) * ROWS) +
                            ivec2(pixel & 1, pixel >> 1);
        [[unroll]] for (int m = 0; m < ROWS; m++) {
            const int row = ring_row(first.y + step * m, push.ring.z, push.ring.w);
            const int at = (row * push.size.w + first.x) * units;
            // Rows beyond the band may hold what another layer still reads.
            if (tile.y + int(gl_SubgroupID) * ROWS + m < push.band.y) {
                [[unroll]] for (int n = 0; n < OUT_TILES; n++) {
                    MATRIX_OUT rounded;
                    if (ADD) {
                        coopMatLoad(rounded, outputs, at + n * TILE_N / PER_UNIT, step * units,
                                    ROW_MAJOR);
                        sums[m * OUT_TILES + n] += MATRIX_SUM(rounded);
                    }
                    rounded = MATRIX_OUT(sums[m * OUT_TILES + n]);
                    if (RELU) {
                        [[unroll]] for (int e = 0; e < rounded.length(); e++)
                            rounded[e] = max(rounded[e], float16_t(0.0));
                    }
                    coopMatStore(rounded, outputs, at + n * TILE_N / PER_UNIT, step * units,
                                 ROW_MAJOR);
                }
            }
        }
    }
}
