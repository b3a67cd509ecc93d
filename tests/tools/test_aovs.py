# SPDX-License-Identifier: MIT
"""hindsight upscale --aov: parts of the light, values, ids; and alpha of a moving edge."""
import json
import os

import numpy as np
import OpenImageIO as oiio

import common
from common import write_exr

WIDTH, HEIGHT, SCALE = 48, 40, 2
MOVE = (1.25, -0.5)
FRAMES = range(1, 11)
IDS = [0.0, -1.5e-38, 3.7e12, 1.0, -8.25e-3]
# OpenImageIO takes integers for fractions of the greatest one.
UINT = 2 ** 32 - 1
COLOUR = ["ViewLayer.Combined." + c for c in "RGBA"]
BASE = COLOUR + ["ViewLayer.Depth.Z"] + ["ViewLayer.Vector." + c for c in "XYZW"]


def rgb(layer):
    return ["ViewLayer.%s.%s" % (layer, c) for c in "RGB"]


def halton(index, base):
    result, f = 0.0, 1.0
    while index:
        f /= base
        result += f * (index % base)
        index //= base
    return result


def jitter(number):
    return [halton(number % 16 + 1, 2) - 0.5, halton(number % 16 + 1, 3) - 0.5]


def places(number, width, height, shift):
    """Where a picture's samples lie in the moving scene, render px."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    scale = WIDTH / width
    return ((x + 0.5) * scale + shift[0] - MOVE[0] * number,
            (y + 0.5) * scale + shift[1] - MOVE[1] * number)


def lights(u, v):
    """Three parts of the light, each with edges that the others do not have."""
    a = 0.05 + 0.3 * ((np.floor(u / 7) + np.floor(v / 9)) % 2)
    b = 0.2 + 0.15 * np.sin(0.4 * u + 0.2 * v)
    c = np.where((u % 23 - 11) ** 2 + (v % 19 - 9) ** 2 < 30, 6.0, 0.02)
    tint = np.array([1.0, 0.6, 0.3])
    return a[..., None] * tint, b[..., None] * tint[::-1], c[..., None] * tint[[1, 0, 2]]


def frame(number):
    """(pixels, names, types) of a frame with layers."""
    u, v = places(number, WIDTH, HEIGHT, jitter(number))
    parts = lights(u, v)
    one = np.ones_like(u)
    motion = np.broadcast_to([-MOVE[0], MOVE[1], -MOVE[0], MOVE[1]], u.shape + (4,))
    normal = np.stack([np.sin(u), np.cos(v), one], -1)
    ids = np.array(IDS)[(np.floor(u / 5) + 2 * np.floor(v / 6)).astype(int) % len(IDS)]
    planes = [np.concatenate([sum(parts), one[..., None]], -1), 4 * one[..., None], motion, *parts,
              normal, np.stack([ids, one, one, one], -1),
              (np.floor(u / 5).astype(int) % 7)[..., None] / UINT]
    names = BASE + rgb("DiffDir") + rgb("GlossDir") + rgb("Emit") + \
        ["ViewLayer.Normal." + c for c in "XYZ"] + \
        ["ViewLayer.CryptoObject00." + c for c in "rgba"] + ["objects.id"]
    types = ["float"] * (len(names) - 1) + ["uint"]
    return np.concatenate(planes, -1), names, types


class Aovs(common.Case):
    def write(self):
        os.makedirs(self.path("in"))
        for number in FRAMES:
            pixels, names, types = frame(number)
            write_exr(self.path("in", "f_%04d.exr" % number), pixels, names, types)
        with open(self.path("in", "frames.json"), "w", encoding="utf-8") as file:
            json.dump({"frames": [{"number": n, "jitter": jitter(n)} for n in FRAMES]}, file)

    def read(self, folder, number):
        pixels, spec = common.read_image(self.path(folder, "f_%04d.exr" % number))
        return lambda names: pixels[..., [list(spec.channelnames).index(n) for n in names]]

    def upscale(self, out, *args):
        return self.succeed("upscale", self.path("in"), "-o", self.path(out), "--device", "cpu",
                            "--no-check", "--model", "taau", *args)

    def test_parts_add_up_and_are_sharper_than_carried_over(self):
        self.write()
        layers = ["DiffDir", "GlossDir", "Emit"]
        result = self.upscale("out", "--validate",
                              *[w for name in layers for w in ("--aov", name)])
        self.assertIn("AOV DiffDir: part of the light", result.stderr)
        self.upscale("cubic", *[w for name in layers for w in ("--aux", "*.%s.*=cubic" % name)])
        error = {"out": 0, "cubic": 0}
        for number in FRAMES:
            get = self.read("out", number)
            colour = get(COLOUR[:3])
            total = sum(get(rgb(name)) for name in layers)
            np.testing.assert_allclose(total, colour, rtol=2e-6, atol=1e-7)
            if number < 6:
                continue
            u, v = places(number, WIDTH * SCALE, HEIGHT * SCALE, (0, 0))
            for folder in error:
                get = self.read(folder, number)
                for name, wanted in zip(layers, lights(u, v)):
                    error[folder] += np.mean((common.tone(get(rgb(name))) -
                                              common.tone(wanted)) ** 2)
        decibels = -10 * np.log10(error["out"] / error["cubic"])
        print("AOVs against carried over: +%.1f dB" % decibels)
        self.assertGreater(decibels, 2)

    def test_ids_are_those_of_the_input(self):
        self.write()
        result = self.upscale("out", "--aov", "CryptoObject00", "--aov", "objects", "--start", 3,
                              "--end", 5)
        self.assertIn("AOV objects: nearest sample", result.stderr)
        for number in (3, 4, 5):
            get = self.read("out", number)
            u, v = places(number, WIDTH * SCALE, HEIGHT * SCALE, (0, 0))
            source, names, _ = frame(number)
            got = get(["ViewLayer.CryptoObject00.r"])[..., 0]
            known = source[..., names.index("ViewLayer.CryptoObject00.r")].astype(np.float32)
            self.assertLessEqual(set(got.ravel()), set(known.ravel()))
            # The nearest sample of the jittered grid: exactly that one.
            shift = jitter(number)
            x = np.floor((np.arange(WIDTH * SCALE) + 0.5) / SCALE - shift[0]).astype(int)
            y = np.floor((np.arange(HEIGHT * SCALE) + 0.5) / SCALE - shift[1]).astype(int)
            wanted = known[y.clip(0, HEIGHT - 1)][:, x.clip(0, WIDTH - 1)]
            np.testing.assert_array_equal(got, wanted)
            objects = np.rint(get(["objects.id"])[..., 0].astype(np.float64) * UINT)
            wanted = np.floor(u / 5).astype(int) % 7
            self.assertGreater((objects == wanted).mean(), 0.85)

    def test_values_keep_to_their_range(self):
        self.write()
        result = self.upscale("out", "--aov", "Normal", "--aov", "Emit=data", "--depth", "half")
        self.assertIn("AOV Normal: values", result.stderr)
        get = self.read("out", FRAMES[-1])
        normal = get(["ViewLayer.Normal." + c for c in "XYZ"])
        self.assertLessEqual(np.abs(normal).max(), 1)
        np.testing.assert_allclose(normal[..., 2], 1, atol=1e-6)
        self.assertLessEqual(get(rgb("Emit")).max(), 6)
        self.assertGreaterEqual(get(rgb("Emit")).min(), 0)

    def test_parts_with_plain_names(self):
        os.mkdir(self.path("in"))
        parts = ("beauty", "spec", "a/b")
        for number in (1, 2):
            pixels = lights(*places(number, WIDTH, HEIGHT, (0, 0)))
            specs = []
            for name in parts:
                spec = oiio.ImageSpec(WIDTH, HEIGHT, 3, "float")
                spec.channelnames = ("R", "G", "B")
                spec["name"] = name
                specs.append(spec)
            path = self.path("in", "f.%d.exr" % number)
            out = oiio.ImageOutput.create(path)
            self.assertTrue(out.open(path, tuple(specs)), out.geterror())
            for i, spec in enumerate(specs):
                if i:
                    out.open(path, spec, "AppendSubimage")
                out.write_image(np.ascontiguousarray(pixels[i], np.float32))
            out.close()
        command = ["upscale", self.path("in"), "--quiet", "--device", "cpu", "--model", "taau",
                   "-o", self.path("out"), "--aov"]
        told = self.succeed(*command, "spec=data", "--aov", "a/b=nearest").stderr
        # Colour of any part is no motion.
        self.assertNotIn("would find", told)
        pixels, spec = common.read_image(self.path("out", "f.1.exr"))
        names = list(spec.channelnames)
        wanted = lights(*places(1, WIDTH, HEIGHT, (0, 0)))
        carried = pixels[..., [names.index("a/b." + c) for c in "RGB"]]
        np.testing.assert_array_equal(carried, np.float32(wanted[2]).repeat(2, 0).repeat(2, 1))
        # The other part's values, not the colour's.
        values = pixels[..., [names.index("spec." + c) for c in "RGB"]]
        self.assertLess(np.abs(values[::2, ::2] - wanted[1]).max(), 0.2)
        self.fail_with(1, ["is the colour"], *command, "beauty", "--overwrite")

    def test_what_is_refused(self):
        self.write()
        one = ["upscale", self.path("in"), "--end", 2, "--quiet", "--device", "cpu", "--no-check"]
        exr, png = ["-o", self.path("out")], ["-o", self.path("out", "a_####.png")]
        self.fail_with(1, ["no layer Diffuse", "DiffDir"], *one, *exr, "--aov", "Diffuse")
        self.fail_with(1, ["is the colour"], *one, *exr, "--aov", "Combined")
        self.fail_with(2, ["only EXR"], *one, *png, "--aov", "DiffDir")
        self.fail_with(1, ["--aux"], *one, *exr, "--aov", "DiffDir", "--model", "bicubic")
        for kind in ("light", "nearest"):
            for again in ("DiffDir", "ViewLayer.diffdir=data", "DiffDir=nearest"):
                self.fail_with(1, ["was named before"], *one, *exr, "--aov", "DiffDir=" + kind,
                               "--aov", again)
        self.assertEqual(self.names("out"), [])
        self.fail_with(2, ["AOV DiffDir=sharp", "nearest"], *one, *exr, "--aov", "DiffDir=sharp")
        self.fail_with(2, ["name"], *one, *exr, "--aov", "=light")


class Alpha(common.Case):
    def test_a_moving_premultiplied_edge(self):
        size, radius = (64, 48), 14
        colour = np.array([0.8, 0.4, 0.1])

        def disc(number, width, height, shift, samples):
            """Coverage of the pixels, averaged over samples x samples places."""
            scale = size[0] / width
            total = 0
            for i in range(samples * samples):
                y, x = np.mgrid[0:height, 0:width].astype(np.float64)
                x = (x + (i % samples + 0.5) / samples) * scale + shift[0]
                y = (y + (i // samples + 0.5) / samples) * scale + shift[1]
                total += (x - 16 - 1.75 * number) ** 2 + (y - 22) ** 2 < radius ** 2
            return total / samples ** 2

        os.makedirs(self.path("in"))
        for number in range(1, 13):
            alpha = disc(number, *size, jitter(number), 4)[..., None]
            cover = alpha > 0
            pixels = np.concatenate(
                [alpha * colour, alpha, np.where(cover, 4, 1e10),
                 np.where(cover, [-1.75, 0, -1.75, 0], 0)], -1)
            write_exr(self.path("in", "f_%04d.exr" % number), pixels, BASE)
        with open(self.path("in", "frames.json"), "w", encoding="utf-8") as file:
            json.dump({"frames": [{"number": n, "jitter": jitter(n)} for n in range(1, 13)]}, file)
        args = ["upscale", self.path("in"), "--device", "cpu", "--no-check", "--quiet"]
        self.succeed(*args, "-o", self.path("out"), "--model", "taau")
        self.succeed(*args, "-o", self.path("cubic"), "--model", "bicubic")
        wanted = disc(12, 2 * size[0], 2 * size[1], (0, 0), 4)
        error = {}
        for folder in ("out", "cubic"):
            pixels, spec = common.read_image(self.path(folder, "f_0012.exr"))
            got = pixels[..., [list(spec.channelnames).index(n) for n in COLOUR]]
            error[folder] = np.mean((got[..., 3] - wanted) ** 2)
            if folder == "cubic":
                continue
            alpha = got[..., 3]
            self.assertGreaterEqual(alpha.min(), 0)
            self.assertLessEqual(alpha.max(), 1)
            self.assertEqual(got[wanted == 0][:, 3].min(), 0)
            # Premultiplied with the alpha that it comes with: no dark and no light fringe.
            edge = (alpha > 0.1) & (alpha < 0.95)
            self.assertGreater(edge.sum(), 40)
            np.testing.assert_allclose(got[edge][:, :3] / alpha[edge][:, None],
                                       np.broadcast_to(colour, (edge.sum(), 3)), rtol=0.08)
        print("alpha: mean square error %.2e, bicubic's %.2e" % (error["out"], error["cubic"]))
        self.assertLess(error["out"], error["cubic"] / 2)


if __name__ == "__main__":
    common.main()
