// SPDX-License-Identifier: MIT
#include "scene.h"

void pose_nodes(const struct scene *s, float t, struct rows *out)
{
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct node *n = &s->nodes[i];
        struct vec3 move = mul(n->velocity, t);
        if (n->wrap > 0) {
            const float speed = length3(n->velocity), travelled = speed * t + n->phase * n->wrap;
            const float left = travelled - n->wrap * floorf(travelled / n->wrap);
            move = mul(normalize3(n->velocity), left);
        }
        if (n->sway_rate != 0)
            move = add(move, mul(n->sway, sinf(n->sway_rate * t + n->phase)));
        if (n->hop > 0)
            move.z += n->hop * fabsf(sinf(n->hop_rate * t + n->phase));
        const float angle =
            n->spin * t + (n->rock != 0 ? n->rock * sinf(n->rock_rate * t + n->phase) : 0);
        struct rows local = rows_mul(rows_move(move), n->base);
        if (angle != 0)
            local = rows_mul(local, rows_turn(n->axis, angle));
        out[i] = n->parent >= 0 ? rows_mul(out[n->parent], local) : local;
    }
}

/** Smooth noise of one variable in -1..1. */
static float wander(uint32_t seed, float t)
{
    return 0.5f * (sinf(t + (float)(seed & 1023u)) + sinf(2.3f * t + (float)(seed >> 10 & 1023u)));
}

void pose_view(const struct scene *s, const struct shot *shot, float t, struct view *out)
{
    struct vec3 target = add(shot->target, mul(shot->target_velocity, t));
    struct vec3 eye = add(shot->eye, mul(shot->eye_velocity, t));
    if (shot->orbit != 0) {
        const struct rows turn = rows_turn(v3(0, 0, 1), shot->orbit * t);
        eye = add(target, rows_vector(&turn, sub(eye, target)));
    }
    eye = add(eye, mul(shot->sway, sinf(shot->sway_rate * t + shot->phase) - sinf(shot->phase)));
    struct vec3 forward = normalize3(sub(target, eye));
    struct vec3 right = normalize3(cross3(forward, v3(0, 0, 1)));
    struct vec3 up = cross3(right, forward);
    if (shot->shake > 0) {
        const float q = shot->shake_rate * t;
        const float x = shot->shake * wander(shot->seed, q);
        const float y = shot->shake * wander(shot->seed * 7 + 3, 1.1f * q);
        forward = normalize3(add(forward, add(mul(right, x), mul(up, y))));
        right = normalize3(cross3(forward, up));
        up = cross3(right, forward);
    }
    const float roll = shot->roll + shot->roll_rate * t;
    const struct vec3 r = add(mul(right, cosf(roll)), mul(up, sinf(roll)));
    out->eye = eye;
    out->forward = forward;
    out->right = r;
    out->up = cross3(r, forward);
    out->tan_y = tanf(0.5f * shot->fov) * expf(clampf(shot->zoom * t, -1.2f, 0.7f));
    out->tan_x = out->tan_y * s->aspect;
}

const struct shot *pose_shot(const struct scene *s, uint32_t frame, bool *reset)
{
    const struct shot *shot = &s->shots[0];
    for (uint32_t i = 1; i < s->shot_count; i++) {
        if (s->shots[i].first <= frame)
            shot = &s->shots[i];
    }
    *reset = frame == shot->first;
    return shot;
}

void pose_mesh(const struct mesh *m, float t, struct vec3 *out)
{
    const float a = m->deform_size, w = m->deform_rate * t + m->deform_phase;
    for (uint32_t i = 0; i < m->vertex_count; i++) {
        struct vec3 p = m->rest[i];
        const float reach = m->deform_reach;
        switch (m->deform) {
        case DEFORM_CLOTH: {
            const float u = p.x / reach;
            p.z +=
                a * u * (sinf(9.f * u - w) + 0.4f * sinf(5.f * u + 3.f * p.y / reach - 1.7f * w));
            p.y += 0.25f * a * u * sinf(6.f * u - 0.8f * w);
            break;
        }
        case DEFORM_SWAY: {
            const float k = a * (p.z / reach) * fabsf(p.z / reach);
            p.x += k * sinf(w + 1.3f * p.y / reach);
            p.y += 0.6f * k * sinf(0.83f * w + 1.1f * p.x / reach);
            break;
        }
        case DEFORM_WATER:
            p.z += a * (sinf(p.x / reach + w) * cosf(0.8f * p.y / reach - 0.6f * w) +
                        0.5f * sinf(2.1f * p.y / reach + 1.4f * w));
            break;
        case DEFORM_BLOB:
            p = add(p, mul(normalize3(p), a * sinf(3.f * p.x / reach + w) *
                                              sinf(3.f * p.y / reach - 0.7f * w + 1.f) *
                                              sinf(2.5f * p.z / reach + 0.5f * w + 2.f)));
            break;
        case DEFORM_NONE:
            break;
        }
        out[i] = p;
    }
}

float pose_flicker(float amount, uint32_t seed, uint32_t frame)
{
    if (amount <= 0)
        return 1;
    struct random r = {(uint64_t)seed << 32 | frame};
    random_bits(&r);
    return 1.f - amount * random_unit(&r);
}
