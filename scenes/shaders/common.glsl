// SPDX-License-Identifier: MIT
// Buffers, loads, hashing and random numbers.
#ifndef SCENE_COMMON_GLSL
#define SCENE_COMMON_GLSL
#include "interface.h"

layout(local_size_x = SCENE_TILE, local_size_y = SCENE_TILE) in;

layout(std430, set = 0, binding = SCENE_BINDING_DATA) readonly buffer DataF {
    vec4 data[];
};
layout(std430, set = 0, binding = SCENE_BINDING_DATA) readonly buffer DataU {
    uvec4 udata[];
};
layout(std430, set = 0, binding = SCENE_BINDING_SUM) buffer Sum {
    vec4 sum[];
};
// Input and reference are two programs: what one does not write, the other does not declare, so
// that both may run at the same time in the eyes of synchronisation validation, too.
#ifdef SCENE_REFERENCE
layout(set = 0, binding = SCENE_BINDING_PLANES + SCENE_PLANE_REFERENCE) writeonly uniform image2D
    plane_reference;
#else
layout(set = 0, binding = SCENE_BINDING_PLANES + SCENE_PLANE_COLOUR) writeonly uniform image2D
    plane_colour;
layout(set = 0, binding = SCENE_BINDING_PLANES + SCENE_PLANE_DEPTH) writeonly uniform image2D
    plane_depth;
layout(set = 0, binding = SCENE_BINDING_PLANES + SCENE_PLANE_MOTION) writeonly uniform image2D
    plane_motion;
layout(set = 0, binding = SCENE_BINDING_PLANES + SCENE_PLANE_NORMAL) writeonly uniform image2D
    plane_normal;
layout(set = 0, binding = SCENE_BINDING_PLANES + SCENE_PLANE_ROUGHNESS) writeonly uniform image2D
    plane_roughness;
layout(set = 0, binding = SCENE_BINDING_PLANES + SCENE_PLANE_DIFFUSE) writeonly uniform image2D
    plane_diffuse;
layout(set = 0, binding = SCENE_BINDING_PLANES + SCENE_PLANE_SPECULAR) writeonly uniform image2D
    plane_specular;
layout(set = 0, binding = SCENE_BINDING_PLANES + SCENE_PLANE_HIT_DISTANCE) writeonly uniform image2D
    plane_hit_distance;
layout(set = 0, binding = SCENE_BINDING_PLANES + SCENE_PLANE_ALPHA) writeonly uniform image2D
    plane_alpha;
#endif

layout(push_constant) uniform Push {
    scene_push push;
};

const float PI = 3.14159265;
const float FAR = 1e30;

// The frame's values, by field: a copy of the whole struct would live in registers.
#define FRAME(field_unit) data[push.frame + field_unit]
#define NOW_EYE FRAME(0).xyz
#define NOW_RIGHT FRAME(1)
#define NOW_UP FRAME(2)
#define NOW_FORWARD FRAME(3).xyz
#define OLD_EYE FRAME(4).xyz
#define OLD_RIGHT FRAME(5)
#define OLD_UP FRAME(6)
#define OLD_FORWARD FRAME(7).xyz
#define SKY_ZENITH FRAME(8)
#define SKY_HORIZON FRAME(9)
#define SKY_BELOW FRAME(10)
#define SUN FRAME(11)
#define SUN_RADIANCE FRAME(12).rgb
#define CLOUD FRAME(13)
#define AMBIENT_UP FRAME(14).rgb
#define AMBIENT_DOWN FRAME(15).rgb
#define FOG FRAME(16)
#define TIME FRAME(17).x
#define FIREFLY FRAME(17).yz
#define REACH FRAME(17).w
#define ROOT udata[push.frame + 18]
#define TABLE udata[push.frame + 19]
#define ENV udata[push.frame + 20]

uint pcg(uint x)
{
    x = x * 747796405u + 2891336453u;
    x = ((x >> ((x >> 28) + 4u)) ^ x) * 277803737u;
    return (x >> 22) ^ x;
}

uint hash2(uint a, uint b)
{
    return pcg(a ^ pcg(b + 0x9e3779b9u));
}

uint hash3(ivec3 p, uint seed)
{
    uint h = seed + uint(p.x) * 0x8da6b343u + uint(p.y) * 0xd8163841u + uint(p.z) * 0xcb1ab31fu;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return h ^ (h >> 15);
}

float unit(uint h)
{
    return float(h >> 8) * (1.0 / 16777216.0);
}

uint rng_state;

#ifdef SCENE_EVEN_SAMPLES
// The samples of a pixel spread evenly over what the first bounces draw, one or two numbers at a
// time: Sobol points in an order of their own for each draw, scrambled.
// Source: Burley 2020, Practical Hash-based Owen Scrambling.
const uint EVEN_DRAWS = 8u;
uint even_seed, even_index, even_draw;

uint scrambled(uint reversed, uint seed)
{
    uint x = reversed;
    x ^= x * 0x3d20adeau;
    x += seed;
    x *= (seed >> 16) | 1u;
    x ^= x * 0x05526c56u;
    x ^= x * 0x53a22864u;
    return bitfieldReverse(x);
}

void even_begin(uint pixel, uint index)
{
    even_seed = pixel;
    even_index = index;
    even_draw = 0u;
}

uvec2 even_point()
{
    uint seed = hash2(even_seed, ++even_draw), index, second = 0u;
    index = scrambled(bitfieldReverse(even_index), seed);
    for (uint k = index, v = 0x80000000u; k != 0u; k >>= 1, v ^= v >> 1)
        second ^= (k & 1u) * v;
    uint next = pcg(seed);
    return uvec2(scrambled(index, next), scrambled(bitfieldReverse(second), pcg(next)));
}
#endif

float next_random()
{
#ifdef SCENE_EVEN_SAMPLES
    if (even_draw < EVEN_DRAWS)
        return unit(even_point().x);
#endif
    rng_state = rng_state * 747796405u + 2891336453u;
    uint x = ((rng_state >> ((rng_state >> 28) + 4u)) ^ rng_state) * 277803737u;
    return unit((x >> 22) ^ x);
}

vec2 next_random2()
{
#ifdef SCENE_EVEN_SAMPLES
    if (even_draw < EVEN_DRAWS) {
        uvec2 even = even_point();
        return vec2(unit(even.x), unit(even.y));
    }
#endif
    float x = next_random();
    return vec2(x, next_random());
}

vec3 rows_point(vec4 r0, vec4 r1, vec4 r2, vec3 p)
{
    vec4 q = vec4(p, 1.0);
    return vec3(dot(r0, q), dot(r1, q), dot(r2, q));
}

vec3 rows_vector(vec4 r0, vec4 r1, vec4 r2, vec3 v)
{
    return vec3(dot(r0.xyz, v), dot(r1.xyz, v), dot(r2.xyz, v));
}

mat3 basis(vec3 n)
{
    float s = n.z >= 0.0 ? 1.0 : -1.0, a = -1.0 / (s + n.z), b = n.x * n.y * a;
    return mat3(vec3(1.0 + s * n.x * n.x * a, s * b, -s * n.x),
                vec3(b, s + n.y * n.y * a, -n.y), n);
}

float luma(vec3 c)
{
    return dot(c, vec3(0.2126, 0.7152, 0.0722));
}
#endif
