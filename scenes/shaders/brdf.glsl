// SPDX-License-Identifier: MIT
// Lambert + GGX with Smith masking (Walter 2007, Heitz 2018), and albedos for the guides.
#ifndef SCENE_BRDF_GLSL
#define SCENE_BRDF_GLSL
#include "surface.glsl"

const float MIRROR_ALPHA = 0.002; // below it the lobe counts as a perfect mirror
const float THIN_THROUGH = 0.4;   // share of a thin surface's diffuse light that passes through

vec3 surface_f0(Surface s)
{
    return mix(vec3(s.f0), s.albedo, s.metallic);
}

vec3 surface_diffuse(Surface s)
{
    return s.albedo * (1.0 - s.metallic);
}

float surface_alpha(Surface s)
{
    return s.roughness * s.roughness;
}

vec3 fresnel(vec3 f0, float cosine)
{
    float k = clamp(1.0 - cosine, 0.0, 1.0), k2 = k * k;
    return f0 + (1.0 - f0) * (k2 * k2 * k);
}

float smith_g1(float cosine, float alpha)
{
    float a2 = alpha * alpha;
    return 2.0 * cosine / (cosine + sqrt(a2 + (1.0 - a2) * cosine * cosine));
}

// GGX distribution of a half vector in the frame of the normal.
float ggx_d(vec3 h, float alpha)
{
    float e = dot(h.xy, h.xy) / (alpha * alpha) + h.z * h.z;
    return 1.0 / (PI * alpha * alpha * e * e);
}

// Hemispherical reflectance of the specular lobe: the fit of Karis 2014.
vec3 directional_albedo(vec3 f0, float roughness, float cosine)
{
    vec4 r = roughness * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    float a = min(r.x * r.x, exp2(-9.28 * cosine)) * r.x + r.y;
    vec2 ab = vec2(-1.04, 1.04) * a + r.zw;
    return clamp(f0 * ab.x + ab.y, 0.0, 1.0);
}

// BRDF times cosine for a light direction; v and l in the frame of the normal.
vec3 evaluate(Surface s, vec3 v, vec3 l)
{
    vec3 diffuse = surface_diffuse(s) / PI;
    bool thin = (s.flags & SCENE_MATERIAL_THIN) != 0u;
    if (l.z <= 0.0)
        return thin ? diffuse * THIN_THROUGH * -l.z : vec3(0.0);
    float alpha = surface_alpha(s);
    vec3 h = normalize(v + l), f = fresnel(surface_f0(s), dot(v, h));
    vec3 result = diffuse * (thin ? 1.0 - THIN_THROUGH : 1.0) * (1.0 - f) * l.z;
    if (alpha < MIRROR_ALPHA)
        return result;
    float vz = max(v.z, 1e-4);
    float g = smith_g1(vz, alpha) * smith_g1(l.z, alpha);
    return result + f * (ggx_d(h, alpha) * g / (4.0 * vz));
}

// How often `sample_direction` takes the specular lobe.
float specular_chance(Surface s, float vz)
{
    float spec = luma(fresnel(surface_f0(s), vz)), diff = luma(surface_diffuse(s)) * (1.0 - spec);
    return clamp(spec / max(spec + diff, 1e-6), diff > 0.0 ? 0.1 : 1.0, diff > 0.0 ? 0.9 : 1.0);
}

float direction_pdf(Surface s, vec3 v, vec3 l)
{
    bool thin = (s.flags & SCENE_MATERIAL_THIN) != 0u;
    float chance = specular_chance(s, v.z), alpha = surface_alpha(s);
    float lambert = abs(l.z) / PI *
                    (thin ? (l.z > 0.0 ? 1.0 - THIN_THROUGH : THIN_THROUGH) : step(0.0, l.z));
    float pdf = (1.0 - chance) * lambert;
    if (l.z > 0.0 && alpha >= MIRROR_ALPHA) {
        vec3 h = normalize(v + l);
        pdf += chance * ggx_d(h, alpha) * smith_g1(max(v.z, 1e-4), alpha) / (4.0 * max(v.z, 1e-4));
    }
    return pdf;
}

// A direction with the weight BRDF * cosine / pdf; pdf 0 stands for a perfect mirror.
vec3 sample_direction(Surface s, vec3 v, out vec3 l, out float pdf)
{
    float chance = specular_chance(s, v.z), pick = next_random(), alpha = surface_alpha(s);
    vec2 u = next_random2();
    float angle = 2.0 * PI * u.y;
    pdf = 0.0;
    if (pick < chance) {
        if (alpha < MIRROR_ALPHA) {
            l = vec3(-v.xy, v.z);
            return fresnel(surface_f0(s), v.z) / chance;
        }
        // visible normals, Heitz 2018
        vec3 w = normalize(vec3(alpha * v.xy, v.z));
        float len = dot(w.xy, w.xy);
        vec3 t1 = len > 1e-12 ? vec3(-w.y, w.x, 0.0) * inversesqrt(len) : vec3(1.0, 0.0, 0.0);
        vec3 t2 = cross(w, t1);
        float r = sqrt(u.x), p1 = r * cos(angle), k = 0.5 * (1.0 + w.z);
        float p2 = mix(sqrt(max(0.0, 1.0 - p1 * p1)), r * sin(angle), k);
        vec3 n = p1 * t1 + p2 * t2 + sqrt(max(0.0, 1.0 - p1 * p1 - p2 * p2)) * w;
        vec3 h = normalize(vec3(alpha * n.xy, max(n.z, 1e-6)));
        l = reflect(-v, h);
        if (l.z <= 0.0)
            return vec3(0.0);
    } else {
        float r = sqrt(u.x);
        l = vec3(r * cos(angle), r * sin(angle), sqrt(max(1e-6, 1.0 - u.x)));
        if ((s.flags & SCENE_MATERIAL_THIN) != 0u && next_random() < THIN_THROUGH)
            l.z = -l.z;
    }
    pdf = direction_pdf(s, v, l);
    return evaluate(s, v, l) / max(pdf, 1e-12);
}
#endif
