# SPDX-License-Identifier: MIT
"""hindsight probe: what it finds out about sequences that are stored in one way or another."""
import json
import os
import shutil
import unittest

import numpy as np

import common
import measure_probe

SIZE = (96, 64)


class Clip:
    """A clip of raw planes whose numbers can be changed: planes by name, frames.json as `json`."""

    FORMATS = {"color": ("rgba16f", np.float16, 4), "depth": ("r32f", np.float32, 1),
               "motion": ("rg32f", np.float32, 2), "normal": ("rgba16f", np.float16, 4),
               "diffuse_albedo": ("rgba16f", np.float16, 4)}

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "frames.json"), encoding="utf-8") as file:
            self.json = json.load(file)

    def change(self, plane, how):
        """how(pixels [h, w, channels], frame) gives other pixels."""
        _, kind, channels = self.FORMATS[plane]
        for frame in self.json["frames"]:
            path = os.path.join(self.folder, frame[plane])
            pixels = np.fromfile(path, kind).reshape(SIZE[1], SIZE[0], channels)
            np.ascontiguousarray(how(pixels.astype(np.float32), frame).astype(kind)).tofile(path)

    def save(self):
        with open(os.path.join(self.folder, "frames.json"), "w", encoding="utf-8") as file:
            json.dump(self.json, file)


def radical_inverse(i, base):
    out, f = 0, 1
    while i:
        f /= base
        out += f * (i % base)
        i //= base
    return out


class Probe(common.Case):
    def clip(self, name, *args, pattern="random", seed=7):
        folder = self.path(name)
        self.succeed("render", pattern, "--seed", seed, "-n", 8, "--render-size", "%dx%d" % SIZE,
                     "--no-reference", "--device", "cpu", "--format", "raw", "-o", folder, *args)
        return Clip(folder)

    def probe(self, what, code, *args):
        """What is found, as JSON, and the exit code is this one."""
        result = common.run("probe", getattr(what, "folder", what), "--json", "-", *args)
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        return json.loads(result.stdout)

    def assert_note(self, got, words, warning=True):
        notes = [note["text"] for note in got["notes"] if note["warning"] == warning]
        self.assertTrue(any(words in text for text in notes), got["notes"])

    def assert_no_note(self, got, words):
        self.assertFalse(any(words in note["text"] for note in got["notes"]), got["notes"])


