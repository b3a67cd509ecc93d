// SPDX-License-Identifier: MIT
#include "bands.h"

#include <string.h>

#include <hindsight/stream.h>

/** What bands keep moved history and activations within, if that is possible at all. */
#define BYTES (80ull << 20)
/** Rows of a workgroup of the stages over pixels. */
#define GROUP_ROWS 8
/** Rows of moved history around a workgroup that it may look at: a sample's distance, at a ratio of
 * three, and what lies around that. */
#define MARGIN 8

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t less(uint32_t a, uint32_t b)
{
    return a > b ? a - b : 0;
}

/** Height of what an item writes. */
static uint32_t item_height(const struct hs_bands_params *p, uint32_t item, uint32_t items)
{
    if (item == 0 || item + 1 == items)
        return p->out_height;
    return p->levels[p->layers->list[item - 1].out / 2].height;
}

uint32_t hs_bands_input_row(const struct hs_dispatch *d, uint32_t first)
{
    const uint32_t row = d->constants[HS_SPEC_PIXELS] == 4 ? first / 2 : first * d->stride;
    return d->constants[HS_SPEC_KERNEL_X] == 3 ? less(row, 1) : row;
}

uint32_t hs_bands_moved_row(uint32_t first)
{
    return less(first, MARGIN);
}

/** Rows that an item can have written when the one before it has written `before` of `height`. */
static uint32_t item_end(const struct hs_bands_params *p, uint32_t item, uint32_t items,
                         uint32_t before, bool all)
{
    if (all)
        return item_height(p, item, items);
    if (item + 1 == items)
        return items == 2 ? less(before, MARGIN) / GROUP_ROWS * GROUP_ROWS
                          : 2 * before / GROUP_ROWS * GROUP_ROWS;
    if (item == 1)
        return less(before, MARGIN) / GROUP_ROWS * GROUP_ROWS / 2;
    const struct hs_dispatch *d = &p->layers->list[item - 1];
    if (d->constants[HS_SPEC_PIXELS] == 4)
        return 2 * before;
    return d->constants[HS_SPEC_KERNEL_X] == 3 ? less(before, 1) : before / d->stride;
}

bool hs_bands_next(const struct hs_bands_params *p, const struct hs_bands *bands,
                   struct hs_band_state *state, struct hs_rows rows[HS_ITEMS_MAX])
{
    if (state->band == bands->count)
        return false;
    state->band++;
    uint32_t before = state->band == bands->count ? p->out_height
                                                  : least(state->band * bands->rows, p->out_height);
    bool all = before == p->out_height;
    for (uint32_t i = 0; i < bands->item_count; i++) {
        const uint32_t height = item_height(p, i, bands->item_count);
        uint32_t end = i ? least(item_end(p, i, bands->item_count, before, all), height) : before;
        rows[i] = (struct hs_rows){state->done[i], end};
        state->done[i] = end;
        before = end;
        all = end == height;
    }
    return true;
}

/** Rows of a ring that hold everything from the lowest row that is still read to the highest that
 * is written. */
struct span {
    uint32_t low, high;
};

static void widen(struct span *span, uint32_t low, uint32_t high)
{
    span->low = least(span->low, low);
    span->high = high > span->high ? high : span->high;
}

/** Adds what an item reads and writes in a band to the spans of the tensors and of moved history,
 * which is the last. */
static void touch(const struct hs_bands_params *p, uint32_t item, uint32_t items,
                  struct hs_rows rows, struct span spans[HS_TENSORS + 1])
{
    struct span *moved = &spans[HS_TENSORS];
    if (rows.first == item_height(p, item, items))
        return;
    if (item == 0) {
        widen(moved, rows.first, rows.end);
    } else if (item + 1 == items) {
        widen(moved, hs_bands_moved_row(rows.first), 0);
        if (items > 2)
            widen(&spans[p->layers->list[items - 2].in], rows.first / 2, 0);
    } else {
        const struct hs_dispatch *d = &p->layers->list[item - 1];
        widen(&spans[d->out], rows.first, rows.end);
        if (item == 1)
            widen(moved, hs_bands_moved_row(2 * rows.first), 0);
        else
            widen(&spans[d->in], hs_bands_input_row(d, rows.first), 0);
    }
}

/** Sets the rings' heights for a number of bands. */
static void measure(const struct hs_bands_params *p, uint32_t count, struct hs_bands *bands)
{
    const uint32_t groups = (p->out_height + GROUP_ROWS - 1) / GROUP_ROWS;
    const uint32_t each = (groups + count - 1) / count;
    struct hs_band_state state = {0};
    struct hs_rows rows[HS_ITEMS_MAX];
    uint32_t heights[HS_TENSORS + 1] = {0};
    *bands = (struct hs_bands){
        .count = (groups + each - 1) / each,
        .rows = each * GROUP_ROWS,
        .item_count = p->layers->count ? p->layers->count + 1 : 2,
    };
    while (hs_bands_next(p, bands, &state, rows)) {
        struct span spans[HS_TENSORS + 1];
        for (int i = 0; i <= HS_TENSORS; i++)
            spans[i] = (struct span){UINT32_MAX, 0};
        for (uint32_t i = 0; i < bands->item_count; i++)
            touch(p, i, bands->item_count, rows[i], spans);
        for (int i = 0; i <= HS_TENSORS; i++) {
            if (spans[i].high > spans[i].low && spans[i].high - spans[i].low > heights[i])
                heights[i] = spans[i].high - spans[i].low;
        }
    }
    memcpy(bands->tensor_rows, heights, sizeof(bands->tensor_rows));
    bands->moved_rows = heights[HS_TENSORS];
}

uint64_t hs_bands_tensor_bytes(const struct hs_bands_params *p, const struct hs_bands *bands,
                               int tensor)
{
    const struct hs_layers *layers = p->layers;
    // A tensor that no layer uses is bound all the same.
    const uint32_t rows = bands->tensor_rows[tensor] ? bands->tensor_rows[tensor] : 1;
    return (uint64_t)p->levels[tensor / 2].pitch * rows * layers->channels[tensor / 2] *
           (layers->matrix.m ? 2 : 4);
}

static bool fits(const struct hs_bands_params *p, const struct hs_bands *bands, uint64_t *bytes)
{
    bool fit = true;
    *bytes = (uint64_t)p->moved_px_bytes * p->out_width * bands->moved_rows;
    for (int i = 0; p->layers->count && i < HS_TENSORS; i++) {
        const uint64_t tensor = hs_bands_tensor_bytes(p, bands, i);
        fit &= tensor <= p->buffer_bytes;
        *bytes += tensor;
    }
    return fit;
}

bool hs_bands_plan(const struct hs_bands_params *p, struct hs_bands *bands)
{
    const uint32_t most =
        least(HS_STREAM_BANDS_MAX, (p->out_height + 2 * MARGIN - 1) / (2 * MARGIN));
    uint64_t bytes, best_bytes = UINT64_MAX;
    bool best_fit = false;
    if (p->count) {
        measure(p, least(p->count, most), bands);
        return fits(p, bands, &bytes);
    }
    for (uint32_t count = 1; count <= most; count++) {
        struct hs_bands tried;
        measure(p, count, &tried);
        const bool fit = fits(p, &tried, &bytes);
        if (count == 1 || fit > best_fit || (fit == best_fit && bytes < best_bytes)) {
            *bands = tried;
            best_fit = fit;
            best_bytes = bytes;
        }
        if (fit && bytes <= BYTES)
            break;
    }
    return best_fit;
}
