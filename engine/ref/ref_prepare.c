// SPDX-License-Identifier: MIT
// Reference of shaders/10_prepare: a frame's planes in canonical form, and how far each pixel's
// history is to be trusted.
#include "ref_guides.h"

static bool finite3(const float *c)
{
    return isfinite(c[0]) && isfinite(c[1]) && isfinite(c[2]);
}

/** Colour without values that are not finite or negative: those take their neighbours' mean. */
static void clean_colour(const struct hs_frame_params *p, float factor,
                         const struct hs_ref_plane *colour, bool wide, int x, int y, float *out)
{
    const float *c = hs_ref_texel(colour, x, y);
    float rgb[3] = {0, 0, 0};
    if (finite3(c)) {
        for (int i = 0; i < 3; i++)
            rgb[i] = fmaxf(c[i], 0);
    } else {
        float count = 0;
        for (int dy = -1; dy <= 1; dy++) {
            for (int dx = -1; dx <= 1; dx++) {
                const float *n = hs_ref_texel(colour, hs_ref_clampi(x + dx, 0, p->size.x - 1),
                                              hs_ref_clampi(y + dy, 0, p->size.y - 1));
                if (!finite3(n))
                    continue;
                for (int i = 0; i < 3; i++)
                    rgb[i] += fmaxf(n[i], 0);
                count += 1;
            }
        }
        for (int i = 0; i < 3; i++)
            rgb[i] = count > 0 ? rgb[i] / count : 0;
    }
    const float top = hs_ref_has(p, HS_FRAME_LDR) ? 1 : HS_REF_F(HS_TAAU_MAX);
    for (int i = 0; i < 3; i++)
        rgb[i] *= factor;
    float clamp = 1;
    if (p->depth.w > 0)
        clamp = fminf(1, p->depth.w / fmaxf(hs_ref_luminance(rgb), 1e-9f));
    for (int i = 0; i < 3; i++)
        out[i] = fminf(rgb[i] * clamp, top);
    out[3] = isfinite(c[3]) ? hs_ref_clamp(c[3], 0, 1) : 1;
    for (int i = 0; i < 4 && !wide; i++)
        out[i] = hs_ref_half(out[i]);
}

static float linear_depth(const struct hs_frame_params *p, float raw)
{
    const float d =
        hs_ref_has(p, HS_FRAME_DEPTH_HARDWARE) ? p->depth.x / (raw + p->depth.y) : p->depth.x * raw;
    return d > 0 && d < p->depth.z ? d : HS_REF_F(HS_DEPTH_FAR);
}

static float depth_at(const struct hs_frame_params *p, const struct hs_ref_plane *depth, int x,
                      int y)
{
    if (!hs_ref_has(p, HS_FRAME_DEPTH))
        return HS_REF_F(HS_DEPTH_FAR);
    return linear_depth(p, hs_ref_texel(depth, x, y)[0]);
}

enum hs_ref_motion_state hs_ref_motion(const struct hs_frame_params *p,
                                       const struct hs_ref_plane *motion, int x, int y, bool far,
                                       float *out)
{
    const float *raw = hs_ref_texel(motion, x, y);
    const bool swap = hs_ref_has(p, HS_FRAME_MOTION_SWAP);
    const float rx = swap ? raw[1] : raw[0], ry = swap ? raw[0] : raw[1];
    out[0] = out[1] = 0;
    if (!isfinite(rx) || !isfinite(ry))
        return HS_REF_MOTION_UNWRITTEN;
    if (rx == 0 && ry == 0 &&
        (hs_ref_has(p, HS_FRAME_UNWRITTEN_ZERO) || (hs_ref_has(p, HS_FRAME_UNWRITTEN_FAR) && far)))
        return HS_REF_MOTION_UNWRITTEN;
    const float mx = (rx - p->motion.z) * p->motion.x + p->motion2.x;
    const float my = (ry - p->motion.w) * p->motion.y + p->motion2.y;
    if (!(fabsf(mx) <= p->motion2.z) || !(fabsf(my) <= p->motion2.z))
        return HS_REF_MOTION_INVALID;
    out[0] = mx;
    out[1] = my;
    return HS_REF_MOTION_OK;
}

