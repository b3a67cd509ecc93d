#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs a bundle (see bundle.sh) on a machine with a GPU: checks first, with the validation layer,
# then times, and prints a short table last. Results also go to OUT (default: the bundle's out/).
# HS_TEST_DEVICE chooses the device, by default 0; FRAMES and WARMUP the length of the timing;
# TESTS=0 leaves the checks out, MODELS says which models are timed.
here=$(cd "$(dirname "$0")" && pwd -P)
out=${OUT:-$here/out}
device=${HS_TEST_DEVICE:-0}
export HS_TEST_DEVICE="$device" HS_SOURCE_ROOT="$here/tree" VK_LAYER_PATH="$here/layers"
export HINDSIGHT_MODELS="$here/models"
mkdir -p "$out"
cd "$out" || exit 1

program()
{
    name=$1
    shift
    "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/bin/$name" "$@"
}

passed=0 failed=0 skipped=0
for path in "$here"/bin/test_device "$here"/bin/test_frame "$here"/bin/test_planes \
    "$here"/bin/test_sequence "$here"/bin/test_network "$here"/bin/test_steady \
    "$here"/bin/test_stages "$here"/bin/test_real "$here"/bin/test_avfilter*; do
    [ -e "$path" ] && [ "${TESTS:-1}" = 1 ] || continue
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
if [ "${TESTS:-1}" = 1 ]; then
    grep -h 'dB' "$out/test_stages.txt" "$out/test_real.txt" | sort | uniq -c | sort -rn | tail -n 3
    grep -h 'dB' "$out/test_network.txt"
    program hindsight upscale "$here/tree/samples/bridge/lr" -o "$out/bridge" --scale 2 \
        --device "$device" --model taau --quiet && program hindsight compare "$out/bridge" \
        "$here/tree/samples/bridge/ref" | tail -n 1
    rm -rf "$out/bridge"
fi

table=$out/bench.txt
: >"$table"
bench()
{
    sizes=$1 file=bench-$1-$2-$3
    program hindsight bench --device "$device" --render-size "${sizes%:*}" --size "${sizes#*:}" \
        --model "$2" --path "$3" --frames "${FRAMES:-200}" --warmup "${WARMUP:-50}" \
        --csv "$out/$file.csv" >"$out/$file.txt" 2>&1
    printf '%s %s %s\n' "$@" >>"$table"
    cat "$out/$file.txt" >>"$table"
}
for model in ${MODELS:-taau quality best}; do
    for sizes in 640x360:1280x720 1280x720:2560x1440 1920x1080:3840x2160; do
        bench "$sizes" "$model" auto
    done
    case $model in
    taau)
        bench 1280x720:3840x2160 taau auto
        bench 1920x1080:1920x1080 taau auto
        ;;
    *) bench 640x360:1280x720 "$model" plain ;;
    esac
done
cat "$out"/bench-*.csv >"$out/bench.csv" 2>/dev/null
rm -f "$out"/bench-*
cat "$table"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
