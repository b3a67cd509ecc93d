// SPDX-License-Identifier: MIT
// Options that do not go together, by their values: contradictions, and what would have no effect.
#include <string.h>
#include <strings.h>

#include "report.h"
#include "upscale.h"

static int refuse(const char *option, const char *why)
{
    tool_error("--%s: %s", option, why);
    return HS_ERR_INVALID;
}

int upscale_rules_check(const struct upscale_request *request)
{
    const bool baseline = tool_is_baseline(request->model);
    const bool look = request->look.curve != HS_LOOK_NONE;

    if (look && request->ldr)
        return refuse("look", "colour of --ldr has one already");
    if (look && baseline)
        return refuse("look", "nearest and bicubic have none");
    if (look && request->tone > HSIO_CURVE_NONE + 1)
        return refuse("tone", "the values of --look are a display's already");
    if (request->ldr && request->tone > HSIO_CURVE_NONE + 1)
        return refuse("tone", "the values of --ldr are a display's already");
    if (baseline && request->automatic)
        return refuse("auto", "nearest and bicubic use no vectors");
    if (baseline && (request->auto_exposure || request->exposure > 0))
        return refuse("exposure", "nearest and bicubic have none");
    if (baseline && request->firefly_clamp > 0)
        return refuse("firefly-clamp", "nearest and bicubic have none");
    if (baseline && request->sharpness > 0)
        return refuse("sharpness", "nearest and bicubic have none");
    return upscale_output_names_files(request->output)
               ? upscale_rules_check_output(request, request->output)
               : 0;
}

/** Raw files hold what their names say. */
static int check_raw(const struct upscale_request *request, const char *path)
{
    const enum hsio_format format = upscale_output_raw(path);

    if (format != HSIO_FORMAT_RGBA16F && format != HSIO_FORMAT_RGBA32F) {
        tool_error("%s: colour has four channels: .rgba16f or .rgba32f", path);
        return HS_ERR_INVALID;
    }
    if (request->depth && (request->depth == 2) != (format == HSIO_FORMAT_RGBA32F))
        return refuse("depth", "the name of a raw file says another one");
    if (format == HSIO_FORMAT_RGBA16F && tool_is_baseline(request->model)) {
        tool_error("%s: nearest and bicubic make .rgba32f", path);
        return HS_ERR_INVALID;
    }
    return 0;
}

int upscale_rules_check_output(const struct upscale_request *request, const char *path)
{
    const char *dot = strrchr(path, '.');
    const bool exr = dot && !strcasecmp(dot, ".exr"), png = dot && !strcasecmp(dot, ".png");

    if (!png && request->tone)
        return refuse("tone", "it is for PNG output; --look is for any");
    if (!png && request->png_bits)
        return refuse("png-bits", "it is for PNG output");
    if (png && request->depth)
        return refuse("depth", "it is for EXR output; --png-bits is for PNG");
    if (!exr && request->aux_count)
        return refuse("aux", "only EXR output holds other channels");
    if (!exr && request->aov_count)
        return refuse("aov", "only EXR output holds other layers");
    return upscale_output_raw(path) ? check_raw(request, path) : 0;
}
