#!/bin/sh
# SPDX-License-Identifier: MIT
# Trains a network on a machine with a GPU, PyTorch and nvcc, from an empty folder: renders clips,
# trains, measures, and leaves checkpoint, model, metrics and crops in OUT. To be run from the tree
# with a bundle (bundle.sh) in BUNDLE (default: .gpu) and real sequences (convert.py) in SEQUENCES
# (default: .train, which may also hold a checkpoint CONFIG.pt to go on from).
#
#   CONFIG          quality, best                           RENDER_MINUTES  of rendering ahead
#   TRAIN_MINUTES   of training, with its start             OVERLAP         1: renders on meanwhile
#   TOTAL_MINUTES   of all runs, for the learning rate      SEED            first seed of the clips
#   RATIOS          e.g. "2" or "2 3 1.5"                   SIZE            of the pictures, pixels
#   FRAMES          of a clip                               RESUME          checkpoint to go on from
#   TRAIN_OPTIONS   further options of hindsight_training.train
set -u
tree=$(cd "$(dirname "$0")/../.." && pwd -P)
bundle=${BUNDLE:-$tree/.gpu}
sequences=${SEQUENCES:-$tree/.train}
out=${OUT:-$tree/out/train}
config=${CONFIG:-quality}
render=${RENDER_MINUTES:-1.5}
minutes=${TRAIN_MINUTES:-6}
size=${SIZE:-256}
frames=${FRAMES:-16}
seed=${SEED:-1}
device=${HS_TEST_DEVICE:-0}
work=${WORK:-/tmp/hindsight-train}
validation_clips=${VALIDATION_CLIPS:-24}
export PYTHONPATH="$tree/training" PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
export HINDSIGHT_OPS="$work"
mkdir -p "$out" "$work/train" "$work/validation"
began=$(date +%s)

stage()
{
    echo "[$(($(date +%s) - began)) s] $*"
}

# clips FOLDER SEEDS SECONDS RATIO OPTIONS...: renders until done or until the time is over.
clips()
{
    folder=$1 seeds=$2 seconds=$3 ratio=$4
    shift 4
    low=$(awk "BEGIN { print int($size / $ratio + 0.5) }")
    timeout -s INT -k 30 "$seconds" "$bundle/lib/ld-linux-x86-64.so.2" \
        --library-path "$bundle/lib" "$bundle/bin/hindsight" render random --device "$device" \
        --mode direct --format pack --planes colour,depth,motion --frames "$frames" \
        --reference-spp "${REFERENCE_SPP:-16}" --render-size "${low}x$low" --size "${size}x$size" \
        --seed "$seeds" --output "$folder" --jobs "${JOBS:-8}" "$@" 2>&1 | tail -n 1
}

# Most clips have jitter; one block in ten has none.
render_ratio()
{
    ratio=$1 seconds=$2 first=$3
    few=$(awk "BEGIN { print $seconds * 0.1 }") most=$(awk "BEGIN { print $seconds * 0.9 }")
    clips "$work/train/$ratio" "$first-$((first + 299999))" "$most" "$ratio"
    clips "$work/train/$ratio" "$((first + 300000))-$((first + 399999))" "$few" "$ratio" --no-jitter
}

stage "validation clips, and the operations' build"
python3 -m hindsight_training.ops ${OPS:-} >"$work/ops.log" 2>&1 &
build=$!
ratios=${RATIOS:-2}
for ratio in $ratios; do
    clips "$work/validation/$ratio" "900001-$((900000 + validation_clips))" 120 "$ratio"
done

stage "training clips for $render min"
count=$(echo "$ratios" | wc -w)
each=$(awk "BEGIN { print $render * 60 / $count }")
for ratio in $ratios; do
    render_ratio "$ratio" "$each" "$seed"
done
stage "$(find "$work/train" -name '*.safetensors' | wc -l) clips, $(du -sh "$work/train" | cut -f1)"
wait $build || cat "$work/ops.log"
python3 "$tree/tests/training/test_ops.py" ${OPS:-cuda} >"$work/ops.log" 2>&1 ||
    echo "fused operations differ:"
tail -n 1 "$work/ops.log"

behind=
if [ "${OVERLAP:-0}" = 1 ]; then
    first=${ratios%% *}
    JOBS=${OVERLAP_JOBS:-2} clips "$work/train/$first" "$((seed + 400000))-$((seed + 799999))" \
        "$(awk "BEGIN { print $minutes * 60 }")" "$first" >"$work/behind.log" 2>&1 &
    behind=$!
fi

stage "training $config for $minutes min"
resume=${RESUME:-}
[ -z "$resume" ] && [ -e "$sequences/$config.pt" ] && resume=$sequences/$config.pt
# shellcheck disable=SC2086
python3 -m hindsight_training.train --data "$work/train" --validation "$work/validation" \
    --config "$config" --minutes "$minutes" ${TOTAL_MINUTES:+--total $TOTAL_MINUTES} \
    --output "$out/$config.pt" --json "$work/train.json" --seed "$seed" \
    ${resume:+--resume "$resume"} ${TRAIN_OPTIONS:-} 2>&1 | tee "$out/train.log"
[ -e "$out/$config.pt" ] || exit 1
[ -n "$behind" ] && { wait $behind; cat "$work/behind.log"; }

stage "measuring"
python3 -m hindsight_training.export "$out/$config.pt" "$out/hs-$config.safetensors" \
    --set "commit=${COMMIT:-unknown}" \
    --set "data=hindsight render random, seeds from $seed, ratios $ratios, $frames frames" || exit 1
sheets=$work/sheets
mkdir -p "$sheets"
# shellcheck disable=SC2046
python3 -m hindsight_training.evaluate $(ls "$sequences"/*.npz 2>/dev/null) \
    $(ls -d "$work"/validation/*) --net "$config=$out/$config.pt" --json "$work/real.json" \
    --sheets "$sheets" >"$work/table.txt" 2>"$work/table.log" || tail -n 20 "$work/table.log"
cp "$sheets"/*.png "$out/" 2>/dev/null
python3 - "$work/train.json" "$work/real.json" "$out/metrics.json" <<'EOF'
import json
import sys
json.dump({'train': json.load(open(sys.argv[1])), 'evaluation': json.load(open(sys.argv[2]))},
          open(sys.argv[3], 'w'), indent=1)
EOF
stage "done"
cat "$work/table.txt"
ls -l "$out"
