#version 450
// SPDX-License-Identifier: MIT
// From the engine's float picture to what displays and encoders take: gain, tone map, transfer
// curve, primaries, packing.
// Reads: picture [output] RGBA float, alpha premultiplied. Writes: an image of 8 bits, or packed
// words of a layout in interface (alpha straight). Grid: one thread a pixel, for P010 one for 2x2,
// 8x8. Precision: f32.
// Source: curves of IEC 61966-2-1, ITU-R BT.709 and SMPTE ST 2084; primaries of BT.709 and BT.2020;
// the ACES curve is the fit by Narkowicz (2015).
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "encode.h"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform texture2D picture;
#ifdef HS_ENCODE_MEMORY
layout(std430, set = 0, binding = 1) writeonly buffer hs_words_block
{
    uint words[];
};
#else
layout(set = 0, binding = 1) uniform writeonly image2D out_image;
#endif
layout(push_constant) uniform hs_push_block
{
    hs_encode_push push;
};

vec3 tone(vec3 c)
{
    if (push.mode.z == HS_ENCODE_TONE_REINHARD) {
        const float y = dot(c, vec3(0.2126, 0.7152, 0.0722));
        return c / (1.0 + y);
    }
    if (push.mode.z == HS_ENCODE_TONE_ACES)
        return c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14);
    return c;
}

vec3 curve(vec3 c)
{
    if (push.mode.y == HS_ENCODE_CURVE_SRGB) {
        c = clamp(c, 0.0, 1.0);
        return mix(1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, 12.92 * c,
                   lessThanEqual(c, vec3(0.0031308)));
    }
    if (push.mode.y == HS_ENCODE_CURVE_BT709) {
        c = clamp(c, 0.0, 1.0);
        return mix(1.099 * pow(c, vec3(0.45)) - 0.099, 4.5 * c, lessThan(c, vec3(0.018)));
    }
    if (push.mode.y == HS_ENCODE_CURVE_PQ) {
        // Rows of the matrix from BT.709 to BT.2020 primaries.
        c = vec3(dot(c, vec3(0.627404, 0.329283, 0.043313)),
                 dot(c, vec3(0.069097, 0.919540, 0.011362)),
                 dot(c, vec3(0.016391, 0.088013, 0.895595)));
        const vec3 p = pow(clamp(c * push.values.y, 0.0, 1.0), vec3(0.1593017578125));
        return pow((0.8359375 + 18.8515625 * p) / (1.0 + 18.6875 * p), vec3(78.84375));
    }
    return clamp(c, 0.0, 1.0);
}

vec3 from_srgb(vec3 c)
{
    c = clamp(c, 0.0, 1.0);
    return mix(pow((c + 0.055) / 1.055, vec3(2.4)), c / 12.92, lessThanEqual(c, vec3(0.04045)));
}

vec4 encoded(ivec2 p)
{
    const vec4 c = texelFetch(picture, min(p, push.size.xy - 1), 0);
    const float a = clamp(c.a, 0.0, 1.0);
    vec3 straight = a > 0.0 ? c.rgb / a : c.rgb;
    if (push.mode.w == HS_ENCODE_FROM_SRGB)
        straight = from_srgb(straight);
    return vec4(curve(tone(max(straight * push.values.x, 0.0))), a);
}

#ifdef HS_ENCODE_MEMORY
uint unorm(float x, float scale)
{
    return uint(clamp(x, 0.0, 1.0) * scale + 0.5);
}

// Luma and colour differences of one pixel, 10 bits of limited range in the upper bits of 16.
uvec3 ycc(vec3 c)
{
    const float kr = push.values.z, kb = push.values.w;
    const float y = kr * c.r + (1.0 - kr - kb) * c.g + kb * c.b;
    const vec2 d = vec2((c.b - y) / (2.0 - 2.0 * kb), (c.r - y) / (2.0 - 2.0 * kr));
    return uvec3(uint(64.5 + 876.0 * y), uvec2(512.5 + 896.0 * d)) << 6;
}

void store_p010(ivec2 block)
{
    const ivec2 p = 2 * block;
    vec3 sum = vec3(0.0);
    for (int y = 0; y < 2; y++) {
        const vec3 a = encoded(p + ivec2(0, y)).rgb, b = encoded(p + ivec2(1, y)).rgb;
        sum += a + b;
        if (p.y + y < push.size.y)
            words[(p.y + y) * push.size.z + block.x] = ycc(a).x | ycc(b).x << 16;
    }
    const uvec3 mean = ycc(0.25 * sum);
    words[push.size.w + block.y * push.size.z + block.x] = mean.y | mean.z << 16;
}
#endif

void main()
{
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy);
#ifdef HS_ENCODE_MEMORY
    if (push.mode.x == HS_ENCODE_P010) {
        if (all(lessThan(2 * p, push.size.xy)))
            store_p010(p);
        return;
    }
#endif
    if (any(greaterThanEqual(p, push.size.xy)))
        return;
    vec4 c = encoded(p);
#ifdef HS_ENCODE_MEMORY
    const int at = p.y * push.size.z + p.x;
    if (push.mode.x == HS_ENCODE_RGBA16) {
        words[2 * p.x + p.y * push.size.z] = unorm(c.r, 65535.0) | unorm(c.g, 65535.0) << 16;
        words[2 * p.x + 1 + p.y * push.size.z] = unorm(c.b, 65535.0) | unorm(c.a, 65535.0) << 16;
    } else if (push.mode.x == HS_ENCODE_RGB10A2) {
        words[at] = unorm(c.r, 1023.0) | unorm(c.g, 1023.0) << 10 | unorm(c.b, 1023.0) << 20 |
                    unorm(c.a, 3.0) << 30;
    } else {
        if (push.mode.x == HS_ENCODE_BGRA8)
            c = c.bgra;
        words[at] = unorm(c.r, 255.0) | unorm(c.g, 255.0) << 8 | unorm(c.b, 255.0) << 16 |
                    unorm(c.a, 255.0) << 24;
    }
#else
    imageStore(out_image, p, c);
#endif
}
