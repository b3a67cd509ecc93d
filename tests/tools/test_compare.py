# SPDX-License-Identifier: MIT
"""hindsight compare against numpy, scipy and scikit-image."""
import json
import os

import numpy as np
from scipy.ndimage import map_coordinates
from skimage.metrics import structural_similarity

import common
from common import tone

WIDTH, HEIGHT = 47, 33


def picture(seed):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    base = 0.6 + 0.5 * np.sin(x[..., None] * [0.2, 0.3, 0.1] + y[..., None] * 0.15)
    return (base + 0.2 * rng.standard_normal((HEIGHT, WIDTH, 3))).astype(np.float32)


def flicker(out, out_prev, ref, ref_prev, motion):
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
    x, y = x + motion[..., 0], y + motion[..., 1]
    inside = (x >= 0) & (x <= WIDTH - 1) & (y >= 0) & (y <= HEIGHT - 1)

    def warp(image):
        return np.stack([map_coordinates(image[..., c], [y, x], order=1, mode="nearest")
                         for c in range(3)], -1)
    change = ((out - warp(out_prev)) - (ref - warp(ref_prev)))[inside]
    return np.abs(change).mean(), (change ** 2).mean()


class Compare(common.Case):
    def setUp(self):
        super().setUp()
        for name in ("out", "ref", "motion"):
            os.mkdir(self.path(name))
        rng = np.random.default_rng(7)
        self.motion = rng.uniform(-4, 4, (HEIGHT, WIDTH, 2)).astype(np.float32)
        self.out, self.ref = {}, {}
        for number in (1, 2, 3, 5):
            self.ref[number] = picture(number)
            self.out[number] = self.ref[number] + 0.1 * picture(10 + number) - 0.05
            for kind in ("out", "ref"):
                common.write_exr(self.path(kind, "a.%04d.exr" % number),
                                 getattr(self, kind)[number])
            planes = np.concatenate([self.motion[..., :1], -self.motion[..., 1:],
                                     self.motion], -1)
            common.write_exr(self.path("motion", "m.%04d.exr" % number), planes,
                             ["ViewLayer.Vector." + c for c in "XYZW"])

    def measure(self, *args):
        return self.compare(self.path("out"), self.path("ref", "a.####.exr"), *args)

    def test_values(self):
        got = self.measure()["results"]["out"]
        self.assertEqual(got["curve"]["frame"], [1, 2, 3, 5])
        for i, number in enumerate(got["curve"]["frame"]):
            a, b = tone(self.out[number]), tone(self.ref[number])
            psnr = -10 * np.log10(((a - b) ** 2).mean())
            ssim = structural_similarity(a, b, data_range=1.0, channel_axis=-1, sigma=1.5,
                                         gaussian_weights=True, use_sample_covariance=False)
            # Pictures are held in 32 bits: a few units of 1e-7 in each value.
            self.assertAlmostEqual(got["curve"]["psnr"][i], psnr, delta=1e-4)
            self.assertAlmostEqual(got["curve"]["ssim"][i], ssim, delta=1e-5)
        self.assertAlmostEqual(got["psnr"], np.mean(got["curve"]["psnr"]), delta=1e-6)

    def test_flicker(self):
        got = self.measure("--motion", self.path("motion"), "--convention", "blender")
        curve = got["results"]["out"]["curve"]["flicker"]
        # Frame 1 has no frame before it, and neither has frame 5.
        self.assertEqual([v is None for v in curve], [True, False, False, True])
        squares = []
        for i, number in ((1, 2), (2, 3)):
            mean, square = flicker(*(tone(p[n]) for p in (self.out, self.ref)
                                     for n in (number, number - 1)), self.motion)
            self.assertAlmostEqual(curve[i], mean, delta=1e-5)
            squares.append(square)
        self.assertAlmostEqual(got["results"]["out"]["tpsnr"], -10 * np.log10(np.mean(squares)),
                               delta=1e-3)

    def test_skip_leaves_out_the_first_frames(self):
        whole = self.measure()["results"]["out"]["curve"]["psnr"]
        got = self.measure("--skip", 2)
        self.assertEqual(got["results"]["out"]["frames"], 2)
        self.assertAlmostEqual(got["psnr_out"], np.mean(whole[2:]), delta=1e-6)

    def test_skip_leaves_no_frame(self):
        self.assertEqual(self.measure("--skip", 4)["results"]["out"]["frames"], 1)
        result = self.fail_with(1, ["--skip 5 leaves no frame", self.path("out"), "frame 6"],
                                "compare", self.path("out"), self.path("ref"), "--skip", 5,
                                "--json", "-")
        self.assertEqual(result.stdout, "")
        # One of two OUTs is short.
        os.mkdir(self.path("short"))
        common.write_exr(self.path("short", "a.0001.exr"), self.ref[1])
        self.fail_with(1, ["--skip 1 leaves no frame", self.path("short")], "compare",
                       self.path("out"), "short=" + self.path("short"), self.path("ref"),
                       "--skip", 1)

    def test_two_of_one_name(self):
        for names in (("", ""), ("a=", "a="), ("out=", "")):
            self.fail_with(2, [self.path("out"), self.path("motion"), "both go by the name"],
                           "compare", names[0] + self.path("out"),
                           names[1] + self.path("motion"), self.path("ref"))

    def test_names_and_json_file(self):
        result = self.succeed("compare", "one=" + self.path("out"), "two=" + self.path("ref"),
                              self.path("ref"), "--json", self.path("m.json"))
        with open(self.path("m.json"), encoding="utf-8") as file:
            got = json.load(file)
        self.assertEqual(set(got["results"]), {"one", "two"})
        self.assertEqual(got["psnr_two"], 120)
        self.assertAlmostEqual(got["ssim_two"], 1, delta=1e-9)
        self.assertIn("mean/4", result.stdout)

    def test_sheet(self):
        self.succeed("compare", "mine=" + self.path("out"), self.path("ref"), "--sheet",
                     self.path("s.png"), "--sheet-frame", 3, "--crop", "5,6,10,8", "--zoom", 2)
        pixels, _ = common.read_image(self.path("s.png"))
        # Two columns of 20 pixels with gaps of 6, a label of 26 rows on top.
        self.assertEqual(pixels.shape[:2], (26 + 16 + 6, 6 + 2 * 26))
        for column, image in enumerate((self.out[3], self.ref[3])):
            x = 6 + column * 26
            got = pixels[26:42:2, x:x + 20:2, :3]
            np.testing.assert_allclose(got, tone(image[6:14, 5:15]), atol=0.51 / 255)
        self.assertGreater(pixels[6:20, 6:26].max(), 0.9)

    def test_sizes_differ(self):
        common.write_exr(self.path("ref", "a.0002.exr"), picture(1)[:20])
        self.fail_with(1, ["frame 2", "47x33", "47x20"], "compare", self.path("out"),
                       self.path("ref"))

    def test_non_finite_values_are_told(self):
        bad = self.out[2].copy()
        bad[3, 4] = [np.nan, np.inf, 1]
        common.write_exr(self.path("out", "a.0002.exr"), bad)
        result = self.succeed("compare", self.path("out"), self.path("ref"), "--json", "-")
        self.assertIn("frame 2: 2 values", result.stderr)
        bad[3, 4] = [0, 60000, 1]
        mse = ((tone(bad) - tone(self.ref[2])) ** 2).mean()
        curve = json.loads(result.stdout)["results"]["out"]["curve"]["psnr"]
        self.assertAlmostEqual(curve[1], -10 * np.log10(mse), delta=1e-4)

    def test_nothing_in_common(self):
        os.mkdir(self.path("other"))
        common.write_exr(self.path("other", "a.0099.exr"), picture(1))
        common.write_exr(self.path("other", "a.0100.exr"), picture(1))
        self.fail_with(1, ["no frame"], "compare", self.path("other"), self.path("ref"))

    def test_pictures_below_the_window_of_ssim(self):
        rng = np.random.default_rng(3)
        for width, height in ((1, 1), (10, 40), (11, 11)):
            a, b = rng.uniform(0, 1, (2, height, width, 3)).astype(np.float32)
            common.write_exr(self.path("a.exr"), a)
            common.write_exr(self.path("b.exr"), b)
            got = self.compare(self.path("a.exr"), self.path("b.exr"))
            self.assertAlmostEqual(got["psnr_out"],
                                   -10 * np.log10(((tone(a) - tone(b)) ** 2).mean()), 2)
            self.assertEqual(got["ssim_out"] is None, width < 11)
            self.assertEqual(got["results"]["out"]["curve"]["ssim"] == [None], width < 11)

    def test_usage(self):
        self.fail_with(2, ["argument is missing"], "compare", "a")
        self.fail_with(2, ["--crop"], "compare", "a", "b", "--crop", "1,2,3")
        self.fail_with(2, ["--frobnicate"], "compare", "a", "b", "--frobnicate")
        self.assertIn("--motion", self.succeed("compare", "--help").stdout)


if __name__ == "__main__":
    common.main()
