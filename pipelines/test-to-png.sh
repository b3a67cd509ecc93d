#!/bin/sh
# SPDX-License-Identifier: MIT
# Renders a test scene, upscales it and writes display-ready PNG files.
#
#   test-to-png.sh OUT [PATTERN] [FRAMES] [WIDTH] [HEIGHT]
#
#   OUT  file names such as out.####.png
. "$(dirname "$0")/common.sh"
[ $# -ge 1 ] || usage
frames=${3:-48} width=${4:-320} height=${5:-180}
whole FRAMES "$frames" 1 1000000
whole WIDTH "$width" 16 8192
whole HEIGHT "$height" 16 8192

launch hstestsrc pattern="${2:-random}" num-buffers="$frames" width="$width" \
    height="$height" ! hsupscale tone-map=aces ! vulkandownload ! video/x-raw,format=RGBA \
    ! hssequencesink location="$1"
