// SPDX-License-Identifier: MIT
/** Motion made whole: vectors to the next frame turned round, pixels without vectors filled. */
#include "camera_fit.h"
#include "frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 1600
#define LEAST_SAMPLES 64
/** Fits that fewer vectors agree with are no camera. */
#define LEAST_SHARE 0.6
/** Fewer surfaces than this have vectors: those that have some move by themselves. */
#define LEAST_SURFACES 0.7
/** Greatest mean standard error of what is filled in, pixels. */
#define MOST_DOUBT 0.75

/* The planes of a frame, canonical, in the raster of the motion plane. */
struct field {
    int width, height;
    float *motion; ///< Pixels, as the convention's direction says; NAN: no vector.
    float *near;   ///< One over depth in any unit; 0: background; NULL: no depth.
};

static void field_finish(struct field *field)
{
    free(field->motion);
    free(field->near);
    *field = (struct field){0};
}

static int no_memory(const struct hsio_frame *f)
{
    return hsio_fail(&f->seq->log, HS_ERR_NOMEM, "%s: out of memory", f->info.path);
}

static float nearness(const struct hsio_convention *c, float z)
{
    switch (c->depth.kind) {
    case HSIO_DEPTH_HARDWARE:
        return isfinite(z) && z < 1 && z != c->depth.background ? 1 - z : 0;
    case HSIO_DEPTH_HARDWARE_INVERTED:
        return isfinite(z) && z > 0 && z != c->depth.background ? z : 0;
    default:
        return isfinite(z) && z > 0 && z < c->depth.background ? 1 / z : 0;
    }
}

/* One over depth, at the pixels of the motion plane. */
static void take_near(const struct hsio_frame *f, const float *depth, struct field *field)
{
    const struct hsio_plane_info *info = &f->info.planes[HSIO_PLANE_DEPTH];

    for (int y = 0; y < field->height; y++) {
        const float *row =
            depth + (size_t)((int64_t)y * info->height / field->height) * (size_t)info->width;

        for (int x = 0; x < field->width; x++)
            field->near[(size_t)y * (size_t)field->width + (size_t)x] =
                nearness(&f->convention, row[(int64_t)x * info->width / field->width]);
    }
}

/* As stored, both at once: they may be in one file. */
static int read_planes(struct hsio_frame *f, struct hsio_plane_stats *stats, struct field *field)
{
    const struct hsio_plane_info *info = &f->info.planes[HSIO_PLANE_DEPTH];
    const size_t pixels = (size_t)field->width * (size_t)field->height;
    const size_t depth_bytes = (size_t)info->width * (size_t)info->height * sizeof(float);
    float *depth = info->present ? malloc(depth_bytes) : NULL;
    int result = 0;

    field->motion = malloc(pixels * 2 * sizeof(float));
    field->near = info->present ? malloc(pixels * sizeof(float)) : NULL;
    if (!field->motion || (info->present && (!depth || !field->near))) {
        result = no_memory(f);
    } else {
        const struct hsio_plane_request requests[] = {
            {.plane = HSIO_PLANE_MOTION,
             .format = HSIO_FORMAT_RG32F,
             .buffer = field->motion,
             .buffer_bytes = pixels * 2 * sizeof(float),
             .stats = stats},
            {.plane = HSIO_PLANE_DEPTH,
             .format = HSIO_FORMAT_R32F,
             .buffer = depth,
             .buffer_bytes = depth_bytes},
        };

        result = hsio_frame_read(f, requests, info->present ? 2 : 1);
        if (!result && info->present)
            take_near(f, depth, field);
    }
    free(depth);
    return result;
}

static bool is_written(const struct hsio_motion_convention *m, const float raw[2], bool far)
{
    if (!isfinite(raw[0]) || !isfinite(raw[1]))
        return false;
    if (raw[0] != 0 || raw[1] != 0)
        return true;
    return m->unwritten != HSIO_UNWRITTEN_ZERO &&
           !(m->unwritten == HSIO_UNWRITTEN_ZERO_AT_FAR && far);
}

