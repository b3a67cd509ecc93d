# SPDX-License-Identifier: MIT
"""What can be seen line by line: white space, length, licence line, words that are not to be."""
import re
import sys

import files

SOURCE = (".c", ".h", ".in", ".glsl", ".comp", ".py", ".sh", ".options", "meson.build")
MAX_COLUMNS = 100

# Brackets keep a pattern from matching itself. (what, pattern, which files)
FORBIDDEN = [
    ("an open end", r"\b(TO[D]O|FIX[M]E|X[X]X)\b", r""),
    ("a package host", r"[\w.-]+\.(debian|ubuntu)[.](org|com|net)\b|\bpypi[.]org\b|"
                       r"pythonhosted[.]org|\bnpmjs[.](org|com)\b", r""),
    ("a path of one machine", r"(?<![\w.}/])/(?:work|root|home/[a-z]\w*)/", r""),
    ("output past the log callback", r"\b(printf|fprintf|vprintf|vfprintf|puts|fputs|perror) ?\(",
     r"^engine/src/"),
    ("a type name with _t", r"\bhs\w*_t\b", r"\.[ch]$"),
    ("a typedef", r"^\s*typedef (struct|union|enum)\b", r"^(engine|io|scenes|tools)/.*\.[ch]$"),
]


def is_source(name, text):
    return name.endswith(SOURCE) or text.startswith("#!")


def check(name, text):
    lines = text.split("\n")
    if text and not text.endswith("\n"):
        yield len(lines), "no newline at the end of the file"
    elif text.endswith("\n\n"):
        yield len(lines), "empty line at the end of the file"
    source = is_source(name, text)
    if source and not any("SPDX-License-Identifier: " in line for line in lines[:4]):
        yield 1, "no SPDX line"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield number, "trailing white space"
        if "\t" in line:
            yield number, "tab"
        if source and len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns"
        for what, pattern, where in FORBIDDEN:
            if re.search(where, name) and re.search(pattern, line):
                yield number, f"{what}: {line.strip()[:60]}"


def main():
    root = files.source_root()
    count = 0
    errors = 0
    for name in files.tracked(root):
        data = (root / name).read_bytes()
        # Patches and FFmpeg's own file keep their own form; licence texts are quotations.
        if b"\0" in data or name.startswith(("avfilter/ffmpeg/", "LICENSES/")):
            continue
        count += 1
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            print(f"{name}: not UTF-8")
            errors += 1
            continue
        for number, message in check(name, text):
            print(f"{name}:{number}: {message}")
            errors += 1
    print(f"{count} text files, {errors} errors")
    sys.exit(1 if errors or not count else 0)


main()
