# SPDX-License-Identifier: MIT
"""One picture of many random scenes: contact_sheet.py HINDSIGHT OUT.jpg [SEEDS] [MODE].

Renders the references of one frame of each seed and puts them side by side, eight a row."""
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np
import OpenImageIO as oiio

WIDTH, HEIGHT, COLUMNS = 176, 132, 8


def reference(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        data = file.read()

    def tensor(name, kind):
        first, last = header[name]["data_offsets"]
        return np.frombuffer(data[first:last], kind).reshape(header[name]["shape"])
    return tensor("reference", np.float16)[0, ..., :3].astype(np.float32) * \
        tensor("exposure", np.float32)[0]


def display(linear):
    """The ACES-fitted curve of 0.6 x, then sRGB."""
    x = linear * 0.6
    y = np.clip(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0, 1)
    return np.where(y <= 0.0031308, 12.92 * y, 1.055 * np.maximum(y, 1e-9) ** (1 / 2.4) - 0.055)


def main():
    program, out = sys.argv[1:3]
    seeds = sys.argv[3] if len(sys.argv) > 3 else "1-64"
    mode = sys.argv[4] if len(sys.argv) > 4 else "direct"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "render", "random", "--seed", seeds, "--frames", "1", "--format",
                        "pack", "--output", folder, "--render-size", f"{WIDTH}x{HEIGHT}", "--size",
                        f"{WIDTH}x{HEIGHT}", "--planes", "colour", "--mode", mode], check=True)
        pictures = [reference(path) for path in sorted(glob.glob(os.path.join(folder, "*")))]
    rows = (len(pictures) + COLUMNS - 1) // COLUMNS
    sheet = np.zeros((rows * HEIGHT, COLUMNS * WIDTH, 3), np.float32)
    for i, picture in enumerate(pictures):
        y, x = i // COLUMNS * HEIGHT, i % COLUMNS * WIDTH
        sheet[y:y + HEIGHT, x:x + WIDTH] = display(picture)
    spec = oiio.ImageSpec(sheet.shape[1], sheet.shape[0], 3, "uint8")
    spec["Compression"] = "jpeg:85"
    image = oiio.ImageOutput.create(out)
    if not image or not image.open(out, spec) or not image.write_image(sheet):
        sys.exit(f"{out} can not be written")
    image.close()


main()
