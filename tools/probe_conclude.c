// SPDX-License-Identifier: MIT
// From what was measured to a convention, its name, the options to use, and remarks.
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "report.h"

static void note(struct probe_report *r, bool grave, const char *format, ...) TOOL_PRINTF(3);

static void note(struct probe_report *r, bool grave, const char *format, ...)
{
    va_list args;

    if (r->note_count == PROBE_NOTES)
        return;
    va_start(args, format);
    vsnprintf(r->notes[r->note_count], sizeof(r->notes[0]), format, args);
    va_end(args);
    r->grave[r->note_count++] = grave;
}

static bool is_found(const struct probe_report *r)
{
    return r->motion.verdict == PROBE_FITS || r->motion.verdict == PROBE_WRONG;
}

/** The declared convention, with what is known for sure put right. */
static void make_found(struct probe_report *r)
{
    struct hsio_convention *c = &r->found;
    const struct probe_depth *d = &r->depth;
    const struct probe_guides *g = &r->guides;
    const bool small = probe_is_small(&r->clip), proven = d->kind_known == PROBE_PROVEN && !small;

    *c = *r->clip.convention;
    if (r->motion.verdict == PROBE_WRONG)
        c->motion = r->motion.best.motion;
    else if (r->scale.too_long && r->scale.fits_as_pixels && !small && !is_found(r))
        c->motion = r->scale.pixels;
    c->motion.unwritten = r->clip.convention->motion.unwritten;
    if (is_found(r) && g->sky_unwritten && c->motion.unwritten == HSIO_UNWRITTEN_NONE)
        c->motion.unwritten = HSIO_UNWRITTEN_ZERO_AT_FAR;
    if (r->jitter.sure && r->jitter.declared && !r->jitter.fits && !small) {
        if (r->jitter.in_vectors) {
            c->motion.jittered = true;
        } else if (r->jitter.present && !r->jitter.swap) {
            c->jitter.sign_x *= r->jitter.sign[0] < 0 ? -1 : 1;
            c->jitter.sign_y *= r->jitter.sign[1] < 0 ? -1 : 1;
        }
    }
    if (proven && d->kind != c->depth.kind) {
        c->depth.kind = d->kind;
        c->depth.background = d->has_background                ? d->background
                              : d->kind == HSIO_DEPTH_LINEAR   ? INFINITY
                              : d->kind == HSIO_DEPTH_HARDWARE ? 1
                                                               : 0;
    }
    if (d->kind == HSIO_DEPTH_LINEAR && proven && d->has_background && d->background >= 1e9f &&
        c->depth.background > d->background)
        c->depth.background = d->background;
    if (g->has_normals && g->normals_unsigned)
        c->normal.range = HSIO_RANGE_UNSIGNED;
    if (g->has_normals && g->knows_space)
        c->normal.space = g->normals_view ? HSIO_SPACE_VIEW : HSIO_SPACE_WORLD;
}

static bool is_pixel_key(const char *key)
{
    const char *dot = strchr(key, '.');

    return dot && strcmp(dot, ".channels") != 0 && strncmp(key, "motion_next.", 12) != 0 &&
           strcmp(key, "depth.unit_m") != 0 && strcmp(key, "depth.near") != 0 &&
           strcmp(key, "depth.far") != 0 && strcmp(key, "color.transfer") != 0;
}

/** Keys of no consequence for planes that are not there. */
static bool matters(const struct probe_report *r, const char *key)
{
    const struct probe_clip *c = &r->clip;

    return is_pixel_key(key) && (strncmp(key, "motion.", 7) != 0 || c->planes[HSIO_PLANE_MOTION]) &&
           (strncmp(key, "depth.", 6) != 0 || c->planes[HSIO_PLANE_DEPTH]) &&
           (strncmp(key, "normal.", 7) != 0 || c->planes[HSIO_PLANE_NORMAL]) &&
           (strncmp(key, "roughness.", 10) != 0 || c->planes[HSIO_PLANE_ROUGHNESS]) &&
           (strncmp(key, "jitter.", 7) != 0 || r->jitter.declared);
}

/** Whether what was found has another value of a key, that matters, than `from`: gives it. */
static bool differs(const struct probe_report *r, const struct hsio_convention *from,
                    const char *key, char value[HSIO_PATTERN_BYTES])
{
    char old[HSIO_PATTERN_BYTES];

    return matters(r, key) && !hsio_convention_get(from, key, old, sizeof(old)) &&
           !hsio_convention_get(&r->found, key, value, HSIO_PATTERN_BYTES) && strcmp(old, value);
}

