# SPDX-License-Identifier: MIT
# What the scripts share. GST_LAUNCH: another launcher than gst-launch-1.0.
set -eu

# gst-launch-1.0 takes one level of backslashes off what it is given.
launch()
{
    for word; do
        shift
        set -- "$@" "$(printf '%s\n' "$word" | sed 's/\\/\\\\/g')"
    done
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
    case $2 in
    '' | .* | *. | *.*.* | *[!0-9.]*) fits=0 ;;
    *) fits=$(awk -v x="$2" -v low="$3" -v high="$4" 'BEGIN { print (x >= low && x <= high) }') ;;
    esac
    if [ "$fits" != 1 ]; then
        echo "$1: expected a number from $3 to $4, found '$2'" >&2
        usage
    fi
}

# whole NAME VALUE LEAST MOST: the same, without fractions and leading zeros.
whole()
{
    number "$@"
    case $2 in
    *.* | 0?*)
        echo "$1: expected a whole number, found '$2'" >&2
        usage
        ;;
    esac
}

# rate NAME VALUE: ends the script unless the value is frames per second, as N/D.
rate()
{
    case $2 in
    *[!0-9/]*) fits=0 ;;
    *) fits=$(printf '%s\n' "$2" | grep -Ecx '[1-9][0-9]{0,8}/[1-9][0-9]{0,8}' || :) ;;
    esac
    if [ "$fits" != 1 ]; then
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
