// SPDX-License-Identifier: MIT
// hindsight compare: PSNR, SSIM and flicker against a reference, and sheets of crops.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compare.h"
#include "options.h"
#include "report.h"
#include "sheet.h"
#include "tool.h"

enum {
    OPT_JSON,
    OPT_SKIP,
    OPT_MOTION,
    OPT_CONVENTION,
    OPT_LDR,
    OPT_SHEET,
    OPT_SHEET_FRAME,
    OPT_CROP,
    OPT_ZOOM,
    OPT_QUIET,
};

static const struct tool_option options[] = {
    {"json", 'j', "FILE", "Writes all numbers as JSON; - is stdout, in place of the table."},
    {"skip", 0, "N",
     "The first N frames of OUT do not enter the means: history has to warm up. Default 0."},
    {"motion", 'm', "SEQ", "Sequence with motion vectors, for flicker and temporal PSNR."},
    {"convention", 'c', "NAME", "Convention of the motion vectors. Default auto."},
    {"ldr", 0, NULL, "Pictures are display-referred: compared as they are, cut to 0..1."},
    {"sheet", 0, "FILE",
     "Writes a PNG with crops side by side, one column per OUT and the reference."},
    {"sheet-frame", 0, "N", "Frame of the sheet. Default the last one."},
    {"crop", 0, "X,Y,W,H", "A row of the sheet, reference pixels; may be given again."},
    {"zoom", 0, "N", "Enlarges the crops. Default 3."},
    {"quiet", 'q', NULL, "Prints the means only."},
    {0},
};

static const struct tool_rule rules[] = {
    {OPT_SHEET_FRAME, TOOL_NEEDS, OPT_SHEET},
    {OPT_CROP, TOOL_NEEDS, OPT_SHEET},
    {OPT_ZOOM, TOOL_NEEDS, OPT_SHEET},
    {OPT_CONVENTION, TOOL_NEEDS, OPT_MOTION},
    {0},
};

static int take_crop(struct compare *cmp, const char *value)
{
    struct tool_crop crop;
    char end;

    if (sscanf(value, "%d,%d,%d,%d%c", &crop.x, &crop.y, &crop.width, &crop.height, &end) != 4 ||
        crop.x < 0 || crop.y < 0 || crop.width < 1 || crop.height < 1) {
        tool_error("--crop takes X,Y,WIDTH,HEIGHT, not \"%s\"", value);
        return HS_ERR_INVALID;
    }
    if (cmp->sheet.crop_count >= TOOL_MAX_CROPS) {
        tool_error("--crop: at most %d crops", TOOL_MAX_CROPS);
        return HS_ERR_INVALID;
    }
    cmp->sheet.crops[cmp->sheet.crop_count++] = crop;
    return 0;
}

static int take(void *priv, int row, const char *value)
{
    struct compare *cmp = priv;
    int64_t number = 0;
    int err = 0;

    switch (row) {
    case OPT_JSON:
        cmp->json = value;
        break;
    case OPT_SKIP:
        err = tool_parse_int("skip", value, 0, INT32_MAX, &cmp->skip);
        break;
    case OPT_MOTION:
        cmp->motion_location = value;
        break;
    case OPT_CONVENTION:
        cmp->convention = value;
        break;
    case OPT_LDR:
        cmp->ldr = true;
        break;
    case OPT_SHEET:
        cmp->sheet_path = value;
        break;
    case OPT_SHEET_FRAME:
        err = tool_parse_int("sheet-frame", value, INT32_MIN, INT32_MAX, &cmp->sheet_frame);
        cmp->has_sheet_frame = true;
        break;
    case OPT_CROP:
        err = take_crop(cmp, value);
        break;
    case OPT_ZOOM:
        err = tool_parse_int("zoom", value, 1, 16, &number);
        cmp->sheet.zoom = (int)number;
        break;
    case OPT_QUIET:
        cmp->quiet = true;
        break;
    }
    return err;
}

static int open_sequence(const struct compare *cmp, const char *location, const char *preset,
                         struct hsio_sequence **seq)
{
    struct hsio_convention conv;
    int err = hsio_convention_preset(&conv, preset, tool_log());

