#!/bin/sh
# SPDX-License-Identifier: MIT
# A sequence whose render size changes from frame to frame, to files of one size.
#
#   dynamic-resolution.sh IN OUT WIDTH HEIGHT
#
#   IN   file names such as shot.####.exr, sizes between a third of the output's and the output's
#   OUT  file names such as out.####.exr
. "$(dirname "$0")/common.sh"
[ $# -eq 4 ] || usage
whole WIDTH "$3" 16 16384
whole HEIGHT "$4" 16 16384

launch hssequencesrc location="$1" ! hsupscale output-width="$3" output-height="$4" \
    ! hssequencesink location="$2"
