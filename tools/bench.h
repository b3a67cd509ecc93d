// SPDX-License-Identifier: MIT
/** State of one `hindsight bench`. */
#ifndef HINDSIGHT_TOOLS_BENCH_H
#define HINDSIGHT_TOOLS_BENCH_H

#include <stdbool.h>

#include <hindsight/hindsight.h>

#define BENCH_MAX_FRAMES 100000
/** The stages, their sum, and the CPU's time for recording. */
#define BENCH_MAX_ROWS (HS_MAX_STAGES + 2)

struct bench_row {
    char name[48];
    double *values; ///< Milliseconds, one a frame.
    int count;
};

struct bench {
    const char *input, *model, *device, *convention, *csv, *json;
    int path; ///< enum hs_path
    int size[2], render_size[2];
    int frames, warm_up;
    int bands; ///< 0: chosen.
    /** Whole frames only: timestamps between stages keep these apart. */
    bool whole;
    bool ldr, auto_exposure, validate;
    double exposure;
    char about[256];
    struct hs_stream_info info; ///< Memory and bands.
    struct bench_row stages[BENCH_MAX_ROWS];
    int stage_count;
};

/** Fills `about`, sizes and rows. Errors: those of device, model, files; after a message. */
int bench_run(struct bench *bench);

#endif