    if (!err && cmp->ldr)
        err = hsio_convention_set(&conv, "color.transfer", "display", tool_log());
    if (!err)
        err = hsio_sequence_open(
            location, &conv, &(struct hsio_options){.missing = HSIO_MISSING_SKIP}, tool_log(), seq);
    return err;
}

/** "name=location", or a location alone, which goes by the name "out". */
static int name_candidate(struct compare *cmp, const char *text)
{
    struct compare_candidate *candidate = &cmp->candidates[cmp->candidate_count];
    const char *equal = strchr(text, '=');
    struct stat status;

    snprintf(candidate->name, sizeof(candidate->name), "out");
    candidate->location = text;
    if (equal && equal > text && (size_t)(equal - text) < sizeof(candidate->name) &&
        !memchr(text, '/', (size_t)(equal - text)) && stat(text, &status) < 0) {
        snprintf(candidate->name, sizeof(candidate->name), "%.*s", (int)(equal - text), text);
        candidate->location = equal + 1;
    }
    for (int i = 0; i < cmp->candidate_count; i++) {
        if (!strcmp(cmp->candidates[i].name, candidate->name)) {
            tool_error("%s and %s both go by the name \"%s\"; NAME=OUT gives them names",
                       cmp->candidates[i].location, candidate->location, candidate->name);
            return HS_ERR_INVALID;
        }
    }
    cmp->candidate_count++;
    return 0;
}

/** Index of a frame number, or -1. */
static int find_frame(const struct hsio_sequence *seq, int64_t number)
{
    struct hsio_sequence_info info;

    hsio_sequence_info(seq, &info);
    for (int i = 0; i < info.frame_count; i++) {
        if (hsio_sequence_number(seq, i) == number)
            return i;
    }
    return -1;
}

static void step_picture(struct tool_picture *cur, struct tool_picture *prev)
{
    tool_picture_free(prev);
    *prev = *cur;
    *cur = (struct tool_picture){0};
}

static void warn_non_finite(struct compare *cmp, const struct tool_picture *picture,
                            const char *name, int64_t frame)
{
    if (picture->non_finite && !cmp->warned_non_finite) {
        tool_warn("%s, frame %lld: %llu values are NaN or infinite; they count as 0 or 60000", name,
                  (long long)frame, (unsigned long long)picture->non_finite);
        cmp->warned_non_finite = true;
    }
}

static int measure_candidate(struct compare *cmp, struct compare_candidate *candidate, int row,
                             const struct tool_motion *motion)
{
    struct compare_row *out = &candidate->rows[row];
    int64_t number = cmp->numbers[row];
    int index = find_frame(candidate->seq, number), err;

    *out = (struct compare_row){.psnr = NAN, .ssim = NAN, .mse = NAN, .flicker = NAN, .tmse = NAN};
    step_picture(&candidate->cur, &candidate->prev);
    if (index < 0)
        return 0;
    err = tool_picture_load(candidate->seq, index, cmp->ldr, &candidate->cur);
    if (err < 0)
        return err;
    if (candidate->cur.width != cmp->ref.width || candidate->cur.height != cmp->ref.height) {
        tool_error("frame %lld: %s is %dx%d, the reference is %dx%d", (long long)number,
                   candidate->name, candidate->cur.width, candidate->cur.height, cmp->ref.width,
                   cmp->ref.height);
        return HS_ERR_INVALID;
    }
    warn_non_finite(cmp, &candidate->cur, candidate->name, number);
    out->present = true;
    out->mse = tool_metric_mse(&candidate->cur, &cmp->ref);
    out->psnr = tool_metric_psnr(out->mse);
    err = tool_metric_ssim(&candidate->cur, &cmp->ref, &out->ssim);
    // Smaller than the window: the other numbers are there all the same.
    if (err < 0 && err != HS_ERR_INVALID)
        return err;
    if (motion->xy && candidate->prev.rgb && cmp->ref_prev.rgb) {
        struct tool_flicker flicker;

        err = tool_metric_flicker(&candidate->cur, &candidate->prev, &cmp->ref, &cmp->ref_prev,
                                  motion, &flicker);
        if (err < 0) {
            tool_error("frame %lld: motion of %dx%d does not divide %dx%d", (long long)number,
                       motion->width, motion->height, cmp->ref.width, cmp->ref.height);
            return err;
        }
        out->flicker = flicker.mean_abs;
        out->tmse = flicker.mse;
    }
    return 0;
}

