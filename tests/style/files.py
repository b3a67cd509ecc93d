# SPDX-License-Identifier: MIT
"""The files of the source tree, as git sees them."""
import os
import pathlib
import subprocess


def source_root():
    return pathlib.Path(os.environ.get("HS_SOURCE_ROOT") or pathlib.Path(__file__).parents[2])


def tracked(root):
    """Relative paths of all files that git tracks or would add, sorted."""
    # The tree may belong to another user than the one that tests it.
    command = ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z",
               "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, capture_output=True)
    if listing.returncode == 0:
        names = [name for name in listing.stdout.decode().split("\0") if name]
    else:
        names = [str(path.relative_to(root)) for path in root.rglob("*")
                 if ".git" not in path.relative_to(root).parts]
    return sorted({name for name in names if (root / name).is_file()})
