#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures the scene renderer on a machine with a GPU, from a bundle (see bundle.sh): first its
# checks with the validation layer, then frames a minute in both modes, alone and with files.
# scenes.sh BUNDLE_DIR; HS_TEST_DEVICE chooses the device, by default 0. Results go to OUT.
# Targets: 2000 frames a minute in direct mode, 300 in path mode.
here=$(cd "${1:-$(dirname "$0")}" && pwd -P)
out=${OUT:-$here/out}
device=${HS_TEST_DEVICE:-0}
export HS_TEST_DEVICE="$device" HS_SOURCE_ROOT="$here/tree" VK_LAYER_PATH="$here/layers"
mkdir -p "$out"

program()
{
    name=$1
    shift
    "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/bin/$name" "$@"
}

failed=0
for name in test_scenes_clip test_scenes_planes test_scenes_path; do
    if program "$name" >"$out/$name.txt" 2>&1; then
        grep -E '^(warp|reference|rms|furnace|even)' "$out/$name.txt"
    else
        failed=$((failed + 1))
        echo "$name failed:"
        tail -n 12 "$out/$name.txt" | cut -c1-400
    fi
done

clips()
{
    echo "$1:"
    shift
    program hindsight render random --device "$device" --render-size 128x128 --size 256x256 \
        --frames 8 "$@" 2>&1 | tail -n 2 || failed=$((failed + 1))
}

packs=$out/packs
for jobs in 4 8 12; do
    clips "direct, 16 samples, no files, $jobs jobs" --mode direct --reference-spp 16 \
        --seed "1-${DIRECT_CLIPS:-400}" --format none --jobs $jobs
done
rm -rf "$packs"
clips "direct, 16 samples, packed files, 8 jobs" --mode direct --reference-spp 16 \
    --seed "1-${DIRECT_CLIPS:-400}" --format pack --output "$packs" --jobs 8
rm -rf "$packs"
clips "path, 4 and 256 samples, no files, 6 jobs" --mode path --spp 4 --reference-spp 256 \
    --seed "1-${PATH_CLIPS:-60}" --format none --jobs 6
clips "path, 4 and 256 samples, packed files, 6 jobs" --mode path --spp 4 --reference-spp 256 \
    --seed "1-${PATH_CLIPS:-60}" --format pack --output "$packs" --jobs 6
rm -rf "$packs"
[ "$failed" = 0 ]