/** The options that turn `from` into what was found. Gives how many of them are about motion. */
static int differences(const struct probe_report *r, const struct hsio_convention *from, char *text,
                       size_t size, int *count)
{
    size_t length = strlen(text);
    int motion = 0;

    *count = 0;
    for (int i = 0; i < hsio_convention_key_count(); i++) {
        const char *key = hsio_convention_key(i);
        char value[HSIO_PATTERN_BYTES];

        if (!differs(r, from, key, value))
            continue;
        ++*count;
        motion += !strncmp(key, "motion.", 7) && strcmp(key, "motion.unwritten") != 0;
        if (length < size)
            length += (size_t)snprintf(text + length, size - length, " --set %s=%s", key, value);
    }
    return motion;
}

int probe_apply(const struct probe_report *r, struct hsio_convention *conv)
{
    int err = 0, count = 0;

    for (int i = 0; !err && i < hsio_convention_key_count(); i++) {
        const char *key = hsio_convention_key(i);
        char value[HSIO_PATTERN_BYTES];

        if (!differs(r, r->clip.convention, key, value))
            continue;
        err = hsio_convention_set(conv, key, value, tool_log());
        count++;
    }
    return err < 0 ? err : count;
}

/** Whether a preset's patterns find the same channels in the file. */
static bool reads_the_same(const struct probe_report *r, const char *preset)
{
    struct hsio_convention conv;
    struct hsio_sequence *seq = NULL;
    struct hsio_frame *frame = NULL;
    bool same = false;

    tool_capture_begin();
    if (!hsio_convention_preset(&conv, preset, NULL) &&
        !hsio_sequence_open(r->location, &conv, r->options_in, NULL, &seq) &&
        !hsio_frame_open(seq, 0, &frame)) {
        const struct hsio_frame_info *info = hsio_frame_info(frame);

        same = true;
        for (int i = 0; i < HSIO_PLANE_COUNT; i++) {
            const char *name = info->planes[i].present ? info->planes[i].channels : "";

            same = same && (!r->clip.planes[i] || !strcmp(name, r->clip.channels[i]));
        }
    }
    hsio_frame_close(&frame);
    hsio_sequence_close(&seq);
    tool_capture_end();
    return same;
}

/** Key by key, signs and scales multiplied out, so that equal meanings look alike. */
static void normalise(struct probe_report *r)
{
    struct hsio_motion_convention *m = &r->found.motion;
    const struct hsio_motion_convention *d = &r->clip.convention->motion;
    float a[2], b[2];

    hsio_motion_scale(m, 1000, 700, 1000, 700, a);
    hsio_motion_scale(d, 1000, 700, 1000, 700, b);
    if (m->unit == d->unit && m->direction == d->direction && fabsf(a[0] - b[0]) < 1e-3f &&
        fabsf(a[1] - b[1]) < 1e-3f) {
        m->sign_x = d->sign_x;
        m->sign_y = d->sign_y;
        m->scale_x = d->scale_x;
        m->scale_y = d->scale_y;
    }
}

/** The declared preset with what differs, or another one whose vectors are the ones found. */
static void name_preset(struct probe_report *r)
{
    const char *declared = r->clip.convention->preset;
    struct hsio_convention base;
    int count, motion;

    normalise(r);
    if (hsio_convention_preset(&base, declared, NULL))
        base = *r->clip.convention;
    snprintf(r->preset, sizeof(r->preset), "%s", base.preset);
    snprintf(r->options, sizeof(r->options), "--convention %s", r->preset);
    motion = differences(r, &base, r->options, sizeof(r->options), &count);
    r->exact = !count;
    for (int i = 0; motion && i < hsio_preset_count(); i++) {
        char other[sizeof(r->options)];
        const char *name = hsio_preset_name(i);

        if (!strcmp(name, r->preset) || hsio_convention_preset(&base, name, NULL))
            continue;
        snprintf(other, sizeof(other), "--convention %s", name);
        if (differences(r, &base, other, sizeof(other), &count) || !reads_the_same(r, name))
            continue;
        motion = 0;
        r->exact = !count;
        snprintf(r->preset, sizeof(r->preset), "%s", name);
        memcpy(r->options, other, sizeof(r->options));
    }
}

