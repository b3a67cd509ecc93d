// SPDX-License-Identifier: MIT
// Where standing points were. Reference: hs_ref_camera_motion() in engine/ref/ref_prepare.c.

// Motion of a standing point at s, render px, and its depth in the previous frame; false: behind.
bool camera_motion(vec2 s, float d, out vec2 moved, out float expected)
{
    const vec2 size = vec2(params.size.xy);
    const vec4 ndc = vec4(2.0 * s.x / size.x - 1.0, 1.0 - 2.0 * s.y / size.y,
                          d < HS_DEPTH_FAR ? 1.0 / d : 0.0, 1.0);
    const vec3 clip = vec3(dot(params.reproject[0], ndc), dot(params.reproject[1], ndc),
                           dot(params.reproject[2], ndc));
    moved = vec2(0.0);
    expected = d;
    if (!(clip.z > 1e-6))
        return false;
    moved = vec2(clip.x / clip.z * 0.5 + 0.5, 0.5 - clip.y / clip.z * 0.5) * size - s;
    expected = d < HS_DEPTH_FAR ? d * clip.z : HS_DEPTH_FAR;
    return true;
}
