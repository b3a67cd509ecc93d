// SPDX-License-Identifier: MIT
// The sky: gradient, glow, clouds, stars and sun disc, or an environment picture.
#ifndef SCENE_SKY_GLSL
#define SCENE_SKY_GLSL
#include "noise.glsl"

#define SKY_FLAGS TABLE.w

vec3 environment_texel(ivec2 p, ivec2 size)
{
    p = ivec2((p.x + size.x) % size.x, clamp(p.y, 0, size.y - 1));
    return data[ENV.x + uint(p.y * size.x + p.x)].rgb;
}

// Equirectangular: u from -180 to 180 degrees around z starting behind +x, v downwards.
vec3 environment(vec3 d)
{
    ivec2 size = ivec2(ENV.yz);
    vec2 p = vec2(0.5 - atan(d.y, d.x) / (2.0 * PI), acos(clamp(d.z, -1.0, 1.0)) / PI) * vec2(size);
    p -= 0.5;
    ivec2 i = ivec2(floor(p));
    vec2 f = p - vec2(i);
    vec3 top = mix(environment_texel(i, size), environment_texel(i + ivec2(1, 0), size), f.x);
    vec3 low = mix(environment_texel(i + ivec2(0, 1), size),
                   environment_texel(i + ivec2(1, 1), size), f.x);
    return mix(top, low, f.y);
}

bool in_sun(vec3 d)
{
    return dot(d, SUN.xyz) > SUN.w && luma(SUN_RADIANCE) > 0.0;
}

// Without the sun's disc.
vec3 sky_radiance(vec3 d)
{
    if ((SKY_FLAGS & SCENE_FLAG_ENVIRONMENT) != 0u)
        return environment(d);
    float h = d.z, glow = max(dot(d, SUN.xyz), 0.0);
    vec3 horizon = SKY_HORIZON.rgb, c;
    if (h > 0.0)
        c = mix(horizon, SKY_ZENITH.rgb, pow(h, SKY_ZENITH.w));
    else
        c = mix(horizon, SKY_BELOW.rgb, clamp(-h * 6.0, 0.0, 1.0));
    vec3 warm = SUN_RADIANCE / max(luma(SUN_RADIANCE), 1e-6) * luma(horizon);
    float g2 = glow * glow, g8 = g2 * g2 * g2 * g2, g64 = g8 * g8 * g8 * g8;
    c += warm * SKY_HORIZON.w * (0.35 * g8 + 1.5 * g64 * g64 * g64);
    vec4 cloud = CLOUD;
    if (cloud.x > 0.0 && h > 0.01) {
        vec2 p = d.xy / (h + 0.12) * cloud.y;
        uint seed = uint(cloud.w);
        float n = fbm(vec3(p, 0.3), seed, 5), edge = 1.0 - cloud.x;
        float cover = smoothstep(edge, edge + 0.28, n) * smoothstep(0.01, 0.14, h);
        float body = smoothstep(edge, edge + 0.6, n);
        vec3 lit = mix(vec3(luma(horizon)), warm, 0.35) * cloud.z * (1.15 - 0.75 * body);
        lit += warm * g8 * 0.5 * cloud.z * (1.0 - body);
        c = mix(c, lit, cover * 0.95);
    }
    if ((SKY_FLAGS & SCENE_FLAG_STARS) != 0u && h > 0.0) {
        vec3 q = d * 90.0;
        ivec3 i = ivec3(floor(q));
        uint star = hash3(i, 77u);
        if ((star & 63u) == 0u && length(fract(q) - 0.5) < 0.09)
            c += vec3(0.4) * unit(pcg(star));
    }
    return c;
}
#endif