/** What to do about vectors that lead out of the picture. */
static void note_scale(struct probe_report *r)
{
    const struct probe_scale *s = &r->scale;
    const struct hsio_motion_convention *d = &r->clip.convention->motion, *p = &s->pixels;
    char text[160] = "";
    size_t length = 0;

    if (!s->too_long)
        return;
    if (!s->fits_as_pixels) {
        note(r, true,
             "vectors lead out of the picture: half of them are longer than %.4g pixels at %dx%d; "
             "motion.scale_x and motion.scale_y are too large: less than %.2g and %.2g may fit",
             s->length_px, r->clip.width, r->clip.height, s->most * (double)d->scale_x,
             s->most * (double)d->scale_y);
        return;
    }
    if (d->unit != p->unit)
        length += (size_t)snprintf(text, sizeof(text), " --set motion.unit=px");
    if (d->scale_x != p->scale_x || d->scale_y != p->scale_y)
        length += (size_t)snprintf(text + length, sizeof(text) - length,
                                   " --set motion.scale_x=%g --set motion.scale_y=%g",
                                   (double)p->scale_x, (double)p->scale_y);
    if (d->bias_x != 0 || d->bias_y != 0)
        snprintf(text + length, sizeof(text) - length,
                 " --set motion.bias_x=0 --set motion.bias_y=0");
    note(
        r, true,
        "vectors lead out of the picture: half of them are longer than %.4g pixels at %dx%d; taken "
        "as pixels they would be %.3g long:%s",
        s->length_px, r->clip.width, r->clip.height, s->as_pixels_px, text);
}

static void note_motion(struct probe_report *r)
{
    const struct probe_motion *m = &r->motion;

    switch (m->verdict) {
    case PROBE_NOTHING:
        note(r, false,
             r->clip.count < 2 ? "a single frame: motion and jitter can not be checked"
                               : "no motion vectors");
        break;
    case PROBE_ZERO:
        note(r, true,
             "all motion vectors are zero although the picture moves; Blender writes such vectors "
             "when motion blur is on: render with motion blur off");
        break;
    case PROBE_UNSURE:
        note(r, false,
             probe_is_small(&r->clip) ? "not sure: the pictures are too small to tell"
                                      : "not sure: vectors explain these frames no better than no "
                                        "motion does; try frames "
                                        "with more movement (--start) or more of them (--frames)");
        break;
    case PROBE_WRONG:
        note(r, true, "the vectors do not mean what convention %s says",
             r->clip.convention->preset);
        break;
    default:
        break;
    }
    for (int t = 0; t < r->clip.count; t++) {
        if (hsio_motion_at_limit(&r->clip.convention->motion, &r->clip.frames[t].motion_stats)) {
            note(r, true, "vectors reach %g from no motion, where they are cut off",
                 (double)r->clip.convention->motion.limit);
            break;
        }
    }
    if (!is_found(r))
        return;
    if (m->factor < 0.99 || m->factor > 1.01)
        note(r, true, "vectors are %.3g times a frame's motion: a shutter, or another frame rate",
             1 / m->factor);
    if (r->guides.silhouettes_averaged)
        note(r, false,
             "vectors are averaged at silhouettes (%.0f %% of edges have one between both sides'): "
             "render them without pixel filter",
             100 * r->guides.silhouettes);
    if (r->guides.sky_unwritten)
        note(r, false,
             "the background (%.0f %%) has no vectors although the camera moves: it is moved by "
             "the camera matrices, else by the camera that the other vectors tell of",
             100 * r->guides.sky);
}

static void note_jitter(struct probe_report *r)
{
    const struct probe_jitter *j = &r->jitter;

    if (!j->sure || j->fits)
        return;
    if (!j->declared && j->phase)
        note(r, true,
             "jitter is there but not declared: it looks like Halton (2, 3) from index %d on, "
             "signs %+g %+g; put it into a frames.json",
             j->phase, (double)j->halton_sign[0], (double)j->halton_sign[1]);
    else if (!j->declared)
        note(r, true,
             "frames are shifted against each other by %.2g pixels: jitter that nobody "
             "declared?",
             j->rms);
    else if (j->in_vectors)
        note(r, true, "the vectors contain the jitter");
    else if (!j->present)
        note(r, true, "a jitter is declared, but the pictures have none");
    else
        note(r, true, "the declared jitter has other signs%s than the pictures: %+g %+g",
             j->swap ? " and exchanged axes" : "", (double)j->sign[0], (double)j->sign[1]);
}

