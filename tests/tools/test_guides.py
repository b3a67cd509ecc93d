# SPDX-License-Identifier: MIT
"""Noisy path-traced frames with guides: atrous, and what happens without guides or weights."""
import ctypes.util
import json
import os
import subprocess

import numpy as np

import common

FRAMES = 3


class Guides(common.Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.environ.update, HINDSIGHT_MODELS=os.environ["HINDSIGHT_MODELS"])

    def render(self, pattern, out, *options):
        self.succeed("render", pattern, "-o", self.path(out), "--mode", "path", "--spp", 2,
                     "--reference-spp", 64, "--frames", FRAMES, "--render-size", "64x48",
                     "--device", "cpu", "-q", *options)

    def upscale(self, clip, out, *options):
        """Messages, and the last picture with the name of the model that it says made it."""
        result = self.succeed("upscale", self.path(clip), "-o", self.path(out), "--device", "cpu",
                              *options)
        pixels, spec = common.read_image(self.path(out, "frame.%04d.exr" % (FRAMES - 1)))
        self.assertTrue(np.isfinite(pixels).all())
        return result.stderr, pixels[..., :3], spec.get_string_attribute("hindsight:model")

    def score(self, out, clip):
        means = json.loads(self.succeed("compare", "x=" + self.path(out),
                                        self.path(clip, "reference"), "--json", "-").stdout)
        return means["psnr_x"]

    def test_noise_goes(self):
        self.render("box", "clip")
        _, _, name = self.upscale("clip", "taau", "--model", "taau")
        self.assertEqual(name, "taau")
        text, _, name = self.upscale("clip", "atrous", "--model", "atrous", "--validate")
        self.assertEqual(name, "atrous")
        self.assertNotIn("no normal", text)
        self.assertGreater(self.score("atrous", "clip"), self.score("taau", "clip") + 3)

    def test_ray_falls_back(self):
        self.render("mirror", "clip", "--no-reference")
        _, atrous, _ = self.upscale("clip", "atrous", "--model", "atrous")
        text, ray, name = self.upscale("clip", "ray", "--model", "ray")
        self.assertEqual(name, "atrous")
        self.assertEqual(text.count("takes over"), 1, text)
        self.assertIn("; atrous takes over", text)
        np.testing.assert_array_equal(atrous, ray)

    def test_ray_runs(self):
        """As a preset where models are looked up, and as a file of another name; it sees guides."""
        self.render("box", "clip", "--no-reference")
        subprocess.run([os.environ["MAKE_MODEL"], self.path("hs-ray.safetensors"), "ray"],
                       check=True)
        os.environ["HINDSIGHT_MODELS"] = self.folder
        text, ray, name = self.upscale("clip", "ray", "--model", "ray", "--validate")
        self.assertEqual(name, "ray")
        self.assertNotIn("takes over", text)
        self.assertNotIn("no normal", text)
        os.rename(self.path("hs-ray.safetensors"), self.path("mine.safetensors"))
        _, file, name = self.upscale("clip", "file", "--model", self.path("mine.safetensors"))
        self.assertEqual(name, "ray")
        np.testing.assert_array_equal(file, ray)
        text, less, _ = self.upscale("clip", "less", "--model", self.path("mine.safetensors"),
                                     "--set", "normal.channels=")
        self.assertIn("no normal", text)
        self.assertTrue((less != ray).any())
        text = self.succeed("inspect", self.path("mine.safetensors")).stdout
        self.assertIn("architecture: taau-ray", text)
        text = self.succeed("bench", "--model", self.path("mine.safetensors"), "--size", "64x48",
                            "--frames", 2, "--warmup", 1, "--device", "cpu").stdout
        self.assertRegex(text, r"(?s)filter .*enter .*resolve ")

    def test_guides_may_be_missing(self):
        self.render("mirror", "clip", "--no-reference")
        _, whole, _ = self.upscale("clip", "whole", "--model", "atrous")
        for plane, words in (("diffuse_albedo", "no diffuse albedo: textures"),
                             ("specular_albedo", "no specular albedo: "),
                             ("normal", "no normal: light is filtered across"),
                             ("roughness", "no roughness: "),
                             ("hit_distance", "no hit distance: ")):
            text, less, _ = self.upscale("clip", plane, "--model", "atrous", "--set",
                                         plane + ".channels=")
            self.assertIn(words, text)
            self.assertGreater(np.abs(less - whole).max(), 1e-3, plane)
        self.render("mirror", "bare", "--no-reference", "--planes", "colour")
        text, _, _ = self.upscale("bare", "bare-out", "--model", "atrous")
        self.assertEqual(text.count("hindsight: no "), 7, text)

    def test_values(self):
        """What the numbers mean, and the clamp, reach the engine."""
        self.render("mirror", "clip", "--no-reference")
        _, whole, _ = self.upscale("clip", "whole", "--model", "atrous")
        for index, options in enumerate((("--set", "specular_albedo.kind=f0"),
                                         ("--set", "roughness.kind=smoothness"),
                                         ("--set", "normal.range=unsigned"),
                                         ("--firefly-clamp", 0.3))):
            _, other, _ = self.upscale("clip", "other%d" % index, "--model", "atrous", *options)
            self.assertGreater(np.abs(other - whole).max(), 1e-3, options)

    def test_planes(self):
        """Guides as raw video where they are asked for; else files of their names stay."""
        self.render("box", "clip", "--no-reference")
        self.succeed("planes", self.path("clip"), "-o", self.path("raw"), "--guides")
        with open(self.path("raw", "inputs.txt")) as file:
            rows = [line.split()[:3] for line in file if " 64x48 " in line]
        names = [row[0] for row in rows]
        self.assertEqual(names, ["colour", "depth", "motion", "diffuse_albedo", "specular_albedo",
                                 "normal", "roughness", "hit_distance"])
        for name, form, _ in rows[1:]:
            channels = {"grayf32le": 1, "gbrpf32le": 3, "gbrapf32le": 4}[form]
            self.assertEqual(os.path.getsize(self.path("raw", name + ".raw")),
                             FRAMES * 64 * 48 * 4 * channels, name)
        normal = np.fromfile(self.path("raw", "normal.raw"), "<f4").reshape(FRAMES, 4, 48, 64)
        length = np.sqrt((normal[:, :3] ** 2).sum(1))
        self.assertLess(np.abs(length[length > 0] - 1).max(), 1e-2)
        self.assertGreater((length > 0).mean(), 0.5)
        kept = os.path.getmtime(self.path("raw", "normal.raw"))
        self.succeed("planes", self.path("clip"), "-o", self.path("raw"))
        self.assertEqual(os.path.getmtime(self.path("raw", "normal.raw")), kept)
        with open(self.path("raw", "inputs.txt")) as file:
            self.assertNotIn("normal 64x48", file.read())

    def test_oidn(self):
        """A library that does something known; one that fails; none."""
        self.render("box", "clip", "--no-reference")
        if not ctypes.util.find_library("OpenImageDenoise"):
            self.fail_with(1, ["needs libOpenImageDenoise.so.2"], "upscale", self.path("clip"),
                           "-o", self.path("none"), "--model", "oidn", "--device", "cpu")
        path = os.environ.get("LD_LIBRARY_PATH", "")
        self.addCleanup(os.environ.update, LD_LIBRARY_PATH=path)
        os.environ["LD_LIBRARY_PATH"] = os.environ["FAKE_OIDN_FOLDER"] + ":" + path
        pictures = {}
        for mode in ("copy", "albedo", "normal"):
            os.environ["FAKE_OIDN"] = mode
            text, pictures[mode], name = self.upscale("clip", mode, "--model", "oidn")
            self.assertEqual(name, "oidn")
            self.assertIn("Open Image Denoise on the CPU, then taau on", text)
            self.assertNotIn("hindsight: no ", text)
        _, taau, _ = self.upscale("clip", "taau", "--model", "taau")
        np.testing.assert_allclose(pictures["copy"], taau, rtol=0.02, atol=2e-3)
        # Albedos are within 0 and 1 and not what light makes of them; normals have a length of 1.
        self.assertLess(pictures["albedo"].max(), 1.01)
        self.assertGreater(np.abs(pictures["albedo"] - taau).max(), 0.1)
        self.assertGreater(np.abs(pictures["normal"] - pictures["albedo"]).max(), 0.1)
        # Without albedo there is no normal, either: the fake's plane is not there.
        os.environ["FAKE_OIDN"] = "normal"
        text, bare, _ = self.upscale("clip", "bare", "--model", "oidn", "--set",
                                  "diffuse_albedo.channels=", "--set", "specular_albedo.channels=")
        np.testing.assert_array_equal(bare, pictures["copy"])
        self.assertEqual(text.count("hindsight: no albedo: "), 1, text)
        self.assertNotIn("no normal", text)
        text, _, _ = self.upscale("clip", "flat", "--model", "oidn", "--set", "normal.channels=",
                                  "--set", "specular_albedo.channels=")
        for words in ("no normal: ", "no specular albedo: "):
            self.assertEqual(text.count(words), 1, text)
        # The library is told which kind of colour it is: a quarter of light is left, half of a
        # display's values, or a little more, for the whole is cut off at 1.
        os.environ["FAKE_OIDN"] = "range"
        for least, most, option in ((0.2, 0.3, ("--exposure", 1)), (0.45, 0.75, ("--ldr",))):
            means = [self.upscale("clip", model + option[0], "--model", model, *option)[1].mean()
                     for model in ("oidn", "taau")]
            self.assertLess(least, means[0] / means[1], option)
            self.assertLess(means[0] / means[1], most, option)
        os.environ["FAKE_OIDN"] = "fail"
        self.fail_with(1, ["Open Image Denoise: the fake says no"], "upscale", self.path("clip"),
                       "-o", self.path("failed"), "--model", "oidn", "--device", "cpu")
        self.assertFalse(os.path.exists(self.path("failed", "frame.0000.exr")))

    def test_look(self):
        """A display's values: EXR and PNG hold the same, without another curve on top."""
        self.render("box", "clip", "--no-reference")
        _, linear, _ = self.upscale("clip", "linear", "--model", "taau", "--exposure", 1)
        _, look, _ = self.upscale("clip", "look", "--model", "taau", "--exposure", 1, "--look",
                                  "aces")
        half = 0.5 * np.maximum(linear.astype(np.float64), 0)
        want = np.minimum(half * (2.51 * half + 0.03) / (half * (2.43 * half + 0.59) + 0.14), 1)
        self.assertLess(np.abs(look - want ** (1 / 2.2)).max(), 3e-3)
        _, graded, _ = self.upscale("clip", "graded", "--model", "taau", "--exposure", 1, "--look",
                                    "aces,vignette=1,shadows=0/0/0.1,grain=0.05")
        self.assertGreater(np.abs(graded - look).max(), 0.02)
        self.succeed("upscale", self.path("clip"), "-o", self.path("png/out.####.png"), "--device",
                     "cpu", "--model", "taau", "--exposure", 1, "--look", "aces")
        png, _ = common.read_image(self.path("png", "out.%04d.png" % (FRAMES - 1)))
        self.assertLess(np.abs(png[..., :3] - look).max(), 0.004)
        for text, words in (("film", "none, or aces and"), ("aces,glow=1", "no key \"glow\""),
                            ("aces,contrast=2", "contrast takes a number from -1 to 1"),
                            ("aces,shadows=0/1", "three numbers"),
                            ("aces,grain=0.1x", "grain takes a number"),
                            ("aces,grain=0.1/0.2", "grain takes a number"),
                            ("aces,grain", "grain takes a number"), ("aces,", "no key \"\"")):
            self.fail_with(2, [words], "upscale", self.path("clip"), "-o", self.path("no"),
                           "--look", text)
        for words, option in (("nearest and bicubic have none", ("--model", "nearest")),
                              ("has one already", ("--ldr",))):
            self.fail_with(2, [words], "upscale", self.path("clip"), "-o", self.path("no"),
                           "--look", "aces", *option)

    def test_other_models_leave_guides_alone(self):
        self.render("mirror", "clip", "--no-reference")
        _, whole, _ = self.upscale("clip", "whole", "--model", "taau")
        _, less, _ = self.upscale("clip", "less", "--model", "taau", "--set", "normal.channels=")
        np.testing.assert_array_equal(whole, less)

    def test_sizes_fit(self):
        self.render("mirror", "clip", "--no-reference")
        self.render("mirror", "small", "--no-reference", "--render-size", "32x24")
        self.fail_with(1, ["normal: expected 64x48, found 32x24"], "upscale", self.path("clip"),
                       "-o", self.path("out"), "--model", "atrous", "--plane",
                       "normal=" + self.path("small", "frame.####.exr"))


if __name__ == "__main__":
    common.main()
