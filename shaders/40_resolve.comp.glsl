#version 450
// SPDX-License-Identifier: MIT
// This frame's samples and the reprojected history into one picture, which is the next history.
// Where a sample lies near the pixel it counts much, elsewhere history stays; history is corrected
// by what the samples around the pixel say about it and kept in the box of their deviations.
// Reads: colour [render], reprojected colour and weight [output].
// Writes: next history colour RGBA16F and weight R of RG16F, and the picture in input units to the
// output rectangle or, when finish follows, to `resolved`.
// Grid: one thread an output pixel, 8x8. Precision: f32.
// Reference: hs_ref_resolve() in engine/ref/ref_resolve.c.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "taau.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
HS_INPUT(prep_colour, HS_BINDING_PREP_COLOUR);
HS_INPUT(reproj_colour, HS_BINDING_REPROJ_COLOUR);
HS_INPUT(reproj_aux, HS_BINDING_REPROJ_AUX);
HS_OUTPUT(out_history, HS_BINDING_OUT_HISTORY_COLOUR);
HS_OUTPUT(out_history_aux, HS_BINDING_OUT_HISTORY_AUX);
HS_OUTPUT(out_image, HS_BINDING_OUTPUT);
HS_OUTPUT(out_resolved, HS_BINDING_OUT_RESOLVED);

// Every sample and every pixel of moved history is encoded once a workgroup and shared. A workgroup
// of 8x8 pixels meets at most 12x12 samples (ratio 1) and, around those, 18x18 pixels (ratio 3).
#define SAMPLES_MAX 12
#define MOVED_MAX 18
shared vec4 samples_c[SAMPLES_MAX * SAMPLES_MAX];
shared float samples_s[SAMPLES_MAX * SAMPLES_MAX];
shared vec4 moved_c[MOVED_MAX * MOVED_MAX];
shared float moved_s[MOVED_MAX * MOVED_MAX];
ivec2 samples_first, moved_first;

// The 4x4 samples around the pixel: tap n is sample base + (n & 3, n >> 2) - 1.
ivec2 base;
vec2 f;
range taps_range;

float gauss(vec2 d, float k)
{
    return exp(-dot(d, d) * k);
}

// Place of an output pixel between sample centres, render px.
vec2 place(ivec2 p)
{
    return (vec2(p) + 0.5) * params.scale.xy - params.jitter.xy - 0.5;
}

ivec2 render_clamp(ivec2 p)
{
    return clamp(p, ivec2(0), params.size.xy - 1);
}

// Place of a sample between output pixel centres, output px.
vec2 sample_place(ivec2 s)
{
    return (vec2(s) + 0.5 + params.jitter.xy) * params.scale.zw - 0.5;
}

void load_tiles()
{
    const ivec2 first = ivec2(gl_WorkGroupID.xy) * 8;
    const ivec2 from = ivec2(floor(place(first))), to = ivec2(floor(place(first + 7)));
    samples_first = from - 1;
    moved_first = ivec2(floor(sample_place(render_clamp(from))));
    const ivec2 samples = to - from + 4;
    const ivec2 moved = ivec2(floor(sample_place(render_clamp(to + 1)))) + 2 - moved_first;
    for (int n = int(gl_LocalInvocationIndex); n < samples.x * samples.y; n += 64) {
        const ivec2 t = ivec2(n % samples.x, n / samples.x);
        const work w = encode(texelFetch(prep_colour, render_clamp(samples_first + t), 0));
        samples_c[t.y * SAMPLES_MAX + t.x] = w.c;
        samples_s[t.y * SAMPLES_MAX + t.x] = w.s;
    }
    for (int n = int(gl_LocalInvocationIndex); n < moved.x * moved.y; n += 64) {
        const ivec2 t = ivec2(n % moved.x, n / moved.x);
        const ivec2 p = clamp(moved_first + t, ivec2(0), params.size.zw - 1);
        const work w = encode(texelFetch(reproj_colour, p, 0));
        moved_c[t.y * MOVED_MAX + t.x] = w.c;
        moved_s[t.y * MOVED_MAX + t.x] = w.s;
    }
    barrier();
}

work sample_tap(int n)
{
    const ivec2 t = base + ivec2(n & 3, n >> 2) - 1 - samples_first;
    return work(samples_c[t.y * SAMPLES_MAX + t.x], samples_s[t.y * SAMPLES_MAX + t.x]);
}

// Cubic of the sixteen samples, kept within their range.
work filter_window()
{
    const vec4 wx = cubic(f.x, HS_TAAU_CUBIC_CURRENT), wy = cubic(f.y, HS_TAAU_CUBIC_CURRENT);
    work sum = work(vec4(0.0), 0.0);
    taps_range = range_start();
    [[unroll]] for (int n = 0; n < 16; n++) {
        const work tap = sample_tap(n);
        const float w = wx[n & 3] * wy[n >> 2];
        range_add(taps_range, tap);
        sum.c += w * tap.c;
        sum.s += w * tap.s;
    }
    return range_clamp(taps_range, sum);
}

// Luma, two colour differences, alpha.
vec4 opponent(vec4 c)
{
    return vec4(0.25 * c.r + 0.5 * c.g + 0.25 * c.b, c.r - c.b, c.g - 0.5 * (c.r + c.b), c.a);
}

