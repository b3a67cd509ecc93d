# SPDX-License-Identifier: MIT
"""What hindsight upscale says about input and output that are not as they should be."""
import json
import os
import resource
import subprocess

import numpy as np

import common


class Errors(common.Case):
    def setUp(self):
        super().setUp()
        common.write_moving(self.path("in"), range(1, 7))

    def command(self, *extra, out="out"):
        return ["upscale", self.path("in"), "-o", self.path(out), *extra]

    def test_missing_frame(self):
        os.remove(self.path("in", "f_0003.exr"))
        self.fail_with(1, ["3"], *self.command())
        self.assertFalse(os.path.exists(self.path("out", "f_0001.exr")))
        self.succeed(*self.command("--missing", "skip", out="skip"))
        self.assertEqual(self.names("skip"), ["f_%04d.exr" % n for n in (1, 2, 4, 5, 6)])
        self.succeed(*self.command("--missing", "hold", out="hold"))
        self.assertEqual(self.names("hold"), ["f_%04d.exr" % n for n in range(1, 7)])
        # After a gap history starts anew.
        self.succeed(*self.command("--start", 4, out="anew"))
        a, _ = common.read_image(self.path("skip", "f_0005.exr"))
        b, _ = common.read_image(self.path("anew", "f_0005.exr"))
        np.testing.assert_array_equal(a, b)

    def test_truncated_file(self):
        path = self.path("in", "f_0004.exr")
        os.truncate(path, os.path.getsize(path) * 2 // 3)
        result = self.fail_with(1, ["frame 4", "f_0004.exr", "3 frames were written before"],
                                *self.command())
        self.assertEqual(result.stderr.count("f_0004.exr"), 1)
        self.assertEqual(self.names("out"), ["f_%04d.exr" % n for n in (1, 2, 3)])
        self.assert_no_leftovers("out")
        common.write_moving(self.path("in"), [4])
        self.succeed(*self.command())
        self.succeed(*self.command(out="whole"))
        for name in self.names("whole"):
            a, _ = common.read_image(self.path("out", name))
            b, _ = common.read_image(self.path("whole", name))
            np.testing.assert_array_equal(a, b)

    def test_bad_pixels(self):
        def spoil(number, pixels):
            if number >= 3:
                pixels[10, 12, 0] = np.nan
                pixels[11, 30:32, 1] = np.inf
            return pixels
        common.write_moving(self.path("in"), range(1, 7), change=spoil)
        result = self.succeed(*self.command())
        self.assertIn("frame 3, colour: 3 pixels are NaN or infinite", result.stderr)
        self.assertEqual(result.stderr.count("colour: 3 pixels"), 1)
        self.assertIn("12 pixels in 4 frames", result.stderr)
        for name in self.names("out"):
            self.assertTrue(np.isfinite(common.read_image(self.path("out", name))[0]).all())

    def test_motion_all_zero(self):
        def still(_number, pixels):
            pixels[..., 5:] = 0
            return pixels
        common.write_moving(self.path("in"), range(1, 7), change=still)
        result = self.succeed(*self.command())
        self.assertEqual(result.stderr.count("motion blur off"), 1)
        # Without movement zero is right.
        first = common.moving_frame(1, 64, 40)
        common.write_moving(self.path("in"), range(1, 7),
                            change=lambda n, p: still(n, first.copy()))
        self.assertNotIn("motion blur", self.succeed(*self.command(out="still")).stderr)

    def test_missing_planes_are_told(self):
        os.mkdir(self.path("bare"))
        for number in (1, 2, 3):
            common.write_exr(self.path("bare", "c.%d.exr" % number),
                             common.moving_frame(number, 64, 40)[..., :3])
        result = self.succeed("upscale", self.path("bare"), "-o", self.path("out"))
        self.assertIn("no depth: no disocclusion test", result.stderr)
        self.assertIn("no motion vectors", result.stderr)

    def test_planes_that_a_preset_does_not_find_are_told(self):
        def strip(number, pixels):
            common.write_exr(self.path("in", "f_%04d.exr" % number), pixels[..., :4],
                             common.BLENDER[:4])
        for number in range(1, 7):
            strip(number, common.moving_frame(number, 64, 40))
        looked = 'convention blender takes %s from "*.%s'
        has = "f_0001.exr has ViewLayer.Combined.A, ViewLayer.Combined.B"
        result = self.succeed(*self.command("--convention", "blender"))
        for what, pattern, words in (("motion", "Vector.X,", "no motion vectors: motion comes"),
                                     ("depth", "Depth.Z|", "no depth: no disocclusion test")):
            self.assertIn("warning: " + words, result.stderr)
            self.assertIn(looked % (what, pattern), result.stderr)
            self.assertIn("--plane %s=FILES" % what, result.stderr)
        self.assertEqual(result.stderr.count(has), 2)
        # Nobody chose the preset, and there is nothing but colour: a line is enough.
        result = self.succeed(*self.command("--convention", "auto", out="auto"))
        self.assertIn("hindsight: no motion vectors", result.stderr)
        self.assertNotIn("warning", result.stderr)
        # There is more than colour: perhaps the names are others.
        for number in range(1, 7):
            common.write_exr(self.path("in", "f_%04d.exr" % number),
                             common.moving_frame(number, 64, 40)[..., :7],
                             common.BLENDER[:5] + ["ViewLayer.Flow.X", "ViewLayer.Flow.Y"])
        result = self.succeed(*self.command(out="more"))
        self.assertIn("warning: no motion vectors", result.stderr)
        self.assertIn("ViewLayer.Flow.X", result.stderr)
        self.assertNotIn("no depth", result.stderr)
        for args, code in ((["probe", self.path("in"), "--options"], 4),
                           (["planes", self.path("in"), "-o", self.path("planes")], 0)):
            self.fail_with(code, [looked % ("motion", "Vector.X,"), "ViewLayer.Flow.X"], *args)

    def test_named_channels_are_there(self):
        """A pattern that fits no channel is an error; in some frames only, a warning."""
        there = ["f_0001.exr", "ViewLayer.Combined.A, ViewLayer.Combined.B", "ViewLayer.Depth.Z"]
        for option, value, words in (
                ("--aux", "*.Normal.*", "--aux *.Normal.* fits no channel"),
                ("--aux", "part/*", "--aux part/* fits no channel"),
                ("--aov", "DiffDir", "no layer DiffDir"),
                ("--set", "depth.channels=Foo.Z", "--set depth.channels=Foo.Z fits no channels"),
                ("--set", "roughness.channels=Rough.X", "roughness.channels=Rough.X fits")):
            self.fail_with(1, [words, *there], *self.command(option, value))
            self.assertFalse(os.path.exists(self.path("out")) and self.names("out"))
        for command in (["probe", self.path("in")],
                        ["planes", self.path("in"), "-o", self.path("planes")]):
            self.fail_with(1, ["--set depth.channels=Foo.Z fits no channels", *there], *command,
                           "--set", "depth.channels=Foo.Z")
        # The last one counts, and an empty one means that the plane is not wanted.
        self.succeed(*self.command("--set", "depth.channels=Foo.Z", "--set", "depth.channels=",
                                   out="empty"))
        for number in (2, 5):
            common.write_exr(self.path("in", "f_%04d.exr" % number),
                             common.moving_frame(number, 64, 40)[..., [0, 1, 2, 3, 5, 6]],
                             common.BLENDER[:4] + common.BLENDER[5:7])
        result = self.succeed(*self.command("--aux", "*.Depth.Z", "--set",
                                            "depth.channels=ViewLayer.Depth.Z", out="some"))
        self.assertIn("warning: --aux *.Depth.Z fits no channel in 2 of 6 frames", result.stderr)
        self.assertIn("warning: --set depth.channels=ViewLayer.Depth.Z fits no channels in 2 of 6",
                      result.stderr)

    def test_named_files_hold_their_plane(self):
        self.fail_with(2, ["--plane takes NAME=PATTERN", '"depth="'],
                       *self.command("--plane", "depth="))
        for number in range(1, 7):
            common.write_exr(self.path("v.%d.exr" % number), np.ones((40, 64, 1)), ["Fog.density"])
        self.fail_with(1, ["v.1.exr: frame 1: plane motion: no channels fit", "Fog.density"],
                       *self.command("--plane", "motion=" + self.path("v.#.exr")))

    def test_jitter_is_missed(self):
        result = self.succeed(*self.command("--end", 3))
        self.assertIn("no jitter: it is taken as 0", result.stderr)
        frames = [{"frame": n, "jitter": [0.1, 0.2]} for n in (1, 3)]
        self.write_json({"frames": frames})
        result = self.succeed(*self.command("--end", 3, out="some"))
        self.assertIn("warning: no jitter in 1 of 3 frames", result.stderr)
        self.write_json({"jitter": "none", "frames": []})
        self.assertNotIn("jitter", self.succeed(*self.command("--end", 3, out="none")).stderr)

    def write_json(self, content, encoding="utf-8"):
        with open(self.path("in", "frames.json"), "w", encoding=encoding) as file:
            json.dump(content, file)

    def test_camera_data_of_other_frames(self):
        frames = [{"frame": n, "jitter": [0.1, 0.2]} for n in range(101, 107)]
        self.write_json({"frames": frames})
        self.assertIn("warning: " + self.path("in", "frames.json") + ": tells of frames from 101",
                      self.succeed(*self.command()).stderr)
        # A byte order mark is no part of it.
        for frame in frames:
            frame["frame"] -= 100
        self.write_json({"frames": frames}, "utf-8-sig")
        result = self.succeed(*self.command("--quiet", out="mark"))
        self.assertEqual(result.stderr, "")

    def test_unreadable_header(self):
        os.truncate(self.path("in", "f_0004.exr"), 0)
        result = self.fail_with(1, ["frame 4", "not a readable EXR",
                                    "hindsight: no jitter: it is taken as 0"], *self.command())
        self.assertEqual(result.stderr.count("f_0004.exr"), 1)

    def test_camera_data_out_of_range(self):
        for key, value in (("exposure", "auto"), ("exposure", -1), ("exposure", 0), ("near", -1)):
            for content, where in (({key: value, "frames": []}, key),
                                   ({"frames": [{"frame": 1, key: value}]}, "frames[0]." + key)):
                self.write_json(content)
                self.fail_with(1, ["frames.json: key " + where + ": expected a number"],
                               *self.command())

    def test_planes_are_missing_on_the_way(self):
        common.write_exr(self.path("in", "f_0003.exr"),
                         common.moving_frame(3, 64, 40)[..., :4], common.BLENDER[:4])
        result = self.succeed(*self.command())
        self.assertIn("warning: no motion vectors in 1 of 6 frames", result.stderr)
        self.assertIn("warning: no depth in 1 of 6 frames", result.stderr)

    def test_size_changes(self):
        common.write_moving(self.path("in"), [4], 56, 35)
        result = self.succeed(*self.command())
        self.assertIn("frame 4 is 56x35, the first one is 64x40: taken as dynamic resolution",
                      result.stderr)
        for name in self.names("out"):
            self.assertEqual(common.read_image(self.path("out", name))[0].shape, (80, 128, 4))
        for size in ((40, 20), (200, 100)):
            common.write_moving(self.path("in"), [5], *size)
            self.fail_with(1, ["frame 5", "%dx%d" % size, "expected 64x40", "128x80"],
                           *self.command(out="other"))

    def test_layers_of_pictures_without(self):
        """An option that can mean nothing is an error, in all commands that have it."""
        os.mkdir(self.path("png"))
        for number in (1, 2):
            common.write_exr(self.path("png", "c.%d.png" % number),
                             common.moving_frame(number, 64, 40)[..., :3])
        for command in (["upscale", "-o", self.path("out")], ["inspect"], ["probe"],
                        ["planes", "-o", self.path("out")]):
            with self.subTest(command=command):
                self.fail_with(1, ["--layer fog", "c.1.png is no EXR"], command[0],
                               self.path("png"), *command[1:], "--layer", "fog")
        # Planes beside it may have some.
        text = self.succeed("inspect", self.path("in"), "--layer", "").stdout
        self.assertIn("6 frames", text)

    def test_cuts_at_frames_that_are_not_there(self):
        result = self.succeed(*self.command("--reset-at", "2,7,4-40,50-60,-3", "--device", "cpu"))
        told = [line for line in result.stderr.splitlines() if "--reset-at" in line]
        self.assertEqual(len(told), 3, told)
        for line, words in zip(told, ("7: no such frame among 1 to 6", "50-60: no such",
                                      "-3: no such")):
            self.assertIn("--reset-at " + words, line)

    def test_unknown_layer_and_channels(self):
        self.fail_with(1, ["NoSuchLayer"], *self.command("--layer", "NoSuchLayer"))
        os.mkdir(self.path("grey"))
        common.write_exr(self.path("grey", "g.0001.exr"), np.ones((40, 64, 1)), ["Fog.density"])
        self.fail_with(1, ["g.0001.exr"], "upscale", self.path("grey"), "-o", self.path("out"))

    def test_output_can_not_be_written(self):
        with open(self.path("file"), "w", encoding="utf-8") as file:
            file.write("in the way")
        result = self.fail_with(1, ["can not be made", "Not a directory"],
                                *self.command(out="file/out"))
        self.assertNotIn("frame", result.stderr)
        self.fail_with(1, ["replace its own input"], "upscale", self.path("in"), "-o",
                       self.path("in"))

    def test_range_without_frames(self):
        for option, value in (("--start", 7), ("--end", 0)):
            self.fail_with(1, ["%s %d leaves no frame" % (option, value), self.path("in"),
                               "the frames 1 to 6"], *self.command(option, value))
        self.fail_with(1, ["--start 4 comes after --end 2"],
                       *self.command("--start", 4, "--end", 2))
        self.assertFalse(os.path.exists(self.path("out")))
        self.succeed(*self.command("--start", 6))
        self.assertEqual(self.names("out"), ["f_0006.exr"])

    def test_kind_of_output(self):
        for name in ("o.####.EXR", "o.####.Png"):
            out = self.path(name)
            self.succeed("upscale", self.path("in"), "-o", out, "--end", 2)
            self.assertTrue(os.path.isfile(out.replace("####", "0002")), name)
            again = self.succeed("upscale", self.path("in"), "-o", out, "--end", 2)
            self.assertIn("all 2 frames", again.stderr)
        for name in ("o.####.jpg", "o.%d.tif", "o####"):
            self.fail_with(1, [name, "unknown kind", ".exr, .png", ".rgba16f"], "upscale",
                           self.path("in"), "-o", self.path(name))
            self.assertFalse(os.path.exists(self.path(name)))

    def test_output_over_another_plane(self):
        for number in (1, 2):
            common.write_exr(self.path("c.%d.exr" % number),
                             common.moving_frame(number, 64, 40)[..., :3])
            common.write_exr(self.path("z.%d.exr" % number), np.ones((40, 64, 1)), ["Z"])
        for extra in ((), ("--overwrite",), ("--scale", 1)):
            self.fail_with(1, ["z.1.exr would replace its own input"], "upscale",
                           self.path("c.%d.exr"), "--plane", "depth=" + self.path("z.%d.exr"),
                           "-o", self.path("z.%d.exr"), *extra)
        self.assertEqual(common.read_image(self.path("z.1.exr"))[1].width, 64)

    def test_raw_output_of_another_size(self):
        out = self.path("o.%d.rgba16f")
        self.succeed("upscale", self.path("in"), "-o", out)
        self.fail_with(1, ["o.1.rgba16f is there already, with 81920 bytes instead of 20480",
                           "--overwrite"], "upscale", self.path("in"), "-o", out, "--scale", 1)

    def test_stdout_is_full(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for args in (("--help",), ("inspect", self.path("in")), ("inspect", "--presets")):
                result = subprocess.run([common.PROGRAM, *args], stdout=full,
                                        stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(result.returncode, 1, args)
                self.assertIn("stdout can not be written", result.stderr)

    def test_texts_are_whole_or_not_there(self):
        """On a full disk what was there stays, and nothing else appears."""
        os.mkdir(self.path("texts"))
        path = self.path("texts", "f.json")
        for args in (("compare", self.path("in"), self.path("in"), "--json", path),
                     ("probe", self.path("in"), "--json", path)):
            for earlier in (None, "earlier"):
                if earlier:
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(earlier)
                result = common.run(
                    *args, restore_signals=False,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)))
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn("f.json: writing failed", result.stderr)
                self.assertEqual(self.names("texts"), ["f.json"] if earlier else [])
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), "earlier")
            self.assertIn(common.run(*args).returncode, (0, 3, 4))
            with open(path, encoding="utf-8") as file:
                json.load(file)
            os.unlink(path)
            result = common.run(*args[:-1], "/dev/full")
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("/dev/full can not be written", result.stderr)
            self.assertFalse(os.path.isfile("/dev/full"))

    def test_frames_that_name_no_files(self):
        os.mkdir(self.path("empty"))
        path = self.path("empty", "dump.json")
        for frames, words in (([], "the list is empty"), ([{"frame": 3}], "they name no files")):
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"frames": frames}, file)
            result = common.run("inspect", "dump.json", cwd=self.path("empty"))
            self.assertEqual(result.returncode, 1)
            self.assertIn("dump.json: key frames: %s" % words, result.stderr)

    def test_writing_fails_on_the_way(self):
        os.makedirs(self.path("out", "f_0004.exr"))
        self.fail_with(1, ["frame 4, output", "f_0004.exr"], *self.command("--jobs", 1))
        for number in (1, 2, 3):
            common.read_image(self.path("out", "f_%04d.exr" % number))

    def test_nothing_there(self):
        self.fail_with(1, [], "upscale", self.path("none.####.exr"), "-o", self.path("out"))

    def test_wrong_usage(self):
        self.fail_with(2, ["-o OUT is missing"], "upscale", self.path("in"))
        self.fail_with(2, ["argument is missing"], "upscale", "-o", "x")
        self.fail_with(2, ["--scale takes a number from 1 to 3"], *self.command("--scale", 9))
        self.fail_with(2, ["takes one of error, skip, hold"], *self.command("--missing", "x"))
        self.fail_with(2, ["motion.sign_z"], *self.command("--set", "motion.sign_z=1"))
        self.fail_with(2, ["nonsense"], *self.command("--convention", "nonsense"))
        self.fail_with(2, ["--no-check"], *self.command("--auto", "--no-check"))
        self.fail_with(2, ["\"sharpen\" is not a command"], "sharpen")
        self.assertEqual(common.run().returncode, 2)
        self.assertRegex(self.succeed("--version").stdout, r"^hindsight \d+\.\d+\.\d+$")
        for command in ("upscale", "compare", "inspect", "bench"):
            self.assertIn("exit codes:", self.succeed(command, "--help").stdout)
            self.assertIn(command, self.succeed("--help").stdout)

    def test_contradictions(self):
        """Of two options that exclude each other none is dropped in silence."""
        up, shot = self.command(), self.path("in")
        exr, png = self.path("o.#.exr"), self.path("o.#.png")
        raw = self.path("o.#.rgba16f")
        for first, second, args in (
                ("--scale", "--size", [*up, "--scale", 2, "--size", "128x80"]),
                ("--auto", "--no-check", [*up, "--auto", "--no-check"]),
                ("--frames-json", "--no-frames-json",
                 [*up, "--no-frames-json", "--frames-json", "x.json"]),
                ("--ldr", "--exposure", [*up, "--exposure", "auto", "--ldr"]),
                ("--overwrite", "--resume", [*up, "--resume", "--overwrite"]),
                ("--overwrite", "--warm-up", [*up, "--overwrite", "--warm-up", 2]),
                ("--quiet", "--verbose", [*up, "-q", "-v"]),
                ("--tone", "--look", [*up, "--tone", "srgb", "--look", "aces"]),
                ("--tone", "--ldr", [*up, "--tone", "metric", "--ldr"]),
                ("--look", "--ldr", [*up, "--look", "aces", "--ldr"]),
                ("--auto", "nearest", [*up, "--auto", "--model", "nearest"]),
                ("--exposure", "nearest", [*up, "--exposure", 2, "--model", "nearest"]),
                ("--firefly-clamp", "bicubic",
                 [*up, "--firefly-clamp", 2, "--model", "bicubic"]),
                ("--sharpness", "bicubic", [*up, "--sharpness", 0.5, "--model", "bicubic"]),
                ("--plane depth is given twice", "b.#.exr",
                 [*up, "--plane", "depth=a.#.exr", "--plane", "depth=b.#.exr"]),
                ("--tone", "PNG", ["upscale", shot, "-o", exr, "--tone", "srgb"]),
                ("--png-bits", "PNG", ["upscale", shot, "-o", raw, "--png-bits", 16]),
                ("--depth", "EXR", ["upscale", shot, "-o", png, "--depth", "float"]),
                ("--aux", "EXR", ["upscale", shot, "-o", png, "--aux", "all"]),
                ("--aov", "EXR", ["upscale", shot, "-o", raw, "--aov", "DiffDir"]),
                ("--frames-json", "--no-frames-json",
                 ["planes", shot, "-o", "x", "--frames-json", "x.json", "--no-frames-json"]),
                ("--frames-json", "--no-frames-json",
                 ["probe", shot, "--frames-json", "x.json", "--no-frames-json"]),
                ("--options", "--json -", ["probe", shot, "--options", "--json", "-"]),
                ("--presets", shot, ["inspect", shot, "--presets"]),
                ("--presets", "--device", ["inspect", "--device", "--presets"]),
                ("--keys", "without a sequence", ["inspect", "--keys"]),
                ("--layer", "without a sequence", ["inspect", "--device", "--layer", "x"]),
                ("--crop", "without --sheet", ["compare", "a", "b", "--crop", "1,2,3,4"]),
                ("--zoom", "without --sheet", ["compare", "a", "b", "--zoom", 2]),
                ("--sheet-frame", "without --sheet", ["compare", "a", "b", "--sheet-frame", 2]),
                ("--convention", "without --motion", ["compare", "a", "b", "-c", "raw"]),
                ("--still", "--speed", ["render", "still", "-o", "x", "--still", "--speed", 2]),
                ("--format none", "--output", ["render", "still", "-o", "x", "--format", "none"]),
                ("--format none", "--overwrite",
                 ["render", "still", "--overwrite", "--format", "none"]),
                ("--ldr", "--exposure", ["bench", "--ldr", "--exposure", 2]),
                ("--render-size", "a sequence has its own",
                 ["bench", shot, "--render-size", "64x48"]),
                ("--convention", "without a sequence", ["bench", "--convention", "raw"]),
                ("--csv -", "--json -", ["bench", "--csv", "-", "--json", "-"])):
            with self.subTest(args=args):
                result = self.fail_with(2, [first, second], *args)
                self.assertEqual(result.stdout, "")
        self.assertEqual(self.names(), ["in"])

    def test_kinds_of_output_by_folder(self):
        """In a folder the kind of output is the input's."""
        self.fail_with(1, ["--tone", "PNG"], *self.command("--tone", "srgb"))
        os.mkdir(self.path("png"))
        for number in (1, 2):
            common.write_exr(self.path("png", "c.%d.png" % number),
                             common.moving_frame(number, 64, 40)[..., :3])
        self.fail_with(1, ["--depth", "EXR"], "upscale", self.path("png"), "-o", self.path("out"),
                       "--depth", "float")

    def test_raw_output_is_as_named(self):
        for name, size in (("rgba16f", 8), ("rgba32f", 16)):
            self.succeed("upscale", self.path("in"), "-o", self.path("o.#." + name), "--end", 1)
            self.assertEqual(os.path.getsize(self.path("o.1." + name)), 128 * 80 * size)
        for name, extra, words in (
                ("rgba32f", ["--depth", "half"], "--depth: the name of a raw file"),
                ("rgba16f", ["--depth", "float"], "--depth: the name of a raw file"),
                ("rgba16f", ["--model", "bicubic"], "nearest and bicubic make .rgba32f"),
                ("r32f", [], "colour has four channels: .rgba16f or .rgba32f")):
            self.fail_with(2, [words], "upscale", self.path("in"), "-o", self.path("p.#." + name),
                           *extra)

    def test_camera_data_and_descriptions(self):
        """A description is not put aside by an option for what lies beside pictures."""
        self.write_json({"frames": [{"frame": n, "jitter": [0.1, 0.2]} for n in range(1, 7)]})
        with open(self.path("other.json"), "w", encoding="utf-8") as file:
            json.dump({"frames": [{"frame": n, "jitter": [0.3, 0.4]} for n in range(1, 7)]}, file)
        itself = self.path("in", "frames.json")
        other = ["--frames-json", self.path("other.json")]
        for extra in (other, ["--no-frames-json"]):
            self.fail_with(1, [itself + ": describes frames itself"], "upscale", itself, "-o",
                           self.path("out"), *extra)
        for source, extra, jitter in ((itself, [], "jitter=0.1"), (self.path("in"), other,
                                                                  "jitter=0.3"),
                                      (self.path("in"), ["--no-frames-json"], None)):
            self.succeed("planes", source, "-o", self.path("planes"), *extra)
            with open(self.path("planes", "frames.txt"), encoding="utf-8") as file:
                text = file.read()
            self.assertIn(jitter or "number=1", text)
            self.assertEqual("jitter" in text, jitter is not None)

    def test_devices(self):
        result = self.fail_with(1, ["no Vulkan device matches nosuchgpu", "0: "],
                                *self.command("--device", "nosuchgpu"))
        self.assertNotIn("written", result.stderr)
        self.fail_with(1, ["nosuchmodel", "have oidn, too"],
                       *self.command("--model", "nosuchmodel"))
        self.assertIn("plain arithmetic", self.succeed(
            *self.command("--device", "cpu", "--path", "plain")).stderr)


if __name__ == "__main__":
    common.main()
