# SPDX-License-Identifier: MIT
"""hindsight inspect and hindsight bench."""
import csv
import json
import os

import common


class Inspect(common.Case):
    def test_sequence(self):
        text = self.succeed("inspect", common.SAMPLE).stdout
        for words in ("12 frames, 5 to 16, 0 missing, 204x114", "convention blender",
                      "color            204x114 rgba16f", "depth            204x114 r32f",
                      "motion           204x114 rg32f", "jitter           (0.125, 0.277778)",
                      "view (world to camera)", "compression zip", "display window 204x114",
                      "ViewLayer.Combined", "R:half", "Z:float"):
            self.assertIn(words, text)
        text = self.succeed("inspect", common.SAMPLE, "--frames").stdout
        self.assertEqual(text.count("  frame "), 12)

    def test_gaps_and_windows(self):
        for number in (1, 2, 5):
            os.makedirs(self.path("in"), exist_ok=True)
            common.write_exr(self.path("in", "a.%04d.exr" % number),
                             common.moving_frame(number, 64, 40)[..., :3],
                             display=(-4, -2, 80, 48))
        text = self.succeed("inspect", self.path("in", "a.####.exr")).stdout
        self.assertIn("gap: 3 to 4 missing", text)
        self.assertIn("display window 80x48 at (-4, -2)", text)
        self.assertIn("data window 64x40 at (0, 0)", text)
        self.assertIn("depth            not found", text)
        self.fail_with(1, [], "inspect", self.path("nothing.exr"))

    def test_devices(self):
        for args in ([], ["--device"]):
            text = self.succeed("inspect", *args).stdout
            self.assertRegex(text, r"0: .*\(.*Vulkan 1\.\d")
            self.assertRegex(text, r"yes +synchronization2")
            self.assertRegex(text, r"(yes|no) +16-bit float matrices")

    def test_presets_and_keys(self):
        presets = self.succeed("inspect", "--presets").stdout
        self.assertIn("blender", presets)
        # Those that come from documentation alone say so.
        self.assertEqual(presets.count("unverified"), 18)
        self.assertNotIn("probe", presets)
        self.assertIn("motion.scale_x", self.succeed("inspect", common.SAMPLE, "--keys").stdout)
        self.assertRegex(self.succeed("inspect", common.SAMPLE, "--keys", "--convention",
                                      "unreal").stdout,
                         r"depth\.unit_m +0\.01 +metres per unit: a note")


class Bench(common.Case):
    ARGS = ["bench", "--device", "cpu", "--size", "128x96", "--render-size", "64x48", "--frames",
            "9", "--warmup", "3", "--validate"]

    def test_table_csv_json(self):
        result = self.succeed(*self.ARGS, "--csv", self.path("b.csv"), "--json",
                              self.path("b.json"))
        self.assertIn("64x48 to 128x96, 9 frames after 3", result.stdout)
        with open(self.path("b.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        stages = {row["stage"]: row for row in rows}
        self.assertIn("frame", stages)
        self.assertIn("cpu record", stages)
        self.assertGreaterEqual(len(stages), 5)
        for row in rows:
            self.assertEqual(int(row["frames"]), 9, row)
            self.assertLessEqual(float(row["min_ms"]), float(row["median_ms"]))
            self.assertLessEqual(float(row["median_ms"]), float(row["max_ms"]))
            self.assertIn(row["stage"], result.stdout)
        self.assertGreater(float(stages["frame"]["median_ms"]), 0)
        with open(self.path("b.json"), encoding="utf-8") as file:
            got = json.load(file)
        self.assertEqual([s["name"] for s in got["stages"]], list(stages))
        self.assertEqual(got["size"], [128, 96])

    def test_sequence(self):
        text = self.succeed("bench", common.SAMPLE, "--device", "cpu", "--frames", 3, "--warmup",
                            1, "--csv", "-").stdout
        self.assertTrue(text.startswith("stage,median_ms,"))

    def test_usage(self):
        self.fail_with(2, ["--size takes WIDTHxHEIGHT"], "bench", "--size", "big")
        self.fail_with(2, ["--frames"], "bench", "--frames", 0)


if __name__ == "__main__":
    common.main()
