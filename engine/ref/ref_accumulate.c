// SPDX-License-Identifier: MIT
// Reference of shaders/14_accumulate: the signal averaged over time.
#include "ref_guides.h"

/** Weighted sums over a neighbourhood: of the signal and its luminance, and of their squares. */
struct sums {
    float c[3], c2[3], l, l2, w;
};

/** History around a place: signal; mean and deviation of luminance, length. */
struct past {
    float c[3], m[3], w;
};

static void add(struct sums *s, const float *c, float w)
{
    const float l = hs_ref_luminance(c);
    for (int k = 0; k < 3; k++) {
        s->c[k] += w * c[k];
        s->c2[k] += w * c[k] * c[k];
    }
    s->l += w * l;
    s->l2 += w * l * l;
    s->w += w;
}

static float variance(float sum, float sum2, float w)
{
    const float m = sum / w;
    return fmaxf(sum2 / w - m * m, 0);
}

/** Where to look for history, and what a tap must be like to count. */
struct look {
    float x, y;
    bool plane; ///< One of both depths, within a tolerance and the slack.
    float depths[2], slack;
};

static struct past look_back(const struct hs_frame_params *p, const struct hs_ref_surface *s,
                             const struct hs_ref_plane *prev_depth,
                             const struct hs_ref_signal *prev, const struct look *look)
{
    const float u = look->x * ((float)p->prev_size.x / (float)p->size.x) - p->jitter.z - 0.5f;
    const float v = look->y * ((float)p->prev_size.y / (float)p->size.y) - p->jitter.w - 0.5f;
    const float bx = floorf(u), by = floorf(v), fx = u - bx, fy = v - by;
    struct past sum = {0};
    for (int n = 0; n < 4; n++) {
        const int i = n & 1, j = n >> 1, x = (int)bx + i, y = (int)by + j;
        if (x < 0 || y < 0 || x >= p->prev_size.x || y >= p->prev_size.y)
            continue;
        const float d = hs_ref_texel(prev_depth, x, y)[0];
        const float off = fminf(fabsf(d - look->depths[0]), fabsf(d - look->depths[1]));
        if (look->plane && !(off <= HS_REF_F(HS_ATROUS_SAME_DEPTH) * d + look->slack))
            continue;
        if (hs_ref_has(p, HS_FRAME_PREV_NORMAL) && hs_ref_dot3(s->normal, s->normal) > 0.25f &&
            !(hs_ref_dot3(s->normal, hs_ref_texel(&prev->surface, x, y)) >=
              HS_REF_F(HS_ATROUS_SAME_NORMAL)))
            continue;
        const float w = (i ? fx : 1 - fx) * (j ? fy : 1 - fy);
        for (int k = 0; k < 3; k++) {
            sum.c[k] += w * hs_ref_texel(&prev->signal, x, y)[k];
            sum.m[k] += w * hs_ref_texel(&prev->moments, x, y)[k];
        }
        sum.w += w;
    }
    return sum;
}

static struct past blend(const struct past *a, const struct past *b, float share)
{
    const float wa = a->w > 0.01f ? (1 - share) / a->w : 0, wb = b->w > 0.01f ? share / b->w : 0;
    const float w = wa * a->w + wb * b->w, by = w > 0 ? 1 / w : 0;
    struct past out = {.w = w > 0 ? 1.0f : 0.0f};
    for (int k = 0; k < 3; k++) {
        out.c[k] = (wa * a->c[k] + wb * b->c[k]) * by;
        out.m[k] = (wa * a->m[k] + wb * b->m[k]) * by;
    }
    return out;
}

static struct past find_history(const struct hs_frame_params *p, const struct hs_state *state,
                                const struct hs_ref_prepared *prep,
                                const struct hs_ref_plane *prev_depth,
                                const struct hs_ref_surface *s, const struct hs_ref_signal *prev,
                                int x, int y)
{
    const float sx = (float)x + 0.5f + p->jitter.x, sy = (float)y + 0.5f + p->jitter.y;
    const float ratio = hs_ref_has(p, HS_FRAME_LDR) ? 1 : state->exposure.y;
    const float d = hs_ref_texel(&prep->depth, x, y)[0], far = HS_REF_F(HS_DEPTH_FAR);
    const float *motion = hs_ref_texel(&prep->motion, x, y);
    const bool camera = hs_ref_has(p, HS_FRAME_CAMERA);
    float moved[2], expected = d;
    if (camera)
        hs_ref_camera_motion(p, sx, sy, d, moved, &expected);
    struct look look = {
        .x = sx + motion[0],
        .y = sy + motion[1],
        .plane = hs_ref_has(p, HS_FRAME_DEPTH) && hs_ref_has(p, HS_FRAME_PREV_DEPTH),
        .depths = {d, expected},
        .slack = d < far ? (fabsf(s->slope[0]) + fabsf(s->slope[1])) * d * d : 0,
    };
    const struct past own = look_back(p, s, prev_depth, prev, &look);
    const float mirror =
        s->trait[0] * hs_ref_clamp(1 - s->normal[3] / HS_REF_F(HS_ATROUS_MIRROR), 0, 1);
    struct past seen = {0};
    if (mirror > 0 && s->trait[1] > 0 && d < far && camera &&
        hs_ref_camera_motion(p, sx, sy, d + s->trait[1], moved, &expected)) {
        look = (struct look){.x = sx + moved[0], .y = sy + moved[1]};
        seen = look_back(p, s, prev_depth, prev, &look);
    }
    struct past both = blend(&own, &seen, seen.w > 0.01f ? mirror : 0);
    for (int k = 0; k < 3; k++)
        both.c[k] *= ratio;
    both.m[0] *= ratio;
    both.m[1] *= ratio;
    return both;
}

