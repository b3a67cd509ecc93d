# SPDX-License-Identifier: MIT
"""The twin of the denoiser's passes, and of what is made of them, against the C reference, which
keeps floats for this.

Bounds: sums run in another order; where a comparison decides (is a tap the same surface, is the
pixel in its neighbours' range) single values may differ by more.
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
from hindsight_training import denoise, pipeline, prepare

FIELDS = (['width', 'height', 'out_width', 'out_height', 'frames'],
          ['colour', 'depth', 'motion', 'jitter', 'exposure', 'view', 'proj', 'reset', 'diffuse',
           'specular', 'normal', 'roughness', 'hit', 'head', 'levels', 'given', 'moved', 'features',
           'resolved'])
NAMES = dict(diffuse_albedo='diffuse', specular_albedo='specular', normal='normal',
             roughness='roughness', hit_distance='hit')


class Clip(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int) for n in FIELDS[0]] + [(n, ctypes.c_void_p) for n in FIELDS[1]]


def run_reference(library, clip, head):
    """What the reference makes of a clip by name; output of the size of `head`'s tokens."""
    frames, h, w = clip['depth'].shape
    height, width = (2 * n for n in head.shape[1:3])
    planes = dict(colour=np.concatenate([clip['colour'].numpy(), np.ones((frames, h, w, 1))], -1),
                  motion=clip['motion'].numpy(), jitter=clip['jitter'].numpy(),
                  exposure=clip['exposure'].numpy(), levels=np.zeros((3, frames, h, w, 4)),
                  given=np.zeros((frames, h, w, K.GIVEN)), head=head.numpy(),
                  moved=np.zeros((frames, height, width, 5)),
                  features=np.zeros((frames, height // 2, width // 2, K.RAY_FEATURES)),
                  resolved=np.zeros((frames, height, width, 5)))
    if bool(clip['depth'].isfinite().any()):
        planes['depth'] = clip['depth'].numpy()
    for name, short in NAMES.items():
        if name in clip:
            value = clip[name].numpy()
            planes[short] = value if value.shape[-1] == 1 else np.concatenate(
                [value, np.zeros((frames, h, w, 1))], -1)
    planes = {k: np.ascontiguousarray(v, np.float32) for k, v in planes.items()}
    planes['reset'] = np.ascontiguousarray(clip['reset'].numpy(), np.int32)
    for name in ('view', 'proj'):
        if clip.get(name) is not None:
            planes[name] = np.ascontiguousarray(clip[name].numpy(), np.float64)
    c = Clip(w, h, width, height, frames,
             *(planes[n].ctypes.data if n in planes else None for n in FIELDS[1]))
    assert library.front_run(ctypes.byref(c)) == 0
    return {k: torch.from_numpy(v) for k, v in planes.items()}


def run_twin(clips):
    """Levels and guides of clips of one size, as one batch."""
    made = [prepare.canonical(clip) for clip in clips]
    planes = {k: torch.stack([m[0][k] for m in made], 1) for k in made[0][0]}
    known = (planes['depth'] < K.DEPTH_FAR).flatten(2).any(2).any(0)
    guides = [denoise.guides_of(clip) for clip in clips]
    guides = {k: torch.stack([g[k] for g in guides], 1) for k in guides[0]}
    camera = torch.tensor([m[2] is not None for m in made])
    zero = torch.zeros(len(planes['depth']), 3, 4)
    rows = torch.stack([zero if m[2] is None else m[2] for m in made], 1)
    *levels, given = denoise.front(planes, guides, known, rows, camera)
    return [(torch.stack([v[:, b] for v in levels]), given[:, b]) for b in range(len(clips))]


def compare(name, got, want, share=1e-3, bound=1e-5):
    """Relative to the value or, of small ones, to 1."""
    off = (got - want).abs() / want.abs().clamp(min=1)
    above = float((off > bound).float().mean())
    print('%-24s worst %.1e, %.3f %% above %.0e' % (name, float(off.max()), 100 * above, bound))
    assert bool(got.isfinite().all()) and above <= share, name


def noisy_clip(seed, frames=5):
    """A clip with guides and the noise of few samples; some values nobody should have written."""
    clip = common.random_clip(seed, frames)
    generator = torch.Generator().manual_seed(seed)

    def random(*shape):
        return torch.rand(*shape, generator=generator)
    shape = clip['depth'].shape
    grid = torch.stack([clip['colour'][..., 0] - 0.5, torch.ones(shape), clip['depth'] % 1.0], -1)
    normal = torch.where(clip['depth'].isfinite().unsqueeze(-1), grid, 0)
    clip.update(diffuse_albedo=random(*shape, 3) * 0.2 + clip['colour'].clamp(max=0.7),
                specular_albedo=0.3 * random(*shape, 3), normal=2 * normal,
                roughness=(random(*shape, 1) * 0.1 + (clip['colour'][..., 2:] > 0.3) * 0.5),
                hit_distance=random(*shape, 1) * 8)
    clip['colour'] = clip['colour'] * -2 * random(*shape, 1).log()
    clip['colour'][:, 7, 9] = 3000
    clip['diffuse_albedo'][:, 12:15, 3:9] = 0
    clip['specular_albedo'][:, 12:15, 3:9] = 0
    clip['diffuse_albedo'][:, 2, 3] = np.nan
    clip['normal'][:, 16:, 20:] = 0
    clip['hit_distance'][:, 18, :5] = np.inf
    clip['roughness'][1, 10, 10] = np.nan
    clip['reset'][3] = True
    return clip


def check_front(library):
    whole = noisy_clip(1)
    bare = {k: v for k, v in noisy_clip(2).items() if k not in denoise.GUIDES}
    still = noisy_clip(3)
    still['motion'] = torch.zeros_like(still['motion'])
    still['roughness'] = still['roughness'] * 0.3
    free = dict(noisy_clip(4), view=None, proj=None)
    del free['normal'], free['hit_distance']
    blind = dict(noisy_clip(5), depth=torch.full_like(whole['depth'], np.inf))
    clips = dict(whole=whole, bare=bare, still=still, free=free, blind=blind)
    for (name, clip), (levels, given) in zip(clips.items(), run_twin(list(clips.values()))):
        want = run_reference(library, clip, torch.zeros(5, 20, 28, K.RAY_OUTPUTS))
        levels[0] = levels[0].half()
        for i, level in enumerate('DMA'):
            # Half floats of sums in another order are neighbours now and then.
            compare('%s level %s' % (name, level), levels[i], want['levels'][i, ..., :3],
                    2e-3 if level == 'D' else 1e-3)
        compare(name + ' guides', given, want['given'])
        assert float((levels[0] - levels[2]).abs().mean()) > 1e-2
        lengths = want['given'][..., 2] * 16
        assert float(lengths[2].max()) == 3 and float((lengths[2] > 1).float().mean()) > 0.3
        # The cut of frame 3 forgets.
        assert float(lengths[3].max()) == 1 and float(lengths[4].max()) == 2


def check_steered(library, width, height):
    """Features and resolve with levels, frame by frame from the reference's moved history."""
    clip = noisy_clip(6)
    generator = torch.Generator().manual_seed(1)
    head = torch.randn(5, height // 2, width // 2, K.RAY_OUTPUTS, generator=generator)
    want = run_reference(library, clip, head)
    features, colour, weight = [], [], []
    for t, frame in enumerate(denoise.prepare(clip, width, height)[0]):
        moved = torch.cat([pipeline.encode(want['moved'][t, ..., :3]), want['moved'][t, ..., 4:]],
                          -1)[None]
        features.append(pipeline.features(moved, frame)[0])
        out = pipeline.resolve(moved, frame, pipeline.from_tokens(head[t:t + 1], K.RAY_HEAD))[0]
        colour.append(out[..., :3])
        weight.append(out[..., 3])
    label = '%dx%d ' % (width, height)
    compare(label + 'features', torch.stack(features), want['features'], 5e-3, 1e-3)
    compare(label + 'seen levels', torch.stack(features)[..., K.FEATURES:],
            want['features'][..., K.FEATURES:], 2e-3, 1e-3)
    compare(label + 'picture', torch.stack(colour), pipeline.encode(want['resolved'][..., :3]),
            5e-3, 2e-3)
    compare(label + 'weight', torch.stack(weight), want['resolved'][..., 4], 5e-3, 2e-3)


def check_frames():
    """Frames hold the levels in the working range; networks see them and what else there is."""
    clip = noisy_clip(1)
    frames, _ = denoise.prepare(clip, 56, 40)
    plain, _ = prepare.prepare(clip, 56, 40)
    (levels, given), = run_twin([clip])
    for t in (0, 4):
        frame = frames[t]
        assert torch.equal(frame.depth, plain[t].depth) and torch.equal(frame.seen, plain[t].seen)
        assert float((frame.colour[0] - pipeline.encode(levels[0, t])).abs().max()) < 1e-3
        assert torch.equal(frame.levels[0, ..., 3:], pipeline.encode(levels[2, t]))
        out = pipeline.features(torch.zeros(1, 40, 56, 4), frame)
        assert out.shape == (1, 20, 28, K.RAY_FEATURES)
        noise = (given[t, ..., 0] / (given[t, ..., 1] + 1e-3)).clamp(max=1)
        assert torch.equal(frame.guides[0, ..., 0], noise)
        # Twice the render size: a token's sample is the one it lies on or a neighbour.
        assert set(out[..., 79].unique().tolist()) <= {0.0, 1.0}
    brighter = dict(clip, exposure=clip['exposure'] * 4)
    other = denoise.prepare(brighter, 56, 40)[0][4].guides[..., 0]
    scaled = denoise.seen_guides(given[4], 4)[..., 0]
    assert float(((other[0] - scaled).abs() > 1e-2).float().mean()) < 0.02


def check_constants():
    text = open(os.path.join(common.ROOT, 'shaders', 'guides.h')).read()
    found = re.findall(r'#define HS_(ATROUS_\w+) \(?([-0-9.e]+)\)?', text)
    assert len(found) > 15
    for name, value in found:
        assert getattr(K, name) == float(value), name


def main():
    check_constants()
    with tempfile.TemporaryDirectory() as folder:
        library = common.build_reference(folder)
        check_front(library)
        check_steered(library, 56, 40)
        check_steered(library, 42, 60)
    check_frames()
    return 0


if __name__ == '__main__':
    sys.exit(main())
