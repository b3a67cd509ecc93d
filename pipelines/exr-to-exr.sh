#!/bin/sh
# SPDX-License-Identifier: MIT
# Upscales a sequence to EXR files with the same numbers, windows and attributes.
#
#   exr-to-exr.sh IN OUT [SCALE]
#
#   IN   file names such as shot.####.exr, a folder, or a frames.json
#   OUT  file names such as out.####.exr; also .png
. "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || usage
scale=${3:-2}
number SCALE "$scale" 1 3

launch hssequencesrc location="$1" ! hsupscale scale="$scale" ! hssequencesink location="$2"
