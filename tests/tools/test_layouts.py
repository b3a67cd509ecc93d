# SPDX-License-Identifier: MIT
"""Files and folders of others, read as they are: .flo and .dpt, Sintel, NSS data sets, Nuke."""
import json
import os
import struct

import numpy as np

import common

WIDTH, HEIGHT = 96, 64
MOVE = (1.25, -0.5)


def write_flo(path, pixels):
    """pixels [h, w, 2] or, for .dpt, [h, w, 1]."""
    height, width, _ = pixels.shape
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(struct.pack("<fii", 202021.25, width, height))
        file.write(np.ascontiguousarray(pixels, "<f4").tobytes())


def flow(x, y):
    return np.broadcast_to(np.float32([x, y]), (HEIGHT, WIDTH, 2)).copy()


def picture(number):
    """Colour whose pattern does not repeat, moving by MOVE a frame."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    u, v = x - MOVE[0] * number, y - MOVE[1] * number
    rng = np.random.default_rng(5)
    out = np.full((HEIGHT, WIDTH, 3), 0.4)
    for _ in range(24):
        a, b, phase = *rng.uniform(-0.9, 0.9, 2), rng.uniform(0, 6)
        out += 0.06 * rng.uniform(-1, 1, 3) * np.sin(a * u + b * v + phase)[..., None]
    return np.concatenate([out, np.ones((HEIGHT, WIDTH, 1))], -1)


class Layouts(common.Case):
    def colours(self, *folder, numbers=range(1, 6), name="frame_%04d.exr"):
        os.makedirs(self.path(*folder), exist_ok=True)
        for number in numbers:
            common.write_exr(self.path(*folder, name % number), picture(number))
        return self.path(*folder)

    def upscale(self, source, out, *extra):
        result = self.succeed("upscale", source, "-o", self.path(out), "--device", "cpu",
                              "--model", "taau", *extra)
        return result, [common.read_image(self.path(out, name))[0] for name in self.names(out)]

    def probe(self, code, source, *extra):
        result = common.run("probe", source, "--json", "-", *extra)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return json.loads(result.stdout)

    def test_flow_files(self):
        """Any convention may have its vectors and depth in them."""
        source = self.colours("c")
        for number in range(1, 6):
            write_flo(self.path("m", "m.%d.flo" % number), flow(-MOVE[0], -MOVE[1]))
            write_flo(self.path("m", "z.%d.dpt" % number), np.full((HEIGHT, WIDTH, 1), 4.0))
            both = np.concatenate([flow(-MOVE[0], -MOVE[1]), np.full((HEIGHT, WIDTH, 1), 4.0)], -1)
            common.write_exr(self.path("m", "e.%d.exr" % number), both,
                             ["motion.X", "motion.Y", "Z"])
        result, flo = self.upscale(source, "flo", "--plane", "motion=" + self.path("m", "m.%d.flo"),
                                   "--plane", "depth=" + self.path("m", "z.%d.dpt"))
        for words in ("no motion", "no depth", "warning: the first"):
            self.assertNotIn(words, result.stderr)
        _, exr = self.upscale(source, "exr", *["--plane=%s=" % p + self.path("m", "e.%d.exr")
                                               for p in ("motion", "depth")])
        np.testing.assert_array_equal(flo, exr)
        got = self.probe(0, source, "--plane", "motion=" + self.path("m", "m.%d.flo"))
        self.assertEqual(got["planes"]["motion"], "u,v")

    def test_unknown_vectors(self):
        """Vectors above 1e9 say that nobody knows: no history there, and no smear."""
        source = self.colours("c")
        for number in range(1, 6):
            vectors = flow(-MOVE[0], -MOVE[1])
            write_flo(self.path("a", "m.%d.flo" % number), vectors)
            vectors[:, :32] = 1.6e9
            write_flo(self.path("b", "m.%d.flo" % number), vectors)
        _, known = self.upscale(source, "known", "--plane", "motion=" + self.path("a", "m.%d.flo"))
        result, got = self.upscale(source, "unknown", "--plane",
                                   "motion=" + self.path("b", "m.%d.flo"))
        self.assertIn("2048 vectors are NaN or infinite and count as missing", result.stderr)
        np.testing.assert_allclose(got[-1][:, 80:], known[-1][:, 80:], atol=1e-3)
        self.assertLess(abs(got[-1] - known[-1])[:, :60].mean(), 0.05)

    def test_damaged_flow(self):
        source = self.colours("c")
        path = self.path("m", "m.2.flo")
        for number in range(1, 6):
            write_flo(self.path("m", "m.%d.flo" % number), flow(0, 0))
        with open(path, "rb") as file:
            whole = file.read()
        command = ["upscale", source, "-o", self.path("out"), "--device", "cpu", "--plane",
                   "motion=" + self.path("m", "m.%d.flo")]
        for content, words in (
                (whole[:-4], ["96x64 needs 49164 bytes", "has 49160"]),
                (whole[:7], ["7 bytes are no .flo"]),
                (b"PIEX" + whole[4:], ["expected the tag 202021.25"]),
                (whole[:4] + struct.pack("<ii", 0, 64) + whole[12:], ["0 x 64 is no size"]),
                (whole[:4] + struct.pack("<ii", 65536, 65536) + whole[12:], ["is no size"]),
                (struct.pack("<fii", 202021.25, 8, 4) + bytes(256),
                 ["expected 96x64, found 8x4"])):
            with open(path, "wb") as file:
                file.write(content)
            self.fail_with(1, ["m.2.flo", "rame 2", *words], *command)
        # One channel where two are wanted.
        write_flo(self.path("m", "d.dpt"), np.zeros((HEIGHT, WIDTH, 1)))
        self.fail_with(1, ["d.dpt", "plane motion", "expected 2 channels, found 1"], "upscale",
                       source, "-o", self.path("out"), "--plane", "motion=" + self.path("m",
                                                                                       "d.dpt"))

    def test_sintel(self):
        """Flow and depth beside the pictures' pass; the last frame has no flow."""
        source = self.colours("training", "final", "alley_1", name="frame_%04d.png")
        for number in range(1, 6):
            if number < 5:
                write_flo(self.path("training", "flow", "alley_1", "frame_%04d.flo" % number),
                          flow(*MOVE))
            write_flo(self.path("training", "depth", "alley_1", "frame_%04d.dpt" % number),
                      np.full((HEIGHT, WIDTH, 1), 7.0))
        got = self.probe(0, source, "--convention", "sintel")
        self.assertEqual(got["planes"]["motion"], "u,v")
        self.assertEqual(got["planes"]["depth"], "Z")
        self.assertEqual(got["options"], "--convention sintel")
        result, frames = self.upscale(source, "out", "--convention", "sintel")
        self.assertEqual(len(frames), 5)
        self.assertNotIn("no depth", result.stderr)
        # A plane that is asked for is another matter.
        os.remove(self.path("training", "flow", "alley_1", "frame_0002.flo"))
        self.fail_with(1, ["frame_0002.flo", "frame 2", "plane motion"], "upscale", source, "-o",
                       self.path("none"), "--convention", "sintel")

    def nss(self, change=None, sign=1):
        """An NSS data set of one sequence, x1_5, inverted depth, jittered."""
        frames = []
        for number in range(5):
            jitter = (0.25 - 0.5 * (number % 2), -0.25 + 0.5 * (number // 2 % 2))
            pictures = {"color": picture(number),
                        "depth": np.full((HEIGHT, WIDTH, 1), 0.02),
                        "motion": flow(-sign * MOVE[0] / WIDTH, -sign * MOVE[1] / HEIGHT)}
            for plane, pixels in pictures.items():
                folder = self.path("set", "x1_5", plane, "0000")
                os.makedirs(folder, exist_ok=True)
                names = {4: list("RGBA"), 1: ["R"], 2: ["R", "G"]}[pixels.shape[-1]]
                common.write_exr(os.path.join(folder, "%04d.exr" % number), pixels, names)
            # World to camera: at (1, 2, 3 + number), looking along +z, 90 degrees both ways.
            view_proj = np.array([[1, 0, 0, -1], [0, 1, 0, -2], [0, 0, 0, 0.1],
                                  [0, 0, 1, -3 - number]], float)
            frames.append({
                "FrameNumber": number, "FovX": np.pi / 2, "FovY": np.pi / 2,
                "CameraNearPlane": 0.1, "CameraFarPlane": -1.0, "Exposure": 1.5,
                "CameraCut": number == 3, "ViewProjection": view_proj.flatten().tolist(),
                "Jitter": {"X": jitter[0], "Y": jitter[1]},
                "NormalizedPerRatioJitter": [{"X": 9, "Y": 9}, {"X": jitter[0] / WIDTH,
                                                                "Y": jitter[1] / HEIGHT}]})
        root = {"Version": "1.0.1", "EmulatedFramerate": 60, "ReverseZ": True,
                "TargetResolution": {"X": WIDTH * 3 // 2, "Y": HEIGHT * 3 // 2},
                "UpscalingRatiosIndices": {"x2_index": 0, "x1_5_index": 1}, "Frames": frames}
        if change:
            change(root)
        with open(self.path("set", "0000.json"), "w", encoding="utf-8") as file:
            json.dump(root, file)
        return self.path("set", "0000.json")

    def test_nss(self):
        source = self.nss()
        text = self.succeed("inspect", source, "--frames", "--keys").stdout
        for words in ("5 frames, 0 to 4", "output 144x96", "nss", "hardware_inverted"):
            self.assertIn(words, text)
        self.succeed("planes", self.nss(lambda root: [f.update(CameraCut=False)
                                                      for f in root["Frames"]]),
                     "-o", self.path("raw"))
        with open(self.path("raw", "frames.txt"), encoding="utf-8") as file:
            lines = file.read()
        for words in ("0.25 -0.25", "-0.25 -0.25", "exposure=1.5"):
            self.assertIn(words, lines)
        result, frames = self.upscale(self.nss(), "out", "--no-check")
        self.assertEqual(frames[0].shape, (96, 144, 4))
        self.assertNotIn("no jitter", result.stderr)

    def test_nss_that_is_damaged(self):
        cases = [
            (lambda r: r["Frames"][2].update(CameraCut="x"), ["Frames[2].CameraCut", "true or"]),
            (lambda r: r["Frames"][1].update(ViewProjection=[1, 2]),
             ["Frames[1].ViewProjection", "sixteen numbers"]),
            (lambda r: r["Frames"][1].update(FovX="wide"), ["Frames[1].FovX", "a number"]),
            (lambda r: r["Frames"][0]["NormalizedPerRatioJitter"].pop(),
             ["Frames[0].NormalizedPerRatioJitter", "each ratio"]),
            (lambda r: r["Frames"][0]["NormalizedPerRatioJitter"][1].pop("X"),
             ["Frames[0].NormalizedPerRatioJitter", '{"X": x, "Y": y}']),
            (lambda r: r.update(UpscalingRatiosIndices={"x2_index": 0}),
             ["0000.json", "expected the pictures in x2/color/0000"]),
            (lambda r: r.update(UpscalingRatiosIndices={"../x_index": 0}),
             ["UpscalingRatiosIndices", "x2_index"]),
            (lambda r: r["TargetResolution"].pop("Y"), ["TargetResolution"]),
            (lambda r: r["Frames"].insert(0, 5), ["Frames[0].", "an object"]),
            (lambda r: r["Frames"][4].update(FrameNumber=7), ["frame 7", "0007.exr"]),
        ]
        for change, words in cases:
            self.fail_with(1, words, "upscale", self.nss(change), "-o", self.path("out"),
                           "--device", "cpu", "--overwrite")

    def test_a_preset_that_was_never_measured(self):
        """Documents disagree about NSS' sign; the frames decide, or the user does."""
        source = self.nss(lambda r: [f.update(CameraCut=False, NormalizedPerRatioJitter=[
            {"X": 0, "Y": 0}] * 2) for f in r["Frames"]], sign=-1)
        out = self.path("out")
        result = self.fail_with(1, ["do not fit convention nss", "never measured", "--auto",
                                    "--no-check"], "upscale", source, "-o", out, "--device", "cpu")
        self.assertFalse(os.path.exists(out))
        self.assertIn("to be used instead: --convention", result.stderr)
        self.assertIn("used instead", self.upscale(source, "auto", "--auto")[0].stderr)
        self.upscale(source, "told", "--no-check")
        still = self.nss(lambda r: r.update(Frames=r["Frames"][:2]))
        for plane in ("color", "motion"):
            folder = self.path("set", "x1_5", plane, "0000")
            common.write_exr(os.path.join(folder, "0001.exr"),
                             picture(0) if plane == "color" else flow(0, 0),
                             list("RGBA") if plane == "color" else ["R", "G"])
        self.assertIn("never measured, and the first frames do not tell",
                      self.upscale(still, "still", "--model", "taau")[0].stderr)

    def test_a_preset_is_named_where_plain_names_fail(self):
        for name, channels in (("unreal", "FinalImageMovieRenderQueue_MotionVectors.%s"),
                               ("unity", "MotionVectors.%s"), ("nuke", "backward.%s"),
                               ("renderman", "motionBack.%s"), (None, "index.%s")):
            folder = self.path(str(name))
            os.mkdir(folder)
            ends = "uv" if name == "nuke" else "RG"
            for number in (1, 2):
                pixels = np.concatenate([picture(number), flow(0, 0)], -1)
                common.write_exr(os.path.join(folder, "n.%04d.exr" % number), pixels,
                                 list("RGBA") + [channels % end for end in ends])
            told = self.upscale(folder, "out", "--overwrite")[0].stderr
            self.assertEqual("would find some" in told, name is not None)
            self.assertRegex(told, r"names; convention [a-z_ ]*\b%s\b[a-z_ ]* would" % name
                             if name else "no motion vectors")

    def test_colour_is_no_motion(self):
        """Whatever a renderer calls its vectors: red and green of a plain picture are none."""
        os.mkdir(self.path("plain"))
        for number in (1, 2):
            common.write_exr(self.path("plain", "p.%d.exr" % number), picture(number),
                             list("RGBA"))
        presets = [line.split()[0] for line in
                   self.succeed("inspect", "--presets").stdout.splitlines() if line.strip()]
        self.assertIn("unity", presets)
        for preset in presets:
            with self.subTest(preset=preset):
                self.assertNotRegex(self.succeed("inspect", self.path("plain"), "--convention",
                                                 preset).stdout, r"\n  motion\S* +\d+x\d+ ")

    def test_nuke(self):
        """Flow as forward.u and backward.v, y up, beside plain colour; Beachball's layer names."""
        os.mkdir(self.path("n"))
        for number in range(1, 6):
            pixels = np.concatenate([picture(number), flow(-MOVE[0], MOVE[1]),
                                     flow(0.5 * MOVE[0], -0.5 * MOVE[1])], -1)
            common.write_exr(self.path("n", "n.%04d.exr" % number), pixels, list("RGBA") + [
                "backward.u", "backward.v", "forward.left.u", "forward.left.v"])
        got = self.probe(0, self.path("n"), "--convention", "nuke")
        self.assertEqual(got["planes"]["motion"], "backward.u,backward.v")
        got = self.probe(3, self.path("n"), "--convention", "nuke_forward")
        self.assertEqual(got["planes"]["motion"], "forward.left.u,forward.left.v")
        # A part of a frame's time: the probe finds the factor.
        self.assertIn("motion.scale_x=2 ", got["options"])


if __name__ == "__main__":
    common.main()
