// SPDX-License-Identifier: MIT
// What hindsight probe prints.
#include <math.h>
#include <string.h>

#include "probe.h"
#include "report.h"

static const char *const verdicts[] = {"nothing", "unsure", "fits", "wrong", "zero"};
static const char *const kinds[] = {"linear", "hardware", "hardware_inverted"};
static const char *const confidences[] = {"unknown", "likely", "proven"};
static const char *const units[] = {"px", "uv", "ndc"};

static bool is_found(const struct probe_motion *m)
{
    return m->verdict == PROBE_FITS || m->verdict == PROBE_WRONG;
}

static void describe(const struct probe_candidate *c, char *text, size_t size)
{
    const struct hsio_motion_convention *m = &c->motion;

    if (c->still)
        snprintf(text, size, "no motion");
    else
        snprintf(text, size, "%s (%+g %s, %+g %s) to the %s frame, %s%s%s",
                 m->swap ? "axes exchanged," : "", (double)(m->sign_x * m->scale_x),
                 m->swap ? "g" : "r", (double)(m->sign_y * m->scale_y), m->swap ? "r" : "g",
                 m->direction == HSIO_DIRECTION_NEXT ? "next" : "previous", units[m->unit],
                 m->bias_x != 0 ? ", 0.5 is none" : "", m->jittered ? ", jitter contained" : "");
}

static void print_candidate(const char *name, const struct probe_candidate *c)
{
    char text[200];

    describe(c, text, sizeof(text));
    printf("  %-14s error %.4f", name, c->error);
    if (c->z != 0)
        printf(" (%+.0f %%, %.1f sigma)", 100 * c->loss, c->z);
    printf("  %s\n", text[0] == ' ' ? text + 1 : text);
}

static void print_motion(const struct probe_report *r)
{
    const struct probe_motion *m = &r->motion;
    char unknown[120] = "";

    if (r->clip.planes[HSIO_PLANE_MOTION])
        printf("motion          %s, %d pairs, %.0f textured pixels, mean length %.2f px\n",
               r->clip.channels[HSIO_PLANE_MOTION], m->pairs, m->points, m->magnitude);
    else
        printf("motion          not found\n");
    if (m->verdict == PROBE_NOTHING || m->verdict == PROBE_ZERO || !m->best.error)
        return;
    print_candidate("best", &m->best);
    print_candidate("declared", &m->declared);
    if (m->has_second)
        print_candidate("next best", &m->second);
    print_candidate("no motion", &m->still);
    snprintf(unknown, sizeof(unknown), "%s%s%s%s%s", m->knows_x ? "" : " sign_x",
             m->knows_y ? "" : " sign_y", m->knows_swap ? "" : " swap",
             m->knows_scale ? "" : " scale", m->knows_direction ? "" : " direction");
    if (is_found(m) && unknown[0])
        printf("  not told apart:%s\n", unknown);
}

static void print_jitter(const struct probe_jitter *j)
{
    if (!j->measured) {
        printf("jitter          not measured\n");
        return;
    }
    printf("jitter          %s", !j->declared ? "not declared" : "declared");
    if (!j->sure)
        printf(", not sure");
    else if (!j->present)
        printf(", the pictures have none%s", j->in_vectors ? ": it is in the vectors" : "");
    else if (j->declared)
        printf(", found with signs %+g %+g%s", (double)j->sign[0], (double)j->sign[1],
               j->swap ? ", axes exchanged" : "");
    else if (j->phase)
        printf(", found: Halton (2, 3) from index %d, signs %+g %+g", j->phase,
               (double)j->halton_sign[0], (double)j->halton_sign[1]);
    else
        printf(", found");
    printf("\n  shifts       ");
    for (int p = 0; p < j->pairs; p++) {
        if (j->error[p] < 0)
            printf(" -");
        else
            printf(" (%.2f, %.2f)", j->shift[p][0], j->shift[p][1]);
    }
    printf(" px\n");
}

