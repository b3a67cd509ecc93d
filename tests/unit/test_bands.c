// SPDX-License-Identifier: MIT
// Bands without a GPU: in a model of the rings, every row that a dispatch reads is there and as the
// layers before left it; what a 4K frame of the presets takes.
#include "engine/src/bands.h"

#include "model_file.h"
#include "tests/test.h"

/** Who wrote which row last into a place of a ring. */
struct place {
    uint32_t row, writer;
};

struct rings {
    const struct hs_bands_params *params;
    const struct hs_bands *bands;
    struct place *places[HS_TENSORS + 1];
    uint32_t rows[HS_TENSORS + 1];
};

#define MOVED HS_TENSORS

static struct place *find(struct rings *r, uint32_t tensor, uint32_t low, uint32_t row)
{
    // As the shaders do it.
    uint32_t at = row - hs_ring_base(low, r->rows[tensor]);
    if (at >= r->rows[tensor])
        at -= r->rows[tensor];
    REQUIRE(at < r->rows[tensor]);
    return &r->places[tensor][at];
}

static void read_rows(struct rings *r, uint32_t tensor, uint32_t low, uint32_t end, uint32_t writer)
{
    for (uint32_t y = low; y < end; y++) {
        const struct place *p = find(r, tensor, low, y);
        REQUIRE_EQ(p->row, y);
        REQUIRE_EQ(p->writer, writer);
    }
}

static void write_rows(struct rings *r, uint32_t tensor, uint32_t first, uint32_t end,
                       uint32_t writer)
{
    for (uint32_t y = first; y < end; y++)
        *find(r, tensor, first, y) = (struct place){y, writer};
}

