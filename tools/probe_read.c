// SPDX-License-Identifier: MIT
// Frames for hindsight probe, cut to a window around the middle.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "report.h"

#define WINDOW 1024
#define RANKS 4096
/** Radius within which the nearest surface's vector counts. */
#define LEAD 1
/** Radius of the neighbourhood whose mean is taken off. */
#define REACH 3

/** What the first frame settles for all of them. */
struct probe_read {
    float exposure;
    bool guides, albedo, normal;
    int ranks;
    float sorted[RANKS + 1];
};

/** A whole plane as floats; the caller frees it. NULL in `*out` without the plane. */
static int read_plane(struct hsio_frame *frame, enum hsio_plane plane, float **out,
                      struct hsio_plane_stats *stats)
{
    const struct hsio_plane_info *info = &hsio_frame_info(frame)->planes[plane];
    const int channels = hsio_plane_channels(plane);
    const size_t bytes =
        (size_t)info->width * (size_t)info->height * (size_t)channels * sizeof(float);

    *out = NULL;
    if (!info->present)
        return 0;
    *out = malloc(bytes);
    if (!*out)
        return HS_ERR_NOMEM;
    return hsio_frame_read(frame,
                           &(struct hsio_plane_request){
                               .plane = plane,
                               .format = channels == 1   ? HSIO_FORMAT_R32F
                                         : channels == 2 ? HSIO_FORMAT_RG32F
                                                         : HSIO_FORMAT_RGBA32F,
                               .buffer = *out,
                               .buffer_bytes = bytes,
                               .stats = stats,
                           },
                           1);
}

/** Cuts out the window; planes of another size are sampled at colour's pixels. */
static float *cut(const struct probe_clip *clip, const float *plane, int width, int height,
                  int channels)
{
    float *out = malloc((size_t)clip->w * (size_t)clip->h * (size_t)channels * sizeof(float));
    const size_t pixel = (size_t)channels * sizeof(float);

    for (int y = 0; out && y < clip->h; y++) {
        const int sy = (int)((long)(2 * (clip->y + y) + 1) * height / (2 * clip->height));

        for (int x = 0; x < clip->w; x++) {
            const int sx = (int)((long)(2 * (clip->x + x) + 1) * width / (2 * clip->width));

            memcpy(out + ((size_t)y * clip->w + x) * channels,
                   plane + ((size_t)sy * width + sx) * channels, pixel);
        }
    }
    return out;
}

static int take_plane(struct probe_clip *clip, struct hsio_frame *frame, enum hsio_plane plane,
                      float **out, struct hsio_plane_stats *stats)
{
    const struct hsio_plane_info *info = &hsio_frame_info(frame)->planes[plane];
    float *whole = NULL;
    int err = read_plane(frame, plane, &whole, stats);

    if (!err && whole) {
        *out = cut(clip, whole, info->width, info->height, hsio_plane_channels(plane));
        err = *out ? 0 : HS_ERR_NOMEM;
    }
    free(whole);
    return err;
}

static float luma_of(const float *rgb)
{
    return 0.2126f * rgb[0] + 0.7152f * rgb[1] + 0.0722f * rgb[2];
}

/** Factor that brings the geometric mean to middle grey. */
static float exposure_of(const float *color, size_t pixels)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < pixels; i++) {
        const float y = luma_of(color + 4 * i);

        if (isfinite(y) && y > 1e-6f) {
            sum += log((double)y);
            count++;
        }
    }
    return count ? (float)(0.18 / exp(sum / (double)count)) : 1;
}

static float tone(float x)
{
    return isfinite(x) && x > 0 ? powf(x / (1 + x), 1 / 2.2f) : 0;
}

