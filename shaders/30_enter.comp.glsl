#version 450
// SPDX-License-Identifier: MIT
// What the network sees of a frame, straight into its first layer, a 1x1 convolution with ReLU.
// Reads: prepared planes [render], reprojected colour and weight [output]; in the variants _ray
// also what the passes of `atrous` left [render].
// Writes: activations of level 0. Tokens beyond the picture repeat the last ones; so do the second
// pixels of the last tokens where a size is odd.
// In the variants _split a network outside has the first layer, too: they write features.
// Grid: HS_GROUP_X x HS_GROUP_Y output pixels, 2x2 of them a token, or so many cells of integers.
// Precision: features f32; then as in types.glsl.
// References: hs_ref_features() in engine/ref, features() in pipeline.py.
#extension GL_GOOGLE_include_directive : require
#include "types.glsl"
#ifdef HS_CELLS
#define HS_GRID_CELLS
#endif
#include "common.glsl"
#include "taau.glsl"
#include "motion.glsl"
#include "window.glsl"
#include "tokens.glsl"
#ifdef HS_RAY
#include "levels.glsl"
HS_GUIDE(moments, HS_BINDING_MOMENTS);
HS_GUIDE(surfaces, HS_BINDING_SURFACE);
HS_GUIDE(traits, HS_BINDING_TRAITS);
#endif

layout(std430, set = 1, binding = HS_BINDING_LAYER_OUT) writeonly buffer hs_layer_out_block
{
#ifdef HS_SPLIT
    uvec4 activations[];
#else
    UNIT activations[];
#endif
};

void put(int token, int channel, float value)
{
#ifdef HS_INT8
    // What features are multiplied with is behind the layer's scales.
    const ivec4 four = ivec4(weights[push.weights.y + OUTPUTS / 2 + channel / 4]);
    features[token * FEATURES_PITCH + channel] =
        FEATURE(rounded_feature(value, intBitsToFloat(four[channel % 4])));
#else
    features[token * FEATURES_PITCH + channel] = FEATURE(value);
#endif
}

void put3(int token, int channel, int step, vec3 value)
{
    put(token, channel, value.x);
    put(token, channel + step, value.y);
    put(token, channel + 2 * step, value.z);
}

// The token that stands for token t of the workgroup: the last one beyond the picture.
ivec2 picture_token(int t)
{
    return min(group_token(t), (grid_size() + 1) / 2 - 1);
}

void pixel_features(int t, int s, ivec2 p, bool opaque)
{
    float weights[16], total;
    place_window(p);
    cubic_weights(weights);
    put3(t, s, 4, filter_window(weights, opaque).c.rgb - 0.5);
    const work old = settle(moved, opaque);
    const float weight = moved_weight;
    put3(t, 12 + s, 4, old.c.rgb - 0.5);
    put(t, 24 + s, weight / (1.0 + weight));
    put(t, 28 + s, window_gain());
    vec3 out_by = vec3(0.0);
    float error = 0.0;
    if (weight > 0.0) {
        const box b = window_box(opaque);
        out_by = (opponent(old.c).xyz - b.centre.xyz) /
                 (b.deviation.xyz * box_size(weight) + HS_TAAU_BOX_MIN);
        const work sum = sample_errors(opaque, total);
        error = 2.0 * opponent(sum.c).x / max(total, 1e-9);
    }
    put3(t, 32 + s, 4, clamp(out_by / 4.0, -1.0, 1.0));
    put(t, 44 + s, error);
}

// Centre of a token, render px.
vec2 token_centre(ivec2 token)
{
    return (vec2(2 * token) + 1.0) * grid_scale();
}

void colour_features(int t, ivec2 near)
{
    const ivec2 at = near - samples_first;
    // As in window_box().
    const vec3 middle = opponent(tile_sample(at).c).xyz;
    vec3 mean = vec3(0.0), square = vec3(0.0);
    [[unroll]] for (int n = 0; n < 9; n++) {
        const vec3 o = opponent(tile_sample(at + ivec2(n % 3, n / 3) - 1).c).xyz - middle;
        mean += o / 9.0;
        square += o * o / 9.0;
    }
    put3(t, 48, 1, tile_sample(at).c.rgb - 0.5);
    put3(t, 53, 1, min(4.0 * sqrt(max(square - mean * mean, 0.0)), 1.0));
}

float log_depth(ivec2 p)
{
    return log2(clamp(texelFetch(prep_depth, render_clamp(p), 0).r, 1e-4, 1e9));
}

void depth_features(int t, ivec2 near)
{
    const float own = log_depth(near);
    float nearest = own, farthest = own;
    [[unroll]] for (int n = 0; n < 9; n++) {
        const float d = log_depth(near + ivec2(n % 3, n / 3) - 1);
        nearest = min(nearest, d);
        farthest = max(farthest, d);
    }
    put(t, 57, min(0.5 * (own - nearest), 1.0));
    put(t, 58, min(0.5 * (farthest - own), 1.0));
}

void motion_features(int t, ivec2 token)
{
    vec2 moved;
    pixel_motion(2 * token, moved);
    const vec2 at = vec2(2 * token) + moved, g = at - floor(at);
    put(t, 59, moved.x / (8.0 + abs(moved.x)));
    put(t, 60, moved.y / (8.0 + abs(moved.y)));
    put(t, 61, 2.0 * (g.x * (1.0 - g.x) + g.y * (1.0 - g.y)));
}

