#!/bin/sh
# SPDX-License-Identifier: MIT
# Trains networks on a machine with a GPU, PyTorch and nvcc, from an empty folder: renders clips,
# trains, measures, and leaves checkpoint, model, metrics and crops in OUT. To be run from the tree
# with a bundle (bundle.sh) in BUNDLE (default: .gpu) and real sequences (convert.py) in SEQUENCES
# (default: .train, which may also hold checkpoints CONFIG.pt to go on from). CONFIG=ray renders
# path-traced clips, INPUTS noisy ones for each reference, and measures sequences noisy-*.npz, all
# others the other ones; GPUs that have nothing to train go on rendering path-traced clips
# meanwhile.
# WORK keeps clips and checkpoints: on the same machine a second run goes on with both, whatever
# part of the first got done.
#
#   CONFIG          names of model.py, e.g. "quality        RENDER_MINUTES  of rendering ahead, or 0
#                   quality-window": at the same time on the same clips for the same minutes, each
#                   on a GPU of its own if there are so many; ultra needs a ratio of 3
#   TRAIN_MINUTES   of training, with its start             SEED            first seed of the clips
#   TOTAL_MINUTES   of all runs, for the learning rate
#   RATIOS          e.g. "2" or "2 3 1.5"                   SIZE            of the pictures, pixels
#   FRAMES          of a clip                               REFERENCE_SPP   16, path-traced 48
#   INPUTS          for a path-traced reference, 6          VALIDATION_SPP  path-traced, 512
#   WORK            folder, /tmp/hindsight-train            VALIDATION_CLIPS  24, path-traced 8
#   RESUME          checkpoint to go on from, or "no"
#   TEACHER         checkpoint whose picture counts too, for all configs but its own
#   MODELS          "no": checkpoints only, no model files
#   HS_TEST_DEVICE  the first GPU to use, 0                 GPUS            how many, default all
#   TRAIN_OPTIONS   further options of hindsight_training.train
set -u
tree=$(cd "$(dirname "$0")/../.." && pwd -P)
bundle=${BUNDLE:-$tree/.gpu}
sequences=${SEQUENCES:-$tree/.train}
out=${OUT:-$tree/out/train}
configs=${CONFIG:-quality}
render=${RENDER_MINUTES:-1.5}
minutes=${TRAIN_MINUTES:-6}
size=${SIZE:-256}
frames=${FRAMES:-16}
seed=${SEED:-1}
device=${HS_TEST_DEVICE:-0}
work=${WORK:-/tmp/hindsight-train}
case $configs in
*ray*) mode=path jobs=${JOBS:-3} samples=${REFERENCE_SPP:-48} validation_clips=8 ;;
*) mode=direct jobs=${JOBS:-8} samples=${REFERENCE_SPP:-16} validation_clips=24 ;;
esac
validation_clips=${VALIDATION_CLIPS:-$validation_clips}
export PYTHONPATH="$tree/training" PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
export HINDSIGHT_OPS="$work"
inputs=${INPUTS:-6}
mkdir -p "$out" "$work/train" "$work/validation"
: >"$out/train.log"
began=$(date +%s)

stage()
{
    echo "[$(($(date +%s) - began)) s] $*"
}

packs()
{
    find "$1" -name '*.safetensors' 2>/dev/null | wc -l
}

# clips DEVICE FOLDER SECONDS RATIO OPTIONS...: renders until done or until time is over, and tells
# what it made.
clips()
{
    on=$1 folder=$2 limit=$3 ratio=$4
    shift 4
    [ "${limit%.*}" -gt 0 ] || return 0 # 0 would be no limit
    low=$(awk "BEGIN { print int($size / $ratio + 0.99) }")
    before=$(packs "$folder") start=$(date +%s) # whole seconds are enough
    said=$(timeout -s INT -k 30 "$limit" "$bundle/lib/ld-linux-x86-64.so.2" \
        --library-path "$bundle/lib" "$bundle/bin/hindsight" render random --device "$on" \
        --format pack --render-size "${low}x$low" --output "$folder" --jobs "$jobs" "$@" 2>&1)
    case $? in
    0 | 124 | 137) ;;
    *) echo "$said" | tail -n 2 ;;
    esac
    echo "$(($(packs "$folder") - before)) $(($(date +%s) - start)) $folder $*" |
        awk '{ n = $1; s = $2 > 0 ? $2 : 1; $1 = $2 = ""
               printf "%d clips in %d s, %.0f a minute:%s\n", n, s, 60 * n / s, $0 }'
}

guides=normal,diffuse_albedo,specular_albedo,hit_distance # roughness lies in the normal

# whole DEVICE FOLDER SEEDS SECONDS RATIO OPTIONS...: clips with references of their own.
whole()
{
    device_of=$1 into=$2 seeds=$3 limit_of=$4 ratio_of=$5
    shift 5
    clips "$device_of" "$into" "$limit_of" "$ratio_of" --mode direct --frames "$frames" \
        --planes colour,depth,motion --reference-spp "$samples" --size "${size}x$size" \
        --seed "$seeds" "$@"
}

