#!/bin/sh
# SPDX-License-Identifier: MIT
# Upscales every shot, a folder of EXR files each, that is not there yet.
#
#   batch.sh IN OUT [SCALE]
#
#   IN   folder of folders
#   OUT  folder; IN/shot/*.exr becomes OUT/shot/frame.####.exr
. "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || usage
scale=${3:-2}
number SCALE "$scale" 1 3

for shot in "$1"/*/; do
    # What the pattern stays as if nothing matches.
    if [ ! -d "$shot" ]; then
        echo "IN: expected a folder of folders, one a shot, found '$1'" >&2
        usage
    fi
    name=$(basename "$shot")
    if [ -e "$2/$name/done" ]; then
        echo "$name: there already"
        continue
    fi
    mkdir -p "$2/$name"
    launch hssequencesrc location="$shot" ! hsupscale scale="$scale" \
        ! hssequencesink location="$2/$name/frame.####.exr"
    # Written last, so that a shot that was interrupted is made again.
    : >"$2/$name/done"
    echo "$name: done"
done
