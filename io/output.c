// SPDX-License-Identifier: MIT
#include "internal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Steps back over a decimal number as "%ld" and "%u" write it, and over the mark before it. */
static const char *step_back(const char *name, const char *end, char mark)
{
    const char *p = end;

    while (p > name && isdigit((unsigned char)p[-1]))
        p--;
    if (p == end || end - p > 10 || (*p == '0' && end - p > 1) || p == name || p[-1] != mark)
        return NULL;
    return p - 1;
}

size_t hsio_leftover_length(const char *name)
{
    const size_t length = strlen(name), tail = strlen(".part");
    const char *dot = NULL, *end = name + (length > tail ? length - tail : 0);
    long process;

    if (!strcmp(end, ".part"))
        dot = step_back(name, end, '-');
    if (dot)
        dot = step_back(name, dot, '.');
    if (!dot || dot == name)
        return 0;
    process = strtol(dot + 1, NULL, 10);
    // The number of a process that ended may be ours now.
    if (process != (long)getpid() && (kill((pid_t)process, 0) == 0 || errno != ESRCH))
        return 0;
    return (size_t)(dot - name);
}

int hsio_output_open(struct hsio_output *out, const char *path, const struct hs_log *log)
{
    static atomic_uint serial;
    struct stat st;

    *out = (struct hsio_output){.fd = -1};
    if (!path[0] || path[strlen(path) - 1] == '/' || (!stat(path, &st) && S_ISDIR(st.st_mode)))
        return hsio_fail(log, HS_ERR_IO, "%s: is a folder, a file name is needed", path);
    out->path = hsio_text_format("%s", path);
    out->temp =
        hsio_text_format("%s.%ld-%u.part", path, (long)getpid(), atomic_fetch_add(&serial, 1));
    if (!out->path || !out->temp) {
        hsio_output_abort(out);
        return hsio_fail(log, HS_ERR_NOMEM, "%s: out of memory", path);
    }
    out->fd = open(out->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (out->fd < 0) {
        const int code = errno;

        free(out->temp); // Not ours to remove.
        out->temp = NULL;
        hsio_output_abort(out);
        return hsio_fail(log, HS_ERR_IO, "%s: cannot be created: %s", path, strerror(code));
    }
    return 0;
}

bool hsio_output_write_at(struct hsio_output *out, const void *data, size_t bytes, uint64_t offset)
{
    const uint8_t *p = data;
    const uint64_t end = offset + bytes;

    while (bytes) {
        const ssize_t n = pwrite(out->fd, p, bytes, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (!out->saved_errno)
                out->saved_errno = n ? errno : EIO;
            return false;
        }
        p += n;
        bytes -= (size_t)n;
        offset += (uint64_t)n;
    }
    out->bytes = end > out->bytes ? end : out->bytes;
    return true;
}

bool hsio_output_write(struct hsio_output *out, const void *data, size_t bytes)
{
    return hsio_output_write_at(out, data, bytes, out->bytes);
}

int hsio_output_commit(struct hsio_output *out, const struct hs_log *log)
{
    int code = out->saved_errno;

    if (!code && fsync(out->fd) && errno != EINVAL && errno != EROFS)
        code = errno;
    if (close(out->fd) && !code)
        code = errno;
    out->fd = -1;
    if (!code && rename(out->temp, out->path))
        code = errno;
    if (code) {
        const int result = hsio_fail(log, HS_ERR_IO, "%s: writing failed after %llu bytes: %s",
                                     out->path, (unsigned long long)out->bytes, strerror(code));

        hsio_output_abort(out);
        return result;
    }
    free(out->temp);
    out->temp = NULL;
    hsio_output_abort(out);
    return 0;
}

void hsio_output_abort(struct hsio_output *out)
{
    if (out->fd >= 0)
        close(out->fd);
    out->fd = -1;
    if (out->temp)
        unlink(out->temp);
    free(out->temp);
    free(out->path);
    out->temp = out->path = NULL;
}