static void print_planes(const struct probe_report *r)
{
    const struct probe_depth *d = &r->depth;
    const struct probe_guides *g = &r->guides;

    if (d->present && !d->constant) {
        printf("depth           %s, %s (%s), %.5g to %.5g", r->clip.channels[HSIO_PLANE_DEPTH],
               kinds[d->kind], confidences[d->kind_known], d->min, d->max);
        if (d->has_background)
            printf(", background %g (%.0f %%)", (double)d->background, 100 * d->background_share);
        printf("\n");
    }
    printf("colour          %s, 1 %% to 99 %%: %.3g to %.3g, mean %.3g, greatest %.3g; exposure "
           "%.3g\n",
           r->clip.channels[HSIO_PLANE_COLOR], g->luma_low, g->luma_high, g->luma_mean, g->luma_max,
           g->luma_mean > 0 ? 0.18 / g->luma_mean : 1);
    if (g->has_albedo)
        printf("albedo          %s, up to %.3g, %.0f %% zero\n",
               r->clip.channels[HSIO_PLANE_DIFFUSE_ALBEDO], g->albedo_max, 100 * g->albedo_zero);
    if (g->has_normals)
        printf("normals         %s, %s, %s space, mean length %.3f%s\n",
               r->clip.channels[HSIO_PLANE_NORMAL], g->normals_unsigned ? "unsigned" : "signed",
               !g->knows_space   ? "unknown"
               : g->normals_view ? "view"
                                 : "world",
               g->normal_length, g->packed ? ", fourth channel used" : "");
    if (g->noisy_known)
        printf("noise           correlation at the same pixel %.3f: %s\n", g->noise_fixed,
               g->noise_sticks ? "sticks to the screen" : "does not stick");
    if (g->silhouettes_known)
        printf("silhouettes     %.0f %% of edges have averaged vectors\n", 100 * g->silhouettes);
}

/** What becomes of pixels that nobody wrote a vector for. */
static void print_unwritten(const struct probe_clip *c)
{
    const struct hsio_mended *m = &c->mended;
    const double share =
        100 * (double)m->unwritten / ((double)c->motion_width * (double)c->motion_height);

    if (m->turned)
        printf(
            "unwritten       vectors of the frame before are turned round; %.0f %% of the pixels "
            "get none\n",
            share);
    else if (m->camera && c->convention->motion.unwritten != HSIO_UNWRITTEN_NONE)
        printf("unwritten       moved by the cameras of the frames\n");
    else if (m->filled)
        printf(
            "unwritten       %.0f %% of the pixels follow the camera that the others tell of (%.0f "
            "%% of these agree, +-%.2f px)\n",
            share, 100 * m->share, m->doubt_px);
    else if (m->unwritten)
        printf(
            "unwritten       %.0f %% of the pixels have no history: no camera is there, and none "
            "follows from the others\n",
            share);
}

void probe_print(const struct probe_report *r)
{
    const struct probe_clip *c = &r->clip;

    printf("%s: frames %lld to %lld, %dx%d, convention %s\n", r->location,
           (long long)c->frames[0].number, (long long)c->frames[c->count - 1].number, c->width,
           c->height, c->convention->preset);
    print_motion(r);
    print_jitter(&r->jitter);
    print_planes(r);
    print_unwritten(c);
    for (int i = 0; i < r->note_count; i++)
        printf("%s %s\n", r->grave[i] ? "!" : "-", r->notes[i]);
    printf("verdict         %s\n", r->verdict);
    printf("options         %s\n", r->options);
}

static void json_text(FILE *file, const char *key, const char *text)
{
    fprintf(file, ", \"%s\": ", key);
    tool_json_string(file, text);
}

static void json_number(FILE *file, const char *key, double value)
{
    fprintf(file, ", \"%s\": ", key);
    tool_json_number(file, value);
}

