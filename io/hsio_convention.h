// SPDX-License-Identifier: MIT
/** What the numbers in files mean: presets, and keys that change them. */
#ifndef HSIO_CONVENTION_H
#define HSIO_CONVENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hindsight/error.h"
#include "hindsight/log.h"
#include "hsio_plane.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hsio_direction {
    HSIO_DIRECTION_PREV = 0, ///< The vector leads to where the surface was in the previous frame.
    HSIO_DIRECTION_NEXT,     ///< The vector leads to where the surface will be in the next frame.
};

enum hsio_unit {
    HSIO_UNIT_PX = 0, ///< Pixels.
    HSIO_UNIT_UV,     ///< 1 = the whole width or height.
    HSIO_UNIT_NDC,    ///< 2 = the whole width or height.
};

/** How a pixel says that nobody wrote a motion vector. */
enum hsio_unwritten {
    HSIO_UNWRITTEN_NONE = 0,    ///< Every pixel is valid.
    HSIO_UNWRITTEN_ZERO,        ///< Both stored values are 0 (before the bias is taken off).
    HSIO_UNWRITTEN_ZERO_AT_FAR, ///< Both are 0 and the depth is background.
    HSIO_UNWRITTEN_NAN,         ///< Any of the two is not a number.
};

enum hsio_resolution {
    HSIO_RESOLUTION_RENDER = 0, ///< Same size as colour.
    HSIO_RESOLUTION_DISPLAY,    ///< Output size.
};

enum hsio_depth_kind {
    HSIO_DEPTH_LINEAR = 0,        ///< Distance along the view axis.
    HSIO_DEPTH_HARDWARE,          ///< 0 = near, 1 = far.
    HSIO_DEPTH_HARDWARE_INVERTED, ///< 1 = near, 0 = far.
};

enum hsio_space {
    HSIO_SPACE_WORLD = 0,
    HSIO_SPACE_VIEW,
};

enum hsio_range_kind {
    HSIO_RANGE_SIGNED = 0, ///< -1..1.
    HSIO_RANGE_UNSIGNED,   ///< 0..1, 0.5 is zero.
};

enum hsio_roughness_kind {
    HSIO_ROUGHNESS_PERCEPTUAL = 0, ///< What artists set; its square is alpha.
    HSIO_ROUGHNESS_ALPHA,          ///< The microfacet parameter.
    HSIO_ROUGHNESS_SMOOTHNESS,     ///< 1 - perceptual roughness.
};

/** What a specular albedo plane holds. */
enum hsio_specular_kind {
    HSIO_SPECULAR_DIRECTIONAL = 0, ///< Reflectance of the lobe at the pixel's angle and roughness.
    HSIO_SPECULAR_F0,              ///< Reflectance at normal incidence.
    HSIO_SPECULAR_METAL_WHITE,     ///< As F0, but 1 for metals.
};

enum hsio_transfer {
    HSIO_TRANSFER_LINEAR = 0, ///< Scene-linear.
    HSIO_TRANSFER_SRGB,       ///< Integers are sRGB-encoded; decoded to linear when read.
    HSIO_TRANSFER_DISPLAY,    ///< Display-referred and meant to stay so: code value / maximum.
};

/** What a motion plane's numbers mean. With stored values (r, g):
 * (a, b) = swap ? (g, r) : (r, g);
 * v = ((a - bias_x) sign_x scale_x ux, (b - bias_y) sign_y scale_y uy),
 * u = 1 (px), size (uv), size / 2 (ndc) of the raster that `resolution` names.
 * Then `other frame's position = own position + v`, x right, y down. */
struct hsio_motion_convention {
    enum hsio_direction direction;   ///< Which frame v leads to.
    enum hsio_unit unit;             ///< Unit after bias, sign and scale.
    enum hsio_unwritten unwritten;   ///< Code of pixels without a vector.
    enum hsio_resolution resolution; ///< Raster of the plane, and of its pixels.
    bool swap;                       ///< Axes swapped.
    bool jittered;                   ///< The difference of the jitters is contained in v.
    float sign_x, sign_y;            ///< 1 or -1.
    float scale_x, scale_y;          ///< Any factor except 0; negative is allowed.
    float bias_x, bias_y;            ///< Taken off first: 0.5 for 0.5-centred files.
    float limit; ///< Stored distance from the bias at which values are cut off; 0: none.
};

#define HSIO_PATTERN_BYTES 512

/** All that must be known to use a renderer's files. Filled by hsio_convention_preset(), then
 * changed field by field through hsio_convention_set() or directly. */
