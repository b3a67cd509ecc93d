// SPDX-License-Identifier: MIT
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>

HSIO_PRINTF(3, 0)
static void log_args(const struct hs_log *log, enum hs_log_level level, const char *format,
                     va_list args)
{
    char text[4096];

    if (!log || !log->cb || level > log->level)
        return;
    vsnprintf(text, sizeof(text), format, args);
    log->cb(log->priv, level, text);
}

void hsio_log(const struct hs_log *log, enum hs_log_level level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_args(log, level, format, args);
    va_end(args);
}

int hsio_fail(const struct hs_log *log, int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_args(log, HS_LOG_ERROR, format, args);
    va_end(args);
    return code;
}