static void json_bool(FILE *file, const char *key, bool value)
{
    fprintf(file, ", \"%s\": %s", key, value ? "true" : "false");
}

static void json_candidate(FILE *file, const char *key, const struct probe_candidate *c)
{
    const struct hsio_motion_convention *m = &c->motion;

    fprintf(file, ", \"%s\": {\"error\": ", key);
    tool_json_number(file, c->error);
    json_number(file, "loss", c->loss);
    json_number(file, "sigma", c->z);
    json_bool(file, "told_apart", !c->rival);
    if (!c->still) {
        json_text(file, "direction", m->direction == HSIO_DIRECTION_NEXT ? "next" : "prev");
        json_text(file, "unit", units[m->unit]);
        json_bool(file, "swap", m->swap);
        json_bool(file, "jittered", m->jittered);
        json_number(file, "bias", (double)m->bias_x);
        fprintf(file, ", \"pixels\": [%.9g, %.9g]", (double)c->scale[0], (double)c->scale[1]);
    }
    fprintf(file, "}");
}

static void json_motion(FILE *file, const struct probe_motion *m, const struct probe_scale *s)
{
    fprintf(file, ",\n \"motion\": {\"verdict\": \"%s\", \"pairs\": %d", verdicts[m->verdict],
            m->pairs);
    json_number(file, "points", m->points);
    json_number(file, "length_px", m->magnitude);
    json_number(file, "factor", m->factor);
    json_number(file, "doubt_px", m->doubt);
    json_number(file, "moving_blocks", m->moving);
    json_bool(file, "too_long", s->too_long);
    json_number(file, "declared_length_px", s->length_px);
    json_number(file, "stored_length", s->as_pixels_px);
    json_candidate(file, "best", &m->best);
    json_candidate(file, "declared", &m->declared);
    json_candidate(file, "still", &m->still);
    if (m->has_second)
        json_candidate(file, "next_best", &m->second);
    fprintf(file, ",\n  \"known\": {\"sign_x\": %s", m->knows_x ? "true" : "false");
    json_bool(file, "sign_y", m->knows_y);
    json_bool(file, "swap", m->knows_swap);
    json_bool(file, "scale", m->knows_scale);
    json_bool(file, "direction", m->knows_direction);
    fprintf(file, "}}");
}

static void json_jitter(FILE *file, const struct probe_jitter *j)
{
    fprintf(file, ",\n \"jitter\": {\"measured\": %s", j->measured ? "true" : "false");
    json_bool(file, "declared", j->declared);
    json_bool(file, "present", j->present);
    json_bool(file, "sure", j->sure);
    json_bool(file, "fits", j->fits);
    json_bool(file, "in_vectors", j->in_vectors);
    json_bool(file, "swap", j->swap);
    json_number(file, "sign_x", (double)j->sign[0]);
    json_number(file, "sign_y", (double)j->sign[1]);
    json_number(file, "left_px", j->rms);
    json_number(file, "next_left_px", j->second);
    fprintf(file, ", \"halton_index\": %d, \"halton_sign\": [%g, %g], \"shifts\": [", j->phase,
            (double)j->halton_sign[0], (double)j->halton_sign[1]);
    for (int p = 0; p < j->pairs; p++) {
        if (j->error[p] < 0)
            fprintf(file, "%snull", p ? ", " : "");
        else
            fprintf(file, "%s[%.4f, %.4f]", p ? ", " : "", j->shift[p][0], j->shift[p][1]);
    }
    fprintf(file, "]}");
}