/** Binomial 3x3: point samples and noise hide less of what moves. */
static void smooth(const float *in, int w, int h, int n, float *out)
{
    for (int y = 0; y < h; y++) {
        const int y0 = y > 0 ? y - 1 : 0, y1 = y < h - 1 ? y + 1 : y;

        for (int x = 0; x < w; x++) {
            const int xs[3] = {x > 0 ? x - 1 : 0, x, x < w - 1 ? x + 1 : x};

            for (int c = 0; c < n; c++) {
                float sum = 0;

                for (int k = 0; k < 3; k++)
                    sum += (k == 1 ? 2.0f : 1.0f) * (in[n * ((size_t)y0 * w + xs[k]) + c] +
                                                     2 * in[n * ((size_t)y * w + xs[k]) + c] +
                                                     in[n * ((size_t)y1 * w + xs[k]) + c]);
                out[n * ((size_t)y * w + x) + c] = sum / 16;
            }
        }
    }
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/** Sorted depths of the first frame: a depth's place among them has no unit and no kind. */
static void make_ranks(struct probe_read *r, const float *depth, size_t pixels)
{
    const size_t step = pixels / RANKS + 1;

    r->ranks = 0;
    for (size_t i = 0; depth && i < pixels; i += step)
        r->sorted[r->ranks++] = isnan(depth[i]) ? INFINITY : depth[i];
    qsort(r->sorted, (size_t)r->ranks, sizeof(float), by_value);
}

static float rank_of(const struct probe_read *r, float depth)
{
    int low = 0, high = r->ranks;

    while (low < high) {
        const int mid = (low + high) / 2;

        if (r->sorted[mid] < depth)
            low = mid + 1;
        else
            high = mid;
    }
    return (float)low / (float)r->ranks;
}

/** Takes off what a neighbourhood has in common: shading and floors that run into the distance look
 * the same where they have moved. `sums` is scratch of the same size. */
static void sharpen(const struct probe_clip *clip, float *sums, float *features)
{
    const int w = clip->w, h = clip->h, n = clip->features;

    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            for (int c = 0; c < n; c++) {
                float sum = 0;
                int count = 0;

                for (int k = -REACH; k <= REACH; k++) {
                    if (x + k < 0 || x + k >= w)
                        continue;
                    sum += features[n * ((size_t)y * w + x + k) + c];
                    count++;
                }
                sums[n * ((size_t)y * w + x) + c] = sum / (float)count;
            }
        }
    }
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            for (int c = 0; c < n; c++) {
                float sum = 0;
                int count = 0;

                for (int k = -REACH; k <= REACH; k++) {
                    if (y + k < 0 || y + k >= h)
                        continue;
                    sum += sums[n * ((size_t)(y + k) * w + x) + c];
                    count++;
                }
                features[n * ((size_t)y * w + x) + c] -= sum / (float)count;
            }
        }
    }
}

/** Which end of the depths is near, as far as it can be said before anything else is known. */
static bool far_is_larger(const struct probe_clip *clip, const struct probe_frame *f)
{
    return clip->convention->depth.kind != HSIO_DEPTH_HARDWARE_INVERTED ||
           f->depth_stats.max > 1.0f || f->depth_stats.non_finite > 0;
}

/**
 * The vector of the nearest pixel around, for each pixel: what can be seen of an edge moves with
 * the surface in front, also in the pixels behind it.
 */
static int make_leading(const struct probe_clip *clip, struct probe_frame *f)
{
    const int w = clip->w, h = clip->h;
    const bool larger = f->depth && far_is_larger(clip, f);

    if (!f->motion)
        return 0;
    f->leading = malloc((size_t)w * (size_t)h * 2 * sizeof(float));
    if (!f->leading)
        return HS_ERR_NOMEM;
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            size_t best = (size_t)y * w + x;

            for (int k = 0; f->depth && k < (2 * LEAD + 1) * (2 * LEAD + 1); k++) {
                const int qx = x + k % (2 * LEAD + 1) - LEAD, qy = y + k / (2 * LEAD + 1) - LEAD;
                const size_t at = (size_t)qy * w + qx;

                if (qx < 0 || qy < 0 || qx >= w || qy >= h || isnan(f->depth[at]))
                    continue;
                if (larger ? f->depth[at] < f->depth[best] : f->depth[at] > f->depth[best])
                    best = at;
            }
            memcpy(f->leading + 2 * ((size_t)y * w + x), f->motion + 2 * best, 2 * sizeof(float));
        }
    }
    return 0;
}

/** Tone-mapped colour; albedo and normals, which have no noise; the place among the depths. */
static int make_features(const struct probe_clip *clip, const struct probe_read *r,
                         const float *rgba, struct probe_frame *f)
{
    const size_t pixels = (size_t)clip->w * (size_t)clip->h;
    const int n = clip->features;
    float *raw = malloc(pixels * (size_t)n * sizeof(float));

    f->features = malloc(pixels * (size_t)n * sizeof(float));
    f->luma = malloc(pixels * sizeof(float));
    if (!raw || !f->features || !f->luma) {
        free(raw);
        return HS_ERR_NOMEM;
    }
    for (size_t i = 0; i < pixels; i++) {
        float *out = raw + n * i;

        f->luma[i] = luma_of(rgba + 4 * i);
        for (int c = 0; c < 3; c++)
            *out++ = tone(rgba[4 * i + c] * r->exposure);
        for (int c = 0; r->albedo && c < 3; c++)
            *out++ = f->albedo ? tone(f->albedo[4 * i + c]) : 0;
        for (int c = 0; r->normal && c < 3; c++)
            *out++ = f->normal && isfinite(f->normal[4 * i + c]) ? 0.5f * f->normal[4 * i + c] : 0;
        if (r->ranks)
            *out = f->depth ? rank_of(r, f->depth[i]) : 0;
    }
    smooth(raw, clip->w, clip->h, n, f->features);
    sharpen(clip, raw, f->features);
    free(raw);
    return 0;
}

