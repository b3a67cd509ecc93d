// SPDX-License-Identifier: MIT
/** From the files that are there to the frames of a range: what is missing, held or a cut. */
#include "internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* The distance of neighbours if it is the same everywhere, else 1. */
static int64_t common_step(const struct hsio_file *files, int count)
{
    for (int i = 2; i < count; i++) {
        if (files[i].number - files[i - 1].number != files[1].number - files[0].number)
            return 1;
    }
    return count > 2 ? files[1].number - files[0].number : 1;
}

static const struct hsio_file *find_file(const struct hsio_file_list *list, int64_t number)
{
    int low = 0, high = list->count - 1;

    while (low <= high) {
        const int mid = low + (high - low) / 2;

        if (list->files[mid].number == number)
            return &list->files[mid];
        if (list->files[mid].number < number)
            low = mid + 1;
        else
            high = mid - 1;
    }
    return NULL;
}

int hsio_slots_add(struct hsio_sequence *s, int64_t number, const char *path, bool held,
                   int64_t step)
{
    struct hsio_slot *slot = &s->slots[s->count];
    const struct hsio_slot *before = s->count ? slot - 1 : NULL;

    *slot = (struct hsio_slot){
        .number = number,
        .held = held,
        .path = hsio_text_format("%s", path),
        .entry = hsio_description_find(s->description, number),
    };
    if (!slot->path)
        return hsio_sequence_no_memory(s);
    slot->reset = !before || number - before->number != step || (before->held && !held) ||
                  (slot->entry && slot->entry->reset);
    s->count++;
    return 0;
}

static int missing_error(const struct hsio_sequence *s, const struct hsio_file_list *list,
                         int64_t first, int64_t last, int64_t step)
{
    char names[512] = "";
    size_t length = 0;
    int ranges = 0;

    for (int64_t n = first; n <= last && ranges < 16;) {
        int64_t end = n;

        if (find_file(list, n)) {
            n += step;
            continue;
        }
        while (end + step <= last && !find_file(list, end + step))
            end += step;
        length =
            hsio_text_append(names, sizeof(names), length, "%s%" PRId64, ranges++ ? ", " : "", n);
        if (end > n)
            length = hsio_text_append(names, sizeof(names), length, " to %" PRId64, end);
        n = end + step;
    }
    return hsio_fail(&s->log, HS_ERR_INVALID,
                     "%s: %d of the frames %" PRId64 " to %" PRId64 " (step %" PRId64
                     ") are missing: %s",
                     s->location, s->missing, first, last, step, names);
}

static int fill_slots(struct hsio_sequence *s, const struct hsio_file_list *list, int64_t first,
                      int64_t last, int64_t step)
{
    const struct hsio_file *held = NULL;
    int result = 0;

    for (int64_t n = first; n <= last && !result; n += step) {
        const struct hsio_file *file = find_file(list, n);

        s->missing += !file;
        if (file) {
            held = file;
            result = hsio_slots_add(s, n, file->path, false, step);
        } else if (s->options.missing == HSIO_MISSING_HOLD && held) {
            result = hsio_slots_add(s, n, held->path, true, step);
        }
    }
    if (!result && s->missing && s->options.missing == HSIO_MISSING_ERROR)
        return missing_error(s, list, first, last, step);
    if (!result && s->missing)
        hsio_log(&s->log, HS_LOG_WARN, "%s: %d frames are missing and %s", s->location, s->missing,
                 s->options.missing == HSIO_MISSING_HOLD ? "held" : "skipped");
    return result;
}

static int check_options(const struct hsio_sequence *s, int64_t first, int64_t last, int64_t step)
{
    if (step < 1 || last < first || (last - first) / step >= HSIO_MAX_FRAMES)
        return hsio_fail(&s->log, HS_ERR_INVALID,
                         "%s: frames %" PRId64 " to %" PRId64 " in steps of %" PRId64
                         " are no range of at most %d frames",
                         s->location, first, last, step, HSIO_MAX_FRAMES);
    return 0;
}

int hsio_slots_build(struct hsio_sequence *s, const struct hsio_file_list *list,
                     const struct hsio_pattern *pattern)
{
    int64_t first = list->files[0].number, last = list->files[list->count - 1].number;
    int64_t step = common_step(list->files, list->count);
    int result;

    if (pattern->has_range) {
        first = pattern->first;
        last = pattern->last;
        step = pattern->step;
    }
    if (s->options.has_range) {
        first = s->options.first;
        last = s->options.last;
        step = s->options.step ? s->options.step : 1;
    }
    result = check_options(s, first, last, step);
    if (result)
        return result;
    s->slots = calloc((size_t)((last - first) / step) + 1, sizeof(*s->slots));
    if (!s->slots)
        return hsio_sequence_no_memory(s);
    result = fill_slots(s, list, first, last, step);
    if (!result && !s->count)
        result = hsio_fail(
            &s->log, HS_ERR_IO,
            "%s: no frame of %" PRId64 " to %" PRId64 "; there are %" PRId64 " to %" PRId64,
            s->location, first, last, list->files[0].number, list->files[list->count - 1].number);
    return result;
}
