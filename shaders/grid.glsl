// SPDX-License-Identifier: MIT
// The pixels that a stage goes over: those of the output or, for features of networks whose tokens
// are render pixels (HS_CELLS, but not in resolve), cells, which are quarters of render pixels.
#ifndef HS_GRID_GLSL
#define HS_GRID_GLSL

#ifdef HS_GRID_CELLS
ivec2 grid_size()
{
    return 2 * params.size.xy;
}

// Render px of a grid px; grid px of a render px and of an output px.
vec2 grid_scale()
{
    return vec2(0.5);
}

vec2 render_to_grid()
{
    return vec2(2.0);
}

vec2 output_to_grid()
{
    return 2.0 * params.scale.xy;
}

// The output pixel in which the centre of a grid pixel lies.
ivec2 output_pixel(ivec2 p)
{
    return ((2 * p + 1) * params.size.zw) / (4 * params.size.xy);
}
#else
ivec2 grid_size()
{
    return params.size.zw;
}

vec2 grid_scale()
{
    return params.scale.xy;
}

vec2 render_to_grid()
{
    return params.scale.zw;
}

vec2 output_to_grid()
{
    return vec2(1.0);
}

ivec2 output_pixel(ivec2 p)
{
    return p;
}
#endif

#endif
