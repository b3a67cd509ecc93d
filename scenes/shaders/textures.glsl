// SPDX-License-Identifier: MIT
// Procedural textures: from a place on a surface to a blend of two colours, and alpha cut-outs.
#ifndef SCENE_TEXTURES_GLSL
#define SCENE_TEXTURES_GLSL
#include "glyphs.glsl"
#include "noise.glsl"

#define MATERIAL_A(m) data[m]
#define MATERIAL_B(m) data[m + 1u]
#define MATERIAL_EMISSION(m) data[m + 2u]
#define MATERIAL_PATTERN(m) data[m + 3u]
#define MATERIAL_DETAIL(m) data[m + 4u]
#define MATERIAL_MORE(m) data[m + 5u]
#define MATERIAL_SCROLL(m) data[m + 6u]
#define MATERIAL_KIND(m) udata[m + 7u]

uint material_at(uint index)
{
    return TABLE.z + index * SCENE_UNITS_MATERIAL;
}

vec2 turn(vec2 p, float angle)
{
    float s = sin(angle), c = cos(angle);
    return vec2(c * p.x + s * p.y, c * p.y - s * p.x);
}

float cell(vec2 p, uint seed)
{
    return unit(hash3(ivec3(floor(p), 0), seed));
}

// Lines of letters; the unit is one letter cell.
float text_at(vec2 p, float fill, uint seed)
{
    vec2 c = floor(p), f = p - c;
    uint h = hash3(ivec3(c, 3), seed), line = hash3(ivec3(0, int(c.y), 5), seed);
    float length_letters = 4.0 + 20.0 * unit(line);
    if (mod(c.x, 26.0) > length_letters || unit(h) > fill)
        return 0.0;
    vec2 g = (f - vec2(0.08, 0.2)) / vec2(0.84, 0.6) * 5.0;
    if (any(lessThan(g, vec2(0.0))) || any(greaterThanEqual(g, vec2(5.0))))
        return 0.0;
    uint bit = uint(g.y) * 5u + uint(g.x);
    return float((GLYPHS[(h >> 3) % 36u] >> bit) & 1u);
}

// What one evaluation of a texture gives.
struct Pattern {
    float blend; // 0: colour a, 1: colour b
    float shade; // multiplies the colour
    float gloss; // 0..1: glass-like part
    float light; // multiplies emission
};

Pattern pattern_lines(uint kind, vec2 q, float amount, uint seed)
{
    Pattern o = Pattern(0.0, 1.0, 0.0, 1.0);
    if (kind == SCENE_TEX_CHECKER) {
        o.blend = mod(floor(q.x) + floor(q.y), 2.0);
    } else if (kind == SCENE_TEX_STRIPES) {
        o.blend = step(amount, fract(q.x));
    } else if (kind == SCENE_TEX_BRICKS || kind == SCENE_TEX_SPINES) {
        bool brick = kind == SCENE_TEX_BRICKS;
        vec2 r = brick ? vec2(q.x * 0.5, q.y) : q;
        float row = floor(r.y);
        r.x += brick ? 0.5 * mod(row, 2.0) : 0.0;
        vec2 f = fract(r), m = brick ? vec2(0.04, 0.09) : vec2(0.06, 0.04);
        bool joint = any(lessThan(f, m)) || any(greaterThan(f, 1.0 - m));
        float c = cell(vec2(floor(r.x), row), seed);
        o.blend = joint ? 1.0 : brick ? 0.0 : 0.85 * step(0.5, fract(c * 7.0));
        o.shade = joint ? 1.0 : 0.7 + 0.6 * c;
        if (!brick && f.y > 0.25 + 0.4 * c && f.y < 0.35 + 0.4 * c)
            o.shade *= 1.6;
    } else if (kind == SCENE_TEX_TILES) {
        vec2 f = fract(q);
        bool joint = any(lessThan(f, vec2(0.035))) || any(greaterThan(f, vec2(0.965)));
        o.blend = joint ? 1.0 : 0.0;
        o.shade = joint ? 1.0 : 0.9 + 0.2 * amount * (cell(q, seed) - 0.5) * 2.0;
        o.gloss = joint ? 0.0 : 0.3;
    } else if (kind == SCENE_TEX_DOTS) {
        vec2 f = fract(q) - 0.5;
        o.blend = step(length(f), 0.15 + 0.3 * amount);
    } else if (kind == SCENE_TEX_PLAID) {
        vec2 f = fract(q);
        float x = step(0.5, f.x) + 0.5 * step(abs(f.x - 0.25), 0.05);
        float y = step(0.5, f.y) + 0.5 * step(abs(f.y - 0.75), 0.05);
        o.blend = clamp(0.5 * (x + y), 0.0, 1.0);
    } else if (kind == SCENE_TEX_FACADE) {
        vec2 c = floor(q), f = fract(q);
        float h = cell(c, seed), w = 0.2 + 0.12 * amount;
        bool window = abs(f.x - 0.5) < w && abs(f.y - 0.55) < 0.3;
        bool frame = abs(f.x - 0.5) > w - 0.03 || abs(f.y - 0.55) > 0.27 ||
                     abs(f.x - 0.5) < 0.012;
        bool sill = abs(f.x - 0.5) < w + 0.04 && abs(f.y - 0.23) < 0.025;
        o.gloss = window && !frame ? 1.0 : 0.0;
        o.blend = window ? 1.0 : 0.0;
        o.shade = window ? (frame ? 3.0 : 0.5 + h) : sill ? 1.3 : 1.0;
        o.light = window && !frame && h > 0.72 ? 0.3 + 0.7 * fract(h * 53.0) : 0.0;
    } else if (kind == SCENE_TEX_ROAD) {
        // v = 0 is the middle of the road; q is in metres
        float middle = abs(q.y), dash = fract(q.x / 6.0);
        bool line = (middle < 0.08 && dash < 0.5) || abs(middle - amount * 10.0) < 0.07;
        float worn = fbm(vec3(q * 3.0, 0.0), seed, 2);
        o.blend = line && worn > 0.35 ? 1.0 : 0.0;
        o.shade = o.blend > 0.0 ? 1.0 : 0.8 + 0.4 * noise3(vec3(q * 14.0, 1.0), seed);
    } else if (kind == SCENE_TEX_PLANKS) {
        float row = floor(q.y);
        float x = q.x * 0.12 + unit(hash3(ivec3(int(row), 0, 1), seed)) * 7.0;
        vec2 f = vec2(fract(x), fract(q.y));
        float c = cell(vec2(floor(x), row), seed);
        float grain = fbm(vec3(q.x * 0.7, q.y * 6.0, c * 90.0), seed, 3);
        bool joint = f.y < 0.03 || f.x < 0.004;
        o.blend = joint ? 1.0 : clamp(grain * 1.4 - 0.3 + 0.4 * (c - 0.5), 0.0, 1.0);
        o.shade = joint ? 0.5 : 0.8 + 0.4 * c;
    } else if (kind == SCENE_TEX_PICTURE) {
        float n = fbm(vec3(q * 1.3, 0.5), seed, 3), s = q.y - 0.4 * n;
        float disc = length(q - vec2(0.4 * amount, 0.25)) - 0.35;
        o.blend = smoothstep(-0.5, 0.6, s + 0.5 * sin(q.x * 3.0 + amount * 6.0));
        if (disc < 0.0)
            o.blend = 1.0 - o.blend;
        o.shade = 0.6 + 0.8 * n + (abs(disc) < 0.02 ? 0.4 : 0.0);
    }
    return o;
}

