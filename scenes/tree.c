// SPDX-License-Identifier: MIT
#include "scene.h"

#include <string.h>

#define BINS 8
#define MAX_DEPTH 24 // with the stack of geometry.glsl: one entry a level

static struct bounds bounds_empty(void)
{
    return (struct bounds){{1e30f, 1e30f, 1e30f}, {-1e30f, -1e30f, -1e30f}};
}

static void bounds_grow(struct bounds *b, const struct bounds *other)
{
    for (int k = 0; k < 3; k++) {
        b->low[k] = fminf(b->low[k], other->low[k]);
        b->high[k] = fmaxf(b->high[k], other->high[k]);
    }
}

static float bounds_area(const struct bounds *b)
{
    const float x = b->high[0] - b->low[0], y = b->high[1] - b->low[1], z = b->high[2] - b->low[2];
    return x < 0 ? 0 : x * y + y * z + z * x;
}

static float centre(const struct bounds *b, int axis)
{
    return b->low[axis] + b->high[axis];
}

struct split {
    int axis, bin;
    float cost;
};

static int bin_of(const struct bounds *b, int axis, float low, float factor)
{
    const int bin = (int)((centre(b, axis) - low) * factor);
    return bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
}

static struct split best_split(const struct bounds *boxes, const uint32_t *order, uint32_t count,
                               const struct bounds *centres)
{
    struct split best = {-1, 0, 1e30f};
    for (int axis = 0; axis < 3; axis++) {
        const float low = centres->low[axis], extent = centres->high[axis] - low;
        if (extent <= 1e-9f)
            continue;
        struct bounds bins[BINS];
        uint32_t counts[BINS] = {0};
        for (int i = 0; i < BINS; i++)
            bins[i] = bounds_empty();
        for (uint32_t i = 0; i < count; i++) {
            const int bin = bin_of(&boxes[order[i]], axis, low, BINS / extent);
            counts[bin]++;
            bounds_grow(&bins[bin], &boxes[order[i]]);
        }
        float right_area[BINS];
        struct bounds b = bounds_empty();
        for (int i = BINS - 1; i > 0; i--) {
            bounds_grow(&b, &bins[i]);
            right_area[i] = bounds_area(&b);
        }
        uint32_t left = 0;
        b = bounds_empty();
        for (int i = 0; i < BINS - 1; i++) {
            bounds_grow(&b, &bins[i]);
            left += counts[i];
            const float cost =
                bounds_area(&b) * (float)left + right_area[i + 1] * (float)(count - left);
            if (left && left < count && cost < best.cost)
                best = (struct split){axis, i, cost};
        }
    }
    return best;
}

struct builder {
    const struct bounds *boxes;
    uint32_t *order;
    uint32_t leaf;
    struct tree_node *nodes;
    uint32_t node_count;
};

static uint32_t partition(struct builder *b, uint32_t first, uint32_t count,
                          const struct bounds *centres, uint32_t depth)
{
    uint32_t *order = b->order + first;
    const struct split split = best_split(b->boxes, order, count, centres);
    if (split.axis < 0 || depth > MAX_DEPTH / 2)
        return count / 2;
    const float low = centres->low[split.axis], extent = centres->high[split.axis] - low;
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (bin_of(&b->boxes[order[i]], split.axis, low, BINS / extent) <= split.bin) {
            const uint32_t swap = order[i];
            order[i] = order[left];
            order[left++] = swap;
        }
    }
    return left;
}

static uint32_t build(struct builder *b, uint32_t first, uint32_t count, uint32_t depth,
                      struct bounds *out)
{
    struct bounds centres = bounds_empty();
    *out = bounds_empty();
    for (uint32_t i = 0; i < count; i++) {
        const struct bounds *box = &b->boxes[b->order[first + i]];
        const struct bounds c = {{centre(box, 0), centre(box, 1), centre(box, 2)},
                                 {centre(box, 0), centre(box, 1), centre(box, 2)}};
        bounds_grow(out, box);
        bounds_grow(&centres, &c);
    }
    if (count <= b->leaf || (depth >= MAX_DEPTH && count < 256))
        return count << 24 | first;
    const uint32_t left = partition(b, first, count, &centres, depth);
    const uint32_t child = b->node_count;
    b->node_count += 2;
    struct bounds boxes[2];
    const uint32_t links[2] = {build(b, first, left, depth + 1, &boxes[0]),
                               build(b, first + left, count - left, depth + 1, &boxes[1])};
    for (int i = 0; i < 2; i++) {
        struct tree_node *node = &b->nodes[child + (uint32_t)i];
        memcpy(node->low, boxes[i].low, sizeof(node->low));
        memcpy(node->high, boxes[i].high, sizeof(node->high));
        node->link = links[i];
        node->unused = 0;
    }
    return child;
}

uint32_t tree_build(const struct bounds *boxes, uint32_t *order, uint32_t count, uint32_t leaf,
                    struct tree_node *nodes, uint32_t *node_count)
{
    struct builder b = {boxes, order, leaf, nodes, 0};
    struct bounds all;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    const uint32_t root = build(&b, 0, count, 0, &all);
    *node_count = b.node_count;
    return root;
}

uint32_t tree_write(struct tree_node *out, const struct tree_node *nodes, uint32_t count,
                    uint32_t root, uint32_t base)
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = nodes[i];
        if (nodes[i].link >> 24 == 0)
            out[i].link += base;
    }
    return root >> 24 ? root : root + base;
}
