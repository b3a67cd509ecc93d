#!/bin/sh
# SPDX-License-Identifier: MIT
# Looks at planes of a sequence: depth, motion, normal and albedo as one picture per frame.
#
#   planes.sh OUT [PATTERN] [FRAMES] [WIDTH] [HEIGHT]
#
#   OUT  file names such as out.####.png
. "$(dirname "$0")/common.sh"
[ $# -ge 1 ] || usage
frames=${3:-8} width=${4:-320} height=${5:-180}
whole FRAMES "$frames" 1 1000000
whole WIDTH "$width" 16 8192
whole HEIGHT "$height" 16 8192

launch compositor name=mix sink_1::xpos="$width" sink_2::ypos="$height" sink_3::xpos="$width" \
    sink_3::ypos="$height" ! video/x-raw,format=RGBA ! hssequencesink location="$1" \
    hstestsrc pattern="${2:-random}" num-buffers="$frames" width="$width" height="$height" \
    ! tee name=t \
    t. ! queue ! hsplanedemux plane=depth ! queue ! mix.sink_0 \
    t. ! queue ! hsplanedemux plane=motion ! queue ! mix.sink_1 \
    t. ! queue ! hsplanedemux plane=normal ! queue ! mix.sink_2 \
    t. ! queue ! hsplanedemux plane=diffuse_albedo ! queue ! mix.sink_3
