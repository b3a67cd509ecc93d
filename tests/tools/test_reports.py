# SPDX-License-Identifier: MIT
"""What people reported who denoised or enlarged rendered sequences with other tools: one test each.

Methods carry the row of the table in docs/conventions.md. A row that other tests hold is in
HELD_BY, which names them.
"""
import json
import os
import re

import numpy as np
import OpenImageIO as oiio

import common

WIDTH, HEIGHT = 48, 32
# Row: (file below tests/, test). test_rows_held_elsewhere looks whether they are still there.
HELD_BY = {
    3: [("tools/test_probe.py", "test_noise")],
    12: [("tools/test_errors.py", "test_motion_all_zero"),
         ("tools/test_probe.py", "test_zero_vectors")],
    15: [("tools/test_probe.py", "test_every_variant_of_the_sample"),
         ("tools/test_probe.py", "test_random_clips")],
    18: [("tools/test_probe.py", "test_every_variant_of_the_sample")],
    23: [("io/test_exr_read.c", "mip_level_0"), ("io/test_exr_read.c", "every_compression")],
    32: [("io/test_pattern.c", "found_files"), ("io/test_pattern.c", "parse")],
    35: [("tools/test_upscale.py", "test_a_transparent_edge_stays_where_it_is")],
    38: [("tools/test_probe.py", "test_zero_vectors"), ("tools/test_probe.py", "test_shutter")],
    "averaged vectors": [("tools/test_probe.py", "test_averaged_silhouettes")],
}
ROWS = [1, 2, 3, 4, 6, 7, 8, 10, 11, 12, 14, 15, 17, 18, 20, 21, 22, 23, 25, 26, 28, 29, 32, 35, 38]


def write(path, parts, tile=0, compression="zip", origin=(0, 0), display=None):
    """An EXR of parts (name, pixels [h, w, c], channel names)."""
    specs = []
    for name, pixels, names in parts:
        spec = oiio.ImageSpec(pixels.shape[1], pixels.shape[0], pixels.shape[2], "half")
        spec.channelnames = tuple(names)
        spec.x, spec.y = origin
        spec.full_x, spec.full_y, spec.full_width, spec.full_height = \
            display or (*origin, pixels.shape[1], pixels.shape[0])
        if name:
            spec["name"] = name
        spec["compression"] = compression
        spec.tile_width = spec.tile_height = tile
        specs.append(spec)
    out = oiio.ImageOutput.create(path)
    if not out.open(path, tuple(specs) if len(specs) > 1 else specs[0]):
        raise IOError(out.geterror())
    for i, (_, pixels, _) in enumerate(parts):
        if i and not out.open(path, specs[i], "AppendSubimage"):
            raise IOError(out.geterror())
        if not out.write_image(np.ascontiguousarray(pixels, np.float32)):
            raise IOError(out.geterror())
    out.close()


def channel(picture, name):
    pixels, spec = picture
    return pixels[..., list(spec.channelnames).index(name)]


def rgb(picture, layer="ViewLayer.Combined."):
    return np.stack([channel(picture, layer + c) for c in "RGB"], -1)


