#!/bin/sh
# SPDX-License-Identifier: MIT
# Fuzzes the readers of files, one after the other: tests/fuzz/run.sh SECONDS [TARGET...]
# Each target (exr, model, png, raw) runs for SECONDS in a build of its own, by clang with the
# address and undefined behaviour sanitizers. What crashes is left in the build's fuzz/ folder and
# makes the script fail; put it into tests/fuzz/regressions/TARGET once it is mended.
# HS_FUZZ_BUILD: the build folder, build-fuzz by default.
set -eu
seconds=${1:?usage: run.sh SECONDS [TARGET...]}
shift
[ $# -gt 0 ] || set -- exr model png raw
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${HS_FUZZ_BUILD:-build-fuzz}

if [ ! -e "$build/build.ninja" ]; then
    CC=clang meson setup "$build" "$root" -Dfuzz=true -Db_sanitize=address,undefined \
        -Db_lundef=false -Dgst=disabled -Davfilter=disabled >"$build.log" 2>&1 ||
        { cat "$build.log" >&2; exit 1; }
fi
targets=
for name; do
    targets="$targets tests/fuzz/fuzz_$name"
done
# shellcheck disable=SC2086
ninja -C "$build" ${HS_FUZZ_JOBS:+-j "$HS_FUZZ_JOBS"} tests/fuzz/corpus $targets >&2
build=$(cd "$build" && pwd)
failed=
for name; do
    found=$build/fuzz/$name
    mkdir -p "$found/corpus" "$found/artifacts"
    echo "== $name, $seconds s"
    ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 \
        LSAN_OPTIONS="suppressions=$root/tests/lsan.supp:print_suppressions=0" \
        UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
        "$build/tests/fuzz/fuzz_$name" "$found/corpus" "$build/tests/fuzz/corpus/$name" \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=65536 \
        -artifact_prefix="$found/artifacts/" -print_final_stats=1 >"$found/log" 2>&1 ||
        failed="$failed $name"
    grep -E "stat::number_of_executed_units|ERROR|SUMMARY|runtime error" "$found/log" || true
done
if [ -n "$failed" ]; then
    echo "failed:$failed; see $build/fuzz/*/log" >&2
    exit 1
fi
