#!/bin/sh
# SPDX-License-Identifier: MIT
# Upscales a sequence to an HDR video: BT.2100 PQ, 10 bits, H.265 in Matroska.
#
#   exr-to-hdr.sh IN OUT.mkv [FPS] [NITS]
#
#   IN    file names such as shot.####.exr, a folder, or a frames.json
#   NITS  brightness of linear 1.0, 203 by default
. "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || usage
fps=${3:-24/1} nits=${4:-203}
rate FPS "$fps"
number NITS "$nits" 1 10000

launch hssequencesrc location="$1" fps="$fps" ! hsupscale paper-white="$nits" \
    ! video/x-raw,format=P010_10LE,colorimetry=bt2100-pq ! queue ! videoconvert \
    ! video/x-raw,format=I420_10LE,colorimetry=bt2100-pq ! x265enc bitrate=8000 ! h265parse \
    ! matroskamux ! filesink location="$2"
