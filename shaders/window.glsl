// SPDX-License-Identifier: MIT
// The samples and the moved history around pixels of a grid (grid.glsl): what resolve and the
// network's features have in common.
// References: engine/ref/ref_resolve.c.
#include "band.glsl"
#include "grid.glsl"
HS_INPUT(prep_colour, HS_BINDING_PREP_COLOUR);
HS_INPUT(reproj_colour, HS_BINDING_REPROJ_COLOUR);
HS_INPUT(reproj_aux, HS_BINDING_REPROJ_AUX);

// Every sample that a workgroup meets is encoded once and shared: at most 20x12 (ratio 1). Little
// shared memory means more workgroups on a processor, which hide each other's fetches.
#define SAMPLES_X (HS_GROUP_X + 4)
#define SAMPLES_Y (HS_GROUP_Y + 4)
// Samples are within 0..1, errors within -1..1: fixed point keeps bright ones apart, which half
// floats would not. Integers are made of features that are the same on every path, so of floats.
#if defined(HS_MATRIX) && !defined(HS_INT8)
#define TEXEL uvec2
uvec2 pack_sample(vec4 v)
{
    return uvec2(packUnorm2x16(v.rg), packUnorm2x16(v.ba));
}
vec4 unpack_sample(uvec2 u)
{
    return vec4(unpackUnorm2x16(u.x), unpackUnorm2x16(u.y));
}
uvec2 pack_error(vec4 v)
{
    return uvec2(packSnorm2x16(v.rg), packSnorm2x16(v.ba));
}
vec4 unpack_error(uvec2 u)
{
    return vec4(unpackSnorm2x16(u.x), unpackSnorm2x16(u.y));
}
#else
#define TEXEL vec4
#define pack_sample(v) (v)
#define unpack_sample(v) (v)
#define pack_error(v) (v)
#define unpack_error(v) (v)
#endif
shared TEXEL samples_t[SAMPLES_X * SAMPLES_Y];
shared float samples_s[SAMPLES_X * SAMPLES_Y];
// What a sample says about history: sample minus moved history at its place.
shared TEXEL errors_c[SAMPLES_X * SAMPLES_Y];
shared float errors_s[SAMPLES_X * SAMPLES_Y];
ivec2 samples_first;
#ifdef HS_LEVEL_TILES
#include "levels.glsl"
#endif
// Whether a sample or a pixel of the workgroup is not opaque. Where none is, s and alpha are 1 all
// along, and functions that are told so (`opaque`) leave them out.
shared bool some_transparent;

// The 4x4 samples around the pixel: tap n is sample base + (n & 3, n >> 2) - 1.
ivec2 base;
vec2 f;
range taps_range;
// Moved history at the pixel, and its weight.
work moved;
float moved_weight;

float gauss(vec2 d, float k)
{
    return exp(-dot(d, d) * k);
}

// Its two factors.
vec2 gauss_axes(vec2 d, float k)
{
    return exp(-d * d * k);
}

// Place of a pixel between sample centres, render px.
vec2 place(ivec2 p)
{
    return (vec2(p) + 0.5) * grid_scale() - params.jitter.xy - 0.5;
}

// Place of a sample between the grid's pixel centres, grid px.
vec2 sample_place(ivec2 s)
{
    return (vec2(s) + 0.5 + params.jitter.xy) * render_to_grid() - 0.5;
}

// Reprojected history at a sample, bilinear. Lowers alpha to that of the least opaque pixel.
work history_at(ivec2 s, inout float alpha)
{
    const vec2 at = sample_place(s), b = floor(at), t = at - b;
    work sum = work(vec4(0.0), 0.0);
    [[unroll]] for (int n = 0; n < 4; n++) {
        const ivec2 o = ivec2(n & 1, n >> 1);
        const ivec2 p = clamp(ivec2(b) + o, ivec2(0), grid_size() - 1);
        const vec4 texel = texelFetch(reproj_colour, moved_place(output_pixel(p)), 0);
        const work w = encode(texel);
        alpha = min(alpha, texel.a);
        const float g = (o.x == 1 ? t.x : 1.0 - t.x) * (o.y == 1 ? t.y : 1.0 - t.y);
        sum.c += g * w.c;
        sum.s += g * w.s;
    }
    return sum;
}

