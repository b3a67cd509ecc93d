#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds a small FFmpeg with the filter from the distribution's source package and holds what it
# makes against the command: tests/av/ffmpeg_tree.sh BUILD_DIR. About 4 minutes on two cores.
#
# FFMPEG_TREE: work there and keep it, sources, objects and all. Exit status 77: no source package.
set -u
tree=$(cd "$(dirname "$0")/../.." && pwd -P)
build=$(cd "$1" && pwd -P) || exit 1
work=${FFMPEG_TREE:-}
if [ -z "$work" ]; then
    work=$(mktemp -d /var/tmp/hindsight-ffmpeg.XXXXXX) || exit 1
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work" && cd "$work" || exit 1
failed=0

say()
{
    printf '%s %s\n' "$(date +%H:%M:%S)" "$*"
}

# The mirror that serves binary packages has the sources, too.
fetch()
{
    mirror=$(sh "$tree/env/mirror.sh") || return 1
    mkdir -p lists/partial
    echo "deb-src $mirror trixie main" >sources.list
    set -- -q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=- \
        -o Dir::State::Lists="$work/lists" -o Acquire::Retries=3 -o APT::Sandbox::User=root
    apt-get "$@" -o APT::Update::Error-Mode=any update >fetch.log 2>&1 &&
        apt-get "$@" --download-only source ffmpeg >>fetch.log 2>&1 &&
        dpkg-source --no-check -x ./*.dsc ffmpeg >>fetch.log 2>&1
}

make_ffmpeg()
{
    patch -s -p1 <"$tree/avfilter/ffmpeg/ffmpeg-7.1.patch" || return 1
    cp "$tree/avfilter/ffmpeg/vf_hindsight_vulkan.c" libavfilter/
    PKG_CONFIG_PATH=$build/meson-uninstalled ./configure --disable-everything \
        --disable-autodetect --disable-doc --disable-debug --disable-x86asm --disable-network \
        --disable-ffplay --disable-ffprobe --disable-swresample --disable-avdevice \
        --enable-shared --disable-static --enable-vulkan --enable-libhindsight \
        --enable-filter=hindsight_vulkan,hwupload,hwdownload,format,scale,null,metadata \
        --enable-filter=setpts,settb,sendcmd \
        --enable-encoder=rawvideo,wrapped_avframe --enable-decoder=rawvideo \
        --enable-muxer=rawvideo,null --enable-demuxer=rawvideo --enable-protocol=file,pipe \
        >configure.log || return 1
    make -j"$(nproc)" ffmpeg >make.log 2>&1
}

# Runs the built program with validation; messages are a failure. $1: extensions to hide.
run_ffmpeg()
{
    hide=$1
    shift
    HS_HIDE=$hide HS_VULKAN=$loader LD_LIBRARY_PATH=$build/tests/av/hide:$LD_LIBRARY_PATH \
        VK_LOADER_LAYERS_ENABLE='*validation*' \
        VK_LAYER_SETTINGS_PATH=$tree/tests/vk_layer_settings.txt \
        ffmpeg -hide_banner -nostdin -y -v info -nostats -init_hw_device vulkan=vk:"$device" \
        -filter_hw_device vk "$@" >run.log 2>&1
    status=$?
    if grep -E 'VUID-|SYNC-HAZARD|UNASSIGNED-' run.log | sort | uniq -c | head -n 5 | grep .; then
        return 1
    fi
    return $status
}

check()
{
    if [ "$1" = 0 ]; then
        say "ok: $2"
    else
        say "FAILED: $2"
        tail -n 15 run.log
        failed=1
    fi
}

same()
{
    [ -s "$1" ] && cmp "$1" "$2"
    check $? "$3"
}

if [ ! -e ffmpeg/.built ]; then
    say "source package"
    rm -rf ffmpeg
    if ! fetch; then
        tail -n 3 fetch.log 2>/dev/null
        echo "skip: the source package of ffmpeg cannot be had"
        exit 77
    fi
    say "build"
    (cd ffmpeg && make_ffmpeg) || {
        tail -n 20 ffmpeg/configure.log ffmpeg/make.log ffmpeg/ffbuild/config.log
        exit 1
    }
    touch ffmpeg/.built
fi
say "run"
device=${HS_FFMPEG_DEVICE:-0}
loader=$(ldconfig -p | awk '/libvulkan\.so\.1 / && /x86-64|AArch64/ { print $NF; exit }')
for library in avutil avcodec avformat avfilter swscale; do
    path=${path:-}$work/ffmpeg/lib$library:
done
# The last one has a stand-in of Open Image Denoise.
export LD_LIBRARY_PATH="$path$build/avfilter:$build/engine:$build/tests/tools/oidn"
export PATH="$work/ffmpeg:$PATH"
sequence=$tree/samples/bridge/lr
semaphores=VK_KHR_external_semaphore_fd
host=VK_EXT_external_memory_host
hindsight=$build/tools/hindsight

upscale()
{
    "$hindsight" upscale "$sequence" --device cpu --depth float --quiet "$@" || exit 1
}
look=aces,contrast=0.2,shadows=0/0/0.1,vignette=0.5
export FAKE_OIDN=copy

rm -rf planes command looked denoised
"$hindsight" planes "$sequence" -o planes --quiet || exit 1
upscale -o command
upscale -o looked --look "$look"
upscale -o denoised --model oidn
raw="-f rawvideo -video_size 204x114 -framerate 24 -pixel_format"
inputs="$raw rgbaf16le -i planes/colour.raw $raw grayf32le -i planes/depth.raw \
    $raw gbrpf32le -i planes/motion.raw"
options=convention=blender:frames=planes/frames.txt

# shellcheck disable=SC2086 # options are several words
{
    run_ffmpeg "" $inputs -filter_complex "hindsight_vulkan=$options:format=gbrapf32le" float.rgb
    check $? "system memory in and out"
    grep -h 'model taau' run.log
    python3 "$tree/tests/av/compare_raw.py" float.rgb command
    check $? "the same pixels as the command"

    FFMPEG=ffmpeg HINDSIGHT=$hindsight ENCODE="-f rawvideo" \
        sh "$tree/pipelines/ffmpeg-upscale.sh" "$sequence" piped.rgb null >run.log 2>&1
    check $? "planes through named pipes"
    same float.rgb piped.rgb "the same through pipes"

    run_ffmpeg "" $inputs -filter_complex \
        "hindsight_vulkan=$options:format=rgba64le,format=rgba64le" system.rgb
    check $? "16-bit output in system memory"
    run_ffmpeg $semaphores $inputs -filter_complex \
        "hindsight_vulkan=$options:format=rgba64le,hwdownload,format=rgba64le" device.rgb
    check $? "16-bit output in Vulkan frames"
    same system.rgb device.rgb "the same from Vulkan frames"

    integer="[0]format=gbrapf32le,format=rgba64le"
    run_ffmpeg "" $inputs -filter_complex \
        "$integer[c];[c][1][2]hindsight_vulkan=$options:format=rgba,format=rgba" system.rgb
    check $? "16-bit colour in system memory"
    run_ffmpeg $semaphores,$host $inputs -filter_complex \
        "$integer,hwupload[c];[1]hwupload[d];[c][d][2]hindsight_vulkan=$options:format=rgba,\
format=rgba" device.rgb
    check $? "16-bit colour in Vulkan frames"
    same system.rgb device.rgb "the same from uploaded frames"
    run_ffmpeg $semaphores $inputs -filter_complex \
        "$integer,hwupload[c];[1]hwupload[d];[c][d][2]hindsight_vulkan=$options,hwdownload,\
format=rgba64le" device.rgb
    check $? "no download between hwupload and hwdownload"
    # wrapped_avframe takes any format, and colour's comes first.
    run_ffmpeg $semaphores,$host $inputs -filter_complex \
        "$integer,hwupload[c];[c][1][2]hindsight_vulkan=$options:format=gbrapf32le" -f null - &&
        grep -q 'wrapped_avframe, gbrapf32le' run.log
    check $? "a format that Vulkan frames can not have is one of system memory"

    run_ffmpeg "" $inputs -filter_complex \
        "hindsight_vulkan=$options:format=gbrapf32le:look='$look'" look.rgb
    check $? "a look"
    python3 "$tree/tests/av/compare_raw.py" look.rgb looked
    check $? "the look of the command"
    ! run_ffmpeg "" $inputs -filter_complex "hindsight_vulkan=$options:look=filmic" -f null - &&
        grep -q 'aces and what follows it, is expected' run.log
    check $? "an unknown look is one clear error"
    run_ffmpeg "" $inputs -filter_complex \
        "[0]sendcmd=commands='0.1 hindsight_vulkan look filmic'[c];\
[c][1][2]hindsight_vulkan=$options:format=gbrapf32le" command.rgb &&
        [ "$(grep -c 'aces and what follows it, is expected' run.log)" = 1 ]
    check $? "an unknown look is refused when it is sent"
    same float.rgb command.rgb "and changes no frame"

    run_ffmpeg "" $inputs -filter_complex "hindsight_vulkan=$options:model=atrous" -f null - &&
        [ "$(grep -c 'no normal: ' run.log)" = 1 ]
    check $? "guides that are not there are told once"
    run_ffmpeg "" $inputs -filter_complex "hindsight_vulkan=$options:model=oidn" -f null - &&
        [ "$(grep -c 'no albedo: ' run.log)$(grep -c 'no normal: ' run.log)" = 11 ]
    check $? "those of Open Image Denoise, too"

    run_ffmpeg "" $inputs -filter_complex \
        "hindsight_vulkan=$options:format=gbrapf32le:model=oidn" denoised.rgb
    check $? "Open Image Denoise"
    python3 "$tree/tests/av/compare_raw.py" denoised.rgb denoised
    check $? "what the command makes of Open Image Denoise"
    ! FAKE_OIDN=fail run_ffmpeg "" $inputs -filter_complex \
        "hindsight_vulkan=$options:model=oidn" -f null - && grep -q 'the fake says no' run.log
    check $? "an Open Image Denoise that fails is an error"

    # All of the light is the picture; motion is no part of it.
    run_ffmpeg "" $inputs $raw rgbaf16le -i planes/colour.raw $raw gbrpf32le -i planes/motion.raw \
        -filter_complex "[0][1][2][3][4]hindsight_vulkan=$options:format=gbrapf32le:\
aovs=light|data[o][a][b]" -map "[o]" beside.rgb -map "[a]" light.rgb -map "[b]" data.rgb
    check $? "AOVs"
    same float.rgb beside.rgb "the same picture beside AOVs"
    # It comes out in half floats, as it went in; a store may cut off the last of 11 digits: 2^-10.
    python3 "$tree/tests/av/compare_raw.py" light.rgb command 0.000977
    check $? "a light that is all of it is the picture"
    [ "$(wc -c <data.rgb)" = "$((4 * $(wc -c <planes/motion.raw)))" ]
    check $? "values of the output's size"
    # Links are configured from the sinks, in their order: here the AOV's is the first. scale holds
    # frames to the size that its link has.
    run_ffmpeg "" $inputs $raw gbrpf32le -i planes/motion.raw -filter_complex \
        "[0][1][2][3]hindsight_vulkan=$options:format=gbrapf32le:aovs=data[o][a];\
[a]scale=iw:ih,null[a1];[o]null[o2]" -map "[a1]" first.rgb -map "[o2]" beside.rgb
    check $? "an AOV whose sink comes first"
    same data.rgb first.rgb "it has the output's size"
    same float.rgb beside.rgb "the same picture behind such an AOV"
    for kinds in lights 'light||data' 'light|' '|'; do
        ! run_ffmpeg "" $inputs -filter_complex "hindsight_vulkan=$options:aovs=$kinds" \
            -f null - && grep -q 'aovs: light and data are kinds' run.log
        check $? "unknown AOVs: $kinds"
    done
    ! run_ffmpeg "" $inputs $raw gbrpf32le -i planes/motion.raw -filter_complex \
        "[3]scale=100:100[a];[0][1][2][a]hindsight_vulkan=$options:aovs=data[o][b]" -map "[o]" \
        -f null - -map "[b]" -f null - &&
        grep -q 'aov0: expected 204x114, found 100x100' run.log
    check $? "an AOV of another size is one clear error"

    # setpts leaves neither a frame rate nor durations.
    run_ffmpeg "" $inputs -filter_complex "[0]setpts=PTS[c];\
[1]settb=1/1000,setpts='PTS+7*gt(N,0)'[d];[c][d][2]hindsight_vulkan=$options:format=gbrapf32le:\
missing_planes=error" unrated.rgb
    check $? "colour without a frame rate"
    same float.rgb unrated.rgb "the same without a frame rate"
    ! run_ffmpeg "" $inputs -filter_complex "[0]setpts=PTS[c];\
[1]settb=1/1000,setpts='PTS+30*gt(N,0)'[d];[c][d][2]hindsight_vulkan=$options:\
missing_planes=error" -f null - && grep -q 'has no depth' run.log
    check $? "a plane of more than half a frame later is none of the frame"
    for planes in 1 depth+512; do
        ! run_ffmpeg "" $inputs -filter_complex \
            "hindsight_vulkan=planes=$planes:convention=blender" -f null - &&
            grep -q 'is none of the inputs' run.log
        check $? "unknown planes: $planes"
    done
    ! run_ffmpeg "" $inputs -filter_complex \
        "[0]metadata=add:key=hindsight.clip:value='0 100'[c];[c][1][2]hindsight_vulkan=$options" \
        -f null - && grep -q 'frame 5: metadata of colour: hindsight.clip: expected' run.log
    check $? "a value out of range is one clear error"

    ! run_ffmpeg "" $inputs -filter_complex \
        "[1]scale=100:100[d];[0][d][2]hindsight_vulkan=$options" -f null - &&
        grep -q 'depth: expected 204x114, found 100x100' run.log
    check $? "depth of another size is one clear error"
}
say "done"
exit $failed
