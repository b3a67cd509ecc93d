// SPDX-License-Identifier: MIT
// Levels of a noisy frame as taau-ray sees them: its colour D behind all passes of the filter, M
// behind the first of them, A before any; and what the passes know of a pixel.
// Reference: engine/ref/ref_levels.c.
#include "guides.h"
HS_GUIDE(middle, HS_BINDING_MIDDLE);
HS_GUIDE(accumulated, HS_BINDING_ACCUMULATED);
HS_GUIDE(albedo, HS_BINDING_ALBEDO);

// A signal as straight curve of its colour, with the scale s of D (taau.glsl).
vec3 encode_level(vec3 signal, vec3 by, float s)
{
    if (has(HS_FRAME_LDR))
        return min(signal * by, 1.0);
    const vec3 c = min(signal * by, HS_TAAU_MAX);
    return c * inversesqrt(max(c * (s + c), 1e-30));
}

#ifdef HS_LEVEL_TILES
// M - D and A - D of a workgroup's samples.
shared vec4 levels_low[SAMPLES_X * SAMPLES_Y];
shared vec2 levels_high[SAMPLES_X * SAMPLES_Y];
// What the head adds of them to the pixel's samples.
vec2 level_shares = vec2(0.0);

void load_levels(int i, ivec2 p, vec3 straight, float s)
{
    const vec3 by = texelFetch(albedo, p, 0).rgb;
    const vec3 m = encode_level(texelFetch(middle, p, 0).rgb, by, s) - straight;
    const vec3 a = encode_level(texelFetch(accumulated, p, 0).rgb, by, s) - straight;
    levels_low[i] = vec4(m, a.r);
    levels_high[i] = a.gb;
}

vec3 mix_levels(int i, vec3 straight)
{
    const vec4 low = levels_low[i];
    return clamp(straight + level_shares.x * low.rgb + level_shares.y * vec3(low.a, levels_high[i]),
                 0.0, has(HS_FRAME_LDR) ? 1.0 : HS_TAAU_RANGE);
}
#endif
