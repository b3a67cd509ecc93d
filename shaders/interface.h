// SPDX-License-Identifier: MIT
// What C and GLSL share: bindings, flags, the per-frame parameter block. GLSL sees it through
// VULKAN, which glslang defines; C asserts its sizes in engine/src/params.c.
#ifndef HINDSIGHT_INTERFACE_H
#define HINDSIGHT_INTERFACE_H

#ifdef VULKAN
#define HS_IVEC4 ivec4
#define HS_VEC4 vec4
#else
#include <stdint.h>
struct hs_ivec4 {
    int32_t x, y, z, w;
};
struct hs_vec4 {
    float x, y, z, w;
};
#define HS_IVEC4 struct hs_ivec4
#define HS_VEC4 struct hs_vec4
#endif

// Pixel (x, y) of a plane has its centre at (x + 0.5, y + 0.5); +x right, +y down. std140.
struct hs_frame_params {
    HS_IVEC4 size;        // render width, height; output width, height
    HS_IVEC4 prev_size;   // previous render width, height; HS_FRAME_* flags; frames since reset
    HS_IVEC4 origin_in;   // colour x, y; depth x, y: first texel of the plane in its view
    HS_IVEC4 origin_in2;  // motion x, y; reactive x, y
    HS_IVEC4 origin_out;  // output x, y; exposure texture x, y
    HS_VEC4 scale;        // render / output width, height; output / render width, height
    HS_VEC4 jitter;       // this frame's x, y in its render px; the previous frame's in its own
    HS_VEC4 motion;       // scale x, y; bias x, y: canonical = (raw - bias) * scale + motion2.xy
    HS_VEC4 motion2;      // added x, y (jitter change); limit per axis in px; unused
    HS_VEC4 depth;        // a, b, far: linear: a * raw; hardware: a / (raw + b). greatest luminance
    HS_VEC4 exposure;     // scale; 1 / pre-exposure; given value; sharpness
    HS_VEC4 reproject[3]; // rows x, y, w of (ndc x, ndc y, 1 / depth, 1) -> previous clip
    HS_VEC4 view[4];      // rows of view -> world; 1 / projection's x, y scale, its x, y offset
    HS_IVEC4 origin_guide;  // diffuse albedo x, y; specular albedo x, y
    HS_IVEC4 origin_guide2; // normal x, y; roughness x, y
    HS_IVEC4 origin_guide3; // hit distance x, y; unused
    HS_VEC4 look[4]; // curve, 0: none; grade, contrast, pivot. shadows; saturation. highlights;
                     // vignette. grain, its seed 0..65535, aberration in px, unused
};

#define HS_FRAME_RESET 1             // no history
#define HS_FRAME_LDR 2               // display-referred colour
#define HS_FRAME_DEPTH 4             // a depth plane is bound
#define HS_FRAME_MOTION 8            // a motion plane is bound
#define HS_FRAME_REACTIVE 16         // a reactive plane is bound
#define HS_FRAME_CAMERA 32           // `reproject` is valid
#define HS_FRAME_MOTION_DISPLAY 64   // motion has output size and is in output px
#define HS_FRAME_MOTION_SWAP 128     // raw channels are y, x
#define HS_FRAME_UNWRITTEN_ZERO 256  // raw (0, 0) is unwritten
#define HS_FRAME_UNWRITTEN_FAR 512   // raw (0, 0) at infinite depth is unwritten
#define HS_FRAME_DEPTH_HARDWARE 1024 // a / (raw + b)
#define HS_FRAME_EXPOSURE_AUTO 2048  // measured
#define HS_FRAME_EXPOSURE_IMAGE 4096 // from the exposure texture
#define HS_FRAME_MEASURE 8192        // this frame measures (automatic exposure)
#define HS_FRAME_PREV_DEPTH 16384    // the previous frame had depth
#define HS_FRAME_FINISH 32768        // resolve writes to `resolved`, finish to the output
// Guides: which are bound, then how they are read.
#define HS_FRAME_DIFFUSE (1 << 16)
#define HS_FRAME_SPECULAR (1 << 17)
#define HS_FRAME_NORMAL (1 << 18)
#define HS_FRAME_ROUGHNESS (1 << 19)
#define HS_FRAME_HIT (1 << 20)
#define HS_FRAME_NORMAL_VIEW (1 << 21)     // normals are in view space
#define HS_FRAME_NORMAL_UNSIGNED (1 << 22) // 0..1 for -1..1
#define HS_FRAME_NORMAL_PACKED (1 << 23)   // the normal's fourth channel is roughness
#define HS_FRAME_ROUGHNESS_ALPHA (1 << 24)
#define HS_FRAME_ROUGHNESS_SMOOTH (1 << 25)
#define HS_FRAME_SPECULAR_F0 (1 << 26) // reflectance at normal incidence
#define HS_FRAME_VIEW (1 << 27)        // `view` is valid
#define HS_FRAME_PREV_NORMAL (1 << 28) // the previous frame's normals are in the same space