// Sample at place t of the tile.
work tile_sample(ivec2 t, bool opaque)
{
    const int i = t.y * SAMPLES_X + t.x;
    const vec4 straight = unpack_sample(samples_t[i]);
    return opaque ? work(vec4(straight.rgb, 1.0), 1.0) : unite(straight, samples_s[i]);
}

work tile_sample(ivec2 t)
{
    return tile_sample(t, false);
}

// Leaves out what is 1 anyway.
work settle(work w, bool opaque)
{
    return opaque ? work(vec4(w.c.rgb, 1.0), 1.0) : w;
}

// Place n of a tile, row by row. Exact for a tile's few hundred places.
ivec2 tile_place(int n, int width)
{
    const int y = int((float(n) + 0.5) / float(width));
    return ivec2(n - y * width, y);
}

// Loads what the workgroup meets, and moved history of the thread's pixel p. Two barriers have to
// follow; `share_opaque` stands between them, and after them `tiles_opaque` holds.
float load_tiles(ivec2 p)
{
    if (gl_LocalInvocationIndex == 0)
        some_transparent = false;
    const ivec2 first = group_first();
    const ivec2 from = ivec2(floor(place(first)));
    const ivec2 to = ivec2(floor(place(first + ivec2(HS_GROUP_X, HS_GROUP_Y) - 1)));
    // The last samples' neighbours, too, where the pixels lie beyond the last sample.
    samples_first = min(from, params.size.xy - 1) - 1;
    const ivec2 samples = to - samples_first + 3;
    const ivec2 own = moved_place(output_pixel(min(p, grid_size() - 1)));
    const vec4 own_texel = texelFetch(reproj_colour, own, 0);
    moved_weight = texelFetch(reproj_aux, own, 0).r;
    float alpha = own_texel.a;
    for (int n = int(gl_LocalInvocationIndex); n < samples.x * samples.y; n += HS_GROUP_THREADS) {
        const ivec2 t = tile_place(n, samples.x), s = samples_first + t;
        const int i = t.y * SAMPLES_X + t.x;
        const vec4 texel = texelFetch(prep_colour, render_clamp(s), 0);
        float scale;
        const vec4 straight = encode_straight(texel, scale);
        samples_t[i] = pack_sample(straight);
        samples_s[i] = scale;
#ifdef HS_LEVEL_TILES
        load_levels(i, render_clamp(s), straight.rgb, scale);
#endif
        alpha = min(alpha, texel.a);
        if (all(greaterThanEqual(s, from)) && all(lessThanEqual(s, to + 1))) {
            const work old = history_at(render_clamp(s), alpha), tap = unite(straight, scale);
            errors_c[i] = pack_error(tap.c - old.c);
            errors_s[i] = tap.s - old.s;
        }
    }
    moved = encode(own_texel);
    return alpha;
}

void share_opaque(float alpha)
{
    if (alpha < 1.0)
        some_transparent = true;
}

// Whether all that the workgroup meets is opaque.
bool tiles_opaque()
{
    return !some_transparent;
}

// Chooses the window around an output pixel.
void place_window(ivec2 p)
{
    base = ivec2(floor(place(p)));
    f = place(p) - floor(place(p));
}

// Exponent's factor of the Gaussian that weighs samples, 1 / render px^2.
float window_kernel()
{
    return HS_TAAU_KERNEL * render_to_grid().x * render_to_grid().y;
}

// How much this frame counts at the pixel.
float window_gain()
{
    return gauss(min(f, 1.0 - f), window_kernel()) + HS_TAAU_WEIGHT_MIN;
}

void cubic_weights(out float weights[16])
{
    const vec4 wx = cubic(f.x, HS_TAAU_CUBIC_CURRENT), wy = cubic(f.y, HS_TAAU_CUBIC_CURRENT);
    [[unroll]] for (int n = 0; n < 16; n++)
        weights[n] = wx[n & 3] * wy[n >> 2];
}

