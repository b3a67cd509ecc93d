// SPDX-License-Identifier: MIT
#include <math.h>

#include "compare.h"
#include "report.h"

struct means {
    int frames;
    double psnr, psnr_sum, ssim, flicker, tpsnr;
};

static double mean_of(const struct compare *cmp, const struct compare_candidate *candidate,
                      size_t offset)
{
    double sum = 0;
    int count = 0;

    for (int row = 0; row < cmp->row_count; row++) {
        double value = *(const double *)((const char *)&candidate->rows[row] + offset);

        if (cmp->numbers[row] < cmp->first_counted || !isfinite(value))
            continue;
        sum += value;
        count++;
    }
    return count ? sum / count : NAN;
}

static struct means means_of(const struct compare *cmp, const struct compare_candidate *candidate)
{
    struct means means = {
        .psnr = mean_of(cmp, candidate, offsetof(struct compare_row, psnr)),
        .psnr_sum = mean_of(cmp, candidate, offsetof(struct compare_row, mse)),
        .ssim = mean_of(cmp, candidate, offsetof(struct compare_row, ssim)),
        .flicker = mean_of(cmp, candidate, offsetof(struct compare_row, flicker)),
        .tpsnr = mean_of(cmp, candidate, offsetof(struct compare_row, tmse)),
    };

    for (int row = 0; row < cmp->row_count; row++)
        means.frames += candidate->rows[row].present && cmp->numbers[row] >= cmp->first_counted;
    if (isfinite(means.psnr_sum))
        means.psnr_sum = tool_metric_psnr(means.psnr_sum);
    if (isfinite(means.tpsnr))
        means.tpsnr = tool_metric_psnr(means.tpsnr);
    return means;
}

static void print_number(int width, int digits, double value)
{
    if (isfinite(value))
        printf(" %*.*f", width, digits, value);
    else
        printf(" %*s", width, "-");
}

static void print_line(const char *name, const char *what, double psnr, double ssim, double flicker,
                       double tpsnr)
{
    printf("%-16s %8s", name, what);
    print_number(8, 3, psnr);
    print_number(8, 5, ssim);
    print_number(9, 6, flicker);
    print_number(7, 2, tpsnr);
    putchar('\n');
}

static void print_table(const struct compare *cmp)
{
    char what[32];

    printf("%-16s %8s %8s %8s %9s %7s\n", "name", "frame", "PSNR", "SSIM", "flicker", "tPSNR");
    for (int i = 0; !cmp->quiet && i < cmp->candidate_count; i++) {
        for (int row = 0; row < cmp->row_count; row++) {
            const struct compare_row *r = &cmp->candidates[i].rows[row];

            if (!r->present)
                continue;
            snprintf(what, sizeof(what), "%lld", (long long)cmp->numbers[row]);
            print_line(cmp->candidates[i].name, what, r->psnr, r->ssim, r->flicker,
                       isfinite(r->tmse) ? tool_metric_psnr(r->tmse) : NAN);
        }
    }
    for (int i = 0; i < cmp->candidate_count; i++) {
        struct means m = means_of(cmp, &cmp->candidates[i]);

        snprintf(what, sizeof(what), "mean/%d", m.frames);
        print_line(cmp->candidates[i].name, what, m.psnr, m.ssim, m.flicker, m.tpsnr);
    }
}

static void write_field(FILE *file, const char *key, double value)
{
    fprintf(file, ", \"%s\": ", key);
    tool_json_number(file, value);
}

static void write_curve(FILE *file, const struct compare *cmp,
                        const struct compare_candidate *candidate, const char *key, size_t offset)
{
    fprintf(file, ",\n      \"%s\": [", key);
    for (int row = 0; row < cmp->row_count; row++) {
        fputs(row ? ", " : "", file);
        tool_json_number(file, *(const double *)((const char *)&candidate->rows[row] + offset));
    }
    fputc(']', file);
}

static void write_candidate(FILE *file, const struct compare *cmp,
                            const struct compare_candidate *candidate)
{
    struct means m = means_of(cmp, candidate);

    fputs("    ", file);
    tool_json_string(file, candidate->name);
    fprintf(file, ": {\"frames\": %d", m.frames);
    write_field(file, "psnr", m.psnr);
    write_field(file, "psnr_sum", m.psnr_sum);
    write_field(file, "ssim", m.ssim);
    write_field(file, "flicker", m.flicker);
    write_field(file, "tpsnr", m.tpsnr);
    fputs(",\n     \"curve\": {\"frame\": [", file);
    for (int row = 0; row < cmp->row_count; row++)
        fprintf(file, "%s%lld", row ? ", " : "", (long long)cmp->numbers[row]);
    fputc(']', file);
    write_curve(file, cmp, candidate, "psnr", offsetof(struct compare_row, psnr));
    write_curve(file, cmp, candidate, "ssim", offsetof(struct compare_row, ssim));
    write_curve(file, cmp, candidate, "flicker", offsetof(struct compare_row, flicker));
    fputs("}}", file);
}

/** Means come twice: as flat keys such as "psnr_out", and with the curves under "results". */
static void write_json(FILE *file, const struct compare *cmp)
{
    fprintf(file, "{\n  \"skip\": %lld", (long long)cmp->skip);
    for (int i = 0; i < cmp->candidate_count; i++) {
        struct means m = means_of(cmp, &cmp->candidates[i]);
        char key[64];

        snprintf(key, sizeof(key), "psnr_%s", cmp->candidates[i].name);
        fputs(",\n  ", file);
        tool_json_string(file, key);
        fputs(": ", file);
        tool_json_number(file, m.psnr);
        snprintf(key, sizeof(key), "ssim_%s", cmp->candidates[i].name);
        fputs(",\n  ", file);
        tool_json_string(file, key);
        fputs(": ", file);
        tool_json_number(file, m.ssim);
    }
    fputs(",\n  \"results\": {\n", file);
    for (int i = 0; i < cmp->candidate_count; i++) {
        write_candidate(file, cmp, &cmp->candidates[i]);
        fputs(i + 1 < cmp->candidate_count ? ",\n" : "\n", file);
    }
    fputs("  }\n}\n", file);
}

int compare_report(const struct compare *cmp)
{
    FILE *file;

    if (cmp->json) {
        file = tool_output_open(cmp->json);
        if (!file)
            return HS_ERR_IO;
        write_json(file, cmp);
        if (file == stdout)
            return tool_output_close(file, cmp->json);
        if (tool_output_close(file, cmp->json) < 0)
            return HS_ERR_IO;
    }
    print_table(cmp);
    return 0;
}
