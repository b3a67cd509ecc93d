#version 450
// SPDX-License-Identifier: MIT
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
HS_INPUT(colour, HS_BINDING_COLOUR);
HS_INPUT(motion, HS_BINDING_MOTION);
HS_INPUT(depth, HS_BINDING_DEPTH);
HS_OUTPUT(out_colour, HS_BINDING_OUT_PREP_COLOUR);
HS_OUTPUT(out_motion, HS_BINDING_OUT_PREP_MOTION);
HS_OUTPUT(out_aux, HS_BINDING_OUT_PREP_AUX);
HS_OUTPUT(out_depth, HS_BINDING_OUT_PREP_DEPTH);

void main()
{
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, params.size.xy)))
        return;
    vec4 c = texelFetch(colour, p + params.origin_in.xy, 0);
    imageStore(out_colour, p, vec4(c.rgb * exposure_factor(), c.a));
    vec2 m = vec2(0);
    if (has(HS_FRAME_MOTION))
        m = (texelFetch(motion, p + params.origin_in2.xy, 0).rg - params.motion.zw) * params.motion.xy + params.motion2.xy;
    imageStore(out_motion, p, vec4(m, 0, 0));
    imageStore(out_aux, p, vec4(has(HS_FRAME_RESET) ? 0 : 1, 0, 0, 0));
    float d = HS_DEPTH_FAR;
    if (has(HS_FRAME_DEPTH))
        d = texelFetch(depth, p + params.origin_in.zw, 0).r;
    imageStore(out_depth, p, vec4(d, 0, 0, 0));
}
