#version 450
// SPDX-License-Identifier: MIT
// History brought to this frame's output pixels: a cubic of sixteen taps in the working range, kept
// within their range, and its weight, which resampling and doubtful pixels reduce.
// Reads: motion, validity, depth, colour [render], caller's motion if it has output size, history.
// Writes at output size: colour RGBA16F in this frame's exposure, weight R16F (0: none).
// Grid: one thread an output pixel, HS_GROUP_X x HS_GROUP_Y. Precision: f32.
// Pixels that move like the one in the middle of their workgroup share the history around them:
// each texel is fetched and encoded once. Others fetch their own.
// Reference: hs_ref_reproject() in engine/ref/ref_reproject.c.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "taau.glsl"
#include "motion.glsl"
#include "band.glsl"

layout(local_size_x = HS_GROUP_THREADS) in;
HS_INPUT(prep_colour, HS_BINDING_PREP_COLOUR);
HS_INPUT(history_colour, HS_BINDING_HISTORY_COLOUR);
HS_INPUT(history_aux, HS_BINDING_HISTORY_AUX);
HS_OUTPUT(out_colour, HS_BINDING_OUT_REPROJ_COLOUR);
HS_OUTPUT(out_aux, HS_BINDING_OUT_REPROJ_AUX);

ivec2 output_clamp(ivec2 p)
{
    return clamp(p, ivec2(0), params.size.zw - 1);
}

// History around the workgroup's pixels, row by row: c / s and alpha; s, weight. The pixels need
// three texels more than there are of them, the rest is for those that move a little differently.
#define TILE_X 24
#define TILE_Y 16
shared vec4 tile_straight[TILE_X * TILE_Y];
shared vec2 tile_rest[TILE_X * TILE_Y];
// Place of the tile.
shared ivec2 tile_first;
shared bool some_transparent;

// Colour of a history texel in this frame's exposure.
vec4 history_straight(ivec2 p, out float s)
{
    const float ratio = has(HS_FRAME_LDR) ? 1.0 : state.exposure.y;
    const vec4 t = texelFetch(history_colour, output_clamp(p), 0);
    return encode_straight(vec4(t.rgb * ratio, t.a), s);
}

void load_tile()
{
    bool transparent = false;
    [[unroll]] for (int k = 0; k < TILE_X * TILE_Y / HS_GROUP_THREADS; k++) {
        const int n = int(gl_LocalInvocationIndex) + k * HS_GROUP_THREADS;
        const ivec2 p = tile_first + ivec2(n % TILE_X, n / TILE_X);
        float s;
        tile_straight[n] = history_straight(p, s);
        tile_rest[n] = vec2(s, texelFetch(history_aux, output_clamp(p), 0).r);
        transparent = transparent || tile_straight[n].a < 1.0;
    }
    if (transparent)
        some_transparent = true;
}

// Place of a texel in the tile.
int tile_place(ivec2 p)
{
    return (p.y - tile_first.y) * TILE_X + p.x - tile_first.x;
}

// Whether the 4x4 texels from p on are in the tile.
bool in_tile(ivec2 p)
{
    const ivec2 t = p - tile_first;
    return all(greaterThanEqual(t, ivec2(0))) && all(lessThanEqual(t, ivec2(TILE_X, TILE_Y) - 4));
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
    const ivec2 place = group_place(), p = group_first() + place;
    const bool inside = p.x < params.size.z && p.y < push.band.y;
    vec2 moved;
    float weight = 0.0;
    const float valid = pixel_motion(min(p, params.size.zw - 1), moved);
    const vec2 at = vec2(p) + 0.5 + moved;
    const bool any = inside && valid > 0.0 && all(greaterThan(at, vec2(0.0))) &&
                     all(lessThan(at, vec2(params.size.zw)));
    const ivec2 first = any ? ivec2(floor(at - 0.5)) - 1 : p;
    const ivec2 middle = ivec2(HS_GROUP_X, HS_GROUP_Y) / 2;
    if (place == middle) {
        const ivec2 spare = ivec2(TILE_X, TILE_Y) - 3 - ivec2(HS_GROUP_X, HS_GROUP_Y);
        tile_first = first - middle - spare / 2;
        some_transparent = false;
    }
    barrier();
    load_tile();
    barrier();
    if (!inside)
        return;
    const bool tiled = in_tile(first);
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
