#version 450
// SPDX-License-Identifier: MIT
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
HS_INPUT(colour, HS_BINDING_PREP_COLOUR);
HS_INPUT(history, HS_BINDING_REPROJ_COLOUR);
HS_INPUT(aux, HS_BINDING_REPROJ_AUX);
HS_OUTPUT(out_history, HS_BINDING_OUT_HISTORY_COLOUR);
HS_OUTPUT(out_aux, HS_BINDING_OUT_HISTORY_AUX);
HS_OUTPUT(out_image, HS_BINDING_OUTPUT);
HS_OUTPUT(out_resolved, HS_BINDING_OUT_RESOLVED);

void main()
{
    const ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, params.size.zw)))
        return;
    ivec2 r = clamp(ivec2((vec2(p) + 0.5) * params.scale.xy - params.jitter.xy), ivec2(0), params.size.xy - 1);
    vec4 c = texelFetch(colour, r, 0);
    float valid = texelFetch(aux, p, 0).x;
    vec4 h = texelFetch(history, p, 0);
    c = mix(c, h, 0.8 * valid);
    imageStore(out_history, p, c);
    imageStore(out_aux, p, vec4(valid, 0, 0, 0));
    c.rgb /= exposure_factor();
    if (has(HS_FRAME_FINISH))
        imageStore(out_resolved, p, c);
    else
        imageStore(out_image, p + params.origin_out.xy, c);
}
