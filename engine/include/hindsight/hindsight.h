// SPDX-License-Identifier: MIT
/**
 * The whole public interface: device -> model -> stream -> frame -> command buffer.
 *
 *     hs_device_import(&device_params, &device);
 *     hs_model_load(device, &(struct hs_model_params){.preset = "taau"}, &model);
 *     hs_stream_create(model, &(struct hs_stream_params){.out_width = 1920, .out_height = 1080},
 *                      &stream);
 *     for each frame: hs_stream_record(stream, &frame, command_buffer);
 *
 * Rules that hold everywhere: parameter structs live for the call and zero means the default;
 * destroy functions take the address of the pointer and set it to NULL; see error.h for errors.
 */
#ifndef HINDSIGHT_HINDSIGHT_H
#define HINDSIGHT_HINDSIGHT_H

#include "device.h"
#include "error.h"
#include "frame.h"
#include "log.h"
#include "look.h"
#include "model.h"
#include "model_file.h"
#include "stream.h"
#include "version.h"

#endif
