// SPDX-License-Identifier: MIT
/** Keeps the camera of a random scene from passing through things in the course of its clip. */
#include "look.h"

#include <stdlib.h>

#define MAX_STEPS 64 // frames that are looked at
#define MAX_HALTS 6  // things that are held
#define PROBES 3

struct segment {
    struct vec3 from, to;
};

/** Slabs; the end points lie inside, or the segment passes through. */
static bool meets_box(const struct segment *g, struct vec3 low, struct vec3 high)
{
    const float o[3] = {g->from.x, g->from.y, g->from.z};
    const float d[3] = {g->to.x - o[0], g->to.y - o[1], g->to.z - o[2]};
    const float a[3] = {low.x, low.y, low.z}, b[3] = {high.x, high.y, high.z};
    float near = 0, far = 1;
    for (int k = 0; k < 3; k++) {
        if (fabsf(d[k]) < 1e-12f) {
            if (o[k] < a[k] || o[k] > b[k])
                return false;
            continue;
        }
        const float s = (a[k] - o[k]) / d[k], t = (b[k] - o[k]) / d[k];
        near = fmaxf(near, fminf(s, t));
        far = fminf(far, fmaxf(s, t));
    }
    return near <= far;
}

static bool meets_triangle(const struct segment *g, struct vec3 a, struct vec3 b, struct vec3 c)
{
    const struct vec3 d = sub(g->to, g->from), e = sub(b, a), f = sub(c, a), p = cross3(d, f);
    const float det = dot3(e, p);
    if (det == 0)
        return false;
    const struct vec3 s = sub(g->from, a), q = cross3(s, e);
    const float u = dot3(s, p) / det, v = dot3(d, q) / det, t = dot3(f, q) / det;
    return u >= 0 && v >= 0 && u + v <= 1 && t >= 0 && t <= 1;
}

static bool meets_mesh(const struct mesh *m, const struct segment *g, uint32_t link)
{
    const uint32_t count = link >> 24, first = link & 0xffffffu;
    for (uint32_t i = first; i < first + count; i++) {
        const uint32_t *t = m->triangle[i];
        if (meets_triangle(g, m->position[t[0]], m->position[t[1]], m->position[t[2]]))
            return true;
    }
    for (uint32_t i = first; !count && i < first + 2; i++) {
        const struct tree_node *n = &m->nodes[i];
        if (meets_box(g, v3(n->low[0], n->low[1], n->low[2]),
                      v3(n->high[0], n->high[1], n->high[2])) &&
            meets_mesh(m, g, n->link))
            return true;
    }
    return false;
}

static bool meets_item(const struct scene *s, const struct item *item, const struct segment *g,
                       float margin)
{
    const struct vec3 h = item->half;
    if (item->shape == SCENE_SHAPE_MESH)
        return meets_mesh(&s->meshes[item->mesh], g, s->meshes[item->mesh].root);
    const float wide = item->shape == SCENE_SHAPE_CONE ? fmaxf(1, item->taper) : 1;
    const bool flat = item->shape == SCENE_SHAPE_QUAD || item->shape == SCENE_SHAPE_DISC;
    const struct vec3 r =
        v3(wide + margin / h.x, wide + margin / h.y, (flat ? 0 : 1) + margin / h.z);
    return meets_box(g, mul(r, -1), r);
}

/** The way of the eye from one frame to the next, then a little ahead of it and below. */
static void probes_of(const struct scene *s, const struct shot *shot, float t,
                      struct segment out[PROBES])
{
    struct view old, now;
    pose_view(s, shot, t - 1, &old);
    pose_view(s, shot, t, &now);
    const struct vec3 ahead = mul(now.forward, 0.1f * s->distance);
    out[0] = (struct segment){old.eye, now.eye};
    out[1] = (struct segment){now.eye, add(now.eye, ahead)};
    out[2] = (struct segment){now.eye, add(now.eye, v3(0, 0, -0.03f * s->distance))};
}

static struct rows item_inverse(const struct item *item, const struct rows *nodes)
{
    const struct rows place = rows_mul(nodes[item->node], item->local);
    const struct rows world = rows_mul(place, rows_scale(item->half));
    return rows_inverse(&world);
}

