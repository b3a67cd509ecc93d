#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs a bundle (see bundle.sh) on a machine with a GPU: checks first, with the validation layer,
# then times, and prints a short table last. Results also go to OUT (default: the bundle's out/).
# HS_TEST_DEVICE chooses the device, by default 0; FRAMES and WARMUP the length of the timing.
here=$(cd "$(dirname "$0")" && pwd -P)
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

passed=0 failed=0 skipped=0
for path in "$here"/bin/test_device "$here"/bin/test_frame "$here"/bin/test_planes \
    "$here"/bin/test_sequence "$here"/bin/test_steady "$here"/bin/test_stages \
    "$here"/bin/test_real "$here"/bin/test_avfilter*; do
    [ -e "$path" ] || continue
    name=$(basename "$path")
    program "$name" >"$out/$name.txt" 2>&1
    case $? in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) && echo "$name skipped: $(tail -n 1 "$out/$name.txt")" ;;
    *)
        failed=$((failed + 1))
        echo "$name failed:"
        tail -n 12 "$out/$name.txt" | cut -c1-400
        ;;
    esac
done
grep -h 'dB' "$out/test_stages.txt" "$out/test_real.txt" | sort | uniq -c | sort -rn | tail -n 3

program hindsight upscale "$here/tree/samples/bridge/lr" -o "$out/bridge" --scale 2 \
    --device "$device" --quiet && program hindsight compare "$out/bridge" \
    "$here/tree/samples/bridge/ref" | tail -n 1
rm -rf "$out/bridge"

table=$out/bench.txt
: >"$table"
for sizes in 640x360:1280x720 1280x720:2560x1440 1920x1080:3840x2160 1280x720:3840x2160 \
    1920x1080:1920x1080; do
    program hindsight bench --device "$device" --render-size "${sizes%:*}" --size "${sizes#*:}" \
        --frames "${FRAMES:-200}" --warmup "${WARMUP:-50}" --csv "$out/bench-$sizes.csv" \
        >"$out/bench-$sizes.txt" 2>&1
    printf '%s\n' "$sizes" >>"$table"
    cat "$out/bench-$sizes.txt" >>"$table"
done
cat "$out"/bench-*.csv >"$out/bench.csv" 2>/dev/null
rm -f "$out"/bench-*
cat "$table"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
