# SPDX-License-Identifier: MIT
"""The comments of the public headers keep their word: contract.py words|errors.

words: every HS_*, hs_* and hsio_* word in a comment is declared in a public header.
errors: every code under "Errors:" of a function is provoked by a test. What is checked is an
approximation: one C file under tests/ calls the function and names the code.
"""
import os
import pathlib
import re
import sys

WORD = re.compile(r"\b(HS_[A-Z0-9_]+|HSIO_[A-Z0-9_]+|hs_[a-z0-9_]+|hsio_[a-z0-9_]+)(\*?)")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
LABEL = re.compile(r"\b(Shape|Units|Owns|Sync|Thread|Cost|Errors|Source|Since):")
# What a word may be other than a declaration: a file, or a GStreamer element.
NOT_C = re.compile(r"^hs(io)?_\w+\.(h|c|py|glsl)\b")


def public_headers(root):
    return sorted((root / "engine" / "include" / "hindsight").glob("*.h")) + \
        sorted((root / "io").glob("hsio*.h"))


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def check_words(root, headers):
    declared = set()
    for text in headers.values():
        declared |= {match.group(1) for match in WORD.finditer(COMMENT.sub(" ", text))}
    for path, text in headers.items():
        for comment in COMMENT.finditer(text):
            for match in WORD.finditer(comment.group()):
                word, star = match.groups()
                known = word in declared
                if star or word.endswith("_"):
                    known = any(name.startswith(word) for name in declared)
                if not known and not NOT_C.match(comment.group()[match.start():]):
                    line = line_of(text, comment.start() + match.start())
                    yield f"{path.relative_to(root)}:{line}: {word} is not declared"


def documented_errors(text):
    """(line, function, codes) of each doc comment with an Errors: paragraph."""
    for comment in re.finditer(r"/\*\*.*?\*/", text, re.S):
        body = re.sub(r"\n\s*\* ?", "\n", comment.group()[3:-2])
        parts = LABEL.split(body)
        codes = set()
        for label, paragraph in zip(parts[1::2], parts[2::2]):
            if label == "Errors":
                codes |= set(re.findall(r"\bHS_ERR_[A-Z_]+\b", paragraph))
        if not codes:
            continue
        declaration = text[comment.end():].split(";")[0]
        function = re.search(r"\b(hs(?:io)?_\w+)\s*\(", COMMENT.sub(" ", declaration))
        yield line_of(text, comment.start()), function and function.group(1), sorted(codes)


def check_errors(root, headers):
    tests = {path: COMMENT.sub(" ", path.read_text(encoding="utf-8"))
             for path in sorted((root / "tests").rglob("*.c"))}
    count = 0
    for path, text in headers.items():
        for line, function, codes in documented_errors(text):
            where = f"{path.relative_to(root)}:{line}"
            if not function:
                yield f"{where}: Errors: without a function after it"
                continue
            for code in codes:
                count += 1
                if not any(re.search(rf"\b{function}\s*\(", test) and
                           re.search(rf"\b{code}\b", test) for test in tests.values()):
                    yield f"{where}: no test provokes {code} of {function}"
    print(f"{count} documented errors")


def main():
    root = pathlib.Path(os.environ["HS_SOURCE_ROOT"])
    headers = {path: path.read_text(encoding="utf-8") for path in public_headers(root)}
    check = {"words": check_words, "errors": check_errors}[sys.argv[1]]
    errors = list(check(root, headers))
    print("\n".join(errors))
    print(f"{len(headers)} headers, {len(errors)} errors")
    sys.exit(1 if errors or not headers else 0)


main()
