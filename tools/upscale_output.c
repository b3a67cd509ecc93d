// SPDX-License-Identifier: MIT
// Names of output files, and whether they can be or have been written.
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hsframe.h"
#include "report.h"
#include "upscale.h"

#define PATH_BYTES 2048

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

enum hsio_format upscale_output_raw(const char *path)
{
    const char *dot = strrchr(base_name(path), '.');
    const int format = dot ? hsio_format_from_name(dot + 1) : -1;

    return format > HSIO_FORMAT_NATIVE ? (enum hsio_format)format : HSIO_FORMAT_NATIVE;
}

/** OUT names files, not a folder, when it ends like a kind of file that can be written. */
bool upscale_output_names_files(const char *output)
{
    const char *base = base_name(output), *dot = strrchr(base, '.');
    struct stat status;

    if (stat(output, &status) == 0 && S_ISDIR(status.st_mode))
        return false;
    return dot &&
           (!strcasecmp(dot, ".exr") || !strcasecmp(dot, ".png") || upscale_output_raw(output));
}

/** A place for a frame number is for files: a kind of file that is not known is a slip. */
static int check_kind(const char *output)
{
    struct hsio_pattern pattern;
    struct stat status;

    if (upscale_output_names_files(output) ||
        (stat(output, &status) == 0 && S_ISDIR(status.st_mode)) ||
        hsio_pattern_parse(&pattern, base_name(output), NULL) < 0 || !pattern.numbered)
        return 0;
    tool_error("%s: unknown kind of file; .exr, .png or a raw format: .rgba16f, .rgba32f", output);
    return HS_ERR_INVALID;
}

/** Like mkdir -p. */
static int make_folder(const char *path)
{
    char text[PATH_BYTES];
    struct stat status;

    if (snprintf(text, sizeof(text), "%s", path) >= (int)sizeof(text))
        return HS_ERR_INVALID;
    for (char *p = text + 1;; p++) {
        char c = *p;

        if (c && c != '/')
            continue;
        *p = 0;
        if (mkdir(text, 0777) < 0 &&
            (errno != EEXIST || stat(text, &status) < 0 || !S_ISDIR(status.st_mode))) {
            tool_error("the folder %s can not be made: %s", text,
                       strerror(errno == EEXIST ? ENOTDIR : errno));
            return HS_ERR_IO;
        }
        *p = c;
        if (!c)
            return 0;
    }
}

static int output_folder(const char *output, char *folder, size_t size)
{
    size_t length = strlen(output);

    if (upscale_output_names_files(output)) {
        length = (size_t)(base_name(output) - output);
        if (!length)
            return snprintf(folder, size, ".") > 0 ? 0 : HS_ERR_INVALID;
    }
    while (length > 1 && output[length - 1] == '/')
        length--;
    return snprintf(folder, size, "%.*s", (int)length, output) < (int)size ? 0 : HS_ERR_INVALID;
}

int upscale_output_prepare(const struct upscale_request *request,
                           const struct hsio_sequence_info *info)
{
    char folder[PATH_BYTES], probe[PATH_BYTES + 32];
    struct hsio_pattern pattern;
    int file, err = output_folder(request->output, folder, sizeof(folder));

    if (!err)
        err = check_kind(request->output);
    if (!err && upscale_output_names_files(request->output)) {
        err = hsio_pattern_parse(&pattern, request->output, tool_log());
        if (!err && !pattern.numbered && info->frame_count > 1) {
            tool_error("%s has no place for a frame number, such as ####, but there are %d frames",
                       request->output, info->frame_count);
            return HS_ERR_INVALID;
        }
    }
    if (!err)
        err = make_folder(folder);
    if (err < 0)
        return err;
    snprintf(probe, sizeof(probe), "%s/.hindsight-XXXXXX", folder);
    file = mkstemp(probe);
    if (file < 0) {
        tool_error("%s can not be written: %s", folder, strerror(errno));
        return HS_ERR_IO;
    }
    close(file);
    unlink(probe);
    return 0;
}

/** Puts another number in place of the last one in a name, with the same padding. */
static int renumber(const char *base, int64_t number, char *name, size_t size)
{
    const char *end = strrchr(base, '.'), *start;
    int length;

    if (!end)
        end = base + strlen(base);
    while (end > base && !isdigit((unsigned char)end[-1]))
        end--;
    for (start = end; start > base && isdigit((unsigned char)start[-1]);)
        start--;
    length = snprintf(name, size, "%.*s%0*lld%s", (int)(start - base), base, (int)(end - start),
                      (long long)number, end);
    return length < (int)size ? 0 : HS_ERR_INVALID;
}

