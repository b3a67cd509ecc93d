# SPDX-License-Identifier: MIT
"""What hindsight planes leaves in its folder, and that it never waits for ever."""
import json
import os
import signal
import stat
import threading
import time

import numpy as np

import common

TEXTS = ["frames.txt", "inputs.txt"]
RAW = ["colour.raw", "depth.raw", "motion.raw"]


class Planes(common.Case):
    def setUp(self):
        super().setUp()
        # Larger than what a pipe holds.
        common.write_moving(self.path("in"), range(1, 4), 160, 120)
        os.mkdir(self.path("out"))

    def command(self, *extra):
        return ["planes", self.path("in"), "-o", self.path("out"), *extra]

    def start_pipes(self):
        """A run whose pipes are there."""
        process = common.start(*self.command("--pipe"))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        end = time.monotonic() + 60
        while not os.path.exists(self.path("out", "inputs.txt")):
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        for name in RAW:
            self.assertTrue(stat.S_ISFIFO(os.stat(self.path("out", name)).st_mode))
        return process

    def test_pipes_of_a_killed_run(self):
        process = self.start_pipes()
        process.kill()
        process.wait(30)
        os.mkfifo(self.path("out", "reactive.raw"))
        self.assertEqual(self.names("out"), sorted(RAW + TEXTS + ["reactive.raw"]))
        self.succeed(*self.command())
        self.assertEqual(self.names("out"), sorted(RAW + TEXTS))
        self.assertEqual(os.path.getsize(self.path("out", "depth.raw")), 160 * 120 * 4 * 3)

    def test_pipes_replace_no_files(self):
        self.succeed(*self.command())
        self.fail_with(1, ["colour.raw", "--pipe replaces no files"], *self.command("--pipe"))
        self.assertEqual(self.names("out"), sorted(RAW + TEXTS))
        self.assertGreater(os.path.getsize(self.path("out", "colour.raw")), 0)

    def test_reader_goes_away(self):
        process = self.start_pipes()
        with open(self.path("out", "motion.raw"), "rb") as file:
            file.read(16)
        self.assertIn("Broken pipe", process.communicate(timeout=30)[1])
        self.assertEqual(process.returncode, 1)
        self.assertEqual(self.names("out"), [])

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start_pipes()
            # One plane is stuck in the middle, the others were never opened.
            with open(self.path("out", "motion.raw"), "rb") as file:
                file.read(16)
                process.send_signal(number)
                self.assertEqual(process.wait(30), 130)
            self.assertEqual(self.names("out"), [])

    def test_second_run_is_refused(self):
        """It takes nothing from the first one, whose readers get each plane once."""
        process = self.start_pipes()
        for options in ([], ["--pipe"]):
            self.fail_with(1, ["another run is writing there"], *self.command(*options))
        for name, size in zip(RAW, (8, 4, 12)):
            with open(self.path("out", name), "rb") as file:
                self.assertEqual(len(file.read()), 160 * 120 * size * 3, name)
        self.assertEqual(process.wait(30), 0)

    def test_waiting_reader_gets_an_end(self):
        path = self.path("out", "depth.raw")
        os.mkfifo(path)
        found = []

        def read():
            with open(path, "rb") as file:
                found.append(file.read())
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        time.sleep(0.2)
        self.succeed(*self.command())
        reader.join(30)
        self.assertEqual(found, [b""])

    def copy_planes(self, number, channels):
        common.write_exr(self.path("in", "f_%04d.exr" % number),
                         common.moving_frame(number, 160, 120)[..., :channels],
                         common.BLENDER[:channels])

    def untouched(self, messages, *extra):
        """Refused before anything is made: an earlier run's files are as they were."""
        before = {name: os.stat(self.path("out", name)).st_mtime_ns for name in self.names("out")}
        result = self.fail_with(1, messages, *self.command(*extra))
        self.assertEqual({name: os.stat(self.path("out", name)).st_mtime_ns
                          for name in self.names("out")}, before)
        return result

    def test_planes_must_stay(self):
        self.copy_planes(3, 4)
        self.untouched(["frame 3 has no plane depth, and the first frame has one"])
        self.untouched(["frame 3 has no plane depth"], "--pipe")
        self.copy_planes(1, 4)
        self.copy_planes(2, 5)
        self.untouched(["frame 2 has a plane depth, and the first frame has none"])
        self.copy_planes(2, 4)
        self.succeed(*self.command())
        self.assertEqual(self.names("out"), ["colour.raw", *TEXTS])
        self.copy_planes(2, 5)
        self.untouched(["frame 2 has a plane depth"])

    def test_sizes_must_stay(self):
        common.write_moving(self.path("in"), [2], 80, 60)
        self.untouched(["frame 2, colour: 80x60 where the first frame has 160x120"])

    def test_convention_must_stay(self):
        frames = [{"frame": 2, "motion_scale": [2, 2]}]
        self.write_json({"frames": frames})
        self.untouched(["frame 2: its convention", "motion.scale_x=2"])

    def write_json(self, content):
        with open(self.path("in", "frames.json"), "w", encoding="utf-8") as file:
            json.dump(content, file)

    def test_colour_is_half_if_all_of_it_is(self):
        for number in (1, 2, 3):
            common.write_exr(self.path("in", "f_%04d.exr" % number),
                             common.moving_frame(number, 160, 120), common.BLENDER,
                             ["float" if number == 3 else "half"] * 4 + ["float"] * 5)
        self.succeed(*self.command())
        self.assertIn("colour gbrapf32le ", self.read("inputs.txt"))
        os.unlink(self.path("in", "f_0003.exr"))
        self.succeed(*self.command())
        self.assertIn("colour rgbaf16le ", self.read("inputs.txt"))

    def read(self, name):
        with open(self.path("out", name), encoding="utf-8") as file:
            return file.read()

    def motion(self, *options):
        """[frame, h, w, 2] of motion.raw: planes G, B, R; x is in R, y in G."""
        self.succeed(*self.command(*options))
        planes = np.fromfile(self.path("out", "motion.raw"), "<f4").reshape(3, 3, 120, 160)
        np.testing.assert_array_equal(planes[:, 1], 0)
        return np.stack([planes[:, 2], planes[:, 0]], -1)

    def test_canonical(self):
        """The same vectors in one form, whatever the files hold."""
        def as_uv(_number, pixels):
            pixels[..., 5] /= 160
            pixels[..., 6] /= 120

        def with_sky(_number, pixels):
            pixels[:20, :, 4] = 1e10
            pixels[:20, :, 5:] = 0
        stored = self.motion()
        np.testing.assert_array_equal(stored, np.broadcast_to([-1.25, -0.5], stored.shape))
        wanted = np.broadcast_to(np.float32([-1.25, 0.5]), stored.shape)
        np.testing.assert_array_equal(self.motion("--canonical"), wanted)
        told = self.read("inputs.txt")
        for change in ("motion.sign_y=1", "motion.unwritten=nan"):
            self.assertIn(change, told)
        # To the next frame: turned round, with nothing where none leads.
        got = self.motion("--canonical", "--set", "motion.channels=*.Vector.Z,*.Vector.W", "--set",
                          "motion.direction=next", "--set", "motion.sign_x=-1", "--set",
                          "motion.sign_y=1")
        self.assertTrue(np.isnan(got[0]).all())
        there = ~np.isnan(got[1:])
        self.assertGreater(there.mean(), 0.9)
        np.testing.assert_array_equal(got[1:][there], wanted[1:][there])
        self.assertNotIn("direction=next", self.read("inputs.txt"))
        # The last frame needs none then.
        next_frame = ["--set", "motion.direction=next", "--plane",
                      "motion=" + self.path("v.#.exr")]
        for number in (1, 2):
            common.write_exr(self.path("v.%d.exr" % number), np.broadcast_to(
                np.float32([1.25, 0.5]), (120, 160, 2)), ["motion.X", "motion.Y"])
        self.fail_with(1, ["frame 3 has no plane motion", "--canonical"],
                       *self.command(*next_frame))
        got = self.motion("--canonical", *next_frame)
        np.testing.assert_array_equal(got[2][there[1]], wanted[2][there[1]])
        common.write_moving(self.path("in"), range(1, 4), 160, 120, change=as_uv)
        np.testing.assert_allclose(self.motion("--canonical", "--set", "motion.unit=uv"), wanted,
                                   rtol=1e-6)
        # One depth does not tell how the sky moves.
        common.write_moving(self.path("in"), range(1, 4), 160, 120, change=with_sky)
        got = self.motion("--canonical")
        self.assertTrue(np.isnan(got[:, :20]).all())
        np.testing.assert_array_equal(got[:, 20:], wanted[:, 20:])

    def test_canonical_sky(self):
        """Where frames have cameras those move the sky; else what the other vectors tell."""
        found = []
        for options in ((), ("--canonical",), ("--canonical", "--no-frames-json")):
            self.succeed("planes", common.SAMPLE, "-o", self.path("out"), *options)
            width, height = common.SAMPLE_SIZE
            planes = np.fromfile(self.path("out", "motion.raw"), "<f4")
            planes = planes.reshape(-1, 3, height, width)
            found.append(np.stack([planes[:, 2], planes[:, 0]], -1))
        stored, camera, none = found
        sky = (stored == 0).all(-1)
        self.assertGreater(sky[1:].mean(), 0.05)
        np.testing.assert_array_equal(np.isnan(camera).any(-1), sky)
        np.testing.assert_array_equal(camera[~sky], stored[~sky] * [1, -1])
        np.testing.assert_array_equal(none[~sky], camera[~sky])
        self.assertGreater(np.isfinite(none[1:][sky[1:]]).mean(), 0.9)
        self.assertGreater(np.abs(none[1:][sky[1:]]).mean(), 1)

    def test_values(self):
        """What the files leave open is written as the engine takes it; the rest as it is."""
        self.write_json({"frames": [
            {"frame": 1, "near": 0, "far": 50, "exposure": 0.5},
            {"frame": 2, "near": 0.25, "far": 0.125},
            {"frame": 3, "near": 0.25, "far": None}]})
        self.succeed(*self.command())
        lines = self.read("frames.txt").splitlines()
        self.assertIn(";exposure=0.5;clip=0.100000001 50", lines[0])
        self.assertIn(";clip=0.25 inf", lines[1])
        self.assertIn(";clip=0.25 inf", lines[2])

    def test_exposure(self):
        """A plane of one pixel before the number; what cannot be measured by is refused."""
        self.write_json({"exposure": 0.5, "frames": [{"frame": n} for n in (1, 2, 3)]})
        found = {2: ";exposure=2", 0: ";exposure=0.5", np.nan: "", np.inf: None}
        for value, text in found.items():
            for number in (1, 2, 3):
                common.write_exr(self.path("e_%04d.exr" % number),
                                 np.full((1, 1, 1), value), ["Y"])
            command = self.command("--plane", "exposure=" + self.path("e_####.exr"))
            if text is None:
                self.fail_with(1, ["frame 1: exposure: expected a finite number, found inf"],
                               *command)
                continue
            self.succeed(*command)
            lines = self.read("frames.txt").splitlines()
            self.assertEqual(lines[0], "time=0.000000000;number=1;reset=1" + text)

    def raw_dump(self, name):
        """A sequence whose one frame's colour is this file of the output folder."""
        path = self.path("out", name)
        with open(path, "wb") as file:
            file.write(np.full((4, 4, 4), 0.5, "<f4").tobytes())
        with open(self.path("in", "dump.json"), "w", encoding="utf-8") as file:
            json.dump({"render": [4, 4], "frames": [
                {"color": {"file": path, "format": "rgba32f"}}]}, file)
        return path

    def test_damage_is_told_once(self):
        path = self.path("in", self.names("in")[-1])
        os.truncate(path, os.path.getsize(path) * 2 // 3)
        result = common.run(*self.command())
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.count("error:"), 1, result.stderr)
        self.assertRegex(result.stderr, r"error: .*frame \d+")

    def test_inputs_are_not_replaced(self):
        for name in RAW + TEXTS + ["reactive.raw"]:
            path = self.raw_dump(name)
            dump = self.path("in", "dump.json")
            for extra in ([], ["--pipe"]):
                result = self.fail_with(1, [], "planes", dump, "-o", self.path("out"), *extra)
                self.assertRegex(result.stderr, "would be replaced|--pipe replaces no files")
                self.assertEqual(os.path.getsize(path), 4 * 4 * 16)
                self.assertEqual(self.names("out"), [name])
            # By another name it is the same file.
            os.symlink(self.path("out"), self.path("link"))
            self.fail_with(1, ["would be replaced"], "planes", dump, "-o", self.path("link"))
            os.unlink(self.path("link"))
            os.unlink(path)
        # A folder of inputs with other names will do.
        self.succeed("planes", self.path("in", "f_####.exr"), "-o", self.path("in"))
        self.succeed("planes", self.path("in", "f_####.exr"), "-o", self.path("in"))

    def test_descriptions_are_not_replaced(self):
        path = self.path("out", "inputs.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"frames": []}')
        self.fail_with(1, ["would be replaced"], *self.command("--frames-json", path))
        self.assertEqual(self.names("out"), ["inputs.txt"])

    def test_error_leaves_nothing(self):
        self.succeed(*self.command())
        path = self.path("in", "f_0003.exr")
        os.truncate(path, os.path.getsize(path) // 2)
        self.fail_with(1, ["f_0003.exr"], *self.command())
        self.assertEqual(self.names("out"), [])


if __name__ == "__main__":
    common.main()
