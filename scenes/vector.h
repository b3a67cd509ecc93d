// SPDX-License-Identifier: MIT
/** Vectors, affine matrices and random numbers of the scene builder. */
#ifndef HS_SCENES_VECTOR_H
#define HS_SCENES_VECTOR_H

#include <math.h>
#include <stdint.h>

#define PI_F 3.14159265f

struct vec3 {
    float x, y, z;
};

/** Affine map: three rows of four. */
struct rows {
    float m[3][4];
};

static inline struct vec3 v3(float x, float y, float z)
{
    return (struct vec3){x, y, z};
}

static inline struct vec3 add(struct vec3 a, struct vec3 b)
{
    return v3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline struct vec3 sub(struct vec3 a, struct vec3 b)
{
    return v3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline struct vec3 mul(struct vec3 a, float s)
{
    return v3(a.x * s, a.y * s, a.z * s);
}

static inline struct vec3 scale3(struct vec3 a, struct vec3 b)
{
    return v3(a.x * b.x, a.y * b.y, a.z * b.z);
}

static inline struct vec3 mix3(struct vec3 a, struct vec3 b, float t)
{
    return add(mul(a, 1.f - t), mul(b, t));
}

static inline float dot3(struct vec3 a, struct vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline struct vec3 cross3(struct vec3 a, struct vec3 b)
{
    return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline float length3(struct vec3 a)
{
    return sqrtf(dot3(a, a));
}

static inline struct vec3 normalize3(struct vec3 a)
{
    const float length = length3(a);
    return length > 1e-20f ? mul(a, 1.f / length) : v3(0, 0, 1);
}

static inline float clampf(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

static inline float luma3(struct vec3 c)
{
    return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
}

static inline struct rows rows_identity(void)
{
    return (struct rows){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
}

static inline struct rows rows_move(struct vec3 p)
{
    return (struct rows){{{1, 0, 0, p.x}, {0, 1, 0, p.y}, {0, 0, 1, p.z}}};
}

static inline struct rows rows_scale(struct vec3 s)
{
    return (struct rows){{{s.x, 0, 0, 0}, {0, s.y, 0, 0}, {0, 0, s.z, 0}}};
}

/** Rotation by `angle` around the unit vector `a`. */
static inline struct rows rows_turn(struct vec3 a, float angle)
{
    const float c = cosf(angle), s = sinf(angle), k = 1.f - c;
    return (struct rows){
        {{a.x * a.x * k + c, a.x * a.y * k - a.z * s, a.x * a.z * k + a.y * s, 0},
         {a.y * a.x * k + a.z * s, a.y * a.y * k + c, a.y * a.z * k - a.x * s, 0},
         {a.z * a.x * k - a.y * s, a.z * a.y * k + a.x * s, a.z * a.z * k + c, 0}}};
}

static inline struct rows rows_mul(struct rows a, struct rows b)
{
    struct rows o;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            o.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j] +
                        (j == 3 ? a.m[i][3] : 0.f);
        }
    }
    return o;
}

static inline struct vec3 rows_point(const struct rows *r, struct vec3 p)
{
    return v3(r->m[0][0] * p.x + r->m[0][1] * p.y + r->m[0][2] * p.z + r->m[0][3],
              r->m[1][0] * p.x + r->m[1][1] * p.y + r->m[1][2] * p.z + r->m[1][3],
              r->m[2][0] * p.x + r->m[2][1] * p.y + r->m[2][2] * p.z + r->m[2][3]);
}

static inline struct vec3 rows_vector(const struct rows *r, struct vec3 p)
{
    return v3(r->m[0][0] * p.x + r->m[0][1] * p.y + r->m[0][2] * p.z,
              r->m[1][0] * p.x + r->m[1][1] * p.y + r->m[1][2] * p.z,
              r->m[2][0] * p.x + r->m[2][1] * p.y + r->m[2][2] * p.z);
}

/** The inverse; a singular matrix gives zeros. */
static inline struct rows rows_inverse(const struct rows *r)
{
    const struct vec3 a = v3(r->m[0][0], r->m[1][0], r->m[2][0]);
    const struct vec3 b = v3(r->m[0][1], r->m[1][1], r->m[2][1]);
    const struct vec3 c = v3(r->m[0][2], r->m[1][2], r->m[2][2]);
    const struct vec3 t = v3(r->m[0][3], r->m[1][3], r->m[2][3]);
    const float det = dot3(a, cross3(b, c)), k = det != 0.f ? 1.f / det : 0.f;
    const struct vec3 x = mul(cross3(b, c), k), y = mul(cross3(c, a), k);
    const struct vec3 z = mul(cross3(a, b), k);
    return (struct rows){
        {{x.x, x.y, x.z, -dot3(x, t)}, {y.x, y.y, y.z, -dot3(y, t)}, {z.x, z.y, z.z, -dot3(z, t)}}};
}

/** Rotation that takes +z to the direction `d`. */
static inline struct rows rows_align(struct vec3 d)
{
    const struct vec3 z = normalize3(d);
    const struct vec3 x =
        normalize3(fabsf(z.z) < 0.99f ? cross3(v3(0, 0, 1), z) : cross3(v3(1, 0, 0), z));
    const struct vec3 y = cross3(z, x);
    return (struct rows){{{x.x, y.x, z.x, 0}, {x.y, y.y, z.y, 0}, {x.z, y.z, z.z, 0}}};
}

/** splitmix64: the same numbers on every machine. */
struct random {
    uint64_t state;
};

static inline uint32_t random_bits(struct random *r)
{
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

/** Uniform in [0, 1). */
static inline float random_unit(struct random *r)
{
    return (float)(random_bits(r) >> 8) * 0x1p-24f;
}

/** Uniform in [low, high). */
static inline float random_in(struct random *r, float low, float high)
{
    return low + (high - low) * random_unit(r);
}

/** Logarithmically uniform in [low, high). */
static inline float random_log(struct random *r, float low, float high)
{
    return low * expf(logf(high / low) * random_unit(r));
}

/** Uniform integer in [low, high]. */
static inline int random_int(struct random *r, int low, int high)
{
    return low + (int)(((uint64_t)random_bits(r) * (uint64_t)(high - low + 1)) >> 32);
}

static inline int random_chance(struct random *r, float probability)
{
    return random_unit(r) < probability;
}

static inline float random_sign(struct random *r)
{
    return random_bits(r) & 1 ? 1.f : -1.f;
}

/** About normal, mean 0, deviation 1. */
static inline float random_normal(struct random *r)
{
    float sum = 0;
    for (int i = 0; i < 6; i++)
        sum += random_unit(r);
    return (sum - 3.f) * 1.41421356f;
}

static inline struct vec3 random_direction(struct random *r)
{
    const float z = random_in(r, -1, 1), a = random_in(r, 0, 2 * PI_F), q = sqrtf(1 - z * z);
    return v3(q * cosf(a), q * sinf(a), z);
}

#endif
