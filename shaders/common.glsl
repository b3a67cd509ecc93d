// SPDX-License-Identifier: MIT
// Bindings of set 0 and what every stage uses. All planes are read with texelFetch at clamped
// coordinates: no samplers, so that results do not depend on a device's filtering precision.
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_control_flow_attributes : require

#include "interface.h"

layout(std140, set = 0, binding = HS_BINDING_PARAMS) uniform hs_params_block
{
    hs_frame_params params;
};
layout(std430, set = 0, binding = HS_BINDING_STATE) buffer hs_state_block
{
    hs_state state;
};

#define HS_INPUT(name, id) layout(set = 0, binding = id) uniform texture2D name
#define HS_OUTPUT(name, id) layout(set = 0, binding = id) uniform writeonly image2D name

bool has(int flag)
{
    return (params.prev_size.z & flag) != 0;
}

// Factor from input colour to the working picture.
float exposure_factor()
{
    return has(HS_FRAME_LDR) ? 1.0 : state.exposure.x;
}

// By bits: isnan() and isinf() may be folded away where a driver assumes finite arithmetic.
bool finite(float x)
{
    return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u;
}

float luminance(vec3 c)
{
    return dot(c, vec3(0.2126, 0.7152, 0.0722));
}