class Motion(Probe):
    def test_sample_fits(self):
        got = self.probe(common.SAMPLE, 0)
        self.assertEqual(got["preset"], "blender")
        self.assertEqual(got["options"], "--convention blender")
        self.assertEqual(got["planes"]["motion"], "ViewLayer.Vector.X,ViewLayer.Vector.Y")
        known = got["motion"]["known"]
        self.assertTrue(known["sign_x"] and known["sign_y"] and known["swap"] and known["scale"])
        self.assertGreater(got["motion"]["next_best"]["loss"], 0.5)
        self.assertEqual(got["depth"]["kind"], "linear")
        self.assertTrue(got["jitter"]["sure"] and got["jitter"]["fits"])
        self.assertTrue(got["sky"]["unwritten"])

    def test_every_variant_of_the_sample(self):
        os.mkdir(self.path("in"))
        shutil.copy(os.path.join(common.SAMPLE, "frames.json"), self.path("in"))
        frames = []
        for n in range(5, 9):
            pixels, _ = common.read_image(os.path.join(common.SAMPLE, "bridge_%04d.exr" % n))
            frames.append(pixels)
        names = list(common.read_image(os.path.join(common.SAMPLE, "bridge_0005.exr"))[1]
                     .channelnames)
        at = [names.index("ViewLayer." + c) for c in ("Vector.X", "Vector.Y")]
        variants = [v for v in measure_probe.variants()[:24] if v["unit"] != "ndc"]
        self.assertEqual(len(variants), 16)
        for k, variant in enumerate(variants):
            for i, pixels in enumerate(frames, 5):
                stored = pixels.copy()
                mv = pixels[..., at] * np.array([1, -1], np.float32)
                stored[..., at] = measure_probe.encode(mv, variant, *common.SAMPLE_SIZE)
                common.write_exr(self.path("in", "f.%04d.exr" % i), stored, names)
            result = common.run("probe", self.path("in"), "--json", "-")
            self.assertIn(result.returncode, (0, 3))
            got = json.loads(result.stdout)
            with self.subTest(variant=variant, options=got["options"]):
                best = got["motion"]["best"]
                sign = -1 if best["direction"] == "next" else 1
                self.assertEqual(best["swap"], bool(variant["swap"]))
                np.testing.assert_allclose(
                    np.multiply(best["pixels"], sign),
                    measure_probe.factors(variant, *common.SAMPLE_SIZE), rtol=1e-4)
                if k % 5 == 0:  # What it prints is what makes it fit.
                    again = common.run("probe", self.path("in"), *got["options"].split())
                    self.assertEqual(again.returncode, 0, again.stdout)

    def test_random_clips(self):
        """A few of what measure_probe.py does with many."""
        wrong, right, moving = [], 0, 0
        for seed in (3, 4, 6, 10, 11, 17):
            clip = self.clip(str(seed), "--planes", "colour,depth,motion,diffuse_albedo",
                             seed=seed)
            variant = measure_probe.variants()[seed * 5 % 24]
            truths, stored, size = measure_probe.store(clip.folder, variant)
            got, _ = measure_probe.probe(common.PROGRAM, clip.folder)
            result, _ = measure_probe.judge(got, truths[1:], stored[1:], variant, size)
            # A clip that hardly moves may leave probe unsure.
            lengths = np.concatenate([np.linalg.norm(t, axis=-1).ravel() for t in truths[1:]])
            moves = np.percentile(lengths[np.isfinite(lengths)], 75) >= 0.5
            moving += moves
            right += moves and result == "right"
            if result == "wrong":
                wrong.append((seed, variant, got["options"]))
        self.assertEqual(wrong, [])
        self.assertGreaterEqual(moving, 3)
        self.assertGreaterEqual(right, moving - 1)

    def test_unsure_where_nothing_moves(self):
        got = self.probe(self.clip("still", "--still"), 4)
        self.assertEqual(got["verdict"], "unsure")
        for name in ("flat", "one"):
            for number in range(1, 5 if name == "flat" else 2):
                pixels = common.moving_frame(number, 64, 40)
                if name == "flat":
                    pixels[..., :3] = 0.5
                os.makedirs(self.path(name), exist_ok=True)
                common.write_exr(self.path(name, "f.%d.exr" % number), pixels, common.BLENDER)
            self.probe(self.path(name), 4)
        # Pictures without vectors, in motion: nothing is said about jitter.
        self.assertFalse(self.probe(common.REFERENCE, 4)["jitter"]["sure"])

    def test_an_axis_that_does_not_move_stays_as_declared(self):
        picture = np.random.default_rng(3).random((48, 160, 3), np.float32)
        for _ in range(2):
            picture = (picture + np.roll(picture, 1, 0) + np.roll(picture, 1, 1)) / 3
        os.mkdir(self.path("in"))
        for number in range(1, 6):
            pixels = common.moving_frame(number, 64, 48)
            pixels[..., :3] = np.roll(picture, 2 * number, 1)[:, :64]
            pixels[..., 5:] = (-2, 0, -2, 0)
            common.write_exr(self.path("in", "f.%d.exr" % number), pixels, common.BLENDER)
        for preset, y in (("blender", -1), ("blender", 1), ("raw", -1)):
            with self.subTest(preset=preset, sign_y=y):
                channels = "motion.channels=ViewLayer.Vector.X,ViewLayer.Vector.Y"
                options = ["--convention", preset, "--set", channels,
                           "--set", "color.channels=ViewLayer.Combined.R,ViewLayer.Combined.G,"
                           "ViewLayer.Combined.B", "--set", "motion.sign_y=%d" % y]
                self.assertEqual(self.probe(self.path("in"), 0, *options)["verdict"], "fits")
                got = self.probe(self.path("in"), 3, *options, "--set", "motion.sign_x=-1")
                self.assertFalse(got["motion"]["known"]["sign_y"])
                self.assertEqual(np.sign(got["motion"]["best"]["pixels"]).tolist(), [1, y])

    def test_zero_vectors(self):
        clip = self.clip("zero")
        clip.change("motion", lambda v, _: 0 * v)
        got = self.probe(clip, 3)
        self.assertEqual(got["motion"]["verdict"], "zero")
        self.assert_note(got, "motion blur off")
        # Nothing moves: zero is right.
        still = self.clip("still", "--still")
        still.change("motion", lambda v, _: 0 * v)
        self.assertEqual(self.probe(still, 4)["motion"]["verdict"], "unsure")

    def test_shutter(self):
        clip = self.clip("half")
        clip.change("motion", lambda v, _: 0.5 * v)
        got = self.probe(clip, 3)
        self.assertAlmostEqual(got["motion"]["factor"], 2)
        self.assertIn("motion.scale_x=2", got["options"])
        self.assert_note(got, "0.5 times a frame's motion")

    def test_vectors_longer_than_the_picture(self):
        words = "vectors lead out of the picture: half of them are longer than "
        plain, huge, flat = (self.path(name) for name in ("plain", "huge", "flat"))

        def enlarge(_number, pixels):
            pixels[..., 5:] *= 1000

        def wipe(_number, pixels):
            pixels[..., :3] = 0.5
        common.write_moving(plain, range(1, 7), 128, 80)
        common.write_moving(huge, range(1, 7), 128, 80, change=enlarge)
        common.write_moving(flat, range(1, 7), 128, 80, change=wipe)
        self.assert_no_note(self.probe(plain, 3), words)  # Its shifts look like a jitter.
        self.assert_no_note(self.probe(flat, 4), words)
        for source, settings, fits in (
                (plain, ["motion.unit=uv"],
                 "164.9 pixels at 128x80; taken as pixels they would be 1.35 long: "
                 "--set motion.unit=px"),
                (plain, ["motion.scale_x=900", "motion.scale_y=900"],
                 "1.35 long: --set motion.scale_x=1 --set motion.scale_y=1"),
                (flat, ["motion.unit=uv", "motion.scale_x=-2", "motion.scale_y=2",
                        "motion.bias_x=0.5", "motion.bias_y=0.5"],
                 "--set motion.unit=px --set motion.scale_x=-1 --set motion.scale_y=1 "
                 "--set motion.bias_x=0 --set motion.bias_y=0"),
                (huge, [], "motion.scale_x and motion.scale_y are too large: less than 0.095 and")):
            options = [text for setting in settings for text in ("--set", setting)]
            got = self.probe(source, 3, *options)
            self.assert_note(got, words)
            self.assert_note(got, fits)
            self.assertTrue(got["motion"]["too_long"])
            result = common.run("upscale", source, "-o", self.path("out"), "--end", 4, "--model",
                                "taau", "--overwrite", *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr.count("warning: " + words), 1, result.stderr)
            self.assertIn(fits, result.stderr)
        # Refused, and told why.
        self.fail_with(1, [words, "taken as pixels", "never measured"], "upscale", plain, "-o",
                       self.path("out"), "--overwrite", "--convention", "godot", "--set",
                       "color.channels=*.Combined.R,*.Combined.G,*.Combined.B", "--set",
                       "motion.channels=*.Vector.X,*.Vector.Y")

    def test_averaged_silhouettes(self):
        clip = self.clip("sharp", pattern="disocclusion")
        self.assertFalse(self.probe(clip, 0)["silhouettes"]["averaged"])

        def average(v, _):
            padded = np.pad(v, ((1, 1), (1, 1), (0, 0)), "edge")
            return sum(padded[y:y + v.shape[0], x:x + v.shape[1]]
                       for y in range(3) for x in range(3)) / 9
        clip.change("motion", average)
        self.assertTrue(self.probe(clip, 0)["silhouettes"]["averaged"])


