// SPDX-License-Identifier: MIT
/** hindsight render: clips of scenes/ into files, many at a time. */
#ifndef HINDSIGHT_TOOLS_RENDER_H
#define HINDSIGHT_TOOLS_RENDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "hsio.h"
#include "hsio_store.h"
#include "hsscenes.h"
#include "options.h"

#define RENDER_HEADER_BYTES 4096 ///< Of a pack, behind 8 bytes of size.
#define RENDER_CHUNK 8           ///< Frames that are recorded, submitted and read back together.

/** Planes in the order in which they are rendered and packed. */
enum render_plane {
    RENDER_COLOUR,
    RENDER_DEPTH,
    RENDER_MOTION,
    RENDER_MOTION_NEXT,
    RENDER_NORMAL,
    RENDER_ROUGHNESS,
    RENDER_DIFFUSE,
    RENDER_SPECULAR,
    RENDER_HIT_DISTANCE,
    RENDER_ALPHA,
    RENDER_REFERENCE,
    RENDER_PLANES,
};

enum render_format {
    RENDER_EXR = 0, ///< A folder of EXR files with frames.json.
    RENDER_RAW,     ///< A folder of raw planes with a description.
    RENDER_PACK,    ///< One safetensors file a clip.
    RENDER_NOTHING, ///< Nothing is written or read back: for timing.
};

struct render_plane_about {
    const char *name; ///< As in packs.
    VkFormat format;
    enum hsio_format pixels;
    int channels;
    uint32_t bytes;     ///< Of a pixel.
    enum hsio_plane io; ///< For EXR and raw.
    bool store_float;   ///< EXR: 32 bit.
};

extern const struct render_plane_about render_planes[RENDER_PLANES];

struct render_request {
    struct hs_clip_params params; ///< All but the seed.
    uint64_t *seeds;
    uint32_t seed_count;
    const char *output;
    const char *shared; ///< Folder of packs whose references these clips share, or NULL.
    enum render_format format;
    const char *device;
    int jobs;
    bool validate, overwrite;
    bool mask[RENDER_PLANES]; ///< Planes to render.
    bool converts;            ///< Files hold what `convention` says, else plain planes.
    bool motion_is_next;      ///< The convention's motion is that to the next frame.
    struct hsio_convention convention;
    struct tool_convention asked; ///< What `convention` was made of.
};

/** A clip, or for EXR and raw a part of one, on the CPU. */
struct render_result {
    const struct render_request *request;
    const struct hs_clip_params *settings; ///< With defaults filled in.
    uint64_t seed;
    uint32_t first, count; ///< Frames.
    struct hs_clip_info infos[RENDER_CHUNK];
    const struct hs_clip_info *clip_infos; ///< Of all frames of the clip.
    /** Tightly packed, `count` frames after each other; NULL: not rendered. */
    const void *planes[RENDER_PLANES];
};

/** Renders and writes everything. Errors: an HS_ERR_* code, after a message. */
int render_run(const struct render_request *request);

/** Makes a folder and those it lies in. Errors: HS_ERR_IO, after a message. */
int render_make_folder(const char *path);
/**
 * The folder of a seed's clip for EXR and raw, made if it is not there. `there`: a complete clip is
 * in it, which is to be kept. What is left of an earlier, longer one is removed.
 */
int render_folder(const struct render_request *request, const struct hs_clip_params *settings,
                  uint64_t seed, char *path, size_t size, bool *there);
/** Fills in what a convention asks for: vectors to the next frame, the kind of specular albedo. */
void render_plan_convention(struct render_request *request, bool specular_given);
/** The plane that files hold this as. */
enum hsio_plane render_io_plane(const struct render_request *request, int plane);
/** A plane of frame `index` of the result as the convention has it; the caller frees it. */
int render_convert(const struct render_result *result, int plane, uint32_t index, void **pixels);
/** Channel names of a plane in EXR, or NULL: those of hsio_write(). */
const char *render_channels(const struct render_request *request, int plane, char *text,
                            size_t size);
/** The object that tells a reader the convention. */
void render_write_convention(FILE *file, const struct render_request *request,
                             enum hs_scenes_specular specular);
/** EXR or raw files of some frames. */
int render_write_frames(const struct render_result *result, const char *folder);
/** frames.json of a whole clip. */
int render_write_json(const struct render_request *request, const struct hs_clip_params *settings,
                      uint64_t seed, const struct hs_clip_info *infos, uint32_t count,
                      const char *folder);
/** The file of a packed clip. Errors: HS_ERR_INVALID, after a message: the path is too long. */
int render_pack_path(const char *folder, const char *pattern, uint64_t seed, char *path,
                     size_t size);
/**
 * Takes what clips that share references have in common from the packs in `shared`: seeds, unless
 * some are given, mode, number of frames, sizes and speed. Errors: an HS_ERR_* code, after a
 * message.
 */
int render_shared_plan(struct render_request *request);
/** The way from the output folder to the pack that holds a seed's reference. Errors: as above. */
int render_shared_path(const struct render_request *request, uint64_t seed, char *path,
                       size_t size);
/** Adds frames to a packed clip, which is complete after the last ones. */
struct render_pack;
int render_pack_open(const struct render_request *request, const struct hs_clip_params *settings,
                     uint64_t seed, struct render_pack **pack);
int render_pack_add(struct render_pack *pack, const struct render_result *result);
/** Finishes the file under its name, or removes it after an error. */
int render_pack_close(struct render_pack **pack, int err);

/** Reads the triangles of a glTF file (.glb or .gltf). The caller frees all three arrays. */
int render_read_gltf(const char *path, struct hs_scenes_mesh *mesh);

#endif