bool hs_ref_camera_motion(const struct hs_frame_params *p, float sx, float sy, float d, float *out,
                          float *expected)
{
    const float far = HS_REF_F(HS_DEPTH_FAR);
    const float nx = 2 * sx / (float)p->size.x - 1, ny = 1 - 2 * sy / (float)p->size.y;
    const float q = d < far ? 1 / d : 0;
    const struct hs_vec4 *r = p->reproject;
    const float cx = r[0].x * nx + r[0].y * ny + r[0].z * q + r[0].w;
    const float cy = r[1].x * nx + r[1].y * ny + r[1].z * q + r[1].w;
    const float cw = r[2].x * nx + r[2].y * ny + r[2].z * q + r[2].w;
    out[0] = out[1] = 0;
    *expected = d;
    if (!(cw > 1e-6f))
        return false;
    out[0] = (cx / cw * 0.5f + 0.5f) * (float)p->size.x - sx;
    out[1] = (0.5f - cy / cw * 0.5f) * (float)p->size.y - sy;
    *expected = d < far ? d * cw : far;
    return true;
}

/** Motion of the sample at (x, y), render px; false, and zero: there is no history for it. */
static bool sample_motion(const struct hs_frame_params *p, const struct hs_ref_plane *motion, int x,
                          int y, float d, float *out, float *expected)
{
    const float sx = (float)x + 0.5f + p->jitter.x, sy = (float)y + 0.5f + p->jitter.y;
    const bool camera = hs_ref_has(p, HS_FRAME_CAMERA);
    float moved[2] = {0, 0};
    *expected = d;
    out[0] = out[1] = 0;
    const bool seen = !camera || hs_ref_camera_motion(p, sx, sy, d, moved, expected);
    if (hs_ref_has(p, HS_FRAME_MOTION)) {
        const bool display = hs_ref_has(p, HS_FRAME_MOTION_DISPLAY);
        int mx = x, my = y;
        if (display) {
            mx = hs_ref_clampi((int)floorf(sx * p->scale.z), 0, p->size.z - 1);
            my = hs_ref_clampi((int)floorf(sy * p->scale.w), 0, p->size.w - 1);
        }
        const enum hs_ref_motion_state state =
            hs_ref_motion(p, motion, mx, my, d >= HS_REF_F(HS_DEPTH_FAR), out);
        if (state == HS_REF_MOTION_OK) {
            if (display) {
                out[0] *= p->scale.x;
                out[1] *= p->scale.y;
            }
            return true;
        }
        if (state == HS_REF_MOTION_INVALID || !camera)
            return false;
    }
    const float limit = (float)(p->size.x + p->size.y);
    if (!seen || !(fabsf(moved[0]) <= limit) || !(fabsf(moved[1]) <= limit))
        return false;
    out[0] = moved[0];
    out[1] = moved[1];
    return true;
}

/**
 * Depth that the surface gains within a pixel; of two neighbours the smaller step counts, which
 * stays on the surface at its edges.
 */
static float depth_slope(const struct hs_frame_params *p, const struct hs_ref_plane *depth, int x,
                         int y, float d)
{
    const int l = hs_ref_clampi(x - 1, 0, p->size.x - 1);
    const int r = hs_ref_clampi(x + 1, 0, p->size.x - 1);
    const int t = hs_ref_clampi(y - 1, 0, p->size.y - 1);
    const int b = hs_ref_clampi(y + 1, 0, p->size.y - 1);
    if (d >= HS_REF_F(HS_DEPTH_FAR))
        return 0;
    const float dx =
        fminf(fabsf(depth_at(p, depth, l, y) - d), fabsf(depth_at(p, depth, r, y) - d));
    const float dy =
        fminf(fabsf(depth_at(p, depth, x, t) - d), fabsf(depth_at(p, depth, x, b) - d));
    return dx + dy;
}

