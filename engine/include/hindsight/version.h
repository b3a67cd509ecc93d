// SPDX-License-Identifier: MIT
/** Version numbers of the library; the build reads them from here. */
#ifndef HINDSIGHT_VERSION_H
#define HINDSIGHT_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/** Counts changes of the public API. The soname follows it until 1.0. Since: 1. */
#define HS_API_VERSION 2

#define HS_VERSION_MAJOR 0
#define HS_VERSION_MINOR 1
#define HS_VERSION_PATCH 0

/**
 * The version of the library that is loaded, for example "0.1.0".
 *
 * Owns: static storage.
 * Thread: safe.
 * Since: 1.
 */
const char *hs_version_string(void);

#ifdef __cplusplus
}
#endif
#endif
