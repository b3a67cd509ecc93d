#!/bin/sh
# SPDX-License-Identifier: MIT
# A game's dump, raw planes with a JSON description (docs/formats.md), to EXR or PNG files.
#
#   dump-to-exr.sh IN.json OUT [CONVENTION]
#
#   OUT         file names such as out.####.exr
#   CONVENTION  raw (default), unreal, unity, godot, fsr, xess, dlss, nss
. "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || usage

launch hssequencesrc location="$1" convention="${3:-raw}" ! hsupscale \
    ! hssequencesink location="$2"
