# SPDX-License-Identifier: MIT
"""env/mirror.sh finds the Debian mirrors in both forms of apt's configuration."""
import os
import pathlib
import subprocess
import sys
import tempfile

# (what, {file: text}, mirrors)
CASES = [
    ("stanzas with comments, several mirrors and a continued line", {
        "sources.list.d/debian.sources":
            "Types: deb deb-src\n# a note\nURIs: http://one.example/debian/\n"
            " http://two.example/debian\nSuites: bookworm bookworm-updates\nComponents: main\n\n"
            "Types: deb\nURIs: http://one.example/debian-security\nSuites: bookworm-security\n"
            "Components: main\n",
    }, ["http://one.example/debian", "http://two.example/debian"]),
    ("a switched-off stanza and one of sources only", {
        "sources.list.d/a.sources":
            "Enabled: no\nTypes: deb\nURIs: http://off.example/debian\nSuites: trixie\n",
        "sources.list.d/b.sources":
            "Types: deb-src\nURIs: http://src.example/debian\nSuites: trixie\n",
    }, []),
    ("one-line form with options, comments and repeats", {
        "sources.list":
            "# deb http://no.example/debian trixie main\n"
            "deb [arch=amd64 signed-by=/k.gpg] https://three.example/debian trixie main\n"
            "deb https://three.example/debian trixie-updates main\n",
        "sources.list.d/more.list": "deb https://three.example/debian/ stable main # again\n",
    }, ["https://three.example/debian"]),
    ("another distribution and a foreign repository", {
        "sources.list": "deb http://ubuntu.example/ubuntu noble main\n",
        "sources.list.d/tool.sources":
            "Types: deb\nURIs: http://tool.example/apt\nSuites: nodistro\nComponents: main\n",
    }, []),
    ("a list of mirrors", {
        "sources.list": "deb mirror+file:FOLDER/mirrors.list trixie main\n",
        "mirrors.list": "# fastest first\nhttp://four.example/debian priority:1\n",
    }, ["http://four.example/debian"]),
]


def main():
    script = pathlib.Path(os.environ["HS_SOURCE_ROOT"]) / "env" / "mirror.sh"
    failed = 0
    for what, sources, expected in CASES:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in sources.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(exist_ok=True)
                path.write_text(text.replace("FOLDER", folder), encoding="utf-8")
            result = subprocess.run(
                ["sh", str(script), "--list"], capture_output=True, text=True, check=True,
                env={"PATH": os.environ["PATH"], "HINDSIGHT_APT_DIR": folder})
        found = result.stdout.split()
        print("ok" if found == expected else f"FAILED, found {found}:", what)
        failed += found != expected
    sys.exit(1 if failed else 0)


main()
