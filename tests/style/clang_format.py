# SPDX-License-Identifier: MIT
"""Every C file is formatted as .clang-format says; avfilter/ffmpeg follows FFmpeg's own look."""
import subprocess
import sys

import files


def main():
    root = files.source_root()
    sources = [name for name in files.tracked(root)
               if name.endswith((".c", ".h")) and not name.startswith("avfilter/ffmpeg/")]
    if not sources:
        sys.exit("no C file found")
    command = [sys.argv[1], "--style=file", "--dry-run", "-Werror"] + sources
    result = subprocess.run(command, cwd=root)
    print(f"{len(sources)} files")
    sys.exit(result.returncode)


main()