class Others(Probe):
    def test_jitter(self):
        clip = self.clip("signs")
        for frame in clip.json["frames"]:
            frame["jitter"][1] *= -1
        clip.save()
        got = self.probe(clip, 3)
        self.assertEqual((got["jitter"]["sign_x"], got["jitter"]["sign_y"]), (1, -1))
        self.assertIn("--set jitter.sign_y=-1", got["options"])
        self.probe(clip, 0, *got["options"].split())
        true = np.array([frame["jitter"] for frame in clip.json["frames"]]) * (1, -1)
        for frame in clip.json["frames"]:
            del frame["jitter"]
        clip.save()
        got = self.probe(clip, 3)["jitter"]
        self.assertTrue(got["present"])
        named = [[radical_inverse(got["halton_index"] + i, base) for base in (2, 3)]
                 for i in range(len(true))]
        named = (np.array(named) - 0.5) * got["halton_sign"]
        np.testing.assert_allclose(np.diff(named, axis=0), np.diff(true, axis=0), atol=0.2)
        none = self.clip("none", "--no-jitter")
        self.assertTrue(self.probe(none, 0)["jitter"]["fits"])
        for i, frame in enumerate(none.json["frames"]):
            frame["jitter"] = [0.4 - 0.8 * (i % 2), 0.3 * (i % 3) - 0.3]
        none.save()
        self.assert_note(self.probe(none, 3), "the pictures have none")

    def test_jittered_vectors(self):
        clip = self.clip("contained")
        jitter = [frame["jitter"] for frame in clip.json["frames"]]

        def contain(v, frame):
            i = frame["frame"]
            # A point is drawn at its place minus the jitter.
            return v + (np.subtract(jitter[i], jitter[i - 1]) if i else 0)
        clip.change("motion", contain)
        got = self.probe(clip, 3)
        self.assertIn("--set motion.jittered=1", got["options"])
        self.probe(clip, 0, *got["options"].split())

    def test_depth(self):
        clip = self.clip("depth", pattern="disocclusion")
        self.assertEqual(self.probe(clip, 0)["depth"]["kind"], "linear")
        clip.change("depth", lambda z, _: 0.1 / z)
        got = self.probe(clip, 3)
        self.assertEqual(got["depth"]["kind"], "hardware_inverted")
        self.assertIn("--set depth.kind=hardware_inverted", got["options"])
        self.probe(clip, 0, *got["options"].split())
        clip.change("depth", lambda z, _: 1 - z)
        got = self.probe(clip, 3)
        self.assertEqual(got["depth"]["kind"], "hardware")
        self.probe(clip, 0, *got["options"].split())

    def test_noise(self):
        args = ("--mode", "path", "--spp", 4)
        self.assertFalse(self.probe(self.clip("new", *args), 0)["noise"]["sticks"])
        got = self.probe(self.clip("fixed", "--fixed-noise", *args), 0)
        self.assertTrue(got["noise"]["sticks"])
        self.assert_note(got, "another seed")

    def test_guides(self):
        clip = self.clip("guides")
        got = self.probe(clip, 0)
        self.assertFalse(got["normals"]["unsigned"])
        self.assertEqual(got["normals"]["space"], "world")
        self.assert_no_note(got, "albedo")
        views = [np.array(frame["view"])[:3, :3] for frame in clip.json["frames"]]

        def to_view(n, frame):
            n[..., :3] = n[..., :3] @ views[frame["frame"]].T
            return n
        clip.change("normal", to_view)
        got = self.probe(clip, 0)
        self.assertEqual(got["normals"]["space"], "view")
        self.assertIn("normal.space=view", got["options"])
        clip.change("normal", lambda n, _: np.where(abs(n).sum(-1, keepdims=True) > 0.1,
                                                    0.5 * n + 0.5, 0))
        got = self.probe(clip, 0)
        self.assertTrue(got["normals"]["unsigned"])
        self.assertIn("normal.range=unsigned", got["options"])
        clip.change("diffuse_albedo", lambda a, _: 4 * a)
        self.assert_note(self.probe(clip, 0), "albedo goes beyond")


