# SPDX-License-Identifier: MIT
"""tools/blender/ against a small stand-in for bpy: what is set, and that the shift of the camera is
the jitter of frames.json in sign and unit."""
import importlib.util
import json
import os
import subprocess
import sys

import numpy as np

import common
import fake_bpy
from common import SAMPLE

FOLDER = os.path.join(common.ROOT, "tools", "blender")


def pixel_of(projection, point, width, height):
    """Where a camera draws a point: pixels, x right, y down."""
    clip = projection @ point
    return np.array([(clip[0] / clip[3] + 1) / 2 * width, (1 - clip[1] / clip[3]) / 2 * height])


class Setup(common.Case):
    def load(self, modern=True):
        self.bpy = sys.modules["bpy"] = fake_bpy.make(self.folder, modern)
        self.addCleanup(sys.modules.pop, "bpy", None)
        spec = importlib.util.spec_from_file_location(
            "hindsight_setup", os.path.join(FOLDER, "hindsight_setup.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.scene = self.bpy.context.scene
        return module

    def run_setup(self, module, *args):
        module.setup(module.parse(["--out", "//out", *args]))
        with open(self.path("out", "frames.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_what_is_set(self):
        for modern in (True, False):
            module = self.load(modern)
            self.run_setup(module)
            render, cycles = self.scene.render, self.scene.cycles
            layer = self.scene.view_layers[0]
            for name in module.ATTRIBUTES:
                self.assertIs(getattr(layer, name), True)
            self.assertEqual([(a.name, a.type) for a in layer.aovs], [("Roughness", "VALUE")])
            self.assertEqual((render.resolution_x, render.resolution_y), (320, 180))
            self.assertEqual(render.resolution_percentage, 100)
            for name in ("use_motion_blur", "use_border", "use_compositing", "use_sequencer"):
                self.assertIs(getattr(render, name), False)
            self.assertEqual((cycles.pixel_filter_type, cycles.filter_width), ("BOX", 0.01))
            self.assertIs(cycles.use_animated_seed, True)
            self.assertIs(cycles.use_denoising, False)
            settings = render.image_settings
            self.assertEqual((settings.file_format, settings.color_depth, settings.exr_codec),
                             ("OPEN_EXR_MULTILAYER", "16", "ZIP"))
            if modern:
                self.assertEqual(settings.media_type, "MULTI_LAYER_IMAGE")
            self.assertEqual(render.filepath, self.path("out", "frame_####"))
            self.assertEqual(self.bpy.done, [])

    def test_roughness_of_materials(self):
        for modern in (True, False):
            module = self.load(modern)
            source = object()
            self.bpy.data.materials = [
                fake_bpy.material("plain", 0.3), fake_bpy.material("textured", source=source),
                fake_bpy.material("emission", principled=False)]
            self.run_setup(module)
            self.run_setup(module)
            outputs = [[n for n in m.node_tree.nodes if n.type == "OUTPUT_AOV"]
                       for m in self.bpy.data.materials]
            self.assertEqual([len(found) for found in outputs], [1, 1, 0])
            name = "aov_name" if modern else "name"
            self.assertEqual(getattr(outputs[0][0], name), "Roughness")
            self.assertEqual(outputs[0][0].inputs["Value"].default_value, 0.3)
            self.assertIs(outputs[1][0].inputs["Value"].links[0].from_socket, source)

    def check_jitter(self, module, frames, size):
        """A point at the jittered camera's pixel centre lies at centre + jitter without it."""
        data, render = self.scene.camera.data, self.scene.render
        aspect = render.pixel_aspect_x, render.pixel_aspect_y
        for frame in frames:
            self.scene.frame_set(frame["number"])
            jittered = data.projection(*size, *aspect)
            clean = np.array(frame["proj"])
            for centre in ((0.5, 0.5), (size[0] - 3.5, 7.5)):
                # Any depth; the ray through the jittered camera's pixel centre.
                ndc = [2 * centre[0] / size[0] - 1, 1 - 2 * centre[1] / size[1]]
                point = np.array([(ndc[0] + jittered[0][2]) / jittered[0][0] * 5,
                                  (ndc[1] + jittered[1][2]) / jittered[1][1] * 5, -5, 1])
                np.testing.assert_allclose(pixel_of(jittered, point, *size), centre, atol=1e-9)
                np.testing.assert_allclose(pixel_of(clean, point, *size),
                                           np.add(centre, frame["jitter"]), atol=1e-9)

    def test_shift_is_jitter_in_sign_and_unit(self):
        cases = [((1280, 720), "AUTO", (1, 1)), ((720, 1280), "AUTO", (1, 1)),
                 ((1280, 720), "VERTICAL", (1, 1)), ((720, 1280), "HORIZONTAL", (1, 1)),
                 ((1280, 720), "AUTO", (1, 1.25)), ((720, 730), "AUTO", (1.5, 1))]
        for (width, height), fit, aspect in cases:
            module = self.load()
            render, data = self.scene.render, self.scene.camera.data
            render.resolution_x, render.resolution_y = width, height
            render.pixel_aspect_x, render.pixel_aspect_y = aspect
            render.resolution_percentage = 100
            data.sensor_fit, data.shift_x, data.shift_y = fit, 0.1, -0.05
            got = self.run_setup(module)
            size = got["render"]["width"], got["render"]["height"]
            self.assertEqual(size, (width // 2, height // 2))
            self.assertEqual(got["output"], {"width": width, "height": height})
            self.check_jitter(module, got["frames"], size)
            # The scene's own shift stays in the matrix.
            self.assertNotAlmostEqual(got["frames"][0]["proj"][0][2], 0)

    def test_jitter_is_that_of_the_measured_sequence(self):
        module = self.load()
        with open(os.path.join(SAMPLE, "frames.json"), encoding="utf-8") as file:
            for frame in json.load(file)["frames"]:
                np.testing.assert_allclose(module.jitter_of(frame["frame"]), frame["jitter"],
                                           atol=1e-12)

    def test_again_is_the_same(self):
        module = self.load()
        self.scene.camera.data.shift_x = 0.2
        first = self.run_setup(module)
        keys = dict(self.scene.camera.data.keys)
        self.assertEqual(self.run_setup(module), first)
        self.assertEqual(self.scene.camera.data.keys, keys)
        self.assertEqual(first["output"], {"width": 640, "height": 360})
        curves = self.scene.camera.data.animation_data.action.fcurves
        self.assertEqual({p.interpolation for c in curves for p in c.keyframe_points},
                         {"CONSTANT"})

    def test_frames(self):
        module = self.load()
        other = fake_bpy.Camera("Other")
        self.scene.cuts = {1: self.scene.camera, 8: other}
        self.scene.frame_start, self.scene.frame_end, self.scene.frame_step = 2, 12, 2
        got = self.run_setup(module)
        self.assertEqual([f["number"] for f in got["frames"]], [2, 4, 6, 8, 10, 12])
        self.assertEqual([f["number"] for f in got["frames"] if f.get("reset")], [2, 8])
        # A camera's scale is no part of its view.
        np.testing.assert_allclose(got["frames"][0]["view"], np.eye(4))
        self.assertEqual((got["frames"][0]["near"], got["frames"][0]["far"]), (0.1, 100.0))
        self.assertIn(("shift_x", 10), other.data.keys)
        self.assertNotIn(("shift_x", 4), other.data.keys)

    def test_options_and_refusals(self):
        module = self.load()
        got = self.run_setup(module, "--no-jitter", "--scale", "3", "--keep-denoising", "--save",
                             "//new.blend", "--render")
        self.assertEqual({tuple(f["jitter"]) for f in got["frames"]}, {(0, 0)})
        self.assertEqual(self.scene.camera.data.keys, {})
        self.assertEqual(got["render"], {"width": 213, "height": 120})
        self.assertIs(self.scene.cycles.use_denoising, True)
        self.assertEqual(self.bpy.done, [
            ("save", {"filepath": self.path("new.blend"), "copy": True}),
            ("render", {"animation": True})])
        for change in ("driven", "type"):
            module = self.load()
            setattr(self.scene.camera.data, change, {"driven": True, "type": "PANO"}[change])
            with self.assertRaises(SystemExit):
                self.run_setup(module)
        with self.assertRaises(SystemExit):
            module.parse(["--scale", "4"])

    def test_the_command_takes_what_was_written(self):
        module = self.load()
        self.scene.frame_end = 3
        self.scene.render.resolution_x, self.scene.render.resolution_y = 256, 160
        self.run_setup(module)
        for number in range(1, 4):
            common.write_exr(self.path("out", "frame_%04d.exr" % number),
                             common.moving_frame(number, 64, 40), common.BLENDER)
        result = self.succeed("inspect", self.path("out"))
        self.assertIn("64x40", result.stdout)
        run = [sys.executable, os.path.join(FOLDER, "hindsight_run.py"), self.path("out")]
        done = subprocess.run([*run, "--model", "bicubic", "--no-check"], capture_output=True,
                              text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names("out", "upscaled"),
                         ["frame_%04d.exr" % n for n in range(1, 4)])
        pixels, _ = common.read_image(self.path("out", "upscaled", "frame_0002.exr"))
        self.assertEqual(pixels.shape[:2], (80, 128))
        os.remove(self.path("out", "frame_0002.exr"))
        done = subprocess.run(run, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 of 3", done.stderr)
        for skip in (["--missing", "skip"], ["--missing=skip"]):
            done = subprocess.run([*run, "--model", "bicubic", *skip], capture_output=True,
                                  text=True, timeout=100)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([*run[:2], self.folder], capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    common.main()
