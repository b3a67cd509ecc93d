# SPDX-License-Identifier: MIT
"""hindsight render."""
import json
import os
import struct

import numpy as np

import common

SMALL = ["--render-size", "48x32", "--size", "72x48", "--reference-spp", 2, "--device", "cpu"]


def read_pack(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    tensors, end = {}, 0
    about = header.pop("__metadata__")
    for name, t in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = t["data_offsets"]
        assert first == end, (name, first, end)
        end = last
        kind = {"F32": np.float32, "F16": np.float16}[t["dtype"]]
        tensors[name] = np.frombuffer(data[8 + size + first:8 + size + last],
                                      kind).reshape(t["shape"])
    assert end == len(data) - 8 - size
    return about, tensors


def write_slanted_glb(path, normals):
    """A square at 45 degrees under a node that is four times as tall."""
    points = np.array([[-1, 0, 0], [1, 0, 0], [1, 1, -1], [-1, 1, -1]], "<f4")
    normal = np.tile(np.float32([0, 0.5 ** 0.5, 0.5 ** 0.5]), (4, 1))
    data = points.tobytes() + np.array([0, 1, 2, 0, 2, 3], "<u4").tobytes() + normal.tobytes()
    root = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "scale": [1, 4, 1]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": len(data), "uri": os.path.basename(path) + ".bin"}],
        "bufferViews": [{"buffer": 0}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                      {"bufferView": 0, "byteOffset": 48, "componentType": 5125, "count": 6,
                       "type": "SCALAR"},
                      {"bufferView": 0, "byteOffset": 72, "componentType": 5126, "count": 4,
                       "type": "VEC3"}]}
    if normals:
        root["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = 2
    with open(path + ".bin", "wb") as file:
        file.write(data)
    with open(path, "w") as file:
        json.dump(root, file)


def write_glb(path):
    """A square in the plane z = 0 of glTF, which is y = 0 of the scene, from two triangles."""
    points = np.array([[-1, 0, 0], [1, 0, 0], [1, 2, 0], [-1, 2, 0]], "<f4").tobytes()
    indices = np.array([0, 1, 2, 0, 2, 3], "<u2").tobytes()
    root = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"children": [1]}, {"mesh": 0, "scale": [2, 2, 2], "translation": [0, 1, 0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": 60}],
        "bufferViews": [{"buffer": 0, "byteLength": 48},
                        {"buffer": 0, "byteOffset": 48, "byteLength": 12}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                      {"bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR"}]}
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    with open(path, "wb") as file:
        file.write(struct.pack("<4sII", b"glTF", 2, 28 + len(text) + 60))
        file.write(struct.pack("<I4s", len(text), b"JSON") + text)
        file.write(struct.pack("<I4s", 60, b"BIN\0") + points + indices)


class Render(common.Case):
    def test_exr(self):
        self.succeed("render", "orbit", "-o", self.path("o"), "--frames", 3, "--validate", *SMALL)
        text = self.succeed("inspect", self.path("o")).stdout
        for words in ("3 frames, 0 to 2", "convention raw", "motion           48x32",
                      "depth            48x32", "hit_distance     48x32",
                      "jitter           (0, -0.16", "output 72x48", "view (world to camera)"):
            self.assertIn(words, text)
        pixels, spec = common.read_image(self.path("o", "reference", "frame.0002.exr"))
        self.assertEqual((spec.width, spec.height), (72, 48))
        self.assertGreater(pixels[..., :3].mean(), 0.05)
        with open(self.path("o", "frames.json")) as file:
            frames = json.load(file)["frames"]
        self.assertEqual([f["reset"] for f in frames], [True, False, False])
        self.assertNotEqual(frames[0]["view"], frames[2]["view"])

    def test_raw_is_pack(self):
        """The same clip in both forms; several seeds; what is there is kept."""
        args = ["render", "random", "--seed", "4-5", "--frames", 9, *SMALL]
        self.succeed(*args, "-o", self.path("p"), "--format", "pack", "--jobs", 2)
        self.succeed(*args, "-o", self.path("r"), "--format", "raw")
        self.succeed("inspect", self.path("r", "000005", "frames.json"))
        about, clip = read_pack(self.path("p", "random-000005.safetensors"))
        self.assertEqual((about["seed"], about["mode"]), ("5", "direct"))
        self.assertEqual(clip["reference"].shape, (9, 48, 72, 4))
        self.assertEqual(clip["motion"].shape, (9, 32, 48, 2))
        self.assertEqual(clip["view"].shape, (9, 4, 4))
        for name, file, kind in (("colour", "color.0008.rgba16f", np.float16),
                                 ("depth", "depth.0008.r32f", np.float32),
                                 ("reference", "reference/reference.0008.rgba16f", np.float16)):
            raw = np.fromfile(self.path("r", "000005", file), kind)
            np.testing.assert_array_equal(raw, clip[name][8].ravel())
        path = self.path("p", "random-000004.safetensors")
        before = os.stat(path).st_mtime_ns
        self.succeed(*args, "-o", self.path("p"), "--format", "pack")
        self.assertEqual(os.stat(path).st_mtime_ns, before)
        self.assertEqual(sorted(os.listdir(self.path("p"))),
                         ["random-000004.safetensors", "random-000005.safetensors"])

    def test_clips_stay(self):
        """Folders keep complete clips; a shorter one made anew leaves no frames of the longer."""
        args = ["render", "pan", "-o", self.path("o"), *SMALL]
        self.succeed(*args, "--frames", 3)
        text = self.succeed(*args, "--frames", 2).stderr
        self.assertIn("1 of 1 clips were there already", text)
        self.assertEqual(len(os.listdir(self.path("o", "reference"))), 3)
        self.succeed(*args, "--frames", 2, "--overwrite")
        self.assertEqual(sorted(os.listdir(self.path("o"))),
                         ["frame.0000.exr", "frame.0001.exr", "frames.json", "reference"])
        self.assertEqual(len(os.listdir(self.path("o", "reference"))), 2)
        self.assertIn("2 frames, 0 to 1", self.succeed("inspect", self.path("o")).stdout)

    def test_same_bytes(self):
        """Reruns and any number of jobs; a seed that is named twice is one clip."""
        args = ["render", "random", "--frames", 2, "--format", "pack", *SMALL]
        self.succeed(*args, "--seed", "7,6-8,7", "-o", self.path("a"), "--jobs", 1)
        self.succeed(*args, "--seed", "6-8", "-o", self.path("b"), "--jobs", 3)
        self.assertEqual(len(os.listdir(self.path("a"))), 3)
        for name in os.listdir(self.path("a")):
            with open(self.path("a", name), "rb") as a, open(self.path("b", name), "rb") as b:
                self.assertEqual(a.read(), b.read())

    def test_shared_references(self):
        """Inputs of other sizes and filters show what the reference of another pack shows."""
        self.succeed("render", "random", "--seed", "5,9", "--frames", 3, "--mode", "path",
                     "--reference-spp", 4, "--speed", 2, "--planes", "colour,motion", "--format",
                     "pack", "-o", self.path("r"), "--render-size", "24x16", "--size", "48x32",
                     "--noise", 0)
        share = ["render", "random", "--format", "pack", "--spp", 32, "--filter", "box",
                 "--reference-from", self.path("r")]
        self.succeed(*share, "-o", self.path("a", "x"), "--render-size", "48x32")
        self.succeed(*share, "-o", self.path("b"), "--seed", 9, "--render-size", "24x16",
                     "--no-jitter", "--noise", 1)
        self.assertEqual(len(os.listdir(self.path("a", "x"))), 2)
        self.assertEqual(os.listdir(self.path("b")), ["random-000009.safetensors"])
        old, first = read_pack(self.path("r", "random-000009.safetensors"))
        about, large = read_pack(self.path("a", "x", "random-000009.safetensors"))
        self.assertEqual(about["reference"], "../../r/random-000009.safetensors")
        self.assertEqual([about[k] for k in ("mode", "speed", "scene_size", "size")],
                         ["path", "2", "24x16", "48x32"])
        self.assertNotIn("reference", large)
        np.testing.assert_array_equal(large["view"], first["view"])
        self.assertEqual(large["colour"].shape, (3, 32, 48, 4))
        # As many pixels as the reference: the same picture but for noise, not another frame's.
        tone = [np.log1p(large["colour"][t, ..., :3].astype("f4")) for t in (0, 2)]
        want = [np.log1p(first["reference"][t, ..., :3].astype("f4")) for t in (0, 2)]
        def apart(a, b):
            return np.mean((a.reshape(8, 4, 12, 4, 3).mean((1, 3)) -
                            b.reshape(8, 4, 12, 4, 3).mean((1, 3))) ** 2)
        self.assertLess(apart(tone[1], want[1]), 0.5 * apart(tone[0], want[1]))
        _, small = read_pack(self.path("b", "random-000009.safetensors"))
        self.assertFalse(small["jitter"].any())
        self.assertTrue(first["jitter"].any())
        # Another number, other noise; the same one, the same.
        again = [*share, "--seed", 9, "--render-size", "24x16", "--no-jitter"]
        self.succeed(*again, "--noise", 1, "-o", self.path("c"))
        self.succeed(*again, "-o", self.path("d"))
        _, same = read_pack(self.path("c", "random-000009.safetensors"))
        _, other = read_pack(self.path("d", "random-000009.safetensors"))
        np.testing.assert_array_equal(same["colour"], small["colour"])
        self.assertTrue((other["colour"] != small["colour"]).any())
        out = ["-o", self.path("o")]
        self.fail_with(2, ["--format pack"], "render", "random", "--reference-from",
                       self.path("r"), *out)
        self.fail_with(2, ["--size"], *share, "--size", "48x32", *out)
        self.fail_with(2, ["nowhere"], *share[:-1], self.path("nowhere"), *out)
        self.fail_with(2, ["no packs of"], *share[:-1], self.path("a"), *out)
        self.fail_with(2, ["random-000007", "holds a reference"], *share, "--seed", 7, *out)
        self.fail_with(2, ["holds a reference"], *share[:-1], self.path("b"), *out)
        self.succeed("render", "random", "--seed", 10, "--frames", 2, "--format", "pack", "-o",
                     self.path("r"), "--render-size", "24x16", "--size", "48x32")
        self.fail_with(2, ["random-000010", "than the first"], *share, *out)

    def test_planes_and_nothing(self):
        self.succeed("render", "still", "-o", self.path("o"), "--frames", 1, "--format", "pack",
                     "--planes", "colour,motion", "--no-reference", "--mode", "path", *SMALL)
        _, clip = read_pack(self.path("o", "still-000001.safetensors"))
        self.assertNotIn("depth", clip)
        self.assertNotIn("reference", clip)
        self.assertIn("motion", clip)
        text = self.succeed("render", "still", "--format", "none", "--frames", 2, *SMALL).stderr
        self.assertIn("2 frames", text)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_given(self):
        """A mesh and surroundings from files."""
        write_glb(self.path("square.glb"))
        common.write_exr(self.path("sky.exr"), np.full((4, 8, 3), 0.25, np.float32))
        self.succeed("render", "mesh", "-o", self.path("o"), "--mesh", self.path("square.glb"),
                     "--environment", self.path("sky.exr"), "--frames", 1, "--format", "pack",
                     *SMALL)
        _, clip = read_pack(self.path("o", "mesh-000001.safetensors"))
        self.assertGreater((np.abs(clip["normal"][0, ..., 1]) > 0.99).mean(), 0.05)
        far = np.isinf(clip["depth"][0, ..., 0])
        self.assertGreater(far.mean(), 0.02)
        np.testing.assert_allclose(clip["colour"][0][far][:, :3], 0.25, atol=1e-3)

    def test_mesh_normals(self):
        """Normals of the file go through the node's scale as the surface does."""
        normals = []
        for name in ("with", "without"):
            write_slanted_glb(self.path(name + ".gltf"), name == "with")
            self.succeed("render", "mesh", "-o", self.path(name), "--mesh",
                         self.path(name + ".gltf"), "--frames", 1, "--format", "pack", *SMALL)
            _, clip = read_pack(self.path(name, "mesh-000001.safetensors"))
            normals.append(clip["normal"][0, ..., :3].astype(np.float32))
        self.assertGreater((np.abs(normals[0][..., 1]) > 0.9).mean(), 0.05)
        np.testing.assert_allclose(normals[0], normals[1], atol=2e-3)

    def test_motion_next(self):
        """Where a pixel leads to, the next frame leads back from."""
        for extra, offset in (["--planes", "depth,motion,motion_next"], 0), \
                             (["--planes", "motion_next", "--no-reference"], 1):
            self.succeed("render", "orbit", "-o", self.path("o"), "--frames", 9, "--format", "pack",
                         "--no-jitter", "--overwrite", *extra, *SMALL)
            _, clip = read_pack(self.path("o", "orbit-000001.safetensors"))
            if offset:
                np.testing.assert_array_equal(clip["motion_next"], both["motion_next"])
                break
            both = clip
        y, x = np.mgrid[0:32, 0:48]
        off, count = [], 0
        for t in range(8):
            to = both["motion_next"][t] + np.stack([x, y], -1)
            i, j = np.rint(to[..., 0]).astype(int), np.rint(to[..., 1]).astype(int)
            inside = (i >= 0) & (i < 48) & (j >= 0) & (j < 32)
            back = both["motion"][t + 1, j[inside], i[inside]]
            off.append(np.abs(both["motion_next"][t][inside] + back).max(-1))
            count += inside.sum()
        self.assertGreater(count, 8000)
        self.assertGreater(np.abs(both["motion_next"]).mean(), 0.3)
        self.assertLess(np.median(np.concatenate(off)), 0.03)

    def test_conventions(self):
        """Frames as a renderer writes them give the picture that plain ones give."""
        sizes = ["--render-size", "64x48", "--size", "128x96", "--device", "cpu", "--frames", 4,
                 "--no-reference", "--planes", "colour,depth,motion"]

        def upscaled(name, *extra):
            self.succeed("render", "orbit", "-o", self.path(name), *sizes, *extra)
            self.succeed("upscale", self.path(name), "-o", self.path("out", name, "####.exr"),
                         "--model", "taau", "--device", "cpu", "--no-check")
            return common.read_image(self.path("out", name, "0003.exr"))[0]
        plain = upscaled("plain")
        for preset, kind in ("blender", "exr"), ("unreal", "exr"), ("unity", "raw"), ("fsr", "exr"):
            picture = upscaled(preset, "-c", preset, "-f", kind)
            with open(self.path(preset, "frames.json")) as file:
                self.assertEqual(json.load(file)["convention"], {"preset": preset})
            np.testing.assert_allclose(picture, plain, rtol=4e-3, atol=4e-3, err_msg=preset)
        self.succeed("render", "orbit", "-o", self.path("set"), *sizes, "--set",
                     "motion.unit=uv", "--set", "jitter.sign_x=-1", "--specular", "f0")
        with open(self.path("set", "frames.json")) as file:
            made = json.load(file)
        self.assertEqual(made["convention"], {"preset": "raw", "motion.unit": "uv",
                                              "jitter.sign_x": "-1",
                                              "specular_albedo.kind": "f0"})
        self.succeed("upscale", self.path("set"), "-o", self.path("out", "set", "####.exr"),
                     "--model", "taau", "--device", "cpu", "--no-check")
        np.testing.assert_allclose(common.read_image(self.path("out", "set", "0003.exr"))[0], plain,
                                   rtol=4e-3, atol=4e-3)

    def test_refuses(self):
        out = ["-o", self.path("o")]
        for words, code, args in (
                (["which pattern"], 2, out),
                (["--output"], 2, ["random"]),
                (["no pattern \"nope\""], 1, ["nope", *out]),
                (["--seed"], 2, ["random", "--seed", "x", *out]),
                (["--seed"], 2, ["random", "--seed=-3", *out]),
                (["no plane \"smell\""], 2, ["random", "--planes", "depth,smell", *out]),
                (["output size"], 1, ["random", "--render-size", "64x64", "--size", "32x32", *out]),
                (["--spp"], 2, ["random", "--spp", 0, *out]),
                (["nothing.glb"], 1, ["mesh", "--mesh", self.path("nothing.glb"), *out]),
                (["--seed takes"], 2, ["random", "--seed", "", *out]),
                (["--seed takes numbers"], 2, ["random", "--seed", "0-", *out]),
                (["leave nothing"], 2, ["random", "--planes", "", "--no-reference", *out]),
                (["pattern mesh"], 2, ["orbit", "--mesh", self.path("nothing.glb"), *out]),
                (["--mode path"], 2, ["random", "--spp", 4, *out]),
                (["too long"], 1, ["still", "-f", "pack", "-o", "/".join([self.path("o")] + 6 *
                                                                       [200 * "a"])]),
                (["inspect --presets"], 2, ["still", "--convention", "auto", *out]),
                (["exr or raw"], 2, ["still", "-c", "blender", "-f", "pack", *out]),
                (["motion.unti"], 2, ["still", "--set", "motion.unti=uv", *out]),
                (["display resolution"], 1, ["still", "--set", "motion.resolution=display",
                                             "--render-size", "16x16", *out]),
                (["--mode takes"], 2, ["random", "--mode", "magic", *out])):
            self.fail_with(code, words, "render", *args)
        with open(self.path("bad.glb"), "wb") as file:
            file.write(b"glTF" + bytes(40))
        self.fail_with(1, ["bad.glb"], "render", "mesh", "--mesh", self.path("bad.glb"), *out)
        with open(self.path("bad.gltf"), "wb") as file:
            file.write(b"no JSON")
        self.fail_with(1, ["bad.gltf"], "render", "mesh", "--mesh", self.path("bad.gltf"), *out)
        text = self.succeed("render", "--list").stdout
        self.assertGreaterEqual(len(text.splitlines()), 11)


if __name__ == "__main__":
    common.main()