class Presets(Probe):
    # What renderers store for vectors (x, y), previous minus current, pixels, y down, of a picture
    # of w x h, as their documentation has it.
    STORED = {
        "raw": lambda x, y, w, h: (x, y),
        "blender": lambda x, y, w, h: (x, -y),
        "unreal": lambda x, y, w, h: (0.5 - x / (2 * w), 0.5 + y / (2 * h)),
        "unreal_velocity": lambda x, y, w, h: (
            -x * 2 / w * 0.499 * 0.5 + 32767 / 65535, y * 2 / h * 0.499 * 0.5 + 32767 / 65535),
        "unity": lambda x, y, w, h: (-x / w, -y / h),
        "godot": lambda x, y, w, h: (x / w, y / h),
        "fsr": lambda x, y, w, h: (2 * x / w, -2 * y / h),
        "xess": lambda x, y, w, h: (x, y),
        "dlss": lambda x, y, w, h: (x, y),
        "nss": lambda x, y, w, h: (x / w, y / h),
        "nrd": lambda x, y, w, h: (x / w, y / h),
        "streamline": lambda x, y, w, h: (x / w, y / h),
        "optix": lambda x, y, w, h: (x, y),
        "arnold": lambda x, y, w, h: (x, -y),
        "renderman": lambda x, y, w, h: (x, y),
        "houdini": lambda x, y, w, h: (2 * x / w, -2 * y / h),
        "nuke": lambda x, y, w, h: (x, -y),
    }

    def test_each_fits_what_it_is_for(self):
        names = [line.split()[0] for line in self.succeed("inspect", "--presets").stdout
                 .splitlines()]
        # Vectors to the next frame are not made from a plane of the other direction here.
        self.assertEqual(sorted(self.STORED),
                         sorted(set(names) - {"vray", "nuke_forward", "sintel"}))
        clip = self.clip("clip", "--planes", "colour,motion", pattern="orbit")
        motion = {frame["motion"]: None for frame in clip.json["frames"]}
        for path in motion:
            motion[path] = np.fromfile(os.path.join(clip.folder, path), np.float32)
        for name, stored in self.STORED.items():
            for path, vectors in motion.items():
                v = vectors.reshape(-1, 2).astype(np.float64)
                np.stack(stored(v[:, 0], v[:, 1], *SIZE), -1).astype(np.float32).tofile(
                    os.path.join(clip.folder, path))
            clip.json["convention"] = {"preset": name}
            clip.save()
            with self.subTest(preset=name):
                got = self.probe(clip, 0)
                self.assertEqual(got["declared"], name)
                self.assertEqual(got["options"], "--convention " + name)
                known = got["motion"]["known"]
                self.assertTrue(known["sign_x"] and known["swap"] and known["scale"], known)
                np.testing.assert_allclose(
                    measure_probe.decode(np.stack(stored(v[:, 0], v[:, 1], *SIZE), -1),
                                         got["motion"]["best"], *SIZE), v, atol=1e-3)