static int read_field(struct hsio_frame *f, struct hsio_plane_stats *stats, struct field *field)
{
    struct hsio_motion_convention m = f->convention.motion;
    const struct hsio_plane_info *info = &f->info.planes[HSIO_PLANE_MOTION];
    float scale[2];
    int result;

    field->width = info->width;
    field->height = info->height;
    result = read_planes(f, stats, field);
    if (result)
        return result;
    m.resolution = HSIO_RESOLUTION_RENDER; // Pixels of the plane itself.
    hsio_motion_scale(&m, field->width, field->height, field->width, field->height, scale);
    for (size_t i = 0; i < (size_t)field->width * (size_t)field->height; i++) {
        float *v = field->motion + 2 * i;
        const bool far = field->near && field->near[i] <= 0;
        const float raw[2] = {v[m.swap ? 1 : 0], v[m.swap ? 0 : 1]};
        const bool written = is_written(&m, v, far);

        v[0] = written ? (raw[0] - m.bias_x) * scale[0] : NAN;
        v[1] = written ? (raw[1] - m.bias_y) * scale[1] : NAN;
    }
    return 0;
}

/* ------------------------------------------------------------------------ to the next frame --- */

/* What lands on a pixel: the nearest, and of equals the one that lands closest. */
struct landing {
    float near, distance;
};

static void land(const struct field *from, size_t i, const double at[2], struct field *to,
                 struct landing *landings)
{
    const float near = from->near ? from->near[i] : 0;
    const int x0 = (int)floor(at[0] - 0.5), y0 = (int)floor(at[1] - 0.5);

    for (int k = 0; k < 4; k++) {
        const int x = x0 + (k & 1), y = y0 + (k >> 1);
        const float distance = (float)hypot(x + 0.5 - at[0], y + 0.5 - at[1]);
        struct landing *l;

        if (x < 0 || y < 0 || x >= to->width || y >= to->height || distance > 0.9f)
            continue;
        l = &landings[(size_t)y * (size_t)to->width + (size_t)x];
        if (l->distance >= 0 &&
            (near < 0.98f * l->near || (near * 0.98f <= l->near && distance >= l->distance)))
            continue;
        *l = (struct landing){near, distance};
        to->motion[2 * ((size_t)y * (size_t)to->width + (size_t)x)] = -from->motion[2 * i];
        to->motion[2 * ((size_t)y * (size_t)to->width + (size_t)x) + 1] = -from->motion[2 * i + 1];
    }
}

/* The vectors of the frame before lead here: each is turned round where it ends. */
static int turn(struct hsio_frame *before, const struct hsio_frame *f, struct field *out)
{
    struct field from = {0};
    struct landing *landings = NULL;
    double shift[2] = {0, 0};
    size_t count;
    int result = read_field(before, NULL, &from);

    count = (size_t)from.width * (size_t)from.height;
    if (!result && (from.width != out->width || from.height != out->height))
        goto end;
    if (!result) {
        landings = malloc(count * sizeof(*landings));
        result = landings ? 0 : no_memory(f);
    }
    for (int a = 0; a < 2 && before->info.has_jitter && f->info.has_jitter; a++)
        shift[a] = ((double)before->info.jitter_px[a] - (double)f->info.jitter_px[a]) *
                   (a ? (double)from.height / before->info.height
                      : (double)from.width / before->info.width);
    for (size_t i = 0; !result && i < count; i++)
        landings[i].distance = -1;
    for (int y = 0; !result && y < from.height; y++) {
        for (int x = 0; x < from.width; x++) {
            const size_t i = (size_t)y * (size_t)from.width + (size_t)x;
            const double at[2] = {x + 0.5 + shift[0] + (double)from.motion[2 * i],
                                  y + 0.5 + shift[1] + (double)from.motion[2 * i + 1]};

            if (at[0] > -1 && at[1] > -1 && at[0] < from.width + 1 && at[1] < from.height + 1)
                land(&from, i, at, out, landings);
        }
    }
end:
    free(landings);
    field_finish(&from);
    return result;
}

/* -------------------------------------------------------------------------- without vectors --- */