/** How much of the previous depth around the sample's old place allows the sample to be there. */
static float visibility(const struct hs_frame_params *p, const struct hs_ref_plane *prev, float px,
                        float py, float limit)
{
    const float fw = (float)p->prev_size.x / (float)p->size.x;
    const float fh = (float)p->prev_size.y / (float)p->size.y;
    const float u = px * fw - p->jitter.z - 0.5f, v = py * fh - p->jitter.w - 0.5f;
    const float bx = floorf(u), by = floorf(v), fx = u - bx, fy = v - by;
    float sum = 0;
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            const int x = hs_ref_clampi((int)bx + i, 0, p->prev_size.x - 1);
            const int y = hs_ref_clampi((int)by + j, 0, p->prev_size.y - 1);
            const float w = (i ? fx : 1 - fx) * (j ? fy : 1 - fy);
            sum += hs_ref_texel(prev, x, y)[0] >= limit ? w : 0;
        }
    }
    return sum;
}

static float validity(const struct hs_frame_params *p, const struct hs_ref_plane *depth,
                      const struct hs_ref_plane *prev, int x, int y, const float *motion, float d,
                      float expected)
{
    const float px = (float)x + 0.5f + p->jitter.x + motion[0];
    const float py = (float)y + 0.5f + p->jitter.y + motion[1];
    if (!(px >= 0 && py >= 0 && px <= (float)p->size.x && py <= (float)p->size.y))
        return 0;
    if (!hs_ref_has(p, HS_FRAME_DEPTH) || !hs_ref_has(p, HS_FRAME_PREV_DEPTH))
        return 1;
    // What moves with the camera keeps its own depth, not that of a standing point.
    const float tolerance = hs_ref_has(p, HS_FRAME_CAMERA) ? HS_REF_F(HS_TAAU_DEPTH_TOLERANCE)
                                                           : HS_REF_F(HS_TAAU_DEPTH_TOLERANCE_FREE);
    const float limit = fminf(expected, d) * (1 - tolerance) - depth_slope(p, depth, x, y, d);
    return visibility(p, prev, px, py, limit);
}

void hs_ref_prepare(const struct hs_frame_params *p, const struct hs_state *state,
                    const struct hs_ref_inputs *in, const struct hs_ref_plane *prev_depth,
                    struct hs_ref_prepared *out)
{
    const float factor = hs_ref_has(p, HS_FRAME_LDR) ? 1 : state->exposure.x;
    for (int y = 0; y < p->size.y; y++) {
        for (int x = 0; x < p->size.x; x++) {
            clean_colour(p, factor, &in->colour, in->wide, x, y, hs_ref_pixel(&out->colour, x, y));
            const float d = depth_at(p, &in->depth, x, y);
            float motion[2], expected, valid = 0;
            if (sample_motion(p, &in->motion, x, y, d, motion, &expected) &&
                !hs_ref_has(p, HS_FRAME_RESET))
                valid = validity(p, &in->depth, prev_depth, x, y, motion, d, expected);
            if (hs_ref_has(p, HS_FRAME_REACTIVE)) {
                const float r = hs_ref_texel(&in->reactive, x, y)[0];
                valid *= 1 - (isfinite(r) ? hs_ref_clamp(r, 0, 1) : 0);
            }
            hs_ref_pixel(&out->depth, x, y)[0] = d;
            float *m = hs_ref_pixel(&out->motion, x, y), *aux = hs_ref_pixel(&out->aux, x, y);
            m[0] = motion[0];
            m[1] = motion[1];
            aux[0] = hs_ref_store(p, valid);
            aux[1] = 0;
        }
    }
}
