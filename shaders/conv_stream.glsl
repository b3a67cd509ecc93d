// SPDX-License-Identifier: MIT
// Convolution of floats without taps in x, with operands straight from the input.
const int STEPS = CHUNK / TILE_K;
// Loads of a thread that are under way together.
#define STAGED 4

void stage_weights(int chunk)
{
    const int at = weights_at(chunk);
    for (int start = thread(); start < WEIGHTS_UNITS; start += STAGED * THREADS) {
        uvec4 units[STAGED];
        [[unroll]] for (int i = 0; i < STAGED; i++)
            units[i] = weights[at + min(start + i * THREADS, WEIGHTS_UNITS - 1)];
        [[unroll]] for (int i = 0; i < STAGED; i++) {
            if (start + i * THREADS < WEIGHTS_UNITS)
                chunk_weights[start + i * THREADS] = units[i];
        }
    }
}

void stream()
{
    for (int t = 0; t < push.weights.w; t++) {
        const ivec2 tile = tile_at(t), first = tile + ivec2(0, subgroup_row());
        if (tile.y >= push.band.y)
            break;
        MATRIX_SUM sums[ROWS * PART_TILES];
        MATRIX_OUT added[ROWS * PART_TILES];
        if (INSIDE == 1) {
            START_SUMS(int(gl_WorkGroupID.z))
            LOAD_ADDED(int(gl_WorkGroupID.z))
        }
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            MATRIX_A a[ROWS * KERNEL_Y * STEPS];
            [[unroll]] for (int m = 0; m < ROWS; m++) {
                [[unroll]] for (int y = 0; y < KERNEL_Y; y++) {
                    // Below the picture there may be no memory; the pitch is of whole tiles.
                    const int row = min((first.y + m) * STRIDE + y, push.size.y - 1);
                    const int at =
                        (input_row(row) * push.size.z + tile.x) * IN_UNITS + chunk * PARTS;
                    [[unroll]] for (int k = 0; k < STEPS; k++)
                        coopMatLoad(a[(m * KERNEL_Y + y) * STEPS + k], inputs,
                                    at + k * TILE_K / PER_UNIT, IN_UNITS, ROW_MAJOR);
                }
            }
            if (CHUNKS > 1)
                barrier();
            if (CHUNKS > 1 || t == 0) {
                stage_weights(chunk);
                barrier();
            }
            for (int inside = 0; inside < INSIDE; inside++) {
                if (INSIDE > 1) {
                    START_SUMS(inside)
                    LOAD_ADDED(inside)
                }
                [[unroll]] for (int y = 0; y < KERNEL_Y; y++) {
                    [[unroll]] for (int k = 0; k < STEPS; k++) {
                        [[unroll]] for (int n = 0; n < PART_TILES; n++) {
                            MATRIX_B b;
                            coopMatLoad(b, chunk_weights,
                                        inside * CHUNK_WEIGHTS +
                                            weights_place(y, k * TILE_K,
                                                          (subgroup_tile() + n) * TILE_N),
                                        WEIGHTS_PITCH, WEIGHTS_MAJOR);
                            [[unroll]] for (int m = 0; m < ROWS; m++)
                                sums[m * PART_TILES + n] =
                                    coopMatMulAdd(a[(m * KERNEL_Y + y) * STEPS + k], b,
                                                  sums[m * PART_TILES + n]);
                        }
                    }
                }
                if (INSIDE > 1) {
                    WRITE_SUMS(inside)
                }
            }
        }
        if (INSIDE == 1) {
            WRITE_SUMS(int(gl_WorkGroupID.z))
        }
    }
}