/** The item before `item` that writes a tensor. */
static uint32_t writer_before(const struct hs_layers *layers, uint32_t item, uint32_t tensor)
{
    uint32_t i = item - 1;
    while (layers->list[i - 1].out != tensor)
        i--;
    return i;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/** Rows of output pixels and of tokens that the stages over cells look at. */
static void run_cells(struct rings *r, uint32_t item, struct hs_rows rows)
{
    const struct hs_bands_params *p = r->params;
    const uint32_t last = r->bands->item_count - 1, h = p->render_height, out = p->out_height;
    if (item == last) {
        const uint32_t head = p->layers->list[last - 1].in;
        // Of each pixel the token in whose area its centre lies.
        read_rows(r, head, (2 * rows.first + 1) * h / out / 2, (2 * rows.end - 1) * h / out / 2 + 1,
                  writer_before(p->layers, last, head));
        const uint32_t low = rows.first > 8 ? rows.first - 8 : 0;
        read_rows(r, MOVED, low, least(rows.end + 8, out), 0);
        REQUIRE_EQ(hs_bands_token_row(p, rows.first), (2 * rows.first + 1) * h / out / 2);
        return;
    }
    // A sample and bilinear around, of cells; those beyond the picture are the last.
    const uint32_t first = 2 * rows.first > 3 ? 2 * rows.first - 3 : 0;
    const uint32_t cell = least(2 * rows.end + 2, 2 * h - 1), row = (2 * cell + 1) * out / (4 * h);
    const uint32_t low = (2 * first + 1) * out / (4 * h);
    REQUIRE_EQ(rows.first % 4, 0);
    REQUIRE(hs_bands_entered_row(p, rows.first) <= low);
    read_rows(r, MOVED, low, row + 1, 0);
    write_rows(r, p->layers->list[0].out, rows.first, rows.end, item);
}

static void run_pixels(struct rings *r, uint32_t item, struct hs_rows rows)
{
    const struct hs_bands_params *p = r->params;
    const uint32_t last = r->bands->item_count - 1, scale = item == last ? 1 : 2;
    // Three render pixels around, at the greatest ratio, and bilinear.
    const uint32_t first = rows.first * scale, end = least(rows.end * scale, p->out_height);
    const uint32_t low = first > 8 ? first - 8 : 0, high = least(end + 8, p->out_height);
    REQUIRE_EQ(first % 8, 0);
    REQUIRE_EQ(hs_bands_moved_row(first), low);
    read_rows(r, MOVED, low, high, 0);
    if (item == last && last > 1) {
        const uint32_t head = p->layers->list[last - 1].in;
        read_rows(r, head, rows.first / 2, (rows.end + 1) / 2,
                  writer_before(p->layers, last, head));
    } else if (item != last) {
        write_rows(r, p->layers->list[0].out, rows.first, rows.end, item);
    }
}

static void run_layer(struct rings *r, uint32_t item, struct hs_rows rows)
{
    const struct hs_layers *layers = r->params->layers;
    const struct hs_dispatch *d = &layers->list[item - 1];
    const uint32_t height = r->params->levels[d->level].height;
    const uint32_t low = hs_bands_input_row(d, rows.first);
    uint32_t end = rows.end * d->stride;
    if (d->constants[HS_SPEC_PIXELS] == 4) {
        REQUIRE_EQ(rows.first % 2, 0);
        REQUIRE_EQ(rows.end % 2, 0);
        end = rows.end / 2;
    }
    if (d->constants[HS_SPEC_KERNEL_X] == 3)
        end = least(end + 1, height);
    read_rows(r, d->in, low, end, writer_before(layers, item, d->in));
    if (d->constants[HS_SPEC_ADD])
        read_rows(r, d->out, rows.first, rows.end, writer_before(layers, item, d->out));
    write_rows(r, d->out, rows.first, rows.end, item);
}

static void run_frame(const struct hs_bands_params *params, const struct hs_bands *bands)
{
    struct rings r = {.params = params, .bands = bands};
    struct hs_band_state state = {0};
    struct hs_rows rows[HS_ITEMS_MAX];
    const uint32_t last = bands->item_count - 1;
    for (int i = 0; i <= HS_TENSORS; i++) {
        r.rows[i] = i == MOVED ? bands->moved_rows : bands->tensor_rows[i];
        r.places[i] = calloc(r.rows[i] + 1, sizeof(struct place));
        REQUIRE(r.places[i]);
        for (uint32_t y = 0; y < r.rows[i]; y++)
            r.places[i][y].writer = UINT32_MAX;
    }
    while (hs_bands_next(params, bands, &state, rows)) {
        for (uint32_t i = 0; i <= last; i++) {
            REQUIRE(rows[i].first <= rows[i].end);
            if (rows[i].first == rows[i].end)
                continue;
            if (i == 0)
                write_rows(&r, MOVED, rows[i].first, rows[i].end, 0);
            else if ((i == 1 || i == last) && params->render_height)
                run_cells(&r, i, rows[i]);
            else if (i == 1 || i == last)
                run_pixels(&r, i, rows[i]);
            else
                run_layer(&r, i, rows[i]);
        }
    }
    REQUIRE_EQ(state.done[last], params->out_height);
    for (int i = 0; i <= HS_TENSORS; i++)
        free(r.places[i]);
}

static const struct fx_model_config best = {"best", {48, 80, 112}, {1, 1, 2, 1, 2}, .head = 1};

static void plan_layers(struct test_rng *rng, const struct fx_model_config *config, bool matrix,
                        struct hs_layers *layers)
{
    const struct hs_matrix_size size = {16, 16, config->integers ? 32 : 16, 32}, none = {0};
    struct hs_weights *weights = NULL;
    struct fx_model_file file = fx_model_file_make(rng, config);
    size_t bytes;
    unsigned char *data = fx_model_file_bytes(&file, &bytes);
    REQUIRE_EQ(hs_weights_parse(NULL, "model", data, bytes, &weights), 0);
    REQUIRE(hs_layers_plan(weights, matrix ? &size : &none, 48 << 10, layers));
    hs_weights_destroy(&weights);
    free(data);
    fx_model_file_finish(&file);
}

static void rings_hold(struct test_rng *rng)
{
    static const uint32_t sizes[] = {16, 17, 40, 64, 201, 1080, 2160, 2167};
    struct fx_model_config models[] = {fx_model_tiny, fx_model_quality, best, best};
    memset(models[3].blocks, 0, sizeof(models[3].blocks));
    for (size_t m = 0; m <= 4; m++) {
        struct hs_layers layers = {0};
        if (m < 4)
            plan_layers(rng, &models[m], m % 2, &layers);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            struct hs_level_size levels[HS_WEIGHTS_LEVELS];
            hs_level_sizes(32, (sizes[i] + 1) / 2, levels);
            for (uint32_t count = 1; count <= 64; count += count < 8 ? 1 : 14) {
                const struct hs_bands_params params = {&layers, levels, 64,      sizes[i],
                                                       0,       count,  1 << 30, 10};
                struct hs_bands bands;
                REQUIRE(hs_bands_plan(&params, &bands));
                REQUIRE(bands.count <= count && bands.count > 0);
                run_frame(&params, &bands);
            }
        }
    }
}

