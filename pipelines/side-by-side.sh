#!/bin/sh
# SPDX-License-Identifier: MIT
# Input, enlarged without history, and output side by side as one video.
#
#   side-by-side.sh OUT [PATTERN] [FRAMES] [WIDTH] [HEIGHT]
#
#   OUT  out.mkv (FFV1) or out.h264.mkv
. "$(dirname "$0")/common.sh"
[ $# -ge 1 ] || usage
tail=$(encoder "$1")
frames=${3:-48} width=${4:-320} height=${5:-180}
whole FRAMES "$frames" 1 1000000
whole WIDTH "$width" 16 8192
whole HEIGHT "$height" 16 8192

# shellcheck disable=SC2086
launch compositor name=mix sink_1::xpos=$((2 * width)) ! $tail ! filesink location="$1" \
    hstestsrc pattern="${2:-random}" num-buffers="$frames" width="$width" height="$height" \
    ! tee name=t \
    t. ! queue ! hsplanedemux plane=color ! video/x-raw ! videoscale method=nearest-neighbour \
    ! video/x-raw,width=$((2 * width)),height=$((2 * height)) ! queue ! mix.sink_0 \
    t. ! queue ! hsupscale scale=2 ! video/x-raw,format=RGBA ! queue ! mix.sink_1