static void place(const struct field *field, size_t i, double out[2])
{
    const double half = 0.5 * field->width;

    out[0] = ((double)(i % (size_t)field->width) + 0.5 - half) / half;
    out[1] = ((double)(i / (size_t)field->width) + 0.5 - 0.5 * field->height) / half;
}

/* Written vectors on a grid, those of the background left out: they belong to what is before it. */
static int choose(const struct field *field, float top, struct hsio_camera_sample *list)
{
    const size_t count = (size_t)field->width * (size_t)field->height;
    const size_t step = count / SAMPLES + 1, half = (size_t)field->width / 2;
    const double longest = 2.0 * (field->width + field->height) / field->width;
    int n = 0;

    // The step must not fall into step with the rows.
    for (size_t i = half; i < count + half && n < SAMPLES; i += step) {
        const size_t k = (i + i / (size_t)field->width * 7) % count;
        struct hsio_camera_sample s = {.near = field->near ? (double)(field->near[k] / top) : 0};
        double at[2];

        if (isnan(field->motion[2 * k]) || (field->near && field->near[k] <= 0))
            continue;
        place(field, k, at);
        s.x = at[0];
        s.y = at[1];
        s.motion[0] = (double)field->motion[2 * k] / (0.5 * field->width);
        s.motion[1] = (double)field->motion[2 * k + 1] / (0.5 * field->width);
        if (hypot(s.motion[0], s.motion[1]) < longest)
            list[n++] = s;
    }
    return n;
}

/* Mean doubt over a sample of what is to be filled. */
static double mean_doubt(const struct field *field, const struct hsio_camera_fit *fit, float top)
{
    const size_t count = (size_t)field->width * (size_t)field->height, step = count / 4096 + 1;
    double sum = 0, at[2];
    int n = 0;

    for (size_t i = step / 2; i < count; i += step) {
        if (!isnan(field->motion[2 * i]))
            continue;
        place(field, i, at);
        sum +=
            hsio_camera_doubt(fit, at[0], at[1], field->near ? (double)(field->near[i] / top) : 0);
        n++;
    }
    return n ? sum / n : 0;
}

static void fill(struct field *field, const struct hsio_camera_fit *fit, float top,
                 struct hsio_mended *m)
{
    const double half = 0.5 * field->width;

    for (size_t i = 0; i < (size_t)field->width * (size_t)field->height; i++) {
        double at[2], moved[2];

        if (!isnan(field->motion[2 * i]))
            continue;
        place(field, i, at);
        if (!hsio_camera_move(fit, at[0], at[1], field->near ? (double)(field->near[i] / top) : 0,
                              moved))
            continue;
        field->motion[2 * i] = (float)(moved[0] * half);
        field->motion[2 * i + 1] = (float)(moved[1] * half);
        m->filled++;
    }
}

static int estimate(const struct hsio_frame *f, struct field *field, struct hsio_mended *m)
{
    const size_t count = (size_t)field->width * (size_t)field->height;
    struct hsio_camera_sample *list = NULL;
    struct hsio_camera_fit fit;
    double *room = NULL;
    size_t surfaces = 0, bare = 0;
    float top = 0;
    int n;

    for (size_t i = 0; i < count; i++) {
        const bool surface = !field->near || field->near[i] > 0;

        surfaces += surface;
        bare += surface && isnan(field->motion[2 * i]);
        if (field->near && field->near[i] > top)
            top = field->near[i];
    }
    if (!field->near)
        bare = 0; // Surfaces are not told from the background.
    if (!m->unwritten || !surfaces || (double)(surfaces - bare) < LEAST_SURFACES * (double)surfaces)
        return 0;
    top = top > 0 ? top : 1;
    list = malloc(SAMPLES * sizeof(*list));
    room = malloc(SAMPLES * sizeof(*room));
    if (!list || !room) {
        free(list);
        free(room);
        return no_memory(f);
    }
    n = choose(field, top, list);
    if (n >= LEAST_SAMPLES && hsio_camera_fit(list, n, 2.0 / field->width, room, &fit)) {
        m->share = fit.share;
        m->doubt_px = mean_doubt(field, &fit, top);
        if (m->share >= LEAST_SHARE && m->doubt_px <= MOST_DOUBT)
            fill(field, &fit, top, m);
    }
    free(list);
    free(room);
    return 0;
}

