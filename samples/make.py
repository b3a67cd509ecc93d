#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cuts samples/bridge out of a full render: make.py SEQUENCE [OUT]

SEQUENCE holds lr_clean_jit/ and hr_ref/ (multilayer EXR files and frames.json). Pixel values are
copied, not resampled; the projection matrices are changed to the cropped picture. Needs
OpenImageIO for Python and numpy.
"""
import json
import os
import sys

import numpy as np
import OpenImageIO as oiio

CROP = (54, 38, 204, 114)  # x, y, width, height in render pixels
FRAMES = range(5, 17)
REFERENCES = range(11, 17)
SCALE = 2
HALF = ["ViewLayer.Combined." + c for c in "RGBA"]
FLOAT = ["ViewLayer.Depth.Z", "ViewLayer.Vector.X", "ViewLayer.Vector.Y"]
KEPT = ["BlenderMultiChannel", "Camera", "Frame", "Scene", "cycles.ViewLayer.samples"]


def cut(source, target, half, single, scale):
    """Copies the named channels inside the crop."""
    image = oiio.ImageInput.open(source)
    if image is None:
        raise IOError(oiio.geterror())
    spec = image.spec()
    names = list(spec.channelnames)
    pixels = image.read_image("float").reshape(spec.height, spec.width, spec.nchannels)
    image.close()
    x, y, width, height = (scale * v for v in CROP)
    pixels = pixels[y:y + height, x:x + width, [names.index(c) for c in half + single]]

    out = oiio.ImageSpec(width, height, len(half + single), "half")
    out.channelnames = tuple(half + single)
    out.channelformats = tuple(["half"] * len(half) + ["float"] * len(single))
    out["compression"] = "zip"
    for name in KEPT:
        if spec.getattribute(name) is not None:
            out[name] = spec.getattribute(name)
    writer = oiio.ImageOutput.create(target)
    if not writer.open(target, out) or not writer.write_image(np.ascontiguousarray(pixels)):
        raise IOError(writer.geterror())
    writer.close()


def crop_projection(proj, full_width, full_height):
    """Projection of the cropped picture; clip space has +y up, rows count from the top."""
    x, y, width, height = CROP
    proj = np.array(proj)
    proj[0] = proj[0] * full_width / width + proj[3] * ((full_width - 2 * x) / width - 1)
    proj[1] = proj[1] * full_height / height + proj[3] * (1 - (full_height - 2 * y) / height)
    return proj.tolist()


def cut_description(source, target):
    with open(source, encoding="utf-8") as file:
        full = json.load(file)
    frames = []
    for frame in full["frames"]:
        if frame["frame"] in FRAMES:
            frames.append({
                "frame": frame["frame"],
                "jitter": frame["jitter"],
                "view": frame["view"],
                "proj": crop_projection(frame["proj"], full["width"], full["height"]),
                "near": frame["near"],
                "far": frame["far"],
            })
    keys = ("scene", "spp", "filter", "jitter", "jitter_convention")
    out = {"width": CROP[2], "height": CROP[3], **{k: full[k] for k in keys}, "frames": frames}
    with open(target, "w", encoding="utf-8") as file:
        json.dump(out, file, indent=1)
        file.write("\n")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    source = sys.argv[1]
    here = os.path.dirname(os.path.abspath(__file__))
    target = sys.argv[2] if len(sys.argv) == 3 else os.path.join(here, "bridge")
    for folder in ("lr", "ref"):
        os.makedirs(os.path.join(target, folder), exist_ok=True)
    for frame in FRAMES:
        name = "bridge_%04d.exr" % frame
        cut(os.path.join(source, "lr_clean_jit", name), os.path.join(target, "lr", name), HALF,
            FLOAT, 1)
    for frame in REFERENCES:
        name = "bridge_%04d.exr" % frame
        cut(os.path.join(source, "hr_ref", name), os.path.join(target, "ref", name), list("RGB"),
            [], SCALE)
    cut_description(os.path.join(source, "lr_clean_jit", "frames.json"),
                    os.path.join(target, "lr", "frames.json"))


if __name__ == "__main__":
    main()