static void choose_window(struct probe_clip *clip, const struct hsio_frame_info *info)
{
    clip->width = info->width;
    clip->height = info->height;
    clip->w = info->width < WINDOW ? info->width : WINDOW;
    clip->h = info->height < WINDOW ? info->height : WINDOW;
    clip->x = (clip->width - clip->w) / 2;
    clip->y = (clip->height - clip->h) / 2;
    clip->motion_width = info->planes[HSIO_PLANE_MOTION].width;
    clip->motion_height = info->planes[HSIO_PLANE_MOTION].height;
    for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
        clip->planes[i] = info->planes[i].present;
        if (clip->planes[i])
            snprintf(clip->channels[i], sizeof(clip->channels[i]), "%s", info->planes[i].channels);
    }
}

static void take_values(const struct hsio_frame_info *info, struct probe_frame *f)
{
    f->number = info->number;
    f->reset = info->reset;
    f->has_jitter = info->has_jitter;
    memcpy(f->jitter, info->jitter_px, sizeof(f->jitter));
    f->has_camera = info->has_view && info->has_proj;
    memcpy(f->view, info->view, sizeof(f->view));
    memcpy(f->proj, info->proj, sizeof(f->proj));
}

static int take_frame(struct probe_clip *clip, struct hsio_frame *frame, struct probe_read *r)
{
    struct probe_frame *f = &clip->frames[clip->count++];
    const size_t pixels = (size_t)clip->w * (size_t)clip->h;
    float *rgba = NULL;
    int err = take_plane(clip, frame, HSIO_PLANE_COLOR, &rgba, &f->color_stats);

    take_values(hsio_frame_info(frame), f);
    if (!err)
        err = take_plane(clip, frame, HSIO_PLANE_MOTION, &f->motion, &f->motion_stats);
    if (!err)
        err = take_plane(clip, frame, HSIO_PLANE_DEPTH, &f->depth, &f->depth_stats);
    if (!err && r->guides)
        err = take_plane(clip, frame, HSIO_PLANE_DIFFUSE_ALBEDO, &f->albedo, NULL);
    if (!err && r->guides)
        err = take_plane(clip, frame, HSIO_PLANE_NORMAL, &f->normal, NULL);
    if (!err && clip->count == 1) {
        r->exposure = exposure_of(rgba, pixels);
        r->albedo = f->albedo != NULL;
        make_ranks(r, f->depth, pixels);
        r->normal = f->normal != NULL;
        clip->features = 3 + (r->albedo ? 3 : 0) + (r->normal ? 3 : 0) + (r->ranks ? 1 : 0);
    }
    if (!err && !rgba)
        err = HS_ERR_INVALID;
    if (!err)
        err = make_features(clip, r, rgba, f);
    if (!err)
        err = make_leading(clip, f);
    free(rgba);
    return err;
}

int probe_clip_read(const struct hsio_sequence *seq, int first, int count, bool guides,
                    struct probe_clip *clip)
{
    struct hsio_sequence_info facts;
    struct probe_read *r = malloc(sizeof(*r));
    int err = r ? 0 : HS_ERR_NOMEM;

    if (r)
        r->guides = guides;
    *clip = (struct probe_clip){.convention = hsio_sequence_convention(seq)};
    hsio_sequence_info(seq, &facts);
    for (int i = first; !err && i < facts.frame_count && clip->count < count; i++) {
        struct hsio_frame *frame = NULL;

        err = hsio_frame_open(seq, i, &frame);
        if (err < 0)
            break;
        const struct hsio_frame_info *info = hsio_frame_info(frame);
        const bool more =
            !clip->count || (!info->reset && !info->held && info->width == clip->width &&
                             info->height == clip->height);
        if (!clip->count && !info->planes[HSIO_PLANE_COLOR].present) {
            tool_error("%s: no colour with convention %s; hindsight inspect lists the channels",
                       info->path, info->convention->preset);
            err = HS_ERR_INVALID;
        } else if (more) {
            if (!clip->count)
                choose_window(clip, info);
            err = take_frame(clip, frame, r);
            if (!err && guides && clip->count == 2)
                err = hsio_frame_mend(frame, &clip->mended);
        }
        hsio_frame_close(&frame);
        if (!more)
            break;
    }
    free(r);
    return err;
}

bool probe_is_small(const struct probe_clip *clip)
{
    return clip->w < PROBE_LEAST_SIDE || clip->h < PROBE_LEAST_SIDE;
}

void probe_clip_finish(struct probe_clip *clip)
{
    for (int i = 0; i < clip->count; i++) {
        struct probe_frame *f = &clip->frames[i];

        free(f->features);
        free(f->luma);
        free(f->motion);
        free(f->leading);
        free(f->depth);
        free(f->albedo);
        free(f->normal);
    }
    clip->count = 0;
}