static uint64_t count_unwritten(const struct field *field)
{
    uint64_t n = 0;

    for (size_t i = 0; i < (size_t)field->width * (size_t)field->height; i++)
        n += isnan(field->motion[2 * i]) != 0;
    return n;
}

/* From here on the frame's motion is this. `holes`: pixels without a vector may be left. */
static void keep(struct hsio_frame *f, struct field *field, bool holes)
{
    struct hsio_motion_convention *m = &f->convention.motion;

    *m = (struct hsio_motion_convention){
        .unwritten =
            holes || m->unwritten == HSIO_UNWRITTEN_NAN ? HSIO_UNWRITTEN_NAN : HSIO_UNWRITTEN_NONE,
        .resolution = m->resolution,
        .jittered = m->jittered,
        .sign_x = 1,
        .sign_y = 1,
        .scale_x = 1,
        .scale_y = 1,
    };
    f->mended = field->motion;
    field->motion = NULL;
}

/* Vectors lead to the next frame: those of the frame before, unless history ends between. */
static int mend_turned(struct hsio_frame *f, struct field *field)
{
    const int index = (int)(f->slot - f->seq->slots);
    struct hsio_plane_info *info = &f->info.planes[HSIO_PLANE_MOTION];
    const struct hsio_plane_info found = *info;
    struct hsio_frame *before = NULL;
    int result = 0;

    if (index > 0 && !f->slot->reset && !f->slot->held)
        result = hsio_frame_open(f->seq, index - 1, &before);
    if (!result && before && !info->present && before->info.planes[HSIO_PLANE_MOTION].present) {
        *info = before->info.planes[HSIO_PLANE_MOTION];
        info->path = f->info.path;
    }
    if (result || !info->present)
        goto end;
    field->width = info->width;
    field->height = info->height;
    field->motion = malloc((size_t)info->width * (size_t)info->height * 2 * sizeof(float));
    if (!field->motion) {
        result = no_memory(f);
        goto end;
    }
    for (size_t i = 0; i < (size_t)info->width * (size_t)info->height * 2; i++)
        field->motion[i] = NAN;
    if (before && before->info.planes[HSIO_PLANE_MOTION].present)
        result = turn(before, f, field);
    f->mended_stats = (struct hsio_plane_stats){0};
end:
    if (result)
        *info = found;
    hsio_frame_close(&before);
    return result;
}

/* `always`: also where nothing is to be made whole. */
static int mend(struct hsio_frame *frame, bool always, struct hsio_mended *out)
{
    const struct hsio_motion_convention *m = &frame->convention.motion;
    const bool turned = m->direction == HSIO_DIRECTION_NEXT;
    const bool camera = frame->info.has_view && frame->info.has_proj;
    const bool whole = m->unwritten == HSIO_UNWRITTEN_NONE || camera;
    struct hsio_mended mended = {.turned = turned, .camera = camera};
    struct field field = {0};
    int result = 0;

    if (frame->mended ||
        (!turned && ((whole && !always) || !frame->info.planes[HSIO_PLANE_MOTION].present))) {
        *out = frame->mended ? frame->mended_facts : mended;
        return 0;
    }
    if (turned)
        result = mend_turned(frame, &field);
    else
        result = read_field(frame, &frame->mended_stats, &field);
    if (!result && field.motion) {
        mended.unwritten = count_unwritten(&field);
        // Holes of turned vectors were hidden before: they have no history.
        if (!turned && !whole)
            result = estimate(frame, &field, &mended);
    }
    if (!result && field.motion) {
        keep(frame, &field, turned || always);
        frame->mended_facts = mended;
    }
    if (!result)
        *out = mended;
    field_finish(&field);
    return result;
}

int hsio_frame_mend(struct hsio_frame *frame, struct hsio_mended *out)
{
    return mend(frame, false, out);
}

int hsio_frame_canonical(struct hsio_frame *frame, struct hsio_mended *out)
{
    return mend(frame, true, out);
}
