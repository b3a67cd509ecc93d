# SPDX-License-Identifier: MIT
# What the scripts share. GST_LAUNCH: another launcher than gst-launch-1.0.
set -eu

launch()
{
    "${GST_LAUNCH:-gst-launch-1.0}" -q "$@"
}

usage()
{
    # The comment at the head of the script.
    sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# Elements from an RGBA video to a file, by the file's ending.
encoder()
{
    case $1 in
    *.h264.mkv) echo "videoconvert ! openh264enc bitrate=8000000 ! h264parse ! matroskamux" ;;
    *.mkv) echo "videoconvert ! video/x-raw,format=BGRA ! avenc_ffv1 ! matroskamux" ;;
    *) echo "$1: the end must be .mkv (FFV1) or .h264.mkv" >&2 && exit 2 ;;
    esac
}

# A value for an option of a filter in FFmpeg's filter graphs: these take escapes off twice, once
# for the graph and once for the list of options.
filter_value()
{
    special="[][\\\\',:; ]"
    printf '%s\n' "$1" | sed "s/$special/\\\\&/g; s/$special/\\\\&/g"
}
