# SPDX-License-Identifier: MIT
"""Upscales what hindsight_setup.py had rendered.

    python3 hindsight_run.py DIR [-o OUT] [options of hindsight upscale]

Checks that all frames are there, then runs `hindsight upscale`: the one that HINDSIGHT names, or
the one in the path. OUT is DIR/upscaled by default. Exit code: that of the command, or 1.
"""
import argparse
import json
import os
import re
import subprocess
import sys


def missing_frames(folder):
    """(numbers without a file, number of frames)"""
    with open(os.path.join(folder, "frames.json"), encoding="utf-8") as file:
        wanted = {frame["number"] for frame in json.load(file)["frames"]}
    there = set()
    for name in os.listdir(folder):
        match = re.fullmatch(r"frame_(-?\d+)\.exr", name)
        if match:
            there.add(int(match.group(1)))
    return sorted(wanted - there), len(wanted)


def main(argv):
    parser = argparse.ArgumentParser(prog="hindsight_run.py", allow_abbrev=False,
                                     description="What it does not know goes to hindsight.")
    parser.add_argument("folder", help="of the frames and their frames.json")
    parser.add_argument("-o", "--output")
    args, rest = parser.parse_known_args(argv)
    try:
        missing, count = missing_frames(args.folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print("hindsight_run.py: %s: no frames.json of hindsight_setup.py: %s"
              % (args.folder, error), file=sys.stderr)
        return 1
    if missing and not any(option.split("=")[0] == "--missing" for option in rest):
        print("hindsight_run.py: %d of %d frames are not rendered, first %d; --missing skip or "
              "hold goes on without them" % (len(missing), count, missing[0]), file=sys.stderr)
        return 1
    command = [os.environ.get("HINDSIGHT", "hindsight"), "upscale",
               os.path.join(args.folder, "frame_####.exr"), "-o",
               args.output or os.path.join(args.folder, "upscaled"), "--convention", "blender",
               *rest]
    try:
        return subprocess.call(command)
    except OSError as error:
        print("hindsight_run.py: %s: %s; HINDSIGHT names the command" % (command[0], error),
              file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