static int write_sheet(struct compare *cmp)
{
    struct tool_sheet *sheet = &cmp->sheet;

    sheet->columns = 0;
    for (int i = 0; i < cmp->candidate_count; i++) {
        if (!cmp->candidates[i].cur.rgb)
            continue;
        sheet->labels[sheet->columns] = cmp->candidates[i].name;
        sheet->pictures[sheet->columns++] = &cmp->candidates[i].cur;
    }
    sheet->labels[sheet->columns] = "reference";
    sheet->pictures[sheet->columns++] = &cmp->ref;
    if (!sheet->crop_count)
        sheet->crops[sheet->crop_count++] =
            (struct tool_crop){cmp->ref.width * 3 / 8, cmp->ref.height * 3 / 8, cmp->ref.width / 4,
                               cmp->ref.height / 4};
    for (int i = 0; i < sheet->crop_count; i++) {
        const struct tool_crop *crop = &sheet->crops[i];

        if (crop->x + crop->width > cmp->ref.width || crop->y + crop->height > cmp->ref.height) {
            tool_error("--crop %d,%d,%d,%d leaves the picture, which is %dx%d", crop->x, crop->y,
                       crop->width, crop->height, cmp->ref.width, cmp->ref.height);
            return HS_ERR_INVALID;
        }
    }
    return tool_sheet_write(sheet, cmp->sheet_path);
}

/** Loads the reference and the motion of one frame and measures all candidates. */
static int measure_frame(struct compare *cmp, int row)
{
    struct tool_motion motion = {0};
    int64_t number = cmp->numbers[row];
    int err;

    step_picture(&cmp->ref, &cmp->ref_prev);
    if (row && cmp->numbers[row - 1] != number - 1)
        tool_picture_free(&cmp->ref_prev);
    err = tool_picture_load(cmp->ref_seq, find_frame(cmp->ref_seq, number), cmp->ldr, &cmp->ref);
    if (err < 0)
        return err;
    warn_non_finite(cmp, &cmp->ref, "the reference", number);
    if (cmp->motion_seq && cmp->ref_prev.rgb) {
        int index = find_frame(cmp->motion_seq, number);

        err = index < 0 ? 0 : tool_motion_load(cmp->motion_seq, index, &motion);
    }
    for (int i = 0; !err && i < cmp->candidate_count; i++)
        err = measure_candidate(cmp, &cmp->candidates[i], row, &motion);
    if (!err && cmp->sheet_path &&
        (cmp->has_sheet_frame ? number == cmp->sheet_frame : row == cmp->row_count - 1)) {
        err = write_sheet(cmp);
        cmp->sheet_written = true;
    }
    tool_motion_free(&motion);
    return err;
}

/** Without a frame there is no mean. */
static int check_counted(const struct compare *cmp)
{
    for (int k = 0; k < cmp->candidate_count; k++) {
        const struct compare_candidate *candidate = &cmp->candidates[k];
        int row = cmp->row_count - 1;

        while (row >= 0 && find_frame(candidate->seq, cmp->numbers[row]) < 0)
            row--;
        if (row < 0) {
            tool_error("no frame of %s has a reference in %s", candidate->location,
                       cmp->ref_location);
            return HS_ERR_INVALID;
        }
        if (cmp->numbers[row] < cmp->first_counted) {
            tool_error("--skip %lld leaves no frame of %s: the means begin with frame %lld, the "
                       "last one that has a reference is %lld",
                       (long long)cmp->skip, candidate->location, (long long)cmp->first_counted,
                       (long long)cmp->numbers[row]);
            return HS_ERR_INVALID;
        }
    }
    return 0;
}

