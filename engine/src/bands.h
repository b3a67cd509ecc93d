// SPDX-License-Identifier: MIT
/**
 * A frame in horizontal bands. What lies between the history of one frame and the next, moved
 * history and activations, is kept in rings of rows; each band takes every stage as far down as the
 * stage before it allows. No row is computed twice, and the values do not depend on the bands.
 * Knows nothing of Vulkan objects.
 */
#ifndef HS_ENGINE_BANDS_H
#define HS_ENGINE_BANDS_H

#include "layers.h"

/** Reproject, the layers but the head, resolve. */
#define HS_ITEMS_MAX (HS_WEIGHTS_LAYERS_MAX + 1)

struct hs_bands {
    uint32_t count;
    uint32_t rows;       ///< Output pixels of a band.
    uint32_t moved_rows; ///< Of the ring of moved history, output pixels.
    uint32_t tensor_rows[HS_TENSORS];
    uint32_t item_count;
};

/** Rows of a dispatch, in units of what the item writes: pixels of its level, or of the output. */
struct hs_rows {
    uint32_t first, end;
};

/** What a frame's bands have done so far: rows that each item has written. */
struct hs_band_state {
    uint32_t band;
    uint32_t done[HS_ITEMS_MAX];
};

struct hs_bands_params {
    const struct hs_layers *layers; ///< A count of 0: no network.
    const struct hs_level_size *levels;
    uint32_t out_width, out_height;
    /** Rows of tokens, if those are render pixels; else tokens are 2x2 output pixels. */
    uint32_t render_height;
    uint32_t count;          ///< 0: as few as keep memory within bounds.
    uint64_t buffer_bytes;   ///< Most that a buffer may have.
    uint32_t moved_px_bytes; ///< Bytes of a pixel of moved history.
};

/** Bytes of a tensor's ring. */
uint64_t hs_bands_tensor_bytes(const struct hs_bands_params *params, const struct hs_bands *bands,
                               int tensor);

/** False: a buffer is too large, however many bands there are; `bands` says the least. */
bool hs_bands_plan(const struct hs_bands_params *params, struct hs_bands *bands);

/** Goes on to the next band; false after the last. */
bool hs_bands_next(const struct hs_bands_params *params, const struct hs_bands *bands,
                   struct hs_band_state *state, struct hs_rows rows[HS_ITEMS_MAX]);

/** Where a dispatch finds rows of a ring, of which `low` is the first that it reads or writes: row
 * y lies at y - base, less the ring's rows if that is beyond them. */
static inline uint32_t hs_ring_base(uint32_t low, uint32_t ring_rows)
{
    return low / ring_rows * ring_rows;
}

/**
 * For a frame that is rendered lower than what `bands` was made for: as many bands as its own rings
 * need to fit into those. False: none do, which no network and size that a stream takes make.
 */
bool hs_bands_lower(const struct hs_bands_params *params, struct hs_bands *bands);

/** Most bands that a frame may have. */
uint32_t hs_bands_most(const struct hs_bands_params *params, const struct hs_bands *bands);

/** First row of moved history that resolve may look at for output row `first`. */
uint32_t hs_bands_moved_row(uint32_t first);

/** First row of moved history that enter may look at for its token row `first`. */
uint32_t hs_bands_entered_row(const struct hs_bands_params *params, uint32_t first);

/** First row of tokens that resolve reads for output row `first`. */
uint32_t hs_bands_token_row(const struct hs_bands_params *params, uint32_t first);

/** First row of its input that an item reads for its row `first`. */
uint32_t hs_bands_input_row(const struct hs_dispatch *dispatch, uint32_t first);

#endif
