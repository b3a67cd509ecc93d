// SPDX-License-Identifier: MIT
/** Which files of a folder make up a sequence. */
#include "internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIGITS 18
#define MAX_GROUPS 4096

/* Files of a folder that differ in their number only. */
struct group {
    struct hsio_pattern pattern;
    int count, known; ///< Files; those whose number the description lists.
    char example[512];
};

void hsio_file_list_free(struct hsio_file_list *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->files[i].path);
    free(list->files);
    *list = (struct hsio_file_list){0};
}

bool hsio_scan_split(const char *path, struct hsio_pattern *out, int64_t *number)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    const char *end = dot && dot > name ? dot : name + strlen(name), *start;
    bool negative = false;
    int64_t value = 0;

    while (end > name && !isdigit((unsigned char)end[-1]))
        end--;
    for (start = end; start > name && isdigit((unsigned char)start[-1]);)
        start--;
    if (start == end || end - start > MAX_DIGITS || (size_t)(start - path) >= sizeof(out->prefix) ||
        strlen(end) >= sizeof(out->suffix))
        return false;
    for (const char *p = start; p < end; p++)
        value = value * 10 + (*p - '0');
    *out = (struct hsio_pattern){.numbered = true, .digits = (int)(end - start), .step = 1};
    // A minus is a sign where it can't join two words.
    if (start > name && start[-1] == '-' && (start - 1 == name || strchr("._-", start[-2]))) {
        negative = true;
        start--;
    }
    memcpy(out->prefix, path, (size_t)(start - path));
    memcpy(out->suffix, end, strlen(end) + 1);
    *number = negative ? -value : value;
    return true;
}

/* The number between prefix and suffix, if it is written as the padding wants it; 0: anyhow. */
static bool parse_middle(const char *text, size_t length, int padding, int64_t *number)
{
    const bool negative = length && text[0] == '-';
    const char *digits = text + negative;
    const size_t count = length - negative;
    int64_t value = 0;

    if (!count || count > MAX_DIGITS)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!isdigit((unsigned char)digits[i]))
            return false;
        value = value * 10 + (digits[i] - '0');
    }
    *number = negative ? -value : value;
    if (!padding)
        return true;
    // Some programs count the sign as a place.
    if (count < (size_t)padding && !(negative && count + 1 == (size_t)padding))
        return false;
    return count <= (size_t)padding || digits[0] != '0';
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = ((const struct hsio_file *)a)->number;
    const int64_t y = ((const struct hsio_file *)b)->number;

    return (x > y) - (x < y);
}

static bool append(struct hsio_file_list *list, int *capacity, int64_t number, char *path)
{
    if (list->count == *capacity) {
        const int more = *capacity ? *capacity * 2 : 64;
        struct hsio_file *files = realloc(list->files, (size_t)more * sizeof(*files));

        if (!files)
            return false;
        list->files = files;
        *capacity = more;
    }
    list->files[list->count++] = (struct hsio_file){number, path};
    return true;
}

static DIR *open_folder(const char *folder, const struct hs_log *log)
{
    DIR *dir = opendir(folder[0] ? folder : ".");

    if (!dir)
        hsio_log(log, HS_LOG_ERROR, "%s: folder cannot be listed: %s", folder[0] ? folder : ".",
                 strerror(errno));
    return dir;
}

int hsio_scan_pattern(const struct hsio_pattern *pattern, const struct hs_log *log,
                      struct hsio_file_list *out)
{
    struct hsio_file_list list = {0};
    const struct dirent *entry;
    int capacity = 0, result = 0;
    char *folder = hsio_path_folder(pattern->prefix);
    const char *prefix = folder ? pattern->prefix + strlen(folder) : "";
    const size_t head = strlen(prefix), tail = strlen(pattern->suffix);
    DIR *dir = folder ? open_folder(folder, log) : NULL;

    if (!dir) {
        result = folder ? HS_ERR_IO : HS_ERR_NOMEM;
        goto error;
    }
    while ((entry = readdir(dir))) {
        const size_t length = strlen(entry->d_name);
        int64_t number;
        char *path;

        if (length <= head + tail || strncmp(entry->d_name, prefix, head) ||
            strcmp(entry->d_name + length - tail, pattern->suffix) ||
            !parse_middle(entry->d_name + head, length - head - tail, pattern->digits, &number))
            continue;
        path = hsio_path_join(folder, entry->d_name);
        if (!path || !append(&list, &capacity, number, path)) {
            free(path);
            result = hsio_fail(log, HS_ERR_NOMEM, "out of memory for a file list");
            goto error;
        }
    }
    if (list.count)
        qsort(list.files, (size_t)list.count, sizeof(*list.files), by_number);
    for (int i = 1; i < list.count && !result; i++) {
        if (list.files[i].number == list.files[i - 1].number)
            result = hsio_fail(log, HS_ERR_INVALID, "frame %" PRId64 " has two files: %s and %s",
                               list.files[i].number, list.files[i - 1].path, list.files[i].path);
    }
    if (result)
        goto error;
    *out = list;
    list = (struct hsio_file_list){0};
error:
    if (dir)
        closedir(dir);
    hsio_file_list_free(&list);
    free(folder);
    return result;
}

