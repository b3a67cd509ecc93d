# SPDX-License-Identifier: MIT
"""Every script in pipelines/ runs and gives what it says, and the validation layer stays silent."""
import ctypes.util
import filecmp
import glob
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import numpy as np
import OpenImageIO as oiio

import silent

ROOT = os.environ["HS_SOURCE_ROOT"]
PIPELINES = os.path.join(ROOT, "pipelines")
SAMPLE = os.path.join(ROOT, "samples", "bridge", "lr")
SIZE = (96, 64)
LAUNCH = os.environ.get("GST_LAUNCH", "gst-launch-1.0")


def read(path):
    image = oiio.ImageInput.open(path)
    spec = image.spec()
    pixels = image.read_image("float").reshape(spec.height, spec.width, spec.nchannels)
    image.close()
    return pixels


class Pipelines(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="hindsight-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run_quietly(self, *command):
        result = subprocess.run(command, env=silent.environment(), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, timeout=240)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(silent.messages(result.stdout), [], result.stdout)
        self.assertNotIn("CRITICAL", result.stdout)
        return result.stdout

    def script(self, name, *args):
        return self.run_quietly(os.path.join(PIPELINES, name), *map(str, args))

    def launch(self, *words):
        return self.run_quietly(LAUNCH, "-q", *map(str, words))

    def sample(self, count):
        """The first frames of the sample, as a sequence of their own."""
        os.makedirs(self.path("in"))
        for name in sorted(os.listdir(SAMPLE))[:count] + ["frames.json"]:
            shutil.copy(os.path.join(SAMPLE, name), self.path("in"))
        return self.path("in", "bridge_####.exr")

    def command(self, *args):
        result = subprocess.run([os.environ["HINDSIGHT"], *map(str, args)], capture_output=True,
                                text=True, timeout=240)
        self.assertEqual(result.returncode, 0, result.stderr)

    def frames(self, path):
        """Decodes a video to an array [frame, h, w, 4]."""
        self.launch("filesrc", f"location={path}", "!", "matroskademux", "!", "decodebin", "!",
                    "videoconvert", "!", "video/x-raw,format=RGBA", "!", "hssequencesink",
                    "alpha=1", f"location={path}.%04d.png")
        return np.stack([read(name) for name in sorted(glob.glob(path + ".*.png"))])

    def test_exr_to_exr(self):
        """Files are those of the command, to the byte."""
        source = self.sample(4)
        self.script("exr-to-exr.sh", source, self.path("out.####.exr"))
        self.command("upscale", source, "-o", self.path("ref.####.exr"))
        names = sorted(glob.glob(self.path("out.*.exr")))
        self.assertEqual(len(names), 4)
        for name in names:
            self.assertTrue(filecmp.cmp(name, name.replace("out.", "ref."), shallow=False), name)

    def test_model_file(self):
        """A network of one's own, and files that are those of the command."""
        source, model = self.sample(3), self.path("mine.safetensors")
        subprocess.run([os.environ["MAKE_MODEL"], model, "mine"], check=True)
        self.launch("hssequencesrc", f"location={source}", "!", "hsupscale", f"model={model}", "!",
                    "hssequencesink", f"location={self.path('out.%04d.exr')}")
        self.command("upscale", source, "-o", self.path("ref.####.exr"), "--model", model)
        self.command("upscale", source, "-o", self.path("taau.####.exr"), "--model", "taau")
        names = sorted(glob.glob(self.path("out.*.exr")))
        self.assertEqual(len(names), 3)
        for name in names:
            self.assertTrue(filecmp.cmp(name, name.replace("out.", "ref."), shallow=False), name)
            self.assertFalse((read(name) == read(name.replace("out.", "taau."))).all(), name)

    def test_guides(self):
        """Guides reach the model that reads them."""
        self.command("render", "mirror", "-o", self.path("clip"), "--mode", "path", "--spp", "2",
                     "--no-reference", "--frames", "2", "--render-size", "64x48", "--device", "cpu",
                     "-q")
        source = self.path("clip/frame.%04d.exr")
        self.launch("hssequencesrc", f"location={source}", "!", "hsupscale", "model=atrous", "!",
                    "hssequencesink", f"location={self.path('out.%04d.exr')}")
        self.command("upscale", source, "-o", self.path("ref.####.exr"), "--model", "atrous")
        self.command("upscale", source, "-o", self.path("less.####.exr"), "--model", "atrous",
                     "--set", "normal.channels=")
        names = sorted(glob.glob(self.path("out.*.exr")))
        self.assertEqual(len(names), 2)
        for name in names:
            self.assertTrue(filecmp.cmp(name, name.replace("out.", "ref."), shallow=False), name)
            self.assertFalse((read(name) == read(name.replace("out.", "less."))).all(), name)
        self.launch("hssequencesrc", f"location={source}", "!", "hsupscale", "model=atrous",
                    "firefly-clamp=0.3", "!", "hssequencesink",
                    f"location={self.path('dim.%04d.exr')}")
        self.command("upscale", source, "-o", self.path("cut.####.exr"), "--model", "atrous",
                     "--firefly-clamp", "0.3")
        for name in sorted(glob.glob(self.path("dim.*.exr"))):
            self.assertTrue(filecmp.cmp(name, name.replace("dim.", "cut."), shallow=False), name)
            self.assertFalse((read(name) == read(name.replace("dim.", "out."))).all(), name)

    def test_report(self):
        """The log tells which guides the model would like to have, once."""
        source = self.sample(2)
        libraries = os.environ["FAKE_OIDN_FOLDER"] + ":" + os.environ.get("LD_LIBRARY_PATH", "")
        for model, guide in (("atrous", "diffuse albedo"), ("oidn", "albedo")):
            told = subprocess.run(
                [LAUNCH, "-q", "hssequencesrc", f"location={source}", "!", "hsupscale",
                 f"model={model}", "!", "fakesink"], capture_output=True, text=True, timeout=120,
                env={**os.environ, "GST_DEBUG": "hindsight:4", "GST_DEBUG_NO_COLOR": "1",
                     "LD_LIBRARY_PATH": libraries, "FAKE_OIDN": "copy"})
            self.assertEqual(told.returncode, 0, told.stderr)
            for words in ("no normal: ", f"no {guide}: "):
                self.assertEqual(told.stderr.count(words), 1, told.stderr)

    def write_layers(self):
        """Two frames with parts of the light, normals and ids."""
        height, width = 40, 48
        v, u = np.mgrid[0:height, 0:width].astype(np.float32)
        names = ["ViewLayer.%s.%s" % (layer, c) for layer, channels in (
            ("Combined", "RGBA"), ("Depth", "Z"), ("Vector", "XYZW"), ("DiffDir", "RGB"),
            ("GlossDir", "RGB"), ("Normal", "XYZ"), ("IndexOB", "X")) for c in channels]
        os.makedirs(self.path("in"))
        for number in (1, 2):
            diffuse = np.stack([0.3 + 0.2 * np.sin(0.4 * (u + number) * k) for k in (1, 2, 3)], -1)
            gloss = np.stack([(np.floor(v / 7) % 2) * k for k in (2, 1, 0.5)], -1)
            one = np.ones_like(u)[..., None]
            still = np.zeros((height, width, 4))
            normal = np.stack([np.sin(u), np.cos(v), one[..., 0]], -1)
            pixels = np.concatenate([diffuse + gloss, one, 4 * one, still, diffuse, gloss, normal,
                                     np.floor(u / 5)[..., None]], -1).astype(np.float32)
            spec = oiio.ImageSpec(width, height, len(names), "float")
            spec.channelnames = names
            out = oiio.ImageOutput.create(self.path("in", "f_%04d.exr" % number))
            out.open(self.path("in", "f_%04d.exr" % number), spec)
            out.write_image(pixels)
            out.close()
        return self.path("in", "f_####.exr")

    def test_aovs(self):
        """Layers are upscaled beside the colour: files are those of the command, to the byte."""
        source = self.write_layers()
        layers = ("DiffDir", "IndexOB", "GlossDir=light", "Normal")
        self.launch("hssequencesrc", f"location={source}", "convention=blender",
                    "aovs=" + ",".join(layers), "!", "queue", "!", "hsupscale", "model=taau", "!",
                    "queue", "!", "hssequencesink", f"location={self.path('out.%04d.exr')}")
        options = ["--convention", "blender", "--model", "taau", "--no-check"]
        self.command("upscale", source, "-o", self.path("ref.####.exr"), *options,
                     *(word for layer in layers for word in ("--aov", layer)))
        names = sorted(glob.glob(self.path("out.*.exr")))
        self.assertEqual(len(names), 2)
        for name in names:
            self.assertTrue(filecmp.cmp(name, name.replace("out.", "ref."), shallow=False), name)
        ids = oiio.ImageBuf(names[0]).spec().channelnames.index("ViewLayer.IndexOB.X")
        self.assertEqual(len(np.unique(read(names[0])[..., ids])), 10)
        self.assertIn("ViewLayer.Normal.X", oiio.ImageBuf(names[0]).spec().channelnames)
        # Their kind counts, and linear colour in Vulkan memory has them, too.
        self.launch("hssequencesrc", f"location={source}", "convention=blender",
                    "aovs=DiffDir=data,GlossDir,Normal,IndexOB", "!", "hsupscale", "model=taau",
                    "!", "application/x-hindsight-plane(memory:VulkanImage)", "!", "hssequencesink",
                    f"location={self.path('data.%04d.exr')}")
        channels = oiio.ImageBuf(names[1]).spec().channelnames
        worst = np.abs(read(names[1]) - read(names[1].replace("out.", "data."))).max((0, 1))
        for channel, off in zip(channels, worst):
            self.assertEqual(off > 1e-3, "DiffDir" in channel, (channel, off))
        # A plane that is an AOV, too, has one place in the file.
        self.launch("hssequencesrc", f"location={source}", "convention=blender",
                    "aovs=Normal,DiffDir", "!", "hssequencesink", "planes=true",
                    f"location={self.path('both.%04d.exr')}")
        both = oiio.ImageBuf(names[0].replace("out.", "both.")).spec().channelnames
        for channel in ("ViewLayer.Normal.X", "ViewLayer.Depth.Z", "ViewLayer.DiffDir.R"):
            self.assertEqual(both.count(channel), 1, both)
        self.assertEqual(sum("ormal" in channel for channel in both), 3, both)
        given = self.path("in", "f_0001.exr")
        for channel in both:
            at = [oiio.ImageBuf(name).spec().channelnames.index(channel)
                  for name in (given, names[0].replace("out.", "both."))]
            np.testing.assert_allclose(read(given)[..., at[0]], read(
                names[0].replace("out.", "both."))[..., at[1]], rtol=1e-3, atol=1e-3)
        for aovs, text in (("DiffDir,Nope", "no layer Nope"),
                           ("Combined", "is the colour"), ("DiffDir=sharp", "expected light"),
                           ("DiffDir,DiffDir=data", "was named before")):
            failed = subprocess.run(
                [LAUNCH, "-q", "hssequencesrc", f"location={source}", "convention=blender",
                 f"aovs={aovs}", "!", "hsupscale", "model=taau", "!", "fakesink"],
                capture_output=True, text=True, timeout=120)
            self.assertNotEqual(failed.returncode, 0, aovs)
            self.assertIn(text, failed.stderr)

    def test_oidn(self):
        """Open Image Denoise, or what stands in for it, as the command has it; in both memories."""
        self.command("render", "mirror", "-o", self.path("clip"), "--mode", "path", "--spp", "2",
                     "--frames", "2", "--render-size", "64x48", "--device", "cpu", "-q",
                     "--no-reference")
        source = self.path("clip/frame.%04d.exr")
        refused = subprocess.run(
            [LAUNCH, "-q", "hssequencesrc", f"location={source}", "!", "hsupscale", "model=oidn",
             "!", "fakesink"], capture_output=True, text=True, timeout=120)
        if not ctypes.util.find_library("OpenImageDenoise"):
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("needs libOpenImageDenoise.so.2", refused.stderr)
        before = dict(os.environ)
        self.addCleanup(os.environ.update, before)
        os.environ["LD_LIBRARY_PATH"] = os.environ["FAKE_OIDN_FOLDER"] + ":" + \
            before.get("LD_LIBRARY_PATH", "")
        pictures = []
        for mode in ("copy", "albedo", "normal"):
            os.environ["FAKE_OIDN"] = mode
            self.launch("hssequencesrc", f"location={source}", "!", "hsupscale", "model=oidn",
                        "!", "hssequencesink", f"location={self.path(mode + '.%04d.exr')}")
            self.command("upscale", source, "-o", self.path("ref.####.exr"), "--model", "oidn",
                         "--overwrite")
            for name in sorted(glob.glob(self.path(mode + ".*.exr"))):
                ref = name.replace(mode + ".", "ref.")
                self.assertTrue(filecmp.cmp(name, ref, shallow=False), name)
            pictures.append(read(name))
        for one, other in ((0, 1), (1, 2)):
            self.assertGreater(np.abs(pictures[one] - pictures[other]).max(), 0.1)
        # Images are read back.
        os.environ["FAKE_OIDN"] = "copy"
        for model in ("oidn", "taau"):
            self.launch("hstestsrc", "num-buffers=2", "width=64", "height=48", "!", "hsupscale",
                        f"model={model}", "!", "hssequencesink",
                        f"location={self.path(model + '-s.%04d.exr')}")
        for name in sorted(glob.glob(self.path("oidn-s.*.exr"))):
            np.testing.assert_allclose(read(name), read(name.replace("oidn-s", "taau-s")),
                                       rtol=0.02, atol=2e-3)
        os.environ["FAKE_OIDN"] = "fail"
        # After an error gst-launch does not always end (docs/gstreamer.md).
        failed = subprocess.run(
            ["timeout", "-s", "KILL", "40", LAUNCH, "-q", "hssequencesrc", f"location={source}",
             "!", "hsupscale", "model=oidn", "!", "fakesink"], capture_output=True, text=True)
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn("the fake says no", failed.stderr)

    def test_look(self):
        """Display formats get the look that the command makes; others stay linear."""
        source = self.sample(2)
        text = "aces,contrast=0.2,vignette=0.5"
        self.launch("hssequencesrc", f"location={source}", "!", "hsupscale", "model=taau",
                    "exposure=1.5", f"look={text}", "!", "video/x-raw,format=RGBA", "!",
                    "hssequencesink", f"location={self.path('out.%04d.png')}")
        self.command("upscale", source, "-o", self.path("ref.####.png"), "--model", "taau",
                     "--exposure", "1.5", "--look", text)
        names = sorted(glob.glob(self.path("out.*.png")))
        self.assertEqual(len(names), 2)
        for name in names:
            off = np.abs(read(name) - read(name.replace("out.", "ref.")))
            self.assertLess(off.max(), 1.5 / 255, name)
        self.launch("hssequencesrc", f"location={source}", "!", "hsupscale", "model=taau",
                    f"look={text}", "!", "hssequencesink", f"location={self.path('f.%04d.exr')}")
        self.command("upscale", source, "-o", self.path("g.####.exr"), "--model", "taau")
        for name in sorted(glob.glob(self.path("f.*.exr"))):
            self.assertTrue((read(name) == read(name.replace("/f.", "/g."))).all(), name)

    def test_exr_to_png(self):
        source = self.sample(2)
        self.script("exr-to-exr.sh", source, self.path("out.####.png"))
        self.command("upscale", source, "-o", self.path("ref.####.png"))
        for number in ("0005", "0006"):
            self.assertTrue((read(self.path(f"out.{number}.png")) ==
                             read(self.path(f"ref.{number}.png"))).all())

    def test_test_to_png(self):
        self.script("test-to-png.sh", self.path("out.####.png"), "orbit", 4, *SIZE)
        names = sorted(glob.glob(self.path("out.*.png")))
        self.assertEqual(len(names), 4)
        pixels = read(names[-1])
        self.assertEqual(pixels.shape[:2], (2 * SIZE[1], 2 * SIZE[0]))
        self.assertGreater(pixels[..., :3].std(), 0.05)

    def test_exr_to_video(self):
        """FFV1 holds what PNG does, but for one step: the curve is computed on the device."""
        source = self.sample(3)
        self.script("exr-to-video.sh", source, self.path("out.mkv"))
        self.script("exr-to-exr.sh", source, self.path("out.####.png"))
        video = self.frames(self.path("out.mkv"))
        self.assertEqual(len(video), 3)
        for frame, name in zip(video, sorted(glob.glob(self.path("out.0*.png")))):
            self.assertLessEqual(np.abs(frame[..., :3] - read(name)[..., :3]).max(), 1.01 / 255)

    def test_exr_to_h264(self):
        source = self.sample(3)
        self.script("exr-to-video.sh", source, self.path("out.h264.mkv"))
        self.script("exr-to-exr.sh", source, self.path("out.####.png"))
        video = self.frames(self.path("out.h264.mkv"))
        self.assertEqual(len(video), 3)
        # Lossy, with half the chroma: the same picture, at about 30 dB.
        error = (video[1][..., :3] - read(self.path("out.0006.png"))[..., :3]) ** 2
        self.assertLess(error.mean(), 0.003)

    def test_exr_to_hdr(self):
        self.script("exr-to-hdr.sh", self.sample(2), self.path("out.mkv"))
        # Does not negotiate if the file says anything else.
        self.launch("filesrc", f"location={self.path('out.mkv')}", "!", "matroskademux", "!",
                    "h265parse", "!", "video/x-h265,colorimetry=bt2100-pq", "!", "fakesink")

    def write_video(self, name, frames, video_format, stored):
        count, height, width = frames.shape[:3]
        frames.tofile(self.path("raw"))
        self.launch("filesrc", f"location={self.path('raw')}", "!", "rawvideoparse",
                    f"format={video_format}", f"width={width}", f"height={height}",
                    "framerate=24/1", "!", "videoconvert", "!", f"video/x-raw,format={stored}", "!",
                    "avenc_ffv1", "!", "matroskamux", "!", "filesink",
                    f"location={self.path(name)}")

    def test_three_files(self):
        """A picture that moves by a pixel a frame, told by its motion, stays sharp."""
        width, height = SIZE
        rng = np.random.default_rng(1)
        texture = rng.integers(0, 256, (height, width + 16, 4), dtype=np.uint8)
        texture[..., 3] = 255
        colour = np.stack([texture[:, 8 - i:8 - i + width] for i in range(8)])
        depth = np.full((8, height, width), 30000, np.uint16)
        motion = np.full((8, height, width, 4), 32768, np.uint16)
        motion[..., 0] = round((0.5 - 1 / 128) * 65535)
        self.write_video("colour.mkv", colour, "rgba", "BGRA")
        self.write_video("depth.mkv", depth, "gray16-le", "GRAY16_LE")
        self.write_video("motion.mkv", motion, "rgba64-le", "GBRA_12LE")
        names = [self.path(n) for n in ("colour.mkv", "depth.mkv", "motion.mkv")]
        self.script("three-files.sh", *names, self.path("out.mkv"))
        video = self.frames(self.path("out.mkv"))
        self.assertEqual(video.shape, (8, 2 * height, 2 * width, 4))
        # Its own pixels come back where the output is brought down again.
        small = video[7].reshape(height, 2, width, 2, 4).mean((1, 3))[..., :3]
        error = np.abs(small - colour[7][..., :3] / 255)[8:-8, 16:-16].mean()
        still = np.abs(small - colour[6][..., :3] / 255)[8:-8, 16:-16].mean()
        self.assertLess(error, 0.1)
        self.assertLess(error, still / 2)

    def test_three_files_that_do_not_fit(self):
        width, height = SIZE
        self.write_video("colour.mkv", np.zeros((2, height, width, 4), np.uint8), "rgba", "BGRA")
        self.write_video("depth.mkv", np.zeros((2, 16, 16), np.uint16), "gray16-le", "GRAY16_LE")
        self.write_video("motion.mkv", np.zeros((2, height, width, 4), np.uint16), "rgba64-le",
                         "GBRA_12LE")
        names = [self.path(n) for n in ("colour.mkv", "depth.mkv", "motion.mkv", "out.mkv")]
        result = subprocess.run([os.path.join(PIPELINES, "three-files.sh"), *names],
                                capture_output=True, text=True, timeout=60)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("depth: expected 96x64, found 16x16", result.stdout + result.stderr)

    def test_dump_to_exr(self):
        """Raw planes with a JSON description give the pixels of the EXR files they are from."""
        self.launch("hstestsrc", "pattern=orbit", "num-buffers=3", f"width={SIZE[0]}",
                    f"height={SIZE[1]}", "jitter=false", "!", "hssequencesink", "planes=true",
                    f"location={self.path('full.%04d.exr')}")
        frames = []
        for number in range(3):
            image = oiio.ImageBuf(self.path(f"full.{number:04d}.exr"))
            names = list(image.spec().channelnames)
            pixels = image.get_pixels(oiio.FLOAT)

            def store(channels, ending, kind, pixels=pixels, names=names, number=number):
                data = pixels[..., [names.index(c) for c in channels]].astype(kind)
                data.tofile(self.path(f"dump.{number}.{ending}"))
                return f"dump.{number}.{ending}"
            frames.append({"frame": number, "planes": {
                "color": {"file": store("RGBA", "c.rgba16f", np.float16), "format": "rgba16f"},
                "depth": {"file": store(["depth.Z"], "d.r32f", np.float32), "format": "r32f"},
                "motion": {"file": store(["motion.X", "motion.Y"], "m.rg16f", np.float16),
                           "format": "rg16f"}}})
        with open(self.path("dump.json"), "w") as out:
            json.dump({"width": SIZE[0], "height": SIZE[1], "frames": frames}, out)
        self.script("dump-to-exr.sh", self.path("dump.json"), self.path("a.####.exr"))
        self.script("exr-to-exr.sh", self.path("full.####.exr"), self.path("b.####.exr"))
        for number in range(3):
            self.assertTrue((read(self.path(f"a.{number:04d}.exr"))[..., :3] ==
                             read(self.path(f"b.{number:04d}.exr"))[..., :3]).all())

    def test_side_by_side(self):
        self.script("side-by-side.sh", self.path("out.mkv"), "orbit", 4, *SIZE)
        video = self.frames(self.path("out.mkv"))
        self.assertEqual(video.shape, (4, 2 * SIZE[1], 4 * SIZE[0], 4))
        left, right = video[3][:, :2 * SIZE[0], :3], video[3][:, 2 * SIZE[0]:, :3]
        # The same scene, at the same brightness, and not the same pixels.
        self.assertLess(abs(left.mean() - right.mean()), 0.02)
        self.assertGreater(np.corrcoef(left.ravel(), right.ravel())[0, 1], 0.8)
        self.assertGreater(np.abs(left - right).mean(), 0.001)

    def test_planes(self):
        self.script("planes.sh", self.path("out.####.png"), "orbit", 2, *SIZE)
        names = sorted(glob.glob(self.path("out.*.png")))
        self.assertEqual(len(names), 2)
        pixels = read(names[1])[..., :3]
        self.assertEqual(pixels.shape[:2], (2 * SIZE[1], 2 * SIZE[0]))
        for part in (pixels[:SIZE[1], :SIZE[0]], pixels[SIZE[1]:, :SIZE[0]],
                     pixels[SIZE[1]:, SIZE[0]:]):
            self.assertGreater(part.std(), 0.02)

    def test_dynamic_resolution(self):
        for size, first in ((SIZE, 0), ((80, 54), 3)):
            self.launch("hstestsrc", "pattern=orbit", f"num-buffers={first + 3}",
                        f"width={size[0]}", f"height={size[1]}", "!", "hssequencesink",
                        "planes=true", f"location={self.path(f'part{first}.%04d.exr')}")
        for number in range(6):
            first = number // 3 * 3
            shutil.move(self.path(f"part{first}.{number:04d}.exr"),
                        self.path(f"mixed.{number:04d}.exr"))
        self.script("dynamic-resolution.sh", self.path("mixed.####.exr"),
                    self.path("out.####.exr"), 160, 108)
        self.command("upscale", self.path("mixed.####.exr"), "-o", self.path("ref.####.exr"),
                     "--size", "160x108")
        for number in range(6):
            name = self.path(f"out.{number:04d}.exr")
            self.assertEqual(read(name).shape[:2], (108, 160))
            self.assertTrue((read(name) == read(name.replace("out.", "ref."))).all(), name)

    def test_batch(self):
        for shot in ("a", "b"):
            os.makedirs(self.path("shots", shot))
            self.launch("hstestsrc", "num-buffers=2", f"width={SIZE[0]}", f"height={SIZE[1]}", "!",
                        "hssequencesink", "planes=true",
                        f"location={self.path('shots', shot, 'f.%04d.exr')}")
        first = self.script("batch.sh", self.path("shots"), self.path("out"))
        self.assertIn("a: done", first)
        self.assertEqual(len(glob.glob(self.path("out", "*", "frame.*.exr"))), 4)
        self.assertIn("b: there already", self.script("batch.sh", self.path("shots"),
                                                      self.path("out")))

    def test_every_script_is_run(self):
        """By a case here, or by the tests of the component for FFmpeg."""
        text = ""
        for path in (__file__, os.path.join(ROOT, "tests", "av", "test_example.py")):
            with open(path) as file:
                text += file.read()
        scripts = {name for name in os.listdir(PIPELINES) if name.endswith(".sh")} - {"common.sh"}
        self.assertGreaterEqual(len(scripts), 8)
        for name in scripts:
            self.assertRegex(text, rf'(script\(|"pipelines" / )"{name}"', name)
        with open(os.path.join(PIPELINES, "meson.build")) as file:
            text = file.read()
        for name in scripts:
            self.assertIn(f"'{name}'", text)

    def test_names(self):
        """Files are called what was asked for, whatever is in the name."""
        name = "it's a \\ \"new\" $HOME; !x (y)"
        self.script("exr-to-exr.sh", self.sample(1), self.path(name + ".####.exr"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["in", name + ".0005.exr"])

    def test_arguments(self):
        """What can not be is refused by name, before anything runs or is written."""
        os.makedirs(self.path("shots", "a"))
        a, out = self.path("in.####.exr"), self.path("out.####.exr")
        for script, args, text in (
                ("batch.sh", [self.path("shots"), self.path("new"), "9"],
                 "SCALE: expected a number from 1 to 3, found '9'"),
                ("batch.sh", [self.path("shots"), self.path("new"), "x2"],
                 "SCALE: expected a number from 1 to 3, found 'x2'"),
                ("batch.sh", [self.path("shots", "a"), self.path("new")],
                 "IN: expected a folder of folders, one a shot"),
                ("exr-to-exr.sh", [a, out, "0.5"], "SCALE: expected a number from 1 to 3"),
                ("exr-to-hdr.sh", [a, self.path("o.mkv"), "24"], "FPS: expected a rate such as"),
                ("exr-to-hdr.sh", [a, self.path("o.mkv"), "24/1", "0"], "NITS: expected a number"),
                ("exr-to-video.sh", [a, self.path("o.mkv"), "24/0"], "FPS: expected a rate"),
                ("dynamic-resolution.sh", [a, out, "1920x1080", "1080"], "WIDTH: expected"),
                ("planes.sh", [out, "orbit", "0"], "FRAMES: expected a number from 1"),
                ("side-by-side.sh", [self.path("o.mkv"), "orbit", "4", "8"], "WIDTH: expected"),
                ("test-to-png.sh", [out, "orbit", "4", "64", "-1"], "HEIGHT: expected"),
                ("planes.sh", [out, "orbit", "2.5"], "FRAMES: expected a whole number"),
                ("side-by-side.sh", [self.path("o.mkv"), "orbit", "4", "64.5"],
                 "WIDTH: expected a whole number"),
                ("test-to-png.sh", [out, "orbit", "4", "064"], "WIDTH: expected a whole number"),
                ("dynamic-resolution.sh", [a, out, "1920", "1080.0"], "HEIGHT: expected a whole"),
                ("exr-to-exr.sh", [a, out, "2) } END { print 1 } #"], "SCALE: expected"),
                ("exr-to-exr.sh", [a, out, "2\n3"], "SCALE: expected"),
                ("exr-to-video.sh", [a, self.path("o.mkv"), "24/1\n24/1"], "FPS: expected a rate"),
                ("three-files.sh", [a, a, a, self.path("o.mkv"), "no"], "RANGE: expected")):
            result = subprocess.run([os.path.join(PIPELINES, script), *args], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
            self.assertEqual(result.returncode, 2, script + result.stdout)
            self.assertIn(text, result.stdout, script)
            self.assertIn(script, result.stdout)
            self.assertEqual(os.listdir(self.folder), ["shots"], script)

    def test_what_files_can_not_hold(self):
        """Refused while elements are linked: gst-launch-1.0 may hang after errors in a preroll."""
        for _ in range(5):
            result = subprocess.run(
                [LAUNCH, "-q", "videotestsrc", "num-buffers=200", "!", "video/x-raw,format=RGBA",
                 "!", "hssequencesink", f"location={self.path('o.%04d.exr')}"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("could not link", result.stdout)
            self.assertIn("hssequencesink0 can't handle caps video/x-raw", result.stdout)


if __name__ == "__main__":
    unittest.main()
