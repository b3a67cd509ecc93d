// SPDX-License-Identifier: MIT
// Pixels to rays, and points to motion.
#ifndef SCENE_CAMERA_GLSL
#define SCENE_CAMERA_GLSL
#include "common.glsl"

// `place` in pixels of the picture, y downwards.
vec3 camera_ray(vec2 place, vec2 size)
{
    vec2 ndc = vec2(2.0, -2.0) * place / size + vec2(-1.0, 1.0);
    vec4 right = NOW_RIGHT, up = NOW_UP;
    return normalize(NOW_FORWARD + right.xyz * (ndc.x * right.w) + up.xyz * (ndc.y * up.w));
}

// Previous minus current place in pixels. `was` is relative to the earlier eye, or a direction.
vec2 motion_of(vec3 was, vec2 place, vec2 size)
{
    vec4 right = OLD_RIGHT, up = OLD_UP;
    float z = dot(was, OLD_FORWARD);
    if (z <= 1e-5) // behind the earlier camera: nowhere in the earlier picture
        return 4.0 * size;
    vec2 ndc = vec2(dot(was, right.xyz) / (z * right.w), dot(was, up.xyz) / (z * up.w));
    vec2 old = (ndc * vec2(0.5, -0.5) + 0.5) * size;
    return clamp(old - place, -4.0 * size, 4.0 * size);
}
#endif
