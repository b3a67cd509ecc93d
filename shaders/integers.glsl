// SPDX-License-Identifier: MIT
// Arithmetic of integer networks, all of it within 32 bits: docs/model-format.md, taau-int8.
// Reference: engine/ref/ref_integers.c.

// Sums to activations, by a scale of multiplier + 256 shift: half of the last place is added before
// the shift, so that ties go up.
ivec4 scaled_down(ivec4 sum, ivec4 scale)
{
    const ivec4 shift = scale >> 8;
    return (sum * (scale & 255) + (ivec4(1) << (shift - 1))) >> shift;
}

ivec4 limited(ivec4 value, bool relu)
{
    return clamp(value, relu ? 0 : -HS_INTEGER_LIMIT, HS_INTEGER_LIMIT);
}

uint packed(ivec4 value)
{
    const uvec4 bytes = uvec4(value) & 255u;
    return bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
}

ivec4 unpacked(uint bytes)
{
    const int all = int(bytes);
    return ivec4(bitfieldExtract(all, 0, 8), bitfieldExtract(all, 8, 8),
                 bitfieldExtract(all, 16, 8), bitfieldExtract(all, 24, 8));
}

// A feature: product and sum are rounded each by itself.
int rounded_feature(float value, float multiplier)
{
    precise const float scaled = value * multiplier + 0.5;
    return int(clamp(floor(scaled), -float(HS_INTEGER_LIMIT), float(HS_INTEGER_LIMIT)));
}
