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

launch hssequencesrc location="$1" fps="${3:-24/1}" ! hsupscale paper-white="${4:-203}" \
    ! video/x-raw,format=P010_10LE,colorimetry=bt2100-pq ! queue ! videoconvert \
    ! video/x-raw,format=I420_10LE,colorimetry=bt2100-pq ! x265enc bitrate=8000 ! h265parse \
    ! matroskamux ! filesink location="$2"
