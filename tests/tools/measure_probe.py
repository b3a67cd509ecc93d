#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how often hindsight probe is right, on random procedural clips.

    HINDSIGHT=build/tools/hindsight tests/tools/measure_probe.py --seeds 1-200

Every clip is stored in a convention that is drawn by its seed, and declared as another one. Right:
the convention that is found gives the true vectors, and nothing that is called known is wrong.
"""
import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import numpy as np

UNITS = {"px": lambda w, h: (1, 1), "uv": lambda w, h: (w, h), "ndc": lambda w, h: (w / 2, h / 2)}
MOVING_PX, MOVING_SHARE = 0.25, 0.02
SAME_PX = 0.2


def variants():
    """What stored values may mean: axes, signs, unit, bias."""
    out = [dict(swap=swap, sign=(sx, sy), unit=unit, bias=0.0)
           for swap in (0, 1) for sx in (1, -1) for sy in (1, -1) for unit in UNITS]
    out += [dict(swap=0, sign=(sx, sy), unit="uv", bias=0.5) for sx in (1, -1) for sy in (1, -1)]
    return out


def factors(variant, width, height):
    ux, uy = UNITS[variant["unit"]](width, height)
    return variant["sign"][0] * ux, variant["sign"][1] * uy


def encode(motion, variant, width, height):
    """Canonical vectors [h, w, 2] as a renderer with this convention would store them."""
    stored = motion / np.array(factors(variant, width, height), np.float32) + variant["bias"]
    return stored[..., ::-1] if variant["swap"] else stored


def decode(stored, found, width, height):
    a = stored[..., ::-1] if found["swap"] else stored
    v = (a - found["bias"]) * np.array(found["pixels"])
    return -v if found["direction"] == "next" else v


def mean_length(v):
    return float(np.minimum(np.hypot(v[..., 0], v[..., 1]), 100).mean())


def judge(got, truths, storeds, variant, size):
    """Right, wrong, unsure; and whether the clip moves."""
    truth, stored = np.concatenate(truths), np.concatenate(storeds)
    moving = (np.hypot(truth[..., 0], truth[..., 1]) > MOVING_PX).mean() > MOVING_SHARE
    motion = got["motion"]
    if motion["verdict"] not in ("fits", "wrong"):
        return "unsure", moving
    best, known = motion["best"], motion["known"]
    off = mean_length(decode(stored, best, *size) - truth)
    sign = -1 if best["direction"] == "next" else 1
    fx, fy = factors(variant, *size)
    wrong = [name for name, bad in (
        ("sign_x", np.sign(best["pixels"][0] * sign) != np.sign(fx)),
        ("sign_y", np.sign(best["pixels"][1] * sign) != np.sign(fy)),
        ("swap", best["swap"] != bool(variant["swap"])),
        ("scale", not np.allclose(np.abs(best["pixels"]), np.abs((fx, fy)), rtol=0.02)),
    ) if bad and known[name]]
    return ("wrong" if wrong or off > SAME_PX else "right"), moving


def store(folder, variant):
    """Rewrites the motion planes of a clip; gives true and stored vectors, and the size."""
    with open(os.path.join(folder, "frames.json"), encoding="utf-8") as file:
        frames = json.load(file)
    width, height = frames["width"], frames["height"]
    truths, storeds = [], []
    for frame in frames["frames"]:
        path = os.path.join(folder, frame["motion"])
        truth = np.fromfile(path, np.float32).reshape(height, width, 2)
        stored = encode(truth, variant, width, height).astype(np.float32)
        stored.tofile(path)
        truths.append(truth)
        storeds.append(stored)
    return truths, storeds, (width, height)


def probe(program, folder, *args):
    result = subprocess.run([program, "probe", folder, "--json", "-", *args], capture_output=True,
                            text=True, check=False)
    if result.returncode not in (0, 3, 4):
        raise RuntimeError(result.stderr)
    return json.loads(result.stdout), result.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="1-200")
    parser.add_argument("--size", default="96x64")
    parser.add_argument("--frames", default="8")
    parser.add_argument("--clips", help="keeps the clips in this folder, and uses those there")
    parser.add_argument("--planes", help="of hindsight render; default: all")
    parser.add_argument("--mode", default="direct")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    program = os.environ["HINDSIGHT"]
    clips = args.clips or tempfile.mkdtemp(prefix="hindsight-probe-")
    subprocess.run([program, "render", "random", "--seed", args.seeds, "--frames", args.frames,
                    "--render-size", args.size, "--mode", args.mode, "--no-reference", "--format",
                    "raw", *(["--planes", args.planes] if args.planes else []), "--device", "cpu",
                    "-o", clips,
                    "--quiet"], check=True)
    counts = collections.Counter()
    for name in sorted(os.listdir(clips)):
        if not name.isdigit():
            continue
        rng = random.Random(int(name))
        work = tempfile.mkdtemp(prefix="hindsight-probe-")
        shutil.copytree(os.path.join(clips, name), work, dirs_exist_ok=True)
        variant = rng.choice(variants())
        truths, storeds, size = store(work, variant)
        got, code = probe(program, work)
        result, moving = judge(got, truths[1:], storeds[1:], variant, size)
        counts["moving" if moving else "still", result] += 1
        counts["depth " + got["depth"]["kind"] + " " + got["depth"]["kind_known"]] += 1
        jitter = got["jitter"]
        counts["jitter " + ("unsure" if not jitter["sure"] else
                            "right" if jitter["fits"] else "wrong")] += 1
        if args.verbose and (result == "wrong" or (moving and result != "right") or
                             (jitter["sure"] and not jitter["fits"])):
            print(name, result, variant, "moves %.2f" % mean_length(np.concatenate(truths[1:])),
                  code, json.dumps(got["motion"]["best"]), json.dumps(got["motion"]["known"]),
                  "jitter", jitter["sure"], jitter["fits"])
        shutil.rmtree(work)
    if not args.clips:
        shutil.rmtree(clips)
    for key, count in sorted(counts.items(), key=str):
        print(key, count)
    moving = sum(n for key, n in counts.items() if key[0] == "moving")
    right = counts["moving", "right"]
    wrong = counts["moving", "wrong"] + counts["still", "wrong"]
    print("of %d clips that move: %.1f %% right; of all: %d wrong" %
          (moving, 100 * right / max(moving, 1), wrong))
    return 0 if right >= 0.95 * moving and wrong <= 0.01 * sum(
        n for key, n in counts.items() if key[0] in ("moving", "still")) else 1


if __name__ == "__main__":
    sys.exit(main())