#ifdef HS_RAY
void level_features(int t, ivec2 near)
{
    const work d = tile_sample(near - samples_first);
    const vec4 signal = texelFetch(accumulated, near, 0), surface = texelFetch(surfaces, near, 0);
    const vec3 by = texelFetch(albedo, near, 0).rgb;
    const vec3 m = d.s * encode_level(texelFetch(middle, near, 0).rgb, by, d.s);
    const vec3 a = d.s * encode_level(signal.rgb, by, d.s);
    put3(t, HS_FEATURE_LEVELS, 1, clamp(m - d.c.rgb, -1.0, 1.0));
    put3(t, HS_FEATURE_LEVELS + 3, 1, clamp(a - d.c.rgb, -1.0, 1.0));
    put(t, HS_FEATURE_NOISE, min(signal.a / (luminance(signal.rgb) + HS_NOISE_MIN), 1.0));
    put(t, HS_FEATURE_FRAMES, texelFetch(moments, near, 0).b / HS_ATROUS_LENGTH);
    put3(t, HS_FEATURE_ALBEDO, 1, sqrt(min(by, 1.0)));
    put3(t, HS_FEATURE_NORMAL, 1, surface.xyz);
    put(t, HS_FEATURE_ROUGHNESS, surface.w);
    put(t, HS_FEATURE_SURFACE, texelFetch(traits, near, 0).r < 0.0 ? 0.0 : 1.0);
}
#endif

void token_features(int t, int part)
{
    const ivec2 token = picture_token(t);
    const vec2 place = token_centre(token) - params.jitter.xy;
    const ivec2 near = render_clamp(ivec2(floor(place)));
    if (part == 0) {
        colour_features(t, near);
    } else if (part == 1) {
        depth_features(t, near);
    } else if (part == 2) {
        motion_features(t, token);
    } else {
        const vec2 offset = floor(place) + 0.5 - place;
        put(t, 51, offset.x);
        put(t, 52, offset.y);
        put(t, 56, texelFetch(prep_aux, near, 0).r);
        put(t, 62, params.scale.x);
        put(t, 63, params.scale.y);
#ifdef HS_RAY
        level_features(t, near);
#endif
    }
}

#if defined(HS_SPLIT)
// Features themselves, as half floats or integers of 8 bits, for a network outside. Its rows have
// no room for tokens beyond them.
#ifdef HS_INT8
#define PER_FEATURES 16
#else
#define PER_FEATURES 8
#endif

void finish()
{
    const int parts = INPUTS / PER_FEATURES;
    for (int n = int(gl_LocalInvocationIndex); n < TOKENS * parts; n += HS_GROUP_THREADS) {
        const int t = n / parts, part = n % parts, at = t * OPERAND_PITCH + part * PER_FEATURES;
        const ivec2 token = group_token(t);
        uvec4 unit;
        [[unroll]] for (int i = 0; i < 4; i++) {
#ifdef HS_INT8
            unit[i] = packed(ivec4(operand[at + 4 * i], operand[at + 4 * i + 1],
                                   operand[at + 4 * i + 2], operand[at + 4 * i + 3]));
#else
            unit[i] = packHalf2x16(vec2(operand[at + 2 * i], operand[at + 2 * i + 1]));
#endif
        }
        if (token.x < push.size.w)
            activations[token_place(token, push.size.w, push.ring.zw) * parts + part] = unit;
    }
}
#elif defined(HS_INT8)
void write_batch(int first)
{
    const int parts = OUTPUTS / PER_UNIT;
    for (int n = int(gl_LocalInvocationIndex); n < BATCH * parts; n += HS_GROUP_THREADS) {
        const int t = n / parts, part = n % parts;
        UNIT unit;
        [[unroll]] for (int i = 0; i < 4; i++) {
            const int four = 4 * part + i;
            unit[i] = packed(limited(scaled_down(result4(t, four) + biases(four), scales(four)),
                                     true));
        }
        const ivec2 at = group_token(first + t);
        activations[token_place(at, push.size.w, push.ring.zw) * parts + part] = unit;
    }
}

void finish()
{
    for (int first = 0; first < TOKENS; first += BATCH) {
        product(first);
        barrier();
        write_batch(first);
        barrier();
    }
}
#else
void finish()
{
    const int parts = OUTPUTS / PER_UNIT;
    product();
    barrier();
#ifdef HS_MATRIX
    for (int n = int(gl_LocalInvocationIndex); n < TOKENS * parts; n += HS_GROUP_THREADS) {
        const int t = n / parts, part = n % parts;
        uvec4 unit;
        [[unroll]] for (int i = 0; i < 2; i++) {
            const vec4 value = max(result4(t, 2 * part + i), 0.0);
            unit[2 * i] = packHalf2x16(value.xy);
            unit[2 * i + 1] = packHalf2x16(value.zw);
        }
        activations[token_place(group_token(t), push.size.w, push.ring.zw) * parts + part] = unit;
    }
#else
    const int at = token_place(group_token(own_token()), push.size.w, push.ring.zw) * parts;
    for (int n = 0; n < OUTPUTS / 16; n++)
        activations[at + own_place(n)] = max(own_result[n], 0.0);
#endif
}
#endif

void main()
{
    const int i = int(gl_LocalInvocationIndex);
    const ivec2 at = group_place();
    const int t = token_of(at), s = pixel_of(at);
    const ivec2 p = min(2 * picture_token(t) + (at & 1), grid_size() - 1);
    const float alpha = load_tiles(p);
    barrier();
    share_opaque(alpha);
    token_features(i % TOKENS, i / TOKENS);
    barrier();
    // Two copies of the code: `opaque` is known in each.
    if (tiles_opaque())
        pixel_features(t, s, p, true);
    else
        pixel_features(t, s, p, false);
    barrier();
    pack_features();
    finish();
}
