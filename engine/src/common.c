// SPDX-License-Identifier: MIT
// Version, error phrases and the log call: what needs no device.
#include <stdarg.h>
#include <stdio.h>

#include <hindsight/hindsight.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *hs_version_string(void)
{
    return TEXT(HS_VERSION_MAJOR) "." TEXT(HS_VERSION_MINOR) "." TEXT(HS_VERSION_PATCH);
}

const char *hs_error_string(int error)
{
    switch (error) {
    case HS_OK:
        return "success";
    case HS_ERR_INVALID:
        return "invalid argument";
    case HS_ERR_UNSUPPORTED:
        return "not supported";
    case HS_ERR_NOMEM:
        return "out of memory";
    case HS_ERR_DEVICE_LOST:
        return "device lost";
    case HS_ERR_FORMAT:
        return "bad format";
    case HS_ERR_VERSION:
        return "unsupported version";
    case HS_ERR_IO:
        return "input/output error";
    case HS_ERR_INTERNAL:
        return "internal error";
    default:
        return "unknown error";
    }
}

void hs_log_message(const struct hs_log *log, enum hs_log_level level, const char *format, ...)
{
    if (!log || !log->cb || level > log->level || level == HS_LOG_NONE)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    log->cb(log->priv, level, text);
}
