#!/bin/sh
# SPDX-License-Identifier: MIT
# Gathers the built programs with everything they need, so that they run on a machine that has a
# GPU driver and nothing else: tests/gpu/bundle.sh BUILD_DIR BUNDLE_DIR, then there
# BUNDLE_DIR/run.sh.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd -P)
build=$1
out=$2
rm -rf "$out"
mkdir -p "$out/bin" "$out/lib" "$out/layers" "$out/tree"

programs=$build/tools/hindsight
for test in device frame planes sequence bands matrices network integers split stages real look \
    atrous atrous_guides steady scenes_clip scenes_planes scenes_path avfilter; do
    programs="$programs $(find "$build/tests" -maxdepth 2 -type f -name "test_$test")"
done
# The programs' own loader and C library come along: the machine's may be older.
# shellcheck disable=SC2086
cp $programs "$out/bin/"
# shellcheck disable=SC2086
ldd $programs | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /ld-linux/ { print $1 }' | sort -u |
    while read -r library; do cp -L "$library" "$out/lib/"; done
for json in /usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json; do
    [ -e "$json" ] || continue
    sed 's#"library_path": *"[^"]*"#"library_path": "./libVkLayer_khronos_validation.so"#' \
        "$json" >"$out/layers/$(basename "$json")"
    cp -L /usr/lib/x86_64-linux-gnu/libVkLayer_khronos_validation.so "$out/layers/"
    ldd "$out/layers/libVkLayer_khronos_validation.so" | awk '$3 ~ /^\// { print $3 }' |
        while read -r library; do cp -Ln "$library" "$out/lib/" || true; done
done
cp -R "$tree/samples" "$out/tree/"
mkdir -p "$out/tree/tests/gpu" "$out/tree/training"
cp "$tree/tests/gpu/measure.py" "$tree/tests/gpu/yardstick.py" "$out/tree/tests/gpu/"
cp -R "$tree/training/hindsight_training" "$out/tree/training/"
# Models: the shipped ones; where one is missing, an untrained one stands in, which is as fast.
mkdir -p "$out/models"
for preset in fast quality best ray; do
    file=hs-$preset.safetensors
    if [ -e "$tree/models/$file" ]; then
        cp "$tree/models/$file" "$out/models/"
    else
        PYTHONPATH="$tree/training" python3 -c "
from hindsight_training import export, model
export.save(model.Upscaler('$preset').net, '$preset', '$out/models/$file', dict(steps='0'))"
    fi
done
cp "$tree/tests/gpu/run.sh" "$out/"
strip "$out"/bin/* 2>/dev/null || true
du -sh "$out" | cut -f1