static void json_planes(FILE *file, const struct probe_report *r)
{
    const struct probe_depth *d = &r->depth;
    const struct probe_guides *g = &r->guides;

    fprintf(file, ",\n \"depth\": {\"present\": %s", d->present ? "true" : "false");
    json_bool(file, "constant", d->constant);
    json_text(file, "kind", kinds[d->kind]);
    json_text(file, "kind_known", confidences[d->kind_known]);
    json_text(file, "direction_known", confidences[d->direction_known]);
    json_number(file, "min", d->min);
    json_number(file, "max", d->max);
    json_number(file, "occlusion_sigma", d->votes);
    json_number(file, "bend_of_inverse", d->curve_linear);
    json_number(file, "bend", d->curve_hardware);
    json_number(file, "background_share", d->background_share);
    fprintf(file, "},\n \"colour\": {\"low\": ");
    tool_json_number(file, g->luma_low);
    json_number(file, "high", g->luma_high);
    json_number(file, "mean", g->luma_mean);
    json_number(file, "max", g->luma_max);
    json_number(file, "negative", g->negative);
    json_bool(file, "display_referred", g->display_referred);
    fprintf(file, "},\n \"noise\": {\"known\": %s", g->noisy_known ? "true" : "false");
    json_bool(file, "sticks", g->noise_sticks);
    json_number(file, "correlation", g->noise_fixed);
    fprintf(file, "},\n \"normals\": {\"present\": %s", g->has_normals ? "true" : "false");
    json_bool(file, "unsigned", g->normals_unsigned);
    json_text(file, "space", !g->knows_space ? "unknown" : g->normals_view ? "view" : "world");
    json_bool(file, "fourth", g->packed);
    fprintf(file, "},\n \"albedo\": {\"present\": %s", g->has_albedo ? "true" : "false");
    json_number(file, "max", g->albedo_max);
    json_number(file, "zero", g->albedo_zero);
    fprintf(file, "},\n \"silhouettes\": {\"known\": %s", g->silhouettes_known ? "true" : "false");
    json_bool(file, "averaged", g->silhouettes_averaged);
    json_number(file, "share", g->silhouettes);
    fprintf(file, "},\n \"sky\": {\"share\": ");
    tool_json_number(file, g->sky);
    json_number(file, "still", g->sky_still);
    json_bool(file, "unwritten", g->sky_unwritten);
    fprintf(file, "},\n \"unwritten\": {\"pixels\": ");
    tool_json_number(file, (double)r->clip.mended.unwritten);
    json_number(file, "filled", (double)r->clip.mended.filled);
    json_bool(file, "camera", r->clip.mended.camera);
    json_bool(file, "turned", r->clip.mended.turned);
    json_number(file, "agree", r->clip.mended.share);
    json_number(file, "doubt_px", r->clip.mended.doubt_px);
    fprintf(file, "}");
}

void probe_print_json(const struct probe_report *r, FILE *file)
{
    const struct probe_clip *c = &r->clip;

    fprintf(file, "{\n \"verdict\": \"%s\", \"frames\": %d, \"size\": [%d, %d]", r->verdict,
            c->count, c->width, c->height);
    json_text(file, "declared", c->convention->preset);
    json_text(file, "preset", r->preset);
    json_bool(file, "exact", r->exact);
    json_text(file, "options", r->options);
    fprintf(file, ",\n \"planes\": {");
    for (int i = 0, n = 0; i < HSIO_PLANE_COUNT; i++) {
        if (!c->planes[i])
            continue;
        fprintf(file, "%s\"%s\": ", n++ ? ", " : "", hsio_plane_name((enum hsio_plane)i));
        tool_json_string(file, c->channels[i]);
    }
    fprintf(file, "},\n \"notes\": [");
    for (int i = 0; i < r->note_count; i++) {
        fprintf(file, "%s\n  {\"warning\": %s, \"text\": ", i ? "," : "",
                r->grave[i] ? "true" : "false");
        tool_json_string(file, r->notes[i]);
        fprintf(file, "}");
    }
    fprintf(file, "]");
    json_motion(file, &r->motion, &r->scale);
    json_jitter(file, &r->jitter);
    json_planes(file, r);
    fprintf(file, "\n}\n");
}
