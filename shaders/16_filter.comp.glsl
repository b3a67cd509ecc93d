#version 450
// SPDX-License-Identifier: MIT
// One pass of the edge-stopping wavelet filter: 5x5 taps of a B-spline, 2^pass px apart, each
// counted by how much it lies on the same surface and by its luminance within the deviation.
// The last pass brings textures back.
// Reads: what the pass before wrote (guides.h), surface, traits, depth, albedo [render].
// Writes at render size: signal RGBA16F; the last pass: prepared colour.
// Grid: one thread a render pixel, 8x8. Precision: f32.
// Reference: hs_ref_filter() in engine/ref/ref_filter.c.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "band.glsl"
#include "guides.glsl"
#include "taau.h"

layout(local_size_x = 8, local_size_y = 8) in;
HS_GUIDE(signal_a, HS_BINDING_SIGNAL_A);
HS_GUIDE(signal_b, HS_BINDING_SIGNAL_B);
HS_GUIDE(middle, HS_BINDING_MIDDLE);
HS_GUIDE(accumulated, HS_BINDING_ACCUMULATED);
HS_GUIDE(albedo, HS_BINDING_ALBEDO);
HS_GUIDE_OUT(out_a, HS_BINDING_OUT_SIGNAL_A);
HS_GUIDE_OUT(out_b, HS_BINDING_OUT_SIGNAL_B);
HS_GUIDE_OUT(out_middle, HS_BINDING_OUT_MIDDLE);
HS_OUTPUT(out_colour, HS_BINDING_OUT_PREP_COLOUR);

const float spline[3] = {0.375, 0.25, 0.0625};

vec4 at(ivec2 p)
{
    if ((push.band.x & 1) != 0)
        return texelFetch(signal_a, p, 0);
    if (push.band.x == 0)
        return texelFetch(accumulated, p, 0);
    return push.band.x == HS_ATROUS_MIDDLE ? texelFetch(middle, p, 0) : texelFetch(signal_b, p, 0);
}

// The deviation is itself an estimate: that of the neighbours smooths it.
float deviation(ivec2 p)
{
    float sum = 0.0;
    for (int j = -1; j <= 1; j++) {
        for (int i = -1; i <= 1; i++) {
            const float d = at(clamp(p + ivec2(i, j), ivec2(0), params.size.xy - 1)).a;
            sum += (i == 0 ? 0.5 : 0.25) * (j == 0 ? 0.5 : 0.25) * d * d;
        }
    }
    return sqrt(sum);
}

vec4 filtered(ivec2 p, surface here, vec4 centre)
{
    const float l = luminance(centre.rgb);
    const float reach = HS_ATROUS_LUMINANCE * deviation(p) + HS_ATROUS_LUMINANCE_MIN;
    const int stride = 1 << push.band.x;
    float total = spline[0] * spline[0];
    vec3 sum = total * centre.rgb;
    float square = total * total * centre.a * centre.a;
    for (int j = -2; j <= 2; j++) {
        for (int i = -2; i <= 2; i++) {
            const ivec2 away = ivec2(i, j) * stride, q = p + away;
            if ((i == 0 && j == 0) || any(lessThan(q, ivec2(0))) ||
                any(greaterThanEqual(q, params.size.xy)))
                continue;
            const vec4 c = at(q);
            const float w = spline[abs(i)] * spline[abs(j)] * edge_weight(here, q, vec2(away)) *
                            exp(-abs(luminance(c.rgb) - l) / reach);
            total += w;
            sum += w * c.rgb;
            square += w * w * c.a * c.a;
        }
    }
    return vec4(sum / total, sqrt(square) / total);
}

void main()
{
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, params.size.xy)))
        return;
    const surface here = read_surface(p);
    const bool background = is_background(here.trait);
    vec4 c = at(p);
    if (!background)
        c = filtered(p, here, c);
    if (push.band.x == HS_ATROUS_PASSES - 1) {
        const vec4 by = texelFetch(albedo, p, 0);
        const float top = has(HS_FRAME_LDR) ? 1.0 : HS_TAAU_MAX;
        if (!background)
            imageStore(out_colour, p, vec4(min(c.rgb * by.rgb, top), by.a));
    } else if ((push.band.x & 1) == 0) {
        imageStore(out_a, p, c);
    } else if (push.band.x == HS_ATROUS_MIDDLE - 1) {
        imageStore(out_middle, p, c);
    } else {
        imageStore(out_b, p, c);
    }
}
