# SPDX-License-Identifier: MIT
"""The PyTorch twin against the C reference, on random and on real input.

Bounds: the reference stores colour, validity and weights as half floats and the twin does not, so
values differ by 2^-11 of themselves and, where a comparison decides (which surface a pixel
follows, whether a place is inside), now and then by more in single pixels.
"""
import ctypes
import os
import re
import sys
import tempfile

import numpy as np
import torch

import common
from hindsight_training import constants as K
from hindsight_training import pipeline, prepare

FIELDS = (['width', 'height', 'out_width', 'out_height', 'frames'],
          ['colour', 'depth', 'motion', 'jitter', 'exposure', 'view', 'proj', 'reset', 'image',
           'motion_out', 'valid_out', 'moved', 'moved_weight', 'weight', 'exposure_out'])


class Clip(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int) for n in FIELDS[0]] + [(n, ctypes.c_void_p) for n in FIELDS[1]]


def run_reference(library, clip, width, height):
    frames, h, w = clip['depth'].shape
    planes = dict(
        colour=np.concatenate([clip['colour'].numpy(), np.ones((frames, h, w, 1))], -1),
        depth=clip['depth'].numpy(), motion=clip['motion'].numpy(), jitter=clip['jitter'].numpy(),
        image=np.zeros((frames, height, width, 4)), motion_out=np.zeros((frames, h, w, 2)),
        valid_out=np.zeros((frames, h, w)), moved=np.zeros((frames, height, width, 4)),
        moved_weight=np.zeros((frames, height, width)), weight=np.zeros((frames, height, width)),
        exposure_out=np.zeros(frames))
    if clip.get('exposure') is not None:
        planes['exposure'] = clip['exposure'].numpy()
    planes = {k: np.ascontiguousarray(v, np.float32) for k, v in planes.items()}
    planes['reset'] = np.ascontiguousarray(clip['reset'].numpy(), np.int32)
    for name in ('view', 'proj'):
        if clip.get(name) is not None:
            planes[name] = np.ascontiguousarray(clip[name].numpy(), np.float64)
    c = Clip(w, h, width, height, frames, *(planes[n].ctypes.data if n in planes else None
                                            for n in FIELDS[1]))
    assert library.clip_run(ctypes.byref(c)) == 0
    return {k: torch.from_numpy(v) for k, v in planes.items()}


def compare(name, got, want, bound, share):
    """At most `share` of the values may differ by more than `bound`."""
    difference = (got - want).abs()
    off = float((difference > bound).float().mean())
    print('%-22s worst %.2e, %.3f %% above %.0e' % (name, float(difference.max()), 100 * off,
                                                   bound))
    assert off <= share, name


def check(library, name, clip, width, height):
    want = run_reference(library, clip, width, height)
    frames, exposure = prepare.prepare(clip, width, height)
    compare(name + ' exposure', exposure / want['exposure_out'], torch.ones(len(frames)), 1e-4, 0)
    history = torch.zeros(1, height, width, 4)
    head = torch.zeros(1, height, width, K.HEAD)
    worst = []
    for t, frame in enumerate(frames):
        # Each frame starts from the reference's history, so that stages are compared one by one.
        factor = want['exposure_out'][t]
        if t:
            before = pipeline.encode(want['image'][t - 1, ..., :3] * want['exposure_out'][t - 1])
            history = torch.cat([before, want['weight'][t - 1].unsqueeze(-1)], -1)[None]
        moved = pipeline.reproject(history, frame)
        out = pipeline.resolve(moved, frame, head)
        worst.append([moved, out, pipeline.encode(want['image'][t, ..., :3] * factor),
                      pipeline.encode(want['moved'][t, ..., :3])])
    both = [torch.cat([f.motion for f in frames]), torch.cat([f.valid for f in frames])]
    compare(name + ' motion', both[0], want['motion_out'], 1e-3, 1e-3)
    compare(name + ' validity', both[1], want['valid_out'], 2e-3, 1e-3)
    moved, out = (torch.cat([w[i] for w in worst]) for i in (0, 1))
    compare(name + ' moved weight', moved[..., 3], want['moved_weight'], 1e-2, 1e-3)
    compare(name + ' moved colour', moved[..., :3], torch.stack([w[3] for w in worst]), 2e-3, 1e-3)
    compare(name + ' weight', out[..., 3], want['weight'], 2e-2, 2e-3)
    compare(name + ' colour', out[..., :3], torch.stack([w[2] for w in worst]), 2e-3, 2e-3)


def check_constants():
    text = open(os.path.join(common.ROOT, 'shaders', 'taau.h')).read()
    found = re.findall(r'#define HS_TAAU_(\w+) \(?([-0-9.]+)\)?', text)
    assert len(found) > 15
    for name, value in found:
        assert getattr(K, name) == float(value), name


def real_clip():
    """A corner of the sample sequence, or None where EXR files can't be read."""
    try:
        from hindsight_training import convert
    except ImportError as error:
        print('real input skipped:', error)
        return None
    folder = os.path.join(common.ROOT, 'samples', 'bridge')
    clip = convert.read_sequence(os.path.join(folder, 'lr'), os.path.join(folder, 'ref'))
    cut = {k: v[:2] for k, v in clip.items() if k not in ('reference', 'reference_frames')}
    return {k: torch.from_numpy(np.ascontiguousarray(v)) for k, v in cut.items()}


def main():
    check_constants()
    with tempfile.TemporaryDirectory() as folder:
        library = common.build_reference(folder)
        clip = common.random_clip(1)
        check(library, 'random 2x', clip, 56, 40)
        check(library, 'random 1.5x 3x', clip, 42, 60)
        plain = dict(clip, view=None, proj=None, exposure=None)
        check(library, 'no camera', plain, 56, 40)
        real = real_clip()
        if real:
            height, width = real['depth'].shape[1:]
            check(library, 'real', real, 2 * width, 2 * height)
    return 0


if __name__ == '__main__':
    sys.exit(main())
