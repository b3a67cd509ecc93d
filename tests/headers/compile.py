# SPDX-License-Identifier: MIT
"""Every public header compiles alone: compile.py LANGUAGE STANDARD COMPILER..."""
import os
import pathlib
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Werror"]


def main():
    language, standard, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
    root = pathlib.Path(os.environ["HS_SOURCE_ROOT"])
    include = root / "engine" / "include"
    headers = sorted(include.glob("hindsight/*.h")) + sorted((root / "io").glob("hsio*.h"))
    if language == "c":
        # Shared with C only.
        headers += sorted((root / "shaders").glob("*.h"))
    failed = 0
    for header in headers:
        # Twice: the guard holds.
        source = f'#include "{header}"\n' * 2 + "extern int hs_not_empty;\n"
        command = compiler + ["-x", language, f"-std={standard}", "-fsyntax-only", *WARNINGS,
                              f"-I{include}", "-"]
        result = subprocess.run(command, input=source, text=True)
        print("ok" if result.returncode == 0 else "FAILED", header.relative_to(root), standard)
        failed += result.returncode != 0
    sys.exit(1 if failed or not headers else 0)


main()
