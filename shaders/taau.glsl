// SPDX-License-Identifier: MIT
// Working range and kernels of the weight-free preset. Reference: engine/ref/ref_math.h.
#include "taau.h"

// c: curve of rgb, alpha; s: what the curve is scaled with, 1 for opaque pixels.
struct work {
    vec4 c;
    float s;
};

// Straight curve sqrt(c / (s + c)) of rgb, and alpha; s = max(alpha, m / (1 + m)), m the largest
// channel.
vec4 encode_straight(vec4 rgba, out float s)
{
    s = 1.0;
    if (has(HS_FRAME_LDR))
        return rgba;
    if (rgba.a < 1.0) {
        const float m = max(rgba.r, max(rgba.g, rgba.b));
        s = max(rgba.a, m / (1.0 + m));
    }
    // One special function a channel: colours are at least 2^-24 if not 0.
    return vec4(rgba.rgb * inversesqrt(max(rgba.rgb * (s + rgba.rgb), 1e-30)), rgba.a);
}

work unite(vec4 straight, float s)
{
    return work(vec4(s * straight.rgb, straight.a), s);
}

work encode(vec4 rgba)
{
    float s;
    const vec4 t = encode_straight(rgba, s);
    return unite(t, s);
}

vec4 decode(work w)
{
    const float alpha = clamp(w.c.a, 0.0, 1.0);
    if (has(HS_FRAME_LDR))
        return vec4(clamp(w.c.rgb, 0.0, 1.0), alpha);
    const float s = max(w.s, 0.0);
    const vec3 t = s > 0.0 ? clamp(w.c.rgb / s, 0.0, HS_TAAU_RANGE) : vec3(0.0);
    const vec3 t2 = t * t;
    return vec4(min(s * t2 / (1.0 - t2), HS_TAAU_MAX), alpha);
}

// The range of taps: t: c / s of rgb, alpha; s. Taps with s = 0 have no colour.
struct range {
    vec4 low_t, high_t;
    float low_s, high_s;
};

range range_start()
{
    return range(vec4(HS_TAAU_MAX), vec4(-HS_TAAU_MAX), HS_TAAU_MAX, -HS_TAAU_MAX);
}

void range_add_straight(inout range r, vec4 t, float s)
{
    if (s > 0.0) {
        r.low_t.rgb = min(r.low_t.rgb, t.rgb);
        r.high_t.rgb = max(r.high_t.rgb, t.rgb);
    }
    r.low_t.a = min(r.low_t.a, t.a);
    r.high_t.a = max(r.high_t.a, t.a);
    r.low_s = min(r.low_s, s);
    r.high_s = max(r.high_s, s);
}

void range_add(inout range r, work w)
{
    range_add_straight(r, vec4(w.s > 0.0 ? w.c.rgb / w.s : vec3(0.0), w.c.a), w.s);
}

// Keeps a filtered value within the range of its taps. The colour is bounded by c / s: kernels with
// negative lobes may bring s near 0 where c is not, which would decode to a glaring pixel.
work range_clamp(range r, work w)
{
    const float s = clamp(w.s, r.low_s, r.high_s);
    const vec3 rgb =
        s > 0.0 ? clamp(w.c.rgb, r.low_t.rgb * s, r.high_t.rgb * s) : vec3(0.0);
    return work(vec4(rgb, clamp(w.c.a, r.low_t.a, r.high_t.a)), s);
}

ivec2 render_clamp(ivec2 p)
{
    return clamp(p, ivec2(0), params.size.xy - 1);
}

// Weights of the taps at -1, 0, 1, 2 around a position with fraction f. Sum 1.
vec4 cubic(float f, float a)
{
    const float g = 1.0 - f;
    return vec4(a * f * g * g, ((a + 2.0) * f - (a + 3.0)) * f * f + 1.0,
                ((a + 2.0) * g - (a + 3.0)) * g * g + 1.0, a * g * f * f);
}

// Canonical motion of a raw vector; unit and sign as hs_motion_params.
#define MOTION_OK 0
#define MOTION_UNWRITTEN 1
#define MOTION_INVALID 2
int canonical_motion(vec2 raw, bool far, out vec2 motion)
{
    motion = vec2(0.0);
    if (has(HS_FRAME_MOTION_SWAP))
        raw = raw.yx;
    if (!finite(raw.x) || !finite(raw.y))
        return MOTION_UNWRITTEN;
    if (raw.x == 0.0 && raw.y == 0.0 &&
        (has(HS_FRAME_UNWRITTEN_ZERO) || (has(HS_FRAME_UNWRITTEN_FAR) && far)))
        return MOTION_UNWRITTEN;
    const vec2 m = (raw - params.motion.zw) * params.motion.xy + params.motion2.xy;
    if (!(abs(m.x) <= params.motion2.z) || !(abs(m.y) <= params.motion2.z))
        return MOTION_INVALID;
    motion = m;
    return MOTION_OK;
}
