#!/bin/sh
# SPDX-License-Identifier: MIT
# Upscales the bundled sequence 2x and puts it beside simple filters and the reference.
# Usage: demo.sh [OUT]; `hindsight` must be in PATH.
set -eu

tree=${HS_SOURCE_ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
out=${1:-$tree/out/demo}
in=$tree/samples/bridge

# The value of one top-level number in a JSON file with one key a line.
number()
{
    sed -n "s/^  \"$1\": \([-0-9.]*\),*\$/\1/p" "$out/metrics.json"
}

mkdir -p "$out"
for model in nearest bicubic; do
    hindsight upscale "$in/lr" -o "$out/$model" --model $model --overwrite --quiet
done
hindsight upscale "$in/lr" -o "$out/exr" --overwrite
hindsight upscale "$in/lr" -o "$out/png/bridge_####.png" --tone metric --overwrite --quiet
hindsight compare "nearest=$out/nearest" "bicubic=$out/bicubic" "hindsight=$out/exr" "$in/ref" \
    --skip 4 --motion "$in/lr" --json "$out/metrics.json" --quiet \
    --sheet "$out/sheet.png" --sheet-frame 16 --zoom 3 \
    --crop 228,128,100,72 --crop 276,24,100,72 --crop 64,128,100,72

printf 'PSNR over frames with reference: bicubic %.2f dB, hindsight %.2f dB (%s)\n' \
    "$(number psnr_bicubic)" "$(number psnr_hindsight)" "$out/metrics.json"
echo "look at $out/sheet.png; all frames are in $out/exr and $out/png"
