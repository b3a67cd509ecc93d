# SPDX-License-Identifier: MIT
"""Runs the built command, and makes and reads the small pictures that the tests use."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import numpy as np
import OpenImageIO as oiio

PROGRAM = os.environ["HINDSIGHT"]
ROOT = os.environ["HS_SOURCE_ROOT"]
SAMPLE = os.path.join(ROOT, "samples", "bridge", "lr")
REFERENCE = os.path.join(ROOT, "samples", "bridge", "ref")
SAMPLE_SIZE = (204, 114)
SAMPLE_FRAMES = range(5, 17)
BLENDER = ["ViewLayer.Combined." + c for c in "RGBA"] + ["ViewLayer.Depth.Z"] + \
    ["ViewLayer.Vector." + c for c in "XYZW"]


def run(*args, **options):
    """The command with these arguments; output is text."""
    return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True,
                          timeout=280, **options)


def start(*args):
    return subprocess.Popen([PROGRAM, *map(str, args)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def write_exr(path, pixels, names=None, types=None, attributes=None, display=None):
    """pixels [h, w, channels]; display = (x, y, w, h), the data window being at 0, 0."""
    height, width, count = pixels.shape
    spec = oiio.ImageSpec(width, height, count, "float")
    spec.channelnames = tuple(names or ["R", "G", "B", "A"][:count])
    if types:
        spec.channelformats = tuple(types)
    if display:
        spec.full_x, spec.full_y, spec.full_width, spec.full_height = display
    spec["compression"] = "zip"
    for key, value in (attributes or {}).items():
        spec[key] = value
    out = oiio.ImageOutput.create(str(path))
    if not out.open(str(path), spec) or not out.write_image(
            np.ascontiguousarray(pixels, dtype=np.float32)):
        raise IOError(out.geterror())
    out.close()


def read_image(path):
    """(pixels [h, w, channels] as float, spec)."""
    image = oiio.ImageInput.open(str(path))
    if image is None:
        raise IOError(oiio.geterror())
    spec = image.spec()
    pixels = image.read_image("float").reshape(spec.height, spec.width, spec.nchannels)
    image.close()
    return pixels, spec


def moving_frame(number, width, height, move=(1.25, -0.5)):
    """A Blender-like frame: a smooth pattern with edges that moves by `move` pixels a frame."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    u, v = x - move[0] * number, y - move[1] * number
    color = np.stack([0.5 + 0.4 * np.sin(0.3 * u), 0.4 + 0.3 * np.cos(0.23 * v + 0.1 * u),
                      np.where((np.floor(u / 9) + np.floor(v / 7)) % 2 > 0, 0.9, 0.1),
                      np.ones_like(u)], -1)
    depth = np.full((height, width, 1), 4.0)
    # Blender: previous minus current, y up; then current minus next.
    motion = np.broadcast_to([-move[0], move[1], -move[0], move[1]], (height, width, 4))
    return np.concatenate([color, depth, motion], -1)


def write_moving(folder, numbers, width=64, height=40, change=None):
    """Frames f_0001.exr and so on; change(number, pixels) may return other pixels."""
    os.makedirs(folder, exist_ok=True)
    for number in numbers:
        pixels = moving_frame(number, width, height)
        if change:
            changed = change(number, pixels)
            pixels = pixels if changed is None else changed
        write_exr(os.path.join(folder, "f_%04d.exr" % number), pixels, BLENDER,
                  ["half"] * 4 + ["float"] * 5, {"BlenderMultiChannel": "Blender V2.55.1"})


def tone(x):
    x = np.maximum(x.astype(np.float64), 0)
    return (x / (1 + x)) ** (1 / 2.2)


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="hindsight-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def succeed(self, *args):
        result = run(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def fail_with(self, code, words, *args):
        """The command fails with this exit code and a message that contains all words."""
        result = run(*args)
        self.assertEqual(result.returncode, code, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        return result

    def compare(self, out, ref, *args):
        result = self.succeed("compare", out, ref, "--json", "-", *args)
        return json.loads(result.stdout)

    def names(self, *parts):
        return sorted(os.listdir(self.path(*parts)))

    def assert_no_leftovers(self, *parts):
        """Nothing but whole pictures lies in the folder."""
        for name in self.names(*parts):
            self.assertRegex(name, r"^[^.].*\.(exr|png)$")
            read_image(self.path(*parts, name))


def main():
    unittest.main(verbosity=2)
