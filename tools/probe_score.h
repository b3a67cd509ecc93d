// SPDX-License-Identifier: MIT
/** How well a meaning of the vectors explains the pictures; inside of hindsight probe. */
#ifndef HINDSIGHT_TOOLS_PROBE_SCORE_H
#define HINDSIGHT_TOOLS_PROBE_SCORE_H

#include "probe.h"

/** Textured pixels of a frame. */
struct probe_points {
    int *at; ///< Indices in the window.
    int count;
};

/** Sums over the blocks of all pairs of frames: what statistics are made of. */
struct probe_tiles {
    float *error; ///< Sum of differences.
    float *count; ///< Pixels that have a partner.
    float *lost;  ///< Pixels that lead out of the picture.
    int units;    ///< Pairs times blocks.
};

struct probe_search {
    const struct probe_clip *clip;
    struct probe_points points[PROBE_MAX_FRAMES];
    float jitter[PROBE_MAX_FRAMES][2]; ///< In use.
    int tile, columns, rows;
    int pairs;
    float *weights;   ///< Scratch.
    double unrelated; ///< Difference of pixels that have nothing to do with each other.
    struct probe_candidate candidates[PROBE_CANDIDATES];
    struct probe_tiles tiles[PROBE_CANDIDATES];
    int count;
};

/** Errors: HS_ERR_NOMEM. probe_search_close() frees, also after a failure. */
int probe_search_open(const struct probe_clip *clip, struct probe_search *search);
void probe_search_close(struct probe_search *search);

/** Scores candidate `index` anew. Errors: HS_ERR_NOMEM. */
int probe_score(struct probe_search *search, int index);
/** How much worse b is than a, block by block: `z` in standard errors, `loss` as a share of a. */
void probe_versus(const struct probe_search *search, int a, int b, double *z, double *loss);
/** Mean difference of two candidates' vectors, pixels. */
double probe_distance(const struct probe_search *search, const struct probe_candidate *a,
                      const struct probe_candidate *b);
/** Whether b is clearly worse than a. */
bool probe_told_apart(double z, double loss);

/** Measures the shift that is left between a pair's frames, jitter left out of account. */
bool probe_register(const struct probe_search *search, const struct probe_candidate *candidate,
                    int pair, double shift[2], double *error);

/** Looks at all meanings, with the jitter in use. Errors: HS_ERR_NOMEM. */
int probe_motion_search(struct probe_search *search, struct probe_motion *motion);

#endif
