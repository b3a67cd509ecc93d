# SPDX-License-Identifier: MIT
"""What shares a source with an installed package from backports is pinned to backports, once."""
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(os.environ["HS_SOURCE_ROOT"])
INSTALLED = ["elfutils 0.196-1~bpo13+2", "mesa 26.1.6-1~bpo13+1", "mesa 26.1.6-1~bpo13+1",
             "zlib 1:1.3.dfsg+really1.3.1-1+deb13u1"]
PIN = "Package: src:%s\nPin: release n=trixie-backports\nPin-Priority: 990\n\n"


def main():
    with tempfile.TemporaryDirectory() as folder:
        query = pathlib.Path(folder, "dpkg-query")
        query.write_text("#!/bin/sh\ncat <<'EOF'\n%s\nEOF\n" % "\n".join(INSTALLED),
                         encoding="utf-8")
        query.chmod(0o755)
        got = subprocess.run(["sh", "-c", ". \"$1\" && pin_backports", "sh",
                              ROOT / "env" / "common.sh"], check=True, text=True,
                             stdout=subprocess.PIPE,
                             env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]}).stdout
    want = PIN % "elfutils" + PIN % "mesa"
    assert got == want, got


if __name__ == "__main__":
    main()
