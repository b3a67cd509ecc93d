// SPDX-License-Identifier: MIT
// Surfaces as the passes of `atrous` see them. Reference: engine/ref/ref_guides.h.
#include "guides.h"

HS_INPUT(prep_depth, HS_BINDING_PREP_DEPTH);
HS_GUIDE(surfaces, HS_BINDING_SURFACE);
HS_GUIDE(traits, HS_BINDING_TRAITS);

// Inverse depth and what it gains in a pixel, which is constant on a plane; unit normal or 0,
// roughness; specular share (below 0: background), hit distance.
struct surface {
    float inverse;
    vec2 slope;
    vec4 normal;
    vec2 trait;
};

float inverse_depth(ivec2 p)
{
    const float d = texelFetch(prep_depth, clamp(p, ivec2(0), params.size.xy - 1), 0).r;
    return d < HS_DEPTH_FAR ? 1.0 / d : 0.0;
}

// Of the steps to both sides the smaller one, which stays on the surface at its edges.
float smaller(float a, float b)
{
    return abs(a) < abs(b) ? a : b;
}

surface read_surface(ivec2 p)
{
    surface s;
    s.inverse = inverse_depth(p);
    s.slope = vec2(smaller(inverse_depth(p + ivec2(1, 0)) - s.inverse,
                           s.inverse - inverse_depth(p - ivec2(1, 0))),
                   smaller(inverse_depth(p + ivec2(0, 1)) - s.inverse,
                           s.inverse - inverse_depth(p - ivec2(0, 1))));
    s.normal = texelFetch(surfaces, p, 0);
    s.trait = texelFetch(traits, p, 0).rg;
    return s;
}

bool is_background(vec2 trait)
{
    return trait.x < 0.0;
}

// How much the pixel q, `away` from the surface's own, lies on the same surface: 0 to 1.
float edge_weight(surface s, ivec2 q, vec2 away)
{
    const vec2 trait = texelFetch(traits, q, 0).rg;
    if (is_background(trait))
        return 0.0;
    const vec4 normal = texelFetch(surfaces, q, 0);
    const float off = abs(inverse_depth(q) - s.inverse - dot(s.slope, away));
    const float slack =
        HS_ATROUS_DEPTH * s.inverse + HS_ATROUS_SLOPE * dot(abs(s.slope), abs(away));
    float power = off / max(slack, 1e-12);
    const bool known = dot(s.normal.xyz, s.normal.xyz) > 0.25;
    if (known != (dot(normal.xyz, normal.xyz) > 0.25))
        return 0.0;
    float cosine = 1.0;
    if (known)
        cosine = clamp(dot(s.normal.xyz, normal.xyz), 0.0, 1.0);
    power += HS_ATROUS_ROUGHNESS * abs(s.normal.w - normal.w);
    const float mirror = max(s.trait.x, 0.0) * (1.0 - s.normal.w);
    power += HS_ATROUS_HIT * mirror * abs(s.trait.y - trait.y) / max(s.trait.y + trait.y, 1e-3);
    return exp(-power) * pow(cosine, HS_ATROUS_NORMAL_POWER);
}
