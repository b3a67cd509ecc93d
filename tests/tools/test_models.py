# SPDX-License-Identifier: MIT
"""Models by name, by file, and without their file."""
import os
import subprocess

import numpy as np

import common


class Models(common.Case):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("models"))
        self.quality = self.make("models", "hs-quality.safetensors", preset="quality")
        common.write_moving(self.path("in"), range(1, 5), 64, 64)
        self.addCleanup(os.environ.update, HINDSIGHT_MODELS=os.environ["HINDSIGHT_MODELS"])

    def make(self, *parts, preset):
        path = self.path(*parts)
        subprocess.run([os.environ["MAKE_MODEL"], path, preset], check=True)
        return path

    def upscale(self, out, *options):
        """Messages, the last picture, and the model that it says made it."""
        result = self.succeed("upscale", self.path("in"), "-o", self.path(out), "--device", "cpu",
                              *options)
        pixels, spec = common.read_image(self.path(out, "f_0004.exr"))
        return result.stderr, pixels, spec.get_string_attribute("hindsight:model")

    def test_inspect(self):
        text = self.succeed("inspect", self.quality).stdout
        for words in ("preset quality, 14 layers", "architecture: taau-unet", "licence: MIT",
                      "from2.conv   up   1x1   16 to  64  level 2, adds level1, relu"):
            self.assertIn(words, text)
        with open(self.quality, "r+b") as file:
            file.truncate(1000)
        self.fail_with(1, [self.quality, "cut off"], "inspect", self.quality)
        self.fail_with(1, ["gone.safetensors"], "inspect", self.path("gone.safetensors"))
        result = self.fail_with(1, ["?[31m.safetensors"], "inspect",
                                self.path("\x1b[31m.safetensors"))
        self.assertNotIn("\x1b", result.stderr)

    def test_file(self):
        path = self.make("mine.safetensors", preset="mine")
        _, plain, name = self.upscale("taau", "--model", "taau")
        self.assertEqual(name, "taau")
        _, pixels, name = self.upscale("mine", "--model", path)
        self.assertEqual(name, "mine")
        self.assertEqual(pixels.shape, plain.shape)
        self.assertTrue(np.isfinite(pixels).all())
        self.assertGreater(np.abs(pixels - plain)[..., :3].mean(), 1e-3)
        with open(path, "r+b") as file:
            file.truncate(1000)
        self.fail_with(1, [path, "cut off"], "upscale", self.path("in"), "-o", self.path("out"),
                       "--model", path)

    def test_lookup(self):
        os.environ["HINDSIGHT_MODELS"] = self.path("models")
        text, by_name, name = self.upscale("named", "--model", "quality")
        self.assertEqual(name, "quality")
        self.assertNotIn("takes over", text)
        # The device is a processor, so best is not what auto means.
        text, automatic, name = self.upscale("auto")
        self.assertEqual(name, "quality")
        self.assertNotIn("takes over", text)
        np.testing.assert_array_equal(automatic, by_name)

    def test_integers(self):
        os.environ["HINDSIGHT_MODELS"] = self.path("models")
        path = self.make("models", "hs-fast.safetensors", preset="fast")
        text = self.succeed("inspect", path).stdout
        for words in ("preset fast, 10 layers", "architecture: taau-int8",
                      "head         conv 1x1   32 to  48  level 0"):
            self.assertIn(words, text)
        _, taau, _ = self.upscale("taau", "--model", "taau")
        text, plain, name = self.upscale("plain", "--model", "fast", "--path", "plain")
        self.assertEqual(name, "fast")
        self.assertNotIn("takes over", text)
        self.assertGreater(np.abs(plain - taau)[..., :3].mean(), 1e-3)
        # Integers are the same on every path.
        text, matrix, name = self.upscale("matrix", "--model", path, "--path", "matrix")
        self.assertEqual(name, "fast")
        np.testing.assert_array_equal(matrix, plain)

    def test_taau_takes_over(self):
        _, plain, _ = self.upscale("taau", "--model", "taau")
        for option in ("best", "quality", "fast"):
            text, pixels, name = self.upscale(option, "--model", option)
            self.assertEqual(name, "taau")
            self.assertEqual(text.count("takes over"), 1)
            self.assertIn("no hs-%s.safetensors" % option, text)
            np.testing.assert_array_equal(pixels, plain)
        os.environ["HINDSIGHT_MODELS"] = self.path("models")
        with open(self.quality, "r+b") as file:
            file.truncate(1000)
        text, pixels, name = self.upscale("damaged", "--model", "quality")
        self.assertEqual(name, "taau")
        self.assertEqual(text.count(self.quality), 1)
        self.assertIn("cut off", text)
        np.testing.assert_array_equal(pixels, plain)


if __name__ == "__main__":
    common.main()