static void note_depth(struct probe_report *r)
{
    const struct probe_depth *d = &r->depth;

    if (d->present && d->constant)
        note(r, true, "depth is the same everywhere");
    if (d->kind_known == PROBE_PROVEN && d->kind != r->clip.convention->depth.kind)
        note(r, true, "depth is not of the kind that the convention says");
    else if (d->kind_known == PROBE_LIKELY && d->kind != r->clip.convention->depth.kind)
        note(r, true, "depth looks %s, not as the convention says; it is not proven",
             d->kind == HSIO_DEPTH_LINEAR     ? "linear"
             : d->kind == HSIO_DEPTH_HARDWARE ? "like a depth buffer"
                                              : "like an inverted depth buffer");
    if (r->clip.frames[0].depth_stats.non_finite && d->max > 60000)
        note(r, false, "depth goes up to half float's limit: far surfaces may be lost");
}

static void note_guides(struct probe_report *r)
{
    const struct probe_guides *g = &r->guides;
    uint64_t bad = 0;

    for (int t = 0; t < r->clip.count; t++)
        bad += r->clip.frames[t].color_stats.non_finite;
    if (bad)
        note(r, false, "%llu colour pixels in %d frames are NaN or infinite",
             (unsigned long long)bad, r->clip.count);
    if (g->negative > 0.001)
        note(r, false, "%.1f %% of colour is below 0", 100 * g->negative);
    if (g->display_referred)
        note(r, false, "colour ends at 1 and many pixels are there: display-referred? (--ldr)");
    if (g->noise_sticks)
        note(r, true,
             "noise sticks to the screen (correlation %.2f): it does not average out; render with "
             "another seed every frame",
             g->noise_fixed);
    if (g->albedo_out_of_range)
        note(r, true, "albedo goes beyond 0 to 1 (up to %.3g): it contains light", g->albedo_max);
    if (g->has_normals && g->normals_unsigned &&
        r->clip.convention->normal.range == HSIO_RANGE_SIGNED)
        note(r, true, "normals are stored as 0 to 1");
    if (g->knows_space && (r->clip.convention->normal.space == HSIO_SPACE_VIEW) != g->normals_view)
        note(r, true, "normals are in %s space", g->normals_view ? "view" : "world");
}

/** Exit codes are for scripts: what would go wrong comes first. */
static void judge(struct probe_report *r)
{
    const struct probe_motion *m = &r->motion;
    const struct probe_depth *d = &r->depth;
    const bool small = probe_is_small(&r->clip);
    const bool wrong_jitter = r->jitter.sure && !r->jitter.fits && !small;
    const bool wrong_depth =
        !small && d->kind_known == PROBE_PROVEN && r->clip.convention->depth.kind != d->kind;

    if (m->verdict == PROBE_WRONG || m->verdict == PROBE_ZERO || wrong_jitter || wrong_depth ||
        (r->scale.too_long && !small)) {
        r->verdict = "wrong";
        r->code = PROBE_EXIT_WRONG;
    } else if (m->verdict == PROBE_FITS) {
        r->verdict = "fits";
        r->code = 0;
    } else {
        r->verdict = "unsure";
        r->code = PROBE_EXIT_UNSURE;
    }
}

void probe_conclude(struct probe_report *r)
{
    judge(r);
    make_found(r);
    name_preset(r);
    note_scale(r);
    note_motion(r);
    note_jitter(r);
    note_depth(r);
    note_guides(r);
}

int probe_run(const struct hsio_sequence *seq, const struct hsio_options *options, int first,
              int count, bool guides, struct probe_report *r)
{
    struct hsio_sequence_info info;
    int err;

    *r = (struct probe_report){.options_in = options};
    hsio_sequence_info(seq, &info);
    r->location = info.location;
    err = probe_clip_read(seq, first, count, guides, &r->clip);
    if (!err)
        err = probe_scale_find(&r->clip, &r->scale);
    if (!err)
        err = probe_find(&r->clip, &r->motion, &r->jitter);
    if (!err) {
        probe_depth_find(&r->clip, &r->motion, &r->jitter, &r->depth);
        err = probe_guides_find(&r->clip, &r->motion, &r->depth, &r->guides);
    }
    // Such noise keeps the pictures in place whatever the jitter is.
    if (!err && r->guides.noise_sticks)
        r->jitter.sure = false;
    if (!err)
        probe_conclude(r);
    return err;
}

void probe_report_finish(struct probe_report *r)
{
    probe_clip_finish(&r->clip);
}
