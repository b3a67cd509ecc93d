#version 450
// SPDX-License-Identifier: MIT
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
HS_INPUT(motion, HS_BINDING_PREP_MOTION);
HS_INPUT(history, HS_BINDING_HISTORY_COLOUR);
HS_INPUT(aux, HS_BINDING_PREP_AUX);
HS_OUTPUT(out_colour, HS_BINDING_OUT_REPROJ_COLOUR);
HS_OUTPUT(out_aux, HS_BINDING_OUT_REPROJ_AUX);

void main()
{
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, params.size.zw)))
        return;
    ivec2 r = clamp(ivec2((vec2(p) + 0.5) * params.scale.xy), ivec2(0), params.size.xy - 1);
    float valid = texelFetch(aux, r, 0).x;
    vec2 m = texelFetch(motion, r, 0).xy * params.scale.zw;
    ivec2 q = clamp(ivec2(floor(vec2(p) + 0.5 + m)), ivec2(0), params.size.zw - 1);
    vec4 h = valid > 0 ? texelFetch(history, q, 0) : vec4(0);
    imageStore(out_colour, p, h);
    imageStore(out_aux, p, vec4(valid, 0, 0, 0));
}