// Draws history towards the local mean until it lies in the box of the local deviations. Returns
// the factor that it took, 1 where history was inside.
float rectify(float weight, inout work history)
{
    // The 3x3 samples around the nearest one.
    const ivec2 first = ivec2(greaterThanEqual(f, vec2(0.5)));
    vec4 m1 = vec4(0.0), m2 = vec4(0.0);
    work mean = work(vec4(0.0), 0.0);
    float total = 0.0;
    [[unroll]] for (int n = 0; n < 9; n++) {
        const ivec2 at = first + ivec2(n % 3, n / 3);
        const work tap = sample_tap(4 * at.y + at.x);
        const float g = gauss(vec2(at - 1) - f, HS_TAAU_BOX_KERNEL);
        const vec4 o = opponent(tap.c);
        total += g;
        m1 += g * o;
        m2 += g * o * o;
        mean.c += g * tap.c;
        mean.s += g * tap.s;
    }
    m1 /= total;
    m2 /= total;
    mean.c /= total;
    mean.s /= total;
    const bool seen = has(HS_FRAME_DEPTH) && has(HS_FRAME_PREV_DEPTH);
    const float size = seen ? HS_TAAU_BOX + HS_TAAU_BOX_GROW * weight : HS_TAAU_BOX_BLIND;
    const vec4 deviation = sqrt(max(m2 - m1 * m1, 0.0));
    const vec4 by = abs(opponent(history.c) - m1) / (deviation * size + HS_TAAU_BOX_MIN);
    const float keep = 1.0 / max(1.0, max(max(by.x, by.y), max(by.z, by.w)));
    history.c = mean.c + (history.c - mean.c) * keep;
    history.s = mean.s + (history.s - mean.s) * keep;
    return keep;
}

// Reprojected history at a sample, bilinear.
work history_at(ivec2 s)
{
    const vec2 at = sample_place(s), b = floor(at), t = at - b;
    const ivec2 first = ivec2(b) - moved_first;
    work sum = work(vec4(0.0), 0.0);
    [[unroll]] for (int n = 0; n < 4; n++) {
        const ivec2 o = ivec2(n & 1, n >> 1);
        const int i = (first.y + o.y) * MOVED_MAX + first.x + o.x;
        const float g = (o.x == 1 ? t.x : 1.0 - t.x) * (o.y == 1 ? t.y : 1.0 - t.y);
        sum.c += g * moved_c[i];
        sum.s += g * moved_s[i];
    }
    return sum;
}

// Adds to history the kernel-weighted mean of what the four samples around the pixel say about it:
// sample minus history at the sample's place. Returns the sum of the kernel.
float correct(float kernel, inout work history)
{
    work sum = work(vec4(0.0), 0.0);
    float total = 0.0;
    [[unroll]] for (int n = 0; n < 4; n++) {
        const ivec2 o = ivec2(n & 1, n >> 1);
        const work old = history_at(render_clamp(base + o));
        const float g = gauss(vec2(o) - f, kernel);
        const work tap = sample_tap(4 * (o.y + 1) + o.x + 1);
        total += g;
        sum.c += g * (tap.c - old.c);
        sum.s += g * (tap.s - old.s);
    }
    range both = taps_range;
    range_add(both, history);
    const float share = HS_TAAU_CORRECT_GAIN / max(total, 1e-9);
    history = range_clamp(both, work(history.c + sum.c * share, history.s + sum.s * share));
    return total;
}

void main()
{
    load_tiles();
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, params.size.zw)))
        return;
    const float kernel = HS_TAAU_KERNEL * params.scale.z * params.scale.w;
    base = ivec2(floor(place(p)));
    f = place(p) - floor(place(p));
    work now = filter_window();
    const float gain = gauss(min(f, 1.0 - f), kernel) + HS_TAAU_WEIGHT_MIN;
    float weight = texelFetch(reproj_aux, p, 0).r;
    if (weight > 0.0) {
        work old = encode(texelFetch(reproj_colour, p, 0));
        work corrected = old;
        const float total = correct(kernel, corrected);
        const float keep = rectify(weight, old);
        weight *= keep * keep;
        const float trust = total / (total + HS_TAAU_CORRECT_KERNEL) * keep * keep * weight /
                            (weight + HS_TAAU_CORRECT_WEIGHT);
        now.c += (corrected.c - now.c) * trust;
        now.s += (corrected.s - now.s) * trust;
        now.c = (weight * old.c + gain * now.c) / (weight + gain);
        now.s = (weight * old.s + gain * now.s) / (weight + gain);
    }
    const vec4 rgba = decode(now);
    imageStore(out_history, p, rgba);
    imageStore(out_history_aux, p, vec4(min(weight + gain, HS_TAAU_WEIGHT_MAX), 0.0, 0.0, 0.0));
    const vec4 picture = vec4(min(rgba.rgb / exposure_factor(), HS_TAAU_MAX), rgba.a);
    if (has(HS_FRAME_FINISH))
        imageStore(out_resolved, p, picture);
    else
        imageStore(out_image, p + params.origin_out.xy, picture);
}