# references DEVICE FOLDER SEEDS SECONDS SAMPLES
references()
{
    clips "$1" "$2" "$4" 2 --mode path --frames "$frames" --planes '' --reference-spp "$5" \
        --size "${size}x$size" --seed "$3"
}

# noisy DEVICE FOLDER REFERENCES SECONDS RATIO OPTIONS...: inputs for all references in a folder.
noisy()
{
    device_of=$1 into=$2 from=$3 limit_of=$4 ratio_of=$5
    shift 5
    clips "$device_of" "$into" "$limit_of" "$ratio_of" --reference-from "$from" \
        --planes colour,depth,motion,$guides "$@"
}

# Games sample points, path tracers filter over the pixel; some frames have no jitter. The shares
# are of the time.
render_ratio()
{
    seconds=$3 first=$4
    while read -r part options; do
        # shellcheck disable=SC2086
        whole "$1" "$work/train/$2" "$first-$((first + 9999))" \
            "$(awk "BEGIN { print $seconds * $part }")" "$2" $options </dev/null
        first=$((first + 10000))
    done <<EOF
0.25 --filter point
0.35 --filter box
0.25 --filter blackman-harris
0.05 --filter point --no-jitter
0.05 --filter box --no-jitter
0.05 --filter blackman-harris --no-jitter
EOF
}

# share_of RATIO: half of the time is for the first one.
share_of()
{
    awk "BEGIN { print $count == 1 ? 1 : 0.5 / \
        (\"$1\" == \"${ratios%% *}\" ? 1 : $count - 1) }"
}

# Noise of path tracers: how many samples, where in the pixel, now and then the same every frame.
path_kind()
{
    case $1 in
    0) echo --spp 2 --filter point ;;
    1) echo --spp 4 --filter box ;;
    2) echo --spp 4 --filter blackman-harris ;;
    3) echo --spp 4 --filter point ;;
    4) echo --spp 1 --filter point ;;
    5) echo --spp 2 --filter box ;;
    6) echo --spp 8 --filter box --fixed-noise ;;
    7) echo --spp 16 --filter blackman-harris --no-jitter ;;
    8) echo --spp 8 --filter point ;;
    9) echo --spp 8 --filter blackman-harris ;;
    esac
}

# ratio_of_input N: every other input has the first ratio, the rest take turns.
ratio_of_input()
{
    echo "$ratios" | awk "{ print ($1 % 2 && NF != 1) ? \$(2 + int($1 / 2) % (NF - 1)) : \$1 }"
}

room_left()
{
    [ "$(df -Pk "$work" | awk 'NR == 2 { print $4 }')" -gt "${ROOM_KIB:-6000000}" ]
}

# path_lane DEVICE SEED LANE SECONDS: in turn references for a minute at most and their inputs, of
# which each ratio sees other kinds in each of five lanes, which run at the same time. Inputs that
# get no time are made in the next turn.
path_lane()
{
    first=$(($2 + 2000 * $3)) until=$(($(date +%s) + ${4%.*}))
    while left=$((until - $(date +%s))) && [ $left -ge 10 ] && room_left; do
        span=$((left * 6 / 10))
        references "$1" "$work/references/$first" "$first-$((first + 1999))" \
            $((span < 60 ? span : 60)) "$samples" </dev/null
        for n in $(seq 0 $((inputs - 1))); do
            left=$(((until - $(date +%s)) / (inputs - n)))
            [ $left -ge 1 ] || break
            # shellcheck disable=SC2046
            noisy "$1" "$work/train/$(ratio_of_input "$n")/$first-$n" "$work/references/$first" \
                $left "$(ratio_of_input "$n")" --noise $((n + 1)) \
                $(path_kind $(((n + 3 * $3) % 10))) </dev/null
        done
    done
}

# render_ratios DEVICE SEED SECONDS
render_ratios()
{
    next=$2
    if [ $mode = path ]; then
        lanes=
        for lane in 0 1 2 3 4; do
            path_lane "$1" "$next" $lane "$3" &
            lanes="$lanes $!"
        done
        # shellcheck disable=SC2086
        wait $lanes
        return
    fi
    for ratio in $ratios; do
        render_ratio "$1" "$ratio" "$(awk "BEGIN { print $3 * $(share_of "$ratio") }")" "$next"
        next=$((next + 60000))
    done
}

# render_validation RATIO: packs that are there already stay.
render_validation()
{
    for filter in point box; do
        if [ $mode = path ]; then
            noisy "$device" "$work/validation/$1-$filter" "$work/targets" 240 "$1" \
                --filter $filter --spp 4
        else
            whole "$device" "$work/validation/$1-$filter" \
                "900001-$((900000 + validation_clips))" 240 "$1" --filter $filter
        fi
    done
}

stage "validation clips, and the operations' build"
python3 -m hindsight_training.ops ${OPS:-} >"$work/ops.log" 2>&1 &
build=$!
ratios=${RATIOS:-2}
count=$(echo "$ratios" | wc -w)
# Few clips decide, so their references are the better ones.
render_validations()
{
    [ $mode = path ] && references "$device" "$work/targets" \
        "900001-$((900000 + validation_clips))" 300 "${VALIDATION_SPP:-512}"
    for ratio in $ratios; do
        render_validation "$ratio"
    done
}