struct path {
    struct rows *nodes[2]; // at t-1 and t
    bool *ignore;          // what the camera starts in, and what it may pass: particles
};

static bool item_in_way(const struct scene *s, const struct path *p, const struct item *item,
                        const struct segment probes[PROBES])
{
    const struct rows old = item_inverse(item, p->nodes[0]), now = item_inverse(item, p->nodes[1]);
    for (int i = 0; i < PROBES; i++) {
        const struct segment g = {rows_point(i ? &now : &old, probes[i].from),
                                  rows_point(&now, probes[i].to)};
        if (meets_item(s, item, &g, i ? 0 : 0.02f * s->distance))
            return true;
    }
    return false;
}

/** The first item in the way of a shot from frame `first` to before frame `end`, or NULL. */
static const struct item *in_way(const struct scene *s, const struct path *p,
                                 const struct shot *shot, uint32_t first, uint32_t end)
{
    for (uint32_t t = first; t < end; t++) {
        struct segment probes[PROBES];
        probes_of(s, shot, (float)t, probes);
        pose_nodes(s, (float)t - 1, p->nodes[0]);
        pose_nodes(s, (float)t, p->nodes[1]);
        for (uint32_t i = 0; i < s->item_count; i++) {
            if (!p->ignore[i] && item_in_way(s, p, &s->items[i], probes))
                return &s->items[i];
        }
    }
    return NULL;
}

static void find_ignored(const struct scene *s, const struct path *p)
{
    struct segment probes[PROBES];
    probes_of(s, &s->shots[0], 0, probes);
    probes[0].from = probes[0].to;
    pose_nodes(s, 0, p->nodes[0]);
    pose_nodes(s, 0, p->nodes[1]);
    for (uint32_t i = 0; i < s->item_count; i++) {
        const struct item *item = &s->items[i];
        p->ignore[i] = item->half.x < 1e-5f || (item->flags & SCENE_INSTANCE_NO_SHADOW) ||
                       item_in_way(s, p, item, probes);
    }
}

/** Slows the shot down; what it meets even when it stands still, or NULL. */
static const struct item *slow_down(const struct scene *s, const struct path *p, struct shot *shot,
                                    uint32_t first, uint32_t end)
{
    static const float speeds[] = {1, 0.6f, 0.36f, 0.2f, 0.1f, 0.03f, 0};
    const struct shot as_drawn = *shot;
    const struct item *met = NULL;
    for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
        shot->eye_velocity = mul(as_drawn.eye_velocity, speeds[i]);
        shot->target_velocity = mul(as_drawn.target_velocity, speeds[i]);
        shot->sway = mul(as_drawn.sway, speeds[i]);
        shot->orbit = as_drawn.orbit * speeds[i];
        met = in_way(s, p, shot, first, end);
        if (!met)
            return NULL;
    }
    *shot = as_drawn;
    return met;
}

/** Holds what would run into the camera where it is at first. */
static void halt(struct scene *s, const struct item *item)
{
    for (int32_t i = item->node; i >= 0; i = s->nodes[i].parent) {
        struct node *n = &s->nodes[i];
        n->velocity = n->sway = v3(0, 0, 0);
        n->hop = 0;
    }
}

void look_path(struct scene *s)
{
    struct path p = {
        {calloc(s->node_count, sizeof(struct rows)), calloc(s->node_count, sizeof(struct rows))},
        calloc(s->item_count, sizeof(bool))};
    if (!p.nodes[0] || !p.nodes[1] || !p.ignore)
        s->failed = true;
    if (!s->failed)
        find_ignored(s, &p);
    for (uint32_t k = 0; !s->failed && k < s->shot_count; k++) {
        struct shot *shot = &s->shots[k];
        uint32_t end = k + 1 < s->shot_count ? s->shots[k + 1].first : s->frame_count;
        if (end > shot->first + MAX_STEPS)
            end = shot->first + MAX_STEPS;
        const struct item *met = NULL;
        for (int tries = 0; tries < MAX_HALTS; tries++) {
            met = slow_down(s, &p, shot, shot->first + !k, end);
            if (!met || k)
                break;
            halt(s, met);
        }
        if (met && k)
            s->shot_count = k; // no cut to a place inside of something
    }
    free(p.nodes[0]);
    free(p.nodes[1]);
    free(p.ignore);
}
