# SPDX-License-Identifier: MIT
# Sourced by ./run: the test verb.

# Runs the tests of one build folder; what they gave goes to its log, which summary.py reads.
meson_tests()
{
    rm -f "$build/$1/meson-logs/testlog.json"
    directory=$build/$1
    shift
    # Without the environment of each failed test: summary.py shows what matters of them.
    meson test -C "$directory" --no-rebuild --num-processes "$jobs" "$@" |
        grep --line-buffered -v '^>>> '
}

# The leak checker traces its own process, which some containers forbid.
allow_leak_check()
{
    probe=$build/leak-probe
    echo 'int main(void) { return 0; }' >"$probe.c"
    if clang -fsanitize=address "$probe.c" -o "$probe" && ! "$probe" 2>/dev/null; then
        warn "the leak checker cannot run here; leaks are not looked for"
        export ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:abort_on_error=1
    fi
}

run_tests()
{
    steps=
    say "step 1 of 3: gcc build and all tests"
    if compile main; then
        steps="$steps gcc-build=passed"
        meson_tests main "$@"
    else
        steps="$steps gcc-build=failed"
        rm -rf "$build/main/meson-logs/testlog.json"
    fi

    say "step 2 of 3: clang build"
    if CC=clang compile clang; then
        steps="$steps clang-build=passed"
    else
        steps="$steps clang-build=failed"
    fi

    say "step 3 of 3: clang build with address and undefined behaviour sanitizers, and its tests"
    if CC=clang compile sanitize -Db_sanitize=address,undefined; then
        steps="$steps sanitizer-build=passed"
        allow_leak_check
        # What software Vulkan compiles is the same for both.
        mkdir -p "$build/main/mesa-cache"
        [ -e "$build/sanitize/mesa-cache" ] ||
            ln -s ../main/mesa-cache "$build/sanitize/mesa-cache"
        meson_tests sanitize --timeout-multiplier 4 --no-suite static --no-suite heavy
    else
        steps="$steps sanitizer-build=failed"
        rm -rf "$build/sanitize/meson-logs/testlog.json"
    fi

    say "results"
    # shellcheck disable=SC2086
    python3 "$env_dir/summary.py" "$build" main sanitize $steps
}
