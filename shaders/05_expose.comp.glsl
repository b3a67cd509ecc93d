#version 450
// SPDX-License-Identifier: MIT
// The frame's exposure from whichever source the frame names.
// Reads: params, exposure texture [1,1], state. Writes: state.exposure, state.measured.
// Grid: one group of one thread. Precision: f32.
// Reference: hs_ref_expose() in engine/ref/ref_exposure.c.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "exposure.h"

layout(local_size_x = 1) in;
HS_INPUT(texture_exposure, HS_BINDING_EXPOSURE);

float given_exposure()
{
    if (!has(HS_FRAME_EXPOSURE_IMAGE))
        return params.exposure.z;
    // A zero texel reads as 1: applications clear the texture before the first measurement.
    float texel = texelFetch(texture_exposure, params.origin_out.zw, 0).r;
    return texel > 0.0 && finite(texel) ? texel : 1.0;
}

float measured_exposure()
{
    if (has(HS_FRAME_MEASURE)) {
        vec2 sum = vec2(0.0);
        for (int i = 0; i < HS_MEASURE_GROUPS; i++)
            sum += state.partial[i].xy;
        // A frame without any light leaves the measurement as it was.
        if (sum.y > 0.0) {
            float mean_log2 = sum.x / sum.y;
            bool first = has(HS_FRAME_RESET) || state.measured.y == 0.0;
            float blend = first ? 1.0 : HS_EXPOSURE_BLEND;
            state.measured.x = mix(state.measured.x, mean_log2, blend);
            state.measured.y = 1.0;
        }
    }
    return HS_EXPOSURE_KEY * exp2(-state.measured.x);
}

void main()
{
    float exposure = has(HS_FRAME_EXPOSURE_AUTO) ? measured_exposure() : given_exposure();
    exposure = clamp(exposure * params.exposure.x, HS_EXPOSURE_MIN, HS_EXPOSURE_MAX);
    // History holds colour times the exposure of its frame; pre-exposure has cancelled there.
    float ratio = state.exposure.w > 0.0 ? exposure / state.exposure.z : 1.0;
    state.exposure = vec4(exposure * params.exposure.y, ratio, exposure, 1.0);
}
