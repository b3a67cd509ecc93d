#version 450
// SPDX-License-Identifier: MIT
// History brought to this frame's output pixels: a cubic of sixteen taps in the working range, kept
// within their range, and its weight, which resampling and doubtful pixels reduce.
// Reads: motion, validity, depth, colour [render], caller's motion if it has output size, history.
// Writes at output size: colour RGBA16F in this frame's exposure, weight R16F (0: none).
// Grid: one thread an output pixel, 8x8. Precision: f32.
// Where the pixels of a workgroup move alike, they share the history around them: each texel is
// fetched and encoded once. Elsewhere each pixel fetches its own.
// Reference: hs_ref_reproject() in engine/ref/ref_reproject.c.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "taau.glsl"
#define HS_SHARED_DEPTH
#include "motion.glsl"
#include "band.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
HS_INPUT(prep_colour, HS_BINDING_PREP_COLOUR);
HS_INPUT(history_colour, HS_BINDING_HISTORY_COLOUR);
HS_INPUT(history_aux, HS_BINDING_HISTORY_AUX);
HS_OUTPUT(out_colour, HS_BINDING_OUT_REPROJ_COLOUR);
HS_OUTPUT(out_aux, HS_BINDING_OUT_REPROJ_AUX);

ivec2 output_clamp(ivec2 p)
{
    return clamp(p, ivec2(0), params.size.zw - 1);
}

// History around the workgroup's pixels, row by row: c / s and alpha; s, weight.
#define TILE_TEXELS 384
shared vec4 tile_straight[TILE_TEXELS];
shared vec2 tile_rest[TILE_TEXELS];
shared ivec4 tile_bounds[64];
shared bool some_transparent;
// Place of the tile and its width.
ivec2 tile_first;
int tile_width;

// Colour of a history texel in this frame's exposure.
vec4 history_straight(ivec2 p, out float s)
{
    const float ratio = has(HS_FRAME_LDR) ? 1.0 : state.exposure.y;
    const vec4 t = texelFetch(history_colour, output_clamp(p), 0);
    return encode_straight(vec4(t.rgb * ratio, t.a), s);
}

// Loads the tile; false where it is too large. All pixels take part: `first` is the first of the
// 4x4 texels of a pixel that has history.
bool load_tile(bool any, ivec2 first)
{
    const int i = int(gl_LocalInvocationIndex);
    tile_bounds[i] = any ? ivec4(first, -first) : ivec4(1 << 20);
    if (i == 0)
        some_transparent = false;
    barrier();
    if (i < 8) {
        for (int n = i + 8; n < 64; n += 8)
            tile_bounds[i] = min(tile_bounds[i], tile_bounds[n]);
    }
    barrier();
    ivec4 bounds = tile_bounds[0];
    [[unroll]] for (int n = 1; n < 8; n++)
        bounds = min(bounds, tile_bounds[n]);
    // Negative where no pixel has history.
    const ivec2 size = 4 - bounds.zw - bounds.xy;
    tile_first = bounds.xy;
    tile_width = size.x;
    if (size.x <= 0 || size.x > TILE_TEXELS / 4 || size.y <= 0 || size.y > TILE_TEXELS / size.x)
        return false;
    bool transparent = false;
    for (int n = i; n < size.x * size.y; n += 64) {
        const int y = int((float(n) + 0.5) / float(size.x));
        const ivec2 p = tile_first + ivec2(n - y * size.x, y);
        float s;
        tile_straight[n] = history_straight(p, s);
        tile_rest[n] = vec2(s, texelFetch(history_aux, output_clamp(p), 0).r);
        transparent = transparent || tile_straight[n].a < 1.0;
    }
    if (transparent)
        some_transparent = true;
    barrier();
    return true;
}

// Place of a texel in the tile.
int tile_place(ivec2 p)
{
    return (p.y - tile_first.y) * tile_width + p.x - tile_first.x;
}

vec4 sample_colour(vec2 at, bool tiled, bool opaque)
{
    const vec2 base = floor(at - 0.5), f = at - 0.5 - base;
    const vec4 wx = cubic(f.x, HS_TAAU_CUBIC_HISTORY), wy = cubic(f.y, HS_TAAU_CUBIC_HISTORY);
    work sum = work(vec4(0.0), 0.0);
    range taps = range_start();
    [[unroll]] for (int j = 0; j < 4; j++) {
        [[unroll]] for (int i = 0; i < 4; i++) {
            const ivec2 p = ivec2(base) + ivec2(i, j) - 1;
            float s;
            vec4 straight;
            if (tiled) {
                const int n = tile_place(p);
                straight = tile_straight[n];
                s = opaque ? 1.0 : tile_rest[n].x;
                if (opaque)
                    straight.a = 1.0;
            } else {
                straight = history_straight(p, s);
            }
            const work tap = unite(straight, s);
            const float w = wx[i] * wy[j];
            range_add_straight(taps, straight, s);
            sum.c += w * tap.c;
            sum.s += w * tap.s;
        }
    }
    if (opaque)
        sum = work(vec4(sum.c.rgb, 1.0), 1.0);
    return decode(range_clamp(taps, sum));
}

float sample_weight(vec2 at, bool tiled)
{
    const vec2 base = floor(at - 0.5), f = at - 0.5 - base;
    float sum = 0.0;
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            const ivec2 p = ivec2(base) + ivec2(i, j);
            const float w = (i == 1 ? f.x : 1.0 - f.x) * (j == 1 ? f.y : 1.0 - f.y);
            sum += w * (tiled ? tile_rest[tile_place(p)].y
                              : texelFetch(history_aux, output_clamp(p), 0).r);
        }
    }
    // Every resampling between pixels blurs, so it costs weight.
    const float blur = 2.0 * (f.x * (1.0 - f.x) + f.y * (1.0 - f.y));
    return sum * (1.0 - HS_TAAU_DECAY * blur);
}

void main()
{
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy) + ivec2(0, push.band.x);
    const bool inside = p.x < params.size.z && p.y < push.band.y;
    vec2 moved;
    float weight = 0.0;
    if (has(HS_FRAME_DEPTH)) {
        load_depths(ivec2(gl_WorkGroupID.xy) * 8 + ivec2(0, push.band.x));
        barrier();
    }
    const float valid = pixel_motion(min(p, params.size.zw - 1), moved);
    const vec2 at = vec2(p) + 0.5 + moved;
    const bool any = inside && valid > 0.0 && all(greaterThan(at, vec2(0.0))) &&
                     all(lessThan(at, vec2(params.size.zw)));
    const bool tiled = load_tile(any, any ? ivec2(floor(at - 0.5)) - 1 : ivec2(0));
    if (!inside)
        return;
    if (any)
        weight = sample_weight(at, tiled) * valid;
    vec4 rgba;
    if (weight > 0.0) {
        // Copies of the code: both are known in each.
        if (tiled && !some_transparent)
            rgba = sample_colour(at, true, true);
        else if (tiled)
            rgba = sample_colour(at, true, false);
        else
            rgba = sample_colour(at, false, false);
    } else {
        // No history: the nearest sample, in which resolve then finds nothing to correct.
        const vec2 uv = (vec2(p) + 0.5) * params.scale.xy - params.jitter.xy;
        rgba = texelFetch(prep_colour, render_clamp(ivec2(floor(uv))), 0);
    }
    imageStore(out_colour, moved_place(p), rgba);
    imageStore(out_aux, moved_place(p), vec4(weight, 0.0, 0.0, 0.0));
}
