# SPDX-License-Identifier: MIT
"""hindsight upscale on the bundled sequence and on made ones."""
import json
import os
import shutil

import numpy as np

import common
from common import REFERENCE, SAMPLE, SAMPLE_FRAMES, SAMPLE_SIZE, tone

WIDTH, HEIGHT = SAMPLE_SIZE


def cubic(x):
    x = np.abs(x)
    return np.where(x < 1, (1.5 * x - 2.5) * x * x + 1,
                    np.where(x < 2, ((-0.5 * x + 2.5) * x - 4) * x + 2, 0))


def bicubic(image, out_size, jitter):
    """Cubic with a = -0.5 on x / (1 + x) over samples at index + 0.5 + jitter, edges repeated."""
    def matrix(out, size, shift):
        x = (np.arange(out) + 0.5) * size / out - 0.5 - shift
        weights = np.zeros((out, size))
        for k in range(-1, 3):
            index = np.floor(x).astype(int) + k
            np.add.at(weights, (np.arange(out), index.clip(0, size - 1)), cubic(x - index))
        return weights
    height, width = image.shape[:2]
    image = image / (1 + image)
    image = np.einsum("ya,xb,abc->yxc", matrix(out_size[1], height, jitter[1]),
                      matrix(out_size[0], width, jitter[0]), image, optimize=True)
    image = image.clip(0, None)
    return image / (1 - image)


