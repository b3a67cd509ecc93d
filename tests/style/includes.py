# SPDX-License-Identifier: MIT
"""Nothing includes against the direction of flow (docs/architecture.md):
training -> models -> engine (+ shaders) -> gst | avfilter | tools -> pipelines; tests see all."""
import pathlib
import re
import sys

import files

PUBLIC = "engine/include/"
BASIC = ("engine/include/hindsight/error.h", "engine/include/hindsight/log.h")

# First match wins: files that start with the key may include files that start with a value.
ALLOWED = {
    "tests/": ("",),
    "engine/include/": (PUBLIC,),
    "engine/src/": ("engine/src/", "shaders/", PUBLIC),
    "engine/ref/": ("engine/ref/", "engine/src/weights.h", "shaders/", PUBLIC),
    "shaders/": ("shaders/",),
    "io/": ("io/", *BASIC),
    "scenes/": ("scenes/", "shaders/", *BASIC),
    "common/": ("common/", "io/", PUBLIC),
    "gst/": ("gst/", "shaders/", "common/", "scenes/", "io/", PUBLIC),
    "avfilter/": ("avfilter/", "common/", "io/", PUBLIC),
    "tools/": ("tools/", "common/", "scenes/", "io/", PUBLIC),
    "samples/": ("samples/", "io/", PUBLIC),
}
# Where the build looks for quoted and bracketed names, after the folder of the file itself.
SEARCH = ("", "engine/include/", "avfilter/include/",
          "engine/src/", "shaders/", "io/", "common/", "scenes/", "tools/",
          "tests/", "tests/fixture/")
# Made by the build, or by the libraries that a folder is there to adapt.
FOREIGN = re.compile(r"\.spv\.h$|@\w+@|^config\.h$")
OWN = re.compile(r"^(hindsight/|hsio|hs_|engine/|shaders/|io/|common/|scenes/|tools/|tests/|"
                 r"gst/hs)")
# Python of one folder stays in it; a script may import what lies beside it.
PYTHON = re.compile(r"^\s*(?:from|import) (training|models|pipelines)\b")


def resolve(root, name, target):
    """The file that an include means, relative to the root, or None if it is not ours."""
    here = pathlib.PurePosixPath(name).parent
    for folder in (f"{here}/", *SEARCH):
        path = (root / folder / target).resolve()
        if path.is_file() and path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return None


def rule_of(name):
    for folder, targets in ALLOWED.items():
        if name.startswith(folder):
            return targets
    return ()


def check(root, name, text):
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if not match:
            continue
        quote, target = match.groups()
        if FOREIGN.search(target):
            continue
        found = resolve(root, name, target)
        if found is None:
            if (quote == '"' and not name.startswith(("avfilter/ffmpeg/", "gst/"))) or \
                    OWN.match(target):
                yield number, f"no such file: {target}"
        elif not found.startswith(rule_of(name)):
            yield number, f"includes {found} against the direction of flow"


def check_python(name, text):
    if name.startswith(("training/", "tests/")):
        return
    for number, line in enumerate(text.split("\n"), 1):
        match = PYTHON.match(line)
        if match:
            yield number, f"imports {match.group(1)} against the direction of flow"


def main():
    root = files.source_root().resolve()
    count = 0
    errors = 0
    for name in files.tracked(root):
        if not name.endswith((".c", ".h", ".in", ".glsl", ".py")):
            continue
        count += 1
        text = (root / name).read_text(encoding="utf-8")
        found = check_python(name, text) if name.endswith(".py") else check(root, name, text)
        for number, message in found:
            print(f"{name}:{number}: {message}")
            errors += 1
    print(f"{count} files, {errors} errors")
    sys.exit(1 if errors or not count else 0)


main()
