// SPDX-License-Identifier: MIT
// A stage's band of rows, and rows in rings.
#ifndef HS_BAND_GLSL
#define HS_BAND_GLSL
layout(push_constant) uniform hs_push_block
{
    hs_push push;
#ifdef HS_AOV
    ivec4 aov;
#endif
};

int ring_row(int y, int base, int rows)
{
    y -= base;
    return y >= rows ? y - rows : y;
}

// Where a pixel of moved history lies.
ivec2 moved_place(ivec2 p)
{
    return ivec2(p.x, ring_row(p.y, push.band.z, push.band.w));
}

// First output pixel of the workgroup, and the thread's own place in it.
ivec2 group_first()
{
    return ivec2(gl_WorkGroupID.xy) * ivec2(HS_GROUP_X, HS_GROUP_Y) + ivec2(0, push.band.x);
}

ivec2 group_place()
{
    const int i = int(gl_LocalInvocationIndex);
    return ivec2(i % HS_GROUP_X, i / HS_GROUP_X);
}

#endif