class Sample(common.Case):
    def test_frames_names_and_quality(self):
        result = self.succeed("upscale", SAMPLE, "-o", self.path("out"), "--device", "cpu",
                              "--validate")
        self.assertEqual(self.names("out"), ["bridge_%04d.exr" % n for n in SAMPLE_FRAMES])
        self.assert_no_leftovers("out")
        self.assertIn("12 frames written", result.stderr)
        pixels, spec = common.read_image(self.path("out", "bridge_0016.exr"))
        self.assertEqual(pixels.shape, (2 * HEIGHT, 2 * WIDTH, 4))
        self.assertEqual(sorted(spec.channelnames),
                         ["ViewLayer.Combined." + c for c in "ABGR"])
        self.assertEqual({str(spec.format)}, {"half"})
        self.assertEqual(spec.getattribute("Frame"), "016")
        self.assertTrue(np.isfinite(pixels).all())
        # Opaque stays opaque.
        np.testing.assert_allclose(pixels[..., list(spec.channelnames).index(
            "ViewLayer.Combined.A")], 1, atol=2e-3)

        self.succeed("upscale", SAMPLE, "-o", self.path("cubic"), "--model", "bicubic")
        got = self.compare("mine=" + self.path("out"), "cubic=" + self.path("cubic"), REFERENCE,
                           "--motion", SAMPLE)
        mine, cubic = got["results"]["mine"], got["results"]["cubic"]
        self.assertGreater(mine["psnr"], cubic["psnr"] + 1.4)
        self.assertGreater(mine["ssim"], cubic["ssim"] + 0.035)
        self.assertLess(mine["flicker"], cubic["flicker"] * 0.75)
        for a, b in zip(mine["curve"]["psnr"], cubic["curve"]["psnr"]):
            self.assertGreater(a, b - 0.3)

        # Every sign matters: a flip costs at least half a decibel.
        for flip in (["jitter.sign_x=-1", "jitter.sign_y=-1"], ["motion.sign_x=-1"],
                     ["motion.sign_y=1"]):
            settings = [word for key in flip for word in ("--set", key)]
            self.succeed("upscale", SAMPLE, "-o", self.path("flip"), "--overwrite", "--quiet",
                         "--convention", "blender", *settings)
            flipped = self.compare("flip=" + self.path("flip"), REFERENCE)
            self.assertLess(flipped["psnr_flip"], got["psnr_mine"] - 0.5, flip)

    def test_the_description_beside_the_frames_is_used(self):
        pattern = os.path.join(SAMPLE, "bridge_####.exr")
        one = ["upscale", pattern, "--end", 8, "--quiet"]
        self.succeed(*one, "-o", self.path("with"))
        self.succeed(*one, "-o", self.path("without"), "--no-frames-json")
        self.assertEqual(len(self.names("with")), 4)
        a, _ = common.read_image(self.path("with", "bridge_0008.exr"))
        b, _ = common.read_image(self.path("without", "bridge_0008.exr"))
        self.assertGreater(np.abs(a - b).mean(), 1e-3)
        # The same file named from elsewhere, for frames that lie alone.
        os.mkdir(self.path("alone"))
        for number in range(5, 9):
            shutil.copy(os.path.join(SAMPLE, "bridge_%04d.exr" % number), self.path("alone"))
        self.succeed("upscale", self.path("alone"), "-o", self.path("named"), "--quiet",
                     "--frames-json", os.path.join(SAMPLE, "frames.json"))
        c, _ = common.read_image(self.path("named", "bridge_0008.exr"))
        np.testing.assert_array_equal(a, c)

    def test_forms_of_names(self):
        forms = [os.path.join(SAMPLE, name) for name in
                 ("bridge_%04d.exr", "bridge_####.exr", "bridge_[0005-0007].exr")]
        pictures = []
        for i, form in enumerate(forms):
            out = self.path("f%d" % i, "up.####.exr")
            self.succeed("upscale", form, "-o", out, "--end", 7, "--quiet")
            self.assertEqual(self.names("f%d" % i), ["up.%04d.exr" % n for n in (5, 6, 7)])
            pictures.append(common.read_image(self.path("f%d" % i, "up.0007.exr"))[0])
        np.testing.assert_array_equal(pictures[0], pictures[1])
        np.testing.assert_array_equal(pictures[0], pictures[2])
        self.succeed("upscale", os.path.join(SAMPLE, "bridge_0009.exr"), "-o",
                     self.path("one.exr"), "--quiet")
        self.assertTrue(os.path.exists(self.path("one.exr")))
        self.fail_with(1, ["no place for a frame number"], "upscale", SAMPLE, "-o",
                       self.path("all.exr"))

    def test_png(self):
        args = ["upscale", SAMPLE, "--end", 6, "--quiet"]
        self.succeed(*args, "-o", self.path("float"), "--depth", "float")
        linear, spec = common.read_image(self.path("float", "bridge_0006.exr"))
        self.assertEqual(str(spec.format), "float")
        linear = linear[..., [list(spec.channelnames).index("ViewLayer.Combined." + c)
                              for c in "RGB"]].clip(0, 1)
        srgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
        for bits, curve, wanted in ((8, "srgb", srgb), (16, "srgb", srgb), (8, "none", linear)):
            out = self.path("p-%d-%s" % (bits, curve), "a_%03d.png")
            self.succeed(*args, "-o", out, "--png-bits", bits, "--tone", curve)
            got, spec = common.read_image(out % 6)
            self.assertEqual(str(spec.format), "uint%d" % bits)
            # Half a step of the file, and half a step of the half floats that were read back.
            step = 1 / (2 ** bits - 1)
            np.testing.assert_allclose(got[..., :3], wanted, atol=0.5 * step + 1.1e-3)

    def test_bicubic_and_nearest_know_the_jitter(self):
        with open(os.path.join(SAMPLE, "frames.json"), encoding="utf-8") as file:
            jitter = {f["frame"]: f["jitter"] for f in json.load(file)["frames"]}
        for model in ("bicubic", "nearest"):
            self.succeed("upscale", SAMPLE, "-o", self.path(model), "--model", model, "--start",
                         11, "--end", 11, "--depth", "float", "--quiet")
        source, spec = common.read_image(os.path.join(SAMPLE, "bridge_0011.exr"))
        rgba = [list(spec.channelnames).index("ViewLayer.Combined." + c) for c in "RGBA"]
        wanted = bicubic(source[..., rgba[:3]], (2 * WIDTH, 2 * HEIGHT), jitter[11])
        got, spec = common.read_image(self.path("bicubic", "bridge_0011.exr"))
        order = [list(spec.channelnames).index("ViewLayer.Combined." + c) for c in "RGBA"]
        np.testing.assert_allclose(got[..., order[:3]], wanted, atol=1e-4, rtol=1e-4)
        np.testing.assert_allclose(got[..., order[3]], 1, atol=1e-6)
        got, _ = common.read_image(self.path("nearest", "bridge_0011.exr"))
        x = np.round((np.arange(2 * WIDTH) + 0.5) / 2 - 0.5 - jitter[11][0])
        y = np.round((np.arange(2 * HEIGHT) + 0.5) / 2 - 0.5 - jitter[11][1])
        wanted = source[y.astype(int).clip(0, HEIGHT - 1)][:, x.astype(int).clip(0, WIDTH - 1)]
        self.assertLess((got[..., order] != wanted[..., rgba]).mean(), 0.01)


