// SPDX-License-Identifier: MIT
/** Constants and push values of 60_encode, shared by C and GLSL. */
#ifndef GST_HS_SHADERS_ENCODE_H
#define GST_HS_SHADERS_ENCODE_H

/* Where pixels go in memory. */
#define HS_ENCODE_RGBA8 0
#define HS_ENCODE_BGRA8 1
#define HS_ENCODE_RGB10A2 2
#define HS_ENCODE_RGBA16 3
#define HS_ENCODE_P010 4

/* Transfer characteristic of the result. */
#define HS_ENCODE_CURVE_NONE 0
#define HS_ENCODE_CURVE_SRGB 1
#define HS_ENCODE_CURVE_BT709 2
#define HS_ENCODE_CURVE_PQ 3

/* What the picture holds. */
#define HS_ENCODE_FROM_LINEAR 0
#define HS_ENCODE_FROM_CODES 1 /* display-referred, with the curve of the result */
#define HS_ENCODE_FROM_SRGB 2

/* From scene-linear to display-linear. */
#define HS_ENCODE_TONE_NONE 0
#define HS_ENCODE_TONE_REINHARD 1
#define HS_ENCODE_TONE_ACES 2

#ifdef GL_core_profile
#define HS_ENCODE_IVEC4(name) ivec4 name
#define HS_ENCODE_VEC4(name) vec4 name
#else
#include <stdint.h>
#define HS_ENCODE_IVEC4(name) int32_t name[4]
#define HS_ENCODE_VEC4(name) float name[4]
#endif

struct hs_encode_push {
    /* width, height, 32-bit words of a row, first word of the chroma plane */
    HS_ENCODE_IVEC4(size);
    /* layout, curve, tone map, what the picture holds */
    HS_ENCODE_IVEC4(mode);
    /* gain, nits of 1.0 divided by 10000, weights of red and blue in luma */
    HS_ENCODE_VEC4(values);
};

#endif
