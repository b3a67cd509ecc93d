#version 450
// SPDX-License-Identifier: MIT
// Guides in canonical form, and the colour divided by what the surface reflects, so that textures
// do not take part in filtering.
// Reads: prepared colour and depth, diffuse and specular albedo, normal, roughness, hit distance
// [render]; each guide may be absent.
// Writes at render size: signal RGBA16F (rgb), albedo RGBA16F (what divided it; alpha of the
// colour), surface RGBA16F (unit normal or 0; perceptual roughness), traits RG16F (specular share
// of the reflectance, or background; hit distance).
// Grid: one thread a render pixel, 8x8. Precision: f32.
// Reference: hs_ref_demodulate() in engine/ref/ref_demodulate.c.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "guides.h"
#include "taau.h"

layout(local_size_x = 8, local_size_y = 8) in;
HS_INPUT(prep_colour, HS_BINDING_PREP_COLOUR);
HS_INPUT(prep_depth, HS_BINDING_PREP_DEPTH);
HS_GUIDE(diffuse, HS_BINDING_DIFFUSE);
HS_GUIDE(specular, HS_BINDING_SPECULAR);
HS_GUIDE(normals, HS_BINDING_NORMAL);
HS_GUIDE(roughnesses, HS_BINDING_ROUGHNESS);
HS_GUIDE(hits, HS_BINDING_HIT);
HS_GUIDE_OUT(out_signal, HS_BINDING_OUT_SIGNAL_A);
HS_GUIDE_OUT(out_albedo, HS_BINDING_OUT_ALBEDO);
HS_GUIDE_OUT(out_traits, HS_BINDING_OUT_TRAITS);
HS_GUIDE_OUT(out_surface, HS_BINDING_OUT_SURFACE);

float clean(float x, float top)
{
    return finite(x) ? clamp(x, 0.0, top) : 0.0;
}

vec3 clean_albedo(vec3 c)
{
    return vec3(clean(c.r, HS_ATROUS_ALBEDO_MAX), clean(c.g, HS_ATROUS_ALBEDO_MAX),
                clean(c.b, HS_ATROUS_ALBEDO_MAX));
}

vec3 to_world(vec3 v)
{
    return vec3(dot(params.view[0].xyz, v), dot(params.view[1].xyz, v),
                dot(params.view[2].xyz, v));
}

// Unit vector from the surface to the camera, view space.
vec3 toward_eye(ivec2 p)
{
    const vec2 s = (vec2(p) + 0.5 + params.jitter.xy) / vec2(params.size.xy);
    const vec2 ndc = vec2(2.0 * s.x - 1.0, 1.0 - 2.0 * s.y);
    return normalize(vec3(-(ndc + params.view[3].zw) * params.view[3].xy, 1.0));
}

// Normal as stored, in its own space; 0: none.
vec3 read_normal(ivec2 p, out float packed)
{
    packed = 1.0;
    if (!has(HS_FRAME_NORMAL))
        return vec3(0.0);
    const vec4 raw = texelFetch(normals, p + params.origin_guide2.xy, 0);
    packed = raw.w;
    if (!finite(raw.x) || !finite(raw.y) || !finite(raw.z) || raw.xyz == vec3(0.0))
        return vec3(0.0);
    const vec3 n = has(HS_FRAME_NORMAL_UNSIGNED) ? 2.0 * raw.xyz - 1.0 : raw.xyz;
    const float l = length(n);
    return l > HS_ATROUS_NORMAL_MIN ? n / l : vec3(0.0);
}

float read_roughness(ivec2 p, float packed)
{
    float r = 1.0;
    if (has(HS_FRAME_ROUGHNESS))
        r = texelFetch(roughnesses, p + params.origin_guide2.zw, 0).r;
    else if (has(HS_FRAME_NORMAL_PACKED))
        r = packed;
    else
        return 1.0;
    r = clean(r, 1.0);
    if (has(HS_FRAME_ROUGHNESS_ALPHA))
        return sqrt(r);
    return has(HS_FRAME_ROUGHNESS_SMOOTH) ? 1.0 - r : r;
}

float read_hit(ivec2 p)
{
    if (!has(HS_FRAME_HIT))
        return 0.0;
    const float h = texelFetch(hits, p + params.origin_guide3.xy, 0).r;
    // Not a number fails both; infinity is a ray that left the scene.
    return h >= HS_TAAU_MAX ? HS_TAAU_MAX : h > 0.0 ? h : 0.0;
}

void main()
{
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, params.size.xy)))
        return;
    const vec4 colour = texelFetch(prep_colour, p, 0);
    const bool far = has(HS_FRAME_DEPTH) && texelFetch(prep_depth, p, 0).r >= HS_DEPTH_FAR;
    float packed;
    vec3 normal = read_normal(p, packed);
    const float roughness = read_roughness(p, packed);
    const vec3 eye = toward_eye(p);
    float facing = 1.0;
    if (has(HS_FRAME_NORMAL_VIEW) && has(HS_FRAME_VIEW)) {
        facing = dot(normal, eye);
        normal = to_world(normal);
    } else if (has(HS_FRAME_VIEW)) {
        facing = dot(normal, to_world(eye));
    }
    facing = normal == vec3(0.0) ? 1.0 : clamp(abs(facing), 0.0, 1.0);

    vec3 d = vec3(0.0), s = vec3(0.0);
    if (has(HS_FRAME_DIFFUSE))
        d = clean_albedo(texelFetch(diffuse, p + params.origin_guide.xy, 0).rgb);
    if (has(HS_FRAME_SPECULAR))
        s = clean_albedo(texelFetch(specular, p + params.origin_guide.zw, 0).rgb);
    if (has(HS_FRAME_SPECULAR_F0)) {
        // Fresnel's rise towards grazing angles, less of it on rough surfaces.
        const float g = 1.0 - facing, g2 = g * g;
        s += max(vec3(1.0 - roughness) - s, 0.0) * (g2 * g2 * g);
    }
    const vec3 sum = d + s;
    const bool reflects = max(max(sum.r, sum.g), sum.b) >= HS_ATROUS_BLACK && !far;
    // A display's curve does not divide.
    const bool divides = reflects && !has(HS_FRAME_LDR);
    const vec3 albedo = divides ? max(sum, HS_ATROUS_FLOOR) : vec3(1.0);
    const float share = reflects ? luminance(s) / luminance(sum) : 0.0;
    imageStore(out_signal, p, vec4(min(colour.rgb / albedo, HS_TAAU_MAX), 0.0));
    imageStore(out_albedo, p, vec4(albedo, colour.a));
    imageStore(out_traits, p, vec4(far ? HS_ATROUS_BACKGROUND : share, read_hit(p), 0.0, 0.0));
    imageStore(out_surface, p, vec4(normal, roughness));
}