static int count_in_group(struct group *groups, int *count, const char *folder, const char *name,
                          const struct hsio_description *desc)
{
    char path[1536];
    struct hsio_pattern p;
    int64_t number;
    int i = 0;

    if (snprintf(path, sizeof(path), "%s%s", folder, name) >= (int)sizeof(path) ||
        !hsio_scan_split(path, &p, &number))
        return 0;
    while (i < *count && (strcmp(groups[i].pattern.prefix, p.prefix) ||
                          strcmp(groups[i].pattern.suffix, p.suffix)))
        i++;
    if (i == MAX_GROUPS)
        return HS_ERR_INVALID;
    if (i == *count) {
        groups[i] = (struct group){.pattern = p};
        snprintf(groups[i].example, sizeof(groups[i].example), "%.511s", name);
        (*count)++;
    }
    groups[i].count++;
    groups[i].known += hsio_description_find(desc, number) != NULL;
    p.digits += number < 0; // The sign may be counted; finding the files allows for both.
    if (i + 1 == *count && groups[i].count == 1)
        groups[i].pattern.digits = p.digits;
    if (p.digits < groups[i].pattern.digits)
        groups[i].pattern.digits = p.digits;
    return 0;
}

static bool better(const struct group *a, const struct group *b)
{
    const bool exr_a = hsio_path_has_extension(a->pattern.suffix, ".exr");
    const bool exr_b = hsio_path_has_extension(b->pattern.suffix, ".exr");

    if (exr_a != exr_b)
        return exr_a;
    return a->known > b->known;
}

static int nothing_numbered(const char *folder, const struct hsio_description *desc,
                            const struct hs_log *log)
{
    const char *name = folder[0] ? folder : ".";

    if (!desc)
        return hsio_fail(log, HS_ERR_IO, "%s: holds no numbered .exr or .png files", name);
    return hsio_fail(log, HS_ERR_IO,
                     "%s: key frames: %s, and %s holds no numbered .exr or .png files", desc->path,
                     desc->count ? "they name no files" : "the list is empty", name);
}

static int choose(const struct group *groups, int count, const char *folder,
                  const struct hsio_description *desc, const struct hs_log *log,
                  struct hsio_pattern *out)
{
    const struct group *best = NULL;
    char names[2048] = "";
    size_t length = 0;
    int equals = 0;

    for (int i = 0; i < count; i++) {
        if (!best || better(&groups[i], best)) {
            best = &groups[i];
            equals = 1;
        } else if (!better(best, &groups[i])) {
            equals++;
        }
        length = hsio_text_append(names, sizeof(names), length, "%s%s (%d)", i ? ", " : "",
                                  groups[i].example, groups[i].count);
    }
    if (!best)
        return nothing_numbered(folder, desc, log);
    if (equals > 1)
        return hsio_fail(log, HS_ERR_INVALID, "%s: holds several sequences, name one: %s", folder,
                         names);
    *out = best->pattern;
    return 0;
}

int hsio_scan_folder(const char *folder, const struct hsio_description *desc,
                     const struct hs_log *log, struct hsio_pattern *out)
{
    struct group *groups = calloc(MAX_GROUPS + 1, sizeof(*groups));
    const struct dirent *entry;
    int count = 0, result = 0;
    DIR *dir;

    if (!groups)
        return hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", folder);
    dir = open_folder(folder, log);
    if (!dir) {
        free(groups);
        return HS_ERR_IO;
    }
    while (!result && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.' || !(hsio_path_has_extension(entry->d_name, ".exr") ||
                                         hsio_path_has_extension(entry->d_name, ".png")))
            continue;
        result = count_in_group(groups, &count, folder, entry->d_name, desc);
    }
    closedir(dir);
    if (result)
        hsio_log(log, HS_LOG_ERROR, "%s: more than %d sequences", folder, MAX_GROUPS);
    else
        result = choose(groups, count, folder, desc, log, out);
    free(groups);
    return result;
}
