// SPDX-License-Identifier: MIT
/**
 * Error codes.
 *
 * Every function that can fail returns `int`: 0 or one of the negative codes below. On failure
 * outputs are untouched and ownership stays with the caller. The code is for control flow; the
 * text for people goes to the log, once, where the failure happened.
 */
#ifndef HINDSIGHT_ERROR_H
#define HINDSIGHT_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum hs_error {
    HS_OK = 0,               ///< Success.
    HS_ERR_INVALID = -1,     ///< An argument or a combination of arguments is not allowed.
    HS_ERR_UNSUPPORTED = -2, ///< The device, the format or this build can not do it.
    HS_ERR_NOMEM = -3,       ///< Host or device memory ran out.
    HS_ERR_DEVICE_LOST = -4, ///< The Vulkan device is lost; every later call reports it, too.
    HS_ERR_FORMAT = -5,      ///< A file or a description is damaged or not what it claims to be.
    HS_ERR_VERSION = -6,     ///< A file or a caller is of a version that is not supported.
    HS_ERR_IO = -7,          ///< Reading or writing a file failed.
    HS_ERR_INTERNAL = -8,    ///< A fault in the library.
};

/**
 * A short English phrase for a code, for example "invalid argument".
 *
 * Owns: static storage; never NULL, unknown codes give "unknown error".
 * Thread: safe.
 * Since: 1.
 */
const char *hs_error_string(int error);

#ifdef __cplusplus
}
#endif
#endif
