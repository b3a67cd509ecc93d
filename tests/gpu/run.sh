#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs a bundle (see bundle.sh) on a machine with a GPU, in two minutes: checks first, with the
# validation layer, all at once; then times, stage by stage and frame by frame, against their
# rooflines (measure.py) and PyTorch (yardstick.py, where there is one), with a table last.
# Results also go to files in OUT (default: the bundle's out/). HS_TEST_DEVICE chooses the
# device, by default 0; TESTS=0, YARDSTICK=0 leave parts out; BENCH_SECONDS, YARDSTICK_SECONDS
# limit them; MEASURE has further options of measure.py.
here=$(cd "$(dirname "$0")" && pwd -P)
out=${OUT:-$here/out}
device=${HS_TEST_DEVICE:-0}
export HS_TEST_DEVICE="$device" HS_SOURCE_ROOT="$here/tree" VK_LAYER_PATH="$here/layers"
export HINDSIGHT_MODELS="$here/models"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
began=$(date +%s)

program()
{
    binary=$1
    shift
    "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/bin/$binary" "$@"
}

if [ "${YARDSTICK:-1}" = 1 ] && python3 -c 'import torch' 2>/dev/null; then
    export HINDSIGHT_OPS="$work"
    PYTHONPATH="$here/tree/training" python3 -m hindsight_training.ops >"$work/ops.txt" 2>&1 &
    set -- --yardstick "$here/tree/tests/gpu/yardstick.py" \
        --yardstick-seconds "${YARDSTICK_SECONDS:-35}"
else
    set --
fi

passed=0 failed=0 skipped=0
texts=$out/checks
rm -rf "$texts"
mkdir -p "$texts"

# Each case by itself and all at once: one that fails hides no other. What each says is in OUT even
# if the time runs out.
run_tests()
{
    pids=
    for name; do
        program "test_$name" --list >"$work/cases" || echo "$name has no cases"
        number=10
        while read -r case; do
            number=$((number + 1))
            {
                program "test_$name" "$case" >"$texts/test_$name.$number.txt" 2>&1 </dev/null
                echo "$?" >"$work/test_$name.$number.code"
            } &
            pids="$pids $!"
        done <"$work/cases"
    done
    # shellcheck disable=SC2086
    wait $pids
    for code in "$work"/test_*.code; do
        [ -e "$code" ] || continue
        name=$(basename "$code" .code)
        text=$texts/$name.txt
        case $(cat "$code") in
        0) passed=$((passed + 1)) ;;
        77)
            skipped=$((skipped + 1))
            echo "${name#test_} skipped: $(grep '^skip' "$text" | head -n 1)"
            ;;
        *)
            failed=$((failed + 1))
            echo "${name#test_} failed:"
            tail -n 12 "$text" | cut -c1-400
            ;;
        esac
        rm "$code"
    done
}

# Layer by layer comes first: it tells most of a device that is new.
first= tests=
for path in "$here"/bin/test_*; do
    [ "${TESTS:-1}" = 1 ] || break
    name=${path##*/test_}
    case $name in
    scenes_*) ;; # scenes.sh
    matrices | split) first="$first $name" ;;
    *) tests="$tests $name" ;;
    esac
done
# shellcheck disable=SC2086
[ -z "$first" ] || run_tests $first
if [ -n "$first" ]; then
    grep -hE '^ +[^ ]' "$texts"/test_matrices.*.txt
    grep -h 'dB' "$texts"/test_split.*.txt
    echo "layers took $(($(date +%s) - began)) s"
fi
# shellcheck disable=SC2086
[ -z "$tests" ] || run_tests $tests
if [ -n "$tests" ]; then
    tail -n +1 "$texts"/test_*.txt >"$out/checks.txt"
    grep -h 'dB' "$texts"/test_stages.*.txt "$texts"/test_real.*.txt | sort | uniq -c | sort -rn |
        tail -n 3
    grep -h 'dB' "$texts"/test_network.*.txt
    grep -hE 'dB|equal' "$texts"/test_integers.*.txt
fi
wait # for the yardstick's operations
[ "$passed" = 0 ] || echo "checks took $(($(date +%s) - began)) s"
nvidia-smi --query-gpu=name,clocks.sm,clocks.mem,power.limit --format=csv,noheader 2>/dev/null

# shellcheck disable=SC2086
python3 "$here/tree/tests/gpu/measure.py" "$here" "$out" --device "$device" \
    --seconds "${BENCH_SECONDS:-45}" "$@" ${MEASURE:-} || failed=$((failed + 1))
echo "$passed passed, $failed failed, $skipped skipped; $(($(date +%s) - began)) s"
[ "$failed" = 0 ]