struct hsio_convention {
    /** Preset that this started from. */
    char preset[32];
    /** Keys that were set by hsio_convention_set(), one bit each; `auto` leaves those alone. */
    uint64_t set_keys[2];
    /** Layer, view or part to use where several match; empty: the first one. */
    char layer[128];
    /** Which channels make up a plane: `part/name,name,...`, alternatives split by `|`; `*` stands
     * for any text, the same for all channels of an alternative; a `?` at the end marks a channel
     * that may be absent. Empty: the plane is not read. ASCII case is ignored. */
    char channels[HSIO_PLANE_COUNT][HSIO_PATTERN_BYTES];
    struct {
        enum hsio_transfer transfer; ///< Of integer (PNG) colour; float colour is never changed.
    } color;
    struct hsio_motion_convention motion;
    struct hsio_motion_convention motion_next;
    struct {
        enum hsio_depth_kind kind;
        float unit_m;     ///< Metres per stored unit (linear) or per unit of near and far.
        float near;       ///< Clip distance in units; 0: unknown. A frame's own value wins.
        float far;        ///< Clip distance in units; 0: unknown, infinity: infinite.
        float background; ///< Stored value of "nothing there": linear >= it, hardware equal to it.
    } depth;
    struct {
        enum hsio_space space;
        enum hsio_range_kind range;
        bool packed; ///< The fourth channel is roughness.
    } normal;
    struct {
        enum hsio_roughness_kind kind;
    } roughness;
    struct {
        enum hsio_specular_kind kind;
    } specular_albedo;
    struct {
        enum hsio_unit unit;  ///< Unit of jitter in JSON files.
        float sign_x, sign_y; ///< 1 if sample position = pixel centre + jitter, x right, y down.
    } jitter;
};

/** Number of presets. Thread: safe. Since: 1. */
int hsio_preset_count(void);
/** Name of preset `index`, or NULL. `auto` is not in the list. Thread: safe. Since: 1. */
const char *hsio_preset_name(int index);
/** One sentence about preset `index`, or NULL. Thread: safe. Since: 1. */
const char *hsio_preset_text(int index);
/** Whether a preset was measured on files of what it is for; others come from documentation, and
 * `hindsight probe` tells whether one fits. `auto` and unknown names: false. Thread: safe.
 * Since: 1. */
bool hsio_preset_measured(const char *name);

/**
 * Fills a convention from a preset; NULL means `auto`.
 *
 * `auto` fills in `raw` under the name `auto`; hsio_sequence_open() then looks at the first file
 * and takes the preset that fits, keeping the keys that were set by hsio_convention_set().
 * Thread: safe.
 * Errors: HS_ERR_INVALID: no such preset; the log lists those there are.
 * Since: 1.
 */
int hsio_convention_preset(struct hsio_convention *conv, const char *name,
                           const struct hs_log *log);

/**
 * Sets one field by its key, e.g. "motion.scale_x" to "-1".
 *
 * The key "preset" replaces all fields.
 * Thread: one at a time per convention.
 * Errors: HS_ERR_INVALID: unknown key (the log names near ones) or a value that does not fit (the
 * log names what does).
 * Since: 1.
 */
int hsio_convention_set(struct hsio_convention *conv, const char *key, const char *value,
                        const struct hs_log *log);

/** Same from one "key=value" text. Thread, Errors: as hsio_convention_set(). Since: 1. */
int hsio_convention_set_text(struct hsio_convention *conv, const char *key_value,
                             const struct hs_log *log);

/**
 * Writes a field's value as text that hsio_convention_set() reads back.
 *
 * Thread: safe.
 * Errors: HS_ERR_INVALID: unknown key, or `size` is too small.
 * Since: 1.
 */
int hsio_convention_get(const struct hsio_convention *conv, const char *key, char *text,
                        size_t size);

/** Number of keys. Thread: safe. Since: 1. */
int hsio_convention_key_count(void);
/** Key `index`, or NULL. Thread: safe. Since: 1. */
const char *hsio_convention_key(int index);
/** What key `index` means, one line, or NULL. Thread: safe. Since: 1. */
const char *hsio_convention_key_text(int index);
/** Allowed values of key `index`, space-separated; "" if free; NULL if out of range.
 * Thread: safe. Since: 1. */
const char *hsio_convention_key_choices(int index);

/**
 * The two factors that bring (a - bias) of a motion plane to pixels of the render size.
 *
 * Units: render pixels, +x right, +y down, towards the frame that `direction` names.
 * Thread: safe.
 * Since: 1.
 */
void hsio_motion_scale(const struct hsio_motion_convention *motion, int render_width,
                       int render_height, int display_width, int display_height, float out[2]);

#ifdef __cplusplus
}
#endif
#endif