class Described(common.Case):
    """Raw planes with a JSON description."""

    def write(self, frames, **top):
        with open(self.path("shot.json"), "w", encoding="utf-8") as file:
            json.dump({"frames": frames, "output": {"width": 2 * WIDTH, "height": 2 * HEIGHT},
                       **top}, file)

    def write_planes(self, number):
        """The planes of a sample frame as raw files; gives the frame's description."""
        pixels, spec = common.read_image(os.path.join(SAMPLE, "bridge_%04d.exr" % number))
        names = list(spec.channelnames)
        frame = {"number": number, "width": WIDTH, "height": HEIGHT}
        for plane, channels, kind in (("color", ["Combined." + c for c in "RGBA"], "rgba16f"),
                                      ("depth", ["Depth.Z"], "r32f"),
                                      ("motion", ["Vector.X", "Vector.Y"], "rg32f")):
            frame[plane] = "%s_%d.%s" % (plane, number, kind)
            pixels[..., [names.index("ViewLayer." + c) for c in channels]].astype(
                "<f2" if kind.endswith("16f") else "<f4").tofile(self.path(frame[plane]))
        return frame

    def test_raw_planes_give_the_same_picture_as_exr(self):
        with open(os.path.join(SAMPLE, "frames.json"), encoding="utf-8") as file:
            known = {f["frame"]: f for f in json.load(file)["frames"]}
        frames = []
        for number in (5, 6, 7):
            frame = self.write_planes(number)
            frame.update({key: known[number][key] for key in ("jitter", "view", "proj")})
            frames.append(frame)
        self.write(frames, convention={"preset": "blender"})
        self.succeed("upscale", self.path("shot.json"), "-o", self.path("out"), "--quiet")
        self.assertEqual(self.names("out"), ["shot.%04d.exr" % n for n in (5, 6, 7)])
        self.succeed("upscale", SAMPLE, "--end", 7, "-o", self.path("exr"), "--quiet")
        got, spec = common.read_image(self.path("out", "shot.0007.exr"))
        wanted, other = common.read_image(self.path("exr", "bridge_0007.exr"))
        self.assertEqual(sorted(spec.channelnames), ["A", "B", "G", "R"])
        for c in "RGBA":
            np.testing.assert_array_equal(
                got[..., list(spec.channelnames).index(c)],
                wanted[..., list(other.channelnames).index("ViewLayer.Combined." + c)])

        # Sharpness, exposure and cuts come from the description, too.
        for key, value in (("sharpness", 0.9), ("exposure", 30), ("reset", True)):
            frames[2][key] = value
            self.write(frames, convention={"preset": "blender"})
            self.succeed("upscale", self.path("shot.json"), "-o", self.path(key), "--quiet")
            changed, _ = common.read_image(self.path(key, "shot.0007.exr"))
            self.assertGreater(np.abs(changed - got).max(), 1e-3, key)
            del frames[2][key]

    def test_render_size_may_change(self):
        frames = [self.write_planes(5)]
        small = {"number": 6, "width": 150, "height": 80, "color": "small.rgba32f"}
        np.full((80, 150, 4), 0.5, "<f4").tofile(self.path("small.rgba32f"))
        self.write(frames + [small], convention={"preset": "blender"})
        result = self.succeed("upscale", self.path("shot.json"), "-o", self.path("out"))
        self.assertIn("frame 6 is 150x80", result.stderr)
        pixels, _ = common.read_image(self.path("out", "shot.0006.exr"))
        self.assertEqual(pixels.shape, (2 * HEIGHT, 2 * WIDTH, 4))
        self.fail_with(1, ["depth", "expected 204x114, found 10x10"], *self.small_depth())

    def small_depth(self):
        frame = self.write_planes(7)
        np.zeros((10, 10), "<f4").tofile(self.path("d.r32f"))
        frame["depth"] = {"file": "d.r32f", "width": 10, "height": 10}
        self.write([frame])
        return ["upscale", self.path("shot.json"), "-o", self.path("bad")]


