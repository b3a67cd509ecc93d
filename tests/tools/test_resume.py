# SPDX-License-Identifier: MIT
"""Interrupted and killed runs of hindsight upscale, and how they go on."""
import os
import signal
import subprocess
import time

import common

COUNT = 60
SIZE = (160, 96)


class Resume(common.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = common.tempfile.mkdtemp(prefix="hindsight-test-")
        cls.addClassCleanup(common.shutil.rmtree, cls.shared, ignore_errors=True)
        cls.source = os.path.join(cls.shared, "in")
        common.write_moving(cls.source, range(1, COUNT + 1), *SIZE)
        cls.whole = os.path.join(cls.shared, "whole")
        result = common.run("upscale", cls.source, "-o", cls.whole, "--reset-at", 40,
                            "--exposure", "auto", "--quiet")
        assert result.returncode == 0, result.stderr

    def command(self, *extra):
        return ["upscale", self.source, "-o", self.path("out"), "--reset-at", 40, "--exposure",
                "auto", *extra]

    def finished(self):
        if not os.path.isdir(self.path("out")):
            return []
        return [name for name in self.names("out") if name.endswith(".exr")]

    def stop_after(self, count, number):
        """Starts a run and sends a signal once so many frames are there."""
        process = common.start(*self.command("--jobs", 1))
        limit = time.monotonic() + 120
        while len(self.finished()) < count and process.poll() is None:
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.005)
        process.send_signal(number)
        _, errors = process.communicate(timeout=120)
        return process.returncode, errors

    def assert_same_as_whole(self):
        self.assertEqual(len(self.finished()), COUNT)
        for name in self.finished():
            with open(self.path("out", name), "rb") as a, \
                    open(os.path.join(self.whole, name), "rb") as b:
                self.assertEqual(a.read(), b.read(), name)

    def test_killed(self):
        self.stop_after(10, signal.SIGKILL)
        count = len(self.finished())
        self.assertGreaterEqual(count, 10)
        self.assertLess(count, COUNT)
        for name in self.finished():
            common.read_image(self.path("out", name))
        times = {name: os.stat(self.path("out", name)).st_mtime_ns for name in self.finished()}
        result = self.succeed(*self.command())
        self.assertIn("%d frames are there already" % count, result.stderr)
        self.assert_same_as_whole()
        for name, stamp in times.items():
            self.assertEqual(os.stat(self.path("out", name)).st_mtime_ns, stamp, name)
        self.assert_no_leftovers("out")
        self.assertIn("all 60 frames", self.succeed(*self.command()).stderr)

    def test_leftovers_are_removed(self):
        dead = subprocess.Popen(["true"])
        dead.wait()
        os.mkdir(self.path("out"))
        live = "f_0002.exr.%d-0.part" % os.getpid()
        kept = [live, "f_0002.exr.part", "f_0002.exr.0%d-1.part" % dead.pid,
                "f_0002.exr.%d-.part" % dead.pid, "f_0002.exr.%d-1.part2" % dead.pid,
                "f_0009.exr.%d-1.part" % dead.pid, "g_0002.exr.%d-1.part" % dead.pid,
                "f_0001.exr.%d-0.part" % dead.pid]
        common.shutil.copy(os.path.join(self.whole, "f_0001.exr"), self.path("out"))
        ours = ["f_0002.exr.%d-%d.part" % (dead.pid, n) for n in (0, 17)]
        for name in kept + ours:
            with open(self.path("out", name), "w", encoding="utf-8") as file:
                file.write("x")
        result = self.succeed(*self.command("--end", 3))
        self.assertIn("2 unfinished files", result.stderr)
        self.assertEqual(self.names("out"),
                         sorted(kept + ["f_%04d.exr" % n for n in (1, 2, 3)]))
        # Frame 1 is written again now.
        self.succeed(*self.command("--end", 3, "--overwrite"))
        self.assertEqual(self.names("out"),
                         sorted(kept[:-1] + ["f_%04d.exr" % n for n in (1, 2, 3)]))

    def test_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            before = len(self.finished())
            code, errors = self.stop_after(before + 8, number)
            self.assertEqual(code, 130, errors)
            self.assertIn("the same command goes on from there", errors)
            self.assertIn("%d of %d frames" % (len(self.finished()), COUNT), errors)
            self.assert_no_leftovers("out")
            self.assertLess(len(self.finished()), COUNT)
        self.succeed(*self.command("--quiet"))
        self.assert_same_as_whole()

    def test_gaps_are_filled(self):
        os.mkdir(self.path("out"))
        for name in os.listdir(self.whole):
            if name not in ("f_0017.exr", "f_0018.exr", "f_0051.exr"):
                common.shutil.copy(os.path.join(self.whole, name), self.path("out"))
        result = self.succeed(*self.command())
        # From the start to 18, and from the cut at 40 to 51.
        self.assertIn("30 frames run, 27 of them for history only", result.stderr)
        self.assert_same_as_whole()

    def test_warm_up_bounds_the_history(self):
        os.mkdir(self.path("out"))
        common.shutil.copy(os.path.join(self.whole, "f_0001.exr"), self.path("out"))
        for name in sorted(os.listdir(self.whole))[:29]:
            common.shutil.copy(os.path.join(self.whole, name), self.path("out"))
        result = self.succeed(*self.command("--warm-up", 4, "--end", 39))
        self.assertIn("14 frames run, 4 of them for history only", result.stderr)

    def test_overwrite_and_damage(self):
        os.mkdir(self.path("out"))
        with open(self.path("out", "f_0002.exr"), "wb") as file:
            file.write(b"no picture")
        result = self.succeed(*self.command("--end", 3))
        self.assertIn("f_0002.exr is damaged", result.stderr)
        common.read_image(self.path("out", "f_0002.exr"))
        stamp = os.stat(self.path("out", "f_0001.exr")).st_mtime_ns
        self.succeed(*self.command("--end", 3, "--overwrite"))
        self.assertNotEqual(os.stat(self.path("out", "f_0001.exr")).st_mtime_ns, stamp)
        # Cut short by something else: each is made again, and told once.
        whole = {}
        for name in self.names("out"):
            with open(self.path("out", name), "rb") as file:
                whole[name] = file.read()
        os.truncate(self.path("out", "f_0001.exr"), len(whole["f_0001.exr"]) - 1)
        os.truncate(self.path("out", "f_0002.exr"), len(whole["f_0002.exr"]) // 2)
        os.truncate(self.path("out", "f_0002.exr"), len(whole["f_0002.exr"]))
        result = self.succeed(*self.command("--end", 3))
        self.assertEqual(result.stderr.count("is damaged and will be made again"), 2)
        for name in ("f_0001.exr", "f_0002.exr"):
            self.assertRegex(result.stderr, name + " is damaged and will be made again: [a-z]")
        self.assertIn("1 frames are there already", result.stderr)
        for name, content in whole.items():
            with open(self.path("out", name), "rb") as file:
                self.assertEqual(file.read(), content, name)
        self.fail_with(1, ["f_0001.exr", "320x192", "240x144", "--overwrite"],
                       *self.command("--end", 3, "--scale", 1.5))

    def test_png_cut_short(self):
        args = ["upscale", self.source, "-o", self.path("out", "o.####.png"), "--end", 2]
        self.succeed(*args)
        path = self.path("out", "o.0002.png")
        with open(path, "rb") as file:
            whole = file.read()
        os.truncate(path, len(whole) - 12)
        result = self.succeed(*args)
        self.assertIn("o.0002.png is damaged and will be made again", result.stderr)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), whole)


if __name__ == "__main__":
    common.main()
