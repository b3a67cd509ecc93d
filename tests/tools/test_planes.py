# SPDX-License-Identifier: MIT
"""What hindsight planes leaves in its folder, and that it never waits for ever."""
import os
import signal
import stat
import threading
import time

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
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start_pipes()
            # One plane is stuck in the middle, the others were never opened.
            with open(self.path("out", "motion.raw"), "rb") as file:
                file.read(16)
                process.send_signal(number)
                self.assertEqual(process.wait(30), 130)
            self.assertEqual(self.names("out"), [])

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

    def test_error_leaves_nothing(self):
        self.succeed(*self.command())
        path = self.path("in", "f_0003.exr")
        os.truncate(path, os.path.getsize(path) // 2)
        self.fail_with(1, ["f_0003.exr"], *self.command())
        self.assertEqual(self.names("out"), [])


if __name__ == "__main__":
    common.main()
