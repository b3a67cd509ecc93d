# SPDX-License-Identifier: MIT
"""Raw frames against EXR ones: compare_raw.py RAW DIR [TOLERANCE]. Default: no difference.

TOLERANCE is a share of the value.
Raw are gbrapf32le, or rgbaf16le where the file is half as large.
Both ways run the same shaders on the same driver on the same numbers, so nothing may differ."""
import pathlib
import sys

import numpy as np
import OpenImageIO as oiio


def read_exr(path):
    image = oiio.ImageBuf(str(path))
    names = list(image.spec().channelnames)
    order = [next(i for i, name in enumerate(names) if name.split(".")[-1] == c) for c in "RGBA"]
    return image.get_pixels(oiio.FLOAT)[:, :, order]


def main():
    files = sorted(pathlib.Path(sys.argv[2]).glob("*.exr"))
    tolerance = float(sys.argv[3]) if len(sys.argv) > 3 else 0
    first = read_exr(files[0])
    raw = np.fromfile(sys.argv[1], "<f4")
    if 2 * raw.size == first.size * len(files):
        frames = raw.view("<f2").astype("f4").reshape(len(files), *first.shape)
    elif raw.size == first.size * len(files):
        frames = raw.reshape(len(files), 4, *first.shape[:2])[:, [2, 0, 1, 3]].transpose(0, 2, 3, 1)
    else:
        sys.exit(f"{raw.size} numbers for {len(files)} frames of {first.shape}")
    worst = 0
    for path, frame in zip(files, frames):
        want = read_exr(path)
        # Below 2^-14 half floats have no more digits.
        worst = max(worst, float((np.abs(want - frame) / np.maximum(np.abs(want), 2**-14)).max()))
    print(f"{len(files)} frames, greatest difference {worst:g}, allowed {tolerance:g}")
    sys.exit(worst > tolerance or not np.isfinite(frames).all())


main()