class Made(common.Case):
    def setUp(self):
        super().setUp()
        common.write_moving(self.path("in"), range(1, 6))

    def test_sizes(self):
        self.succeed("upscale", self.path("in"), "-o", self.path("a"), "--scale", 1.5, "--quiet")
        self.assertEqual(common.read_image(self.path("a", "f_0003.exr"))[0].shape, (60, 96, 4))
        self.succeed("upscale", self.path("in"), "-o", self.path("b"), "--size", "101x83",
                     "--quiet")
        self.assertEqual(common.read_image(self.path("b", "f_0003.exr"))[0].shape, (83, 101, 4))
        self.fail_with(1, ["no upscaling"], "upscale", self.path("in"), "-o", self.path("c"),
                       "--size", "32x20")

    def test_other_channels_are_carried_over(self):
        self.succeed("upscale", self.path("in"), "-o", self.path("out"), "--aux", "all",
                     "--quiet")
        pixels, spec = common.read_image(self.path("out", "f_0002.exr"))
        names = list(spec.channelnames)
        self.assertEqual(sorted(names), sorted(common.BLENDER))
        np.testing.assert_allclose(pixels[..., names.index("ViewLayer.Depth.Z")], 4)
        # Motion in pixels grows with the picture.
        np.testing.assert_allclose(pixels[..., names.index("ViewLayer.Vector.X")], -2.5)
        np.testing.assert_allclose(pixels[..., names.index("ViewLayer.Vector.Y")], -1)
        self.succeed("upscale", self.path("in"), "-o", self.path("low"), "--aux",
                     "viewlayer.vector.*", "--quiet")
        low, spec = common.read_image(self.path("low", "f_0002.exr"))
        for name in ("ViewLayer.Vector.X", "ViewLayer.Vector.Y"):
            np.testing.assert_array_equal(low[..., list(spec.channelnames).index(name)],
                                          pixels[..., names.index(name)])

    def test_windows_grow_with_the_picture(self):
        os.mkdir(self.path("win"))
        for number in (1, 2):
            common.write_exr(self.path("win", "w.%04d.exr" % number),
                             common.moving_frame(number, 64, 40), common.BLENDER,
                             display=(-4, -2, 80, 48))
        self.succeed("upscale", self.path("win"), "-o", self.path("out"), "--quiet")
        pixels, spec = common.read_image(self.path("out", "w.0002.exr"))
        self.assertEqual((spec.full_x, spec.full_y, spec.full_width, spec.full_height),
                         (-8, -4, 160, 96))
        self.assertEqual((spec.x, spec.y, spec.width, spec.height), (0, 0, 128, 80))
        # The pattern is where it was: twice as large, within the blur of a pixel.
        small = common.moving_frame(2, 64, 40)[..., 0]
        red = pixels[..., list(spec.channelnames).index("ViewLayer.Combined.R")]
        np.testing.assert_allclose(red.reshape(40, 2, 64, 2).mean((1, 3))[4:-4, 4:-4],
                                   small[4:-4, 4:-4], atol=0.12)

    def test_planes_from_files_of_their_own(self):
        for folder in ("c", "z", "v"):
            os.mkdir(self.path(folder))
        for number in range(1, 6):
            pixels = common.moving_frame(number, 64, 40)
            for folder, channels in (("c", slice(0, 4)), ("z", slice(4, 5)), ("v", slice(5, 9))):
                common.write_exr(self.path(folder, "%s.%04d.exr" % (folder, number)),
                                 pixels[..., channels], common.BLENDER[channels])
        self.succeed("upscale", self.path("in"), "-o", self.path("one"), "--quiet")
        self.succeed("upscale", self.path("c"), "-o", self.path("apart"), "--quiet",
                     "--convention", "blender", "--plane", "depth=" + self.path("z", "z.####.exr"),
                     "--plane", "motion=" + self.path("v", "v.%04d.exr"))
        a, _ = common.read_image(self.path("one", "f_0005.exr"))
        b, _ = common.read_image(self.path("apart", "c.0005.exr"))
        # Colour was half in one and is float in the other.
        np.testing.assert_allclose(a, b, atol=2e-3)
        self.fail_with(2, ["--plane takes NAME=PATTERN"], "upscale", self.path("c"), "-o", "x",
                       "--plane", "depths=a")

    def test_vectors_of_other_kinds(self):
        """The same movement told to the next frame, as UV, and at output size."""
        kinds = {
            "next": ((40, 64), (1.25, -0.5), ["motion.direction=next"]),
            "uv": ((40, 64), (-1.25 / 64, 0.5 / 40), ["motion.unit=uv"]),
            "display": ((80, 128), (-2.5, 1), ["motion.resolution=display"]),
            "display uv": ((80, 128), (-1.25 / 64, 0.5 / 40),
                           ["motion.resolution=display", "motion.unit=uv"]),
        }
        base = ["upscale", self.path("in"), "--quiet", "--overwrite", "--depth", "float"]
        self.succeed(*base, "-o", self.path("plain"))
        plain, _ = common.read_image(self.path("plain", "f_0005.exr"))
        for name, (size, vector, settings) in kinds.items():
            os.makedirs(self.path(name))
            for number in range(1, 6):
                common.write_exr(self.path(name, "m.%d.exr" % number), np.broadcast_to(
                    np.float32(vector), (*size, 2)), ["motion.X", "motion.Y"])
            args = ["--plane", "motion=" + self.path(name, "m.%d.exr")]
            for setting in ["motion.sign_y=1", *settings]:
                args += ["--set", setting]
            self.succeed(*base, "-o", self.path("out " + name), *args)
            got, _ = common.read_image(self.path("out " + name, "f_0005.exr"))
            np.testing.assert_allclose(got, plain, atol=2e-3, err_msg=name)
            self.succeed(*base, "-o", self.path("wrong"), *args, "--set", "motion.sign_x=-1")
            wrong, _ = common.read_image(self.path("wrong", "f_0005.exr"))
            self.assertGreater(np.abs(wrong - plain).max(), 0.02, name)

    def test_cuts_and_steps(self):
        whole = self.path("whole")
        self.succeed("upscale", self.path("in"), "-o", whole, "--reset-at", "3", "--quiet")
        self.succeed("upscale", self.path("in"), "-o", self.path("part"), "--start", 3, "--quiet")
        for number in (3, 4, 5):
            a, _ = common.read_image(self.path("whole", "f_%04d.exr" % number))
            b, _ = common.read_image(self.path("part", "f_%04d.exr" % number))
            np.testing.assert_array_equal(a, b)
        self.succeed("upscale", self.path("in"), "-o", self.path("step"), "--step", 2, "--quiet")
        self.assertEqual(self.names("step"), ["f_0001.exr", "f_0003.exr", "f_0005.exr"])

    def test_exposure_and_sharpness_change_the_picture(self):
        args = ["upscale", self.path("in"), "--quiet", "--depth", "float"]
        self.succeed(*args, "-o", self.path("plain"))
        plain, _ = common.read_image(self.path("plain", "f_0005.exr"))
        for name, extra in (("one", ["--exposure", "1"]), ("sharp", ["--sharpness", "0.8"])):
            self.succeed(*args, "-o", self.path(name), *extra)
            other, _ = common.read_image(self.path(name, "f_0005.exr"))
            self.assertGreater(np.abs(plain - other).max(), 1e-4, name)
            self.assertLess(np.abs(tone(plain[..., :3]) - tone(other[..., :3])).mean(), 0.05)

    def test_ldr_keeps_code_values(self):
        os.mkdir(self.path("png"))
        flat = np.full((40, 64, 3), 0.5)
        for number in (1, 2, 3):
            common.write_exr(self.path("png", "p_%04d.png" % number), flat)
        self.succeed("upscale", self.path("png"), "-o", self.path("out"), "--ldr", "--quiet")
        got, _ = common.read_image(self.path("out", "p_0003.png"))
        wanted, _ = common.read_image(self.path("png", "p_0003.png"))
        np.testing.assert_allclose(got[..., :3], wanted[0, 0, 0], atol=1.01 / 255)

    def test_a_transparent_edge_stays_where_it_is(self):
        def cut(_number, pixels):
            pixels[:, :32, :4] = 0
            return pixels
        common.write_moving(self.path("alpha"), range(1, 4), change=cut)
        self.succeed("upscale", self.path("alpha"), "-o", self.path("out"), "--quiet")
        pixels, spec = common.read_image(self.path("out", "f_0003.exr"))
        alpha = pixels[..., list(spec.channelnames).index("ViewLayer.Combined.A")]
        self.assertLess(alpha[:, :56].max(), 0.02)
        self.assertGreater(alpha[:, 72:].min(), 0.98)


if __name__ == "__main__":
    common.main()