/** File name in an output folder: the input's own, with the number of this frame. */
static int name_in_folder(const struct hsio_sequence_info *info, int64_t number,
                          const struct hsio_frame_info *frame, char *name, size_t size)
{
    struct hsio_pattern pattern;
    const char *base = base_name(info->location);
    int length;

    if (!strcmp(info->kind, "raw")) {
        const char *dot = strrchr(base, '.');

        length = snprintf(name, size, "%.*s.%04lld.exr",
                          dot ? (int)(dot - base) : (int)strlen(base), base, (long long)number);
        return length < (int)size ? 0 : HS_ERR_INVALID;
    }
    if (frame && !frame->held) {
        length = snprintf(name, size, "%s", base_name(frame->path));
        return length < (int)size ? 0 : HS_ERR_INVALID;
    }
    if (hsio_pattern_parse(&pattern, base, NULL) == 0 && pattern.numbered)
        return hsio_pattern_format(&pattern, number, name, size);
    return renumber(base_name(frame ? frame->path : base), number, name, size);
}

int upscale_output_name(const struct upscale_request *request,
                        const struct hsio_sequence_info *info, int64_t number,
                        const struct hsio_frame_info *frame, char **path)
{
    char name[PATH_BYTES], folder[PATH_BYTES], whole[2 * PATH_BYTES + 2];
    struct hsio_pattern pattern;
    int err;

    if (upscale_output_names_files(request->output)) {
        err = hsio_pattern_parse(&pattern, request->output, tool_log());
        if (!err)
            err = hsio_pattern_format(&pattern, number, whole, sizeof(whole));
    } else {
        err = output_folder(request->output, folder, sizeof(folder));
        if (!err)
            err = name_in_folder(info, number, frame, name, sizeof(name));
        if (!err)
            snprintf(whole, sizeof(whole), "%s/%s", folder, name);
    }
    if (err < 0)
        return err;
    if (frame && hsframe_reads(frame, whole)) {
        tool_error("the output %s would replace its own input; choose another OUT", whole);
        return HS_ERR_INVALID;
    }
    *path = strdup(whole);
    return *path ? 0 : HS_ERR_NOMEM;
}

int upscale_output_finished(const char *path, int width, int height)
{
    struct hsio_file_desc *desc;
    const enum hsio_format raw = upscale_output_raw(path);
    struct stat status;
    int finished = 0;

    if (stat(path, &status) < 0)
        return 0;
    // Raw files have no header: their size is all there is.
    if (raw) {
        uint64_t expected = (uint64_t)width * (uint64_t)height * hsio_format_bytes(raw);

        if ((uint64_t)status.st_size == expected)
            return 1;
        tool_error("%s is there already, with %llu bytes instead of %llu; --overwrite replaces it",
                   path, (unsigned long long)status.st_size, (unsigned long long)expected);
        return HS_ERR_INVALID;
    }
    tool_capture_begin();
    if (hsio_file_check(path, tool_log()) < 0 || hsio_file_describe(path, tool_log(), &desc) < 0) {
        const char *why = tool_capture_end();
        const size_t length = strlen(path);

        // What went wrong mostly names the file already.
        why += !strncmp(why, path, length) && !strncmp(why + length, ": ", 2) ? length + 2 : 0;
        tool_warn("%s is damaged and will be made again: %s", path, why);
        return 0;
    }
    tool_capture_end();
    if (desc->part_count > 0) {
        const struct hsio_box *box = &desc->parts[0].display;

        finished = box->max_x - box->min_x + 1 == width && box->max_y - box->min_y + 1 == height
                       ? 1
                       : HS_ERR_INVALID;
        if (finished < 0)
            tool_error("%s is there already, with %dx%d instead of %dx%d; --overwrite replaces it",
                       path, box->max_x - box->min_x + 1, box->max_y - box->min_y + 1, width,
                       height);
    }
    hsio_file_desc_free(&desc);
    return finished;
}

static bool is_written(const struct upscale_plan *plan, const char *name, size_t length)
{
    for (int i = 0; i < plan->item_count; i++) {
        const char *base = base_name(plan->items[i].path);

        if (plan->items[i].write && strlen(base) == length && !memcmp(base, name, length))
            return true;
    }
    return false;
}

void upscale_output_clear(const struct upscale_request *request, const struct upscale_plan *plan)
{
    char folder[PATH_BYTES], path[PATH_BYTES + 256];
    const struct dirent *entry;
    DIR *dir = NULL;
    int count = 0;

    if (plan->item_count && output_folder(request->output, folder, sizeof(folder)) == 0)
        dir = opendir(folder);
    while (dir && (entry = readdir(dir))) {
        size_t length = hsio_leftover_length(entry->d_name);

        if (!length || !is_written(plan, entry->d_name, length))
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        count += unlink(path) == 0;
    }
    if (dir)
        closedir(dir);
    if (count)
        tool_info("%d unfinished files of a run that was killed are removed", count);
}
