#!/bin/sh
# SPDX-License-Identifier: MIT
# Upscales a sequence inside FFmpeg; its planes come through named pipes, so nothing is stored.
#
#   ffmpeg-upscale.sh IN OUT [FILTERS] [FPS]
#
#   IN       file names such as shot.####.exr, a folder, or a frames.json
#   OUT      what FFmpeg can write, such as out.%04d.exr or out.mkv
#   FILTERS  what comes behind the upscaler. Default: nothing for EXR, else a gamma of 2.2
#
# FFMPEG: an ffmpeg with the filter hindsight_vulkan (docs/ffmpeg.md). HINDSIGHT: another command
# than hindsight. PLANES: more of its options, such as "--convention raw". UPSCALE: more options of
# the filter, such as scale=3:sharpness=0.5. ENCODE: more of FFmpeg's options for OUT.
. "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || usage
ffmpeg=${FFMPEG:-ffmpeg}
fps=${4:-24}
case $2 in
*.exr) filters=${3:-format=gbrapf32le} ;;
*)
    curve='gammaval(0.4545)'
    filters=${3:-"format=gbrp16le,lutrgb=r=$curve:g=$curve:b=$curve"}
    ;;
esac
if ! "$ffmpeg" -hide_banner -filters 2>/dev/null | grep -q ' hindsight_vulkan '; then
    echo "$ffmpeg has no filter hindsight_vulkan: docs/ffmpeg.md tells how to build one with it;" \
        "FFMPEG names another program" >&2
    exit 1
fi

work=$(mktemp -d)
planes=
clean_up()
{
    [ -z "$planes" ] || { kill "$planes" && wait "$planes"; } 2>/dev/null || :
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# shellcheck disable=SC2086 # options are several words
"${HINDSIGHT:-hindsight}" planes "$1" -o "$work" --pipe --rate "$fps" --quiet ${PLANES:-} &
planes=$!
while [ ! -e "$work/inputs.txt" ]; do
    kill -0 "$planes" 2>/dev/null || { wait "$planes" && exit 1 || exit $?; }
    sleep 0.1
done

options="frames=$(filter_value "$work/frames.txt"):format=gbrapf32le" names=
set -- "$2"
while read -r key value; do
    case $key in
    convention | convention_changes)
        [ -z "$value" ] || options="$options:$key=$(filter_value "$value")"
        ;;
    *)
        format=${value%% *} rate=${value##* } size=${value#* }
        size=${size% *}
        set -- "$@" -f rawvideo -pixel_format "$format" -video_size "$size" -framerate "$rate" \
            -i "file:$work/$key.raw"
        [ "$key" = colour ] || names="$names${names:++}$key"
        ;;
    esac
done <"$work/inputs.txt"
out=$1
shift
# shellcheck disable=SC2086
"$ffmpeg" -hide_banner -v warning -y -nostdin -init_hw_device vulkan=vk -filter_hw_device vk "$@" \
    -filter_complex \
    "hindsight_vulkan=planes=${names:-0}:$options${UPSCALE:+:$UPSCALE},$filters" \
    ${ENCODE:-} "$out"
wait "$planes"
planes=
