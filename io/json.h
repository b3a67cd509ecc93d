// SPDX-License-Identifier: MIT
/** Values of a JSON file, with messages that tell where they stand and what they should be. */
#ifndef HSIO_JSON_H
#define HSIO_JSON_H

#include <jansson.h>

#include "internal.h"

/** Where in the file we are. */
struct hsio_json_place {
    const struct hs_log *log;
    const char *path;
    char where[128]; ///< "frames[3].", or "".
};

/** Such as "a number". */
const char *hsio_json_type_name(const json_t *v);
/** Says what a key should have been. Returns HS_ERR_FORMAT. */
int hsio_json_wrong(const struct hsio_json_place *p, const char *key, const char *wanted,
                    const json_t *found);

/* Readers; `has` may be NULL and is set on success. Errors: HS_ERR_FORMAT, after a message. */

int hsio_json_float(const struct hsio_json_place *p, const char *key, const json_t *v, float *out,
                    bool *has);
/** A far clip distance; null, "inf" or negative for infinite. `has` may not be NULL. */
int hsio_json_far(const struct hsio_json_place *p, const char *key, const json_t *v, float *out,
                  bool *has);
int hsio_json_floats(const struct hsio_json_place *p, const char *key, const json_t *v, float *out,
                     size_t count, bool *has);
/** Sixteen numbers, or four rows of four. */
int hsio_json_matrix(const struct hsio_json_place *p, const char *key, const json_t *v, float *out,
                     bool *has);
/** [w, h], or {"width": w, "height": h}. */
int hsio_json_size(const struct hsio_json_place *p, const char *key, const json_t *v, int *width,
                   int *height);

/* nss.c */

/** Whether this is the JSON of a sequence of an NSS data set. */
bool hsio_nss_is(const json_t *root);
/** The same as a description of ours, which the caller gives back. Errors: HS_ERR_FORMAT;
 * HS_ERR_IO: there are no pictures; after a message; HS_ERR_NOMEM. */
int hsio_nss_translate(struct hsio_json_place *p, json_t *root, json_t **out);

#endif
