// SPDX-License-Identifier: MIT
// Whether the first frames are what their convention says, before anything is made of them.
#include <stdlib.h>

#include "probe.h"
#include "report.h"
#include "upscale.h"

#define CHECKED_FRAMES 4

/** Vectors that lead out of the picture are wrong, whether or not others explain the frames. */
static void tell_scale(const struct probe_report *report)
{
    if (report->scale.too_long)
        tool_warn("%s", report->notes[0]);
}

static void tell(const struct probe_report *report)
{
    for (int i = 0; i < report->note_count; i++) {
        if (report->grave[i])
            tool_warn("%s", report->notes[i]);
    }
}

/** That frames are other than declared in what --auto sets. */
static void warn(const struct probe_report *report, const char *then)
{
    const bool wrong = report->code == PROBE_EXIT_WRONG;

    if (wrong)
        tell(report);
    tool_warn("the first frames %s convention %s; hindsight probe tells why; %s: %s",
              wrong ? "do not fit" : "tell more than", report->clip.convention->preset, then,
              report->options);
}

/* What comes from documentation only is used where frames agree, or on the user's word. */
static int refuse(const struct probe_report *report)
{
    tool_error("the first frames do not fit convention %s, which was never measured; hindsight "
               "probe tells more; to be used instead: %s (--auto does; --no-check goes on as told)",
               report->clip.convention->preset, report->options);
    return HS_ERR_INVALID;
}

int upscale_check(const struct upscale_request *request, const struct hsio_sequence *seq,
                  struct hsio_convention *conv)
{
    struct hsio_sequence_info info;
    struct probe_report *report;
    int err;

    hsio_sequence_info(seq, &info);
    if (request->no_check || tool_is_baseline(request->model) || info.frame_count < 2 ||
        !info.planes[HSIO_PLANE_COLOR] || !info.planes[HSIO_PLANE_MOTION])
        return 0;
    report = calloc(1, sizeof(*report));
    if (!report)
        return HS_ERR_NOMEM;
    // A frame that can not be read is told when its turn comes.
    tool_capture_begin();
    err = probe_run(seq, &request->sequence, 0, CHECKED_FRAMES, false, report);
    tool_capture_end();
    const bool measured = hsio_preset_measured(hsio_sequence_convention(seq)->preset);
    struct hsio_convention found = *conv;
    const int changed = err ? 0 : probe_apply(report, &found);

    if (!err && report->motion.verdict == PROBE_WRONG && !measured && !request->automatic) {
        tell_scale(report);
        err = refuse(report);
    } else if (changed < 0) {
        err = changed;
    } else if (changed) {
        warn(report, request->automatic ? "used instead" : "to be used instead (--auto does)");
        if (request->automatic)
            *conv = found;
        err = request->automatic;
    } else {
        if (!err)
            tell_scale(report);
        if (!err && !measured && report->motion.verdict == PROBE_UNSURE)
            tool_warn("convention %s was never measured, and the first frames do not tell whether "
                      "it fits",
                      hsio_sequence_convention(seq)->preset);
        err = 0;
    }
    probe_report_finish(report);
    free(report);
    return err;
}