/** Sums around a pixel; the pixel itself, cut to what is around it, goes in last. */
static void look_around(const struct hs_frame_params *p, const struct hs_ref_prepared *prep,
                        const struct hs_ref_guided *guided, const struct hs_ref_surface *here,
                        int x, int y, float *c, struct sums *around)
{
    *around = (struct sums){0};
    for (int j = -2; j <= 2; j++) {
        for (int i = -2; i <= 2; i++) {
            if ((i || j) && hs_ref_inside(p, x + i, y + j))
                add(around, hs_ref_texel(&guided->signal, x + i, y + j),
                    hs_ref_edge_weight(&prep->depth, guided, here, x, y, i, j));
        }
    }
    if (around->w > 1) {
        const float top =
            around->l / around->w +
            HS_REF_F(HS_ATROUS_FIREFLY) * sqrtf(variance(around->l, around->l2, around->w));
        const float by = fminf(1, top / fmaxf(hs_ref_luminance(c), 1e-9f));
        for (int k = 0; k < 3; k++)
            c[k] *= by;
    }
    add(around, c, 1);
}

static void accumulate_pixel(const struct hs_frame_params *p, const struct sums *around,
                             const struct past *old, float valid, float *c, float *moments)
{
    const float l = hs_ref_luminance(c), top = HS_REF_F(HS_TAAU_MAX);
    float square = variance(around->l, around->l2, around->w), frames = 1, spread = 0, mean = l;
    if (old->w > 0) {
        frames = fminf(old->m[2] * valid + 1, HS_REF_F(HS_ATROUS_LENGTH));
        const float share = 1 / frames, off = l - old->m[0];
        for (int k = 0; k < 3; k++) {
            const float centre = around->c[k] / around->w;
            const float reach = HS_REF_F(HS_ATROUS_CLAMP) *
                                sqrtf(fmaxf(around->c2[k] / around->w - centre * centre, 0));
            const float kept = hs_ref_clamp(old->c[k], centre - reach, centre + reach);
            c[k] = kept + (c[k] - kept) * share;
        }
        mean = old->m[0] + (l - old->m[0]) * share;
        spread = (1 - share) * (old->m[1] * old->m[1] + share * off * off);
        square = frames < HS_REF_F(HS_ATROUS_TRUSTED) ? fmaxf(spread, square) : spread;
    }
    for (int k = 0; k < 3; k++)
        c[k] = hs_ref_store(p, fminf(c[k], top));
    c[3] = hs_ref_store(p, fminf(sqrtf(square / frames), top));
    moments[0] = hs_ref_store(p, mean);
    moments[1] = hs_ref_store(p, fminf(sqrtf(spread), top));
    moments[2] = hs_ref_store(p, frames);
    moments[3] = 0;
}

void hs_ref_accumulate(const struct hs_frame_params *p, const struct hs_state *state,
                       const struct hs_ref_prepared *prep, const struct hs_ref_plane *prev_depth,
                       const struct hs_ref_guided *guided, const struct hs_ref_signal *prev,
                       struct hs_ref_plane *signal, struct hs_ref_plane *moments)
{
    for (int y = 0; y < p->size.y; y++) {
        for (int x = 0; x < p->size.x; x++) {
            const struct hs_ref_surface here = hs_ref_surface_read(&prep->depth, guided, x, y);
            float *c = hs_ref_pixel(signal, x, y), *m = hs_ref_pixel(moments, x, y);
            memcpy(c, hs_ref_texel(&guided->signal, x, y), 3 * sizeof(*c));
            if (here.trait[0] < 0) {
                c[3] = m[1] = m[3] = 0;
                m[0] = hs_ref_store(p, hs_ref_luminance(c));
                m[2] = 1;
                continue;
            }
            struct sums around;
            struct past old = {0};
            const float valid =
                hs_ref_has(p, HS_FRAME_RESET) ? 0 : hs_ref_texel(&prep->aux, x, y)[0];
            look_around(p, prep, guided, &here, x, y, c, &around);
            if (valid > 0)
                old = find_history(p, state, prep, prev_depth, &here, prev, x, y);
            accumulate_pixel(p, &around, &old, valid, c, m);
        }
    }
}
