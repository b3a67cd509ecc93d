// SPDX-License-Identifier: MIT
#include "bands.h"

#include <string.h>

#include <hindsight/stream.h>

/** What bands keep moved history and activations within, if that is possible at all. */
#define BYTES (80ull << 20)
#define GROUP_ROWS HS_GROUP_Y
/** Rows of moved history around a workgroup that it may look at: a sample's distance, at a ratio of
 * three, and what lies around that. */
#define MARGIN 8
/** The same of cells, of which a sample always has two. MARGIN rows are at least as many. */
#define CELL_MARGIN 4
/** Render heights for which room in rings is looked after, between the lowest and the highest. */
#define HEIGHTS 16

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t greatest(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t less(uint32_t a, uint32_t b)
{
    return a > b ? a - b : 0;
}

/** Cells, two to a row of tokens, whose centre is above the end of `rows` output pixels. */
static uint32_t cells_within(const struct hs_bands_params *p, uint32_t rows)
{
    const uint64_t place = 4ull * p->render_height * rows;
    return place ? (uint32_t)(((place - 1) / p->out_height + 1) / 2) : 0;
}

/** Output pixels whose centre is above the end of `cells`. */
static uint32_t pixels_within(const struct hs_bands_params *p, uint32_t cells)
{
    const uint64_t place = (uint64_t)p->out_height * cells;
    return place ? (uint32_t)(((place - 1) / p->render_height + 1) / 2) : 0;
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

uint32_t hs_bands_entered_row(const struct hs_bands_params *p, uint32_t first)
{
    if (!p->render_height)
        return hs_bands_moved_row(2 * first);
    return (uint32_t)((2ull * less(2 * first, CELL_MARGIN) + 1) * p->out_height /
                      (4ull * p->render_height));
}

uint32_t hs_bands_token_row(const struct hs_bands_params *p, uint32_t first)
{
    if (!p->render_height)
        return first / 2;
    return (uint32_t)((2ull * first + 1) * p->render_height / p->out_height / 2);
}

/** Rows of tokens that enter can write, whose workgroups have four of them, and rows of output
 * pixels that resolve can. */
static uint32_t tokens_entered(const struct hs_bands_params *p, uint32_t moved)
{
    const uint32_t seen = less(moved, MARGIN);
    return (p->render_height ? cells_within(p, seen) : seen) / GROUP_ROWS * GROUP_ROWS / 2;
}

static uint32_t pixels_resolved(const struct hs_bands_params *p, uint32_t tokens)
{
    const uint32_t rows = p->render_height ? pixels_within(p, 2 * tokens) : 2 * tokens;
    return rows / GROUP_ROWS * GROUP_ROWS;
}

/** Rows that an item can have written when the one before it has written `before` of `height`. */
static uint32_t item_end(const struct hs_bands_params *p, uint32_t item, uint32_t items,
                         uint32_t before, bool all)
{
    if (all)
        return item_height(p, item, items);
    if (item + 1 == items)
        return items == 2 ? less(before, MARGIN) / GROUP_ROWS * GROUP_ROWS
                          : pixels_resolved(p, before);
    if (item == 1)
        return tokens_entered(p, before);
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
    span->high = greatest(span->high, high);
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
            widen(&spans[p->layers->list[items - 2].in], hs_bands_token_row(p, rows.first), 0);
    } else {
        const struct hs_dispatch *d = &p->layers->list[item - 1];
        widen(&spans[d->out], rows.first, rows.end);
        if (item == 1)
            widen(moved, hs_bands_entered_row(p, rows.first), 0);
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
           hs_layers_element_bytes(layers);
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

static uint32_t most_bands(const struct hs_bands_params *p)
{
    return least(HS_STREAM_BANDS_MAX, (p->out_height + 2 * MARGIN - 1) / (2 * MARGIN));
}

uint32_t hs_bands_most(const struct hs_bands_params *p, const struct hs_bands *bands)
{
    return p->render_height && bands->count > 1 ? most_bands(p) : bands->count;
}

/** A frame's rings of a number of bands, where it is rendered to `height` rows. */
static void measure_lower(const struct hs_bands_params *p, uint32_t height, uint32_t count,
                          struct hs_bands *bands)
{
    struct hs_level_size levels[HS_WEIGHTS_LEVELS];
    struct hs_bands_params lower = *p;
    hs_level_sizes(1, height, levels);
    lower.levels = levels;
    lower.render_height = height;
    measure(&lower, count, bands);
}

/** Sets the rings' heights so that frames that are rendered lower find room, too. */
static void measure_all(const struct hs_bands_params *p, uint32_t count, struct hs_bands *bands)
{
    measure(p, count, bands);
    if (!p->render_height || bands->count == 1)
        return;
    const uint32_t low = (uint32_t)((float)p->out_height / HS_RATIO_MAX);
    const uint32_t step = (p->render_height > low ? p->render_height - low : 0) / HEIGHTS + 1;
    for (uint32_t height = low; height <= p->render_height; height += step) {
        struct hs_bands finest;
        measure_lower(p, height, most_bands(p), &finest);
        bands->moved_rows = greatest(bands->moved_rows, finest.moved_rows + 2 * GROUP_ROWS);
        for (int i = 0; i < HS_TENSORS; i++) {
            if (bands->tensor_rows[i])
                bands->tensor_rows[i] =
                    greatest(bands->tensor_rows[i], finest.tensor_rows[i] + GROUP_ROWS);
        }
    }
}

bool hs_bands_lower(const struct hs_bands_params *p, struct hs_bands *bands)
{
    for (uint32_t count = bands->count; count <= most_bands(p); count++) {
        struct hs_bands tried;
        measure(p, count, &tried);
        bool fit = tried.moved_rows <= bands->moved_rows;
        for (int i = 0; i < HS_TENSORS; i++)
            fit &= tried.tensor_rows[i] <= bands->tensor_rows[i];
        if (fit) {
            bands->count = tried.count;
            bands->rows = tried.rows;
            return true;
        }
    }
    return false;
}

bool hs_bands_plan(const struct hs_bands_params *p, struct hs_bands *bands)
{
    const uint32_t most = most_bands(p);
    uint64_t bytes, best_bytes = UINT64_MAX;
    bool best_fit = false;
    if (p->count) {
        measure_all(p, least(p->count, most), bands);
        return fits(p, bands, &bytes);
    }
    for (uint32_t count = 1; count <= most; count++) {
        struct hs_bands tried;
        measure_all(p, count, &tried);
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