Pattern pattern_at(uint m, vec2 uv, vec3 rest)
{
    vec4 pattern = MATERIAL_PATTERN(m), scroll = MATERIAL_SCROLL(m);
    uint kind = MATERIAL_KIND(m).x, seed = MATERIAL_KIND(m).w;
    vec2 q = turn(uv + scroll.xy * TIME, pattern.y) * pattern.x;
    vec3 solid = (rest + vec3(scroll.xy * TIME, 0.0)) * pattern.x;
    Pattern o = Pattern(0.0, 1.0, 0.0, 1.0);
    if (kind == SCENE_TEX_PLAIN)
        return o;
    if (kind == SCENE_TEX_NOISE) {
        float n = fbm(solid, seed, 4);
        o.blend = smoothstep(0.5 - 0.3 * pattern.z, 0.5 + 0.3 * pattern.z, n);
    } else if (kind == SCENE_TEX_WOOD) {
        float n = fbm(solid * vec3(1.0, 1.0, 0.15), seed, 3);
        float rings = fract(length(solid.xy) * 3.0 + n * 4.0);
        o.blend = rings * rings;
        o.shade = 0.85 + 0.3 * noise3(solid * vec3(20.0, 20.0, 1.5), seed);
    } else if (kind == SCENE_TEX_MARBLE) {
        float n = fbm(solid, seed, 5);
        float vein = abs(sin(solid.x * 1.7 + solid.z + n * 9.0));
        o.blend = pow(1.0 - vein, 6.0 - 4.0 * pattern.z);
    } else if (kind == SCENE_TEX_GROUND) {
        float n = fbm(solid * 0.25, seed, 3), fine = fbm(solid * 4.0, seed + 9u, 3);
        o.blend = smoothstep(0.4, 0.65, n * 0.8 + fine * 0.3);
        o.shade = 0.75 + 0.5 * fine;
    } else if (kind == SCENE_TEX_TEXT) {
        o.blend = text_at(vec2(q.x, -q.y), 0.82, seed);
    } else if (kind == SCENE_TEX_ZONE) {
        o.blend = 0.5 + 0.5 * cos(PI * dot(q, q));
    } else {
        o = pattern_lines(kind, q, pattern.z, seed);
    }
    return o;
}

// false: there is a hole here
bool cut_solid(uint m, vec2 uv)
{
    uint kind = MATERIAL_KIND(m).y, seed = MATERIAL_KIND(m).w;
    if (kind == SCENE_CUT_NONE)
        return true;
    vec4 more = MATERIAL_MORE(m);
    vec2 q = uv * more.y;
    if (kind == SCENE_CUT_SLATS)
        return fract(q.y) < more.z;
    if (kind == SCENE_CUT_MESH) {
        vec2 r = fract(vec2(q.x + q.y, q.x - q.y));
        return any(lessThan(r, vec2(more.z)));
    }
    if (kind == SCENE_CUT_HOLES)
        return length(fract(q) - 0.5) > more.z * 0.5;
    if (kind == SCENE_CUT_TEXT)
        return text_at(vec2(q.x, -q.y), 0.9, seed) > 0.5;
    // Leaves: one almond in each cell of two grids.
    for (int layer = 0; layer < 2; layer++) {
        vec2 p = q + float(layer) * vec2(0.43, 0.57), c = floor(p);
        uint h = hash3(ivec3(c, layer), seed);
        if (unit(h) > more.z)
            continue;
        vec2 f = turn(p - c - 0.5, unit(pcg(h)) * 6.283);
        if (abs(f.y) < 0.22 * (1.0 - 4.6 * f.x * f.x))
            return true;
    }
    return false;
}
#endif
