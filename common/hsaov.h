// SPDX-License-Identifier: MIT
/** Layers of a file that are upscaled beside the colour, as users name them. */
#ifndef HSAOV_H
#define HSAOV_H

#include <stdbool.h>

#include <hindsight/frame.h>

#include "hsio.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hsaov_kind {
    HSAOV_AUTO, ///< By name and type.
    HSAOV_LIGHT,
    HSAOV_DATA,
    HSAOV_NEAREST, ///< Carried over from the file.
};

struct hsaov_request {
    char name[256];
    enum hsaov_kind kind;
};

/**
 * Reads LAYER or LAYER=KIND. Thread: safe.
 * Errors: HS_ERR_INVALID, after a message to the log.
 */
int hsaov_parse(const char *text, const struct hs_log *log, struct hsaov_request *request);

/** What a layer is taken for: as the request says, else by its name and type. Thread: safe. */
enum hsaov_kind hsaov_kind_of(const struct hsaov_request *request,
                              const struct hsio_layer_info *info);

/** Names of the layer's channels in an output, where there is one part only. Thread: safe. */
void hsaov_name_channels(const struct hsio_layer_info *info, char *names, size_t size);

/**
 * A channel of the layer as the pattern of hsio_passthrough, where a slash ends the part's name.
 * False: it has no more of them. Thread: safe.
 */
#define HSAOV_EXACT_BYTES 1300
bool hsaov_name_exact(const struct hsio_layer_info *info, int index, char name[HSAOV_EXACT_BYTES]);

/** A kind for people. Owns: static storage. Thread: safe. */
const char *hsaov_kind_about(enum hsaov_kind kind);

#ifdef __cplusplus
}
#endif
#endif
