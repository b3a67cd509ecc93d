# SPDX-License-Identifier: MIT
"""No expression draws twice from a scene without saying in which order: C leaves the order of
arguments, operands and initialisers to the compiler, and a seed is to give one scene with all.

Two calls that take a scene or its random numbers, neither constant, and that nothing sequences are
an error. clang reads the sources; without it the test is skipped."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

STATE = ("struct random *", "struct scene *")
LOOKUPS = {"material"}  # take a scene, change nothing
SEQUENCED = {"&&", "||", ","}
TRAP = """#include "scene.h"
float trap(struct random *r);
float trap(struct random *r)
{
    const float list[2] = {random_unit(r), random_unit(r)};
    const float one = random_chance(r, 0.5f) ? random_unit(r) : list[0];
    return one + v3(random_unit(r), 0, random_unit(r)).x + list[1] * random_unit(r);
}
"""
TRAPS = [5, 7, 7]


def callee(node):
    while node.get("inner"):
        node = node["inner"][0]
    return node.get("referencedDecl", {}).get("name")


def draws(node):
    return (node.get("kind") == "CallExpr" and callee(node["inner"][0]) not in LOOKUPS and
            any(argument.get("type", {}).get("qualType", "").startswith(STATE)
                for argument in node["inner"][1:]))


def visit(node, report):
    """Whether an expression draws; reports those whose parts draw in no order."""
    kind = node.get("kind", "")
    parts = [visit(child, report) for child in node.get("inner", []) if child]
    if kind.endswith(("Stmt", "Decl")):
        return False
    ordered = kind == "ConditionalOperator" or node.get("opcode") in SEQUENCED
    if sum(parts) > 1 and not ordered:
        begin = node["range"]["begin"]
        report(begin.get("expansionLoc", begin)["offset"])
    return any(parts) or draws(node)


def lines_of(root, path):
    """Lines of a file with draws in no order."""
    done = subprocess.run(
        ["clang", "-std=c17", "-D_POSIX_C_SOURCE=200809L", "-fsyntax-only", "-Xclang",
         "-ast-dump=json", "-I", root / "scenes", "-I", root / "engine/include", "-I", root, path],
        capture_output=True)
    if done.returncode:
        sys.exit(done.stderr.decode())
    text = path.read_bytes()
    offsets = []
    for declaration in json.loads(done.stdout)["inner"]:
        if "includedFrom" not in declaration.get("loc", {}):
            visit(declaration, offsets.append)
    return [text.count(b"\n", 0, offset) + 1 for offset in sorted(offsets)]


def main():
    if not shutil.which("clang"):
        print("no clang")
        sys.exit(77)
    root = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        trap = pathlib.Path(folder) / "trap.c"
        trap.write_text(TRAP)
        found = lines_of(root, trap)
        if found != TRAPS:
            sys.exit(f"the trap's lines are {found}, not {TRAPS}")
    # Those that build scenes; what draws nothing needs headers of the build.
    paths = [path for path in sorted((root / "scenes").glob("*.c"))
             if '"look.h"' in path.read_text() or '"scene.h"' in path.read_text()]
    errors = [f"scenes/{path.name}:{line}: draws in no order" for path in paths
              for line in lines_of(root, path)]
    print("\n".join(errors) or f"{len(paths)} files")
    sys.exit(1 if errors or len(paths) < 10 else 0)


main()