# Path-traced clips take seconds each: beside those of training.
render_validations &
renders=$!
[ $mode = path ] || wait $renders

stage "training clips for $render min"
had=$(packs "$work/train")
gpus=${GPUS:-$(nvidia-smi -L 2>/dev/null | wc -l)}
for n in $(seq "$device" $((device + (gpus > 1 ? gpus - 1 : 0)))); do
    render_ratios "$n" $((seed + 240000 * (n - device))) "$(awk "BEGIN { print $render * 60 }")" &
    renders="$renders $!"
done
# shellcheck disable=SC2086
wait $renders
for ratio in $ratios; do
    stage "ratio $ratio: $(packs "$work/train/$ratio") clips"
done
now=$(packs "$work/train")
stage "$now clips, $(packs "$work/references") references, $(du -sh "$work" | cut -f1); new: $(
    awk "BEGIN { n = $now - $had; print n, int(n / ($render > 0 ? $render : 1)) }" |
        sed 's/ / clips, /') a minute"
wait $build || cat "$work/ops.log"
python3 "$tree/tests/training/test_ops.py" ${OPS:-cuda} >"$work/ops.log" 2>&1 ||
    echo "fused operations differ:"
tail -n 1 "$work/ops.log"

# fit CONFIG GPU: trains one network.
fit()
{
    resume=${RESUME:-}
    [ -z "$resume" ] && [ -e "$work/$1.pt" ] && resume=$work/$1.pt
    [ -z "$resume" ] && [ -e "$sequences/$1.pt" ] && resume=$sequences/$1.pt
    [ "$resume" = no ] && resume=
    teacher=${TEACHER:-}
    [ "$(basename "$teacher" .pt)" = "$1" ] && teacher=
    # shellcheck disable=SC2086
    CUDA_VISIBLE_DEVICES=$2 timeout "$(awk "BEGIN { print $minutes * 60 + 90 }")" \
        python3 -m hindsight_training.train --data "$work/train" --validation "$work/validation" \
        --config "$1" --minutes "$minutes" \
        ${TOTAL_MINUTES:+--total $TOTAL_MINUTES} --output "$out/$1.pt" \
        $watch --json "$work/train-$1.json" --seed "$seed" ${resume:+--resume "$resume"} \
        ${teacher:+--teacher "$teacher"} \
        ${TRAIN_OPTIONS:-} 2>&1 | sed -u "s/^/$1: /"
    [ ! -e "$out/$1.pt" ] || cp "$out/$1.pt" "$work/"
}

watch='' real=''
for sequence in "$sequences"/*.npz; do
    case $mode:${sequence##*/} in
    path:noisy-*) ;;
    path:* | *:noisy-*) continue ;;
    esac
    [ -e "$sequence" ] && watch="$watch --watch $sequence" real="$real $sequence"
done
stage "training $configs for $minutes min"
count=0 fits=
for config in $configs; do
    fit "$config" $((device + count % (gpus > 0 ? gpus : 1))) >>"$out/train.log" &
    fits="$fits $!"
    count=$((count + 1))
done
tail -n +1 -f "$out/train.log" &
show=$!
# GPUs that are left over: with seeds of their own, and done before training is.
if [ $mode = path ]; then
    for n in $(seq "$count" $((gpus - 1))); do
        render_ratios $((device + n)) $((seed + 10000 + 240000 * n)) \
            "$(awk "BEGIN { print $minutes * 60 - 40 }")" &
    done
fi
# shellcheck disable=SC2086
wait $fits
sleep 1
kill $show

stage "measuring"
nets=
for config in $configs; do
    [ -e "$out/$config.pt" ] || continue
    nets="$nets --net $config=$out/$config.pt"
    [ "${MODELS:-yes}" = no ] ||
        python3 -m hindsight_training.export "$out/$config.pt" "$out/hs-$config.safetensors" \
            --set "commit=${COMMIT:-unknown}" --set \
            "data=hindsight render random --mode $mode, seeds from $seed, ratios $ratios, $frames \
frames"
done
[ -n "$nets" ] || exit 1
sheets=$work/sheets
mkdir -p "$sheets"
# shellcheck disable=SC2046,SC2086
python3 -m hindsight_training.evaluate $real \
    $(ls -d "$work"/validation/*) $nets --json "$work/real.json" --sheets "$sheets" \
    >"$work/table.txt" 2>"$work/table.log" || tail -n 20 "$work/table.log"
cp "$sheets"/*.png "$out/" 2>/dev/null
python3 - "$work/real.json" "$work"/train-*.json >"$out/metrics.json" <<'EOF'
import json
import sys
real, *trained = (json.load(open(path)) for path in sys.argv[1:])
print(json.dumps({'training': trained, 'evaluation': real}, indent=1))
EOF
stage "done"
cat "$work/table.txt"
ls -l "$out"
