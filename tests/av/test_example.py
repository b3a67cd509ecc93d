# SPDX-License-Identifier: MIT
"""Planes from files, through the example program: decode, filter, encode. The same as the command.

Also what pkg-config and the header promise to a program of another build."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(os.environ["HS_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["HS_BUILD_ROOT"])
HINDSIGHT = os.environ["HINDSIGHT"]
EXAMPLE = os.environ["HS_EXAMPLE"]
SAMPLE = ROOT / "samples" / "bridge" / "lr"
SIZE = "204x114"
FRAMES = 4


def run(*args, **options):
    return subprocess.run([str(arg) for arg in args], capture_output=True, text=True, timeout=120,
                          **options)


class Example(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        self.shot = self.dir / "shot"
        self.shot.mkdir()
        for path in [*sorted(SAMPLE.glob("*.exr"))[:FRAMES], SAMPLE / "frames.json"]:
            shutil.copy(path, self.shot)

    def ok(self, *args, **options):
        result = run(*args, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def inputs(self, folder):
        """The example's arguments from what the command wrote beside the planes."""
        planes = {}
        for line in (folder / "inputs.txt").read_text().splitlines():
            name, *rest = line.split()
            if name.startswith("convention"):
                continue
            form, size, rate = rest
            planes[name] = f"{folder}/{name}.raw,f=rawvideo,pixel_format={form}," \
                           f"video_size={size},framerate={rate}"
        return [planes.get(name, "-") for name in ("colour", "depth", "motion")]

    def upscale(self, folder, out, *options):
        settings = [word for option in options for word in ("-s", option)]
        return run(EXAMPLE, "-s", f"frames={folder}/frames.txt", "-s", "convention=blender",
                   *settings, *self.inputs(folder), out)

    def test_same_as_command(self):
        planes = self.dir / "planes"
        self.ok(HINDSIGHT, "planes", self.shot, "-o", planes)
        self.assertIn("rgbaf16le " + SIZE, (planes / "inputs.txt").read_text())
        self.assertEqual((planes / "colour.raw").stat().st_size, 204 * 114 * 8 * FRAMES)
        self.assertEqual((planes / "motion.raw").stat().st_size, 204 * 114 * 12 * FRAMES)
        out = self.dir / "out.rgb"
        result = self.upscale(planes, out, "format=gbrapf32")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("model taau, plain path", result.stderr)
        self.ok(HINDSIGHT, "upscale", self.shot, "-o", self.dir / "command", "--depth", "float",
                "--quiet", "--device", os.environ.get("HS_TEST_DEVICE", "cpu"))
        print(self.ok(sys.executable, ROOT / "tests" / "av" / "compare_raw.py", out,
                      self.dir / "command").stdout)

    def test_pipes(self):
        plain, piped = self.dir / "plain", self.dir / "piped"
        self.ok(HINDSIGHT, "planes", self.shot, "-o", plain)
        # A reader that takes one plane after the other.
        writer = subprocess.Popen([HINDSIGHT, "planes", self.shot, "-o", piped, "--pipe", "-q"])
        self.addCleanup(writer.kill)
        timer = threading.Timer(60, writer.kill)
        timer.start()
        while not (piped / "inputs.txt").exists() and writer.poll() is None:
            pass
        for name in ("motion", "colour", "depth"):
            self.assertEqual((piped / f"{name}.raw").read_bytes(),
                             (plain / f"{name}.raw").read_bytes(), name)
        self.assertEqual(writer.wait(30), 0)
        timer.cancel()
        self.assertEqual((piped / "frames.txt").read_text(), (plain / "frames.txt").read_text())
        self.assertFalse((piped / "motion.raw").exists())

    def test_convention_changes(self):
        out = self.dir / "planes"
        self.ok(HINDSIGHT, "planes", self.shot, "-o", out, "--set", "motion.sign_y=1", "--rate",
                "30")
        text = (out / "inputs.txt").read_text()
        self.assertIn("convention blender\nconvention_changes motion.sign_y=1\n", text)
        self.assertIn(" 30\n", text)
        self.assertIn("\ntime=0.033333333;number=6;", (out / "frames.txt").read_text())
        result = self.upscale(out, self.dir / "out.rgb", "convention_changes=motion.sign_y=3")
        self.assertEqual(result.returncode, 1)
        self.assertIn("motion.sign_y", result.stderr)

    def test_errors(self):
        result = run(HINDSIGHT, "planes", self.shot)
        self.assertEqual(result.returncode, 2)
        self.assertIn("-o DIR is missing", result.stderr)
        self.assertEqual(run(HINDSIGHT, "planes", self.dir / "none.####.exr", "-o",
                             self.dir / "out").returncode, 1)
        result = run(EXAMPLE, "-s", "scale=9", "a", "b")
        self.assertIn("scale", result.stderr)
        self.assertEqual(result.returncode, 1)
        result = run(EXAMPLE, self.dir / "none.raw", self.dir / "out.rgb")
        self.assertIn("No such file", result.stderr)
        self.assertEqual(result.returncode, 1)

    def test_script_needs_the_filter(self):
        result = run("sh", ROOT / "pipelines" / "ffmpeg-upscale.sh", self.shot, "out.exr",
                     env={**os.environ, "FFMPEG": "false"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("has no filter hindsight_vulkan", result.stderr)

    def test_script_escapes_values(self):
        """Behind the two times that FFmpeg takes escapes off, the value is as it was."""
        common = ROOT / "pipelines" / "common.sh"
        for value in ("plain/a.txt", "depth.kind=z,motion.sign_y=1", r"C:\a 'b' [c];d:e, f",
                      r"\\", "''"):
            text = self.ok("sh", "-c", '. "$1" && filter_value "$2"', "sh", common,
                           value).stdout.removesuffix("\n")
            for ends in ("[],;", ":"):
                # What would end the value, or quote a part of it, has a backslash before it.
                self.assertRegex(text, r"\A(\\.|[^\\' %s])*\Z" % re.escape(ends))
                text = re.sub(r"\\(.)", r"\1", text)
            self.assertEqual(text, value)

    def test_program_of_another_build(self):
        """The header alone, as C and as C++, with the flags that pkg-config gives."""
        flags = self.ok("pkg-config", "--cflags", "--libs", "hindsight-avfilter",
                        env={**os.environ, "PKG_CONFIG_PATH": f"{BUILD}/meson-uninstalled"})
        source = "#include <hindsight/avfilter.h>\n" * 2 + \
            "int main(void) { return hs_avfilter_get_class() == 0; }\n"
        strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        for compiler, language, standard in (("cc", "c", "c17"), ("c++", "c++", "c++17")):
            # libavutil's own headers leave C++ to their users.
            text = source if language == "c" else \
                'extern "C" {\n#include <libavutil/frame.h>\n}\n' + source
            self.ok(compiler, f"-std={standard}", "-x", language, "-c", "-", *strict, "-o",
                    self.dir / "program.o", *flags.stdout.split(), input=text)


if __name__ == "__main__":
    unittest.main()
