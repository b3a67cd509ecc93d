#!/bin/sh
# SPDX-License-Identifier: MIT
# Colour, depth and motion from three video files with the same timestamps, one pad each.
#
#   three-files.sh COLOUR DEPTH MOTION OUT [RANGE]
#
#   COLOUR  display-referred video in Matroska
#   DEPTH   16-bit grey, 0 near to 65535 far, in Matroska
#   MOTION  red and green with 10 bits or more, half is no motion, in Matroska
#   OUT     out.mkv (FFV1) or out.h264.mkv
#   RANGE   pixels that motion reaches from one end to the other, 128 by default
. "$(dirname "$0")/common.sh"
[ $# -ge 4 ] || usage
range=${5:-128}
number RANGE "$range" 0.001 65536
tail=$(encoder "$4")
changes=motion.bias_x=0.5,motion.bias_y=0.5,motion.scale_x=$range,motion.scale_y=$range
changes=$changes,depth.kind=hardware,depth.near=0.1

# shellcheck disable=SC2086
launch hsupscale name=up missing-planes=error convention-changes="$changes" ! vulkandownload \
    ! queue ! $tail ! filesink location="$4" \
    filesrc location="$1" ! matroskademux ! decodebin ! videoconvert ! video/x-raw,format=RGBA \
    ! queue ! up.sink \
    filesrc location="$2" ! matroskademux ! decodebin ! videoconvert \
    ! video/x-raw,format=GRAY16_LE ! queue ! up.depth \
    filesrc location="$3" ! matroskademux ! decodebin ! videoconvert \
    ! video/x-raw,format=RGBA64_LE ! queue ! up.motion
