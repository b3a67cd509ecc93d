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

# number NAME VALUE LEAST MOST: ends the script unless the value is a number in the range.
number()
{
    if ! printf '%s\n' "$2" | grep -Eqx '[0-9]+(\.[0-9]+)?' ||
        ! awk "BEGIN { exit !($2 >= $3 && $2 <= $4) }"; then
        echo "$1: expected a number from $3 to $4, found '$2'" >&2
        usage
    fi
}

# rate NAME VALUE: ends the script unless the value is frames per second, as N/D.
rate()
{
    if ! printf '%s\n' "$2" | grep -Eqx '[1-9][0-9]{0,8}/[1-9][0-9]{0,8}'; then
        echo "$1: expected a rate such as 24/1 or 30000/1001, found '$2'" >&2
        usage
    fi
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