// Weighted sum of the sixteen samples, kept within their range.
work filter_window(float weights[16], bool opaque)
{
    work sum = work(vec4(0.0), 0.0);
    taps_range = range_start();
    const int corner = (base.y - 1 - samples_first.y) * SAMPLES_X + base.x - 1 - samples_first.x;
    [[unroll]] for (int n = 0; n < 16; n++) {
        const int i = corner + (n >> 2) * SAMPLES_X + (n & 3);
        vec4 straight = unpack_sample(samples_t[i]);
#ifdef HS_LEVEL_TILES
        straight.rgb = mix_levels(i, straight.rgb);
#endif
        if (opaque)
            straight.a = 1.0;
        const float s = opaque ? 1.0 : samples_s[i];
        const work tap = unite(straight, s);
        range_add_straight(taps_range, straight, s);
        sum.c += weights[n] * tap.c;
        sum.s += weights[n] * tap.s;
    }
    return settle(range_clamp(taps_range, settle(sum, opaque)), opaque);
}

// Luma, two colour differences, alpha.
vec4 opponent(vec4 c)
{
    return vec4(0.25 * c.r + 0.5 * c.g + 0.25 * c.b, c.r - c.b, c.g - 0.5 * (c.r + c.b), c.a);
}

// Statistics of the 3x3 samples around the nearest one: their mean, and mean and deviation in
// opponent space.
struct box {
    work mean;
    vec4 centre, deviation;
};

box window_box(bool opaque)
{
    const ivec2 first = ivec2(greaterThanEqual(f, vec2(0.5)));
    vec4 m2 = vec4(0.0);
    work mean = work(vec4(0.0), 0.0);
    float total = 0.0;
    vec2 weights[3];
    [[unroll]] for (int i = 0; i < 3; i++)
        weights[i] = gauss_axes(vec2(first + i - 1) - f, HS_TAAU_BOX_KERNEL);
    const ivec2 corner = base + first - 1 - samples_first;
    // Squares of distances from one of the samples: of nearly equal ones, squares of the values
    // themselves would leave nothing but rounding.
    const vec4 middle = opponent(tile_sample(corner + 1, opaque).c);
    [[unroll]] for (int n = 0; n < 9; n++) {
        const work tap = tile_sample(corner + ivec2(n % 3, n / 3), opaque);
        const float g = weights[n % 3].x * weights[n / 3].y;
        const vec4 o = opponent(tap.c) - middle;
        total += g;
        m2 += g * o * o;
        mean.c += g * tap.c;
        mean.s += g * tap.s;
    }
    const float share = 1.0 / total;
    mean = settle(work(mean.c * share, mean.s * share), opaque);
    const vec4 centre = opponent(mean.c), m1 = centre - middle;
    m2 *= share;
    return box(mean, centre, sqrt(max(m2 - m1 * m1, 0.0)));
}

// Half width of the box in deviations.
float box_size(float weight)
{
    const bool seen = has(HS_FRAME_DEPTH) && has(HS_FRAME_PREV_DEPTH);
    return seen ? HS_TAAU_BOX + HS_TAAU_BOX_GROW * weight : HS_TAAU_BOX_BLIND;
}

// Kernel-weighted sum of sample minus history at its place, over the four samples around the
// pixel, and the sum of the kernel.
work sample_errors(bool opaque, out float total)
{
    work sum = work(vec4(0.0), 0.0);
    total = 0.0;
    const vec2 low = gauss_axes(f, window_kernel()), high = gauss_axes(1.0 - f, window_kernel());
    [[unroll]] for (int n = 0; n < 4; n++) {
        const ivec2 o = ivec2(n & 1, n >> 1), t = base + o - samples_first;
        const float g = (o.x == 1 ? high.x : low.x) * (o.y == 1 ? high.y : low.y);
        total += g;
        sum.c += g * unpack_error(errors_c[t.y * SAMPLES_X + t.x]);
        sum.s += opaque ? 0.0 : g * errors_s[t.y * SAMPLES_X + t.x];
    }
    return sum;
}
