#!/bin/sh
# SPDX-License-Identifier: MIT
# Upscales a sequence to a video file: FFV1 (lossless) or H.264 in Matroska.
#
#   exr-to-video.sh IN OUT [FPS]
#
#   IN   file names such as shot.####.exr, a folder, or a frames.json
#   OUT  out.mkv (FFV1) or out.h264.mkv
. "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || usage
fps=${3:-24/1}
rate FPS "$fps"
tail=$(encoder "$2")

# shellcheck disable=SC2086 # the encoder is several words
launch hssequencesrc location="$1" fps="$fps" ! hsupscale ! vulkandownload ! queue \
    ! $tail ! filesink location="$2"
