# SPDX-License-Identifier: MIT
"""Clips and helpers of the tests."""
import ctypes
import os
import subprocess
import sys

import numpy as np
import torch

ROOT = os.environ.get('HS_SOURCE_ROOT') or os.path.abspath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
sys.path.insert(0, os.path.join(ROOT, 'training'))
torch.set_num_threads(2)


def camera(angle, shift):
    """View and projection of a camera that turns and walks."""
    c, s = np.cos(angle), np.sin(angle)
    view = np.array([[c, 0, s, shift], [0, 1, 0, 0], [-s, 0, c, -2], [0, 0, 0, 1]], np.float64)
    proj = np.array([[1.5, 0, 0.02, 0], [0, 2, -0.01, 0], [0, 0, -1, -0.1], [0, 0, -1, 0]],
                    np.float64)
    return view, proj


def random_clip(seed, frames=4, height=20, width=28):
    """Shapes with edges in colour and depth; motion by hand, unwritten in places."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    colour, depth, motion = [], [], []
    for t in range(frames):
        blobs = np.zeros((height, width, 3))
        far = np.full((height, width), 40.0)
        move = np.full((height, width, 2), 0.7) + rng.normal(0, 0.05, (height, width, 2))
        for k in range(5):
            disc = (x - 5 * k - 1.3 * t) ** 2 + (y - 4 * k) ** 2 < 25
            blobs[disc] = (k + 1) * np.array([0.3, 0.1 * k, 0.8 - 0.1 * k])
            far[disc] = 3 + k
            move[disc] = (-1.3, 0.2)
        far[:3] = np.inf
        move[:2] = np.nan
        colour.append(blobs + rng.uniform(0, 0.2, blobs.shape) ** 2)
        depth.append(far)
        motion.append(move)
    cameras = [camera(0.01 * t, 0.02 * t) for t in range(frames)]
    view, proj = (np.stack([c[i] for c in cameras]) for i in (0, 1))
    before = np.maximum(np.arange(frames) - 1, 0)
    clip = dict(colour=np.stack(colour), depth=np.stack(depth), motion=np.stack(motion),
                jitter=rng.uniform(-0.5, 0.5, (frames, 2)),
                exposure=2.0 ** rng.uniform(-0.3, 0.3, frames),
                reset=np.arange(frames) == 0)
    clip = {k: torch.from_numpy(v.astype(np.float32)) for k, v in clip.items()}
    # Cameras stay double: the engine's are.
    clip.update({k: torch.from_numpy(v) for k, v in dict(
        view=view, proj=proj, previous_view=view[before], previous_proj=proj[before]).items()})
    return clip


def build_reference(folder):
    """The C reference as a library, with what runs it over clips (ref_*.c)."""
    engine = os.path.join(ROOT, 'engine')
    here = os.path.dirname(os.path.abspath(__file__))
    sources = [os.path.join(at, n) for at in (os.path.join(engine, 'ref'), here)
               for n in sorted(os.listdir(at)) if n.endswith('.c')]
    path = os.path.join(folder, 'ref.so')
    subprocess.run(['cc', '-std=c17', '-O2', '-ffp-contract=off', '-shared', '-fPIC',
                    '-I' + os.path.join(engine, 'include'), '-I' + os.path.join(engine, 'ref'),
                    '-I' + ROOT, '-I' + os.path.join(ROOT, 'shaders')]
                   + sources + ['-o', path, '-lm'], check=True)
    return ctypes.CDLL(path)
