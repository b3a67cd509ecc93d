// SPDX-License-Identifier: MIT
/** What opening and reading a frame share. */
#ifndef HSIO_FRAME_H
#define HSIO_FRAME_H

#include "internal.h"

enum hsio_source_kind {
    HSIO_SOURCE_EXR,
    HSIO_SOURCE_PNG,
    HSIO_SOURCE_RAW,
    HSIO_SOURCE_FLO,
};

/* One file of the frame. */
struct hsio_source {
    enum hsio_source_kind kind;
    char *path;
    struct hsio_exr *exr;
    struct hsio_png_info png;
    struct hsio_flo_info flo;
    uint64_t bytes;
    bool separate; ///< Holds one plane: its channels may have any plain names.
    struct hsio_box canvas;
    bool has_canvas;
};

/* Where a plane is. */
struct hsio_located {
    int source; ///< -1: absent.
    struct hsio_match match;
    bool chroma;
};

struct hsio_frame {
    const struct hsio_sequence *seq;
    const struct hsio_slot *slot;
    struct hsio_convention convention;
    struct hsio_frame_info info;
    int source_count, main; ///< `main`: source of colour or the first plane.
    struct hsio_source sources[HSIO_PLANE_COUNT + 1];
    struct hsio_located planes[HSIO_PLANE_COUNT];
    float *mended; ///< Motion in place of the stored one; NULL: as stored.
    struct hsio_plane_stats mended_stats;
    struct hsio_mended mended_facts;
};

#endif
