// SPDX-License-Identifier: MIT
// Value noise with its gradient, and sums of octaves of it.
#ifndef SCENE_NOISE_GLSL
#define SCENE_NOISE_GLSL
#include "common.glsl"

float lattice(ivec3 p, uint seed)
{
    return unit(hash3(p, seed));
}

// x: value in 0..1; yzw: gradient.
vec4 noise_gradient(vec3 p, uint seed)
{
    vec3 base = floor(p), f = p - base;
    ivec3 i = ivec3(base);
    vec3 w = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    vec3 dw = 30.0 * f * f * (f * (f - 2.0) + 1.0);
    float a = lattice(i, seed), b = lattice(i + ivec3(1, 0, 0), seed);
    float c = lattice(i + ivec3(0, 1, 0), seed), d = lattice(i + ivec3(1, 1, 0), seed);
    float e = lattice(i + ivec3(0, 0, 1), seed), g = lattice(i + ivec3(1, 0, 1), seed);
    float h = lattice(i + ivec3(0, 1, 1), seed), k = lattice(i + ivec3(1, 1, 1), seed);
    vec4 low = vec4(a, b - a, c - a, a - b - c + d), high = vec4(e, g - e, h - e, e - g - h + k);
    vec4 n = mix(low, high, w.z), dz = high - low;
    float value = n.x + n.y * w.x + n.z * w.y + n.w * w.x * w.y;
    return vec4(value, vec3(n.y + n.w * w.y, n.z + n.w * w.x,
                            dz.x + dz.y * w.x + dz.z * w.y + dz.w * w.x * w.y) * dw);
}

float noise3(vec3 p, uint seed)
{
    return noise_gradient(p, seed).x;
}

float fbm(vec3 p, uint seed, int octaves)
{
    float total = 0.0, weight = 0.5, norm = 0.0;
    for (int i = 0; i < octaves; i++) {
        total += weight * noise3(p, seed + uint(i));
        norm += weight;
        weight *= 0.5;
        p = p.yzx * 2.03 + 17.3;
    }
    return total / norm;
}
#endif