// Stored in prep_depth for infinite depth.
#define HS_DEPTH_FAR 3.0e38

// Push constants of all stages. A frame may be made in horizontal bands; moved history and
// activations lie in rings of rows then: row y at y - base, less the ring's rows if beyond them.
// `size` and `weights` are those of a network's layer; places in the weights count 16 bytes.
struct hs_push {
    HS_IVEC4 band;    // first row and end of what is written; ring of moved history: base, rows
    HS_IVEC4 ring;    // base and rows of the input's ring, of the output's
    HS_IVEC4 size;    // of the input: width, height, pitch; pitch of the output
    HS_IVEC4 weights; // place of the weights; of the biases; units from one z's weights to the
                      // next's; tiles of a workgroup, one below the other (matrix path)
};

// Push constants of the stage that resolves an AOV: those of resolve, then its own.
#ifndef VULKAN
struct hs_aov_push {
    struct hs_push push;
    HS_IVEC4 aov; // HS_AOV_PUSH_* flags; unused
};
#endif

#define HS_AOV_PUSH_DATA 1    // values of its own, no part of the colour
#define HS_AOV_PUSH_HISTORY 2 // the previous frame had it

// Set 2 of that stage: the plane, what its history holds, what is written.
#define HS_BINDING_AOV_IN 0
#define HS_BINDING_AOV_HISTORY 1
#define HS_BINDING_AOV_OUT_HISTORY 2
#define HS_BINDING_AOV_OUT 3
#define HS_BINDING_AOV_COUNT 4

// Workgroups of the stages over output pixels, reproject to resolve. Rows are those of bands.
#define HS_GROUP_X 16
#define HS_GROUP_Y 8
#define HS_GROUP_THREADS (HS_GROUP_X * HS_GROUP_Y)

// Set 0. Planes of the caller, then the stream's own, then what is written.
#define HS_BINDING_PARAMS 0
#define HS_BINDING_STATE 1
#define HS_BINDING_COLOUR 2
#define HS_BINDING_DEPTH 3
#define HS_BINDING_MOTION 4
#define HS_BINDING_REACTIVE 5
#define HS_BINDING_EXPOSURE 6
#define HS_BINDING_PREP_COLOUR 7
#define HS_BINDING_PREP_MOTION 8
#define HS_BINDING_PREP_AUX 9
#define HS_BINDING_PREP_DEPTH 10
#define HS_BINDING_PREV_DEPTH 11
#define HS_BINDING_HISTORY_COLOUR 12
#define HS_BINDING_HISTORY_AUX 13
#define HS_BINDING_REPROJ_COLOUR 14
#define HS_BINDING_REPROJ_AUX 15
#define HS_BINDING_RESOLVED 16
#define HS_BINDING_OUT_PREP_COLOUR 17
#define HS_BINDING_OUT_PREP_MOTION 18
#define HS_BINDING_OUT_PREP_AUX 19
#define HS_BINDING_OUT_PREP_DEPTH 20
#define HS_BINDING_OUT_HISTORY_COLOUR 21
#define HS_BINDING_OUT_HISTORY_AUX 22
#define HS_BINDING_OUT_REPROJ_COLOUR 23
#define HS_BINDING_OUT_REPROJ_AUX 24
#define HS_BINDING_OUT_RESOLVED 25
#define HS_BINDING_OUTPUT 26
#define HS_BINDING_COUNT 27

// State that lives on the GPU from frame to frame (storage buffer, std430): exposure, then the
// partial sums of its measurement.
#define HS_MEASURE_GROUPS 64
struct hs_state {
    HS_VEC4 exposure; // x multiplies the colour; y history ratio; z this exposure without
                      // pre-exposure; w 1 once valid
    HS_VEC4 measured; // x smoothed mean log2 luma; y 1 once valid; unused
    HS_VEC4 partial[HS_MEASURE_GROUPS]; // x sum of log2 luma, y count
};

#endif
