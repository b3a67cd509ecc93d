# SPDX-License-Identifier: MIT
"""Constants of shaders/taau.h and guides.h and limits of the head; a test compares those of the
headers with them."""

MAX = 65504.0
RANGE = 0.9999924
DEPTH_TOLERANCE = 0.01
DEPTH_TOLERANCE_FREE = 0.03
DILATE = 0.6
DILATE_DEPTH = 0.02
CUBIC_HISTORY = -0.75
CUBIC_CURRENT = -0.5
DECAY = 0.4
KERNEL = 1.0
WEIGHT_MIN = 0.05
WEIGHT_MAX = 8.0
CORRECT_GAIN = 1.5
CORRECT_KERNEL = 0.05
CORRECT_WEIGHT = 0.1
BOX = 1.2
BOX_GROW = 0.25
BOX_BLIND = 0.75
BOX_MIN = 0.005
BOX_KERNEL = 1.0

DEPTH_FAR = 3.0e38
EXPOSURE_KEY = 0.18
EXPOSURE_BLEND = 0.25

# Head values of an output pixel, in order. A value h enters as soft(h, s) = s * tanh(h / s).
KERNEL_A, KERNEL_B, KERNEL_C, LOGITS, MIX, GAIN, WEIGHT, BOXES, TRUST, RESIDUAL = (
    0, 1, 2, 3, 19, 20, 21, 22, 23, 24)
HEAD = 27
# Limits s: log of the kernel's axes, shear, logits, logs and log-odds; scale of the residual.
AXIS_SOFT, SHEAR_SOFT, LOGIT_SOFT, LOG_SOFT, RESIDUAL_SCALE = 1.5, 3.0, 3.0, 4.0, 0.25
# Kernel axis at head 0, 1 / render px.
AXIS = 2.0

# Features of a token: 12 for each of its 2x2 output pixels (channel * 4 + pixel), 16 for all.
PIXEL_FEATURES, TOKEN_FEATURES = 12, 16
FEATURES = 4 * PIXEL_FEATURES + TOKEN_FEATURES
# Network outputs of a token: 27 for each pixel, padded to a multiple of 16.
OUTPUTS = 112
# The short head, of networks on render pixels: without logits; outputs of a token.
SHORT_HEAD = HEAD - (MIX - LOGITS)
SHORT_OUTPUTS = 48

# Passes of `atrous`.
ATROUS_PASSES = 5
ATROUS_MIDDLE = 2
ATROUS_FLOOR = 0.02
ATROUS_BLACK = 0.004
ATROUS_ALBEDO_MAX = 4.0
ATROUS_NORMAL_MIN = 0.01
ATROUS_BACKGROUND = -1.0
ATROUS_DEPTH = 0.01
ATROUS_SLOPE = 0.25
ATROUS_NORMAL_POWER = 32.0
ATROUS_ROUGHNESS = 6.0
ATROUS_HIT = 3.0
ATROUS_LUMINANCE = 2.0
ATROUS_LUMINANCE_MIN = 1e-4
ATROUS_FIREFLY = 8.0
ATROUS_CLAMP = 0.8
ATROUS_LENGTH = 16.0
ATROUS_TRUSTED = 4.0
ATROUS_SAME_DEPTH = 0.03
ATROUS_SAME_NORMAL = 0.8
ATROUS_MIRROR = 0.4

# Networks that see levels: planes that the passes leave.
GIVEN = 11
# Their head has two more values: how much of M - D and of A - D is added to D.
LEVEL_M, LEVEL_A, RAY_HEAD, RAY_OUTPUTS = 27, 28, 29, 128
# Features of a token: M - D, A - D, noise and what else is known of its sample.
RAY_FEATURES, GUIDES, NOISE_MIN = FEATURES + 16, 10, 1e-3