class Reports(common.Case):
    def moving(self, name="in", numbers=range(1, 7), change=None, size=(WIDTH, HEIGHT)):
        common.write_moving(self.path(name), numbers, *size, change)
        return self.path(name)

    def upscale(self, source, out, *extra, model="taau"):
        return self.succeed("upscale", source, "-o", self.path(out), "--device", "cpu", "--model",
                            model, "--depth", "float", *extra)

    def picture(self, out, number, stem="f_"):
        return common.read_image(self.path(out, "%s%04d.exr" % (stem, number)))

    def still(self, name, numbers, picture, move=(0, 0), depth=None):
        """Frames of picture(number) [h, w, 4] with depth and one vector, prev - cur, y down."""
        os.makedirs(self.path(name))
        for number in numbers:
            rgba = picture(number)
            z = np.full(rgba.shape[:2] + (1,), 4.0) if depth is None else depth
            mv = np.broadcast_to(np.float64([move[0], -move[1], move[0], -move[1]]),
                                 rgba.shape[:2] + (4,))
            common.write_exr(self.path(name, "f_%04d.exr" % number),
                             np.concatenate([rgba, z, mv], -1), common.BLENDER,
                             ["half"] * 4 + ["float"] * 5)
        return self.path(name)

    def test_rows_held_elsewhere(self):
        own = {int(m.group(1)) for m in (re.match(r"test_(\d+)_", n) for n in dir(self)) if m}
        self.assertEqual(sorted(own | {r for r in HELD_BY if isinstance(r, int)}), ROWS)
        for row, tests in HELD_BY.items():
            for file, test in tests:
                path = os.path.join(common.ROOT, "tests", file)
                with open(path, encoding="utf-8") as source:
                    wanted = "def %s(" % test if file.endswith(".py") else '{"%s", ' % test
                    self.assertIn(wanted, source.read(), row)

    def test_01_dark_areas_do_not_flicker(self):
        rng = np.random.default_rng(3)

        def noisy(_number):
            light = 0.02 * rng.exponential(1, (HEIGHT, WIDTH, 1))
            return np.concatenate([np.repeat(light, 3, -1), np.ones((HEIGHT, WIDTH, 1))], -1)
        source = self.still("in", range(1, 17), noisy)
        spread = {}
        for model in ("bicubic", "taau"):
            self.upscale(source, model, "--quiet", model=model)
            frames = [rgb(self.picture(model, n)) for n in range(9, 17)]
            spread[model] = np.std(frames, 0).mean()
        self.assertLess(spread["taau"], 0.4 * spread["bicubic"])

    def test_02_a_processor_is_enough(self):
        result = self.succeed("upscale", self.moving(), "-o", self.path("out"), "--device", "cpu",
                              "--end", 2)
        self.assertIn("llvmpipe", result.stderr)
        self.assertEqual(self.names("out"), ["f_0001.exr", "f_0002.exr"])

    def test_04_multilayer_in_multilayer_out(self):
        self.upscale(self.moving(), "out", "--aux", "all", "--quiet")
        _, spec = self.picture("out", 6)
        self.assertEqual(sorted(spec.channelnames), sorted(common.BLENDER))
        self.assertEqual(spec["BlenderMultiChannel"], "Blender V2.55.1")

    def test_04_carried_vectors_are_as_stored(self):
        """Those in pixels grow with the picture, parts of the picture do not, whatever is read."""
        for extra, factor in (([], 2), (["--set", "motion.unit=uv"], 1),
                              (["--set", "motion.direction=next"], 2),
                              (["--set", "motion.direction=next", "--set", "motion.unit=uv"], 1)):
            self.upscale(self.moving(), "out", "--aux", "all", "--quiet", "--overwrite",
                         "--no-check", *extra)
            got = channel(self.picture("out", 6), "ViewLayer.Vector.X")
            np.testing.assert_allclose(got, -1.25 * factor)

    def spoiled(self, value):
        def spoil(number, pixels):
            if number == 3:
                pixels[16, 24, :3] = value
            return pixels
        return spoil

    def test_06_one_infinite_pixel_makes_no_blob(self):
        self.upscale(self.moving("clean"), "a", "--quiet")
        for name, value in (("inf", np.inf), ("nan", np.nan)):
            source = self.moving(name, change=self.spoiled(value))
            result = self.upscale(source, "b" + name)
            self.assertIn("frame 3, colour: 1 pixels are NaN or infinite", result.stderr)
            for number in (3, 4, 6):
                clean, got = (rgb(self.picture(out, number)) for out in ("a", "b" + name))
                self.assertTrue(np.isfinite(got).all())
                off = np.argwhere(abs(got - clean).max(-1) > 0.02) / 2 - (16, 24)
                # Nothing farther away than a pixel and what the filter and the movement reach.
                self.assertLessEqual(abs(off).max(initial=0), 5, (name, number))

    def test_07_candelas_stay_finite(self):
        def bright(number, pixels):
            pixels[..., :3] *= 2e4
            return self.spoiled(np.inf)(number, pixels)
        self.upscale(self.moving("one"), "a", "--quiet")
        self.upscale(self.moving("bright", change=bright), "b", "--quiet")
        for number in (2, 6):
            one, got = rgb(self.picture("a", number)), rgb(self.picture("b", number)) / 2e4
            self.assertTrue(np.isfinite(got).all())
            self.assertLess(abs(one - got).mean(), 0.01)

    def test_08_colour_after_a_tone_curve_is_told(self):
        def display(_number, pixels):
            pixels[..., :3] = np.clip(2 * pixels[..., :3], 0, 1)
        source = self.moving("display", change=display, size=(96, 64))
        self.assertIn("display-referred? (--ldr)", common.run("probe", source).stdout)
        self.assertNotIn("display-referred", common.run("probe", self.moving(
            "linear", size=(96, 64))).stdout)
        self.upscale(source, "out", "--ldr", "--quiet")
        self.assertLessEqual(rgb(self.picture("out", 6)).max(), 1)

    def test_10_nothing_stays_nothing(self):
        """Empty pixels at infinite depth, beside an object that moves."""
        def cut(number, pixels):
            x = np.arange(WIDTH) - 1.25 * number
            empty = (x < 8) | (x >= 24)
            pixels[:, empty, :4] = 0
            pixels[:, empty, 4] = np.inf if number % 2 else 1e10
            pixels[:, empty, 5:] = 0
        source = self.moving(change=cut)
        for model in ("taau", "atrous", "quality"):
            self.upscale(source, model, "--quiet", model=model)
            got = self.picture(model, 6)
            for name in ["ViewLayer.Combined." + c for c in "RGBA"]:
                # Beyond the filter's reach from the object, which ends at pixel 31.5.
                self.assertLess(abs(channel(got, name)[:, 2 * 36:]).max(), 1e-3, (model, name))

    def test_11_sky_without_vectors(self):
        """The background's vectors are 0 though the camera moves: cameras, or an estimated one."""
        with open(os.path.join(common.SAMPLE, "frames.json"), encoding="utf-8") as file:
            frames = json.load(file)
        for frame in frames["frames"]:
            for key in ("view", "proj"):
                del frame[key]
        with open(self.path("bare.json"), "w", encoding="utf-8") as file:
            json.dump(frames, file)
        bare = ["--frames-json", self.path("bare.json")]
        off = {}
        for name, extra in (("camera", []), ("found", bare),
                            ("zero", [*bare, "--set", "motion.unwritten=none"])):
            result = self.upscale(common.SAMPLE, name, "--start", 5, "--end", 12, *extra)
            self.assertEqual("follow the one that the others tell of" in result.stderr,
                             name == "found")
            out = self.picture(name, 12, "bridge_")
            small = common.read_image(os.path.join(common.SAMPLE, "bridge_0012.exr"))
            sky = channel(small, "ViewLayer.Depth.Z") >= 1e10
            wanted = common.read_image(os.path.join(common.REFERENCE, "bridge_0012.exr"))
            sky = sky.repeat(2, 0).repeat(2, 1)
            off[name] = abs(common.tone(rgb(out)) - common.tone(rgb(wanted, "")))[sky].mean()
        self.assertLess(off["found"], 1.1 * off["camera"])
        self.assertLess(1.5 * off["found"], off["zero"])

    def test_14_meaning_of_four_channels_and_none(self):
        text = common.run("probe", self.moving(size=(96, 64))).stdout
        self.assertIn("ViewLayer.Vector.X,ViewLayer.Vector.Y", text)
        self.assertRegex(text, r"declared .* r, .* g\) to the previous frame, px")
        os.mkdir(self.path("bare"))
        for number in (1, 2):
            write(self.path("bare", "c.%d.exr" % number),
                  [("", common.moving_frame(number, WIDTH, HEIGHT)[..., :4],
                    common.BLENDER[:4])])
        self.assertIn("no motion vectors", common.run("probe", self.path("bare")).stdout)
        self.assertIn("no motion vectors", self.upscale(self.path("bare"), "bare out").stderr)

    def test_17_vectors_that_were_cut_off(self):
        """Unity's Recorder keeps no more than half a picture."""
        for name, top in (("at", 0.5), ("below", 0.49)):
            os.mkdir(self.path(name))
            for number in (1, 2):
                pixels = common.moving_frame(number, WIDTH, HEIGHT)[..., :6].copy()
                pixels[..., 4] = -1.25 / WIDTH
                pixels[..., 5] = 0.5 / HEIGHT
                pixels[3, 5, 4] = top
                write(self.path(name, "u.%04d.exr" % number),
                      [("", pixels, list("RGBA") + ["MotionVectors.R", "MotionVectors.G"])])
            options = ["--convention", "unity"]
            result = self.upscale(self.path(name), name + " out", "--no-check", *options)
            self.assertEqual("vectors reach 0.5 from no motion" in result.stderr, name == "at")
            self.assertEqual("vectors reach 0.5" in common.run("probe", self.path(name),
                                                               *options).stdout, name == "at")

    def layers(self, name, names, **options):
        os.makedirs(self.path(name))
        for number in (1, 2):
            pixels = common.moving_frame(number, WIDTH, HEIGHT)
            write(self.path(name, "l.%04d.exr" % number), [
                (part, pixels[..., first:first + len(channels)], channels)
                for part, first, channels in names], **options)
        return self.path(name)

    def test_20_only_named_layers(self):
        source = self.layers("in", [("", 0, ["beauty.R", "beauty.G", "beauty.B"])])
        self.upscale(source, "out", "--quiet")
        self.assertEqual(sorted(self.picture("out", 2, "l.")[1].channelnames),
                         ["beauty.B", "beauty.G", "beauty.R"])
        self.fail_with(1, ["l.0001.exr", "frame 1", "spec", "beauty"], "upscale", source, "-o",
                       self.path("none"), "--layer", "spec")

    def test_21_planes_in_parts_of_their_own(self):
        source = self.layers("in", [("rgba", 0, list("RGBA")), ("depth", 4, ["Z"]),
                                    ("motion", 5, ["X", "Y"])])
        text = self.succeed("inspect", source).stdout
        for words in ("rgba", "depth", "motion"):
            self.assertIn(words, text)
        result = self.upscale(source, "out", "--set", "motion.sign_y=-1")
        for words in ("no depth", "no motion"):
            self.assertNotIn(words, result.stderr)

    def test_22_no_default_layer(self):
        """The only candidate is taken; of several the one that is asked for."""
        self.upscale(self.layers("one", [("", 0, ["a.R", "a.G", "a.B"])]), "one out", "--quiet")
        source = self.layers("two", [("", 0, ["a.R", "a.G", "a.B", "b.R", "b.G", "b.B"])])
        for layer in "ab":
            self.upscale(source, layer, "--quiet", "--layer", layer)
            names = self.picture(layer, 2, "l.")[1].channelnames
            self.assertEqual(sorted(names), [layer + "." + c for c in "BGR"])

    def window(self, name, origin, display):
        os.makedirs(self.path(name))
        for number in (1, 2):
            write(self.path(name, "w.%04d.exr" % number),
                  [("", common.moving_frame(number, WIDTH, HEIGHT), common.BLENDER)],
                  origin=origin, display=display)
        self.upscale(self.path(name), name + " out", "--quiet")
        return self.picture(name + " out", 2, "w.")

    def test_25_negative_data_window(self):
        """Overscan at negative positions: the display window is the picture, nothing moves."""
        pixels, spec = self.window("over", (-4, -2), (0, 0, WIDTH - 8, HEIGHT - 4))
        self.assertEqual((spec.full_x, spec.full_y, spec.full_width, spec.full_height),
                         (0, 0, 2 * WIDTH - 16, 2 * HEIGHT - 8))
        self.assertEqual((spec.x, spec.y), (0, 0))
        small = common.moving_frame(2, WIDTH, HEIGHT)[2:-2, 4:-4, 0]
        red = channel((pixels, spec), "ViewLayer.Combined.R")
        np.testing.assert_allclose(
            red.reshape(HEIGHT - 4, 2, WIDTH - 8, 2).mean((1, 3))[4:-4, 4:-4], small[4:-4, 4:-4],
            atol=0.12)

    def test_26_data_window_elsewhere(self):
        """Windows grow with the picture; a data window beside the display window is empty."""
        _, spec = self.window("part", (8, 4), (0, 0, 80, 48))
        self.assertEqual((spec.x, spec.y, spec.width, spec.height),
                         (16, 8, 2 * WIDTH, 2 * HEIGHT))
        pixels, spec = self.window("beside", (100, 4), (0, 0, 80, 48))
        self.assertEqual((spec.full_width, spec.full_height), (160, 96))
        self.assertEqual(abs(pixels).max(), 0)

    def test_28_more_than_a_half_float_holds(self):
        def bright(number, pixels):
            pixels[8:16, 8:24, :3] = 60000
            pixels[16:24, 8:24, :3] = 2e6
        for number in range(1, 4):
            pixels = common.moving_frame(number, WIDTH, HEIGHT)
            bright(number, pixels)
            os.makedirs(self.path("in"), exist_ok=True)
            common.write_exr(self.path("in", "f_%04d.exr" % number), pixels, common.BLENDER)
        for depth, top in (("half", 65504), ("float", 3e6)):
            self.succeed("upscale", self.path("in"), "-o", self.path(depth), "--device", "cpu",
                         "--model", "taau", "--depth", depth, "--quiet")
            got = rgb(self.picture(depth, 3))
            self.assertTrue(np.isfinite(got).all(), depth)
            self.assertGreater(got.max(), 50000)
            self.assertLessEqual(got.max(), top)

    def test_29_written_without_loss(self):
        """DWA and tiles of the input are not handed on to data channels."""
        source = self.layers("in", [("", 0, common.BLENDER)], tile=16, compression="dwaa")
        self.upscale(source, "out", "--aux", "all", "--quiet")
        spec = self.picture("out", 2, "l.")[1]
        self.assertEqual(spec["compression"], "zip")
        self.assertEqual(spec.tile_width, 0)

    def test_32_numbers_of_any_kind(self):
        for name, numbers, text in (("neg", range(-2, 2), "n.%05d.exr"),
                                    ("long", (998, 999, 1000, 1001), "n.%03d.exr"),
                                    ("bare", (9, 10, 11), "n%d.exr")):
            os.mkdir(self.path(name))
            for number in numbers:
                common.write_exr(self.path(name, text % number),
                                 common.moving_frame(number, WIDTH, HEIGHT), common.BLENDER)
            self.upscale(self.path(name), name + " out", "--quiet")
            self.assertEqual(self.names(name + " out"), self.names(name))

    def test_cut_that_nobody_tells(self):
        """Vectors of zero over a cut: the old picture must not shine through."""
        def scene(number):
            frame = common.moving_frame(0, WIDTH, HEIGHT)[..., :4]
            if number > 4:
                frame[..., :3] = frame[::-1, ::-1, [2, 0, 1]] * 0.5 + 0.3
            return frame
        depth = np.full((HEIGHT, WIDTH, 1), 4.0)
        source = self.still("in", range(1, 9), scene, depth=depth)
        for name, extra in (("told", ["--reset-at", "5"]), ("not", [])):
            self.upscale(source, name, "--quiet", "--no-check", *extra)
        for number in (5, 6, 8):
            told, found = (rgb(self.picture(name, number)) for name in ("told", "not"))
            self.assertLess(abs(told - found).mean(), 0.02, number)

    def test_vectors_longer_than_the_picture(self):
        """No history, rather than a smear from the border."""
        def far(number, pixels):
            if number > 3:
                pixels[..., 5:] = 1e6
        self.upscale(self.moving(change=far), "a", "--quiet", "--no-check")
        self.upscale(self.moving("b in"), "b", "--quiet", "--reset-at", "4,5,6")
        for number in (4, 6):
            np.testing.assert_allclose(rgb(self.picture("a", number)),
                                       rgb(self.picture("b", number)), atol=1e-3)

    def test_odd_sizes(self):
        """Any size; below 16 pixels a side bicubic takes the place of models."""
        sizes = ((1, 1), (3, 5), (1, 40), (7, 1), (15, 16), (15, 31), (16, 16), (33, 17))
        for width, height in sizes:
            name = "%dx%d" % (width, height)
            source = self.moving(name, range(1, 4), size=(width, height))
            small = min(width, height) < 16
            for model in ("bicubic", "nearest", "taau", "quality", "atrous"):
                out = name + model
                result = self.upscale(source, out, "--quiet", model=model)
                instead = small and model not in ("bicubic", "nearest")
                self.assertEqual(result.stderr.count("bicubic is used instead"), instead, out)
                if instead:
                    np.testing.assert_array_equal(rgb(self.picture(out, 3)),
                                                  rgb(self.picture(name + "bicubic", 3)))
                self.assertEqual(self.names(out), ["f_%04d.exr" % n for n in (1, 2, 3)])
                pixels = rgb(self.picture(out, 3))
                self.assertEqual(pixels.shape, (2 * height, 2 * width, 3))
                self.assertTrue(np.isfinite(pixels).all())
            self.assertIn(common.run("probe", source).returncode, (0, 4))

    def test_infinite_depth_and_bad_planes(self):
        """Depth that is Inf, NaN, 0 or negative, vectors that are NaN or Inf."""
        def spoil(_number, pixels):
            pixels[:8, :, 4] = np.inf
            pixels[8:10, :, 4] = np.nan
            pixels[10:12, :, 4] = 0
            pixels[12:14, :, 4] = -3
            pixels[20:22, :, 5] = np.nan
            pixels[22:24, :, 6] = -np.inf
        result = self.upscale(self.moving(change=spoil), "out")
        self.assertEqual(result.stderr.count("vectors are NaN or infinite and count as missing"), 1)
        self.assertIn("%d vectors in 6 frames were NaN or infinite" % (6 * 4 * WIDTH),
                      result.stderr)
        for number in range(1, 7):
            got = rgb(self.picture("out", number))
            small = common.moving_frame(number, WIDTH, HEIGHT)[..., :3]
            self.assertTrue(np.isfinite(got).all())
            self.assertLess(abs(got.reshape(HEIGHT, 2, WIDTH, 2, 3).mean((1, 3)) - small).mean(),
                            0.08)

    def test_as_many_frames_out_as_in(self):
        source = self.moving(numbers=(1, 2, 3, 5, 6))
        for missing, count in (("skip", 5), ("hold", 6)):
            self.upscale(source, missing, "--quiet", "--missing", missing)
            self.assertEqual(len(self.names(missing)), count)
        self.fail_with(1, ["1 of the frames 1 to 6", "missing: 4"], "upscale", source, "-o",
                       self.path("none"))

    def test_planes_that_do_not_fit(self):
        """What is wrong is told with file, frame, plane, what was expected and what was found."""
        source = self.moving(numbers=(1, 2))
        os.mkdir(self.path("z"))
        for number in (1, 2):
            write(self.path("z", "z.%04d.exr" % number),
                  [("", np.ones((HEIGHT, WIDTH if number == 1 else 20, 1)), ["Z"])])
        self.fail_with(1, ["z.0002.exr", "frame 2", "depth", "expected 48x32", "found 20x32"],
                       "upscale", source, "-o", self.path("out"), "--plane",
                       "depth=" + self.path("z", "z.####.exr"))
        os.remove(self.path("z", "z.0002.exr"))
        self.fail_with(1, ["z.0002.exr", "frame 2", "depth"], "upscale", source, "-o",
                       self.path("out"), "--plane", "depth=" + self.path("z", "z.####.exr"))
        with open(self.path("in", "frames.json"), "w", encoding="utf-8") as file:
            json.dump({"frames": [{"frame": 1, "jitter": [0, "x"]}]}, file)
        self.fail_with(1, ["frames.json", "frames[0].jitter", "a number", '"x"'], "upscale",
                       source, "-o", self.path("out"))


if __name__ == "__main__":
    common.main()
