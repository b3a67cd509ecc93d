// SPDX-License-Identifier: MIT
#ifndef HS_ENGINE_REQUIREMENTS_H
#define HS_ENGINE_REQUIREMENTS_H

#include <hindsight/device.h>

#include "layers.h"
#include "vk.h"

/** The table's features that are on, as bits in order of the table. */
uint64_t hs_requirements_features(const VkPhysicalDeviceFeatures2 *chain);

/** The bit of a feature by name. */
uint64_t hs_requirements_feature_bit(const char *name);

/** Writes the names of required features that are missing from `bits`; returns whether any is. */
bool hs_requirements_missing(uint64_t bits, char *text, size_t size);

/** Sizes of matrices, of 16-bit floats or 8-bit integers with sums of 32 bits, that the shaders can
 * use; zeros: none. */
struct hs_matrix_size hs_requirements_matrix(const struct hs_vk *vk, VkPhysicalDevice device,
                                             bool integers);

/** Appends to a "; "-separated list, cutting it at the end of the buffer. */
void hs_text_append(char *text, size_t size, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#endif