/** Lists the reference frames that at least one candidate has. */
static int list_frames(struct compare *cmp)
{
    struct hsio_sequence_info info;

    hsio_sequence_info(cmp->ref_seq, &info);
    cmp->numbers = calloc((size_t)info.frame_count, sizeof(*cmp->numbers));
    if (!cmp->numbers)
        return HS_ERR_NOMEM;
    for (int i = 0; i < info.frame_count; i++) {
        int64_t number = hsio_sequence_number(cmp->ref_seq, i);
        bool found = false;

        for (int k = 0; k < cmp->candidate_count; k++)
            found |= find_frame(cmp->candidates[k].seq, number) >= 0;
        if (found)
            cmp->numbers[cmp->row_count++] = number;
    }
    for (int k = 0; k < cmp->candidate_count; k++) {
        cmp->candidates[k].rows = calloc((size_t)cmp->row_count, sizeof(struct compare_row));
        if (!cmp->candidates[k].rows)
            return HS_ERR_NOMEM;
    }
    hsio_sequence_info(cmp->candidates[0].seq, &info);
    cmp->first_counted = info.first + cmp->skip;
    return check_counted(cmp);
}

static int run(struct compare *cmp)
{
    int err = 0;

    for (int i = 0; !err && i < cmp->candidate_count; i++)
        err = open_sequence(cmp, cmp->candidates[i].location, "auto", &cmp->candidates[i].seq);
    if (!err)
        err = open_sequence(cmp, cmp->ref_location, "auto", &cmp->ref_seq);
    if (!err && cmp->motion_location)
        err = open_sequence(cmp, cmp->motion_location, cmp->convention, &cmp->motion_seq);
    if (!err)
        err = list_frames(cmp);
    for (int row = 0; !err && row < cmp->row_count; row++)
        err = measure_frame(cmp, row);
    if (!err && cmp->sheet_path && !cmp->sheet_written) {
        tool_error("frame %lld of the sheet has no reference", (long long)cmp->sheet_frame);
        err = HS_ERR_INVALID;
    }
    if (!err)
        err = compare_report(cmp);
    return err;
}

static void finish(struct compare *cmp)
{
    for (int i = 0; i < cmp->candidate_count; i++) {
        tool_picture_free(&cmp->candidates[i].cur);
        tool_picture_free(&cmp->candidates[i].prev);
        free(cmp->candidates[i].rows);
        hsio_sequence_close(&cmp->candidates[i].seq);
    }
    tool_picture_free(&cmp->ref);
    tool_picture_free(&cmp->ref_prev);
    free(cmp->numbers);
    hsio_sequence_close(&cmp->ref_seq);
    hsio_sequence_close(&cmp->motion_seq);
}

int tool_compare(int argc, char **argv)
{
    struct compare cmp = {.convention = "auto", .sheet = {.zoom = 3}};
    struct tool_usage usage = {
        .command = "compare",
        .form = "[NAME=]OUT... REF [options]",
        .about = "Measures sequences frame by frame against a reference: PSNR and SSIM of "
                 "(x / (1 + x)) ^ (1 / 2.2), with --motion flicker and temporal PSNR, too. OUT and "
                 "REF are patterns such as out.####.exr, files or folders; frames pair by number.",
        .options = options,
        .rules = rules,
        .min_arguments = 2,
        .max_arguments = TOOL_MAX_COLUMNS,
        .take = take,
        .priv = &cmp,
    };
    int err = tool_options_parse(&usage, argc, argv);

    if (err)
        return err < 0 ? TOOL_EXIT_USAGE : TOOL_EXIT_DONE;
    cmp.ref_location = usage.arguments[usage.argument_count - 1];
    for (int i = 0; i < usage.argument_count - 1; i++) {
        if (name_candidate(&cmp, usage.arguments[i]) < 0)
            return TOOL_EXIT_USAGE;
    }
    err = run(&cmp);
    finish(&cmp);
    return err < 0 ? TOOL_EXIT_FAILED : TOOL_EXIT_DONE;
}