// Every render height fits into the rings that were made for the highest.
static void rings_hold_lower(struct test_rng *rng)
{
    static const struct fx_model_config deep = {
        "tiny", {16, 16, 16}, {2, 1, 2, 1, 2}, .head = 1, .integers = true};
    static const struct fx_model_config *const models[] = {&fx_model_fast, &fx_model_integers,
                                                           &deep};
    static const uint32_t sizes[][2] = {{16, 16},     {40, 31},     {201, 101},
                                        {1080, 1080}, {2160, 1080}, {2161, 1440}};
    static const uint32_t counts[] = {1, 2, 3, 5, 11, 64};
    for (size_t m = 0; m < 3; m++) {
        struct hs_layers layers;
        plan_layers(rng, models[m], m % 2, &layers);
        for (size_t i = 0; i < 6 * sizeof(sizes) / sizeof(sizes[0]); i++) {
            struct hs_level_size levels[HS_WEIGHTS_LEVELS];
            const uint32_t out = sizes[i / 6][0], most = sizes[i / 6][1];
            struct hs_bands_params params = {&layers, levels,        64,      out,
                                             most,    counts[i % 6], 1 << 30, 10};
            struct hs_bands all;
            hs_level_sizes(32, most, levels);
            REQUIRE(hs_bands_plan(&params, &all));
            run_frame(&params, &all);
            // Prime steps meet every remainder.
            for (uint32_t height = out / 3; height < most; height += out > 300 ? 7 : 1) {
                struct hs_bands lower = all;
                params.render_height = height;
                hs_level_sizes(32, height, levels);
                REQUIRE_MSG(hs_bands_lower(&params, &lower), "%u of %u rows in %u bands", height,
                            out, all.count);
                REQUIRE(lower.count <= hs_bands_most(&params, &all));
                run_frame(&params, &lower);
            }
        }
    }
}

/** MiB of everything in rings at 3840x2160, and of the largest buffer. */
static double at_4k(const struct hs_layers *layers, uint32_t count, uint32_t *chosen,
                    double *largest)
{
    struct hs_level_size levels[HS_WEIGHTS_LEVELS];
    struct hs_bands bands;
    // Integers: from 1080p.
    hs_level_sizes(1920, 1080, levels);
    const uint32_t render_height = layers->integers ? 1080 : 0;
    const struct hs_bands_params params = {layers,        levels, 3840,      2160,
                                           render_height, count,  128 << 20, 10};
    (void)hs_bands_plan(&params, &bands);
    double bytes = 10.0 * 3840 * bands.moved_rows;
    *largest = 0;
    for (int i = 0; i < HS_TENSORS; i++) {
        const double tensor = (double)hs_bands_tensor_bytes(&params, &bands, i);
        bytes += tensor;
        *largest = tensor > *largest ? tensor : *largest;
    }
    *chosen = bands.count;
    return bytes / (1 << 20);
}

static void memory_at_4k(struct test_rng *rng)
{
    const struct fx_model_config *models[] = {&fx_model_quality, &best, &fx_model_fast};
    for (int i = 0; i < 6; i++) {
        struct hs_layers layers;
        double largest;
        uint32_t count;
        plan_layers(rng, models[i / 2], i % 2, &layers);
        const double whole = at_4k(&layers, 1, &count, &largest);
        const double banded = at_4k(&layers, 0, &count, &largest);
        printf("  %s, %s: %.0f MiB, in %u bands %.1f MiB\n", models[i / 2]->preset,
               i % 2 ? "matrix" : "plain", whole, count, banded);
        REQUIRE(largest <= 128 << 20);
        if (i % 2 || layers.integers)
            REQUIRE(banded <= 80);
    }
}

static const struct test_case cases[] = {
    {"rings hold", rings_hold},
    {"rings hold lower frames", rings_hold_lower},
    {"memory at 4K", memory_at_4k},
};
TEST_MAIN(cases)