class Command(Probe):
    def test_text_and_usage(self):
        text = self.succeed("probe", common.SAMPLE).stdout
        for words in ("convention blender", "next best", "no motion", "linear (proven)", "verdict",
                      "options         --convention blender"):
            self.assertIn(words, text)
        self.assertIn("3 it does not fit, 4 the frames do not tell",
                      self.succeed("probe", "--help").stdout)
        self.assertEqual(self.succeed("probe", common.SAMPLE, "--options").stdout,
                         "--convention blender\n")
        self.fail_with(1, ["nothing.exr"], "probe", self.path("nothing.exr"))
        self.fail_with(1, ["--start 99 leaves no frame"], "probe", common.SAMPLE, "--start", 99)
        self.fail_with(2, ["--frames"], "probe", common.SAMPLE, "--frames", 1)
        self.fail_with(2, ["not one of"], "probe", common.SAMPLE, "--convention", "what")

    def upscale(self, name, *args):
        """What it says, and a frame that has history."""
        result = self.succeed("upscale", common.SAMPLE, "--device", "cpu", "--model", "taau",
                              "--end", 8, "-o", self.path(name), *args)
        return result.stderr, common.read_image(self.path(name, "bridge_0008.exr"))[0]

    def test_upscale_warns_and_uses(self):
        said, right = self.upscale("right")
        self.assertNotIn("warning", said)
        for wrong, words in (("motion.sign_x=-1", "do not fit convention blender"),
                             ("jitter.sign_x=-1", "declared jitter has other signs"),
                             ("depth.kind=hardware", "depth is not of the kind"),
                             ("motion.unwritten=none", "tell more than convention blender")):
            with self.subTest(wrong=wrong):
                said, pixels = self.upscale("wrong" + wrong, "--set", wrong)
                self.assertIn(words, said)
                self.assertIn("--auto does): --convention blender", said)
                self.assertFalse(np.array_equal(pixels, right))
                said, pixels = self.upscale("auto" + wrong, "--set", wrong, "--auto")
                self.assertIn(words, said)
                self.assertIn("convention blender with what --auto found", said)
                np.testing.assert_array_equal(pixels, right)
        said, pixels = self.upscale("not", "--set", "motion.sign_x=-1", "--no-check")
        self.assertNotIn("fit", said)
        self.assertFalse(np.array_equal(pixels, right))


if __name__ == "__main__":
    unittest.main(verbosity=2)
